/* SPDX-License-Identifier: Apache-2.0 */
#include "check/part.h"

#include "health/plugin.h"
#include "probe/family.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * plugin   "exit STATUS", "output LINE" for each line, and "more REST" where it is longer than a fact
 *
 * The plugin and all that it starts are a family (probe/family.h), which is killed when the plugin has ended,
 * shortly before the record's deadline, when it becomes too large, and when whoever looks ends: SIGTERM says
 * so, or the end of the agent. All of it is waited for: what cannot be killed keeps this process, too, and
 * whoever runs it starts no other one meanwhile. What the plugin says beyond a limit is read and dropped: it
 * does not hang on a full pipe. What it leaves behind may hold its output open, and is not waited for.
 */

enum {
    OUTPUT_BYTES_MAX = 8192,
    PIECE_BYTES = 500,
    RESERVE_MS = 200,
    MEASURE_MS = 1000, /* how often it is looked how large the family is */
    FOR_EVER_S = 86400 * 365
};

struct plugin {
    struct family family;
    struct family_size limit, is;
    pid_t pid;
    int pidfd, output, signals; /* -1: not open; signals: SIGTERM */
    int status;                 /* as wait(2) has it */
    bool ended, too_large, told_to_end;
    struct text said;
};

/* With whom it runs: FETTLE_NODES, FETTLE_COUNT, FETTLE_RANK. Of a check that a node runs by itself none of
 * them is there. */
static void tell_company(const struct company *with)
{
    char number[16];
    unsigned n = 1;
    unsetenv("FETTLE_NODES");
    unsetenv("FETTLE_COUNT");
    unsetenv("FETTLE_RANK");
    if (!with->nodes)
        return;
    for (const char *c = with->nodes; *c; c++)
        n += *c == ',';
    setenv("FETTLE_NODES", with->nodes, 1);
    snprintf(number, sizeof number, "%u", n);
    setenv("FETTLE_COUNT", number, 1);
    snprintf(number, sizeof number, "%u", with->rank);
    setenv("FETTLE_RANK", number, 1);
}

static _Noreturn void become(const struct plugin *p, const struct look *l, const char *run, int output)
{
    tell_company(&l->company);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    family_join(&p->family);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL); /* a daemon ignores it, a pipeline needs it */
    int null = open("/dev/null", O_RDWR);
    dup2(null, STDIN_FILENO);
    dup2(output, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
    close_range(STDERR_FILENO + 1, ~0U, 0);
    execl("/bin/sh", "sh", "-c", run, (char *)NULL);
    _exit(127);
}

static int start(struct plugin *p, const struct look *l, const char *run)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return -errno;
    p->output = ends[0];
    (void)fcntl(p->output, F_SETFL, O_NONBLOCK);
    p->pid = fork();
    int r = p->pid < 0 ? -errno : 0;
    if (p->pid == 0)
        become(p, l, run, ends[1]);
    close(ends[1]);
    if (r)
        return r;
    setpgid(p->pid, p->pid); /* whoever of the two comes first */
    p->pidfd = pidfd_open(p->pid, 0);
    return p->pidfd < 0 ? -errno : 0;
}

/* False when there is no more just now. */
static bool read_output(struct plugin *p)
{
    char bytes[OUTPUT_BYTES_MAX];
    ssize_t n = read(p->output, bytes, sizeof bytes);
    if (n <= 0)
        return n < 0 && errno == EINTR;
    size_t room = OUTPUT_BYTES_MAX - p->said.len;
    text_add_bytes(&p->said, bytes, (size_t)n < room ? (size_t)n : room);
    return true;
}

