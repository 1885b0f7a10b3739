/* SPDX-License-Identifier: Apache-2.0 */
/* Heartbeats as bodies: what makes one, and what is unknown in it. Sessions are in agents_test.c. */
#include "controller/sessions/collectors_inside.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define BEAT "\"instance\":\"00000000000000a1\",\"seq\":7"

static json_t *body_of(const char *text)
{
    json_t *body = json_read(text, strlen(text), NULL);
    assert_non_null(body);
    return body;
}

static void all_is_read(void **state)
{
    CLEANUP_JSON json_t *body = body_of("{" BEAT ",\"boot\":\"b\",\"uptime_s\":60,\"work\":[\"a.scope\"]}");
    struct heartbeat h;
    assert_int_equal(heartbeat_read(body, &h, NULL), 0);
    assert_int_equal(h.instance, 0xa1);
    assert_int_equal(h.seq, 7);
    assert_int_equal(h.uptime_s, 60);
    assert_string_equal(h.boot, "b");
    assert_int_equal(json_array_size(h.work), 1);
}

static void an_incomplete_heartbeat_is_refused(void **state)
{
    static const char *const bodies[] = {
        "{}",
        "{\"seq\":7}",
        "{\"instance\":\"a1\",\"seq\":7}",
        "{\"instance\":\"00000000000000a1\"}",
        "{\"instance\":\"00000000000000a1\",\"seq\":-1}",
        "{\"instance\":\"00000000000000a1\",\"seq\":\"7\"}",
    };
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        CLEANUP_JSON json_t *body = body_of(bodies[i]);
        struct heartbeat h;
        struct err e = {0};
        assert_int_equal(heartbeat_read(body, &h, &e), -EINVAL);
        assert_string_not_equal(e.msg, "");
    }
}

static const json_t *work_of(const json_t *body)
{
    struct heartbeat h;
    assert_int_equal(heartbeat_read(body, &h, NULL), 0);
    return h.work;
}

/* A node of which it is not known what runs there is not idle. */
static void odd_work_is_unknown(void **state)
{
    static const char *const bodies[] = {
        "{" BEAT "}",
        "{" BEAT ",\"work\":null}",
        "{" BEAT ",\"work\":\"a.scope\"}",
        "{" BEAT ",\"work\":[\"a.scope\",7]}",
    };
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        CLEANUP_JSON json_t *body = body_of(bodies[i]);
        assert_null(work_of(body));
    }
    CLEANUP_JSON json_t *idle = body_of("{" BEAT ",\"work\":[]}");
    assert_non_null(work_of(idle));
}

static void work_has_limits(void **state)
{
    CLEANUP_JSON json_t *body = body_of("{" BEAT "}");
    char name[257];
    memset(name, 'x', sizeof name);
    name[255] = '\0';
    json_t *work = json_array();
    json_object_set_new(body, "work", work);
    for (int i = 0; i < 1024; i++)
        json_array_append_new(work, json_string(name));
    assert_non_null(work_of(body));
    json_array_append_new(work, json_string("one more"));
    assert_null(work_of(body));
    json_array_clear(work);
    name[255] = 'x';
    name[256] = '\0';
    json_array_append_new(work, json_string(name));
    assert_null(work_of(body));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_is_read),
        cmocka_unit_test(an_incomplete_heartbeat_is_refused),
        cmocka_unit_test(odd_work_is_unknown),
        cmocka_unit_test(work_has_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
