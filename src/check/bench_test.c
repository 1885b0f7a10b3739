/* SPDX-License-Identifier: Apache-2.0 */
#include "check/trial_test.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void add_memory(struct trial *t, const char *available)
{
    CLEANUP_TEXT struct text info = {0};
    text_printf(&info, "MemTotal: 99999999 kB\nMemAvailable: %s kB\n", available);
    trial_add(t, "proc/meminfo", info.s);
}

/* The number behind this word in what was said. */
static uint64_t measured(const char *said, const char *name, const char *unit)
{
    unsigned long long n = 0;
    char found[16] = "";
    const char *at = strstr(said, name);
    if (!at || sscanf(at + strlen(name), " %llu %15[^, ]", &n, found) != 2 || strcmp(found, unit) != 0)
        fail_msg("\"%s\" has no %s in %s", said, name, unit);
    return n;
}

static void test_bandwidth(void **state)
{
    struct trial *t = *state;
    add_memory(t, "40000");
    trial_begins(t, "Probe=bench.memory.bandwidth Duration=100ms", "ok bandwidth ");
    assert_true(measured(t->said.s, "bandwidth", "MB/s") > 0);
    trial_begins(t, "Probe=bench.memory.bandwidth Duration=100ms Size=2MiB Floor=1", "ok bandwidth ");
    trial_begins(t, "Probe=bench.memory.bandwidth Duration=100ms Size=2MiB Floor=1000000000", " bandwidth ");
    assert_non_null(strstr(t->said.s, "degraded memory: bandwidth "));
    assert_non_null(strstr(t->said.s, " MB/s (of at least 1000000000)"));
}

static void test_latency(void **state)
{
    struct trial *t = *state;
    add_memory(t, "40000");
    trial_begins(t, "Probe=bench.memory.latency Duration=100ms Size=2MiB Ceiling=1000000000", "ok latency ");
    measured(t->said.s, "latency", "ns");
    assert_string_equal(trial_judge(t, "Probe=bench.memory.latency Ceiling=100", "latency 101\n"),
                        " latency 101 ns (of at most 100)degraded memory: latency 101 ns (of at most 100)");
    assert_string_equal(trial_judge(t, "Probe=bench.memory.latency Ceiling=101", "latency 101\n"),
                        "ok latency 101 ns");
}

/* A node whose memory is in use is not filled to the brim. */
static void test_little_memory(void **state)
{
    struct trial *t = *state;
    trial_expect(t, "Probe=bench.memory.latency", "unknown too little memory is available");
    add_memory(t, "4095");
    trial_expect(t, "Probe=bench.memory.latency", "unknown too little memory is available");
    trial_expect(t, "Probe=bench.memory.bandwidth", "unknown too little memory is available");
    add_memory(t, "4096");
    trial_begins(t, "Probe=bench.memory.latency Duration=100ms", "ok latency ");
}

static size_t entries(struct trial *t, const char *path)
{
    CLEANUP_TEXT struct text full = {0};
    size_t n = 0;
    text_printf(&full, "%s/%s", t->tree->root, path);
    DIR *dir = opendir(full.s);
    assert_non_null(dir);
    while (readdir(dir))
        n++;
    closedir(dir);
    return n;
}

static void test_disk(void **state)
{
    struct trial *t = *state;
    trial_expect(t, "Probe=bench.disk Size=1MiB", "unsupported /var/tmp: No such file or directory");
    trial_add(t, "scratch/", "");
    trial_begins(t, "Probe=bench.disk Path=/scratch Size=3MiB Floor=1", "ok write ");
    assert_true(measured(t->said.s, "write", "MB/s") > 0);
    assert_true(measured(t->said.s, "read", "MB/s") > 0);
    measured(t->said.s, "latency", "us");
    assert_int_equal(entries(t, "scratch"), 2); /* "." and ".." */
}

static void test_disk_judged(void **state)
{
    static const char facts[] = "write 500\nread 900\nlatency 120\n";
    struct trial *t = *state;
    assert_string_equal(trial_judge(t, "Probe=bench.disk", facts),
                        "ok write 500 MB/s, read 900 MB/s, latency 120 us");
    trial_judge(t, "Probe=bench.disk Floor=501 Ceiling=119", facts);
    assert_non_null(strstr(t->said.s,
                           "degraded fs /var/tmp: write 500 MB/s (of at least 501), read 900 MB/s, "
                           "latency 120 us (of at most 119)"));
    assert_string_equal(trial_judge(t, "Probe=bench.disk", "write 5\nfailed 5 Input/output error\n"),
                        "degraded fs /var/tmp: a file could not be written and read: Input/output error");
    assert_string_equal(trial_judge(t, "Probe=bench.disk", "failed 30 Read-only file system\n"),
                        "unknown cannot try on fs /var/tmp: Read-only file system");
    assert_string_equal(trial_judge(t, "Probe=bench.disk", "rubbish\n"), "unknown nothing was measured");
}

/* They take the machine: nobody wants them between two jobs unless he says so. */
static void test_run_when_asked(void **state)
{
    struct checks checks = {0};
    CLEANUP_TEXT struct text line = {0};
    (void)state;
    static const char record[] = "Check=bench.disk\nCheck=d Probe=bench.disk When=boot Deadline=10s\n";
    assert_int_equal(checks_parse("f", record, strlen(record), &checks, NULL), 0);
    assert_int_equal(checks.list[0].when, CHECK_DEMAND | CHECK_EXTENSIVE);
    assert_int_equal(checks.list[0].deadline.ns, span_s(120).ns);
    check_format(&checks.list[0], NULL, &line);
    assert_string_equal(line.s, "Check=bench.disk");
    text_clear(&line);
    check_format(&checks.list[1], NULL, &line);
    assert_string_equal(line.s, "Check=d Probe=bench.disk When=boot Deadline=10s");
    checks_fini(&checks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TRIAL(test_bandwidth), IN_TRIAL(test_latency),     IN_TRIAL(test_little_memory),
        IN_TRIAL(test_disk),      IN_TRIAL(test_disk_judged), cmocka_unit_test(test_run_when_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
