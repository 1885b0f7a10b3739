/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/fixture_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
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
#define ECC FINDING("gpu.ecc", "warn", "gpu 0", "", "3 errors")

static const char *find(struct world *w, const char *set, const char *claim)
{
    return world_tell(w, COMMAND_FINDINGS, "lx01", quoted(set), claim);
}

#define X1                                                                                     \
    "{'check':'kernel.gpu','result':'fatal','device':'gpu 0','code':'xid.79','text':'off the " \
    "bus','at':'1000'}"
#define E1 "{'check':'gpu.ecc','result':'warn','device':'gpu 0','code':'','text':'3 errors','at':'1000'}"

static void test_an_incident_is_opened(void **state)
{
    struct world *w = *state;
    assert_null(member_ailment(cluster_find(w->c, "lx01")));
    assert_string_equal(
        find(w, SET(OPEN("null", "gpu 0", "fatal", ECC "," XID), "", "null"), "1.5"),
        quoted("health/lx01 = {'open':[{'id':'1.5.1','group':'gpu 0','severity':'fatal','act':'reset',"
               "'since':'1000','last':'1000','closed':'0','boot':'b1','count':2,'recurs':0,'observe':false,"
               "'findings':[" X1 "," E1 "]}],'past':[]}\n"
               "lx01: opened 1.5.1 (gpu 0): fatal xid.79: off the bus\n"));
    const struct ailment *a = member_ailment(cluster_find(w->c, "lx01"));
    assert_int_equal(a->n_open, 1);
    assert_string_equal(a->open[0].findings[0].f.code, "xid.79");
    assert_int_equal(member_severity(cluster_find(w->c, "lx01")), RESULT_FATAL);
    assert_string_equal(world_state(w, "lx01"), "available"); /* nothing follows by itself */
}

static void test_each_incident_has_an_id(void **state)
{
    struct world *w = *state;
    find(w, SET(OPEN("null", "gpu 0", "fatal", XID) "," OPEN("null", "", "warn", ECC), "", "null"), "1.5");
    const struct ailment *a = member_ailment(cluster_find(w->c, "lx01"));
    assert_string_equal(a->open[0].id, "1.5.1");
    assert_string_equal(a->open[1].id, "1.5.2");
}

static void test_a_repeated_command_changes_nothing(void **state)
{
    struct world *w = *state;
    find(w, SET(OPEN("null", "gpu 0", "fatal", XID), "", ISOLATE), "1.5");
    w->at = 2000;
    assert_string_equal(find(w, SET(OPEN("null", "gpu 0", "fatal", XID), "", ISOLATE), "1.6"), "nothing");
}

static void test_findings_are_merged(void **state)
{
    struct world *w = *state;
    find(w, SET(OPEN("null", "gpu 0", "warn", ECC), "", "null"), "1.5");
    w->at = 2000;
    assert_string_equal(
        find(w, SET(OPEN("'1.5.1'", "gpu 0", "fatal", XID), "", "null"), "1.6"),
        quoted("health/lx01 = {'open':[{'id':'1.5.1','group':'gpu 0','severity':'fatal','act':'reset',"
               "'since':'1000','last':'2000','closed':'0','boot':'b1','count':2,'recurs':0,"
               "'observe':false,'findings':[{'check':'kernel.gpu','result':'fatal','device':'gpu 0',"
               "'code':'xid.79','text':'off the bus','at':'2000'}," E1
               "]}],'past':[]}\nlx01: more of 1.5.1 (gpu 0): fatal xid.79: off the bus\n"));
    w->at = 3000; /* the same again counts, and what is milder takes nothing back */
    find(w,
         SET(OPEN("'1.5.1'", "gpu 0", "info", FINDING("kernel.gpu", "info", "gpu 0", "xid.79", "again")), "",
             "null"),
         "1.7");
    const struct incident *i = member_ailment(cluster_find(w->c, "lx01"))->open;
    assert_int_equal(i->n, 2);
    assert_int_equal(i->count, 3);
    assert_int_equal(i->severity, RESULT_FATAL);
    assert_string_equal(i->findings[0].check, "gpu.ecc"); /* the worse one now */
    assert_string_equal(i->findings[1].f.text, "again");
    assert_int_equal(i->findings[1].at.ns, 3000);
}

