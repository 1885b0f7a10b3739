/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "driver/effect.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define X "x0c0s0b0n0"

static int transition(const char *text, struct transition *t, struct err *e)
{
    return transition_read(text, strlen(text), X, t, e);
}

static void test_an_absent_flag_is_not_ok(void **state)
{
    struct component c;
    static const char text[] = "{\"ID\":\"" X "\",\"Type\":\"Node\"}";
    assert_int_equal(component_read(text, strlen(text), &c, NULL), 0);
    assert_string_equal(c.flag, "");
    assert_string_equal(c.status, "");
}

static void test_an_answer_that_is_no_component_is_refused(void **state)
{
    static const char *const texts[] = {
        "", "[]", "{}", "<html>", "{\"ID\":1}", "{\"ID\":\"x\",\"Flag\":1}", "{\"ID\":\"x\",\"ID\":\"y\"}"};
    struct component c;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_int_equal(component_read(texts[i], strlen(texts[i]), &c, NULL), -EPROTO);
}

static void test_a_status_that_nobody_knows_is_not_over(void **state)
{
    struct transition t;
    struct err e;
    assert_int_equal(transition("{\"transitionStatus\":\"resting\"}", &t, &e), -EPROTO);
    assert_string_equal(e.msg, "a transition whose status is resting");
    assert_int_equal(transition("{}", &t, &e), -EPROTO);
    assert_int_equal(transition("{\"transitionStatus\":\"abort-signaled\"}", &t, &e), 0);
    assert_int_equal(t.outcome, TRANSITION_UNDER_WAY);
}

static void test_a_completed_transition_has_an_outcome_for_each_node(void **state)
{
    static const struct {
        const char *text;
        enum transition_outcome outcome;
        const char *why;
    } cases[] = {
        {"\"tasks\":[{\"xname\":\"" X "\",\"taskStatus\":\"succeeded\"}]", TRANSITION_COMPLETED, ""},
        {"\"tasks\":[{\"xname\":\"" X "\",\"taskStatus\":\"failed\",\"error\":\"no BMC\"}]",
         TRANSITION_FAILED, "no BMC"},
        {"\"tasks\":[{\"xname\":\"" X "\",\"taskStatus\":\"unsupported\"}]", TRANSITION_FAILED,
         "unsupported"},
        {"\"tasks\":[{\"xname\":\"x1c0s0b0n0\",\"taskStatus\":\"failed\"},{\"xname\":\"X0C0S0B0N0\","
         "\"taskStatus\":\"succeeded\"}],\"taskCounts\":{\"failed\":1,\"succeeded\":1}",
         TRANSITION_COMPLETED, ""},
        {"\"taskCounts\":{\"failed\":0,\"succeeded\":1}", TRANSITION_COMPLETED, ""},
        {"\"taskCounts\":{\"failed\":1,\"succeeded\":0}", TRANSITION_FAILED, "the task failed"},
        {"\"taskCounts\":{\"failed\":0,\"succeeded\":0,\"un-supported\":1}", TRANSITION_FAILED,
         "the operation is not supported"},
        {"\"taskCounts\":{\"failed\":0,\"succeeded\":0}", TRANSITION_FAILED, "no task of it was carried out"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CLEANUP_TEXT struct text text = {0};
        struct transition t;
        text_printf(&text, "{\"transitionStatus\":\"completed\",%s}", cases[i].text);
        assert_int_equal(transition(text.s, &t, NULL), 0);
        assert_int_equal(t.outcome, cases[i].outcome);
        assert_string_equal(t.why, cases[i].why);
    }
}

static void test_an_id_that_is_none_never_gets_into_a_path(void **state)
{
    static const char *const texts[] = {"{\"transitionID\":\"../x\"}", "{\"transitionID\":\"\"}", "{}",
                                        "{\"transitionID\":7}"};
    char id[TRANSITION_ID_BYTES_MAX + 1];
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_int_equal(started_read(texts[i], strlen(texts[i]), id, NULL), -EPROTO);
    assert_false(xname_is_valid("x0/../x1"));
    assert_false(xname_is_valid(""));
    assert_true(xname_is_valid(X));
}

/* Times with more or fewer decimals, and any zone of the one server, sort as they were. */
static void test_the_newest_is_found(void **state)
{
#define AT(time) \
    "{\"transitionID\":\"a\",\"operation\":\"Init\",\"transitionStatus\":\"new\",\"createTime\":\"" time "\"}"
    static const char text[] = "{\"transitions\":[" AT("2026-11-20T18:28:13.59Z") "," AT(
        "2026-11-20T18:28:13.5Z") "," AT("2026-11-20T18:28:13Z") "," AT("2026-11-20T18:28:13.591+01:00") "]}";
    struct transitions t;
    assert_int_equal(transitions_read(text, strlen(text), &t, NULL), 0);
    assert_string_equal(t.newest, "2026-11-20T18:28:13.591");
    assert_int_equal(t.n, 0); /* none of them restarts */
    transitions_fini(&t);
}

static void test_a_record_is_read_and_its_status_is_short(void **state)
{
    struct effect x;
    assert_int_equal(effect_read("effect/ochami.lx01",
                                 "{\"id\":7,\"xname\":\"" X "\",\"want\":{\"flag\":\"Warning\",\"status\":"
                                 "\"drift:0123456789012345678901234567890123456789\",\"group\":null,"
                                 "\"message\":\"m\"},\"done\":null}",
                                 &x, NULL),
                     0);
    assert_int_equal(strlen(x.want.status), OCHAMI_STATUS_BYTES_MAX);
    assert_true(x.is_wanted && !x.is_done);
    assert_string_equal(x.id, "7");
    assert_string_equal(x.done_text, "null");
    effect_fini(&x);
}

static void test_a_record_that_is_none_is_refused_with_its_key(void **state)
{
    static const char *const values[] = {"", "[]", "{\"want\":7}", "{\"want\":{\"flag\":7}}",
                                         "{\"done\":\"x\"}"};
    struct effect x;
    struct err e;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        assert_int_equal(effect_read("effect/ochami.lx01", values[i], &x, &e), -EINVAL);
        assert_non_null(strstr(e.msg, "effect/ochami.lx01: "));
    }
    assert_int_equal(effect_read("effect/reboot.lx01", "{\"done\":{\"step\":\"flying\"}}", &x, &e), -EINVAL);
    assert_int_equal(
        effect_read("effect/reboot.lx01", "{\"done\":{\"step\":\"asked\",\"transition\":\"../\"}}", &x, &e),
        -EINVAL);
}

