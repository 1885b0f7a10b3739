/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The audit log as c2sp.org/tlog-tiles has it, with /v1/audit as its prefix, and proofs for those who do not
 * want to make them of tiles. All of it is answered in the log's own thread.
 */
#include "api/call.h"

#include <errno.h>
#include <stdlib.h>

struct auditing {
    struct http_request *request; /* NULL once the client is gone */
    enum auditor_kind kind;
};

static void on_client_gone(void *arg)
{
    ((struct auditing *)arg)->request = NULL;
}

static const char *type_of(enum auditor_kind kind)
{
    return kind == AUDITOR_SHOW   ? NULL
           : kind == AUDITOR_TILE ? "application/octet-stream"
                                  : "text/plain; charset=utf-8";
}

static void on_audited(void *arg, const struct text *answer, const struct err *why)
{
    struct auditing *a = arg;
    if (a->request && why)
        http_answer_err(a->request, why);
    else if (a->request)
        http_answer(a->request, 200, type_of(a->kind), answer->s ? answer->s : "", answer->len);
    free(a);
}

static int audit_ask(struct call *c, const struct auditor_ask *ask)
{
    struct auditing *a = mem_alloc(sizeof *a);
    *a = (struct auditing){c->request, ask->kind};
    http_set_arg(c->request, a, on_client_gone);
    c->api->shell.audit(c->api->shell.arg, ask, on_audited, a);
    return CALL_LATER;
}

int call_audit_show(struct call *c, struct text *t, struct err *e)
{
    return audit_ask(c, &(struct auditor_ask){.kind = AUDITOR_SHOW});
}

int call_audit_checkpoint(struct call *c, struct text *t, struct err *e)
{
    return audit_ask(c, &(struct auditor_ask){.kind = AUDITOR_CHECKPOINT});
}

int call_audit_minimum(struct call *c, struct text *t, struct err *e)
{
    return audit_ask(c, &(struct auditor_ask){.kind = AUDITOR_MINIMUM});
}

int call_audit_tile(struct call *c, struct text *t, struct err *e)
{
    struct auditor_ask ask = {.kind = AUDITOR_TILE};
    int r = tile_parse(c->parameter, &ask.tile, e);
    return r < 0 ? r : audit_ask(c, &ask);
}

int call_audit_proof(struct call *c, struct text *t, struct err *e)
{
    struct auditor_ask ask = {.kind = AUDITOR_PROOF};
    if (!http_query(c->request, "revision"))
        return err_set(e, -EINVAL, "which entry? \"revision\", and \"n\" for another than its first");
    int r = call_query_number(c, "revision", 1, INT64_MAX, &ask.place.revision, e);
    if (r == 0)
        r = call_query_number(c, "n", 0, STORE_ENTRIES_MAX, &ask.place.n, e);
    return r < 0 ? r : audit_ask(c, &ask);
}

int call_audit_consistency(struct call *c, struct text *t, struct err *e)
{
    struct auditor_ask ask = {.kind = AUDITOR_CONSISTENCY};
    if (!http_query(c->request, "old"))
        return err_set(e, -EINVAL, "from which tree? \"old\" is its size");
    int r = call_query_number(c, "old", 0, INT64_MAX, &ask.old, e);
    return r < 0 ? r : audit_ask(c, &ask);
}
