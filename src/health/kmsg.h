/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_HEALTH_KMSG_H
#define FETTLE_HEALTH_KMSG_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * One record of the kernel's log as /dev/kmsg gives it (Documentation/ABI/testing/dev-kmsg):
 *
 *   PRIORITY,SEQUENCE,MICROSECONDS,FLAGS[,...];TEXT
 *    KEY=VALUE
 *
 * Whoever may write to /dev/kmsg has his lines there as well, but never with the kernel's facility.
 */

enum { KMSG_TEXT_BYTES_MAX = 1023 };

struct kmsg {
    unsigned facility, level;
    uint64_t seq, at_us;                /* since the boot */
    bool from_kernel;                   /* facility 0 */
    char text[KMSG_TEXT_BYTES_MAX + 1]; /* the first line, its escapes undone (a NUL is a blank), cut */
};

/* -EINVAL for what is no record; the lines behind the first, a dictionary, are passed over. */
int kmsg_read(const char *record, size_t len, struct kmsg *out, struct err *e);

#endif
