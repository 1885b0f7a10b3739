/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hosts_test.h"
#include "base/text.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void padding_is_part_of_the_name(void **state)
{
    assert_string_equal(hosts_expand("lx[8-10]"), "lx8 lx9 lx10");
    assert_string_equal(hosts_expand("lx[08-10]"), "lx08 lx09 lx10");
    assert_string_equal(hosts_expand("lx1,lx01,lx001"), "lx1 lx01 lx001");
    assert_string_equal(hosts_fold("lx8 lx9 lx10"), "lx[8-10]");
    assert_string_equal(hosts_fold("lx08 lx09 lx10"), "lx[08-10]");
    assert_string_equal(hosts_fold("lx1 lx01 lx2 lx02"), "lx[1-2,01-02]");
    assert_string_equal(hosts_fold("lx98 lx99 lx100"), "lx[98-100]");
    assert_string_equal(hosts_fold("lx098 lx99 lx099 lx100"), "lx[99,098-100]");
}

static void a_wider_step_carries_the_padding(void **state)
{
    assert_string_equal(hosts_fold("n08 n10 n11 n99 n100"), "n[08,10-11,99-100]");
    assert_string_equal(hosts_fold("n98 n99 n100"), "n[98-100]");
    assert_string_equal(hosts_fold("n97 n08 n98 n99 n100"), "n[08,97-99,100]");
    assert_string_equal(hosts_fold("n08 n10 n11 n12"), "n[08,10-12]");
}

static void dimensions_fold_to_few_blocks(void **state)
{
    assert_string_equal(hosts_fold("r1n01 r1n02 r2n01 r2n02"), "r[1-2]n[01-02]");
    assert_string_equal(hosts_fold("r2n2 r1n1"), "r1n1,r2n2");
    assert_string_equal(hosts_fold("r1n1 r1n2 r1n3 r2n1 r2n2"), "r1n[1-3],r2n[1-2]");
    assert_string_equal(hosts_fold("a1b1c1 a1b1c2 a2b1c1 a2b1c2"), "a[1-2]b1c[1-2]");
    assert_string_equal(hosts_fold("a1b1c1 a1b1c2 a2b1c1 a2b2c2"), "a1b1c[1-2],a2b1c1,a2b2c2");
}

static void names_are_there_once(void **state)
{
    assert_string_equal(hosts_expand("n[1,1-2,2],n1"), "n1 n2");
    assert_string_equal(hosts_fold("n1 n2 n1"), "n[1-2]");
}

static void long_numbers_are_text(void **state)
{
    assert_string_equal(hosts_fold("n12345678901234567 n12345678901234568"),
                        "n[12345678901234567-12345678901234568]");
    assert_string_equal(hosts_fold("n123456789012345678 n123456789012345679"),
                        "n123456789012345678,n123456789012345679");
    assert_string_equal(hosts_expand("n123456789012345678901234567890x[1-2]"),
                        "n123456789012345678901234567890x1 n123456789012345678901234567890x2");
}

static void nothing_folds_to_nothing(void **state)
{
    CLEANUP_FREE char *list = hostlist_fold(NULL, 0);
    assert_string_equal(list, "");
}

static void folding_a_large_list_and_reading_it_gives_the_list(void **state)
{
    CLEANUP_HOSTLIST struct hostlist a = {0}, b = {0};
    assert_int_equal(hostlist_parse("r[1-50]n[001-100]!r7n[003,050]", &a, NULL), 0);
    assert_int_equal(a.n, 4998);
    CLEANUP_FREE char *list = hostlist_fold((const char *const *)a.names, a.n);
    assert_int_equal(hostlist_parse(list, &b, NULL), 0);
    assert_int_equal(a.n, b.n);
    for (size_t i = 0; i < a.n; i++)
        assert_string_equal(a.names[i], b.names[i]);
}

