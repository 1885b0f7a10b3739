/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the node table. */
#include "api/call.h"
#include "api/render.h"

#include <errno.h>
#include <stdlib.h>

enum { MISSING_NAMED_MAX = 3, LIST_SPARE = 64, NODES_A_SLICE = 1000 };

int members_find(const struct cluster *c, const struct hostlist *list, struct member ***out, struct err *e)
{
    CLEANUP_FREE struct member **found = mem_alloc((list->n + 1) * sizeof *found);
    CLEANUP_TEXT struct text names = {0};
    size_t missing = 0;
    for (size_t i = 0; i < list->n; i++) {
        found[i] = cluster_find(c, list->names[i]);
        if (!found[i] && missing++ < MISSING_NAMED_MAX)
            text_printf(&names, "%s\"%.100s\"", names.len ? ", " : "", list->names[i]);
    }
    if (missing > MISSING_NAMED_MAX)
        return err_set(e, -ENOENT, "no node %s and %zu more", names.s, missing - MISSING_NAMED_MAX);
    if (missing)
        return err_set(e, -ENOENT, "no node %s", names.s);
    *out = STEAL(found);
    return 0;
}

int call_ask_members(struct call *c, struct ask *a, struct member ***members, struct err *e)
{
    int rc = call_ask(c, a, e);
    return rc == 0 ? members_find(c->api->cluster, &a->nodes, members, e) : rc;
}

int member_get(const struct cluster *c, const char *name, struct member **out, struct err *e)
{
    *out = cluster_find(c, name);
    return *out ? 0 : err_set(e, -ENOENT, "no node \"%.100s\"", name);
}

int members_mark(const struct cluster *c, const char *list, uint8_t *wanted, struct err *e)
{
    CLEANUP_HOSTLIST struct hostlist names = {0};
    size_t hosts_max = 2 * cluster_count(c) + LIST_SPARE;
    int rc = hostlist_parse_max(list, hosts_max, &names, e);
    if (rc < 0)
        return err_wrap(e, rc, "\"nodes\"");
    if (names.n == 0)
        return err_set(e, -EINVAL, "\"nodes\" names no node");
    CLEANUP_FREE struct member **members = NULL;
    rc = members_find(c, &names, &members, e);
    for (size_t i = 0; rc == 0 && i < names.n; i++)
        wanted[members[i]->id] = 1;
    return rc;
}

/* The table, on its way: thousands of nodes take tens of milliseconds, so that it is made in slices. Which
 * nodes are in it, and the revision, is as it was at the beginning; each node is as it is when its slice is
 * made. */
struct table {
    struct http_request *request;
    struct api *api;
    struct selection fields;
    struct member **members;
    size_t n, at;
    struct text text;
};

static void table_destroy(struct table *table)
{
    text_fini(&table->text);
    free(table->members);
    free(table);
}

static void on_gone(void *arg)
{
    table_destroy(arg);
}

static void gather_table(struct table *table, const uint8_t *wanted)
{
    const struct cluster *cluster = table->api->cluster;
    size_t n = cluster_count(cluster);
    table->members = mem_alloc((n + 1) * sizeof(struct member *));
    for (size_t i = 0; i < n; i++) {
        struct member *m = cluster_at(cluster, i);
        if (!wanted || wanted[m->id])
            table->members[table->n++] = m;
    }
}

static void render_slice(struct table *table)
{
    struct view v = {.cluster = table->api->cluster, .watch = table->api->watch, .now = mono_now()};
    for (int i = 0; i < NODES_A_SLICE && table->at < table->n; i++, table->at++) {
        if (table->at)
            text_add_char(&table->text, ',');
        view_set(&v, table->members[table->at]);
        render_node(&v, &table->fields, &table->text);
    }
    view_fini(&v);
}

static void on_slice(void *arg)
{
    struct table *table = arg;
    render_slice(table);
    if (table->at < table->n) {
        http_again(table->request, on_slice);
        return;
    }
    text_add(&table->text, "]}");
    call_answer(table->request, &table->text);
    table_destroy(table);
}

