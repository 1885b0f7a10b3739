/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/checker/booted.h"

#include "base/digest.h"

#include <inttypes.h>
#include <string.h>

enum { SUM_BYTES = 65 };

static void sum_of(const struct check *k, char out[static SUM_BYTES])
{
    CLEANUP_TEXT struct text record = {0};
    check_format(k, NULL, &record);
    digest_sha256(record.s, record.len, out);
}

static void write_one(const struct booted *b, struct text *out)
{
    char sum[SUM_BYTES];
    CLEANUP_TEXT struct text said = {0};
    sum_of(b->check, sum);
    text_printf(out, "{\"record\":\"%s\"", sum);
    if (json_object_size(b->kept)) {
        CLEANUP_FREE char *kept = json_write(b->kept);
        text_printf(out, ",\"kept\":%s", kept);
    }
    if (!b->said) {
        text_add_char(out, '}');
        return;
    }
    verdict_write(b->said, &said);
    text_printf(out, ",\"looked_ns\":%" PRId64 ",", b->looked.ns);
    text_add(out, said.s + 1); /* its members and the brace */
}

void booted_write(const char *boot, const struct booted *list, size_t n, struct text *out)
{
    bool any = false;
    text_add(out, "{\"boot\":");
    text_add_json(out, boot);
    text_add(out, ",\"checks\":[");
    for (size_t i = 0; i < n; i++) {
        CLEANUP_TEXT struct text one = {0};
        write_one(&list[i], &one);
        if (out->len + one.len + 8 > BOOTED_BYTES_MAX)
            continue;
        text_add(out, any ? ",\n" : "\n");
        text_add_bytes(out, one.s, one.len);
        any = true;
    }
    text_add(out, "]}\n");
}

json_t *booted_read(const char *text, const char *boot)
{
    json_t *kept = json_read(text, strlen(text), NULL);
    if (kept && (!*boot || strcmp(json_text(kept, "boot"), boot) != 0)) {
        json_decref(kept);
        return NULL;
    }
    return kept;
}

static const json_t *kept_find(const json_t *kept, const struct check *k)
{
    char sum[SUM_BYTES];
    const json_t *one;
    size_t i;
    sum_of(k, sum);
    json_array_foreach (json_object_get(kept, "checks"), i, one)
        if (strcmp(json_text(one, "record"), sum) == 0)
            return one;
    return NULL;
}

bool booted_find(const json_t *kept, const struct check *k, struct mono now, struct verdict *said,
                 struct mono *looked)
{
    const json_t *one = kept_find(kept, k);
    uint64_t ns = 0;
    bool good = one && verdict_read(one, said, NULL) == 0 && said->result >= RESULT_OK &&
                json_take_u64(one, "looked_ns", (uint64_t)now.ns, &ns, NULL) == 0;
    looked->ns = good ? (int64_t)ns : 0;
    return good;
}

const json_t *booted_kept(const json_t *kept, const struct check *k)
{
    return json_object_get(kept_find(kept, k), "kept");
}
