/* SPDX-License-Identifier: Apache-2.0 */
#include "link/envelope.h"

#include "base/base64.h"
#include "base/text.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* Two controllers: `old` has the authority, `new` has a key pair. */
struct two {
    char old[32], new[32];
    struct authority *authority;
    struct envelope_key *key;
    char *envelope;
};

static const char *path_of(const char *dir, const char *name)
{
    static char path[64];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return path;
}

static int two_open(void **state)
{
    struct two *t = mem_alloc(sizeof *t);
    snprintf(t->old, sizeof t->old, "/tmp/fettle-env-XXXXXX");
    snprintf(t->new, sizeof t->new, "/tmp/fettle-env-XXXXXX");
    struct err e = {0};
    *state = t;
    if (!mkdtemp(t->old) || !mkdtemp(t->new) || authority_open(t->old, &t->authority, &e) < 0 ||
        envelope_key_open(path_of(t->new, "member.key"), &t->key, &e) < 0 ||
        envelope_seal(t->authority, envelope_key_public(t->key), &t->envelope, &e) < 0)
        fail_msg("%s", e.msg);
    return 0;
}

static int two_close(void **state)
{
    static const char *const names[] = {"ca.pem", "ca.key", "member.key"};
    struct two *t = *state;
    for (size_t i = 0; i < 3; i++) {
        unlink(path_of(t->old, names[i]));
        unlink(path_of(t->new, names[i]));
    }
    int left = rmdir(t->old) | rmdir(t->new); /* nothing else is left there */
    authority_close(t->authority);
    envelope_key_close(t->key);
    free(t->envelope);
    free(t);
    return left;
}

static int opened(const struct two *t, const char *envelope, struct err *e)
{
    return envelope_open(envelope, t->key, authority_fingerprint(t->authority), t->new, e);
}

static void test_the_key_is_made_once_and_is_private(void **state)
{
    struct two *t = *state;
    struct envelope_key *again;
    struct stat st;
    const char *path = path_of(t->new, "member.key");
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(strlen(envelope_key_public(t->key)), ENVELOPE_KEY_BYTES);
    assert_int_equal(envelope_key_open(path, &again, NULL), 0);
    assert_string_equal(envelope_key_public(again), envelope_key_public(t->key));
    envelope_key_close(again);
    chmod(path, 0640);
    assert_int_equal(envelope_key_open(path, &again, NULL), -EACCES);
    chmod(path, 0600);
    assert_int_equal(truncate(path, 10), 0);
    assert_int_equal(envelope_key_open(path, &again, NULL), -EILSEQ);
    envelope_key_close(NULL);
}

