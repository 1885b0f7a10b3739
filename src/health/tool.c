/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each line is folded (blanks become one, the cells of a table row become "| A: B") and compared with the
 * rows of its tool, then with those for any tool. dcgmi breaks a long text over several rows whose first cell
 * is empty: such a row continues the text before it, or belongs to the cell above it.
 */
#include "health/tool.h"

#include "base/text.h"
#include "health/pattern.h"
#include "health/plugin.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { ANY = -1, WORDS_MAX = 24, CELL_FULL = 40 /* of dcgmi's 46; it breaks at any character */ };
enum said { SAID_WRONG, SAID_BAD, SAID_OWN, SAID_ABSENT, SAID_PASSED, SAID_NOTE };

static const struct {
    const char *name, *measured, *unit;
} tools[] = {
#define TOOL(symbol, name, measured, unit, what) {name, measured, unit},
#include "health/tool.tbl"
};

enum { TOOL_ANY = ANY };

static const struct says {
    int tool;
    enum said kind;
    const char *pattern;
} says[] = {
#define SAYS(tool, kind, pattern, source) {TOOL_##tool, SAID_##kind, pattern},
#include "health/tool.tbl"
};

enum counted { COUNTED_VALUE, COUNTED_MATRIX, COUNTED_WRONGS };

static const struct counts {
    int tool;
    enum counted kind;
    const char *pattern;
    size_t words;
    int word;
} counts[] = {
#define NUMBER(tool, pattern, words, word, source) {TOOL_##tool, COUNTED_VALUE, pattern, words, word},
#define NUMBERS(tool, pattern, source) {TOOL_##tool, COUNTED_MATRIX, pattern, 0, 0},
#define WRONGS(tool, pattern, words, word, source) {TOOL_##tool, COUNTED_WRONGS, pattern, words, word},
#include "health/tool.tbl"
};

bool tool_parse(const char *name, enum tool *out)
{
    for (int i = 0; i < TOOLS; i++) {
        if (strcmp(tools[i].name, name) == 0) {
            *out = (enum tool)i;
            return true;
        }
    }
    return false;
}

/* --- lines --------------------------------------------------------------------------------------- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Merges runs of blanks into one, and removes blanks at the ends. */
static void tool_fold(char *line)
{
    char *to = line;
    for (const char *p = line; *p; p++)
        if (!is_blank(*p) || (to > line && !is_blank(to[-1])))
            *to++ = is_blank(*p) ? ' ' : *p;
    while (to > line && is_blank(to[-1]))
        to--;
    *to = '\0';
}

/* A text that fills its cell continues in the next row. */
static bool is_full(const char *cell)
{
    return strlen(cell) >= CELL_FULL;
}

static void evidence_add(struct tool_said *s, const char *between, const char *what)
{
    size_t n = strlen(s->evidence);
    snprintf(s->evidence + n, sizeof s->evidence - n, "%s%s", n > 0 ? between : "", what);
}

/* Writes a row of a two-column table as "| A: B". False when it only continued the text of the row before
 * it. */
static bool read_row(struct tool_said *s, char *line, char out[static TOOL_LINE_BYTES_MAX + 1])
{
    char *bar = strchr(line + 1, '|'), *second = bar ? bar + 1 : line;
    char *end = bar ? strrchr(second, '|') : NULL;
    if (!end) {
        tool_fold(line);
        snprintf(out, TOOL_LINE_BYTES_MAX + 1, "%s", line);
        return true;
    }
    *bar = *end = '\0';
    tool_fold(line + 1);
    bool goes_on = !line[1];
    if (goes_on && s->noting) {
        second += *second == ' '; /* the table adds one; others may belong to the text */
        for (size_t n = strlen(second); n > 0 && is_blank(second[n - 1]); n--)
            second[n - 1] = '\0';
        evidence_add(s, "", second);
        s->noting = is_full(second);
        return false;
    }
    tool_fold(second);
    s->full = is_full(second);
    if (!goes_on)
        snprintf(s->cell, sizeof s->cell, "%s", line + 1);
    snprintf(out, TOOL_LINE_BYTES_MAX + 1, "| %s: %s", s->cell, second);
    return true;
}

