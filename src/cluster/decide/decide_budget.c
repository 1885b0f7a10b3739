/* SPDX-License-Identifier: Apache-2.0 */
/* How many nodes may be out, checked where it is decided. */
#include "cluster/decide/decide.h"

#include <errno.h>

enum { WEEK_S = 7 * 86400 };

/* The nodes of the scope that are out, and the nodes of `more` that would be. A node that left the
 * configuration takes no room. */
static unsigned count_scope(const struct cluster *c, enum scope s, unsigned number, const struct named *more)
{
    unsigned n = 0;
    for (size_t i = 0; i < c->n_out; i++)
        n += c->out[i]->listed && member_in_scope(c->out[i], s, number);
    for (size_t i = 0; i < more->n; i++)
        n += !more->nodes[i]->out_place && member_in_scope(more->nodes[i], s, number);
    return n;
}

static int check_scope(const struct cluster *c, enum scope s, unsigned number, const struct named *more,
                       struct err *e)
{
    struct budget b;
    unsigned would = count_scope(c, s, number, more);
    budget_of_scope(c, s, number, c->limits.percent[s], would, &b);
    return would <= b.limit ? 0
                            : err_set(e, -EBUSY, "%u of %u nodes of %s%s would be out, and at most %u may be",
                                      would, b.nodes, s == SCOPE_CLUSTER ? "the " : "", b.scope, b.limit);
}

static int check_member(const struct cluster *c, const struct member *m, const struct named *more,
                        struct err *e)
{
    int rc = check_scope(c, SCOPE_CLASS, m->class, more, e);
    if (rc == 0 && m->spec.group)
        rc = check_scope(c, SCOPE_GROUP, m->spec.group, more, e);
    for (unsigned p = 0; rc == 0 && p <= PARTITION_MAX; p++)
        if (partition_has(&m->spec.partitions, p))
            rc = check_scope(c, SCOPE_PARTITION, p, more, e);
    return rc;
}

int decide_check_budgets(const struct cluster *c, const struct named *more, struct err *e)
{
    if (!c->limits.given)
        return 0;
    int rc = check_scope(c, SCOPE_CLUSTER, 0, more, e);
    for (size_t i = 0; rc == 0 && i < more->n; i++)
        rc = check_member(c, more->nodes[i], more, e);
    return rc;
}

int decide_check_brakes(const struct cluster *c, struct err *e)
{
    const char *stop = cluster_switch(c, "stop"), *latch = cluster_switch(c, "latch");
    if (!c->limits.given)
        return 0;
    if (stop)
        return err_set(e, -EBUSY, "everything is stopped: %s", stop);
    if (latch)
        return err_set(e, -EBUSY, "the latch is on: %s", latch);
    return c->limits.act ? 0 : err_set(e, -EBUSY, "health is only observed");
}

/* The one that makes the surge is not isolated any more. */
int decide_check_surge(const struct cluster *c, struct wall at, struct err *e)
{
    unsigned n = 1;
    for (size_t i = 0; i < c->n_isolated; i++)
        n += at.ns - c->isolated[i].ns < c->limits.surge_window.ns;
    if (!c->limits.given || !c->limits.surge || n < c->limits.surge)
        return 0;
    return err_set(e, -EBUSY, "%u nodes would be isolated in a short time", n);
}

int decide_check_week(const struct cluster *c, const struct member *m, const struct repair *r, struct wall at,
                      struct err *e)
{
    unsigned n = 0;
    for (size_t i = 0; i < r->n_attempts; i++)
        n += r->attempts[i].verdict != '0' && at.ns - r->attempts[i].at.ns < span_s(WEEK_S).ns;
    if (!c->limits.given || n < c->limits.remedies_a_week)
        return 0;
    return err_set(e, -EBUSY, "node \"%s\" had %u remedies within a week", m->name, n);
}
