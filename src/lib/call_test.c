/* SPDX-License-Identifier: Apache-2.0
 *
 * One request and its answer: what is refused, what is cut or late, and connections that are kept.
 */
#include "base/text.h"
#include "lib/scene_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A handle that only wants to know says so with every change, and with nothing else. */
static void a_dry_run_is_asked_for(void **state)
{
    CLEANUP_FREE char *answer = stub_json(200, "{\"dry_run\":true}");
    const struct stub_answer answers[] = {
        {.bytes = answer}, {.bytes = answer}, {.bytes = answer}, {.bytes = answer}};
    static const char *const wanted[] = {"POST /v1/nodes/drain?dry_run=true HTTP/1.1\r\n",
                                         "POST /v1/reload?dry_run=true HTTP/1.1\r\n",
                                         "GET /v1/queue HTTP/1.1\r\n", "POST /v1/nodes/drain HTTP/1.1\r\n"};
    struct scene s = scene_open(answers, 4, 0);
    struct fettle_answer *a[4] = {0};
    fettle_dry_run(s.f, true);
    assert_int_equal(fettle_node_drain(s.f, "lx1", "x", &a[0], &s.e), 0);
    assert_int_equal(fettle_reload(s.f, &a[1], &s.e), 0);
    assert_int_equal(fettle_queue_list(s.f, &a[2], &s.e), 0);
    fettle_dry_run(s.f, false);
    assert_int_equal(fettle_node_drain(s.f, "lx1", "x", &a[3], &s.e), 0);
    stub_join(s.stub);
    for (size_t i = 0; i < 4; i++) {
        fettle_answer_free(a[i]);
        assert_memory_equal(stub_request(s.stub, i), wanted[i], strlen(wanted[i]));
    }
    scene_close(&s);
}

static void a_text_is_read_as_an_answer(void **state)
{
    struct fettle_answer *a = NULL;
    struct fettle_error e = {0};
    assert_int_equal(fettle_read("{\"nodes\":[\"lx1\"]}", &a, &e), 0);
    assert_int_equal(fettle_value_count(fettle_value_find(fettle_answer_value(a), "nodes")), 1);
    fettle_answer_free(a);
    assert_int_equal(fettle_read("{\"nodes\":", &a, &e), -EPROTO);
    assert_int_not_equal(e.message[0], '\0');
}

static void a_refusal_is_told_as_it_is(void **state)
{
    CLEANUP_FREE char *missing =
        stub_json(404, "{\"error\":{\"code\":\"not_found\",\"message\":\"no node \\\"x\\\"\"}}");
    CLEANUP_FREE char *forbidden =
        stub_json(403, "{\"error\":{\"code\":\"forbidden\",\"message\":\"only root may\"}}");
    CLEANUP_FREE char *other = stub_json(502, "<html>proxy</html>");
    struct stub_answer answers[] = {{.bytes = missing}, {.bytes = forbidden}, {.bytes = other}};
    struct scene s = scene_open(answers, 3, 0);
    struct fettle_answer *a = NULL;
    assert_int_equal(fettle_node_show(s.f, "x", &a, &s.e), -ENOENT);
    assert_int_equal(s.e.code, -ENOENT);
    assert_string_equal(s.e.message, "no node \"x\"");
    assert_int_equal(fettle_reload(s.f, &a, &s.e), -EACCES);
    assert_string_equal(s.e.message, "only root may");
    assert_int_equal(fettle_status(s.f, &a, &s.e), -EPROTO);
    assert_non_null(strstr(s.e.message, "502"));
    assert_null(a);
    scene_close(&s);
}

static void a_raw_call_gives_status_and_text(void **state)
{
    CLEANUP_FREE char *missing = stub_json(404, "{\"error\":{}}");
    struct stub_answer answers[] = {{.bytes = missing}, {.bytes = "HTTP/1.1 204 X\r\n\r\n"}};
    struct scene s = scene_open(answers, 2, 0);
    char *text = NULL;
    int status = 0;
    assert_int_equal(fettle_call(s.f, "GET", "/v2", NULL, &status, &text, &s.e), 0);
    assert_int_equal(status, 404);
    assert_string_equal(text, "{\"error\":{}}");
    free(text);
    assert_int_equal(fettle_call(s.f, "POST", "/v2", "{}", &status, &text, &s.e), 0);
    assert_int_equal(status, 204);
    assert_string_equal(text, "");
    free(text);
    assert_int_equal(fettle_call(s.f, "GET", "/v1 HTTP/1.1\r\nX: y", NULL, &status, &text, &s.e), -EINVAL);
    assert_int_equal(fettle_call(s.f, "", "/v1", NULL, &status, &text, &s.e), -EINVAL);
    scene_close(&s);
}

