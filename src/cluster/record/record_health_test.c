/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/repair_fixture_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define FINDING(check, result, device, code, text) \
    "{'check':'" check "','result':'" result "','device':'" device "','code':'" code "','text':'" text "'}"
#define OPEN(id, group, severity, findings)                                                         \
    "{'id':" id ",'group':'" group "','severity':'" severity "','act':'reset','recurs':0,'observe'" \
    ":false,'findings':[" findings "]}"
#define ISOLATE "{'problem':'node_problem','why':'xid.79 gpu 0: off the bus','deadline_s':60}"
#define SET(open, close, isolate) "{'boot':'b1','open':[" open "],'close':[" close "],'isolate':" isolate "}"
#define XID FINDING("kernel.gpu", "fatal", "gpu 0", "xid.79", "off the bus")

static const char *find(struct world *w, const char *set, const char *claim)
{
    return world_tell(w, COMMAND_FINDINGS, "lx01", quoted(set), claim);
}

static void test_records_of_isolations_that_are_none(void **state)
{
    static const char *const bad[] = {"{}",           "{'at':[]}",     "{'at':[1]}",
                                      "{'at':['x']}", "{'at':['-1']}", "{'at':['1'],'more':1}"};
    struct world *w = *state;
    uint64_t before = cluster_digest(w->c);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(cluster_put(w->c, "surge/isolated", quoted(bad[i]), NULL), -EILSEQ);
    assert_int_equal(cluster_put(w->c, "surge/other", quoted("{'at':['1']}"), NULL), -EILSEQ);
    assert_true(cluster_digest(w->c) == before);
}

#define SHARED(nodes, why, severity) \
    "{'key':'fs.mounted mount /x','nodes':'" nodes "','why':'" why "','severity':'" severity "'}"

static const char *share(struct world *w, const char *set)
{
    return world_tell(w, COMMAND_SHARED, "", quoted(set), NULL);
}

#define INCIDENT(closed)                                                                                     \
    "{'id':'1.5.1','group':'','severity':'warn','act':'watch','since':'1','last':'1','closed':'" closed      \
    "','boot':'','count':1,'recurs':0,'observe':false,'findings':[{'check':'c','result':'warn','device':''," \
    "'code':'','text':'','at':'1'}]}"

static void test_damaged_records_are_refused(void **state)
{
    static const struct {
        const char *key, *value, *why;
    } bad[] = {
        {"health/lx01", "{'open':[]}", "record health/lx01: \"past\" is no array of at most 16"},
        {"health/lx01", "{'open':[" INCIDENT("7") "],'past':[]}", "open 1 is closed"},
        {"health/lx01", "{'open':[],'past':[" INCIDENT("0") "]}", "past 1 is open"},
        {"health/lx01", "{'open':[{'id':'1'}],'past':[]}", "open 1: \"group\" is missing"},
        {"health/lx[01]", "{'open':[],'past':[]}", "is not the name of a node"},
        {"health/lx01", "[]", "no object"},
        {"shared/", "{'nodes':'lx01','why':'','since':'1','severity':'warn'}", "a key of 0 bytes"},
        {"shared/a", "{'nodes':'','why':'','since':'1','severity':'warn'}", "a shared cause on no node"},
        {"shared/a", "{'nodes':'lx01','why':'','since':'x','severity':'warn'}", "since"},
        {"tally/reboot", "{'counts':{'xid.79':[1,2]}}", "\"xid.79\" is no fault and class"},
        {"tally/reboot", "{'counts':{'xid.79 gpu':[1]}}", "xid.79 gpu: not two counts"},
        {"tally/reboot", "{'counts':{'xid.79 gpu':[1,-1]}}", "xid.79 gpu: not two counts"},
        {"tally/", "{'counts':{}}", "the name of a remedy"},
        {"switch/stop", "{'on':false,'by':'root','at':'1','why':''}", "a switch that is off has no record"},
        {"switch/go", "{'on':true,'by':'root','at':'1','why':''}", "\"go\" is no switch"},
        {"switch/stop", "{'on':true,'by':'root','at':'1','why':'a\\u0007'}", "why: a control character"},
    };
    struct world *w = *state;
    uint64_t before = cluster_digest(w->c);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct err e = {0};
        assert_int_equal(cluster_put(w->c, bad[i].key, quoted(bad[i].value), &e), -EILSEQ);
        if (!strstr(e.msg, bad[i].why))
            fail_msg("%s: %s", bad[i].key, e.msg);
        assert_true(cluster_digest(w->c) == before);
    }
}

