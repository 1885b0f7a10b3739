/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operation on a node is an effect's record. The record has its state, also for a watch that began in the
 * meantime. An operation that has begun is waited for and never proposed a second time.
 */
#include "watch/health/health.h"
#include "watch/view/facts.h"
#include "watch/view/view.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ASKED_S = 10,    /* a command without an outcome for so long is taken as lost */
    GIVEN_UP_S = 300 /* after the deadline: the agent or driver would have reported by then */
};

/* What checks came to in the present examination goes with the next one, so that a successor does not run
 * them again. The caller frees it. */
static struct ran_check *operation_ran(const struct watch *w, const struct member *m, size_t *n)
{
    struct ran_check *ran = mem_alloc((check_count(w) + 1) * sizeof *ran);
    *n = 0;
    for (size_t i = 0; i < check_count(w); i++) {
        if (!examination_answered(w, m, i, &ran[*n].result))
            continue;
        snprintf(ran[*n].check, sizeof ran->check, "%s", check_at(w, i)->name);
        ++*n;
    }
    return ran;
}

void operation_propose(struct watch *w, struct mono now, const struct member *m, const char *run,
                       const char *of, struct span deadline)
{
    const struct repair *r = member_treated(m);
    assert(r && deadline.ns > 0 && "an operation is a repair's");
    struct command cmd = {
        .kind = COMMAND_OPERATE,
        .operate = {.step = r->step, .run = run, .deadline_s = (uint64_t)(deadline.ns / span_s(1).ns + 1)}};
    memcpy(cmd.operate.id, r->id, sizeof r->id);
    snprintf(cmd.operate.of, sizeof cmd.operate.of, "%s", of);
    memcpy(cmd.operate.boot, boot_of(w, m), strlen(boot_of(w, m)) + 1);
    CLEANUP_FREE struct ran_check *ran =
        r->step == STEP_EXAMINE ? operation_ran(w, m, &cmd.operate.n_ran) : NULL;
    cmd.operate.ran = ran;
    health_propose(w, now, m, &cmd);
}

void operation_end(struct watch *w, struct mono now, const struct member *m, const struct operation *o,
                   enum operation_state state, const char *text)
{
    assert(o->id && operation_has_ended(state));
    CLEANUP_TEXT struct text key = {0};
    text_printf(&key, OPERATE_KEY "%s", m->name);
    CLEANUP_JSON json_t *done =
        json_pack("{s:s,s:s,s:s}", "id", o->id, "state", operation_state_name(state), "text", text);
    CLEANUP_FREE char *written = json_write(done);
    health_propose(w, now, m, &(struct command){.kind = COMMAND_EFFECT, .effect = {key.s, written}});
}

bool operation_overdue(struct watch *w, struct mono now, const struct member *m, const struct operation *o)
{
    assert(o->id);
    struct health_state *v = health_state_of(w, m);
    if (strcmp(v->operation, o->id) != 0) {
        int64_t left = o->deadline.ns - w->wall.ns;
        snprintf(v->operation, sizeof v->operation, "%s", o->id);
        v->operation_due = (struct mono){now.ns + (left > 0 ? left : 0)};
    }
    int64_t grace = o->state == OPERATION_BEGUN ? span_s(GIVEN_UP_S).ns : 0;
    return now.ns >= v->operation_due.ns + grace;
}

void health_propose(struct watch *w, struct mono now, const struct member *m, const struct command *says)
{
    CLEANUP_HOSTLIST struct hostlist one = {0};
    struct command cmd = *says;
    struct health_state *v = health_state_of(w, m);
    hostlist_add(&one, m->name);
    v->asked = true; /* set before the call, because the command may be decided at once */
    v->asked_at = now;
    cmd.nodes = &one;
    if (!w->sink.propose(w->sink.arg, &cmd))
        v->asked = false;
}

bool health_asked(const struct health_state *v, struct mono now)
{
    return v->asked && within(now, v->asked_at, ASKED_S);
}
