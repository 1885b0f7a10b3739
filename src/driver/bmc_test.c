/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "driver/power.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct bmcs *read_all(const char *text)
{
    struct err e = {0};
    struct bmcs *b = NULL;
    if (bmcs_parse("bmc.conf", text, strlen(text), &b, &e) < 0)
        fail_msg("%s", e.msg);
    return b;
}

static void test_a_record_is_read(void **state)
{
    struct bmcs *b =
        read_all("# comment\n"
                 "Nodes=lx[01-02] Driver=ipmi Address=bmc-{node}:623 User=admin PasswordFile=/s Cipher=3\n"
                 "Nodes=gx1 Driver=redfish Address=https://{node}.{node}/ User=u PasswordFile=/p "
                 "CaFile=/ca System=1\n"
                 "nodes=vm1 driver=SCRIPT run=\"/etc/power it\"\n");
    struct bmc one;
    assert_int_equal(b->n, 3);
    assert_null(bmcs_find(b, "lx03"));
    assert_null(bmcs_find(NULL, "lx01"));
    assert_ptr_equal(bmcs_find(b, "lx02"), &b->list[0]);
    bmc_copy(bmcs_find(b, "lx02"), "lx02", &one);
    assert_int_equal(one.driver, BMC_IPMI);
    assert_string_equal(one.address, "bmc-lx02:623");
    assert_string_equal(one.cipher, "3");
    bmc_fini(&one);
    bmc_copy(bmcs_find(b, "gx1"), "gx1", &one);
    assert_string_equal(one.address, "https://gx1.gx1/");
    assert_string_equal(one.ca_file, "/ca");
    assert_string_equal(one.system, "1");
    assert_string_equal(one.user, "u");
    bmc_fini(&one);
    assert_int_equal(b->list[2].driver, BMC_SCRIPT);
    assert_string_equal(b->list[2].run, "/etc/power it");
    bmcs_destroy(b);
}

static void refused(const char *line, const char *why)
{
    struct err e = {0};
    struct bmcs *b = NULL;
    assert_int_equal(bmcs_parse("bmc.conf", line, strlen(line), &b, &e), -22);
    assert_null(b);
    assert_string_equal(e.msg, why);
}

static void test_mistakes_are_said_with_their_line(void **state)
{
    refused("\nDriver=ipmi Address=a\n", "bmc.conf:2: Nodes is missing");
    refused("Nodes=a Address=a\n", "bmc.conf:1: Driver is none of ipmi, redfish, script");
    refused("Nodes=a Driver=x\n", "bmc.conf:1: Driver is none of ipmi, redfish, script");
    refused("Nodes=a Driver=ipmi\n", "bmc.conf:1: Driver=ipmi needs Address");
    refused("Nodes=a Driver=script\n", "bmc.conf:1: Driver=script needs Run");
    refused("Nodes=a Driver=script Run=x\n", "bmc.conf:1: Run: \"x\" is not an absolute path");
    refused("Nodes=a Driver=script Run=/x Address=a\n", "bmc.conf:1: Address is not for Driver=script");
    refused("Nodes=a Driver=ipmi Address=a Run=/x\n", "bmc.conf:1: Run is not for Driver=ipmi");
    refused("Nodes=a Driver=ipmi Address=a System=1\n",
            "bmc.conf:1: System and CaFile are not for Driver=ipmi");
    refused("Nodes=a Driver=ipmi Address=a Cipher=99\n",
            "bmc.conf:1: Cipher: \"99\" is not a number from 0 to 17");
    refused("Nodes=a Driver=redfish Address=https://a Cipher=3\n",
            "bmc.conf:1: Cipher is not for Driver=redfish");
    refused("Nodes=a Driver=redfish Address=bmc\n",
            "bmc.conf:1: Address: \"bmc\" is no URL like https://bmc-{node}");
    refused("Nodes=a Driver=ipmi Address=-v\n", "bmc.conf:1: Address: \"-v\" begins with a minus");
    refused("Nodes=a Driver=ipmi Address=a Nope=1\n", "bmc.conf:1: unknown key \"Nope\"");
    refused("Nodes=a[1-2] Driver=script Run=/x\nNodes=a2 Driver=script Run=/x\n",
            "bmc.conf:2: node \"a2\" has a BMC in an earlier line");
}

static void test_the_password_is_in_a_file_of_its_own(void **state)
{
    char path[] = "/tmp/fettle-bmc-XXXXXX";
    int fd = mkstemp(path);
    assert_int_equal(write(fd, "s3cret\n", 7), 7);
    close(fd);
    CLEANUP_TEXT struct text t = {0};
    assert_int_equal(bmc_password(&(struct bmc){.password_file = path}, &t, NULL), 0);
    assert_string_equal(t.s, "s3cret");
    unlink(path);
    assert_int_equal(bmc_password(&(struct bmc){.password_file = path}, &t, NULL), -2);
    path[0] = '\0';
    assert_int_equal(bmc_password(&(struct bmc){.password_file = path}, &t, NULL), 0);
    assert_int_equal(t.len, 6);
}

static void test_ipmi_tells_power_and_lock_of_a_chassis(void **state)
{
    (void)state;
    struct err e;
    bool is_on, is_locked;
    const char *open =
        "System Power         : off\nPower Overload       : false\nPower Interlock      : active\n";
    assert_int_equal(ipmi_read_chassis(open, &is_on, &is_locked, &e), 0);
    assert_true(!is_on && is_locked);
    const char *shut =
        "System Power         : on\nPower Interlock      : inactive\nFront-Panel Lockout  : active\n";
    assert_int_equal(ipmi_read_chassis(shut, &is_on, &is_locked, &e), 0);
    assert_true(is_on && !is_locked);
    assert_int_equal(ipmi_read_chassis("Power Interlock : active", &is_on, &is_locked, &e), -EPROTO);
    assert_int_equal(ipmi_read_chassis("", &is_on, &is_locked, &e), -EPROTO);
}

static void assert_watchdog(const char *text, const char *is)
{
    CLEANUP_FREE char *said = ipmi_read_watchdog(text);
    assert_true(is ? said && strcmp(said, is) == 0 : !said);
}

static void test_ipmi_tells_state_and_action_of_a_watchdog(void **state)
{
    (void)state;
    assert_watchdog("Watchdog Timer Use:     SMS/OS (0x44)\nWatchdog Timer Is:      Started/Running\n"
                    "Watchdog Timer Actions: Hard Reset (0x01)\nTimer Expiration Flags: 0x00\n"
                    "Present Countdown:      299 sec\n",
                    "Started/Running, action Hard Reset (0x01)");
    assert_watchdog("Watchdog Timer Is:      Stopped\nWatchdog Timer Action:  Power Cycle (0x03)\n"
                    "Timer Expiration Flags: (0x10)\n",
                    "Stopped, action Power Cycle (0x03), it expired: (0x10)");
    assert_watchdog("Watchdog Timer Is\nTimer Expiration Flags: 0x10\n", NULL);
    assert_watchdog("", NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ipmi_tells_power_and_lock_of_a_chassis),
        cmocka_unit_test(test_ipmi_tells_state_and_action_of_a_watchdog),
        cmocka_unit_test(test_a_record_is_read),
        cmocka_unit_test(test_mistakes_are_said_with_their_line),
        cmocka_unit_test(test_the_password_is_in_a_file_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
