/* SPDX-License-Identifier: Apache-2.0 */
/* RoleConf, and the parameters of the tokens' issuer. */
#include "controller/config/config_fixture_test.h"

#include <string.h>

static void the_records_of_roles_are_read(void **state)
{
    struct config c =
        config_good(config_with_file("RoleConf", "roles.conf",
                                     "Role=operator Users=alice\n# none\nRole=viewer Subjects=77\n", ""),
                    "Name=lx01\n", NULL);
    assert_int_equal(c.grants.n, 2);
    assert_int_equal(c.grants.list[0].role, ACCESS_OPERATOR);
    assert_string_equal(c.grants.list[1].names[GRANT_SUBJECTS].names[0], "77");
    config_fini(&c);
    c = config_good("", "Name=lx01\n", NULL);
    assert_int_equal(c.grants.n, 0);
    config_fini(&c);
}

static void wrong_records_of_roles_are_refused(void **state)
{
    assert_string_equal(
        config_bad(config_with_file("RoleConf", "roles.conf", "Role=viewer Users=a\nRole=boss Users=a\n", ""),
                   "Name=lx01\n", NULL),
        "roles.conf:2: Role: there is no role \"boss\"");
    assert_string_equal(config_bad("RoleConf = /nowhere/roles.conf\n", "Name=lx01\n", NULL),
                        "fettle.conf:3: RoleConf: /nowhere/roles.conf: No such file or directory");
}

static void a_tenant_that_nobody_knows_is_a_likely_mistake(void **state)
{
    struct config c = config_good(
        config_with_file("RoleConf", "roles.conf", "\nRole=claimant Subjects=a Tenants=physic\n", ""),
        "Name=lx01\n", NULL);
    assert_non_null(strstr(c.warnings.s, "roles.conf:2: tenant \"physic\" is not in TenantConf"));
    config_fini(&c);
}

static void other_records_are_a_change(void **state)
{
    CLEANUP_TEXT struct text changes = {0};
    struct config was = config_good(config_with_file("RoleConf", "roles.conf", "Role=viewer Users=a\n", ""),
                                    "Name=lx01\n", NULL);
    struct config same = config_good(
        config_with_file("RoleConf", "roles.conf", "# a\nRole=viewer   Users=a\n", ""), "Name=lx01\n", NULL);
    struct config other = config_good(config_with_file("RoleConf", "roles.conf", "Role=viewer Users=b\n", ""),
                                      "Name=lx01\n", NULL);
    config_compare(&was, &same, &changes);
    assert_int_equal(changes.len, 0);
    config_compare(&was, &other, &changes);
    assert_string_equal(changes.s, "the records of RoleConf changed\n");
    config_fini(&was);
    config_fini(&same);
    config_fini(&other);
}

static void an_issuer_is_an_https_url_with_an_audience(void **state)
{
    static const struct {
        const char *text, *why;
    } mistakes[] = {
        {"OidcAudience = fettle\n", "fettle.conf:3: OidcAudience: an audience without OidcIssuer"},
        {"OidcIssuer = https://login.example\n", "fettle.conf:3: OidcIssuer: an issuer without OidcAudience: "
                                                 "its tokens for other services would count"},
        {"OidcIssuer = http://login.example\nOidcAudience = fettle\n",
         "fettle.conf:3: OidcIssuer: not a URL like https://login.example/realms/hpc"},
        {"OidcIssuer = https://\nOidcAudience = fettle\n",
         "fettle.conf:3: OidcIssuer: not a URL like https://login.example/realms/hpc"},
        {"OidcIssuer = https://a@login.example\nOidcAudience = fettle\n",
         "fettle.conf:3: OidcIssuer: not a URL like https://login.example/realms/hpc"},
    };
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++)
        assert_string_equal(config_bad(mistakes[i].text, "Name=lx01\n", NULL), mistakes[i].why);
    struct config c = config_good("OidcIssuer = https://login.example/realms/hpc/\nOidcAudience = fettle\n",
                                  "Name=lx01\n", NULL);
    assert_string_equal(c.text[SETTING_OIDC_ISSUER],
                        "https://login.example/realms/hpc/"); /* with its slash */
    config_fini(&c);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, config_setup, config_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_records_of_roles_are_read),
        TEST(wrong_records_of_roles_are_refused),
        TEST(a_tenant_that_nobody_knows_is_a_likely_mistake),
        TEST(other_records_are_a_change),
        TEST(an_issuer_is_an_https_url_with_an_audience),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
