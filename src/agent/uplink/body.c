/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/uplink/body.h"

#include "base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t NUMBER_MAX = INT64_MAX;

static int frame_wrap(const struct frame *f, int r, struct err *e)
{
    char name[16];
    return r ? err_wrap(e, -EINVAL, "%s", frame_name(f->type, name)) : 0;
}

static json_t *read_object(const struct frame *f, struct err *e)
{
    json_t *body = json_read(f->body, f->len, e);
    if (body && !json_is_object(body)) {
        err_set(e, -EINVAL, "the body is not an object");
        json_decref(body);
        body = NULL;
    }
    if (!body)
        frame_wrap(f, -EINVAL, e);
    return body;
}

/* Printable ASCII without quotes, so that it may stand in a log line and in JSON as it is. */
static bool is_word(const char *s)
{
    for (; *s; s++)
        if (*s <= ' ' || *s >= 0x7f || *s == '"' || *s == '\\')
            return false;
    return true;
}

static int take_text(const json_t *body, const char *key, bool required, char *out, size_t size,
                     struct err *e)
{
    const char *s;
    out[0] = 0;
    int r = json_take_string(body, key, &s, e);
    if (r)
        return r == -ENOENT && !required ? 0 : r;
    if (strlen(s) >= size)
        return err_set(e, -EINVAL, "\"%s\" is longer than %zu characters", key, size - 1);
    memcpy(out, s, strlen(s) + 1);
    return 0;
}

static int take_word(const json_t *body, const char *key, bool required, char *out, struct err *e)
{
    int r = take_text(body, key, required, out, BODY_WORD_BYTES_MAX + 1, e);
    if (r)
        return r;
    if (required && !out[0])
        return err_set(e, -EINVAL, "\"%s\" is empty", key);
    return is_word(out) ? 0 : err_set(e, -EINVAL, "\"%s\" has characters that do not belong there", key);
}

static int take_name(const json_t *body, const char *key, char *out, size_t size, struct err *e)
{
    int r = take_text(body, key, true, out, size, e);
    if (r)
        return r;
    return hostlist_name_ok(out) ? 0 : err_set(e, -EINVAL, "\"%s\" is no name of a node", key);
}

static int take_time(const json_t *body, const char *key, uint64_t ms_max, bool *has, struct span *out,
                     struct err *e)
{
    uint64_t ms = 0;
    int r = json_take_u64(body, key, ms_max, &ms, e);
    *has = r == 0;
    *out = span_ms((int64_t)ms);
    return r == -ENOENT ? 0 : r;
}

static int take_flag(const json_t *body, const char *key, bool *out, struct err *e)
{
    *out = false;
    int r = json_take_bool(body, key, out, e);
    return r == -ENOENT ? 0 : r;
}

static int take_number(const json_t *body, const char *key, uint64_t *out, struct err *e)
{
    *out = 0;
    int r = json_take_u64(body, key, NUMBER_MAX, out, e);
    return r == -ENOENT ? 0 : r;
}

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
        if (!name || !*name || strlen(name) > COMPONENT_NAME_BYTES_MAX || !is_word(name))
            return err_set(e, -EINVAL, "\"also\" has what is no name of a component");
        bytes += strlen(name) + 3;
    }
    if (bytes > BODY_PART_BYTES_MAX) /* a collector hands it on, with more in the frame */
        return err_set(e, -EINVAL, "\"also\" has more than %d bytes", BODY_PART_BYTES_MAX);
    json_array_foreach (also, i, one)
        hostlist_add(&out->also, json_string_value(one));
    out->has_also = true;
    return 0;
}

int body_read_survey(const struct frame *f, struct body_survey *out, struct err *e)
{
    CLEANUP_JSON json_t *body = read_object(f, e);
    *out = (struct body_survey){0};
    if (!body)
        return -EINVAL;
    int r = take_number(body, "revision", &out->revision, e);
    if (!r)
        r = take_time(body, "recheck_ms", BODY_RECHECK_MS_MAX, &out->has_recheck, &out->recheck, e);
    if (!r)
        r = take_also(body, out, e);
    if (!r)
        out->least = json_incref(json_object_get(body, "least"));
    return frame_wrap(f, r, e);
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
        r = take_time(body, all[i].key, BODY_INTERVAL_MS_MAX, &has, all[i].to, e);
    return r;
}

/* The controller's clock; 0 where it is not said. */
static int take_now(const json_t *body, struct wall *out, struct err *e)
{
    uint64_t now_ms = 0;
    int r = take_number(body, "now_ms", &now_ms, e);
    if (!r && now_ms > INT64_MAX / 1000000)
        r = err_set(e, -EINVAL, "\"now_ms\" is too large");
    *out = (struct wall){r ? 0 : (int64_t)now_ms * 1000000};
    return r;
}

