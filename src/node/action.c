/* SPDX-License-Identifier: Apache-2.0 */
#include "node/action.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

static const struct row {
    const char *word;
    enum action_by by;
    enum action_effect effect;
} rows[ACTIONS] = {
    [ACTION_NONE] = {"", ACTION_BY_NOBODY, ACTION_UNKNOWN},
#define ACTION(symbol, word, by, effect, what) [ACTION_##symbol] = {word, ACTION_BY_##by, ACTION_##effect},
#include "node/action.tbl"
#undef ACTION
};

/* NULL when this row's word does not match the text. */
static const char *rest_of(const char *text, const char *word)
{
    size_t len = strlen(word);
    if (strncmp(text, word, len) != 0)
        return NULL;
    return word[len - 1] == ':' || text[len] == '\0' ? text + len : NULL;
}

struct action action_of(const char *text)
{
    for (int k = ACTION_NONE + 1; text && k < ACTIONS; k++) {
        const char *rest = rest_of(text, rows[k].word);
        if (rest)
            return (struct action){(enum action_kind)k, rows[k].by, rows[k].effect, rest};
    }
    return (struct action){.rest = ""};
}

bool action_boots(struct action r)
{
    return r.effect == ACTION_RESTARTS || r.effect == ACTION_RENEWS;
}

bool action_is_shell(struct action r)
{
    return r.kind == ACTION_COMMAND || r.kind == ACTION_SCRIPT;
}
