/* SPDX-License-Identifier: Apache-2.0 */
/*
 *   sim --seed N [--steps M] [--trace] [--follow NODE]     one history; what is said of one node
 *   sim --seeds A-B [--steps M]                            many
 *
 * Ends with 1 at the first seed that breaks an invariant, with the last events and the command that
 * plays it again.
 */
#include "sim.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TRACE_LINES = 60, TRACE_BYTES = 200, SIM_STEPS = 4000, CALM_STEPS = 15000, SETTLE_STEPS = 600 };

static char trace[TRACE_LINES][TRACE_BYTES];
static size_t traced;

static void stamp(const struct sim *s, char *out, size_t size, const char *fmt, va_list ap)
{
    int n = snprintf(out, size, "%9.1f  ", (double)s->now / 1e9);
    vsnprintf(out + n, size - (size_t)n, fmt, ap);
}

void sim_say(struct sim *s, const char *fmt, ...)
{
    char *line = trace[traced++ % TRACE_LINES];
    va_list ap;
    va_start(ap, fmt);
    stamp(s, line, TRACE_BYTES, fmt, ap);
    va_end(ap);
    if (s->verbose)
        puts(line);
}

void sim_fail(struct sim *s, const char *fmt, ...)
{
    char why[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(why, sizeof why, fmt, ap);
    va_end(ap);
    for (size_t i = traced > TRACE_LINES ? traced - TRACE_LINES : 0; i < traced && !s->verbose; i++)
        puts(trace[i % TRACE_LINES]);
    printf("seed %" PRIu64 ", step %ld, %.1f s: %s\nplay it again: sim --seed %" PRIu64 " --steps %ld\n",
           s->seed, s->step, (double)s->now / 1e9, why, s->seed, s->calm ? s->steps : s->step + 1);
    fflush(stdout);
    _exit(1);
}

/* Except alarms that wait for a person who is not played. */
static bool alarms_are_over(const struct sim *s, char *why, size_t size)
{
    for (size_t i = 0; i < s->n_standing; i++) {
        const struct told_alarm *a = &s->standing[i];
        if (a->kind == ALARM_DRIFT || a->kind == ALARM_ROLLOUT || a->kind == ALARM_FINGERPRINT)
            continue;
        snprintf(why, size, "the alarm %s %s stands (15)", alarm_name(a->kind), a->subject);
        return false;
    }
    return true;
}

/* Faults end: within this time every node is back in service. */
static void calm_down(struct sim *s)
{
    char why[200] = "";
    if (!s->ill)
        return;
    ill_calm(s);
    for (long left = CALM_STEPS; left > 0; left--) {
        sim_step(s);
        if (left % 10 == 0 && left < CALM_STEPS - SETTLE_STEPS && mend_all_well(s, why, sizeof why) &&
            alarms_are_over(s, why, sizeof why))
            return;
    }
    sim_fail(s, "faults ended %d s ago, and %s", CALM_STEPS / 10, why);
}

static void play(uint64_t seed, long steps, bool verbose, int follow, struct sim *sums)
{
    traced = 0;
    struct sim *s = sim_create(seed, steps);
    s->verbose = verbose;
    s->follow = follow;
    while (s->step < steps)
        sim_step(s);
    calm_down(s);
    sums->committed += s->committed;
    sums->crashes += s->crashes;
    sums->downs += s->downs;
    sums->alarms += s->alarms;
    sums->duplicates += s->duplicates;
    sums->refused += s->refused;
    sums->leads += s->leads;
    sums->drifts += s->drifts;
    sums->restored += s->restored;
    sums->persists += s->persists;
    sums->overdue += s->overdue;
    sums->reboots += s->reboots;
    sums->approved += s->approved;
    sums->liars += s->liars;
    sums->isolations += s->isolations;
    sums->returns += s->returns;
    sums->operations += s->operations;
    sums->queued += s->queued;
    sums->shared_causes += s->shared_causes;
    sums->latches += s->latches;
    sums->helped += s->helped;
    sums->overrides += s->overrides;
    sums->works_ended += s->works_ended;
    sums->tended += s->tended;
    sums->revived += s->revived;
    sums->given_back += s->given_back;
    sums->answers += s->answers;
    sums->trials += s->trials;
    sums->tried += s->tried;
    sums->examined += s->examined;
    sums->measured += s->measured;
    sums->swaps += s->swaps;
    sums->swaps_back += s->swaps_back;
    sums->renamed += s->renamed;
    sums->boots_found += s->boots_found;
    sim_destroy(s);
}

static int usage(void)
{
    fputs("usage: sim --seed N | --seeds A-B [--steps M] [--trace] [--follow NODE]\n", stderr);
    return 2;
}

int main(int argc, char **argv)
{
    uint64_t first = 1, last = 1, steps = SIM_STEPS, follow = NODES_MAX;
    bool verbose = false;
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        char *dash = strchr(argv[i + 1 < argc ? i + 1 : i], '-');
        if (strcmp(argv[i], "--trace") == 0) {
            verbose = true;
            continue;
        }
        if (strcmp(argv[i], "--steps") == 0) {
            if (text_parse_u64(value, 1, 100000000, &steps, NULL) < 0)
                return usage();
        } else if (strcmp(argv[i], "--follow") == 0) {
            if (text_parse_u64(value, 0, NODES_MAX, &follow, NULL) < 0)
                return usage();
        } else if (strcmp(argv[i], "--seed") == 0) {
            if (text_parse_u64(value, 0, UINT64_MAX, &first, NULL) < 0)
                return usage();
            last = first;
        } else if (strcmp(argv[i], "--seeds") == 0 && dash) {
            *dash = '\0';
            if (text_parse_u64(value, 0, UINT64_MAX, &first, NULL) < 0 ||
                text_parse_u64(dash + 1, first, UINT64_MAX - 1, &last, NULL) < 0)
                return usage();
        } else {
            return usage();
        }
        i++;
    }
    struct sim sums = {0};
    for (uint64_t seed = first; seed <= last; seed++)
        play(seed, (long)steps, verbose, (int)follow, &sums);
    printf("%" PRIu64 " seeds of %" PRIu64
           " steps: %zu commits, %zu leaders (%zu crashed), %zu nodes down, %zu alarms, "
           "%zu forged heartbeats and agents refused, %zu duplicates noticed\n",
           last - first + 1, steps, sums.committed, sums.leads, sums.crashes, sums.downs, sums.alarms,
           sums.refused, sums.duplicates);
    printf("drift found %zu times, gone %zu, back from a boot with it %zu, overdue %zu; %zu reboots, %zu "
           "approvals, "
           "%zu liars\n",
           sums.drifts, sums.restored, sums.persists, sums.overdue, sums.reboots, sums.approved, sums.liars);
    printf("%zu nodes isolated, %zu back, %zu times in the work queue, %zu operations, %zu helped; %zu "
           "shared causes, "
           "%zu surges; %zu trials, %zu runs, %zu in examinations, %zu times what they measured\n"
           "%zu machines swapped, %zu swapped back; %zu seen to be others; %zu overrides; %zu times the "
           "end of work asked for, %zu times tended in service; %zu operations on nodes that were not heard; "
           "%zu "
           "outcomes given back; %zu boots that nobody asked for; %zu single findings put right\n",
           sums.isolations, sums.returns, sums.queued, sums.operations, sums.helped, sums.shared_causes,
           sums.latches, sums.trials, sums.tried, sums.examined, sums.measured, sums.swaps, sums.swaps_back,
           sums.renamed, sums.overrides, sums.works_ended, sums.tended, sums.revived, sums.given_back,
           sums.boots_found, sums.answers);
    return 0;
}
