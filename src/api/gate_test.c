/* SPDX-License-Identifier: Apache-2.0 */
/* The gate at the local socket, where the one who runs the tests is the caller, and with tokens from a
 * stand-in. */
#include "api/stage_test.h"

#include "api/gate.h"
#include "api/golden_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static int open_plain(void **state)
{
    return stage_open(state, world_make, 35);
}

static void whoami_says_what_the_gate_knows(void **state)
{
    CLEANUP_TEXT struct text t = {0};
    assert_int_equal(wire_ask(&((struct stage *)*state)->wire, "GET", "/v1/whoami", NULL, &t), 200);
    CLEANUP_JSON json_t *who = json_read(t.s, t.len, NULL);
    assert_string_equal(json_text(who, "kind"), "local");
    assert_true(json_is_false(json_object_get(who, "person")));
    assert_true(json_is_null(json_object_get(who, "subject")));
    assert_true(json_is_null(json_object_get(who, "until")));
    assert_string_equal(json_string_value(json_array_get(json_object_get(who, "roles"), 0)), "administrator");
    assert_int_equal(json_array_size(json_object_get(who, "routes")), ROUTES);
}

/* Sends a request with more headers; the status. */
static int ask_with(struct stage *s, const char *line, const char *headers, struct text *t)
{
    CLEANUP_TEXT struct text request = {0};
    int status = 0;
    text_printf(&request, "%s HTTP/1.1\r\nHost: h\r\nConnection: close\r\n%s\r\n", line, headers);
    int fd = wire_connect(&s->wire, request.s);
    wire_read_until(&s->wire, fd, t, "\r\n\r\n");
    close(fd);
    assert_int_equal(sscanf(t->s, "HTTP/1.1 %d", &status), 1);
    return status;
}

/* No header is an identity there, and none makes anybody less than the kernel says. */
static void a_token_is_refused_at_the_local_socket(void **state)
{
    static const struct {
        const char *headers;
        int status;
    } cases[] = {
        {"Authorization: Bearer a.b.c\r\n", 400},
        {"authorization: bearer a.b.c\r\n", 400},
        {"Authorization: Basic cm9vdDo=\r\n", 400},
        {"Authorization: Bearer a\r\nAuthorization: Bearer b\r\n", 400},
        {"X-Forwarded-User: root\r\nX-Remote-User: root\r\n", 200},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CLEANUP_TEXT struct text t = {0};
        assert_int_equal(ask_with(*state, "GET /v1/partitions", cases[i].headers, &t), cases[i].status);
    }
}

/* Names of users are looked up only where they are needed. */
static void a_reading_waits_for_no_name(void **state)
{
    struct stage *s = *state;
    CLEANUP_TEXT struct text t = {0};
    assert_int_equal(wire_ask(&s->wire, "GET", "/v1/nodes", NULL, &t), 200);
    assert_int_equal(s->named, 0);
}

/* --- callers whom no test can be ------------------------------------------------------------------ */

static struct {
    bool is_remote; /* over HTTPS, without a certificate */
    bool is_other;  /* this user, with this login */
    uid_t uid, login;
} peer;

bool user_found(const struct stream *s, uid_t *uid, pid_t *pid) __asm__("__real_stream_peer_user");
bool user_told(const struct stream *s, uid_t *uid, pid_t *pid) __asm__("__wrap_stream_peer_user");
bool user_told(const struct stream *s, uid_t *uid, pid_t *pid)
{
    bool is_local = !peer.is_remote && user_found(s, uid, pid);
    if (peer.is_other)
        *uid = peer.uid;
    return is_local;
}

uid_t login_found(const struct stream *s) __asm__("__real_stream_peer_login");
uid_t login_told(const struct stream *s) __asm__("__wrap_stream_peer_login");
uid_t login_told(const struct stream *s)
{
    return peer.is_other ? peer.login : login_found(s);
}

enum { ALICE = 31337 };
#define DRAIN "POST /v1/nodes/drain"
#define BODY "{\"nodes\":\"lx01\",\"reason\":\"x\"}"

/* One who became root is in the journal with both names; the other's name waits for the look-up. */
static void the_person_behind_root_is_named(void **state)
{
    struct stage *s = *state;
    CLEANUP_TEXT struct text t = {0}, u = {0};
    peer.is_other = true;
    peer.login = ALICE;
    assert_int_equal(wire_ask(&s->wire, "POST", "/v1/nodes/drain", BODY, &t), 200);
    assert_string_equal(s->actor, "alice (as root)");
    peer.login = STREAM_NO_LOGIN;
    assert_int_equal(wire_ask(&s->wire, "POST", "/v1/nodes/drain", BODY, &u), 200);
    assert_string_equal(s->actor, "root");
    assert_int_equal(s->named, 1);
}

static void give_records(struct stage *s, struct grants *g, const char *records)
{
    struct conf file;
    struct api_policy p = s->api->policy;
    assert_int_equal(conf_parse("roles.conf", records, strlen(records), CONF_RECORDS, &file, NULL), 0);
    assert_int_equal(grants_read(&file, g, NULL), 0);
    conf_fini(&file);
    p.grants = g;
    api_set_policy(s->api, &p);
}

