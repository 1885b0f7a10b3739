/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A regular reading covers all nodes and needs three calls: the nodes; the reservations; slurmctld's start.
 * The start distinguishes what somebody took back from what slurmctld lost (it acknowledges from memory, and
 * saves every few seconds). Between two regular readings only nodes with a pending decision or write are
 * read, by name, and of the rest only what they need. When such an answer is incomplete, another regular
 * reading follows.
 *
 * Ten thousand nodes are too many for one turn of the loop: a regular reading is taken in and reported
 * SLURM_SLICE nodes at a time, and nothing is planned before its end.
 *
 * A list that lacks a node may have lost it. Slurm is asked by name for a missing node that is wanted out of
 * service; only its explicit answer means that there is no such node.
 */
#include "driver/slurm_inside.h"

#include "base/loop.h"
#include "driver/slurm_view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

enum { NAMED_MAX = 256 }; /* the most nodes that are read by name; for more, all are read */

/* --- the end of a reading ------------------------------------------------------------------------ */

/* A node that Slurm no longer has took its entries with it, so one that comes back by this name has none of
 * them. A person's decision to take it back stands while the claim does. */
static bool is_gone(const struct node *n)
{
    bool is_persons = n->record.state == RECORD_OVERRIDDEN || n->record.is_refused;
    return !node_is_wanted(n) || (n->is_absent && !is_persons);
}

/* Removes a node that Slurm no longer has, or of which nothing was ever wanted. */
static void slurm_reading_sweep(struct slurm *s)
{
    struct node *n, *next;
    HASH_ITER (hh, s->nodes, n, next) {
        if (n->line)
            continue;
        n->was_seen = false;
        if (n->said)
            continue;
        if (n->record.state != RECORD_NONE && is_gone(n)) {
            n->said = mem_dup("null");
            node_say(s, n);
        } else if (n->record.state == RECORD_NONE && !node_is_wanted(n)) {
            node_drop(s, n);
        }
    }
}

/* There is nothing to know about it but Slurm's answer. */
static bool is_settled(const struct node *n)
{
    return n->line && !n->is_asked && n->act == ACT_NOTHING && n->record.state == RECORD_NONE &&
           !node_is_wanted(n) && !n->said && !n->is_marked && !n->is_changed && !n->is_written && !n->tries &&
           !n->is_avoid_due && n->guard != GUARD_OURS;
}

/* Its reading is complete: it is reported, and what follows is planned. */
static void finish_one(struct slurm *s, struct node *n)
{
    if (n->line)
        n->was_pasted = node_is_pasted(s, n, n->line->reason);
    if (n->line)
        report_node(s, n, !s->is_regular);
    else if (node_is_wanted(n) && !n->is_absent)
        report_unknown(s, n);
    n->is_written = n->is_changed = n->is_asked = false;
    n->read_at = mono_now();
    writing_plan(s, n);
    writing_settle(n);
    if (is_settled(n))
        node_close(s, n);
    else
        node_open(s, n);
}

static void end_finished(struct slurm *s)
{
    struct mono now = mono_now();
    s->has_read = true;
    s->failed_readings = 0;
    s->due = mono_add(now, s->conf.every);
    s->sink.saw(s->sink.arg, NULL);
    if (s->n_read < HASH_COUNT(s->nodes))
        slurm_reading_sweep(s);
    slurm_judge_trouble(s);
    s->turn(s);
}

static void slurm_reading_finish(struct slurm *s)
{
    if (s->is_regular) {
        report_walk(s, finish_one, end_finished);
        return;
    }
    for (size_t i = 0; i < s->n_batch; i++)
        finish_one(s, s->batch[i]);
    slurm_judge_trouble(s);
    s->turn(s);
}

static void read_part(struct slurm *s, const char *const *args, slurm_call_done_fn *done)
{
    struct err e;
    if (slurm_run(s, args, done, &e) < 0)
        report_failure(s, &e);
}

