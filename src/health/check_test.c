/* SPDX-License-Identifier: Apache-2.0 */
#include "health/check.h"

#include "health/argument.h"
#include "health/key.h"
#include "health/plugin.h"

#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void parse(const char *records, struct checks *c)
{
    struct err e = {0};
    if (checks_parse("checks.conf", records, strlen(records), c, &e) < 0)
        fail_msg("%s: %s", records, e.msg);
}

static void refused(const char *records, const char *sentence)
{
    struct checks c = {0};
    struct err e = {0};
    int rc = checks_parse("checks.conf", records, strlen(records), &c, &e);
    if (rc != -EINVAL || strcmp(e.msg, sentence) != 0)
        fail_msg("%s: %d \"%s\"", records, rc, e.msg);
    assert_int_equal(c.n, 0);
    assert_null(c.list);
}

static void line_is(const char *record, const char *line)
{
    struct checks c = {0};
    CLEANUP_TEXT struct text t = {0};
    parse(record, &c);
    check_format(&c.list[0], NULL, &t);
    assert_string_equal(t.s, line);
    checks_fini(&c);
}

/* --- probes and their keys ----------------------------------------------------------------------- */

static void test_probes_are_found_by_name(void **state)
{
    enum probe p = PROBE_PLUGIN;
    assert_true(probe_find("fs.space", &p));
    assert_int_equal(p, PROBE_FS_SPACE);
    assert_string_equal(probe_row(p)->name, "fs.space");
    assert_int_equal(probe_row(p)->how, PROBE_APART);
    assert_false(probe_find("fs", &p));
    assert_int_equal(p, PROBE_FS_SPACE);
}

/* A key of a probe says what it is, hides none of any check, and every row of argument.tbl is of a key. */
static void test_the_tables_agree(void **state)
{
    static const char *const described[][2] = {
#define ARGUMENT(probe, key, form, least, most, need, what) {probe, key},
#include "health/argument.tbl"
#undef ARGUMENT
    };
    enum { DESCRIBED = sizeof described / sizeof described[0] };
    struct argument a;
    for (int p = 0; p < PROBES; p++) {
        size_t n = 0;
        for (; argument_at((enum probe)p, n, &a); n++) {
            if (!*a.what)
                fail_msg("argument.tbl has no row for %s of %s", a.key, probe_row((enum probe)p)->name);
            if (key_find(a.key))
                fail_msg("%s of %s is a key of any check", a.key, probe_row((enum probe)p)->name);
        }
        assert_true(n <= CHECK_ARGS_MAX);
    }
    for (size_t i = 0; i < DESCRIBED; i++) {
        enum probe p;
        if (!probe_find(described[i][0], &p) || !argument_find(p, described[i][1], &a))
            fail_msg("probe.tbl has no key %s of %s", described[i][1], described[i][0]);
    }
}

/* A threshold that need not be given says in brackets what it is then: the man page has it from there. */
static void test_a_threshold_says_its_default(void **state)
{
    struct argument a;
    for (int p = 0; p < PROBES; p++)
        for (size_t i = 0; argument_at((enum probe)p, i, &a); i++) {
            bool threshold = a.form != ARGUMENT_TEXT && a.form != ARGUMENT_PATH;
            bool names = p == PROBE_SERVICE; /* Port: which one, and not how many */
            if (threshold && !a.must && !names && a.what[strlen(a.what) - 1] != ')')
                fail_msg("%s of %s does not say its default", a.key, probe_row((enum probe)p)->name);
        }
}

/* --- reading ------------------------------------------------------------------------------------- */

static void test_a_record_that_says_nothing_is_as_its_probe(void **state)
{
    struct checks c = {0};
    parse("Check=zombies\n", &c);
    const struct check *k = &c.list[0];
    assert_int_equal(c.n, 1);
    assert_string_equal(k->name, "zombies");
    assert_int_equal(k->probe, PROBE_ZOMBIES);
    assert_int_equal(k->when, CHECK_BOOT | CHECK_PERIODIC);
    assert_int_equal(k->every.ns, span_s(60).ns);
    assert_int_equal(k->deadline.ns, span_s(10).ns);
    assert_int_equal(k->severity, RESULT_DEGRADED);
    assert_int_equal(k->fails, 1);
    assert_int_equal(k->passes, 1);
    assert_int_equal(k->fail_percent, 0);
    assert_int_equal(k->window.ns, span_s(600).ns);
    assert_int_equal(k->sticky.ns, 0);
    assert_false(k->observe);
    assert_int_equal(k->canary_percent, 100);
    assert_int_equal(k->group, 1);
    assert_int_equal(k->classes.n, 0);
    assert_int_equal(k->nodes.n, 0);
    assert_int_equal(k->n_args, 0);
    checks_fini(&c);
}

