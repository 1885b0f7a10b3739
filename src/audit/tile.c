/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/tile.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { LEVEL_MAX = 63, GROUP = 1000, GROUPS_MAX = 6 /* indexes below 10^18 */ };

static int tile_refuse(const char *path, struct err *e)
{
    return err_set(e, -EINVAL, "\"%.80s\" is not the path of a tile, such as 0/x001/234 or entries/000.p/12",
                   path);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* A number without leading zeroes, of at most three digits. */
static const char *small_take(const char *s, unsigned *out)
{
    size_t n = strspn(s, "0123456789");
    if (n == 0 || n > 3 || (n > 1 && *s == '0'))
        return NULL;
    for (*out = 0; n > 0; n--)
        *out = *out * 10 + (unsigned)(*s++ - '0');
    return s;
}

/* Groups of three digits, all but the last with an x; the first is not zero when there are more. */
static const char *index_take(const char *s, uint64_t *out)
{
    *out = 0;
    for (size_t groups = 1; groups <= GROUPS_MAX; groups++) {
        bool more = *s == 'x';
        s += more;
        if (!is_digit(s[0]) || !is_digit(s[1]) || !is_digit(s[2]))
            return NULL;
        *out = *out * GROUP + (uint64_t)((s[0] - '0') * 100 + (s[1] - '0') * 10 + (s[2] - '0'));
        s += 3;
        if (!more)
            return s;
        if (*out == 0 || *s++ != '/')
            return NULL;
    }
    return NULL;
}

int tile_parse(const char *path, struct tile *out, struct err *e)
{
    const char *s = path;
    *out = (struct tile){.width = TILE_WIDTH};
    if (strncmp(s, "entries/", strlen("entries/")) == 0) {
        out->entries = true;
        s += strlen("entries/");
    } else if (!(s = small_take(s, &out->level)) || out->level > LEVEL_MAX || *s++ != '/') {
        return tile_refuse(path, e);
    }
    s = index_take(s, &out->index);
    if (s && strncmp(s, ".p/", 3) == 0) {
        s = small_take(s + 3, &out->width);
        if (s && (out->width == 0 || out->width >= TILE_WIDTH))
            s = NULL;
    }
    return s && *s == '\0' ? 0 : tile_refuse(path, e);
}

static size_t index_format(uint64_t index, bool more, char *out, size_t size)
{
    size_t n = index >= GROUP ? index_format(index / GROUP, true, out, size) : 0;
    return n + (size_t)snprintf(out + n, size - n, "%s%03u%s", more ? "x" : "", (unsigned)(index % GROUP),
                                more ? "/" : "");
}

char *tile_format(const struct tile *t, char out[static TILE_PATH_BYTES])
{
    assert(t->width > 0 && t->width <= TILE_WIDTH && t->index < UINT64_C(1000000000000000000));
    size_t n = t->entries ? (size_t)snprintf(out, TILE_PATH_BYTES, "tile/entries/")
                          : (size_t)snprintf(out, TILE_PATH_BYTES, "tile/%u/", t->level);
    n += index_format(t->index, false, out + n, TILE_PATH_BYTES - n);
    if (t->width < TILE_WIDTH)
        snprintf(out + n, TILE_PATH_BYTES - n, ".p/%u", t->width);
    return out;
}

unsigned tile_width(unsigned level, uint64_t index, uint64_t size)
{
    if (level >= TILE_LEVELS)
        return 0;
    uint64_t nodes = size >> (TILE_HEIGHT * level), before = index << TILE_HEIGHT;
    if (index > nodes >> TILE_HEIGHT || before >= nodes)
        return 0;
    return nodes - before >= TILE_WIDTH ? TILE_WIDTH : (unsigned)(nodes - before);
}

int tiles_each(uint64_t had, uint64_t size, tile_fn *fn, void *arg, struct err *e)
{
    assert(had <= size);
    for (unsigned level = 0; size >> (TILE_HEIGHT * level) && level < TILE_LEVELS; level++) {
        struct tile t = {.level = level, .index = had >> (TILE_HEIGHT * (level + 1))};
        for (; (t.width = tile_width(level, t.index, size)) > 0; t.index++) {
            struct tile bundle = {.entries = true, .index = t.index, .width = t.width};
            bool there = t.width == tile_width(level, t.index, had);
            int rc = there ? 0 : fn(arg, &t, e);
            if (rc == 0 && level == 0 && !there)
                rc = fn(arg, &bundle, e);
            if (rc)
                return rc;
        }
    }
    return 0;
}

struct tree_hash tile_node(const struct tree_hash *hashes, unsigned height, uint64_t index)
{
    unsigned above = height % TILE_HEIGHT, n = 1U << above;
    struct tree_hash row[TILE_WIDTH / 2];
    const struct tree_hash *first = hashes + ((index << above) & (TILE_WIDTH - 1));
    assert(n <= TILE_WIDTH / 2);
    for (unsigned i = 0; i < n; i++)
        row[i] = first[i];
    for (; n > 1; n /= 2)
        for (unsigned i = 0; i < n / 2; i++)
            row[i] = tree_join(&row[2 * i], &row[2 * i + 1]);
    return row[0];
}
