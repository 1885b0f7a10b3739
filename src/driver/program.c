/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run has three ends: the child's exit and the ends of its two pipes. When all three came, or the deadline
 * passed, the caller is told. At the deadline the group is killed, which brings all three; a pipe that a
 * grandchild holds open after the child is gone is closed here.
 *
 * fettle-exec gets the other ends of the pipes, so the output arrives in the same way. Its answer replaces
 * the child's exit, and shutting down the connection replaces the kill.
 */
#include "driver/program.h"

#include "base/loop.h"
#include "base/text.h"
#include "driver/launch.h"
#include "driver/request.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* More than a pipe holds, so that libuv takes a read for the last one and does not read megabytes in one
 * turn. */
enum { READ_BYTES = 128 << 10 };

enum { WORDS_BYTES_MAX = 400, LINGER_MS = 200, HELLO_MS = 1000 };

static const char *exec_socket; /* NULL: none */

struct program {
    char *name;     /* for sentences */
    pid_t pid;      /* 0: it is fettle-exec's child */
    int end_fd;     /* signals the end: a pidfd, or the connection to fettle-exec */
    uv_poll_t exit; /* on end_fd; only when is_started */
    uv_pipe_t out, err;
    uv_timer_t deadline;
    size_t limit_bytes;
    struct text printed, words;
    bool is_started, has_exited, out_ended, err_ended, is_late, is_long;
    unsigned open; /* open handles */
    int status, signal;
    struct err refused;    /* a refusal by fettle-exec, or its absence */
    program_done_fn *done; /* NULL: it was called, or must not be */
    program_gone_fn *gone; /* likewise */
    void *arg;
};

static void kill_group(const struct program *r)
{
    if (r->is_started && r->pid)
        (void)kill(-r->pid, SIGKILL);
    else if (r->is_started)
        (void)shutdown(r->end_fd, SHUT_WR);
}

static int program_judge(const struct program *r, struct err *e)
{
    if (r->is_late)
        return err_set(e, -ETIMEDOUT, "%s did not end in time", r->name);
    if (r->is_long)
        return err_set(e, -EPROTO, "%s printed more than %zu bytes", r->name, r->limit_bytes);
    if (r->refused.code)
        return err_set(e, r->refused.code, "%s: %s", r->name, r->refused.msg);
    if (r->signal)
        return err_set(e, -EIO, "%s was killed by signal %d", r->name, r->signal);
    if (r->status != 0) {
        const char *words = r->words.len ? r->words.s : r->printed.len ? r->printed.s : "";
        return err_set(e, -EIO, "%s ended with %d%s%.*s", r->name, r->status, *words ? ": " : "",
                       (int)strcspn(words, "\n"), words);
    }
    return 0;
}

static bool has_ended(const struct program *r)
{
    return !r->is_late && !r->is_long && !r->refused.code && !r->signal;
}

/* Reports once, without waiting for a child that cannot be killed. */
static void program_report(struct program *r)
{
    struct err e = {0};
    int rc = program_judge(r, &e);
    program_done_fn *done = STEAL(r->done);
    size_t len = r->printed.len;
    text_add_bytes(&r->printed, "", 0);
    if (done)
        done(r->arg, has_ended(r) ? text_take(&r->printed) : NULL, len, rc < 0 ? &e : NULL);
}

static void on_closed(uv_handle_t *h)
{
    struct program *r = h->data;
    if (--r->open > 0)
        return;
    if (r->is_started)
        close(r->end_fd);
    if (r->gone)
        r->gone(r->arg);
    program_report(r);
    text_fini(&r->printed);
    text_fini(&r->words);
    free(r->name);
    free(r);
}

static void close_all(struct program *r)
{
    uv_handle_t *const handles[] = {(uv_handle_t *)&r->out, (uv_handle_t *)&r->err,
                                    (uv_handle_t *)&r->deadline, (uv_handle_t *)&r->exit};
    for (size_t i = 0; i < sizeof handles / sizeof *handles - !r->is_started; i++)
        if (!uv_is_closing(handles[i]))
            uv_close(handles[i], on_closed);
}

static void end_if_over(struct program *r)
{
    if (r->has_exited && r->out_ended && r->err_ended)
        close_all(r);
}

static void on_linger(uv_timer_t *t)
{
    struct program *r = t->data;
    kill_group(r);
    close_all(r);
}

