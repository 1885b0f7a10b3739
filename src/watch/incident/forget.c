/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A person answers for all findings of a node, or for some: what was seen by then does not count against the
 * node any more. Its agent is told to run all checks anew, which settles the checks of the machine. It is
 * also told to forget these findings of the kernel's log, up to the line that it had reported. Until it has,
 * its results from the log about these findings are not believed. Afterwards it reports everything anew.
 */
#include "node/action.h"
#include "watch/health/health.h"
#include "watch/incident/forget_inside.h"
#include "watch/incident/incident.h"
#include "watch/view/facts.h"
#include "watch/view/view.h"

#include <inttypes.h>
#include <string.h>

enum { FORGET_S = 60, WORDS_BYTES_MAX = 1900 /* of an operation's 2,048 */ };

static bool is_of_log(const struct watch *w, size_t i)
{
    return probe_row(check_at(w, i)->probe)->how == PROBE_FOLLOW;
}

bool forget_waits(const struct watch *w, const struct member *m)
{
    const struct repair *r = member_repair(m);
    const struct health_state *v = health_state_find(w, m);
    return r && r->answer.at.ns && (r->step == STEP_PROVISION || r->step == STEP_QUEUE) &&
           (!v || v->answered.ns != r->answer.at.ns);
}

bool forget_doubts(const struct watch *w, const struct member *m, size_t check)
{
    return is_of_log(w, check) && forget_waits(w, m);
}

bool forget_covers(const struct watch *w, const struct member *m, const struct check *k,
                   const struct finding *f, size_t place, struct mono looked)
{
    const struct repair *r = member_repair(m);
    const struct health_state *v = health_state_find(w, m);
    if (!r || !v || !answer_covers(&r->answer, k->name, f))
        return false;
    if (place != SIZE_MAX && is_of_log(w, place))
        return forget_waits(w, m);
    return v->word.ns != r->answer.at.ns || looked.ns < v->word_at.ns;
}

/* Adds a word as kernel_log_forget takes it: a code, and the device too when the person named it. */
static void add_word(const struct answer *a, const struct finding *f, struct text *words)
{
    CLEANUP_TEXT struct text word = {0};
    if (a->n)
        finding_word(f, &word);
    else
        text_add(&word, f->code);
    if (*f->code && !text_has_word(words->s, ' ', word.s) && words->len + word.len < WORDS_BYTES_MAX)
        text_printf(words, "%s%s", words->len ? " " : "", word.s);
}

/* Collects the findings of the kernel's log that the person answered for. */
static void collect_words(const struct watch *w, const struct member *m, const struct health_state *v,
                          struct text *words)
{
    const struct answer *a = &member_repair(m)->answer;
    text_add(words, "");
    for (size_t i = 0; i < v->n_sayings; i++) {
        const struct saying *s = &v->sayings[i];
        for (size_t k = 0; is_of_log(w, s->check) && k < s->n; k++)
            if (answer_covers(a, check_at(w, s->check)->name, &s->findings[k]))
                add_word(a, &s->findings[k], words);
    }
}

/* The agent has forgotten: its earlier results from the log are out of date. */
static void forget_end(struct watch *w, struct health_state *v, const struct repair *r)
{
    for (size_t i = 0; v->said && i < check_count(w); i++)
        if (is_of_log(w, i))
            said_forget(v, i);
    v->answered = r->answer.at;
    v->anew = ANEW_NOT;
}

/* The node reports something that the person answered for, and the agent can look again or forget it. */
static bool is_needed(const struct watch *w, const struct member *m, const struct health_state *v)
{
    for (size_t i = 0; i < v->n_sayings; i++) {
        const struct saying *s = &v->sayings[i];
        const struct check *k = check_at(w, s->check);
        for (size_t f = 0; (check_ages(k) || is_of_log(w, s->check)) && f < s->n; f++)
            if (forget_covers(w, m, k, &s->findings[f], s->check, said_looked(w, v, s->check)))
                return true;
    }
    return false;
}

void forget_look(struct watch *w, struct mono now, const struct member *m)
{
    const struct repair *r = member_repair(m);
    struct health_state *v = health_state_of(w, m);
    struct operation o;
    if (r && v->word.ns != r->answer.at.ns) {
        v->word = r->answer.at;
        v->word_at = now;
    }
    if (!forget_waits(w, m))
        return;
    watch_operation(w, m, &o);
    bool is_begun = action_of(o.run).kind == ACTION_FORGET;
    bool is_over = is_begun && (operation_has_ended(o.state) || operation_overdue(w, now, m, &o));
    operation_fini(&o);
    if (is_over) {
        forget_end(w, v, r);
        watch_touch(w, m, ASPECT_CHECKS);
    }
    if (!is_begun && v->told && health_state_speaks(w, m, v) && !is_needed(w, m, v))
        v->answered = r->answer.at;
}

bool forget_propose(struct watch *w, struct mono now, const struct member *m)
{
    const struct health_state *v = health_state_of(w, m);
    CLEANUP_TEXT struct text words = {0}, run = {0};
    if (!forget_waits(w, m) || *member_repair(m)->operation || !v->told || !health_state_speaks(w, m, v))
        return false;
    collect_words(w, m, v, &words);
    text_printf(&run, "forget:%" PRIu64 ":%s", v->log_next, words.s);
    operation_propose(w, now, m, run.s, "resolve", span_s(FORGET_S));
    return true;
}
