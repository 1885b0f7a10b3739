/* SPDX-License-Identifier: Apache-2.0 */
/* Health, incidents, repairs, the work queue, brakes and power, as the interface shows and changes them. */
#include "api/stage_test.h"

#include "api/golden_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { LARGE = 10000 };

static int open_ill(void **state)
{
    return stage_open(state, world_make_ill, 3);
}

static struct world make_large(struct mono now)
{
    return world_make_ill_large(LARGE, now);
}

static int open_large(void **state)
{
    return stage_open(state, make_large, 1);
}

static void put_trials(struct stage *s)
{
    static const char runs[] =
        "{\"now\":{\"claim\":\"7.1\",\"check\":\"scratch\",\"began\":\"1795211336596711822\","
        "\"deadline\":\"1795211436596711822\"},\"last\":{}}",
                      ran[] =
                          "{\"now\":null,\"last\":{\"scratch\":{\"at\":\"1795211336596711822\",\"result\":"
                          "\"warn\"},\"gone\":{\"at\":\"1795211336596711820\",\"result\":\"ok\"}}}";
    assert_int_equal(cluster_put(s->world.cluster, "trial/hx5", runs, NULL), 0);
    assert_int_equal(cluster_put(s->world.cluster, "trial/hx2", ran, NULL), 0);
}

static void test_reads(void **state)
{
    static const char *const targets[] = {
        "/v1/health/hx1",
        "/v1/health/hx2",
        "/v1/health/hx3",
        "/v1/health/hx6",
        "/v1/health/hx9",
        "/v1/health/hx10",
        "/v1/health/hx%5B1-2%5D",
        "/v1/health/",
        "/v1/incidents",
        "/v1/incidents?nodes=hx%5B2-3%5D",
        "/v1/incidents?nodes=hx1",
        "/v1/incidents?nodes=hx10",
        "/v1/incidents?nodes=",
        "/v1/incidents?node=hx1",
        "/v1/incidents?since=1",
        "/v1/incidents?nodes=hx1&since=4000000000",
        "/v1/incidents?since=yesterday",
        "/v1/trials",
        "/v1/trials?check=scratch&nodes=hx%5B1-2%5D",
        "/v1/trials?check=scratsh",
        "/v1/trials?nodes=hx10",
        "/v1/health/hx5",
        "/v1/checks",
        "/v1/explain/fs.space",
        "/v1/explain/scratch",
        "/v1/explain/ram",
        "/v1/explain/xid.79",
        "/v1/explain/xid",
        "/v1/explain/fs.spaec",
        "/v1/explain/%22",
        "/v1/remedies",
        "/v1/remedies/hx1",
        "/v1/remedies/hx2",
        "/v1/remedies/hx3",
        "/v1/remedies/hx10",
        "/v1/repairs",
        "/v1/queue",
        "/v1/brakes",
        "/v1/status",
        "/v1/nodes?fields=Name,State,Lifecycle,Schedulable,Why",
    };
    struct stage *s = *state;
    CLEANUP_TEXT struct text t = {0};
    put_trials(s);
    stage_read_all(s, targets, sizeof targets / sizeof targets[0], &t);
    golden_check("health.txt", &t);
}

