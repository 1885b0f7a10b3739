/* SPDX-License-Identifier: Apache-2.0 */
/*
 * IPMI with a program of the test in ipmitool's place: a state, which it prints as ipmitool does, and a log
 * of what it was asked. What a BMC itself does is tested in test/power, with ipmi_sim.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text.h"
#include "driver/power.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- what ipmitool prints -------------------------------------------------------------------- */

static const char CHASSIS[] = "System Power         : on\n"
                              "Power Overload       : false\n"
                              "Power Interlock      : inactive\n"
                              "Last Power Event     : command\n";

static void test_a_chassis_says_where_its_power_is(void **state)
{
    bool is_on = false, is_locked = true;
    assert_int_equal(ipmi_read_chassis(CHASSIS, &is_on, &is_locked, NULL), 0);
    assert_true(is_on);
    assert_false(is_locked);
    assert_int_equal(
        ipmi_read_chassis("Power Interlock : active\r\nSystem Power : off\r\n", &is_on, &is_locked, NULL), 0);
    assert_false(is_on);
    assert_true(is_locked);
}

static void test_a_chassis_that_does_not_say_it(void **state)
{
    static const char *const texts[] = {"",
                                        "System Power",
                                        "System Power         : unknown\n",
                                        "The System Power         : on\n",
                                        "System Power State   : on\n",
                                        "Last Power Event     : System Power : on\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct err e = {0};
        bool is_on, is_locked;
        assert_int_equal(ipmi_read_chassis(texts[i], &is_on, &is_locked, &e), -EPROTO);
        assert_string_equal(e.msg, "ipmitool does not say whether the power is on");
    }
}

static void assert_watchdog(const char *text, const char *line)
{
    CLEANUP_FREE char *read = ipmi_read_watchdog(text);
    if (line)
        assert_string_equal(read, line);
    else
        assert_null(read);
}

static void test_a_watchdog_is_one_line(void **state)
{
    assert_watchdog("Watchdog Timer Use:     SMS/OS (0x44)\n"
                    "Watchdog Timer Is:      Started/Running\n"
                    "Watchdog Timer Actions: Hard Reset (0x01)\n"
                    "Timer Expiration Flags: 0x00\n"
                    "Present Countdown:      41 sec\n",
                    "Started/Running, action Hard Reset (0x01)");
    assert_watchdog("Watchdog Timer Is:      Stopped\nWatchdog Timer Action: No action (0x00)\n"
                    "Timer Expiration Flags: (0x10)\n",
                    "Stopped, action No action (0x00), it expired: (0x10)");
    assert_watchdog("Watchdog Timer Is: Stopped\nTimer Expiration Flags: (0x00)\n", "Stopped");
    assert_watchdog("Watchdog Timer Is: Stopped\nTimer Expiration Flags: None\n", "Stopped");
    assert_watchdog("Watchdog Timer Actions: Hard Reset (0x01)\n", NULL);
    assert_watchdog("", NULL);
}

/* --- a BMC ----------------------------------------------------------------------------------- */

struct world {
    uv_loop_t loop;
    char dir[40], *path;
    char *answer;
    struct err why;
    unsigned n_done;
    struct bmc bmc;
};

