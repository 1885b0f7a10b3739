/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whatever happened to the files: opening and reading either gives exactly what was committed, or is
 * refused with words and leaves the files as they are. Never a crash, never a new empty state.
 */
#include "store/fixture_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

/* Thousands of openings need no durable disk. */
int fsync(int fd)
{
    return 0;
}

int fdatasync(int fd)
{
    return 0;
}

enum { DB, WAL, LOCK, FILES };
static const char *const names[FILES] = {"state.db", "state.db-wal", "state.lock"};

/* The files of a state and what it gives. */
struct image {
    struct text file[FILES];
    struct text content;
};

struct scene {
    char *dir;
    char *path[FILES];
    struct image folded; /* after store_close: all in state.db */
    struct image killed; /* after a kill: nearly all in state.db-wal */
};

static void state_fill(struct store *s)
{
    uint64_t term, revision;
    assert_int_equal(store_campaign(s, &term, NULL), 0);
    for (int i = 0; i < 60; i++) {
        char key[32], value[256];
        snprintf(key, sizeof key, "claim/%d", i);
        snprintf(value, sizeof value, "{\"reason\":\"%0*d\"}", i * 3 + 1, i);
        assert_int_equal(fixture_put(s, term, key, value, &revision, NULL), 0);
    }
    assert_int_equal(fixture_put(s, term, "claim/7", NULL, &revision, NULL), 0);
}

static void files_read(struct scene *t, struct text file[FILES])
{
    for (int i = 0; i < FILES; i++)
        fixture_read(t->path[i], &file[i]);
}

/* A file without bytes in the image is not there, but for a lock without a mark. */
static void files_write(struct scene *t, const struct text file[FILES])
{
    for (int i = 0; i < FILES; i++) {
        unlink(t->path[i]);
        if (file[i].len)
            fixture_write(t->path[i], file[i].s, file[i].len);
    }
}

static void image_take(struct scene *t, struct image *image)
{
    files_read(t, image->file);
    struct store *s = fixture_open(t->dir);
    assert_int_equal(fixture_dump(s, &image->content, NULL), 0);
    store_close(s);
}

static int scene_start(void **state)
{
    struct scene *t = mem_alloc(sizeof *t);
    *state = t;
    t->dir = fixture_dir();
    for (int i = 0; i < FILES; i++)
        t->path[i] = fixture_path(t->dir, names[i]);
    pid_t child = fork();
    if (child == 0) {
        state_fill(fixture_open(t->dir));
        _exit(0);
    }
    assert_int_equal(waitpid(child, NULL, 0), child);
    image_take(t, &t->killed);
    image_take(t, &t->folded);
    assert_string_equal(t->killed.content.s, t->folded.content.s);
    assert_true(t->killed.file[WAL].len > t->killed.file[DB].len);
    assert_int_equal(t->folded.file[WAL].len, 0);
    return 0;
}

static void image_fini(struct image *image)
{
    for (int i = 0; i < FILES; i++)
        text_fini(&image->file[i]);
    text_fini(&image->content);
}

static int scene_end(void **state)
{
    struct scene *t = *state;
    image_fini(&t->folded);
    image_fini(&t->killed);
    for (int i = 0; i < FILES; i++)
        free(t->path[i]);
    fixture_remove(t->dir);
    free(t);
    return 0;
}

static int open_and_dump(struct scene *t, struct text *content, struct err *e)
{
    struct store *s = NULL;
    int r = store_open_sqlite(t->dir, &s, e);
    if (r)
        return r;
    r = fixture_dump(s, content, e);
    store_close(s);
    return r;
}

/* Opening the files as they are now is refused as damaged with these words, and changes nothing. */
static void assert_refused(struct scene *t, const char *words)
{
    struct text before[FILES] = {0}, after[FILES] = {0};
    CLEANUP_TEXT struct text content = {0};
    struct err e = {0};
    files_read(t, before);
    assert_int_equal(open_and_dump(t, &content, &e), -EILSEQ);
    if (!strstr(e.msg, words))
        fail_msg("\"%s\" does not say \"%s\"", e.msg, words);
    if (!strstr(e.msg, t->dir) ||
        !(strstr(e.msg, "restore") || strstr(e.msg, "remove") || strstr(e.msg, "use")))
        fail_msg("\"%s\" names no file, or nothing to do", e.msg);
    files_read(t, after);
    for (int i = 0; i < FILES; i++) {
        assert_int_equal(before[i].len, after[i].len);
        if (before[i].len)
            assert_memory_equal(before[i].s, after[i].s, before[i].len);
        text_fini(&before[i]);
        text_fini(&after[i]);
    }
}

