/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A running call waits for the end of the program, the end of the caller, and the deadline. Whichever comes
 * first, the program's process group is killed before this process ends, so that nothing is left running.
 */
#include "exec/call.h"

#include "base/log.h"
#include "driver/launch.h"
#include "driver/request.h"
#include "exec/command.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { REQUEST_MS = 5000, GOODBYE_MS = 1000, LOG_BYTES_MAX = 300 };

struct call {
    int fd;
    struct ucred peer;
    int files[REQUEST_FILES]; /* the program's output and its errors; -1: none */
    char *bytes;
    size_t len;
    struct request request;
    char *words; /* for the log */
};

/* --- the answer ------------------------------------------------------------------------------- */

static void answer_write(int fd, const struct request_answer *a)
{
    CLEANUP_TEXT struct text packet = {0};
    request_write_answer(a, &packet);
    (void)send(fd, packet.s, packet.len, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* An unread packet would lose the answer when the connection is closed. */
void call_refuse(int fd, const char *why)
{
    char byte;
    (void)recv(fd, &byte, sizeof byte, MSG_DONTWAIT);
    answer_write(fd, &(struct request_answer){.end = REQUEST_REFUSED, .why = why});
}

static void answer_refusal(const struct call *c, const struct err *why)
{
    log_warn("user %u: refused: %s%s%s", c->peer.uid, why->msg, c->words ? ": " : "",
             c->words ? c->words : "");
    answer_write(c->fd, &(struct request_answer){.end = REQUEST_REFUSED, .why = why->msg});
}

/* --- the request ------------------------------------------------------------------------------ */

static bool wait_readable(int fd, int ms)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    return poll(&p, 1, ms) == 1;
}

/* Takes exactly two pipes; the kernel closes further descriptors, or this function does. */
static int take_files(struct call *c, struct msghdr *m, struct err *e)
{
    struct stat st;
    struct cmsghdr *h = CMSG_FIRSTHDR(m);
    if (h && h->cmsg_level == SOL_SOCKET && h->cmsg_type == SCM_RIGHTS)
        memcpy(c->files, CMSG_DATA(h), h->cmsg_len - CMSG_LEN(0));
    bool all = !(m->msg_flags & MSG_CTRUNC);
    for (size_t i = 0; i < REQUEST_FILES; i++)
        all = all && c->files[i] >= 0 && fstat(c->files[i], &st) == 0 && S_ISFIFO(st.st_mode);
    return all ? 0 : err_set(e, -EINVAL, "two pipes come with a request");
}

static int call_receive(struct call *c, struct err *e)
{
    union {
        char bytes[CMSG_SPACE(REQUEST_FILES * sizeof(int))];
        struct cmsghdr align;
    } control = {0};
    struct iovec part = {c->bytes, REQUEST_BYTES_MAX};
    struct msghdr m = {.msg_iov = &part,
                       .msg_iovlen = 1,
                       .msg_control = control.bytes,
                       .msg_controllen = sizeof control.bytes};
    if (!wait_readable(c->fd, REQUEST_MS))
        return err_set(e, -ETIMEDOUT, "no request came within %d s", REQUEST_MS / 1000);
    ssize_t n = recvmsg(c->fd, &m, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    if (n <= 0)
        return err_set(e, -EINVAL, "the connection was closed before a request came");
    int rc = take_files(c, &m, e);
    c->len = (size_t)n;
    if (m.msg_flags & MSG_TRUNC)
        return err_set(e, -E2BIG, "the request is longer than %d bytes", REQUEST_BYTES_MAX);
    return rc < 0 ? rc : request_parse(c->bytes, c->len, &c->request, e);
}

static void say_words(struct call *c)
{
    CLEANUP_TEXT struct text t = {0};
    text_add(&t, c->request.action);
    for (size_t i = 0; i < c->request.n; i++)
        text_printf(&t, " %s", c->request.args[i]);
    c->words = mem_line(t.s, LOG_BYTES_MAX);
}

/* --- the program ------------------------------------------------------------------------------ */

enum end { BY_ITSELF, CALLER_GONE, TIME_OVER };

/* Waits until the program ends or has to be ended. */
static enum end wait_end(const struct call *c, int pidfd)
{
    struct pollfd p[] = {{.fd = pidfd, .events = POLLIN}, {.fd = c->fd, .events = POLLIN | POLLRDHUP}};
    struct mono until = mono_add(mono_now(), c->request.deadline);
    for (;;) {
        int64_t left_ms = span_to_ms(mono_sub(until, mono_now())) + 1;
        int n = left_ms <= 0 ? 0 : poll(p, 2, left_ms < INT32_MAX ? (int)left_ms : INT32_MAX);
        if (n < 0 && errno == EINTR)
            continue;
        return n <= 0 ? TIME_OVER : p[0].revents ? BY_ITSELF : CALLER_GONE;
    }
}

static struct request_answer answer_of(int status)
{
    if (WIFSIGNALED(status))
        return (struct request_answer){.end = REQUEST_KILLED, .number = WTERMSIG(status)};
    return (struct request_answer){.end = REQUEST_ENDED, .number = WEXITSTATUS(status)};
}

static void say_end(const struct call *c, const struct request_answer *a, struct mono began, enum end end)
{
    static const char *const how[] = {[BY_ITSELF] = "was killed",
                                      [CALLER_GONE] = "killed, for its caller is gone",
                                      [TIME_OVER] = "killed, for its time is over"};
    double s = (double)mono_sub(mono_now(), began).ns / 1e9;
    if (a->end == REQUEST_ENDED)
        log_info("user %u: %s: ended with %d after %.1f s", c->peer.uid, c->words, a->number, s);
    else
        log_info("user %u: %s: %s after %.1f s", c->peer.uid, c->words, how[end], s);
}

static const char **list_of(const struct hostlist *h)
{
    const char **all = mem_alloc((h->n + 1) * sizeof *all);
    for (size_t i = 0; i < h->n; i++)
        all[i] = h->names[i];
    return all;
}

static int call_start(const struct call *c, const struct command *do_this, pid_t *pid, struct err *e)
{
    static const char *const unset[] = {"SLURM_CLUSTERS", NULL}; /* as in driver/slurm_call.c */
    CLEANUP_FREE const char **argv = list_of(&do_this->argv), **set = list_of(&do_this->set);
    int rc = launch_program(argv, set, unset, c->files[0], c->files[1], pid);
    return rc < 0 ? err_set(e, rc, "%s: %s", argv[0], strerror(-rc)) : 0;
}

static void command_run(struct call *c, const struct command *do_this)
{
    struct err e = {0};
    struct mono began = mono_now();
    pid_t pid;
    int status;
    if (call_start(c, do_this, &pid, &e) < 0) {
        answer_refusal(c, &e);
        return;
    }
    for (size_t i = 0; i < REQUEST_FILES; i++) /* only the program has them */
        close(c->files[i]), c->files[i] = -1;
    if (do_this->changes)
        log_info("user %u: %s", c->peer.uid, c->words);
    int pidfd = pidfd_open(pid, 0);
    enum end end = wait_end(c, pidfd); /* without a pidfd, the deadline alone counts */
    if (end != BY_ITSELF)
        (void)kill(-pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    struct request_answer a = answer_of(status);
    answer_write(c->fd, &a);
    if (do_this->changes || end != BY_ITSELF)
        say_end(c, &a, began, end);
    (void)wait_readable(c->fd, GOODBYE_MS); /* the caller reads the rest of the pipes, and closes */
    (void)kill(-pid, SIGKILL);
    if (pidfd >= 0)
        close(pidfd);
}

static void call_print(const struct call *c, const struct text *what)
{
    if (what->len)
        log_info("user %u: %s", c->peer.uid, c->words);
    if (what->len && write(c->files[0], what->s, what->len) != (ssize_t)what->len)
        log_warn("user %u: %s: %s", c->peer.uid, c->words, strerror(errno));
    answer_write(c->fd, &(struct request_answer){.end = REQUEST_ENDED});
}

/* --- all of it -------------------------------------------------------------------------------- */

static void client_serve(struct call *c, const char *conf)
{
    struct command command = {0};
    struct err e = {0};
    int rc = call_receive(c, &e);
    if (rc == 0) {
        say_words(c);
        rc = command_decide(&c->request, conf, &command, &e);
    }
    if (rc < 0)
        answer_refusal(c, &e);
    else if (command.argv.n)
        command_run(c, &command);
    else
        call_print(c, &command.printed);
    command_fini(&command);
}

void call_serve(int connection, const char *conf)
{
    struct call c = {.fd = connection, .files = {-1, -1}, .bytes = mem_alloc(REQUEST_BYTES_MAX)};
    socklen_t len = sizeof c.peer;
    if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &c.peer, &len) < 0)
        log_error("the caller is not known: %s", strerror(errno));
    else
        client_serve(&c, conf);
    for (size_t i = 0; i < REQUEST_FILES; i++)
        if (c.files[i] >= 0)
            close(c.files[i]);
    free(c.bytes);
    free(c.words);
}
