/* SPDX-License-Identifier: Apache-2.0 */
/* The outbox records of OpenCHAMI's driver, and what it writes into them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "driver/effect.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DRIFT "effect/ochami.lx01"
#define REBOOT "effect/reboot.lx01"

static struct effect good(const char *key, const char *value)
{
    struct effect x;
    struct err e = {0};
    if (effect_read(key, value, &x, &e) < 0)
        fail_msg("%s: %s", value, e.msg);
    return x;
}

static void assert_text(const char *is, const char *expected)
{
    if (expected)
        assert_string_equal(is, expected);
    else
        assert_null(is);
}

static void test_a_key_says_which_node_and_which_effect(void **state)
{
    static const struct {
        const char *key, *node;
        bool is_reboot;
    } cases[] = {{"effect/ochami.lx01", "lx01", false},
                 {"effect/reboot.lx01", "lx01", true},
                 {"effect/ochami.a.b", "a.b", false},
                 {"effect/slurm.lx01", NULL, false},
                 {"effect/ochami", NULL, false},
                 {"ochami.lx01", NULL, false},
                 {"", NULL, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool is_reboot;
        assert_text(effect_about(cases[i].key, &is_reboot), cases[i].node);
        assert_int_equal(is_reboot, cases[i].is_reboot);
    }
}

static void test_a_drift_that_is_wanted_and_partly_done(void **state)
{
    struct effect x =
        good(DRIFT, "{\"id\":\"7.1\",\"xname\":\"x0c0s0b0n0\",\"want\":{\"flag\":\"Warning\","
                    "\"status\":\"drift:major:0123\",\"group\":\"drifted\",\"message\":\"m\"},"
                    "\"done\":{\"flag\":\"Warning\",\"status\":null,\"pending\":true,\"error\":\"no\"}}");
    assert_false(x.is_reboot);
    assert_true(x.is_wanted && x.is_done);
    assert_string_equal(x.id, "\"7.1\"");
    assert_string_equal(x.xname, "x0c0s0b0n0");
    assert_string_equal(x.want.flag, "Warning");
    assert_string_equal(x.want.status, "drift:major:0123");
    assert_string_equal(x.want.group, "drifted");
    assert_string_equal(x.want.message, "m");
    assert_false(x.want.is_pending);
    assert_string_equal(x.done.flag, "Warning");
    assert_null(x.done.status);
    assert_null(x.done.group);
    assert_true(x.done.is_pending);
    assert_string_equal(x.done.error, "no");
    effect_fini(&x);
}

static void test_an_absent_or_null_member_is_not_wanted(void **state)
{
    static const char *const values[] = {"{}", "{\"want\":null,\"done\":null,\"xname\":null}"};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        struct effect x = good(DRIFT, values[i]);
        assert_false(x.is_wanted || x.is_done);
        assert_null(x.xname);
        assert_string_equal(x.id, "");
        assert_string_equal(x.done_text, "null");
        effect_fini(&x);
    }
}

/* SMD refuses a longer one, so it is cut before it is compared. */
static void test_a_status_has_the_width_of_smds_column(void **state)
{
    struct effect x = good(DRIFT, "{\"want\":{\"status\":\"0123456789012345678901234567890123\"},"
                                  "\"done\":{\"status\":\"01234567890123456789012345678901\"}}");
    assert_string_equal(x.want.status, "01234567890123456789012345678901");
    assert_true(marks_equal(x.want.status, x.done.status));
    effect_fini(&x);
}

static void test_a_reboot_has_its_boot_and_its_image(void **state)
{
    struct effect x = good(REBOOT, "{\"id\":5,\"xname\":\"x0\",\"boot\":\"b-1\",\"image\":{\"kernel\":\"k\","
                                   "\"params\":\"quiet\"},\"done\":null}");
    assert_true(x.is_reboot && x.has_image);
    assert_string_equal(x.id, "5");
    assert_string_equal(x.boot, "b-1");
    assert_string_equal(x.image.kernel, "k");
    assert_null(x.image.initrd);
    assert_string_equal(x.image.params, "quiet");
    assert_int_equal(x.progress.step, REBOOT_NONE);
    effect_fini(&x);
    x = good(REBOOT, "{\"boot\":\"b-1\",\"image\":{\"kernel\":null}}"); /* no part: as none */
    assert_false(x.has_image);
    effect_fini(&x);
}

