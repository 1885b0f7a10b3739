/* SPDX-License-Identifier: Apache-2.0 */
#include "archive/archive.h"

#include "archive/fixture_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char *root, *dir;
static struct fixture_log l;

static int begin(void **state)
{
    root = fixture_dir();
    dir = fixture_path(root, "archive");
    CLEANUP_FREE char *tree = fixture_path(root, "audit");
    l = (struct fixture_log){.tree = NULL};
    return treefile_open(tree, ORIGIN, &l.tree, NULL);
}

static int end(void **state)
{
    treefile_close(l.tree);
    free(dir);
    fixture_remove(root);
    return 0;
}

static void export(uint64_t size)
{
    struct err e;
    fixture_grow(l.tree, size, NULL);
    if (fixture_export(&l, dir, true, &e))
        fail_msg("%s", e.msg);
}

static struct archive *reading(void)
{
    struct archive *a;
    assert_int_equal(archive_read(dir, &a, NULL), 0);
    return a;
}

static void test_files_are_those_of_the_head(void **state)
{
    CLEANUP_TEXT struct text files = {0}, want = {0};
    static const char *const names[] = {"checkpoint",           "checkpoints/600",  "log.vkey",
                                        "tile/0/000",           "tile/0/001",       "tile/0/002.p/88",
                                        "tile/1/000.p/2",       "tile/entries/000", "tile/entries/001",
                                        "tile/entries/002.p/88"};
    export(600);
    fixture_files(dir, &files);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        text_printf(&want, "%s/%s\n", dir, names[i]);
    assert_string_equal(files.s, want.s);
}

/* What is there is not fetched again; the edge is replaced. */
static void test_goes_on(void **state)
{
    struct checkpoint head;
    export(600);
    l.fetched = 0;
    export(600);
    assert_int_equal(l.fetched, 0);
    export(1000);
    assert_int_equal(l.fetched, 5); /* tiles 2, 3 and that above, and two bundles */
    CLEANUP_FREE char *edge = fixture_path(dir, "tile/0/002.p/88");
    assert_int_equal(access(edge, F_OK), -1);
    struct archive *a = reading();
    assert_int_equal(archive_head(a, &head, NULL, NULL), 0);
    assert_int_equal(head.size, 1000);
    archive_close(a);
}

/* Files are written once. */
static void test_nothing_is_overwritten(void **state)
{
    struct err e;
    export(600);
    CLEANUP_FREE char *head = fixture_path(dir, "checkpoint"), *tile = fixture_path(dir, "tile/0/003");
    fixture_write(tile, "x", 1);
    fixture_grow(l.tree, 1024, NULL);
    assert_int_equal(fixture_export(&l, dir, true, &e), -EEXIST);
    assert_non_null(strstr(e.msg, "tile/0/003"));
    struct archive *a = reading();
    struct checkpoint had;
    assert_int_equal(archive_head(a, &had, NULL, NULL), 0);
    assert_int_equal(had.size, 600);
    archive_close(a);
}

static void test_another_key(void **state)
{
    CLEANUP_FREE char *tree = fixture_path(root, "other");
    struct fixture_log other = {0};
    struct err e;
    export(10);
    assert_int_equal(treefile_open(tree, ORIGIN, &other.tree, NULL), 0);
    fixture_grow(other.tree, 20, NULL);
    assert_int_equal(fixture_export(&other, dir, true, &e), -EEXIST);
    treefile_close(other.tree);
}

/* Makes another tree with the same key. */
static struct treefile *fork_make(uint64_t size)
{
    CLEANUP_FREE char *to = fixture_path(root, "fork"), *key = fixture_path(root, "audit/key"),
                      *into = fixture_path(root, "fork/key");
    CLEANUP_TEXT struct text bytes = {0};
    struct treefile *t;
    assert_int_equal(treefile_open(to, ORIGIN, &t, NULL), 0);
    treefile_close(t);
    fixture_read(key, &bytes);
    fixture_write(into, bytes.s, bytes.len);
    CLEANUP_FREE char *first = fixture_path(root, "fork/checkpoint"), *old = fixture_path(root, "empty");
    text_clear(&bytes);
    fixture_read(old, &bytes);
    fixture_write(first, bytes.s, bytes.len);
    assert_int_equal(treefile_open(to, ORIGIN, &t, NULL), 0);
    fixture_grow(t, size, " changed");
    return t;
}

