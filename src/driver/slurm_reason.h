/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_DRIVER_SLURM_REASON_H
#define FETTLE_DRIVER_SLURM_REASON_H

#include "product/slurm.h"

#include <stdbool.h>

/*
 * The reason of a node in Slurm, as people read it in `sinfo -R`: words first, the mark of this Fettle last.
 *
 *   licence: /etc/licence is gone [node_problem] [fettle:3f2a9c01d4e7:12.1:d960]
 *
 * The mark proves whose reason it is: which Fettle (the owner) wrote it, for which claim, and that the words
 * before it are unchanged (a sum of 16 bits, FNV-1a). Slurm itself may append " : reboot issued" and the
 * like. A reason that a person edits, before or after the mark, is that person's.
 *
 * Earlier versions wrote the mark first, "fettle:OWNER:CLAIM [PROBLEM] words". Such reasons are still this
 * Fettle's.
 */

enum { SLURM_PROBLEM_BYTES = 24, SLURM_REASON_BYTES = 251 };

struct slurm_mark {
    char claim[SLURM_CLAIM_BYTES];     /* "12.1": letters, digits, '.', '-' and '_' */
    char problem[SLURM_PROBLEM_BYTES]; /* "node_problem": lower-case letters and '_'; "" for none */
};

/* Whether the reason is this Fettle's; *out is set only then. False for another Fettle's. */
bool slurm_read_mark(const char *reason, const char *owner, struct slurm_mark *out);

/* Writes a reason of at most 250 bytes of UTF-8, without quotes and control characters. Words that are too
 * long are cut; the mark is always whole. The owner has at most 12 characters. */
void slurm_write_reason(const char *owner, const struct slurm_mark *mark, const char *words,
                        char out[static SLURM_REASON_BYTES]);

/* Whether slurmctld writes this reason by itself (slurm_own.tbl). */
bool slurm_is_own_reason(const char *reason);

#endif
