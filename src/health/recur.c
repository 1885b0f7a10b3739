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

const struct recur_row *recur_row(size_t i)
{
    return i < ROWS ? &rows[i] : NULL;
}

static bool code_fits(const char *pattern, const char *code)
{
    size_t len = strlen(pattern);
    return pattern[len - 1] == '*' ? strncmp(pattern, code, len - 1) == 0 : strcmp(pattern, code) == 0;
}

/* Where the text names the place: "GPC 1, TPC 2" of "... on (GPC 1, TPC 2, SM 0)". NULL: nowhere. */
static const char *place_of(const char *text, size_t *len)
{
    const char *gpc = strstr(text, "GPC "), *tpc = gpc ? strstr(gpc, "TPC ") : NULL;
    if (!tpc)
        return NULL;
    *len = (size_t)(tpc - gpc) + 4 + strspn(tpc + 4, "0123456789");
    return gpc;
}

static bool same_place(const struct recurrence *a, const struct recurrence *b)
{
    size_t la = 0, lb = 0;
    const char *pa = place_of(a->text, &la), *pb = place_of(b->text, &lb);
    return pa && pb && la == lb && memcmp(pa, pb, la) == 0;
}

static bool within(const struct recur_row *row, const struct recurrence *now, const struct recurrence *one)
{
    return now->at.ns - one->at.ns <= span_s(INT64_C(3600) * row->within_h).ns;
}

static bool fits(const struct recur_row *row, const struct recurrence *now, const struct recurrence *others,
                 size_t n)
{
    if (!code_fits(row->codes, now->code) || now->result < row->least ||
        (row->scope == RECUR_PLACE && !same_place(now, now)))
        return false;
    uint64_t times = row->before ? 1 : now->times;
    for (size_t i = 0; i < n; i++) {
        const struct recurrence *one = &others[i];
        if (!code_fits(row->before ? row->before : row->codes, one->code) || one->result < row->least ||
            !within(row, now, one))
            continue;
        bool here = strcmp(one->device, now->device) == 0;
        if (!here && row->scope == RECUR_ALONE)
            return false;
        if (here && (row->scope != RECUR_PLACE || same_place(now, one)))
            times += one->times;
    }
    return times >= row->times;
}

const struct recur_row *recur_judge(const struct recurrence *now, const struct recurrence *others, size_t n)
{
    for (size_t i = 0; i < ROWS; i++)
        if (fits(&rows[i], now, others, n))
            return &rows[i];
    return NULL;
}
