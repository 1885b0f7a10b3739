/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/uplink/body_inside.h"

#include <errno.h>
#include <string.h>

/* Members of a body, each with the sentence for what is wrong with it. */

int body_wrap(const struct frame *f, int r, struct err *e)
{
    char name[16];
    return r ? err_wrap(e, -EINVAL, "%s", frame_name(f->type, name)) : 0;
}

json_t *body_open(const struct frame *f, struct err *e)
{
    json_t *body = json_read(f->body, f->len, e);
    if (body && !json_is_object(body)) {
        err_set(e, -EINVAL, "the body is not an object");
        json_decref(body);
        body = NULL;
    }
    if (!body)
        body_wrap(f, -EINVAL, e);
    return body;
}

bool body_is_word(const char *s)
{
    for (; *s; s++)
        if (*s <= ' ' || *s >= 0x7f || *s == '"' || *s == '\\')
            return false;
    return true;
}

int body_take_text(const json_t *body, const char *key, bool required, char *out, size_t size, struct err *e)
{
    const char *s;
    out[0] = 0;
    int r = json_take_string(body, key, &s, e);
    if (r)
        return r == -ENOENT && !required ? 0 : r;
    if (strlen(s) >= size)
        return err_set(e, -EINVAL, "\"%s\" is longer than %zu characters", key, size - 1);
    memcpy(out, s, strlen(s) + 1);
    return 0;
}

int body_take_word(const json_t *body, const char *key, bool required, char *out, struct err *e)
{
    int r = body_take_text(body, key, required, out, BODY_WORD_BYTES_MAX + 1, e);
    if (r)
        return r;
    if (required && !out[0])
        return err_set(e, -EINVAL, "\"%s\" is empty", key);
    return body_is_word(out) ? 0 : err_set(e, -EINVAL, "\"%s\" has characters that do not belong there", key);
}

int body_take_name(const json_t *body, const char *key, char *out, size_t size, struct err *e)
{
    int r = body_take_text(body, key, true, out, size, e);
    if (r)
        return r;
    return hostlist_name_ok(out) ? 0 : err_set(e, -EINVAL, "\"%s\" is no name of a node", key);
}

int body_take_time(const json_t *body, const char *key, uint64_t ms_max, bool *has, struct span *out,
                   struct err *e)
{
    uint64_t ms = 0;
    int r = json_take_u64(body, key, ms_max, &ms, e);
    *has = r == 0;
    *out = span_ms((int64_t)ms);
    return r == -ENOENT ? 0 : r;
}

int body_take_flag(const json_t *body, const char *key, bool *out, struct err *e)
{
    *out = false;
    int r = json_take_bool(body, key, out, e);
    return r == -ENOENT ? 0 : r;
}

int body_take_number(const json_t *body, const char *key, uint64_t *out, struct err *e)
{
    *out = 0;
    int r = json_take_u64(body, key, BODY_NUMBER_MAX, out, e);
    return r == -ENOENT ? 0 : r;
}

int body_take_fingerprint(const json_t *body, const char *key, struct fingerprint *out, struct err *e)
{
    const char *hex;
    int r = json_take_string(body, key, &hex, e);
    if (!r && !fingerprint_parse(hex, out))
        r = err_set(e, -EINVAL, "\"%s\" is no fingerprint", key);
    return r;
}
