/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Choosing among 30 remedies for 20 open findings, 10,000 times: each time with other remedies, faults,
 * devices and records. Then with as many as there may be.
 * usage: bench-remedy
 */
#include "remedy/remedy.h"
#include "base/clock.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KINDS = 64 };

static unsigned draw(unsigned *seed, unsigned below)
{
    return (unsigned)rand_r(seed) % below;
}

static struct outcomes record(void *arg, const char *fault, const char *remedy, const char *class)
{
    uint32_t hash = 2166136261u;
    for (const char *s = fault; *s; s++)
        hash = (hash ^ (uint8_t)*s) * 16777619u;
    for (const char *s = remedy; *s; s++)
        hash = (hash ^ (uint8_t)*s) * 16777619u;
    return (struct outcomes){.helped = hash % 16, .failed = hash / 16 % 8};
}

/* Every other helps any fault, as a reboot does; the rest help some. */
static void add_remedy(struct text *t, unsigned i, unsigned *seed)
{
    text_printf(t, "Remedy=r%u Run=node:true Confidence=%u%% Because=x Takes=%um Disturbs=%u Helps=", i,
                1 + draw(seed, 99), 1 + draw(seed, 30), draw(seed, 100));
    if (i % 2 == 0)
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

static int64_t once(unsigned n_remedies, unsigned n_faults, unsigned *seed)
{
    static struct choice out;
    struct remedies r;
    struct fault faults[FAULTS_MAX];
    char names[FAULTS_MAX][8], groups[FAULTS_MAX][8];
    CLEANUP_TEXT struct text t = {0};
    for (unsigned i = 0; i < n_remedies; i++)
        add_remedy(&t, i, seed);
    if (remedies_parse("bench", t.s, t.len, &r, NULL) < 0)
        exit(1);
    for (unsigned i = 0; i < n_faults; i++) {
        snprintf(names[i], sizeof names[i], "f%u", draw(seed, KINDS));
        snprintf(groups[i], sizeof groups[i], "g%u", draw(seed, 2 * n_faults));
        faults[i] = (struct fault){.fault = names[i], .severity = RESULT_FATAL, .group = groups[i]};
    }
    struct choice_input in = {
        .remedies = &r, .class = "gpu", .n_faults = n_faults, .faults = faults, .outcomes = record};
    in.policy = (struct cost_policy){.minute = 1000, .disturb = 200, .person = 240000, .scarce = 100};
    struct mono before = mono_now();
    remedy_choose(&in, &out);
    int64_t ns = mono_sub(mono_now(), before).ns;
    remedies_fini(&r);
    return ns;
}

static void measure(const char *when, unsigned calls, unsigned n_remedies, unsigned n_faults)
{
    unsigned seed = 1;
    int64_t *ns = mem_alloc(calls * sizeof *ns);
    for (unsigned i = 0; i < calls; i++)
        ns[i] = once(n_remedies, n_faults, &seed);
    qsort(ns, calls, sizeof *ns, ascending);
    printf("\"choice%s_p50_ns\":%lld,\"choice%s_p99_ns\":%lld,\"choice%s_max_ns\":%lld", when,
           (long long)ns[calls / 2], when, (long long)ns[calls / 100 * 99], when, (long long)ns[calls - 1]);
    free(ns);
}

int main(void)
{
    printf("{");
    measure("", 10000, 30, 20);
    printf(",");
    measure("_of_most", 500, REMEDIES_MAX, FAULTS_MAX);
    printf("}\n");
    return 0;
}