int body_read_welcome(const struct frame *f, struct body_welcome *out, struct err *e)
{
    CLEANUP_JSON json_t *body = read_object(f, e);
    bool has_spread;
    out->survey = NULL;
    if (!body)
        return -EINVAL;
    int r = take_time(body, "interval_ms", BODY_INTERVAL_MS_MAX, &out->has_interval, &out->interval, e);
    if (!r)
        r = take_time(body, "spread_ms", BODY_INTERVAL_MS_MAX, &has_spread, &out->spread, e);
    if (!r)
        r = take_waits(body, &out->waits, e);
    if (!r)
        r = take_now(body, &out->now, e);
    if (!r)
        r = take_number(body, "term", &out->term, e);
    if (!r)
        r = take_word(body, "origin", false, out->origin, e);
    if (!r)
        r = take_word(body, "controller", false, out->controller, e);
    if (!r)
        r = take_flag(body, "want", &out->want, e);
    if (!r)
        r = take_survey(body, &out->survey, e);
    return frame_wrap(f, r, e);
}

int body_read_settings(const struct frame *f, struct body_settings *out, struct err *e)
{
    CLEANUP_JSON json_t *body = read_object(f, e);
    out->survey = NULL;
    if (!body)
        return -EINVAL;
    int r = take_time(body, "interval_ms", BODY_INTERVAL_MS_MAX, &out->has_interval, &out->interval, e);
    if (!r)
        r = take_time(body, "spread_ms", BODY_INTERVAL_MS_MAX, &out->has_spread, &out->spread, e);
    if (!r)
        r = take_waits(body, &out->waits, e);
    if (!r)
        r = take_survey(body, &out->survey, e);
    return frame_wrap(f, r, e);
}

int body_read_refuse(const struct frame *f, struct body_refuse *out, struct err *e)
{
    CLEANUP_JSON json_t *body = read_object(f, e);
    const char *code = "", *message = "";
    if (!body)
        return -EINVAL;
    int r = json_take_string(body, "code", &code, e);
    if (r)
        return frame_wrap(f, r, e);
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
    int r = take_name(collector, "name", out->name, sizeof out->name, e);
    if (!r)
        r = take_text(collector, "host", true, out->address.host, sizeof out->address.host, e);
    if (!r && (!out->address.host[0] || !is_word(out->address.host)))
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
    CLEANUP_JSON json_t *body = read_object(f, e);
    if (!body)
        return -EINVAL;
    const json_t *collector = json_object_get(body, "collector");
    out->to_collector = collector && !json_is_null(collector);
    if (take_now(body, &out->now, e))
        return -EINVAL;
    return out->to_collector ? frame_wrap(f, read_collector(collector, &out->collector, e), e) : 0;
}

/* *has is false when the member is absent. A list of many names in few bytes is cheap to write, so
 * the number of names is bounded, too. */
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
            r = err_set(e, -EINVAL, "\"nodes\" has what is no name of a node");
    if (r)
        hostlist_fini(out);
    return r;
}

int body_read_share(const struct frame *f, struct body_share *out, struct err *e)
{
    CLEANUP_JSON json_t *body = read_object(f, e);
    *out = (struct body_share){0};
    if (!body)
        return -EINVAL;
    int r = take_number(body, "epoch", &out->epoch, e);
    if (!r)
        r = take_nodes(body, &out->collect, &out->nodes, e);
    return frame_wrap(f, r, e);
}

static int take_fingerprint(const json_t *body, const char *key, struct fingerprint *out, struct err *e)
{
    const char *hex;
    int r = json_take_string(body, key, &hex, e);
    if (!r && !fingerprint_parse(hex, out))
        r = err_set(e, -EINVAL, "\"%s\" is no fingerprint", key);
    return r;
}

int body_read_want(const struct frame *f, struct body_want *out, struct err *e)
{
    CLEANUP_JSON json_t *body = read_object(f, e);
    bool has = false;
    *out = (struct body_want){0};
    if (!body)
        return -EINVAL;
    int r = take_fingerprint(body, "components", &out->fingerprint, e);
    out->components = r == 0;
    if (!r || r == -ENOENT)
        r = take_nodes(body, &has, &out->nodes, e);
    out->own = !has;
    return frame_wrap(f, r, e);
}

int body_read_pem(const struct frame *f, const char *key, char **out, struct err *e)
{
    CLEANUP_JSON json_t *body = read_object(f, e);
    const char *pem;
    if (!body)
        return -EINVAL;
    int r = json_take_string(body, key, &pem, e);
    if (!r)
        *out = mem_dup(pem);
    return frame_wrap(f, r, e);
}

