/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The steps of a repair as the watch proposes them, and their operations.
 *
 * A proposal names the step that it leaves, so a late or repeated proposal changes nothing. An operation is
 * a record of the outbox and goes with its step. An operation that has begun is not forgotten: the step
 * stands until its result comes, or a person ends it.
 */
#include "cluster/decide/decide.h"

#include "node/action.h"
#include "product/product.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAID_BYTES_MAX = 900 /* the bytes of the journal's sentence */ };

/* --- a repair is changed ---------------------------------------------------------------------- */

static bool problem_ok(const char *problem)
{
    return *problem && strspn(problem, "abcdefghijklmnopqrstuvwxyz_") == strlen(problem);
}

int repair_wish_check(const struct repair_wish *w, struct err *e)
{
    if (decide_check_clause("why", w->why, e) < 0)
        return -EINVAL;
    return !*w->problem || problem_ok(w->problem)
               ? 0
               : err_set(e, -EINVAL, "\"%s\" is no kind of problem", w->problem);
}

enum step repair_step_of(const struct member *m)
{
    const struct repair *r = member_treated(m);
    return r ? r->step : STEP_NONE;
}

/* A person's word that something was put right stands here. */
static bool step_has_answer(enum step s)
{
    return s == STEP_QUEUE || s == STEP_PROVISION;
}

/* Everything that belongs to one step begins again. Findings that a person put right in the queue stay so
 * on the way back, and in the queue again unless they came back in time. */
void repair_enter(struct repair *r, enum step to, struct wall at, uint64_t deadline_s, const char *why)
{
    assert(to < STEPS && step_may(r->step, to));
    char *reason = mem_dup(why);
    if (!step_has_answer(r->step) || !step_has_answer(to))
        answer_fini(&r->answer);
    free(r->why);
    r->why = reason;
    r->step = to;
    r->since = at;
    r->deadline = deadline_after(at, deadline_s);
    r->remedy[0] = r->operation[0] = '\0';
    r->approval = APPROVAL_NONE;
    r->shared = false;
    repair_take_ran(r, NULL, 0);
    free(STEAL(r->approver));
    if (to != STEP_QUEUE)
        free(STEAL(r->taken_by));
}

void repair_restart(struct repair *r, struct wall at)
{
    if (r->deadline.ns)
        r->deadline.ns += at.ns - r->since.ns;
    r->since = at;
}

static void repair_claim(const struct command *cmd, struct member *m, const struct repair *r,
                         struct decision *d)
{
    const struct named nodes = {1, &m};
    CLEANUP_FREE char *reason = claim_reason_of(r->problem, r->why);
    decide_claim(d, cmd, CLAIM_REPAIR, reason, &nodes);
}

/* A remedy that was begun while m was in service comes to its end in the repair that begins; one that waits
 * is not wanted any more. */
static void take_over(const struct cluster *c, const struct command *cmd, const struct member *m,
                      struct repair *r, struct decision *d)
{
    if (!operation_begun(c, m))
        repair_leave(c, m, r, cmd->at, false, d, NULL);
}

void repair_begin(const struct cluster *c, const struct command *cmd, struct member *m,
                  const struct repair_wish *w, struct decision *d)
{
    struct repair before = {0};
    if (member_repairs(m))
        repair_copy(&before, member_repairs(m));
    if (before.step == STEP_TEND)
        take_over(c, cmd, m, &before, d);
    repair_begin_with(cmd, m, w, &before, d);
    repair_fini(&before);
}

