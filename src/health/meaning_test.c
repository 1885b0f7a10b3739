/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"
#include "health/checks_test.h"
#include "health/golden_test.h"
#include "health/meaning.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void play_lines(char *file, struct text *out)
{
    struct meanings *all = meanings_good("");
    while (file && *file) {
        struct finding f;
        struct meaning m;
        char *line = strsep(&file, "\n");
        if (strncmp(line, "    ", 4) == 0)
            continue;
        text_printf(out, "%s\n", line);
        if (*line == '\0' || *line == '#')
            continue;
        if (!meaning_of(all, line, false, &f, &m))
            text_add(out, "    nothing\n");
        else
            text_printf(out, "    %s %s %s%s%s%s\n", f.code, act_name(m.act), result_name(f.result),
                        *f.device ? " [" : "", f.device, *f.device ? "]" : "");
    }
    meanings_destroy(all);
}

static void lines_have_the_meaning_of_the_tables(void **state)
{
    golden_play("kernel_lines.txt", play_lines);
}

static void every_meaning_has_a_source(void *n, const struct meaning *m)
{
    ++*(size_t *)n;
    assert_true(*m->code && *m->what && *m->source);
    assert_true(m->result >= RESULT_OK);
    assert_true(m->often <= OFTEN_MAX);
}

static void all_meanings_are_shown(void **state)
{
    size_t tables = 0, more = 0;
    struct meanings *all = meanings_good("");
    meanings_each(all, every_meaning_has_a_source, &tables);
    meanings_destroy(all);
    all = meanings_good("Xid=1 Act=job\nLine=\"driver: dead\" Code=my.dead Act=reset Because=note\n");
    meanings_each(all, every_meaning_has_a_source, &more);
    meanings_destroy(all);
    assert_true(tables > 200);
    assert_int_equal(more, tables + 2);
}

static void a_meaning_is_found_by_its_code(void **state)
{
    struct meaning m;
    struct meanings *all = meanings_good("");
    assert_true(meaning_find(all, "xid.79", &m));
    assert_int_equal(m.act, ACT_LOST);
    assert_string_equal(m.code, "xid.79");
    assert_true(meaning_find(all, "xid.40", &m)); /* within a row */
    assert_true(meaning_find(all, "xid.149.4", &m));
    assert_true(meaning_find(all, "sxid.23005", &m));
    assert_int_equal(m.act, ACT_RESET);
    assert_true(meaning_find(all, "xid.31", &m));
    assert_int_equal(m.often, 2);
    assert_int_equal(m.often_result, RESULT_WARN);
    assert_true(meaning_find(all, "nfs.server", &m));
    assert_int_equal(m.result, RESULT_DEGRADED);
    assert_false(meaning_find(all, "xid.9999", &m));
    assert_false(meaning_find(all, "xid.", &m));
    assert_false(meaning_find(all, "sxid.12028.3", &m));
    assert_false(meaning_find(all, "no.such", &m));
    meanings_destroy(all);
}

static enum blame blamed(const struct meanings *all, const char *code)
{
    struct meaning m;
    assert_true(meaning_find(all, code, &m));
    return m.blame;
}

static void codes_that_a_program_can_cause_are_marked(void **state)
{
    static const char *const programs[] = {"xid.13",  "xid.31",     "xid.43",   "xid.45",
                                           "xid.68",  "xid.69",     "xid.137",  "job.crash",
                                           "oom.job", "oom.system", "fs.image", "amdgpu.fault"};
    static const char *const machines[] = {"xid.48", "xid.79",     "xid.94",
                                           "xid.92", "disk.error", "mce.corrected"};
    static const char *const others[] = {"nfs.server", "nfs.timeout", "lustre.evicted", "mlx5.unplugged"};
    struct meanings *all = meanings_good("");
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        assert_int_equal(blamed(all, programs[i]), BLAME_PROGRAM);
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++)
        assert_int_equal(blamed(all, machines[i]), BLAME_NODE);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_int_equal(blamed(all, others[i]), BLAME_OUTSIDE);
    meanings_destroy(all);
    all = meanings_good("Xid=79 Act=job\nXid=31 Act=watch\nXid=500 Act=watch\nCode=disk.error Act=job\n");
    assert_int_equal(blamed(all, "xid.79"), BLAME_PROGRAM);
    assert_int_equal(blamed(all, "xid.31"), BLAME_PROGRAM);
    assert_int_equal(blamed(all, "xid.500"), BLAME_NODE);
    assert_int_equal(blamed(all, "disk.error"), BLAME_PROGRAM);
    meanings_destroy(all);
    assert_false(blame_counts(BLAME_PROGRAM) || blame_counts(BLAME_OUTSIDE));
    assert_true(blame_counts(BLAME_NODE));
}

