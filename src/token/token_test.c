/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens of an issuer in the test, and tokens that are forged in every way. */
#include "token/forge_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct token_policy policy = {FORGE_ISSUER, FORGE_AUDIENCE, "preferred_username",
                                           "groups",     "auth_time",    "tenants"};
static const struct wall now = {INT64_C(1000000000) * FORGE_NOW_S};

/* The keys of most tests: "r" of RSA, "p" of RSA for PS256, "e" of P-256, "f" of P-384. */
static struct token_keys *keys;

static int keys_open(void **state)
{
    CLEANUP_TEXT struct text t = {0};
    text_add(&t, "{\"keys\":[");
    forge_public(FORGE_RSA, "r", "", &t);
    text_add_char(&t, ',');
    forge_public(FORGE_RSA, "p", ",\"alg\":\"PS256\",\"use\":\"sig\"", &t);
    text_add_char(&t, ',');
    forge_public(FORGE_P256, "e", "", &t);
    text_add_char(&t, ',');
    forge_public(FORGE_P384, "f", "", &t);
    text_add(&t, "]}");
    return token_keys_read(t.s, t.len, &keys, NULL);
}

static int keys_close(void **state)
{
    token_keys_destroy(keys);
    forge_fini();
    return 0;
}

/* Reads a token, which it frees. */
static int take(char *bytes, struct token *t, struct err *e)
{
    int rc = token_read(bytes, strlen(bytes), &policy, keys, now, t, e);
    free(bytes);
    return rc;
}

static void expect_refused(char *bytes, int code, const char *why)
{
    struct token t;
    struct err e = {0};
    int rc = take(bytes, &t, &e);
    if (rc != code || !strstr(e.msg, why))
        fail_msg("%d %s, and not: %d %s", rc, e.msg, code, why);
    assert_null(t.subject);
    assert_int_equal(t.until.ns, 0);
}

#define HEADER "{\"alg\":\"RS256\",\"kid\":\"r\",\"typ\":\"JWT\"}"

static char *good(const char *more)
{
    CLEANUP_TEXT struct text claims = {0};
    text_printf(&claims, "{" FORGE_CLAIMS "%s}", more);
    return forge_sign(forge_key(FORGE_RSA), HEADER, claims.s);
}

static void a_token_says_who_it_is(void **state)
{
    struct token t;
    struct err e = {0};
    int rc =
        take(good(",\"preferred_username\":\"Sue\",\"groups\":[\"ops\",\"hpc\"],\"auth_time\":1793990000"),
             &t, &e);
    assert_string_equal(e.msg, "");
    assert_int_equal(rc, 0);
    assert_string_equal(t.subject, "24400320");
    assert_string_equal(t.name, "Sue");
    assert_int_equal(t.groups.n, 2);
    assert_string_equal(t.groups.names[1], "hpc");
    assert_int_equal(t.tenants.n, 0);
    assert_true(t.is_person);
    assert_int_equal(t.until.ns, INT64_C(1794000600000000000));
    token_fini(&t);
    assert_int_equal(take(good(",\"groups\":\"ops\",\"tenants\":[\"physics\",\"bio\"]"), &t, NULL), 0);
    assert_string_equal(t.name, "24400320");
    assert_int_equal(t.groups.n, 1);
    assert_int_equal(t.tenants.n, 2);
    assert_string_equal(t.tenants.names[1], "bio");
    assert_false(t.is_person);
    token_fini(&t);
}

