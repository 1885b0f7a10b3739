/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/fixture_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char *unknown_words(const struct cluster *c, struct text *t)
{
    text_fini(t);
    cluster_unknown_say(c, t);
    return t->len ? t->s : "";
}

static void test_an_unknown_kind_of_record_is_kept(void **state)
{
    struct world *w = *state;
    CLEANUP_TEXT struct text t = {0};
    uint64_t before = cluster_digest(w->c);
    assert_string_equal(unknown_words(w->c, &t), "");
    assert_int_equal(cluster_put(w->c, "pony/lx01", "{\"mane\":1}", NULL), 0);
    uint64_t one = cluster_digest(w->c);
    assert_true(one != before);
    assert_string_equal(unknown_words(w->c, &t),
                        "1 record of a kind that this version does not know is kept as it stands: pony");
    assert_int_equal(cluster_put(w->c, "pony/lx02", "not even JSON", NULL), 0);
    assert_int_equal(cluster_put(w->c, "lease/a b", "{}", NULL), 0);
    assert_int_equal(cluster_unknown(w->c), 3);
    assert_string_equal(unknown_words(w->c, &t),
                        "3 records of kinds that this version does not know are kept as "
                        "they stand: pony, lease");
    assert_int_equal(cluster_put(w->c, "pony/lx01", "{\"mane\":2}", NULL), 0);
    assert_true(cluster_digest(w->c) != one);
    assert_int_equal(cluster_put(w->c, "pony/lx01", "{\"mane\":1}", NULL), 0);
    assert_int_equal(cluster_put(w->c, "pony/lx02", NULL, NULL), 0);
    assert_int_equal(cluster_put(w->c, "lease/a b", NULL, NULL), 0);
    assert_true(cluster_digest(w->c) == one);
    assert_int_equal(cluster_put(w->c, "pony/lx01", NULL, NULL), 0);
    assert_true(cluster_digest(w->c) == before);
}

static void test_unknown_records_have_a_limit(void **state)
{
    struct world *w = *state;
    CLEANUP_FREE char *half = mem_alloc(UNKNOWN_BYTES_MAX / 2);
    memset(half, 'x', UNKNOWN_BYTES_MAX / 2 - 1);
    struct err e = {0};
    assert_int_equal(cluster_put(w->c, "pony/1", half, NULL), 0);
    uint64_t before = cluster_digest(w->c);
    assert_int_equal(cluster_put(w->c, "pony/2", half, &e), -EILSEQ);
    assert_string_equal(e.msg,
                        "record pony/2: more than 67108864 bytes of records of kinds that this version "
                        "does not know");
    assert_true(cluster_digest(w->c) == before);
    assert_int_equal(cluster_put(w->c, "pony/1", half, NULL), 0);
    assert_int_equal(cluster_put(w->c, "pony/1", "{}", NULL), 0);
    for (int i = 2; i <= UNKNOWN_RECORDS_MAX; i++) {
        char key[32];
        snprintf(key, sizeof key, "pony/%d", i);
        assert_int_equal(cluster_put(w->c, key, "{}", NULL), 0);
    }
    assert_int_equal(cluster_put(w->c, "pony/0", "{}", &e), -EILSEQ);
    assert_string_equal(e.msg,
                        "record pony/0: more than 200000 records of kinds that this version does not know");
    assert_int_equal(cluster_put(w->c, "pony/1", "{\"a\":1}", NULL), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_an_unknown_kind_of_record_is_kept),
        TEST(test_unknown_records_have_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
