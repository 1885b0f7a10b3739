/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/operate/runner.h"

#include "agent/home/home.h"
#include "agent/operate/operation_record.h"
#include "agent/operate/restart.h"
#include "agent/process/oom.h"
#include "base/text.h"
#include "probe/family.h"
#include "probe/shell.h"
#include "probe/sys.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * The file has the operation's id on its first line. The result follows in one write: "+" or "-", and the
 * text. The runner locks the file from its beginning to its end with fcntl(2): the lock goes with the
 * process however it ends, is not inherited, and the kernel says who holds it.
 *
 * The command and all processes that it starts are a family (probe/family.h), which is killed at the
 * deadline and when it becomes too large. Its standard input is empty. When the command has ended well, its
 * background processes stay: a remedy may start a file system's process. Such a process may hold the output
 * open for ever, so only the output that is there when the command has ended is read.
 *
 * A command that restarts the machine is not done when it ends: the shutdown that it asked for may hang,
 * and so may the command itself, as systemd's does. The runner stays until the deadline and then has the
 * kernel restart the machine.
 */

#define FILE_NAME "command"

enum {
    FILE_FD = 3,
    KILLED_MS = 2000, /* after which processes that were killed and are still there are given up */
    LOOK_MS = 1000,   /* how often it is asked whether the family passed a bound */
    FILE_BYTES_MAX = 16 << 10,
    READ_BYTES = 4096,
    LAST_READS = 64
};

struct run {
    struct family family;
    pid_t pid;
    int pidfd, output;
    int status;  /* as wait(2) has it */
    bool killed; /* it was out of time, or too large */
    bool stays;  /* and could not be killed */
    struct text tail;
};

/* --- the command ---------------------------------------------------------------------------- */

/* The number of bytes; 0 at the end of the output, negative when there is nothing now. */
static ssize_t read_some(struct run *r)
{
    char bytes[READ_BYTES];
    ssize_t n = read(r->output, bytes, sizeof bytes);
    if (n <= 0)
        return n;
    text_add_bytes(&r->tail, bytes, (size_t)n);
    if (r->tail.len > 2 * OPERATION_TEXT_BYTES_MAX) {
        size_t rest = r->tail.len - OPERATION_TEXT_BYTES_MAX;
        memmove(r->tail.s, r->tail.s + rest, OPERATION_TEXT_BYTES_MAX + 1);
        r->tail.len = OPERATION_TEXT_BYTES_MAX;
    }
    return n;
}

/* Until it has ended; false when the time is over, or it is too large. */
static bool wait_for(struct run *r, struct mono until)
{
    struct pollfd fds[] = {{.fd = r->pidfd, .events = POLLIN}, {.fd = r->output, .events = POLLIN}};
    struct mono look = mono_add(mono_now(), span_ms(LOOK_MS));
    for (struct mono now; (now = mono_now()).ns < until.ns;) {
        if (now.ns >= look.ns) {
            if (family_excess(&r->family))
                return false;
            look = mono_add(now, span_ms(LOOK_MS));
        }
        int64_t next = look.ns < until.ns ? look.ns : until.ns;
        if (poll(fds, 2, (int)((next - now.ns) / 1000000) + 1) <= 0)
            continue;
        if (fds[1].revents && read_some(r) == 0)
            fds[1].fd = -1;
        if (fds[0].revents && waitpid(r->pid, &r->status, 0) == r->pid)
            return r->status == 0 || !family_excess(&r->family);
    }
    return false;
}

static _Noreturn void runner_become(const struct run *r, const char *command, int output)
{
    sigset_t none;
    setpgid(0, 0);
    family_join(&r->family);
    for (int number = 1; number < NSIG; number++)
        (void)signal(number, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    shell_become_secretly(command);
}

static int start_command(struct run *r, const char *command)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC))
        return -errno;
    r->output = ends[0];
    (void)fcntl(r->output, F_SETFL, O_NONBLOCK);
    r->pid = _Fork(); /* libuv's handler of fork would close two of these descriptors in the child */
    int rc = r->pid < 0 ? -errno : 0;
    if (r->pid == 0)
        runner_become(r, command, ends[1]);
    close(ends[1]);
    if (!rc && (r->pidfd = pidfd_open(r->pid, 0)) < 0) {
        rc = -errno;
        family_kill(&r->family, span_ms(KILLED_MS));
    }
    return rc;
}

