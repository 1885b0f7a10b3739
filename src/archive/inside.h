/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_ARCHIVE_INSIDE_H
#define FETTLE_ARCHIVE_INSIDE_H

#include "archive/archive.h"

/* The files of an archive, by their paths in it. */

struct archive {
    char *dir;
    int fd;
    struct note_key key;
};

enum { ARCHIVE_FILE_BYTES_MAX = TILE_WIDTH * (2 + 65535) };

/* Reads a whole file, after what `out` has. -ENOENT; -EILSEQ when it is larger than any file of a log. */
int files_read(const struct archive *a, const char *path, struct text *out, struct err *e);
/* Writes a file durably, with the directories that it needs. One that is there stays when it is the same, and
 * is otherwise refused (-EEXIST). */
int files_put(const struct archive *a, const char *path, const void *bytes, size_t len, struct err *e);
/* The same, and one that is there is replaced. */
int files_replace(const struct archive *a, const char *path, const void *bytes, size_t len, struct err *e);
/* Removes a file, if it is there. */
int files_remove(const struct archive *a, const char *path, struct err *e);

/* The sizes of the earlier heads that are kept, in ascending order; the caller frees them. */
int files_heads(const struct archive *a, uint64_t **sizes, size_t *n, struct err *e);
enum { HEAD_PATH_BYTES = 48 };
char *head_path(uint64_t size, char out[static HEAD_PATH_BYTES]);

/* Reads and verifies a head in a file. */
int head_read(const struct archive *a, const char *path, struct checkpoint *head, struct text *note,
              struct err *e);

#endif
