/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/uplink/body_inside.h"

#include "base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void body_survey_fini(struct body_survey *s)
{
    hostlist_fini(&s->also);
    json_decref(s->least);
    s->least = NULL;
}

static int take_also(const json_t *body, struct body_survey *out, struct err *e)
{
    const json_t *also = json_object_get(body, "also");
    size_t i, bytes = 0;
    json_t *one;
    if (!also)
        return 0;
    if (!json_is_array(also) || json_array_size(also) > BODY_ALSO_MAX)
        return err_set(e, -EINVAL, "\"also\" is no array of at most %d names", BODY_ALSO_MAX);
    json_array_foreach (also, i, one) {
        const char *name = json_string_value(one);
        if (!name || !*name || strlen(name) > COMPONENT_NAME_BYTES_MAX || !body_is_word(name))
            return err_set(e, -EINVAL, "\"also\" has an entry that is no name of a component");
        bytes += strlen(name) + 3;
    }
    if (bytes > BODY_PART_BYTES_MAX) /* a collector hands it on, with more in the frame */
        return err_set(e, -EINVAL, "\"also\" has more than %d bytes", BODY_PART_BYTES_MAX);
    json_array_foreach (also, i, one)
        hostlist_add(&out->also, json_string_value(one));
    out->has_also = true;
    return 0;
}

/* More than an agent keeps are no mistake of one version's distance. */
static int take_controllers(const json_t *body, struct body_survey *out, struct err *e)
{
    const json_t *list = json_object_get(body, "controllers");
    size_t i;
    json_t *one;
    if (!list)
        return 0;
    if (!json_is_array(list) || json_array_size(list) > BODY_CONTROLLERS_MAX)
        return err_set(e, -EINVAL, "\"controllers\" is no array of at most %d addresses",
                       BODY_CONTROLLERS_MAX);
    json_array_foreach (list, i, one) {
        struct address a = {0};
        if (!json_is_string(one) || address_parse(json_string_value(one), &a, e) < 0)
            return err_set(e, -EINVAL, "\"controllers\" has an entry that is no address");
        address_list_put(&out->controllers, &a);
    }
    out->has_controllers = true;
    return 0;
}

int body_read_survey(const struct frame *f, struct body_survey *out, struct err *e)
{
    CLEANUP_JSON json_t *body = body_open(f, e);
    *out = (struct body_survey){0};
    if (!body)
        return -EINVAL;
    int r = body_take_number(body, "revision", &out->revision, e);
    if (!r)
        r = body_take_time(body, "recheck_ms", BODY_RECHECK_MS_MAX, &out->has_recheck, &out->recheck, e);
    if (!r)
        r = take_also(body, out, e);
    if (!r)
        r = take_controllers(body, out, e);
    if (r)
        hostlist_fini(&out->also);
    if (!r)
        out->least = json_incref(json_object_get(body, "least"));
    return body_wrap(f, r, e);
}

/* Whether it is to be believed is seen when it is opened. */
static int take_survey(const json_t *body, json_t **out, struct err *e)
{
    json_t *survey = json_object_get(body, "survey");
    if (survey && !json_is_object(survey))
        return err_set(e, -EINVAL, "\"survey\" is not an object");
    *out = json_incref(survey);
    return 0;
}

static int take_waits(const json_t *body, struct body_waits *out, struct err *e)
{
    const struct {
        const char *key;
        struct span *to;
    } all[] = {{"answer_ms", &out->answer},
               {"pause_ms", &out->pause},
               {"hold_ms", &out->hold},
               {"away_ms", &out->away},
               {"silent_ms", &out->silent}};
    int r = 0;
    bool has;
    for (size_t i = 0; !r && i < sizeof all / sizeof all[0]; i++)
        r = body_take_time(body, all[i].key, BODY_INTERVAL_MS_MAX, &has, all[i].to, e);
    return r;
}

/* The controller's clock; 0 where it is not said. */
static int take_now(const json_t *body, struct wall *out, struct err *e)
{
    uint64_t now_ms = 0;
    int r = body_take_number(body, "now_ms", &now_ms, e);
    if (!r && now_ms > INT64_MAX / 1000000)
        r = err_set(e, -EINVAL, "\"now_ms\" is too large");
    *out = (struct wall){r ? 0 : (int64_t)now_ms * 1000000};
    return r;
}

