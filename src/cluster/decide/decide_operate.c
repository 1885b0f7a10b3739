/* SPDX-License-Identifier: Apache-2.0 */
/* OPERATE: an operation of a repair's step is wanted, as a record of the outbox. */
#include "cluster/decide/decide.h"

#include "node/action.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool applies_remedy(enum step s)
{
    return s == STEP_REMEDY || s == STEP_REPLACE || s == STEP_TEND;
}

static bool action_fits(enum action_kind kind, enum step step)
{
    if (kind == ACTION_FORGET)
        return step == STEP_PROVISION || step == STEP_QUEUE;
    if (kind == ACTION_CHECK)
        return step == STEP_EXAMINE;
    return kind == ACTION_WORK ? step == STEP_ISOLATE : applies_remedy(step) || step == STEP_WIPE;
}

static int check_wish(const struct operate_command *w, struct err *e)
{
    if (strlen(w->run) > RUN_BYTES_MAX || !text_is_clean(w->run) || !text_is_clean(w->of))
        return err_set(e, -EINVAL, "run: more than %d bytes, or a control character", RUN_BYTES_MAX);
    if (*w->run == '\0' || *w->of == '\0')
        return err_set(e, -EINVAL, "nothing to do");
    if (!action_fits(action_of(w->run).kind, w->step))
        return err_set(e, -EINVAL, "\"%.80s\" is not done in step %s", w->run, step_name(w->step));
    if (w->n_ran > CHECKS_MAX || (w->n_ran && w->step != STEP_EXAMINE))
        return err_set(e, -EINVAL, "%zu checks ran in step %s", w->n_ran, step_name(w->step));
    for (size_t i = 0; i < w->n_ran; i++)
        if (*w->ran[i].check == '\0' || !text_is_clean(w->ran[i].check) || w->ran[i].result >= RESULTS)
            return err_set(e, -EINVAL, "check %zu that ran has no name or result", i + 1);
    return decide_check_boot(w->boot, e);
}

/* The conditions for any operation on the node. */
static int check_operation(const struct cluster *c, const struct member *m, const struct repair *r,
                           const struct operate_command *w, struct wall at, struct err *e)
{
    CLEANUP_OPERATION struct operation o = {0};
    cluster_operation(c, m, &o);
    bool again = w->step == STEP_EXAMINE && operation_has_ended(o.state); /* one check after another */
    bool standing = o.state && !again;
    const char *stop = cluster_switch(c, "stop");
    if (power_stands(c, m))
        return err_set(e, -EBUSY, "a person's power command for node \"%s\" is under way", m->name);
    if (standing)
        return err_set(e, -EBUSY, "an operation on node \"%s\" stands already", m->name);
    if (!m->listed)
        return err_set(e, -EBUSY, "node \"%s\" is in no configuration file", m->name);
    if (r->boot[0] && strcmp(r->boot, w->boot) != 0)
        return err_set(e, -EBUSY, "node \"%s\" has booted since this step began", m->name);
    if (action_of(w->run).kind == ACTION_FORGET)
        return 0; /* nothing is done to the node */
    if (stop)
        return err_set(e, -EBUSY, "all remedies are stopped by %s", stop);
    if (r->manual)
        return err_set(e, -EBUSY, "node \"%s\" was drained by hand: nothing is done to it", m->name);
    if (r->approval == APPROVAL_WANTED || r->approval == APPROVAL_REFUSED)
        return err_set(e, -EBUSY, "%s on node \"%s\" is not approved", r->remedy, m->name);
    if ((w->step == STEP_REMEDY || w->step == STEP_TEND || w->step == STEP_WIPE) &&
        strcmp(r->remedy, w->of) != 0)
        return err_set(e, -EBUSY, "the remedy of node \"%s\" is %s", m->name, r->remedy);
    return applies_remedy(w->step) ? decide_check_week(c, m, r, at, e) : 0;
}

static bool is_among(const char *const *words, size_t n, const char *word)
{
    size_t i = 0;
    while (i < n && strcmp(words[i], word) != 0)
        i++;
    return i < n;
}

/* The faults of its open incidents, the worst first, with commas between; as many as fit. */
static void say_faults(const struct member *m, char out[static FAULT_BYTES_MAX + 1])
{
    const struct ailment *a = member_ailment(m);
    const char *said[INCIDENTS_OPEN_MAX];
    size_t n = 0;
    CLEANUP_TEXT struct text t = {0};
    for (int severity = RESULTS - 1; severity > RESULT_OK; severity--) {
        for (size_t i = 0; a && i < a->n_open; i++) {
            const char *fault = finding_fault(&a->open[i].findings[0]);
            if (a->open[i].observe || (int)a->open[i].severity != severity || is_among(said, n, fault) ||
                t.len + (t.len > 0) + strlen(fault) > FAULT_BYTES_MAX)
                continue;
            text_printf(&t, "%s%s", t.len ? "," : "", fault);
            said[n++] = fault;
        }
    }
    memcpy(out, t.len ? t.s : "", t.len + 1);
}

static char *operation_record(const struct command *cmd, const struct repair *r,
                              const struct operate_command *w)
{
    struct text t = {0};
    text_add(&t, "{\"id\":");
    text_add_json(&t, cmd->claim);
    text_add(&t, ",\"run\":");
    text_add_json(&t, w->run);
    text_add(&t, ",\"of\":");
    text_add_json(&t, w->of);
    text_printf(&t, ",\"boot\":\"%s\",\"instance\":\"%llx\",\"deadline\":\"%lld\",\"done\":null}", w->boot,
                (unsigned long long)r->instance, (long long)deadline_after(cmd->at, w->deadline_s).ns);
    return text_take(&t);
}

/* The sentence of the journal and the stream: everybody reads these, and a command is for administrators. */
static char *operation_words(const struct operate_command *w)
{
    struct text t = {0};
    text_printf(&t, "%s: %.256s", w->of,
                !action_is_shell(action_of(w->run)) ? w->run
                : remedy_way(w->run) == WAY_AGENT   ? "a command on the node"
                                                    : "a command on the controller");
    return text_take(&t);
}

int decide_operate(const struct cluster *c, const struct command *cmd, struct decision *d, struct err *e)
{
    const struct operate_command *w = &cmd->operate;
    struct member *m;
    int rc = decide_one(c, cmd, &m, e);
    if (rc == 0)
        rc = check_wish(w, e);
    if (rc < 0)
        return rc;
    const struct repair *is = member_treated(m);
    rc = repair_check_at(m, is, w->id, w->step, e);
    if (rc == 0)
        rc = check_operation(c, m, is, w, cmd->at, e);
    if (rc < 0)
        return rc;
    struct repair r;
    char faults[FAULT_BYTES_MAX + 1];
    repair_copy(&r, is);
    assert(cmd->claim && strlen(cmd->claim) <= CLAIM_ID_BYTES_MAX);
    memcpy(r.operation, cmd->claim, strlen(cmd->claim) + 1);
    if (w->step == STEP_EXAMINE)
        repair_take_ran(&r, w->ran, w->n_ran);
    say_faults(m, faults);
    if (applies_remedy(w->step) || w->step == STEP_WIPE)
        memcpy(d->fields.remedy, w->of, sizeof w->of);
    if (applies_remedy(w->step))
        memcpy(attempt_add(&r, cmd->at, w->of, faults)->boot, w->boot, sizeof w->boot);
    decision_add(d, OPERATE_KEY, m->name, operation_record(cmd, &r, w));
    repair_put(m, &r, d);
    repair_fini(&r);
    hostlist_add(&d->changed, m->name);
    d->text = operation_words(w);
    return 0;
}
