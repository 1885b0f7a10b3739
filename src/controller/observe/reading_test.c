/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/observe/reading.h"

#include "watch/fixture_test.h"

#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static bool refuse(void *arg, const struct command *cmd)
{
    return false;
}

static void mute(void *arg, const char *what, const char *nodes, const char *text)
{
}

static void no_alarm(void *arg, const struct alarm *a, const char *over)
{
}

/* A leader with two nodes, and who reads what it observes. */
struct scene {
    struct world *x;
    struct watch *w;
    struct reading *r;
    struct text stream;
    uint64_t said;
    unsigned whole;
};

static void on_whole(void *arg)
{
    ++((struct scene *)arg)->whole;
}

static void add(struct scene *s, const char *name, const char *json)
{
    text_printf(&s->stream, "id: 7.00000000000000aa.%" PRIu64 "\nevent: %s\ndata: %s\n\n", ++s->said, name,
                json);
}

static void on_piece(void *arg, enum picture_piece k, const char *json)
{
    add(arg, picture_piece_name(k), json);
}

#define HEAD "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
#define BEGIN "id: 7.00000000000000aa.1\nevent: begin\ndata: {\"version\":1,\"origin\":\"here\"}\n\n"

static void scene_init(struct scene *s)
{
    const struct watch_sink sink = {NULL, refuse, mute, no_alarm};
    *s = (struct scene){.x = world_create(2)};
    s->w = watch_create_following(s->x->c, &s->x->policy, world_now(s->x), &sink);
    s->r = reading_create(s->w, "here", on_whole, s);
    struct picture *p = picture_create();
    text_add(&s->stream, HEAD ":\n\n" BEGIN);
    s->said = 1;
    while (picture_step(s->x->w, world_now(s->x), world_wall(s->x), p, 10, on_piece, s))
        ;
    add(s, "of-a-newer-version", "{}");
    add(s, "now", "{}");
    picture_destroy(p);
}

static void scene_fini(struct scene *s)
{
    reading_destroy(s->r);
    watch_destroy(s->w);
    world_destroy(s->x);
    text_fini(&s->stream);
}

static int feed(struct scene *s, const char *bytes, size_t n, bool *news, struct err *e)
{
    return reading_feed(s->r, bytes, n, world_now(s->x), world_wall(s->x), news, e);
}

/* Wherever the connection cuts the bytes. */
static void test_a_stream_is_read(void **state)
{
    for (size_t step = 1; step < 4000; step = step * 5 + 2) {
        struct scene s;
        struct err e;
        bool news = false;
        scene_init(&s);
        for (size_t at = 0; at < s.stream.len; at += step) {
            const size_t n = s.stream.len - at < step ? s.stream.len - at : step;
            if (feed(&s, s.stream.s + at, n, &news, &e) < 0)
                fail_msg("%s", e.msg);
        }
        assert_true(news);
        assert_int_equal(s.whole, 1);
        assert_int_equal(watch_observed(s.w, world_node(s.x, 2))->beat.liveness, LIVENESS_LIVE);
        scene_fini(&s);
    }
}

struct bad {
    const char *stream;
    int rc;
    const char *says;
};

static void test_what_is_not_the_stream_ends_the_reading(void **state)
{
    static const struct bad all[] = {
        {"SSH-2.0-x\r\n\r\n", -EPROTO, "does not answer with HTTP"},
        {"\r\n", -EPROTO, "no status"},
        {"HTTP/1.1 421 Misdirected Request\r\n", -EREMOTE, "421"},
        {HEAD "id: 7.aa.1\nevent: node\ndata: {}\n\n", -EPROTO, "before the beginning"},
        {HEAD "event: begin\ndata: {}\n\n", -EPROTO, "without a number"},
        {HEAD "id: 7.aa.1\nevent: begin\ndata: {\n\n", -EPROTO, ""},
        {HEAD "id: 7.aa.1\nevent: begin\ndata: {\"version\":2,\"origin\":\"here\"}\n\n", -EPROTO,
         "version 2"},
        {HEAD "id: 7.aa.1\nevent: begin\ndata: {\"version\":1,\"origin\":\"there\"}\n\n", -EPROTO,
         "another state"},
        {HEAD "id: 7.aa.2\nevent: begin\ndata: {\"version\":1,\"origin\":\"here\"}\n\n", -EPROTO,
         "piece 2 follows 0"},
        {HEAD BEGIN "id: 7.00000000000000aa.3\nevent: now\ndata: {}\n\n", -EPROTO, "piece 3 follows 1"},
        {HEAD BEGIN "id: 8.00000000000000aa.2\nevent: now\ndata: {}\n\n", -EPROTO, "another leader"},
        {HEAD BEGIN "id: 7.00000000000000ab.2\nevent: now\ndata: {}\n\n", -EPROTO, "another leader"},
        {HEAD BEGIN "id: 7.00000000000000aa.2\nevent: node\ndata: {}\n\n", -EINVAL, "is no node"},
        {HEAD BEGIN "event: 0123456789012345678901234567890123456789\n", -EPROTO, "40 bytes"},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct scene s;
        struct err e = {0};
        bool news;
        scene_init(&s);
        const int rc = feed(&s, all[i].stream, strlen(all[i].stream), &news, &e);
        if (rc != all[i].rc || !strstr(e.msg, all[i].says))
            fail_msg("%s: %d %s", all[i].stream, rc, e.msg);
        scene_fini(&s);
    }
}

/* Nothing is kept of what has no end. */
static void test_lines_have_a_limit(void **state)
{
    struct scene s;
    struct err e;
    bool news;
    int rc = 0;
    char filler[4096];
    size_t fed = 0;
    memset(filler, 'x', sizeof filler);
    scene_init(&s);
    assert_int_equal(feed(&s, HEAD BEGIN "data: ", strlen(HEAD BEGIN "data: "), &news, &e), 0);
    for (; rc == 0; fed += sizeof filler)
        rc = feed(&s, filler, sizeof filler, &news, &e);
    assert_int_equal(rc, -E2BIG);
    assert_true(fed < 2 * PICTURE_LINE_BYTES_MAX);
    scene_fini(&s);
    scene_init(&s);
    rc = feed(&s, "HTTP/1.1 200 OK\n", 16, &news, &e);
    filler[sizeof filler - 1] = '\n';
    for (fed = 0; rc == 0; fed += sizeof filler)
        rc = feed(&s, filler, sizeof filler, &news, &e);
    assert_int_equal(rc, -E2BIG);
    assert_true(fed <= READING_HEAD_BYTES_MAX + sizeof filler);
    scene_fini(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_stream_is_read),
        cmocka_unit_test(test_what_is_not_the_stream_ends_the_reading),
        cmocka_unit_test(test_lines_have_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
