/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/shape.h"

#include "driver/slurm_view.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>

enum { SHAPE_WORDS_MAX = 12 };

static const struct shape {
    bool changes;
    const char *words[SHAPE_WORDS_MAX + 1];
} shapes[] = {
#define SHAPE(changes, ...) {changes, {__VA_ARGS__}},
#include "exec/slurm.tbl"
#undef SHAPE
};

static const struct kind {
    const char *name, *also;
    size_t least, most;
} kinds[] = {
#define KIND(name, also, least, most) {name, also, least, most},
#include "exec/kind.tbl"
#undef KIND
};

static const struct kind *kind_get(const char *name)
{
    size_t i = 0;
    while (i < sizeof kinds / sizeof *kinds && strcmp(kinds[i].name, name) != 0)
        i++;
    assert(i < sizeof kinds / sizeof *kinds);
    return &kinds[i];
}

static bool kind_has(const struct kind *k, const char *s)
{
    size_t len = strlen(s);
    if (len < k->least || len > k->most)
        return false;
    for (; k->also && *s; s++)
        if (!isascii((unsigned char)*s) || !(isalnum((unsigned char)*s) || strchr(k->also, *s)))
            return false;
    return true;
}

static bool word_fits(const char *pattern, const char *word)
{
    const char *mark = strchr(pattern, '@');
    if (!mark)
        return strcmp(pattern, word) == 0;
    size_t before = (size_t)(mark - pattern);
    if (before == 0 && *word == '-') /* an option */
        return false;
    return strncmp(pattern, word, before) == 0 && kind_has(kind_get(mark + 1), word + before);
}

/* How many words fit; SIZE_MAX: all, and no word is missing. */
static size_t shape_fit(const struct shape *s, const char *const *words, size_t n)
{
    size_t i = 0;
    while (i < n && s->words[i] && word_fits(s->words[i], words[i]))
        i++;
    return i == n && !s->words[i] ? SIZE_MAX : i;
}

int shape_check(const char *const *words, size_t n, bool *changes, struct err *e)
{
    assert(!words[n]);
    size_t best = 0;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        size_t fit = shape_fit(&shapes[i], words, n);
        if (fit == SIZE_MAX) {
            *changes = shapes[i].changes;
            return 0;
        }
        best = fit > best ? fit : best;
    }
    if (best == n)
        return err_set(e, -EPERM, "no call of Slurm ends so");
    return err_set(e, -EPERM, "no call of Slurm has \"%.100s\" as word %zu", words[best], best + 1);
}
