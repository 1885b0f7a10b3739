/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_AGENT_CHECKER_CHECKER_SAID_H
#define FETTLE_AGENT_CHECKER_CHECKER_SAID_H

#include "base/text.h"
#include "health/steady.h"

#include <stdbool.h>

/*
 * Results of checks as bodies of CHECKS frames. Pure.
 */

struct said {
    const struct check *check;
    const struct steady *steady;
    const char *blind; /* why the last look had no answer; "" when it had one */
    bool stuck;        /* it had none because its child could not be killed */
    bool looked;       /* at least once */
    struct mono at;    /* when, last */
};

/* Bodies of at most BODY_PART_BYTES_MAX, one after another: for each check said_add, then said_end. The first
 * of several has `full` when that was asked for, the others never. */
typedef void said_emit_fn(void *arg, const char *body, size_t len);
struct said_frame {
    const char *boot, *list;
    bool full;
    uint64_t log_next; /* the kernel's log was read up to this sequence number; 0: it is not followed */
    said_emit_fn *emit;
    void *arg;
    struct text body; /* zero at the beginning */
    bool any, begun;
};
void said_add(struct said_frame *f, const struct said *s, struct mono now);
/* Emits the rest; at least one frame when `full` was asked for. */
void said_end(struct said_frame *f);

#endif
