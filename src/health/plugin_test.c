/* SPDX-License-Identifier: Apache-2.0 */
#include "health/golden_test.h"
#include "health/plugin.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
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

static void test_output_of_debians_plugins(void **state)
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

static void test_control_characters_and_wrong_utf8_are_replaced(void **state)
{
    assert_string_equal(of(2, "a\tb\x1b[31m\xff \xc2\x9b c\r\nmore").findings[0].text, "a b [31m?   c");
}

static void test_metrics_stand_beside_the_fault(void **state)
{
    static const char output[] = "disk.used 97.5 1700000000\ndisk.free 2.5 1700000000\n";
    struct verdict v;
    plugin_read(2, output, strlen(output), METRIC_GRAPHITE, &v);
    assert_int_equal(v.result, RESULT_FATAL);
    assert_string_equal(v.text, "disk.used=97.500 disk.free=2.500");
    plugin_read(2, output, strlen(output), METRIC_PERFDATA, &v);
    assert_string_equal(v.text, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_output_of_debians_plugins),
        cmocka_unit_test(test_the_exit_status_is_the_result),
        cmocka_unit_test(test_a_signal_is_named),
        cmocka_unit_test(test_a_plugin_that_says_nothing),
        cmocka_unit_test(test_nul_bytes_are_blanks),
        cmocka_unit_test(test_huge_output_is_cut),
        cmocka_unit_test(test_control_characters_and_wrong_utf8_are_replaced),
        cmocka_unit_test(test_metrics_stand_beside_the_fault),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
