/* SPDX-License-Identifier: Apache-2.0 */
#include "link/fixture_test.h"
#include "link/peer.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

/* What happened to a peer, as one line that a test compares. */
struct side {
    struct peer *p;
    struct text log;
    bool opened, closed;
    int code;
    bool pause_after_each;
    unsigned last; /* which of all frames its last one was */
};

static struct side server_side, client_side, other_side;
static struct side *accepting; /* whose the next connection is */
static unsigned frames;        /* that came to either */
static struct span work;       /* that each frame costs the server */

static void on_open(struct peer *p, void *arg)
{
    struct side *side = arg;
    side->opened = true;
}

static void on_frame(struct peer *p, void *arg, const struct frame *f)
{
    struct side *side = arg;
    char name[16];
    struct mono until = mono_add(mono_now(), work);
    while (mono_now().ns < until.ns)
        continue;
    side->last = frames++;
    text_printf(&side->log, "%s%s ", frame_name(f->type, name), f->body);
    if (side->pause_after_each)
        peer_pause(p);
}

static void on_close(struct peer *p, void *arg, const struct err *why)
{
    struct side *side = arg;
    assert_false(side->closed);
    side->closed = true;
    side->code = why ? why->code : 0;
    side->p = NULL;
}

static const struct peer_events events = {on_open, on_frame, on_close};

static void on_connection(void *arg, int fd)
{
    accepting->p = peer_accept(&loop, fd, NULL, &events, accepting);
}

static int setup(void **state)
{
    fixture_setup(state);
    memset(&server_side, 0, sizeof server_side);
    memset(&client_side, 0, sizeof client_side);
    memset(&other_side, 0, sizeof other_side);
    accepting = &server_side;
    frames = 0;
    work = (struct span){0};
    return listener_open_tcp(&loop, "127.0.0.1", 0, on_connection, NULL, &server, NULL);
}

static int teardown(void **state)
{
    int r = fixture_teardown(state);
    text_fini(&server_side.log);
    text_fini(&client_side.log);
    text_fini(&other_side.log);
    return r;
}

static bool saw(const struct side *side, const char *log)
{
    return side->log.s && strcmp(side->log.s, log) == 0;
}

static void pair_open(void)
{
    client_side.p = peer_dial(&loop, "127.0.0.1", listener_port(server), NULL, NULL, &events, NULL);
    peer_set_arg(client_side.p, &client_side);
    run_until(client_side.opened && server_side.opened);
}

static int raw_open(void)
{
    int fd = raw_dial();
    run_until(server_side.opened);
    return fd;
}

static void send_all(int fd, const void *bytes, size_t n)
{
    assert_int_equal(send(fd, bytes, n, 0), n);
}

static void add_frame(struct text *t, uint8_t type, uint8_t flags, uint16_t channel, const char *body)
{
    uint8_t header[FRAME_HEADER_BYTES];
    frame_encode_header(header, type, flags, channel, strlen(body));
    text_add_bytes(t, header, sizeof header);
    text_add(t, body);
}

static void frames_go_both_ways(void **state)
{
    pair_open();
    peer_send(client_side.p, FRAME_HELLO, 0, "{\"name\":\"lx01\"}", 15);
    peer_send(client_side.p, FRAME_HEARTBEAT, 0, "{}", 2);
    run_until(saw(&server_side, "HELLO{\"name\":\"lx01\"} HEARTBEAT{} "));
    peer_send(server_side.p, FRAME_WELCOME, FRAME_CRITICAL, "{}", 2);
    run_until(saw(&client_side, "WELCOME{} "));
    peer_close(client_side.p);
    run_until(client_side.closed && server_side.closed);
    assert_int_equal(client_side.code, 0);
    assert_int_equal(server_side.code, 0);
}

static void frames_arrive_in_pieces(void **state)
{
    int fd = raw_open();
    CLEANUP_TEXT struct text bytes = {0};
    add_frame(&bytes, FRAME_HELLO, 0, 0, "{\"name\":1}");
    for (size_t i = 0; i < bytes.len; i++) {
        assert_null(server_side.log.s);
        send_all(fd, bytes.s + i, 1);
        run_quiet();
    }
    run_until(saw(&server_side, "HELLO{\"name\":1} "));
    close(fd);
    run_until(server_side.closed);
}

