/* SPDX-License-Identifier: Apache-2.0 */
#include "health/argument.h"
#include "health/check.h"
#include "health/checks_test.h"
#include "health/plugin.h"

#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void test_a_record_says_everything_of_a_check(void **state)
{
    struct checks c = {0};
    checks_good(
        "# a comment\n"
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

static void test_a_bad_key_is_named_with_the_nearest(void **state)
{
    checks_refused("Check=zombies\nCheck=time Evry=60s",
                   "checks.conf:2: unknown key \"Evry\"; the nearest known is \"Every\"");
    checks_refused("Check=fs.space Pth=/",
                   "checks.conf:1: unknown key \"Pth\"; the nearest known is \"Path\"");
    checks_refused("Check=zombies Qqqqqqqqqqqqqq=1", "checks.conf:1: unknown key \"Qqqqqqqqqqqqqq\"");
    checks_refused("Check=zombies Nodes1=a",
                   "checks.conf:1: unknown key \"Nodes1\"; the nearest known is \"Nodes\"");
}

static void test_a_key_of_another_probe_is_an_error(void **state)
{
    checks_refused("Check=zombies Inodes=5%",
                   "checks.conf:1: key \"Inodes\" belongs to fs.space, and the probe here is zombies");
    checks_refused("Check=zombies RUN=/x",
                   "checks.conf:1: key \"RUN\" belongs to plugin, tool, and the probe here is zombies");
}

static void test_a_bad_name_or_probe_is_named(void **state)
{
    checks_refused("Every=60s Check=time", "checks.conf:1: the record of a check begins with Check=NAME");
    checks_refused(
        "Check=Time",
        "checks.conf:1: \"Time\" is no name of a check: lower-case letters, digits, '.', '-' and '_', "
        "a letter or digit first, at most 48");
    checks_refused(
        "Check=tim",
        "checks.conf:1: no probe \"tim\"; the nearest is \"time\"; a check of another name says which "
        "Probe it is");
    checks_refused("Check=scratch",
                   "checks.conf:1: no probe \"scratch\"; a check of another name says which Probe it is");
    checks_refused("Check=a Probe=tim", "checks.conf:1: no probe \"tim\"; the nearest is \"time\"");
    checks_refused("Check=time\nCheck=zombies\nCheck=time Every=3s",
                   "checks.conf:3: check \"time\" is there already");
    checks_refused("Check=fs.mounted", "checks.conf:1: probe fs.mounted must have Path");
    checks_refused("Check=service",
                   "checks.conf:1: probe service must have one of Name, Command, Socket, Port and Unit");
}

static void bad_value(const char *field, const char *sentence)
{
    char record[256], whole[512];
    snprintf(record, sizeof record, "Check=a Probe=fs.space %s", field);
    snprintf(whole, sizeof whole, "checks.conf:1: %s", sentence);
    checks_refused(record, whole);
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
    checks_good(t.s, &c);
    assert_int_equal(c.n, CHECKS_MAX);
    checks_fini(&c);
    text_add(&t, "Check=time\n");
    checks_refused(t.s, "checks.conf:257: check \"time\" is one too many; there are 256 at most");
}

static void test_named_nodes_have_a_limit(void **state)
{
    checks_refused("Check=time Nodes=a[1-200000] Nodes2=b[1-200000] Nodes3=c[1-200000] Nodes4=d[1-200000] "
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

static void test_a_set_stands_for_its_records(void **state)
{
    struct checks c = {0}, sets = {0};
    checks_good("Include=nvidia\nCheck=slurmd Probe=zombies\nInclude=default\nCheck=dcgm-1 Probe=load\n", &c);
    assert_int_equal(checks_find(&c, "dcgm-1")->probe, PROBE_LOAD); /* the file's own */
    assert_int_equal(checks_find(&c, "slurmd")->probe, PROBE_ZOMBIES);
    const struct check *k = checks_find(&c, "all-reduce");
    assert_int_equal(k->probe, PROBE_TOOL);
    assert_true(k->when & CHECK_SCHEDULED);
    assert_int_equal(k->line, 1);
    assert_non_null(checks_find(&c, "fs-capacity"));
    checks_fini(&c);
    checks_good("Include=cpu\nInclude=infiniband\nInclude=nvidia\nInclude=default\n",
                &sets); /* no name twice */
    checks_fini(&sets);
    checks_refused("Check=load\nInclude=nvdia\n",
                   "checks.conf:2: Include: there is no set \"nvdia\"; there are default, "
                   "nvidia, infiniband, cpu");
    checks_refused("Include=nvidia Classes=gpu\n",
                   "checks.conf:1: Classes: a line with Include has nothing beside it");
    checks_refused("Include=cpu\nInclude=cpu\n",
                   "checks.conf:2: check \"memory-bandwidth\" is there already");
    checks_refused("Check=a Probe=tool Tool=dcgmi Run=x\n",
                   "checks.conf:1: Tool: \"dcgmi\" is no tool whose output is known");
}

static void test_a_line_has_the_keys_that_differ_from_the_defaults(void **state)
{
    check_line_is("Check=time", "Check=time");
    check_line_is(
        "Check=time Probe=time Every=60s When=periodic,boot Severity=fatal Fails=1 Group=1 Canary=100% "
        "Observe=no",
        "Check=time");
}

static void test_a_line_is_always_the_same(void **state)
{
    check_line_is(
        "Check=a Probe=fs.space Nodes=n3,n1,n2 Classes=z,b Observe=1 Warn=10 Path=\"/a b\\\"c\\\\\" "
        "Every=120s "
        "When=idle Canary=5",
        "Check=a Probe=fs.space Path=\"/a b\\\"c\\\\\" Warn=10 When=periodic,idle Every=2m Observe=yes "
        "Canary=5% "
        "Classes=b,z Nodes=n[1-3]");
    check_line_is("Check=a Probe=plugin Run=a\\b\"c", "Check=a Probe=plugin Run=a\\b\"c");
    check_line_is("Check=a Probe=plugin Run=\"\\\"a\"", "Check=a Probe=plugin Run=\"\\\"a\"");
}

static void test_nodes_replace_the_nodes_of_a_check(void **state)
{
    struct checks c = {0};
    CLEANUP_TEXT struct text t = {0};
    struct hostlist nodes = {0};
    checks_good("Check=time Classes=a Canary=5% Nodes=x", &c);
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
    checks_good("Check=time Canary=10%", &c);
    for (int i = 0; i < 10000; i++) {
        char name[16];
        snprintf(name, sizeof name, "n%05d", i);
        if (check_applies(&c.list[0], "default", name))
            hostlist_add(&nodes, name);
    }
    check_format(&c.list[0], &nodes, &t);
    assert_non_null(strstr(t.s, " Nodes4="));
    checks_good(t.s, &again);
    assert_int_equal(again.list[0].nodes.n, nodes.n);
    for (size_t i = 0; i < nodes.n; i++)
        assert_string_equal(again.list[0].nodes.names[i], nodes.names[i]);
    hostlist_fini(&nodes);
    checks_fini(&c);
    checks_fini(&again);
}

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
        checks_good(record.s, &c);
        check_format(&c.list[0], NULL, &line);
        checks_good(line.s, &again);
        same(&c.list[0], &again.list[0]);
        check_format(&again.list[0], NULL, &second);
        assert_string_equal(line.s, second.s);
        checks_fini(&c);
        checks_fini(&again);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_record_says_everything_of_a_check),
        cmocka_unit_test(test_a_bad_key_is_named_with_the_nearest),
        cmocka_unit_test(test_a_set_stands_for_its_records),
        cmocka_unit_test(test_a_key_of_another_probe_is_an_error),
        cmocka_unit_test(test_a_bad_name_or_probe_is_named),
        cmocka_unit_test(test_a_bad_value_is_named_with_its_key),
        cmocka_unit_test(test_checks_have_a_limit),
        cmocka_unit_test(test_named_nodes_have_a_limit),
        cmocka_unit_test(test_a_file_is_read),
        cmocka_unit_test(test_a_line_has_the_keys_that_differ_from_the_defaults),
        cmocka_unit_test(test_a_line_is_always_the_same),
        cmocka_unit_test(test_nodes_replace_the_nodes_of_a_check),
        cmocka_unit_test(test_many_nodes_go_on_in_further_keys),
        cmocka_unit_test(test_every_line_reads_back_as_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
