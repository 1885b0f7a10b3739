/* SPDX-License-Identifier: Apache-2.0 */
/* One node against its baseline, or against another node, component by component. */
#include "api/also.h"
#include "api/render.h"
#include "api/seen.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* --- the two sides --------------------------------------------------------------------------- */

struct side {
    const struct member *member;
    const struct listing *listing; /* NULL: it never reported */
    struct standing standing;
    struct text why; /* why it does not count as conformant */
};

/* The present report of a node; before its first report, as it was last seen. */
static void look_at(struct call *c, const struct member *m, struct side *s)
{
    s->member = m;
    watch_standing(c->api->watch, c->now, m, &s->standing, &s->why);
    s->listing = s->standing.listing ? s->standing.listing : m->seen;
}

static int need_known(const struct side *s, struct err *e)
{
    if (s->listing && s->listing->known)
        return 0;
    return err_set(e, -EBUSY, "the components of node \"%s\" are not known: %s", s->member->name,
                   s->why.len ? s->why.s : "it has not sent them");
}

/* The other side of the comparison. */
struct against {
    const struct listing *listing; /* NULL: there is none */
    uint32_t version;              /* the version of the baseline; 0 when it is a node */
    const char *node;
};

static struct against expected_of(const struct side *s)
{
    const struct baseline *b = s->standing.baseline;
    if (!b)
        return (struct against){0};
    if (s->standing.rolled && b->rollout)
        return (struct against){.listing = b->rollout->to, .node = b->rollout->node};
    return (struct against){.listing = b->listing, .version = b->version};
}

static int other_node(struct call *c, const struct side *one, const char *name, struct against *out,
                      struct err *e)
{
    struct member *m;
    int rc = member_get(c->api->cluster, name, &m, e);
    if (rc < 0)
        return rc;
    struct side other = {0};
    look_at(c, m, &other);
    rc = need_known(one, e);
    if (rc == 0)
        rc = need_known(&other, e);
    *out = (struct against){.listing = other.listing, .node = m->name};
    text_fini(&other.why);
    return rc;
}

/* --- comparing ------------------------------------------------------------------------------- */

struct row {
    struct difference d;
    bool same;
};

struct rows {
    size_t n, cap;
    struct row *list;
    size_t different, unknown;
    enum severity worst; /* the worst severity of the differences */
};

static void add_row(struct rows *r, const struct difference *d, bool same)
{
    if (r->n == r->cap) {
        r->cap = r->cap ? r->cap * 2 : 32;
        r->list = mem_grow(r->list, r->cap * sizeof *r->list);
    }
    r->list[r->n++] = (struct row){*d, same};
    if (same)
        return;
    r->unknown += d->unknown;
    r->different += !d->unknown;
    if (!d->unknown && d->severity > r->worst)
        r->worst = d->severity;
}

static bool on_difference(void *arg, const struct difference *d)
{
    add_row(arg, d, false);
    return true;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct row *)a)->d.name, ((const struct row *)b)->d.name);
}

/* Adds components that count and are equal. Components are interned, so equal ones are the same pointer. */
static void add_same(struct rows *r, const struct node_class *k, const struct against *x,
                     const struct listing *actual)
{
    for (uint32_t i = 0; i < actual->n; i++) {
        const struct component *c = actual->components[i];
        struct difference d = {.name = c->name, .expected = c, .actual = c};
        d.severity = class_severity(k, c->name);
        if (c->state != COMPONENT_UNKNOWN && d.severity != SEVERITY_IGNORE &&
            listing_find(x->listing, c->name) == c)
            add_row(r, &d, true);
    }
    if (r->n > 0)
        qsort(r->list, r->n, sizeof *r->list, by_name);
}

static void diff_compare(struct rows *r, const struct node_class *k, const struct against *x,
                         const struct side *s, bool all)
{
    if (!x->listing || !x->listing->known || !s->listing || !s->listing->known)
        return;
    class_compare(k, x->listing, s->listing, on_difference, r);
    if (all)
        add_same(r, k, x, s->listing);
}

/* --- the answer ------------------------------------------------------------------------------ */

static void render_component(const char *key, const struct component *c, struct text *t)
{
    text_printf(t, ",\"%s\":{\"state\":", key);
    render_word(t, component_state_name(c ? c->state : COMPONENT_ABSENT));
    text_add(t, ",\"value\":");
    text_add_json(t, c ? c->value : "");
    text_add_char(t, '}');
}

