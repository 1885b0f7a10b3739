/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The choice of a remedy by expected cost (doc/spec/remedy.md).
 *
 * Each remedy is considered as the first step against all open faults. The cost of the steps after it is
 * estimated with one rule: among remedies that are tried one after another, the one with the least cost per
 * chance of success comes first. For one fault this order is the best; for several it is a good one, found
 * without a search. The last step of the order is a person. Walking back from it, steps that cost more than
 * they save are left out.
 *
 * Costs are units of the policy, limited to COST_MAX; chances are millionths. A set of faults is a word with
 * a bit for each.
 */
#include "remedy/remedy.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MILLION = 1000000 };

/* The longest sequence of remedies that is considered. */
enum { IN_A_ROW_MAX = 8 };

/* More than any person costs; COST_MAX * FAULTS_MAX * MILLION still fits into 64 bits. */
static const int64_t COST_MAX = INT64_C(100000000000);

/* The chances of a remedy against some faults. */
struct odds {
    size_t remedy;
    int64_t own;
    uint32_t all;  /* the chance that it cures all faults that it covers */
    uint64_t some; /* the expected number of cured causes, in millionths */
};

/* What is known before the choice. */
struct view {
    const struct choice_input *in;
    size_t n_faults;
    const struct fault *faults[FAULTS_MAX]; /* the faults that count */
    size_t n_causes;
    uint64_t causes[FAULTS_MAX];   /* sets of faults, one for each group */
    uint64_t helps[REMEDIES_MAX];  /* faults that it may help */
    uint64_t covers[REMEDIES_MAX]; /* of these, the faults that it has tries left for */
    unsigned tried[REMEDIES_MAX];  /* the most recent tries in vain for any fault that it covers */
    int64_t own[REMEDIES_MAX];     /* its cost, with the remedy that must follow at once */
    uint32_t chances[REMEDIES_MAX][FAULTS_MAX];
    struct outcomes of[REMEDIES_MAX][FAULTS_MAX]; /* the record, for the faults that it covers */
    size_t n_order[FAULTS_MAX];
    uint8_t order[FAULTS_MAX][REMEDIES_MAX]; /* for each fault: the remedies that cover it and pay, least cost
                                                per chance first */
    size_t n_of_all;
    struct odds order_of_all[REMEDIES_MAX]; /* the same for all faults together */
};

uint32_t outcomes_chance(const struct remedy *r, struct outcomes of)
{
    uint64_t helped = (uint64_t)r->confidence * r->weight + UINT64_C(100) * of.helped;
    uint64_t all = UINT64_C(100) * ((uint64_t)r->weight + of.helped + of.failed);
    uint64_t mean = all > 0 ? helped * MILLION / all : (uint64_t)r->confidence * (MILLION / 100);
    return mean < 1 ? 1 : mean >= MILLION ? MILLION - 1 : (uint32_t)mean;
}

/* --- what it costs and how often it was tried ----------------------------------------------------- */

/* a * b / c, at most COST_MAX. a and b are not negative, c is positive. */
static int64_t choice_scale(int64_t a, int64_t b, int64_t c)
{
    int64_t product;
    if (__builtin_mul_overflow(a, b, &product))
        return COST_MAX;
    return product / c < COST_MAX ? product / c : COST_MAX;
}

static int64_t choice_add(int64_t a, int64_t b)
{
    return a + b < COST_MAX ? a + b : COST_MAX;
}

/* The remedy that must follow at once, or NULL. */
static const struct remedy *choice_follower(const struct choice_input *in, const struct remedy *r)
{
    return r->after && *r->after ? remedies_find(in->remedies, r->after) : NULL;
}

/* At least 1: remedies that cost nothing could not be ordered. */
static int64_t own_cost(const struct choice_input *in, const struct remedy *r)
{
    int64_t cost = 0;
    for (size_t i = 0; r && i < in->remedies->n; i++, r = choice_follower(in, r)) {
        int64_t out = choice_scale(span_to_ms(r->takes), in->policy.minute, 60000);
        cost = choice_add(cost, choice_scale(out, in->policy.scarce, 100));
        cost = choice_add(cost, choice_scale(r->disturbs, in->policy.disturb, 1));
    }
    return cost > 0 ? cost : 1;
}

