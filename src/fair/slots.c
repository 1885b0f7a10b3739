/* SPDX-License-Identifier: Apache-2.0 */
#include "fair/fair.h"

#include "base/table.h"
#include "base/text.h"

#include <assert.h>
#include <errno.h>

struct holder {
    size_t n;
    UT_hash_handle hh;
    char name[];
};

struct slots {
    struct slots_limits limits;
    struct holder *holders;
    size_t taken;
};

struct slots *slots_create(const struct slots_limits *limits)
{
    assert(limits->reserve <= limits->all);
    struct slots *s = mem_alloc(sizeof *s);
    s->limits = *limits;
    return s;
}

static void holder_remove(struct slots *s, struct holder *h)
{
    HASH_DEL(s->holders, h);
    free(h);
}

void slots_destroy(struct slots *s)
{
    struct holder *h, *next;
    if (!s)
        return;
    HASH_ITER (hh, s->holders, h, next)
        holder_remove(s, h);
    free(s);
}

static struct holder *holder_find(const struct slots *s, const char *name)
{
    struct holder *h;
    HASH_FIND_STR(s->holders, name, h);
    return h;
}

static struct holder *holder_add(struct slots *s, const char *name)
{
    size_t len = strlen(name);
    struct holder *h = mem_alloc(sizeof *h + len + 1);
    memcpy(h->name, name, len);
    HASH_ADD_KEYPTR(hh, s->holders, h->name, len, h);
    return h;
}

static int check_share(const struct slots *s, const struct party *p, const struct holder *h, struct err *e)
{
    if (!p->privileged && h && h->n >= s->limits.each)
        return err_set(e, -EAGAIN, "there are too many connections of %s: %zu", p->name, h->n);
    return 0;
}

static void slot_add(struct slots *s, const struct party *p)
{
    struct holder *h = holder_find(s, p->name);
    if (!h)
        h = holder_add(s, p->name);
    h->n++;
    s->taken++;
}

int slots_take(struct slots *s, const struct party *p, struct err *e)
{
    size_t open = s->limits.all - (p->privileged ? 0 : s->limits.reserve);
    if (s->taken >= open)
        return err_set(e, -EAGAIN, "there are too many connections: %zu", s->taken);
    int rc = check_share(s, p, holder_find(s, p->name), e);
    if (rc == 0)
        slot_add(s, p);
    return rc;
}

void slots_give(struct slots *s, const struct party *p)
{
    struct holder *h = holder_find(s, p->name);
    assert(h && "a slot is given back by its holder");
    s->taken--;
    if (--h->n == 0)
        holder_remove(s, h);
}

int slots_move(struct slots *s, const struct party *from, const struct party *to, struct err *e)
{
    if (strcmp(from->name, to->name) == 0)
        return 0;
    int rc = check_share(s, to, holder_find(s, to->name), e);
    if (rc < 0)
        return rc;
    slots_give(s, from);
    slot_add(s, to);
    return 0;
}