static void run_command(struct run *r, struct mono until)
{
    r->killed = !wait_for(r, until);
    bool gone = (!r->killed && r->status == 0) /* an attempt that failed leaves nothing behind */
                || family_kill(&r->family, span_ms(KILLED_MS));
    r->stays = r->killed && !gone;
    for (int i = 0; i < LAST_READS && read_some(r) > 0; i++)
        ;
}

/* --- a restart ------------------------------------------------------------------------------ */

/* The command was refused, or became too large: no shutdown follows, and another remedy may be chosen. */
static bool is_going_down(const struct run *r)
{
    return r->killed ? !*r->family.excess : r->status == 0;
}

/* Returns only when the restart fails. */
static void runner_outlast(const struct run *r, int trigger, struct mono until)
{
    if (trigger < 0 || !is_going_down(r))
        return;
    for (int64_t left_ms; (left_ms = span_to_ms(mono_sub(until, mono_now()))) > 0;)
        poll(NULL, 0, (int)(left_ms < INT_MAX ? left_ms : INT_MAX));
    restart_force(trigger);
}

/* --- the runner ----------------------------------------------------------------------------- */

static void say_end(const struct run *r, struct span deadline, struct text *out)
{
    char exact[32];
    bool good = !r->killed && r->status == 0;
    text_add_char(out, good ? '+' : '-');
    if (r->stays)
        text_add(out, "no end in time, and it could not be killed");
    else if (*r->family.excess)
        text_printf(out, "killed for more than %s", r->family.excess);
    else if (r->killed)
        text_printf(out, "no end in %s, and killed", span_format(deadline, exact));
    else if (WIFSIGNALED(r->status))
        text_printf(out, "ended by signal %d", WTERMSIG(r->status));
    else if (!good)
        text_printf(out, "exit status %d", WEXITSTATUS(r->status));
    if (!good && r->tail.len)
        text_add(out, ": ");
    for (size_t i = 0; i < r->tail.len; i++)
        text_add_char(out, r->tail.s[i] ? r->tail.s[i] : ' ');
}

/* Runs in a process of its own that nobody waits for. While the process of an earlier operation hangs, it
 * has the lock and there is no other. The runner's own lock ends before that byte: the runner may still hold
 * it. */
static void copy_end(const struct runner_job *job, const struct text *end)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = FILE_BYTES_MAX, .l_len = 1};
    CLEANUP_TEXT struct text all = {0};
    if (!job->copy || fork() != 0)
        return;
    text_printf(&all, "%s\n%s", job->id, end->s);
    if (fcntl(FILE_FD, F_SETLK, &lock) == 0)
        (void)home_write(job->copy, FILE_NAME, all.s, true, NULL);
    _exit(0);
}

/* Leaves the file as FILE_FD and nothing else open. */
static bool runner_settle(int file)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = 0; null >= 0 && fd < FILE_FD; fd++)
        dup2(null, fd);
    if (null < 0 || (file != FILE_FD && dup3(file, FILE_FD, O_CLOEXEC) < 0))
        return false;
    close_range(FILE_FD + 1, ~0U, 0);
    return chdir("/") == 0;
}

