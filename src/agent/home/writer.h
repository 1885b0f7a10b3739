/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_AGENT_HOME_WRITER_H
#define FETTLE_AGENT_HOME_WRITER_H

#include "base/err.h"

#include <uv.h>

/*
 * Writes files of the agent's directory of state in a child, so that a disk that hangs or fails delays
 * nothing. There is one child at a time. The newest contents of each file are kept until they are on the
 * disk.
 */

struct writer;

struct writer *writer_create(uv_loop_t *loop, const char *home); /* home: borrowed as long as it exists */
/* Calls back nobody from now on. Contents that are not on the disk by then may be lost. */
void writer_destroy(struct writer *w);

/* NULL: these contents, or newer ones, are on the disk. Else why they are not, within seconds; the writer
 * goes on trying and does not report that. -ETIMEDOUT or -EBUSY: the disk hangs. */
typedef void writer_done_fn(void *arg, const struct err *why);

/* Replaces the file, durably. bytes: a text, copied. done may be NULL; it comes from the loop. */
void writer_put(struct writer *w, const char *file, const char *bytes, writer_done_fn *done, void *arg);
/* Drops all callbacks with this arg. */
void writer_cancel(struct writer *w, const void *arg);

#endif
