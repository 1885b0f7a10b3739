/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/fixture_test.h"
#include "cluster/record/record.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char *known(struct world *w, const char *nodes, const char *set)
{
    return world_tell(w, COMMAND_MACHINE, nodes, quoted(set), NULL);
}

static const char *window(struct world *w, const char *nodes, const char *set)
{
    return world_tell(w, COMMAND_WINDOW, nodes, quoted(set), NULL);
}

static void test_damaged_records_are_refused(void **state)
{
    static const struct {
        const char *key, *value, *why;
    } bad[] = {
        {"machine/lx01", "{'machine':'AAA','since':'1','before':[]}",
         "\"AAA\" tells no machine from another"},
        {"machine/lx01", "{'machine':'serial AAA','since':1,'before':[]}", "since"},
        {"machine/lx01", "{'machine':'serial AAA','since':'1'}", "\"before\" is no array of at most 4"},
        {"machine/lx01", "{'machine':'serial AAA','since':'1','before':[7]}", "before 1: no object"},
        {"machine/lx01", "{'machine':'serial AAA','since':'1','before':[{'machine':'x','until':'1'}]}",
         "before 1: \"x\" tells"},
        {"machine/lx01", "{'machine':'serial AAA','since':'1','before':[],'more':1}", "more"},
        {"machine/", "{'machine':'serial AAA','since':'1','before':[]}", ""},
        {"maintenance/lx01", "{'by':'ann','at':'1'}", "why"},
        {"maintenance/lx01", "{'by':'ann','at':'1','why':'a\\u0007b'}", "why"},
        {"maintenance/lx01", "{'by':7,'at':'1','why':'w'}", "by"},
        {"maintenance/lx01", "[]", ""},
        {"window/lx01", "{'by':'Slurm','at':'1'}", "why"},
        {"window/", "{'by':'Slurm','at':'1','why':'x'}", ""},
    };
    struct world *w = *state;
    known(w, "lx01", "{'machines':{'lx01':{'machine':'serial AAA'}}}");
    lx01_transition(w, "maintenance", "host retires");
    window(w, "lx01", "{'by':'Slurm','why':'host retires'}");
    uint64_t before = cluster_digest(w->c);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct err e = {0};
        assert_int_equal(cluster_put(w->c, bad[i].key, quoted(bad[i].value), &e), -EILSEQ);
        if (!strstr(e.msg, bad[i].why))
            fail_msg("%s", e.msg);
        assert_true(cluster_digest(w->c) == before);
    }
    struct cluster *again = world_reload(w, "lx[01-06] CPUs=2", 0, true);
    assert_true(cluster_digest(again) == before);
    cluster_destroy(again);
}

static void test_a_record_is_read_and_written(void **state)
{
    struct world *w = *state;
    const char *record =
        quoted("{'machine':'serial AAA','since':'9','before':[{'machine':'serial BBB','until':'7'}]}");
    world_takes(w, "machine/lx01", record);
    assert_null(member_machine(cluster_find(w->c, "lx01")));
    assert_int_equal(cluster_put(w->c, "machine/lx01", record, NULL), 0);
    const struct machine_record *i = member_machine(cluster_find(w->c, "lx01"));
    assert_string_equal(i->machine, "serial AAA");
    assert_int_equal(i->since.ns, 9);
    assert_int_equal(i->n_before, 1);
    CLEANUP_FREE char *written = machine_record_write(i);
    assert_string_equal(written, record);
}

static void test_the_last_four_machines_are_remembered(void **state)
{
    struct machine_record i = {.machine = "serial 0", .since = {1}};
    for (int n = 1; n <= 6; n++) {
        char name[16];
        snprintf(name, sizeof name, "serial %d", n);
        machine_record_change(&i, name, (struct wall){10 * n});
    }
    assert_string_equal(i.machine, "serial 6");
    assert_int_equal(i.since.ns, 60);
    assert_int_equal(i.n_before, MACHINES_KEPT_MAX);
    assert_string_equal(i.before[0].machine, "serial 5");
    assert_int_equal(i.before[0].until.ns, 60);
    assert_string_equal(i.before[3].machine, "serial 2");
    assert_int_equal(i.before[3].until.ns, 30);
}

/* Two machines with one name: the name goes to and fro, or to ever more of them, within an hour. */
static void test_a_name_that_does_not_come_to_rest(void **state)
{
    const struct wall now = {span_s(100000).ns};
    const struct wall edge = {now.ns - span_s(3600).ns}, within = {edge.ns + 1},
                      later = {now.ns + span_s(3600).ns};
    struct machine_record i = {.machine = "serial A", .n_before = 1, .before = {{"serial B", within}}};
    assert_true(machine_restless(&i, "serial B", now));
    assert_false(machine_restless(&i, "serial C", now));
    i.before[0].until = edge;
    assert_false(machine_restless(&i, "serial B", now));
    i.before[0].until = later; /* a clock that was set back */
    assert_false(machine_restless(&i, "serial B", now));
    i.n_before = MACHINES_KEPT_MAX;
    for (size_t k = 0; k < MACHINES_KEPT_MAX; k++)
        i.before[k].until = within;
    assert_true(machine_restless(&i, "serial C", now));
    i.before[3].until = edge;
    assert_false(machine_restless(&i, "serial C", now));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_damaged_records_are_refused),
        TEST(test_a_record_is_read_and_written),
        TEST(test_the_last_four_machines_are_remembered),
        TEST(test_a_name_that_does_not_come_to_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