static void many_frames_arrive_in_one_segment(void **state)
{
    int fd = raw_open();
    CLEANUP_TEXT struct text bytes = {0}, want = {0};
    for (int i = 0; i < 500; i++) {
        add_frame(&bytes, FRAME_HEARTBEAT, 0, 0, "{}");
        text_add(&want, "HEARTBEAT{} ");
    }
    send_all(fd, bytes.s, bytes.len);
    run_until(saw(&server_side, want.s));
    close(fd);
}

static void an_oversized_frame_closes_the_link(void **state)
{
    int fd = raw_open();
    send_all(fd, "\0\1\0\1\4\0\0\0", 8);
    run_until(server_side.closed);
    assert_int_equal(server_side.code, -EPROTO);
    close(fd);
}

static void the_largest_frame_arrives(void **state)
{
    pair_open();
    CLEANUP_FREE char *body = mem_alloc(FRAME_BODY_BYTES_MAX + 1);
    memset(body, ' ', FRAME_BODY_BYTES_MAX);
    peer_send(client_side.p, FRAME_INVENTORY, 0, body, FRAME_BODY_BYTES_MAX);
    run_until(server_side.log.len == FRAME_BODY_BYTES_MAX + strlen("INVENTORY "));
    peer_send(client_side.p, FRAME_INVENTORY, 0, body, FRAME_BODY_BYTES_MAX + 1);
    run_until(client_side.closed && server_side.closed);
    assert_int_equal(client_side.code, -E2BIG);
}

static void unknown_frames_are_ignored(void **state)
{
    int fd = raw_open();
    CLEANUP_TEXT struct text bytes = {0};
    add_frame(&bytes, 200, 0, 0, "{}");
    add_frame(&bytes, 0, 0, 0, "");
    add_frame(&bytes, FRAME_HEARTBEAT, 0, 7, "{}");
    add_frame(&bytes, FRAME_HEARTBEAT, FRAME_BINARY, 0, "\x81\x02");
    add_frame(&bytes, FRAME_HEARTBEAT, 0, 0, "{}");
    send_all(fd, bytes.s, bytes.len);
    run_until(saw(&server_side, "HEARTBEAT{} "));
    close(fd);
}

static void unknown_critical_frames_close_the_link(void **state)
{
    int fd = raw_open();
    CLEANUP_TEXT struct text bytes = {0};
    add_frame(&bytes, 200, FRAME_CRITICAL, 0, "{}");
    add_frame(&bytes, FRAME_HEARTBEAT, 0, 0, "{}");
    send_all(fd, bytes.s, bytes.len);
    run_until(server_side.closed);
    assert_int_equal(server_side.code, -EPROTO);
    assert_null(server_side.log.s);
    close(fd);
}

static void a_refusal_arrives_and_then_the_close(void **state)
{
    pair_open();
    peer_refuse(server_side.p, -EACCES, "node \"%s\" is not yours", "lx01");
    run_until(client_side.closed && server_side.closed);
    assert_string_equal(client_side.log.s,
                        "REFUSE{\"code\":\"forbidden\",\"message\":\"node \\\"lx01\\\" is not yours\"} ");
    assert_int_equal(client_side.code, 0);
    assert_int_equal(server_side.code, 0);
}

static void pause_stops_between_two_frames_of_a_segment(void **state)
{
    int fd = raw_open();
    server_side.pause_after_each = true;
    CLEANUP_TEXT struct text bytes = {0};
    add_frame(&bytes, FRAME_HELLO, 0, 0, "1");
    add_frame(&bytes, FRAME_HEARTBEAT, 0, 0, "2");
    add_frame(&bytes, FRAME_HEARTBEAT, 0, 0, "3");
    send_all(fd, bytes.s, bytes.len);
    run_until(saw(&server_side, "HELLO1 "));
    run_quiet();
    assert_true(saw(&server_side, "HELLO1 "));
    peer_resume(server_side.p);
    assert_true(saw(&server_side, "HELLO1 "));
    run_until(saw(&server_side, "HELLO1 HEARTBEAT2 "));
    send_all(fd, bytes.s, FRAME_HEADER_BYTES + 1);
    run_quiet();
    server_side.pause_after_each = false;
    peer_resume(server_side.p);
    run_until(saw(&server_side, "HELLO1 HEARTBEAT2 HEARTBEAT3 HELLO1 "));
    close(fd);
}

