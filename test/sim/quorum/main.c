/* SPDX-License-Identifier: Apache-2.0 */
/*
 *   quorum --seed N [--trace]     one history
 *   quorum --seeds A-B            many
 *
 * Ends with 1 at the first seed that breaks a property, with the last events and the command that plays it
 * again. The properties:
 *
 *   1  what was acknowledged is in the journal, once, at the revision that was answered
 *   2  what was refused is not there; what nobody knew the outcome of is there once or never
 *   3  at each revision, each controller has the digest that the store's records have
 *   4  at any moment, one controller may act at most
 *   5  terms only rise from commit to commit, and each commit is made under the leader key of its term
 *   6  no tenant owns more than its quota at any revision; each owner follows the one that was expected
 *   7  when the faults have ended, a controller leads and commits, and all have one state
 */
#include "history.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

enum { TRACE_LINES = 80, TRACE_BYTES = 240, STORMY_S = 60, CALM_S = 60 };

struct history s;

static char trace[TRACE_LINES][TRACE_BYTES];
static size_t traced;

void say(const char *fmt, ...)
{
    char *line = trace[traced++ % TRACE_LINES];
    va_list ap;
    int n = snprintf(line, TRACE_BYTES, "%9.3f  ", (double)virtual_now() / 1e9);
    va_start(ap, fmt);
    vsnprintf(line + n, TRACE_BYTES - (size_t)n, fmt, ap);
    va_end(ap);
    if (s.traces)
        puts(line);
}

void fail(const char *fmt, ...)
{
    va_list ap;
    for (size_t i = traced > TRACE_LINES ? traced - TRACE_LINES : 0; i < traced && !s.traces; i++)
        puts(trace[i % TRACE_LINES]);
    printf("seed %" PRIu64 ", %.3f s: ", s.seed, (double)virtual_now() / 1e9);
    va_start(ap, fmt);
    vprintf(fmt, ap);
    va_end(ap);
    printf("\nplay it again: quorum --seed %" PRIu64 " --trace\n", s.seed);
    fflush(stdout);
    _exit(1);
}

/* --- clients ----------------------------------------------------------------------------------- */

static void on_outcome(void *arg, const struct outcome *o)
{
    struct asked *a = arg;
    if (a->by->party.is_dead) { /* nobody heard it */
        a->rc = STORE_UNKNOWN;
        return;
    }
    a->rc = o->rc;
    s.n_done += o->rc == 0;
    s.n_unknown += o->rc == STORE_UNKNOWN;
    s.n_refused += o->rc < 0 && o->rc != STORE_UNKNOWN;
    if (o->rc == 0 && o->changed->n && *a->after && a->found != 1)
        fail("(1) %s was acknowledged at revision %" PRIu64 ", and is not in the journal", a->after,
             o->revision);
    if (o->rc == 0 && o->changed->n && *a->after && a->revision != o->revision)
        fail("(1) %s was acknowledged at revision %" PRIu64 ", and is at %" PRIu64, a->after, o->revision,
             a->revision);
    if (o->rc < 0 && o->rc != STORE_UNKNOWN && a->found)
        fail("(2) %s was refused (%s), and is in the journal", a->after, o->why->msg);
    a->revision = o->revision;
}

static struct owner owner_named(const char *name)
{
    struct owner o = {.tenant = {name[0], '\0'}};
    if (*name)
        snprintf(o.allocation, sizeof o.allocation, "%s", name + 2);
    return o;
}