static void render_row(const struct row *r, const struct seen *seen, struct also *also, struct text *t)
{
    struct wall at;
    text_add(t, "{\"component\":");
    text_add_json(t, r->d.name);
    text_add(t, ",\"kind\":");
    render_word(t, r->same ? "same" : r->d.unknown ? "unknown" : "different");
    text_add(t, ",\"severity\":");
    render_word(t, severity_name(r->d.severity));
    render_component("expected", r->d.expected, t);
    render_component("actual", r->d.actual, t);
    text_add(t, ",\"since\":");
    if (seen_changed(seen, r->d.name, &at))
        render_time(t, at);
    else
        text_add(t, "null");
    text_add_char(t, ',');
    if (r->same || r->d.unknown)
        text_add(t, "\"also\":null,\"also_count\":null");
    else
        also_render(also, &r->d, t);
    text_add_char(t, '}');
}

/* The facts about the node itself. */
static void render_side(struct call *c, const struct side *s, struct text *t)
{
    const struct observed *o = watch_observed(c->api->watch, s->member);
    text_add(t, "{\"node\":");
    text_add_json(t, s->member->name);
    text_add(t, ",\"class\":");
    text_add_json(t, cluster_classes(c->api->cluster)->list[s->member->class].name);
    text_add(t, ",\"conformance\":");
    render_word(t, conformance_name(s->standing.conformance));
    text_add(t, ",\"why\":");
    text_add_json(t, s->why.len ? s->why.s : "");
    text_add(t, ",\"fingerprint\":");
    if (s->listing)
        render_fingerprint(t, &s->listing->id);
    else
        text_add(t, "null");
    text_add(t, ",\"cohort\":");
    render_cohort(t, s->standing.cohort);
    text_add(t, ",\"seen_since\":");
    if (s->member->seen)
        render_time(t, s->member->seen_since);
    else
        text_add(t, "null");
    text_add(t, ",\"verified_s\":");
    if (s->standing.listing)
        text_printf(t, "%" PRId64, mono_sub(c->now, s->standing.verified).ns / span_s(1).ns);
    else
        text_add(t, "null");
    text_add(t, ",\"boot\":");
    render_string(t, o->boot[0] ? o->boot : NULL);
}

static void render_against(const struct against *x, struct text *t)
{
    text_add(t, ",\"against\":");
    if (!x->listing) {
        text_add(t, "null");
        return;
    }
    text_add(t, "{\"baseline\":");
    if (x->version)
        text_add_u64(t, x->version);
    else
        text_add(t, "null");
    text_add(t, ",\"node\":");
    render_string(t, x->node);
    text_add(t, ",\"fingerprint\":");
    render_fingerprint(t, &x->listing->id);
    text_add_char(t, '}');
}

static void render_drift(const struct member *m, struct text *t)
{
    const struct drift *d = m->past ? m->past->drift : NULL;
    text_add(t, ",\"drift\":");
    if (!d) {
        text_add(t, "null");
        return;
    }
    text_add(t, "{\"state\":");
    render_word(t, drift_state_name(d->state));
    text_add(t, ",\"since\":");
    render_time(t, d->since);
    text_add(t, ",\"severity\":");
    render_word(t, severity_name(d->severity));
    text_printf(t, ",\"version\":%" PRIu32 "}", d->version);
}

static void render_rows(struct call *c, const struct rows *r, const struct member *m, struct text *t)
{
    struct seen seen;
    struct also *also = r->different ? also_create(c, m) : NULL;
    seen_init(&seen, m);
    text_add(t, ",\"differences\":[");
    for (size_t i = 0; i < r->n; i++) {
        text_add(t, i ? "," : "");
        render_row(&r->list[i], &seen, also, t);
    }
    text_add(t, "]}");
    seen_fini(&seen);
    also_destroy(also);
}

static void render_all(struct call *c, const struct side *s, const struct against *x, bool all,
                       struct text *t)
{
    struct rows rows = {0};
    diff_compare(&rows, &cluster_classes(c->api->cluster)->list[s->member->class], x, s, all);
    render_side(c, s, t);
    render_against(x, t);
    text_add(t, ",\"severity\":");
    render_string(t, rows.different ? severity_name(rows.worst) : NULL);
    text_printf(t, ",\"different\":%zu,\"unknown\":%zu", rows.different, rows.unknown);
    render_drift(s->member, t);
    text_printf(t, ",\"flaps\":%s,\"suggestion\":", s->standing.flaps ? "true" : "false");
    render_suggestion(t, c->api->cluster, c->api->watch, s->member->class);
    render_rows(c, &rows, s->member, t);
    free(rows.list);
}

int call_conform_diff(struct call *c, struct text *t, struct err *e)
{
    struct member *m;
    bool all = false;
    int rc = call_query_bool(c, "all", &all, e);
    if (rc == 0)
        rc = member_get(c->api->cluster, c->parameter, &m, e);
    if (rc < 0)
        return rc;
    const char *with = http_query(c->request, "with");
    struct side side = {0};
    look_at(c, m, &side);
    struct against x = expected_of(&side);
    if (with)
        rc = other_node(c, &side, with, &x, e);
    if (rc == 0)
        render_all(c, &side, &x, all, t);
    text_fini(&side.why);
    return rc;
}
