/* SPDX-License-Identifier: Apache-2.0 */
#include "store/etcd/bookmark.h"

#include "store/fixture_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define CLUSTER "0123456789abcdef0123456789abcdef"
#define OTHER "fedcba9876543210fedcba9876543210"
#define MARK "00112233445566ff"

static char *dir, *path;

static int begin(void **state)
{
    dir = fixture_dir();
    path = fixture_path(dir, "etcd.seen");
    return 0;
}

static int end(void **state)
{
    free(path);
    fixture_remove(dir);
    return 0;
}

static int note(struct bookmark *s, const char *cluster, uint64_t revision, struct err *e)
{
    struct layout_head head = {.revision = revision};
    snprintf(head.mark, sizeof head.mark, "%s", MARK);
    return bookmark_note(s, cluster, &head, e);
}

/* What the file has by now. */
static void assert_seen(const char *cluster, uint64_t revision)
{
    struct bookmark s;
    struct err e = {0};
    if (bookmark_init(&s, path, &e))
        fail_msg("%s", e.msg);
    assert_string_equal(s.cluster, cluster);
    assert_true(s.head.revision == revision);
    assert_string_equal(s.head.mark, revision ? MARK : "");
    bookmark_fini(&s);
}

static void an_absent_file_has_seen_nothing(void **state)
{
    struct bookmark s;
    assert_seen("", 0);
    assert_int_equal(access(path, F_OK), -1);
    fixture_write(path, "", 0); /* a kill between making it and writing it */
    assert_seen("", 0);
    assert_int_equal(bookmark_init(&s, path, NULL), 0);
    bookmark_fini(&s);
}

static void a_commit_is_remembered(void **state)
{
    struct bookmark s;
    struct stat st;
    assert_int_equal(bookmark_init(&s, path, NULL), 0);
    assert_int_equal(note(&s, CLUSTER, 7, NULL), 0);
    assert_true(s.head.revision == 7);
    assert_seen(CLUSTER, 7);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_int_equal(note(&s, CLUSTER, UINT64_MAX, NULL), 0);
    assert_seen(CLUSTER, UINT64_MAX);
    bookmark_fini(&s);
}

/* The follower and the store of one process write the same file, in any order. */
static void an_older_commit_replaces_no_newer_one(void **state)
{
    struct bookmark s, other;
    assert_int_equal(bookmark_init(&s, path, NULL), 0);
    assert_int_equal(bookmark_init(&other, path, NULL), 0);
    assert_int_equal(note(&s, CLUSTER, 9, NULL), 0);
    assert_int_equal(note(&other, CLUSTER, 8, NULL), 0);
    assert_true(other.head.revision == 8);
    assert_seen(CLUSTER, 9);
    assert_int_equal(note(&other, CLUSTER, 10, NULL), 0);
    assert_seen(CLUSTER, 10);
    assert_int_equal(note(&other, OTHER, 1, NULL), 0); /* another cluster's revisions are not compared */
    assert_seen(OTHER, 1);
    bookmark_fini(&s);
    bookmark_fini(&other);
}

/* Each byte that is another one, is missing or is too much. */
static void a_damaged_file_is_refused(void **state)
{
    CLEANUP_TEXT struct text good = {0};
    struct bookmark s;
    assert_int_equal(bookmark_init(&s, path, NULL), 0);
    assert_int_equal(note(&s, CLUSTER, 7, NULL), 0);
    bookmark_fini(&s);
    fixture_read(path, &good);
    for (size_t len = 1; len <= good.len + 1; len++) {
        struct err e = {0};
        CLEANUP_TEXT struct text bytes = {0};
        text_add_bytes(&bytes, good.s, len < good.len ? len : good.len);
        if (len > good.len)
            text_add_char(&bytes, 'x');
        if (len == good.len)
            continue;
        fixture_write(path, bytes.s, bytes.len);
        assert_int_equal(bookmark_init(&s, path, &e), -EILSEQ);
        assert_non_null(strstr(e.msg, "etcd.seen is damaged; remove it"));
        assert_null(s.path);
    }
    static const char wrong[] = {'\0', ' ', '\n', '\xff', '-'};
    for (size_t i = 0; i < good.len; i++)
        for (size_t k = 0; k < sizeof wrong; k++) {
            char was = good.s[i];
            int r = 0;
            if (was == wrong[k])
                continue;
            good.s[i] = wrong[k];
            fixture_write(path, good.s, good.len);
            r = bookmark_init(&s, path, NULL);
            if (r == 0) /* a cluster and a mark are any words, but nothing else may be another */
                assert_true(strcmp(s.cluster, CLUSTER) != 0 || strcmp(s.head.mark, MARK) != 0);
            else
                assert_int_equal(r, -EILSEQ);
            if (r == 0)
                bookmark_fini(&s);
            good.s[i] = was;
        }
}

/* A damaged file is written anew when the next commit is seen: only a start asks a person. */
static void a_commit_replaces_a_damaged_file(void **state)
{
    struct bookmark s;
    assert_int_equal(bookmark_init(&s, path, NULL), 0);
    fixture_write(path, "garbage", 7);
    assert_int_equal(note(&s, CLUSTER, 3, NULL), 0);
    assert_seen(CLUSTER, 3);
    bookmark_fini(&s);
}

static void without_a_path_nothing_is_written(void **state)
{
    struct bookmark s;
    assert_int_equal(bookmark_init(&s, NULL, NULL), 0);
    assert_int_equal(note(&s, CLUSTER, 3, NULL), 0);
    bookmark_fini(&s);
    bookmark_fini(&s);
}

static void errors_name_the_file(void **state)
{
    struct bookmark s;
    struct err e = {0};
    assert_int_equal(symlink("/dev/null", path), 0); /* nobody leads the write elsewhere */
    assert_int_equal(bookmark_init(&s, path, &e), -ELOOP);
    assert_non_null(strstr(e.msg, path));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(bookmark_init(&s, path, NULL), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(note(&s, CLUSTER, 3, &e), -EISDIR);
    assert_non_null(strstr(e.msg, path));
    assert_int_equal(rmdir(path), 0);
    bookmark_fini(&s);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_absent_file_has_seen_nothing),
        TEST(a_commit_is_remembered),
        TEST(an_older_commit_replaces_no_newer_one),
        TEST(a_damaged_file_is_refused),
        TEST(a_commit_replaces_a_damaged_file),
        TEST(without_a_path_nothing_is_written),
        TEST(errors_name_the_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
