/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The longest turns of the controller's loop at 100,000 nodes: the real watch, agreed state, committer, store
 * and sessions (without sockets), with the bench's own time. Each figure is CPU time of the loop's thread in
 * microseconds: that of the longest call, or of all calls that come in one turn. usage: bench-turn [NODES]
 */
#include "api/events.h"
#include "api/render.h"
#include "controller/commit/proposals.h"
#include "controller/sessions/collectors_inside.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <utlist.h>

#define BOOT "01234567-89ab-cdef-0123-456789abcdef"

enum { COLLECTORS = 100, COMPONENTS = 16000, PATTERNS = 512, PARTS = 20, CLAIMED = 10000 };

struct bench {
    uv_loop_t loop;
    char dir[32];
    struct cluster *c;
    struct watch *w;
    struct store *store;
    struct committer *committer;
    struct proposals *proposals;
    struct agents a;
    struct events *events;
    struct session *sessions; /* of the collectors, which are the first nodes */
    size_t n;
    uint64_t seq;
    int64_t now_ms;
    int64_t tick_ns,
        turn_ns; /* the longest since they were printed: ticks and other calls, turns of the loop */
};

static int64_t used_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static void longest(int64_t *most, int64_t since)
{
    int64_t ns = used_ns() - since;
    if (ns > *most)
        *most = ns;
}

static void print(const char *what, int64_t ns)
{
    static bool any;
    printf("%s\"%s\":%.2f", any ? "," : "{", what, (double)ns / 1e6);
    any = true;
}

static void give_up(const struct err *e)
{
    fprintf(stdout, "%s\n", e->msg);
    exit(1);
}

static struct mono now(const struct bench *b)
{
    return (struct mono){b->now_ms * 1000000};
}

/* --- the controller around it ----------------------------------------------------------------- */

static bool propose(void *arg, const struct command *cmd)
{
    struct bench *b = arg;
    return proposals_submit(b->proposals, cmd);
}

static void notice(void *arg, const char *what, const char *nodes, const char *text)
{
    (void)arg, (void)what, (void)nodes, (void)text;
}

static void on_alarm(void *arg, const struct alarm *a, const char *over)
{
    (void)arg, (void)a, (void)over;
}

/* As the controller does, without Slurm and the broker. */
static void on_entry(void *arg, const struct committed *c)
{
    struct bench *b = arg;
    const struct store_entry *entry = c->entry;
    const struct event e = {.at = entry->at,
                            .what = entry->what,
                            .actor = entry->actor,
                            .nodes = entry->nodes,
                            .text = entry->text,
                            .revision = c->revision,
                            .about = entry->about,
                            .fields = entry->fields};
    events_add(b->events, &e);
}

static void on_changed(void *arg, const struct hostlist *some)
{
    struct bench *b = arg;
    watch_changed(b->w, some);
}

static void on_trouble(void *arg, const struct err *why)
{
    (void)arg;
    if (why)
        give_up(why);
}

static int on_record(void *arg, const char *key, const char *value, struct err *e)
{
    return cluster_put(arg, key, value, e);
}

static void configure(struct bench *b)
{
    struct roster r = {.partition_max = 31, .n = b->n, .nodes = mem_alloc(b->n * sizeof *r.nodes)};
    CLEANUP_TEXT struct text patterns = {0};
    struct err e;
    for (size_t i = 0; i < b->n; i++) {
        char name[32];
        snprintf(name, sizeof name, "lx%06zu", i);
        r.nodes[i].name = mem_dup(name);
        spec_init(&r.nodes[i].spec);
    }
    for (int i = 0; i < PATTERNS; i++)
        text_printf(&patterns, "%s*.some-%d.*", i ? "," : "", i);
    const struct class_key keys[] = {{"Class", "default"}, {"Minor", patterns.s}};
    if (classes_add(&r.classes, keys, 2, 31, &e) < 0)
        give_up(&e);
    cluster_configure(b->c, &r, NULL);
}