/* When slurmctld has restarted since the reading began, its answers may come from either. */
static void on_boot(void *arg, char *text, size_t len, const struct err *why)
{
    CLEANUP_FREE char *answer = text;
    struct slurm *s = arg;
    struct err e;
    char before[SLURM_BOOT_BYTES];
    memcpy(before, s->boot, sizeof before);
    if (!why)
        slurm_read_log_path(answer, s->log.path);
    if (why || slurm_read_boot(answer, len, s->boot, &e) < 0)
        report_failure(s, why ? why : &e);
    else if (strcmp(before, s->boot) != 0)
        reading_all(s);
    else
        slurm_reading_finish(s);
}

/* Somebody took a drain back or deleted a reservation, or slurmctld lost it, or one is seen for the first
 * time. */
static bool needs_boot(const struct slurm *s)
{
    for (size_t i = 0; !s->is_regular && i < s->n_batch; i++) {
        const struct node *n = s->batch[i];
        bool is_undrained = n->record.state == RECORD_DRAINED && !(n->row.state.flags & SLURM_DRAIN);
        if (is_undrained || (n->record.has_guard && n->guard == GUARD_NONE))
            return true;
    }
    return s->is_regular;
}

/* Read last, so that losses by a restart in between are attributed to it. */
static void read_boot(struct slurm *s)
{
    static const char *const args[] = {"scontrol", "show", "config", NULL};
    if (needs_boot(s))
        read_part(s, args, on_boot);
    else
        slurm_reading_finish(s);
}

struct windows {
    struct slurm_maintenance *list;
    size_t n;
};

static void windows_fini(struct windows *w)
{
    for (size_t i = 0; i < w->n; i++)
        hostlist_fini(&w->list[i].nodes);
    free(w->list);
}

/* False: one of them is not understood, so it may include any node. */
static bool find_windows(const struct slurm *s, const struct slurm_reservations *r, struct windows *out)
{
    out->list = mem_alloc((r->n + 1) * sizeof *out->list);
    for (size_t i = 0; i < r->n; i++) {
        enum slurm_window is = slurm_is_window(&r->list[i], s->conf.owner);
        if (is == WINDOW_UNKNOWN)
            return false;
        if (is != WINDOW_IS)
            continue;
        struct slurm_maintenance *one = &out->list[out->n++];
        one->name = r->list[i].name;
        if (strcmp(r->list[i].nodes, "(null)") != 0 &&
            hostlist_parse(r->list[i].nodes, &one->nodes, NULL) < 0)
            return false;
    }
    return true;
}

/* Finds for each node the first reservation of somebody else that includes it. False: the nodes of one are
 * not understood. */
static bool take_reservations(struct slurm *s, const struct slurm_reservations *r)
{
    bool is_clear = true;
    for (struct node *n = s->nodes; n; n = n->hh.next)
        free(STEAL(n->reservation));
    for (size_t i = 0; i < r->n; i++) {
        CLEANUP_HOSTLIST struct hostlist nodes = {0};
        if (!slurm_is_others(&r->list[i], s->conf.owner) || strcmp(r->list[i].nodes, "(null)") == 0)
            continue;
        is_clear &= hostlist_parse(r->list[i].nodes, &nodes, NULL) == 0;
        for (size_t k = 0; k < nodes.n; k++) {
            struct node *n = node_find(s, nodes.names[k]);
            if (n && !n->reservation)
                n->reservation = mem_dup(r->list[i].name);
        }
    }
    return is_clear;
}

static void take_windows(struct slurm *s, const struct slurm_reservations *r)
{
    struct windows w __attribute__((cleanup(windows_fini))) = {0};
    bool is_clear = take_reservations(s, r);
    s->is_vague = !find_windows(s, r, &w) || !is_clear;
    if (s->is_vague)
        return;
    for (struct node *n = s->nodes; n; n = n->hh.next)
        n->is_maintained = false;
    for (size_t i = 0; i < w.n; i++) {
        for (size_t k = 0; k < w.list[i].nodes.n; k++) {
            struct node *n = node_find(s, w.list[i].nodes.names[k]);
            if (n)
                n->is_maintained = true;
        }
    }
    s->sink.maintained(s->sink.arg, w.list, w.n);
}

