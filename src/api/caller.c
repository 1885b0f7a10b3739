/* SPDX-License-Identifier: Apache-2.0 */
#include "api/caller.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { PRIVILEGED_PORTS = 1024 };

struct caller caller_of(struct stream *s)
{
    struct caller c = {.port = stream_peer_port(s), .here = stream_peer_loopback(s)};
    pid_t pid;
    if (stream_peer_user(s, &c.uid, &pid)) {
        c.kind = ACCESS_LOCAL;
        return c;
    }
    c.identity = *stream_peer(s);
    c.kind = c.identity.kind == IDENTITY_NONE ? ACCESS_NOBODY : ACCESS_CERTIFICATE;
    if (c.kind == ACCESS_CERTIFICATE)
        snprintf(c.name, sizeof c.name, "%s", c.identity.name);
    return c;
}

void caller_take_token(struct caller *c, const struct shell_token *t)
{
    c->kind = ACCESS_TOKEN;
    c->identity = (struct identity){0};
    snprintf(c->name, sizeof c->name, "%s", t->name);
    snprintf(c->subject, sizeof c->subject, "%s", t->subject);
    c->is_person = t->is_person;
    c->until = t->until;
}

/* --- roles ------------------------------------------------------------------------------------- */

static bool is_root_of_2001(const struct caller *c, const struct api_policy *p)
{
    return p->privileged_port && c->here && c->port > 0 && c->port < PRIVILEGED_PORTS;
}

static unsigned certificate_roles(const struct identity *id, const struct api_policy *p)
{
    switch (id->kind) {
    case IDENTITY_NODE: return ROLE_BIT(ACCESS_AGENT);
    case IDENTITY_OPERATOR:
        if (id->role == ROLE_ADMIN)
            return ROLE_BIT(ACCESS_ADMINISTRATOR);
        return id->role == ROLE_READER && p->readers != API_READERS_NOBODY ? ROLE_BIT(ACCESS_VIEWER) : 0;
    case IDENTITY_CONTROLLER: return ROLE_BIT(ACCESS_CONTROLLER);
    case IDENTITY_NONE: break;
    }
    return 0;
}

/* Without a record in roles.conf. */
static unsigned usual_roles(const struct caller *c, const struct api_policy *p, uid_t own)
{
    const unsigned anybody = p->readers == API_READERS_ANYONE ? ROLE_BIT(ACCESS_VIEWER) : 0;
    switch (c->kind) {
    case ACCESS_LOCAL: return ROLE_BIT(c->uid == 0 || c->uid == own ? ACCESS_ADMINISTRATOR : ACCESS_VIEWER);
    case ACCESS_CERTIFICATE: return certificate_roles(&c->identity, p);
    case ACCESS_NOBODY: return is_root_of_2001(c, p) ? ROLE_BIT(ACCESS_ADMINISTRATOR) : anybody;
    case ACCESS_TOKEN: break;
    }
    return anybody;
}

/* Only an operator's certificate is named in roles.conf: a node may have the name of an operator. */
static bool is_grantable(const struct caller *c)
{
    return c->kind == ACCESS_LOCAL || c->kind == ACCESS_TOKEN ||
           (c->kind == ACCESS_CERTIFICATE && c->identity.kind == IDENTITY_OPERATOR);
}

void caller_give_roles(struct caller *c, const struct hostlist *groups, const struct hostlist *tenants,
                       const struct api_policy *p, uid_t own)
{
    const struct principal who = {c->kind, c->kind == ACCESS_TOKEN ? c->subject : c->name, groups, tenants};
    tenancy_fini(&c->tenancy);
    c->roles = c->tenancy.everywhere = usual_roles(c, p, own);
    if (is_grantable(c) && p->grants)
        c->roles |= grants_roles(p->grants, &who, &c->tenancy);
}

void caller_fini(struct caller *c)
{
    tenancy_fini(&c->tenancy);
}

/* --- words ------------------------------------------------------------------------------------- */

static const char *certificate_kind(const struct identity *id)
{
    static const char *const kinds[] = {
        [IDENTITY_CONTROLLER] = "controller", [IDENTITY_NODE] = "node", [IDENTITY_OPERATOR] = "operator"};
    return kinds[id->kind];
}

void caller_say(const struct caller *c, struct text *t)
{
    if (c->kind == ACCESS_TOKEN)
        text_printf(t, "%s (token %s)", c->name, c->subject);
    else if (*c->login)
        text_printf(t, "%s (as %s)", c->login, c->name);
    else
        text_add(t, c->kind == ACCESS_NOBODY ? "root" : c->name); /* of 2001; others change nothing */
}

void caller_party(const struct caller *c, const char *network, struct party *out)
{
    out->privileged = c->roles & ROLE_BIT(ACCESS_ADMINISTRATOR);
    switch (c->kind) {
    case ACCESS_LOCAL: snprintf(out->name, sizeof out->name, "uid %u", (unsigned)c->uid); break;
    case ACCESS_NOBODY:
        snprintf(out->name, sizeof out->name, "%s %s", out->privileged ? "root at" : "address", network);
        break;
    case ACCESS_CERTIFICATE:
        snprintf(out->name, sizeof out->name, "%s %s", certificate_kind(&c->identity), c->name);
        break;
    case ACCESS_TOKEN: snprintf(out->name, sizeof out->name, "subject %s", c->subject); break;
    }
}

/* "the role operator or administrator" */
static void say_needed(enum access_right want, struct text *t)
{
    text_add(t, "the role ");
    access_roles_say(access_right_roles(want), " or ", t);
}

static void say_who(const struct caller *c, struct text *t)
{
    if (c->kind == ACCESS_LOCAL)
        text_printf(t, "user \"%s\"", c->name);
    else if (c->kind == ACCESS_TOKEN)
        text_printf(t, "the subject \"%s\"", c->subject);
    else
        text_printf(t, "%s \"%s\"", certificate_kind(&c->identity), c->name);
}

int caller_may(const struct caller *c, enum access_right want, struct err *e)
{
    const bool is_known = c->kind != ACCESS_NOBODY || c->roles;
    CLEANUP_TEXT struct text needed = {0}, who = {0}, roles = {0};
    if (is_known && access_permits(want, c->roles))
        return 0;
    if (want != RIGHT_IDENTIFY)
        say_needed(want, &needed);
    if (c->kind == ACCESS_NOBODY)
        return err_set(e, -EPERM,
                       "this connection identifies nobody; show an operator's certificate or a token%s%s",
                       needed.len ? " that gives " : "", needed.len ? needed.s : "");
    say_who(c, &who);
    access_roles_say(c->roles, " and ", &roles);
    if (!c->roles)
        return err_set(e, -EACCES, "%s has no role here; this needs %s", who.s, needed.s);
    return err_set(e, -EACCES, "%s has the role %s; this needs %s", who.s, roles.s, needed.s);
}

int caller_may_for(const struct caller *c, enum access_right want, const char *tenant, struct err *e)
{
    CLEANUP_TEXT struct text needed = {0}, who = {0};
    int rc = caller_may(c, want, e);
    if (rc < 0 || access_permits(want, tenancy_roles(&c->tenancy, tenant)))
        return rc;
    say_who(c, &who);
    say_needed(want, &needed);
    if (!*tenant)
        return err_set(e, -EACCES, "%s has no role here that holds without a tenant", who.s);
    return err_set(e, -EACCES, "%s has no role for the tenant \"%s\"; this needs %s for it", who.s, tenant,
                   needed.s);
}
