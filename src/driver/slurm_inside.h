/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_DRIVER_SLURM_INSIDE_H
#define FETTLE_DRIVER_SLURM_INSIDE_H

#include "base/table.h"
#include "base/text.h"
#include "driver/slurm.h"
#include "driver/slurm_call.h"
#include "driver/slurm_log.h"
#include "driver/slurm_plan.h"
#include "driver/slurm_read.h"

/*
 * The inside of the driver of Slurm, shared by its files only.
 *
 *   slurm_node.c        the nodes, and which are open; calls for several of them; trouble
 *   slurm_report.c      what the sink is told of nodes
 *   slurm_preferring.c  which nodes Slurm takes rather than others
 *   slurm_writing.c     what follows for a node that was read: a note in its record, or a write
 *   slurm_reading.c     readings: of all nodes, in slices; between them of some nodes, by name
 *   slurm.c             turns: which call is next
 *
 * Each uses those before it alone. The end of a call leads to the next turn, by `turn`.
 *
 * Decisions, the parsers of scontrol's output and its runs have headers of their own.
 */

enum {
    RETRY_S = 1,      /* doubled each time */
    SLURM_SLICE = 256 /* nodes in a turn of the loop */
};

/* Before the name of a node: the key of its record. */
#define SLURM_KEY_PREFIX "effect/slurm."

struct node {
    char *name;
    UT_hash_handle hh;
    struct slurm_want want;
    struct slurm_record record;
    char *said; /* the result that must come back as a record; NULL: none */
    struct mono said_at;
    const struct slurm_line *line; /* `row`; NULL: it is not in Slurm, or unknown */
    struct slurm_line row;         /* as last read */
    char *row_text;                /* the text that `row` points into */
    struct mono read_at;
    unsigned reading; /* the last regular reading that had it */
    enum slurm_guard guard;
    enum slurm_act act, tried; /* the next action; the last one */
    unsigned tries;            /* how often in vain */
    struct mono not_before;
    bool is_avoid_due;    /* Slurm's preference differs from the wanted one, as last read */
    struct mono avoid_at; /* not written before this */
    bool is_marked;       /* its wanted state may have changed */
    bool was_seen;        /* it was in the reading before */
    bool is_changed;      /* the wanted state has changed since it was read */
    bool is_written;      /* it was written since it was read */
    bool is_inherited;    /* its record comes from an earlier driver, and the log was not searched for it */
    bool is_lost_now;     /* by our last write: what it undid is restored as soon as the record says so */
    bool is_kept;    /* of the batch: it was read by name and, right before a write, the same still follows */
    bool was_pasted; /* its reason was seen to have the token of another node's claim, and stands */
    bool is_asked;   /* its holder must be read */
    char *reservation;  /* an active reservation of somebody else that includes it, as last read; NULL:
                           none */
    bool is_maintained; /* in somebody else's maintenance reservation, as last read */
    bool is_absent;     /* Slurm said that it has no such node, and since then no reading had it or failed */
    bool is_open;
    struct node *prev_open, *next_open;
};

typedef void node_each_fn(struct slurm *s, struct node *n);
typedef void node_end_fn(struct slurm *s);

struct slurm {
    uv_loop_t *loop;
    struct slurm_sink sink;
    struct {
        char *scontrol, *conf_file, *user, *owner;
        struct span every, deadline;
    } conf;
    struct slurm_call *call;
    uv_timer_t *timer;
    void (*turn)(struct slurm *s); /* does the next thing, unless a call is under way */
    struct node *nodes;            /* in Slurm's order, as far as it had them first */
    struct node *open;
    /* The regular reading under way: the text, the start of its next line, and the node that this line is
     * likely to be about. */
    char *text, *rest;
    struct node *likely;
    unsigned reading, n_read;    /* its number; how many nodes it had so far */
    char boot[SLURM_BOOT_BYTES]; /* slurmctld's start, as last read; "" before that */
    struct mono due, retry_at, next_write, next_retry;
    unsigned failed_readings;
    bool is_regular; /* the reading under way is a regular one */
    bool is_vague;   /* a reservation was not understood, as last read */
    bool has_read, has_marks, has_losses, is_away;
    /* The walk over the nodes, a slice a turn while `slices` is active: each node from `at` on, then the
     * end. */
    uv_idle_t *slices;
    struct node *at;
    node_each_fn *each;
    node_end_fn *end;
    struct slurm_log log; /* slurmctld's log; marked before each write */
    bool is_blind;        /* the message that it cannot be read here was logged */
    struct err why;       /* the error of the last failed write */
    struct node **batch;  /* nodes to be read by name, or to be written alike */
    size_t n_batch;
};