static void on_guards(void *arg, char *text, size_t len, const struct err *why)
{
    CLEANUP_FREE char *answer = text;
    struct slurm *s = arg;
    struct err e;
    struct slurm_reservations list = {0};
    if (why || slurm_read_reservations(answer, len, &list, &e) < 0) {
        report_failure(s, why ? why : &e);
        return;
    }
    for (size_t i = 0; i < list.n; i++) {
        const struct slurm_reservation *r = &list.list[i];
        CLEANUP_FREE char *name = slurm_guarded_node(r->name, s->conf.owner);
        struct node *n = name ? node_find(s, name) : NULL;
        if (n)
            n->guard = slurm_is_our_guard(r, n->name, s->conf.user) ? GUARD_OURS : GUARD_FOREIGN;
    }
    take_windows(s, &list);
    slurm_reservations_fini(&list);
    read_boot(s);
}

/* Before a drain begins, the driver must know whether the node is in somebody's maintenance; the node's state
 * shows that only seconds later. */
static bool slurm_reading_begins(const struct node *n)
{
    return n->want.own && n->line && (n->record.state == RECORD_NONE || n->record.state == RECORD_FOREIGN);
}

static bool needs_guards(const struct slurm *s)
{
    for (size_t i = 0; !s->is_regular && i < s->n_batch; i++) {
        const struct node *n = s->batch[i];
        if (n->is_asked || n->want.reserve || n->record.has_guard || n->guard == GUARD_OURS ||
            slurm_reading_begins(n))
            return true;
    }
    return s->is_regular;
}

static void read_rest(struct slurm *s)
{
    static const char *const args[] = {"scontrol", "-o", "-a", "show", "reservation", NULL};
    bool is_needed = needs_guards(s);
    for (size_t i = 0; !s->is_regular && i < s->n_batch; i++)
        s->batch[i]->guard = is_needed ? GUARD_NONE : GUARD_UNREAD;
    if (is_needed)
        read_part(s, args, on_guards);
    else
        read_boot(s);
}

/* --- all nodes */

static void on_named(void *arg, char *text, size_t len, const struct err *why)
{
    CLEANUP_FREE char *answer = text;
    struct slurm *s = arg;
    bool any = false;
    for (size_t i = 0; i < s->n_batch; i++) {
        struct node *n = s->batch[i];
        n->is_absent = answer && slurm_says_not_found(answer, n->name);
        any |= n->is_absent;
    }
    if (why && !any)
        report_failure(s, why);
    else
        read_rest(s);
}

/* Asks by name for wanted nodes that were missing. */
static void read_missing(struct slurm *s)
{
    struct err e;
    struct node *n;
    size_t bytes = 0;
    s->n_batch = 0;
    DL_FOREACH2(s->open, n, next_open)
    {
        if (!n->line && node_is_wanted(n) && !n->is_absent && !batch_add(s, n, &bytes))
            break; /* the others are asked for next time */
    }
    if (s->n_batch == 0)
        read_rest(s);
    else if (batch_show(s, on_named, &e) < 0)
        report_failure(s, &e);
}

/* A node keeps its line: the answer is freed. */
static void keep_row(struct node *n, const struct slurm_line *l)
{
    struct slurm_line *row = &n->row;
    n->was_pasted = n->was_pasted && strcmp(row->reason, l->reason) == 0;
    bool is_same = n->row_text && strcmp(row->state_text, l->state_text) == 0 &&
                   strcmp(row->reason, l->reason) == 0 && strcmp(row->by, l->by) == 0;
    if (!is_same) {
        size_t state = strlen(l->state_text) + 1, reason = strlen(l->reason) + 1, by = strlen(l->by) + 1;
        n->row_text = mem_grow(n->row_text, state + reason + by);
        row->name = n->name;
        row->state_text = memcpy(n->row_text, l->state_text, state);
        row->reason = memcpy(n->row_text + state, l->reason, reason);
        row->by = memcpy(n->row_text + state + reason, l->by, by);
    }
    row->state = l->state;
    row->set_at = l->set_at;
    n->line = row;
    n->was_seen = true;
    n->is_absent = false;
}

/* Slurm lists nodes in the same order each time. A node that occurs twice becomes unknown. */
static void take_line(struct slurm *s, const struct slurm_line *l)
{
    struct node *n = s->likely && strcmp(s->likely->name, l->name) == 0 ? s->likely : node_get(s, l->name);
    bool is_twin = n->reading == s->reading;
    s->likely = n->hh.next;
    s->n_read += !is_twin;
    n->reading = s->reading;
    n->guard = GUARD_NONE;
    keep_row(n, l);
    if (is_twin)
        n->row.state = (struct slurm_state){0};
    node_ask(s, n);
    preferring_look(s, n, l);
}

