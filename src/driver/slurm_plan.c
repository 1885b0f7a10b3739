/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two rules make it safe to be killed anywhere. What is about to be written is in the record first (draining,
 * undraining, reservation), so that a successor knows whose it is. And a step is taken back or finished by
 * looking at Slurm, never by remembering.
 *
 * Between drain and reservation there is never a gap in which work could start: a drain is taken back for an
 * examination only when the reservation was seen, and a reservation is deleted only when the drain was seen,
 * or nothing is wanted any more.
 */
#include "driver/slurm_plan.h"

#include <assert.h>

static const struct slurm_step nothing = {.act = ACT_NOTHING}, wait = {.act = ACT_WAIT};

static struct slurm_step slurm_plan_act(enum slurm_act a)
{
    return (struct slurm_step){.act = a};
}

/* Sets the record to this state; when it has it already, `then` follows. */
static struct slurm_step slurm_plan_note(const struct slurm_case *c, enum slurm_record_state state,
                                         struct slurm_step then)
{
    if (c->record == state && c->is_claim)
        return then;
    return (struct slurm_step){.act = ACT_NOTE, .record = state, .has_guard = c->has_guard};
}

static struct slurm_step note_guard(const struct slurm_case *c, bool has_guard)
{
    enum slurm_record_state state = c->record == RECORD_NONE ? RECORD_RESERVED : c->record;
    return (struct slurm_step){.act = ACT_NOTE, .record = state, .has_guard = has_guard, .keeps_claim = true};
}

/* The reservation is no longer wanted. */
static struct slurm_step lift_guard(const struct slurm_case *c)
{
    if (c->guard == GUARD_OURS)
        return slurm_plan_act(ACT_UNRESERVE);
    if (c->has_guard)
        return c->guard == GUARD_UNREAD ? wait : note_guard(c, false);
    return nothing;
}

/* Fettle's drain is to go, and the record says so. */
static struct slurm_step take_back(const struct slurm_case *c)
{
    if (c->ground == GROUND_MOVING)
        return wait;
    return slurm_plan_act(c->ground == GROUND_DOWN ? ACT_RETURN : ACT_UNDRAIN);
}

static bool is_ours(const struct slurm_case *c)
{
    return c->hold == HOLD_WANTED || c->hold == HOLD_STALE || c->hold == HOLD_REST;
}

static struct slurm_step plan_release(const struct slurm_case *c)
{
    struct slurm_step guard = lift_guard(c);
    if (guard.act == ACT_UNRESERVE)
        return guard;
    if (is_ours(c) && c->record == RECORD_UNDRAINING)
        return take_back(c);
    if (is_ours(c))
        return (struct slurm_step){
            .act = ACT_NOTE, .record = RECORD_UNDRAINING, .has_guard = c->has_guard, .keeps_claim = true};
    if (guard.act == ACT_WAIT)
        return guard;
    if (c->record != RECORD_NONE)
        return (struct slurm_step){.act = ACT_NOTE, .record = RECORD_NONE};
    return nothing;
}

static struct slurm_step plan_held(const struct slurm_case *c)
{
    /* After a restart, slurmctld has the drain: from now on its new start counts. A reboot removes the drain
     * at its end when its nextstate says so. */
    bool is_noted = c->record == RECORD_DRAINED && c->is_claim && !c->is_another_slurmctld &&
                    c->had_reboot == c->is_rebooting;
    if (!is_noted)
        return (struct slurm_step){.act = ACT_NOTE,
                                   .record = RECORD_DRAINED,
                                   .has_guard = c->has_guard,
                                   .is_rebooting = c->is_rebooting};
    return lift_guard(c);
}

static struct slurm_step plan_drain(const struct slurm_case *c)
{
    if (c->hold == HOLD_WANTED)
        return plan_held(c);
    /* Its words are about another problem; the record says already whose it is, and that it stood. */
    if (c->hold == HOLD_STALE && c->record == RECORD_DRAINED && c->is_claim)
        return slurm_plan_act(ACT_DRAIN);
    if (c->record == RECORD_OVERRIDDEN && c->is_claim)
        return lift_guard(c);
    if (c->hold == HOLD_FOREIGN)
        return slurm_plan_note(c, RECORD_FOREIGN, lift_guard(c));
    /* It stood, and only a slurmctld that lost its state, or the end of a reboot, could have removed it
     * otherwise: somebody took it back. */
    bool is_gone = c->hold == HOLD_NONE || c->hold == HOLD_REST;
    if (is_gone && c->record == RECORD_DRAINED && c->is_claim && !c->is_another_slurmctld && !c->had_reboot)
        return (struct slurm_step){
            .act = ACT_NOTE, .record = RECORD_OVERRIDDEN, .has_guard = c->has_guard, .is_overridden = true};
    /* Fettle ends what it began: a drain that was taken back for an examination comes again. */
    if (c->is_kept && (c->record == RECORD_NONE || c->record == RECORD_FOREIGN))
        return wait;
    return slurm_plan_note(c, RECORD_DRAINING, slurm_plan_act(ACT_DRAIN));
}

