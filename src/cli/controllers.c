/* SPDX-License-Identifier: Apache-2.0 */
/* The controllers of a state in etcd: listed, admitted, removed. */
#include "cli/listing.h"
#include "cli/report.h"

#include <errno.h>

int controller_list(struct call *c, struct err *e)
{
    static const struct listing controllers = {.record = RECORD_CONTROLLER, .all = fettle_controller_list};
    return listing_show(c, &controllers, NULL, e);
}

int controller_admit(struct call *c, struct err *e)
{
    struct fettle_answer *answer = NULL;
    struct fettle_error why;
    CLEANUP_TEXT struct text done = {0};
    struct fettle *f = call_controller(c, e);
    if (!f)
        return e->code;
    text_printf(&done, "controller %s is admitted; it takes part in a few seconds", c->args[0]);
    int r = call_told(fettle_controller_admit(f, c->args[0], c->args[1], &answer, &why), &why, e);
    return r < 0 ? r : report_change(c, answer, done.s, done.s);
}

/* What a command cannot undo is said. */
int controller_remove(struct call *c, struct err *e)
{
    const char *name = c->args[0];
    struct fettle_answer *answer = NULL;
    struct fettle_error why;
    CLEANUP_TEXT struct text done = {0};
    if (call_needs_reason(c, e) < 0)
        return e->code;
    struct fettle *f = call_controller(c, e);
    if (!f)
        return e->code;
    text_printf(
        &done,
        "controller %s is removed, and its certificates have ended. The authority's key is still known "
        "there: delete ca.key on that machine, and take its access to etcd away",
        name);
    int r = call_told(fettle_controller_remove(f, name, c->value[OPTION_REASON], &answer, &why), &why, e);
    return r < 0 ? r : report_change(c, answer, done.s, done.s);
}