void repair_begin_with(const struct command *cmd, struct member *m, const struct repair_wish *w,
                       const struct repair *before, struct decision *d)
{
    assert(w->step < STEPS && w->why);
    assert(!member_repair(m));
    struct repair r;
    const struct repair tried = {.attempts = before->attempts, .n_attempts = before->n_attempts};
    repair_copy(&r, &tried);
    memcpy(r.id, cmd->claim, strlen(cmd->claim) + 1);
    memcpy(r.boot, w->boot, sizeof r.boot);
    memcpy(r.problem, w->problem, sizeof r.problem);
    if (!*r.problem)
        snprintf(r.problem, sizeof r.problem, "%s", w->step == STEP_PROVISION ? "provision" : "node_problem");
    r.instance = w->instance;
    r.began = cmd->at;
    r.manual = w->manual;
    r.came_up = strcmp(r.problem, "provision") == 0;
    repair_enter(&r, w->step, cmd->at, w->deadline_s, w->why);
    memcpy(r.operation, before->operation, sizeof r.operation);
    if (w->remedy)
        memcpy(r.remedy, w->remedy, strlen(w->remedy) + 1);
    if (w->manual)
        repair_note(&r, cmd, w->why);
    if (step_then(STEP_NONE, w->step) == STEP_THEN_CLAIM)
        repair_claim(cmd, m, &r, d);
    decision_add(d, "repair/", m->name, repair_record(&r));
    decision_about(d, ENTRY_REPAIRS, r.id);
    repair_fini(&r);
}

void repair_note(struct repair *r, const struct command *cmd, const char *text)
{
    if (r->n_notes == NOTES_KEPT_MAX) {
        free(r->notes[0].by);
        free(r->notes[0].text);
        memmove(r->notes, r->notes + 1, --r->n_notes * sizeof *r->notes);
    }
    r->notes = mem_grow(r->notes, (r->n_notes + 1) * sizeof *r->notes);
    r->notes[r->n_notes++] = (struct note){cmd->at, mem_dup(cmd->actor), mem_dup(text)};
}

/* One that is over, and in which nothing was tried, is not remembered. */
void repair_put(const struct member *m, const struct repair *r, struct decision *d)
{
    bool forget = r->step == STEP_NONE && r->n_attempts == 0 && r->n_notes == 0;
    decision_add(d, "repair/", m->name, forget ? NULL : repair_record(r));
    decision_about(d, ENTRY_REPAIRS, r->id);
    decision_about(d, ENTRY_OPERATIONS, r->operation);
}

/* The node is in service from now on: its claim goes, and the same commit records the boot on which it was
 * put there. An unknown boot proves nothing: the boot on record stays, and a node that was never in service
 * stays out until it is heard (ADR 0022). */
static void repair_end(const struct cluster *c, const struct command *cmd, const struct member *m,
                       const struct repair *r, struct decision *d)
{
    const struct claim *claim = cluster_claim(c, r->id);
    if (claim && claim->kind == CLAIM_REPAIR)
        decision_add(d, "claim/", claim->id, NULL);
    const char *boot = *r->boot ? r->boot : m->boot;
    if (m->listed && *boot && (!m->admitted || strcmp(m->boot, boot) != 0))
        decision_add(d, "node/", m->name, node_record(m->admitted ? m->admitted_at : cmd->at, boot));
}

/* --- attempts --------------------------------------------------------------------------------- */

static struct attempt_record *attempt_open(struct repair *r)
{
    struct attempt_record *last = r->n_attempts ? &r->attempts[r->n_attempts - 1] : NULL;
    return last && last->ended.ns == 0 ? last : NULL;
}

struct attempt_record *attempt_add(struct repair *r, struct wall at, const char *remedy, const char *fault)
{
    assert(strlen(remedy) < sizeof r->attempts->remedy && strlen(fault) < sizeof r->attempts->fault);
    assert(r->n_attempts <= ATTEMPTS_KEPT_MAX);
    if (r->n_attempts == ATTEMPTS_KEPT_MAX) {
        free(r->attempts[0].text);
        memmove(r->attempts, r->attempts + 1, --r->n_attempts * sizeof *r->attempts);
    }
    r->attempts = mem_grow(r->attempts, (r->n_attempts + 1) * sizeof *r->attempts);
    struct attempt_record *a = &r->attempts[r->n_attempts++];
    *a = (struct attempt_record){.at = at, .verdict = '?', .text = mem_dup("")};
    memcpy(a->remedy, remedy, strlen(remedy) + 1);
    memcpy(a->fault, fault, strlen(fault) + 1);
    return a;
}

