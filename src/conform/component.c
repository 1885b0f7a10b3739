/* SPDX-License-Identifier: Apache-2.0 */
#include "conform/component.h"

#include "base/digest.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void components_fini(struct components *c)
{
    for (size_t i = 0; i < c->n; i++) {
        free(c->list[i].name);
        free(c->list[i].value);
    }
    free(c->list);
    *c = (struct components){0};
}

/* --- making a list ---------------------------------------------------------------------------- */

enum { SHOWN_BYTES_MAX = 80 };

/* Writes the beginning of any name for a sentence, without unprintable characters. */
static const char *component_shown(const char *name, char out[static SHOWN_BYTES_MAX + 1])
{
    size_t i = 0;
    for (; name[i] && i < SHOWN_BYTES_MAX; i++)
        out[i] = name[i] >= ' ' && name[i] <= '~' ? name[i] : '?';
    out[i] = '\0';
    return out;
}

static int check_name(const char *name, struct err *e)
{
    char text[SHOWN_BYTES_MAX + 1];
    size_t len = strlen(name);
    if (len == 0)
        return err_set(e, -EINVAL, "a component without a name");
    if (len > COMPONENT_NAME_BYTES_MAX)
        return err_set(e, -E2BIG, "the name of component \"%s...\" has %zu bytes; %d are allowed",
                       component_shown(name, text), len, COMPONENT_NAME_BYTES_MAX);
    for (const char *p = name; *p; p++)
        if (*p <= ' ' || *p > '~' || *p == '"' || *p == '\\')
            return err_set(e, -EINVAL,
                           "\"%s\" is no name of a component: printable ASCII without blanks, quotes and "
                           "backslashes",
                           component_shown(name, text));
    return 0;
}

static int check_value(const char *name, enum component_state state, const char *value, struct err *e)
{
    size_t len = strlen(value);
    if (state == COMPONENT_ABSENT && len > 0)
        return err_set(e, -EINVAL, "component %s is absent and has a value", name);
    if (len > COMPONENT_VALUE_BYTES_MAX)
        return err_set(e, -E2BIG, "the value of component %s has %zu bytes; %d are allowed", name, len,
                       COMPONENT_VALUE_BYTES_MAX);
    for (size_t i = 0, step; i < len; i += step)
        if ((step = text_utf8(value + i)) == 0)
            return err_set(e, -EINVAL, "the value of component %s is not UTF-8 at byte %zu", name, i);
    return 0;
}

static int check_room(const struct components *c, const char *name, size_t bytes, struct err *e)
{
    if (c->n == COMPONENTS_MAX)
        return err_set(e, -E2BIG, "component %s is one too many; a list has %d at most", name,
                       COMPONENTS_MAX);
    if (bytes > COMPONENTS_BYTES_MAX - c->bytes)
        return err_set(e, -E2BIG,
                       "with component %s the list has %zu bytes of names and values; %d are allowed", name,
                       c->bytes + bytes, COMPONENTS_BYTES_MAX);
    return 0;
}

int components_add(struct components *c, const char *name, enum component_state state, const char *value,
                   struct err *e)
{
    assert(name);
    assert(state <= COMPONENT_UNKNOWN);
    int rc = check_name(name, e);
    if (rc == 0)
        rc = check_value(name, state, value, e);
    size_t bytes = rc == 0 ? strlen(name) + strlen(value) : 0;
    if (rc == 0)
        rc = check_room(c, name, bytes, e);
    if (rc < 0)
        return rc;
    if (c->n == c->cap) {
        c->cap = c->cap ? c->cap * 2 : 64;
        c->list = mem_grow(c->list, c->cap * sizeof *c->list);
    }
    c->list[c->n++] = (struct component){.name = mem_dup(name), .value = mem_dup(value), .state = state};
    c->bytes += bytes;
    c->sorted = false;
    return 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct component *)a)->name, ((const struct component *)b)->name);
}

int components_sort(struct components *c, struct err *e)
{
    if (c->n > 1)
        qsort(c->list, c->n, sizeof *c->list, by_name);
    for (size_t i = 1; i < c->n; i++)
        if (strcmp(c->list[i - 1].name, c->list[i].name) == 0)
            return err_set(e, -EEXIST, "component %s stands twice in the list", c->list[i].name);
    c->sorted = true;
    return 0;
}

