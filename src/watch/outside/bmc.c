/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When a node's BMC is asked, and what its answer means for a node that is well: which firmware it tells by
 * Redfish, which joins what the node says of itself (conformity.c), and whether it locks the power, which is
 * a hold (held.c). What it means for a node that stays silent is lost.c.
 *
 * A BMC is slow, and most have one processor for everything: it is asked once a day, each at its own time of
 * the day, and after its node booted; a few at once. One that does not answer is asked again in an hour. What
 * it told counts until it has not answered three times in a row: then that is unknown, which proves nothing.
 * What it tells is a record, written when it is something else, so that a controller that starts has not
 * forgotten it.
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
    FIRST_S = 3600, /* within which every BMC is asked of which there is no record */
    AGAIN_S = 3600, /* one that did not answer */
    LOCKED_S = 60,  /* one that locks the power */
    TRIES = 3,      /* without an answer, then what it told is not known any more */
    LOST_S = 300,   /* the shell has given up by then */
    ASKED_AT_ONCE = 16,
    DUE_AT_ONCE = 8, /* of them, those for which nothing waits */
    NEWS_A_SWEEP = 500
};

static struct bmc_asking *asking_of(struct watch *w, const struct member *m)
{
    watch_of(w, m);
    return &w->bmcs->of[m->id];
}

/* --- when ------------------------------------------------------------------------------------- */

/* The next moment that is this node's own among moments that come again each `period_s`. */
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

/* One that is not on the boot on which it was put into service may have other firmware since. */
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

/* Something else than is recorded; NULL: nothing any more. */
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

/* Some of it could not be read: that is asked for before a day is over. */
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

/* What it locked is known for as long as what it told. */
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

/* The first ones are written down, or need not be any more. */
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

/* What finds no room waits for the next sweep. */
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