/* The same key signed another history: it does not follow the one that is here, longer as it may be. */
static void test_a_fork_does_not_follow(void **state)
{
    static const uint64_t sizes[] = {3, 100, 255, 256, 600};
    struct checkpoint head;
    CLEANUP_TEXT struct text empty = {0};
    CLEANUP_FREE char *first = fixture_path(root, "empty");
    treefile_head(l.tree, &head, &empty);
    fixture_write(first, empty.s, empty.len);
    struct fixture_log fork = {.tree = fork_make(1000), .other = " changed"};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct err e = {0};
        export(sizes[i]);
        int r = fixture_export(&fork, dir, true, &e);
        if (sizes[i] <= 5) {
            assert_int_equal(r, 0); /* the two are the same up to there */
            fixture_remove(STEAL(dir));
            dir = fixture_path(root, "archive");
        } else {
            assert_int_equal(r, -EILSEQ);
        }
    }
    treefile_close(fork.tree);
}

/* A log that was cut off is refused, too. */
static void test_a_shorter_log(void **state)
{
    struct checkpoint head;
    CLEANUP_TEXT struct text note = {0};
    struct archive *a;
    struct err e;
    const struct archive_source source = fixture_source(&l);
    export(100);
    treefile_head(l.tree, &head, &note);
    export(300);
    assert_int_equal(archive_open(dir, treefile_key(l.tree), &a, NULL), 0);
    assert_int_equal(archive_go_on(a, &note, true, &source, &e), -EILSEQ);
    assert_non_null(strstr(e.msg, "300"));
    archive_close(a);
}

/* Whoever gives the entries cannot give others. */
static void test_other_entries(void **state)
{
    struct err e;
    fixture_grow(l.tree, 100, NULL);
    l.other = " changed";
    assert_int_equal(fixture_export(&l, dir, true, &e), -EILSEQ);
    assert_non_null(strstr(e.msg, "entry 5 "));
}

static void test_reader(void **state)
{
    export(700);
    struct archive *a = reading();
    struct archive_reader r = {.archive = a, .size = 700};
    const struct tree_reader nodes = archive_reader(&r), own = treefile_reader(l.tree);
    for (uint64_t i = 0; i < 700; i += 33) {
        struct tree_proof p, q;
        memset(&p, 0, sizeof p);
        memset(&q, 0, sizeof q);
        assert_int_equal(tree_inclusion(&nodes, i, 700, &p, NULL), 0);
        assert_int_equal(tree_inclusion(&own, i, 700, &q, NULL), 0);
        assert_memory_equal(&p, &q, sizeof p);
    }
    archive_close(a);
}

/* A partial tile is the beginning of the full one. */
static void test_partial_of_a_full_one(void **state)
{
    CLEANUP_TEXT struct text whole = {0}, part = {0}, bundle = {0};
    export(256);
    struct archive *a = reading();
    const struct tile full = {.width = 256}, partial = {.width = 3}, entries = {.entries = true, .width = 3};
    assert_int_equal(archive_tile(a, &full, &whole, NULL), 0);
    assert_int_equal(archive_tile(a, &partial, &part, NULL), 0);
    assert_int_equal(part.len, 96);
    assert_memory_equal(part.s, whole.s, 96);
    assert_int_equal(archive_tile(a, &entries, &bundle, NULL), 0);
    CLEANUP_TEXT struct text last = {0};
    fixture_entry(2, NULL, &last);
    assert_memory_equal(bundle.s + bundle.len - last.len, last.s, last.len);
    archive_close(a);
}

