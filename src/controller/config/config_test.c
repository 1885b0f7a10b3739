/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/config/config_fixture_test.h"

#include "base/log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *slurp(const char *path)
{
    char *bytes = mem_alloc(65536);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    bytes[fread(bytes, 1, 65535, f)] = '\0';
    fclose(f);
    return bytes;
}

/* --- the samples ----------------------------------------------------------------------------- */

static void test_the_document_s_samples(void **state)
{
    CLEANUP_FREE char *parameters = slurp(TEST_DATA "/2001/slurm.conf");
    CLEANUP_FREE char *nodes = slurp(TEST_DATA "/2001/NodeSpecConf");
    CLEANUP_TEXT struct text t = {0};
    char path[128];
    const char *rest = parameters, *at;
    while ((at = strstr(rest, "/usr/local/SLURM/"))) { /* only the place of the two files is ours */
        text_add_bytes(&t, rest, (size_t)(at - rest));
        rest = at + strlen("/usr/local/SLURM/");
        text_printf(&t, "%s/", config_dir);
    }
    text_add(&t, rest);
    config_write("fettle.conf", t.s);
    snprintf(path, sizeof path, "%s/NodeSpecConf", config_dir);
    assert_int_equal(symlink(TEST_DATA "/2001/NodeSpecConf", path), 0);
    char partitions[128];
    snprintf(partitions, sizeof partitions, "%s/PartitionConf", config_dir);
    FILE *f = fopen(partitions, "w");
    assert_non_null(f);
    fclose(f);

    struct config c;
    struct err e = {0};
    char conf[128];
    snprintf(conf, sizeof conf, "%s/fettle.conf", config_dir);
    int rc = config_read(conf, &c, &e);
    unlink(path);
    unlink(partitions);
    assert_string_equal(e.msg, "");
    assert_int_equal(rc, 0);
    assert_string_equal(c.text[SETTING_CONTROL_MACHINE], "lx_control");
    assert_int_equal(c.collectors.n, 2);
    assert_int_equal(c.number[SETTING_MACH_STATUS_PORT], 612);
    assert_int_equal(c.debug_flags, 1 << LOG_INIT | 1 << LOG_MSG);
    assert_int_equal(c.watch.plain.silent.ns, span_s(600).ns);
    assert_int_equal(c.watch.plain.late.ns, span_s(450).ns);
    assert_int_equal(c.number[SETTING_HEARTBEAT_INTERVAL], span_s(300).ns);
#define COMMON " RealMemory=2048 VirtualMemory=4096 TmpDisk=16384 Partition=1"
    assert_string_equal(
        config_show_roster(&c),
        "lx01 OS=Linux.2.4.7-10 CPUs=2 Speed=1" COMMON "; lx02 OS=Linux.2.4.7-10 CPUs=2 Speed=1" COMMON
        "; lx03 OS=Linux.2.4.7-10 CPUs=2 Speed=1.5 RealMemory=3072 VirtualMemory=4096 TmpDisk=16384 "
        "Partition=1,2; lx04 OS=Linux.2.4.7-10 CPUs=1 Speed=1.3" COMMON
        ",3; lx05 OS=Linux.2.4.7-10 CPUs=2 Speed=1" COMMON "; lx06 OS=Linux.2.4.7-10 CPUs=2 Speed=1" COMMON);
    config_fini(&c);
}

static void test_defaults(void **state)
{
    struct config c = config_good("", "Name=lx[01-64]\n", NULL);
    assert_int_equal(c.roster.n, 64);
    assert_int_equal(c.collectors.n, 0);
    assert_int_equal(c.number[SETTING_MACH_STATUS_PORT], 6120);
    assert_int_equal(c.number[SETTING_HEARTBEAT_INTERVAL], span_s(10).ns);
    assert_int_equal(c.watch.plain.late.ns, span_s(30).ns);
    assert_int_equal(c.watch.plain.silent.ns, span_s(90).ns);
    assert_int_equal(c.watch.sensitive.late.ns, span_s(120).ns);
    assert_int_equal(c.watch.sensitive.silent.ns, span_s(420).ns);
    assert_int_equal(c.watch.borrowed.late.ns, span_s(30).ns);
    assert_int_equal(c.watch.borrowed.silent.ns, span_s(60).ns);
    assert_int_equal(c.watch.silent_share_percent, 25);
    assert_int_equal(c.watch.spread.ns, span_ms(96).ns);
    assert_true(c.watch.judge);
    assert_int_equal(c.roster.partition_max, 31);
    config_fini(&c);
}

