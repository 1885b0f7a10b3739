/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/note.h"

#include "audit/lines.h"
#include "base/base64.h"
#include "base/digest.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { TYPE_ED25519 = 1, ID_BYTES = 4, ID_HEX = 8 };

static const char dash[] = "\xe2\x80\x94 "; /* begins a line with a signature */

/* --- keys ------------------------------------------------------------------------------------ */

bool note_name_is_good(const char *name)
{
    size_t len = strlen(name);
    for (const char *p = name; *p; p++)
        if (*p <= ' ' || *p > '~' || *p == '+')
            return false;
    return len > 0 && len <= NOTE_NAME_BYTES_MAX;
}

void note_key_init(struct note_key *k, const char *name, const unsigned char public[static NOTE_PUBLIC_BYTES])
{
    static const unsigned char type[] = {'\n', TYPE_ED25519};
    unsigned char hash[32];
    assert(note_name_is_good(name));
    *k = (struct note_key){.id = 0};
    memcpy(k->name, name, strlen(name) + 1);
    memcpy(k->public, public, NOTE_PUBLIC_BYTES);
    const struct digest_piece pieces[] = {
        {name, strlen(name)}, {type, sizeof type}, {public, NOTE_PUBLIC_BYTES}};
    digest_sha256_pieces(pieces, 3, hash);
    for (int i = 0; i < ID_BYTES; i++)
        k->id = k->id << 8 | hash[i];
}

static int refuse_key(struct err *e)
{
    return err_set(e, -EINVAL, "this is not the key of a log: NAME+ID+BASE64 for Ed25519");
}

int note_key_parse(const char *s, struct note_key *out, struct err *e)
{
    char name[NOTE_NAME_BYTES_MAX + 1] = "", id[ID_HEX + 1];
    unsigned char key[1 + NOTE_PUBLIC_BYTES];
    size_t len = strcspn(s, "+");
    if (len > NOTE_NAME_BYTES_MAX || strlen(s + len) < 2 + ID_HEX || s[len + 1 + ID_HEX] != '+')
        return refuse_key(e);
    memcpy(name, s, len);
    const char *base64 = s + len + 2 + ID_HEX;
    if (!note_name_is_good(name) || !base64_take_exactly(base64, strlen(base64), key, sizeof key) ||
        key[0] != TYPE_ED25519)
        return refuse_key(e);
    note_key_init(out, name, key + 1);
    snprintf(id, sizeof id, "%08" PRIx32, out->id);
    return strncmp(id, s + len + 1, ID_HEX) == 0 ? 0 : refuse_key(e);
}

void note_key_format(const struct note_key *k, struct text *out)
{
    unsigned char key[1 + NOTE_PUBLIC_BYTES] = {TYPE_ED25519};
    memcpy(key + 1, k->public, NOTE_PUBLIC_BYTES);
    text_printf(out, "%s+%08" PRIx32 "+", k->name, k->id);
    base64_add(out, key, sizeof key);
}

/* --- notes ----------------------------------------------------------------------------------- */

void note_sign(struct text *text, const struct note_key *k,
               const unsigned char signature[static NOTE_SIGNATURE_BYTES])
{
    unsigned char bytes[ID_BYTES + NOTE_SIGNATURE_BYTES];
    assert(text->len > 0 && text->s[text->len - 1] == '\n');
    for (int i = 0; i < ID_BYTES; i++)
        bytes[i] = (unsigned char)(k->id >> (24 - 8 * i));
    memcpy(bytes + ID_BYTES, signature, NOTE_SIGNATURE_BYTES);
    text_printf(text, "\n%s%s ", dash, k->name);
    base64_add(text, bytes, sizeof bytes);
    text_add_char(text, '\n');
}

/* Whether all of it is UTF-8 without control characters, and ends with a newline. */
static bool note_is_text(const char *bytes, size_t len)
{
    CLEANUP_FREE char *copy = mem_dup_len(bytes, len); /* text_utf8 wants the end marked */
    for (size_t i = 0, n; i < len; i += n) {
        n = text_utf8(copy + i);
        if (n == 0 || ((unsigned char)copy[i] < ' ' && copy[i] != '\n'))
            return false;
    }
    return len > 0 && bytes[len - 1] == '\n';
}

/* The end of the text, where the last empty line is; NULL when there is none. */
static const char *text_end(const char *bytes, size_t len)
{
    for (size_t i = len; i >= 2; i--)
        if (bytes[i - 1] == '\n' && bytes[i - 2] == '\n')
            return bytes + i - 1;
    return NULL;
}