/* What the agent counts, it counts on over the end of an incident, and anew from a boot on. */
static void test_how_often_something_was_seen_is_summed(void **state)
{
    static const struct {
        const char *count, *close;
        unsigned in_all, times, sum;
    } of[] = {{"1", "", 1, 1, 1},          {"24", "", 24, 24, 24}, {"24", "", 24, 24, 24},
              {"30", "'1.1.1'", 6, 6, 30}, {"3", "", 9, 9, 33},    {"0", "", 10, 10, 34}};
    struct world *w = *state;
    struct recurring r;
    w->at = INT64_C(1000000000) * 86400 * 365;
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        const struct ailment *a = member_ailment(cluster_find(w->c, "lx01"));
        CLEANUP_TEXT struct text close = {0}, finding = {0}, set = {0}, claim = {0};
        bool closes = *of[i].close;
        text_printf(&close, closes ? "{'id':%s,'how':'its checks say ok'}" : "", of[i].close);
        text_printf(
            &finding,
            "{'check':'k','result':'warn','device':'sda','code':'disk.error','text':'t','counts':true,"
            "'count':%s}",
            of[i].count);
        text_printf(&set,
                    "{'boot':'b1','open':[{'id':%s%s%s,'group':'sda','severity':'warn','act':'watch',"
                    "'recurs':0,'observe':false,'findings':[%s]}],'close':[%s]}",
                    a && a->n_open && !closes ? "'" : "", a && a->n_open && !closes ? a->open[0].id : "null",
                    a && a->n_open && !closes ? "'" : "", finding.s, close.s);
        text_printf(&claim, "1.%zu", i == 0 ? 1 : i + 1);
        find(w, set.s, claim.s);
        a = member_ailment(cluster_find(w->c, "lx01"));
        assert_int_equal(a->open[0].count, of[i].in_all);
        assert_int_equal(a->open[0].findings[0].times, of[i].times);
        ailment_recurs(a, "sda", false, (struct wall){w->at}, &r);
        assert_int_equal(r.sum, of[i].sum * RECUR_ONE);
        assert_int_equal(r.grave, 0);
    }
    ailment_recurs(member_ailment(cluster_find(w->c, "lx01")), "sda", true, (struct wall){w->at}, &r);
    assert_int_equal(r.sum, 0);
}

static void test_the_worst_findings_are_kept(void **state)
{
    struct world *w = *state;
    CLEANUP_TEXT struct text t = {0};
    for (int i = 0; i < 12; i++)
        text_printf(&t, "%s{'check':'c%d','result':'%s','device':'','code':'','text':''}", i ? "," : "", i,
                    i == 11 ? "fatal"
                    : i % 2 ? "degraded"
                            : "warn");
    CLEANUP_TEXT struct text set = {0};
    text_printf(&set,
                "{'boot':'','open':[{'id':null,'group':'','severity':'fatal','act':'watch','recurs':2,"
                "'observe':false,'findings':[%s]}]}",
                t.s);
    find(w, set.s, "1.5");
    const struct incident *i = member_ailment(cluster_find(w->c, "lx01"))->open;
    assert_int_equal(i->n, INCIDENT_FINDINGS_MAX);
    assert_int_equal(i->count, 12);
    assert_int_equal(i->recurs, 2);
    assert_string_equal(i->findings[0].check, "c11");
    for (size_t k = 1; k < i->n; k++)
        assert_true(i->findings[k].f.result <= i->findings[k - 1].f.result);
    assert_int_equal(i->findings[7].f.result, RESULT_WARN);
}

static void test_closing_moves_to_the_past(void **state)
{
    struct world *w = *state;
    find(w, SET(OPEN("null", "gpu 0", "fatal", XID), "", "null"), "1.5");
    w->at = 2000;
    const char *said = find(w, SET("", "{'id':'1.5.1','how':'ok again'}", "null"), "1.6");
    assert_non_null(strstr(said, quoted("health/lx01 = {'open':[],'past':[{'id':'1.5.1',")));
    assert_non_null(strstr(said, quoted("'closed':'2000'")));
    assert_non_null(strstr(said, "lx01: closed 1.5.1 (gpu 0): ok again\n"));
    assert_int_equal(member_severity(cluster_find(w->c, "lx01")), RESULT_OK);
    assert_string_equal(find(w, SET("", "{'id':'1.5.1','how':'ok again'}", "null"), "1.7"), "nothing");
    /* findings for it come too late */
    assert_string_equal(find(w, SET(OPEN("'1.5.1'", "gpu 0", "fatal", XID), "", "null"), "1.8"), "nothing");
}