/* One after the other, each on what the ones before left. */
static void test_changes(void **state)
{
    static const struct posted asked[] = {
        {"/v1/queue/ticket", "{\"nodes\":\"hx3\",\"take\":true}"},
        {"/v1/queue/ticket", "{\"nodes\":\"hx3\",\"reason\":\"it is here\"}"},
        {"/v1/queue/ticket", "{\"nodes\":\"hx3\",\"take\":false}"},
        {"/v1/queue/ticket", "{\"nodes\":\"hx1\",\"take\":true}"},
        {"/v1/queue/ticket", "{\"nodes\":\"hx10\",\"take\":true}"},
        {"/v1/queue/resolve",
         "{\"nodes\":\"hx3\",\"findings\":[{\"fault\":\"xid.78\"}],\"reason\":\"a slip\"}"},
        {"/v1/queue/resolve",
         "{\"nodes\":\"hx3\",\"findings\":[{\"fault\":\"xid.79\"}],\"reason\":\"a reset\"}"},
        {"/v1/queue/resolve",
         "{\"nodes\":\"hx1\",\"findings\":[{\"fault\":\"xid.79\"}],\"reason\":\"a reset\"}"},
        {"/v1/repairs/approve", "{\"nodes\":\"hx4\",\"remedy\":\"reboot\"}"},
        {"/v1/repairs/approve", "{\"nodes\":\"hx4\",\"remedy\":\"cycle\",\"reason\":\"go ahead\"}"},
        {"/v1/repairs/approve", "{\"nodes\":\"hx4\"}"},
        {"/v1/repairs/approve", "{\"nodes\":\"hx2\"}"},
        {"/v1/repairs/refuse", "{\"nodes\":\"hx7\",\"reason\":\"no spare\"}"},
        {"/v1/repairs/transition",
         "{\"nodes\":\"hx[1,3,7]\",\"transition\":\"human_intervention\",\"reason\":\"new GPU\"}"},
        {"/v1/repairs/transition",
         "{\"nodes\":\"hx[1,5]\",\"transition\":\"human_intervention\",\"reason\":\"x\"}"},
        {"/v1/repairs/transition",
         "{\"nodes\":\"hx1\",\"transition\":\"manual_drain\",\"reason\":\"a look\"}"},
        {"/v1/repairs/transition", "{\"nodes\":\"hx1\",\"transition\":\"manual\",\"reason\":\"a look\"}"},
        {"/v1/repairs/transition", "{\"nodes\":\"hx8\",\"transition\":\"retire\",\"reason\":\"old\"}"},
        {"/v1/repairs/transition", "{\"nodes\":\"hx2\",\"transition\":\"quarantine\",\"reason\":\"odd\"}"},
        {"/v1/brakes/set", "{\"name\":\"stop\",\"on\":false,\"reason\":\"it is cool\"}"},
        {"/v1/brakes/set", "{\"name\":\"stop\",\"on\":false,\"reason\":\"it is cool\"}"},
        {"/v1/brakes/set", "{\"name\":\"stop\",\"on\":true,\"reason\":\"a \\\"test\\\"\"}"},
        {"/v1/brakes/set", "{\"name\":\"go\",\"on\":true,\"reason\":\"x\"}"},
        {"/v1/power", "{\"nodes\":\"hx[1,6]\",\"do\":\"status\"}"},
        {"/v1/power", "{\"nodes\":\"hx1\",\"do\":\"explode\"}"},
        {"/v1/power", "{\"nodes\":\"hx10\",\"do\":\"cycle\"}"},
        {"/v1/power", "{\"nodes\":\"hx1\",\"do\":\"cycle\"}"},
        {"/v1/power", "{\"nodes\":\"hx1\",\"do\":\"cycle\",\"reason\":\"hung\"}"},
        {"/v1/brakes/set", "{\"name\":\"stop\",\"on\":false,\"reason\":\"x\"}"},
        {"/v1/power", "{\"nodes\":\"hx[1,2,6,9]\",\"do\":\"cycle\",\"reason\":\"hung\"}"},
        {"/v1/power", "{\"nodes\":\"hx6\",\"do\":\"cycle\",\"reason\":\"hung\",\"force\":true}"},
        {"/v1/power", "{\"nodes\":\"hx1\",\"do\":\"off\",\"reason\":\"hung\",\"force\":true}"},
        {"/v1/checks/run", "{\"nodes\":\"hx6\",\"check\":\"fs.space\"}"},
        {"/v1/checks/run", "{\"nodes\":\"hx1\",\"check\":\"fs.spaec\"}"},
        {"/v1/checks/run", "{\"nodes\":\"hx10\",\"check\":\"fs.space\"}"},
    };
    struct stage *s = *state;
    CLEANUP_TEXT struct text t = {0};
    stage_post_all(s, asked, sizeof asked / sizeof asked[0], &t);
    stage_transcribe(s, "GET", "/v1/queue", NULL, &t);
    stage_transcribe(s, "GET", "/v1/repairs", NULL, &t);
    golden_check("health-changes.txt", &t);
}

