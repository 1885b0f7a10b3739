/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_AGENT_COLLECT_LEDGER_INSIDE_H
#define FETTLE_AGENT_COLLECT_LEDGER_INSIDE_H

#include "agent/collect/ledger.h"
#include "base/table.h"

#include <utlist.h>

/*
 * A row per node of the share and one for the collector itself. A row says what was heard, and in
 * two bits what the controller has still to be told: `heard` since the last batch, and `changed`.
 * `missing` counts the rows that were not heard since then; at zero the batch is due.
 *
 * Rows are visited in the order of the share, so that equal events give equal bytes.
 */

/* Members of an object in a batch, its name excepted. */
struct pending {
    struct pending *next;
    char *members;
};
struct queue {
    struct pending *first;
    size_t *bytes; /* the bytes of all queues of its kind */
};

/* What the controller wants of one node, and of all nodes. */
struct demand {
    size_t wanted, asked, asked_max;
};
struct request {
    bool wanted; /* and not asked yet */
    bool asked;  /* and not answered */
    struct mono at;
    struct demand *all; /* the requests of its kind */
};

struct row {
    char *name;
    UT_hash_handle hh;
    bool kept;    /* while a share is taken: it is in the new one */
    bool known;   /* has said hello, ever */
    bool live;    /* has a link now */
    bool heard;   /* since the last batch */
    bool missed;  /* the controller does not know its last heartbeats, so the next one is reported at once */
    bool changed; /* boot, instance, work or hash, since the last batch; or it was missed */
    bool gone;    /* its link went since the last batch */
    bool duplicate;
    bool has_fingerprint;
    bool fingerprint_new; /* since the controller was told */
    bool verified;        /* read again and the same, since then */
    bool recheck;
    struct mono last, beat;  /* its HELLO or heartbeat; its heartbeat */
    struct row *prev, *next; /* the rows that wait for the same, by their last heartbeats */
    enum { WAITS_NOT, WAITS_MISSED, WAITS_SILENT } waits;
    bool misses;     /* it was found missing since the controller was told of such, */
    struct span ago; /* and was heard that long before */
    struct request inventory, list;
    struct fingerprint fingerprint, list_wanted;
    uint64_t next_part; /* the parts of the list that was asked for */
    uint64_t seq, uptime_s;
    char boot[BODY_WORD_BYTES_MAX + 1];
    char instance[BODY_WORD_BYTES_MAX + 1];
    char version[BODY_WORD_BYTES_MAX + 1];
    char hash[BODY_WORD_BYTES_MAX + 1];
    char *work; /* NULL: no heartbeat yet */
    struct queue inventories, components;
};

struct ledger {
    struct row *rows;
    struct row *self;
    uint64_t epoch, seq;
    struct span interval, hold, silent;
    struct row
        *waiting[2]; /* to be found missing, and to be found silent: the one that was heard first, first */
    struct mono last_batch;
    bool began;
    bool news;         /* some row is gone or back, since that was told */
    bool fingerprints; /* some row has something to tell of its own */
    size_t missing;
    struct demand inventories, lists;
    size_t inventory_bytes, component_bytes;
};

/* How long ago it was heard. */
struct span row_silence(const struct row *r, struct mono now);
void queue_drop_first(struct queue *q);
void queue_drop(struct queue *q);
/* That it was heard since the last batch, or is missing. */
void row_set_heard(struct ledger *l, struct row *r, bool heard);
/* Names of the rows for which `which` holds, borrowed, in their order; the caller frees the array. */
const char **ledger_names(const struct ledger *l, bool which(const struct ledger *, const struct row *),
                          size_t *n);

#endif