static bool needs_idle(const struct choice_input *in, const struct remedy *r)
{
    for (size_t i = 0; r && i < in->remedies->n; i++, r = choice_follower(in, r))
        if (r->needs == NEEDS_IDLE)
            return true;
    return false;
}

/* Whether the attempt was for this fault. It names several faults separated by commas, and may be cut at its
 * end. */
static bool was_for(const char *names, const char *fault)
{
    size_t len = strlen(fault), all = strlen(names);
    for (const char *name = names;; name++) {
        size_t n = strcspn(name, ",");
        if (n == len && memcmp(name, fault, n) == 0)
            return true;
        if (name[n] == '\0')
            return all >= FAULT_BYTES_MAX && n < all && n <= len && memcmp(name, fault, n) == 0;
        name += n;
    }
}

/* --- the view -------------------------------------------------------------------------------------- */

static bool same_cause(const struct fault *a, const struct fault *b)
{
    return a->group && b->group && *a->group && strcmp(a->group, b->group) == 0;
}

static void add_fault(struct view *v, const struct fault *f)
{
    size_t cause = v->n_causes;
    for (size_t c = 0; c < v->n_causes; c++)
        if (same_cause(f, v->faults[__builtin_ctzll(v->causes[c])]))
            cause = c;
    v->n_causes += cause == v->n_causes;
    v->causes[cause] |= UINT64_C(1) << v->n_faults;
    v->faults[v->n_faults++] = f;
}

/* A fault that only warns does not count, unless there is no other. */
static void take_faults(struct view *v)
{
    const struct choice_input *in = v->in;
    bool any = false;
    for (size_t i = 0; i < in->n_faults; i++)
        any = any || result_fails(in->faults[i].severity);
    for (size_t i = 0; i < in->n_faults && v->n_faults < FAULTS_MAX; i++)
        if (!any || result_fails(in->faults[i].severity))
            add_fault(v, &in->faults[i]);
}

static struct outcomes record_of(const struct choice_input *in, const struct remedy *r, const char *fault)
{
    if (!in->outcomes)
        return (struct outcomes){0};
    return in->outcomes(in->outcomes_arg, fault, r->name, in->class);
}

/* How often the remedy was tried recently for each fault, and how often in vain: an attempt of the present
 * repair was in vain for every fault that is still open. */
static void count_tries(const struct view *v, const struct remedy *r, unsigned tried[static FAULTS_MAX],
                        unsigned in_vain[static FAULTS_MAX])
{
    const struct choice_input *in = v->in;
    for (size_t i = 0; i < in->n_attempts; i++) {
        const struct attempt *a = &in->attempts[i];
        bool lately = a->at.ns > in->now.ns || in->now.ns - a->at.ns < r->window.ns;
        if (!lately || strcmp(a->remedy, r->name) != 0)
            continue;
        for (size_t f = 0; f < v->n_faults; f++) {
            bool was = was_for(a->fault, v->faults[f]->fault);
            tried[f] += was;
            in_vain[f] += was || a->here;
        }
    }
}

/* Each recent attempt on this very node that did not last halves the chance. */
static void take_remedy(struct view *v, size_t i)
{
    const struct remedy *r = &v->in->remedies->list[i];
    unsigned tried[FAULTS_MAX] = {0}, in_vain[FAULTS_MAX] = {0};
    v->own[i] = own_cost(v->in, r);
    count_tries(v, r, tried, in_vain);
    for (size_t f = 0; f < v->n_faults; f++) {
        const char *fault = v->faults[f]->fault;
        if (!remedy_helps(r, fault, v->in->class))
            continue;
        v->helps[i] |= UINT64_C(1) << f;
        if (tried[f] >= r->tries || v->in->barred[remedy_way(r->run)])
            continue;
        v->covers[i] |= UINT64_C(1) << f;
        v->tried[i] = in_vain[f] > v->tried[i] ? in_vain[f] : v->tried[i];
        v->of[i][f] = record_of(v->in, r, fault);
        uint32_t known = outcomes_chance(r, v->of[i][f]) >> (in_vain[f] < 31 ? in_vain[f] : 31);
        v->chances[i][f] = known > 0 ? known : 1;
    }
}

