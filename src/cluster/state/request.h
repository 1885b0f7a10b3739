/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CLUSTER_REQUEST_H
#define FETTLE_CLUSTER_REQUEST_H

#include "base/clock.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Requests of clients that gave them an id (doc/adr/0074). The commit that carries out a request remembers
 * it, so that any controller that leads later knows what came of it: the same request again gets the same
 * answer, and nothing is done twice. Only what was committed is remembered, not refusals.
 *
 * What is remembered has bounds, and the oldest leaves first. The commits say what leaves, so that all
 * controllers remember the same.
 */

struct cluster;

enum {
    REQUEST_ID_BYTES_MIN = 16,
    REQUEST_ID_BYTES_MAX = 64,
    REQUEST_ASKS_BYTES = 32,          /* hex digits: half of a SHA-256 */
    REQUEST_BY_BYTES_MAX = 1024,      /* the name of its client, as the journal has it */
    REQUEST_CHANGED_BYTES_MAX = 1024, /* a longer list of changed nodes is not kept */
    REQUEST_NODES_MAX = 1 << 20,      /* the nodes of one request */
    REQUEST_AGE_S = 24 * 60 * 60,     /* after this time a request may be forgotten */
    REQUESTS_MAX = 65536,             /* parts; beyond it the oldest are forgotten earlier */
    REQUESTS_BYTES_MAX = 16 << 20,    /* likewise, of their records */
    REQUESTS_LEAVE_MAX = 16           /* records that leave with one commit */
};

/* The request to which a command belongs. */
struct client_request {
    const char *id;   /* NULL: it belongs to none, or the client gave no id */
    const char *asks; /* a digest: requests that ask for the same have the same */
    size_t of;        /* the request has a command for each of so many nodes; 0: the command is all of it */
};

/* What one commit did for a request. */
struct request_part {
    uint64_t revision; /* the commit */
    char *node;        /* the node of the command, where each node has one; else "" */
    size_t next, of;   /* the nodes before this index are done, of so many; of nodes that have a command each
                          only `of` is set */
    char *changed;     /* the nodes that changed, folded; NULL: the list was too long */
    char *claim;       /* the id of what was made; NULL: nothing that has an id */
};
struct remembered {
    char *by, *asks;
    size_t n;                   /* at least 1 */
    struct request_part *parts; /* by node, then by revision */
};

/* 16 to 64 letters, digits, '-' and '_'. */
bool request_id_ok(const char *id);

/* NULL when it is not remembered. Borrowed until the next record is put. */
const struct remembered *cluster_request(const struct cluster *c, const char *id);
/* The part for this node; NULL when there is none. */
const struct request_part *remembered_part(const struct remembered *r, const char *node);
/* All of the request is done. */
bool remembered_is_whole(const struct remembered *r);
/* 0, or -ENOTUNIQ with a sentence when the id was given to another request, or by another client. */
int remembered_check(const struct remembered *r, const char *by, const char *asks, struct err *e);

/* How many records leave with a commit at this time that remembers n requests in so many bytes. */
size_t cluster_requests_leave(const struct cluster *c, struct wall at, size_t n, size_t bytes);

#endif
