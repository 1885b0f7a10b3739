/* SPDX-License-Identifier: Apache-2.0 */
#include "health/meaning.h"

#include "base/text.h"
#include "health/golden_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct meanings *parse(const char *text)
{
    struct err e = {0};
    struct meanings *m = meanings_parse("meanings.conf", text, strlen(text), &e);
    if (!m)
        print_error("%s\n", e.msg);
    assert_non_null(m);
    return m;
}

static void refused(const char *text, const char *why)
{
    struct err e = {0};
    assert_null(meanings_parse("meanings.conf", text, strlen(text), &e));
    assert_true(e.code < 0);
    assert_string_equal(e.msg, why);
}

/* --- the tables ---------------------------------------------------------------------------------- */

static void play_lines(char *file, struct text *out)
{
    struct meanings *all = parse("");
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

static void lines_mean_what_the_tables_say(void **state)
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
    struct meanings *all = parse("");
    meanings_each(all, every_meaning_has_a_source, &tables);
    meanings_destroy(all);
    all = parse("Xid=1 Act=job\nLine=\"driver: dead\" Code=my.dead Act=reset Because=note\n");
    meanings_each(all, every_meaning_has_a_source, &more);
    meanings_destroy(all);
    assert_true(tables > 200);
    assert_int_equal(more, tables + 2);
}

static void a_meaning_is_found_by_its_code(void **state)
{
    struct meaning m;
    struct meanings *all = parse("");
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

static void what_a_program_can_cause_is_marked(void **state)
{
    static const char *const programs[] = {"xid.13",  "xid.31",     "xid.43",   "xid.45",
                                           "xid.68",  "xid.69",     "xid.137",  "job.crash",
                                           "oom.job", "oom.system", "fs.image", "amdgpu.fault"};
    static const char *const machines[] = {"xid.48", "xid.79",     "xid.94",
                                           "xid.92", "disk.error", "mce.corrected"};
    static const char *const others[] = {"nfs.server", "nfs.timeout", "lustre.evicted", "mlx5.unplugged"};
    struct meanings *all = parse("");
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        assert_int_equal(blamed(all, programs[i]), BLAME_PROGRAM);
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++)
        assert_int_equal(blamed(all, machines[i]), BLAME_NODE);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_int_equal(blamed(all, others[i]), BLAME_OUTSIDE);
    meanings_destroy(all);
    all = parse("Xid=79 Act=job\nXid=31 Act=watch\nXid=500 Act=watch\nCode=disk.error Act=job\n");
    assert_int_equal(blamed(all, "xid.79"), BLAME_PROGRAM);
    assert_int_equal(blamed(all, "xid.31"), BLAME_PROGRAM);
    assert_int_equal(blamed(all, "xid.500"), BLAME_NODE);
    assert_int_equal(blamed(all, "disk.error"), BLAME_PROGRAM);
    meanings_destroy(all);
    assert_false(blame_counts(BLAME_PROGRAM) || blame_counts(BLAME_OUTSIDE));
    assert_true(blame_counts(BLAME_NODE));
}

/* Whatever a program does, and however often, is a warning at most by its number. */
static void often_a_programs_doing_is_a_warning(void *arg, const struct meaning *m)
{
    if (m->often && m->blame == BLAME_PROGRAM)
        assert_true(m->often_result <= RESULT_WARN);
}

