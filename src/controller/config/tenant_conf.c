/* SPDX-License-Identifier: Apache-2.0 */
/* TenantConf: who may own nodes, and how many. A record is "Tenant=physics Nodes=64 Allocations=10". */
#include "controller/config/config_inside.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { TENANTS_MAX = 10000, QUOTA_MAX = 1000000 };

static int check_keys(const struct conf *file, const struct conf_line *line, struct err *e)
{
    static const char *const known[] = {"Tenant", "Nodes", "Allocations"};
    for (size_t i = 0; i < line->n; i++) {
        size_t k = 0;
        while (k < 3 && strcasecmp(line->fields[i].key, known[k]) != 0)
            k++;
        if (k == 3)
            return conf_unknown_key(file, line, line->fields[i].key, known, 3, e);
    }
    return 0;
}

/* A quota that is not given limits nothing. */
static int take_quota(const struct conf *file, const struct conf_line *line, const char *key, uint32_t *out,
                      struct err *e)
{
    const struct conf_field *field = config_field(line, key);
    uint64_t n = QUOTA_NONE;
    int rc = field ? text_parse_u64(field->value, 0, QUOTA_MAX, &n, e) : 0;
    *out = (uint32_t)n;
    return rc < 0 ? err_wrap(e, -EINVAL, "%s:%d: %s", file->path, line->number, key) : 0;
}

static int check_name(const struct roster *r, const struct conf_field *name, struct err *e)
{
    if (!name)
        return err_set(e, -EINVAL, "a record without Tenant");
    if (!tenant_name_ok(name->value))
        return err_set(e, -EINVAL,
                       "Tenant: \"%.80s\" is not of 1 to %d letters, digits, '-', '_' and '.', a letter or "
                       "digit first",
                       name->value, TENANT_NAME_BYTES_MAX);
    if (r->n_tenants == TENANTS_MAX)
        return err_set(e, -EINVAL, "more than %d tenants", TENANTS_MAX);
    for (size_t i = 0; i < r->n_tenants; i++)
        if (strcmp(r->tenants[i].name, name->value) == 0)
            return err_set(e, -EINVAL, "tenant %s stands twice", name->value);
    return 0;
}

static int take_tenant(struct config *c, const struct conf *file, const struct conf_line *line, struct err *e)
{
    struct roster *r = &c->roster;
    const struct conf_field *name = config_field(line, "Tenant");
    struct tenant t = {0};
    int rc = check_keys(file, line, e);
    if (rc == 0 && check_name(r, name, e) < 0)
        rc = err_wrap(e, -EINVAL, "%s:%d", file->path, line->number);
    if (rc == 0)
        rc = take_quota(file, line, "Nodes", &t.nodes, e);
    if (rc == 0)
        rc = take_quota(file, line, "Allocations", &t.allocations, e);
    if (rc < 0)
        return rc;
    t.name = mem_dup(name->value);
    r->tenants = mem_grow(r->tenants, (r->n_tenants + 1) * sizeof *r->tenants);
    r->tenants[r->n_tenants++] = t;
    t.name = mem_dup(name->value);
    c->tenants = mem_grow(c->tenants, r->n_tenants * sizeof *c->tenants);
    c->tenants[c->n_tenants++] = t;
    return 0;
}

int config_read_tenants(struct config *c, struct err *e)
{
    struct conf file;
    int rc = config_part_read(c, CONFIG_TENANTS, &file, e);
    if (rc < 0)
        return config_refuse_file(c, SETTING_TENANT_CONF, rc, e);
    for (size_t i = 0; rc == 0 && i < file.n; i++)
        rc = take_tenant(c, &file, &file.lines[i], e);
    conf_fini(&file);
    return rc;
}

void config_fini_tenants(struct config *c)
{
    for (size_t i = 0; i < c->n_tenants; i++)
        free(c->tenants[i].name);
    free(c->tenants);
}

/* --- what changed ---------------------------------------------------------------------------- */

static const struct tenant *find_tenant(const struct config *c, const char *name)
{
    for (size_t i = 0; i < c->n_tenants; i++)
        if (strcmp(c->tenants[i].name, name) == 0)
            return &c->tenants[i];
    return NULL;
}

static void say_quota(const char *key, uint32_t n, struct text *t)
{
    if (n == QUOTA_NONE)
        text_printf(t, " %s=unlimited", key);
    else
        text_printf(t, " %s=%u", key, (unsigned)n);
}

void config_compare_tenants(const struct config *was, const struct config *is, struct text *changes)
{
    for (size_t i = 0; i < is->n_tenants; i++) {
        const struct tenant *t = &is->tenants[i], *before = find_tenant(was, t->name);
        if (before && before->nodes == t->nodes && before->allocations == t->allocations)
            continue;
        text_printf(changes, "tenant %s %s:", t->name, before ? "changed" : "added");
        say_quota("Nodes", t->nodes, changes);
        say_quota("Allocations", t->allocations, changes);
        text_add_char(changes, '\n');
    }
    for (size_t i = 0; i < was->n_tenants; i++)
        if (!find_tenant(is, was->tenants[i].name))
            text_printf(changes, "tenant %s removed\n", was->tenants[i].name);
}
