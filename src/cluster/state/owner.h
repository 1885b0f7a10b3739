/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CLUSTER_OWNER_H
#define FETTLE_CLUSTER_OWNER_H

#include "base/clock.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Owners: for whom a node works. A node has at most one owner. An owner is a tenant, one of its vClusters, or
 * one allocation; or, for sensitive nodes alone, a person. Each is known by its name, which is also the key
 * of its record:
 *
 *   physics                  a tenant
 *   physics/batch            its vCluster batch
 *   physics:1234             an allocation of the tenant
 *   physics/batch:1234       an allocation of the vCluster
 *   @ann                     a person
 *   physics@ann              a person who works for a tenant
 *
 * An owner does not say whether work may land on a node; claims (claim.h) and checks do.
 */

struct cluster;
struct member;

enum {
    TENANT_NAME_BYTES_MAX = 63, /* letters, digits, '-', '_' and '.', a letter or digit first: of a tenant, a
                                   vCluster or an allocation */
    PERSON_BYTES_MAX = 255,     /* printable ASCII without a blank */
    OWNER_NAME_BYTES_MAX = TENANT_NAME_BYTES_MAX + 1 + PERSON_BYTES_MAX
};

/* A person, and the tenant for which they work if they named it; or a tenant with what it has of the other
 * two. "" for what it is not. */
struct owner {
    char person[PERSON_BYTES_MAX + 1];
    char tenant[TENANT_NAME_BYTES_MAX + 1];
    char vcluster[TENANT_NAME_BYTES_MAX + 1];
    char allocation[TENANT_NAME_BYTES_MAX + 1];
};

/* -EINVAL with a sentence for text that is no owner's name. */
int owner_parse(const char *name, struct owner *out, struct err *e);
/* Returns buf. */
const char *owner_name(const struct owner *o, char buf[static OWNER_NAME_BYTES_MAX + 1]);
/* The tenant on whose quota the owner's nodes count; "": on that of all persons. Belongs to the owner. */
const char *owner_quota(const struct owner *o);
/* "" is no name of a tenant. */
bool tenant_name_ok(const char *name);

/* An owner with its nodes: one record, however many nodes there are. */
struct ownership {
    struct owner owner;
    char *name;
    char *by, *reason; /* the giver of the first claim, and the reason then; it may be "" */
    struct wall since; /* of the first claim */
    size_t n;          /* at least 1 */
    struct member **nodes;
};

/* NULL while the owner has no node. Belongs to the cluster. */
const struct ownership *cluster_owner(const struct cluster *c, const char *name);
/* All of them by name, *n in number. The caller frees the list. */
const struct ownership **cluster_owners(const struct cluster *c, size_t *n);

/* A tenant of the configuration with its quotas. */
enum { QUOTA_NONE = UINT32_MAX };
struct tenant {
    char *name;
    uint32_t nodes, allocations; /* the most that it may have at once; QUOTA_NONE: any number */
};
/* Tenants in the order of the configuration. */
size_t cluster_tenants(const struct cluster *c, const struct tenant **out);
const struct tenant *cluster_tenant(const struct cluster *c, const char *name); /* NULL when there is none */

/* What a tenant owns: its nodes, and its allocations that have nodes. "": what persons own, whoever they work
 * for. */
struct tenant_use {
    uint32_t nodes, allocations;
};
struct tenant_use cluster_tenant_use(const struct cluster *c, const char *tenant);
/* The most sensitive nodes that persons may have at once; and those that they own or have released and that
 * were not approved since. */
uint32_t cluster_sensitive_pool(const struct cluster *c);
uint32_t cluster_sensitive_use(const struct cluster *c);

#endif
