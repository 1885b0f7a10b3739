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
 * The durable home of what is agreed: records (key, value) and the journal of how they came to be.
 * It is small enough that SQLite and etcd can both stand behind it, and it knows nothing of nodes.
 *
 * A batch is taken whole or not at all, and only when this process still leads: each commit carries
 * the term that `campaign` gave and is refused (-EPERM) once another has campaigned. A commit has three
 * outcomes: it is done and on the disk, it is refused and nothing of it is there, or nobody knows
 * (STORE_UNKNOWN), and store_resolve finds out. Calls block; the controller makes them from one worker
 * thread, never from the loop, and never two at a time.
 *
 * Keys are printable ASCII of at most 512 bytes ("claim/42"), values JSON text without zero bytes.
 * A key stands once in a batch. The limits are etcd's, so that a batch that one engine takes is taken
 * by the other.
 */

enum {
    STORE_OPS_MAX = 128,             /* puts and deletes of one batch */
    STORE_BATCH_BYTES_MAX = 1 << 20, /* of all keys, values and entries of one batch */
    STORE_ENTRIES_MAX = 128
};

struct store_op {
    const char *key;
    const char *value; /* NULL deletes the key; deleting what is not there is no error */
};

/* A line of the journal: what was decided, by whom, when, about which nodes. */
struct store_entry {
    struct wall at;
    const char *actor;  /* "root", "fettled" */
    const char *what;   /* "drain", "node.down" */
    const char *nodes;  /* folded host list, may be "" */
    const char *text;   /* a sentence */
    const char *about;  /* ids of the claims, incidents, repairs and operations that it is part of, with a
                           blank  between two; NULL or "": none */
    const char *fields; /* what it says for programs: members of a JSON object, with commas between, whose
                           names are none of those above; NULL or "": nothing */
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

/* Opens (and makes, when there never was a state at all) the SQLite store in directory `dir`, which is
 * made too when its parent is there; DIR-begun beside it is where it is noted that a state was begun.
 * Reads and checks all of it, but for older entries of the journal, which are checked when they are read.
 * Refuses with a sentence, and changes nothing, when the state is damaged, gone, or older than what was
 * committed in this directory (-EILSEQ), of a newer format (-EILSEQ), held by another process (-EBUSY) or not
 * accessible (-errno). */
int store_open_sqlite(const char *dir, struct store **out, struct err *e);
void store_close(struct store *s);

/* Takes the leadership with a term higher than any before. Errors are those of store_commit. */
int store_campaign(struct store *s, uint64_t *term, struct err *e);

/* Calls fn with every record, in key order, and gives the revision that they stand at. fn returns 0
 * or a negative errno, which ends the walk and is returned. -EILSEQ when the store is damaged. */
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

/* Calls fn with the journal's entries with revision > after, oldest first: of whole revisions, one at
 * least, and as many as have at most max entries. */
typedef int store_journal_fn(void *arg, uint64_t revision, const struct store_entry *entry, struct err *e);
int store_journal(struct store *s, uint64_t after, size_t max, store_journal_fn *fn, void *arg,
                  struct err *e);

/* Calls fn with entries with revision < before, newest first: of whole revisions, until they were max entries
 * or more. */
int store_journal_back(struct store *s, uint64_t before, size_t max, store_journal_fn *fn, void *arg,
                       struct err *e);

/* How much of the journal is kept. What is not is written to `directory` first, which is made when it is not
 * there. */
struct store_keep {
    struct span age; /* entries that are older go; 0: none for its age */
    uint64_t bytes;  /* the oldest go while it takes more on the disk, but for those of the last two days */
    const char
        *directory; /* journal-YYYY-MM-DD.jsonl there: a line of JSON for each entry of that day (UTC) */
};

/* One small step of what is to be done beside commits: older entries leave what the next start reads, and
 * those that are not kept any more are written to the directory, synced, and then removed. Each is written
 * there once. *more: another one is due. Errors are those of store_commit; nothing is lost by one. */
int store_tidy(struct store *s, const struct store_keep *keep, struct wall now, bool *more, struct err *e);

/* The first revision of which there are entries; 0 without any. */
int store_first(struct store *s, uint64_t *revision, struct err *e);

#endif
