/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What Slurm has to be told, and asked, so that a job stays within one cohort: the cohort of each node
 * as a feature, and a constraint of such features.
 */
#include "api/call.h"
#include "api/render.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

/* Slurm takes nodes of a lower weight first: a proven node before one of which nobody knows, and that
 * before one that is proven to be something else. */
enum { WEIGHT_CONFORMANT = 1, WEIGHT_UNPROVEN = 500, WEIGHT_DRIFTED = 1000 };

enum { CONSTRAINT_COHORTS_MAX = 64 };

static const struct {
    const char *feature;
    unsigned weight;
} words[] = {
    [CONFORMANCE_UNKNOWN] = {"unproven", WEIGHT_UNPROVEN},
    [CONFORMANCE_CONFORMANT] = {"conformant", WEIGHT_CONFORMANT},
    [CONFORMANCE_DRIFTED] = {"drifted", WEIGHT_DRIFTED},
};

/* --- features -------------------------------------------------------------------------------- */

struct featured {
    uint32_t cohort; /* number */
    enum conformance conformance;
    size_t order; /* in the node table */
};

struct run {
    size_t from, n; /* nodes with the same features */
};

static int by_features(const void *a, const void *b)
{
    const struct featured *x = a, *y = b;
    if (x->cohort != y->cohort)
        return x->cohort < y->cohort ? -1 : 1;
    if (x->conformance != y->conformance)
        return x->conformance < y->conformance ? -1 : 1;
    return x->order < y->order ? -1 : 1;
}

/* Unlisted nodes are none of Slurm's, unless somebody names them. */
static size_t gather(struct call *c, const uint8_t *wanted, struct featured *out)
{
    const struct cohorts *cohorts = watch_cohorts(c->api->watch);
    size_t n = 0;
    for (size_t i = 0; i < cluster_count(c->api->cluster); i++) {
        const struct member *m = cluster_at(c->api->cluster, i);
        if (wanted ? !wanted[m->id] : !m->listed)
            continue;
        struct standing s;
        watch_standing(c->api->watch, c->now, m, &s, NULL);
        out[n++] = (struct featured){cohorts_number_of(cohorts, m->id), s.conformance, i};
    }
    if (n > 0)
        qsort(out, n, sizeof *out, by_features);
    return n;
}

static void render_run(struct call *c, const struct featured *nodes, size_t n, struct text *t)
{
    CLEANUP_FREE const char **names = mem_alloc(n * sizeof *names);
    for (size_t i = 0; i < n; i++)
        names[i] = cluster_at(c->api->cluster, nodes[i].order)->name;
    text_add(t, "{\"nodes\":");
    render_fold(t, names, n);
    text_add(t, ",\"features\":[");
    if (nodes->cohort != COHORT_NONE) {
        render_cohort(t, cohorts_by_number(watch_cohorts(c->api->watch), nodes->cohort));
        text_add_char(t, ',');
    }
    render_word(t, words[nodes->conformance].feature);
    text_printf(t, "],\"weight\":%u}", words[nodes->conformance].weight);
}

int call_slurm_features(struct call *c, struct text *t, struct err *e)
{
    const char *list = http_query(c->request, "nodes");
    size_t all = cluster_count(c->api->cluster);
    CLEANUP_FREE uint8_t *wanted = list ? mem_alloc(all) : NULL;
    int rc = list ? members_mark(c->api->cluster, list, wanted, e) : 0;
    if (rc < 0)
        return rc;
    CLEANUP_FREE struct featured *nodes = mem_alloc((all + 1) * sizeof *nodes);
    size_t n = gather(c, wanted, nodes);
    text_add(t, "{\"nodes\":[");
    for (size_t from = 0, to; from < n; from = to) {
        for (to = from; to < n && nodes[to].cohort == nodes[from].cohort &&
                        nodes[to].conformance == nodes[from].conformance;
             to++)
            continue;
        text_add(t, from ? "," : "");
        render_run(c, nodes + from, to - from, t);
    }
    text_add(t, "]}");
    return 0;
}

/* --- constraint ------------------------------------------------------------------------------ */

struct choice_of {
    const struct cohort *cohort;
    uint32_t fit;
};

static int by_fit(const void *a, const void *b)
{
    const struct choice_of *x = a, *y = b;
    if (x->fit != y->fit)
        return x->fit > y->fit ? -1 : 1;
    return fingerprint_compare(&x->cohort->id, &y->cohort->id);
}

/* A job waits for nodes that are busy: these count, too. */
static bool may_run(const struct place_row *r, int class)
{
    return r->cohort != COHORT_NONE && (class < 0 || r->class == class) &&
           (r->pass == PASS_NONE || r->pass == PASS_BUSY || r->pass == PASS_WORK_UNKNOWN);
}

/* Largest first; those with fewer than `least` nodes are left out. *largest is that of all. */
static size_t candidates(struct call *c, int class, uint64_t least, struct choice_of **out, uint32_t *largest)
{
    const struct cohorts *cohorts = watch_cohorts(c->api->watch);
    size_t numbers = (size_t)cohorts_number_max(cohorts) + 1, n_rows, n = 0;
    const struct place_row *rows = watch_rows(c->api->watch, &n_rows);
    CLEANUP_FREE uint32_t *fit = mem_alloc(numbers * sizeof *fit);
    for (size_t i = 0; i < n_rows; i++)
        fit[rows[i].cohort] += may_run(&rows[i], class);
    struct choice_of *list = mem_alloc(numbers * sizeof *list);
    *largest = 0;
    for (uint32_t i = COHORT_NONE + 1; i < numbers; i++) {
        *largest = fit[i] > *largest ? fit[i] : *largest;
        if (fit[i] >= least)
            list[n++] = (struct choice_of){cohorts_by_number(cohorts, i), fit[i]};
    }
    if (n > 0)
        qsort(list, n, sizeof *list, by_fit);
    *out = list;
    return n < CONSTRAINT_COHORTS_MAX ? n : CONSTRAINT_COHORTS_MAX;
}

int call_slurm_constraint(struct call *c, struct text *t, struct err *e)
{
    uint64_t count = 0;
    int class = -1;
    uint32_t largest;
    int rc = call_query_number(c, "count", 1, HOSTLIST_HOSTS_MAX, &count, e);
    if (rc == 0 && count == 0)
        rc = err_set(e, -EINVAL, "\"count\" is missing: how many nodes");
    if (rc == 0)
        rc = call_query_class(c, &class, e);
    if (rc < 0)
        return rc;
    CLEANUP_FREE struct choice_of *list = NULL;
    size_t n = candidates(c, class, count, &list, &largest);
    if (n == 0)
        return err_set(e, -EMEDIUMTYPE,
                       "no %" PRIu64 " nodes that take work are the same; at most %" PRIu32 " are", count,
                       largest);
    text_add(t, n > 1 ? "{\"constraint\":\"[" : "{\"constraint\":\"");
    for (size_t i = 0; i < n; i++) {
        char name[FINGERPRINT_SHORT_BYTES];
        text_add(t, i ? "|" : "");
        text_add(t, fingerprint_short(&list[i].cohort->id, name));
    }
    text_printf(t, n > 1 ? "]\",\"count\":%" PRIu64 "}" : "\",\"count\":%" PRIu64 "}", count);
    return 0;
}
