/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The journal is the only thing that remembers when a repair took which step; its sentences begin with the
 * step ("isolate -> remedy ...", "back in service"), as decide_repair.c and its neighbours write them. The
 * first question looks for where the last 48 hours begin, by halves, and reads from there.
 */
#include "api/numbers.h"

#include "base/table.h"
#include "node/lifecycle.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { SLOT_S = 600, SLOTS = NUMBERS_HOURS_MAX * 3600 / SLOT_S + 1 };

/* A node whose repair does not count as one that Fettle did by itself. */
struct apart {
    char *name;
    UT_hash_handle hh;
};

struct numbers {
    uint64_t revision; /* read up to here; 0: nothing yet */
    bool found;        /* where to begin */
    struct slot {
        int64_t number; /* since 1970 */
        struct numbers_sum sum;
    } slots[SLOTS];
    struct apart *apart;
};

struct numbers *numbers_create(void)
{
    return mem_alloc(sizeof(struct numbers));
}

static void numbers_forget(struct numbers *n, struct apart *a)
{
    HASH_DEL(n->apart, a);
    free(a->name);
    free(a);
}

void numbers_destroy(struct numbers *n)
{
    struct apart *a, *next;
    if (!n)
        return;
    HASH_ITER (hh, n->apart, a, next)
        numbers_forget(n, a);
    free(n);
}

/* --- one entry ------------------------------------------------------------------------------- */

static int64_t slot_of(struct wall at)
{
    return at.ns / span_s(SLOT_S).ns;
}

/* NULL for what is older than all that is kept. */
static struct numbers_sum *sum_at(struct numbers *n, struct wall at)
{
    int64_t number = slot_of(at);
    struct slot *s = &n->slots[number % SLOTS];
    if (number > s->number)
        *s = (struct slot){.number = number};
    return number == s->number ? &s->sum : NULL;
}

static void set_apart(struct numbers *n, const char *node)
{
    struct apart *a;
    HASH_FIND_STR(n->apart, node, a);
    if (a)
        return;
    a = mem_alloc(sizeof *a);
    a->name = mem_dup(node);
    HASH_ADD_KEYPTR(hh, n->apart, a->name, strlen(a->name), a);
}

/* Whether it was. */
static bool count_again(struct numbers *n, const char *node)
{
    struct apart *a;
    HASH_FIND_STR(n->apart, node, a);
    if (a)
        numbers_forget(n, a);
    return a != NULL;
}

static bool numbers_starts(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* "isolate -> remedy reset: why": both steps. False for another sentence. */
static bool read_move(const char *text, enum step *from, enum step *to)
{
    char words[2][16];
    return sscanf(text, "%15[a-z] -> %15[a-z]", words[0], words[1]) == 2 && step_parse(words[0], from) &&
           step_parse(words[1], to);
}

static void take_step(struct numbers *n, struct numbers_sum *sum, const struct store_entry *e)
{
    enum step from, to;
    sum->transitions++;
    if (numbers_starts(e->text, "back in service")) {
        sum->by_itself += !count_again(n, e->nodes);
    } else if (numbers_starts(e->text, "provision: ") || numbers_starts(e->text, "isolate: ")) {
        set_apart(n, e->nodes); /* a new node, or a maintenance event: nothing was wrong with it */
    } else if (read_move(e->text, &from, &to)) {
        sum->queued += to == STEP_QUEUE;
        if (from == STEP_PROVISION)
            count_again(n, e->nodes);
    }
}

/* Another machine has the name: its tests are a step, but no remediation. */
static void take_instance(struct numbers *n, struct numbers_sum *sum, const struct store_entry *e)
{
    static const char *const steps[] = {"; provision (claim ", " -> provision", "; examine (claim ",
                                        " -> examine"};
    bool tests = false;
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++)
        tests = tests || strstr(e->text, steps[i]);
    if (!tests)
        return;
    sum->transitions++;
    set_apart(n, e->nodes);
}

