/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/redfish_read.h"

#include "base/json.h"
#include "base/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    enum reset_type type;
} resets[] = {{"On", RESET_ON},
              {"ForceOff", RESET_FORCE_OFF},
              {"ForceRestart", RESET_FORCE_RESTART},
              {"PowerCycle", RESET_POWER_CYCLE}};

enum { RESETS = sizeof resets / sizeof resets[0] };

const char *reset_name(enum reset_type t)
{
    size_t i = 0;
    while (i + 1 < RESETS && resets[i].type != t)
        i++;
    return resets[i].name;
}

bool redfish_take_path(const char *base, const char *text, redfish_path out)
{
    size_t n = strlen(base);
    if (n && strncmp(text, base, n) == 0)
        text += n;
    if (text[0] != '/' || strlen(text) > REDFISH_PATH_BYTES_MAX)
        return false;
    for (const char *s = text; *s; s++)
        if (*s <= ' ' || *s > '~')
            return false;
    snprintf(out, REDFISH_PATH_BYTES_MAX + 1, "%s", text);
    return true;
}

static int take_link(const json_t *o, const char *key, redfish_path out, struct err *e)
{
    if (redfish_take_path("", json_text(o, key), out))
        return 0;
    return err_set(e, -EPROTO, "the BMC's answer has no path \"%s\"", key);
}

static json_t *read_object(const char *body, size_t len, struct err *e)
{
    json_t *o = json_read(body, len, e);
    if (!o)
        err_wrap(e, -EPROTO, "the BMC's answer");
    return o;
}

int redfish_read_root(const char *body, size_t len, redfish_path systems, struct err *e)
{
    CLEANUP_JSON json_t *o = read_object(body, len, e);
    if (!o)
        return -EPROTO;
    int rc = take_link(json_object_get(o, "Systems"), "@odata.id", systems, e);
    return rc < 0 ? err_wrap(e, rc, "its systems") : 0;
}

/* What stands between the last two slashes, or behind the last. */
static bool is_named(const char *path, const char *name)
{
    size_t n = strlen(path);
    if (n && path[n - 1] == '/')
        n--;
    size_t from = n;
    while (from && path[from - 1] != '/')
        from--;
    return n - from == strlen(name) && strncmp(path + from, name, n - from) == 0;
}

int redfish_read_systems(const char *body, size_t len, const char *name, redfish_path system, struct err *e)
{
    CLEANUP_JSON json_t *o = read_object(body, len, e);
    if (!o)
        return -EPROTO;
    const json_t *members = json_object_get(o, "Members");
    size_t n = json_array_size(members);
    if (!*name && n != 1)
        return err_set(e, -ENOENT, "the BMC has %zu systems and bmc.conf does not say which", n);
    for (size_t i = 0; i < n; i++) {
        const json_t *member = json_array_get(members, i);
        if (!*name || is_named(json_text(member, "@odata.id"), name))
            return take_link(member, "@odata.id", system, e);
    }
    return err_set(e, -ENOENT, "the BMC has no system \"%.100s\"", name);
}

static unsigned read_allowed(const json_t *values)
{
    unsigned allowed = 0;
    for (size_t i = 0; i < json_array_size(values); i++) {
        const char *value = json_string_value(json_array_get(values, i));
        for (size_t k = 0; value && k < RESETS; k++)
            if (strcmp(value, resets[k].name) == 0)
                allowed |= resets[k].type;
    }
    return allowed;
}

static int take_power(const json_t *o, bool *is_on, struct err *e)
{
    const char *power = json_text(o, "PowerState");
    *is_on = strcmp(power, "On") == 0 || strcmp(power, "PoweringOff") == 0 || strcmp(power, "Paused") == 0;
    if (*is_on || strcmp(power, "Off") == 0 || strcmp(power, "PoweringOn") == 0)
        return 0;
    return err_set(e, -EPROTO, "the BMC says nothing of the power, or \"%.40s\"", power);
}

/* Its firmware is written, it is tested, or somebody took it aside. "Disabled" is what some say when it is
 * off. */
static void take_held(const json_t *o, char out[static 16])
{
    static const char *const states[] = {"Updating", "InTest", "Quiesced"};
    const char *state = json_text(json_object_get(o, "Status"), "State");
    for (size_t i = 0; i < sizeof states / sizeof states[0]; i++)
        if (strcmp(state, states[i]) == 0)
            snprintf(out, 16, "%s", states[i]);
}

int redfish_read_system(const char *body, size_t len, struct redfish_system *out, struct err *e)
{
    CLEANUP_JSON json_t *o = read_object(body, len, e);
    *out = (struct redfish_system){0};
    if (!o || take_power(o, &out->is_on, e) < 0)
        return -EPROTO;
    take_held(o, out->held);
    const json_t *reset = json_object_get(json_object_get(o, "Actions"), "#ComputerSystem.Reset");
    if (take_link(reset, "target", out->target, e) < 0)
        return err_wrap(e, -EPROTO, "its reset");
    out->allowed = read_allowed(json_object_get(reset, "ResetType@Redfish.AllowableValues"));
    redfish_take_path("", json_text(reset, "@Redfish.ActionInfo"), out->action_info);
    if (strlen(json_text(o, "@odata.etag")) <= REDFISH_ETAG_BYTES_MAX)
        snprintf(out->etag, sizeof out->etag, "%s", json_text(o, "@odata.etag"));
    return 0;
}

int redfish_read_action_info(const char *body, size_t len, unsigned *allowed, struct err *e)
{
    CLEANUP_JSON json_t *o = read_object(body, len, e);
    const json_t *list = json_object_get(o, "Parameters");
    if (!o)
        return -EPROTO;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *parameter = json_array_get(list, i);
        if (strcmp(json_text(parameter, "Name"), "ResetType") != 0)
            continue;
        *allowed = read_allowed(json_object_get(parameter, "AllowableValues"));
        return 0;
    }
    return err_set(e, -EPROTO, "the BMC's action info says nothing of ResetType");
}

/* Adds what people may read of it, in one line. */
static void add_words(struct text *words, const char *said)
{
    char line[REDFISH_WORDS_BYTES_MAX + 1];
    text_add_bytes(words, line, text_line(line, sizeof line, said));
}

static const char *message_of(const json_t *list)
{
    return json_text(json_array_get(list, 0), "Message");
}

enum redfish_task redfish_read_task(const char *body, size_t len, struct text *words)
{
    static const char *const bad[] = {"Exception", "Killed", "Cancelled", "Interrupted", "Suspended"};
    CLEANUP_JSON json_t *o = json_read(body, len, NULL);
    const char *state = json_text(o, "TaskState");
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        if (strcmp(state, bad[i]) != 0)
            continue;
        text_printf(words, "its task is %s: ", state);
        add_words(words, message_of(json_object_get(o, "Messages")));
        return TASK_FAILED;
    }
    return !*state || strcmp(state, "Completed") == 0 ? TASK_OVER : TASK_RUNS;
}

void redfish_read_id(const char *body, size_t len, redfish_path id)
{
    CLEANUP_JSON json_t *o = json_read(body, len, NULL);
    id[0] = '\0';
    redfish_take_path("", json_text(o, "@odata.id"), id);
}

void redfish_read_error(const char *body, size_t len, struct text *words)
{
    CLEANUP_JSON json_t *o = json_read(body, len, NULL);
    const json_t *error = json_object_get(o, "error");
    const char *more = message_of(json_object_get(error, "@Message.ExtendedInfo"));
    add_words(words, *more ? more : json_text(error, "message"));
}
