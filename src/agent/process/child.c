/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/process/child.h"

#include "agent/process/oom.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * The socket carries one byte that says whether the work succeeded, then the text or the error sentence,
 * and ends with the child. A child that stays gets questions over it, each ended by a zero byte, and so are
 * its answers. The child closes every other descriptor, so that a stuck child holds no connection of its
 * parent open, and it dies with its parent.
 */

enum { LOW_FDS = 32 };

struct child {
    uv_timer_t deadline;
    uv_signal_t ended; /* SIGCHLD */
    uv_poll_t readable;
    int handles; /* open ones; freed with the last when destroyed */
    int fd;      /* -1 while no socket is open */
    int kept;    /* -1 for none */
    pid_t pid;   /* 0 while none exists */
    bool answered;
    bool destroyed;
    child_answer_fn *answer; /* the question of a child that stays; else NULL */
    unsigned questions;      /* that it answered */
    size_t limit_bytes;
    struct text text;
    child_done_fn *done; /* NULL while no caller waits */
    void *arg;
};

static void write_all(int fd, const char *bytes, size_t n)
{
    while (n > 0) {
        ssize_t w = write(fd, bytes, n);
        if (w < 0 && errno != EINTR)
            return;
        if (w > 0) {
            bytes += w;
            n -= (size_t)w;
        }
    }
}

/*
 * Leaves the socket as descriptor 3, the kept one as 4, and no other. Programs that the child starts
 * inherit neither, so a program that stays behind does not hold the socket open.
 *
 * Low numbers that were in use become /dev/null. Two of them are a pipe of libuv's, which closes them by
 * number in any process that the child forks: the numbers must not mean anything else by then.
 */
static bool child_settle(int fd, int kept)
{
    int high = kept < 0 ? -1 : fcntl(kept, F_DUPFD_CLOEXEC, LOW_FDS);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null < 0) /* an empty root; nothing reads or writes it */
        null = open("/", O_PATH | O_CLOEXEC);
    if (null < 0 || dup2(fd, 3) < 0)
        return false;
    for (int low = CHILD_KEPT_FD; low < LOW_FDS; low++)
        if (low != null && fcntl(low, F_GETFD) >= 0)
            dup3(null, low, O_CLOEXEC);
    if (high >= 0)
        dup3(high, CHILD_KEPT_FD, O_CLOEXEC);
    (void)fcntl(3, F_SETFL, 0);
    (void)fcntl(3, F_SETFD, FD_CLOEXEC);
    close_range(LOW_FDS, ~0U, 0);
    return true;
}

static void hand_over(int r, const struct text *out, const struct err *e)
{
    write_all(3, r ? "-" : "+", 1);
    write_all(3, r ? e->msg : out->s, r ? strlen(e->msg) : out->len);
}

/* False when there is none left. */
static bool read_question(char question[static CHILD_QUESTION_BYTES_MAX])
{
    for (size_t len = 0; len < CHILD_QUESTION_BYTES_MAX;) {
        ssize_t n = read(3, question + len, CHILD_QUESTION_BYTES_MAX - len);
        if (n == 0 || (n < 0 && errno != EINTR))
            return false;
        len += n > 0 ? (size_t)n : 0;
        if (len > 0 && !question[len - 1])
            return true;
    }
    return false;
}

static void answer_questions(child_answer_fn *answer, void *arg)
{
    static char question[CHILD_QUESTION_BYTES_MAX];
    while (read_question(question)) {
        CLEANUP_TEXT struct text out = {0};
        struct err e = {0};
        int r = answer(arg, question, &out, &e);
        hand_over(r, &out, &e);
        write_all(3, "", 1);
    }
}

static void do_work(child_work_fn *work, void *arg)
{
    struct text out = {0};
    struct err e = {0};
    int r = work(arg, &out, &e);
    hand_over(r, &out, &e);
}

static _Noreturn void be_child(const struct child *c, int fd, pid_t parent, const sigset_t *mask,
                               child_work_fn *work, void *arg)
{
    static const int defaults[] = {SIGTERM, SIGINT, SIGHUP, SIGCHLD, SIGPIPE};
    for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++)
        signal(defaults[i], SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, OOM_CHILD); /* by which the kernel's log names it when it is ended for memory */
    (void)oom_score_set(OOM_ORDINARY, NULL); /* without that permission, nothing better can be done */
    if (getppid() != parent || !child_settle(fd, c->kept))
        _exit(1);
    sigprocmask(SIG_SETMASK, mask, NULL);
    if (c->answer)
        answer_questions(c->answer, arg);
    else
        do_work(work, arg);
    _exit(0);
}

