/* SPDX-License-Identifier: Apache-2.0 */
#include "base/table.h"

#include "base/text.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static uint64_t openssl_siphash(EVP_MAC *mac, const uint64_t secret[2], const unsigned char *bytes,
                                size_t len)
{
    unsigned char out[8];
    size_t n = 0, size = sizeof out;
    unsigned c = 1, d = 3;
    EVP_MAC_CTX *ctx = EVP_MAC_CTX_new(mac);
    const OSSL_PARAM params[] = {OSSL_PARAM_construct_size_t(OSSL_MAC_PARAM_SIZE, &size),
                                 OSSL_PARAM_construct_uint(OSSL_MAC_PARAM_C_ROUNDS, &c),
                                 OSSL_PARAM_construct_uint(OSSL_MAC_PARAM_D_ROUNDS, &d),
                                 OSSL_PARAM_construct_end()};
    assert_int_equal(EVP_MAC_init(ctx, (const unsigned char *)secret, 16, params), 1);
    assert_int_equal(EVP_MAC_update(ctx, bytes, len), 1);
    assert_int_equal(EVP_MAC_final(ctx, out, &n, sizeof out), 1);
    EVP_MAC_CTX_free(ctx);
    uint64_t hash = 0;
    for (size_t i = 0; i < n; i++)
        hash |= (uint64_t)out[i] << 8 * i;
    return hash;
}

static void test_it_is_siphash(void **state)
{
    static const uint64_t secret[2] = {UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908)};
    unsigned char bytes[64];
    EVP_MAC *mac = EVP_MAC_fetch(NULL, "SIPHASH", NULL);
    assert_non_null(mac);
    for (size_t len = 0; len < sizeof bytes; len++) {
        bytes[len] = (unsigned char)(len * 37);
        assert_int_equal(table_siphash(secret, bytes, len), openssl_siphash(mac, secret, bytes, len));
    }
    EVP_MAC_free(mac);
}

struct named {
    char name[16];
    UT_hash_handle hh;
};

enum { NAMES = 600, SAME_BITS = 0xff };

/* Names whose hashes by uthash's own function, which everybody can compute, end in the same bits. */
static void choose_names(struct named *all)
{
    unsigned hash, n = 0;
    for (unsigned i = 0; n < NAMES; i++) {
        snprintf(all[n].name, sizeof all[n].name, "c%u", i);
        HASH_JEN(all[n].name, strlen(all[n].name), hash);
        n += (hash & SAME_BITS) == 0;
    }
}

static void test_nobody_can_choose_names_of_one_bucket(void **state)
{
    struct named *all = mem_alloc(NAMES * sizeof *all), *table = NULL, *found;
    unsigned fullest = 0;
    choose_names(all);
    for (unsigned i = 0; i < NAMES; i++)
        HASH_ADD_STR(table, name, &all[i]);
    const UT_hash_table *t = table->hh.tbl;
    for (unsigned i = 0; i < t->num_buckets; i++)
        fullest = t->buckets[i].count > fullest ? t->buckets[i].count : fullest;
    assert_true(fullest < 20);
    assert_int_equal(t->noexpand, 0);
    for (unsigned i = 0; i < NAMES; i++) {
        HASH_FIND_STR(table, all[i].name, found);
        assert_ptr_equal(found, &all[i]);
    }
    HASH_CLEAR(hh, table);
    free(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_it_is_siphash),
        cmocka_unit_test(test_nobody_can_choose_names_of_one_bucket),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
