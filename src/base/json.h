/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_BASE_JSON_H
#define FETTLE_BASE_JSON_H

#include "base/err.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * JSON from outside, read strictly: one object or array, no duplicate keys, at most 32 levels, and a sentence
 * for every complaint. Only this header includes jansson.
 */

enum { JSON_DEPTH_MAX = 32 };

/* Reads len bytes. Returns NULL with a sentence (-EINVAL) when they are not one JSON object or array, have a
 * duplicate key, or nest too deeply. The caller owns the result. */
json_t *json_read(const char *bytes, size_t len, struct err *e);

/* Each borrows the value of a key: a string, a number in [0, max], a boolean. -ENOENT when the key is absent
 * (*out is unchanged), -EINVAL when it has another type or is out of range. Both set a sentence that names
 * the key. */
int json_take_string(const json_t *object, const char *key, const char **out, struct err *e);
int json_take_u64(const json_t *object, const char *key, uint64_t max, uint64_t *out, struct err *e);
int json_take_bool(const json_t *object, const char *key, bool *out, struct err *e);
/* Borrows a text of at most `max` bytes, without control characters. -EINVAL with a sentence for anything
 * else, an absent key included. */
int json_take_clause(const json_t *object, const char *key, size_t max, const char **out, struct err *e);

/* Borrows the string of this key; "" when the object has none, or is NULL. For values that were checked
 * before, where absent and empty mean the same. */
const char *json_text(const json_t *object, const char *key);

/* Refuses an object with a key that is not among `keys` (n of them): -EINVAL and a sentence with
 * the nearest known key. */
int json_only_keys(const json_t *object, const char *const *keys, size_t n, struct err *e);

/* Walks the members of an object in their order of insertion: jansson's json_object_foreach, for an object
 * that is only read. `key` is a const char *, `value` a json_t *. NULL, and what is not an object, has no
 * members. */
void *json_first(const json_t *object);
void *json_next(const json_t *object, void *at);
#define JSON_OBJECT_EACH(object, key, value)                                                             \
    for (void *key##_at_ = json_first(object); key##_at_ && ((key) = json_object_iter_key(key##_at_)) && \
                                               ((value) = json_object_iter_value(key##_at_));            \
         key##_at_ = json_next(object, key##_at_))

/* Writes compact text: keys in their order of insertion, decimals with 15 digits (so that 863.8 stays 863.8).
 * The caller frees it. */
char *json_write(const json_t *value);

/* Releases the JSON in `json_t *x` at the end of the scope. */
void json_cleanup(json_t **value);
#define CLEANUP_JSON __attribute__((cleanup(json_cleanup)))

#endif
