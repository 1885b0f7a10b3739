/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The checks of a usual nhc.conf on this machine, 1,000 sweeps: the processor time of one sweep, and how many
 * processes it starts. Checks that an agent would run in a child are counted, and measured all the same.
 * usage: bench-check
 */
#include "base/text.h"
#include "check/look.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

enum { SWEEPS = 1000 };

static const char records[] = "Check=cpus Probe=cpu.online\n"
                              "Check=memory Probe=memory.size Size=1MiB\n"
                              "Check=available Probe=memory.available\n"
                              "Check=swap Probe=swap\n"
                              "Check=ecc Probe=memory.ecc\n"
                              "Check=root Probe=fs.mounted Path=/ Options=rw\n"
                              "Check=proc Probe=fs.mounted Path=/proc Type=proc\n"
                              "Check=readonly Probe=fs.readonly\n"
                              "Check=space Probe=fs.space Path=/\n"
                              "Check=tmp Probe=fs.space Path=/tmp\n"
                              "Check=link Probe=ethernet\n"
                              "Check=daemon Probe=service Command=bench-check\n"
                              "Check=zombies Probe=zombies\n"
                              "Check=load Probe=load\n"
                              "Check=clock Probe=time\n";

static unsigned forks;

static void on_fork(void)
{
    forks++;
}

static int64_t cpu_ns(void)
{
    struct rusage r;
    getrusage(RUSAGE_SELF, &r);
    return (r.ru_utime.tv_sec + r.ru_stime.tv_sec) * 1000000000LL +
           (r.ru_utime.tv_usec + r.ru_stime.tv_usec) * 1000LL;
}

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static unsigned sweep(const struct checks *c, struct memory **memories)
{
    unsigned apart = 0;
    for (size_t i = 0; i < c->n; i++) {
        struct verdict v;
        struct look l = {.check = &c->list[i], .root = "", .now = mono_now(), .memory = memories[i]};
        apart += look_apart(&l);
        look_now(&l, &v);
    }
    return apart;
}

int main(void)
{
    static int64_t ns[SWEEPS];
    struct checks checks = {0};
    struct err e = {0};
    unsigned apart = 0;
    if (pthread_atfork(NULL, on_fork, NULL) != 0 ||
        checks_parse("bench", records, sizeof records - 1, &checks, &e) < 0) {
        fprintf(stderr, "%s\n", e.msg);
        return 1;
    }
    struct memory **memories = mem_alloc(checks.n * sizeof *memories);
    for (size_t i = 0; i < checks.n; i++)
        memories[i] = memory_create();
    int64_t began = cpu_ns();
    for (int i = 0; i < SWEEPS; i++) {
        int64_t before = cpu_ns();
        apart = sweep(&checks, memories);
        ns[i] = cpu_ns() - before;
    }
    int64_t mean = (cpu_ns() - began) / SWEEPS;
    qsort(ns, SWEEPS, sizeof *ns, ascending);
    printf("{\"checks\":%zu,\"apart\":%u,\"forks\":%u,\"sweep_cpu_mean_ns\":%lld,\"sweep_cpu_p50_ns\":%lld,"
           "\"sweep_cpu_p99_ns\":%lld}\n",
           checks.n, apart, forks, (long long)mean, (long long)ns[SWEEPS / 2],
           (long long)ns[SWEEPS / 100 * 99]);
    for (size_t i = 0; i < checks.n; i++)
        memory_destroy(memories[i]);
    free(memories);
    checks_fini(&checks);
    return 0;
}