static void ask(struct process *p)
{
    struct asked *a = &s.asked[s.n_asked];
    CLEANUP_HOSTLIST struct hostlist nodes = {0};
    struct command cmd = {.actor = "ann", .at = wall_now(), .nodes = &nodes};
    if (s.n_asked++ == ASKED_MAX)
        fail("more commands than there is room for");
    *a = (struct asked){.by = p, .rc = 1, .is_drain = chance(3) == 0};
    snprintf(a->node, sizeof a->node, "n%02u",
             1 + (unsigned)(a->is_drain ? OWNED + chance(NODES - OWNED) : chance(OWNED)));
    hostlist_parse(a->node, &nodes, NULL);
    if (a->is_drain) {
        snprintf(a->after, sizeof a->after, "d%zu", s.n_asked);
        cmd.kind = COMMAND_DRAIN;
        cmd.reason = a->after;
    } else {
        /* As it was known some time ago, perhaps. */
        snprintf(a->before, sizeof a->before, "%s", owner_of(chance(4) ? s.truth : p->cluster, a->node));
        if (!*a->before || chance(2))
            snprintf(a->after, sizeof a->after, "%c:%zu", "ab"[chance(2)], s.n_asked);
        cmd.own.from = owner_named(a->before);
        cmd.own.to = owner_named(a->after);
        cmd.kind = !*a->before ? COMMAND_OWNER_CLAIM
                   : *a->after ? COMMAND_OWNER_TRANSFER
                               : COMMAND_OWNER_RELEASE;
    }
    committer_submit(p->committer, &cmd, on_outcome, a);
}

static void clients_turn(void)
{
    if (virtual_now() < s.next_ask)
        return;
    s.next_ask = virtual_now() + (int64_t)chance((chance(10) ? 30 : 1000) * (uint64_t)MS);
    for (unsigned i = 0; i < CONTROLLERS; i++) {
        struct process *p = s.slots[i];
        for (uint64_t n = p && p->committer && !p->ends && !p->stops && (p->leads || chance(20) == 0)
                              ? 1 + chance(4)
                              : 0;
             n > 0; n--)
            ask(p);
    }
}

/* --- faults ------------------------------------------------------------------------------------ */

static void weather_draw(void)
{
    unsigned bad = (unsigned)chance(4); /* 0: fair */
    weather = (struct weather){.torn = 100};
    if (!bad)
        return;
    weather = (struct weather){.late = (unsigned)chance(50 * bad),
                               .lost = (unsigned)chance(20 * bad),
                               .unanswered = (unsigned)chance(30 * bad),
                               .haunting = (unsigned)chance(20 * bad),
                               .no_space = chance(3) ? 0 : (unsigned)chance(100 * bad),
                               .unavailable = (unsigned)chance(20 * bad),
                               .torn = 300,
                               .doubled = chance(3) ? 0 : (unsigned)chance(10),
                               .gap = chance(3) ? 0 : (unsigned)chance(10),
                               .mute = (unsigned)chance(5 * bad)};
    if (chance(4) == 0) /* a great deal of one kind */
        *(&weather.late + chance(6)) = 300;
}

static void fault_begin(void)
{
    unsigned c = (unsigned)chance(CONTROLLERS), m = (unsigned)chance(MEMBERS);
    struct process *p = s.slots[c];
    switch (chance(7)) {
    case 0:
        if (p && p->lease && !p->stops && chance(2)) {
            say("%s is told to end", p->name);
            process_stop(p);
        } else if (p) {
            say("%s is killed", p->name);
            process_leave(p);
        }
        break;
    case 1: link_is_cut[c][m] = !link_is_cut[c][m]; break;
    case 2:
        for (m = 0; m < MEMBERS; m++)
            link_is_cut[c][m] = chance(2);
        say("c%u reaches %d%d%d", c, !link_is_cut[c][0], !link_is_cut[c][1], !link_is_cut[c][2]);
        break;
    case 3: member_is_alone[m] = !member_is_alone[m]; break;
    case 4: member_is_down[m] = !member_is_down[m]; break;
    case 5: weather_draw(); break;
    case 6:
        for (m = 0; m < MEMBERS; m++)
            member_is_alone[m] = false;
        memset(member_is_down, 0, sizeof member_is_down);
        memset(link_is_cut, 0, sizeof link_is_cut);
        if (chance(4) == 0) {
            etcd_compact(etcd_revision() - chance(etcd_revision() < 20 ? etcd_revision() : 20));
            say("etcd is compacted");
        }
        break;
    }
}

static void faults_turn(void)
{
    if (s.is_calm || virtual_now() < s.next_fault)
        return;
    s.next_fault = virtual_now() + (int64_t)chance(3000 * (uint64_t)MS);
    fault_begin();
}

