/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/effect.h"

#include "base/json.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *effect_about(const char *key, bool *is_reboot)
{
    static const char ochami[] = "effect/ochami.", reboot[] = "effect/reboot.";
    *is_reboot = strncmp(key, reboot, sizeof reboot - 1) == 0;
    if (*is_reboot)
        return key + sizeof reboot - 1;
    return strncmp(key, ochami, sizeof ochami - 1) == 0 ? key + sizeof ochami - 1 : NULL;
}

void effect_fini(struct effect *x)
{
    free(x->id);
    free(x->xname);
    free(x->done_text);
    free(x->boot);
    marks_fini(&x->want);
    marks_fini(&x->done);
    boot_image_fini(&x->image);
    *x = (struct effect){0};
}

/* A string, NULL where it is absent or null. */
static int effect_take(const json_t *object, const char *key, char **out, struct err *e)
{
    json_t *v = json_object_get(object, key);
    if (v && !json_is_null(v) && !json_is_string(v))
        return err_set(e, -EINVAL, "\"%s\" is not a string", key);
    *out = mem_dup(json_string_value(v));
    return 0;
}

/* The object of a key; NULL where it is absent or null. */
static int take_object(const json_t *all, const char *key, json_t **out, struct err *e)
{
    *out = json_object_get(all, key);
    if (json_is_null(*out))
        *out = NULL;
    return !*out || json_is_object(*out) ? 0 : err_set(e, -EINVAL, "\"%s\" is not an object", key);
}

static int take_drift(const json_t *all, const json_t *done, struct effect *x, struct err *e)
{
    json_t *want;
    int rc = take_object(all, "want", &want, e);
    x->is_wanted = rc == 0 && want;
    x->is_done = done != NULL;
    if (rc == 0 && want)
        rc = marks_read(want, &x->want, e);
    if (rc == 0 && done)
        rc = marks_read(done, &x->done, e);
    return rc;
}

static int take_progress(const json_t *done, struct progress *p, struct err *e)
{
    p->step = reboot_step_find(json_text(done, "step"));
    if (p->step == REBOOT_NONE)
        return err_set(e, -EINVAL, "\"step\" is not a step of a reboot");
    const char *transition = json_string_value(json_object_get(done, "transition"));
    const char *after = json_string_value(json_object_get(done, "after"));
    if (p->step == REBOOT_ASKED && (!transition || !transition_id_is_valid(transition)))
        return err_set(e, -EINVAL, "\"transition\" is not the id of one");
    snprintf(p->transition, sizeof p->transition, "%s", transition ? transition : "");
    snprintf(p->after, sizeof p->after, "%s", after ? after : "");
    return 0;
}

/* An image without any part counts as absent. */
static int take_image(const json_t *image, struct effect *x, struct err *e)
{
    int rc = effect_take(image, "kernel", &x->image.kernel, e);
    rc = rc ? rc : effect_take(image, "initrd", &x->image.initrd, e);
    rc = rc ? rc : effect_take(image, "params", &x->image.params, e);
    x->has_image = x->image.kernel || x->image.initrd || x->image.params;
    return rc;
}

static int take_reboot(const json_t *all, const json_t *done, struct effect *x, struct err *e)
{
    json_t *image;
    int rc = effect_take(all, "boot", &x->boot, e);
    rc = rc ? rc : take_object(all, "image", &image, e);
    if (rc == 0 && image)
        rc = take_image(image, x, e);
    if (rc == 0 && done)
        rc = take_progress(done, &x->progress, e);
    return rc;
}

int effect_read(const char *key, const char *value, struct effect *out, struct err *e)
{
    *out = (struct effect){0};
    effect_about(key, &out->is_reboot);
    CLEANUP_JSON json_t *all = json_read(value, strlen(value), e);
    if (!all)
        return err_wrap(e, -EINVAL, "%s", key);
    if (!json_is_object(all))
        return err_set(e, -EINVAL, "%s: not an object", key);
    json_t *done = NULL;
    int rc = effect_take(all, "xname", &out->xname, e);
    rc = rc ? rc : take_object(all, "done", &done, e);
    if (rc == 0)
        rc = out->is_reboot ? take_reboot(all, done, out, e) : take_drift(all, done, out, e);
    if (rc < 0) {
        effect_fini(out);
        return err_wrap(e, rc, "%s", key);
    }
    json_t *id = json_object_get(all, "id");
    out->id = id ? json_dumps(id, JSON_ENCODE_ANY | JSON_COMPACT) : mem_dup("");
    out->done_text = done ? json_write(done) : mem_dup("null");
    return 0;
}

bool done_equal(const char *a, const char *b)
{
    if (strcmp(a, b) == 0)
        return true;
    CLEANUP_JSON json_t *x = json_read(a, strlen(a), NULL);
    CLEANUP_JSON json_t *y = json_read(b, strlen(b), NULL);
    return x && y && json_equal(x, y);
}

char *progress_write(const struct progress *p, const char *id, const char *why)
{
    struct text t = {0};
    text_add(&t, "{");
    text_add_member(&t, "step", reboot_step_name(p->step));
    if (id[0])
        text_printf(&t, ",\"id\":%s", id);
    if (p->step == REBOOT_ASKING)
        text_add_member(&t, "after", p->after);
    if (p->step == REBOOT_ASKED)
        text_add_member(&t, "transition", p->transition);
    if (p->step == REBOOT_FAILED || p->step == REBOOT_REFUSED)
        text_add_member(&t, "why", why);
    text_add(&t, "}");
    return text_take(&t);
}
