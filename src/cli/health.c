/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The commands about checks and incidents.
 */
#include "base/clock.h"
#include "cli/choice.h"
#include "cli/print.h"
#include "cli/report.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* ---- checks ---- */

/* "ok 12, fatal 1" */
static void add_counts(struct table *t, const struct fettle_value *check)
{
    CLEANUP_TEXT struct text s = {0};
    REPORT_EACH(i, fettle_value_find(check, "nodes"))
    text_printf(&s, "%s%s %s", s.len ? ", " : "", fettle_value_key(i), fettle_value_text(i));
    table_add(t, s.len ? s.s : "");
}

int check_list(struct call *c, struct err *e)
{
    static const struct column columns[] = {
        {.heading = "CHECK"},    {.heading = "PROBE"},   {.heading = "EVERY", .right = true},
        {.heading = "SEVERITY"}, {.heading = "OBSERVE"}, {.heading = "NODES"}};
    static const char *const keys[] = {"check", "probe", "every_s", "severity", "observe"};
    const struct report_list list = {.ask = fettle_check_list,
                                     .rows = "checks",
                                     .columns = columns,
                                     .n_columns = sizeof columns / sizeof columns[0],
                                     .keys = keys,
                                     .n_keys = sizeof keys / sizeof keys[0],
                                     .rest = add_counts};
    return report_list(c, &list, e);
}

static void add_row(struct table *t, const char *first, const char *result, const char *looked,
                    const char *device, const char *text)
{
    table_add(t, first);
    table_add(t, result);
    if (looked)
        table_add(t, looked);
    table_add(t, device);
    table_add(t, text);
}

/* A row for each finding, or one when nothing was found. looked NULL: there is no such column. */
static void add_said(struct table *t, const char *first, const char *looked,
                     const struct fettle_value *verdict)
{
    size_t n = 0;
    REPORT_EACH(f, fettle_value_find(verdict, "findings"))
    {
        add_row(t, n ? "" : first, report_text(f, "result"), n && looked ? "" : looked,
                report_text(f, "device"), report_text(f, "text"));
        n++;
    }
    if (n == 0)
        add_row(t, first, report_text(verdict, "result"), looked, "", report_text(verdict, "text"));
}

static const struct column said_columns[] = {{.heading = "CHECK"},
                                             {.heading = "RESULT"},
                                             {.heading = "AGO", .right = true},
                                             {.heading = "DEVICE"},
                                             {.heading = "WHAT"}};

static void write_step(struct text *out, const struct fettle_value *repair)
{
    CLEANUP_TEXT struct text t = {0};
    const char *step = report_text(repair, "step");
    if (!*step || strcmp(step, "none") == 0)
        return;
    text_printf(&t, "%s: %s", step, report_text(repair, "what"));
    report_line(out, "Repair", t.s);
}

static void write_trial(struct text *out, const struct fettle_value *trials)
{
    REPORT_EACH(i, trials)
    {
        CLEANUP_TEXT struct text t = {0};
        char age[32];
        const char *began = fettle_get_text(fettle_value_find(i, "now"), "began");
        if (!began)
            continue;
        text_printf(&t, "%s, for %s", report_text(i, "check"), report_age(began, age));
        report_line(out, "Trial", t.s);
    }
}

static void write_said(struct call *c, const struct fettle_value *v)
{
    struct table t = {.columns = said_columns, .n_columns = sizeof said_columns / sizeof said_columns[0]};
    report_line(&c->out, "Node", fettle_get_text(v, "node"));
    report_line(&c->out, "Health", fettle_get_text(v, "health"));
    report_line(&c->out, "Missing", fettle_get_text(v, "missing"));
    write_step(&c->out, fettle_value_find(v, "repair"));
    write_trial(&c->out, fettle_value_find(v, "trials"));
    REPORT_EACH(i, fettle_value_find(v, "checks"))
    {
        char ago[32] = "";
        int64_t s;
        if (fettle_get_number(i, "looked_s", &s) == 0)
            span_human(span_s(s), ago);
        add_said(&t, report_text(i, "check"), ago, fettle_value_find(i, "verdict"));
    }
    table_write(&t, !call_has(c, OPTION_NO_HEADER), false, &c->out);
    table_fini(&t);
}