static void attempt_end(struct attempt_record *a, struct wall at, bool done, const char *text, char verdict)
{
    free(a->text);
    a->text = mem_line(text, REASON_BYTES_MAX);
    a->ended = at;
    a->done = done;
    a->verdict = verdict;
}

void repair_disown(struct repair *r)
{
    for (size_t i = 0; i < r->n_attempts; i++)
        if (r->attempts[i].verdict == '?' && r->attempts[i].at.ns >= r->began.ns)
            r->attempts[i].verdict = '0';
}

/* --- operations ------------------------------------------------------------------------------- */

/* The operation's record, about an attempt that has not ended. */
static void attempt_end_by(struct attempt_record *a, const struct operation *o, struct wall at)
{
    if (!operation_was_begun(o->state))
        a->boot[0] = '\0';
    if (o->state == OPERATION_BEGUN)
        attempt_end(a, at, false, "given up when it had begun: its outcome is not known", '0');
    else if (o->state == OPERATION_DONE)
        attempt_end(a, at, true, o->text, '?');
    else if (o->state == OPERATION_FAILED)
        attempt_end(a, at, false, o->text, '-');
    else if (operation_has_ended(o->state))
        attempt_end(a, at, false, o->text, '0');
    else
        attempt_end(a, at, false, "not begun", '0');
}

int repair_leave(const struct cluster *c, const struct member *m, struct repair *r, struct wall at,
                 bool by_person, struct decision *d, struct err *e)
{
    assert(r->step != STEP_NONE);
    CLEANUP_OPERATION struct operation o = {0};
    cluster_operation(c, m, &o);
    bool only_asks = action_of(o.run).effect == ACTION_ASKS; /* nothing is left undone by it */
    if (o.state == OPERATION_BEGUN && !by_person && !only_asks)
        return err_set(e, -EBUSY, "an operation on node \"%s\" has begun, and its end is not known yet",
                       m->name);
    struct attempt_record *a = attempt_open(r);
    if (a)
        attempt_end_by(a, &o, at);
    if (o.state)
        decision_add(d, OPERATE_KEY, m->name, NULL);
    r->operation[0] = '\0';
    return 0;
}

/* --- REPAIR ----------------------------------------------------------------------------------- */

static int check_machine(const struct repair_command *v, struct err *e)
{
    if (*v->machine && !machine_name_ok(v->machine))
        return err_set(e, -EINVAL, "\"%.80s\" tells no machine from another", v->machine);
    if (v->renewed && (v->from != STEP_REPLACE || (v->to != STEP_PROVISION && v->to != STEP_EXAMINE)))
        return err_set(e, -EINVAL, "a node is not replaced from %s to %s", step_name(v->from),
                       step_name(v->to));
    return 0;
}

static struct repair_wish move_wish(const struct repair_command *v)
{
    struct repair_wish w = {.step = v->to,
                            .why = v->why,
                            .instance = v->instance,
                            .deadline_s = v->deadline_s,
                            .remedy = v->to == STEP_TEND || v->to == STEP_WIPE ? v->remedy : NULL};
    memcpy(w.problem, v->problem, sizeof w.problem);
    if (v->to != STEP_WIPE) /* whatever it booted meanwhile, it is wiped */
        memcpy(w.boot, v->boot, sizeof w.boot);
    return w;
}

/* Whether it may be so at all, wherever the repair is. */
static int check_move(const struct repair_command *v, struct err *e)
{
    const struct repair_wish w = move_wish(v);
    int rc = repair_wish_check(&w, e);
    if (rc == 0)
        rc = decide_check_boot(v->boot, e);
    if (rc == 0)
        rc = check_machine(v, e);
    if (rc < 0)
        return rc;
    if (step_event_is_persons(v->event) || !step_may_by(v->from, v->event, v->to))
        return err_set(e, -EINVAL, "event \"%s\" leads no repair from %s to %s by itself",
                       step_event_name(v->event), step_name(v->from), step_name(v->to));
    if ((v->to == STEP_REMEDY || v->to == STEP_TEND) && *v->remedy == '\0')
        return err_set(e, -EINVAL, "no remedy is named");
    return 0;
}

