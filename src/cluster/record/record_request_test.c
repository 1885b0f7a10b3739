/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/fixture_test.h"
#include "cluster/record/record.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define ID "0123456789abcdef"
#define ASKS "00112233445566778899aabbccddeeff"
#define KEY "request/00000000000000000008"
#define ONE(id) \
    "{'id':'" id "','by':'root','asks':'" ASKS "','next':2,'of':2,'changed':'lx[01-02]','claim':'1.1'}"
#define MADE(list) "{'at':'7','made':[" list "]}"

static void test_a_record_is_read_and_written(void **state)
{
    struct world *w = *state;
    CLEANUP_TEXT struct text t = {0};
    CLEANUP_FREE char *name = request_key(8);
    const struct request_made m = {ID, "root", ASKS, 8, "", 2, 2, "lx[01-02]", "1.1"};
    assert_string_equal(name, "00000000000000000008");
    text_add(&t, "{\"at\":\"7\",\"made\":[");
    request_made_write(&m, &t);
    text_add(&t, "]}");
    assert_string_equal(t.s, quoted(MADE(ONE(ID))));
    world_takes(w, KEY, quoted(MADE(ONE(ID))));
}

/* A store without ids has the digest that it had before there were any. */
static void test_only_what_is_remembered_is_in_the_digest(void **state)
{
    struct world *w = *state;
    const uint64_t before = cluster_digest(w->c);
    assert_int_equal(cluster_put(w->c, KEY, quoted(MADE(ONE(ID) "," ONE("fedcba9876543210"))), NULL), 0);
    assert_true(cluster_digest(w->c) != before);
    assert_int_equal(cluster_put(w->c, KEY, NULL, NULL), 0);
    assert_true(cluster_digest(w->c) == before);
}

static void test_damaged_records_are_refused(void **state)
{
    struct world *w = *state;
    static const char *const bad[][2] = {
        {"[]", "no object"},
        {"{'made':[" ONE(ID) "]}", "\"at\" is missing"},
        {"{'at':'7','made':[]}", "is no list of 1 to"},
        {"{'at':'7','made':{}}", "is no list of 1 to"},
        {MADE("7"), "a request that is no object"},
        {MADE(ONE("short")), "is no id of a request"},
        {MADE("{'id':'" ID "','by':'root','asks':'x','next':0}"), "\"of\" is missing"},
        {MADE("{'id':'" ID "','by':'root','asks':'x','next':0,'of':9999999}"), "of"},
        {MADE("{'id':'" ID "','by':'root','asks':'x','next':0,'of':0,'changed':7}"), "changed"},
        {MADE("{'id':'" ID "','by':'root','asks':'x','next':0,'of':0,'node':'a b'}"),
         "not the name of a node"},
        {MADE("{'id':'" ID "','by':'root','asks':'x','next':0,'of':0,'more':1}"), "more"}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        world_refuses(w, KEY, quoted(bad[i][0]), bad[i][1]);
    world_refuses(w, "request/8", quoted(MADE(ONE(ID))), "no revision of 20 digits");
    world_refuses(w, "request/0000000000000000000x", quoted(MADE(ONE(ID))), "no revision of 20 digits");
    world_refuses(w, "request/00000000000000000000", quoted(MADE(ONE(ID))), "no revision of 20 digits");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_record_is_read_and_written, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(test_only_what_is_remembered_is_in_the_digest, world_setup,
                                        world_teardown),
        cmocka_unit_test_setup_teardown(test_damaged_records_are_refused, world_setup, world_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
