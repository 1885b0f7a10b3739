/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the recurrence of a fault means: the general rule and the table of health/recur.h, applied to the
 * records and to the present findings, so that a new leader comes to the same result.
 */
#include "watch/incident/incident.h"
#include "watch/incident/recur_inside.h"

#include <string.h>

enum {
    RECUR_S = 30 * 86400,
    OFTEN_S = 7 * 86400,
    OFTEN_TIMES = 5, /* after so many fatal faults that went by themselves a person is needed */
    SEEN_MAX = (INCIDENTS_OPEN_MAX + INCIDENTS_PAST_MAX) * INCIDENT_FINDINGS_MAX
};

static const struct incident *incident_at(const struct ailment *a, size_t i)
{
    return i < a->n_open ? &a->open[i] : &a->past[i - a->n_open];
}

unsigned recur_count(const struct member *m, const char *group, bool observe, struct wall now)
{
    const struct ailment *a = member_ailment(m);
    unsigned n = 0;
    for (size_t i = 0; a && i < a->n_open + a->n_past; i++) {
        const struct incident *one = incident_at(a, i);
        n += one->observe == observe && strcmp(one->group, group) == 0 &&
             now.ns - one->since.ns < span_s(RECUR_S).ns;
    }
    return n;
}

static bool is_same(const struct incident_finding *a, const char *check, const struct finding *f)
{
    return strcmp(a->check, check) == 0 && strcmp(a->f.device, f->device) == 0 &&
           strcmp(a->f.code, f->code) == 0;
}

const struct incident *recur_often(const struct member *m, struct wall began, struct wall now)
{
    const struct ailment *a = member_ailment(m);
    for (size_t i = 0; a && i < a->n_past && a->past[i].closed.ns >= began.ns; i++) {
        const struct incident *one = &a->past[i];
        unsigned n = 0;
        for (size_t k = i; k < a->n_past; k++)
            n += incident_counts(&a->past[k]) && a->past[k].severity >= RESULT_FATAL &&
                 strcmp(a->past[k].group, one->group) == 0 &&
                 is_same(&a->past[k].findings[0], one->findings[0].check, &one->findings[0].f) &&
                 now.ns - a->past[k].since.ns < span_s(OFTEN_S).ns;
        if (n >= OFTEN_TIMES)
            return one;
    }
    return NULL;
}

const struct recur_row *recur_find(const struct member *m, const struct incident *known, const char *check,
                                   const struct finding *f, bool observe, struct wall now, unsigned again)
{
    struct recurrence all[SEEN_MAX];
    const struct ailment *a = member_ailment(m);
    struct recurrence it = {f->code, f->device, f->result, now, again, f->others > 0};
    size_t n = 0;
    if (!*f->code)
        return NULL;
    for (size_t i = 0; a && i < a->n_open + a->n_past; i++) {
        const struct incident *one = incident_at(a, i);
        for (size_t k = 0; one->observe == observe && k < one->n && n < SEEN_MAX; k++) {
            const struct incident_finding *x = &one->findings[k];
            if (one == known && is_same(x, check, f))
                it.times += x->times;
            else
                all[n++] = (struct recurrence){x->f.code, x->f.device, x->f.result,
                                               x->at,     x->times,    x->f.others > 0};
        }
    }
    it.times = it.times ? it.times : 1;
    return recur_judge(&it, all, n);
}
