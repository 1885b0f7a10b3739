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
 *   slurm.c          turns: who reads or writes next; the nodes, and which are open; calls; what is told
 *   slurm_reading.c  readings: of all nodes, in slices; between them of some, by name
 *   slurm_preferring.c  which nodes Slurm takes rather than others
 *   slurm_writing.c  what follows of a node that was read: a note in its record, or a write
 *
 * Decisions, what scontrol prints and its runs have headers of their own.
 */

enum { RETRY_S = 1 }; /* doubled each time */

struct node {
    char *name;
    UT_hash_handle hh;
    struct slurm_want want;
    struct slurm_record record;
    char *said; /* the result that is to come back as a record; NULL: none */
    struct mono said_at;
    const struct slurm_line *line; /* `row`; NULL: it is not in Slurm, or nobody knows */
    struct slurm_line row;         /* as it was read last */
    char *row_text;                /* what `row` points into */
    struct mono read_at;
    unsigned reading; /* the last regular one that had it */
    enum slurm_guard guard;
    enum slurm_act act, tried; /* what is to be done; what was done last */
    unsigned tries;            /* how often without success */
    struct mono not_before;
    bool is_avoid_due;    /* Slurm prefers it otherwise than wanted, as last read */
    struct mono avoid_at; /* and is not told before */
    bool is_marked;       /* wants may have changed */
    bool was_seen;        /* in the reading before */
    bool is_changed;      /* something else is wanted since it was read */
    bool is_written;      /* since it was read */
    bool is_inherited; /* its record is of a driver before this one, and the log was not looked at for it */
    bool is_lost_now;  /* by our last write: what was lost is put back as soon as the record says so */
    bool is_kept;    /* of the batch: it was read by name, and right before a write, the same follows of it */
    bool was_pasted; /* its reason was seen to have the token of another node's claim, and stands */
    bool is_asked;   /* who holds it is to be read */
    char *reservation;  /* an active one of somebody else's that it lies in, as last read; NULL: none */
    bool is_maintained; /* in a maintenance reservation of somebody else's, as last read */
    bool is_absent;     /* Slurm said that it has no such node, and no reading had it or failed since */
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
    struct node *nodes; /* in Slurm's order, as far as it had them first */
    struct node *open;
    /* The regular reading under way: the text, where its next line begins, which node that is likely of. */
    char *text, *rest;
    struct node *likely;
    unsigned reading, n_read;    /* its number; how many nodes it had so far */
    char boot[SLURM_BOOT_BYTES]; /* slurmctld's start, as read last; "" before that */
    struct mono due, retry_at, next_write, next_retry;
    unsigned failed_readings;
    bool is_regular; /* the reading under way is of all nodes */
    bool is_vague;   /* of the reservations one was not understood, as last read */
    bool has_read, has_marks, has_losses, is_away;
    /* What goes on a slice a turn, while `slices` is active: each node from `at` on, then the end. */
    uv_idle_t *slices;
    struct node *at;
    node_each_fn *each;
    node_end_fn *end;
    struct slurm_log log; /* slurmctld's; marked before each write */
    bool is_blind;        /* that it cannot be read here was logged */
    struct err why;       /* of the last write that failed */
    struct node **batch;  /* what is read by name, or is about to be written alike */
    size_t n_batch;
};

/* --- slurm.c --------------------------------------------------------------------------------- */

struct node *node_find(const struct slurm *s, const char *name); /* NULL: nobody knows it here */
struct node *node_get(struct slurm *s, const char *name);        /* made where there is none */
void node_drop(struct slurm *s, struct node *n);
/* Into the list of those of which there is more to know than what Slurm says, and out of it. */
void node_open(struct slurm *s, struct node *n);
void node_close(struct slurm *s, struct node *n);
bool node_is_wanted(const struct node *n);
/* What is wanted of it now; whether that is something else than before, which opens it. */
bool node_ask(struct slurm *s, struct node *n);
/* The reason that Slurm shows of n has the token of another node's claim: a person copied it. */
bool node_is_pasted(const struct slurm *s, const struct node *n, const char *reason);
/* Gives its result, n->said; the record may be there when it returns. */
void node_say(struct slurm *s, struct node *n);

/* Told each time, with why; and once when it is over (NULL). */
void slurm_set_trouble(struct slurm *s, const struct err *why);
/* Whatever was told last and is to be done once more did not come about. */
void slurm_judge_trouble(struct slurm *s);
struct span slurm_backoff(unsigned tries); /* from RETRY_S on, doubled each time */

/* Runs scontrol; as slurm_call_start, done's arg is s. */
int slurm_run(struct slurm *s, const char *const *args, slurm_call_done_fn *done, struct err *e);
/* One more node that the next call is for; *bytes is what their names take. False: it is full. */
bool batch_add(struct slurm *s, struct node *n, size_t *bytes);
void batch_write(const struct slurm *s, struct text *t); /* as scontrol takes a list */
int batch_read(struct slurm *s, slurm_call_done_fn *done, struct err *e);

/* Does what is to be done next, unless something is under way; whatever ends calls it. */
void slurm_turn(struct slurm *s);

/* --- slurm_reading.c ------------------------------------------------------------------------- */

/* Tells the sink what was read of it last. alone: as slurm_node's. */
void reading_tell(struct slurm *s, const struct node *n, bool alone);
void reading_all(struct slurm *s);
/* Reads what has to be read; whether there is anything. */
bool reading_some(struct slurm *s, struct mono now);
/* Slurm does not answer: nobody knows of any node, and all are read after a while. */
void reading_fail(struct slurm *s, const struct err *why);

/* --- slurm_writing.c ------------------------------------------------------------------------- */

/* What follows of it as it was read; a note is taken at once. The sink may bring records, which adds nodes
 * and frees none. */
void writing_plan(struct slurm *s, struct node *n);
/* The same for all that were read just now. */
void writing_plan_fresh(struct slurm *s, struct mono now);
/* What was written came about, or something else is to be done by now. */
void writing_settle(struct node *n);
/* Puts back what the last write undid, once the records say it; whether that is under way. */
bool writing_restore(struct slurm *s, struct mono now);
struct mono writing_time(const struct slurm *s, const struct node *n); /* when it may be written */
bool writing_may(const struct slurm *s, const struct node *n, struct mono now);
/* Writes what is most urgent; whether there was anything that may be written now. */
bool writing_next(struct slurm *s, struct mono now);

/* --- slurm_preferring.c ---------------------------------------------------------------------- */

/* Of a line of a reading, when it is known what is wanted of the node. */
void preferring_look(struct slurm *s, struct node *n, const struct slurm_line *l);
/* Tells Slurm whom to prefer to whom; whether there was anything to be told. */
bool preferring_next(struct slurm *s, struct mono now);

#endif
