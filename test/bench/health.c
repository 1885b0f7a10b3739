/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cost of health for the controller's decisions: 10,000 nodes, of which 1 % a minute find something and
 * as many find that it is over, and each reports all of its 60 checks once in ten minutes. The watch and the
 * agreed state are the real ones, and every proposal is decided and applied at once. There is no store and no
 * link, and time is virtual. usage: bench-health [NODES [MINUTES]]
 */
#include "watch/watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CHECKS = 60, BEAT_S = 10, FULL_S = 600, MINUTE = 60 };

struct bench {
    struct cluster *c;
    struct watch *w;
    struct member **nodes;
    size_t n;
    int64_t now_ms;
    uint64_t seq;
    unsigned long claims, decided[COMMANDS];
    int64_t tells_ns, findings_ns, ticks_ns;
    unsigned long tells, findings;
};

static int64_t used_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static struct mono now(const struct bench *b)
{
    return (struct mono){b->now_ms * 1000000};
}

static struct wall wall(const struct bench *b)
{
    return (struct wall){INT64_C(1800000000000000000) + b->now_ms * 1000000};
}

static void give_up(const struct err *e)
{
    fprintf(stderr, "%s\n", e->msg);
    exit(1);
}

static bool propose(void *arg, const struct command *proposed)
{
    struct bench *b = arg;
    char id[24];
    struct err e;
    snprintf(id, sizeof id, "1.%lu", ++b->claims);
    struct command cmd = *proposed;
    cmd.actor = "fettled";
    cmd.at = wall(b);
    cmd.claim = id;
    for (size_t from = 0; from == 0 || from < cmd.nodes->n;) {
        struct decision d = {0};
        if (cluster_decide(b->c, &cmd, from, &d, &e) < 0)
            give_up(&e);
        for (size_t i = 0; i < d.n_ops; i++)
            if (cluster_put(b->c, d.ops[i].key, d.ops[i].value, &e) < 0)
                give_up(&e);
        watch_changed(b->w, &d.changed);
        from = d.next > from ? d.next : cmd.nodes->n + 1;
        decision_fini(&d);
    }
    b->decided[cmd.kind]++;
    return true;
}

static void notice(void *arg, const char *what, const char *nodes, const char *text)
{
    (void)arg, (void)what, (void)nodes, (void)text;
}

static void on_alarm(void *arg, const struct alarm *a, const char *over)
{
    (void)arg, (void)a, (void)over;
}

/* --- nodes ------------------------------------------------------------------------------------ */

static void boot_of(size_t i, char out[static 37])
{
    snprintf(out, 37, "00000001-0000-4000-8000-%012x", (unsigned)i);
}

static void meet_all(struct bench *b)
{
    struct roster r = {.partition_max = 31, .n = b->n, .nodes = mem_alloc(b->n * sizeof *r.nodes)};
    for (size_t i = 0; i < b->n; i++) {
        char name[32];
        snprintf(name, sizeof name, "lx%05zu", i);
        r.nodes[i].name = mem_dup(name);
        spec_init(&r.nodes[i].spec);
    }
    cluster_configure(b->c, &r, NULL);
    for (size_t i = 0; i < b->n; i++)
        b->nodes[i] = cluster_at(b->c, i);
}

static void open_all(struct bench *b)
{
    for (size_t i = 0; i < b->n; i++) {
        char boot[37];
        void *old;
        bool want;
        struct err e;
        boot_of(i, boot);
        const struct hello h = {
            .name = b->nodes[i]->name, .version = "1", .boot = boot, .instance = i + 1, .inventory = ""};
        if (watch_open(b->w, now(b), b->nodes[i], &h, b->nodes[i], NULL, &want, &old, &e) < 0)
            give_up(&e);
    }
}

static void beat(struct bench *b, size_t i)
{
    char boot[37];
    CLEANUP_JSON json_t *work = json_array();
    boot_of(i, boot);
    const struct heartbeat h = {.instance = i + 1, .seq = ++b->seq, .boot = boot, .work = work};
    watch_heartbeat(b->w, now(b), wall(b), b->nodes[i], &h, NULL);
}

/* The text is read as it would come over the link. */
static void tell(struct bench *b, size_t i, bool full, bool ill)
{
    char boot[37];
    bool want;
    struct err e;
    CLEANUP_TEXT struct text t = {0};
    boot_of(i, boot);
    text_printf(&t, "{\"boot\":\"%s\",\"list\":\"00\",\"full\":%s,\"checks\":[", boot,
                full ? "true" : "false");
    for (size_t k = 0; k < (full ? CHECKS : 1); k++)
        text_printf(&t, "%s{\"check\":\"c%zu\",\"result\":\"%s\",\"age_ms\":100%s}", k ? "," : "", k,
                    ill && k == 0 ? "degraded" : "ok",
                    ill && k == 0 ? ",\"findings\":[{\"result\":\"degraded\",\"device\":\"fs /\",\"text\":"
                                    "\"97 % used\"}]"
                                  : "");
    text_add(&t, "]}");
    int64_t before = used_ns();
    CLEANUP_JSON json_t *body = json_read(t.s, t.len, NULL);
    if (watch_checks(b->w, now(b), wall(b), b->nodes[i], body, &want, &e) < 0)
        give_up(&e);
    *(full ? &b->tells_ns : &b->findings_ns) += used_ns() - before;
    ++*(full ? &b->tells : &b->findings);
}