/* The chance that it cures these faults of one cause, all of which it covers: that of the least likely. */
static uint32_t chance_of(const struct view *v, size_t remedy, uint64_t faults)
{
    uint32_t least = MILLION;
    for (uint64_t m = faults; m; m &= m - 1) {
        uint32_t one = v->chances[remedy][__builtin_ctzll(m)];
        least = one < least ? one : least;
    }
    return least;
}

/* Its chances against a set of faults. Causes are cured independently of each other. */
static struct odds odds_of(const struct view *v, size_t remedy, uint64_t set)
{
    struct odds o = {.remedy = remedy, .own = v->own[remedy], .all = MILLION};
    uint64_t covered = set & v->covers[remedy];
    for (size_t c = 0; covered && c < v->n_causes; c++) {
        uint64_t here = covered & v->causes[c];
        if (!here)
            continue;
        uint32_t one = chance_of(v, remedy, here);
        o.all = (uint32_t)((uint64_t)o.all * one / MILLION);
        o.some += one;
        covered &= ~here;
    }
    return o;
}

static int by_cost_for_chance(const void *a, const void *b)
{
    const struct odds *x = a, *y = b;
    int64_t left = x->own * (int64_t)y->some, right = y->own * (int64_t)x->some;
    if (left != right)
        return left < right ? -1 : 1;
    return (x->remedy > y->remedy) - (x->remedy < y->remedy);
}

/* The remedies that cover any fault of the set, least cost per chance first. Returns how many there are. */
static size_t order_for(const struct view *v, uint64_t set, struct odds *out)
{
    size_t n = 0;
    for (size_t i = 0; set && i < v->in->remedies->n; i++)
        if (set & v->covers[i])
            out[n++] = odds_of(v, i, set);
    if (n > 1)
        qsort(out, n, sizeof *out, by_cost_for_chance);
    return n;
}

static uint64_t all_faults(const struct view *v)
{
    return v->n_faults == FAULTS_MAX ? UINT64_MAX : (UINT64_C(1) << v->n_faults) - 1;
}

/* One cost with the given chance, the other cost otherwise. Neither is above COST_MAX. */
static int64_t choice_either(uint32_t likely, int64_t cost, int64_t otherwise)
{
    return (cost * likely + otherwise * (MILLION - likely)) / MILLION;
}

/* True when it is better than calling a person at once, for the faults that it covers. In the order for a
 * single fault, nothing pays after a remedy that does not. */
static bool choice_pays(const struct view *v, const struct odds *o)
{
    return o->own < choice_either(o->all, v->in->policy.person, 0);
}

static void view_init(struct view *v, const struct choice_input *in)
{
    *v = (struct view){.in = in};
    take_faults(v);
    for (size_t i = 0; i < in->remedies->n; i++)
        take_remedy(v, i);
    for (size_t f = 0; f < v->n_faults; f++) {
        struct odds odds[REMEDIES_MAX];
        v->n_order[f] = order_for(v, UINT64_C(1) << f, odds);
        for (size_t i = 0; i < v->n_order[f]; i++)
            v->order[f][i] = (uint8_t)odds[i].remedy;
        while (v->n_order[f] > 0 && !choice_pays(v, &odds[v->n_order[f] - 1]))
            v->n_order[f]--;
    }
    v->n_of_all = order_for(v, all_faults(v), v->order_of_all);
}

/* --- what follows ---------------------------------------------------------------------------------- */