static void write_incidents(struct text *out, const char *heading, const struct fettle_value *list)
{
    if (fettle_value_count(list) > 0)
        text_printf(out, "%s\n", heading);
    REPORT_EACH(i, list)
    {
        char age[32];
        text_add(out, "  ");
        print_safe(out, report_text(i, "severity"));
        text_add_char(out, ' ');
        print_safe(out, *report_text(i, "group") ? report_text(i, "group") : "node");
        text_printf(out, ", since %s ago", report_age(fettle_get_text(i, "since"), age));
        if (fettle_get_text(i, "closed"))
            text_printf(out, ", closed %s ago", report_age(fettle_get_text(i, "closed"), age));
        text_add_char(out, '\n');
        REPORT_EACH(f, fettle_value_find(i, "findings"))
        {
            text_add(out, "    ");
            print_safe(out, report_text(f, "check"));
            text_printf(out, "%s", *report_text(f, "code") ? " " : "");
            print_safe(out, report_text(f, "code"));
            text_add(out, ": ");
            print_safe(out, report_text(f, "text"));
            text_add_char(out, '\n');
        }
    }
}

int check_show(struct call *c, struct err *e)
{
    struct fettle_answer *answer = NULL;
    int r = call_about(c, fettle_health_show, &answer, e);
    if (r < 0)
        return r;
    const struct fettle_value *v = fettle_answer_value(answer);
    if (call_has(c, OPTION_JSON)) {
        report_json(c, v);
    } else {
        write_said(c, v);
        write_incidents(&c->out, "Open incidents", fettle_value_find(v, "open"));
        if (call_has(c, OPTION_ALL))
            write_incidents(&c->out, "Past incidents", fettle_value_find(v, "past"));
    }
    fettle_answer_free(answer);
    return 0;
}

int check_explain(struct call *c, struct err *e)
{
    static const char *const lines[][2] = {{"Name", "name"},   {"Kind", "kind"},
                                           {"What", "what"},   {"Severity", "severity"},
                                           {"Act", "act"},     {"Brought about by", "blame"},
                                           {"Probe", "probe"}, {"Record", "record"},
                                           {"Keys", "keys"},   {"Source", "source"}};
    struct fettle_answer *answer = NULL;
    int r = call_about(c, fettle_check_explain, &answer, e);
    if (r < 0)
        return r;
    const struct fettle_value *v = fettle_answer_value(answer);
    if (call_has(c, OPTION_JSON))
        report_json(c, v);
    for (size_t i = 0; !call_has(c, OPTION_JSON) && i < sizeof lines / sizeof lines[0]; i++)
        report_line(&c->out, lines[i][0], fettle_get_text(v, lines[i][1]));
    fettle_answer_free(answer);
    return 0;
}

int check_run(struct call *c, struct err *e)
{
    static const struct column columns[] = {
        {.heading = "NODE"}, {.heading = "RESULT"}, {.heading = "DEVICE"}, {.heading = "WHAT"}};
    struct table t = {.columns = columns, .n_columns = sizeof columns / sizeof columns[0]};
    CLEANUP_FREE char *nodes = NULL;
    struct fettle_answer *answer = NULL;
    struct fettle_error why;
    int r = choice_nodes(c->args + 1, c->n_args - 1, &nodes, e);
    struct fettle *f = r == 0 ? call_controller(c, e) : NULL;
    if (!f)
        return e->code;
    r = call_told(fettle_check_run(f, nodes, c->args[0], &answer, &why), &why, e);
    if (r < 0)
        return r;
    if (call_has(c, OPTION_DRY_RUN))
        return report_would(c, answer);
    const struct fettle_value *v = fettle_answer_value(answer);
    bool all = true;
    REPORT_EACH(i, fettle_value_find(v, "results"))
    {
        const char *error = fettle_get_text(i, "error"), *node = report_text(i, "node");
        if (error)
            add_row(&t, node, "", NULL, "", error);
        else
            add_said(&t, node, NULL, fettle_value_find(i, "verdict"));
        all = all && !error;
    }
    report_table(c, &t, v);
    fettle_answer_free(answer);
    return all ? 0 : err_exit(-EBUSY);
}

