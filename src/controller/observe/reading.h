/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CONTROLLER_OBSERVE_READING_H
#define FETTLE_CONTROLLER_OBSERVE_READING_H

#include "watch/picture.h"

/*
 * The stream of what the leader observes (doc/spec/observed.md), as it comes from the connection: an answer
 * of HTTP/1.0, whose body is Server-Sent Events up to the end of the connection. Each piece goes into a
 * watch. A piece that is missing, of another leader, or malformed ends the reading: then everything is read
 * anew.
 */

enum { READING_HEAD_BYTES_MAX = 16 << 10 };

struct reading;
/* The whole picture is in the watch. The function may give the reading another watch (reading_into). */
typedef void reading_whole_fn(void *arg);
struct reading *reading_create(struct watch *into, const char *origin, reading_whole_fn *fn, void *arg);
void reading_destroy(struct reading *r);
/* Further pieces go into this watch. */
void reading_into(struct reading *r, struct watch *w);
/* Takes bytes as they come. *news is set when the end of a walk was among them: what was told is of now.
 * -EREMOTE: it is not the leader; -EPROTO, -E2BIG, or as picture_take, with a sentence. The reading is over
 * then. */
int reading_feed(struct reading *r, const char *bytes, size_t n, struct mono now, struct wall wall,
                 bool *news, struct err *e);

#endif
