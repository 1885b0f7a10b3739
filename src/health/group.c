/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A round is made of nodes that are not in it yet, in this order: groups of nodes that have not taken part;
 * runs without a result, once more; halves of groups that failed; and, for each node of a pair that failed,
 * the first known good partner with which it has not run. So a round asks for what is needed next, and the
 * rounds end when there is nothing new to ask.
 */
#include "health/group.h"
#include "base/text.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct grouping {
    size_t n, size;
    size_t n_runs, cap;
    struct run *runs;
    bool *busy; /* by node: it is in the round that is being made */
    bool *good; /* by node: it was in a run that passed */
};

struct grouping *grouping_create(size_t n, size_t size)
{
    struct grouping *g = mem_alloc(sizeof *g);
    assert(size >= 2 && size <= GROUP_SIZE_MAX);
    g->n = n;
    g->size = size;
    g->busy = mem_alloc(n + 1);
    g->good = mem_alloc(n + 1);
    return g;
}

void grouping_destroy(struct grouping *g)
{
    if (!g)
        return;
    for (size_t i = 0; i < g->n_runs; i++)
        free(g->runs[i].nodes);
    free(g->runs);
    free(g->busy);
    free(g->good);
    free(g);
}

size_t grouping_runs(const struct grouping *g)
{
    return g->n_runs;
}

const struct run *grouping_run(const struct grouping *g, size_t i)
{
    assert(i < g->n_runs);
    return &g->runs[i];
}

void grouping_set(struct grouping *g, size_t i, enum run_result result)
{
    struct run *r = &g->runs[i];
    assert(r->result == RUN_PENDING && result != RUN_PENDING);
    r->result = result;
    for (size_t k = 0; result == RUN_PASS && k < r->n; k++)
        g->good[r->nodes[k]] = true;
}

/* --- what was run ----------------------------------------------------------------------------- */

static bool same_nodes(const struct run *r, const uint32_t *nodes, size_t n)
{
    return r->n == n && memcmp(r->nodes, nodes, n * sizeof *nodes) == 0;
}

static size_t times_run(const struct grouping *g, const uint32_t *nodes, size_t n)
{
    size_t times = 0;
    for (size_t i = 0; i < g->n_runs; i++)
        times += same_nodes(&g->runs[i], nodes, n);
    return times;
}

static bool came_to(const struct grouping *g, const uint32_t *nodes, size_t n, enum run_result result)
{
    for (size_t i = 0; i < g->n_runs; i++)
        if (g->runs[i].result == result && same_nodes(&g->runs[i], nodes, n))
            return true;
    return false;
}

static bool group_has(const struct run *r, uint32_t node)
{
    for (size_t k = 0; k < r->n; k++)
        if (r->nodes[k] == node)
            return true;
    return false;
}

static bool took_part(const struct grouping *g, uint32_t node)
{
    for (size_t i = 0; i < g->n_runs; i++)
        if (group_has(&g->runs[i], node))
            return true;
    return false;
}

static uint32_t group_partner(const struct run *pair, uint32_t node)
{
    return pair->nodes[0] == node ? pair->nodes[1] : pair->nodes[0];
}

/* How many partners failed with this node but passed with others. */
static size_t group_witnesses(const struct grouping *g, uint32_t node)
{
    size_t n = 0;
    for (size_t i = 0; i < g->n_runs; i++) {
        const struct run *r = &g->runs[i];
        bool again = came_to(g, r->nodes, r->n, RUN_FAIL) && times_run(g, r->nodes, r->n) > 1;
        if (r->n == 2 && r->result == RUN_FAIL && group_has(r, node) && g->good[group_partner(r, node)])
            n += !again || !came_to(g, r->nodes, r->n, RUN_PASS);
    }
    return n;
}

/* --- the next round --------------------------------------------------------------------------- */

static bool is_free(const struct grouping *g, const uint32_t *nodes, size_t n)
{
    for (size_t k = 0; k < n; k++)
        if (g->busy[nodes[k]])
            return false;
    return true;
}

static void add_run(struct grouping *g, const uint32_t *nodes, size_t n)
{
    uint32_t *own = mem_alloc(n * sizeof *own);
    memcpy(own, nodes, n * sizeof *own);
    for (size_t k = 0; k < n; k++)
        g->busy[nodes[k]] = true;
    if (g->n_runs == g->cap) {
        g->cap = g->cap ? 2 * g->cap : 16;
        g->runs = mem_grow(g->runs, g->cap * sizeof *g->runs);
    }
    g->runs[g->n_runs++] = (struct run){.n = n, .nodes = own};
}