/* ---- trials ---- */

static void add_trial(struct table *t, const struct fettle_value *i)
{
    const struct fettle_value *now = fettle_value_find(i, "now"), *last = fettle_value_find(i, "last");
    char for_[32], ago[32];
    table_add(t, report_text(i, "node"));
    table_add(t, report_text(i, "check"));
    table_add(t, fettle_get_text(now, "began") ? report_age(fettle_get_text(now, "began"), for_) : "");
    table_add(t, report_text(last, "result"));
    table_add(t, fettle_get_text(last, "at") ? report_age(fettle_get_text(last, "at"), ago) : "");
}

int check_trials(struct call *c, struct err *e)
{
    static const struct column columns[] = {{.heading = "NODE"},
                                            {.heading = "CHECK"},
                                            {.heading = "RUNS", .right = true},
                                            {.heading = "LAST"},
                                            {.heading = "AGO", .right = true}};
    struct table t = {.columns = columns, .n_columns = sizeof columns / sizeof columns[0]};
    CLEANUP_FREE char *nodes = NULL;
    struct fettle_answer *answer = NULL;
    struct fettle_error why;
    int r = c->n_args > 1 ? choice_nodes(c->args + 1, c->n_args - 1, &nodes, e) : 0;
    struct fettle *f = r == 0 ? call_controller(c, e) : NULL;
    if (!f)
        return e->code;
    r = call_told(fettle_trial_list(f, c->n_args ? c->args[0] : NULL, nodes, &answer, &why), &why, e);
    if (r < 0)
        return r;
    const struct fettle_value *v = fettle_answer_value(answer);
    REPORT_EACH(i, fettle_value_find(v, "trials"))
    add_trial(&t, i);
    report_table(c, &t, v);
    fettle_answer_free(answer);
    return 0;
}

/* ---- incidents ---- */

static void add_incident(struct table *t, const struct fettle_value *i)
{
    const struct fettle_value *worst = fettle_value_first(fettle_value_find(i, "findings"));
    const char *code = report_text(worst, "code");
    char age[32];
    const char *const cells[] = {report_text(i, "node"),
                                 report_text(i, "severity"),
                                 report_text(i, "group"),
                                 *code ? code : report_text(worst, "check"),
                                 report_age(fettle_get_text(i, "since"), age),
                                 report_text(i, "count"),
                                 report_text(worst, "text")};
    for (size_t k = 0; k < sizeof cells / sizeof cells[0]; k++)
        table_add(t, cells[k]);
}

static void write_shared(struct text *out, const struct fettle_value *list)
{
    REPORT_EACH(i, list)
    {
        print_safe(out, report_text(i, "nodes"));
        text_add(out, ": one cause: ");
        print_safe(out, report_text(i, "key"));
        text_add(out, ": ");
        print_safe(out, report_text(i, "why"));
        text_add(out, "; nobody is taken out of service for it\n");
    }
}

int incident_list(struct call *c, struct err *e)
{
    static const struct column columns[] = {
        {.heading = "NODE"},  {.heading = "SEVERITY"},           {.heading = "DEVICE"},
        {.heading = "FAULT"}, {.heading = "FOR", .right = true}, {.heading = "COUNT", .right = true},
        {.heading = "WHAT"}};
    struct table t = {.columns = columns, .n_columns = sizeof columns / sizeof columns[0]};
    CLEANUP_FREE char *nodes = NULL;
    struct fettle_answer *answer = NULL;
    struct fettle_error why;
    int r = c->n_args ? choice_nodes(c->args, c->n_args, &nodes, e) : 0;
    struct fettle *f = r == 0 ? call_controller(c, e) : NULL;
    if (!f)
        return e->code;
    r = call_told(fettle_incident_list(f, nodes, &answer, &why), &why, e);
    if (r < 0)
        return r;
    const struct fettle_value *v = fettle_answer_value(answer);
    REPORT_EACH(i, fettle_value_find(v, "incidents"))
    add_incident(&t, i);
    report_table(c, &t, v);
    if (!call_has(c, OPTION_JSON))
        write_shared(&c->out, fettle_value_find(v, "shared"));
    fettle_answer_free(answer);
    return 0;
}