/* --- parameters ------------------------------------------------------------------------------ */

static void test_how_long_a_fingerprint_counts(void **state)
{
    struct config c = config_good("", "Name=lx01\n", NULL);
    assert_int_equal(c.number[SETTING_FINGERPRINT_INTERVAL], span_s(6 * 3600).ns);
    assert_int_equal(c.watch.conform.stale.ns, span_s(13 * 3600).ns);
    assert_int_equal(c.watch.conform.timeout.ns, span_s(24 * 3600).ns);
    assert_int_equal(c.watch.conform.sensitive.ns, span_s(4 * 3600).ns);
    assert_int_equal(c.watch.conform.drift_share_percent, 25);
    config_fini(&c);
    c = config_good(
        "FingerprintInterval = 24h\nDriftTimeout = 2h\nSensitiveDriftTimeout = 10m\nMaxDriftShare = 10\n",
        "Name=lx01\n", NULL);
    assert_int_equal(c.watch.conform.stale.ns, span_s(49 * 3600).ns);
    assert_int_equal(c.watch.conform.timeout.ns, span_s(7200).ns);
    assert_int_equal(c.watch.conform.sensitive.ns, span_s(600).ns);
    assert_int_equal(c.watch.conform.drift_share_percent, 10);
    config_fini(&c);
    c = config_good("FingerprintStale = 7h\n", "Name=lx01\n", NULL);
    assert_int_equal(c.watch.conform.stale.ns, span_s(7 * 3600).ns);
    config_fini(&c);
}

static void test_timeouts_follow_the_interval(void **state)
{
    struct config c = config_good("HeartBeatInterval = 60\nHeartBeatTimeout = 600\n", "Name=lx01\n", NULL);
    assert_int_equal(c.watch.plain.late.ns, span_s(90).ns);
    assert_int_equal(c.watch.borrowed.late.ns, span_s(90).ns);
    assert_int_equal(c.watch.borrowed.silent.ns, span_s(120).ns);
    config_fini(&c);
    c = config_good("HeartBeatInterval = 300\n", "Name=lx01\n", NULL);
    assert_int_equal(c.watch.plain.late.ns, span_s(450).ns);
    assert_int_equal(c.watch.plain.silent.ns, span_s(600).ns);
    config_fini(&c);
    c = config_good("HeartBeatTimeout = 24\n", "Name=lx01\n", NULL); /* only the timeout was made short */
    assert_int_equal(c.watch.plain.late.ns, span_s(18).ns);
    config_fini(&c);
    c = config_good("HeartBeatInterval = 0\n", "Name=lx01\n", NULL);
    assert_false(c.watch.judge);
    config_fini(&c);
}

/* --- classes --------------------------------------------------------------------------------- */

static void doubts_of(const char *parameters, const char *nodes, const char *want)
{
    struct config c = config_good(parameters, nodes, NULL);
    CLEANUP_TEXT struct text said = {0};
    for (const char *line = c.warnings.s; line && *line; line += strcspn(line, "\n") + 1)
        text_printf(&said, "%.*s\n", (int)strcspn(line + strlen(config_dir) + 1, "\n"),
                    line + strlen(config_dir) + 1);
    assert_string_equal(said.s ? said.s : "", want);
    config_fini(&c);
}

static void doubts(const char *classes, const char *nodes, const char *want)
{
    doubts_of(config_with_classes("", classes), nodes, want);
}

#define NO_NODE " has no node: none of NodeSpecConf is as it asks, or those are in classes before it\n"

