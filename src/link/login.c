/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Since Linux 6.5 a socket gives a pidfd of the process that connected it. The pidfd stays with that process:
 * when the process still exists after its loginuid was read, the number was its own all the time. An older
 * kernel gives the number alone. There a process that began after the connection was made is another one.
 */
#include "link/login.h"

#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

enum { STAT_BYTES_MAX = 1024, STARTED_FIELD = 22, AFTER_NAME = 3 }; /* proc(5): /proc/PID/stat */

uint64_t login_ticks(void)
{
    struct timespec t;
    clock_gettime(CLOCK_BOOTTIME, &t);
    const uint64_t per_s = (uint64_t)sysconf(_SC_CLK_TCK);
    return (uint64_t)t.tv_sec * per_s + (uint64_t)t.tv_nsec * per_s / 1000000000;
}

static bool proc_read(pid_t pid, const char *name, char *bytes, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, bytes, size - 1);
    if (fd >= 0)
        close(fd);
    bytes[n > 0 ? n : 0] = '\0';
    return n > 0;
}

static uid_t proc_login(pid_t pid)
{
    char bytes[32];
    uint64_t uid;
    if (!proc_read(pid, "loginuid", bytes, sizeof bytes))
        return LOGIN_NONE;
    bytes[strcspn(bytes, "\n")] = '\0';
    return text_parse_u64(bytes, 0, UINT32_MAX, &uid, NULL) == 0 ? (uid_t)uid : LOGIN_NONE;
}

/* The name of a process, in parentheses, may have blanks and parentheses itself. */
bool login_began_by(pid_t pid, uint64_t before)
{
    char bytes[STAT_BYTES_MAX];
    const char *at = proc_read(pid, "stat", bytes, sizeof bytes) ? strrchr(bytes, ')') : NULL;
    if (!at)
        return false;
    at++;
    for (int field = AFTER_NAME; *at && field < STARTED_FIELD; field++)
        at += 1 + strcspn(at + 1, " ");
    char *end;
    const uint64_t began = strtoull(at, &end, 10);
    return end != at && began <= before;
}

static bool is_alive(int pidfd)
{
    return syscall(SYS_pidfd_send_signal, pidfd, 0, NULL, 0) == 0 || errno == EPERM;
}

uid_t login_of_peer(int fd, pid_t pid, uint64_t before)
{
    int pidfd = -1;
    socklen_t len = sizeof pidfd;
    if (pid <= 0)
        return LOGIN_NONE; /* a process of a namespace that is not seen from here */
    const bool has_pidfd = getsockopt(fd, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &len) == 0;
    if (!has_pidfd && errno != ENOPROTOOPT)
        return LOGIN_NONE; /* the process has ended */
    const uid_t login = proc_login(pid);
    const bool is_same = has_pidfd ? is_alive(pidfd) : login_began_by(pid, before);
    if (has_pidfd)
        close(pidfd);
    return is_same ? login : LOGIN_NONE;
}