static void take_attempt(const struct attempt_news *news, struct wall at, struct repair *r)
{
    struct attempt_record *a = attempt_open(r);
    if (!a || strcmp(a->remedy, news->remedy) != 0)
        a = attempt_add(r, at, news->remedy, news->fault);
    if (*news->fault)
        memcpy(a->fault, news->fault, sizeof news->fault);
    attempt_end(a, at, news->done, news->text, news->verdict);
    if (news->verdict == '0')
        a->boot[0] = '\0';
    a->refusal = news->refusal;
}

static void take_examined(const struct repair_command *v, struct repair *r)
{
    if (v->examined == EXAMINED_NOT) {
        repair_owe(r, v->to);
        return;
    }
    r->examined = v->examined;
    r->inconclusive = v->inconclusive;
}

void repair_forget(struct repair *r, const struct remedy_name *keep, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < r->n_attempts; i++) {
        bool stays = false;
        for (size_t k = 0; k < n; k++)
            stays = stays || strcmp(r->attempts[i].remedy, keep[k].name) == 0;
        if (stays)
            r->attempts[kept++] = r->attempts[i];
        else
            free(r->attempts[i].text);
    }
    r->n_attempts = kept;
    r->examined = EXAMINED_NOT;
    r->inconclusive = 0;
}

void repair_forget_notes(struct repair *r)
{
    for (size_t i = 0; i < r->n_notes; i++) {
        free(r->notes[i].by);
        free(r->notes[i].text);
    }
    r->n_notes = 0;
}

void forget_ailment(const struct member *m, const char *how, struct text *said, struct decision *d)
{
    const struct ailment *a = member_ailment(m);
    if (a)
        decision_add(d, "health/", m->name, NULL);
    if (member_maintenance(m))
        decision_add(d, "maintenance/", m->name, NULL);
    override_end(m, how, said, d);
    for (size_t i = 0; a && i < a->n_open; i++) {
        decision_about(d, ENTRY_INCIDENTS, a->open[i].id);
        if (said->len < SAID_BYTES_MAX)
            text_printf(said, "; closed %s: %s", a->open[i].id, how);
    }
}

/* A replacement of Fettle's own came: which machine it is, and which it was, is written down when it is
 * known. */
static void forget_machine(const struct member *m, const char *machine, struct wall at, struct repair *r,
                           struct text *said, struct decision *d)
{
    struct remedy_name keep;
    memcpy(keep.name, r->remedy, sizeof keep.name);
    repair_forget(r, &keep, 1);
    repair_forget_notes(r);
    forget_ailment(m, "replaced", said, d);
    if (!m->machine || (machine && strcmp(m->machine->machine, machine) == 0))
        return;
    struct machine_record now = *m->machine;
    if (machine)
        machine_record_change(&now, machine, at);
    decision_add(d, "machine/", m->name, machine ? machine_record_write(&now) : NULL);
}

void repair_owe(struct repair *r, enum step to)
{
    if (r->step == STEP_EXAMINE && to != STEP_EXAMINE)
        r->examined = EXAMINED_OWED;
}

/* The carrier's own word that the operation was carried out: nothing else confirms a wipe. */
static int confirm_wipe(const struct cluster *c, const struct command *cmd, const struct member *m,
                        const struct repair *r, struct decision *d, struct err *e)
{
    CLEANUP_OPERATION struct operation o = {0};
    cluster_operation(c, m, &o);
    if (!o.id || strcmp(o.id, r->operation) != 0 || o.state != OPERATION_DONE)
        return err_set(e, -EBUSY, "the wipe of node \"%s\" was not confirmed", m->name);
    if (member_unwiped(m)) /* else a person approved it meanwhile */
        decision_add(d, "wiped/", m->name, wiped_record(cmd->at, r->remedy, o.id));
    decision_about(d, ENTRY_OPERATIONS, o.id);
    return 0;
}