static void test_a_record_says_everything_of_a_check(void **state)
{
    struct checks c = {0};
    parse("# a comment\n"
          "check=scratch path=/scratch Probe=fs.mounted WHEN=demand,idle every=2m Deadline=500ms "
          "Severity=lost Fails=2 "
          "Passes=100 FailPercent=60% FailWindow=1h Sticky=7d Observe=YES Canary=10 Classes=login,gpu,login "
          "Nodes=n[1-3],n10\n",
          &c);
    const struct check *k = &c.list[0];
    assert_string_equal(k->name, "scratch");
    assert_int_equal(k->probe, PROBE_FS_MOUNTED);
    assert_int_equal(k->when, CHECK_DEMAND | CHECK_IDLE | CHECK_PERIODIC);
    assert_int_equal(k->every.ns, span_s(120).ns);
    assert_int_equal(k->deadline.ns, span_ms(500).ns);
    assert_int_equal(k->severity, RESULT_LOST);
    assert_int_equal(k->fails, 2);
    assert_int_equal(k->passes, 100);
    assert_int_equal(k->fail_percent, 60);
    assert_int_equal(k->window.ns, span_s(3600).ns);
    assert_int_equal(k->sticky.ns, span_s(7 * 86400).ns);
    assert_true(k->observe);
    assert_int_equal(k->canary_percent, 10);
    assert_int_equal(k->classes.n, 2);
    assert_string_equal(k->classes.names[0], "gpu");
    assert_int_equal(k->nodes.n, 4);
    assert_string_equal(k->nodes.names[1], "n10");
    assert_string_equal(check_arg(k, "Path"), "/scratch");
    assert_null(check_arg(k, "Type"));
    assert_ptr_equal(checks_find(&c, "scratch"), k);
    assert_null(checks_find(&c, "fs.mounted"));
    checks_fini(&c);
}

/* What should not be there while no work runs is looked at then alone. */
static void test_a_probe_of_idle_nodes_waits_for_one(void **state)
{
    struct checks c = {0};
    parse("Check=orphans\nCheck=memory.idle When=boot,idle\nCheck=nvidia.idle When=periodic\n", &c);
    assert_int_equal(c.list[0].when, CHECK_PERIODIC | CHECK_IDLE);
    assert_int_equal(c.list[1].when, CHECK_BOOT | CHECK_PERIODIC | CHECK_IDLE);
    assert_int_equal(c.list[2].when, CHECK_PERIODIC);
    checks_fini(&c);
    line_is("Check=orphans When=idle", "Check=orphans");
    line_is("Check=orphans When=periodic", "Check=orphans When=periodic");
}

static void test_nodes_run_a_check_together_where_no_work_runs(void **state)
{
    struct checks c = {0};
    parse("Check=pair Probe=plugin Run=/x When=scheduled,demand Group=2", &c);
    assert_int_equal(c.list[0].group, 2);
    checks_fini(&c);
    parse("Check=pair Probe=plugin Run=/x When=scheduled,extensive Group=2", &c);
    checks_fini(&c);
    refused("Check=pair Probe=plugin Run=/x Group=2",
            "checks.conf:1: Group: nodes run a check together only with When=scheduled, extensive or demand");
}

static void test_what_the_controller_schedules_has_times_of_its_own(void **state)
{
    struct checks c = {0};
    parse("Check=burn Probe=plugin Every=30d Run=/x When=scheduled,extensive\n"
          "Check=all-reduce Probe=plugin Run=/x When=scheduled",
          &c);
    assert_int_equal(c.list[0].every.ns, span_s(30 * 86400).ns);
    assert_int_equal(c.list[1].every.ns, span_s(86400).ns);
    assert_int_equal(c.list[1].when, CHECK_SCHEDULED);
    checks_fini(&c);
    refused("Check=x Probe=plugin Run=/x When=scheduled,idle",
            "checks.conf:1: When: scheduled goes only with extensive and demand; idle is for checks that the "
            "node "
            "runs at its own times");
    refused("Check=x Probe=plugin Run=/x When=scheduled Every=59s",
            "checks.conf:1: Every: a scheduled check takes the node from work; 1m is the minimum");
    refused("Check=x Probe=plugin Run=/x Every=8d",
            "checks.conf:1: Every: more than 7d is for When=scheduled");
    refused("Check=kernel.log When=scheduled",
            "checks.conf:1: When: probe kernel.log reports events as they come, and cannot be scheduled");
}