/* The step that a person asks for has the policy's deadline. */
static void test_deadline(void **state)
{
    struct stage *s = *state;
    CLEANUP_TEXT struct text t = {0};
    assert_int_equal(wire_ask(&s->wire, "POST", "/v1/repairs/transition",
                              "{\"nodes\":\"hx3\",\"transition\":\"human_intervention\",\"reason\":\"x\"}",
                              &t),
                     200);
    const struct repair *r = member_repair(cluster_find(s->world.cluster, "hx3"));
    assert_int_equal(r->step, STEP_PROVISION);
    assert_int_equal(r->deadline.ns - r->since.ns, span_s(1800).ns);
}

/* A command for each node; what is refused of one is said beside what was done. */
static void test_each_node_has_its_command(void **state)
{
    struct stage *s = *state;
    CLEANUP_TEXT struct text t = {0};
    assert_int_equal(
        wire_ask(&s->wire, "POST", "/v1/queue/ticket", "{\"nodes\":\"hx[3-5]\",\"reason\":\"seen\"}", &t),
        200);
    assert_int_equal(s->submitted, 3);
    CLEANUP_JSON json_t *o = json_read(t.s, t.len, NULL);
    assert_string_equal(json_string_value(json_object_get(o, "changed")), "hx[3-5]");
    assert_null(json_object_get(o, "refused"));
    text_clear(&t);
    assert_int_equal(
        wire_ask(&s->wire, "POST", "/v1/queue/ticket", "{\"nodes\":\"hx[1,3]\",\"take\":false}", &t), 200);
    CLEANUP_JSON json_t *partly = json_read(t.s, t.len, NULL);
    assert_string_equal(json_string_value(json_object_get(partly, "changed")), "hx3");
    const json_t *refused = json_array_get(json_object_get(partly, "refused"), 0);
    assert_string_equal(json_string_value(json_object_get(refused, "node")), "hx1");
}

/* The client goes away while they wait: all of them end, and nobody is told. */
static void test_client_gone(void **state)
{
    struct stage *s = *state;
    s->commits_at_once = false;
    int fd = wire_connect(&s->wire, "POST /v1/queue/ticket HTTP/1.1\r\nHost: h\r\nContent-Length: 35\r\n\r\n"
                                    "{\"nodes\":\"hx[3-5]\",\"reason\":\"seen\"}");
    stage_wait(s);
    close(fd);
    for (int i = 0; i < 10; i++)
        wire_turn(&s->wire);
    while (s->waiting)
        stage_commit(s);
    assert_int_equal(s->ended, 3);
}

static void test_too_many_at_once(void **state)
{
    struct stage *s = *state;
    CLEANUP_TEXT struct text t = {0};
    assert_int_equal(
        wire_ask(&s->wire, "POST", "/v1/queue/ticket", "{\"nodes\":\"n[1-1001]\",\"take\":true}", &t), 413);
    assert_non_null(strstr(t.s, "1001 nodes; at most 1000 at once"));
    assert_int_equal(s->submitted, 0);
    static const char *const asked[][2] = {
        {"/v1/power", "{\"nodes\":\"n[1-1001]\",\"do\":\"status\"}"},
        {"/v1/checks/run", "{\"nodes\":\"n[1-1001]\",\"check\":\"scratch\"}"}};
    for (size_t i = 0; i < 2; i++) {
        text_clear(&t);
        assert_int_equal(wire_ask(&s->wire, "POST", asked[i][0], asked[i][1], &t), 413);
        assert_non_null(strstr(t.s, "1001 nodes; at most 1000 at once"));
    }
}

