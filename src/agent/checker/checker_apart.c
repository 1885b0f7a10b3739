/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/checker/checker_inside.h"

#include "health/argument.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/*
 * Looks that may hang, in child processes. A child costs more than most looks, so checks that are due
 * together and have the same target share one: ten checks of the GPUs load their library once. When one of
 * them hangs, the others would have waited for it anyway. A look that a caller asked for shares a child
 * only with other such looks, for instance all that a prolog wants to know. Plugins and benchmarks, which
 * take their own time, have a child each.
 *
 * A look that reads files uses a child that stays. A look that loads a library which holds devices open,
 * that runs a program, or that takes all memory has a child of its own.
 */

enum { NEXT_ITEM = '\f' }; /* between the facts of two; no fact has a control character */

static void gather_one(struct item *k, const char *part, struct look_shared *shared, struct text *out)
{
    struct look l = item_look(k, mono_now());
    l.memory = NULL;
    l.shared = shared;
    l.part = part;
    CLEANUP_TEXT struct text facts = {0}; /* of this check alone; a check that finds no such file says so */
    probe_code(k->check->probe)->gather(&l, &facts);
    text_add(out, facts.s ? facts.s : "");
}

static int gather_apart(void *arg, struct text *out, struct err *e)
{
    struct look_shared shared = {.nvml = NULL};
    for (struct item *k = arg; k; k = k->with) {
        if (k != arg)
            text_add_char(out, NEXT_ITEM);
        gather_one(k, NULL, &shared, out);
    }
    look_shared_fini(&shared);
    return 0;
}

/* The places of the group's checks in the list. */
static void write_question(const struct item *leader, struct text *out)
{
    const struct checker *c = leader->c;
    for (const struct item *k = leader; k; k = k->with)
        text_printf(out, "%s%zu", k == leader ? "" : " ", (size_t)(k->check - c->list.checks.list));
}

int checker_answer(void *arg, const char *question, struct text *out, struct err *e)
{
    const struct checker *c = arg;
    struct look_shared shared = {.nvml = NULL};
    CLEANUP_FREE char *words = mem_dup(question);
    uint64_t i;
    for (char *rest = words, *word; (word = strsep(&rest, " "));) {
        char *part = strchr(word, CHECKER_PART);
        if (part)
            *part++ = '\0';
        if (text_parse_u64(word, 0, c->list.checks.n - 1, &i, e))
            return -EINVAL;
        if (word != words)
            text_add_char(out, NEXT_ITEM);
        gather_one(c->items[i], part, &shared, out);
    }
    look_shared_fini(&shared);
    return 0;
}

/* The next of a group, which is let go. */
static struct item *let_go(struct item *k)
{
    struct item *next = k->with;
    k->leader = k->with = NULL;
    k->under_way = false;
    return next;
}

static void on_gathered(void *arg, char *text, size_t len, const struct err *why)
{
    struct item *k = arg;
    struct checker *c = k->c;
    char none[1] = "";
    for (struct item *next; k; k = next) {
        char *end = text ? strchr(text, NEXT_ITEM) : NULL;
        if (end)
            *end = '\0';
        next = let_go(k);
        if (why)
            item_cannot(k, false, why->msg);
        else
            item_judge(k, text, false);
        text = end ? end + 1 : none;
    }
    checker_try_waiting(c);
}

static bool may_share(const struct item *k)
{
    enum probe_how how = probe_row(k->check->probe)->how;
    return k->check->probe != PROBE_PLUGIN &&
           (how == PROBE_APART || how == PROBE_IDLE || look_walks(k->check->probe));
}

static bool checker_apart_shares(struct item *k, const struct item *leader, const char *target)
{
    char buf[CHECKER_TARGET_BYTES];
    struct look l = item_look(k, leader->began);
    return k != leader && !k->under_way && k->asked == leader->asked && k->due.ns <= leader->began.ns &&
           may_share(k) && k->deadline.ns == leader->deadline.ns &&
           strcmp(check_target(k->check, buf), target) == 0 &&
           (k->asked || !(k->check->when & CHECK_IDLE) || checker_is_quiet(k->c)) && look_apart(&l);
}

static void gather_group(struct item *leader, const char *target)
{
    struct checker *c = leader->c;
    struct item *last = leader;
    for (size_t i = 0; i < c->list.checks.n && may_share(leader); i++) {
        struct item *k = c->items[i];
        if (checker_apart_shares(k, leader, target)) {
            k->began = leader->began;
            last = last->with = k;
        }
    }
    for (struct item *k = leader; k; k = k->with) {
        k->leader = leader;
        k->under_way = true;
    }
}

/* A look that only reads and writes files leaves nothing behind in its process. The same holds for a
 * library that finds no driver. */
static bool may_stay(const struct item *k)
{
    const struct probe_row *row = probe_row(k->check->probe);
    CLEANUP_TEXT struct text driver = {0};
    text_printf(&driver, "%s/proc/driver/nvidia", k->c->settings.root);
    struct argument library;
    bool holds = argument_find(k->check->probe, "Library", &library) && access(driver.s, F_OK) == 0;
    return k->check->probe != PROBE_PLUGIN && row->how != PROBE_BENCH && !holds;
}

static int begin_group(struct item *k, const char *target, struct err *e)
{
    struct workers *w = k->c->workers;
    CLEANUP_TEXT struct text question = {0};
    if (!may_stay(k))
        return workers_run(w, target, k->deadline, gather_apart, on_gathered, k, e);
    write_question(k, &question);
    return workers_ask(w, target, k->deadline, question.s, on_gathered, k, e);
}

void item_begin_apart(struct item *k)
{
    struct err e = {0};
    char buf[CHECKER_TARGET_BYTES];
    const char *target = check_target(k->check, buf);
    k->began = mono_now();
    gather_group(k, target);
    int r = begin_group(k, target, &e);
    for (struct item *i = k, *next; i; i = next) {
        next = r ? let_go(i) : i->with;
        if (r == -EAGAIN)
            i->waits = true;
        else if (r)
            item_cannot(i, r == -EBUSY, e.msg);
        else
            i->due = (struct mono){CHECKER_NEVER};
    }
}

static void on_cancelled(void *arg, char *text, size_t len, const struct err *why)
{
    checker_try_waiting(arg);
}

void item_end_apart(struct item *k)
{
    struct item *leader = k->leader;
    if (!leader)
        return;
    workers_cancel(k->c->workers, leader, on_cancelled, k->c);
    for (struct item *i = leader, *next; i; i = next) {
        next = let_go(i);
        i->due = i->began;
    }
}
