/* SPDX-License-Identifier: Apache-2.0 */
/*
 * People's words in a repair: moves by hand, tickets of the work queue, approval, and the switches. A
 * person's act counts neither for nor against a remedy.
 */
#include "cluster/decide/decide.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void decide_ticket_say(struct decision *d, const struct member *m, const char *what,
                              const char *reason)
{
    struct text t = {0};
    text_add(&t, what);
    if (reason && *reason)
        text_printf(&t, ": %s", reason);
    d->text = text_take(&t);
    hostlist_add(&d->changed, m->name);
}

static int refuse_step(const struct member *m, const char *what, struct err *e)
{
    const struct repair *r = member_repair(m);
    enum step s = r ? r->step : STEP_NONE;
    return err_set(e, -EBUSY, "%s: node \"%s\" is in step %s: %s", what, m->name, step_name(s), step_what(s));
}

/* --- moves by hand ---------------------------------------------------------------------------- */

/* The person who wants the node out spoke later than the person who wanted it in service. */
static void put_override_away(const struct member *m, struct decision *d)
{
    CLEANUP_TEXT struct text t = {0};
    CLEANUP_FREE char *said = STEAL(d->text);
    text_add(&t, said);
    override_end(m, "it is drained by hand", &t, d);
    d->text = text_take(&t);
}

/* A person moves the repair; what was under way is given up. */
struct hand_move {
    enum step_event event;
    bool manual;                 /* no remedy */
    const struct answer *answer; /* NULL: none */
};

static int move_by_hand(const struct cluster *c, const struct command *cmd, const struct member *m,
                        enum step to, uint64_t deadline_s, struct hand_move how, struct decision *d,
                        struct err *e)
{
    struct repair r;
    repair_copy(&r, member_repair(m));
    struct wall since = r.since, deadline = r.deadline;
    enum step from = r.step;
    bool stays = from == to;
    CLEANUP_TEXT struct text said = {0};
    text_printf(&said, "%s%s%s", step_name(r.step), stays ? ", drained by hand" : " -> ",
                stays ? "" : step_name(to));
    int rc = repair_leave(c, m, &r, cmd->at, true, d, e);
    if (rc == 0) {
        entry_fields_move(&d->fields, from, how.event, to);
        repair_disown(&r);
        repair_owe(&r, to);
        repair_enter(&r, to, cmd->at, deadline_s, cmd->reason);
        repair_note(&r, cmd, cmd->reason);
        if (stays) {
            r.since = since;
            r.deadline = deadline;
        }
        r.boot[0] = '\0'; /* a person need not have rebooted it */
        r.manual = how.manual;
        if (how.answer) {
            answer_fini(&r.answer);
            answer_copy(&r.answer, how.answer);
        }
        r.inconclusive = 0;
        repair_put(m, &r, d);
        decide_ticket_say(d, m, said.s, cmd->reason);
        if (to != STEP_PROVISION)
            put_override_away(m, d);
    }
    repair_fini(&r);
    return rc;
}

/* The class's own deadline; without one, the caller's. */
static uint64_t provision_deadline_s(const struct cluster *c, const struct member *m, uint64_t all_s)
{
    const struct node_class *k = &cluster_classes(c)->list[m->class];
    return (uint64_t)(class_provision_deadline(k, span_s((int64_t)all_s)).ns / span_s(1).ns);
}

static int human_intervention(const struct cluster *c, const struct command *cmd, struct member *m,
                              struct decision *d, struct err *e)
{
    const struct transition_command *says = &cmd->transition;
    const struct repair *r = member_repair(m);
    const struct answer all = {.at = cmd->at};
    struct hand_move how = {.event = says->yields ? STEP_EVENT_YIELDED : STEP_EVENT_REPAIRED,
                            .answer = says->answers ? &all : NULL};
    if (!r || !step_may_by(r->step, how.event, STEP_PROVISION))
        return refuse_step(m, "human_intervention is for nodes that wait for a person", e);
    uint64_t own_s = provision_deadline_s(c, m, says->deadline_s);
    int rc = move_by_hand(c, cmd, m, STEP_PROVISION, own_s, how, d, e);
    if (rc == 0 && says->answers)
        answer_close(cmd, m, &all, d);
    return rc;
}

