/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/operate/actor.h"

#include "agent/fake_test.h"
#include "agent/operate/operation_record.h"
#include "agent/operate/runner.h"
#include "agent/process/oom.h"
#include "base/json.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* Operations as a controller asks for them, and what becomes of them over the ends of agents. */

#define BOOT "6e8f4a52-0c1e-4c1b-9d3a-2f60c2a1b7de"
#define NEXT_BOOT "00000000-0c1e-4c1b-9d3a-2f60c2a1b7de"

enum { SAID_MAX = 128 };

struct node {
    struct fake *f;
    struct checker *checker;
    struct actor *actor;
    char *root;
    json_t *said[SAID_MAX];
    int n;
    char log[16]; /* the result of the check of the kernel's log, as said last */
};

static void say(void *arg, const char *body, size_t len)
{
    struct node *n = arg;
    assert_true(n->n < SAID_MAX && len <= FRAME_BODY_BYTES_MAX);
    n->said[n->n] = json_read(body, len, NULL);
    assert_non_null(n->said[n->n]);
    n->n++;
}

/* Of them the kernel's log alone is about the node itself. */
static void say_checks(void *arg, const char *body, size_t len)
{
    struct node *n = arg;
    size_t at;
    json_t *one;
    CLEANUP_JSON json_t *all = json_read(body, len, NULL);
    json_array_foreach (json_object_get(all, "checks"), at, one)
        if (strcmp(json_string_value(json_object_get(one, "check")), "log") == 0)
            snprintf(n->log, sizeof n->log, "%s", json_string_value(json_object_get(one, "result")));
}

static void start(struct node *n, const char *boot)
{
    static const char records[] =
        "Check=disk Probe=plugin Run=\"echo slow; exit 2\" When=extensive\n"
        "Check=hangs Probe=plugin Run=\"sleep 1000\" When=extensive Deadline=1h\n"
        "Check=score Probe=plugin Run=\"cat /proc/self/oom_score_adj\" When=extensive\n"
        "Check=pair Probe=plugin When=scheduled Group=2 "
        "Run=\"echo ${FETTLE_NODES:-alone} ${FETTLE_RANK:-} ${FETTLE_COUNT:-}\"\n"
        "Check=log Probe=kernel.log Every=1d\n";
    struct checker_settings checks = {
        .home = n->f->dir, .root = n->root, .node = "lx01", .boot = boot, .say = say_checks, .arg = n};
    struct checklist list = {0};
    list.meanings = meanings_read(NULL, NULL);
    assert_int_equal(checks_parse("test", records, strlen(records), &list.checks, NULL), 0);
    n->checker = checker_create(&n->f->loop, &checks);
    checker_set(n->checker, &list);
    struct actor_settings acts = {
        .home = n->f->dir, .root = n->root, .boot = boot, .checker = n->checker, .say = say, .arg = n};
    n->actor = actor_create(&n->f->loop, &acts);
}

static void stop(struct node *n)
{
    actor_destroy(n->actor);
    checker_destroy(n->checker);
    n->actor = NULL;
    n->checker = NULL;
}

static int open_node(void **state)
{
    struct node *n = mem_alloc(sizeof *n);
    n->f = mem_alloc(sizeof *n->f);
    fake_init(n->f);
    n->root = fake_root(n->f, "lx01");
    start(n, BOOT);
    *state = n;
    return 0;
}

static int close_node(void **state)
{
    struct node *n = *state;
    stop(n);
    fake_fini(n->f);
    for (int i = 0; i < n->n; i++)
        json_decref(n->said[i]);
    free(n->root);
    free(n->f);
    free(n);
    return 0;
}

static struct body_act act_of(const char *id, const char *run)
{
    struct body_act act = {.term = 3, .deadline = span_s(60)};
    snprintf(act.id, sizeof act.id, "%s", id);
    snprintf(act.boot, sizeof act.boot, "%s", BOOT);
    snprintf(act.run, sizeof act.run, "%s", run);
    return act;
}

