/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_STORE_EXPORT_H
#define FETTLE_STORE_EXPORT_H

#include "base/text.h"
#include "store/store.h"

/* Exports journal entries that are no longer kept, into files of JSON lines, one file for each day. */

/* Adds an entry to `out` as one such line. */
void export_format(uint64_t revision, const struct store_entry *entry, struct text *out);

/* Appends lines, whose first revision is `first`, durably to the file of that day. Lines that the file
 * already has from this revision on, and a cut-off line, come from an unfinished attempt and are removed.
 * -EILSEQ when the file's last line was not written by Fettle, else -errno. */
int export_append(const char *dir, struct wall day, uint64_t first, const struct text *lines, struct err *e);

/* The entries that leave together: whole revisions, which belong to the day of their first entry.
 * Zero-initialise, with `before` and `stays_from`. */
struct leaving {
    struct wall before;  /* later entries stay */
    uint64_t stays_from; /* and so do these, by their revision; 0: no limit */
    struct wall day;
    uint64_t first, last; /* 0: none */
    uint64_t ends;        /* the first revision that stays; 0: not seen yet */
    struct text lines;
};
enum { LEAVING_LEAST_H = 49 }; /* entries of the last hours always stay: repairs are counted from them */

/* Takes the journal's entries, oldest first, while they leave; a store_journal_fn. */
int leaving_take(void *arg, uint64_t revision, const struct store_entry *entry, struct err *e);
void leaving_fini(struct leaving *l);

#endif
