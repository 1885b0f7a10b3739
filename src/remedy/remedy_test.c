/* SPDX-License-Identifier: Apache-2.0 */
#include "remedy/remedy.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define REST " Confidence=50 Because=x Takes=1m "

static void good(struct remedies *r, const char *conf)
{
    struct err e = {0};
    if (remedies_parse("remedies.conf", conf, strlen(conf), r, &e) < 0)
        fail_msg("%s: %s", conf, e.msg);
}

static void refused(const char *conf, const char *sentence)
{
    struct remedies r;
    struct err e = {0};
    int rc = remedies_parse("remedies.conf", conf, strlen(conf), &r, &e);
    if (rc != -EINVAL || strcmp(e.msg, sentence) != 0)
        fail_msg("%s: %d \"%s\"", conf, rc, e.msg);
    assert_int_equal(r.n, 0);
    assert_null(r.list);
}

static void test_a_record_says_everything(void **state)
{
    struct remedies all;
    good(&all, "# a comment\n"
               "Remedy=firmware.gpu-2 Run=\"script:/etc/fettle/flash now\" Helps=xid.*,!xid.79 "
               "Classes=gpu,fat Confidence=65% "
               "Weight=9 Because=\"it \\\"mostly\\\" does\" Takes=12m Deadline=30m Settle=2h Disturbs=40 "
               "Needs=nothing Tries=1 "
               "Window=30d Approval=yes Dry=on After=boot\n"
               "Remedy=boot Run=reboot Helps=*" REST "\n");
    assert_int_equal(all.n, 2);
    const struct remedy *r = remedies_find(&all, "firmware.gpu-2");
    assert_ptr_equal(r, &all.list[0]);
    assert_string_equal(r->run, "script:/etc/fettle/flash now");
    assert_string_equal(r->because, "it \"mostly\" does");
    assert_int_equal(r->helps.n, 2);
    assert_int_equal(r->classes.n, 2);
    assert_int_equal(r->confidence, 65);
    assert_int_equal(r->weight, 9);
    assert_int_equal(span_to_ms(r->takes), 720000);
    assert_int_equal(span_to_ms(r->deadline), 1800000);
    assert_int_equal(span_to_ms(r->settle), 7200000);
    assert_int_equal(r->disturbs, 40);
    assert_int_equal(r->needs, NEEDS_NOTHING);
    assert_int_equal(r->tries, 1);
    assert_int_equal(span_to_ms(r->window), 30LL * 86400000);
    assert_true(r->approval && r->dry);
    assert_string_equal(r->after, "boot");
    assert_null(remedies_find(&all, "firmware"));
    remedies_fini(&all);
}

static void test_absent_keys_have_defaults(void **state)
{
    struct remedies all;
    good(&all, "Remedy=r Run=node:x Helps=x Confidence=50 Because=x Takes=10s");
    const struct remedy *r = &all.list[0];
    assert_int_equal(r->classes.n, 0);
    assert_int_equal(r->weight, 4);
    assert_int_equal(span_to_ms(r->deadline), 60000);
    assert_int_equal(span_to_ms(r->settle), 1800000);
    assert_int_equal(r->tries, 2);
    assert_int_equal(span_to_ms(r->window), 7 * 86400000);
    assert_false(r->approval || r->dry);
    assert_string_equal(r->after, "");
    remedies_fini(&all);
    good(&all, "Remedy=r Run=node:x Helps=x Confidence=50 Because=x Takes=21s");
    assert_int_equal(span_to_ms(all.list[0].deadline), 63000);
    remedies_fini(&all);
}

/* "DISTURBS nothing|idle" of a record. */
static void disturbs(const char *run, const char *more, unsigned points, enum remedy_needs needs)
{
    struct remedies all;
    CLEANUP_TEXT struct text conf = {0};
    text_printf(&conf, "Remedy=r Run=%s Helps=x" REST "%s", run, more);
    good(&all, conf.s);
    assert_int_equal(all.list[0].disturbs, points);
    assert_int_equal(all.list[0].needs, needs);
    remedies_fini(&all);
}