static void test_the_progress_of_a_reboot_is_read_as_it_was_written(void **state)
{
    static const struct {
        struct progress p;
        const char *id, *why, *text;
    } cases[] = {
        {{.step = REBOOT_IMAGE}, "\"7\"", NULL, "{\"step\":\"image\",\"id\":\"7\"}"},
        {{.step = REBOOT_ASKING, .after = "2026-11-24T22:00:00"},
         "",
         NULL,
         "{\"step\":\"asking\",\"after\":\"2026-11-24T22:00:00\"}"},
        {{.step = REBOOT_ASKED, .transition = "0a-1b"},
         "7",
         NULL,
         "{\"step\":\"asked\",\"id\":7,\"transition\":\"0a-1b\"}"},
        {{.step = REBOOT_COMPLETED}, "", "not told", "{\"step\":\"completed\"}"},
        {{.step = REBOOT_FAILED}, "", "it \"fell\"", "{\"step\":\"failed\",\"why\":\"it \\\"fell\\\"\"}"},
        {{.step = REBOOT_REFUSED}, "", NULL, "{\"step\":\"refused\",\"why\":null}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CLEANUP_FREE char *done = progress_write(&cases[i].p, cases[i].id, cases[i].why);
        assert_string_equal(done, cases[i].text);
        CLEANUP_TEXT struct text value = {0};
        text_printf(&value, "{\"done\":%s}", done);
        struct effect x = good(REBOOT, value.s);
        assert_int_equal(x.progress.step, cases[i].p.step);
        assert_string_equal(x.progress.transition, cases[i].p.transition);
        assert_string_equal(x.progress.after, cases[i].p.after);
        assert_true(done_equal(x.done_text, done));
        effect_fini(&x);
    }
}

static void test_a_malformed_record_is_refused_with_its_key(void **state)
{
    static const struct {
        const char *key, *value, *why;
    } cases[] = {
        {DRIFT, "[]", DRIFT ": not an object"},
        {DRIFT, "{\"xname\":5}", DRIFT ": \"xname\" is not a string"},
        {DRIFT, "{\"want\":[]}", DRIFT ": \"want\" is not an object"},
        {DRIFT, "{\"done\":\"x\"}", DRIFT ": \"done\" is not an object"},
        {DRIFT, "{\"want\":{\"flag\":1}}", DRIFT ": \"flag\" is not a string"},
        {DRIFT, "{\"want\":{\"flag\":\"OK\",\"group\":[]}}", DRIFT ": \"group\" is not a string"},
        {DRIFT, "{\"done\":{\"error\":true}}", DRIFT ": \"error\" is not a string"},
        {REBOOT, "{\"boot\":1}", REBOOT ": \"boot\" is not a string"},
        {REBOOT, "{\"image\":\"x\"}", REBOOT ": \"image\" is not an object"},
        {REBOOT, "{\"image\":{\"kernel\":\"k\",\"params\":{}}}", REBOOT ": \"params\" is not a string"},
        {REBOOT, "{\"done\":{}}", REBOOT ": \"step\" is not a step of a reboot"},
        {REBOOT, "{\"done\":{\"step\":\"\"}}", REBOOT ": \"step\" is not a step of a reboot"},
        {REBOOT, "{\"done\":{\"step\":\"levitating\"}}", REBOOT ": \"step\" is not a step of a reboot"},
        {REBOOT, "{\"done\":{\"step\":\"asked\"}}", REBOOT ": \"transition\" is not the id of one"},
        {REBOOT, "{\"done\":{\"step\":\"asked\",\"transition\":\"a/b\"}}",
         REBOOT ": \"transition\" is not the id of one"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct effect x;
        struct err e = {0};
        assert_int_equal(effect_read(cases[i].key, cases[i].value, &x, &e), -EINVAL);
        assert_string_equal(e.msg, cases[i].why);
        assert_null(x.xname); /* *out is empty */
        assert_null(x.want.flag);
        assert_null(x.image.kernel);
    }
    struct effect x;
    struct err e = {0};
    assert_int_equal(effect_read(DRIFT, "{", &x, &e), -EINVAL);
    assert_ptr_equal(strstr(e.msg, DRIFT ": "), e.msg);
}

static void test_marks_are_written_with_the_refusal(void **state)
{
    struct marks m = {0};
    CLEANUP_FREE char *none = marks_write(&m);
    assert_string_equal(none, "{\"flag\":null,\"status\":null,\"group\":null,\"message\":null}");
    marks_set(&m.flag, "OK");
    marks_set(&m.flag, "Warning");
    marks_set(&m.group, "drifted");
    marks_set(&m.group, NULL);
    marks_set(&m.error, "status: \"no\"");
    m.is_pending = true;
    CLEANUP_FREE char *some = marks_write(&m);
    assert_string_equal(some, "{\"flag\":\"Warning\",\"status\":null,\"group\":null,\"message\":null,"
                              "\"pending\":true,\"error\":\"status: \\\"no\\\"\"}");
    marks_fini(&m);
    assert_null(m.flag);
    assert_false(m.is_pending);
}

static void test_texts_that_mean_the_same_are_equal(void **state)
{
    static const struct {
        const char *a, *b;
        bool is_equal;
    } cases[] = {{"null", "null", true},
                 {"{\"a\":1,\"b\":2}", "{ \"b\":2, \"a\":1 }", true},
                 {"{\"a\":1}", "{\"a\":2}", false},
                 {"{\"a\":1}", "null", false},
                 {"{", "{", true},
                 {"{", "{}", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(done_equal(cases[i].a, cases[i].b), cases[i].is_equal);
    assert_true(marks_equal(NULL, NULL));
    assert_false(marks_equal("", NULL));
    assert_false(marks_equal(NULL, ""));
    assert_false(marks_equal("a", "b"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_key_says_which_node_and_which_effect),
        cmocka_unit_test(test_a_drift_that_is_wanted_and_partly_done),
        cmocka_unit_test(test_an_absent_or_null_member_is_not_wanted),
        cmocka_unit_test(test_a_status_has_the_width_of_smds_column),
        cmocka_unit_test(test_a_reboot_has_its_boot_and_its_image),
        cmocka_unit_test(test_the_progress_of_a_reboot_is_read_as_it_was_written),
        cmocka_unit_test(test_a_malformed_record_is_refused_with_its_key),
        cmocka_unit_test(test_marks_are_written_with_the_refusal),
        cmocka_unit_test(test_texts_that_mean_the_same_are_equal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
