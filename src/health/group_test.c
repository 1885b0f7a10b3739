/* SPDX-License-Identifier: Apache-2.0 */
#include "health/group.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* What is wrong in a cluster of nodes: some of them, and links between two of them. */
struct truth {
    size_t n_bad, n_links;
    uint32_t bad[4];
    uint32_t links[4][2];
};

static bool in_run(const struct run *r, uint32_t node)
{
    for (size_t k = 0; k < r->n; k++)
        if (r->nodes[k] == node)
            return true;
    return false;
}

static enum run_result result_in(const struct truth *t, const struct run *r)
{
    for (size_t i = 0; i < t->n_bad; i++)
        if (in_run(r, t->bad[i]))
            return RUN_FAIL;
    for (size_t i = 0; i < t->n_links; i++)
        if (in_run(r, t->links[i][0]) && in_run(r, t->links[i][1]))
            return RUN_FAIL;
    return RUN_PASS;
}

/* Runs everything; each round has each node once at most. Returns the rounds. */
static size_t run_all(struct grouping *g, size_t n, const struct truth *t)
{
    size_t rounds = 0;
    for (size_t some; (some = grouping_next(g)) > 0; rounds++) {
        bool *seen = calloc(n + 1, 1);
        assert_true(rounds < 100);
        assert_int_equal(grouping_next(g), 0); /* they are pending */
        for (size_t i = grouping_runs(g) - some; i < grouping_runs(g); i++) {
            const struct run *r = grouping_run(g, i);
            assert_int_equal(r->result, RUN_PENDING);
            assert_true(r->n >= 2);
            for (size_t k = 0; k < r->n; k++) {
                assert_true(r->nodes[k] < n && !seen[r->nodes[k]]);
                assert_true(k == 0 || r->nodes[k - 1] < r->nodes[k]);
                seen[r->nodes[k]] = true;
            }
        }
        free(seen);
        for (size_t i = grouping_runs(g) - some; i < grouping_runs(g); i++)
            grouping_set(g, i, result_in(t, grouping_run(g, i)));
    }
    return rounds;
}

static size_t count(const struct grouping *g, size_t n, enum node_verdict v)
{
    size_t found = 0;
    for (uint32_t i = 0; i < n; i++)
        found += grouping_verdict(g, i) == v;
    return found;
}

static size_t count_shared(const struct grouping *g)
{
    size_t found = 0;
    for (size_t i = 0; i < grouping_runs(g); i++)
        found += grouping_shared(g, i);
    return found;
}

static void where_all_is_well_each_runs_once(void **state)
{
    const struct truth well = {0};
    for (size_t size = 2; size <= 8; size++) {
        struct grouping *g = grouping_create(16, size);
        assert_true(run_all(g, 16, &well) <= 2);
        assert_int_equal(count(g, 16, NODE_GOOD), 16);
        assert_int_equal(count_shared(g), 0);
        grouping_destroy(g);
    }
}

static void nobody_is_left_over(void **state)
{
    const struct truth well = {0};
    for (size_t n = 2; n < 20; n++) {
        struct grouping *g = grouping_create(n, 4);
        run_all(g, n, &well);
        assert_int_equal(count(g, n, NODE_GOOD), n);
        grouping_destroy(g);
    }
}

static void a_bad_node_is_found_in_groups_of_any_size(void **state)
{
    for (size_t size = 2; size <= 16; size++) {
        for (uint32_t bad = 0; bad < 16; bad++) {
            const struct truth t = {.n_bad = 1, .bad = {bad}};
            struct grouping *g = grouping_create(16, size);
            run_all(g, 16, &t);
            assert_int_equal(grouping_verdict(g, bad), NODE_BAD);
            assert_int_equal(count(g, 16, NODE_GOOD), 15);
            assert_int_equal(count_shared(g), 0);
            grouping_destroy(g);
        }
    }
}

static void a_bad_link_blames_no_node(void **state)
{
    for (size_t size = 2; size <= 16; size *= 2) {
        const struct truth t = {.n_links = 1, .links = {{4, 5}}};
        struct grouping *g = grouping_create(16, size);
        run_all(g, 16, &t);
        assert_int_equal(count(g, 16, NODE_GOOD), 16);
        assert_int_equal(count_shared(g), 1);
        for (size_t i = 0; i < grouping_runs(g); i++)
            if (grouping_shared(g, i))
                assert_true(in_run(grouping_run(g, i), 4) && in_run(grouping_run(g, i), 5));
        grouping_destroy(g);
    }
}

