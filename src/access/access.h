/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_ACCESS_ACCESS_H
#define FETTLE_ACCESS_ACCESS_H

#include "base/conf.h"
#include "base/err.h"
#include "base/hostlist.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Which roles a caller has, and which rights a role has. A caller is given roles by the records of
 * roles.conf(5), one a line:
 *
 *   Role=operator Users=alice,bob Groups=hpc-ops Subjects=248289761001 Certificates=carl
 *
 * A record may say for which tenants the role holds, by name or by what the caller's token says:
 *
 *   Role=tenant-administrator Subjects=248289761001 Tenants=physics
 *   Role=claimant SubjectGroups=hpc-users TokenTenants=yes
 *
 * Everything is denied that no table permits. An identity that was proven in one way is never taken for one
 * of another way with the same name: a token's "alice" is not the local user alice.
 */

enum access_role {
#define ROLE(symbol, name, tenants, meaning) ACCESS_##symbol,
#include "access/role.tbl"
#undef ROLE
    ACCESS_ROLES
};

/* A set of roles. */
#define ROLE_BIT(role) (1U << (role))

enum access_right {
#define RIGHT(symbol, changes, roles, meaning) RIGHT_##symbol,
#include "access/right.tbl"
#undef RIGHT
    ACCESS_RIGHTS
};

const char *access_role_name(enum access_role r); /* "tenant-administrator" */
/* -EINVAL with the nearest for an unknown name. */
int access_role_find(const char *name, enum access_role *out, struct err *e);
/* Adds the names of the roles of a set, with a separator between. */
void access_roles_say(unsigned roles, const char *separator, struct text *t);

bool access_right_changes(enum access_right r);
/* The roles that have the right. */
unsigned access_right_roles(enum access_right r);
/* Whether a caller whose identity is known, and who has these roles, has the right. */
bool access_permits(enum access_right r, unsigned roles);

/* How an identity is proven. */
enum access_kind { ACCESS_NOBODY, ACCESS_LOCAL, ACCESS_CERTIFICATE, ACCESS_TOKEN };

/* An identity as records of roles name it. Everything is borrowed. */
struct principal {
    enum access_kind kind;
    const char *name;               /* the user, the name in the certificate, or the token's subject */
    const struct hostlist *groups;  /* NULL: none */
    const struct hostlist *tenants; /* that the token names; NULL: none */
};

/* For which tenants a caller has which roles. Zero-initialise; tenancy_fini. */
struct tenancy {
    unsigned everywhere; /* the roles that hold for every tenant, and for what is no tenant's */
    size_t n;
    struct tenancy_part {
        char *tenant;
        unsigned roles;
    } * parts; /* each tenant once */
};
void tenancy_fini(struct tenancy *t);
/* The roles that hold for a tenant; "": those that are not bound to one. */
unsigned tenancy_roles(const struct tenancy *t, const char *tenant);
/* The one tenant for which one of the roles holds; NULL when there is none, or more than one. */
const char *tenancy_only(const struct tenancy *t, unsigned roles);

enum grant_key {
#define GRANT(symbol, key, kind, group, meaning) GRANT_##symbol,
#include "access/grant.tbl"
#undef GRANT
    GRANT_KEYS
};

enum { GRANTS_MAX = 1000, GRANT_TENANTS_MAX = 1000 /* of one record */ };

/* The records of roles.conf. Zero-initialise; grants_fini. */
struct grants {
    struct grant {
        int line;
        enum access_role role;
        struct hostlist names[GRANT_KEYS];
        bool is_bound;           /* the role holds for these tenants alone: */
        struct hostlist tenants; /* the tenants by name, */
        bool token_tenants;      /* and those that the caller's token names */
    } * list;
    size_t n;
};
/* Reads the records of a parsed file. -EINVAL with "PATH:LINE: ..."; *g is empty then. */
int grants_read(const struct conf *file, struct grants *g, struct err *e);
void grants_fini(struct grants *g);

/* Whether a record names groups of this kind of identity, so that a caller's groups count. */
bool grants_want_groups(const struct grants *g, enum access_kind kind);
/* The roles that the records give, whether for all tenants, for some or for none; and those that they give
 * for tenants are added to t. */
unsigned grants_roles(const struct grants *g, const struct principal *p, struct tenancy *t);
/* Calls fn with each tenant that a record names, and the line of the record. */
void grants_each_tenant(const struct grants *g, void (*fn)(void *arg, const char *tenant, int line),
                        void *arg);

#endif
