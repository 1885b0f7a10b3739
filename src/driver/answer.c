/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/answer.h"

#include "base/json.h"
#include "base/text.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool all_of(const char *s, size_t max, const char *also)
{
    size_t n = strlen(s);
    for (size_t i = 0; i < n; i++)
        if (!isalnum((unsigned char)s[i]) && !strchr(also, s[i]))
            return false;
    return n > 0 && n <= max;
}

bool xname_is_valid(const char *xname)
{
    return all_of(xname, XNAME_BYTES_MAX, "");
}

bool transition_id_is_valid(const char *id)
{
    return all_of(id, TRANSITION_ID_BYTES_MAX, "-");
}

static json_t *answer_read(const char *bytes, size_t len, const char *what, struct err *e)
{
    json_t *all = json_read(bytes, len, e);
    if (!all)
        err_wrap(e, -EPROTO, "%s", what);
    return all;
}

/* The string of a key, cut to what fits; "" when it is absent or null. */
static int copy_string(const json_t *object, const char *key, char *out, size_t bytes, struct err *e)
{
    json_t *v = json_object_get(object, key);
    if (v && !json_is_null(v) && !json_is_string(v))
        return err_set(e, -EPROTO, "\"%s\" is not a string", key);
    snprintf(out, bytes, "%s", json_is_string(v) ? json_string_value(v) : "");
    return 0;
}

bool problem_read(const char *bytes, size_t len, char detail[static DETAIL_BYTES_MAX + 1])
{
    CLEANUP_JSON json_t *all = json_read(bytes, len, NULL);
    return json_is_object(all) && json_object_get(all, "type") &&
           copy_string(all, "detail", detail, DETAIL_BYTES_MAX + 1, NULL) == 0 && detail[0];
}

int component_read(const char *bytes, size_t len, struct component *out, struct err *e)
{
    CLEANUP_JSON json_t *all = answer_read(bytes, len, "a component", e);
    *out = (struct component){0};
    if (!all)
        return -EPROTO;
    if (!json_is_string(json_object_get(all, "ID")))
        return err_set(e, -EPROTO, "a component without an ID");
    int rc = copy_string(all, "Flag", out->flag, sizeof out->flag, e);
    return rc ? rc : copy_string(all, "SoftwareStatus", out->status, sizeof out->status, e);
}

/* An absent flag is not set; one that is not a boolean is an error. */
static int take_flag(const json_t *o, const char *key, bool *out, struct err *e)
{
    const json_t *is = json_object_get(o, key);
    if (!is)
        return 0;
    *out = json_is_true(is);
    return json_is_boolean(is) ? 0 : err_set(e, -EPROTO, "a component whose %s is no boolean", key);
}

static int read_held(const json_t *o, held_fn *fn, void *arg, struct err *e)
{
    bool locked = false, reserved = false, barred = false, enabled = true;
    const char *xname = json_string_value(json_object_get(o, "ID"));
    const char *flag = json_text(o, "Flag");
    if (!xname)
        return err_set(e, -EPROTO, "a component without an ID");
    if (take_flag(o, "Locked", &locked, e) < 0 || take_flag(o, "Reserved", &reserved, e) < 0 ||
        take_flag(o, "ReservationDisabled", &barred, e) < 0 || take_flag(o, "Enabled", &enabled, e) < 0)
        return -EPROTO;
    fn(arg, xname,
       !enabled                                ? "disabled"
       : locked || strcmp(flag, "Locked") == 0 ? "locked"
       : reserved                              ? "reserved"
       : barred                                ? "barred from reservations"
                                               : NULL,
       !enabled);
    return 0;
}

int held_read(const char *bytes, size_t len, held_fn *fn, void *arg, struct err *e)
{
    CLEANUP_JSON json_t *all = answer_read(bytes, len, "components", e);
    const json_t *list = json_object_get(all, "Components");
    int rc = all ? 0 : -EPROTO;
    if (rc == 0 && !json_is_array(list) && !json_is_null(list))
        rc = err_set(e, -EPROTO, "an answer without components");
    for (size_t i = 0; rc == 0 && i < json_array_size(list); i++)
        rc = read_held(json_array_get(list, i), fn, arg, e);
    return rc;
}

