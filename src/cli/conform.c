/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The commands about conformance: groups, differences, history; recheck and approval.
 */
#include "cli/listing.h"
#include "cli/print.h"
#include "cli/report.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* ---- groups ---- */

static int ask_groups(struct call *c, const struct query *q, struct fettle_answer **answer, struct err *e)
{
    struct fettle_error why;
    struct fettle *f = call_controller(c, e);
    if (!f)
        return e->code;
    return call_told(fettle_conform_groups(f, c->value[OPTION_CLASS], answer, &why), &why, e);
}

int conform_groups(struct call *c, struct err *e)
{
    static const struct listing groups = {.record = RECORD_GROUP, .ask = ask_groups};
    return listing_show(c, &groups, NULL, e);
}

/* ---- diff ---- */

/* One component on both sides: expected and actual; or, for two nodes, the value of each in the order of the
 * call. Also printed under the table when the cells were too narrow. */
struct difference_sides {
    struct text text[2];
    struct report_pair pair;
    int unread; /* the side that could not be read, the first of both; -1: none */
};

static void take_sides(const struct call *c, const struct fettle_value *d, struct difference_sides *s)
{
    bool nodes = c->n_args > 1;
    *s = (struct difference_sides){
        .pair = {.name = fettle_get_text(d, "component"),
                 .label = {nodes ? c->args[0] : "expected", nodes ? c->args[1] : "actual"}}};
    s->unread = -1;
    for (int i = 0; i < 2; i++) {
        const struct fettle_value *side = fettle_value_find(d, (i == 0) == nodes ? "actual" : "expected");
        report_side(side, &s->text[i]);
        s->pair.value[i] = s->text[i].s ? s->text[i].s : "";
        if (s->unread < 0 && strcmp(report_text(side, "state"), "unknown") == 0)
            s->unread = i;
    }
}

static void sides_fini(struct difference_sides *s)
{
    text_fini(&s->text[0]);
    text_fini(&s->text[1]);
}

static bool is_same(const struct fettle_value *d)
{
    const char *kind = fettle_get_text(d, "kind");
    return kind && strcmp(kind, "same") == 0;
}

static void add_difference(const struct call *c, struct table *t, const struct fettle_value *d)
{
    CLEANUP_TEXT struct text same = {0};
    struct difference_sides sides;
    const char *severity = fettle_get_text(d, "severity"), *kind = fettle_get_text(d, "kind");
    text_printf(&same, "same (%s)", severity ? severity : "?");
    take_sides(c, d, &sides);
    report_cell(t, d, "component");
    table_add(t, is_same(d) ? same.s : kind && strcmp(kind, "different") == 0 ? severity : kind);
    report_pair_cells(t, &sides.pair);
    report_cell(t, d, "since");
    table_add(t, fettle_get_text(d, "also"));
    sides_fini(&sides);
}

static void write_summary(struct text *out, const struct fettle_value *v, bool nodes)
{
    const struct fettle_value *against = fettle_value_find(v, "against");
    const struct fettle_value *drift = fettle_value_find(v, "drift");
    const struct fettle_value *suggestion = fettle_value_find(v, "suggestion");
    CLEANUP_TEXT struct text t = {0};
    report_line(out, "Node", fettle_get_text(v, "node"));
    report_line(out, "Class", fettle_get_text(v, "class"));
    if (fettle_get_text(against, "node"))
        text_printf(&t, "%s %s", nodes ? "node" : "the rolling update to what is on",
                    fettle_get_text(against, "node"));
    else if (fettle_get_text(against, "baseline"))
        text_printf(&t, "baseline %s", fettle_get_text(against, "baseline"));
    report_line(out, "Against", t.s);
    report_line(out, "Conformance", fettle_get_text(v, "conformance"));
    report_line(out, "Why", fettle_get_text(v, "why"));
    report_line(out, "Cohort", fettle_get_text(v, "cohort"));
    report_line(out, "As it is since", fettle_get_text(v, "seen_since"));
    if (fettle_get_text(drift, "state")) {
        text_clear(&t);
        if (strcmp(fettle_get_text(drift, "state"), "remedied") == 0)
            text_printf(&t, "remedied; out of service until: fettle conform approve %s",
                        report_text(v, "node"));
        else
            text_printf(&t, "%s since %s", report_text(drift, "state"), report_text(drift, "since"));
        report_line(out, "Drift", t.s);
    }
    if (fettle_get_true(v, "flaps"))
        report_line(out, "Flaps", "its drift came and went; it has to stay right for a while");
    if (fettle_get_text(suggestion, "node")) {
        text_clear(&t);
        text_printf(&t, "fettle baseline accept %s; like it are %s of %s", report_text(suggestion, "node"),
                    report_text(suggestion, "share"), report_text(suggestion, "of"));
        report_line(out, "Suggestion", t.s);
    }
}

/* Often a thousand components could not be read for one reason: it is printed once. */
static void write_rest(struct call *c, const struct fettle_value *list)
{
    CLEANUP_TEXT struct text last = {0};
    REPORT_EACH(i, list)
    {
        struct difference_sides sides;
        const char *kind = fettle_get_text(i, "kind"), *reason = NULL;
        take_sides(c, i, &sides);
        if (kind && strcmp(kind, "unknown") == 0)
            reason = sides.pair.value[sides.unread == 0 ? 0 : 1];
        if (!is_same(i) && (!reason || !last.s || strcmp(reason, last.s) != 0))
            report_pair_rest(&c->out, &sides.pair);
        text_clear(&last);
        text_add(&last, reason ? reason : "");
        sides_fini(&sides);
    }
}

