/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/keeper.h"

#include "probe/family.h"
#include "probe/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * The first process leads a process group too, so that an outsider who stops this process can kill it.
 * Processes that the family leaves behind may hold its output open, and are not waited for.
 */

enum { CHUNK_BYTES = 4096, LOOK_MS = 1000 /* how often it is asked whether the family passed a bound */ };

struct keeper {
    const struct keeper_job *job;
    struct family family;
    pid_t pid;
    int pidfd, output, signals; /* -1: not open; signals: SIGTERM */
    size_t said;
    struct text *out;
};

static _Noreturn void keeper_become(const struct keeper *k, pid_t parent, int output)
{
    const struct keeper_job *job = k->job;
    sigset_t none;
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    family_join(&k->family);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL); /* a daemon ignores it, a pipeline needs it */
    int null = open("/dev/null", O_RDWR);
    if (getppid() != parent || null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(output, STDOUT_FILENO) < 0 ||
        dup2(null, STDERR_FILENO) < 0)
        _exit(126);
    if (job->keep > STDERR_FILENO + 1)
        close_range(STDERR_FILENO + 1, (unsigned)job->keep - 1, 0);
    close_range((unsigned)(job->keep > STDERR_FILENO ? job->keep : STDERR_FILENO) + 1, ~0U, 0);
    job->work(job->arg);
    _exit(0);
}

static int keeper_spawn(struct keeper *k)
{
    int ends[2];
    pid_t parent = getpid();
    if (pipe2(ends, O_CLOEXEC) < 0)
        return -errno;
    k->output = ends[0];
    (void)fcntl(k->output, F_SETFL, O_NONBLOCK);
    /* Without the handlers that libraries have put around fork: they close descriptors by numbers that may
     * have become other ones by now. */
    k->pid = _Fork();
    int r = k->pid < 0 ? -errno : 0;
    if (k->pid == 0)
        keeper_become(k, parent, ends[1]);
    close(ends[1]);
    if (r)
        return r;
    setpgid(k->pid, k->pid); /* whichever comes first */
    k->pidfd = pidfd_open(k->pid, 0);
    return k->pidfd < 0 ? -errno : 0;
}

/* 1 when it read something, 0 at the end or when there is no more just now, -E2BIG. */
static int keeper_hear(struct keeper *k)
{
    char bytes[CHUNK_BYTES];
    ssize_t n = read(k->output, bytes, sizeof bytes);
    if (n <= 0)
        return n < 0 && errno == EINTR;
    if (k->job->hear) {
        k->job->hear(k->job->hear_arg, bytes, (size_t)n);
        return 1;
    }
    size_t room = k->job->bytes_max - k->said, taken = (size_t)n < room ? (size_t)n : room;
    text_add_bytes(k->out, bytes, taken);
    k->said += taken;
    return taken == (size_t)n || k->job->cut ? 1 : -E2BIG;
}

/* Until the first process has ended: 0, or why it is killed. */
static int keeper_follow(struct keeper *k, int *status)
{
    enum { OUTPUT, END, SIGNAL, FDS };
    struct pollfd fds[FDS] = {{k->output, POLLIN, 0}, {k->pidfd, POLLIN, 0}, {k->signals, POLLIN, 0}};
    struct mono look = mono_add(mono_now(), span_ms(LOOK_MS));
    for (;;) {
        struct mono now = mono_now(), until = k->job->until;
        if (now.ns >= until.ns)
            return -ETIMEDOUT;
        if (now.ns >= look.ns) {
            if (family_excess(&k->family))
                return -EOVERFLOW;
            look = mono_add(now, span_ms(LOOK_MS));
        }
        int64_t next = look.ns < until.ns ? look.ns : until.ns;
        if (poll(fds, FDS, (int)((next - now.ns) / 1000000) + 1) <= 0)
            continue;
        int heard = fds[OUTPUT].revents ? keeper_hear(k) : 1;
        if (heard < 0)
            return heard;
        if (heard == 0 && fds[OUTPUT].revents & POLLHUP)
            fds[OUTPUT].fd = -1;
        if (fds[END].revents && waitpid(k->pid, status, WNOHANG) == k->pid)
            return family_excess(&k->family) ? -EOVERFLOW : 0;
        if (fds[SIGNAL].revents)
            return -ECANCELED;
    }
}

struct before {
    sigset_t mask;
    int death_signal;
};

/* This process has to be able to end the family when its own parent is gone. */
static int take_signal(struct before *before)
{
    sigset_t term;
    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    sigprocmask(SIG_BLOCK, &term, &before->mask);
    prctl(PR_GET_PDEATHSIG, &before->death_signal);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    return signalfd(-1, &term, SFD_CLOEXEC | SFD_NONBLOCK);
}

static int say_why(const struct keeper *k, int r, struct err *e)
{
    switch (r) {
    case 0: return 0;
    case -ETIMEDOUT: return err_set(e, r, "it did not end in time");
    case -E2BIG: return err_set(e, r, "more than %zu bytes", k->job->bytes_max);
    case -EOVERFLOW: return err_set(e, r, "it was killed for more than %s", k->family.excess);
    case -ECANCELED: return err_set(e, r, "the agent ends");
    default: return err_set(e, r, "no process could be started: %s", strerror(-r));
    }
}

/* What the family wrote until its end is read now. */
static int keeper_end(struct keeper *k, int r)
{
    int heard = 1;
    family_kill(&k->family, k->job->timeout);
    while (k->output >= 0 && heard > 0 && (k->job->hear || !k->job->cut || k->said < k->job->bytes_max))
        heard = keeper_hear(k);
    family_end(&k->family);
    int *fds[] = {&k->output, &k->pidfd, &k->signals};
    for (size_t i = 0; i < sizeof fds / sizeof *fds; i++)
        if (*fds[i] >= 0)
            close(*fds[i]);
    return !r && heard < 0 ? heard : r;
}

int keeper_run(const struct keeper_job *job, struct text *out, int *status, struct err *e)
{
    struct keeper k = {.job = job, .pidfd = -1, .output = -1, .out = out};
    struct before before;
    family_begin(&k.family, job->machine);
    k.signals = take_signal(&before);
    int r = keeper_spawn(&k);
    if (!r)
        r = keeper_follow(&k, status);
    r = keeper_end(&k, r);
    prctl(PR_SET_PDEATHSIG, before.death_signal);
    sigprocmask(SIG_SETMASK, &before.mask, NULL); /* a pending signal ends this process now */
    return say_why(&k, r, e);
}
