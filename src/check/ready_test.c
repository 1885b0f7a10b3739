/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ready-made records of set.tbl with what their tools print (test/data/records): each is run as an agent
 * runs it, with a program in its PATH that prints a recorded output and ends with a recorded status. The
 * samples of conf/checks.conf that run something of several programs are run in the same way.
 */
#include "base/conf.h"
#include "base/text.h"
#include "check/look.h"
#include "probe/tree_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const char SETS[] = "Include=nvidia\nInclude=infiniband\nInclude=cpu\n";

struct row {
    char *record, *key, *which, *program, *file, *verdict;
    uint64_t status;
};

struct bench {
    struct tree *tree;
    struct checks sets;
    char *path; /* PATH as it was */
};

static int setup(void **state)
{
    struct bench *b = mem_alloc(sizeof *b);
    struct err e = {0};
    tree_setup((void **)&b->tree);
    b->path = mem_dup(getenv("PATH"));
    if (checks_parse("sets", SETS, sizeof SETS - 1, &b->sets, &e) < 0)
        fail_msg("%s", e.msg);
    *state = b;
    return 0;
}

static int teardown(void **state)
{
    struct bench *b = *state;
    setenv("PATH", b->path, 1);
    checks_fini(&b->sets);
    tree_teardown((void **)&b->tree);
    free(b->path);
    free(b);
    return 0;
}

static void add_program(struct bench *b, const char *name, const char *body)
{
    CLEANUP_TEXT struct text path = {0}, full = {0}, script = {0};
    text_printf(&path, "bin/%s", name);
    text_printf(&full, "%s/%s", b->tree->root, path.s);
    text_printf(&script, "#!/bin/sh\n%s\n", body);
    tree_add(b->tree, path.s, script.s);
    assert_int_equal(chmod(full.s, 0755), 0);
}

/* What the record's program is called with beside its run, and what others of the record say. */
static void add_programs(struct bench *b, const struct row *r)
{
    CLEANUP_TEXT struct text body = {0};
    add_program(b, "sleep", "exit 0");
    add_program(b, "nvidia-smi", "printf '0\\n1\\n2\\n3\\n4\\n5\\n6\\n7\\n'");
    if (strcmp(r->program, "mpirun") == 0)
        add_program(b, "all_reduce_perf", "exit 99");
    if (strcmp(r->program, "nvidia-smi") == 0)
        add_program(b, "all_reduce_perf", "exit 0");
    text_printf(&body, "case $1 in image) exit 0;; list) echo nccl-tests; exit 0;; esac\n");
    if (strcmp(r->program, "ib_write_bw") == 0) /* that without a host is the server */
        text_printf(&body, "case \"$*\" in *localhost|*n1) ;; *) cat %s/perftest/server.txt; exit 0;; esac\n",
                    TEST_DATA);
    if (strcmp(r->file, "nothing") != 0)
        text_printf(&body, "cat %s/%s.txt\n", TEST_DATA, r->file);
    text_printf(&body, "exit %d", (int)r->status);
    add_program(b, r->program, body.s);
}

static void say(const struct verdict *v, struct text *out)
{
    out->len = 0;
    text_add(out, v->n == 0 ? result_name(v->result) : "");
    if (*v->text)
        text_printf(out, " %s", v->text);
    for (size_t i = 0; i < v->n; i++)
        text_printf(out, "%s %s: %s", result_name(v->findings[i].result), v->findings[i].device,
                    v->findings[i].text);
}

static void run(struct bench *b, const struct check *k, const char *key, struct text *out)
{
    CLEANUP_TEXT struct text line = {0}, path = {0};
    struct checks one = {0};
    struct memory *memory = memory_create();
    struct verdict v;
    struct err e = {0};
    if (strcmp(k->name, "hpl") == 0) /* where HPL.dat lies is the site's */
        text_printf(&line,
                    "Check=hpl Probe=tool Tool=hpl Run=\"command -v xhpl >/dev/null || exit 127; xhpl\"");
    else
        check_format(k, NULL, &line);
    text_printf(&line, " %s\n", key);
    if (checks_parse("one", line.s, line.len, &one, &e) < 0)
        fail_msg("%s", e.msg);
    text_printf(&path, "%s/bin:/usr/bin:/bin", b->tree->root);
    setenv("PATH", path.s, 1);
    struct look l = {.check = &one.list[0], .root = b->tree->root, .now = {1}, .memory = memory};
    if (k->group > 1)
        l.company = (struct company){"n1,n2", strstr(line.s, "Rank=1") ? 1 : 0};
    look_now(&l, &v);
    say(&v, out);
    checks_fini(&one);
    memory_destroy(memory);
}

static char *cut(char **at)
{
    char *field = *at, *bar = strstr(field, " | ");
    if (bar)
        *bar = '\0';
    *at = bar ? bar + 3 : field + strlen(field);
    return field;
}

