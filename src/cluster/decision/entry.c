/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/decision/entry.h"

#include "base/json.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const id_members[] = {
#define ID(symbol, member, what) [ENTRY_##symbol] = member,
#define OUTCOME(symbol, name, what)
#include "cluster/decision/entry.tbl"
#undef ID
#undef OUTCOME
};

static const char *const outcome_names[] = {
    [ENTRY_OUTCOME_NONE] = "",
#define ID(symbol, member, what)
#define OUTCOME(symbol, name, what) [ENTRY_OUTCOME_##symbol] = name,
#include "cluster/decision/entry.tbl"
#undef ID
#undef OUTCOME
};

void entry_fields_fini(struct entry_fields *f)
{
    for (size_t i = 0; i < ENTRY_IDS; i++)
        text_fini(&f->ids[i]);
    free(f->owner_from);
    free(f->owner_to);
    *f = (struct entry_fields){0};
}

void entry_fields_add(struct entry_fields *f, enum entry_id of, const char *id)
{
    assert(of < ENTRY_IDS);
    struct text *ids = &f->ids[of];
    if (!id || !*id || (ids->len && text_has_word(ids->s, ' ', id)))
        return;
    if (ids->len)
        text_add_char(ids, ' ');
    text_add(ids, id);
}

void entry_fields_move(struct entry_fields *f, enum step from, enum step_event event, enum step to)
{
    assert(step_may_by(from, event, to));
    f->moves = true;
    f->from = from;
    f->event = event;
    f->to = to;
}

enum entry_outcome entry_outcome_find(const char *name)
{
    for (int o = ENTRY_OUTCOME_NONE + 1; o < ENTRY_OUTCOMES; o++)
        if (strcmp(name, outcome_names[o]) == 0)
            return (enum entry_outcome)o;
    return ENTRY_OUTCOME_NONE;
}

/* --- written ---------------------------------------------------------------------------------- */

static void write_name(const char *name, struct text *out)
{
    text_printf(out, "%s\"%s\":", out->len ? "," : "", name);
}

static void write_word(const char *name, const char *word, struct text *out)
{
    write_name(name, out);
    text_add_json(out, word);
}

static void write_backup(const struct entry_backup *b, struct text *out)
{
    text_add(out, "{\"name\":");
    text_add_json(out, b->name);
    text_printf(out, ",\"at\":\"%" PRId64 "\",\"revision\":%" PRIu64 ",\"bytes\":%" PRIu64 "}", b->at_ns,
                b->revision, b->bytes);
}

static void write_ids(const char *name, const char *ids, struct text *out)
{
    CLEANUP_FREE char *copy = mem_dup(ids);
    char *rest = copy;
    write_name(name, out);
    char before = '[';
    for (const char *id; (id = strsep(&rest, " ")); before = ',') {
        text_add_char(out, before);
        text_add_json(out, id);
    }
    text_add_char(out, ']');
}

void entry_fields_write(const struct entry_fields *f, struct text *out)
{
    for (size_t i = 0; i < ENTRY_IDS; i++)
        if (f->ids[i].len)
            write_ids(id_members[i], f->ids[i].s, out);
    if (f->moves) {
        write_word("from", step_name(f->from), out);
        write_word("to", step_name(f->to), out);
        if (f->event)
            write_word("trigger", step_event_name(f->event), out);
    }
    if (f->owner_from)
        write_word("owner_from", f->owner_from, out);
    if (f->owner_to)
        write_word("owner_to", f->owner_to, out);
    if (*f->remedy)
        write_word("remedy", f->remedy, out);
    if (f->outcome)
        write_word("outcome", outcome_names[f->outcome], out);
    if (*f->backup.name) {
        write_name("backup", out);
        write_backup(&f->backup, out);
    }
    if (f->cost) {
        write_name("cost", out);
        text_printf(out, "%" PRId64, f->cost);
    }
}

/* --- read ------------------------------------------------------------------------------------- */

static int read_ids(const json_t *o, enum entry_id of, struct entry_fields *f, struct err *e)
{
    const json_t *list = json_object_get(o, id_members[of]);
    if (list && !json_is_array(list))
        return err_set(e, -EINVAL, "\"%s\" is no array", id_members[of]);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *id = json_string_value(json_array_get(list, i));
        if (!id || !*id || strchr(id, ' '))
            return err_set(e, -EINVAL, "\"%s\": element %zu is no id", id_members[of], i + 1);
        entry_fields_add(f, of, id);
    }
    return 0;
}

