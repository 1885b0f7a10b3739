/* SPDX-License-Identifier: Apache-2.0 */
#include "base/conf.h"

#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* What a text parses to, a line of "NUMBER: [key|value][key|value]" each, or its sentence. Valid
 * until the next call. */
static const char *parsed_bytes(const char *bytes, size_t len, enum conf_form form)
{
    static char shown[8192];
    struct err e = {0};
    struct conf c;
    CLEANUP_TEXT struct text out = {0};
    text_add(&out, "");
    if (conf_parse("x.conf", bytes, len, form, &c, &e) < 0) {
        assert_int_equal(e.code, -EINVAL);
        assert_int_equal(c.n, 0);
        assert_null(c.lines);
        text_add(&out, e.msg);
    }
    for (size_t i = 0; i < c.n; i++) {
        text_printf(&out, "%s%d: ", i ? "\n" : "", c.lines[i].number);
        for (size_t k = 0; k < c.lines[i].n; k++)
            text_printf(&out, "[%s|%s]", c.lines[i].fields[k].key, c.lines[i].fields[k].value);
    }
    conf_fini(&c);
    assert_true(snprintf(shown, sizeof shown, "%s", out.s) < (int)sizeof shown);
    return shown;
}

static const char *parameters(const char *text)
{
    return parsed_bytes(text, strlen(text), CONF_PARAMETERS);
}

static const char *records(const char *text)
{
    return parsed_bytes(text, strlen(text), CONF_RECORDS);
}

static const char *value_of(const struct conf *c, const char *key)
{
    for (size_t i = 0; i < c->n; i++)
        for (size_t k = 0; k < c->lines[i].n; k++)
            if (strcmp(c->lines[i].fields[k].key, key) == 0)
                return c->lines[i].fields[k].value;
    return NULL;
}

static void the_sample_parameters_of_2001_are_read(void **state)
{
    struct conf c;
    struct err e = {0};
    assert_int_equal(conf_read(TEST_DATA "/2001/slurm.conf", CONF_PARAMETERS, &c, &e), 0);
    assert_int_equal(c.n, 10);
    assert_int_equal(c.lines[0].number, 6);
    assert_string_equal(value_of(&c, "ControlMachine"), "lx_control");
    assert_string_equal(value_of(&c, "CollectorNodes"), "lx01,lx02");
    assert_string_equal(value_of(&c, "NodeSpecConf"), "/usr/local/SLURM/NodeSpecConf");
    assert_string_equal(value_of(&c, "MachStatusPort"), "612");
    assert_string_equal(value_of(&c, "MachStatusDebug"), "init,msg");
    assert_string_equal(value_of(&c, "HeartBeatTimeout"), "600");
    conf_fini(&c);
}

static void the_sample_records_of_2001_are_read(void **state)
{
    struct conf c;
    struct err e = {0};
    assert_int_equal(conf_read(TEST_DATA "/2001/NodeSpecConf", CONF_RECORDS, &c, &e), 0);
    assert_int_equal(c.n, 7);
    assert_int_equal(c.lines[0].number, 6);
    assert_int_equal(c.lines[0].n, 8);
    assert_string_equal(c.lines[0].fields[0].value, "DEFAULT");
    assert_string_equal(c.lines[0].fields[1].value, "Linux.2.4.7-10");
    assert_int_equal(c.lines[1].n, 1);
    assert_int_equal(c.lines[3].n, 4);
    assert_string_equal(c.lines[3].fields[3].key, "Partition");
    assert_string_equal(c.lines[3].fields[3].value, "1,2");
    assert_string_equal(c.lines[6].fields[0].value, "lx06");
    conf_fini(&c);
}

static void parameters_are_one_a_line(void **state)
{
    assert_string_equal(parameters("A = b\nC=d\n\n  E \t = \t f g  \n"), "1: [A|b]\n2: [C|d]\n4: [E|f g]");
    assert_string_equal(parameters("A = x=y\n"), "1: [A|x=y]");
    assert_string_equal(parameters("A =\nB = \"q\"\n"), "1: [A|]\n2: [B|\"q\"]");
}

static void records_have_fields_between_blanks_and_tabs(void **state)
{
    assert_string_equal(records("Name=lx01 CPUs=2\t\tTmpDisk=16384 \n"),
                        "1: [Name|lx01][CPUs|2][TmpDisk|16384]");
    assert_string_equal(records("  A=b=c"), "1: [A|b=c]");
}