static void garbage_and_cut_answers_are_errors(void **state)
{
    static const struct {
        const char *bytes;
        enum stub_after after;
        int code;
    } cases[] = {
        {"SSH-2.0-OpenSSH_9.2\r\n", STUB_HOLD, -EPROTO},
        {"HTTP/1.1 200 X\r\nContent-Length: 100\r\n\r\n{\"a\":", STUB_CLOSE, -EPROTO},
        {"HTTP/1.1 200 X\r\nContent-Le", STUB_CLOSE, -EPROTO},
        {"HTTP/1.1 200 X\r\nContent-Length: 3\r\n\r\n{]}", STUB_KEEP, -EPROTO},
        {"HTTP/1.1 200 X\r\nContent-Length: 0\r\n\r\n", STUB_KEEP, -EPROTO},
        {"HTTP/1.1 200 X\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", STUB_CLOSE, -EPROTO},
        {"", STUB_CLOSE, -ECONNREFUSED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct stub_answer answers[] = {{.bytes = cases[i].bytes, .after = cases[i].after}};
        struct scene s = scene_open(answers, 1, 5000);
        struct fettle_answer *a = NULL;
        assert_int_equal(fettle_status(s.f, &a, &s.e), cases[i].code);
        assert_null(a);
        assert_true(strlen(s.e.message) > 0);
        scene_close(&s);
    }
}

static void every_body_form_is_read(void **state)
{
    struct stub_answer answers[] = {
        {.bytes = "HTTP/1.1 200 X\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n{\"a\"\r\n3\r\n:1}\r\n0\r\n\r\n"},
        {.bytes = "HTTP/1.1 200 X\r\nConnection: close\r\n\r\n{\"a\":2}", .after = STUB_CLOSE}};
    struct scene s = scene_open(answers, 2, 5000);
    struct fettle_answer *a = NULL, *b = NULL;
    assert_int_equal(fettle_status(s.f, &a, &s.e), 0);
    assert_string_equal(fettle_get_text(fettle_answer_value(a), "a"), "1");
    assert_int_equal(fettle_status(s.f, &b, &s.e), 0);
    assert_string_equal(fettle_get_text(fettle_answer_value(b), "a"), "2");
    fettle_answer_free(a);
    fettle_answer_free(b);
    scene_close(&s);
}

static void a_huge_answer_is_refused(void **state)
{
    struct stub_answer answers[] = {
        {.bytes = "HTTP/1.1 200 X\r\nContent-Length: 100000000\r\n\r\n", .fill = 100000000}};
    struct scene s = scene_open(answers, 1, 60000);
    struct fettle_answer *a = NULL;
    assert_int_equal(fettle_status(s.f, &a, &s.e), -E2BIG);
    assert_string_equal(s.e.message, "the answer is larger than 64 MiB");
    scene_close(&s);
}

static void a_silent_controller_is_given_up(void **state)
{
    struct stub_answer answers[] = {{.bytes = NULL, .after = STUB_HOLD},
                                    {.bytes = "HTTP/1.1 200 ", .after = STUB_HOLD}};
    struct scene s = scene_open(answers, 2, 100);
    struct fettle_answer *a = NULL;
    assert_int_equal(fettle_status(s.f, &a, &s.e), -ETIMEDOUT);
    assert_non_null(strstr(s.e.message, "within 100 ms"));
    assert_int_equal(fettle_status(s.f, &a, &s.e), -ETIMEDOUT);
    scene_close(&s);
}

/* A server may close an idle connection: reading is tried once more; a change with the same id. */
static void a_connection_closed_between_calls_is_made_anew(void **state)
{
    CLEANUP_FREE char *answer = stub_json(200, "{}");
    struct stub_answer answers[] = {
        {.bytes = answer, .after = STUB_CLOSE}, {.bytes = answer, .after = STUB_CLOSE},
        {.bytes = answer, .after = STUB_KEEP},  {.bytes = NULL, .after = STUB_CLOSE},
        {.bytes = answer, .after = STUB_KEEP},  {.bytes = NULL, .after = STUB_CLOSE},
        {.bytes = answer, .after = STUB_KEEP}};
    struct scene s = scene_open(answers, 7, 60000);
    struct fettle_answer *a = NULL;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(fettle_status(s.f, &a, &s.e), 0);
        fettle_answer_free(a);
    }
    assert_int_equal(fettle_status(s.f, &a, &s.e), 0); /* the fourth request is sent again as the fifth */
    fettle_answer_free(a);
    a = NULL;
    assert_int_equal(fettle_reload(s.f, &a, &s.e), 0); /* the sixth may have been carried out */
    fettle_answer_free(a);
    stub_join(s.stub);
    assert_int_equal(stub_requests(s.stub), 7);
    assert_string_equal(stub_request(s.stub, 6), stub_request(s.stub, 5));
    scene_close(&s);
}

