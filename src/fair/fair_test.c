/* SPDX-License-Identifier: Apache-2.0 */
#include "fair/fair.h"

#include "base/text.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct party root = {"uid 0", true}, ann = {"uid 1000", false}, bob = {"uid 1001", false};

static void take(struct slots *s, const struct party *p, int n)
{
    for (int i = 0; i < n; i++)
        assert_int_equal(slots_take(s, p, NULL), 0);
}

static const char *refused(struct slots *s, const struct party *p)
{
    static struct err e;
    e = (struct err){0};
    assert_int_equal(slots_take(s, p, &e), -EAGAIN);
    return e.msg;
}

static void test_a_party_has_its_share_and_no_more(void **state)
{
    struct slots *s = slots_create(&(struct slots_limits){.all = 10, .each = 3, .reserve = 2});
    take(s, &ann, 3);
    assert_string_equal(refused(s, &ann), "there are too many connections of uid 1000: 3");
    take(s, &bob, 3);
    slots_give(s, &ann);
    take(s, &ann, 1);
    refused(s, &ann);
    slots_destroy(s);
}

static void test_the_reserve_is_for_administrators(void **state)
{
    struct slots *s = slots_create(&(struct slots_limits){.all = 6, .each = 3, .reserve = 2});
    take(s, &ann, 3);
    take(s, &bob, 1);
    assert_string_equal(refused(s, &bob), "there are too many connections: 4");
    take(s, &root, 2);
    refused(s, &root);
    slots_give(s, &ann);
    refused(s, &bob); /* root's two count, too */
    slots_give(s, &root);
    take(s, &root, 2); /* and a share does not bind root */
    refused(s, &root);
    slots_destroy(s);
}

static void test_who_has_most_is_known(void **state)
{
    struct slots *s = slots_create(&(struct slots_limits){.all = 9, .each = 9});
    assert_null(slots_greatest(s));
    take(s, &ann, 1);
    take(s, &bob, 2);
    assert_string_equal(slots_greatest(s), "uid 1001");
    take(s, &ann, 2);
    assert_string_equal(slots_greatest(s), "uid 1000");
    slots_destroy(s);
}

/* Adds a turn for each letter: 'a' is one of ann, 'b' of bob, 'R' of root. */
static struct turn *add_all(struct turns *t, const char *letters)
{
    size_t n = strlen(letters);
    struct turn *all = mem_alloc(n * sizeof *all);
    for (size_t i = 0; i < n; i++) {
        all[i].owner = (void *)(uintptr_t)&letters[i];
        turns_add(t, &all[i], letters[i] == 'R' ? &root : letters[i] == 'a' ? &ann : &bob);
    }
    return all;
}

/* Takes all: their places in what was added. */
static void expect_order(struct turns *t, const char *letters, const char *order)
{
    CLEANUP_TEXT struct text got = {0};
    text_add(&got, "");
    for (struct turn *turn; (turn = turns_take(t));)
        text_printf(&got, "%td", (const char *)turn->owner - letters);
    assert_string_equal(got.s, order);
    assert_true(turns_empty(t));
}

static void test_parties_take_turns(void **state)
{
    struct turns *t = turns_create();
    static const char letters[] = "aaaaabb";
    struct turn *all = add_all(t, letters);
    expect_order(t, letters, "0516234");
    free(all);
    turns_destroy(t);
}

static void test_an_administrator_is_next(void **state)
{
    struct turns *t = turns_create();
    static const char letters[] = "aaabRR";
    struct turn *all = add_all(t, letters);
    expect_order(t, letters, "450312");
    free(all);
    turns_destroy(t);
}

static void test_who_leaves_does_not_wait(void **state)
{
    struct turns *t = turns_create();
    static const char letters[] = "abab";
    struct turn *all = add_all(t, letters);
    turns_remove(t, &all[0]);
    turns_remove(t, &all[3]);
    turns_remove(t, &all[3]);
    expect_order(t, letters, "21");
    free(all);
    turns_destroy(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_party_has_its_share_and_no_more),
        cmocka_unit_test(test_the_reserve_is_for_administrators),
        cmocka_unit_test(test_who_has_most_is_known),
        cmocka_unit_test(test_parties_take_turns),
        cmocka_unit_test(test_an_administrator_is_next),
        cmocka_unit_test(test_who_leaves_does_not_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
