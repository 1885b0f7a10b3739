/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_LIB_CALL_H
#define FETTLE_LIB_CALL_H

#include "lib/buffer.h"
#include "lib/dial.h"

#include <stdarg.h>

/*
 * A handle, and one request with its answer.
 */

struct fettle {
    struct address addresses[ADDRESSES_MAX]; /* of the controllers; calls go to the first */
    int n_addresses;
    int timeout_ms;
    bool dry_run;
    struct dialled *kept; /* the connection of the last call; NULL when there is none to reuse */
    struct mono kept_at;
};

/* The calls go to the next controller from now on. */
void call_turn(struct fettle *f);

/* Copies an internal function's error into the caller's structure. Returns r. */
int call_tell(struct fettle_error *e, int r, const struct err *why);

/* Writes the head and body of a request. `extra` may have more headers, each with its line end. Returns the
 * errors of address_authorize, and -ENOMEM. */
int call_write_request(struct buffer *to, const struct address *a, const char *method, const char *path,
                       const char *extra, const char *body, struct err *e);

/* Makes an error of an answer with an error status. Takes over *body. */
int call_refusal(const struct address *a, int status, struct buffer *body, struct err *e);

/* Sends a request, and reads the JSON of a good answer. */
int call_ask(struct fettle *f, const char *method, const char *path, const char *body,
             struct fettle_answer **out, struct fettle_error *e);
/* The same with a path or a body from a buffer, which is emptied. */
int call_get(struct fettle *f, struct buffer *path, struct fettle_answer **out, struct fettle_error *e);
int call_post(struct fettle *f, const char *path, struct buffer *body, struct fettle_answer **out,
              struct fettle_error *e);
/* Reads a good answer as it stands, without its JSON. */
int call_get_text(struct fettle *f, const char *path, struct buffer *out, struct fettle_error *e);

#endif
