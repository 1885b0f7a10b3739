/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_STORE_ETCD_ETCD_INSIDE_H
#define FETTLE_STORE_ETCD_ETCD_INSIDE_H

#include "store/change.h"
#include "store/engine.h"
#include "store/etcd/bookmark.h"
#include "store/etcd/client.h"
#include "store/etcd/layout.h"

/* The engine on etcd, shared by its opening (etcd.c), where it stands (etcd_state.c), its commits
 * (etcd_commit.c), what became of them (etcd_resolve.c), reading (etcd_read.c) and the work beside
 * (etcd_tidy.c). */

struct etcd {
    struct store store;
    struct client client;
    struct bookmark seen;
    struct layout_cluster cluster;
    struct layout_head head; /* on which the next commit rests */
    uint64_t term;           /* of the last commit; 0: none yet */
    struct {
        bool is;                 /* the outcome of a commit is not known */
        uint64_t term;           /* under which it was sent */
        struct layout_head from; /* on which it rested */
        char mark[LAYOUT_MARK_BYTES];
        struct store_change
            *deletes; /* the keys that it deletes: etcd has no event for one that was not there */
    } unsure;
    struct { /* what is compacted next */
        uint64_t revision;
        struct mono since;
    } compact;
    struct mono tidied; /* when there was nothing more to tidy */
    uint64_t first;     /* the first revision that has entries; 0: to be asked for */
    uint64_t exported;  /* journal keys up to this revision are exported, and can be deleted; 0: none */
    struct {            /* the leader key, while store_campaign is used */
        uint64_t created;
        char instance[LAYOUT_MARK_BYTES];
    } own;
};

/* Reads the cluster and the head. -ENOENT: neither is there, and this controller saw none. */
int etcd_state(struct etcd *s, struct layout_cluster *c, struct layout_head *head, uint64_t *at,
               struct err *e);

/* Reads the head as it is now; *at: etcd's revision by then. -EILSEQ when there is none, or it is another
 * cluster's. */
int etcd_head(struct etcd *s, struct layout_head *head, uint64_t *at, struct err *e);

/* Makes sure that the commit whose outcome is not known can change nothing any more, and reads the head. */
int etcd_fence(struct etcd *s, struct err *e);

/* Forgets the commit whose outcome was not known. */
void etcd_unsure_fini(struct etcd *s);

/* -EIO while the outcome of a commit is not known. */
int etcd_usable(const struct etcd *s, struct err *e);

/* The create_revision that the leader key has under a term. */
uint64_t etcd_created(const struct etcd *s, uint64_t term);

/* A page of keys: [key, end), of at most *limit keys, which becomes smaller when the answer is too long. */
int etcd_page(struct etcd *s, const char *key, const char *end, uint64_t revision, uint64_t *limit,
              struct wire_answer *a, struct err *e);

int etcd_campaign(struct store *store, uint64_t *term, struct err *e);
int etcd_load(struct store *store, store_record_fn *fn, void *arg, uint64_t *revision, struct err *e);
int etcd_commit(struct store *store, uint64_t term, const struct store_batch *b, uint64_t *revision,
                struct err *e);
int etcd_resolve(struct store *store, uint64_t after, store_change_fn *fn, void *arg, struct err *e);
int etcd_journal(struct store *store, uint64_t after, size_t max, store_journal_fn *fn, void *arg,
                 struct err *e);
int etcd_journal_back(struct store *store, uint64_t before, size_t max, store_journal_fn *fn, void *arg,
                      struct err *e);
int etcd_first(struct store *store, uint64_t *revision, struct err *e);
int etcd_tidy(struct store *store, const struct store_keep *keep, struct wall now, bool *more, struct err *e);

#endif