static void write_differences(struct call *c, const struct fettle_value *v)
{
    bool nodes = c->n_args > 1;
    const struct column columns[] = {{.heading = "COMPONENT"},
                                     {.heading = "SEVERITY"},
                                     {.heading = nodes ? c->args[0] : "EXPECTED"},
                                     {.heading = nodes ? c->args[1] : "ACTUAL"},
                                     {.heading = "SINCE"},
                                     {.heading = "ALSO"}};
    struct table t = {.columns = columns, .n_columns = sizeof columns / sizeof columns[0]};
    const struct fettle_value *list = fettle_value_find(v, "differences");
    if (fettle_value_count(list) == 0) {
        if (fettle_value_kind(fettle_value_find(v, "against")) == FETTLE_OBJECT)
            report_line(&c->out, "Differences", fettle_get_text(v, "fingerprint") ? "none" : "not known");
        return;
    }
    REPORT_EACH(i, list)
    add_difference(c, &t, i);
    text_add_char(&c->out, '\n');
    report_table(c, &t, NULL);
    write_rest(c, list);
}

static int ask_difference(struct call *c, const struct query *q, struct fettle_answer **answer, struct err *e)
{
    struct fettle_error why;
    const char *with = c->n_args > 1 ? c->args[1] : NULL;
    struct fettle *f = call_controller(c, e);
    if (!f)
        return e->code;
    return call_told(fettle_conform_diff(f, c->args[0], with, call_has(c, OPTION_ALL), answer, &why), &why,
                     e);
}

static void write_diff(struct call *c, const struct fettle_value *v)
{
    write_summary(&c->out, v, c->n_args > 1);
    write_differences(c, v);
}

int conform_diff(struct call *c, struct err *e)
{
    static const struct listing differences = {
        .record = RECORD_DIFFERENCE, .ask = ask_difference, .whole = true, .people = write_diff};
    return listing_show(c, &differences, NULL, e);
}

int conform_why_not(struct call *c, struct err *e)
{
    struct fettle_answer *answer = NULL;
    int r = ask_difference(c, NULL, &answer, e);
    if (r < 0)
        return r;
    const struct fettle_value *v = fettle_answer_value(answer);
    if (call_has(c, OPTION_JSON))
        report_json(c, v);
    else
        write_summary(&c->out, v, false);
    fettle_answer_free(answer);
    return 0;
}

/* ---- history ---- */

static int ask_history(struct call *c, const struct query *q, struct fettle_answer **answer, struct err *e)
{
    return call_about(c, fettle_conform_history, answer, e);
}

int conform_history(struct call *c, struct err *e)
{
    static const struct listing changes = {.record = RECORD_CHANGE, .ask = ask_history};
    return listing_show(c, &changes, NULL, e);
}

/* ---- recheck and approve ---- */

static void write_told(struct call *c, int64_t told, size_t asked)
{
    if (told == 0)
        text_add(&c->out, "no node was told to read its fingerprint anew, for none of them is heard\n");
    else if ((size_t)told < asked)
        text_printf(&c->out,
                    "%lld of %zu nodes were told to read their fingerprints anew; the others are not heard\n",
                    (long long)told, asked);
    else if (told == 1)
        text_add(&c->out, "1 node was told to read its fingerprint anew\n");
    else
        text_printf(&c->out, "%lld nodes were told to read their fingerprints anew\n", (long long)told);
}

int conform_recheck(struct call *c, struct err *e)
{
    CLEANUP_HOSTLIST struct hostlist hosts = {0};
    CLEANUP_FREE char *nodes = NULL;
    struct fettle_answer *answer = NULL;
    struct fettle_error why;
    int r = choice_targets(c, c->args, c->n_args, &hosts, e);
    struct fettle *f = r == 0 ? call_controller(c, e) : NULL;
    if (!f)
        return e->code;
    nodes = hostlist_fold((const char *const *)hosts.names, hosts.n);
    r = call_told(fettle_conform_recheck(f, nodes, &answer, &why), &why, e);
    if (r < 0)
        return r;
    if (call_has(c, OPTION_DRY_RUN))
        return report_would(c, answer);
    int64_t told = 0;
    fettle_get_number(fettle_answer_value(answer), "told", &told);
    if (call_has(c, OPTION_JSON))
        report_json(c, fettle_answer_value(answer));
    else
        write_told(c, told, hosts.n);
    fettle_answer_free(answer);
    return told > 0 ? 0 : err_exit(EBUSY);
}

int conform_approve(struct call *c, struct err *e)
{
    CLEANUP_FREE char *nodes = NULL;
    struct fettle_answer *answer = NULL;
    struct fettle_error why;
    int r = choice_target_list(c, c->args, c->n_args, &nodes, e);
    struct fettle *f = r == 0 ? call_controller(c, e) : NULL;
    if (!f)
        return e->code;
    r = call_told(fettle_conform_approve(f, nodes, c->value[OPTION_REASON], &answer, &why), &why, e);
    return r < 0 ? r : report_change(c, answer, "approved", "nothing had to change");
}