/* The stand-in says that every user is called root: whose record is root's. */
static void a_record_gives_a_user_a_role(void **state)
{
    struct stage *s = *state;
    CLEANUP_TEXT struct text t = {0}, u = {0};
    struct grants g = {0};
    peer.is_other = true;
    peer.uid = peer.login = ALICE;
    assert_int_equal(wire_ask(&s->wire, "POST", "/v1/nodes/drain", BODY, &t), 403);
    assert_non_null(
        strstr(t.s, "user \\\"root\\\" has the role viewer; this needs the role operator or administrator"));
    give_records(s, &g, "Role=operator Users=root\n");
    assert_int_equal(wire_ask(&s->wire, "POST", "/v1/nodes/drain", BODY, &u), 200);
    assert_int_equal(wire_ask(&s->wire, "POST", "/v1/reload", "{}", &u), 403);
    grants_fini(&g);
    s->api->policy.grants = NULL;
}

static int ask_token(struct stage *s, const char *line, const char *token, struct text *t)
{
    CLEANUP_TEXT struct text header = {0};
    text_printf(&header, "Authorization: Bearer %s\r\n", token);
    text_clear(t);
    return ask_with(s, line, header.s, t);
}

static void a_token_is_the_caller(void **state)
{
    struct stage *s = *state;
    struct grants g = {0};
    CLEANUP_TEXT struct text t = {0};
    peer.is_remote = true;
    assert_int_equal(ask_with(s, "GET /v1/nodes", "", &t), 401);
    assert_int_equal(ask_token(s, "GET /v1/nodes", "bad", &t), 401);
    assert_int_equal(ask_token(s, "GET /v1/nodes", "good", &t), 403);
    assert_int_equal(ask_token(s, "GET /v1/whoami", "good", &t), 200);
    give_records(s, &g, "Role=viewer Subjects=77\nRole=administrator Subjects=Sue\n");
    assert_int_equal(ask_token(s, "GET /v1/nodes", "good", &t), 200);
    assert_int_equal(ask_token(s, "POST /v1/reload", "good", &t), 403);
    text_clear(&t);
    assert_int_equal(ask_with(s, "GET /v1/nodes", "Authorization: Basic Z29vZA==\r\n", &t), 401);
    grants_fini(&g);
    s->api->policy.grants = NULL;
}

static void claims_of_a_token_are_in_whoami(void **state)
{
    struct stage *s = *state;
    CLEANUP_TEXT struct text t = {0};
    peer.is_remote = true;
    int fd = wire_connect(
        &s->wire,
        "GET /v1/whoami HTTP/1.1\r\nHost: h\r\nConnection: close\r\nAuthorization: Bearer good\r\n\r\n");
    wire_read_until(&s->wire, fd, &t, "]}");
    close(fd);
    assert_non_null(
        strstr(t.s, "{\"kind\":\"token\",\"name\":\"Sue\",\"login\":null,\"subject\":\"77\",\"person\":true,"
                    "\"actor\":\"Sue (token 77)\",\"until\":\"2026-11-06T21:20:00.000Z\",\"roles\":[],"
                    "\"tenants\":[],\"routes\":[\"GET /v1/whoami\"]}"));
}

/* The answer comes when the keys are here; and to a client that has gone meanwhile none. */
static void a_token_may_wait(void **state)
{
    static const char request[] =
        "GET /v1/whoami HTTP/1.1\r\nHost: h\r\nConnection: close\r\nAuthorization: Bearer good\r\n\r\n";
    struct stage *s = *state;
    CLEANUP_TEXT struct text t = {0};
    peer.is_remote = s->tokens_later = true;
    int fd = wire_connect(&s->wire, request);
    stage_wait_token(s);
    stage_answer_token(s);
    wire_read_until(&s->wire, fd, &t, "\"subject\":\"77\"");
    close(fd);
    fd = wire_connect(&s->wire, request);
    stage_wait_token(s);
    close(fd);
    for (int i = 0; i < 100; i++)
        wire_turn(&s->wire);
    stage_answer_token(s);
}

/* Posts with Sue's token, for whom the records are; the status. */
static int post_token(struct stage *s, const char *records, const char *target, const char *body,
                      struct text *t)
{
    struct grants g = {0};
    CLEANUP_TEXT struct text request = {0};
    int status = 0;
    text_clear(t);
    give_records(s, &g, records);
    text_printf(&request,
                "POST %s HTTP/1.1\r\nHost: h\r\nConnection: close\r\nAuthorization: Bearer good\r\n"
                "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
                target, strlen(body), body);
    int fd = wire_connect(&s->wire, request.s);
    wire_read_until(&s->wire, fd, t, "}\n");
    close(fd);
    assert_int_equal(sscanf(t->s, "HTTP/1.1 %d", &status), 1);
    grants_fini(&g);
    s->api->policy.grants = NULL;
    return status;
}

