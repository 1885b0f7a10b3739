/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/slurm_fixture_test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TIMEOUT_S = 20 };

/* A list such as c[1-2],c9 becomes the alternatives of a regular expression. */
static const char script[] =
    "d=${0%/*}\n"
    "echo \"$*\" >>\"$d/calls\"\n"
    "say() { echo \"$1\"; exit 1; }\n"
    "names() { echo \"$1\" | sed 's/,/|/g'; }\n"
    "if [ -f \"$d/away\" ]; then cat \"$d/away\"; exit 1; fi\n"
    "[ ! -f \"$d/asleep\" ] || exec sleep 1000\n"
    "case \"$*\" in\n"
    "'-o -a show node') if [ -f \"$d/list\" ]; then cat \"$d/list\"; else cat \"$d/nodes\"; fi ;;\n"
    "'-o -a show node '*)\n"
    "    grep -E \"^NodeName=($(names \"$5\")) \" \"$d/nodes\"\n"
    "    case \"$5\" in *'['*) exit 0 ;; esac\n"
    "    for n in $(echo \"$5\" | tr , ' '); do\n"
    "        grep -q \"^NodeName=$n \" \"$d/nodes\" || missing=$n\n"
    "    done\n"
    "    [ -z \"$missing\" ] || say \"Node $missing not found\" ;;\n"
    "'-o -a show reservation')\n"
    "    if [ -s \"$d/reservations\" ]; then cat \"$d/reservations\"\n"
    "    else echo 'No reservations in the system'; fi ;;\n"
    "'show config') cat \"$d/config\"\n"
    "    [ ! -f \"$d/config.next\" ] || mv \"$d/config.next\" \"$d/config\" ;;\n"
    "'create reservation '*)\n"
    "    echo \"$3 StartTime=" BOOT " EndTime=2027-11-24T22:42:11 Duration=365-00:00:00 $4 NodeCnt=1 "
    "CoreCnt=2 Features=(null) PartitionName=(null) ${6},SPEC_NODES TRES=cpu=2 $5 Groups=(null) "
    "Accounts=(null) Licenses=(null) State=ACTIVE BurstBuffer=(null) Watts=n/a MaxStartDelay=(null)\" "
    ">>\"$d/reservations\"\n"
    "    echo \"Reservation created: ${3#*=}\" ;;\n"
    "'delete '*) sed -i \"/^$2 /d\" \"$d/reservations\" ;;\n"
    "'update '*)\n"
    "    [ ! -f \"$d/deaf\" ] || exit 0\n"
    "    [ ! -f \"$d/refusal\" ] || say \"$(cat \"$d/refusal\")\"\n"
    "    at=\"/^NodeName=($(names \"${2#*=}\")) /\"\n"
    "    case \"$*\" in\n"
    "    *State=DRAIN*) sed -i -E \"$at s/ State=([A-Z]+)(\\+DRAIN)?/ State=\\1+DRAIN/; "
    "$at s/ Reason=.*//; $at s|\\$| $3 [root@" BOOT "]|\" \"$d/nodes\" ;;\n"
    "    *State=UNDRAIN*) sed -i -E \"$at s/\\+DRAIN//; $at s/ Reason=.*//\" \"$d/nodes\" ;;\n"
    "    *Weight=*) sed -i -E \"$at s/ Weight=[0-9]+/ $5/; $at s/ AvailableFeatures=[^ ]+/ $3/; "
    "$at s/ ActiveFeatures=[^ ]+/ $4/\" \"$d/nodes\" ;;\n"
    "    *) say 'Invalid input' ;;\n"
    "    esac\n"
    "    [ -f \"$d/log\" ] || exit 0\n"
    "    [ ! -f \"$d/race\" ] || { cat \"$d/race\" >>\"$d/log\"; rm \"$d/race\"; }\n"
    "    case \"$*\" in *State=DRAIN*) now=DRAINED ;; *) now=IDLE ;; esac\n"
    "    u='[2026-11-24T22:42:11.001] update_node: node c1'\n"
    "    printf '%s reason set to: %s\\n%s state set to %s\\n' \"$u\" \"${3#*=}\" \"$u\" $now >>\"$d/log\" "
    ";;\n"
    "*) say 'invalid entity' ;;\n"
    "esac\n";

