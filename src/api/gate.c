/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of users and keys of an issuer may have to be waited for. A reading of root, of the daemon's user, or
 * of any user whom no record concerns waits for neither, and a change of these two waits for a name only
 * after sudo.
 */
#include "api/gate.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { GROUPS_MAX = 4096 };

/* A request at the gate. */
struct passing {
    struct api *api;
    struct http_request *request; /* NULL: the client is gone */
    struct called called;
    enum access_right want; /* the route's */
    gate_fn *fn;
    struct caller caller;
};

static void on_gone(void *arg)
{
    struct passing *p = arg;
    p->request = NULL;
}

/* Ends the passing: with the reason why the caller is not known, or by the caller's roles. */
static void passing_end(struct passing *p, const struct err *unknown)
{
    struct err e = {0};
    struct party party = {0};
    int rc = unknown ? err_set(&e, unknown->code, "%s", unknown->msg) : 0;
    if (p->request) {
        struct stream *s = http_stream(p->request);
        http_set_arg(p->request, NULL, NULL);
        caller_party(&p->caller, stream_peer_network(s), &party);
        if (rc == 0 && p->caller.kind != ACCESS_LOCAL)
            rc = http_set_party(p->request, &party, &e);
        if (rc == 0)
            rc = caller_may(&p->caller, p->want, &e);
        e.code = rc;
        p->fn(p->api, p->request, &p->called, rc == 0 ? &p->caller : NULL, rc == 0 ? NULL : &e);
    }
    caller_fini(&p->caller);
    free(p);
}

/* --- tokens ------------------------------------------------------------------------------------ */

static void on_token(void *arg, const struct shell_token *t, const struct err *why)
{
    struct passing *p = arg;
    if (t) {
        caller_take_token(&p->caller, t);
        caller_give_roles(&p->caller, t->groups, t->tenants, &p->api->policy, p->api->own);
    }
    passing_end(p, why);
}

static void passing_token(struct passing *p, const char *authorization)
{
    static const char scheme[] = "Bearer ";
    struct err e = {0};
    if (p->caller.kind == ACCESS_LOCAL)
        err_set(&e, -EINVAL, "a token is taken over HTTPS only; on the local socket the user is known");
    else if (strncasecmp(authorization, scheme, sizeof scheme - 1) != 0)
        err_set(&e, -EPERM, "the header Authorization has no bearer token");
    if (e.code)
        passing_end(p, &e);
    else
        p->api->shell.token(p->api->shell.arg, authorization + sizeof scheme - 1, on_token, p);
}

/* --- users of this machine ---------------------------------------------------------------------- */

static void on_names(void *arg, const char *user, const char *login, const struct hostlist *groups)
{
    struct passing *p = arg;
    snprintf(p->caller.name, sizeof p->caller.name, "%s", user);
    snprintf(p->caller.login, sizeof p->caller.login, "%s", login ? login : "");
    caller_give_roles(&p->caller, groups, NULL, &p->api->policy, p->api->own);
    passing_end(p, NULL);
}

static bool is_well_known(const struct api *a, uid_t uid)
{
    return uid == 0 || uid == a->own;
}

/* A name is needed to write it down, or to find the user's roles. */
static bool needs_names(const struct passing *p, uid_t login)
{
    const bool says = access_right_changes(p->want) || p->want == RIGHT_IDENTIFY;
    const bool may = access_permits(p->want, p->caller.roles);
    if (is_well_known(p->api, p->caller.uid))
        return says && login != STREAM_NO_LOGIN && login != p->caller.uid;
    return says || !may;
}

static void passing_user(struct passing *p)
{
    struct api *a = p->api;
    gid_t groups[GROUPS_MAX];
    const struct stream *s = http_stream(p->request);
    const uid_t uid = p->caller.uid;
    const bool looks = access_right_changes(p->want) || p->want == RIGHT_IDENTIFY;
    struct shell_process process = {uid, looks ? stream_peer_login(s) : STREAM_NO_LOGIN, groups, 0};
    caller_give_roles(&p->caller, NULL, NULL, &a->policy, a->own);
    if (!needs_names(p, process.login)) {
        if (is_well_known(a, uid))
            snprintf(p->caller.name, sizeof p->caller.name, "%s", uid == a->own ? a->own_name : a->root_name);
        passing_end(p, NULL);
        return;
    }
    if (process.login == uid)
        process.login = STREAM_NO_LOGIN;
    if (a->policy.grants && grants_want_groups(a->policy.grants, ACCESS_LOCAL))
        process.n_groups = stream_peer_groups(s, groups, GROUPS_MAX);
    a->shell.names(a->shell.arg, &process, on_names, p);
}

void gate_enter(struct api *a, struct http_request *r, const struct called *called, gate_fn *fn)
{
    const char *authorization = http_header(r, "Authorization");
    struct passing *p = mem_alloc(sizeof *p);
    *p = (struct passing){a, r, *called, route_get(called->route)->right, fn, caller_of(http_stream(r))};
    http_set_arg(r, p, on_gone);
    if (authorization) {
        passing_token(p, authorization);
    } else if (p->caller.kind == ACCESS_LOCAL) {
        passing_user(p);
    } else {
        caller_give_roles(&p->caller, NULL, NULL, &a->policy, a->own);
        passing_end(p, NULL);
    }
}
