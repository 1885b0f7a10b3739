/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A reboot into the right image: boot parameters in BSS, then a transition of PCS, then a wait for its end.
 *
 * A transition has no name of ours that could be found again, and must not be asked for twice. So:
 *
 * - PCS's transitions are listed first. One that restarts this node and is under way is adopted, whoever
 *   asked for it.
 * - The time of the newest one, by PCS's own clock, is in the record ("asking") before ours is asked for.
 *   Whoever finds the record in this state (this driver after a lost answer, or its successor) takes a newer
 *   restart of this node for ours, even if it has ended. Only when there is none is it asked for again.
 * - Right before asking, the controller says whether the node may still be rebooted. When it cannot say yet,
 *   for instance before the node was heard after a start, it is asked again.
 *
 * The list does not name nodes: each transition that may be meant is read, unless it is known to be another
 * node's alone. One list serves all jobs that look within one polling interval.
 */
#include "driver/job.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { KNOWN_MAX = 20000, TASK_MINUTES = 5, LOOK_AGAIN_MS = 100 };

static void transitions_know(struct ochami *o, const char *id, const char *xname)
{
    struct known *k;
    HASH_FIND_STR(o->known, id, k);
    if (k || !xname[0])
        return;
    if (HASH_COUNT(o->known) >= KNOWN_MAX)
        transitions_forget(o);
    k = mem_alloc(sizeof *k);
    snprintf(k->id, sizeof k->id, "%s", id);
    snprintf(k->xname, sizeof k->xname, "%s", xname);
    HASH_ADD_STR(o->known, id, k);
}

void transitions_forget(struct ochami *o)
{
    struct known *k, *next;
    HASH_ITER (hh, o->known, k, next) {
        HASH_DEL(o->known, k);
        free(k);
    }
    transitions_fini(&o->transitions);
    o->listed_at = (struct mono){0};
}

static bool is_anothers(const struct job *j, const char *id)
{
    struct known *k;
    HASH_FIND_STR(j->o->known, id, k);
    return k && strcasecmp(k->xname, j->effect.xname) != 0;
}

/* The step is a result; the job goes on when the record has it. */
static void reboot_report(struct job *j, enum reboot_step step, const char *why)
{
    j->progress.step = step;
    job_report(j, progress_write(&j->progress, j->effect.id, why), step != REBOOT_ASKING);
}

/* The phase that follows from the record; -1 for the end. */
static int phase_of(const struct job *j)
{
    switch (j->progress.step) {
    case REBOOT_NONE: return j->effect.has_image ? PHASE_BOOT_LOOK : PHASE_LIST;
    case REBOOT_IMAGE:
    case REBOOT_ASKING: return PHASE_LIST;
    case REBOOT_ASKED: return PHASE_POLL;
    case REBOOT_COMPLETED:
    case REBOOT_FAILED:
    case REBOOT_REFUSED: break;
    }
    return -1;
}

static enum job_phase reboot_again(const struct job *j)
{
    int phase = phase_of(j);
    return phase < 0 ? PHASE_POLL : (enum job_phase)phase;
}

static void reboot_begin(struct job *j)
{
    int phase = phase_of(j);
    if (phase < 0 || !j->effect.boot) /* it is over, or no longer wanted */
        job_drop(j);
    else if (j->progress.step == REBOOT_ASKING &&
             j->asked_at.ns == 0) /* a request of another driver may be under way */
        job_sleep(j, PHASE_LIST, j->o->pace.poll);
    else
        job_queue(j, (enum job_phase)phase);
}

static void reboot_on_recorded(struct job *j)
{
    if (j->progress.step == REBOOT_ASKING)
        job_queue(j, PHASE_ASK);
    else if (j->progress.step == REBOOT_ASKED)
        job_sleep(j, PHASE_POLL, j->o->pace.poll);
    else
        reboot_begin(j);
}

static void look_at_image(struct job *j)
{
    CLEANUP_TEXT struct text path = {0};
    text_printf(&path, "/bootparameters?name=%s", j->effect.xname);
    job_call(j, "GET", path.s, NULL);
}

static void add_part(struct text *t, const char *key, const char *value)
{
    if (!value)
        return;
    text_printf(t, ",\"%s\":", key);
    text_add_json(t, value);
}

