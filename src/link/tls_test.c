/* SPDX-License-Identifier: Apache-2.0 */
/* Identities, certificates and contexts; what two contexts say to each other is in handshake_test.c. */
#include "link/fixture_test.h"

#include <errno.h>
#include <stdlib.h>

static void test_identities_are_read_and_written(void **state)
{
    static const struct {
        const char *uri;
        struct identity id;
    } rows[] = {
        {"urn:fettle:controller:c1", {.kind = IDENTITY_CONTROLLER, .name = "c1", .role = ROLE_NONE}},
        {"urn:fettle:node:lx01.example.org",
         {.kind = IDENTITY_NODE, .name = "lx01.example.org", .role = ROLE_NONE}},
        {"urn:fettle:operator:ann@example.org:admin",
         {.kind = IDENTITY_OPERATOR, .name = "ann@example.org", .role = ROLE_ADMIN}},
        {"urn:fettle:operator:bob:reader", {.kind = IDENTITY_OPERATOR, .name = "bob", .role = ROLE_READER}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct identity id;
        assert_int_equal(identity_parse(rows[i].uri, &id, NULL), 0);
        assert_memory_equal(&id, &rows[i].id, sizeof id);
        CLEANUP_FREE char *uri = identity_format(&id);
        assert_string_equal(uri, rows[i].uri);
    }
}

static void test_identities_of_other_forms_are_refused(void **state)
{
    char long_name[300];
    memset(long_name, 'a', sizeof long_name);
    memcpy(long_name, "urn:fettle:node:", 16);
    long_name[16 + 256] = '\0';
    const char *bad[] = {"",
                         "lx01",
                         "urn:fettle:node:",
                         "urn:fettle:nodes:lx01",
                         "urn:fettle:node:lx01:admin",
                         "urn:fettle:controller:a/b",
                         "urn:fettle:node:..",
                         "urn:fettle:node:a b",
                         "urn:fettle:operator:ann",
                         "urn:fettle:operator:ann:root",
                         "urn:fettle:operator:ann:none",
                         "urn:fettle:operator::admin",
                         "URN:fettle:node:lx01",
                         "urn:fettle:node:l\n",
                         long_name};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct identity id;
        struct err e = {0};
        assert_int_equal(identity_parse(bad[i], &id, &e), -EINVAL);
        assert_int_equal(id.kind, IDENTITY_NONE);
        assert_true(e.msg[0]);
    }
    struct identity id;
    long_name[16 + 255] = '\0';
    assert_int_equal(identity_parse(long_name, &id, NULL), 0);
}

static void test_a_subject_is_the_identity_without_its_role(void **state)
{
    static const struct {
        const char *uri, *subject, *name;
    } cases[] = {{"urn:fettle:controller:c1", "controller:c1", "c1"},
                 {"urn:fettle:node:lx01", "node:lx01", "lx01"},
                 {"urn:fettle:operator:ann:admin", "operator:ann", "ann"}};
    static const char *const bad[] = {"", "node", "node:", "nodes:lx01", "urn:fettle:node:lx01"};
    const char *name;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct identity id;
        assert_int_equal(identity_parse(cases[i].uri, &id, NULL), 0);
        CLEANUP_FREE char *subject = identity_subject(&id);
        assert_string_equal(subject, cases[i].subject);
        assert_int_equal(identity_of_subject(subject, &name), id.kind);
        assert_string_equal(name, cases[i].name);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(identity_of_subject(bad[i], &name), IDENTITY_NONE);
    assert_string_equal(role_name(ROLE_NONE), "none");
    assert_string_equal(role_name(ROLE_READER), "reader");
    assert_string_equal(role_name(ROLE_ADMIN), "admin");
}

static void test_a_certificate_has_its_identity_times_and_numbers(void **state)
{
    struct authority *a = authority_new();
    struct party one = party_new(a, IDENTITY_NODE, "lx01", 86400);
    struct party two = party_new(a, IDENTITY_NODE, "lx01", 86400);
    struct identity x, y;
    struct err e = {0};
    assert_int_equal(tls_cert_identity(one.cert, &x, NULL), 0);
    assert_int_equal(tls_cert_identity(two.cert, &y, NULL), 0);
    assert_int_equal(x.kind, IDENTITY_NODE);
    assert_string_equal(x.name, "lx01");
    assert_true(x.serial > 0 && y.serial > x.serial); /* later ones are higher */
    assert_true(x.key != y.key);
    assert_int_equal(x.until_s - x.from_s, 86400 + 3600); /* from an hour ago */
    assert_int_equal(tls_cert_identity(one.key, &x, &e), -EINVAL);
    assert_ptr_equal(strstr(e.msg, "not a certificate in PEM form"), e.msg);
    assert_int_equal(tls_cert_identity(authority_pem(a), &x, &e), -EPERM); /* it is nobody's */
    party_free(&one);
    party_free(&two);
    authority_close(a);
}

