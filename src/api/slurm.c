/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The settings for Slurm that keep a job within one cohort: each node's cohort as a feature, and a constraint
 * of such features.
 */
#include "api/call.h"
#include "api/render.h"
#include "api/slices.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

/* Slurm takes nodes of a lower weight first: a proven node before an unknown one, and that before one that is
 * proven to differ. */
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

struct features {
    struct slices slices;
    bool all;          /* the call named no nodes */
    struct bins bins;  /* by conformance */
    struct bin **list; /* once all nodes were visited */
    size_t next;
};

static void features_fini(struct slices *s)
{
    struct features *f = (struct features *)s;
    bins_fini(&f->bins);
    free(f->list);
}

static int by_features(const void *a, const void *b)
{
    const struct bin *x = *(struct bin *const *)a, *y = *(struct bin *const *)b;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    int d = fingerprint_compare(&x->key.cohort, &y->key.cohort);
    return d != 0 ? d : (int)x->key.kind - (int)y->key.kind;
}

/* Unlisted nodes are not Slurm's, unless the call names them. */
static void add_features(struct slices *s, const struct member *m)
{
    struct features *f = (struct features *)s;
    struct standing standing;
    if (f->all && !m->listed)
        return;
    watch_standing(s->call.api->watch, s->call.now, m, &standing, NULL);
    const struct cohort *k = cohorts_of(watch_cohorts(s->call.api->watch), m->id);
    pile_add(&bins_get(&f->bins, k, standing.conformance)->pile, m->name);
}

/* Renders some more of the nodes with the same features. True when they are complete. */
static bool render_run(struct features *f)
{
    struct slices *s = &f->slices;
    const struct bin *b = f->list[f->next];
    if (s->folded == 0)
        text_add(&s->text, f->next ? ",{\"nodes\":" : "{\"nodes\":");
    if (!slices_fold(s, &b->pile))
        return false;
    text_add(&s->text, ",\"features\":[");
    if (b->number != COHORT_NONE) {
        char name[FINGERPRINT_SHORT_BYTES];
        render_string(&s->text, fingerprint_cohort(&b->key.cohort, name));
        text_add_char(&s->text, ',');
    }
    render_word(&s->text, words[b->key.kind].feature);
    text_printf(&s->text, "],\"weight\":%u}", words[b->key.kind].weight);
    return true;
}

static bool features_step(struct slices *s)
{
    struct features *f = (struct features *)s;
    if (slices_walk(s, add_features))
        return true;
    if (!f->list)
        f->list = bins_sort(&f->bins, by_features);
    if (f->next < f->bins.n && render_run(f))
        f->next++;
    if (f->next < f->bins.n)
        return true;
    text_add(&s->text, "]}");
    return false;
}

int call_slurm_features(struct call *c, struct text *t, struct err *e)
{
    const char *list = http_query(c->request, "nodes");
    struct slices s = {.step = features_step, .fini = features_fini};
    int rc = call_needs_current(c, e);
    if (rc == 0)
        rc = slices_choose(&s, c, list, e);
    if (rc < 0)
        return rc;
    text_add(&s.text, "{\"nodes\":[");
    struct features *f = mem_alloc(sizeof *f);
    f->slices = s;
    f->all = !list;
    return call_slices(c, &f->slices);
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

/* A job waits for busy nodes, so these count too. */
static bool may_run(const struct place_row *r, int class)
{
    return r->cohort != COHORT_NONE && (class < 0 || r->class == class) &&
           (r->pass == PASS_NONE || r->pass == PASS_BUSY || r->pass == PASS_WORK_UNKNOWN);
}

/* Largest first, without those of fewer than `least` nodes. *largest is the largest of all. */
static size_t slurm_candidates(struct call *c, int class, uint64_t least, struct choice_of **out,
                               uint32_t *largest)
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
    if (rc == 0)
        rc = call_needs_current(c, e);
    if (rc < 0)
        return rc;
    CLEANUP_FREE struct choice_of *list = NULL;
    size_t n = slurm_candidates(c, class, count, &list, &largest);
    if (n == 0)
        return err_set(e, -EMEDIUMTYPE,
                       "no %" PRIu64 " nodes that take work are the same; at most %" PRIu32 " are", count,
                       largest);
    text_add(t, n > 1 ? "{\"constraint\":\"[" : "{\"constraint\":\"");
    for (size_t i = 0; i < n; i++) {
        char name[FINGERPRINT_SHORT_BYTES];
        text_add(t, i ? "|" : "");
        text_add(t, fingerprint_cohort(&list[i].cohort->id, name));
    }
    text_printf(t, n > 1 ? "]\",\"count\":%" PRIu64 "}" : "\",\"count\":%" PRIu64 "}", count);
    return 0;
}
