/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is to be done to a node is an effect's record: it says how far it is, also to a watch that began in
 * between. What is begun is waited for and never proposed a second time.
 */
#include "watch/health_inside.h"
#include "watch/inside.h"
#include "watch/lost_inside.h"
#include "watch/operation_inside.h"
#include "watch/vitals_inside.h"

#include <string.h>

enum { GIVEN_UP_S = 300 }; /* after its deadline: whoever carried it out would have said so by then */

static enum operation_state state_of(const json_t *done)
{
    static const char *const names[] = {"", "", "begun", "done", "failed", "refused", "unknown"};
    if (json_is_null(done))
        return OPERATION_WAITS;
    for (int s = OPERATION_BEGUN; s <= OPERATION_UNKNOWN; s++)
        if (strcmp(json_text(done, "state"), names[s]) == 0)
            return (enum operation_state)s;
    return OPERATION_UNKNOWN;
}

static struct wall time_of(const json_t *o, const char *key)
{
    uint64_t ns = 0;
    text_parse_u64(json_text(o, key), 0, INT64_MAX, &ns, NULL);
    return (struct wall){(int64_t)ns};
}

static void effect_read(const struct watch *w, const char *kind, const struct member *m, struct operation *o)
{
    CLEANUP_TEXT struct text key = {0};
    text_printf(&key, "effect/%s.%s", kind, m->name);
    const char *value = cluster_effect_value(w->cluster, key.s);
    *o = (struct operation){.record = value ? json_read(value, strlen(value), NULL) : NULL};
    if (!o->record)
        return;
    const json_t *done = json_object_get(o->record, "done");
    o->id = json_text(o->record, "id");
    o->run = json_text(o->record, "run");
    o->of = json_text(o->record, "of");
    o->boot = json_text(o->record, "boot");
    o->text = json_text(done, "text");
    o->state = state_of(done);
    o->refusal = refusal_find(json_text(done, "code"));
    o->deadline = time_of(o->record, "deadline");
    o->began = time_of(done, "at");
}

void operation_read(const struct watch *w, const struct member *m, struct operation *o)
{
    effect_read(w, "operate", m, o);
}

void power_read(const struct watch *w, const struct member *m, struct operation *o)
{
    effect_read(w, "power", m, o);
}

void operation_fini(struct operation *o)
{
    json_decref(o->record);
    *o = (struct operation){0};
}

void operation_propose(struct watch *w, struct mono now, const struct member *m, const char *run,
                       const char *of, struct span deadline)
{
    const struct repair *r = member_treated(m);
    CLEANUP_JSON json_t *set = json_pack("{s:s,s:s,s:s,s:s,s:s,s:I}", "id", r->id, "step", step_name(r->step),
                                         "run", run, "operation_of", of, "boot", boot_of(w, m), "deadline_s",
                                         (json_int_t)(deadline.ns / span_s(1).ns + 1));
    health_propose(w, now, m, COMMAND_OPERATE, NULL, set);
}

void operation_end(struct watch *w, struct mono now, const struct member *m, const struct operation *o,
                   const char *state, const char *text)
{
    CLEANUP_TEXT struct text key = {0};
    text_printf(&key, "effect/operate.%s", m->name);
    CLEANUP_JSON json_t *set =
        json_pack("{s:s,s:{s:s,s:s,s:s}}", "key", key.s, "done", "id", o->id, "state", state, "text", text);
    health_propose(w, now, m, COMMAND_EFFECT, NULL, set);
}

bool operation_overdue(struct watch *w, struct mono now, const struct member *m, const struct operation *o)
{
    struct vitals *v = vitals_of(w, m);
    if (strcmp(v->operation, o->id) != 0) {
        int64_t left = o->deadline.ns - w->wall.ns;
        snprintf(v->operation, sizeof v->operation, "%s", o->id);
        v->operation_due = (struct mono){now.ns + (left > 0 ? left : 0)};
    }
    int64_t grace = o->state == OPERATION_BEGUN ? span_s(GIVEN_UP_S).ns : 0;
    return now.ns >= v->operation_due.ns + grace;
}
