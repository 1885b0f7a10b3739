/* SPDX-License-Identifier: Apache-2.0 */
#include "conform/records_test.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { KEYS_MAX = 32 };

int class_record_add(struct classes *c, const char *record, struct err *e)
{
    CLEANUP_FREE char *copy = mem_dup(record);
    struct class_key keys[KEYS_MAX];
    size_t n = 0;
    char *rest = copy;
    for (char *field; (field = strsep(&rest, " "));) {
        char *value = strchr(field, '=');
        *value++ = '\0';
        keys[n++] = (struct class_key){field, value};
    }
    return classes_add(c, keys, n, 7, e);
}

void class_record_good(struct classes *c, const char *record)
{
    struct err e = {0};
    if (class_record_add(c, record, &e) < 0)
        fail_msg("%s: %s", record, e.msg);
}