/* The other findings keep the node in the queue. */
static int answer_in_queue(const struct cluster *c, const struct command *cmd, const struct member *m,
                           const struct answer *w, const char *left, struct decision *d, struct err *e)
{
    struct repair r;
    repair_copy(&r, member_repair(m));
    int rc = repair_leave(c, m, &r, cmd->at, true, d, e);
    if (rc == 0) {
        CLEANUP_TEXT struct text said = {0};
        text_printf(&said, "it stays in the queue for %s", left);
        repair_disown(&r);
        repair_note(&r, cmd, cmd->reason);
        r.boot[0] = '\0'; /* a person may have rebooted it */
        answer_fini(&r.answer);
        answer_copy(&r.answer, w);
        repair_put(m, &r, d);
        decide_ticket_say(d, m, said.s, cmd->reason);
    }
    repair_fini(&r);
    return rc;
}

/* For single findings. */
static int decide_answer(const struct cluster *c, const struct command *cmd, struct member *m,
                         struct decision *d, struct err *e)
{
    const struct answer_command *says = &cmd->answer;
    const struct repair *r = member_repair(m);
    CLEANUP_TEXT struct text left = {0};
    struct answer w;
    if (decide_check_reason(cmd->reason ? cmd->reason : "", e) < 0)
        return -EINVAL;
    if (!r || r->step != STEP_QUEUE)
        return refuse_step(m, "single findings can be resolved only on a node in the work queue", e);
    int rc = answer_find(says, m, cmd->at, &w, e);
    if (rc == 0) {
        answer_carry(&r->answer, m, &w);
        if (answer_leaves(m, &w, &left))
            rc = answer_in_queue(c, cmd, m, &w, left.s, d, e);
        else
            rc = move_by_hand(c, cmd, m, STEP_PROVISION, provision_deadline_s(c, m, says->deadline_s),
                              (struct hand_move){.event = STEP_EVENT_REPAIRED, .answer = &w}, d, e);
    }
    if (rc == 0)
        answer_close(cmd, m, &w, d);
    answer_fini(&w);
    return rc;
}

static int begin_by_hand(const struct cluster *c, const struct command *cmd, struct member *m,
                         uint64_t deadline_s, struct decision *d, struct err *e)
{
    if (!m->listed)
        return err_set(e, -ENOENT, "node \"%s\" is in no configuration file", m->name);
    struct repair_wish w = {.step = STEP_ISOLATE,
                            .why = cmd->reason,
                            .problem = "manual",
                            .manual = true,
                            .deadline_s = deadline_s};
    entry_fields_move(&d->fields, repair_step_of(m), STEP_EVENT_MANUAL_DRAIN, w.step);
    repair_begin(c, cmd, m, &w, d);
    d->claim = mem_dup(cmd->claim);
    struct text t = {0};
    text_printf(&t, "isolate: %s (claim %s)", cmd->reason, cmd->claim);
    d->text = text_take(&t);
    hostlist_add(&d->changed, m->name);
    put_override_away(m, d);
    return 0;
}

/* The next step of a node that a person wants to have out: its work ends first. */
static enum step out_of(enum step s)
{
    if (s == STEP_EXAMINE || s == STEP_PROVISION)
        return STEP_ISOLATE;
    return s == STEP_REMEDY || s == STEP_REPLACE ? STEP_QUEUE : s;
}

static int manual_drain(const struct cluster *c, const struct command *cmd, struct member *m,
                        uint64_t deadline_s, struct decision *d, struct err *e)
{
    const struct repair *r = member_repair(m);
    if (!r)
        return begin_by_hand(c, cmd, m, deadline_s, d, e);
    if (r->step == STEP_QUEUE || r->step == STEP_QUARANTINE || r->step == STEP_RETIRED)
        return refuse_step(m, "it waits for a person already", e);
    if (r->step == STEP_WIPE)
        return refuse_step(m, "a node that a person released is wiped first", e);
    if (r->manual)
        return 0;
    if (operation_begun(c, m))
        return err_set(e, -EBUSY, "an operation on node \"%s\" has begun, and its end is not known yet",
                       m->name);
    enum step to = out_of(r->step);
    return move_by_hand(c, cmd, m, to, to == STEP_QUEUE ? 0 : deadline_s, /* a person has time */
                        (struct hand_move){.event = STEP_EVENT_MANUAL_DRAIN, .manual = true}, d, e);
}

static int put_away(const struct cluster *c, const struct command *cmd, struct member *m, enum step to,
                    struct decision *d, struct err *e)
{
    const struct repair *r = member_repair(m);
    enum step_event event = to == STEP_RETIRED ? STEP_EVENT_RETIRE : STEP_EVENT_QUARANTINE;
    if (r && r->step == to)
        return 0;
    if (!r || !step_may_by(r->step, event, to))
        return refuse_step(m,
                           to == STEP_RETIRED ? "only a node that waits for a person can be retired"
                                              : "only a node that is out of service can be set aside",
                           e);
    return move_by_hand(c, cmd, m, to, 0, (struct hand_move){.event = event}, d, e);
}