int body_read_welcome(const struct frame *f, struct body_welcome *out, struct err *e)
{
    CLEANUP_JSON json_t *body = body_open(f, e);
    bool has_spread;
    out->survey = NULL;
    if (!body)
        return -EINVAL;
    int r = body_take_time(body, "interval_ms", BODY_INTERVAL_MS_MAX, &out->has_interval, &out->interval, e);
    if (!r)
        r = body_take_time(body, "spread_ms", BODY_INTERVAL_MS_MAX, &has_spread, &out->spread, e);
    if (!r)
        r = take_waits(body, &out->waits, e);
    if (!r)
        r = take_now(body, &out->now, e);
    if (!r)
        r = body_take_number(body, "term", &out->term, e);
    if (!r)
        r = body_take_word(body, "origin", false, out->origin, e);
    if (!r)
        r = body_take_word(body, "controller", false, out->controller, e);
    if (!r)
        r = body_take_flag(body, "want", &out->want, e);
    if (!r)
        r = take_survey(body, &out->survey, e);
    return body_wrap(f, r, e);
}

int body_read_settings(const struct frame *f, struct body_settings *out, struct err *e)
{
    CLEANUP_JSON json_t *body = body_open(f, e);
    out->survey = NULL;
    if (!body)
        return -EINVAL;
    int r = body_take_time(body, "interval_ms", BODY_INTERVAL_MS_MAX, &out->has_interval, &out->interval, e);
    if (!r)
        r = body_take_time(body, "spread_ms", BODY_INTERVAL_MS_MAX, &out->has_spread, &out->spread, e);
    if (!r)
        r = take_waits(body, &out->waits, e);
    if (!r)
        r = take_survey(body, &out->survey, e);
    return body_wrap(f, r, e);
}

int body_read_refuse(const struct frame *f, struct body_refuse *out, struct err *e)
{
    CLEANUP_JSON json_t *body = body_open(f, e);
    const char *code = "", *message = "";
    if (!body)
        return -EINVAL;
    int r = json_take_string(body, "code", &code, e);
    if (r)
        return body_wrap(f, r, e);
    (void)json_take_string(body, "message", &message, NULL);
    out->code = err_code(code);
    size_t n = 0;
    for (; message[n] && n + 1 < sizeof out->message; n++) /* it goes into a line of the log */
        out->message[n] = (unsigned char)message[n] < ' ' ? ' ' : message[n];
    out->message[n] = 0;
    return 0;
}

static int read_collector(const json_t *collector, struct course_collector *out, struct err *e)
{
    uint64_t port;
    if (!json_is_object(collector))
        return err_set(e, -EINVAL, "\"collector\" is not an object");
    int r = body_take_name(collector, "name", out->name, sizeof out->name, e);
    if (!r)
        r = body_take_text(collector, "host", true, out->address.host, sizeof out->address.host, e);
    if (!r && (!out->address.host[0] || !body_is_word(out->address.host)))
        r = err_set(e, -EINVAL, "\"host\" is no host");
    if (!r)
        r = json_take_u64(collector, "port", UINT16_MAX, &port, e);
    if (!r && port == 0)
        r = err_set(e, -EINVAL, "\"port\" is zero");
    if (!r)
        out->address.port = (uint16_t)port;
    return r;
}

int body_read_redirect(const struct frame *f, struct body_redirect *out, struct err *e)
{
    CLEANUP_JSON json_t *body = body_open(f, e);
    if (!body)
        return -EINVAL;
    const json_t *collector = json_object_get(body, "collector");
    out->to_collector = collector && !json_is_null(collector);
    if (take_now(body, &out->now, e))
        return -EINVAL;
    return out->to_collector ? body_wrap(f, read_collector(collector, &out->collector, e), e) : 0;
}

/* has is false when the member is absent. A few bytes can name very many nodes, so the number of names is
 * bounded too. */