static void test_there_are_so_many_scheduled_ones_at_most(void **state)
{
    CLEANUP_TEXT struct text t = {0};
    struct checks c = {0};
    for (int i = 0; i < CHECKS_SCHEDULED_MAX; i++)
        text_printf(&t, "Check=c%d Probe=plugin Run=/x When=scheduled\n", i);
    parse(t.s, &c);
    checks_fini(&c);
    text_add(&t, "Check=more Probe=plugin Run=/x When=scheduled\n");
    refused(t.s, "checks.conf:65: check \"more\" is one too many with When=scheduled; there are 64 at most");
}

static void test_a_bad_key_is_named_with_the_nearest(void **state)
{
    refused("Check=zombies\nCheck=time Evry=60s",
            "checks.conf:2: unknown key \"Evry\"; the nearest known is \"Every\"");
    refused("Check=fs.space Pth=/", "checks.conf:1: unknown key \"Pth\"; the nearest known is \"Path\"");
    refused("Check=zombies Qqqqqqqqqqqqqq=1", "checks.conf:1: unknown key \"Qqqqqqqqqqqqqq\"");
    refused("Check=zombies Nodes1=a",
            "checks.conf:1: unknown key \"Nodes1\"; the nearest known is \"Nodes\"");
}

static void test_a_key_of_another_probe_is_an_error(void **state)
{
    refused("Check=zombies Inodes=5%",
            "checks.conf:1: key \"Inodes\" belongs to fs.space, and the probe here is zombies");
    refused("Check=zombies RUN=/x",
            "checks.conf:1: key \"RUN\" belongs to plugin, tool, and the probe here is zombies");
}

static void test_a_bad_name_or_probe_is_named(void **state)
{
    refused("Every=60s Check=time", "checks.conf:1: the record of a check begins with Check=NAME");
    refused("Check=Time",
            "checks.conf:1: \"Time\" is no name of a check: lower-case letters, digits, '.', '-' and '_', "
            "a letter or digit first, at most 48");
    refused("Check=tim",
            "checks.conf:1: no probe \"tim\"; the nearest is \"time\"; a check of another name says which "
            "Probe it is");
    refused("Check=scratch",
            "checks.conf:1: no probe \"scratch\"; a check of another name says which Probe it is");
    refused("Check=a Probe=tim", "checks.conf:1: no probe \"tim\"; the nearest is \"time\"");
    refused("Check=time\nCheck=zombies\nCheck=time Every=3s",
            "checks.conf:3: check \"time\" is there already");
    refused("Check=fs.mounted", "checks.conf:1: probe fs.mounted must have Path");
    refused("Check=service",
            "checks.conf:1: probe service must have one of Name, Command, Socket, Port and Unit");
}

static void bad_value(const char *field, const char *sentence)
{
    char record[256], whole[512];
    snprintf(record, sizeof record, "Check=a Probe=fs.space %s", field);
    snprintf(whole, sizeof whole, "checks.conf:1: %s", sentence);
    refused(record, whole);
}

static void test_a_bad_value_is_named_with_its_key(void **state)
{
    bad_value("Every=999ms", "Every: \"999ms\" is not a time from 1s to 30d");
    bad_value("Every=31d", "Every: \"31d\" is not a time from 1s to 30d");
    bad_value("Every=", "Every: the value is empty");
    bad_value("Deadline=99ms", "Deadline: \"99ms\" is not a time from 100ms to 1d");
    bad_value("Deadline=25h", "Deadline: \"25h\" is not a time from 100ms to 1d");
    bad_value("Severity=ok", "Severity: \"ok\" is none of info, warn, degraded, fatal and lost");
    bad_value("Fails=0", "Fails: \"0\" is not a number from 1 to 100");
    bad_value("Passes=101", "Passes: \"101\" is not a number from 1 to 100");
    bad_value("FailPercent=101%", "FailPercent: \"101%\" is not a number from 0 to 100 %");
    bad_value("FailWindow=0s", "FailWindow: \"0s\" is not a time from 1s to 7d");
    bad_value("Sticky=8d", "Sticky: \"8d\" is not a time from 0s to 7d");
    bad_value("Observe=maybe", "Observe: \"maybe\" is neither yes nor no");
    bad_value("Canary=0%", "Canary: \"0%\" is not a number from 1 to 100 %");
    bad_value("Group=0", "Group: \"0\" is not a number from 1 to 64");
    bad_value(
        "When=boot,often",
        "When: \"often\" is none of boot, periodic, idle, prolog, epilog, demand, extensive and scheduled");
    bad_value("When=boot,",
              "When: \"\" is none of boot, periodic, idle, prolog, epilog, demand, extensive and scheduled");
    bad_value("Classes=a,-b", "Classes: \"-b\" is no name of a class");
    bad_value("Nodes=a!a", "Nodes: \"a!a\" names no node");
    bad_value("Nodes=n[1-2", "Nodes: \"n[1-2\": a bracket is not closed");
    bad_value("Path=scratch", "Path: \"scratch\" is no absolute path");
    bad_value("Path=/a\x01", "Path: a control character at byte 2");
    bad_value("Path=/\xff", "Path: not UTF-8 at byte 1");
    bad_value("Free=lots", "Free: \"lots\" is not a number of bytes (1024, 500MB or 4GiB)");
    bad_value("Free=101%", "Free: \"101%\" is not a number from 0 to 100 %");
    bad_value("FailPercent=10% Every=1s",
              "FailWindow has room for 600 looks; with FailPercent it takes 1 to 64");
    bad_value("FailPercent=10% FailWindow=59s",
              "FailWindow has room for 0 looks; with FailPercent it takes 1 to 64");
    bad_value("Every=1s every=2s", "this record has two fields \"every\"");
}