static void act(struct node *n, const char *id, const char *run)
{
    struct body_act a = act_of(id, run);
    actor_act(n->actor, &a);
}

static const char *string_of(const json_t *o, const char *key)
{
    const char *s = json_string_value(json_object_get(o, key));
    return s ? s : "";
}

static json_t *last_of(const struct node *n, const char *id)
{
    for (int i = n->n - 1; i >= 0; i--)
        if (strcmp(string_of(n->said[i], "id"), id) == 0)
            return n->said[i];
    return NULL;
}

struct awaited {
    struct node *n;
    const char *id, *state;
};

static bool is_said(void *arg)
{
    const struct awaited *w = arg;
    return strcmp(string_of(last_of(w->n, w->id), "state"), w->state) == 0;
}

static json_t *wait_said(struct node *n, const char *id, const char *state)
{
    struct awaited w = {n, id, state};
    if (!fake_wait(n->f, is_said, &w))
        fail_msg("%s is never %s", id, state);
    return last_of(n, id);
}

static char *path_in(const struct node *n, const char *name, char out[static 256])
{
    snprintf(out, 256, "%s/%s", n->f->dir, name);
    return out;
}

static void says_that_it_begins_and_what_came_of_it(void **state)
{
    struct node *n = *state;
    act(n, "c1", "node:echo out; echo err >&2");
    assert_int_equal(n->n, 1);
    assert_string_equal(string_of(n->said[0], "state"), "begun");
    assert_string_equal(string_of(n->said[0], "boot"), BOOT);
    assert_string_equal(string_of(wait_said(n, "c1", "done"), "text"), "out\nerr\n");
    act(n, "c2", "node:echo why; exit 3");
    assert_string_equal(string_of(wait_said(n, "c2", "failed"), "text"), "exit status 3: why\n");
    act(n, "c3", "node:kill -TERM $$");
    assert_string_equal(string_of(wait_said(n, "c3", "failed"), "text"), "ended by signal 15");
}

static void keeps_the_end_of_much_output(void **state)
{
    struct node *n = *state;
    act(n, "c1", "node:head -c 300000 /dev/zero | tr '\\0' x; echo; printf 'the\\001end'");
    const char *text = string_of(wait_said(n, "c1", "done"), "text");
    assert_int_equal(strlen(text), OPERATION_TEXT_BYTES_MAX);
    assert_string_equal(text + strlen(text) - 8, "\nthe end");
}

static void on_wake(uv_timer_t *timer)
{
}

static void on_closed(uv_handle_t *handle)
{
}

/* For what happens outside and wakes nobody here. */
static bool wait_outside(struct node *n, fake_cond_fn *cond, void *arg)
{
    uv_timer_t wake;
    uv_timer_init(&n->f->loop, &wake);
    uv_timer_start(&wake, on_wake, 5, 5);
    bool good = fake_wait(n->f, cond, arg);
    uv_close((uv_handle_t *)&wake, on_closed);
    uv_run(&n->f->loop, UV_RUN_NOWAIT);
    return good;
}

static bool is_gone(void *arg)
{
    return kill(*(pid_t *)arg, 0) != 0 && errno == ESRCH;
}

static bool is_there(void *arg)
{
    return access(arg, F_OK) == 0;
}

static void a_remedy_that_takes_too_long_is_killed_with_all_that_it_started(void **state)
{
    struct node *n = *state;
    char path[256], run[512];
    int pid = 0;
    snprintf(run, sizeof run, "node:sleep 1000 & echo $! > %s; wait", path_in(n, "pid", path));
    struct body_act a = act_of("c1", run);
    a.deadline = span_ms(1500);
    actor_act(n->actor, &a);
    const char *text = string_of(wait_said(n, "c1", "failed"), "text");
    assert_non_null(strstr(text, "killed"));
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%d", &pid), 1);
    fclose(file);
    pid_t child = pid;
    assert_true(wait_outside(n, is_gone, &child));
    act(n, "c2", "node:true"); /* there is room for another one */
    wait_said(n, "c2", "done");
}

