/* SPDX-License-Identifier: Apache-2.0 */
#include "api/ask_inside.h"

#include "base/network.h"
#include "cluster/cluster.h"
#include "node/field.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const int64_t DAY_S = 86400;

void ask_fini(struct ask *a)
{
    hostlist_fini(&a->nodes);
    free(a->reason);
    free(a->claim);
    free(a->from);
    free(a->uuid);
    for (size_t i = 0; i < a->n_settings; i++)
        free(a->settings[i].value);
    free(a->settings);
    free(a->name);
    free(a->request);
    free(a->node);
    free(a->class_name);
    free(a->word);
    for (size_t i = 0; i < a->n_findings; i++) {
        free(a->findings[i].fault);
        free(a->findings[i].device);
    }
    free(a->findings);
    for (size_t i = 0; i < a->n_parts; i++) {
        free(a->parts[i].name);
        free(a->parts[i].text);
    }
    free(a->parts);
    text_fini(&a->warnings);
    *a = (struct ask){0};
}

static int parse_hold(const json_t *o, struct ask *a, struct err *e)
{
    int rc = ask_take_nodes(o, a, e);
    return rc < 0 ? rc : ask_take_plain(o, "reason", REASON_BYTES_MAX, &a->reason, e);
}

static int parse_release(const json_t *o, struct ask *a, struct err *e)
{
    int rc = ask_take_nodes(o, a, e);
    if (rc < 0 || !json_object_get(o, "claim"))
        return rc;
    return ask_take_plain(o, "claim", CLAIM_ID_BYTES_MAX, &a->claim, e);
}

static int add_setting(struct ask *a, const char *key, const json_t *value, struct err *e)
{
    enum field f;
    int rc = field_find(key, &f, e);
    if (rc < 0)
        return rc;
    const struct field_row *row = field_get(f);
    if (!row->settable)
        return err_set(e, -EINVAL, "%s cannot be set: %s", row->name, row->what);
    for (size_t i = 0; i < a->n_settings; i++)
        if (a->settings[i].field == f)
            return err_set(e, -EINVAL, "%s is set twice", row->name);
    if (!json_is_string(value) && !json_is_null(value))
        return err_set(e, -EINVAL, "the value of %s is neither a string nor null", row->name);
    if (json_is_string(value) && json_string_length(value) > 0)
        rc = ask_check_plain(row->name, json_string_value(value), VALUE_BYTES_MAX, e);
    if (rc == 0)
        a->settings[a->n_settings++] = (struct ask_setting){f, mem_dup(json_string_value(value))};
    return rc;
}

