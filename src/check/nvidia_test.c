/* SPDX-License-Identifier: Apache-2.0 */
#include "check/trial_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* A look through the stand-in, which says this. */
static void expect_of(struct trial *t, const char *library, const char *record, const char *says,
                      const char *want)
{
    char line[256];
    snprintf(line, sizeof line, "Probe=nvidia.%s Library=%s", record, library);
    setenv("STAND_IN_SAYS", says, 1);
    trial_expect(t, line, want);
}

static void expect(struct trial *t, const char *record, const char *says, const char *want)
{
    expect_of(t, STAND_IN, record, says, want);
}

static const char *const probes[] = {"count",    "ecc",  "remap",  "temperature", "slowdown",
                                     "power",    "pcie", "nvlink", "fabric",      "persistence",
                                     "recovery", "idle", "clocks"};
enum { PROBES_N = sizeof probes / sizeof *probes };

static void test_healthy(void **state)
{
    for (size_t i = 0; i < PROBES_N; i++)
        expect(*state, probes[i], "", "ok");
}

static void test_no_library(void **state)
{
    for (size_t i = 0; i < PROBES_N; i++)
        expect_of(*state, "/nonexistent/libnvidia-ml.so.1", probes[i], "",
                  "unsupported there is no NVML library that can be used");
}

/* What an older driver does not have, or a GPU does not support, is no failure. */
static void test_functions_that_are_not_there(void **state)
{
    expect_of(*state, STAND_IN_OLD, probes[0], "", "ok");
    for (size_t i = 1; i < PROBES_N; i++)
        expect_of(*state, STAND_IN_OLD, probes[i], "", "unsupported no NVIDIA GPU says it");
    expect(*state, "ecc", "corrected=!3", "unsupported no NVIDIA GPU says it");
    expect(*state, "fabric", "fabric=0", "unsupported no NVIDIA GPU says it");
    expect(*state, "ecc", "1.corrected=!3", "ok"); /* the other one does */
}

static void expect_counts(const struct trial *t, const char *want)
{
    char path[64], is[32] = "";
    snprintf(path, sizeof path, "%s/counts", t->tree->root);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    assert_non_null(fgets(is, sizeof is, f));
    fclose(f);
    assert_string_equal(is, want);
}

/* To start the library takes longer than to ask it. */
static void test_shared_library(void **state)
{
    struct trial *t = *state;
    struct look_shared shared = {.nvml = NULL};
    char path[64];
    snprintf(path, sizeof path, "%s/counts", t->tree->root);
    setenv("STAND_IN_COUNTS", path, 1);
    expect(t, "ecc", "", "ok");
    expect(t, "pcie", "", "ok");
    expect_counts(t, "isis"); /* each by itself */
    t->shared = &shared;
    for (size_t i = 0; i < PROBES_N; i++)
        expect(t, probes[i], "", "ok");
    expect_counts(t, "isisi");
    expect_of(t, STAND_IN_OLD, "count", "", "ok"); /* another library is another start */
    expect_counts(t, "isisisi");
    expect_of(t, "/nonexistent/libnvidia-ml.so.1", "ecc", "",
              "unsupported there is no NVML library that can be used");
    expect_counts(t, "isisisis");
    expect(t, "ecc", "init=!10", "unknown NVML: error 10");
    expect(t, "pcie", "init=!10", "unknown NVML: error 10"); /* it is not tried again */
    look_shared_fini(&shared);
    expect_counts(t, "isisisisi"); /* what did not start does not end */
    unsetenv("STAND_IN_COUNTS");
}

/* --- errors of NVML ------------------------------------------------------------------------- */