static int take_nodes(const json_t *body, bool *has, struct hostlist *out, struct err *e)
{
    const char *text;
    int r = json_take_string(body, "nodes", &text, e);
    *has = r == 0;
    if (r)
        return r == -ENOENT ? 0 : r;
    r = hostlist_parse_max(text, BODY_SHARE_NODES_MAX, out, e);
    for (size_t i = 0; !r && i < out->n; i++)
        if (!hostlist_name_ok(out->names[i]))
            r = err_set(e, -EINVAL, "\"nodes\" has an entry that is no name of a node");
    if (r)
        hostlist_fini(out);
    return r;
}

int body_read_share(const struct frame *f, struct body_share *out, struct err *e)
{
    CLEANUP_JSON json_t *body = body_open(f, e);
    *out = (struct body_share){0};
    if (!body)
        return -EINVAL;
    int r = body_take_number(body, "epoch", &out->epoch, e);
    if (!r)
        r = take_nodes(body, &out->collect, &out->nodes, e);
    return body_wrap(f, r, e);
}

int body_read_want(const struct frame *f, struct body_want *out, struct err *e)
{
    CLEANUP_JSON json_t *body = body_open(f, e);
    bool has = false;
    *out = (struct body_want){0};
    if (!body)
        return -EINVAL;
    int r = body_take_fingerprint(body, "components", &out->fingerprint, e);
    out->components = r == 0;
    if (!r || r == -ENOENT)
        r = take_nodes(body, &has, &out->nodes, e);
    out->own = !has;
    return body_wrap(f, r, e);
}

int body_read_pem(const struct frame *f, const char *key, char **out, struct err *e)
{
    CLEANUP_JSON json_t *body = body_open(f, e);
    const char *pem;
    if (!body)
        return -EINVAL;
    int r = json_take_string(body, key, &pem, e);
    if (!r)
        *out = mem_dup(pem);
    return body_wrap(f, r, e);
}

int body_read_hello(const struct frame *f, struct body_hello *out, struct err *e)
{
    CLEANUP_JSON json_t *body = body_open(f, e);
    uint64_t protocol;
    if (!body)
        return -EINVAL;
    int r = json_take_u64(body, "protocol", BODY_NUMBER_MAX, &protocol, e);
    if (!r && protocol != 1)
        r = err_set(e, -EINVAL, "this agent collects for protocol 1 only");
    if (!r)
        r = body_take_name(body, "name", out->name, sizeof out->name, e);
    if (!r)
        r = body_take_word(body, "version", false, out->version, e);
    if (!r)
        r = body_take_word(body, "boot", true, out->boot, e);
    if (!r)
        r = body_take_word(body, "instance", true, out->instance, e);
    if (!r)
        r = body_take_word(body, "inventory", false, out->inventory, e);
    if (!r)
        r = body_take_word(body, "checklist", false, out->checklist, e);
    return body_wrap(f, r, e);
}

/* An array of strings as text; "null" for none, for null and for one that is too long to be handed on. */
static int take_work(const json_t *body, char **out, struct err *e)
{
    const json_t *work = json_object_get(body, "work");
    if (work && !json_is_null(work) && !json_is_array(work))
        return err_set(e, -EINVAL, "\"work\" is no array");
    size_t i;
    json_t *one;
    json_array_foreach (work, i, one)
        if (!json_is_string(one))
            return err_set(e, -EINVAL, "\"work\" is no array of strings");
    char *text = work ? json_write(work) : mem_dup("null");
    if (strlen(text) > BODY_WORK_BYTES_MAX) {
        free(text);
        text = mem_dup("null");
    }
    *out = text;
    return 0;
}

int body_read_heartbeat(const struct frame *f, struct body_heartbeat *out, struct err *e)
{
    CLEANUP_JSON json_t *body = body_open(f, e);
    out->work = NULL;
    if (!body)
        return -EINVAL;
    int r = body_take_word(body, "boot", true, out->boot, e);
    if (!r)
        r = body_take_word(body, "instance", true, out->instance, e);
    if (!r)
        r = json_take_u64(body, "seq", BODY_NUMBER_MAX, &out->seq, e);
    if (!r)
        r = body_take_number(body, "uptime_s", &out->uptime_s, e);
    if (!r)
        r = take_work(body, &out->work, e);
    return body_wrap(f, r, e);
}

