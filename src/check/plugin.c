/* SPDX-License-Identifier: Apache-2.0 */
#include "check/part.h"

#include "health/plugin.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * plugin   "exit STATUS", "output LINE" for each line, and "more REST" where it is longer than a fact
 *
 * The plugin leads a process group, which is killed when it has ended, so that what it left there goes as
 * well, and shortly before the record's deadline. All of the group is waited for: what cannot be killed keeps
 * this process, too, and whoever runs it starts no other one meanwhile. What the plugin says beyond a limit
 * is read and dropped: it does not hang on a full pipe.
 */

enum { OUTPUT_BYTES_MAX = 8192, PIECE_BYTES = 500, RESERVE_MS = 200 };

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

static void become(const struct look *l, const char *run, int output)
{
    tell_company(&l->company);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
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

static pid_t start(const struct look *l, const char *run, int *output)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return -errno;
    pid_t pid = fork();
    int r = errno;
    if (pid == 0)
        become(l, run, ends[1]);
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return -r;
    }
    setpgid(pid, pid); /* whoever of the two comes first */
    *output = ends[0];
    return pid;
}

/* Reads until the output's end; false when the time is over before. */
static bool read_output(int fd, struct mono until, struct text *said)
{
    for (;;) {
        int64_t left = span_to_ms(mono_sub(until, mono_now()));
        struct pollfd p = {.fd = fd, .events = POLLIN};
        if (left <= 0 || poll(&p, 1, (int)left) == 0)
            return false;
        char bytes[OUTPUT_BYTES_MAX];
        ssize_t n = read(fd, bytes, sizeof bytes);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return true;
        size_t room = OUTPUT_BYTES_MAX - said->len;
        text_add_bytes(said, bytes, (size_t)n < room ? (size_t)n : room);
    }
}

/* It closed its output and has ended, or will soon; false when the time is over before. */
static bool wait_for(pid_t pid, struct mono until, int *status)
{
    while (waitpid(pid, status, WNOHANG) == 0) {
        if (mono_sub(until, mono_now()).ns <= 0)
            return false;
        poll(NULL, 0, 2);
    }
    return true;
}

static void end_group(pid_t pid)
{
    kill(-pid, SIGKILL);
    while (waitpid(-pid, NULL, 0) > 0 || errno == EINTR)
        ;
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

void gather_PLUGIN(const struct look *l, struct text *out)
{
    const char *run = check_arg(l->check, "Run");
    if (!run) {
        fact(out, "unknown", "the record has no Run");
        return;
    }
    struct mono until = mono_add(mono_now(), l->check->deadline);
    until.ns -= span_ms(RESERVE_MS).ns;
    int fd = -1, status = 0;
    prctl(PR_SET_CHILD_SUBREAPER, 1); /* of what loses its parent in the group */
    pid_t pid = start(l, run, &fd);
    if (pid < 0) {
        fact(out, "unknown", "no process for it: %s", strerror(-pid));
        return;
    }
    CLEANUP_TEXT struct text said = {0};
    bool ended = read_output(fd, until, &said);
    close(fd);
    if (!ended)
        until.ns = 0;
    ended = wait_for(pid, until, &status) && ended;
    end_group(pid);
    if (!ended)
        fact(out, "unknown", "it did not end in time");
    else if (!WIFEXITED(status))
        fact(out, "unknown", "it was killed by signal %d", WTERMSIG(status));
    else
        fact(out, "exit", "%d", WEXITSTATUS(status));
    if (said.len > 0)
        fact_output(&said, out);
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
