/* SPDX-License-Identifier: Apache-2.0 */
#include "survey/notes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const struct hostlist NOBODY;

/* "NAME=VALUE NAME- NAME?WHY " of what is settled. */
static void expect(struct notes *n, const char *prefix, const char *said)
{
    static const char signs[] = "=-?";
    CLEANUP_TEXT struct text all = {0};
    struct components c = {0};
    notes_settle(n, prefix, &NOBODY, &c);
    text_add(&all, "");
    for (size_t i = 0; i < c.n; i++)
        text_printf(&all, "%s%c%s ", c.list[i].name, signs[c.list[i].state], c.list[i].value);
    assert_string_equal(all.s, said);
    components_fini(&c);
    notes_fini(n);
}

static void notes_become_components(void **state)
{
    struct notes n = {0};
    notes_value(&n, "v", "a.%d", 1);
    notes_absent(&n, "a.2");
    notes_unknown(&n, "why", "a.3");
    notes_number(&n, 7, "a.4");
    expect(&n, "a", "a.1=v a.2- a.3?why a.4=7 ");
}

static void values_of_one_name_are_joined_in_order(void **state)
{
    struct notes n = {0};
    notes_value(&n, "y", "a.x");
    notes_value(&n, "x", "a.x");
    notes_absent(&n, "a.x");
    notes_value(&n, "y", "a.x");
    expect(&n, "a", "a.x=x, y ");
}

static void one_unknown_makes_a_name_unknown(void **state)
{
    struct notes n = {0};
    notes_value(&n, "x", "a.x");
    notes_unknown(&n, "why", "a.x");
    expect(&n, "a", "a.x?why ");
}

static void bytes_that_no_name_may_have_are_written_over(void **state)
{
    struct notes n = {0};
    notes_value(&n, "", "a./x y\"%%\\\xc3\xa4");
    expect(&n, "a", "a./x%20y%22%25%5C%C3%A4= ");
}

static void a_name_that_is_too_long_makes_the_rest_unknown(void **state)
{
    struct notes n = {0};
    char name[300];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    notes_value(&n, "v", "a.%s", name);
    notes_value(&n, "v", "a.b");
    expect(&n, "a", "a.b=v a.*?1 names have more than 255 bytes ");
}

static void a_part_that_finds_no_room_is_unknown_as_a_whole(void **state)
{
    struct notes n = {0}, next = {0};
    struct components c = {0};
    char value[4097];
    memset(value, 'x', 4096);
    value[4096] = '\0';
    for (int i = 0; i < 190; i++)
        notes_value(&n, value, "a.%d", i);
    notes_settle(&n, "a", &NOBODY, &c);
    assert_int_equal(c.n, 1);
    assert_string_equal(c.list[0].name, "a.*");
    assert_int_equal(c.list[0].state, COMPONENT_UNKNOWN);
    assert_string_equal(c.list[0].value, "190 components with 779080 bytes find no room; a list has 16384 "
                                         "components and 786432 bytes, of which 0 and 0 are taken");
    notes_value(&next, "v", "b.1");
    notes_settle(&next, "b", &NOBODY, &c);
    assert_int_equal(c.n, 2);
    notes_fini(&n);
    notes_fini(&next);
    components_fini(&c);
}

static void ignored_components_are_left_out(void **state)
{
    struct notes n = {0};
    struct components c = {0};
    struct hostlist ignore = {0};
    hostlist_add(&ignore, "a.*.x");
    hostlist_add(&ignore, "a.*");
    notes_value(&n, "v", "a.1.x");
    notes_unknown(&n, "why", "a.*");
    notes_settle(&n, "a", &ignore, &c);
    assert_int_equal(c.n, 0);
    hostlist_fini(&ignore);
    notes_fini(&n);
    components_fini(&c);
}

static void white_space_becomes_single_blanks(void **state)
{
    CLEANUP_TEXT struct text t = {0};
    text_add(&t, "\n a\t\tb \x01 c\n");
    notes_squeeze(&t);
    assert_string_equal(t.s, "a b c");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(notes_become_components),
        cmocka_unit_test(values_of_one_name_are_joined_in_order),
        cmocka_unit_test(one_unknown_makes_a_name_unknown),
        cmocka_unit_test(bytes_that_no_name_may_have_are_written_over),
        cmocka_unit_test(a_name_that_is_too_long_makes_the_rest_unknown),
        cmocka_unit_test(a_part_that_finds_no_room_is_unknown_as_a_whole),
        cmocka_unit_test(ignored_components_are_left_out),
        cmocka_unit_test(white_space_becomes_single_blanks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
