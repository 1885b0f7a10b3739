/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reboot into the right image: each contract of src/driver/ochami.h that concerns BSS and PCS. The most
 * important one: whatever fails and whichever process is killed, a node is rebooted once.
 */
#include "driver/ochami_fixture_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define X "x0c0s0b0n0"
#define KEY "effect/reboot.lx01"
#define IMAGE "{\"kernel\":\"http://boot/vmlinuz\",\"initrd\":null,\"params\":\"console=ttyS0 quiet\"}"
#define PARAMETERS "/bss/boot/v1/bootparameters"

static void mode(struct world *w, const char *service, const char *mode, const char *match)
{
    char path[40];
    snprintf(path, sizeof path, "/test/mode/%s", service);
    world_tell(w, path, "{\"mode\":\"%s\",\"match\":\"%s\"}", mode, match);
}

static void finish(struct world *w, const char *how)
{
    world_tell(w, "/test/transitions", "%s", how);
}

static void at_once(struct world *w, bool is_so)
{
    world_tell(w, "/test/transitions", "{\"status\":\"completed\",\"at_once\":%s}", is_so ? "true" : "false");
}

#define WELL "{\"status\":\"completed\"}"

/* "STEP" or "STEP: WHY". */
static void did(struct world *w, const char *expected)
{
    CLEANUP_FREE char *text = world_done(w, KEY);
    CLEANUP_JSON json_t *d = json_read(text, strlen(text), NULL);
    const char *step = json_string_value(json_object_get(d, "step"));
    const char *why = json_string_value(json_object_get(d, "why"));
    char is[300];
    snprintf(is, sizeof is, "%s%s%s", step ? step : "none", why ? ": " : "", why ? why : "");
    assert_string_equal(is, expected);
}

static bool has_step(struct world *w, const char *step)
{
    CLEANUP_FREE char *text = world_done(w, KEY);
    char member[40];
    snprintf(member, sizeof member, "\"step\":\"%s\"", step);
    return strstr(text, member) != NULL;
}

static bool is_asked(struct world *w)
{
    return has_step(w, "asked");
}

static bool is_asking(struct world *w)
{
    return has_step(w, "asking");
}

static size_t transitions(struct world *w)
{
    CLEANUP_JSON json_t *all = world_ask(w, "GET", "/pcs/transitions", NULL);
    return json_array_size(json_object_get(all, "transitions"));
}

static void reboot(struct world *w, const char *image)
{
    static unsigned id;
    char text[16];
    snprintf(text, sizeof text, "r%u", ++id);
    world_reboot(w, "lx01", X, text, image);
}

static void test_image_transition_and_its_end(void **state)
{
    struct world *w = *state;
    reboot(w, IMAGE);
    world_until(w, is_asked);
    CLEANUP_JSON json_t *all = world_ask(w, "GET", PARAMETERS "?name=" X, NULL);
    json_t *p = json_array_get(all, 0);
    assert_string_equal(json_string_value(json_object_get(p, "kernel")), "http://boot/vmlinuz");
    assert_string_equal(json_string_value(json_object_get(p, "params")), "console=ttyS0 quiet");
    assert_null(json_object_get(p, "initrd")); /* it was not given */
    assert_int_equal(ochami_waiting(w->o), 1);
    finish(w, WELL);
    world_settle(w);
    did(w, "completed");
    assert_int_equal(transitions(w), 1);
    assert_int_equal(w->n_may, 1);
}

static void test_without_an_image_bss_is_not_asked(void **state)
{
    struct world *w = *state;
    reboot(w, NULL);
    world_until(w, is_asked);
    assert_int_equal(world_count(w, "GET /bss").n, 0);
}

static void test_parameters_that_are_right_are_not_written(void **state)
{
    struct world *w = *state;
    json_decref(world_ask(w, "PUT", PARAMETERS,
                          "{\"hosts\":[\"" X "\"],\"kernel\":\"http://boot/vmlinuz\",\"initrd\":\"theirs\","
                          "\"params\":\"console=ttyS0 quiet\"}"));
    world_count(w, "");
    reboot(w, IMAGE);
    world_until(w, is_asked);
    assert_int_equal(world_count(w, "").changes, 1); /* the transition */
}

