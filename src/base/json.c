/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"

#include "base/text.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* jansson has a fixed depth limit of 2,048. Brackets outside strings are counted before jansson sees the
 * bytes, so that no deep recursion starts. */
static bool too_deep(const char *bytes, size_t len)
{
    size_t depth = 0;
    bool in_string = false;
    for (size_t i = 0; i < len; i++) {
        char c = bytes[i];
        if (in_string) {
            if (c == '\\')
                i++;
            else if (c == '"')
                in_string = false;
        } else if (c == '"') {
            in_string = true;
        } else if (c == '{' || c == '[') {
            if (++depth > JSON_DEPTH_MAX)
                return true;
        } else if ((c == '}' || c == ']') && depth > 0) {
            depth--;
        }
    }
    return false;
}

json_t *json_read(const char *bytes, size_t len, struct err *e)
{
    assert(bytes || len == 0);
    if (too_deep(bytes, len)) {
        err_set(e, -EINVAL, "JSON nests deeper than %d levels", JSON_DEPTH_MAX);
        return NULL;
    }
    json_error_t why;
    json_t *value = json_loadb(bytes, len, JSON_REJECT_DUPLICATES, &why);
    if (!value)
        err_set(e, -EINVAL, "not JSON: %s at byte %d", why.text, why.position);
    return value;
}

int json_take_string(const json_t *object, const char *key, const char **out, struct err *e)
{
    assert(key && out);
    const json_t *v = json_object_get(object, key);
    if (!v)
        return err_set(e, -ENOENT, "\"%s\" is missing", key);
    if (!json_is_string(v))
        return err_set(e, -EINVAL, "\"%s\" is not a string", key);
    *out = json_string_value(v);
    return 0;
}

const char *json_text(const json_t *object, const char *key)
{
    const char *s = json_string_value(json_object_get(object, key));
    return s ? s : "";
}

int json_take_u64(const json_t *object, const char *key, uint64_t max, uint64_t *out, struct err *e)
{
    assert(key && out);
    const json_t *v = json_object_get(object, key);
    if (!v)
        return err_set(e, -ENOENT, "\"%s\" is missing", key);
    json_int_t n = json_integer_value(v);
    if (!json_is_integer(v) || n < 0 || (uint64_t)n > max)
        return err_set(e, -EINVAL, "\"%s\" is not a whole number from 0 to %" PRIu64, key, max);
    *out = (uint64_t)n;
    return 0;
}

int json_take_bool(const json_t *object, const char *key, bool *out, struct err *e)
{
    assert(key && out);
    const json_t *v = json_object_get(object, key);
    if (!v)
        return err_set(e, -ENOENT, "\"%s\" is missing", key);
    if (!json_is_boolean(v))
        return err_set(e, -EINVAL, "\"%s\" is neither true nor false", key);
    *out = json_is_true(v);
    return 0;
}

int json_take_clause(const json_t *object, const char *key, size_t max, const char **out, struct err *e)
{
    if (json_take_string(object, key, out, e) < 0)
        return -EINVAL;
    if (strlen(*out) > max)
        return err_set(e, -EINVAL, "%s: %zu bytes; it has %zu at most", key, strlen(*out), max);
    return text_is_clean(*out) ? 0 : err_set(e, -EINVAL, "%s: a control character", key);
}

/* jansson's iterators take an object that may be changed, and change nothing. */
static json_t *json_iterable(const json_t *object)
{
    const union {
        const json_t *read;
        json_t *walked;
    } same = {.read = object};
    return same.walked;
}

void *json_first(const json_t *object)
{
    return json_object_iter(json_iterable(object));
}

void *json_next(const json_t *object, void *at)
{
    return json_object_iter_next(json_iterable(object), at);
}

int json_only_keys(const json_t *object, const char *const *keys, size_t n, struct err *e)
{
    assert(keys || n == 0);
    const char *key;
    json_t *value;
    JSON_OBJECT_EACH (object, key, value) {
        bool known = false;
        for (size_t i = 0; i < n && !known; i++)
            known = strcmp(keys[i], key) == 0;
        if (known)
            continue;
        const char *near = text_nearest(key, keys, n);
        if (near)
            return err_set(e, -EINVAL, "unknown key \"%s\"; the nearest known is \"%s\"", key, near);
        return err_set(e, -EINVAL, "unknown key \"%s\"", key);
    }
    return 0;
}

char *json_write(const json_t *value)
{
    assert(value);
    char *s =
        json_dumps(value, JSON_COMPACT | JSON_PRESERVE_ORDER | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
    return s ? s : mem_dup("null");
}

void json_cleanup(json_t **value)
{
    json_decref(*value);
}
