/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_LIB_REQUEST_H
#define FETTLE_LIB_REQUEST_H

#include "lib/call.h"

/*
 * Paths with a query, and bodies of one flat object.
 */

/* Adds "?key=value" or "&key=value"; nothing when value is NULL. */
void request_query(struct buffer *path, const char *key, const char *value);
/* The same of a number; nothing when it is 0. */
void request_number(struct buffer *path, const char *key, uint64_t n);
/* Adds {"key":"value" or ,"key":"value"; nothing when value is NULL. */
void request_member(struct buffer *body, const char *key, const char *value);
void request_end(struct buffer *body);

#endif
