/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/process/workers.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

struct run {
    uv_loop_t loop;
    struct workers *workers;
    int done, ended, pid;
};

static int answer(void *arg, const char *question, struct text *out, struct err *e)
{
    while (strcmp(question, "hang") == 0)
        pause();
    text_printf(out, "%d", (int)getpid());
    return 0;
}

static int open_run(void **state)
{
    struct run *r = mem_alloc(sizeof *r);
    uv_loop_init(&r->loop);
    r->workers = workers_create(&r->loop, answer, r);
    *state = r;
    return 0;
}

static int close_run(void **state)
{
    struct run *r = *state;
    workers_destroy(r->workers);
    uv_run(&r->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&r->loop), 0);
    free(r);
    return 0;
}

static int hang(void *arg, struct text *out, struct err *e)
{
    while (pause() < 0) { /* until it is killed */
    }
    return 0;
}

static void on_done(void *arg, char *text, size_t len, const struct err *why)
{
    ((struct run *)arg)->done++;
}

static void on_ended(void *arg, char *text, size_t len, const struct err *why)
{
    ((struct run *)arg)->ended++;
}

static int start(struct run *r, const char *target)
{
    return workers_run(r->workers, target, span_s(20), hang, on_done, r, NULL);
}

/* As long as it exists it may hang on what it looks at, and a second one would hang there as well. */
static void one_that_is_cancelled_is_the_only_one_until_it_is_gone(void **state)
{
    struct run *r = *state;
    assert_int_equal(start(r, "/scratch"), 0);
    workers_cancel(r->workers, r, on_ended, r);
    assert_int_equal(start(r, "/scratch"), -EAGAIN);
    while (r->ended == 0)
        uv_run(&r->loop, UV_RUN_ONCE);
    assert_int_equal(start(r, "/scratch"), 0);
    assert_int_equal(r->done, 0);
    assert_int_equal(r->ended, 1);
}

static void nothing_is_left_of_one_that_is_cancelled(void **state)
{
    struct run *r = *state;
    assert_int_equal(start(r, "/scratch"), 0);
    workers_cancel(r->workers, r, on_ended, r);
    while (r->ended == 0)
        uv_run(&r->loop, UV_RUN_ONCE);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

static void on_answer(void *arg, char *text, size_t len, const struct err *why)
{
    struct run *r = arg;
    uint64_t pid;
    r->pid = text && text_parse_u64(text, 1, INT32_MAX, &pid, NULL) == 0 ? (int)pid : -1;
}

/* Who answers. */
static int ask(struct run *r, const char *target)
{
    r->pid = 0;
    assert_int_equal(workers_ask(r->workers, target, span_s(20), "x", on_answer, r, NULL), 0);
    while (r->pid == 0)
        uv_run(&r->loop, UV_RUN_ONCE);
    return r->pid;
}

static void one_that_has_answered_is_asked_again_of_any_target(void **state)
{
    struct run *r = *state;
    int first = ask(r, "/scratch");
    assert_true(first > 0);
    assert_int_equal(ask(r, "/home"), first);
    assert_int_equal(ask(r, "/scratch"), first);
}

static int alive(const struct run *r, size_t n)
{
    int found = 0;
    for (size_t i = 0; i < n; i++)
        found += kill(r[i].pid, 0) == 0;
    return found;
}

static void two_of_three_workers_that_have_answered_stay(void **state)
{
    struct run *r = *state;
    struct run all[3] = {{.workers = r->workers}};
    assert_int_equal(workers_ask(r->workers, "/a", span_s(20), "x", on_answer, &all[0], NULL), 0);
    assert_int_equal(workers_ask(r->workers, "/a", span_s(20), "x", on_answer, &all[1], NULL), -EAGAIN);
    assert_int_equal(workers_ask(r->workers, "/b", span_s(20), "x", on_answer, &all[1], NULL), 0);
    assert_int_equal(workers_ask(r->workers, "/c", span_s(20), "x", on_answer, &all[2], NULL), 0);
    while (!all[0].pid || !all[1].pid || !all[2].pid)
        uv_run(&r->loop, UV_RUN_ONCE);
    while (alive(all, 3) > 2)
        uv_run(&r->loop, UV_RUN_NOWAIT);
    int asked = ask(r, "/d");
    assert_true(asked == all[0].pid || asked == all[1].pid || asked == all[2].pid);
    assert_int_equal(alive(all, 3), 2);
}

static void one_that_hangs_holds_nobody_else_up(void **state)
{
    struct run *r = *state;
    struct run other = {.workers = r->workers};
    int first = ask(r, "/scratch");
    assert_int_equal(workers_ask(r->workers, "/a", span_ms(50), "hang", on_answer, &other, NULL), 0);
    assert_int_not_equal(ask(r, "/b"), first);
    while (other.pid == 0)
        uv_run(&r->loop, UV_RUN_ONCE);
    assert_int_equal(other.pid, -1);
    assert_true(ask(r, "/scratch") > 0);
}

static void no_worker_of_before_is_asked(void **state)
{
    struct run *r = *state;
    int first = ask(r, "/scratch");
    workers_renew(r->workers);
    int second = ask(r, "/scratch");
    assert_true(second > 0 && second != first);
    assert_int_equal(workers_ask(r->workers, "/a", span_s(20), "x", on_answer, r, NULL), 0);
    workers_renew(r->workers); /* while it is at work */
    r->pid = 0;
    while (r->pid == 0)
        uv_run(&r->loop, UV_RUN_ONCE);
    int late = r->pid;
    assert_int_not_equal(ask(r, "/scratch"), late);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, open_run, close_run)
    const struct CMUnitTest tests[] = {
        T(nothing_is_left_of_one_that_is_cancelled),
        T(one_that_is_cancelled_is_the_only_one_until_it_is_gone),
        T(one_that_has_answered_is_asked_again_of_any_target),
        T(two_of_three_workers_that_have_answered_stay),
        T(one_that_hangs_holds_nobody_else_up),
        T(no_worker_of_before_is_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
