/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_HEALTH_KEY_H
#define FETTLE_HEALTH_KEY_H

#include "health/check.h"

/*
 * Inside of check.h: the keys that any check may have (key.tbl).
 */

struct key {
    const char *key;
    int (*take)(struct check *k, const char *value, struct err *e); /* NULL: not read by itself */
    void (*put)(const struct check *k, struct text *value); /* adds nothing for the default. NULL: likewise */
    bool who;                                               /* says who runs it */
};
extern const struct key key_rows[];
extern const size_t key_rows_n;

/* Without regard to case, and for "Nodes7" that of "Nodes"; NULL when there is none. */
const struct key *key_find(const char *key);
/* What a check of this probe is where its record says nothing. */
void key_defaults(struct check *k);
/* What the record does not say and follows from what it says. */
void key_finish(struct check *k);

#endif
