/* SPDX-License-Identifier: Apache-2.0 */
#include "node/machine.h"

#include "base/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { UUID_BYTES = 36, SERIAL_BYTES_MIN = 3 };

static const struct {
    const char *word; /* ends with a space; the value follows */
    const char *key;  /* the member of DMI */
} kinds[MACHINE_KINDS] = {[MACHINE_UUID] = {"uuid ", "uuid"},
                          [MACHINE_SERIAL] = {"serial ", "serial"},
                          [MACHINE_BOARD] = {"board ", "board_serial"}};

static const char *const placeholders[] = {
#define PLACEHOLDER(text) text,
#include "node/placeholder.tbl"
#undef PLACEHOLDER
};

/* True when the text has only one character beside separators. */
static bool is_monotone(const char *s)
{
    char first = '\0';
    for (; *s; s++) {
        if (*s == '-' || *s == ' ' || *s == '.')
            continue;
        if (first && *s != first)
            return false;
        first = *s;
    }
    return true;
}

static bool is_placeholder(const char *s)
{
    for (size_t i = 0; i < sizeof placeholders / sizeof placeholders[0]; i++)
        if (strcasecmp(s, placeholders[i]) == 0)
            return true;
    return is_monotone(s);
}

static bool is_printable(const char *s)
{
    for (; *s; s++)
        if (*s < 0x20 || *s > 0x7e)
            return false;
    return true;
}

static bool is_uuid(const char *s)
{
    static const char form[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
    for (size_t i = 0; i < UUID_BYTES; i++)
        if (form[i] == 'x' ? !isxdigit((unsigned char)s[i]) : s[i] != form[i])
            return false;
    return s[UUID_BYTES] == '\0';
}

static bool has_form(enum machine_kind k, const char *id)
{
    size_t len = strlen(id);
    if (!is_printable(id))
        return false;
    return k == MACHINE_UUID
               ? len == UUID_BYTES && is_uuid(id)
               : len >= SERIAL_BYTES_MIN && len + strlen(kinds[k].word) <= MACHINE_NAME_BYTES_MAX;
}

static char *machine_trimmed(const char *s)
{
    s += strspn(s, " \t");
    size_t len = strlen(s);
    while (len && (s[len - 1] == ' ' || s[len - 1] == '\t'))
        len--;
    return mem_dup_len(s, len);
}

static char *read_name(const json_t *dmi, enum machine_kind k)
{
    const char *said = json_string_value(json_object_get(dmi, kinds[k].key));
    if (!said)
        return NULL;
    CLEANUP_FREE char *id = machine_trimmed(said);
    if (!has_form(k, id) || is_placeholder(id))
        return NULL;
    for (char *p = id; k == MACHINE_UUID && *p; p++)
        *p = (char)tolower((unsigned char)*p);
    struct text t = {0};
    text_printf(&t, "%s%s", kinds[k].word, id);
    return text_take(&t);
}

void machine_read(const json_t *inventory, struct machine *out)
{
    const json_t *dmi = json_object_get(inventory, "DMI");
    for (int k = 0; k < MACHINE_KINDS; k++)
        out->name[k] = read_name(dmi, (enum machine_kind)k);
}

void machine_fini(struct machine *m)
{
    for (int k = 0; k < MACHINE_KINDS; k++)
        free(m->name[k]);
    *m = (struct machine){0};
}

const char *machine_surest(const struct machine *m)
{
    for (int k = 0; k < MACHINE_KINDS; k++)
        if (m->name[k])
            return m->name[k];
    return NULL;
}

/* The kind that this name has; MACHINE_KINDS for none. */
static enum machine_kind kind_of(const char *name)
{
    int k = 0;
    while (k < MACHINE_KINDS && strncmp(name, kinds[k].word, strlen(kinds[k].word)) != 0)
        k++;
    return (enum machine_kind)k;
}

bool machine_name_ok(const char *name)
{
    enum machine_kind k = kind_of(name);
    return k != MACHINE_KINDS && has_form(k, name + strlen(kinds[k].word));
}

enum machine_is machine_is(const struct machine *m, const char *name)
{
    enum machine_kind k = kind_of(name);
    if (k == MACHINE_KINDS || !m->name[k])
        return MACHINE_IS_UNKNOWN;
    return strcmp(m->name[k], name) == 0 ? MACHINE_IS_SAME : MACHINE_IS_ANOTHER;
}
