/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_DRIVER_SLURM_READ_H
#define FETTLE_DRIVER_SLURM_READ_H

#include "base/clock.h"
#include "base/err.h"
#include "base/hostlist.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * What scontrol prints, read: `scontrol -o show node`, `-o show reservation`, and slurmctld's start out of
 * `show config`. An answer that is empty, cut off or of another shape is -EPROTO with a sentence, and nothing
 * of it counts. A node whose line has a word that is not known, or that is there twice, is there and not
 * known.
 *
 * The readers cut the text in place: what they return points into it, and it must outlive them.
 */

enum slurm_base {
#define BASE(symbol, word) SLURM_##symbol,
#define FLAG(word, mean)
#define MARK(character, mean)
#include "driver/slurm_state.tbl"
#undef BASE
#undef FLAG
#undef MARK
    SLURM_BASES
};

enum slurm_flag {
    SLURM_DRAIN = 1,
    SLURM_FAIL = 2,
    SLURM_COMPLETING = 4,
    SLURM_SILENT = 8, /* slurmd does not respond */
    SLURM_RESERVED = 16,
    SLURM_REBOOT = 32, /* asked for or under way */
    SLURM_POWER = 64   /* off, or on its way there or back */
};

struct slurm_state {
    bool known; /* every word was understood; base and flags hold nothing otherwise */
    enum slurm_base base;
    unsigned flags;
};

/* Reads "IDLE+DRAIN" or "DOWN*+DRAIN". */
struct slurm_state slurm_read_state(const char *text);

struct slurm_line {
    const char *name;
    struct slurm_state state;
    const char *state_text, *reason, *by; /* "" for none; the reason without "[by@time]" */
    struct wall set_at;                   /* that time; ns 0: none is there */
    const char *available, *active; /* features, with commas between; "" for none. Not kept with a row */
    const char *weight;             /* likewise; "" where scontrol does not say it */
};

struct slurm_lines {
    struct slurm_line *lines;
    size_t n;
};
void slurm_lines_fini(struct slurm_lines *l);

/* text has len bytes and a zero byte behind them. */
int slurm_read_nodes(char *text, size_t len, struct slurm_lines *out, struct err *e);

/* The same a node at a time, for many: first whether the answer is whole; then the next node, *rest being the
 * text at first: 1, 0 at the end, or -EPROTO, and nothing of the answer counts. One that is there twice comes
 * twice. */
int slurm_check_answer(const char *text, size_t len, struct err *e);
int slurm_next_node(char **rest, struct slurm_line *out, struct err *e);

/* Whether scontrol says in so many words that Slurm has no node of this name. */
bool slurm_says_not_found(const char *text, const char *name);

struct slurm_reservation {
    const char *name, *nodes, *users, *flags, *state; /* "" where scontrol does not say */
};

struct slurm_reservations {
    struct slurm_reservation *list;
    size_t n;
};
void slurm_reservations_fini(struct slurm_reservations *r);
int slurm_read_reservations(char *text, size_t len, struct slurm_reservations *out, struct err *e);

/* When slurmctld started, as it says it; text is compared and never counted with. */
enum { SLURM_BOOT_BYTES = 40 };
int slurm_read_boot(const char *text, size_t len, char out[static SLURM_BOOT_BYTES], struct err *e);

/* Jobs, as `squeue --noheader --format="%A %u %N"` prints them: a number, a user and nodes in a line. -EPROTO
 * for anything else. A user may call a job whatever he wants, so its name is not asked for. */
struct slurm_job {
    char id[11], user[64]; /* digits; cut where it is longer */
    struct hostlist nodes;
};

struct slurm_jobs {
    struct slurm_job *list;
    size_t n;
};
void slurm_jobs_fini(struct slurm_jobs *j);
int slurm_read_jobs(const char *text, struct slurm_jobs *out, struct err *e);

#endif
