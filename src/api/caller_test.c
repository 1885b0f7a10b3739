/* SPDX-License-Identifier: Apache-2.0 */
#include "api/caller.h"

#include "api/golden_test.h"
#include "api/route.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { OWN_UID = 990, HIGH_PORT = 40000, LOW_PORT = 1023 };

#define IS_LOCAL(user, who)                              \
    {                                                    \
        .kind = ACCESS_LOCAL, .uid = (user), .name = who \
    }
#define BY_CERTIFICATE(kind_, name_, role_, port_)                                               \
    {                                                                                            \
        .kind = ACCESS_CERTIFICATE, .name = name_, .port = (port_), .here = (port_) == LOW_PORT, \
        .identity = {                                                                            \
            .kind = IDENTITY_##kind_,                                                            \
            .name = name_,                                                                       \
            .role = ROLE_##role_                                                                 \
        }                                                                                        \
    }
#define BY_TOKEN(subject_)                                                          \
    {                                                                               \
        .kind = ACCESS_TOKEN, .name = "Sue", .subject = subject_, .port = HIGH_PORT \
    }

static const struct {
    const char *name;
    struct caller caller;
} callers[] = {
    {"root", IS_LOCAL(0, "root")},
    {"fettle", IS_LOCAL(OWN_UID, "fettle")},
    {"ann", IS_LOCAL(1000, "ann")},
    {"nobody", {.port = HIGH_PORT}},
    {"nobody-low", {.port = LOW_PORT, .here = true}},
    {"far-low", {.port = LOW_PORT}},
    {"admin", BY_CERTIFICATE(OPERATOR, "bea", ADMIN, HIGH_PORT)},
    {"reader", BY_CERTIFICATE(OPERATOR, "carl", READER, HIGH_PORT)},
    {"reader-low", BY_CERTIFICATE(OPERATOR, "carl", READER, LOW_PORT)},
    {"node", BY_CERTIFICATE(NODE, "lx01", NONE, HIGH_PORT)},
    {"node-low", BY_CERTIFICATE(NODE, "lx01", NONE, LOW_PORT)},
    {"controller", BY_CERTIFICATE(CONTROLLER, "c1", NONE, HIGH_PORT)},
    {"token", BY_TOKEN("sue")},
    /* In the records: */
    {"olga", IS_LOCAL(1001, "olga")},
    {"oleg-cert", BY_CERTIFICATE(OPERATOR, "oleg", READER, HIGH_PORT)},
    {"otto-token", BY_TOKEN("otto")},
    {"olga-node", BY_CERTIFICATE(NODE, "oleg", NONE, HIGH_PORT)},
};
enum { CALLERS = sizeof callers / sizeof callers[0] };

static const char records[] = "Role=operator Users=olga Certificates=oleg Subjects=otto\n";
static const char *const readers[] = {"nobody", "certificate", "anyone"};

static struct grants *make_grants(void)
{
    struct grants *g = calloc(1, sizeof *g);
    struct conf file;
    assert_int_equal(conf_parse("roles.conf", records, sizeof records - 1, CONF_RECORDS, &file, NULL), 0);
    assert_int_equal(grants_read(&file, g, NULL), 0);
    conf_fini(&file);
    return g;
}

static int ask(const struct caller *who, enum access_right want, const struct api_policy *p, struct err *e)
{
    struct caller c = *who;
    caller_give_roles(&c, NULL, NULL, p, OWN_UID);
    int rc = caller_may(&c, want, e);
    caller_fini(&c);
    return rc;
}

static int status_of(const struct caller *c, enum route r, const struct api_policy *p)
{
    int rc = ask(c, route_get(r)->right, p, NULL);
    return rc == 0 ? 200 : err_http(rc);
}

static void add_matrix(const struct api_policy *p, struct text *t)
{
    text_printf(t, "\nApiReaders = %s, privileged port rule %s\n%-31s", readers[p->readers],
                p->privileged_port ? "on" : "off", "");
    for (int i = 0; i < CALLERS; i++)
        text_printf(t, " %10s", callers[i].name);
    for (int r = 0; r < ROUTES; r++) {
        const struct route_row *row = route_get((enum route)r);
        text_printf(t, "\n%-4s %-26s", row->method_name, row->path);
        for (int i = 0; i < CALLERS; i++)
            text_printf(t, " %10d", status_of(&callers[i].caller, (enum route)r, p));
    }
    text_add(t, "\n");
}