struct child *child_create(uv_loop_t *loop, size_t limit_bytes)
{
    struct child *c = mem_alloc(sizeof *c);
    c->fd = c->kept = -1;
    c->limit_bytes = limit_bytes;
    uv_timer_init(loop, &c->deadline);
    uv_signal_init(loop, &c->ended);
    c->deadline.data = c->ended.data = c->readable.data = c;
    c->handles = 2;
    return c;
}

void child_keep(struct child *c, int fd)
{
    c->kept = fd;
}

static void on_handle_closed(uv_handle_t *handle)
{
    struct child *c = handle->data;
    if (--c->handles > 0 || !c->destroyed)
        return;
    text_fini(&c->text);
    free(c);
}

/* A caller that waits for an answer learns of the end from on_ended. */
static void child_rest(struct child *c)
{
    if (!c->pid && !c->done && !c->destroyed)
        uv_signal_stop(&c->ended);
}

static bool child_reap(struct child *c)
{
    int status;
    if (c->pid && waitpid(c->pid, &status, WNOHANG) == c->pid)
        c->pid = 0;
    child_rest(c);
    return c->pid == 0;
}

/* A program that the child started leads a process group, which holds all that it started, and would
 * outlive the child. A process whose leader is gone is a child of this one by now. True when there is any. */
static bool kill_programs(pid_t pid)
{
    char path[64], pids[512];
    bool any = false;
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)pid, (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, pids, sizeof pids - 1);
    if (fd >= 0)
        close(fd);
    pids[n > 0 ? n : 0] = 0;
    for (char *at = pids, *end; *at; at = end) {
        long program = strtol(at, &end, 10);
        if (end == at)
            break;
        if (program > 1 && (kill((pid_t)-program, SIGKILL) == 0 || kill((pid_t)program, SIGKILL) == 0))
            any = true;
    }
    return any;
}

/* A child whose programs were killed waits for their end, and with it for one that cannot be killed. */
void child_kill(struct child *c)
{
    if (!c->pid)
        return;
    kill(c->pid, SIGSTOP); /* it starts no other one meanwhile */
    kill(c->pid, kill_programs(c->pid) ? SIGCONT : SIGKILL);
}

static void child_complete(struct child *c)
{
    struct text text = c->text;
    struct err e = {0};
    child_done_fn *done = c->done;
    uv_timer_stop(&c->deadline);
    c->text = (struct text){0};
    c->done = NULL;
    child_rest(c);
    if (c->answered && text.len > 0 && text.s[0] == '+') {
        c->answered = false;
        done(c->arg, text.s + 1, text.len - 1, NULL);
    } else {
        if (c->answered && text.len > 1)
            err_set(&e, -EIO, "%s", text.s + 1);
        else if (c->answered)
            err_set(&e, -EIO, "it ended without an answer");
        else
            err_set(&e, -ETIMEDOUT, "no answer in time");
        c->answered = false;
        done(c->arg, NULL, 0, &e);
    }
    text_fini(&text);
}

/* The descriptor may be closed only after the loop has let go of it. */
static void on_poll_closed(uv_handle_t *handle)
{
    struct child *c = handle->data;
    close(c->fd);
    c->fd = -1;
    if (!c->destroyed && c->done && (!c->answered || child_reap(c)))
        child_complete(c);
    on_handle_closed(handle);
}

static void close_socket(struct child *c)
{
    if (c->fd >= 0 && !uv_is_closing((uv_handle_t *)&c->readable))
        uv_close((uv_handle_t *)&c->readable, on_poll_closed);
}

static void on_ended(uv_signal_t *signal, int number)
{
    struct child *c = signal->data;
    if (child_reap(c) && c->done && c->answered && c->fd < 0)
        child_complete(c);
}

static void on_deadline(uv_timer_t *timer)
{
    struct child *c = timer->data;
    child_kill(c);
    if (c->fd >= 0)
        close_socket(c);
    else
        child_complete(c);
}

