/* SPDX-License-Identifier: Apache-2.0 */
#include "survey/machine_test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const struct survey_conf NOTHING;

static int hanging_driver(void *arg, const char *interface, char driver[static 33], char version[static 33],
                          char firmware[static 33])
{
    while (strcmp(interface, "eno1") == 0)
        pause();
    return machine_calls.driver(arg, interface, driver, version, firmware);
}

static void a_card_that_hangs_leaves_its_firmware_unknown(void **state)
{
    const struct survey_calls calls = {.driver = hanging_driver, .timeout = span_ms(300)};
    struct components c = {0};
    machine_add(*state, "gpu.tree");
    machine_survey_as(*state, "gx007", &NOTHING, &calls, &c);
    assert_string_equal(machine_say(&c, "nic.0000:5e:00.0.firmware"), "? no answer within 300ms");
    assert_string_equal(machine_say(&c, "nic.0000:5e:00.0.driver"), "ixgbe");
    assert_string_equal(machine_say(&c, "nic.0000:3b:00.0.firmware"), "28.41.1000 (MT_0000000838)");
    components_fini(&c);
}

static int some_driver(void *arg, const char *interface, char driver[static 33], char version[static 33],
                       char firmware[static 33])
{
    if (strcmp(interface, "a0") == 0)
        return -EOPNOTSUPP;
    if (strcmp(interface, "b0") == 0)
        return -EIO;
    snprintf(driver, 33, "drv");
    snprintf(version, 33, "%s", (const char *)arg);
    snprintf(firmware, 33, "N/A");
    return 0;
}

static void expect_card(const struct tree *t, const char *version, const char *name, const char *want)
{
    char copy[33];
    snprintf(copy, sizeof copy, "%s", version);
    const struct survey_calls calls = {.arg = copy, .driver = some_driver};
    struct components c = {0};
    machine_survey_as(t, "gx007", &NOTHING, &calls, &c);
    assert_string_equal(machine_say(&c, name), want);
    components_fini(&c);
}

static void test_answers_of_drivers(void **state)
{
    struct tree *t = *state;
    static const char *const cards[] = {"a0", "b0", "c0"};
    for (size_t i = 0; i < 3; i++) {
        char path[64];
        snprintf(path, sizeof path, "sys/class/net/%s/device/uevent", cards[i]);
        tree_add(t, path, "DRIVER=x\n");
    }
    tree_add(t, "proc/sys/kernel/osrelease", "5.14.0-503.11.1.el9_5.x86_64.long\n");
    expect_card(t, "1", "nic.count", "3");
    expect_card(t, "1", "nic.a0.version", "-");
    expect_card(t, "1", "nic.b0.version", "? Input/output error");
    expect_card(t, "1", "nic.b0.firmware", "? Input/output error");
    expect_card(t, "1", "nic.c0.firmware", "-");
    expect_card(t, "1.2.3", "nic.c0.version", "1.2.3");
    expect_card(t, "", "nic.c0.version", "-");
    expect_card(t, "5.14.0-503.11.1.el9_5.x86_64.lo", "nic.c0.version", "in-tree"); /* cut to 31 bytes */
    expect_card(t, "5.14.0-503.11.1.el9_5.x86_64.l", "nic.c0.version", "5.14.0-503.11.1.el9_5.x86_64.l");
}

static void test_a_class_that_cannot_be_read_is_unknown(void **state)
{
    tree_add(*state, "sys/class/net@", "net");
    machine_expect(*state, "nic.*", "? /sys/class/net: Too many levels of symbolic links");
    machine_expect(*state, "nic.count", "-");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TREE(a_card_that_hangs_leaves_its_firmware_unknown),
        IN_TREE(test_answers_of_drivers),
        IN_TREE(test_a_class_that_cannot_be_read_is_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