static void bench_open(struct bench *b)
{
    struct err e;
    uint64_t term = 0, revision = 0;
    const struct watch_policy p = {.plain = {span_s(30), span_s(90)},
                                   .sensitive = {span_s(120), span_s(420)},
                                   .borrowed = {span_s(30), span_s(60)},
                                   .quiet = span_s(30),
                                   .silent_share_percent = 25,
                                   .conform = {span_s(3600 * 13), span_s(3600 * 24), span_s(3600 * 4), 10},
                                   .judge = true};
    const struct watch_sink sink = {b, propose, notice, on_alarm};
    const struct committer_events events = {b, on_entry, on_changed, on_trouble, on_trouble, on_trouble};
    const struct store_keep keep = {.bytes = UINT64_MAX, .directory = b->dir};
    memcpy(b->dir, "/tmp/fettle-turn-XXXXXX", 24);
    if (!mkdtemp(b->dir) || !freopen("/dev/null", "w", stderr)) /* the log */
        exit(1);
    uv_loop_init(&b->loop);
    b->c = cluster_create();
    configure(b);
    if (store_open_sqlite(b->dir, &b->store, &e) < 0 || store_campaign(b->store, &term, &e) < 0 ||
        store_load(b->store, on_record, b->c, &revision, &e) < 0)
        give_up(&e);
    b->w = watch_create(b->c, &p, now(b), &sink);
    b->committer = committer_create(&b->loop, b->c, b->store, term, revision, &keep, &events);
    b->proposals = proposals_create(b->committer);
    b->events = events_create(1);
    b->a.with = (struct agents_setup){.loop = &b->loop,
                                      .cluster = b->c,
                                      .watch = b->w,
                                      .committer = b->committer,
                                      .arg = b,
                                      .notice = notice};
    b->a.walk.tell = session_tell;
    b->a.share = share_create(b->c);
    for (size_t i = 0; i < COLLECTORS; i++)
        hostlist_add(&b->a.collectors, cluster_at(b->c, i)->name);
    share_configure(b->a.share, &b->a.collectors);
    uv_timer_init(&b->loop, &b->a.walk.timer);
    uv_timer_init(&b->loop, &b->a.regain.timer);
    b->a.walk.timer.data = b->a.regain.timer.data = &b->a;
    b->sessions = mem_alloc(COLLECTORS * sizeof *b->sessions);
}

static void bench_close(struct bench *b)
{
    char path[512];
    b->a.closing = true;
    uv_close((uv_handle_t *)&b->a.walk.timer, NULL);
    uv_close((uv_handle_t *)&b->a.regain.timer, NULL);
    committer_destroy(b->committer);
    uv_run(&b->loop, UV_RUN_DEFAULT);
    proposals_destroy(b->proposals);
    share_destroy(b->a.share);
    hostlist_fini(&b->a.collectors);
    free(b->a.sent.list);
    watch_destroy(b->w);
    events_destroy(b->events);
    cluster_destroy(b->c);
    store_close(b->store);
    free(b->sessions);
    uv_loop_close(&b->loop);
    DIR *d = opendir(b->dir);
    for (struct dirent *f; d && (f = readdir(d));) {
        snprintf(path, sizeof path, "%s/%s", b->dir, f->d_name);
        unlink(path);
    }
    closedir(d);
    rmdir(b->dir);
    snprintf(path, sizeof path, "%s-begun/state", b->dir); /* the store's note that the state existed */
    unlink(path);
    snprintf(path, sizeof path, "%s-begun", b->dir);
    rmdir(path);
}

/* --- time ------------------------------------------------------------------------------------- */

static void turn(struct bench *b, uv_run_mode mode)
{
    int64_t since = used_ns();
    uv_run(&b->loop, mode);
    longest(&b->turn_ns, since);
}

/* Everything that is committed is in the state. */
static void settle(struct bench *b)
{
    turn(b, UV_RUN_NOWAIT);
    while (committer_waiting(b->committer))
        turn(b, UV_RUN_ONCE);
}

/* A turn's share, as in the controller. */
static bool sweep(struct bench *b)
{
    int64_t until = used_ns() + 1000000;
    while (watch_step(b->w, 100))
        if (used_ns() >= until)
            return true;
    return false;
}

static void ticks(struct bench *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        b->now_ms += WATCH_TICK_MS;
        int64_t since = used_ns();
        watch_tick(b->w, now(b), wall_now());
        longest(&b->tick_ns, since);
        for (bool more = true; more;) {
            since = used_ns();
            more = sweep(b);
            longest(&b->tick_ns, since);
        }
        turn(b, UV_RUN_NOWAIT);
    }
}

static void print_both(struct bench *b, const char *call, const char *turns)
{
    if (call)
        print(call, b->tick_ns);
    print(turns, b->turn_ns);
    b->tick_ns = b->turn_ns = 0;
}

/* --- the measurements -------------------------------------------------------------------------- */

static void come(struct bench *b, struct member *m, struct session *s)
{
    bool want;
    void *old;
    struct err e;
    const struct hello h = {
        .name = m->name, .version = "1", .boot = BOOT, .instance = m->id + 1, .inventory = ""};
    CLEANUP_JSON json_t *work = json_array();
    const struct heartbeat beat = {.instance = m->id + 1, .seq = ++b->seq, .boot = BOOT, .work = work};
    if (watch_open(b->w, now(b), m, &h, s, m == s->member ? NULL : s->member, &want, &old, &e) < 0 ||
        watch_heartbeat(b->w, now(b), wall_now(), m, &beat, &e) < 0)
        give_up(&e);
}

