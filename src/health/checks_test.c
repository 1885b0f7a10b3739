/* SPDX-License-Identifier: Apache-2.0 */
#include "health/checks_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

void checks_good(const char *records, struct checks *c)
{
    struct err e = {0};
    if (checks_parse("checks.conf", records, strlen(records), c, &e) < 0)
        fail_msg("%s: %s", records, e.msg);
}

void checks_refused(const char *records, const char *sentence)
{
    struct checks c = {0};
    struct err e = {0};
    int rc = checks_parse("checks.conf", records, strlen(records), &c, &e);
    if (rc != -EINVAL || strcmp(e.msg, sentence) != 0)
        fail_msg("%s: %d \"%s\"", records, rc, e.msg);
    assert_int_equal(c.n, 0);
    assert_null(c.list);
}

void check_line_is(const char *record, const char *line)
{
    struct checks c = {0};
    CLEANUP_TEXT struct text t = {0};
    checks_good(record, &c);
    check_format(&c.list[0], NULL, &t);
    assert_string_equal(t.s, line);
    checks_fini(&c);
}

struct meanings *meanings_good(const char *text)
{
    struct err e = {0};
    struct meanings *m = meanings_parse("meanings.conf", text, strlen(text), &e);
    if (!m)
        print_error("%s\n", e.msg);
    assert_non_null(m);
    return m;
}

struct check check_with(const char *value)
{
    static char name[] = "a", key[] = "Run", text[64];
    snprintf(text, sizeof text, "%s", value);
    return (struct check){.name = name, .probe = PROBE_PLUGIN, .n_args = 1, .args[0] = {key, text}};
}
