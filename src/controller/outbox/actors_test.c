/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/outbox/actors.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define ORIGIN "0123456789abcdef"
#define KEY "effect/operate.lx1"
#define BOOT "01234567-89ab-cdef-0123-456789abcdef"
#define RECORD(run, done)                                               \
    "{\"id\":\"3.1\",\"run\":\"" run "\",\"of\":\"r\",\"boot\":\"" BOOT \
    "\",\"instance\":\"0\",\"deadline\":\"100000000000\","              \
    "\"done\":" done "}"

/* --- in the place of the watch, the agents' port and the outbox -------------------------------- */

static int may;
static bool connected;
static unsigned sent, results;
static char said[512], done[256];
static struct actors *actors;
static struct cluster *cluster;

int watch_may_operate(struct watch *w, struct mono now, const struct member *m, const char *operation,
                      struct err *e)
{
    assert_string_equal(operation, "3.1");
    return may < 0 ? err_set(e, may, "because") : 0;
}

void watch_cures(const struct watch *w, struct mono now, const struct member *m, const char *remedy,
                 struct text *out)
{
    text_printf(out, "xid.48 of.%s", remedy);
}

const struct observed *watch_observed(const struct watch *w, const struct member *m)
{
    static const struct observed o = {.boot = BOOT};
    return &o;
}

static bool on_send(void *arg, struct member *m, enum frame_type type, json_t *body)
{
    CLEANUP_FREE char *text = json_write(body);
    json_decref(body);
    assert_int_equal(type, FRAME_ACT);
    snprintf(said, sizeof said, "%s %s", m->name, text);
    sent += connected;
    return connected;
}

static void result(void *arg, const char *key, const char *d)
{
    assert_string_equal(key, KEY);
    snprintf(done, sizeof done, "%s", d);
    results++;
}

/* --------------------------------------------------------------------------------------------- */

static int setup(void **state)
{
    may = 0;
    connected = true;
    sent = results = 0;
    *said = *done = '\0';
    cluster = cluster_create();
    cluster_meet(cluster, "lx1");
    assert_int_equal(cluster_put(cluster, "origin/" ORIGIN, "{\"at\":\"1\"}", NULL), 0);
    const struct actors_setup with = {
        .cluster = cluster, .term = 7, .instance = 0xa, .send = on_send, .result = result};
    actors = actors_create(&with);
    return 0;
}

static int teardown(void **state)
{
    actors_destroy(actors);
    cluster_destroy(cluster);
    return 0;
}

static void turn(int64_t second)
{
    actors_turn(actors, (struct mono){second * 1000000000}, (struct wall){second * 1000000000});
}

static void say(const char *text)
{
    CLEANUP_JSON json_t *body = json_read(text, strlen(text), NULL);
    assert_non_null(body);
    actors_take(actors, cluster_find(cluster, "lx1"), body);
}

static void the_record_says_begun_before_the_agent_hears_of_it(void **state)
{
    actors_effect(actors, KEY, RECORD("node:true", "null"));
    turn(10);
    assert_string_equal(done, "{\"state\":\"begun\",\"id\":\"3.1\",\"at\":\"10000000000\"}");
    turn(11);
    assert_int_equal(sent, 0);
    assert_int_equal(results, 1);
    actors_effect(actors, KEY, RECORD("node:true", "{\"state\":\"begun\",\"at\":\"1\"}"));
    turn(12);
    assert_int_equal(sent, 1);
    assert_string_equal(said, "lx1 {\"id\":\"" ORIGIN ".3.1\",\"term\":7,\"origin\":\"" ORIGIN
                              "\",\"run\":\"node:true\",\"boot\":\"" BOOT
                              "\",\"deadline_ms\":88000,\"cures\":\"xid.48 of.r\"}");
}

static void an_agent_is_told_until_it_says_what_came_of_it(void **state)
{
    actors_effect(actors, KEY, RECORD("reboot", "{\"state\":\"begun\",\"at\":\"1\"}"));
    turn(10);
    turn(11);
    assert_int_equal(sent, 1);
    turn(15);
    assert_int_equal(sent, 2);
    say("{\"id\":\"" ORIGIN ".3.1\",\"state\":\"begun\",\"boot\":\"" BOOT "\"}");
    assert_int_equal(results, 0);
    say("{\"id\":\"" ORIGIN ".3.0\",\"state\":\"done\",\"text\":\"another\"}");
    assert_int_equal(results, 0);
    say("{\"id\":\"" ORIGIN ".3.1\",\"state\":\"failed\",\"text\":\"exit status 1\"}");
    assert_string_equal(done, "{\"state\":\"failed\",\"id\":\"3.1\",\"text\":\"exit status 1\"}");
    actors_effect(actors, KEY, RECORD("reboot", "{\"state\":\"failed\",\"text\":\"exit status 1\"}"));
    turn(99);
    assert_int_equal(sent, 2);
}

