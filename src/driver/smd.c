/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The entries in the State Manager for a drifted node: a flag, a SoftwareStatus, membership of a group. SMD
 * records no owner of them, and others write them, too. So:
 *
 * - Look first: a flag is set only when it is "OK", a status only when there is none or one of ours, and a
 *   node that is in the group already is not added. Entries of others stay.
 * - An entry is in the record, as pending, before it is written. A driver that was killed in between sees in
 *   the record that the entry is Fettle's, whether it is there yet or not.
 * - Only entries that the record says are Fettle's are removed, and only while they are unchanged.
 *
 * One round: component, membership (when a group is wanted or ours), plan, [pending into the record,] the
 * calls, the result. A failure begins the round anew, with the known entries of ours.
 */
#include "driver/job.h"

#include "base/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char ours[] = "drift:";

/* The group that the node is to be in. The configuration has its name; the record says that one is wanted. */
static const char *group_wanted(const struct job *j)
{
    if (!j->effect.want.group)
        return NULL;
    return j->o->group ? j->o->group : j->effect.want.group;
}

static bool owns_any(const struct job *j)
{
    return j->own.flag || j->own.status || j->own.group;
}

/* True when everything is as wanted, or left to somebody else. */
static bool is_finished(const struct job *j)
{
    const struct marks *want = &j->effect.want, *own = &j->own;
    if (!j->effect.is_wanted)
        return !j->effect.is_done;
    return j->effect.is_done && !own->is_pending && (!own->flag || marks_equal(own->flag, want->flag)) &&
           (!own->status || marks_equal(own->status, want->status)) &&
           (!own->group || marks_equal(own->group, group_wanted(j))) &&
           marks_equal(own->message, want->message);
}

static void smd_begin(struct job *j)
{
    if (is_finished(j) && !j->own.error)
        job_drop(j);
    else
        job_queue(j, PHASE_LOOK);
}

/* The round is over. A round that only left a group is followed by another one. */
static void smd_conclude(struct job *j)
{
    j->phase = PHASE_LOOK;
    j->own.is_pending = j->must_join;
    job_report(j, j->effect.is_wanted ? marks_write(&j->own) : mem_dup("null"), true);
}

static void smd_look(struct job *j)
{
    if (!j->effect.is_wanted && !owns_any(j)) {
        smd_conclude(j);
        return;
    }
    marks_set(&j->own.error, NULL);
    marks_set(&j->own.message, j->effect.want.message);
    j->has_conflicted = false;
    j->must_join = false;
    j->todo = 0;
    if (!j->effect.xname || !xname_is_valid(j->effect.xname)) {
        marks_set(&j->own.error, "the node has no xname that OpenCHAMI could know");
        smd_conclude(j);
        return;
    }
    CLEANUP_TEXT struct text path = {0};
    text_printf(&path, "/State/Components/%s", j->effect.xname);
    job_call(j, "GET", path.s, NULL);
}

