/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hostlist.h"

#include "base/hostset.h"
#include "base/text.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/*
 * Parser of written lists. An operand ("r1n[01-16]-ib") becomes a pattern and, for each dimension, the
 * numbers in it. Every combination goes into a hostset, which knows about order, operators and folding.
 *
 * As in nodeset, digits beside a bracket belong to the numbers in it: "n[1-3]0" is "n[10-30/10]", and
 * "n1[2-3]" is "n[12-13]". Leading digits are put before both ends of each range, so that "n1[9-10]" is
 * "n[19-110]", as nodeset answers.
 *
 * Not taken from nodeset: negative numbers, signs and underscores in numbers, more than HOSTNUMBER_DIGITS_MAX
 * digits in brackets, and wildcards, which ask group sources as "@" does.
 */

static const char SPACE[] = " \t\n\r\v\f";
static const char OPERATORS[] = ",!&^";

enum {
    NUMBERS_MAX = 4 * HOSTLIST_HOSTS_MAX
}; /* numbers in all names read; bounds the memory of many
      dimensions */
enum {
    WRITTEN_MAX = 4
}; /* numbers in one bracket, as a multiple of the most hosts, because a number may be written repeatedly */

struct numbers {
    uint64_t *v;
    size_t n, cap;
    size_t hosts_max; /* the most hosts that the list may have */
};

/* The operand being read. */
struct operand {
    struct text pattern;
    struct numbers numbers; /* the numbers of all dimensions, one dimension after the other */
    size_t *ends;           /* where each dimension ends in numbers */
    size_t dims, ends_cap;
    size_t hosts; /* the product of the dimensions so far */
    size_t name_bytes_max;
};

struct reader {
    struct hostset set;
    struct operand operand;
    size_t hosts, numbers; /* read so far, before any operator */
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_space(char c)
{
    return c != '\0' && strchr(SPACE, c);
}

/* A piece of the text, as sentences show it. */
struct piece {
    const char *s;
    size_t len;
};
#define SHOWN(p) (int)((p).len > 80 ? 80 : (p).len), (p).s

static struct piece hostparse_trim(struct piece p)
{
    while (p.len > 0 && is_space(*p.s)) {
        p.s++;
        p.len--;
    }
    while (p.len > 0 && is_space(p.s[p.len - 1]))
        p.len--;
    return p;
}

/* Takes the text before c off *rest, or all of it. */
static struct piece hostparse_split(struct piece *rest, char c)
{
    const char *at = memchr(rest->s, c, rest->len);
    struct piece first = {rest->s, at ? (size_t)(at - rest->s) : rest->len};
    size_t taken = first.len + (at ? 1 : 0);
    *rest = (struct piece){rest->s + taken, rest->len - taken};
    return first;
}

static int parse_number(struct piece text, struct piece range, uint64_t *value, struct err *e)
{
    if (text.len == 0)
        return err_set(e, -EINVAL, "a number is missing in range \"%.*s\"", SHOWN(range));
    *value = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (!is_digit(text.s[i]))
            return err_set(e, -EINVAL, "\"%.*s\" in range \"%.*s\" is not a number", SHOWN(text),
                           SHOWN(range));
        if (i == HOSTNUMBER_DIGITS_MAX)
            return err_set(e, -EINVAL, "a number in range \"%.*s\" has more than %d digits", SHOWN(range),
                           HOSTNUMBER_DIGITS_MAX);
        *value = *value * 10 + (uint64_t)(text.s[i] - '0');
    }
    return 0;
}

static bool is_padded(struct piece number)
{
    return number.len > 1 && number.s[0] == '0';
}

static int too_many_hosts(const struct numbers *numbers, struct err *e)
{
    return err_set(e, -EINVAL, "the list has more than %zu hosts", numbers->hosts_max);
}

static int add_numbers(struct numbers *out, uint64_t first, uint64_t last, uint64_t step, unsigned pad,
                       struct err *e)
{
    assert(step > 0 && first <= last);
    uint64_t more = (last - first) / step + 1;
    if (more > out->hosts_max || out->n + more > NUMBERS_MAX)
        return too_many_hosts(out, e);
    if (out->n + more > out->cap) {
        out->cap = (out->n + more) * 2;
        out->v = mem_grow(out->v, out->cap * sizeof *out->v);
    }
    for (uint64_t i = 0, value = first; i < more; i++, value += step) {
        unsigned digits = hostnumber_width(value);
        out->v[out->n++] = hostnumber(digits < pad ? pad : digits, value);
    }
    return 0;
}