static int take_members(const json_t *body, char **out, struct err *e)
{
    bool full;
    const json_t *set = json_object_get(body, "set"), *unset = json_object_get(body, "unset");
    int r = body_take_flag(body, "full", &full, e);
    if (r)
        return r;
    if (set && !json_is_object(set))
        return err_set(e, -EINVAL, "\"set\" is not an object");
    if (unset && !json_is_array(unset))
        return err_set(e, -EINVAL, "\"unset\" is not an array");
    CLEANUP_FREE char *set_text = set ? json_write(set) : mem_dup("{}");
    CLEANUP_FREE char *unset_text = unset ? json_write(unset) : mem_dup("[]");
    CLEANUP_TEXT struct text t = {0};
    text_printf(&t, "%s\"set\":%s,\"unset\":%s", full ? "\"full\":true," : "", set_text, unset_text);
    if (t.len > BODY_PART_BYTES_MAX)
        return err_set(e, -EINVAL, "%zu bytes, more than a collector hands on", t.len);
    *out = text_take(&t);
    return 0;
}

int body_read_inventory(const struct frame *f, struct body_inventory *out, struct err *e)
{
    CLEANUP_JSON json_t *body = body_open(f, e);
    out->members = NULL;
    if (!body)
        return -EINVAL;
    int r = body_take_word(body, "instance", true, out->instance, e);
    if (!r)
        r = body_take_word(body, "hash", true, out->hash, e);
    if (!r)
        r = take_members(body, &out->members, e);
    return body_wrap(f, r, e);
}

int body_read_fingerprint(const struct frame *f, struct body_fingerprint *out, struct err *e)
{
    CLEANUP_JSON json_t *body = body_open(f, e);
    *out = (struct body_fingerprint){0};
    if (!body)
        return -EINVAL;
    int r = body_take_flag(body, "same", &out->same, e);
    if (!r && !out->same)
        r = body_take_fingerprint(body, "fingerprint", &out->fingerprint, e);
    if (!r && !out->same)
        r = body_take_word(body, "boot", true, out->boot, e);
    return body_wrap(f, r, e);
}

/* A part is handed on as it came; whether it hashes to what it claims is for the controller. */
static int take_part(const json_t *body, struct body_components *out, struct err *e)
{
    static const char *const keys[] = {"components", "absent", "unknown"};
    struct fingerprint id;
    char hex[FINGERPRINT_HEX + 1];
    CLEANUP_TEXT struct text t = {0};
    int r = body_take_fingerprint(body, "fingerprint", &id, e);
    if (!r)
        r = json_take_u64(body, "parts", BODY_PARTS_MAX, &out->parts, e);
    if (!r)
        r = json_take_u64(body, "part", BODY_PARTS_MAX, &out->part, e);
    if (!r && out->part >= out->parts)
        r = err_set(e, -EINVAL, "\"part\" is not below \"parts\"");
    if (r)
        return r;
    text_printf(&t, "\"fingerprint\":\"%s\",\"part\":%" PRIu64 ",\"parts\":%" PRIu64,
                fingerprint_format(&id, hex), out->part, out->parts);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const json_t *value = json_object_get(body, keys[i]);
        if (!value)
            continue;
        if (i == 1 ? !json_is_array(value) : !json_is_object(value))
            return err_set(e, -EINVAL, "\"%s\" is no %s", keys[i], i == 1 ? "array" : "object");
        CLEANUP_FREE char *s = json_write(value);
        text_printf(&t, ",\"%s\":%s", keys[i], s);
    }
    if (t.len > BODY_PART_BYTES_MAX)
        return err_set(e, -EINVAL, "%zu bytes, more than a collector hands on", t.len);
    out->members = text_take(&t);
    return 0;
}

int body_read_components(const struct frame *f, struct body_components *out, struct err *e)
{
    CLEANUP_JSON json_t *body = body_open(f, e);
    *out = (struct body_components){0};
    return body ? body_wrap(f, take_part(body, out, e), e) : -EINVAL;
}