static void open_many(struct world *w, int n, const char *severity)
{
    for (int i = 0; i < n; i++) {
        CLEANUP_TEXT struct text set = {0}, claim = {0};
        text_printf(&set,
                    "{'boot':'b1','open':[{'id':null,'group':'d%d','severity':'%s','act':'watch','recurs':0,"
                    "'observe':false,'findings':[{'check':'c','result':'warn','device':'d%d','code':'',"
                    "'text':''}]}]}",
                    i, severity, i);
        text_printf(&claim, "3.%d", i);
        find(w, set.s, claim.s);
    }
}

static void test_the_past_is_short(void **state)
{
    struct world *w = *state;
    const struct member *m = cluster_find(w->c, "lx01");
    open_many(w, 20, "warn");
    for (int i = 0; i < 20; i++) {
        char set[100];
        snprintf(set, sizeof set, "{'boot':'b1','close':[{'id':'3.%d.1','how':'ok'}]}", i);
        w->at += 1000;
        find(w, set, "4.1");
    }
    assert_int_equal(member_ailment(m)->n_past, INCIDENTS_PAST_MAX);
    assert_string_equal(member_ailment(m)->past[0].id, "3.19.1"); /* newest first */
    assert_string_equal(member_ailment(m)->past[15].id, "3.4.1");
    w->at += INT64_C(91) * 24 * 3600 * 1000000000; /* and forgets */
    find(w, SET(OPEN("null", "", "warn", ECC), "", "null"), "5.1");
    assert_int_equal(member_ailment(m)->n_past, 0);
    assert_int_equal(member_ailment(m)->n_open, 1);
}

/* Too many: a worse one takes the place of the mildest, a mild one is not taken. */
static void test_open_incidents_are_bounded(void **state)
{
    struct world *w = *state;
    const struct member *m = cluster_find(w->c, "lx01");
    open_many(w, 40, "warn");
    assert_int_equal(member_ailment(m)->n_open, INCIDENTS_OPEN_MAX);
    assert_string_equal(member_ailment(m)->open[31].id, "3.31.1");
    find(w, SET(OPEN("null", "gpu 0", "fatal", XID), "", "null"), "5.1");
    assert_int_equal(member_ailment(m)->n_open, INCIDENTS_OPEN_MAX);
    assert_string_equal(member_ailment(m)->open[31].id, "5.1.1");
    assert_string_equal(member_ailment(m)->past[0].id, "3.0.1");
    assert_int_equal(member_severity(m), RESULT_FATAL);
}

static void test_isolating_is_one_decision(void **state)
{
    struct world *w = *state;
    const char *said = find(w, SET(OPEN("null", "gpu 0", "fatal", XID), "", ISOLATE), "1.5");
    assert_non_null(strstr(said, "; isolated: xid.79 gpu 0: off the bus (claim 1.5)\n"));
    assert_int_equal(world_parts(), 1);
    assert_string_equal(
        world_record(w, "claim/1.5"),
        quoted("{'kind':'repair','owner':'fettled','reason':'[node_problem] xid.79 gpu 0: off the bus',"
               "'since':'1000','nodes':'lx01','drained':''}"));
    assert_string_equal(
        world_record(w, "repair/lx01"),
        quoted(
            "{'id':'1.5','step':'isolate','began':'1000','since':'1000','deadline':'60000001000','boot':'b1',"
            "'instance':'0','problem':'node_problem','why':'xid.79 gpu 0: off the "
            "bus','remedy':'','operation':'',"
            "'approval':'none','approver':null,'examined':'not','inconclusive':0,'manual':false,'taken_by':"
            "null,"
            "'attempts':[],'notes':[]}"));
    assert_string_equal(world_state(w, "lx01"), "draining");
    world_do(w, COMMAND_DRAINED, "fettled", "lx01", NULL, NULL);
    assert_string_equal(world_state(w, "lx01"), "drained");
    world_do(w, COMMAND_DRAINING, "fettled", "lx01", NULL, NULL);
    assert_string_equal(world_state(w, "lx01"), "draining");
}

