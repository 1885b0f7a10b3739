/* SPDX-License-Identifier: Apache-2.0 */
/* What the steps of a repair share: how a step is left, and how a remedy is chosen. */
#include "watch/health/health.h"
#include "watch/outside/outside.h"
#include "watch/repair/choose_inside.h"
#include "watch/repair/repair.h"
#include "watch/repair/repair_step_inside.h"
#include "watch/view/facts.h"
#include "watch/view/observed.h"
#include "watch/view/policy.h"
#include "watch/view/view.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

const struct attempt_record *attempt_under_way(const struct repair *r)
{
    const struct attempt_record *a = r->n_attempts ? &r->attempts[r->n_attempts - 1] : NULL;
    return a && a->ended.ns == 0 ? a : NULL;
}

static void attempt_say(const struct turn *t, const struct move *v, struct attempt_news *out)
{
    const struct attempt_record *a = attempt_under_way(t->r);
    if (!v->attempt || !a)
        return;
    *out = (struct attempt_news){
        .verdict = v->verdict, .done = v->done, .text = v->attempt, .refusal = v->refusal};
    memcpy(out->remedy, a->remedy, sizeof a->remedy);
    memcpy(out->fault, a->fault, sizeof a->fault);
}

static void move_propose(const struct turn *t, enum step_event event, const struct move *v)
{
    const struct observed *o = watch_of(t->w, t->m);
    const char *machine = v->renewed ? machine_here(t->w, t->m) : NULL;
    struct command cmd = {.kind = COMMAND_REPAIR,
                          .repair = {.from = t->r ? t->r->step : STEP_NONE,
                                     .to = v->to,
                                     .event = event,
                                     .why = v->why,
                                     .instance = o->beat.instance,
                                     .deadline_s = (uint64_t)(v->deadline.ns / span_s(1).ns),
                                     .examined = v->examined,
                                     .inconclusive = v->inconclusive,
                                     .restarted = v->restarted && member_restarts(t->m),
                                     .renewed = v->renewed}};
    struct repair_command *says = &cmd.repair;
    memcpy(says->boot, boot_of(t->w, t->m), strlen(boot_of(t->w, t->m)) + 1);
    snprintf(says->id, sizeof says->id, "%s", t->r ? t->r->id : "");
    snprintf(says->problem, sizeof says->problem, "%s", v->problem ? v->problem : "");
    snprintf(says->machine, sizeof says->machine, "%s", machine ? machine : "");
    if (v->remedy) {
        snprintf(says->remedy, sizeof says->remedy, "%s", v->remedy->name);
        says->approval = v->remedy->approval && v->to != STEP_WIPE;
        says->cost = v->cost;
    }
    if (t->r)
        attempt_say(t, v, &says->attempt);
    health_propose(t->w, t->now, t->m, &cmd);
}

static struct span deadline_of(const struct turn *t, enum step to)
{
    const struct health_policy *p = &t->w->policy.health;
    if (to == STEP_WIPE && t->r && t->r->step == STEP_WIPE) /* what follows has the rest of the time */
        return t->late ? span_s(1) : (struct span){t->v->stage_due.ns - t->now.ns + span_s(1).ns};
    return to == STEP_WIPE                           ? p->wipe_deadline
           : to == STEP_EXAMINE                      ? p->examine_deadline
           : to == STEP_PROVISION || to == STEP_TEND ? repair_provision_deadline(t->w, t->m)
           : to == STEP_ISOLATE                      ? p->drain_deadline
                                                     : (struct span){0};
}

bool turn_to_step(const struct turn *t, enum step_event event, struct move v, enum step to, const char *why)
{
    v.to = to;
    v.why = why;
    v.deadline = deadline_of(t, to);
    move_propose(t, event, &v);
    return true;
}

bool turn_found(const struct turn *t, const struct check *k)
{
    const struct ailment *a = member_ailment(t->m);
    for (size_t i = 0; a && i < a->n_open; i++)
        for (size_t n = 0; n < a->open[i].n; n++)
            if (strcmp(a->open[i].findings[n].check, k->name) == 0)
                return true;
    return false;
}

const struct check *turn_extensive(const struct turn *t, size_t i)
{
    const struct check *k = check_at(t->w, i);
    bool again = (k->when & CHECK_SCHEDULED) && turn_found(t, k);
    return ((k->when & CHECK_EXTENSIVE) || again) && (t->v->said[i] & SAID_ASSIGNED) ? k : NULL;
}

bool turn_has_extensive(const struct turn *t)
{
    for (size_t i = 0; i < check_count(t->w); i++)
        if (turn_extensive(t, i))
            return true;
    return false;
}

