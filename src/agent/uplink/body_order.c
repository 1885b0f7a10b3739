/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/uplink/body_inside.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Orders of a controller to a node, and the bodies with which a collector passes them on. */

void body_checklist_fini(struct body_checklist *l)
{
    hostlist_fini(&l->lines);
    hostlist_fini(&l->meanings);
}

/* Each is a record, so that one cannot be read for two. */
static int take_lines(const json_t *body, const char *key, struct hostlist *out, struct err *e)
{
    const json_t *lines = json_object_get(body, key);
    size_t i;
    json_t *line;
    if (lines && !json_is_array(lines))
        return err_set(e, -EINVAL, "\"%s\" is no array", key);
    json_array_foreach (lines, i, line) {
        const char *s = json_string_value(line);
        if (!s || strpbrk(s, "\r\n"))
            return err_set(e, -EINVAL, "\"%s\" has an entry that is no line", key);
        hostlist_add(out, s);
    }
    return 0;
}

int body_read_checklist(const struct frame *f, struct body_checklist *out, struct err *e)
{
    CLEANUP_JSON json_t *body = body_open(f, e);
    *out = (struct body_checklist){0};
    if (!body)
        return -EINVAL;
    int r = body_take_word(body, "hash", true, out->hash, e);
    if (!r)
        r = body_take_number(body, "revision", &out->revision, e);
    if (!r)
        r = take_lines(body, "lines", &out->lines, e);
    if (!r)
        r = take_lines(body, "meanings", &out->meanings, e);
    if (r)
        body_checklist_fini(out);
    return body_wrap(f, r, e);
}

static int take_company(const json_t *body, struct body_act *out, struct err *e)
{
    uint64_t rank = 0;
    int r = body_take_text(body, "nodes", false, out->nodes, sizeof out->nodes, e);
    if (!r)
        r = json_take_u64(body, "rank", UINT16_MAX, &rank, e);
    out->rank = (unsigned)rank;
    return r == -ENOENT ? 0 : r;
}

static int take_operation(const json_t *body, struct body_act *out, struct err *e)
{
    uint64_t ms = 0;
    int r = body_take_word(body, "id", true, out->id, e);
    if (!r)
        r = body_take_word(body, "boot", true, out->boot, e);
    if (!r)
        r = body_take_word(body, "nonce", false, out->nonce, e);
    if (!r)
        r = body_take_word(body, "origin", false, out->origin, e);
    if (!r)
        r = json_take_u64(body, "deadline_ms", BODY_DEADLINE_MS_MAX, &ms, e);
    if (!r && ms == 0)
        r = err_set(e, -EINVAL, "\"deadline_ms\" is zero");
    out->deadline = span_ms((int64_t)ms);
    if (!r)
        r = body_take_text(body, "run", true, out->run, sizeof out->run, e);
    if (!r && strcmp(out->run, "forget") == 0)
        r = json_take_u64(body, "until", BODY_NUMBER_MAX, &out->until, e);
    if (!r)
        r = take_company(body, out, e);
    return r ? r : body_take_text(body, "cures", false, out->cures, sizeof out->cures, e);
}

int body_read_act(const struct frame *f, struct body_act *out, struct err *e)
{
    CLEANUP_JSON json_t *body = body_open(f, e);
    *out = (struct body_act){0};
    if (!body)
        return -EINVAL;
    int r = body_take_flag(body, "tell", &out->tell, e);
    if (!r)
        r = body_take_word(body, "end", false, out->end, e);
    if (!r)
        r = body_take_number(body, "term", &out->term, e);
    if (!r && !out->tell && !out->end[0])
        r = take_operation(body, out, e);
    return body_wrap(f, r, e);
}

int body_read_standing(const struct frame *f, struct body_standing *out, struct err *e)
{
    CLEANUP_JSON json_t *body = body_open(f, e);
    *out = (struct body_standing){0};
    if (!body)
        return -EINVAL;
    int r = body_take_fingerprint(body, "fingerprint", &out->fingerprint, e);
    if (!r)
        r = body_take_word(body, "nonce", true, out->nonce, e);
    if (!r)
        r = body_take_text(body, "why", false, out->why, sizeof out->why, e);
    return body_wrap(f, r, e);
}

int body_read_pass(const struct frame *f, struct body_pass *out, struct err *e)
{
    CLEANUP_JSON json_t *body = body_open(f, e);
    uint64_t type = 0;
    *out = (struct body_pass){0};
    if (!body)
        return -EINVAL;
    const json_t *inner = json_object_get(body, "body");
    int r = body_take_name(body, "node", out->node, sizeof out->node, e);
    if (!r)
        r = json_take_u64(body, "type", UINT8_MAX, &type, e);
    if (!r && !frame_is_passed((uint8_t)type))
        r = err_set(e, -EINVAL, "frames of type %d are not passed on", (int)type);
    if (!r && !json_is_object(inner))
        r = err_set(e, -EINVAL, "\"body\" is not an object");
    if (!r) {
        out->type = (enum frame_type)type;
        out->body = json_write(inner);
    }
    return body_wrap(f, r, e);
}

/* Checked before and after: a body to pass on must be one object by itself, and not too deep with another
 * object around it. */
int body_write_pass(const char *node, const struct frame *f, struct text *out, struct err *e)
{
    CLEANUP_JSON json_t *body = body_open(f, e);
    if (!body)
        return -EINVAL;
    text_clear(out);
    text_printf(out, "{\"node\":\"%s\",\"type\":%d,\"body\":", node, f->type);
    text_add_bytes(out, f->body, f->len);
    text_add_char(out, '}');
    if (out->len > FRAME_BODY_BYTES_MAX)
        return body_wrap(f, err_set(e, -EINVAL, "it is too long to be passed on"), e);
    CLEANUP_JSON json_t *whole = json_read(out->s, out->len, e);
    return whole ? 0 : body_wrap(f, -EINVAL, e);
}