static void test_isolated_once(void **state)
{
    struct world *w = *state;
    find(w, SET(OPEN("null", "gpu 0", "fatal", XID), "", ISOLATE), "1.5");
    find(w, SET(OPEN("null", "gpu 1", "fatal", XID), "", ISOLATE), "1.6");
    assert_string_equal(world_claims(w, "lx01"),
                        "1.5 repair by fettled: [node_problem] xid.79 gpu 0: off the bus");
    assert_int_equal(member_ailment(cluster_find(w->c, "lx01"))->n_open, 2);
}

/* Node lx0I is isolated at this moment, where the surge is so many nodes. */
static void isolate_at(struct world *w, int i, int64_t at, unsigned surge)
{
    char set[128], node[8], claim[16];
    snprintf(set, sizeof set, "{'boot':'b1','isolate':{'problem':'node_problem','why':'x','surge':%u}}",
             surge);
    snprintf(node, sizeof node, "lx0%d", i);
    snprintf(claim, sizeof claim, "%d.1", i);
    w->at = at;
    world_tell(w, COMMAND_FINDINGS, node, quoted(set), claim);
}

static void test_when_nodes_were_isolated_of_late_is_recorded(void **state)
{
    struct world *w = *state;
    const struct wall *at;
    find(w, SET(OPEN("null", "gpu 0", "fatal", XID), "", ISOLATE), "1.5"); /* none of a surge */
    assert_int_equal(cluster_isolations(w->c, &at), 0);
    for (int i = 2; i <= 5; i++)
        isolate_at(w, i, 10 * i, 3);
    assert_string_equal(world_record(w, "surge/isolated"), quoted("{'at':['30','40','50']}"));
    assert_int_equal(cluster_isolations(w->c, &at), 3);
    assert_int_equal(at[0].ns, 30);
    isolate_at(w, 5, 60, 3); /* it is already */
    assert_int_equal(at[2].ns, 50);
    struct cluster *again = world_reload(w, "lx[01-06] CPUs=2", 1, true);
    assert_true(cluster_digest(again) == cluster_digest(w->c));
    cluster_destroy(again);
    isolate_at(w, 6, 70, 1);
    assert_string_equal(world_record(w, "surge/isolated"), quoted("{'at':['70']}"));
}

/* A person let go of the latch: from then on it is counted anew. */
static void test_without_the_latch_isolations_are_forgotten(void **state)
{
    struct world *w = *state;
    static const char on[] = "{'name':'latch','on':true}", off[] = "{'name':'latch','on':false}";
    isolate_at(w, 2, 10, 3);
    world_say(w, COMMAND_SWITCH, "fettled", "", quoted(on), "a surge");
    assert_string_equal(world_record(w, "surge/isolated"), quoted("{'at':['10']}"));
    world_say(w, COMMAND_SWITCH, "root", "", quoted(off), NULL);
    assert_string_equal(world_record(w, "surge/isolated"), "none");
    isolate_at(w, 3, 20, 3);
    assert_string_equal(world_record(w, "surge/isolated"), quoted("{'at':['20']}"));
}

/* One that no file names is touched by nobody. */
#define JOBS(list) "{'boot':'b1','jobs':[" list "]}"

static void test_jobs_that_ran_are_noted_in_open_incidents(void **state)
{
    struct world *w = *state;
    find(w, SET(OPEN("null", "gpu 0", "fatal", XID), "", ISOLATE), "1.5");
    find(w, SET(OPEN("null", "gpu 1", "warn", ECC), "", "null"), "1.6");
    const char *said = find(w, JOBS("{'job':'4711','user':'ann'},{'job':'4712','user':'bob'}"), "1.7");
    assert_non_null(strstr(said, quoted("'jobs':[{'job':'4711','user':'ann'},{'job':'4712','user':'bob'}]")));
    assert_non_null(strstr(said, "a job runs under 1.5.1 (gpu 0): 4711 of ann; a job runs under"));
    assert_null(strstr(said, "runs under 1.6.1")); /* which keeps it from nothing */
    assert_string_equal(find(w, JOBS("{'job':'4712','user':'bob'}"), "1.8"), "nothing");
    find(w, SET("", "{'id':'1.5.1','how':'its checks say ok'}", "null"), "1.9");
    const struct ailment *a = member_ailment(cluster_find(w->c, "lx01"));
    assert_string_equal(a->past[0].jobs[1].user, "bob"); /* it is known when all is over */
    find(w, JOBS("{'job':'','user':'bob'}"), "1.10");
    assert_int_equal(world_rc(), -EINVAL);
}