static void several_bad_ones(void **state)
{
    const struct truth t = {.n_bad = 3, .bad = {0, 1, 9}};
    struct grouping *g = grouping_create(12, 2);
    run_all(g, 12, &t);
    assert_int_equal(count(g, 12, NODE_BAD), 3);
    assert_int_equal(count(g, 12, NODE_GOOD), 9);
    grouping_destroy(g);
}

static void without_witnesses_nobody_is_blamed(void **state)
{
    const struct truth all = {.n_bad = 4, .bad = {0, 1, 2, 3}};
    struct grouping *g = grouping_create(4, 2);
    run_all(g, 4, &all);
    assert_int_equal(count(g, 4, NODE_SUSPECT), 4);
    grouping_destroy(g);
    const struct truth pair = {.n_bad = 1, .bad = {0}};
    g = grouping_create(2, 2);
    run_all(g, 2, &pair);
    assert_int_equal(count(g, 2, NODE_SUSPECT), 2);
    assert_int_equal(count_shared(g), 0);
    grouping_destroy(g);
}

static void one_partner_is_no_proof(void **state)
{
    struct grouping *g = grouping_create(4, 2);
    assert_int_equal(grouping_next(g), 2);
    grouping_set(g, 0, RUN_FAIL); /* 0 and 1 */
    grouping_set(g, 1, RUN_PASS); /* 2 and 3 */
    assert_int_equal(grouping_verdict(g, 0), NODE_SUSPECT);
    assert_int_equal(grouping_next(g), 2);
    grouping_set(g, 2, RUN_FAIL);
    grouping_set(g, 3, RUN_PASS);
    assert_int_equal(grouping_run(g, 2)->nodes[0], 0);
    assert_int_equal(grouping_verdict(g, 1), NODE_GOOD);
    assert_int_equal(grouping_verdict(g, 0), NODE_BAD); /* with 1 before, which is good as is seen now */
    grouping_destroy(g);
}

static void a_run_without_a_result_is_tried_once_more(void **state)
{
    struct grouping *g = grouping_create(4, 2);
    assert_int_equal(grouping_next(g), 2);
    grouping_set(g, 0, RUN_UNKNOWN);
    grouping_set(g, 1, RUN_PASS);
    assert_int_equal(grouping_next(g), 1);
    grouping_set(g, 2, RUN_UNKNOWN);
    assert_int_equal(grouping_next(g), 0);
    assert_int_equal(grouping_verdict(g, 0), NODE_UNTRIED);
    assert_int_equal(grouping_verdict(g, 2), NODE_GOOD);
    grouping_destroy(g);
}

static void the_same_runs_give_the_same_answer(void **state)
{
    const struct truth t = {.n_bad = 1, .bad = {7}, .n_links = 1, .links = {{2, 3}}};
    struct grouping *a = grouping_create(24, 6), *b = grouping_create(24, 6);
    run_all(a, 24, &t);
    run_all(b, 24, &t);
    assert_int_equal(grouping_runs(a), grouping_runs(b));
    for (size_t i = 0; i < grouping_runs(a); i++)
        assert_memory_equal(grouping_run(a, i)->nodes, grouping_run(b, i)->nodes,
                            grouping_run(a, i)->n * sizeof(uint32_t));
    assert_int_equal(grouping_verdict(a, 7), NODE_BAD);
    assert_int_equal(count_shared(a), 1);
    grouping_destroy(a);
    grouping_destroy(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(where_all_is_well_each_runs_once),
        cmocka_unit_test(nobody_is_left_over),
        cmocka_unit_test(a_bad_node_is_found_in_groups_of_any_size),
        cmocka_unit_test(a_bad_link_blames_no_node),
        cmocka_unit_test(several_bad_ones),
        cmocka_unit_test(without_witnesses_nobody_is_blamed),
        cmocka_unit_test(one_partner_is_no_proof),
        cmocka_unit_test(a_run_without_a_result_is_tried_once_more),
        cmocka_unit_test(the_same_runs_give_the_same_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