/* Opening the files as they are now gives what was committed, or words. Tells whether it did. */
static bool assert_same_or_words(struct scene *t, const struct image *image, const char *how, size_t at)
{
    CLEANUP_TEXT struct text content = {0};
    struct err e = {0};
    int r = open_and_dump(t, &content, &e);
    if (r && (r != -EILSEQ || !strstr(e.msg, t->dir)))
        fail_msg("%s at byte %zu: %d \"%s\"", how, at, r, e.msg);
    if (!r && strcmp(content.s, image->content.s) != 0)
        fail_msg("%s at byte %zu was not seen", how, at);
    return r != 0;
}

static void flip(struct scene *t, struct image *image, int which, size_t at, unsigned char mask)
{
    struct text *file = &image->file[which];
    file->s[at] = (char)(file->s[at] ^ mask);
    files_write(t, image->file);
    file->s[at] = (char)(file->s[at] ^ mask);
    assert_same_or_words(t, image, names[which], at);
}

/* The heads of pages byte for byte, the rest in strides that no structure has. */
static void flip_all(struct scene *t, struct image *image, int which)
{
    for (size_t at = 0; at < image->file[which].len; at += at % 4096 < 120 ? 1 : 23)
        flip(t, image, which, at, 0xff);
}

static void test_changed_bytes_of_the_database_are_seen(void **state)
{
    struct scene *t = *state;
    flip_all(t, &t->folded, DB);
}

static void test_changed_bytes_of_the_log_are_seen(void **state)
{
    struct scene *t = *state;
    struct text *wal = &t->killed.file[WAL];
    for (size_t at = 0; at < wal->len; at += at < 64 ? 1 : 509)
        flip(t, &t->killed, WAL, at, 0x10);
    flip_all(t, &t->killed, DB);
}

static void cut(struct scene *t, struct image *image, int which, size_t len)
{
    struct text *file = &image->file[which];
    files_write(t, image->file);
    fixture_write(t->path[which], file->s, len);
    if (!assert_same_or_words(t, image, names[which], len))
        fail_msg("%s cut to %zu of %zu bytes was not seen", names[which], len, file->len);
}

static void test_cut_files_are_seen(void **state)
{
    struct scene *t = *state;
    static const size_t lengths[] = {0, 1, 15, 16, 99, 100, 511, 512, 1024, 4095, 4096, 4097, 8192};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        cut(t, &t->folded, DB, lengths[i]);
        cut(t, &t->killed, WAL, lengths[i]);
    }
    cut(t, &t->folded, DB, t->folded.file[DB].len / 2);
    cut(t, &t->folded, DB, t->folded.file[DB].len - 1);
    cut(t, &t->killed, WAL, t->killed.file[WAL].len / 2);
    cut(t, &t->killed, WAL, t->killed.file[WAL].len - 1);
    cut(t, &t->folded, LOCK, 1);
    cut(t, &t->folded, LOCK, t->folded.file[LOCK].len - 1);
}

static void test_an_empty_database_is_refused(void **state)
{
    struct scene *t = *state;
    files_write(t, t->folded.file);
    fixture_write(t->path[DB], "", 0);
    assert_refused(t, "state.db is empty; restore a copy of the directory, or move it away");
    files_write(t, t->killed.file);
    fixture_write(t->path[DB], "", 0);
    assert_refused(t, "state.db is empty");
}

static void test_garbage_is_refused(void **state)
{
    struct scene *t = *state;
    static const char words[] =
        "Dear diary, this file is more than a hundred bytes long, and it starts with nothing"
        " that any database would start with.\n";
    files_write(t, t->folded.file);
    fixture_write(t->path[DB], words, sizeof words - 1);
    assert_refused(t, "state.db is not a state of Fettle");

    CLEANUP_FREE char *garbage = mem_dup_len(t->folded.file[DB].s, t->folded.file[DB].len);
    unsigned int seed = 1;
    for (size_t i = 100; i < t->folded.file[DB].len; i++)
        garbage[i] = (char)((seed = seed * 1103515245 + 12345) >> 16);
    fixture_write(t->path[DB], garbage, t->folded.file[DB].len);
    assert_refused(t, "state.db is damaged");
}

