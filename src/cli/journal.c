/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The journal for people: which decisions, about which nodes, when, and by whom. The controller searches it
 * from its end, for a limited time in each request; so the newest pages come first, and are printed last.
 */
#include "base/clock.h"
#include "cli/choice.h"
#include "cli/print.h"
#include "cli/report.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 1000, PAGES_MAX = 1000, TAIL = 50, FOLLOW_S = 1 };

/* ---- times ---- */

static void add_moment(const struct call *c, const char *at)
{
    struct tm tm = {0};
    char buf[32];
    struct text *out = (struct text *)&c->out;
    if (!call_has(c, OPTION_UTC) && isatty(STDOUT_FILENO) && at && strptime(at, "%Y-%m-%dT%H:%M:%S", &tm)) {
        time_t t = timegm(&tm);
        if (localtime_r(&t, &tm) && strftime(buf, sizeof buf, "%Y-%m-%d %H:%M:%S", &tm) > 0)
            at = buf;
    }
    print_safe(out, at ? at : "-");
}

/* ---- entries ---- */

static void add_word(struct text *out, const char *before, const char *word)
{
    if (!word || !*word)
        return;
    text_add(out, before);
    print_safe(out, word);
}

static void write_entry(struct call *c, const struct fettle_value *v)
{
    if (call_has(c, OPTION_JSON)) {
        report_json(c, v);
        return;
    }
    add_moment(c, fettle_get_text(v, "at"));
    add_word(&c->out, "  ", fettle_get_text(v, "what"));
    add_word(&c->out, " ", fettle_get_text(v, "nodes"));
    add_word(&c->out, " by ", fettle_get_text(v, "actor"));
    add_word(&c->out, ": ", fettle_get_text(v, "text"));
    text_add_char(&c->out, '\n');
}

/* Some requested entries are no longer kept. */
static void write_gone(struct call *c, const struct fettle_value *answer)
{
    const char *gone = fettle_get_text(answer, "gone");
    if (!gone)
        return;
    if (call_has(c, OPTION_JSON)) {
        text_add(&c->out, "{\"gone\":");
        text_add_json(&c->out, gone);
        text_add_char(&c->out, '}');
    } else {
        print_safe(&c->out, gone);
    }
    text_add_char(&c->out, '\n');
}

static uint64_t number_of(const struct fettle_value *v, const char *key)
{
    int64_t n;
    return fettle_get_number(v, key, &n) == 0 && n > 0 ? (uint64_t)n : 0;
}

/* ---- on from a revision ---- */

/* Reads one page. *n is the number of its entries, *after the revision of the last one. */
static int page_read(struct call *c, struct fettle *f, uint64_t *after, unsigned limit, size_t *n,
                     struct err *e)
{
    struct fettle_answer *answer = NULL;
    struct fettle_error why;
    int r = call_told(fettle_journal(f, *after, limit, &answer, &why), &why, e);
    if (r < 0)
        return r;
    const struct fettle_value *entries = fettle_value_find(fettle_answer_value(answer), "entries");
    uint64_t before = *after;
    *n = fettle_value_count(entries);
    write_gone(c, fettle_answer_value(answer));
    unsigned left = limit; /* an answer holds whole revisions, and so may be longer */
    for (const struct fettle_value *i = fettle_value_first(entries); i && left > 0;
         i = fettle_value_next(i), left--) {
        if (number_of(i, "revision") > *after)
            *after = number_of(i, "revision");
        write_entry(c, i);
    }
    if (*n > 0 && *after == before)
        r = err_set(e, -EPROTO, "the journal does not go on after revision %llu", (unsigned long long)before);
    fettle_answer_free(answer);
    return r;
}

static int read_on(struct call *c, uint64_t after, uint64_t left, struct err *e)
{
    struct fettle *f = call_controller(c, e);
    if (!f)
        return e->code;
    int r = 0;
    for (size_t n = 1; r == 0 && n > 0 && left > 0; left -= n < left ? n : left) {
        unsigned page = left < PAGE ? (unsigned)left : PAGE;
        r = page_read(c, f, &after, page, &n, e);
        if (r == 0)
            r = call_flush(c, STDOUT_FILENO, e);
    }
    return r;
}

/* ---- search ---- */

/* The answers of one search, newest first. */
struct pages {
    struct fettle_answer *answers[PAGES_MAX];
    size_t n, entries;
};

static void pages_fini(struct pages *p)
{
    for (size_t i = 0; i < p->n; i++)
        fettle_answer_free(p->answers[i]);
    p->n = p->entries = 0;
}

