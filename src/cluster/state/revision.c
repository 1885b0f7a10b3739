/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pieces are named by their content. A piece that a commit wrote is therefore known again by the next
 * attempt, a revision that changes one part writes only the pieces of that part, and a damaged piece is
 * found.
 */
#include "cluster/state/revision.h"

#include "base/digest.h"
#include "base/json.h"
#include "base/table.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct piece {
    char hash[PIECE_HASH_BYTES + 1];
    char *text;
    uint64_t sum;
    UT_hash_handle hh;
};

struct revisions {
    struct revision head;
    json_t *parts; /* the parts of the head; NULL while nothing is agreed */
    uint64_t head_sum, pieces_sum;
    struct piece *pieces;
};

void revision_piece_hash(const char *text, size_t len, char out[static PIECE_HASH_BYTES + 1])
{
    char hex[65];
    memcpy(out, digest_sha256(text, len, hex), PIECE_HASH_BYTES);
    out[PIECE_HASH_BYTES] = '\0';
}

static uint64_t revision_sum(const char *name, const char *value)
{
    return digest_fnv(digest_fnv(DIGEST_FNV_START, name, strlen(name)), value, strlen(value));
}

/* --- records ----------------------------------------------------------------------------------- */

struct revisions *revisions_create(void)
{
    return mem_alloc(sizeof(struct revisions));
}

static void head_clear(struct revisions *r)
{
    json_decref(r->parts);
    free(r->head.by);
    r->parts = NULL;
    r->head = (struct revision){0};
    r->head_sum = 0;
}

static struct piece *piece_find(const struct revisions *r, const char *hash)
{
    struct piece *p;
    HASH_FIND_STR(r->pieces, hash, p);
    return p;
}

static void piece_remove(struct revisions *r, struct piece *p)
{
    assert(piece_find(r, p->hash) == p);
    r->pieces_sum -= p->sum;
    HASH_DEL(r->pieces, p);
    free(p->text);
    free(p);
}

void revisions_destroy(struct revisions *r)
{
    if (!r)
        return;
    struct piece *p, *next;
    HASH_ITER (hh, r->pieces, p, next)
        piece_remove(r, p);
    head_clear(r);
    free(r);
}

static int piece_put(struct revisions *r, const char *name, const char *hash, const char *value,
                     struct err *e)
{
    static const char *const keys[] = {"text"};
    CLEANUP_JSON json_t *o = value ? json_read(value, strlen(value), e) : NULL;
    const char *text = "";
    char is[PIECE_HASH_BYTES + 1];
    if (value && (!o || json_only_keys(o, keys, 1, e) < 0 || json_take_string(o, "text", &text, e) < 0))
        return -EILSEQ;
    revision_piece_hash(text, strlen(text), is);
    if (value && strcmp(is, hash) != 0)
        return err_set(e, -EILSEQ, "its text has the hash %s", is);
    struct piece *p = piece_find(r, hash);
    if (p)
        piece_remove(r, p);
    if (!value)
        return 0;
    p = mem_alloc(sizeof *p);
    memcpy(p->hash, is, sizeof p->hash);
    p->text = mem_dup(text);
    p->sum = revision_sum(name, p->hash);
    r->pieces_sum += p->sum;
    HASH_ADD_STR(r->pieces, hash, p);
    return 0;
}

static int parts_check(const json_t *parts, struct err *e)
{
    static const char *const keys[] = {"part", "texts"};
    size_t i, k;
    const json_t *part, *hash;
    if (!json_is_array(parts))
        return err_set(e, -EILSEQ, "no list of parts");
    json_array_foreach (parts, i, part) {
        const json_t *texts = json_object_get(part, "texts");
        const char *name;
        if (json_only_keys(part, keys, 2, e) < 0 || json_take_string(part, "part", &name, e) < 0)
            return -EILSEQ;
        if (!json_is_array(texts))
            return err_set(e, -EILSEQ, "part %.40s: no list of texts", name);
        json_array_foreach (texts, k, hash)
            if (!json_is_string(hash) || json_string_length(hash) != PIECE_HASH_BYTES)
                return err_set(e, -EILSEQ, "part %.40s: text %zu has no hash", name, k + 1);
    }
    return 0;
}

static int head_put(struct revisions *r, const char *value, struct err *e)
{
    static const char *const keys[] = {"revision", "hash", "by", "at", "parts"};
    CLEANUP_JSON json_t *o = value ? json_read(value, strlen(value), e) : NULL;
    uint64_t number = 0, at = 0;
    const char *hash = "", *by = "", *moment = "";
    if (value &&
        (!o || json_only_keys(o, keys, 5, e) < 0 || json_take_u64(o, "revision", INT64_MAX, &number, e) < 0 ||
         json_take_string(o, "hash", &hash, e) < 0 || json_take_string(o, "by", &by, e) < 0 ||
         json_take_string(o, "at", &moment, e) < 0 || text_parse_u64(moment, 0, INT64_MAX, &at, e) < 0 ||
         parts_check(json_object_get(o, "parts"), e) < 0))
        return -EILSEQ;
    if (value && (number == 0 || strlen(hash) != REVISION_HASH_BYTES))
        return err_set(e, -EILSEQ, "it has no number or no hash");
    head_clear(r);
    if (!value)
        return 0;
    r->head.number = number;
    memcpy(r->head.hash, hash, sizeof r->head.hash);
    r->head.by = mem_dup(by);
    r->head.at = (struct wall){(int64_t)at};
    r->parts = json_incref(json_object_get(o, "parts"));
    r->head_sum = revision_sum("head", value);
    return 0;
}

int revisions_put(struct revisions *r, const char *name, const char *value, struct err *e)
{
    static const char text[] = "text.";
    if (strcmp(name, "head") == 0)
        return head_put(r, value, e);
    if (strncmp(name, text, sizeof text - 1) == 0)
        return piece_put(r, name, name + sizeof text - 1, value, e);
    return err_set(e, -EILSEQ, "\"%.40s\" is nothing of the configuration that this version knows", name);
}

uint64_t revisions_sum(const struct revisions *r)
{
    return r->head_sum + r->pieces_sum;
}

const struct revision *revisions_head(const struct revisions *r)
{
    return &r->head;
}

int revisions_text(const struct revisions *r, const char *part, struct text *out, struct err *e)
{
    size_t i, k;
    const json_t *p, *hash;
    json_array_foreach (r->parts, i, p) {
        if (strcmp(json_text(p, "part"), part) != 0)
            continue;
        json_array_foreach (json_object_get(p, "texts"), k, hash) {
            const struct piece *piece = piece_find(r, json_string_value(hash));
            if (!piece)
                return err_set(e, -EILSEQ, "config/head: text %s of %s is missing", json_string_value(hash),
                               part);
            text_add(out, piece->text);
        }
        text_add(out, "");
        return 0;
    }
    return err_set(e, -ENOENT, "the configuration has no part \"%s\"", part);
}

bool revisions_have(const struct revisions *r, const char *hash)
{
    return piece_find(r, hash) != NULL;
}

void revisions_each_piece(const struct revisions *r, revision_piece_fn *fn, void *arg)
{
    for (const struct piece *p = r->pieces; p && fn(arg, p->hash); p = p->hh.next)
        continue;
}
