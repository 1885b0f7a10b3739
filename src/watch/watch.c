/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sweep: each tick adds a tenth of the members, and the caller takes them in steps of any size, so that a
 * hundred thousand members hold up no turn of the loop. The commands that members need are collected over the
 * whole sweep and proposed at its end (call.c). Silence does not wait for the sweep (silence.c).
 *
 * A proposal is repeated in the next sweep while the state has not followed. The commands are written so that
 * a second one changes nothing, and the shell takes one of a kind at a time.
 *
 * Time: `awake` is the monotonic clock less the time in which this process stood still (a stopped process, a
 * loop that hung). A controller that does not listen cannot hear a node. The first event after such a time
 * takes notice of the gap, even when it comes before the first tick, so that no node is heard in the future.
 */
#include "watch/watch.h"
#include "watch/alarm_watch_inside.h"
#include "watch/budget/budget.h"
#include "watch/call_inside.h"
#include "watch/conform/conform.h"
#include "watch/health/health.h"
#include "watch/health_inside.h"
#include "watch/hearing_inside.h"
#include "watch/hold/hold.h"
#include "watch/incident/incident.h"
#include "watch/outside/outside.h"
#include "watch/presence/presence.h"
#include "watch/repair/repair.h"
#include "watch/trial/trial.h"
#include "watch/view/observed.h"
#include "watch/view/policy.h"
#include "watch/view/shell.h"
#include "watch/view/view.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Makes room for members that were met since, in each room that remembers something about members. */
static void watch_grow(struct watch *w, size_t from, size_t n)
{
    rows_grow(w, from, n);
    bmcs_grow(w, from, n);
    silence_grow(w, from, n);
    conformity_grow(w, from, n);
}

static const struct watch_up up = {.grow = watch_grow,
                                   .stood_still = health_stood_still,
                                   .row = row_make,
                                   .changed = health_follow,
                                   .heard = health_take};

static struct watch *watch_make(struct cluster *c, const struct watch_policy *p, struct mono now,
                                struct span before, const struct watch_sink *sink)
{
    struct watch *w = view_create(c, p, now, before, sink, &up);
    silence_create(w);
    held_create(w);
    conform_create(w);
    health_states_create(w);
    isolation_create(w);
    outside_create(w);
    incidents_create(w);
    trial_create(w);
    w->calls = mem_alloc(sizeof *w->calls);
    w->hearing = mem_alloc(sizeof *w->hearing);
    health_create(w);
    return w;
}

struct watch *watch_create(struct cluster *c, const struct watch_policy *p, struct mono now,
                           const struct watch_sink *sink)
{
    return watch_make(c, p, now, (struct span){0}, sink);
}

/* What was observed longer ago counts as observed then: every limit that an age is compared with is shorter.
 */
enum { BEFORE_DAYS = 90 };

struct watch *watch_create_following(struct cluster *c, const struct watch_policy *p, struct mono now,
                                     const struct watch_sink *sink)
{
    return watch_make(c, p, now, span_s(INT64_C(86400) * BEFORE_DAYS), sink);
}

void watch_exchange(struct watch *a, struct watch *b)
{
    while (a->alarms.list)
        alarms_end(&a->alarms, a->alarms.list->kind, a->alarms.list->subject,
                   "this controller observes the nodes anew");
    struct watch was = *a;
    const struct watch_sink of_b = b->sink;
    *a = *b;
    *b = was;
    a->sink = was.sink;
    b->sink = of_b;
    a->alarms.fn = was.alarms.fn;
    a->alarms.arg = was.alarms.arg;
    b->alarms.fn = of_b.alarm;
    b->alarms.arg = of_b.arg;
}

void watch_destroy(struct watch *w)
{
    if (!w)
        return;
    conform_destroy(w);
    health_destroy(w);
    trial_destroy(w);
    incidents_destroy(w);
    outside_destroy(w);
    isolation_destroy(w);
    silence_destroy(w);
    held_destroy(w);
    calls_destroy(w);
    free(STEAL(w->calls));
    free(STEAL(w->hearing));
    view_destroy(w);
}

static bool watch_shorter(const struct beat_timeouts *now, const struct beat_timeouts *was)
{
    return now->late.ns < was->late.ns || now->silent.ns < was->silent.ns;
}