struct words {
    size_t n;
    const char *w[WORDS_MAX];
    char text[TOOL_LINE_BYTES_MAX + 1];
};

static void words_split(const char *line, struct words *out)
{
    snprintf(out->text, sizeof out->text, "%s", line);
    out->n = 0;
    for (char *p = out->text; *p && out->n < WORDS_MAX;) {
        out->w[out->n++] = p;
        p += strcspn(p, " ");
        if (*p)
            *p++ = '\0';
    }
}

static bool tool_number(const char *word, int64_t *milli)
{
    const char *at = word, *end = word + strlen(word);
    return perf_number(&at, end, milli) && at == end;
}

/* --- rows ---------------------------------------------------------------------------------------- */

static bool tool_fits(int tool, const char *pattern, const struct tool_said *s, const char *line)
{
    const char *dev;
    size_t len;
    return (tool == ANY || tool == (int)s->tool) && pattern_match(pattern, line, &dev, &len);
}

static const struct says *find_says(const struct tool_said *s, const char *line)
{
    for (size_t i = 0; i < sizeof says / sizeof says[0]; i++)
        if (tool_fits(says[i].tool, says[i].pattern, s, line))
            return &says[i];
    return NULL;
}

static void take_says(struct tool_said *s, const char *line)
{
    const struct says *row = find_says(s, line);
    s->noting = false;
    s->passed |= row && row->kind == SAID_PASSED;
    if (!row || row->kind == SAID_PASSED || (row->kind == SAID_BAD && s->own))
        return;
    s->wrong |= row->kind == SAID_WRONG;
    s->bad |= row->kind == SAID_BAD;
    s->own |= row->kind == SAID_OWN && !s->bad;
    s->absent |= row->kind == SAID_ABSENT;
    s->noting = s->full;
    evidence_add(s, "; ", line + (strncmp(line, "| ", 2) == 0 ? 2 : 0));
}

static void take_value(struct tool_said *s, int64_t milli)
{
    s->value_milli = milli;
    s->has_value = true;
}

/* "1 20.1 2501.0 19.9" is the row of device 1. Its own column says nothing about a link. */
static void take_matrix_row(struct tool_said *s, const struct words *w)
{
    int64_t row, milli;
    if (!tool_number(w->w[0], &row)) {
        s->in_matrix = strcmp(w->w[0], "D\\D") == 0;
        return;
    }
    for (size_t i = 1; i < w->n; i++)
        if ((int64_t)(i - 1) * 1000 != row && tool_number(w->w[i], &milli) &&
            (!s->has_value || milli < s->value_milli))
            take_value(s, milli);
}

static void take_wrongs(struct tool_said *s, const char *count, const char *line)
{
    if (strcmp(count, "0") == 0 || strcmp(count, "N/A") == 0)
        return;
    char what[FINDING_TEXT_BYTES_MAX + 1];
    snprintf(what, sizeof what, "%s wrong values in \"%s\"", count, line);
    if (!s->wrong) /* every size has such a line */
        evidence_add(s, "; ", what);
    s->wrong = true;
}

static void take_counts(struct tool_said *s, const char *line)
{
    struct words w;
    words_split(line, &w);
    if (s->in_matrix)
        take_matrix_row(s, &w);
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        const struct counts *c = &counts[i];
        int64_t milli;
        if (!tool_fits(c->tool, c->pattern, s, line) || (c->words && c->words != w.n))
            continue;
        const char *word = w.w[c->word < 0 ? w.n - 1 : (size_t)c->word];
        if (c->kind == COUNTED_MATRIX)
            s->in_matrix = true;
        else if (c->kind == COUNTED_WRONGS)
            take_wrongs(s, word, line);
        else if (tool_number(word, &milli))
            take_value(s, milli);
    }
}

