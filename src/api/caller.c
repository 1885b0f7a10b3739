/* SPDX-License-Identifier: Apache-2.0 */
#include "api/caller.h"

#include <errno.h>
#include <stdio.h>

enum { PRIVILEGED_PORTS = 1024 };

struct caller caller_of(struct stream *s)
{
    struct caller c = {.port = stream_peer_port(s), .here = stream_peer_loopback(s)};
    pid_t pid;
    c.local = stream_peer_user(s, &c.uid, &pid);
    if (!c.local)
        c.identity = *stream_peer(s);
    return c;
}

static bool is_nobody(const struct caller *c)
{
    return !c->local && c->identity.kind == IDENTITY_NONE;
}

static bool may_change(const struct caller *c, const struct api_policy *p, uid_t own)
{
    if (c->local)
        return c->uid == 0 || c->uid == own;
    if (is_nobody(c))
        return p->privileged_port && c->here && c->port > 0 && c->port < PRIVILEGED_PORTS;
    return c->identity.kind == IDENTITY_OPERATOR && c->identity.role == ROLE_ADMIN;
}

static bool may_read(const struct caller *c, const struct api_policy *p, uid_t own)
{
    if (c->local || may_change(c, p, own))
        return true;
    if (is_nobody(c))
        return p->readers == API_READERS_ANYONE;
    return c->identity.kind == IDENTITY_OPERATOR && c->identity.role == ROLE_READER &&
           p->readers != API_READERS_NOBODY;
}

void caller_party(const struct caller *c, const char *network, const struct api_policy *p, uid_t own,
                  struct party *out)
{
    static const char *const kinds[] = {
        [IDENTITY_CONTROLLER] = "controller", [IDENTITY_NODE] = "node", [IDENTITY_OPERATOR] = "operator"};
    out->privileged = may_change(c, p, own);
    if (c->local)
        snprintf(out->name, sizeof out->name, "uid %u", (unsigned)c->uid);
    else if (is_nobody(c))
        snprintf(out->name, sizeof out->name, "%s %s", out->privileged ? "root at" : "address", network);
    else
        snprintf(out->name, sizeof out->name, "%s %s", kinds[c->identity.kind], c->identity.name);
}

static const char *need_of(enum right want, const struct api_policy *p)
{
    if (want == RIGHT_CHANGE)
        return "changing needs root on the local socket, or an operator's certificate with the role admin";
    if (p->readers == API_READERS_NOBODY)
        return "reading over HTTPS needs an operator's certificate with the role admin";
    return "reading over HTTPS needs an operator's certificate";
}

int caller_may(const struct caller *c, enum right want, const struct api_policy *p, uid_t own, struct err *e)
{
    if (want == RIGHT_CHANGE ? may_change(c, p, own) : may_read(c, p, own))
        return 0;
    const char *need = need_of(want, p);
    if (is_nobody(c))
        return err_set(e, -EPERM, "this connection identifies nobody; %s", need);
    if (c->local)
        return err_set(e, -EACCES, "uid %u may not do this; %s", (unsigned)c->uid, need);
    const char *name = c->identity.name;
    if (c->identity.kind == IDENTITY_OPERATOR)
        return err_set(e, -EACCES, "operator \"%s\" has the role %s; %s", name, role_name(c->identity.role),
                       need);
    return err_set(e, -EACCES, "the certificate of %s \"%s\" gives no right here; %s",
                   c->identity.kind == IDENTITY_NODE ? "node" : "controller", name, need);
}