/* Remedies, and the commands of checks. A score above 0 is one that every test may have. */
static void programs_of_the_actor_go_first_when_memory_runs_out(void **state)
{
    struct node *n = *state;
    int before, own;
    assert_int_equal(oom_score_set(321, &before), 0);
    act(n, "c1", "node:cat /proc/self/oom_score_adj");
    wait_said(n, "c1", "done");
    act(n, "c2", "check:score");
    wait_said(n, "c2", "done");
    assert_int_equal(oom_score_set(before, &own), 0);
    assert_string_equal(string_of(last_of(n, "c1"), "text"), "0\n");
    const json_t *verdict = json_object_get(last_of(n, "c2"), "verdict");
    assert_string_equal(string_of(verdict, "text"), "0");
    assert_int_equal(own, 321);
}

static void refuses_operations_that_may_not_be_done(void **state)
{
    struct node *n = *state;
    struct body_act a = act_of("c1", "node:true");
    snprintf(a.boot, sizeof a.boot, "%s", NEXT_BOOT);
    actor_act(n->actor, &a);
    assert_string_equal(string_of(last_of(n, "c1"), "state"), "refused");
    act(n, "c1", "node:true"); /* what was refused is not done later */
    assert_string_equal(string_of(last_of(n, "c1"), "state"), "refused");
    static const char *const unknown[] = {"",
                                          "node:",
                                          "check:",
                                          "check:nothing",
                                          "power.cycle",
                                          "forget:1:xid.79",
                                          "script:true",
                                          "work:cancel",
                                          "reboot now"};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        char id[8];
        snprintf(id, sizeof id, "u%zu", i);
        act(n, id, unknown[i]);
        assert_string_equal(string_of(last_of(n, id), "state"), "refused");
    }
    a = act_of("c2", "node:sleep 1000");
    a.deadline = span_ms(500);
    actor_act(n->actor, &a);
    act(n, "c3", "node:true");
    assert_string_equal(string_of(last_of(n, "c2"), "state"), "begun");
    assert_string_equal(string_of(last_of(n, "c3"), "text"), "another operation is under way");
    wait_said(n, "c2", "failed");
}

static void an_old_term_is_refused_and_the_next_one_may_ask_the_same(void **state)
{
    struct node *n = *state;
    act(n, "c1", "node:true");
    wait_said(n, "c1", "done");
    struct body_act a = act_of("c2", "node:true");
    a.term = 2;
    actor_act(n->actor, &a);
    assert_string_equal(string_of(last_of(n, "c2"), "state"), "refused");
    stop(n);
    start(n, BOOT); /* the term is remembered */
    actor_act(n->actor, &a);
    assert_string_equal(string_of(last_of(n, "c2"), "state"), "refused");
    act(n, "c2", "node:true");
    wait_said(n, "c2", "done");
}

/* Terms of a controller whose state was lost begin anew; what was asked for before stays what it is. */
static void terms_count_within_one_state_of_a_controller(void **state)
{
    struct node *n = *state;
    struct body_act a = act_of("s1.1.1", "node:true");
    snprintf(a.origin, sizeof a.origin, "s1");
    actor_act(n->actor, &a);
    wait_said(n, "s1.1.1", "done");
    struct body_act b = act_of("s2.1.1", "node:true");
    snprintf(b.origin, sizeof b.origin, "s2");
    b.term = 1;
    actor_act(n->actor, &b);
    wait_said(n, "s2.1.1", "done");
    b = act_of("s2.0.1", "node:true");
    snprintf(b.origin, sizeof b.origin, "s2");
    b.term = 0;
    stop(n);
    start(n, BOOT); /* both are remembered */
    actor_act(n->actor, &b);
    assert_string_equal(string_of(last_of(n, "s2.0.1"), "state"), "refused");
    a.term = 1; /* whoever asks for it under the old id, it is not done again */
    snprintf(a.run, sizeof a.run, "node:false");
    actor_act(n->actor, &a);
    assert_string_equal(string_of(last_of(n, "s1.1.1"), "state"), "done");
}