/* It was seen, and only a person, or a slurmctld that lost its state, deletes it. */
static bool is_deleted(const struct slurm_case *c)
{
    bool stood =
        c->record == RECORD_UNDRAINING || c->record == RECORD_RESERVED || c->record == RECORD_FOREIGN;
    return c->guard == GUARD_NONE && stood && c->has_guard && c->is_claim && !c->is_another_slurmctld;
}

/* The reservation stands: note that it was seen. */
static struct slurm_step note_stands(const struct slurm_case *c, enum slurm_record_state state,
                                     struct slurm_step then)
{
    if (c->record == state && c->is_claim && !c->is_another_slurmctld)
        return then;
    return (struct slurm_step){.act = ACT_NOTE, .record = state, .has_guard = true};
}

static struct slurm_step plan_reserve(const struct slurm_case *c)
{
    if (c->guard == GUARD_UNREAD || c->guard == GUARD_FOREIGN)
        return wait;
    if (!c->has_guard)
        return note_guard(c, true);
    if (is_deleted(c)) /* a person decided: the node stays drained, and is not examined */
        return (struct slurm_step){
            .act = ACT_NOTE, .record = c->record, .is_refused = true, .keeps_claim = true};
    if (c->guard == GUARD_NONE)
        return slurm_plan_act(ACT_RESERVE);
    if (is_ours(c))
        return note_stands(c, RECORD_UNDRAINING, take_back(c));
    return note_stands(c, c->hold == HOLD_FOREIGN ? RECORD_FOREIGN : RECORD_RESERVED, nothing);
}

/* The examination whose reservation was deleted is over: the next one may have a reservation. */
static struct slurm_step forget_refusal(const struct slurm_case *c, struct slurm_step then)
{
    if (!c->is_refused || then.act != ACT_NOTHING)
        return then;
    return (struct slurm_step){
        .act = ACT_NOTE, .record = c->record, .has_guard = c->has_guard, .keeps_claim = true};
}

/* What we undid comes first: until then nobody holds the node, though a person believes that it is held. */
static struct slurm_step plan_lost(const struct slurm_case *c)
{
    if (c->hold != HOLD_FOREIGN)
        return slurm_plan_act(ACT_RESTORE);
    return (struct slurm_step){.act = ACT_NOTE,
                               .record = c->record,
                               .has_guard = c->has_guard,
                               .is_refused = c->is_refused,
                               .is_rebooting = c->had_reboot,
                               .keeps_claim = true,
                               .is_restored = true};
}

struct slurm_step slurm_plan(const struct slurm_case *c)
{
    if (!c->is_known)
        return wait;
    if (c->is_lost)
        return plan_lost(c);
    if (c->wish == WISH_NOTHING)
        return plan_release(c);
    if (c->wish == WISH_DRAIN)
        return forget_refusal(c, plan_drain(c));
    if (!c->is_refused || !c->is_claim)
        return plan_reserve(c);
    struct slurm_step s = plan_drain(c);
    s.is_refused = true;
    return s;
}

bool slurm_act_writes(enum slurm_act a)
{
    return a > ACT_NOTE && a < ACT_WAIT;
}

const char *slurm_act_name(enum slurm_act a)
{
    static const char *const names[] = {
        [ACT_NOTE] = "note",       [ACT_RESTORE] = "restore",     [ACT_DRAIN] = "drain",
        [ACT_RESERVE] = "reserve", [ACT_UNRESERVE] = "unreserve", [ACT_UNDRAIN] = "undrain",
        [ACT_RETURN] = "return",   [ACT_WAIT] = "wait",           [ACT_NOTHING] = "-",
    };
    assert((size_t)a < sizeof names / sizeof *names);
    return names[a];
}
