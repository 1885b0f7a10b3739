/* SPDX-License-Identifier: Apache-2.0 */
#include "check/trial_test.h"

#include <stdio.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void add_link(struct trial *t, const char *class, const char *width)
{
    trial_add(t, "sys/devices/pci0/max_link_width", "16\n");
    trial_add(t, "sys/devices/pci0/max_link_speed", "16.0 GT/s PCIe\n");
    trial_add(t, "sys/devices/pci0/0000:9b:00.0/class", class);
    trial_add(t, "sys/devices/pci0/0000:9b:00.0/current_link_width", width);
    trial_add(t, "sys/devices/pci0/0000:9b:00.0/max_link_width", "16\n");
    trial_add(t, "sys/devices/pci0/0000:9b:00.0/current_link_speed", "2.5 GT/s PCIe\n");
    trial_add(t, "sys/devices/pci0/0000:9b:00.0/max_link_speed", "32.0 GT/s PCIe\n");
}

static void test_pcie_link(void **state)
{
    struct trial *t = *state;
    trial_begins(t, "Probe=pcie.link", "unsupported");
    trial_add(t, "sys/bus/pci/devices/0000:9b:00.0@", "../../../devices/pci0/0000:9b:00.0");
    add_link(t, "0x030200\n", "16\n");
    trial_expect(t, "Probe=pcie.link", "ok");
    trial_expect(t, "Probe=pcie.link Speed=yes",
                 "degraded gpu 0000:9b:00.0: its PCIe link runs at 2500 MT/s, of 16000");
    add_link(t, "0x030200\n", "8\n");
    trial_expect(t, "Probe=pcie.link", "fatal gpu 0000:9b:00.0: its PCIe link has 8 lanes, of 16");
    trial_add(t, "sys/devices/pci0/max_link_width", "8\n"); /* a narrow slot */
    trial_expect(t, "Probe=pcie.link", "ok");
    add_link(t, "0x030200\n", "8\n");
    trial_add(t, "sys/devices/pci0/0000:9b:00.0/power_state", "D3cold\n");
    trial_expect(t, "Probe=pcie.link", "ok");
    add_link(t, "0x060400\n", "8\n"); /* a bridge */
    trial_begins(t, "Probe=pcie.link", "unsupported");
    add_link(t, "0x030200\n", "rubbish\n");
    trial_begins(t, "Probe=pcie.link", "unsupported");
}

static void add_aer(struct trial *t, const char *file, const char *text)
{
    char path[96];
    snprintf(path, sizeof path, "sys/bus/pci/devices/0000:01:00.0/%s", file);
    trial_add(t, path, text);
}

static void test_pcie_aer(void **state)
{
    struct trial *t = *state;
    trial_begins(t, "Probe=pcie.aer", "unsupported");
    add_aer(t, "class", "0x030000\n");
    add_aer(t, "aer_dev_correctable", "RxErr 0\nTOTAL_ERR_COR 50000\n");
    add_aer(t, "aer_dev_nonfatal", "TOTAL_ERR_NONFATAL 3\n");
    add_aer(t, "aer_dev_fatal", "TOTAL_ERR_FATAL 1\n");
    trial_expect(t, "Probe=pcie.aer", "ok"); /* the baseline */
    add_aer(t, "aer_dev_correctable", "TOTAL_ERR_COR 70000\n");
    trial_expect(t, "Probe=pcie.aer",
                 "warn pci 0000:01:00.0: 2000 corrected PCIe errors a minute, of at most 1000");
    add_aer(t, "aer_dev_nonfatal", "TOTAL_ERR_NONFATAL 4\n");
    trial_begins(t, "Probe=pcie.aer", "warn pci 0000:01:00.0: 1 uncorrected PCIe errors");
    add_aer(t, "aer_dev_nonfatal", "TOTAL_ERR_NONFATAL 8\n");
    trial_begins(t, "Probe=pcie.aer", "degraded pci 0000:01:00.0: 5 uncorrected PCIe errors");
    add_aer(t, "aer_dev_fatal", "TOTAL_ERR_FATAL 2\n");
    trial_begins(t, "Probe=pcie.aer", "fatal pci 0000:01:00.0: 1 fatal PCIe errors");
    add_aer(t, "aer_dev_fatal", "nothing\n");
    trial_begins(t, "Probe=pcie.aer", "unknown aer_dev_fatal of 0000:01:00.0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TRIAL(test_pcie_link),
        IN_TRIAL(test_pcie_aer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