/* Through every layer: the token names the tenant physics, and a record binds the role to that. */
static void a_tenant_administrator_acts_for_its_tenant(void **state)
{
    static const char tends[] = "Role=tenant-administrator Subjects=77 TokenTenants=yes\n";
    static const char bio[] = "Role=tenant-administrator Subjects=77 Tenants=bio\n";
    static const char claims[] = "Role=claimant Subjects=77 Tenants=physics\n";
    static const struct {
        const char *records, *target, *body;
        int status;
        const char *says;
    } cases[] = {
        {tends, "/v1/owners/claim", "{\"nodes\":\"hx1\",\"owner\":\"bio/x:1\"}", 403,
         "has no role for the tenant \\\"bio\\\""},
        {tends, "/v1/owners/claim", "{\"nodes\":\"hx1\",\"owner\":\"physics/x:1\"}", 200,
         "\"changed\":\"hx1\""},
        {bio, "/v1/owners/release", "{\"owner\":\"physics/x:1\"}", 403, "has no role for the tenant"},
        {tends, "/v1/owners/transfer", "{\"owner\":\"physics/x:1\",\"new_owner\":\"bio\"}", 403,
         "has no role for the tenant \\\"bio\\\""},
        {bio, "/v1/owners/transfer", "{\"owner\":\"physics/x:1\",\"new_owner\":\"bio\"}", 403,
         "has no role for the tenant \\\"physics\\\""},
        {bio, "/v1/owners/claim", "{\"nodes\":\"hx1\",\"owner\":\"bio\"}", 404, "no tenant"},
        {tends, "/v1/owners/claim", "{\"nodes\":\"gx7\"}", 403,
         "has the role tenant-administrator; this needs"},
        {tends, "/v1/nodes/drain", BODY, 403, "has the role tenant-administrator"},
        {claims, "/v1/owners/claim", "{\"nodes\":\"hx2\",\"owner\":\"physics\"}", 403,
         "has the role claimant"},
        {claims, "/v1/owners/claim", "{\"nodes\":\"gx7\",\"owner\":\"@77\"}", 403, "holds without a tenant"},
        {claims, "/v1/owners/claim", "{\"nodes\":\"hx2\"}", 400,
         "is not sensitive"}, /* and it is physics@77 */
        {"Role=scheduler Subjects=77\n", "/v1/owners/release", "{\"owner\":\"physics/x:1\"}", 200, "hx1"},
    };
    struct stage *s = *state;
    CLEANUP_TEXT struct text t = {0};
    peer.is_remote = true;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int status = post_token(s, cases[i].records, cases[i].target, cases[i].body, &t);
        if (status != cases[i].status || !strstr(t.s, cases[i].says))
            fail_msg("%zu: %s", i, t.s);
    }
}

static void the_list_has_what_the_caller_may_see(void **state)
{
    struct stage *s = *state;
    struct grants g = {0};
    CLEANUP_TEXT struct text t = {0};
    peer.is_remote = true;
    post_token(s, "Role=scheduler Subjects=77\n", "/v1/owners/claim",
               "{\"nodes\":\"hx1\",\"owner\":\"physics/x:1\"}", &t);
    static const struct {
        const char *records;
        bool sees;
    } cases[] = {{"Role=tenant-administrator Subjects=77 TokenTenants=yes\n", true},
                 {"Role=tenant-administrator Subjects=77 Tenants=bio\n", false},
                 {"Role=scheduler Subjects=77\n", true},
                 {"Role=scheduler Subjects=77 Tenants=bio\n", false},
                 {"Role=viewer Subjects=77\n", true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        give_records(s, &g, cases[i].records);
        int fd = wire_connect(&s->wire, "GET /v1/owners HTTP/1.1\r\nHost: h\r\nConnection: close\r\n"
                                        "Authorization: Bearer good\r\n\r\n");
        text_clear(&t);
        wire_read_until(&s->wire, fd, &t, "}}\n");
        close(fd);
        assert_int_equal(strstr(t.s, "\"owner\":\"physics/x:1\"") != NULL, cases[i].sees);
        assert_int_equal(strstr(t.s, "{\"tenant\":\"physics\",\"nodes\":1,\"nodes_max\":2") != NULL,
                         cases[i].sees);
        grants_fini(&g);
        s->api->policy.grants = NULL;
    }
}

static int open_ill(void **state)
{
    memset(&peer, 0, sizeof peer);
    return stage_open(state, world_make_ill, 3);
}

static int open_peer(void **state)
{
    memset(&peer, 0, sizeof peer);
    return open_plain(state);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_peer, stage_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(whoami_says_what_the_gate_knows),
        TEST(a_token_is_refused_at_the_local_socket),
        TEST(a_reading_waits_for_no_name),
        TEST(the_person_behind_root_is_named),
        TEST(a_record_gives_a_user_a_role),
        TEST(a_token_is_the_caller),
        TEST(claims_of_a_token_are_in_whoami),
        TEST(a_token_may_wait),
        cmocka_unit_test_setup_teardown(a_tenant_administrator_acts_for_its_tenant, open_ill, stage_close),
        cmocka_unit_test_setup_teardown(the_list_has_what_the_caller_may_see, open_ill, stage_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