/* --- the stand-in ------------------------------------------------------------------------------ */

static void path_of(const struct world *w, const char *file, struct text *path)
{
    text_printf(path, "%s/%s", w->dir, file);
}

void world_write(const struct world *w, const char *file, const char *text)
{
    CLEANUP_TEXT struct text path = {0}, fresh = {0};
    path_of(w, file, &path);
    text_printf(&fresh, "%s.new", path.s);
    FILE *f = fopen(fresh.s, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(rename(fresh.s, path.s), 0);
}

void world_remove(const struct world *w, const char *file)
{
    CLEANUP_TEXT struct text path = {0};
    path_of(w, file, &path);
    unlink(path.s);
}

void world_add_node(struct text *t, const char *name, const char *state, const char *more)
{
    text_printf(t,
                "NodeName=%s Arch=x86_64 CoresPerSocket=1  CPUAlloc=0 CPUEfctv=2 CPUTot=2 CPULoad=3.38 "
                "AvailableFeatures=(null) ActiveFeatures=(null) Gres=(null) NodeAddr=127.0.0.1 "
                "NodeHostName=vm Port=21323 Version=22.05.8 OS=Linux 6.1.0-13-amd64 #1 SMP  RealMemory=500 "
                "AllocMem=0 FreeMem=20679 Sockets=2 Boards=1 State=%s ThreadsPerCore=1 TmpDisk=0 Weight=1 "
                "Owner=N/A MCS_label=N/A Partitions=all  BootTime=2026-11-24T18:17:56 "
                "SlurmdStartTime=" BOOT " LastBusyTime=" BOOT " CfgTRES=cpu=2,mem=500M,billing=2 AllocTRES= "
                "CapWatts=n/a CurrentWatts=0 AveWatts=0 ExtSensorsJoules=n/s ExtSensorsWatts=0 "
                "ExtSensorsTemp=n/s%s\n",
                name, state, more);
}

void world_set_c1(const struct world *w, const char *state, const char *more)
{
    CLEANUP_TEXT struct text t = {0};
    world_add_node(&t, "c1", state, more);
    world_add_node(&t, "c2", "IDLE", "");
    world_add_node(&t, "c3", "IDLE", "");
    world_write(w, "nodes", t.s);
}

char *world_calls(const struct world *w)
{
    CLEANUP_TEXT struct text path = {0};
    struct text t = {0};
    path_of(w, "calls", &path);
    FILE *f = fopen(path.s, "r");
    text_add(&t, "");
    for (int c; f && (c = getc(f)) != EOF;)
        text_add_char(&t, (char)c);
    if (f)
        fclose(f);
    return text_take(&t);
}

unsigned world_count(const struct world *w, const char *beginning)
{
    CLEANUP_FREE char *calls = world_calls(w);
    unsigned n = 0;
    for (const char *line = calls; *line; line += strcspn(line, "\n"), line += *line != 0)
        n += strncmp(line, beginning, strlen(beginning)) == 0;
    return n;
}

/* --- the sink ---------------------------------------------------------------------------------- */

struct slurm_want *world_want_quietly(struct world *w, const char *node, enum slurm_wish wish,
                                      const char *claim)
{
    size_t i = 0;
    while (i < w->n_wants && strcmp(w->wants[i].node, node) != 0)
        i++;
    assert_true(i < WANTS_MAX);
    w->n_wants = i == w->n_wants ? i + 1 : w->n_wants;
    w->wants[i].node = node;
    struct slurm_want *want = &w->wants[i].want;
    *want = (struct slurm_want){.drain = wish != WISH_NOTHING, .reserve = wish == WISH_RESERVE};
    if (wish == WISH_NOTHING)
        return want;
    snprintf(want->mark.claim, sizeof want->mark.claim, "%s", claim);
    snprintf(want->mark.problem, sizeof want->mark.problem, "node_problem");
    snprintf(want->reason, sizeof want->reason, "disk");
    return want;
}

void world_want(struct world *w, const char *node, enum slurm_wish wish, const char *claim)
{
    CLEANUP_HOSTLIST struct hostlist nodes = {0};
    world_want_quietly(w, node, wish, claim);
    hostlist_add(&nodes, node);
    slurm_changed(w->slurm, &nodes);
}

static void on_wanted(void *arg, const char *node, struct slurm_want *out)
{
    const struct world *w = arg;
    for (size_t i = 0; i < w->n_wants; i++)
        if (strcmp(w->wants[i].node, node) == 0)
            *out = w->wants[i].want;
}

/* Cuts out the member "at", which is now. */
static char *without_time(const char *done)
{
    const char *at = strstr(done, ",\"at\":\""), *end = at ? strstr(at + 7, "\"") : NULL;
    struct text t = {0};
    text_printf(&t, "%.*s%s", at ? (int)(at - done) : (int)strlen(done), done, end ? end + 1 : "");
    return text_take(&t);
}

static void on_result(void *arg, const char *key, const char *done)
{
    struct world *w = arg;
    free(w->record);
    w->record = without_time(done);
    text_printf(&w->said, "%s %s\n", key, w->record);
    if (!w->is_held)
        slurm_effect(w->slurm, key, strcmp(done, "null") == 0 ? NULL : done);
}

static void on_saw(void *arg, const struct slurm_node *n)
{
    struct world *w = arg;
    static struct text now;
    if (!n) {
        w->readings++;
        text_clear(&w->saw);
        text_add(&w->saw, now.s ? now.s : "");
        text_fini(&now);
        return;
    }
    struct text *t = n->known && n->alone ? &w->alone : &now;
    text_printf(t, "%s %s%s%s%s%s%s%s; ", n->name, n->known ? n->state : "?", n->ours ? " ours" : "",
                n->held ? " held" : "", n->guarded ? " guarded" : "", n->reservation ? " in " : "",
                n->reservation ? n->reservation : "", n->vague ? " vague" : "");
}

static void on_maintained(void *arg, const struct slurm_maintenance *list, size_t n)
{
    struct world *w = arg;
    for (size_t i = 0; i < n; i++)
        text_printf(&w->said, "maintenance %s %zu %s\n", list[i].name, list[i].nodes.n,
                    list[i].nodes.n ? list[i].nodes.names[0] : "");
}

static void on_overridden(void *arg, const char *node, const char *claim, const char *who)
{
    struct world *w = arg;
    text_printf(&w->said, "overridden %s %s\n", node, claim);
}

static void on_refused(void *arg, const char *node, const char *claim)
{
    struct world *w = arg;
    text_printf(&w->said, "refused %s %s\n", node, claim);
}

static void on_restored(void *arg, const char *node, const char *reason, const struct err *why)
{
    struct world *w = arg;
    text_printf(&w->said, "restored %s %s%s\n", node, reason, why ? why->msg : "");
}

static void on_trouble(void *arg, const struct err *why)
{
    struct world *w = arg;
    text_printf(&w->said, "trouble %s\n", why ? why->msg : "is over");
}

/* --- the loop ---------------------------------------------------------------------------------- */

int world_setup(void **state)
{
    struct world *w = mem_alloc(sizeof *w);
    *w = (struct world){.dir = "/tmp/fettle-slurm-XXXXXX"};
    *state = w;
    assert_non_null(mkdtemp(w->dir));
    snprintf(w->scontrol, sizeof w->scontrol, "%s/scontrol", w->dir);
    uv_loop_init(&w->loop);
    CLEANUP_TEXT struct text program = {0}, config = {0};
    text_printf(&program, "#!/bin/sh\n%s", script);
    world_write(w, "scontrol", program.s);
    assert_int_equal(chmod(w->scontrol, 0700), 0);
    text_printf(&config,
                "Configuration data as of " BOOT "\nBOOT_TIME               = " BOOT "\n"
                "ClusterName             = lab\nSlurmctldLogFile        = %s/log\n"
                "\nSlurmctld(primary) at vm is UP\n",
                w->dir);
    world_write(w, "config", config.s);
    world_set_c1(w, "IDLE", "");
    text_add(&w->said, "");
    text_add(&w->alone, "");
    return 0;
}

int world_teardown(void **state)
{
    static const char *const files[] = {"scontrol", "calls", "nodes",  "reservations", "config",
                                        "away",     "deaf",  "log",    "refusal",      "squeue",
                                        "scancel",  "list",  "asleep", "race"};
    struct world *w = *state;
    slurm_destroy(w->slurm);
    uv_run(&w->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&w->loop), 0); /* the driver leaves no handle */
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        world_remove(w, files[i]);
    assert_int_equal(rmdir(w->dir), 0);
    text_fini(&w->saw);
    text_fini(&w->alone);
    text_fini(&w->said);
    free(w->record);
    free(w);
    return 0;
}

