/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Verdicts. All texts in a verdict come from outside, from a plugin or a kernel. Here, once, they are cut to
 * whole characters of UTF-8 and lose their control characters, so that later code need not do it.
 */
#include "health/finding.h"

#include "base/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static void take_format(char dst[static FINDING_TEXT_BYTES_MAX + 1], const char *fmt, va_list args)
{
    char whole[4 * FINDING_TEXT_BYTES_MAX];
    vsnprintf(whole, sizeof whole, fmt, args);
    text_line(dst, FINDING_TEXT_BYTES_MAX + 1, whole);
}

void finding_word(const struct finding *f, struct text *t)
{
    text_printf(t, "%s@", f->code);
    for (const char *p = f->device; *p; p++)
        text_add_char(t, *p == ' ' ? '_' : *p);
}

void verdict_clear(struct verdict *v)
{
    *v = (struct verdict){.result = RESULT_OK};
}

/* The place for a finding of this result: a new one, or that of the mildest. NULL when it is itself the
 * mildest. */
static struct finding *place_for(struct verdict *v, enum result r)
{
    if (v->n < FINDINGS_A_CHECK_MAX)
        return &v->findings[v->n++];
    v->more++;
    struct finding *mildest = &v->findings[0];
    for (size_t i = 1; i < v->n; i++)
        if (v->findings[i].result < mildest->result)
            mildest = &v->findings[i];
    return mildest->result < r ? mildest : NULL;
}

struct finding *verdict_add(struct verdict *v, enum result r, const char *device, const char *code,
                            const char *fmt, ...)
{
    if (r <= RESULT_OK)
        return NULL;
    if (v->result < r)
        v->result = r;
    struct finding *f = place_for(v, r);
    if (!f)
        return NULL;
    *f = (struct finding){.result = r};
    text_line(f->device, sizeof f->device, device);
    text_line(f->code, sizeof f->code, code);
    va_list args;
    va_start(args, fmt);
    take_format(f->text, fmt, args);
    va_end(args);
    return f;
}

void verdict_cannot(struct verdict *v, enum result r, const char *fmt, ...)
{
    *v = (struct verdict){.result = r};
    va_list args;
    va_start(args, fmt);
    take_format(v->text, fmt, args);
    va_end(args);
}

void verdict_note(struct verdict *v, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    take_format(v->text, fmt, args);
    va_end(args);
}

void verdict_cap(struct verdict *v, enum result worst)
{
    if (v->result > worst)
        v->result = worst;
    for (size_t i = 0; i < v->n; i++)
        if (v->findings[i].result > worst)
            v->findings[i].result = worst;
}

/* --- JSON ---------------------------------------------------------------------------------------- */

static void write_text(struct text *t, const char *key, const char *value)
{
    if (*value == '\0')
        return;
    text_printf(t, ",\"%s\":", key);
    text_add_json(t, value);
}

static void write_number(struct text *t, const char *key, unsigned value)
{
    if (value > 0)
        text_printf(t, ",\"%s\":%u", key, value);
}

void finding_write_origin(const struct finding *f, struct text *t)
{
    write_number(t, "count", f->count);
    write_number(t, "others", f->others);
    write_text(t, "work", f->work);
    write_text(t, "user", f->user);
}

void verdict_write(const struct verdict *v, struct text *t)
{
    text_printf(t, "{\"result\":\"%s\"", result_name(v->result));
    write_text(t, "text", v->text);
    for (size_t i = 0; i < v->n; i++) {
        const struct finding *f = &v->findings[i];
        text_printf(t, "%s{\"result\":\"%s\"", i > 0 ? "," : ",\"findings\":[", result_name(f->result));
        write_text(t, "device", f->device);
        write_text(t, "code", f->code);
        write_text(t, "text", f->text);
        finding_write_origin(f, t);
        text_add_char(t, '}');
    }
    if (v->n > 0)
        text_add_char(t, ']');
    if (v->more > 0)
        text_printf(t, ",\"more\":%u", v->more);
    text_add_char(t, '}');
}

static int read_result(const json_t *o, enum result *out, struct err *e)
{
    const char *name = "";
    int rc = json_take_string(o, "result", &name, e);
    if (rc == 0 && !result_parse(name, out))
        return err_set(e, -EINVAL, "\"result\": \"%.40s\" is none", name);
    return rc < 0 ? -EINVAL : 0;
}

