/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of commands own all that they point to, and two that say the same are the same. */
#include "base/text.h"
#include "cluster/command/command.h"
#include "cluster/command/shape_check_test.h"

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
    struct field_setting setting;
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
                              .dry = true};
    g->setting = (struct field_setting){FIELD_CPUS, g->buf[3]};
    if (kind == COMMAND_SET)
        g->cmd.edit = (struct set_command){1, &g->setting};
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
    assert_string_equal(copy->edit.settings[0].value, "word 3");
    assert_int_equal(copy->nodes->n, 1);
    assert_string_equal(copy->nodes->names[0], "lx01");
    command_destroy(copy);
    command_destroy(NULL);
}

static void absent_members_stay_absent(void **state)
{
    struct command *copy = command_copy(&(struct command){.kind = COMMAND_HEARD});
    assert_null(copy->actor);
    assert_null(copy->reason);
    assert_int_equal(copy->nodes->n, 0);
    command_destroy(copy);
}

static void two_actors_say_the_same(void **state)
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
    b.setting.value = "another";
    assert_false(command_same(&a.cmd, &b.cmd));
    b.setting.value = NULL;
    assert_false(command_same(&a.cmd, &b.cmd));
    assert_true(command_says(&a.cmd));
    assert_false(command_says(&(struct command){.kind = COMMAND_HEARD}));
    take_away(&a);
    take_away(&b);
}

/* --- what commands say ------------------------------------------------------------------------ */

struct found {
    char how[16], why[16];
    struct finding_news findings[2];
    struct incident_news open[2];
    struct incident_end close;
    struct command cmd;
};

static void find(struct found *g)
{
    *g = (struct found){.how = "it says ok", .why = "off the bus"};
    for (size_t i = 0; i < 2; i++) {
        snprintf(g->findings[i].of.check, sizeof g->findings[i].of.check, "check.%zu", i);
        g->open[i] = (struct incident_news){.severity = RESULT_WARN, .n = i + 1, .findings = g->findings};
    }
    g->close.how = g->how;
    g->cmd = (struct command){.kind = COMMAND_FINDINGS,
                              .findings = {.boot = "b1",
                                           .n_open = 2,
                                           .open = g->open,
                                           .n_close = 1,
                                           .close = &g->close,
                                           .isolate = {.why = g->why, .deadline_s = 60}}};
}

static void a_copy_owns_its_lists(void **state)
{
    struct found g;
    find(&g);
    struct command *copy = command_copy(&g.cmd);
    assert_true(command_same(&g.cmd, copy));
    memset(&g, 'x', sizeof g);
    const struct findings_command *says = &copy->findings;
    assert_string_equal(says->boot, "b1");
    assert_string_equal(says->open[1].findings[1].of.check, "check.1");
    assert_string_equal(says->close[0].how, "it says ok");
    assert_string_equal(says->isolate.why, "off the bus");
    assert_int_equal(says->n_jobs, 0);
    command_destroy(copy);
}

static void any_difference_is_seen(void **state)
{
    struct found a, b;
    find(&a);
    find(&b);
    assert_true(command_same(&a.cmd, &b.cmd));
    assert_true(command_says(&a.cmd));
    b.findings[1].of.f.count = 2;
    assert_false(command_same(&a.cmd, &b.cmd));
    find(&b);
    b.open[1].n = 1;
    assert_false(command_same(&a.cmd, &b.cmd));
    find(&b);
    b.how[0] = 'I';
    assert_false(command_same(&a.cmd, &b.cmd));
    find(&b);
    b.cmd.findings.isolate.why = NULL;
    assert_false(command_same(&a.cmd, &b.cmd));
    find(&b);
    b.cmd.findings.boot[1] = '2';
    assert_false(command_same(&a.cmd, &b.cmd));
}

static void each_kind_is_copied_and_compared_whole(void **state)
{
#define COMMAND(symbol, name, id, meets, published, says, who, todo) SHAPE_CHECK(says);
#include "cluster/command/command.tbl"
#undef COMMAND
}

static void kinds_are_found_by_their_names(void **state)
{
    for (int k = 0; k < COMMANDS; k++)
        assert_int_equal(command_find(command_name((enum command_kind)k)), k);
    assert_int_equal(command_find("node.paint"), COMMANDS);
    assert_int_equal(command_find(""), COMMANDS);
}

static void a_kind_says_what_it_makes_and_meets(void **state)
{
    assert_true(command_makes_id(COMMAND_DRAIN) && command_makes_id(COMMAND_DOWN));
    assert_false(command_makes_id(COMMAND_UNDRAIN) || command_makes_id(COMMAND_SET));
    assert_int_equal(command_meets(COMMAND_DRAIN), COMMAND_MEETS_NODES);
    assert_int_equal(command_meets(COMMAND_SET), COMMAND_MEETS_COMPARES);
    assert_int_equal(command_meets(COMMAND_SWITCH), COMMAND_MEETS_SWITCHES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_copy_owns_its_words),
        cmocka_unit_test(absent_members_stay_absent),
        cmocka_unit_test(two_actors_say_the_same),
        cmocka_unit_test(a_copy_owns_its_lists),
        cmocka_unit_test(any_difference_is_seen),
        cmocka_unit_test(each_kind_is_copied_and_compared_whole),
        cmocka_unit_test(kinds_are_found_by_their_names),
        cmocka_unit_test(a_kind_says_what_it_makes_and_meets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