static void test_errors(void **state)
{
    struct trial *t = *state;
    expect(t, "ecc", "1.uncorrected=!15", "lost gpu 0000:28:00: NVML says that the GPU is lost");
    expect(t, "temperature", "temperature=!16 gpus=1",
           "fatal gpu 0000:18:00: NVML says that the GPU has to be reset");
    expect(t, "ecc", "1.uncorrected=!4", "unknown NVML: ECC errors of the GPU 0000:28:00.0: error 4");
    expect(t, "nvlink", "0.links=!10", "unknown NVML: NVLink of the GPU 0000:18:00.0: error 10");
    /* Another GPU's error hides nothing. */
    expect(t, "ecc", "0.uncorrected=!10 1.uncorrected=3",
           "fatal gpu 0000:28:00: 3 uncorrected ECC errors since its reset");
    expect(t, "ecc", "1.handle=!15", "lost gpu: NVML says that the GPU is lost");
}

static void test_library_that_does_not_start(void **state)
{
    struct trial *t = *state;
    expect(t, "ecc", "init=!9", "unsupported NVML: error 9");
    expect(t, "ecc", "init=!18", "unknown NVML: error 18");
    expect(t, "ecc", "init=!4", "unknown NVML: error 4");
    expect(t, "ecc", "init=!10", "unknown NVML: error 10");
    expect(t, "ecc", "init=!15", "lost gpu: NVML says that the GPU is lost");
    expect(t, "ecc", "gpus=!999", "unknown NVML: error 999");
    expect(t, "ecc", "gpus=0", "unsupported no NVIDIA GPU says it");
    expect(t, "count", "init=!9", "unsupported NVML: error 9");
    expect(t, "count Count=2", "init=!9", "fatal gpu: NVML: error 9");
    expect(t, "count", "init=!18", "warn gpu: NVML: error 18");
    expect(t, "count Count=2", "init=!10", "unknown NVML: error 10");
}

/* While it lasts no program can use a GPU; an upgrade that loads the new driver takes some minutes. */
static void test_driver_that_is_older_than_its_library(void **state)
{
    struct trial *t = *state;
    expect(t, "count", "init=!18", "warn gpu: NVML: error 18");
    t->now_s += 9 * 60 - 60;
    expect(t, "count", "init=!18", "warn gpu: NVML: error 18");
    expect(t, "count", "init=!18", "degraded gpu: NVML: error 18");
    expect(t, "count", "gpus=0", "unsupported there is no NVIDIA GPU");
    expect(t, "count", "init=!18", "warn gpu: NVML: error 18");
}

/* --- count ---------------------------------------------------------------------------------- */

static void add_pci(struct trial *t, const char *address, const char *vendor, const char *driver)
{
    char path[128];
    snprintf(path, sizeof path, "sys/bus/pci/devices/%s/class", address);
    trial_add(t, path, "0x030200\n");
    snprintf(path, sizeof path, "sys/bus/pci/devices/%s/vendor", address);
    trial_add(t, path, vendor);
    snprintf(path, sizeof path, "sys/bus/pci/devices/%s/driver@", address);
    trial_add(t, path, driver);
}

static void test_count(void **state)
{
    struct trial *t = *state;
    static const char nvidia[] = "../../../bus/pci/drivers/nvidia";
    expect(t, "count", "gpus=0", "unsupported there is no NVIDIA GPU");
    add_pci(t, "0000:18:00.0", "0x10de\n", nvidia);
    add_pci(t, "0000:28:00.0", "0x10de\n", nvidia);
    add_pci(t, "0000:58:00.0", "0x10de\n", "../../../bus/pci/drivers/vfio-pci"); /* given away */
    add_pci(t, "0000:68:00.0", "0x1a03\n", nvidia);
    expect(t, "count", "", "ok");
    expect(t, "count Count=2", "", "ok");
    expect(t, "count Count=8", "", "fatal gpu: 2 NVIDIA GPUs have their driver, of 8");
    expect(t, "count", "gpus=1", "fatal gpu 0000:28:00: it is on the PCI bus, and NVML does not have it");
}

