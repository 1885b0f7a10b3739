/* SPDX-License-Identifier: Apache-2.0 */
/* Classes of nodes, their baselines, and changes of these. */
#include "api/call.h"
#include "api/render.h"
#include "api/slices.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* --- classes --------------------------------------------------------------------------------- */

struct class_tally {
    struct pile names;
    size_t conformance[CONFORMANCE_DRIFTED + 1];
};

struct class_list {
    struct slices slices;
    size_t n, next; /* next: the class to render, once all nodes were visited */
    struct class_tally *all;
};

static void class_list_fini(struct slices *s)
{
    struct class_list *l = (struct class_list *)s;
    for (size_t i = 0; i < l->n; i++)
        pile_fini(&l->all[i].names);
    free(l->all);
}

static void tally_class(struct slices *s, const struct member *m)
{
    struct class_tally *y = &((struct class_list *)s)->all[m->class];
    struct standing standing;
    pile_add(&y->names, m->name);
    watch_standing(s->call.api->watch, s->call.now, m, &standing, NULL);
    y->conformance[standing.conformance]++;
}

static void add_bool(struct text *t, const char *key, bool b)
{
    text_printf(t, ",\"%s\":%s", key, b ? "true" : "false");
}

/* Renders some more of the next class. True when it is complete. */
static bool render_class(struct class_list *l)
{
    struct slices *s = &l->slices;
    struct call *c = &s->call;
    struct text *t = &s->text;
    assert(l->next < l->n);
    const struct class_tally *y = &l->all[l->next];
    const struct node_class *k = &cluster_classes(c->api->cluster)->list[l->next];
    const struct baseline *b = cluster_baseline(c->api->cluster, k->name);
    if (s->folded == 0) {
        text_add(t, l->next ? ",{\"name\":" : "{\"name\":");
        text_add_json(t, k->name);
        text_add(t, ",\"nodes\":");
    }
    if (!slices_fold(s, &y->names))
        return false;
    text_printf(t,
                ",\"count\":%zu,\"conformant\":%zu,\"drifted\":%zu,\"unknown\":%zu,\"baseline\":", y->names.n,
                y->conformance[CONFORMANCE_CONFORMANT], y->conformance[CONFORMANCE_DRIFTED],
                y->conformance[CONFORMANCE_UNKNOWN]);
    if (b)
        text_add_u64(t, b->version);
    else
        text_add(t, "null");
    add_bool(t, "rollout", b && b->rollout);
    add_bool(t, "alarm", watch_drift_alarm(c->api->watch, (uint16_t)l->next));
    text_add(t, ",\"suggestion\":");
    render_suggestion(t, c->api->cluster, c->api->watch, (uint16_t)l->next);
    text_add(t, ",\"drifted_work\":");
    render_word(t, k->exclude ? "exclude" : "avoid");
    add_bool(t, "reboot", k->reboot);
    text_add_char(t, '}');
    return true;
}

static bool class_list_step(struct slices *s)
{
    struct class_list *l = (struct class_list *)s;
    if (slices_walk(s, tally_class))
        return true;
    if (l->next < l->n && render_class(l))
        l->next++;
    if (l->next < l->n)
        return true;
    text_add(&s->text, "]}");
    return false;
}

int call_class_list(struct call *c, struct text *t, struct err *e)
{
    struct class_list *l = mem_alloc(sizeof *l);
    l->slices = (struct slices){.step = class_list_step, .fini = class_list_fini, .of_configuration = true};
    l->n = cluster_classes(c->api->cluster)->n;
    l->all = mem_alloc(l->n * sizeof *l->all);
    text_add(&l->slices.text, "{\"classes\":[");
    return call_slices(c, &l->slices);
}

/* --- reading a baseline ---------------------------------------------------------------------- */

/* One version of a baseline. Borrowed from the baseline or from its history's JSON. */
struct version {
    uint32_t number;
    struct fingerprint fingerprint;
    const char *node, *by, *note;
    struct wall at;
};

static struct version baseline_present(const struct baseline *b)
{
    return (struct version){b->version, b->listing->id, b->node, b->by, b->note, b->at};
}

static struct version read_version(const json_t *o)
{
    struct version v = {.node = json_text(o, "node"), .by = json_text(o, "by"), .note = json_text(o, "note")};
    uint64_t number = 0, ns = 0;
    json_take_u64(o, "version", UINT32_MAX, &number, NULL);
    text_parse_u64(json_text(o, "at"), 0, INT64_MAX, &ns, NULL);
    fingerprint_parse(json_text(o, "fingerprint"), &v.fingerprint);
    v.number = (uint32_t)number;
    v.at.ns = (int64_t)ns;
    return v;
}

static json_t *read_history(const struct baseline *b)
{
    return b->history ? json_read(b->history, strlen(b->history), NULL) : NULL;
}

