/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of keys as an issuer publishes them, and as somebody in its place might. */
#include "token/token_inside.h"

#include "token/forge_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define HEADER(alg) "{\"alg\":\"" alg "\"}"

static int done(void **state)
{
    forge_fini();
    return 0;
}

static int keys_of(const char *list, struct token_keys **k, struct err *e)
{
    CLEANUP_TEXT struct text t = {0};
    text_printf(&t, "{\"keys\":[%s]}", list);
    *k = NULL;
    return token_keys_read(t.s, t.len, k, e);
}

/* The set with this one key. */
static int one_key(enum forge_key key, const char *id, const char *more, struct token_keys **k)
{
    CLEANUP_TEXT struct text t = {0};
    forge_public(key, id, more, &t);
    return keys_of(t.s, k, NULL);
}

static int verify(const struct token_keys *k, const char *id, const char *algorithm, char *token,
                  struct err *e)
{
    int r = token_keys_verify(k, id, algorithm, token, strlen(token), e);
    free(token);
    return r;
}

static void a_key_has_one_algorithm(void **state)
{
    static const struct {
        enum forge_key key;
        const char *more, *algorithm, *others[2];
    } cases[] = {{FORGE_RSA, "", "RS256", {"PS256", "RS512"}},
                 {FORGE_RSA, ",\"alg\":\"PS384\",\"use\":\"sig\"", "PS384", {"RS256", "HS256"}},
                 {FORGE_P256, "", "ES256", {"ES384", "none"}},
                 {FORGE_P384, "", "ES384", {"ES256", "es384"}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct token_keys *k;
        assert_int_equal(one_key(cases[i].key, "k", cases[i].more, &k), 0);
        CLEANUP_TEXT struct text header = {0};
        text_printf(&header, "{\"alg\":\"%s\"}", cases[i].algorithm);
        assert_int_equal(
            verify(k, "k", cases[i].algorithm, forge_sign(forge_key(cases[i].key), header.s, "{}"), NULL), 0);
        for (size_t j = 0; j < 2; j++) {
            struct err e = {0};
            assert_int_equal(
                verify(k, "k", cases[i].others[j], forge_sign(forge_key(cases[i].key), header.s, "{}"), &e),
                -EPERM);
            assert_non_null(strstr(e.msg, cases[i].algorithm));
        }
        token_keys_destroy(k);
    }
}

static void a_signature_is_of_the_named_key(void **state)
{
    struct token_keys *k;
    struct err e = {0};
    assert_int_equal(one_key(FORGE_RSA, "k", "", &k), 0);
    assert_int_equal(verify(k, "other", "RS256", forge_sign(forge_key(FORGE_RSA), HEADER("RS256"), "{}"), &e),
                     -ENOKEY);
    assert_string_equal(e.msg, "the issuer has no key \"other\"");
    assert_int_equal(
        verify(k, "k", "RS256", forge_sign(forge_key(FORGE_OTHER_RSA), HEADER("RS256"), "{}"), &e), -EPERM);
    assert_string_equal(e.msg, "the token's signature is not the issuer's");
    assert_int_equal(verify(k, "k", "RS256", forge_unsigned(HEADER("RS256"), "{}", "x"), NULL), -EPERM);
    assert_int_equal(verify(k, "k", "RS256", forge_unsigned(HEADER("RS256"), "{}", NULL), NULL), -EPERM);
    assert_int_equal(verify(k, "k", "RS256", mem_dup("not a token"), NULL), -EPERM);
    assert_int_equal(verify(k, "k", "RS256", mem_dup(""), NULL), -EPERM);
    token_keys_destroy(k);
}

/* Keys that are for something else, weak, secret or broken are passed over, and the others count. */
static void unfit_keys_are_passed_over(void **state)
{
    static const struct {
        enum forge_key key;
        const char *id, *more;
    } unfit[] = {{FORGE_RSA, "", ""},
                 {FORGE_RSA, "k", ",\"use\":\"enc\""},
                 {FORGE_RSA, "k", ",\"alg\":\"none\""},
                 {FORGE_RSA, "k", ",\"alg\":\"HS256\""},
                 {FORGE_RSA, "k", ",\"alg\":\"ES256\""},
                 {FORGE_P256, "k", ",\"alg\":\"ES384\""},
                 {FORGE_RSA, "k", ",\"d\":\"AQAB\""},
                 {FORGE_RSA, "k", ",\"k\":\"AQAB\""},
                 {FORGE_WEAK_RSA, "k", ""}};
    for (size_t i = 0; i < sizeof unfit / sizeof *unfit; i++) {
        CLEANUP_TEXT struct text t = {0};
        struct token_keys *k;
        struct err e = {0};
        forge_public(unfit[i].key, unfit[i].id, unfit[i].more, &t);
        assert_int_equal(keys_of(t.s, &k, &e), -EINVAL);
        assert_string_equal(e.msg, "none of the 1 keys can verify a token");
        assert_null(k);
        text_add_char(&t, ',');
        forge_public(FORGE_P256, "good", "", &t);
        assert_int_equal(keys_of(t.s, &k, NULL), 0);
        assert_int_equal(
            verify(k, "k", "RS256", forge_sign(forge_key(FORGE_RSA), HEADER("RS256"), "{}"), NULL), -ENOKEY);
        assert_int_equal(
            verify(k, "good", "ES256", forge_sign(forge_key(FORGE_P256), HEADER("ES256"), "{}"), NULL), 0);
        token_keys_destroy(k);
    }
}

static void the_id_of_a_key_has_a_limit(void **state)
{
    char id[TOKEN_KEY_BYTES_MAX + 2];
    struct token_keys *k;
    memset(id, 'k', sizeof id);
    id[TOKEN_KEY_BYTES_MAX + 1] = '\0';
    assert_int_equal(one_key(FORGE_P256, id, "", &k), -EINVAL);
    id[TOKEN_KEY_BYTES_MAX] = '\0';
    assert_int_equal(one_key(FORGE_P256, id, "", &k), 0);
    token_keys_destroy(k);
}

static void other_answers_are_refused(void **state)
{
    static const char *const wrong[] = {
        "",
        "x",
        "7",
        "[]",
        "{}",
        "{\"keys\":{}}",
        "{\"keys\":[]}",
        "{\"keys\":[7,null,\"x\",[]]}",
        "{\"keys\":[{}]}",
        "{\"keys\":[{\"kid\":\"a\",\"kty\":\"RSA\"}]}",
        "{\"keys\":[{\"kid\":\"a\",\"kty\":\"RSA\",\"n\":\"!\",\"e\":\"AQAB\"}]}",
        "{\"keys\":[{\"kid\":7,\"kty\":\"RSA\",\"n\":\"AQAB\",\"e\":\"AQAB\"}]}",
        "{\"keys\":[{\"kid\":\"a\",\"kty\":\"oct\",\"k\":\"AQAB\"}]}",
        "{\"keys\":[{\"kid\":\"a\",\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"A\",\"y\":\"A\"}]}"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct token_keys *k = NULL;
        struct err e = {0};
        if (token_keys_read(wrong[i], strlen(wrong[i]), &k, &e) != -EINVAL || !e.msg[0] || k)
            fail_msg("%s was taken", wrong[i]);
    }
}

static void a_set_has_limits(void **state)
{
    CLEANUP_TEXT struct text list = {0}, large = {0};
    struct token_keys *k = NULL;
    struct err e = {0};
    for (int i = 0; i < TOKEN_KEYS_MAX; i++) {
        char id[16];
        snprintf(id, sizeof id, "k%d", i);
        if (i)
            text_add_char(&list, ',');
        forge_public(FORGE_P256, id, "", &list);
    }
    assert_int_equal(keys_of(list.s, &k, NULL), 0);
    token_keys_destroy(k);
    text_add(&list, ",{}");
    assert_int_equal(keys_of(list.s, &k, &e), -EINVAL);
    assert_non_null(strstr(e.msg, "not a set of at most"));
    text_add(&large, "{\"keys\":[]");
    while (large.len < TOKEN_KEYS_BYTES_MAX)
        text_add_char(&large, ' ');
    text_add_char(&large, '}');
    assert_int_equal(token_keys_read(large.s, large.len, &k, &e), -EINVAL);
    assert_non_null(strstr(e.msg, "the keys are more than"));
}

static void nothing_is_destroyed_without_keys(void **state)
{
    token_keys_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_has_one_algorithm),
        cmocka_unit_test(a_signature_is_of_the_named_key),
        cmocka_unit_test(unfit_keys_are_passed_over),
        cmocka_unit_test(the_id_of_a_key_has_a_limit),
        cmocka_unit_test(other_answers_are_refused),
        cmocka_unit_test(a_set_has_limits),
        cmocka_unit_test(nothing_is_destroyed_without_keys),
    };
    return cmocka_run_group_tests(tests, NULL, done);
}
