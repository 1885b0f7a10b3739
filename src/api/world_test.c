/* SPDX-License-Identifier: Apache-2.0 */
#include "api/world_test.h"

#include "base/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define BOOT "01234567-89ab-cdef-0123-456789abcdef"

static const struct wall THEN = {INT64_C(1794000000) * 1000000000}; /* 2026-11-06 */

static const struct watch_policy policy = {
    .plain = {{INT64_C(30) * 1000000000}, {INT64_C(90) * 1000000000}},
    .sensitive = {{INT64_C(30) * 1000000000}, {INT64_C(210) * 1000000000}},
    .borrowed = {{INT64_C(30) * 1000000000}, {INT64_C(120) * 1000000000}},
    .silent_share_percent = 50,
    .judge = true,
};

static bool on_propose(void *arg, enum command_kind kind, const struct hostlist *nodes, const char *reason)
{
    return true;
}

static void on_notice(void *arg, const char *what, const char *nodes, const char *text)
{
}

static void specify(struct roster_node *n, const char *name, const char *settings)
{
    n->name = mem_dup(name);
    spec_init(&n->spec);
    CLEANUP_FREE char *copy = mem_dup(settings);
    char *rest = copy;
    for (char *item; (item = strsep(&rest, " "));) {
        char *key = strsep(&item, "=");
        enum field f;
        assert_int_equal(field_find(key, &f, NULL), 0);
        assert_int_equal(spec_set(&n->spec, f, item, PARTITION_MAX, NULL), 0);
    }
}

static void add_partition(struct roster *r, unsigned number, const char *name, bool is_default)
{
    r->partitions = mem_grow(r->partitions, (r->n_partitions + 1) * sizeof *r->partitions);
    r->partitions[r->n_partitions++] = (struct partition){number, mem_dup(name), is_default};
}

static void put(struct world *w, const char *key, const char *value)
{
    struct err e = {0};
    int rc = cluster_put(w->cluster, key, value, &e);
    if (rc < 0)
        print_error("%s: %s\n", key, e.msg);
    assert_int_equal(rc, 0);
}

static void put_claim(struct world *w, const char *id, const char *kind, const char *owner,
                      const char *reason, const char *nodes)
{
    CLEANUP_TEXT struct text key = {0}, value = {0};
    text_printf(&key, "claim/%s", id);
    text_printf(&value, "{\"kind\":\"%s\",\"owner\":\"%s\",\"reason\":", kind, owner);
    text_add_json(&value, reason);
    text_printf(&value, ",\"since\":\"%lld\",\"nodes\":\"%s\",\"drained\":\"\"}", (long long)THEN.ns, nodes);
    put(w, key.s, value.s);
}

static void hear(struct world *w, const char *name, uint64_t seq, const char *work)
{
    struct member *m = cluster_meet(w->cluster, name);
    CLEANUP_JSON json_t *running = work ? json_read(work, strlen(work), NULL) : NULL;
    struct heartbeat h = {.instance = 7, .seq = seq, .boot = BOOT, .work = running, .uptime_s = 3600};
    assert_int_equal(watch_heartbeat(w->watch, w->now, w->wall, m, &h, NULL), 0);
}

static void join(struct world *w, const char *name, const char *collector, const char *work,
                 const char *inventory)
{
    struct member *m = cluster_meet(w->cluster, name);
    struct hello h = {.name = name, .version = "0.1.0", .boot = BOOT, .instance = 7, .inventory = ""};
    bool want;
    void *old;
    assert_int_equal(watch_open(w->watch, w->now, m, &h, w,
                                collector ? cluster_find(w->cluster, collector) : NULL, &want, &old, NULL),
                     0);
    hear(w, name, 1, work);
    if (!inventory)
        return;
    CLEANUP_TEXT struct text message = {0};
    text_printf(&message, "{\"hash\":\"0123456789abcdef\",\"full\":true,\"set\":%s}", inventory);
    CLEANUP_JSON json_t *body = json_read(message.s, message.len, NULL);
    assert_int_equal(watch_inventory(w->watch, m, body, NULL), 0);
}

/* Time passes as it does for a controller: in ticks. */
static void pass(struct world *w, int seconds)
{
    for (int i = 0; i < seconds * 1000 / WATCH_TICK_MS; i++) {
        w->now = mono_add(w->now, span_ms(WATCH_TICK_MS));
        w->wall.ns += span_ms(WATCH_TICK_MS).ns;
        watch_tick(w->watch, w->now);
    }
}