/* A kill of all processes with the agent's name, or of its session, does not end the command. */
static _Noreturn void be_runner(int file, const struct runner_job *job, pid_t parent)
{
    static const int defaults[] = {SIGCHLD, SIGPIPE};
    static const int ignored[] = {SIGTERM, SIGINT, SIGHUP};
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = FILE_BYTES_MAX};
    struct run r = {.pidfd = -1, .output = -1};
    CLEANUP_TEXT struct text end = {0};
    sigset_t none;
    for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++)
        signal(defaults[i], SIG_DFL);
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
        signal(ignored[i], SIG_IGN);
    sigemptyset(&none);
    setsid();
    prctl(PR_SET_NAME, "fettle-runner");
    (void)oom_score_set(OOM_ORDINARY, NULL); /* without that permission, nothing better can be done */
    if (!runner_settle(file) || fcntl(FILE_FD, F_SETLK, &lock) || getppid() != parent)
        _exit(1);
    sigprocmask(SIG_SETMASK, &none, NULL);
    struct mono until = mono_add(mono_now(), job->deadline);
    int trigger = job->trigger ? restart_prepare(job->trigger) : -1;
    family_begin(&r.family, true);
    int rc = start_command(&r, job->command);
    if (rc) {
        text_printf(&end, "-it could not be started: %s", strerror(-rc));
    } else {
        run_command(&r, until);
        say_end(&r, job->deadline, &end);
        runner_outlast(&r, trigger, until);
    }
    family_end(&r.family);
    bool kept = write(FILE_FD, end.s, end.len) == (ssize_t)end.len && fsync(FILE_FD) == 0;
    copy_end(job, &end);
    _exit(kept ? 0 : 1);
}

/* --- the agent ------------------------------------------------------------------------------ */

static int open_file(const char *home, int flags, struct err *e)
{
    CLEANUP_TEXT struct text path = {0};
    text_printf(&path, "%s/" FILE_NAME, home);
    int fd = open(path.s, flags | O_CLOEXEC | O_NOFOLLOW, 0600);
    return fd < 0 ? err_set(e, -errno, "%s: %s", path.s, strerror(errno)) : fd;
}

pid_t runner_start(const char *home, const struct runner_job *job, struct err *e)
{
    sigset_t all, mask;
    pid_t parent = getpid();
    assert(*job->id && !strchr(job->id, '\n') && "the id is the file's first line");
    CLEANUP_FD int fd = open_file(home, O_RDWR | O_CREAT | O_TRUNC | O_APPEND, e);
    if (fd < 0)
        return fd;
    if (dprintf(fd, "%s\n", job->id) < 0)
        return err_set(e, -errno, "%s/" FILE_NAME ": %s", home, strerror(errno));
    /* Room for what it comes to, which may not be there by then. */
    if (fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, FILE_BYTES_MAX) && errno == ENOSPC)
        return err_set(e, -ENOSPC, "%s/" FILE_NAME ": %s", home, strerror(ENOSPC));
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &mask); /* a handler of the parent must not run in the child */
    pid_t pid = fork();
    if (pid == 0)
        be_runner(fd, job, parent);
    int r = pid < 0 ? -errno : 0;
    sigprocmask(SIG_SETMASK, &mask, NULL);
    return r ? err_set(e, r, "no process could be started: %s", strerror(-r)) : pid;
}

pid_t runner_find(const char *home, char **id)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = FILE_BYTES_MAX};
    char line[BODY_WORD_BYTES_MAX + 2] = "";
    *id = NULL;
    CLEANUP_FD int fd = open_file(home, O_RDWR, NULL);
    if (fd < 0 || fcntl(fd, F_GETLK, &lock) || lock.l_type == F_UNLCK || lock.l_pid <= 0)
        return 0;
    if (pread(fd, line, sizeof line - 1, 0) < 0)
        line[0] = 0;
    line[strcspn(line, "\n")] = 0;
    *id = mem_dup(line);
    return lock.l_pid;
}

bool runner_take_end(const char *home, const char *id, struct runner_end *end)
{
    CLEANUP_FREE char *all = NULL;
    size_t len = strlen(id);
    *end = (struct runner_end){.text = NULL};
    if (home_read(home, FILE_NAME, FILE_BYTES_MAX, &all, NULL) || strncmp(all, id, len) != 0 ||
        all[len] != '\n')
        return false;
    const char *said = all + len + 1;
    if (*said != '+' && *said != '-')
        return false;
    end->good = *said == '+';
    end->text = mem_dup(said + 1);
    return true;
}
