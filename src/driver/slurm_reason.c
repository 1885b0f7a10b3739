/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/slurm_reason.h"

#include "base/digest.h"
#include "base/text.h"

#include <assert.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

enum { SUM_BYTES = 7 }; /* ":9f3c]" */

static const char token[] = "fettle:";

/* Copies a word of these characters at s. Returns the text after it; NULL when the word is empty or too
 * long. */
static const char *word_copy(const char *s, const char *characters, char *out, size_t size)
{
    size_t n = strspn(s, characters);
    if (n == 0 || n >= size)
        return NULL;
    memcpy(out, s, n);
    out[n] = '\0';
    return s + n;
}

/* Reads "fettle:OWNER:CLAIM" at s. Returns the text after it, or NULL. */
static const char *claim_parse(const char *s, const char *owner, char claim[static SLURM_CLAIM_BYTES])
{
    size_t len = strlen(owner);
    if (strncmp(s, token, sizeof token - 1) != 0)
        return NULL;
    s += sizeof token - 1;
    if (strncmp(s, owner, len) != 0 || s[len] != ':')
        return NULL;
    return word_copy(s + len + 1, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_", claim,
                     SLURM_CLAIM_BYTES);
}

/* Reads "[PROBLEM]" at s. Returns the text after it; NULL, and no problem, otherwise. */
static const char *problem_parse(const char *s, char problem[static SLURM_PROBLEM_BYTES])
{
    const char *end =
        *s == '[' ? word_copy(s + 1, "abcdefghijklmnopqrstuvwxyz_", problem, SLURM_PROBLEM_BYTES) : NULL;
    if (end && *end == ']')
        return end + 1;
    problem[0] = '\0';
    return NULL;
}

/* The last "[fettle:" of the reason at the start of a word; NULL when there is none. */
static const char *mark_find(const char *reason)
{
    const char *last = NULL;
    for (const char *s = strstr(reason, "[fettle:"); s; s = strstr(s + 1, "[fettle:"))
        if (s == reason || s[-1] == ' ')
            last = s;
    return last;
}

/* Reads "[PROBLEM] " right before the mark; without it there is no problem. */
static void problem_find(const char *reason, const char *mark, char problem[static SLURM_PROBLEM_BYTES])
{
    const char *at = mark;
    while (at > reason && *at != ']')
        at--;
    while (at > reason && *at != '[')
        at--;
    const char *end = problem_parse(at, problem);
    if (end && end + 1 != mark)
        problem[0] = '\0';
}

/* ":SUM]" of the `len` bytes before the mark. */
static void sum_format(const char *reason, size_t len, char out[static SUM_BYTES])
{
    snprintf(out, SUM_BYTES, ":%04x]", (unsigned)(digest_fnv(DIGEST_FNV_START, reason, len) & 0xffff));
}

/* "words [PROBLEM] [fettle:OWNER:CLAIM:SUM]", and Slurm's addition. */
static bool reason_parse(const char *reason, const char *owner, struct slurm_mark *out)
{
    char sum[SUM_BYTES];
    const char *mark = mark_find(reason), *rest = mark ? claim_parse(mark + 1, owner, out->claim) : NULL;
    if (!rest)
        return false;
    sum_format(reason, mark > reason ? (size_t)(mark - reason) - 1 : 0, sum);
    size_t len = strlen(sum);
    if (strncmp(rest, sum, len) != 0 || (rest[len] && strncmp(rest + len, " : ", 3) != 0))
        return false;
    problem_find(reason, mark, out->problem);
    return true;
}

/* "fettle:OWNER:CLAIM [PROBLEM] words", as earlier versions wrote it. */
static bool reason_parse_old(const char *reason, const char *owner, struct slurm_mark *out)
{
    const char *rest = claim_parse(reason, owner, out->claim);
    if (!rest || (*rest && *rest != ' '))
        return false;
    out->problem[0] = '\0';
    if (*rest)
        problem_parse(rest + 1, out->problem);
    return true;
}

bool slurm_read_mark(const char *reason, const char *owner, struct slurm_mark *out)
{
    struct slurm_mark mark;
    if (!reason_parse(reason, owner, &mark) && !reason_parse_old(reason, owner, &mark))
        return false;
    *out = mark;
    return true;
}

/* Adds one character of the words, made harmless if Slurm or a shell could misread it. Returns its length; 0
 * when it is not UTF-8. */
static size_t character_add(struct text *t, const char *s)
{
    size_t len;
    uint32_t c = text_character(s, &len);
    if (len == 0)
        text_add_char(t, '?'); /* not UTF-8 */
    else if (text_misleads(c))
        text_add_char(t, ' ');
    else if (len > 1 || !strchr("\"'`\\", (char)c))
        text_add_bytes(t, s, len);
    return len;
}

/* Adds at most `max` bytes of the words, in whole characters, without blanks at the end. */
static void words_add(struct text *t, const char *words, size_t max)
{
    for (const char *s = words; *s;) {
        size_t before = t->len, len = character_add(t, s);
        if (t->len > max) {
            t->len = before;
            break;
        }
        s += len ? len : 1;
    }
    while (t->len > 0 && t->s[t->len - 1] == ' ')
        t->len--;
}

void slurm_write_reason(const char *owner, const struct slurm_mark *mark, const char *words,
                        char out[static SLURM_REASON_BYTES])
{
    assert(strlen(owner) <= 12);
    CLEANUP_TEXT struct text t = {0}, problem = {0}, end = {0};
    char sum[SUM_BYTES];
    if (mark->problem[0])
        text_printf(&problem, " [%s]", mark->problem);
    text_printf(&end, " [%s%s:%s", token, owner, mark->claim);
    words_add(&t, words, SLURM_REASON_BYTES - SUM_BYTES - problem.len - end.len);
    if (problem.len)
        text_add(&t, t.len ? problem.s : problem.s + 1);
    sum_format(t.len ? t.s : "", t.len, sum);
    text_add(&t, t.len ? end.s : end.s + 1);
    text_add(&t, sum);
    memcpy(out, t.s, t.len + 1);
}

bool slurm_is_own_reason(const char *reason)
{
    static const char *const patterns[] = {
#define OWN(pattern) pattern,
#include "driver/slurm_own.tbl"
#undef OWN
    };
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        if (fnmatch(patterns[i], reason, FNM_NOESCAPE) == 0)
            return true;
    return false;
}
