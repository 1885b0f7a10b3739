/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/outbox/scheduler.h"

#include "base/text.h"
#include "driver/slurm_plan.h"

#include <stdio.h>
#include <string.h>

static bool scheduler_drains(enum claim_kind kind)
{
    return kind != CLAIM_SILENT;
}

/* The claim that Slurm is told of: a repair's before others, then the oldest. */
static const struct claim *find_claim(const struct member *m)
{
    const struct claim *found = NULL;
    for (size_t i = 0; i < m->n_claims; i++) {
        const struct claim *claim = m->claims[i].claim;
        if (scheduler_drains(claim->kind) &&
            (!found || (claim->kind == CLAIM_REPAIR && found->kind != CLAIM_REPAIR)))
            found = claim;
    }
    return found;
}

/* Into a field that has no room for all: cut at a character. */
static void scheduler_put(char *out, size_t size, const char *text)
{
    size_t n = strlen(text);
    if (n >= size) {
        n = size - 1;
        while (n > 0 && ((unsigned char)text[n] & 0xC0) == 0x80)
            n--;
    }
    memcpy(out, text, n);
    out[n] = '\0';
}

/* The words of a repair's claim stay; Slurm is told the problem that the repair has now. */
static void put_reason(const struct claim *claim, const struct repair *r, struct slurm_want *out)
{
    CLEANUP_TEXT struct text t = {0};
    if (claim->kind == CLAIM_REPAIR && r) {
        scheduler_put(out->mark.problem, sizeof out->mark.problem, r->problem);
        text_add(&t, claim->words);
    } else {
        text_printf(&t, "%s by %s: %s", claim_kind_name(claim->kind), claim->owner, claim->reason);
    }
    scheduler_put(out->reason, sizeof out->reason, t.s);
}

void scheduler_wanted(const struct member *m, struct slurm_want *out)
{
    const struct claim *claim = m->listed ? find_claim(m) : NULL;
    const struct repair *r = member_repair(m);
    const struct drift *drift = m->past ? m->past->drift : NULL;
    *out = (struct slurm_want){.avoid = m->listed && drift && drift->state != DRIFT_REMEDIED};
    if (!claim)
        return;
    out->drain = true;
    scheduler_put(out->mark.claim, sizeof out->mark.claim, claim->id);
    put_reason(claim, r, out);
    out->own = claim->kind != CLAIM_DRAIN && claim->kind != CLAIM_DOWN && !(r && r->manual);
    out->reserve = r && r->step == STEP_EXAMINE && m->n_claims == 1;
}

static const char *scheduler_given(const char *text)
{
    return text && *text ? text : NULL;
}

/* Whether somebody else holds it, and whether it is out, by a reading of this moment. */
static void tell_elsewhere(struct watch *w, struct member *m, const struct slurm_node *n)
{
    struct elsewhere is = {.state = ELSEWHERE_NOBODY};
    if (n->held)
        is.state = ELSEWHERE_HELD;
    else if (n->reservation)
        is = (struct elsewhere){
            .state = ELSEWHERE_HELD, .out = true, .how = "reserved", .why = n->reservation};
    else if (!n->known || n->vague)
        is = (struct elsewhere){.state = ELSEWHERE_UNKNOWN, .since = wall_now()};
    if (n->out && !is.how) {
        is.out = true;
        is.how = n->out;
        is.since = is.state == ELSEWHERE_UNKNOWN ? is.since : n->set_at;
        is.by = n->ours ? NULL : scheduler_given(n->by);
        is.why = n->ours ? NULL : scheduler_given(n->reason);
    }
    watch_elsewhere(w, mono_now(), m, &is);
}

/* A reading that failed has no state. */
static void tell_word(struct watch *w, struct member *m, const struct slurm_node *n)
{
    const struct scheduler_word says = {.state = scheduler_given(n->state),
                                        .reason = scheduler_given(n->reason),
                                        .by = scheduler_given(n->by),
                                        .since = n->set_at,
                                        .read = mono_now()};
    watch_scheduler_word(w, m, &says);
}

/* For a node that is to be drained, the scheduler's word that no work runs counts only when no more work
 * can come: until it has the drain it gives work away. An examination begins when its reservation stands
 * and the drain is gone. The reservation's flag in the node's state comes seconds later, so the list of
 * reservations counts. */
void scheduler_saw(struct watch *w, struct member *m, const struct slurm_node *n)
{
    struct slurm_want want;
    if (!m->listed)
        return;
    scheduler_wanted(m, &want);
    bool held = want.reserve ? n->guarded && !n->drain : n->drain || n->fail || n->down;
    watch_away(w, m, !want.drain && n->known && (held || n->reserved || n->rebooting || n->powering));
    if (n->known)
        watch_slurmd(w, m, n->powering ? SLURMD_OFF : n->responding ? SLURMD_ANSWERS : SLURMD_SILENT);
    tell_word(w, m, n);
    tell_elsewhere(w, m, n);
    enum work work = !n->known ? WORK_UNKNOWN : n->busy ? WORK_BUSY : WORK_IDLE;
    watch_scheduler(w, m, work == WORK_IDLE && want.drain && !held ? WORK_UNKNOWN : work, n->completing);
}

void scheduler_maintained(struct watch *w, const struct cluster *c, const struct slurm_maintenance *list,
                          size_t n)
{
    size_t members = cluster_count(c);
    CLEANUP_FREE const char **in = mem_alloc((members + 1) * sizeof *in);
    for (size_t i = n; i-- > 0;) { /* the first of several */
        for (size_t k = 0; k < list[i].nodes.n; k++) {
            const struct member *m = cluster_find(c, list[i].nodes.names[k]);
            if (m)
                in[m->id] = list[i].name;
        }
    }
    for (uint32_t id = 0; id < members; id++) {
        CLEANUP_TEXT struct text why = {0};
        if (in[id])
            text_printf(&why, "reservation %s", in[id]);
        watch_window(w, cluster_by_id(c, id), why.s);
    }
}

static bool is_held(const struct cluster *c, const struct member *m, const struct slurm_want *want)
{
    CLEANUP_TEXT struct text key = {0};
    struct slurm_record r = {0};
    struct err e;
    text_printf(&key, "effect/slurm.%s", m->name);
    const char *value = cluster_effect_value(c, key.s);
    if (!value || slurm_record_read(value, &r, &e) < 0)
        return false;
    if (want->reserve)
        return r.state == RECORD_RESERVED;
    return r.state == RECORD_DRAINED || r.state == RECORD_FOREIGN;
}

void scheduler_changed(struct watch *w, const struct cluster *c, const char *node)
{
    struct member *m = cluster_find(c, node);
    struct slurm_want want;
    if (!m || !m->listed)
        return;
    const struct observed *o = watch_observed(w, m);
    scheduler_wanted(m, &want);
    if (want.drain && (!o->scheduler || o->scheduled == WORK_IDLE) && !is_held(c, m, &want))
        watch_scheduler(w, m, WORK_UNKNOWN, false);
}

void scheduler_begin(struct watch *w, const struct cluster *c)
{
    const struct elsewhere unknown = {.state = ELSEWHERE_UNKNOWN, .since = wall_now()};
    for (size_t i = 0; i < cluster_count(c); i++) {
        struct member *m = cluster_at(c, i);
        if (!m->listed || watch_observed(w, m)->scheduler)
            continue;
        watch_scheduler(w, m, WORK_UNKNOWN, false);
        watch_elsewhere(w, mono_now(), m, &unknown);
    }
}
