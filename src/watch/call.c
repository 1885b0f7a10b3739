/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls: members for which the sweep has found that a command is needed. They are collected over the whole
 * sweep and proposed at its end, with one command for all nodes of a kind. A command that puts nodes into
 * service carries the boot of each node and is read once for each batch of them, so it takes a limited number
 * of nodes. Each tick proposes a few of these commands, and the rest waits for the following ticks. What a
 * sweep finds meanwhile is found again by the next sweep.
 */
#include "watch/call_inside.h"
#include "watch/health/health.h"
#include "watch/view/called.h"
#include "watch/view/facts.h"
#include "watch/view/shell.h"
#include "watch/view/view.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ADMITTED_AT_ONCE = 500, ADMISSIONS_A_TICK = 2 };

void call_add(struct watch *w, enum call call, const struct member *m)
{
    assert((size_t)call < CALL_KINDS);
    called_add(&w->calls->found[call], m);
}

/* A sweep lasts a second, and longer when the process stood still meanwhile. A call that was found at its
 * beginning may be out of date at its end. */
static bool still_calls(const struct watch *w, enum call call, const struct member *m)
{
    switch (call) {
    case CALL_ADMIT:
    case CALL_AGAIN: return is_put_into_service(w, m);
    case CALL_HEARD: return is_heard(w, m);
    case CALL_DRAINED: return watch_work(w, m) == WORK_IDLE;
    case CALL_DRAINING: return watch_work(w, m) == WORK_BUSY;
    case CALL_KINDS: break;
    }
    return false;
}

/* Takes the next members of a kind that still need the command, `max` at most. */
static void call_take(struct watch *w, enum call call, size_t max, struct hostlist *out)
{
    struct called *c = &w->calls->told[call];
    while (c->at < c->n && out->n < max) {
        const struct member *m = cluster_by_id(w->cluster, c->ids[c->at++]);
        if (m->listed && still_calls(w, call, m))
            hostlist_add(out, m->name);
    }
}

static void propose_admissions(struct watch *w, const struct hostlist *nodes)
{
    CLEANUP_FREE struct boot_id *boots = mem_alloc(nodes->n * sizeof *boots);
    size_t place = 0;
    for (size_t i = 0; i < nodes->n; i++) {
        const struct member *m = cluster_find_next(w->cluster, &place, nodes->names[i]);
        snprintf(boots[i].id, sizeof boots[i].id, "%s", watch_of(w, m)->boot);
    }
    w->sink.propose(w->sink.arg,
                    &(struct command){.kind = COMMAND_ADMIT, .nodes = nodes, .admit = {nodes->n, boots}});
}

/* Nodes that come for the first time go before nodes on another boot. The two never share a command. */
static bool admit_some(struct watch *w)
{
    CLEANUP_HOSTLIST struct hostlist some = {0};
    enum call call = w->calls->told[CALL_ADMIT].at < w->calls->told[CALL_ADMIT].n ? CALL_ADMIT : CALL_AGAIN;
    call_take(w, call, ADMITTED_AT_ONCE, &some);
    if (some.n)
        propose_admissions(w, &some);
    return some.n > 0;
}

/* One command for all of them, because each such command rewrites a claim on very many nodes. */
static bool propose_all(struct watch *w, enum call call, enum command_kind kind)
{
    CLEANUP_HOSTLIST struct hostlist nodes = {0};
    call_take(w, call, SIZE_MAX, &nodes);
    if (nodes.n)
        w->sink.propose(w->sink.arg, &(struct command){.kind = kind, .nodes = &nodes});
    return nodes.n > 0;
}

void calls_tick(struct watch *w)
{
    w->calls->looked = 0;
}

bool calls_step(struct watch *w)
{
    static const struct {
        enum call call;
        enum command_kind kind;
    } others[] = {
        {CALL_HEARD, COMMAND_HEARD}, {CALL_DRAINED, COMMAND_DRAINED}, {CALL_DRAINING, COMMAND_DRAINING}};
    unsigned i = w->calls->looked++;
    if (i < ADMISSIONS_A_TICK)
        return admit_some(w) || calls_step(w);
    i -= ADMISSIONS_A_TICK;
    if (i < sizeof others / sizeof others[0])
        return propose_all(w, others[i].call, others[i].kind) || calls_step(w);
    return false;
}

void calls_end_sweep(struct watch *w)
{
    for (int call = 0; call < CALL_KINDS; call++) {
        struct called *c = &w->calls->told[call], found = w->calls->found[call];
        if (c->at == c->n) {
            w->calls->found[call] = *c;
            *c = found;
            c->at = 0;
        }
        w->calls->found[call].n = w->calls->found[call].at = 0;
    }
    calls_tick(w);
}

void calls_destroy(struct watch *w)
{
    for (int call = 0; call < CALL_KINDS; call++) {
        free(w->calls->told[call].ids);
        free(w->calls->found[call].ids);
    }
}

bool is_put_into_service(const struct watch *w, const struct member *m)
{
    const char *boot = watch_observed(w, m)->boot;
    return watch_live(w, m) && !member_repair(m) && !repair_comes_up(w, m) &&
           (!m->admitted || (*boot && strcmp(m->boot, boot) != 0));
}

bool is_heard(const struct watch *w, const struct member *m)
{
    return watch_live(w, m) && !repair_comes_up(w, m);
}
