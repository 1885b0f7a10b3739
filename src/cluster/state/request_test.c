/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/fixture_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define ID "0123456789abcdef"
#define ASKS "00112233445566778899aabbccddeeff"
#define WHOLE \
    "{'id':'" ID "','by':'root','asks':'" ASKS "','next':2,'of':2,'changed':'lx[01-02]','claim':'1.1'}"
#define EACH(node) \
    "{'id':'" ID "','by':'root','asks':'" ASKS "','node':'" node "','next':0,'of':3,'changed':''}"
#define KEY(n) "request/0000000000000000000" n
#define MADE(list) "{'at':'7','made':[" list "]}"

static void put(struct world *w, const char *key, const char *value)
{
    struct err e = {0};
    if (cluster_put(w->c, key, value ? quoted(value) : NULL, &e) < 0)
        fail_msg("%s: %s", key, e.msg);
}

static void test_ids_have_16_to_64_letters(void **state)
{
    static const char *const good[] = {ID, "8e03978e-40d5-43dd-bc93-6894a57f9324",
                                       "A_b-0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWX"};
    static const char *const bad[] = {"",
                                      "0123456789abcde",
                                      "0123456789abcde ",
                                      "0123456789abcde\n",
                                      "0123456789abcde\xc3\xa4",
                                      "0123456789abcdef/",
                                      "A_b-0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXY"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        if (!request_id_ok(good[i]))
            fail_msg("\"%s\" is refused", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (request_id_ok(bad[i]))
            fail_msg("\"%s\" is taken", bad[i]);
}

static void test_a_request_is_found_with_what_came_of_it(void **state)
{
    struct world *w = *state;
    put(w, KEY("8"), MADE(WHOLE));
    const struct remembered *r = cluster_request(w->c, ID);
    assert_non_null(r);
    assert_null(cluster_request(w->c, ID "x"));
    assert_string_equal(r->by, "root");
    assert_int_equal(r->n, 1);
    assert_true(remembered_is_whole(r));
    assert_int_equal(r->parts[0].revision, 8);
    assert_string_equal(r->parts[0].changed, "lx[01-02]");
    assert_string_equal(r->parts[0].claim, "1.1");
    put(w, KEY("8"), NULL);
    assert_null(cluster_request(w->c, ID));
}

static void test_a_request_of_several_commits_is_whole_with_the_last(void **state)
{
    struct world *w = *state;
    put(w, KEY("9"), MADE(EACH("lx03") "," EACH("lx01")));
    assert_false(remembered_is_whole(cluster_request(w->c, ID)));
    assert_null(remembered_part(cluster_request(w->c, ID), "lx02"));
    put(w, KEY("8"), MADE(EACH("lx02")));
    const struct remembered *r = cluster_request(w->c, ID);
    assert_true(remembered_is_whole(r));
    assert_int_equal(remembered_part(r, "lx02")->revision, 8);
    assert_int_equal(remembered_part(r, "lx03")->revision, 9);
    put(w, KEY("9"), NULL);
    assert_int_equal(cluster_request(w->c, ID)->n, 1);
}

static void test_an_id_belongs_to_one_request_of_one_caller(void **state)
{
    struct world *w = *state;
    struct err e;
    put(w, KEY("8"), MADE(WHOLE));
    const struct remembered *r = cluster_request(w->c, ID);
    assert_int_equal(remembered_check(r, "root", ASKS, &e), 0);
    assert_int_equal(remembered_check(r, "ann", ASKS, &e), -ENOTUNIQ);
    assert_string_equal(e.msg, "another caller used this request id (revision 8)");
    assert_int_equal(remembered_check(r, "root", "0", &e), -ENOTUNIQ);
    assert_string_equal(e.msg, "this request id was used for another request (revision 8)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ids_have_16_to_64_letters),
        cmocka_unit_test_setup_teardown(test_a_request_is_found_with_what_came_of_it, world_setup,
                                        world_teardown),
        cmocka_unit_test_setup_teardown(test_a_request_of_several_commits_is_whole_with_the_last, world_setup,
                                        world_teardown),
        cmocka_unit_test_setup_teardown(test_an_id_belongs_to_one_request_of_one_caller, world_setup,
                                        world_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