static void test_the_authority_arrives(void **state)
{
    struct two *t = *state;
    struct authority *a;
    struct stat st;
    assert_int_equal(opened(t, t->envelope, NULL), 0);
    assert_int_equal(stat(path_of(t->new, "ca.key"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(authority_open(t->new, &a, NULL), 0);
    assert_string_equal(authority_fingerprint(a), authority_fingerprint(t->authority));
    authority_close(a);
}

static void test_an_envelope_is_for_one_key(void **state)
{
    struct two *t = *state;
    struct envelope_key *other;
    struct err e = {0};
    assert_int_equal(envelope_key_open(path_of(t->old, "member.key"), &other, NULL), 0);
    int r = envelope_open(t->envelope, other, authority_fingerprint(t->authority), t->new, &e);
    envelope_key_close(other);
    assert_int_equal(r, -EACCES);
    assert_non_null(strstr(e.msg, "does not open with this controller's key"));
    assert_int_equal(access(path_of(t->new, "ca.key"), F_OK), -1);
}

static void test_another_authority_is_not_taken(void **state)
{
    struct two *t = *state;
    char other[65];
    memset(other, 'a', 64);
    other[64] = '\0';
    assert_int_equal(envelope_open(t->envelope, t->key, other, t->new, NULL), -ESTALE);
    assert_int_equal(access(path_of(t->new, "ca.key"), F_OK), -1);
}

/* Nothing of it can be read without the key, and whatever byte is changed: it opens as it was, or not at all.
 */
static void test_a_changed_envelope_is_refused(void **state)
{
    struct two *t = *state;
    CLEANUP_TEXT struct text der = {0};
    assert_true(base64_take(t->envelope, strlen(t->envelope), &der));
    assert_null(memmem(der.s, der.len, "PRIVATE KEY", strlen("PRIVATE KEY")));
    size_t refused = 0;
    for (size_t i = 0; i < der.len; i++) {
        CLEANUP_TEXT struct text changed = {0};
        der.s[i] ^= 1;
        base64_add(&changed, der.s, der.len);
        der.s[i] ^= 1;
        int r = opened(t, changed.s, NULL);
        refused += r != 0;
        if (r != 0)
            assert_int_equal(access(path_of(t->new, "ca.key"), F_OK), -1);
        unlink(path_of(t->new, "ca.key"));
        unlink(path_of(t->new, "ca.pem"));
    }
    /* The name of the key for which it is, of 20 bytes, and some of ASN.1 are not part of what is opened. */
    assert_true(refused > der.len - 64);
}

/* RFC 5083 and 5084, RFC 5753: other programs have to be able to check what this one says of it. */
static void test_how_it_is_sealed(void **state)
{
    static const struct {
        const char *what, *oid;
        size_t len;
    } parts[] = {{"AuthEnvelopedData", "\x2a\x86\x48\x86\xf7\x0d\x01\x09\x10\x01\x17", 11},
                 {"AES-256-GCM", "\x60\x86\x48\x01\x65\x03\x04\x01\x2e", 9},
                 {"ECDH with SHA-256", "\x2b\x81\x04\x01\x0b\x01", 6},
                 {"AES-256 key wrap", "\x60\x86\x48\x01\x65\x03\x04\x01\x2d", 9}};
    struct two *t = *state;
    CLEANUP_TEXT struct text der = {0};
    assert_true(base64_take(t->envelope, strlen(t->envelope), &der));
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (!memmem(der.s, der.len, parts[i].oid, parts[i].len))
            fail_msg("it does not use %s", parts[i].what);
}

static void test_what_is_no_envelope(void **state)
{
    struct two *t = *state;
    char *longer = mem_alloc(ENVELOPE_BYTES_MAX + 5);
    memset(longer, 'A', ENVELOPE_BYTES_MAX + 4);
    const char *const bad[] = {"", "A", "AAAA", "MAA=", "not base 64", longer};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(opened(t, bad[i], NULL), -EILSEQ);
    free(longer);
}

static void test_what_is_no_public_key(void **state)
{
    struct two *t = *state;
    char key[ENVELOPE_KEY_BYTES + 2], *envelope = NULL;
    struct err e = {0};
    snprintf(key, sizeof key, "%s", envelope_key_public(t->key));
    assert_int_equal(envelope_key_check(key, NULL), 0);
    key[1] = '5';
    assert_int_equal(envelope_key_check(key, &e), -EINVAL);
    assert_non_null(strstr(e.msg, "not the key that a new controller prints"));
    key[1] = 'A';
    assert_int_equal(envelope_key_check(key, NULL), -EINVAL);
    snprintf(key, sizeof key, "02%064d", 5); /* no point of the curve has this coordinate */
    assert_int_equal(envelope_key_check(key, NULL), 0);
    snprintf(key, sizeof key, "02%064d", 1);
    assert_int_equal(envelope_key_check(key, NULL), -EINVAL);
    assert_int_equal(envelope_seal(t->authority, key, &envelope, NULL), -EINVAL);
    assert_int_equal(envelope_key_check("", NULL), -EINVAL);
    snprintf(key, sizeof key, "%s0", envelope_key_public(t->key));
    assert_int_equal(envelope_key_check(key, NULL), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_the_key_is_made_once_and_is_private, two_open, two_close),
        cmocka_unit_test_setup_teardown(test_the_authority_arrives, two_open, two_close),
        cmocka_unit_test_setup_teardown(test_an_envelope_is_for_one_key, two_open, two_close),
        cmocka_unit_test_setup_teardown(test_another_authority_is_not_taken, two_open, two_close),
        cmocka_unit_test_setup_teardown(test_a_changed_envelope_is_refused, two_open, two_close),
        cmocka_unit_test_setup_teardown(test_how_it_is_sealed, two_open, two_close),
        cmocka_unit_test_setup_teardown(test_what_is_no_envelope, two_open, two_close),
        cmocka_unit_test_setup_teardown(test_what_is_no_public_key, two_open, two_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