static void every_kind_of_key_verifies(void **state)
{
    static const struct {
        enum forge_key key;
        const char *header;
    } cases[] = {
        {FORGE_RSA, "{\"alg\":\"RS256\",\"kid\":\"r\"}"},
        {FORGE_RSA, "{\"alg\":\"PS256\",\"kid\":\"p\",\"typ\":\"at+jwt\"}"},
        {FORGE_P256, "{\"alg\":\"ES256\",\"kid\":\"e\",\"typ\":\"application/at+JWT\"}"},
        {FORGE_P384, "{\"alg\":\"ES384\",\"kid\":\"f\",\"jku\":\"https://evil.example/keys\"}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct token t;
        struct err e = {0};
        int rc = take(forge_sign(forge_key(cases[i].key), cases[i].header, "{" FORGE_CLAIMS "}"), &t, &e);
        assert_string_equal(e.msg, "");
        assert_int_equal(rc, 0);
        token_fini(&t);
    }
}

/* --- forged ------------------------------------------------------------------------------------ */

static void a_token_without_a_signature_is_refused(void **state)
{
    static const char *const none[] = {"{\"alg\":\"none\",\"kid\":\"r\"}", "{\"alg\":\"NonE\",\"kid\":\"r\"}",
                                       "{\"alg\":\"none\"}"};
    static const char claims[] = "{" FORGE_CLAIMS "}";
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        expect_refused(forge_unsigned(none[i], claims, ""), -EPERM, "not signed");
        expect_refused(forge_unsigned(none[i], claims, "AAAA"), -EPERM, "not signed");
    }
    expect_refused(forge_unsigned(HEADER, claims, ""), -EPERM, "not signed");
    expect_refused(forge_unsigned(HEADER, claims, NULL), -EPERM, "three parts");
    expect_refused(forge_unsigned(HEADER, claims, "AAAA"), -EPERM, "signature is not the issuer's");
    expect_refused(forge_unsigned("{\"kid\":\"r\"}", claims, "AAAA"), -EPERM, "is for RS256");
}

/* The public key is no secret: whoever knows it could sign by HMAC. */
static void a_public_key_is_no_secret_of_hmac(void **state)
{
    static const char *const headers[] = {"{\"alg\":\"HS256\",\"kid\":\"r\"}",
                                          "{\"alg\":\"HS384\",\"kid\":\"r\"}",
                                          "{\"alg\":\"HS512\",\"kid\":\"e\"}"};
    CLEANUP_TEXT struct text public = {0};
    forge_public(FORGE_RSA, "r", "", &public);
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        expect_refused(forge_hmac(public.s, public.len, headers[i], "{" FORGE_CLAIMS "}"), -EPERM,
                       "signed by HS");
}

