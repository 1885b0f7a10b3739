/* SPDX-License-Identifier: Apache-2.0 */
#include "api/events.h"

#include "api/wire_test.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define INSTANCE UINT64_C(0xabc)
#define ID "0000000000000abc."

struct stage {
    struct wall until; /* of the next subscriber */
    struct events *events;
    struct wire wire;
    unsigned subscribers;
};

static void on_request(void *arg, struct http_request *r)
{
    struct stage *s = arg;
    events_subscribe(s->events, r, http_header(r, "Last-Event-ID"), s->until);
    s->subscribers++;
}

static void each_turn(void *arg)
{
    events_turn(((struct stage *)arg)->events);
}

static void stage_open(struct stage *s)
{
    *s = (struct stage){.events = events_create(INSTANCE)};
    wire_open(&s->wire, on_request, s);
    s->wire.each_turn = each_turn;
    s->wire.arg = s;
}

static void stage_close(struct stage *s)
{
    wire_close(&s->wire);
    events_destroy(s->events);
}

/* A subscriber that has been taken; after the id, or from now on. */
static int subscribe(struct stage *s, const char *last_id)
{
    CLEANUP_TEXT struct text t = {0};
    text_add(&t, "GET / HTTP/1.1\r\nHost: h\r\n");
    if (last_id)
        text_printf(&t, "Last-Event-ID: %s\r\n", last_id);
    text_add(&t, "\r\n");
    unsigned before = s->subscribers;
    int fd = wire_connect(&s->wire, t.s);
    struct mono end = mono_add(mono_now(), span_s(30));
    while (s->subscribers == before && mono_now().ns < end.ns)
        wire_turn(&s->wire);
    assert_int_equal(s->subscribers, before + 1);
    return fd;
}

static void add(struct stage *s, const char *text, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        events_add(
            s->events,
            &(struct event){{0}, "node.late", "fettled", "lx01", text, 0, NULL, NULL, NULL, NULL, false, 0});
}

static size_t count(const struct text *t, const char *what)
{
    size_t n = 0;
    for (const char *p = strstr(t->s, what); p; p = strstr(p + 1, what))
        n++;
    return n;
}

/* Nothing of before the subscription, everything after it, numbered. */
static void test_from_now(void **state)
{
    struct stage s;
    stage_open(&s);
    add(&s, "old", 2);
    int fd = subscribe(&s, NULL);
    add(&s, "new", 2);
    CLEANUP_TEXT struct text t = {0};
    wire_read_until(&s.wire, fd, &t, "id: " ID "4\n");
    assert_int_equal(count(&t, "\"old\""), 0);
    assert_int_equal(count(&t, "id: " ID "3\n"), 1);
    close(fd);
    stage_close(&s);
}

/* A stream lasts as long as the token by which it was asked for, and others go on. */
static void test_a_stream_ends_with_the_token(void **state)
{
    struct stage s;
    stage_open(&s);
    int lasting = subscribe(&s, NULL);
    s.until = (struct wall){wall_now().ns + span_ms(300).ns};
    int fd = subscribe(&s, NULL);
    add(&s, "before", 1);
    CLEANUP_TEXT struct text t = {0}, u = {0};
    wire_read_until(&s.wire, fd, &t, "\r\n0\r\n\r\n");
    assert_int_equal(count(&t, "\"before\""), 1);
    assert_true(wall_now().ns >= s.until.ns);
    add(&s, "after", 1);
    wire_read_until(&s.wire, lasting, &u, "\"after\"");
    close(fd);
    close(lasting);
    stage_close(&s);
}

/* Who comes back gets what it has missed, each once and in order. */
static void test_resume(void **state)
{
    struct stage s;
    stage_open(&s);
    add(&s, "x", 5);
    int fd = subscribe(&s, ID "2");
    CLEANUP_TEXT struct text t = {0};
    wire_read_until(&s.wire, fd, &t, "id: " ID "5\n");
    assert_int_equal(count(&t, "event: "), 3);
    assert_true(strstr(t.s, "id: " ID "3\n") < strstr(t.s, "id: " ID "4\n"));
    close(fd);
    stage_close(&s);
}

/* After the newest event there is nothing to send, and nothing was missed. */
static void test_resume_at_the_end(void **state)
{
    struct stage s;
    stage_open(&s);
    add(&s, "x", 2);
    int fd = subscribe(&s, ID "2");
    add(&s, "y", 1);
    CLEANUP_TEXT struct text t = {0};
    wire_read_until(&s.wire, fd, &t, "id: " ID "3\n");
    assert_int_equal(count(&t, "event: "), 1);
    close(fd);
    stage_close(&s);
}