static void a_value_may_be_empty(void **state)
{
    assert_string_equal(records("Name=lx01 Partition= \n"), "1: [Name|lx01][Partition|]");
    assert_string_equal(records("Partition= CPUs=2\n"), "1: [Partition|][CPUs|2]");
    assert_string_equal(records("A=\"\""), "1: [A|]");
}

static void quotes_hold_white_space(void **state)
{
    assert_string_equal(records("A=\"b  c\td\" E=f"), "1: [A|b  c\td][E|f]");
    assert_string_equal(records("A=\"say \\\"x\\\" \\\\ \\d\" B=1"), "1: [A|say \"x\" \\ \\d][B|1]");
    assert_string_equal(records("A=\"x=y # z\""), "1: [A|x=y # z]");
}

static void quotes_must_close(void **state)
{
    assert_string_equal(records("\nA=1 B=\"c d\nE=\"f\""),
                        "x.conf:2: there is no closing quote in the value of \"B\"");
    assert_string_equal(records("A=\"b\\\""), "x.conf:1: there is no closing quote in the value of \"A\"");
    assert_string_equal(records("A=\"b\"c"),
                        "x.conf:1: there is no white space behind the closing quote of \"A\"");
}

static void comments_start_in_column_one(void **state)
{
    assert_string_equal(records("# A=b\n#\n \t \nA=b#c\n"), "4: [A|b#c]");
    assert_string_equal(records("A=b #c\n"),
                        "x.conf:1: a comment is a line of its own, with its \"#\" in column one");
    assert_string_equal(records("A=b # C=d\n"),
                        "x.conf:1: a comment is a line of its own, with its \"#\" in column one");
    assert_string_equal(parameters(" # A\n"),
                        "x.conf:1: a comment is a line of its own, with its \"#\" in column one");
    assert_string_equal(parameters(" #A = 1\n"),
                        "x.conf:1: a comment is a line of its own, with its \"#\" in column one");
}

static void an_equals_sign_is_needed(void **state)
{
    assert_string_equal(parameters("A = 1 # one\n"),
                        "x.conf:1: a comment is a line of its own, with its \"#\" in column one");
    assert_string_equal(parameters("A = #\n"),
                        "x.conf:1: a comment is a line of its own, with its \"#\" in column one");
    assert_string_equal(parameters("A = x#1 y\n"), "1: [A|x#1 y]");
    assert_string_equal(
        parameters("Machine = a Nodes = b\n"),
        "x.conf:1: a parameter stands on a line of its own; there is another one behind that of \"Machine\"");
    assert_string_equal(
        parameters("Machine=a Nodes=b\n"),
        "x.conf:1: a parameter stands on a line of its own; there is another one behind that of \"Machine\"");
    assert_string_equal(parameters("Run = /x --at=1 k=2 Y2=3\n"), "1: [Run|/x --at=1 k=2 Y2=3]");
    assert_string_equal(parameters("A = 1\n\nB 2\n"), "x.conf:3: there is no \"=\" after \"B 2\"");
    assert_string_equal(records("Name=lx01 CPUs 2"), "x.conf:1: there is no \"=\" after \"CPUs\"");
    assert_string_equal(records("Name =lx01"), "x.conf:1: there is no \"=\" after \"Name\"");
}

static void a_name_is_needed(void **state)
{
    assert_string_equal(parameters("= 1\n"), "x.conf:1: a value has no name before its \"=\"");
    assert_string_equal(records("A=1 =2"), "x.conf:1: a value has no name before its \"=\"");
    assert_string_equal(parameters("A B = 1\n"), "x.conf:1: there is white space inside the name \"A B\"");
}

static void a_record_has_a_key_once(void **state)
{
    assert_string_equal(records("A=1 B=2\nA=3 B=4 A=5\n"), "x.conf:2: this record has two fields \"A\"");
    assert_string_equal(records("A=1 B=1\nA=1 a=1"), "x.conf:2: this record has two fields \"a\"");
    assert_string_equal(parameters("A=1\nA=2"), "1: [A|1]\n2: [A|2]");
}

static void nul_bytes_are_refused(void **state)
{
    static const char bytes[] = "A=1\nB=\0002\n";
    assert_string_equal(parsed_bytes(bytes, sizeof bytes - 1, CONF_RECORDS), "x.conf:2: there is a NUL byte");
    assert_string_equal(parsed_bytes(bytes, sizeof bytes - 1, CONF_PARAMETERS),
                        "x.conf:2: there is a NUL byte");
    assert_string_equal(parsed_bytes("#\0\n", 3, CONF_RECORDS), "x.conf:1: there is a NUL byte");
}

