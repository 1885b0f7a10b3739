/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/choice.h"

#include "base/clock.h"

#include <errno.h>
#include <string.h>
#include <time.h>

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

/* Combines --json, --csv and --fold with -o. */
static int choose_form(const struct call *c, enum form *form, struct err *e)
{
    static const struct {
        enum option option;
        enum form form;
    } forms[] = {{OPTION_JSON, FORM_JSON}, {OPTION_CSV, FORM_CSV}, {OPTION_FOLD, FORM_FOLD}};
    *form = FORM_TABLE;
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        if (!call_has(c, forms[i].option))
            continue;
        if (*form != FORM_TABLE)
            return err_set(e, -EINVAL, "--json, --csv and --fold exclude each other");
        *form = forms[i].form;
    }
    return 0;
}

static int choose_limit(const struct call *c, struct query *q, struct err *e)
{
    uint64_t n = 0;
    int r = call_has(c, OPTION_LIMIT) ? text_parse_u64(c->value[OPTION_LIMIT], 1, UINT32_MAX, &n, e) : 0;
    q->limit = n;
    return r < 0 ? err_wrap(e, r, "--limit") : 0;
}

static int add_filters(const struct call *c, struct query *q, struct err *e)
{
    int r = 0;
    for (size_t i = 0; i < c->n_wheres && r == 0; i++)
        r = query_filter(q, c->wheres[i], e);
    return r;
}

int choice_query(const struct call *c, enum record record, struct query *q, struct view *v, struct err *e)
{
    *q = (struct query){.record = record_info(record)};
    *v = (struct view){.look = {.header = !call_has(c, OPTION_NO_HEADER),
                                .colour = print_colours(c->value[OPTION_COLOR]),
                                .width = print_width()}};
    int r = choose_form(c, &v->form, e);
    if (r == 0 && call_has(c, OPTION_OUTPUT))
        r = query_output(q, c->value[OPTION_OUTPUT], &v->form, e);
    if (r == 0)
        r = query_default(q, v->form);
    if (r == 0 && call_has(c, OPTION_SORT))
        r = query_sort(q, c->value[OPTION_SORT], e);
    if (r == 0 && !call_selects(c))
        r = add_filters(c, q, e);
    return r < 0 ? r : choose_limit(c, q, e);
}

void choice_write(struct call *c, const struct view *v, const struct query *q, struct rows *r,
                  struct text *out)
{
    struct query shown = *q;
    bool is_table = v->form == FORM_TABLE || v->form == FORM_FOLD;
    if (is_table && q->record == record_info(RECORD_NODE) && !call_has(c, OPTION_OUTPUT))
        rows_hide_empty(r, &shown, FIELD_SCHEDULER_STATE);
    view_write(v, &shown, r, out);
}

int choice_fetch(struct call *c, const struct query *q, struct fettle_answer **answer, struct err *e)
{
    CLEANUP_TEXT struct text fields = {0};
    struct fettle_error why;
    struct fettle *f = call_controller(c, e);
    if (!f)
        return e->code;
    query_fields(q, &fields);
    return call_told(fettle_node_list(f, q->nodes, fields.s, answer, &why), &why, e);
}

/* ---- nodes that pass ---- */

static int take_names(const struct query *q, const struct fettle_answer *answer, struct hostlist *h,
                      struct err *e)
{
    struct rows rows = {0};
    int r = 0;
    rows_add(&rows, q, fettle_answer_value(answer));
    for (size_t i = 0; i < rows.n && r == 0; i++) {
        const char *name = cell_text(rows_cell(&rows, i, 0));
        if (name && hostlist_name_ok(name))
            hostlist_add(h, name);
        else
            r = err_set(e, -EPROTO, "the controller's list of nodes has one without a name");
    }
    rows_fini(&rows);
    return r;
}

int choice_targets(struct call *c, const char *const *args, size_t n, struct hostlist *h, struct err *e)
{
    struct query q = {.record = record_info(RECORD_NODE)};
    struct fettle_answer *answer = NULL;
    if (c->n_wheres == 0)
        return choice_hosts(args, n, h, e);
    query_need(&q, FIELD_NAME);
    int r = add_filters(c, &q, e);
    if (r == 0 && n > 0)
        r = choice_nodes(args, n, &q.nodes, e);
    if (r == 0)
        r = choice_fetch(c, &q, &answer, e);
    if (r == 0)
        r = take_names(&q, answer, h, e);
    if (r == 0 && h->n == 0)
        r = err_set(e, -ENOENT, "no node passes --where %s%s", c->wheres[0],
                    c->n_wheres > 1 ? " and the others" : "");
    fettle_answer_free(answer);
    query_fini(&q);
    return r;
}

int choice_target_list(struct call *c, const char *const *args, size_t n, char **nodes, struct err *e)
{
    CLEANUP_HOSTLIST struct hostlist h = {0};
    int r = choice_targets(c, args, n, &h, e);
    if (r == 0)
        *nodes = hostlist_fold((const char *const *)h.names, h.n);
    return r;
}

/* ---- times ---- */

/* "2h" ago, or a local time; with utc, a time in UTC. */
static int parse_moment(const char *text, bool utc, int64_t *out, struct err *e)
{
    static const char *const forms[] = {"%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M",
                                        "%Y-%m-%dT%H:%M",    "%Y-%m-%d",          "%H:%M"};
    struct span ago;
    time_t now = (time_t)(wall_now().ns / 1000000000);
    if (span_parse(text, &ago, NULL) == 0) {
        *out = now - ago.ns / 1000000000;
        return 0;
    }
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        struct tm tm;
        utc ? gmtime_r(&now, &tm) : localtime_r(&now, &tm);
        tm.tm_hour = tm.tm_min = tm.tm_sec = 0;
        tm.tm_isdst = -1;
        const char *rest = strptime(text, forms[i], &tm);
        bool greenwich = rest && strcmp(rest, "Z") == 0;
        if (!rest || (*rest && !greenwich))
            continue;
        *out = utc || greenwich ? timegm(&tm) : mktime(&tm);
        return *out < 0 ? err_set(e, -EINVAL, "\"%.40s\" is before 1970", text) : 0;
    }
    return err_set(e, -EINVAL,
                   "\"%.40s\" is no time: 2h (ago), 14:30 (today), 2026-11-23 or \"2026-11-23 14:30\"", text);
}

int choice_moment(const struct call *c, enum option o, int64_t *out, struct err *e)
{
    int r = call_has(c, o) ? parse_moment(c->value[o], call_has(c, OPTION_UTC), out, e) : 0;
    return r < 0 ? err_wrap(e, r, "--%s", option_info(o)->name) : 0;
}
