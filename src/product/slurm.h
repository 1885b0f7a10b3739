/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_PRODUCT_SLURM_H
#define FETTLE_PRODUCT_SLURM_H

#include "base/json.h"
#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * effect/slurm.NAME: the note of Slurm's driver about what Fettle has written there of a node, and is about
 * to write (doc/spec/slurm.md).
 */

enum slurm_record_state {
    RECORD_NONE, /* there is no record */
    RECORD_DRAINING,
    RECORD_DRAINED,
    RECORD_FOREIGN,
    RECORD_OVERRIDDEN,
    RECORD_UNDRAINING,
    RECORD_RESERVED /* not drained; only the reservation */
};
enum { RECORD_STATES = RECORD_RESERVED + 1 };

/* Somebody's write that ours undid. */
enum { SLURM_LOST_BYTES = 512 };
enum slurm_lost_how { SLURM_LOST_DRAIN, SLURM_LOST_FAIL, SLURM_LOST_DOWN };
struct slurm_lost {
    char reason[SLURM_LOST_BYTES]; /* "": nothing was lost */
    enum slurm_lost_how how;
};

enum { SLURM_CLAIM_BYTES = 48, SLURM_BOOT_BYTES = 40, SLURM_LOG_PLACE_BYTES = 48 };

struct slurm_record {
    enum slurm_record_state state;
    char claim[SLURM_CLAIM_BYTES];
    bool has_guard, is_refused;
    bool is_rebooting; /* the drain stood, and somebody was rebooting the node in Slurm */
    struct slurm_lost lost;
    char
        log[SLURM_LOG_PLACE_BYTES]; /* slurm_log_place before the write that `state` announces; "" for none */
    char boot[SLURM_BOOT_BYTES];    /* slurmctld's start when the drain (in `undraining`, `reserved` and
                                       `foreign` the reservation) last stood; "" when it was not read */
};

/* -EINVAL with a sentence; *out is RECORD_NONE then. */
int slurm_record_read(const char *value, struct slurm_record *out, struct err *e);
/* The text of a `done`, "null" for RECORD_NONE; the caller frees it. at_ns: now, nanoseconds since 1970. */
char *slurm_record_write(const struct slurm_record *r, int64_t at_ns);
const char *slurm_record_name(enum slurm_record_state s); /* "draining"; "none" */

/* For the table of product.c. */
int slurm_note_check(const json_t *record, struct err *e);
void slurm_note_say(const json_t *was, const json_t *is, struct text *t);

#endif
