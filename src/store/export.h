/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_STORE_EXPORT_H
#define FETTLE_STORE_EXPORT_H

#include "base/text.h"
#include "store/store.h"

/* What of the journal is not kept any more, in files of lines of JSON, one for each day. */

/* An entry as such a line, added to out. */
void export_format(uint64_t revision, const struct store_entry *entry, struct text *out);

/* Adds lines, whose first revision is `first`, to the file of that day, durably. Lines of this revision and
 * those after it that the file has, and a line that was cut off, are of an attempt that was not finished:
 * they go. -EILSEQ when the file's last line is none of ours, else -errno. */
int export_append(const char *dir, struct wall day, uint64_t first, const struct text *lines, struct err *e);

#endif
