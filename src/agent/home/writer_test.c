/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/home/writer.h"

#include "agent/fake_test.h"
#include "agent/home/home.h"
#include "base/text.h"

#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct told {
    int n, code;
};

static void on_done(void *arg, const struct err *why)
{
    struct told *t = arg;
    t->n++;
    t->code = why ? why->code : 0;
}

static bool is_told(void *arg)
{
    return ((struct told *)arg)->n > 0;
}

static void expect_file(struct fake *f, const char *file, const char *text)
{
    CLEANUP_FREE char *is = NULL;
    assert_int_equal(home_read(f->dir, file, 1 << 20, &is, NULL), 0);
    assert_string_equal(is, text);
}

static void the_newest_is_on_the_disk_when_it_is_told(void **state)
{
    struct fake *f = *state;
    struct told first = {0}, second = {0}, other = {0};
    struct writer *w = writer_create(&f->loop, f->dir);
    writer_put(w, "a", "old", on_done, &first);
    writer_put(w, "b", "other", on_done, &other);
    writer_put(w, "a", "new", on_done, &second);
    assert_true(fake_wait(f, is_told, &first));
    assert_true(fake_wait(f, is_told, &second));
    assert_true(fake_wait(f, is_told, &other));
    assert_int_equal(first.code + second.code + other.code, 0);
    expect_file(f, "a", "new");
    expect_file(f, "b", "other");
    writer_destroy(w);
}

/* While a child is under way, so that it needs another one. */
static void a_text_put_during_a_write_is_written_after_it(void **state)
{
    struct fake *f = *state;
    struct told first = {0}, second = {0};
    struct writer *w = writer_create(&f->loop, f->dir);
    writer_put(w, "a", "old", on_done, &first);
    uv_run(&f->loop, UV_RUN_NOWAIT); /* its turn: it is forked */
    writer_put(w, "a", "new", on_done, &second);
    assert_true(fake_wait(f, is_told, &second));
    assert_int_equal(first.n, 1);
    expect_file(f, "a", "new");
    writer_destroy(w);
}

static void a_refusal_is_told_once(void **state)
{
    struct fake *f = *state;
    struct told one = {0}, cancelled = {0};
    char nowhere[160];
    snprintf(nowhere, sizeof nowhere, "%s/nowhere", f->dir);
    struct writer *w = writer_create(&f->loop, nowhere);
    writer_put(w, "a", "x", on_done, &one);
    writer_put(w, "a", "x", on_done, &cancelled);
    writer_cancel(w, &cancelled);
    assert_true(fake_wait(f, is_told, &one));
    assert_int_equal(one.code, -EIO);
    assert_int_equal(one.n, 1);
    assert_int_equal(cancelled.n, 0);
    writer_destroy(w);
}

static void one_that_is_destroyed_calls_nobody(void **state)
{
    struct fake *f = *state;
    struct told one = {0};
    struct writer *w = writer_create(&f->loop, f->dir);
    writer_put(w, "a", "x", on_done, &one);
    uv_run(&f->loop, UV_RUN_NOWAIT);
    writer_destroy(w);
    for (int i = 0; i < 50; i++) {
        uv_run(&f->loop, UV_RUN_NOWAIT);
        poll(NULL, 0, 1);
    }
    assert_int_equal(one.n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_newest_is_on_the_disk_when_it_is_told, fake_setup, fake_teardown),
        cmocka_unit_test_setup_teardown(a_text_put_during_a_write_is_written_after_it, fake_setup,
                                        fake_teardown),
        cmocka_unit_test_setup_teardown(a_refusal_is_told_once, fake_setup, fake_teardown),
        cmocka_unit_test_setup_teardown(one_that_is_destroyed_calls_nobody, fake_setup, fake_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