static void take_status(struct program *r)
{
    int status;
    pid_t ended = waitpid(r->pid, &status, WNOHANG);
    assert(ended == r->pid); /* nobody else waits for it */
    r->status = WEXITSTATUS(status);
    r->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

/* A fettle-exec that closes without an answer was killed itself. */
static void take_answer(struct program *r)
{
    char bytes[REQUEST_ANSWER_BYTES_MAX];
    struct request_answer a = {0};
    ssize_t n = recv(r->end_fd, bytes, sizeof bytes, 0);
    if (n <= 0)
        err_set(&r->refused, -EIO, "fettle-exec ended before it; its log may say why");
    else if (request_parse_answer(bytes, (size_t)n, &a, &r->refused) < 0)
        err_wrap(&r->refused, -EPROTO, "fettle-exec");
    else if (a.end == REQUEST_REFUSED)
        err_set(&r->refused, -EPERM, "fettle-exec refuses: %s", a.why);
    r->status = a.end == REQUEST_ENDED ? a.number : 0;
    r->signal = a.end == REQUEST_KILLED ? a.number : 0;
}

static void on_ended(uv_poll_t *p, int failed, int events)
{
    struct program *r = p->data;
    uv_poll_stop(p);
    r->has_exited = true;
    if (r->pid)
        take_status(r);
    else
        take_answer(r);
    if (!uv_is_closing((uv_handle_t *)&r->deadline))
        uv_timer_start(&r->deadline, on_linger, LINGER_MS, 0);
    end_if_over(r);
}

static void on_deadline(uv_timer_t *t)
{
    struct program *r = t->data;
    r->is_late = true;
    kill_group(r);
    program_report(r);
}

static void on_alloc(uv_handle_t *h, size_t suggested, uv_buf_t *buf)
{
    struct program *r = h->data;
    struct text *t = h == (uv_handle_t *)&r->out ? &r->printed : &r->words;
    buf->base = text_room(t, READ_BYTES);
    buf->len = READ_BYTES - 1; /* a zero byte follows */
}

static void on_read(uv_stream_t *s, ssize_t n, const uv_buf_t *buf)
{
    LOOP_DOES("output of programs");
    struct program *r = s->data;
    bool is_out = s == (uv_stream_t *)&r->out;
    struct text *t = is_out ? &r->printed : &r->words;
    if (n < 0) {
        *(is_out ? &r->out_ended : &r->err_ended) = true;
        uv_read_stop(s);
        end_if_over(r);
        return;
    }
    t->len += (size_t)n;
    t->s[t->len] = '\0';
    if (!is_out && t->len > WORDS_BYTES_MAX) { /* the rest is read and dropped */
        t->len = WORDS_BYTES_MAX;
        t->s[t->len] = '\0';
    }
    if (is_out && t->len > r->limit_bytes && !r->is_long) {
        r->is_long = true;
        kill_group(r);
    }
    if (r->is_long)
        text_clear(t);
}

/* --- starting -------------------------------------------------------------------------------- */

/* Watches for its end. */
static int program_follow(uv_loop_t *loop, struct program *r)
{
    int rc = uv_poll_init(loop, &r->exit, r->end_fd);
    if (rc < 0)
        return rc;
    r->is_started = true;
    r->open++;
    r->exit.data = r;
    return uv_poll_start(&r->exit, UV_READABLE, on_ended);
}

static int start_child(uv_loop_t *loop, struct program *r, const struct program_run *run, int out, int err,
                       struct err *e)
{
    int rc = launch_program(run->argv, run->set, run->unset, out, err, &r->pid);
    if (rc < 0)
        return err_set(e, rc, "%s: %s", run->argv[0], uv_strerror(rc));
    r->end_fd = pidfd_open(r->pid, 0);
    rc = r->end_fd < 0 ? -errno : program_follow(loop, r);
    if (rc == 0)
        return 0;
    (void)kill(-r->pid, SIGKILL);
    waitpid(r->pid, NULL, 0);
    if (r->end_fd >= 0)
        close(r->end_fd);
    return err_set(e, rc, "%s: %s", run->argv[0], uv_strerror(rc));
}

/* Returns a connection, or -errno. */
static int exec_connect(const char *socket_path, struct err *e)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    int n = snprintf(to.sun_path, sizeof to.sun_path, "%s", socket_path);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0 || n >= (int)sizeof to.sun_path || connect(fd, (struct sockaddr *)&to, sizeof to) < 0) {
        int rc = fd < 0 ? -errno : n >= (int)sizeof to.sun_path ? -ENAMETOOLONG : -errno;
        if (fd >= 0)
            close(fd);
        return err_set(e, rc, "fettle-exec does not hear at %s: %s", socket_path, strerror(-rc));
    }
    return fd;
}

/* Sends the request and two ends of pipes, in one packet. */
static int exec_send(int fd, struct text *packet, const int files[static REQUEST_FILES], struct err *e)
{
    union {
        char bytes[CMSG_SPACE(REQUEST_FILES * sizeof(int))];
        struct cmsghdr align;
    } control = {0};
    struct iovec part = {packet->s, packet->len};
    struct msghdr m = {.msg_iov = &part,
                       .msg_iovlen = 1,
                       .msg_control = control.bytes,
                       .msg_controllen = sizeof control.bytes};
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(REQUEST_FILES * sizeof(int));
    memcpy(CMSG_DATA(c), files, REQUEST_FILES * sizeof(int));
    return sendmsg(fd, &m, MSG_NOSIGNAL) < 0 ? err_set(e, -errno, "fettle-exec: %s", strerror(errno)) : 0;
}