/* --- encoding (doc/spec/fingerprint.md) --------------------------------------------------------- */

static const char LIST_TAG[] = "fettle-fingerprint";
static const char COMPONENT_TAG[] = "fettle-component";

static void encode_u32(struct text *t, size_t n)
{
    const unsigned char bytes[] = {(unsigned char)(n >> 24), (unsigned char)(n >> 16),
                                   (unsigned char)(n >> 8), (unsigned char)n};
    text_add_bytes(t, bytes, sizeof bytes);
}

static void encode_string(struct text *t, const char *s)
{
    size_t len = strlen(s);
    encode_u32(t, len);
    text_add_bytes(t, s, len);
}

static void encode_component(struct text *t, const struct component *c)
{
    encode_string(t, c->name);
    text_add_char(t, (char)c->state);
    encode_string(t, c->value);
}

void components_encode(const struct components *c, struct text *bytes)
{
    assert(c->sorted || c->n == 0);
    text_add_bytes(bytes, LIST_TAG, sizeof LIST_TAG - 1);
    encode_u32(bytes, FINGERPRINT_VERSION);
    encode_u32(bytes, c->n);
    for (size_t i = 0; i < c->n; i++)
        encode_component(bytes, &c->list[i]);
}

static struct fingerprint hash_of(const struct text *bytes)
{
    struct fingerprint f;
    digest_sha256_bytes(bytes->s, bytes->len, f.bytes);
    return f;
}

struct fingerprint components_fingerprint(const struct components *c)
{
    CLEANUP_TEXT struct text bytes = {0};
    components_encode(c, &bytes);
    return hash_of(&bytes);
}

struct fingerprint component_hash(const struct component *c)
{
    CLEANUP_TEXT struct text bytes = {0};
    text_add_bytes(&bytes, COMPONENT_TAG, sizeof COMPONENT_TAG - 1);
    encode_u32(&bytes, FINGERPRINT_VERSION);
    encode_component(&bytes, c);
    return hash_of(&bytes);
}

/* --- fingerprints ------------------------------------------------------------------------------- */

int fingerprint_compare(const struct fingerprint *a, const struct fingerprint *b)
{
    return memcmp(a->bytes, b->bytes, sizeof a->bytes);
}

bool fingerprint_equal(const struct fingerprint *a, const struct fingerprint *b)
{
    return fingerprint_compare(a, b) == 0;
}

static const char HEX[] = "0123456789abcdef";

char *fingerprint_format(const struct fingerprint *f, char out[static FINGERPRINT_HEX + 1])
{
    for (size_t i = 0; i < sizeof f->bytes; i++) {
        out[2 * i] = HEX[f->bytes[i] >> 4];
        out[2 * i + 1] = HEX[f->bytes[i] & 15];
    }
    out[FINGERPRINT_HEX] = '\0';
    return out;
}

char *fingerprint_cohort(const struct fingerprint *f, char out[static FINGERPRINT_SHORT_BYTES])
{
    char hex[FINGERPRINT_HEX + 1];
    snprintf(out, FINGERPRINT_SHORT_BYTES, "fp_%.12s", fingerprint_format(f, hex));
    return out;
}

char *fingerprint_list(const struct fingerprint *f, char out[static FINGERPRINT_SHORT_BYTES])
{
    char hex[FINGERPRINT_HEX + 1];
    snprintf(out, FINGERPRINT_SHORT_BYTES, "list_%.12s", fingerprint_format(f, hex));
    return out;
}

bool fingerprint_parse(const char *hex, struct fingerprint *out)
{
    assert(hex && out);
    if (strspn(hex, HEX) != FINGERPRINT_HEX || hex[FINGERPRINT_HEX] != '\0')
        return false;
    for (size_t i = 0; i < sizeof out->bytes; i++)
        out->bytes[i] =
            (unsigned char)((strchr(HEX, hex[2 * i]) - HEX) << 4 | (strchr(HEX, hex[2 * i + 1]) - HEX));
    return true;
}

/* --- as JSON ------------------------------------------------------------------------------------ */

