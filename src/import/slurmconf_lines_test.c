/* SPDX-License-Identifier: Apache-2.0
 *
 * Lines and pairs of slurm.conf: comments, continuations, included files, and what is refused, with its
 * place.
 */
#include "import/slurmconf_lines.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- files of a test ---- */

struct file {
    const char *path, *text;
};

struct disk {
    const struct file *files;
    size_t n, reads;
};

static int disk_read(void *arg, const char *path, struct text *bytes, struct err *e)
{
    struct disk *d = arg;
    d->reads++;
    for (size_t i = 0; i < d->n; i++)
        if (strcmp(d->files[i].path, path) == 0) {
            text_add(bytes, d->files[i].text);
            return 0;
        }
    return err_set(e, -ENOENT, "%s: No such file or directory", path);
}

/* Each line as "FILE:NUMBER|TEXT", or the error. */
static void lines_show(const struct file *files, size_t n, struct text *out)
{
    struct disk d = {.files = files, .n = n};
    struct slurmconf_lines lines = {0};
    struct err e = {0};
    int rc = slurmconf_lines_read(files[0].path, disk_read, &d, &lines, &e);
    text_add(out, "");
    for (size_t i = 0; i < lines.n && rc == 0; i++)
        text_printf(out, "%s:%d|%s\n", lines.list[i].file, lines.list[i].number, lines.list[i].text);
    if (rc < 0)
        text_printf(out, "%d %s", rc, e.msg);
    slurmconf_lines_fini(&lines);
}

static void expect_lines(const char *text, const char *wanted)
{
    const struct file files[] = {{"/e/slurm.conf", text},
                                 {"/e/nodes", "NodeName=a\n\nNodeName=b\n"},
                                 {"/e/ctl.conf", "X=1"},
                                 {"/abs", "Y=1"},
                                 {"/e/loop", "Include loop\n"}};
    CLEANUP_TEXT struct text out = {0};
    lines_show(files, sizeof files / sizeof files[0], &out);
    assert_string_equal(out.s, wanted);
}

/* ---- lines ---- */

static void test_lines_are_counted_and_empty_ones_left_out(void **state)
{
    expect_lines("", "");
    expect_lines("\n \t\n#\n", "");
    expect_lines("\n  A=1  \n\nB=2", "/e/slurm.conf:2|A=1  \n/e/slurm.conf:4|B=2\n");
}

static void test_a_hash_begins_a_comment_unless_a_backslash_is_before_it(void **state)
{
    expect_lines("A=1 # B=2\n", "/e/slurm.conf:1|A=1 \n");
    expect_lines("A=a\\#b # c\n", "/e/slurm.conf:1|A=a#b \n");
    expect_lines("A=a\\\\# c\n", "/e/slurm.conf:1|A=a\\\n"); /* the backslash is one itself */
}

static void test_a_backslash_at_the_end_goes_on_in_the_next_line(void **state)
{
    expect_lines("A=1 \\\nB=2 \\  \nC=3\nD=4\n", "/e/slurm.conf:1|A=1 B=2 C=3\n/e/slurm.conf:4|D=4\n");
    expect_lines("A=1\\\\\nB=2\n", "/e/slurm.conf:1|A=1\\\n/e/slurm.conf:2|B=2\n"); /* two are one */
    expect_lines("A=1 \\", "/e/slurm.conf:1|A=1 \n");                               /* nothing comes */
}

static void test_an_included_file_stands_in_its_place(void **state)
{
    expect_lines("A=1\nInclude nodes # both\nB=2\n", "/e/slurm.conf:1|A=1\n/e/nodes:1|NodeName=a\n"
                                                     "/e/nodes:3|NodeName=b\n/e/slurm.conf:3|B=2\n");
    expect_lines("include /abs\n", "/abs:1|Y=1\n");
    expect_lines("ClusterName=CTL\nINCLUDE %c.conf\n",
                 "/e/slurm.conf:1|ClusterName=CTL\n/e/ctl.conf:1|X=1\n");
    expect_lines("IncludeX=1\n", "/e/slurm.conf:1|IncludeX=1\n"); /* a key like others */
}

static void test_a_wrong_include_is_refused_with_its_place(void **state)
{
    expect_lines("A=1\nInclude  \n", "-22 /e/slurm.conf:2: Include without a file \"\"");
    expect_lines("Include nodes more\n",
                 "-22 /e/slurm.conf:1: there is something behind the file of Include: \"more\"");
    expect_lines("Include %c.conf\nClusterName=ctl\n",
                 "-22 /e/slurm.conf:1: no ClusterName stands before the %c of \"%c.conf\"");
    expect_lines("Include none\n", "-2 /e/slurm.conf:1: Include: /e/none: No such file or directory");
    expect_lines("Include loop\n", "-22 /e/loop:1: too many files include each other at \"/e/loop\"");
}

