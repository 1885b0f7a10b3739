/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_HEALTH_KEY_H
#define FETTLE_HEALTH_KEY_H

#include "health/check.h"

/*
 * Inside of check.h: the keys that any check may have (key.tbl).
 */

struct key {
    const char *key;
    int (*take)(struct check *k, const char *value, struct err *e); /* reads the value; NULL: not read by
                                                                       itself */
    void (*put)(const struct check *k, struct text *value); /* writes the value, or nothing for the default;
                                                               NULL: not written by itself */
    bool who;                                               /* the key says which nodes run the check */
};
extern const struct key key_rows[];
extern const size_t key_rows_n;

/* Finds a key in any case; "Nodes7" finds "Nodes". NULL when there is none. */
const struct key *key_find(const char *key);
/* Sets the defaults for a check of this probe. */
void key_defaults(struct check *k);
/* Sets what follows from the other keys, where the record does not say it. */
void key_finish(struct check *k);

#endif