static void test_a_remedy_that_takes_a_node_away_needs_it_idle(void **state)
{
    disturbs("node:x", "", 0, NEEDS_NOTHING);
    disturbs("node:x", "Disturbs=1", 1, NEEDS_IDLE);
    disturbs("script:x", "", 100, NEEDS_IDLE);
    disturbs("script:x", "Disturbs=0", 0, NEEDS_NOTHING);
    disturbs("reboot", "", 60, NEEDS_IDLE);
    disturbs("reboot", "Disturbs=0", 0, NEEDS_IDLE);
    disturbs("power.cycle", "", 60, NEEDS_IDLE);
    disturbs("replace", "", 100, NEEDS_IDLE);
    disturbs("power.cycle", "Needs=nothing", 60, NEEDS_NOTHING);
}

static void test_every_way_to_run_is_known(void **state)
{
    static const char *const runs[] = {"node:x",    "script:x", "reboot",        "power.cycle", "power.reset",
                                       "power.off", "power.on", "power.netboot", "replace"};
    struct remedies all;
    for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
        CLEANUP_TEXT struct text conf = {0};
        text_printf(&conf, "Remedy=r Run=%s Helps=x" REST, runs[i]);
        good(&all, conf.s);
        assert_string_equal(all.list[0].run, runs[i]);
        remedies_fini(&all);
    }
}

static void test_mistakes_are_refused_with_file_line_and_key(void **state)
{
    refused("\nRun=reboot Remedy=r", "remedies.conf:2: the record of a remedy begins with Remedy=NAME");
    refused("Remedy=r Run=reboot Helps=x" REST "Disturb=3",
            "remedies.conf:1: unknown key \"Disturb\"; the nearest known is \"Disturbs\"");
    refused(
        "Remedy=R",
        "remedies.conf:1: Remedy: \"R\" is no name of a remedy: lower case, digits and . _ -, at most 48");
    refused("Remedy=r Helps=x" REST, "remedies.conf:1: remedy \"r\" has no Run");
    refused("Remedy=r Run=reboot" REST, "remedies.conf:1: remedy \"r\" has no Helps");
    refused("Remedy=r Run=reboot Helps=x Because=x Takes=1m",
            "remedies.conf:1: remedy \"r\" has no Confidence");
    refused("Remedy=r Run=reboot Helps=x Confidence=50 Takes=1m",
            "remedies.conf:1: remedy \"r\" has no Because");
    refused("Remedy=r Run=reboot Helps=x Confidence=50 Because=x",
            "remedies.conf:1: remedy \"r\" has no Takes");
    refused("Remedy=r Run=", "remedies.conf:1: Run: the value is empty");
    refused("Remedy=r Run=\"node: \"",
            "remedies.conf:1: Run: \"node: \" is none of node:COMMAND, script:COMMAND, reboot, "
            "power.cycle, power.reset, power.off, power.on, power.netboot, replace");
    refused("Remedy=r Run=\"node:x\ay\"", "remedies.conf:1: Run: a control character at byte 6");
    refused("Remedy=r Because=\"\xff\"", "remedies.conf:1: Because: not UTF-8 at byte 0");
    refused("Remedy=r Helps=a,,b", "remedies.conf:1: Helps: a pattern is empty");
    refused("Remedy=r Helps=a,!", "remedies.conf:1: Helps: a pattern is empty");
    refused("Remedy=r Run=reboot Helps=!x" REST, "remedies.conf:1: Helps: \"!x\" takes away from nothing");
    refused("Remedy=r Classes=a/b", "remedies.conf:1: Classes: \"a/b\" is no name of a class");
    refused("Remedy=r Needs=idel", "remedies.conf:1: Needs: \"idel\" is neither nothing nor idle");
    refused("Remedy=r Takes=8d", "remedies.conf:1: Takes: \"8d\" is not from 1s to 7d");
    refused("Remedy=r Takes=0s", "remedies.conf:1: Takes: \"0s\" is not from 1s to 7d");
    refused("Remedy=r Run=reboot Helps=x" REST "Deadline=59s",
            "remedies.conf:1: remedy \"r\" has a Deadline before it Takes");
}

