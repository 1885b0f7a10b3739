/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/proof.h"

#include "audit/lines.h"
#include "base/base64.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static const char first[] = "c2sp.org/tlog-proof@v1";

void proof_fini(struct proof *p)
{
    text_fini(&p->entry);
}

/* What follows these characters in the line; NULL when it does not begin with them. */
static const char *proof_after(const char *line, size_t *len, const char *begin)
{
    size_t n = strlen(begin);
    if (*len < n || memcmp(line, begin, n) != 0)
        return NULL;
    *len -= n;
    return line + n;
}

static bool is_first(const char *line, size_t len)
{
    return len == strlen(first) && memcmp(line, first, len) == 0;
}

/* The lines before the hashes. */
static bool head_read(struct lines *lines, struct proof *out)
{
    const char *line, *value;
    size_t len;
    if (!lines_take(lines, &line, &len))
        return false;
    out->kind = is_first(line, len) ? PROOF_INCLUSION : PROOF_CONSISTENCY;
    if (out->kind == PROOF_CONSISTENCY)
        return (value = proof_after(line, &len, "old ")) && line_number(value, len, &out->place);
    if (!lines_take(lines, &line, &len))
        return false;
    if ((value = proof_after(line, &len, "extra "))) {
        if (!base64_take(value, len, &out->entry) || !lines_take(lines, &line, &len))
            return false;
    }
    return (value = proof_after(line, &len, "index ")) && line_number(value, len, &out->place);
}

static bool hashes_read(struct lines *lines, struct tree_proof *p)
{
    const char *line;
    size_t len;
    while (lines_take(lines, &line, &len)) {
        if (len == 0)
            return true;
        if (p->n == TREE_PROOF_MAX || !line_hash(line, len, &p->hashes[p->n++]))
            return false;
    }
    return false;
}

int proof_parse(const char *bytes, size_t len, struct proof *out, struct err *e)
{
    struct lines lines = {bytes, bytes + len};
    *out = (struct proof){.place = 0};
    if (len > PROOF_BYTES_MAX || !head_read(&lines, out) || !hashes_read(&lines, &out->path))
        return err_set(e, -EINVAL, "this is not a proof of a log");
    out->note = lines.at;
    out->note_len = (size_t)(lines.end - lines.at);
    return 0;
}

void proof_format(const struct proof *p, struct text *out)
{
    if (p->kind == PROOF_INCLUSION) {
        text_printf(out, "%s\n", first);
        if (p->entry.len > 0) {
            text_add(out, "extra ");
            base64_add(out, p->entry.s, p->entry.len);
            text_add_char(out, '\n');
        }
    }
    text_printf(out, "%s %" PRIu64 "\n", p->kind == PROOF_INCLUSION ? "index" : "old", p->place);
    for (size_t i = 0; i < p->path.n; i++) {
        base64_add(out, p->path.hashes[i].bytes, TREE_HASH_BYTES);
        text_add_char(out, '\n');
    }
    text_add_char(out, '\n');
    text_add_bytes(out, p->note, p->note_len);
}
