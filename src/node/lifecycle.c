/* SPDX-License-Identifier: Apache-2.0 */
#include "node/lifecycle.h"

#include <assert.h>
#include <string.h>

static const struct {
    const char *name, *idle, *busy, *what;
} rows[LIFECYCLES] = {
#define LIFECYCLE(symbol, name, idle, busy, what, todo) [LIFECYCLE_##symbol] = {name, idle, busy, what},
#include "node/lifecycle.tbl"
#undef LIFECYCLE
};

static const struct {
    const char *name;
    enum lifecycle lifecycle;
    const char *what;
} steps[STEPS] = {
#define LIFECYCLE_NONE LIFECYCLES
#define STEP(symbol, name, lifecycle, what, todo) [STEP_##symbol] = {name, LIFECYCLE_##lifecycle, what},
#include "node/step.tbl"
#undef STEP
#undef LIFECYCLE_NONE
};

static const char *const whys[WHYS] = {
#define WHY(symbol, words, rest, what, todo) [WHY_##symbol] = words,
#include "node/why.tbl"
#undef WHY
};

enum by { BY_WATCH, BY_PERSON };

static const struct {
    const char *name;
    enum by by;
    const char *what;
} events[STEP_EVENTS] = {
    [STEP_EVENT_NONE] = {"", BY_WATCH, ""},
#define EVENT(symbol, name, by, sentence) [STEP_EVENT_##symbol] = {name, BY_##by, sentence},
#include "node/step_move.tbl"
};

static const char *const guards[STEP_GUARDS] = {
#define GUARD(symbol, sentence) [STEP_GUARD_##symbol] = sentence,
#include "node/step_move.tbl"
};

static const char *const thens[STEP_THENS] = {
#define THEN(symbol, sentence) [STEP_THEN_##symbol] = sentence,
#include "node/step_move.tbl"
};