static void take_missing(struct slurm *s)
{
    if (s->n_read == HASH_COUNT(s->nodes))
        return;
    for (struct node *n = s->nodes; n; n = n->hh.next) {
        if (n->reading == s->reading)
            continue;
        n->line = NULL;
        n->guard = GUARD_NONE;
        node_ask(s, n);
    }
}

static void on_lines(uv_idle_t *idle)
{
    LOOP_DOES("output of scontrol");
    struct slurm *s = idle->data;
    struct slurm_line l;
    struct err e;
    int more = 1;
    for (int i = 0; i < SLURM_SLICE && more > 0; i++) {
        more = slurm_next_node(&s->rest, &l, &e);
        if (more > 0)
            take_line(s, &l);
    }
    if (more > 0)
        return;
    uv_idle_stop(idle);
    free(STEAL(s->text));
    if (more == 0 && s->n_read == 0)
        more = err_set(&e, -EPROTO, "scontrol knows no node");
    if (more < 0) {
        report_failure(s, &e);
        return;
    }
    take_missing(s);
    read_missing(s);
}

static void on_nodes(void *arg, char *text, size_t len, const struct err *why)
{
    struct slurm *s = arg;
    struct err e;
    s->text = s->rest = text;
    s->reading++;
    s->n_read = 0;
    s->likely = s->nodes;
    if (why || slurm_check_answer(text, len, &e) < 0)
        report_failure(s, why ? why : &e);
    else
        uv_idle_start(s->slices, on_lines);
}

void reading_all(struct slurm *s)
{
    static const char *const args[] = {"scontrol", "-o", "-a", "show", "node", NULL};
    s->is_regular = true;
    read_part(s, args, on_nodes);
}

/* --- some of them */

/* Whether the answer has all nodes of the batch. */
static bool take_batch(struct slurm *s, const struct slurm_lines *lines)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->n_batch; i++)
        s->batch[i]->is_kept = false;
    for (size_t i = 0; i < lines->n; i++) {
        struct node *n = node_find(s, lines->lines[i].name);
        if (!n)
            continue;
        keep_row(n, &lines->lines[i]);
        n->is_kept = true;
    }
    for (size_t i = 0; i < s->n_batch; i++) {
        kept += s->batch[i]->is_kept;
        node_ask(s, s->batch[i]);
    }
    return kept == s->n_batch;
}

/* Reservations are read in full only by a regular reading. */
static void on_some(void *arg, char *text, size_t len, const struct err *why)
{
    CLEANUP_FREE char *answer = text;
    struct slurm *s = arg;
    struct err e = {0};
    struct slurm_lines lines = {0};
    bool any_gone = false;
    for (size_t i = 0; answer && i < s->n_batch; i++)
        any_gone |= slurm_says_not_found(answer, s->batch[i]->name);
    if (any_gone)
        reading_all(s);
    else if (why || slurm_read_nodes(answer, len, &lines, &e) < 0)
        report_failure(s, why ? why : &e);
    else if (take_batch(s, &lines))
        read_rest(s);
    else
        reading_all(s);
    slurm_lines_fini(&lines);
}

/* Whether a decision or a write about it needs a reading. */
static bool needs_reading(const struct slurm *s, const struct node *n, struct mono now)
{
    return n->is_changed || n->is_written || n->is_asked || writing_may(s, n, now) ||
           (n->line && !n->said && n->act == ACT_NOTE);
}

bool reading_some(struct slurm *s, struct mono now)
{
    struct err e;
    struct node *n;
    size_t bytes = 0;
    bool is_for_all = false;
    s->n_batch = 0;
    s->is_regular = false;
    DL_FOREACH2(s->open, n, next_open)
    {
        if (!needs_reading(s, n, now))
            continue;
        is_for_all |= !n->line || s->n_batch == NAMED_MAX || !batch_add(s, n, &bytes);
    }
    if (is_for_all)
        reading_all(s);
    else if (s->n_batch && batch_show(s, on_some, &e) < 0)
        report_failure(s, &e);
    return is_for_all || s->n_batch;
}
