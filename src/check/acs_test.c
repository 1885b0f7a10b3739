/* SPDX-License-Identifier: Apache-2.0 */
#include "check/trial_test.h"

#include <stdio.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* A device with its way below the host bridge 16: the address is the way's last part. */
static void add_pci(struct trial *t, const char *way, const char *class)
{
    char path[160], to[160];
    const char *slash = strrchr(way, '/');
    snprintf(path, sizeof path, "sys/bus/pci/devices/%s@", slash ? slash + 1 : way);
    snprintf(to, sizeof to, "../../../devices/pci0000:16/%s", way);
    trial_add(t, path, to);
    snprintf(path, sizeof path, "sys/devices/pci0000:16/%s/class", way);
    trial_add(t, path, class);
    snprintf(path, sizeof path, "sys/devices/pci0000:16/%s/vendor", way);
    trial_add(t, path, "0x10de\n");
}

/* With this ACS control register, behind another capability. */
static void add_bridge(struct trial *t, const char *way, uint8_t control)
{
    char path[160];
    uint8_t config[0x150] = {[0x100] = 0x01, [0x102] = 0x81, [0x103] = 0x14,  /* AER, the next at 0x148 */
                             [0x148] = 0x0d, [0x14a] = 0x01, [0x14c] = 0x7f}; /* ACS, what it can */
    config[0x14e] = control;
    add_pci(t, way, "0x060400\n");
    snprintf(path, sizeof path, "sys/devices/pci0000:16/%s/config", way);
    tree_add_bytes(t->tree, path, config, sizeof config);
}

#define ROOT_PORT "0000:16:01.0"
#define SWITCH ROOT_PORT "/0000:17:00.0"
#define GPU_PORT SWITCH "/0000:18:00.0"
#define NIC_PORT SWITCH "/0000:18:01.0"
#define GPU GPU_PORT "/0000:19:00.0"
#define NIC NIC_PORT "/0000:1a:00.0"
#define NO_SWITCH "unsupported no GPU shares a PCIe switch with another one or an RDMA adapter"

static void test_acs(void **state)
{
    struct trial *t = *state;
    trial_begins(t, "Probe=pcie.acs", "unsupported there is no /sys/bus/pci/devices");
    add_bridge(t, ROOT_PORT, 0x1d); /* redirects: nobody's way leads through it */
    add_bridge(t, SWITCH, 0);
    add_bridge(t, GPU_PORT, 0x01); /* checks who sends */
    add_bridge(t, NIC_PORT, 0);
    add_pci(t, GPU, "0x030200\n");
    add_pci(t, NIC, "0x020000\n");
    trial_expect(t, "Probe=pcie.acs", NO_SWITCH);
    trial_add(t, "sys/devices/pci0000:16/" NIC "/infiniband/", "");
    trial_expect(t, "Probe=pcie.acs", "ok");
    static const uint8_t redirect[] = {0x04, 0x08, 0x20, 0x1d};
    for (size_t i = 0; i < sizeof redirect; i++) {
        trial_remove(t, "sys/bus/pci/devices/0000:18:01.0");
        add_bridge(t, NIC_PORT, redirect[i]);
        trial_expect(t, "Probe=pcie.acs",
                     "degraded pcie: 1 of 2 switch ports between GPUs and RDMA adapters redirect what these "
                     "send each other to the root complex (ACS); one is 0000:18:01.0");
    }
    trial_add(t, "proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu hypervisor_not lahf_lm\n");
    trial_begins(t, "Probe=pcie.acs", "degraded");
    trial_add(t, "proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu hypervisor lahf_lm\n");
    trial_expect(t, "Probe=pcie.acs", "unsupported a virtual machine does not see its host's PCIe switches");
}

static void test_acs_that_is_not_read(void **state)
{
    struct trial *t = *state;
    add_pci(t, ROOT_PORT "/0000:19:00.0", "0x030200\n");
    add_pci(t, ROOT_PORT "/0000:19:00.1", "0x030200\n");
    trial_expect(t, "Probe=pcie.acs", NO_SWITCH); /* two parts of one card */
    add_bridge(t, SWITCH, 0);
    add_bridge(t, GPU_PORT, 0);
    add_bridge(t, NIC_PORT, 0);
    add_pci(t, GPU_PORT "/0000:1b:00.0", "0x030200\n");
    add_pci(t, NIC_PORT "/0000:1c:00.0", "0x030200\n");
    trial_expect(t, "Probe=pcie.acs", "ok");
    tree_add_bytes(t->tree, "sys/devices/pci0000:16/" GPU_PORT "/config", "rubbish", 7); /* an old bridge */
    trial_expect(t, "Probe=pcie.acs", "ok");
    uint8_t config[258] = {0};
    tree_add_bytes(t->tree, "sys/devices/pci0000:16/" GPU_PORT "/config", config, sizeof config);
    trial_expect(t, "Probe=pcie.acs", "unknown the configuration of 0000:18:00.0: Permission denied");
    uint8_t gone[260];
    memset(gone, 0xff, sizeof gone);
    tree_add_bytes(t->tree, "sys/devices/pci0000:16/" GPU_PORT "/config", gone, sizeof gone);
    trial_expect(t, "Probe=pcie.acs", "unknown the configuration of 0000:18:00.0: Input/output error");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TRIAL(test_acs),
        IN_TRIAL(test_acs_that_is_not_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
