/* SPDX-License-Identifier: Apache-2.0 */
/* Repairs: what would be done and why, the work queue, people's decisions, and the brakes. */
#include "api/call.h"
#include "api/ill.h"
#include "api/render.h"
#include "api/slices.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* --- remedies -------------------------------------------------------------------------------- */

static void render_words(struct text *t, const char *key, const struct hostlist *words)
{
    text_printf(t, ",\"%s\":[", key);
    for (size_t i = 0; i < words->n; i++) {
        text_add(t, i ? "," : "");
        text_add_json(t, words->names[i]);
    }
    text_add_char(t, ']');
}

/* Only administrators see a command. */
static void render_run(const struct call *c, const char *run, struct text *t)
{
    CLEANUP_TEXT struct text shown = {0};
    const char *colon = c->reads_secrets ? NULL : strchr(run, ':');
    text_add_bytes(&shown, run, colon ? (size_t)(colon + 1 - run) : strlen(run));
    if (colon)
        text_add(&shown, "(for administrators)");
    text_add_member(t, "run", shown.s);
}

static void render_remedy(const struct call *c, const struct remedy *r, struct text *t)
{
    text_add(t, "{\"remedy\":");
    text_add_json(t, r->name);
    render_run(c, r->run, t);
    render_words(t, "helps", &r->helps);
    render_words(t, "classes", &r->classes);
    text_printf(t, ",\"confidence\":%u", r->confidence);
    text_add_member(t, "because", r->because ? r->because : "");
    text_printf(t, ",\"takes_s\":%" PRId64 ",\"disturbs\":%u,\"tries\":%u,\"window_s\":%" PRId64,
                r->takes.ns / 1000000000, r->disturbs, r->tries, r->window.ns / 1000000000);
    text_printf(t, ",\"approval\":%s,\"dry\":%s}", r->approval ? "true" : "false", r->dry ? "true" : "false");
}

int call_remedy_list(struct call *c, struct text *t, struct err *e)
{
    const struct remedies *all = c->api->policy.remedies;
    text_add(t, "{\"remedies\":[");
    for (size_t i = 0; i < all->n; i++) {
        text_add(t, i ? "," : "");
        render_remedy(c, &all->list[i], t);
    }
    text_add(t, "]}");
    return 0;
}

static void render_candidate(const struct candidate *k, struct text *t)
{
    text_add(t, "{\"remedy\":");
    text_add_json(t, k->remedy->name);
    text_printf(t,
                ",\"possible\":%s,\"chance_ppm\":%" PRIu32 ",\"covers\":%" PRIu32 ",\"helped\":%" PRIu32
                ",\"failed\":%" PRIu32 ",\"tried\":%u,\"own\":%" PRId64 ",\"next\":%" PRId64
                ",\"expected\":%" PRId64,
                k->possible ? "true" : "false", k->chance, k->covers, k->helped, k->failed, k->tried, k->own,
                k->next, k->expected);
    text_add_member(t, "because", k->remedy->because ? k->remedy->because : "");
    text_add_member(t, "why", k->why);
    text_printf(t, ",\"approval\":%s,\"dry\":%s}", k->remedy->approval ? "true" : "false",
                k->remedy->dry ? "true" : "false");
}

static void render_choice(const struct choice *k, struct text *t)
{
    text_add_member(t, "chosen", k->chosen ? k->chosen->name : NULL);
    text_add_member(t, "why", k->why);
    text_printf(t, ",\"waits\":%s", k->waits ? "true" : "false");
    text_printf(t, ",\"explored\":%s,\"person\":%" PRId64 ",\"candidates\":[", k->explored ? "true" : "false",
                k->person);
    for (size_t i = 0; i < k->n; i++) {
        text_add(t, i ? "," : "");
        render_candidate(&k->candidates[i], t);
    }
    text_add_char(t, ']');
}

int call_remedy_explain(struct call *c, struct text *t, struct err *e)
{
    struct member *m;
    int rc = member_get(c->api->cluster, c->parameter, &m, e);
    if (rc < 0)
        return rc;
    CLEANUP_FREE struct choice *choice = mem_alloc(sizeof *choice);
    watch_choice(c->api->watch, c->now, m, choice);
    text_add(t, "{\"node\":");
    text_add_json(t, m->name);
    text_add_char(t, ',');
    render_ailment(c, m, t);
    render_choice(choice, t);
    text_add(t, ",\"repair\":");
    render_repair(m, false, t);
    text_add_char(t, '}');
    return 0;
}