static int make_move(const struct cluster *c, const struct command *cmd, const struct member *m,
                     struct repair *r, struct text *gone, struct decision *d, struct err *e)
{
    const struct repair_command *v = &cmd->repair;
    if (v->attempt.verdict)
        take_attempt(&v->attempt, cmd->at, r);
    take_examined(v, r);
    int rc = v->from == STEP_WIPE && v->to == STEP_PROVISION ? confirm_wipe(c, cmd, m, r, d, e) : 0;
    if (rc == 0)
        rc = repair_leave(c, m, r, cmd->at, false, d, e);
    if (rc < 0)
        return rc;
    if (v->renewed)
        forget_machine(m, *v->machine ? v->machine : NULL, cmd->at, r, gone, d);
    repair_enter(r, v->to, cmd->at, v->deadline_s, v->why);
    if (*v->problem)
        memcpy(r->problem, v->problem, sizeof r->problem);
    if (*v->boot && v->to != STEP_WIPE)
        memcpy(r->boot, v->boot, sizeof r->boot);
    if (v->instance)
        r->instance = v->instance;
    if (step_then(v->from, v->to) == STEP_THEN_ORDER) {
        memcpy(r->remedy, v->remedy, sizeof r->remedy);
        r->approval = v->approval ? APPROVAL_WANTED : APPROVAL_NONE;
    }
    if (step_then(v->from, v->to) == STEP_THEN_RELEASE)
        repair_end(c, cmd, m, r, d);
    repair_put(m, r, d);
    return 0;
}

int repair_check_at(const struct member *m, const struct repair *r, const char *id, enum step step,
                    struct err *e)
{
    enum step is = r ? r->step : STEP_NONE;
    if (is != step || (r && strcmp(r->id, id) != 0))
        return err_set(e, -EBUSY, "the repair of node \"%s\" is at %s, and another one than meant", m->name,
                       step_name(is));
    return 0;
}

/* The result of the repair, or of the examination that it leaves. */
static enum entry_outcome move_outcome(const struct member *m, const struct repair *is,
                                       const struct repair_command *v)
{
    bool says = v->from == STEP_EXAMINE && v->examined != EXAMINED_NOT;
    if (v->from == STEP_WIPE && v->to != STEP_WIPE)
        return v->to == STEP_PROVISION ? ENTRY_OUTCOME_DONE : ENTRY_OUTCOME_FAILED;
    if (v->to != STEP_NONE || v->from == STEP_TEND)
        return says ? entry_outcome_find(examined_name(v->examined)) : ENTRY_OUTCOME_NONE;
    if (m->admitted)
        return ENTRY_OUTCOME_BACK;
    return *v->boot || *is->boot ? ENTRY_OUTCOME_FIRST : ENTRY_OUTCOME_UNHEARD;
}

static void note_move(const struct member *m, const struct repair *is, const struct repair_command *v,
                      struct decision *d)
{
    struct entry_fields *f = &d->fields;
    entry_fields_move(f, v->from, v->event, v->to);
    memcpy(f->remedy, v->remedy, sizeof v->remedy);
    f->cost = v->cost;
    f->outcome = move_outcome(m, is, v);
}

static void say_end(const struct member *m, enum entry_outcome outcome, const char *why, struct text *t)
{
    if (outcome == ENTRY_OUTCOME_UNHEARD) {
        text_printf(t, "its repair ends, and it was not heard yet: %s", why);
        return;
    }
    text_add(t, outcome == ENTRY_OUTCOME_BACK ? "back in service" : "in service");
    if (m->held_outside)
        text_printf(t, " when %s has taken its drain back", product_record(PRODUCT_HOLD)->product);
    text_printf(t, ": %s", why);
}

