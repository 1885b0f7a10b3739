/* SPDX-License-Identifier: Apache-2.0 */
/* The controller itself: its status, its journal, its events, its configuration, its authority. */
#include "api/call.h"
#include "api/render.h"

#include <stdlib.h>
#include <string.h>

enum { JOURNAL_ENTRIES_MAX = 1000 };

static json_t *alarms(const struct call *c)
{
    json_t *list = json_array();
    for (const struct alarm *a = watch_alarms(c->api->watch); a; a = a->next) {
        char since[32];
        json_array_append_new(list, json_pack("{s:s,s:s,s:s,s:s,s:s}", "alarm", alarm_name(a->kind),
                                              "subject", a->subject, "since", wall_format(a->since, since),
                                              "nodes", a->nodes, "text", a->text));
    }
    return list;
}

int call_status_show(struct call *c, struct text *t, struct err *e)
{
    struct view v = {.cluster = c->api->cluster, .watch = c->api->watch, .now = c->now};
    struct tally tally = {0};
    for (size_t i = 0; i < cluster_count(c->api->cluster); i++) {
        view_set(&v, cluster_at(c->api->cluster, i));
        tally_add(&tally, &v);
    }
    view_fini(&v);

    CLEANUP_TEXT struct text states = {0};
    render_states(&tally, &states);
    CLEANUP_JSON json_t *status = json_object();
    json_object_set_new(status, "nodes", json_read(states.s, states.len, NULL));
    json_object_set_new(status, "schedulable", json_integer((json_int_t)tally.schedulable));
    json_object_set_new(status, "alarms", alarms(c));
    c->api->shell.status(c->api->shell.arg, status);
    CLEANUP_FREE char *text = json_write(status);
    text_add(t, text);
    return 0;
}

static int add_entry(void *arg, uint64_t revision, const struct store_entry *entry, struct err *e)
{
    struct text *t = arg;
    struct event event = {.at = entry->at,
                          .what = entry->what,
                          .actor = entry->actor,
                          .nodes = entry->nodes,
                          .text = entry->text,
                          .revision = revision};
    if (t->s[t->len - 1] != '[')
        text_add_char(t, ',');
    event_format(&event, t);
    return 0;
}

int call_journal_list(struct call *c, struct text *t, struct err *e)
{
    uint64_t after = 0, limit = JOURNAL_ENTRIES_MAX;
    int rc = call_query_number(c, "after", 0, INT64_MAX, &after, e);
    if (rc == 0)
        rc = call_query_number(c, "limit", 1, JOURNAL_ENTRIES_MAX, &limit, e);
    if (rc < 0)
        return rc;
    text_add(t, "{\"entries\":[");
    rc = c->api->shell.journal(c->api->shell.arg, after, limit, add_entry, t, e);
    text_add(t, "]}");
    return rc;
}

int call_event_stream(struct call *c, struct text *t, struct err *e)
{
    events_subscribe(c->api->events, c->request, http_header(c->request, "Last-Event-ID"));
    return CALL_LATER;
}

int call_config_reload(struct call *c, struct text *t, struct err *e)
{
    struct ask a = {0};
    CLEANUP_TEXT struct text changes = {0};
    int rc = call_ask(c, &a, e);
    if (rc == 0)
        rc = c->api->shell.reload(c->api->shell.arg, c->actor, &changes, e);
    ask_fini(&a);
    if (rc < 0)
        return rc;
    text_add(t, "{\"changes\":[");
    char *rest = changes.s;
    bool any = false;
    for (char *line; rest && (line = strsep(&rest, "\n"));) {
        if (*line == '\0')
            continue;
        if (any)
            text_add_char(t, ',');
        any = true;
        text_add_json(t, line);
    }
    text_add(t, "]}");
    return 0;
}

int call_certificate_create(struct call *c, struct text *t, struct err *e)
{
    struct ask a = {0};
    CLEANUP_FREE char *certificate = NULL, *authority = NULL;
    int rc = call_ask(c, &a, e);
    if (rc == 0)
        rc = c->api->shell.sign_operator(c->api->shell.arg, a.name, a.role, a.request, a.valid, &certificate,
                                         &authority, e);
    ask_fini(&a);
    if (rc < 0)
        return rc;
    text_add(t, "{\"certificate\":");
    text_add_json(t, certificate);
    text_add(t, ",\"authority\":");
    text_add_json(t, authority);
    text_add_char(t, '}');
    return 0;
}