static void write_file(const struct world *w, const char *name, const char *text, mode_t mode)
{
    char path[64];
    snprintf(path, sizeof path, "%s/%s", w->dir, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(chmod(path, mode), 0);
}

static void remove_file(const struct world *w, const char *name)
{
    char path[64];
    snprintf(path, sizeof path, "%s/%s", w->dir, name);
    unlink(path);
}

/* The lines that ipmitool was called with, from the first word of its command on. */
static const char *read_calls(const struct world *w)
{
    static char calls[4096];
    char path[64];
    snprintf(path, sizeof path, "%s/calls", w->dir);
    FILE *f = fopen(path, "r");
    calls[f ? fread(calls, 1, sizeof calls - 1, f) : 0] = '\0';
    if (f)
        fclose(f);
    return calls;
}

static void on_done(void *arg, const char *answer, const struct err *why)
{
    struct world *w = arg;
    w->n_done++;
    w->answer = mem_dup(answer);
    w->why = why ? *why : (struct err){0};
}

/* The last call whole, behind the password that it was given. */
static const char *read_last(const struct world *w)
{
    static char last[400];
    char path[64];
    snprintf(path, sizeof path, "%s/last", w->dir);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    assert_non_null(fgets(last, sizeof last, f));
    fclose(f);
    return last;
}

/* Does it to the end; the calls so far are forgotten. */
static void do_verb(struct world *w, enum verb verb)
{
    free(w->answer);
    w->answer = NULL;
    w->n_done = 0;
    write_file(w, "calls", "", 0600);
    power_start(&w->loop, &w->bmc, "lx01", verb, on_done, w);
    uv_run(&w->loop, UV_RUN_DEFAULT);
    assert_int_equal(w->n_done, 1);
}

static int setup(void **state)
{
    static const char tool[] =
        "#!/bin/sh\n"
        "cd \"${0%/*}\"\n"
        "all=\"$*\"\n"
        "while [ $# -gt 0 ] && [ \"$1\" != chassis ] && [ \"$1\" != mc ] && [ \"$1\" != sel ]; do shift; "
        "done\n"
        "echo \"$*\" >>calls\n"
        "echo \"$IPMITOOL_PASSWORD $all\" >last\n"
        "[ ! -f broken ] || { cat broken; exit 1; }\n"
        "case \"$1 $2\" in\n"
        "'chassis status') echo \"System Power : $(cat power)\"; cat more 2>/dev/null; exit 0;;\n"
        "'chassis power') case $3 in off) echo off >power;; on | cycle | reset) echo on >power;; esac;;\n"
        "'mc watchdog') cat watchdog;;\n"
        "'sel list') cat sel;;\n"
        "esac\n";
    struct world *w = mem_alloc(sizeof *w);
    *w = (struct world){.dir = "/tmp/fettle-ipmi-XXXXXX"};
    uv_loop_init(&w->loop);
    assert_non_null(mkdtemp(w->dir));
    write_file(w, "ipmitool", tool, 0700);
    write_file(w, "power", "on\n", 0600);
    write_file(w, "password", "secret\n", 0600);
    w->path = mem_dup(getenv("PATH"));
    CLEANUP_TEXT struct text path = {0}, password = {0};
    text_printf(&path, "%s:%s", w->dir, w->path);
    setenv("PATH", path.s, 1);
    text_printf(&password, "%s/password", w->dir);
    w->bmc = (struct bmc){.driver = BMC_IPMI,
                          .address = mem_dup("{node}-bmc"),
                          .user = mem_dup("admin"),
                          .password_file = mem_dup(password.s),
                          .cipher = mem_dup(""),
                          .ca_file = mem_dup(""),
                          .system = mem_dup(""),
                          .run = mem_dup("")};
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;
    static const char *const files[] = {"ipmitool", "power",    "password", "calls", "last",
                                        "more",     "watchdog", "sel",      "broken"};
    setenv("PATH", w->path, 1);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        remove_file(w, files[i]);
    assert_int_equal(rmdir(w->dir), 0);
    bmc_fini(&w->bmc);
    assert_int_equal(uv_loop_close(&w->loop), 0);
    free(w->answer);
    free(w->path);
    free(w);
    return 0;
}

static void test_status_is_one_look(void **state)
{
    struct world *w = *state;
    do_verb(w, VERB_STATUS);
    assert_string_equal(w->answer, "on");
    assert_string_equal(read_calls(w), "chassis status\n");
    write_file(w, "power", "off\n", 0600);
    do_verb(w, VERB_STATUS);
    assert_string_equal(w->answer, "off");
    assert_string_equal(read_last(w),
                        "secret -I lanplus -N 2 -R 3 -H lx01-bmc -p 623 -U admin -E chassis status\n");
}

static void test_a_port_and_a_cipher(void **state)
{
    struct world *w = *state;
    free(w->bmc.address);
    free(w->bmc.cipher);
    w->bmc.address = mem_dup("127.0.0.1:9001");
    w->bmc.cipher = mem_dup("17");
    do_verb(w, VERB_STATUS);
    assert_non_null(strstr(read_last(w), "-H 127.0.0.1 -p 9001 -U admin -E -C 17 chassis status"));
}

/* What is written as an address of IPv6 has no port. */
static void test_an_address_of_colons(void **state)
{
    struct world *w = *state;
    free(w->bmc.address);
    w->bmc.address = mem_dup("fd00::1");
    do_verb(w, VERB_STATUS);
    assert_non_null(strstr(read_last(w), "-H fd00::1 -p 623 "));
}

static void test_the_chassis_is_read_after_a_command(void **state)
{
    struct world *w = *state;
    do_verb(w, VERB_OFF);
    assert_string_equal(w->answer, "off");
    assert_string_equal(read_calls(w), "chassis status\nchassis power off\nchassis status\n");
}

/* Most BMCs refuse to cycle a node that is off. */
static void test_a_node_that_is_off_is_switched_on(void **state)
{
    struct world *w = *state;
    write_file(w, "power", "off\n", 0600);
    do_verb(w, VERB_CYCLE);
    assert_string_equal(w->answer, "on");
    assert_string_equal(read_calls(w), "chassis status\nchassis power on\nchassis status\n");
    do_verb(w, VERB_RESET);
    assert_string_equal(read_calls(w), "chassis status\nchassis power reset\nchassis status\n");
}

static void test_the_network_is_its_next_boot(void **state)
{
    struct world *w = *state;
    do_verb(w, VERB_NETBOOT);
    assert_string_equal(w->answer, "on");
    assert_string_equal(read_calls(w),
                        "chassis status\nchassis bootdev pxe\nchassis power cycle\nchassis status\n");
}

static void test_an_interlock_is_left_alone(void **state)
{
    struct world *w = *state;
    write_file(w, "more", "Power Interlock : active\n", 0600);
    do_verb(w, VERB_CYCLE);
    assert_null(w->answer);
    assert_int_equal(w->why.code, -EBUSY);
    assert_string_equal(
        w->why.msg,
        "the BMC says that its power interlock is active: its chassis is open, or locked by hand");
    assert_string_equal(read_calls(w), "chassis status\n");
    do_verb(w, VERB_STATUS); /* to ask is no harm */
    assert_string_equal(w->answer, "on");
}

/* The look goes on where a BMC has no watchdog, or no log. */
static void test_a_look_asks_for_all(void **state)
{
    struct world *w = *state;
    write_file(w, "watchdog", "Watchdog Timer Is: Stopped\n", 0600);
    write_file(w, "sel", "1 | Fan | Lower Critical\n", 0600);
    do_verb(w, VERB_LOOK);
    assert_string_equal(w->answer, "on");
    assert_string_equal(read_calls(w), "chassis status\nmc watchdog get\nsel list last 5\n");
    remove_file(w, "watchdog");
    do_verb(w, VERB_LOOK);
    assert_string_equal(w->answer, "on");
    assert_string_equal(read_calls(w), "chassis status\nmc watchdog get\nsel list last 5\n");
}

static void test_a_tool_that_fails_says_why(void **state)
{
    struct world *w = *state;
    write_file(w, "broken", "Error: Unable to establish IPMI v2 / RMCP+ session\n", 0600);
    do_verb(w, VERB_CYCLE);
    assert_null(w->answer);
    assert_true(w->why.code < 0);
    assert_string_equal(read_calls(w), "chassis status\n");
}

static void test_a_power_that_is_not_said(void **state)
{
    struct world *w = *state;
    write_file(w, "power", "somewhere\n", 0600);
    do_verb(w, VERB_OFF);
    assert_int_equal(w->why.code, -EPROTO);
    assert_string_equal(read_calls(w), "chassis status\n");
}

static void test_a_password_file_that_is_gone(void **state)
{
    struct world *w = *state;
    remove_file(w, "password");
    do_verb(w, VERB_STATUS);
    assert_true(w->why.code < 0);
    assert_string_equal(read_calls(w), "");
}

static void test_a_cancelled_one_calls_nobody(void **state)
{
    struct world *w = *state;
    power_cancel(power_start(&w->loop, &w->bmc, "lx01", VERB_CYCLE, on_done, w));
    uv_run(&w->loop, UV_RUN_DEFAULT);
    assert_int_equal(w->n_done, 0);
    power_cancel(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_chassis_says_where_its_power_is),
        cmocka_unit_test(test_a_chassis_that_does_not_say_it),
        cmocka_unit_test(test_a_watchdog_is_one_line),
        cmocka_unit_test_setup_teardown(test_status_is_one_look, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_port_and_a_cipher, setup, teardown),
        cmocka_unit_test_setup_teardown(test_an_address_of_colons, setup, teardown),
        cmocka_unit_test_setup_teardown(test_the_chassis_is_read_after_a_command, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_node_that_is_off_is_switched_on, setup, teardown),
        cmocka_unit_test_setup_teardown(test_the_network_is_its_next_boot, setup, teardown),
        cmocka_unit_test_setup_teardown(test_an_interlock_is_left_alone, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_look_asks_for_all, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_tool_that_fails_says_why, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_power_that_is_not_said, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_password_file_that_is_gone, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_cancelled_one_calls_nobody, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
