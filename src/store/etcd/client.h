/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_STORE_ETCD_CLIENT_H
#define FETTLE_STORE_ETCD_CLIENT_H

#include "base/text.h"
#include "store/etcd/endpoints.h"
#include "store/etcd/wire.h"

#include <stdbool.h>
#include <uv.h>

/*
 * Asks etcd and waits for the answer, on a loop of its own: for the thread that commits. Not two calls at a
 * time.
 */

struct client {
    uv_loop_t loop;
    struct fetch *fetch;
    struct endpoints ends;
    /* of the call that is waited for */
    bool is_done, sent;
    int status;
    struct err why;
    struct text body;
};

int client_init(struct client *c, const struct etcd_options *o, struct err *e);
void client_fini(struct client *c);

/* Reads until a member answers, or answered_ms have passed: -EAGAIN. A refusal as wire_refusal has it, -E2BIG
 * when the answer is too long. */
int client_range(struct client *c, const struct text *body, struct wire_answer *a, struct err *e);
int client_call(struct client *c, const char *call, const char *body, struct text *out, struct err *e);

/* A transaction is sent once. *unknown: it may have been carried out, or may still be; after 0 and after
 * other errors it is known. A member that cannot be reached has not got it, and the next one is tried. */
int client_txn(struct client *c, const struct wire_txn *t, struct wire_answer *a, bool *unknown,
               struct err *e);

/* Gives what a stream brings to fn, until fn returns true, or an error; -EAGAIN after answered_ms. */
typedef int client_piece_fn(void *arg, const char *bytes, size_t len, bool *done, struct err *e);
int client_stream(struct client *c, const char *call, const char *body, client_piece_fn *fn, void *arg,
                  struct err *e);

#endif
