/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_PROBE_FAMILY_H
#define FETTLE_PROBE_FAMILY_H

#include "base/clock.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * A program that this process runs, and every process that the program started, also one that left its
 * process group or session or lost its parent. They are bounded together and killed together.
 *
 * Where this process may make a control group (version 2) below its own, the family lives in one, which the
 * kernel kills whole; where the group has the controllers of memory and processes, the kernel also bounds
 * it. In any case this process inherits the family's orphans, so the family stays below it. All other
 * children of this process count as family too: it should have none.
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

/* The bound that the family passed ("256 processes"), in f->excess, or NULL. Call it each second, and when
 * the program has ended: where the kernel does not keep the bounds, only this call does. */
const char *family_excess(struct family *f);

struct family_size {
    uint64_t processes, memory_bytes; /* memory that they do not share with others */
};
struct family_size family_measure(void);

/* Kills all processes and waits for their end, at most this long. The program's exit status is lost if it
 * was not asked for before. True when none is left: a process that hangs in the kernel cannot be killed. */
bool family_kill(const struct family *f, struct span limit);
/* The rest of the family, if any, is left alone. */
void family_end(struct family *f);

#endif