static int bad_note(struct err *e)
{
    return err_set(e, -EINVAL, "this is not a signed note");
}

/* Reads one line of a signature. *ours: it is of the key. */
static int signature_read(const char *line, size_t len, const struct note_key *k, struct signed_note *out,
                          bool *ours, struct err *e)
{
    CLEANUP_TEXT struct text bytes = {0};
    const size_t begin = sizeof dash - 1, name = strlen(k->name);
    const char *blank =
        len > begin && memcmp(line, dash, begin) == 0 ? memchr(line + begin, ' ', len - begin) : NULL;
    *ours = false;
    if (!blank || blank == line + begin || memchr(line + begin, '+', (size_t)(blank - line) - begin) ||
        !base64_take(blank + 1, len - (size_t)(blank + 1 - line), &bytes) || bytes.len <= ID_BYTES)
        return bad_note(e);
    uint32_t id = 0;
    for (int i = 0; i < ID_BYTES; i++)
        id = id << 8 | (unsigned char)bytes.s[i];
    if ((size_t)(blank - line) - begin != name || memcmp(line + begin, k->name, name) != 0 || id != k->id)
        return 0;
    if (bytes.len != ID_BYTES + NOTE_SIGNATURE_BYTES)
        return bad_note(e);
    memcpy(out->signature, bytes.s + ID_BYTES, NOTE_SIGNATURE_BYTES);
    *ours = true;
    return 0;
}

int note_read(const char *bytes, size_t len, const struct note_key *k, struct signed_note *out, struct err *e)
{
    if (len > NOTE_BYTES_MAX)
        return err_set(e, -EINVAL, "a note of more than %d bytes", NOTE_BYTES_MAX);
    const char *end = note_is_text(bytes, len) ? text_end(bytes, len) : NULL;
    if (!end || end == bytes)
        return bad_note(e);
    *out = (struct signed_note){.text = bytes, .len = (size_t)(end - bytes)};
    struct lines lines = {end + 1, bytes + len};
    const char *line;
    size_t n, found = 0, any = 0;
    for (; lines_take(&lines, &line, &n); any++) {
        bool ours;
        int r = signature_read(line, n, k, out, &ours, e);
        if (r)
            return r;
        found += ours;
    }
    if (any == 0 || found > 1)
        return bad_note(e);
    return found ? 0 : err_set(e, -ENOKEY, "it is not signed by %s+%08" PRIx32, k->name, k->id);
}

/* --- checkpoints ----------------------------------------------------------------------------- */

void checkpoint_format(const struct checkpoint *c, struct text *out)
{
    text_printf(out, "%s\n%" PRIu64 "\n", c->origin, c->size);
    base64_add(out, c->root.bytes, sizeof c->root.bytes);
    text_add_char(out, '\n');
}

int checkpoint_parse(const char *text, size_t len, struct checkpoint *out, struct err *e)
{
    struct lines lines = {text, text + len};
    const char *line[3], *more;
    size_t n[3] = {0}, n_more;
    *out = (struct checkpoint){.size = 0};
    bool good = true;
    for (int i = 0; i < 3 && good; i++)
        good = lines_take(&lines, &line[i], &n[i]);
    if (!good || n[0] == 0 || n[0] > NOTE_NAME_BYTES_MAX || !line_number(line[1], n[1], &out->size) ||
        !line_hash(line[2], n[2], &out->root))
        return err_set(e, -EINVAL, "this is not a checkpoint");
    while (lines_take(&lines, &more, &n_more))
        if (n_more == 0)
            return err_set(e, -EINVAL, "a checkpoint with an empty line");
    memcpy(out->origin, line[0], n[0]);
    return 0;
}

static const char minimum_prefix[] = "entries kept of ";

void minimum_format(const char *origin, uint64_t index, struct text *out)
{
    text_printf(out, "%s%s\n%" PRIu64 "\n", minimum_prefix, origin, index);
}

int minimum_parse(const char *text, size_t len, const char *origin, uint64_t *index, struct err *e)
{
    CLEANUP_TEXT struct text same = {0};
    struct lines lines = {text, text + len};
    const char *line[2];
    size_t n[2];
    bool good = lines_take(&lines, &line[0], &n[0]) && lines_take(&lines, &line[1], &n[1]) &&
                line_number(line[1], n[1], index);
    if (good)
        minimum_format(origin, *index, &same);
    return good && same.len == len && memcmp(same.s, text, len) == 0
               ? 0
               : err_set(e, -EINVAL, "this does not say which entries %s keeps", origin);
}