static void test_checks_have_a_limit(void **state)
{
    struct checks c = {0};
    CLEANUP_TEXT struct text t = {0};
    for (int i = 0; i < CHECKS_MAX; i++)
        text_printf(&t, "Check=c%d Probe=time\n", i);
    parse(t.s, &c);
    assert_int_equal(c.n, CHECKS_MAX);
    checks_fini(&c);
    text_add(&t, "Check=time\n");
    refused(t.s, "checks.conf:257: check \"time\" is one too many; there are 256 at most");
}

static void test_named_nodes_have_a_limit(void **state)
{
    refused("Check=time Nodes=a[1-200000] Nodes2=b[1-200000] Nodes3=c[1-200000] Nodes4=d[1-200000] "
            "Nodes5=e[1-200000] "
            "Nodes6=f[1-200000]",
            "checks.conf:1: Nodes: more than 1048576 nodes");
}

static void test_a_file_is_read(void **state)
{
    char path[] = "/tmp/fettle-check-XXXXXX";
    struct checks c = {0};
    struct err e;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(dprintf(fd, "Check=time\n"), 11);
    close(fd);
    assert_int_equal(checks_read(path, &c, &e), 0);
    assert_int_equal(c.n, 1);
    checks_fini(&c);
    unlink(path);
    assert_int_equal(checks_read(path, &c, &e), -ENOENT);
    assert_int_equal(c.n, 0);
}

static void test_the_defaults_are_those_of_clusterware(void **state)
{
    static const struct {
        const char *name;
        enum probe probe;
    } rows[] = {{"system-errors", PROBE_KERNEL_LOG}, {"fs-capacity", PROBE_FS_SPACE},
                {"slurmd", PROBE_SERVICE},           {"ntp", PROBE_TIME},
                {"zombie", PROBE_ZOMBIES},           {"ethlink", PROBE_ETHERNET}};
    struct checks c = {0};
    checks_default(&c);
    assert_int_equal(c.n, sizeof rows / sizeof rows[0]);
    for (size_t i = 0; i < c.n; i++) {
        assert_string_equal(c.list[i].name, rows[i].name);
        assert_int_equal(c.list[i].probe, rows[i].probe);
    }
    assert_non_null(check_arg(checks_find(&c, "fs-capacity"), "Inodes"));
    assert_string_equal(check_arg(checks_find(&c, "slurmd"), "Name"), "slurmd");
    checks_fini(&c);
}

static void test_a_set_stands_for_its_records(void **state)
{
    struct checks c = {0}, sets = {0};
    parse("Include=nvidia\nCheck=slurmd Probe=zombies\nInclude=default\nCheck=dcgm-1 Probe=load\n", &c);
    assert_int_equal(checks_find(&c, "dcgm-1")->probe, PROBE_LOAD); /* the file's own */
    assert_int_equal(checks_find(&c, "slurmd")->probe, PROBE_ZOMBIES);
    const struct check *k = checks_find(&c, "all-reduce");
    assert_int_equal(k->probe, PROBE_TOOL);
    assert_true(k->when & CHECK_SCHEDULED);
    assert_int_equal(k->line, 1);
    assert_non_null(checks_find(&c, "fs-capacity"));
    checks_fini(&c);
    parse("Include=cpu\nInclude=infiniband\nInclude=nvidia\nInclude=default\n", &sets); /* no name twice */
    checks_fini(&sets);
    refused("Check=load\nInclude=nvdia\n",
            "checks.conf:2: Include: there is no set \"nvdia\"; there are default, "
            "nvidia, infiniband, cpu");
    refused("Include=nvidia Classes=gpu\n",
            "checks.conf:1: Classes: a line with Include has nothing beside it");
    refused("Include=cpu\nInclude=cpu\n", "checks.conf:2: check \"memory-bandwidth\" is there already");
    refused("Check=a Probe=tool Tool=dcgmi Run=x\n",
            "checks.conf:1: Tool: \"dcgmi\" is no tool whose output is known");
}