static void an_agent_that_asks_is_told_what_is_good_for_now(void **state)
{
    const char *asks =
        "{\"id\":\"" ORIGIN ".3.1\",\"state\":\"asks\",\"nonce\":\"0123456789abcdef0123456789abcdef\"}";
    actors_effect(actors, KEY, RECORD("node:true", "null"));
    turn(10);
    say(asks); /* nobody told it yet */
    turn(11);
    assert_int_equal(sent, 0);
    actors_effect(actors, KEY, RECORD("node:true", "{\"state\":\"begun\",\"at\":\"1\"}"));
    turn(12);
    assert_int_equal(sent, 1);
    say("{\"id\":\"" ORIGIN ".3.1\",\"state\":\"asks\",\"nonce\":\"x\"}");
    say("{\"id\":\"" ORIGIN ".3.1\",\"state\":\"asks\",\"nonce\":\"0123456789abcdef0123456789abcde\\\"\"}");
    turn(13);
    assert_int_equal(sent, 1);
    say(asks);
    turn(14);
    assert_int_equal(sent, 2);
    assert_non_null(strstr(said, "\"nonce\":\"0123456789abcdef0123456789abcdef\""));
    turn(19); /* and again without: it was good for once */
    assert_int_equal(sent, 3);
    assert_null(strstr(said, "nonce"));
    say(asks);
    turn(100); /* its time is over */
    assert_int_equal(sent, 4);
    assert_null(strstr(said, "nonce"));
    assert_int_equal(results, 1); /* it may have the order from before */
}

static void the_result_of_a_check_is_its_verdict(void **state)
{
    actors_effect(actors, KEY, RECORD("check:disk", "{\"state\":\"begun\",\"at\":\"1\"}"));
    say("{\"id\":\"" ORIGIN ".3.1\",\"state\":\"done\",\"text\":\"\",\"verdict\":{\"result\":\"ok\"}}");
    assert_string_equal(done, "{\"state\":\"done\",\"id\":\"3.1\",\"text\":\"{\\\"result\\\":\\\"ok\\\"}\"}");
}

static void a_check_that_is_given_up_is_ended(void **state)
{
    actors_effect(actors, KEY, RECORD("check:disk", "null"));
    actors_effect(actors, KEY, NULL); /* it was not begun */
    actors_effect(actors, KEY, RECORD("node:true", "{\"state\":\"begun\",\"at\":\"1\"}"));
    actors_effect(actors, KEY, NULL); /* that is no look */
    actors_effect(actors, KEY, RECORD("check:disk", "{\"state\":\"begun\",\"at\":\"1\"}"));
    actors_effect(actors, KEY, RECORD("check:disk", "{\"state\":\"done\",\"text\":\"\"}"));
    actors_effect(actors, KEY, NULL); /* it has ended */
    assert_int_equal(sent, 0);
    actors_effect(actors, KEY, RECORD("check:disk", "{\"state\":\"begun\",\"at\":\"1\"}"));
    actors_effect(actors, KEY, NULL);
    assert_string_equal(said, "lx1 {\"end\":\"disk\",\"term\":7}");
}

static void not_now_is_asked_again_and_not_any_more_is_refused(void **state)
{
    may = -EAGAIN;
    actors_effect(actors, KEY, RECORD("node:true", "null"));
    turn(10);
    turn(11);
    assert_int_equal(results, 0);
    may = -EBUSY;
    turn(12);
    assert_string_equal(done, "{\"state\":\"refused\",\"id\":\"3.1\",\"text\":\"because\"}");
    assert_int_equal(sent, 0);
}

static void an_agent_that_never_answers_leaves_it_unknown(void **state)
{
    connected = false;
    actors_effect(actors, KEY, RECORD("node:true", "{\"state\":\"begun\",\"at\":\"1\"}"));
    turn(100);
    assert_int_equal(results, 0);
    turn(161);
    assert_string_equal(
        done, "{\"state\":\"unknown\",\"id\":\"3.1\",\"text\":\"the agent did not report the outcome\"}");
}

