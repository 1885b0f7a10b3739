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
 * Programs that may write to /dev/kmsg can add lines too, but never with the kernel's facility.
 */

enum { KMSG_TEXT_BYTES_MAX = 1023 };

struct kmsg {
    unsigned facility, level;
    uint64_t seq, at_us;                /* since the boot */
    bool from_kernel;                   /* the facility is 0 */
    char text[KMSG_TEXT_BYTES_MAX + 1]; /* the first line, unescaped (a NUL becomes a blank) and cut */
};

/* -EINVAL when it is not a record. The lines after the first, a dictionary, are skipped. */
int kmsg_read(const char *record, size_t len, struct kmsg *out, struct err *e);

#endif