static int64_t choice_lesser(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The remedies that are assumed to have failed, and the cost of each fault by itself with the others, as far
 * as it is known. */
struct thought {
    bool tried[REMEDIES_MAX];
    uint64_t known;
    int64_t alone[FAULTS_MAX];
};

/* The cost of a fault by itself: the remedies that were not tried, one after another, then a person. The
 * first remedy that does not pay ends the order, because none after it pays. So does a case with a chance
 * below one in a thousand. */
static int64_t fault_alone(const struct view *v, size_t fault, const bool tried[REMEDIES_MAX])
{
    int64_t cost = 0, person = v->in->policy.person;
    uint32_t open = MILLION;
    for (size_t i = 0; i < v->n_order[fault] && open >= MILLION / 1000; i++) {
        size_t r = v->order[fault][i];
        uint32_t likely = v->chances[r][fault];
        if (tried[r])
            continue;
        cost += choice_either(open, v->own[r], 0);
        open = (uint32_t)choice_either(MILLION - likely, open, 0);
    }
    return cost + choice_either(open, person, 0);
}

static int64_t choice_think(const struct view *v, size_t fault, struct thought *t)
{
    if (!(t->known >> fault & 1))
        t->alone[fault] = fault_alone(v, fault, t->tried);
    t->known |= UINT64_C(1) << fault;
    return t->alone[fault];
}

/* The cost of the dearest fault of one cause. */
static int64_t cause_alone(const struct view *v, uint64_t faults, struct thought *t)
{
    int64_t most = 0;
    for (uint64_t m = faults; m; m &= m - 1) {
        int64_t one = choice_think(v, (size_t)__builtin_ctzll(m), t);
        most = one > most ? one : most;
    }
    return most;
}

/* The cost of the remaining faults, each cause by itself; at most that of a person. */
static int64_t each_alone(const struct view *v, uint64_t set, struct thought *t)
{
    int64_t sum = 0, person = v->in->policy.person;
    for (size_t c = 0; set && sum < person && c < v->n_causes; c++) {
        sum += cause_alone(v, set & v->causes[c], t);
        set &= ~v->causes[c];
    }
    return choice_lesser(sum, person);
}

/* The cost after a remedy: `left` when it cured what it covers. When it did not, either all faults are still
 * open, at cost `failed`, or each remaining fault is treated by itself. The cheaper one counts. */
static int64_t choice_follows(const struct view *v, const struct odds *o, uint64_t set, int64_t left,
                              int64_t failed, struct thought *t)
{
    int64_t sum = left, most = choice_either(o->all, left, failed);
    uint64_t covered = set & v->covers[o->remedy];
    for (size_t c = 0; covered && sum < most && c < v->n_causes; c++) {
        uint64_t here = covered & v->causes[c];
        if (here)
            sum += choice_either(chance_of(v, o->remedy, here), 0, cause_alone(v, here, t));
        covered &= ~here;
    }
    return choice_lesser(sum, most);
}

/* The cost of a set of faults without one remedy, in the order of the remedies that cover any of it. Whoever
 * reaches a remedy has tried those before it. */
static int64_t choice_together(const struct view *v, uint64_t set, const struct odds *order, size_t n,
                               size_t without)
{
    struct thought t = {0};
    int64_t cost = v->in->policy.person;
    n = n < IN_A_ROW_MAX ? n : IN_A_ROW_MAX;
    t.tried[without] = true;
    for (size_t i = 0; i < n; i++)
        t.tried[order[i].remedy] = true;
    for (size_t i = n; i-- > 0;) {
        const struct odds *o = &order[i];
        if (o->remedy != without) {
            int64_t left = each_alone(v, set & ~v->covers[o->remedy], &t);
            cost = choice_lesser(cost, choice_add(o->own, choice_follows(v, o, set, left, cost, &t)));
            t.tried[o->remedy] = false;
            t.known &= ~v->covers[o->remedy];
        }
    }
    return choice_lesser(cost, each_alone(v, set, &t));
}

/* --- candidates ------------------------------------------------------------------------------------ */

static uint32_t sum_up(uint32_t a, uint32_t b)
{
    return a + b < a ? UINT32_MAX : a + b;
}

static void count_record(const struct view *v, size_t i, struct candidate *c)
{
    for (uint64_t m = v->covers[i]; m; m &= m - 1) {
        struct outcomes of = v->of[i][__builtin_ctzll(m)];
        c->helped = sum_up(c->helped, of.helped);
        c->failed = sum_up(c->failed, of.failed);
    }
}

/* Estimates the remedy as the first step. Faults that are open when it fails cost at least as much as those
 * that are left when it helps. */
static void choice_reckon(const struct view *v, size_t i, struct candidate *c)
{
    struct odds order[REMEDIES_MAX];
    struct thought t = {0};
    uint64_t all = all_faults(v), rest = all & ~v->covers[i];
    int64_t left = choice_together(v, rest, order, order_for(v, rest, order), i);
    int64_t failed = choice_together(v, all, v->order_of_all, v->n_of_all, i);
    struct odds o = odds_of(v, i, all);
    t.tried[i] = true;
    c->chance = o.all;
    c->own = o.own;
    c->next = choice_follows(v, &o, all, left, failed > left ? failed : left, &t);
    c->expected = choice_add(c->own, c->next);
}

/* Writes why the remedy is not possible, or nothing. */
static void say_why_not(const struct view *v, size_t i, struct candidate *c)
{
    char window[32];
    if (v->helps[i] == 0)
        snprintf(c->why, sizeof c->why, "helps against no open fault");
    else if (v->in->barred[remedy_way(c->remedy->run)])
        snprintf(c->why, sizeof c->why, "%s", v->in->barred[remedy_way(c->remedy->run)]);
    else if (v->covers[i] == 0)
        snprintf(c->why, sizeof c->why, "tried %u time%s within %s for %s", c->remedy->tries,
                 c->remedy->tries == 1 ? "" : "s", span_format(c->remedy->window, window),
                 v->faults[__builtin_ctzll(v->helps[i])]->fault);
    else if (v->in->busy && needs_idle(v->in, c->remedy))
        snprintf(c->why, sizeof c->why, "work runs");
}

static int by_expected(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->possible != y->possible)
        return x->possible ? -1 : 1;
    if (x->possible && x->expected != y->expected)
        return x->expected < y->expected ? -1 : 1;
    return (x->remedy > y->remedy) - (x->remedy < y->remedy); /* one array: this is the order of the file */
}