static void render_version(const struct version *v, struct text *t)
{
    text_printf(t, "\"version\":%" PRIu32 ",\"fingerprint\":", v->number);
    render_fingerprint(t, &v->fingerprint);
    text_add(t, ",\"node\":");
    text_add_json(t, v->node ? v->node : "");
    text_add(t, ",\"by\":");
    text_add_json(t, v->by ? v->by : "");
    text_add(t, ",\"at\":");
    render_time(t, v->at);
    text_add(t, ",\"note\":");
    text_add_json(t, v->note ? v->note : "");
}

static void render_values(const struct listing *g, struct text *t)
{
    bool any = false;
    text_add(t, ",\"components\":{");
    for (uint32_t i = 0; i < g->n; i++) {
        if (g->components[i]->state != COMPONENT_VALUE)
            continue;
        text_add(t, any ? "," : "");
        any = true;
        text_add_json(t, g->components[i]->name);
        text_add_char(t, ':');
        text_add_json(t, g->components[i]->value);
    }
    any = false;
    text_add(t, "},\"absent\":[");
    for (uint32_t i = 0; i < g->n; i++) {
        if (g->components[i]->state != COMPONENT_ABSENT)
            continue;
        text_add(t, any ? "," : "");
        any = true;
        text_add_json(t, g->components[i]->name);
    }
    text_add_char(t, ']');
}

/* The progress of a rollout's nodes. */
static void render_progress(struct call *c, const struct rollout *r, struct text *t)
{
    size_t to = 0, baseline = 0, neither = 0, unknown = 0;
    for (size_t i = 0; i < r->nodes.n; i++) {
        const struct member *m = cluster_find(c->api->cluster, r->nodes.names[i]);
        struct standing s = {.conformance = CONFORMANCE_UNKNOWN};
        if (m)
            watch_standing(c->api->watch, c->now, m, &s, NULL);
        unknown += s.conformance == CONFORMANCE_UNKNOWN;
        neither += s.conformance == CONFORMANCE_DRIFTED;
        to += s.conformance == CONFORMANCE_CONFORMANT && s.rolled;
        baseline += s.conformance == CONFORMANCE_CONFORMANT && !s.rolled;
    }
    text_printf(t, ",\"progress\":{\"to\":%zu,\"baseline\":%zu,\"neither\":%zu,\"unknown\":%zu}", to,
                baseline, neither, unknown);
}

static void render_rollout(struct call *c, const struct rollout *r, struct text *t)
{
    text_add(t, ",\"rollout\":");
    if (!r) {
        text_add(t, "null");
        return;
    }
    text_add(t, "{\"fingerprint\":");
    render_fingerprint(t, &r->to->id);
    text_add(t, ",\"node\":");
    text_add_json(t, r->node ? r->node : "");
    text_add(t, ",\"nodes\":");
    text_add_json(t, r->nodes_text);
    text_add(t, ",\"by\":");
    text_add_json(t, r->by);
    text_add(t, ",\"at\":");
    render_time(t, r->at);
    text_add(t, ",\"deadline\":");
    render_time(t, r->deadline);
    text_add(t, ",\"note\":");
    text_add_json(t, r->note ? r->note : "");
    render_progress(c, r, t);
    text_add_char(t, '}');
}

static int baseline_get(struct call *c, const char *class_name, const struct baseline **out, struct err *e)
{
    uint16_t number;
    *out = cluster_baseline(c->api->cluster, class_name);
    if (*out)
        return 0;
    int rc = classes_find(cluster_classes(c->api->cluster), class_name, &number, e);
    return rc < 0 ? rc : err_set(e, -ENOENT, "class \"%s\" has no baseline", class_name);
}

/* The requested version; 0 is the present one. */
static int version_get(const struct baseline *b, const json_t *history, uint64_t number, struct version *out,
                       struct err *e)
{
    *out = baseline_present(b);
    if (number == 0 || number == b->version)
        return 0;
    for (size_t i = 0; i < json_array_size(history); i++) {
        *out = read_version(json_array_get(history, i));
        if (out->number == number)
            return 0;
    }
    return err_set(e, -ENOENT, "the baseline of class \"%s\" has no version %" PRIu64 ", or none any more",
                   b->class, number);
}

static void render_history(const struct baseline *b, const json_t *history, struct text *t)
{
    struct version v = baseline_present(b);
    text_add(t, ",\"history\":[{");
    render_version(&v, t);
    for (size_t i = 0; i < json_array_size(history); i++) {
        v = read_version(json_array_get(history, i));
        text_add(t, "},{");
        render_version(&v, t);
    }
    text_add(t, "}]");
}

