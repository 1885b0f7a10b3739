/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Only the journal remembers when a repair took which step; the fields of its entries say so
 * (cluster/entry.h). Entries of an earlier fettled, which wrote no fields, are not counted. The first
 * question looks for the beginning of the last 48 hours by bisection, and reads from there.
 */
#include "api/numbers.h"

#include "base/table.h"
#include "node/lifecycle.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { SLOT_S = 600, SLOTS = NUMBERS_HOURS_MAX * 3600 / SLOT_S + 1 };

/* A node whose repair does not count as done by Fettle alone. */
struct apart {
    char *name;
    UT_hash_handle hh;
};

struct numbers {
    uint64_t revision; /* the last revision that was read; 0: none yet */
    bool found;        /* the beginning was found */
    struct slot {
        int64_t number; /* seconds since 1970, in spans */
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

/* NULL for a time before all kept spans. */
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

/* Whether the node was set apart; it no longer is. */
static bool count_again(struct numbers *n, const char *node)
{
    struct apart *a;
    HASH_FIND_STR(n->apart, node, a);
    if (a)
        numbers_forget(n, a);
    return a != NULL;
}

/* A node that was set apart may be ill only from now on. */
static void take_step(struct numbers *n, struct numbers_sum *sum, const char *node,
                      const struct entry_fields *f)
{
    bool ends = f->to == STEP_NONE && f->from != STEP_TEND;
    sum->transitions++;
    sum->queued += f->to == STEP_QUEUE;
    if (f->from == STEP_NONE && (f->to == STEP_PROVISION || f->to == STEP_ISOLATE)) {
        set_apart(n, node); /* it came up, or there was a maintenance event: nothing was wrong with it */
    } else if (ends || f->from == STEP_PROVISION) {
        bool was_apart = count_again(n, node);
        sum->by_itself += f->outcome == ENTRY_OUTCOME_BACK && !was_apart;
    }
}

/* Another machine has the name: its tests are a step, but no remediation. */
static void take_instance(struct numbers *n, struct numbers_sum *sum, const char *node,
                          const struct entry_fields *f)
{
    sum->transitions++;
    set_apart(n, node);
}

static void take_isolation(struct numbers *n, struct numbers_sum *sum, const char *node,
                           const struct entry_fields *f)
{
    sum->transitions++;
}

static void take_refusal(struct numbers *n, struct numbers_sum *sum, const char *node,
                         const struct entry_fields *f)
{
    sum->transitions++;
    sum->queued++;
}

static void take_transition(struct numbers *n, struct numbers_sum *sum, const char *node,
                            const struct entry_fields *f)
{
    sum->transitions++;
    set_apart(n, node);
    sum->queued += f->to == STEP_QUEUE;
    sum->by_person += f->from == STEP_QUEUE || f->to == STEP_QUARANTINE;
}

/* Findings that stay open keep the node in the work queue: the answer is not a step, but a person's part. */
static void take_answer(struct numbers *n, struct numbers_sum *sum, const char *node,
                        const struct entry_fields *f)
{
    set_apart(n, node);
    sum->transitions += f->moves;
    sum->by_person += f->moves;
}

static const struct counted {
    enum command_kind kind;
    bool always; /* counts even when no repair goes from one step to another */
    void (*take)(struct numbers *n, struct numbers_sum *sum, const char *node, const struct entry_fields *f);
} counted[] = {{COMMAND_REPAIR, false, take_step},        {COMMAND_TRANSITION, false, take_transition},
               {COMMAND_ANSWER, true, take_answer},       {COMMAND_INSTANCE, false, take_instance},
               {COMMAND_FINDINGS, false, take_isolation}, {COMMAND_REPAIR_REFUSE, false, take_refusal}};

static int take_counted(struct numbers *n, const struct counted *as, const struct store_entry *e,
                        struct err *err)
{
    struct entry_fields f;
    struct numbers_sum *sum = sum_at(n, e->at);
    int rc = sum ? entry_fields_read(e->fields, &f, err) : 0;
    if (!sum || rc < 0)
        return rc;
    if (f.moves || as->always)
        as->take(n, sum, e->nodes, &f);
    entry_fields_fini(&f);
    return 0;
}

static int take_entry(void *arg, uint64_t revision, const struct store_entry *e, struct err *err)
{
    struct numbers *n = arg;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < sizeof counted / sizeof counted[0]; i++)
        if (strcmp(e->what, command_name(counted[i].kind)) == 0)
            rc = take_counted(n, &counted[i], e, err);
    n->revision = revision;
    return rc < 0 ? err_wrap(err, -EILSEQ, "revision %" PRIu64, revision) : 0;
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

/* The last revision before that time, approximately. */
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
            return 0; /* that was all: some revisions have no entry */
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