/* Which one is lost is what the bus has and NVML does not name. */
static void test_lost(void **state)
{
    struct trial *t = *state;
    static const char nvidia[] = "../../../bus/pci/drivers/nvidia";
    add_pci(t, "0000:18:00.0", "0x10de\n", nvidia);
    add_pci(t, "0000:28:00.0", "0x10de\n", nvidia);
    expect(t, "count", "0.handle=!15", "lost gpu 0000:18:00: NVML says that the GPU is lost");
    expect(t, "count", "1.handle=!16", "fatal gpu 0000:28:00: NVML says that the GPU has to be reset");
    expect(t, "count", "1.handle=!4", "unknown NVML: address of the GPU -: error 4");
    expect(t, "count Severity=degraded", "1.handle=!15",
           "degraded gpu 0000:28:00: NVML says that the GPU is lost");
}

/* --- memory --------------------------------------------------------------------------------- */

static void test_ecc(void **state)
{
    struct trial *t = *state;
    expect(t, "ecc", "corrected=5000", "ok"); /* from before */
    expect(t, "ecc", "corrected=5099", "ok");
    expect(t, "ecc", "corrected=5100 0.corrected=!3",
           "warn gpu 0000:28:00: 10 corrected ECC errors a minute, of fewer than 10");
    expect(t, "ecc Corrected=11", "corrected=5100 0.corrected=!3", "ok");
    t->now_s += 600;
    expect(t, "ecc", "corrected=0", "ok"); /* the GPU was reset */
}

static void test_remap(void **state)
{
    struct trial *t = *state;
    expect(t, "remap", "0.rows_failed=1", "fatal gpu 0000:18:00: a row of its memory could not be remapped");
    expect(t, "remap", "0.rows_pending=1",
           "degraded gpu 0000:18:00: a row of its memory is remapped when the GPU is reset");
    expect(t, "remap", "0.rows=511", "ok");
    expect(t, "remap", "0.rows=512",
           "degraded gpu 0000:18:00: 512 rows were remapped after uncorrected errors, of fewer than 512");
    expect(t, "remap Rows=600", "0.rows=512", "ok");
    expect(t, "remap", "1.banks=2", "warn gpu 0000:28:00: 2 banks of its memory have no spare row");
}

static void test_retired_pages(void **state)
{
    struct trial *t = *state;
    expect(t, "remap", "rows=!3 pages_single=48 pages_double=14", "ok");
    expect(t, "remap", "rows=!3 0.pages_single=48 0.pages_double=15",
           "fatal gpu 0000:18:00: 63 pages of its memory are retired, of fewer than 63");
    expect(t, "remap", "rows=!3 0.pages_double=15",
           "degraded gpu 0000:18:00: 15 pages of its memory are retired after uncorrected errors, of fewer "
           "than 15");
    expect(t, "remap", "rows=!3 0.pages_pending=1",
           "degraded gpu 0000:18:00: a page of its memory is retired when the GPU is reset");
}

/* --- heat, power and links ------------------------------------------------------------------ */

static void test_temperature(void **state)
{
    struct trial *t = *state;
    expect(t, "temperature", "temperature=87 field82=95", "ok");
    expect(t, "temperature", "0.temperature=88", "warn gpu 0000:18:00: 88 C, of at most 87 C");
    expect(t, "temperature", "0.temperature=89",
           "degraded gpu 0000:18:00: 89 C; from 89 C on it slows itself down");
    expect(t, "temperature", "1.field82=96", "warn gpu 0000:28:00: its memory has 96 C, of at most 95 C");
    /* A threshold of 0 is none. */
    expect(t, "temperature", "temperature=99 slowdown=0 most=!3 memory_most=0 field82=99", "ok");
    expect(t, "temperature", "temperature=!3 0.temperature_v=88",
           "warn gpu 0000:18:00: 88 C, of at most 87 C");
}

static void test_slowdown(void **state)
{
    struct trial *t = *state;
    char want[160];
    expect(t, "slowdown", "reasons=4", "ok"); /* a power limit of software */
    for (int i = 1; i <= 6; i++) {
        snprintf(want, sizeof want,
                 "%s gpu 0000:18:00: slowed down by heat (HW thermal slowdown), in %d looks within 10 "
                 "minutes; 6 are too many",
                 i < 6 ? "warn" : "degraded", i);
        expect(t, "slowdown", "0.reasons=72", want);
    }
    expect(t, "slowdown", "", "ok");
    t->now_s += 600;
    expect(t, "slowdown Looks=1", "1.reasons=128",
           "degraded gpu 0000:28:00: slowed down by a power supply that is not enough (HW power brake), in 1 "
           "looks within 10 minutes; 1 are too many");
}

