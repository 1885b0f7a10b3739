/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/record.h"

#include "base/hostlist.h"
#include "cli/report.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- texts that are made ---- */

/* After a restart there are many groups of one: those of a class are one record, at the place of the
 * first. */
static bool is_alone(const struct element *i)
{
    return strcmp(i->member, "alone") == 0;
}

static bool is_of_class(const struct fettle_value *a, const struct element *i)
{
    return strcmp(report_text(a, "class"), report_text(i->outer, "class")) == 0;
}

static bool is_counted_before(const struct element *i)
{
    if (!is_alone(i))
        return false;
    const struct fettle_value *first = fettle_value_first(fettle_value_find(i->answer, "alone"));
    while (first != i->outer && !is_of_class(first, i))
        first = fettle_value_next(first);
    return first != i->outer;
}

static void alone_take(const struct element *i, struct hostlist *nodes)
{
    REPORT_EACH(a, fettle_value_find(i->answer, "alone"))
    if (is_of_class(a, i) && fettle_get_text(a, "node"))
        hostlist_add(nodes, fettle_get_text(a, "node"));
}

static void make_group_count(const struct element *i, struct text *out)
{
    CLEANUP_HOSTLIST struct hostlist nodes = {0};
    if (is_alone(i)) {
        alone_take(i, &nodes);
        text_printf(out, "%zu", nodes.n);
    } else {
        text_add(out, report_text(i->outer, "count"));
    }
}

static void make_group_standing(const struct element *i, struct text *out)
{
    text_add(out, is_alone(i) ? "alone" : report_text(i->outer, "standing"));
}

static void make_group_nodes(const struct element *i, struct text *out)
{
    CLEANUP_HOSTLIST struct hostlist nodes = {0};
    if (!is_alone(i)) {
        text_add(out, report_text(i->outer, "nodes"));
        return;
    }
    alone_take(i, &nodes);
    CLEANUP_FREE char *list = hostlist_fold((const char *const *)nodes.names, nodes.n);
    text_add(out, list);
}

static void make_entry(const struct element *i, struct text *out)
{
    text_printf(out, "%s.%s", report_text(i->outer, "revision"), report_text(i->outer, "n"));
}

static void make_short(const struct element *i, struct text *out)
{
    text_printf(out, "list_%.12s", report_text(i->outer, "fingerprint"));
}

static void make_changed(const struct element *i, struct text *out)
{
    const struct fettle_value *list = fettle_value_find(i->outer, "named");
    int64_t count = 0, named = (int64_t)fettle_value_count(list);
    fettle_get_number(i->outer, "count", &count);
    REPORT_EACH(n, list)
    {
        const char *name = fettle_value_text(n);
        text_printf(out, "%s%s", n == fettle_value_first(list) ? "" : ", ", name ? name : "?");
    }
    if (count > named)
        text_printf(out, ", %lld more", (long long)(count - named));
}

static void make_expected(const struct element *i, struct text *out)
{
    report_side(fettle_value_find(i->outer, "expected"), out);
}

static void make_actual(const struct element *i, struct text *out)
{
    report_side(fettle_value_find(i->outer, "actual"), out);
}

static void make_component(const struct element *i, struct text *out)
{
    const char *name = fettle_value_key(i->outer), *absent = fettle_value_text(i->outer);
    text_add(out, name ? name : absent ? absent : "");
}

static void make_component_value(const struct element *i, struct text *out)
{
    const char *value = fettle_value_text(i->outer);
    text_add(out, strcmp(i->member, "absent") == 0 ? "(absent)" : value ? value : "");
}

static void make_scope(const struct element *i, struct text *out)
{
    text_add(out, strcmp(i->member, "shared") == 0 ? "shared" : "node");
}

static void make_candidate_why(const struct element *i, struct text *out)
{
    const char *why = report_text(i->outer, "why");
    int64_t tried = 0;
    text_add(out, *why ? why : report_text(i->outer, "because"));
    if (!*why && fettle_get_number(i->outer, "tried", &tried) == 0 && tried > 0)
        text_printf(out, "; its chance is halved for each of %lld tries on this node", (long long)tried);
}

static bool wants_approval(const struct element *i)
{
    return strcmp(report_text(fettle_value_find(i->outer, "repair"), "approval"), "wanted") == 0;
}

static void make_wanted(const struct element *i, struct text *out)
{
    text_add(out, wants_approval(i) ? "approval" : "repair");
}

static void make_suggested(const struct element *i, struct text *out)
{
    const struct fettle_value *repair = fettle_value_find(i->outer, "repair");
    text_add(out, wants_approval(i) ? report_text(repair, "remedy") : report_text(i->outer, "suggested"));
}

/* "reboot x2, cycle": the attempts of this repair. */
static void make_tried(const struct element *e, struct text *out)
{
    const struct fettle_value *repair = fettle_value_find(e->outer, "repair");
    const char *began = report_text(repair, "began");
    const struct fettle_value *attempts = fettle_value_find(repair, "attempts");
    REPORT_EACH(i, attempts)
    {
        const char *remedy = report_text(i, "remedy");
        int before = 0, all = 0;
        bool past = false;
        REPORT_EACH(k, attempts)
        {
            past |= k == i;
            bool same =
                strcmp(report_text(k, "remedy"), remedy) == 0 && strcmp(report_text(k, "at"), began) >= 0;
            all += same;
            before += same && !past;
        }
        if (all == 0 || before > 0 || strcmp(report_text(i, "at"), began) < 0)
            continue;
        text_printf(out, "%s%s", out->len ? ", " : "", remedy);
        if (all > 1)
            text_printf(out, " x%d", all);
    }
}

