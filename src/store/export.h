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

#endif
