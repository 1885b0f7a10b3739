/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CONTROLLER_CONTACTS_H
#define FETTLE_CONTROLLER_CONTACTS_H

#include "watch/watch.h"

#include <uv.h>

/*
 * When each node was last heard, and what it had, over a restart of the controller: of a dead node that is
 * what people ask for. It is no part of what is agreed, and nothing is decided by it: two files of the state
 * directory (doc/spec/records.md, "last-heard" and "last-known"), written by a thread when a node goes down
 * for its silence, every ten minutes, and when the controller stops. Inventories are written of nodes that
 * are not heard; when the controller stops, of all. Without a file, or with one that cannot be read, the past
 * is not known.
 */

struct contacts;

/* Reads the files and tells the watch. dir is borrowed. */
struct contacts *contacts_open(uv_loop_t *loop, const char *dir, struct cluster *c, struct watch *w);
/* A node has gone down: the files are written soon, once for all that do so within ten seconds. */
void contacts_soon(struct contacts *c, struct mono now);
/* Writes when it is time. */
void contacts_turn(struct contacts *c, struct mono now);
/* Waits for the thread, and writes a last time. */
void contacts_close(struct contacts *c);

#endif
