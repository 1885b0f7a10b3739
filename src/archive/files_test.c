/* SPDX-License-Identifier: Apache-2.0 */
/* The files of an archive: written once, durably, and read within their limit. */
#include "archive/inside.h"

#include "archive/fixture_test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static struct archive a;

static int begin(void **state)
{
    a.dir = fixture_dir();
    a.fd = open(a.dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return a.fd < 0;
}

static int end(void **state)
{
    close(a.fd);
    fixture_remove(a.dir);
    return 0;
}

static void assert_has(const char *path, const char *bytes)
{
    CLEANUP_TEXT struct text t = {0};
    struct err e = {0};
    if (files_read(&a, path, &t, &e))
        fail_msg("%s", e.msg);
    assert_string_equal(t.s, bytes);
}

static void a_file_comes_with_its_directories(void **state)
{
    struct stat st;
    CLEANUP_FREE char *path = fixture_path(a.dir, "tile/entries/x001/234"),
                      *fresh = fixture_path(a.dir, "tile/entries/x001/234.new");
    assert_int_equal(files_put(&a, "tile/entries/x001/234", "abc", 3, NULL), 0);
    assert_has("tile/entries/x001/234", "abc");
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0400);
    assert_int_equal(access(fresh, F_OK), -1);
}

static void a_file_is_written_once(void **state)
{
    struct err e = {0};
    assert_int_equal(files_put(&a, "head", "abc", 3, NULL), 0);
    assert_int_equal(files_put(&a, "head", "abc", 3, NULL), 0);
    static const char *const others[] = {"abd", "abcd", "ab", ""};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_int_equal(files_put(&a, "head", others[i], strlen(others[i]), &e), -EEXIST);
    assert_non_null(strstr(e.msg, "/head has another content already"));
    assert_has("head", "abc");
    assert_int_equal(files_replace(&a, "head", "other", 5, NULL), 0);
    assert_has("head", "other");
}

/* A process that was killed while it wrote leaves a part under the other name. */
static void a_part_that_a_kill_left_is_no_file(void **state)
{
    CLEANUP_FREE char *fresh = fixture_path(a.dir, "head.new");
    CLEANUP_TEXT struct text none = {0};
    fixture_write(fresh, "half", 4);
    assert_int_equal(files_read(&a, "head", &none, NULL), -ENOENT);
    assert_int_equal(files_put(&a, "head", "whole", 5, NULL), 0);
    assert_has("head", "whole");
    assert_int_equal(access(fresh, F_OK), -1);
}

static void bytes_are_read_behind_those_that_are_there(void **state)
{
    CLEANUP_TEXT struct text t = {0}, empty = {0};
    static const char bytes[] = "a\0b\n";
    assert_int_equal(files_put(&a, "f", bytes, 4, NULL), 0);
    assert_int_equal(files_put(&a, "e", "", 0, NULL), 0);
    text_add(&t, "> ");
    assert_int_equal(files_read(&a, "f", &t, NULL), 0);
    assert_int_equal(t.len, 6);
    assert_memory_equal(t.s, "> a\0b\n", 7);
    assert_int_equal(files_read(&a, "e", &empty, NULL), 0);
    assert_int_equal(empty.len, 0);
    assert_string_equal(empty.s, "");
}

static void a_file_has_a_limit(void **state)
{
    struct err e = {0};
    CLEANUP_FREE char *path = fixture_path(a.dir, "large");
    CLEANUP_TEXT struct text t = {0};
    fixture_write(path, "", 0);
    assert_int_equal(truncate(path, ARCHIVE_FILE_BYTES_MAX), 0);
    assert_int_equal(files_read(&a, "large", &t, NULL), 0);
    assert_int_equal(t.len, ARCHIVE_FILE_BYTES_MAX);
    text_clear(&t);
    assert_int_equal(truncate(path, ARCHIVE_FILE_BYTES_MAX + (128 << 10)), 0);
    assert_int_equal(files_read(&a, "large", &t, &e), -EILSEQ);
    assert_non_null(strstr(e.msg, "/large is too large"));
}

static void errors_name_the_file(void **state)
{
    struct err e = {0};
    CLEANUP_FREE char *dir = fixture_path(a.dir, "d");
    CLEANUP_TEXT struct text t = {0};
    assert_int_equal(mkdir(dir, 0700), 0);
    assert_int_equal(files_read(&a, "d", &t, &e), -EISDIR);
    assert_non_null(strstr(e.msg, "/d: "));
    assert_int_equal(files_put(&a, "d", "x", 1, &e), -EISDIR);
    assert_int_equal(files_put(&a, "f", "x", 1, NULL), 0);
    assert_int_equal(files_put(&a, "f/g", "x", 1, &e), -ENOTDIR);
    assert_int_equal(files_replace(&a, "f/g", "x", 1, &e), -ENOTDIR);
    assert_non_null(strstr(e.msg, "/f"));
    assert_int_equal(files_replace(&a, "d", "x", 1, &e), -EISDIR);
    assert_int_equal(files_remove(&a, "d", &e), -EISDIR);
}

