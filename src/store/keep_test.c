/* SPDX-License-Identifier: Apache-2.0 */
/* What of the journal is not kept is in the files of its days before it goes: each entry once, whenever the
 * process ends. */
#include "store/export.h"
#include "store/fixture_test.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* No durable disk is needed. */
int fsync(int fd)
{
    return 0;
}

int fdatasync(int fd)
{
    return 0;
}

enum { COMMITS = 150, EACH = 100, HOUR_S = 3600, DAY_S = 24 * HOUR_S };

/* 2026-01-01, 12:30; a commit every half hour, the last is three days later. */
static const int64_t begin_ns = INT64_C(1767270600) * 1000000000;

struct scene {
    char *dir, *export;
    struct store *store;
    struct wall now;
    struct err e;
};

static void fill(struct scene *t)
{
    uint64_t term, revision;
    struct store_entry entries[EACH];
    char text[EACH][32];
    struct store_op op = {.key = "a", .value = "1"};
    assert_int_equal(store_campaign(t->store, &term, NULL), 0);
    for (size_t i = 0; i < COMMITS; i++) {
        t->now = (struct wall){begin_ns + (int64_t)i * span_s(HOUR_S / 2).ns};
        for (size_t k = 0; k < EACH; k++) {
            snprintf(text[k], sizeof text[k], "entry %zu", i * EACH + k);
            entries[k] = (struct store_entry){t->now, "root", "put", "lx[01-02]", text[k], NULL, NULL};
        }
        struct store_batch b = {.n_ops = 1, .ops = &op, .n_entries = EACH, .entries = entries};
        assert_int_equal(store_commit(t->store, term, &b, &revision, NULL), 0);
    }
}

/* All of journal.db is older than an hour. */
static struct store_keep keep_hour(const struct scene *t)
{
    return (struct store_keep){span_s(HOUR_S), UINT64_MAX, t->export, 0};
}

static void tidy(struct scene *t, const struct store_keep *keep)
{
    bool more = true;
    while (more)
        if (store_tidy(t->store, keep, t->now, &more, &t->e))
            fail_msg("%s", t->e.msg);
}

static int scene_start(void **state)
{
    struct scene *t = mem_alloc(sizeof *t);
    *state = t;
    t->dir = fixture_dir();
    t->export = fixture_path(t->dir, "export");
    t->store = fixture_open(t->dir);
    fill(t);
    return 0;
}

static int scene_end(void **state)
{
    struct scene *t = *state;
    store_close(t->store);
    fixture_remove(t->dir);
    free(t->export);
    free(t);
    return 0;
}

static uint64_t first(struct scene *t)
{
    uint64_t revision;
    assert_int_equal(store_first(t->store, &revision, NULL), 0);
    return revision;
}

static void read_day(const struct scene *t, int day, struct text *out)
{
    char name[32];
    snprintf(name, sizeof name, "journal-2026-01-%02d.jsonl", day);
    CLEANUP_FREE char *path = fixture_path(t->export, name);
    fixture_read(path, out);
    text_add(out, "");
}

/* The days' files have entries 0 to n-1 in order, each once, and nothing else; gives n. */
static size_t exported(const struct scene *t)
{
    size_t n = 0;
    for (int day = 1; day < 6; day++) {
        CLEANUP_TEXT struct text file = {0};
        read_day(t, day, &file);
        for (char *line = file.s, *end; line && *line; line = end + 1, n++) {
            CLEANUP_TEXT struct text want = {0}, said = {0};
            end = strchr(line, '\n');
            assert_non_null(end);
            text_printf(&said, "entry %zu", n);
            const struct store_entry entry = {{begin_ns + (int64_t)(n / EACH) * span_s(HOUR_S / 2).ns},
                                              "root",
                                              "put",
                                              "lx[01-02]",
                                              said.s,
                                              NULL,
                                              NULL};
            export_format(n / EACH + 1, &entry, &want);
            *end = '\0';
            want.s[want.len - 1] = '\0';
            assert_string_equal(line, want.s);
            assert_int_equal((begin_ns / 1000000000 + (int64_t)(n / EACH) * HOUR_S / 2 - 1767225600) / DAY_S,
                             day - 1);
        }
    }
    return n;
}

