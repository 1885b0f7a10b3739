/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/decide/decide.h"
#include "cluster/fixture_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Which nodes a list means: their names, or the sentence. Valid until the next call. */
static const char *named(const struct world *w, const char *nodes, size_t from, bool must_be_listed, int *rc)
{
    static char said[ERR_MSG_BYTES_MAX];
    CLEANUP_HOSTLIST struct hostlist names = {0};
    struct named found;
    struct err e = {0};
    assert_int_equal(hostlist_parse(nodes, &names, NULL), 0);
    const struct command cmd = {.kind = COMMAND_DRAIN, .nodes = &names};
    *rc = decide_find_named(w->c, &cmd, from, must_be_listed, &found, &e);
    CLEANUP_FREE char *folded = members_fold(found.nodes, found.n);
    snprintf(said, sizeof said, "%s", *rc < 0 ? e.msg : folded);
    free(found.nodes);
    return said;
}

static void test_a_command_names_nodes_that_are_there(void **state)
{
    struct world *w = *state;
    int rc;
    world_configure(w, "lx[01-03]", NULL);
    assert_string_equal(named(w, "lx[01-06]", 0, false, &rc), "lx[01-06]");
    assert_string_equal(named(w, "lx[01-06]", 4, false, &rc), "lx[05-06]");
    assert_string_equal(named(w, "lx01", 1, false, &rc), "");
    assert_int_equal(rc, 0);
    assert_string_equal(named(w, "lx[01-06]", 0, true, &rc), "node \"lx04\" is in no configuration file");
    assert_int_equal(rc, -ENOENT);
    assert_string_equal(named(w, "lx01,nobody", 0, false, &rc), "no node \"nobody\"");
    assert_int_equal(rc, -ENOENT);
    world_ask(w, COMMAND_FORGET, "root", "lx06", NULL, NULL);
    assert_string_equal(named(w, "lx06", 0, false, &rc), "no node \"lx06\""); /* it is forgotten */
}

static void test_some_commands_name_one_node(void **state)
{
    static const struct {
        const char *nodes, *why;
        int rc;
    } rows[] = {{"lx02", "", 0},
                {"", "node.drain names one node", -EINVAL},
                {"lx[01-02]", "node.drain names one node", -EINVAL},
                {"nobody", "no node \"nobody\"", -ENOENT}};
    struct world *w = *state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CLEANUP_HOSTLIST struct hostlist names = {0};
        struct member *m = NULL;
        struct err e = {0};
        hostlist_parse(rows[i].nodes, &names, NULL);
        const struct command cmd = {.kind = COMMAND_DRAIN, .nodes = &names};
        assert_int_equal(decide_one(w->c, &cmd, &m, &e), rows[i].rc);
        assert_string_equal(e.msg, rows[i].why);
        assert_ptr_equal(m, rows[i].rc == 0 ? cluster_find(w->c, "lx02") : NULL);
    }
    struct member *m;
    assert_int_equal(decide_one(w->c, &(struct command){.kind = COMMAND_DRAIN}, &m, NULL), -EINVAL);
}

static void test_a_reason_is_a_line(void **state)
{
    char most[REASON_BYTES_MAX + 2];
    struct err e;
    memset(most, 'x', sizeof most);
    most[REASON_BYTES_MAX + 1] = '\0';
    assert_int_equal(decide_check_reason("", &e), -EINVAL);
    assert_string_equal(e.msg, "a reason has 1 to 1024 bytes; this one has 0");
    assert_int_equal(decide_check_reason("x", &e), 0);
    assert_int_equal(decide_check_reason(most + 1, &e), 0);
    assert_int_equal(decide_check_reason(most, &e), -EINVAL);
    assert_int_equal(decide_check_reason("a\nb", &e), -EINVAL);
    assert_non_null(strstr(e.msg, "the reason: "));
    assert_int_equal(decide_check_note(&(struct command){.reason = NULL}, &e), 0);
    assert_int_equal(decide_check_note(&(struct command){.reason = ""}, &e), 0);
    assert_int_equal(decide_check_note(&(struct command){.reason = "a\nb"}, &e), -EINVAL);
    assert_int_equal(decide_check_clause("why", "", &e), 0);
    assert_int_equal(decide_check_clause("why", most + 1, &e), 0);
    assert_int_equal(decide_check_clause("why", most, &e), -EINVAL);
    assert_string_equal(e.msg, "why: 1025 bytes; it has 1024 at most");
    assert_int_equal(decide_check_clause("why", "a\tb", &e), -EINVAL);
    assert_string_equal(e.msg, "why: a control character");
}

static void test_a_boot_is_an_id_or_not_known(void **state)
{
    struct err e;
    assert_int_equal(decide_check_boot("", &e), 0);
    assert_int_equal(decide_check_boot("b-1", &e), 0);
    assert_int_equal(decide_check_boot("b 1", &e), -EINVAL);
    assert_string_equal(e.msg, "\"b 1\" is no boot id");
}

