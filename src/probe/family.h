/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_PROBE_FAMILY_H
#define FETTLE_PROBE_FAMILY_H

#include "base/clock.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * A program that this process runs, and everything that the program started: also what left its process group
 * or its session, or lost its parent. They are bounded together, and killed together.
 *
 * Where this process may make a control group (version 2) below its own, the family lives in one, which the
 * kernel kills whole; where the group has the controllers of memory and processes, the kernel bounds it, too.
 * Everywhere, this process inherits the family's orphans, so that whatever the family does it stays below.
 * All other children of this process count as family, too: it should have none.
 */

struct family {
    char *group; /* the directory of its control group; NULL: it has none */
    uint64_t processes_max, memory_bytes_max;
    char excess[64];
};

/* Once, in the daemon whose processes will have families: it takes a group of its own below the one that it
 * was put into, so that the controllers that were delegated count for the families beside it. Changes nothing
 * where there are none. */
void family_settle(void);

/* Before the program is started; family_end when done. Also ends the groups whose process is no more. Its
 * bounds are enough for a check beside other people's work or, with `machine`, for a remedy and for what
 * tests the machine: all but a tenth of its memory. */
void family_begin(struct family *f, bool machine);
/* In the process that becomes the program, before it runs anything. */
void family_join(const struct family *f);

/* The bound that it passed ("256 processes"), in f->excess, or NULL. To be asked each second, and when the
 * program has ended: where the kernel does not keep the bounds, this is all that does. */
const char *family_excess(struct family *f);

struct family_size {
    uint64_t processes, memory_bytes; /* memory that they do not share with others */
};
struct family_size family_measure(void);

/* Kills all of them and waits for their end, at most for so long; how the program ended is lost where it was
 * not asked before. True when none is left: what hangs in the kernel cannot be killed. */
bool family_kill(const struct family *f, struct span limit);
/* The rest of the family, if any, is left alone. */
void family_end(struct family *f);

#endif
