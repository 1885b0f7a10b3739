/* SPDX-License-Identifier: Apache-2.0 */
#include "check/trial_test.h"

#include <errno.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static int clock_of_test(void *arg, struct timex *out)
{
    *out = *(struct timex *)arg;
    return out->status & STA_UNSYNC ? TIME_ERROR : TIME_OK;
}

static int no_clock(void *arg, struct timex *out)
{
    return -EPERM;
}

static void test_time(void **state)
{
    struct trial *t = *state;
    struct timex clock = {.offset = 400, .esterror = 100};
    struct look_calls calls = {.arg = &clock, .clock = clock_of_test};
    t->calls = &calls;
    trial_expect(t, "Probe=time", "ok");
    clock.offset = -600000; /* µs */
    trial_expect(t, "Probe=time", "degraded clock: wrong by 600 ms, of at most 500 ms");
    clock.status = STA_NANO;
    trial_expect(t, "Probe=time", "ok");
    clock.esterror = 3000000;
    trial_expect(t, "Probe=time", "fatal clock: wrong by 3000 ms, of at most 2000 ms");
    trial_expect(t, "Probe=time Fatal=4s Offset=4s", "ok");
    clock.esterror = 16000000; /* whoever sets the clock does not estimate */
    trial_expect(t, "Probe=time", "ok");
    calls.clock = no_clock;
    trial_expect(t, "Probe=time", "unknown adjtimex: Operation not permitted");
}

static void test_time_that_nobody_sets(void **state)
{
    struct trial *t = *state;
    struct timex clock = {.status = STA_UNSYNC, .esterror = 16000000};
    struct look_calls calls = {.arg = &clock, .clock = clock_of_test};
    t->calls = &calls;
    trial_add(t, "usr/sbin/chronyd", "x");
    trial_begins(t, "Probe=time", "warn clock: the kernel says that it is not synchronised");
    t->now_s += 3600;
    trial_begins(t, "Probe=time", "warn clock: the kernel says that it is not synchronised, for 1h01m");
    trial_begins(t, "Probe=time Unsynced=1h", "degraded clock: the kernel says that it is not synchronised");
    clock.status = 0;
    clock.esterror = 0;
    trial_expect(t, "Probe=time", "ok");
    clock.status = STA_UNSYNC; /* it begins anew */
    trial_begins(t, "Probe=time Unsynced=1h", "warn clock: the kernel says that it is not synchronised");
}

/* An hour wrong and not synchronised is no warning, whatever the kernel estimates. */
static void test_time_of_the_controller(void **state)
{
    struct trial *t = *state;
    struct timex clock = {.status = STA_UNSYNC, .time = {.tv_sec = 1800003600}};
    struct look_calls calls = {.arg = &clock, .clock = clock_of_test};
    const struct look_clock controller = {{INT64_C(1800000000) * 1000000000}, {(t->now_s + 60) * 1000000000}};
    t->calls = &calls;
    t->clock = &controller;
    trial_add(t, "usr/sbin/chronyd", "x");
    trial_expect(
        t, "Probe=time",
        "fatal clock: 1h00m ahead of the controller's, and the kernel says that it is not synchronised");
    clock.time.tv_sec = 1800000060 + 5;
    trial_begins(t, "Probe=time", "warn clock: the kernel says that it is not synchronised");
    clock.status = 0;
    clock.time.tv_sec = 1800000120 - 7200;
    trial_expect(t, "Probe=time", "warn clock: 2h00m behind the controller's: one of them is wrong");
    clock.time.tv_sec = 1800000180;
    trial_expect(t, "Probe=time", "ok");
}

static void test_time_of_this_machine(void **state)
{
    const char *said = trial_look(*state, "Probe=time");
    assert_true(strncmp(said, "unknown", 7) == 0 || strncmp(said, "unsupported", 11) == 0 ||
                strncmp(said, "ok", 2) == 0 || strstr(said, "clock: "));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TRIAL(test_time),
        IN_TRIAL(test_time_that_nobody_sets),
        IN_TRIAL(test_time_of_the_controller),
        IN_TRIAL(test_time_of_this_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