/* --- maintenance ------------------------------------------------------------------------------ */

/* Somebody may be working inside a machine that is in maintenance: it is not restarted meanwhile. */
static int set_maintenance(const struct command *cmd, const struct member *m, bool restart,
                           struct decision *d, struct err *e)
{
    const struct maintenance *is = member_maintenance(m);
    if (!m->listed)
        return err_set(e, -ENOENT, "node \"%s\" is in no configuration file", m->name);
    if (restart && is && !is->restart)
        return err_set(e, -EBUSY, "node \"%s\" is in maintenance (%s: %s): say maintenance_over first",
                       m->name, is->by, is->why);
    if (is && is->restart == restart && strcmp(is->why, cmd->reason) == 0)
        return 0;
    decision_add(d, "maintenance/", m->name, maintenance_record(cmd->actor, cmd->at, cmd->reason, restart));
    decide_ticket_say(d, m, restart ? "maintenance by a restart" : "maintenance", cmd->reason);
    return 0;
}

static int end_maintenance(const struct command *cmd, const struct member *m, struct decision *d)
{
    if (!member_maintenance(m))
        return 0;
    decision_add(d, "maintenance/", m->name, NULL);
    decide_ticket_say(d, m, "maintenance is over", cmd->reason);
    return 0;
}

static int decide_transition(const struct cluster *c, const struct command *cmd, struct member *m,
                             struct decision *d, struct err *e)
{
    const struct transition_command *says = &cmd->transition;
    if (decide_check_reason(cmd->reason ? cmd->reason : "", e) < 0)
        return -EINVAL;
    switch (says->what) {
    case BY_HAND_REPAIRED: return human_intervention(c, cmd, m, d, e);
    case BY_HAND_DRAIN: return manual_drain(c, cmd, m, says->deadline_s, d, e);
    case BY_HAND_QUARANTINE: return put_away(c, cmd, m, STEP_QUARANTINE, d, e);
    case BY_HAND_RETIRE: return put_away(c, cmd, m, STEP_RETIRED, d, e);
    case BY_HAND_MAINTENANCE: return set_maintenance(cmd, m, false, d, e);
    case BY_HAND_RESTART: return set_maintenance(cmd, m, true, d, e);
    case BY_HAND_MAINTENANCE_OVER: return end_maintenance(cmd, m, d);
    case BY_HANDS: break;
    }
    return -EINVAL;
}

/* --- the work queue --------------------------------------------------------------------------- */

static int check_take(const struct member *m, const struct repair *r, const struct command *cmd, bool take,
                      struct err *e)
{
    if (r->step != STEP_QUEUE)
        return refuse_step(m, "only a node in the work queue can be taken", e);
    if (take && r->taken_by && strcmp(r->taken_by, cmd->actor) != 0)
        return err_set(e, -EBUSY, "node \"%s\" was taken by %s", m->name, r->taken_by);
    return 0;
}

static int decide_note(const struct cluster *c, const struct command *cmd, struct member *m,
                       struct decision *d, struct err *e)
{
    const struct repair *is = member_repair(m);
    bool has_note = cmd->reason && *cmd->reason, has_take = cmd->ticket.what != TICKET_STAYS,
         take = cmd->ticket.what == TICKET_TAKEN;
    if (decide_check_note(cmd, e) < 0)
        return -EINVAL;
    if (!is)
        return refuse_step(m, "nothing to take or note", e);
    if (!has_note && !has_take)
        return err_set(e, -EINVAL, "nothing to note");
    int rc = has_take ? check_take(m, is, cmd, take, e) : 0;
    if (rc < 0)
        return rc;
    bool retakes = has_take && take == (is->taken_by != NULL);
    if (retakes && !has_note)
        return 0;
    struct repair r;
    repair_copy(&r, is);
    if (has_take) {
        free(r.taken_by);
        r.taken_by = take ? mem_dup(cmd->actor) : NULL;
    }
    if (has_note)
        repair_note(&r, cmd, cmd->reason);
    repair_put(m, &r, d);
    repair_fini(&r);
    decide_ticket_say(d, m, !has_take || retakes ? "noted" : take ? "taken" : "given back", cmd->reason);
    return 0;
}

/* --- approval --------------------------------------------------------------------------------- */

static void decide_ticket_sign(struct repair *r, const struct command *cmd)
{
    struct text t = {0};
    text_add(&t, cmd->actor);
    if (cmd->reason && *cmd->reason)
        text_printf(&t, ": %s", cmd->reason);
    free(r->approver);
    r->approver = text_take(&t);
}

