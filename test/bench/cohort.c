/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bookkeeping of cohorts at 100,000 nodes: a node changes its cohort, the largest cohort is asked for,
 * and the memory for a node; with 50 cohorts, and with each node in one of its own. usage: bench-cohort
 */
#include "conform/cohort.h"
#include "base/clock.h"
#include "base/digest.h"
#include "base/text.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

enum { NODES = 100000, COHORTS = 50, CHANGES = 100000 };

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static struct fingerprint id_of(uint32_t n)
{
    struct fingerprint f;
    digest_sha256_bytes(&n, sizeof n, f.bytes);
    return f;
}

struct figures {
    int64_t change_p50, change_p99, change_max, largest_p99, largest_max;
    double bytes_a_node;
};

static struct figures measure(uint32_t ids)
{
    static int64_t change[CHANGES], largest[CHANGES];
    unsigned seed = 1;
    size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
    struct cohorts *c = cohorts_create();
    for (uint32_t i = 0; i < NODES; i++) {
        struct fingerprint f = id_of(i % ids);
        cohorts_set(c, i, &f);
    }
    size_t bytes = mallinfo2().uordblks + mallinfo2().hblkhd - before;
    for (int i = 0; i < CHANGES; i++) {
        struct fingerprint f = id_of((uint32_t)rand_r(&seed) % ids);
        uint32_t node = (uint32_t)rand_r(&seed) % NODES;
        struct mono start = mono_now();
        cohorts_set(c, node, &f);
        struct mono changed = mono_now();
        if (!cohorts_largest(c))
            abort();
        largest[i] = mono_sub(mono_now(), changed).ns;
        change[i] = mono_sub(changed, start).ns;
    }
    cohorts_destroy(c);
    qsort(change, CHANGES, sizeof *change, ascending);
    qsort(largest, CHANGES, sizeof *largest, ascending);
    return (struct figures){change[CHANGES / 2],         change[CHANGES / 100 * 99], change[CHANGES - 1],
                            largest[CHANGES / 100 * 99], largest[CHANGES - 1],       (double)bytes / NODES};
}

static void print(const char *when, struct figures f)
{
    printf("\"change%s_p50_ns\":%lld,\"change%s_p99_ns\":%lld,\"change%s_max_ns\":%lld,"
           "\"largest%s_p99_ns\":%lld,\"largest%s_max_ns\":%lld,\"bytes_a_node%s\":%.1f",
           when, (long long)f.change_p50, when, (long long)f.change_p99, when, (long long)f.change_max, when,
           (long long)f.largest_p99, when, (long long)f.largest_max, when, f.bytes_a_node);
}

int main(void)
{
    printf("{");
    print("", measure(COHORTS));
    printf(",");
    print("_each_its_own", measure(UINT32_MAX));
    printf("}\n");
    return 0;
}
