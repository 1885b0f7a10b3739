/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The driver with scripts of its own instead of BMCs; the test is the cluster and gives results back as
 * records when it likes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/text.h"
#include "driver/power.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define KEY "effect/operate.lx01"

struct world {
    uv_loop_t loop;
    struct bmcs *bmcs;
    struct operate *operate;
    int may;
    unsigned n_asked, n_results, n_now;
    char *done; /* the last result */
    char *answer;
    struct err why;
    char dir[40], script[64], log[64];
};

static void on_result(void *arg, const char *key, const char *done)
{
    struct world *w = arg;
    assert_string_equal(key, KEY);
    w->n_results++;
    free(w->done);
    w->done = mem_dup(done);
}

static int on_may(void *arg, const char *node, const char *operation, struct err *e)
{
    struct world *w = arg;
    w->n_asked++;
    assert_string_equal(node, "lx01");
    return w->may ? err_set(e, w->may, "the switch is on") : 0;
}

static void on_now(void *arg, const char *answer, const struct err *why)
{
    struct world *w = arg;
    w->n_now++;
    free(w->answer);
    w->answer = mem_dup(answer);
    w->why = why ? *why : (struct err){0};
}

static void write_script(const struct world *w, const char *body)
{
    FILE *f = fopen(w->script, "w");
    assert_non_null(f);
    fprintf(f, "#!/bin/sh\necho \"$@\" >>%s\n%s\n", w->log, body);
    fclose(f);
    assert_int_equal(chmod(w->script, 0700), 0);
}

static struct bmcs *read_bmcs(const struct world *w, const char *more)
{
    CLEANUP_TEXT struct text conf = {0};
    struct bmcs *b;
    text_printf(&conf, "Nodes=lx01 Driver=script Run=%s%s\n", w->script, more);
    assert_int_equal(bmcs_parse("bmc.conf", conf.s, conf.len, &b, NULL), 0);
    return b;
}

static void on_asked(void *arg, const char *node, const struct err *why)
{
}

static int setup(void **state)
{
    struct world *w = mem_alloc(sizeof *w);
    *w = (struct world){.dir = "/tmp/fettle-operate-XXXXXX"};
    *state = w;
    assert_non_null(mkdtemp(w->dir));
    snprintf(w->script, sizeof w->script, "%s/power", w->dir);
    snprintf(w->log, sizeof w->log, "%s/log", w->dir);
    write_script(w, "echo on");
    uv_loop_init(&w->loop);
    const struct operate_sink sink = {w, on_result, on_may, on_asked};
    w->bmcs = read_bmcs(w, "");
    const struct operate_with with = {.bmcs = w->bmcs, .replace = w->script};
    w->operate = operate_create(&w->loop, &with, &sink);
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;
    operate_destroy(w->operate);
    bmcs_destroy(w->bmcs);
    uv_run(&w->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&w->loop), 0);
    unlink(w->script);
    unlink(w->log);
    assert_int_equal(rmdir(w->dir), 0);
    free(w->done);
    free(w->answer);
    free(w);
    return 0;
}

/* The record as it is now; done is JSON. */
static void tell(struct world *w, const char *id, const char *run, int64_t left_ms, const char *done)
{
    CLEANUP_TEXT struct text t = {0};
    CLEANUP_FREE char *copy = mem_dup(done); /* may be freed by what it says */
    text_printf(&t, "{\"id\":\"%s\",\"run\":", id);
    text_add_json(&t, run);
    text_printf(&t, ",\"of\":\"x\",\"boot\":\"\",\"instance\":\"1\",\"deadline\":\"%lld\",\"done\":%s}",
                (long long)(wall_now().ns + span_ms(left_ms).ns), copy);
    operate_effect(w->operate, KEY, t.s);
}

enum { LONG_MS = 60000 };

static void want(struct world *w, const char *run)
{
    tell(w, "7.1", run, LONG_MS, "null");
}

static void until_results(struct world *w, unsigned n)
{
    while (w->n_results < n)
        uv_run(&w->loop, UV_RUN_ONCE);
}

static bool done_has(const struct world *w, const char *part)
{
    return w->done && strstr(w->done, part);
}

/* It says begun, and the record takes it. */
static void begin(struct world *w, const char *run)
{
    unsigned before = w->n_results;
    want(w, run);
    until_results(w, before + 1);
    assert_true(done_has(w, "\"state\":\"begun\",\"id\":\"7.1\",\"at\":"));
    tell(w, "7.1", run, LONG_MS, w->done);
}

static void assert_done(struct world *w, const char *done)
{
    until_results(w, w->n_results + 1);
    assert_string_equal(w->done, done);
}