/* One second: everything evenly spread. */
static void second(struct bench *b, size_t s, size_t *ill)
{
    for (size_t i = s % BEAT_S; i < b->n; i += BEAT_S)
        beat(b, i);
    for (size_t i = s % FULL_S; i < b->n; i += FULL_S)
        tell(b, i, true, i * 100 % b->n == 0 && *ill > i);
    size_t until = (s + 1) * b->n / 100 / MINUTE;
    for (; *ill < until; ++*ill) {
        tell(b, *ill % b->n, false, true);
        if (*ill >= b->n / 100)
            tell(b, (*ill - b->n / 100) % b->n, false, false);
    }
    int64_t before = used_ns();
    for (int k = 0; k < 1000 / WATCH_TICK_MS; k++) {
        b->now_ms += WATCH_TICK_MS;
        watch_tick(b->w, now(b), wall(b));
        while (watch_step(b->w, 1000))
            ;
    }
    b->ticks_ns += used_ns() - before;
}

static void report(const struct bench *b, size_t seconds)
{
    const int64_t ns = (int64_t)seconds * 1000000000, all = b->tells_ns + b->findings_ns + b->ticks_ns;
    printf(
        "{\"nodes\":%zu,\"minutes\":%zu,\"incidents_decided\":%lu,\"full_tell_us\":%lld,\"finding_us\":%lld,"
        "\"tells_of_a_core\":\"%lld.%03lld %%\",\"findings_of_a_core\":\"%lld.%03lld %%\","
        "\"sweeps_of_a_core\":\"%lld.%03lld %%\",\"together_of_a_core\":\"%lld.%03lld %%\"}\n",
        b->n, seconds / MINUTE, b->decided[COMMAND_FINDINGS],
        (long long)(b->tells_ns / 1000 / (long long)(b->tells ? b->tells : 1)),
        (long long)(b->findings_ns / 1000 / (long long)(b->findings ? b->findings : 1)),
        (long long)(b->tells_ns * 100 / ns), (long long)(b->tells_ns * 100000 / ns % 1000),
        (long long)(b->findings_ns * 100 / ns), (long long)(b->findings_ns * 100000 / ns % 1000),
        (long long)(b->ticks_ns * 100 / ns), (long long)(b->ticks_ns * 100000 / ns % 1000),
        (long long)(all * 100 / ns), (long long)(all * 100000 / ns % 1000));
}

int main(int argc, char **argv)
{
    struct bench b = {.n = argc > 1 ? (size_t)atol(argv[1]) : 10000, .now_ms = 1000};
    size_t seconds = (argc > 2 ? (size_t)atol(argv[2]) : 12) * MINUTE, ill = 0;
    CLEANUP_TEXT struct text conf = {0};
    struct checks checks;
    struct err e;
    for (size_t k = 0; k < CHECKS; k++)
        text_printf(&conf, "Check=c%zu Probe=fs.space Path=/ Every=30s\n", k);
    if (checks_parse("bench", conf.s, conf.len, &checks, &e) < 0)
        give_up(&e);
    struct watch_policy p = {.plain = {span_s(30), span_s(90)},
                             .sensitive = {span_s(120), span_s(420)},
                             .borrowed = {span_s(30), span_s(60)},
                             .quiet = span_s(30),
                             .silent_share_percent = 25,
                             .conform = {span_s(3600 * 13), span_s(3600 * 24), span_s(3600 * 4), 10}};
    p.health = (struct health_policy){.limits.act = true,
                                      .limits.percent[SCOPE_CLUSTER] = 5,
                                      .group = span_s(180),
                                      .fresh = span_s(120),
                                      .override = span_s(4 * 3600),
                                      .limits.remedies_a_week = 5,
                                      .checks = &checks};
    const struct watch_sink sink = {&b, propose, notice, on_alarm};
    b.c = cluster_create();
    b.nodes = mem_alloc(b.n * sizeof *b.nodes);
    meet_all(&b);
    b.w = watch_create(b.c, &p, now(&b), &sink);
    open_all(&b);
    for (size_t i = 0; i < b.n; i++)
        beat(&b, i);
    for (size_t i = 0; i < b.n; i++)
        tell(&b, i, true, false);
    b.tells_ns = b.findings_ns = b.ticks_ns = 0;
    b.tells = b.findings = 0;
    memset(b.decided, 0, sizeof b.decided);
    for (size_t s = 0; s < seconds; s++)
        second(&b, s, &ill);
    report(&b, seconds);
    watch_destroy(b.w);
    cluster_destroy(b.c);
    checks_fini(&checks);
    free(b.nodes);
    return 0;
}