/* PUT replaces all parameters of a node in BSS; PATCH changes the named ones. */
static void put_image(struct job *j, const char *method)
{
    CLEANUP_TEXT struct text body = {0};
    const struct boot_image *i = &j->effect.image;
    text_printf(&body, "{\"hosts\":[\"%s\"]", j->effect.xname);
    add_part(&body, "kernel", i->kernel);
    add_part(&body, "initrd", i->initrd);
    add_part(&body, "params", i->params);
    text_add(&body, "}");
    j->phase = PHASE_BOOT_PUT;
    job_call(j, method, "/bootparameters", body.s);
}

static void on_image(struct job *j, const struct answer *a)
{
    struct err e;
    enum boot_found found = BOOT_NONE;
    if (a->is_refused && a->status != 404) {
        reboot_report(j, REBOOT_REFUSED, a->detail);
    } else if (!a->is_refused &&
               bootparameters_read(a->body, a->len, j->effect.xname, &j->effect.image, &found, &e) < 0) {
        job_fault(j, PHASE_BOOT_LOOK, &e);
    } else if (found == BOOT_SAME) {
        reboot_report(j, REBOOT_IMAGE, NULL);
    } else {
        put_image(j, found == BOOT_NONE ? "PUT" : "PATCH");
    }
}

static bool has_fresh_list(const struct job *j)
{
    const struct ochami *o = j->o;
    return o->listed_at.ns && mono_sub(o->listed_at, j->asked_at).ns > 0 &&
           mono_sub(mono_now(), o->listed_at).ns < o->pace.poll.ns;
}

static void reboot_ask(struct job *j)
{
    struct err e = {0};
    const struct ochami_sink *sink = &j->o->sink;
    int may = sink->may_reboot(sink->arg, j->node, j->effect.boot ? j->effect.boot : "", &e);
    if (may == -ESTALE) { /* the answer is being found out */
        job_sleep(j, PHASE_LIST, span_ms(LOOK_AGAIN_MS));
        return;
    }
    if (may == -EAGAIN) { /* somebody else may restart it meanwhile; the list shows it */
        job_sleep(j, PHASE_LIST, j->o->pace.poll);
        return;
    }
    if (may != 0) {
        reboot_report(j, REBOOT_REFUSED, e.msg);
        return;
    }
    CLEANUP_TEXT struct text body = {0};
    text_printf(
        &body,
        "{\"operation\":\"soft-restart\",\"taskDeadlineMinutes\":%d,\"location\":[{\"xname\":\"%s\"}]}",
        TASK_MINUTES, j->effect.xname);
    j->phase = PHASE_ASK;
    j->asked_at = mono_now();
    job_call(j, "POST", "/transitions", body.s);
}

static void read_transition(struct job *j, const char *id)
{
    CLEANUP_TEXT struct text path = {0};
    text_printf(&path, "/transitions/%s", id);
    job_call(j, "GET", path.s, NULL);
}

/* None of them is this node's: ask for one when the record says so. */
static void next_candidate(struct job *j)
{
    if (j->n_candidates > 0) {
        j->phase = PHASE_CANDIDATE;
        read_transition(j, j->candidates[j->n_candidates - 1]);
        return;
    }
    if (j->progress.step != REBOOT_ASKING)
        snprintf(j->progress.after, sizeof j->progress.after, "%s", j->o->transitions.newest);
    reboot_report(j, REBOOT_ASKING, NULL);
}

static void choose_candidates(struct job *j)
{
    const struct transitions *t = &j->o->transitions;
    bool is_asking = j->progress.step == REBOOT_ASKING;
    free(j->candidates);
    j->candidates = mem_alloc((t->n + 1) * sizeof *j->candidates);
    j->n_candidates = 0;
    for (size_t i = 0; i < t->n; i++) {
        const struct listed *l = &t->restarts[i];
        bool may_be_ours = is_asking && strcmp(l->created, j->progress.after) > 0;
        if ((!l->is_over || may_be_ours) && !is_anothers(j, l->id))
            memcpy(j->candidates[j->n_candidates++], l->id, sizeof l->id);
    }
    next_candidate(j);
}

static void list_transitions(struct job *j)
{
    if (has_fresh_list(j)) {
        choose_candidates(j);
        return;
    }
    j->list_asked_at = mono_now();
    job_call(j, "GET", "/transitions", NULL);
}

