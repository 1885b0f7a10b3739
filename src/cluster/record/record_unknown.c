/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of a kind that this version does not know. A newer version wrote them; this one keeps key and
 * value, changes neither and decides nothing by them, so that the newer version finds them as it left them.
 */
#include "cluster/record/record.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { UNKNOWN_KEY_BYTES_MAX = 512, KINDS_SAID_MAX = 8 };

/* The length of the key's kind; 0 for a key that is not KIND/NAME. */
static size_t kind_length(const char *key)
{
    size_t kind = strspn(key, "abcdefghijklmnopqrstuvwxyz_"), len = strlen(key);
    if (kind > UNKNOWN_KIND_BYTES_MAX || key[kind] != '/' || kind + 1 == len || len > UNKNOWN_KEY_BYTES_MAX)
        return 0;
    for (const char *p = key; *p; p++)
        if (*p < 0x20 || *p > 0x7e)
            return 0;
    return kind;
}

static struct unknown_slot *unknown_find(const struct cluster *c, const char *key)
{
    struct unknown_slot *s;
    HASH_FIND_STR(c->unknown, key, s);
    return s;
}

static size_t unknown_bytes(const char *key, const char *value)
{
    return strlen(key) + strlen(value);
}

static void unknown_drop(struct cluster *c, struct unknown_slot *s)
{
    assert(c->unknown_bytes >= unknown_bytes(s->key, s->value));
    c->unknown_bytes -= unknown_bytes(s->key, s->value);
    c->sum -= record_sum(s->key, s->value);
    HASH_DEL(c->unknown, s);
    free(s->key);
    free(s->value);
    free(s);
}

static void unknown_keep(struct cluster *c, const char *key, const char *value)
{
    struct unknown_slot *s = mem_alloc(sizeof *s);
    assert(!unknown_find(c, key));
    s->key = mem_dup(key);
    s->value = mem_dup(value);
    HASH_ADD_KEYPTR(hh, c->unknown, s->key, strlen(s->key), s);
    c->unknown_bytes += unknown_bytes(key, value);
    c->sum += record_sum(key, value);
}

/* There is room for the record in the place of `was`, which may be NULL. */
static int check_room(const struct cluster *c, const struct unknown_slot *was, const char *key,
                      const char *value, struct err *e)
{
    size_t bytes = c->unknown_bytes - (was ? unknown_bytes(was->key, was->value) : 0);
    if (!was && HASH_COUNT(c->unknown) >= UNKNOWN_RECORDS_MAX)
        return err_set(e, -EILSEQ, "more than %d records of kinds that this version does not know",
                       UNKNOWN_RECORDS_MAX);
    if (bytes + unknown_bytes(key, value) > UNKNOWN_BYTES_MAX)
        return err_set(e, -EILSEQ, "more than %d bytes of records of kinds that this version does not know",
                       UNKNOWN_BYTES_MAX);
    return 0;
}

int put_unknown(struct cluster *c, const char *key, const char *value, struct err *e)
{
    struct unknown_slot *was = unknown_find(c, key);
    if (kind_length(key) == 0)
        return err_set(e, -EILSEQ, "its key is not KIND/NAME");
    if (value && check_room(c, was, key, value, e) < 0)
        return -EILSEQ;
    if (was)
        unknown_drop(c, was);
    if (value)
        unknown_keep(c, key, value);
    return 0;
}

void unknown_forget(struct cluster *c)
{
    struct unknown_slot *s, *next;
    HASH_ITER (hh, c->unknown, s, next)
        unknown_drop(c, s);
    assert(c->unknown_bytes == 0);
}

size_t cluster_unknown(const struct cluster *c)
{
    return HASH_COUNT(c->unknown);
}

static bool kind_is(const struct unknown_slot *s, const char *kind, size_t len)
{
    return strncmp(s->key, kind, len) == 0 && s->key[len] == '/';
}

/* The kinds, each once, with ", " between; the first few. */
static void say_kinds(const struct cluster *c, struct text *t)
{
    const char *kinds[KINDS_SAID_MAX];
    size_t n = 0;
    for (const struct unknown_slot *s = c->unknown; s && n < KINDS_SAID_MAX; s = s->hh.next) {
        bool said = false;
        for (size_t i = 0; i < n; i++)
            said |= kind_is(s, kinds[i], strcspn(kinds[i], "/"));
        if (said)
            continue;
        text_add(t, n ? ", " : "");
        text_add_bytes(t, s->key, strcspn(s->key, "/"));
        kinds[n++] = s->key;
    }
}

void cluster_unknown_say(const struct cluster *c, struct text *t)
{
    size_t n = cluster_unknown(c);
    if (n == 0)
        return;
    text_printf(t,
                n == 1 ? "%zu record of a kind that this version does not know is kept as it stands: "
                       : "%zu records of kinds that this version does not know are kept as they stand: ",
                n);
    say_kinds(c, t);
}