static bool read_row(char *line, struct row *r)
{
    line[strcspn(line, "\n")] = '\0';
    if (*line == '#' || !*line)
        return false;
    r->record = cut(&line);
    r->which = cut(&line);
    r->program = cut(&line);
    r->file = cut(&line);
    assert_int_equal(text_parse_u64(cut(&line), 0, 255, &r->status, NULL), 0);
    r->verdict = line;
    r->key = r->record + strcspn(r->record, " ");
    if (*r->key)
        *r->key++ = '\0';
    return true;
}

static void clear_programs(struct bench *b)
{
    tree_teardown((void **)&b->tree);
    tree_setup((void **)&b->tree);
}

static void test_each_case(void **state)
{
    struct bench *b = *state;
    FILE *f = fopen(TEST_DATA "/cases.txt", "r");
    char line[2048];
    CLEANUP_TEXT struct text said = {0};
    size_t n = 0, wrong = 0;
    assert_non_null(f);
    while (fgets(line, sizeof line, f)) {
        struct row r;
        if (!read_row(line, &r))
            continue;
        const struct check *k = checks_find(&b->sets, r.record);
        if (!k)
            fail_msg("there is no record %s", r.record);
        clear_programs(b);
        add_programs(b, &r);
        run(b, k, r.key, &said);
        n++;
        if (strcmp(said.s, r.verdict) != 0) {
            print_error("%s, %s:\n  \"%s\"\nnot \"%s\"\n", r.record, r.file, said.s, r.verdict);
            wrong++;
        }
    }
    fclose(f);
    assert_int_equal(wrong, 0);
    assert_true(n >= 70);
}

/* Each record that runs a tool stands in the table, with a good output, a wrong one, and one of a crash. */
static void test_each_record_has_its_cases(void **state)
{
    struct bench *b = *state;
    static const char *const cases[] = {"good", "wrong", "itself"};
    CLEANUP_TEXT struct text all = {0};
    struct err e = {0};
    assert_int_equal(conf_read_bytes(TEST_DATA "/cases.txt", &all, &e), 0);
    for (size_t i = 0; i < b->sets.n; i++) {
        const struct check *k = &b->sets.list[i];
        for (size_t c = 0; k->probe == PROBE_TOOL && c < sizeof cases / sizeof cases[0]; c++) {
            CLEANUP_TEXT struct text row = {0};
            text_printf(&row, "\n%s | %s | ", k->name, cases[c]);
            if (!strstr(all.s, row.s))
                fail_msg("no case %s of %s", cases[c], k->name);
        }
    }
}

static void test_a_missing_tool_is_unsupported(void **state)
{
    struct bench *b = *state;
    CLEANUP_TEXT struct text said = {0};
    size_t n = 0;
    clear_programs(b);
    add_program(b, "sleep", "exit 0");
    for (size_t i = 0; i < b->sets.n; i++) {
        if (b->sets.list[i].probe != PROBE_TOOL)
            continue;
        run(b, &b->sets.list[i], "", &said);
        if (strncmp(said.s, "unsupported ", 12) != 0)
            fail_msg("%s: %s", b->sets.list[i].name, said.s);
        n++;
    }
    assert_true(n >= 14);
}

/* The line of the sample, without its comment sign. */
static void read_sample(const char *name, struct text *out)
{
    CLEANUP_TEXT struct text all = {0}, begin = {0};
    struct err e = {0};
    assert_int_equal(conf_read_bytes(SAMPLES, &all, &e), 0);
    text_printf(&begin, "\n#Check=%s ", name);
    const char *at = strstr(all.s, begin.s);
    assert_non_null(at);
    text_add_bytes(out, at + 2, strcspn(at + 2, "\n"));
}

static void test_munge_is_asked_both_ways(void **state)
{
    struct bench *b = *state;
    static const struct {
        const char *munge, *unmunge, *said;
    } cases[] = {
        {"echo MUNGE:AwQDAAB:", "read c; test \"$c\" = MUNGE:AwQDAAB:", "ok"},
        {"echo MUNGE:AwQDAAB:", "echo Error: Invalid credential; exit 14",
         "fatal : unmunge: Error: Invalid credential"},
        {"echo Error: Failed to access /run/munge/munge.socket.2 >&2; exit 6", "exit 0",
         "fatal : munge: Error: Failed to access /run/munge/munge.socket.2"},
    };
    CLEANUP_TEXT struct text line = {0}, said = {0};
    struct checks one = {0};
    struct err e = {0};
    read_sample("munge", &line);
    if (checks_parse(SAMPLES, line.s, line.len, &one, &e) < 0)
        fail_msg("%s", e.msg);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        clear_programs(b);
        add_program(b, "munge", cases[i].munge);
        add_program(b, "unmunge", cases[i].unmunge);
        run(b, &one.list[0], "", &said);
        assert_string_equal(said.s, cases[i].said);
    }
    checks_fini(&one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_each_case, setup, teardown),
        cmocka_unit_test_setup_teardown(test_each_record_has_its_cases, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_missing_tool_is_unsupported, setup, teardown),
        cmocka_unit_test_setup_teardown(test_munge_is_asked_both_ways, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