static void another_algorithm_than_the_keys_is_refused(void **state)
{
    static const struct {
        enum forge_key key;
        const char *header;
    } cases[] = {
        {FORGE_RSA, "{\"alg\":\"RS512\",\"kid\":\"r\"}"},  {FORGE_RSA, "{\"alg\":\"PS256\",\"kid\":\"r\"}"},
        {FORGE_RSA, "{\"alg\":\"RS256\",\"kid\":\"p\"}"},  {FORGE_RSA, "{\"alg\":\"RS256\",\"kid\":\"e\"}"},
        {FORGE_P256, "{\"alg\":\"ES256\",\"kid\":\"r\"}"}, {FORGE_P256, "{\"alg\":\"ES256\",\"kid\":\"f\"}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_refused(forge_sign(forge_key(cases[i].key), cases[i].header, "{" FORGE_CLAIMS "}"), -EPERM,
                       "the token is signed by");
}

static void another_key_is_refused(void **state)
{
    expect_refused(forge_sign(forge_key(FORGE_OTHER_RSA), HEADER, "{" FORGE_CLAIMS "}"), -EPERM,
                   "signature is not the issuer's");
    expect_refused(
        forge_sign(forge_key(FORGE_RSA), "{\"alg\":\"RS256\",\"kid\":\"z\"}", "{" FORGE_CLAIMS "}"), -ENOKEY,
        "no key \"z\"");
    expect_refused(forge_sign(forge_key(FORGE_RSA), "{\"alg\":\"RS256\"}", "{" FORGE_CLAIMS "}"), -EPERM,
                   "does not name the key");
}

/* One character changes; of the last one some bits mean nothing. */
static void a_changed_token_is_refused(void **state)
{
    CLEANUP_FREE char *token = good("");
    for (size_t i = 0; token[i + 1]; i += 7) {
        char *forged = mem_dup(token);
        struct token t;
        forged[i] = forged[i] == 'A' ? 'B' : 'A';
        assert_true(take(forged, &t, NULL) < 0);
        assert_null(t.subject);
    }
}

static void other_kinds_of_tokens_are_refused(void **state)
{
    static const struct {
        const char *header, *why;
    } cases[] = {
        {"{\"alg\":\"RS256\",\"kid\":\"r\",\"typ\":\"logout+jwt\"}", "another kind"},
        {"{\"alg\":\"RS256\",\"kid\":\"r\",\"typ\":7}", "another kind"},
        {"{\"alg\":\"RS256\",\"kid\":\"r\",\"crit\":[\"exp\"]}", "an extension"},
        {"{\"alg\":\"RS256\",\"kid\":\"r\",\"b64\":false}", "an extension"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_refused(forge_sign(forge_key(FORGE_RSA), cases[i].header, "{" FORGE_CLAIMS "}"), -EPERM,
                       cases[i].why);
}

/* --- claims ------------------------------------------------------------------------------------ */

#define PLACE "\"iss\":\"" FORGE_ISSUER "\",\"aud\":\"" FORGE_AUDIENCE "\""
#define WHO "\"sub\":\"24400320\""
#define TIMES "\"iat\":1793999990,\"exp\":1794000600"

static void claims_that_do_not_count_are_refused(void **state)
{
    static const struct {
        const char *claims, *why;
    } cases[] = {
        {"{\"aud\":\"fettle\"," WHO "," TIMES "}", "another issuer"},
        {"{\"iss\":\"https://login.example/realms/hpc\",\"aud\":\"fettle\"," WHO "," TIMES "}",
         "another issuer"},
        {"{\"iss\":[\"" FORGE_ISSUER "\"],\"aud\":\"fettle\"," WHO "," TIMES "}", "another issuer"},
        {"{\"iss\":\"" FORGE_ISSUER "\"," WHO "," TIMES "}", "another audience"},
        {"{\"iss\":\"" FORGE_ISSUER "\",\"aud\":\"fettle2\"," WHO "," TIMES "}", "another audience"},
        {"{\"iss\":\"" FORGE_ISSUER "\",\"aud\":[\"a\",\"b\"]," WHO "," TIMES "}", "another audience"},
        {"{\"iss\":\"" FORGE_ISSUER "\",\"aud\":{\"fettle\":1}," WHO "," TIMES "}", "another audience"},
        {"{" PLACE "," WHO ",\"iat\":1793999990}", "when it expires"},
        {"{" PLACE "," WHO ",\"exp\":1793999970}", "expired 30 s ago"},
        {"{" PLACE "," WHO ",\"exp\":\"1794000600\"}", "\"exp\" is not a time"},
        {"{" PLACE "," WHO ",\"exp\":-1}", "\"exp\" is not a time"},
        {"{" PLACE "," WHO ",\"exp\":1e300}", "\"exp\" is not a time"},
        {"{" PLACE "," WHO ",\"exp\":1794000600,\"nbf\":1794000031}", "counts only in 31 s"},
        {"{" PLACE "," WHO ",\"exp\":1794000600,\"iat\":1794000031}", "counts only in 31 s"},
        {"{" PLACE "," WHO ",\"exp\":1794000600,\"nbf\":true}", "\"nbf\" is not a time"},
        {"{" PLACE "," TIMES "}", "does not name its subject"},
        {"{" PLACE ",\"sub\":\"\"," TIMES "}", "does not name its subject"},
        {"{" PLACE ",\"sub\":7," TIMES "}", "does not name its subject"},
        {"{" PLACE ",\"sub\":\"a\\nb\"," TIMES "}", "does not name its subject"},
        {"{" PLACE "," WHO "," TIMES ",\"groups\":{\"ops\":1}}", "list of at most"},
        {"{" PLACE "," WHO "," TIMES ",\"groups\":[\"ops\",7]}", "not a name"},
        {"{" PLACE "," WHO "," TIMES ",\"tenants\":{\"physics\":1}}", "\"tenants\" is not a list of at most"},
        {"{" PLACE "," WHO "," TIMES ",\"tenants\":[null]}", "\"tenants\" has something that is not a name"},
        {"{" PLACE "," WHO ",\"sub\":\"root\"," TIMES "}", "not an object of JSON"},
        {"[1]", "not an object of JSON"},
        {"x", "not an object of JSON"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_refused(forge_sign(forge_key(FORGE_RSA), HEADER, cases[i].claims), -EPERM, cases[i].why);
}

static void clocks_may_differ_a_little(void **state)
{
    static const char *const claims[] = {
        "{" PLACE "," WHO ",\"exp\":1793999971}",
        "{" PLACE "," WHO ",\"exp\":1794000600.5,\"nbf\":1794000030,\"iat\":1794000030}",
        "{\"iss\":\"" FORGE_ISSUER "\",\"aud\":[\"other\",\"fettle\"]," WHO "," TIMES "}",
    };
    for (size_t i = 0; i < sizeof claims / sizeof *claims; i++) {
        struct token t;
        struct err e = {0};
        int rc = take(forge_sign(forge_key(FORGE_RSA), HEADER, claims[i]), &t, &e);
        assert_string_equal(e.msg, "");
        assert_int_equal(rc, 0);
        token_fini(&t);
    }
}

/* A person is one only when the token proves it. */
static void a_program_is_no_person(void **state)
{
    static const struct {
        const char *claim, *more;
        bool is_person;
    } cases[] = {
        {"auth_time", ",\"auth_time\":1", true},
        {"auth_time", "", false},
        {"auth_time", ",\"auth_time\":null", false},
        {"auth_time", ",\"auth_time\":1,\"client_id\":\"24400320\"", false},
        {"auth_time", ",\"auth_time\":1,\"azp\":\"24400320\"", false},
        {"auth_time", ",\"auth_time\":1,\"client_id\":\"portal\",\"azp\":\"portal\"", true},
        {"idtyp=user", ",\"idtyp\":\"user\"", true},
        {"idtyp=user", ",\"idtyp\":\"app\",\"auth_time\":1", false},
        {"groups=people", ",\"groups\":[\"x\",\"people\"]", true},
        {"groups=people", ",\"groups\":[\"x\"]", false},
        {"", ",\"auth_time\":1", false},
        {"", ",\"\":1", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct token_policy p = policy;
        struct token t;
        CLEANUP_FREE char *bytes = good(cases[i].more);
        p.person_claim = cases[i].claim;
        assert_int_equal(token_read(bytes, strlen(bytes), &p, keys, now, &t, NULL), 0);
        if (t.is_person != cases[i].is_person)
            fail_msg("%s with %s", cases[i].more, cases[i].claim);
        token_fini(&t);
    }
}

/* --- limits ------------------------------------------------------------------------------------ */

static void a_huge_token_is_not_looked_at(void **state)
{
    CLEANUP_TEXT struct text t = {0};
    struct token token;
    struct err e = {0};
    for (int i = 0; i < TOKEN_BYTES_MAX; i++)
        text_add_char(&t, 'A');
    text_add(&t, ".A");
    assert_int_equal(token_read(t.s, t.len, &policy, keys, now, &token, &e), -EPERM);
    assert_non_null(strstr(e.msg, "longer than"));
    text_clear(&t);
    for (int i = 0; i < 200; i++)
        text_printf(&t, "%s\"%d\"", i ? "," : ",\"x\":[", i);
    text_add_char(&t, ']');
    assert_int_equal(take(good(t.s), &token, NULL), 0);
    token_fini(&token);
    text_clear(&t);
    text_add(&t, ",\"groups\":[\"\"");
    for (int i = 0; i < TOKEN_GROUPS_MAX; i++)
        text_add(&t, ",\"g\"");
    text_add_char(&t, ']');
    expect_refused(good(t.s), -EPERM, "list of at most");
}

static void bytes_that_are_no_token_are_refused(void **state)
{
    static const char *const cases[] = {"",
                                        ".",
                                        "..",
                                        "...",
                                        "a.b",
                                        "a.b.c",
                                        "!!!.###.$$$",
                                        "e30.e30.e30",
                                        "e30=.e30=.e30=",
                                        "e30.e30.e30.e30.e30",
                                        "bnVsbA.bnVsbA.AAAA",
                                        " e30.e30.e30",
                                        "e30.e30.e30\n"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct token t;
        struct err e = {0};
        assert_int_equal(token_read(cases[i], strlen(cases[i]), &policy, keys, now, &t, &e), -EPERM);
        assert_true(*e.msg);
    }
}

/* --- keys -------------------------------------------------------------------------------------- */

/* Whether a set with this one key, of RSA, has it. */
static bool is_taken(enum forge_key k, const char *id, const char *more)
{
    CLEANUP_TEXT struct text t = {0};
    struct token_keys *set = NULL;
    text_add(&t, "{\"keys\":[");
    forge_public(k, id, more, &t);
    text_add(&t, "]}");
    int rc = token_keys_read(t.s, t.len, &set, NULL);
    token_keys_destroy(set);
    return rc == 0;
}

static void keys_that_verify_nothing_are_skipped(void **state)
{
    assert_true(is_taken(FORGE_RSA, "a", ""));
    assert_true(is_taken(FORGE_P256, "a", ",\"alg\":\"ES256\""));
    assert_false(is_taken(FORGE_RSA, "", ""));
    assert_false(is_taken(FORGE_WEAK_RSA, "a", ""));
    assert_false(is_taken(FORGE_RSA, "a", ",\"use\":\"enc\""));
    assert_false(is_taken(FORGE_RSA, "a", ",\"alg\":\"RSA-OAEP\""));
    assert_false(is_taken(FORGE_RSA, "a", ",\"alg\":\"HS256\""));
    assert_false(is_taken(FORGE_P256, "a", ",\"alg\":\"ES384\""));
    assert_false(is_taken(FORGE_RSA, "a", ",\"d\":\"AQAB\""));
}

static void sets_that_are_none_are_refused(void **state)
{
    static const char *const cases[] = {
        "",
        "[]",
        "{}",
        "{\"keys\":{}}",
        "{\"keys\":[]}",
        "{\"keys\":[1,null,\"a\"]}",
        "{\"keys\":[{\"kty\":\"oct\",\"kid\":\"a\",\"k\":\"AAAA\",\"alg\":\"HS256\"}]}",
        "{\"keys\":[{\"kty\":\"RSA\",\"kid\":\"a\",\"n\":\"AA\",\"e\":\"\"}]}",
        "{\"keys\":[{\"kty\":\"EC\",\"kid\":\"a\",\"crv\":\"P-256\",\"x\":\"AA\",\"y\":\"AA\"}]}"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct token_keys *set = NULL;
        struct err e = {0};
        if (token_keys_read(cases[i], strlen(cases[i]), &set, &e) != -EINVAL)
            fail_msg("taken: %s", cases[i]);
        assert_null(set);
        assert_true(*e.msg);
    }
    CLEANUP_TEXT struct text t = {0};
    struct token_keys *set = NULL;
    text_add(&t, "{\"keys\":[");
    for (int i = 0; i <= TOKEN_KEYS_MAX; i++)
        text_add(&t, i ? ",1" : "1");
    text_add(&t, "]}");
    assert_int_equal(token_keys_read(t.s, t.len, &set, NULL), -EINVAL);
    text_clear(&t);
    for (int i = 0; i <= TOKEN_KEYS_BYTES_MAX; i++)
        text_add_char(&t, ' ');
    assert_int_equal(token_keys_read(t.s, t.len, &set, NULL), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_token_says_who_it_is),
        cmocka_unit_test(every_kind_of_key_verifies),
        cmocka_unit_test(a_token_without_a_signature_is_refused),
        cmocka_unit_test(a_public_key_is_no_secret_of_hmac),
        cmocka_unit_test(another_algorithm_than_the_keys_is_refused),
        cmocka_unit_test(another_key_is_refused),
        cmocka_unit_test(a_changed_token_is_refused),
        cmocka_unit_test(other_kinds_of_tokens_are_refused),
        cmocka_unit_test(claims_that_do_not_count_are_refused),
        cmocka_unit_test(clocks_may_differ_a_little),
        cmocka_unit_test(a_program_is_no_person),
        cmocka_unit_test(a_huge_token_is_not_looked_at),
        cmocka_unit_test(bytes_that_are_no_token_are_refused),
        cmocka_unit_test(keys_that_verify_nothing_are_skipped),
        cmocka_unit_test(sets_that_are_none_are_refused),
    };
    return cmocka_run_group_tests(tests, keys_open, keys_close);
}