void watch_set_policy(struct watch *w, const struct watch_policy *p)
{
    const struct watch_policy *was = &w->policy;
    bool stricter = (p->judge && !was->judge) || watch_shorter(&p->plain, &was->plain) ||
                    watch_shorter(&p->sensitive, &was->sensitive) ||
                    watch_shorter(&p->borrowed, &was->borrowed);
    for (size_t i = 0; stricter && i < w->n; i++)
        beat_excuse(&w->seen[i].beat, watch_awake(w, w->last_tick));
    w->policy = *p;
    conformity_reconfigure(w);
    bmcs_reconfigure(w);
    health_reconfigure(w);
}

void watch_changed(struct watch *w, const struct hostlist *nodes)
{
    size_t place = 0;
    for (size_t i = 0; i < nodes->n; i++) {
        const struct member *m = cluster_find_next(w->cluster, &place, nodes->names[i]);
        if (!m)
            continue;
        conformity_touch(w, m);
        row_shortfall(w, m);
        health_changed(w, m);
        trial_changed(w, m);
        row_refresh(w, m);
        silence_look(w, m); /* a member that is already silent may have entered service only now */
    }
}

/* --- observations ---------------------------------------------------------------------------- */

static bool boot_id_ok(const char *boot)
{
    return strlen(boot) == 36 && strspn(boot, "0123456789abcdef-") == 36;
}

static void set_work(struct watch *w, const struct member *m, const json_t *work)
{
    struct observed *o = watch_of(w, m);
    char *was = o->running;
    o->running = work ? json_write(work) : NULL;
    o->work = !work ? WORK_UNKNOWN : json_array_size(work) ? WORK_BUSY : WORK_IDLE;
    if (was && o->running ? strcmp(was, o->running) != 0 : was != o->running)
        watch_touch(w, m, ASPECT_PRESENCE);
    free(was);
}

/* m was heard: followers are told so together with others. */
static void set_heard(struct watch *w, const struct member *m, struct wall wall)
{
    struct observed *o = watch_of(w, m);
    o->heard_wall = wall;
    o->changed_heard = o->changed_any = ++w->changes;
}

int watch_open(struct watch *w, struct mono now, struct member *m, const struct hello *h, void *session,
               const struct member *collector, bool *want, void **old, struct err *e)
{
    struct observed *o = watch_of(w, m);
    if (!boot_id_ok(h->boot))
        return err_set(e, -EINVAL, "\"%.40s\" is not a boot id", h->boot);
    bool elsewhere = o->session != NULL && o->session != session;
    struct span silence = mono_sub(watch_observed_at(w, now), o->beat.heard);
    bool occupied = elsewhere && silence.ns < timeouts_of(w, m)->late.ns;
    int rc = beat_open(&o->beat, h->instance, h->key, occupied, e);
    if (rc == -EBUSY || (rc == -EACCES && elsewhere)) {
        struct text t = {0};
        text_printf(&t,
                    "a second agent claims the name and is refused: its key is %016" PRIx64
                    ", the other's %016" PRIx64,
                    h->key, o->beat.key);
        w->sink.notice(w->sink.arg, "node.duplicate", m->name, t.s);
        text_fini(&t);
    }
    if (rc < 0)
        return rc;
    if (strcmp(o->boot, h->boot) != 0) {
        boot_opened(w, watch_observed_at(w, now), m, h->boot);
        memcpy(o->boot, h->boot, sizeof o->boot);
        set_work(w, m, NULL); /* work from before the boot has ended; what runs now is not known yet */
        watch_touch(w, m, ASPECT_CONFORM);
        watch_touch(w, m, ASPECT_CHECKS);
        conformity_boot(w, watch_observed_at(w, now), m);
        bmc_boot(w, watch_observed_at(w, now), m);
        health_boot(w, m);
    }
    health_open(w, m);
    free(o->version);
    o->version = mem_dup(h->version);
    *old = o->session != session ? o->session : NULL;
    o->session = session;
    o->collector = collector;
    watch_touch(w, m, ASPECT_PRESENCE);
    *want = !o->report.json || strcmp(o->report.hash, h->inventory) != 0;
    o->inventoried = !*want;
    row_refresh(w, m);
    return 0;
}

