/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/request.h"

static int get_of(struct fettle *f, const char *fixed, const char *name, struct fettle_answer **out,
                  struct fettle_error *e)
{
    struct buffer path = {0};
    buffer_add(&path, fixed);
    buffer_add_url(&path, name);
    return call_get(f, &path, out, e);
}

/* A change with up to three words. */
static int health_change(struct fettle *f, const char *path, const char *nodes, const char *key,
                         const char *value, const char *reason, struct fettle_answer **out,
                         struct fettle_error *e)
{
    struct buffer body = {0};
    request_member(&body, "nodes", nodes);
    request_member(&body, key, value);
    request_member(&body, "reason", reason);
    request_end(&body);
    return call_post(f, path, &body, out, e);
}

int fettle_health_show(struct fettle *f, const char *node, struct fettle_answer **out, struct fettle_error *e)
{
    return get_of(f, "/v1/health/", node, out, e);
}

int fettle_incident_list(struct fettle *f, const char *nodes, int64_t since, struct fettle_answer **out,
                         struct fettle_error *e)
{
    struct buffer path = {0};
    buffer_add(&path, "/v1/incidents");
    request_query(&path, "nodes", nodes);
    request_number(&path, "since", since > 0 ? (uint64_t)since : 0);
    return call_get(f, &path, out, e);
}

int fettle_trial_list(struct fettle *f, const char *check, const char *nodes, struct fettle_answer **out,
                      struct fettle_error *e)
{
    struct buffer path = {0};
    buffer_add(&path, "/v1/trials");
    request_query(&path, "check", check);
    request_query(&path, "nodes", nodes);
    return call_get(f, &path, out, e);
}

int fettle_check_list(struct fettle *f, struct fettle_answer **out, struct fettle_error *e)
{
    return call_ask(f, "GET", "/v1/checks", NULL, out, e);
}

int fettle_check_explain(struct fettle *f, const char *name, struct fettle_answer **out,
                         struct fettle_error *e)
{
    return get_of(f, "/v1/explain/", name, out, e);
}

int fettle_check_run(struct fettle *f, const char *nodes, const char *check, struct fettle_answer **out,
                     struct fettle_error *e)
{
    return health_change(f, "/v1/checks/run", nodes, "check", check, NULL, out, e);
}

int fettle_remedy_list(struct fettle *f, struct fettle_answer **out, struct fettle_error *e)
{
    return call_ask(f, "GET", "/v1/remedies", NULL, out, e);
}

int fettle_remedy_explain(struct fettle *f, const char *node, struct fettle_answer **out,
                          struct fettle_error *e)
{
    return get_of(f, "/v1/remedies/", node, out, e);
}

int fettle_repair_move(struct fettle *f, const char *nodes, const char *transition, const char *message,
                       struct fettle_answer **out, struct fettle_error *e)
{
    return health_change(f, "/v1/repairs/transition", nodes, "transition", transition, message, out, e);
}

int fettle_repair_approve(struct fettle *f, const char *nodes, const char *remedy, const char *comment,
                          struct fettle_answer **out, struct fettle_error *e)
{
    return health_change(f, "/v1/repairs/approve", nodes, "remedy", remedy, comment, out, e);
}

int fettle_repair_refuse(struct fettle *f, const char *nodes, const char *remedy, const char *comment,
                         struct fettle_answer **out, struct fettle_error *e)
{
    return health_change(f, "/v1/repairs/refuse", nodes, "remedy", remedy, comment, out, e);
}

int fettle_repair_numbers(struct fettle *f, unsigned hours, struct fettle_answer **out,
                          struct fettle_error *e)
{
    struct buffer path = {0};
    buffer_add(&path, "/v1/repairs/numbers");
    if (hours > 0) {
        buffer_add(&path, "?hours=");
        buffer_add_u64(&path, hours);
    }
    return call_get(f, &path, out, e);
}

int fettle_repair_list(struct fettle *f, struct fettle_answer **out, struct fettle_error *e)
{
    return call_ask(f, "GET", "/v1/repairs", NULL, out, e);
}

int fettle_queue_list(struct fettle *f, struct fettle_answer **out, struct fettle_error *e)
{
    return call_ask(f, "GET", "/v1/queue", NULL, out, e);
}

int fettle_queue_resolve(struct fettle *f, const char *nodes, const struct fettle_finding *findings, size_t n,
                         const char *message, struct fettle_answer **out, struct fettle_error *e)
{
    struct buffer body = {0};
    request_member(&body, "nodes", nodes);
    buffer_add(&body, ",\"findings\":[");
    for (size_t i = 0; i < n; i++) {
        buffer_add(&body, i > 0 ? ",{\"fault\":" : "{\"fault\":");
        buffer_add_json(&body, findings[i].fault);
        if (findings[i].device) {
            buffer_add(&body, ",\"device\":");
            buffer_add_json(&body, findings[i].device);
        }
        buffer_add(&body, "}");
    }
    buffer_add(&body, "]");
    request_member(&body, "reason", message);
    request_end(&body);
    return call_post(f, "/v1/queue/resolve", &body, out, e);
}

static void add_true(struct buffer *body, const char *key, bool on)
{
    buffer_add(body, ",\"");
    buffer_add(body, key);
    buffer_add(body, on ? "\":true" : "\":false");
}

int fettle_queue_take(struct fettle *f, const char *nodes, struct fettle_answer **out, struct fettle_error *e)
{
    struct buffer body = {0};
    request_member(&body, "nodes", nodes);
    add_true(&body, "take", true);
    request_end(&body);
    return call_post(f, "/v1/queue/ticket", &body, out, e);
}

int fettle_queue_note(struct fettle *f, const char *nodes, const char *note, struct fettle_answer **out,
                      struct fettle_error *e)
{
    return health_change(f, "/v1/queue/ticket", nodes, "", NULL, note, out, e);
}

int fettle_override_list(struct fettle *f, struct fettle_answer **out, struct fettle_error *e)
{
    return call_ask(f, "GET", "/v1/overrides", NULL, out, e);
}

int fettle_override_set(struct fettle *f, const char *nodes, const char *reason, struct fettle_answer **out,
                        struct fettle_error *e)
{
    return health_change(f, "/v1/overrides/set", nodes, "", NULL, reason, out, e);
}

int fettle_override_end(struct fettle *f, const char *nodes, const char *reason, struct fettle_answer **out,
                        struct fettle_error *e)
{
    return health_change(f, "/v1/overrides/end", nodes, "", NULL, reason, out, e);
}

int fettle_brake_list(struct fettle *f, struct fettle_answer **out, struct fettle_error *e)
{
    return call_ask(f, "GET", "/v1/brakes", NULL, out, e);
}

int fettle_brake_set(struct fettle *f, const char *name, bool on, const char *reason,
                     struct fettle_answer **out, struct fettle_error *e)
{
    struct buffer body = {0};
    request_member(&body, "name", name);
    add_true(&body, "on", on);
    request_member(&body, "reason", reason);
    request_end(&body);
    return call_post(f, "/v1/brakes/set", &body, out, e);
}

int fettle_power(struct fettle *f, const char *nodes, const char *verb, const char *reason, bool force,
                 struct fettle_answer **out, struct fettle_error *e)
{
    struct buffer body = {0};
    request_member(&body, "nodes", nodes);
    request_member(&body, "do", verb);
    request_member(&body, "reason", reason);
    if (force)
        add_true(&body, "force", true);
    request_end(&body);
    return call_post(f, "/v1/power", &body, out, e);
}
