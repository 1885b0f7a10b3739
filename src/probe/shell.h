/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_PROBE_SHELL_H
#define FETTLE_PROBE_SHELL_H

/*
 * Surroundings that do not depend on how this process was started: the directory /, the mask 022, and an
 * environment of PATH (this process's own), HOME=/, LC_ALL=C and the variables whose names begin with
 * FETTLE_.
 */

/* The process becomes the program. It returns when it could not, with errno. */
void shell_exec(const char *program, char *const *arguments);
/* The process becomes a shell that runs the command. When it cannot, it ends with status 127. */
_Noreturn void shell_become(const char *command);

enum { SHELL_WITHOUT_SECRET = 3 }; /* the status with which plugins end when they cannot tell */
/* The same, with the secrets with which the command begins (base/secret.h) in the environment. When a
 * secret is missing it prints why and ends with SHELL_WITHOUT_SECRET. */
_Noreturn void shell_become_secretly(const char *command);

#endif
