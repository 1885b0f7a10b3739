/* SPDX-License-Identifier: Apache-2.0 */
#include "health/plugin.h"

#include "health/golden_test.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void show_perf(void *arg, const struct perf *p)
{
    text_printf(arg, "= %.*s is %" PRId64 " thousandths%s%s\n", (int)p->label_len, p->label, p->value_milli,
                *p->unit ? " " : "", p->unit);
}

/* "$ command", its output, "? exit status", and "= " lines of what is made of it. */
static void play(char *file, struct text *out)
{
    CLEANUP_TEXT struct text said = {0};
    for (char *line; *file && (line = strsep(&file, "\n"));) {
        if (line[0] == '=')
            continue;
        text_printf(out, "%s\n", line);
        if (line[0] == '$' || line[0] == '#') {
            text_clear(&said);
        } else if (line[0] != '?') {
            text_printf(&said, "%s\n", line);
        } else {
            struct verdict v;
            text_add(&said, "");
            plugin_read((int)strtol(line + 1, NULL, 10), said.s, said.len, METRIC_PERFDATA, &v);
            text_add(out, "= ");
            verdict_write(&v, out);
            text_add_char(out, '\n');
            perf_each(said.s, said.len, show_perf, out);
        }
    }
}

static void test_what_plugins_of_debian_said(void **state)
{
    golden_play("plugins.txt", play);
}

static struct verdict of(int status, const char *output)
{
    struct verdict v;
    plugin_read(status, output, strlen(output), METRIC_PERFDATA, &v);
    return v;
}