static void no_number_makes_a_programs_doing_worse_than_a_warning(void **state)
{
    struct meanings *all = parse("");
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

static void a_sites_own_word_is_not_raised(void **state)
{
    struct meaning m;
    struct meanings *all = parse("Xid=31 Act=ignore\n");
    assert_true(meaning_find(all, "xid.31", &m));
    assert_int_equal(m.often, 0);
    meanings_destroy(all);
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
    struct meanings *all = parse("");
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

/* --- meanings.conf ------------------------------------------------------------------------------- */

static void expect(const struct meanings *all, const char *line, const char *code, enum act act,
                   enum result result, const char *device)
{
    struct finding f;
    struct meaning m;
    assert_true(meaning_of(all, line, false, &f, &m));
    assert_string_equal(f.code, code);
    assert_int_equal(m.act, act);
    assert_int_equal(f.result, result);
    assert_string_equal(f.device, device);
}

static void the_file_lies_over_the_tables(void **state)
{
    struct meanings *all = parse("# our own\n"
                                 "Xid=95 Act=job Result=warn Because=\"we retry\"\n"
                                 "Xid=1-5 Act=hardware\n"
                                 "Xid=149 Sub=4 Act=hardware Because=cartridge\n"
                                 "Xid=154 Act=ignore\n"
                                 "Sxid=24007 Act=watch\n"
                                 "Code=oom.system Act=reboot\n");
    expect(all, "NVRM: Xid (PCI:0000:3b:00): 95, x", "xid.95", ACT_JOB, RESULT_WARN, "gpu 0000:3b:00");
    expect(all, "NVRM: Xid (PCI:0000:3b:00): 5, x", "xid.5", ACT_HARDWARE, RESULT_FATAL, "gpu 0000:3b:00");
    expect(all, "NVRM: Xid (PCI:0000:3b:00): 149, E Nonfatal XC0 i0 Link 01 (0x00400000 0x0)", "xid.149.4",
           ACT_HARDWARE, RESULT_FATAL, "gpu 0000:3b:00");
    expect(all, "NVRM: Xid (PCI:0000:3b:00): 149, E Nonfatal XC0 i0 Link 01 (0x00500000 0x0)", "xid.149.5",
           ACT_WATCH, RESULT_WARN, "gpu 0000:3b:00");
    expect(all,
           "NVRM: Xid (PCI:0000:3b:00): 154, GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset "
           "Required)",
           "xid.154", ACT_IGNORE, RESULT_INFO, "gpu 0000:3b:00");
    expect(all, "nvidia-nvswitch0: SXid (PCI:0000:05:00.0): 24007, Fatal, x", "sxid.24007", ACT_WATCH,
           RESULT_WARN, "nvswitch 0000:05:00");
    expect(all, "oom-kill:constraint=CONSTRAINT_NONE,x", "oom.system", ACT_REBOOT, RESULT_FATAL, "");
    struct meaning m;
    assert_true(meaning_find(all, "xid.95", &m));
    assert_string_equal(m.source, "meanings.conf:2: we retry");
    meanings_destroy(all);
}

/* What means the same as an Xid does so in the file's sense. */
static void a_gpu_off_the_bus_is_79_also_by_the_file(void **state)
{
    struct meanings *all = parse("Xid=79 Act=hardware\n");
    expect(all, "NVRM: GPU 0000:9b:00.0: GPU has fallen off the bus.", "xid.79", ACT_HARDWARE, RESULT_FATAL,
           "gpu 0000:9b:00");
    meanings_destroy(all);
}

static void a_site_has_lines_of_its_own(void **state)
{
    struct meanings *all =
        parse("Line=\"mydriver: link dead on <dev>\" Code=mydriver.link Device=link Act=reset\n"
              "Line=\"mydriver: link up on <dev>\" Code=mydriver.link Device=link Result=ok\n"
              "Line=\"Oops: # harmless*\" Code=my.oops Act=ignore\n"
              "Line=\"*has a bad day\" Code=my.day Act=watch Result=degraded\n");
    expect(all, "mydriver: link dead on p0", "mydriver.link", ACT_RESET, RESULT_FATAL, "link p0");
    expect(all, "mydriver: link up on p0", "mydriver.link", ACT_IGNORE, RESULT_OK, "link p0");
    expect(all, "Oops: 12 harmless things", "my.oops", ACT_IGNORE, RESULT_INFO, ""); /* before the table */
    expect(all, "Oops: 12", "kernel.oops", ACT_REBOOT, RESULT_FATAL, "");
    expect(all, "Oops: it has a bad day", "my.day", ACT_WATCH, RESULT_DEGRADED, "");
    struct finding f;
    struct meaning m;
    assert_false(meaning_of(all, "mydriver: link dead on p0 and p1", false, &f, &m));
    meanings_destroy(all);
}

static void a_wrong_record_is_refused_with_its_place(void **state)
{
    refused("Xid=79\n", "meanings.conf:1: an Act is missing");
    refused("\nXid=79 Act=explode\n",
            "meanings.conf:2: no act \"explode\": ignore, job, watch, reset, reboot, hardware or lost");
    refused("Xid=79 Act=watch Result=bad\n",
            "meanings.conf:1: no result \"bad\": ok, info, warn, degraded, fatal or lost");
    refused("Xid=79 Act=watch Result=unknown\n",
            "meanings.conf:1: no result \"unknown\": ok, info, warn, degraded, fatal or lost");
    refused("Xid=79 Result=ok\n", "meanings.conf:1: only a Line ends a finding; use ignore");
    refused("Xid=79 Sxid=1 Act=job\n",
            "meanings.conf:1: a record has one of Xid, Sxid, Line with Code, and Code");
    refused("Act=job\n", "meanings.conf:1: a record has one of Xid, Sxid, Line with Code, and Code");
    refused("Line=\"a line\" Act=job\n", "meanings.conf:1: a Line has a Code");
    refused("Line=\"a line\" Code=\"A B\" Act=job\n",
            "meanings.conf:1: Code \"A B\" is no code: 1 to 31 of a-z, 0-9 and . _ -");
    refused("Line=\"a line\" Code=xid.79 Act=job\n",
            "meanings.conf:1: Code \"xid.79\" belongs to the NVIDIA driver: use Xid or Sxid");
    refused("Line=\"***\" Code=x Act=job\n",
            "meanings.conf:1: nothing stands between two wildcards at \"**\"");
    refused("Line=\"*\" Code=x Act=job\n",
            "meanings.conf:1: \"*\" has less than four characters beside wildcards");
    refused("Line=\"<dev> and <dev> die\" Code=x Act=job\n",
            "meanings.conf:1: <dev> stands twice in \"<dev> and <dev> die\"");
    refused("Code=no.such Act=job\n",
            "meanings.conf:1: no code \"no.such\" in the tables; a new one has a Line");
    refused("Sxid=1 Sub=3 Act=job\n", "meanings.conf:1: Sub is for an Xid");
    refused("Xid=149 Sub=64 Act=job\n", "meanings.conf:1: Sub: \"64\" is not a number from 0 to 63");
    refused("Xid=1 Device=x Act=job\n", "meanings.conf:1: Device is for a Line");
    refused("Xid=1 Atc=job\n", "meanings.conf:1: unknown key \"Atc\"; the nearest known is \"Act\"");
    refused("Xid=1 Act= Because=x\n", "meanings.conf:1: Act is empty");
}

static void a_number_is_within_its_range(void **state)
{
    struct err e = {0};
    static const char *const bad[] = {"Xid=x Act=job",       "Xid=5-1 Act=job",        "Xid=10000 Act=job",
                                      "Sxid=100000 Act=job", "Xid=149 Sub=64 Act=job", "Xid=1- Act=job",
                                      "Xid=1-2-3 Act=job"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_null(meanings_parse("m", bad[i], strlen(bad[i]), &e));
        assert_int_equal(e.code, -EINVAL);
        assert_non_null(strstr(e.msg, "m:1: "));
    }
}

static void there_are_so_many_records_at_most(void **state)
{
    CLEANUP_TEXT struct text t = {0};
    for (int i = 0; i < MEANINGS_MAX; i++)
        text_printf(&t, "Line=\"line number %d\" Code=my.%d Act=watch\n", i, i);
    struct meanings *all = parse(t.s);
    expect(all, "line number 1023", "my.1023", ACT_WATCH, RESULT_WARN, "");
    meanings_destroy(all);
    text_add(&t, "Xid=1 Act=job\n");
    refused(t.s, "meanings.conf: more than 1024 records");
}

/* The records of a file that a prefix of "#" hides, or between .Bd and .Ed after EXAMPLES. */
static void sample(const char *path, bool page, struct text *out)
{
    char line[1024];
    FILE *f = fopen(path, "r");
    bool takes = !page, examples = false;
    assert_non_null(f);
    while (fgets(line, sizeof line, f)) {
        examples = examples || strcmp(line, ".Sh EXAMPLES\n") == 0;
        takes = page ? takes && strncmp(line, ".Ed", 3) != 0 : true;
        const char *record = !page && line[0] == '#' ? line + 1 : line;
        if (takes && (page || (*record >= 'A' && *record <= 'Z')))
            text_add(out, record);
        if (page && examples && strncmp(line, ".Bd", 3) == 0)
            takes = true;
    }
    fclose(f);
}

static void the_samples_are_taken(void **state)
{
    struct meaning m;
    CLEANUP_TEXT struct text conf = {0}, page = {0};
    sample(SAMPLES "/conf/meanings.conf", false, &conf);
    struct meanings *all = parse(conf.s);
    assert_true(meaning_find(all, "mydriver.link", &m));
    meanings_destroy(all);
    sample(SAMPLES "/doc/man/meanings.conf.5.mdoc", true, &page);
    all = parse(page.s);
    assert_true(meaning_find(all, "mydriver.link", &m));
    meanings_destroy(all);
}

static void a_missing_file_is_an_error_and_no_file_is_none(void **state)
{
    struct err e = {0};
    struct meanings *all = meanings_read(NULL, &e);
    assert_non_null(all);
    meanings_destroy(all);
    meanings_destroy(NULL);
    assert_null(meanings_read("/nonexistent/meanings.conf", &e));
    assert_int_equal(e.code, -ENOENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_mean_what_the_tables_say),
        cmocka_unit_test(all_meanings_are_shown),
        cmocka_unit_test(a_meaning_is_found_by_its_code),
        cmocka_unit_test(what_a_program_can_cause_is_marked),
        cmocka_unit_test(no_number_makes_a_programs_doing_worse_than_a_warning),
        cmocka_unit_test(lines_name_processes),
        cmocka_unit_test(a_sites_own_word_is_not_raised),
        cmocka_unit_test(an_act_comes_to_a_result),
        cmocka_unit_test(a_finding_has_the_line_as_text_for_a_screen),
        cmocka_unit_test(the_file_lies_over_the_tables),
        cmocka_unit_test(a_gpu_off_the_bus_is_79_also_by_the_file),
        cmocka_unit_test(a_site_has_lines_of_its_own),
        cmocka_unit_test(a_wrong_record_is_refused_with_its_place),
        cmocka_unit_test(a_number_is_within_its_range),
        cmocka_unit_test(there_are_so_many_records_at_most),
        cmocka_unit_test(the_samples_are_taken),
        cmocka_unit_test(a_missing_file_is_an_error_and_no_file_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
