/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_DRIVER_SLURM_READ_H
#define FETTLE_DRIVER_SLURM_READ_H

#include "base/clock.h"
#include "base/err.h"
#include "base/hostlist.h"
#include "base/text.h"
#include "product/slurm.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Parsers of scontrol's output: `scontrol -o show node`, `-o show reservation`, and slurmctld's start in
 * `show config`. An answer that is empty, cut off or malformed is -EPROTO with a sentence, and none of it
 * counts. A node whose line has an unknown word, or that occurs twice, is present but unknown.
 *
 * The parsers cut the text in place: their results point into it, and it must outlive them.
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
    SLURM_POWER = 64   /* off, or on the way there or back */
};

struct slurm_state {
    bool known; /* every word was understood; otherwise base and flags are not valid */
    enum slurm_base base;
    unsigned flags;
};

/* Reads "IDLE+DRAIN" or "DOWN*+DRAIN". */
struct slurm_state slurm_read_state(const char *text);

struct slurm_line {
    const char *name;
    struct slurm_state state;
    const char *state_text, *reason, *by; /* "" for none; the reason without "[by@time]" */
    struct wall set_at;                   /* the time in it; ns 0: none */
    const char *available, *active; /* features, separated by commas; "" for none. Not kept with a row */
    const char *weight;             /* likewise; "" when scontrol does not say it */
};

struct slurm_lines {
    struct slurm_line *lines;
    size_t n;
};
void slurm_lines_fini(struct slurm_lines *l);

/* text has len bytes and a zero byte after them. */
int slurm_read_nodes(char *text, size_t len, struct slurm_lines *out, struct err *e);

/* The same one node at a time, for many nodes. First check that the answer is complete. Then each call gives
 * the next node, *rest being the text at first: 1, 0 at the end, or -EPROTO, and none of the answer counts. A
 * node that occurs twice comes twice. */
int slurm_check_answer(const char *text, size_t len, struct err *e);
int slurm_next_node(char **rest, struct slurm_line *out, struct err *e);

/* Whether scontrol says explicitly that Slurm has no node of this name. */
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

/* When slurmctld started, in its own words: for comparison only. */
int slurm_read_boot(const char *text, size_t len, char out[static SLURM_BOOT_BYTES], struct err *e);

/* Jobs, as `squeue --noheader --format="%A %u %N"` prints them: a number, a user and nodes in a line. -EPROTO
 * for anything else. The name of a job is not asked for, because users choose it freely. */
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
