/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fettle-exec: takes connections at the socket that it was started with, and serves each in a child.
 */
#include "base/log.h"
#include "exec/call.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CALLS_MAX = 256 };

static const char usage[] = "usage: fettle-exec [-f CONFIGURATION]\n"
                            "       fettle-exec --help | --version\n";

static bool is_listening(int fd)
{
    int yes = 0;
    socklen_t len = sizeof yes;
    return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &yes, &len) == 0 && yes;
}

static void serve_one(int connection, int signals, const char *conf)
{
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (nothing >= 0)
        dup2(nothing, STDIN_FILENO); /* it takes no input */
    if (nothing > STDIN_FILENO)
        close(nothing);
    close(signals);
    call_serve(connection, conf);
    close(connection);
}

/* Returns true in the child. */
static bool take_connection(int signals, const char *conf, unsigned *n)
{
    int connection = accept4(STDIN_FILENO, NULL, NULL, SOCK_CLOEXEC);
    if (connection < 0)
        return false;
    pid_t pid = *n < CALLS_MAX ? fork() : -1;
    if (pid == 0) {
        serve_one(connection, signals, conf);
        return true;
    }
    if (pid > 0) {
        ++*n;
    } else {
        char why[80];
        snprintf(why, sizeof why, *n < CALLS_MAX ? "no process for it" : "%d calls are under way", CALLS_MAX);
        log_warn("refused: %s", why);
        call_refuse(connection, why);
    }
    close(connection);
    return false;
}

/* Returns true when the program is to end. */
static bool take_signal(int signals, unsigned *n)
{
    struct signalfd_siginfo info;
    ssize_t len = read(signals, &info, sizeof info);
    while (*n > 0 && waitpid(-1, NULL, WNOHANG) > 0)
        --*n;
    return len == sizeof info && info.ssi_signo != SIGCHLD;
}

static int socket_serve(const char *conf)
{
    sigset_t heard;
    unsigned n = 0; /* running calls */
    sigemptyset(&heard);
    sigaddset(&heard, SIGCHLD);
    sigaddset(&heard, SIGTERM);
    sigaddset(&heard, SIGINT);
    sigprocmask(SIG_BLOCK, &heard, NULL);
    int signals = signalfd(-1, &heard, SFD_CLOEXEC);
    struct pollfd p[] = {{.fd = STDIN_FILENO, .events = POLLIN}, {.fd = signals, .events = POLLIN}};
    for (;;) {
        if (poll(p, 2, -1) < 0 && errno != EINTR) {
            log_error("poll: %s", strerror(errno));
            return 1;
        }
        if (p[1].revents && take_signal(signals, &n))
            break;
        if (p[0].revents && take_connection(signals, conf, &n))
            break;
    }
    return 0;
}

int main(int argc, char **argv)
{
    const char *conf = "/etc/fettle/fettle.conf";
    static const struct option longs[] = {
        {"version", no_argument, NULL, 'V'}, {"help", no_argument, NULL, 'h'}, {0}};
    for (int opt; (opt = getopt_long(argc, argv, "f:Vh", longs, NULL)) != -1;) {
        switch (opt) {
        case 'f': conf = optarg; break;
        case 'V': puts("fettle-exec " FETTLE_VERSION); return 0;
        case 'h': fputs(usage, stdout); return 0;
        default: fputs(usage, stderr); return 2;
        }
    }
    if (optind < argc || !is_listening(STDIN_FILENO)) {
        fprintf(
            stderr,
            "fettle-exec: its standard input has to be the socket at which it listens: fettle-exec(8)\n%s",
            usage);
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    return socket_serve(conf);
}