int membership_read(const char *bytes, size_t len, const char *group, bool *is_member, struct err *e)
{
    CLEANUP_JSON json_t *all = answer_read(bytes, len, "a membership", e);
    *is_member = false;
    if (!all)
        return -EPROTO;
    json_t *labels = json_object_get(all, "groupLabels"), *label;
    if (!json_is_object(all) || (labels && !json_is_array(labels) && !json_is_null(labels)))
        return err_set(e, -EPROTO, "a membership without groups");
    size_t i;
    json_array_foreach (labels, i, label)
        if (json_is_string(label) && strcasecmp(json_string_value(label), group) == 0)
            *is_member = true;
    return 0;
}

void boot_image_fini(struct boot_image *i)
{
    assert(i);
    free(i->kernel);
    free(i->initrd);
    free(i->params);
    *i = (struct boot_image){0};
}

static bool has_host(const json_t *parameters, const char *xname)
{
    size_t i;
    json_t *host;
    json_array_foreach (json_object_get(parameters, "hosts"), i, host)
        if (json_is_string(host) && strcasecmp(json_string_value(host), xname) == 0)
            return true;
    return false;
}

static bool answer_says(const json_t *parameters, const char *key, const char *wanted)
{
    const char *is = json_string_value(json_object_get(parameters, key));
    return !wanted || (is && strcmp(is, wanted) == 0);
}

int bootparameters_read(const char *bytes, size_t len, const char *xname, const struct boot_image *image,
                        enum boot_found *out, struct err *e)
{
    CLEANUP_JSON json_t *all = answer_read(bytes, len, "boot parameters", e);
    *out = BOOT_NONE;
    if (!all)
        return -EPROTO;
    if (!json_is_array(all))
        return err_set(e, -EPROTO, "boot parameters that are not a list");
    size_t i;
    json_t *p;
    json_array_foreach (all, i, p) {
        if (!has_host(p, xname))
            continue;
        bool same = answer_says(p, "kernel", image->kernel) && answer_says(p, "initrd", image->initrd) &&
                    answer_says(p, "params", image->params);
        *out = same ? BOOT_SAME : BOOT_OTHER;
    }
    return 0;
}

static int copy_id(const json_t *object, char id[static TRANSITION_ID_BYTES_MAX + 1], struct err *e)
{
    const char *s = json_string_value(json_object_get(object, "transitionID"));
    if (!s || !transition_id_is_valid(s))
        return err_set(e, -EPROTO, "a transition without a usable id");
    snprintf(id, TRANSITION_ID_BYTES_MAX + 1, "%s", s);
    return 0;
}

int started_read(const char *bytes, size_t len, char id[static TRANSITION_ID_BYTES_MAX + 1], struct err *e)
{
    CLEANUP_JSON json_t *all = answer_read(bytes, len, "a new transition", e);
    id[0] = '\0';
    return all ? copy_id(all, id, e) : -EPROTO;
}

/* 1: over, 0: under way, or an error. An aborted transition that still runs is under way. */
static int read_over(const json_t *object, bool *is_aborted, struct err *e)
{
    static const char *const under_way[] = {"new", "in-progress", "abort-signaled"};
    const char *s = json_string_value(json_object_get(object, "transitionStatus"));
    *is_aborted = s && strcmp(s, "aborted") == 0;
    for (size_t i = 0; s && i < sizeof under_way / sizeof *under_way; i++)
        if (strcmp(s, under_way[i]) == 0)
            return 0;
    if (s && (*is_aborted || strcmp(s, "completed") == 0))
        return 1;
    return err_set(e, -EPROTO, "a transition whose status is %s", s ? s : "absent");
}

static const json_t *task_of(const json_t *transition, const char *xname)
{
    size_t i;
    json_t *task;
    json_array_foreach (json_object_get(transition, "tasks"), i, task) {
        const char *is = json_string_value(json_object_get(task, "xname"));
        if (is && strcasecmp(is, xname) == 0)
            return task;
    }
    return NULL;
}

static void copy_only(const json_t *transition, char only[static XNAME_BYTES_MAX + 1])
{
    const json_t *tasks = json_object_get(transition, "tasks");
    const char *xname = json_string_value(json_object_get(json_array_get(tasks, 0), "xname"));
    bool is_one = json_array_size(tasks) == 1 && xname && xname_is_valid(xname);
    snprintf(only, XNAME_BYTES_MAX + 1, "%s", is_one ? xname : "");
}

