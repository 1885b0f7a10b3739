/* SPDX-License-Identifier: Apache-2.0 */
#include "backup/manifest.h"

#include "base/digest.h"
#include "base/json.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { SUM_LEN = 64 };
static const char no_sum[] = "0000000000000000000000000000000000000000000000000000000000000000";
_Static_assert(sizeof no_sum == SUM_LEN + 1, "a SHA-256 in hex");

const struct manifest_name manifest_names[] = {
    {"state.db", true}, {"journal.db", false}, {"ca.pem", true}, {"ca.key", true}, {NULL, false}};

/* --- writing ---------------------------------------------------------------------------------- */

/* The sum is that of the text with zeros in its place. */
static void sum_put(struct text *t)
{
    char sum[SUM_LEN + 1];
    char *at = memmem(t->s, t->len, no_sum, SUM_LEN);
    digest_sha256(t->s, t->len, sum);
    memcpy(at, sum, SUM_LEN);
}

void manifest_write(const struct manifest *m, struct text *out)
{
    char at[32];
    struct text t = {0};
    text_printf(&t, "{\"format\":%d,\n \"sum\":\"%s\",\n \"made\":\"%s\",\n \"at\":\"%lld\",\n \"fettle\":",
                MANIFEST_FORMAT, no_sum, wall_format(m->at, at), (long long)m->at.ns);
    text_add_json(&t, m->version);
    text_add(&t, ",\n \"cluster\":");
    text_add_json(&t, m->cluster);
    text_printf(&t, ",\n \"term\":%llu,\n \"revision\":%llu,\n \"digest\":", (unsigned long long)m->term,
                (unsigned long long)m->revision);
    text_add_json(&t, m->digest);
    text_add(&t, ",\n \"files\":[");
    for (size_t i = 0; i < m->n; i++) {
        text_add(&t, i ? ",\n  {\"name\":" : "\n  {\"name\":");
        text_add_json(&t, m->files[i].name);
        text_printf(&t, ",\"bytes\":%llu,\"sha256\":\"%s\"}", (unsigned long long)m->files[i].bytes,
                    m->files[i].sha256);
    }
    text_add(&t, "]}\n");
    sum_put(&t);
    text_add(out, t.s);
    text_fini(&t);
}

uint64_t manifest_bytes(const struct manifest *m)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < m->n; i++)
        sum += m->files[i].bytes;
    return sum;
}

/* --- reading ---------------------------------------------------------------------------------- */

static bool is_hex(const char *s, size_t len)
{
    return strlen(s) == len && strspn(s, "0123456789abcdef") == len;
}

static int sum_check(const json_t *o, const char *bytes, size_t len, struct err *e)
{
    const char *said = NULL;
    char is[SUM_LEN + 1];
    int r = json_take_string(o, "sum", &said, e);
    if (r < 0 || !is_hex(said, SUM_LEN))
        return err_set(e, -EILSEQ, "it has no sum");
    CLEANUP_FREE char *copy = mem_dup_len(bytes, len);
    char *at = memmem(copy, len, said, SUM_LEN);
    if (at)
        memcpy(at, no_sum, SUM_LEN);
    digest_sha256(copy, len, is);
    return at && strcmp(is, said) == 0 ? 0 : err_set(e, -EILSEQ, "it is not what was written");
}

static int take_word(const json_t *o, const char *key, char out[static MANIFEST_WORD_BYTES_MAX + 1],
                     struct err *e)
{
    const char *s = NULL;
    int r = json_take_clause(o, key, MANIFEST_WORD_BYTES_MAX, &s, e);
    if (r == 0)
        snprintf(out, MANIFEST_WORD_BYTES_MAX + 1, "%s", s);
    return r;
}

static int take_time(const json_t *o, struct wall *out, struct err *e)
{
    const char *s = NULL;
    uint64_t ns = 0;
    int r = json_take_string(o, "at", &s, e);
    if (r == 0)
        r = text_parse_u64(s, 0, INT64_MAX, &ns, e);
    out->ns = (int64_t)ns;
    return r;
}

static bool is_known(const char *name)
{
    for (const struct manifest_name *k = manifest_names; k->name; k++)
        if (strcmp(k->name, name) == 0)
            return true;
    return false;
}

static bool has_file(const struct manifest *m, const char *name)
{
    for (size_t i = 0; i < m->n; i++)
        if (strcmp(m->files[i].name, name) == 0)
            return true;
    return false;
}

static int file_read(const json_t *o, struct manifest *m, struct err *e)
{
    struct manifest_file *f = &m->files[m->n];
    char sum[MANIFEST_WORD_BYTES_MAX + 1];
    if (take_word(o, "name", f->name, e) < 0 || json_take_u64(o, "bytes", INT64_MAX, &f->bytes, e) < 0 ||
        take_word(o, "sha256", sum, e) < 0)
        return -EILSEQ;
    if (!is_hex(sum, SUM_LEN))
        return err_set(e, -EILSEQ, "%s has no SHA-256", f->name);
    memcpy(f->sha256, sum, sizeof f->sha256);
    if (!is_known(f->name) || has_file(m, f->name))
        return err_set(e, -EILSEQ, "a backup has no file \"%s\", or has it once", f->name);
    m->n++;
    return 0;
}

static int files_read(const json_t *o, struct manifest *m, struct err *e)
{
    const json_t *list = json_object_get(o, "files");
    if (!json_is_array(list) || json_array_size(list) > MANIFEST_FILES_MAX)
        return err_set(e, -EILSEQ, "it has no list of files");
    for (size_t i = 0; i < json_array_size(list); i++)
        if (file_read(json_array_get(list, i), m, e) < 0)
            return -EILSEQ;
    for (const struct manifest_name *k = manifest_names; k->name; k++)
        if (k->always && !has_file(m, k->name))
            return err_set(e, -EILSEQ, "it does not have %s", k->name);
    return 0;
}

static int fields_read(const json_t *o, struct manifest *m, struct err *e)
{
    if (take_time(o, &m->at, e) < 0 || take_word(o, "fettle", m->version, e) < 0 ||
        take_word(o, "cluster", m->cluster, e) < 0 || take_word(o, "digest", m->digest, e) < 0 ||
        json_take_u64(o, "term", INT64_MAX, &m->term, e) < 0 ||
        json_take_u64(o, "revision", INT64_MAX, &m->revision, e) < 0)
        return -EILSEQ;
    return files_read(o, m, e);
}

int manifest_parse(const char *bytes, size_t len, struct manifest *out, struct err *e)
{
    uint64_t format = 0;
    *out = (struct manifest){0};
    if (len > MANIFEST_BYTES_MAX)
        return err_set(e, -EILSEQ, "it is longer than %d bytes", MANIFEST_BYTES_MAX);
    CLEANUP_JSON json_t *o = json_read(bytes, len, e);
    if (!o || json_take_u64(o, "format", UINT32_MAX, &format, e) < 0 || sum_check(o, bytes, len, e) < 0)
        return err_set(e, -EILSEQ, "it is damaged, or no manifest of Fettle");
    if (format != MANIFEST_FORMAT)
        return err_set(e, -EILSEQ,
                       "it has format %llu, and this version knows format %d; use the version of Fettle that "
                       "made it, or a newer one",
                       (unsigned long long)format, MANIFEST_FORMAT);
    int r = fields_read(o, out, e);
    if (r < 0 && e)
        e->code = r = -EILSEQ;
    return r;
}
