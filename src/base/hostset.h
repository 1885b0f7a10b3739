/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_BASE_HOSTSET_H
#define FETTLE_BASE_HOSTSET_H

#include "base/hostlist.h"
#include "base/text.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Inside of hostlist: a set of host names, each cut into a pattern and the numbers in it
 * ("r1n02" is 1 and 02 in "r%sn%s"), in the order and with the folding of nodeset.
 *
 * Use: hostset_operator and hostset_add... for each operand from left to right, hostset_settle,
 * then the writers.
 */

/* A number as it is written: the count of its digits, then its value, in one word. Words compare in nodeset's
 * order (shorter first, then by value), and "7" and "07" differ. */
enum { HOSTNUMBER_DIGITS_MAX = 17 };
static const int HOSTNUMBER_VALUE_BITS = 57; /* 10^17 < 2^57 */

static inline uint64_t hostnumber(unsigned digits, uint64_t value)
{
    return (uint64_t)digits << HOSTNUMBER_VALUE_BITS | value;
}
static inline unsigned hostnumber_digits(uint64_t number)
{
    return (unsigned)(number >> HOSTNUMBER_VALUE_BITS);
}
static inline uint64_t hostnumber_value(uint64_t number)
{
    return number & ((UINT64_C(1) << HOSTNUMBER_VALUE_BITS) - 1);
}
/* How many digits the value needs. */
unsigned hostnumber_width(uint64_t value);

struct hostset_pattern;

struct hostset {
    struct hostset_pattern *patterns; /* hash table by text */
    struct hostset_pattern *recent;   /* the pattern that was added to last */
    struct text operators;            /* one character per operand */
    struct text scratch;
    uint64_t *numbers; /* scratch for the name being cut */
    size_t expected;   /* how many names to expect, most of one pattern; 0: unknown */
    size_t numbers_cap;
};

void hostset_fini(struct hostset *s);

/* Begins the next operand: the names added from here on. op (one of ",!&^") is its operator. */
void hostset_operator(struct hostset *s, char op);

/* Adds one name without changing it. */
void hostset_add(struct hostset *s, const char *name, size_t len);

/* Adds the name made of a pattern ("%s" for each of n numbers, "%%" for "%") and its numbers. */
void hostset_add_numbers(struct hostset *s, const char *pattern, size_t len, const uint64_t *numbers,
                         size_t n);

/* Adds literal text to a pattern, with its runs of digits as numbers. Returns how many numbers it wrote;
 * `numbers` has room for (len + 1) / 2. */
size_t hostset_cut(struct text *pattern, const char *s, size_t len, uint64_t *numbers);

/* Carries out the operators, sorts, and folds several dimensions. Nothing may be added afterwards. */
void hostset_settle(struct hostset *s);

/* Both need hostset_settle first. hostset_next gives each name in order and false after the last;
 * hostset_fold gives the folded list. */
struct hostset_at {
    const struct hostset_pattern *pattern;
    size_t block;
    size_t *choice; /* the position in each dimension of the block */
};
void hostset_begin(const struct hostset *s, struct hostset_at *at);
bool hostset_next(struct hostset_at *at, struct text *name);
void hostset_at_fini(struct hostset_at *at);
void hostset_fold(const struct hostset *s, struct text *out);

/* Writes numbers (sorted, each once) as "1-3,07,9". */
void hostset_write_range(struct text *out, const uint64_t *numbers, size_t n);

#endif
