/* SPDX-License-Identifier: Apache-2.0 */
#include "watch/conform/baseline_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char TWO[] = "kernel.release=6.1 nic.count=2";

static void test_ten_equal_nodes_cost_one_list(void **state)
{
    struct world *x = world_create(10);
    world_says(x, 1, 10, A);
    assert_int_equal(x->wants, 1);
    world_run(x, 2);
    assert_int_equal(world_cohort(x, 1)->n, 10);
    assert_ptr_equal(world_cohort(x, 10), world_cohort(x, 1));
    assert_int_equal(world_row(x, 7).cohort, world_cohort(x, 7)->number);
    world_says(x, 3, 3, B);
    assert_int_equal(world_cohort(x, 1)->n, 9);
    assert_int_equal(world_cohort(x, 3)->n, 1);
    world_destroy(x);
}

static void test_a_list_comes_in_parts(void **state)
{
    struct world *x = world_create(2);
    struct err e;
    assert_true(world_claims(x, 1, A));
    assert_false(world_claims(x, 2, A));
    assert_int_equal(world_sends(x, 1, A, A, 1, &e), 0);
    assert_int_equal(world_cohort(x, 1)->n, 1);
    world_run(x, 2);
    assert_int_equal(world_cohort(x, 2)->n, 2);
    world_destroy(x);
}

static int send_part(struct world *x, int i, int part, int parts, struct err *e)
{
    struct components c = {0};
    char hex[FINGERPRINT_HEX + 1];
    components_add(&c, "kernel.release", COMPONENT_VALUE, "6.1", NULL);
    components_add(&c, "nic.count", COMPONENT_VALUE, "2", NULL);
    components_sort(&c, NULL);
    struct fingerprint id = components_fingerprint(&c);
    fingerprint_format(&id, hex);
    components_fini(&c);
    CLEANUP_JSON json_t *body =
        json_pack("{s:s,s:i,s:i,s:{s:s}}", "fingerprint", hex, "part", part, "parts", parts, "components",
                  part ? "nic.count" : "kernel.release", part ? "2" : "6.1");
    return watch_components(x->w, world_now(x), world_node(x, i), body, e);
}

static void test_parts_out_of_order_are_refused_and_a_first_part_begins_anew(void **state)
{
    struct world *x = world_create(2);
    struct err e;
    world_claims(x, 1, TWO);
    assert_int_equal(send_part(x, 1, 1, 2, &e), -EINVAL);
    assert_string_equal(e.msg, "part 1 of a list whose parts before did not come");
    assert_int_equal(send_part(x, 1, 0, 2, &e), -EAGAIN);
    assert_int_equal(send_part(x, 1, 1, 3, &e), -EINVAL); /* a part of another list */
    assert_int_equal(send_part(x, 1, 1, 2, &e), -EINVAL); /* the first was dropped with it */
    assert_int_equal(send_part(x, 1, 0, 2, &e), -EAGAIN);
    assert_int_equal(send_part(x, 1, 0, 2, &e), -EAGAIN);
    assert_int_equal(send_part(x, 1, 1, 2, &e), 0);
    assert_int_equal(send_part(x, 2, 0, 1, &e), -ENOENT); /* it never sent this fingerprint */
    world_destroy(x);
}

static void test_a_list_is_forgotten_with_its_session(void **state)
{
    struct world *x = world_create(1);
    struct err e;
    world_claims(x, 1, TWO);
    assert_int_equal(send_part(x, 1, 0, 2, &e), -EAGAIN);
    watch_close(x->w, world_node(x, 1), world_node(x, 1));
    world_open(x, 1, 1);
    assert_int_equal(send_part(x, 1, 1, 2, &e), -EINVAL);
    assert_int_equal(send_part(x, 1, 0, 2, &e), -EAGAIN);
    world_run(x, 40); /* and when the rest does not come */
    assert_int_equal(send_part(x, 1, 1, 2, &e), -EINVAL);
    world_destroy(x);
}

static int send_half_of_a_large_list(struct world *x, int i)
{
    char hex[FINGERPRINT_HEX + 1], name[32];
    bool want;
    CLEANUP_JSON json_t *list = json_object();
    for (int k = 0; k < COMPONENTS_MAX; k++) {
        snprintf(name, sizeof name, "c%05d", k);
        json_object_set_new(list, name, json_string("a value that is forty bytes in length..."));
    }
    snprintf(hex, sizeof hex, "%064d", i);
    assert_int_equal(watch_fingerprint(x->w, world_now(x), world_node(x, i), hex, &want, NULL), 0);
    CLEANUP_JSON json_t *body =
        json_pack("{s:s,s:i,s:i,s:O}", "fingerprint", hex, "part", 0, "parts", 2, "components", list);
    return watch_components(x->w, world_now(x), world_node(x, i), body, NULL);
}

