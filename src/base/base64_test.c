/* SPDX-License-Identifier: Apache-2.0 */
#include "base/base64.h"
#include "base/digest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* RFC 4648, section 10. */
static const char *const pairs[][2] = {{"", ""},
                                       {"f", "Zg=="},
                                       {"fo", "Zm8="},
                                       {"foo", "Zm9v"},
                                       {"foob", "Zm9vYg=="},
                                       {"fooba", "Zm9vYmE="},
                                       {"foobar", "Zm9vYmFy"}};

static void test_bytes_and_text(void **state)
{
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        CLEANUP_TEXT struct text to = {0}, back = {0};
        base64_add(&to, pairs[i][0], strlen(pairs[i][0]));
        assert_string_equal(to.s ? to.s : "", pairs[i][1]);
        assert_true(base64_take(pairs[i][1], strlen(pairs[i][1]), &back));
        assert_string_equal(back.s ? back.s : "", pairs[i][0]);
    }
    CLEANUP_TEXT struct text high = {0};
    base64_add(&high, "\xfb\xff\xfe", 3);
    assert_string_equal(high.s, "+//+");
}

/* Bits that no byte needs, a padding in the middle, another alphabet, a length that is none. */
static void test_one_text_for_each(void **state)
{
    static const char *const bad[] = {
        "Zh==", "Zm9=", "Zg==Zg==", "Zg=a", "=g==", "Zg", "Zm9vY", "-_-_", "Zm 9", "===="};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CLEANUP_TEXT struct text out = {0};
        text_add(&out, "x");
        assert_false(base64_take(bad[i], strlen(bad[i]), &out));
        assert_int_equal(out.len, 1);
    }
}

static void test_exactly_so_many(void **state)
{
    char out[4] = "";
    assert_true(base64_take_exactly("Zm9v", 4, out, 3));
    assert_memory_equal(out, "foo", 3);
    assert_false(base64_take_exactly("Zm8=", 4, out, 3));
    assert_false(base64_take_exactly("Zm9vZm9v", 8, out, 3));
    assert_true(base64_take_exactly("", 0, out, 0));
}

static void test_a_digest_of_pieces(void **state)
{
    unsigned char whole[32], parts[32];
    const struct digest_piece pieces[] = {{"foo", 3}, {"", 0}, {"bar", 3}};
    digest_sha256_bytes("foobar", 6, whole);
    digest_sha256_pieces(pieces, 3, parts);
    assert_memory_equal(whole, parts, 32);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes_and_text),
        cmocka_unit_test(test_one_text_for_each),
        cmocka_unit_test(test_exactly_so_many),
        cmocka_unit_test(test_a_digest_of_pieces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
