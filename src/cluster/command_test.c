/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of commands own all that they point to, and two that say the same are the same. */
#include "cluster/command.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* A command whose every word lies in buf, so that the test can take them away. */
struct given {
    struct hostlist nodes;
    char buf[8][16];
    struct command cmd;
};

static void give(struct given *g, enum command_kind kind)
{
    *g = (struct given){0};
    for (size_t i = 0; i < 8; i++)
        snprintf(g->buf[i], sizeof g->buf[i], "word %zu", i);
    hostlist_add(&g->nodes, "lx01");
    g->cmd = (struct command){.kind = kind,
                              .actor = g->buf[0],
                              .at = {7},
                              .nodes = &g->nodes,
                              .claim = g->buf[1],
                              .reason = g->buf[2],
                              .set = g->buf[3],
                              .token = g->buf[4],
                              .dry = true};
}

static void take_away(struct given *g)
{
    memset(g->buf, 'x', sizeof g->buf);
    hostlist_fini(&g->nodes);
}

static void a_copy_owns_its_words(void **state)
{
    struct given g;
    give(&g, COMMAND_SET);
    struct command *copy = command_copy(&g.cmd);
    take_away(&g);
    assert_int_equal(copy->kind, COMMAND_SET);
    assert_int_equal(copy->at.ns, 7);
    assert_true(copy->dry);
    assert_string_equal(copy->actor, "word 0");
    assert_string_equal(copy->claim, "word 1");
    assert_string_equal(copy->reason, "word 2");
    assert_string_equal(copy->set, "word 3");
    assert_string_equal(copy->token, "word 4");
    assert_int_equal(copy->nodes->n, 1);
    assert_string_equal(copy->nodes->names[0], "lx01");
    command_destroy(copy);
    command_destroy(NULL);
}

static void what_is_absent_stays_so(void **state)
{
    struct command *copy = command_copy(&(struct command){.kind = COMMAND_HEARD});
    assert_null(copy->actor);
    assert_null(copy->set);
    assert_int_equal(copy->nodes->n, 0);
    command_destroy(copy);
}

static void the_same_is_said_whoever_says_it(void **state)
{
    struct given a, b;
    give(&a, COMMAND_SET);
    give(&b, COMMAND_SET);
    b.cmd.actor = "ann";
    b.cmd.at.ns = 8;
    b.cmd.nodes = NULL;
    assert_true(command_same(&a.cmd, &b.cmd));
    b.cmd.kind = COMMAND_FORGET;
    assert_false(command_same(&a.cmd, &b.cmd));
    b.cmd.kind = COMMAND_SET;
    b.cmd.set = "another";
    assert_false(command_same(&a.cmd, &b.cmd));
    b.cmd.set = NULL;
    assert_false(command_same(&a.cmd, &b.cmd));
    assert_true(command_says(&a.cmd));
    assert_false(command_says(&b.cmd));
    take_away(&a);
    take_away(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_copy_owns_its_words),
        cmocka_unit_test(what_is_absent_stays_so),
        cmocka_unit_test(the_same_is_said_whoever_says_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