static void test_lists_in_parts_have_so_much_room_and_no_more(void **state)
{
    struct world *x = world_create(NODES);
    int i = 1;
    while (i <= NODES && send_half_of_a_large_list(x, i) == -EAGAIN)
        i++;
    assert_in_range(i, 20, NODES);
    assert_int_equal(send_half_of_a_large_list(x, i), -ENOSPC);
    assert_int_equal(send_half_of_a_large_list(x, 1), -EAGAIN); /* in the place of its own */
    watch_close(x->w, world_node(x, 2), world_node(x, 2));
    assert_int_equal(send_half_of_a_large_list(x, i), -EAGAIN);
    world_destroy(x);
}

struct wanted {
    unsigned n;
    char last[32];
};

static void on_want(void *arg, struct member *m, const char *fingerprint)
{
    struct wanted *k = arg;
    k->n++;
    snprintf(k->last, sizeof k->last, "%s", m->name);
    assert_int_equal(strlen(fingerprint), FINGERPRINT_HEX);
}

static void test_another_node_is_asked_after_a_while(void **state)
{
    struct world *x = world_create(3);
    struct wanted k = {0};
    assert_true(world_claims(x, 1, A));
    assert_false(world_claims(x, 2, A));
    assert_false(world_claims(x, 3, A));
    watch_wanted(x->w, world_now(x), on_want, &k);
    assert_int_equal(k.n, 0);
    world_run(x, 6);
    watch_wanted(x->w, world_now(x), on_want, &k);
    assert_int_equal(k.n, 1);
    assert_string_not_equal(k.last, "lx01");
    watch_wanted(x->w, world_now(x), on_want, &k);
    assert_int_equal(k.n, 1);
    world_run(x, 6);
    watch_close(x->w, world_node(x, 1), world_node(x, 1));
    watch_close(x->w, world_node(x, 2), world_node(x, 2));
    for (int i = 0; i < 3; i++)
        watch_wanted(x->w, world_now(x), on_want, &k);
    assert_int_equal(k.n, 2);
    assert_string_equal(k.last, "lx03");
    struct err e;
    assert_int_equal(world_sends(x, 3, A, A, 9, &e), 0);
    world_run(x, 12);
    watch_wanted(x->w, world_now(x), on_want, &k);
    assert_int_equal(k.n, 2);
    world_destroy(x);
}

/* A node has one question at a time, whatever it sends. */
static void test_a_node_that_says_much_keeps_no_other_from_being_asked(void **state)
{
    struct world *x = world_create(3);
    char list[32];
    for (int i = 0; i < 200; i++) {
        snprintf(list, sizeof list, "kernel.release=%d", i);
        world_claims(x, 1, list);
    }
    assert_true(world_claims(x, 2, B));
    world_destroy(x);
}

static void test_a_node_that_does_not_answer_holds_up_nobody(void **state)
{
    struct world *x = world_create(3);
    struct wanted k = {0};
    assert_true(world_claims(x, 1, A));
    assert_false(world_claims(x, 2, A));
    for (int i = 0; i < 8; i++) {
        world_run(x, 1);
        assert_false(
            world_claims(x, 1, A)); /* it repeats the fingerprint, and does not answer the question */
        watch_wanted(x->w, world_now(x), on_want, &k);
    }
    assert_string_equal(k.last, "lx02");
    world_destroy(x);
}

static void on_want_note(void *arg, struct member *m, const char *fingerprint)
{
    text_printf(arg, "%s ", m->name);
}

/* Two kinds, so that questions to one do not move the turn of the other. */
static void test_silent_nodes_are_asked_in_turn(void **state)
{
    struct world *x = world_create(4);
    CLEANUP_TEXT struct text asked = {0};
    assert_true(world_claims(x, 1, A));
    assert_false(world_claims(x, 2, A));
    assert_false(world_claims(x, 3, A));
    assert_true(world_claims(x, 4, B));
    for (int i = 0; i < 4; i++) {
        world_run(x, 6);
        watch_wanted(x->w, world_now(x), on_want_note, &asked);
    }
    assert_string_equal(asked.s, "lx02 lx04 lx03 lx04 lx01 lx04 lx02 lx04 ");
    world_destroy(x);
}