static void a_clock_that_is_set_ends_nothing(void **state)
{
    actors_effect(actors, KEY, RECORD("node:true", "{\"state\":\"begun\",\"at\":\"1\"}"));
    turn(10);
    actors_turn(actors, (struct mono){15 * INT64_C(1000000000)}, (struct wall){INT64_MAX});
    assert_int_equal(results, 0);
    assert_int_equal(sent, 2);
    assert_non_null(strstr(said, "\"deadline_ms\":85000,"));
}

static void an_operation_that_is_over_is_not_told_to_begin(void **state)
{
    actors_effect(actors, KEY, RECORD("node:true", "{\"state\":\"begun\",\"at\":\"1\"}"));
    turn(110);
    assert_null(strstr(said, "nonce"));
    actors_effect(actors, KEY, NULL);
    actors_effect(actors, KEY, RECORD("node:true", "null"));
    turn(110);
    assert_string_equal(done, "{\"state\":\"refused\",\"id\":\"3.1\",\"text\":\"its time is over\"}");
}

static void a_deadline_is_one_that_an_agent_takes(void **state)
{
    actors_effect(actors, KEY,
                  "{\"id\":\"3.1\",\"run\":\"reboot\",\"boot\":\"" BOOT "\",\"deadline\":"
                  "\"9223372036854775807\",\"done\":{\"state\":\"begun\",\"at\":\"1\"}}");
    turn(10);
    assert_non_null(strstr(said, "\"deadline_ms\":1814400000,"));
}

/* It was allowed, and by the time that the record has it somebody has thrown the switch. */
static void an_operation_not_allowed_any_more_is_not_told(void **state)
{
    actors_effect(actors, KEY, RECORD("node:true", "null"));
    turn(10);
    may = -EAGAIN;
    actors_effect(actors, KEY, RECORD("node:true", "{\"state\":\"begun\",\"at\":\"10\"}"));
    turn(11);
    assert_int_equal(sent, 0);
    assert_string_equal(done, "{\"state\":\"refused\",\"id\":\"3.1\",\"text\":\"because\"}");
}

/* The agent heard of it, and was stopped before it had the order; so nothing was done. */
static void an_operation_without_an_order_is_refused_when_it_may_not_be(void **state)
{
    actors_effect(actors, KEY, RECORD("node:true", "null"));
    turn(10);
    actors_effect(actors, KEY, RECORD("node:true", "{\"state\":\"begun\",\"at\":\"10\"}"));
    turn(11);
    assert_int_equal(sent, 1);
    may = -EBUSY;
    say("{\"id\":\"" ORIGIN ".3.1\",\"state\":\"asks\",\"nonce\":\"0123456789abcdef0123456789abcdef\"}");
    turn(12);
    assert_int_equal(sent, 1);
    assert_string_equal(done, "{\"state\":\"refused\",\"id\":\"3.1\",\"text\":\"because\"}");
}

/* Another controller began it: perhaps the agent knows of it, perhaps not. It is asked what it did. */
static void an_operation_is_told_again_only_while_it_is_allowed(void **state)
{
    actors_effect(actors, KEY, RECORD("node:true", "{\"state\":\"begun\",\"at\":\"1\"}"));
    may = -EAGAIN;
    turn(10);
    assert_null(strstr(said, "nonce"));
    may = 0;
    turn(20);
    assert_non_null(strstr(said, "\"run\":\"node:true\""));
    assert_null(strstr(said, "nonce"));
    may = -EBUSY;
    turn(25);
    assert_null(strstr(said, "nonce"));
    assert_int_equal(results, 0);
    say("{\"id\":\"" ORIGIN ".3.1\",\"state\":\"done\",\"text\":\"\"}");
    assert_int_equal(results, 1);
}

/* Another controller began it, and its order never reached the agent, which asks for it: it was not done. */
static void an_operation_that_an_agent_never_heard_of_was_not_done(void **state)
{
    actors_effect(actors, KEY, RECORD("node:true", "{\"state\":\"begun\",\"at\":\"1\"}"));
    may = -EBUSY;
    turn(10);
    assert_int_equal(sent, 1);
    say("{\"id\":\"" ORIGIN ".3.1\",\"state\":\"asks\",\"nonce\":\"0123456789abcdef0123456789abcdef\"}");
    turn(11);
    assert_int_equal(sent, 1);
    assert_string_equal(done, "{\"state\":\"refused\",\"id\":\"3.1\",\"text\":\"because\"}");
}

/* It is told by what it has to forget, and up to which line. */
static void faults_that_a_person_answered_for_are_forgotten(void **state)
{
    actors_effect(actors, KEY, RECORD("forget:77:xid.79 xid.48", "{\"state\":\"begun\",\"at\":\"1\"}"));
    turn(10);
    assert_non_null(strstr(said, "\"run\":\"forget\""));
    assert_non_null(strstr(said, "\"until\":77,\"cures\":\"xid.79 xid.48\""));
}

