/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_DRIVER_SLURM_LOG_H
#define FETTLE_DRIVER_SLURM_LOG_H

#include "driver/slurm_plan.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * slurmctld's own log, read where it lies on this machine. slurmctld compares nothing when it is written to,
 * and keeps no reason that was written over; but its log has each write, in the order in which they were
 * taken. So a drain of somebody's that landed in the moment of a write of ours, and was lost by it, is found
 * there.
 */

enum { SLURM_LOG_PATH_BYTES = 1024 };

struct slurm_log {
    char path[SLURM_LOG_PATH_BYTES]; /* "": slurmctld has none */
    int fd;                          /* -1: no mark is set */
    off_t at;
};

/* Of `scontrol show config`; "" when it names none. */
void slurm_read_log_path(const char *config, char out[static SLURM_LOG_PATH_BYTES]);

/* From here on. False: it cannot be read here. */
bool slurm_log_mark(struct slurm_log *l);
/* What was written since the mark, which stays; NULL: nobody knows. The caller frees it. */
char *slurm_log_since(const struct slurm_log *l);
void slurm_log_close(struct slurm_log *l);

/* Where it ends now, as text that outlives this process; "" when it cannot be read here. */
enum { SLURM_LOG_PLACE_BYTES = 48 };
void slurm_log_place(const struct slurm_log *l, char out[static SLURM_LOG_PLACE_BYTES]);
/* What was written since that place; NULL when nobody knows. The caller frees it. */
char *slurm_log_from(const struct slurm_log *l, const char *place);

/* Whether the log has a write to this node by somebody that a write of ours undid, and that does not stand
 * again. Ours are known by the reason that each of them sets, an undrain's too. restored: the reason of
 * somebody's that we put back since, or NULL. */
bool slurm_log_lost(const char *log, const char *node, const char *owner, const char *restored,
                    struct slurm_lost *out);

#endif