void watch_close(struct watch *w, struct member *m, void *session)
{
    struct observed *o = watch_of(w, m);
    if (o->session != session)
        return;
    o->session = NULL;
    watch_touch(w, m, ASPECT_PRESENCE);
    gather_forget(w, m);
}

/* Called before m is marked as live: m was missed and is back, and the event stream says so. */
static void note_return(struct watch *w, const struct member *m, enum liveness was)
{
    if (m->listed && (was == LIVENESS_LATE || was == LIVENESS_SILENT))
        silence_ended(w, m);
}

/* Also brings back a member that was forgotten. */
static void watch_hear(struct watch *w, struct member *m)
{
    if (m->gone)
        cluster_meet(w->cluster, m->name);
    if (silence_heeds(w, m))
        silence_look(w, m);
}

int watch_heartbeat(struct watch *w, struct mono now, struct wall wall, struct member *m,
                    const struct heartbeat *h, struct err *e)
{
    struct observed *o = watch_of(w, m);
    if (strcmp(h->boot, o->boot) != 0)
        return err_set(e, -EBUSY, "a heartbeat of another boot than the session's");
    enum liveness was = o->beat.liveness;
    int rc = beat_take(&o->beat, watch_observed_at(w, now), h->instance, h->seq, e);
    if (rc < 0)
        return rc;
    note_return(w, m, was);
    watch_hear(w, m);
    set_work(w, m, h->work);
    if (!o->uptime_at.ns || h->uptime_s < o->uptime_s)
        watch_touch(w, m, ASPECT_PRESENCE);
    o->uptime_s = h->uptime_s;
    o->uptime_at = now;
    set_heard(w, m, wall);
    row_refresh(w, m);
    return 0;
}

void watch_vouch(struct watch *w, struct mono now, struct wall wall, struct member *m)
{
    struct observed *o = watch_of(w, m);
    note_return(w, m, o->beat.liveness);
    beat_vouch(&o->beat, watch_observed_at(w, now));
    watch_hear(w, m);
    set_heard(w, m, wall);
    row_refresh(w, m);
}

void watch_remember(struct watch *w, struct member *m, struct wall at)
{
    watch_of(w, m)->heard_before = at;
    watch_touch(w, m, ASPECT_PRESENCE);
}

void watch_remember_report(struct watch *w, struct member *m, json_t *inventory)
{
    struct observed *o = watch_of(w, m);
    CLEANUP_JSON json_t *message = json_pack("{s:s,s:b,s:O}", "hash", "", "full", 1, "set", inventory);
    if (o->report.json)
        return;
    observed_forget_before(o);
    o->before = mem_alloc(sizeof *o->before);
    report_update(o->before, message, NULL);
    watch_touch(w, m, ASPECT_REPORT);
}

const struct report *watch_report(const struct watch *w, const struct member *m)
{
    const struct observed *o = watch_observed(w, m);
    return o->before ? o->before : &o->report;
}

void watch_excuse(struct watch *w, struct mono now, struct span more, struct member *m)
{
    beat_excuse(&watch_of(w, m)->beat, mono_add(watch_observed_at(w, now), more));
    watch_touch(w, m, ASPECT_PRESENCE);
    silence_look(w, m);
}

void watch_missed(struct watch *w, struct mono now, struct span ago, struct member *m)
{
    struct observed *o = watch_of(w, m);
    o->missed = watch_observed_at(w, now);
    beat_correct(&o->beat, (struct mono){o->missed.ns - ago.ns});
    watch_touch(w, m, ASPECT_PRESENCE);
    silence_look(w, m);
}

void watch_expect_boot(struct watch *w, struct mono now, struct member *m)
{
    watch_of(w, m)->came.excused = watch_observed_at(w, now);
}

int watch_inventory(struct watch *w, struct member *m, const json_t *message, struct err *e)
{
    struct observed *o = watch_of(w, m);
    int rc = report_update(&o->report, message, e);
    o->inventoried |= rc == 0;
    if (rc == 0)
        observed_forget_before(o);
    watch_touch(w, m, ASPECT_REPORT);
    row_shortfall(w, m);
    row_refresh(w, m);
    return rc;
}

