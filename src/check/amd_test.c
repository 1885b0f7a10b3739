/* SPDX-License-Identifier: Apache-2.0 */
#include "check/trial_test.h"

#include <stdio.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void add(struct trial *t, const char *driver, const char *address, const char *file, const char *text)
{
    char path[160];
    snprintf(path, sizeof path, "sys/bus/pci/drivers/%s/%s/%s", driver, address, file);
    trial_add(t, path, text);
}

static void add_amd(struct trial *t, const char *file, const char *text)
{
    add(t, "amdgpu", "0000:c1:00.0", file, text);
}

static void test_amd_count(void **state)
{
    struct trial *t = *state;
    trial_expect(t, "Probe=amd.gpu", "unsupported there is no /sys/bus/pci/drivers/amdgpu");
    trial_expect(t, "Probe=amd.gpu Count=2", "fatal gpu: 0 GPUs have the driver amdgpu, of 2");
    trial_add(t, "sys/bus/pci/drivers/amdgpu/module/", "");
    trial_expect(t, "Probe=amd.gpu", "unsupported there is no device of the driver amdgpu");
    trial_expect(t, "Probe=amd.gpu Count=2", "fatal gpu: 0 GPUs have the driver amdgpu, of 2");
    add_amd(t, "gpu_busy_percent", "0\n");
    trial_expect(t, "Probe=amd.gpu", "ok");
    trial_expect(t, "Probe=amd.gpu Count=1", "ok");
    trial_expect(t, "Probe=amd.gpu Count=2", "fatal gpu: 1 GPUs have the driver amdgpu, of 2");
}

static void test_amd_errors(void **state)
{
    struct trial *t = *state;
    add_amd(t, "ras/umc_err_count", "ue: 0\nce: 500\n");
    add_amd(t, "ras/gfx_err_count", "ue: 0\nce: 0\nde: 0\n");
    add_amd(t, "ras/features", "feature mask: 0x2a\n");
    trial_expect(t, "Probe=amd.gpu", "ok");
    add_amd(t, "ras/umc_err_count", "ue: 0\nce: 600\n");
    trial_expect(t, "Probe=amd.gpu Corrected=11", "ok");
    trial_expect(t, "Probe=amd.gpu",
                 "warn gpu 0000:c1:00: 10 corrected errors a minute in umc, of fewer than 10");
    add_amd(t, "ras/umc_err_count", "ue: 2\nce: 600\n");
    trial_expect(t, "Probe=amd.gpu",
                 "fatal gpu 0000:c1:00: 2 uncorrected errors in umc since the driver was loaded");
    add_amd(t, "ras/umc_err_count", "rubbish\n");
    trial_expect(t, "Probe=amd.gpu", "unknown ras/umc_err_count of 0000:c1:00.0: not understood");
}

static void test_amd_pages(void **state)
{
    struct trial *t = *state;
    add_amd(t, "ras/gpu_vram_bad_pages", "0x00000001 : 0x00001000 : R\n");
    trial_expect(t, "Probe=amd.gpu", "ok");
    add_amd(t, "ras/gpu_vram_bad_pages", "0x00000001 : 0x00001000 : R\n0x00000002 : 0x00001000 : P\n");
    trial_expect(t, "Probe=amd.gpu",
                 "degraded gpu 0000:c1:00: 1 bad pages of its memory wait for a reset to be retired");
    add_amd(t, "ras/gpu_vram_bad_pages", "0x00000002 : 0x00001000 : P\n0x00000003 : 0x00001000 : F\n");
    trial_expect(t, "Probe=amd.gpu", "fatal gpu 0000:c1:00: 1 bad pages of its memory could not be retired");
}

static void add_linked(struct trial *t, const char *address, const char *model, const char *hive,
                       const char *links)
{
    add(t, "amdgpu", address, "device", model);
    if (hive)
        add(t, "amdgpu", address, "xgmi_hive_info/xgmi_hive_id", hive);
    if (links)
        add(t, "amdgpu", address, "xgmi_num_links", links);
}

