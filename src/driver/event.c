/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/event.h"

#include "base/digest.h"
#include "base/json.h"
#include "base/text.h"
#include "health/plugin.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char check_prefix[] = "sensu.";

/* --- Sensu ----------------------------------------------------------------------------------- */

static bool is_check_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
}

/* Converts the name to the form of check names. Two names that differ only at the end must not become one. */
static void name_check(const char *name, char out[static CHECK_NAME_BYTES_MAX + 1])
{
    enum { SUM_BYTES = 9 }; /* '-' and 32 bits */
    size_t n = sizeof check_prefix - 1;
    memcpy(out, check_prefix, n);
    for (const char *p = name; *p && n < CHECK_NAME_BYTES_MAX; p++) {
        char c = *p >= 'A' && *p <= 'Z' ? (char)(*p - 'A' + 'a') : *p;
        out[n++] = is_check_char(c) ? c : '-';
    }
    out[n] = '\0';
    uint64_t sum = digest_fnv(DIGEST_FNV_START, name, strlen(name));
    if (strlen(name) > CHECK_NAME_BYTES_MAX - (sizeof check_prefix - 1))
        snprintf(out + CHECK_NAME_BYTES_MAX - SUM_BYTES, SUM_BYTES + 1, "-%08" PRIx32, (uint32_t)sum);
}

/* metadata.name of an object of Sensu's; NULL when there is none. */
static const char *meta_name(const json_t *object)
{
    const char *name = json_string_value(json_object_get(json_object_get(object, "metadata"), "name"));
    return name && *name ? name : NULL;
}

static int read_node(const json_t *event, const json_t *check, struct sensu_event *out, struct err *e)
{
    const char *name = json_string_value(json_object_get(check, "proxy_entity_name"));
    if (!name || !*name)
        name = meta_name(json_object_get(event, "entity"));
    if (!name)
        return err_set(e, -EINVAL, "an event without the name of its entity");
    if (strlen(name) > EVENT_NODE_BYTES_MAX)
        return err_set(e, -EINVAL, "an event whose entity has a name of %zu bytes", strlen(name));
    snprintf(out->node, sizeof out->node, "%s", name);
    return 0;
}

/* The time of execution is more precise than that of the event; both are whole seconds. */
static struct wall time_of(const json_t *event, const json_t *check)
{
    const json_t *at[] = {json_object_get(check, "executed"), json_object_get(event, "timestamp")};
    for (size_t i = 0; i < sizeof at / sizeof at[0]; i++) {
        json_int_t s = json_integer_value(at[i]);
        if (s > 0 && s < INT64_MAX / 1000000000)
            return (struct wall){s * 1000000000};
    }
    return (struct wall){0};
}

static int read_verdict(const json_t *check, struct verdict *v, struct err *e)
{
    const json_t *status = json_object_get(check, "status"), *output = json_object_get(check, "output");
    if (!json_is_integer(status) || json_integer_value(status) < 0 || json_integer_value(status) > 255)
        return err_set(e, -EINVAL, "an event whose status is no number from 0 to 255");
    const char *text = json_is_string(output) ? json_string_value(output) : "";
    enum metric format = METRIC_PERFDATA;
    metric_parse(json_text(check, "output_metric_format"),
                 &format); /* an event of a newer Sensu must not be refused for it */
    plugin_read((int)json_integer_value(status), text, strlen(text), format, v);
    return 0;
}

int sensu_event_read(const char *bytes, size_t len, struct sensu_event *out, struct err *e)
{
    assert(out);
    *out = (struct sensu_event){0};
    CLEANUP_JSON json_t *event = json_read(bytes, len, e);
    if (!event)
        return -EINVAL;
    const json_t *check = json_object_get(event, "check");
    if (!check && json_is_object(json_object_get(event, "metrics")))
        return err_set(e, -ENOENT, "an event of metrics alone");
    if (!json_is_object(check))
        return err_set(e, -EINVAL, "an event without a check");
    const char *name = meta_name(check);
    if (!name)
        return err_set(e, -EINVAL, "an event whose check has no name");
    int rc = read_node(event, check, out, e);
    if (rc == 0)
        rc = read_verdict(check, &out->verdict, e);
    if (rc < 0)
        return rc;
    name_check(name, out->check);
    out->at = time_of(event, check);
    return 0;
}

/* --- transitions ----------------------------------------------------------------------------- */