/* The outcome for this node: a finished transition is "completed" even when every task of it failed. */
static int judge_task(const json_t *task, struct transition *out, struct err *e)
{
    const char *s = json_string_value(json_object_get(task, "taskStatus"));
    if (!s)
        return err_set(e, -EPROTO, "a task without a status");
    if (strcmp(s, "succeeded") == 0) {
        out->outcome = TRANSITION_COMPLETED;
        return 0;
    }
    out->outcome = TRANSITION_FAILED;
    const char *words = json_string_value(json_object_get(task, "error"));
    if (!words || !words[0])
        words = json_string_value(json_object_get(task, "taskStatusDescription"));
    snprintf(out->why, sizeof out->why, "%s", words && words[0] ? words : s);
    return 0;
}

/* When the tasks are no longer kept, their counts decide. */
static int judge_counts(const json_t *transition, struct transition *out, struct err *e)
{
    const json_t *counts = json_object_get(transition, "taskCounts");
    uint64_t failed = 0, unsupported = 0, succeeded = 0, max = UINT32_MAX;
    int rc = json_take_u64(counts, "failed", max, &failed, e);
    rc = rc ? rc : json_take_u64(counts, "succeeded", max, &succeeded, e);
    if (rc == 0 && json_object_get(counts, "un-supported"))
        rc = json_take_u64(counts, "un-supported", max, &unsupported, e);
    if (rc < 0)
        return err_wrap(e, -EPROTO, "the counts of a transition");
    bool is_good = failed == 0 && unsupported == 0 && succeeded > 0;
    out->outcome = is_good ? TRANSITION_COMPLETED : TRANSITION_FAILED;
    if (is_good)
        return 0;
    snprintf(out->why, sizeof out->why, "%s",
             failed        ? "the task failed"
             : unsupported ? "the operation is not supported"
                           : "no task of it was carried out");
    return 0;
}

int transition_read(const char *bytes, size_t len, const char *xname, struct transition *out, struct err *e)
{
    *out = (struct transition){0};
    CLEANUP_JSON json_t *all = answer_read(bytes, len, "a transition", e);
    if (!all)
        return -EPROTO;
    bool is_aborted;
    const json_t *task = task_of(all, xname);
    out->has_node = task != NULL;
    copy_only(all, out->only);
    int over = read_over(all, &is_aborted, e);
    if (over <= 0)
        return over;
    if (is_aborted && !task) {
        out->outcome = TRANSITION_FAILED;
        snprintf(out->why, sizeof out->why, "the transition was aborted");
        return 0;
    }
    return task ? judge_task(task, out, e) : judge_counts(all, out, e);
}

void transitions_fini(struct transitions *t)
{
    free(t->restarts);
    *t = (struct transitions){0};
}

/* RFC 3339 in UTC with any number of decimals: without the zone, strcmp compares it. */
static int copy_created(const json_t *object, char out[static 40], struct err *e)
{
    int rc = copy_string(object, "createTime", out, 40, e);
    if (rc < 0)
        return rc;
    if (strlen(out) < 19 || strspn(out, "0123456789-+:T.Z") != strlen(out))
        return err_set(e, -EPROTO, "a transition without the time when it was made");
    out[19 + strcspn(out + 19, "Z+-")] = '\0';
    return 0;
}

static int read_listed(const json_t *object, struct listed *out, struct err *e)
{
    bool is_aborted;
    int rc = copy_id(object, out->id, e);
    rc = rc ? rc : copy_created(object, out->created, e);
    int over = rc ? rc : read_over(object, &is_aborted, e);
    out->is_over = over == 1;
    return over < 0 ? over : 0;
}

static bool is_restart(const json_t *object)
{
    const char *s = json_string_value(json_object_get(object, "operation"));
    return s && (strcasecmp(s, "soft-restart") == 0 || strcasecmp(s, "hard-restart") == 0);
}

int transitions_read(const char *bytes, size_t len, struct transitions *out, struct err *e)
{
    *out = (struct transitions){0};
    CLEANUP_JSON json_t *all = answer_read(bytes, len, "the transitions", e);
    if (!all)
        return -EPROTO;
    json_t *list = json_object_get(all, "transitions"), *each;
    if (!json_is_array(list) && !json_is_null(list)) /* an empty list of Go may be null */
        return err_set(e, -EPROTO, "an answer without transitions");
    out->restarts = mem_alloc((json_array_size(list) + 1) * sizeof *out->restarts);
    size_t i;
    json_array_foreach (list, i, each) {
        struct listed l = {0};
        int rc = read_listed(each, &l, e);
        if (rc < 0) {
            transitions_fini(out);
            return rc;
        }
        if (strcmp(l.created, out->newest) > 0)
            memcpy(out->newest, l.created, sizeof out->newest);
        if (is_restart(each))
            out->restarts[out->n++] = l;
    }
    return 0;
}
