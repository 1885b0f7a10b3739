/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_PROBE_FAMILY_H
#define FETTLE_PROBE_FAMILY_H

#include "base/clock.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * A program that this process runs, and everything that the program started: also what left its process group
 * or its session, or lost its parent. They are counted together, and killed together.
 *
 * Where this process may make a control group (version 2) below its own, the family lives in one, which the
 * kernel kills whole. Everywhere, this process inherits the family's orphans, so that whatever the family
 * does it stays below. All other children of this process count as family, too: it should have none.
 */

struct family {
    char *group; /* the directory of its control group; NULL: it has none */
};

/* Before the program is started; family_end when done. Also ends the groups whose process is no more. */
void family_begin(struct family *f);
/* In the process that becomes the program, before it runs anything. */
void family_join(const struct family *f);

struct family_size {
    uint64_t processes, memory_bytes; /* memory that they do not share with others */
};
struct family_size family_measure(void);
/* What a family may be: enough for a check beside other people's work, or all but a tenth of the machine's
 * memory, for a remedy and for what tests the machine. */
struct family_size family_limit(bool machine);
bool family_exceeds(const struct family_size *is, const struct family_size *limit);

/* Kills all of them and waits for their end, at most for so long; how the program ended is lost where it was
 * not asked before. True when none is left: what hangs in the kernel cannot be killed. */
bool family_kill(const struct family *f, struct span limit);
/* The rest of the family, if any, is left alone. */
void family_end(struct family *f);

#endif
