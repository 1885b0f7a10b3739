/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CONTROLLER_OBSERVE_TELLER_H
#define FETTLE_CONTROLLER_OBSERVE_TELLER_H

#include "http/server.h"
#include "watch/picture.h"

#include <uv.h>

/*
 * The leader tells other controllers what it observes (doc/spec/observed.md): each reader of the stream gets
 * everything first, and then what changes, once a second. A reader has no queue. It is told more only while
 * little waits in its connection, so that one that reads slowly costs nothing but its place. All readers
 * together have a share of a turn of the loop.
 */

enum { TELLER_READERS_MAX = 16 };

struct teller_setup {
    uv_loop_t *loop;
    struct watch *watch;
    const char *origin;      /* the name of the state */
    uint64_t term, instance; /* of this leader */
};

struct teller;
struct teller *teller_create(const struct teller_setup *s);
/* Ends the streams. The loop must run on until its handles are closed. */
void teller_destroy(struct teller *t);
/* Answers the request with the stream, until this moment; 0: it does not end. -EAGAIN when there are
 * TELLER_READERS_MAX. */
int teller_add(struct teller *t, struct http_request *r, struct wall until, struct err *e);
/* Call it some times a second. */
void teller_turn(struct teller *t, struct mono now);
size_t teller_readers(const struct teller *t);

#endif
