/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CONTROLLER_COMMIT_COMMIT_INSIDE_H
#define FETTLE_CONTROLLER_COMMIT_COMMIT_INSIDE_H

#include "cluster/cluster.h"
#include "controller/commit/committer.h"
#include "store/change.h"
#include "store/mirror.h"
#include "store/store.h"

#include <pthread.h>
#include <uv.h>

/*
 * What the committer has in hand: commands on their way (commit_job.c), the batch that is the next commit
 * (commit_batch.c), and commits by others (commit_follow.c). None of these knows the committer. The mirror of
 * the journal follows what it applies (commit_mirror.c).
 */

/* A command on its way. */
struct job {
    struct command *cmd; /* a copy */
    size_t from;         /* nodes before this index are committed */
    size_t next;         /* the first node after the job's part in the batch */
    struct hostlist changed;
    char *claim;
    bool recalled;        /* earlier commits did the nodes before `from`, or all of it, */
    uint64_t recalled_at; /* the last one with this revision */
    struct store_entry entry;
    char *entry_nodes, *entry_text, *entry_about, *entry_fields;
    outcome_fn *fn;
    void *arg;
    struct job *prev_job, *next_job;
};

/* Copies the command. */
struct job *job_create(const struct command *cmd, outcome_fn *fn, void *arg);
/* Takes the journal's data of the decision, without its sentence. */
void job_entry_write(struct job *j, struct decision *d);
/* Refuses all jobs of the list, which is the caller's alone: jobs that come meanwhile are not in it. */
void jobs_refuse(struct job *jobs, uint64_t revision, const struct err *why);
/* Frees the journal's data of the part that was committed. */
void job_entry_fini(struct job *j);
/* Answers the caller, and frees the job. why: the sentence of an error; may be NULL. */
void job_finish(struct job *j, uint64_t revision, int rc, const struct err *why);

/* A commit by any controller, as it is applied and announced. All of it is borrowed. */
struct commit_view {
    uint64_t revision;
    struct store_batch batch;
    const enum command_kind *kinds; /* by entry; COMMANDS: this version does not know the kind */
    const struct hostlist *changed; /* by entry: the nodes that it changes */
};

/* A commit that the store reported. */
struct followed {
    struct store_change *change;
    enum command_kind *kinds;
    struct hostlist *changed;
    struct commit_view view;
};
/* Takes the change over. */
struct followed *followed_create(struct store_change *c);
void followed_destroy(struct followed *f);

/* The announcement of a commit, entry by entry, and some nodes of each entry at a time. Zero-initialise. */
struct telling {
    struct commit_view of;
    struct followed *followed; /* the owner of `of`; NULL: the batch owns it, or there is none */
    size_t entry, told;        /* the next entry, and how many of its nodes were announced */
};
void telling_begin(struct telling *t, const struct commit_view *of);
/* Announces one entry, or some of the nodes that it changed. False: everything was announced. */
bool telling_next(struct telling *t, const struct committer_events *events);
/* Frees what was announced. */
void telling_end(struct telling *t);

/* Takes from the state what came of the job's request before. 1: all was done, and the job has what came of
 * it. 0: the job goes on from where the request stands. -ENOTUNIQ: the id was given to another request. */
int job_recall(struct job *j, const struct cluster *c, struct err *e);

/* The commands that are committed together. */
struct batch {
    struct job *jobs;
    unsigned met;   /* the bits 1 << enum command_meets of its commands */
    bool takes_out; /* one of its decisions takes nodes out of service */
    size_t n_quotas;
    const char *quotas[STORE_ENTRIES_MAX]; /* on which its decisions rest; their commands own them */
    size_t n_ops, n_entries, bytes;
    struct store_op ops[STORE_OPS_MAX];
    struct {
        char *key, *value;
    } own[STORE_OPS_MAX]; /* the ops point to these */
    struct store_entry entries[STORE_ENTRIES_MAX];
    enum command_kind kinds[STORE_ENTRIES_MAX]; /* by entry */
    struct hostlist changed[STORE_ENTRIES_MAX]; /* by entry: the nodes that it changes */
    size_t n_notes;
    struct request_note notes[STORE_ENTRIES_MAX]; /* what is to be remembered; jobs and `changed` own it */
    uint64_t number;                              /* counts batches since the start */
    uint64_t *marks;                              /* by member id: the last batch that names the member */
    size_t n_marks;
    int rc;
    struct err why;
    uint64_t revision;
    struct mono began;
};

/* Whether the job has to wait for the next batch, because this batch is about to change something that the
 * decision on the job rests on: `d`, or all its nodes when the job was refused (d NULL). */
bool batch_meets(struct batch *b, const struct cluster *c, const struct job *j, const struct decision *d);
/* Whether the decision and the job's entry fit into the batch. *bytes is the size of both. */
bool batch_fits(const struct batch *b, const struct cluster *c, const struct job *j, const struct decision *d,
                size_t *bytes);
