/* SPDX-License-Identifier: Apache-2.0 */
#include "api/route.h"

#include "base/text.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

static const struct route_row rows[ROUTES] = {
#define ROUTE(operation, method, path, right) \
    [ROUTE_##operation] = {#operation, HTTP_##method##_, #method, path, #method " " path, RIGHT_##right},
#include "api/route.tbl"
#undef ROUTE
};

static const struct {
    size_t n;
    const char *keys[ROUTE_KEYS_MAX];
} queries[ROUTES] = {
    [ROUTE_node_list] = {2, {"nodes", "fields"}},
    [ROUTE_journal_list] = {10,
                            {"after", "limit", "tail", "nodes", "what", "by", "about", "since", "until",
                             "before"}},
    [ROUTE_audit_proof] = {2, {"revision", "n"}},
    [ROUTE_audit_consistency] = {1, {"old"}},
    [ROUTE_conform_groups] = {1, {"class"}},
    [ROUTE_conform_diff] = {2, {"with", "all"}},
    [ROUTE_baseline_show] = {1, {"version"}},
    [ROUTE_place] = {5, {"count", "class", "policy", "require", "nodes"}},
    [ROUTE_incident_list] = {2, {"nodes", "since"}},
    [ROUTE_trial_list] = {2, {"check", "nodes"}},
    [ROUTE_repair_numbers] = {1, {"hours"}},
    [ROUTE_owner_list] = {1, {"owner"}},
    [ROUTE_slurm_features] = {1, {"nodes"}},
    [ROUTE_slurm_constraint] = {2, {"count", "class"}},
};

size_t route_keys(enum route r, const char *const **keys)
{
    static const char *const changing[] = {"dry_run"};
    if (access_right_changes(rows[r].right)) {
        *keys = changing;
        return 1;
    }
    *keys = queries[r].keys;
    assert((size_t)r < sizeof queries / sizeof *queries);
    return queries[r].n;
}

const struct route_row *route_get(enum route r)
{
    return &rows[r];
}

static bool path_matches(const char *pattern, const char *path, const char **parameter)
{
    size_t fixed = strcspn(pattern, "{");
    *parameter = NULL;
    if (pattern[fixed] == '\0')
        return strcmp(pattern, path) == 0;
    bool deep = strcmp(pattern + fixed, "{path}") == 0;
    if (strncmp(pattern, path, fixed) != 0 || path[fixed] == '\0' || (!deep && strchr(path + fixed, '/')))
        return false;
    *parameter = path + fixed;
    return true;
}

static int refuse_path(const char *path, struct err *e)
{
    const char *paths[ROUTES];
    for (int i = 0; i < ROUTES; i++)
        paths[i] = rows[i].path;
    const char *near = text_nearest(path, paths, ROUTES);
    if (near)
        return err_set(e, -ENOENT, "there is no \"%.200s\"; the nearest is \"%s\"", path, near);
    return err_set(e, -ENOENT, "there is no \"%.200s\"; everything is under /v1/", path);
}

int route_find(enum http_method method, const char *method_name, const char *path, enum route *out,
               const char **parameter, struct err *e)
{
    assert(path && out && parameter);
    CLEANUP_TEXT struct text allowed = {0};
    for (int i = 0; i < ROUTES; i++) {
        if (!path_matches(rows[i].path, path, parameter))
            continue;
        if (rows[i].method == method) {
            *out = (enum route)i;
            return 0;
        }
        text_add(&allowed, allowed.len ? ", " : "");
        text_add(&allowed, rows[i].method == HTTP_GET_ ? "GET, HEAD" : rows[i].method_name);
    }
    *parameter = NULL;
    if (allowed.len == 0)
        return refuse_path(path, e);
    return err_set(e, -EOPNOTSUPP, "%s is not allowed for \"%.200s\"; allowed are: %s", method_name, path,
                   allowed.s);
}
