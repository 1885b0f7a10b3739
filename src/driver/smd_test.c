/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What Fettle writes into the State Manager about a drifted node, and takes back: each contract of
 * src/driver/ochami.h that concerns SMD.
 */
#include "driver/ochami_fixture_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define X "x0c0s0b0n0"
#define KEY "effect/ochami.lx01"
#define COMPONENT "/smd/hsm/v2/State/Components/" X

/* What stands in SMD: "FLAG STATUS member|-". */
static void stands(struct world *w, const char *expected)
{
    char is[200];
    CLEANUP_JSON json_t *c = world_ask(w, "GET", COMPONENT, NULL);
    CLEANUP_JSON json_t *m = world_ask(w, "GET", "/smd/hsm/v2/memberships/" X, NULL);
    const char *status = json_string_value(json_object_get(c, "SoftwareStatus"));
    bool is_member = json_array_size(json_object_get(m, "groupLabels")) > 0;
    snprintf(is, sizeof is, "%s %s %s", json_string_value(json_object_get(c, "Flag")), status ? status : "-",
             is_member ? json_string_value(json_array_get(json_object_get(m, "groupLabels"), 0)) : "-");
    assert_string_equal(is, expected);
}

/* A record's `done`: its parts as "FLAG STATUS GROUP", "null", and the refusal. */
static void did(struct world *w, const char *expected)
{
    char is[400];
    CLEANUP_FREE char *text = world_done(w, KEY);
    if (strcmp(text, "null") == 0) {
        assert_string_equal("null", expected);
        return;
    }
    CLEANUP_JSON json_t *d = json_read(text, strlen(text), NULL);
    const char *flag = json_string_value(json_object_get(d, "flag"));
    const char *status = json_string_value(json_object_get(d, "status"));
    const char *group = json_string_value(json_object_get(d, "group"));
    const char *error = json_string_value(json_object_get(d, "error"));
    snprintf(is, sizeof is, "%s %s %s%s%s%s", flag ? flag : "-", status ? status : "-", group ? group : "-",
             error ? ": " : "", error ? error : "",
             json_is_true(json_object_get(d, "pending")) ? " (pending)" : "");
    assert_string_equal(is, expected);
}

static void want(struct world *w, const char *what)
{
    world_want(w, "lx01", X, what);
    world_settle(w);
}

static void mode(struct world *w, const char *mode, const char *match)
{
    world_tell(w, "/test/mode/smd", "{\"mode\":\"%s\",\"match\":\"%s\"}", mode, match);
}

static void test_drift_is_put_and_taken_back(void **state)
{
    struct world *w = *state;
    want(w, WANT("major"));
    stands(w, "Warning drift:major:0123456789ab drifted");
    did(w, "Warning drift:major:0123456789ab drifted");
    want(w, NULL);
    stands(w, "OK - -");
    assert_null(world_record(w, KEY));
    assert_int_equal(ochami_waiting(w->o), 0);
    assert_int_equal(w->n_away, 0);
}

static void test_a_mark_that_is_set_is_not_set_again(void **state)
{
    struct world *w = *state;
    want(w, WANT("major"));
    world_count(w, "");
    world_kill(w);
    world_start(w);
    world_settle(w);
    want(w, WANT("major")); /* the same record, written anew */
    assert_int_equal(world_count(w, "").n, 0);
}

static void test_another_severity_changes_the_status_alone(void **state)
{
    struct world *w = *state;
    want(w, WANT("major"));
    world_count(w, "");
    want(w, WANT("critical"));
    assert_int_equal(world_count(w, "").changes, 1);
    stands(w, "Warning drift:critical:0123456789ab drifted");
    did(w, "Warning drift:critical:0123456789ab drifted");
}

static void test_marks_of_others_stay(void **state)
{
    struct world *w = *state;
    static const char *const flags[] = {"Alert", "Locked", "Unknown", "Warning"};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        char expected[80];
        snprintf(expected, sizeof expected, "%s AdminDown drifted", flags[i]);
        world_tell(w, "/test/component/" X, "{\"Flag\":\"%s\",\"SoftwareStatus\":\"AdminDown\"}", flags[i]);
        world_tell(w, "/test/group/drifted", "{\"ids\":[\"" X "\"]}");
        world_count(w, "");
        want(w, WANT("major"));
        did(w, "- - -");
        want(w, NULL);
        assert_int_equal(world_count(w, "").changes, 0);
        stands(w, expected);
    }
}