/* The same records in any order are the same state, and each counts for the digest. */
static void test_reload(void **state)
{
    struct world *w = *state;
    find(w, SET(OPEN("null", "gpu 0", "fatal", XID), "", ISOLATE), "1.5");
    lx01_tried(w, "5", "?");
    world_tell(w, COMMAND_SWITCH, "", quoted("{'name':'latch','on':false}"), NULL);
    share(w, SHARED("lx[01-02]", "one server", "fatal"));
    world_say(w, COMMAND_SWITCH, "root", "", quoted("{'name':'stop','on':true}"), "work on the cooling");
    world_tell(w, COMMAND_REPAIR, "lx02",
               quoted("{'id':null,'from':'none','to':'provision','why':'new','boot':'b2','instance':'ff'}"),
               "1.6");
    lx01_judge(w, "true");
    uint64_t digest = cluster_digest(w->c);
    for (size_t k = 0; k < w->n; k++) {
        struct cluster *again = world_reload(w, "lx[01-06] CPUs=2", k, k % 2);
        assert_true(cluster_digest(again) == digest);
        assert_string_equal(cluster_switch(again, "stop"), "root: work on the cooling");
        cluster_destroy(again);
        cluster_put(w->c, w->records[k].key, NULL, NULL);
        assert_true(cluster_digest(w->c) != digest);
        assert_int_equal(cluster_put(w->c, w->records[k].key, w->records[k].value, NULL), 0);
        assert_true(cluster_digest(w->c) == digest);
    }
}

static void test_healthy_nodes_cost_nothing(void **state)
{
    struct world *w = *state;
    const struct member *m = cluster_find(w->c, "lx01");
    world_tell(w, COMMAND_REPAIR, "lx01", quoted("{'id':null,'from':'none','to':'provision','why':'new'}"),
               "1.6");
    assert_non_null(m->past);
    world_tell(w, COMMAND_REPAIR, "lx01",
               quoted("{'id':'1.6','from':'provision','to':'none','why':'passed'}"), "1.7");
    assert_null(m->past);
    assert_string_equal(world_record(w, "repair/lx01"), "none");
    assert_string_equal(world_record(w, "claim/1.6"), "none");
}

#define KEPT(more) "{'check':'scratch','result':'warn','device':'','code':'','text':'','at':'1'" more "}"
#define SICK(severity, act, count, findings, more)                                                         \
    "{'open':[{'id':'1.1','group':'','severity':'" severity "','act':'" act "','since':'1','last':'1',"    \
    "'closed':'0','boot':'b1','count':" count ",'recurs':0,'observe':false,'findings':[" findings "]" more \
    "}],'past':[]}"