/* Every route, every kind of caller, every policy. */
static void test_matrix(void **state)
{
    CLEANUP_TEXT struct text t = {0};
    struct grants *g = make_grants();
    text_printf(
        &t,
        "Who may call what. root, fettle (the user that the daemon runs as), ann and olga are users on the "
        "local\n"
        "socket, the others come over HTTPS; -low is a client's port below 1024, far another host's.\n"
        "roles.conf: %s",
        records);
    for (int reading = API_READERS_NOBODY; reading <= API_READERS_ANYONE; reading++)
        for (int privileged = 0; privileged < 2; privileged++)
            add_matrix(&(struct api_policy){.readers = (enum api_readers)reading,
                                            .privileged_port = privileged,
                                            .grants = g},
                       &t);
    golden_check("authorisation.txt", &t);
    grants_fini(g);
    free(g);
}

/* Every route with every role: allowed by the row of its right alone, and by default denied. */
static void test_roles(void **state)
{
    CLEANUP_TEXT struct text t = {0};
    text_printf(&t,
                "Which role may call what; \"none\" is a caller who is known and has no role.\n%-31s %20s",
                "", "none");
    for (int role = 0; role < ACCESS_ROLES; role++)
        text_printf(&t, " %20s", access_role_name((enum access_role)role));
    for (int r = 0; r < ROUTES; r++) {
        const struct route_row *row = route_get((enum route)r);
        text_printf(&t, "\n%-4s %-26s", row->method_name, row->path);
        for (int role = -1; role < ACCESS_ROLES; role++) {
            struct caller c = BY_TOKEN("sue");
            struct err e = {0};
            c.roles = role < 0 ? 0 : ROLE_BIT(role);
            int rc = caller_may(&c, row->right, &e);
            bool said = row->right == RIGHT_IDENTIFY || (access_right_roles(row->right) & c.roles);
            assert_int_equal(rc, said ? 0 : -EACCES);
            assert_true(said || role < 0 || strstr(e.msg, access_role_name((enum access_role)role)));
            assert_true(said || strstr(e.msg, access_role_name(ACCESS_ADMINISTRATOR)));
            text_printf(&t, " %20s", rc == 0 ? "yes" : "-");
        }
        assert_int_equal(access_right_changes(row->right), row->method != HTTP_GET_);
    }
    text_add(&t, "\n");
    golden_check("roles.txt", &t);
}

/* Every refusal says which roles would do. */
static void test_sentences(void **state)
{
    static const enum access_right wants[] = {RIGHT_IDENTIFY, RIGHT_FIND, RIGHT_READ, RIGHT_OPERATE,
                                              RIGHT_ADMINISTER};
    static const char *const names[] = {"asks who it is", "looks for nodes", "reads", "operates",
                                        "administers"};
    CLEANUP_TEXT struct text t = {0};
    struct grants *g = make_grants();
    for (int reading = API_READERS_NOBODY; reading <= API_READERS_ANYONE; reading++) {
        struct api_policy p = {.readers = (enum api_readers)reading, .grants = g};
        for (int i = 0; i < CALLERS; i++) {
            for (size_t w = 0; w < sizeof wants / sizeof *wants; w++) {
                struct err e = {0};
                int rc = ask(&callers[i].caller, wants[w], &p, &e);
                if (rc < 0)
                    text_printf(&t, "ApiReaders = %s: %s %s: %d %s\n", readers[reading], callers[i].name,
                                names[w], err_http(rc), e.msg);
                assert_int_equal(e.code, rc);
            }
        }
    }
    golden_check("authorisation-sentences.txt", &t);
    grants_fini(g);
    free(g);
}

/* A port of zero is no port below 1024: it is a connection that has none. */
static void test_no_port(void **state)
{
    struct api_policy p = {.readers = API_READERS_NOBODY, .privileged_port = true};
    struct caller c = {.port = 0, .here = true};
    assert_int_equal(ask(&c, RIGHT_ADMINISTER, &p, NULL), -EPERM);
    c.port = 1;
    assert_int_equal(ask(&c, RIGHT_ADMINISTER, &p, NULL), 0);
    c.port = 1024;
    assert_int_equal(ask(&c, RIGHT_ADMINISTER, &p, NULL), -EPERM);
}

