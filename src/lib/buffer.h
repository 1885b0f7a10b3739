/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_LIB_BUFFER_H
#define FETTLE_LIB_BUFFER_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Growing bytes for a library in another program's process: base/text.h ends the process when there is no
 * memory, this one remembers it. Zero-initialise; buffer_fini when done.
 */

struct buffer {
    char *s; /* zero-terminated once something was added */
    size_t len;
    size_t cap;
    bool short_of_memory; /* something could not be added; the content is incomplete */
};

void buffer_fini(struct buffer *b);
void buffer_clear(struct buffer *b);
void buffer_add(struct buffer *b, const char *s);
void buffer_add_bytes(struct buffer *b, const void *bytes, size_t n);
void buffer_add_u64(struct buffer *b, uint64_t n);
/* As a JSON string with its quotes. */
void buffer_add_json(struct buffer *b, const char *s);
/* As a part of a URL's path or query: everything but letters, digits and "-._~" is escaped. */
void buffer_add_url(struct buffer *b, const char *s);

/* 0, or -ENOMEM with a sentence when anything could not be added. */
int buffer_check(const struct buffer *b, struct err *e);
/* Gives the string away (the caller frees it) and empties b. */
char *buffer_take(struct buffer *b);

#endif
