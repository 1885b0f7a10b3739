/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"
#include "health/checks_test.h"
#include "health/golden_test.h"
#include "health/meaning.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void refused(const char *text, const char *why)
{
    struct err e = {0};
    assert_null(meanings_parse("meanings.conf", text, strlen(text), &e));
    assert_true(e.code < 0);
    assert_string_equal(e.msg, why);
}

static void a_sites_own_word_is_not_raised(void **state)
{
    struct meaning m;
    struct meanings *all = meanings_good("Xid=31 Act=ignore\n");
    assert_true(meaning_find(all, "xid.31", &m));
    assert_int_equal(m.often, 0);
    meanings_destroy(all);
}

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
    struct meanings *all = meanings_good("# our own\n"
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
    struct meanings *all = meanings_good("Xid=79 Act=hardware\n");
    expect(all, "NVRM: GPU 0000:9b:00.0: GPU has fallen off the bus.", "xid.79", ACT_HARDWARE, RESULT_FATAL,
           "gpu 0000:9b:00");
    meanings_destroy(all);
}

static void a_site_has_lines_of_its_own(void **state)
{
    struct meanings *all =
        meanings_good("Line=\"mydriver: link dead on <dev>\" Code=mydriver.link Device=link Act=reset\n"
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
    struct meanings *all = meanings_good(t.s);
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
    struct meanings *all = meanings_good(conf.s);
    assert_true(meaning_find(all, "mydriver.link", &m));
    meanings_destroy(all);
    sample(SAMPLES "/doc/man/meanings.conf.5.mdoc", true, &page);
    all = meanings_good(page.s);
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
        cmocka_unit_test(a_sites_own_word_is_not_raised),
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
