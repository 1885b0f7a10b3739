/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/workers.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

struct run {
    uv_loop_t loop;
    struct workers *workers;
    int done, ended;
};

static int open_run(void **state)
{
    struct run *r = mem_alloc(sizeof *r);
    uv_loop_init(&r->loop);
    r->workers = workers_create(&r->loop);
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

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, open_run, close_run)
    const struct CMUnitTest tests[] = {
        T(nothing_is_left_of_one_that_is_cancelled),
        T(one_that_is_cancelled_is_the_only_one_until_it_is_gone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
