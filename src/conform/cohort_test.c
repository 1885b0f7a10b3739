/* SPDX-License-Identifier: Apache-2.0 */
#include "conform/cohort.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct fingerprint id_of(uint32_t n)
{
    struct fingerprint f = {0};
    for (int i = 0; i < 4; i++)
        f.bytes[i] = (unsigned char)(n >> (24 - 8 * i));
    return f;
}

static void set(struct cohorts *c, uint32_t node, uint32_t id)
{
    struct fingerprint f = id_of(id);
    cohorts_set(c, node, &f);
}

static void count_node(void *arg, uint32_t node)
{
    ((unsigned *)arg)[node]++;
}

static void test_nodes_of_one_fingerprint_are_one_cohort(void **state)
{
    struct cohorts *c = cohorts_create();
    set(c, 0, 7);
    set(c, 5, 7);
    set(c, 3, 9);
    struct fingerprint f = id_of(7);
    const struct cohort *k = cohorts_find(c, &f);
    assert_int_equal(k->n, 2);
    assert_true(fingerprint_equal(&k->id, &f));
    assert_int_not_equal(k->number, COHORT_NONE);
    assert_ptr_equal(cohorts_of(c, 0), k);
    assert_ptr_equal(cohorts_of(c, 5), k);
    assert_ptr_equal(cohorts_by_number(c, k->number), k);
    assert_int_equal(cohorts_number_of(c, 5), k->number);
    assert_int_not_equal(cohorts_number_of(c, 3), k->number);
    assert_int_equal(cohorts_count(c), 2);
    cohorts_destroy(c);
    cohorts_destroy(NULL);
}

static void test_a_node_without_a_fingerprint_is_in_none(void **state)
{
    struct cohorts *c = cohorts_create();
    assert_null(cohorts_largest(c));
    assert_null(cohorts_of(c, 1000000));
    cohorts_set(c, 1, NULL);
    cohorts_set(c, 2, NULL);
    assert_null(cohorts_of(c, 1));
    assert_int_equal(cohorts_number_of(c, 1), COHORT_NONE);
    assert_int_equal(cohorts_count(c), 0);
    set(c, 1, 1);
    cohorts_set(c, 1, NULL);
    assert_null(cohorts_of(c, 1));
    struct fingerprint f = id_of(1);
    assert_null(cohorts_find(c, &f));
    assert_null(cohorts_by_number(c, 0));
    assert_null(cohorts_by_number(c, 1));
    assert_null(cohorts_by_number(c, 99));
    cohorts_destroy(c);
}

static void test_a_number_is_given_again(void **state)
{
    struct cohorts *c = cohorts_create();
    for (uint32_t i = 0; i < 1000; i++)
        set(c, i % 3, i);
    assert_int_equal(cohorts_count(c), 3);
    assert_true(cohorts_number_max(c) <= 4); /* a node joins before it leaves */
    cohorts_destroy(c);
}

static void test_the_largest_and_among_equals_the_lowest_fingerprint(void **state)
{
    struct cohorts *c = cohorts_create();
    set(c, 0, 50);
    set(c, 1, 40);
    assert_int_equal(cohorts_largest(c)->id.bytes[3], 40);
    set(c, 2, 50);
    assert_int_equal(cohorts_largest(c)->id.bytes[3], 50);
    set(c, 3, 40);
    assert_int_equal(cohorts_largest(c)->id.bytes[3], 40);
    cohorts_set(c, 3, NULL);
    assert_int_equal(cohorts_largest(c)->id.bytes[3], 50);
    cohorts_destroy(c);
}

/* A model that looks at everything, after each of many changes. */
enum { NODES = 60, IDS = 12, NONE = 0 };

static void check_against(const struct cohorts *c, const uint32_t *id_of_node)
{
    uint32_t n[IDS] = {0}, cohorts = 0, best = NONE;
    for (uint32_t i = 0; i < NODES; i++)
        n[id_of_node[i]]++;
    for (uint32_t k = 1; k < IDS; k++) {
        struct fingerprint f = id_of(k);
        const struct cohort *found = cohorts_find(c, &f);
        assert_int_equal(found ? found->n : 0, n[k]);
        cohorts += n[k] > 0;
        best = n[k] > 0 && (best == NONE || n[k] > n[best]) ? k : best;
        if (!found)
            continue;
        assert_true(found->number <= cohorts_number_max(c));
        unsigned seen[NODES] = {0};
        cohort_each(c, found, count_node, seen);
        for (uint32_t i = 0; i < NODES; i++)
            assert_int_equal(seen[i], id_of_node[i] == k);
    }
    assert_int_equal(cohorts_count(c), cohorts);
    struct fingerprint f = id_of(best);
    assert_ptr_equal(cohorts_largest(c), best ? cohorts_find(c, &f) : NULL);
}