static void an_effect_that_is_gone_and_those_of_others_are_nobody_s(void **state)
{
    actors_effect(actors, KEY, RECORD("node:true", "null"));
    actors_effect(actors, KEY, NULL);
    actors_effect(actors, KEY, RECORD("power.cycle", "null"));
    actors_effect(actors, "effect/slurm.lx1", "{}");
    turn(10);
    assert_int_equal(results, 0);
}

static char verdict[640];

static void on_verdict(void *arg, struct member *m, const json_t *v, const struct err *why)
{
    CLEANUP_FREE char *text = v ? json_write(v) : NULL;
    snprintf(verdict, sizeof verdict, "%s %s", m->name, v ? text : why->msg);
}

static void a_person_s_check_is_no_effect(void **state)
{
    struct err e = {0};
    struct member *m = cluster_find(cluster, "lx1");
    const struct actors_ask disk = {.check = "disk", .deadline = span_s(20)};
    assert_int_equal(actors_check(actors, m, &disk, on_verdict, NULL, &e), 0);
    assert_non_null(strstr(said, "\"run\":\"check:disk\""));
    say("{\"id\":\"" ORIGIN
        ".asked.000000000000000a.1\",\"state\":\"done\",\"verdict\":{\"result\":\"ok\"}}");
    assert_string_equal(verdict, "lx1 {\"result\":\"ok\"}");
    assert_int_equal(results, 0);
    assert_int_equal(actors_check(actors, m, &disk, on_verdict, NULL, &e), 0);
    actors_turn(actors, mono_now(), (struct wall){INT64_MAX});
    assert_string_equal(verdict, "lx1 {\"result\":\"ok\"}");
    actors_turn(actors, mono_add(mono_now(), span_s(21)), wall_now());
    assert_string_equal(verdict, "lx1 no answer in time");
    assert_int_equal(actors_check(actors, m, &disk, on_verdict, NULL, &e), 0);
    say("{\"id\":\"" ORIGIN
        ".asked.000000000000000a.3\",\"state\":\"done\",\"verdict\":{\"result\":\"ok\",\"more\":[1]}"
        "}");
    assert_non_null(strstr(verdict, "the agent's verdict: "));
    connected = false;
    assert_int_equal(actors_check(actors, m, &disk, on_verdict, NULL, &e), -EAGAIN);
}

static void nodes_that_run_a_check_together_are_told_their_partners(void **state)
{
    struct member *m = cluster_find(cluster, "lx1");
    const struct actors_ask pair = {"pair", span_s(20), "lx1,lx2", 1};
    assert_int_equal(actors_check(actors, m, &pair, on_verdict, NULL, NULL), 0);
    assert_non_null(strstr(said, "\"nodes\":\"lx1,lx2\""));
    assert_non_null(strstr(said, "\"rank\":1"));
    actors_end(actors, m, "pair");
    assert_non_null(strstr(said, "\"end\":\"pair\""));
    say("{\"id\":\"" ORIGIN ".asked.000000000000000a.1\",\"state\":\"unknown\",\"text\":\"it was ended\"}");
    assert_string_equal(verdict, "lx1 unknown: it was ended");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_record_says_begun_before_the_agent_hears_of_it),
        TEST(an_agent_is_told_until_it_says_what_came_of_it),
        TEST(an_agent_that_asks_is_told_what_is_good_for_now),
        TEST(the_result_of_a_check_is_its_verdict),
        TEST(a_check_that_is_given_up_is_ended),
        TEST(not_now_is_asked_again_and_not_any_more_is_refused),
        TEST(an_agent_that_never_answers_leaves_it_unknown),
        TEST(a_clock_that_is_set_ends_nothing),
        TEST(an_operation_that_is_over_is_not_told_to_begin),
        TEST(a_deadline_is_one_that_an_agent_takes),
        TEST(an_operation_not_allowed_any_more_is_not_told),
        TEST(an_operation_without_an_order_is_refused_when_it_may_not_be),
        TEST(an_operation_is_told_again_only_while_it_is_allowed),
        TEST(an_operation_that_an_agent_never_heard_of_was_not_done),
        TEST(faults_that_a_person_answered_for_are_forgotten),
        TEST(an_effect_that_is_gone_and_those_of_others_are_nobody_s),
        TEST(a_person_s_check_is_no_effect),
        TEST(nodes_that_run_a_check_together_are_told_their_partners),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
