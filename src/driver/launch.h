/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_DRIVER_LAUNCH_H
#define FETTLE_DRIVER_LAUNCH_H

#include <sys/types.h>

/*
 * A child that runs an external program: in a session of its own, without a shell, with nothing to read, no
 * signal ignored or blocked, and none of our open files.
 */

/* argv[0] is the program, a path or a name in PATH. The environment is this process's without the names in
 * unset, and with the "NAME=value" of set; both lists end with NULL, and may be NULL. out and err become its
 * standard output and error; the caller keeps them. Returns 0, and *pid leads a process group; or -errno. */
int launch_program(const char *const *argv, const char *const *set, const char *const *unset, int out,
                   int err, pid_t *pid);

#endif
