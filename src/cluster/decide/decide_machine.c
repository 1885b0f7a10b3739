/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which machine has a name: written down when it is known, and what follows when it is another one. A machine
 * that came under an old name inherits nothing, and passes every check before it takes work; but what a
 * person did with the name is the person's: it waits where it was put, with a note.
 *
 * One on which a remedy may have been carried out that nobody verified is examined as after a remedy: because
 * it had the name before, and may have gone in the middle of its repair, for what was known of it went with
 * it; or because a driver did something to whichever machine was there.
 */
#include "cluster/decide/decide.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* --- MACHINE ---------------------------------------------------------------------------------- */

/* {"machines":{NODE:{"machine","was"}}}. What is recorded stays, for that it is another machine is for
 * INSTANCE to say; but a surer name of the one that is recorded as `was` takes its place. */
static int note_machine(const struct command *cmd, const struct member *m, const json_t *o,
                        struct decision *d, struct err *e)
{
    const char *name = json_string_value(json_object_get(o, "machine"));
    const char *was = json_string_value(json_object_get(o, "was"));
    struct machine_record i = {.since = cmd->at};
    if (!name || !machine_name_ok(name))
        return err_set(e, -EINVAL, "node \"%s\": no name of a machine", m->name);
    if (m->machine) {
        if (!was || strcmp(m->machine->machine, was) != 0)
            return 0;
        i = *m->machine;
    }
    if (strcmp(i.machine, name) == 0)
        return 0;
    memcpy(i.machine, name, strlen(name) + 1);
    decision_add(d, "machine/", m->name, machine_record_write(&i));
    hostlist_add(&d->changed, m->name);
    return 0;
}

int decide_machine(const struct cluster *c, const struct command *cmd, size_t from, struct decision *d,
                   struct err *e)
{
    static const char *const keys[] = {"machines"};
    CLEANUP_JSON json_t *set = record_object(cmd->set, e);
    const json_t *all = json_object_get(set, "machines");
    if (!set || json_only_keys(set, keys, 1, e) < 0)
        return -EINVAL;
    if (!json_is_object(all))
        return err_set(e, -EINVAL, "\"machines\" is no object");
    for (size_t i = from; i < cmd->nodes->n && d->n_ops < OPS_MAX; i++) {
        const struct member *m = cluster_find(c, cmd->nodes->names[i]);
        const json_t *o = json_object_get(all, cmd->nodes->names[i]);
        d->next = i + 1;
        if (m && m->listed && o && note_machine(cmd, m, o, d, e) < 0)
            return -EINVAL;
    }
    if (d->n_ops)
        d->text = mem_dup("what tells the machine from another is known");
    return 0;
}

/* --- INSTANCE --------------------------------------------------------------------------------- */

struct instance {
    const char *was, *is;
    bool act, examine; /* examine: a remedy may have been carried out on it that nobody verified */
    struct repair_wish wish;
    const json_t *keep;
};

static int read_instance(const json_t *set, struct instance *x, struct err *e)
{
    static const char *const keys[] = {"was",  "is",       "act",        "examine",
                                       "boot", "instance", "deadline_s", "keep"};
    *x = (struct instance){.wish = {.problem = "new_instance"}};
    x->keep = json_object_get(set, "keep");
    if (json_only_keys(set, keys, 8, e) < 0 || json_take_string(set, "was", &x->was, e) < 0 ||
        json_take_string(set, "is", &x->is, e) < 0 || json_take_bool(set, "act", &x->act, e) < 0 ||
        json_take_bool(set, "examine", &x->examine, e) < 0 || record_boot(set, x->wish.boot, e) < 0 ||
        record_hex(set, "instance", &x->wish.instance, e) < 0 ||
        (json_object_get(set, "deadline_s") &&
         json_take_u64(set, "deadline_s", INT32_MAX, &x->wish.deadline_s, e) < 0))
        return -EINVAL;
    x->wish.step = x->examine ? STEP_EXAMINE : STEP_PROVISION;
    if (!machine_name_ok(x->is) || strcmp(x->is, x->was) == 0)
        return err_set(e, -EINVAL, "\"%.80s\" is no other machine than \"%.80s\"", x->is, x->was);
    return json_is_array(x->keep) ? 0 : err_set(e, -EINVAL, "\"keep\" is no array");
}

/* What a person put where it is, and what nothing follows from. */
static bool decide_machine_stays(const struct instance *x, const struct repair *r)
{
    return !x->act || r->manual || r->step == STEP_QUEUE || r->step == STEP_QUARANTINE ||
           r->step == STEP_RETIRED;
}

/* The repair that is under way: it begins anew, or waits for its person. */
static int go_on(const struct cluster *c, const struct command *cmd, const struct member *m,
                 const struct instance *x, const char *why, struct text *said, struct decision *d,
                 struct err *e)
{
    struct repair r;
    repair_copy(&r, member_repair(m));
    int rc = 0;
    if (decide_machine_stays(x, &r)) {
        repair_forget(&r, x->keep);
        repair_note(&r, cmd, why);
        text_printf(said, "; it stays at %s", step_name(r.step));
    } else {
        text_printf(said, "; %s -> %s", step_name(r.step), step_name(x->wish.step));
        entry_fields_move(&d->fields, r.step, x->wish.step);
        rc = repair_leave(c, m, &r, cmd->at, true, d, e);
        repair_forget(&r, x->keep);
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
    repair_forget(&r, x->keep);
    repair_forget_notes(&r);
    x->wish.why = why;
    if (x->act && m->listed && m->admitted) {
        entry_fields_move(&d->fields, repair_step_of(m), x->wish.step);
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
    CLEANUP_JSON json_t *set = record_object(cmd->set, e);
    int rc = decide_one(c, cmd, &m, e);
    if (rc < 0 || !set || read_instance(set, &x, e) < 0)
        return rc < 0 ? rc : -EINVAL;
    const struct repair *r = member_repair(m);
    if (m->machine && strcmp(m->machine->machine, x.is) == 0)
        return 0;
    if (!m->machine || strcmp(m->machine->machine, x.was) != 0)
        return err_set(e, -EBUSY, "node \"%s\" was no machine with %s", m->name, x.was);
    if (r && r->step == STEP_REPLACE)
        return err_set(e, -EBUSY, "node \"%s\" is being replaced", m->name);
    if (operation_begun_outside(c, m)) /* it may be done to the machine that is there now */
        return err_set(e, -EBUSY, "what is done to node \"%s\" has begun, and its end is not known yet",
                       m->name);
    if (machine_restless(m->machine, x.is, cmd->at))
        return err_set(e, -EBUSY, "node \"%s\" was another machine too often of late", m->name);
    struct machine_record now = *m->machine;
    CLEANUP_TEXT struct text why = {0}, said = {0};
    machine_record_change(&now, x.is, cmd->at);
    decision_add(d, "machine/", m->name, machine_record_write(&now));
    text_printf(&why, "another machine has its name: %s, before it %s", x.is, x.was);
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