/* --- writing ------------------------------------------------------------------------------------- */

static void test_a_line_has_what_differs_from_the_defaults(void **state)
{
    line_is("Check=time", "Check=time");
    line_is("Check=time Probe=time Every=60s When=periodic,boot Severity=fatal Fails=1 Group=1 Canary=100% "
            "Observe=no",
            "Check=time");
}

static void test_a_line_is_always_the_same(void **state)
{
    line_is("Check=a Probe=fs.space Nodes=n3,n1,n2 Classes=z,b Observe=1 Warn=10 Path=\"/a b\\\"c\\\\\" "
            "Every=120s "
            "When=idle Canary=5",
            "Check=a Probe=fs.space Path=\"/a b\\\"c\\\\\" Warn=10 When=periodic,idle Every=2m Observe=yes "
            "Canary=5% "
            "Classes=b,z Nodes=n[1-3]");
    line_is("Check=a Probe=plugin Run=a\\b\"c", "Check=a Probe=plugin Run=a\\b\"c");
    line_is("Check=a Probe=plugin Run=\"\\\"a\"", "Check=a Probe=plugin Run=\"\\\"a\"");
}

static void test_nodes_replace_who_runs_it(void **state)
{
    struct checks c = {0};
    CLEANUP_TEXT struct text t = {0};
    struct hostlist nodes = {0};
    parse("Check=time Classes=a Canary=5% Nodes=x", &c);
    hostlist_add(&nodes, "n2");
    hostlist_add(&nodes, "n1");
    hostlist_add(&nodes, "n2");
    check_format(&c.list[0], &nodes, &t);
    assert_string_equal(t.s, "Check=time Nodes=n[1-2]");
    hostlist_fini(&nodes);
    checks_fini(&c);
}

static void test_many_nodes_go_on_in_further_keys(void **state)
{
    struct checks c = {0}, again = {0};
    CLEANUP_TEXT struct text t = {0};
    struct hostlist nodes = {0};
    parse("Check=time Canary=10%", &c);
    for (int i = 0; i < 10000; i++) {
        char name[16];
        snprintf(name, sizeof name, "n%05d", i);
        if (check_applies(&c.list[0], "default", name))
            hostlist_add(&nodes, name);
    }
    check_format(&c.list[0], &nodes, &t);
    assert_non_null(strstr(t.s, " Nodes4="));
    parse(t.s, &again);
    assert_int_equal(again.list[0].nodes.n, nodes.n);
    for (size_t i = 0; i < nodes.n; i++)
        assert_string_equal(again.list[0].nodes.names[i], nodes.names[i]);
    hostlist_fini(&nodes);
    checks_fini(&c);
    checks_fini(&again);
}

/* --- whatever can be said reads back as the same ------------------------------------------------- */

static unsigned draw(unsigned *seed, unsigned n)
{
    return (unsigned)rand_r(seed) % n;
}

static void put_argument(const struct argument *a, unsigned *seed, struct text *t)
{
    static const char *const texts[] = {"x", "\"a b\"", "a\\\"b", "\"\\\\ \\\"\"", "\xc3\xbc"};
    static const char *const shares[] = {"0%", "100", "7%", "5GiB", "1", "20kB"};
    text_printf(t, " %s=", a->key);
    switch (a->form) {
    case ARGUMENT_TEXT: text_add(t, texts[draw(seed, 5)]); return;
    case ARGUMENT_PATH: text_add(t, draw(seed, 2) ? "/" : "\"/a b\""); return;
    case ARGUMENT_NUMBER: text_printf(t, "%" PRId64, draw(seed, 2) ? a->least : a->most); return;
    case ARGUMENT_SPAN: text_printf(t, "%" PRId64 "ms", draw(seed, 2) ? a->least : a->most); return;
    case ARGUMENT_PERCENT: text_add(t, shares[draw(seed, 3)]); return;
    case ARGUMENT_BYTES: text_add(t, shares[3 + draw(seed, 3)]); return;
    case ARGUMENT_METRIC: text_add(t, metric_name((enum metric)draw(seed, METRICS))); return;
    case ARGUMENT_TOOL: text_add(t, draw(seed, 2) ? "nccl" : "gpu-burn"); return;
    case ARGUMENT_SHARE: text_add(t, shares[draw(seed, 6)]); return;
    }
}

