/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether work may land on a node, from everything that decides it: in words for people (watch_fitness), and
 * without words in a row for each node, for placing. A row is made anew when something about its node
 * changes.
 */
#include "watch/conform/conform.h"
#include "watch/health/health.h"
#include "watch/hold/hold.h"
#include "watch/incident/answer_inside.h"
#include "watch/incident/fitness_inside.h"
#include "watch/incident/incident.h"
#include "watch/incident/shell.h"
#include "watch/view/facts.h"
#include "watch/view/observed.h"
#include "watch/view/shell.h"
#include "watch/view/view.h"

#include <stdlib.h>

/* The reason to pass a node over, where its lifecycle does not give one. */
static enum place_pass pass_of(enum why w)
{
    switch (w) {
    case WHYS:
    case WHY_UNREAD:
    case WHY_OBSERVED: return PASS_NONE;
    case WHY_UNLISTED: return PASS_UNLISTED;
    case WHY_CLAIMS: return PASS_DRAINED;
    case WHY_FIRST:
    case WHY_NEVER:
    case WHY_COMES_UP:
    case WHY_LIFECYCLE:
    case WHY_INVENTORY: return PASS_NOT_READY;
    case WHY_LATE:
    case WHY_SILENT:
    case WHY_UNHEARD:
    case WHY_AGAIN:
    case WHY_LIVENESS: return PASS_NOT_HEARD;
    case WHY_RETURNING:
    case WHY_WINDOW:
    case WHY_ELSEWHERE: return PASS_ELSEWHERE;
    case WHY_SHORTFALL: return PASS_SHORTFALL;
    case WHY_HEALTH: return PASS_ILL;
    }
    return PASS_NONE;
}

/* The reason to pass a node over, by its claims and its lifecycle; else by `w`. */
static enum place_pass pass_held(const struct member *m, const struct agreed *a, enum why w)
{
    if (a->listed && (member_held_by(m, CLAIM_DRIFT) || member_held_by(m, CLAIM_OVERDUE)))
        return PASS_DRIFT;
    switch (lifecycle_of(a)) {
    case LIFECYCLE_UNLISTED: return PASS_UNLISTED;
    case LIFECYCLE_DOWN: return PASS_DOWN;
    case LIFECYCLE_DRAINING:
    case LIFECYCLE_DRAINED: return a->returning && !a->drain ? PASS_ELSEWHERE : PASS_DRAINED;
    case LIFECYCLE_EXAMINING:
    case LIFECYCLE_REMEDIATING:
    case LIFECYCLE_REPLACING:
    case LIFECYCLE_WORK_QUEUE:
    case LIFECYCLE_QUARANTINED:
    case LIFECYCLE_RETIRED: return PASS_REPAIR;
    case LIFECYCLE_NEW:
    case LIFECYCLE_PROVISIONING: return PASS_NOT_READY;
    case LIFECYCLE_AVAILABLE:
    case LIFECYCLES: break;
    }
    return pass_of(w);
}

/* As watch_fitness, without words. */
static enum why fitness_obstacle(const struct watch *w, const struct member *m, const struct agreed *a)
{
    const struct observed *o = &w->seen[m->id];
    struct fitness f = {.agreed = *a,
                        .liveness = o->beat.liveness,
                        .work = watch_work(w, m),
                        .shortfall = conformity_is_short(w, m) ? "short" : NULL,
                        .reported = o->report.json != NULL,
                        .window = window_of(w, m),
                        .comes_up = repair_comes_up(w, m),
                        .ill = health_excludes(w, watch_awake(w, w->last_tick), m)};
    held_fitness(w, m, &f);
    return lifecycle_obstacle(&f);
}

/* A node that was repaired lately is likelier to fail. */
static const struct span LATELY = {INT64_C(86400) * 1000000000};

static bool was_repaired(const struct watch *w, const struct member *m)
{
    const struct repair *r = member_repairs(m);
    return r && r->n_attempts > 0 && w->wall.ns - r->attempts[r->n_attempts - 1].at.ns < LATELY.ns;
}

/* By the last report. Where no work is known to run, something was left behind. */
static bool is_cramped(const struct report *r)
{
    enum { BUSY_PERCENT = 50, HOT_CELSIUS = 80 };
    bool is_full = r->free_memory_mb.known && r->real_memory_mb.known &&
                   r->free_memory_mb.value < r->real_memory_mb.value / 2;
    return is_full || (r->gpu_use.known && r->gpu_use.value >= BUSY_PERCENT) ||
           (r->gpu_celsius.known && r->gpu_celsius.value >= HOT_CELSIUS);
}

void row_make(struct watch *w, const struct member *m)
{
    watch_of(w, m);
    enum work work = watch_work(w, m);
    struct place_row *r = &w->fitness->rows[m->id];
    struct agreed a = member_agreed(m);
    enum conformance shown = conformity_shown(w, m);
    r->cohort = conformity_cohort(w, m);
    r->group = m->spec.group;
    r->class = (uint8_t)(m->class > UINT8_MAX ? UINT8_MAX : m->class);
    r->drifted = shown == CONFORMANCE_DRIFTED;
    r->unproven = shown == CONFORMANCE_UNKNOWN;
    r->repaired = was_repaired(w, m);
    r->cramped = is_cramped(&w->seen[m->id].report);
    enum why why = fitness_obstacle(w, m, &a);
    r->pass = (uint8_t)(why != WHYS            ? pass_held(m, &a, why)
                        : work == WORK_BUSY    ? PASS_BUSY
                        : work == WORK_UNKNOWN ? PASS_WORK_UNKNOWN
                        : m->owner             ? PASS_OWNED
                                               : PASS_NONE);
}

const struct place_row *watch_rows(struct watch *w, size_t *n)
{
    *n = cluster_count(w->cluster);
    if (*n > w->n)
        watch_of(w, cluster_by_id(w->cluster, (uint32_t)*n - 1));
    return w->fitness->rows;
}

void watch_fitness(const struct watch *w, struct mono now, const struct member *m, struct text *claims,
                   struct text *shortfall, struct fitness *f)
{
    const struct observed *o = watch_observed(w, m);
    text_clear(claims);
    text_clear(shortfall);
    if (m->n_claims)
        member_claims(m, claims);
    if (o->report.json)
        spec_shortfall(&m->spec, &o->report, shortfall);
    *f = (struct fitness){.agreed = member_agreed(m),
                          .liveness = o->beat.liveness,
                          .work = watch_work(w, m),
                          .silence = mono_sub(watch_awake(w, now), o->beat.heard),
                          .claims = claims->s,
                          .shortfall = shortfall->s,
                          .reported = o->report.json != NULL,
                          .conformance = conformity_shown(w, m),
                          .window = window_of(w, m),
                          .comes_up = repair_comes_up(w, m)};
    held_fitness(w, m, f);
    health_fitness(w, watch_awake(w, now), m, f);
}

void rows_grow(struct watch *w, size_t from, size_t n)
{
    w->fitness->rows = mem_grow(w->fitness->rows, w->cap * sizeof *w->fitness->rows);
    for (size_t i = from; i < n; i++)
        w->fitness->rows[i] = (struct place_row){0};
}

void rows_destroy(struct watch *w)
{
    free(w->fitness->rows);
}
