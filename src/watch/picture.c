/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A reader walks over all members again and again, and is told of those that changed since its last walk
 * began (watch_touch). When each node was heard changes all the time, and is told for many nodes together.
 * Ages are told, and no moments: two clocks that differ do not matter.
 */
#include "watch/picture.h"

#include "base/table.h"
#include "watch/conform/conform.h"
#include "watch/health/health.h"
#include "watch/outside/outside.h"
#include "watch/view/view.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    CHANGED_COST = 16,     /* a member that changed takes so many times the work of one that did not */
    HEARD_BYTES = 8 << 10, /* of one piece */
    CHECKS_BYTES = 64 << 10
};

/* A list that the reader has. */
struct has_list {
    struct fingerprint id;
    UT_hash_handle hh;
};

struct picture {
    uint64_t upto;     /* it has all changes up to this one */
    uint64_t walk;     /* and will have those up to this one when the walk is over */
    uint32_t next;     /* the next member of the walk */
    bool walks;        /* a walk is under way */
    bool is_whole;     /* the first walk is over */
    size_t left;       /* of this step */
    struct text heard; /* nodes that were heard, gathered */
    struct has_list *lists;
};

/* A step: what is told, and when. */
struct telling {
    struct watch *w;
    struct mono now;
    struct wall wall;
    struct picture *p;
    picture_fn *fn;
    void *arg;
};

const char *picture_piece_name(enum picture_piece k)
{
    static const char *const names[PICTURE_PIECES] = {"node", "list", "heard", "whole"};
    return names[k];
}

struct picture *picture_create(void)
{
    return mem_alloc(sizeof(struct picture));
}

void picture_destroy(struct picture *p)
{
    if (!p)
        return;
    for (struct has_list *l = p->lists, *next; l; l = next) {
        next = l->hh.next;
        HASH_DEL(p->lists, l);
        free(l);
    }
    text_fini(&p->heard);
    free(p);
}

/* --- the parts of a node --------------------------------------------------------------------------- */

static const char *yes_or_no(bool is)
{
    return is ? "true" : "false";
}

static void add_text(struct text *t, const char *key, const char *value)
{
    if (value)
        text_add_member(t, key, value);
}

static int64_t age_ms(const struct telling *s, struct mono at)
{
    return span_to_ms(mono_sub(watch_awake(s->w, s->now), at));
}

/* What the agent's instance and key are is nobody else's business. */
static void write_presence(const struct telling *s, const struct observed *o, struct text *t)
{
    text_printf(
        t, ",\"presence\":{\"liveness\":\"%s\",\"session\":%s,\"heard_ms\":%" PRId64 ",\"floor_ms\":%" PRId64,
        liveness_name(o->beat.liveness), yes_or_no(o->session), age_ms(s, o->beat.heard),
        age_ms(s, o->beat.floor));
    if (o->missed.ns)
        text_printf(t, ",\"missed_ms\":%" PRId64, age_ms(s, o->missed));
    if (o->heard_wall.ns)
        text_printf(t, ",\"heard_at_ms\":%" PRId64, o->heard_wall.ns / 1000000);
    if (o->heard_before.ns)
        text_printf(t, ",\"before_at_ms\":%" PRId64, o->heard_before.ns / 1000000);
    if (o->uptime_at.ns)
        text_printf(t, ",\"uptime_s\":%" PRIu64 ",\"uptime_ms\":%" PRId64, o->uptime_s,
                    span_to_ms(mono_sub(s->now, o->uptime_at)));
    if (o->running)
        text_printf(t, ",\"running\":%s", o->running);
    add_text(t, "boot", o->boot);
    add_text(t, "version", o->version);
    add_text(t, "collector", o->collector ? o->collector->name : NULL);
    text_add_char(t, '}');
}

static void write_report(const struct observed *o, struct text *t)
{
    const struct report *r = o->before ? o->before : &o->report;
    text_printf(t, ",\"report\":{\"hash\":\"%s\",\"before\":%s,\"inventoried\":%s,\"set\":%s}", r->hash,
                yes_or_no(o->before), yes_or_no(o->inventoried), r->json ? r->json : "null");
}

static void write_elsewhere(const struct elsewhere *is, struct text *t)
{
    text_printf(t, "{\"state\":\"%s\",\"out\":%s,\"since_ms\":%" PRId64, elsewhere_state_name(is->state),
                yes_or_no(is->out), is->since.ns / 1000000);
    add_text(t, "how", is->how);
    add_text(t, "by", is->by);
    add_text(t, "why", is->why);
    text_add_char(t, '}');
}

static void write_outside(const struct telling *s, const struct member *m, const struct observed *o,
                          struct text *t)
{
    text_printf(
        t, ",\"outside\":{\"scheduler\":%s,\"work\":\"%s\",\"slurmd\":%d,\"away\":%s,\"window_known\":%s",
        yes_or_no(o->scheduler), work_name(o->scheduled), o->slurmd, yes_or_no(o->away),
        yes_or_no(o->window_known));
    add_text(t, "window", o->window);
    add_text(t, "state", o->word.state);
    add_text(t, "reason", o->word.reason);
    add_text(t, "by", o->word.by);
    text_printf(t, ",\"since_ms\":%" PRId64, o->word.since.ns / 1000000);
    if (o->word.read.ns)
        text_printf(t, ",\"read_ms\":%" PRId64, span_to_ms(mono_sub(s->now, o->word.read)));
    text_add(t, ",\"elsewhere\":[");
    for (int k = 0; k < ELSEWHERES; k++) {
        if (k)
            text_add_char(t, ',');
        write_elsewhere(&o->elsewhere[k].is, t);
    }
    text_add(t, "],\"lost\":");
    lost_write(s->w, s->now, m, t);
    text_add_char(t, '}');
}

