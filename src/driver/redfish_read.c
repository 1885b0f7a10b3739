/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/redfish_read.h"

#include "base/json.h"
#include "base/text.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

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
    assert(base && out);
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

/* The text between the last two slashes, or after the last one: *len bytes. */
static const char *name_of(const char *path, size_t *len)
{
    size_t n = strlen(path);
    if (n && path[n - 1] == '/')
        n--;
    size_t from = n;
    while (from && path[from - 1] != '/')
        from--;
    *len = n - from;
    return path + from;
}

static bool is_named(const char *path, const char *name)
{
    size_t len;
    const char *is = name_of(path, &len);
    return len == strlen(name) && strncmp(is, name, len) == 0;
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

/* Its firmware is being written, it is being tested, or somebody took it out of service. Some BMCs say
 * "Disabled" when it is off. */
static void take_held(const json_t *o, char out[static 16])
{
    static const char *const states[] = {"Updating", "InTest", "Quiesced"};
    const char *state = json_text(json_object_get(o, "Status"), "State");
    for (size_t i = 0; i < sizeof states / sizeof states[0]; i++)
        if (strcmp(state, states[i]) == 0)
            snprintf(out, 16, "%s", states[i]);
}

/* Adds what people may read of it, in one line. */
static void add_words(struct text *words, const char *said)
{
    char line[REDFISH_WORDS_BYTES_MAX + 1];
    text_add_bytes(words, line, text_line(line, sizeof line, said));
}

/* A member that is null or empty exists, with an unknown version. */
static void take_version(const json_t *o, const char *key, struct redfish_version *out)
{
    const char *text = json_text(o, key);
    out->is_there = json_object_get(o, key) != NULL;
    out->text[0] = '\0';
    if (strlen(text) < sizeof out->text)
        text_line(out->text, sizeof out->text, text);
}

static void take_watchdog(const json_t *o, char out[static REDFISH_WORDS_BYTES_MAX + 1])
{
    CLEANUP_TEXT struct text t = {0};
    const json_t *timer = json_object_get(o, "HostWatchdogTimer");
    const char *action = json_text(timer, "TimeoutAction");
    const char *state = json_text(json_object_get(timer, "Status"), "State");
    if (!timer)
        return;
    text_add(&t, json_is_true(json_object_get(timer, "FunctionEnabled")) ? "enabled" : "not enabled");
    text_printf(&t, "%s%s%s%s", *action ? ", action " : "", action, *state ? ", " : "", state);
    text_line(out, REDFISH_WORDS_BYTES_MAX + 1, t.s);
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
    const json_t *managers = json_object_get(json_object_get(o, "Links"), "ManagedBy");
    redfish_take_path("", json_text(json_array_get(managers, 0), "@odata.id"), out->manager);
    redfish_take_path("", json_text(json_object_get(o, "LogServices"), "@odata.id"), out->logs);
    take_version(o, "BiosVersion", &out->bios);
    take_watchdog(o, out->watchdog);
    return 0;
}

int redfish_read_manager(const char *body, size_t len, struct redfish_version *firmware, redfish_path logs,
                         struct err *e)
{
    CLEANUP_JSON json_t *o = read_object(body, len, e);
    logs[0] = '\0';
    if (!o)
        return -EPROTO;
    take_version(o, "FirmwareVersion", firmware);
    redfish_take_path("", json_text(json_object_get(o, "LogServices"), "@odata.id"), logs);
    return 0;
}

int redfish_read_logs(const char *body, size_t len, redfish_path log, struct err *e)
{
    CLEANUP_JSON json_t *o = read_object(body, len, e);
    const json_t *members = json_object_get(o, "Members"), *best = json_array_get(members, 0);
    if (!o)
        return -EPROTO;
    for (size_t i = 0; i < json_array_size(members); i++) {
        size_t n;
        const json_t *member = json_array_get(members, i);
        const char *is = name_of(json_text(member, "@odata.id"), &n);
        if (n == 3 && strncasecmp(is, "SEL", 3) == 0)
            best = member;
    }
    return best ? take_link(best, "@odata.id", log, e) : err_set(e, -ENOENT, "the BMC has no log");
}

int redfish_read_log(const char *body, size_t len, redfish_path entries, struct err *e)
{
    CLEANUP_JSON json_t *o = read_object(body, len, e);
    return o ? take_link(json_object_get(o, "Entries"), "@odata.id", entries, e) : -EPROTO;
}

enum { ENTRIES_MAX = 65536, ENTRIES_TOLD = 5 };

struct entry {
    const char *at;
    size_t place;
    const json_t *o;
};

/* Some list the newest first: the time decides, and the position when times are equal. */
static int by_time(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    int order = strcmp(x->at, y->at);
    return order ? order : x->place < y->place ? -1 : 1;
}

int redfish_read_entries(const char *body, size_t len, struct text *lines, struct err *e)
{
    CLEANUP_JSON json_t *o = read_object(body, len, e);
    const json_t *members = json_object_get(o, "Members");
    size_t n = json_array_size(members);
    if (!o)
        return -EPROTO;
    if (n > ENTRIES_MAX)
        return err_set(e, -EPROTO, "the BMC's log has %zu entries at once", n);
    CLEANUP_FREE struct entry *all = mem_alloc((n + 1) * sizeof *all);
    for (size_t i = 0; i < n; i++) {
        const json_t *one = json_array_get(members, i);
        all[i] = (struct entry){json_text(one, "Created"), i, one};
    }
    if (n > 1)
        qsort(all, n, sizeof *all, by_time);
    for (size_t i = n > ENTRIES_TOLD ? n - ENTRIES_TOLD : 0; i < n; i++) {
        CLEANUP_TEXT struct text line = {0};
        text_printf(&line, "%s%s%s", all[i].at, *all[i].at ? " | " : "", json_text(all[i].o, "Message"));
        add_words(lines, line.s);
        text_add_char(lines, '\n');
    }
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