static void list_candidates(const struct view *v, struct choice *out)
{
    for (size_t i = 0; i < v->in->remedies->n; i++) {
        struct candidate *c = &out->candidates[out->n++];
        *c = (struct candidate){.remedy = &v->in->remedies->list[i],
                                .covers = (uint32_t)__builtin_popcountll(v->covers[i])};
        count_record(v, i, c);
        if (v->covers[i])
            choice_reckon(v, i, c);
        say_why_not(v, i, c);
        c->possible = c->why[0] == '\0';
    }
    qsort(out->candidates, out->n, sizeof out->candidates[0], by_expected);
}

/* --- the choice ------------------------------------------------------------------------------------ */

/* Why something that helps this fault cannot be done its way now; NULL when nothing is barred. */
static const char *bar_for(const struct view *v, size_t fault)
{
    for (size_t i = 0; i < v->in->remedies->n; i++) {
        const char *why = v->in->barred[remedy_way(v->in->remedies->list[i].run)];
        if (why && v->helps[i] >> fault & 1)
            return why;
    }
    return NULL;
}

/* A fault that has no remedy left; NULL when there is none. */
static const char *choice_helpless(const struct view *v, bool *tried, const char **barred)
{
    uint64_t helped = 0, covered = 0;
    for (size_t i = 0; i < v->in->remedies->n; i++) {
        helped |= v->helps[i];
        covered |= v->covers[i];
    }
    uint64_t open = all_faults(v) & ~covered;
    if (!open)
        return NULL;
    *tried = open & helped & -open;
    *barred = bar_for(v, (size_t)__builtin_ctzll(open));
    return v->faults[__builtin_ctzll(open)]->fault;
}