static void carriage_returns_at_line_ends_are_ignored(void **state)
{
    assert_string_equal(records("A=1 B=2\r\n\r\n# x\r\nC=\"3\"\r\n"), "1: [A|1][B|2]\n4: [C|3]");
    assert_string_equal(parameters("A = 1\r\nB =\r\n"), "1: [A|1]\n2: [B|]");
}

static void the_last_line_needs_no_end(void **state)
{
    assert_string_equal(records("A=1\nB=2"), "1: [A|1]\n2: [B|2]");
    assert_string_equal(parameters("A = 1"), "1: [A|1]");
}

static void an_empty_file_has_no_lines(void **state)
{
    assert_string_equal(records(""), "");
    assert_string_equal(parameters("\n\n"), "");
}

/* A text with n times 'x' between before and after. */
static char *with_long(const char *before, size_t n, const char *after)
{
    struct text t = {0};
    text_add(&t, before);
    memset(text_room(&t, n), 'x', n);
    t.len += n;
    text_add(&t, after);
    return text_take(&t);
}

static void a_field_has_1024_characters_at_most(void **state)
{
    static const struct {
        enum conf_form form;
        const char *before, *after, *what;
    } places[] = {{CONF_PARAMETERS, "A = ", "\n", "value of \"A\""},
                  {CONF_PARAMETERS, "", " = 1\n", "name \"xxx"},
                  {CONF_RECORDS, "A=1 B=", " C=2\n", "value of \"B\""},
                  {CONF_RECORDS, "A=1 ", "=1\n", "name \"xxx"},
                  {CONF_RECORDS, "A=\"", "\"", "value of \"A\""}};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        CLEANUP_FREE char *good = with_long(places[i].before, CONF_FIELD_BYTES_MAX, places[i].after);
        assert_memory_equal(parsed_bytes(good, strlen(good), places[i].form), "1: [", 4);
        CLEANUP_FREE char *bad = with_long(places[i].before, CONF_FIELD_BYTES_MAX + 1, places[i].after);
        const char *sentence = parsed_bytes(bad, strlen(bad), places[i].form);
        assert_memory_equal(sentence, "x.conf:1: more than 1024 characters in the ", 43);
        assert_non_null(strstr(sentence, places[i].what));
    }
}

static void a_record_has_256_fields_at_most(void **state)
{
    CLEANUP_TEXT struct text t = {0};
    for (int i = 0; i < CONF_LINE_FIELDS_MAX; i++)
        text_printf(&t, "K%d= ", i);
    assert_memory_equal(records(t.s), "1: [", 4);
    text_add(&t, "Last=");
    assert_string_equal(records(t.s), "x.conf:1: too many fields; the first too many is \"Last\"");
}

struct place {
    char directory[32], file[64];
};

static int make_place(void **state)
{
    struct place *p = mem_alloc(sizeof *p);
    snprintf(p->directory, sizeof p->directory, "/tmp/conf_test.XXXXXX");
    assert_non_null(mkdtemp(p->directory));
    snprintf(p->file, sizeof p->file, "%s/a.conf", p->directory);
    *state = p;
    return 0;
}

static int remove_place(void **state)
{
    struct place *p = *state;
    unlink(p->file);
    int r = rmdir(p->directory);
    free(p);
    return r;
}

static void write_file(const char *path, const char *bytes)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(bytes, f);
    fclose(f);
}

static void a_file_is_read(void **state)
{
    const struct place *p = *state;
    struct conf c;
    write_file(p->file, "Name=lx01\nName=lx02 CPUs=2");
    assert_int_equal(conf_read(p->file, CONF_RECORDS, &c, NULL), 0);
    assert_string_equal(c.path, p->file);
    assert_int_equal(c.n, 2);
    assert_string_equal(c.lines[1].fields[1].value, "2");
    conf_fini(&c);
    conf_fini(&c);

    write_file(p->file, "");
    assert_int_equal(conf_read(p->file, CONF_RECORDS, &c, NULL), 0);
    assert_int_equal(c.n, 0);
    conf_fini(&c);
}

static void sentences_name_file_and_line(void **state)
{
    const struct place *p = *state;
    struct conf c;
    struct err e = {0};
    char want[128];
    write_file(p->file, "\nName\n");
    snprintf(want, sizeof want, "%s:2: there is no \"=\" after \"Name\"", p->file);
    assert_int_equal(conf_read(p->file, CONF_RECORDS, &c, &e), -EINVAL);
    assert_string_equal(e.msg, want);
    assert_int_equal(c.n, 0);
    assert_null(c.path);
}

