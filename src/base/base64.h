/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_BASE_BASE64_H
#define FETTLE_BASE_BASE64_H

#include "base/text.h"

/*
 * Base 64 (RFC 4648, section 4), with its padding. Reading is strict: each text is read as the bytes that are
 * written as this text, and as no others.
 */

void base64_add(struct text *out, const void *bytes, size_t len);

/* Reads `len` characters, and adds the bytes. False, with nothing added, when they are not Base 64. */
bool base64_take(const char *s, size_t len, struct text *out);

/* The same for exactly `bytes` bytes. */
bool base64_take_exactly(const char *s, size_t len, void *out, size_t bytes);

#endif
