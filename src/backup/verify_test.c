/* SPDX-License-Identifier: Apache-2.0 */
#include "backup/made_test.h"

#include <errno.h>

enum { NOON = 1795694400 };

static const char *const files[] = {"state.db", "ca.pem", "ca.key", "manifest.json"};
enum { FILES = sizeof files / sizeof files[0] };

static void backup(struct made *t)
{
    for (int i = 0; i < 20; i++)
        made_put(t, "a");
    assert_int_equal(made_backup(t, NOON), 0);
}

static void test_a_good_one(void **state)
{
    struct made *t = *state;
    struct manifest m;
    backup(t);
    assert_int_equal(backup_verify(t->path, &m, &t->e), 0);
    assert_int_equal(m.revision, t->revision);
    assert_int_equal(m.at.ns / 1000000000, NOON);
}

/* Whichever byte it is: the first, one in the middle, the last. */
static void test_one_flipped_byte(void **state)
{
    struct made *t = *state;
    struct manifest m;
    backup(t);
    for (size_t i = 0; i < FILES; i++) {
        CLEANUP_FREE char *path = fixture_path(t->path, files[i]);
        CLEANUP_TEXT struct text bytes = {0};
        fixture_read(path, &bytes);
        for (size_t at = 0; at < bytes.len; at += at + 37 < bytes.len ? 37 : 1) {
            bytes.s[at] ^= 0x04;
            fixture_write(path, bytes.s, bytes.len);
            if (backup_verify(t->path, &m, &t->e) != -EILSEQ || !strstr(t->e.msg, path))
                fail_msg("byte %zu of %s: %s", at, files[i], t->e.msg);
            bytes.s[at] ^= 0x04;
        }
        fixture_write(path, bytes.s, bytes.len);
    }
    assert_int_equal(backup_verify(t->path, &m, &t->e), 0);
}

static void test_a_missing_file(void **state)
{
    struct made *t = *state;
    struct manifest m;
    backup(t);
    for (size_t i = 0; i < FILES; i++) {
        CLEANUP_FREE char *path = fixture_path(t->path, files[i]), *away = fixture_path(t->shelf, "away");
        assert_int_equal(rename(path, away), 0);
        assert_int_equal(backup_verify(t->path, &m, &t->e), -ENOENT);
        made_says(&t->e, -ENOENT, files[i]);
        assert_int_equal(symlink(away, path), 0); /* nor does a link count */
        assert_int_not_equal(backup_verify(t->path, &m, &t->e), 0);
        unlink(path);
        assert_int_equal(rename(away, path), 0);
    }
}

static void test_a_longer_and_a_shorter_file(void **state)
{
    struct made *t = *state;
    struct manifest m;
    backup(t);
    for (size_t i = 0; i < FILES; i++) {
        CLEANUP_FREE char *path = fixture_path(t->path, files[i]);
        struct stat st;
        stat(path, &st);
        assert_int_equal(truncate(path, st.st_size + 1), 0);
        assert_int_equal(backup_verify(t->path, &m, &t->e), -EILSEQ);
        assert_int_equal(truncate(path, st.st_size - 1), 0);
        assert_int_equal(backup_verify(t->path, &m, &t->e), -EILSEQ);
        made_says(&t->e, -EILSEQ, files[i]);
        fixture_remove(STEAL(t->shelf));
        t->shelf = fixture_dir();
        assert_int_equal(made_backup(t, NOON), 0);
    }
}

static void test_a_manifest_from_elsewhere(void **state)
{
    struct made *t = *state;
    struct manifest m;
    CLEANUP_TEXT struct text bytes = {0};
    backup(t);
    CLEANUP_FREE char *first = fixture_path(t->path, "manifest.json");
    fixture_read(first, &bytes);
    made_put(t, "b");
    assert_int_equal(made_backup(t, NOON + 1), 0);
    CLEANUP_FREE char *second = fixture_path(t->path, "manifest.json");
    fixture_write(second, bytes.s, bytes.len);
    assert_int_equal(backup_verify(t->path, &m, &t->e), -EILSEQ);
    made_says(&t->e, -EILSEQ, "state.db");
}

/* A manifest whose hashes are right, and that tells of another state. */
static void test_a_manifest_of_another_state(void **state)
{
    struct made *t = *state;
    struct manifest m;
    backup(t);
    for (int i = 0; i < 3; i++) {
        CLEANUP_TEXT struct text bytes = {0};
        CLEANUP_FREE char *path = fixture_path(t->path, "manifest.json");
        m = t->manifest;
        m.cluster[0] = i == 0 ? 'f' : m.cluster[0];
        m.revision += i == 1;
        m.term += i == 2;
        manifest_write(&m, &bytes);
        fixture_write(path, bytes.s, bytes.len);
        assert_int_equal(backup_verify(t->path, &m, &t->e), -EILSEQ);
        made_says(&t->e, -EILSEQ, "not of the state");
    }
}

static void test_a_key_that_others_may_read(void **state)
{
    struct made *t = *state;
    struct manifest m;
    backup(t);
    CLEANUP_FREE char *path = fixture_path(t->path, "ca.key");
    chmod(path, 0640);
    assert_int_equal(backup_verify(t->path, &m, &t->e), -EACCES);
    made_says(&t->e, -EACCES, "ca.key");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_good_one, made_start, made_end),
        cmocka_unit_test_setup_teardown(test_one_flipped_byte, made_start, made_end),
        cmocka_unit_test_setup_teardown(test_a_missing_file, made_start, made_end),
        cmocka_unit_test_setup_teardown(test_a_longer_and_a_shorter_file, made_start, made_end),
        cmocka_unit_test_setup_teardown(test_a_manifest_from_elsewhere, made_start, made_end),
        cmocka_unit_test_setup_teardown(test_a_manifest_of_another_state, made_start, made_end),
        cmocka_unit_test_setup_teardown(test_a_key_that_others_may_read, made_start, made_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