static void put_common(unsigned *seed, enum probe p, struct text *t)
{
    static const char *const some[] = {
        "When=boot",        "When=epilog,prolog", "When=idle",
        "Every=90s",        "Every=7d",           "Deadline=1500ms",
        "Fails=3",          "Passes=9",           "Group=1",
        "Severity=info",    "Severity=lost",      "FailPercent=5% FailWindow=7d Every=7d",
        "Sticky=5ms",       "Observe=yes",        "Canary=1",
        "Classes=b,a,b,c1", "Nodes=n[1-3]",       "Nodes=r[1-2]n[01-16],x",
        "When=scheduled",
    };
    enum { SOME = sizeof some / sizeof some[0] };
    bool seen[256] = {false};
    for (unsigned i = draw(seed, 8); i > 0; i--) {
        const char *field = some[draw(seed, SOME)];
        int kind = strstr(field, "Every=") ? 0 : (field[0] ^ field[1] << 1) & 0xff;
        if (seen[kind] || (strcmp(field, "When=scheduled") == 0 && probe_row(p)->how == PROBE_FOLLOW))
            continue;
        seen[kind] = true;
        text_printf(t, " %s", field);
    }
}

/* Those that order.tbl has pairs of: any value would not do. */
static bool is_ordered(const char *key)
{
    return strcmp(key, "Warn") == 0 || strcmp(key, "Free") == 0 || strcmp(key, "Degraded") == 0;
}

static void put_record(unsigned *seed, struct text *t)
{
    enum probe p = (enum probe)draw(seed, PROBES);
    struct argument a;
    bool has_ordered = false;
    text_printf(t, "Check=%s", draw(seed, 2) ? probe_row(p)->name : "x-1");
    text_printf(t, " Probe=%s", probe_row(p)->name);
    for (size_t i = 0; argument_at(p, i, &a); i++) {
        if (is_ordered(a.key) && has_ordered)
            continue;
        if (a.must || (p == PROBE_SERVICE && i == 0) ||
            draw(seed, 2)) { /* one of a service's has to be there */
            put_argument(&a, seed, t);
            has_ordered = has_ordered || is_ordered(a.key);
        }
    }
    put_common(seed, p, t);
}

static void same(const struct check *a, const struct check *b)
{
    assert_string_equal(a->name, b->name);
    assert_int_equal(a->probe, b->probe);
    assert_int_equal(a->when, b->when);
    assert_int_equal(a->every.ns, b->every.ns);
    assert_int_equal(a->deadline.ns, b->deadline.ns);
    assert_int_equal(a->severity, b->severity);
    assert_int_equal(a->fails, b->fails);
    assert_int_equal(a->passes, b->passes);
    assert_int_equal(a->fail_percent, b->fail_percent);
    assert_int_equal(a->window.ns, b->window.ns);
    assert_int_equal(a->sticky.ns, b->sticky.ns);
    assert_int_equal(a->observe, b->observe);
    assert_int_equal(a->canary_percent, b->canary_percent);
    assert_int_equal(a->group, b->group);
    assert_int_equal(a->classes.n, b->classes.n);
    for (size_t i = 0; i < a->classes.n; i++)
        assert_string_equal(a->classes.names[i], b->classes.names[i]);
    assert_int_equal(a->nodes.n, b->nodes.n);
    for (size_t i = 0; i < a->nodes.n; i++)
        assert_string_equal(a->nodes.names[i], b->nodes.names[i]);
    assert_int_equal(a->n_args, b->n_args);
    for (size_t i = 0; i < a->n_args; i++) {
        assert_string_equal(a->args[i].key, b->args[i].key);
        assert_string_equal(a->args[i].value, b->args[i].value);
    }
}

static void test_every_line_reads_back_as_the_same(void **state)
{
    unsigned seed = 1;
    for (int i = 0; i < 5000; i++) {
        struct checks c = {0}, again = {0};
        CLEANUP_TEXT struct text record = {0}, line = {0}, second = {0};
        put_record(&seed, &record);
        parse(record.s, &c);
        check_format(&c.list[0], NULL, &line);
        parse(line.s, &again);
        same(&c.list[0], &again.list[0]);
        check_format(&again.list[0], NULL, &second);
        assert_string_equal(line.s, second.s);
        checks_fini(&c);
        checks_fini(&again);
    }
}

/* --- arguments ----------------------------------------------------------------------------------- */

/* A check of which the argument Run has this value, whatever its form. */
static struct check with(const char *value)
{
    static char name[] = "a", key[] = "Run", text[64];
    snprintf(text, sizeof text, "%s", value);
    return (struct check){.name = name, .probe = PROBE_PLUGIN, .n_args = 1, .args[0] = {key, text}};
}