int call_node_list(struct call *c, struct text *t, struct err *e)
{
    struct selection fields;
    int rc = selection_parse(http_query(c->request, "fields"), &fields, e);
    if (rc < 0)
        return rc;
    const char *nodes = http_query(c->request, "nodes");
    CLEANUP_FREE uint8_t *wanted = nodes ? mem_alloc(cluster_count(c->api->cluster)) : NULL;
    if (nodes)
        rc = members_mark(c->api->cluster, nodes, wanted, e);
    if (rc < 0)
        return rc;
    struct table *table = mem_alloc(sizeof *table);
    *table = (struct table){.request = c->request, .api = c->api, .fields = fields};
    text_add(&table->text, "{\"revision\":");
    text_add_u64(&table->text, c->api->shell.revision(c->api->shell.arg));
    text_add(&table->text, ",\"nodes\":[");
    gather_table(table, wanted);
    http_set_arg(c->request, table, on_gone);
    on_slice(table);
    return CALL_LATER;
}

int call_node_show(struct call *c, struct text *t, struct err *e)
{
    struct member *m;
    int rc = member_get(c->api->cluster, c->parameter, &m, e);
    if (rc < 0)
        return rc;
    struct selection fields;
    selection_parse(NULL, &fields, NULL);
    struct view v = {.cluster = c->api->cluster, .watch = c->api->watch, .now = c->now};
    view_set(&v, m);
    text_add(t, "{\"node\":");
    render_node(&v, &fields, t);
    text_add(t, ",\"specification\":");
    render_specification(&m->spec, t);
    text_add(t, ",\"edited\":");
    text_add(t, m->edit ? m->edit : "{}");
    text_add(t, ",\"inventory\":");
    const char *inventory = watch_report(v.watch, m)->json;
    text_add(t, inventory ? inventory : "null");
    text_add(t, ",\"inventory_at\":");
    render_inventory_at(&v, t);
    text_add(t, ",\"claims\":");
    render_claims(&m, 1, t);
    text_add_char(t, '}');
    view_fini(&v);
    return 0;
}

/* What a partition comes to. */
struct group {
    struct tally tally;
    const char **names;
    size_t cap;
};

static void group_add(struct group *g, struct view *v)
{
    if (g->tally.nodes == g->cap) {
        g->cap = g->cap ? g->cap * 2 : 64;
        g->names = mem_grow(g->names, g->cap * sizeof *g->names);
    }
    g->names[g->tally.nodes] = v->member->name;
    tally_add(&g->tally, v);
}

static void collect_groups(struct call *c, struct group *groups)
{
    struct view v = {.cluster = c->api->cluster, .watch = c->api->watch, .now = c->now};
    for (size_t i = 0; i < cluster_count(c->api->cluster); i++) {
        const struct member *m = cluster_at(c->api->cluster, i);
        view_set(&v, m);
        for (unsigned p = 0; m->listed && p <= PARTITION_MAX; p++)
            if (partition_has(&m->spec.partitions, p))
                group_add(&groups[p], &v);
    }
    view_fini(&v);
}

static const struct partition *find_partition(const struct cluster *c, unsigned number)
{
    const struct partition *all;
    size_t n = cluster_partitions(c, &all);
    for (size_t i = 0; i < n; i++)
        if (all[i].number == number)
            return &all[i];
    return NULL;
}

static void render_partition(unsigned number, const struct partition *p, const struct group *g,
                             struct text *t)
{
    CLEANUP_FREE char *nodes = hostlist_fold(g->names, g->tally.nodes);
    text_printf(t, "{\"Partition\":%u,\"Name\":", number);
    text_add_json(t, p && p->name ? p->name : "");
    text_printf(t, ",\"Default\":%s,\"Nodes\":", p && p->is_default ? "true" : "false");
    text_add_json(t, nodes);
    text_printf(t, ",\"Count\":%zu,\"Schedulable\":%zu,\"States\":", g->tally.nodes, g->tally.schedulable);
    render_states(&g->tally, t);
    text_add_char(t, '}');
}

int call_partition_list(struct call *c, struct text *t, struct err *e)
{
    CLEANUP_FREE struct group *groups = mem_alloc((PARTITION_MAX + 1) * sizeof *groups);
    collect_groups(c, groups);
    text_add(t, "{\"partitions\":[");
    bool any = false;
    for (unsigned i = 0; i <= PARTITION_MAX; i++) {
        const struct partition *p = find_partition(c->api->cluster, i);
        if (groups[i].tally.nodes == 0 && !p)
            continue;
        if (any)
            text_add_char(t, ',');
        any = true;
        render_partition(i, p, &groups[i], t);
        free(groups[i].names);
    }
    text_add(t, "]}");
    return 0;
}
