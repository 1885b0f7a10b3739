/* SPDX-License-Identifier: Apache-2.0 */
/* The records of roles.conf. A value is a list with commas between, but for that of Role and TokenTenants. */
#include "access/access.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct {
    const char *key;
    enum access_kind kind;
    bool is_group;
} keys[GRANT_KEYS] = {
#define GRANT(symbol, key, kind, group, meaning) [GRANT_##symbol] = {key, kind, group},
#include "access/grant.tbl"
#undef GRANT
};

/* Whether a record says for which tenants its role holds. */
static const enum bound {
    NEVER,
    MAY,
    MUST
} bounds[ACCESS_ROLES] = {
#define ROLE(symbol, name, tenants, meaning) [ACCESS_##symbol] = tenants,
#include "access/role.tbl"
#undef ROLE
};

/* The keys that are none of GRANT's. */
enum other_key { KEY_ROLE = GRANT_KEYS, KEY_TENANTS, KEY_TOKEN_TENANTS, RECORD_KEYS };
static const char *const other_keys[] = {"Role", "Tenants", "TokenTenants"};

static void grant_fini(struct grant *g)
{
    for (int k = 0; k < GRANT_KEYS; k++)
        hostlist_fini(&g->names[k]);
    hostlist_fini(&g->tenants);
}

void grants_fini(struct grants *g)
{
    for (size_t i = 0; i < g->n; i++)
        grant_fini(&g->list[i]);
    free(g->list);
    *g = (struct grants){0};
}

/* The key of a field: of GRANT's, or an other_key. */
static int grant_key_find(const struct conf *file, const struct conf_line *line, const char *name, int *out,
                          struct err *e)
{
    const char *known[RECORD_KEYS];
    for (int k = 0; k < RECORD_KEYS; k++)
        known[k] = k < GRANT_KEYS ? keys[k].key : other_keys[k - GRANT_KEYS];
    for (*out = 0; *out < RECORD_KEYS; ++*out)
        if (strcasecmp(known[*out], name) == 0)
            return 0;
    return conf_unknown_key(file, line, name, known, RECORD_KEYS, e);
}

static int grant_take_names(struct hostlist *names, const char *value, struct err *e)
{
    CLEANUP_FREE char *copy = mem_dup(value);
    char *rest = copy;
    for (char *name; (name = strsep(&rest, ","));) {
        name += strspn(name, " \t");
        for (size_t n = strlen(name); n && strchr(" \t", name[n - 1]); n--)
            name[n - 1] = '\0';
        if (!*name)
            return err_set(e, -EINVAL, "a name in \"%.100s\" is empty", value);
        hostlist_add(names, name);
    }
    return 0;
}

static int grant_take_value(struct grant *g, int key, const char *value, struct err *e)
{
    g->is_bound |= key == KEY_TENANTS || key == KEY_TOKEN_TENANTS;
    if (key == KEY_ROLE)
        return access_role_find(value, &g->role, e);
    if (key == KEY_TOKEN_TENANTS)
        return text_parse_bool(value, &g->token_tenants, e);
    int rc = grant_take_names(key == KEY_TENANTS ? &g->tenants : &g->names[key], value, e);
    if (rc == 0 && g->tenants.n > GRANT_TENANTS_MAX)
        rc = err_set(e, -EINVAL, "more than %d tenants", GRANT_TENANTS_MAX);
    return rc;
}

/* Whether a name of a token's subject, or of its groups, is in the record. */
static bool grant_is_of_tokens(const struct grant *g)
{
    for (int k = 0; k < GRANT_KEYS; k++)
        if (keys[k].kind == ACCESS_TOKEN && g->names[k].n > 0)
            return true;
    return false;
}

static int grant_check_tenants(const struct grant *g, struct err *e)
{
    if (g->is_bound && bounds[g->role] == NEVER)
        return err_set(e, -EINVAL, "the role %s holds for no tenant in particular",
                       access_role_name(g->role));
    if (g->token_tenants && !grant_is_of_tokens(g))
        return err_set(e, -EINVAL, "TokenTenants is for Subjects and SubjectGroups");
    return 0;
}

