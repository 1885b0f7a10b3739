/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_LINK_LOGIN_H
#define FETTLE_LINK_LOGIN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * The person behind a process at a local socket. Linux remembers for each process as whom somebody signed in
 * (/proc/PID/loginuid), also after sudo and su. The process cannot change it, other than an environment
 * variable. Inside this folder.
 */

/* Ticks of the clock of the system since its boot, by which the kernel says when a process began. */
uint64_t login_ticks(void);

/* The login of the process that connected the socket fd; LOGIN_NONE when nobody signed in, or when it is not
 * sure that the process `pid` is still the one that connected: it may have ended, and another have its
 * number. `before` is the moment by which the connection was there, in ticks. */
#define LOGIN_NONE ((uid_t)-1)
uid_t login_of_peer(int fd, pid_t pid, uint64_t before);

/* For a kernel without pidfds of peers: whether the process `pid` began no later than `before`. */
bool login_began_by(pid_t pid, uint64_t before);

#endif
