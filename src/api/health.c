/* SPDX-License-Identifier: Apache-2.0 */
/* Results of checks, incidents, explanations of checks and codes; and a check that is run now. */
#include "api/call.h"
#include "api/ill.h"
#include "api/render.h"
#include "api/slices.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* --- one node -------------------------------------------------------------------------------- */

struct saying {
    struct text *t;
    struct mono now;
    bool any;
};

static void add_seconds_since(struct text *t, const char *key, struct mono now, struct mono then)
{
    text_printf(t, ",\"%s\":", key);
    if (then.ns)
        text_printf(t, "%" PRId64, mono_sub(now, then).ns / 1000000000);
    else
        text_add(t, "null");
}

static void render_said(void *arg, const struct said *s)
{
    struct saying *y = arg;
    text_add(y->t, y->any ? "," : "");
    y->any = true;
    text_add(y->t, "{\"check\":");
    text_add_json(y->t, s->check->name);
    text_printf(y->t, ",\"observe\":%s,\"severity\":", s->check->observe ? "true" : "false");
    render_word(y->t, result_name(s->check->severity));
    add_seconds_since(y->t, "since_s", y->now, s->since);
    add_seconds_since(y->t, "looked_s", y->now, s->looked);
    text_add(y->t, ",\"verdict\":");
    verdict_write(&s->verdict, y->t);
    text_add_char(y->t, '}');
}

int call_health_show(struct call *c, struct text *t, struct err *e)
{
    struct member *m;
    int rc = member_get(c->api->cluster, c->parameter, &m, e);
    if (rc < 0)
        return rc;
    CLEANUP_TEXT struct text why = {0};
    struct saying y = {.t = t, .now = c->now};
    text_add(t, "{\"node\":");
    text_add_json(t, m->name);
    text_add(t, ",\"health\":");
    render_word(t, health_name(watch_health(c->api->watch, c->now, m)));
    bool passed = watch_provisioned(c->api->watch, c->now, m, &why);
    text_printf(t, ",\"passed\":%s,\"missing\":", passed ? "true" : "false");
    text_add_json(t, passed || !why.len ? "" : why.s);
    text_add(t, ",\"checks\":[");
    watch_each_check(c->api->watch, c->now, m, render_said, &y);
    text_add(t, "],");
    render_ailment(c, m, t);
    text_add(t, ",\"trials\":[");
    render_trials(m, NULL, &(const char *){""}, t);
    text_add(t, "],\"repair\":");
    render_repair(m, true, t);
    text_add_char(t, '}');
    return 0;
}

/* --- incidents ------------------------------------------------------------------------------- */

static void render_shared(void *arg, const struct shared_cause *s)
{
    struct saying *y = arg;
    text_add(y->t, y->any ? "," : "");
    y->any = true;
    text_add(y->t, "{\"key\":");
    text_add_json(y->t, s->key);
    text_add(y->t, ",\"nodes\":");
    text_add_json(y->t, s->nodes);
    text_add(y->t, ",\"why\":");
    text_add_json(y->t, s->why);
    text_add(y->t, ",\"severity\":");
    render_word(y->t, result_name(s->severity));
    text_add(y->t, ",\"since\":");
    render_time(y->t, s->since);
    text_add_char(y->t, '}');
}

static void add_incident(struct slices *s, const struct member *m, const struct incident *i)
{
    if (s->text.s[s->text.len - 1] != '[')
        text_add_char(&s->text, ',');
    render_incident(&s->call, m, i, &s->text);
}

/* Adds open incidents, and with "since" those closed since then. */
static void add_incidents(struct slices *s, const struct member *m)
{
    struct wall since = {INT64_MAX};
    const struct ailment *ill = member_ailment(m);
    call_query_moment(&s->call, "since", &since, NULL); /* it was checked before */
    for (size_t i = 0; ill && i < ill->n_open; i++)
        add_incident(s, m, &ill->open[i]);
    for (size_t i = 0; ill && i < ill->n_past && ill->past[i].closed.ns >= since.ns; i++)
        add_incident(s, m, &ill->past[i]);
}

static bool incidents_step(struct slices *s)
{
    struct saying y = {.t = &s->text};
    if (slices_walk(s, add_incidents))
        return true;
    text_add(&s->text, "],\"shared\":[");
    cluster_each_shared(s->call.api->cluster, render_shared, &y);
    text_add(&s->text, "]}");
    return false;
}

int call_incident_list(struct call *c, struct text *t, struct err *e)
{
    struct slices s = {.step = incidents_step};
    struct wall since;
    int rc = call_query_moment(c, "since", &since, e);
    rc = rc < 0 ? rc : slices_choose(&s, c, http_query(c->request, "nodes"), e);
    if (rc < 0)
        return rc;
    text_add(&s.text, "{\"incidents\":[");
    return call_slices(c, slices_keep(&s));
}