static void a_file_is_removed_if_it_is_there(void **state)
{
    assert_int_equal(files_put(&a, "tile/0/000", "x", 1, NULL), 0);
    assert_int_equal(files_remove(&a, "tile/0/000", NULL), 0);
    assert_int_equal(files_remove(&a, "tile/0/000", NULL), 0);
    assert_int_equal(files_remove(&a, "none/0", NULL), 0);
    CLEANUP_TEXT struct text t = {0};
    assert_int_equal(files_read(&a, "tile/0/000", &t, NULL), -ENOENT);
}

static void heads_come_in_the_order_of_their_sizes(void **state)
{
    static const uint64_t all[] = {1000, 7, INT64_MAX, 0, 99};
    uint64_t *sizes;
    size_t n;
    assert_int_equal(files_heads(&a, &sizes, &n, NULL), 0);
    assert_int_equal(n, 0);
    assert_null(sizes);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char path[HEAD_PATH_BYTES];
        assert_int_equal(files_put(&a, head_path(all[i], path), "x", 1, NULL), 0);
    }
    assert_int_equal(files_put(&a, "checkpoints/5.new", "x", 1, NULL), 0);
    assert_int_equal(files_put(&a, "checkpoints/.hidden", "x", 1, NULL), 0);
    assert_int_equal(files_heads(&a, &sizes, &n, NULL), 0);
    assert_int_equal(n, 5);
    assert_int_equal(sizes[0], 0);
    assert_int_equal(sizes[1], 7);
    assert_int_equal(sizes[2], 99);
    assert_int_equal(sizes[3], 1000);
    assert_true(sizes[4] == INT64_MAX);
    free(sizes);
}

static void other_files_among_the_heads_are_damage(void **state)
{
    static const char *const names[] = {"x", "-1", "1x", "9223372036854775808", "1e3"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        CLEANUP_TEXT struct text path = {0};
        struct err e = {0};
        uint64_t *sizes;
        size_t n;
        text_printf(&path, "checkpoints/%s", names[i]);
        assert_int_equal(files_put(&a, path.s, "x", 1, NULL), 0);
        assert_int_equal(files_heads(&a, &sizes, &n, &e), -EILSEQ);
        assert_non_null(strstr(e.msg, names[i]));
        free(sizes);
        assert_int_equal(files_remove(&a, path.s, NULL), 0);
    }
}

static void a_directory_of_heads_has_to_be_one(void **state)
{
    struct err e = {0};
    uint64_t *sizes;
    size_t n;
    assert_int_equal(files_put(&a, "checkpoints", "x", 1, NULL), 0);
    assert_int_equal(files_heads(&a, &sizes, &n, &e), -ENOTDIR);
}

static size_t open_descriptors(void)
{
    size_t n = 0;
    DIR *dir = opendir("/proc/self/fd");
    while (readdir(dir))
        n++;
    closedir(dir);
    return n;
}

/* An archive that is written for years leaves none open, after errors neither. */
static void descriptors_are_closed(void **state)
{
    CLEANUP_TEXT struct text t = {0};
    uint64_t *sizes;
    size_t n;
    const size_t before = open_descriptors();
    assert_int_equal(files_put(&a, "checkpoints/7", "x", 1, NULL), 0);
    assert_int_equal(files_put(&a, "checkpoints/7", "y", 1, NULL), -EEXIST);
    assert_int_equal(files_replace(&a, "checkpoints", "y", 1, NULL), -EISDIR);
    assert_int_equal(files_read(&a, "checkpoints", &t, NULL), -EISDIR);
    assert_int_equal(files_heads(&a, &sizes, &n, NULL), 0);
    free(sizes);
    assert_int_equal(files_put(&a, "checkpoints/x", "x", 1, NULL), 0);
    assert_int_equal(files_heads(&a, &sizes, &n, NULL), -EILSEQ);
    free(sizes);
    assert_int_equal(files_remove(&a, "checkpoints/x", NULL), 0);
    assert_int_equal(open_descriptors(), before);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_file_comes_with_its_directories),
        TEST(a_file_is_written_once),
        TEST(a_part_that_a_kill_left_is_no_file),
        TEST(bytes_are_read_behind_those_that_are_there),
        TEST(a_file_has_a_limit),
        TEST(errors_name_the_file),
        TEST(a_file_is_removed_if_it_is_there),
        TEST(heads_come_in_the_order_of_their_sizes),
        TEST(other_files_among_the_heads_are_damage),
        TEST(a_directory_of_heads_has_to_be_one),
        TEST(descriptors_are_closed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
