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

#define TEST(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_records_of_isolations_that_are_none),
        TEST(test_damaged_records_are_refused),
        TEST(test_reload),
        TEST(test_healthy_nodes_cost_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
