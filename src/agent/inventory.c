/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/inventory.h"

#include "probe/probe.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * A report is lines, for JSON text without white space has none of its own:
 *
 *     h HASH          of the whole
 *     m KEY HASH      of each member
 *     l KEY           of a member that was left out
 *     b {...}         body of a frame
 *     .               the end; without it the report is cut short
 *
 * A whole that does not fit one frame goes in several, each with the hash of what the other side
 * has after it, so that a link that ends between two leaves it with a hash that tells so.
 */

static void member_hash(const char *key, json_t *value, char hash[static 17])
{
    CLEANUP_JSON json_t *alone = json_object();
    json_object_set(alone, key, value);
    probe_hash(alone, hash);
}

static const char *told_hash(const struct inventory_table *told, const char *key)
{
    for (size_t i = 0; told && i < told->n; i++)
        if (strcmp(told->member[i].key, key) == 0)
            return told->member[i].hash;
    return NULL;
}

/* Takes out what cannot be sent; says what in a line of the report. */
static void leave_out(json_t *inventory, struct text *out)
{
    const char *key;
    json_t *value;
    void *next;
    size_t kept = 0;
    json_object_foreach_safe(inventory, next, key, value)
    {
        CLEANUP_FREE char *s = json_write(value);
        if (strlen(key) <= INVENTORY_KEY_BYTES_MAX && !strpbrk(key, " \n") && kept < INVENTORY_MEMBERS_MAX &&
            strlen(s) <= INVENTORY_PART_BYTES_MAX) {
            kept++;
            continue;
        }
        if (!strpbrk(key, " \n"))
            text_printf(out, "l %s\n", key);
        json_object_del(inventory, key);
    }
}

static void write_table(json_t *inventory, struct text *out)
{
    char hash[17];
    const char *key;
    json_t *value;
    probe_hash(inventory, hash);
    text_printf(out, "h %s\n", hash);
    json_object_foreach (inventory, key, value) {
        member_hash(key, value, hash);
        text_printf(out, "m %s %s\n", key, hash);
    }
}

/* One frame: the members of set, and the names that are gone. after is the whole once it arrived. */
static void write_body(const char *instance, bool full, json_t *after, json_t *set, json_t *unset,
                       struct text *out)
{
    char hash[17];
    CLEANUP_FREE char *set_text = json_write(set);
    CLEANUP_FREE char *unset_text = json_write(unset);
    probe_hash(after, hash);
    text_printf(out, "b {\"instance\":\"%s\",\"hash\":\"%s\"%s,\"set\":%s,\"unset\":%s}\n", instance, hash,
                full ? ",\"full\":true" : "", set_text, unset_text);
}

static void write_whole(json_t *inventory, const char *instance, struct text *out)
{
    CLEANUP_JSON json_t *after = json_object();
    CLEANUP_JSON json_t *set = json_object();
    CLEANUP_JSON json_t *unset = json_array();
    const char *key;
    json_t *value;
    bool first = true;
    size_t bytes = 0;
    json_object_foreach (inventory, key, value) {
        CLEANUP_FREE char *s = json_write(value);
        if (bytes && bytes + strlen(s) > INVENTORY_PART_BYTES_MAX) {
            write_body(instance, first, after, set, unset, out);
            json_object_clear(set);
            first = false;
            bytes = 0;
        }
        json_object_set(set, key, value);
        json_object_set(after, key, value);
        bytes += strlen(s) + INVENTORY_KEY_BYTES_MAX;
    }
    write_body(instance, first, after, set, unset, out);
}

void inventory_report(const struct inventory_table *told, json_t *inventory, const char *instance,
                      struct text *out)
{
    leave_out(inventory, out);
    write_table(inventory, out);
    CLEANUP_JSON json_t *set = json_object();
    CLEANUP_JSON json_t *unset = json_array();
    const char *key;
    json_t *value;
    size_t bytes = 0;
    json_object_foreach (inventory, key, value) {
        char hash[17];
        const char *old = told_hash(told, key);
        member_hash(key, value, hash);
        if (old && strcmp(old, hash) == 0)
            continue;
        CLEANUP_FREE char *s = json_write(value);
        bytes += strlen(s);
        json_object_set(set, key, value);
    }
    for (size_t i = 0; told && i < told->n; i++)
        if (!json_object_get(inventory, told->member[i].key))
            json_array_append_new(unset, json_string(told->member[i].key));
    if (!told || bytes > INVENTORY_PART_BYTES_MAX)
        write_whole(inventory, instance, out);
    else if (json_object_size(set) || json_array_size(unset))
        write_body(instance, false, inventory, set, unset, out);
    text_add(out, ".\n");
}

static int take_member(char *line, struct inventory_table *t)
{
    char *space = strchr(line, ' ');
    if (!space || t->n == INVENTORY_MEMBERS_MAX)
        return -EINVAL;
    *space = 0;
    snprintf(t->member[t->n].key, sizeof t->member[t->n].key, "%s", line);
    snprintf(t->member[t->n].hash, sizeof t->member[t->n].hash, "%s", space + 1);
    t->n++;
    return 0;
}

int inventory_read(char *text, struct inventory_news *out, struct err *e)
{
    *out = (struct inventory_news){0};
    size_t len = strlen(text);
    if (len < 2 || strcmp(text + len - 2, ".\n") != 0)
        return err_set(e, -EINVAL, "the report is cut short");
    while (strncmp(text, "b ", 2) != 0 && *text != '.') {
        char *end = strchr(text, '\n');
        if (!end || end == text || text[1] != ' ')
            return err_set(e, -EINVAL, "the report is damaged");
        *end = 0;
        if (*text == 'h')
            snprintf(out->table.hash, sizeof out->table.hash, "%s", text + 2);
        else if (*text == 'l')
            out->left_out = text + 2;
        else if (*text != 'm' || take_member(text + 2, &out->table))
            return err_set(e, -EINVAL, "the report is damaged");
        text = end + 1;
    }
    out->bodies = text;
    return 0;
}

const char *inventory_next_body(struct inventory_news *news, size_t *len)
{
    char *line = news->bodies;
    if (strncmp(line, "b ", 2) != 0)
        return NULL;
    char *end = strchr(line, '\n');
    assert(end && "inventory_read has seen the end");
    *end = 0;
    news->bodies = end + 1;
    *len = (size_t)(end - line - 2);
    return line + 2;
}