/* --- a check that is run now ------------------------------------------------------------------- */

static int ask_check(struct stage *s)
{
    int fd = wire_connect(&s->wire, "POST /v1/checks/run HTTP/1.1\r\nHost: h\r\nContent-Length: 38\r\n\r\n"
                                    "{\"nodes\":\"hx[1,6]\",\"check\":\"fs.space\"}");
    struct mono end = mono_add(mono_now(), span_s(30));
    while (!s->checking) {
        wire_turn(&s->wire);
        assert_true(mono_now().ns < end.ns);
    }
    return fd;
}

/* It is answered when the last node has answered. */
static void test_check_is_answered_later(void **state)
{
    struct stage *s = *state;
    int fd = ask_check(s);
    CLEANUP_JSON json_t *verdict = json_pack("{s:s}", "result", "ok");
    s->checking(s->checking_arg, cluster_find(s->world.cluster, "hx1"), verdict, NULL);
    CLEANUP_TEXT struct text t = {0};
    wire_read_until(&s->wire, fd, &t, "]}");
    assert_non_null(
        strstr(t.s, "{\"results\":[{\"node\":\"hx6\",\"error\":\"node \\\"hx6\\\" has no connection\"},"
                    "{\"node\":\"hx1\",\"verdict\":{\"result\":\"ok\"}}]}"));
    close(fd);
}

static void test_nobody_waits_for_the_check(void **state)
{
    struct stage *s = *state;
    struct err why = {0};
    int fd = ask_check(s);
    close(fd);
    for (int i = 0; i < 10; i++)
        wire_turn(&s->wire);
    err_set(&why, -ETIMEDOUT, "no answer in time");
    s->checking(s->checking_arg, cluster_find(s->world.cluster, "hx1"), NULL, &why);
}

/* --- numbers ----------------------------------------------------------------------------------- */

static void add_entry(struct stage *s, int64_t minutes_ago, const char *what, const char *node,
                      const char *fields)
{
    s->entries = mem_grow(s->entries, (s->journal + 1) * sizeof *s->entries);
    s->entries[s->journal++] = (struct store_entry){
        {wall_now().ns - span_s(60 * minutes_ago).ns}, "fettled", what, node, "a sentence", NULL, fields};
    s->revision = 3 + s->journal;
}

static void check_numbers(struct stage *s, const char *target, const char *wanted)
{
    CLEANUP_TEXT struct text t = {0};
    assert_int_equal(wire_ask(&s->wire, "GET", target, NULL, &t), 200);
    assert_string_equal(t.s, wanted);
}

#define MOVES(from, to) "\"from\":\"" from "\",\"to\":\"" to "\""
#define ENDS(outcome) MOVES("provision", "none") ",\"outcome\":\"" outcome "\""

