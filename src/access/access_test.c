/* SPDX-License-Identifier: Apache-2.0 */
#include "access/access.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int take(const char *text, struct grants *g, struct err *e)
{
    struct conf file;
    *g = (struct grants){0};
    assert_int_equal(conf_parse("roles.conf", text, strlen(text), CONF_RECORDS, &file, e), 0);
    int rc = grants_read(&file, g, e);
    conf_fini(&file);
    return rc;
}

static unsigned roles_of(const struct grants *g, enum access_kind kind, const char *name, const char *group)
{
    CLEANUP_HOSTLIST struct hostlist groups = {0};
    if (group)
        hostlist_add(&groups, group);
    struct tenancy t = {0};
    unsigned roles = grants_roles(g, &(struct principal){kind, name, &groups, NULL}, &t);
    assert_int_equal(t.everywhere, roles);
    assert_int_equal(t.n, 0);
    return roles;
}

enum {
    OPERATES = ROLE_BIT(ACCESS_OPERATOR),
    VIEWS = ROLE_BIT(ACCESS_VIEWER),
    ADMINISTERS = ROLE_BIT(ACCESS_ADMINISTRATOR)
};

static void records_give_roles(void **state)
{
    static const char text[] = "Role=operator Users=alice,bob Groups=\"hpc ops,wheel\" Subjects=auth0|77\n"
                               "# a comment\n"
                               "role=administrator subjectgroups=root-of-all certificates=carl\n"
                               "Role=viewer Users=alice\n";
    struct grants g;
    assert_int_equal(take(text, &g, NULL), 0);
    assert_int_equal(roles_of(&g, ACCESS_LOCAL, "alice", NULL), OPERATES | VIEWS);
    assert_int_equal(roles_of(&g, ACCESS_LOCAL, "bob", NULL), OPERATES);
    assert_int_equal(roles_of(&g, ACCESS_LOCAL, "carl", "hpc ops"), OPERATES);
    assert_int_equal(roles_of(&g, ACCESS_LOCAL, "carl", "wheel"), OPERATES);
    assert_int_equal(roles_of(&g, ACCESS_LOCAL, "carl", "users"), 0);
    assert_int_equal(roles_of(&g, ACCESS_TOKEN, "auth0|77", NULL), OPERATES);
    assert_int_equal(roles_of(&g, ACCESS_TOKEN, "x", "root-of-all"), ADMINISTERS);
    assert_int_equal(roles_of(&g, ACCESS_CERTIFICATE, "carl", NULL), ADMINISTERS);
    grants_fini(&g);
}

/* The same name, proven in another way, is somebody else. */
static void an_identity_is_of_its_kind(void **state)
{
    static const char text[] = "Role=administrator Users=alice Groups=ops\n"
                               "Role=operator Subjects=sue SubjectGroups=team\n"
                               "Role=viewer Certificates=carl\n";
    static const char *const names[] = {"alice", "sue", "carl", "ops", "team"};
    struct grants g;
    assert_int_equal(take(text, &g, NULL), 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_int_equal(roles_of(&g, ACCESS_NOBODY, names[i], names[i]), 0);
        assert_int_equal(roles_of(&g, ACCESS_LOCAL, names[i], NULL) != 0, i == 0);
        assert_int_equal(roles_of(&g, ACCESS_TOKEN, names[i], NULL) != 0, i == 1);
        assert_int_equal(roles_of(&g, ACCESS_CERTIFICATE, names[i], names[i]) != 0, i == 2);
        assert_int_equal(roles_of(&g, ACCESS_LOCAL, "x", names[i]) != 0, i == 3);
        assert_int_equal(roles_of(&g, ACCESS_TOKEN, "x", names[i]) != 0, i == 4);
    }
    assert_int_equal(roles_of(&g, ACCESS_LOCAL, "", NULL), 0);
    grants_fini(&g);
}