static int refuse_check(const struct checks *all, const char *name, bool or_probe, struct err *e)
{
    const char *names[CHECKS_MAX + PROBES];
    size_t n = 0;
    for (size_t i = 0; i < all->n; i++)
        names[n++] = all->list[i].name;
    for (int p = 0; or_probe && p < PROBES; p++)
        names[n++] = probe_row((enum probe)p)->name;
    const char *near = text_nearest(name, names, n), *what = or_probe ? "check, probe or code" : "check";
    if (near)
        return err_set(e, -ENOENT, "no %s \"%.100s\"; the nearest known is \"%s\"", what, name, near);
    return err_set(e, -ENOENT, "no %s \"%.100s\"", what, name);
}

/* --- trials ---------------------------------------------------------------------------------- */

static void add_trials(struct slices *s, const struct member *m)
{
    const char *comma = s->text.s[s->text.len - 1] == '[' ? "" : ",";
    render_trials(m, http_query(s->call.request, "check"), &comma, &s->text);
}

static bool trials_step(struct slices *s)
{
    if (slices_walk(s, add_trials))
        return true;
    text_add(&s->text, "]}");
    return false;
}

int call_trial_list(struct call *c, struct text *t, struct err *e)
{
    const char *check = http_query(c->request, "check");
    struct slices s = {.step = trials_step};
    if (check && !checks_find(c->api->policy.checks, check))
        return refuse_check(c->api->policy.checks, check, false, e);
    int rc = slices_choose(&s, c, http_query(c->request, "nodes"), e);
    if (rc < 0)
        return rc;
    text_add(&s.text, "{\"trials\":[");
    return call_slices(c, slices_keep(&s));
}

/* --- records --------------------------------------------------------------------------------- */

struct check_list {
    struct slices slices;
    const struct checks *checks;
    uint32_t (*results)[RESULTS]; /* for each check */
    size_t next;                  /* the check to render, once all nodes were visited */
};

static void check_list_fini(struct slices *s)
{
    free(((struct check_list *)s)->results);
}

static void count_result(void *arg, const struct check *k, enum result r)
{
    struct check_list *l = arg;
    size_t i = (size_t)(k - l->checks->list); /* the watch has the same records */
    assert(i < l->checks->n);
    l->results[i][r]++;
}

static void count_results(struct slices *s, const struct member *m)
{
    watch_each_result(s->call.api->watch, s->call.now, m, count_result, s);
}

/* Only administrators see its command. */
static void render_record(const struct call *c, const struct check *k, struct text *t)
{
    static char hidden[] = "(for administrators)";
    CLEANUP_TEXT struct text line = {0};
    struct check shown = *k;
    for (size_t i = 0; i < shown.n_args && !c->reads_secrets; i++)
        if (strcmp(shown.args[i].key, "Run") == 0)
            shown.args[i].value = hidden;
    check_format(&shown, NULL, &line);
    text_add(t, ",\"record\":");
    text_add_json(t, line.s);
}

static void render_check(const struct call *c, const struct check *k, const uint32_t *results, struct text *t)
{
    text_add(t, "{\"check\":");
    text_add_json(t, k->name);
    render_record(c, k, t);
    text_add(t, ",\"probe\":");
    text_add_json(t, probe_row(k->probe)->name);
    text_add(t, ",\"what\":");
    text_add_json(t, probe_row(k->probe)->what);
    text_printf(t, ",\"every_s\":%" PRId64 ",\"severity\":", k->every.ns / 1000000000);
    render_word(t, result_name(k->severity));
    text_printf(t, ",\"observe\":%s,\"nodes\":{", k->observe ? "true" : "false");
    const char *comma = "";
    for (int r = 0; r < RESULTS; r++) {
        if (!results[r])
            continue;
        text_printf(t, "%s\"%s\":%" PRIu32, comma, result_name((enum result)r), results[r]);
        comma = ",";
    }
    text_add(t, "}}");
}

static bool check_list_step(struct slices *s)
{
    struct check_list *l = (struct check_list *)s;
    if (slices_walk(s, count_results))
        return true;
    if (l->next < l->checks->n) {
        text_add(&s->text, l->next ? "," : "");
        render_check(&s->call, &l->checks->list[l->next], l->results[l->next], &s->text);
        l->next++;
        return true;
    }
    text_add(&s->text, "]}");
    return false;
}

int call_check_list(struct call *c, struct text *t, struct err *e)
{
    struct check_list *l = mem_alloc(sizeof *l);
    l->slices = (struct slices){.step = check_list_step, .fini = check_list_fini, .of_configuration = true};
    l->checks = c->api->policy.checks;
    l->results = mem_alloc((l->checks->n + 1) * sizeof *l->results);
    text_add(&l->slices.text, "{\"checks\":[");
    return call_slices(c, &l->slices);
}

static void explain_meaning(const struct meaning *m, struct text *t)
{
    text_add(t, "{\"kind\":\"meaning\",\"name\":");
    text_add_json(t, m->code);
    text_add(t, ",\"what\":");
    text_add_json(t, m->what ? m->what : "");
    text_add(t, ",\"severity\":");
    render_word(t, result_name(m->result));
    text_add(t, ",\"act\":");
    render_word(t, act_name(m->act));
    text_add(t, ",\"blame\":");
    render_word(t, blame_name(m->blame));
    text_add(t, ",\"source\":");
    text_add_json(t, m->source ? m->source : "");
    text_add_char(t, '}');
}

