/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"
#include "fettle.h"
#include "lib/sse.h"
#include "lib/stub_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A stub, and a handle that waits for it 200 ms where the answer is not to come. */
struct scene {
    struct stub *stub;
    struct fettle *f;
    struct fettle_error e;
};

static struct scene scene_open(const struct stub_answer *answers, size_t n, int timeout_ms)
{
    struct scene s = {.stub = stub_start(answers, n)};
    struct fettle_options o = {.controller = stub_path(s.stub), .timeout_ms = timeout_ms};
    assert_int_equal(fettle_open(&o, &s.f, &s.e), 0);
    return s;
}

static void scene_close(struct scene *s)
{
    fettle_close(s->f);
    stub_stop(s->stub);
}

static void an_address_is_a_path_or_https(void **state)
{
    static const char *const good[] = {"/run/x.sock",       "unix:/run/x.sock",       "https://ctl:6121",
                                       "https://ctl:6121/", "https://127.0.0.1:6121", "https://[::1]:6121"};
    static const char *const bad[] = {"ctl:6121",
                                      "http://ctl:6121",
                                      "https://ctl",
                                      "https://:1",
                                      "unix:x.sock",
                                      "https://c:1/x",
                                      "https://[::1:6121",
                                      "https://c:123456",
                                      "https://c:65536",
                                      "https://c:12x",
                                      "x"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        struct fettle_options o = {.controller = good[i]};
        struct fettle *f = NULL;
        struct fettle_error e = {0};
        if (fettle_open(&o, &f, &e) != 0)
            fail_msg("%s", e.message);
        fettle_close(f);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct fettle_options o = {.controller = bad[i]};
        struct fettle *f = NULL;
        struct fettle_error e = {0};
        assert_int_equal(fettle_open(&o, &f, &e), -EINVAL);
        assert_non_null(strstr(e.message, bad[i] + (strncmp(bad[i], "unix:", 5) == 0 ? 5 : 0)));
    }
}

