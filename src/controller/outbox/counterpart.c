/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/outbox/counterpart.h"

#include "base/text.h"

#include <string.h>

static const struct row {
    const char *name;
    enum alarm_kind alarm;
    const char *waits;
} rows[COUNTERPARTS] = {
#define COUNTERPART(symbol, name, alarm, what, waits) [COUNTERPART_##symbol] = {name, ALARM_##alarm, waits},
#include "controller/outbox/counterpart.tbl"
#undef COUNTERPART
};

static const char *const state_names[] = {[COUNTERPART_OFF] = "off",
                                          [COUNTERPART_UNKNOWN] = "unknown",
                                          [COUNTERPART_OK] = "ok",
                                          [COUNTERPART_TROUBLE] = "trouble"};

const char *counterpart_name(enum counterpart which)
{
    return rows[which].name;
}

void counterparts_init(struct counterparts *c, struct watch *w)
{
    *c = (struct counterparts){.watch = w};
}

static void state_set(struct counterparts *c, enum counterpart which, enum counterpart_state state)
{
    if (c->list[which].state == state)
        return;
    c->list[which].state = state;
    c->list[which].since = wall_now();
}

static void alarm_end(struct counterparts *c, enum counterpart which, const char *how)
{
    CLEANUP_TEXT struct text t = {0};
    text_printf(&t, "%s %s", rows[which].name, how);
    watch_alarm_end(c->watch, rows[which].alarm, rows[which].name, t.s);
    c->list[which].why = (struct err){0};
}

void counterpart_configure(struct counterparts *c, enum counterpart which, bool used)
{
    if (used == (c->list[which].state != COUNTERPART_OFF))
        return;
    state_set(c, which, used ? COUNTERPART_UNKNOWN : COUNTERPART_OFF);
    c->list[which].succeeded = (struct wall){0};
    alarm_end(c, which, "is no longer configured");
}

void counterpart_succeeded(struct counterparts *c, enum counterpart which)
{
    if (c->list[which].state == COUNTERPART_OFF)
        return;
    c->list[which].succeeded = wall_now();
    state_set(c, which, COUNTERPART_OK);
    alarm_end(c, which, which == COUNTERPART_STORE ? "takes changes again" : "answers again");
}

void counterpart_remembered(struct counterparts *c, enum counterpart which, struct wall at)
{
    if (c->list[which].state == COUNTERPART_UNKNOWN && at.ns)
        c->list[which].succeeded = at;
}

void counterpart_failed(struct counterparts *c, enum counterpart which, const char *nodes,
                        const struct err *why)
{
    CLEANUP_TEXT struct text t = {0};
    if (c->list[which].state == COUNTERPART_OFF)
        return;
    state_set(c, which, COUNTERPART_TROUBLE);
    c->list[which].why = *why;
    text_printf(&t, "%s: %s", rows[which].name, why->msg);
    watch_alarm_raise(c->watch, rows[which].alarm, rows[which].name, nodes, t.s, wall_now());
}

void counterpart_answered(struct counterparts *c, enum counterpart which, const char *nodes,
                          const struct err *why)
{
    if (why)
        counterpart_failed(c, which, nodes, why);
    else
        counterpart_succeeded(c, which);
}

static void add_time(json_t *line, const char *key, struct wall at)
{
    char buf[32];
    json_object_set_new(line, key, at.ns ? json_string(wall_format(at, buf)) : json_null());
}

json_t *counterpart_status(const struct counterparts *c, enum counterpart which, size_t waiting)
{
    if (c->list[which].state == COUNTERPART_OFF)
        return NULL;
    json_t *line = json_pack("{s:s,s:s,s:s,s:I,s:s}", "name", rows[which].name, "state",
                             state_names[c->list[which].state], "text", c->list[which].why.msg, "waiting",
                             (json_int_t)waiting, "waits", rows[which].waits);
    add_time(line, "since", c->list[which].since);
    add_time(line, "last_success", c->list[which].succeeded);
    return line;
}
