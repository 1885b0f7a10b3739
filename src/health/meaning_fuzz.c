/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"
#include "health/meaning.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* What the kernel's log may say, and what an operator writes about it. The first byte says which: 'l' lines,
 * else a file, and behind a NUL lines. */

static void lines(const struct meanings *all, char *text)
{
    for (char *line; (line = strsep(&text, "\n"));) {
        struct finding f;
        struct meaning m;
        meaning_pid(line);
        if (!meaning_of(all, line, false, &f, &m))
            continue;
        assert(*f.code && f.result >= RESULT_OK && f.result == m.result && strcmp(f.code, m.code) == 0);
        for (size_t i = 0, step; f.text[i]; i += step) {
            step = text_utf8(f.text + i);
            assert(step > 0 && (unsigned char)f.text[i] >= ' ');
        }
    }
}

static void known(void *all, const struct meaning *m)
{
    assert(*m->code && *m->what && *m->source);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    CLEANUP_FREE char *text = mem_dup_len((const char *)data + 1, size - 1);
    size_t first = strlen(text);
    const char *file = data[0] == 'l' ? "" : text;
    char *rest = data[0] == 'l' ? text : text + (first < size - 1 ? first + 1 : first);
    struct err e = {0};
    struct meanings *all = meanings_parse("m", file, strlen(file), &e);
    assert(all || (e.code < 0 && *e.msg));
    if (!all)
        return 0;
    lines(all, rest);
    meanings_each(all, known, all);
    meanings_destroy(all);
    return 0;
}