/* --- the work queue -------------------------------------------------------------------------- */

/* A remedy that was tried in this repair is not suggested: the node is in the queue in spite of it. */
static const struct remedy *repair_suggestion(const struct member *m, const struct choice *k)
{
    const struct repair *r = member_repair(m);
    for (size_t i = 0; k->chosen && r && i < r->n_attempts; i++)
        if (r->attempts[i].at.ns >= r->began.ns && r->attempts[i].verdict != '0' &&
            strcmp(r->attempts[i].remedy, k->chosen->name) == 0)
            return NULL;
    return k->chosen;
}

/* The worst open incident that counts, the oldest of several; NULL when there is none. */
static const struct incident *worst_of(const struct member *m)
{
    const struct ailment *a = member_ailment(m);
    const struct incident *worst = NULL;
    for (size_t i = 0; a && i < a->n_open; i++) {
        const struct incident *one = &a->open[i];
        if (!one->observe && one->severity >= RESULT_DEGRADED && one->n &&
            (!worst || one->severity > worst->severity))
            worst = one;
    }
    return worst;
}

/* Why the node is there: what is open now, or else what its repair began for. */
static void add_finding(const struct call *c, const struct member *m, struct text *t)
{
    const struct incident *worst = worst_of(m);
    const struct claim *claim = cluster_claim(c->api->cluster, member_repair(m)->id);
    CLEANUP_TEXT struct text said = {0};
    text_add(&said, worst || !claim ? "" : claim->reason);
    if (worst) {
        const struct incident_finding *f = &worst->findings[0];
        text_printf(&said, "%s%s%s%s%s", *f->f.code ? f->f.code : f->check, *f->f.device ? " " : "",
                    f->f.device, *f->f.text ? ": " : "", f->f.text);
    }
    text_add_member(t, "finding", said.s);
}

static void render_ticket(struct call *c, const struct member *m, struct text *t)
{
    CLEANUP_FREE struct choice *choice = mem_alloc(sizeof *choice);
    CLEANUP_TEXT struct text held = {0};
    watch_choice(c->api->watch, c->now, m, choice);
    const struct remedy *suggested = repair_suggestion(m, choice);
    text_add(t, "{\"node\":");
    text_add_json(t, m->name);
    render_holder(watch_observed(c->api->watch, m), &held);
    text_add_member(t, "held", held.len ? held.s : "");
    add_finding(c, m, t);
    text_add_member(t, "suggested", suggested ? suggested->name : NULL);
    text_add_member(t, "suggested_why", suggested || !choice->chosen ? choice->why : "");
    text_add_char(t, ',');
    render_ailment(c, m, t);
    text_add(t, ",\"repair\":");
    render_repair(m, false, t);
    text_add_char(t, '}');
}

static void add_ticket(struct slices *s, const struct member *m)
{
    if (!repair_waits(member_repair(m)))
        return;
    if (s->text.s[s->text.len - 1] != '[')
        text_add_char(&s->text, ',');
    render_ticket(&s->call, m, &s->text);
}

static bool queue_step(struct slices *s)
{
    if (slices_walk(s, add_ticket))
        return true;
    text_add(&s->text, "]}");
    return false;
}

int call_queue_list(struct call *c, struct text *t, struct err *e)
{
    struct slices s = {.step = queue_step};
    text_add(&s.text, "{\"queue\":[");
    return call_slices(c, slices_keep(&s));
}

/* --- repairs --------------------------------------------------------------------------------- */

static void add_repair(struct slices *s, const struct member *m)
{
    const struct repair *r = member_treated(m);
    if (!r)
        return;
    text_add(&s->text, s->text.s[s->text.len - 1] == '[' ? "{\"node\":" : ",{\"node\":");
    text_add_json(&s->text, m->name);
    text_add(&s->text, ",\"next\":");
    render_next(r->step, &s->text);
    text_add(&s->text, ",\"repair\":");
    render_repair(m, false, &s->text);
    text_add_char(&s->text, '}');
}

static bool repairs_step(struct slices *s)
{
    if (slices_walk(s, add_repair))
        return true;
    text_add(&s->text, "]}");
    return false;
}

