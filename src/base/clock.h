/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_BASE_CLOCK_H
#define FETTLE_BASE_CLOCK_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Time in three types that the compiler keeps apart: a moment of this machine's monotonic clock,
 * a moment people read, and a length of time. Only `struct mono` decides anything; `struct wall`
 * is for records and screens. Decision code never reads a clock: it is told the time.
 */

struct mono {
    int64_t ns; /* since an unknown start; comparable on one machine and boot only */
};
struct wall {
    int64_t ns; /* since 1970-01-01 UTC */
};
struct span {
    int64_t ns;
};

struct mono mono_now(void); /* CLOCK_MONOTONIC */
/* The same on a clock that also counts while the machine sleeps (CLOCK_BOOTTIME). Not comparable with the
 * other one. For a lease, which ends for others while the machine sleeps. */
struct mono mono_boot(void);
struct wall wall_now(void);

static inline struct span span_ms(int64_t ms)
{
    return (struct span){ms * 1000000};
}
static inline struct span span_s(int64_t s)
{
    return (struct span){s * 1000000000};
}
static inline int64_t span_to_ms(struct span s)
{
    return s.ns / 1000000;
}
static inline struct mono mono_add(struct mono t, struct span s)
{
    return (struct mono){t.ns + s.ns};
}
/* a - b; negative when a is earlier. */
static inline struct span mono_sub(struct mono a, struct mono b)
{
    return (struct span){a.ns - b.ns};
}

/* Reads "90", "90s", "1500ms", "2m", "6h", "7d" (a bare number is seconds; one unit, no fraction).
 * -EINVAL with a sentence for anything else, including more than ten years. */
int span_parse(const char *text, struct span *out, struct err *e);

/* Writes the shortest exact form of the same language ("90s", "2m", "0s"). Returns buf. */
char *span_format(struct span s, char buf[static 32]);

/* Writes the approximate length for people: "45s", "3m12s", "5h02m", "3d04h". Returns buf. */
char *span_human(struct span s, char buf[static 32]);

/* Writes RFC 3339 in UTC with milliseconds: "2026-11-20T20:41:57.123Z". Returns buf. */
char *wall_format(struct wall t, char buf[static 32]);

#endif
