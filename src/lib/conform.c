/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/request.h"

#include <string.h>

static void add_number(struct buffer *path, const char *key, unsigned value)
{
    if (value == 0)
        return;
    buffer_add(path, path->s && strchr(path->s, '?') ? "&" : "?");
    buffer_add(path, key);
    buffer_add(path, "=");
    buffer_add_u64(path, value);
}

static void add_version(struct buffer *body, unsigned version)
{
    if (version == 0)
        return;
    buffer_add(body, body->len == 0 ? "{" : ",");
    buffer_add(body, "\"version\":");
    buffer_add_u64(body, version);
}

/* "/v1/conform/diff/lx07" */
static void begin_path(struct buffer *path, const char *fixed, const char *name)
{
    buffer_add(path, fixed);
    buffer_add_url(path, name);
}

int fettle_conform_groups(struct fettle *f, const char *class_name, struct fettle_answer **out,
                          struct fettle_error *e)
{
    struct buffer path = {0};
    buffer_add(&path, "/v1/conform/groups");
    request_query(&path, "class", class_name);
    return call_get(f, &path, out, e);
}

int fettle_conform_diff(struct fettle *f, const char *node, const char *with, bool all,
                        struct fettle_answer **out, struct fettle_error *e)
{
    struct buffer path = {0};
    begin_path(&path, "/v1/conform/diff/", node);
    request_query(&path, "with", with);
    request_query(&path, "all", all ? "yes" : NULL);
    return call_get(f, &path, out, e);
}

int fettle_conform_history(struct fettle *f, const char *node, struct fettle_answer **out,
                           struct fettle_error *e)
{
    struct buffer path = {0};
    begin_path(&path, "/v1/conform/history/", node);
    return call_get(f, &path, out, e);
}

/* A change with up to two words. */
static int conform_change(struct fettle *f, const char *path, const char *key, const char *value,
                          const char *reason, struct fettle_answer **out, struct fettle_error *e)
{
    struct buffer body = {0};
    request_member(&body, key, value);
    request_member(&body, "reason", reason);
    request_end(&body);
    return call_post(f, path, &body, out, e);
}

int fettle_conform_recheck(struct fettle *f, const char *nodes, struct fettle_answer **out,
                           struct fettle_error *e)
{
    return conform_change(f, "/v1/conform/recheck", "nodes", nodes, NULL, out, e);
}

int fettle_conform_approve(struct fettle *f, const char *nodes, const char *reason,
                           struct fettle_answer **out, struct fettle_error *e)
{
    return conform_change(f, "/v1/conform/approve", "nodes", nodes, reason, out, e);
}

int fettle_class_list(struct fettle *f, struct fettle_answer **out, struct fettle_error *e)
{
    return call_ask(f, "GET", "/v1/classes", NULL, out, e);
}

int fettle_baseline_show(struct fettle *f, const char *class_name, unsigned version,
                         struct fettle_answer **out, struct fettle_error *e)
{
    struct buffer path = {0};
    begin_path(&path, "/v1/baselines/", class_name);
    add_number(&path, "version", version);
    return call_get(f, &path, out, e);
}

int fettle_baseline_accept(struct fettle *f, const char *node, const char *note, struct fettle_answer **out,
                           struct fettle_error *e)
{
    return conform_change(f, "/v1/baselines/accept", "node", node, note, out, e);
}

int fettle_baseline_revert(struct fettle *f, const char *class_name, unsigned version, const char *note,
                           struct fettle_answer **out, struct fettle_error *e)
{
    struct buffer body = {0};
    request_member(&body, "class", class_name);
    add_version(&body, version);
    request_member(&body, "reason", note);
    request_end(&body);
    return call_post(f, "/v1/baselines/revert", &body, out, e);
}

int fettle_rollout_start(struct fettle *f, const char *class_name, const char *to, unsigned version,
                         const char *nodes, const char *deadline, const char *note,
                         struct fettle_answer **out, struct fettle_error *e)
{
    struct buffer body = {0};
    request_member(&body, "class", class_name);
    request_member(&body, "to", to);
    add_version(&body, to ? 0 : version);
    request_member(&body, "nodes", nodes);
    request_member(&body, "deadline", deadline);
    request_member(&body, "reason", note);
    request_end(&body);
    return call_post(f, "/v1/rollouts/start", &body, out, e);
}

int fettle_rollout_accept(struct fettle *f, const char *class_name, struct fettle_answer **out,
                          struct fettle_error *e)
{
    return conform_change(f, "/v1/rollouts/accept", "class", class_name, NULL, out, e);
}

int fettle_rollout_revert(struct fettle *f, const char *class_name, struct fettle_answer **out,
                          struct fettle_error *e)
{
    return conform_change(f, "/v1/rollouts/revert", "class", class_name, NULL, out, e);
}

int fettle_place(struct fettle *f, const struct fettle_place *ask, struct fettle_answer **out,
                 struct fettle_error *e)
{
    struct buffer path = {0};
    buffer_add(&path, "/v1/place");
    add_number(&path, "count", ask->count);
    request_query(&path, "class", ask->class_name);
    request_query(&path, "policy", ask->policy);
    request_query(&path, "nodes", ask->nodes);
    request_query(&path, "require", ask->require_conformance ? "yes" : NULL);
    return call_get(f, &path, out, e);
}

int fettle_slurm_features(struct fettle *f, const char *nodes, struct fettle_answer **out,
                          struct fettle_error *e)
{
    struct buffer path = {0};
    buffer_add(&path, "/v1/slurm/features");
    request_query(&path, "nodes", nodes);
    return call_get(f, &path, out, e);
}

int fettle_slurm_constraint(struct fettle *f, unsigned count, const char *class_name,
                            struct fettle_answer **out, struct fettle_error *e)
{
    struct buffer path = {0};
    buffer_add(&path, "/v1/slurm/constraint");
    add_number(&path, "count", count);
    request_query(&path, "class", class_name);
    return call_get(f, &path, out, e);
}