static void test_a_part_that_is_somebody_elses_does_not_stop_the_others(void **state)
{
    struct world *w = *state;
    world_tell(w, "/test/component/" X, "{\"Flag\":\"Alert\"}");
    want(w, WANT("minor"));
    stands(w, "Alert drift:minor:0123456789ab drifted");
    did(w, "- drift:minor:0123456789ab drifted");
    want(w, NULL);
    stands(w, "Alert - -");
}

static void test_only_marks_that_still_stand_are_taken_back(void **state)
{
    struct world *w = *state;
    want(w, WANT("major"));
    world_tell(w, "/test/component/" X, "{\"Flag\":\"Alert\",\"SoftwareStatus\":\"AdminDown\"}");
    world_tell(w, "/test/group/drifted", "{\"ids\":[]}");
    world_count(w, "");
    want(w, NULL);
    assert_int_equal(world_count(w, "").changes, 0);
    stands(w, "Alert AdminDown -");
    assert_null(world_record(w, KEY));
}

static void test_a_flag_that_a_boot_reset_is_set_again_with_the_next_change(void **state)
{
    struct world *w = *state;
    want(w, WANT("major"));
    /* The effect of a node's boot: StateData without a Flag makes it OK. */
    json_decref(world_ask(w, "PATCH", COMPONENT "/StateData", "{\"State\":\"Ready\"}"));
    stands(w, "OK drift:major:0123456789ab drifted");
    want(w, WANT("critical"));
    stands(w, "Warning drift:critical:0123456789ab drifted");
}

static void test_the_group_is_made_once_and_joined_after(void **state)
{
    struct world *w = *state;
    world_tell(w, "/test/component/x0c0s1b0n0", "{}");
    want(w, WANT("major"));
    world_want(w, "lx02", "x0c0s1b0n0", WANT("major"));
    world_settle(w);
    CLEANUP_JSON json_t *g = world_ask(w, "GET", "/smd/hsm/v2/groups/drifted", NULL);
    assert_int_equal(json_array_size(json_object_get(json_object_get(g, "members"), "ids")), 2);
    assert_int_equal(world_count(w, "POST /smd/hsm/v2/groups/drifted/members").n, 2);
}

static void test_a_group_that_excludes_another_refuses_the_membership_alone(void **state)
{
    struct world *w = *state;
    world_tell(w, "/test/group/racks", "{\"ids\":[\"" X "\"],\"group\":{\"exclusiveGroup\":\"one\"}}");
    world_tell(w, "/test/group/drifted", "{\"ids\":[]}");
    want(w, WANT("major"));
    did(w, "Warning drift:major:0123456789ab -: operation would conflict with an existing member in another "
           "exclusive group.");
    stands(w, "Warning drift:major:0123456789ab racks");
}

static void test_another_name_of_the_group_moves_the_node(void **state)
{
    struct world *w = *state;
    want(w, WANT("major"));
    const struct ochami_conf conf = {.smd = w->smd, .group = "Fettle.drift"};
    ochami_configure(w->o, &conf);
    world_settle(w);
    want(w, WANT("critical"));
    stands(w, "Warning drift:critical:0123456789ab Fettle.drift");
    did(w, "Warning drift:critical:0123456789ab Fettle.drift");
}

static void test_a_node_that_smd_does_not_know_is_a_result(void **state)
{
    struct world *w = *state;
    static const char *const xnames[] = {"x9c9s9b9n9", "", "../groups", "lx01"};
    static const char *const words[] = {
        "- - -: no such xname.", "- - -: the node has no xname that OpenCHAMI could know",
        "- - -: the node has no xname that OpenCHAMI could know", "- - -: no such xname."};
    for (size_t i = 0; i < sizeof xnames / sizeof *xnames; i++) {
        world_want(w, "lx01", xnames[i], WANT("major"));
        world_settle(w);
        did(w, words[i]);
    }
    assert_int_equal(w->n_away, 0);
}

