/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/fixture_test.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define ASKS "00112233445566778899aabbccddeeff"

enum { OPS = 126, DAY_S = 24 * 60 * 60 };

static void take(struct world *w, struct decision *d)
{
    for (size_t i = 0; i < d->n_ops; i++)
        assert_int_equal(cluster_put(w->c, d->ops[i].key, d->ops[i].value, NULL), 0);
}

/* A commit at this time with `n` requests that nobody made before; returns how many records it has. */
static size_t remember(struct world *w, uint64_t revision, int64_t at_s, size_t n)
{
    enum { N_MAX = 128 };
    static char ids[N_MAX][REQUEST_ID_BYTES_MAX + 1];
    struct command commands[N_MAX];
    struct request_note notes[N_MAX];
    struct decision d = {0};
    CLEANUP_HOSTLIST struct hostlist nodes = {0};
    hostlist_add(&nodes, "lx01");
    for (size_t i = 0; i < n; i++) {
        snprintf(ids[i], sizeof ids[i], "request-%08llu-%03zu", (unsigned long long)revision, i);
        commands[i] = (struct command){.kind = COMMAND_DRAIN,
                                       .actor = "root",
                                       .at = {at_s * INT64_C(1000000000)},
                                       .nodes = &nodes,
                                       .request = {ids[i], ASKS, 0}};
        notes[i] = (struct request_note){&commands[i], 1, &nodes, "7.1"};
    }
    cluster_remember(w->c, revision, notes, n, OPS, &d);
    take(w, &d);
    const size_t ops = d.n_ops;
    decision_fini(&d);
    return ops;
}

static bool remembers(const struct world *w, uint64_t revision)
{
    char id[REQUEST_ID_BYTES_MAX + 1];
    snprintf(id, sizeof id, "request-%08llu-000", (unsigned long long)revision);
    return cluster_request(w->c, id) != NULL;
}

static void test_a_commit_is_one_record_however_many_requests_it_has(void **state)
{
    struct world *w = *state;
    assert_int_equal(remember(w, 5, 100, 1), 1);
    assert_int_equal(remember(w, 6, 100, 120), 1);
    assert_true(remembers(w, 5) && remembers(w, 6));
}

static void test_after_a_day_a_request_leaves_with_the_next_commit(void **state)
{
    struct world *w = *state;
    remember(w, 1, 100, 1);
    remember(w, 2, 200, 1);
    assert_int_equal(remember(w, 3, 100 + DAY_S, 1), 1);
    assert_true(remembers(w, 1));
    assert_int_equal(remember(w, 4, 101 + DAY_S, 1), 2);
    assert_false(remembers(w, 1));
    assert_true(remembers(w, 2) && remembers(w, 3) && remembers(w, 4));
}

static void test_a_flood_of_ids_makes_the_oldest_leave(void **state)
{
    struct world *w = *state;
    uint64_t revision = 0;
    size_t most = 0;
    for (size_t i = 0; i < 2 * (size_t)REQUESTS_MAX; i += 100) {
        const size_t ops = remember(w, ++revision, 100, 100);
        most = ops > most ? ops : most;
    }
    assert_int_equal(most, 2); /* one comes, one leaves */
    assert_false(remembers(w, 1));
    assert_true(remembers(w, revision) && remembers(w, revision - REQUESTS_MAX / 100 + 1));
    assert_false(remembers(w, revision - REQUESTS_MAX / 100));
}

/* Many commits with one request each, and then a flood: more leave than come, until the number is right. */
static void test_no_commit_lets_more_leave_than_it_has_room_for(void **state)
{
    struct world *w = *state;
    uint64_t revision = 0;
    for (size_t i = 0; i < REQUESTS_MAX; i++)
        assert_int_equal(remember(w, ++revision, 100, 1), 1);
    assert_int_equal(remember(w, ++revision, 100, 100), 1 + REQUESTS_LEAVE_MAX);
    assert_false(remembers(w, REQUESTS_LEAVE_MAX));
    assert_true(remembers(w, REQUESTS_LEAVE_MAX + 1));
    for (size_t i = 0; i < 2 * (size_t)REQUESTS_MAX / 16; i++)
        remember(w, ++revision, 100, 1);
    assert_int_equal(remember(w, ++revision, 100, 1), 2);
}

/* The nodes that the request named stand for it (state/request.h). */
static void test_a_long_list_of_nodes_is_not_kept(void **state)
{
    struct world *w = *state;
    struct decision d = {0};
    CLEANUP_HOSTLIST struct hostlist nodes = {0};
    for (int i = 0; i < 600; i++) {
        char name[32];
        snprintf(name, sizeof name, "lx%d", 3 * i);
        hostlist_add(&nodes, name);
    }
    const struct command cmd = {.kind = COMMAND_DRAIN,
                                .actor = "root",
                                .at = {1},
                                .nodes = &nodes,
                                .request = {"request-with-nodes", ASKS, 0}};
    const struct request_note note = {&cmd, 600, &nodes, NULL};
    cluster_remember(w->c, 7, &note, 1, OPS, &d);
    assert_in_range(strlen(d.ops[0].value), 1, 300);
    take(w, &d);
    decision_fini(&d);
    const struct remembered *r = cluster_request(w->c, "request-with-nodes");
    assert_true(remembered_is_whole(r));
    assert_null(r->parts[0].changed);
    assert_null(r->parts[0].claim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_commit_is_one_record_however_many_requests_it_has, world_setup,
                                        world_teardown),
        cmocka_unit_test_setup_teardown(test_after_a_day_a_request_leaves_with_the_next_commit, world_setup,
                                        world_teardown),
        cmocka_unit_test_setup_teardown(test_a_flood_of_ids_makes_the_oldest_leave, world_setup,
                                        world_teardown),
        cmocka_unit_test_setup_teardown(test_a_long_list_of_nodes_is_not_kept, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(test_no_commit_lets_more_leave_than_it_has_room_for, world_setup,
                                        world_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
