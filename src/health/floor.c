/* SPDX-License-Identifier: Apache-2.0 */
#include "health/floor.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

struct floor {
    size_t n; /* in the order in which they were measured */
    struct {
        uint32_t node;
        int64_t value;
    } list[FLOOR_NODES_MAX];
};

/* Large enough for any measure, small enough that a percentage of it is a number. */
static const int64_t VALUE_MAX = INT64_C(1000000000000000);

struct floor *floor_create(void)
{
    return mem_alloc(sizeof(struct floor));
}

void floor_destroy(struct floor *f)
{
    free(f);
}

void floor_note(struct floor *f, uint32_t node, int64_t value)
{
    size_t at = 0;
    while (at < f->n && f->list[at].node != node)
        at++;
    if (at == f->n && f->n == FLOOR_NODES_MAX)
        at = 0;
    if (at < f->n)
        memmove(&f->list[at], &f->list[at + 1], (--f->n - at) * sizeof f->list[0]);
    f->list[f->n].node = node;
    f->list[f->n++].value = value;
}

/* --- the measures of a text ------------------------------------------------------------------- */

static bool is_time(const char *unit)
{
    static const char *const units[] = {"ns", "us", "ms", "s"};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(unit, units[i]) == 0)
            return true;
    return false;
}

/* The next word of s into out; the rest, or NULL when there is none or it is too long. */
static const char *take_word(const char *s, char out[static FLOOR_NAME_BYTES_MAX + 1])
{
    s += strspn(s, " ");
    size_t len = strcspn(s, " ,");
    if (len == 0 || len > FLOOR_NAME_BYTES_MAX)
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
    if (!rest || text_parse_u64(number, 0, (uint64_t)VALUE_MAX, &value, NULL) < 0)
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

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Of an even number the lower of the two in the middle: a value that somebody came to. */
static int64_t median(int64_t *values, size_t n)
{
    qsort(values, n, sizeof *values, ascending);
    return values[(n - 1) / 2];
}

void floor_judge(const struct floor *f, uint32_t node, const struct measure *m, struct floor_verdict *out)
{
    int64_t values[FLOOR_NODES_MAX];
    *out = (struct floor_verdict){0};
    for (size_t i = 0; i < f->n; i++)
        if (f->list[i].node != node)
            values[out->n++] = f->list[i].value;
    out->judged = out->n >= FLOOR_NODES_MIN;
    if (!out->judged)
        return;
    out->median = median(values, out->n);
    for (size_t i = 0; i < out->n; i++)
        values[i] = values[i] > out->median ? values[i] - out->median : out->median - values[i];
    out->mad = median(values, out->n);
    int64_t spread = out->mad * FLOOR_MADS, share = out->median * FLOOR_PERCENT / 100;
    int64_t far = spread > share ? spread : share;
    out->limit = m->less_is_better ? out->median + far : out->median - far;
    out->is_short = m->less_is_better ? m->value > out->limit : m->value < out->limit;
}