static const char *request_id(const struct stub *s, size_t i)
{
    const char *header = strstr(stub_request(s, i), "Idempotency-Key: ");
    return header ? header + strlen("Idempotency-Key: ") : NULL;
}

/* Each change has an id of its own, and no reading or dry run has one. */
static void test_each_change_has_an_id(void **state)
{
    CLEANUP_FREE char *answer = stub_json(200, "{}");
    const struct stub_answer answers[] = {
        {.bytes = answer}, {.bytes = answer}, {.bytes = answer}, {.bytes = answer}};
    struct scene s = scene_open(answers, 4, 0);
    struct fettle_answer *a[4] = {0};
    assert_int_equal(fettle_reload(s.f, &a[0], &s.e), 0);
    assert_int_equal(fettle_reload(s.f, &a[1], &s.e), 0);
    assert_int_equal(fettle_status(s.f, &a[2], &s.e), 0);
    fettle_dry_run(s.f, true);
    assert_int_equal(fettle_reload(s.f, &a[3], &s.e), 0);
    stub_join(s.stub);
    const char *first = request_id(s.stub, 0), *second = request_id(s.stub, 1);
    assert_non_null(first);
    assert_non_null(second);
    assert_int_equal(strspn(first, "0123456789abcdef"), 32);
    assert_memory_not_equal(first, second, 32);
    assert_null(request_id(s.stub, 2));
    assert_null(request_id(s.stub, 3));
    for (size_t i = 0; i < 4; i++)
        fettle_answer_free(a[i]);
    scene_close(&s);
}

/* A controller that does not know, one that has no leader and one that breaks off: the change is asked for
 * again until one says what came of it. */
static void test_a_lost_answer_is_asked_for_again(void **state)
{
    CLEANUP_FREE char *unknown =
        stub_json(504, "{\"error\":{\"code\":\"outcome_unknown\",\"message\":\"it is not known\"}}");
    CLEANUP_FREE char *later =
        stub_json(503, "{\"error\":{\"code\":\"unavailable\",\"message\":\"no leader\"}}");
    CLEANUP_FREE char *done = stub_json(200, "{\"revision\":7,\"changed\":\"n1\"}");
    const struct stub_answer answers[] = {{.bytes = unknown, .after = STUB_CLOSE},
                                          {.bytes = later, .after = STUB_CLOSE},
                                          {.bytes = NULL, .after = STUB_CLOSE},
                                          {.bytes = done}};
    struct scene s = scene_open(answers, 4, 60000);
    struct fettle_answer *a = NULL;
    assert_int_equal(fettle_node_drain(s.f, "n1", "x", &a, &s.e), 0);
    assert_string_equal(fettle_get_text(fettle_answer_value(a), "revision"), "7");
    fettle_answer_free(a);
    stub_join(s.stub);
    for (size_t i = 1; i < 4; i++)
        assert_string_equal(stub_request(s.stub, i), stub_request(s.stub, 0));
    scene_close(&s);
}

/* A refusal says that nothing was done, and what was done before is known by the id. */
static void test_a_refusal_after_a_lost_answer_is_the_last_word(void **state)
{
    CLEANUP_FREE char *refusal =
        stub_json(409, "{\"error\":{\"code\":\"conflict\",\"message\":\"it is taken\"}}");
    const struct stub_answer answers[] = {{.bytes = NULL, .after = STUB_CLOSE}, {.bytes = refusal}};
    struct scene s = scene_open(answers, 2, 60000);
    struct fettle_answer *a = NULL;
    assert_int_equal(fettle_node_drain(s.f, "n1", "x", &a, &s.e), -EBUSY);
    assert_string_equal(s.e.message, "it is taken");
    scene_close(&s);
}

