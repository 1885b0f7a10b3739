/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_API_NUMBERS_H
#define FETTLE_API_NUMBERS_H

#include "api/api.h"

/*
 * Repairs in numbers, over the last 4 to 48 hours, as in ClusterWare's overview: counted from the journal, in
 * spans of ten minutes. The counts are kept, so that the next question reads only new entries. Inside this
 * folder.
 */

enum { NUMBERS_HOURS_MIN = 4, NUMBERS_HOURS_MAX = 48, NUMBERS_PAGES_MAX = 10, NUMBERS_PAGE_ENTRIES = 1000 };

struct numbers_sum {
    uint64_t transitions; /* steps of repairs */
    uint64_t by_itself;   /* repairs that ended in service without a person's part */
    uint64_t queued;      /* entered the work queue */
    uint64_t by_person;   /* left it, or were set aside, by a person */
};

struct numbers;
struct numbers *numbers_create(void);
void numbers_destroy(struct numbers *n);
/* Reads the new entries of the journal, at most NUMBERS_PAGES_MAX pages. -EAGAIN when there are more, or the
 * journal cannot be read now: ask again. */
int numbers_read(struct numbers *n, const struct api_shell *shell, struct wall now, struct err *e);
/* The sums of the last hours before now. */
struct numbers_sum numbers_of(const struct numbers *n, struct wall now, unsigned hours);

#endif
