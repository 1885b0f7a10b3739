/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each party that waits has a queue. The queues of the privileged form one ring, the others a second one. The
 * queue at the head of a ring gives its first turn and moves to the end. An empty queue is removed, so memory
 * is proportional to the number of waiting turns.
 */
#include "fair/fair.h"

#include "base/table.h"
#include "base/text.h"

#include <assert.h>
#include <utlist.h>

struct queue {
    struct turn *first;
    bool privileged;
    struct queue *prev, *next; /* in its ring */
    UT_hash_handle hh;
    char name[];
};

struct turns {
    struct queue *queues;
    struct queue *rings[2]; /* others; privileged */
};

struct turns *turns_create(void)
{
    return mem_alloc(sizeof(struct turns));
}

void turns_destroy(struct turns *t)
{
    free(t);
}

static struct queue *queue_get(struct turns *t, const struct party *p)
{
    struct queue *q;
    size_t len = strlen(p->name);
    HASH_FIND(hh, t->queues, p->name, len, q);
    if (q)
        return q;
    q = mem_alloc(sizeof *q + len + 1);
    memcpy(q->name, p->name, len);
    q->privileged = p->privileged;
    HASH_ADD_KEYPTR(hh, t->queues, q->name, len, q);
    DL_APPEND(t->rings[q->privileged], q);
    return q;
}

void turns_add(struct turns *t, struct turn *turn, const struct party *p)
{
    assert(!turn->queue);
    turn->queue = queue_get(t, p);
    DL_APPEND(turn->queue->first, turn);
}

void turns_remove(struct turns *t, struct turn *turn)
{
    struct queue *q = turn->queue;
    if (!q)
        return;
    DL_DELETE(q->first, turn);
    turn->queue = NULL;
    if (q->first)
        return;
    DL_DELETE(t->rings[q->privileged], q);
    HASH_DEL(t->queues, q);
    free(q);
}

struct turn *turns_take(struct turns *t)
{
    struct queue *q = t->rings[true] ? t->rings[true] : t->rings[false];
    if (!q)
        return NULL;
    struct turn *turn = q->first;
    DL_DELETE(t->rings[q->privileged], q);
    DL_APPEND(t->rings[q->privileged], q);
    turns_remove(t, turn);
    return turn;
}

bool turns_empty(const struct turns *t)
{
    return !t->queues;
}