static bool is_named_before(const struct fettle_value *open, const struct fettle_value *end, const char *id)
{
    bool is_named = false, is_past = false;
    REPORT_EACH(i, open)
    {
        is_past |= i == end;
        REPORT_EACH(job, fettle_value_find(i, "jobs"))
        is_named |= !is_past && strcmp(report_text(job, "job"), id) == 0;
    }
    return is_named;
}

/* "4711 of ann, 4712 of bob": each job once, whatever its incidents. */
static void make_jobs(const struct element *e, struct text *out)
{
    const struct fettle_value *open = fettle_value_find(e->outer, "open");
    REPORT_EACH(i, open)
    REPORT_EACH(job, fettle_value_find(i, "jobs"))
    if (!is_named_before(open, i, report_text(job, "job")))
        text_printf(out, "%s%s of %s", out->len ? ", " : "", report_text(job, "job"),
                    report_text(job, "user"));
}

static void make_covered(const struct element *o, struct text *out)
{
    REPORT_EACH(i, fettle_value_find(o->outer, "of"))
    text_printf(out, "%s%s%s%s (%s)", out->len ? ", " : "", report_text(i, "fault"),
                *report_text(i, "group") ? " " : "", report_text(i, "group"), report_text(i, "severity"));
}

/* ---- the tables ---- */

#define RECORD(symbol, command, rows, inner, shown, wide) static const struct field_info symbol##_fields[] = {
#define COLUMN(name, kind, heading, unit, from, what) \
    {name, KIND_##kind, heading, unit, false, what, from, NULL},
#define MADE(name, kind, heading, function, what) \
    {name, KIND_##kind, heading, "", false, what, NULL, function},
#define END(symbol)                                                                                      \
    }                                                                                                    \
    ;                                                                                                    \
    _Static_assert(sizeof symbol##_fields / sizeof symbol##_fields[0] <= FIELDS, "a query has room for " \
                                                                                 "them");
#include "cli/record.tbl"
#undef RECORD
#undef COLUMN
#undef MADE
#undef END

static const struct record_info records[] = {
    {"node list", "nodes", "", "Name,State,SchedulerState,CPUs,RealMemory,Partitions,Why",
     "Lifecycle,Health,Conformance,Work,Class,Silent", node_fields, FIELDS},
#define RECORD(symbol, command, rows, inner, shown, wide) \
    {command, rows, inner, shown, wide, symbol##_fields, sizeof symbol##_fields / sizeof symbol##_fields[0]},
#define COLUMN(name, kind, heading, unit, from, what)
#define MADE(name, kind, heading, function, what)
#define END(symbol)
#include "cli/record.tbl"
#undef RECORD
#undef COLUMN
#undef MADE
#undef END
};

const struct record_info *record_info(enum record r)
{
    return &records[r];
}

const struct record_info *record_find(const char *command)
{
    for (size_t i = 0; i < RECORDS; i++)
        if (strcmp(records[i].command, strcmp(command, "watch") == 0 ? "node list" : command) == 0)
            return &records[i];
    return NULL;
}

/* ---- the records of an answer ---- */

/* Finds a value by names separated by dots, up to the end of s or a bar. NULL when it is missing. */
static const struct fettle_value *find_path(const struct fettle_value *v, const char *s)
{
    while (v && *s && *s != '|') {
        char name[64];
        size_t len = strcspn(s, ".|");
        assert(len < sizeof name && "a member's name in record.tbl");
        memcpy(name, s, len);
        name[len] = '\0';
        if (fettle_value_kind(v) == FETTLE_ARRAY) {
            v = fettle_value_first(v);
            for (unsigned long at = strtoul(name, NULL, 10); v && at > 0; at--)
                v = fettle_value_next(v);
        } else {
            v = fettle_value_find(v, name);
        }
        s += len + (s[len] == '.');
    }
    return v;
}

static bool is_empty(const struct fettle_value *v)
{
    const char *s = fettle_value_text(v);
    return fettle_value_kind(v) == FETTLE_NULL || (s && !*s);
}

static const struct fettle_value *find_value(const char *from, const struct element *i)
{
    const struct fettle_value *v = NULL;
    for (const char *s = from; s && is_empty(v); s = strchr(s, '|') ? strchr(s, '|') + 1 : NULL)
        v = *s == '+' ? find_path(i->inner, s + 1) : find_path(i->outer, s);
    return v;
}

struct cell record_cell(const struct field_info *f, const struct element *i)
{
    struct text made = {0};
    if (!f->make)
        return (struct cell){.value = find_value(f->from ? f->from : f->name, i)};
    text_add(&made, "");
    f->make(i, &made);
    return (struct cell){.made = text_take(&made)};
}

static void each_inner(const struct record_info *r, struct element i, record_each_fn *fn, void *arg)
{
    const struct fettle_value *inner = *r->inner ? find_path(i.outer, r->inner) : NULL;
    if (fettle_value_count(inner) == 0 && !is_counted_before(&i))
        fn(arg, &i);
    REPORT_EACH(v, inner)
    {
        i.inner = v;
        fn(arg, &i);
    }
}

void record_each(const struct record_info *r, const struct fettle_value *answer, record_each_fn *fn,
                 void *arg)
{
    for (const char *s = r->rows; *s;) {
        char member[32];
        size_t len = strcspn(s, ",");
        assert(len < sizeof member && "a member's name in record.tbl");
        memcpy(member, s, len);
        member[len] = '\0';
        REPORT_EACH(v, fettle_value_find(answer, member))
        each_inner(r, (struct element){.answer = answer, .member = member, .outer = v}, fn, arg);
        s += len + (s[len] == ',');
    }
}
