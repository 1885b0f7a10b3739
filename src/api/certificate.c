/* SPDX-License-Identifier: Apache-2.0 */
/* Certificates, and the tokens with which machines get theirs: lists of them, and revocation. */
#include "api/slices.h"
#include "cluster/cluster.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct list {
    struct slices slices;
    const char *comma;
    char *after; /* the last holder that was rendered; NULL: none yet */
};

/* A node's next certificate is pending until it is used. */
static const char *state_of(const struct holder *h, const struct made *m, struct wall now)
{
    if (m->revoked.ns)
        return "revoked";
    if (m->until.ns <= now.ns)
        return "expired";
    bool second = h->n > 1 && m == &h->made[h->n - 1] && m->serial > h->least;
    return second && !*m->role ? "next" : "good";
}

static void render_time(struct text *t, const char *key, struct wall at)
{
    char buf[32];
    text_printf(t, ",\"%s\":\"%s\"", key, wall_format(at, buf));
}

static void render_made(struct list *l, const char *subject, const struct made *m, const char *state)
{
    struct text *t = &l->slices.text;
    text_printf(t, "%s{\"holder\":", l->comma);
    l->comma = ",";
    text_add_json(t, subject);
    text_printf(t, ",\"serial\":\"%" PRIx64 "\",\"key\":\"%016" PRIx64 "\",\"role\":\"%s\",\"state\":\"%s\"",
                m->serial, m->key, m->role, state);
    render_time(t, "made", m->at);
    render_time(t, "until", m->until);
    text_add(t, ",\"by\":");
    text_add_json(t, m->by);
    text_add(t, ",\"why\":");
    text_add_json(t, m->why ? m->why : "");
    text_add_char(t, '}');
}

static void render_holder(struct list *l, const struct holder *h)
{
    for (size_t i = 0; i < h->n; i++)
        render_made(l, h->subject, &h->made[i], state_of(h, &h->made[i], l->slices.call.wall));
}

/* Somebody is connected with a certificate that was made before there were records, or whose record was
 * lost. */
static void render_connected(void *arg, const struct identity *id)
{
    struct list *l = arg;
    char by[] = "before";
    CLEANUP_FREE char *subject = identity_subject(id);
    const struct holder *h = cluster_holder(l->slices.call.api->cluster, subject);
    for (size_t i = 0; h && i < h->n; i++)
        if (h->made[i].serial == id->serial)
            return;
    const struct made m = {.serial = id->serial,
                           .key = id->key,
                           .at = {span_s(id->from_s).ns},
                           .until = {span_s(id->until_s).ns},
                           .by = by};
    render_made(l, subject, &m, "good");
}

static bool list_step(struct slices *s)
{
    struct list *l = (struct list *)s;
    const struct api *api = s->call.api;
    const struct holder *h = cluster_holder_after(api->cluster, l->after ? l->after : "");
    if (h) {
        render_holder(l, h);
        free(l->after);
        l->after = mem_dup(h->subject);
        return true;
    }
    api->shell.connected(api->shell.arg, render_connected, l);
    text_add(&s->text, "]}");
    return false;
}

static void list_fini(struct slices *s)
{
    free(((struct list *)s)->after);
}

/* A holder's place is its position in the order of subjects: none is left out, whatever comes or goes
 * meanwhile. */
int call_certificate_list(struct call *c, struct text *t, struct err *e)
{
    struct list *l = mem_alloc(sizeof *l);
    l->slices = (struct slices){.step = list_step, .fini = list_fini};
    l->comma = "";
    text_add(&l->slices.text, "{\"certificates\":[");
    return call_slices(c, &l->slices);
}

/* Nodes by their names, an operator or a controller as "operator:NAME". */
int call_certificate_revoke(struct call *c, struct text *t, struct err *e)
{
    struct ask a = {0};
    int rc = call_ask(c, &a, e);
    if (rc == 0) {
        struct command cmd = {
            .kind = COMMAND_CERTIFICATE_REVOKE, .reason = a.reason, .revoke = {a.name, a.gives, a.serial}};
        rc = a.name ? call_submit(c, &a.nodes, &cmd, NULL) : call_submit_each(c, &a.nodes, &cmd, e);
    }
    ask_fini(&a);
    return rc;
}

/* ---- tokens ---- */

/* The tokens that exist at the beginning and still exist when their turn comes. */
struct token_list {
    struct slices slices;
    const char *comma;
    size_t n, cap, next;
    char **hashes;
};

static void token_keep(void *arg, const char *hash)
{
    struct token_list *l = arg;
    if (l->n == l->cap) {
        l->cap = l->cap ? l->cap * 2 : 64;
        l->hashes = mem_grow(l->hashes, l->cap * sizeof *l->hashes);
    }
    l->hashes[l->n++] = mem_dup(hash);
}

static void render_member(struct text *t, const json_t *o, const char *key)
{
    const char *value = "";
    json_take_string(o, key, &value, NULL);
    text_printf(t, ",\"%s\":", key);
    text_add_json(t, value);
}

static void render_token(struct token_list *l, const char *hash, const char *record)
{
    CLEANUP_JSON json_t *o = json_read(record, strlen(record), NULL);
    struct text *t = &l->slices.text;
    const char *expires = "0";
    uint64_t count = 1, end = 0;
    json_take_u64(o, "count", TOKEN_COUNT_MAX, &count, NULL);
    json_take_string(o, "expires", &expires, NULL);
    text_parse_u64(expires, 0, INT64_MAX, &end, NULL);
    const struct wall until = {(int64_t)end};
    text_printf(t, "%s{\"id\":\"%.*s\"", l->comma, TOKEN_ID_BYTES, hash);
    l->comma = ",";
    render_member(t, o, "nodes");
    text_printf(t, ",\"count\":%" PRIu64 ",\"again\":%s", count,
                json_is_true(json_object_get(o, "again")) ? "true" : "false");
    render_member(t, o, "from");
    render_member(t, o, "uuid");
    render_member(t, o, "by");
    render_time(t, "until", until);
    text_printf(t, ",\"state\":\"%s\"}", until.ns <= l->slices.call.wall.ns ? "expired" : "good");
}

static bool token_list_step(struct slices *s)
{
    struct token_list *l = (struct token_list *)s;
    if (l->next == l->n) {
        text_add(&s->text, "]}");
        return false;
    }
    const char *hash = l->hashes[l->next++];
    const char *record = cluster_token_record(s->call.api->cluster, hash);
    if (record)
        render_token(l, hash, record);
    return true;
}

static void token_list_fini(struct slices *s)
{
    struct token_list *l = (struct token_list *)s;
    for (size_t i = 0; i < l->n; i++)
        free(l->hashes[i]);
    free(l->hashes);
}

/* Never the secret, nor all of its hash. */
int call_token_list(struct call *c, struct text *t, struct err *e)
{
    struct token_list *l = mem_alloc(sizeof *l);
    l->slices = (struct slices){.step = token_list_step, .fini = token_list_fini};
    l->comma = "";
    cluster_each_token(c->api->cluster, token_keep, l);
    text_add(&l->slices.text, "{\"tokens\":[");
    return call_slices(c, &l->slices);
}

int call_token_end(struct call *c, struct text *t, struct err *e)
{
    struct ask a = {0};
    int rc = call_ask(c, &a, e);
    if (rc == 0) {
        struct command cmd = {.kind = COMMAND_TOKEN_END, .reason = a.reason, .token_ended = {a.word}};
        rc = call_submit(c, &a.nodes, &cmd, NULL);
    }
    ask_fini(&a);
    return rc;
}