static struct world world_begin(struct mono now)
{
    struct world w = {.now = now, .wall = THEN};
    w.cluster = cluster_create();
    return w;
}

static void world_watch(struct world *w)
{
    struct watch_sink sink = {NULL, on_propose, on_notice};
    w->watch = watch_create(w->cluster, &policy, w->now, &sink);
}

static void configure(struct world *w)
{
    static const char *const settings[] = {"OS=Linux.6.1 CPUs=4 RealMemory=1024 Partition=1,3",
                                           "CPUs=4 Speed=863.8 Partition=1",
                                           "OS=Linux.2.4.7-10 CPUs=2 Speed=863.05 TmpDisk=100",
                                           "CPUs=4 Sensitive=yes Partition=1,63,64,255",
                                           "Borrowed=yes Partition=",
                                           "CPUs=1 Partition=1"};
    enum { NODES = sizeof settings / sizeof settings[0] };
    struct roster r = {.n = NODES, .partition_max = PARTITION_MAX};
    r.nodes = mem_alloc(NODES * sizeof *r.nodes);
    for (size_t i = 0; i < NODES; i++) {
        char name[] = "lx00";
        name[3] = (char)('1' + i);
        specify(&r.nodes[i], name, settings[i]);
    }
    add_partition(&r, 1, "batch", true);
    add_partition(&r, 3, "debug", false);
    add_partition(&r, 7, "empty", false);
    cluster_configure(w->cluster, &r, NULL);
}

struct world world_make(struct mono now)
{
    struct world w = world_begin(now);
    configure(&w);
    for (char i = '1'; i <= '6'; i++) {
        char key[] = "node/lx00";
        key[8] = i;
        if (i != '3')
            put(&w, key, "{\"admitted\":\"1\"}");
    }
    put(&w, "edit/lx01", "{\"set\":{\"Speed\":\"100\"},\"by\":\"root\",\"at\":\"1\"}");
    put_claim(&w, "10", "drain", "ann", "fan \"3\" is loud", "lx[02,05]");
    put_claim(&w, "9", "drain", "root", "bad DIMM", "lx02");
    put_claim(&w, "11", "down", "root", "moved", "lx05");
    put_claim(&w, "12", "silent", "fettled", "silent past its grace", "lx06");
    world_watch(&w);

    join(&w, "lx04", NULL, NULL, "{\"OS\":\"Linux.6.1.0\",\"CPUs\":2}");
    pass(&w, 32);
    join(&w, "lx01", NULL, "[]",
         "{\"OS\":\"Linux.6.1.0-13-amd64\",\"Arch\":\"x86_64\",\"CPUs\":4,\"Sockets\":1,\"Cores\":2,"
         "\"Threads\":2,"
         "\"Speed\":2100.5,\"RealMemory\":2048,\"VirtualMemory\":4096,\"TmpDisk\":999,\"GPUs\":[],\"NICs\":[{"
         "}],"
         "\"Disks\":[{},{}]}");
    join(&w, "lx02", NULL, "[\"job 1\",\"job \\\"2\\\"\"]", "{\"CPUs\":8,\"Speed\":900}");
    join(&w, "lx05", NULL, "[]", NULL);
    join(&w, "odd", "lx01", "[]", "{\"OS\":\"Linux \\\"odd\\\"\"}");
    pass(&w, 3);
    return w;
}

struct world world_make_large(size_t n, struct mono now)
{
    struct world w = world_begin(now);
    struct roster r = {.n = n, .partition_max = PARTITION_MAX};
    r.nodes = mem_alloc(n * sizeof *r.nodes);
    for (size_t i = 0; i < n; i++) {
        CLEANUP_TEXT struct text name = {0};
        text_printf(&name, "n%05zu", i + 1);
        specify(&r.nodes[i], name.s, "OS=Linux.6.1 CPUs=64 RealMemory=256000 Partition=1,2");
    }
    cluster_configure(w.cluster, &r, NULL);
    world_watch(&w);
    for (size_t i = 0; i < n; i++) {
        const char *name = cluster_at(w.cluster, i)->name;
        CLEANUP_TEXT struct text key = {0};
        text_printf(&key, "node/%s", name);
        put(&w, key.s, "{\"admitted\":\"1\"}");
        join(&w, name, NULL, "[]", "{\"OS\":\"Linux.6.1.0-13-amd64\",\"CPUs\":64,\"RealMemory\":257000}");
    }
    return w;
}

void world_destroy(struct world *w)
{
    watch_destroy(w->watch);
    cluster_destroy(w->cluster);
}
