/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_DRIVER_REQUEST_H
#define FETTLE_DRIVER_REQUEST_H

#include "base/clock.h"
#include "base/err.h"
#include "base/text.h"

#include <stddef.h>

/*
 * What fettled, which is an ordinary user, asks of fettle-exec(8), which is root: to run one of the programs
 * that the configuration names. A connection (AF_UNIX, SOCK_SEQPACKET) carries one request and one answer, a
 * packet each:
 *
 *   request   "fettle-exec 1", the seconds that it may take, the action, its arguments: words, each with a
 * zero byte behind it. With them come two pipes (SCM_RIGHTS): the program's standard output and standard
 * error. answer    "ended" STATUS, "killed" SIGNAL, or "refused" SENTENCE: two such words.
 *
 * A caller that closes the connection, or shuts down its side, has the program killed with all of its process
 * group.
 */

enum {
    REQUEST_BYTES_MAX = 128 << 10,
    REQUEST_ARGS_MAX = 16,
    REQUEST_SECONDS_MAX = 30 * 86400,
    REQUEST_FILES = 2,
    REQUEST_ANSWER_BYTES_MAX = 1024
};

#define REQUEST_SOCKET "/run/fettle-exec/socket" /* where the packages' unit listens */

struct request {
    struct span deadline;
    const char *action;
    size_t n;
    const char *args[REQUEST_ARGS_MAX + 1]; /* NULL behind the last */
};

/* Appends the packet for words: the action and its arguments, ending with NULL. */
void request_write(struct span deadline, const char *const *words, struct text *t);
/* The strings of *r lie in bytes. -EINVAL for a malformed request; -E2BIG for one that is too long. No word
 * has a control character except a tab. */
int request_parse(const char *bytes, size_t len, struct request *r, struct err *e);

enum request_end { REQUEST_ENDED, REQUEST_KILLED, REQUEST_REFUSED };

struct request_answer {
    enum request_end end;
    int number;      /* the exit status, or the signal */
    const char *why; /* a sentence when it was refused; "" otherwise */
};

/* Appends the packet. */
void request_write_answer(const struct request_answer *a, struct text *t);
/* a->why lies in bytes. -EPROTO for a malformed answer. */
int request_parse_answer(const char *bytes, size_t len, struct request_answer *a, struct err *e);

#endif
