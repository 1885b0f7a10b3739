/* SPDX-License-Identifier: Apache-2.0 */
/* Every change of owners, and the reading of each, with every role and every kind of owner: the whole matrix
 * is in test/data/api/reach.txt. */
#include "api/reach.h"

#include "api/golden_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Each role is held for physics alone, where a record can say so. */
static const char records[] = "Role=viewer Subjects=viewer\n"
                              "Role=operator Subjects=operator\n"
                              "Role=administrator Subjects=administrator\n"
                              "Role=tenant-administrator Subjects=tenant-administrator,both Tenants=physics\n"
                              "Role=claimant Subjects=claimant,program Users=user Tenants=physics\n"
                              "Role=claimant Subjects=both,free Tenants=chem,bio\n"
                              "Role=agent Subjects=agent\n"
                              "Role=scheduler Subjects=scheduler Tenants=physics\n"
                              "Role=scheduler Subjects=all\n"
                              "Role=tenant-administrator Subjects=none\n"
                              "Role=claimant Subjects=none\n";
/* The subjects; the first ACCESS_ROLES are called like their roles. */
static const char *const subjects[] = {"viewer",   "operator", "administrator", "tenant-administrator",
                                       "claimant", "agent",    "scheduler",     "all",
                                       "both",     "free",     "program",       "none",
                                       "nobody"};
enum { SUBJECTS = sizeof subjects / sizeof *subjects };

/* "SELF" is the one who asks. */
static const char *const owners[] = {"physics",      "physics/batch", "physics:7", "physics/batch:7",
                                     "chem",         "chem/x:7",      "physicsx",  "@SELF",
                                     "physics@SELF", "chem@SELF",     "@other",    "physics@other"};
enum { OWNERS = sizeof owners / sizeof *owners };

static struct grants grants;

static int open_grants(void **state)
{
    struct conf file;
    assert_int_equal(conf_parse("roles.conf", records, sizeof records - 1, CONF_RECORDS, &file, NULL), 0);
    assert_int_equal(grants_read(&file, &grants, NULL), 0);
    conf_fini(&file);
    return 0;
}

static int close_grants(void **state)
{
    grants_fini(&grants);
    return 0;
}

static void give_roles(struct caller *c)
{
    const struct api_policy p = {.readers = API_READERS_NOBODY, .grants = &grants};
    caller_give_roles(c, NULL, NULL, &p, 990);
}

/* A person with a token; "program" is one of a program. */
static struct caller caller_make(const char *subject)
{
    struct caller c = {.kind = ACCESS_TOKEN, .is_person = strcmp(subject, "program") != 0};
    snprintf(c.name, sizeof c.name, "%s", subject);
    snprintf(c.subject, sizeof c.subject, "%s", subject);
    give_roles(&c);
    return c;
}

static struct owner owner_make(const char *pattern, const char *subject)
{
    struct owner o;
    const char *self = strstr(pattern, "SELF");
    CLEANUP_TEXT struct text name = {0};
    text_printf(&name, "%.*s%s", self ? (int)(self - pattern) : (int)strlen(pattern), pattern,
                self ? subject : "");
    assert_int_equal(owner_parse(name.s, &o, NULL), 0);
    return o;
}

/* What a caller may do with an owner: "c" to name it as the next one, which a claim and a transfer do, or as
 * the present one, which a release and a transfer do; "r" to read. */
static void add_cell(const struct caller *c, const struct owner *o, struct text *t)
{
    struct err e = {0};
    int rc = reach_check(c, o, &e);
    bool enters = access_permits(RIGHT_OWN, c->roles), reads = access_permits(RIGHT_OWNERS, c->roles);
    assert_int_equal(rc, rc == 0 ? 0 : -EACCES);
    assert_true(rc == 0 || *e.msg);
    assert_true(rc < 0 || enters); /* the route itself is no narrower than what is behind it */
    text_printf(t, " %c%c", rc == 0 ? 'c' : '-', reads && reach_sees(c, o) ? 'r' : '-');
}