static const struct step_move moves[] = {
#define MOVE(from, event, guard, to, then) \
    {STEP_##from, STEP_EVENT_##event, STEP_GUARD_##guard, STEP_##to, STEP_THEN_##then},
#include "node/step_move.tbl"
};
enum { MOVES = sizeof moves / sizeof *moves };

const char *step_name(enum step s)
{
    assert((size_t)s < sizeof steps / sizeof *steps);
    return steps[s].name;
}

const char *step_what(enum step s)
{
    assert((size_t)s < sizeof steps / sizeof *steps);
    return steps[s].what;
}

bool step_parse(const char *name, enum step *out)
{
    for (int s = 0; s < STEPS; s++) {
        if (strcmp(name, steps[s].name) == 0) {
            *out = (enum step)s;
            return true;
        }
    }
    return false;
}

enum lifecycle step_lifecycle(enum step s)
{
    assert((size_t)s < sizeof steps / sizeof *steps);
    return steps[s].lifecycle;
}

const struct step_move *step_moves(size_t *n)
{
    *n = MOVES;
    return moves;
}

/* The first move between two steps; NULL: there is none. */
static const struct step_move *move_find(enum step from, enum step to)
{
    for (size_t i = 0; i < MOVES; i++)
        if (moves[i].from == from && moves[i].to == to)
            return &moves[i];
    return NULL;
}

bool step_may(enum step from, enum step to)
{
    return move_find(from, to) != NULL;
}

bool step_may_by(enum step from, enum step_event event, enum step to)
{
    for (size_t i = 0; i < MOVES; i++)
        if (moves[i].from == from && moves[i].event == event && moves[i].to == to)
            return true;
    return false;
}

enum step_then step_then(enum step from, enum step to)
{
    const struct step_move *move = move_find(from, to);
    assert(move && "a repair makes only moves of the table");
    return move->then;
}

const char *step_event_name(enum step_event e)
{
    assert((size_t)e < STEP_EVENTS);
    return events[e].name;
}

enum step_event step_event_find(const char *name)
{
    for (int e = STEP_EVENT_NONE + 1; e < STEP_EVENTS; e++)
        if (strcmp(name, events[e].name) == 0)
            return (enum step_event)e;
    return STEP_EVENT_NONE;
}

const char *step_event_what(enum step_event e)
{
    assert((size_t)e < STEP_EVENTS);
    return events[e].what;
}

bool step_event_is_persons(enum step_event e)
{
    assert((size_t)e < STEP_EVENTS);
    return events[e].by == BY_PERSON;
}

const char *step_guard_what(enum step_guard g)
{
    assert((size_t)g < STEP_GUARDS);
    return guards[g];
}

const char *step_then_what(enum step_then t)
{
    assert((size_t)t < STEP_THENS);
    return thens[t];
}

enum lifecycle lifecycle_of(const struct agreed *a)
{
    assert(a);
    if (!a->listed)
        return LIFECYCLE_UNLISTED;
    enum lifecycle repairing = steps[a->step].lifecycle;
    if (repairing == LIFECYCLE_RETIRED || repairing == LIFECYCLE_QUARANTINED)
        return repairing;
    if (a->down || a->overdue)
        return LIFECYCLE_DOWN;
    if (repairing != LIFECYCLES)
        return repairing;
    if (a->silent)
        return LIFECYCLE_DOWN;
    if (!a->admitted)
        return LIFECYCLE_NEW;
    if (a->drain)
        return a->drained ? LIFECYCLE_DRAINED : LIFECYCLE_DRAINING;
    if (a->returning)
        return LIFECYCLE_DRAINED;
    return LIFECYCLE_AVAILABLE;
}

const char *lifecycle_name(enum lifecycle l)
{
    assert((size_t)l < sizeof rows / sizeof *rows);
    return rows[l].name;
}

const char *lifecycle_word(enum lifecycle l, enum work w)
{
    return w == WORK_BUSY ? rows[l].busy : rows[l].idle;
}

const char *lifecycle_what(enum lifecycle l)
{
    assert((size_t)l < sizeof rows / sizeof *rows);
    return rows[l].what;
}

const char *liveness_name(enum liveness l)
{
    static const char *const names[] = {"unheard", "live", "late", "silent"};
    assert((size_t)l < sizeof names / sizeof *names);
    return names[l];
}

const char *work_name(enum work w)
{
    static const char *const names[] = {"unknown", "idle", "busy"};
    assert((size_t)w < sizeof names / sizeof *names);
    return names[w];
}

const char *conformance_name(enum conformance c)
{
    static const char *const names[] = {"unknown", "conformant", "drifted"};
    assert((size_t)c < sizeof names / sizeof *names);
    return names[c];
}

const char *why_words(enum why reason)
{
    assert((size_t)reason < sizeof whys / sizeof *whys);
    return whys[reason];
}

static void lifecycle_because(struct text *why, enum why *first, enum why reason, const char *more)
{
    if (*first == WHYS)
        *first = reason;
    if (!why)
        return;
    if (why->len)
        text_add(why, "; ");
    text_add(why, whys[reason]);
    text_add(why, more);
}

static void explain_silence(const struct fitness *f, struct text *why, enum why *first)
{
    char buf[32];
    if (f->liveness == LIVENESS_LATE)
        lifecycle_because(why, first, WHY_LATE, span_human(f->silence, buf));
    else if (f->liveness == LIVENESS_SILENT)
        lifecycle_because(why, first, WHY_SILENT, span_human(f->silence, buf));
    else if (f->liveness == LIVENESS_UNHEARD && f->agreed.admitted)
        lifecycle_because(why, first, WHY_UNHEARD, "");
    else if (f->liveness == LIVENESS_LIVE && f->agreed.silent)
        lifecycle_because(why, first, WHY_AGAIN, "");
}

static void explain_elsewhere(const struct fitness *f, struct text *why, enum why *first)
{
    for (enum elsewhere_where k = 0; k < ELSEWHERES; k++) {
        CLEANUP_TEXT struct text t = {0};
        if (!f->elsewhere[k] || !f->elsewhere[k]->out)
            continue;
        if (why)
            elsewhere_say_out(f->elsewhere[k], &t);
        lifecycle_because(why, first, WHY_ELSEWHERE, why ? t.s : "");
    }
}

static void note_unknown(const struct fitness *f, struct text *why)
{
    for (enum elsewhere_where k = 0; k < ELSEWHERES; k++) {
        if (!f->elsewhere[k] || f->elsewhere[k]->state != ELSEWHERE_UNKNOWN)
            continue;
        text_add(why, why->len ? "; " : "");
        elsewhere_say(f->elsewhere[k], why);
    }
}

/* The strongest reason; WHYS when there is none. */
static enum why lifecycle_explain(const struct fitness *f, struct text *why)
{
    enum why first = WHYS;
    if (why)
        text_clear(why);
    if (!f->agreed.listed)
        lifecycle_because(why, &first, WHY_UNLISTED, "");
    if (f->claims && *f->claims)
        lifecycle_because(why, &first, WHY_CLAIMS, f->claims);
    if (f->agreed.listed && !f->agreed.admitted)
        lifecycle_because(why, &first, f->liveness == LIVENESS_LIVE ? WHY_FIRST : WHY_NEVER, "");
    else
        explain_silence(f, why, &first);
    if (f->agreed.returning)
        lifecycle_because(why, &first, WHY_RETURNING, "");
    if (f->comes_up && f->agreed.admitted)
        lifecycle_because(why, &first, WHY_COMES_UP, "");
    if (f->window)
        lifecycle_because(why, &first, WHY_WINDOW, f->window);
    explain_elsewhere(f, why, &first);
    if (f->shortfall && *f->shortfall)
        lifecycle_because(why, &first, WHY_SHORTFALL, f->shortfall);
    if (f->agreed.admitted && f->liveness == LIVENESS_LIVE && !f->reported)
        lifecycle_because(why, &first, WHY_INVENTORY, "");
    if (f->ill)
        lifecycle_because(why, &first, WHY_HEALTH, f->health);
    enum lifecycle l = lifecycle_of(&f->agreed);
    if (first == WHYS && l != LIFECYCLE_AVAILABLE)
        lifecycle_because(why, &first, WHY_LIFECYCLE, lifecycle_what(l));
    if (first == WHYS && f->liveness != LIVENESS_LIVE)
        lifecycle_because(why, &first, WHY_LIVENESS, liveness_name(f->liveness));
    if (first == WHYS && why)
        text_add(why, f->health);
    if (why)
        note_unknown(f, why);
    return first;
}

bool lifecycle_schedulable(const struct fitness *f, struct text *why)
{
    assert(f);
    return lifecycle_explain(f, why) == WHYS;
}

enum why lifecycle_obstacle(const struct fitness *f)
{
    return lifecycle_explain(f, NULL);
}