static void test_the_first_file_need_not_have_a_directory(void **state)
{
    const struct file files[] = {{"slurm.conf", "Include nodes\n"}, {"nodes", "A=1\n"}};
    CLEANUP_TEXT struct text out = {0};
    lines_show(files, 2, &out);
    assert_string_equal(out.s, "nodes:1|A=1\n");
    const struct file none[] = {{"slurm.conf", "A=1"}};
    struct disk d = {.files = none, .n = 0};
    struct slurmconf_lines lines = {0};
    struct err e = {0};
    assert_int_equal(slurmconf_lines_read("slurm.conf", disk_read, &d, &lines, &e), -ENOENT);
    assert_string_equal(e.msg, "slurm.conf: No such file or directory"); /* nobody included it */
    slurmconf_lines_fini(&lines);
}

static int nul_read(void *arg, const char *path, struct text *bytes, struct err *e)
{
    text_add_bytes(bytes, "A=1\0B=2\n", 8);
    return 0;
}

static void test_a_nul_byte_is_refused(void **state)
{
    struct slurmconf_lines lines = {0};
    struct err e = {0};
    assert_int_equal(slurmconf_lines_read("/f", nul_read, NULL, &lines, &e), -EINVAL);
    assert_string_equal(e.msg, "/f: there is a NUL byte");
    slurmconf_lines_fini(&lines);
}

/* A file that includes one other so often. */
static int files_read(size_t includes, struct err *e)
{
    struct text t = {0};
    for (size_t i = 0; i < includes; i++)
        text_add(&t, "Include b\n");
    const struct file files[] = {{"a", t.s}, {"b", ""}};
    struct disk d = {.files = files, .n = 2};
    struct slurmconf_lines lines = {0};
    int rc = slurmconf_lines_read("a", disk_read, &d, &lines, e);
    slurmconf_lines_fini(&lines);
    text_fini(&t);
    return rc;
}

static void test_files_and_lines_have_a_maximum(void **state)
{
    struct err e = {0};
    assert_int_equal(files_read(SLURM_FILES_MAX - 1, &e), 0);
    assert_int_equal(files_read(SLURM_FILES_MAX, &e), -EINVAL);
    assert_string_equal(e.msg, "b: more than 1024 files");
    struct text t = {0};
    for (size_t i = 0; i < SLURM_LINES_MAX; i++)
        text_add(&t, "A=1\n");
    struct file file = {"a", t.s};
    struct disk d = {.files = &file, .n = 1};
    struct slurmconf_lines lines = {0};
    assert_int_equal(slurmconf_lines_read("a", disk_read, &d, &lines, &e), 0);
    assert_int_equal(lines.n, SLURM_LINES_MAX);
    slurmconf_lines_fini(&lines);
    text_add(&t, "B=2\n");
    file.text = t.s;
    assert_int_equal(slurmconf_lines_read("a", disk_read, &d, &lines, &e), -EINVAL);
    assert_string_equal(e.msg, "a:262145: too many lines, from here on: \"B=2\"");
    slurmconf_lines_fini(&lines);
    text_fini(&t);
}

/* ---- pairs ---- */

/* Each pair as [KEY|VALUE], or the error. */
static void expect_pairs(const char *text, const char *wanted)
{
    char copy[128];
    snprintf(copy, sizeof copy, "%s", text);
    const struct slurmconf_line line = {"f", 3, copy};
    struct slurmconf_pairs pairs = {0};
    struct err e = {0};
    CLEANUP_TEXT struct text out = {0};
    text_add(&out, "");
    if (slurmconf_pairs_read(&line, &pairs, &e) < 0)
        text_add(&out, e.msg);
    else
        for (size_t i = 0; i < pairs.n; i++)
            text_printf(&out, "[%s|%s]", pairs.list[i].key, pairs.list[i].value);
    assert_string_equal(out.s, wanted);
    slurmconf_pairs_fini(&pairs);
}