static void test_amd_links(void **state)
{
    struct trial *t = *state;
    add_linked(t, "0000:c1:00.0", "0x74a1\n", "16045690984833335023\n", "00 01 01 \n");
    add_linked(t, "0000:c2:00.0", "0x74a1\n", "16045690984833335023\n", "01 00 0a \n");
    add_linked(t, "0000:03:00.0", "0x73bf\n", NULL, NULL); /* another model, which has no links */
    trial_expect(t, "Probe=amd.gpu", "ok");
    trial_expect(t, "Probe=amd.gpu Links=2", "ok");
    trial_expect(t, "Probe=amd.gpu Links=3", "degraded gpu 0000:c1:00: it has 2 xGMI links, of 3");
    trial_expect(t, "Probe=amd.gpu Links=12",
                 "degraded gpu 0000:c1:00: it has 2 xGMI links, of 12\n"
                 "degraded gpu 0000:c2:00: it has 11 xGMI links, of 12");
    add_linked(t, "0000:c3:00.0", "0x74a1\n", NULL, NULL);
    trial_expect(t, "Probe=amd.gpu",
                 "degraded gpu 0000:c3:00: no xGMI links it with other GPUs; others like it are linked");
    add_linked(t, "0000:c3:00.0", "0x74a1\n", "16045690984833335023\n", "rubbish\n");
    trial_expect(t, "Probe=amd.gpu", "ok");
    add_linked(t, "0000:c1:00.0", "0x74a1\n", NULL, "00 01 00 \n"); /* fewer than there were */
    trial_expect(t, "Probe=amd.gpu", "degraded gpu 0000:c1:00: it has 1 xGMI links, of 2");
    add_amd(t, "ras/xgmi_wafl_err_count", "ue: 1\nce: 0\n");
    trial_expect(t, "Probe=amd.gpu Links=0",
                 "fatal gpu 0000:c1:00: 1 uncorrected errors in xgmi_wafl since the driver was loaded");
}

static void test_intel(void **state)
{
    struct trial *t = *state;
    trial_expect(t, "Probe=intel.gpu", "unsupported there is no /sys/bus/pci/drivers/xe");
    add(t, "xe", "0000:03:00.0", "vendor", "0x8086\n"); /* an older driver says nothing */
    trial_expect(t, "Probe=intel.gpu", "unsupported there is no device of the driver xe");
    add(t, "xe", "0000:03:00.0", "gpu_health", "ok\n");
    trial_expect(t, "Probe=intel.gpu", "ok");
    add(t, "xe", "0000:03:00.0", "gpu_health", "warning\n");
    trial_expect(t, "Probe=intel.gpu", "warn gpu 0000:03:00: its driver says that its health is a warning");
    add(t, "xe", "0000:03:00.0", "gpu_health", "critical\n");
    trial_expect(t, "Probe=intel.gpu", "fatal gpu 0000:03:00: its driver says that its health is critical");
    add(t, "xe", "0000:03:00.0", "gpu_health", "sleepy\n");
    trial_expect(t, "Probe=intel.gpu", "info gpu 0000:03:00: its driver says of its health \"sleepy\"");
}

#define WORK "run/fettle/work/job"

#define VRAM "sys/bus/pci/drivers/amdgpu/0000:c1:00.0/mem_info_vram_used"

static void test_amd(void **state)
{
    struct trial *t = *state;
    trial_expect(t, "Probe=amd.idle", "unsupported there is no /sys/bus/pci/drivers/amdgpu");
    trial_add(t, VRAM, "1073741824\n");
    trial_expect(t, "Probe=amd.idle Looks=1", "ok");
    trial_add(t, VRAM, "1073741825\n");
    trial_expect(t, "Probe=amd.idle", "ok");
    trial_expect(t, "Probe=amd.idle", "ok");
    trial_expect(
        t, "Probe=amd.idle",
        "warn gpu 0000:c1:00: 1073 MB of its memory are in use and no process has them, of at most 1073 "
        "MB, in 3 looks in a row");
    trial_expect(t, "Probe=amd.idle Memory=2GiB", "ok");
    trial_add(t, "sys/class/kfd/kfd/proc/4711/pasid", "32769\n");
    trial_expect(t, "Probe=amd.idle", "ok");
    trial_expect(
        t, "Probe=amd.idle Looks=2",
        "degraded gpu: 1 processes compute on AMD GPUs while no work runs, in 2 looks in a row; one is "
        "4711");
    trial_add(t, WORK, "");
    trial_expect(t, "Probe=amd.idle Looks=1", "ok work runs");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TRIAL(test_amd_count), IN_TRIAL(test_amd_errors), IN_TRIAL(test_amd_pages),
        IN_TRIAL(test_amd_links), IN_TRIAL(test_intel),      IN_TRIAL(test_amd),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