static void take_transition(struct numbers *n, struct numbers_sum *sum, const struct store_entry *e)
{
    enum step from, to;
    if (numbers_starts(e->text, "maintenance"))
        return; /* what follows from it are steps */
    sum->transitions++;
    set_apart(n, e->nodes);
    if (!read_move(e->text, &from, &to))
        return;
    sum->queued += to == STEP_QUEUE;
    sum->by_person += from == STEP_QUEUE || to == STEP_QUARANTINE;
}

/* A step only with the last of what is open. */
static void take_answer(struct numbers *n, struct numbers_sum *sum, const struct store_entry *e)
{
    enum step from, to;
    bool moves = read_move(e->text, &from, &to);
    set_apart(n, e->nodes);
    sum->transitions += moves;
    sum->by_person += moves;
}

static int take_entry(void *arg, uint64_t revision, const struct store_entry *e, struct err *err)
{
    struct numbers *n = arg;
    struct numbers_sum *sum = sum_at(n, e->at);
    n->revision = revision;
    if (!sum)
        return 0;
    if (strcmp(e->what, command_name(COMMAND_REPAIR)) == 0)
        take_step(n, sum, e);
    else if (strcmp(e->what, command_name(COMMAND_TRANSITION)) == 0)
        take_transition(n, sum, e);
    else if (strcmp(e->what, command_name(COMMAND_ANSWER)) == 0)
        take_answer(n, sum, e);
    else if (strcmp(e->what, command_name(COMMAND_INSTANCE)) == 0)
        take_instance(n, sum, e);
    else if (strcmp(e->what, command_name(COMMAND_FINDINGS)) == 0)
        sum->transitions += strstr(e->text, "isolated: ") != NULL;
    else if (strcmp(e->what, command_name(COMMAND_REPAIR_REFUSE)) == 0) {
        sum->transitions++;
        sum->queued++;
    }
    return 0;
}

/* --- the journal ----------------------------------------------------------------------------- */

struct found {
    uint64_t revision;
    struct wall at;
};

static int take_first(void *arg, uint64_t revision, const struct store_entry *e, struct err *err)
{
    struct found *f = arg;
    if (f->revision == 0)
        *f = (struct found){revision, e->at};
    return 0;
}

/* The last revision before that time, about. */
static int find_begin(struct numbers *n, const struct api_shell *shell, struct wall begin, struct err *e)
{
    uint64_t low = 0, high = shell->revision(shell->arg);
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        struct found f = {0};
        int rc = shell->journal(shell->arg, middle, 1, take_first, &f, e);
        if (rc < 0)
            return rc;
        if (f.revision && f.at.ns < begin.ns)
            low = f.revision < high ? f.revision : high;
        else
            high = middle;
    }
    n->revision = low;
    n->found = true;
    return 0;
}

int numbers_read(struct numbers *n, const struct api_shell *shell, struct wall now, struct err *e)
{
    struct wall begin = {now.ns - span_s(NUMBERS_HOURS_MAX * 3600).ns};
    int rc = n->found ? 0 : find_begin(n, shell, begin, e);
    uint64_t last = shell->revision(shell->arg);
    for (int i = 0; rc == 0 && i < NUMBERS_PAGES_MAX; i++) {
        uint64_t was = n->revision;
        rc = shell->journal(shell->arg, was, NUMBERS_PAGE_ENTRIES, take_entry, n, e);
        if (rc == 0 && n->revision == was)
            return 0; /* that was all: not every revision has an entry */
        if (n->revision >= last)
            return rc;
    }
    return rc < 0 ? rc
                  : err_set(e, -EAGAIN, "the journal of the last 48 hours is still being read; ask again");
}

struct numbers_sum numbers_of(const struct numbers *n, struct wall now, unsigned hours)
{
    struct numbers_sum all = {0};
    int64_t last = slot_of(now), first = last - (int64_t)hours * 3600 / SLOT_S;
    for (size_t i = 0; i < SLOTS; i++) {
        const struct slot *s = &n->slots[i];
        if (s->number < first || s->number > last)
            continue;
        all.transitions += s->sum.transitions;
        all.by_itself += s->sum.by_itself;
        all.queued += s->sum.queued;
        all.by_person += s->sum.by_person;
    }
    return all;
}
