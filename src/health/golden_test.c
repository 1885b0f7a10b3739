/* SPDX-License-Identifier: Apache-2.0 */
#include "health/golden_test.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char *read_file(const char *path)
{
    struct text t = {0};
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    for (size_t n = 1; n > 0; t.len += n)
        n = fread(text_room(&t, 4096), 1, 4096, f);
    fclose(f);
    text_add(&t, "");
    return text_take(&t);
}

void golden_play(const char *name, play_fn *play)
{
    char path[512];
    snprintf(path, sizeof path, TEST_DATA "/%s", name);
    CLEANUP_FREE char *file = read_file(path);
    CLEANUP_FREE char *copy = mem_dup(file);
    CLEANUP_TEXT struct text out = {0};
    const char *mode = getenv("FETTLE_GOLDEN");
    play(copy, &out);
    if (mode && strcmp(mode, "write") == 0) {
        FILE *f = fopen(path, "w");
        assert_non_null(f);
        fputs(out.s, f);
        fclose(f);
        return;
    }
    assert_string_equal(out.s, file);
}