/* --- what follows ---------------------------------------------------------------------------- */

enum { ROW_SWEEPS = 8 };

static void watch_examine(struct watch *w, struct member *m, struct mono now)
{
    struct observed *o = watch_of(w, m);
    struct agreed a = member_agreed(m);
    enum liveness is = o->beat.liveness;
    silence_look(w, m);
    bool judged = conformity_look(w, now, m, conformity_pressing(w, m));
    enum work work = watch_work(w, m);
    if (a.listed) {
        drift_examine(w, now, m, judged);
        machine_look(w, now, m);
        bmc_look(w, now, m);
        lost_look(w, now, m);
        boot_look(w, now, m);
    }
    if (window_look(w, m))
        provision_after_window(w, now, m);
    override_look(w, now, m);
    held_look(w, now, m);
    health_look(w, now, m);
    trial_look(w, now, m);
    if ((m->id + w->sweeps) % ROW_SWEEPS == 0)
        row_refresh(w, m); /* after a change the row was refreshed by the code that made it */
    if (!a.listed)
        return;
    if (is_put_into_service(w, m))
        call_add(w, a.admitted ? CALL_AGAIN : CALL_ADMIT, m);
    if (is_heard(w, m) && a.silent)
        call_add(w, CALL_HEARD, m);
    if (is == LIVENESS_LIVE && a.drain && !a.drained && work == WORK_IDLE)
        call_add(w, CALL_DRAINED, m);
    if (is == LIVENESS_LIVE && a.drained && work == WORK_BUSY)
        call_add(w, CALL_DRAINING, m);
}

/* The judgements about the whole cluster at the end of a sweep, in this order, each in its own step. */
typedef void end_fn(struct watch *w);
static end_fn *const ends[] = {silence_end_sweep, calls_end_sweep,    machines_end_sweep, bmcs_end_sweep,
                               windows_end_sweep, drift_end_sweep,    gather_end_sweep,   shared_end_sweep,
                               trial_end_sweep,   measures_end_sweep, brake_end_sweep,    alarms_end_sweep};
enum { ENDS = sizeof ends / sizeof ends[0] };

/* All members up to the end of the slice were looked at. False when there is nothing to end. */
static bool end_step(struct watch *w)
{
    if (w->slice < WATCH_SLICES)
        return false;
    if (groups_step(w))
        return true;
    ends[w->ended++](w);
    if (w->ended == ENDS) {
        w->sweeps++;
        w->slice = w->ended = 0;
        w->cursor = 0;
    }
    return true;
}

/* Looks at `nodes` members at most and returns how many it looked at. Comparing lists counts as looking. */
static size_t sweep_step(struct watch *w, struct mono now, size_t nodes)
{
    enum { COMPONENTS_A_NODE = 4 };
    size_t end = cluster_count(w->cluster) * w->slice / WATCH_SLICES, looked = 0;
    while (w->cursor < end && looked < nodes) {
        int64_t left = conformity_work_left(w);
        watch_examine(w, cluster_by_id(w->cluster, w->cursor++), now);
        looked += 1 + (size_t)(left - conformity_work_left(w)) / COMPONENTS_A_NODE;
    }
    return looked < nodes ? looked : nodes;
}

void watch_tick(struct watch *w, struct mono now, struct wall wall)
{
    view_tick(w, now, wall);
    silence_tick(w, watch_awake(w, now));
    conformity_tick(w);
    health_tick(w, watch_awake(w, now));
    trial_tick(w, watch_awake(w, now));
    if (w->slice < WATCH_SLICES)
        w->slice++;
    if (w->slice < WATCH_SLICES)
        calls_tick(w); /* otherwise they come at the sweep's end */
}

bool watch_step(struct watch *w, size_t nodes)
{
    assert(nodes > 0 && "a step looks at some node");
    struct mono now = watch_awake(w, w->last_tick);
    nodes -= silence_step(w, now, nodes);
    nodes -= health_step(w, now, nodes);
    nodes -= sweep_step(w, now, nodes);
    return nodes == 0 || calls_step(w) || end_step(w);
}

/* --- answers --------------------------------------------------------------------------------- */
