/* SPDX-License-Identifier: Apache-2.0 */
#include "node/scheduler_word.h"

#include "base/text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Most readings repeat the one before, so an equal text is kept. */
static void scheduler_word_put(const char **out, const char *text)
{
    if (*out && text && strcmp(*out, text) == 0)
        return;
    free((char *)(uintptr_t)*out);
    *out = mem_dup(text);
}

void scheduler_word_fini(struct scheduler_word *s)
{
    scheduler_word_put(&s->state, NULL);
    scheduler_word_put(&s->reason, NULL);
    scheduler_word_put(&s->by, NULL);
    *s = (struct scheduler_word){0};
}

void scheduler_word_set(struct scheduler_word *s, const struct scheduler_word *now)
{
    scheduler_word_put(&s->state, now->state);
    scheduler_word_put(&s->reason, now->reason);
    scheduler_word_put(&s->by, now->by);
    s->since = now->since;
    if (now->state)
        s->read = now->read;
}
