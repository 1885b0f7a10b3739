/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_BASE_TEXT_H
#define FETTLE_BASE_TEXT_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Text: a growing buffer, exact number parsing, and the nearest known word.
 */

/* A growing string. Zero-initialise it; text_fini when done. `s` is NULL until something is added, and
 * zero-terminated from then on. It may hold zero bytes, so `len` is its length. */
struct text {
    char *s;
    size_t len;
    size_t cap;
};

void text_fini(struct text *t);
/* Empties it and keeps the memory. */
void text_clear(struct text *t);
void text_add(struct text *t, const char *s);
void text_add_bytes(struct text *t, const void *bytes, size_t len);
void text_add_char(struct text *t, char c);
void text_add_u64(struct text *t, uint64_t n);
void text_printf(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Adds s as a JSON string with its quotes. Bytes that are not UTF-8 become U+FFFD. */
void text_add_json(struct text *t, const char *s);
/* Adds "key":value to the object of JSON that t ends in, null for NULL, with the comma before it. An empty t
 * begins the object. key needs no escapes. */
void text_add_member(struct text *t, const char *key, const char *value);
/* Length of the valid UTF-8 sequence at s (RFC 3629); 0 when there is none. A zero byte is valid, with length
 * 1. */
size_t text_utf8(const char *s);
/* The character at s. *bytes is its length, or 0 when it is not UTF-8. */
uint32_t text_character(const char *s, size_t *bytes);
/* True for a character that could make a text read differently from what it says: control characters (C0, C1,
 * DEL), separators of lines or paragraphs, changes of the writing direction, invisible characters. */
bool text_misleads(uint32_t c);
bool text_is_clean(const char *s); /* no control characters (C0, DEL) */
/* Copies s as one line for people: misleading characters become blanks, bytes that are not UTF-8 become '?'.
 * Text beyond size bytes is cut before a character; blanks at the end are removed. Returns the length. */
size_t text_line(char *out, size_t size, const char *s);
/* Like text_line, in new memory, with at most `most` bytes. Never NULL. */
char *mem_line(const char *s, size_t most);
/* 0 when s is one line of text; -EINVAL with a sentence that names the first byte that is not UTF-8, or the
 * place of a misleading character. */
int text_check_line(const char *s, struct err *e);
/* Gives the string away (the caller frees it) and empties t. Never NULL. */
char *text_take(struct text *t);
/* Makes room for `more` bytes past len and returns where they go; the caller raises len. */
char *text_room(struct text *t, size_t more);

/* Reads the whole of s as a decimal number in [min, max]. -EINVAL with a sentence otherwise. */
int text_parse_u64(const char *s, uint64_t min, uint64_t max, uint64_t *out, struct err *e);

/* Reads a decimal number with up to three fraction digits ("863.8") in thousandths, 0 to 10^12.
 * Further digits are read and dropped. -EINVAL with a sentence otherwise. */
int text_parse_milli(const char *s, uint64_t *out, struct err *e);

/* Reads yes/no, true/false, on/off, 1/0, in any case. -EINVAL with a sentence otherwise. */
int text_parse_bool(const char *s, bool *out, struct err *e);

/* Whether `list`, words separated by this byte, contains `word`. "" is never contained. */
bool text_has_word(const char *list, char between, const char *word);
/* The nearest of the n `words` to `word` by edit distance, ignoring case; NULL when none is near enough. */
const char *text_nearest(const char *word, const char *const *words, size_t n);

/* Allocation that ends the process with a message when there is no memory. Never NULL. */
void *mem_must(void *p);       /* returns p, which is not NULL */
void *mem_alloc(size_t bytes); /* zeroed */
void *mem_grow(void *p, size_t bytes);
char *mem_dup(const char *s); /* NULL gives NULL */
/* Copies n texts, each of which may be NULL, into one piece of memory, and lets them point into it. Returns
 * it for the caller to free; NULL when all are NULL. */
char *mem_dup_all(const char **const texts[], size_t n);
char *mem_dup_len(const char *s, size_t len);

/* Calls free() at the end of the scope:  CLEANUP_FREE char *s = ...; STEAL(s) gives it away. */
void mem_cleanup_free(void *p);
void text_cleanup(struct text *t);
#define CLEANUP_FREE __attribute__((cleanup(mem_cleanup_free), unused)) /* the cleanup counts as its use */
#define CLEANUP_TEXT __attribute__((cleanup(text_cleanup)))
#define STEAL(p)                    \
    __extension__({                 \
        __typeof__(p) steal_ = (p); \
        (p) = NULL;                 \
        steal_;                     \
    })

#endif