static int read_step(const json_t *o, const char *name, enum step *out, struct err *e)
{
    const char *word;
    if (json_take_string(o, name, &word, e) < 0)
        return -EINVAL;
    return step_parse(word, out) ? 0 : err_set(e, -EINVAL, "%s: \"%.40s\" is no step", name, word);
}

static int read_remedy(const json_t *o, struct entry_fields *f, struct err *e)
{
    const char *remedy = "";
    if (json_take_string(o, "remedy", &remedy, e) == -EINVAL)
        return -EINVAL;
    if (strlen(remedy) > REMEDY_NAME_BYTES_MAX)
        return err_set(e, -EINVAL, "\"%.40s...\" is no remedy", remedy);
    memcpy(f->remedy, remedy, strlen(remedy) + 1);
    return 0;
}

static int read_owner(const json_t *o, const char *name, char **out, struct err *e)
{
    const char *owner = NULL;
    if (json_take_string(o, name, &owner, e) == -EINVAL)
        return -EINVAL;
    *out = owner ? mem_dup(owner) : NULL;
    return 0;
}

static int read_outcome(const json_t *o, struct entry_fields *f, struct err *e)
{
    const char *outcome = "";
    if (json_take_string(o, "outcome", &outcome, e) == -EINVAL)
        return -EINVAL;
    f->outcome = entry_outcome_find(outcome);
    return 0;
}

static int read_event(const json_t *o, struct entry_fields *f, struct err *e)
{
    const char *event = "";
    if (json_take_string(o, "trigger", &event, e) == -EINVAL)
        return -EINVAL;
    f->event = step_event_find(event);
    return 0;
}

static int read_cost(const json_t *o, struct entry_fields *f, struct err *e)
{
    uint64_t cost = 0;
    if (json_take_u64(o, "cost", INT64_MAX, &cost, e) == -EINVAL)
        return -EINVAL;
    f->cost = (int64_t)cost;
    return 0;
}

/* What a restore says under this name, and anything else, is left out. */
static void read_backup(const json_t *o, struct entry_fields *f)
{
    const json_t *b = json_object_get(o, "backup");
    struct entry_backup is = {0};
    const char *name = "", *at = "";
    uint64_t ns;
    if (!json_is_object(b) || json_take_clause(b, "name", ENTRY_BACKUP_BYTES_MAX, &name, NULL) < 0 ||
        json_take_string(b, "at", &at, NULL) < 0 || text_parse_u64(at, 1, INT64_MAX, &ns, NULL) < 0 ||
        json_take_u64(b, "revision", INT64_MAX, &is.revision, NULL) < 0 ||
        json_take_u64(b, "bytes", INT64_MAX, &is.bytes, NULL) < 0)
        return;
    snprintf(is.name, sizeof is.name, "%s", name);
    is.at_ns = (int64_t)ns;
    f->backup = is;
}

static int read_object(const json_t *o, struct entry_fields *f, struct err *e)
{
    for (size_t i = 0; i < ENTRY_IDS; i++)
        if (read_ids(o, (enum entry_id)i, f, e) < 0)
            return -EINVAL;
    read_backup(o, f);
    f->moves = json_object_get(o, "from") || json_object_get(o, "to");
    if (f->moves && (read_step(o, "from", &f->from, e) < 0 || read_step(o, "to", &f->to, e) < 0 ||
                     read_event(o, f, e) < 0))
        return -EINVAL;
    if (read_owner(o, "owner_from", &f->owner_from, e) < 0 || read_owner(o, "owner_to", &f->owner_to, e) < 0)
        return -EINVAL;
    return read_remedy(o, f, e) < 0 || read_outcome(o, f, e) < 0 || read_cost(o, f, e) < 0 ? -EINVAL : 0;
}

int entry_fields_read(const char *members, struct entry_fields *out, struct err *e)
{
    *out = (struct entry_fields){0};
    if (!members || !*members)
        return 0;
    CLEANUP_TEXT struct text object = {0};
    text_printf(&object, "{%s}", members);
    CLEANUP_JSON json_t *o = json_read(object.s, object.len, e);
    int rc = o ? read_object(o, out, e) : -EINVAL;
    if (rc < 0)
        entry_fields_fini(out);
    return rc < 0 ? err_wrap(e, rc, "fields of a journal entry") : 0;
}
