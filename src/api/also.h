/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_API_ALSO_H
#define FETTLE_API_ALSO_H

#include "api/call.h"

/*
 * The other nodes of a node's class that have the very same component. Inside this folder.
 */

enum { ALSO_NAMES_MAX = 256 }; /* names for one component; more are only counted */

struct also;
/* For the class of `self`, which is left out. */
struct also *also_create(struct call *c, const struct member *self);
void also_destroy(struct also *a);

/* Adds "also":LIST,"also_count":N for the component on the actual side of d. Both are null when the look-up
 * would cost too much after the earlier ones. */
void also_render(struct also *a, const struct difference *d, struct text *t);

#endif
