/* SPDX-License-Identifier: Apache-2.0 */
#include "check/trial_test.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void test_thermal(void **state)
{
    struct trial *t = *state;
    trial_begins(t, "Probe=thermal", "unsupported");
    trial_add(t, "sys/class/thermal/thermal_zone0/temp", "45000\n");
    trial_add(t, "sys/class/thermal/thermal_zone0/trip_point_0_type", "passive\n");
    trial_add(t, "sys/class/thermal/thermal_zone0/trip_point_0_temp", "30000\n");
    trial_add(t, "sys/class/thermal/thermal_zone0/trip_point_1_type", "critical\n");
    trial_add(t, "sys/class/thermal/thermal_zone0/trip_point_1_temp", "90000\n");
    trial_add(t, "sys/class/hwmon/hwmon0/name", "nvme\n");
    trial_add(t, "sys/class/hwmon/hwmon0/temp1_input", "60000\n");
    trial_add(t, "sys/class/hwmon/hwmon0/temp1_max", "70000\n");
    trial_add(t, "sys/class/hwmon/hwmon0/temp1_crit", "80000\n");
    trial_expect(t, "Probe=thermal", "ok");
    trial_add(t, "sys/class/hwmon/hwmon0/temp1_input", "71000\n");
    trial_expect(t, "Probe=thermal",
                 "warn sensor hwmon0/nvme/temp1: 71 degrees Celsius, and its high limit is 70");
    trial_add(t, "sys/class/thermal/thermal_zone0/temp", "95000\n");
    trial_add(t, "sys/class/hwmon/hwmon0/temp1_input", "rubbish\n");
    trial_expect(t, "Probe=thermal",
                 "fatal sensor thermal_zone0: 95 degrees Celsius, and its critical limit is 90");
    trial_add(t, "sys/class/thermal/thermal_zone0/trip_point_1_temp", "-274000\n"); /* no limit */
    trial_expect(t, "Probe=thermal", "ok");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TRIAL(test_thermal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
