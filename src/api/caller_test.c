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

static const struct {
    const char *name;
    struct caller caller;
} callers[] = {
    {"root", {.local = true, .uid = 0}},
    {"fettle", {.local = true, .uid = OWN_UID}},
    {"ann", {.local = true, .uid = 1000}},
    {"nobody", {.port = HIGH_PORT}},
    {"nobody-low", {.port = LOW_PORT, .here = true}},
    {"far-low", {.port = LOW_PORT}},
    {"admin",
     {.port = HIGH_PORT, .identity = {.kind = IDENTITY_OPERATOR, .name = "bea", .role = ROLE_ADMIN}}},
    {"reader",
     {.port = HIGH_PORT, .identity = {.kind = IDENTITY_OPERATOR, .name = "carl", .role = ROLE_READER}}},
    {"reader-low",
     {.port = LOW_PORT, .identity = {.kind = IDENTITY_OPERATOR, .name = "carl", .role = ROLE_READER}}},
    {"node", {.port = HIGH_PORT, .identity = {.kind = IDENTITY_NODE, .name = "lx01", .role = ROLE_NONE}}},
    {"node-low", {.port = LOW_PORT, .identity = {.kind = IDENTITY_NODE, .name = "lx01", .role = ROLE_NONE}}},
    {"controller",
     {.port = HIGH_PORT, .identity = {.kind = IDENTITY_CONTROLLER, .name = "c1", .role = ROLE_NONE}}},
};
enum { CALLERS = sizeof callers / sizeof callers[0] };

static const char *const readers[] = {"nobody", "certificate", "anyone"};

static int status_of(const struct caller *c, enum route r, const struct api_policy *p, struct err *e)
{
    int rc = caller_may(c, route_get(r)->right, p, OWN_UID, e);
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
            text_printf(t, " %10d", status_of(&callers[i].caller, (enum route)r, p, NULL));
    }
    text_add(t, "\n");
}

/* Every route, every kind of caller, every policy. */
static void test_matrix(void **state)
{
    CLEANUP_TEXT struct text t = {0};
    text_add(
        &t,
        "Who may call what. root, fettle (the user that the daemon runs as) and ann are users on the local\n"
        "socket, the others come over HTTPS; -low is a client's port below 1024, far another host's.\n");
    for (int reading = API_READERS_NOBODY; reading <= API_READERS_ANYONE; reading++)
        for (int privileged = 0; privileged < 2; privileged++)
            add_matrix(
                &(struct api_policy){.readers = (enum api_readers)reading, .privileged_port = privileged},
                &t);
    golden_check("authorisation.txt", &t);
}

/* Every refusal says what would be needed. */
static void test_sentences(void **state)
{
    CLEANUP_TEXT struct text t = {0};
    for (int reading = API_READERS_NOBODY; reading <= API_READERS_ANYONE; reading++) {
        struct api_policy p = {.readers = (enum api_readers)reading};
        for (int i = 0; i < CALLERS; i++) {
            for (int want = RIGHT_READ; want <= RIGHT_CHANGE; want++) {
                struct err e = {0};
                int rc = caller_may(&callers[i].caller, (enum right)want, &p, OWN_UID, &e);
                if (rc < 0)
                    text_printf(&t, "ApiReaders = %s: %s %s: %d %s\n", readers[reading], callers[i].name,
                                want == RIGHT_READ ? "reads" : "changes", err_http(rc), e.msg);
                assert_int_equal(e.code, rc);
            }
        }
    }
    golden_check("authorisation-sentences.txt", &t);
}

/* A port of zero is no port below 1024: it is a connection that has none. */
static void test_no_port(void **state)
{
    struct api_policy p = {.readers = API_READERS_NOBODY, .privileged_port = true};
    struct caller c = {.port = 0, .here = true};
    assert_int_equal(caller_may(&c, RIGHT_CHANGE, &p, OWN_UID, NULL), -EPERM);
    c.port = 1;
    assert_int_equal(caller_may(&c, RIGHT_CHANGE, &p, OWN_UID, NULL), 0);
    c.port = 1024;
    assert_int_equal(caller_may(&c, RIGHT_CHANGE, &p, OWN_UID, NULL), -EPERM);
}

static void expect_party(const struct caller *c, const struct api_policy *p, const char *name,
                         bool privileged)
{
    struct party party = {0};
    caller_party(c, "192.0.2.7", p, OWN_UID, &party);
    assert_string_equal(party.name, name);
    assert_int_equal(party.privileged, privileged);
}

/* As whom each is served; who may change goes before the others. */
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
                         {"controller c1", false}};
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
        cmocka_unit_test(test_matrix),
        cmocka_unit_test(test_sentences),
        cmocka_unit_test(test_no_port),
        cmocka_unit_test(test_parties),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