static void test_parameters_that_the_image_leaves_out_stay(void **state)
{
    struct world *w = *state;
    json_decref(world_ask(w, "PUT", PARAMETERS,
                          "{\"hosts\":[\"" X
                          "\"],\"kernel\":\"old\",\"initrd\":\"theirs\",\"params\":\"x\"}"));
    reboot(w, IMAGE);
    world_until(w, is_asked);
    CLEANUP_JSON json_t *all = world_ask(w, "GET", PARAMETERS "?name=" X, NULL);
    json_t *p = json_array_get(all, 0);
    assert_string_equal(json_string_value(json_object_get(p, "kernel")), "http://boot/vmlinuz");
    assert_string_equal(json_string_value(json_object_get(p, "initrd")), "theirs");
}

static void test_completed_with_a_failed_task_is_failed(void **state)
{
    struct world *w = *state;
    reboot(w, NULL);
    world_until(w, is_asked);
    finish(w, "{\"status\":\"completed\",\"failed\":true}");
    world_settle(w);
    did(w, "failed: Missing xname");
}

static void test_an_aborted_transition_is_failed(void **state)
{
    struct world *w = *state;
    reboot(w, NULL);
    world_until(w, is_asked);
    finish(w, "{\"status\":\"aborted\"}");
    world_settle(w);
    assert_true(has_step(w, "failed"));
}

static void test_a_node_that_may_not_be_rebooted_is_not(void **state)
{
    struct world *w = *state;
    w->refusal = "somebody works on it";
    reboot(w, IMAGE);
    world_settle(w);
    did(w, "refused: somebody works on it");
    assert_int_equal(transitions(w), 0);
}

/* The memory of an earlier reboot is no order. */
static void test_one_that_is_not_wanted_any_more_is_not_asked_for(void **state)
{
    struct world *w = *state;
    static const char *const done[] = {"null", "{\"step\":\"image\"}",
                                       "{\"step\":\"asking\",\"after\":\"\"}"};
    for (size_t i = 0; i < sizeof done / sizeof *done; i++) {
        CLEANUP_TEXT struct text record = {0};
        text_printf(&record, "{\"id\":\"%zu\",\"xname\":\"" X "\",\"boot\":null,\"image\":null,\"done\":%s}",
                    i, done[i]);
        world_put(w, KEY, record.s);
        world_settle(w);
    }
    w->refusal = "not heard";
    w->is_for_now = true;
    reboot(w, NULL);
    world_until(w, is_asking);
    world_put(w, KEY, "{\"id\":\"9\",\"xname\":\"" X "\",\"boot\":null,\"image\":null,\"done\":null}");
    world_settle(w);
    assert_int_equal(transitions(w), 0);
}

static void test_a_result_says_which_reboot_it_is_of(void **state)
{
    struct world *w = *state;
    world_reboot(w, "lx01", X, "r-7", NULL);
    world_until(w, is_asked);
    CLEANUP_FREE char *text = world_done(w, KEY);
    assert_non_null(strstr(text, "\"id\":\"r-7\""));
}

static bool was_asked_thrice(struct world *w)
{
    return w->n_may >= 3;
}

static void test_a_node_that_may_not_be_rebooted_for_now_is_later(void **state)
{
    struct world *w = *state;
    w->refusal = "not heard";
    w->is_for_now = true;
    reboot(w, NULL);
    world_until(w, was_asked_thrice);
    assert_int_equal(transitions(w), 0);
    assert_true(is_asking(w));
    w->refusal = NULL;
    world_until(w, is_asked);
    assert_int_equal(transitions(w), 1);
}

static void test_without_addresses_it_is_refused(void **state)
{
    struct world *w = *state;
    ochami_configure(w->o, &(struct ochami_conf){.pcs = w->pcs});
    reboot(w, IMAGE);
    world_settle(w);
    did(w, "refused: an image is to be set and no address of BSS is configured");
    ochami_configure(w->o, &(struct ochami_conf){.bss = w->bss});
    reboot(w, NULL);
    world_settle(w);
    did(w, "refused: no address of PCS is configured");
}

