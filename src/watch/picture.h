/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_PICTURE_H
#define FETTLE_WATCH_PICTURE_H

#include "watch/watch.h"

/*
 * What the leader observes, told to a controller that follows (doc/spec/observed.md): first everything, then
 * what changes. Only observations are told. What is agreed the follower has from the store, and what follows
 * from both it computes itself, with a watch of its own.
 *
 * The leader keeps no queue for a reader, only the reader's place: the number of the last change that it has.
 * A node that changed several times since is told once, as it is now. So a slow reader costs nothing, and
 * gets what is true when it has room.
 */

enum { PICTURE_LINE_BYTES_MAX = 1 << 20 };

/* What one piece is about: the name of its event. */
enum picture_piece {
    PICTURE_NODE,  /* parts of what is observed about a node */
    PICTURE_LIST,  /* a piece of a list of components, which a node has that comes later */
    PICTURE_HEARD, /* when nodes were heard last */
    PICTURE_WHOLE, /* everything was told once */
    PICTURE_PIECES
};
const char *picture_piece_name(enum picture_piece k); /* "node" */

/* A reader's place. */
struct picture;
struct picture *picture_create(void);
void picture_destroy(struct picture *p);

/* `json` is one line, borrowed until the function returns. */
typedef void picture_fn(void *arg, enum picture_piece k, const char *json);
/* Tells fn what the reader does not have yet, of about `nodes` members at most; a member of which nothing
 * changed costs little. Returns false when the reader has everything: then it may rest for a moment. */
bool picture_step(struct watch *w, struct mono now, struct wall wall, struct picture *p, size_t nodes,
                  picture_fn *fn, void *arg);

/* At the follower: takes a piece over. -EINVAL with a sentence when it is malformed, -EBADMSG for a list that
 * does not have its fingerprint, -ENOSPC when there is no room for a list. A part of it may be taken then:
 * the picture is to be begun anew, in a new watch. */
int picture_take(struct watch *w, struct mono now, struct wall wall, enum picture_piece k, const json_t *is,
                 struct err *e);

#endif
