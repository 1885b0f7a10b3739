/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_STORE_STORE_H
#define FETTLE_STORE_STORE_H

#include "base/clock.h"
#include "base/err.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The durable home of the agreed state: records (key, value) and the journal of how they came about. It is
 * small enough for SQLite and etcd alike, and knows nothing of nodes.
 *
 * A batch is taken whole or not at all, and only when this process still leads: each commit carries
 * the term that `campaign` gave and is refused (-EPERM) once another has campaigned. A commit has three
 * outcomes: it is done and on the disk, it is refused and nothing of it is there, or nobody knows
 * (STORE_UNKNOWN), and store_resolve finds out. Calls block; the controller makes them from one worker
 * thread, never from the loop, and never two at a time.
 *
 * Keys are printable ASCII of at most 512 bytes ("claim/42"), values JSON text without zero bytes. A batch
 * has a key once. The limits are etcd's, so that both engines take the same batches.
 */

enum {
    STORE_OPS_MAX =
        126, /* puts and deletes in one batch: etcd takes 128, two of which are the engine's own */
    STORE_BATCH_BYTES_MAX = 1 << 20, /* all keys, values and entries of one batch */
    STORE_ENTRIES_MAX = 128
};

struct store_op {
    const char *key;
    const char *value; /* NULL deletes the key; deleting an absent key is not an error */
};

/* A line of the journal: the decision, its actor, its time and its nodes. */
struct store_entry {
    struct wall at;
    const char *actor;  /* "root", "fettled" */
    const char *what;   /* "drain", "node.down" */
    const char *nodes;  /* folded host list, may be "" */
    const char *text;   /* a sentence */
    const char *about;  /* ids of the claims, incidents, repairs and operations that it is part of, separated
                           by a blank; NULL or "": none */
    const char *fields; /* the entry for programs: members of a JSON object, separated by commas, with other
                           names than those above; NULL or "": none */
};

struct store_batch {
    size_t n_ops;
    const struct store_op *ops;
    size_t n_entries;
    const struct store_entry *entries;
};

/* The outcome of a change is not known: it may be there, now or after the next start, or it may not. No other
 * error says that; nothing else is taken until store_resolve has found out. */
enum { STORE_UNKNOWN = -EINPROGRESS };

struct store;

/* Opens the SQLite store in directory `dir`, and creates it when no state was ever begun there. Creates `dir`
 * too when its parent exists; DIR-begun beside it notes that a state was begun. Reads and checks all of it
 * except older entries of the journal, which are checked when they are read. Refuses with a sentence, and
 * changes nothing, when the state is damaged, gone, or older than the last commit in this directory
 * (-EILSEQ), of a newer format (-EILSEQ), held by another process (-EBUSY) or not accessible (-errno). */
int store_open_sqlite(const char *dir, struct store **out, struct err *e);
void store_close(struct store *s);

/* Takes the leadership with a term higher than any before. Errors as in store_commit. */
int store_campaign(struct store *s, uint64_t *term, struct err *e);

/* Calls fn with every record, in key order, and gives the revision of the state. fn returns 0, or a negative
 * errno that ends the walk and is returned. -EILSEQ when the store is damaged. */
typedef int store_record_fn(void *arg, const char *key, const char *value, struct err *e);
int store_load(struct store *s, store_record_fn *fn, void *arg, uint64_t *revision, struct err *e);

/* Commits one batch under the term. On 0 it is durable and *revision is the new one (one more than
 * the last). STORE_UNKNOWN: the disk refused a sync or a write of the commit, or its files went during it.
 * Nothing of the batch is there after any other error: -EPERM deposed, -ENOSPC the disk is full, -EIO,
 * -E2BIG over the limits, -EINVAL a key is empty, unprintable or there twice, -ESTALE the files are not
 * in their place any more, as store_check finds. A full disk may be tried again. */
int store_commit(struct store *s, uint64_t term, const struct store_batch *b, uint64_t *revision,
                 struct err *e);

/* Finds out what became of a change whose outcome is not known, and calls fn with each commit after the
 * revision, oldest first, whoever made it; fn takes it over. On 0 what it told is durable, what it did not
 * tell is not there and will not be, and commits are taken again. After an error the outcome is as unknown as
 * it was
 * (-EIO, -ESTALE; -ERANGE: more was committed than can be told, load the store anew), and it may be called
 * again.
 */
struct store_change;
typedef void store_change_fn(void *arg, struct store_change *c);
int store_resolve(struct store *s, uint64_t after, store_change_fn *fn, void *arg, struct err *e);

/* Whether the files behind the open store are still those at its path; each commit asks this before and
 * after. -ESTALE: one was removed, or replaced by another. Nothing can be committed until the very same
 * file is back. */
int store_check(struct store *s, struct err *e);

/* Calls fn with the journal's entries with revision > after, oldest first: at least one whole revision, and
 * as many whole revisions as have at most max entries together. */
typedef int store_journal_fn(void *arg, uint64_t revision, const struct store_entry *entry, struct err *e);
int store_journal(struct store *s, uint64_t after, size_t max, store_journal_fn *fn, void *arg,
                  struct err *e);

/* Calls fn with entries with revision < before, newest first: whole revisions, until they were at least max
 * entries. */
int store_journal_back(struct store *s, uint64_t before, size_t max, store_journal_fn *fn, void *arg,
                       struct err *e);

/* How much of the journal is kept. Entries that are not kept are first written to `directory`, which is made
 * when needed. */
struct store_keep {
    struct span age; /* older entries are removed; 0: no limit of age */
    uint64_t bytes;  /* the oldest entries are removed while the journal takes more bytes on the disk, except
                        those of the last two days */
    const char *directory; /* has files journal-YYYY-MM-DD.jsonl: a line of JSON for each entry of that day
                              (UTC). NULL: what is not kept is written nowhere, because another has it */
    uint64_t
        stays_from; /* entries of this revision and later ones stay, whatever their age; 0: no such limit */
};

/* One small step of the work beside commits: older entries leave the files that the next start reads; entries
 * that are no longer kept are written to the directory, once, synced, and then removed. *more: another step
 * is due. Errors as in store_commit; an error loses nothing. */
int store_tidy(struct store *s, const struct store_keep *keep, struct wall now, bool *more, struct err *e);

/* A copy that is being made. Zero-initialise. */
struct store_copied {
    bool begun, done;
    bool journal;            /* the copy has a journal.db */
    uint64_t term, revision; /* of the copy, when it is done */
};

/* One small step of a copy of the whole store into `dir`, which has neither state.db nor journal.db; call it
 * until `done`, and commit between the steps. The copy is the state at its last step. store_tidy has to wait
 * while a copy is made. The files are mode 0600 and not synced. After an error the copy has ended, and what
 * is in `dir` is of no use: -ENOSPC, -EEXIST, -EAGAIN when the store was opened anew meanwhile, else -errno.
 */
int store_copy(struct store *s, const char *dir, struct store_copied *copied, struct err *e);
/* Ends a copy that is not done. */
void store_copy_end(struct store *s);

/* The first revision that has entries; 0 without any. */
int store_first(struct store *s, uint64_t *revision, struct err *e);

#endif
