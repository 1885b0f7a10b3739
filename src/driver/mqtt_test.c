/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/mqtt.h"

#include <errno.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

/*
 * What holds without a broker; with one it is tried in test/mqtt.
 */

struct seen {
    unsigned states, rooms, messages;
    struct err last;
};

static void on_message(void *arg, const char *topic, const char *payload, size_t len)
{
    ((struct seen *)arg)->messages++;
}

static void on_state(void *arg, const struct err *why)
{
    struct seen *s = arg;
    s->states++;
    s->last = why ? *why : (struct err){0};
}

static void on_room(void *arg)
{
    ((struct seen *)arg)->rooms++;
}

/* A port on which nobody listens: its owner is given back. */
static int take_port(uint16_t *port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &len), 0);
    *port = ntohs(at.sin_port);
    return fd;
}

static void test_a_broker_that_is_away_is_said_once_and_loses_the_oldest(void **state)
{
    uv_loop_t loop;
    uint16_t port;
    struct seen seen = {0};
    struct mqtt *m;
    int fd = take_port(&port); /* bound and not listening: refused */
    const struct mqtt_sink sink = {&seen, on_message, on_state, on_room};
    const struct mqtt_conf conf = {.host = "127.0.0.1", .port = port};
    uv_loop_init(&loop);
    assert_int_equal(mqtt_create(&loop, &conf, &sink, &m, NULL), 0);
    assert_false(mqtt_has_room(m));
    for (int i = 0; i < MQTT_OUT_MAX + 7; i++)
        mqtt_publish(m, "t", "x", 1, false);
    assert_int_equal(mqtt_counts(m).dropped_out, 7);
    while (!seen.states)
        uv_run(&loop, UV_RUN_ONCE);
    assert_int_equal(seen.states, 1);
    assert_int_equal(seen.last.code, -EAGAIN);
    assert_non_null(strstr(seen.last.msg, "127.0.0.1"));
    assert_int_equal(seen.rooms, 0);
    mqtt_destroy(m);
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&loop), 0);
    close(fd);
}

static void test_large_messages_count_by_their_bytes(void **state)
{
    static char payload[MQTT_PAYLOAD_BYTES_MAX];
    uv_loop_t loop;
    uint16_t port;
    struct seen seen = {0};
    struct mqtt *m;
    int fd = take_port(&port);
    const struct mqtt_sink sink = {&seen, on_message, on_state, on_room};
    const struct mqtt_conf conf = {.host = "127.0.0.1", .port = port};
    uv_loop_init(&loop);
    assert_int_equal(mqtt_create(&loop, &conf, &sink, &m, NULL), 0);
    for (int i = 0; i < MQTT_QUEUE_BYTES_MAX / MQTT_PAYLOAD_BYTES_MAX + 1; i++)
        mqtt_publish(m, "t", payload, sizeof payload, false);
    assert_true(mqtt_counts(m).dropped_out >= 1 && mqtt_counts(m).dropped_out <= 2);
    mqtt_destroy(m);
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&loop), 0);
    close(fd);
}

static void test_a_configuration_that_cannot_be_is_refused(void **state)
{
    static const char *const topics[] = {"a/#/b"};
    uv_loop_t loop;
    struct seen seen = {0};
    struct mqtt *m = NULL;
    struct err e = {0};
    const struct mqtt_sink sink = {&seen, on_message, on_state, on_room};
    struct mqtt_conf conf = {.host = "127.0.0.1", .port = 1, .ca = "/nonexistent/ca.pem"};
    uv_loop_init(&loop);
    assert_int_equal(mqtt_create(&loop, &conf, &sink, &m, &e), -EINVAL);
    assert_non_null(strstr(e.msg, "/nonexistent/ca.pem"));
    conf.ca = "/etc/passwd"; /* which can be read */
    conf.certificate = "/etc/passwd";
    conf.key = "/nonexistent/own.key";
    assert_int_equal(mqtt_create(&loop, &conf, &sink, &m, &e), -EINVAL);
    assert_string_equal(e.msg, "our own certificate: /nonexistent/own.key: No such file or directory");
    conf = (struct mqtt_conf){.host = "127.0.0.1", .port = 1, .n_topics = 1, .topics = topics};
    assert_int_equal(mqtt_create(&loop, &conf, &sink, &m, &e), -EINVAL);
    assert_non_null(strstr(e.msg, "a/#/b"));
    assert_null(m);
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&loop), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_broker_that_is_away_is_said_once_and_loses_the_oldest),
        cmocka_unit_test(test_large_messages_count_by_their_bytes),
        cmocka_unit_test(test_a_configuration_that_cannot_be_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
