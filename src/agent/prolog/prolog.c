/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/prolog/prolog.h"

#include "agent/prolog/prolog_line.h"
#include "base/log.h"
#include "base/text.h"
#include "link/stream.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utlist.h>

/*
 * The start of a job must not depend on other users of the socket. Each user has a few places, and a client
 * that does not ask within a second loses its place.
 */

enum { ANSWER_BYTES_MAX = 512, ASK_MS = 1000, USERS_MAX = 16, ALL_MAX = 128 };

struct caller {
    struct caller *prev, *next;
    struct prolog *p;
    uv_pipe_t pipe;
    uv_timer_t timer;
    int handles;
    bool root; /* or who the agent itself is */
    bool asked, ending;
    unsigned waits; /* answers that are to come */
    const struct prolog_kind *kind;
    uv_write_t write, last;
    char line[PROLOG_QUESTION_BYTES_MAX], early[32], answer[ANSWER_BYTES_MAX];
    size_t len;
};

struct prolog {
    uv_loop_t *loop;
    struct checker *checker;
    struct standing *standing;
    struct listener *listener;
    struct caller *callers;
    unsigned users, all;
};

static void on_closed(uv_handle_t *handle)
{
    struct caller *k = handle->data;
    if (--k->handles == 0)
        free(k);
}

static void prolog_end(struct caller *k)
{
    if (k->ending)
        return;
    k->ending = true;
    if (k->p) {
        checker_cancel(k->p->checker, k);
        if (k->p->standing)
            standing_cancel(k->p->standing, k);
        DL_DELETE(k->p->callers, k);
        assert(k->p->all > 0 && (k->root || k->p->users > 0));
        k->p->users -= !k->root;
        k->p->all--;
    }
    uv_close((uv_handle_t *)&k->pipe, on_closed);
    uv_close((uv_handle_t *)&k->timer, on_closed);
}

static void on_written(uv_write_t *write, int status)
{
    prolog_end(write->data);
}

/* The first that says no is the reason. */
static void on_answer(void *arg, const char *why_not)
{
    struct caller *k = arg;
    assert(k->waits > 0 && "each answer comes once");
    if (!k->answer[0] && *why_not)
        snprintf(k->answer, sizeof k->answer, "no %s\n", why_not);
    if (--k->waits > 0)
        return;
    if (!k->answer[0])
        snprintf(k->answer, sizeof k->answer, "ok\n");
    uv_buf_t buf = uv_buf_init(k->answer, (unsigned)strlen(k->answer));
    k->last.data = k;
    if (uv_write(&k->last, (uv_stream_t *)&k->pipe, &buf, 1, on_written))
        prolog_end(k);
}

static void on_late(uv_timer_t *timer)
{
    prolog_end(timer->data);
}

static void on_early(uv_write_t *write, int status)
{
}

static void tell_wait(struct caller *k, struct span within)
{
    int64_t ms = span_to_ms(within) + ASK_MS;
    snprintf(k->early, sizeof k->early, "wait %" PRId64 "\n", ms);
    uv_buf_t buf = uv_buf_init(k->early, (unsigned)strlen(k->early));
    uv_timer_start(&k->timer, on_late, (uint64_t)ms + ASK_MS, 0);
    if (uv_write(&k->write, (uv_stream_t *)&k->pipe, &buf, 1, on_early))
        prolog_end(k);
}

/* other: something in the node changed, and the controller's judgement of it is waited for too. */
static void ask_all(struct caller *k, bool other)
{
    struct span within = {0}, judged = other ? span_ms(STANDING_MS) : within;
    k->waits = 1 + other;
    if (other)
        standing_judge(k->p->standing, on_answer, k);
    checker_ask(k->p->checker, k->kind->when, !k->kind->task, on_answer, k, &within);
    if (k->waits && !k->ending)
        tell_wait(k, within.ns > judged.ns ? within : judged);
}

static void on_look(void *arg, bool other)
{
    ask_all(arg, other);
}

static bool prolog_ask(struct caller *k, const struct prolog_question *q)
{
    struct prolog *p = k->p;
    if (!q->kind->task && !k->root)
        return false;
    if (*q->job && (q->kind->begins || q->kind->ends))
        checker_job(p->checker, q->job, q->kind->begins);
    k->kind = q->kind;
    if (q->kind->begins && p->standing)
        standing_look(p->standing, on_look, k);
    else
        ask_all(k, false);
    return true;
}

static void on_room(uv_handle_t *handle, size_t wanted, uv_buf_t *buf)
{
    struct caller *k = handle->data;
    *buf = uv_buf_init(k->line + k->len, (unsigned)(sizeof k->line - 1 - k->len));
}

static void on_line(struct caller *k)
{
    struct prolog_question q;
    k->asked = true;
    if (!prolog_question_read(k->line, &q) || !prolog_ask(k, &q))
        prolog_end(k);
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    struct caller *k = stream->data;
    if (n == 0)
        return;
    if (n < 0 || k->asked || k->len + (size_t)n >= sizeof k->line - 1) {
        prolog_end(k); /* also when the caller of a look goes away */
        return;
    }
    k->len += (size_t)n;
    k->line[k->len] = 0;
    char *newline = strchr(k->line, '\n');
    if (!newline)
        return;
    *newline = 0;
    on_line(k);
}

/* The user at the other end; false when the kernel cannot tell. */
static bool is_root(int fd, bool *root)
{
    struct ucred who;
    socklen_t len = sizeof who;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len))
        return false;
    *root = who.uid == 0 || who.uid == geteuid();
    return true;
}

static void on_connection(void *arg, int fd)
{
    struct prolog *p = arg;
    bool root = false;
    if (!is_root(fd, &root) || p->all >= ALL_MAX || (!root && p->users >= USERS_MAX)) {
        close(fd);
        return;
    }
    struct caller *k = mem_alloc(sizeof *k);
    k->p = p;
    k->root = root;
    uv_pipe_init(p->loop, &k->pipe, 0);
    uv_timer_init(p->loop, &k->timer);
    k->pipe.data = k->timer.data = k;
    k->handles = 2;
    DL_APPEND(p->callers, k);
    p->all++;
    p->users += !root;
    uv_timer_start(&k->timer, on_late, ASK_MS, 0);
    if (uv_pipe_open(&k->pipe, fd)) {
        close(fd);
        prolog_end(k);
    } else if (uv_read_start((uv_stream_t *)&k->pipe, on_room, on_read)) {
        prolog_end(k);
    }
}

static void make_dirs(const char *path)
{
    CLEANUP_FREE char *copy = mem_dup(path);
    for (char *slash = strchr(copy + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(copy, 0755);
        *slash = '/';
    }
}

struct prolog *prolog_create(uv_loop_t *loop, const char *root, struct checker *checker,
                             struct standing *standing, struct err *e)
{
    struct prolog *p = mem_alloc(sizeof *p);
    CLEANUP_TEXT struct text path = {0};
    p->loop = loop;
    p->checker = checker;
    p->standing = standing;
    text_printf(&path, "%s%s", root, PROLOG_SOCKET);
    make_dirs(path.s);
    if (listener_open_local(loop, path.s, on_connection, p, &p->listener, e)) {
        free(p);
        return NULL;
    }
    return p;
}

void prolog_destroy(struct prolog *p)
{
    struct caller *k, *next;
    if (!p)
        return;
    listener_close(p->listener);
    DL_FOREACH_SAFE(p->callers, k, next)
    prolog_end(k);
    free(p);
}