static void bounds(const char *key, unsigned min, unsigned max)
{
    CLEANUP_TEXT struct text below = {0}, above = {0};
    struct remedies r;
    struct err e = {0};
    text_printf(&above, "Remedy=r %s=%u", key, max + 1);
    assert_int_equal(remedies_parse("f", above.s, above.len, &r, &e), -EINVAL);
    assert_non_null(strstr(e.msg, key));
    if (min == 0)
        return;
    text_printf(&below, "Remedy=r %s=%u", key, min - 1);
    assert_int_equal(remedies_parse("f", below.s, below.len, &r, &e), -EINVAL);
    assert_non_null(strstr(e.msg, key));
}

static void test_numbers_have_bounds(void **state)
{
    bounds("Confidence", 1, 99);
    bounds("Weight", 1, 1000);
    bounds("Disturbs", 0, 100);
    bounds("Tries", 1, ATTEMPTS_MAX);
}

static void test_times_have_bounds(void **state)
{
    struct remedies r;
    good(&r, "Remedy=a Run=reboot Helps=x Confidence=50 Because=x Takes=1s\n"
             "Remedy=b Run=reboot Helps=x Confidence=50 Because=x Takes=7d");
    assert_int_equal(r.list[0].takes.ns, span_s(1).ns);
    assert_int_equal(r.list[1].takes.ns, span_s(7 * 86400).ns);
    remedies_fini(&r);
    refused("Remedy=r Takes=999ms", "remedies.conf:1: Takes: \"999ms\" is not from 1s to 7d");
    refused("Remedy=r Takes=604801s", "remedies.conf:1: Takes: \"604801s\" is not from 1s to 7d");
}

static void test_a_pattern_has_the_characters_of_a_fault(void **state)
{
    struct remedies r;
    good(&r, "Remedy=r Run=reboot Helps=x~,!y~" REST);
    remedies_fini(&r);
    refused("Remedy=r Helps=\"a b\"", "remedies.conf:1: Helps: \"a b\" matches no fault");
    refused("Remedy=r Helps=\"\xc3\xbc\"", "remedies.conf:1: Helps: \"\xc3\xbc\" matches no fault");
    refused("Remedy=r Helps=a!b", "remedies.conf:1: Helps: \"a!b\" matches no fault");
    refused("Remedy=r Helps=!!a", "remedies.conf:1: Helps: \"!!a\" matches no fault");
}

static void test_a_name_stands_once_and_there_is_a_limit(void **state)
{
    CLEANUP_TEXT struct text conf = {0};
    struct remedies all;
    refused("Remedy=r Run=reboot Helps=x" REST "\nRemedy=r Run=reboot Helps=x" REST,
            "remedies.conf:2: remedy \"r\" is there already");
    for (int i = 0; i < REMEDIES_MAX; i++)
        text_printf(&conf, "Remedy=r%d Run=reboot Helps=x" REST "\n", i);
    good(&all, conf.s);
    assert_int_equal(all.n, REMEDIES_MAX);
    remedies_fini(&all);
    text_add(&conf, "Remedy=more Run=reboot Helps=x" REST "\n");
    refused(conf.s, "remedies.conf:129: remedy \"more\" is one too many; there are 128 at most");
}

static void test_a_chain_of_remedies_ends(void **state)
{
    struct remedies all;
    refused("Remedy=a Run=reboot Helps=x" REST "After=b",
            "remedies.conf:1: remedy \"a\": After: no remedy \"b\"");
    refused("Remedy=a Run=reboot Helps=x" REST "After=a",
            "remedies.conf:1: remedy \"a\": After: it follows itself");
    refused("\nRemedy=a Run=reboot Helps=x" REST "After=b\nRemedy=b Run=reboot Helps=x" REST "After=a",
            "remedies.conf:2: remedy \"a\": After: it follows itself");
    good(&all, "Remedy=a Run=reboot Helps=x" REST "After=b\nRemedy=b Run=reboot Helps=x" REST "After=c\n"
               "Remedy=c Run=reboot Helps=x" REST);
    remedies_fini(&all);
}

