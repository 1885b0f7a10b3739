/* SPDX-License-Identifier: Apache-2.0 */
/* The records of TenantConf. */
#include "controller/config/config_fixture_test.h"
#include "controller/config/config_inside.h"

#include <string.h>

static const char *settings(const char *tenants)
{
    return config_with_file("TenantConf", "tenants", tenants, "");
}

static void test_tenants_have_quotas(void **state)
{
    struct config c = config_good(settings("# who may own nodes\nTenant=physics Nodes=64 Allocations=10\n"
                                           "tenant=bio allocations=0\n"),
                                  "Name=lx01\n", NULL);
    assert_int_equal(c.roster.n_tenants, 2);
    assert_string_equal(c.roster.tenants[0].name, "physics");
    assert_int_equal(c.roster.tenants[0].nodes, 64);
    assert_int_equal(c.roster.tenants[0].allocations, 10);
    assert_int_equal(c.roster.tenants[1].nodes, QUOTA_NONE);
    assert_int_equal(c.roster.tenants[1].allocations, 0);
    assert_string_equal(c.agreed.part[CONFIG_TENANTS].s,
                        "Tenant=\"physics\" Nodes=\"64\" Allocations=\"10\"\n"
                        "tenant=\"bio\" allocations=\"0\"\n");
    config_fini(&c);
    c = config_good("SensitivePool = 3\n", "Name=lx01\n", NULL);
    assert_int_equal(c.roster.n_tenants, 0);
    assert_int_equal(c.roster.sensitive_pool, 3);
    assert_int_equal(c.watch.health.wipe_deadline.ns, span_s(1800).ns);
    assert_false(c.roster.wipes);
    config_fini(&c);
    c = config_good(config_with_file("RemedyConf", "remedies",
                                     "Remedy=wipe Run=\"script:/bin/true\" Helps=none Confidence=50% "
                                     "Because=\"released\" Takes=1m\n",
                                     ""),
                    "Name=lx01\n", NULL);
    assert_true(c.roster.wipes);
    assert_null(strstr(c.warnings.s ? c.warnings.s : "", "Helps"));
    config_fini(&c);
}

static void test_bad_tenants(void **state)
{
    static const struct {
        const char *text, *why;
    } mistakes[] = {
        {"Nodes=1\n", "tenants:1: a record without Tenant"},
        {"Tenant=a\nTenant=a\n", "tenants:2: tenant a stands twice"},
        {"Tenant=a/b\n", "tenants:1: Tenant: \"a/b\" is not of 1 to 63 letters"},
        {"Tenant=a Nodes=many\n", "tenants:1: Nodes: \"many\" is not a number from 0 to 1000000"},
        {"Tenant=a Node=1\n", "tenants:1: unknown key \"Node\"; the nearest known is \"Nodes\""},
    };
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        const char *why = config_bad(settings(mistakes[i].text), "Name=lx01\n", NULL);
        if (!strstr(why, mistakes[i].why))
            fail_msg("\"%s\" does not say \"%s\"", why, mistakes[i].why);
    }
}

static void test_a_reload_says_what_changed(void **state)
{
    CLEANUP_TEXT struct text t = {0};
    struct config was = config_good(settings("Tenant=a Nodes=1\nTenant=b\nTenant=c\n"), "Name=lx01\n", NULL);
    struct config is = config_good(settings("Tenant=a Nodes=2\nTenant=b\nTenant=d\n"), "Name=lx01\n", NULL);
    config_compare_tenants(&was, &is, &t);
    assert_string_equal(t.s, "tenant a changed: Nodes=2 Allocations=unlimited\n"
                             "tenant d added: Nodes=unlimited Allocations=unlimited\n"
                             "tenant c removed\n");
    config_fini(&was);
    config_fini(&is);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, config_setup, config_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_tenants_have_quotas),
        TEST(test_bad_tenants),
        TEST(test_a_reload_says_what_changed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
