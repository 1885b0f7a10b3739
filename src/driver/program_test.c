/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text.h"
#include "driver/program.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

struct world {
    uv_loop_t loop;
    unsigned n_done;
    struct text printed;
    struct err why;
    unsigned n_gone;
    unsigned done_then; /* how often done had come when it was gone */
};

static int setup(void **state)
{
    struct world *w = mem_alloc(sizeof *w);
    uv_loop_init(&w->loop);
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;
    assert_int_equal(uv_loop_close(&w->loop), 0); /* nothing is left in it */
    text_fini(&w->printed);
    free(w);
    return 0;
}

static void on_done(void *arg, char *text, size_t len, const struct err *why)
{
    CLEANUP_FREE char *printed = text;
    struct world *w = arg;
    w->n_done++;
    w->why = why ? *why : (struct err){0};
    assert_true(text || why);
    if (!text)
        return;
    assert_int_equal(printed[len], '\0');
    text_add_bytes(&w->printed, printed, len);
}

static void on_gone(void *arg)
{
    struct world *w = arg;
    w->n_gone++;
    w->done_then = w->n_done;
}

static int start(struct world *w, const char *script, int deadline_ms, struct program **out, struct err *e)
{
    const char *const argv[] = {"/bin/sh", "-c", script, NULL};
    const char *const set[] = {"FETTLE_TEST=set", NULL};
    const char *const unset[] = {"FETTLE_UNSET", NULL};
    const struct program_run run = {.argv = argv,
                                    .set = set,
                                    .unset = unset,
                                    .deadline = span_ms(deadline_ms),
                                    .limit_bytes = 1000,
                                    .gone = on_gone};
    text_clear(&w->printed);
    w->n_done = w->n_gone = 0;
    return program_start(&w->loop, &run, on_done, w, out, e);
}

static void run(struct world *w, const char *script, int deadline_ms)
{
    struct program *p;
    struct err e = {0};
    assert_int_equal(start(w, script, deadline_ms, &p, &e), 0);
    assert_int_equal(w->n_done, 0);
    uv_run(&w->loop, UV_RUN_DEFAULT);
    assert_int_equal(w->n_done, 1);
}

enum { LONG_MS = 60000 };

static void test_what_it_prints_is_told(void **state)
{
    struct world *w = *state;
    run(w, "printf 'a b'; echo words >&2", LONG_MS);
    assert_string_equal(w->printed.s, "a b");
    run(w, "true", LONG_MS);
    assert_int_equal(w->printed.len, 0);
    assert_int_equal(w->why.code, 0);
}

static void test_its_environment(void **state)
{
    struct world *w = *state;
    setenv("FETTLE_UNSET", "x", 1);
    setenv("FETTLE_TEST", "other", 1);
    setenv("FETTLE_TEST_LONGER", "kept", 1);
    run(w, "printf \"$FETTLE_TEST,${FETTLE_UNSET-gone},$FETTLE_TEST_LONGER\"", LONG_MS);
    assert_string_equal(w->printed.s, "set,gone,kept");
    unsetenv("FETTLE_UNSET");
    unsetenv("FETTLE_TEST");
    unsetenv("FETTLE_TEST_LONGER");
}

static void test_it_leads_its_session_and_no_signal_is_kept_from_it(void **state)
{
    struct world *w = *state;
    sigset_t some, before;
    sigemptyset(&some);
    sigaddset(&some, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &some, &before);
    signal(SIGPIPE, SIG_IGN);
    run(w,
        "read -r pid name state parent group session rest </proc/$$/stat; test $$ = $session && test $$ = "
        "$group",
        LONG_MS);
    assert_int_equal(w->why.code, 0);
    run(w, "kill -PIPE $$", LONG_MS);
    assert_string_equal(w->why.msg, "sh was killed by signal 13");
    run(w, "kill -TERM $$", LONG_MS);
    assert_string_equal(w->why.msg, "sh was killed by signal 15");
    signal(SIGPIPE, SIG_DFL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void test_another_status_has_its_words(void **state)
{
    struct world *w = *state;
    run(w, "echo printed; echo 'no luck' >&2; echo more >&2; exit 3", LONG_MS);
    assert_int_equal(w->why.code, -EIO);
    assert_string_equal(w->why.msg, "sh ended with 3: no luck");
    run(w, "echo printed; exit 4", LONG_MS);
    assert_string_equal(w->why.msg, "sh ended with 4: printed");
    run(w, "kill -TERM $$", LONG_MS);
    assert_string_equal(w->why.msg, "sh was killed by signal 15");
}

static void test_at_its_deadline_it_is_killed_with_its_children(void **state)
{
    struct world *w = *state;
    run(w, "sleep 1000 & sleep 1000", 50);
    assert_int_equal(w->why.code, -ETIMEDOUT);
    assert_string_equal(w->why.msg, "sh did not end in time");
}

static void test_too_much_is_not_kept(void **state)
{
    struct world *w = *state;
    run(w, "while :; do echo 0123456789; done", LONG_MS);
    assert_int_equal(w->why.code, -EPROTO);
    assert_string_equal(w->why.msg, "sh printed more than 1000 bytes");
}

static void test_what_it_leaves_behind_is_not_waited_for(void **state)
{
    struct world *w = *state;
    run(w, "echo here; sleep 1000 &", LONG_MS);
    assert_string_equal(w->printed.s, "here\n");
}

static void test_a_program_that_is_not_there(void **state)
{
    struct world *w = *state;
    struct program *p = NULL;
    struct err e = {0};
    const char *const argv[] = {"/nowhere/tool", NULL};
    const struct program_run r = {.argv = argv, .deadline = span_ms(LONG_MS), .limit_bytes = 1};
    assert_int_equal(program_start(&w->loop, &r, on_done, w, &p, &e), -ENOENT);
    assert_string_equal(e.msg, "/nowhere/tool: no such file or directory");
    uv_run(&w->loop, UV_RUN_DEFAULT);
    assert_int_equal(w->n_done, 0);
}

static void test_kill_calls_nobody(void **state)
{
    struct world *w = *state;
    struct program *p;
    struct err e = {0};
    program_kill(NULL);
    assert_int_equal(start(w, "sleep 1000", LONG_MS, &p, &e), 0);
    program_kill(p);
    uv_run(&w->loop, UV_RUN_DEFAULT);
    assert_int_equal(w->n_done, 0);
}

/* Right before it is told where it ended by itself; afterwards where it was told at its deadline. */
static void test_gone_is_when_nothing_of_it_is_left(void **state)
{
    struct world *w = *state;
    run(w, "true", LONG_MS);
    assert_int_equal(w->n_gone, 1);
    assert_int_equal(w->done_then, 0);
    run(w, "sleep 1000", 50);
    assert_int_equal(w->n_gone, 1);
    assert_int_equal(w->done_then, 1);
    struct program *p;
    struct err e = {0};
    assert_int_equal(start(w, "sleep 1000", LONG_MS, &p, &e), 0);
    program_kill(p);
    uv_run(&w->loop, UV_RUN_DEFAULT);
    assert_int_equal(w->n_gone, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_what_it_prints_is_told),
        TEST(test_its_environment),
        TEST(test_it_leads_its_session_and_no_signal_is_kept_from_it),
        TEST(test_another_status_has_its_words),
        TEST(test_at_its_deadline_it_is_killed_with_its_children),
        TEST(test_too_much_is_not_kept),
        TEST(test_what_it_leaves_behind_is_not_waited_for),
        TEST(test_a_program_that_is_not_there),
        TEST(test_kill_calls_nobody),
        TEST(test_gone_is_when_nothing_of_it_is_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
