/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_DRIVER_SLURM_LOG_H
#define FETTLE_DRIVER_SLURM_LOG_H

#include "driver/slurm_plan.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * slurmctld's own log, when it is on this machine. slurmctld takes every write without a comparison, and
 * forgets a reason that is overwritten; but its log has each write, in order. So it shows a drain that
 * somebody made at the moment of our write and that our write overwrote.
 */

enum { SLURM_LOG_PATH_BYTES = 1024 };

struct slurm_log {
    char path[SLURM_LOG_PATH_BYTES]; /* "": slurmctld has none */
    int fd;                          /* -1: no mark is set */
    off_t at;
};

/* Finds the path in `scontrol show config`; "" when there is none. */
void slurm_read_log_path(const char *config, char out[static SLURM_LOG_PATH_BYTES]);

/* Sets the mark at the present end. False: the log cannot be read here. */
bool slurm_log_mark(struct slurm_log *l);
/* The text since the mark, which stays; NULL when it cannot be read. The caller frees it. */
char *slurm_log_since(const struct slurm_log *l);
void slurm_log_close(struct slurm_log *l);

/* The present end, as text that outlives this process; "" when it cannot be read here. */
void slurm_log_place(const struct slurm_log *l, char out[static SLURM_LOG_PLACE_BYTES]);
/* The text since that place; NULL when it cannot be read. The caller frees it. */
char *slurm_log_from(const struct slurm_log *l, const char *place);

/* Whether the log has a write to this node by somebody that our write undid, and that does not stand again.
 * Our writes are known by the reason that each of them sets, also an undrain. restored: somebody's reason
 * that we have restored since, or NULL. */
bool slurm_log_lost(const char *log, const char *node, const char *owner, const char *restored,
                    struct slurm_lost *out);

#endif
