/* SPDX-License-Identifier: Apache-2.0
 *
 * Long answers, which are made in slices.
 */
#include "api/slices.h"

#include "api/stage_test.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

enum { LARGE = 10000, LARGE_KINDS = 20, ALL_DIFFER = 1000, MODULES = 50 };

static struct world make_large(struct mono now)
{
    struct world w = world_make_large(LARGE, now);
    world_show(&w, LARGE_KINDS, 0);
    return w;
}

static struct world make_all_differ(struct mono now)
{
    struct world w = world_make_large(ALL_DIFFER, now);
    world_show(&w, ALL_DIFFER, MODULES);
    return w;
}

static int open_all_differ(void **state)
{
    return stage_open(state, make_all_differ, 1);
}

static int open_large(void **state)
{
    return stage_open(state, make_large, 1);
}

static size_t count_of(const json_t *o, const char *key)
{
    return (size_t)json_integer_value(json_object_get(o, key));
}

/* Many nodes come out whole. How long it took is printed, not judged. */
static void test_large(void **state)
{
    struct stage *s = *state;
    CLEANUP_JSON json_t *groups = stage_ask_large(s, "/v1/conform/groups");
    assert_int_equal(json_array_size(json_object_get(groups, "groups")), LARGE_KINDS);
    assert_int_equal(json_array_size(json_object_get(groups, "alone")), 0);
    CLEANUP_JSON json_t *classes = stage_ask_large(s, "/v1/classes");
    assert_int_equal(count_of(json_array_get(json_object_get(classes, "classes"), 0), "unknown"), LARGE);
    CLEANUP_JSON json_t *place = stage_ask_large(s, "/v1/place?count=4096");
    assert_int_equal(count_of(place, "count"), 4096);
    CLEANUP_JSON json_t *features = stage_ask_large(s, "/v1/slurm/features");
    assert_int_equal(json_array_size(json_object_get(features, "nodes")), LARGE_KINDS);

    CLEANUP_JSON json_t *diff = stage_ask_large(s, "/v1/conform/diff/n00001?with=n00002");
    const json_t *differences = json_object_get(diff, "differences");
    assert_int_equal(json_array_size(differences), 1);
    const json_t *one = json_array_get(differences, 0);
    assert_int_equal(count_of(one, "also_count"), LARGE / LARGE_KINDS - 1);
    CLEANUP_HOSTLIST struct hostlist also = {0};
    assert_int_equal(hostlist_parse(json_string_value(json_object_get(one, "also")), &also, NULL), 0);
    assert_int_equal(also.n, 256); /* of them, and no more */
    assert_string_equal(also.names[0], "n00021");
}

/* Names that a call gives are looked for some at a time, and each is there or is refused. */
static void test_a_long_list_of_names(void **state)
{
    struct stage *s = *state;
    CLEANUP_TEXT struct text refused = {0};
    CLEANUP_JSON json_t *some = stage_ask_large(s, "/v1/nodes?nodes=n%5B00101-10000%5D!n00200&fields=Name");
    const json_t *nodes = json_object_get(some, "nodes");
    assert_int_equal(json_array_size(nodes), LARGE - 101);
    assert_string_equal(json_string_value(json_object_get(json_array_get(nodes, 99), "Name")), "n00201");
    assert_int_equal(wire_ask(&s->wire, "GET", "/v1/nodes?nodes=n%5B00001-10100%5D", NULL, &refused), 404);
    assert_non_null(strstr(refused.s, "no node \\\"n10001\\\", \\\"n10002\\\", \\\"n10003\\\" and 97 more"));
}

/* A connection that has asked for the whole table, which takes long, and was overtaken by somebody. */
static int ask_and_be_overtaken(struct stage *s)
{
    CLEANUP_TEXT struct text other = {0};
    char byte;
    int fd = wire_connect(&s->wire, "GET /v1/nodes HTTP/1.1\r\nHost: h\r\n\r\n");
    for (unsigned before = s->revisions; s->revisions == before;)
        wire_turn(&s->wire);
    int quick = wire_connect(&s->wire, "GET /v1/brakes HTTP/1.1\r\nHost: h\r\n\r\n");
    wire_read_until(&s->wire, quick, &other, "\"budgets\":[");
    assert_int_equal(recv(fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK), -1); /* no byte of the answer is there */
    close(quick);
    return fd;
}

/* What is about all nodes is made in slices, between which others have their turn. */
static void test_nobody_waits_for_a_long_answer(void **state)
{
    struct stage *s = *state;
    CLEANUP_TEXT struct text t = {0};
    int fd = ask_and_be_overtaken(s);
    wire_read_until(&s->wire, fd, &t, "n10000");
    assert_non_null(strstr(t.s, "HTTP/1.1 200 "));
    close(fd);
}

/* A client that goes away takes its answer with it. */
static void test_a_long_answer_that_nobody_waits_for(void **state)
{
    struct stage *s = *state;
    CLEANUP_TEXT struct text t = {0};
    close(ask_and_be_overtaken(s));
    assert_int_equal(wire_ask(&s->wire, "GET", "/v1/brakes", NULL, &t), 200);
}