/* Where a record binds its role, the role holds for these tenants and for nothing else. */
static void records_bind_roles_to_tenants(void **state)
{
    enum {
        TENDS = ROLE_BIT(ACCESS_TENANT_ADMINISTRATOR),
        CLAIMS = ROLE_BIT(ACCESS_CLAIMANT),
        SCHEDULES = ROLE_BIT(ACCESS_SCHEDULER)
    };
    static const char text[] = "Role=tenant-administrator Subjects=sue,tom Tenants=physics,chem\n"
                               "Role=claimant SubjectGroups=users TokenTenants=yes\n"
                               "Role=claimant Subjects=sue Tenants=physics TokenTenants=no\n"
                               "Role=scheduler Certificates=slurm\n"
                               "Role=scheduler Certificates=batch,slurm Tenants=chem\n"
                               "Role=tenant-administrator Users=ann\n";
    static const struct {
        enum access_kind kind;
        const char *name;
        bool is_user; /* and the token names the tenant bio */
        unsigned roles, everywhere, physics, chem, bio;
        const char *only; /* for a claimant */
    } cases[] = {
        {ACCESS_TOKEN, "sue", false, TENDS | CLAIMS, 0, TENDS | CLAIMS, TENDS, 0, "physics"},
        {ACCESS_TOKEN, "sue", true, TENDS | CLAIMS, 0, TENDS | CLAIMS, TENDS, CLAIMS, NULL},
        {ACCESS_TOKEN, "tom", true, TENDS | CLAIMS, 0, TENDS, TENDS, CLAIMS, "bio"},
        {ACCESS_TOKEN, "joe", true, CLAIMS, 0, 0, 0, CLAIMS, "bio"},
        {ACCESS_TOKEN, "joe", false, 0, 0, 0, 0, 0, NULL},
        {ACCESS_LOCAL, "sue", true, 0, 0, 0, 0, 0, NULL},
        {ACCESS_CERTIFICATE, "slurm", false, SCHEDULES, SCHEDULES, SCHEDULES, SCHEDULES, SCHEDULES, NULL},
        {ACCESS_CERTIFICATE, "batch", false, SCHEDULES, 0, 0, SCHEDULES, 0, NULL},
        {ACCESS_LOCAL, "ann", false, TENDS, 0, 0, 0, 0, NULL},
    };
    CLEANUP_HOSTLIST struct hostlist users = {0}, bio = {0};
    struct grants g;
    hostlist_add(&users, "users");
    hostlist_add(&bio, "bio");
    assert_int_equal(take(text, &g, NULL), 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tenancy t = {0};
        const struct principal p = {cases[i].kind, cases[i].name, cases[i].is_user ? &users : NULL,
                                    cases[i].is_user ? &bio : NULL};
        assert_int_equal(grants_roles(&g, &p, &t), cases[i].roles);
        assert_int_equal(t.everywhere, cases[i].everywhere);
        assert_int_equal(tenancy_roles(&t, ""), cases[i].everywhere);
        assert_int_equal(tenancy_roles(&t, "physics"), cases[i].physics);
        assert_int_equal(tenancy_roles(&t, "chem"), cases[i].chem);
        assert_int_equal(tenancy_roles(&t, "bio"), cases[i].bio);
        const char *only = tenancy_only(&t, CLAIMS);
        assert_true(only ? cases[i].only && strcmp(only, cases[i].only) == 0 : !cases[i].only);
        tenancy_fini(&t);
    }
    grants_fini(&g);
}

static void add_tenant(void *arg, const char *tenant, int line)
{
    text_printf(arg, "%d %s;", line, tenant);
}

static void tenants_of_records_are_told_with_their_line(void **state)
{
    struct grants g;
    CLEANUP_TEXT struct text t = {0};
    assert_int_equal(take("Role=viewer Users=a\n\nRole=claimant Subjects=b Tenants=x,y\n", &g, NULL), 0);
    grants_each_tenant(&g, add_tenant, &t);
    assert_string_equal(t.s, "3 x;3 y;");
    grants_fini(&g);
}

