/* SPDX-License-Identifier: Apache-2.0 */
/* The stream of what the leader observes, in pieces of the first byte's size. */
#include "controller/observe/reading.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NODES = 3 };

static bool refuse(void *arg, const struct command *cmd)
{
    return false;
}

static void mute(void *arg, const char *what, const char *nodes, const char *text)
{
}

static void no_alarm(void *arg, const struct alarm *a, const char *over)
{
}

static void on_whole(void *arg)
{
}

static struct cluster *cluster_make(void)
{
    static const char *const names[NODES] = {"lx01", "lx02", "lx03"};
    struct roster roster = {
        .n = NODES, .nodes = mem_alloc(NODES * sizeof *roster.nodes), .partition_max = 31};
    struct cluster *c = cluster_create();
    for (int i = 0; i < NODES; i++) {
        roster.nodes[i].name = mem_dup(names[i]);
        spec_init(&roster.nodes[i].spec);
    }
    cluster_configure(c, &roster, NULL);
    return c;
}

static void look(struct watch *w, struct mono *now)
{
    now->ns += span_s(1).ns;
    watch_tick(w, *now, (struct wall){INT64_C(1800000000000000000)});
    while (watch_step(w, 100))
        ;
}

static void ignore(void *arg, enum picture_piece k, const char *json)
{
    CLEANUP_JSON json_t *is = json_read(json, strlen(json), NULL);
    if (!is)
        abort(); /* what was taken can be told */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct checks none;
    const struct watch_policy policy = {.plain = {span_s(30), span_s(90)},
                                        .sensitive = {span_s(30), span_s(90)},
                                        .borrowed = {span_s(30), span_s(90)},
                                        .quiet = span_s(30),
                                        .silent_share_percent = 25,
                                        .conform = {span_s(3600), span_s(60), span_s(60), 25},
                                        .health = {.checks = &none},
                                        .judge = true};
    const struct watch_sink sink = {NULL, refuse, mute, no_alarm};
    const struct wall wall = {INT64_C(1800000000000000000)};
    struct mono now = {span_s(1000).ns};
    const size_t step = size ? data[0] + (size_t)1 : 1;
    struct err e;
    bool news;
    struct cluster *c = cluster_make();
    struct watch *w = watch_create_following(c, &policy, now, &sink);
    struct reading *r = reading_create(w, "here", on_whole, NULL);
    for (size_t at = 1; at < size; at += step)
        if (reading_feed(r, (const char *)data + at, size - at < step ? size - at : step, now, wall, &news,
                         &e) < 0)
            break;
    look(w, &now);
    struct picture *p = picture_create();
    while (picture_step(w, now, wall, p, 10, ignore, NULL))
        ;
    picture_destroy(p);
    reading_destroy(r);
    watch_destroy(w);
    cluster_destroy(c);
    return 0;
}