static void test_a_refused_one_is_tried_again_with_the_configuration(void **state)
{
    struct world *w = *state;
    const struct ochami_conf conf = {.smd = w->smd, .group = "drifted"};
    world_want(w, "lx01", "x0c0s7b0n0", WANT("major"));
    world_settle(w);
    world_tell(w, "/test/component/x0c0s7b0n0", "{}");
    ochami_configure(w->o, &conf);
    world_settle(w);
    did(w, "Warning drift:major:0123456789ab drifted");
}

static void test_a_call_that_smd_refuses_is_a_result_with_its_words(void **state)
{
    struct world *w = *state;
    world_want(w, "lx01", X, "{\"flag\":\"Bogus\",\"status\":\"drift:x\",\"group\":null,\"message\":\"m\"}");
    world_settle(w);
    did(w, "- drift:x -: a required argument did not match any valid input");
    assert_int_equal(w->n_away, 0);
}

/* The answer does not say that the node is missing, so nothing about it is recorded as done. */
static void test_a_component_that_smd_refuses_to_show_is_tried_again(void **state)
{
    struct world *w = *state;
    mode(w, "refused", "");
    world_want(w, "lx01", X, WANT("major"));
    while (w->n_away == 0)
        world_turn(w);
    did(w, "null");
    assert_string_equal(w->last_trouble, "SMD: invalid Operation type");
    mode(w, "ok", "");
    world_settle(w);
    assert_int_equal(w->n_back, 1);
    stands(w, "Warning drift:major:0123456789ab drifted");
}

static void test_a_component_that_is_gone_takes_its_marks_along(void **state)
{
    struct world *w = *state;
    want(w, WANT("major"));
    world_tell(w, "/test/component/" X, "null");
    want(w, NULL);
    assert_null(world_record(w, KEY));
}

/* In every way in which the server fails: it is reported once, nothing is lost, and its return is reported
 * once. */
static void test_a_server_that_fails_is_tried_until_it_is_back(void **state)
{
    struct world *w = *state;
    static const char *const modes[] = {"away",        "slow",         "error",   "half", "garbage",
                                        "unavailable", "unauthorized", "missing", "lost"};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        unsigned away = w->n_away, back = w->n_back;
        mode(w, modes[i], "");
        world_want(w, "lx01", X, WANT("major"));
        while (w->n_away == away)
            world_turn(w);
        for (unsigned turns = 0; turns < 20; turns++)
            world_turn(w);
        mode(w, "ok", "");
        world_settle(w);
        assert_int_equal(w->n_away, away + 1);
        assert_int_equal(w->n_back, back + 1);
        stands(w, "Warning drift:major:0123456789ab drifted");
        want(w, NULL);
        stands(w, "OK - -");
        assert_null(world_record(w, KEY));
    }
}

/* Each call fails in each way, and is carried out or not: the end is the same. */
static void test_each_call_may_fail(void **state)
{
    struct world *w = *state;
    static const char *const modes[] = {"away", "lost", "half", "error"};
    static const char *const calls[] = {"GET",     "memberships", "FlagOnly", "SoftwareStatus",
                                        "members", "POST"};
    for (size_t i = 0; i < sizeof modes / sizeof *modes * sizeof calls / sizeof *calls; i++) {
        for (int undo = 0; undo < 2; undo++) {
            unsigned away = w->n_away;
            bool is_made = strcmp(calls[i % 6], "POST") == 0 && undo;
            mode(w, modes[i / 6], calls[i % 6]);
            world_want(w, "lx01", X, undo ? NULL : WANT("major"));
            while (!is_made && w->n_away == away)
                world_turn(w);
            mode(w, "ok", "");
            world_settle(w);
            stands(w, undo ? "OK - -" : "Warning drift:major:0123456789ab drifted");
        }
        assert_null(world_record(w, KEY));
    }
}

static size_t settle_counting(struct world *w)
{
    size_t turns = 0;
    for (; w->commits || ochami_waiting(w->o); turns++)
        world_turn(w);
    return turns;
}

static void prepare_killing(struct world *w, bool undo)
{
    want(w, NULL);
    world_tell(w, "/test/component/" X, "{\"Flag\":\"OK\"}");
    if (undo)
        want(w, WANT("major"));
    world_want(w, "lx01", X, undo ? NULL : WANT("major"));
}

