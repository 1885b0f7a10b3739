/* SPDX-License-Identifier: Apache-2.0 */
/* Each question is one row of right.tbl, and the tenant of the owner that is named. */
#include "api/reach.h"

#include "api/person.h"

#include <errno.h>
#include <string.h>

static bool is_self(const struct caller *c, const struct owner *o)
{
    const char *person = caller_person(c);
    return person && strcmp(person, o->person) == 0;
}

static enum access_right right_about(const struct caller *c, const struct owner *o)
{
    if (!*o->person)
        return RIGHT_OWN_TENANT;
    return is_self(c, o) ? RIGHT_OWN_SELF : RIGHT_OWN_OTHER;
}

/* A claimant is answerable by name: an account of this machine or a certificate does not prove that a person
 * signed in. */
static int check_claimant(const struct caller *c, struct err *e)
{
    if (c->is_person || access_permits(RIGHT_OWN_SELF, c->roles & ~ROLE_BIT(ACCESS_CLAIMANT)))
        return 0;
    return err_set(e, -EACCES, "a claimant shows a token that proves that a person signed in");
}

int reach_check(const struct caller *c, const struct owner *o, struct err *e)
{
    const enum access_right want = right_about(c, o);
    int rc = caller_may_for(c, want, o->tenant, e);
    return rc == 0 && want == RIGHT_OWN_SELF ? check_claimant(c, e) : rc;
}

int reach_change(const struct caller *c, const struct command *cmd, struct err *e)
{
    int rc = cmd->kind == COMMAND_OWNER_CLAIM ? 0 : reach_check(c, &cmd->own.from, e);
    return rc == 0 && cmd->kind != COMMAND_OWNER_RELEASE ? reach_check(c, &cmd->own.to, e) : rc;
}

bool reach_sees(const struct caller *c, const struct owner *o)
{
    return is_self(c, o) || access_permits(RIGHT_OWNERS, tenancy_roles(&c->tenancy, o->tenant));
}

int reach_self(const struct caller *c, struct owner *out, struct err *e)
{
    const char *person = caller_person(c);
    const char *tenant = tenancy_only(&c->tenancy, access_right_roles(RIGHT_OWN_SELF));
    bool is_bound = !access_permits(RIGHT_OWN_SELF, c->tenancy.everywhere);
    CLEANUP_TEXT struct text name = {0}, actor = {0};
    caller_say(c, &actor);
    if (!person)
        return err_set(e, -EACCES, "\"%s\" is no person; name the owner of the nodes", actor.s);
    if (is_bound && !tenant && access_permits(RIGHT_OWN_SELF, c->roles))
        return err_set(e, -EINVAL, "for which tenant? name the owner: TENANT@%s", person);
    text_printf(&name, "%s@%s", is_bound && tenant ? tenant : "", person);
    return owner_parse(name.s, out, e);
}