static void test_a_liar_is_marked_and_believed_nothing(void **state)
{
    struct world *x = world_create(3);
    struct err e;
    world_says(x, 2, 3, A);
    world_accept(x, "lx02");
    assert_true(world_claims(x, 1, B));
    assert_int_equal(world_sends(x, 1, B, A, 9, &e), -EBADMSG);
    char *said = strchr(x->log.s, ' ');
    assert_ptr_equal(strstr(said, " alarm.fingerprint lx01: it claims the fingerprint list_"), said);
    text_clear(&x->log);
    world_stands(x, 1, "unknown", "the components that it sent do not hash to its fingerprint");
    struct standing s;
    watch_standing(x->w, world_now(x), world_node(x, 1), &s, NULL);
    assert_true(s.lies);
    /* From now on it has to show each list, even a known one. */
    world_run(x, 6);
    assert_true(world_claims(x, 1, A));
    world_run(x, 2);
    world_stands(x, 1, "unknown", "the components that it sent do not hash to its fingerprint");
    assert_null(world_cohort(x, 1));
    assert_int_equal(world_sends(x, 1, A, B, 9, &e), -EBADMSG);
    world_says_nothing(x); /* one alarm is enough */
    world_run(x, 6);
    assert_true(world_claims(x, 1, A));
    assert_int_equal(world_sends(x, 1, A, A, 9, &e), 0);
    world_stands(x, 1, "conformant", "");
    world_destroy(x);
}

/* A sensitive node shows each leader once a list that is already known. */
static void test_a_sensitive_node_is_not_believed_by_name(void **state)
{
    struct world *x = world_create(3);
    struct err e;
    world_configure(x, NULL, 0, "lx02");
    world_says(x, 1, 1, A);
    assert_false(world_claims(x, 3, A));
    assert_true(world_claims(x, 2, A));
    assert_int_equal(world_sends(x, 2, A, A, 100, &e), 0);
    world_reboot(x, 2);
    assert_false(world_claims(x, 2, A));
    world_accept(x, "lx01");
    world_lead_anew(x);
    world_open(x, 1, 3);
    assert_true(world_claims(x, 2, A)); /* the list is known by the baseline */
    assert_int_equal(world_sends(x, 2, A, B, 100, &e), -EBADMSG);
    world_stands(x, 2, "unknown", "the components that it sent do not hash to its fingerprint");
    world_destroy(x);
}

static void test_few_nodes_are_asked_for_known_lists(void **state)
{
    struct world *x = world_create(100);
    world_configure(x, NULL, 0, "lx[02-99]");
    world_says(x, 1, 1, A);
    unsigned before = x->wants;
    for (int i = 2; i <= 99; i++)
        world_claims(x, i, A);
    assert_int_equal(x->wants - before, 8);
    assert_true(world_claims(x, 100, B));
    world_destroy(x);
}

static void test_a_text_that_is_no_fingerprint_is_refused(void **state)
{
    struct world *x = world_create(1);
    struct err e;
    bool want = true;
    assert_int_equal(watch_fingerprint(x->w, world_now(x), world_node(x, 1), "ABC", &want, &e), -EINVAL);
    assert_string_equal(e.msg, "\"ABC\" is no fingerprint; it has 64 hex digits in lower case");
    assert_false(want);
    CLEANUP_JSON json_t *body = json_pack("{s:s}", "fingerprint", "ABC");
    assert_int_equal(watch_components(x->w, world_now(x), world_node(x, 1), body, &e), -EINVAL);
    world_destroy(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ten_equal_nodes_cost_one_list),
        cmocka_unit_test(test_a_list_comes_in_parts),
        cmocka_unit_test(test_parts_out_of_order_are_refused_and_a_first_part_begins_anew),
        cmocka_unit_test(test_a_list_is_forgotten_with_its_session),
        cmocka_unit_test(test_lists_in_parts_have_so_much_room_and_no_more),
        cmocka_unit_test(test_another_node_is_asked_after_a_while),
        cmocka_unit_test(test_a_node_that_says_much_keeps_no_other_from_being_asked),
        cmocka_unit_test(test_a_node_that_does_not_answer_holds_up_nobody),
        cmocka_unit_test(test_silent_nodes_are_asked_in_turn),
        cmocka_unit_test(test_a_liar_is_marked_and_believed_nothing),
        cmocka_unit_test(test_a_sensitive_node_is_not_believed_by_name),
        cmocka_unit_test(test_few_nodes_are_asked_for_known_lists),
        cmocka_unit_test(test_a_text_that_is_no_fingerprint_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
