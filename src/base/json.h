/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_BASE_JSON_H
#define FETTLE_BASE_JSON_H

#include "base/err.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * JSON from outside, read strictly: one object or array, no duplicate keys, bounded depth
 * (32 levels), and every complaint a sentence. jansson is included here and nowhere else.
 */

enum { JSON_DEPTH_MAX = 32 };

/* Reads len bytes. NULL with a sentence (-EINVAL) when they are not one JSON object or array, have
 * a duplicate key, or nest too deep. The caller owns the result. */
json_t *json_read(const char *bytes, size_t len, struct err *e);

/* Borrowed values of an object's key: a string, a number in [0, max], a boolean.
 * -ENOENT when the key is absent (*out is left as it is), -EINVAL when it has another type or is
 * out of range. Both set a sentence that names the key. */
int json_take_string(const json_t *object, const char *key, const char **out, struct err *e);
int json_take_u64(const json_t *object, const char *key, uint64_t max, uint64_t *out, struct err *e);
int json_take_bool(const json_t *object, const char *key, bool *out, struct err *e);

/* The string of this key; "" when the object has none, or is NULL. For what was checked before, and where
 * absent and empty are the same. Borrowed. */
const char *json_text(const json_t *object, const char *key);

/* Refuses an object with a key that is not among `keys` (n of them): -EINVAL and a sentence with
 * the nearest known key. */
int json_only_keys(const json_t *object, const char *const *keys, size_t n, struct err *e);

/* Compact text, keys in their order of insertion, decimals with 15 digits (so that 863.8 stays as it
 * is). The caller frees it. */
char *json_write(const json_t *value);

/* The JSON kept in `json_t *x` is released at the end of the scope. */
void json_cleanup(json_t **value);
#define CLEANUP_JSON __attribute__((cleanup(json_cleanup)))

#endif
