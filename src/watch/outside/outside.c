/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The results of other systems' checks: checks without a record here, each known by its last result. They
 * count like the node's own checks, with these differences. The interval of such a check is not known here,
 * so a result stays valid until the next one, for a day at most; but an action that cannot be undone needs a
 * result as fresh as other evidence. And the controller cannot have such a check run, so a check without a
 * new result does not hold up provisioning for long.
 */
#include "watch/outside/outside.h"
#include "watch/health/health.h"
#include "watch/outside/bmc_inside.h"
#include "watch/outside/machine_inside.h"
#include "watch/outside/shell.h"
#include "watch/outside/window_inside.h"
#include "watch/view/facts.h"
#include "watch/view/observed.h"
#include "watch/view/shell.h"
#include "watch/view/view.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OUTSIDE_STALE_S = 86400, OUTSIDE_TIMEOUT_S = 600, AGE_MAX_MS = 1000000000 };

bool outside_is(const struct watch *w, const char *check)
{
    return strncmp(check, OUTSIDE_PREFIX, sizeof OUTSIDE_PREFIX - 1) == 0 &&
           check_place(w, check) == SIZE_MAX;
}

struct outside *outside_find(const struct health_state *v, const char *check)
{
    for (struct outside *x = v ? v->outside : NULL; x; x = x->next)
        if (strcmp(x->name, check) == 0)
            return x;
    return NULL;
}

static void outside_free(struct outside *x)
{
    free(x->text);
    free(x->findings);
    free(x);
}

void outside_drop(struct health_state *v)
{
    while (v->outside) {
        struct outside *x = v->outside;
        v->outside = x->next;
        outside_free(x);
    }
    v->n_outside = 0;
}

/* --- what counts ------------------------------------------------------------------------------ */

enum result outside_now(const struct watch *w, struct mono now, const struct member *m,
                        const struct outside *x)
{
    bool counts = x && watch_live(w, m) && within(now, x->told, OUTSIDE_STALE_S);
    return counts ? x->result : RESULT_UNKNOWN;
}

bool outside_fresh(const struct watch *w, struct mono now, const struct outside *x)
{
    return x->told.ns >= w->resumed.ns && mono_sub(now, x->looked).ns <= w->policy.health.fresh.ns;
}

bool outside_ill(const struct health_state *v)
{
    for (const struct outside *x = v->outside; x; x = x->next)
        if (x->result >= RESULT_WARN)
            return true;
    return false;
}

enum result outside_worst(const struct watch *w, struct mono now, const struct member *m)
{
    const struct health_state *v = health_state_find(w, m);
    enum result worst = RESULT_OK;
    for (const struct outside *x = v ? v->outside : NULL; x; x = x->next) {
        enum result r = outside_now(w, now, m, x);
        worst = r > worst ? r : worst;
    }
    return worst;
}

/* The node has been in provision for so long that the other system has had time to report since. */
static bool had_time(struct mono now, const struct member *m, const struct health_state *v)
{
    const struct repair *r = member_repair(m);
    return r && r->step == STEP_PROVISION && v && v->stage.ns == r->since.ns &&
           !within(now, v->stage_at, OUTSIDE_TIMEOUT_S);
}

void outside_look(struct mono now, const struct member *m, struct health_state *v)
{
    if (!v->outside || !had_time(now, m, v))
        return;
    for (struct outside **at = &v->outside; *at;) {
        struct outside *x = *at;
        if (x->told.ns >= v->stage_at.ns) {
            at = &x->next;
            continue;
        }
        *at = x->next;
        v->n_outside--;
        outside_free(x);
    }
}

