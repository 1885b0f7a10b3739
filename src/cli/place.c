/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The commands that choose nodes, for a person or for Slurm.
 */
#include "cli/choice.h"
#include "cli/print.h"
#include "cli/report.h"

#include <errno.h>
#include <string.h>

static int parse_count(const struct call *c, unsigned *out, struct err *e)
{
    uint64_t n;
    if (!call_has(c, OPTION_COUNT))
        return err_set(e, -EINVAL, "how many nodes? -N NUMBER");
    int r = text_parse_u64(c->value[OPTION_COUNT], 1, 1000000, &n, e);
    if (r < 0)
        return err_wrap(e, r, "-N");
    *out = (unsigned)n;
    return 0;
}

/* "3 busy, 2 drifted", as in the sentence of a refusal */
static void write_passed(struct text *out, const struct fettle_value *passed)
{
    REPORT_EACH(i, passed)
    if (fettle_value_text(i) && fettle_value_key(i))
        text_printf(out, "%s%s %s", out->len ? ", " : "", fettle_value_text(i), fettle_value_key(i));
}

/* "0.375 = sameness 1.000 * 0.250 + topology 0.500 * 0.150 + soundness 0.500 * 0.100" */
static void write_score(struct text *out, const struct fettle_value *v)
{
    text_add(out, report_text(v, "score"));
    REPORT_EACH(i, fettle_value_find(v, "terms"))
    {
        bool first = i == fettle_value_first(fettle_value_find(v, "terms"));
        text_printf(out, "%s%s %s * %s", first ? " = " : " + ", report_text(i, "name"),
                    report_text(i, "fitness"), report_text(i, "weight"));
    }
}

static void write_placement(struct call *c, const struct fettle_value *v)
{
    CLEANUP_TEXT struct text passed = {0}, score = {0};
    report_line(&c->out, "Nodes", fettle_get_text(v, "nodes"));
    report_line(&c->out, "Count", fettle_get_text(v, "count"));
    report_line(&c->out, "Policy", fettle_get_text(v, "policy"));
    write_score(&score, v);
    report_line(&c->out, "Score", score.s);
    REPORT_EACH(i, fettle_value_find(v, "groups"))
    {
        CLEANUP_TEXT struct text line = {0};
        const char *cohort = fettle_get_text(i, "cohort");
        text_printf(&line, "%s of %s: %s", report_text(i, "count"), cohort ? cohort : "no cohort",
                    report_text(i, "nodes"));
        report_line(&c->out, "Cohort", line.s);
    }
    const char *topology = fettle_get_text(v, "topology_groups");
    report_line(&c->out, "Topology groups", topology && strcmp(topology, "0") != 0 ? topology : NULL);
    write_passed(&passed, fettle_value_find(v, "passed"));
    report_line(&c->out, "Passed over", passed.s);
}

int place_nodes(struct call *c, struct err *e)
{
    CLEANUP_FREE char *nodes = NULL;
    struct fettle_answer *answer = NULL;
    struct fettle_error why;
    struct fettle_place ask = {.class_name = c->value[OPTION_CLASS],
                               .policy = c->value[OPTION_POLICY],
                               .require_conformance = call_has(c, OPTION_REQUIRE)};
    int r = parse_count(c, &ask.count, e);
    if (r == 0 && call_has(c, OPTION_NODES))
        r = choice_nodes(&c->value[OPTION_NODES], 1, &nodes, e);
    struct fettle *f = r == 0 ? call_controller(c, e) : NULL;
    if (!f)
        return e->code;
    ask.nodes = nodes;
    r = call_told(fettle_place(f, &ask, &answer, &why), &why, e);
    if (r < 0)
        return r;
    if (call_has(c, OPTION_JSON))
        report_json(c, fettle_answer_value(answer));
    else
        write_placement(c, fettle_answer_value(answer));
    fettle_answer_free(answer);
    return 0;
}

/* A line for scontrol update. It has both lists of features, because scontrol refuses to remove one from the
 * available ones that is still active. */
static void write_features(struct text *out, const struct fettle_value *v)
{
    CLEANUP_TEXT struct text list = {0};
    REPORT_EACH(i, fettle_value_find(v, "features"))
    {
        text_add(&list, list.len ? "," : "");
        print_safe(&list, fettle_value_text(i));
    }
    text_add(out, "NodeName=");
    print_safe(out, fettle_get_text(v, "nodes"));
    text_printf(out, " AvailableFeatures=%s ActiveFeatures=%s Weight=", list.s ? list.s : "",
                list.s ? list.s : "");
    print_safe(out, fettle_get_text(v, "weight"));
    text_add_char(out, '\n');
}

int slurm_features(struct call *c, struct err *e)
{
    CLEANUP_FREE char *nodes = NULL;
    struct fettle_answer *answer = NULL;
    struct fettle_error why;
    int r = c->n_args > 0 ? choice_nodes(c->args, c->n_args, &nodes, e) : 0;
    struct fettle *f = r == 0 ? call_controller(c, e) : NULL;
    if (!f)
        return e->code;
    r = call_told(fettle_slurm_features(f, nodes, &answer, &why), &why, e);
    if (r < 0)
        return r;
    if (call_has(c, OPTION_JSON))
        report_json(c, fettle_answer_value(answer));
    else
        REPORT_EACH(i, fettle_value_find(fettle_answer_value(answer), "nodes"))
    write_features(&c->out, i);
    fettle_answer_free(answer);
    return 0;
}

int slurm_constraint(struct call *c, struct err *e)
{
    unsigned count = 0;
    struct fettle_answer *answer = NULL;
    struct fettle_error why;
    int r = parse_count(c, &count, e);
    struct fettle *f = r == 0 ? call_controller(c, e) : NULL;
    if (!f)
        return e->code;
    r = call_told(fettle_slurm_constraint(f, count, c->value[OPTION_CLASS], &answer, &why), &why, e);
    if (r < 0)
        return r;
    const struct fettle_value *v = fettle_answer_value(answer);
    if (call_has(c, OPTION_JSON)) {
        report_json(c, v);
    } else {
        print_safe(&c->out, fettle_get_text(v, "constraint"));
        text_add_char(&c->out, '\n');
    }
    fettle_answer_free(answer);
    return 0;
}
