/* SPDX-License-Identifier: Apache-2.0 */
/* Records of roles.conf at their edges: a slip in the file must never give anybody a role. */
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

static unsigned roles_of(const struct grants *g, const struct principal *p)
{
    struct tenancy t = {0};
    unsigned roles = grants_roles(g, p, &t);
    tenancy_fini(&t);
    return roles;
}

static unsigned local_roles(const struct grants *g, const char *user)
{
    return roles_of(g, &(struct principal){.kind = ACCESS_LOCAL, .name = user});
}

static void names_stand_as_they_are_written(void **state)
{
    struct grants g;
    assert_int_equal(take("Role=operator Users=\" alice ,\tbob\t, carl  jones\"", &g, NULL), 0);
    assert_int_equal(g.list[0].names[GRANT_USERS].n, 3);
    assert_string_equal(g.list[0].names[GRANT_USERS].names[0], "alice");
    assert_string_equal(g.list[0].names[GRANT_USERS].names[1], "bob");
    assert_string_equal(g.list[0].names[GRANT_USERS].names[2], "carl  jones");
    assert_int_equal(local_roles(&g, "Alice"), 0);
    assert_int_equal(local_roles(&g, "alic"), 0);
    assert_int_equal(local_roles(&g, "alice "), 0);
    grants_fini(&g);
}

/* A name with brackets is one name, and no list of names. */
static void brackets_are_no_list(void **state)
{
    struct grants g;
    assert_int_equal(take("Role=administrator Users=op[1-2],*", &g, NULL), 0);
    assert_int_equal(local_roles(&g, "op1"), 0);
    assert_int_equal(local_roles(&g, "anybody"), 0);
    assert_int_equal(local_roles(&g, "op[1-2]"), ROLE_BIT(ACCESS_ADMINISTRATOR));
    grants_fini(&g);
}

static void a_principal_may_have_no_groups(void **state)
{
    CLEANUP_HOSTLIST struct hostlist none = {0};
    struct grants g;
    assert_int_equal(take("Role=viewer Groups=ops\nRole=operator SubjectGroups=ops", &g, NULL), 0);
    assert_int_equal(roles_of(&g, &(struct principal){ACCESS_LOCAL, "ops", NULL, NULL}), 0);
    assert_int_equal(roles_of(&g, &(struct principal){ACCESS_LOCAL, "ops", &none, NULL}), 0);
    assert_int_equal(roles_of(&g, &(struct principal){ACCESS_TOKEN, "ops", NULL, NULL}), 0);
    grants_fini(&g);
}

static void blank_names_are_refused(void **state)
{
    static const char *const values[] = {"\" \"", "\"a, ,b\"", "\"a,\"", "\",a\"", "\"a,\t\""};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        CLEANUP_TEXT struct text t = {0};
        struct grants g;
        struct err e = {0};
        text_printf(&t, "Role=viewer Certificates=%s", values[i]);
        assert_int_equal(take(t.s, &g, &e), -EINVAL);
        assert_non_null(strstr(e.msg, "roles.conf:1: Certificates: a name in "));
    }
}

/* One wrong record leaves none of the others. */
static void nothing_is_left_of_a_wrong_file(void **state)
{
    struct grants g;
    struct err e = {0};
    assert_int_equal(take("Role=viewer Users=a\nRole=operator Users=b\nRole=none Users=c\n", &g, &e),
                     -EINVAL);
    assert_non_null(strstr(e.msg, "roles.conf:3: Role: there is no role \"none\""));
    assert_int_equal(g.n, 0);
    assert_null(g.list);
    assert_int_equal(local_roles(&g, "a"), 0);
    grants_fini(&g);
}

static void a_long_value_is_cut_in_the_sentence(void **state)
{
    CLEANUP_TEXT struct text t = {0};
    struct grants g;
    struct err e = {0};
    text_add(&t, "Role=viewer Users=");
    for (int i = 0; i < 300; i++)
        text_add_char(&t, 'x');
    text_add(&t, ",,");
    assert_int_equal(take(t.s, &g, &e), -EINVAL);
    assert_null(memchr(e.msg, ',', strlen(e.msg)));
}

static void the_most_records_are_taken(void **state)
{
    CLEANUP_TEXT struct text t = {0};
    struct grants g;
    struct err e = {0};
    for (int i = 0; i < GRANTS_MAX; i++)
        text_printf(&t, "Role=viewer Users=u%d\n", i);
    assert_int_equal(take(t.s, &g, NULL), 0);
    assert_int_equal(g.n, GRANTS_MAX);
    assert_int_equal(local_roles(&g, "u999"), ROLE_BIT(ACCESS_VIEWER));
    grants_fini(&g);
    text_add(&t, "Role=viewer Users=more\n");
    assert_int_equal(take(t.s, &g, &e), -EINVAL);
    assert_string_equal(e.msg, "roles.conf: more than 1000 records");
}

static void an_empty_file_gives_nothing(void **state)
{
    struct grants g;
    assert_int_equal(take("# nobody\n\n", &g, NULL), 0);
    assert_int_equal(g.n, 0);
    assert_int_equal(local_roles(&g, "root"), 0);
    for (int k = ACCESS_NOBODY; k <= ACCESS_TOKEN; k++)
        assert_false(grants_want_groups(&g, (enum access_kind)k));
    grants_fini(&g);
    grants_fini(&g);
}

static void groups_of_one_kind_are_wanted_for_that_kind(void **state)
{
    struct grants g;
    assert_int_equal(take("Role=viewer Users=a\nRole=viewer Groups=ops", &g, NULL), 0);
    assert_true(grants_want_groups(&g, ACCESS_LOCAL));
    assert_false(grants_want_groups(&g, ACCESS_TOKEN));
    assert_false(grants_want_groups(&g, ACCESS_CERTIFICATE));
    assert_false(grants_want_groups(&g, ACCESS_NOBODY));
    grants_fini(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_stand_as_they_are_written),
        cmocka_unit_test(brackets_are_no_list),
        cmocka_unit_test(a_principal_may_have_no_groups),
        cmocka_unit_test(blank_names_are_refused),
        cmocka_unit_test(nothing_is_left_of_a_wrong_file),
        cmocka_unit_test(a_long_value_is_cut_in_the_sentence),
        cmocka_unit_test(the_most_records_are_taken),
        cmocka_unit_test(an_empty_file_gives_nothing),
        cmocka_unit_test(groups_of_one_kind_are_wanted_for_that_kind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
