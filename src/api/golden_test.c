/* SPDX-License-Identifier: Apache-2.0 */
#include "api/golden_test.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void read_all(const char *path, struct text *t)
{
    FILE *f = fopen(path, "re");
    char buf[4096];
    text_add(t, "");
    for (size_t n; f && (n = fread(buf, 1, sizeof buf, f)) > 0;)
        text_add_bytes(t, buf, n);
    if (f)
        fclose(f);
}

static void write_all(const char *path, const struct text *t)
{
    FILE *f = fopen(path, "we");
    assert_non_null(f);
    assert_int_equal(fwrite(t->s, 1, t->len, f), t->len);
    fclose(f);
}

void golden_check(const char *name, const struct text *text)
{
    CLEANUP_TEXT struct text path = {0}, expected = {0};
    text_printf(&path, "%s/%s", TEST_DATA, name);
    const char *mode = getenv("FETTLE_GOLDEN");
    if (mode && strcmp(mode, "write") == 0) {
        write_all(path.s, text);
        return;
    }
    read_all(path.s, &expected);
    if (strcmp(expected.s, text->s) != 0)
        print_error("%s differs; it is now:\n%s\n", path.s, text->s);
    assert_true(strcmp(expected.s, text->s) == 0);
}
