/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/prolog/prolog.h"

#include "agent/prolog/prolog_line.h"
#include "base/text.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/*
 * Runs before every job of every node, so it does the least: it connects, writes a line and reads one. It
 * calls nothing of Slurm's, for a thousand nodes would do it at once.
 */

enum { ANSWER_MS = 1000 };

struct call {
    int fd;
    struct mono until;
    char text[PROLOG_ANSWER_BYTES_MAX]; /* bytes that arrived and were not taken yet */
    size_t len;
};

static int prolog_ask_dial(struct call *c, const char *root, struct err *e)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int n = snprintf(at.sun_path, sizeof at.sun_path, "%s%s", root, PROLOG_SOCKET);
    if (n < 0 || (size_t)n >= sizeof at.sun_path)
        return err_set(e, -ENAMETOOLONG, "%s is too long", root);
    c->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (c->fd < 0 || connect(c->fd, (const struct sockaddr *)&at, sizeof at))
        return err_set(e, -errno, "no agent at %s: %s", at.sun_path, strerror(errno));
    return 0;
}

/* Waits for what the socket is to be ready for. */
static int wait_for(const struct call *c, short what, struct err *e)
{
    for (;;) {
        struct pollfd p = {.fd = c->fd, .events = what};
        int64_t left = span_to_ms(mono_sub(c->until, mono_now()));
        int n = left > 0 ? poll(&p, 1, (int)left + 1) : 0;
        if (n > 0)
            return 0;
        if (n == 0)
            return err_set(e, -ETIMEDOUT, "the agent does not answer");
        if (errno != EINTR)
            return err_set(e, -errno, "the agent does not answer: %s", strerror(errno));
    }
}

static int put_line(struct call *c, const char *line, struct err *e)
{
    for (size_t n = strlen(line); n > 0;) {
        ssize_t w = send(c->fd, line, n, MSG_NOSIGNAL);
        if (w > 0) {
            line += w;
            n -= (size_t)w;
        } else if (errno != EAGAIN && errno != EINTR) {
            return err_set(e, -errno, "the agent does not listen: %s", strerror(errno));
        } else if (wait_for(c, POLLOUT, e)) {
            return -ETIMEDOUT;
        }
    }
    return 0;
}

static int get_line(struct call *c, char out[static PROLOG_ANSWER_BYTES_MAX], struct err *e)
{
    char *newline;
    while (!(newline = memchr(c->text, '\n', c->len))) {
        if (c->len == sizeof c->text)
            return err_set(e, -EPROTO, "the agent's answer is too long");
        if (wait_for(c, POLLIN, e))
            return -ETIMEDOUT;
        ssize_t n = recv(c->fd, c->text + c->len, sizeof c->text - c->len, 0);
        if (n == 0)
            return err_set(e, -EPIPE, "the agent gave no answer");
        if (n < 0 && errno != EAGAIN && errno != EINTR)
            return err_set(e, -errno, "the agent gave no answer: %s", strerror(errno));
        c->len += n > 0 ? (size_t)n : 0;
    }
    size_t n = (size_t)(newline - c->text);
    memcpy(out, c->text, n);
    out[n] = 0;
    c->len -= n + 1;
    memmove(c->text, newline + 1, c->len);
    return 0;
}

/* *why is borrowed from line. */
static int prolog_call(struct call *c, const char *what, const char *root,
                       char line[static PROLOG_ANSWER_BYTES_MAX], enum prolog_answer *answer,
                       const char **why, struct err *e)
{
    const char *job = getenv("SLURM_JOB_ID");
    char question[PROLOG_QUESTION_BYTES_MAX];
    uint64_t ms;
    int r = prolog_ask_dial(c, root, e);
    prolog_question_write(what, job ? job : "", question);
    if (!r)
        r = put_line(c, question, e);
    if (!r)
        r = get_line(c, line, e);
    *answer = r ? PROLOG_NONE : prolog_answer_read(line, why, &ms);
    if (*answer != PROLOG_WAIT)
        return r;
    c->until = mono_add(mono_now(), span_ms((int64_t)ms));
    r = get_line(c, line, e);
    *answer = r ? PROLOG_NONE : prolog_answer_read(line, why, &ms);
    return r;
}

/* Slurm prints what a task's prolog prints where the task prints. */
static int say_no(const char *what, const char *why)
{
    if (strncmp(what, "task-", 5) == 0) {
        printf("print fettle: this node is not as it should be: %s\n", why);
        return EXIT_SUCCESS;
    }
    fprintf(stderr, "fettle: the node is not fit for work: %s\n", why);
    return EXIT_FAILURE;
}

int prolog_main(const char *what, const char *root)
{
    struct call c = {.fd = -1, .until = mono_add(mono_now(), span_ms(ANSWER_MS))};
    char line[PROLOG_ANSWER_BYTES_MAX];
    enum prolog_answer answer;
    const char *why;
    struct err e = {0};
    int r = prolog_call(&c, what, root, line, &answer, &why, &e);
    if (c.fd >= 0)
        close(c.fd);
    if (answer == PROLOG_NO)
        return say_no(what, why);
    if (!r && answer != PROLOG_OK)
        err_set(&e, -EPROTO, "the agent's answer is none");
    if (e.code)
        fprintf(stderr, "fettle: the node's fitness is unknown: %s\n", e.msg);
    return EXIT_SUCCESS;
}
