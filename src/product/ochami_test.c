/* SPDX-License-Identifier: Apache-2.0 */
#include "product/ochami.h"

#include "product/scene_test.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* --- drift ------------------------------------------------------------------------------------ */

static const struct fingerprint expected = {{0x0a, 0xbc}}, actual = {{0x12, 0x34}};
static const struct product_drift drift = {.class = "gpu",
                                           .version = 3,
                                           .severity = SEVERITY_MAJOR,
                                           .components = "kernel.release, 2 more",
                                           .expected = &expected,
                                           .actual = &actual};

#define WANT                                                                                        \
    "\"want\":{\"flag\":\"Warning\",\"status\":\"drift:major:123400000000\",\"group\":\"drifted\"," \
    "\"message\":\"conformance_drift: baseline gpu 3: kernel.release, 2 more; "                     \
    "expected=list_0abc00000000, actual=list_123400000000\"}"
#define MARKS(more) "{\"flag\":\"Warning\",\"status\":\"s\",\"group\":\"g\",\"message\":\"m\"" more "}"

/* The record that tells the drift after `was`; NULL: it tells it already. */
static char *told(const char *was, const char *name)
{
    CLEANUP_JSON json_t *before = object_of(was), *o = object_of("{\"id\":\"7\"}");
    if (!product_tell_drift(o, before, name, &drift)) {
        assert_int_equal(json_object_size(o), 1);
        return NULL;
    }
    return json_write(o);
}

static void test_a_drift_is_told(void **state)
{
    CLEANUP_FREE char *first = told(NULL, "x1c0s0b0n1");
    assert_string_equal(first, "{\"id\":\"7\",\"xname\":\"x1c0s0b0n1\"," WANT ",\"done\":null}");
    assert_string_equal(record_refuses(PRODUCT_DRIFT, first), "");
    assert_null(told(first, "x1c0s0b0n1"));
    CLEANUP_FREE char *renamed = told(first, "x9");
    assert_string_equal(renamed, "{\"id\":\"7\",\"xname\":\"x9\"," WANT ",\"done\":null}");
}

/* A result under an earlier name is to be taken back there. */
static void test_a_result_keeps_its_name(void **state)
{
    CLEANUP_FREE char *is =
        told("{\"id\":\"6\",\"xname\":\"x1\",\"want\":null,\"done\":" MARKS("") "}", "x9");
    assert_string_equal(is, "{\"id\":\"7\",\"xname\":\"x1\"," WANT ",\"done\":" MARKS("") "}");
    assert_null(told(is, "x9"));
}

#define DRIFT_RECORD(want, done) "{\"id\":\"1\",\"xname\":\"x1\",\"want\":" want ",\"done\":" done "}"

