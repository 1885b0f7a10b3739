/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changes: a body becomes a command, the shell commits it, and then it is answered. In between a `struct
 * pending` stands for the call. When the client goes away meanwhile, the command goes on, and nobody is told.
 */
#include "api/call.h"
#include "api/render.h"
#include "api/request.h"
#include "cluster/cluster.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pending {
    struct api *api;
    struct http_request *request; /* NULL once the client is gone */
    struct hostlist nodes;        /* the nodes named in the call */
    char *class_name;             /* the answer has the version of this class's baseline; or NULL */
    char *token, *command;        /* for token_create */
    char token_id[TOKEN_ID_BYTES + 1];
    char *certificate, *authority; /* for certificate_create */
    struct wall expires;
    char *owner;    /* the owner that the nodes are expected to have; "": none; NULL: it is not asked */
    bool returns;   /* the nodes are to come back into service: the answer says what is missing */
    bool dry;       /* nothing is changed: the answer says what would be, */
    size_t n_would; /* each sentence with its nodes */
    struct would {
        char *what;
        struct hostlist nodes;
    } * would;
    struct text refused; /* for commands about one node each: {"node","error"}, separated by commas */
};

static void pending_destroy(struct pending *p)
{
    hostlist_fini(&p->nodes);
    free(p->class_name);
    free(p->owner);
    free(p->token);
    free(p->command);
    free(p->certificate);
    free(p->authority);
    text_fini(&p->refused);
    for (size_t i = 0; i < p->n_would; i++) {
        free(p->would[i].what);
        hostlist_fini(&p->would[i].nodes);
    }
    free(p->would);
    free(p);
}

static void on_gone(void *arg)
{
    ((struct pending *)arg)->request = NULL;
}

/* The findings that keep a node in the work queue, as JSON and in words. */
static void render_open(const struct member *m, struct text *open, struct text *why)
{
    const struct ailment *a = member_ailment(m);
    const char *comma = "";
    text_add(open, "");
    for (size_t i = 0; a && i < a->n_open; i++) {
        const struct incident *one = &a->open[i];
        for (size_t k = 0; incident_counts(one) && k < one->n; k++) {
            const struct incident_finding *f = &one->findings[k];
            const char *fault = finding_fault(f);
            text_printf(open, "%s{\"fault\":", comma);
            text_add_json(open, fault);
            text_add(open, ",\"device\":");
            text_add_json(open, f->f.device);
            text_printf(open, ",\"result\":\"%s\"}", result_name(f->f.result));
            text_printf(why, "%s%s%s%s (%s)", *comma ? ", " : "a person's word on ", fault,
                        *f->f.device ? " " : "", f->f.device, result_name(f->f.result));
            comma = ",";
        }
    }
}

/* What a node still needs: each check that has not passed on this boot; or, in the work queue, a person's
 * answer to each open finding. False when nothing is missing. */
static bool say_missing(const struct pending *p, const struct member *m, struct text *open, struct text *why)
{
    const struct repair *r = m ? member_repair(m) : NULL;
    if (r && r->step == STEP_QUEUE)
        render_open(m, open, why);
    else if (r && r->step == STEP_PROVISION)
        watch_provisioned(p->api->watch, mono_now(), m, why);
    return why->len > 0;
}

static void render_missing(const struct pending *p, struct text *t)
{
    const char *comma = "";
    text_add(t, ",\"missing\":[");
    for (size_t i = 0; i < p->nodes.n; i++) {
        const struct member *m = cluster_find(p->api->cluster, p->nodes.names[i]);
        CLEANUP_TEXT struct text why = {0}, open = {0};
        if (!say_missing(p, m, &open, &why))
            continue;
        text_printf(t, "%s{\"node\":", comma);
        comma = ",";
        text_add_json(t, m->name);
        text_add(t, ",\"why\":");
        text_add_json(t, why.s);
        if (open.len)
            text_printf(t, ",\"open\":[%s]", open.s);
        text_add_char(t, '}');
    }
    text_add_char(t, ']');
}

/* Notes what would be done to which nodes, in one sentence for all with the same result. */
static void note_would(struct pending *p, const char *what, const struct hostlist *nodes)
{
    size_t at = 0;
    while (at < p->n_would && strcmp(p->would[at].what, what) != 0)
        at++;
    if (at == p->n_would) {
        p->would = mem_grow(p->would, (p->n_would + 1) * sizeof *p->would);
        p->would[p->n_would++] = (struct would){.what = mem_dup(what)};
    }
    for (size_t i = 0; nodes && i < nodes->n; i++)
        hostlist_add(&p->would[at].nodes, nodes->names[i]);
}

