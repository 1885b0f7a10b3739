/* SPDX-License-Identifier: Apache-2.0 */
#include "api/ill.h"

#include "api/render.h"

#include <inttypes.h>
#include <string.h>

/* null for none. */
static void add_time(struct text *t, const char *key, struct wall at)
{
    text_printf(t, ",\"%s\":", key);
    if (at.ns)
        render_time(t, at);
    else
        text_add(t, "null");
}

/* --- incidents ------------------------------------------------------------------------------- */

static void render_finding(const struct incident_finding *f, struct text *t)
{
    text_add(t, "{\"check\":");
    text_add_json(t, f->check);
    text_add_member(t, "result", result_name(f->f.result));
    text_add_member(t, "device", f->f.device);
    text_add_member(t, "code", f->f.code);
    text_add_member(t, "text", f->f.text);
    finding_write_origin(&f->f, t);
    text_printf(t, ",\"times\":%u", f->times);
    add_time(t, "at", f->at);
    text_add_char(t, '}');
}

void render_incident(const struct call *c, const struct member *m, const struct incident *i, struct text *t)
{
    text_add(t, "{\"id\":");
    text_add_json(t, i->id);
    text_add_member(t, "node", m->name);
    text_add_member(t, "group", i->group);
    text_add_member(t, "severity", result_name(i->severity));
    text_add_member(t, "act", act_name(i->act));
    add_time(t, "since", i->since);
    add_time(t, "last", i->last);
    add_time(t, "closed", i->closed);
    text_add_member(t, "boot", i->boot);
    text_printf(t, ",\"count\":%" PRIu32 ",\"recurs\":%u,\"observe\":%s,\"drains\":%s,\"findings\":[",
                i->count, i->recurs, i->observe ? "true" : "false",
                watch_incident_drains(c->api->watch, m, i, c->wall) ? "true" : "false");
    for (size_t k = 0; k < i->n; k++) {
        text_add(t, k ? "," : "");
        render_finding(&i->findings[k], t);
    }
    text_add(t, "],\"jobs\":[");
    for (size_t k = 0; k < i->n_jobs; k++) {
        text_add(t, k ? ",{\"job\":" : "{\"job\":");
        text_add_json(t, i->jobs[k].id);
        text_add_member(t, "user", i->jobs[k].user);
        text_add_char(t, '}');
    }
    text_add(t, "]}");
}

static void render_incidents(const struct call *c, const struct member *m, const char *key,
                             const struct incident *list, size_t n, struct text *t)
{
    text_printf(t, "\"%s\":[", key);
    for (size_t i = 0; i < n; i++) {
        text_add(t, i ? "," : "");
        render_incident(c, m, &list[i], t);
    }
    text_add_char(t, ']');
}

void render_ailment(const struct call *c, const struct member *m, struct text *t)
{
    const struct ailment *ill = member_ailment(m);
    render_incidents(c, m, "open", ill ? ill->open : NULL, ill ? ill->n_open : 0, t);
    text_add_char(t, ',');
    render_incidents(c, m, "past", ill ? ill->past : NULL, ill ? ill->n_past : 0, t);
}

/* --- trials ---------------------------------------------------------------------------------- */

static void render_tried(const struct member *m, const struct trial_record *r, const char *check,
                         const struct tried *last, const char **comma, struct text *t)
{
    text_printf(t, "%s{\"node\":", *comma);
    *comma = ",";
    text_add_json(t, m->name);
    text_add_member(t, "check", check);
    if (*r->claim && strcmp(r->check, check) == 0) {
        text_add(t, ",\"now\":{\"claim\":");
        text_add_json(t, r->claim);
        add_time(t, "began", r->began);
        add_time(t, "deadline", r->deadline);
        text_add_char(t, '}');
    } else {
        text_add(t, ",\"now\":null");
    }
    if (last) {
        text_printf(t, ",\"last\":{\"result\":\"%s\"", result_name(last->result));
        add_time(t, "at", last->at);
        text_add(t, "}}");
    } else {
        text_add(t, ",\"last\":null}");
    }
}

void render_trials(const struct member *m, const char *check, const char **comma, struct text *t)
{
    const struct trial_record *r = member_trial(m);
    if (r && *r->claim && !trial_last(r, r->check) && (!check || strcmp(check, r->check) == 0))
        render_tried(m, r, r->check, NULL, comma, t);
    for (size_t i = 0; r && i < r->n_last; i++)
        if (!check || strcmp(check, r->last[i].check) == 0)
            render_tried(m, r, r->last[i].check, &r->last[i], comma, t);
}