static void calm_down(void)
{
    say("calm");
    s.is_calm = true;
    weather = (struct weather){.torn = 100};
    memset(link_is_cut, 0, sizeof link_is_cut);
    memset(member_is_alone, 0, sizeof member_is_alone);
    memset(member_is_down, 0, sizeof member_is_down);
}

/* --- time -------------------------------------------------------------------------------------- */

static void time_pass(void)
{
    int64_t due = virtual_now() + 100 * (int64_t)MS, wanted[] = {tasks_due(), network_due(), s.next_ask};
    int left = uv_loop_alive(&s.loop) ? uv_backend_timeout(&s.loop) : -1;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        due = wanted[i] < due ? wanted[i] : due;
    if (left >= 0 && virtual_now() + left * (int64_t)MS < due)
        due = virtual_now() + left * (int64_t)MS;
    virtual_advance(due);
}

static void turn(void)
{
    uv_update_time(&s.loop);
    uv_run(&s.loop, UV_RUN_NOWAIT);
    network_run();
    tasks_run();
    processes_turn();
    clients_turn();
    faults_turn();
    time_pass();
}

static bool all_agree(void)
{
    for (unsigned i = 0; i < CONTROLLERS; i++) {
        const struct process *p = s.slots[i];
        if (!p || !p->committer || committer_revision(p->committer) != s.revision)
            return false;
        digest_check(p);
    }
    return true;
}

static void play(uint64_t seed, bool traces)
{
    memset(&s, 0, sizeof s);
    traced = 0;
    s.seed = seed;
    s.traces = traces;
    chance_begin(seed);
    etcd_begin();
    uv_loop_init(&s.loop);
    s.truth = cluster_create();
    configure(s.truth);
    s.digests[0] = cluster_digest(s.truth);
    weather_draw();
    while (virtual_now() < STORMY_S * INT64_C(1000000000))
        turn();
    calm_down();
    unsigned done = s.n_done;
    int64_t until = virtual_now() + CALM_S * INT64_C(1000000000);
    while (s.n_done < done + 20 && virtual_now() < until)
        turn();
    if (s.n_done < done + 20)
        fail("(7) the faults ended a minute ago, and %u commands were done", s.n_done - done);
    s.next_ask = INT64_MAX;
    while (!all_agree() && virtual_now() < until)
        turn();
    if (!all_agree())
        fail("(7) the faults ended a minute ago, and the controllers have no common state");
    for (unsigned i = 0; i < CONTROLLERS; i++) {
        process_leave(s.slots[i]);
        s.restarts[i] = INT64_MAX;
    }
    while (s.processes)
        turn();
    for (size_t i = 0; i < s.n_asked; i++)
        if (s.asked[i].rc == 1)
            fail("(1) %s was never answered", s.asked[i].after);
    network_end();
    etcd_end();
    cluster_destroy(s.truth);
    uv_run(&s.loop, UV_RUN_NOWAIT);
    if (uv_loop_close(&s.loop) != 0)
        fail("a handle is left");
}

int main(int argc, char **argv)
{
    uint64_t from = 1, to = 1, done = 0, refused = 0, unknown = 0, terms = 0, starts = 0;
    bool traces = argc > 3 && strcmp(argv[3], "--trace") == 0;
    if (argc < 3 || sscanf(argv[2], "%" SCNu64 "-%" SCNu64, &from, &to) < 1) {
        fputs("usage: quorum --seed N [--trace]\n       quorum --seeds A-B\n", stderr);
        return 2;
    }
    to = strcmp(argv[1], "--seed") == 0 ? from : to;
    for (uint64_t seed = from; seed <= to; seed++) {
        play(seed, traces);
        done += s.n_done;
        refused += s.n_refused;
        unknown += s.n_unknown;
        terms += s.n_terms;
        starts += s.n_starts;
    }
    printf("seeds %" PRIu64 " to %" PRIu64 ": %" PRIu64 " commands done, %" PRIu64 " refused, %" PRIu64
           " unknown; %" PRIu64 " terms with commits, %" PRIu64 " starts of controllers\n",
           from, to, done, refused, unknown, terms, starts);
    return 0;
}