static void test_power(void **state)
{
    struct trial *t = *state;
    /* What was counted before is nothing new. */
    expect(t, "power Power=50%", "violation_power=900000000000 violation_thermal=900000000000", "ok");
    expect(t, "power", "violation_power=1260000000000 violation_thermal=960000000000", "ok");
    expect(t, "power",
           "violation_power=1260000000000 violation_thermal=960000000000 0.violation_thermal=966000000000",
           "warn gpu 0000:18:00: its clocks were kept down by heat for 66 s of ten minutes, of at most 10 %");
    expect(t, "power Share=11% Power=59%", "violation_power=1260000000000 0.violation_thermal=966000000000",
           "warn gpu 0000:18:00: its clocks were kept down by its power limit for 360 s of ten minutes, of "
           "at most 59 "
           "%\n"
           "warn gpu 0000:28:00: its clocks were kept down by its power limit for 360 s of ten minutes, of "
           "at most 59 "
           "%");
    t->now_s += 600;
    expect(t, "power", "violation_thermal=!3 violation_board=1", "ok");
    expect(t, "power", "violation_thermal=!3 1.violation_board=66000000001",
           "warn gpu 0000:28:00: its clocks were kept down by the power limit of its board for 66 s of ten "
           "minutes, of at "
           "most 10 %");
    expect(t, "power", "violation_power=!3 violation_thermal=!3 violation_board=!3 violation_reliability=!3",
           "unsupported no NVIDIA GPU says it");
    expect(t, "power", "1.violation_power=!15", "lost gpu 0000:28:00: NVML says that the GPU is lost");
}

static void test_clocks(void **state)
{
    struct trial *t = *state;
    expect(t, "clocks", "application_graphics=1980", "ok"); /* higher than by default */
    expect(t, "clocks", "0.application_graphics=1155",
           "warn gpu 0000:18:00: its graphics clock is set to 1155 MHz for applications, of at least 1410 as "
           "by default");
    expect(t, "clocks Graphics=1155", "0.application_graphics=1155", "ok");
    expect(t, "clocks Graphics=1155 Memory=2619", "application_graphics=1155 0.application_memory=2619",
           "warn gpu 0000:28:00: its memory clock is set to 1593 MHz for applications, of at least 2619");
    /* A driver that knows no clocks of applications any more. */
    static const char newer[] = "application_graphics=!3 application_memory=!3 default_graphics=!3 "
                                "default_memory=!3 0.reasons=4 0.clock=1095";
    for (int i = 0; i < 2; i++)
        expect(t, "clocks Least=1100 Graphics=1980", newer, "ok");
    expect(t, "clocks Least=1100 Graphics=1980", newer,
           "degraded gpu 0000:18:00: its graphics clock is 1095 MHz while it works, of at least 1100, in 3 "
           "looks in a row");
    expect(t, "clocks Least=1095 Looks=1", newer, "ok");
    expect(t, "clocks Looks=1", newer, "ok");
    expect(t, "clocks Least=1100", "clock=345", "ok"); /* it idles */
    expect(t, "clocks",
           "application_graphics=!3 default_graphics=!3 application_memory=!3 default_memory=!3 clock=!3",
           "unsupported no NVIDIA GPU says it");
    expect(t, "clocks", "1.default_memory=!15", "lost gpu 0000:28:00: NVML says that the GPU is lost");
    expect(t, "clocks", "1.clock=!10", "unknown NVML: clocks of the GPU 0000:28:00.0: error 10");
}

