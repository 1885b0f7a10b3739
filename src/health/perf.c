/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Performance data of Nagios plugins, 'label'=value[UOM];warn;crit;min;max. Malformed words are skipped.
 */
#include "health/perf.h"

#include "health/piece.h"

#include <string.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* n * 10 + digit, or the end of the range. */
static int64_t append_digit(int64_t n, int digit)
{
    return n > (INT64_MAX - digit) / 10 ? INT64_MAX : n * 10 + digit;
}

/* Reads the exponent after a number and moves *at past it; without an exponent it returns 0 and leaves
 * *at. */
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

/* The digits, with a point at `point`, times ten to the power of exponent, in thousandths. */
static int64_t to_milli(struct piece digits, ptrdiff_t point, int64_t exponent)
{
    enum { FAR = 1 << 20 }; /* more digits than anybody prints */
    int64_t n = 0;
    int64_t places = exponent > FAR ? FAR : exponent < -FAR ? -FAR : exponent;
    places += point + 3; /* how many digits count */
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

/* A label: in single quotes (two of them stand for one), or up to '='. Moves *at past it. */
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
    while (p < end && *p != '=' && !piece_is_blank(*p) && *p != '\n')
        p++;
    struct piece label = {*at, p};
    *at = p;
    return label;
}

/* The text between the number and ';' or a blank; false when it is not a unit. */
static bool read_unit(const char **at, const char *end, char unit[8])
{
    size_t n = 0;
    const char *p = *at;
    for (; p < end && *p != ';' && !piece_is_blank(*p) && *p != '\n'; p++) {
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
    while (*at < end && !piece_is_blank(**at) && **at != '\n')
        ++*at;
    if (good)
        fn(arg, &p);
}

static void read_data(struct piece data, perf_fn *fn, void *arg)
{
    while (data.at < data.end) {
        if (piece_is_blank(*data.at) || *data.at == '\n')
            data.at++;
        else
            read_datum(&data.at, data.end, fn, arg);
    }
}

void perf_each(const char *output, size_t len, perf_fn *fn, void *arg)
{
    struct piece below, data;
    struct piece line = piece_first_line(output, len, &below);
    piece_cut(line, '|', &data);
    read_data(data, fn, arg);
    piece_cut(below, '|', &data);
    read_data(data, fn, arg);
}
