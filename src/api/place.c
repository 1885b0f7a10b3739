/* SPDX-License-Identifier: Apache-2.0 */
/* Which nodes for new work. Nothing is reserved: it is advice for who starts the work. */
#include "api/call.h"
#include "api/render.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

static int take_ask(struct call *c, struct place_ask *ask, uint8_t **among, struct err *e)
{
    uint64_t count = 0;
    const char *policy = http_query(c->request, "policy"), *nodes = http_query(c->request, "nodes");
    int rc = call_query_number(c, "count", 1, HOSTLIST_HOSTS_MAX, &count, e);
    if (rc == 0 && count == 0)
        return err_set(e, -EINVAL, "\"count\" is missing: how many nodes");
    if (rc == 0)
        rc = call_query_class(c, &ask->class, e);
    if (rc == 0 && policy)
        rc = place_policy_parse(policy, &ask->policy, e);
    if (rc == 0)
        rc = call_query_bool(c, "require", &ask->require_conformance, e);
    if (rc == 0 && nodes) {
        *among = mem_alloc(cluster_count(c->api->cluster));
        rc = members_mark(c->api->cluster, nodes, *among, e);
    }
    ask->n = count;
    ask->among = *among;
    return rc;
}

/* Names of the chosen rows; with a group, of those in its cohort. */
static void render_chosen(struct call *c, const struct place_row *rows, const struct place_answer *a,
                          const struct place_group *g, struct text *t)
{
    CLEANUP_FREE const char **names = mem_alloc((a->n + 1) * sizeof *names);
    size_t n = 0;
    for (size_t i = 0; i < a->n; i++)
        if (!g || rows[a->nodes[i]].cohort == g->cohort)
            names[n++] = cluster_by_id(c->api->cluster, a->nodes[i])->name;
    render_fold(t, names, n);
}

static void render_groups(struct call *c, const struct place_row *rows, const struct place_answer *a,
                          struct text *t)
{
    const struct cohorts *cohorts = watch_cohorts(c->api->watch);
    text_add(t, ",\"groups\":[");
    for (size_t i = 0; i < a->n_groups; i++) {
        const struct place_group *g = &a->groups[i];
        text_add(t, i ? ",{\"cohort\":" : "{\"cohort\":");
        render_cohort(t, g->cohort == COHORT_NONE ? NULL : cohorts_by_number(cohorts, g->cohort));
        text_printf(t, ",\"count\":%" PRIu32 ",\"nodes\":", g->n);
        render_chosen(c, rows, a, g, t);
        text_add_char(t, '}');
    }
    text_add_char(t, ']');
}

static void render_milli(struct text *t, const char *name, uint32_t milli)
{
    text_printf(t, ",\"%s\":%" PRIu32 ".%03" PRIu32, name, milli / 1000, milli % 1000);
}

static void render_score(const struct place_answer *a, struct text *t)
{
    render_milli(t, "score", a->score_milli);
    text_add(t, ",\"terms\":[");
    for (int i = 0; i < PLACE_TERMS; i++) {
        text_printf(t, "%s{\"name\":\"%s\"", i ? "," : "", place_term_name((enum place_term)i));
        render_milli(t, "fitness", a->terms[i].fitness_milli);
        render_milli(t, "weight", a->terms[i].weight_milli);
        text_add_char(t, '}');
    }
    text_add_char(t, ']');
}

static void render_passed(const struct place_answer *a, struct text *t)
{
    bool any = false;
    text_add(t, ",\"passed\":{");
    for (int i = 0; i < PASSES; i++) {
        if (a->passed[i] == 0)
            continue;
        text_printf(t, "%s\"%s\":%" PRIu32, any ? "," : "", place_pass_name((enum place_pass)i),
                    a->passed[i]);
        any = true;
    }
    text_add_char(t, '}');
}

int call_place(struct call *c, struct text *t, struct err *e)
{
    struct place_ask ask = {.policy = PLACE_HPC};
    CLEANUP_FREE uint8_t *among = NULL;
    int rc = take_ask(c, &ask, &among, e);
    if (rc < 0)
        return rc;
    size_t n;
    const struct place_row *rows = watch_rows(c->api->watch, &n);
    struct place_answer a = {0};
    rc = place_choose(c->api->placer, rows, n, &ask, &a, e);
    if (rc == 0) {
        text_printf(t, "{\"policy\":\"%s\",\"count\":%zu,\"nodes\":", place_policy_name(ask.policy), a.n);
        render_chosen(c, rows, &a, NULL, t);
        render_milli(t, "f9", a.terms[PLACE_SAMENESS].fitness_milli);
        render_score(&a, t);
        render_groups(c, rows, &a, t);
        text_printf(t, ",\"topology_groups\":%zu", a.n_topology);
        render_passed(&a, t);
        text_add_char(t, '}');
    }
    place_answer_fini(&a);
    return rc;
}