static void test_one_under_way_is_adopted(void **state)
{
    struct world *w = *state;
    json_decref(world_ask(w, "POST", "/pcs/transitions",
                          "{\"operation\":\"off\",\"location\":[{\"xname\":\"" X "\"}]}"));
    json_decref(world_ask(w, "POST", "/pcs/transitions",
                          "{\"operation\":\"hard-restart\",\"location\":[{\"xname\":\"x9c0s0b0n0\"}]}"));
    CLEANUP_JSON json_t *made =
        world_ask(w, "POST", "/pcs/transitions",
                  "{\"operation\":\"Hard-Restart\",\"location\":[{\"xname\":\"x8c0s0b0n0\"},"
                  "{\"xname\":\"" X "\"}]}");
    reboot(w, NULL);
    world_until(w, is_asked);
    CLEANUP_FREE char *done = world_done(w, KEY);
    assert_non_null(strstr(done, json_string_value(json_object_get(made, "transitionID"))));
    assert_int_equal(transitions(w), 3);
    assert_int_equal(w->n_may, 0);
}

/* An earlier restart of this node is somebody else's, and does not count as Fettle's. */
static void test_one_that_is_over_is_not_ours(void **state)
{
    struct world *w = *state;
    json_decref(world_ask(w, "POST", "/pcs/transitions",
                          "{\"operation\":\"soft-restart\",\"location\":[{\"xname\":\"" X "\"}]}"));
    finish(w, WELL);
    reboot(w, NULL);
    world_until(w, is_asked);
    assert_int_equal(transitions(w), 2);
    finish(w, WELL);
    world_settle(w);
    did(w, "completed");
}

static void test_another_reboot_is_another_one(void **state)
{
    struct world *w = *state;
    for (size_t i = 1; i <= 3; i++) {
        reboot(w, NULL);
        world_until(w, is_asked);
        finish(w, i == 2 ? "{\"status\":\"completed\",\"failed\":true}" : WELL);
        world_settle(w);
        did(w, i == 2 ? "failed: Missing xname" : "completed");
        assert_int_equal(transitions(w), i);
    }
}

static void test_a_call_that_is_refused_is_a_result(void **state)
{
    struct world *w = *state;
    world_reboot(w, "lx01", "no/xname", "r", NULL);
    world_settle(w);
    did(w, "refused: the node has no xname that OpenCHAMI could know");
    mode(w, "pcs", "refused", "POST");
    reboot(w, NULL);
    world_settle(w);
    did(w, "refused: invalid Operation type");
    mode(w, "pcs", "ok", "");
    mode(w, "bss", "refused", "PUT");
    reboot(w, IMAGE);
    world_settle(w);
    did(w, "refused: invalid Operation type");
}

static void test_a_transition_that_pcs_forgot_is_failed(void **state)
{
    struct world *w = *state;
    world_put(w, KEY,
              "{\"id\":\"r\",\"xname\":\"" X
              "\",\"boot\":\"b-1\",\"image\":null,\"done\":{\"step\":\"asked\","
              "\"transition\":\"00000000-0000-0000-0000-000000000000\"}}");
    world_settle(w);
    did(w, "failed: PCS does not know the transition any more");
}

/* The answer to the POST is lost, and the transition ends before the driver looks: there is still one reboot.
 */
static void test_a_lost_answer_is_found_again(void **state)
{
    struct world *w = *state;
    static const char *const modes[] = {"lost", "half", "away", "error", "garbage"};
    for (size_t i = 0; i < 2 * sizeof modes / sizeof *modes; i++) {
        size_t before = transitions(w);
        mode(w, "pcs", modes[i / 2], "POST /pcs/transitions");
        at_once(w, i % 2);
        reboot(w, NULL);
        world_until(w, is_asking);
        while (world_count(w, "POST /pcs/transitions").n == 0)
            world_turn(w);
        mode(w, "pcs", "away", "");
        finish(w, WELL);
        for (int n = 0; n < 20; n++)
            world_turn(w);
        mode(w, "pcs", "ok", "");
        world_until(w, is_asked);
        finish(w, WELL);
        world_settle(w);
        did(w, "completed");
        assert_int_equal(transitions(w), before + 1);
    }
}

static bool is_over(struct world *w)
{
    return has_step(w, "completed");
}

static size_t turns_until_completed(struct world *w, size_t most)
{
    size_t turns = 0;
    for (; turns < most && !is_over(w); turns++) {
        world_turn(w);
        if (is_asked(w) && turns % 8 == 0)
            finish(w, WELL);
    }
    return turns;
}

/* Killed after each turn of the loop: the next driver takes up what was begun, and there is one transition.
 */
