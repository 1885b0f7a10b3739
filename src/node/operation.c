/* SPDX-License-Identifier: Apache-2.0 */
#include "node/operation.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum phase { PHASE_NONE, PHASE_OPEN, PHASE_ENDED };
enum member { MEMBER_NONE, MEMBER_AT, MEMBER_TEXT };

static const struct row {
    const char *word;
    enum phase phase;
    enum member member;
    bool first;
} rows[OPERATION_STATES] = {
    [OPERATION_NONE] = {"", PHASE_NONE, MEMBER_NONE, false},
#define OPERATION(symbol, word, phase, member, first, what) \
    [OPERATION_##symbol] = {word, PHASE_##phase, MEMBER_##member, first},
#include "node/operation.tbl"
#undef OPERATION
};

const char *operation_state_name(enum operation_state s)
{
    assert((size_t)s < sizeof rows / sizeof *rows);
    return rows[s].word;
}

enum operation_state operation_state_find(const char *name)
{
    for (int s = OPERATION_WAITS + 1; s < OPERATION_STATES; s++)
        if (strcmp(rows[s].word, name) == 0)
            return (enum operation_state)s;
    return OPERATION_NONE;
}

bool operation_is_open(enum operation_state s)
{
    assert((size_t)s < sizeof rows / sizeof *rows);
    return rows[s].phase == PHASE_OPEN;
}

bool operation_has_ended(enum operation_state s)
{
    assert((size_t)s < sizeof rows / sizeof *rows);
    return rows[s].phase == PHASE_ENDED;
}

bool operation_was_begun(enum operation_state s)
{
    return s == OPERATION_BEGUN || (operation_has_ended(s) && s != OPERATION_REFUSED);
}

bool operation_has_text(enum operation_state s)
{
    assert((size_t)s < sizeof rows / sizeof *rows);
    return rows[s].member == MEMBER_TEXT;
}

bool operation_may_follow(enum operation_state before, enum operation_state now)
{
    return before == OPERATION_WAITS ? rows[now].first
                                     : before == OPERATION_BEGUN && rows[now].phase == PHASE_ENDED;
}

/* --- its record ------------------------------------------------------------------------------ */

static enum operation_state state_of(const json_t *done)
{
    if (!done || json_is_null(done))
        return OPERATION_WAITS;
    enum operation_state s = operation_state_find(json_text(done, "state"));
    return s ? s : OPERATION_UNKNOWN;
}

static struct wall time_of(const json_t *o, const char *key)
{
    uint64_t ns = 0;
    text_parse_u64(json_text(o, key), 0, INT64_MAX, &ns, NULL);
    return (struct wall){(int64_t)ns};
}

void operation_read(struct operation *o, const json_t *record)
{
    const json_t *done = json_object_get(record, "done");
    *o = (struct operation){0};
    if (record)
        *o = (struct operation){.state = state_of(done),
                                .id = mem_dup(json_text(record, "id")),
                                .run = mem_dup(json_text(record, "run")),
                                .of = mem_dup(json_text(record, "of")),
                                .boot = mem_dup(json_text(record, "boot")),
                                .text = mem_dup(json_text(done, "text")),
                                .refusal = refusal_find(json_text(done, "code")),
                                .force = json_is_true(json_object_get(record, "force")),
                                .deadline = time_of(record, "deadline"),
                                .began = time_of(done, "at")};
}

void operation_parse(struct operation *o, const char *value)
{
    CLEANUP_JSON json_t *record = value ? json_read(value, strlen(value), NULL) : NULL;
    operation_read(o, record);
}

void operation_fini(struct operation *o)
{
    free(o->id);
    free(o->run);
    free(o->of);
    free(o->boot);
    free(o->text);
    *o = (struct operation){0};
}

void operation_format(const struct operation_said *s, struct text *out)
{
    assert(s && out);
    text_printf(out, "{\"state\":\"%s\",\"id\":", rows[s->state].word);
    text_add_json(out, s->id);
    if (rows[s->state].member == MEMBER_AT)
        text_printf(out, ",\"at\":\"%lld\"", (long long)s->began.ns);
    if (rows[s->state].member == MEMBER_TEXT) {
        text_add(out, ",\"text\":");
        text_add_json(out, s->text);
    }
    if (s->refusal)
        text_printf(out, ",\"code\":\"%s\"", refusal_name(s->refusal));
    text_add_char(out, '}');
}

static const char *rest_of(const char *key, const char *prefix)
{
    size_t len = strlen(prefix);
    return strncmp(key, prefix, len) == 0 ? key + len : NULL;
}

const char *operate_key_node(const char *key)
{
    return rest_of(key, OPERATE_KEY);
}

const char *power_key_node(const char *key)
{
    return rest_of(key, POWER_KEY);
}