/* Of the candidates that cost no more than a person, the one with the fewest outcomes. */
static const struct candidate *least_known(const struct choice *c)
{
    const struct candidate *least = &c->candidates[0];
    for (size_t i = 1; i < c->n && c->candidates[i].possible && c->candidates[i].expected <= c->person; i++) {
        const struct candidate *x = &c->candidates[i];
        if ((uint64_t)x->helped + x->failed < (uint64_t)least->helped + least->failed)
            least = x;
    }
    return least;
}

/* From cost units, of which a minute has 1,000; rounded. */
static long long in_minutes(int64_t cost)
{
    return (long long)(cost + 500) / 1000;
}

static void choice_choose(const struct view *v, const struct candidate *c, struct choice *out)
{
    char here[96] = "";
    out->chosen = c->remedy;
    if (c->tried)
        snprintf(here, sizeof here, " (halved for each of %u tries on this node)", c->tried);
    snprintf(
        out->why, sizeof out->why,
        "%sit helps against %u of %zu faults with a chance of %u.%u %%%s, and costs about %lld min out of "
        "service in all; calling a person costs %lld min",
        out->explored ? "to learn about it: " : "", c->covers, v->n_faults, c->chance / 10000,
        c->chance / 1000 % 10, here, in_minutes(c->expected), in_minutes(out->person));
}

/* The cheapest candidate that can be done now, or that waits until no work runs; of two equal ones, the one
 * that can be done now. NULL when there is none. */
static const struct candidate *choice_cheapest(const struct choice *c)
{
    const struct candidate *least = NULL;
    for (size_t i = 0; i < c->n; i++) {
        const struct candidate *x = &c->candidates[i];
        if (x->covers > 0 && (!least || x->expected < least->expected))
            least = x;
    }
    return least;
}

static void choose_cheapest(const struct view *v, struct choice *out)
{
    const struct candidate *best = choice_cheapest(out);
    out->waits = !best->possible && best->expected <= out->person;
    if (best->expected > out->person) {
        snprintf(out->why, sizeof out->why,
                 "calling a person costs less: %lld min out of service, and %s %lld min",
                 in_minutes(out->person), best->remedy->name, in_minutes(best->expected));
    } else if (out->waits) {
        snprintf(out->why, sizeof out->why, "%s waits until no work runs", best->remedy->name);
    } else {
        const struct candidate *other = v->in->draw % 100 < v->in->policy.explore ? least_known(out) : best;
        out->explored = other != best;
        choice_choose(v, other, out);
    }
}

/* Whether the node is left to a person, whatever that costs. */
static bool is_persons(const struct view *v, struct choice *out)
{
    bool tried = false;
    const char *barred = NULL, *fault = choice_helpless(v, &tried, &barred);
    if (v->n_faults == 0)
        snprintf(out->why, sizeof out->why, "nothing is open");
    else if (v->in->n_faults > FAULTS_MAX)
        snprintf(out->why, sizeof out->why, "%zu faults are open; over %d are a person's", v->in->n_faults,
                 FAULTS_MAX);
    else if (fault)
        snprintf(out->why, sizeof out->why, "no remedy %s %s%s%.150s", tried ? "is left for" : "helps", fault,
                 barred ? ": " : "", barred ? barred : "");
    else
        return false;
    return true;
}

void remedy_choose(const struct choice_input *in, struct choice *out)
{
    struct view v;
    assert(in->remedies->n <= REMEDIES_MAX);
    view_init(&v, in);
    *out = (struct choice){.person = in->policy.person};
    list_candidates(&v, out);
    if (!is_persons(&v, out))
        choose_cheapest(&v, out);
}
