/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The commands about checks and incidents.
 */
#include "base/clock.h"
#include "cli/listing.h"
#include "cli/print.h"
#include "cli/report.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* ---- checks ---- */

int check_list(struct call *c, struct err *e)
{
    static const struct listing checks = {.record = RECORD_CHECK, .all = fettle_check_list};
    return listing_show(c, &checks, NULL, e);
}

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

static void write_node(struct call *c, const struct fettle_value *v)
{
    report_line(&c->out, "Node", fettle_get_text(v, "node"));
    report_line(&c->out, "Health", fettle_get_text(v, "health"));
    report_line(&c->out, "Missing", fettle_get_text(v, "missing"));
    write_step(&c->out, fettle_value_find(v, "repair"));
    write_trial(&c->out, fettle_value_find(v, "trials"));
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

static void write_open_and_past(struct call *c, const struct fettle_value *v)
{
    write_incidents(&c->out, "Open incidents", fettle_value_find(v, "open"));
    if (call_has(c, OPTION_ALL))
        write_incidents(&c->out, "Past incidents", fettle_value_find(v, "past"));
}

static int ask_node(struct call *c, const struct query *q, struct fettle_answer **answer, struct err *e)
{
    return call_about(c, fettle_health_show, answer, e);
}

int check_show(struct call *c, struct err *e)
{
    static const struct listing said = {.record = RECORD_SAID,
                                        .ask = ask_node,
                                        .whole = true,
                                        .above = write_node,
                                        .below = write_open_and_past};
    return listing_show(c, &said, NULL, e);
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

static int ask_run(struct call *c, const struct query *q, struct fettle_answer **answer, struct err *e)
{
    CLEANUP_FREE char *nodes = NULL;
    struct fettle_error why;
    int r = choice_target_list(c, c->args + 1, c->n_args - 1, &nodes, e);
    struct fettle *f = r == 0 ? call_controller(c, e) : NULL;
    return f ? call_told(fettle_check_run(f, nodes, c->args[0], answer, &why), &why, e) : e->code;
}

int check_run(struct call *c, struct err *e)
{
    static const struct listing runs = {.record = RECORD_RUN, .ask = ask_run};
    return listing_results(c, &runs, e);
}

/* ---- trials ---- */

static int ask_trials(struct call *c, const struct query *q, struct fettle_answer **answer, struct err *e)
{
    CLEANUP_FREE char *nodes = NULL;
    struct fettle_error why;
    int r = c->n_args > 1 ? choice_nodes(c->args + 1, c->n_args - 1, &nodes, e) : 0;
    struct fettle *f = r == 0 ? call_controller(c, e) : NULL;
    const char *check = c->n_args ? c->args[0] : NULL;
    return f ? call_told(fettle_trial_list(f, check, nodes, answer, &why), &why, e) : e->code;
}

int check_trials(struct call *c, struct err *e)
{
    static const struct listing trials = {.record = RECORD_TRIAL, .ask = ask_trials};
    return listing_show(c, &trials, NULL, e);
}

/* ---- incidents ---- */

static int ask_incidents(struct call *c, const struct query *q, struct fettle_answer **answer, struct err *e)
{
    CLEANUP_FREE char *nodes = NULL;
    struct fettle_error why;
    int64_t since = 0;
    int r = c->n_args ? choice_nodes(c->args, c->n_args, &nodes, e) : 0;
    r = r == 0 ? choice_moment(c, OPTION_SINCE, &since, e) : r;
    struct fettle *f = r == 0 ? call_controller(c, e) : NULL;
    return f ? call_told(fettle_incident_list(f, nodes, since, answer, &why), &why, e) : e->code;
}

static void write_shared(struct call *c, const struct fettle_value *v)
{
    if (fettle_value_count(fettle_value_find(v, "shared")) > 0)
        text_add(&c->out, "where one cause is on many nodes none is taken out of service for it\n");
}

int incident_list(struct call *c, struct err *e)
{
    static const struct listing incidents = {
        .record = RECORD_INCIDENT, .ask = ask_incidents, .below = write_shared};
    return listing_show(c, &incidents, NULL, e);
}
