/* SPDX-License-Identifier: Apache-2.0 */
/* What the gate takes the caller for. */
#include "api/call.h"

static json_t *whoami_roles(unsigned roles)
{
    json_t *list = json_array();
    for (int r = 0; r < ACCESS_ROLES; r++)
        if (roles & ROLE_BIT(r))
            json_array_append_new(list, json_string(access_role_name((enum access_role)r)));
    return list;
}

static json_t *whoami_routes(unsigned roles)
{
    json_t *list = json_array();
    for (int r = 0; r < ROUTES; r++) {
        const struct route_row *row = route_get((enum route)r);
        if (access_permits(row->right, roles))
            json_array_append_new(list, json_string(row->work));
    }
    return list;
}

/* The tenants for which the caller has a role, each with these roles. */
static json_t *whoami_tenants(const struct tenancy *t)
{
    json_t *list = json_array();
    for (size_t i = 0; i < t->n; i++)
        json_array_append_new(list, json_pack("{s:s,s:o}", "tenant", t->parts[i].tenant, "roles",
                                              whoami_roles(t->parts[i].roles)));
    return list;
}

static json_t *text_or_null(const char *s)
{
    return *s ? json_string(s) : json_null();
}

int call_whoami_show(struct call *c, struct text *t, struct err *e)
{
    static const char *const kinds[] = {[ACCESS_NOBODY] = "nobody",
                                        [ACCESS_LOCAL] = "local",
                                        [ACCESS_CERTIFICATE] = "certificate",
                                        [ACCESS_TOKEN] = "token"};
    const struct caller *who = c->caller;
    char until[32];
    CLEANUP_TEXT struct text actor = {0};
    caller_say(who, &actor);
    CLEANUP_JSON json_t *all = json_object();
    json_object_set_new(all, "kind", json_string(kinds[who->kind]));
    json_object_set_new(all, "name", text_or_null(who->name));
    json_object_set_new(all, "login", text_or_null(who->login));
    json_object_set_new(all, "subject", text_or_null(who->subject));
    json_object_set_new(all, "person", json_boolean(who->is_person));
    json_object_set_new(all, "actor", json_string(actor.s));
    json_object_set_new(all, "until",
                        who->until.ns ? json_string(wall_format(who->until, until)) : json_null());
    json_object_set_new(all, "roles", whoami_roles(who->roles));
    json_object_set_new(all, "tenants", whoami_tenants(&who->tenancy));
    json_object_set_new(all, "routes", whoami_routes(who->roles));
    CLEANUP_FREE char *text = json_write(all);
    text_add(t, text);
    return 0;
}
