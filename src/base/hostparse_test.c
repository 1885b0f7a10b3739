/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hosts_test.h"
#include "base/text.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void ranges_expand_in_order(void **state)
{
    assert_string_equal(hosts_expand("lx[3,1-2]"), "lx1 lx2 lx3");
    assert_string_equal(hosts_expand("lx"), "lx");
    assert_string_equal(hosts_expand("[1-3]"), "1 2 3");
    assert_string_equal(hosts_expand("lx[1-3]-ib"), "lx1-ib lx2-ib lx3-ib");
    assert_string_equal(hosts_expand("n[0-8/3]"), "n0 n3 n6");
    assert_string_equal(hosts_expand("n[1-9/100]"), "n1");
}

static void digits_beside_a_bracket_are_digits_of_the_number(void **state)
{
    assert_string_equal(hosts_expand("n1[2-3]"), "n12 n13");
    assert_string_equal(hosts_expand("n[1-3]0"), "n10 n20 n30");
    assert_string_equal(hosts_expand("n[01-02]00"), "n0100 n0200");
    assert_string_equal(hosts_expand("n1[0-1]5"), "n105 n115");
    assert_string_equal(hosts_expand("n1[0,9-10/5]"), "n10 n19");
}

static void dimensions_expand_last_one_fastest(void **state)
{
    assert_string_equal(hosts_expand("r[1-2]n[01-02]"), "r1n01 r1n02 r2n01 r2n02");
    assert_string_equal(hosts_expand("r[9-10]n1"), "r9n1 r10n1");
}

static void operators_are_read_from_left_to_right(void **state)
{
    assert_string_equal(hosts_expand("n[1-5]!n[2-3]"), "n1 n4 n5");
    assert_string_equal(hosts_expand("n[1-3]&n[2-5]"), "n2 n3");
    assert_string_equal(hosts_expand("n[1-3]^n[2-5]"), "n1 n4 n5");
    assert_string_equal(hosts_expand("a,b!a,a"), "a b");
    assert_string_equal(hosts_expand("a,b&b,c"), "b c");
    assert_string_equal(hosts_expand("a^a"), "");
    assert_string_equal(hosts_expand("a^a^a"), "a");
    assert_string_equal(hosts_expand("a&b&a"), "");
    assert_string_equal(hosts_expand("a,b,c&c&a,d"), "d");
    assert_string_equal(hosts_expand("r[1-2]n[1-2]!r1n1"), "r2n1 r2n2 r1n2");
}

static void white_space_separates_or_is_ignored(void **state)
{
    assert_string_equal(hosts_expand(""), "");
    assert_string_equal(hosts_expand(" \t\n"), "");
    assert_string_equal(hosts_expand("b a\n c"), "a b c");
    assert_string_equal(hosts_expand(" a , b "), "a b");
    assert_string_equal(hosts_expand("n[1-3] ! n2"), "n1 n3");
    assert_string_equal(hosts_expand("n[ 1 , 3 - 4 ]"), "n1 n3 n4");
}

static void patterns_sort_by_their_text(void **state)
{
    assert_string_equal(hosts_expand("n-1,n.1,n1,n%1,n,m2"), "m2 n n%1 n1 n-1 n.1");
    assert_string_equal(hosts_fold("lx2 login lx1 admin"), "admin,login,lx[1-2]");
}

static void percent_is_a_character(void **state)
{
    assert_string_equal(hosts_expand("100%,a%s[1-2]"), "100% a%s1 a%s2");
    assert_string_equal(hosts_fold("a%s1 a%s2"), "a%s[1-2]");
}

