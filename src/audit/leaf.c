/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/leaf.h"

#include "base/digest.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

static void add_head(const struct leaf *l, struct text *out)
{
    text_add(out, "{\"revision\":");
    text_add_u64(out, l->revision);
    text_add(out, ",\"n\":");
    text_add_u64(out, l->n);
    text_printf(out, ",\"at\":\"%" PRId64 "\"", l->at.ns);
}

static void add_whole(const struct leaf *l, struct text *out)
{
    add_head(l, out);
    text_add(out, ",\"actor\":");
    text_add_json(out, l->actor);
    text_add(out, ",\"what\":");
    text_add_json(out, l->what);
    text_add(out, ",\"nodes\":");
    text_add_json(out, l->nodes);
    text_add(out, ",\"text\":");
    text_add_json(out, l->text);
    if (l->about && *l->about) {
        text_add(out, ",\"about\":");
        text_add_json(out, l->about);
    }
    if (l->fields && *l->fields) {
        text_add_char(out, ',');
        text_add(out, l->fields);
    }
    text_add_char(out, '}');
}

void leaf_format(const struct leaf *l, struct text *out)
{
    size_t before = out->len;
    add_whole(l, out);
    size_t len = out->len - before;
    if (len <= LEAF_BYTES_MAX)
        return;
    char hash[65];
    digest_sha256(out->s + before, len, hash);
    out->len = before;
    add_head(l, out);
    text_printf(out, ",\"sha256\":\"%s\",\"bytes\":%zu}", hash, len);
}

/* Takes a fixed text and the number after it. */
static bool take_number(const char **s, const char *end, const char *before, uint64_t *out)
{
    size_t len = strlen(before), digits = 0;
    if ((size_t)(end - *s) < len || memcmp(*s, before, len) != 0)
        return false;
    *s += len;
    for (*out = 0; *s < end && **s >= '0' && **s <= '9' && digits < 19; ++*s, digits++)
        *out = *out * 10 + (uint64_t)(**s - '0');
    return digits > 0;
}

bool leaf_head(const char *bytes, size_t len, struct leaf_head *out)
{
    const char *s = bytes, *end = bytes + len;
    uint64_t at = 0;
    *out = (struct leaf_head){.revision = 0};
    bool good = take_number(&s, end, "{\"revision\":", &out->revision) &&
                take_number(&s, end, ",\"n\":", &out->n) && take_number(&s, end, ",\"at\":\"", &at) &&
                s < end && *s == '"' && at <= INT64_MAX;
    out->at.ns = good ? (int64_t)at : 0;
    return good;
}

void bundle_add(struct text *bundle, const char *bytes, size_t len)
{
    assert(len <= LEAF_BYTES_MAX);
    text_add_char(bundle, (char)(len >> 8));
    text_add_char(bundle, (char)(len & 0xff));
    text_add_bytes(bundle, bytes, len);
}

int bundle_next(struct bundle_walk *w, const char **bytes, size_t *len, struct err *e)
{
    size_t left = (size_t)(w->end - w->at);
    if (left == 0)
        return 0;
    size_t n = left < 2 ? 0 : (size_t)((unsigned char)w->at[0] << 8 | (unsigned char)w->at[1]);
    if (left < 2 || left - 2 < n)
        return err_set(e, -EINVAL, "a bundle of entries is cut off");
    *bytes = w->at + 2;
    *len = n;
    w->at += 2 + n;
    return 1;
}