static void add_held(void *arg, const char *xname, const char *how, bool out)
{
    text_printf(arg, "%s %s%s; ", xname, how ? how : "nobody", out ? " and out" : "");
}

static void held_is(const char *components, const char *expected)
{
    CLEANUP_TEXT struct text t = {0}, body = {0};
    struct err e;
    text_printf(&body, "{\"Components\":%s}", components);
    int rc = held_read(body.s, body.len, add_held, &t, &e);
    assert_string_equal(rc < 0 ? e.msg : t.len ? t.s : "", expected);
}

static void test_holders_of_components(void **state)
{
    (void)state;
    held_is("[]", "");
    held_is("null", "");
    held_is("[{\"ID\":\"x0\",\"Flag\":\"Alert\",\"State\":\"Off\"},{\"ID\":\"x1\",\"Locked\":true,"
            "\"Enabled\":true}]",
            "x0 nobody; x1 locked; ");
    held_is("[{\"ID\":\"x0\",\"Flag\":\"Locked\"},{\"ID\":\"x1\",\"Enabled\":false}]",
            "x0 locked; x1 disabled and out; ");
    held_is("[{\"ID\":\"x0c0s0b0n0\",\"Locked\":false,\"Reserved\":true,\"ReservationDisabled\":false},"
            "{\"ID\":\"x1\",\"ReservationDisabled\":true}]",
            "x0c0s0b0n0 reserved; x1 barred from reservations; ");
    held_is("[{\"ID\":\"x0\",\"Locked\":true,\"Enabled\":false}]", "x0 disabled and out; ");
    held_is("[{\"Locked\":true}]", "a component without an ID");
    held_is("[{\"ID\":\"x0\",\"Locked\":\"yes\"}]", "a component whose Locked is no boolean");
    held_is("7", "an answer without components");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_holders_of_components),
        cmocka_unit_test(test_an_absent_flag_is_not_ok),
        cmocka_unit_test(test_an_answer_that_is_no_component_is_refused),
        cmocka_unit_test(test_a_status_that_nobody_knows_is_not_over),
        cmocka_unit_test(test_a_completed_transition_has_an_outcome_for_each_node),
        cmocka_unit_test(test_an_id_that_is_none_never_gets_into_a_path),
        cmocka_unit_test(test_the_newest_is_found),
        cmocka_unit_test(test_a_record_is_read_and_its_status_is_short),
        cmocka_unit_test(test_a_record_that_is_none_is_refused_with_its_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
