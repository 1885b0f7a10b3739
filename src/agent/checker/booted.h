/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_AGENT_CHECKER_BOOTED_H
#define FETTLE_AGENT_CHECKER_BOOTED_H

#include "base/json.h"
#include "base/text.h"
#include "health/check.h"
#include "health/finding.h"

/*
 * The results of checks that run once a boot, and what other checks remember for the length of a boot, as
 * the agent keeps them in memory-backed storage. An agent that restarts reports the same results, does not
 * look again, and knows what was there before. Results of another boot, or of another record of the check,
 * do not count. Pure.
 */

#define BOOTED_FILE "boot-checks" /* below the agent's directory of state */

enum { BOOTED_BYTES_MAX = 256 << 10 };

struct booted {
    const struct check *check;
    const struct verdict *said; /* NULL: it does not run once a boot */
    struct mono looked;
    json_t *kept; /* as memory_save has it; borrowed */
};

/* The file's text, of fewer than BOOTED_BYTES_MAX bytes. Results that do not fit are left out. */
void booted_write(const char *boot, const struct booted *list, size_t n, struct text *out);

/* Reads a file that was written in this boot. NULL when it is of another boot, or damaged. The caller owns
 * it. */
json_t *booted_read(const char *text, const char *boot);
/* The kept result of the check with exactly this record, and its time. False when there is none; kept may
 * be NULL. */
bool booted_find(const json_t *kept, const struct check *k, struct mono now, struct verdict *said,
                 struct mono *looked);

/* The kept memory of the check with exactly this record; NULL when there is none. Borrowed. */
const json_t *booted_kept(const json_t *kept, const struct check *k);

#endif
