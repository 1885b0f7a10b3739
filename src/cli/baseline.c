/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The commands about classes, baselines and rolling updates.
 */
#include "cli/listing.h"
#include "cli/print.h"
#include "cli/report.h"

#include <errno.h>
#include <string.h>

/* ---- classes ---- */

static void write_alarms(struct call *c, const struct fettle_value *v)
{
    struct text *out = &c->out;
    REPORT_EACH(i, fettle_value_find(v, "classes"))
    {
        if (!fettle_get_true(i, "alarm"))
            continue;
        print_safe(out, fettle_get_text(i, "name"));
        text_add(out,
                 ": more than MaxDriftShare of it drift at once; none of them is taken down or rebooted\n");
    }
}

int class_list(struct call *c, struct err *e)
{
    static const struct listing classes = {
        .record = RECORD_CLASS, .all = fettle_class_list, .below = write_alarms};
    return listing_show(c, &classes, NULL, e);
}

/* ---- looking at a baseline ---- */

static int parse_version(const char *text, unsigned *out, struct err *e)
{
    uint64_t n = 0;
    int r = text ? text_parse_u64(text, 1, UINT32_MAX, &n, e) : 0;
    if (r < 0)
        return err_wrap(e, r, "the version of a baseline");
    *out = (unsigned)n;
    return 0;
}

static int baseline_fetch(struct call *c, const char *version, struct fettle_answer **answer, struct err *e)
{
    unsigned number = 0;
    struct fettle_error why;
    int r = parse_version(version, &number, e);
    struct fettle *f = r == 0 ? call_controller(c, e) : NULL;
    if (!f)
        return e->code;
    return call_told(fettle_baseline_show(f, c->args[0], number, answer, &why), &why, e);
}

static void write_head(struct call *c, const struct fettle_value *v)
{
    static const char *const lines[][2] = {{"Class", "class"},
                                           {"Version", "version"},
                                           {"Node", "node"},
                                           {"Accepted by", "by"},
                                           {"At", "at"},
                                           {"Note", "note"},
                                           {"Fingerprint", "fingerprint"}};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        report_line(&c->out, lines[i][0], fettle_get_text(v, lines[i][1]));
    text_add_char(&c->out, '\n');
}

static int ask_baseline(struct call *c, const struct query *q, struct fettle_answer **answer, struct err *e)
{
    return baseline_fetch(c, c->value[OPTION_VERSION_OF], answer, e);
}

int baseline_show(struct call *c, struct err *e)
{
    static const struct listing components = {
        .record = RECORD_COMPONENT, .ask = ask_baseline, .whole = true, .above = write_head};
    return listing_show(c, &components, NULL, e);
}

int baseline_history(struct call *c, struct err *e)
{
    static const struct listing versions = {.record = RECORD_BASELINE, .ask = ask_baseline};
    return listing_show(c, &versions, NULL, e);
}

/* The components of a baseline by name; NULL when the answer has no such object. */
static const struct fettle_value *components_of(const struct fettle_value *baseline)
{
    const struct fettle_value *components = fettle_value_find(baseline, "components");
    return fettle_value_kind(components) == FETTLE_OBJECT ? components : NULL;
}

/* The value of a component in a baseline; "(absent)" when it has none. */
static const char *value_in(const struct fettle_value *baseline, const char *component)
{
    const char *s = fettle_get_text(components_of(baseline), component);
    return s ? s : "(absent)";
}

static void add_change(struct text *out, const char *component, const char *from, const char *to)
{
    static const char *const keys[] = {"component", "from", "to"};
    const char *const values[] = {component, from, to};
    for (size_t k = 0; k < 3; k++) {
        text_printf(out, "%s\"%s\":", k ? "," : out->len ? ",{" : "{", keys[k]);
        print_json_string(out, values[k]);
    }
    text_add_char(out, '}');
}