/* Killed after each turn of the loop: the next driver comes to the same end, and takes everything back. */
static void test_killed_at_any_moment(void **state)
{
    struct world *w = *state;
    for (int undo = 0; undo < 2; undo++) {
        prepare_killing(w, undo);
        size_t turns = settle_counting(w);
        assert_true(turns > 5);
        for (size_t i = 0; i <= turns; i++) {
            prepare_killing(w, undo);
            for (size_t n = 0; n < i && (w->commits || ochami_waiting(w->o)); n++)
                world_turn(w);
            world_kill(w);
            world_start(w);
            world_settle(w);
            stands(w, undo ? "OK - -" : "Warning drift:major:0123456789ab drifted");
            want(w, NULL);
            stands(w, "OK - -");
        }
    }
}

/* Killed after the write and before the result: what it wrote is still Fettle's. */
static void test_killed_between_call_and_record(void **state)
{
    struct world *w = *state;
    world_want(w, "lx01", X, WANT("major"));
    while (w->n_results < 1 || w->commits)
        world_turn(w);
    w->is_held = true;
    while (w->n_results < 2) /* the pending one is recorded, the last one must not be */
        world_turn(w);
    world_kill(w);
    did(w, "Warning drift:major:0123456789ab drifted (pending)");
    stands(w, "Warning drift:major:0123456789ab drifted");
    world_release(w);
    world_want(w, "lx01", X, NULL);
    world_start(w);
    world_settle(w);
    stands(w, "OK - -");
    assert_null(world_record(w, KEY));
}

static void test_nothing_is_put_before_the_record_says_so(void **state)
{
    struct world *w = *state;
    w->is_held = true;
    world_want(w, "lx01", X, WANT("major"));
    while (w->n_results < 1)
        world_turn(w);
    for (int i = 0; i < 10; i++)
        uv_run(&w->loop, UV_RUN_NOWAIT);
    stands(w, "OK - -");
    world_want(w, "lx01", X, NULL); /* taken back before it was written, so the record may be deleted */
    world_put(w, KEY, NULL);
    world_release(w);
    world_settle(w);
    stands(w, "OK - -");
    assert_int_equal(ochami_waiting(w->o), 0);
}

/* A day of changes while the server is away takes only the calls of the last change. */
static void test_changes_are_merged(void **state)
{
    struct world *w = *state;
    mode(w, "away", "");
    for (int i = 0; i < 100; i++) {
        world_want(w, "lx01", X, i % 3 ? WANT("minor") : NULL);
        for (int n = 0; n < 3; n++)
            world_turn(w);
    }
    world_want(w, "lx01", X, WANT("critical"));
    world_count(w, "");
    mode(w, "ok", "");
    world_settle(w);
    stands(w, "Warning drift:critical:0123456789ab drifted");
    assert_in_range(world_count(w, "").changes, 1, 4); /* flag, status, join (and the group, once) */
    assert_int_equal(w->n_away, 1);
    assert_int_equal(w->n_back, 1);
}

/* A newer want during a call: the newest one counts in the end. */
static void test_a_newer_want_overtakes(void **state)
{
    struct world *w = *state;
    for (unsigned turns = 0; turns < 40; turns++) {
        world_want(w, "lx01", X, WANT("major"));
        for (unsigned n = 0; n < turns; n++)
            uv_run(&w->loop, UV_RUN_NOWAIT);
        world_want(w, "lx01", X, turns % 2 ? NULL : WANT("minor"));
        world_settle(w);
        stands(w, turns % 2 ? "OK - -" : "Warning drift:minor:0123456789ab drifted");
    }
}

static void test_without_an_address_it_waits(void **state)
{
    struct world *w = *state;
    ochami_configure(w->o, &(struct ochami_conf){.smd = ""});
    world_want(w, "lx01", X, WANT("major"));
    for (int i = 0; i < 5; i++)
        uv_run(&w->loop, UV_RUN_NOWAIT);
    assert_int_equal(ochami_waiting(w->o), 1);
    ochami_configure(w->o, &(struct ochami_conf){.smd = w->smd, .group = "drifted"});
    world_settle(w);
    stands(w, "Warning drift:major:0123456789ab drifted");
}