int body_read_hello(const struct frame *f, struct body_hello *out, struct err *e)
{
    CLEANUP_JSON json_t *body = read_object(f, e);
    uint64_t protocol;
    if (!body)
        return -EINVAL;
    int r = json_take_u64(body, "protocol", NUMBER_MAX, &protocol, e);
    if (!r && protocol != 1)
        r = err_set(e, -EINVAL, "this agent collects for protocol 1 only");
    if (!r)
        r = take_name(body, "name", out->name, sizeof out->name, e);
    if (!r)
        r = take_word(body, "version", false, out->version, e);
    if (!r)
        r = take_word(body, "boot", true, out->boot, e);
    if (!r)
        r = take_word(body, "instance", true, out->instance, e);
    if (!r)
        r = take_word(body, "inventory", false, out->inventory, e);
    if (!r)
        r = take_word(body, "checklist", false, out->checklist, e);
    return frame_wrap(f, r, e);
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
    CLEANUP_JSON json_t *body = read_object(f, e);
    out->work = NULL;
    if (!body)
        return -EINVAL;
    int r = take_word(body, "boot", true, out->boot, e);
    if (!r)
        r = take_word(body, "instance", true, out->instance, e);
    if (!r)
        r = json_take_u64(body, "seq", NUMBER_MAX, &out->seq, e);
    if (!r)
        r = take_number(body, "uptime_s", &out->uptime_s, e);
    if (!r)
        r = take_work(body, &out->work, e);
    return frame_wrap(f, r, e);
}

static int take_members(const json_t *body, char **out, struct err *e)
{
    bool full;
    const json_t *set = json_object_get(body, "set"), *unset = json_object_get(body, "unset");
    int r = take_flag(body, "full", &full, e);
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
    CLEANUP_JSON json_t *body = read_object(f, e);
    out->members = NULL;
    if (!body)
        return -EINVAL;
    int r = take_word(body, "instance", true, out->instance, e);
    if (!r)
        r = take_word(body, "hash", true, out->hash, e);
    if (!r)
        r = take_members(body, &out->members, e);
    return frame_wrap(f, r, e);
}

int body_read_fingerprint(const struct frame *f, struct body_fingerprint *out, struct err *e)
{
    CLEANUP_JSON json_t *body = read_object(f, e);
    *out = (struct body_fingerprint){0};
    if (!body)
        return -EINVAL;
    int r = take_flag(body, "same", &out->same, e);
    if (!r && !out->same)
        r = take_fingerprint(body, "fingerprint", &out->fingerprint, e);
    if (!r && !out->same)
        r = take_word(body, "boot", true, out->boot, e);
    return frame_wrap(f, r, e);
}

/* A part is handed on as it came; whether it hashes to what it claims is for the controller. */
static int take_part(const json_t *body, struct body_components *out, struct err *e)
{
    static const char *const keys[] = {"components", "absent", "unknown"};
    struct fingerprint id;
    char hex[FINGERPRINT_HEX + 1];
    CLEANUP_TEXT struct text t = {0};
    int r = take_fingerprint(body, "fingerprint", &id, e);
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
    CLEANUP_JSON json_t *body = read_object(f, e);
    *out = (struct body_components){0};
    return body ? frame_wrap(f, take_part(body, out, e), e) : -EINVAL;
}

void body_checklist_fini(struct body_checklist *l)
{
    hostlist_fini(&l->lines);
    hostlist_fini(&l->meanings);
}

/* Each is a record, so that one cannot be read for two. */
static int take_lines(const json_t *body, const char *key, struct hostlist *out, struct err *e)
{
    const json_t *lines = json_object_get(body, key);
    size_t i;
    json_t *line;
    if (lines && !json_is_array(lines))
        return err_set(e, -EINVAL, "\"%s\" is no array", key);
    json_array_foreach (lines, i, line) {
        const char *s = json_string_value(line);
        if (!s || strpbrk(s, "\r\n"))
            return err_set(e, -EINVAL, "\"%s\" has what is no line", key);
        hostlist_add(out, s);
    }
    return 0;
}

int body_read_checklist(const struct frame *f, struct body_checklist *out, struct err *e)
{
    CLEANUP_JSON json_t *body = read_object(f, e);
    *out = (struct body_checklist){0};
    if (!body)
        return -EINVAL;
    int r = take_word(body, "hash", true, out->hash, e);
    if (!r)
        r = take_number(body, "revision", &out->revision, e);
    if (!r)
        r = take_lines(body, "lines", &out->lines, e);
    if (!r)
        r = take_lines(body, "meanings", &out->meanings, e);
    if (r)
        body_checklist_fini(out);
    return frame_wrap(f, r, e);
}

