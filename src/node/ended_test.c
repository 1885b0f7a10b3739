/* SPDX-License-Identifier: Apache-2.0 */
#include "node/ended.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct last_boot read_boot(const char *inventory)
{
    struct last_boot b;
    CLEANUP_JSON json_t *o = json_read(inventory, strlen(inventory), NULL);
    assert_non_null(o);
    last_boot_read(o, &b);
    return b;
}

static void test_an_inventory_says_how_it_ended(void **state)
{
    struct last_boot b =
        read_boot("{\"LastBoot\":{\"ended\":\"panic\",\"text\":\"Kernel panic\\nnot syncing\"}}");
    assert_true(b.known);
    assert_int_equal(b.ended, ENDED_PANIC);
    assert_string_equal(b.text, "Kernel panic not syncing");
}

static void test_an_end_that_is_not_said_is_unknown(void **state)
{
    static const char *const silent[] = {"{}",
                                         "{\"LastBoot\":null}",
                                         "{\"LastBoot\":\"panic\"}",
                                         "{\"LastBoot\":{\"text\":\"x\"}}",
                                         "{\"LastBoot\":{\"ended\":\"\"}}",
                                         "{\"LastBoot\":{\"ended\":7}}"};
    for (size_t i = 0; i < sizeof silent / sizeof *silent; i++) {
        struct last_boot b = read_boot(silent[i]);
        assert_false(b.known);
        assert_string_equal(b.text, "");
    }
}

static void test_a_name_of_a_newer_version(void **state)
{
    struct last_boot b = read_boot("{\"LastBoot\":{\"ended\":\"sunk\",\"text\":\"water\"}}");
    assert_true(b.known);
    assert_int_equal(b.ended, ENDED_UNKNOWN);
    assert_string_equal(b.text, "water");
}

static void test_a_long_text_is_cut(void **state)
{
    char inventory[400], words[300];
    memset(words, 'w', sizeof words - 1);
    words[sizeof words - 1] = '\0';
    snprintf(inventory, sizeof inventory, "{\"LastBoot\":{\"ended\":\"power\",\"text\":\"%s\"}}", words);
    struct last_boot b = read_boot(inventory);
    assert_int_equal(strlen(b.text), ENDED_TEXT_BYTES_MAX);
}

static void test_a_written_end_is_read(void **state)
{
    for (int d = 0; d < ENDEDS; d++) {
        struct last_boot b = {.known = true, .ended = (enum ended)d, .text = "why"}, back;
        CLEANUP_JSON json_t *o = json_pack("{s:o}", "LastBoot", last_boot_write(&b));
        last_boot_read(o, &back);
        assert_true(back.known);
        assert_int_equal(back.ended, d);
        assert_string_equal(back.text, "why");
    }
}

static void test_each_code_leads_to_its_row(void **state)
{
    enum ended found = ENDED_POWER;
    for (int d = 0; d < ENDEDS; d++) {
        assert_true(ended_of_code(ended_code((enum ended)d), &found));
        assert_int_equal(found, d);
    }
    found = ENDED_POWER;
    assert_false(ended_of_code("boot", &found));
    assert_int_equal(found, ENDED_POWER);
}

/* An end that somebody asked for stands for an hour, one of the node's own for a day. */
static void test_its_own_ends_stand_longer(void **state)
{
    assert_string_equal(ended_what(ENDED_PANIC), "its kernel panicked");
    assert_string_equal(ended_code(ENDED_ORDERLY), "reboot.orderly");
    for (int d = 0; d < ENDEDS; d++) {
        bool own = d != ENDED_ORDERLY && d != ENDED_OUTSIDE;
        assert_int_equal(ended_is_own((enum ended)d), own);
        assert_int_equal(ended_stands_h((enum ended)d), own ? 24 : 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_inventory_says_how_it_ended),
        cmocka_unit_test(test_an_end_that_is_not_said_is_unknown),
        cmocka_unit_test(test_a_name_of_a_newer_version),
        cmocka_unit_test(test_a_long_text_is_cut),
        cmocka_unit_test(test_a_written_end_is_read),
        cmocka_unit_test(test_each_code_leads_to_its_row),
        cmocka_unit_test(test_its_own_ends_stand_longer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