/* Adds components of a that differ in b, then those that only b has. */
static void add_changes(struct text *out, const struct fettle_value *a, const struct fettle_value *b)
{
    REPORT_EACH(i, components_of(a))
    {
        const char *name = fettle_value_key(i), *from = fettle_value_text(i), *to = value_in(b, name);
        if (from && strcmp(from, to) != 0)
            add_change(out, name, from, to);
    }
    REPORT_EACH(i, components_of(b))
    {
        const char *name = fettle_value_key(i), *to = fettle_value_text(i);
        if (to && !fettle_get_text(components_of(a), name))
            add_change(out, name, "(absent)", to);
    }
}

/* Computes the differences between two versions in the form of an answer: the controller knows the versions,
 * but not their differences. */
static int ask_changes(struct call *c, const struct query *q, struct fettle_answer **answer, struct err *e)
{
    CLEANUP_TEXT struct text list = {0}, json = {0};
    struct fettle_answer *a = NULL, *b = NULL;
    struct fettle_error why;
    int r = baseline_fetch(c, c->args[1], &a, e);
    if (r == 0)
        r = baseline_fetch(c, c->args[2], &b, e);
    if (r == 0) {
        add_changes(&list, fettle_answer_value(a), fettle_answer_value(b));
        text_printf(&json, "{\"differences\":[%s]}", list.s ? list.s : "");
        r = call_told(fettle_read(json.s, answer, &why), &why, e);
    }
    fettle_answer_free(a);
    fettle_answer_free(b);
    return r;
}

static struct report_pair change_pair(const struct call *c, const struct fettle_value *i)
{
    return (struct report_pair){.name = report_text(i, "component"),
                                .label = {c->args[1], c->args[2]},
                                .value = {report_text(i, "from"), report_text(i, "to")}};
}

static void write_changes(struct call *c, const struct fettle_value *v)
{
    CLEANUP_TEXT struct text from = {0}, to = {0};
    text_printf(&from, "VERSION %s", c->args[1]);
    text_printf(&to, "VERSION %s", c->args[2]);
    const struct column columns[] = {{.heading = "COMPONENT"}, {.heading = from.s}, {.heading = to.s}};
    struct table t = {.columns = columns, .n_columns = sizeof columns / sizeof columns[0]};
    const struct fettle_value *list = fettle_value_find(v, "differences");
    REPORT_EACH(i, list)
    {
        struct report_pair p = change_pair(c, i);
        table_add(&t, p.name);
        report_pair_cells(&t, &p);
    }
    report_table(c, &t, NULL);
    REPORT_EACH(i, list)
    {
        struct report_pair p = change_pair(c, i);
        report_pair_rest(&c->out, &p);
    }
}

int baseline_diff(struct call *c, struct err *e)
{
    static const struct listing changes = {
        .record = RECORD_VERSION, .ask = ask_changes, .whole = true, .people = write_changes};
    return listing_show(c, &changes, NULL, e);
}

/* ---- changing it ---- */

/* The version of the baseline after a change. */
static const char *version_after(const struct fettle_answer *answer)
{
    const char *version = fettle_get_text(fettle_answer_value(answer), "version");
    return version ? version : "?";
}

int baseline_accept(struct call *c, struct err *e)
{
    CLEANUP_TEXT struct text done = {0}, nothing = {0};
    struct fettle_answer *answer = NULL;
    struct fettle_error why;
    struct fettle *f = call_controller(c, e);
    if (!f)
        return e->code;
    int r = call_told(fettle_baseline_accept(f, c->args[0], c->value[OPTION_REASON], &answer, &why), &why, e);
    if (r < 0)
        return r;
    text_printf(&done, "is the baseline of its class, version %s", version_after(answer));
    text_printf(&nothing, "%s: is as the baseline of its class already, version %s", c->args[0],
                version_after(answer));
    return report_change(c, answer, done.s, nothing.s);
}