static void the_environment_names_the_controller(void **state)
{
    CLEANUP_FREE char *answer = stub_json(200, "{\"version\":\"1\"}");
    struct stub_answer answers[] = {{.bytes = answer}};
    struct stub *stub = stub_start(answers, 1);
    struct fettle *f = NULL;
    struct fettle_answer *a = NULL;
    setenv("FETTLE_CONTROLLER", stub_path(stub), 1);
    assert_int_equal(fettle_open(NULL, &f, NULL), 0);
    unsetenv("FETTLE_CONTROLLER");
    assert_int_equal(fettle_status(f, &a, NULL), 0);
    assert_string_equal(fettle_get_text(fettle_answer_value(a), "version"), "1");
    fettle_answer_free(a);
    fettle_close(f);
    stub_stop(stub);
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

/* Each call makes the request that the interface's description says. */
static void calls_become_requests(void **state)
{
    CLEANUP_FREE char *answer = stub_json(200, "{}");
    struct stub_answer answers[20];
    for (size_t i = 0; i < 20; i++)
        answers[i] = (struct stub_answer){.bytes = answer};
    struct scene s = scene_open(answers, 20, 0);
    struct fettle_setting settings[] = {{"CPUs", "64"}, {"OS", NULL}};
    struct fettle_answer *a[20] = {0};
    const struct fettle_token plain = {.nodes = "lx1"}, all = {"lx1", "6h", 3, 1, "10.0.0.0/8", "U"};
    assert_int_equal(fettle_node_list(s.f, "lx[1-3]", "Name,State", &a[0], &s.e), 0);
    assert_int_equal(fettle_node_list(s.f, NULL, NULL, &a[1], &s.e), 0);
    assert_int_equal(fettle_node_show(s.f, "lx/1?", &a[2], &s.e), 0);
    assert_int_equal(fettle_node_drain(s.f, "lx1", "a \"bad\" disk\n", &a[3], &s.e), 0);
    assert_int_equal(fettle_node_undrain(s.f, "lx1", NULL, &a[4], &s.e), 0);
    assert_int_equal(fettle_node_undrain(s.f, "lx1", "c7", &a[5], &s.e), 0);
    assert_int_equal(fettle_node_set(s.f, "lx1", settings, 2, &a[6], &s.e), 0);
    assert_int_equal(fettle_journal(s.f, 12, 100, &a[7], &s.e), 0);
    assert_int_equal(fettle_reload(s.f, &a[8], &s.e), 0);
    assert_int_equal(fettle_token_create(s.f, &plain, &a[9], &s.e), 0);
    assert_int_equal(fettle_token_create(s.f, &all, &a[10], &s.e), 0);
    assert_int_equal(fettle_certificate_create(s.f, "ada", "admin", "PEM", NULL, &a[11], &s.e), 0);
    assert_int_equal(fettle_partition_list(s.f, &a[12], &s.e), 0);
    assert_int_equal(fettle_node_up(s.f, "lx1", NULL, &a[13], &s.e), 0);
    const struct fettle_journal_search search = {
        .nodes = "lx1", .by = "ann", .since = 5, .before = 7, .tail = 2};
    assert_int_equal(fettle_journal_find(s.f, &search, &a[14], &s.e), 0);
    assert_int_equal(fettle_certificate_list(s.f, &a[15], &s.e), 0);
    assert_int_equal(fettle_certificate_revoke(s.f, "lx1", NULL, NULL, "lost", &a[16], &s.e), 0);
    assert_int_equal(fettle_certificate_revoke(s.f, NULL, "operator:ada", "a1", "lost", &a[17], &s.e), 0);
    assert_int_equal(fettle_token_list(s.f, &a[18], &s.e), 0);
    assert_int_equal(fettle_token_end(s.f, "0123", "leaked", &a[19], &s.e), 0);
    for (size_t i = 0; i < 20; i++)
        fettle_answer_free(a[i]);
    stub_join(s.stub);
    static const struct {
        const char *line, *body;
    } wanted[] = {
        {"GET /v1/nodes?nodes=lx%5B1-3%5D&fields=Name%2CState HTTP/1.1\r\n", ""},
        {"GET /v1/nodes HTTP/1.1\r\n", ""},
        {"GET /v1/nodes/lx%2F1%3F HTTP/1.1\r\n", ""},
        {"POST /v1/nodes/drain HTTP/1.1\r\n", "{\"nodes\":\"lx1\",\"reason\":\"a \\\"bad\\\" disk\\u000a\"}"},
        {"POST /v1/nodes/undrain HTTP/1.1\r\n", "{\"nodes\":\"lx1\"}"},
        {"POST /v1/nodes/undrain HTTP/1.1\r\n", "{\"nodes\":\"lx1\",\"claim\":\"c7\"}"},
        {"POST /v1/nodes/set HTTP/1.1\r\n", "{\"nodes\":\"lx1\",\"set\":{\"CPUs\":\"64\",\"OS\":null}}"},
        {"GET /v1/journal?after=12&limit=100 HTTP/1.1\r\n", ""},
        {"POST /v1/reload HTTP/1.1\r\n", ""},
        {"POST /v1/tokens HTTP/1.1\r\n", "{\"nodes\":\"lx1\"}"},
        {"POST /v1/tokens HTTP/1.1\r\n", "{\"nodes\":\"lx1\",\"valid\":\"6h\",\"from\":\"10.0.0.0/"
                                         "8\",\"uuid\":\"U\",\"count\":3,\"again\":true}"},
        {"POST /v1/certificates HTTP/1.1\r\n", "{\"name\":\"ada\",\"role\":\"admin\",\"request\":\"PEM\"}"},
        {"GET /v1/partitions HTTP/1.1\r\n", ""},
        {"POST /v1/nodes/up HTTP/1.1\r\n", "{\"nodes\":\"lx1\"}"},
        {"GET /v1/journal?tail=2&nodes=lx1&by=ann&since=5&before=7 HTTP/1.1\r\n", ""},
        {"GET /v1/certificates HTTP/1.1\r\n", ""},
        {"POST /v1/certificates/revoke HTTP/1.1\r\n", "{\"nodes\":\"lx1\",\"reason\":\"lost\"}"},
        {"POST /v1/certificates/revoke HTTP/1.1\r\n",
         "{\"holder\":\"operator:ada\",\"serial\":\"a1\",\"reason\":\"lost\"}"},
        {"GET /v1/tokens HTTP/1.1\r\n", ""},
        {"POST /v1/tokens/end HTTP/1.1\r\n", "{\"id\":\"0123\",\"reason\":\"leaked\"}"}};
    assert_int_equal(stub_requests(s.stub), sizeof wanted / sizeof wanted[0]);
    for (size_t i = 0; i < stub_requests(s.stub); i++) {
        const char *request = stub_request(s.stub, i);
        assert_memory_equal(request, wanted[i].line, strlen(wanted[i].line));
        assert_string_equal(strstr(request, "\r\n\r\n") + 4, wanted[i].body);
    }
    assert_int_equal(stub_connections(s.stub), 1); /* it is kept */
    scene_close(&s);
}

static void calls_about_health_become_requests(void **state)
{
    CLEANUP_FREE char *answer = stub_json(200, "{}");
    enum { CALLS = 26 };
    struct stub_answer answers[CALLS];
    for (size_t i = 0; i < CALLS; i++)
        answers[i] = (struct stub_answer){.bytes = answer};
    struct scene s = scene_open(answers, CALLS, 0);
    struct fettle_answer *a[CALLS] = {0}, **next = a;
    assert_int_equal(fettle_health_show(s.f, "lx/1", next++, &s.e), 0);
    assert_int_equal(fettle_incident_list(s.f, NULL, 0, next++, &s.e), 0);
    assert_int_equal(fettle_incident_list(s.f, "lx[1-2]", 5, next++, &s.e), 0);
    assert_int_equal(fettle_trial_list(s.f, NULL, NULL, next++, &s.e), 0);
    assert_int_equal(fettle_trial_list(s.f, "pair", "lx[1-2]", next++, &s.e), 0);
    assert_int_equal(fettle_check_list(s.f, next++, &s.e), 0);
    assert_int_equal(fettle_check_explain(s.f, "xid.79", next++, &s.e), 0);
    assert_int_equal(fettle_check_run(s.f, "lx1", "fs.space", next++, &s.e), 0);
    assert_int_equal(fettle_remedy_list(s.f, next++, &s.e), 0);
    assert_int_equal(fettle_remedy_explain(s.f, "lx1", next++, &s.e), 0);
    assert_int_equal(fettle_repair_move(s.f, "lx1", "manual_drain", "a \"look\"", next++, &s.e), 0);
    assert_int_equal(fettle_repair_approve(s.f, "lx1", NULL, NULL, next++, &s.e), 0);
    assert_int_equal(fettle_repair_approve(s.f, "lx1", "reboot", "go", next++, &s.e), 0);
    assert_int_equal(fettle_repair_refuse(s.f, "lx1", NULL, "no", next++, &s.e), 0);
    assert_int_equal(fettle_repair_refuse(s.f, "lx1", "reboot", "no", next++, &s.e), 0);
    assert_int_equal(fettle_repair_numbers(s.f, 0, next++, &s.e), 0);
    assert_int_equal(fettle_repair_numbers(s.f, 48, next++, &s.e), 0);
    assert_int_equal(fettle_queue_list(s.f, next++, &s.e), 0);
    const struct fettle_finding findings[] = {{"xid.79", "gpu 0000:9b:00"}, {"scratch", NULL}};
    assert_int_equal(fettle_queue_resolve(s.f, "lx1", findings, 2, "a cable", next++, &s.e), 0);
    assert_int_equal(fettle_queue_take(s.f, "lx[1-2]", next++, &s.e), 0);
    assert_int_equal(fettle_queue_note(s.f, "lx1", "ordered", next++, &s.e), 0);
    assert_int_equal(fettle_brake_list(s.f, next++, &s.e), 0);
    assert_int_equal(fettle_brake_set(s.f, "stop", true, "cooling", next++, &s.e), 0);
    assert_int_equal(fettle_brake_set(s.f, "latch", false, "seen", next++, &s.e), 0);
    assert_int_equal(fettle_power(s.f, "lx1", "cycle", "hung", true, next++, &s.e), 0);
    assert_int_equal(fettle_power(s.f, "lx1", "status", NULL, false, next++, &s.e), 0);
    for (size_t i = 0; i < CALLS; i++)
        fettle_answer_free(a[i]);
    stub_join(s.stub);
    static const struct {
        const char *line, *body;
    } wanted[] = {
        {"GET /v1/health/lx%2F1 HTTP/1.1\r\n", ""},
        {"GET /v1/incidents HTTP/1.1\r\n", ""},
        {"GET /v1/incidents?nodes=lx%5B1-2%5D&since=5 HTTP/1.1\r\n", ""},
        {"GET /v1/trials HTTP/1.1\r\n", ""},
        {"GET /v1/trials?check=pair&nodes=lx%5B1-2%5D HTTP/1.1\r\n", ""},
        {"GET /v1/checks HTTP/1.1\r\n", ""},
        {"GET /v1/explain/xid.79 HTTP/1.1\r\n", ""},
        {"POST /v1/checks/run HTTP/1.1\r\n", "{\"nodes\":\"lx1\",\"check\":\"fs.space\"}"},
        {"GET /v1/remedies HTTP/1.1\r\n", ""},
        {"GET /v1/remedies/lx1 HTTP/1.1\r\n", ""},
        {"POST /v1/repairs/transition HTTP/1.1\r\n",
         "{\"nodes\":\"lx1\",\"transition\":\"manual_drain\",\"reason\":\"a \\\"look\\\"\"}"},
        {"POST /v1/repairs/approve HTTP/1.1\r\n", "{\"nodes\":\"lx1\"}"},
        {"POST /v1/repairs/approve HTTP/1.1\r\n",
         "{\"nodes\":\"lx1\",\"remedy\":\"reboot\",\"reason\":\"go\"}"},
        {"POST /v1/repairs/refuse HTTP/1.1\r\n", "{\"nodes\":\"lx1\",\"reason\":\"no\"}"},
        {"POST /v1/repairs/refuse HTTP/1.1\r\n",
         "{\"nodes\":\"lx1\",\"remedy\":\"reboot\",\"reason\":\"no\"}"},
        {"GET /v1/repairs/numbers HTTP/1.1\r\n", ""},
        {"GET /v1/repairs/numbers?hours=48 HTTP/1.1\r\n", ""},
        {"GET /v1/queue HTTP/1.1\r\n", ""},
        {"POST /v1/queue/resolve HTTP/1.1\r\n",
         "{\"nodes\":\"lx1\",\"findings\":[{\"fault\":\"xid.79\",\"device\":\"gpu 0000:9b:00\"},"
         "{\"fault\":\"scratch\"}],\"reason\":\"a cable\"}"},
        {"POST /v1/queue/ticket HTTP/1.1\r\n", "{\"nodes\":\"lx[1-2]\",\"take\":true}"},
        {"POST /v1/queue/ticket HTTP/1.1\r\n", "{\"nodes\":\"lx1\",\"reason\":\"ordered\"}"},
        {"GET /v1/brakes HTTP/1.1\r\n", ""},
        {"POST /v1/brakes/set HTTP/1.1\r\n", "{\"name\":\"stop\",\"on\":true,\"reason\":\"cooling\"}"},
        {"POST /v1/brakes/set HTTP/1.1\r\n", "{\"name\":\"latch\",\"on\":false,\"reason\":\"seen\"}"},
        {"POST /v1/power HTTP/1.1\r\n",
         "{\"nodes\":\"lx1\",\"do\":\"cycle\",\"reason\":\"hung\",\"force\":true}"},
        {"POST /v1/power HTTP/1.1\r\n", "{\"nodes\":\"lx1\",\"do\":\"status\"}"}};
    assert_int_equal(stub_requests(s.stub), sizeof wanted / sizeof wanted[0]);
    for (size_t i = 0; i < stub_requests(s.stub); i++) {
        const char *request = stub_request(s.stub, i);
        assert_memory_equal(request, wanted[i].line, strlen(wanted[i].line));
        assert_string_equal(strstr(request, "\r\n\r\n") + 4, wanted[i].body);
    }
    scene_close(&s);
}

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

static void nobody_there_is_said(void **state)
{
    struct fettle_options o = {.controller = "/nonexistent/fettled.sock"};
    struct fettle *f = NULL;
    struct fettle_answer *a = NULL;
    struct fettle_error e;
    assert_int_equal(fettle_open(&o, &f, &e), 0);
    assert_int_equal(fettle_status(f, &a, &e), -ECONNREFUSED);
    assert_string_equal(e.message, "no controller at /nonexistent/fettled.sock: No such file or directory");
    fettle_close(f);
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

/* A server may close an idle connection: reading is tried once more, changing is not. */
static void a_connection_closed_between_calls_is_made_anew(void **state)
{
    CLEANUP_FREE char *answer = stub_json(200, "{}");
    struct stub_answer answers[] = {
        {.bytes = answer, .after = STUB_CLOSE}, {.bytes = answer, .after = STUB_CLOSE},
        {.bytes = answer, .after = STUB_KEEP},  {.bytes = NULL, .after = STUB_CLOSE},
        {.bytes = answer, .after = STUB_KEEP},  {.bytes = NULL, .after = STUB_CLOSE},
        {.bytes = answer, .after = STUB_KEEP}};
    struct scene s = scene_open(answers, 7, 5000);
    struct fettle_answer *a = NULL;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(fettle_status(s.f, &a, &s.e), 0);
        fettle_answer_free(a);
    }
    assert_int_equal(fettle_status(s.f, &a, &s.e), 0); /* the fourth request is sent again as the fifth */
    fettle_answer_free(a);
    a = NULL;
    assert_int_equal(fettle_reload(s.f, &a, &s.e), -EINPROGRESS); /* it may have been carried out */
    assert_non_null(strstr(s.e.message,
                           "it is not known whether the change was made: the controller closed the "
                           "connection without an answer; look before you try again"));
    assert_null(a);
    stub_join(s.stub);
    assert_int_equal(stub_requests(s.stub), 6);
    scene_close(&s);
}

#define STREAM_HEAD "HTTP/1.1 200 X\r\nContent-Type: text/event-stream\r\n\r\n"

static void events_come_one_by_one(void **state)
{
    struct stub_answer answers[] = {{.bytes = STREAM_HEAD
                                     ": hello\n\nid: a-1\nevent: node.drain\ndata: {\"text\":\"x\"}\n\n"
                                     "id: a-2\ndata: {\"text\":\ndata: \"y\"}\n\n",
                                     .after = STUB_HOLD}};
    struct scene s = scene_open(answers, 1, 5000);
    struct fettle_events *events = NULL;
    struct fettle_event event;
    assert_int_equal(fettle_events_open(s.f, NULL, &events, &s.e), 0);
    assert_int_equal(fettle_events_next(events, 5000, &event, &s.e), 0);
    assert_string_equal(event.id, "a-1");
    assert_string_equal(event.name, "node.drain");
    assert_string_equal(fettle_get_text(event.data, "text"), "x");
    assert_int_equal(fettle_events_next(events, 5000, &event, &s.e), 0);
    assert_string_equal(event.id, "a-2");
    assert_string_equal(event.name, "message");
    assert_string_equal(fettle_get_text(event.data, "text"), "y");
    assert_int_equal(fettle_events_next(events, 20, &event, &s.e), -ETIMEDOUT);
    assert_int_equal(fettle_events_next(events, 0, &event, &s.e), -ETIMEDOUT);
    fettle_events_close(events);
    scene_close(&s);
}

static void a_lost_stream_goes_on_after_the_last_event(void **state)
{
    struct stub_answer answers[] = {
        {.bytes = STREAM_HEAD "id: a-1\ndata: {}\n\nid: a-2\ndata: {}", .after = STUB_CLOSE},
        {.bytes = "garbage", .after = STUB_CLOSE},
        {.bytes = STREAM_HEAD "id: a-2\ndata: {}\n\n", .after = STUB_HOLD}};
    struct scene s = scene_open(answers, 3, 5000);
    struct fettle_events *events = NULL;
    struct fettle_event event;
    assert_int_equal(fettle_events_open(s.f, "a-0", &events, &s.e), 0);
    assert_int_equal(fettle_events_next(events, 5000, &event, &s.e), 0);
    assert_string_equal(event.id, "a-1");
    assert_int_equal(fettle_events_next(events, 5000, &event, &s.e), -EPROTO); /* garbage is told */
    assert_int_equal(fettle_events_next(events, 5000, &event, &s.e), 0);
    assert_string_equal(event.id, "a-2");
    fettle_events_close(events);
    stub_join(s.stub);
    assert_non_null(strstr(stub_request(s.stub, 0), "\r\nLast-Event-ID: a-0\r\n"));
    assert_non_null(strstr(stub_request(s.stub, 1), "\r\nLast-Event-ID: a-1\r\n"));
    assert_non_null(strstr(stub_request(s.stub, 2), "\r\nLast-Event-ID: a-1\r\n"));
    scene_close(&s);
}

static void without_an_id_a_lost_stream_says_resync(void **state)
{
    struct stub_answer answers[] = {{.bytes = STREAM_HEAD, .after = STUB_CLOSE},
                                    {.bytes = STREAM_HEAD, .after = STUB_HOLD}};
    struct scene s = scene_open(answers, 2, 5000);
    struct fettle_events *events = NULL;
    struct fettle_event event;
    assert_int_equal(fettle_events_open(s.f, NULL, &events, &s.e), 0);
    assert_int_equal(fettle_events_next(events, 5000, &event, &s.e), 0);
    assert_string_equal(event.name, "resync");
    assert_null(event.data);
    fettle_events_close(events);
    scene_close(&s);
}

static void a_refused_stream_is_an_error(void **state)
{
    CLEANUP_FREE char *forbidden =
        stub_json(403, "{\"error\":{\"code\":\"forbidden\",\"message\":\"not you\"}}");
    struct stub_answer answers[] = {{.bytes = forbidden}};
    struct scene s = scene_open(answers, 1, 5000);
    struct fettle_events *events = NULL;
    assert_int_equal(fettle_events_open(s.f, NULL, &events, &s.e), -EACCES);
    assert_string_equal(s.e.message, "not you");
    assert_int_equal(fettle_events_open(s.f, "a\r\nX: y", &events, &s.e), -EINVAL);
    assert_null(events);
    scene_close(&s);
}

/* ---- the event format itself ---- */

static int note(void *arg, const char *name, const char *id, const char *data, size_t len)
{
    text_printf(arg, "[%s|%s|%s]", name, id, data);
    return 0;
}

static void event_bytes_may_be_cut_anywhere(void **state)
{
    static const char bytes[] =
        ": c\r\nid:1\r\nevent: a\r\ndata: x\r\n\r\ndata\ndata: y\n\nretry: 5\rid: 2\rdata:z\r\rid: 3\n\n";
    for (size_t cut = 0; cut < sizeof bytes; cut++) {
        struct sse s = {0};
        CLEANUP_TEXT struct text got = {0};
        assert_int_equal(sse_feed(&s, bytes, cut, note, &got, NULL), 0);
        assert_int_equal(sse_feed(&s, bytes + cut, sizeof bytes - 1 - cut, note, &got, NULL), 0);
        assert_string_equal(got.s, "[a|1|x\n][message|1|\ny\n][message|2|z\n]");
        assert_string_equal(s.id, "3");
        sse_fini(&s);
    }
}

static void an_endless_event_is_refused(void **state)
{
    struct sse s = {0};
    CLEANUP_FREE char *part = mem_alloc(1 << 20);
    memset(part, 'x', 1 << 20);
    int r = 0;
    for (int i = 0; i < 100 && r == 0; i++)
        r = sse_feed(&s, part, 1 << 20, note, NULL, NULL);
    assert_int_equal(r, -E2BIG);
    sse_fini(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_address_is_a_path_or_https),
        cmocka_unit_test(the_environment_names_the_controller),
        cmocka_unit_test(a_text_is_read_as_an_answer),
        cmocka_unit_test(calls_become_requests),
        cmocka_unit_test(calls_about_health_become_requests),
        cmocka_unit_test(a_dry_run_is_asked_for),
        cmocka_unit_test(a_refusal_is_told_as_it_is),
        cmocka_unit_test(a_raw_call_gives_status_and_text),
        cmocka_unit_test(nobody_there_is_said),
        cmocka_unit_test(garbage_and_cut_answers_are_errors),
        cmocka_unit_test(every_body_form_is_read),
        cmocka_unit_test(a_huge_answer_is_refused),
        cmocka_unit_test(a_silent_controller_is_given_up),
        cmocka_unit_test(a_connection_closed_between_calls_is_made_anew),
        cmocka_unit_test(events_come_one_by_one),
        cmocka_unit_test(a_lost_stream_goes_on_after_the_last_event),
        cmocka_unit_test(without_an_id_a_lost_stream_says_resync),
        cmocka_unit_test(a_refused_stream_is_an_error),
        cmocka_unit_test(event_bytes_may_be_cut_anywhere),
        cmocka_unit_test(an_endless_event_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