static void test_imex(void **state)
{
    struct trial *t = *state;
    static const char nodes[] = "etc/nvidia-imex/nodes_config.cfg", imex[] = "Probe=nvidia.imex";
    trial_expect(t, imex, "unsupported there is no /etc/nvidia-imex/nodes_config.cfg");
    trial_add(t, nodes, "# started by the prolog of a job\n\n");
    trial_add(t, "proc/7/stat", "7 (sh) S 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 5 0\n");
    trial_expect(t, imex, "ok");
    trial_add(t, nodes, "10.0.0.1\n10.0.0.2\n");
    trial_expect(t, imex,
                 "warn imex: no nvidia-imex runs, and 2 nodes stand in its configuration\n"
                 "warn imex: there is no channel in /dev/nvidia-caps-imex-channels");
    trial_add(t, "proc/8/stat", "8 (nvidia-imex) S 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 5 0\n");
    trial_expect(t, imex, "warn imex: there is no channel in /dev/nvidia-caps-imex-channels");
    trial_add(t, "dev/nvidia-caps-imex-channels/channel0", "");
    trial_expect(t, imex, "ok");
}

static void test_pcie(void **state)
{
    struct trial *t = *state;
    expect(t, "pcie", "generation=1", "ok"); /* it idles */
    expect(t, "pcie", "0.generation=4 reasons=0", "ok");
    expect(t, "pcie", "0.generation=4 reasons=0",
           "degraded gpu 0000:18:00: its PCIe link works at generation 4, of 5");
    expect(t, "pcie", "1.lanes=8", "degraded gpu 0000:28:00: its PCIe link has 8 lanes, of 16");
    expect(t, "pcie", "1.replays=93", "ok");
    expect(t, "pcie", "1.replays=94", "warn gpu 0000:28:00: 9 PCIe replays a minute, of at most 8");
    expect(t, "pcie Replays=9", "1.replays=94", "ok");
}

static void test_nvlink(void **state)
{
    struct trial *t = *state;
    expect(t, "nvlink", "links=0", "ok"); /* cards without a bridge */
    expect(t, "nvlink Links=18", "0.links=17", "fatal gpu 0000:18:00: 17 NVLinks are active, of 18");
    expect(t, "nvlink", "0.links=17", "fatal gpu 0000:18:00: 17 NVLinks are active, of 18");
    expect(t, "nvlink", "links=17", "fatal gpu 0000:28:00: 17 NVLinks are active, of 18"); /* it had more */
    expect(t, "nvlink Links=17", "links=17", "ok");
}

static void test_nvlink_errors(void **state)
{
    struct trial *t = *state;
    expect(t, "nvlink", "replay=9 recovery=9 crc=9", "ok");
    expect(t, "nvlink", "replay=9 recovery=9 crc=9 0.crc=20",
           "warn gpu 0000:18:00: 11 CRC errors of its NVLink 0 within 10 minutes");
    expect(t, "nvlink", "replay=9 recovery=9 crc=9 0.crc=60020",
           "degraded gpu 0000:18:00: 60011 CRC errors of its NVLink 0 within 10 minutes");
    t->now_s += 600;
    expect(t, "nvlink", "replay=9 recovery=9 crc=9 1.recovery=10",
           "degraded gpu 0000:28:00: 1 replays and recoveries of its NVLink 0 within an hour");
    trial_forget(t);
    /* A newer GPU. What a link has counted when it comes back is nothing new. */
    expect(t, "nvlink Links=0", "replay=!3 field161=4", "ok");
    expect(t, "nvlink Links=0", "replay=!3 field161=4 0.links=0", "ok");
    expect(t, "nvlink Links=0", "replay=!3 field161=4 0.links=1", "ok");
    expect(t, "nvlink Links=0", "replay=!3 field161=4 0.links=1 0.field161=5",
           "degraded gpu 0000:18:00: 1 replays and recoveries of its NVLink 0 within an hour");
}

