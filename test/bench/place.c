/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Placing 4,096 of 100,000 nodes that are in 50 cohorts and 1,563 topology groups, 1,000 times, each time
 * with another policy, other busy and other drifted nodes; then with each node in a cohort of its own.
 * usage: bench-place
 */
#include "place/place.h"
#include "base/clock.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>

enum { NODES = 100000, COHORTS = 50, IN_GROUP = 64, WANTED = 4096, CALLS = 1000 };

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

static void measure(const char *when, bool own)
{
    static int64_t ns[CALLS];
    unsigned seed = 1;
    struct placer *p = placer_create();
    struct place_row *rows = mem_alloc(NODES * sizeof *rows);
    int64_t refused = 0;
    for (int i = 0; i < CALLS; i++) {
        fill(rows, &seed, own);
        struct place_ask ask = {.n = WANTED, .policy = (enum place_policy)(i % PLACE_POLICIES), .class = -1};
        struct place_answer a = {0};
        struct mono before = mono_now();
        refused += place_choose(p, rows, NODES, &ask, &a, NULL) < 0;
        ns[i] = mono_sub(mono_now(), before).ns;
        place_answer_fini(&a);
    }
    qsort(ns, CALLS, sizeof *ns, ascending);
    if (refused > 0)
        exit(1);
    printf("\"place%s_p50_ns\":%lld,\"place%s_p99_ns\":%lld,\"place%s_max_ns\":%lld", when,
           (long long)ns[CALLS / 2], when, (long long)ns[CALLS / 100 * 99], when, (long long)ns[CALLS - 1]);
    free(rows);
    placer_destroy(p);
}

int main(void)
{
    printf("{");
    measure("", false);
    printf(",");
    measure("_each_its_own", true);
    printf("}\n");
    return 0;
}
