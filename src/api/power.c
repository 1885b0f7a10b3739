/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The power of nodes. Its status is read at once. A change is a command for each node, committed like every
 * other change; the call is answered with the outcome on each node when the last command has ended, according
 * to the outbox. A client that goes away takes nothing back.
 */
#include "api/call.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct powering {
    const struct api_shell *shell;
    struct http_request *request; /* NULL once the client is gone */
    size_t open;
    bool replayed; /* some command was committed before */
    struct text t;
    struct err unknown; /* why it is not known what became of a command; no code: it is */
};

struct powered {
    struct powering *all;
    char *node;
};

static void on_client_gone(void *arg)
{
    ((struct powering *)arg)->request = NULL;
}

static void powering_end_one(struct powering *p)
{
    if (--p->open > 0)
        return;
    text_add(&p->t, "]}\n");
    size_t len = p->t.len;
    if (p->request && p->unknown.code)
        http_answer_err(p->request, &p->unknown);
    else if (p->request && p->replayed)
        http_answer_header(p->request, "Idempotency-Replayed: true");
    if (p->request && !p->unknown.code)
        http_answer_take(p->request, 200, NULL, text_take(&p->t), len);
    text_fini(&p->t);
    free(p);
}

static void on_powered(void *arg, const char *answer, const struct err *why)
{
    struct powered *one = arg;
    struct text *t = &one->all->t;
    if (why && why->code == STORE_UNKNOWN)
        one->all->unknown = *why;
    if (t->s[t->len - 1] != '[')
        text_add_char(t, ',');
    text_add(t, "{\"node\":");
    text_add_json(t, one->node);
    text_printf(t, ",\"%s\":", why ? "error" : "answer");
    text_add_json(t, why ? why->msg : answer);
    text_add_char(t, '}');
    powering_end_one(one->all);
    free(one->node);
    free(one);
}

static struct powering *powering_begin(struct call *c, size_t n)
{
    struct powering *p = mem_alloc(sizeof *p);
    *p = (struct powering){.shell = &c->api->shell, .request = c->request, .open = n + 1};
    text_add(&p->t, "{\"results\":[");
    http_set_arg(c->request, p, on_client_gone);
    return p;
}

static struct powered *powered_begin(struct powering *p, const char *node)
{
    struct powered *one = mem_alloc(sizeof *one);
    *one = (struct powered){p, mem_dup(node)};
    return one;
}

/* It is committed; its end follows. */
static void on_committed(void *arg, const struct outcome *o)
{
    struct powered *one = arg;
    const struct api_shell *shell = one->all->shell;
    one->all->replayed |= o->replayed;
    if (o->rc < 0)
        on_powered(one, NULL, o->why);
    else
        shell->powered(shell->arg, one->node, o->claim, on_powered, one);
}

static void power_look(struct call *c, const struct hostlist *nodes)
{
    struct powering *p = powering_begin(c, nodes->n);
    for (size_t i = 0; i < nodes->n; i++)
        c->api->shell.power(c->api->shell.arg, nodes->names[i], on_powered,
                            powered_begin(p, nodes->names[i]));
    powering_end_one(p);
}

/* cmd: complete except for its node. */
static void switch_all(struct call *c, const struct hostlist *nodes, struct command *cmd)
{
    struct powering *p = powering_begin(c, nodes->n);
    cmd->actor = c->actor;
    cmd->at = c->wall;
    cmd->request = call_request(c, nodes->n);
    for (size_t i = 0; i < nodes->n; i++) {
        struct err why;
        CLEANUP_HOSTLIST struct hostlist name = {0};
        struct powered *one = powered_begin(p, nodes->names[i]);
        hostlist_add(&name, one->node);
        cmd->nodes = &name;
        if (!call_did(c, one->node) && c->may(c, cluster_find(c->api->cluster, one->node), cmd, &why) < 0)
            on_powered(one, NULL, &why);
        else
            c->api->shell.submit(c->api->shell.arg, cmd, on_committed, one);
    }
    powering_end_one(p);
}

/* An unknown fact refuses a command that is given now. */
static int may_power(const struct call *c, const struct member *m, const struct command *cmd, struct err *e)
{
    CLEANUP_TEXT struct text run = {0};
    const struct api_shell *shell = &c->api->shell;
    text_printf(&run, "power.%s", cmd->power.verb);
    int rc = shell->may_power(shell->arg, m, run.s, cmd->power.force, e);
    return rc == -EAGAIN ? -EBUSY : rc;
}

static int check_verb(const char *verb, struct err *e)
{
    static const char *const verbs[] = {"status", "on", "off", "cycle", "reset", "netboot"};
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++)
        if (strcmp(verb, verbs[i]) == 0)
            return 0;
    return err_set(e, -EINVAL, "\"%.40s\" is none of status, on, off, cycle, reset, netboot", verb);
}

static int power_change(struct call *c, struct ask *a, struct err *e)
{
    if (!a->reason)
        return err_set(e, -EINVAL, "\"reason\" is missing");
    struct command cmd = {.kind = COMMAND_POWER, .reason = a->reason, .power = {a->word, a->on}};
    c->may = may_power;
    if (c->dry)
        return call_submit_each(c, &a->nodes, &cmd, e);
    switch_all(c, &a->nodes, &cmd);
    return CALL_LATER;
}

int call_power(struct call *c, struct text *t, struct err *e)
{
    struct ask a = {0};
    CLEANUP_FREE struct member **members = NULL;
    int rc = call_ask_members(c, &a, &members, e);
    if (rc == 0)
        rc = call_check_number(&a.nodes, e);
    if (rc == 0)
        rc = check_verb(a.word, e);
    if (rc == 0 && strcmp(a.word, "status") == 0) {
        power_look(c, &a.nodes);
        rc = CALL_LATER;
    } else if (rc == 0) {
        rc = power_change(c, &a, e);
    }
    ask_fini(&a);
    return rc;
}
