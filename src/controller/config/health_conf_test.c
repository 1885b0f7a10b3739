/* SPDX-License-Identifier: Apache-2.0 */
/* The files of health: checks, meanings, remedies and BMCs. */
#include "controller/config/config_fixture_test.h"

#include <stdio.h>
#include <string.h>

#define CYCLE "Remedy=cycle Run=power.cycle Helps=* Confidence=50% Because=x Takes=1m\n"
#define REPLACE "Remedy=replace Run=replace Helps=* Confidence=50% Because=x Takes=1m\n"
#define A_BMC "Nodes=lx01 Driver=script Run=/bin/true\n"

static void test_files_of_health(void **state)
{
    struct config c = config_good("", "Name=lx01\n", NULL); /* without files: the usual checks, no remedies */
    assert_true(c.checks->n > 0);
    assert_int_equal(c.remedies->n, 0);
    assert_int_equal(c.meaning_lines.n, 0);
    config_fini(&c);
    c = config_good("Health = off\n", "Name=lx01\n", NULL);
    assert_int_equal(c.checks->n, 0);
    config_fini(&c);
    c = config_good(config_with_file("CheckConf", "checks", "Check=a Probe=fs.space Path=/\n", ""),
                    "Name=lx01\n", NULL);
    assert_int_equal(c.checks->n, 1);
    config_fini(&c);
    c = config_good(
        config_with_file("MeaningConf", "meanings", "Xid=94 Act=job Because=\"a \\\"b\\\"\"\n", ""),
        "Name=lx01\n", NULL);
    assert_int_equal(c.meaning_lines.n, 1); /* as agents are told it */
    assert_string_equal(c.meaning_lines.names[0], "Xid=\"94\" Act=\"job\" Because=\"a \\\"b\\\"\"");
    config_fini(&c);
    c = config_good(config_with_file("RemedyConf", "remedies", REPLACE, "ReplaceProgram = /bin/true\n"),
                    "Name=lx01\n", NULL);
    assert_int_equal(c.remedies->n, 1);
    config_fini(&c);
    char bmc[128];
    snprintf(bmc, sizeof bmc, "BmcConf = %s/bmc\n", config_dir);
    config_write("bmc", A_BMC);
    c = config_good(config_with_file("RemedyConf", "remedies", CYCLE, bmc), "Name=lx01\n", NULL);
    assert_int_equal(c.remedies->n, 1);
    assert_non_null(c.bmcs);
    config_fini(&c);
    assert_null(c.bmcs);
}

static void test_missing_files_of_health(void **state)
{
    static const char *const names[] = {"CheckConf", "MeaningConf", "RemedyConf", "BmcConf"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char line[64], wanted[96];
        snprintf(line, sizeof line, "%s = /nonexistent/file\n", names[i]);
        snprintf(wanted, sizeof wanted, "fettle.conf:3: %s: /nonexistent/file", names[i]);
        const char *why = config_bad(line, "Name=lx01\n", NULL);
        if (strstr(why, wanted) != why)
            fail_msg("%s", why);
    }
}

static void test_bad_files_of_health(void **state)
{
    static const struct {
        const char *parameter, *name, *text, *why;
    } mistakes[] = {
        {"CheckConf", "checks", "Check=a Probe=fs.space Path=/\nCheck=b Probe=fs.spaec\n", "checks:2: "},
        {"CheckConf", "checks", "Check=a Probe=fs.space Path=/ Classes=gpu\n", "checks:1: Classes: "},
        {"MeaningConf", "meanings", "Xid=94 Act=job\nXid=94 Act=jump\n", "meanings:2: "},
        {"RemedyConf", "remedies", "Remedy=a Rum=reboot\n", "remedies:1: "},
        {"RemedyConf", "remedies",
         "Remedy=a Run=reboot Helps=* Confidence=50% Because=x Takes=1m Classes=gpu\n",
         "remedies:1: Classes: "},
        {"RemedyConf", "remedies", CYCLE,
         "remedies:1: remedy cycle has Run=power.cycle, but there is no BmcConf in fettle.conf"},
        {"RemedyConf", "remedies", REPLACE,
         "remedies:1: remedy replace has Run=replace, but there is no ReplaceProgram in fettle.conf"},
        {"BmcConf", "bmc", A_BMC "Nodes=lx02 Driver=smoke\n", "bmc:2: "},
    };
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        const char *why =
            config_bad(config_with_file(mistakes[i].parameter, mistakes[i].name, mistakes[i].text, ""),
                       "Name=lx01\n", NULL);
        if (strstr(why, mistakes[i].why) != why)
            fail_msg("%s; expected %s", why, mistakes[i].why);
    }
}

static void test_more_checks_than_can_be_told(void **state)
{
    CLEANUP_TEXT struct text records = {0}, nodes = {0};
    for (int i = 0; i < 110; i++)
        text_printf(&records, "Check=c%d Probe=plugin Run=\"/bin/%0600d\" Classes=default\n", i, i);
    const char *why =
        config_bad(config_with_file("CheckConf", "checks", records.s, ""), "Name=lx[01-02]\n", NULL);
    assert_non_null(strstr(why, "checks: the records are "));
    assert_non_null(strstr(why, "61440 can be told to agents"));

    text_clear(&records);
    text_add(&records, "Check=time Classes=default\n"); /* short, with a long list of irregular names */
    for (int i = 0; i < 9000; i++)
        text_printf(&nodes, "Name=n%d\n", i * 7919);
    why = config_bad(config_with_file("CheckConf", "checks", records.s, ""), nodes.s, NULL);
    assert_non_null(strstr(why, "with the nodes that run them"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, config_setup, config_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_files_of_health),
        TEST(test_missing_files_of_health),
        TEST(test_bad_files_of_health),
        TEST(test_more_checks_than_can_be_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