static void test_nvlink_bits(void **state)
{
    struct trial *t = *state;
    expect(t, "nvlink", "links=1 field206=9 field215=9 field220=4095", "ok"); /* no bit is wrong */
    expect(t, "nvlink", "links=1 field206=9 field215=9 field220=268", "ok");  /* 1e-12 */
    expect(t, "nvlink", "links=1 field206=9 field215=9 field220=2573", "ok"); /* 10e-13 */
    expect(t, "nvlink", "links=1 field206=9 field215=9 0.field220=2829",
           "degraded gpu 0000:18:00: 11e-13 of the bits of its NVLink 0 are wrong, of at most 1e-12");
    expect(t, "nvlink", "links=1 field206=9 field215=9 1.field220=524",
           "degraded gpu 0000:28:00: 2e-12 of the bits of its NVLink 0 are wrong, of at most 1e-12");
    static const int fields[] = {206, 207, 208, 209, 210, 211, 219};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        char says[64];
        trial_forget(t);
        expect(t, "nvlink", "links=1 field220=!3", "ok");
        snprintf(says, sizeof says, "links=1 1.field%d=3 field220=!3", fields[i]);
        expect(t, "nvlink", says, "degraded gpu 0000:28:00: 3 errors of its NVLink 0 within an hour");
    }
    t->now_s += 3600;
    expect(t, "nvlink", "links=1", "ok");
    expect(t, "nvlink", "links=1 0.field215=1",
           "degraded gpu 0000:18:00: 1 recoveries of its NVLink 0 within an hour");
    t->now_s += 3600;
    /* An older GPU has none of these. */
    expect(t, "nvlink",
           "links=1 field206=!3 field207=!3 field208=!3 field209=!3 field210=!3 field211=!3 "
           "field215=!3 field219=!3 field220=!3",
           "ok");
}

static void test_fabric(void **state)
{
    struct trial *t = *state;
    expect(t, "fabric", "0.fabric=2", "ok");
    expect(t, "fabric", "0.fabric=2", "ok");
    expect(t, "fabric", "0.fabric=2",
           "fatal gpu 0000:18:00: it is still being registered with its NVLink fabric");
    expect(t, "fabric", "", "ok");
    expect(t, "fabric Looks=1", "1.fabric=1",
           "fatal gpu 0000:28:00: it is not registered with its NVLink fabric");
    expect(t, "fabric", "1.fabric_status=999",
           "fatal gpu 0000:28:00: it was registered with its NVLink fabric with error 999");
    expect(t, "fabric", "1.fabric_health=16",
           "fatal gpu 0000:28:00: a route of its NVLink fabric is unhealthy");
    expect(t, "fabric", "1.fabric_health=1", "degraded gpu 0000:28:00: its NVLink fabric has less bandwidth");
    expect(t, "fabric", "1.fabric_summary=2", "fatal gpu 0000:28:00: its NVLink fabric is unhealthy");
    expect(t, "fabric", "fabric_version=2 1.fabric_summary=2 1.fabric_health=4",
           "warn gpu 0000:28:00: a route of its NVLink fabric is recovering");
}

static void test_rest(void **state)
{
    struct trial *t = *state;
    expect(t, "persistence", "1.persistence=0", "warn gpu 0000:28:00: persistence mode is off");
    expect(t, "recovery", "1.field230=1", "fatal gpu 0000:28:00: the driver asks to reset the GPU");
    expect(t, "recovery", "1.field230=2", "fatal gpu 0000:28:00: the driver asks to reboot the node");
    expect(t, "recovery", "1.field230=3", "warn gpu 0000:28:00: the driver asks to drain peer-to-peer work");
    expect(t, "recovery", "1.field230=9", "warn gpu 0000:28:00: the driver asks for recovery action 9");
    expect(t, "recovery", "field230=!3", "unsupported no NVIDIA GPU says it");
}

