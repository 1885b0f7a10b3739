/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/report.h"

#include "base/clock.h"
#include "base/hostlist.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* Two of these, a component, two words and a time are a line of some 110 columns. */
enum { CELL_BYTES_MAX = 26 };

void report_line(struct text *out, const char *name, const char *value)
{
    if (!value || !*value)
        return;
    text_printf(out, "%-15s ", name);
    print_safe(out, value);
    text_add_char(out, '\n');
}

const char *report_age(const char *time, char buf[static 32])
{
    struct tm tm = {0};
    const char *rest = time ? strptime(time, "%Y-%m-%dT%H:%M:%S", &tm) : NULL;
    if (!rest)
        return "";
    int64_t s = wall_now().ns / 1000000000 - timegm(&tm);
    return span_human(span_s(s > 0 ? s : 0), buf);
}

void report_since(struct text *out, const char *name, const char *time)
{
    char age[32];
    CLEANUP_TEXT struct text t = {0};
    if (!time || !*time)
        return;
    text_printf(&t, "%s (%s ago)", time, report_age(time, age));
    report_line(out, name, t.s);
}

static void add_cut(struct table *t, const char *s)
{
    CLEANUP_TEXT struct text cut = {0};
    size_t n = CELL_BYTES_MAX - 3;
    if (strlen(s) <= CELL_BYTES_MAX) {
        table_add(t, s);
        return;
    }
    while (n > 0 && ((unsigned char)s[n] & 0xC0) == 0x80) /* not within a character */
        n--;
    text_printf(&cut, "%.*s...", (int)n, s);
    table_add(t, cut.s);
}

void report_pair_cells(struct table *t, const struct report_pair *p)
{
    add_cut(t, p->value[0]);
    add_cut(t, p->value[1]);
}

void report_pair_rest(struct text *out, const struct report_pair *p)
{
    if (strlen(p->value[0]) <= CELL_BYTES_MAX && strlen(p->value[1]) <= CELL_BYTES_MAX)
        return;
    text_add_char(out, '\n');
    print_safe(out, p->name);
    text_add_char(out, '\n');
    for (size_t i = 0; i < 2; i++) {
        text_printf(out, "  %-9s ", p->label[i]);
        print_safe(out, p->value[i]);
        text_add_char(out, '\n');
    }
}

void report_side(const struct fettle_value *side, struct text *out)
{
    const char *state = fettle_get_text(side, "state"), *value = fettle_get_text(side, "value");
    if (state && strcmp(state, "value") == 0)
        text_add(out, value ? value : "");
    else
        text_printf(out, "(%s%s%s)", state ? state : "?", value && *value ? ": " : "", value ? value : "");
}

void report_cell(struct table *t, const struct fettle_value *object, const char *key)
{
    const struct fettle_value *v = fettle_value_find(object, key);
    const char *s = fettle_value_text(v);
    if (fettle_value_kind(v) == FETTLE_BOOL)
        s = fettle_value_true(v) ? "yes" : "no";
    table_add(t, s ? s : "");
}

const char *report_text(const struct fettle_value *object, const char *key)
{
    const char *s = fettle_get_text(object, key);
    return s ? s : "";
}

void report_json(struct call *c, const struct fettle_value *v)
{
    if (c->yaml) {
        text_add(&c->out, "---");
        print_yaml(&c->out, v, 0);
    } else {
        print_json(&c->out, v);
        text_add_char(&c->out, '\n');
    }
}

void report_table(struct call *c, struct table *t, const struct fettle_value *v)
{
    if (v && call_has(c, OPTION_JSON))
        report_json(c, v);
    else
        table_write(t, &(struct table_look){.header = !call_has(c, OPTION_NO_HEADER)}, &c->out);
    table_fini(t);
}

static void write_held(struct text *out, const struct fettle_value *held)
{
    REPORT_EACH(i, held)
    {
        const char *nodes = fettle_get_text(i, "nodes"), *kind = fettle_get_text(i, "kind");
        const char *owner = fettle_get_text(i, "owner"), *reason = fettle_get_text(i, "reason");
        print_safe(out, nodes ? nodes : "?");
        text_add(out, ": held: ");
        print_safe(out, kind ? kind : "?");
        text_add(out, " by ");
        print_safe(out, owner ? owner : "?");
        text_add(out, ": ");
        print_safe(out, reason ? reason : "?");
        text_add_char(out, '\n');
    }
}