bool turn_to_remedy(const struct turn *t, enum step_event event, struct move v, const struct remedy *remedy,
                    const char *why)
{
    CLEANUP_TEXT struct text dry = {0};
    assert(remedy);
    bool replaces = strcmp(remedy->run, "replace") == 0;
    if (remedy->dry) {
        text_printf(&dry, "%s would be done (dry run): %s", remedy->name, why);
        return turn_to_step(t, event, v, STEP_QUEUE, dry.s);
    }
    v.remedy = remedy;
    v.to = replaces ? STEP_REPLACE : STEP_REMEDY;
    v.why = why;
    v.deadline = t->w->policy.health.examine_deadline; /* the time to begin it, once it may begin */
    move_propose(t, event, &v);
    return true;
}

bool turn_by_choice(const struct turn *t, enum step_event event, struct move v)
{
    CLEANUP_FREE struct choice *c = mem_alloc(sizeof *c);
    CLEANUP_TEXT struct text why = {0};
    bool undone = v.verdict == '0' && attempt_under_way(t->r);
    unsigned week = remedies_of_week(t->w, t->m);
    week -= undone && week > 0;
    if (t->r->step == STEP_REPLACE)
        return turn_to_step(t, event, v, STEP_QUEUE, v.attempt ? v.attempt : "it could not be replaced");
    if (week >= t->w->policy.health.limits.remedies_a_week) {
        text_printf(&why, "it had %u remedies within a week", week);
        return turn_to_step(t, event, v, STEP_QUEUE, why.s);
    }
    repair_choose(t->w, t->now, t->m, undone, v.refusal, c);
    if (is_hardware(t->m))
        v.problem = "hardware_problem";
    if (c->waits && !t->late && lost_work_unsaid(t->w, t->now, t->m))
        return turn_to_step(t, event, v, STEP_QUEUE,
                            "it is not heard, and it is not known whether work runs on it: its agent had not "
                            "reported that, and no "
                            "scheduler can");
    if (c->waits && !t->late)
        return false; /* the work will end, so no person is needed yet */
    if (!c->chosen)
        return turn_to_step(t, event, v, STEP_QUEUE, *c->why ? c->why : "no remedy is left");
    v.cost = choice_cost(c);
    return turn_to_remedy(t, event, v, c->chosen, *c->why ? c->why : "chosen");
}

bool turn_on_the_way(const struct turn *t, enum step_event event, struct move v, const char *why)
{
    bool anew = v.renewed && !machine_may_be_known(t->w, t->m);
    return turn_to_step(
        t, event, v,
        turn_has_extensive(t) && t->r->step != STEP_EXAMINE && !anew ? STEP_EXAMINE : STEP_PROVISION, why);
}

void maintenance_say(const struct turn *t, struct text *why)
{
    assert(member_maintenance(t->m));
    text_printf(why, "maintenance%s: %s", member_restarts(t->m) ? " by a restart" : "",
                member_maintenance(t->m)->why);
}

static bool is_of_class(const struct turn *t, const struct remedy *one)
{
    bool fits = one->classes.n == 0;
    for (size_t k = 0; k < one->classes.n; k++)
        fits = fits || strcmp(one->classes.names[k], class_of(t->w, t->m)->name) == 0;
    return fits;
}

bool turn_by_maintenance(const struct turn *t, enum step_event event, struct move v)
{
    const struct remedies *all = t->w->policy.health.remedies;
    CLEANUP_TEXT struct text why = {0};
    maintenance_say(t, &why);
    for (size_t i = 0; all && i < all->n; i++) {
        const struct remedy *one = &all->list[i];
        if (is_of_class(t, one) && maintenance_wants(t->m, one) &&
            !(member_restarts(t->m) && repair_bars(t->w, t->m, v.refusal, one)))
            return turn_to_remedy(t, event, v, one, why.s);
    }
    return turn_to_step(t, event, v, STEP_QUEUE, why.s);
}

const struct remedy *turn_remedy(const struct turn *t)
{
    const struct remedies *all = t->w->policy.health.remedies;
    return all ? remedies_find(all, t->r->remedy) : NULL;
}

struct span check_round(const struct check *k)
{
    return (struct span){k->every.ns + k->deadline.ns};
}

const char *turn_given_up(const struct turn *t)
{
    return repair_yields(t->m)                                     ? "a person took it back"
           : cluster_excepts(t->w->cluster, t->m) && !t->r->manual ? "it is only observed: Remediate=no"
                                                                   : NULL;
}
