/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The journal: read on from a revision, oldest first, or searched from its end. The shell searches, in a
 * thread; its answer is put here in the order in which people read.
 */
#include "api/call.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { JOURNAL_ENTRIES_MAX = 1000, NAMES_MORE = 1000 /* names of former nodes */ };

static void write_entry(struct text *t, uint64_t revision, uint64_t n, const struct store_entry *entry)
{
    struct event event = {.at = entry->at,
                          .what = entry->what,
                          .actor = entry->actor,
                          .nodes = entry->nodes,
                          .text = entry->text,
                          .revision = revision,
                          .about = entry->about,
                          .fields = entry->fields,
                          .is_entry = true,
                          .n = n};
    assert(t->len > 0 && "the list has begun");
    if (t->s[t->len - 1] != '[')
        text_add_char(t, ',');
    event_format(&event, t);
}

/* Entries as they are read, whole revisions of them. */
struct reading {
    struct text *to;
    uint64_t revision, n;
};

static int add_entry(void *arg, uint64_t revision, const struct store_entry *entry, struct err *e)
{
    struct reading *r = arg;
    r->n = revision == r->revision ? r->n + 1 : 0;
    r->revision = revision;
    write_entry(r->to, revision, r->n, entry);
    return 0;
}

/* Says that some requested entries are no longer kept, or are missing. */
static void add_gone(const struct api *a, uint64_t after, struct text *t)
{
    const char *directory = "";
    struct mirror_gap missing = {0};
    uint64_t first = a->shell.journal_first(a->shell.arg, &directory, &missing);
    CLEANUP_TEXT struct text gone = {0};
    if (after + 1 < first)
        text_printf(
            &gone,
            "the entries before revision %llu are not kept here any more; those that were exported are in %s",
            (unsigned long long)first, directory);
    if (after < missing.to && first < missing.from)
        text_printf(&gone,
                    "%sthe entries of the revisions %llu to %llu are missing at this controller; another one "
                    "may have them",
                    gone.len ? "; " : "", (unsigned long long)missing.from, (unsigned long long)missing.to);
    if (!gone.len)
        return;
    text_add(t, ",\"gone\":");
    text_add_json(t, gone.s);
}

static int read_on(struct call *c, uint64_t after, struct text *t, struct err *e)
{
    uint64_t limit = JOURNAL_ENTRIES_MAX;
    int rc = call_query_number(c, "limit", 1, JOURNAL_ENTRIES_MAX, &limit, e);
    if (rc < 0)
        return rc;
    struct reading reading = {.to = t};
    text_add(t, "{\"entries\":[");
    rc = c->api->shell.journal(c->api->shell.arg, after, limit, add_entry, &reading, e);
    text_add_char(t, ']');
    add_gone(c->api, after, t);
    text_add_char(t, '}');
    return rc;
}

/* --- search ---------------------------------------------------------------------------------- */

/* A running search. */
struct searching {
    struct api *api;
    struct http_request *request; /* NULL once the client is gone */
    uint64_t revision;            /* the revision at which it began */
    uint64_t after;
};

static void on_client_gone(void *arg)
{
    ((struct searching *)arg)->request = NULL;
}

static void write_found(const struct searching *s, const struct journal_found *f, struct text *t)
{
    text_add(t, "{\"entries\":[");
    for (size_t i = f->n; i-- > 0;) {
        const struct journal_entry *e = &f->entries[i];
        write_entry(t, e->revision, e->n,
                    &(struct store_entry){e->at, e->actor, e->what, e->nodes, e->text, e->about, e->fields});
    }
    text_printf(t, "],\"revision\":%llu", (unsigned long long)s->revision);
    if (f->before)
        text_printf(t, ",\"before\":%llu", (unsigned long long)f->before);
    else if (f->ended)
        add_gone(s->api, s->after, t);
    text_add_char(t, '}');
}

static void on_found(void *arg, const struct journal_found *f, const struct err *why)
{
    struct searching *s = arg;
    CLEANUP_TEXT struct text t = {0};
    if (s->request && why) {
        http_answer_err(s->request, why);
    } else if (s->request) {
        write_found(s, f, &t);
        call_answer(s->request, &t);
    }
    free(s);
}

static int read_ask(const struct call *c, struct journal_ask *a, struct err *e)
{
    a->nodes = http_query(c->request, "nodes");
    a->nodes_max = 2 * cluster_count(c->api->cluster) + NAMES_MORE;
    a->what = http_query(c->request, "what");
    a->by = http_query(c->request, "by");
    a->about = http_query(c->request, "about");
    int rc = call_query_moment(c, "since", &a->since, e);
    if (rc == 0)
        rc = call_query_moment(c, "until", &a->until, e);
    if (rc == 0)
        rc = call_query_number(c, "before", 1, INT64_MAX, &a->before, e);
    return rc;
}

static int journal_answer(struct call *c, uint64_t after, uint64_t tail, struct err *e)
{
    struct journal_ask a = {.until = {INT64_MAX}, .after = after, .before = INT64_MAX, .most = tail};
    int rc = read_ask(c, &a, e);
    if (rc < 0)
        return rc;
    struct searching *s = mem_alloc(sizeof *s);
    *s = (struct searching){c->api, c->request, c->api->shell.revision(c->api->shell.arg), after};
    http_set_arg(c->request, s, on_client_gone);
    c->api->shell.journal_search(c->api->shell.arg, &a, on_found, s);
    return CALL_LATER;
}

/* The query keys of one way to ask cannot be combined with the other. */
static int refuse_mixture(const struct call *c, bool searches, struct err *e)
{
    static const char *const of_searches[] = {"nodes", "what", "by", "about", "since", "until", "before"};
    if (searches && http_query(c->request, "limit"))
        return err_set(e, -EINVAL, "\"limit\" and \"tail\" do not go together");
    for (size_t i = 0; !searches && i < sizeof of_searches / sizeof of_searches[0]; i++)
        if (http_query(c->request, of_searches[i]))
            return err_set(e, -EINVAL, "\"%s\" needs \"tail\"", of_searches[i]);
    return 0;
}

int call_journal_list(struct call *c, struct text *t, struct err *e)
{
    uint64_t after = 0, tail = 0;
    int rc = call_query_number(c, "after", 0, INT64_MAX, &after, e);
    if (rc == 0)
        rc = call_query_number(c, "tail", 1, JOURNAL_ENTRIES_MAX, &tail, e);
    if (rc == 0)
        rc = refuse_mixture(c, tail > 0, e);
    if (rc < 0)
        return rc;
    return tail ? journal_answer(c, after, tail, e) : read_on(c, after, t, e);
}