static void test_records_of_others_and_nonsense_are_left_alone(void **state)
{
    struct world *w = *state;
    ochami_effect(w->o, "effect/slurm.lx01", "{}");
    ochami_effect(w->o, "node/lx01", "{}");
    ochami_effect(w->o, "effect/ochami.lx01", "nonsense");
    ochami_effect(w->o, "effect/ochami.lx01", NULL);
    assert_int_equal(ochami_waiting(w->o), 0);
}

/* One node that the server cannot answer for does not keep the others waiting. */
static void test_one_bad_node_delays_itself_alone(void **state)
{
    struct world *w = *state;
    char xname[32], node[32];
    mode(w, "error", "x0c0s0b0n0");
    world_want(w, "lx01", X, WANT("major"));
    for (int i = 1; i <= 20; i++) {
        char path[64];
        snprintf(xname, sizeof xname, "x1c0s%db0n0", i);
        snprintf(path, sizeof path, "/test/component/%s", xname);
        snprintf(node, sizeof node, "n%02d", i);
        world_tell(w, path, "{}");
        world_want(w, node, xname, WANT("major"));
    }
    while (ochami_waiting(w->o) > 1)
        world_turn(w);
    mode(w, "ok", "");
    world_settle(w);
    CLEANUP_JSON json_t *g = world_ask(w, "GET", "/smd/hsm/v2/groups/drifted", NULL);
    assert_int_equal(json_array_size(json_object_get(json_object_get(g, "members"), "ids")), 21);
}

enum { MANY = 10000 };

static void test_ten_thousand_wait_with_few_requests(void **state)
{
    struct world *w = *state;
    mode(w, "away", "");
    for (int i = 0; i < MANY; i++) {
        char key[64];
        snprintf(key, sizeof key, "effect/ochami.n%05d", i);
        CLEANUP_TEXT struct text value = {0};
        text_printf(&value, "{\"id\":\"1\",\"xname\":\"x%dc0s0b0n0\",\"want\":%s,\"done\":null}", i + 10,
                    WANT("major"));
        ochami_effect(w->o, key, value.s);
    }
    assert_int_equal(ochami_waiting(w->o), MANY);
    while (w->n_away == 0)
        world_turn(w);
    world_count(w, "");
    struct mono until = mono_add(mono_now(), span_ms(500));
    while (mono_sub(until, mono_now()).ns > 0)
        world_turn(w);
    assert_in_range(world_count(w, "").n, 1, 40); /* at most 8 under way, then one each 40 to 80 ms */
    assert_int_equal(ochami_waiting(w->o), MANY);
    assert_int_equal(w->n_away, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_drift_is_put_and_taken_back),
        TEST(test_a_mark_that_is_set_is_not_set_again),
        TEST(test_another_severity_changes_the_status_alone),
        TEST(test_marks_of_others_stay),
        TEST(test_a_part_that_is_somebody_elses_does_not_stop_the_others),
        TEST(test_only_marks_that_still_stand_are_taken_back),
        TEST(test_a_flag_that_a_boot_reset_is_set_again_with_the_next_change),
        TEST(test_the_group_is_made_once_and_joined_after),
        TEST(test_a_group_that_excludes_another_refuses_the_membership_alone),
        TEST(test_another_name_of_the_group_moves_the_node),
        TEST(test_a_node_that_smd_does_not_know_is_a_result),
        TEST(test_a_refused_one_is_tried_again_with_the_configuration),
        TEST(test_a_call_that_smd_refuses_is_a_result_with_its_words),
        TEST(test_a_component_that_smd_refuses_to_show_is_tried_again),
        TEST(test_a_component_that_is_gone_takes_its_marks_along),
        TEST(test_a_server_that_fails_is_tried_until_it_is_back),
        TEST(test_each_call_may_fail),
        TEST(test_killed_at_any_moment),
        TEST(test_killed_between_call_and_record),
        TEST(test_nothing_is_put_before_the_record_says_so),
        TEST(test_changes_are_merged),
        TEST(test_a_newer_want_overtakes),
        TEST(test_without_an_address_it_waits),
        TEST(test_records_of_others_and_nonsense_are_left_alone),
        TEST(test_one_bad_node_delays_itself_alone),
        TEST(test_ten_thousand_wait_with_few_requests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