int call_baseline_show(struct call *c, struct text *t, struct err *e)
{
    const struct baseline *b;
    uint64_t number = 0;
    struct version v;
    int rc = call_query_number(c, "version", 1, UINT32_MAX, &number, e);
    if (rc == 0)
        rc = baseline_get(c, c->parameter, &b, e);
    if (rc < 0)
        return rc;
    CLEANUP_JSON json_t *history = read_history(b);
    rc = version_get(b, history, number, &v, e);
    if (rc < 0)
        return rc;
    const struct listing *g = listings_find(cluster_listings(c->api->cluster), &v.fingerprint);
    if (!g || !g->known)
        return err_set(e, -ENOENT, "the components of version %" PRIu32 " are not kept any more", v.number);
    text_add(t, "{\"class\":");
    text_add_json(t, b->class);
    text_add_char(t, ',');
    render_version(&v, t);
    render_values(g, t);
    render_history(b, history, t);
    render_rollout(c, b->rollout, t);
    text_add_char(t, '}');
    return 0;
}

/* --- changing -------------------------------------------------------------------------------- */

/* The node that shows what is right. Only this function knows whether it is suitable. */
static int show_node(struct call *c, const char *name, struct member **out, struct err *e)
{
    int rc = member_get(c->api->cluster, name, out, e);
    return rc < 0 ? rc : watch_may_be_baseline(c->api->watch, c->now, *out, e);
}

int call_baseline_accept(struct call *c, struct text *t, struct err *e)
{
    struct ask a = {0};
    struct member *m;
    int rc = call_ask(c, &a, e);
    if (rc == 0)
        rc = show_node(c, a.node, &m, e);
    if (rc == 0) {
        struct command cmd = {.kind = COMMAND_BASELINE_ACCEPT, .reason = a.reason};
        hostlist_add(&a.nodes, m->name);
        rc = call_submit(c, &a.nodes, &cmd, cluster_classes(c->api->cluster)->list[m->class].name);
    }
    ask_fini(&a);
    return rc;
}

/* A change of a class. */
static int change_class(struct call *c, struct ask *a, struct command *cmd)
{
    cmd->reason = a->reason;
    return call_submit(c, &a->nodes, cmd, a->class_name);
}

/* The version before the present one, for callers that name none. */
static int version_before(const struct baseline *b, uint32_t *out, struct err *e)
{
    CLEANUP_JSON json_t *history = read_history(b);
    if (json_array_size(history) == 0)
        return err_set(e, -ENOENT, "the baseline of class \"%s\" has no version before the present one",
                       b->class);
    *out = read_version(json_array_get(history, 0)).number;
    return 0;
}

int call_baseline_revert(struct call *c, struct text *t, struct err *e)
{
    struct ask a = {0};
    const struct baseline *b;
    int rc = call_ask(c, &a, e);
    if (rc == 0)
        rc = baseline_get(c, a.class_name, &b, e);
    if (rc == 0 && a.version == 0)
        rc = version_before(b, &a.version, e);
    if (rc == 0)
        rc = change_class(
            c, &a, &(struct command){.kind = COMMAND_BASELINE_REVERT, .revert = {a.class_name, a.version}});
    ask_fini(&a);
    return rc;
}

int call_rollout_start(struct call *c, struct text *t, struct err *e)
{
    struct ask a = {0};
    const struct baseline *b;
    struct member *m;
    CLEANUP_FREE struct member **members = NULL;
    int rc = call_ask(c, &a, e);
    if (rc == 0)
        rc = baseline_get(c, a.class_name, &b, e);
    if (rc == 0)
        rc = members_find(c->api->cluster, &a.nodes, &members, e);
    if (rc == 0 && a.node)
        rc = show_node(c, a.node, &m, e);
    if (rc == 0) {
        const struct wall deadline = {c->wall.ns + a.deadline.ns};
        rc = change_class(c, &a,
                          &(struct command){.kind = COMMAND_ROLLOUT_START,
                                            .rollout_begun = {a.class_name, a.node, a.version, deadline}});
    }
    ask_fini(&a);
    return rc;
}

static int end_rollout(struct call *c, enum command_kind kind, struct err *e)
{
    struct ask a = {0};
    const struct baseline *b;
    int rc = call_ask(c, &a, e);
    if (rc == 0)
        rc = baseline_get(c, a.class_name, &b, e);
    if (rc == 0)
        rc = change_class(c, &a, &(struct command){.kind = kind, .rollout_end = {a.class_name}});
    ask_fini(&a);
    return rc;
}

int call_rollout_accept(struct call *c, struct text *t, struct err *e)
{
    return end_rollout(c, COMMAND_ROLLOUT_ACCEPT, e);
}

int call_rollout_revert(struct call *c, struct text *t, struct err *e)
{
    return end_rollout(c, COMMAND_ROLLOUT_REVERT, e);
}