/* --- repairs --------------------------------------------------------------------------------- */

static const char *verdict_word(char verdict)
{
    return verdict == '+'   ? "helped"
           : verdict == '-' ? "failed"
           : verdict == '?' ? "to be judged"
                            : "not counted";
}

static void render_attempts(const struct repair *r, struct text *t)
{
    text_add(t, ",\"attempts\":[");
    for (size_t i = 0; i < r->n_attempts; i++) {
        const struct attempt_record *a = &r->attempts[i];
        text_add(t, i ? ",{\"remedy\":" : "{\"remedy\":");
        text_add_json(t, a->remedy);
        text_add_member(t, "fault", a->fault);
        add_time(t, "at", a->at);
        add_time(t, "ended", a->ended);
        text_printf(t, ",\"done\":%s", a->done ? "true" : "false");
        text_add_member(t, "text", a->text ? a->text : "");
        text_add_member(t, "verdict", verdict_word(a->verdict));
        text_add_char(t, '}');
    }
    text_add_char(t, ']');
}

static void render_notes(const struct repair *r, struct text *t)
{
    text_add(t, ",\"notes\":[");
    for (size_t i = 0; i < r->n_notes; i++) {
        text_add(t, i ? ",{\"by\":" : "{\"by\":");
        text_add_json(t, r->notes[i].by);
        add_time(t, "at", r->notes[i].at);
        text_add_member(t, "text", r->notes[i].text);
        text_add_char(t, '}');
    }
    text_add_char(t, ']');
}

static void render_move(const struct step_move *move, struct text *t)
{
    text_add(t, "{\"event\":");
    text_add_json(t, step_event_name(move->event));
    text_add_member(t, "by", step_event_is_persons(move->event) ? "person" : "fettle");
    text_add_member(t, "when", step_event_what(move->event));
    text_add_member(t, "guard", step_guard_what(move->guard));
    text_add_member(t, "to", step_name(move->to));
    text_add_member(t, "then", step_then_what(move->then));
    text_add_char(t, '}');
}

static void render_moves(enum step s, struct text *t)
{
    size_t n;
    const struct step_move *moves = step_moves(&n);
    const char *comma = "";
    text_add(t, ",\"moves\":[");
    for (size_t i = 0; i < n; i++) {
        if (moves[i].from != s)
            continue;
        text_add(t, comma);
        render_move(&moves[i], t);
        comma = ",";
    }
    text_add_char(t, ']');
}

void render_next(enum step s, struct text *t)
{
    const char *comma = "";
    text_add_char(t, '[');
    for (int to = 0; to < STEPS; to++) {
        if (to == (int)s || !step_may(s, (enum step)to))
            continue;
        text_add(t, comma);
        text_add_json(t, step_name((enum step)to));
        comma = ",";
    }
    text_add_char(t, ']');
}

void render_repair(const struct member *m, bool moves, struct text *t)
{
    static const char *const approvals[] = {"none", "wanted", "given", "refused"};
    const struct repair *r = member_repairs(m);
    if (!r) {
        text_add(t, "null");
        return;
    }
    text_add(t, "{\"id\":");
    text_add_json(t, r->id);
    text_add_member(t, "step", step_name(r->step));
    text_add_member(t, "what", step_what(r->step));
    text_add_member(t, "problem", r->problem);
    text_add_member(t, "why", r->why ? r->why : "");
    add_time(t, "began", r->began);
    add_time(t, "since", r->since);
    add_time(t, "deadline", r->approval == APPROVAL_WANTED ? (struct wall){0} : r->deadline);
    text_add_member(t, "remedy", r->remedy);
    text_add_member(t, "operation", r->operation);
    text_add_member(t, "approval", approvals[r->approval]);
    text_add_member(t, "approver", r->approver);
    text_add_member(t, "examined", examined_name(r->examined));
    text_printf(t, ",\"manual\":%s", r->manual ? "true" : "false");
    text_add_member(t, "taken_by", r->taken_by);
    render_attempts(r, t);
    render_notes(r, t);
    if (moves)
        render_moves(r->step, t);
    text_add_char(t, '}');
}

bool repair_waits(const struct repair *r)
{
    if (!r)
        return false;
    bool asks = r->step == STEP_REMEDY || r->step == STEP_REPLACE;
    return r->step == STEP_QUEUE || (asks && r->approval == APPROVAL_WANTED);
}
