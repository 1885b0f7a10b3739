/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/commit/proposals.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Replaces the committer: keeps the submitted commands until the test says how they ended. */
static struct {
    outcome_fn *fn;
    void *arg;
    enum command_kind kind;
} waiting[128];
static size_t n;

void committer_submit(struct committer *k, const struct command *cmd, outcome_fn *fn, void *arg)
{
    assert_string_equal(cmd->actor, "fettled");
    waiting[n].fn = fn;
    waiting[n].arg = arg;
    waiting[n++].kind = cmd->kind;
}

static void end(size_t i, int rc)
{
    struct err why;
    err_set(&why, rc, "the store is away");
    const struct outcome o = {.rc = rc, .why = rc ? &why : NULL};
    waiting[i].fn(waiting[i].arg, &o);
}

static const struct hostlist nodes;
static struct proposals *p;

static int setup(void **state)
{
    n = 0;
    p = proposals_create(NULL);
    return 0;
}

static int teardown(void **state)
{
    proposals_destroy(p);
    return 0;
}

/* `named` is what the command names. */
static bool propose(enum command_kind kind, const char *named)
{
    struct command cmd = {.kind = kind, .nodes = &nodes};
    if (kind == COMMAND_DRIFT)
        cmd.drift.named = named;
    else if (kind == COMMAND_SEEN)
        cmd.seen.named = named;
    return proposals_submit(p, &cmd);
}

static void one_of_a_kind_is_under_way(void **state)
{
    assert_true(propose(COMMAND_SILENT, NULL));
    assert_false(propose(COMMAND_SILENT, NULL));
    assert_true(propose(COMMAND_HEARD, NULL));
    end(0, 0);
    assert_true(propose(COMMAND_SILENT, NULL));
    assert_int_equal(n, 3);
    end(1, -EAGAIN); /* a proposal that failed may be made again, too */
    assert_true(propose(COMMAND_HEARD, NULL));
    end(2, 0);
    end(3, 0);
}

static void different_proposals_go_side_by_side(void **state)
{
    assert_true(propose(COMMAND_DRIFT, "a"));
    assert_true(propose(COMMAND_DRIFT, "b"));
    assert_false(propose(COMMAND_DRIFT, "a"));
    assert_true(propose(COMMAND_SEEN, "a"));
    assert_true(propose(COMMAND_DRIFT, NULL));
    end(0, 0);
    assert_true(propose(COMMAND_DRIFT, "a"));
    assert_false(propose(COMMAND_DRIFT, "b"));
    for (size_t i = 1; i < n; i++)
        end(i, 0);
}

static void many_proposals_are_bounded_and_keep_no_other_kind_waiting(void **state)
{
    char named[16];
    for (int i = 0; i < PROPOSALS_MAX; i++) {
        snprintf(named, sizeof named, "%d", i);
        assert_true(propose(COMMAND_SEEN, named));
    }
    assert_false(propose(COMMAND_SEEN, "more"));
    assert_true(propose(COMMAND_SILENT, NULL));
    end(0, 0);
    assert_true(propose(COMMAND_SEEN, "more"));
    for (size_t i = 1; i < n; i++)
        end(i, -EAGAIN);
    assert_true(propose(COMMAND_SEEN, "1"));
    end(n - 1, 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(one_of_a_kind_is_under_way),
        TEST(different_proposals_go_side_by_side),
        TEST(many_proposals_are_bounded_and_keep_no_other_kind_waiting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
