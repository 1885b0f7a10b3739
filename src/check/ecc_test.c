/* SPDX-License-Identifier: Apache-2.0 */
#include "check/trial_test.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define MC "sys/devices/system/edac/mc/mc0/"

static void test_memory_ecc(void **state)
{
    struct trial *t = *state;
    trial_begins(t, "Probe=memory.ecc", "unsupported there is no /sys/devices/system/edac/mc");
    trial_add(t, MC "ce_count", "1000\n");
    trial_add(t, MC "ue_count", "5\n");
    trial_expect(t, "Probe=memory.ecc", "ok"); /* the baseline, however high */
    trial_add(t, MC "ce_count", "1009\n");
    trial_expect(t, "Probe=memory.ecc", "ok");
    trial_add(t, MC "ce_count", "1010\n");
    trial_expect(t, "Probe=memory.ecc", "warn memory mc0: 10 corrected errors within 1d00h, of at most 9");
    trial_add(t, MC "ce_count", "1110\n");
    trial_begins(t, "Probe=memory.ecc", "degraded memory mc0: 110 corrected errors within an hour");
    trial_add(t, MC "ue_count", "6\n");
    trial_begins(t, "Probe=memory.ecc", "fatal memory mc0: 1 uncorrected errors within");
    trial_add(t, MC "ue_count", "rubbish\n");
    trial_begins(t, "Probe=memory.ecc", "unknown the counters of mc0");
}

static void test_memory_ecc_names_the_module(void **state)
{
    struct trial *t = *state;
    trial_add(t, MC "ce_count", "0\n");
    trial_add(t, MC "ue_count", "0\n");
    trial_add(t, MC "ce_noinfo_count", "0\n");
    trial_add(t, MC "ue_noinfo_count", "0\n");
    trial_add(t, MC "dimm3/dimm_ce_count", "0\n");
    trial_add(t, MC "dimm3/dimm_ue_count", "0\n");
    trial_add(t, MC "dimm3/dimm_label", "CPU_SrcID#0_Channel#1_DIMM#0\n");
    trial_expect(t, "Probe=memory.ecc", "ok");
    trial_add(t, MC "dimm3/dimm_ue_count", "2\n");
    trial_add(t, MC "ue_count", "2\n");
    trial_expect(t, "Probe=memory.ecc Window=1h",
                 "fatal memory mc0/dimm3: 2 uncorrected errors within 1h00m in CPU_SrcID#0_Channel#1_DIMM#0");
    trial_add(t, MC "dimm3/dimm_ue_count", "0\n"); /* a reset is no error */
    trial_forget(t);
    trial_expect(t, "Probe=memory.ecc", "ok");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TRIAL(test_memory_ecc),
        IN_TRIAL(test_memory_ecc_names_the_module),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
