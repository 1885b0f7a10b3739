/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/outbox/powers.h"

#include "base/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

struct waiter {
    char *node, *id;
    powers_fn *fn;
    void *arg;
    struct waiter *prev, *next;
};

struct powers {
    struct waiter *waiters;
};

struct powers *powers_create(void)
{
    return mem_alloc(sizeof(struct powers));
}

static void waiter_tell(struct powers *p, struct waiter *w, const char *answer, const struct err *why)
{
    DL_DELETE(p->waiters, w);
    w->fn(w->arg, answer, why);
    free(w->node);
    free(w->id);
    free(w);
}

void powers_destroy(struct powers *p)
{
    struct err why;
    if (!p)
        return;
    err_set(&why, -EAGAIN, "the controller ends; the command goes on with the next one");
    while (p->waiters)
        waiter_tell(p, p->waiters, NULL, &why);
    free(p);
}

/* False while its end is not known. */
static bool end_of(const struct waiter *w, const struct operation *o, struct err *why)
{
    *why = (struct err){0};
    if (!o->state || strcmp(o->id, w->id) != 0)
        err_set(why, -ESTALE, "another command took its place");
    else if (operation_is_open(o->state))
        return false;
    else if (o->state != OPERATION_DONE)
        err_set(why, -EBUSY, "%s: %s", operation_state_name(o->state), o->text);
    return true;
}

static void waiter_look(struct powers *p, struct waiter *w, const struct operation *o)
{
    struct err why;
    if (end_of(w, o, &why))
        waiter_tell(p, w, why.code ? NULL : o->text, why.code ? &why : NULL);
}

void powers_wait(struct powers *p, const char *node, const char *id, const struct operation *now,
                 powers_fn *fn, void *arg)
{
    struct waiter *w = mem_alloc(sizeof *w);
    *w = (struct waiter){.node = mem_dup(node), .id = mem_dup(id), .fn = fn, .arg = arg};
    DL_APPEND(p->waiters, w);
    waiter_look(p, w, now);
}

void powers_effect(struct powers *p, const char *key, const struct operation *o)
{
    struct waiter *w, *next;
    DL_FOREACH_SAFE(p->waiters, w, next)
    {
        if (strcmp(w->node, power_key_node(key)) == 0)
            waiter_look(p, w, o);
    }
}
