/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MEASURED: what nodes came to in a benchmark goes before what is recorded of it. Of too many nodes those
 * that were measured longest ago are forgotten, and so is one of too many records.
 */
#include "cluster/decide.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct measured {
    const char *class, *check;
    uint64_t sum;
    const json_t *nodes; /* by their names */
};

static int read_measured(const json_t *set, struct measured *out, struct err *e)
{
    static const char *const keys[] = {"class", "check", "sum", "nodes"};
    if (json_only_keys(set, keys, 4, e) < 0 ||
        record_clause(set, "class", CLASS_NAME_BYTES_MAX, &out->class, e) < 0 ||
        record_clause(set, "check", CHECK_NAME_BYTES_MAX, &out->check, e) < 0 ||
        record_hex(set, "sum", &out->sum, e) < 0)
        return -EINVAL;
    if (!*out->class || !*out->check || strchr(out->class, ' ') || strchr(out->check, ' '))
        return err_set(e, -EINVAL, "a benchmark of no class, or of no check");
    out->nodes = json_object_get(set, "nodes");
    if (json_object_size(out->nodes) == 0 || json_object_size(out->nodes) > FLOOR_NODES_MAX)
        return err_set(e, -EINVAL, "\"nodes\" is no object of 1 to %d", FLOOR_NODES_MAX);
    return 0;
}

/* Those of the command, as far as the cluster knows them. */
static int add_new(const struct cluster *c, const struct measured *x, struct floor *f, struct err *e)
{
    const char *name;
    json_t *values;
    json_object_foreach ((json_t *)(uintptr_t)x->nodes, name, values) {
        if (!cluster_find(c, name))
            continue;
        struct floor_node *n = &f->nodes[f->n++];
        n->name = mem_dup(name);
        if (floor_values_read(values, n, e) < 0)
            return err_wrap(e, -EINVAL, "%s", name);
    }
    return 0;
}

/* Those that are recorded behind them: borrowed. */
static void add_old(const struct floor *was, const struct measured *x, struct floor *f)
{
    for (size_t i = 0; was && was->sum == x->sum && i < was->n && f->n < FLOOR_NODES_MAX; i++)
        if (!json_object_get(x->nodes, was->nodes[i].name))
            f->nodes[f->n++] = was->nodes[i];
}

/* The one that was measured longest ago goes for one that is new. */
static void make_room(const struct cluster *c, struct decision *d)
{
    const struct floor *oldest = NULL;
    for (const struct floor_slot *s = c->floors; s; s = s->hh.next)
        if (!oldest || s->f.at.ns < oldest->at.ns ||
            (s->f.at.ns == oldest->at.ns && strcmp(s->f.key, oldest->key) < 0))
            oldest = &s->f;
    if (HASH_COUNT(c->floors) >= FLOORS_MAX)
        decision_add(d, "floor/", oldest->key, NULL);
}

int decide_measured(const struct cluster *c, const struct command *cmd, struct decision *d, struct err *e)
{
    CLEANUP_JSON json_t *set = cmd->set ? record_object(cmd->set, e) : NULL;
    struct measured x = {0};
    if (!set || read_measured(set, &x, e) < 0)
        return -EINVAL;
    CLEANUP_FREE struct floor_node *nodes = mem_alloc(FLOOR_NODES_MAX * sizeof *nodes);
    struct floor now = {.at = cmd->at, .sum = x.sum, .nodes = nodes};
    const struct floor *was = cluster_floor(c, x.class, x.check);
    struct text key = {0}, said = {0};
    int rc = add_new(c, &x, &now, e);
    size_t n = now.n;
    if (rc == 0 && n > 0) {
        add_old(was, &x, &now);
        if (!was)
            make_room(c, d);
        text_printf(&key, "%s %s", x.class, x.check);
        decision_add(d, "floor/", key.s, floor_record(&now));
        text_printf(&said, "%s of class %s: what %zu node%s came to", x.check, x.class, n, n == 1 ? "" : "s");
        d->text = text_take(&said);
    }
    for (size_t i = 0; i < n; i++)
        floor_node_fini(&nodes[i]);
    text_fini(&key);
    return rc;
}