static void test_the_exit_status_is_the_result(void **state)
{
    static const struct {
        int status;
        enum result result;
        size_t n;
    } rows[] = {{0, RESULT_OK, 0},       {1, RESULT_WARN, 1},      {2, RESULT_FATAL, 1},
                {3, RESULT_UNKNOWN, 0},  {4, RESULT_UNKNOWN, 0},   {255, RESULT_UNKNOWN, 0},
                {-9, RESULT_UNKNOWN, 0}, {126, RESULT_UNKNOWN, 0}, {127, RESULT_UNSUPPORTED, 0},
                {137, RESULT_UNKNOWN, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct verdict v = of(rows[i].status, "said");
        assert_int_equal(v.result, rows[i].result);
        assert_int_equal(v.n, rows[i].n);
        assert_non_null(strstr(v.n ? v.findings[0].text : v.text, "said"));
    }
}

static void test_a_signal_is_named(void **state)
{
    assert_string_equal(of(-9, "half").text, "ended by signal 9: half");
    assert_string_equal(of(-11, "").text, "ended by signal 11: it said nothing");
}

static void test_a_plugin_that_says_nothing(void **state)
{
    assert_string_equal(of(0, "").text, "");
    assert_string_equal(of(2, "").findings[0].text, "it said nothing");
    assert_string_equal(of(2, "\n \n").findings[0].text, "it said nothing");
    assert_string_equal(of(2, "|a=1").findings[0].text, "it said nothing");
}

static void test_nul_bytes_are_blanks(void **state)
{
    struct verdict v;
    plugin_read(2, "\0ab\0c\0|x=1\0", 11, METRIC_PERFDATA, &v);
    assert_string_equal(v.findings[0].text, "ab c");
}

static void test_huge_output_is_cut(void **state)
{
    enum { BYTES = 4 << 20 };
    CLEANUP_FREE char *output = mem_alloc(BYTES);
    struct verdict v;
    memset(output, 'x', BYTES);
    plugin_read(1, output, BYTES, METRIC_PERFDATA, &v);
    assert_int_equal(strlen(v.findings[0].text), FINDING_TEXT_BYTES_MAX);
}

static void test_what_is_no_text_becomes_one(void **state)
{
    assert_string_equal(of(2, "a\tb\x1b[31m\xff \xc2\x9b c\r\nmore").findings[0].text, "a b [31m?   c");
}

static const char *perf_of(const char *output, size_t len)
{
    static char shown[1024];
    CLEANUP_TEXT struct text t = {0};
    text_add(&t, "");
    perf_each(output, len, show_perf, &t);
    snprintf(shown, sizeof shown, "%s", t.s);
    return shown;
}

static void perf_is(const char *datum, const char *expected)
{
    char output[256], with[256];
    snprintf(output, sizeof output, "fine|%s", datum);
    snprintf(with, sizeof with, "%s%s", *expected ? "= " : "", expected);
    CLEANUP_FREE char *exact =
        mem_dup_len(output, strlen(output)); /* for the sanitizer: the end is the end */
    char *shown = mem_dup(perf_of(exact, strlen(output)));
    shown[strcspn(shown, "\n")] = '\0';
    if (strcmp(shown, with) != 0)
        fail_msg("%s: \"%s\", not \"%s\"", datum, shown, with);
    free(shown);
}

static void test_values_in_thousandths(void **state)
{
    perf_is("a=1", "a is 1000 thousandths");
    perf_is("a=-1.5s;1;2;0;9", "a is -1500 thousandths s");
    perf_is("a=+.5%", "a is 500 thousandths %");
    perf_is("a=0,25", "a is 250 thousandths");
    perf_is("a=1.99999", "a is 1999 thousandths");
    perf_is("a=-0.0009", "a is 0 thousandths");
    perf_is("a=2e3B", "a is 2000000 thousandths B");
    perf_is("a=2.5E-2", "a is 25 thousandths");
    perf_is("a=1e-99", "a is 0 thousandths");
    perf_is("a=0e99999999999999999999", "a is 0 thousandths");
    perf_is("a=3EB", "a is 3000 thousandths EB");
    perf_is("a=99999999999999999999", "a is 9223372036854775807 thousandths");
    perf_is("a=-1e30", "a is -9223372036854775807 thousandths");
}

static void test_labels(void **state)
{
    perf_is("'a b'=1", "a b is 1000 thousandths");
    perf_is("'it''s'=1", "it''s is 1000 thousandths");
    perf_is("/var/log=1KB", "/var/log is 1000 thousandths KB");
    perf_is("'a=b'=1", "a=b is 1000 thousandths");
}

static void test_what_is_no_datum_is_passed_over(void **state)
{
    static const char *const bad[] = {"",     "a",     "a=",    "=1",  "a=U",         "a=x1", "'a=1",
                                      "''=1", "a=1x2", "a=--1", "a=.", "a=1abcdefgh", "a= 1", "'a'b=1"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        perf_is(bad[i], "");
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char two[64];
        snprintf(two, sizeof two, "%s z=1", bad[i]);
        if (!strchr(bad[i], '\'') || bad[i][1] == '\'') /* an open quote takes all that follows */
            perf_is(two, "z is 1000 thousandths");
    }
}

static void test_performance_data_go_on_below(void **state)
{
    const char *output = "DISK OK | /=1\nlong text x=7\nmore text | /boot=2\n/home=3\n\n";
    assert_string_equal(
        perf_of(output, strlen(output)),
        "= / is 1000 thousandths\n= /boot is 2000 thousandths\n= /home is 3000 thousandths\n");
    output = "DISK OK\nlong text | a=1";
    assert_string_equal(perf_of(output, strlen(output)), "= a is 1000 thousandths\n");
}

/* --- the formats of Sensu ------------------------------------------------------------------------ */

static void expect_metrics(enum metric format, const char *output, const char *said)
{
    CLEANUP_TEXT struct text t = {0};
    text_add(&t, "");
    metric_each(format, output, strlen(output), show_perf, &t);
    assert_string_equal(t.s, said);
}

static void test_metrics_in_the_formats_of_sensu(void **state)
{
    expect_metrics(METRIC_GRAPHITE,
                   "local.random.diceroll 4 123456789\nno number here\n\nload.1\t-0.25 1700000000\nalone\n",
                   "= local.random.diceroll is 4000 thousandths\n= load.1 is -250 thousandths\n");
    expect_metrics(
        METRIC_INFLUXDB,
        "weather,location=us\\ midwest temperature=82,humidity=7i,sky=\"a, b=1\",up=true 1465839830\n"
        "cpu value=0.64\n# a comment\nbroken\n",
        "= temperature is 82000 thousandths\n= humidity is 7000 thousandths\n"
        "= value is 640 thousandths\n");
    expect_metrics(
        METRIC_OPENTSDB,
        "sys.cpu.user 1356998400 42.5 host=web01 cpu=0\nsys.cpu.user now 1\nsys.cpu.nice 1356998400\n",
        "= sys.cpu.user is 42500 thousandths\n");
    expect_metrics(METRIC_PROMETHEUS,
                   "# HELP a b\nhttp_requests_total{method=\"post}\",code=\"200\"} 1027 1395066363000\n"
                   "up 1\nratio NaN\nopen{a=\"b\n\n",
                   "= http_requests_total{method=\"post}\",code=\"200\"} is 1027000 thousandths\n"
                   "= up is 1000 thousandths\n");
    expect_metrics(METRIC_PERFDATA, "OK | a=1s\n", "= a is 1000 thousandths s\n");
}

static void test_metrics_stand_beside_what_is_wrong(void **state)
{
    static const char output[] = "disk.used 97.5 1700000000\ndisk.free 2.5 1700000000\n";
    struct verdict v;
    plugin_read(2, output, strlen(output), METRIC_GRAPHITE, &v);
    assert_int_equal(v.result, RESULT_FATAL);
    assert_string_equal(v.text, "disk.used=97.500 disk.free=2.500");
    plugin_read(2, output, strlen(output), METRIC_PERFDATA, &v);
    assert_string_equal(v.text, "");
}

static void test_formats_have_the_names_of_sensu(void **state)
{
    enum metric m;
    for (int i = 0; i < METRICS; i++)
        assert_true(metric_parse(metric_name((enum metric)i), &m) && (int)m == i);
    assert_false(metric_parse("nagios", &m));
    assert_false(metric_parse("", &m));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_plugins_of_debian_said),
        cmocka_unit_test(test_the_exit_status_is_the_result),
        cmocka_unit_test(test_a_signal_is_named),
        cmocka_unit_test(test_a_plugin_that_says_nothing),
        cmocka_unit_test(test_nul_bytes_are_blanks),
        cmocka_unit_test(test_huge_output_is_cut),
        cmocka_unit_test(test_what_is_no_text_becomes_one),
        cmocka_unit_test(test_values_in_thousandths),
        cmocka_unit_test(test_labels),
        cmocka_unit_test(test_what_is_no_datum_is_passed_over),
        cmocka_unit_test(test_performance_data_go_on_below),
        cmocka_unit_test(test_metrics_in_the_formats_of_sensu),
        cmocka_unit_test(test_metrics_stand_beside_what_is_wrong),
        cmocka_unit_test(test_formats_have_the_names_of_sensu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
