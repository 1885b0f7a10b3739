/* SPDX-License-Identifier: Apache-2.0 */
#include "link/order.h"

#include "link/fixture_test.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#define TEXT "{\"type\":20,\"node\":\"lx01\",\"run\":\"node:true\"}"

static struct authority *ours, *theirs;
static struct party controller, node, stranger, expired, operator;

enum { DAY_S = 86400 };

static int group_setup(void **state)
{
    ours = authority_new();
    theirs = authority_new();
    controller = party_new(ours, IDENTITY_CONTROLLER, "c1", DAY_S);
    node = party_new(ours, IDENTITY_NODE, "lx01", DAY_S);
    operator= party_new(ours, IDENTITY_OPERATOR, "ann", DAY_S);
    expired = party_new(ours, IDENTITY_CONTROLLER, "c1", -60);
    stranger = party_new(theirs, IDENTITY_CONTROLLER, "c1", DAY_S);
    return 0;
}

static int group_teardown(void **state)
{
    party_free(&controller);
    party_free(&node);
    party_free(&operator);
    party_free(&expired);
    party_free(&stranger);
    authority_close(ours);
    authority_close(theirs);
    return 0;
}

static struct signer *signer_of(const char *cert, const struct party *p)
{
    struct signer *s = NULL;
    struct err e = {0};
    if (signer_create(cert, p->key, &s, &e) < 0)
        fail_msg("%s", e.msg);
    return s;
}

/* The text signed by p, as it comes over a connection. */
static json_t *order_by(const struct party *p, const char *text)
{
    struct signer *s = signer_of(p->cert, p);
    json_t *order = NULL;
    assert_int_equal(order_sign(s, text, &order, NULL), 0);
    signer_destroy(s);
    CLEANUP_FREE char *bytes = json_write(order);
    json_decref(order);
    order = json_read(bytes, strlen(bytes), NULL);
    assert_non_null(order);
    return order;
}

static void is_refused(json_t *order, int code, const char *why)
{
    const char *text;
    struct err e = {0};
    assert_int_equal(order_open(authority_pem(ours), NULL, order, &text, &e), code);
    if (!strstr(e.msg, why))
        fail_msg("%s", e.msg);
    json_decref(order);
}

static void set(json_t *order, const char *key, const char *value)
{
    json_object_set_new(order, key, json_string(value));
}

static void an_order_of_a_controller_is_believed(void **state)
{
    CLEANUP_JSON json_t *order = order_by(&controller, TEXT);
    const char *text = NULL;
    assert_true(order_is(order));
    assert_int_equal(order_open(authority_pem(ours), NULL, order, &text, NULL), 0);
    assert_string_equal(text, TEXT);
    assert_string_equal(order_text(order), TEXT);
}

static void a_text_with_anything_in_it_stays_as_it_is(void **state)
{
    struct text large = {0};
    const char *text = NULL;
    while (large.len < 50000)
        text_add(&large, "line \"quoted\\\" \xc3\xa4\xe2\x82\xac\n\t\x01");
    CLEANUP_JSON json_t *order = order_by(&controller, large.s);
    assert_int_equal(order_open(authority_pem(ours), NULL, order, &text, NULL), 0);
    assert_string_equal(text, large.s);
    text_fini(&large);
}

static void bytes_that_are_no_text_are_not_signed(void **state)
{
    struct signer *s = signer_of(controller.cert, &controller);
    json_t *order = NULL;
    assert_int_equal(order_sign(s, "\xff", &order, NULL), -EINVAL);
    signer_destroy(s);
}

static void the_first_certificate_of_a_chain_goes_with_an_order(void **state)
{
    struct text chain = {0};
    text_printf(&chain, "%s%s", controller.cert, authority_pem(ours));
    struct signer *s = signer_of(chain.s, &controller);
    CLEANUP_JSON json_t *order = NULL;
    assert_int_equal(order_sign(s, TEXT, &order, NULL), 0);
    assert_string_equal(json_text(order, "certificate"), controller.cert);
    signer_destroy(s);
    text_fini(&chain);
}

static void a_changed_byte_is_seen(void **state)
{
    for (size_t i = 0; i < strlen(TEXT); i++) {
        char changed[] = TEXT;
        json_t *order = order_by(&controller, TEXT);
        changed[i] ^= 1;
        set(order, "signed", changed);
        is_refused(order, -EPERM, "the signature is not of this text");
    }
    json_t *longer = order_by(&controller, TEXT);
    set(longer, "signed", TEXT " ");
    is_refused(longer, -EPERM, "the signature is not of this text");
}

static void another_key_signs_nothing(void **state)
{
    json_t *order = order_by(&node, TEXT);
    set(order, "certificate", controller.cert); /* a controller's name, and a node's signature */
    is_refused(order, -EPERM, "the signature is not of this text");
}

static void a_node_is_no_controller(void **state)
{
    is_refused(order_by(&node, TEXT), -EPERM, "urn:fettle:node:lx01, and no controller");
    is_refused(order_by(&operator, TEXT), -EPERM, "the signer");
}

static void an_expired_certificate_does_not_count(void **state)
{
    is_refused(order_by(&expired, TEXT), -EPERM, "expired");
}

static void a_controller_of_another_authority_is_none(void **state)
{
    is_refused(order_by(&stranger, TEXT), -EPERM, "the signer's certificate was refused");
}

