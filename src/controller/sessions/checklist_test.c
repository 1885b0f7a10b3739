/* SPDX-License-Identifier: Apache-2.0 */
/* The checks that agents are told, what they say, and what passes through collectors. */
#include "controller/sessions/agents_world_test.h"

#define TWO "Check=a Probe=fs.space Path=/\nCheck=b Probe=fs.space Path=/b Nodes=lx[3-5]\n"
#define COLLECTORS_ONE "CollectorNodes = lx1"
#define COLLECTORS_TWO "CollectorNodes = lx1,lx2"
#define SAYS(more, check, verdict)                                                 \
    "{\"boot\":\"" BOOT "\",\"list\":\"\"" more ",\"checks\":[{\"check\":\"" check \
    "\",\"age_ms\":0," verdict "}]}"
#define GOOD "\"result\":\"ok\""
#define BAD "\"result\":\"fatal\",\"findings\":[{\"result\":\"fatal\"}]"
#define FULL ",\"full\":true"

static struct client *hello_with(const char *name, const char *more)
{
    struct client *c = client_new(name);
    client_send(c, FRAME_HELLO, "{\"name\":\"%s\",\"boot\":\"" BOOT "\",\"instance\":\"" INSTANCE "\"%s}",
                name, more);
    run_until(c->count[FRAME_WELCOME]);
    settle(c);
    return c;
}

struct wanted {
    const char *check;
    enum result result;
};

static void on_result(void *arg, const struct check *k, enum result r)
{
    struct wanted *x = arg;
    if (strcmp(k->name, x->check) == 0)
        x->result = r;
}

static enum result result_of(const char *name, const char *check)
{
    struct wanted x = {check, RESULT_UNKNOWN};
    watch_each_result(w.watch, mono_now(), node(name), on_result, &x);
    return x.result;
}

static const char *line_of(const struct client *c, size_t i)
{
    const json_t *lines = json_object_get(c->last[FRAME_CHECKLIST], "lines");
    const char *line = json_string_value(json_array_get(lines, i));
    return line ? line : "(none)";
}

/* --- the list -------------------------------------------------------------------------------- */

static void an_agent_without_the_list_gets_it(void **state)
{
    struct client *c = hello_with("lx1", "");
    assert_int_equal(c->count[FRAME_CHECKLIST], 1);
    assert_int_equal(strlen(text_in(c, FRAME_CHECKLIST, "hash")), 16);
    char more[64];
    snprintf(more, sizeof more, ",\"checklist\":\"%s\"", text_in(c, FRAME_CHECKLIST, "hash"));
    assert_int_equal(hello_with("lx2", more)->count[FRAME_CHECKLIST], 0);
    assert_int_equal(hello_with("lx3", ",\"checklist\":\"0000000000000000\"")->count[FRAME_CHECKLIST], 1);
    assert_int_equal(hello_with("lx4", ",\"checklist\":7")->count[FRAME_CHECKLIST], 1);
    assert_int_equal(hello_with("lx5", ",\"once\":true")->count[FRAME_CHECKLIST], 0);
}

static void a_list_that_changed_is_told_to_all(void **state)
{
    struct client *c = hello_with("lx1", "");
    CLEANUP_FREE char *before = mem_dup(text_in(c, FRAME_CHECKLIST, "hash"));
    world_checks("", TWO);
    run_until(c->count[FRAME_CHECKLIST] == 2);
    assert_string_not_equal(text_in(c, FRAME_CHECKLIST, "hash"), before);
    assert_non_null(strstr(line_of(c, 0), "Check=a "));
    assert_null(strstr(line_of(c, 0), "Nodes="));
    assert_non_null(strstr(line_of(c, 1), "Nodes=lx[3-5]"));
    unsigned settings = c->count[FRAME_SETTINGS];
    world_checks("HeartBeatInterval = 7", TWO); /* something else changed */
    run_until(c->count[FRAME_SETTINGS] > settings);
    settle(c);
    assert_int_equal(c->count[FRAME_CHECKLIST], 2);
}

static void checks_that_nobody_runs_are_not_told(void **state)
{
    struct client *c = hello_with("lx1", "");
    world_checks("", "Check=a Probe=fs.space Path=/ Nodes=elsewhere\nCheck=b Probe=fs.space Path=/b\n");
    run_until(c->count[FRAME_CHECKLIST] == 2);
    assert_non_null(strstr(line_of(c, 0), "Check=b "));
    assert_string_equal(line_of(c, 1), "(none)");
}

/* --- what is said ---------------------------------------------------------------------------- */