static void test_an_argument_that_is_not_there_is_the_fallback(void **state)
{
    struct check k = with("x");
    unsigned percent;
    uint64_t bytes;
    int64_t number;
    struct span span;
    assert_int_equal(check_arg_percent(&k, "Free", 7, &percent, NULL), 0);
    assert_int_equal(percent, 7);
    assert_int_equal(check_arg_bytes(&k, "Free", 8, &bytes, NULL), 0);
    assert_int_equal(bytes, 8);
    assert_int_equal(check_arg_number(&k, "Free", -9, &number, NULL), 0);
    assert_int_equal(number, -9);
    assert_int_equal(check_arg_span(&k, "Free", span_s(1), &span, NULL), 0);
    assert_int_equal(span.ns, span_s(1).ns);
}

static void bytes_are(const char *text, uint64_t expected)
{
    struct check k = with(text);
    uint64_t bytes = 0;
    struct err e = {0};
    if (check_arg_bytes(&k, "run", 7, &bytes, &e) < 0 || bytes != expected)
        fail_msg("%s: %" PRIu64 " %s", text, bytes, e.msg);
}

static void test_numbers_of_bytes(void **state)
{
    bytes_are("0", 0);
    bytes_are("1024", 1024);
    bytes_are("7B", 7);
    bytes_are("500MB", 500000000);
    bytes_are("5k", 5000);
    bytes_are("5KB", 5000);
    bytes_are("5Ki", 5120);
    bytes_are("4GiB", UINT64_C(4) << 30);
    bytes_are("2T", UINT64_C(2000000000000));
    static const char *const bad[] = {"",      "x",  "-1", "1.5G",         "1 G", "1Gb",
                                      "1GiBs", "1X", "GB", "99999999999P", "1%"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct check k = with(bad[i]);
        uint64_t bytes;
        if (check_arg_bytes(&k, "Run", 7, &bytes, NULL) != -EINVAL)
            fail_msg("\"%s\" is taken", bad[i]);
    }
}

static void test_percentages_numbers_and_times(void **state)
{
    unsigned percent;
    int64_t number;
    struct span span;
    struct err e;
    struct check k = with("10%");
    assert_int_equal(check_arg_percent(&k, "Run", 0, &percent, NULL), 0);
    assert_int_equal(percent, 10);
    assert_int_equal(check_arg_number(&k, "Run", 0, &number, &e), -EINVAL);
    assert_string_equal(e.msg, "check a: Run: \"10%\" is not a whole number");
    k = with("100");
    assert_int_equal(check_arg_percent(&k, "Run", 0, &percent, NULL), 0);
    assert_int_equal(percent, 100);
    k = with("101");
    assert_int_equal(check_arg_percent(&k, "Run", 0, &percent, &e), -EINVAL);
    assert_string_equal(e.msg, "check a: Run: \"101\" is not a number from 0 to 100 %");
    k = with("-12");
    assert_int_equal(check_arg_number(&k, "Run", 0, &number, NULL), 0);
    assert_int_equal(number, -12);
    k = with("2s");
    assert_int_equal(check_arg_span(&k, "Run", span_s(0), &span, NULL), 0);
    assert_int_equal(span.ns, span_s(2).ns);
    k = with("soon");
    assert_int_equal(check_arg_span(&k, "Run", span_s(0), &span, &e), -EINVAL);
    assert_non_null(strstr(e.msg, "check a: Run: \"soon\""));
}

/* --- who runs it --------------------------------------------------------------------------------- */

static unsigned canaries(const char *record, const char *before, int n)
{
    struct checks c = {0};
    unsigned have = 0;
    parse(record, &c);
    for (int i = 0; i < n; i++) {
        char node[64];
        snprintf(node, sizeof node, "%s%05d", before, i);
        have += check_has_canary(&c.list[0], node);
        assert_int_equal(check_has_canary(&c.list[0], node), check_has_canary(&c.list[0], node));
    }
    checks_fini(&c);
    return have;
}

static void test_canaries_are_about_their_share(void **state)
{
    for (unsigned percent = 1; percent < 100; percent += 7) {
        char record[64];
        snprintf(record, sizeof record, "Check=time Canary=%u%%", percent);
        assert_in_range(canaries(record, "n", 20000), percent * 200 - 200, percent * 200 + 200);
        assert_in_range(canaries(record, "rack.example-", 20000), percent * 200 - 200, percent * 200 + 200);
    }
    assert_int_equal(canaries("Check=time", "n", 1000), 1000);
    assert_int_equal(canaries("Check=time Canary=100%", "n", 1000), 1000);
}

