/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What checks say on machines that lack what they look for: each default check on each machine of a table,
 * and every probe on a machine that has nothing. What is not there is unsupported, and never a finding.
 */
#include "check/trial_test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define ZEROS " 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 5 0\n"
#define PROC                                    \
    {                                           \
        "proc/1/stat", "1 (init) S 0 1 1" ZEROS \
    }
#define NET(name, file, text)                \
    {                                        \
        "sys/class/net/" name "/" file, text \
    }
#define CARD(name)                                                                         \
    NET(name, "type", "1\n"), NET(name, "operstate", "up\n"), NET(name, "carrier", "1\n"), \
        NET(name, "carrier_changes", "2\n"), NET(name, "device@", "../../../virtio0")
#define ELSEWHERE NET("lo", "type", "772\n")

enum { LEAVES = 12 };

static const struct machine {
    const char *what;
    bool keeps; /* the kernel says that its clock is synchronised */
    struct leaf leaves[LEAVES];
} machines[] = {
    {"nothing", false, {{NULL, NULL}}},
    {"mounts", false, {{"proc/", ""}}},
    {"container",
     false,
     {PROC, NET("eth0", "type", "1\n"), NET("eth0", "operstate", "up\n"), NET("eth0", "carrier", "1\n"),
      ELSEWHERE}},
    {"VM", false, {PROC, CARD("eth0"), ELSEWHERE}},
    {"VM with NTP", true, {PROC, CARD("eth0"), ELSEWHERE, {"usr/sbin/chronyd", "x"}}},
    {"NTP is silent", false, {PROC, CARD("eth0"), ELSEWHERE, {"usr/lib/systemd/system/chrony.service", "x"}}},
    {"slurmd is down", true, {PROC, CARD("eth0"), ELSEWHERE, {"etc/systemd/system/slurmd.service", "x"}}},
    {"slurmd is up", true, {PROC, CARD("eth0"), ELSEWHERE, {"proc/7/stat", "7 (slurmd) S 1 7 7" ZEROS}}},
};
enum { MACHINES = sizeof machines / sizeof machines[0] };

/* What each default check says there; a row is missing when a check is added to default.tbl. */
static const struct expected {
    const char *check, *says[MACHINES];
} table[] = {
    {"system-errors",
     {"unsupported", "unsupported", "unsupported", "unsupported", "unsupported", "unsupported", "unsupported",
      "unsupported"}},
    {"slurmd",
     {"unknown /proc", "unknown /proc", "unsupported slurmd is not installed",
      "unsupported slurmd is not installed", "unsupported slurmd is not installed",
      "unsupported slurmd is not installed", "fatal service slurmd: no process slurmd runs", "ok"}},
    {"ntp",
     {"unsupported nothing", "unsupported nothing", "unsupported nothing", "unsupported nothing", "ok",
      "warn clock: the kernel says that it is not synchronised", "ok", "ok"}},
    {"zombie", {"unknown /proc", "unknown /proc", "ok", "ok", "ok", "ok", "ok", "ok"}},
    {"ethlink",
     {"unsupported there is no /sys/class/net", "unsupported there is no /sys/class/net",
      "unsupported no Ethernet interface has a device", "ok", "ok", "ok", "ok", "ok"}},
    /* Of the file system below the test nobody knows how full it is. */
    {"fs-capacity", {"", "", "", "", "", "", "", ""}},
};

static int clock_of_test(void *arg, struct timex *out)
{
    const struct machine *m = arg;
    *out = (struct timex){.status = m->keeps ? 0 : STA_UNSYNC, .esterror = m->keeps ? 100 : 16000000};
    return m->keeps ? TIME_OK : TIME_ERROR;
}

static const struct expected *expected_of(const char *check)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(table[i].check, check) == 0)
            return &table[i];
    fail_msg("the check %s is not in the table", check);
    return NULL;
}

/* The record without "Check=NAME ". */
static void default_on(struct trial *t, const struct machine *m, const char *record)
{
    char name[64];
    assert_int_equal(sscanf(record, "Check=%63s", name), 1);
    const char *says = expected_of(name)->says[m - machines];
    const char *is = trial_look(t, strchr(record, ' ') + 1);
    if (strncmp(is, says, strlen(says)) != 0)
        fail_msg("%s: %s says \"%s\", not \"%s\"", m->what, name, is, says);
}

static void a_default_check_finds_nothing_where_there_is_nothing(void **state)
{
    static const char *const records[] = {
#define DEFAULT(record, what) record,
#include "health/default.tbl"
#undef DEFAULT
    };
    for (const struct machine *m = machines; m < machines + MACHINES; m++) {
        void *own;
        assert_int_equal(trial_setup(&own), 0);
        struct trial *t = own;
        struct machine clock = *m;
        struct look_calls calls = {.arg = &clock, .clock = clock_of_test};
        t->calls = &calls;
        for (size_t i = 0; i < LEAVES && m->leaves[i].path; i++)
            trial_add(t, m->leaves[i].path, m->leaves[i].text);
        for (size_t i = 0; i < sizeof records / sizeof *records; i++)
            default_on(t, m, records[i]);
        assert_int_equal(trial_teardown(&own), 0);
    }
}