/* Moves the decision's records and the job into the batch. */
void batch_take(struct batch *b, struct job *j, struct decision *d, size_t bytes);
/* Notes the nodes of the job that was taken last, for later jobs of the same batch. */
void batch_mark(struct batch *b, const struct cluster *c, const struct job *j);
/* Decides the outcome of a batch for which it was not known (rc STORE_UNKNOWN). The store was asked (asked:
 * 0, or an error while it cannot tell) and has reported commits. rc and the sentence then say whether the
 * batch is done, refused, or still not known. A batch that is done is among the reported commits. */
void batch_resolve(struct batch *b, int asked, const struct store_change *found);
/* Whether the batch has a command of the same request, and for the same node where each has one. */
bool batch_asks(const struct batch *b, const struct job *j);
/* Adds what is remembered of its requests, for the commit with this revision. Nothing is taken after it. */
void batch_seal(struct batch *b, const struct cluster *c, uint64_t revision);
/* The batch as it is committed. */
struct commit_view batch_view(const struct batch *b);
/* Empties the batch after its commit. Its jobs were taken out before. */
void batch_clear(struct batch *b);
/* Also frees what outlives a commit. */
void batch_fini(struct batch *b);

/* How the mirror of the journal follows. */
struct mirroring {
    struct mirror *mirror;     /* NULL: the store's own journal is read */
    pthread_mutex_t lock;      /* of the mirror, `compared` and `damage` */
    bool copying;              /* it is being copied, and nothing is tidied */
    bool compared;             /* its newest commit is the one that the store has */
    struct err damage;         /* that a reader found */
    pthread_mutex_t feed_lock; /* of the following four */
    struct store_change *feed; /* applied, and not in the mirror yet; oldest first */
    size_t n_feed;
    bool behind;   /* it lacks commits that do not wait here */
    uint64_t head; /* the newest that was applied */
    uv_work_t work;
    bool busy;
    struct mono began, tidied;
    struct { /* the thread's */
        uint64_t head;
        struct store_keep keep;
        char *directory;
        bool tidies, tidy; /* it limits the journal; more of that is due */
        bool more;         /* more is to be read from the store */
        struct err why, anew;
        uint64_t revision, first;
        struct mirror_gap missing;
        bool complete;
    } step;
    /* as the last step left it */
    struct err why; /* code 0: it follows */
    struct mirror_gap missing;
    uint64_t revision;
    bool complete;
};

struct committer {
    uv_loop_t *loop;
    uv_async_t wake;
    uv_work_t work;
    bool busy, closing, deposed;
    bool tidy;    /* a tidying step between commits is due */
    bool stepped; /* the last action was such a step, or one of a copy */
    int failing;  /* the code of the store's last refusal; 0: the store works */
    struct cluster *cluster;
    struct store *store;
    pthread_mutex_t store_lock;
    uint64_t term, revision, claims, commits;
    struct committer_events events;
    struct job *waiting;
    size_t n_waiting;
    struct job *refused;         /* jobs that came when too many were waiting */
    struct store_change *follow; /* commits by others that are not applied yet */
    struct batch batch;
    uv_idle_t settle; /* active while the consequences of a commit wait for the next turns */
    bool unsure;      /* the outcome of the last change is not known */
    bool asks;        /* the store is to be asked about it as soon as nothing else is done */
    struct {
        int rc; /* from the last time that the store was asked */
        struct err why;
        struct store_change *found;
    } resolved;
    struct telling telling;
    struct {
        struct job *jobs;  /* to be answered */
        struct job *again; /* to go on in the next batch */
        int rc;
        struct err why;
    } settling;
    double ms_max, ms_max_before; /* of this minute and of the last */
    struct mono minute, checked;
    struct err check; /* the result of the last check of the files */
    struct store_keep keep;
    char *keep_directory;
    uint64_t journal_first;
    struct {
        bool more;
        struct store_keep keep;
        char *directory;
        uint64_t first;
        int rc;
        struct err why;
    } step;
    struct {
        char *dir; /* NULL: no copy is wanted */
        copied_fn *fn;
        void *arg;
        struct store_copied copied;
        struct err why;
    } copy;
    struct mirroring mirroring;
};

/* Counts the commit that has just ended. */
void committer_measure(struct committer *k);
/* Tells the owner how the journal is, the mirror included. */
void committer_tell_journal(struct committer *k);

/* A commit was applied. */
void mirroring_feed(struct committer *k, const struct commit_view *v);
/* Goes on when something is due. */
void mirroring_pump(struct committer *k);
/* What the journal is read from, with the mirror's lock held: everything that was applied is there.
 * -EAGAIN: it is not complete. */
int mirroring_read(struct mirroring *m, struct store **from, struct err *e);
/* A reader met this error, with the lock held. */
void mirroring_hurt(struct mirroring *m, const struct err *why);
/* One step of a copy of the whole store, in the thread between commits: as store_copy. */
int mirroring_copy(struct committer *k, const char *dir, struct store_copied *copied, struct err *e);
/* Ends one that is not done. */
void mirroring_copy_end(struct mirroring *m);
void mirroring_fini(struct mirroring *m);

#endif
