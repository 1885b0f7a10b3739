/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"
#include "link/tls_internal.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

static char dir[32];

static int dir_make(void **state)
{
    snprintf(dir, sizeof dir, "/tmp/fettle-ca-XXXXXX");
    return mkdtemp(dir) ? 0 : -1;
}

static const char *in_dir(const char *name)
{
    static char path[64];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return path;
}

static int dir_remove(void **state)
{
    unlink(in_dir("ca.pem"));
    unlink(in_dir("ca.key"));
    return rmdir(dir); /* fails when anything else was left there */
}

static void put(const char *name, const char *text)
{
    FILE *f = fopen(in_dir(name), "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static struct authority *open_good(void)
{
    struct authority *a = NULL;
    struct err e = {0};
    if (authority_open(dir, &a, &e) < 0)
        fail_msg("%s", e.msg);
    return a;
}

static void authority_is_made_once_and_found_again(void **state)
{
    struct authority *a = open_good();
    assert_int_equal(strlen(authority_fingerprint(a)), 64);
    CLEANUP_FREE char *first = mem_dup(authority_fingerprint(a));
    struct stat st;
    assert_int_equal(stat(in_dir("ca.key"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    authority_close(a);
    a = open_good();
    assert_string_equal(authority_fingerprint(a), first);
    authority_close(a);
    authority_close(NULL);
}

static void refused(int code, const char *part)
{
    struct authority *a = NULL;
    struct err e = {0};
    assert_int_equal(authority_open(dir, &a, &e), code);
    assert_null(a);
    assert_non_null(strstr(e.msg, part));
}

static void authority_with_one_half_is_refused(void **state)
{
    authority_close(open_good());
    unlink(in_dir("ca.key"));
    refused(-EILSEQ, "ca.pem without ca.key");
    assert_int_equal(access(in_dir("ca.key"), F_OK), -1);
    unlink(in_dir("ca.pem"));
    put("ca.key", "x");
    refused(-EILSEQ, "ca.key without ca.pem");
}

/* At each moment of the first start. */
static void authority_that_was_killed_while_it_was_made(void **state)
{
    put("ca.pem.new", "half a certi");
    put("ca.key.new", "");
    struct authority *a = open_good();
    CLEANUP_FREE char *made = mem_dup(authority_fingerprint(a));
    authority_close(a);
    CLEANUP_FREE char *cert = mem_dup(in_dir("ca.pem"));
    assert_int_equal(rename(cert, in_dir("ca.pem.new")), 0);
    a = open_good();
    assert_string_equal(authority_fingerprint(a), made);
    authority_close(a);
    assert_int_equal(access(in_dir("ca.pem.new"), F_OK), -1);
    assert_int_equal(access(in_dir("ca.key.new"), F_OK), -1);
}

static void authority_with_the_wrong_key_is_refused(void **state)
{
    authority_close(open_good());
    char *key, *csr;
    assert_int_equal(tls_new_request(&key, &csr, NULL), 0);
    put("ca.key", key);
    refused(-EILSEQ, "do not belong together");
    put("ca.key", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n");
    refused(-EILSEQ, "ca.key is not a key");
    put("ca.pem", "");
    refused(-EILSEQ, "ca.pem is not");
    free(key);
    free(csr);
}

static void authority_without_a_directory_is_refused(void **state)
{
    struct authority *a = NULL;
    struct err e = {0};
    assert_int_equal(authority_open("/nonexistent/fettle", &a, &e), -ENOENT);
    assert_non_null(strstr(e.msg, "/nonexistent/fettle"));
}

static X509 *cert_of(const char *pem)
{
    CLEANUP(BIO) BIO *in = BIO_new_mem_buf(pem, -1);
    X509 *cert = pem_read_cert(in);
    assert_non_null(cert);
    return cert;
}

static void sign_gives_the_identity_and_nothing_else(void **state)
{
    struct authority *a = open_good();
    /* The request asks to be a controller, an authority and a web server. */
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509_REQ *request = X509_REQ_new();
    STACK_OF(X509_EXTENSION) *wishes = sk_X509_EXTENSION_new_null();
    X509_EXTENSION *name = X509V3_EXT_conf_nid(NULL, NULL, NID_subject_alt_name,
                                               "URI:urn:fettle:controller:evil,DNS:evil.example.org");
    X509_EXTENSION *ca = X509V3_EXT_conf_nid(NULL, NULL, NID_basic_constraints, "critical,CA:TRUE");
    sk_X509_EXTENSION_push(wishes, name);
    sk_X509_EXTENSION_push(wishes, ca);
    X509_REQ_add_extensions(request, wishes);
    X509_NAME_add_entry_by_txt(X509_REQ_get_subject_name(request), "CN", MBSTRING_ASC,
                               (const unsigned char *)"evil", -1, -1, 0);
    X509_REQ_set_pubkey(request, key);
    assert_true(X509_REQ_sign(request, key, EVP_sha256()) > 0);
    BIO *out = BIO_new(BIO_s_mem());
    PEM_write_bio_X509_REQ(out, request);
    char *csr = pem_take(out), *pem = NULL;

    const struct identity lx01 = {.kind = IDENTITY_NODE, .name = "lx01", .role = ROLE_NONE};
    struct err e = {0};
    assert_int_equal(authority_sign(a, csr, &lx01, NULL, span_s(3600), &pem, &e), 0);
    X509 *cert = cert_of(pem);
    struct identity id;
    assert_int_equal(cert_identity(cert, &id, NULL), 0);
    assert_int_equal(id.kind, IDENTITY_NODE);
    assert_string_equal(id.name, "lx01");
    assert_int_equal(X509_check_ca(cert), 0);
    assert_int_equal(X509_check_host(cert, "evil.example.org", 0, 0, NULL), 0);
    GENERAL_NAMES *names = X509_get_ext_d2i(cert, NID_subject_alt_name, NULL, NULL);
    assert_int_equal(sk_GENERAL_NAME_num(names), 1);
    GENERAL_NAMES_free(names);
    assert_int_equal(EVP_PKEY_eq(X509_get0_pubkey(cert), key), 1);
    X509_free(cert);
    free(pem);
    free(csr);
    BIO_free(out);
    sk_X509_EXTENSION_pop_free(wishes, X509_EXTENSION_free);
    X509_REQ_free(request);
    EVP_PKEY_free(key);
    authority_close(a);
}

static void sign_puts_a_host_beside_the_identity(void **state)
{
    struct authority *a = open_good();
    char *key, *csr, *pem;
    const struct identity c1 = {.kind = IDENTITY_CONTROLLER, .name = "c1", .role = ROLE_NONE};
    assert_int_equal(tls_new_request(&key, &csr, NULL), 0);
    assert_int_equal(authority_sign(a, csr, &c1, "head.example.org", span_s(60), &pem, NULL), 0);
    X509 *cert = cert_of(pem);
    assert_int_equal(X509_check_host(cert, "head.example.org", 0, 0, NULL), 1);
    X509_free(cert);
    free(pem);
    assert_int_equal(authority_sign(a, csr, &c1, "::1", span_s(60), &pem, NULL), 0);
    cert = cert_of(pem);
    assert_int_equal(X509_check_ip_asc(cert, "::1", 0), 1);
    X509_free(cert);
    free(pem);
    assert_int_equal(authority_sign(a, csr, &c1, "a,URI:urn:fettle:node:b", span_s(60), &pem, NULL), -EINVAL);
    assert_int_equal(authority_sign(a, csr, &(struct identity){0}, NULL, span_s(60), &pem, NULL), -EINVAL);
    free(key);
    free(csr);
    authority_close(a);
}

static char *request_of(EVP_PKEY *named, EVP_PKEY *signer)
{
    X509_REQ *request = X509_REQ_new();
    X509_REQ_set_pubkey(request, named);
    X509_REQ_sign(request, signer, EVP_sha256());
    BIO *out = BIO_new(BIO_s_mem());
    PEM_write_bio_X509_REQ(out, request);
    char *pem = pem_take(out);
    BIO_free(out);
    X509_REQ_free(request);
    return pem;
}

static void sign_refuses(struct authority *a, const char *csr, const char *part)
{
    const struct identity id = {.kind = IDENTITY_NODE, .name = "lx01", .role = ROLE_NONE};
    char *pem = NULL;
    struct err e = {0};
    assert_int_equal(authority_sign(a, csr, &id, NULL, span_s(60), &pem, &e), -EINVAL);
    assert_null(pem);
    assert_non_null(strstr(e.msg, part));
}

static void sign_refuses_a_text_that_is_no_request(void **state)
{
    struct authority *a = open_good();
    EVP_PKEY *one = EVP_EC_gen("P-256"), *two = EVP_EC_gen("P-256"), *big = EVP_EC_gen("P-384"),
             *rsa = EVP_RSA_gen(2048);
    CLEANUP_FREE char *stolen = request_of(one, two), *p384 = request_of(big, big),
                      *of_rsa = request_of(rsa, rsa);
    CLEANUP_FREE char *huge = mem_alloc(20000);
    memset(huge, 'A', 19999);
    sign_refuses(a, stolen, "not signed by its own key");
    sign_refuses(a, p384, "not of P-256");
    sign_refuses(a, of_rsa, "not of P-256");
    sign_refuses(a, "", "not a certificate request");
    sign_refuses(a, "garbage", "not a certificate request");
    sign_refuses(a, authority_pem(a), "not a certificate request");
    sign_refuses(a, huge, "longer than");
    sign_refuses(a,
                 "-----BEGIN CERTIFICATE REQUEST-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: "
                 "AES-128-CBC,00000000000000000000000000000000\n\nAAAA\n-----END CERTIFICATE REQUEST-----\n",
                 "not a certificate request");
    EVP_PKEY_free(one);
    EVP_PKEY_free(two);
    EVP_PKEY_free(big);
    EVP_PKEY_free(rsa);
    authority_close(a);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, dir_make, dir_remove)
    const struct CMUnitTest tests[] = {
        TEST(authority_is_made_once_and_found_again),      TEST(authority_with_one_half_is_refused),
        TEST(authority_that_was_killed_while_it_was_made), TEST(authority_with_the_wrong_key_is_refused),
        TEST(authority_without_a_directory_is_refused),    TEST(sign_gives_the_identity_and_nothing_else),
        TEST(sign_puts_a_host_beside_the_identity),        TEST(sign_refuses_a_text_that_is_no_request),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