int baseline_revert(struct call *c, struct err *e)
{
    CLEANUP_TEXT struct text done = {0};
    unsigned version = 0;
    struct fettle_answer *answer = NULL;
    struct fettle_error why;
    int r = parse_version(c->value[OPTION_VERSION_OF], &version, e);
    struct fettle *f = r == 0 ? call_controller(c, e) : NULL;
    if (!f)
        return e->code;
    r = call_told(fettle_baseline_revert(f, c->args[0], version, c->value[OPTION_REASON], &answer, &why),
                  &why, e);
    if (r < 0)
        return r;
    text_printf(&done, "%s: the baseline is version %s, which equals ", c->args[0], version_after(answer));
    if (version)
        text_printf(&done, "version %u", version);
    else
        text_add(&done, "the one before");
    return report_change(c, answer, "", done.s);
}

/* ---- rolling updates ---- */

int rollout_start(struct call *c, struct err *e)
{
    const char *to = c->value[OPTION_TO], *deadline = c->value[OPTION_DEADLINE];
    bool is_version = to && *to && to[strspn(to, "0123456789")] == '\0';
    unsigned version = 0;
    CLEANUP_FREE char *nodes = NULL;
    struct fettle_answer *answer = NULL;
    struct fettle_error why;
    int r = 0;
    if (!to)
        r = err_set(e, -EINVAL,
                    "to what? --to NODE that shows the new state, or --to VERSION of the baseline");
    else if (!call_has(c, OPTION_NODES))
        r = err_set(e, -EINVAL, "which nodes are updated? --nodes NODES");
    else if (!deadline)
        r = err_set(e, -EINVAL, "until when? --deadline 24h");
    if (r == 0)
        r = choice_nodes(&c->value[OPTION_NODES], 1, &nodes, e);
    if (r == 0 && is_version)
        r = parse_version(to, &version, e);
    struct fettle *f = r == 0 ? call_controller(c, e) : NULL;
    if (!f)
        return e->code;
    r = call_told(fettle_rollout_start(f, c->args[0], is_version ? NULL : to, version, nodes, deadline,
                                       c->value[OPTION_REASON], &answer, &why),
                  &why, e);
    return r < 0 ? r : report_change(c, answer, "a rolling update has begun", "a rolling update has begun");
}

static void write_rollout(struct text *out, const struct fettle_value *rollout)
{
    static const char *const lines[][2] = {{"To", "node"},
                                           {"Nodes", "nodes"},
                                           {"Begun by", "by"},
                                           {"At", "at"},
                                           {"Deadline", "deadline"},
                                           {"Note", "note"},
                                           {"Fingerprint", "fingerprint"}};
    static const char *const counts[][2] = {
        {"Updated", "to"}, {"As before", "baseline"}, {"Neither", "neither"}, {"Unknown", "unknown"}};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        report_line(out, lines[i][0], fettle_get_text(rollout, lines[i][1]));
    const struct fettle_value *progress = fettle_value_find(rollout, "progress");
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        report_line(out, counts[i][0], fettle_get_text(progress, counts[i][1]));
}

int rollout_show(struct call *c, struct err *e)
{
    struct fettle_answer *answer = NULL;
    int r = baseline_fetch(c, NULL, &answer, e);
    if (r < 0)
        return r;
    const struct fettle_value *rollout = fettle_value_find(fettle_answer_value(answer), "rollout");
    if (call_has(c, OPTION_JSON))
        report_json(c, rollout);
    else if (fettle_value_kind(rollout) != FETTLE_OBJECT)
        text_add(&c->out, "no rolling update is under way\n");
    else
        write_rollout(&c->out, rollout);
    fettle_answer_free(answer);
    return 0;
}

static int end_rollout(struct call *c, call_about_fn *fn, const char *done, struct err *e)
{
    struct fettle_answer *answer = NULL;
    int r = call_about(c, fn, &answer, e);
    return r < 0 ? r : report_change(c, answer, done, done);
}

int rollout_accept(struct call *c, struct err *e)
{
    return end_rollout(c, fettle_rollout_accept, "the rolling update is over; the new state is the baseline",
                       e);
}

int rollout_revert(struct call *c, struct err *e)
{
    return end_rollout(c, fettle_rollout_revert, "the rolling update is over; the baseline stays", e);
}