static void every_role_with_every_owner(void **state)
{
    CLEANUP_TEXT struct text t = {0};
    text_printf(&t,
                "Which owners a caller may name in a change (c) and reads (r). SELF is the caller. Callers "
                "are subjects of "
                "tokens;\nprogram is a program, the others are persons.\n\n%s\n%-21s",
                records, "");
    for (int o = 0; o < OWNERS; o++)
        text_printf(&t, " %s", owners[o]);
    for (int s = 0; s < SUBJECTS; s++) {
        struct caller c = caller_make(subjects[s]);
        text_printf(&t, "\n%-21s", subjects[s]);
        for (int o = 0; o < OWNERS; o++) {
            const struct owner owner = owner_make(owners[o], subjects[s]);
            text_printf(&t, "%*s", (int)strlen(owners[o]) - 2, "");
            add_cell(&c, &owner, &t);
        }
        caller_fini(&c);
    }
    text_add(&t, "\n");
    golden_check("reach.txt", &t);
}

/* Each change of owners, from and to owners of the own tenant and of another one. */
static const struct change {
    enum command_kind kind;
    const char *what, *from, *to; /* NULL: it names none */
} changes[] = {
    {COMMAND_OWNER_CLAIM, "claim", NULL, "physics/batch:7"},
    {COMMAND_OWNER_CLAIM, "claim", NULL, "chem/x:7"},
    {COMMAND_OWNER_CLAIM, "claim", NULL, "physics@SELF"},
    {COMMAND_OWNER_CLAIM, "claim", NULL, "chem@SELF"},
    {COMMAND_OWNER_CLAIM, "claim", NULL, "@SELF"},
    {COMMAND_OWNER_CLAIM, "claim", NULL, "physics@other"},
    {COMMAND_OWNER_RELEASE, "release", "physics/batch:7", NULL},
    {COMMAND_OWNER_RELEASE, "release", "chem/x:7", NULL},
    {COMMAND_OWNER_RELEASE, "release", "physics@SELF", NULL},
    {COMMAND_OWNER_RELEASE, "release", "chem@SELF", NULL},
    {COMMAND_OWNER_RELEASE, "release", "@SELF", NULL},
    {COMMAND_OWNER_RELEASE, "release", "physics@other", NULL},
    {COMMAND_OWNER_TRANSFER, "transfer", "physics", "physics/batch:7"},
    {COMMAND_OWNER_TRANSFER, "transfer", "physics", "chem"},
    {COMMAND_OWNER_TRANSFER, "transfer", "chem", "physics"},
    {COMMAND_OWNER_TRANSFER, "transfer", "chem", "chem/x:7"},
    {COMMAND_OWNER_TRANSFER, "transfer", "physics", "physics@SELF"},
    {COMMAND_OWNER_TRANSFER, "transfer", "physics@SELF", "physics"},
};
enum { CHANGES = sizeof changes / sizeof *changes };

static void add_change(const struct change *change, struct text *t)
{
    text_printf(t, "\n%-9s %-16s %-16s", change->what, change->from ? change->from : "-",
                change->to ? change->to : "-");
    for (int s = 0; s < SUBJECTS; s++) {
        struct caller c = caller_make(subjects[s]);
        struct command cmd = {.kind = change->kind};
        bool from = true, to = true;
        if (change->from) {
            cmd.own.from = owner_make(change->from, subjects[s]);
            from = reach_check(&c, &cmd.own.from, NULL) == 0;
        }
        if (change->to) {
            cmd.own.to = owner_make(change->to, subjects[s]);
            to = reach_check(&c, &cmd.own.to, NULL) == 0;
        }
        int rc = reach_change(&c, &cmd, NULL);
        assert_int_equal(rc, from && to ? 0 : -EACCES);
        text_printf(t, " %*s", (int)strlen(subjects[s]), rc == 0 ? "yes" : "-");
        caller_fini(&c);
    }
}

static void every_change_with_every_role(void **state)
{
    CLEANUP_TEXT struct text t = {0};
    text_printf(&t, "Which change of owners who may ask for; SELF is the caller.\n\n%s\n%-9s %-16s %-16s",
                records, "change", "from", "to");
    for (int s = 0; s < SUBJECTS; s++)
        text_printf(&t, " %s", subjects[s]);
    for (int i = 0; i < CHANGES; i++)
        add_change(&changes[i], &t);
    text_add(&t, "\n");
    golden_check("reach-changes.txt", &t);
}

