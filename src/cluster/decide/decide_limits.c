/* SPDX-License-Identifier: Apache-2.0 */
/* CONFIGURE: how many nodes Fettle may take out by its own decision, as the configuration says. */
#include "cluster/decide/decide.h"

#include <errno.h>

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

int decide_configure(const struct cluster *c, const struct command *cmd, struct decision *d, struct err *e)
{
    struct text record = {0}, said = {0};
    struct limits is = cmd->limits;
    is.given = true;
    for (int s = 0; s < SCOPES; s++)
        if (is.percent[s] > 100)
            return err_set(e, -EINVAL, "at most %u %% of a scope; 100 %% is all of it", is.percent[s]);
    if (limits_equal(&is, &c->limits))
        return 0;
    limits_write(&is, &record);
    decision_add(d, "config/", "limits", text_take(&record));
    say_limits(&c->limits, &is, &said);
    d->text = text_take(&said);
    return 0;
}
