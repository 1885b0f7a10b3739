/* SPDX-License-Identifier: Apache-2.0 */
/* For whom nodes work: who owns how much, and changes of it. */
#include "api/call.h"
#include "api/person.h"
#include "api/reach.h"
#include "api/render.h"
#include "api/slices.h"
#include "cluster/cluster.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* --- the list --------------------------------------------------------------------------------- */

/* An answer on its way. Its owners are those at the beginning; one that has no node any more by its turn is
 * left out. */
struct owning {
    struct slices slices;
    size_t n, next;
    char **names;
    struct pile pile; /* the nodes of the one that is rendered */
    size_t n_tenants; /* those that the caller may see */
    bool *sees;       /* by the order of TenantConf, for as many as there were at the beginning */
};

static void owning_fini(struct slices *s)
{
    struct owning *o = (struct owning *)s;
    for (size_t i = 0; i < o->n; i++)
        free(o->names[i]);
    free(o->names);
    free(o->sees);
    pile_fini(&o->pile);
}

/* The owner is the one that was asked for, or lies in it. */
static bool lies_in(const struct owner *o, const struct owner *in)
{
    if (*in->person)
        return strcmp(o->person, in->person) == 0 && (!*in->tenant || strcmp(o->tenant, in->tenant) == 0);
    return strcmp(o->tenant, in->tenant) == 0 && (!*in->vcluster || strcmp(o->vcluster, in->vcluster) == 0) &&
           (!*in->allocation ||
            (strcmp(o->vcluster, in->vcluster) == 0 && strcmp(o->allocation, in->allocation) == 0));
}

/* The caller is not known any more when the last part is rendered. */
static void owning_begin_tenants(struct owning *o, const struct call *call)
{
    const struct tenant *all;
    o->n_tenants = cluster_tenants(call->api->cluster, &all);
    o->sees = mem_alloc(o->n_tenants + 1);
    for (size_t i = 0; i < o->n_tenants; i++)
        o->sees[i] = access_permits(RIGHT_OWNERS, tenancy_roles(&call->caller->tenancy, all[i].name));
}

/* Those that the caller may see. in: NULL for all. */
static void owning_begin(struct owning *o, const struct call *call, const struct owner *in)
{
    size_t n;
    const struct ownership **all = cluster_owners(call->api->cluster, &n);
    o->names = mem_alloc((n + 1) * sizeof *o->names);
    for (size_t i = 0; i < n; i++)
        if ((!in || lies_in(&all[i]->owner, in)) && reach_sees(call->caller, &all[i]->owner))
            o->names[o->n++] = mem_dup(all[i]->name);
    free(all);
    owning_begin_tenants(o, call);
}

static void render_part(struct text *t, const char *key, const char *value)
{
    text_printf(t, ",\"%s\":", key);
    render_string(t, *value ? value : NULL);
}

static void render_owner(const struct ownership *o, struct text *t)
{
    text_add(t, "{\"owner\":");
    text_add_json(t, o->name);
    render_part(t, "tenant", o->owner.tenant);
    render_part(t, "vcluster", o->owner.vcluster);
    render_part(t, "allocation", o->owner.allocation);
    render_part(t, "person", o->owner.person);
    text_printf(t, ",\"count\":%zu,\"since\":", o->n);
    render_time(t, o->since);
    text_add_member(t, "by", o->by);
    text_add_member(t, "reason", o->reason);
    text_add(t, ",\"nodes\":");
}

/* Renders some more of the next owner. True when it is complete. */
static bool owning_render(struct owning *o)
{
    struct slices *s = &o->slices;
    if (s->folded == 0) {
        const struct ownership *is = cluster_owner(s->call.api->cluster, o->names[o->next]);
        if (!is)
            return true;
        pile_fini(&o->pile);
        o->pile = (struct pile){0};
        for (size_t i = 0; i < is->n; i++)
            pile_add(&o->pile, is->nodes[i]->name);
        if (s->text.s[s->text.len - 1] != '[')
            text_add_char(&s->text, ',');
        render_owner(is, &s->text);
    }
    if (!slices_fold(s, &o->pile))
        return false;
    text_add_char(&s->text, '}');
    return true;
}