static int refuse_remedy(const struct cluster *c, const struct command *cmd, const struct member *m,
                         struct repair *r, struct decision *d, struct err *e)
{
    CLEANUP_TEXT struct text why = {0};
    text_printf(&why, "%s refused %s", cmd->actor, r->remedy);
    if (cmd->reason && *cmd->reason)
        text_printf(&why, ": %s", cmd->reason);
    int rc = repair_leave(c, m, r, cmd->at, true, d, e);
    if (rc < 0)
        return rc;
    if (why.len > REASON_BYTES_MAX) { /* the comment alone is that long at most */
        text_clear(&why);
        text_add(&why, cmd->reason);
    }
    repair_enter(r, STEP_QUEUE, cmd->at, 0, why.s);
    r->approval = APPROVAL_REFUSED;
    decide_ticket_sign(r, cmd);
    return 0;
}

static int decide_approval(const struct cluster *c, const struct command *cmd, struct member *m,
                           struct decision *d, struct err *e)
{
    const struct repair *is = member_repair(m);
    const char *remedy = cmd->approval.remedy;
    bool gives = cmd->kind == COMMAND_REPAIR_APPROVE;
    if (decide_check_note(cmd, e) < 0)
        return -EINVAL;
    if (!is || (is->step != STEP_REMEDY && is->step != STEP_REPLACE))
        return refuse_step(m, "no remedy waits for approval", e);
    if (remedy && strcmp(remedy, is->remedy) != 0)
        return err_set(e, -EBUSY, "the remedy of node \"%s\" is %s by now", m->name, is->remedy);
    if (gives && is->approval == APPROVAL_GIVEN)
        return 0;
    if (is->approval != APPROVAL_WANTED)
        return err_set(e, -EBUSY, "%s on node \"%s\" waits for nobody's approval", is->remedy, m->name);
    struct repair r;
    repair_copy(&r, is);
    int rc = 0;
    if (gives) {
        r.approval = APPROVAL_GIVEN;
        repair_restart(&r, cmd->at);
        decide_ticket_sign(&r, cmd);
    } else {
        rc = refuse_remedy(c, cmd, m, &r, d, e);
    }
    if (rc == 0) {
        CLEANUP_TEXT struct text said = {0};
        memcpy(d->fields.remedy, is->remedy, sizeof d->fields.remedy);
        if (!gives)
            entry_fields_move(&d->fields, is->step, STEP_EVENT_REFUSED, r.step);
        text_printf(&said, "%s %s", is->remedy, gives ? "approved" : "refused");
        repair_put(m, &r, d);
        decide_ticket_say(d, m, said.s, cmd->reason);
    }
    repair_fini(&r);
    return rc;
}

/* --- switches --------------------------------------------------------------------------------- */

static int decide_switch(const struct cluster *c, const struct command *cmd, struct decision *d,
                         struct err *e)
{
    const char *name = cmd->switched.name;
    bool on = cmd->switched.on;
    if (!switch_known(name))
        return err_set(e, -EINVAL, "\"%.40s\" is no switch: stop, latch", name);
    if (on ? decide_check_reason(cmd->reason ? cmd->reason : "", e) < 0 : decide_check_note(cmd, e) < 0)
        return -EINVAL;
    if (on == (cluster_switch(c, name) != NULL))
        return 0;
    decision_add(d, "switch/", name, on ? switch_record(cmd->actor, cmd->at, cmd->reason) : NULL);
    if (!on && c->n_isolated && strcmp(name, "latch") == 0)
        decision_add(d, "surge/", "isolated", NULL); /* what tripped it does not count any more */
    struct text t = {0};
    text_printf(&t, "%s %s", name, on ? "on" : "off");
    if (cmd->reason && *cmd->reason)
        text_printf(&t, ": %s", cmd->reason);
    d->text = text_take(&t);
    return 0;
}

int decide_ticket(const struct cluster *c, const struct command *cmd, struct decision *d, struct err *e)
{
    struct member *m;
    if (cmd->kind == COMMAND_SWITCH)
        return decide_switch(c, cmd, d, e);
    int rc = decide_one(c, cmd, &m, e);
    if (rc < 0)
        return rc;
    if (cmd->kind == COMMAND_TRANSITION)
        return decide_transition(c, cmd, m, d, e);
    if (cmd->kind == COMMAND_ANSWER)
        return decide_answer(c, cmd, m, d, e);
    if (cmd->kind == COMMAND_TICKET)
        return decide_note(c, cmd, m, d, e);
    return decide_approval(c, cmd, m, d, e);
}