static void a_peer_that_takes_nothing_is_closed(void **state)
{
    pair_open();
    peer_pause(client_side.p);
    CLEANUP_FREE char *body = mem_alloc(FRAME_BODY_BYTES_MAX);
    for (int i = 0; i < 1000 && !server_side.closed; i++) {
        peer_send(server_side.p, FRAME_WANT, 0, body, FRAME_BODY_BYTES_MAX);
        uv_run(&loop, UV_RUN_NOWAIT);
    }
    run_until(server_side.closed);
    assert_int_equal(server_side.code, -ENOBUFS);
}

/* What one sends beyond its share of a turn waits behind what others send, and comes in order. */
static void a_peer_with_much_to_do_delays_nobody(void **state)
{
    enum { MANY = 50 };
    uint8_t frame[FRAME_HEADER_BYTES + 1];
    CLEANUP_TEXT struct text segment = {0}, all = {0};
    int busy = raw_open();
    accepting = &other_side;
    int other = raw_dial();
    run_until(other_side.opened);
    work = span_ms(2);
    for (int i = 0; i < MANY; i++) {
        frame_encode_header(frame, FRAME_HEARTBEAT, 0, 0, 1);
        frame[FRAME_HEADER_BYTES] = (uint8_t)('0' + i);
        text_add_bytes(&segment, (char *)frame, sizeof frame);
        text_printf(&all, "HEARTBEAT%c ", '0' + i);
    }
    send_all(busy, segment.s, segment.len);
    frame_encode_header(frame, FRAME_INVENTORY, 0, 0, 1);
    send_all(other, frame, sizeof frame);
    run_until(saw(&server_side, all.s) && other_side.log.s);
    assert_true(other_side.last < 5);
    close(busy);
    close(other);
    run_until(server_side.closed && other_side.closed);
}

static void backoff_grows_to_a_minute(void **state)
{
    const struct span spread = span_s(15);
    assert_int_equal(peer_backoff(0, spread, span_s(60), 0).ns, 0);
    assert_int_equal(peer_backoff(0, span_s(0), span_s(60), UINT64_MAX).ns, 0);
    for (uint64_t random = 1; random < UINT64_MAX / 3; random *= 3)
        assert_true(peer_backoff(0, spread, span_s(60), random).ns <= spread.ns);
    static const int64_t most_s[] = {1, 2, 4, 8, 16, 32, 60, 60, 60};
    for (unsigned i = 0; i < sizeof most_s / sizeof most_s[0]; i++) {
        uint64_t most_ns = (uint64_t)span_s(most_s[i]).ns;
        assert_int_equal(peer_backoff(i + 1, spread, span_s(60), most_ns).ns, most_ns);
        assert_int_equal(peer_backoff(i + 1, spread, span_s(60), most_ns + 1).ns, 0);
    }
    assert_true(peer_backoff(UINT32_MAX, spread, span_s(60), UINT64_MAX).ns <= span_s(60).ns);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(frames_go_both_ways),
        TEST(frames_arrive_in_pieces),
        TEST(many_frames_arrive_in_one_segment),
        TEST(an_oversized_frame_closes_the_link),
        TEST(the_largest_frame_arrives),
        TEST(unknown_frames_are_ignored),
        TEST(unknown_critical_frames_close_the_link),
        TEST(a_refusal_arrives_and_then_the_close),
        TEST(pause_stops_between_two_frames_of_a_segment),
        TEST(a_peer_that_takes_nothing_is_closed),
        TEST(a_peer_with_much_to_do_delays_nobody),
        cmocka_unit_test(backoff_grows_to_a_minute),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