static void test_unlisted_nodes_are_left_alone(void **state)
{
    struct world *w = *state;
    find(w, SET(OPEN("null", "gpu 0", "fatal", XID), "", "null"), "1.5");
    world_configure(w, "lx[02-06] CPUs=2", NULL);
    assert_string_equal(find(w, SET(OPEN("null", "gpu 1", "fatal", XID), "", ISOLATE), "1.6"), "nothing");
    assert_int_equal(member_ailment(cluster_find(w->c, "lx01"))->n_open, 1); /* and its records are kept */
    assert_string_not_equal(find(w, SET("", "{'id':'1.5.1','how':'ok'}", "null"), "1.7"), "nothing");
}

static void test_observed_incidents_count_for_nothing(void **state)
{
    struct world *w = *state;
    find(w,
         "{'boot':'b1','open':[{'id':null,'group':'','severity':'fatal','act':'watch','recurs':0,'observe':"
         "true,"
         "'findings':[" XID "]}]}",
         "1.5");
    assert_int_equal(member_severity(cluster_find(w->c, "lx01")), RESULT_OK);
}

static void test_bad_findings_are_refused(void **state)
{
    static const struct {
        const char *set, *why;
    } bad[] = {
        {"{'boot':'b 1'}", "\"b 1\" is no boot id"},
        {SET("", "{'id':'1.1','how':'two\\nlines'}", "null"), "close 1: how: a control character"},
        {SET(OPEN("null", "", "ok", XID), "", "null"), "open 1: \"ok\" is nothing that a check finds"},
        {SET(OPEN("null", "", "warn", ""), "", "null"), "open 1: no finding"},
        {SET(OPEN("null", "", "warn", FINDING("x", "warn", "", "", "two\\nlines")), "", "null"),
         "open 1: finding 1: a finding with a control character"},
        {SET(OPEN("null", "", "warn", FINDING("", "warn", "", "", "")), "", "null"),
         "open 1: finding 1: a finding of no check"},
        {SET("", "", "{'problem':'Bad One','why':'x'}"), "isolate: \"Bad One\" is no kind of problem"},
    };
    struct world *w = *state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const char *said = find(w, bad[i].set, "1.5");
        assert_non_null(strstr(said, bad[i].why));
        assert_int_equal(world_rc(), -EINVAL);
    }
    world_tell(w, COMMAND_FINDINGS, "lx[01-02]", quoted(SET("", "", "null")), "1.5");
    assert_int_equal(world_rc(), -EINVAL);
    world_tell(w, COMMAND_FINDINGS, "lx99", quoted(SET("", "", "null")), "1.5");
    assert_int_equal(world_rc(), -ENOENT);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_an_incident_is_opened),
        TEST(test_each_incident_has_an_id),
        TEST(test_a_repeated_command_changes_nothing),
        TEST(test_findings_are_merged),
        TEST(test_how_often_something_was_seen_is_summed),
        TEST(test_the_worst_findings_are_kept),
        TEST(test_closing_moves_to_the_past),
        TEST(test_the_past_is_short),
        TEST(test_open_incidents_are_bounded),
        TEST(test_isolating_is_one_decision),
        TEST(test_isolated_once),
        TEST(test_when_nodes_were_isolated_of_late_is_recorded),
        TEST(test_without_the_latch_isolations_are_forgotten),
        TEST(test_jobs_that_ran_are_noted_in_open_incidents),
        TEST(test_unlisted_nodes_are_left_alone),
        TEST(test_observed_incidents_count_for_nothing),
        TEST(test_bad_findings_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