/* The rule in other words: a role that is bound to physics does nothing for anybody else. */
static void a_bound_role_does_nothing_for_others(void **state)
{
    static const char *const bound[] = {"tenant-administrator", "claimant", "scheduler"};
    static const char *const others[] = {"chem",  "chem/x:7", "physicsx",  "chem@SELF",
                                         "@SELF", "@other",   "chem@other"};
    for (size_t s = 0; s < sizeof bound / sizeof *bound; s++) {
        struct caller c = caller_make(bound[s]);
        for (size_t o = 0; o < sizeof others / sizeof *others; o++) {
            const struct owner owner = owner_make(others[o], bound[s]);
            if (reach_check(&c, &owner, NULL) != -EACCES)
                fail_msg("%s may name %s", bound[s], others[o]);
            assert_int_equal(reach_sees(&c, &owner), strstr(others[o], "SELF") != NULL);
        }
        caller_fini(&c);
    }
}

static void expect_refused(const struct caller *c, const char *owner, const char *why)
{
    const struct owner o = owner_make(owner, c->subject);
    struct err e = {0};
    assert_int_equal(reach_check(c, &o, &e), -EACCES);
    assert_string_equal(e.msg, why);
}

static void a_refusal_says_for_which_tenant(void **state)
{
    struct caller admin = caller_make("tenant-administrator"), claimant = caller_make("claimant"),
                  program = caller_make("program"),
                  user = {.kind = ACCESS_LOCAL, .uid = 1000, .name = "user"};
    give_roles(&user);
    expect_refused(
        &admin, "chem/x:7",
        "the subject \"tenant-administrator\" has no role for the tenant \"chem\"; this needs the role "
        "operator or administrator or tenant-administrator or scheduler for it");
    expect_refused(&claimant, "@SELF",
                   "the subject \"claimant\" has no role here that holds without a tenant");
    expect_refused(
        &claimant, "physics",
        "the subject \"claimant\" has the role claimant; this needs the role operator or administrator or "
        "tenant-administrator or scheduler");
    expect_refused(
        &program, "physics@SELF",
        "the subject \"program\" has the role claimant; this needs the role operator or administrator");
    expect_refused(&user, "physics@user", "a claimant shows a token that proves that a person signed in");
    caller_fini(&admin);
    caller_fini(&claimant);
    caller_fini(&program);
    caller_fini(&user);
}

/* Without an owner in the request. */
static void the_caller_is_the_owner(void **state)
{
    static const struct {
        const char *subject;
        int rc;
        const char *is; /* the owner, or the sentence */
    } cases[] = {
        {"claimant", 0, "physics@claimant"},
        {"operator", 0, "@operator"},
        {"both", -EINVAL, "for which tenant? name the owner: TENANT@both"},
        {"free", -EINVAL, "for which tenant? name the owner: TENANT@free"},
        {"none", -EINVAL, "for which tenant? name the owner: TENANT@none"},
        {"scheduler", 0, "@scheduler"}, /* whom reach_check refuses */
        {"program", -EACCES, "\"program (token program)\" is no person; name the owner of the nodes"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct caller c = caller_make(cases[i].subject);
        struct owner o;
        struct err e = {0};
        char name[OWNER_NAME_BYTES_MAX + 1];
        assert_int_equal(reach_self(&c, &o, &e), cases[i].rc);
        assert_string_equal(cases[i].rc == 0 ? owner_name(&o, name) : e.msg, cases[i].is);
        caller_fini(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_role_with_every_owner),
        cmocka_unit_test(every_change_with_every_role),
        cmocka_unit_test(a_bound_role_does_nothing_for_others),
        cmocka_unit_test(a_refusal_says_for_which_tenant),
        cmocka_unit_test(the_caller_is_the_owner),
    };
    return cmocka_run_group_tests(tests, open_grants, close_grants);
}