static bool helps(const char *patterns, const char *fault)
{
    CLEANUP_TEXT struct text conf = {0};
    struct remedies all;
    text_printf(&conf, "Remedy=r Run=reboot Helps=%s" REST, patterns);
    good(&all, conf.s);
    bool yes = remedy_helps(&all.list[0], fault, "gpu");
    remedies_fini(&all);
    return yes;
}

static void test_the_last_pattern_that_matches_counts(void **state)
{
    assert_true(helps("*", "xid.79"));
    assert_true(helps("xid.79", "xid.79"));
    assert_false(helps("xid.79", "xid.7"));
    assert_false(helps("xid.7", "xid.79"));
    assert_true(helps("xid.*", "xid."));
    assert_true(helps("*.7*9", "xid.7779"));
    assert_false(helps("*.7*9", "xid.7778"));
    assert_false(helps("*,!disk.*", "disk.full"));
    assert_true(helps("*,!disk.*,disk.full", "disk.full"));
    assert_true(helps("a*a*a*a*b,x", "x"));
    assert_false(helps("a*a*a*a*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"));
}

static void test_a_class_that_is_not_named_is_not_helped(void **state)
{
    struct remedies all;
    good(&all, "Remedy=r Run=reboot Helps=* Classes=gpu,fat" REST);
    assert_true(remedy_helps(&all.list[0], "x", "gpu"));
    assert_true(remedy_helps(&all.list[0], "x", "fat"));
    assert_false(remedy_helps(&all.list[0], "x", "default"));
    remedies_fini(&all);
}

static void test_a_wipe_is_for_no_fault(void **state)
{
    struct remedies all;
    good(&all, "Remedy=wipe Run=reboot Helps=*" REST);
    assert_false(remedy_helps(&all.list[0], "xid.79", "gpu"));
    remedies_fini(&all);
}

/* The shipped sample as it stands, and with nothing commented out. */
static void test_the_sample_is_good(void **state)
{
    CLEANUP_TEXT struct text conf = {0}, as_shipped = {0};
    struct remedies all;
    FILE *f = fopen(SAMPLE, "re");
    char line[1024];
    assert_non_null(f);
    while (fgets(line, sizeof line, f)) {
        text_add(&as_shipped, line);
        text_add(&conf, line + (strncmp(line, "#Remedy=", 8) == 0));
    }
    fclose(f);
    good(&all, as_shipped.s);
    assert_int_equal(all.n, 0);
    remedies_fini(&all);
    good(&all, conf.s);
    assert_int_equal(all.n, 9);
    remedies_fini(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_record_says_everything),
        cmocka_unit_test(test_absent_keys_have_defaults),
        cmocka_unit_test(test_a_remedy_that_takes_a_node_away_needs_it_idle),
        cmocka_unit_test(test_every_way_to_run_is_known),
        cmocka_unit_test(test_mistakes_are_refused_with_file_line_and_key),
        cmocka_unit_test(test_numbers_have_bounds),
        cmocka_unit_test(test_times_have_bounds),
        cmocka_unit_test(test_a_pattern_has_the_characters_of_a_fault),
        cmocka_unit_test(test_a_name_stands_once_and_there_is_a_limit),
        cmocka_unit_test(test_a_chain_of_remedies_ends),
        cmocka_unit_test(test_the_last_pattern_that_matches_counts),
        cmocka_unit_test(test_a_class_that_is_not_named_is_not_helped),
        cmocka_unit_test(test_a_wipe_is_for_no_fault),
        cmocka_unit_test(test_the_sample_is_good),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
