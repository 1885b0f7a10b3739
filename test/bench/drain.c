/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drains through libfettle, each waited for: CLIENTS threads, each with a connection of its own,
 * each draining COUNT nodes one by one.      usage: bench-drain SOCKET CLIENTS COUNT
 */
#include "base/clock.h"
#include "base/text.h"
#include "fettle.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct client {
    pthread_t thread;
    const char *socket;
    size_t first, n;
    int64_t *ns;
    size_t failed;
};

static void *run(void *arg)
{
    struct client *c = arg;
    const struct fettle_options options = {.controller = c->socket};
    struct fettle *f = NULL;
    struct fettle_error e;
    if (fettle_open(&options, &f, &e) < 0) {
        c->failed = c->n;
        return NULL;
    }
    for (size_t i = 0; i < c->n; i++) {
        char node[32];
        struct fettle_answer *answer = NULL;
        snprintf(node, sizeof node, "sw%05zu", c->first + i);
        struct mono before = mono_now();
        c->failed += fettle_node_drain(f, node, "bench", &answer, &e) < 0;
        c->ns[i] = mono_sub(mono_now(), before).ns;
        fettle_answer_free(answer);
    }
    fettle_close(f);
    return NULL;
}

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

int main(int argc, char **argv)
{
    uint64_t clients, count;
    if (argc != 4 || text_parse_u64(argv[2], 1, 256, &clients, NULL) < 0 ||
        text_parse_u64(argv[3], 1, 100000, &count, NULL) < 0)
        return 2;
    struct client *all = mem_alloc(clients * sizeof *all);
    int64_t *ns = mem_alloc(clients * count * sizeof *ns);
    struct mono before = mono_now();
    for (size_t i = 0; i < clients; i++) {
        all[i] = (struct client){.socket = argv[1], .first = 1 + i * count, .n = count, .ns = ns + i * count};
        pthread_create(&all[i].thread, NULL, run, &all[i]);
    }
    size_t failed = 0;
    for (size_t i = 0; i < clients; i++) {
        pthread_join(all[i].thread, NULL);
        failed += all[i].failed;
    }
    double seconds = (double)mono_sub(mono_now(), before).ns / 1e9;
    size_t n = clients * count;
    qsort(ns, n, sizeof *ns, ascending);
    int64_t p50 = ns[n / 2], p99 = ns[n * 99 / 100];
    printf("{\"failed\":%zu,\"per_second\":%.0f,\"p50_us\":%.1f,\"p99_us\":%.1f}\n", failed,
           (double)n / seconds, (double)p50 / 1e3, (double)p99 / 1e3);
    free(ns);
    free(all);
    return failed ? 1 : 0;
}