/* --- checks and lists ------------------------------------------------------------------------------ */

static void begin_checks(const struct member *m, const struct health_state *v, bool is_first, struct text *t)
{
    text_clear(t);
    text_printf(
        t, "{\"node\":\"%s\",\"checks\":{\"boot\":\"%s\",\"full\":%s,\"log_next\":%" PRIu64 ",\"checks\":[",
        m->name, v->boot, yes_or_no(is_first), v->log_next);
}

/* All results of a node may be more than a line holds. */
static void tell_checks(const struct telling *s, const struct member *m)
{
    const struct health_state *v = health_state_find(s->w, m);
    CLEANUP_TEXT struct text t = {0};
    bool is_first = true, any = false;
    if (!v)
        return;
    begin_checks(m, v, true, &t);
    for (size_t i = 0; i < check_count(s->w); i++) {
        if (!was_said(v, i))
            continue;
        if (t.len > CHECKS_BYTES) {
            text_printf(&t, "]},\"others\":[]}");
            s->fn(s->arg, PICTURE_NODE, t.s);
            is_first = any = false;
            begin_checks(m, v, is_first, &t);
        }
        if (any)
            text_add_char(&t, ',');
        said_write(s->w, watch_awake(s->w, s->now), v, i, &t);
        any = true;
    }
    text_add(&t, "]},\"others\":");
    outside_write(s->w, s->now, m, &t);
    text_add_char(&t, '}');
    s->fn(s->arg, PICTURE_NODE, t.s);
}

static void tell_list(const struct telling *s, const struct member *m)
{
    const struct listing *g = told_list(s->w, m);
    struct has_list *has;
    uint32_t at = 0;
    if (!g)
        return;
    HASH_FIND(hh, s->p->lists, &g->id, sizeof g->id, has);
    if (has)
        return;
    has = mem_alloc(sizeof *has);
    has->id = g->id;
    HASH_ADD(hh, s->p->lists, id, sizeof has->id, has);
    for (bool more = true; more;) {
        CLEANUP_TEXT struct text t = {0};
        more = told_list_write(g, &at, &t);
        s->fn(s->arg, PICTURE_LIST, t.s);
    }
}

/* --- a member --------------------------------------------------------------------------------------- */

static void tell_heard(const struct telling *s)
{
    struct text *t = &s->p->heard;
    if (!t->len)
        return;
    text_printf(t, "],\"wall_ms\":%" PRId64 "}", s->wall.ns / 1000000);
    s->fn(s->arg, PICTURE_HEARD, t->s);
    text_clear(t);
}

static void add_heard(const struct telling *s, const struct member *m, const struct observed *o)
{
    struct text *t = &s->p->heard;
    text_printf(t, "%s\"%s\",%" PRId64, t->len ? "," : "{\"heard\":[", m->name, age_ms(s, o->beat.heard));
    if (t->len > HEARD_BYTES)
        tell_heard(s);
}

static bool is_new(const struct telling *s, const struct observed *o, enum aspect p)
{
    return o->changed[p] > s->p->upto;
}

static void tell_parts(const struct telling *s, const struct member *m, const struct observed *o)
{
    CLEANUP_TEXT struct text t = {0};
    text_printf(&t, "{\"node\":\"%s\"", m->name);
    const size_t empty = t.len;
    if (is_new(s, o, ASPECT_PRESENCE))
        write_presence(s, o, &t);
    if (is_new(s, o, ASPECT_REPORT))
        write_report(o, &t);
    if (is_new(s, o, ASPECT_OUTSIDE))
        write_outside(s, m, o, &t);
    if (is_new(s, o, ASPECT_CONFORM)) {
        tell_list(s, m);
        text_add(&t, ",\"conform\":");
        told_write(s->w, s->now, m, &t);
    }
    text_add_char(&t, '}');
    if (t.len > empty + 1)
        s->fn(s->arg, PICTURE_NODE, t.s);
    if (is_new(s, o, ASPECT_CHECKS))
        tell_checks(s, m);
}

static void tell_member(const struct telling *s, const struct member *m)
{
    const struct observed *o = watch_observed(s->w, m);
    struct picture *p = s->p;
    size_t cost = 1;
    if (o->changed_any > p->upto) {
        cost = CHANGED_COST;
        tell_parts(s, m, o);
        if (o->changed_heard > p->upto)
            add_heard(s, m, o);
    }
    p->left -= cost < p->left ? cost : p->left;
}

bool picture_step(struct watch *w, struct mono now, struct wall wall, struct picture *p, size_t nodes,
                  picture_fn *fn, void *arg)
{
    const struct telling s = {w, now, wall, p, fn, arg};
    if (!p->walks && p->is_whole && p->upto == w->changes)
        return false;
    if (!p->walks)
        p->walk = w->changes;
    p->walks = true;
    for (p->left = nodes; p->left && p->next < w->n; p->next++)
        tell_member(&s, cluster_by_id(w->cluster, p->next));
    if (p->next < w->n)
        return true;
    tell_heard(&s);
    if (!p->is_whole)
        fn(arg, PICTURE_WHOLE, "{}");
    p->is_whole = true;
    p->upto = p->walk;
    p->walks = false;
    p->next = 0;
    return false;
}
