/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_API_NUMBERS_H
#define FETTLE_API_NUMBERS_H

#include "api/api.h"

/*
 * Repairs in numbers, over the last 4 to 48 hours, as ClusterWare's overview has them: counted from the
 * journal, in spans of ten minutes. What was counted is kept, so that the next question reads what came
 * since. Inside this folder.
 */

enum { NUMBERS_HOURS_MIN = 4, NUMBERS_HOURS_MAX = 48, NUMBERS_PAGES_MAX = 10, NUMBERS_PAGE_ENTRIES = 1000 };

struct numbers_sum {
    uint64_t transitions; /* steps of repairs */
    uint64_t by_itself;   /* repairs that ended in service, and no person had a part in them */
    uint64_t queued;      /* came into the work queue */
    uint64_t by_person;   /* left it, or were set aside, by a person's hand */
};

struct numbers;
struct numbers *numbers_create(void);
void numbers_destroy(struct numbers *n);
/* Reads what the journal has more, NUMBERS_PAGES_MAX pages at most. -EAGAIN when that was not all, or the
 * journal cannot be read now: ask again. */
int numbers_read(struct numbers *n, const struct api_shell *shell, struct wall now, struct err *e);
/* Of the last hours before now. */
struct numbers_sum numbers_of(const struct numbers *n, struct wall now, unsigned hours);

#endif