static int grant_take(struct grant *g, const struct conf *file, const struct conf_line *line, struct err *e)
{
    bool has_role = false, has_names = false;
    g->line = line->number;
    for (size_t i = 0; i < line->n; i++) {
        const struct conf_field *f = &line->fields[i];
        int k;
        int rc = grant_key_find(file, line, f->key, &k, e);
        if (rc < 0)
            return rc; /* the sentence has the place already */
        rc = grant_take_value(g, k, f->value, e);
        if (rc < 0)
            return err_wrap(e, rc, "%s:%d: %s", file->path, line->number, f->key);
        has_role |= k == KEY_ROLE;
        has_names |= k < GRANT_KEYS;
    }
    if (!has_role || !has_names)
        return err_set(e, -EINVAL, "%s:%d: the record does not say %s", file->path, line->number,
                       has_role ? "whose role this is" : "which role it gives");
    int rc = grant_check_tenants(g, e);
    return rc < 0 ? err_wrap(e, rc, "%s:%d", file->path, line->number) : 0;
}

int grants_read(const struct conf *file, struct grants *g, struct err *e)
{
    assert(g->n == 0);
    if (file->n > GRANTS_MAX)
        return err_set(e, -EINVAL, "%s: more than %d records", file->path, GRANTS_MAX);
    g->list = mem_alloc((file->n + 1) * sizeof *g->list);
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < file->n; i++)
        rc = grant_take(&g->list[g->n++], file, &file->lines[i], e);
    if (rc < 0)
        grants_fini(g);
    return rc;
}

bool grants_want_groups(const struct grants *g, enum access_kind kind)
{
    for (size_t i = 0; i < g->n; i++)
        for (int k = 0; k < GRANT_KEYS; k++)
            if (keys[k].is_group && keys[k].kind == kind && g->list[i].names[k].n > 0)
                return true;
    return false;
}

static bool is_named(const struct hostlist *names, const char *name)
{
    for (size_t i = 0; i < names->n; i++)
        if (strcmp(names->names[i], name) == 0)
            return true;
    return false;
}

static bool is_granted(const struct grant *g, const struct principal *p)
{
    for (int k = 0; k < GRANT_KEYS; k++) {
        if (keys[k].kind != p->kind)
            continue;
        if (!keys[k].is_group && is_named(&g->names[k], p->name))
            return true;
        for (size_t i = 0; keys[k].is_group && p->groups && i < p->groups->n; i++)
            if (is_named(&g->names[k], p->groups->names[i]))
                return true;
    }
    return false;
}

static void tenancy_add(struct tenancy *t, const char *tenant, unsigned roles)
{
    size_t i = 0;
    while (i < t->n && strcmp(t->parts[i].tenant, tenant) != 0)
        i++;
    if (i == t->n) {
        t->parts = mem_grow(t->parts, (t->n + 1) * sizeof *t->parts);
        t->parts[t->n++] = (struct tenancy_part){.tenant = mem_dup(tenant)};
    }
    t->parts[i].roles |= roles;
}

static void tenancy_add_all(struct tenancy *t, const struct hostlist *tenants, unsigned roles)
{
    for (size_t i = 0; i < tenants->n; i++)
        tenancy_add(t, tenants->names[i], roles);
}

/* For which tenants a record gives its role to an identity that it names. */
static void grant_bind(const struct grant *g, const struct principal *p, struct tenancy *t)
{
    const unsigned role = ROLE_BIT(g->role);
    if (!g->is_bound && bounds[g->role] != MUST)
        t->everywhere |= role;
    tenancy_add_all(t, &g->tenants, role);
    if (g->token_tenants && p->kind == ACCESS_TOKEN && p->tenants)
        tenancy_add_all(t, p->tenants, role);
}

unsigned grants_roles(const struct grants *g, const struct principal *p, struct tenancy *t)
{
    unsigned roles = 0;
    for (size_t i = 0; i < g->n; i++) {
        if (!is_granted(&g->list[i], p))
            continue;
        roles |= ROLE_BIT(g->list[i].role);
        grant_bind(&g->list[i], p, t);
    }
    return roles;
}

void grants_each_tenant(const struct grants *g, void (*fn)(void *arg, const char *tenant, int line),
                        void *arg)
{
    for (size_t i = 0; i < g->n; i++)
        for (size_t k = 0; k < g->list[i].tenants.n; k++)
            fn(arg, g->list[i].tenants.names[k], g->list[i].line);
}
