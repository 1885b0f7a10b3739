/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forgets a node that no file names: every record with its name goes. Its certificates stay, because they
 * belong to the holder of the key; `cert revoke` ends them. The record node/NAME is deleted last, also when
 * it does not exist: with it the node leaves every list (cluster_let_go).
 */
#include "cluster/decide/decide.h"

#include "product/product.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    RECORDS_A_NODE = 18
}; /* beside its claims: the records below, node/NAME, and an effect of each kind */

static bool has_edit(const struct member *m)
{
    return m->edit;
}

static bool has_bmc(const struct member *m)
{
    return m->bmc;
}

static bool has_seen(const struct member *m)
{
    return m->seen;
}

static bool has_machine(const struct member *m)
{
    return member_machine(m);
}

static bool has_maintenance(const struct member *m)
{
    return member_maintenance(m);
}

static bool has_window(const struct member *m)
{
    return member_window(m);
}

static bool has_drift(const struct member *m)
{
    return member_drift(m);
}

static bool has_flaps(const struct member *m)
{
    return m->past && m->past->flaps;
}

static bool has_ailment(const struct member *m)
{
    return member_ailment(m);
}

static bool has_repair(const struct member *m)
{
    return member_repairs(m) || member_treated(m);
}

static bool has_override(const struct member *m)
{
    return member_override(m);
}

static bool has_trial(const struct member *m)
{
    return member_trial(m);
}

static const struct {
    const char *prefix;
    bool (*has)(const struct member *m);
} records[] = {{"edit/", has_edit},
               {"bmc/", has_bmc},
               {"seen/", has_seen},
               {"machine/", has_machine},
               {"maintenance/", has_maintenance},
               {"window/", has_window},
               {"drift/", has_drift},
               {"flap/", has_flaps},
               {"health/", has_ailment},
               {"repair/", has_repair},
               {"override/", has_override},
               {"trial/", has_trial}};

static int decide_forget_check(const struct cluster *c, const struct member *m, bool force, struct err *e)
{
    const struct ailment *a = member_ailment(m);
    const char *scheduler = product_record(PRODUCT_HOLD)->product;
    if (m->listed)
        return err_set(
            e, -EBUSY,
            "node \"%s\" is in a configuration file; take it out of there and reload, and then forget it",
            m->name);
    if (operation_begun(c, m) || power_stands(c, m))
        return err_set(e, -EBUSY, "an operation on node \"%s\" is under way", m->name);
    if (m->owner)
        return err_set(e, -EBUSY, "node \"%s\" is owned by %s", m->name, m->owner->name);
    if (member_held_by(m, CLAIM_WIPE))
        return err_set(e, -EBUSY, "node \"%s\" was released by a person, and nobody approved it since",
                       m->name);
    if (force)
        return 0;
    if (m->n_claims)
        return err_set(e, -EBUSY, "%zu claims rest on node \"%s\"; with force they are forgotten, too",
                       m->n_claims, m->name);
    if (a && a->n_open)
        return err_set(e, -EBUSY, "%zu incidents of node \"%s\" are open; with force they are forgotten, too",
                       a->n_open, m->name);
    if (m->held_outside)
        return err_set(
            e, -EBUSY,
            "%s holds node \"%s\" by a reason of Fettle's; with force that is forgotten, and stays in %s",
            scheduler, m->name, scheduler);
    return 0;
}

static void forget_effects(const struct cluster *c, const struct member *m, struct decision *d)
{
    struct effect *f, *next;
    HASH_ITER (hh, c->effects, f, next) {
        const char *node = effect_node(f->key);
        if (node && strcmp(node, m->name) == 0)
            decision_add(d, "", f->key, NULL);
    }
}

static void forget_node(const struct cluster *c, const struct member *m, struct decision *d)
{
    for (size_t i = 0; i < sizeof records / sizeof records[0]; i++)
        if (records[i].has(m))
            decision_add(d, records[i].prefix, m->name, NULL);
    forget_effects(c, m, d);
    decision_add(d, "node/", m->name, NULL);
    hostlist_add(&d->changed, m->name);
}

int decide_forget(const struct cluster *c, const struct command *cmd, size_t from, struct decision *d,
                  struct err *e)
{
    struct named named;
    int rc = decide_find_named(c, cmd, from, false, &named, e);
    CLEANUP_FREE struct member **nodes = named.nodes;
    CLEANUP_FREE bool *marked = mem_alloc(c->n + 1);
    struct selection claims = {.nodes = marked};
    for (size_t i = 0; rc == 0 && i < named.n; i++)
        rc = decide_forget_check(c, named.nodes[i], cmd->forget.force, e);
    if (rc < 0)
        return rc;
    size_t n = 0, ops = 0;
    for (; n < named.n; n++) {
        const struct member *m = named.nodes[n];
        ops += m->n_claims + RECORDS_A_NODE;
        if (n > 0 && ops > OPS_MAX)
            break;
        for (size_t k = 0; k < m->n_claims; k++)
            selection_add(&claims, m->claims[k].claim);
        marked[m->id] = true;
    }
    selection_release(&claims, d);
    for (size_t i = 0; i < n; i++)
        forget_node(c, named.nodes[i], d);
    d->next = from + n;
    d->text = mem_dup("forgotten: no configuration file names it");
    return 0;
}
