/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which machine has a name: recorded when it is known, with what follows when it is another machine. A
 * machine under an old name inherits nothing, and passes every check before it takes work. A person's
 * decision about the name stays: the node waits where the person put it, with a note.
 *
 * A machine on which an unverified remedy may have been carried out is examined as after a remedy: because
 * it had the name before and may have left in the middle of its repair, whose memory went with it; or
 * because a driver acted on whichever machine was there.
 */
#include "cluster/decide/decide.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* --- MACHINE ---------------------------------------------------------------------------------- */

/* The machine that is recorded stays, since INSTANCE says that another one has the name; but a surer name of
 * the one that is recorded as `was` takes its place. */
static int note_machine(const struct command *cmd, const struct member *m, const struct machine_news *news,
                        struct decision *d, struct err *e)
{
    struct machine_record i = {.since = cmd->at};
    if (!machine_name_ok(news->machine))
        return err_set(e, -EINVAL, "node \"%s\": no name of a machine", m->name);
    if (m->machine) {
        if (strcmp(m->machine->machine, news->was) != 0)
            return 0;
        i = *m->machine;
    }
    if (strcmp(i.machine, news->machine) == 0)
        return 0;
    memcpy(i.machine, news->machine, sizeof i.machine);
    decision_add(d, "machine/", m->name, machine_record_write(&i));
    hostlist_add(&d->changed, m->name);
    return 0;
}

int decide_machine(const struct cluster *c, const struct command *cmd, size_t from, struct decision *d,
                   struct err *e)
{
    const struct machine_command *says = &cmd->machine;
    assert(says->n == cmd->nodes->n);
    for (size_t i = from; i < cmd->nodes->n && d->n_ops < OPS_MAX; i++) {
        const struct member *m = cluster_find(c, cmd->nodes->names[i]);
        d->next = i + 1;
        if (m && m->listed && note_machine(cmd, m, &says->machines[i], d, e) < 0)
            return -EINVAL;
    }
    if (d->n_ops)
        d->text = mem_dup("the identity of the machine is known");
    return 0;
}

/* --- INSTANCE --------------------------------------------------------------------------------- */

struct instance {
    const struct instance_command *says;
    struct repair_wish wish;
};

static int check_instance(const struct instance_command *says, struct instance *x, struct err *e)
{
    *x = (struct instance){.says = says,
                           .wish = {.step = says->examine ? STEP_EXAMINE : STEP_PROVISION,
                                    .problem = "new_instance",
                                    .instance = says->instance,
                                    .deadline_s = says->deadline_s}};
    memcpy(x->wish.boot, says->boot, sizeof x->wish.boot);
    if (!machine_name_ok(says->is) || strcmp(says->is, says->was) == 0)
        return err_set(e, -EINVAL, "\"%.80s\" is no other machine than \"%.80s\"", says->is, says->was);
    return decide_check_boot(says->boot, e);
}

/* Steps into which a person put the node, from which nothing follows. */
static bool decide_machine_stays(const struct instance *x, const struct repair *r)
{
    return !x->says->act || r->manual || r->step == STEP_QUEUE || r->step == STEP_QUARANTINE ||
           r->step == STEP_RETIRED;
}

/* The repair that is under way begins again, or waits for its person. */
static int go_on(const struct cluster *c, const struct command *cmd, const struct member *m,
                 const struct instance *x, const char *why, struct text *said, struct decision *d,
                 struct err *e)
{
    struct repair r;
    repair_copy(&r, member_repair(m));
    int rc = 0;
    if (decide_machine_stays(x, &r)) {
        repair_forget(&r, x->says->keep, x->says->n);
        repair_note(&r, cmd, why);
        text_printf(said, "; it stays at %s", step_name(r.step));
    } else {
        text_printf(said, "; %s -> %s", step_name(r.step), step_name(x->wish.step));
        entry_fields_move(&d->fields, r.step, STEP_EVENT_MACHINE, x->wish.step);
        rc = repair_leave(c, m, &r, cmd->at, true, d, e);
        repair_forget(&r, x->says->keep, x->says->n);
        repair_forget_notes(&r);
        repair_enter(&r, x->wish.step, cmd->at, x->wish.deadline_s, why);
        memcpy(r.problem, x->wish.problem, sizeof r.problem);
        r.came_up = false; /* its name was in service */
        memcpy(r.boot, x->wish.boot, sizeof r.boot);
        r.instance = x->wish.instance;
    }
    if (rc == 0)
        repair_put(m, &r, d);
    repair_fini(&r);
    return rc;
}

/* None is under way: one begins, for a node that is in service. */
static void decide_machine_begin(const struct cluster *c, const struct command *cmd, struct member *m,
                                 struct instance *x, const char *why, struct text *said, struct decision *d)
{
    struct repair r = {0};
    if (member_repairs(m))
        repair_copy(&r, member_repairs(m));
    if (r.step == STEP_TEND) { /* it was applied to the machine before */
        repair_leave(c, m, &r, cmd->at, true, d, NULL);
        repair_enter(&r, STEP_NONE, cmd->at, 0, why);
    }
    repair_forget(&r, x->says->keep, x->says->n);
    repair_forget_notes(&r);
    x->wish.why = why;
    if (x->says->act && m->listed && m->admitted) {
        entry_fields_move(&d->fields, repair_step_of(m), STEP_EVENT_MACHINE, x->wish.step);
        repair_begin_with(cmd, m, &x->wish, &r, d);
        text_printf(said, "; %s (claim %s)", step_name(x->wish.step), cmd->claim);
    } else if (member_repairs(m)) {
        repair_put(m, &r, d);
    }
    repair_fini(&r);
}

int decide_instance(const struct cluster *c, const struct command *cmd, struct decision *d, struct err *e)
{
    struct member *m;
    struct instance x;
    const struct instance_command *says = &cmd->instance;
    int rc = decide_one(c, cmd, &m, e);
    if (rc == 0)
        rc = check_instance(says, &x, e);
    if (rc < 0)
        return rc;
    const struct repair *r = member_repair(m);
    if (m->machine && strcmp(m->machine->machine, says->is) == 0)
        return 0;
    if (!m->machine || strcmp(m->machine->machine, says->was) != 0)
        return err_set(e, -EBUSY, "node \"%s\" was no machine with %s", m->name, says->was);
    if (r && r->step == STEP_REPLACE)
        return err_set(e, -EBUSY, "node \"%s\" is being replaced", m->name);
    if (operation_begun_outside(c, m)) /* it may be done to the machine that is there now */
        return err_set(e, -EBUSY, "an operation on node \"%s\" has begun, and its end is not known yet",
                       m->name);
    if (machine_restless(m->machine, says->is, cmd->at))
        return err_set(e, -EBUSY, "node \"%s\" was another machine too often of late", m->name);
    struct machine_record now = *m->machine;
    CLEANUP_TEXT struct text why = {0}, said = {0};
    machine_record_change(&now, says->is, cmd->at);
    decision_add(d, "machine/", m->name, machine_record_write(&now));
    text_printf(&why, "another machine has its name: %s, before it %s", says->is, says->was);
    text_add(&said, why.s);
    forget_ailment(m, "another machine", &said, d);
    if (r)
        rc = go_on(c, cmd, m, &x, why.s, &said, d, e);
    else
        decide_machine_begin(c, cmd, m, &x, why.s, &said, d);
    if (rc < 0)
        return rc;
    hostlist_add(&d->changed, m->name);
    d->text = text_take(&said);
    return 0;
}