/* Letters, digits and a few characters of names of people and requests; at most the limit. */
static bool is_word(const char *s)
{
    static const char good[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._@-";
    size_t n = strlen(s);
    return n > 0 && n <= EVENT_WORD_BYTES_MAX && strspn(s, good) == n;
}

static int take_word(const char *key, const char *value, bool must, char out[static EVENT_WORD_BYTES_MAX + 1],
                     struct err *e)
{
    if (!value && !must)
        return 0;
    if (!value || !is_word(value))
        return err_set(e, -EINVAL, "%s is no word of at most %d letters, digits, '.', '_', '@' and '-'", key,
                       EVENT_WORD_BYTES_MAX);
    snprintf(out, EVENT_WORD_BYTES_MAX + 1, "%s", value);
    return 0;
}

static int take_node(const char *name, struct transition_wish *out, struct err *e)
{
    if (!name || !hostlist_name_ok(name))
        return err_set(e, -EINVAL, "node is not the name of a node");
    snprintf(out->node, sizeof out->node, "%s", name);
    return 0;
}

static int take_message(const char *message, struct transition_wish *out, struct err *e)
{
    size_t n = message ? strlen(message) : 0;
    if (n == 0 || n > EVENT_MESSAGE_BYTES_MAX)
        return err_set(e, -EINVAL, "message is no text of 1 to %d bytes", EVENT_MESSAGE_BYTES_MAX);
    for (size_t i = 0; i < n; i++)
        out->message[i] = (unsigned char)message[i] < ' ' || message[i] == 0x7f ? ' ' : message[i];
    out->message[n] = '\0';
    return 0;
}

/* A member that is present must be a string. */
static int optional_word(const json_t *o, const char *key, char out[static EVENT_WORD_BYTES_MAX + 1],
                         struct err *e)
{
    const char *value = NULL;
    if (json_take_string(o, key, &value, NULL) == -EINVAL)
        return err_set(e, -EINVAL, "%s is no text", key);
    return take_word(key, value, false, out, e);
}

static int read_object(const char *bytes, size_t len, struct transition_wish *out, struct err *e)
{
    CLEANUP_JSON json_t *o = json_read(bytes, len, e);
    if (!o)
        return -EINVAL;
    if (!json_is_object(o))
        return err_set(e, -EINVAL, "an array is no transition");
    int rc = optional_word(o, "id", out->id, e);
    if (rc == 0)
        rc = optional_word(o, "by", out->by, e);
    if (rc == 0)
        rc = take_node(json_string_value(json_object_get(o, "node")), out, e);
    if (rc == 0)
        rc = take_word("transition", json_string_value(json_object_get(o, "transition")), true,
                       out->transition, e);
    if (rc == 0)
        rc = take_message(json_string_value(json_object_get(o, "message")), out, e);
    return rc;
}

/* Takes the next word of a line; *at moves past the blanks after it. */
static char *next_word(char **at)
{
    static const char blanks[] = " \t\r\n";
    char *word = *at + strspn(*at, blanks);
    char *end = word + strcspn(word, blanks);
    *at = end + strspn(end, blanks);
    *end = '\0';
    return word;
}

/* NODE TRANSITION MESSAGE..., as older scripts send it. */
static int read_words(const char *bytes, size_t len, struct transition_wish *out, struct err *e)
{
    enum { WORDS_BYTES_MAX = EVENT_NODE_BYTES_MAX + EVENT_WORD_BYTES_MAX + EVENT_MESSAGE_BYTES_MAX + 16 };
    if (len > WORDS_BYTES_MAX || memchr(bytes, '\0', len))
        return err_set(e, -EINVAL, "neither JSON nor node, transition and message");
    CLEANUP_FREE char *copy = mem_dup_len(bytes, len);
    char *at = copy;
    int rc = take_node(next_word(&at), out, e);
    if (rc == 0)
        rc = take_word("transition", next_word(&at), true, out->transition, e);
    while (rc == 0 && *at && strchr(" \t\r\n", at[strlen(at) - 1]))
        at[strlen(at) - 1] = '\0';
    return rc == 0 ? take_message(at, out, e) : rc;
}

int transition_wish_read(const char *bytes, size_t len, struct transition_wish *out, struct err *e)
{
    assert(out);
    size_t blank = 0;
    *out = (struct transition_wish){0};
    while (blank < len && strchr(" \t\r\n", bytes[blank]) && bytes[blank])
        blank++;
    bool is_json = blank < len && (bytes[blank] == '{' || bytes[blank] == '[');
    return is_json ? read_object(bytes, len, out, e) : read_words(bytes, len, out, e);
}
