/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Placing 4,096 of 100,000 nodes that are in 50 cohorts and 1,563 topology groups, CALLS times, each time
 * with another policy, other busy and other drifted nodes; then with each node in a cohort of its own.
 * usage: bench-place CALLS
 */
#include "place/place.h"
#include "base/clock.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>

enum { NODES = 100000, COHORTS = 50, IN_GROUP = 64, WANTED = 4096, CALLS_MAX = 100000 };

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* Cohorts of different sizes: the least of two numbers drawn. */
static void fill(struct place_row *rows, unsigned *seed, bool own)
{
    unsigned busy = (unsigned)rand_r(seed) % 70; /* percent */
    for (uint32_t i = 0; i < NODES; i++) {
        uint32_t a = (uint32_t)rand_r(seed) % COHORTS, b = (uint32_t)rand_r(seed) % COHORTS;
        rows[i] = (struct place_row){.cohort = own ? i + 1 : 1 + (a < b ? a : b),
                                     .group = (uint16_t)(1 + i / IN_GROUP),
                                     .pass = (unsigned)rand_r(seed) % 100 < busy ? PASS_BUSY : PASS_NONE,
                                     .drifted = rand_r(seed) % 50 == 0,
                                     .unproven = rand_r(seed) % 50 == 0};
    }
}

static void measure(const char *when, bool own, size_t calls)
{
    int64_t *ns = mem_alloc(calls * sizeof *ns);
    unsigned seed = 1;
    struct placer *p = placer_create();
    struct place_row *rows = mem_alloc(NODES * sizeof *rows);
    int64_t refused = 0;
    for (size_t i = 0; i < calls; i++) {
        fill(rows, &seed, own);
        struct place_ask ask = {.n = WANTED, .policy = (enum place_policy)(i % PLACE_POLICIES), .class = -1};
        struct place_answer a = {0};
        struct mono before = mono_now();
        refused += place_choose(p, rows, NODES, &ask, &a, NULL) < 0;
        ns[i] = mono_sub(mono_now(), before).ns;
        place_answer_fini(&a);
    }
    qsort(ns, calls, sizeof *ns, ascending);
    if (refused > 0)
        exit(1);
    printf("\"place%s_p50_ns\":%lld,\"place%s_p99_ns\":%lld,\"place%s_max_ns\":%lld", when,
           (long long)ns[calls / 2], when, (long long)ns[calls * 99 / 100], when, (long long)ns[calls - 1]);
    free(rows);
    free(ns);
    placer_destroy(p);
}

int main(int argc, char **argv)
{
    uint64_t calls;
    if (argc != 2 || text_parse_u64(argv[1], 1, CALLS_MAX, &calls, NULL) < 0)
        return 2;
    printf("{");
    measure("", false, calls);
    printf(",");
    measure("_each_its_own", true, calls);
    printf("}\n");
    return 0;
}
