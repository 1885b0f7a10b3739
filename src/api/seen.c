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
    const char *hex = "", *named = "";
    uint64_t count = 0;
    json_take_string(entry, "fingerprint", &hex, NULL);
    json_take_u64(entry, "count", UINT32_MAX, &count, NULL);
    json_take_string(entry, "named", &named, NULL);
    component_names_read(named, &next->named);
    next->count = (uint32_t)count;
    struct seen_entry *x = &s->entries[s->n++];
    *x = (struct seen_entry){.at = time_of(entry)};
    snprintf(x->fingerprint, sizeof x->fingerprint, "%s", hex);
}

void seen_init(struct seen *s, const struct member *m)
{
    s->n = 0;
    if (!m->seen)
        return;
    s->n = 1;
    s->entries[0] = (struct seen_entry){.at = m->seen_since};
    fingerprint_format(&m->seen->id, s->entries[0].fingerprint);
    const char *history = m->past ? m->past->history : NULL;
    CLEANUP_JSON json_t *record = history ? json_read(history, strlen(history), NULL) : NULL;
    for (size_t i = 0; i < json_array_size(record) && s->n < SEEN_ENTRIES_MAX; i++)
        add_entry(s, json_array_get(record, i));
}

void seen_fini(struct seen *s)
{
    while (s->n > 0)
        component_names_fini(&s->entries[--s->n].named);
}

/* A change that names only some of the changed components may hide this one: before it nothing is known. */
bool seen_changed(const struct seen *s, const char *component, struct wall *at)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct component_names *named = &s->entries[i].named;
        *at = s->entries[i].at;
        for (size_t k = 0; k < named->n; k++)
            if (strcmp(named->list[k], component) == 0)
                return true;
        if (s->entries[i].count > named->n)
            return false;
    }
    return false;
}