/* Records that say what should be there, for probes that cannot do without; NULL: the record asks for a thing
 * by its name, and that this is not there is the finding. */
static const char *arguments_of(enum probe p, bool *wants)
{
    *wants = p == PROBE_FS_MOUNTED || p == PROBE_REACH;
    switch ((int)p) {
    case PROBE_PLUGIN: return " Run=/no/such/plugin";
    case PROBE_TOOL: return " Tool=nccl Run=/no/such/tool";
    case PROBE_SERVICE: return " Name=munge Command=munged Unit=munge";
    case PROBE_CERTIFICATE: return " Path=/etc/node.pem";
    case PROBE_FS_WRITE: return " Path=/scratch";
    default: return "";
    }
}

static void no_probe_finds_anything_where_there_is_nothing(void **state)
{
    struct trial *t = *state;
    struct machine clock = {.keeps = false};
    struct look_calls calls = {.arg = &clock, .clock = clock_of_test};
    t->calls = &calls;
    trial_add(t, "proc/1/stat", "1 (init) S 0 1 1" ZEROS);
    for (enum probe p = 0; p < PROBES; p++) {
        bool wants;
        char record[256];
        const char *arguments = arguments_of(p, &wants);
        if (wants || (probe_row(p)->how == PROBE_BENCH && p != PROBE_TOOL) || p == PROBE_FS_SPACE)
            continue;
        snprintf(record, sizeof record, "Probe=%s%s", probe_row(p)->name, arguments);
        const char *is = trial_look(t, record);
        if (strncmp(is, "unsupported", 11) != 0 && strncmp(is, "unknown", 7) != 0 && strcmp(is, "ok") != 0)
            fail_msg("%s says \"%s\"", record, is);
    }
}

static void a_program_that_ran_on_this_boot_is_installed(void **state)
{
    struct trial *t = *state;
    static const char record[] = "Probe=service Name=odd Command=oddd";
    trial_add(t, "proc/1/stat", "1 (init) S 0 1 1" ZEROS);
    trial_expect(t, record, "unsupported oddd is not installed");
    trial_add(t, "proc/7/stat", "7 (oddd) S 1 7 7" ZEROS);
    trial_expect(t, record, "ok");
    trial_remove(t, "proc/7/stat");
    trial_expect(t, record, "fatal service odd: no process oddd runs");
    trial_forget(t); /* another boot */
    trial_expect(t, record, "unsupported oddd is not installed");
}

static void a_program_or_a_unit_is_installed(void **state)
{
    static const char *const paths[] = {"usr/local/sbin/oddd",
                                        "usr/bin/oddd",
                                        "etc/init.d/oddd",
                                        "lib/systemd/system/odd.service",
                                        "run/systemd/generator/oddd.service",
                                        "etc/systemd/system/odd.service"};
    static const char record[] = "Probe=service Name=odd Command=oddd";
    struct trial *t = *state;
    trial_add(t, "proc/1/stat", "1 (init) S 0 1 1" ZEROS);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        trial_expect(t, record, "unsupported oddd is not installed");
        trial_add(t, paths[i], "x");
        trial_expect(t, record, "fatal service odd: no process oddd runs");
        trial_remove(t, paths[i]);
    }
    trial_add(t, "usr/lib/systemd/system/a@.service", "x");
    trial_add(t, "run/systemd/units/", "");
    trial_expect(t, "Probe=service Unit=a@1", "fatal service tried: the unit a@1 is not active");
    trial_expect(t, "Probe=service Unit=b@1", "unsupported b@1 is not installed");
}

static void a_clock_that_was_kept_is_missed(void **state)
{
    struct trial *t = *state;
    struct machine clock = {.keeps = false};
    struct look_calls calls = {.arg = &clock, .clock = clock_of_test};
    t->calls = &calls;
    trial_expect(t, "Probe=time", "unsupported nothing that keeps the clock is installed");
    clock.keeps = true;
    trial_expect(t, "Probe=time", "ok");
    clock.keeps = false;
    trial_begins(t, "Probe=time", "warn clock: the kernel says that it is not synchronised");
}

static void a_wrong_clock_is_wrong_under_any_keeper(void **state)
{
    struct trial *t = *state;
    struct machine clock = {.keeps = false};
    struct look_calls calls = {.arg = &clock, .clock = clock_of_test};
    const struct look_clock controller = {{INT64_C(1800000000) * 1000000000}, {(t->now_s + 60) * 1000000000}};
    t->calls = &calls;
    t->clock = &controller;
    trial_begins(t, "Probe=time", "fatal clock: ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_default_check_finds_nothing_where_there_is_nothing),
        IN_TRIAL(no_probe_finds_anything_where_there_is_nothing),
        IN_TRIAL(a_program_that_ran_on_this_boot_is_installed),
        IN_TRIAL(a_program_or_a_unit_is_installed),
        IN_TRIAL(a_clock_that_was_kept_is_missed),
        IN_TRIAL(a_wrong_clock_is_wrong_under_any_keeper),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