static void sql(const char *path, const char *text)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static void test_another_programs_database_is_refused(void **state)
{
    struct scene *t = *state;
    files_write(t, t->folded.file);
    unlink(t->path[DB]);
    sql(t->path[DB], "CREATE TABLE bookmarks(url)");
    assert_refused(t, "it is not a state of Fettle");
}

static void test_a_newer_format_is_refused(void **state)
{
    struct scene *t = *state;
    files_write(t, t->folded.file);
    sql(t->path[DB], "PRAGMA user_version = 4");
    assert_refused(t, "state.db has format 4, this fettled knows formats up to 3; use a newer one");
}

static void test_a_changed_row_is_refused(void **state)
{
    struct scene *t = *state;
    static const char *const changes[] = {
        "UPDATE record SET value = '{}' WHERE key = 'claim/3'",
        "UPDATE record SET key = 'claim/7' WHERE key = 'claim/3'",
        "UPDATE record SET revision = 1 WHERE key = 'claim/3'",
        "UPDATE journal SET actor = 'nobody' WHERE revision = 4",
        "UPDATE journal SET at_ns = 0 WHERE revision = 4",
        "UPDATE meta SET revision = 99",
        "UPDATE meta SET term = 99",
        "DELETE FROM meta",
        "DROP TABLE journal",
    };
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        files_write(t, t->folded.file);
        sql(t->path[DB], changes[i]);
        assert_refused(t, "state.db is damaged");
    }
}

/* The tree is sound, its rows are, and a search in it finds nothing. */
static void test_rows_out_of_order_are_refused(void **state)
{
    struct scene *t = *state;
    files_write(t, t->folded.file);
    sql(t->path[DB], "PRAGMA writable_schema = ON;"
                     "UPDATE sqlite_schema SET sql = replace(sql, '(revision, n)', '(revision DESC, n)')");
    assert_refused(t, "state.db is damaged: a row is not what was written");
}

/* Nothing is missing yet; the next commits would write over what is there. */
static void test_a_damaged_free_list_is_refused(void **state)
{
    struct scene *t = *state;
    files_write(t, t->folded.file);
    CLEANUP_TEXT struct text db = {0};
    fixture_read(t->path[DB], &db);
    db.s[35] = 3; /* the first free page, at bytes 32 to 35 of the header */
    db.s[39] = 1; /* how many there are, at bytes 36 to 39 */
    fixture_write(t->path[DB], db.s, db.len);
    assert_refused(t, "state.db is damaged");
}

static void test_a_state_that_is_gone_is_not_begun_anew(void **state)
{
    struct scene *t = *state;
    files_write(t, t->folded.file);
    unlink(t->path[DB]);
    assert_refused(
        t, "state.db is gone, and it was there once; mount or restore its directory, or, to begin anew "
           "without what is lost: rm ");
    assert_refused(t, "/state.lock ");

    files_write(t, t->killed.file);
    unlink(t->path[DB]);
    unlink(t->path[LOCK]);
    fixture_write(t->path[LOCK], "", 0);
    assert_refused(t, "lost: rm ");
    assert_refused(t, "/state.db-wal ");
}

/* Also when nothing is left of the directory, as when its disk is not mounted. */
static void test_a_directory_that_is_gone_is_not_begun_anew(void **state)
{
    struct scene *t = *state;
    CLEANUP_TEXT struct text note = {0};
    text_printf(&note, "%s-begun/state", t->dir);
    for (int i = 0; i < FILES; i++)
        unlink(t->path[i]);
    assert_int_equal(rmdir(t->dir), 0);
    struct store *s = NULL;
    struct err e = {0};
    assert_int_equal(store_open_sqlite(t->dir, &s, &e), -EILSEQ);
    assert_non_null(strstr(e.msg, note.s));

    assert_int_equal(unlink(note.s), 0); /* as the sentence says */
    s = fixture_open(t->dir);
    store_close(s);
    assert_int_equal(access(note.s, F_OK), 0);
    files_write(t, t->folded.file);
}

static void test_a_log_that_is_gone_is_missed(void **state)
{
    struct scene *t = *state;
    files_write(t, t->killed.file);
    unlink(t->path[WAL]);
    assert_refused(t, "state.db stands at revision 0 (term 0), but revision 61 (term 1) was committed");
}

