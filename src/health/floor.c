/* SPDX-License-Identifier: Apache-2.0 */
#include "health/floor.h"
#include "base/text.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* --- the measures of a text ------------------------------------------------------------------- */

static bool is_time(const char *unit)
{
    static const char *const units[] = {"ns", "us", "ms", "s"};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(unit, units[i]) == 0)
            return true;
    return false;
}

/* Copies the next word of s to out. Returns the rest; NULL when there is no word, it is too long, or it has
 * other bytes than ASCII. */
static const char *take_word(const char *s, char out[static FLOOR_NAME_BYTES_MAX + 1])
{
    s += strspn(s, " ");
    size_t len = strcspn(s, " ,");
    if (len == 0 || len > FLOOR_NAME_BYTES_MAX)
        return NULL;
    for (size_t i = 0; i < len; i++)
        if (s[i] < '!' || s[i] > '~')
            return NULL;
    memcpy(out, s, len);
    out[len] = '\0';
    return s + len;
}

static bool read_measure(const char *part, struct measure *m)
{
    char number[FLOOR_NAME_BYTES_MAX + 1];
    uint64_t value;
    *m = (struct measure){0};
    const char *rest = take_word(part, m->name);
    rest = rest ? take_word(rest, number) : NULL;
    rest = rest ? take_word(rest, m->unit) : NULL;
    if (!rest || text_parse_u64(number, 0, (uint64_t)FLOOR_VALUE_MAX, &value, NULL) < 0)
        return false;
    m->value = (int64_t)value;
    m->less_is_better = is_time(m->unit);
    return true;
}

size_t measures_read(const char *text, struct measure out[static FLOOR_MEASURES_MAX])
{
    size_t n = 0;
    for (const char *part = text; n < FLOOR_MEASURES_MAX; part += strcspn(part, ",") + 1) {
        n += read_measure(part, &out[n]);
        if (!strchr(part, ','))
            break;
    }
    return n;
}

/* --- judging ---------------------------------------------------------------------------------- */

static int floor_ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The median. Of an even number of values the lower of the middle two, so that it is a measured value. */
static int64_t floor_median(int64_t *values, size_t n)
{
    qsort(values, n, sizeof *values, floor_ascending);
    return values[(n - 1) / 2];
}

void floor_judge(int64_t *others, size_t n, const struct measure *m, struct floor_verdict *out)
{
    assert(n <= FLOOR_NODES_MAX);
    *out = (struct floor_verdict){.n = n, .judged = n >= FLOOR_NODES_MIN};
    if (!out->judged)
        return;
    out->median = floor_median(others, n);
    for (size_t i = 0; i < n; i++)
        others[i] = others[i] > out->median ? others[i] - out->median : out->median - others[i];
    out->mad = floor_median(others, n);
    int64_t spread = out->mad * FLOOR_MADS, share = out->median * FLOOR_PERCENT / 100;
    int64_t far = spread > share ? spread : share;
    out->limit = m->less_is_better ? out->median + far : out->median - far;
    out->is_short = m->less_is_better ? m->value > out->limit : m->value < out->limit;
}
