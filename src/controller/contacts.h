/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CONTROLLER_CONTACTS_H
#define FETTLE_CONTROLLER_CONTACTS_H

#include "watch/watch.h"

#include <uv.h>

/*
 * When each node was last heard, over a restart of the controller: of a dead node that is what people ask
 * for. It is no part of what is agreed, and nothing is decided by it: a file of the state directory
 * (doc/spec/records.md, "last-heard"), written by a thread when a node goes down for its silence, every ten
 * minutes, and when the controller stops. Without the file, or with one that cannot be read, the past is not
 * known.
 */

struct contacts;

/* Reads the file and tells the watch. dir is borrowed. */
struct contacts *contacts_open(uv_loop_t *loop, const char *dir, struct cluster *c, struct watch *w);
/* A node has gone down: the file is written soon, once for all that do so within ten seconds. */
void contacts_soon(struct contacts *c, struct mono now);
/* Writes when it is time. */
void contacts_turn(struct contacts *c, struct mono now);
/* Waits for the thread, and writes a last time. */
void contacts_close(struct contacts *c);

#endif