static int sign(void *arg, struct text *text, struct err *e)
{
    return treefile_sign(arg, text, e);
}

static const int64_t first_ns = INT64_C(1795211336000000000), second_ns = 1000000000;

/* Bundles go when their last entry is old enough, oldest first; their hashes stay. */
static void test_retention(void **state)
{
    struct archive *a;
    bool removed;
    uint64_t minimum;
    export(600);
    assert_int_equal(archive_open(dir, treefile_key(l.tree), &a, NULL), 0);
    struct wall before = {first_ns + 255 * second_ns};
    assert_int_equal(archive_forget(a, before, sign, l.tree, &removed, NULL), 0);
    assert_false(removed);
    before.ns++;
    assert_int_equal(archive_forget(a, before, sign, l.tree, &removed, NULL), 0);
    assert_true(removed);
    CLEANUP_FREE char *gone = fixture_path(dir, "tile/entries/000"), *stays = fixture_path(dir, "tile/0/000");
    assert_int_equal(access(gone, F_OK), -1);
    assert_int_equal(access(stays, F_OK), 0);
    assert_int_equal(archive_minimum(a, &minimum, NULL, NULL), 0);
    assert_int_equal(minimum, 256);
    before.ns = first_ns + 10000 * second_ns;
    assert_int_equal(archive_forget(a, before, sign, l.tree, &removed, NULL), 0);
    assert_true(removed);
    assert_int_equal(archive_forget(a, before, sign, l.tree, &removed, NULL), 0);
    assert_false(removed); /* the bundle at the edge is not full */
    assert_int_equal(archive_minimum(a, &minimum, NULL, NULL), 0);
    assert_int_equal(minimum, 512);
    archive_close(a);
}

/* A copy of a log that keeps only some takes over which. */
static void test_copy_of_kept_entries(void **state)
{
    struct archive *a;
    CLEANUP_TEXT struct text note = {0};
    uint64_t minimum;
    l.minimum = 512;
    export(600);
    minimum_format(ORIGIN, 512, &note);
    assert_int_equal(treefile_sign(l.tree, &note, NULL), 0);
    assert_int_equal(archive_open(dir, treefile_key(l.tree), &a, NULL), 0);
    assert_int_equal(archive_take_minimum(a, &note, NULL), 0);
    assert_int_equal(archive_minimum(a, &minimum, NULL, NULL), 0);
    assert_int_equal(minimum, 512);
    note.s[20] ^= 1;
    assert_true(archive_take_minimum(a, &note, NULL) < 0);
    archive_close(a);
}

static void test_no_archive(void **state)
{
    struct archive *a;
    struct err e;
    assert_int_equal(archive_read(dir, &a, &e), -ENOENT);
    export(1);
    CLEANUP_FREE char *key = fixture_path(dir, "log.vkey");
    fixture_write(key, "x\n", 2);
    assert_int_equal(archive_read(dir, &a, &e), -EILSEQ);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_files_are_those_of_the_head, begin, end),
        cmocka_unit_test_setup_teardown(test_goes_on, begin, end),
        cmocka_unit_test_setup_teardown(test_nothing_is_overwritten, begin, end),
        cmocka_unit_test_setup_teardown(test_another_key, begin, end),
        cmocka_unit_test_setup_teardown(test_a_fork_does_not_follow, begin, end),
        cmocka_unit_test_setup_teardown(test_a_shorter_log, begin, end),
        cmocka_unit_test_setup_teardown(test_other_entries, begin, end),
        cmocka_unit_test_setup_teardown(test_reader, begin, end),
        cmocka_unit_test_setup_teardown(test_partial_of_a_full_one, begin, end),
        cmocka_unit_test_setup_teardown(test_retention, begin, end),
        cmocka_unit_test_setup_teardown(test_copy_of_kept_entries, begin, end),
        cmocka_unit_test_setup_teardown(test_no_archive, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
