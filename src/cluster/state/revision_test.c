/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/state/revision.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define HASH "0123456789abcdef0123456789abcdef"
#define HEAD(number, hash, parts) \
    "{\"revision\":" number ",\"hash\":\"" hash "\",\"by\":\"root\",\"at\":\"7\",\"parts\":" parts "}"

static int setup(void **state)
{
    *state = revisions_create();
    return 0;
}

static int teardown(void **state)
{
    revisions_destroy(*state);
    return 0;
}

/* The name of the piece with this text, which needs no escapes in JSON. */
static const char *piece(struct revisions *r, const char *text)
{
    static char name[64];
    char hash[PIECE_HASH_BYTES + 1], value[256];
    revision_piece_hash(text, strlen(text), hash);
    snprintf(name, sizeof name, "text.%s", hash);
    snprintf(value, sizeof value, "{\"text\":\"%s\"}", text);
    assert_int_equal(revisions_put(r, name, value, NULL), 0);
    return name;
}

static bool count_piece(void *arg, const char *hash)
{
    size_t *n = arg;
    return ++*n < 2;
}

static void test_a_part_is_its_pieces_in_order(void **state)
{
    struct revisions *r = *state;
    CLEANUP_TEXT struct text head = {0}, is = {0};
    struct err e;
    CLEANUP_FREE char *one = strdup(piece(r, "one ")), *two = strdup(piece(r, "two"));
    text_printf(&head,
                HEAD("3", HASH HASH,
                     "[{\"part\":\"empty\",\"texts\":[]},{\"part\":\"nodes\",\"texts\":"
                     "[\"%s\",\"%s\",\"%s\"]}]"),
                two + 5, one + 5, two + 5);
    assert_int_equal(revisions_put(r, "head", head.s, &e), 0);
    assert_int_equal(revisions_head(r)->number, 3);
    assert_string_equal(revisions_head(r)->hash, HASH HASH);
    assert_string_equal(revisions_head(r)->by, "root");
    assert_int_equal(revisions_head(r)->at.ns, 7);
    assert_int_equal(revisions_text(r, "nodes", &is, &e), 0);
    assert_string_equal(is.s, "twoone two");
    text_clear(&is);
    assert_int_equal(revisions_text(r, "empty", &is, &e), 0);
    assert_string_equal(is.s, "");
    assert_int_equal(revisions_text(r, "checks", &is, &e), -ENOENT);
    assert_string_equal(e.msg, "the configuration has no part \"checks\"");
    assert_int_equal(revisions_put(r, one, NULL, &e), 0);
    assert_false(revisions_have(r, one + 5));
    assert_true(revisions_have(r, two + 5));
    assert_int_equal(revisions_text(r, "nodes", &is, &e), -EILSEQ);
    assert_non_null(strstr(e.msg, "of nodes is missing"));
}

static void test_pieces_are_walked_until_enough(void **state)
{
    struct revisions *r = *state;
    size_t n = 0;
    piece(r, "a"), piece(r, "b"), piece(r, "c");
    revisions_each_piece(r, count_piece, &n);
    assert_int_equal(n, 2);
}

/* The sum is that of what is there, however it came there. */
static void test_the_sum_follows_the_records(void **state)
{
    struct revisions *r = *state;
    CLEANUP_FREE char *name = strdup(piece(r, "a"));
    uint64_t with = revisions_sum(r);
    assert_true(with != 0);
    piece(r, "a");
    assert_true(revisions_sum(r) == with);
    assert_int_equal(revisions_put(r, "head", HEAD("1", HASH HASH, "[]"), NULL), 0);
    assert_true(revisions_sum(r) != with);
    assert_int_equal(revisions_put(r, "head", HEAD("2", HASH HASH, "[]"), NULL), 0);
    assert_int_equal(revisions_put(r, "head", NULL, NULL), 0);
    assert_true(revisions_sum(r) == with);
    assert_int_equal(revisions_head(r)->number, 0);
    assert_int_equal(revisions_put(r, name, NULL, NULL), 0);
    assert_true(revisions_sum(r) == 0);
    assert_int_equal(revisions_put(r, name, NULL, NULL), 0); /* one that is not there */
}

static void test_damaged_records_are_refused(void **state)
{
    static const struct {
        const char *name, *value, *why;
    } bad[] = {
        {"text." HASH, "{\"text\":\"Name=lx01\"}", "its text has the hash "}, /* another text than it was */
        {"text." HASH, "{}", "\"text\" is missing"},
        {"text." HASH, "{\"text\":\"\",\"more\":1}", "more"},
        {"text." HASH, "{", ""},
        {"head", "{\"revision\":1}", "\"hash\" is missing"},
        {"head", HEAD("0", HASH HASH, "[]"), "it has no number or no hash"},
        {"head", HEAD("1", "x", "[]"), "it has no number or no hash"},
        {"head", HEAD("1", HASH HASH, "{}"), "no list of parts"},
        {"head", HEAD("1", HASH HASH, "[{\"part\":\"nodes\"}]"), "part nodes: no list of texts"},
        {"head", HEAD("1", HASH HASH, "[{\"part\":\"nodes\",\"texts\":[\"x\"]}]"),
         "part nodes: text 1 has no hash"},
        {"head", HEAD("1", HASH HASH, "[{\"part\":\"nodes\",\"texts\":[\"" HASH "\",\"" HASH "0\"]}]"),
         "part nodes: text 2 has no hash"},
        {"head", HEAD("1", HASH HASH, "[{\"texts\":[]}]"), "\"part\" is missing"},
        {"other", "{}", "\"other\" is nothing of the configuration that this version knows"},
    };
    struct revisions *r = *state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct err e = {0};
        assert_int_equal(revisions_put(r, bad[i].name, bad[i].value, &e), -EILSEQ);
        if (!strstr(e.msg, bad[i].why))
            fail_msg("%s", e.msg);
        assert_true(revisions_sum(r) == 0);
    }
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_part_is_its_pieces_in_order),
        TEST(test_pieces_are_walked_until_enough),
        TEST(test_the_sum_follows_the_records),
        TEST(test_damaged_records_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