static char *logged(const struct world *w)
{
    struct text t = {0};
    FILE *f = fopen(w->log, "r");
    for (int c; f && (c = getc(f)) != EOF;)
        text_add_char(&t, (char)c);
    if (f)
        fclose(f);
    return text_take(&t);
}

static void assert_logged(const struct world *w, const char *lines)
{
    CLEANUP_FREE char *log = logged(w);
    assert_string_equal(log, lines);
}

static void test_nothing_is_done_before_the_record_says_begun(void **state)
{
    struct world *w = *state;
    want(w, "power.cycle");
    until_results(w, 1);
    for (int i = 0; i < 3; i++) /* turns of its timer */
        uv_run(&w->loop, UV_RUN_ONCE);
    assert_logged(w, "");
    assert_int_equal(w->n_asked, 1);
    tell(w, "7.1", "power.cycle", LONG_MS, w->done);
    assert_done(w, "{\"state\":\"done\",\"id\":\"7.1\",\"text\":\"on\"}");
    assert_logged(w, "cycle lx01\n");
}

static void test_a_record_said_twice_is_one_operation(void **state)
{
    struct world *w = *state;
    begin(w, "power.cycle");
    CLEANUP_FREE char *begun = mem_dup(w->done);
    tell(w, "7.1", "power.cycle", LONG_MS, begun);
    until_results(w, 2);
    tell(w, "7.1", "power.cycle", LONG_MS, begun);
    assert_logged(w, "cycle lx01\n");
}

static void test_an_operation_that_may_not_be_is_refused_or_waits(void **state)
{
    struct world *w = *state;
    w->may = -EAGAIN;
    want(w, "power.cycle");
    while (w->n_asked < 2)
        uv_run(&w->loop, UV_RUN_ONCE);
    assert_int_equal(w->n_results, 0);
    w->may = -EBUSY;
    assert_done(w, "{\"state\":\"refused\",\"id\":\"7.1\",\"text\":\"the switch is on\"}");
    assert_logged(w, "");
}

/* The switch is thrown while it is written down that it begins. */
static void test_an_operation_forbidden_by_the_time_of_its_record_is_not_done(void **state)
{
    struct world *w = *state;
    want(w, "power.cycle");
    until_results(w, 1);
    w->may = -EAGAIN;
    tell(w, "7.1", "power.cycle", LONG_MS, w->done);
    assert_string_equal(w->done, "{\"state\":\"refused\",\"id\":\"7.1\",\"text\":\"the switch is on\"}");
    assert_logged(w, "");
}

static void test_one_whose_time_is_over_is_refused(void **state)
{
    struct world *w = *state;
    tell(w, "7.1", "power.cycle", -1, "null");
    assert_done(w, "{\"state\":\"refused\",\"id\":\"7.1\",\"text\":\"its time is over\"}");
    assert_int_equal(w->n_asked, 0);
}

static void test_an_operation_that_nobody_can_do_is_refused(void **state)
{
    struct world *w = *state;
    struct err e = {0};
    assert_int_equal(operate_can(w->operate, "lx01", "power.cycle", &e), 0);
    assert_int_equal(operate_can(w->operate, "lx02", "script:true", &e), 0);
    assert_int_equal(operate_can(w->operate, "lx02", "replace", &e), 0);
    assert_int_equal(operate_can(w->operate, "lx02", "power.on", &e), -ENOENT);
    assert_string_equal(e.msg, "node \"lx02\" has no BMC in bmc.conf");
    assert_int_equal(operate_can(w->operate, "lx01", "power.status", &e), -ENOENT);
    assert_int_equal(operate_can(w->operate, "lx01", "reboot", &e), -ENOENT);
    operate_configure(w->operate, &(const struct operate_with){.bmcs = NULL});
    assert_int_equal(operate_can(w->operate, "lx01", "replace", &e), -ENOENT);
    want(w, "power.cycle");
    assert_done(
        w, "{\"state\":\"refused\",\"id\":\"7.1\",\"text\":\"node \\\"lx01\\\" has no BMC in bmc.conf\"}");
}

static void test_the_agents_are_left_to_the_agent(void **state)
{
    struct world *w = *state;
    static const char *const runs[] = {"node:true", "reboot", "check:dcgm", "power.status"};
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++)
        want(w, runs[i]);
    operate_effect(w->operate, "effect/reboot.lx01", "{}");
    uv_run(&w->loop, UV_RUN_DEFAULT);
    assert_int_equal(w->n_asked + w->n_results, 0);
}

