/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_BASE_SECRET_H
#define FETTLE_BASE_SECRET_H

#include "base/err.h"
#include "base/text.h"

/*
 * Passwords, each in a file of its own that nobody else may read. Configuration, records and orders name the
 * file. Its content goes to the other side, or into the environment of the program that needs it, and never
 * into arguments, answers, the journal or the log.
 */

enum { SECRET_BYTES_MAX = 1024, SECRETS_MAX = 8 };

/* Adds the first line of a file unchanged: a password may end with a blank. -EACCES when others than its
 * owner may read the file, -EINVAL when its first line is empty, longer than the limit or has a zero byte,
 * -errno when it cannot be read. */
int secret_read(const char *path, struct text *out, struct err *e);

/* The environment variables of a command. Zero-initialise. */
struct secrets {
    char *set[SECRETS_MAX + 1]; /* "NAME=SECRET"; NULL after the last */
};

/* Reads the secrets of a shell command. It begins with words NAME=@/PATH, with NAME in capitals. *rest is the
 * command after them, a part of the same string. Returns the errors of secret_read, and -E2BIG for too
 * many. */
int secrets_take(const char *command, struct secrets *out, const char **rest, struct err *e);
void secrets_fini(struct secrets *s);

#endif
