/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CHECK_KMSG_FOLLOW_H
#define FETTLE_CHECK_KMSG_FOLLOW_H

#include "base/err.h"
#include "health/kmsg.h"

#include <stdint.h>

/*
 * Follows the kernel's log, ROOT/dev/kmsg, from where somebody left off. Nothing here waits.
 *
 *   f = kmsg_open(root, &cursor, &e);
 *   when poked: do r = kmsg_next(f, &record, &lost, &e) ... while (r > 0);
 *   keep *kmsg_cursor(f) beside what was made of the records
 *
 * In the place of the device there may be a pipe, or a file that grows: records in the form of kmsg.h, a
 * line each, their sequence numbers rising by one.
 */

enum { KMSG_BOOT_BYTES_MAX = 63 };

/* Up to where the log was read. With no boot id: nothing was. */
struct kmsg_cursor {
    char boot[KMSG_BOOT_BYTES_MAX +
              1];  /* the boot id in proc/sys/kernel/random/boot_id; "" when it cannot be read */
    uint64_t next; /* the sequence number that comes next */
};

struct kmsg_follow;

/* Begins behind the cursor; at the oldest record when it is NULL, empty or of another boot. NULL with a
 * sentence: there is no such file, or it may not be read. */
struct kmsg_follow *kmsg_open(const char *root, const struct kmsg_cursor *from, struct err *e);
/* Does nothing with NULL. */
void kmsg_close(struct kmsg_follow *f);

/* To be polled for reading (it is never readable for nothing). -1 for a file: look at it by a timer, or
 * when inotify says that ROOT/dev/kmsg was modified. */
int kmsg_fd(const struct kmsg_follow *f);

/* The next record that the kernel itself wrote; what others wrote, and what is no record, is passed over.
 * *lost is how many were overwritten before anybody read them, and were not told yet: as soon as any record
 * behind them was read, whoever wrote it.
 *   1   there is one. Whoever wants no more of them in this turn calls again in the next one, and does not
 *       wait to be poked
 *   0   no more for now, or many were passed over: wait until poked (a device that has more is readable at
 *       once; look at a file again until the cursor no longer moves)
 *   -errno with a sentence: the log cannot be read any more; close it. *lost is 0 */
int kmsg_next(struct kmsg_follow *f, struct kmsg *out, uint64_t *lost, struct err *e);

/* Up to where it was read; borrowed until the next call. */
const struct kmsg_cursor *kmsg_cursor(const struct kmsg_follow *f);

#endif
