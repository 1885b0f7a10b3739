/* SPDX-License-Identifier: Apache-2.0 */
#include "link/cutter.h"

#include "base/text.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
/* cmocka wants those before itself */
#include <cmocka.h>

static void header_round_trip(void **state)
{
    uint8_t bytes[FRAME_HEADER_BYTES];
    frame_encode_header(bytes, FRAME_BATCH, FRAME_CRITICAL, 0x1234, 0xfedc);
    const uint8_t wire[] = {0, 0, 0xfe, 0xdc, 8, 1, 0x12, 0x34};
    assert_memory_equal(bytes, wire, sizeof wire);
    struct frame f;
    size_t len;
    assert_int_equal(frame_decode_header(bytes, &f, &len, NULL), 0);
    assert_int_equal(f.type, FRAME_BATCH);
    assert_int_equal(f.flags, FRAME_CRITICAL);
    assert_int_equal(f.channel, 0x1234);
    assert_int_equal(len, 0xfedc);
}

static void header_refuses_a_body_over_the_limit(void **state)
{
    struct frame f;
    size_t len;
    struct err e;
    const uint8_t most[] = {0, 1, 0, 0, 1, 0, 0, 0}, more[] = {0, 1, 0, 1, 1, 0, 0, 0},
                  all[] = {255, 255, 255, 255, 1, 0, 0, 0};
    assert_int_equal(frame_decode_header(most, &f, &len, &e), 0);
    assert_int_equal(len, FRAME_BODY_BYTES_MAX);
    assert_int_equal(frame_decode_header(more, &f, &len, &e), -EPROTO);
    assert_string_equal(e.msg, "a frame of 65537 bytes, and 65536 is the limit");
    assert_int_equal(frame_decode_header(all, &f, &len, &e), -EPROTO);
}

static void names(void **state)
{
    char buf[16];
    assert_string_equal(frame_name(FRAME_HEARTBEAT, buf), "HEARTBEAT");
    assert_string_equal(frame_name(77, buf), "type 77");
    assert_string_equal(frame_name(255, buf), "type 255");
}

struct seen {
    struct text t;
    int stop_after; /* frames; 0 for never */
};

static bool see(void *arg, const struct frame *f)
{
    struct seen *seen = arg;
    char name[16];
    assert_int_equal(f->body[f->len], '\0');
    text_printf(&seen->t, "%s(%zu %.8s) ", frame_name(f->type, name), f->len, f->body);
    return --seen->stop_after != 0;
}

static void add_frame(struct text *t, uint8_t type, const char *body, size_t len)
{
    uint8_t header[FRAME_HEADER_BYTES];
    frame_encode_header(header, type, 0, 0, len);
    text_add_bytes(t, header, sizeof header);
    text_add_bytes(t, body, len);
}

static void three_frames(struct text *t)
{
    add_frame(t, FRAME_HELLO, "{}", 2);
    add_frame(t, FRAME_WANT, "", 0);
    add_frame(t, FRAME_BATCH, "{\"a\":1}", 7);
}

static const char three_seen[] = "HELLO(2 {}) WANT(0 ) BATCH(7 {\"a\":1}) ";

static void cuts_frames_however_the_bytes_arrive(void **state)
{
    CLEANUP_TEXT struct text bytes = {0};
    three_frames(&bytes);
    for (size_t step = 1; step <= bytes.len; step++) {
        struct cutter c = {0};
        struct seen seen = {0};
        for (size_t at = 0; at < bytes.len; at += step) {
            size_t n = bytes.len - at < step ? bytes.len - at : step, used;
            assert_int_equal(cutter_feed(&c, bytes.s + at, n, &used, see, &seen, NULL), 0);
            assert_int_equal(used, n);
        }
        assert_string_equal(seen.t.s, three_seen);
        assert_null(c.body);
        text_fini(&seen.t);
        cutter_fini(&c);
    }
}