static void test_a_fingerprint_has_64_digits(void **state)
{
    static const char whole[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    static const char *const bad[] = {
        "",
        "abc",
        "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde",
        "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0",
        "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\n",
        "0123456789ABCDEF0123456789abcdef0123456789abcdef0123456789abcdef",
        "0123456789abcdeg0123456789abcdef0123456789abcdef0123456789abcdef",
    };
    struct tls_context *c = NULL;
    struct err e = {0};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(tls_join_context(bad[i], &c, &e), -EINVAL);
        assert_non_null(strstr(e.msg, " is no fingerprint: 64 digits of 0-9 and a-f"));
    }
    assert_null(c);
    assert_int_equal(tls_join_context(whole, &c, &e), 0);
    tls_context_destroy(c);
}

static void test_a_chain_is_taken_with_its_certificate(void **state)
{
    struct authority *a = authority_new();
    struct party p = party_new(a, IDENTITY_CONTROLLER, "c1", 86400);
    CLEANUP_TEXT struct text chain = {0};
    struct tls_context *c = NULL;
    text_printf(&chain, "%s%s", p.cert, authority_pem(a));
    assert_int_equal(tls_server_context(chain.s, p.key, authority_pem(a), TLS_PEER_OPTIONAL, &c, NULL), 0);
    tls_context_destroy(c);
    assert_int_equal(tls_client_context(chain.s, p.key, authority_pem(a), &c, NULL), 0);
    tls_context_destroy(c);
    party_free(&p);
    authority_close(a);
}

static void test_cert_left_tells_the_time(void **state)
{
    struct authority *a = authority_new();
    char *key, *csr, *pem;
    struct span left;
    const struct identity id = {.kind = IDENTITY_NODE, .name = "lx01", .role = ROLE_NONE};
    assert_int_equal(tls_new_request(&key, &csr, NULL), 0);
    assert_int_equal(authority_sign(a, csr, &id, NULL, span_s(3 * 86400), &pem, NULL), 0);
    assert_int_equal(tls_cert_left(pem, &left, NULL), 0);
    assert_in_range(left.ns / 1000000000, 3 * 86400 - 60, 3 * 86400);
    free(pem);
    assert_int_equal(authority_sign(a, csr, &id, NULL, span_s(-60), &pem, NULL), 0);
    assert_int_equal(tls_cert_left(pem, &left, NULL), 0);
    assert_true(left.ns < 0);
    assert_int_equal(tls_cert_left("none", &left, NULL), -EINVAL);
    free(pem);
    free(key);
    free(csr);
    authority_close(a);
}

static void test_contexts_refuse_keys_that_do_not_fit(void **state)
{
    struct authority *a = authority_new();
    char *key, *csr, *pem, *other_key, *other_csr;
    struct tls_context *c = NULL;
    struct err e = {0};
    const struct identity id = {.kind = IDENTITY_NODE, .name = "lx01", .role = ROLE_NONE};
    assert_int_equal(tls_new_request(&key, &csr, NULL), 0);
    assert_int_equal(tls_new_request(&other_key, &other_csr, NULL), 0);
    assert_int_equal(authority_sign(a, csr, &id, NULL, span_s(60), &pem, NULL), 0);
    const char *ca = authority_pem(a);
    assert_int_equal(tls_server_context(pem, other_key, ca, TLS_PEER_REQUIRED, &c, &e), -EINVAL);
    assert_non_null(strstr(e.msg, "does not belong"));
    assert_int_equal(tls_server_context("x", key, ca, TLS_PEER_REQUIRED, &c, &e), -EINVAL);
    assert_int_equal(tls_client_context(pem, "x", ca, &c, &e), -EINVAL);
    assert_int_equal(tls_client_context(NULL, NULL, "x", &c, &e), -EINVAL);
    assert_null(c);
    tls_context_destroy(NULL);
    free(key);
    free(csr);
    free(pem);
    free(other_key);
    free(other_csr);
    authority_close(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_identities_are_read_and_written),
        cmocka_unit_test(test_identities_of_other_forms_are_refused),
        cmocka_unit_test(test_a_subject_is_the_identity_without_its_role),
        cmocka_unit_test(test_a_certificate_has_its_identity_times_and_numbers),
        cmocka_unit_test(test_a_fingerprint_has_64_digits),
        cmocka_unit_test(test_a_chain_is_taken_with_its_certificate),
        cmocka_unit_test(test_cert_left_tells_the_time),
        cmocka_unit_test(test_contexts_refuse_keys_that_do_not_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
