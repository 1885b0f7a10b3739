/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_AGENT_CHECKER_BOOTED_H
#define FETTLE_AGENT_CHECKER_BOOTED_H

#include "base/json.h"
#include "base/text.h"
#include "health/check.h"
#include "health/finding.h"

/*
 * What checks said that run once a boot, and what others have to remember for as long as the boot lasts, as
 * kept in the agent's directory in memory: an agent that is started again says the same, does not look again,
 * and knows what there was before. Of another boot, or of another record, it counts for nothing. Pure.
 */

#define BOOTED_FILE "boot-checks" /* below the agent's directory of state */

enum { BOOTED_BYTES_MAX = 256 << 10 };

struct booted {
    const struct check *check;
    const struct verdict *said; /* NULL: it does not run once a boot */
    struct mono looked;
    json_t *kept; /* as memory_save has it; borrowed */
};

/* The file's text, of fewer than BOOTED_BYTES_MAX bytes: what there is no room for is left out. */
void booted_write(const char *boot, const struct booted *list, size_t n, struct text *out);

/* What was written in this boot. NULL when it was in another one, or is damaged. The caller owns it. */
json_t *booted_read(const char *text, const char *boot);
/* What the check with this very record said, and when. False when nothing is kept of it; kept may be NULL. */
bool booted_find(const json_t *kept, const struct check *k, struct mono now, struct verdict *said,
                 struct mono *looked);

/* What the check with this very record remembers; NULL for nothing. Borrowed. */
const json_t *booted_kept(const json_t *kept, const struct check *k);

#endif
