/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses nodes for new work. Nothing is reserved: the answer is advice. */
#include "api/call.h"
#include "api/render.h"
#include "api/slices.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES_A_STEP = 64 };

static int take_ask(struct call *c, struct place_ask *ask, struct err *e)
{
    uint64_t count = 0;
    const char *policy = http_query(c->request, "policy");
    int rc = call_query_number(c, "count", 1, HOSTLIST_HOSTS_MAX, &count, e);
    if (rc == 0 && count == 0)
        return err_set(e, -EINVAL, "\"count\" is missing: how many nodes");
    if (rc == 0)
        rc = call_query_class(c, &ask->class, e);
    if (rc == 0 && policy)
        rc = place_policy_parse(policy, &ask->policy, e);
    if (rc == 0)
        rc = call_query_bool(c, "require", &ask->require_conformance, e);
    ask->n = count;
    return rc;
}

/* An answer on its way. Its groups are those at the moment of choosing: their cohorts may be gone by now. */
struct placing {
    struct slices slices;
    struct place_ask ask;
    bool chosen;
    struct place_answer answer;
    size_t named;            /* chosen nodes whose names are in their piles */
    uint32_t *group;         /* of each chosen node */
    struct fingerprint *ids; /* of each group's cohort */
    struct pile all, *piles; /* all names; those of each group */
    bool has_head;
    size_t next; /* the group to render */
};

static void placing_fini(struct slices *s)
{
    struct placing *p = (struct placing *)s;
    for (size_t i = 0; p->piles && i < p->answer.n_groups; i++)
        pile_fini(&p->piles[i]);
    pile_fini(&p->all);
    free(p->piles);
    free(p->group);
    free(p->ids);
    place_answer_fini(&p->answer);
}

/* Notes the group of each chosen node. */
static void note_groups(struct placing *p, const struct cohorts *cohorts, const struct place_row *rows)
{
    const struct place_answer *a = &p->answer;
    CLEANUP_FREE uint32_t *group_of = mem_alloc(((size_t)cohorts_number_max(cohorts) + 1) * sizeof *group_of);
    p->group = mem_alloc((a->n + 1) * sizeof *p->group);
    p->ids = mem_alloc((a->n_groups + 1) * sizeof *p->ids);
    p->piles = mem_alloc((a->n_groups + 1) * sizeof *p->piles);
    for (uint32_t i = 0; i < a->n_groups; i++) {
        group_of[a->groups[i].cohort] = i;
        if (a->groups[i].cohort != COHORT_NONE)
            p->ids[i] = cohorts_by_number(cohorts, a->groups[i].cohort)->id;
    }
    for (size_t i = 0; i < a->n; i++)
        p->group[i] = group_of[rows[a->nodes[i]].cohort];
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

/* Names some more of the chosen nodes. True when all are named. */
static bool name_chosen(struct placing *p)
{
    const struct cluster *cluster = p->slices.call.api->cluster;
    for (int i = 0; i < NAMES_A_STEP && p->named < p->answer.n; i++, p->named++) {
        const char *name = cluster_by_id(cluster, p->answer.nodes[p->named])->name;
        pile_add(&p->all, name);
        pile_add(&p->piles[p->group[p->named]], name);
    }
    return p->named == p->answer.n;
}

/* Renders the answer up to the groups. True when it is complete. */
static bool render_head(struct placing *p)
{
    struct slices *s = &p->slices;
    struct text *t = &s->text;
    if (s->folded == 0)
        text_printf(t, "{\"policy\":\"%s\",\"count\":%zu,\"nodes\":", place_policy_name(p->ask.policy),
                    p->answer.n);
    if (!slices_fold(s, &p->all))
        return false;
    render_milli(t, "f9", p->answer.terms[PLACE_SAMENESS].fitness_milli);
    render_score(&p->answer, t);
    text_add(t, ",\"groups\":[");
    return true;
}

/* Renders some more of the next group. True when it is complete. */
static bool render_group(struct placing *p)
{
    struct slices *s = &p->slices;
    const struct place_group *g = &p->answer.groups[p->next];
    if (s->folded == 0) {
        char name[FINGERPRINT_SHORT_BYTES];
        text_add(&s->text, p->next ? ",{\"cohort\":" : "{\"cohort\":");
        render_string(&s->text, g->cohort == COHORT_NONE ? NULL : fingerprint_cohort(&p->ids[p->next], name));
        text_printf(&s->text, ",\"count\":%" PRIu32 ",\"nodes\":", g->n);
    }
    if (!slices_fold(s, &p->piles[p->next]))
        return false;
    text_add_char(&s->text, '}');
    return true;
}

/* False: there is nothing to render. The list named the nodes of its time; later ones are not meant. */
static bool placing_choose(struct placing *p)
{
    struct slices *s = &p->slices;
    const struct api *a = s->call.api;
    CLEANUP_FREE uint8_t *among = NULL;
    size_t n;
    const struct place_row *rows = watch_rows(a->watch, &n);
    if (s->marking.wanted) {
        among = mem_alloc(n + 1);
        memcpy(among, s->marking.wanted, n < s->marking.n ? n : s->marking.n);
    }
    p->ask.among = among;
    int rc = place_choose(a->placer, rows, n, &p->ask, &p->answer, &s->why);
    p->ask.among = NULL;
    if (rc < 0)
        return false;
    note_groups(p, watch_cohorts(a->watch), rows);
    p->chosen = true;
    s->of_configuration = false;
    return true;
}

static bool placing_step(struct slices *s)
{
    struct placing *p = (struct placing *)s;
    if (!p->chosen)
        return placing_choose(p);
    if (!name_chosen(p))
        return true;
    if (!p->has_head) {
        p->has_head = render_head(p);
        return true;
    }
    if (p->next < p->answer.n_groups) {
        p->next += render_group(p);
        return true;
    }
    text_printf(&s->text, "],\"topology_groups\":%zu", p->answer.n_topology);
    render_passed(&p->answer, &s->text);
    text_add_char(&s->text, '}');
    return false;
}

int call_place(struct call *c, struct text *t, struct err *e)
{
    struct slices s = {.step = placing_step, .fini = placing_fini};
    struct place_ask ask = {.policy = PLACE_HPC};
    int rc = take_ask(c, &ask, e);
    if (rc == 0)
        rc = call_needs_current(c, e);
    if (rc == 0)
        rc = slices_choose(&s, c, http_query(c->request, "nodes"), e);
    if (rc < 0)
        return rc;
    s.of_configuration = ask.class >= 0; /* until it is used */
    struct placing *p = mem_alloc(sizeof *p);
    p->slices = s;
    p->ask = ask;
    return call_slices(c, &p->slices);
}
