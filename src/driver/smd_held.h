/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_DRIVER_SMD_HELD_H
#define FETTLE_DRIVER_SMD_HELD_H

#include "driver/ochami.h"

/*
 * Who holds nodes in OpenCHAMI's State Manager: somebody holds a component that is locked, disabled or
 * reserved there. A node is asked for by name, regularly and right before something is done to it. Two
 * requests serve all nodes that wait at that moment; one such pair runs at a time. Writes nothing.
 */

/* how: "locked", "disabled", "reserved", "barred from reservations"; NULL: nobody holds it. out: it takes no
 * new work. why: it is unknown. */
typedef void smd_held_fn(void *arg, const char *node, const char *how, bool out, const struct err *why);

struct smd_held;
/* Borrows conf's texts until it returns; conf->smd is set. fn comes from the loop. */
struct smd_held *smd_held_create(uv_loop_t *loop, const struct ochami_conf *conf, smd_held_fn *fn, void *arg);
/* No callback comes after it. NULL is fine. */
void smd_held_destroy(struct smd_held *h);
/* Calls fn for this node soon, once; not at all while very many wait: ask again. */
void smd_held_look(struct smd_held *h, const char *node, const char *xname);

#endif
