/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For each result R, from the worst down: have the looks been as bad as R for long enough; or, when the check
 * already says R, have they not been better for long enough? Both conditions are nested: what is as bad as R
 * is as bad as everything milder, and what is better than R is better than everything worse. So the first R
 * that holds is the result.
 */
#include "health/steady.h"

#include <assert.h>
#include <string.h>

static void steady_count(struct steady *s, struct mono now, enum result r)
{
    s->looks[s->n % STEADY_LOOKS_MAX].at = now;
    s->looks[s->n % STEADY_LOOKS_MAX].result = r;
    s->n++;
    for (enum result level = RESULT_INFO; level < RESULTS; level++) {
        bool bad = r >= level;
        s->bad[level] = bad ? s->bad[level] + 1 : 0;
        s->good[level] = bad ? 0 : s->good[level] + 1;
        if (bad)
            s->seen[level] = now;
    }
}

/* Whether fail_percent of the looks were as bad as r. The base is the number of looks that the window has
 * room for, or the number in it when that is larger. */
static bool too_often(const struct steady *s, const struct check *k, struct mono now, enum result level)
{
    uint64_t bad = 0, in = 0, room = (uint64_t)(k->window.ns / k->every.ns);
    if (k->fail_percent == 0)
        return false;
    for (unsigned i = 0; i < s->n && i < STEADY_LOOKS_MAX; i++) {
        if (mono_sub(now, s->looks[i].at).ns >= k->window.ns)
            continue;
        in++;
        bad += s->looks[i].result >= level;
    }
    uint64_t of = in > room ? in : room;
    return bad > 0 && bad * 100 >= k->fail_percent * of;
}

/* Whether the result is still as bad as before. */
static bool steady_stays(const struct steady *s, const struct check *k, struct mono now, enum result level)
{
    return s->any && s->said.result >= level &&
           (s->good[level] < k->passes || mono_sub(now, s->seen[level]).ns < k->sticky.ns);
}

static enum result steady_steadied(const struct steady *s, const struct check *k, struct mono now)
{
    for (enum result level = RESULTS - 1; level > RESULT_OK; level--)
        if (s->bad[level] >= k->fails || too_often(s, k, now, level) || steady_stays(s, k, now, level))
            return level;
    return RESULT_OK;
}

/* --- what is said -------------------------------------------------------------------------------- */

static bool has_finding(const struct verdict *v, const struct finding *f)
{
    for (size_t i = 0; i < v->n; i++)
        if (v->findings[i].result == f->result && strcmp(v->findings[i].device, f->device) == 0 &&
            strcmp(v->findings[i].code, f->code) == 0)
            return true;
    return false;
}

static bool has_all(const struct verdict *v, const struct verdict *of)
{
    for (size_t i = 0; i < of->n; i++)
        if (!has_finding(v, &of->findings[i]))
            return false;
    return true;
}

/* Makes v the result; true when others should hear of it. */
static bool steady_say(struct steady *s, struct mono now, const struct verdict *v, bool first)
{
    bool other = first || s->said.result != v->result;
    bool news = other || !has_all(&s->said, v) || !has_all(v, &s->said);
    if (other)
        s->since = now;
    s->said = *v;
    return news;
}

/* The verdict of a look that is steadied to r. A look as bad as r counts as it is; a worse look has its
 * findings lowered to r; after a better look the verdict stays. */
static bool say_as(struct steady *s, const struct check *k, struct mono now, const struct verdict *v,
                   enum result r, bool first)
{
    struct verdict mild = *v;
    if (r == RESULT_OK && v->result > RESULT_OK && !s->any) {
        verdict_cannot(&mild, RESULT_UNKNOWN, "%u of %u looks found something: %s", s->bad[RESULT_INFO],
                       k->fails, v->n > 0 ? v->findings[0].text : v->text);
        return steady_say(s, now, &mild, first);
    }
    s->any = true;
    if (v->result < r)
        mild = s->said;
    else if (r == RESULT_OK && v->result > RESULT_OK)
        verdict_clear(&mild);
    verdict_cap(&mild, r);
    return steady_say(s, now, &mild, first);
}

bool steady_look(struct steady *s, const struct check *k, struct mono now, const struct verdict *v)
{
    assert(v);
    bool first = s->n == 0 && s->blind == 0;
    if (v->result < RESULT_OK) {
        s->blind++;
        return s->any ? false : steady_say(s, now, v, first);
    }
    s->blind = 0;
    s->looked = now;
    steady_count(s, now, v->result);
    return say_as(s, k, now, v, steady_steadied(s, k, now), first);
}

void steady_resume(struct steady *s, struct mono at, const struct verdict *said)
{
    *s = (struct steady){.said = *said, .any = true, .since = at, .looked = at};
    steady_count(s, at, said->result);
}

bool counter_take(struct counter *c, struct mono now, uint64_t value, uint64_t *growth, struct span *in)
{
    bool grown = c->known && value >= c->last;
    if (grown) {
        *growth = value - c->last;
        *in = mono_sub(now, c->at);
    }
    *c = (struct counter){.known = true, .last = value, .at = now};
    return grown;
}
