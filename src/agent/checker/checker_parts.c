/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/checker/checker_inside.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * Looks at one device after another (look_parts). Each device is a target with a look of its own in a
 * child, so one device that hangs is unknown and delays no other, and a record with Path= that names the
 * device waits for the same child. The devices take turns, because the child that stays serves all of them.
 * All facts are judged together when the last device has answered or was given up.
 */

bool item_has_parts(struct item *k)
{
    struct text names = {0};
    struct look l = item_look(k, mono_now());
    if (k->parts)
        return true;
    look_parts(&l, &names);
    if (names.len == 0) {
        text_fini(&names);
        return false;
    }
    struct parts *p = k->parts = mem_alloc(sizeof *p);
    p->names = p->rest = text_take(&names);
    k->began = l.now;
    return true;
}

static void wait_for_room(struct item *k)
{
    k->under_way = false;
    k->leader = NULL;
    k->waits = true;
    k->due = k->began;
}

static void checker_parts_judge(struct item *k)
{
    struct parts *p = STEAL(k->parts);
    k->under_way = false;
    k->leader = NULL;
    item_judge(k, p->facts.s ? p->facts.s : "", p->stuck);
    parts_destroy(p);
}

static void on_part(void *arg, char *text, size_t len, const struct err *why)
{
    struct item *k = arg;
    struct checker *c = k->c;
    struct parts *p = k->parts;
    if (why)
        fact_add(&p->facts, "unknown", "%s: %s", p->now, why->msg);
    else
        text_add(&p->facts, text);
    p->now = NULL;
    item_begin_parts(k);
    checker_try_waiting(c);
}

static int checker_parts_ask(struct item *k, struct err *e)
{
    const struct parts *p = k->parts;
    CLEANUP_TEXT struct text question = {0};
    text_printf(&question, "%zu%c%s", (size_t)(k->check - k->c->list.checks.list), CHECKER_PART, p->now);
    return workers_ask(k->c->workers, p->now, k->deadline, question.s, on_part, k, e);
}

void item_begin_parts(struct item *k)
{
    struct parts *p = k->parts;
    while (p->now || ((p->now = strsep(&p->rest, "\n")) && *p->now)) {
        struct err e = {0};
        int r = checker_parts_ask(k, &e);
        if (r == -EAGAIN) {
            wait_for_room(k);
            return;
        }
        if (r == 0) {
            k->under_way = true;
            k->leader = k;
            k->due = (struct mono){CHECKER_NEVER};
            return;
        }
        p->stuck = p->stuck || r == -EBUSY;
        fact_add(&p->facts, "unknown", "%s%s", checker_stuck_words(r == -EBUSY), e.msg);
        p->now = NULL;
    }
    checker_parts_judge(k);
}