/* --- slurm_node.c ---------------------------------------------------------------------------- */

struct node *node_find(const struct slurm *s, const char *name); /* NULL: an unknown node */
struct node *node_get(struct slurm *s, const char *name);        /* makes it when there is none */
void node_drop(struct slurm *s, struct node *n);
/* Adds a node to, or removes it from, the list of those about which there is more to know than Slurm's
 * answer. */
void node_open(struct slurm *s, struct node *n);
void node_close(struct slurm *s, struct node *n);
bool node_is_wanted(const struct node *n);
/* Asks for its wanted state. True when that has changed, which opens the node. */
bool node_ask(struct slurm *s, struct node *n);
/* The reason of n in Slurm has the token of another node's claim: a person copied it. */
bool node_is_pasted(const struct slurm *s, const struct node *n, const char *reason);
/* Reports its result, n->said; the record may be there when it returns. */
void node_say(struct slurm *s, struct node *n);

/* Call each time with why, and once with NULL when the trouble is over. */
void slurm_set_trouble(struct slurm *s, const struct err *why);
/* A command that must be repeated had no effect: reports it as trouble. */
void slurm_judge_trouble(struct slurm *s);
struct span slurm_backoff(unsigned tries); /* from RETRY_S, doubled each time */

/* Runs scontrol as slurm_call_start does; done's arg is s. */
int slurm_run(struct slurm *s, const char *const *args, slurm_call_done_fn *done, struct err *e);
/* Adds a node to the next call; *bytes is the length of the names so far. False: the call is full. */
bool batch_add(struct slurm *s, struct node *n, size_t *bytes);
void batch_write(const struct slurm *s, struct text *t); /* in scontrol's form of a list */
/* Asks Slurm for the nodes of the batch. */
int batch_show(struct slurm *s, slurm_call_done_fn *done, struct err *e);

/* --- slurm_report.c -------------------------------------------------------------------------- */

/* Visits each node, a slice in a turn of the loop, then calls the end; nothing else begins meanwhile. */
void report_walk(struct slurm *s, node_each_fn *each, node_end_fn *end);
/* Reports the last reading of the node. alone: as in slurm_node. */
void report_node(struct slurm *s, const struct node *n, bool alone);
void report_unknown(struct slurm *s, const struct node *n);
/* Slurm does not answer: every node becomes unknown, and all are read after a while. */
void report_failure(struct slurm *s, const struct err *why);

/* --- slurm_reading.c ------------------------------------------------------------------------- */

void reading_all(struct slurm *s);
/* Reads the nodes that need it; true when there were any. */
bool reading_some(struct slurm *s, struct mono now);

/* --- slurm_writing.c ------------------------------------------------------------------------- */

/* Plans what follows from the node's reading; a note is taken at once. The sink may bring records, which adds
 * nodes and frees none. */
void writing_plan(struct slurm *s, struct node *n);
/* The same for all nodes that were just read. */
void writing_plan_fresh(struct slurm *s, struct mono now);
/* A write has taken effect, or has been overtaken. */
void writing_settle(struct node *n);
/* Restores what the last write undid, once the records say so; true while that is under way. */
bool writing_restore(struct slurm *s, struct mono now);
struct mono writing_time(const struct slurm *s, const struct node *n); /* when it may be written */
bool writing_may(const struct slurm *s, const struct node *n, struct mono now);
/* Writes the most urgent nodes; true when something could be written now. */
bool writing_next(struct slurm *s, struct mono now);

/* --- slurm_preferring.c ---------------------------------------------------------------------- */

/* Looks at a line of a reading, when the node's wanted state is known. */
void preferring_look(struct slurm *s, struct node *n, const struct slurm_line *l);
/* Writes preferences; true when there was one to write. */
bool preferring_next(struct slurm *s, struct mono now);

#endif
