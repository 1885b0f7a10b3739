/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run has three ends: the child's exit and the ends of its two pipes. When all three came, or the deadline
 * passed, its caller is told. At the deadline the group is killed, which brings all three; a pipe that some
 * grandchild holds open after the child is gone is closed here.
 *
 * The child is made by posix_spawn, which copies nothing: fork of a controller with ten thousand connections
 * takes 8 to 16 ms for its page tables alone, and uv_spawn forks.
 */
#include "driver/program.h"

#include "base/text.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

/* More than a pipe holds, so that libuv takes a read for the last and reads no megabytes in one turn. */
enum { READ_BYTES = 128 << 10 };

enum { WORDS_BYTES_MAX = 400, LINGER_MS = 200 };

extern char **environ;

struct program {
    char *name; /* for sentences */
    pid_t pid;
    int pidfd;
    uv_poll_t exit; /* of pidfd; only when is_spawned */
    uv_pipe_t out, err;
    uv_timer_t deadline;
    size_t limit_bytes;
    struct text printed, words;
    bool is_spawned, has_exited, out_ended, err_ended, is_late, is_long;
    unsigned open; /* handles */
    int status, signal;
    program_done_fn *done; /* NULL: was told, or is to hear nothing */
    program_gone_fn *gone; /* likewise */
    void *arg;
};

static void kill_group(const struct program *r)
{
    if (r->is_spawned)
        (void)kill(-r->pid, SIGKILL);
}

static int judge(const struct program *r, struct err *e)
{
    if (r->is_late)
        return err_set(e, -ETIMEDOUT, "%s did not end in time", r->name);
    if (r->is_long)
        return err_set(e, -EPROTO, "%s printed more than %zu bytes", r->name, r->limit_bytes);
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
    return !r->is_late && !r->is_long && !r->signal;
}

/* Once; a child that cannot be killed is not waited for. */
static void report(struct program *r)
{
    struct err e = {0};
    int rc = judge(r, &e);
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
    if (r->is_spawned)
        close(r->pidfd);
    if (r->gone)
        r->gone(r->arg);
    report(r);
    text_fini(&r->printed);
    text_fini(&r->words);
    free(r->name);
    free(r);
}

static void close_all(struct program *r)
{
    uv_handle_t *const handles[] = {(uv_handle_t *)&r->out, (uv_handle_t *)&r->err,
                                    (uv_handle_t *)&r->deadline, (uv_handle_t *)&r->exit};
    for (size_t i = 0; i < sizeof handles / sizeof *handles - !r->is_spawned; i++)
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

static void on_ended(uv_poll_t *p, int failed, int events)
{
    struct program *r = p->data;
    int status;
    pid_t ended = waitpid(r->pid, &status, WNOHANG);
    assert(ended == r->pid); /* nobody else waits for it */
    uv_poll_stop(p);
    r->has_exited = true;
    r->status = WEXITSTATUS(status);
    r->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (!uv_is_closing((uv_handle_t *)&r->deadline))
        uv_timer_start(&r->deadline, on_linger, LINGER_MS, 0);
    end_if_over(r);
}

static void on_deadline(uv_timer_t *t)
{
    struct program *r = t->data;
    r->is_late = true;
    kill_group(r);
    report(r);
}

static void on_alloc(uv_handle_t *h, size_t suggested, uv_buf_t *buf)
{
    struct program *r = h->data;
    struct text *t = h == (uv_handle_t *)&r->out ? &r->printed : &r->words;
    buf->base = text_room(t, READ_BYTES);
    buf->len = READ_BYTES - 1; /* and a zero byte behind it */
}

static void on_read(uv_stream_t *s, ssize_t n, const uv_buf_t *buf)
{
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

static bool names(const char *variable, const char *const *list)
{
    for (; list && *list; list++) {
        size_t n = strcspn(*list, "=");
        if (strncmp(variable, *list, n) == 0 && variable[n] == '=')
            return true;
    }
    return false;
}

/* This process's environment without what is set or unset, and then what is set. */
static char **make_environment(const struct program_run *run)
{
    size_t n = 0, m = 0;
    while (environ[n])
        n++;
    while (run->set && run->set[m])
        m++;
    char **all = mem_alloc((n + m + 1) * sizeof *all), **to = all;
    for (size_t i = 0; i < n; i++)
        if (!names(environ[i], run->set) && !names(environ[i], run->unset))
            *to++ = mem_dup(environ[i]);
    for (size_t i = 0; i < m; i++)
        *to++ = mem_dup(run->set[i]);
    return all;
}

static void free_environment(char **all)
{
    for (char **s = all; *s; s++)
        free(*s);
    free(all);
}

/* A session of its own, nothing to read, no signal of ours ignored or blocked. */
static int spawn_with(struct program *r, const struct program_run *run, int out, int err)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    sigset_t none, all;
    char **env = make_environment(run);
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDWR, 0);
    posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&files, err, STDERR_FILENO);
    posix_spawnattr_init(&attr);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setsigmask(&attr, &none);
    posix_spawnattr_setsigdefault(&attr, &all);
    int rc = posix_spawnp(&r->pid, run->argv[0], &files, &attr, (char **)(uintptr_t)run->argv, env);
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&files);
    free_environment(env);
    return -rc;
}

/* Hears of its end. */
static int follow(uv_loop_t *loop, struct program *r)
{
    r->pidfd = pidfd_open(r->pid, 0);
    int rc = r->pidfd < 0 ? -errno : uv_poll_init(loop, &r->exit, r->pidfd);
    if (rc < 0) {
        (void)kill(-r->pid, SIGKILL);
        waitpid(r->pid, NULL, 0);
        if (r->pidfd >= 0)
            close(r->pidfd);
        return rc;
    }
    r->is_spawned = true;
    r->open++;
    r->exit.data = r;
    return uv_poll_start(&r->exit, UV_READABLE, on_ended);
}

static int spawn(uv_loop_t *loop, struct program *r, const struct program_run *run)
{
    int out[2], err[2];
    int rc = uv_pipe(out, UV_NONBLOCK_PIPE, 0);
    if (rc < 0)
        return rc;
    rc = uv_pipe(err, UV_NONBLOCK_PIPE, 0);
    if (rc < 0) {
        close(out[0]);
        close(out[1]);
        return rc;
    }
    uv_pipe_open(&r->out, out[0]);
    uv_pipe_open(&r->err, err[0]);
    rc = spawn_with(r, run, out[1], err[1]);
    close(out[1]);
    close(err[1]);
    return rc < 0 ? rc : follow(loop, r);
}

/* What stands behind the last slash. */
static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

int program_start(uv_loop_t *loop, const struct program_run *run, program_done_fn *done, void *arg,
                  struct program **out, struct err *e)
{
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
    int rc = spawn(loop, r, run);
    if (rc < 0) {
        r->done = NULL;
        r->gone = NULL;
        close_all(r);
        return err_set(e, rc, "%s: %s", run->argv[0], uv_strerror(rc));
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