/* Who they are is in records of agents and in operators' heads: it does not change with a release. */
static void test_canaries_are_the_same_ones_always(void **state)
{
    struct checks c = {0};
    CLEANUP_TEXT struct text t = {0};
    parse("Check=time Canary=25%\nCheck=zombies Canary=25%\nCheck=x Probe=time Canary=50%\n", &c);
    for (size_t i = 0; i < c.n; i++) {
        for (int n = 1; n <= 16; n++) {
            char node[16];
            snprintf(node, sizeof node, "lx%02d", n);
            if (check_has_canary(&c.list[i], node))
                text_printf(&t, "%d ", n);
        }
        text_add(&t, i < 2 ? "| " : "");
    }
    assert_string_equal(t.s, "6 12 13 15 16 | 4 8 11 14 16 | 5 6 7 10 11 12 14 ");
    checks_fini(&c);
}

static void test_a_larger_share_keeps_its_canaries(void **state)
{
    struct checks c = {0};
    parse("Check=time Canary=10%", &c);
    for (int n = 0; n < 1000; n++) {
        char node[16];
        snprintf(node, sizeof node, "n%d", n);
        c.list[0].canary_percent = 10;
        bool before = check_has_canary(&c.list[0], node);
        c.list[0].canary_percent = 30;
        assert_true(!before || check_has_canary(&c.list[0], node));
    }
    checks_fini(&c);
}

static void test_class_and_name_say_who_runs_it(void **state)
{
    struct checks c = {0};
    parse("Check=time\nCheck=a Probe=time Classes=gpu,login\nCheck=b Probe=time Nodes=n[1-20]\n"
          "Check=c Probe=time Classes=gpu Nodes=n[1-20]\nCheck=d Probe=time Nodes=n[1-400] Canary=50%\n",
          &c);
    assert_true(check_applies(&c.list[0], "default", "n1"));
    assert_true(check_applies(&c.list[1], "login", "n1"));
    assert_false(check_applies(&c.list[1], "log", "n1"));
    assert_true(check_applies(&c.list[2], "default", "n20"));
    assert_true(check_applies(&c.list[2], "default", "n9"));
    assert_false(check_applies(&c.list[2], "default", "n21"));
    assert_true(check_applies(&c.list[3], "gpu", "n1"));
    assert_false(check_applies(&c.list[3], "gpu", "m1"));
    assert_false(check_applies(&c.list[3], "cpu", "n1"));
    unsigned run = 0;
    for (int i = 1; i <= 800; i++) {
        char node[16];
        snprintf(node, sizeof node, "n%d", i);
        run += check_applies(&c.list[4], "default", node);
    }
    assert_in_range(run, 150, 250);
    checks_fini(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_probes_are_found_by_name),
        cmocka_unit_test(test_the_tables_agree),
        cmocka_unit_test(test_a_threshold_says_its_default),
        cmocka_unit_test(test_a_record_that_says_nothing_is_as_its_probe),
        cmocka_unit_test(test_a_record_says_everything_of_a_check),
        cmocka_unit_test(test_a_probe_of_idle_nodes_waits_for_one),
        cmocka_unit_test(test_nodes_run_a_check_together_where_no_work_runs),
        cmocka_unit_test(test_a_bad_key_is_named_with_the_nearest),
        cmocka_unit_test(test_a_set_stands_for_its_records),
        cmocka_unit_test(test_a_key_of_another_probe_is_an_error),
        cmocka_unit_test(test_a_bad_name_or_probe_is_named),
        cmocka_unit_test(test_a_bad_value_is_named_with_its_key),
        cmocka_unit_test(test_checks_have_a_limit),
        cmocka_unit_test(test_named_nodes_have_a_limit),
        cmocka_unit_test(test_a_file_is_read),
        cmocka_unit_test(test_the_defaults_are_those_of_clusterware),
        cmocka_unit_test(test_a_line_has_what_differs_from_the_defaults),
        cmocka_unit_test(test_a_line_is_always_the_same),
        cmocka_unit_test(test_nodes_replace_who_runs_it),
        cmocka_unit_test(test_many_nodes_go_on_in_further_keys),
        cmocka_unit_test(test_what_the_controller_schedules_has_times_of_its_own),
        cmocka_unit_test(test_there_are_so_many_scheduled_ones_at_most),
        cmocka_unit_test(test_every_line_reads_back_as_the_same),
        cmocka_unit_test(test_an_argument_that_is_not_there_is_the_fallback),
        cmocka_unit_test(test_numbers_of_bytes),
        cmocka_unit_test(test_percentages_numbers_and_times),
        cmocka_unit_test(test_canaries_are_about_their_share),
        cmocka_unit_test(test_canaries_are_the_same_ones_always),
        cmocka_unit_test(test_a_larger_share_keeps_its_canaries),
        cmocka_unit_test(test_class_and_name_say_who_runs_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