static void nothing_is_done_twice(void **state)
{
    struct node *n = *state;
    char path[256], run[512];
    struct stat st;
    snprintf(run, sizeof run, "node:echo x >> %s", path_in(n, "times", path));
    act(n, "c1", run);
    act(n, "c1", run); /* begun */
    wait_said(n, "c1", "done");
    act(n, "c1", run);
    stop(n);
    start(n, BOOT);
    act(n, "c1", run);
    assert_string_equal(string_of(last_of(n, "c1"), "state"), "done");
    act(n, "c2", "node:true");
    wait_said(n, "c2", "done");
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_size, 2);
}

/* A command that has begun, and ends when the file "go" is there. */
static void begin_long(struct node *n, const char *id, const char *end)
{
    char begun[256], go[256], run[1024];
    snprintf(run, sizeof run, "node:echo before; echo $$ >%s; while ! test -e %s; do sleep 0.01; done; %s",
             path_in(n, "begun", begun), path_in(n, "go", go), end);
    act(n, id, run);
    assert_true(wait_outside(n, is_there, begun));
}

static bool runs_nothing(void *arg)
{
    const struct node *n = arg;
    CLEANUP_FREE char *id = NULL;
    return runner_find(n->f->dir, &id) == 0;
}

static bool runs_something(void *arg)
{
    return !runs_nothing(arg);
}

static void a_remedy_that_runs_on_without_its_agent_is_waited_for(void **state)
{
    struct node *n = *state;
    begin_long(n, "c1", "echo after");
    stop(n);
    start(n, BOOT);
    actor_tell(n->actor);
    assert_string_equal(string_of(last_of(n, "c1"), "state"), "begun");
    act(n, "c2", "node:true"); /* one at a time, whoever began it */
    assert_string_equal(string_of(last_of(n, "c2"), "state"), "refused");
    stop(n);
    start(n, BOOT);
    act(n, "c1", "node:false"); /* nor is it done again */
    assert_string_equal(string_of(last_of(n, "c1"), "state"), "begun");
    fake_write(n->f->dir, "go", "");
    assert_string_equal(string_of(wait_said(n, "c1", "done"), "text"), "before\nafter\n");
    act(n, "c3", "node:true");
    wait_said(n, "c3", "done");
}

static void a_remedy_that_ended_without_its_agent_is_known(void **state)
{
    struct node *n = *state;
    begin_long(n, "c1", "exit 3");
    stop(n);
    fake_write(n->f->dir, "go", "");
    assert_true(wait_outside(n, runs_nothing, n));
    start(n, BOOT);
    actor_tell(n->actor);
    assert_string_equal(string_of(last_of(n, "c1"), "state"), "failed");
    assert_string_equal(string_of(last_of(n, "c1"), "text"), "exit status 3: before\n");
}

static bool is_log_ok(void *arg)
{
    const struct node *n = arg;
    return strcmp(n->log, "ok") == 0;
}

static bool is_log_lost(void *arg)
{
    const struct node *n = arg;
    return strcmp(n->log, "lost") == 0;
}

/* The kernel does not say it again, and nothing else says that it is over. */
static void cured_faults_are_over_also_without_the_agent(void **state)
{
    struct node *n = *state;
    char begun[256], go[256];
    struct body_act a = act_of("c1", "");
    snprintf(a.run, sizeof a.run, "node:touch %s; while ! test -e %s; do sleep 0.01; done",
             path_in(n, "begun", begun), path_in(n, "go", go));
    snprintf(a.cures, sizeof a.cures, "xid.48 xid.79");
    stop(n);
    fake_write(n->root, "dev/kmsg",
               "3,1,1000000,-;NVRM: Xid (PCI:0000:9b:00): 79, pid=1, GPU has fallen off the bus.\n");
    start(n, BOOT);
    assert_true(fake_wait(n->f, is_log_lost, n));
    actor_act(n->actor, &a);
    assert_true(wait_outside(n, is_there, begun));
    stop(n);
    fake_write(n->f->dir, "go", "");
    assert_true(wait_outside(n, runs_nothing, n));
    start(n, BOOT);
    assert_true(fake_wait(n->f, is_log_ok, n));
}