static void write_refused(struct text *out, const struct fettle_value *refused)
{
    REPORT_EACH(i, refused)
    {
        print_safe(out, report_text(i, "node"));
        text_add(out, ": refused: ");
        print_safe(out, report_text(i, "error"));
        text_add_char(out, '\n');
    }
}

static void write_missing(struct text *out, const struct fettle_value *missing)
{
    REPORT_EACH(i, missing)
    {
        print_safe(out, report_text(i, "node"));
        text_add(out, ": still missing: ");
        print_safe(out, report_text(i, "why"));
        text_add_char(out, '\n');
    }
}

/* "dry run: node drain would change 2 nodes". Returns the number of nodes. */
static size_t write_would(struct call *c, const struct fettle_value *v, const char *head, const char *verb,
                          struct text *out)
{
    CLEANUP_HOSTLIST struct hostlist nodes = {0};
    const struct fettle_value *would = fettle_value_find(v, "would");
    hostlist_parse(report_text(v, "changed"), &nodes, NULL);
    text_printf(out, "%s\"fettle %s\" %s change ", head, c->command->path, verb);
    if (nodes.n)
        text_printf(out, "%zu %s\n", nodes.n, nodes.n == 1 ? "node" : "nodes");
    else
        text_add(out, fettle_value_count(would) ? "this\n" : "nothing\n");
    REPORT_EACH(i, would)
    {
        const char *of = report_text(i, "nodes");
        print_safe(out, of);
        text_add(out, *of ? ": " : "");
        print_safe(out, report_text(i, "what"));
        text_add_char(out, '\n');
    }
    write_refused(out, fettle_value_find(v, "refused"));
    return nodes.n;
}

int report_confirm(struct call *c, struct fettle_answer *answer, struct err *e)
{
    CLEANUP_TEXT struct text t = {0};
    char said[16] = "";
    bool several = write_would(c, fettle_answer_value(answer), "", "will", &t) > 1;
    fettle_answer_free(answer);
    if (several)
        text_add(&t, "go on? [y/N] ");
    fputs(t.s, stderr);
    if (!several || (fgets(said, sizeof said, stdin) && (*said == 'y' || *said == 'Y')))
        return 0;
    return err_set(e, -EBUSY, "nothing was done: there was no yes");
}

int report_would(struct call *c, struct fettle_answer *answer)
{
    const struct fettle_value *v = fettle_answer_value(answer);
    bool refused = fettle_value_count(fettle_value_find(v, "refused")) > 0;
    if (call_has(c, OPTION_JSON))
        report_json(c, v);
    else
        write_would(c, v, "dry run: ", "would", &c->out);
    fettle_answer_free(answer);
    return refused ? err_exit(-EBUSY) : 0;
}

int report_change(struct call *c, struct fettle_answer *answer, const char *done, const char *nothing)
{
    assert(answer && done && nothing);
    if (call_has(c, OPTION_DRY_RUN))
        return report_would(c, answer);
    const struct fettle_value *v = fettle_answer_value(answer);
    const char *changed = fettle_get_text(v, "changed");
    if (call_has(c, OPTION_JSON)) {
        report_json(c, v);
    } else {
        bool any = changed && *changed;
        print_safe(&c->out, any ? changed : nothing);
        text_add(&c->out, any ? ": " : "");
        print_safe(&c->out, any ? done : "");
        text_add_char(&c->out, '\n');
        write_refused(&c->out, fettle_value_find(v, "refused"));
        write_missing(&c->out, fettle_value_find(v, "missing"));
        write_held(&c->out, fettle_value_find(v, "held"));
    }
    bool refused = fettle_value_count(fettle_value_find(v, "refused")) > 0;
    fettle_answer_free(answer);
    return refused ? err_exit(-EBUSY) : 0;
}