/* Reads pages until enough entries are found, or none is left. *revision is the revision at which the search
 * began. */
static int pages_read(struct fettle *f, struct fettle_journal_search s, uint64_t want, struct pages *p,
                      uint64_t *revision, struct err *e)
{
    struct fettle_error why;
    do {
        assert(p->n < PAGES_MAX && p->entries < want);
        uint64_t left = want - p->entries;
        s.tail = left < PAGE ? (unsigned)left : PAGE;
        int r = call_told(fettle_journal_find(f, &s, &p->answers[p->n], &why), &why, e);
        if (r < 0)
            return r;
        const struct fettle_value *v = fettle_answer_value(p->answers[p->n++]);
        uint64_t before = number_of(v, "before");
        if (p->n == 1)
            *revision = number_of(v, "revision");
        if (before && s.before && before >= s.before)
            return err_set(e, -EPROTO, "the search does not go on before revision %llu",
                           (unsigned long long)before);
        s.before = before;
        p->entries += fettle_value_count(fettle_value_find(v, "entries"));
    } while (s.before && p->entries < want && p->n < PAGES_MAX);
    return 0;
}

static void pages_write(struct call *c, const struct pages *p, uint64_t want)
{
    if (p->n == PAGES_MAX)
        text_add(&c->out, "older entries were not looked at: ask again, with --until\n");
    uint64_t skip = p->entries > want ? p->entries - want : 0;
    if (p->n > 0)
        write_gone(c, fettle_answer_value(p->answers[p->n - 1]));
    for (size_t k = p->n; k-- > 0;) {
        const struct fettle_value *entries = fettle_value_find(fettle_answer_value(p->answers[k]), "entries");
        for (const struct fettle_value *i = fettle_value_first(entries); i; i = fettle_value_next(i))
            if (skip > 0)
                skip--;
            else
                write_entry(c, i);
    }
}

/* True when entries are wanted as records: with named fields, in another form, or filtered. */
static bool is_listing(const struct call *c)
{
    return !call_has(c, OPTION_FOLLOW) && !call_has(c, OPTION_AFTER) &&
           (call_has(c, OPTION_OUTPUT) || call_has(c, OPTION_JSON) || call_has(c, OPTION_CSV) ||
            call_has(c, OPTION_SORT) || call_has(c, OPTION_WHERE));
}

static void pages_list(struct call *c, const struct query *q, const struct view *view, const struct pages *p,
                       uint64_t want)
{
    struct rows rows = {.skip = p->entries > want ? p->entries - want : 0};
    for (size_t k = p->n; k-- > 0;)
        rows_add(&rows, q, fettle_answer_value(p->answers[k]));
    rows_order(&rows, q);
    view_write(view, q, &rows, &c->out);
    rows_fini(&rows);
}

static int entries_list(struct call *c, enum record record, struct fettle_journal_search s, uint64_t want,
                        struct err *e)
{
    struct pages p = {.n = 0};
    struct query q;
    struct view view;
    uint64_t revision;
    int r = choice_query(c, record, &q, &view, e);
    bool asks = r == 0 && view.form != FORM_HELP;
    struct fettle *f = asks ? call_controller(c, e) : NULL;
    if (f)
        r = pages_read(f, s, want, &p, &revision, e);
    else if (asks)
        r = e->code;
    if (r == 0)
        pages_list(c, &q, &view, &p, want);
    pages_fini(&p);
    query_fini(&q);
    return r;
}

/* --follow: prints new entries, as long as somebody reads. */
static int entries_search(struct call *c, struct fettle_journal_search s, uint64_t want, struct err *e)
{
    struct pages p = {.n = 0};
    struct fettle *f = call_controller(c, e);
    if (!f)
        return e->code;
    int r = 0;
    do {
        uint64_t revision = s.after;
        r = pages_read(f, s, want, &p, &revision, e);
        if (r == 0) {
            pages_write(c, &p, want);
            r = call_flush(c, STDOUT_FILENO, e);
        }
        pages_fini(&p);
        s.after = revision > s.after ? revision : s.after;
        want = UINT64_MAX;
        if (r == 0 && call_has(c, OPTION_FOLLOW))
            nanosleep(&(struct timespec){.tv_sec = FOLLOW_S}, NULL);
    } while (r == 0 && call_has(c, OPTION_FOLLOW));
    return r;
}

/* ---- the command ---- */

