/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MEASURED: new results of a benchmark go before the recorded ones. Above the limit of nodes, the oldest
 * results are dropped; above the limit of records, the oldest record.
 */
#include "cluster/decide/decide.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool is_name(const char *name, size_t max)
{
    size_t len = strlen(name);
    return len > 0 && len <= max && !strchr(name, ' ') && text_is_clean(name);
}

static int check_values(const struct floor_node *n, struct err *e)
{
    if (n->n == 0 || n->n > FLOOR_MEASURES_MAX)
        return err_set(e, -EINVAL, "%zu measures; a node has 1 to %d", n->n, FLOOR_MEASURES_MAX);
    for (size_t i = 0; i < n->n; i++) {
        const struct floor_value *v = &n->values[i];
        if (!*v->what || !text_is_clean(v->what) || v->value < 0 || v->value > FLOOR_VALUE_MAX)
            return err_set(e, -EINVAL, "\"%s\" is no measure, or its value none", v->what);
    }
    return 0;
}

static int check_measured(const struct measured_command *x, struct err *e)
{
    if (!is_name(x->class, CLASS_NAME_BYTES_MAX) || !is_name(x->check, CHECK_NAME_BYTES_MAX))
        return err_set(e, -EINVAL, "a benchmark of no class, or of no check");
    if (x->n == 0 || x->n > FLOOR_NODES_MAX)
        return err_set(e, -EINVAL, "%zu nodes; a benchmark has 1 to %d", x->n, FLOOR_NODES_MAX);
    for (size_t i = 0; i < x->n; i++)
        if (check_values(&x->nodes[i], e) < 0)
            return err_wrap(e, -EINVAL, "%s", x->nodes[i].name);
    return 0;
}

/* The command's results for nodes that the cluster knows: borrowed, as are the old ones. */
static void add_new(const struct cluster *c, const struct measured_command *x, struct floor *f)
{
    for (size_t i = 0; i < x->n; i++)
        if (cluster_find(c, x->nodes[i].name))
            f->nodes[f->n++] = x->nodes[i];
}

static bool has_node(const struct measured_command *x, const char *name)
{
    for (size_t i = 0; i < x->n; i++)
        if (strcmp(x->nodes[i].name, name) == 0)
            return true;
    return false;
}

/* The recorded results behind the new ones. */
static void add_old(const struct floor *was, const struct measured_command *x, struct floor *f)
{
    for (size_t i = 0; was && was->sum == x->sum && i < was->n && f->n < FLOOR_NODES_MAX; i++)
        if (!has_node(x, was->nodes[i].name))
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
    const struct measured_command *x = &cmd->measured;
    if (check_measured(x, e) < 0)
        return -EINVAL;
    CLEANUP_FREE struct floor_node *nodes = mem_alloc(FLOOR_NODES_MAX * sizeof *nodes);
    struct floor now = {.at = cmd->at, .sum = x->sum, .nodes = nodes};
    const struct floor *was = cluster_floor(c, x->class, x->check);
    CLEANUP_TEXT struct text key = {0};
    struct text said = {0};
    add_new(c, x, &now);
    size_t n = now.n;
    if (n == 0)
        return 0;
    add_old(was, x, &now);
    assert(now.n <= FLOOR_NODES_MAX);
    if (!was)
        make_room(c, d);
    text_printf(&key, "%s %s", x->class, x->check);
    decision_add(d, "floor/", key.s, floor_record(&now));
    text_printf(&said, "%s of class %s: the results of %zu node%s", x->check, x->class, n, n == 1 ? "" : "s");
    d->text = text_take(&said);
    return 0;
}
