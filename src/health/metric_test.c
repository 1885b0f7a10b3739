/* SPDX-License-Identifier: Apache-2.0 */

#include "health/plugin.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void show_perf(void *arg, const struct perf *p)
{
    text_printf(arg, "= %.*s is %" PRId64 " thousandths%s%s\n", (int)p->label_len, p->label, p->value_milli,
                *p->unit ? " " : "", p->unit);
}

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
        cmocka_unit_test(test_metrics_in_the_formats_of_sensu),
        cmocka_unit_test(test_formats_have_the_names_of_sensu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