static void test_killed_at_any_moment(void **state)
{
    struct world *w = *state;
    reboot(w, IMAGE);
    size_t turns = turns_until_completed(w, SIZE_MAX);
    assert_true(turns > 10);
    for (size_t i = 0; i <= turns && i < 80; i++) {
        json_decref(world_ask(w, "DELETE", PARAMETERS, "{\"hosts\":[\"" X "\"]}"));
        size_t before = transitions(w);
        at_once(w, i % 2);
        reboot(w, IMAGE);
        turns_until_completed(w, i);
        world_kill(w);
        world_start(w);
        turns_until_completed(w, SIZE_MAX);
        world_settle(w);
        assert_int_equal(transitions(w), before + 1);
    }
}

/* The record is at "asking" and its driver was killed: PCS was asked, or was not. */
static void test_taken_up_from_asking(void **state)
{
    struct world *w = *state;
    for (int was_asked = 0; was_asked < 2; was_asked++) {
        size_t before = transitions(w);
        w->is_held = true; /* so that this driver does not ask itself */
        reboot(w, NULL);
        while (!w->commits)
            world_turn(w);
        CLEANUP_TEXT struct text record = {0};
        text_printf(&record,
                    "{\"id\":\"a%d\",\"xname\":\"" X "\",\"boot\":\"b-1\",\"image\":null,\"done\":%s}",
                    was_asked, w->commits->value);
        world_kill(w);
        world_release(w);
        world_put(w, KEY, record.s);
        assert_true(is_asking(w));
        if (was_asked)
            json_decref(world_ask(w, "POST", "/pcs/transitions",
                                  "{\"operation\":\"soft-restart\",\"location\":[{\"xname\":\"" X "\"}]}"));
        if (was_asked)
            finish(w, WELL);
        world_start(w);
        world_until(w, is_asked);
        finish(w, WELL);
        world_settle(w);
        did(w, "completed");
        assert_int_equal(transitions(w), before + 1);
    }
}

static void test_a_drift_that_is_gone_is_not_rebooted(void **state)
{
    struct world *w = *state;
    mode(w, "bss", "away", "");
    reboot(w, IMAGE);
    while (w->n_away == 0)
        world_turn(w);
    world_put(w, KEY, NULL);
    mode(w, "bss", "ok", "");
    world_settle(w);
    assert_int_equal(transitions(w), 0);
    assert_int_equal(ochami_waiting(w->o), 0);
}

enum { MANY = 200 };

static void test_many_nodes_share_the_list(void **state)
{
    struct world *w = *state;
    for (int i = 0; i < MANY; i++) {
        char node[16], xname[24];
        snprintf(node, sizeof node, "n%03d", i);
        snprintf(xname, sizeof xname, "x%dc0s0b0n0", i + 10);
        world_reboot(w, node, xname, "r", NULL);
    }
    while (ochami_waiting(w->o)) {
        finish(w, WELL);
        world_turn(w);
    }
    CLEANUP_JSON json_t *all = world_ask(w, "GET", "/test/requests", NULL);
    size_t i, posts = 0, lists = 0;
    json_t *line;
    json_array_foreach (json_object_get(all, "requests"), i, line) {
        posts += strcmp(json_string_value(line), "POST /pcs/transitions") == 0;
        lists += strcmp(json_string_value(line), "GET /pcs/transitions") == 0;
    }
    assert_int_equal(posts, MANY);
    assert_true(lists < MANY / 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_image_transition_and_its_end),
        TEST(test_without_an_image_bss_is_not_asked),
        TEST(test_parameters_that_are_right_are_not_written),
        TEST(test_parameters_that_the_image_leaves_out_stay),
        TEST(test_completed_with_a_failed_task_is_failed),
        TEST(test_an_aborted_transition_is_failed),
        TEST(test_a_node_that_may_not_be_rebooted_is_not),
        TEST(test_a_node_that_may_not_be_rebooted_for_now_is_later),
        TEST(test_one_that_is_not_wanted_any_more_is_not_asked_for),
        TEST(test_a_result_says_which_reboot_it_is_of),
        TEST(test_without_addresses_it_is_refused),
        TEST(test_one_under_way_is_adopted),
        TEST(test_one_that_is_over_is_not_ours),
        TEST(test_another_reboot_is_another_one),
        TEST(test_a_call_that_is_refused_is_a_result),
        TEST(test_a_transition_that_pcs_forgot_is_failed),
        TEST(test_a_lost_answer_is_found_again),
        TEST(test_killed_at_any_moment),
        TEST(test_taken_up_from_asking),
        TEST(test_a_drift_that_is_gone_is_not_rebooted),
        TEST(test_many_nodes_share_the_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
