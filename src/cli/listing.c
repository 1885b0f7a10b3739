/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/listing.h"

#include "cli/report.h"

#include <assert.h>
#include <errno.h>

/* True when the call selects records or fields, as programs do. */
static bool listing_chooses(const struct call *c)
{
    return call_has(c, OPTION_OUTPUT) || call_has(c, OPTION_CSV) || call_has(c, OPTION_WHERE) ||
           call_has(c, OPTION_LIMIT);
}

static bool is_structured(enum form f)
{
    return f == FORM_JSON || f == FORM_YAML;
}

static void write_rows(struct call *c, const struct listing *l, const struct query *q,
                       const struct view *view, const struct fettle_value *v)
{
    struct rows rows = {0};
    bool beside = view->form == FORM_TABLE && !listing_chooses(c);
    rows_add(&rows, q, v);
    rows_order(&rows, q);
    if (beside && l->above)
        l->above(c, v);
    choice_write(c, view, q, &rows, &c->out);
    if (beside && l->below)
        l->below(c, v);
    rows_fini(&rows);
}

static void write_answer(struct call *c, const struct listing *l, const struct query *q,
                         const struct view *view, const struct fettle_value *v)
{
    bool all = q->shown == q->record->n && q->n_filters == 0;
    if (l->whole && is_structured(view->form) && all)
        report_json(c, v);
    else if (l->people && view->form == FORM_TABLE && !listing_chooses(c) && !call_has(c, OPTION_SORT))
        l->people(c, v);
    else
        write_rows(c, l, q, view, v);
}

static const struct fettle_value *part_of(const struct listing *l, const struct fettle_answer *answer)
{
    const struct fettle_value *v = fettle_answer_value(answer);
    return l->part ? fettle_value_find(v, l->part) : v;
}

int listing_show(struct call *c, const struct listing *l, struct fettle_answer **keep, struct err *e)
{
    struct query q;
    struct view view;
    struct fettle_answer *answer = NULL;
    assert(c->command->options & UINT64_C(1) << OPTION_OUTPUT && "a command that lists has -o");
    int r = choice_query(c, l->record, &q, &view, e);
    c->value[OPTION_JSON] = is_structured(view.form) ? "" : NULL;
    c->yaml = view.form == FORM_YAML;
    if (r == 0 && l->chooses)
        r = query_args(&q, c->args, c->n_args, e);
    if (r == 0 && view.form == FORM_FOLD)
        query_need(&q, FIELD_NAME);
    if (r == 0 && view.form == FORM_HELP)
        view_help(q.record, &c->out);
    else if (r == 0)
        r = l->all ? call_answer(c, l->all, &answer, e) : l->ask(c, &q, &answer, e);
    if (r == 0 && answer && call_has(c, OPTION_DRY_RUN))
        r = report_would(c, STEAL(answer));
    else if (r == 0 && answer)
        write_answer(c, l, &q, &view, part_of(l, answer));
    query_fini(&q);
    if (keep)
        *keep = answer;
    else
        fettle_answer_free(answer);
    return r;
}

int listing_results(struct call *c, const struct listing *l, struct err *e)
{
    struct fettle_answer *answer = NULL;
    int r = listing_show(c, l, &answer, e);
    REPORT_EACH(i, fettle_value_find(fettle_answer_value(answer), "results"))
    if (r == 0 && fettle_get_text(i, "error"))
        r = err_exit(-EBUSY);
    fettle_answer_free(answer);
    return r;
}