static void render_nodes(const struct hostlist *nodes, struct text *t)
{
    CLEANUP_FREE char *folded = nodes ? hostlist_fold((const char *const *)nodes->names, nodes->n) : NULL;
    text_add_json(t, folded ? folded : "");
}

static void render_would(const struct would *list, size_t n, struct text *t)
{
    text_add(t, ",\"dry_run\":true,\"would\":[");
    for (size_t i = 0; i < n; i++) {
        text_add(t, i ? ",{\"nodes\":" : "{\"nodes\":");
        render_nodes(&list[i].nodes, t);
        text_add(t, ",\"what\":");
        text_add_json(t, list[i].what);
        text_add_char(t, '}');
    }
    text_add_char(t, ']');
}

void call_would(const struct call *c, const struct hostlist *nodes, const char *what, struct text *t)
{
    char *sentence = mem_dup(what);
    const struct would one = {sentence, *nodes};
    text_add(t, "{\"revision\":");
    text_add_u64(t, c->api->shell.revision(c->api->shell.arg));
    text_add(t, ",\"changed\":");
    render_nodes(nodes, t);
    render_would(&one, nodes->n > 0, t);
    render_held(c->api->cluster, nodes, t);
    text_add_char(t, '}');
    free(sentence);
}

static void render_changed(const struct pending *p, const struct outcome *o, struct text *t)
{
    text_add(t, "{\"revision\":");
    text_add_u64(t, o->revision);
    text_add(t, ",\"changed\":");
    if (o->folded)
        text_add_json(t, o->folded);
    else
        render_nodes(o->changed, t);
    if (p->dry)
        render_would(p->would, p->n_would, t);
    if (o->claim && !p->dry) {
        text_add(t, ",\"claim\":");
        text_add_json(t, o->claim);
    }
    const struct baseline *b =
        p->class_name && !p->dry ? cluster_baseline(p->api->cluster, p->class_name) : NULL;
    if (b)
        text_printf(t, ",\"version\":%" PRIu32, b->version);
    render_held(p->api->cluster, &p->nodes, t);
    if (p->refused.len)
        text_printf(t, ",\"refused\":[%s]", p->refused.s);
    if (p->returns && !p->dry)
        render_missing(p, t);
    text_add(t, "}\n");
}

static void render_token(const struct pending *p, struct text *t)
{
    char expires[32];
    text_add(t, "{\"token\":");
    text_add_json(t, p->token);
    text_add(t, ",\"id\":");
    text_add_json(t, p->token_id);
    text_add(t, ",\"expires\":");
    text_add_json(t, wall_format(p->expires, expires));
    text_add(t, ",\"command\":");
    text_add_json(t, p->command);
    text_add(t, "}\n");
}

static void render_certificate(const struct pending *p, struct text *t)
{
    text_add(t, "{\"certificate\":");
    text_add_json(t, p->certificate);
    text_add(t, ",\"authority\":");
    text_add_json(t, p->authority);
    text_add(t, "}\n");
}

/* The first node that has another owner than was expected; NULL for none. */
static const struct member *find_owned(const struct pending *p)
{
    size_t place = 0;
    for (size_t i = 0; i < p->nodes.n; i++) {
        const struct member *m = cluster_find_next(p->api->cluster, &place, p->nodes.names[i]);
        if (m && m->owner && strcmp(m->owner->name, p->owner) != 0)
            return m;
    }
    return NULL;
}

/* A scheduler that came too late reads whose the node is. */
static void refuse_owned(const struct pending *p, const struct err *e, const struct member *m)
{
    struct text t = {0};
    text_printf(&t, "{\"error\":{\"code\":\"%s\",\"message\":", err_name(e->code));
    text_add_json(&t, e->msg);
    text_add_member(&t, "node", m->name);
    text_add_member(&t, "owner", m->owner->name);
    text_add(&t, "}}\n");
    size_t len = t.len;
    http_answer_take(p->request, err_http(e->code), NULL, text_take(&t), len);
}

static void changes_answer(const struct pending *p, const struct outcome *o)
{
    if (o->rc < 0) {
        struct err e = *o->why;
        /* The store's refusal of a deposed controller says nothing about the caller. */
        e.code = o->rc == -EPERM ? -EAGAIN : o->rc;
        const struct member *owned = p->owner && e.code == -EBUSY ? find_owned(p) : NULL;
        if (owned)
            refuse_owned(p, &e, owned);
        else
            http_answer_err(p->request, &e);
        return;
    }
    if (o->replayed && (p->token || p->certificate)) { /* the one that was made now counts for nothing */
        struct err e;
        e.code = request_shown(p->token ? "token" : "certificate", o->revision, &e);
        http_answer_err(p->request, &e);
        return;
    }
    struct text t = {0};
    if (p->dry)
        render_changed(p, o, &t);
    else if (p->token)
        render_token(p, &t);
    else if (p->certificate)
        render_certificate(p, &t);
    else
        render_changed(p, o, &t);
    size_t len = t.len;
    if (o->replayed)
        http_answer_header(p->request, "Idempotency-Replayed: true");
    http_answer_take(p->request, 200, NULL, text_take(&t), len);
}