static void test_a_key_is_printable_ascii(void **state)
{
    assert_true(decide_key_ok("a", 1) && decide_key_ok(" ~", 2));
    assert_false(decide_key_ok("", 1) || decide_key_ok("ab", 1));
    assert_false(decide_key_ok("a\x1f", 9) || decide_key_ok("\x7f", 9) || decide_key_ok("\xc3\xbc", 9));
}

static void test_no_seconds_are_no_deadline(void **state)
{
    assert_int_equal(deadline_after((struct wall){5}, 0).ns, 0);
    assert_int_equal(deadline_after((struct wall){5}, 2).ns, 2000000005);
}

static void test_a_node_is_named_once(void **state)
{
    struct world *w = *state;
    struct decision d = {0};
    bool marks[6] = {false};
    const struct member *m = cluster_find(w->c, "lx02");
    decision_note(&d, marks, m);
    decision_note(&d, marks, m);
    assert_int_equal(d.changed.n, 1);
    assert_true(marks[m->id] && !marks[0]);
    decision_note(&d, NULL, m);
    assert_int_equal(d.changed.n, 2);
    decision_fini(&d);
}

/* What is drained stays so under a further claim that drains, and only under such a claim. */
static void test_a_drained_node_is_drained_under_the_next_claim(void **state)
{
    struct world *w = *state;
    world_do(w, COMMAND_DRAIN, "root", "lx[01-02]", "x", "7.1");
    world_do(w, COMMAND_DRAINED, "fettled", "lx01", NULL, NULL);
    struct member *all[] = {cluster_find(w->c, "lx01"), cluster_find(w->c, "lx02"),
                            cluster_find(w->c, "lx03")};
    const struct named nodes = {3, all};
    const struct command cmd = {.actor = "a\"b", .claim = "7.2", .at = {9}};
    struct decision d = {0};
    decide_claim(&d, &cmd, CLAIM_REPAIR, "y", &nodes);
    decide_claim(&d, &cmd, CLAIM_DOWN, "y", &nodes);
    assert_string_equal(d.ops[0].key, "claim/7.2");
    assert_string_equal(
        d.ops[0].value,
        quoted("{'kind':'repair','owner':'a\\'b','reason':'y','since':'9','nodes':'lx[01-03]',"
               "'drained':'lx01'}"));
    assert_non_null(strstr(d.ops[1].value, "\"drained\":\"\""));
    decision_fini(&d);
}

static void test_a_selection_has_each_claim_once_and_is_bounded(void **state)
{
    struct world *w = *state;
    static struct claim claims[OPS_MAX + 1];
    struct selection s = {0};
    CLEANUP_TEXT struct text few = {0}, many = {0};
    for (size_t i = 0; i < OPS_MAX; i++) {
        snprintf(claims[i].id, sizeof claims[i].id, "7.%zu", i + 1);
        assert_true(selection_add(&s, &claims[i]));
        if (i == 7)
            selection_say(&s, &few);
    }
    assert_false(selection_add(&s, &claims[OPS_MAX]));
    assert_true(selection_add(&s, &claims[0])); /* it is there already */
    assert_int_equal(s.n, OPS_MAX);
    selection_say(&s, &many);
    assert_string_equal(few.s, "7.1, 7.2, 7.3, 7.4, 7.5, 7.6, 7.7, 7.8");
    assert_string_equal(many.s, "7.1, 7.2, 7.3, 7.4, 7.5, 7.6, 7.7, 7.8 and 92 more");
    assert_non_null(w);
}

static void test_released_nodes_leave_their_claims(void **state)
{
    struct world *w = *state;
    bool marks[6] = {false};
    struct decision d = {0};
    world_do(w, COMMAND_DRAIN, "root", "lx[01-03]", "x", "7.1");
    world_do(w, COMMAND_DRAIN, "ann", "lx02", "y", "7.2");
    struct selection s = {.nodes = marks};
    selection_release(&s, &d);
    assert_int_equal(d.n_ops, 0);
    selection_add(&s, cluster_claim(w->c, "7.1"));
    selection_add(&s, cluster_claim(w->c, "7.2"));
    marks[cluster_find(w->c, "lx02")->id] = true;
    selection_release(&s, &d);
    assert_int_equal(d.n_ops, 2);
    assert_non_null(strstr(d.ops[0].value, "\"nodes\":\"lx[01,03]\""));
    assert_null(d.ops[1].value);
    decision_fini(&d);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_command_names_nodes_that_are_there),
        TEST(test_some_commands_name_one_node),
        TEST(test_a_reason_is_a_line),
        TEST(test_a_boot_is_an_id_or_not_known),
        TEST(test_a_key_is_printable_ascii),
        TEST(test_no_seconds_are_no_deadline),
        TEST(test_a_node_is_named_once),
        TEST(test_a_drained_node_is_drained_under_the_next_claim),
        TEST(test_a_selection_has_each_claim_once_and_is_bounded),
        TEST(test_released_nodes_leave_their_claims),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
