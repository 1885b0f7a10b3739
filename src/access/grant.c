/* SPDX-License-Identifier: Apache-2.0 */
/* The records of roles.conf. A value is a list with commas between. */
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

static void grant_fini(struct grant *g)
{
    for (int k = 0; k < GRANT_KEYS; k++)
        hostlist_fini(&g->names[k]);
}

void grants_fini(struct grants *g)
{
    for (size_t i = 0; i < g->n; i++)
        grant_fini(&g->list[i]);
    free(g->list);
    *g = (struct grants){0};
}

/* The key of a field; GRANT_KEYS for Role. */
static int grant_key_find(const struct conf *file, const struct conf_line *line, const char *name, int *out,
                          struct err *e)
{
    const char *known[GRANT_KEYS + 1];
    for (int k = 0; k < GRANT_KEYS; k++)
        known[k] = keys[k].key;
    known[GRANT_KEYS] = "Role";
    for (*out = 0; *out <= GRANT_KEYS; ++*out)
        if (strcasecmp(known[*out], name) == 0)
            return 0;
    return conf_unknown_key(file, line, name, known, GRANT_KEYS + 1, e);
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

static int grant_take(struct grant *g, const struct conf *file, const struct conf_line *line, struct err *e)
{
    bool has_role = false, has_names = false;
    for (size_t i = 0; i < line->n; i++) {
        const struct conf_field *f = &line->fields[i];
        int k;
        int rc = grant_key_find(file, line, f->key, &k, e);
        if (rc < 0)
            return rc; /* the sentence has the place already */
        rc = k == GRANT_KEYS ? access_role_find(f->value, &g->role, e)
                             : grant_take_names(&g->names[k], f->value, e);
        if (rc < 0)
            return err_wrap(e, rc, "%s:%d: %s", file->path, line->number, f->key);
        has_role |= k == GRANT_KEYS;
        has_names |= k < GRANT_KEYS;
    }
    if (!has_role || !has_names)
        return err_set(e, -EINVAL, "%s:%d: the record does not say %s", file->path, line->number,
                       has_role ? "whose role this is" : "which role it gives");
    return 0;
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

unsigned grants_roles(const struct grants *g, const struct principal *p)
{
    unsigned roles = 0;
    for (size_t i = 0; i < g->n; i++)
        if (is_granted(&g->list[i], p))
            roles |= ROLE_BIT(g->list[i].role);
    return roles;
}
