/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/choice.h"

#include <errno.h>

static const char COLUMNS[] = "Name,State,CPUs,RealMemory,Partition,Why";

int choice_hosts(const char *const *args, size_t n, struct hostlist *h, struct err *e)
{
    CLEANUP_TEXT struct text list = {0};
    for (size_t i = 0; i < n; i++) {
        text_add(&list, i > 0 ? "," : "");
        text_add(&list, args[i]);
    }
    if (!list.s)
        return err_set(e, -EINVAL, "which nodes?");
    int r = hostlist_parse(list.s, h, e);
    if (r == 0 && h->n == 0)
        r = err_set(e, -EINVAL, "\"%s\" names no node", list.s);
    return r;
}

int choice_nodes(const char *const *args, size_t n, char **nodes, struct err *e)
{
    CLEANUP_HOSTLIST struct hostlist h = {0};
    int r = choice_hosts(args, n, &h, e);
    if (r == 0)
        *nodes = hostlist_fold((const char *const *)h.names, h.n);
    return r;
}

int choice_view(const struct call *c, struct view *v, struct err *e)
{
    int forms = call_has(c, OPTION_JSON) + call_has(c, OPTION_CSV) + call_has(c, OPTION_FOLD);
    if (forms > 1)
        return err_set(e, -EINVAL, "--json, --csv and --fold exclude each other");
    v->form = call_has(c, OPTION_JSON)   ? FORM_JSON
              : call_has(c, OPTION_CSV)  ? FORM_CSV
              : call_has(c, OPTION_FOLD) ? FORM_FOLD
                                         : FORM_TABLE;
    v->header = !call_has(c, OPTION_NO_HEADER);
    v->colour = print_colours();
    return 0;
}

int choice_query(const struct call *c, struct query *q, struct err *e)
{
    int r = query_show(q, call_has(c, OPTION_OUTPUT) ? c->value[OPTION_OUTPUT] : COLUMNS, e);
    if (r == 0 && call_has(c, OPTION_SORT))
        r = query_sort(q, c->value[OPTION_SORT], e);
    for (size_t i = 0; i < c->n_wheres && r == 0; i++)
        r = query_filter(q, c->wheres[i], e);
    return r < 0 ? r : query_args(q, c->args, c->n_args, e);
}

int choice_fetch(struct call *c, const struct query *q, const char *nodes, struct fettle_answer **answer,
                 struct rows *rows, struct err *e)
{
    CLEANUP_TEXT struct text fields = {0};
    struct fettle_error why;
    struct fettle *f = call_controller(c, e);
    if (!f)
        return e->code;
    query_fields(q, &fields);
    int r = fettle_node_list(f, nodes ? nodes : q->nodes, fields.s, answer, &why);
    if (r < 0)
        return call_told(r, &why, e);
    rows_take(rows, q, *answer);
    return 0;
}
