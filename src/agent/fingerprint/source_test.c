/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/fingerprint/source.h"

#include "agent/fingerprint/node.h"
#include "base/text.h"
#include "probe/tree_test.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/inotify.h>

#include <cmocka.h>

/* Real files, and what inotify tells of them. */

struct fixture {
    uv_loop_t loop;
    struct tree *tree;
    struct source source;
    struct hostlist paths;
    int heard, closed;
};

static void on_closed(void *owner)
{
    struct fixture *f = owner;
    f->closed++;
}

static void on_ready(uv_poll_t *poll, int status, int events)
{
    const struct source *source = poll->data;
    struct fixture *f = source->owner;
    if (source_tells_of(source, &f->paths))
        f->heard++;
}

static int setup(void **state)
{
    struct fixture *f = mem_alloc(sizeof *f);
    tree_setup(state);
    f->tree = *state;
    *state = f;
    uv_loop_init(&f->loop);
    tree_add(f->tree, "/etc/a.conf", "x");
    hostlist_add(&f->paths, "/etc/a.conf");
    hostlist_add(&f->paths, "/etc/new/b.conf");
    assert_true(
        source_open(&f->source, &f->loop, inotify_init1(IN_CLOEXEC | IN_NONBLOCK), on_ready, on_closed, f));
    for (size_t i = 0; i < f->paths.n; i++)
        node_watch(f->source.fd, f->tree->root, f->paths.names[i]);
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    source_close(&f->source);
    uv_run(&f->loop, UV_RUN_DEFAULT);
    assert_int_equal(f->closed, 1);
    assert_int_equal(uv_loop_close(&f->loop), 0);
    hostlist_fini(&f->paths);
    *state = f->tree;
    free(f);
    return tree_teardown(state);
}

/* How often it was heard since the last call; inotify has told of all that was done before. */
static int heard(struct fixture *f)
{
    f->heard = 0;
    uv_run(&f->loop, UV_RUN_NOWAIT);
    return f->heard;
}

static void test_a_file_that_is_written_is_told(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(heard(f), 0);
    tree_add(f->tree, "/etc/a.conf", "y");
    assert_int_equal(heard(f), 1);
    assert_int_equal(heard(f), 0);
}

static void test_a_directory_on_the_way_is_told(void **state)
{
    struct fixture *f = *state;
    tree_add(f->tree, "/etc/new/", "");
    assert_int_equal(heard(f), 1);
}

static void test_a_neighbour_is_not_told(void **state)
{
    struct fixture *f = *state;
    tree_add(f->tree, "/etc/a.con", "y");
    tree_add(f->tree, "/etc/a.conf2", "y");
    tree_add(f->tree, "/etc/ne/", "");
    assert_int_equal(heard(f), 0);
}

static void test_a_drained_change_is_not_told(void **state)
{
    struct fixture *f = *state;
    tree_add(f->tree, "/etc/a.conf", "y");
    source_drain(&f->source);
    assert_int_equal(heard(f), 0);
}

static void test_without_a_descriptor_nothing_is_opened(void **state)
{
    struct source none;
    struct fixture *f = *state;
    assert_false(source_open(&none, &f->loop, -1, on_ready, on_closed, f));
    source_close(&none);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_file_that_is_written_is_told, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_directory_on_the_way_is_told, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_neighbour_is_not_told, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_drained_change_is_not_told, setup, teardown),
        cmocka_unit_test_setup_teardown(test_without_a_descriptor_nothing_is_opened, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
