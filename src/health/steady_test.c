/* SPDX-License-Identifier: Apache-2.0 */
#include "health/steady.h"

#include "health/golden_test.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* --- the script ---------------------------------------------------------------------------------- */

/* A look as the script has it: "ok", "unknown", "fatal", "fatal(gpu 0:xid.79)+warn(eth0)". */
static void read_look(char *words, struct verdict *v)
{
    verdict_clear(v);
    for (char *word; (word = strsep(&words, "+"));) {
        char *device = strchr(word, '('), *code = NULL;
        enum result r;
        if (device) {
            *device++ = '\0';
            device[strcspn(device, ")")] = '\0';
            code = strchr(device, ':');
        }
        if (code)
            *code++ = '\0';
        if (!result_parse(word, &r))
            fail_msg("no result \"%s\"", word);
        if (r < RESULT_OK)
            verdict_cannot(v, r, "why");
        else
            verdict_add(v, r, device ? device : "", code ? code : "", "found");
    }
}

static void show_verdict(const struct verdict *v, struct text *out)
{
    for (size_t i = 0; i < v->n; i++) {
        const struct finding *f = &v->findings[i];
        text_printf(out, "%s%s", i > 0 ? "+" : "", result_name(f->result));
        if (*f->device)
            text_printf(out, "(%s%s%s)", f->device, *f->code ? ":" : "", f->code);
    }
    if (v->n == 0)
        text_add(out, result_name(v->result));
}

static void show_said(const struct steady *s, bool news, struct text *out)
{
    char since[32], looked[32];
    CLEANUP_TEXT struct text said = {0};
    show_verdict(&s->said, &said);
    text_printf(out, "| %-4s  %-34s since %s", news ? "news" : "", said.s,
                span_format((struct span){s->since.ns}, since));
    if (s->n > 0)
        text_printf(out, ", looked %s", span_format((struct span){s->looked.ns}, looked));
    if (s->blind > 0)
        text_printf(out, ", blind %u", s->blind);
}

static void begin(const char *record, struct checks *c, struct steady *s)
{
    struct err e;
    checks_fini(c);
    *s = (struct steady){0};
    if (checks_parse("script", record, strlen(record), c, &e) < 0)
        fail_msg("%s: %s", record, e.msg);
}

/* "Check=..." begins anew; "5s LOOK" is a look, and what is said then is written behind it. */
static void play(char *file, struct text *out)
{
    struct checks c = {0};
    struct steady s;
    for (char *line; *file && (line = strsep(&file, "\n"));) {
        char at[32], words[128];
        struct span when;
        struct verdict v;
        if (strncmp(line, "Check=", 6) == 0)
            begin(line, &c, &s);
        if (line[0] < '0' || line[0] > '9') {
            text_printf(out, "%s\n", line);
            continue;
        }
        line[strcspn(line, "|")] = '\0';
        assert_int_equal(sscanf(line, "%31s %127[^|\n]", at, words), 2);
        while (words[strlen(words) - 1] == ' ')
            words[strlen(words) - 1] = '\0';
        assert_int_equal(span_parse(at, &when, NULL), 0);
        text_printf(out, "%-5s %-34s ", at, words);
        read_look(words, &v);
        bool news = steady_look(&s, &c.list[0], (struct mono){when.ns}, &v);
        show_said(&s, news, out);
        text_add_char(out, '\n');
    }
    checks_fini(&c);
}

static void test_scripted_looks(void **state)
{
    golden_play("steady.txt", play);
}

/* --- what a script does not show ----------------------------------------------------------------- */

static struct verdict found(const char *text)
{
    struct verdict v;
    verdict_clear(&v);
    verdict_add(&v, RESULT_FATAL, "mount /", "", "%s", text);
    return v;
}

static void test_another_text_is_taken_and_no_news(void **state)
{
    struct checks c = {0};
    struct steady s;
    begin("Check=time", &c, &s);
    struct verdict v = found("1 % free");
    assert_true(steady_look(&s, &c.list[0], (struct mono){0}, &v));
    v = found("2 % free");
    assert_false(steady_look(&s, &c.list[0], (struct mono){1}, &v));
    assert_string_equal(s.said.findings[0].text, "2 % free");
    checks_fini(&c);
}

static void test_too_few_looks_tell_their_findings(void **state)
{
    struct checks c = {0};
    struct steady s;
    begin("Check=time Fails=3", &c, &s);
    struct verdict v = found("1 % free");
    steady_look(&s, &c.list[0], (struct mono){0}, &v);
    assert_string_equal(s.said.text, "1 of 3 looks found something: 1 % free");
    assert_false(s.any);
    checks_fini(&c);
}

