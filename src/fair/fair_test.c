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

/* Whoever turns out to be another party takes its place along, also when all are taken; the share counts. */
static void test_a_place_moves_to_another_party(void **state)
{
    struct err e = {0};
    struct slots *s = slots_create(&(struct slots_limits){.all = 4, .each = 2, .reserve = 1});
    take(s, &ann, 2);
    take(s, &bob, 1);
    assert_int_equal(slots_move(s, &bob, &ann, &e), -EAGAIN);
    assert_string_equal(e.msg, "there are too many connections of uid 1000: 2");
    take(s, &root, 1);
    assert_int_equal(slots_move(s, &ann, &bob, NULL), 0);
    refused(s, &bob);
    assert_int_equal(slots_move(s, &bob, &bob, NULL), 0);
    assert_int_equal(slots_move(s, &bob, &root, NULL), 0);
    slots_give(s, &ann);
    slots_give(s, &bob);
    slots_give(s, &root);
    slots_give(s, &root);
    take(s, &ann, 2);
    slots_destroy(s);
}

enum { GUESTS = 5 };

static void guests_init(struct guest g[static GUESTS])
{
    for (int i = 0; i < GUESTS; i++)
        g[i] = (struct guest){.owner = &g[i]};
}

static void all_leave(struct crowd *c, struct guest g[static GUESTS])
{
    for (int i = 0; i < GUESTS; i++)
        crowd_leave(&g[i]);
    crowd_destroy(c);
}

static void test_nobody_gives_way_while_there_is_room(void **state)
{
    struct crowd *c = crowd_create(&(struct crowd_limits){.all = 3, .each = 2});
    struct guest g[GUESTS];
    guests_init(g);
    assert_null(crowd_enter(c, &g[0], "here"));
    assert_null(crowd_enter(c, &g[1], "here"));
    assert_null(crowd_enter(c, &g[2], "there"));
    crowd_leave(&g[0]);
    crowd_leave(&g[0]);
    assert_null(crowd_enter(c, &g[0], "there"));
    assert_null(crowd_enter(c, &g[1], "here")); /* again, as the last of its name */
    all_leave(c, g);
}

static void test_the_oldest_of_a_full_name_gives_way(void **state)
{
    struct crowd *c = crowd_create(&(struct crowd_limits){.all = 100, .each = 2});
    struct guest g[GUESTS];
    guests_init(g);
    crowd_enter(c, &g[0], "there");
    for (int i = 1; i < 3; i++)
        assert_null(crowd_enter(c, &g[i], "here"));
    assert_ptr_equal(crowd_enter(c, &g[3], "here"), &g[1]);
    assert_ptr_equal(crowd_enter(c, &g[4], "here"), &g[2]);
    assert_null(crowd_enter(c, &g[4], "there")); /* it goes over */
    assert_null(crowd_enter(c, &g[1], "here"));
    all_leave(c, g);
}

static void test_in_a_full_crowd_the_greatest_company_gives_way(void **state)
{
    struct crowd *c = crowd_create(&(struct crowd_limits){.all = 3, .each = 3});
    struct guest g[GUESTS];
    guests_init(g);
    crowd_enter(c, &g[0], "alone");
    crowd_enter(c, &g[1], "many");
    crowd_enter(c, &g[2], "many");
    assert_ptr_equal(crowd_enter(c, &g[3], "new"), &g[1]);
    assert_ptr_equal(crowd_enter(c, &g[4], "newest"), &g[0]); /* each has one: the name that came first */
    all_leave(c, g);
}

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

static void test_a_turn_that_is_removed_does_not_wait(void **state)
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

static void test_other_limits_are_for_newcomers(void **state)
{
    struct crowd *c = crowd_create(&(struct crowd_limits){.all = 2, .each = 2});
    struct guest g[GUESTS];
    guests_init(g);
    crowd_enter(c, &g[0], "here");
    crowd_enter(c, &g[1], "here");
    crowd_limit(c, &(struct crowd_limits){.all = 4, .each = 4});
    assert_null(crowd_enter(c, &g[2], "here"));
    assert_null(crowd_enter(c, &g[3], "here"));
    crowd_limit(c, &(struct crowd_limits){.all = 1, .each = 1});
    assert_ptr_equal(crowd_enter(c, &g[4], "here"), &g[0]);
    all_leave(c, g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_party_has_its_share_and_no_more),
        cmocka_unit_test(test_the_reserve_is_for_administrators),
        cmocka_unit_test(test_a_place_moves_to_another_party),
        cmocka_unit_test(test_nobody_gives_way_while_there_is_room),
        cmocka_unit_test(test_the_oldest_of_a_full_name_gives_way),
        cmocka_unit_test(test_in_a_full_crowd_the_greatest_company_gives_way),
        cmocka_unit_test(test_other_limits_are_for_newcomers),
        cmocka_unit_test(test_parties_take_turns),
        cmocka_unit_test(test_an_administrator_is_next),
        cmocka_unit_test(test_a_turn_that_is_removed_does_not_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