bool outside_gone(const struct watch *w, struct mono now, const struct member *m, const char *check,
                  const struct finding *f)
{
    const struct health_state *v = health_state_find(w, m);
    const struct outside *x = outside_find(v, check);
    if (!x && had_time(now, m, v))
        return true;
    if (outside_now(w, now, m, x) < RESULT_OK)
        return false;
    for (size_t i = 0; i < x->n; i++)
        if (x->findings[i].result >= RESULT_WARN && strcmp(x->findings[i].device, f->device) == 0 &&
            strcmp(x->findings[i].code, f->code) == 0)
            return false;
    return !x->more;
}

bool outside_recovered(const struct watch *w, struct mono now, const struct member *m, const char *check)
{
    const struct outside *x = outside_find(health_state_find(w, m), check);
    enum result r = outside_now(w, now, m, x);
    return r >= RESULT_OK && r < RESULT_DEGRADED;
}

unsigned outside_runners(const struct watch *w, const char *check, unsigned group)
{
    unsigned n = 0;
    for (size_t id = 0; id < health_states_count(w); id++)
        n += outside_find(health_states_by_id(w, id), check) &&
             (!group || cluster_by_id(w->cluster, (uint32_t)id)->spec.group == group);
    return n;
}

/* --- what is said ----------------------------------------------------------------------------- */

/* Makes room: drops a check without a result for long, else the one whose ok result is oldest. */
static bool outside_evict(struct health_state *v, struct mono now)
{
    struct outside **worst = NULL;
    for (struct outside **at = &v->outside; *at; at = &(*at)->next) {
        bool stale = !within(now, (*at)->told, OUTSIDE_STALE_S);
        if ((stale || (*at)->result == RESULT_OK) && (!worst || (*at)->told.ns < (*worst)->told.ns))
            worst = at;
    }
    if (!worst)
        return false;
    struct outside *x = *worst;
    *worst = x->next;
    v->n_outside--;
    outside_free(x);
    return true;
}

static struct outside *outside_of(struct health_state *v, struct mono now, const char *check)
{
    struct outside *x = outside_find(v, check);
    if (x)
        return x;
    if (v->n_outside >= OUTSIDE_MAX && !outside_evict(v, now))
        return NULL;
    x = mem_alloc(sizeof *x);
    snprintf(x->name, sizeof x->name, "%s", check);
    x->record = (struct check){.name = x->name, .severity = RESULT_LOST};
    x->since = now;
    x->result = RESULT_UNKNOWN;
    x->next = v->outside;
    v->outside = x;
    v->n_outside++;
    return x;
}

static void outside_take(struct outside *x, struct mono now, struct mono looked, const struct verdict *v)
{
    if (x->result != v->result)
        x->since = now;
    free(x->text);
    free(x->findings);
    x->result = v->result;
    x->looked = looked;
    x->told = now;
    x->text = mem_dup(v->text);
    x->more = v->more;
    x->n = v->n;
    x->findings = mem_alloc((v->n + 1) * sizeof *x->findings);
    memcpy(x->findings, v->findings, v->n * sizeof *x->findings);
}

static int check_boot(const struct watch *w, struct mono now, const struct member *m, struct span age,
                      struct err *e)
{
    const struct observed *o = watch_observed(w, m);
    if (!m->listed)
        return err_set(e, -ENOENT, "no file names node \"%s\"", m->name);
    if (!*o->boot || !o->uptime_at.ns)
        return err_set(e, -EAGAIN, "node \"%s\" was not heard yet: since when it runs is not known", m->name);
    struct mono booted = {o->uptime_at.ns - span_s((int64_t)o->uptime_s).ns};
    if (now.ns - age.ns < booted.ns)
        return err_set(e, -ESTALE, "it is of a time before node \"%s\" booted", m->name);
    return 0;
}