static void test_classes_of_nodes_that_nobody_configured(void **state)
{
    static const char nodes[] = "Name=lx[01-04] Group=1\nName=gx01 Group=2\n";
    doubts("Class=a Nodes=lx[01-02]\nClass=b Group=2\nClass=default Minor=x\n", nodes, "");
    doubts("# one\n\nClass=a Nodes=lx[03-06],gx1\n", nodes,
           "classes:3: class \"a\" names nodes that are not in NodeSpecConf: gx1,lx[05-06]\n");
    doubts("Class=a Nodes=gx01\nClass=b Nodes=hx[01-02]\n", nodes,
           "classes:2: class \"b\" names nodes that are not in NodeSpecConf: hx[01-02]\n"
           "classes:2: class \"b\"" NO_NODE);
    doubts("Class=rack3 Group=3\n", nodes, "classes:1: class \"rack3\"" NO_NODE);
    doubts("Class=all\nClass=a Nodes=lx01\n", nodes, "classes:2: class \"a\"" NO_NODE);
    doubts("Class=a Nodes=lx[05-06]\nClass=rack3 Group=3\n", "# they come by themselves\n", "");
}

static void test_nodes_and_files_that_are_not_there(void **state)
{
    static const char nodes[] = "Name=lx[01-04]\n";
    CLEANUP_TEXT struct text t = {0};
    config_write("checks", "Check=a Probe=zombies Nodes=lx[01-02]\n#\nCheck=b Probe=load Nodes=lx[03-06]\n");
    text_printf(&t, "CheckConf = %s/checks\n", config_dir);
    doubts_of(t.s, nodes, "checks:3: check \"b\" names nodes that are not in NodeSpecConf: lx[05-06]\n");
    doubts_of(t.s, "# they come by themselves\n", "");
    doubts_of("CollectorNodes = lx01,gx1\n", nodes,
              "fettle.conf:3: CollectorNodes names nodes that are not in NodeSpecConf: gx1\n");
    doubts_of("SlurmScontrol = /nonexistent/scontrol\nReplaceProgram = /bin/sh\n", nodes,
              "fettle.conf:3: SlurmScontrol names a file that is not there: /nonexistent/scontrol\n");
    doubts_of("CollectorNodes = lx01\nSlurmScontrol =\nReplaceProgram = /bin/sh\n", nodes, "");
}

/* Once for each class that has nodes; for all when the nodes are still to come. */
static void test_acting_without_examinations_is_doubted(void **state)
{
    static const char act[] = "Health = act\n";
    static const char doubt[] = "fettle.conf:3: Health is act, and class \"default\" has no check with "
                                "When=extensive: its nodes return "
                                "from a repair without an examination\n";
    doubts_of(act, "# they come by themselves\n", doubt);
    doubts_of(act, "Name=lx[01-04]\n", doubt);
}

static void test_changed_parameters_are_said(void **state)
{
    CLEANUP_TEXT struct text t = {0};
    struct config was = config_good("", "Name=lx01\n", NULL);
    struct config is = config_good("HeartBeatInterval = 20\nApiPort = 7000\n", "Name=lx01\n", NULL);
    config_compare(&was, &is, &t);
    assert_string_equal(t.s, "HeartBeatInterval \"10\" -> \"20\"\n"
                             "ApiPort \"6121\" -> \"7000\"; takes effect when fettled starts anew\n");
    config_fini(&was);
    config_fini(&is);

    text_clear(&t);
    was = config_good(config_with_file("CheckConf", "checks", "Check=time\n", ""), "Name=lx01\n", NULL);
    is = config_good(config_with_file("CheckConf", "checks", "# the clock\nCheck=time\n", ""), "Name=lx01\n",
                     NULL);
    config_compare(&was, &is, &t);
    assert_int_equal(t.len, 0);
    config_fini(&is);
    is =
        config_good(config_with_file("CheckConf", "checks", "Check=time Fails=3\n", ""), "Name=lx01\n", NULL);
    config_compare(&was, &is, &t);
    assert_string_equal(t.s, "the records of CheckConf changed\n");
    config_fini(&was);
    config_fini(&is);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, config_setup, config_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_acting_without_examinations_is_doubted),
        TEST(test_the_document_s_samples),
        TEST(test_defaults),
        TEST(test_how_long_a_fingerprint_counts),
        TEST(test_timeouts_follow_the_interval),
        TEST(test_classes_of_nodes_that_nobody_configured),
        TEST(test_nodes_and_files_that_are_not_there),
        TEST(test_changed_parameters_are_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
