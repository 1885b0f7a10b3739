/* SPDX-License-Identifier: Apache-2.0
 *
 * The stream of events: one by one, and on after it was lost.
 */
#include "base/text.h"
#include "lib/scene_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

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

/* The controller that comes back may refuse: that is told, and the reader may ask on. */
static void test_a_refusal_after_a_loss_is_told(void **state)
{
    CLEANUP_FREE char *forbidden =
        stub_json(403, "{\"error\":{\"code\":\"forbidden\",\"message\":\"not you any more\"}}");
    const struct stub_answer answers[] = {{.bytes = STREAM_HEAD "id: a-1\ndata: {}\n\n", .after = STUB_CLOSE},
                                          {.bytes = forbidden, .after = STUB_CLOSE}};
    struct scene s = scene_open(answers, 2, 5000);
    struct fettle_events *events = NULL;
    struct fettle_event event;
    assert_int_equal(fettle_events_open(s.f, NULL, &events, &s.e), 0);
    assert_int_equal(fettle_events_next(events, 5000, &event, &s.e), 0);
    assert_int_equal(fettle_events_next(events, 5000, &event, &s.e), -EACCES);
    assert_string_equal(s.e.message, "not you any more");
    fettle_events_close(events);
    scene_close(&s);
}

static void test_a_controller_that_is_gone_is_waited_for_and_no_longer_than_asked(void **state)
{
    const struct stub_answer answers[] = {
        {.bytes = STREAM_HEAD "id: a-1\ndata: {}\n\n", .after = STUB_CLOSE}};
    struct scene s = scene_open(answers, 1, 5000);
    struct fettle_events *events = NULL;
    struct fettle_event event;
    assert_int_equal(fettle_events_open(s.f, NULL, &events, &s.e), 0);
    assert_int_equal(fettle_events_next(events, 5000, &event, &s.e), 0);
    stub_join(s.stub);
    assert_int_equal(fettle_events_next(events, 150, &event, &s.e), -ETIMEDOUT);
    assert_true(*s.e.message); /* why there is no connection */
    assert_int_equal(fettle_events_next(events, 0, &event, &s.e), -ETIMEDOUT);
    fettle_events_close(events);
    fettle_events_close(NULL);
    scene_close(&s);
}

static void test_an_id_of_nobody_is_refused_before_it_is_sent(void **state)
{
    struct fettle_options o = {.controller = "/nonexistent/fettled.sock"};
    struct fettle *f = NULL;
    struct fettle_events *events = NULL;
    struct fettle_error e = {0};
    char id[130];
    memset(id, 'a', sizeof id);
    id[sizeof id - 1] = '\0';
    assert_int_equal(fettle_open(&o, &f, &e), 0);
    assert_int_equal(fettle_events_open(f, id, &events, &e), -EINVAL);
    assert_string_equal(e.message, "the id of the last event is none of Fettle's");
    assert_int_equal(fettle_events_open(f, "a b", &events, &e), -EINVAL);
    assert_int_equal(fettle_events_open(f, "a-1", &events, &e), -ECONNREFUSED);
    assert_null(events);
    fettle_close(f);
}

static void test_an_error_that_does_not_end_is_cut(void **state)
{
    const struct stub_answer answers[] = {
        {.bytes = "HTTP/1.1 500 X\r\nContent-Length: 100000000\r\n\r\n", .fill = 100000000}};
    struct scene s = scene_open(answers, 1, 30000);
    struct fettle_events *events = NULL;
    assert_int_equal(fettle_events_open(s.f, NULL, &events, &s.e), -E2BIG);
    assert_null(events);
    scene_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_come_one_by_one),
        cmocka_unit_test(a_lost_stream_goes_on_after_the_last_event),
        cmocka_unit_test(without_an_id_a_lost_stream_says_resync),
        cmocka_unit_test(a_refused_stream_is_an_error),
        cmocka_unit_test(test_a_refusal_after_a_loss_is_told),
        cmocka_unit_test(test_a_controller_that_is_gone_is_waited_for_and_no_longer_than_asked),
        cmocka_unit_test(test_an_id_of_nobody_is_refused_before_it_is_sent),
        cmocka_unit_test(test_an_error_that_does_not_end_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