static void on_outcome(void *arg, const struct outcome *o)
{
    struct pending *p = arg;
    if (o->would)
        note_would(p, o->would, o->changed);
    if (p->request)
        changes_answer(p, o);
    pending_destroy(p);
}

/* Gives the command to the shell. Takes over the nodes. */
static struct pending *changes_pend(struct call *c, struct hostlist *nodes)
{
    struct pending *p = mem_alloc(sizeof *p);
    p->api = c->api;
    p->request = c->request;
    p->dry = c->dry;
    p->nodes = *nodes;
    *nodes = (struct hostlist){0};
    http_set_arg(c->request, p, on_gone);
    return p;
}

void call_replay(struct call *c, struct hostlist *nodes, const char *class_name, const struct outcome *o)
{
    struct pending *p = changes_pend(c, nodes);
    p->class_name = mem_dup(class_name);
    on_outcome(p, o);
}

static void changes_submit(struct pending *p, struct command *cmd)
{
    cmd->dry = p->dry;
    p->api->shell.submit(p->api->shell.arg, cmd, on_outcome, p);
}

/* NULL for a command that is not about owners. */
static const char *expected_owner(const struct command *cmd, char buf[static OWNER_NAME_BYTES_MAX + 1])
{
    if (cmd->kind == COMMAND_OWNER_CLAIM)
        return "";
    bool asks = cmd->kind == COMMAND_OWNER_RELEASE || cmd->kind == COMMAND_OWNER_TRANSFER;
    return asks ? owner_name(&cmd->own.from, buf) : NULL;
}

int call_submit(struct call *c, struct hostlist *nodes, struct command *cmd, const char *class_name)
{
    char owner[OWNER_NAME_BYTES_MAX + 1];
    struct pending *p = changes_pend(c, nodes);
    p->class_name = mem_dup(class_name);
    p->owner = mem_dup(expected_owner(cmd, owner));
    cmd->actor = c->actor;
    cmd->at = c->wall;
    cmd->nodes = &p->nodes;
    cmd->request = call_request(c, 0);
    changes_submit(p, cmd);
    return CALL_LATER;
}

/* --- a command for each node ------------------------------------------------------------------ */

struct several {
    struct pending *call;
    size_t n, open, n_refused, n_unknown;
    uint64_t revision;
    bool replayed; /* some */
    struct hostlist changed;
    char *claim;        /* for a call that names one node */
    struct err why;     /* the first refusal */
    struct err unknown; /* the first one whose outcome is not known */
};

struct one {
    struct several *all;
    const char *node; /* part of call->nodes */
};

static void end_one(struct several *s)
{
    if (--s->open > 0)
        return;
    struct outcome o = {.revision = s->revision,
                        .changed = &s->changed,
                        .claim = s->claim,
                        .replayed = s->replayed,
                        .why = &s->why};
    if (s->n_unknown) /* what was done of the rest is found where this is found */
        o = (struct outcome){.rc = STORE_UNKNOWN, .changed = &s->changed, .why = &s->unknown};
    else if (s->n_refused == s->n)
        o.rc = s->n == 1 ? s->why.code : err_wrap(&s->why, s->why.code, "none of %zu nodes", s->n);
    on_outcome(s->call, &o);
    hostlist_fini(&s->changed);
    free(s->claim);
    free(s);
}

static void refuse_one(struct one *one, const struct err *why, int rc)
{
    struct several *s = one->all;
    struct text *t = &s->call->refused;
    if (s->n_refused++ == 0) {
        s->why = *why;
        s->why.code = rc;
    }
    text_add(t, t->len ? ",{\"node\":" : "{\"node\":");
    text_add_json(t, one->node);
    text_add(t, ",\"error\":");
    text_add_json(t, why->msg);
    text_add_char(t, '}');
}