static void test_damaged_incidents_are_refused(void **state)
{
    static const char *const bad[][2] = {
        {"{'open':[7],'past':[]}", "open 1: an incident is no object"},
        {SICK("ok", "watch", "1", KEPT(""), ""), "severity: \"ok\" is nothing that a check finds"},
        {SICK("warn", "pray", "1", KEPT(""), ""), "act: \"pray\" is none that this version knows"},
        {SICK("warn", "watch", "-1", KEPT(""), ""), "count"},
        {SICK("warn", "watch", "1", "", ""), "\"findings\" is no array of 1 to 8"},
        {SICK("warn", "watch", "1", "7", ""), "finding 1: a finding is no object"},
        {SICK("warn", "watch", "1", KEPT("") "," KEPT(",'more':1"), ""), "finding 2: "},
        {SICK("warn", "watch", "1", "{'check':'','result':'warn','device':'','code':'','text':'','at':'1'}",
              ""),
         "finding 1: a finding of no check"},
        {SICK("warn", "watch", "1", KEPT(",'times':-1"), ""), "finding 1: "},
        {SICK("warn", "watch", "1", KEPT(""), ",'jobs':{}"), "\"jobs\" is no array of at most 8"},
        {SICK("warn", "watch", "1", KEPT(""), ",'jobs':[7]"), "job 1: a job is no object"},
        {SICK("warn", "watch", "1", KEPT(""), ",'jobs':[{'job':'','user':'ann'}]"),
         "job 1: a job without number"},
        {SICK("warn", "watch", "1", KEPT(""), ",'jobs':[{'job':'7'}]"), "job 1: \"user\" is missing"},
        {"{'open':[],'past':[],'recurring':{}}", "\"recurring\" is no array of at most 32"},
        {"{'open':[],'past':[],'recurring':[7]}", "recurring 1: no object"},
        {"{'open':[],'past':[],'recurring':[{'group':'','observe':false,'sum':1,'grave':0}]}",
         "recurring 1: \"step\" is missing"},
    };
    struct world *w = *state;
    world_takes(w, "health/lx01",
                quoted(SICK("warn", "watch", "1", KEPT(""), ",'jobs':[{'job':'7','user':'ann'}]")));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        world_refuses(w, "health/lx01", quoted(bad[i][0]), bad[i][1]);
}

/* A record of an older version does not say how often a finding was seen. */
static void test_an_older_finding_was_seen_as_often_as_its_incident(void **state)
{
    static const struct {
        const char *count, *findings;
        unsigned times;
    } rows[] = {{"7", KEPT(""), 7},
                {"1", KEPT(""), 1},
                {"0", KEPT(""), 1},
                {"7", KEPT(",'times':2"), 2},
                {"7", KEPT("") "," KEPT(""), 1}};
    struct world *w = *state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CLEANUP_TEXT struct text t = {0};
        text_printf(&t, SICK("warn", "watch", "%s", "%s", ""), rows[i].count, rows[i].findings);
        assert_int_equal(cluster_put(w->c, "health/lx01", quoted(t.s), NULL), 0);
        assert_int_equal(member_ailment(cluster_find(w->c, "lx01"))->open[0].findings[0].times,
                         rows[i].times);
    }
}

#define LOST(since, closed, check)                                                                      \
    "{'open':[],'past':[{'id':'1.1','group':'','severity':'lost','act':'lost','since':'" since          \
    "','last':'1',"                                                                                     \
    "'closed':'" closed "','boot':'','count':1,'recurs':0,'observe':false,'findings':[{'check':'" check \
    "','result':'lost','device':'','code':'','text':'','at':'1'}]}]}"

/* The repair's step begins at 1000 ns. */
static void test_a_node_was_lost_when_its_step_began(void **state)
{
    static const struct {
        const char *record;
        bool lost;
    } rows[] = {{LOST("1000", "1000", "node.lost"), true},
                {LOST("1001", "2000", "node.lost"), false},
                {LOST("1", "999", "node.lost"), false},
                {LOST("1", "2000", "node.lost"), true},
                {LOST("1", "2000", "scratch"), false}};
    struct world *w = *state;
    lx01_isolate(w);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(cluster_put(w->c, "health/lx01", quoted(rows[i].record), NULL), 0);
        assert_int_equal(member_was_lost(cluster_find(w->c, "lx01")), rows[i].lost);
    }
    assert_int_equal(cluster_put(w->c, "health/lx02", quoted(rows[0].record), NULL), 0);
    assert_false(member_was_lost(cluster_find(w->c, "lx02"))); /* without a repair */
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_records_of_isolations_that_are_none),
        TEST(test_damaged_records_are_refused),
        TEST(test_reload),
        TEST(test_healthy_nodes_cost_nothing),
        TEST(test_damaged_incidents_are_refused),
        TEST(test_an_older_finding_was_seen_as_often_as_its_incident),
        TEST(test_a_node_was_lost_when_its_step_began),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