static void wrong_records_are_refused(void **state)
{
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"Role=admin Users=a", "roles.conf:1: Role: there is no role \"admin\""},
        {"Role=operater Users=a",
         "roles.conf:1: Role: there is no role \"operater\"; the nearest is \"operator\""},
        {"Role=viewer User=a", "roles.conf:1: unknown key \"User\"; the nearest known is \"Users\""},
        {"Role=viewer", "roles.conf:1: the record does not say whose role this is"},
        {"Users=a", "roles.conf:1: the record does not say which role it gives"},
        {"Role=viewer Users=a\nRole=viewer Users=a,,b", "roles.conf:2: Users: a name in \"a,,b\" is empty"},
        {"Role=viewer Users=", "roles.conf:1: Users: a name in \"\" is empty"},
        {"Role=viewer Users=a Tenants=x", "roles.conf:1: the role viewer holds for no tenant in particular"},
        {"Role=administrator Subjects=a TokenTenants=yes",
         "roles.conf:1: the role administrator holds for no tenant in particular"},
        {"Role=claimant Users=a TokenTenants=yes",
         "roles.conf:1: TokenTenants is for Subjects and SubjectGroups"},
        {"Role=claimant Subjects=a TokenTenants=maybe",
         "roles.conf:1: TokenTenants: \"maybe\" is neither yes nor no"},
        {"Role=claimant Subjects=a Tenants=", "roles.conf:1: Tenants: a name in \"\" is empty"},
        {"Role=claimant Subjects=a Tenant=x",
         "roles.conf:1: unknown key \"Tenant\"; the nearest known is \"Tenants\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct grants g;
        struct err e = {0};
        assert_int_equal(take(cases[i].text, &g, &e), -EINVAL);
        if (strcmp(e.msg, cases[i].why) != 0)
            fail_msg("%s: %s", cases[i].text, e.msg);
        assert_int_equal(g.n, 0);
        assert_null(g.list);
    }
}

static void too_many_records_are_refused(void **state)
{
    CLEANUP_TEXT struct text t = {0};
    struct grants g;
    for (int i = 0; i <= GRANTS_MAX; i++)
        text_add(&t, "Role=viewer Users=a\n");
    assert_int_equal(take(t.s, &g, NULL), -EINVAL);
}

static void groups_are_wanted_where_a_record_names_one(void **state)
{
    struct grants g;
    assert_int_equal(take("Role=viewer Users=a Subjects=b", &g, NULL), 0);
    assert_false(grants_want_groups(&g, ACCESS_LOCAL));
    grants_fini(&g);
    assert_int_equal(take("Role=viewer SubjectGroups=a", &g, NULL), 0);
    assert_false(grants_want_groups(&g, ACCESS_LOCAL));
    assert_true(grants_want_groups(&g, ACCESS_TOKEN));
    grants_fini(&g);
}

/* Nothing is permitted that the table does not name; an administrator may do all that people do. */
static void a_right_is_of_its_roles_alone(void **state)
{
    for (int r = 0; r < ACCESS_RIGHTS; r++) {
        const enum access_right right = (enum access_right)r;
        for (int role = 0; role < ACCESS_ROLES; role++)
            assert_int_equal(access_permits(right, ROLE_BIT(role)),
                             right == RIGHT_IDENTIFY || (access_right_roles(right) & ROLE_BIT(role)));
        assert_int_equal(access_permits(right, 0), right == RIGHT_IDENTIFY);
        assert_true(access_permits(right, ADMINISTERS));
        assert_false(access_right_changes(right) && access_permits(right, VIEWS));
        assert_false(right != RIGHT_IDENTIFY && access_permits(right, ROLE_BIT(ACCESS_AGENT)));
    }
    assert_false(access_permits(RIGHT_ADMINISTER, ~ADMINISTERS));
}

static void roles_have_names(void **state)
{
    CLEANUP_TEXT struct text t = {0};
    for (int r = 0; r < ACCESS_ROLES; r++) {
        enum access_role found;
        assert_int_equal(access_role_find(access_role_name((enum access_role)r), &found, NULL), 0);
        assert_int_equal(found, r);
    }
    access_roles_say(VIEWS | ADMINISTERS, " or ", &t);
    assert_string_equal(t.s, "viewer or administrator");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_give_roles),
        cmocka_unit_test(an_identity_is_of_its_kind),
        cmocka_unit_test(records_bind_roles_to_tenants),
        cmocka_unit_test(tenants_of_records_are_told_with_their_line),
        cmocka_unit_test(wrong_records_are_refused),
        cmocka_unit_test(too_many_records_are_refused),
        cmocka_unit_test(groups_are_wanted_where_a_record_names_one),
        cmocka_unit_test(a_right_is_of_its_roles_alone),
        cmocka_unit_test(roles_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