static void test_a_good_answer_is_an_object(void **state)
{
    static const char *const bodies[] = {"[]", "[{}]", "null", "7", "\"x\"", "true"};
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        CLEANUP_FREE char *answer = stub_json(200, bodies[i]);
        const struct stub_answer answers[] = {{.bytes = answer}};
        struct scene s = scene_open(answers, 1, 5000);
        struct fettle_answer *a = NULL;
        assert_int_equal(fettle_status(s.f, &a, &s.e), -EPROTO);
        assert_non_null(strstr(s.e.message, *bodies[i] == '[' ? "is no object of JSON"
                                                              : "neither an object nor an array"));
        assert_null(a);
        scene_close(&s);
    }
}

/* An error without its two words is none of Fettle's. */
static void test_a_refusal_without_words_names_its_status(void **state)
{
    static const char *const bodies[] = {"{}",
                                         "{\"error\":{}}",
                                         "{\"error\":{\"code\":\"not_found\"}}",
                                         "{\"error\":{\"message\":\"m\"}}",
                                         "{\"error\":7}",
                                         ""};
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        CLEANUP_FREE char *answer = stub_json(404, bodies[i]);
        const struct stub_answer answers[] = {{.bytes = answer}};
        struct scene s = scene_open(answers, 1, 5000);
        struct fettle_answer *a = NULL;
        assert_int_equal(fettle_status(s.f, &a, &s.e), -EPROTO);
        assert_non_null(strstr(s.e.message, "is not Fettle's (HTTP status 404)"));
        scene_close(&s);
    }
}

/* Nobody knows what came of a change whose answer is cut; a dry run changed nothing. */
static void test_a_cut_answer_to_a_change_is_an_unknown_outcome(void **state)
{
    static const char cut[] = "HTTP/1.1 200 X\r\nContent-Length: 100\r\n\r\n{";
    const struct stub_answer answers[] = {{.bytes = cut, .after = STUB_CLOSE}};
    struct scene s = scene_open(answers, 1, 500), dry = scene_open(answers, 1, 500);
    struct fettle_answer *a = NULL;
    assert_int_equal(fettle_node_drain(s.f, "n1", "x", &a, &s.e), -EINPROGRESS);
    assert_non_null(strstr(s.e.message, "it is not known whether the change was made: "));
    assert_non_null(strstr(s.e.message, "look before you try again"));
    fettle_dry_run(dry.f, true);
    assert_int_equal(fettle_node_drain(dry.f, "n1", "x", &a, &dry.e), -EPROTO);
    assert_null(a);
    scene_close(&s);
    scene_close(&dry);
}

/* What was never sent changed nothing. */
static void test_a_change_without_a_controller_is_known_not_to_be_made(void **state)
{
    struct fettle_options o = {.controller = "/nonexistent/fettled.sock"};
    struct fettle *f = NULL;
    struct fettle_answer *a = NULL;
    struct fettle_error e;
    assert_int_equal(fettle_open(&o, &f, &e), 0);
    assert_int_equal(fettle_node_drain(f, "n1", "x", &a, &e), -ECONNREFUSED);
    assert_string_equal(e.message, "no controller at /nonexistent/fettled.sock: No such file or directory");
    fettle_close(f);
    fettle_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_dry_run_is_asked_for),
        cmocka_unit_test(a_text_is_read_as_an_answer),
        cmocka_unit_test(a_refusal_is_told_as_it_is),
        cmocka_unit_test(a_raw_call_gives_status_and_text),
        cmocka_unit_test(garbage_and_cut_answers_are_errors),
        cmocka_unit_test(every_body_form_is_read),
        cmocka_unit_test(a_huge_answer_is_refused),
        cmocka_unit_test(a_silent_controller_is_given_up),
        cmocka_unit_test(a_connection_closed_between_calls_is_made_anew),
        cmocka_unit_test(test_each_change_has_an_id),
        cmocka_unit_test(test_a_lost_answer_is_asked_for_again),
        cmocka_unit_test(test_a_refusal_after_a_lost_answer_is_the_last_word),
        cmocka_unit_test(test_a_good_answer_is_an_object),
        cmocka_unit_test(test_a_refusal_without_words_names_its_status),
        cmocka_unit_test(test_a_cut_answer_to_a_change_is_an_unknown_outcome),
        cmocka_unit_test(test_a_change_without_a_controller_is_known_not_to_be_made),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