/* A group's name goes into a path. */
static void add_escaped(struct text *t, const char *s)
{
    for (; *s; s++) {
        bool plain = (*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') || (*s >= '0' && *s <= '9') ||
                     strchr("-_.", *s);
        text_printf(t, plain ? "%c" : "%%%02X", (unsigned char)*s);
    }
}

static void plan_flag(struct job *j)
{
    const char *wanted = j->effect.want.flag;
    bool stands = j->own.flag && strcmp(j->seen.flag, j->own.flag) == 0;
    if (wanted && (stands || strcmp(j->seen.flag, "OK") == 0)) {
        j->todo |= strcmp(j->seen.flag, wanted) == 0 ? 0 : TODO_FLAG;
        marks_set(&j->own.flag, wanted);
    } else if (!wanted && stands) {
        j->todo |= TODO_FLAG;
    } else {
        marks_set(&j->own.flag, NULL); /* somebody else's */
    }
}

static void plan_status(struct job *j)
{
    const char *wanted = j->effect.want.status;
    bool is_ours = strncmp(j->seen.status, ours, sizeof ours - 1) == 0;
    if (wanted && (is_ours || !j->seen.status[0])) {
        j->todo |= strcmp(j->seen.status, wanted) == 0 ? 0 : TODO_STATUS;
        marks_set(&j->own.status, wanted);
    } else if (!wanted && j->own.status && is_ours) {
        j->todo |= TODO_STATUS;
    } else {
        marks_set(&j->own.status, NULL);
    }
}

/* The group of this round: one of ours that is no longer wanted goes first. */
static void choose_group(struct job *j)
{
    const char *wanted = group_wanted(j);
    j->must_join = wanted && j->own.group && strcasecmp(wanted, j->own.group) != 0;
    marks_set(&j->group, !wanted || j->must_join ? j->own.group : wanted);
}

static void plan_group(struct job *j)
{
    const char *wanted = j->must_join ? NULL : group_wanted(j);
    if (wanted && !j->is_member) {
        j->todo |= TODO_JOIN;
        marks_set(&j->own.group, wanted);
    } else if (!wanted && j->own.group && j->is_member) {
        j->todo |= TODO_LEAVE;
    } else { /* it is there as it should be, gone already, or somebody else's */
        marks_set(&j->own.group, j->own.group ? wanted : NULL);
    }
}

static bool smd_gains(const char *recorded, const char *own)
{
    return own && !marks_equal(recorded, own);
}

static void put_next(struct job *j);

static void smd_plan(struct job *j)
{
    const struct marks *recorded = &j->effect.done;
    plan_flag(j);
    plan_status(j);
    plan_group(j);
    if (smd_gains(recorded->flag, j->own.flag) || (j->own.status && !recorded->status) ||
        smd_gains(recorded->group, j->own.group)) {
        j->phase = PHASE_PUT;
        j->own.is_pending = true;
        job_report(j, marks_write(&j->own), false);
        return;
    }
    put_next(j);
}

static void put_flag(struct job *j)
{
    CLEANUP_TEXT struct text path = {0}, body = {0};
    bool is_wanted = j->effect.want.flag != NULL;
    const char *flag = is_wanted ? j->effect.want.flag : "OK";
    const char *message = j->effect.want.message;
    text_printf(&path, "/State/Components/%s/FlagOnly", j->effect.xname);
    text_add(&body, "{\"Flag\":");
    text_add_json(&body, flag);
    text_add(&body, ",\"ExtendedInfo\":{\"Id\":\"conformance_drift\",\"Message\":");
    text_add_json(&body, !is_wanted ? "the drift is gone" : message ? message : "");
    text_add(&body, ",\"Flag\":");
    text_add_json(&body, flag);
    text_add(&body, "}}");
    job_call(j, "PATCH", path.s, body.s);
}

static void put_status(struct job *j)
{
    CLEANUP_TEXT struct text path = {0}, body = {0};
    const char *status = j->effect.want.status;
    text_printf(&path, "/State/Components/%s/SoftwareStatus", j->effect.xname);
    text_add(&body, "{\"SoftwareStatus\":");
    text_add_json(&body, status ? status : "");
    text_add(&body, "}");
    job_call(j, "PATCH", path.s, body.s);
}

static void leave_group(struct job *j)
{
    CLEANUP_TEXT struct text path = {0};
    text_add(&path, "/groups/");
    add_escaped(&path, j->group);
    text_printf(&path, "/members/%s", j->effect.xname);
    job_call(j, "DELETE", path.s, NULL);
}

static void join_group(struct job *j)
{
    CLEANUP_TEXT struct text path = {0}, body = {0};
    text_add(&path, "/groups/");
    add_escaped(&path, j->group);
    text_printf(&path, "/members");
    text_printf(&body, "{\"id\":\"%s\"}", j->effect.xname);
    job_call(j, "POST", path.s, body.s);
}

static void create_group(struct job *j)
{
    CLEANUP_TEXT struct text body = {0};
    text_add(&body, "{\"label\":");
    text_add_json(&body, j->group);
    text_add(&body,
             ",\"description\":\"nodes that are not what their baseline says, by Fettle\",\"members\":");
    text_printf(&body, "{\"ids\":[\"%s\"]}}", j->effect.xname);
    job_call(j, "POST", "/groups", body.s);
}

/* The flag comes last, so that a reader of the flag finds the reason beside it. */
static void put_next(struct job *j)
{
    j->phase = PHASE_PUT;
    if (j->todo & TODO_STATUS)
        put_status(j);
    else if (j->todo & TODO_LEAVE)
        leave_group(j);
    else if (j->todo & TODO_CREATE)
        create_group(j);
    else if (j->todo & TODO_JOIN)
        join_group(j);
    else if (j->todo & TODO_FLAG)
        put_flag(j);
    else
        smd_conclude(j);
}

static void ask_membership(struct job *j)
{
    CLEANUP_TEXT struct text path = {0};
    text_printf(&path, "/memberships/%s", j->effect.xname);
    j->phase = PHASE_MEMBER;
    job_call(j, "GET", path.s, NULL);
}

/* Any other refusal of SMD says nothing about its entries. */
static bool is_no_such_node(const struct answer *a)
{
    return a->status == 404 || (a->status == 400 && strstr(a->detail, "invalid xname"));
}

static void on_component(struct job *j, const struct answer *a)
{
    struct err e;
    if (a->is_refused && !is_no_such_node(a)) {
        err_set(&e, -EPROTO, "%s", a->detail);
        job_fault(j, PHASE_LOOK, &e);
        return;
    }
    if (a->is_refused) { /* none of our entries is there */
        marks_set(&j->own.flag, NULL);
        marks_set(&j->own.status, NULL);
        marks_set(&j->own.group, NULL);
        marks_set(&j->own.error, a->detail);
        smd_conclude(j);
        return;
    }
    if (component_read(a->body, a->len, &j->seen, &e) < 0) {
        job_fault(j, PHASE_LOOK, &e);
        return;
    }
    choose_group(j);
    j->is_member = false;
    if (j->group)
        ask_membership(j);
    else
        smd_plan(j);
}

/* It is in the group (by our call, whose answer was lost), or in another group that excludes this one. */
static void on_conflict_looked_at(struct job *j)
{
    j->todo &= ~(unsigned)(TODO_JOIN | TODO_CREATE);
    marks_set(j->is_member ? &j->own.error : &j->own.group, NULL);
    put_next(j);
}

static void on_membership(struct job *j, const struct answer *a)
{
    struct err e;
    j->is_member = false;
    if (!a->is_refused && membership_read(a->body, a->len, j->group, &j->is_member, &e) < 0) {
        job_fault(j, PHASE_LOOK, &e);
        return;
    }
    if (j->has_conflicted)
        on_conflict_looked_at(j);
    else
        smd_plan(j);
}

/* The last call of put_next, which SMD has answered. */
static enum todo smd_current(const struct job *j)
{
    static const enum todo order[] = {TODO_STATUS, TODO_LEAVE, TODO_CREATE, TODO_JOIN};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        if (j->todo & order[i])
            return order[i];
    return TODO_FLAG;
}

/* True when the call to join has a follow-up: the group must be made, or looked at. */
static bool is_joining_on(struct job *j, enum todo what, const struct answer *a)
{
    if (j->has_conflicted)
        return false;
    if (what == TODO_JOIN && a->status == 404) {
        j->todo |= TODO_CREATE;
        put_next(j);
        return true;
    }
    if (a->status != 409 || (what != TODO_JOIN && what != TODO_CREATE))
        return false;
    j->has_conflicted = true;
    j->todo &= ~(unsigned)TODO_CREATE;
    marks_set(&j->own.error, a->detail);
    if (what == TODO_JOIN) {
        ask_membership(j);
    } else { /* somebody has just made the group */
        marks_set(&j->own.error, NULL);
        put_next(j);
    }
    return true;
}

static char **mark_of(struct marks *m, enum todo what)
{
    return what == TODO_FLAG ? &m->flag : what == TODO_STATUS ? &m->status : &m->group;
}

static void on_put(struct job *j, const struct answer *a)
{
    enum todo what = smd_current(j);
    if (is_joining_on(j, what, a))
        return;
    j->todo &= ~(unsigned)(what == TODO_CREATE ? TODO_CREATE | TODO_JOIN : what);
    bool is_taken_back = what == TODO_LEAVE || !*mark_of(&j->effect.want, what);
    if (is_taken_back || a->is_refused)
        marks_set(mark_of(&j->own, what), NULL);
    if (a->is_refused && !(is_taken_back && a->status == 404))
        marks_set(&j->own.error, a->detail);
    if (a->is_refused && is_taken_back && a->status != 404)
        log_warn("%s: SMD refuses to remove its entry about the drift: %s", j->node, a->detail);
    put_next(j);
}

static void smd_go(struct job *j)
{
    if (j->phase == PHASE_PUT)
        put_next(j);
    else
        smd_look(j);
}

static void smd_on_answer(struct job *j, const struct answer *a)
{
    if (j->phase == PHASE_LOOK)
        on_component(j, a);
    else if (j->phase == PHASE_MEMBER)
        on_membership(j, a);
    else
        on_put(j, a);
}

static void smd_on_recorded(struct job *j)
{
    if (j->phase == PHASE_PUT)
        job_queue(j, PHASE_PUT);
    else if (!is_finished(j))
        job_queue(j, PHASE_LOOK);
    else if (j->own.error)
        job_rest(j);
    else
        job_drop(j);
}

static enum job_phase smd_again(const struct job *j)
{
    return PHASE_LOOK;
}

const struct job_kind smd_jobs = {smd_begin, smd_go, smd_on_answer, smd_on_recorded, smd_again};