/* Until it has ended, its time is over, it is too large, or nobody wants to know any more. */
static void follow(struct plugin *p, struct mono until)
{
    enum { OUTPUT, END, SIGNAL, FDS };
    struct pollfd fds[FDS] = {{p->output, POLLIN, 0}, {p->pidfd, POLLIN, 0}, {p->signals, POLLIN, 0}};
    struct mono measure = mono_add(mono_now(), span_ms(MEASURE_MS));
    for (struct mono now; !p->ended && !p->too_large && !p->told_to_end;) {
        now = mono_now();
        if (now.ns >= until.ns)
            return;
        if (now.ns >= measure.ns) {
            p->is = family_measure();
            p->too_large = family_exceeds(&p->is, &p->limit);
            measure = mono_add(now, span_ms(MEASURE_MS));
        }
        int64_t next = measure.ns < until.ns ? measure.ns : until.ns;
        if (poll(fds, FDS, (int)((next - now.ns) / 1000000) + 1) <= 0)
            continue;
        if (fds[OUTPUT].revents && !read_output(p) && fds[OUTPUT].revents & POLLHUP)
            fds[OUTPUT].fd = -1;
        p->ended = fds[END].revents && waitpid(p->pid, &p->status, WNOHANG) == p->pid;
        p->told_to_end = fds[SIGNAL].revents != 0;
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

static void end(struct plugin *p, const struct before *before)
{
    family_kill(&p->family, span_s(FOR_EVER_S));
    while (p->output >= 0 && p->said.len < OUTPUT_BYTES_MAX && read_output(p))
        ;
    family_end(&p->family);
    int *fds[] = {&p->output, &p->pidfd, &p->signals};
    for (size_t i = 0; i < sizeof fds / sizeof *fds; i++)
        if (*fds[i] >= 0)
            close(*fds[i]);
    prctl(PR_SET_PDEATHSIG, before->death_signal);
    sigprocmask(SIG_SETMASK, &before->mask, NULL); /* what pends ends this process now */
}

static void fact_line(const char *line, size_t len, struct text *out)
{
    const char *key = "output";
    do {
        size_t n = len < PIECE_BYTES ? len : PIECE_BYTES;
        fact(out, key, "%.*s", (int)n, line);
        key = "more";
        line += n;
        len -= n;
    } while (len > 0);
}

static void fact_output(struct text *said, struct text *out)
{
    for (size_t i = 0; i < said->len; i++)
        if (!said->s[i])
            said->s[i] = ' ';
    for (const char *p = said->s, *end = p + said->len; p < end;) {
        size_t n = strcspn(p, "\n");
        fact_line(p, n, out);
        p += n + 1;
    }
}

static void fact_end(const struct plugin *p, int r, struct text *out)
{
    if (r)
        fact(out, "unknown", "no process for it: %s", strerror(-r));
    else if (p->too_large)
        fact(out, "unknown",
             "it was killed with %" PRIu64 " processes and %" PRIu64 " MB; it may have %" PRIu64
             " and %" PRIu64 " MB",
             p->is.processes, p->is.memory_bytes >> 20, p->limit.processes, p->limit.memory_bytes >> 20);
    else if (!p->ended)
        fact(out, "unknown", "it did not end in time");
    else if (!WIFEXITED(p->status))
        fact(out, "unknown", "it was killed by signal %d", WTERMSIG(p->status));
    else
        fact(out, "exit", "%d", WEXITSTATUS(p->status));
}

void gather_PLUGIN(const struct look *l, struct text *out)
{
    const char *run = check_arg(l->check, "Run");
    if (!run) {
        fact(out, "unknown", "the record has no Run");
        return;
    }
    bool machine = l->check->when & (CHECK_EXTENSIVE | CHECK_SCHEDULED);
    struct mono until = mono_add(mono_now(), l->check->deadline);
    struct plugin p = {.output = -1, .pidfd = -1, .limit = family_limit(machine)};
    struct before before;
    until.ns -= span_ms(RESERVE_MS).ns;
    family_begin(&p.family);
    p.signals = take_signal(&before);
    int r = start(&p, l, run);
    if (!r)
        follow(&p, until);
    end(&p, &before);
    fact_end(&p, r, out);
    if (p.said.len > 0)
        fact_output(&p.said, out);
    text_fini(&p.said);
}

/* As the plugin wrote it. */
static void put_together(const char *facts, struct text *said)
{
    struct fact_line line;
    text_add(said, "");
    for (const char *at = facts; fact_next(&at, &line);) {
        bool begins = strcmp(line.key, "output") == 0;
        if (!begins && strcmp(line.key, "more") != 0)
            continue;
        if (begins && said->len > 0)
            text_add_char(said, '\n');
        text_add(said, line.value);
    }
}

void judge_PLUGIN(struct look *l, const char *facts, struct verdict *v)
{
    CLEANUP_TEXT struct text said = {0};
    uint64_t status;
    if (!fact_u64(facts, "exit", &status) || status > 255) {
        struct fact_line why;
        verdict_cannot(v, RESULT_UNKNOWN, "%s",
                       fact_find(facts, "unknown", &why) ? why.value : "no exit status");
        return;
    }
    const char *name = check_arg(l->check, "Metrics");
    enum metric format = METRIC_PERFDATA;
    if (name)
        metric_parse(name, &format); /* it was refused with the record otherwise */
    put_together(facts, &said);
    plugin_read((int)status, said.s, said.len, format, v);
}
