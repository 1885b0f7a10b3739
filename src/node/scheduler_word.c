/* SPDX-License-Identifier: Apache-2.0 */
#include "node/scheduler_word.h"

#include "base/text.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void scheduler_word_fini(struct scheduler_word *s)
{
    free(s->texts);
    *s = (struct scheduler_word){0};
}

static bool is_same(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* Most readings repeat the one before, so equal texts are kept. */
static void scheduler_word_put(struct scheduler_word *s, const struct scheduler_word *now)
{
    if (is_same(s->state, now->state) && is_same(s->reason, now->reason) && is_same(s->by, now->by))
        return;
    struct scheduler_word copy = {.state = now->state, .reason = now->reason, .by = now->by};
    const char **const texts[] = {&copy.state, &copy.reason, &copy.by};
    copy.texts = mem_dup_all(texts, sizeof texts / sizeof *texts);
    copy.read = s->read;
    free(s->texts);
    *s = copy;
}

void scheduler_word_set(struct scheduler_word *s, const struct scheduler_word *now)
{
    assert(s != now);
    scheduler_word_put(s, now);
    s->since = now->since;
    if (now->state)
        s->read = now->read;
}