static int journal_number(const struct call *c, enum option o, uint64_t min, uint64_t *out, struct err *e)
{
    int r = call_has(c, o) ? text_parse_u64(c->value[o], min, INT64_MAX, out, e) : 0;
    return r < 0 ? err_wrap(e, r, "--%s", option_info(o)->name) : 0;
}

/* --after reads on from a revision, and so does --limit by itself; everything else is a search. */
static int refuse_mixture(const struct call *c, struct err *e)
{
    static const enum option of_searches[] = {OPTION_SINCE, OPTION_UNTIL, OPTION_WHAT,  OPTION_BY,
                                              OPTION_ABOUT, OPTION_TAIL,  OPTION_FOLLOW};
    const char *other = c->n_args ? "nodes" : NULL;
    if (is_listing(c) || (!call_has(c, OPTION_AFTER) && !call_has(c, OPTION_LIMIT)))
        return 0;
    for (size_t i = 0; i < sizeof of_searches / sizeof of_searches[0]; i++)
        if (call_has(c, of_searches[i]))
            other = option_info(of_searches[i])->name;
    return other ? err_set(e, -EINVAL, "--%s and %s do not go together",
                           call_has(c, OPTION_AFTER) ? "after" : "limit", other)
                 : 0;
}

/* Entries that arrive one by one are printed as lines or JSON: they cannot be sorted. */
static int refuse_choices(const struct call *c, struct err *e)
{
    static const enum option choices[] = {OPTION_SORT, OPTION_WHERE, OPTION_CSV, OPTION_NO_HEADER};
    const char *how = call_has(c, OPTION_AFTER) ? "--after" : call_has(c, OPTION_FOLLOW) ? "--follow" : NULL;
    const char *output = c->value[OPTION_OUTPUT];
    for (size_t i = 0; how && i < sizeof choices / sizeof choices[0]; i++)
        if (call_has(c, choices[i]))
            return err_set(e, -EINVAL, "%s reads on, and chooses nothing: no --%s", how,
                           option_info(choices[i])->name);
    if (how && output && strcmp(output, "json") != 0 && strcmp(output, "yaml") != 0)
        return err_set(e, -EINVAL, "%s reads on, and takes -o json or -o yaml alone", how);
    return 0;
}

/* What is searched for, and how many entries. *nodes is borrowed by it; the caller frees it. */
static int search_read(const struct call *c, struct fettle_journal_search *s, uint64_t *want, char **nodes,
                       struct err *e)
{
    *s = (struct fettle_journal_search){
        .what = c->value[OPTION_WHAT], .by = c->value[OPTION_BY], .about = c->value[OPTION_ABOUT]};
    *want = call_has(c, OPTION_SINCE) ? UINT64_MAX : TAIL;
    int r = journal_number(c, OPTION_TAIL, 1, want, e);
    if (r == 0)
        r = choice_moment(c, OPTION_SINCE, &s->since, e);
    if (r == 0)
        r = choice_moment(c, OPTION_UNTIL, &s->until, e);
    if (r == 0 && c->n_args)
        r = choice_nodes(c->args, c->n_args, nodes, e);
    s->nodes = *nodes;
    return r;
}

int audit_list(struct call *c, struct err *e)
{
    CLEANUP_FREE char *nodes = NULL;
    struct fettle_journal_search s;
    uint64_t want;
    int r = search_read(c, &s, &want, &nodes, e);
    return r < 0 ? r : entries_list(c, RECORD_AUDITED, s, want, e);
}

int journal_list(struct call *c, struct err *e)
{
    CLEANUP_FREE char *nodes = NULL;
    struct fettle_journal_search s;
    uint64_t after = 0, limit = UINT64_MAX, want;
    int r = refuse_mixture(c, e);
    if (r == 0)
        r = refuse_choices(c, e);
    if (r == 0 && !is_listing(c) && call_has(c, OPTION_OUTPUT)) {
        c->yaml = strcmp(c->value[OPTION_OUTPUT], "yaml") == 0;
        c->value[OPTION_JSON] = "";
    }
    if (r == 0)
        r = journal_number(c, OPTION_AFTER, 0, &after, e);
    if (r == 0)
        r = journal_number(c, OPTION_LIMIT, 1, &limit, e);
    if (r == 0)
        r = search_read(c, &s, &want, &nodes, e);
    if (r < 0)
        return r;
    if (is_listing(c))
        return entries_list(c, RECORD_ENTRY, s, want, e);
    bool on = call_has(c, OPTION_AFTER) || call_has(c, OPTION_LIMIT);
    return on ? read_on(c, after, limit, e) : entries_search(c, s, want, e);
}