static void often_is_worse(void *arg, const struct meaning *m)
{
    if (m->often && m->often_result <= m->result)
        fail_msg("%s", m->code);
}

/* A line that comes often never means less than a single one. */
static void a_frequent_line_means_no_less_than_a_single_one(void **state)
{
    struct meanings *all = meanings_good("");
    meanings_each(all, often_is_worse, NULL);
    meanings_destroy(all);
}

/* Whatever a program does, and however often, is a warning at most by its number. */
static void often_a_programs_doing_is_a_warning(void *arg, const struct meaning *m)
{
    if (m->often && m->blame == BLAME_PROGRAM)
        assert_true(m->often_result <= RESULT_WARN);
}

static void no_number_makes_a_programs_doing_worse_than_a_warning(void **state)
{
    struct meanings *all = meanings_good("");
    meanings_each(all, often_a_programs_doing_is_a_warning, NULL);
    meanings_destroy(all);
}

static void lines_name_processes(void **state)
{
    static const struct {
        const char *line;
        unsigned pid;
    } of[] = {{"NVRM: Xid (PCI:0000:9b:00): 31, pid=2317, name=train.py, Ch 00000008", 2317},
              {"NVRM: Xid (PCI:0000:9b:00): 79, pid=7", 7},
              {"NVRM: Xid (PCI:0000:9b:00): 48, pid='<unknown>', name=<unknown>, DBE", 0},
              {"NVRM: Xid (PCI:0000:9b:00): 31, name=a, pid=7,", 0},
              {"NVRM: Xid (PCI:0000:9b:00): 31, pid=99999999999, x", 0},
              {"NVRM: Xid (PCI:0000:9b:00): 31", 0},
              {"oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),task=a,pid=1,pid=4711,uid=1000", 4711},
              {"python[12]: segfault at 0", 0},
              {"", 0}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        assert_int_equal(meaning_pid(of[i].line), of[i].pid);
}

static void an_act_comes_to_a_result(void **state)
{
    enum act a;
    assert_int_equal(act_result(ACT_JOB), RESULT_INFO);
    assert_int_equal(act_result(ACT_WATCH), RESULT_WARN);
    assert_int_equal(act_result(ACT_HARDWARE), RESULT_FATAL);
    assert_int_equal(act_result(ACT_LOST), RESULT_LOST);
    assert_int_equal(act_end(ACT_WATCH), ACT_ENDS_TIME);
    assert_int_equal(act_end(ACT_RESET), ACT_ENDS_REMEDY);
    assert_true(act_end(ACT_REBOOT) == ACT_ENDS_BOOT && act_end(ACT_LOST) == ACT_ENDS_BOOT);
    for (int i = 0; i < ACTS; i++)
        assert_true(act_parse(act_name((enum act)i), &a) && a == (enum act)i && *act_what(a));
    assert_false(act_parse("explode", &a));
}

static void a_finding_has_the_line_as_text_for_a_screen(void **state)
{
    struct finding f;
    struct meaning m;
    struct meanings *all = meanings_good("");
    assert_true(meaning_of(all, "Oops: 1\x1b[31m \xff\xc3\xa9", false, &f, &m));
    assert_string_equal(f.text, "the kernel had an error (oops) and continued: Oops: 1 [31m ?\xc3\xa9");
    char line[1024] = "Oops: ";
    while (strlen(line) < 1000)
        memcpy(line + strlen(line), "\xc3\xa9", 3);
    assert_true(meaning_of(all, line, false, &f, &m));
    assert_true(strlen(f.text) <= FINDING_TEXT_BYTES_MAX);
    assert_true(text_utf8(f.text + strlen(f.text) - 2) == 2); /* cut at a character */
    meanings_destroy(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_have_the_meaning_of_the_tables),
        cmocka_unit_test(all_meanings_are_shown),
        cmocka_unit_test(a_meaning_is_found_by_its_code),
        cmocka_unit_test(codes_that_a_program_can_cause_are_marked),
        cmocka_unit_test(a_frequent_line_means_no_less_than_a_single_one),
        cmocka_unit_test(no_number_makes_a_programs_doing_worse_than_a_warning),
        cmocka_unit_test(lines_name_processes),
        cmocka_unit_test(an_act_comes_to_a_result),
        cmocka_unit_test(a_finding_has_the_line_as_text_for_a_screen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