static int start_elsewhere(uv_loop_t *loop, struct program *r, const struct program_run *run, int out,
                           int err, struct err *e)
{
    CLEANUP_TEXT struct text packet = {0};
    const int files[] = {out, err};
    request_write(run->deadline, run->ask, &packet);
    r->end_fd = exec_connect(exec_socket, e);
    if (r->end_fd < 0)
        return r->end_fd;
    int rc = exec_send(r->end_fd, &packet, files, e);
    if (rc == 0 && (rc = program_follow(loop, r)) < 0)
        err_set(e, rc, "fettle-exec: %s", uv_strerror(rc));
    if (rc < 0)
        close(r->end_fd);
    return rc;
}

static int start_with_pipes(uv_loop_t *loop, struct program *r, const struct program_run *run, struct err *e)
{
    int out[2], err[2];
    int rc = uv_pipe(out, UV_NONBLOCK_PIPE, 0);
    if (rc < 0)
        return err_set(e, rc, "%s: %s", run->argv[0], uv_strerror(rc));
    rc = uv_pipe(err, UV_NONBLOCK_PIPE, 0);
    if (rc < 0) {
        close(out[0]);
        close(out[1]);
        return err_set(e, rc, "%s: %s", run->argv[0], uv_strerror(rc));
    }
    uv_pipe_open(&r->out, out[0]);
    uv_pipe_open(&r->err, err[0]);
    bool elsewhere = run->ask && exec_socket;
    rc = (elsewhere ? start_elsewhere : start_child)(loop, r, run, out[1], err[1], e);
    close(out[1]);
    close(err[1]);
    return rc;
}

/* The text after the last slash. */
static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

int program_start(uv_loop_t *loop, const struct program_run *run, program_done_fn *done, void *arg,
                  struct program **out, struct err *e)
{
    assert(run->argv && run->argv[0]);
    assert(done && out);
    struct program *r = mem_alloc(sizeof *r);
    *r = (struct program){.name = mem_dup(name_of(run->argv[0])),
                          .limit_bytes = run->limit_bytes,
                          .open = 3,
                          .done = done,
                          .gone = run->gone,
                          .arg = arg};
    uv_pipe_init(loop, &r->out, 0);
    uv_pipe_init(loop, &r->err, 0);
    uv_timer_init(loop, &r->deadline);
    r->out.data = r->err.data = r->deadline.data = r;
    int rc = start_with_pipes(loop, r, run, e);
    if (rc < 0) {
        r->done = NULL;
        r->gone = NULL;
        close_all(r);
        return rc;
    }
    uv_timer_start(&r->deadline, on_deadline, (uint64_t)span_to_ms(run->deadline), 0);
    uv_read_start((uv_stream_t *)&r->out, on_alloc, on_read);
    uv_read_start((uv_stream_t *)&r->err, on_alloc, on_read);
    *out = r;
    return 0;
}

void program_kill(struct program *r)
{
    if (!r)
        return;
    r->done = NULL;
    r->gone = NULL;
    kill_group(r);
    close_all(r);
}

/* --- fettle-exec ----------------------------------------------------------------------------- */

void program_set_exec(const char *socket_path)
{
    exec_socket = socket_path;
}

const char *program_exec(void)
{
    return exec_socket;
}

static int hello_ask(int fd, struct err *e)
{
    static const char *const words[] = {"hello", NULL};
    CLEANUP_TEXT struct text packet = {0};
    char bytes[REQUEST_ANSWER_BYTES_MAX];
    struct request_answer a;
    struct pollfd answer = {.fd = fd, .events = POLLIN};
    int pipe_fds[2];
    request_write(span_s(1), words, &packet);
    int rc = uv_pipe(pipe_fds, 0, 0);
    if (rc < 0)
        return err_set(e, rc, "%s", uv_strerror(rc));
    const int files[] = {pipe_fds[1], pipe_fds[1]};
    rc = exec_send(fd, &packet, files, e);
    close(pipe_fds[0]);
    close(pipe_fds[1]);
    if (rc < 0)
        return rc;
    if (poll(&answer, 1, HELLO_MS) != 1)
        return err_set(e, -ETIMEDOUT, "fettle-exec does not answer");
    ssize_t n = recv(fd, bytes, sizeof bytes, 0);
    rc = request_parse_answer(bytes, n > 0 ? (size_t)n : 0, &a, e);
    if (rc < 0)
        return err_wrap(e, rc, "fettle-exec");
    return a.end == REQUEST_REFUSED ? err_set(e, -EPERM, "fettle-exec refuses: %s", a.why) : 0;
}

int program_try_exec(const char *socket_path, struct err *e)
{
    int fd = exec_connect(socket_path, e);
    if (fd < 0)
        return fd;
    int rc = hello_ask(fd, e);
    close(fd);
    return rc;
}