int watch_event(struct watch *w, struct mono now, struct wall wall, struct member *m, const char *check,
                const struct verdict *v, struct span age, struct err *e)
{
    if (!outside_is(w, check) || strlen(check) > CHECK_NAME_BYTES_MAX)
        return err_set(e, -EINVAL, "\"%.60s\" is no check of another system", check);
    struct mono at = watch_observed_at(w, now), looked = {at.ns - age.ns};
    int rc = check_boot(w, now, m, age, e);
    if (rc < 0)
        return rc;
    struct health_state *of = health_state_of(w, m);
    struct outside *x = outside_of(of, at, check);
    if (!x)
        return err_set(e, -ENOSPC, "node \"%s\" has %d such checks that are not well", m->name, OUTSIDE_MAX);
    if (x->told.ns && looked.ns < x->looked.ns)
        return err_set(e, -ESTALE, "there is a newer result of %s on node \"%s\"", check, m->name);
    outside_take(x, at, looked, v);
    watch_touch(w, m, ASPECT_CHECKS);
    health_heard(w, at, wall, m);
    return 0;
}

void outside_each(const struct watch *w, struct mono now, const struct member *m, struct said *said,
                  said_fn *fn, void *arg)
{
    const struct health_state *v = health_state_find(w, m);
    for (const struct outside *x = v ? v->outside : NULL; x; x = x->next) {
        *said = (struct said){.check = &x->record, .since = x->since, .looked = x->looked};
        verdict_clear(&said->verdict);
        if (outside_now(w, now, m, x) != x->result) {
            verdict_cannot(&said->verdict, RESULT_UNKNOWN, "%s",
                           watch_live(w, m) ? "the result is out of date" : "the node is not heard");
        } else {
            said->verdict.result = x->result;
            snprintf(said->verdict.text, sizeof said->verdict.text, "%s", x->text);
            said->verdict.more = x->more;
            said->verdict.n = x->n;
            memcpy(said->verdict.findings, x->findings, x->n * sizeof *x->findings);
        }
        fn(arg, said);
    }
}

void outside_write(const struct watch *w, struct mono now, const struct member *m, struct text *t)
{
    const struct health_state *v = health_state_find(w, m);
    CLEANUP_FREE struct verdict *is = mem_alloc(sizeof *is);
    text_add_char(t, '[');
    for (const struct outside *x = v ? v->outside : NULL; x; x = x->next) {
        const int64_t age_ms = span_to_ms(mono_sub(watch_awake(w, now), x->looked));
        verdict_clear(is);
        is->result = x->result;
        snprintf(is->text, sizeof is->text, "%s", x->text);
        is->more = x->more;
        is->n = x->n;
        memcpy(is->findings, x->findings, x->n * sizeof *x->findings);
        text_add(t, x == v->outside ? "{\"check\":" : ",{\"check\":");
        text_add_json(t, x->name);
        text_printf(t, ",\"age_ms\":%" PRId64 ",\"is\":", age_ms > 0 ? age_ms : 0);
        verdict_write(is, t);
        text_add_char(t, '}');
    }
    text_add_char(t, ']');
}

int outside_read(struct watch *w, struct mono now, struct wall wall, struct member *m, const json_t *one,
                 struct err *e)
{
    const char *check;
    uint64_t age_ms;
    CLEANUP_FREE struct verdict *is = mem_alloc(sizeof *is);
    if (json_take_string(one, "check", &check, e) < 0 ||
        json_take_u64(one, "age_ms", AGE_MAX_MS, &age_ms, e) < 0 ||
        verdict_read(json_object_get(one, "is"), is, e) < 0)
        return -EINVAL;
    /* What the watch does not take, because it is old or its check has a record here, counts for nothing. */
    watch_event(w, now, wall, m, check, is, span_ms((int64_t)age_ms), NULL);
    return 0;
}

void outside_create(struct watch *w)
{
    w->bmcs = mem_alloc(sizeof *w->bmcs);
    w->windows = mem_alloc(sizeof *w->windows);
    w->machines = mem_alloc(sizeof *w->machines);
}

void outside_destroy(struct watch *w)
{
    bmc_destroy(w);
    windows_destroy(w);
    machines_destroy(w);
    free(STEAL(w->bmcs));
    free(STEAL(w->windows));
    free(STEAL(w->machines));
}
