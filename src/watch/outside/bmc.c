/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When a node's BMC is asked, and what its answer means for a healthy node: the firmware versions that it
 * gives by Redfish join the node's own components (conformity.c), and a lock on the power is a hold (held.c).
 * lost.c has what the answer means for a node that stays silent.
 *
 * A BMC is slow, and most have one processor for everything. So each BMC is asked once a day, at its own time
 * of the day, and after its node booted; only a few are asked at once. A BMC that does not answer is asked
 * again in an hour. Its last answer counts until it has not answered three times in a row. After that the
 * answer is unknown, which proves nothing. Answers are records that are written when they change, so that
 * they survive a restart of the controller.
 */
#include "base/digest.h"
#include "watch/conform/conform.h"
#include "watch/hold/shell.h"
#include "watch/outside/bmc_inside.h"
#include "watch/outside/outside.h"
#include "watch/outside/shell.h"
#include "watch/view/shell.h"
#include "watch/view/view.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    DAY_S = 86400,
    FIRST_S = 3600, /* within this time each BMC without a record is asked */
    AGAIN_S = 3600, /* when a BMC that did not answer is asked again */
    LOCKED_S = 60,  /* when a BMC that locks the power is asked again */
    TRIES = 3,      /* after so many times without an answer the old answer counts as unknown */
    LOST_S = 300,   /* the shell has given up by then */
    ASKED_AT_ONCE = 16,
    DUE_AT_ONCE = 8, /* the share of these for questions that nothing waits for */
    NEWS_A_SWEEP = 500
};

static struct bmc_asking *asking_of(struct watch *w, const struct member *m)
{
    watch_of(w, m);
    return &w->bmcs->of[m->id];
}

/* --- when ------------------------------------------------------------------------------------- */

/* The next of the moments that belong to this node and recur each `period_s`. */
static uint32_t due_within(const struct watch *w, struct mono now, const struct member *m, uint32_t period_s)
{
    uint32_t period_ds = 10 * period_s, now_ds = watch_ds(w, now);
    uint32_t own_ds = (uint32_t)(digest_fnv(DIGEST_FNV_START, m->name, strlen(m->name)) % period_ds);
    return now_ds + 1 + (own_ds + period_ds - now_ds % period_ds) % period_ds;
}

static uint32_t due_in(const struct watch *w, struct mono now, uint32_t seconds)
{
    return watch_ds(w, now) + 10 * seconds;
}

/* A node on another boot than that of its admission may have new firmware. */
void bmc_boot(struct watch *w, struct mono now, const struct member *m)
{
    struct bmc_asking *b = asking_of(w, m);
    if (!b->none && strcmp(m->boot, watch_observed(w, m)->boot) != 0)
        b->due_ds = due_in(w, now, 0) + 1;
}

bool bmc_is_asked(const struct watch *w, struct mono now, const struct member *m)
{
    const struct bmc_asking *b = m->id < w->n ? &w->bmcs->of[m->id] : NULL;
    if (!b)
        return false;
    return (b->wanted && b->urgent) || (b->asked && within(now, watch_at(w, b->asked_ds), LOST_S));
}

void bmc_want(struct watch *w, const struct member *m)
{
    struct bmc_asking *b = asking_of(w, m);
    b->wanted = b->urgent = w->bmcs->wanted = true;
}

void bmc_look(struct watch *w, struct mono now, const struct member *m)
{
    struct bmc_asking *b = asking_of(w, m);
    if (b->none || b->wanted || bmc_is_asked(w, now, m))
        return;
    if (b->due_ds == 0)
        b->due_ds = due_within(w, now, m, m->bmc ? DAY_S : FIRST_S);
    if (now.ns >= watch_at(w, b->due_ds).ns)
        b->wanted = w->bmcs->wanted = true;
}

void watch_bmcs_to_ask(struct watch *w, struct mono now, tell_fn *fn, void *arg)
{
    bool more = false;
    for (size_t id = 0; w->bmcs->wanted && id < w->n; id++) {
        struct bmc_asking *b = &w->bmcs->of[id];
        if (!b->wanted)
            continue;
        if (w->bmcs->asked >= (b->urgent ? ASKED_AT_ONCE : DUE_AT_ONCE)) {
            more = true;
            continue;
        }
        w->bmcs->asked += !b->asked;
        b->wanted = b->urgent = false;
        b->asked = true;
        b->asked_ds = watch_ds(w, watch_awake(w, now));
        fn(arg, cluster_by_id(w->cluster, (uint32_t)id));
    }
    w->bmcs->wanted = more;
}

/* --- what it said ------------------------------------------------------------------------------ */

static void set_mute(struct watch *w, struct bmc_asking *b, const struct member *m, bool is)
{
    if (b->mute == is)
        return;
    b->mute = is;
    conformity_bmc(w, m, is);
}

static void noted_put(struct watch *w, const struct member *m, const struct components *c)
{
    struct bmcs *all = w->bmcs;
    size_t i = 0;
    while (i < all->n_news && all->news[i].m != m)
        i++;
    if (i == all->n_news) {
        all->news = mem_grow(all->news, (all->n_news + 1) * sizeof *all->news);
        all->news[all->n_news++] = (struct bmc_noted){.m = m};
    }
    components_fini(&all->news[i].told);
    for (size_t k = 0; c && k < c->n; k++)
        components_add(&all->news[i].told, c->list[k].name, c->list[k].state, c->list[k].value, NULL);
}