/* Beside what is under way, as often as it is told, and of this boot alone. */
static void faults_that_a_person_put_right_are_over(void **state)
{
    struct node *n = *state;
    struct body_act a = act_of("w1", "forget");
    snprintf(a.cures, sizeof a.cures, "xid.79");
    stop(n);
    fake_write(n->root, "dev/kmsg",
               "3,1,1000000,-;NVRM: Xid (PCI:0000:9b:00): 79, pid=1, GPU has fallen off the bus.\n");
    start(n, BOOT);
    assert_true(fake_wait(n->f, is_log_lost, n));
    begin_long(n, "c1", "true");
    a.until = 1;
    actor_act(n->actor, &a);
    assert_string_equal(string_of(last_of(n, "w1"), "state"), "done");
    assert_string_equal(n->log, "lost");
    snprintf(a.boot, sizeof a.boot, "%s", NEXT_BOOT);
    a.until = 2;
    actor_act(n->actor, &a);
    assert_string_equal(string_of(last_of(n, "w1"), "state"), "refused");
    snprintf(a.boot, sizeof a.boot, "%s", BOOT);
    actor_act(n->actor, &a);
    assert_string_equal(string_of(last_of(n, "w1"), "state"), "done");
    assert_true(fake_wait(n->f, is_log_ok, n));
    fake_write(n->f->dir, "go", "");
    wait_said(n, "c1", "done");
}

static void its_time_ends_without_its_agent(void **state)
{
    struct node *n = *state;
    struct body_act a = act_of("c1", "node:sleep 1000");
    a.deadline = span_ms(500);
    actor_act(n->actor, &a);
    assert_true(wait_outside(n, runs_something, n));
    stop(n);
    start(n, BOOT);
    assert_non_null(strstr(string_of(wait_said(n, "c1", "failed"), "text"), "killed"));
}

/* Begins "c1", at whose end the file `begun` goes: what carries it out. */
static pid_t begin_followed(struct node *n, char begun[static 256])
{
    CLEANUP_FREE char *id = NULL;
    char end[300];
    snprintf(end, sizeof end, "rm %s", path_in(n, "begun", begun));
    begin_long(n, "c1", end);
    pid_t runner = runner_find(n->f->dir, &id);
    assert_true(runner > 0);
    assert_string_equal(id, "c1");
    return runner;
}

/* It ended, and removed the file; or some agent on this machine ended it, since its runner is no more. */
static bool is_over(void *begun)
{
    char path[64], stat[256] = "";
    int pid = 0;
    FILE *file = fopen(begun, "re");
    if (!file)
        return true;
    bool is_read = fscanf(file, "%d", &pid) == 1;
    fclose(file);
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    file = is_read ? fopen(path, "re") : NULL;
    bool over = is_read && (!file || !fgets(stat, sizeof stat, file) || strstr(stat, ") Z "));
    if (file)
        fclose(file);
    return over;
}

static void a_remedy_whose_end_nobody_saw_is_unknown(void **state)
{
    struct node *n = *state;
    char begun[256];
    pid_t runner = begin_followed(n, begun);
    stop(n);
    assert_int_equal(kill(runner, SIGKILL), 0);
    assert_true(wait_outside(n, runs_nothing, n));
    start(n, BOOT);
    actor_tell(n->actor);
    assert_string_equal(string_of(last_of(n, "c1"), "state"), "unknown");
    int said = n->n;
    act(n, "c1", "node:true");
    assert_int_equal(n->n, said + 1);
    assert_string_equal(string_of(last_of(n, "c1"), "state"), "unknown");
    fake_write(n->f->dir, "go", ""); /* it went on, and ends now */
    assert_true(wait_outside(n, is_over, begun));
}

