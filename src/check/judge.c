/* SPDX-License-Identifier: Apache-2.0 */
#include "check/part.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

void words_of(const char *value, struct words *out)
{
    snprintf(out->text, sizeof out->text, "%s", value);
    out->n = 0;
    for (char *rest = out->text, *word; out->n < WORDS_MAX && (word = strsep(&rest, " "));)
        if (*word)
            out->w[out->n++] = word;
    for (size_t i = out->n; i < WORDS_MAX; i++)
        out->w[i] = "";
}

bool word_u64(const struct words *w, size_t i, uint64_t *out)
{
    return i < w->n && text_parse_u64(w->w[i], 0, UINT64_MAX, out, NULL) == 0;
}

bool facts_idle(const char *facts, struct verdict *v)
{
    uint64_t n;
    if (!fact_u64(facts, "work", &n))
        return false;
    if (n > 0)
        verdict_note(v, "work runs");
    return n == 0;
}

/* --- arguments ------------------------------------------------------------------------------ */

static bool judge_taken(int r, const struct err *e, struct verdict *v)
{
    if (r < 0)
        verdict_cannot(v, RESULT_UNKNOWN, "%s", e->msg);
    return r == 0;
}

bool want_number(const struct look *l, const char *key, int64_t fallback, int64_t *out, struct verdict *v)
{
    struct err e = {0};
    return judge_taken(check_arg_number(l->check, key, fallback, out, &e), &e, v);
}

bool want_percent(const struct look *l, const char *key, unsigned fallback, unsigned *out, struct verdict *v)
{
    struct err e = {0};
    return judge_taken(check_arg_percent(l->check, key, fallback, out, &e), &e, v);
}

bool want_bytes(const struct look *l, const char *key, uint64_t fallback, uint64_t *out, struct verdict *v)
{
    struct err e = {0};
    return judge_taken(check_arg_bytes(l->check, key, fallback, out, &e), &e, v);
}

bool want_span(const struct look *l, const char *key, struct span fallback, struct span *out,
               struct verdict *v)
{
    struct err e = {0};
    return judge_taken(check_arg_span(l->check, key, fallback, out, &e), &e, v);
}

/* --- what was before ------------------------------------------------------------------------ */

static void name_of(char *out, size_t size, const char *what, const char *device)
{
    snprintf(out, size, "%s %s", what, device);
}

struct span lasts_for(const struct look *l, const char *what, const char *of, bool so)
{
    char name[128];
    name_of(name, sizeof name, what, of);
    int64_t *since = memory_number(l->memory, name);
    if (!so || *since == 0)
        *since = so ? l->now.ns : 0;
    return so ? mono_sub(l->now, (struct mono){*since}) : (struct span){0};
}

enum result down_result(const struct look *l, const char *name, bool down, struct span most)
{
    return lasts_for(l, "down since", name, down).ns >= most.ns ? RESULT_FATAL : RESULT_WARN;
}

uint64_t look_grown(struct look *l, const char *what, const char *device, uint64_t value)
{
    char name[256];
    name_of(name, sizeof name, what, device);
    uint64_t growth;
    struct span in;
    return counter_take(memory_counter(l->memory, name), l->now, value, &growth, &in) ? growth : 0;
}

uint64_t grown_within(struct look *l, const char *what, const char *device, uint64_t value,
                      struct span window)
{
    char name[256];
    name_of(name, sizeof name, what, device);
    return memory_window(l->memory, name, l->now, window, look_grown(l, what, device, value));
}

int64_t in_a_row(struct look *l, const char *what, const char *device, bool so)
{
    char name[256];
    name_of(name, sizeof name, what, device);
    int64_t *n = memory_number(l->memory, name);
    *n = so ? *n + 1 : 0;
    return *n;
}

unsigned percent_of(uint64_t part, uint64_t whole)
{
    if (whole == 0)
        return 0;
    unsigned __int128 percent = (unsigned __int128)part * 100 / whole;
    return percent > UINT_MAX ? UINT_MAX : (unsigned)percent;
}