static void results_of_a_node_are_taken(void **state)
{
    world_checks("", TWO);
    struct client *c = hello_with("lx3", "");
    client_heartbeat(c, INSTANCE, 1);
    client_send(c, FRAME_CHECKS, SAYS(FULL, "a", BAD));
    settle(c);
    assert_int_equal(result_of("lx3", "a"), RESULT_FATAL);
    assert_int_equal(result_of("lx3", "b"), RESULT_UNKNOWN);
    client_send(c, FRAME_CHECKS, SAYS("", "b", GOOD));
    settle(c);
    assert_int_equal(result_of("lx3", "a"), RESULT_FATAL);
    assert_int_equal(result_of("lx3", "b"), RESULT_OK);
    assert_int_equal(c->count[FRAME_ACT], 0);
}

static void a_node_that_did_not_say_all_is_asked(void **state)
{
    world_checks("", TWO);
    struct client *c = hello_with("lx3", "");
    client_send(c, FRAME_CHECKS, SAYS("", "a", GOOD));
    run_until(c->count[FRAME_ACT]);
    assert_true(json_is_true(json_object_get(c->last[FRAME_ACT], "tell")));
}

static void garbage_is_no_check(void **state)
{
    static const char *const odd[] = {"{\"checks\":7}", "{\"boot\":\"" BOOT "\",\"checks\":[7]}",
                                      "{\"boot\":7,\"checks\":[]}", SAYS(FULL, "a", "\"result\":\"fine\"")};
    world_checks("", TWO);
    struct client *c = hello_with("lx3", "");
    client_heartbeat(c, INSTANCE, 1);
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
        client_send(c, FRAME_CHECKS, "%s", odd[i]);
        settle(c);
        assert_false(c->closed);
        assert_int_equal(result_of("lx3", "a"), RESULT_UNKNOWN);
    }
}

/* --- through collectors ---------------------------------------------------------------------- */

/* A collector with its share, which speaks for the node. */
static struct client *collector(const char *name, const char *holds, const char *speaks_for)
{
    struct client *c = collector_hello(name, INSTANCE, 4711, holds);
    run_until(c->count[FRAME_SHARE]);
    run_until(!w.agents->balance_at.ns);
    client_send(c, FRAME_BATCH,
                "{\"changed\":[{\"name\":\"%s\",\"boot\":\"" BOOT "\",\"instance\":\"" INSTANCE
                "\",\"seq\":1,\"work\":[]}]}",
                speaks_for);
    run_until(seen(speaks_for)->session);
    return c;
}

static void pass(struct client *c, const char *name, const char *says)
{
    client_send(c, FRAME_PASS, "{\"node\":\"%s\",\"type\":%d,\"body\":%s}", name, (int)FRAME_CHECKS, says);
    settle(c);
}

static void a_collector_passes_on_what_its_nodes_say(void **state)
{
    world_checks(COLLECTORS_ONE, TWO);
    struct client *c = collector("lx1", "", "lx5");
    pass(c, "lx5", SAYS(FULL, "a", BAD));
    assert_int_equal(result_of("lx5", "a"), RESULT_FATAL);
    pass(c, "lx6", SAYS(FULL, "a", BAD)); /* its own, but it never said that it is there */
    assert_int_equal(result_of("lx6", "a"), RESULT_UNKNOWN);
    pass(c, "lx5", "[]");
    client_send(c, FRAME_PASS, "{}");
    settle(c);
    assert_false(c->closed);
}

static void it_says_nothing_for_nodes_of_others(void **state)
{
    world_checks(COLLECTORS_TWO, TWO);
    struct client *one = collector_hello("lx1", INSTANCE, 4711, "lx[3-11]");
    run_until(one->count[FRAME_SHARE]);
    struct client *two = collector("lx2", "lx[12-20]", "lx12");
    client_send(one, FRAME_BATCH,
                "{\"changed\":[{\"name\":\"lx3\",\"boot\":\"" BOOT "\",\"instance\":\"" INSTANCE
                "\",\"seq\":1,\"work\":[]}]}");
    run_until(seen("lx3")->session);
    pass(two, "lx3", SAYS(FULL, "a", BAD));
    assert_int_equal(result_of("lx3", "a"), RESULT_UNKNOWN);
    pass(one, "lx3", SAYS(FULL, "a", BAD));
    assert_int_equal(result_of("lx3", "a"), RESULT_FATAL);
}