/* Every collector holds its share, and all nodes come into service in one sweep. */
static void measure_admission(struct bench *b)
{
    for (size_t i = 0; i < COLLECTORS; i++) {
        struct session *s = &b->sessions[i];
        *s = (struct session){.agents = &b->a, .member = cluster_at(b->c, i), .collects = true, .port = 6120};
        DL_APPEND(b->a.sessions, s);
        DL_APPEND2(b->a.collecting, s, prev_collecting, next_collecting);
    }
    ticks(b, 1);
    b->tick_ns = b->turn_ns = 0;
    for (size_t i = 0; i < b->n; i++)
        come(b, cluster_at(b->c, i), &b->sessions[i % COLLECTORS]);
    for (size_t i = 0, sweeps = 0; i < b->n; i++) {
        for (; !cluster_at(b->c, i)->admitted; sweeps++) {
            ticks(b, WATCH_SLICES);
            settle(b);
            if (sweeps == 100)
                give_up(&(struct err){.msg = "a node was not admitted"});
        }
    }
    print_both(b, "admission: tick", "admission: turn of commits");
}

static void on_outcome(void *arg, const struct outcome *o)
{
    *(bool *)arg = true;
    if (o->rc < 0)
        give_up(o->why);
}

static void command(struct bench *b, enum command_kind kind, size_t n, const char *reason)
{
    bool done = false;
    CLEANUP_HOSTLIST struct hostlist nodes = {0};
    for (size_t i = 0; i < n; i++)
        hostlist_add(&nodes, cluster_at(b->c, i)->name);
    const struct command cmd = {
        .kind = kind, .actor = "root", .at = wall_now(), .nodes = &nodes, .reason = reason};
    int64_t since = used_ns();
    committer_submit(b->committer, &cmd, on_outcome, &done);
    longest(&b->turn_ns, since);
    while (!done)
        turn(b, UV_RUN_ONCE);
}

/* The part of the answer to such a command about the claims on its nodes. */
static void measure_held(struct bench *b, size_t n, const char *call)
{
    CLEANUP_TEXT struct text t = {0};
    CLEANUP_FREE struct member **nodes = mem_alloc(n * sizeof *nodes);
    int64_t most = 0, since = used_ns();
    for (size_t i = 0; i < n; i++)
        nodes[i] = cluster_at(b->c, i);
    render_claims(nodes, n, &t);
    longest(&most, since);
    print(call, most);
}

static void measure_claims(struct bench *b)
{
    command(b, COMMAND_DRAIN, CLAIMED, "a test");
    print_both(b, NULL, "drain of 10,000: turn");
    measure_held(b, CLAIMED, "claims of 10,000 in the answer: call");
    ticks(b, 2 * WATCH_SLICES);
    settle(b);
    print_both(b, "10,000 drained: tick", "10,000 drained: turn");
    command(b, COMMAND_UNDRAIN, CLAIMED, NULL);
    print_both(b, NULL, "undrain of 10,000: turn");
    command(b, COMMAND_DRAIN, b->n, "a test");
    print_both(b, NULL, "drain of all: turn");
    measure_held(b, b->n, "claims of all in the answer: call");
    ticks(b, 2 * WATCH_SLICES);
    settle(b);
    print_both(b, "all drained: tick", "all drained: turn");
    command(b, COMMAND_UNDRAIN, b->n, NULL);
    print_both(b, NULL, "undrain of all: turn");
}

static void component_name(char name[static 40], int i)
{
    snprintf(name, 40, "package.some-library-%05d", i);
}

