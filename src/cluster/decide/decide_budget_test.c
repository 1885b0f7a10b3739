/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/fixture_test.h"
#include "cluster/state/budget.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define LIMITS(act, out, class, group, partition, surge, week)                                            \
    "{'act':" act ",'out':" out ",'out_class':" class ",'out_group':" group ",'out_partition':" partition \
                                                      ",'surge':" surge                                   \
                                                      ",'surge_s':600,'remedies_a_week':" week "}"
#define OPEN(surge)                                                                                        \
    "{'boot':'','open':[{'id':null,'group':'gpu "                                                          \
    "0','severity':'fatal','act':'reset','recurs':0,'observe':false,"                                      \
    "'findings':[{'check':'kernel.gpu','result':'fatal','device':'gpu 0','code':'xid.79','text':'off the " \
    "bus'}]}],"                                                                                            \
    "'close':[],'isolate':{'problem':'node_problem','why':'xid.79','deadline_s':60" surge "}}"
#define MOVE \
    "{'from':'none','to':'isolate','why':'maintenance','problem':'maintenance','deadline_s':60,'boot':null}"

/* Repairs begin later than the nodes were put into service. */
static int setup(void **state)
{
    struct world *w = world_create();
    w->at += 1000;
    *state = w;
    return 0;
}

static const char *agree(struct world *w, const char *limits)
{
    return world_tell(w, COMMAND_REVISE, "", quoted(limits), NULL);
}

/* What the journal says of it is the last line. */
static const char *isolate(struct world *w, const char *node, const char *id, const char *surge)
{
    CLEANUP_TEXT struct text set = {0};
    text_printf(&set, OPEN("%s"), surge);
    return strrchr(world_tell(w, COMMAND_FINDINGS, node, quoted(set.s), id), ':') + 2;
}

static void end_repair(struct world *w, const char *node, const char *id)
{
    CLEANUP_TEXT struct text set = {0};
    text_printf(&set, "{\"id\":\"%s\",\"from\":\"isolate\",\"to\":\"provision\",\"why\":\"gone\"}", id);
    world_tell(w, COMMAND_REPAIR, node, set.s, "9.1");
    text_clear(&set);
    text_printf(&set, "{\"id\":\"%s\",\"from\":\"provision\",\"to\":\"none\",\"why\":\"passed\"}", id);
    world_tell(w, COMMAND_REPAIR, node, set.s, "9.2");
}

static size_t n_out(const struct world *w)
{
    size_t n = 0;
    while (cluster_out(w->c, n))
        n++;
    return n;
}

static void test_nothing_is_limited_before(void **state)
{
    struct world *w = *state;
    for (int i = 1; i <= 6; i++) {
        char node[8], id[8];
        snprintf(node, sizeof node, "lx%02d", i);
        snprintf(id, sizeof id, "1.%d", i);
        isolate(w, node, id, "");
        assert_string_equal(world_state(w, node), "draining");
    }
    assert_int_equal(n_out(w), 6);
}

/* What was found is written down, also where there is no room. */
static void test_findings_isolate_within_the_budget(void **state)
{
    struct world *w = *state;
    agree(w, LIMITS("true", "34", "100", "100", "100", "0", "5"));
    isolate(w, "lx01", "1.1", "");
    isolate(w, "lx02", "1.2", "");
    assert_string_equal(isolate(w, "lx03", "1.3", ""),
                        "3 of 6 nodes of the cluster would be out, and at most 2 may be\n");
    assert_string_equal(world_state(w, "lx03"), "available");
    assert_string_equal(world_record(w, "repair/lx03"), "none");
    assert_int_equal(member_severity(cluster_find(w->c, "lx03")), RESULT_FATAL);
    end_repair(w, "lx01", "1.1");
    isolate(w, "lx03", "1.4", "");
    assert_string_equal(world_state(w, "lx03"), "draining");
}