static void say_move(const struct command *cmd, const struct member *m, const struct text *gone,
                     struct decision *d)
{
    const struct repair_command *v = &cmd->repair;
    struct text t = {0};
    if (v->to == STEP_NONE && v->from != STEP_TEND)
        say_end(m, d->fields.outcome, v->why, &t);
    else if (v->from == STEP_NONE && v->to == STEP_TEND)
        text_printf(&t, "tend %s: %s", v->remedy, v->why);
    else if (v->from == STEP_NONE)
        text_printf(&t, "%s: %s (claim %s)", step_name(v->to), v->why, cmd->claim);
    else
        text_printf(&t, "%s -> %s%s%s: %s", step_name(v->from), step_name(v->to), *v->remedy ? " " : "",
                    v->remedy, v->why);
    if (gone->len)
        text_add(&t, gone->s);
    d->text = text_take(&t);
}

static void end_restart(const struct member *m, struct text *gone, struct decision *d)
{
    decision_add(d, "maintenance/", m->name, NULL);
    text_add(gone, "; maintenance is over: it was restarted");
}

/* Fettle takes it out of service. */
static int check_room(const struct cluster *c, struct member *m, struct err *e)
{
    const struct named one = {1, &m};
    int rc = decide_check_brakes(c, e);
    return rc < 0 ? rc : decide_check_budgets(c, &one, e);
}

/* The node is in service, and the move makes the claim that takes it out. */
static bool takes_out(const struct repair_command *v)
{
    return step_then(v->from, v->to) == STEP_THEN_CLAIM;
}

/* Whether the node, and what people said about it, allow the move. */
static int check_state(const struct cluster *c, struct member *m, const struct repair *is,
                       const struct repair_command *v, struct err *e)
{
    int rc = repair_check_at(m, is, v->id, v->from, e);
    if (rc < 0)
        return rc;
    if (is && is->manual && v->to != STEP_QUEUE && v->to != is->step)
        return err_set(e, -EBUSY, "node \"%s\" was drained by hand: it goes to the work queue", m->name);
    if (is && is->step == STEP_QUEUE && ((!is->shared && !member_was_lost(m)) || is->taken_by))
        return err_set(e, -EBUSY, "node \"%s\" waits for a person", m->name);
    if (!is && !m->listed)
        return err_set(e, -EBUSY, "node \"%s\" is in no configuration file", m->name);
    if (v->from == STEP_NONE && v->to == STEP_WIPE && !member_unwiped(m))
        return err_set(e, -EBUSY, "nobody released node \"%s\"", m->name);
    if (v->to == STEP_ISOLATE && takes_out(v) && check_room(c, m, e) < 0)
        return -EBUSY;
    if (v->to == STEP_TEND && (m->n_claims || !m->admitted || member_override(m)))
        return err_set(e, -EBUSY, "node \"%s\" is not in service, or a person has it", m->name);
    return 0;
}

static void begin_move(const struct cluster *c, const struct command *cmd, struct member *m,
                       struct text *gone, struct decision *d)
{
    const struct repair_wish w = move_wish(&cmd->repair);
    repair_begin(c, cmd, m, &w, d);
    d->takes_out = w.step == STEP_ISOLATE;
    if (w.step != STEP_TEND)
        override_end(m, "a repair begins", gone, d);
}

int decide_repair(const struct cluster *c, const struct command *cmd, struct decision *d, struct err *e)
{
    const struct repair_command *v = &cmd->repair;
    struct member *m;
    CLEANUP_TEXT struct text gone = {0};
    int rc = decide_one(c, cmd, &m, e);
    if (rc == 0)
        rc = check_move(v, e);
    if (rc < 0)
        return rc;
    const struct repair *is =
        v->from == STEP_TEND || v->to == STEP_TEND ? member_treated(m) : member_repair(m);
    rc = check_state(c, m, is, v, e);
    if (rc < 0)
        return rc;
    if (is && !takes_out(v)) {
        struct repair r;
        repair_copy(&r, is);
        rc = make_move(c, cmd, m, &r, &gone, d, e);
        repair_fini(&r);
    } else {
        begin_move(c, cmd, m, &gone, d);
    }
    if (rc < 0)
        return rc;
    if (v->restarted && !v->renewed && member_restarts(m))
        end_restart(m, &gone, d);
    hostlist_add(&d->changed, m->name);
    note_move(m, is, v, d);
    say_move(cmd, m, &gone, d);
    return 0;
}