static void a_runner_that_is_killed_says_nothing(void **state)
{
    struct node *n = *state;
    char begun[256];
    assert_int_equal(kill(begin_followed(n, begun), SIGKILL), 0);
    wait_said(n, "c1", "unknown");
    fake_write(n->f->dir, "go", "");
    assert_true(wait_outside(n, is_over, begun));
}

static void reboot_by(struct node *n, const char *script)
{
    char path[512];
    fake_write(n->root, "sbin/reboot", script);
    snprintf(path, sizeof path, "%s/sbin/reboot", n->root);
    chmod(path, 0755);
}

static void reboot(struct node *n, const char *script)
{
    reboot_by(n, script);
    act(n, "c1", "reboot");
}

/* A quarter of it is the shutdown's. */
static void reboot_within(struct node *n, const char *id, int64_t deadline_ms)
{
    struct body_act a = act_of(id, "reboot");
    a.deadline = span_ms(deadline_ms);
    actor_act(n->actor, &a);
}

static void a_reboot_is_done_when_the_boot_is_another_one(void **state)
{
    struct node *n = *state;
    char path[256], script[512];
    snprintf(script, sizeof script, "#!/bin/sh\ntouch %s\n", path_in(n, "rebooted", path));
    reboot(n, script);
    wait_said(n, "c1", "begun");
    assert_true(wait_outside(n, is_there, path));
    assert_true(wait_outside(n, runs_nothing, n));
    stop(n);
    start(n, NEXT_BOOT);
    actor_tell(n->actor);
    assert_string_equal(string_of(last_of(n, "c1"), "state"), "done");
    assert_string_equal(string_of(last_of(n, "c1"), "boot"), BOOT);
}

static void a_reboot_that_fails_or_does_not_come_says_so(void **state)
{
    struct node *n = *state;
    reboot(n, "#!/bin/sh\necho no; exit 1\n");
    assert_string_equal(string_of(wait_said(n, "c1", "failed"), "text"), "exit status 1: no\n");
    reboot_by(n, "#!/bin/sh\n");
    reboot_within(n, "c2", 8000);
    wait_said(n, "c2", "unknown");
    stop(n);
    start(n, BOOT);
    actor_tell(n->actor);
    assert_string_equal(string_of(last_of(n, "c2"), "state"), "unknown");
}

/* What the kernel was told. */
static const char *triggered(const struct node *n)
{
    static char bytes[16];
    char path[512];
    snprintf(path, sizeof path, "%s/proc/sysrq-trigger", n->root);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    bytes[fread(bytes, 1, sizeof bytes - 1, file)] = 0;
    fclose(file);
    return bytes;
}

static bool is_restarted(void *arg)
{
    return strcmp(triggered(arg), "sb") == 0;
}

/* systemd kills no process whose first argument begins so. */
static char first_argument_of_runner(const struct node *n)
{
    CLEANUP_FREE char *id = NULL;
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/cmdline", (int)runner_find(n->f->dir, &id));
    FILE *file = fopen(path, "r");
    int first = file ? fgetc(file) : 0;
    if (file)
        fclose(file);
    return (char)first;
}

static bool is_spared(void *arg)
{
    return first_argument_of_runner(arg) == '@';
}

static void a_shutdown_that_hangs_is_cut_short(void **state)
{
    struct node *n = *state;
    fake_write(n->root, "proc/sysrq-trigger", "");
    reboot_by(n, "#!/bin/sh\n");
    struct mono began = mono_now();
    reboot_within(n, "c1", 12000);
    assert_true(wait_outside(n, is_spared, n));
    assert_string_equal(triggered(n), "");
    stop(n); /* as it is in a shutdown */
    assert_true(wait_outside(n, is_restarted, n));
    assert_true(span_to_ms(mono_sub(mono_now(), began)) >= 5000); /* three seconds, and two to write */
    assert_true(wait_outside(n, runs_nothing, n));
    start(n, NEXT_BOOT);
    actor_tell(n->actor);
    assert_string_equal(string_of(last_of(n, "c1"), "state"), "done");
}