/* Notes the firmware when it differs from the record. NULL: the BMC gives none any more. */
static void note_firmware(struct watch *w, const struct member *m, const struct components *c)
{
    if (!c && !m->bmc)
        return;
    if (c && m->bmc) {
        const struct fingerprint id = components_fingerprint(c);
        if (fingerprint_equal(&id, &m->bmc->id))
            return;
    }
    noted_put(w, m, c);
}

static void set_locked(struct watch *w, struct mono now, struct member *m, const char *why)
{
    const struct elsewhere is = {.where = ELSEWHERE_BMC,
                                 .state = why ? ELSEWHERE_HELD : ELSEWHERE_NOBODY,
                                 .out = why != NULL,
                                 .how = why ? "locked" : NULL,
                                 .why = why};
    watch_elsewhere(w, now, m, &is);
}

/* Some of the answer could not be read, so the BMC is asked again before a day is over. */
static bool is_partial(const struct components *c)
{
    for (size_t i = 0; c && i < c->n; i++)
        if (c->list[i].state == COMPONENT_UNKNOWN)
            return true;
    return false;
}

static bool is_locked(const struct watch *w, const struct member *m)
{
    return watch_observed(w, m)->elsewhere[ELSEWHERE_BMC].is.state == ELSEWHERE_HELD;
}

static void take_answer(struct watch *w, struct mono now, struct member *m, const struct bmc_said *is)
{
    struct bmc_asking *b = asking_of(w, m);
    b->tries = 0;
    b->none = is->none;
    b->due_ds = is->locked                 ? due_in(w, now, LOCKED_S)
                : is_partial(is->firmware) ? due_in(w, now, AGAIN_S)
                                           : due_within(w, now, m, DAY_S);
    set_mute(w, b, m, false);
    set_locked(w, now, m, is->locked);
    note_firmware(w, m, is->firmware);
}

/* A lock remains known for as long as the last answer counts. */
static void take_silence(struct watch *w, struct mono now, struct member *m)
{
    struct bmc_asking *b = asking_of(w, m);
    if (b->tries < TRIES)
        b->tries++;
    if (b->tries == TRIES) {
        set_mute(w, b, m, true);
        set_locked(w, now, m, NULL);
    }
    b->due_ds = due_in(w, now, is_locked(w, m) ? LOCKED_S : AGAIN_S);
}

bool bmc_answered(struct watch *w, struct mono now, struct member *m, const struct bmc_said *is)
{
    struct bmc_asking *b = asking_of(w, m);
    if (!b->asked)
        return false;
    assert(w->bmcs->asked > 0);
    b->asked = false;
    w->bmcs->asked--;
    if (is->answered || is->none)
        take_answer(w, now, m, is);
    else
        take_silence(w, now, m);
    return true;
}

/* Drops the first n entries: they are written down, or need not be any more. */
static void noted_drop(struct watch *w, size_t n)
{
    struct bmcs *all = w->bmcs;
    assert(n <= all->n_news);
    for (size_t i = 0; i < n; i++)
        components_fini(&all->news[i].told);
    all->n_news -= n;
    if (all->n_news)
        memmove(all->news, all->news + n, all->n_news * sizeof *all->news);
    else
        free(STEAL(all->news));
}

/* What the shell has no room for waits for the next sweep. */
void bmcs_end_sweep(struct watch *w)
{
    CLEANUP_HOSTLIST struct hostlist nodes = {0};
    CLEANUP_FREE struct bmc_news *news = mem_alloc(NEWS_A_SWEEP * sizeof *news);
    size_t n = 0;
    for (; n < w->bmcs->n_news && nodes.n < NEWS_A_SWEEP; n++) {
        const struct bmc_noted *one = &w->bmcs->news[n];
        if (!one->m->listed)
            continue;
        news[nodes.n] = (struct bmc_news){one->told.n, one->told.list};
        hostlist_add(&nodes, one->m->name);
    }
    if (nodes.n == 0 ||
        w->sink.propose(w->sink.arg,
                        &(struct command){.kind = COMMAND_BMC, .nodes = &nodes, .bmc = {nodes.n, news}}))
        noted_drop(w, n);
}

/* --- life -------------------------------------------------------------------------------------- */

void bmcs_reconfigure(struct watch *w)
{
    for (size_t i = 0; i < w->n; i++) {
        if (w->bmcs->of[i].none)
            w->bmcs->of[i].due_ds = 0;
        w->bmcs->of[i].none = false;
    }
}

void bmcs_grow(struct watch *w, size_t from, size_t n)
{
    w->bmcs->of = mem_grow(w->bmcs->of, w->cap * sizeof *w->bmcs->of);
    for (size_t i = from; i < n; i++)
        w->bmcs->of[i] = (struct bmc_asking){0};
}

void bmc_destroy(struct watch *w)
{
    noted_drop(w, w->bmcs->n_news);
    free(w->bmcs->of);
}
