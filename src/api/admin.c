/* SPDX-License-Identifier: Apache-2.0 */
/* The controller itself: its status, events, configuration and authority. */
#include "api/call.h"
#include "api/ill.h"
#include "api/render.h"
#include "api/slices.h"
#include "api/tally.h"
#include "api/view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static json_t *admin_alarms(const struct call *c)
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

struct status {
    struct slices slices;
    struct view view;
    struct tally tally;
    size_t drifted, incidents, repairs, queue;
};

static void status_fini(struct slices *s)
{
    view_fini(&((struct status *)s)->view);
}

static void tally_node(struct slices *s, const struct member *m)
{
    struct status *status = (struct status *)s;
    view_set(&status->view, m);
    tally_add(&status->tally, &status->view);
    status->drifted += m->past && m->past->drift;
    const struct ailment *ill = member_ailment(m);
    const struct repair *r = member_repair(m);
    status->incidents += ill ? ill->n_open : 0;
    status->queue += repair_waits(r);
    status->repairs += r && r->step != STEP_NONE && r->step < STEP_QUEUE && !repair_waits(r);
}

static json_t *admin_brakes(const struct cluster *cluster)
{
    static const char *const names[] = {"stop", "latch"};
    json_t *list = json_array();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *why = cluster_switch(cluster, names[i]);
        if (why)
            json_array_append_new(list, json_pack("{s:s,s:s}", "name", names[i], "why", why));
    }
    return list;
}

/* There may be thousands: adds only those that are in use. */
static void add_budget(void *arg, const struct budget *b)
{
    if (b->out)
        json_array_append_new(arg, json_pack("{s:s,s:i,s:i,s:i}", "scope", b->scope, "out", (int)b->out,
                                             "limit", (int)b->limit, "nodes", (int)b->nodes));
}

static json_t *admin_budgets(struct watch *watch)
{
    json_t *list = json_array();
    watch_each_budget(watch, add_budget, list);
    return list;
}

static json_t *admin_revision(const struct cluster *cluster)
{
    const struct revision *r = cluster_revision(cluster);
    char at[32];
    return json_pack("{s:I,s:s,s:s,s:s}", "revision", (json_int_t)r->number, "hash", r->hash, "by",
                     r->by ? r->by : "", "at", wall_format(r->at, at));
}

static json_t *conform_status(const struct status *status)
{
    const struct api *api = status->slices.call.api;
    return json_pack("{s:I,s:I,s:I}", "cohorts", (json_int_t)cohorts_count(watch_cohorts(api->watch)),
                     "listings", (json_int_t)listings_count(cluster_listings(api->cluster)), "drifted",
                     (json_int_t)status->drifted);
}

static bool status_step(struct slices *s)
{
    struct status *status = (struct status *)s;
    status->view.now = s->call.now;
    if (slices_walk(s, tally_node))
        return true;
    CLEANUP_TEXT struct text states = {0};
    render_states(&status->tally, &states);
    CLEANUP_JSON json_t *all = json_object();
    json_object_set_new(all, "nodes", json_read(states.s, states.len, NULL));
    json_object_set_new(all, "schedulable", json_integer((json_int_t)status->tally.schedulable));
    json_object_set_new(all, "elsewhere", tally_elsewhere(&status->tally));
    json_object_set_new(all, "incidents", json_integer((json_int_t)status->incidents));
    json_object_set_new(all, "repairs", json_integer((json_int_t)status->repairs));
    json_object_set_new(all, "queue", json_integer((json_int_t)status->queue));
    json_object_set_new(all, "brakes", admin_brakes(s->call.api->cluster));
    json_object_set_new(all, "budgets", admin_budgets(s->call.api->watch));
    json_object_set_new(all, "conform", conform_status(status));
    json_object_set_new(all, "alarms", admin_alarms(&s->call));
    json_object_set_new(all, "configuration", admin_revision(s->call.api->cluster));
    s->call.api->shell.status(s->call.api->shell.arg, all);
    CLEANUP_FREE char *text = json_write(all);
    text_add(&s->text, text);
    return false;
}

int call_status_show(struct call *c, struct text *t, struct err *e)
{
    struct status *status = mem_alloc(sizeof *status);
    status->view = (struct view){.cluster = c->api->cluster, .watch = c->api->watch};
    status->slices = (struct slices){.step = status_step, .fini = status_fini};
    return call_slices(c, &status->slices);
}

int call_event_stream(struct call *c, struct text *t, struct err *e)
{
    events_subscribe(c->api->events, c->request, http_header(c->request, "Last-Event-ID"), c->caller->until);
    return CALL_LATER;
}

int call_observed_stream(struct call *c, struct text *t, struct err *e)
{
    int rc = c->api->shell.observe(c->api->shell.arg, c->request, c->caller->until, e);
    return rc < 0 ? rc : CALL_LATER;
}

/* --- the configuration ------------------------------------------------------------------------- */

struct reloading {
    const struct cluster *cluster;
    struct http_request *request; /* NULL once the client is gone */
    bool dry;
};

static void on_reload_gone(void *arg)
{
    ((struct reloading *)arg)->request = NULL;
}

static void write_reload(const struct reloading *r, const char *changes, struct text *t)
{
    text_add(t, r->dry ? "{\"dry_run\":true,\"changes\":[" : "{\"changes\":[");
    CLEANUP_FREE char *copy = mem_dup(changes);
    char *rest = copy;
    bool any = false;
    for (char *line; rest && (line = strsep(&rest, "\n"));) {
        if (*line == '\0')
            continue;
        if (any)
            text_add_char(t, ',');
        any = true;
        text_add_json(t, line);
    }
    CLEANUP_JSON json_t *revision = admin_revision(r->cluster);
    CLEANUP_FREE char *written = json_write(revision);
    text_printf(t, "],\"configuration\":%s}", written);
}

static void on_reload(void *arg, const char *changes, const struct err *why)
{
    struct reloading *r = arg;
    struct text t = {0};
    if (r->request && why) {
        struct err e = *why;
        /* That the store refuses a deposed controller says nothing about the client. */
        e.code = e.code == -EPERM ? -EAGAIN : e.code;
        http_answer_err(r->request, &e);
    } else if (r->request) {
        write_reload(r, changes, &t);
        call_answer(r->request, &t);
    }
    free(r);
}

static void reload_begin(struct call *c, const struct ask *a, struct reloading *r)
{
    CLEANUP_FREE struct revise_part *parts = mem_alloc((a->n_parts + 1) * sizeof *parts);
    for (size_t i = 0; i < a->n_parts; i++)
        parts[i] = (struct revise_part){a->parts[i].name, a->parts[i].text};
    const struct shell_reload asked = {.actor = c->actor,
                                       .dry = c->dry,
                                       .parts = a->n_parts ? parts : NULL,
                                       .n_parts = a->n_parts,
                                       .revision = a->revision,
                                       .warnings = a->warnings.len ? a->warnings.s : ""};
    c->api->shell.reload(c->api->shell.arg, &asked, on_reload, r);
}

int call_config_reload(struct call *c, struct text *t, struct err *e)
{
    struct ask a = {0};
    int rc = call_ask(c, &a, e);
    if (rc < 0)
        return rc;
    struct reloading *r = mem_alloc(sizeof *r);
    *r = (struct reloading){c->api->cluster, c->request, c->dry};
    http_set_arg(c->request, r, on_reload_gone);
    reload_begin(c, &a, r);
    ask_fini(&a);
    return CALL_LATER;
}

int call_config_show(struct call *c, struct text *t, struct err *e)
{
    return c->api->shell.configuration(c->api->shell.arg, t, e);
}
