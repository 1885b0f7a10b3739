/* SPDX-License-Identifier: Apache-2.0 */
/* Names of owners, and what is looked up about them. record_owner.c keeps the records. */
#include "cluster/state/state.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- names ------------------------------------------------------------------------------------ */

bool tenant_name_ok(const char *name)
{
    return strlen(name) <= TENANT_NAME_BYTES_MAX && hostlist_name_ok(name);
}

static int parse_person(const char *person, struct owner *out, struct err *e)
{
    size_t len = strlen(person);
    if (len == 0 || len > PERSON_BYTES_MAX)
        return err_set(e, -EINVAL, "the name of a person has 1 to %d bytes; this one has %zu",
                       PERSON_BYTES_MAX, len);
    for (const char *p = person; *p; p++)
        if (*p <= ' ' || *p > '~')
            return err_set(e, -EINVAL, "the name of a person has a blank, or a character beyond ASCII");
    memcpy(out->person, person, len + 1);
    return 0;
}

/* The part of a name up to `end`. */
static int parse_part(const char *what, const char *at, const char *end, char out[static 1], struct err *e)
{
    size_t len = (size_t)(end - at);
    if (len <= TENANT_NAME_BYTES_MAX) {
        memcpy(out, at, len);
        out[len] = '\0';
        if (tenant_name_ok(out))
            return 0;
    }
    return err_set(e, -EINVAL,
                   "\"%.*s\" is no name of %s: 1 to %d letters, digits, '-', '_' and '.', a letter or digit "
                   "first",
                   (int)(len > 80 ? 80 : len), at, what, TENANT_NAME_BYTES_MAX);
}

int owner_parse(const char *name, struct owner *out, struct err *e)
{
    const char *at = strchr(name, '@'), *rest = name + strlen(name);
    *out = (struct owner){0};
    if (at) {
        int rc = at > name ? parse_part("a tenant", name, at, out->tenant, e) : 0;
        return rc == 0 ? parse_person(at + 1, out, e) : rc;
    }
    const char *colon = strchr(name, ':'), *end = colon ? colon : rest;
    const char *slash = memchr(name, '/', (size_t)(end - name));
    int rc = parse_part("a tenant", name, slash ? slash : end, out->tenant, e);
    if (rc == 0 && slash)
        rc = parse_part("a vCluster", slash + 1, end, out->vcluster, e);
    if (rc == 0 && colon)
        rc = parse_part("an allocation", colon + 1, rest, out->allocation, e);
    return rc;
}

const char *owner_name(const struct owner *o, char buf[static OWNER_NAME_BYTES_MAX + 1])
{
    assert((*o->person || *o->tenant) && "an owner is a person or a tenant");
    assert((!*o->person || (!*o->vcluster && !*o->allocation)) && "a person has no vCluster");
    if (*o->person)
        snprintf(buf, OWNER_NAME_BYTES_MAX + 1, "%s@%s", o->tenant, o->person);
    else
        snprintf(buf, OWNER_NAME_BYTES_MAX + 1, "%s%s%s%s%s", o->tenant, *o->vcluster ? "/" : "", o->vcluster,
                 *o->allocation ? ":" : "", o->allocation);
    return buf;
}

const char *owner_quota(const struct owner *o)
{
    return *o->person ? "" : o->tenant;
}

/* --- looked up -------------------------------------------------------------------------------- */

const struct ownership *cluster_owner(const struct cluster *c, const char *name)
{
    struct owner_slot *s;
    HASH_FIND_STR(c->owners, name, s);
    return s ? &s->o : NULL;
}

static int by_name(const void *a, const void *b)
{
    return strcmp((*(const struct ownership *const *)a)->name, (*(const struct ownership *const *)b)->name);
}

const struct ownership **cluster_owners(const struct cluster *c, size_t *n)
{
    const struct ownership **all = mem_alloc((HASH_COUNT(c->owners) + 1) * sizeof *all);
    struct owner_slot *s, *next;
    *n = 0;
    HASH_ITER (hh, c->owners, s, next)
        all[(*n)++] = &s->o;
    qsort(all, *n, sizeof *all, by_name);
    return all;
}

size_t cluster_tenants(const struct cluster *c, const struct tenant **out)
{
    *out = c->tenants;
    return c->n_tenants;
}

const struct tenant *cluster_tenant(const struct cluster *c, const char *name)
{
    for (size_t i = 0; i < c->n_tenants; i++)
        if (strcmp(c->tenants[i].name, name) == 0)
            return &c->tenants[i];
    return NULL;
}

struct tenant_use cluster_tenant_use(const struct cluster *c, const char *tenant)
{
    struct tenant_slot *s;
    HASH_FIND_STR(c->tenant_uses, tenant, s);
    return s ? s->use : (struct tenant_use){0};
}

uint32_t cluster_sensitive_pool(const struct cluster *c)
{
    return c->sensitive_pool;
}

uint32_t cluster_sensitive_use(const struct cluster *c)
{
    return cluster_tenant_use(c, "").nodes + c->n_unclean;
}
