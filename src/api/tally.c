/* SPDX-License-Identifier: Apache-2.0 */
#include "api/tally.h"

#include "api/render.h"

#include <string.h>

void tally_add(struct tally *y, struct view *v)
{
    view_fitness(v);
    y->nodes++;
    y->schedulable += v->fit;
    y->states[view_lifecycle(v)][view_fitness(v)->work == WORK_BUSY]++;
    for (enum elsewhere_where k = 0; k < ELSEWHERES && v->member->listed; k++) {
        const struct elsewhere *is = &v->seen->elsewhere[k].is;
        y->elsewhere[k].held += is->state == ELSEWHERE_HELD;
        y->elsewhere[k].unknown += is->state == ELSEWHERE_UNKNOWN;
        y->elsewhere[k].out += is->out;
    }
}

json_t *tally_elsewhere(const struct tally *y)
{
    json_t *list = json_array();
    for (enum elsewhere_where k = 0; k < ELSEWHERES; k++) {
        size_t held = y->elsewhere[k].held, out = y->elsewhere[k].out, unknown = y->elsewhere[k].unknown;
        if (held || out || unknown)
            json_array_append_new(list, json_pack("{s:s,s:I,s:I,s:I}", "where", elsewhere_where_name(k),
                                                  "held", (json_int_t)held, "out", (json_int_t)out, "unknown",
                                                  (json_int_t)unknown));
    }
    return list;
}

void render_states(const struct tally *y, struct text *t)
{
    const char *words[LIFECYCLES * 2];
    size_t counts[LIFECYCLES * 2] = {0};
    size_t n = 0;
    for (int i = 0; i < LIFECYCLES * 2; i++) {
        const char *word = lifecycle_word((enum lifecycle)(i / 2), i % 2 ? WORK_BUSY : WORK_IDLE);
        size_t at = 0;
        if (y->states[i / 2][i % 2] == 0)
            continue;
        while (at < n && strcmp(words[at], word) != 0)
            at++;
        words[at] = word;
        counts[at] += y->states[i / 2][i % 2];
        n += at == n;
    }
    text_add_char(t, '{');
    for (size_t i = 0; i < n; i++) {
        if (i)
            text_add_char(t, ',');
        render_word(t, words[i]);
        text_add_char(t, ':');
        text_add_u64(t, counts[i]);
    }
    text_add_char(t, '}');
}