static void test_pairs_are_read_as_slurm_reads_them(void **state)
{
    expect_pairs("", "");
    expect_pairs("NodeName=a[1-2] CPUs=4", "[NodeName|a[1-2]][CPUs|4]");
    expect_pairs("A = 1\tB=2 ", "[A|1][B|2]");
    expect_pairs("Reason=\"bad disk\" B=2", "[Reason|bad disk][B|2]");
    expect_pairs("A=\"\"", "[A|]");
    expect_pairs("A=\"x\"y", "[A|\"x\"y]"); /* a quote that ends within a word is no end */
    expect_pairs("A=\"x y", "f:3: there is no KEY=VALUE at \"y\"");
    expect_pairs("a.b_c+=1", "[a.b_c|1]");
    expect_pairs("A==1", "[A|=1]");
}

static void test_a_word_that_is_no_pair_is_refused_with_its_place(void **state)
{
    expect_pairs("NodeName", "f:3: there is no KEY=VALUE at \"NodeName\"");
    expect_pairs("A=1 alone B=2", "f:3: there is no KEY=VALUE at \"alone B=2\"");
    expect_pairs("=1", "f:3: there is no KEY=VALUE at \"=1\"");
    expect_pairs("A=", "f:3: there is no KEY=VALUE at \"A=\"");
    expect_pairs("A=1 +", "f:3: there is no KEY=VALUE at \"+\"");
}

static void test_a_line_has_so_many_keys_and_no_more(void **state)
{
    struct text t = {0};
    for (size_t i = 0; i < SLURM_PAIRS_MAX; i++)
        text_add(&t, "A=1 ");
    struct slurmconf_line line = {"f", 1, t.s};
    struct slurmconf_pairs pairs = {0};
    struct err e = {0};
    assert_int_equal(slurmconf_pairs_read(&line, &pairs, &e), 0);
    assert_int_equal(pairs.n, SLURM_PAIRS_MAX);
    slurmconf_pairs_fini(&pairs);
    text_add(&t, "B=1");
    line.text = t.s;
    assert_int_equal(slurmconf_pairs_read(&line, &pairs, &e), -EINVAL);
    assert_string_equal(e.msg, "f:1: more than 128 keys");
    slurmconf_pairs_fini(&pairs);
    text_fini(&t);
}

static void test_the_last_of_a_key_counts_in_any_case(void **state)
{
    char text[] = "CPUs=4 cpus=8 Name=x";
    const struct slurmconf_line line = {"f", 1, text};
    struct slurmconf_pairs pairs = {0};
    assert_int_equal(slurmconf_pairs_read(&line, &pairs, NULL), 0);
    assert_string_equal(slurmconf_pair(&pairs, "CPUS"), "8");
    assert_null(slurmconf_pair(&pairs, "Sockets"));
    slurmconf_pairs_fini(&pairs);
}

static void test_the_first_pair_says_what_is_behind_it(void **state)
{
    char text[] = "NodeName=a CPUs=4", wrong[] = "Node a";
    const struct slurmconf_line line = {"f", 1, text}, bad = {"f", 7, wrong};
    CLEANUP_FREE char *key = NULL;
    CLEANUP_FREE char *value = NULL;
    char *none = NULL;
    const char *rest = NULL;
    struct err e = {0};
    assert_int_equal(slurmconf_first(&line, &key, &value, &rest, &e), 0);
    assert_string_equal(key, "NodeName");
    assert_string_equal(value, "a");
    assert_string_equal(rest, " CPUs=4");
    assert_int_equal(slurmconf_first(&bad, &none, &none, NULL, &e), -EINVAL);
    assert_string_equal(e.msg, "f:7: there is no KEY=VALUE at \"Node a\"");
    assert_null(none);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines_are_counted_and_empty_ones_left_out),
        cmocka_unit_test(test_a_hash_begins_a_comment_unless_a_backslash_is_before_it),
        cmocka_unit_test(test_a_backslash_at_the_end_goes_on_in_the_next_line),
        cmocka_unit_test(test_an_included_file_stands_in_its_place),
        cmocka_unit_test(test_a_wrong_include_is_refused_with_its_place),
        cmocka_unit_test(test_the_first_file_need_not_have_a_directory),
        cmocka_unit_test(test_a_nul_byte_is_refused),
        cmocka_unit_test(test_files_and_lines_have_a_maximum),
        cmocka_unit_test(test_pairs_are_read_as_slurm_reads_them),
        cmocka_unit_test(test_a_word_that_is_no_pair_is_refused_with_its_place),
        cmocka_unit_test(test_a_line_has_so_many_keys_and_no_more),
        cmocka_unit_test(test_the_last_of_a_key_counts_in_any_case),
        cmocka_unit_test(test_the_first_pair_says_what_is_behind_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