static void a_plain_name_is_known(void **state)
{
    static const char *const good[] = {"lx01", "lx_control", "a", "1", "a.b-c_d"};
    static const char *const bad[] = {"", "-a", "_a", ".a", "a b", "a/b", "lx[1]", "a,b", "\xc3\xa4", "a\n"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        assert_true(hostlist_name_ok(good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(hostlist_name_ok(bad[i]));
    char name[HOSTLIST_NAME_BYTES_MAX + 2] = {0};
    memset(name, 'x', HOSTLIST_NAME_BYTES_MAX);
    assert_true(hostlist_name_ok(name));
    name[HOSTLIST_NAME_BYTES_MAX] = 'x';
    assert_false(hostlist_name_ok(name));
}

/* The names of a list one after the other are those of the list. */
static void a_walk_gives_each_name(void **state)
{
    static const char *const lists[] = {
        "a", "b[1-3],a",          "r[1-2]n[01-03]x,q7",    "n[1-9]!n[3-5],b%c",
        "",  "n[1-3]&n[2-4],n2,", "x[1-2]y[1-2],x[3]y[1]", "n1!n1"};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        CLEANUP_HOSTLIST struct hostlist h = {0};
        struct hostwalk *w = NULL;
        size_t n = 0;
        int rc = hostlist_parse(lists[i], &h, NULL);
        assert_int_equal(hostwalk_create(lists[i], 100, &w, NULL), rc);
        for (const char *name; rc == 0 && (name = hostwalk_next(w)); n++)
            assert_string_equal(name, h.names[n]);
        assert_int_equal(n, h.n);
        assert_null(rc == 0 ? hostwalk_next(w) : NULL);
        hostwalk_destroy(w);
    }
}

static void adding_keeps_order_and_duplicates(void **state)
{
    CLEANUP_HOSTLIST struct hostlist h = {0};
    for (int i = 0; i < 100; i++)
        hostlist_add(&h, i % 2 ? "b" : "a");
    assert_int_equal(h.n, 100);
    assert_string_equal(h.names[98], "a");
    assert_string_equal(h.names[99], "b");
    hostlist_fini(&h);
    assert_int_equal(h.n, 0);
    assert_null(h.names);
}

/* Names lie in blocks that grow: none moves, and the longest has its place. */
static void names_stay_where_they_are(void **state)
{
    CLEANUP_HOSTLIST struct hostlist h = {0}, all = {0};
    char name[HOSTLIST_NAME_BYTES_MAX + 1];
    hostlist_add(&h, "first");
    const char *first = h.names[0];
    for (int i = 1; i < 2000; i++) {
        snprintf(name, sizeof name, "n%0*d", i % 250 + 4, i);
        hostlist_add(&h, name);
    }
    assert_ptr_equal(h.names[0], first);
    hostlist_add(&all, "x");
    hostlist_add_all(&all, &h);
    hostlist_add_all(&all, &(struct hostlist){0});
    hostlist_fini(&h);
    assert_int_equal(all.n, 2001);
    assert_string_equal(all.names[0], "x");
    assert_string_equal(all.names[1], "first");
    for (int i = 1; i < 2000; i++) {
        snprintf(name, sizeof name, "n%0*d", i % 250 + 4, i);
        assert_string_equal(all.names[i + 1], name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(padding_is_part_of_the_name),
        cmocka_unit_test(a_wider_step_carries_the_padding),
        cmocka_unit_test(dimensions_fold_to_few_blocks),
        cmocka_unit_test(names_are_there_once),
        cmocka_unit_test(long_numbers_are_text),
        cmocka_unit_test(nothing_folds_to_nothing),
        cmocka_unit_test(folding_a_large_list_and_reading_it_gives_the_list),
        cmocka_unit_test(a_plain_name_is_known),
        cmocka_unit_test(a_walk_gives_each_name),
        cmocka_unit_test(adding_keeps_order_and_duplicates),
        cmocka_unit_test(names_stay_where_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