/* Adds the member for one state, {NAME:VALUE} or [NAME], when any component has that state. */
static void format_member(const struct components *c, const char *member, enum component_state state,
                          struct text *t)
{
    bool list = state == COMPONENT_ABSENT, any = false;
    for (size_t i = 0; i < c->n; i++) {
        if (c->list[i].state != state)
            continue;
        if (any)
            text_add_char(t, ',');
        else
            text_printf(t, "%s\"%s\":%c", t->s[t->len - 1] == '{' ? "" : ",", member, list ? '[' : '{');
        any = true;
        text_add_json(t, c->list[i].name);
        if (!list) {
            text_add_char(t, ':');
            text_add_json(t, c->list[i].value);
        }
    }
    if (any)
        text_add_char(t, list ? ']' : '}');
}

void components_format(const struct components *c, struct text *t)
{
    text_add_char(t, '{');
    format_member(c, "components", COMPONENT_VALUE, t);
    format_member(c, "absent", COMPONENT_ABSENT, t);
    format_member(c, "unknown", COMPONENT_UNKNOWN, t);
    text_add_char(t, '}');
}

static int parse_values(struct components *c, const json_t *object, const char *member,
                        enum component_state state, struct err *e)
{
    json_t *values = json_object_get(object, member);
    if (values && !json_is_object(values))
        return err_set(e, -EINVAL, "\"%s\" is not an object", member);
    const char *name;
    json_t *value;
    json_object_foreach (values, name, value) {
        char text[SHOWN_BYTES_MAX + 1];
        const char *s = json_string_value(value);
        if (!s || strlen(s) != json_string_length(value))
            return err_set(e, -EINVAL, "the value of component %s is not a text",
                           component_shown(name, text));
        int rc = components_add(c, name, state, s, e);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int parse_absent(struct components *c, const json_t *object, struct err *e)
{
    json_t *names = json_object_get(object, "absent");
    if (names && !json_is_array(names))
        return err_set(e, -EINVAL, "\"absent\" is not an array");
    size_t i;
    json_t *name;
    json_array_foreach (names, i, name) {
        const char *s = json_string_value(name);
        if (!s || strlen(s) != json_string_length(name))
            return err_set(e, -EINVAL, "\"absent\" has something that is not a text");
        int rc = components_add(c, s, COMPONENT_ABSENT, "", e);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* Removes the components that were added last. */
static void cut_back(struct components *c, size_t n, size_t bytes, bool sorted)
{
    for (; c->n > n; c->n--) {
        free(c->list[c->n - 1].name);
        free(c->list[c->n - 1].value);
    }
    c->bytes = bytes;
    c->sorted = sorted;
}

int components_parse(struct components *c, const json_t *object, struct err *e)
{
    size_t n = c->n, bytes = c->bytes;
    bool sorted = c->sorted;
    if (!json_is_object(object))
        return err_set(e, -EINVAL, "a list of components is a JSON object");
    int rc = parse_values(c, object, "components", COMPONENT_VALUE, e);
    if (rc == 0)
        rc = parse_absent(c, object, e);
    if (rc == 0)
        rc = parse_values(c, object, "unknown", COMPONENT_UNKNOWN, e);
    if (rc < 0)
        cut_back(c, n, bytes, sorted);
    return rc;
}

bool component_is_redfish(const char *name)
{
    return strncmp(name, COMPONENT_REDFISH, strlen(COMPONENT_REDFISH)) == 0;
}

const char *component_state_name(enum component_state s)
{
    static const char *const names[] = {
        [COMPONENT_VALUE] = "value", [COMPONENT_ABSENT] = "absent", [COMPONENT_UNKNOWN] = "unknown"};
    assert((size_t)s < sizeof names / sizeof *names);
    return names[s];
}

/* --- names in one text ------------------------------------------------------------------------ */

static const char between[] = ", ";

void component_names_add(struct text *t, const char *name)
{
    if (t->len)
        text_add(t, between);
    text_add(t, name);
}

void component_names_read(const char *text, struct component_names *out)
{
    *out = (struct component_names){0};
    while (*text) {
        const char *end = strstr(text, between);
        size_t len = end ? (size_t)(end - text) : strlen(text);
        out->list = mem_grow(out->list, (out->n + 1) * sizeof *out->list);
        out->list[out->n++] = mem_dup_len(text, len);
        text += end ? len + sizeof between - 1 : len;
    }
}

void component_names_fini(struct component_names *names)
{
    for (size_t i = 0; i < names->n; i++)
        free(names->list[i]);
    free(names->list);
    *names = (struct component_names){0};
}