/* Adds the nodes that have not taken part, the first ones first. Fewer nodes than a whole group still run
 * together; a single node runs with the first good one. */
static void add_untried(struct grouping *g)
{
    CLEANUP_FREE uint32_t *nodes = mem_alloc((g->size + 1) * sizeof *nodes);
    size_t n = 0;
    for (uint32_t i = 0; i < g->n; i++) {
        if (took_part(g, i))
            continue;
        nodes[n++] = i;
        if (n < g->size)
            continue;
        add_run(g, nodes, n);
        n = 0;
    }
    if (n > 1)
        add_run(g, nodes, n);
    for (uint32_t i = 0; n == 1 && i < g->n; i++) {
        if (!g->good[i] || g->busy[i])
            continue;
        const uint32_t pair[2] = {i < nodes[0] ? i : nodes[0], i < nodes[0] ? nodes[0] : i};
        add_run(g, pair, 2);
        n = 0;
    }
}

static void add_again(struct grouping *g, size_t n_runs)
{
    for (size_t i = 0; i < n_runs; i++) {
        const struct run r = g->runs[i];
        if (r.result == RUN_UNKNOWN && times_run(g, r.nodes, r.n) == 1 && is_free(g, r.nodes, r.n))
            add_run(g, r.nodes, r.n);
    }
}

/* The halves of a group. The middle one of three nodes is in both, so that no node runs alone. */
static void group_halves(const struct run *r, const uint32_t *half[2], size_t *n)
{
    *n = (r->n + 1) / 2;
    half[0] = r->nodes;
    half[1] = r->nodes + r->n - *n;
}

static void add_halves(struct grouping *g, size_t n_runs)
{
    for (size_t i = 0; i < n_runs; i++) {
        const struct run r = g->runs[i];
        const uint32_t *half[2];
        size_t n;
        if (r.result != RUN_FAIL || r.n <= 2)
            continue;
        group_halves(&r, half, &n);
        for (size_t h = 0; h < 2; h++)
            if (times_run(g, half[h], n) == 0 && is_free(g, half[h], n))
                add_run(g, half[h], n);
    }
}

static bool add_with_good(struct grouping *g, uint32_t node)
{
    for (uint32_t i = 0; i < g->n; i++) {
        const uint32_t pair[2] = {i < node ? i : node, i < node ? node : i};
        if (i == node || !g->good[i] || g->busy[i] || g->busy[node] || times_run(g, pair, 2) > 0)
            continue;
        add_run(g, pair, 2);
        return true;
    }
    return false;
}

/* Whether the node needs partners: it failed in a pair, or its pair had no result. */
static bool is_in_doubt(const struct grouping *g, uint32_t node)
{
    if (g->good[node] || group_witnesses(g, node) >= GROUP_WITNESSES)
        return false;
    for (size_t i = 0; i < g->n_runs; i++)
        if (g->runs[i].n == 2 && g->runs[i].result == RUN_FAIL && group_has(&g->runs[i], node))
            return true;
    return false;
}

size_t grouping_next(struct grouping *g)
{
    size_t before = g->n_runs;
    for (size_t i = 0; i < before; i++)
        if (g->runs[i].result == RUN_PENDING)
            return 0;
    memset(g->busy, 0, g->n);
    add_again(g, before);
    add_halves(g, before);
    add_untried(g);
    for (uint32_t i = 0; i < g->n; i++)
        if (is_in_doubt(g, i))
            add_with_good(g, i);
    return g->n_runs - before;
}

/* --- what it comes to ------------------------------------------------------------------------- */

enum node_verdict grouping_verdict(const struct grouping *g, uint32_t node)
{
    if (g->good[node])
        return NODE_GOOD;
    if (group_witnesses(g, node) >= GROUP_WITNESSES)
        return NODE_BAD;
    for (size_t i = 0; i < g->n_runs; i++)
        if (g->runs[i].result == RUN_FAIL && group_has(&g->runs[i], node))
            return NODE_SUSPECT;
    return NODE_UNTRIED;
}

bool grouping_shared(const struct grouping *g, size_t i)
{
    assert(i < g->n_runs);
    const struct run *r = &g->runs[i];
    const uint32_t *half[2];
    size_t n;
    if (r->result != RUN_FAIL || came_to(g, r->nodes, r->n, RUN_PASS))
        return false;
    for (size_t k = 0; k < r->n; k++)
        if (!g->good[r->nodes[k]])
            return false;
    if (r->n == 2)
        return true;
    group_halves(r, half, &n);
    return came_to(g, half[0], n, RUN_PASS) && came_to(g, half[1], n, RUN_PASS);
}