static void on_list(struct job *j, const struct answer *a)
{
    struct err e;
    struct transitions t;
    if (a->is_refused) {
        err_set(&e, -EPROTO, "%s", a->detail);
        job_fault(j, PHASE_LIST, &e);
    } else if (transitions_read(a->body, a->len, &t, &e) < 0) {
        job_fault(j, PHASE_LIST, &e);
    } else {
        transitions_fini(&j->o->transitions);
        j->o->transitions = t;
        j->o->listed_at = j->list_asked_at;
        choose_candidates(j);
    }
}

static void take_transition(struct job *j, const char *id)
{
    snprintf(j->progress.transition, sizeof j->progress.transition, "%s", id);
    reboot_report(j, REBOOT_ASKED, NULL);
}

static void on_candidate(struct job *j, const struct answer *a)
{
    struct err e;
    struct transition t = {0};
    const char *id = j->candidates[j->n_candidates - 1];
    if (!a->is_refused && transition_read(a->body, a->len, j->effect.xname, &t, &e) < 0) {
        job_fault(j, PHASE_LIST, &e);
        return;
    }
    transitions_know(j->o, id, t.only);
    if (t.has_node) {
        take_transition(j, id);
        return;
    }
    j->n_candidates--;
    next_candidate(j);
}

static void on_asked(struct job *j, const struct answer *a)
{
    struct err e;
    char id[TRANSITION_ID_BYTES_MAX + 1];
    if (a->is_refused) {
        reboot_report(j, REBOOT_REFUSED, a->detail);
    } else if (started_read(a->body, a->len, id, &e) < 0) {
        job_fault(j, PHASE_LIST, &e); /* it may have begun; the list shows it */
    } else {
        transitions_know(j->o, id, j->effect.xname);
        take_transition(j, id);
    }
}

static void on_poll(struct job *j, const struct answer *a)
{
    struct err e;
    struct transition t;
    if (a->is_refused && a->status == 404) {
        reboot_report(j, REBOOT_FAILED, "PCS does not know the transition any more");
    } else if (a->is_refused) {
        reboot_report(j, REBOOT_FAILED, a->detail);
    } else if (transition_read(a->body, a->len, j->effect.xname, &t, &e) < 0) {
        job_fault(j, PHASE_POLL, &e);
    } else if (t.outcome == TRANSITION_UNDER_WAY) {
        j->faults = 0;
        transitions_know(j->o, j->progress.transition, t.only);
        job_sleep(j, PHASE_POLL, j->o->pace.poll);
    } else {
        reboot_report(j, t.outcome == TRANSITION_COMPLETED ? REBOOT_COMPLETED : REBOOT_FAILED, t.why);
    }
}

/* Why a try is impossible; NULL when it is possible. */
static const char *reboot_obstacle(const struct job *j)
{
    bool is_image = j->phase == PHASE_BOOT_LOOK || j->phase == PHASE_BOOT_PUT;
    if (!j->effect.xname || !xname_is_valid(j->effect.xname))
        return "the node has no xname that OpenCHAMI could know";
    if (is_image && !job_has_service(j, SERVICE_BSS))
        return "an image is to be set and no address of BSS is configured";
    return job_has_service(j, SERVICE_PCS) ? NULL : "no address of PCS is configured";
}

static void reboot_go(struct job *j)
{
    const char *why = reboot_obstacle(j);
    if (why)
        reboot_report(j, REBOOT_REFUSED, why);
    else if (j->phase == PHASE_BOOT_LOOK || j->phase == PHASE_BOOT_PUT)
        look_at_image(j);
    else if (j->phase == PHASE_ASK)
        reboot_ask(j);
    else if (j->phase == PHASE_POLL)
        read_transition(j, j->progress.transition);
    else
        list_transitions(j);
}

static void reboot_on_answer(struct job *j, const struct answer *a)
{
    switch (j->phase) {
    case PHASE_BOOT_LOOK: on_image(j, a); return;
    case PHASE_BOOT_PUT: reboot_report(j, a->is_refused ? REBOOT_REFUSED : REBOOT_IMAGE, a->detail); return;
    case PHASE_LIST: on_list(j, a); return;
    case PHASE_CANDIDATE: on_candidate(j, a); return;
    case PHASE_ASK: on_asked(j, a); return;
    case PHASE_POLL: on_poll(j, a); return;
    case PHASE_LOOK:
    case PHASE_MEMBER:
    case PHASE_PUT: break;
    }
}

const struct job_kind reboot_jobs = {reboot_begin, reboot_go, reboot_on_answer, reboot_on_recorded,
                                     reboot_again};