static void test_each_scope_has_its_budget(void **state)
{
    struct world *w = *state;
    world_configure(
        w, "lx[01-02] Group=1; lx[03-04] Partition=2; lx[05-06]; x[01-99]; class gpu Nodes=lx[05-06]", NULL);
    agree(w, LIMITS("true", "100", "50", "50", "50", "0", "5"));
    isolate(w, "lx01", "1.1", "");
    assert_string_equal(isolate(w, "lx02", "1.2", ""),
                        "2 of 2 nodes of group 1 would be out, and at most 1 may be\n");
    isolate(w, "lx03", "1.3", "");
    assert_string_equal(isolate(w, "lx04", "1.4", ""),
                        "2 of 2 nodes of partition 2 would be out, and at most 1 may be\n");
    isolate(w, "lx05", "1.5", "");
    assert_string_equal(isolate(w, "lx06", "1.6", ""),
                        "2 of 2 nodes of class gpu would be out, and at most 1 may be\n");
    world_do(w, COMMAND_SET, "root", "lx02", "{\"Group\":\"7\"}", NULL);
    isolate(w, "lx02", "1.7", "");
    assert_string_equal(world_state(w, "lx02"), "draining");
}

static void test_one_may_always_be_out(void **state)
{
    struct world *w = *state;
    agree(w, LIMITS("true", "0", "0", "0", "0", "0", "5"));
    isolate(w, "lx01", "1.1", "");
    assert_string_equal(world_state(w, "lx01"), "draining");
    assert_string_equal(isolate(w, "lx02", "1.2", ""),
                        "2 of 6 nodes of the cluster would be out, and at most 1 may be\n");
}

static void test_a_node_that_left_the_configuration_takes_no_room(void **state)
{
    struct world *w = *state;
    agree(w, LIMITS("true", "20", "100", "100", "100", "0", "5"));
    isolate(w, "lx01", "1.1", "");
    world_configure(w, "lx[02-06] CPUs=2", NULL);
    isolate(w, "lx02", "1.2", "");
    assert_string_equal(world_state(w, "lx02"), "draining");
    assert_int_equal(scope_nodes(w->c, SCOPE_CLUSTER, 0), 5);
}

/* A person's drain and a node in a person's hands take no room. */
static void test_a_person_takes_no_room(void **state)
{
    struct world *w = *state;
    agree(w, LIMITS("true", "20", "100", "100", "100", "0", "5"));
    world_do(w, COMMAND_DRAIN, "ann", "lx01", "bad DIMM", "1.1");
    world_say(w, COMMAND_TRANSITION, "ann", "lx02", "{\"transition\":\"manual_drain\"}", "DIMM");
    assert_int_equal(n_out(w), 0);
    isolate(w, "lx03", "1.3", "");
    assert_string_equal(world_state(w, "lx03"), "draining");
    assert_ptr_equal(cluster_out(w->c, 0), cluster_find(w->c, "lx03"));
}

static void test_switches_and_observe_keep_nodes_in_service(void **state)
{
    struct world *w = *state;
    agree(w, LIMITS("false", "100", "100", "100", "100", "0", "5"));
    assert_string_equal(isolate(w, "lx01", "1.1", ""), "health is only observed\n");
    agree(w, LIMITS("true", "100", "100", "100", "100", "0", "5"));
    world_say(w, COMMAND_SWITCH, "ann", "", "{\"name\":\"latch\",\"on\":true}", "smoke");
    assert_non_null(
        strstr(world_tell(w, COMMAND_REPAIR, "lx02", quoted(MOVE), "1.2"), "the latch is on: ann: smoke"));
    assert_string_equal(world_state(w, "lx02"), "available");
}

/* The node that would make the surge stays in service; an isolation that is none of a surge does not count.
 */
static void test_a_surge_ends_isolations(void **state)
{
    struct world *w = *state;
    agree(w, LIMITS("true", "100", "100", "100", "100", "3", "5"));
    isolate(w, "lx01", "1.1", ",'surge':3");
    isolate(w, "lx02", "1.2", ",'surge':3");
    assert_string_equal(isolate(w, "lx03", "1.3", ",'surge':3"),
                        "3 nodes would be isolated in a short time\n");
    isolate(w, "lx04", "1.4", "");
    assert_string_equal(world_state(w, "lx04"), "draining");
    w->at += INT64_C(600) * 1000000000;
    isolate(w, "lx03", "1.5", ",'surge':3");
    assert_string_equal(world_state(w, "lx03"), "draining");
}

static void test_maintenance_needs_room(void **state)
{
    struct world *w = *state;
    agree(w, LIMITS("true", "20", "100", "100", "100", "0", "5"));
    world_tell(w, COMMAND_REPAIR, "lx01", quoted(MOVE), "1.1");
    assert_string_equal(world_state(w, "lx01"), "draining");
    assert_non_null(strstr(world_tell(w, COMMAND_REPAIR, "lx02", quoted(MOVE), "1.2"), "at most 1 may be"));
    assert_int_equal(world_rc(), -EBUSY);
}