/* Reads one of the ranges between commas: "7", "01-10", "0-8/2". */
static int parse_range(struct piece range, struct numbers *out, struct err *e)
{
    range = hostparse_trim(range);
    if (range.len == 0)
        return err_set(e, -EINVAL, "there is an empty range");
    struct piece rest = range;
    struct piece bounds = hostparse_split(&rest, '/');
    struct piece step_text = hostparse_trim(rest);
    bool stepped = bounds.len < range.len;
    bool has_end = memchr(bounds.s, '-', bounds.len);
    struct piece end_text = bounds;
    struct piece first_text = hostparse_trim(hostparse_split(&end_text, '-'));
    end_text = has_end ? hostparse_trim(end_text) : first_text;

    uint64_t first, last, step = 1;
    int r = parse_number(first_text, range, &first, e);
    if (r == 0)
        r = parse_number(end_text, range, &last, e);
    if (r == 0 && stepped)
        r = parse_number(step_text, range, &step, e);
    if (r < 0)
        return r;
    if (step == 0 || (step != 1 && !has_end))
        return err_set(e, -EINVAL, "range \"%.*s\" has a wrong step", SHOWN(range));
    if ((is_padded(first_text) || (is_padded(end_text) && last > 0)) && first_text.len != end_text.len)
        return err_set(e, -EINVAL, "the ends of range \"%.*s\" are padded to different lengths",
                       SHOWN(range));
    if (first > last)
        return err_set(e, -EINVAL, "range \"%.*s\" runs backwards", SHOWN(range));
    return add_numbers(out, first, last, step, is_padded(first_text) ? (unsigned)first_text.len : 0, e);
}

static int parse_ranges(struct piece ranges, struct numbers *out, struct err *e)
{
    size_t from = out->n;
    bool more = true;
    while (more) {
        more = memchr(ranges.s, ',', ranges.len);
        int r = parse_range(hostparse_split(&ranges, ','), out, e);
        if (r < 0)
            return r;
        if (out->n - from > WRITTEN_MAX * out->hosts_max)
            return too_many_hosts(out, e);
    }
    return 0;
}

