/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the node table. */
#include "api/call.h"
#include "api/render.h"
#include "api/slices.h"
#include "api/tally.h"
#include "api/view.h"

#include <stdlib.h>

struct table {
    struct slices slices;
    struct selection fields;
    struct view view;
};

static void table_fini(struct slices *s)
{
    view_fini(&((struct table *)s)->view);
}

static void render_row(struct slices *s, const struct member *m)
{
    struct table *table = (struct table *)s;
    if (s->text.s[s->text.len - 1] != '[')
        text_add_char(&s->text, ',');
    view_set(&table->view, m);
    render_node(&table->view, &table->fields, &s->text);
}

static bool table_step(struct slices *s)
{
    ((struct table *)s)->view.now = s->call.now;
    if (slices_walk(s, render_row))
        return true;
    text_add(&s->text, "]}");
    return false;
}

int call_node_list(struct call *c, struct text *t, struct err *e)
{
    struct selection fields;
    struct slices s = {.step = table_step, .fini = table_fini};
    int rc = selection_parse(http_query(c->request, "fields"), &fields, e);
    if (rc == 0)
        rc = slices_choose(&s, c, http_query(c->request, "nodes"), e);
    if (rc < 0)
        return rc;
    text_add(&s.text, "{\"revision\":");
    text_add_u64(&s.text, c->api->shell.revision(c->api->shell.arg));
    text_add(&s.text, ",\"nodes\":[");
    struct table *table = mem_alloc(sizeof *table);
    *table = (struct table){s, fields, {.cluster = c->api->cluster, .watch = c->api->watch}};
    return call_slices(c, &table->slices);
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

/* The numbers of a partition. */
struct group {
    struct tally tally;
    struct pile names;
};

struct partitions {
    struct slices slices;
    struct view view;
    unsigned next; /* the partition to render, once all nodes were visited */
    bool any;      /* the first was rendered */
    struct group groups[PARTITION_MAX + 1];
};

static void partitions_fini(struct slices *s)
{
    struct partitions *all = (struct partitions *)s;
    view_fini(&all->view);
    for (unsigned i = 0; i <= PARTITION_MAX; i++)
        pile_fini(&all->groups[i].names);
}

static void add_to_partitions(struct slices *s, const struct member *m)
{
    struct partitions *all = (struct partitions *)s;
    view_set(&all->view, m);
    for (unsigned p = 0; m->listed && p <= PARTITION_MAX; p++) {
        if (!partition_has(&m->spec.partitions, p))
            continue;
        pile_add(&all->groups[p].names, m->name);
        tally_add(&all->groups[p].tally, &all->view);
    }
}

/* Renders some more of the next partition. True when it is complete. */
static bool render_partition(struct partitions *all, unsigned number)
{
    struct slices *s = &all->slices;
    const struct group *g = &all->groups[number];
    const struct partition *list;
    size_t n = cluster_partitions(s->call.api->cluster, &list);
    const struct partition *p = partition_numbered(list, n, number);
    if (g->tally.nodes == 0 && !p)
        return true;
    if (s->folded == 0) {
        text_printf(&s->text, "%s{\"Partition\":%u,\"Name\":", all->any ? "," : "", number);
        text_add_json(&s->text, p && p->name ? p->name : "");
        text_printf(&s->text, ",\"Default\":%s,\"Nodes\":", p && p->is_default ? "true" : "false");
    }
    if (!slices_fold(s, &g->names))
        return false;
    text_printf(&s->text, ",\"Count\":%zu,\"Schedulable\":%zu,\"States\":", g->tally.nodes,
                g->tally.schedulable);
    render_states(&g->tally, &s->text);
    text_add_char(&s->text, '}');
    all->any = true;
    return true;
}

static bool partitions_step(struct slices *s)
{
    struct partitions *all = (struct partitions *)s;
    all->view.now = s->call.now;
    if (slices_walk(s, add_to_partitions))
        return true;
    if (render_partition(all, all->next))
        all->next++;
    if (all->next <= PARTITION_MAX)
        return true;
    text_add(&s->text, "]}");
    return false;
}

int call_partition_list(struct call *c, struct text *t, struct err *e)
{
    struct partitions *all = mem_alloc(sizeof *all);
    all->view = (struct view){.cluster = c->api->cluster, .watch = c->api->watch};
    all->slices = (struct slices){.step = partitions_step, .fini = partitions_fini};
    text_add(&all->slices.text, "{\"partitions\":[");
    return call_slices(c, &all->slices);
}
