/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/sessions/collectors_inside.h"
#include "controller/sessions/frames_inside.h"

#include "base/json.h"

#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/*
 * Bodies from agents, without sockets. Each line of the input is a frame: the number of the node
 * that sends it (lx1 and lx2 are collectors, lx3 and lx4 are not), the type as a letter ('a' is 1,
 * HELLO), then the body.
 */

enum { NODES = 4 };

static struct authority *authority_once(void)
{
    static struct authority *a;
    if (a)
        return a;
    char dir[] = "/tmp/fettle-fuzz-XXXXXX", path[64];
    if (!mkdtemp(dir) || authority_open(dir, &a, NULL) < 0)
        abort();
    snprintf(path, sizeof path, "%s/ca.pem", dir);
    unlink(path);
    snprintf(path, sizeof path, "%s/ca.key", dir);
    unlink(path);
    rmdir(dir);
    return a;
}

static bool on_propose(void *arg, const struct command *cmd)
{
    return true;
}

static void on_notice(void *arg, const char *what, const char *nodes, const char *text)
{
}

static void on_alarm(void *arg, const struct alarm *a, const char *over)
{
}

static const char *name_of(int i)
{
    static const char *const names[NODES] = {"lx1", "lx2", "lx3", "lx4"};
    return names[i];
}

static void roster_make(struct roster *r)
{
    *r = (struct roster){.n = NODES, .nodes = mem_alloc(NODES * sizeof *r->nodes), .partition_max = 31};
    for (int i = 0; i < NODES; i++) {
        r->nodes[i].name = mem_dup(name_of(i));
        spec_init(&r->nodes[i].spec);
    }
}

static void agents_make(struct agents *a)
{
    struct roster roster;
    const struct watch_policy policy = {.plain = {span_s(30), span_s(90)},
                                        .sensitive = {span_s(30), span_s(90)},
                                        .borrowed = {span_s(30), span_s(90)},
                                        .quiet = span_s(30),
                                        .silent_share_percent = 25,
                                        .conform = {.stale = span_s(3600),
                                                    .timeout = span_s(60),
                                                    .sensitive = span_s(60),
                                                    .drift_share_percent = 25},
                                        .judge = true};
    const struct watch_sink sink = {NULL, on_propose, on_notice, on_alarm};
    roster_make(&roster);
    a->with.cluster = cluster_create();
    cluster_configure(a->with.cluster, &roster, NULL);
    a->with.watch = watch_create(a->with.cluster, &policy, mono_now(), &sink);
    a->with.notice = on_notice;
    a->with.authority = authority_once();
    a->share = share_create(a->with.cluster);
    hostlist_add(&a->collectors, name_of(0));
    hostlist_add(&a->collectors, name_of(1));
    share_configure(a->share, &a->collectors);
    a->certificate_life = span_s(3600);
    a->walk.on = a->regain.turning = true; /* there is no timer to start */
}

static void say(struct session *s, const char *name, uint8_t type, const char *body, size_t len)
{
    CLEANUP_JSON json_t *hello = type == FRAME_HELLO && !s->member ? json_read(body, len, NULL) : NULL;
    if (json_is_object(hello))
        session_hello(s, cluster_meet(s->agents->with.cluster, name), hello);
    else if (s->member)
        session_body(s, type, body, len);
    collectors_second(s->agents, mono_now());
    fingerprints_second(s->agents, mono_now());
    standings_second(s->agents, mono_now());
    shares_tell(s->agents);
    regain_turn(s->agents);
}

static void agents_unmake(struct agents *a, struct session *sessions)
{
    for (int i = 0; i < NODES; i++) {
        if (sessions[i].collects)
            collectors_lost(&sessions[i]);
        if (sessions[i].member)
            watch_close(a->with.watch, sessions[i].member, &sessions[i]);
    }
    regain_finish(a);
    for (uint32_t id = 0; id < cluster_count(a->with.cluster); id++)
        assert(!watch_observed(a->with.watch, cluster_by_id(a->with.cluster, id))->session);
    assert(cluster_count(a->with.cluster) == NODES); /* nobody is met by being spoken of */
    share_destroy(a->share);
    standings_drop(a);
    hostlist_fini(&a->collectors);
    free(a->sent.list);
    watch_destroy(a->with.watch);
    cluster_destroy(a->with.cluster);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct agents a = {0};
    struct session sessions[NODES] = {{0}};
    static FILE *nowhere;
    if (!nowhere)
        stderr = nowhere = fopen("/dev/null", "we"); /* the log; reports of the fuzzer use the descriptor */
    agents_make(&a);
    for (int i = 0; i < NODES; i++) {
        sessions[i].agents = &a;
        DL_APPEND(a.sessions, &sessions[i]);
    }
    while (size >= 2) {
        const uint8_t *end = memchr(data, '\n', size);
        size_t len = end ? (size_t)(end - data) : size;
        int who = data[0] - '1';
        if (who >= 0 && who < NODES && len >= 2 && len - 2 <= FRAME_BODY_BYTES_MAX)
            say(&sessions[who], name_of(who), (uint8_t)(data[1] - 'a' + 1), (const char *)data + 2, len - 2);
        size_t used = len + (end ? 1 : 0);
        data += used;
        size -= used;
    }
    agents_unmake(&a, sessions);
    return 0;
}