static void test_one_that_somebody_else_began_is_not_done(void **state)
{
    struct world *w = *state;
    tell(w, "7.1", "power.cycle", LONG_MS, "{\"state\":\"begun\",\"id\":\"7.1\",\"at\":\"5\"}");
    assert_true(done_has(w, "\"unknown\""));
    tell(w, "7.2", "power.on", LONG_MS, "{\"state\":\"begun\",\"at\":\"5\"}");
    assert_done(w, "{\"state\":\"done\",\"id\":\"7.2\",\"text\":\"the controller ended in the middle; the "
                   "power is on\"}");
    tell(w, "7.3", "power.off", LONG_MS, "{\"state\":\"begun\",\"at\":\"5\"}");
    assert_done(w, "{\"state\":\"failed\",\"id\":\"7.3\",\"text\":\"the controller ended in the middle; the "
                   "power is on\"}");
    assert_logged(w, "status lx01\nstatus lx01\n");
    assert_int_equal(w->n_asked, 0);
}

/* Ours was said, but the record took another's. */
static void test_two_that_begin_are_one(void **state)
{
    struct world *w = *state;
    want(w, "script:echo ran");
    until_results(w, 1);
    tell(w, "7.1", "script:echo ran", LONG_MS, "{\"state\":\"begun\",\"id\":\"7.1\",\"at\":\"5\"}");
    assert_true(done_has(w, "\"unknown\""));
}

static void test_a_script_and_its_output(void **state)
{
    struct world *w = *state;
    begin(w, "script:printf \"$FETTLE_NODE\\t$FETTLE_OPERATION\\nmore\\n\"");
    assert_done(w, "{\"state\":\"done\",\"id\":\"7.1\",\"text\":\"lx01 7.1 more\"}");
    operate_effect(w->operate, KEY, NULL);
    begin(w, "script:echo no luck >&2; exit 7");
    assert_done(w, "{\"state\":\"failed\",\"id\":\"7.1\",\"text\":\"sh ended with 7: no luck\"}");
    operate_effect(w->operate, KEY, NULL);
    begin(w, "replace");
    assert_done(w, "{\"state\":\"done\",\"id\":\"7.1\",\"text\":\"on\"}");
    assert_logged(w, "lx01\n");
}

static void write_secret(const char *path)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs("s3cret\n", f);
    fclose(f);
    assert_int_equal(chmod(path, 0600), 0);
}

/* What is recorded, logged and asked for has the file's name in it, and no secret. */
static void test_a_script_has_its_secret_from_a_file(void **state)
{
    struct world *w = *state;
    char path[64];
    CLEANUP_TEXT struct text run = {0}, missing = {0};
    snprintf(path, sizeof path, "%s/secret", w->dir);
    write_secret(path);
    text_printf(&run, "script:PASSWORD=@%s printf \"$(printenv PASSWORD | wc -c) $0\"", path);
    begin(w, run.s);
    assert_done(w, "{\"state\":\"done\",\"id\":\"7.1\",\"text\":\"7 /bin/sh\"}");
    operate_effect(w->operate, KEY, NULL);
    unlink(path);
    text_printf(&missing, "{\"state\":\"failed\",\"id\":\"7.1\",\"text\":\"%s: No such file or directory\"}",
                path);
    begin(w, run.s);
    assert_done(w, missing.s);
}

static void test_a_script_that_runs_too_long_is_killed(void **state)
{
    struct world *w = *state;
    tell(w, "7.1", "script:exec sleep 1000", 800, "null");
    until_results(w, 1);
    tell(w, "7.1", "script:exec sleep 1000", LONG_MS, w->done); /* the deadline is as it was first */
    assert_done(w, "{\"state\":\"failed\",\"id\":\"7.1\",\"text\":\"sh did not end in time\"}");
    operate_effect(w->operate, KEY, NULL);
    write_script(w, "exec sleep 1000");
    tell(w, "7.2", "power.cycle", 800, "null");
    until_results(w, 3);
    tell(w, "7.2", "power.cycle", LONG_MS, w->done);
    assert_done(w, "{\"state\":\"failed\",\"id\":\"7.2\",\"text\":\"it did not end in time\"}");
}

static void test_a_result_is_said_again_until_the_record_has_it(void **state)
{
    struct world *w = *state;
    operate_set_pace(w->operate, span_ms(1));
    want(w, "script:true");
    until_results(w, 3);
    assert_true(done_has(w, "\"begun\""));
    tell(w, "7.1", "script:true", LONG_MS, w->done); /* much later than it was allowed */
    assert_true(done_has(w, "\"failed\""));
    until_results(w, 6);
    assert_true(done_has(w, "\"failed\""));
    tell(w, "7.1", "script:true", LONG_MS, w->done);
    unsigned n = w->n_results;
    uv_run(&w->loop, UV_RUN_DEFAULT); /* nothing is left to do */
    assert_int_equal(w->n_results, n);
}

