/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/request.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void request_query(struct buffer *path, const char *key, const char *value)
{
    if (!value)
        return;
    buffer_add(path, path->s && strchr(path->s, '?') ? "&" : "?");
    buffer_add(path, key);
    buffer_add(path, "=");
    buffer_add_url(path, value);
}

void request_member(struct buffer *body, const char *key, const char *value)
{
    if (!value)
        return;
    buffer_add(body, body->len == 0 ? "{" : ",");
    buffer_add_json(body, key);
    buffer_add(body, ":");
    buffer_add_json(body, value);
}

void request_end(struct buffer *body)
{
    buffer_add(body, body->len == 0 ? "{}" : "}");
}

int fettle_node_list(struct fettle *f, const char *nodes, const char *fields, struct fettle_answer **out,
                     struct fettle_error *e)
{
    struct buffer path = {0};
    buffer_add(&path, "/v1/nodes");
    request_query(&path, "nodes", nodes);
    request_query(&path, "fields", fields);
    return call_get(f, &path, out, e);
}

int fettle_node_show(struct fettle *f, const char *name, struct fettle_answer **out, struct fettle_error *e)
{
    struct buffer path = {0};
    buffer_add(&path, "/v1/nodes/");
    buffer_add_url(&path, name);
    return call_get(f, &path, out, e);
}

int fettle_partition_list(struct fettle *f, struct fettle_answer **out, struct fettle_error *e)
{
    return call_ask(f, "GET", "/v1/partitions", NULL, out, e);
}

int fettle_status(struct fettle *f, struct fettle_answer **out, struct fettle_error *e)
{
    return call_ask(f, "GET", "/v1/status", NULL, out, e);
}

int fettle_whoami(struct fettle *f, struct fettle_answer **out, struct fettle_error *e)
{
    return call_ask(f, "GET", "/v1/whoami", NULL, out, e);
}

int fettle_journal(struct fettle *f, uint64_t after, unsigned limit, struct fettle_answer **out,
                   struct fettle_error *e)
{
    struct buffer path = {0};
    buffer_add(&path, "/v1/journal?after=");
    buffer_add_u64(&path, after);
    if (limit > 0) {
        buffer_add(&path, "&limit=");
        buffer_add_u64(&path, limit);
    }
    return call_get(f, &path, out, e);
}

void request_number(struct buffer *path, const char *key, uint64_t n)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, n);
    request_query(path, key, n ? text : NULL);
}

int fettle_journal_find(struct fettle *f, const struct fettle_journal_search *s, struct fettle_answer **out,
                        struct fettle_error *e)
{
    struct buffer path = {0};
    buffer_add(&path, "/v1/journal?tail=");
    buffer_add_u64(&path, s->tail);
    request_query(&path, "nodes", s->nodes);
    request_query(&path, "what", s->what);
    request_query(&path, "by", s->by);
    request_query(&path, "about", s->about);
    request_number(&path, "since", s->since > 0 ? (uint64_t)s->since : 0);
    request_number(&path, "until", s->until > 0 ? (uint64_t)s->until : 0);
    request_number(&path, "after", s->after);
    request_number(&path, "before", s->before);
    return call_get(f, &path, out, e);
}

/* A change of nodes: the nodes and one more member. */
static int request_change(struct fettle *f, const char *path, const char *nodes, const char *key,
                          const char *value, struct fettle_answer **out, struct fettle_error *e)
{
    struct buffer body = {0};
    request_member(&body, "nodes", nodes);
    request_member(&body, key, value);
    request_end(&body);
    return call_post(f, path, &body, out, e);
}

int fettle_node_drain(struct fettle *f, const char *nodes, const char *reason, struct fettle_answer **out,
                      struct fettle_error *e)
{
    return request_change(f, "/v1/nodes/drain", nodes, "reason", reason, out, e);
}

int fettle_node_down(struct fettle *f, const char *nodes, const char *reason, struct fettle_answer **out,
                     struct fettle_error *e)
{
    return request_change(f, "/v1/nodes/down", nodes, "reason", reason, out, e);
}

int fettle_node_undrain(struct fettle *f, const char *nodes, const char *claim, struct fettle_answer **out,
                        struct fettle_error *e)
{
    return request_change(f, "/v1/nodes/undrain", nodes, "claim", claim, out, e);
}

int fettle_node_up(struct fettle *f, const char *nodes, const char *claim, struct fettle_answer **out,
                   struct fettle_error *e)
{
    return request_change(f, "/v1/nodes/up", nodes, "claim", claim, out, e);
}

int fettle_node_forget(struct fettle *f, const char *nodes, bool force, struct fettle_answer **out,
                       struct fettle_error *e)
{
    struct buffer body = {0};
    request_member(&body, "nodes", nodes);
    buffer_add(&body, force ? ",\"force\":true" : "");
    request_end(&body);
    return call_post(f, "/v1/nodes/forget", &body, out, e);
}

int fettle_node_set(struct fettle *f, const char *nodes, const struct fettle_setting *settings, size_t n,
                    struct fettle_answer **out, struct fettle_error *e)
{
    struct buffer body = {0};
    request_member(&body, "nodes", nodes);
    buffer_add(&body, ",\"set\":{");
    for (size_t i = 0; i < n; i++) {
        buffer_add(&body, i > 0 ? "," : "");
        buffer_add_json(&body, settings[i].field);
        buffer_add(&body, ":");
        if (settings[i].value)
            buffer_add_json(&body, settings[i].value);
        else
            buffer_add(&body, "null");
    }
    buffer_add(&body, "}");
    request_end(&body);
    return call_post(f, "/v1/nodes/set", &body, out, e);
}

