/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/outbox/powers.h"

#include "base/text.h"
#include "driver/operate.h"

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

void powers_wait(struct powers *p, const char *node, const char *id, powers_fn *fn, void *arg)
{
    struct waiter *w = mem_alloc(sizeof *w);
    *w = (struct waiter){.node = mem_dup(node), .id = mem_dup(id), .fn = fn, .arg = arg};
    DL_APPEND(p->waiters, w);
}

/* False while its end is not known. */
static bool end_of(const struct waiter *w, const json_t *record, struct err *why)
{
    const json_t *done = json_object_get(record, "done");
    const char *state = json_text(done, "state"), *text = json_text(done, "text");
    *why = (struct err){0};
    if (!record || strcmp(json_text(record, "id"), w->id) != 0)
        err_set(why, -ESTALE, "another command took its place");
    else if (!*state || strcmp(state, "begun") == 0)
        return false;
    else if (strcmp(state, "done") != 0)
        err_set(why, -EBUSY, "%s: %s", state, text);
    return true;
}

void powers_effect(struct powers *p, const char *key, const json_t *record)
{
    struct waiter *w, *next;
    DL_FOREACH_SAFE(p->waiters, w, next)
    {
        struct err why;
        if (strcmp(w->node, power_key_node(key)) == 0 && end_of(w, record, &why))
            waiter_tell(p, w, why.code ? NULL : json_text(json_object_get(record, "done"), "text"),
                        why.code ? &why : NULL);
    }
}