static void a_command_to_reboot_that_hangs_is_cut_short(void **state)
{
    struct node *n = *state;
    fake_write(n->root, "proc/sysrq-trigger", "");
    reboot_by(n, "#!/bin/sh\nsleep 1000\n");
    reboot_within(n, "c1", 1000);
    assert_true(wait_outside(n, is_restarted, n));
    assert_non_null(strstr(string_of(wait_said(n, "c1", "failed"), "text"), "killed"));
}

/* A pipe that nobody writes to stands for the disk: whoever opens it waits. */
static void a_reboot_is_refused_while_the_disk_hangs(void **state)
{
    struct node *n = *state;
    char path[512];
    reboot_by(n, "");
    snprintf(path, sizeof path, "%s/sbin/reboot", n->root);
    unlink(path);
    assert_int_equal(mkfifo(path, 0700), 0);
    act(n, "c1", "reboot");
    const json_t *said = wait_said(n, "c1", "refused");
    assert_string_equal(string_of(said, "code"), "disk");
    act(n, "c2", "node:true"); /* which may still be done */
    wait_said(n, "c2", "done");
}

static void a_reboot_that_is_refused_is_not_forced(void **state)
{
    struct node *n = *state;
    fake_write(n->root, "proc/sysrq-trigger", "");
    reboot_by(n, "#!/bin/sh\nexit 1\n");
    reboot_within(n, "c1", 60000);
    wait_said(n, "c1", "failed");
    assert_true(wait_outside(n, runs_nothing, n));
    assert_string_equal(triggered(n), "");
}

static void a_check_is_run_and_its_verdict_told(void **state)
{
    struct node *n = *state;
    act(n, "c1", "check:disk");
    json_t *done = wait_said(n, "c1", "done");
    assert_string_equal(string_of(done, "text"), "fatal");
    CLEANUP_FREE char *verdict = json_write(json_object_get(done, "verdict"));
    assert_non_null(strstr(verdict, "\"result\":\"fatal\""));
    assert_non_null(strstr(verdict, "slow"));
    struct body_act a = act_of("c2", "check:hangs");
    a.deadline = span_s(1);
    actor_act(n->actor, &a);
    done = wait_said(n, "c2", "done"); /* that it hangs is what it came to */
    assert_string_equal(string_of(done, "text"), "unknown");
    stop(n);
    start(n, BOOT);
    actor_tell(n->actor);
    assert_non_null(json_object_get(last_of(n, "c1"), "verdict"));
}

static void hearsay_is_asked_for_and_not_done(void **state)
{
    struct node *n = *state;
    char path[256], run[512];
    snprintf(run, sizeof run, "node:touch %s", path_in(n, "done", path));
    struct body_act a = act_of("c1", run);
    actor_ask(n->actor, &a, "0123456789abcdef0123456789abcdef");
    assert_string_equal(string_of(last_of(n, "c1"), "state"), "asks");
    assert_string_equal(string_of(last_of(n, "c1"), "nonce"), "0123456789abcdef0123456789abcdef");
    assert_string_equal(string_of(last_of(n, "c1"), "boot"), BOOT);
    actor_act(n->actor, &a);
    wait_said(n, "c1", "done");
    assert_true(is_there(path));
    actor_ask(n->actor, &a, "0123456789abcdef0123456789abcdef"); /* it is known what came of it */
    assert_string_equal(string_of(last_of(n, "c1"), "state"), "done");
}