static int compare_numbers(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void sort_numbers(struct numbers *numbers, size_t from)
{
    assert(numbers->n > from);
    uint64_t *v = numbers->v + from;
    size_t n = numbers->n - from, kept = 1;
    for (size_t i = 1; i < n; i++) {
        if (v[i - 1] >= v[i]) {
            qsort(v, n, sizeof *v, compare_numbers);
            break;
        }
    }
    for (size_t i = 1; i < n; i++)
        if (v[i] != v[kept - 1])
            v[kept++] = v[i];
    numbers->n = from + kept;
}

/* Appends the digits that follow a bracket to every number in it. */
static int append_digits(struct text *ranges, struct piece digits, struct err *e)
{
    if (strchr(ranges->s, '/'))
        return err_set(e, -EINVAL, "digits (\"%.*s\") follow a bracket with a step", SHOWN(digits));
    CLEANUP_TEXT struct text out = {0};
    bool more = true;
    for (struct piece rest = {ranges->s, ranges->len}; more;) {
        more = memchr(rest.s, ',', rest.len);
        struct piece last = hostparse_split(&rest, ',');
        bool has_end = memchr(last.s, '-', last.len);
        while (memchr(last.s, '-', last.len)) {
            struct piece first = hostparse_split(&last, '-');
            text_add_bytes(&out, first.s, first.len);
            text_add_bytes(&out, digits.s, digits.len);
            text_add_char(&out, '-');
        }
        text_add_bytes(&out, last.s, last.len);
        text_add_bytes(&out, digits.s, digits.len);
        if (has_end)
            text_add(&out, "/1");
        for (size_t i = 0; has_end && i < digits.len; i++)
            text_add_char(&out, '0');
        if (more)
            text_add_char(&out, ',');
    }
    text_clear(ranges);
    text_add_bytes(ranges, out.s, out.len);
    return 0;
}

/* Puts the digits before a bracket in front of every number in it, after folding. */
static int prepend_digits(struct text *ranges, struct piece digits, size_t hosts_max, struct err *e)
{
    struct numbers inside = {.hosts_max = hosts_max};
    int r = parse_ranges((struct piece){ranges->s, ranges->len}, &inside, e);
    if (r == 0) {
        CLEANUP_TEXT struct text folded = {0};
        sort_numbers(&inside, 0);
        hostset_write_range(&folded, inside.v, inside.n);
        text_clear(ranges);
        for (size_t i = 0; i < folded.len; i++) {
            if (i == 0 || !is_digit(folded.s[i - 1]))
                text_add_bytes(ranges, digits.s, digits.len);
            text_add_char(ranges, folded.s[i]);
        }
    }
    free(inside.v);
    return r;
}

static void clear_operand(struct operand *o)
{
    text_clear(&o->pattern);
    o->numbers.n = 0;
    o->dims = 0;
    o->hosts = 1;
    o->name_bytes_max = 0;
}

static void end_dimension(struct operand *o, size_t end)
{
    if (o->dims == o->ends_cap) {
        o->ends_cap = o->ends_cap ? o->ends_cap * 2 : 8;
        o->ends = mem_grow(o->ends, o->ends_cap * sizeof *o->ends);
    }
    o->ends[o->dims++] = end;
}

static void add_literal(struct operand *o, struct piece text)
{
    struct numbers *all = &o->numbers;
    if (all->n + text.len / 2 + 1 > all->cap) {
        all->cap = (all->n + text.len / 2 + 1) * 2;
        all->v = mem_grow(all->v, all->cap * sizeof *all->v);
    }
    size_t more = hostset_cut(&o->pattern, text.s, text.len, all->v + all->n);
    for (size_t i = 0; i < more; i++)
        end_dimension(o, ++all->n);
    o->name_bytes_max += text.len;
}

static int add_ranges(struct operand *o, struct piece ranges, struct err *e)
{
    size_t from = o->numbers.n;
    int r = parse_ranges(ranges, &o->numbers, e);
    if (r < 0)
        return r;
    sort_numbers(&o->numbers, from);
    text_add(&o->pattern, "%s");
    end_dimension(o, o->numbers.n);
    o->hosts *= o->numbers.n - from;
    o->name_bytes_max += hostnumber_digits(o->numbers.v[o->numbers.n - 1]);
    return o->hosts > o->numbers.hosts_max ? too_many_hosts(&o->numbers, e) : 0;
}

static struct piece take_leading_digits(struct piece *text)
{
    struct piece digits = {text->s, 0};
    while (digits.len < text->len && is_digit(digits.s[digits.len]))
        digits.len++;
    *text = (struct piece){text->s + digits.len, text->len - digits.len};
    return digits;
}

static struct piece take_trailing_digits(struct piece *text)
{
    size_t len = text->len;
    while (len > 0 && is_digit(text->s[len - 1]))
        len--;
    struct piece digits = {text->s + len, text->len - len};
    text->len = len;
    return digits;
}

/* Takes "PREFIX[RANGES]" and the digits after it off *rest. */
static int read_bracket(struct operand *o, struct piece *rest, struct err *e)
{
    bool first = o->dims == 0 && o->pattern.len == 0;
    struct piece prefix = hostparse_split(rest, '[');
    if (memchr(prefix.s, ']', prefix.len))
        return err_set(e, -EINVAL, "a bracket is closed that is not open");
    if (prefix.len == 0 && !first)
        return err_set(e, -EINVAL, "a bracket follows another one directly");
    if (!memchr(rest->s, ']', rest->len))
        return err_set(e, -EINVAL, "a bracket is not closed");
    struct piece inside = hostparse_split(rest, ']');
    struct piece after = take_leading_digits(rest);
    struct piece before = take_trailing_digits(&prefix);

    if (after.len > HOSTNUMBER_DIGITS_MAX || before.len > HOSTNUMBER_DIGITS_MAX)
        return err_set(e, -EINVAL, "more than %d digits are beside a bracket", HOSTNUMBER_DIGITS_MAX);
    CLEANUP_TEXT struct text ranges = {0};
    text_add_bytes(&ranges, inside.s, inside.len);
    int r = after.len > 0 ? append_digits(&ranges, after, e) : 0;
    if (r == 0 && before.len > 0)
        r = prepend_digits(&ranges, before, o->numbers.hosts_max, e);
    if (r < 0)
        return r;
    add_literal(o, prefix);
    return add_ranges(o, (struct piece){ranges.s, ranges.len}, e);
}

static int parse_operand(struct operand *o, struct piece text, struct err *e)
{
    clear_operand(o);
    if (text.s[0] == '@')
        return err_set(e, -EINVAL, "there are no groups here");
    if (memchr(text.s, '*', text.len) || memchr(text.s, '?', text.len))
        return err_set(e, -EINVAL, "there are no wildcards here");
    while (memchr(text.s, '[', text.len)) {
        int r = read_bracket(o, &text, e);
        if (r < 0)
            return r;
    }
    if (memchr(text.s, ']', text.len))
        return err_set(e, -EINVAL, "a bracket is closed that is not open");
    add_literal(o, text);
    if (o->name_bytes_max > HOSTLIST_NAME_BYTES_MAX)
        return err_set(e, -EINVAL, "a name is longer than %d bytes", HOSTLIST_NAME_BYTES_MAX);
    return 0;
}

/* Adds every combination of the operand's numbers, the last dimension fastest. */
static void expand_operand(struct hostset *set, const struct operand *o)
{
    CLEANUP_FREE size_t *at = mem_grow(NULL, o->dims * sizeof *at);
    CLEANUP_FREE uint64_t *row = mem_grow(NULL, o->dims * sizeof *row);
    for (size_t d = 0; d < o->dims; d++) {
        at[d] = d ? o->ends[d - 1] : 0;
        row[d] = o->numbers.v[at[d]];
    }
    for (size_t i = 0; i < o->hosts; i++) {
        hostset_add_numbers(set, o->pattern.s, o->pattern.len, row, o->dims);
        for (size_t d = o->dims; d > 0; d--) {
            bool wraps = ++at[d - 1] == o->ends[d - 1];
            if (wraps)
                at[d - 1] = d > 1 ? o->ends[d - 2] : 0;
            row[d - 1] = o->numbers.v[at[d - 1]];
            if (!wraps)
                break;
        }
    }
}

static int read_operand(struct reader *r, char op, struct piece text, struct err *e)
{
    struct operand *o = &r->operand;
    int rc = parse_operand(o, text, e);
    if (rc < 0)
        return err_wrap(e, rc, "\"%.*s\"", SHOWN(text));
    r->hosts += o->hosts;
    r->numbers += o->hosts * o->dims;
    if (r->hosts > o->numbers.hosts_max)
        return too_many_hosts(&o->numbers, e);
    if (r->numbers > NUMBERS_MAX)
        return err_set(e, -EINVAL, "the list has more than %d numbers in its names", NUMBERS_MAX);
    hostset_operator(&r->set, op);
    expand_operand(&r->set, o);
    return 0;
}

/* An operand ends at an operator or white space outside brackets. */
static size_t operand_length(const char *s)
{
    const char *p = s;
    for (; *p && !is_space(*p) && !strchr(OPERATORS, *p); p++) {
        const char *close = *p == '[' ? strchr(p, ']') : NULL;
        if (*p == '[' && !close)
            return strlen(s);
        if (close)
            p = close;
    }
    return (size_t)(p - s);
}

static int read_list(struct reader *r, const char *text, struct err *e)
{
    char op = ',';
    bool after_operand = false, after_operator = false;
    for (const char *p = text + strspn(text, SPACE); *p; p += strspn(p, SPACE)) {
        if (strchr(OPERATORS, *p)) {
            if (!after_operand)
                return err_set(e, -EINVAL, "there is no host before \"%c\"", *p);
            op = *p++;
            after_operand = false;
            after_operator = true;
            continue;
        }
        struct piece operand = {p, operand_length(p)};
        int rc = read_operand(r, op, operand, e);
        if (rc < 0)
            return rc;
        p += operand.len;
        op = ',';
        after_operand = true;
        after_operator = false;
    }
    if (after_operator)
        return err_set(e, -EINVAL, "there is no host after \"%c\"", op);
    return 0;
}

struct hostwalk {
    struct hostset set;
    struct hostset_at at;
    struct text name;
};

void hostwalk_destroy(struct hostwalk *w)
{
    if (!w)
        return;
    hostset_at_fini(&w->at);
    hostset_fini(&w->set);
    text_fini(&w->name);
    free(w);
}

const char *hostwalk_next(struct hostwalk *w)
{
    return hostset_next(&w->at, &w->name) ? w->name.s : NULL;
}

int hostwalk_create(const char *text, size_t hosts_max, struct hostwalk **out, struct err *e)
{
    if (strnlen(text, HOSTLIST_TEXT_BYTES_MAX + 1) > HOSTLIST_TEXT_BYTES_MAX)
        return err_set(e, -EINVAL, "the host list is longer than %d bytes", HOSTLIST_TEXT_BYTES_MAX);
    if (hosts_max > HOSTLIST_HOSTS_MAX)
        hosts_max = HOSTLIST_HOSTS_MAX;
    struct reader r = {.operand.numbers.hosts_max = hosts_max};
    int rc = read_list(&r, text, e);
    if (rc == 0) {
        hostset_settle(&r.set);
        *out = mem_alloc(sizeof **out);
        (*out)->set = r.set;
        r.set = (struct hostset){0};
        hostset_begin(&(*out)->set, &(*out)->at);
    }
    hostset_fini(&r.set);
    text_fini(&r.operand.pattern);
    free(r.operand.numbers.v);
    free(r.operand.ends);
    return rc;
}

int hostlist_parse_max(const char *text, size_t hosts_max, struct hostlist *h, struct err *e)
{
    assert(text && h);
    assert(h->n == 0);
    if (hosts_max > 0 && hostlist_name_ok(text)) { /* most lists are one name */
        hostlist_add(h, text);
        return 0;
    }
    struct hostwalk *w = NULL;
    int rc = hostwalk_create(text, hosts_max, &w, e);
    for (const char *name; rc == 0 && (name = hostwalk_next(w));)
        hostlist_add(h, name);
    hostwalk_destroy(w);
    return rc;
}

int hostlist_parse(const char *text, struct hostlist *h, struct err *e)
{
    return hostlist_parse_max(text, HOSTLIST_HOSTS_MAX, h, e);
}
