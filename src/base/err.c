/* SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct row {
    int code;
    const char *name;
    int http, exit;
} rows[] = {
#define ERR(code, name, http, exit) {code, name, http, exit},
#include "base/err.tbl"
#undef ERR
};

static const struct row other = {EIO, "internal", 500, 1};

int err_set(struct err *e, int code, const char *fmt, ...)
{
    if (e) {
        va_list ap;
        va_start(ap, fmt);
        vsnprintf(e->msg, sizeof e->msg, fmt, ap);
        va_end(ap);
        e->code = code;
    }
    return code;
}

int err_wrap(struct err *e, int code, const char *fmt, ...)
{
    if (e) {
        char was[ERR_MSG_BYTES_MAX];
        memcpy(was, e->msg, sizeof was);
        va_list ap;
        va_start(ap, fmt);
        int n = vsnprintf(e->msg, sizeof e->msg, fmt, ap);
        va_end(ap);
        if (n >= 0 && (size_t)n < sizeof e->msg)
            snprintf(e->msg + n, sizeof e->msg - (size_t)n, ": %s", was);
        e->code = code;
    }
    return code;
}

static const struct row *row_of(int code)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].code == abs(code))
            return &rows[i];
    return &other;
}

const char *err_name(int code)
{
    return row_of(code)->name;
}

int err_http(int code)
{
    return row_of(code)->http;
}

int err_exit(int code)
{
    return row_of(code)->exit;
}

int err_code(const char *name)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(rows[i].name, name) == 0)
            return -rows[i].code;
    return -other.code;
}
