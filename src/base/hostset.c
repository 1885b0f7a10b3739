/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hostset.h"

#include "base/hostfold.h"
#include "base/table.h"

#include <stdlib.h>
#include <string.h>

/*
 * The names of every operand are stored as items of their pattern, each with the number of its operand, and
 * examined only once, in hostset_settle. Once sorted, the items of one name stand side by side in the order
 * of their operands, so its membership follows from reading the operators for this name alone. An operand
 * that lacks the name changes something only when it is an intersection; a running count tells how many
 * intersections there were. Operands joined by "," act as one.
 *
 * A run of more than HOSTNUMBER_DIGITS_MAX digits is text, not a number: nothing folds over it.
 */

struct item {
    uint64_t first; /* the number; 0 when the name has none */
    uint32_t at;    /* the row among the pattern's numbers, when it has two or more dimensions */
    uint32_t operand;
};

struct hostset_pattern {
    char *text;
    size_t len, dims;
    struct item *items;
    size_t n, cap;
    uint64_t *rows; /* in order of arrival before settling (two or more dimensions), then sorted */
    size_t rows_n, rows_cap;
    struct hostfold fold;
    UT_hash_handle hh;
};

unsigned hostnumber_width(uint64_t value)
{
    unsigned digits = 1;
    for (; value >= 10; value /= 10)
        digits++;
    return digits;
}

void hostset_fini(struct hostset *s)
{
    struct hostset_pattern *p, *next;
    HASH_ITER (hh, s->patterns, p, next) {
        HASH_DEL(s->patterns, p);
        hostfold_fini(&p->fold);
        free(p->text);
        free(p->items);
        free(p->rows);
        free(p);
    }
    text_fini(&s->operators);
    text_fini(&s->scratch);
    free(s->numbers);
    *s = (struct hostset){0};
}

void hostset_operator(struct hostset *s, char op)
{
    size_t n = s->operators.len;
    if (n == 0 || op != ',' || s->operators.s[n - 1] != ',')
        text_add_char(&s->operators, op);
}

static void *hostset_grow(void *items, size_t size, size_t need, size_t *cap)
{
    if (need <= *cap)
        return items;
    *cap = need < 4 ? 4 : need * 2;
    return mem_grow(items, *cap * size);
}

static struct hostset_pattern *pattern_get(struct hostset *s, const char *text, size_t len, size_t dims)
{
    struct hostset_pattern *p = s->recent;
    if (p && p->len == len && memcmp(p->text, text, len) == 0)
        return p;
    HASH_FIND(hh, s->patterns, text, len, p);
    if (!p) {
        p = mem_alloc(sizeof *p);
        p->text = mem_dup_len(text, len);
        p->len = len;
        p->dims = dims;
        if (!s->patterns)
            p->items = hostset_grow(NULL, sizeof *p->items, s->expected / 2, &p->cap);
        HASH_ADD_KEYPTR(hh, s->patterns, p->text, p->len, p);
    }
    s->recent = p;
    return p;
}

static void add_row(struct hostset_pattern *p, const uint64_t *numbers)
{
    size_t used = p->rows_n * p->dims;
    p->rows = hostset_grow(p->rows, sizeof *p->rows, used + p->dims, &p->rows_cap);
    memcpy(p->rows + used, numbers, p->dims * sizeof *numbers);
    p->rows_n++;
}

