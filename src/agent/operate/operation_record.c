/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/operate/operation_record.h"

#include "agent/home/home.h"
#include "base/json.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_BYTES_MAX = 1 << 20 };

void operation_record_init(struct operation_record *k, const char *id, const char *boot)
{
    *k = (struct operation_record){.op = {.id = mem_dup(id), .boot = mem_dup(boot), .text = mem_dup("")}};
}

void operation_record_fini(struct operation_record *k)
{
    operation_fini(&k->op);
    free(k->cures);
    free(k->verdict);
}

void operation_records_fini(struct operation_records *d)
{
    for (size_t i = 0; i < d->n; i++)
        operation_record_fini(&d->list[i]);
    *d = (struct operation_records){0};
}

struct operation_record *operation_records_find(struct operation_records *d, const char *id)
{
    for (size_t i = 0; i < d->n; i++)
        if (strcmp(d->list[i].op.id, id) == 0)
            return &d->list[i];
    return NULL;
}

/* The record that is under way stays: else nobody would know that it was begun. */
static void forget_one(struct operation_records *d)
{
    size_t i = 0;
    assert(d->n > 0);
    while (i + 1 < d->n && d->list[i].op.state == OPERATION_BEGUN)
        i++;
    operation_record_fini(&d->list[i]);
    d->n--;
    memmove(d->list + i, d->list + i + 1, (d->n - i) * sizeof *d->list);
}

struct operation_record *operation_records_add(struct operation_records *d, const char *id, const char *boot,
                                               bool reboot, enum operation_state state)
{
    if (d->n == OPERATION_RECORDS_MAX)
        forget_one(d);
    assert(d->n < OPERATION_RECORDS_MAX);
    struct operation_record *k = &d->list[d->n++];
    operation_record_init(k, id, boot);
    k->op.state = state;
    k->reboot = reboot;
    return k;
}

static bool is_control(char c)
{
    return ((unsigned char)c < ' ' && c != '\n' && c != '\t') || c == 0x7f;
}

void operation_record_set(struct operation_record *k, enum operation_state state, const char *text,
                          const char *verdict)
{
    size_t len = strlen(text);
    char *mine = mem_dup(len > OPERATION_TEXT_BYTES_MAX ? text + len - OPERATION_TEXT_BYTES_MAX : text);
    for (char *p = mine; *p; p++)
        if (is_control(*p))
            *p = ' ';
    free(k->op.text);
    free(k->verdict);
    k->op.state = state;
    k->op.text = mine;
    k->verdict = mem_dup(verdict);
}

bool operation_records_settle(struct operation_records *d, const char *boot, const char *running)
{
    bool any = false;
    for (size_t i = 0; i < d->n; i++) {
        struct operation_record *k = &d->list[i];
        if (k->op.state != OPERATION_BEGUN || (running && strcmp(k->op.id, running) == 0))
            continue;
        any = true;
        if (k->reboot && strcmp(k->op.boot, boot) != 0)
            operation_record_set(k, OPERATION_DONE, "this is another boot", NULL);
        else
            operation_record_set(k, OPERATION_UNKNOWN, "the agent ended before it did", NULL);
    }
    return any;
}

static void add_members(const struct operation_record *k, struct text *out)
{
    text_printf(out, "{\"id\":\"%s\",\"boot\":\"%s\",\"state\":\"%s\",\"text\":", k->op.id, k->op.boot,
                operation_state_name(k->op.state));
    text_add_json(out, k->op.text);
    if (k->verdict)
        text_printf(out, ",\"verdict\":%s", k->verdict);
}

void operation_record_write(const struct operation_record *k, struct text *out)
{
    add_members(k, out);
    if (k->op.refusal)
        text_printf(out, ",\"code\":\"%s\"", refusal_name(k->op.refusal));
    text_add_char(out, '}');
}

