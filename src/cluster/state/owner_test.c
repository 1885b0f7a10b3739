/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/fixture_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void test_an_owner_is_written_as_it_was_read(void **state)
{
    static const struct {
        const char *name;
        struct owner is;
    } cases[] = {{"physics", {.tenant = "physics"}},
                 {"physics/batch", {.tenant = "physics", .vcluster = "batch"}},
                 {"physics:12", {.tenant = "physics", .allocation = "12"}},
                 {"a/b:c", {.tenant = "a", .vcluster = "b", .allocation = "c"}},
                 {"@ann", {.person = "ann"}},
                 {"physics@ann", {.person = "ann", .tenant = "physics"}},
                 {"p@a@b/c:d", {.person = "a@b/c:d", .tenant = "p"}},
                 {"@https://id.example/x:7", {.person = "https://id.example/x:7"}}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char buf[OWNER_NAME_BYTES_MAX + 1];
        struct owner o;
        assert_int_equal(owner_parse(cases[i].name, &o, NULL), 0);
        assert_memory_equal(&o, &cases[i].is, sizeof o);
        assert_string_equal(owner_name(&o, buf), cases[i].name);
    }
}

static void test_a_name_that_is_no_owner_is_refused(void **state)
{
    static const char *const names[] = {"",          "@",    "@a b",  "a/",    "a:",    "/b",
                                        ":1",        "a b",  "a/b/c", "a:b:c", "a:b/c", "-a",
                                        "@\xc3\xa4", "a/@b", "a@",    "a/b@c", "a:1@c", " @a"};
    char longest[PERSON_BYTES_MAX + 3] = {0};
    struct owner o;
    struct err e;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (owner_parse(names[i], &o, &e) != -EINVAL)
            fail_msg("\"%s\" is an owner", names[i]);
    memset(longest, 'a', TENANT_NAME_BYTES_MAX + 1);
    assert_int_equal(owner_parse(longest, &o, &e), -EINVAL);
    longest[TENANT_NAME_BYTES_MAX] = '\0';
    assert_int_equal(owner_parse(longest, &o, &e), 0);
    memset(longest, 'a', PERSON_BYTES_MAX + 2);
    longest[0] = '@';
    assert_int_equal(owner_parse(longest, &o, &e), -EINVAL);
    longest[PERSON_BYTES_MAX + 1] = '\0';
    assert_int_equal(owner_parse(longest, &o, &e), 0);
}

static void test_owners_and_tenants_are_found(void **state)
{
    struct world *w = *state;
    size_t n;
    world_configure(w, "lx[01-06]; tenant physics Nodes=4; tenant bio Allocations=2; pool 3", NULL);
    world_ask(w, COMMAND_OWNER_CLAIM, "root", "lx[01-03]", quoted("{'to':'physics:7'}"), NULL);
    world_ask(w, COMMAND_OWNER_CLAIM, "root", "lx04", quoted("{'to':'bio'}"), NULL);
    assert_int_equal(cluster_tenant_use(w->c, "physics").nodes, 3);
    assert_int_equal(cluster_tenant_use(w->c, "physics").allocations, 1);
    assert_int_equal(cluster_tenant_use(w->c, "bio").allocations, 0);
    assert_int_equal(cluster_tenant_use(w->c, "chem").nodes, 0);
    assert_int_equal(cluster_tenant(w->c, "physics")->nodes, 4);
    assert_int_equal(cluster_tenant(w->c, "physics")->allocations, QUOTA_NONE);
    assert_null(cluster_tenant(w->c, "chem"));
    assert_int_equal(cluster_sensitive_pool(w->c), 3);
    const struct tenant *tenants;
    assert_int_equal(cluster_tenants(w->c, &tenants), 2);
    assert_string_equal(tenants[1].name, "bio");
    const struct ownership **all = cluster_owners(w->c, &n);
    assert_int_equal(n, 2);
    assert_string_equal(all[0]->name, "bio");
    assert_ptr_equal(all[1], cluster_owner(w->c, "physics:7"));
    assert_ptr_equal(cluster_find(w->c, "lx02")->owner, all[1]);
    assert_null(cluster_find(w->c, "lx05")->owner);
    assert_null(cluster_owner(w->c, "physics"));
    free(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_owner_is_written_as_it_was_read),
        cmocka_unit_test(test_a_name_that_is_no_owner_is_refused),
        cmocka_unit_test_setup_teardown(test_owners_and_tenants_are_found, world_setup, world_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