static void a_check_knows_with_whom_it_runs(void **state)
{
    struct node *n = *state;
    struct body_act a = act_of("c1", "check:pair");
    snprintf(a.nodes, sizeof a.nodes, "lx07,lx01,lx09");
    a.rank = 1;
    actor_act(n->actor, &a);
    CLEANUP_FREE char *verdict = json_write(json_object_get(wait_said(n, "c1", "done"), "verdict"));
    assert_non_null(strstr(verdict, "lx07,lx01,lx09 1 3"));
    act(n, "c2", "check:pair"); /* what was asked for before is not for this one */
    CLEANUP_FREE char *alone = json_write(json_object_get(wait_said(n, "c2", "done"), "verdict"));
    assert_non_null(strstr(alone, "alone"));
}

static void a_check_that_is_not_wanted_any_more_is_ended(void **state)
{
    struct node *n = *state;
    act(n, "c1", "check:hangs");
    assert_non_null(wait_said(n, "c1", "begun"));
    actor_end(n->actor, 3, "disk");  /* another one */
    actor_end(n->actor, 2, "hangs"); /* an old controller's word */
    assert_string_equal(string_of(last_of(n, "c1"), "state"), "begun");
    actor_end(n->actor, 3, "hangs");
    assert_string_equal(string_of(last_of(n, "c1"), "state"), "unknown");
    actor_end(n->actor, 3, "hangs"); /* nothing runs */
    act(n, "c2", "check:disk");
    wait_said(n, "c2", "done");
    struct body_act a = act_of("c3", "check:hangs"); /* its child is gone: it can be looked at again */
    a.deadline = span_s(1);
    actor_act(n->actor, &a);
    assert_string_equal(string_of(wait_said(n, "c3", "done"), "text"), "unknown");
}

static void an_operation_that_cannot_be_written_down_is_not_begun(void **state)
{
    struct node *n = *state;
    char path[256];
    actor_destroy(n->actor);
    struct actor_settings acts = {
        .home = "/nonexistent", .root = n->root, .boot = BOOT, .checker = n->checker, .say = say, .arg = n};
    n->actor = actor_create(&n->f->loop, &acts);
    char run[512];
    snprintf(run, sizeof run, "node:touch %s", path_in(n, "done", path));
    act(n, "c1", run);
    assert_string_equal(string_of(last_of(n, "c1"), "state"), "refused");
    assert_false(is_there(path));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_node, close_node)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(says_that_it_begins_and_what_came_of_it),
        TEST(keeps_the_end_of_much_output),
        TEST(a_remedy_that_takes_too_long_is_killed_with_all_that_it_started),
        TEST(programs_of_the_actor_go_first_when_memory_runs_out),
        TEST(refuses_operations_that_may_not_be_done),
        TEST(an_old_term_is_refused_and_the_next_one_may_ask_the_same),
        TEST(terms_count_within_one_state_of_a_controller),
        TEST(nothing_is_done_twice),
        TEST(a_remedy_that_runs_on_without_its_agent_is_waited_for),
        TEST(a_remedy_that_ended_without_its_agent_is_known),
        TEST(cured_faults_are_over_also_without_the_agent),
        TEST(faults_that_a_person_put_right_are_over),
        TEST(its_time_ends_without_its_agent),
        TEST(a_remedy_whose_end_nobody_saw_is_unknown),
        TEST(a_runner_that_is_killed_says_nothing),
        TEST(a_reboot_is_done_when_the_boot_is_another_one),
        TEST(a_reboot_that_fails_or_does_not_come_says_so),
        TEST(a_shutdown_that_hangs_is_cut_short),
        TEST(a_command_to_reboot_that_hangs_is_cut_short),
        TEST(a_reboot_that_is_refused_is_not_forced),
        TEST(a_reboot_is_refused_while_the_disk_hangs),
        TEST(a_check_is_run_and_its_verdict_told),
        TEST(hearsay_is_asked_for_and_not_done),
        TEST(a_check_knows_with_whom_it_runs),
        TEST(a_check_that_is_not_wanted_any_more_is_ended),
        TEST(an_operation_that_cannot_be_written_down_is_not_begun),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
