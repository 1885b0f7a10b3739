/* SPDX-License-Identifier: Apache-2.0 */
/* Requests with an id: what is taken for one, and what a client hears that asks again. */
#include "api/request.h"

#include "api/golden_test.h"
#include "api/stage_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define ID "8e03978e-40d5-43dd-bc93-6894a57f9324"
#define OTHER "0123456789abcdef"

static int open_ill(void **state)
{
    int rc = stage_open(state, world_make_ill, 3);
    struct stage *s = *state;
    if (rc == 0) /* no file names it, and it was in service once */
        rc = cluster_put(s->world.cluster, "node/guest", "{\"admitted\":\"1\"}", NULL);
    return rc;
}

static void test_an_id_is_bare_or_in_quotes(void **state)
{
    static const char *const bad[] = {
        "", "\"\"", "\"", "short", "\"" ID, ID "\"", "0123456789abcde=", ID ID ID, "\"0123456789abc\\\"\""};
    char id[REQUEST_ID_BYTES_MAX + 1];
    struct err e;
    assert_int_equal(request_id_read(ID, id, &e), 0);
    assert_string_equal(id, ID);
    assert_int_equal(request_id_read("\"" OTHER "\"", id, &e), 0);
    assert_string_equal(id, OTHER);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (request_id_read(bad[i], id, &e) != -EINVAL)
            fail_msg("%s is an id", bad[i]);
    assert_string_equal(e.msg, "Idempotency-Key: an id has 16 to 64 letters, digits, '-' and '_'");
}

/* Adds the request, and the answer with its status and the header that says that it is one of before. */
static void ask(struct stage *s, const char *id, const char *target, const char *body, struct text *t)
{
    CLEANUP_TEXT struct text request = {0}, answer = {0};
    text_printf(&request,
                "POST %s HTTP/1.1\r\nHost: h\r\nConnection: close\r\nIdempotency-Key: %s\r\n"
                "Content-Length: %zu\r\n\r\n%s",
                target, id, strlen(body), body);
    int fd = wire_connect(&s->wire, request.s);
    wire_read_until(&s->wire, fd, &answer, "}\n");
    close(fd);
    text_printf(t, "POST %s %s (%s)\n%.3s %s%s\n", target, body, id, answer.s + 9,
                strstr(answer.s, "\r\n\r\n") + 4,
                strstr(answer.s, "\r\nIdempotency-Replayed: true\r\n") ? "(as before)\n" : "");
}

/* What every kind of change answers when it is asked for twice. */
static void test_a_request_that_comes_again(void **state)
{
    static const struct posted asked[] = {
        {"/v1/nodes/drain", "{\"nodes\":\"hx[1,9]\",\"reason\":\"bad fan\"}"},
        {"/v1/nodes/undrain", "{\"nodes\":\"hx1\"}"},
        {"/v1/nodes/set", "{\"nodes\":\"hx1\",\"set\":{\"CPUs\":\"4\"}}"},
        {"/v1/nodes/forget", "{\"nodes\":\"guest\"}"},
        {"/v1/tokens/end", "{\"id\":\"0123456789abcdef\",\"reason\":\"leaked\"}"},
        {"/v1/certificates", "{\"name\":\"ann\",\"role\":\"reader\",\"request\":\"good\"}"},
        {"/v1/queue/ticket", "{\"nodes\":\"hx3\",\"reason\":\"seen\"}"},
        {"/v1/repairs/transition",
         "{\"nodes\":\"hx[1-2]\",\"transition\":\"manual_drain\",\"reason\":\"a look\"}"},
        {"/v1/overrides/set", "{\"nodes\":\"hx5\",\"reason\":\"a talk\"}"},
        {"/v1/brakes/set", "{\"name\":\"stop\",\"on\":false,\"reason\":\"it is cool\"}"},
        {"/v1/owners/claim", "{\"nodes\":\"hx[1-2]\",\"owner\":\"physics\",\"reason\":\"a run\"}"},
        {"/v1/power", "{\"nodes\":\"hx1\",\"do\":\"off\",\"reason\":\"a fan\"}"},
    };
    CLEANUP_TEXT struct text t = {0};
    struct stage *s = *state;
    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++) {
        char id[] = "request-number-00";
        id[sizeof id - 2] = (char)('a' + i);
        ask(s, id, asked[i].target, asked[i].body, &t);
        const uint64_t digest = cluster_digest(s->world.cluster), revision = s->revision;
        ask(s, id, asked[i].target, asked[i].body, &t);
        assert_true(cluster_digest(s->world.cluster) == digest);
        assert_int_equal(s->revision, revision);
    }
    golden_check("requests.txt", &t);
}

