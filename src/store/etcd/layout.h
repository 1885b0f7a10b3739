/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_STORE_ETCD_LAYOUT_H
#define FETTLE_STORE_ETCD_LAYOUT_H

#include "base/text.h"
#include "store/etcd/etcd.h"
#include "store/etcd/wire.h"

/*
 * How the state lies in etcd (doc/adr/0063). Pure.
 *
 *   fettle/record/KEY       a record
 *   fettle/journal/00..042  the entries of revision 42, which may be none: a key for every commit that is
 * kept fettle/head             the revision, and the mark of its commit fettle/leader           which
 * controller leads, as JSON. Its create_revision and the base make the term fettle/member/NAME      what a
 * controller tells the others of itself, as JSON fettle/cluster          the cluster's id and the base of
 * terms, as JSON
 *
 * A commit has a mark, a random number, in its journal key and in the head: it tells a commit whose answer
 * was lost from one that somebody else made under the same revision.
 */

#define LAYOUT_ALL "fettle/"
#define LAYOUT_ALL_END "fettle0" /* the first key behind all that begin with "fettle/" */
#define LAYOUT_RECORD "fettle/record/"
#define LAYOUT_RECORD_END "fettle/record0"
#define LAYOUT_JOURNAL "fettle/journal/"
#define LAYOUT_JOURNAL_END "fettle/journal0"
#define LAYOUT_HEAD "fettle/head"
#define LAYOUT_LEADER "fettle/leader"
#define LAYOUT_MEMBER "fettle/member/"
#define LAYOUT_MEMBER_END "fettle/member0"
#define LAYOUT_CLUSTER "fettle/cluster"

enum { LAYOUT_JOURNAL_BYTES = sizeof LAYOUT_JOURNAL + 20, LAYOUT_MARK_BYTES = 17 };

/* The part of the key behind the prefix; NULL when it has another one. */
const char *layout_after(const char *key, const char *prefix);

/* Writes the journal's key of a revision. Returns buf. */
char *layout_journal_key(uint64_t revision, char buf[static LAYOUT_JOURNAL_BYTES]);
/* -EILSEQ when it is no such key. */
int layout_journal_read(const char *key, uint64_t *revision, struct err *e);

struct layout_head {
    uint64_t revision;
    char mark[LAYOUT_MARK_BYTES]; /* 16 hex digits */
};
enum { LAYOUT_HEAD_BYTES = 20 + 1 + LAYOUT_MARK_BYTES };
char *layout_head_write(const struct layout_head *h, char buf[static LAYOUT_HEAD_BYTES]);
int layout_head_read(const struct wire_kv *kv, struct layout_head *h, struct err *e); /* -EILSEQ */

/* The journal's value: the mark, and the entries byte for byte, also where they are not UTF-8. */
void layout_entries_write(const char *mark, const struct store_batch *b, struct text *out);
/* Calls fn with each entry, which is borrowed. mark has room for LAYOUT_MARK_BYTES. -EILSEQ: not such a
 * value; fn may have been called by then. */
int layout_entries_read(const struct wire_kv *kv, uint64_t revision, char *mark, store_journal_fn *fn,
                        void *arg, struct err *e);

struct layout_cluster {
    char id[ETCD_ID_BYTES_MAX + 1];
    uint64_t term_base; /* what a create_revision lacks of its term */
};
void layout_cluster_write(const struct layout_cluster *c, struct text *out);
int layout_cluster_read(const struct wire_kv *kv, struct layout_cluster *c, struct err *e); /* -EILSEQ */

/* What the leader key says, and with `revision` what a member's key says. */
struct layout_told {
    char name[ETCD_NAME_BYTES_MAX + 1];
    char address[ETCD_ADDRESS_BYTES_MAX + 1];
    char agents[ETCD_ADDRESS_BYTES_MAX +
                1];                   /* where agents reach it; "": not told, also by an older version */
    char instance[LAYOUT_MARK_BYTES]; /* this process, and no other of the same name */
    uint64_t count;                   /* goes up each time */
    uint64_t lease_ms;                /* the leader acts as long after a renewal */
    uint64_t revision;                /* of the state that it has */
    uint64_t level;                   /* of the features that it knows; 0: it tells none */
    struct wall at;                   /* its clock */
    /* The head of its audit log, in the log's words; "": none. */
    char audit[ETCD_AUDIT_BYTES_MAX + 1];
};
void layout_told_write(const struct layout_told *t, struct text *out);
int layout_told_read(const struct wire_kv *kv, struct layout_told *t, struct err *e); /* -EILSEQ */

#endif