static void test_an_unwanted_operation_that_has_not_begun_is_dropped(void **state)
{
    struct world *w = *state;
    want(w, "power.cycle");
    until_results(w, 1);
    operate_effect(w->operate, KEY, NULL);
    uv_run(&w->loop, UV_RUN_DEFAULT);
    assert_int_equal(w->n_results, 1);
    assert_logged(w, "");
}

static void test_a_begun_operation_goes_on_to_its_end_and_the_next_one_waits(void **state)
{
    struct world *w = *state;
    CLEANUP_TEXT struct text run = {0};
    text_printf(&run, "script:sleep 0.2; echo first >>%s", w->log);
    begin(w, run.s);
    operate_effect(w->operate, KEY, NULL);
    tell(w, "7.2", "power.on", LONG_MS, "null");
    until_results(w, 2);
    assert_true(done_has(w, "\"begun\",\"id\":\"7.2\""));
    assert_logged(w, "first\n");
}

static void ask_now(struct world *w, const char *node)
{
    unsigned before = w->n_now;
    operate_status(w->operate, node, on_now, w);
    assert_int_equal(w->n_now, before); /* from the loop */
    while (w->n_now == before)
        uv_run(&w->loop, UV_RUN_ONCE);
}

static void test_a_power_script_has_its_password_from_a_file(void **state)
{
    struct world *w = *state;
    char path[64];
    CLEANUP_TEXT struct text more = {0};
    snprintf(path, sizeof path, "%s/secret", w->dir);
    write_secret(path);
    text_printf(&more, " User=ann PasswordFile=%s", path);
    struct bmcs *before = w->bmcs;
    w->bmcs = read_bmcs(w, more.s);
    operate_configure(w->operate, &(struct operate_with){.bmcs = w->bmcs, .replace = w->script});
    bmcs_destroy(before);
    write_script(w, "printenv FETTLE_USER FETTLE_PASSWORD | tr '\\n' ' '; echo; echo on");
    ask_now(w, "lx01");
    assert_string_equal(w->answer, "ann s3cret ");
    unlink(path);
}

static void test_a_question(void **state)
{
    struct world *w = *state;
    ask_now(w, "lx01");
    assert_string_equal(w->answer, "on");
    assert_logged(w, "status lx01\n");
    ask_now(w, "lx02");
    assert_int_equal(w->why.code, -ENOENT);
    write_script(w, "echo broken >&2; exit 1");
    ask_now(w, "lx01");
    assert_string_equal(w->why.msg, "power ended with 1: broken");
    assert_int_equal(w->n_asked + w->n_results, 0);
}

static void test_a_question_does_not_disturb_an_operation(void **state)
{
    struct world *w = *state;
    begin(w, "script:exec sleep 1000");
    ask_now(w, "lx01");
    assert_string_equal(w->answer, "on");
}

static void test_a_question_is_answered_at_the_end(void **state)
{
    struct world *w = *state;
    write_script(w, "exec sleep 1000");
    operate_status(w->operate, "lx01", on_now, w);
    operate_status(w->operate, "lx01", on_now, w);
    uv_run(&w->loop, UV_RUN_NOWAIT);
    operate_destroy(w->operate);
    assert_int_equal(w->n_now, 2);
    assert_int_equal(w->why.code, -EAGAIN);
    w->operate = NULL;
}

static void test_a_new_configuration_leaves_running_operations(void **state)
{
    struct world *w = *state;
    begin(w, "power.cycle");
    operate_configure(w->operate, &(const struct operate_with){.bmcs = NULL});
    assert_done(w, "{\"state\":\"done\",\"id\":\"7.1\",\"text\":\"on\"}");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_nothing_is_done_before_the_record_says_begun),
        TEST(test_a_record_said_twice_is_one_operation),
        TEST(test_an_operation_that_may_not_be_is_refused_or_waits),
        TEST(test_an_operation_forbidden_by_the_time_of_its_record_is_not_done),
        TEST(test_one_whose_time_is_over_is_refused),
        TEST(test_an_operation_that_nobody_can_do_is_refused),
        TEST(test_the_agents_are_left_to_the_agent),
        TEST(test_one_that_somebody_else_began_is_not_done),
        TEST(test_two_that_begin_are_one),
        TEST(test_a_script_and_its_output),
        TEST(test_a_script_has_its_secret_from_a_file),
        TEST(test_a_power_script_has_its_password_from_a_file),
        TEST(test_a_script_that_runs_too_long_is_killed),
        TEST(test_a_result_is_said_again_until_the_record_has_it),
        TEST(test_an_unwanted_operation_that_has_not_begun_is_dropped),
        TEST(test_a_begun_operation_goes_on_to_its_end_and_the_next_one_waits),
        TEST(test_a_question),
        TEST(test_a_question_does_not_disturb_an_operation),
        TEST(test_a_question_is_answered_at_the_end),
        TEST(test_a_new_configuration_leaves_running_operations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