static void on_one(void *arg, const struct outcome *o)
{
    struct one *one = arg;
    struct several *s = one->all;
    if (o->rc == STORE_UNKNOWN && s->n_unknown++ == 0)
        s->unknown = *o->why;
    else if (o->rc < 0 && o->rc != STORE_UNKNOWN)
        refuse_one(one, o->why, o->rc);
    if (o->would)
        note_would(s->call, o->would, o->changed);
    for (size_t i = 0; o->rc == 0 && o->changed && i < o->changed->n; i++)
        hostlist_add(&s->changed, o->changed->names[i]);
    if (o->rc == 0 && o->revision > s->revision)
        s->revision = o->revision;
    s->replayed |= o->replayed;
    if (o->rc == 0 && s->n == 1)
        s->claim = mem_dup(o->claim);
    free(one);
    end_one(s);
}

static void submit_one(struct call *c, const struct command *cmd, struct one *one)
{
    struct err e;
    const struct member *m =
        c->may && !call_did(c, one->node) ? cluster_find(c->api->cluster, one->node) : NULL;
    int rc = m ? c->may(c, m, cmd, &e) : 0;
    if (rc < 0)
        on_one(one, &(struct outcome){.rc = rc, .why = &e});
    else
        c->api->shell.submit(c->api->shell.arg, cmd, on_one, one);
}

int call_check_number(const struct hostlist *nodes, struct err *e)
{
    if (nodes->n > NODES_AT_ONCE_MAX)
        return err_set(e, -E2BIG, "%zu nodes; at most %d at once", nodes->n, NODES_AT_ONCE_MAX);
    return 0;
}

int call_submit_each(struct call *c, struct hostlist *nodes, struct command *cmd, struct err *e)
{
    int rc = call_check_number(nodes, e);
    if (rc < 0)
        return rc;
    struct several *s = mem_alloc(sizeof *s);
    s->call = changes_pend(c, nodes);
    s->n = s->call->nodes.n;
    s->open = s->n + 1; /* until all are submitted */
    s->call->returns = c->returns;
    cmd->dry = c->dry;
    cmd->actor = c->actor;
    cmd->at = c->wall;
    cmd->request = call_request(c, s->n);
    for (size_t i = 0; i < s->n; i++) {
        struct one *one = mem_alloc(sizeof *one);
        *one = (struct one){s, s->call->nodes.names[i]};
        CLEANUP_HOSTLIST struct hostlist name = {0};
        hostlist_add(&name, one->node);
        cmd->nodes = &name;
        submit_one(c, cmd, one);
    }
    end_one(s);
    return CALL_LATER;
}

/* The token is made here and given away after its hash is durable. Its names need not be in any file. */
int call_token_create(struct call *c, struct text *t, struct err *e)
{
    struct ask a = {0};
    CLEANUP_FREE char *token = NULL, *hash = NULL, *command = NULL;
    int rc = call_ask(c, &a, e);
    if (rc == 0)
        rc = c->api->shell.make_token(c->api->shell.arg, &token, &hash, &command, e);
    if (rc == 0) {
        struct pending *p = changes_pend(c, &a.nodes);
        p->token = STEAL(token);
        p->command = STEAL(command);
        snprintf(p->token_id, sizeof p->token_id, "%s", hash);
        p->expires = (struct wall){c->wall.ns + a.valid.ns};
        struct command cmd = {.kind = COMMAND_TOKEN_CREATE,
                              .actor = c->actor,
                              .at = c->wall,
                              .nodes = &p->nodes,
                              .request = call_request(c, 0),
                              .token_made = {hash, p->expires, a.count, a.again, a.from, a.uuid}};
        changes_submit(p, &cmd);
        rc = CALL_LATER;
    }
    ask_fini(&a);
    return rc;
}

static char *operator_subject(const char *name)
{
    struct text t = {0};
    text_printf(&t, "operator:%s", name);
    return text_take(&t);
}

/* Given away after its record is durable. */
int call_certificate_create(struct call *c, struct text *t, struct err *e)
{
    struct ask a = {0};
    CLEANUP_FREE char *certificate = NULL, *authority = NULL, *subject = NULL;
    struct certificate_terms terms;
    int rc = call_ask(c, &a, e);
    if (rc == 0)
        rc = c->api->shell.sign_operator(c->api->shell.arg, a.name, a.role, a.request, a.valid, &certificate,
                                         &authority, &terms, e);
    if (rc == 0) {
        struct hostlist none = {0};
        struct pending *p = changes_pend(c, &none);
        p->certificate = STEAL(certificate);
        p->authority = STEAL(authority);
        subject = operator_subject(a.name);
        struct command cmd = {.kind = COMMAND_CERTIFICATE,
                              .actor = c->actor,
                              .at = c->wall,
                              .request = call_request(c, 0),
                              .certificate = {subject, terms}};
        changes_submit(p, &cmd);
        rc = CALL_LATER;
    }
    ask_fini(&a);
    return rc;
}