/* A trial holds all of its nodes or none. */
static void test_a_trial_needs_room(void **state)
{
    struct world *w = *state;
    agree(w, LIMITS("true", "34", "100", "100", "100", "0", "5"));
    assert_non_null(strstr(
        world_tell(w, COMMAND_TRIAL_BEGIN, "lx[01-03]", quoted("{'check':'nccl','deadline_s':60}"), "1.1"),
        "3 of 6 nodes of the cluster would be out, and at most 2 may be"));
    world_tell(w, COMMAND_TRIAL_BEGIN, "lx[01-02]", quoted("{'check':'nccl','deadline_s':60}"), "1.2");
    assert_int_equal(n_out(w), 2);
    assert_non_null(strstr(isolate(w, "lx03", "1.3", ""), "at most 2 may be"));
    world_tell(w, COMMAND_TRIAL_END, "lx[01-02]",
               quoted("{'claim':'1.2','check':'nccl','why':'ran','results':{'lx01':'ok','lx02':'ok'}}"),
               NULL);
    assert_int_equal(n_out(w), 0);
}

static void test_remedies_of_a_week(void **state)
{
    struct world *w = *state;
    agree(w, LIMITS("true", "100", "100", "100", "100", "0", "1"));
    isolate(w, "lx01", "1.1", "");
    world_tell(w, COMMAND_REPAIR, "lx01",
               quoted("{'id':'1.1','from':'isolate','to':'remedy','why':'chosen','remedy':'fix'}"), "1.2");
    static const char operate[] =
        "{'id':'1.1','step':'remedy','run':'reboot','operation_of':'fix','boot':'','deadline_s':60}";
    world_tell(w, COMMAND_OPERATE, "lx01", quoted(operate), "1.3");
    assert_int_equal(world_rc(), 0);
    world_tell(w, COMMAND_EFFECT, "",
               quoted("{'key':'effect/operate.lx01','done':{'id':'1.3','state':'failed','text':'no'}}"),
               NULL);
    world_tell(w, COMMAND_REPAIR, "lx01",
               quoted("{'id':'1.1','from':'remedy','to':'remedy','why':'again','remedy':'fix','attempt':"
                      "{'remedy':'fix','fault':'xid.79','done':false,'text':'no','verdict':'-'}}"),
               "1.4");
    assert_non_null(strstr(world_tell(w, COMMAND_OPERATE, "lx01", quoted(operate), "1.5"),
                           "had 1 remedies within a week"));
    w->at += INT64_C(8) * 86400 * 1000000000;
    world_tell(w, COMMAND_OPERATE, "lx01", quoted(operate), "1.6");
    assert_int_equal(world_rc(), 0);
}

/* In whatever order the records are read, the same nodes are out. */
static void test_the_same_are_out_after_a_restart(void **state)
{
    struct world *w = *state;
    agree(w, LIMITS("true", "100", "100", "100", "100", "0", "5"));
    isolate(w, "lx01", "1.1", "");
    world_tell(w, COMMAND_TRIAL_BEGIN, "lx[02-03]", quoted("{'check':'nccl','deadline_s':60}"), "1.2");
    for (size_t rotation = 0; rotation < w->n; rotation++) {
        struct cluster *again = world_reload(w, "lx[01-06] CPUs=2", rotation, rotation % 2);
        for (const char *const *name = (const char *const[]){"lx01", "lx02", "lx03", NULL}; *name; name++)
            assert_true(member_is_out(cluster_find(again, *name)));
        assert_non_null(cluster_out(again, 2));
        assert_null(cluster_out(again, 3));
        assert_true(limits_equal(cluster_limits(again), cluster_limits(w->c)));
        assert_true(cluster_digest(again) == cluster_digest(w->c));
        cluster_destroy(again);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_nothing_is_limited_before),
        TEST(test_findings_isolate_within_the_budget),
        TEST(test_each_scope_has_its_budget),
        TEST(test_one_may_always_be_out),
        TEST(test_a_node_that_left_the_configuration_takes_no_room),
        TEST(test_a_person_takes_no_room),
        TEST(test_switches_and_observe_keep_nodes_in_service),
        TEST(test_a_surge_ends_isolations),
        TEST(test_maintenance_needs_room),
        TEST(test_a_trial_needs_room),
        TEST(test_remedies_of_a_week),
        TEST(test_the_same_are_out_after_a_restart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