static void test_a_token_is_shown_once(void **state)
{
    CLEANUP_TEXT struct text first = {0}, second = {0};
    struct stage *s = *state;
    ask(s, ID, "/v1/tokens", "{\"nodes\":\"hx1\"}", &first);
    assert_non_null(strstr(first.s, "\n200 {\"token\":"));
    ask(s, ID, "/v1/tokens", "{\"nodes\":\"hx1\"}", &second);
    assert_non_null(
        strstr(second.s, "\n409 {\"error\":{\"code\":\"exists\",\"message\":\"this request made a token "));
}

static void test_an_id_for_something_else_is_refused(void **state)
{
    CLEANUP_TEXT struct text t = {0};
    struct stage *s = *state;
    ask(s, ID, "/v1/nodes/drain", "{\"nodes\":\"hx1\",\"reason\":\"x\"}", &t);
    text_clear(&t);
    ask(s, ID, "/v1/nodes/drain", "{\"nodes\":\"hx2\",\"reason\":\"x\"}", &t);
    assert_non_null(
        strstr(t.s, "\n422 {\"error\":{\"code\":\"request_id_used\",\"message\":\"this request id was used"));
    text_clear(&t);
    ask(s, ID, "/v1/nodes/down", "{\"nodes\":\"hx1\",\"reason\":\"x\"}", &t);
    assert_non_null(strstr(t.s, "\n422 "));
    text_clear(&t);
    ask(s, "short", "/v1/nodes/drain", "{\"nodes\":\"hx2\",\"reason\":\"x\"}", &t);
    assert_non_null(strstr(t.s, "\n400 {\"error\":{\"code\":\"invalid\",\"message\":\"Idempotency-Key: "));
    assert_int_equal(s->submitted, 1);
}

/* A dry run does nothing, and nothing is remembered of it. A refusal is decided anew. */
static void test_only_what_is_done_is_remembered(void **state)
{
    CLEANUP_TEXT struct text t = {0};
    struct stage *s = *state;
    ask(s, ID, "/v1/nodes/drain?dry_run=true", "{\"nodes\":\"hx1\",\"reason\":\"x\"}", &t);
    s->fails = -EBUSY;
    ask(s, ID, "/v1/nodes/drain", "{\"nodes\":\"hx1\",\"reason\":\"x\"}", &t);
    s->fails = 0;
    assert_null(cluster_request(s->world.cluster, ID));
    ask(s, ID, "/v1/nodes/drain", "{\"nodes\":\"hx1\",\"reason\":\"x\"}", &t);
    assert_null(strstr(t.s, "as before"));
    assert_int_equal(s->submitted, 3);
    ask(s, ID, "/v1/nodes/drain?dry_run=true", "{\"nodes\":\"hx1\",\"reason\":\"x\"}", &t);
    assert_null(strstr(t.s, "as before"));
}

/* One of two nodes was done before the controller ended: the other one is done now. */
static void test_a_request_goes_on_where_it_stands(void **state)
{
    static const char body[] =
        "{\"nodes\":\"hx[1-2]\",\"transition\":\"manual_drain\",\"reason\":\"a look\"}";
    CLEANUP_TEXT struct text t = {0};
    struct stage *s = *state;
    s->commits_at_once = false;
    CLEANUP_TEXT struct text request = {0};
    text_printf(&request,
                "POST /v1/repairs/transition HTTP/1.1\r\nHost: h\r\nIdempotency-Key: " ID
                "\r\nContent-Length: %zu\r\n\r\n%s",
                strlen(body), body);
    int fd = wire_connect(&s->wire, request.s);
    stage_wait(s);
    stage_commit(s);
    close(fd);
    s->fails = -EAGAIN; /* "the controller is stopping" */
    stage_commit(s);
    s->fails = 0;
    s->commits_at_once = true;
    const uint64_t revision = s->revision;
    ask(s, ID, "/v1/repairs/transition", body, &t);
    assert_non_null(strstr(t.s, "\n200 {\"revision\":"));
    assert_non_null(strstr(t.s, "as before"));
    assert_int_equal(s->revision, revision + 1);
    assert_true(remembered_is_whole(cluster_request(s->world.cluster, ID)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_id_is_bare_or_in_quotes),
        cmocka_unit_test_setup_teardown(test_a_request_that_comes_again, open_ill, stage_close),
        cmocka_unit_test_setup_teardown(test_a_token_is_shown_once, open_ill, stage_close),
        cmocka_unit_test_setup_teardown(test_an_id_for_something_else_is_refused, open_ill, stage_close),
        cmocka_unit_test_setup_teardown(test_only_what_is_done_is_remembered, open_ill, stage_close),
        cmocka_unit_test_setup_teardown(test_a_request_goes_on_where_it_stands, open_ill, stage_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