/* The subject of a token has roles by its groups; the groups of a certificate are none. */
static void test_groups(void **state)
{
    static const char text[] = "Role=operator SubjectGroups=ops\nRole=scheduler Groups=ops\n";
    struct grants g = {0};
    struct conf file;
    CLEANUP_HOSTLIST struct hostlist groups = {0};
    hostlist_add(&groups, "ops");
    assert_int_equal(conf_parse("roles.conf", text, sizeof text - 1, CONF_RECORDS, &file, NULL), 0);
    assert_int_equal(grants_read(&file, &g, NULL), 0);
    const struct api_policy p = {.readers = API_READERS_NOBODY, .grants = &g};
    struct caller token = BY_TOKEN("x"), local = IS_LOCAL(1000, "x"),
                  node = BY_CERTIFICATE(NODE, "x", NONE, HIGH_PORT);
    caller_give_roles(&token, &groups, NULL, &p, OWN_UID);
    caller_give_roles(&local, &groups, NULL, &p, OWN_UID);
    caller_give_roles(&node, &groups, NULL, &p, OWN_UID);
    assert_int_equal(token.roles, ROLE_BIT(ACCESS_OPERATOR));
    assert_int_equal(local.roles, ROLE_BIT(ACCESS_VIEWER) | ROLE_BIT(ACCESS_SCHEDULER));
    assert_int_equal(node.roles, ROLE_BIT(ACCESS_AGENT));
    conf_fini(&file);
    grants_fini(&g);
}

/* The name in a token gives no role: its subject does. */
static void test_names(void **state)
{
    struct grants *g = make_grants();
    const struct api_policy p = {.readers = API_READERS_NOBODY, .grants = g};
    const struct shell_token said = {.subject = "77", .name = "otto", .is_person = true, .until = {5}};
    struct caller c = BY_CERTIFICATE(OPERATOR, "bea", ADMIN, HIGH_PORT);
    caller_take_token(&c, &said);
    caller_give_roles(&c, NULL, NULL, &p, OWN_UID);
    assert_int_equal(c.roles, 0); /* and nothing is left of the certificate */
    assert_int_equal(c.kind, ACCESS_TOKEN);
    assert_int_equal(c.identity.kind, IDENTITY_NONE);
    assert_true(c.is_person);
    assert_int_equal(c.until.ns, 5);
    grants_fini(g);
    free(g);
}

static void expect_said(const struct caller *c, const char *what)
{
    CLEANUP_TEXT struct text t = {0};
    caller_say(c, &t);
    assert_string_equal(t.s, what);
}

static void test_words(void **state)
{
    const struct caller sudo = {.kind = ACCESS_LOCAL, .name = "root", .login = "alice"};
    const struct caller token = BY_TOKEN("77");
    expect_said(&callers[0].caller, "root");
    expect_said(&sudo, "alice (as root)");
    expect_said(&callers[4].caller, "root");
    expect_said(&callers[6].caller, "bea");
    expect_said(&token, "Sue (token 77)");
}

static void expect_party(const struct caller *who, const struct api_policy *p, const char *name,
                         bool privileged)
{
    struct party party = {0};
    struct caller c = *who;
    caller_give_roles(&c, NULL, NULL, p, OWN_UID);
    caller_party(&c, "192.0.2.7", &party);
    assert_string_equal(party.name, name);
    assert_int_equal(party.privileged, privileged);
}

/* As whom each is served; administrators go before the others. */
static void test_parties(void **state)
{
    struct api_policy p = {.readers = API_READERS_ANYONE};
    static const struct {
        const char *name;
        bool privileged;
    } served[CALLERS] = {{"uid 0", true},
                         {"uid 990", true},
                         {"uid 1000", false},
                         {"address 192.0.2.7", false},
                         {"address 192.0.2.7", false},
                         {"address 192.0.2.7", false},
                         {"operator bea", true},
                         {"operator carl", false},
                         {"operator carl", false},
                         {"node lx01", false},
                         {"node lx01", false},
                         {"controller c1", false},
                         {"subject sue", false},
                         {"uid 1001", false},
                         {"operator oleg", false},
                         {"subject otto", false},
                         {"node oleg", false}};
    for (int i = 0; i < CALLERS; i++)
        expect_party(&callers[i].caller, &p, served[i].name, served[i].privileged);
    p.privileged_port = true;
    expect_party(&callers[4].caller, &p, "root at 192.0.2.7", true);
    expect_party(&callers[3].caller, &p, "address 192.0.2.7", false);
    expect_party(&callers[5].caller, &p, "address 192.0.2.7", false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_matrix),  cmocka_unit_test(test_roles),   cmocka_unit_test(test_sentences),
        cmocka_unit_test(test_no_port), cmocka_unit_test(test_groups),  cmocka_unit_test(test_names),
        cmocka_unit_test(test_words),   cmocka_unit_test(test_parties),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