int call_repair_list(struct call *c, struct text *t, struct err *e)
{
    struct slices s = {.step = repairs_step};
    text_add(&s.text, "{\"repairs\":[");
    return call_slices(c, slices_keep(&s));
}

int call_repair_numbers(struct call *c, struct text *t, struct err *e)
{
    uint64_t hours = 24;
    int rc = call_query_number(c, "hours", NUMBERS_HOURS_MIN, NUMBERS_HOURS_MAX, &hours, e);
    if (rc == 0)
        rc = numbers_read(c->api->numbers, &c->api->shell, c->wall, e);
    if (rc < 0)
        return rc;
    struct numbers_sum n = numbers_of(c->api->numbers, c->wall, (unsigned)hours);
    text_printf(t,
                "{\"hours\":%" PRIu64 ",\"transitions\":%" PRIu64 ",\"remediations\":%" PRIu64
                ",\"by_itself\":%" PRIu64 ",\"queued\":%" PRIu64 ",\"by_person\":%" PRIu64 "}",
                hours, n.transitions, n.by_itself + n.queued, n.by_itself, n.queued, n.by_person);
    return 0;
}

/* --- what people say ------------------------------------------------------------------------- */

static int repair_change(struct call *c, struct command *cmd, struct ask *a, struct err *e)
{
    CLEANUP_FREE struct member **members = NULL;
    int rc = members_find(c->api->cluster, &a->nodes, &members, e);
    if (rc < 0)
        return rc;
    cmd->reason = a->reason;
    return call_submit_each(c, &a->nodes, cmd, e);
}

/* The deadline of the step that the transition leads to. */
static uint64_t deadline_s(const struct api_policy *p, enum by_hand what)
{
    struct span s = what == BY_HAND_REPAIRED ? p->provision_deadline
                    : what == BY_HAND_DRAIN  ? p->drain_deadline
                                             : (struct span){0};
    return (uint64_t)s.ns / 1000000000;
}

static int may_resolve(const struct call *c, const struct member *m, const struct command *cmd, struct err *e)
{
    return watch_may_resolve(c->api->watch, c->now, m, e);
}

int call_repair_transition(struct call *c, struct text *t, struct err *e)
{
    struct ask a = {0};
    struct command cmd = {.kind = COMMAND_TRANSITION};
    struct transition_command *says = &cmd.transition;
    int rc = call_ask(c, &a, e);
    if (rc == 0)
        rc = by_hand_parse(a.word, &says->what, e);
    if (rc == 0) {
        says->deadline_s = deadline_s(&c->api->policy, says->what);
        says->answers = c->returns = says->what == BY_HAND_REPAIRED;
        c->may = c->returns ? may_resolve : NULL;
        rc = repair_change(c, &cmd, &a, e);
    }
    ask_fini(&a);
    return rc;
}

static int answer_remedy(struct call *c, enum command_kind kind, struct err *e)
{
    struct ask a = {0};
    int rc = call_ask(c, &a, e);
    if (rc == 0)
        rc = repair_change(c, &(struct command){.kind = kind, .approval = {a.word}}, &a, e);
    ask_fini(&a);
    return rc;
}

int call_repair_approve(struct call *c, struct text *t, struct err *e)
{
    return answer_remedy(c, COMMAND_REPAIR_APPROVE, e);
}

int call_repair_refuse(struct call *c, struct text *t, struct err *e)
{
    return answer_remedy(c, COMMAND_REPAIR_REFUSE, e);
}

/* A node without other open findings is provisioned, within the time for that. */
int call_queue_resolve(struct call *c, struct text *t, struct err *e)
{
    struct ask a = {0};
    struct finding_name findings[FINDINGS_NAMED_MAX];
    int rc = call_ask(c, &a, e);
    for (size_t i = 0; i < a.n_findings; i++)
        findings[i] = (struct finding_name){a.findings[i].fault, a.findings[i].device};
    struct command cmd = {.kind = COMMAND_ANSWER,
                          .answer = {deadline_s(&c->api->policy, BY_HAND_REPAIRED), a.n_findings, findings}};
    if (rc == 0) {
        c->returns = true;
        c->may = may_resolve;
        rc = repair_change(c, &cmd, &a, e);
    }
    ask_fini(&a);
    return rc;
}