static void test_old_entries_go_to_the_files_of_their_days(void **state)
{
    struct scene *t = *state;
    struct store_keep keep = {span_s(60 * HOUR_S), UINT64_MAX, t->export, 0};
    tidy(t, &keep);
    size_t n = exported(t);
    assert_int_equal(n, (COMMITS - 1 - 120) * EACH); /* what is 60 hours old or younger stays */
    assert_int_equal(first(t), n / EACH + 1);
    struct stat st;
    assert_int_equal(stat(t->export, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
}

static void test_a_line_is_json(void **state)
{
    CLEANUP_TEXT struct text line = {0};
    const struct store_entry entry = {
        {begin_ns}, "ann", "node.drain", "lx1", "a \"bad\" DIMM\n", NULL, "\"claims\":[\"7.1\"],\"cost\":3"};
    export_format(7, &entry, &line);
    assert_string_equal(
        line.s, "{\"revision\":7,\"at\":\"2026-01-01T12:30:00.000Z\",\"what\":\"node.drain\",\"actor\":"
                "\"ann\",\"nodes\":\"lx1\",\"text\":\"a \\\"bad\\\" DIMM\\n\",\"claims\":[\"7.1\"],"
                "\"cost\":3}\n");
}

static void test_nothing_goes_without_a_limit(void **state)
{
    struct scene *t = *state;
    struct store_keep keep = {span_s(0), UINT64_MAX, t->export, 0};
    t->now.ns += span_s(400 * DAY_S).ns;
    tidy(t, &keep);
    assert_int_equal(first(t), 1);
    assert_int_not_equal(access(t->export, F_OK), 0);
}

/* The size counts what journal.db has; the last two days stay, however much they are. */
static void test_excess_entries_go_but_for_the_last_days(void **state)
{
    struct scene *t = *state;
    struct store_keep keep = {span_s(0), 4096, t->export, 0};
    t->now.ns -= span_s(12 * HOUR_S).ns;
    tidy(t, &keep);
    size_t n = exported(t);
    assert_int_equal(n, (COMMITS - 1 - 24 - 98) * EACH); /* what is 49 hours old or younger stays */
    assert_int_equal(first(t), n / EACH + 1);
    t->now.ns += span_s(3 * DAY_S).ns;
    keep.bytes = 150000;
    tidy(t, &keep);
    assert_in_range(exported(t), n, COMMITS * EACH - 10000);
    t->now.ns += span_s(3 * DAY_S).ns;
    keep.bytes = 0;
    tidy(t, &keep);
    assert_in_range(exported(t), COMMITS * EACH - 10256,
                    COMMITS * EACH - 10000); /* all that was in journal.db */
    assert_int_equal(first(t), exported(t) / EACH + 1);
    CLEANUP_TEXT struct text left = {0}, last = {0};
    assert_int_equal(fixture_dump(t->store, &left, NULL), 0);
    text_printf(&last, ": entry %d\n", COMMITS * EACH - 1);
    assert_non_null(strstr(left.s, last.s));
}

static void test_a_kill_after_any_step_loses_nothing_and_tells_nothing_twice(void **state)
{
    struct scene *t = *state;
    const struct store_keep keep = keep_hour(t), all = {span_s(0), UINT64_MAX, t->export, 0};
    tidy(t, &all); /* what moves has moved */
    store_close(STEAL(t->store));
    for (int steps = 1; steps < 6; steps++) {
        pid_t child = fork();
        if (child == 0) {
            struct store *s = fixture_open(t->dir);
            bool more;
            assert(store_tidy(s, &keep, t->now, &more, NULL) == 0); /* looks for what moves */
            for (int i = 0; i < steps; i++)
                assert(store_tidy(s, &keep, t->now, &more, NULL) == 0);
            _exit(0);
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
        t->store = fixture_open(t->dir);
        assert_in_range(exported(t) / EACH + 1, first(t), first(t) + 2); /* removed after it was written */
        store_close(STEAL(t->store));
    }
    t->store = fixture_open(t->dir);
    tidy(t, &keep);
    assert_int_equal(first(t), exported(t) / EACH + 1);
}

/* What is not in the archive of the audit log yet stays, whatever its age. */
static void test_entries_stay_from_a_revision(void **state)
{
    struct scene *t = *state;
    struct store_keep keep = keep_hour(t);
    keep.stays_from = 1;
    tidy(t, &keep);
    assert_int_equal(first(t), 1);
    keep.stays_from = 40;
    tidy(t, &keep);
    assert_int_equal(first(t), 40);
    keep.stays_from = 0;
    tidy(t, &keep);
    assert_true(first(t) > 40);
}

static void write_day(const struct scene *t, const char *bytes)
{
    CLEANUP_FREE char *path = fixture_path(t->export, "journal-2026-01-01.jsonl");
    mkdir(t->export, 0700);
    fixture_write(path, bytes, strlen(bytes));
}

static void test_a_line_that_was_cut_off_is_written_anew(void **state)
{
    struct scene *t = *state;
    const struct store_keep keep = keep_hour(t);
    write_day(t, "{\"rev");
    tidy(t, &keep);
    assert_true(exported(t) > 0);
}

static void test_a_file_of_somebody_else_is_left_alone(void **state)
{
    struct scene *t = *state;
    const struct store_keep keep = keep_hour(t);
    CLEANUP_TEXT struct text file = {0};
    write_day(t, "shopping list\n");
    bool more = true;
    int r = 0;
    while (more && !r)
        r = store_tidy(t->store, &keep, t->now, &more, &t->e);
    assert_int_equal(r, -EILSEQ);
    assert_non_null(
        strstr(t->e.msg, "journal-2026-01-01.jsonl ends with a line that is none of the journal's"));
    assert_int_equal(first(t), 1);
    read_day(t, 1, &file);
    assert_string_equal(file.s, "shopping list\n");
}

static void test_entries_that_cannot_be_written_stay(void **state)
{
    struct scene *t = *state;
    struct store_keep keep = keep_hour(t);
    keep.directory = "/nonexistent/journal";
    bool more = true;
    int r = 0;
    while (more && !r)
        r = store_tidy(t->store, &keep, t->now, &more, &t->e);
    assert_int_equal(r, -ENOENT);
    assert_non_null(strstr(t->e.msg, "cannot open directory /nonexistent/journal"));
    assert_int_equal(first(t), 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scene_start, scene_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_old_entries_go_to_the_files_of_their_days),
        cmocka_unit_test(test_a_line_is_json),
        TEST(test_nothing_goes_without_a_limit),
        TEST(test_entries_stay_from_a_revision),
        TEST(test_excess_entries_go_but_for_the_last_days),
        TEST(test_a_kill_after_any_step_loses_nothing_and_tells_nothing_twice),
        TEST(test_a_line_that_was_cut_off_is_written_anew),
        TEST(test_a_file_of_somebody_else_is_left_alone),
        TEST(test_entries_that_cannot_be_written_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
