/* SPDX-License-Identifier: Apache-2.0 */
#include "product/slurm.h"

#include "product/scene_test.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define NOTE(state, more) \
    "{\"id\":\"1\",\"claim\":\"1.1\",\"state\":\"" state "\",\"at\":\"5\",\"reservation\":false" more "}"

static void test_notes_about_a_hold(void **state)
{
    static const struct {
        const char *note, *sentence;
    } rows[] = {
        {NOTE("draining", ""), ""},
        {NOTE("reserved", ",\"refused\":true,\"reboot\":false,\"slurmctld\":\"now\",\"log\":\"1:2\","
                          "\"lost\":{\"reason\":\"mine\",\"how\":\"drain\"}"),
         ""},
        {NOTE("none", ""), "\"none\" is nothing in Slurm that this version knows"},
        {NOTE("dancing", ""), "\"dancing\" is nothing in Slurm that this version knows"},
        {NOTE("drained", ",\"refused\":1"), "\"refused\" is neither true nor false"},
        {NOTE("drained", ",\"slurmctld\":\"a\\tb\""), "slurmctld: a control character"},
        {NOTE("drained", ",\"log\":\"123456789012345678901234567890123456789012345678\""),
         "log: 48 bytes; it has 47 at most"},
        {NOTE("drained", ",\"lost\":{\"reason\":\"mine\"}"), "\"how\" is missing"},
        {"{\"claim\":\"\",\"state\":\"drained\",\"at\":\"x\",\"reservation\":false}",
         "at: \"x\" is not a number from 0 to 9223372036854775807"},
        {"{\"claim\":\"\",\"state\":\"drained\",\"at\":\"1\"}", "\"reservation\" is missing"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(record_refuses(PRODUCT_HOLD, rows[i].note), rows[i].sentence);
}

static void test_sentences_about_notes(void **state)
{
#define LOST ",\"lost\":{\"reason\":\"disk\",\"how\":\"drain\"}"
    static const struct {
        const char *was, *is, *sentence;
    } rows[] = {
        {NULL, NOTE("draining", ""), "Slurm: is to be drained"},
        {NULL, NOTE("drained", ""), "Slurm: drained"},
        {NULL, NOTE("foreign", ""), "Slurm: held by somebody else: Fettle leaves it as it is"},
        {NULL, NOTE("overridden", ""), "Slurm: a person took Fettle's drain back"},
        {NULL, NOTE("undraining", ""), "Slurm: Fettle's drain is being taken back"},
        {NULL, NOTE("reserved", ""), "Slurm: reserved for Fettle"},
        {NULL, NOTE("drained", ",\"refused\":true"), "Slurm: drained, its reservation deleted by a person"},
        {NOTE("undraining", ""), NULL, "Slurm: Fettle's drain is taken back"},
        {NOTE("foreign", ""), NULL, "Slurm: nothing of Fettle's is there"},
        {NOTE("overridden", ""), NULL, "Slurm: nothing of Fettle's is there"},
        {NOTE("drained", ""), NOTE("drained", LOST),
         "Slurm: drained; Fettle's write undid somebody's of that moment, which is to be put back: disk"},
        {NOTE("drained", LOST), NOTE("drained", LOST), "Slurm: drained"},
        {NOTE("drained", LOST), NOTE("foreign", ""),
         "Slurm: held by somebody else: Fettle leaves it as it is; somebody holds it again, after a write of "
         "Fettle's undid this: disk"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        record_says(PRODUCT_HOLD, rows[i].was, rows[i].is, rows[i].sentence);
    record_says(PRODUCT_HOLD, NULL, "{\"state\":\"reserved\",\"reservation\":true}",
                "Slurm: reserved for Fettle");
    record_says(PRODUCT_HOLD, NULL, "{\"state\":\"undraining\",\"reservation\":true}",
                "Slurm: Fettle's drain is being taken back, with a reservation for Fettle");
}

static void test_a_hold_stands(void **state)
{
    static const struct {
        const char *note;
        bool stands;
    } rows[] = {{NOTE("draining", ""), true},
                {NOTE("drained", ""), true},
                {NOTE("foreign", ""), false},
                {NOTE("overridden", ""), false},
                {NOTE("undraining", ""), true},
                {NOTE("reserved", ""), true},
                {NULL, false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CLEANUP_JSON json_t *o = object_of(rows[i].note);
        assert_int_equal(product_hold_stands(o), rows[i].stands);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_notes_about_a_hold),
        cmocka_unit_test(test_sentences_about_notes),
        cmocka_unit_test(test_a_hold_stands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
