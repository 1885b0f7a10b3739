/* SPDX-License-Identifier: Apache-2.0 */
#include "health/recur.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define SAME NULL
static const struct recur_row rows[] = {
#define RECUR(codes, before, least, times, within_h, scope, result, act, what, source) \
    {codes, before, RESULT_##least, times, within_h, RECUR_##scope, RESULT_##result, ACT_##act, what, source},
#include "health/recur.tbl"
#undef RECUR
};
#undef SAME
enum { ROWS = sizeof rows / sizeof *rows };

/* --- the general rule --------------------------------------------------------------------------- */

/*
 * Steps are numbered by the wall clock, not from the first time. Two histories then shrink at the same
 * moments, so the one with more times never has the smaller sum.
 */

enum { FADE = 64730 }; /* of 65536: the 56th power is a half */

int64_t recur_step(struct wall at)
{
    return at.ns / span_s(RECUR_STEP_S).ns;
}

uint32_t recur_fade(uint32_t sum, int64_t from, int64_t to)
{
    for (; from < to && sum > 0; from++)
        sum = (uint32_t)((uint64_t)sum * FADE >> 16);
    return sum;
}

uint32_t recur_add(uint32_t sum, unsigned times)
{
    uint64_t more = (uint64_t)times * RECUR_ONE;
    return more < RECUR_MAX - sum ? sum + (uint32_t)more : RECUR_MAX;
}

enum result recur_raise(enum result r, uint32_t sum)
{
    if (r == RESULT_WARN && sum >= RECUR_MANY)
        return RESULT_DEGRADED;
    return r == RESULT_DEGRADED && sum >= RECUR_GRAVE ? RESULT_FATAL : r;
}

/* --- the table ---------------------------------------------------------------------------------- */

const struct recur_row *recur_row(size_t i)
{
    return i < ROWS ? &rows[i] : NULL;
}

static bool code_fits(const char *pattern, const char *code)
{
    size_t len = strlen(pattern);
    return pattern[len - 1] == '*' ? strncmp(pattern, code, len - 1) == 0 : strcmp(pattern, code) == 0;
}

static bool recur_within(const struct recur_row *row, const struct recurrence *now,
                         const struct recurrence *one)
{
    return now->at.ns - one->at.ns <= span_s(INT64_C(3600) * row->within_h).ns;
}

static bool recur_counts(const struct recur_row *row, const struct recurrence *one)
{
    return row->scope != RECUR_ALONE || one->alone;
}

static bool recur_fits(const struct recur_row *row, const struct recurrence *now,
                       const struct recurrence *others, size_t n)
{
    if (!code_fits(row->codes, now->code) || now->result < row->least || !recur_counts(row, now))
        return false;
    uint64_t times = row->before ? 1 : now->times;
    for (size_t i = 0; i < n; i++) {
        const struct recurrence *one = &others[i];
        if (!code_fits(row->before ? row->before : row->codes, one->code) || one->result < row->least ||
            !recur_within(row, now, one))
            continue;
        bool here = strcmp(one->device, now->device) == 0;
        if (!here && row->scope == RECUR_ALONE)
            return false;
        if (here && recur_counts(row, one))
            times += one->times;
    }
    return times >= row->times;
}

const struct recur_row *recur_judge(const struct recurrence *now, const struct recurrence *others, size_t n)
{
    for (size_t i = 0; i < ROWS; i++)
        if (recur_fits(&rows[i], now, others, n))
            return &rows[i];
    return NULL;
}
