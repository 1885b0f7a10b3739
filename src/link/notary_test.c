/* SPDX-License-Identifier: Apache-2.0 */
#include "link/notary.h"

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

#define GO_TEXT                                                  \
    "If you think cryptography is the answer to your problem,\n" \
    "then you don't know what your problem is.\n"
#define GO_LINE                  \
    "\xe2\x80\x94 PeterNeumann " \
    "x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n"
#define GO_PRIVATE "PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz\n"

static char dir[64], path[128];

static int make_dir(void **state)
{
    snprintf(dir, sizeof dir, "/tmp/fettle-notary-XXXXXX");
    if (!mkdtemp(dir))
        return -1;
    snprintf(path, sizeof path, "%s/audit.key", dir);
    return 0;
}

static int remove_dir(void **state)
{
    unlink(path);
    return rmdir(dir);
}

static void write_key(const char *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

/* Go's own example: the same key gives the same note, byte by byte. */
static void test_the_example_of_others(void **state)
{
    struct notary *n;
    CLEANUP_TEXT struct text t = {0};
    write_key(GO_PRIVATE);
    assert_int_equal(notary_open(path, "PeterNeumann", &n, NULL), 0);
    text_add(&t, GO_TEXT);
    assert_int_equal(notary_sign(n, &t, NULL), 0);
    assert_string_equal(t.s, GO_TEXT "\n" GO_LINE);
    notary_close(n);
}

static void test_a_key_is_made_once(void **state)
{
    struct notary *n;
    struct stat st;
    assert_int_equal(notary_open(path, "fettle/1", &n, NULL), 0);
    const struct note_key first = *notary_key(n);
    notary_close(n);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(notary_open(path, "fettle/1", &n, NULL), 0);
    assert_memory_equal(notary_key(n), &first, sizeof first);
    notary_close(n);
    unlink(path);
    assert_int_equal(notary_open(path, "fettle/1", &n, NULL), 0);
    assert_int_not_equal(notary_key(n)->id, first.id);
    notary_close(n);
}

static void test_no_other_file(void **state)
{
    static const char more[] = GO_PRIVATE "more\n";
    static const char *const bad[] = {
        "",
        "x\n",
        "PRIVATE+KEY+PeterNeumann+c74f20a3+\n",
        "PRIVATE+KEY+PeterNewmann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz\n",
        "PRIVATE+KEY+PeterNeumann+c74f20a4+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz\n",
        "PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFZ\n",
        more};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct notary *n;
        struct err e;
        write_key(bad[i]);
        assert_int_equal(notary_open(path, "PeterNeumann", &n, &e), -EILSEQ);
    }
    struct notary *n;
    unlink(path);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(notary_open(path, "PeterNeumann", &n, NULL), -EISDIR);
    rmdir(path);
}

/* Whatever is changed in a note, no other text than the one that was signed is believed. */
static void test_one_flipped_bit(void **state)
{
    static const char note[] = GO_TEXT "\n" GO_LINE;
    struct note_key k;
    struct signed_note n;
    assert_int_equal(
        note_key_parse("PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW", &k, NULL), 0);
    assert_int_equal(notary_verify(note, strlen(note), &k, &n, NULL), 0);
    assert_memory_equal(n.text, GO_TEXT, n.len);
    for (size_t i = 0; i < 8 * strlen(note); i++) {
        CLEANUP_FREE char *other = mem_dup(note);
        struct err e;
        other[i / 8] = (char)(other[i / 8] ^ 1 << i % 8);
        assert_true(notary_verify(other, strlen(note), &k, &n, &e) < 0);
        assert_true(e.msg[0]);
    }
    assert_int_equal(notary_verify(GO_TEXT "\n" GO_LINE, strlen(note), &k, &n, NULL), 0);
    k.public[0] ^= 1;
    assert_int_equal(notary_verify(note, strlen(note), &k, &n, NULL), -EKEYREJECTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_the_example_of_others, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(test_a_key_is_made_once, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(test_no_other_file, make_dir, NULL),
        cmocka_unit_test_setup_teardown(test_one_flipped_bit, NULL, remove_dir),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