/* From the files of the first controller that is there, which agrees them if it leads. Each controller has
 * files of its own, so that no other one is asked instead. */
static int reload_here(struct fettle *f, struct fettle_answer **out, struct fettle_error *e)
{
    const int n = f->n_addresses;
    int r = -ECONNREFUSED;
    for (int i = 0; i < n && r == -ECONNREFUSED; i++) {
        if (i > 0)
            call_turn(f);
        f->n_addresses = 1;
        r = call_ask(f, "POST", "/v1/reload", "", out, e);
        f->n_addresses = n;
    }
    return r;
}

/* Brings the texts of its files to the controller that leads. */
static int reload_elsewhere(struct fettle *f, struct fettle_answer **out, struct fettle_error *e)
{
    struct buffer texts = {0};
    const int n = f->n_addresses;
    f->n_addresses = 1;
    int r = call_get_text(f, "/v1/configuration", &texts, e);
    f->n_addresses = n;
    if (r == 0)
        r = call_post(f, "/v1/reload", &texts, out, e);
    buffer_fini(&texts);
    return r;
}

int fettle_reload(struct fettle *f, struct fettle_answer **out, struct fettle_error *e)
{
    int r = reload_here(f, out, e);
    return r == -EREMOTE && f->n_addresses > 1 ? reload_elsewhere(f, out, e) : r;
}

int fettle_backup_create(struct fettle *f, struct fettle_answer **out, struct fettle_error *e)
{
    return call_ask(f, "POST", "/v1/backups", "", out, e);
}

int fettle_backup_list(struct fettle *f, struct fettle_answer **out, struct fettle_error *e)
{
    return call_ask(f, "GET", "/v1/backups", NULL, out, e);
}

int fettle_token_create(struct fettle *f, const struct fettle_token *t, struct fettle_answer **out,
                        struct fettle_error *e)
{
    struct buffer body = {0};
    char count[16];
    snprintf(count, sizeof count, "%u", t->count);
    request_member(&body, "nodes", t->nodes);
    request_member(&body, "valid", t->valid);
    request_member(&body, "from", t->from);
    request_member(&body, "uuid", t->uuid);
    if (t->count) {
        buffer_add(&body, ",\"count\":");
        buffer_add(&body, count);
    }
    if (t->again)
        buffer_add(&body, ",\"again\":true");
    request_end(&body);
    return call_post(f, "/v1/tokens", &body, out, e);
}

int fettle_token_list(struct fettle *f, struct fettle_answer **out, struct fettle_error *e)
{
    return call_ask(f, "GET", "/v1/tokens", NULL, out, e);
}

int fettle_token_end(struct fettle *f, const char *id, const char *reason, struct fettle_answer **out,
                     struct fettle_error *e)
{
    struct buffer body = {0};
    request_member(&body, "id", id);
    request_member(&body, "reason", reason);
    request_end(&body);
    return call_post(f, "/v1/tokens/end", &body, out, e);
}

int fettle_controller_list(struct fettle *f, struct fettle_answer **out, struct fettle_error *e)
{
    return call_ask(f, "GET", "/v1/controllers", NULL, out, e);
}

int fettle_controller_admit(struct fettle *f, const char *name, const char *key, struct fettle_answer **out,
                            struct fettle_error *e)
{
    struct buffer body = {0};
    request_member(&body, "name", name);
    request_member(&body, "key", key);
    request_end(&body);
    return call_post(f, "/v1/controllers/admit", &body, out, e);
}

int fettle_controller_remove(struct fettle *f, const char *name, const char *reason,
                             struct fettle_answer **out, struct fettle_error *e)
{
    struct buffer body = {0};
    request_member(&body, "name", name);
    request_member(&body, "reason", reason);
    request_end(&body);
    return call_post(f, "/v1/controllers/remove", &body, out, e);
}

int fettle_certificate_create(struct fettle *f, const char *name, const char *role, const char *request,
                              const char *valid, struct fettle_answer **out, struct fettle_error *e)
{
    struct buffer body = {0};
    request_member(&body, "name", name);
    request_member(&body, "role", role);
    request_member(&body, "request", request);
    request_member(&body, "valid", valid);
    request_end(&body);
    return call_post(f, "/v1/certificates", &body, out, e);
}

int fettle_certificate_list(struct fettle *f, struct fettle_answer **out, struct fettle_error *e)
{
    return call_ask(f, "GET", "/v1/certificates", NULL, out, e);
}

int fettle_certificate_revoke(struct fettle *f, const char *nodes, const char *holder, const char *serial,
                              const char *reason, struct fettle_answer **out, struct fettle_error *e)
{
    struct buffer body = {0};
    request_member(&body, "nodes", nodes);
    request_member(&body, "holder", holder);
    request_member(&body, "serial", serial);
    request_member(&body, "reason", reason);
    request_end(&body);
    return call_post(f, "/v1/certificates/revoke", &body, out, e);
}