static int take_company(const json_t *body, struct body_act *out, struct err *e)
{
    uint64_t rank = 0;
    int r = take_text(body, "nodes", false, out->nodes, sizeof out->nodes, e);
    if (!r)
        r = json_take_u64(body, "rank", UINT16_MAX, &rank, e);
    out->rank = (unsigned)rank;
    return r == -ENOENT ? 0 : r;
}

static int take_operation(const json_t *body, struct body_act *out, struct err *e)
{
    uint64_t ms = 0;
    int r = take_word(body, "id", true, out->id, e);
    if (!r)
        r = take_word(body, "boot", true, out->boot, e);
    if (!r)
        r = take_word(body, "nonce", false, out->nonce, e);
    if (!r)
        r = take_word(body, "origin", false, out->origin, e);
    if (!r)
        r = json_take_u64(body, "deadline_ms", BODY_DEADLINE_MS_MAX, &ms, e);
    if (!r && ms == 0)
        r = err_set(e, -EINVAL, "\"deadline_ms\" is zero");
    out->deadline = span_ms((int64_t)ms);
    if (!r)
        r = take_text(body, "run", true, out->run, sizeof out->run, e);
    if (!r && strcmp(out->run, "forget") == 0)
        r = json_take_u64(body, "until", NUMBER_MAX, &out->until, e);
    if (!r)
        r = take_company(body, out, e);
    return r ? r : take_text(body, "cures", false, out->cures, sizeof out->cures, e);
}

int body_read_act(const struct frame *f, struct body_act *out, struct err *e)
{
    CLEANUP_JSON json_t *body = read_object(f, e);
    *out = (struct body_act){0};
    if (!body)
        return -EINVAL;
    int r = take_flag(body, "tell", &out->tell, e);
    if (!r)
        r = take_word(body, "end", false, out->end, e);
    if (!r)
        r = take_number(body, "term", &out->term, e);
    if (!r && !out->tell && !out->end[0])
        r = take_operation(body, out, e);
    return frame_wrap(f, r, e);
}

int body_read_standing(const struct frame *f, struct body_standing *out, struct err *e)
{
    CLEANUP_JSON json_t *body = read_object(f, e);
    *out = (struct body_standing){0};
    if (!body)
        return -EINVAL;
    int r = take_fingerprint(body, "fingerprint", &out->fingerprint, e);
    if (!r)
        r = take_word(body, "nonce", true, out->nonce, e);
    if (!r)
        r = take_text(body, "why", false, out->why, sizeof out->why, e);
    return frame_wrap(f, r, e);
}

static bool may_pass(uint64_t type)
{
    return type == FRAME_CHECKS || type == FRAME_ACT || type == FRAME_DONE || type == FRAME_STANDING;
}

int body_read_pass(const struct frame *f, struct body_pass *out, struct err *e)
{
    CLEANUP_JSON json_t *body = read_object(f, e);
    uint64_t type = 0;
    *out = (struct body_pass){0};
    if (!body)
        return -EINVAL;
    const json_t *inner = json_object_get(body, "body");
    int r = take_name(body, "node", out->node, sizeof out->node, e);
    if (!r)
        r = json_take_u64(body, "type", UINT8_MAX, &type, e);
    if (!r && !may_pass(type))
        r = err_set(e, -EINVAL, "frames of type %d are not passed on", (int)type);
    if (!r && !json_is_object(inner))
        r = err_set(e, -EINVAL, "\"body\" is not an object");
    if (!r) {
        out->type = (enum frame_type)type;
        out->body = json_write(inner);
    }
    return frame_wrap(f, r, e);
}

/* Read before and after: what is passed on must be one object by itself, and not too deep with one around it.
 */
int body_write_pass(const char *node, const struct frame *f, struct text *out, struct err *e)
{
    CLEANUP_JSON json_t *body = read_object(f, e);
    if (!body)
        return -EINVAL;
    text_clear(out);
    text_printf(out, "{\"node\":\"%s\",\"type\":%d,\"body\":", node, f->type);
    text_add_bytes(out, f->body, f->len);
    text_add_char(out, '}');
    if (out->len > FRAME_BODY_BYTES_MAX)
        return frame_wrap(f, err_set(e, -EINVAL, "it is too long to be passed on"), e);
    CLEANUP_JSON json_t *whole = json_read(out->s, out->len, e);
    return whole ? 0 : frame_wrap(f, -EINVAL, e);
}