static void explain_probe(const struct call *c, const struct check *k, const struct probe_row *row,
                          struct text *t)
{
    text_printf(t, "{\"kind\":\"%s\",\"name\":", k ? "check" : "probe");
    text_add_json(t, k ? k->name : row->name);
    if (k)
        render_record(c, k, t);
    text_add(t, ",\"probe\":");
    text_add_json(t, row->name);
    text_add(t, ",\"what\":");
    text_add_json(t, row->what);
    text_add(t, ",\"severity\":");
    render_word(t, result_name(k ? k->severity : row->severity));
    text_add(t, ",\"blame\":");
    render_word(t, blame_name(row->blame));
    text_add(t, ",\"keys\":");
    text_add_json(t, row->keys);
    text_add(t, ",\"source\":");
    text_add_json(t, row->source);
    text_add_char(t, '}');
}

int call_check_explain(struct call *c, struct text *t, struct err *e)
{
    const struct check *k = checks_find(c->api->policy.checks, c->parameter);
    struct meaning m;
    enum probe p;
    if (k)
        explain_probe(c, k, probe_row(k->probe), t);
    else if (probe_find(c->parameter, &p))
        explain_probe(c, NULL, probe_row(p), t);
    else if (meaning_find(c->api->policy.meanings, c->parameter, &m))
        explain_meaning(&m, t);
    else
        return refuse_check(c->api->policy.checks, c->parameter, true, e);
    return 0;
}

/* --- run now --------------------------------------------------------------------------------- */

/* A check that runs on some nodes; the call is answered when the last node has answered. */
struct running {
    struct http_request *request; /* NULL once the client is gone */
    size_t open;
    struct text t;
};

static void on_client_gone(void *arg)
{
    ((struct running *)arg)->request = NULL;
}

static void add_result(struct running *r, const char *node, const json_t *verdict, const struct err *why)
{
    if (r->t.s[r->t.len - 1] != '[')
        text_add_char(&r->t, ',');
    text_add(&r->t, "{\"node\":");
    text_add_json(&r->t, node);
    if (verdict) {
        CLEANUP_FREE char *text = json_write(verdict);
        text_printf(&r->t, ",\"verdict\":%s}", text);
    } else {
        text_add(&r->t, ",\"error\":");
        text_add_json(&r->t, why->msg);
        text_add_char(&r->t, '}');
    }
}

static void end_one(struct running *r)
{
    if (--r->open > 0)
        return;
    text_add(&r->t, "]}\n");
    size_t len = r->t.len;
    if (r->request)
        http_answer_take(r->request, 200, NULL, text_take(&r->t), len);
    text_fini(&r->t);
    free(r);
}

static void on_verdict(void *arg, struct member *m, const json_t *verdict, const struct err *why)
{
    add_result(arg, m ? m->name : "", verdict, why);
    end_one(arg);
}

/* The nodes of a group check run it together, in the order of the list. */
static void say_company(struct member *const *members, size_t n, struct text *out)
{
    for (size_t i = 0; i < n; i++)
        text_printf(out, "%s%s", i ? "," : "", members[i]->name);
}

static void run_on(struct call *c, const struct check *k, struct member *const *members, size_t n)
{
    CLEANUP_TEXT struct text company = {0};
    struct running *r = mem_alloc(sizeof *r);
    if (k->group > 1)
        say_company(members, n, &company);
    r->request = c->request;
    r->open = n + 1;
    text_add(&r->t, "{\"results\":[");
    http_set_arg(c->request, r, on_client_gone);
    for (size_t i = 0; i < n; i++) {
        struct err why = {0};
        const struct shell_check ask = {k->name, company.s, (unsigned)i};
        if (c->api->shell.check(c->api->shell.arg, members[i], &ask, on_verdict, r, &why) == 0)
            continue;
        add_result(r, members[i]->name, NULL, &why);
        r->open--;
    }
    end_one(r);
}

int call_check_run(struct call *c, struct text *t, struct err *e)
{
    struct ask a = {0};
    CLEANUP_FREE struct member **members = NULL;
    int rc = call_ask_members(c, &a, &members, e);
    if (rc == 0)
        rc = call_check_number(&a.nodes, e);
    const struct check *k = rc == 0 ? checks_find(c->api->policy.checks, a.word) : NULL;
    if (rc == 0 && !k)
        rc = refuse_check(c->api->policy.checks, a.word, false, e);
    if (rc == 0 && k->group > 1 && (a.nodes.n < 2 || a.nodes.n > CHECK_GROUP_MAX))
        rc = err_set(e, -EINVAL, "2 to %d nodes run check \"%s\" together", CHECK_GROUP_MAX, k->name);
    if (rc == 0 && c->dry) {
        CLEANUP_TEXT struct text what = {0};
        text_printf(&what, "runs check %s now", k->name);
        call_would(c, &a.nodes, what.s, t);
    } else if (rc == 0) {
        run_on(c, k, members, a.nodes.n);
        rc = CALL_LATER;
    }
    ask_fini(&a);
    return rc;
}