static void stops_where_it_is_told_and_goes_on(void **state)
{
    CLEANUP_TEXT struct text bytes = {0};
    three_frames(&bytes);
    struct cutter c = {0};
    struct seen seen = {.stop_after = 1};
    size_t used, rest;
    assert_int_equal(cutter_feed(&c, bytes.s, bytes.len, &used, see, &seen, NULL), 0);
    assert_int_equal(used, FRAME_HEADER_BYTES + 2);
    assert_string_equal(seen.t.s, "HELLO(2 {}) ");
    assert_int_equal(cutter_feed(&c, bytes.s + used, bytes.len - used, &rest, see, &seen, NULL), 0);
    assert_int_equal(used + rest, bytes.len);
    assert_string_equal(seen.t.s, three_seen);
    text_fini(&seen.t);
    cutter_fini(&c);
}

static void refuses_an_oversized_frame_before_taking_memory(void **state)
{
    struct cutter c = {0};
    struct err e;
    size_t used;
    assert_int_equal(cutter_feed(&c, "\xff\xff\xff\xff\1\0\0\0", 8, &used, see, NULL, &e), -EPROTO);
    assert_null(c.body);
    cutter_fini(&c);
}

static void frees_a_frame_that_never_ends(void **state)
{
    struct cutter c = {0};
    size_t used;
    assert_int_equal(cutter_feed(&c, "\0\0\0\x09\1\0\0\0{", 9, &used, see, NULL, NULL), 0);
    assert_non_null(c.body);
    cutter_fini(&c);
    assert_null(c.body);
}

static void each_receiver_takes_what_the_table_says(void **state)
{
    static const struct {
        uint8_t type;
        enum frame_receiver to;
        const char *from; /* one letter for each sender, from nobody to controller: + it fits */
    } cases[] = {
        {FRAME_HELLO, FRAME_TO_CONTROLLER, "-+---"},   {FRAME_HELLO, FRAME_TO_COLLECTOR, "-+---"},
        {FRAME_HELLO, FRAME_TO_AGENT, "-----"},        {FRAME_HEARTBEAT, FRAME_TO_CONTROLLER, "--+++"},
        {FRAME_BATCH, FRAME_TO_CONTROLLER, "---++"},   {FRAME_BATCH, FRAME_TO_COLLECTOR, "-----"},
        {FRAME_RENEW, FRAME_TO_COLLECTOR, "-----"},    {FRAME_SETTINGS, FRAME_TO_AGENT, "---++"},
        {FRAME_SHARE, FRAME_TO_AGENT, "----+"},        {FRAME_PASS, FRAME_TO_CONTROLLER, "---++"},
        {FRAME_PASS, FRAME_TO_AGENT, "----+"},         {77, FRAME_TO_CONTROLLER, "-----"},
        {FRAME_STANDING, FRAME_TO_COLLECTOR, "--+++"}, {FRAME_STANDING, FRAME_TO_AGENT, "---++"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char got[6] = "";
        for (int from = FRAME_FROM_NOBODY; from <= FRAME_FROM_CONTROLLER; from++)
            got[from] = frame_fits(cases[i].type, cases[i].to, (enum frame_sender)from) ? '+' : '-';
        assert_string_equal(got, cases[i].from);
    }
}

static void some_are_passed_on(void **state)
{
    CLEANUP_TEXT struct text t = {0};
    char name[16];
    for (int type = 0; type <= UINT8_MAX; type++)
        if (frame_is_passed((uint8_t)type))
            text_printf(&t, "%s ", frame_name((uint8_t)type, name));
    assert_string_equal(t.s, "CHECKS ACT DONE STANDING ");
    assert_true(frame_is_known(FRAME_ENDED));
    assert_false(frame_is_known(0));
    assert_false(frame_is_known(77));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(header_round_trip),
        cmocka_unit_test(header_refuses_a_body_over_the_limit),
        cmocka_unit_test(names),
        cmocka_unit_test(cuts_frames_however_the_bytes_arrive),
        cmocka_unit_test(stops_where_it_is_told_and_goes_on),
        cmocka_unit_test(refuses_an_oversized_frame_before_taking_memory),
        cmocka_unit_test(frees_a_frame_that_never_ends),
        cmocka_unit_test(each_receiver_takes_what_the_table_says),
        cmocka_unit_test(some_are_passed_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