void hostset_add_numbers(struct hostset *s, const char *pattern, size_t len, const uint64_t *numbers,
                         size_t n)
{
    struct hostset_pattern *p = pattern_get(s, pattern, len, n);
    p->items = hostset_grow(p->items, sizeof *p->items, p->n + 1, &p->cap);
    p->items[p->n++] = (struct item){
        .first = n ? numbers[0] : 0, .at = (uint32_t)p->rows_n, .operand = (uint32_t)(s->operators.len - 1)};
    if (n > 1)
        add_row(p, numbers);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

size_t hostset_cut(struct text *pattern, const char *s, size_t len, uint64_t *numbers)
{
    size_t n = 0;
    for (size_t i = 0; i < len;) {
        size_t run = i;
        uint64_t value = 0;
        for (; run < len && is_digit(s[run]); run++)
            value = value * 10 + (uint64_t)(s[run] - '0');
        if (run > i && run - i <= HOSTNUMBER_DIGITS_MAX) {
            numbers[n++] = hostnumber((unsigned)(run - i), value);
            text_add_bytes(pattern, "%s", 2);
            i = run;
            continue;
        }
        while (run < len && !is_digit(s[run]) && s[run] != '%')
            run++;
        text_add_bytes(pattern, s + i, run - i);
        i = run;
        if (i < len && s[i] == '%') {
            text_add_bytes(pattern, "%%", 2);
            i++;
        }
    }
    return n;
}

void hostset_add(struct hostset *s, const char *name, size_t len)
{
    if (len == 0)
        return;
    s->numbers = hostset_grow(s->numbers, sizeof *s->numbers, len / 2 + 1, &s->numbers_cap);
    text_clear(&s->scratch);
    size_t n = hostset_cut(&s->scratch, name, len, s->numbers);
    hostset_add_numbers(s, s->scratch.s, s->scratch.len, s->numbers, n);
}

/* Orders two items by all their numbers, without their operands. */
static int compare_names(const struct item *a, const struct item *b, const struct hostset_pattern *p)
{
    if (a->first != b->first)
        return a->first < b->first ? -1 : 1;
    for (size_t d = 1; d < p->dims; d++) {
        uint64_t x = p->rows[a->at * p->dims + d], y = p->rows[b->at * p->dims + d];
        if (x != y)
            return x < y ? -1 : 1;
    }
    return 0;
}

static int compare_items(const void *a, const void *b, void *pattern)
{
    const struct item *x = a, *y = b;
    int order = compare_names(x, y, pattern);
    return order ? order : (x->operand > y->operand) - (x->operand < y->operand);
}

static void sort_items(struct hostset_pattern *p)
{
    for (size_t i = 1; i < p->n; i++) {
        if (compare_items(&p->items[i - 1], &p->items[i], p) > 0) {
            qsort_r(p->items, p->n, sizeof *p->items, compare_items, p);
            return;
        }
    }
}

/* Applies the operators to one name, which is in n operands. cuts[k] is the number of intersections before
 * operand k. */
static bool is_member(const struct item *items, size_t n, const char *operators, const uint32_t *cuts,
                      uint32_t all_cuts)
{
    bool in = false;
    for (size_t i = 0; i < n; i++) {
        uint32_t k = items[i].operand;
        if (i > 0 && items[i - 1].operand == k)
            continue;
        char op = operators[k];
        if (i > 0) {
            uint32_t was = items[i - 1].operand;
            in = in && cuts[k] - cuts[was] == (operators[was] == '&' ? 1 : 0);
        }
        in = op == ',' || (op == '&' && in) || (op == '^' && !in);
    }
    uint32_t last = items[n - 1].operand;
    return in && all_cuts - cuts[last] == (operators[last] == '&' ? 1 : 0);
}

/* Reduces the pattern to the sorted rows of the names that are members. */
static void settle_members(struct hostset_pattern *p, const char *operators, const uint32_t *cuts,
                           uint32_t all_cuts)
{
    size_t width = p->dims ? p->dims : 1;
    uint64_t *rows = mem_grow(NULL, p->n * width * sizeof *rows);
    size_t n = 0;
    for (size_t i = 0, end; i < p->n; i = end) {
        const struct item *item = &p->items[i];
        for (end = i + 1; end < p->n && compare_names(item, &p->items[end], p) == 0;)
            end++;
        if (!is_member(item, end - i, operators, cuts, all_cuts))
            continue;
        const uint64_t *row = p->dims > 1 ? p->rows + item->at * p->dims : &item->first;
        memcpy(rows + n * width, row, width * sizeof *rows);
        n++;
    }
    free(p->rows);
    free(p->items);
    p->rows = rows;
    p->rows_n = n;
    p->items = NULL;
    p->n = p->cap = p->rows_cap = 0;
}

static int compare_patterns(const struct hostset_pattern *a, const struct hostset_pattern *b)
{
    int order = memcmp(a->text, b->text, a->len < b->len ? a->len : b->len);
    return order ? order : (a->len > b->len) - (a->len < b->len);
}

void hostset_settle(struct hostset *s)
{
    const char *operators = s->operators.s;
    uint32_t *cuts = mem_alloc(s->operators.len * sizeof *cuts);
    uint32_t all_cuts = 0;
    for (size_t i = 0; i < s->operators.len; i++) {
        cuts[i] = all_cuts;
        all_cuts += operators[i] == '&';
    }
    for (struct hostset_pattern *p = s->patterns; p; p = p->hh.next) {
        sort_items(p);
        settle_members(p, operators, cuts, all_cuts);
        if (p->dims > 0 && p->rows_n > 0)
            hostfold_init(&p->fold, p->rows, p->rows_n, p->dims);
    }
    free(cuts);
    HASH_SORT(s->patterns, compare_patterns);
}

static void write_number(struct text *out, unsigned digits, uint64_t value)
{
    char *at = text_room(out, digits);
    at[digits] = '\0';
    for (unsigned i = digits; i > 0; i--, value /= 10)
        at[i - 1] = (char)('0' + value % 10);
    out->len += digits;
}

/* Writes a pattern; put writes the numbers of dimension d. */
typedef void (*put_fn)(struct text *out, const struct hostfold_range *ranges, const size_t *choice, size_t d);

static void write_pattern(struct text *out, const struct hostset_pattern *p,
                          const struct hostfold_range *ranges, const size_t *choice, put_fn put)
{
    size_t d = 0;
    const char *end = p->text + p->len;
    for (const char *at = p->text; at < end;) {
        const char *percent = memchr(at, '%', (size_t)(end - at));
        if (!percent)
            percent = end;
        text_add_bytes(out, at, (size_t)(percent - at));
        if (percent == end)
            break;
        if (percent[1] == 's')
            put(out, ranges, choice, d++);
        else
            text_add_char(out, '%');
        at = percent + 2;
    }
}

static void put_choice(struct text *out, const struct hostfold_range *ranges, const size_t *choice, size_t d)
{
    uint64_t number = ranges[d].numbers[choice[d]];
    write_number(out, hostnumber_digits(number), hostnumber_value(number));
}

static void put_range(struct text *out, const struct hostfold_range *ranges, const size_t *choice, size_t d)
{
    if (ranges[d].n > 1)
        text_add_char(out, '[');
    hostset_write_range(out, ranges[d].numbers, ranges[d].n);
    if (ranges[d].n > 1)
        text_add_char(out, ']');
}

/* The next combination, last dimension fastest; false after the last. */
static bool next_choice(size_t *choice, const struct hostfold_range *ranges, size_t dims)
{
    for (size_t d = dims; d > 0; d--) {
        if (++choice[d - 1] < ranges[d - 1].n)
            return true;
        choice[d - 1] = 0;
    }
    return false;
}

void hostset_begin(const struct hostset *s, struct hostset_at *at)
{
    *at = (struct hostset_at){.pattern = s->patterns};
}

void hostset_at_fini(struct hostset_at *at)
{
    free(at->choice);
    *at = (struct hostset_at){0};
}

/* True when the pattern has another block; its first combination is next. */
static bool has_block(struct hostset_at *at)
{
    const struct hostset_pattern *p = at->pattern;
    size_t blocks = p->rows_n == 0 ? 0 : p->dims ? p->fold.blocks : 1;
    if (!at->choice)
        at->choice = mem_alloc(p->dims * sizeof *at->choice);
    return at->block < blocks;
}

bool hostset_next(struct hostset_at *at, struct text *name)
{
    while (at->pattern && !has_block(at)) {
        const struct hostset_pattern *next = at->pattern->hh.next;
        hostset_at_fini(at);
        at->pattern = next;
    }
    const struct hostset_pattern *p = at->pattern;
    if (!p)
        return false;
    const struct hostfold_range *ranges = p->dims ? p->fold.ranges + at->block * p->dims : NULL;
    text_clear(name);
    write_pattern(name, p, ranges, at->choice, put_choice);
    if (!next_choice(at->choice, ranges, p->dims))
        at->block++;
    return true;
}

void hostset_fold(const struct hostset *s, struct text *out)
{
    for (const struct hostset_pattern *p = s->patterns; p; p = p->hh.next) {
        size_t blocks = p->rows_n == 0 ? 0 : p->dims ? p->fold.blocks : 1;
        for (size_t b = 0; b < blocks; b++) {
            if (out->len > 0)
                text_add_char(out, ',');
            write_pattern(out, p, p->dims ? p->fold.ranges + b * p->dims : NULL, NULL, put_range);
        }
    }
}

/* A run of numbers at equal distance, being read. nodeset writes a run as first-last only when the distance
 * is 1, but the padding of the first number carries on over any distance: 08 and 10 to 100 are
 * "08,10-99,100", whereas 10 to 100 alone are "10-100". */
struct run {
    uint64_t first, last;
    uint64_t step; /* 0 until the second number */
    unsigned digits;
    bool padded;
    size_t start; /* where the run begins in the text of all runs */
};

static void write_value(struct text *out, const struct run *run, uint64_t value)
{
    write_number(out, run->padded ? run->digits : hostnumber_width(value), value);
}

/* Writes the run's numbers up to and including end. */
static void write_run(struct text *out, const struct run *run, uint64_t end)
{
    uint64_t each = run->step > 1 ? run->step : end - run->first + 1;
    for (uint64_t value = run->first; value <= end; value += each) {
        if (out->len > run->start)
            text_add_char(out, ',');
        write_value(out, run, value);
    }
    if (run->step == 1) {
        text_add_char(out, '-');
        write_value(out, run, end);
    }
}

static void start_run(struct run *run, uint64_t number)
{
    run->first = run->last = hostnumber_value(number);
    run->digits = hostnumber_digits(number);
    run->padded = run->digits > hostnumber_width(run->last);
    run->step = 0;
}

void hostset_write_range(struct text *out, const uint64_t *numbers, size_t n)
{
    struct run run = {.start = out->len};
    start_run(&run, numbers[0]);
    for (size_t i = 1; i < n; i++) {
        uint64_t value = hostnumber_value(numbers[i]);
        unsigned digits = hostnumber_digits(numbers[i]);
        bool other_padding = run.padded ? digits != run.digits : digits > hostnumber_width(value);
        bool other_step = !other_padding && run.step > 0 && run.step != value - run.last;
        uint64_t gap = value - run.last;

        if (!other_padding && !other_step) {
            run.step = gap;
            run.last = value;
        } else if (other_padding || run.step == 1) {
            write_run(out, &run, run.last);
            start_run(&run, numbers[i]);
        } else { /* the last number of a wider step may begin a run */
            write_run(out, &run, run.last - run.step);
            run.first = run.last;
            run.last = value;
            run.step = gap;
        }
    }
    write_run(out, &run, run.last);
}
