/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_API_ALSO_H
#define FETTLE_API_ALSO_H

#include "api/call.h"

/*
 * Who else of a node's class has the very same component. Inside this folder.
 */

enum { ALSO_NAMES_MAX = 256 }; /* of one component; more are counted */

struct also;
/* Looks at the class of `self`, which is left out. */
struct also *also_create(struct call *c, const struct member *self);
void also_destroy(struct also *a);

/* Adds "also":LIST,"also_count":N for the component as d has it on its actual side. Both are null when
 * it would cost too much to look for it after all that was looked for before. */
void also_render(struct also *a, const struct difference *d, struct text *t);

#endif