static void test_the_order_of_findings_is_no_news(void **state)
{
    struct checks c = {0};
    struct steady s;
    struct verdict v;
    char one[] = "warn(a)+warn(b)", other[] = "warn(b)+warn(a)";
    begin("Check=time", &c, &s);
    read_look(one, &v);
    assert_true(steady_look(&s, &c.list[0], (struct mono){0}, &v));
    read_look(other, &v);
    assert_false(steady_look(&s, &c.list[0], (struct mono){1}, &v));
    checks_fini(&c);
}

/* A ring that went round many times counts the last looks alone. */
static void test_a_percentage_after_many_looks(void **state)
{
    struct checks c = {0};
    struct steady s;
    begin("Check=time Every=1s Fails=100 FailPercent=50% FailWindow=64s", &c, &s);
    struct verdict good, bad = found("x");
    verdict_clear(&good);
    for (int i = 0; i < 1000; i++)
        steady_look(&s, &c.list[0], (struct mono){span_s(i).ns}, &good);
    for (int i = 1000; i < 1032; i++) {
        assert_int_equal(s.said.result, RESULT_OK);
        steady_look(&s, &c.list[0], (struct mono){span_s(i).ns}, &bad);
    }
    assert_int_equal(s.said.result, RESULT_FATAL);
    for (int i = 1032; i < 1065; i++)
        steady_look(&s, &c.list[0], (struct mono){span_s(i).ns}, &good);
    assert_int_equal(s.said.result, RESULT_OK);
    checks_fini(&c);
}

/* --- counters ------------------------------------------------------------------------------------ */

static void test_the_first_reading_is_the_baseline(void **state)
{
    struct counter c = {0};
    uint64_t growth = 7;
    struct span in = {7};
    assert_false(counter_take(&c, (struct mono){10}, 1000, &growth, &in));
    assert_int_equal(growth, 7);
    assert_true(counter_take(&c, (struct mono){25}, 1003, &growth, &in));
    assert_int_equal(growth, 3);
    assert_int_equal(in.ns, 15);
    assert_true(counter_take(&c, (struct mono){26}, 1003, &growth, &in));
    assert_int_equal(growth, 0);
    assert_int_equal(in.ns, 1);
}

static void test_a_smaller_value_is_a_reset(void **state)
{
    struct counter c = {0};
    uint64_t growth = 7;
    struct span in;
    counter_take(&c, (struct mono){0}, UINT64_MAX, &growth, &in);
    assert_false(counter_take(&c, (struct mono){1}, 5, &growth, &in));
    assert_int_equal(growth, 7);
    assert_true(counter_take(&c, (struct mono){2}, 6, &growth, &in));
    assert_int_equal(growth, 1);
    assert_false(counter_take(&c, (struct mono){3}, 5, &growth, &in));
}

/* By an agent that was started again. */
static void test_a_verdict_goes_on_after_a_restart(void **state)
{
    struct checks c = {0};
    static const char record[] = "Check=a Probe=plugin Run=\"exit 0\" Fails=3 Passes=2 Sticky=1h\n";
    assert_int_equal(checks_parse("test", record, sizeof record - 1, &c, NULL), 0);
    struct steady s = {0};
    struct verdict bad, good;
    verdict_clear(&good);
    verdict_clear(&bad);
    verdict_add(&bad, RESULT_FATAL, "gpu 1", "", "it is gone");
    steady_resume(&s, (struct mono){1000}, &bad);
    assert_true(s.any);
    assert_int_equal(s.said.result, RESULT_FATAL);
    assert_int_equal(s.looked.ns, 1000);
    assert_false(steady_look(&s, &c.list[0], (struct mono){2000}, &bad)); /* no news */
    assert_false(steady_look(&s, &c.list[0], (struct mono){3000}, &good));
    assert_false(steady_look(&s, &c.list[0], (struct mono){4000}, &good)); /* it is sticky */
    assert_int_equal(s.said.result, RESULT_FATAL);
    assert_true(steady_look(&s, &c.list[0], (struct mono){span_s(3601).ns}, &good));
    assert_int_equal(s.said.result, RESULT_OK);
    checks_fini(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scripted_looks),
        cmocka_unit_test(test_another_text_is_taken_and_no_news),
        cmocka_unit_test(test_too_few_looks_tell_their_findings),
        cmocka_unit_test(test_the_order_of_findings_is_no_news),
        cmocka_unit_test(test_a_percentage_after_many_looks),
        cmocka_unit_test(test_the_first_reading_is_the_baseline),
        cmocka_unit_test(test_a_smaller_value_is_a_reset),
        cmocka_unit_test(test_a_verdict_goes_on_after_a_restart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