/* A collector that comes back passes on at once what its nodes say, and tells of them with its next batch. */
static void results_that_came_too_early_are_asked_for_again(void **state)
{
    world_checks(COLLECTORS_ONE, TWO);
    struct client *c = collector_hello("lx1", INSTANCE, 4711, "lx[2-20]");
    run_until(c->count[FRAME_SHARE]);
    pass(c, "lx5", SAYS(FULL, "a", BAD));
    assert_int_equal(c->count[FRAME_PASS], 0);
    client_send(c, FRAME_BATCH,
                "{\"changed\":[{\"name\":\"lx5\",\"boot\":\"" BOOT "\",\"instance\":\"" INSTANCE
                "\",\"seq\":1,\"work\":[]}]}");
    run_until(c->count[FRAME_PASS]);
    assert_string_equal(text_in(c, FRAME_PASS, "node"), "lx5");
    assert_true(json_is_true(json_object_get(json_object_get(c->last[FRAME_PASS], "body"), "tell")));
    assert_int_equal(c->count[FRAME_PASS], 1);
}

static void one_that_is_no_collector_passes_nothing(void **state)
{
    world_checks("", TWO);
    struct client *c = hello_with("lx3", "");
    client_heartbeat(c, INSTANCE, 1);
    pass(c, "lx3", SAYS(FULL, "a", BAD));
    assert_int_equal(result_of("lx3", "a"), RESULT_UNKNOWN);
}

static void a_frame_to_a_node_goes_by_its_collector(void **state)
{
    world_checks(COLLECTORS_ONE, TWO);
    struct client *c = collector("lx1", "", "lx5");
    assert_true(agents_send(w.agents, node("lx5"), FRAME_ACT, json_pack("{s:s}", "id", "1.2")));
    run_until(c->count[FRAME_PASS]);
    uint64_t type = 0;
    json_take_u64(c->last[FRAME_PASS], "type", UINT8_MAX, &type, NULL);
    assert_string_equal(text_in(c, FRAME_PASS, "node"), "lx5");
    assert_int_equal(type, FRAME_ACT);
    const json_t *body = json_object_get(c->last[FRAME_PASS], "body");
    assert_false(order_is(body)); /* only notice: the node asks for the order */
    assert_string_equal(json_string_value(json_object_get(body, "id")), "1.2");
    unsigned acts = c->count[FRAME_ACT];
    assert_true(agents_send(w.agents, node("lx1"), FRAME_ACT, json_pack("{s:s}", "id", "1.3")));
    run_until(c->count[FRAME_ACT] > acts);
    assert_string_equal(text_in(c, FRAME_ACT, "id"), "1.3");
    assert_false(agents_send(w.agents, node("lx6"), FRAME_ACT, json_object()));
}

static void an_order_for_a_node_behind_a_collector_is_signed(void **state)
{
    world_checks(COLLECTORS_ONE, TWO);
    struct client *c = collector("lx1", "", "lx5");
    assert_true(
        agents_send(w.agents, node("lx5"), FRAME_ACT,
                    json_pack("{s:s,s:s}", "id", "1.2", "nonce", "0123456789abcdef0123456789abcdef")));
    run_until(c->count[FRAME_PASS]);
    CLEANUP_JSON json_t *order = opened(json_object_get(c->last[FRAME_PASS], "body"));
    assert_int_equal(json_integer_value(json_object_get(order, "type")), FRAME_ACT);
    assert_string_equal(json_text(order, "node"), "lx5");
    assert_string_equal(json_text(order, "id"), "1.2");
    assert_string_equal(json_text(order, "nonce"), "0123456789abcdef0123456789abcdef");
}

static void the_list_says_what_it_is_and_which_is_newer(void **state)
{
    struct client *c = hello_with("lx1", "");
    json_int_t before = json_integer_value(json_object_get(c->last[FRAME_CHECKLIST], "revision"));
    assert_int_equal(json_integer_value(json_object_get(c->last[FRAME_CHECKLIST], "type")), FRAME_CHECKLIST);
    world_checks("", TWO);
    run_until(c->count[FRAME_CHECKLIST] == 2);
    assert_true(json_integer_value(json_object_get(c->last[FRAME_CHECKLIST], "revision")) > before);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_agent_without_the_list_gets_it),
        TEST(a_list_that_changed_is_told_to_all),
        TEST(checks_that_nobody_runs_are_not_told),
        TEST(results_of_a_node_are_taken),
        TEST(a_node_that_did_not_say_all_is_asked),
        TEST(garbage_is_no_check),
        TEST(a_collector_passes_on_what_its_nodes_say),
        TEST(it_says_nothing_for_nodes_of_others),
        TEST(results_that_came_too_early_are_asked_for_again),
        TEST(one_that_is_no_collector_passes_nothing),
        TEST(a_frame_to_a_node_goes_by_its_collector),
        TEST(an_order_for_a_node_behind_a_collector_is_signed),
        TEST(the_list_says_what_it_is_and_which_is_newer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
