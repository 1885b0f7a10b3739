/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_STORE_ETCD_COMMITS_H
#define FETTLE_STORE_ETCD_COMMITS_H

#include "base/text.h"
#include "store/change.h"
#include "store/etcd/layout.h"
#include "store/etcd/wire.h"

#include <stdbool.h>

/*
 * Commits from the events of a watch over everything under "fettle/". All events of one revision of etcd are
 * one transaction; one that moves the head by one is a commit. Pure.
 */

struct commits {
    uint64_t revision;            /* the last commit that was told */
    char mark[LAYOUT_MARK_BYTES]; /* its mark; "" before the first one */
    uint64_t made_at; /* etcd's revision in which it was made, or was still the last one; 0: the owner does
                         not know it yet */
    bool led_changed; /* the leader key went or changed hands; the owner takes it back */
    char leader[LAYOUT_MARK_BYTES];
    struct text line; /* a line of the stream that has not ended yet */
    struct {          /* the transaction that is being read */
        uint64_t at;  /* etcd's revision; 0: none */
        struct store_change *change;
        bool has_head;
        struct layout_head head;
        char mark[LAYOUT_MARK_BYTES];
    } open;
};

enum { COMMITS_LINE_BYTES_MAX = 16 << 20 };

/* Begins behind the commit of this revision. */
void commits_init(struct commits *c, uint64_t after);
void commits_fini(struct commits *c);
/* The stream begins behind this revision of etcd, by which the last commit that was told is the last one, and
 * this is the leader key (NULL: none). Not while a stream is read. */
void commits_begin(struct commits *c, uint64_t at, const struct wire_kv *leader);
/* The stream begins anew, behind the last commit that was told. */
void commits_restart(struct commits *c);

/* Takes bytes of the stream, and calls fn with each commit that they complete; fn takes it over, and false
 * ends the walk. 0, or an error after which the stream is of no use: those of wire_events_read, -EILSEQ:
 * somebody else wrote into the state, -E2BIG: a line without an end. */
typedef bool commits_fn(void *arg, struct store_change *change);
int commits_take(struct commits *c, const char *bytes, size_t len, commits_fn *fn, void *arg, struct err *e);

#endif
