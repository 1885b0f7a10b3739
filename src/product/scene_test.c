/* SPDX-License-Identifier: Apache-2.0 */
#include "product/scene_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

json_t *object_of(const char *text)
{
    struct err e = {0};
    json_t *o = text ? json_read(text, strlen(text), &e) : NULL;
    if (text && !o)
        fail_msg("%s: %s", text, e.msg);
    return o;
}

const char *record_refuses(enum product_effect effect, const char *record)
{
    static struct err e;
    CLEANUP_JSON json_t *o = object_of(record);
    e = (struct err){0};
    int rc = product_record(effect)->check(o, &e);
    assert_int_equal(rc, *e.msg ? -EINVAL : 0);
    return e.msg;
}

void record_says(enum product_effect effect, const char *was, const char *is, const char *sentence)
{
    CLEANUP_JSON json_t *a = object_of(was), *b = object_of(is);
    CLEANUP_TEXT struct text t = {0};
    product_record(effect)->say(a, b, &t);
    assert_string_equal(t.s, sentence);
}