static void mistakes_get_a_sentence(void **state)
{
    static const struct {
        const char *list, *sentence;
    } bad[] = {
        {"lx[3-1]", "\"lx[3-1]\": range \"3-1\" runs backwards"},
        {"a,lx[1-03]", "\"lx[1-03]\": the ends of range \"1-03\" are padded to different lengths"},
        {"lx[01-3]", "\"lx[01-3]\": the ends of range \"01-3\" are padded to different lengths"},
        {"lx[a]", "\"lx[a]\": \"a\" in range \"a\" is not a number"},
        {"lx[1-2-3]", "\"lx[1-2-3]\": \"2-3\" in range \"1-2-3\" is not a number"},
        {"lx[-3]", "\"lx[-3]\": a number is missing in range \"-3\""},
        {"lx[1-]", "\"lx[1-]\": a number is missing in range \"1-\""},
        {"lx[1,]", "\"lx[1,]\": there is an empty range"},
        {"lx[]", "\"lx[]\": there is an empty range"},
        {"lx[1-3/0]", "\"lx[1-3/0]\": range \"1-3/0\" has a wrong step"},
        {"lx[1/2]", "\"lx[1/2]\": range \"1/2\" has a wrong step"},
        {"lx[1-3/2]0", "\"lx[1-3/2]0\": digits (\"0\") follow a bracket with a step"},
        {"lx[1-3", "\"lx[1-3\": a bracket is not closed"},
        {"lx1-3]", "\"lx1-3]\": a bracket is closed that is not open"},
        {"lx[1]]", "\"lx[1]]\": a bracket is closed that is not open"},
        {"lx[1][2]", "\"lx[1][2]\": a bracket follows another one directly"},
        {"lx[1]0[2]", "\"lx[1]0[2]\": a bracket follows another one directly"},
        {",a", "there is no host before \",\""},
        {"a,,b", "there is no host before \",\""},
        {"a!&b", "there is no host before \"&\""},
        {"a! ", "there is no host after \"!\""},
        {"@rack1", "\"@rack1\": there are no groups here"},
        {"lx*", "\"lx*\": there are no wildcards here"},
        {"lx[123456789012345678]",
         "\"lx[123456789012345678]\": a number in range \"123456789012345678\" has more "
         "than 17 digits"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_string_equal(hosts_expand(bad[i].list), bad[i].sentence);
}

static void limits_come_before_memory(void **state)
{
    assert_non_null(strstr(hosts_expand("lx[0-99999999999]"), "more than 262144 hosts"));
    assert_non_null(strstr(hosts_expand("a[1-2000]b[1-2000]"), "more than 262144 hosts"));
    assert_non_null(strstr(hosts_expand("a[1-1000000]!a[1-1000000]"), "more than 262144 hosts"));
    assert_non_null(strstr(hosts_expand("a[1-400]b[1-400]c1d1e1f1g1"), "more than 1048576 numbers"));

    char name[HOSTLIST_NAME_BYTES_MAX + 2];
    memset(name, 'x', sizeof name);
    name[sizeof name - 1] = '\0';
    assert_non_null(strstr(hosts_expand(name), "a name is longer than 255 bytes"));
    name[sizeof name - 2] = '\0';
    assert_string_equal(hosts_expand(name), name);
    memcpy(name + HOSTLIST_NAME_BYTES_MAX - 5, "[1-9]", 6);
    assert_int_equal(strlen(hosts_expand(name)), 9 * (HOSTLIST_NAME_BYTES_MAX - 4) + 8);

    CLEANUP_FREE char *text = mem_alloc(HOSTLIST_TEXT_BYTES_MAX + 2);
    memset(text, ' ', HOSTLIST_TEXT_BYTES_MAX + 1);
    assert_string_equal(hosts_expand(text), "the host list is longer than 1048576 bytes");
    text[HOSTLIST_TEXT_BYTES_MAX] = '\0';
    assert_string_equal(hosts_expand(text), "");
}

/* What somebody may name is known before: whatever the text stands for, no more than that is read. */
static void a_list_from_outside_has_a_limit(void **state)
{
    static const struct {
        const char *list, *sentence; /* NULL: it is read */
    } lists[] = {
        {"n[1-8]", NULL},
        {"n[1-4,2-5]", NULL},
        {"n[1-4]!n[1-4]", NULL},
        {"a[1-2]b[1-4]", NULL},
        {"n[1-9]", "\"n[1-9]\": the list has more than 8 hosts"},
        {"n[1-262144]", "\"n[1-262144]\": the list has more than 8 hosts"},
        {"n1[2-262144]", "\"n1[2-262144]\": the list has more than 8 hosts"},
        {"r[1-512]n[1-512]", "\"r[1-512]n[1-512]\": the list has more than 8 hosts"},
        {"a[1-3]b[1-3]", "\"a[1-3]b[1-3]\": the list has more than 8 hosts"},
        {"n[1-8]!n9", "the list has more than 8 hosts"},
        {"n[1-8,1-8,1-8,1-8,1-8]", "\"n[1-8,1-8,1-8,1-8,1-8]\": the list has more than 8 hosts"},
        {"n[1]000000000000000000", "\"n[1]000000000000000000\": more than 17 digits are beside a bracket"},
        {"n000000000000000000[1]", "\"n000000000000000000[1]\": more than 17 digits are beside a bracket"},
    };
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        CLEANUP_HOSTLIST struct hostlist h = {0};
        struct err e = {0};
        int rc = hostlist_parse_max(lists[i].list, 8, &h, &e);
        assert_int_equal(rc, lists[i].sentence ? -EINVAL : 0);
        assert_string_equal(e.msg, lists[i].sentence ? lists[i].sentence : "");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_expand_in_order),
        cmocka_unit_test(digits_beside_a_bracket_are_digits_of_the_number),
        cmocka_unit_test(dimensions_expand_last_one_fastest),
        cmocka_unit_test(operators_are_read_from_left_to_right),
        cmocka_unit_test(white_space_separates_or_is_ignored),
        cmocka_unit_test(patterns_sort_by_their_text),
        cmocka_unit_test(percent_is_a_character),
        cmocka_unit_test(mistakes_get_a_sentence),
        cmocka_unit_test(limits_come_before_memory),
        cmocka_unit_test(a_list_from_outside_has_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
