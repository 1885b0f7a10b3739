/* SPDX-License-Identifier: Apache-2.0 */
#include "api/seen.h"

#include <stdio.h>
#include <string.h>

static struct wall time_of(const json_t *entry)
{
    const char *text = "0";
    uint64_t ns = 0;
    json_take_string(entry, "since", &text, NULL);
    text_parse_u64(text, 0, INT64_MAX, &ns, NULL);
    return (struct wall){(int64_t)ns};
}

/* The record stores with a fingerprint when it came, and what changed as it went; the latter belongs to the
 * next newer entry. */
static void add_entry(struct seen *s, const json_t *entry)
{
    struct seen_entry *next = &s->entries[s->n - 1];
    const char *hex = "";
    uint64_t count = 0;
    json_take_string(entry, "fingerprint", &hex, NULL);
    json_take_u64(entry, "count", UINT32_MAX, &count, NULL);
    json_take_string(entry, "named", &next->named, NULL);
    next->count = (uint32_t)count;
    struct seen_entry *x = &s->entries[s->n++];
    *x = (struct seen_entry){.at = time_of(entry), .named = ""};
    snprintf(x->fingerprint, sizeof x->fingerprint, "%s", hex);
}

void seen_init(struct seen *s, const struct member *m)
{
    s->n = 0;
    s->record = NULL;
    if (!m->seen)
        return;
    s->n = 1;
    s->entries[0] = (struct seen_entry){.at = m->seen_since, .named = ""};
    fingerprint_format(&m->seen->id, s->entries[0].fingerprint);
    const char *history = m->past ? m->past->history : NULL;
    s->record = history ? json_read(history, strlen(history), NULL) : NULL;
    for (size_t i = 0; i < json_array_size(s->record) && s->n < SEEN_ENTRIES_MAX; i++)
        add_entry(s, json_array_get(s->record, i));
}

void seen_fini(struct seen *s)
{
    json_cleanup(&s->record);
    s->n = 0;
}

size_t seen_next_name(const char **list, const char **name)
{
    *name = *list;
    const char *end = strstr(*list, ", ");
    size_t len = end ? (size_t)(end - *list) : strlen(*list);
    *list += end ? len + 2 : len;
    return len;
}

/* A change that names only some of the changed components may hide this one: before it nothing is known. */
bool seen_changed(const struct seen *s, const char *component, struct wall *at)
{
    size_t want = strlen(component);
    for (size_t i = 0; i < s->n; i++) {
        const char *list = s->entries[i].named, *name;
        uint32_t named = 0;
        *at = s->entries[i].at;
        for (size_t len; (len = seen_next_name(&list, &name)) > 0; named++)
            if (len == want && memcmp(name, component, len) == 0)
                return true;
        if (s->entries[i].count > named)
            return false;
    }
    return false;
}