/* As the fields of the entries say it, over a window, and what came since the last question. */
static void test_numbers(void **state)
{
    struct stage *s = *state;
    add_entry(s, 60 * 60, "repair.step", "hx1", ENDS("back"));
    add_entry(s, 30 * 60, "health.findings", "hx1", "\"incidents\":[\"1.1\"]," MOVES("none", "isolate"));
    add_entry(s, 30 * 60 - 1, "repair.step", "hx1", MOVES("isolate", "remedy") ",\"remedy\":\"reboot\"");
    add_entry(s, 30 * 60 - 2, "repair.step", "hx1", MOVES("remedy", "provision"));
    add_entry(s, 30 * 60 - 3, "repair.step", "hx1", ENDS("back"));
    add_entry(s, 300, "health.findings", "hx2", "\"incidents\":[\"1.2\"]");
    add_entry(s, 299, "health.findings", "hx2", MOVES("none", "isolate"));
    add_entry(s, 298, "repair.step", "hx2", MOVES("isolate", "queue"));
    add_entry(s, 200, "repair.transition", "hx2", MOVES("queue", "provision"));
    add_entry(s, 199, "repair.step", "hx2", ENDS("back"));
    add_entry(s, 198, "repair.step", "hx9", MOVES("none", "provision"));
    add_entry(s, 197, "repair.step", "hx9", ENDS("back"));
    add_entry(s, 100, "node.drain", "hx2", MOVES("isolate", "queue"));
    check_numbers(s, "/v1/repairs/numbers",
                  "{\"hours\":24,\"transitions\":6,\"remediations\":1,\"by_itself\":0,\"queued\":1,"
                  "\"by_person\":1}\n");
    check_numbers(s, "/v1/repairs/numbers?hours=48",
                  "{\"hours\":48,\"transitions\":10,\"remediations\":2,\"by_itself\":1,\"queued\":1,"
                  "\"by_person\":1}\n");
    add_entry(s, 1, "repair.refuse", "hx4", MOVES("remedy", "queue"));
    check_numbers(s, "/v1/repairs/numbers?hours=4",
                  "{\"hours\":4,\"transitions\":5,\"remediations\":1,\"by_itself\":0,\"queued\":1,"
                  "\"by_person\":1}\n");
    CLEANUP_TEXT struct text t = {0};
    assert_int_equal(wire_ask(&s->wire, "GET", "/v1/repairs/numbers?hours=3", NULL, &t), 400);
    assert_int_equal(wire_ask(&s->wire, "GET", "/v1/repairs/numbers?hours=49", NULL, &t), 400);
}

/* A long journal is read in several turns: until it is through, there are no numbers. */
static void test_numbers_of_a_long_journal(void **state)
{
    struct stage *s = *state;
    for (int i = 0; i < 10500; i++)
        add_entry(s, 100, "repair.step", "hx1", MOVES("examine", "examine"));
    CLEANUP_TEXT struct text t = {0};
    assert_int_equal(wire_ask(&s->wire, "GET", "/v1/repairs/numbers", NULL, &t), 503);
    assert_non_null(strstr(t.s, "still being read"));
    check_numbers(s, "/v1/repairs/numbers",
                  "{\"hours\":24,\"transitions\":10500,\"remediations\":0,\"by_itself\":0,\"queued\":0,"
                  "\"by_person\":0}\n");
}

/* --- many nodes -------------------------------------------------------------------------------- */

/* One in a hundred is ill, and all are there. How long it took is printed, not judged. */
static void test_large(void **state)
{
    struct stage *s = *state;
    CLEANUP_JSON json_t *incidents = stage_ask_large(s, "/v1/incidents");
    assert_int_equal(json_array_size(json_object_get(incidents, "incidents")), LARGE / 100);
    CLEANUP_JSON json_t *queue = stage_ask_large(s, "/v1/queue");
    assert_int_equal(json_array_size(json_object_get(queue, "queue")), LARGE / 100);
    CLEANUP_JSON json_t *checks = stage_ask_large(s, "/v1/checks");
    const json_t *nodes = json_object_get(json_array_get(json_object_get(checks, "checks"), 0), "nodes");
    assert_int_equal(json_integer_value(json_object_get(nodes, "ok")), LARGE);
    CLEANUP_JSON json_t *some = stage_ask_large(s, "/v1/incidents?nodes=n%5B1-10000%5D");
    assert_int_equal(json_array_size(json_object_get(some, "incidents")), LARGE / 100);
}

int main(void)
{
#define ILL(test) cmocka_unit_test_setup_teardown(test, open_ill, stage_close)
    const struct CMUnitTest tests[] = {
        ILL(test_reads),
        ILL(test_changes),
        ILL(test_deadline),
        ILL(test_each_node_has_its_command),
        ILL(test_client_gone),
        ILL(test_check_is_answered_later),
        ILL(test_nobody_waits_for_the_check),
        ILL(test_numbers),
        ILL(test_numbers_of_a_long_journal),
        cmocka_unit_test_setup_teardown(test_too_many_at_once, open_large, stage_close),
        cmocka_unit_test_setup_teardown(test_large, open_large, stage_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
