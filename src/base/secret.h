/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_BASE_SECRET_H
#define FETTLE_BASE_SECRET_H

#include "base/err.h"
#include "base/text.h"

/*
 * Passwords, each in a file of its own that nobody else may read. Configuration, records and orders name the
 * file; what is in it goes to the other side, or into the environment of the program that needs it, and never
 * into arguments, answers, the journal or the log.
 */

enum { SECRET_BYTES_MAX = 1024, SECRETS_MAX = 8 };

/* Adds the first line of a file, as it stands: a password may end with a blank. -EACCES when others than its
 * owner may read the file, -EINVAL when its first line is empty, longer than the limit or has a zero byte,
 * -errno when it cannot be read. */
int secret_read(const char *path, struct text *out, struct err *e);

/* What a command needs in its environment. Zero-initialise. */
struct secrets {
    char *set[SECRETS_MAX + 1]; /* "NAME=SECRET", NULL behind the last */
};

/* Reads the secrets of a shell's command: the words NAME=@/PATH, NAME in capitals, with which it
 * begins. *rest is the command without
 * them, a part of it. Errors of secret_read, and -E2BIG for too many. */
int secrets_take(const char *command, struct secrets *out, const char **rest, struct err *e);
void secrets_fini(struct secrets *s);

#endif
