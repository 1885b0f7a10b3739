/* SPDX-License-Identifier: Apache-2.0 */
/*
 * owner/NAME: the nodes of one owner.
 *
 * A transfer rewrites two records in one commit, and they may come in any order. A node belongs to the record
 * that was put last and names it; a record that is put later without the node takes nothing away that another
 * record has given.
 */
#include "cluster/record/record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { OWNER_KEYS = 4 };

/* --- what tenants use ------------------------------------------------------------------------- */

/* Counts the nodes of an owner, and its allocation, for its tenant; by UINT32_MAX: takes them back. */
static void use_count(struct cluster *c, const struct ownership *o, uint32_t by)
{
    const char *quota = owner_quota(&o->owner);
    struct tenant_slot *s;
    HASH_FIND_STR(c->tenant_uses, quota, s);
    if (!s) {
        s = mem_alloc(sizeof *s);
        memcpy(s->name, quota, strlen(quota) + 1);
        HASH_ADD_STR(c->tenant_uses, name, s);
    }
    s->use.nodes += by * (uint32_t)o->n;
    s->use.allocations += *o->owner.allocation ? by : 0;
    if (s->use.nodes == 0) {
        HASH_DEL(c->tenant_uses, s);
        free(s);
    }
}

/* --- records ---------------------------------------------------------------------------------- */

char *owner_record(const char *by, struct wall since, const char *reason, struct member *const *nodes,
                   size_t n)
{
    CLEANUP_FREE char *folded = members_fold(nodes, n);
    struct text t = {0};
    text_add(&t, "{\"by\":");
    text_add_json(&t, by);
    text_printf(&t, ",\"since\":\"%lld\",\"reason\":", (long long)since.ns);
    text_add_json(&t, reason);
    text_add(&t, ",\"nodes\":");
    text_add_json(&t, folded);
    text_add_char(&t, '}');
    return text_take(&t);
}

static void owner_drop(struct cluster *c, struct owner_slot *s)
{
    use_count(c, &s->o, UINT32_MAX);
    c->sum -= s->sum;
    for (size_t i = 0; i < s->o.n; i++)
        if (s->o.nodes[i]->owner == &s->o)
            s->o.nodes[i]->owner = NULL;
    HASH_DEL(c->owners, s);
    free(s->o.name);
    free(s->o.by);
    free(s->o.reason);
    free(s->o.nodes);
    free(s);
}

static int owner_nodes(const json_t *o, struct hostlist *out, struct err *e)
{
    const char *nodes;
    if (json_take_string(o, "nodes", &nodes, e) < 0 || hostlist_parse(nodes, out, e) < 0)
        return -EILSEQ;
    if (out->n == 0)
        return err_set(e, -EILSEQ, "an owner of no node");
    for (size_t i = 0; i < out->n; i++)
        if (record_name_check(out->names[i], e) < 0)
            return -EILSEQ;
    return 0;
}

/* What a record says. */
struct owner_text {
    struct owner owner;
    const char *by, *reason;
    uint64_t since;
    struct hostlist nodes;
};

static int owner_read(const json_t *o, struct owner_text *t, struct err *e)
{
    static const char *const keys[OWNER_KEYS] = {"by", "since", "reason", "nodes"};
    if (json_only_keys(o, keys, OWNER_KEYS, e) < 0 ||
        json_take_clause(o, "by", REASON_BYTES_MAX, &t->by, e) < 0 ||
        json_take_clause(o, "reason", REASON_BYTES_MAX, &t->reason, e) < 0 ||
        record_time(o, "since", &t->since, e) < 0)
        return -EILSEQ;
    return owner_nodes(o, &t->nodes, e);
}

static void owner_add(struct cluster *c, const char *name, const char *value, const struct owner_text *t)
{
    CLEANUP_TEXT struct text key = {0};
    struct owner_slot *s = mem_alloc(sizeof *s);
    text_printf(&key, "owner/%s", name);
    s->o = (struct ownership){.owner = t->owner,
                              .name = mem_dup(name),
                              .by = mem_dup(t->by),
                              .reason = mem_dup(t->reason),
                              .since = {(int64_t)t->since},
                              .n = t->nodes.n,
                              .nodes = members_meet(c, &t->nodes)};
    for (size_t i = 0; i < s->o.n; i++)
        s->o.nodes[i]->owner = &s->o;
    s->sum = record_sum(key.s, value);
    HASH_ADD_KEYPTR(hh, c->owners, s->o.name, strlen(s->o.name), s);
    use_count(c, &s->o, 1);
    c->sum += s->sum;
}

int put_owner(struct cluster *c, const char *name, const char *value, struct err *e)
{
    struct owner_text t = {0};
    struct owner_slot *before;
    CLEANUP_JSON json_t *o = value ? record_object(value, e) : NULL;
    int rc = owner_parse(name, &t.owner, e) < 0 || (value && !o) ? -EILSEQ : 0;
    if (rc == 0 && o)
        rc = owner_read(o, &t, e);
    if (rc == 0) {
        HASH_FIND_STR(c->owners, name, before);
        if (before)
            owner_drop(c, before);
        if (o)
            owner_add(c, name, value, &t);
    }
    hostlist_fini(&t.nodes);
    return rc;
}

void owners_forget(struct cluster *c)
{
    struct owner_slot *s, *next;
    HASH_ITER (hh, c->owners, s, next)
        owner_drop(c, s);
}