static void render_limit(struct text *t, const char *key, uint32_t limit)
{
    if (limit == QUOTA_NONE)
        text_printf(t, ",\"%s\":null", key);
    else
        text_printf(t, ",\"%s\":%" PRIu32, key, limit);
}

static void render_tenants(const struct owning *o, const struct cluster *c, struct text *t)
{
    const struct tenant *all;
    const char *begin = "{\"tenant\":";
    size_t n = cluster_tenants(c, &all);
    text_add(t, "],\"tenants\":[");
    for (size_t i = 0; i < n && i < o->n_tenants; i++) {
        struct tenant_use use = cluster_tenant_use(c, all[i].name);
        if (!o->sees[i])
            continue;
        text_add(t, begin);
        begin = ",{\"tenant\":";
        text_add_json(t, all[i].name);
        text_printf(t, ",\"nodes\":%" PRIu32, use.nodes);
        render_limit(t, "nodes_max", all[i].nodes);
        text_printf(t, ",\"allocations\":%" PRIu32, use.allocations);
        render_limit(t, "allocations_max", all[i].allocations);
        text_add_char(t, '}');
    }
    text_printf(t, "],\"sensitive\":{\"nodes\":%" PRIu32, cluster_sensitive_use(c));
    render_limit(t, "nodes_max", cluster_sensitive_pool(c));
    text_add(t, "}}");
}

static bool owning_step(struct slices *s)
{
    struct owning *o = (struct owning *)s;
    if (o->next < o->n) {
        if (owning_render(o))
            o->next++;
        return true;
    }
    render_tenants(o, s->call.api->cluster, &s->text);
    return false;
}

int call_owner_list(struct call *c, struct text *t, struct err *e)
{
    const char *asked = http_query(c->request, "owner");
    struct owner in;
    int rc = asked ? owner_parse(asked, &in, e) : 0;
    if (rc < 0)
        return err_wrap(e, rc, "\"owner\"");
    struct owning *o = mem_alloc(sizeof *o);
    o->slices = (struct slices){.step = owning_step, .fini = owning_fini};
    owning_begin(o, c, asked ? &in : NULL);
    text_add(&o->slices.text, "{\"owners\":[");
    return call_slices(c, &o->slices);
}

/* --- changes ---------------------------------------------------------------------------------- */

/* The owner that was named; without one the caller, as a person. */
static int owner_meant(const struct call *c, const struct owner *asked, struct owner *out, struct err *e)
{
    *out = *asked;
    return *asked->person || *asked->tenant ? 0 : reach_self(c->caller, out, e);
}

static int owner_change(struct call *c, enum command_kind kind, struct err *e)
{
    struct ask a = {0};
    struct command cmd = {.kind = kind, .own.person = caller_person(c->caller)};
    int rc = call_ask(c, &a, e);
    if (rc == 0)
        rc = owner_meant(c, &a.owner, kind == COMMAND_OWNER_CLAIM ? &cmd.own.to : &cmd.own.from, e);
    if (rc == 0 && kind == COMMAND_OWNER_TRANSFER)
        cmd.own.to = a.new_owner;
    if (rc == 0)
        rc = reach_change(c->caller, &cmd, e);
    if (rc == 0) {
        cmd.reason = a.reason;
        rc = call_submit(c, &a.nodes, &cmd, NULL);
    }
    ask_fini(&a);
    return rc;
}

int call_owner_claim(struct call *c, struct text *t, struct err *e)
{
    return owner_change(c, COMMAND_OWNER_CLAIM, e);
}

int call_owner_release(struct call *c, struct text *t, struct err *e)
{
    return owner_change(c, COMMAND_OWNER_RELEASE, e);
}

int call_owner_transfer(struct call *c, struct text *t, struct err *e)
{
    return owner_change(c, COMMAND_OWNER_TRANSFER, e);
}
