/* SPDX-License-Identifier: Apache-2.0 */
#include "health/plugin.h"

#include "base/text.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

/* A piece of the output. */
struct piece {
    const char *at, *end;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\0';
}

static struct piece trim(struct piece p)
{
    while (p.at < p.end && is_blank(*p.at))
        p.at++;
    while (p.end > p.at && is_blank(p.end[-1]))
        p.end--;
    return p;
}

/* Up to the first c, and *rest is what follows it: all, and nothing, where there is none. */
static struct piece cut(struct piece p, char c, struct piece *rest)
{
    const char *at = p.at < p.end ? memchr(p.at, c, (size_t)(p.end - p.at)) : NULL;
    *rest = (struct piece){at ? at + 1 : p.end, p.end};
    return (struct piece){p.at, at ? at : p.end};
}

/* The first line that is not blank; *rest is what follows it. */
static struct piece first_line(const char *output, size_t len, struct piece *rest)
{
    struct piece line, all = {output, output + len};
    do {
        line = cut(all, '\n', rest);
        all = *rest;
    } while (rest->at < rest->end && trim(line).at == trim(line).end);
    return line;
}

/* --- performance data ---------------------------------------------------------------------------- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* n * 10 + digit, or the end of the range. */
static int64_t append_digit(int64_t n, int digit)
{
    return n > (INT64_MAX - digit) / 10 ? INT64_MAX : n * 10 + digit;
}

/* The exponent behind a number, and *at moved behind it; 0 and *at as it was where there is none. */
static int64_t read_exponent(const char **at, const char *end)
{
    const char *p = *at;
    int64_t n = 0;
    if (p == end || (*p != 'e' && *p != 'E'))
        return 0;
    p++;
    bool minus = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+'))
        p++;
    if (p == end || !is_digit(*p))
        return 0;
    for (; p < end && is_digit(*p); p++)
        n = append_digit(n, *p - '0');
    *at = p;
    return minus ? -n : n;
}

/* Thousandths of digits with a point at `point`, times ten to the power of exponent. */
static int64_t to_milli(struct piece digits, ptrdiff_t point, int64_t exponent)
{
    enum { FAR = 1 << 20 }; /* more digits than anybody prints */
    int64_t n = 0;
    int64_t places = exponent > FAR ? FAR : exponent < -FAR ? -FAR : exponent;
    places += point + 3; /* so many digits count */
    for (const char *p = digits.at; places > 0 && n < INT64_MAX; places--) {
        if (p < digits.end && !is_digit(*p))
            p++;
        if (p == digits.end && n == 0)
            break;
        n = append_digit(n, p < digits.end ? *p++ - '0' : 0);
    }
    return n;
}

bool perf_number(const char **at, const char *end, int64_t *milli)
{
    const char *p = *at;
    bool minus = p < end && *p == '-', any = false;
    if (p < end && (*p == '-' || *p == '+'))
        p++;
    struct piece digits = {p, p};
    ptrdiff_t point = -1;
    for (; p < end && (is_digit(*p) || (point < 0 && (*p == '.' || *p == ','))); p++) {
        if (is_digit(*p))
            any = true;
        else
            point = p - digits.at;
    }
    digits.end = p;
    if (!any)
        return false;
    if (point < 0)
        point = p - digits.at;
    *milli = to_milli(digits, point, read_exponent(&p, end));
    *milli = minus ? -*milli : *milli;
    *at = p;
    return true;
}

/* A label: in single quotes, of which two stand for one, or up to '='. *at is moved behind it. */
static struct piece read_label(const char **at, const char *end)
{
    const char *p = *at;
    if (p < end && *p == '\'') {
        const char *start = ++p;
        while (p < end && (*p != '\'' || (p + 1 < end && p[1] == '\'')))
            p += *p == '\'' ? 2 : 1;
        *at = p < end ? p + 1 : end;
        return (struct piece){start, p};
    }
    while (p < end && *p != '=' && !is_blank(*p) && *p != '\n')
        p++;
    struct piece label = {*at, p};
    *at = p;
    return label;
}