static void test_many_changes_against_a_model(void **state)
{
    unsigned seed = 3;
    struct cohorts *c = cohorts_create();
    uint32_t id_of_node[NODES] = {0};
    for (int step = 0; step < 20000; step++) {
        uint32_t node = (uint32_t)rand_r(&seed) % NODES, id = (uint32_t)rand_r(&seed) % IDS;
        struct fingerprint f = id_of(id);
        cohorts_set(c, node, id ? &f : NULL);
        id_of_node[node] = id;
        if (step < 300 || step % 50 == 0)
            check_against(c, id_of_node);
    }
    cohorts_destroy(c);
}

/* Cohorts go one after the other, in turn the largest and any: which one is the largest is always known. */
static void all_go(uint32_t nodes, uint32_t kinds, bool own)
{
    unsigned seed = 23;
    uint32_t *id_of_node = calloc(nodes, sizeof *id_of_node), *n = calloc(kinds, sizeof *n);
    struct cohorts *c = cohorts_create();
    for (uint32_t i = 0; i < nodes; i++) {
        uint32_t a = (uint32_t)rand_r(&seed) % kinds, b = (uint32_t)rand_r(&seed) % kinds;
        id_of_node[i] = own ? i : a < b ? a : b;
        n[id_of_node[i]]++;
        set(c, i, id_of_node[i]);
    }
    for (int turn = 0; cohorts_count(c) > 0; turn++) {
        uint32_t best = 0;
        for (uint32_t i = 0; i < kinds; i++)
            best = n[i] > n[best] ? i : best;
        struct fingerprint f = id_of(best);
        assert_ptr_equal(cohorts_largest(c), cohorts_find(c, &f));
        uint32_t go = turn % 2 ? best : (uint32_t)rand_r(&seed) % kinds;
        for (uint32_t i = 0; i < nodes && n[go] > 0; i++)
            if (id_of_node[i] == go)
                cohorts_set(c, i, NULL);
        n[go] = 0;
    }
    free(id_of_node);
    free(n);
    cohorts_destroy(c);
}

static void test_the_largest_while_all_go(void **state)
{
    all_go(5000, 300, false);
    all_go(300, 300, true);
}

static void test_the_list_is_largest_first(void **state)
{
    unsigned seed = 5;
    struct cohorts *c = cohorts_create();
    for (uint32_t i = 0; i < 500; i++)
        set(c, i, (uint32_t)rand_r(&seed) % 100);
    const struct cohort **list;
    cohorts_list(c, &list);
    assert_ptr_equal(list[0], cohorts_largest(c));
    for (size_t i = 1; i < cohorts_count(c); i++)
        assert_true(list[i - 1]->n > list[i]->n || (list[i - 1]->n == list[i]->n &&
                                                    fingerprint_compare(&list[i - 1]->id, &list[i]->id) < 0));
    free(list);
    cohorts_destroy(c);
}

static void test_a_fingerprint_may_be_borrowed_from_a_cohort(void **state)
{
    struct cohorts *c = cohorts_create();
    set(c, 0, 1);
    set(c, 1, 2);
    cohorts_set(c, 0, &cohorts_of(c, 0)->id);
    cohorts_set(c, 0, &cohorts_of(c, 1)->id);
    assert_int_equal(cohorts_count(c), 1);
    assert_int_equal(cohorts_of(c, 0)->n, 2);
    cohorts_destroy(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nodes_of_one_fingerprint_are_one_cohort),
        cmocka_unit_test(test_a_node_without_a_fingerprint_is_in_none),
        cmocka_unit_test(test_a_number_is_given_again),
        cmocka_unit_test(test_the_largest_and_among_equals_the_lowest_fingerprint),
        cmocka_unit_test(test_many_changes_against_a_model),
        cmocka_unit_test(test_the_largest_while_all_go),
        cmocka_unit_test(test_the_list_is_largest_first),
        cmocka_unit_test(test_a_fingerprint_may_be_borrowed_from_a_cohort),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