void operation_records_format(const struct operation_records *d, struct text *out)
{
    text_printf(out, "{\"term\":%" PRIu64, d->term);
    if (*d->origin)
        text_printf(out, ",\"origin\":\"%s\"", d->origin);
    text_add(out, ",\"operations\":[");
    for (size_t i = 0; i < d->n; i++) {
        text_add(out, i ? ",\n" : "\n");
        add_members(&d->list[i], out);
        if (d->list[i].cures) {
            text_add(out, ",\"cures\":");
            text_add_json(out, d->list[i].cures);
        }
        text_printf(out, ",\"reboot\":%s}", d->list[i].reboot ? "true" : "false");
    }
    text_add(out, "]}\n");
}

static int take_word(const json_t *o, const char *key, const char **out, struct err *e)
{
    int r = json_take_string(o, key, out, e);
    if (!r && (!**out || strlen(*out) > BODY_WORD_BYTES_MAX || strpbrk(*out, "\"\\ \n")))
        r = err_set(e, -EILSEQ, "\"%s\" is no word", key);
    return r;
}

static int take_state(const char *name, enum operation_state *out, struct err *e)
{
    *out = operation_state_find(name);
    return *out ? 0 : err_set(e, -EILSEQ, "no state is called \"%s\"", name);
}

static int parse_record(struct operation_records *d, const json_t *o, struct err *e)
{
    const char *id, *boot, *state, *text, *cures = NULL;
    bool reboot = false;
    enum operation_state now = OPERATION_UNKNOWN;
    int r = take_word(o, "id", &id, e);
    if (!r)
        r = take_word(o, "boot", &boot, e);
    if (!r)
        r = json_take_string(o, "state", &state, e);
    if (!r)
        r = take_state(state, &now, e);
    if (!r)
        r = json_take_string(o, "text", &text, e);
    if (!r)
        r = json_take_bool(o, "reboot", &reboot, e);
    if (!r && json_object_get(o, "cures"))
        r = json_take_string(o, "cures", &cures, e);
    if (r)
        return r;
    const json_t *verdict = json_object_get(o, "verdict");
    CLEANUP_FREE char *s = json_is_object(verdict) ? json_write(verdict) : NULL;
    struct operation_record *k = operation_records_add(d, id, boot, reboot, now);
    k->cures = mem_dup(cures);
    operation_record_set(k, now, text, s);
    return 0;
}

static int take_origin(struct operation_records *d, const json_t *o, struct err *e)
{
    const char *origin;
    int r = take_word(o, "origin", &origin, e);
    if (!r)
        snprintf(d->origin, sizeof d->origin, "%s", origin);
    return r;
}

int operation_records_parse(struct operation_records *d, const char *text, struct err *e)
{
    CLEANUP_JSON json_t *all = json_read(text, strlen(text), e);
    size_t i;
    json_t *one;
    *d = (struct operation_records){0};
    if (!all)
        return -EILSEQ;
    int r = json_take_u64(all, "term", INT64_MAX, &d->term, e);
    if (!r && json_object_get(all, "origin"))
        r = take_origin(d, all, e);
    const json_t *list = json_object_get(all, "operations");
    if (!r && !json_is_array(list))
        r = err_set(e, -EILSEQ, "\"operations\" is no array");
    json_array_foreach (list, i, one)
        if (!r)
            r = parse_record(d, one, e);
    if (r)
        operation_records_fini(d);
    return r ? -EILSEQ : 0;
}

int operation_records_load(struct operation_records *d, const char *home, struct err *e)
{
    CLEANUP_FREE char *text = NULL;
    *d = (struct operation_records){0};
    int r = home_read(home, OPERATION_RECORDS_FILE, FILE_BYTES_MAX, &text, e);
    if (r)
        return r == -ENOENT ? 0 : r;
    r = operation_records_parse(d, text, e);
    return r ? err_wrap(e, r, "%s/" OPERATION_RECORDS_FILE, home) : 0;
}

int operation_records_store(const struct operation_records *d, const char *home, struct err *e)
{
    CLEANUP_TEXT struct text all = {0};
    operation_records_format(d, &all);
    return home_write(home, OPERATION_RECORDS_FILE, all.s, true, e);
}