/* A question ends with a zero byte. */
static void take_answer(struct child *c)
{
    c->text.len--;
    c->answered = true;
    if (++c->questions == CHILD_QUESTIONS_MAX)
        close_socket(c); /* by which it ends */
    child_complete(c);
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
    struct child *c = poll->data;
    ssize_t n = read(c->fd, text_room(&c->text, 4097), 4096);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n > 0) {
        c->text.len += (size_t)n;
        c->text.s[c->text.len] = 0;
    }
    bool whole = c->answer && c->done && n > 0 && !c->text.s[c->text.len - 1];
    if (whole)
        take_answer(c);
    if (whole || (n > 0 && c->text.len <= c->limit_bytes && c->done))
        return;
    c->answered = n <= 0; /* an error says that it ended with a question unread */
    if (c->answer)
        text_clear(&c->text); /* half an answer is no answer */
    if (!c->answered)
        child_kill(c);
    close_socket(c);
}

static int child_start(struct child *c, int ends[2], child_work_fn *work, void *arg, struct err *e)
{
    sigset_t all, mask;
    pid_t parent = getpid();
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &mask); /* a handler of the parent must not run in the child */
    pid_t pid = fork();
    if (pid == 0)
        be_child(c, ends[1], parent, &mask, work, arg);
    int r = pid < 0 ? -errno : 0;
    sigprocmask(SIG_SETMASK, &mask, NULL);
    close(ends[1]);
    if (r) {
        close(ends[0]);
        return err_set(e, r, "no process could be started: %s", strerror(-r));
    }
    c->pid = pid;
    c->fd = ends[0];
    return 0;
}

static int child_begin(struct child *c, child_answer_fn *answer, child_work_fn *work, void *arg,
                       struct err *e)
{
    int ends[2];
    if (child_exists(c))
        return err_set(e, -EBUSY, "the last reading has not ended");
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends))
        return err_set(e, -errno, "no socket: %s", strerror(errno));
    c->answer = answer;
    c->questions = 0;
    uv_signal_start(&c->ended, on_ended, SIGCHLD);
    int r = child_start(c, ends, work, arg, e);
    if (r) {
        uv_signal_stop(&c->ended);
        return r;
    }
    uv_poll_init(c->deadline.loop, &c->readable, c->fd);
    c->handles++;
    uv_poll_start(&c->readable, UV_READABLE, on_readable);
    return 0;
}

static void child_await(struct child *c, struct span deadline, child_done_fn *done, void *arg)
{
    text_clear(&c->text);
    c->answered = false;
    c->done = done;
    c->arg = arg;
    uv_timer_start(&c->deadline, on_deadline, (uint64_t)span_to_ms(deadline), 0);
}

int child_run(struct child *c, struct span deadline, child_work_fn *work, child_done_fn *done, void *arg,
              struct err *e)
{
    int r = child_begin(c, NULL, work, arg, e);
    if (!r)
        child_await(c, deadline, done, arg);
    return r;
}

bool child_waits(const struct child *c)
{
    return c->answer && c->pid && !c->done && c->fd >= 0 && !uv_is_closing((const uv_handle_t *)&c->readable);
}

void child_dismiss(struct child *c)
{
    if (child_waits(c))
        close_socket(c);
}

int child_ask(struct child *c, struct span deadline, child_answer_fn *answer, void *answer_arg,
              const char *question, child_done_fn *done, void *arg, struct err *e)
{
    size_t len = strlen(question) + 1;
    if (len > CHILD_QUESTION_BYTES_MAX)
        return err_set(e, -E2BIG, "too long a question");
    int r = child_waits(c) ? 0 : child_begin(c, answer, NULL, answer_arg, e);
    if (r)
        return r;
    child_await(c, deadline, done, arg);
    if (send(c->fd, question, len, MSG_NOSIGNAL) != (ssize_t)len)
        child_kill(c); /* done hears that it has ended */
    return 0;
}

bool child_exists(struct child *c)
{
    return !child_reap(c) || c->fd >= 0 || c->done;
}

void child_destroy(struct child *c)
{
    if (!c || c->destroyed)
        return;
    c->destroyed = true;
    child_kill(c);
    child_reap(c);
    close_socket(c);
    uv_close((uv_handle_t *)&c->ended, on_handle_closed);
    uv_close((uv_handle_t *)&c->deadline, on_handle_closed);
}
