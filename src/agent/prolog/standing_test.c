/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/prolog/standing.h"

#include "agent/life_test.h"
#include "agent/prolog/prolog.h"
#include "base/text.h"

#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* A job that is about to start where something changed, and what the controller says of it. */

static int dial(const struct node *n)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    snprintf(at.sun_path, sizeof at.sun_path, "%s%s", n->root, PROLOG_SOCKET);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(send(fd, "prolog 7\n", 9, MSG_NOSIGNAL), 9);
    return fd;
}

struct answer {
    int fd;
    struct text said;
};

/* Reads until the agent ends the connection. */
static bool has_answered(void *arg)
{
    struct answer *a = arg;
    char bytes[512];
    ssize_t n;
    while ((n = recv(a->fd, bytes, sizeof bytes, 0)) > 0)
        text_add_bytes(&a->said, bytes, (size_t)n);
    return n == 0;
}

static void on_wake(uv_timer_t *timer)
{
}

static void on_closed(uv_handle_t *handle)
{
}

/* Nothing on the loop tells of the connection's other end. */
static bool wait_woken(struct fake *f, fake_cond_fn *cond, void *arg)
{
    uv_timer_t wake;
    uv_timer_init(&f->loop, &wake);
    uv_timer_start(&wake, on_wake, 5, 5);
    bool good = fake_wait(f, cond, arg);
    uv_close((uv_handle_t *)&wake, on_closed);
    uv_run(&f->loop, UV_RUN_NOWAIT);
    return good;
}

static void expect_answer(struct fake *f, int fd, const char *want)
{
    struct answer a = {.fd = fd};
    assert_true(wait_woken(f, has_answered, &a));
    assert_string_equal(a.said.s, want);
    text_fini(&a.said);
    close(fd);
}

/* The agent has asked the controller, or the job may begin without that. */
struct question {
    struct fake *f;
    struct answer answer;
    int from, at;
};

static bool is_settled(void *arg)
{
    struct question *q = arg;
    for (q->at = q->from; q->at < q->f->n_frames; q->at++)
        if (q->f->frames[q->at].type == FRAME_STANDING)
            return true;
    char byte;
    return recv(q->answer.fd, &byte, 1, MSG_PEEK) == 1 && byte == 'o' && has_answered(&q->answer);
}

/* Changes the node, and dials n times. The question. A glance that takes too long finds no change, and that
 * is no failure: it is tried again. */
static json_t *ask(struct fake *f, const struct node *n, int *fds, int count)
{
    for (int tries = 0; tries < 20; tries++) {
        static int changes;
        struct question q = {.f = f, .from = f->n_frames};
        char cmdline[32];
        snprintf(cmdline, sizeof cmdline, "quiet %d\n", ++changes);
        fake_write(n->root, "proc/cmdline", cmdline);
        for (int i = 0; i < count; i++)
            fds[i] = dial(n);
        q.answer.fd = fds[0];
        assert_true(wait_woken(f, is_settled, &q));
        text_fini(&q.answer.said);
        if (q.at < f->n_frames)
            return f->frames[q.at].body;
        for (int i = 0; i < count; i++)
            close(fds[i]);
    }
    fail_msg("no glance found the change");
    return NULL;
}

static void start(struct fake *f, struct node *n, int *peer)
{
    int at;
    life_start(f, n, "lx01");
    life_frame(f, FRAME_HEARTBEAT, 0, 1, NULL);
    life_frame(f, FRAME_FINGERPRINT, 0, 1, &at);
    *peer = f->frames[at].peer;
}

/* The agent's question, with the nonce of which the controller answers. */
static void answer(struct fake *f, int peer, const char *fingerprint, const char *nonce, const char *why)
{
    fake_send(f, peer, FRAME_STANDING, "{\"fingerprint\":\"%s\",\"nonce\":\"%s\",\"why\":\"%s\"}",
              fingerprint, nonce, why);
}

static void test_where_nothing_changed_the_controller_is_not_asked(void **state)
{
    struct fake *f = *state;
    struct node n;
    int peer;
    start(f, &n, &peer);
    expect_answer(f, dial(&n), "ok\n");
    for (int i = 0; i < f->n_frames; i++)
        assert_int_not_equal(f->frames[i].type, FRAME_STANDING);
    life_stop(f, &n);
}

static void test_where_something_changed_the_controller_s_word_counts(void **state)
{
    static const struct {
        const char *why, *says;
    } cases[] = {{"kernel.cmdline (major)", "wait 5000\nno drift: kernel.cmdline (major)\n"},
                 {"", "wait 5000\nok\n"}};
    struct fake *f = *state;
    struct node n;
    int peer, fd;
    start(f, &n, &peer);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *asks = ask(f, &n, &fd, 1);
        const char *fingerprint = life_string(asks, "fingerprint"), *nonce = life_string(asks, "nonce");
        /* What was not asked just now does not count. */
        answer(f, peer, fingerprint, "00000000000000000000000000000000", "an old answer");
        char other[65];
        snprintf(other, sizeof other, "%064d", 0);
        answer(f, peer, other, nonce, "of another fingerprint");
        answer(f, peer, fingerprint, nonce, cases[i].why);
        expect_answer(f, fd, cases[i].says);
    }
    life_stop(f, &n);
}

static void test_callers_share_one_question(void **state)
{
    struct fake *f = *state;
    struct node n;
    int peer, fds[3];
    start(f, &n, &peer);
    json_t *asks = ask(f, &n, fds, 3);
    close(fds[1]); /* it does not wait for the answer */
    answer(f, peer, life_string(asks, "fingerprint"), life_string(asks, "nonce"), "drifted");
    expect_answer(f, fds[0], "wait 5000\nno drift: drifted\n");
    expect_answer(f, fds[2], "wait 5000\nno drift: drifted\n");
    life_stop(f, &n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_LIFE(test_where_nothing_changed_the_controller_is_not_asked),
        IN_LIFE(test_where_something_changed_the_controller_s_word_counts),
        IN_LIFE(test_callers_share_one_question),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
