/* SPDX-License-Identifier: Apache-2.0 */
#include "node/machine.h"

#include "base/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define UUID "4c4c4544-0039-3510-8052-b4c04f4e3332"

/* Of a DMI with ' for ". */
static struct machine of(const char *dmi)
{
    CLEANUP_FREE char *text = mem_dup(dmi);
    for (char *p = text; *p; p++)
        *p = *p == '\'' ? '"' : *p;
    CLEANUP_JSON json_t *inventory = json_pack("{s:o}", "DMI", json_read(text, strlen(text), NULL));
    struct machine m;
    machine_read(inventory, &m);
    return m;
}

static void expect(const char *dmi, const char *name)
{
    struct machine m = of(dmi);
    const char *is = machine_surest(&m);
    if (name ? !is || strcmp(is, name) != 0 : is != NULL)
        fail_msg("%s is \"%s\"", dmi, is ? is : "unknown");
    machine_fini(&m);
}

static void test_the_surest_name_is_told(void **state)
{
    expect("{'uuid':'" UUID "','serial':'ABC1234','board_serial':'XY12'}", "uuid " UUID);
    expect("{'serial':' ABC1234 ','board_serial':'XY12'}", "serial ABC1234");
    expect("{'board_serial':'XY12'}", "board XY12");
    expect("{'uuid':'4C4C4544-0039-3510-8052-B4C04F4E3332'}", "uuid " UUID);
    expect("{}", NULL);
    struct machine none;
    machine_read(NULL, &none);
    assert_null(machine_surest(&none));
}

static void test_placeholders_of_vendors_are_unknown(void **state)
{
    static const char *const serials[] = {"To Be Filled By O.E.M.",
                                          "TO BE FILLED BY O.E.M.",
                                          "Default string",
                                          "Not Specified",
                                          "System Serial Number",
                                          "0123456789",
                                          "0000000000",
                                          "00000000-0000",
                                          "FFFFFFFF",
                                          "..........",
                                          "None",
                                          "   ",
                                          "",
                                          "12",
                                          "caf\xc3\xa9-1234"};
    for (size_t i = 0; i < sizeof serials / sizeof serials[0]; i++) {
        CLEANUP_TEXT struct text t = {0};
        text_printf(&t, "{'serial':'%s','board_serial':'%s'}", serials[i], serials[i]);
        expect(t.s, NULL);
    }
    expect("{'uuid':'03000200-0400-0500-0006-000700080009'}", NULL);
    expect("{'uuid':'00000000-0000-0000-0000-000000000000'}", NULL);
    expect("{'uuid':'FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF'}", NULL);
    expect("{'uuid':'Not Settable'}", NULL);
    expect("{'uuid':'4c4c4544-0039-3510-8052-b4c04f4e33'}", NULL);
    expect("{'uuid':'4c4c4544-0039-3510-8052-b4c04f4e333g'}", NULL);
    expect("{'uuid':7,'serial':{},'board_serial':null}", NULL);
    expect("{'serial':'123456789012345678901234567890123456789012345678901234567890123456789012345678'}",
           NULL);
}

static void test_whether_it_is_the_same(void **state)
{
    struct machine m = of("{'uuid':'" UUID "','board_serial':'XY12'}");
    assert_int_equal(machine_is(&m, "uuid " UUID), MACHINE_IS_SAME);
    assert_int_equal(machine_is(&m, "uuid 4c4c4544-0039-3510-8052-b4c04f4e3333"), MACHINE_IS_ANOTHER);
    assert_int_equal(machine_is(&m, "board XY12"), MACHINE_IS_SAME);
    assert_int_equal(machine_is(&m, "board XY13"), MACHINE_IS_ANOTHER);
    assert_int_equal(machine_is(&m, "serial ABC1234"), MACHINE_IS_UNKNOWN); /* it has none now */
    assert_int_equal(machine_is(&m, "something"), MACHINE_IS_UNKNOWN);
    machine_fini(&m);
}

static void test_names(void **state)
{
    assert_true(machine_name_ok("uuid " UUID));
    assert_true(machine_name_ok("serial ABC 1234"));
    assert_true(machine_name_ok("board XY12"));
    assert_false(machine_name_ok("uuid 4c4c4544"));
    assert_true(machine_name_ok("serial Default string")); /* as an earlier version wrote it down */
    assert_false(machine_name_ok("serial a\tb"));
    assert_false(machine_name_ok("ABC1234"));
    assert_false(machine_name_ok(""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_surest_name_is_told),
        cmocka_unit_test(test_placeholders_of_vendors_are_unknown),
        cmocka_unit_test(test_whether_it_is_the_same),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
