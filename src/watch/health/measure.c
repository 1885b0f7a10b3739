/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast the nodes of a class are, by the results of their benchmarks. A result is compared with recorded
 * results, so that a new leader judges like the one before. New results are written down within a minute,
 * together: as many writes as there are classes and benchmarks, however many nodes there are. What a leader
 * could not write down any more is measured again in due time.
 */
#include "base/digest.h"
#include "watch/health/health.h"
#include "watch/health/measure_inside.h"
#include "watch/view/facts.h"
#include "watch/view/view.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GATHER_S = 60 };

/* The digest of what is measured. Values of another benchmark, or with other arguments, cannot be compared.
 */
static uint64_t sum_of(const struct check *k)
{
    const char *probe = probe_row(k->probe)->name;
    uint64_t sum = digest_fnv(DIGEST_FNV_START, probe, strlen(probe) + 1);
    for (size_t i = 0; i < k->n_args; i++) {
        sum = digest_fnv(sum, k->args[i].key, strlen(k->args[i].key) + 1);
        sum = digest_fnv(sum, k->args[i].value, strlen(k->args[i].value) + 1);
    }
    return sum;
}

static char *what_of(const struct measure *one, char out[static FLOOR_WHAT_BYTES_MAX + 1])
{
    snprintf(out, FLOOR_WHAT_BYTES_MAX + 1, "%.*s %.*s", FLOOR_NAME_BYTES_MAX, one->name,
             FLOOR_NAME_BYTES_MAX, one->unit);
    return out;
}

/* --- judging ---------------------------------------------------------------------------------- */

/* The values of the other nodes that are now of m's class. */
static size_t gather_others(const struct watch *w, const struct member *m, const struct floor *f,
                            const char *what, int64_t out[static FLOOR_NODES_MAX])
{
    size_t n = 0;
    for (size_t i = 0; i < f->n; i++) {
        const struct member *other = cluster_find(w->cluster, f->nodes[i].name);
        const struct floor_value *v = floor_value(&f->nodes[i], what);
        if (v && other && other != m && other->listed && other->class == m->class)
            out[n++] = v->value;
    }
    return n;
}

static void measure_check(const struct watch *w, const struct member *m, const struct check *k,
                          const struct floor *f, const struct measure *one, struct verdict *x)
{
    enum result r = k->severity < RESULT_DEGRADED
                        ? k->severity
                        : RESULT_DEGRADED; /* numbers alone are no proof of a fatal fault */
    char what[FLOOR_WHAT_BYTES_MAX + 1];
    int64_t others[FLOOR_NODES_MAX];
    struct floor_verdict v;
    floor_judge(others, gather_others(w, m, f, what_of(one, what), others), one, &v);
    if (v.is_short && x->result < RESULT_DEGRADED)
        verdict_add(x, r, "", "", "%s %lld %s; half of %zu other nodes of its class come to %lld or %s",
                    one->name, (long long)one->value, one->unit, v.n, (long long)v.median,
                    one->less_is_better ? "less" : "more");
}

/* --- writing down ----------------------------------------------------------------------------- */

static struct measured_news *news_find(struct watch *w, const char *class, const struct check *k)
{
    for (size_t i = 0; i < w->measures->n; i++)
        if (strcmp(w->measures->news[i].class, class) == 0 &&
            strcmp(w->measures->news[i].check, k->name) == 0)
            return &w->measures->news[i];
    return NULL;
}

static void news_clear(struct measured_news *news)
{
    for (size_t i = 0; i < news->n; i++) {
        free(news->nodes[i].name);
        free(news->nodes[i].values);
    }
    free(STEAL(news->nodes));
    news->n = 0;
}

/* The entry of this check to be written down; NULL when there are too many. Values of another benchmark are
 * dropped. */
static struct measured_news *news_of(struct watch *w, struct mono now, const char *class,
                                     const struct check *k)
{
    struct measures *all = w->measures;
    struct measured_news *news = news_find(w, class, k);
    if (!all->n)
        all->from = now;
    if (!news && all->n == FLOORS_MAX)
        return NULL;
    if (!news) {
        all->news = mem_grow(all->news, (all->n + 1) * sizeof *all->news);
        news = &all->news[all->n++];
        *news = (struct measured_news){.sum = sum_of(k)};
        memcpy(news->class, class, strlen(class) + 1);
        memcpy(news->check, k->name, strlen(k->name) + 1);
    }
    if (news->sum != sum_of(k))
        news_clear(news);
    news->sum = sum_of(k);
    return news;
}

/* The entry of the node; NULL when there are too many. */
static struct floor_node *news_node(struct measured_news *news, const char *name)
{
    for (size_t i = 0; i < news->n; i++)
        if (strcmp(news->nodes[i].name, name) == 0)
            return &news->nodes[i];
    if (news->n == FLOOR_NODES_MAX)
        return NULL;
    news->nodes = mem_grow(news->nodes, (news->n + 1) * sizeof *news->nodes);
    struct floor_node *n = &news->nodes[news->n++];
    *n = (struct floor_node){.name = mem_dup(name),
                             .values = mem_alloc(FLOOR_MEASURES_MAX * sizeof *n->values)};
    return n;
}

static void measure_note(struct watch *w, struct mono now, const struct member *m, const struct check *k,
                         const struct measure *all, size_t n)
{
    struct measured_news *news = news_of(w, now, class_of(w, m)->name, k);
    struct floor_node *node = news ? news_node(news, m->name) : NULL;
    if (!node)
        return;
    assert(n <= FLOOR_MEASURES_MAX);
    node->n = 0;
    for (size_t i = 0; i < n; i++) {
        char what[FLOOR_WHAT_BYTES_MAX + 1];
        const struct floor_value *has = floor_value(node, what_of(&all[i], what));
        struct floor_value *v = &node->values[has ? (size_t)(has - node->values) : node->n++];
        memcpy(v->what, what, strlen(what) + 1);
        v->value = all[i].value;
    }
}

void measure_judge(struct watch *w, struct mono now, const struct member *m, const struct check *k,
                   struct verdict *x)
{
    struct measure all[FLOOR_MEASURES_MAX];
    if (probe_row(k->probe)->how != PROBE_BENCH || x->result < RESULT_OK)
        return;
    size_t n = measures_read(x->text, all);
    const struct floor *f = cluster_floor(w->cluster, class_of(w, m)->name, k->name);
    for (size_t i = 0; f && f->sum == sum_of(k) && i < n; i++)
        measure_check(w, m, k, f, &all[i], x);
    if (n > 0)
        measure_note(w, now, m, k, all, n);
}

/* What the shell does not take waits for the next sweep. */
void measures_end_sweep(struct watch *w)
{
    struct measures *all = w->measures;
    struct mono now = watch_awake(w, w->last_tick);
    const struct hostlist nobody = {0};
    size_t left = 0;
    if (!all->n || within(now, all->from, GATHER_S))
        return;
    for (size_t i = 0; i < all->n; i++) {
        struct measured_news *news = &all->news[i];
        const struct measured_command says = {news->class, news->check, news->sum, news->n, news->nodes};
        if (w->sink.propose(w->sink.arg,
                            &(struct command){.kind = COMMAND_MEASURED, .nodes = &nobody, .measured = says}))
            news_clear(news);
        else
            all->news[left++] = *news;
    }
    all->n = left;
}

void measures_destroy(struct watch *w)
{
    for (size_t i = 0; i < w->measures->n; i++)
        news_clear(&w->measures->news[i]);
    free(w->measures->news);
    free(STEAL(w->measures));
}
