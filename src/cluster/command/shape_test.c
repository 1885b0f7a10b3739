/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/command/shape.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

struct leaf {
    const char *name;
};
struct tree {
    int64_t number;
    char word[8];
    const char *text;
    size_t n;
    const struct leaf *leaves;
};
SHAPE(leaf, TEXT(leaf, name));
SHAPE(tree, VALUE(tree, number), WORD(tree, word), TEXT(tree, text), LIST(tree, leaves, n, leaf));

static void test_a_copy_stands_alone(void **state)
{
    char text[] = "text", name[] = "name";
    struct leaf leaves[] = {{name}, {NULL}};
    struct tree is = {7, "word", text, 2, leaves}, copy = is;
    struct owned own = {0};
    shape_own(&tree_shape, &copy, &own);
    assert_true(shape_same(&tree_shape, &is, &copy));
    memset(text, 'x', 4);
    memset(name, 'x', 4);
    leaves[0].name = NULL;
    assert_string_equal(copy.text, "text");
    assert_string_equal(copy.leaves[0].name, "name");
    assert_null(copy.leaves[1].name);
    owned_fini(&own);
    assert_int_equal(own.n, 0);
    owned_fini(&own); /* of nothing */
}

static void test_absent_members_stay_absent(void **state)
{
    struct tree copy = {0};
    struct owned own = {0};
    shape_own(&tree_shape, &copy, &own);
    assert_null(copy.text);
    assert_int_equal(copy.n, 0);
    assert_true(shape_same(&tree_shape, &copy, &(struct tree){0}));
    owned_fini(&own);
}

static void test_two_are_the_same_when_all_members_say_the_same(void **state)
{
    const struct leaf a[] = {{"one"}, {"two"}}, b[] = {{"one"}, {"three"}};
    const struct tree is = {7, "word", "text", 2, a};
    const struct tree others[] = {{8, "word", "text", 2, a}, {7, "worD", "text", 2, a},
                                  {7, "word", NULL, 2, a},   {7, "word", "texts", 2, a},
                                  {7, "word", "text", 1, a}, {7, "word", "text", 2, b}};
    struct tree like = is;
    like.text = (const char[]){"text"};
    memcpy(like.word, "word\0zz", 8); /* behind the end of a word is nothing */
    assert_true(shape_same(&tree_shape, &is, &like));
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        assert_false(shape_same(&tree_shape, &is, &others[i]));
        assert_false(shape_same(&tree_shape, &others[i], &is));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_copy_stands_alone),
        cmocka_unit_test(test_absent_members_stay_absent),
        cmocka_unit_test(test_two_are_the_same_when_all_members_say_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
