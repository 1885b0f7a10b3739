/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/fixture_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define KEY "02aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define ADMITTED "{\"at\":\"5\",\"by\":\"ann\",\"key\":\"" KEY "\",\"envelope\":\"MIIB\"}"
#define REMOVED "{\"at\":\"6\",\"by\":\"bob\",\"why\":\"sold\"}"

static void note(void *arg, const struct controller_record *r)
{
    text_printf(arg, "%s%s ", r->name, r->why ? "-" : "+");
}

static void test_records_are_taken_in_order_of_their_names(void **state)
{
    struct world *w = *state;
    uint64_t before = cluster_digest(w->c);
    CLEANUP_TEXT struct text names = {0};
    world_takes(w, "controller/c2", ADMITTED);
    world_takes(w, "controller/c2", REMOVED);
    assert_int_equal(cluster_put(w->c, "controller/c2", REMOVED, NULL), 0);
    assert_int_equal(cluster_put(w->c, "controller/c1", REMOVED, NULL), 0);
    assert_int_equal(cluster_put(w->c, "controller/c2", ADMITTED, NULL), 0);
    cluster_each_controller(w->c, note, &names);
    assert_string_equal(names.s, "c1- c2+ ");
    const struct controller_record *r = cluster_controller(w->c, "c2");
    assert_int_equal(r->at.ns, 5);
    assert_string_equal(r->key, KEY);
    assert_string_equal(r->envelope, "MIIB");
    assert_null(r->why);
    assert_string_equal(cluster_controller(w->c, "c1")->why, "sold");
    assert_null(cluster_controller(w->c, "c3"));
    assert_int_not_equal(cluster_digest(w->c), before);
    assert_int_equal(cluster_put(w->c, "controller/c1", NULL, NULL), 0);
    assert_int_equal(cluster_put(w->c, "controller/c2", NULL, NULL), 0);
    assert_int_equal(cluster_put(w->c, "controller/c2", NULL, NULL), 0);
    assert_int_equal(cluster_digest(w->c), before);
}

static void test_malformed_records(void **state)
{
    struct world *w = *state;
    static const char *const bad[][2] = {
        {"controller/", ADMITTED},
        {"controller/c 2", ADMITTED},
        {"controller/c2", "[]"},
        {"controller/c2", "{}"},
        {"controller/c2", "{\"at\":\"5\",\"by\":\"ann\"}"},
        {"controller/c2", "{\"at\":5,\"by\":\"ann\",\"why\":\"sold\"}"},
        {"controller/c2", "{\"at\":\"5\",\"by\":\"ann\",\"key\":\"02aa\",\"envelope\":\"MIIB\"}"},
        {"controller/c2", "{\"at\":\"5\",\"by\":\"ann\",\"key\":\"" KEY "\",\"envelope\":7}"},
        {"controller/c2",
         "{\"at\":\"5\",\"by\":\"ann\",\"key\":\"" KEY "\",\"envelope\":\"M\",\"why\":\"x\"}"},
        {"controller/c2", "{\"at\":\"5\",\"by\":\"ann\",\"key\":\"" KEY "\",\"envelope\":\"M\",\"x\":1}"}};
    uint64_t before = cluster_digest(w->c);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(cluster_put(w->c, bad[i][0], bad[i][1], NULL), -EILSEQ);
    assert_int_equal(cluster_digest(w->c), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_records_are_taken_in_order_of_their_names, world_setup,
                                        world_teardown),
        cmocka_unit_test_setup_teardown(test_malformed_records, world_setup, world_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
