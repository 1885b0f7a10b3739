/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CONTROLLER_COMMIT_COMMIT_INSIDE_H
#define FETTLE_CONTROLLER_COMMIT_COMMIT_INSIDE_H

#include "cluster/cluster.h"
#include "controller/commit/committer.h"
#include "store/change.h"
#include "store/store.h"

/*
 * What the committer has in hand: commands on their way (commit_job.c), the batch that is the next commit
 * (commit_batch.c), and commits that others made (commit_follow.c). None knows the committer.
 */

/* A command on its way. */
struct job {
    struct command *cmd; /* a copy */
    size_t from;         /* nodes before this index are committed */
    size_t next;         /* after the batch that it is in */
    struct hostlist changed;
    char *claim;
    struct store_entry entry;
    char *entry_nodes, *entry_text, *entry_about, *entry_fields;
    outcome_fn *fn;
    void *arg;
    struct job *prev_job, *next_job;
};

/* Copies the command. */
struct job *job_create(const struct command *cmd, outcome_fn *fn, void *arg);
/* Takes what the journal says of the decision, beside its sentence. */
void job_entry_write(struct job *j, struct decision *d);
/* Lets go what the journal says of the part that was committed. */
void job_entry_fini(struct job *j);
/* Answers the caller, and frees the job. why: of an error; may be NULL. */
void job_finish(struct job *j, uint64_t revision, int rc, const struct err *why);

/* A commit, whoever made it, as it is applied and told. All of it is borrowed. */
struct commit_view {
    uint64_t revision;
    struct store_batch batch;
    const enum command_kind *kinds; /* of each entry; COMMANDS: of none */
    const struct hostlist *changed; /* and the nodes that it changes */
};

/* A commit that the store told of. */
struct followed {
    struct store_change *change;
    enum command_kind *kinds;
    struct hostlist *changed;
    struct commit_view view;
};
/* Takes the change over. */
struct followed *followed_create(struct store_change *c);
void followed_destroy(struct followed *f);

/* The telling of a commit: entry by entry, and some of the nodes of each at a time. Zero-initialise. */
struct telling {
    struct commit_view of;
    struct followed *followed; /* to which it points; NULL: to the batch, or to nothing */
    size_t entry, told;        /* the next entry, and so many of its nodes */
};
void telling_begin(struct telling *t, const struct commit_view *of);
/* Tells of one entry, or of some of the nodes that it changed. False: all were told. */
bool telling_next(struct telling *t, const struct committer_events *events);
/* Lets go what was told. */
void telling_end(struct telling *t);

/* What is committed together. */
struct batch {
    struct job *jobs;
    unsigned met;   /* bits 1 << enum command_meets of the commands in it */
    bool takes_out; /* one of its decisions takes nodes out of service */
    size_t n_ops, n_entries, bytes;
    struct store_op ops[STORE_OPS_MAX];
    struct {
        char *key, *value;
    } own[STORE_OPS_MAX]; /* to which the ops point */
    struct store_entry entries[STORE_ENTRIES_MAX];
    enum command_kind kinds[STORE_ENTRIES_MAX]; /* of each entry, */
    struct hostlist changed[STORE_ENTRIES_MAX]; /* and what it changes */
    uint64_t number;                            /* of the batch since the start */
    uint64_t *marks;                            /* by member id: the last batch that names it */
    size_t n_marks;
    int rc;
    struct err why;
    uint64_t revision;
    struct mono began;
};

/* Whether the job has to wait for the next batch, because this one is about to change what the job was
 * decided on: `d`, or all its nodes when it was refused (d NULL). */
bool batch_meets(struct batch *b, const struct cluster *c, const struct job *j, const struct decision *d);
/* Whether the decision has room, whose entry the job has. *bytes is what both take. */
bool batch_fits(const struct batch *b, const struct job *j, const struct decision *d, size_t *bytes);
/* Moves the decision's records into the batch, and the job with them. */
void batch_take(struct batch *b, struct job *j, struct decision *d, size_t bytes);
/* Notes the nodes of the job that was taken last, for jobs that want a place in the same batch. */
void batch_mark(struct batch *b, const struct cluster *c, const struct job *j);
/* What became of a batch whose outcome was not known (rc STORE_UNKNOWN), after the store was asked (asked: 0,
 * or an error while it cannot tell) and told of commits: rc and the sentence say whether it is done, refused,
 * or still not known. One that is done is among those commits. */
void batch_resolve(struct batch *b, int asked, const struct store_change *found);
/* The batch as it is committed. */
struct commit_view batch_view(const struct batch *b);
/* Empties it after its commit; its jobs were taken out. */
void batch_clear(struct batch *b);
/* With it goes what outlives a commit. */
void batch_fini(struct batch *b);

#endif