void world_start_every(struct world *w, struct span every, struct span deadline)
{
    const struct slurm_conf conf = {
        .scontrol = w->scontrol, .every = every, .deadline = deadline, .user = "root", .owner = OWNER};
    const struct slurm_sink sink = {.arg = w,
                                    .wanted = on_wanted,
                                    .result = on_result,
                                    .saw = on_saw,
                                    .maintained = on_maintained,
                                    .overridden = on_overridden,
                                    .refused = on_refused,
                                    .restored = on_restored,
                                    .trouble = on_trouble};
    w->slurm = slurm_create(&w->loop, &conf, &sink);
}

void world_start(struct world *w)
{
    world_start_every(w, span_ms(10), span_s(TIMEOUT_S));
}

static void on_late(uv_timer_t *t)
{
    *(bool *)t->data = true;
}

static void on_tick(uv_timer_t *t)
{
}

void world_until(struct world *w, world_true_fn *is_true, const void *arg)
{
    bool is_late = false;
    uv_timer_t late, tick; /* the second wakes the loop, for what only the stand-in knows */
    uv_timer_init(&w->loop, &late);
    uv_timer_init(&w->loop, &tick);
    late.data = &is_late;
    uv_timer_start(&late, on_late, TIMEOUT_S * 1000, 0);
    uv_timer_start(&tick, on_tick, 10, 10);
    while (!is_true(w, arg) && !is_late)
        uv_run(&w->loop, UV_RUN_ONCE);
    uv_close((uv_handle_t *)&late, NULL);
    uv_close((uv_handle_t *)&tick, NULL);
    uv_run(&w->loop, UV_RUN_NOWAIT); /* both handles are on the stack */
    if (!is_late)
        return;
    CLEANUP_FREE char *calls = world_calls(w);
    fail_msg("it did not happen within %d s; told:\n%scalled:\n%s", TIMEOUT_S, w->said.s, calls);
}

static bool is_read(const struct world *w, const void *arg)
{
    return w->readings >= *(const unsigned *)arg;
}

void world_until_readings(struct world *w, unsigned more)
{
    unsigned wanted = w->readings + more;
    world_until(w, is_read, &wanted);
}

static bool is_said(const struct world *w, const void *arg)
{
    return strstr(w->said.s, arg) != NULL;
}

void world_until_said(struct world *w, const char *line)
{
    world_until(w, is_said, line);
}

static bool is_called(const struct world *w, const void *arg)
{
    return world_count(w, arg) > 0;
}

void world_until_called(struct world *w, const char *beginning)
{
    world_until(w, is_called, beginning);
}

static bool is_alone(const struct world *w, const void *arg)
{
    return strstr(w->alone.s, arg) != NULL;
}

void world_until_alone(struct world *w, const char *node)
{
    world_until(w, is_alone, node);
}