/* Also for its term alone; and closing what was refused does not fold its log away. */
static void test_a_state_behind_its_mark_is_refused(void **state)
{
    struct scene *t = *state;
    static const struct {
        int term, revision;
        const char *words;
    } marks[] = {{1, 62, "stands at revision 61 (term 1), but revision 62 (term 1) was committed"},
                 {2, 61, "stands at revision 61 (term 1), but revision 61 (term 2) was committed"}};
    for (int i = 0; i < 2; i++) {
        CLEANUP_TEXT struct text mark = {0};
        text_printf(&mark, "fettle state: term %020d revision %020d\n", marks[i].term, marks[i].revision);
        files_write(t, t->killed.file);
        fixture_write(t->path[LOCK], mark.s, mark.len);
        assert_refused(t, marks[i].words);
    }
}

static void test_an_older_copy_is_not_taken_for_the_state(void **state)
{
    struct scene *t = *state;
    files_write(t, t->folded.file);
    struct store *s = fixture_open(t->dir);
    uint64_t term, revision;
    assert_int_equal(store_campaign(s, &term, NULL), 0);
    assert_int_equal(fixture_put(s, term, "new", "1", &revision, NULL), 0);
    store_close(s);
    fixture_write(t->path[DB], t->folded.file[DB].s, t->folded.file[DB].len);
    assert_refused(t, "but revision 62 (term 2) was committed; restore a newer copy");
}

static void test_a_damaged_mark_is_refused(void **state)
{
    struct scene *t = *state;
    files_write(t, t->folded.file);
    fixture_write(t->path[LOCK], "???\n", 4);
    assert_refused(t, "state.lock is damaged; with no fettled running, remove it");
}

/* A copy in a new directory, or an operator who took the mark away on purpose. */
static void test_a_state_without_a_mark_is_taken(void **state)
{
    struct scene *t = *state;
    struct image *images[] = {&t->folded, &t->killed};
    for (int i = 0; i < 2; i++) {
        files_write(t, images[i]->file);
        unlink(t->path[LOCK]);
        assert_false(assert_same_or_words(t, images[i], "no mark", 0));
        unlink(t->path[DB]);
        assert_refused(t, "state.db is gone");
    }
}

static void test_a_state_half_made_is_made_again(void **state)
{
    struct scene *t = *state;
    CLEANUP_FREE char *half = fixture_path(t->dir, "state.db.new");
    CLEANUP_TEXT struct text content = {0};
    CLEANUP_TEXT struct text note = {0};
    text_printf(&note, "%s-begun/state", t->dir); /* made when the state is whole */
    unlink(note.s);
    for (int i = 0; i < FILES; i++)
        unlink(t->path[i]);
    fixture_write(t->path[LOCK], "", 0);
    fixture_write(half, t->folded.file[DB].s, 5000);
    assert_int_equal(open_and_dump(t, &content, NULL), 0);
    assert_string_equal(content.s, "revision 0\n");
    assert_int_not_equal(access(half, F_OK), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_changed_bytes_of_the_database_are_seen),
        cmocka_unit_test(test_changed_bytes_of_the_log_are_seen),
        cmocka_unit_test(test_cut_files_are_seen),
        cmocka_unit_test(test_an_empty_database_is_refused),
        cmocka_unit_test(test_garbage_is_refused),
        cmocka_unit_test(test_another_programs_database_is_refused),
        cmocka_unit_test(test_a_newer_format_is_refused),
        cmocka_unit_test(test_a_changed_row_is_refused),
        cmocka_unit_test(test_rows_out_of_order_are_refused),
        cmocka_unit_test(test_a_damaged_free_list_is_refused),
        cmocka_unit_test(test_a_state_that_is_gone_is_not_begun_anew),
        cmocka_unit_test(test_a_directory_that_is_gone_is_not_begun_anew),
        cmocka_unit_test(test_a_log_that_is_gone_is_missed),
        cmocka_unit_test(test_a_state_behind_its_mark_is_refused),
        cmocka_unit_test(test_an_older_copy_is_not_taken_for_the_state),
        cmocka_unit_test(test_a_damaged_mark_is_refused),
        cmocka_unit_test(test_a_state_without_a_mark_is_taken),
        cmocka_unit_test(test_a_state_half_made_is_made_again),
    };
    return cmocka_run_group_tests(tests, scene_start, scene_end);
}