static void test_idle(void **state)
{
    struct trial *t = *state;
    expect(t, "idle Looks=1", "memory=15728640", "ok");
    for (int i = 0; i < 2; i++)
        expect(t, "idle", "0.memory=2000000000 1.processes=2", "ok");
    expect(
        t, "idle", "0.memory=2000000000 1.processes=2",
        "warn gpu 0000:18:00: 2000 MB of its memory are in use and no process has them, of at most 15 MB, in "
        "3 looks in a row\n"
        "degraded gpu 0000:28:00: 2 processes compute on it while no work runs, in 3 looks in a row; one is "
        "4000");
    expect(t, "idle Memory=2GB", "0.memory=2000000000", "ok");
    expect(
        t, "idle Looks=1", "0.memory=2000000000 0.processes=65",
        "degraded gpu 0000:18:00: 65 processes compute on it while no work runs, in 1 looks in a row; one is "
        "0"); /* more than it was asked for */
    trial_forget(t);
    expect(t, "idle Looks=2", "memory=2000000000 processes=1", "ok");
    expect(t, "idle Looks=2", "memory=2000000000", "ok"); /* its processes just ended */
    trial_begins(t, "Probe=nvidia.idle Looks=2 Library=" STAND_IN, "warn gpu 0000:18:00: 2000 MB");
    expect(t, "idle", "memory=!3", "unsupported no NVIDIA GPU says it");
    expect(t, "idle", "1.processes=!10", "unknown NVML: processes of the GPU 0000:28:00.0: error 10");
    trial_add(t, "run/fettle/work/job", "");
    expect(t, "idle Looks=1", "memory=2000000000 processes=2", "ok work runs");
    expect(t, "idle Looks=1", "0.handle=!15", " work runslost gpu: NVML says that the GPU is lost");
}

/* What the driver asks for is named alike, whoever noticed. */
static void test_codes(void **state)
{
    static const struct {
        const char *record, *facts, *code;
    } rows[] = {
        {"Check=nvidia.count\n", "lost -\n", "gpu.lost"},
        {"Check=nvidia.ecc\n", "reset 0000:18:00.0\n", "gpu.reset"},
        {"Check=nvidia.ecc\n", "ecc 0000:18:00.0 0 1\n", ""},
        {"Check=nvidia.remap\n", "rows 0000:18:00.0 0 1 0\n", "gpu.reset"},
        {"Check=nvidia.remap\n", "pages 0000:18:00.0 0 0 1\n", "gpu.reset"},
        {"Check=nvidia.recovery\n", "recovery 0000:18:00.0 1\n", "gpu.reset"},
        {"Check=nvidia.recovery\n", "recovery 0000:18:00.0 2\n", "gpu.reboot"},
        {"Check=nvidia.recovery\n", "recovery 0000:18:00.0 4\n", "gpu.reset"},
    };
    struct trial *t = *state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct checks checks = {0};
        struct verdict v;
        assert_int_equal(checks_parse("f", rows[i].record, strlen(rows[i].record), &checks, NULL), 0);
        struct look l = {.check = &checks.list[0], .root = t->tree->root, .memory = t->memory};
        look_judge(&l, rows[i].facts, &v);
        assert_int_equal(v.n, 1);
        assert_string_equal(v.findings[0].code, rows[i].code);
        checks_fini(&checks);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TRIAL(test_healthy),
        IN_TRIAL(test_no_library),
        IN_TRIAL(test_errors),
        IN_TRIAL(test_functions_that_are_not_there),
        IN_TRIAL(test_count),
        IN_TRIAL(test_library_that_does_not_start),
        IN_TRIAL(test_driver_that_is_older_than_its_library),
        IN_TRIAL(test_lost),
        IN_TRIAL(test_ecc),
        IN_TRIAL(test_remap),
        IN_TRIAL(test_retired_pages),
        IN_TRIAL(test_temperature),
        IN_TRIAL(test_slowdown),
        IN_TRIAL(test_pcie),
        IN_TRIAL(test_nvlink),
        IN_TRIAL(test_fabric),
        IN_TRIAL(test_nvlink_errors),
        IN_TRIAL(test_rest),
        IN_TRIAL(test_codes),
        IN_TRIAL(test_power),
        IN_TRIAL(test_imex),
        IN_TRIAL(test_shared_library),
        IN_TRIAL(test_idle),
        IN_TRIAL(test_clocks),
        IN_TRIAL(test_nvlink_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
