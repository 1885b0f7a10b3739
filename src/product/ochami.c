/* SPDX-License-Identifier: Apache-2.0 */
#include "product/ochami.h"

#include "product/product.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* --- names of nodes -------------------------------------------------------------------------- */

static bool digits_skip(const char **p)
{
    size_t n = strspn(*p, "0123456789");
    *p += n;
    return n > 0;
}

/* As the State Manager names a node: x1000c0s0b0n0. */
static bool is_xname(const char *name)
{
    for (const char *part = "xcsbn"; *part; part++)
        if (*name++ != *part || !digits_skip(&name))
            return false;
    return *name == '\0';
}

const char *product_node_name(const char *name, const char *given)
{
    return given ? given : is_xname(name) ? name : NULL;
}

/* --- marks ----------------------------------------------------------------------------------- */

/* The first four are the marks themselves. A wanted one has no more. */
static const char *const mark_keys[] = {"flag", "status", "group", "message", "pending", "error"};
enum { MARKS_WANTED = 4, MARKS_DONE = 6 };

void marks_set(char **field, const char *value)
{
    char *copy = mem_dup(value);
    free(*field);
    *field = copy;
}

bool marks_equal(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

void marks_fini(struct marks *m)
{
    free(m->flag);
    free(m->status);
    free(m->group);
    free(m->message);
    free(m->error);
    *m = (struct marks){0};
}

/* A string, NULL where it is absent or null. */
static int take_mark(const json_t *object, const char *key, char **out, struct err *e)
{
    const json_t *v = json_object_get(object, key);
    if (v && !json_is_null(v) && !json_is_string(v))
        return err_set(e, -EINVAL, "\"%s\" is not a string", key);
    *out = mem_dup(json_string_value(v));
    return 0;
}

int marks_read(const json_t *object, struct marks *out, struct err *e)
{
    *out = (struct marks){.is_pending = json_is_true(json_object_get(object, "pending"))};
    char **const fields[MARKS_DONE] = {&out->flag,    &out->status, &out->group,
                                       &out->message, NULL,         &out->error};
    for (size_t i = 0; i < MARKS_DONE; i++)
        if (fields[i] && take_mark(object, mark_keys[i], fields[i], e) < 0)
            return -EINVAL;
    if (out->status && strlen(out->status) > OCHAMI_STATUS_BYTES_MAX)
        out->status[OCHAMI_STATUS_BYTES_MAX] = '\0';
    return 0;
}

char *marks_write(const struct marks *m)
{
    struct text t = {0};
    text_add(&t, "{");
    text_add_member(&t, "flag", m->flag);
    text_add_member(&t, "status", m->status);
    text_add_member(&t, "group", m->group);
    text_add_member(&t, "message", m->message);
    if (m->is_pending)
        text_add(&t, ",\"pending\":true");
    if (m->error)
        text_add_member(&t, "error", m->error);
    text_add(&t, "}");
    return text_take(&t);
}

/* --- a drift is told ------------------------------------------------------------------------- */

static json_t *marks_wanted(const struct product_drift *drift)
{
    char hex[FINGERPRINT_HEX + 1], expected[FINGERPRINT_SHORT_BYTES], actual[FINGERPRINT_SHORT_BYTES];
    CLEANUP_TEXT struct text status = {0}, message = {0};
    text_printf(&status, "drift:%s:%.12s", severity_name(drift->severity),
                fingerprint_format(drift->actual, hex));
    text_printf(&message, "conformance_drift: baseline %s %u: %s; expected=%s, actual=%s", drift->class,
                drift->version, drift->components, fingerprint_list(drift->expected, expected),
                fingerprint_list(drift->actual, actual));
    json_t *want = json_object();
    json_object_set_new(want, "flag", json_string("Warning"));
    json_object_set_new(want, "status", json_string(status.s));
    json_object_set_new(want, "group", json_string("drifted"));
    json_object_set_new(want, "message", json_string(message.s));
    return want;
}

bool product_tell_drift(json_t *o, const json_t *was, const char *name, const struct product_drift *drift)
{
    assert(name);
    CLEANUP_JSON json_t *want = marks_wanted(drift);
    const json_t *done = json_object_get(was, "done");
    /* A result under an earlier name of the node stands there, and is taken back there. */
    if (done && !json_is_null(done))
        name = json_text(was, "xname");
    if (was && json_equal(json_object_get(was, "want"), want) && strcmp(json_text(was, "xname"), name) == 0)
        return false;
    json_object_set_new(o, "xname", json_string(name));
    json_object_set(o, "want", want);
    json_object_set_new(o, "done", done ? json_deep_copy(done) : json_null());
    return true;
}

/* The first n marks are texts, or null where that may be. */
static int marks_check_texts(const json_t *marks, bool may_be_null, struct err *e)
{
    const char *text;
    for (size_t i = 0; i < MARKS_WANTED; i++)
        if (!(may_be_null && json_is_null(json_object_get(marks, mark_keys[i]))) &&
            json_take_string(marks, mark_keys[i], &text, e) < 0)
            return -EINVAL;
    return 0;
}

static int marks_check(const json_t *o, const char *key, size_t known, struct err *e)
{
    const json_t *marks = json_object_get(o, key), *pending = json_object_get(marks, "pending");
    const char *error;
    if (json_is_null(marks))
        return 0;
    if (!json_is_object(marks))
        return err_set(e, -EINVAL, "\"%s\" is neither null nor an object", key);
    if (json_only_keys(marks, mark_keys, known, e) < 0 ||
        marks_check_texts(marks, known == MARKS_DONE, e) < 0)
        return err_wrap(e, -EINVAL, "%s", key);
    if (pending && !json_is_true(pending))
        return err_set(e, -EINVAL, "%s: \"pending\" is not true", key);
    if (json_object_get(marks, "error") && json_take_string(marks, "error", &error, e) < 0)
        return err_wrap(e, -EINVAL, "%s", key);
    size_t len = json_string_length(json_object_get(marks, "status"));
    if (len > OCHAMI_STATUS_BYTES_MAX)
        return err_set(e, -EINVAL, "%s: a status of %zu bytes; it has %d at most", key, len,
                       OCHAMI_STATUS_BYTES_MAX);
    return 0;
}

int ochami_drift_check(const json_t *record, struct err *e)
{
    static const char *const keys[] = {"id", "xname", "want", "done"};
    const char *xname;
    if (json_take_string(record, "xname", &xname, e) < 0 || json_only_keys(record, keys, 4, e) < 0 ||
        marks_check(record, "want", MARKS_WANTED, e) < 0 || marks_check(record, "done", MARKS_DONE, e) < 0)
        return -EINVAL;
    return 0;
}

void ochami_drift_say(const json_t *was, const json_t *is, struct text *t)
{
    const json_t *done = json_object_get(is, "done");
    const char *status = json_string_value(json_object_get(done, "status"));
    const char *error = json_string_value(json_object_get(done, "error"));
    if (json_is_null(done))
        text_add(t, "OpenCHAMI: taken back");
    else if (json_is_true(json_object_get(done, "pending")))
        text_add(t, "OpenCHAMI is being told");
    else
        text_add(t, status || !error ? "OpenCHAMI was told" : "OpenCHAMI was not told");
    if (status)
        text_printf(t, ": %.256s", status);
    if (error)
        text_printf(t, ": %.256s", error);
}

/* --- a reboot is asked for -------------------------------------------------------------------- */

static const struct {
    const char *name, *detail; /* the member beside the step itself; NULL: none */
    bool may_be_null;          /* the detail */
} steps[REBOOT_STEPS] = {
    [REBOOT_NONE] = {"", NULL, false},
    [REBOOT_IMAGE] = {"image", NULL, false},
    [REBOOT_ASKING] = {"asking", "after", false},
    [REBOOT_ASKED] = {"asked", "transition", false},
    [REBOOT_COMPLETED] = {"completed", NULL, false},
    [REBOOT_FAILED] = {"failed", "why", true},
    [REBOOT_REFUSED] = {"refused", "why", true},
};

const char *reboot_step_name(enum reboot_step s)
{
    assert((unsigned)s < REBOOT_STEPS);
    return steps[s].name;
}

enum reboot_step reboot_step_find(const char *name)
{
    for (unsigned s = REBOOT_NONE + 1; s < REBOOT_STEPS; s++)
        if (strcmp(steps[s].name, name) == 0)
            return (enum reboot_step)s;
    return REBOOT_NONE;
}

static json_t *text_or_null(const char *s)
{
    return s ? json_string(s) : json_null();
}

static json_t *image_of(const struct node_class *k)
{
    if (!k->kernel && !k->initrd && !k->params)
        return json_null();
    json_t *image = json_object();
    json_object_set_new(image, "kernel", text_or_null(k->kernel));
    json_object_set_new(image, "initrd", text_or_null(k->initrd));
    json_object_set_new(image, "params", text_or_null(k->params));
    return image;
}

void product_ask_reboot(json_t *o, const char *name, const char *boot, const struct node_class *image,
                        json_t *times)
{
    assert(name && boot && *boot);
    json_object_set_new(o, "xname", json_string(name));
    json_object_set_new(o, "boot", json_string(boot));
    json_object_set_new(o, "image", image_of(image));
    json_object_set_new(o, "times", times);
    json_object_set_new(o, "done", json_null());
}

static int step_check(const json_t *done, struct err *e)
{
    const char *name, *text;
    if (json_is_null(done))
        return 0;
    if (!json_is_object(done))
        return err_set(e, -EINVAL, "\"done\" is neither null nor an object");
    if (json_take_string(done, "step", &name, e) < 0)
        return -EINVAL;
    enum reboot_step s = reboot_step_find(name);
    const char *detail = steps[s].detail;
    const char *const keys[] = {"step", "id", detail};
    if (s == REBOOT_NONE)
        return err_set(e, -EINVAL, "\"%s\" is no step of a reboot that this version knows", name);
    if (json_only_keys(done, keys, detail ? 3 : 2, e) < 0)
        return -EINVAL;
    if (!detail || (steps[s].may_be_null && json_is_null(json_object_get(done, detail))))
        return 0;
    return json_take_string(done, detail, &text, e) < 0 ? -EINVAL : 0;
}

static int image_check(const json_t *image, struct err *e)
{
    static const char *const keys[] = {"kernel", "initrd", "params"};
    const char *text;
    if (json_is_null(image))
        return 0;
    if (!json_is_object(image))
        return err_set(e, -EINVAL, "\"image\" is neither null nor an object");
    if (json_only_keys(image, keys, 3, e) < 0)
        return -EINVAL;
    for (size_t i = 0; i < 3; i++)
        if (!json_is_null(json_object_get(image, keys[i])) && json_take_string(image, keys[i], &text, e) < 0)
            return -EINVAL;
    return 0;
}

int ochami_reboot_check(const json_t *record, struct err *e)
{
    static const char *const keys[] = {"id", "xname", "boot", "image", "times", "done"};
    const char *xname;
    if (json_take_string(record, "xname", &xname, e) < 0 || json_only_keys(record, keys, 6, e) < 0 ||
        step_check(json_object_get(record, "done"), e) < 0)
        return -EINVAL;
    return image_check(json_object_get(record, "image"), e);
}

void ochami_reboot_say(const json_t *was, const json_t *is, struct text *t)
{
    const json_t *done = json_object_get(is, "done");
    const char *step = json_string_value(json_object_get(done, "step"));
    const char *why = json_string_value(json_object_get(done, "why"));
    const char *transition = json_string_value(json_object_get(done, "transition"));
    text_printf(t, "reboot: %s", step ? step : "not begun");
    if (transition)
        text_printf(t, ": %.256s", transition);
    if (why)
        text_printf(t, ": %.256s", why);
}