static void take_line(struct tool_said *s)
{
    char line[TOOL_LINE_BYTES_MAX + 1];
    s->line[s->n] = '\0';
    s->n = 0;
    s->full = false;
    if (s->line[0] == '|' && is_blank(s->line[1])) {
        if (!read_row(s, s->line, line))
            return;
    } else {
        tool_fold(s->line);
        memcpy(line, s->line, sizeof line);
    }
    if (!*line)
        return;
    snprintf(s->last, sizeof s->last, "%.*s", FINDING_TEXT_BYTES_MAX, line);
    take_counts(s, line);
    take_says(s, line);
}

void tool_read(struct tool_said *s, const char *bytes, size_t n)
{
    assert(bytes || n == 0);
    for (const char *p = bytes; p < bytes + n; p++) {
        if (*p == '\n' || *p == '\r')
            take_line(s);
        else if (s->n < TOOL_LINE_BYTES_MAX)
            s->line[s->n++] = (unsigned char)*p < ' ' ? ' ' : *p;
    }
}

void tool_end(struct tool_said *s)
{
    take_line(s);
}

/* --- the verdict --------------------------------------------------------------------------------- */

static bool wants_value(enum tool t)
{
    return *tools[t].measured;
}

static bool wants_passed(enum tool t)
{
    for (size_t i = 0; i < sizeof says / sizeof says[0]; i++)
        if (says[i].tool == (int)t && says[i].kind == SAID_PASSED)
            return true;
    return false;
}

static bool has_result(const struct tool_said *s)
{
    return (s->passed || !wants_passed(s->tool)) && (s->has_value || !wants_value(s->tool));
}

/* "bandwidth 461 GB/s", or "passed". */
static void say_result(const struct tool_said *s, char out[static FINDING_TEXT_BYTES_MAX])
{
    snprintf(out, FINDING_TEXT_BYTES_MAX, "passed");
    if (wants_value(s->tool))
        snprintf(out, FINDING_TEXT_BYTES_MAX, "%s %" PRId64 " %s", tools[s->tool].measured,
                 s->value_milli / 1000, tools[s->tool].unit);
}

static void judge_result(const struct tool_said *s, const struct tool_end *end, struct verdict *v)
{
    char result[FINDING_TEXT_BYTES_MAX];
    say_result(s, result);
    if (end->status != 0)
        verdict_add(v, RESULT_FATAL, "", "", "exit status %d after its result: %s", end->status,
                    wants_value(s->tool) ? result : s->last);
    else if (wants_value(s->tool) && s->value_milli < end->floor_milli)
        verdict_add(v, RESULT_FATAL, "", "", "%s of at least %" PRId64, result, end->floor_milli / 1000);
    else
        verdict_note(v, "%s", result);
}

static void judge_nothing(const struct tool_said *s, const struct tool_end *end, struct verdict *v)
{
    const char *said = *s->evidence ? s->evidence : *s->last ? s->last : "it said nothing";
    enum result r = end->group ? RESULT_FATAL : RESULT_UNKNOWN;
    char why[FINDING_TEXT_BYTES_MAX + 64];
    if (end->status == 0)
        snprintf(why, sizeof why, "no result: %s", said);
    else
        snprintf(why, sizeof why, "exit status %d without a result: %s", end->status, said);
    if (r == RESULT_FATAL)
        verdict_add(v, r, "", "", "%s", why);
    else
        verdict_cannot(v, r, "%s", why);
}

void tool_judge(const struct tool_said *s, const struct tool_end *end, struct verdict *v)
{
    verdict_clear(v);
    if (s->wrong)
        verdict_add(v, RESULT_FATAL, "", "", "wrong result: %s", s->evidence);
    else if (s->bad)
        verdict_add(v, RESULT_FATAL, "", "", "%s", s->evidence);
    else if (s->absent)
        verdict_cannot(v, RESULT_UNSUPPORTED, "%s", s->evidence);
    else if (end->status == 127)
        verdict_cannot(v, RESULT_UNSUPPORTED, "exit status 127, no such program%s%s", *s->last ? ": " : "",
                       s->last);
    else if (!end->teller && end->status == 0)
        verdict_note(v, "it took part");
    else if (!s->own && end->teller && has_result(s))
        judge_result(s, end, v);
    else
        judge_nothing(s, end, v);
}