static void a_path_that_is_no_file_is_refused(void **state)
{
    const struct place *p = *state;
    struct conf c;
    struct err e = {0};
    char want[128];
    assert_int_equal(conf_read(p->file, CONF_RECORDS, &c, &e), -ENOENT);
    snprintf(want, sizeof want, "%s: No such file or directory", p->file);
    assert_string_equal(e.msg, want);
    assert_int_equal(c.n, 0);

    assert_int_equal(conf_read(p->directory, CONF_RECORDS, &c, &e), -EISDIR);
    snprintf(want, sizeof want, "%s: Is a directory", p->directory);
    assert_string_equal(e.msg, want);

    assert_int_equal(mkfifo(p->file, 0600), 0);
    assert_int_equal(conf_read(p->file, CONF_RECORDS, &c, &e), -EINVAL);
    snprintf(want, sizeof want, "%s: not a regular file", p->file);
    assert_string_equal(e.msg, want);
}

static void a_file_has_a_largest_size(void **state)
{
    const struct place *p = *state;
    struct conf c;
    struct err e = {0};
    char want[128];
    write_file(p->file, "");
    assert_int_equal(truncate(p->file, (off_t)CONF_FILE_BYTES_MAX + 1), 0);
    assert_int_equal(conf_read(p->file, CONF_RECORDS, &c, &e), -E2BIG);
    snprintf(want, sizeof want, "%s: more than 67108864 bytes", p->file);
    assert_string_equal(e.msg, want);
    assert_int_equal(conf_parse("x.conf", "", (size_t)CONF_FILE_BYTES_MAX + 1, CONF_RECORDS, &c, &e), -E2BIG);
    assert_int_equal(c.n, 0);
}

static void an_unknown_key_is_answered_with_the_nearest(void **state)
{
    static const char *const known[] = {"Name", "CPUs", "RealMemory"};
    static const char text[] = "\nName=lx01 RealMemoy=1 Colour=2\n";
    struct conf c;
    struct err e = {0};
    assert_int_equal(conf_parse("nodes.conf", text, sizeof text - 1, CONF_RECORDS, &c, &e), 0);
    const struct conf_line *line = &c.lines[0];
    assert_int_equal(conf_unknown_key(&c, line, line->fields[1].key, known, 3, &e), -EINVAL);
    assert_string_equal(e.msg,
                        "nodes.conf:2: unknown key \"RealMemoy\"; the nearest known is \"RealMemory\"");
    assert_int_equal(conf_unknown_key(&c, line, line->fields[2].key, known, 3, &e), -EINVAL);
    assert_string_equal(e.msg, "nodes.conf:2: unknown key \"Colour\"");
    conf_fini(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sample_parameters_of_2001_are_read),
        cmocka_unit_test(the_sample_records_of_2001_are_read),
        cmocka_unit_test(parameters_are_one_a_line),
        cmocka_unit_test(records_have_fields_between_blanks_and_tabs),
        cmocka_unit_test(a_value_may_be_empty),
        cmocka_unit_test(quotes_hold_white_space),
        cmocka_unit_test(quotes_must_close),
        cmocka_unit_test(comments_start_in_column_one),
        cmocka_unit_test(an_equals_sign_is_needed),
        cmocka_unit_test(a_name_is_needed),
        cmocka_unit_test(a_record_has_a_key_once),
        cmocka_unit_test(nul_bytes_are_refused),
        cmocka_unit_test(carriage_returns_at_line_ends_are_ignored),
        cmocka_unit_test(the_last_line_needs_no_end),
        cmocka_unit_test(an_empty_file_has_no_lines),
        cmocka_unit_test(a_field_has_1024_characters_at_most),
        cmocka_unit_test(a_record_has_256_fields_at_most),
        cmocka_unit_test_setup_teardown(a_file_is_read, make_place, remove_place),
        cmocka_unit_test_setup_teardown(sentences_name_file_and_line, make_place, remove_place),
        cmocka_unit_test_setup_teardown(a_path_that_is_no_file_is_refused, make_place, remove_place),
        cmocka_unit_test_setup_teardown(a_file_has_a_largest_size, make_place, remove_place),
        cmocka_unit_test(an_unknown_key_is_answered_with_the_nearest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
