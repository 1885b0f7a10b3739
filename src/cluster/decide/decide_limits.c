/* SPDX-License-Identifier: Apache-2.0 */
/* The limits of a revision: how many nodes Fettle may take out by its own decision. */
#include "cluster/decide/decide.h"

static void say_number(const char *name, unsigned was, unsigned is, const char *unit, struct text *t)
{
    if (was != is)
        text_printf(t, "%s%s %u%s -> %u%s", t->len ? ", " : "", name, was, unit, is, unit);
}

/* The limits that changed, by the names of fettle.conf. */
static void say_limits(const struct limits *was, const struct limits *is, struct text *t)
{
    static const char *const names[SCOPES] = {"MaxOut", "MaxOutClass", "MaxOutGroup", "MaxOutPartition"};
    if (!was->given) {
        text_add(t, "the limits of the configuration are agreed on");
        return;
    }
    if (was->act != is->act)
        text_printf(t, "Health %s", is->act ? "act" : "observe");
    for (int s = 0; s < SCOPES; s++)
        say_number(names[s], was->percent[s], is->percent[s], " %", t);
    say_number("SurgeNodes", was->surge, is->surge, "", t);
    say_number("SurgeWindow", (unsigned)(was->surge_window.ns / span_s(1).ns),
               (unsigned)(is->surge_window.ns / span_s(1).ns), " s", t);
    say_number("RemediesAWeek", was->remedies_a_week, is->remedies_a_week, "", t);
}

void decide_limits(const struct cluster *c, const struct limits *is, struct decision *d)
{
    struct text record = {0}, said = {0};
    if (!is->given || limits_equal(is, &c->limits))
        return;
    limits_write(is, &record);
    decision_add(d, "config/", "limits", text_take(&record));
    say_limits(&c->limits, is, &said);
    if (d->text)
        text_fini(&said);
    else
        d->text = text_take(&said);
}