static void the_authority_itself_gives_no_orders(void **state)
{
    json_t *order = order_by(&controller, TEXT);
    set(order, "certificate", authority_pem(ours));
    is_refused(order, -EPERM, "signer");
}

static void a_signature_of_tls_is_no_order(void **state)
{
    /* The same bytes signed without the prefix: as by a handshake, or in a request for a certificate. */
    BIO *in = BIO_new_mem_buf(controller.key, -1);
    EVP_PKEY *key = pem_read_key(in);
    EVP_MD_CTX *c = EVP_MD_CTX_new();
    unsigned char signature[128];
    char hex[257];
    size_t n = sizeof signature;
    json_t *order = order_by(&controller, TEXT);
    assert_int_equal(EVP_DigestSignInit(c, NULL, EVP_sha256(), NULL, key), 1);
    assert_int_equal(EVP_DigestSign(c, signature, &n, (const unsigned char *)TEXT, strlen(TEXT)), 1);
    assert_int_equal(OPENSSL_buf2hexstr_ex(hex, sizeof hex, NULL, signature, n, '\0'), 1);
    set(order, "signature", hex);
    is_refused(order, -EPERM, "the signature is not of this text");
    EVP_MD_CTX_free(c);
    EVP_PKEY_free(key);
    BIO_free(in);
}

static void garbage_is_no_order(void **state)
{
    static const char *const plain[] = {"{}", "{\"signed\":7}", "{\"signed\":\"\",\"signature\":\"\"}"};
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++)
        is_refused(json_read(plain[i], strlen(plain[i]), NULL), -EINVAL, "");
    static const char *const signatures[] = {"", "0", "zz", "00"};
    for (size_t i = 0; i < sizeof signatures / sizeof signatures[0]; i++) {
        json_t *order = order_by(&controller, TEXT);
        set(order, "signature", signatures[i]);
        is_refused(order, -EPERM, "signature");
    }
    struct text long_ = {0};
    while (long_.len < 9000)
        text_add(&long_, "00");
    json_t *order = order_by(&controller, TEXT);
    set(order, "signature", long_.s);
    is_refused(order, -EPERM, "the signature cannot be read");
    order = order_by(&controller, TEXT);
    set(order, "certificate", long_.s);
    is_refused(order, -EPERM, "more than");
    order = order_by(&controller, TEXT);
    set(order, "certificate", controller.key);
    is_refused(order, -EPERM, "the signer's certificate cannot be read");
    text_fini(&long_);
}

static void key_and_certificate_belong_together(void **state)
{
    struct signer *s = NULL;
    assert_int_equal(signer_create(controller.cert, node.key, &s, NULL), -EINVAL);
    assert_int_equal(signer_create("no", node.key, &s, NULL), -EINVAL);
    assert_int_equal(signer_create(node.cert, "no", &s, NULL), -EINVAL);
    assert_null(s);
    signer_destroy(NULL);
}

static void nobody(void *arg, enum identity_kind kind, const char *name)
{
}

static void one_of_a_signer_that_has_ended_is_refused(void **state)
{
    struct least *l = least_create();
    struct identity id;
    struct err e = {0};
    const char *text;
    CLEANUP_TEXT struct text t = {0};
    assert_int_equal(tls_cert_identity(controller.cert, &id, NULL), 0);
    assert_true(id.serial > 0);
    CLEANUP_JSON json_t *order = order_by(&controller, "{}");
    text_printf(&t, "{\"controller:c1\":\"%" PRIx64 "\"}", id.serial);
    CLEANUP_JSON json_t *same = json_read(t.s, t.len, NULL);
    assert_int_equal(least_take(l, same, nobody, NULL, NULL), 0);
    assert_int_equal(order_open(authority_pem(ours), l, order, &text, NULL), 0);
    text_clear(&t);
    text_printf(&t, "{\"controller:c1\":\"%" PRIx64 "\"}", id.serial + 1);
    CLEANUP_JSON json_t *later = json_read(t.s, t.len, NULL);
    assert_int_equal(least_take(l, later, nobody, NULL, NULL), 0);
    assert_int_equal(order_open(authority_pem(ours), l, order, &text, &e), -EPERM);
    assert_non_null(strstr(e.msg, "was revoked, or there is a later one"));
    least_destroy(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_of_a_signer_that_has_ended_is_refused),
        cmocka_unit_test(an_order_of_a_controller_is_believed),
        cmocka_unit_test(a_text_with_anything_in_it_stays_as_it_is),
        cmocka_unit_test(bytes_that_are_no_text_are_not_signed),
        cmocka_unit_test(the_first_certificate_of_a_chain_goes_with_an_order),
        cmocka_unit_test(a_changed_byte_is_seen),
        cmocka_unit_test(another_key_signs_nothing),
        cmocka_unit_test(a_node_is_no_controller),
        cmocka_unit_test(an_expired_certificate_does_not_count),
        cmocka_unit_test(a_controller_of_another_authority_is_none),
        cmocka_unit_test(the_authority_itself_gives_no_orders),
        cmocka_unit_test(a_signature_of_tls_is_no_order),
        cmocka_unit_test(garbage_is_no_order),
        cmocka_unit_test(key_and_certificate_belong_together),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