static void measure_list(struct bench *b)
{
    struct components all = {0};
    struct err e;
    char name[40], hex[FINGERPRINT_HEX + 1];
    bool want;
    int64_t part = 0, last = 0;
    for (int i = 0; i < COMPONENTS; i++) {
        component_name(name, i);
        components_add(&all, name, COMPONENT_VALUE, "12.3.4-5+deb12u6", &e);
    }
    components_sort(&all, &e);
    struct fingerprint id = components_fingerprint(&all);
    fingerprint_format(&id, hex);
    components_fini(&all);
    struct session *s = &b->sessions[0];
    watch_fingerprint(b->w, now(b), s->member, hex, &want, &e);
    for (int p = 0; p < PARTS; p++) {
        CLEANUP_TEXT struct text t = {0};
        text_printf(&t, "{\"fingerprint\":\"%s\",\"part\":%d,\"parts\":%d,\"components\":{", hex, p, PARTS);
        for (int i = p * COMPONENTS / PARTS; i < (p + 1) * COMPONENTS / PARTS; i++) {
            component_name(name, i);
            text_printf(&t, "%s\"%s\":\"12.3.4-5+deb12u6\"", i % (COMPONENTS / PARTS) ? "," : "", name);
        }
        text_add(&t, "}}");
        int64_t since = used_ns();
        session_body(s, FRAME_COMPONENTS, t.s, t.len);
        longest(p + 1 < PARTS ? &part : &last, since);
    }
    print("a list: each part", part);
    print("a list of 16,000: its last part", last);
    b->tick_ns = 0;
    ticks(b, 4 * WATCH_SLICES);
    print_both(b, "a list: tick after it", "a list: turn after it");
    if (!cohorts_of(watch_cohorts(b->w), s->member->id))
        give_up(&(struct err){.msg = "the list was not taken"});
}

/* Waits until nothing is under way at the agents' port. */
static void port_settle(struct bench *b)
{
    for (turn(b, UV_RUN_NOWAIT); regain_busy(&b->a); turn(b, UV_RUN_NOWAIT))
        usleep(1000); /* the port's timer alone would have to end the wait of UV_RUN_ONCE */
}

static void balance(struct bench *b, const char *call, const char *turns)
{
    b->tick_ns = b->turn_ns = 0;
    b->a.balance_at = mono_now();
    int64_t since = used_ns();
    collectors_second(&b->a, mono_now());
    longest(&b->tick_ns, since);
    port_settle(b);
    print_both(b, call, turns);
}

/* Each node is heard by the collector to which it was given. */
static void come_to_collectors(struct bench *b)
{
    for (size_t k = 0; k < COLLECTORS; k++) {
        struct member *const *nodes;
        size_t n = share_members(b->a.share, b->sessions[k].member, &nodes);
        for (size_t i = 0; i < n; i++)
            come(b, nodes[i], &b->sessions[k]);
    }
}

static void lose(struct bench *b, size_t from, size_t to, const char *call, const char *turns)
{
    int64_t since = used_ns();
    b->tick_ns = b->turn_ns = 0;
    for (size_t k = from; k < to; k++)
        collectors_lost(&b->sessions[k]);
    longest(&b->tick_ns, since);
    port_settle(b);
    print_both(b, call, turns);
    for (uint32_t i = COLLECTORS; i < b->n; i++)
        for (size_t k = from; k < to; k++)
            if (watch_observed(b->w, cluster_by_id(b->c, i))->session == &b->sessions[k])
                give_up(&(struct err){.msg = "a lost collector still speaks for a node"});
}

static void measure_collectors(struct bench *b)
{
    for (size_t i = 0; i < COLLECTORS; i++)
        share_respond(b->a.share, b->sessions[i].member, true, NULL, 0);
    balance(b, "shares of 100 collectors: call", "shares of 100 collectors: turn");
    come_to_collectors(b);
    lose(b, 0, COLLECTORS / 2, "50 collectors lost: all calls", "50 collectors lost: turn");
    balance(b, "their nodes divided: call", "their nodes divided: turn");
    lose(b, COLLECTORS / 2, COLLECTORS, "the other 50 lost: all calls", "the other 50 lost: turn");
    ticks(b, 2 * WATCH_SLICES);
    print_both(b, "100 lost: tick", "100 lost: turn");
}

static void hello(struct bench *b, size_t n, const char *call, const char *turns)
{
    CLEANUP_TEXT struct text t = {0};
    text_printf(&t, "{\"collector\":{\"port\":6120,\"nodes\":\"lx[000100-%06zu]\"}}", 99 + n);
    CLEANUP_JSON json_t *body = json_read(t.s, t.len, NULL);
    int64_t since = used_ns();
    collectors_hello(&b->sessions[0], body);
    longest(&b->tick_ns, since);
    port_settle(b);
    print_both(b, call, turns);
    collectors_lost(&b->sessions[0]);
    port_settle(b);
}

static void measure_hello(struct bench *b)
{
    hello(b, b->n - 100, "HELLO with all names: call", "HELLO with all names: turn");
    hello(b, 3000, "HELLO with 3,000 names: call", "HELLO with 3,000 names: turn");
}

int main(int argc, char **argv)
{
    struct bench b = {.n = argc > 1 ? (size_t)atol(argv[1]) : 100000, .now_ms = 1000};
    bench_open(&b);
    measure_admission(&b);
    measure_claims(&b);
    measure_list(&b);
    measure_collectors(&b);
    measure_hello(&b);
    bench_close(&b);
    printf("}\n");
    return 0;
}