int call_queue_ticket(struct call *c, struct text *t, struct err *e)
{
    struct ask a = {0};
    int rc = call_ask(c, &a, e);
    enum ticket what = !a.gives ? TICKET_STAYS : a.on ? TICKET_TAKEN : TICKET_GIVEN_BACK;
    if (rc == 0)
        rc = repair_change(c, &(struct command){.kind = COMMAND_TICKET, .ticket = {what}}, &a, e);
    ask_fini(&a);
    return rc;
}

/* --- overrides ------------------------------------------------------------------------------- */

static void render_override(const struct call *c, const struct member *m, struct text *t)
{
    const struct override *o = member_override(m);
    struct span left = watch_override_left(c->api->watch, c->now, m);
    text_add(t, "{\"node\":");
    text_add_json(t, m->name);
    text_add_member(t, "by", o->by);
    text_add_member(t, "source", o->source);
    text_add_member(t, "why", o->why);
    text_add(t, ",\"at\":");
    render_time(t, o->at);
    text_add(t, ",\"until\":");
    render_time(t, (struct wall){c->wall.ns + left.ns});
    text_printf(t, ",\"left_s\":%" PRId64 ",\"of\":[", left.ns / 1000000000);
    for (size_t i = 0; i < o->n; i++) {
        text_add(t, i ? ",{\"group\":" : "{\"group\":");
        text_add_json(t, o->of[i].group);
        text_add_member(t, "fault", o->of[i].fault);
        text_add_member(t, "severity", result_name(o->of[i].severity));
        text_add_char(t, '}');
    }
    text_add(t, "]}");
}

static void add_override(struct slices *s, const struct member *m)
{
    if (!member_override(m))
        return;
    if (s->text.s[s->text.len - 1] != '[')
        text_add_char(&s->text, ',');
    render_override(&s->call, m, &s->text);
}

static bool overrides_step(struct slices *s)
{
    if (slices_walk(s, add_override))
        return true;
    text_add(&s->text, "]}");
    return false;
}

int call_override_list(struct call *c, struct text *t, struct err *e)
{
    struct slices s = {.step = overrides_step};
    text_add(&s.text, "{\"overrides\":[");
    return call_slices(c, slices_keep(&s));
}

static int override_by_hand(struct call *c, enum command_kind kind, struct err *e)
{
    struct ask a = {0};
    int rc = call_ask(c, &a, e);
    if (rc == 0)
        rc = repair_change(c, &(struct command){.kind = kind}, &a, e);
    ask_fini(&a);
    return rc;
}

int call_override_set(struct call *c, struct text *t, struct err *e)
{
    return override_by_hand(c, COMMAND_OVERRIDE, e);
}

int call_override_end(struct call *c, struct text *t, struct err *e)
{
    return override_by_hand(c, COMMAND_OVERRIDE_END, e);
}

/* --- what holds Fettle back ------------------------------------------------------------------ */

static void render_budget(void *arg, const struct budget *b)
{
    struct text *t = arg;
    if (t->s[t->len - 1] != '[')
        text_add_char(t, ',');
    text_add(t, "{\"scope\":");
    text_add_json(t, b->scope);
    text_printf(t, ",\"out\":%u,\"limit\":%u,\"nodes\":%u}", b->out, b->limit, b->nodes);
}

static void render_switch(struct call *c, const char *name, struct text *t)
{
    const char *why = cluster_switch(c->api->cluster, name);
    text_add(t, "{\"name\":");
    text_add_json(t, name);
    text_printf(t, ",\"on\":%s", why ? "true" : "false");
    text_add_member(t, "why", why ? why : "");
    text_add_char(t, '}');
}

int call_brake_list(struct call *c, struct text *t, struct err *e)
{
    text_add(t, "{\"switches\":[");
    render_switch(c, "stop", t);
    text_add_char(t, ',');
    render_switch(c, "latch", t);
    text_add(t, "],\"budgets\":[");
    watch_each_budget(c->api->watch, render_budget, t);
    text_add(t, "]}");
    return 0;
}

int call_brake_set(struct call *c, struct text *t, struct err *e)
{
    struct ask a = {0};
    int rc = call_ask(c, &a, e);
    if (rc == 0) {
        struct hostlist nobody = {0};
        struct command cmd = {.kind = COMMAND_SWITCH, .reason = a.reason, .switched = {a.word, a.on}};
        rc = call_submit(c, &nobody, &cmd, NULL);
    }
    ask_fini(&a);
    return rc;
}