/* A text; "" when the member is absent. */
static int read_text(const json_t *o, const char *key, char *out, size_t size, struct err *e)
{
    const char *value = "";
    int rc = json_take_string(o, key, &value, e);
    if (rc < 0 && rc != -ENOENT)
        return rc;
    if (strlen(value) >= size)
        return err_set(e, -EINVAL, "\"%s\" has %zu bytes; %zu are allowed", key, strlen(value), size - 1);
    text_line(out, size, value);
    if (strcmp(out, value) != 0)
        return err_set(e, -EINVAL, "\"%s\" has a control character", key);
    return 0;
}

/* A number; 0 when the member is absent. */
static int read_number(const json_t *o, const char *key, unsigned *out, struct err *e)
{
    uint64_t n = 0;
    int rc = json_take_u64(o, key, UINT32_MAX, &n, e);
    *out = (unsigned)n;
    return rc == -ENOENT ? 0 : rc;
}

int finding_read_origin(const json_t *o, struct finding *f, struct err *e)
{
    int rc = read_number(o, "count", &f->count, e);
    if (rc == 0)
        rc = read_number(o, "others", &f->others, e);
    if (rc == 0)
        rc = read_text(o, "work", f->work, sizeof f->work, e);
    return rc == 0 ? read_text(o, "user", f->user, sizeof f->user, e) : rc;
}

static int read_finding(const json_t *o, struct finding *f, struct err *e)
{
    static const char *const keys[] = {"result", "device", "code", "text", "count", "others", "work", "user"};
    if (!json_is_object(o))
        return err_set(e, -EINVAL, "it is no object");
    int rc = json_only_keys(o, keys, sizeof keys / sizeof keys[0], e);
    if (rc == 0)
        rc = read_result(o, &f->result, e);
    if (rc == 0 && f->result <= RESULT_OK)
        rc = err_set(e, -EINVAL, "\"result\": %s is no finding", result_name(f->result));
    if (rc == 0)
        rc = read_text(o, "device", f->device, sizeof f->device, e);
    if (rc == 0)
        rc = read_text(o, "code", f->code, sizeof f->code, e);
    if (rc == 0)
        rc = read_text(o, "text", f->text, sizeof f->text, e);
    return rc == 0 ? finding_read_origin(o, f, e) : rc;
}

static int read_findings(const json_t *o, struct verdict *v, struct err *e)
{
    const json_t *list = json_object_get(o, "findings");
    if (list && !json_is_array(list))
        return err_set(e, -EINVAL, "\"findings\" is no array");
    size_t n = json_array_size(list);
    if (n > FINDINGS_A_CHECK_MAX)
        return err_set(e, -EINVAL, "\"findings\" has %zu; %d are allowed", n, FINDINGS_A_CHECK_MAX);
    for (; v->n < n; v->n++) {
        int rc = read_finding(json_array_get(list, v->n), &v->findings[v->n], e);
        if (rc < 0)
            return err_wrap(e, rc, "\"findings\", number %zu", v->n + 1);
    }
    return 0;
}

/* 0 when the result is the worst of the findings, or explains why there are none. */
static int check_result(const struct verdict *v, struct err *e)
{
    enum result worst = v->n == 0 && v->result < RESULT_OK ? v->result : RESULT_OK;
    for (size_t i = 0; i < v->n; i++)
        if (worst < v->findings[i].result)
            worst = v->findings[i].result;
    if (v->result != worst)
        return err_set(e, -EINVAL, "\"result\" is %s, and the worst of the findings %s",
                       result_name(v->result), result_name(worst));
    if (v->more > 0 && v->n < FINDINGS_A_CHECK_MAX)
        return err_set(e, -EINVAL, "\"more\" is %u, and there are %zu findings", v->more, v->n);
    return 0;
}

static int read_verdict(const json_t *o, struct verdict *v, struct err *e)
{
    int rc = read_result(o, &v->result, e);
    if (rc == 0)
        rc = read_text(o, "text", v->text, sizeof v->text, e);
    if (rc == 0)
        rc = read_findings(o, v, e);
    if (rc == 0)
        rc = read_number(o, "more", &v->more, e);
    return rc == 0 ? check_result(v, e) : rc;
}

int verdict_read(const json_t *o, struct verdict *v, struct err *e)
{
    verdict_clear(v);
    int rc = json_is_object(o) ? read_verdict(o, v, e) : err_set(e, -EINVAL, "a verdict is no object");
    if (rc < 0)
        *v = (struct verdict){.result = RESULT_UNKNOWN};
    return rc;
}