/* What stands behind the number up to ';' or a blank; false when that is no unit. */
static bool read_unit(const char **at, const char *end, char unit[8])
{
    size_t n = 0;
    const char *p = *at;
    for (; p < end && *p != ';' && !is_blank(*p) && *p != '\n'; p++) {
        if (n == 7 || is_digit(*p) || (unsigned char)*p < ' ')
            return false;
        unit[n++] = *p;
    }
    unit[n] = '\0';
    *at = p;
    return true;
}

static void read_datum(const char **at, const char *end, perf_fn *fn, void *arg)
{
    struct piece label = read_label(at, end);
    struct perf p = {.label = label.at, .label_len = (size_t)(label.end - label.at)};
    bool good = p.label_len > 0 && *at < end && **at == '=';
    if (good) {
        ++*at;
        good = perf_number(at, end, &p.value_milli) && read_unit(at, end, p.unit);
    }
    while (*at < end && !is_blank(**at) && **at != '\n')
        ++*at;
    if (good)
        fn(arg, &p);
}

static void read_data(struct piece data, perf_fn *fn, void *arg)
{
    while (data.at < data.end) {
        if (is_blank(*data.at) || *data.at == '\n')
            data.at++;
        else
            read_datum(&data.at, data.end, fn, arg);
    }
}

void plugin_perf(const char *output, size_t len, perf_fn *fn, void *arg)
{
    struct piece below, data;
    struct piece line = first_line(output, len, &below);
    cut(line, '|', &data);
    read_data(data, fn, arg);
    cut(below, '|', &data);
    read_data(data, fn, arg);
}

/* --- the verdict --------------------------------------------------------------------------------- */

static void note_datum(void *arg, const struct perf *p)
{
    struct text *t = arg;
    uint64_t milli = p->value_milli < 0 ? -(uint64_t)p->value_milli : (uint64_t)p->value_milli;
    if (t->len > FINDING_TEXT_BYTES_MAX)
        return;
    text_add(t, t->len ? " " : "");
    for (size_t i = 0; i < p->label_len; i++)
        text_add_char(t, p->label[i] ? p->label[i] : ' ');
    text_printf(t, "=%s%" PRIu64, p->value_milli < 0 ? "-" : "", milli / 1000);
    if (milli % 1000)
        text_printf(t, ".%03" PRIu64, milli % 1000);
    text_add(t, p->unit);
}

/* Beside what it complains of. */
static void note_data(const char *output, size_t len, enum metric format, struct verdict *v)
{
    CLEANUP_TEXT struct text data = {0};
    metric_each(format, output, len, note_datum, &data);
    if (data.len > 0)
        verdict_note(v, "%s", data.s);
}

void plugin_read(int status, const char *output, size_t len, enum metric format, struct verdict *v)
{
    struct piece rest;
    struct piece line = trim(cut(first_line(output, len, &rest), '|', &rest));
    char said[4 * FINDING_TEXT_BYTES_MAX] = "it said nothing";
    size_t n = (size_t)(line.end - line.at);
    n = n < sizeof said ? n : sizeof said - 1;
    for (size_t i = 0; i < n; i++)
        said[i] = line.at[i] ? line.at[i] : ' ';
    if (n > 0)
        said[n] = '\0';

    verdict_clear(v);
    if (status < 0)
        verdict_cannot(v, RESULT_UNKNOWN, "ended by signal %d: %s", -status, said);
    else if (status == 126)
        verdict_cannot(v, RESULT_UNKNOWN, "exit status 126, the program may not be executed (chmod +x): %s",
                       said);
    else if (status == 127)
        verdict_cannot(v, RESULT_UNSUPPORTED, "exit status %d, no such program: %s", status, said);
    else if (status > 3)
        verdict_cannot(v, RESULT_UNKNOWN, "exit status %d: %s", status, said);
    else if (status == 3)
        verdict_cannot(v, RESULT_UNKNOWN, "%s", said);
    else if (status > 0)
        verdict_add(v, status == 1 ? RESULT_WARN : RESULT_FATAL, "", "", "%s", said);
    else
        verdict_note(v, "%s", n > 0 ? said : "");
    if (status == 1 || status == 2)
        note_data(output, len, format, v);
}
