/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hosts_test.h"

#include "base/text.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

const char *hosts_expand(const char *list)
{
    static char line[4096];
    struct err e = {0};
    CLEANUP_HOSTLIST struct hostlist h = {0};
    CLEANUP_TEXT struct text out = {0};
    text_add(&out, "");
    if (hostlist_parse(list, &h, &e) < 0) {
        assert_int_equal(e.code, -EINVAL);
        assert_int_equal(h.n, 0);
        assert_null(h.names);
        text_add(&out, e.msg);
    }
    for (size_t i = 0; i < h.n; i++)
        text_printf(&out, "%s%s", i ? " " : "", h.names[i]);
    assert_true(snprintf(line, sizeof line, "%s", out.s) < (int)sizeof line);
    return line;
}

const char *hosts_fold(const char *names)
{
    CLEANUP_HOSTLIST struct hostlist h = {0};
    CLEANUP_FREE char *copy = mem_dup(names);
    char *rest = copy;
    for (char *name; (name = strsep(&rest, " "));)
        hostlist_add(&h, name);
    CLEANUP_FREE char *list = hostlist_fold((const char *const *)h.names, h.n);
    static char line[4096];
    assert_true(snprintf(line, sizeof line, "%s", list) < (int)sizeof line);
    return line;
}