static void test_records_of_a_drift(void **state)
{
    static const struct {
        const char *record, *sentence;
    } rows[] = {
        {DRIFT_RECORD("null", "null"), ""},
        {DRIFT_RECORD(MARKS(""), MARKS(",\"pending\":true")), ""},
        {DRIFT_RECORD("null",
                      "{\"flag\":null,\"status\":null,\"group\":null,\"message\":null,\"error\":\"e\"}"),
         ""},
        {"{\"id\":\"1\",\"want\":null,\"done\":null}", "\"xname\" is missing"},
        {"{\"xname\":\"x\",\"want\":null,\"done\":null,\"more\":1}", "unknown key \"more\""},
        {DRIFT_RECORD("7", "null"), "\"want\" is neither null nor an object"},
        {DRIFT_RECORD("null", "[]"), "\"done\" is neither null nor an object"},
        {DRIFT_RECORD("{\"flag\":null,\"status\":\"s\",\"group\":\"g\",\"message\":\"m\"}", "null"),
         "want: \"flag\" is not a string"},
        {DRIFT_RECORD("null", MARKS(",\"pending\":false")), "done: \"pending\" is not true"},
        {DRIFT_RECORD("null", MARKS(",\"error\":null")), "done: \"error\" is not a string"},
        {DRIFT_RECORD("null",
                      "{\"flag\":\"f\",\"status\":\"123456789012345678901234567890123\",\"group\":\"g\","
                      "\"message\":\"m\"}"),
         "done: a status of 33 bytes; it has 32 at most"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(record_refuses(PRODUCT_DRIFT, rows[i].record), rows[i].sentence);
    assert_non_null(
        strstr(record_refuses(PRODUCT_DRIFT, DRIFT_RECORD(MARKS(",\"pending\":true"), "null")), "pending"));
}

static void test_sentences_about_the_marks_of_a_drift(void **state)
{
    record_says(PRODUCT_DRIFT, NULL, DRIFT_RECORD("null", MARKS("")), "OpenCHAMI was told: s");
    record_says(PRODUCT_DRIFT, NULL, DRIFT_RECORD("null", "null"), "OpenCHAMI: taken back");
    record_says(PRODUCT_DRIFT, NULL, DRIFT_RECORD("null", MARKS(",\"pending\":true")),
                "OpenCHAMI is being told: s");
    record_says(PRODUCT_DRIFT, NULL, DRIFT_RECORD("null", MARKS(",\"error\":\"no group\"")),
                "OpenCHAMI was told: s: no group");
    record_says(PRODUCT_DRIFT, NULL, DRIFT_RECORD("null", "{\"status\":null,\"error\":\"no node\"}"),
                "OpenCHAMI was not told: no node");
}

static void test_marks_are_written_as_they_were_read(void **state)
{
    static const char *const texts[] = {MARKS(""), MARKS(",\"pending\":true"), MARKS(",\"error\":\"e\""),
                                        "{\"flag\":null,\"status\":null,\"group\":null,\"message\":null}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        CLEANUP_JSON json_t *o = object_of(texts[i]);
        struct marks m;
        assert_int_equal(marks_read(o, &m, NULL), 0);
        CLEANUP_FREE char *again = marks_write(&m);
        marks_fini(&m);
        assert_string_equal(again, texts[i]);
    }
}

/* --- reboots ---------------------------------------------------------------------------------- */

static void test_a_reboot_is_asked_for(void **state)
{
    char kernel[] = "http://boot/vmlinuz";
    const struct node_class none = {0}, with = {.kernel = kernel};
    CLEANUP_JSON json_t *plain = object_of("{\"id\":\"7\"}"), *image = object_of("{\"id\":\"7\"}");
    product_ask_reboot(plain, "x1", "b1", &none, json_pack("[s]", "7"));
    product_ask_reboot(image, "x1", "b1", &with, json_array());
    CLEANUP_FREE char *a = json_write(plain), *b = json_write(image);
    assert_string_equal(a, "{\"id\":\"7\",\"xname\":\"x1\",\"boot\":\"b1\",\"image\":null,\"times\":[\"7\"],"
                           "\"done\":null}");
    assert_string_equal(
        b, "{\"id\":\"7\",\"xname\":\"x1\",\"boot\":\"b1\",\"image\":{\"kernel\":"
           "\"http://boot/vmlinuz\",\"initrd\":null,\"params\":null},\"times\":[],\"done\":null}");
    assert_string_equal(record_refuses(PRODUCT_REBOOT, a), "");
    assert_string_equal(record_refuses(PRODUCT_REBOOT, b), "");
}

#define REBOOT(image, done) \
    "{\"id\":\"1\",\"xname\":\"x1\",\"boot\":null,\"image\":" image ",\"times\":[],\"done\":" done "}"

static void test_steps_of_a_reboot(void **state)
{
    static const struct {
        const char *done, *refusal, *said;
    } rows[] = {
        {"null", "", "reboot: not begun"},
        {"{\"step\":\"image\",\"id\":\"1\"}", "", "reboot: image"},
        {"{\"step\":\"asking\",\"after\":\"\"}", "", "reboot: asking"},
        {"{\"step\":\"asked\",\"transition\":\"t7\"}", "", "reboot: asked: t7"},
        {"{\"step\":\"completed\"}", "", "reboot: completed"},
        {"{\"step\":\"failed\",\"why\":\"no power\"}", "", "reboot: failed: no power"},
        {"{\"step\":\"refused\",\"why\":null}", "", "reboot: refused"},
        {"{\"step\":\"asking\",\"after\":null}", "\"after\" is not a string", NULL},
        {"{\"step\":\"asked\"}", "\"transition\" is missing", NULL},
        {"{\"step\":\"danced\"}", "\"danced\" is no step of a reboot that this version knows", NULL},
        {"{\"step\":\"\"}", "\"\" is no step of a reboot that this version knows", NULL},
        {"[]", "\"done\" is neither null nor an object", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CLEANUP_TEXT struct text record = {0};
        text_printf(&record, REBOOT("null", "%s"), rows[i].done);
        assert_string_equal(record_refuses(PRODUCT_REBOOT, record.s), rows[i].refusal);
        if (rows[i].said)
            record_says(PRODUCT_REBOOT, NULL, record.s, rows[i].said);
    }
    for (unsigned s = REBOOT_NONE; s < REBOOT_STEPS; s++)
        assert_int_equal(reboot_step_find(reboot_step_name((enum reboot_step)s)), s);
    assert_string_equal(record_refuses(PRODUCT_REBOOT, REBOOT("7", "null")),
                        "\"image\" is neither null nor an object");
    assert_string_equal(
        record_refuses(PRODUCT_REBOOT, REBOOT("{\"kernel\":7,\"initrd\":null,\"params\":null}", "null")),
        "\"kernel\" is not a string");
    assert_string_equal(record_refuses(PRODUCT_REBOOT, REBOOT("{\"kernel\":null,\"initrd\":null}", "null")),
                        "\"params\" is missing");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_drift_is_told),
        cmocka_unit_test(test_a_result_keeps_its_name),
        cmocka_unit_test(test_records_of_a_drift),
        cmocka_unit_test(test_sentences_about_the_marks_of_a_drift),
        cmocka_unit_test(test_marks_are_written_as_they_were_read),
        cmocka_unit_test(test_a_reboot_is_asked_for),
        cmocka_unit_test(test_steps_of_a_reboot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