/* An id of another controller, of the future, or none at all: "resync", then what comes. */
static void test_resync_foreign(void **state)
{
    static const char *const ids[] = {"0000000000000abd.1",     ID "9", ID "x", ID, "1", "",
                                      ID "18446744073709551615"};
    struct stage s;
    stage_open(&s);
    add(&s, "old", 2);
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        int fd = subscribe(&s, ids[i]);
        CLEANUP_TEXT struct text t = {0};
        wire_read_until(&s.wire, fd, &t, "event: resync\ndata: {");
        assert_int_equal(count(&t, "\"old\""), 0);
        close(fd);
    }
    stage_close(&s);
}

/* The last 4,096 are kept: after the one before them is no gap, after an older one there is. */
static void test_resync_old(void **state)
{
    struct stage s;
    stage_open(&s);
    add(&s, "x", EVENTS_KEPT_MAX + 10);
    int fd = subscribe(&s, ID "10");
    CLEANUP_TEXT struct text t = {0};
    wire_read_until(&s.wire, fd, &t, "id: " ID "4106\n");
    assert_int_equal(count(&t, "event: node.late"), EVENTS_KEPT_MAX);
    assert_int_equal(count(&t, "event: resync"), 0);
    close(fd);

    fd = subscribe(&s, ID "9");
    text_clear(&t);
    wire_read_until(&s.wire, fd, &t, "id: " ID "4106\nevent: resync\n");
    assert_int_equal(count(&t, "event: node.late"), 0);
    close(fd);
    stage_close(&s);
}

static char *long_text(size_t n)
{
    char *s = mem_alloc(n + 1);
    memset(s, 'x', n);
    return s;
}

/* One that does not read is not cut off and costs nothing; when it reads again after the ring has
 * moved on, it is told that it missed something, and others were not held up. */
static void test_slow(void **state)
{
    CLEANUP_FREE char *big = long_text(100 << 10);
    struct stage s;
    stage_open(&s);
    int slow = subscribe(&s, NULL), quick = subscribe(&s, NULL);
    CLEANUP_TEXT struct text seen = {0}, late = {0};
    for (int i = 1; i <= 200; i++) { /* 20 MB: more than is kept and than sockets hold */
        char id[64];
        snprintf(id, sizeof id, "id: " ID "%d\n", i);
        add(&s, big, 1);
        text_clear(&seen);
        wire_read_until(&s.wire, quick, &seen, id);
        assert_int_equal(count(&seen, "resync"), 0);
    }
    wire_read_until(&s.wire, slow, &late, "event: resync\n");
    assert_true(count(&late, "event: node.late") < 200);
    add(&s, "after", 1);
    wire_read_until(&s.wire, slow, &late, "\"after\"");
    close(slow);
    close(quick);
    stage_close(&s);
}

/* An event that is too large is a "resync" for everybody. */
static void test_too_large(void **state)
{
    CLEANUP_FREE char *huge = long_text(EVENT_BYTES_MAX);
    struct stage s;
    stage_open(&s);
    int fd = subscribe(&s, NULL);
    add(&s, huge, 1);
    add(&s, "small", 1);
    CLEANUP_TEXT struct text t = {0};
    wire_read_until(&s.wire, fd, &t, "\"small\"");
    assert_non_null(strstr(t.s, "id: " ID "1\nevent: resync\n"));
    assert_int_equal(count(&t, "xxxx"), 0);
    close(fd);
    stage_close(&s);
}

/* At most 64 in one turn; the others in the next ones, each once. */
static void test_turns(void **state)
{
    enum { MANY = 150 };
    struct stage s;
    int fds[MANY];
    stage_open(&s);
    s.wire.each_turn = NULL;
    for (int i = 0; i < MANY; i++)
        fds[i] = subscribe(&s, NULL);
    add(&s, "x", 1); /* is a turn itself */
    assert_true(events_turn(s.events));
    assert_false(events_turn(s.events));
    for (int i = 0; i < MANY; i++) {
        CLEANUP_TEXT struct text t = {0};
        wire_read_until(&s.wire, fds[i], &t, "event: node.late");
        assert_int_equal(count(&t, "event: "), 1);
        close(fds[i]);
    }
    stage_close(&s);
}

/* Streams that are open when the events go are ended, not left dangling. */
static void test_destroy(void **state)
{
    struct stage s;
    stage_open(&s);
    int fd = subscribe(&s, NULL);
    s.wire.each_turn = NULL;
    events_destroy(s.events);
    CLEANUP_TEXT struct text t = {0};
    wire_read_until(&s.wire, fd, &t, "\r\n0\r\n\r\n");
    close(fd);
    wire_close(&s.wire);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_from_now),
        cmocka_unit_test(test_resume),
        cmocka_unit_test(test_resume_at_the_end),
        cmocka_unit_test(test_resync_foreign),
        cmocka_unit_test(test_resync_old),
        cmocka_unit_test(test_slow),
        cmocka_unit_test(test_too_large),
        cmocka_unit_test(test_turns),
        cmocka_unit_test(test_a_stream_ends_with_the_token),
        cmocka_unit_test(test_destroy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
