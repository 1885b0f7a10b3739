/* SPDX-License-Identifier: Apache-2.0 */
#include "survey/apart.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    CHUNK_BYTES = 4096,
    KILLED_MS = 200,              /* a killed child that is not gone by then is left to the kernel */
    NOTES_BYTES_MAX = 4 << 20,    /* that one child says */
    NOTE_LINE_BYTES_MAX = 8 << 10 /* more than a value has */
};

static _Noreturn void be_child(int fd, int keep, pid_t parent, apart_fn *work, void *arg)
{
    setpgid(0, 0);
    signal(SIGPIPE, SIG_DFL); /* what is ignored stays so in the programs that are run */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int null = open("/dev/null", O_RDWR);
    if (getppid() != parent || null < 0 || dup2(null, 0) < 0 || dup2(fd, 1) < 0 || dup2(null, 2) < 0)
        _exit(126);
    if (keep > 2)
        close_range(3, (unsigned)keep - 1, 0);
    close_range(keep > 2 ? (unsigned)keep + 1 : 3, ~0U, 0);
    work(arg);
    _exit(0);
}

static int left_ms(struct mono until)
{
    int64_t ms = span_to_ms(mono_sub(until, mono_now()));
    return ms < 0 ? 0 : ms > 1000000 ? 1000000 : (int)ms + 1;
}

/* Until the child closes its end: 0, or -ETIMEDOUT, -E2BIG. */
static int hear(int fd, struct mono until, size_t limit_bytes, struct text *out)
{
    size_t said = 0;
    for (;;) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        int r = poll(&p, 1, left_ms(until));
        if (r < 0 && errno == EINTR)
            continue;
        if (r <= 0)
            return r < 0 ? -errno : -ETIMEDOUT;
        ssize_t n = read(fd, text_room(out, CHUNK_BYTES + 1), CHUNK_BYTES);
        if (n <= 0)
            return n < 0 ? -errno : 0;
        out->len += (size_t)n;
        out->s[out->len] = '\0';
        said += (size_t)n;
        if (said > limit_bytes)
            return -E2BIG;
    }
}

/* True when the child ended before then; it stays to be reaped, so that its number stays its own. A
 * shell may close its output long before it ends. */
static bool wait_until(pid_t pid, struct mono until)
{
    for (int ms = 0;; ms = ms < 10 ? ms + 1 : 10) {
        siginfo_t info = {.si_pid = 0};
        if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || info.si_pid == pid)
            return true;
        if (mono_sub(until, mono_now()).ns <= 0)
            return false;
        poll(NULL, 0, ms);
    }
}

static int judge(int r, int status, struct span deadline, size_t limit_bytes, struct err *e)
{
    char time[32];
    span_format(deadline, time);
    if (r == -ETIMEDOUT)
        return err_set(e, r, "no answer within %s", time);
    if (r == -E2BIG)
        return err_set(e, r, "more than %zu bytes", limit_bytes);
    if (r < 0)
        return err_set(e, r, "%s", strerror(-r));
    if (WIFSIGNALED(status))
        return err_set(e, -EIO, "ended by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    return WEXITSTATUS(status) ? err_set(e, -EIO, "exit status %d", WEXITSTATUS(status)) : 0;
}

static int attend(pid_t pid, int fd, struct span deadline, size_t limit_bytes, struct text *out,
                  struct err *e)
{
    struct mono until = mono_add(mono_now(), deadline);
    int status = 0;
    int r = hear(fd, until, limit_bytes, out);
    if (r == 0 && !wait_until(pid, until))
        r = -ETIMEDOUT;
    kill(-pid, SIGKILL); /* also what a child that ended has left in its group */
    if (wait_until(pid, mono_add(mono_now(), span_ms(KILLED_MS))))
        waitpid(pid, &status, 0);
    return judge(r, status, deadline, limit_bytes, e);
}

int apart_run(int keep, struct span deadline, size_t limit_bytes, apart_fn *work, void *arg, struct text *out,
              struct err *e)
{
    int fds[2];
    pid_t parent = getpid();
    if (pipe2(fds, O_CLOEXEC) < 0)
        return err_set(e, -errno, "no pipe: %s", strerror(errno));
    /* Without the handlers that libraries have put around fork: they close descriptors by numbers that may
     * have become other ones by now. */
    pid_t pid = _Fork();
    if (pid == 0)
        be_child(fds[1], keep, parent, work, arg);
    int r = pid < 0 ? err_set(e, -errno, "no process could be started: %s", strerror(errno)) : 0;
    close(fds[1]);
    if (pid > 0) {
        setpgid(pid, pid); /* whoever is first: the group is there before it is killed */
        r = attend(pid, fds[0], deadline, limit_bytes, out, e);
    }
    close(fds[0]);
    return r;
}

/* --- notes in lines ----------------------------------------------------------------------------- */

static const char SIGNS[] = {[COMPONENT_VALUE] = '=', [COMPONENT_ABSENT] = '-', [COMPONENT_UNKNOWN] = '?'};

void apart_say(const char *name, enum component_state state, const char *value)
{
    CLEANUP_TEXT struct text line = {0};
    text_add(&line, value);
    notes_squeeze(&line);
    CLEANUP_FREE char *squeezed = text_take(&line);
    text_printf(&line, "%s%c%s\n", name, SIGNS[state], squeezed);
    const char *p = line.s;
    for (size_t left = line.len; left > 0;) {
        ssize_t n = write(1, p, left);
        if (n < 0 && errno != EINTR)
            _exit(125);
        p += n > 0 ? n : 0;
        left -= n > 0 ? (size_t)n : 0;
    }
}

static void take_line(char *line, struct notes *into)
{
    char *sign = strpbrk(line, "=-?");
    if (!sign || sign == line)
        return;
    enum component_state state = COMPONENT_VALUE;
    while (SIGNS[state] != *sign)
        state++;
    *sign = '\0';
    if (state == COMPONENT_ABSENT)
        notes_absent(into, "%s", line);
    else if (state == COMPONENT_VALUE)
        notes_value(into, sign + 1, "%s", line);
    else
        notes_unknown(into, sign[1] ? sign + 1 : "no reason was given", "%s", line);
}

void apart_take(const struct text *said, struct notes *into)
{
    for (size_t from = 0; from < said->len;) {
        const char *end = memchr(said->s + from, '\n', said->len - from);
        size_t len = end ? (size_t)(end - said->s) - from : 0;
        if (!end)
            return;
        if (len < NOTE_LINE_BYTES_MAX && !memchr(said->s + from, '\0', len)) {
            CLEANUP_FREE char *line = mem_dup_len(said->s + from, len);
            take_line(line, into);
        }
        from += len + 1;
    }
}

void apart_notes(int keep, struct span deadline, apart_fn *work, void *arg, struct notes *into,
                 struct err *why)
{
    CLEANUP_TEXT struct text said = {0};
    if (apart_run(keep, deadline, NOTES_BYTES_MAX, work, arg, &said, why) == 0)
        err_set(why, -ENODATA, "nothing was said of it");
    apart_take(&said, into);
}
