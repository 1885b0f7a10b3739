/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hostlist.h"

#include "base/hostset.h"
#include "base/text.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* The names of a list lie side by side in blocks: a malloc for each of ten thousand names would be most of
 * the work of a copy. */
struct hostlist_block {
    struct hostlist_block *before;
    size_t used, size;
    char bytes[];
};

enum { BLOCK_MIN = 64, BLOCK_MAX = 64 * 1024 };

/* Blocks double in size, so that a list of one name is small and a long list has few blocks. */
static char *block_room(struct hostlist *h, size_t bytes)
{
    struct hostlist_block *b = h->blocks;
    if (!b || b->size - b->used < bytes) {
        size_t size = !b ? BLOCK_MIN : b->size < BLOCK_MAX ? 2 * b->size : BLOCK_MAX;
        if (size < bytes)
            size = bytes;
        b = mem_grow(NULL, sizeof *b + size);
        *b = (struct hostlist_block){.before = h->blocks, .size = size};
        h->blocks = b;
    }
    b->used += bytes;
    return b->bytes + b->used - bytes;
}

void hostlist_fini(struct hostlist *h)
{
    for (struct hostlist_block *b = h->blocks, *before; b; b = before) {
        before = b->before;
        free(b);
    }
    free(h->names);
    *h = (struct hostlist){0};
}

void hostlist_cleanup(struct hostlist *h)
{
    hostlist_fini(h);
}

void hostlist_add(struct hostlist *h, const char *name)
{
    assert(name);
    if (h->n == h->cap) {
        h->cap = h->cap ? h->cap * 2 : 16;
        h->names = mem_grow(h->names, h->cap * sizeof *h->names);
    }
    size_t bytes = strlen(name) + 1;
    h->names[h->n++] = memcpy(block_room(h, bytes), name, bytes);
}

void hostlist_add_all(struct hostlist *h, const struct hostlist *more)
{
    for (size_t i = 0; i < more->n; i++)
        hostlist_add(h, more->names[i]);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_of_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '-' || c == '_' ||
           c == '.';
}

/* Does not use strspn, which builds a table of the letters at every call. */
bool hostlist_name_ok(const char *name)
{
    size_t len = 0;
    while (is_of_name(name[len]))
        len++;
    return len > 0 && len <= HOSTLIST_NAME_BYTES_MAX && name[len] == '\0' && !strchr("-_.", name[0]);
}

struct hostfolder {
    struct hostset set;
};

struct hostfolder *hostfolder_create(void)
{
    struct hostfolder *f = mem_alloc(sizeof *f);
    hostset_operator(&f->set, ',');
    return f;
}

void hostfolder_destroy(struct hostfolder *f)
{
    if (f)
        hostset_fini(&f->set);
    free(f);
}

void hostfolder_add(struct hostfolder *f, const char *name)
{
    assert(f && name);
    hostset_add(&f->set, name, strlen(name));
}

char *hostfolder_end(struct hostfolder *f)
{
    struct text out = {0};
    hostset_settle(&f->set);
    hostset_fold(&f->set, &out);
    hostfolder_destroy(f);
    return text_take(&out);
}

char *hostlist_fold(const char *const *names, size_t n)
{
    if (n == 1)
        return mem_dup(names[0]);
    struct hostfolder *f = hostfolder_create();
    f->set.expected = n;
    for (size_t i = 0; i < n; i++)
        hostfolder_add(f, names[i]);
    return hostfolder_end(f);
}