static void set_policy_anew(void *arg)
{
    static const struct api_policy fresh = {.readers = API_READERS_NOBODY};
    api_set_policy(((struct stage *)arg)->api, &fresh);
}

/* Classes are others after a reload. */
static void test_a_reload_during_a_long_answer(void **state)
{
    struct stage *s = *state;
    CLEANUP_TEXT struct text t = {0};
    s->wire.each_turn = set_policy_anew;
    s->wire.arg = s;
    assert_int_equal(wire_ask(&s->wire, "GET", "/v1/conform/groups", NULL, &t), 503);
    assert_non_null(strstr(t.s, "ask again"));
}

/* Where every node is different in much, who else has a component is looked for as long as it is cheap;
 * the differences are all there. */
static void test_all_differ(void **state)
{
    struct stage *s = *state;
    CLEANUP_JSON json_t *diff = stage_ask_large(s, "/v1/conform/diff/n00001?with=n00002");
    const json_t *differences = json_object_get(diff, "differences");
    assert_int_equal(json_array_size(differences), MODULES + 1);
    assert_string_equal(json_string_value(json_object_get(json_array_get(differences, 0), "also")), "");
    const json_t *last = json_array_get(differences, MODULES);
    assert_string_equal(json_string_value(json_object_get(last, "kind")), "different");
    assert_true(json_is_null(json_object_get(last, "also")));
    assert_true(json_is_null(json_object_get(last, "also_count")));
}

/* --- names that belong together --------------------------------------------------------------- */

static void test_a_pile_keeps_its_names_in_order(void **state)
{
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i"};
    struct pile p = {0};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        pile_add(&p, names[i]); /* past its first room, and past the second */
    assert_int_equal(p.n, sizeof names / sizeof names[0]);
    for (size_t i = 0; i < p.n; i++)
        assert_string_equal(p.names[i], names[i]);
    pile_fini(&p);
    assert_int_equal(p.n, 0);
}

static int compare_kinds(const void *a, const void *b)
{
    const struct bin *x = *(struct bin *const *)a, *y = *(struct bin *const *)b;
    return x->key.kind < y->key.kind ? -1 : x->key.kind > y->key.kind;
}

static void test_a_bin_is_of_one_cohort_and_one_kind(void **state)
{
    struct cohort one = {.number = 1}, other = {.number = 2};
    struct bins bins = {0};
    memset(&other.id, 7, sizeof other.id);
    memset(&one.id, 1, sizeof one.id);
    struct bin *first = bins_get(&bins, &one, 9);
    assert_ptr_equal(bins_get(&bins, &one, 9), first);
    assert_ptr_not_equal(bins_get(&bins, &one, 3), first);
    assert_ptr_not_equal(bins_get(&bins, &other, 9), first);
    struct bin *none = bins_get(&bins, NULL, 5);
    assert_int_equal(none->number, COHORT_NONE);
    assert_int_equal(bins.n, 4);
    one.number = 77; /* it is used anew, and the fingerprint is the same */
    assert_ptr_equal(bins_get(&bins, &one, 9), first);
    CLEANUP_FREE struct bin **sorted = bins_sort(&bins, compare_kinds);
    assert_int_equal(sorted[0]->key.kind, 3);
    assert_int_equal(sorted[1]->key.kind, 5);
    bins_fini(&bins);
    assert_int_equal(bins.n, 0);
    CLEANUP_FREE struct bin **empty = bins_sort(&bins, compare_kinds);
    assert_non_null(empty);
}

static void test_a_pile_is_folded_in_several_steps(void **state)
{
    static char names[200][8];
    struct slices s = {.n = 0};
    struct pile p = {0};
    for (size_t i = 0; i < 200; i++) {
        snprintf(names[i], sizeof names[i], "n%03zu", i + 1);
        pile_add(&p, names[i]);
    }
    unsigned steps = 1;
    while (!slices_fold(&s, &p))
        steps++;
    assert_true(steps > 1);
    assert_string_equal(s.text.s, "\"n[001-200]\"");
    const struct pile none = {0};
    text_clear(&s.text);
    assert_true(slices_fold(&s, &none));
    assert_string_equal(s.text.s, "\"\"");
    text_fini(&s.text);
    pile_fini(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_large, open_large, stage_close),
        cmocka_unit_test_setup_teardown(test_a_long_list_of_names, open_large, stage_close),
        cmocka_unit_test_setup_teardown(test_nobody_waits_for_a_long_answer, open_large, stage_close),
        cmocka_unit_test_setup_teardown(test_a_long_answer_that_nobody_waits_for, open_large, stage_close),
        cmocka_unit_test_setup_teardown(test_a_reload_during_a_long_answer, open_large, stage_close),
        cmocka_unit_test_setup_teardown(test_all_differ, open_all_differ, stage_close),
        cmocka_unit_test(test_a_pile_keeps_its_names_in_order),
        cmocka_unit_test(test_a_bin_is_of_one_cohort_and_one_kind),
        cmocka_unit_test(test_a_pile_is_folded_in_several_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
