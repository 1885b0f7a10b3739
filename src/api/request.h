/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_API_REQUEST_H
#define FETTLE_API_REQUEST_H

#include "api/call.h"

/*
 * Requests with an id (doc/adr/0074): the header Idempotency-Key, and the answers to a request that was
 * carried out before. Inside this folder.
 */

/* The id and the digest of a request, in whose place a call points to them. */
struct request_text {
    char id[REQUEST_ID_BYTES_MAX + 1], asks[REQUEST_ASKS_BYTES + 1];
};

/* Reads the value of the header: an id as it stands, or as a string in quotes. -EINVAL with a sentence. */
int request_id_read(const char *header, char out[static REQUEST_ID_BYTES_MAX + 1], struct err *e);

/* For a change that is not dry: takes its id, and finds what earlier commits did of it. -EINVAL, or -ENOTUNIQ
 * when the id was given to another request. `text` lives as long as the call. */
int request_enter(struct call *c, struct request_text *text, struct err *e);

/* Answers a request that was carried out as a whole (replay.c): CALL_LATER. 0: the function of its route
 * does. -EEXIST as request_shown. */
int request_replay(struct call *c, struct err *e);

/* What was made is not shown again: -EEXIST. */
int request_shown(const char *what, uint64_t revision, struct err *e);

#endif
