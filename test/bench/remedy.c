/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Choosing among 30 remedies for 20 open findings, CALLS times, each time with other remedies, faults,
 * devices and records. Then the slowest input that was found: every remedy may help a little against every
 * fault, each fault has a cause of its own, and for each much was tried. Then with the largest allowed
 * numbers, a twentieth as often.
 *
 * The bench counts the processor time of the call, and for each input the shortest of three, because a
 * clock's interrupt is also charged to the running process. So the percentiles are those of the inputs and
 * not of other work of the machine. usage: bench-remedy CALLS
 */
#include "remedy/remedy.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { KINDS = 64, CHOICES = 3, CALLS_MAX = 1000000 };

/* The input of a choice. */
struct setting {
    unsigned n_remedies, n_faults;
    bool hard;
};

static unsigned draw(unsigned *seed, unsigned below)
{
    return (unsigned)rand_r(seed) % below;
}

static struct outcomes record(const void *arg, const char *fault, const char *remedy, const char *class)
{
    uint32_t hash = 2166136261u;
    for (const char *s = fault; *s; s++)
        hash = (hash ^ (uint8_t)*s) * 16777619u;
    for (const char *s = remedy; *s; s++)
        hash = (hash ^ (uint8_t)*s) * 16777619u;
    return (struct outcomes){.helped = hash % 16, .failed = hash / 16 % 8};
}

/* Every other remedy helps against any fault, as a reboot does; the rest help against some. */
static void add_remedy(struct text *t, unsigned i, bool hard, unsigned *seed)
{
    text_printf(t, "Remedy=r%u Run=node:true Confidence=%u%% Because=x Takes=%um Disturbs=%u Helps=", i,
                1 + draw(seed, hard ? 5 : 99), 1 + draw(seed, hard ? 1 : 30), draw(seed, hard ? 1 : 100));
    if (hard || i % 2 == 0)
        text_add(t, "*");
    else
        text_printf(t, "f%u,f%u,f%u", draw(seed, KINDS), draw(seed, KINDS), draw(seed, KINDS));
    text_add(t, "\n");
}

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* Each for as many faults as its text has room for. */
static void try_remedies(const struct remedies *r, struct attempt attempts[static ATTEMPTS_MAX],
                         char faults[static ATTEMPTS_MAX][FAULT_BYTES_MAX], unsigned *seed)
{
    for (unsigned i = 0; i < ATTEMPTS_MAX; i++) {
        size_t len = 0;
        while (len + sizeof ",f63" <= FAULT_BYTES_MAX)
            len += (size_t)snprintf(faults[i] + len, FAULT_BYTES_MAX - len, "%sf%u", len ? "," : "",
                                    draw(seed, KINDS));
        attempts[i] = (struct attempt){
            .remedy = r->list[draw(seed, (unsigned)r->n)].name, .fault = faults[i], .at = {.ns = 1}};
    }
}

/* The processor time of one choice. */
static int64_t choose(const struct choice_input *in)
{
    static struct choice out;
    struct timespec before, after;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before);
    remedy_choose(in, &out);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &after);
    return (after.tv_sec - before.tv_sec) * INT64_C(1000000000) + after.tv_nsec - before.tv_nsec;
}

static int64_t once(const struct setting *of, unsigned *seed)
{
    struct remedies r;
    struct fault faults[FAULTS_MAX];
    struct attempt attempts[ATTEMPTS_MAX];
    char names[FAULTS_MAX][16], groups[FAULTS_MAX][16], tried[ATTEMPTS_MAX][FAULT_BYTES_MAX];
    CLEANUP_TEXT struct text t = {0};
    for (unsigned i = 0; i < of->n_remedies; i++)
        add_remedy(&t, i, of->hard, seed);
    if (remedies_parse("bench", t.s, t.len, &r, NULL) < 0)
        exit(1);
    for (unsigned i = 0; i < of->n_faults; i++) {
        snprintf(names[i], sizeof names[i], "f%u", draw(seed, KINDS));
        snprintf(groups[i], sizeof groups[i], "g%u", draw(seed, 2 * of->n_faults));
        faults[i] =
            (struct fault){.fault = names[i], .severity = RESULT_FATAL, .group = of->hard ? NULL : groups[i]};
    }
    struct choice_input in = {
        .remedies = &r, .class = "gpu", .n_faults = of->n_faults, .faults = faults, .outcomes = record};
    in.policy = (struct cost_policy){.minute = 1000, .disturb = 200, .person = 240000, .scarce = 100};
    if (of->hard) {
        try_remedies(&r, attempts, tried, seed);
        in.attempts = attempts;
        in.n_attempts = ATTEMPTS_MAX;
    }
    int64_t least = INT64_MAX;
    for (int i = 0; i < CHOICES; i++) {
        int64_t ns = choose(&in);
        least = ns < least ? ns : least;
    }
    remedies_fini(&r);
    return least;
}

static void measure(const char *when, size_t calls, struct setting of)
{
    unsigned seed = 1;
    int64_t *ns = mem_alloc(calls * sizeof *ns);
    for (size_t i = 0; i < calls; i++)
        ns[i] = once(&of, &seed);
    qsort(ns, calls, sizeof *ns, ascending);
    printf("\"choice%s_p50_ns\":%lld,\"choice%s_p99_ns\":%lld,\"choice%s_max_ns\":%lld", when,
           (long long)ns[calls / 2], when, (long long)ns[calls * 99 / 100], when, (long long)ns[calls - 1]);
    free(ns);
}

int main(int argc, char **argv)
{
    uint64_t calls;
    if (argc != 2 || text_parse_u64(argv[1], 20, CALLS_MAX, &calls, NULL) < 0)
        return 2;
    printf("{");
    measure("", calls, (struct setting){30, 20, false});
    printf(",");
    measure("_at_its_hardest", calls, (struct setting){30, 20, true});
    printf(",");
    measure("_of_most", calls / 20, (struct setting){REMEDIES_MAX, FAULTS_MAX, true});
    printf("}\n");
    return 0;
}