static int parse_set(const json_t *o, struct ask *a, struct err *e)
{
    int rc = ask_take_nodes(o, a, e);
    if (rc < 0)
        return rc;
    json_t *asked = json_object_get(o, "set");
    if (!asked)
        return err_set(e, -EINVAL, "\"set\" is missing");
    if (!json_is_object(asked) || json_object_size(asked) == 0)
        return err_set(e, -EINVAL, "\"set\" is no object with at least one field");
    a->settings = mem_alloc(json_object_size(asked) * sizeof *a->settings);
    const char *key;
    json_t *value;
    json_object_foreach (asked, key, value) {
        rc = add_setting(a, key, value, e);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int parse_nothing(const json_t *o, struct ask *a, struct err *e)
{
    return 0;
}

static int allow_reason(const json_t *o, struct ask *a, struct err *e)
{
    return json_object_get(o, "reason") ? ask_take_plain(o, "reason", REASON_BYTES_MAX, &a->reason, e) : 0;
}

static int parse_node(const json_t *o, const char *key, struct ask *a, struct err *e)
{
    const char *name;
    int rc = ask_want_string(o, key, &name, e);
    if (rc < 0)
        return rc;
    if (!hostlist_name_ok(name))
        return err_set(e, -EINVAL, "\"%s\" is not the name of one node", key);
    a->node = mem_dup(name);
    return 0;
}

static int allow_version(const json_t *o, struct ask *a, struct err *e)
{
    uint64_t version = 0;
    if (!json_object_get(o, "version"))
        return 0;
    int rc = json_take_u64(o, "version", UINT32_MAX, &version, e);
    if (rc == 0 && version == 0)
        return err_set(e, -EINVAL, "\"version\" is 0; the first is 1");
    a->version = (uint32_t)version;
    return rc;
}

static int parse_class(const json_t *o, struct ask *a, struct err *e)
{
    return ask_take_plain(o, "class", CLASS_NAME_BYTES_MAX, &a->class_name, e);
}

static int parse_recheck(const json_t *o, struct ask *a, struct err *e)
{
    return ask_take_nodes(o, a, e);
}

static int parse_approve(const json_t *o, struct ask *a, struct err *e)
{
    int rc = ask_take_nodes(o, a, e);
    return rc < 0 ? rc : allow_reason(o, a, e);
}

static int parse_baseline(const json_t *o, struct ask *a, struct err *e)
{
    int rc = parse_node(o, "node", a, e);
    return rc < 0 ? rc : allow_reason(o, a, e);
}

static int parse_revert(const json_t *o, struct ask *a, struct err *e)
{
    int rc = parse_class(o, a, e);
    if (rc == 0)
        rc = allow_version(o, a, e);
    return rc < 0 ? rc : allow_reason(o, a, e);
}

/* The target of a rollout: a node that shows it, or an earlier version of the baseline. */
static int parse_target(const json_t *o, struct ask *a, struct err *e)
{
    bool to = json_object_get(o, "to"), version = json_object_get(o, "version");
    if (to == version)
        return err_set(e, -EINVAL, "either \"to\" or \"version\" is needed%s", to ? ", not both" : "");
    return to ? parse_node(o, "to", a, e) : allow_version(o, a, e);
}

static int parse_rollout(const json_t *o, struct ask *a, struct err *e)
{
    const char *deadline;
    int rc = parse_class(o, a, e);
    if (rc == 0)
        rc = parse_target(o, a, e);
    if (rc == 0)
        rc = ask_take_nodes(o, a, e);
    if (rc == 0)
        rc = ask_want_string(o, "deadline", &deadline, e);
    if (rc == 0)
        rc = ask_take_span("deadline", deadline, ROLLOUT_DAYS_MAX * DAY_S, &a->deadline, e);
    return rc < 0 ? rc : allow_reason(o, a, e);
}

/* --- health and repair --- */

static int parse_check(const json_t *o, struct ask *a, struct err *e)
{
    int rc = ask_take_nodes(o, a, e);
    return rc < 0 ? rc : ask_take_plain(o, "check", CHECK_NAME_BYTES_MAX, &a->word, e);
}

/* Approval or refusal of the remedy that the caller saw. */
static int parse_answer(const json_t *o, bool must_say_why, struct ask *a, struct err *e)
{
    int rc = ask_take_nodes(o, a, e);
    if (rc == 0 && json_object_get(o, "remedy"))
        rc = ask_take_plain(o, "remedy", REMEDY_NAME_BYTES_MAX, &a->word, e);
    if (rc < 0)
        return rc;
    return must_say_why ? ask_take_plain(o, "reason", REASON_BYTES_MAX, &a->reason, e)
                        : allow_reason(o, a, e);
}

static int parse_yes(const json_t *o, struct ask *a, struct err *e)
{
    return parse_answer(o, false, a, e);
}

static int parse_no(const json_t *o, struct ask *a, struct err *e)
{
    return parse_answer(o, true, a, e);
}

static int parse_transition(const json_t *o, struct ask *a, struct err *e)
{
    int rc = ask_take_nodes(o, a, e);
    if (rc == 0)
        rc = ask_take_plain(o, "transition", VALUE_BYTES_MAX, &a->word, e);
    return rc < 0 ? rc : ask_take_plain(o, "reason", REASON_BYTES_MAX, &a->reason, e);
}

static int take_finding(const json_t *o, struct ask_finding *out, struct err *e)
{
    static const char *const keys[] = {"fault", "device"};
    const char *fault, *device = NULL;
    if (!json_is_object(o))
        return err_set(e, -EINVAL, "\"findings\" has an entry that is no object");
    int rc = json_only_keys(o, keys, 2, e);
    if (rc == 0)
        rc = ask_want_string(o, "fault", &fault, e);
    if (rc == 0)
        rc = ask_check_plain("fault", fault, FAULT_BYTES_MAX, e);
    if (rc == 0)
        rc = ask_allow_string(o, "device", &device, e);
    if (rc == 0 && device && *device)
        rc = ask_check_plain("device", device, FINDING_DEVICE_BYTES_MAX, e);
    if (rc == 0)
        *out = (struct ask_finding){mem_dup(fault), device ? mem_dup(device) : NULL};
    return rc;
}

static int parse_resolve(const json_t *o, struct ask *a, struct err *e)
{
    const json_t *list = json_object_get(o, "findings");
    size_t n = json_array_size(list);
    int rc = ask_take_nodes(o, a, e);
    if (rc == 0 && (!json_is_array(list) || n == 0 || n > FINDINGS_NAMED_MAX))
        rc = err_set(e, -EINVAL, "\"findings\" is no array of 1 to %d", FINDINGS_NAMED_MAX);
    if (rc < 0)
        return rc;
    a->findings = mem_alloc(n * sizeof *a->findings);
    for (; rc == 0 && a->n_findings < n; a->n_findings += rc == 0)
        rc = take_finding(json_array_get(list, a->n_findings), &a->findings[a->n_findings], e);
    return rc < 0 ? rc : ask_take_plain(o, "reason", REASON_BYTES_MAX, &a->reason, e);
}

static int parse_forget(const json_t *o, struct ask *a, struct err *e)
{
    int rc = ask_take_nodes(o, a, e);
    if (rc == 0 && json_object_get(o, "force"))
        rc = json_take_bool(o, "force", &a->on, e);
    return rc;
}

static int parse_ticket(const json_t *o, struct ask *a, struct err *e)
{
    int rc = ask_take_nodes(o, a, e);
    a->gives = json_object_get(o, "take");
    if (rc == 0 && a->gives)
        rc = json_take_bool(o, "take", &a->on, e);
    if (rc == 0)
        rc = allow_reason(o, a, e);
    if (rc == 0 && !a->gives && !a->reason)
        return err_set(e, -EINVAL, "either \"take\" or \"reason\", a note, is needed");
    return rc;
}

static int parse_brake(const json_t *o, struct ask *a, struct err *e)
{
    int rc = ask_take_plain(o, "name", VALUE_BYTES_MAX, &a->word, e);
    if (rc == 0 && !json_object_get(o, "on"))
        return err_set(e, -EINVAL, "\"on\" is missing");
    if (rc == 0)
        rc = json_take_bool(o, "on", &a->on, e);
    return rc < 0 ? rc : ask_take_plain(o, "reason", REASON_BYTES_MAX, &a->reason, e);
}

static int parse_power(const json_t *o, struct ask *a, struct err *e)
{
    int rc = ask_take_nodes(o, a, e);
    if (rc == 0)
        rc = ask_take_plain(o, "do", VALUE_BYTES_MAX, &a->word, e);
    if (rc == 0 && json_object_get(o, "force"))
        rc = json_take_bool(o, "force", &a->on, e);
    return rc < 0 ? rc : allow_reason(o, a, e);
}

static int take_owner(const json_t *o, const char *key, struct owner *out, struct err *e)
{
    const char *name;
    int rc = ask_want_string(o, key, &name, e);
    if (rc == 0 && owner_parse(name, out, e) < 0)
        rc = err_wrap(e, -EINVAL, "\"%s\"", key);
    return rc;
}

static int parse_owned(const json_t *o, struct ask *a, struct err *e)
{
    int rc = json_object_get(o, "nodes") ? ask_take_nodes(o, a, e) : 0;
    if (rc == 0 && json_object_get(o, "owner"))
        rc = take_owner(o, "owner", &a->owner, e);
    return rc < 0 ? rc : allow_reason(o, a, e);
}

static int parse_owner_claim(const json_t *o, struct ask *a, struct err *e)
{
    int rc = parse_owned(o, a, e);
    return rc == 0 && a->nodes.n == 0 ? err_set(e, -EINVAL, "\"nodes\" is missing") : rc;
}

static int parse_owner_transfer(const json_t *o, struct ask *a, struct err *e)
{
    int rc = parse_owned(o, a, e);
    if (rc == 0 && !json_object_get(o, "owner"))
        return err_set(e, -EINVAL, "\"owner\" is missing: the present owner");
    return rc < 0 ? rc : take_owner(o, "new_owner", &a->new_owner, e);
}

/* A text may have any character: the reader of its records judges it. */
static int take_part(const json_t *o, struct ask_part *p, struct err *e)
{
    static const char *const keys[] = {"part", "text"};
    const char *text;
    int rc = json_is_object(o) ? json_only_keys(o, keys, 2, e)
                               : err_set(e, -EINVAL, "a member of \"parts\" is no object");
    if (rc == 0)
        rc = ask_want_string(o, "text", &text, e);
    if (rc == 0)
        rc = ask_take_plain(o, "part", VALUE_BYTES_MAX, &p->name, e);
    if (rc == 0)
        p->text = mem_dup(text);
    return rc;
}

static int take_parts(const json_t *list, struct ask *a, struct err *e)
{
    size_t n = json_array_size(list);
    if (!json_is_array(list) || n == 0 || n > ASK_PARTS_MAX)
        return err_set(e, -EINVAL, "\"parts\" is no array of 1 to %d", ASK_PARTS_MAX);
    a->parts = mem_alloc(n * sizeof *a->parts);
    int rc = 0;
    for (; rc == 0 && a->n_parts < n; a->n_parts += rc == 0)
        rc = take_part(json_array_get(list, a->n_parts), &a->parts[a->n_parts], e);
    return rc;
}

static int take_warnings(const json_t *list, struct text *out, struct err *e)
{
    size_t n = json_array_size(list);
    if (list && (!json_is_array(list) || n > ASK_WARNINGS_MAX))
        return err_set(e, -EINVAL, "\"warnings\" is no array of at most %d", ASK_WARNINGS_MAX);
    for (size_t i = 0; i < n; i++) {
        const char *s = json_string_value(json_array_get(list, i));
        if (!s)
            return err_set(e, -EINVAL, "a member of \"warnings\" is no string");
        int rc = ask_check_plain("warnings", s, VALUE_BYTES_MAX, e);
        if (rc < 0)
            return rc;
        text_printf(out, "%s\n", s);
    }
    return 0;
}

/* Nothing, for the files of the controller that is asked; or texts, all of it. */
static int parse_reload(const json_t *o, struct ask *a, struct err *e)
{
    if (json_object_size(o) == 0)
        return 0;
    int rc = take_parts(json_object_get(o, "parts"), a, e);
    if (rc == 0)
        rc = json_take_u64(o, "revision", INT64_MAX, &a->revision, e);
    if (rc == -ENOENT)
        rc = err_set(e, -EINVAL, "\"revision\" is missing: the one with which the texts were compared");
    return rc == 0 ? take_warnings(json_object_get(o, "warnings"), &a->warnings, e) : rc;
}

enum { KEYS_MAX = 6 };

static const struct {
    int (*parse)(const json_t *o, struct ask *a, struct err *e);
    bool may_be_empty; /* no body means {} */
    size_t n_keys;
    const char *keys[KEYS_MAX];
} forms[ROUTES] = {
    [ROUTE_node_drain] = {parse_hold, false, 2, {"nodes", "reason"}},
    [ROUTE_node_down] = {parse_hold, false, 2, {"nodes", "reason"}},
    [ROUTE_node_undrain] = {parse_release, false, 2, {"nodes", "claim"}},
    [ROUTE_node_up] = {parse_release, false, 2, {"nodes", "claim"}},
    [ROUTE_node_set] = {parse_set, false, 2, {"nodes", "set"}},
    [ROUTE_node_forget] = {parse_forget, false, 2, {"nodes", "force"}},
    [ROUTE_config_reload] = {parse_reload, true, 3, {"revision", "parts", "warnings"}},
    [ROUTE_backup_create] = {parse_nothing, true, 0, {NULL}},
    [ROUTE_token_create] = {ask_parse_token, false, 6, {"nodes", "valid", "count", "again", "from", "uuid"}},
    [ROUTE_token_end] = {ask_parse_token_end, false, 2, {"id", "reason"}},
    [ROUTE_controller_admit] = {ask_parse_controller_admit, false, 2, {"name", "key"}},
    [ROUTE_controller_remove] = {ask_parse_controller_remove, false, 2, {"name", "reason"}},
    [ROUTE_certificate_create] = {ask_parse_certificate, false, 4, {"name", "role", "request", "valid"}},
    [ROUTE_certificate_revoke] = {ask_parse_revoke, false, 4, {"nodes", "holder", "serial", "reason"}},
    [ROUTE_conform_recheck] = {parse_recheck, false, 1, {"nodes"}},
    [ROUTE_conform_approve] = {parse_approve, false, 2, {"nodes", "reason"}},
    [ROUTE_baseline_accept] = {parse_baseline, false, 2, {"node", "reason"}},
    [ROUTE_baseline_revert] = {parse_revert, false, 3, {"class", "version", "reason"}},
    [ROUTE_rollout_start] = {parse_rollout,
                             false,
                             6,
                             {"class", "to", "version", "nodes", "deadline", "reason"}},
    [ROUTE_rollout_accept] = {parse_class, false, 1, {"class"}},
    [ROUTE_rollout_revert] = {parse_class, false, 1, {"class"}},
    [ROUTE_check_run] = {parse_check, false, 2, {"nodes", "check"}},
    [ROUTE_repair_transition] = {parse_transition, false, 3, {"nodes", "transition", "reason"}},
    [ROUTE_repair_approve] = {parse_yes, false, 3, {"nodes", "remedy", "reason"}},
    [ROUTE_repair_refuse] = {parse_no, false, 3, {"nodes", "remedy", "reason"}},
    [ROUTE_queue_resolve] = {parse_resolve, false, 3, {"nodes", "findings", "reason"}},
    [ROUTE_queue_ticket] = {parse_ticket, false, 3, {"nodes", "take", "reason"}},
    [ROUTE_override_set] = {parse_hold, false, 2, {"nodes", "reason"}},
    [ROUTE_override_end] = {parse_hold, false, 2, {"nodes", "reason"}},
    [ROUTE_brake_set] = {parse_brake, false, 3, {"name", "on", "reason"}},
    [ROUTE_owner_claim] = {parse_owner_claim, false, 3, {"nodes", "owner", "reason"}},
    [ROUTE_owner_release] = {parse_owned, false, 3, {"nodes", "owner", "reason"}},
    [ROUTE_owner_transfer] = {parse_owner_transfer, false, 4, {"nodes", "owner", "new_owner", "reason"}},
    [ROUTE_power] = {parse_power, false, 4, {"nodes", "do", "reason", "force"}},
};

int ask_parse(enum route r, const char *body, size_t len, struct ask *a, struct err *e)
{
    if (len == 0 && !forms[r].may_be_empty)
        return err_set(e, -EINVAL, "the body is empty; a JSON object is needed");
    CLEANUP_JSON json_t *o = len == 0 ? json_object() : json_read(body, len, e);
    if (!o)
        return -EINVAL;
    if (!json_is_object(o))
        return err_set(e, -EINVAL, "the body is not a JSON object");
    int rc = json_only_keys(o, forms[r].keys, forms[r].n_keys, e);
    if (rc == 0)
        rc = forms[r].parse(o, a, e);
    if (rc < 0)
        ask_fini(a);
    return rc;
}
