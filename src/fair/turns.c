/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each party that waits has a queue. The queues of the privileged are in one ring, the others in a second
 * one; the queue at the head of a ring gives its first turn and goes to the end. A queue that is empty is
 * gone, so memory is in proportion to what waits.
 */
#include "fair/fair.h"

#include "base/table.h"
#include "base/text.h"

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
    struct queue *rings[2]; /* by whether they are privileged */
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
