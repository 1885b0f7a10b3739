/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What holds for every choice: random situations, the same each time. What single situations come to is in
 * test/data/remedy.
 */
#include "remedy/remedy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROUNDS = 2000, REMEDIES = 12, FAULTS = 6, KINDS = 8 };

/* A random cluster's records: remedies r0..., faults f0..., and what came of them. */
struct world {
    char lines[REMEDIES][256];
    struct outcomes record[REMEDIES][KINDS];
    struct fault faults[FAULTS];
    struct attempt attempts[4];
    struct choice_input in;
    struct remedies remedies;
};

static unsigned draw(unsigned *seed, unsigned below)
{
    return (unsigned)rand_r(seed) % below;
}

static struct outcomes outcomes(const void *arg, const char *fault, const char *remedy, const char *class)
{
    const struct world *w = arg;
    return w->record[strtoul(remedy + 1, NULL, 10)][strtoul(fault + 1, NULL, 10)];
}

static const char *const fault_names[KINDS] = {"f0", "f1", "f2", "f3", "f4", "f5", "f6", "f7"};
static const char *const remedy_names[] = {"r0", "r1", "r2", "r3"};
static const char *const groups[] = {NULL, "", "gpu.0", "gpu.1"};

/* The remedies of the lines, in this order. */
static void read_remedies(struct world *w, const size_t order[REMEDIES])
{
    CLEANUP_TEXT struct text t = {0};
    struct err e = {0};
    for (size_t i = 0; i < REMEDIES; i++)
        text_printf(&t, "%s\n", w->lines[order[i]]);
    remedies_fini(&w->remedies);
    if (remedies_parse("world", t.s, t.len, &w->remedies, &e) < 0)
        fail_msg("%s", e.msg);
    w->in.remedies = &w->remedies;
}

static void fill_lines(struct world *w, unsigned *seed)
{
    for (size_t i = 0; i < REMEDIES; i++) {
        const char *helps[] = {"*", "*,!f3", fault_names[draw(seed, KINDS)], "f0,f1,f2", "f4,f5,f6,f7"};
        snprintf(w->lines[i], sizeof w->lines[i],
                 "Remedy=r%zu Run=node:x Confidence=%u Because=x Takes=%zus Disturbs=%u Needs=%s Helps=%s", i,
                 1 + draw(seed, 99), 61 * (1 + i) + 3 * draw(seed, 100) * REMEDIES, draw(seed, 20),
                 draw(seed, 3) ? "nothing" : "idle", helps[i ? draw(seed, 5) : 0]);
        for (size_t f = 0; f < KINDS; f++)
            w->record[i][f] = (struct outcomes){draw(seed, 3) * draw(seed, 20), draw(seed, 20)};
    }
}

static void world_init(struct world *w, unsigned *seed, size_t n_faults)
{
    static const size_t in_order[REMEDIES] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    *w = (struct world){.in = {.class = "default", .n_faults = n_faults, .now = {span_s(1000000).ns}}};
    fill_lines(w, seed);
    for (size_t i = 0; i < n_faults; i++)
        w->faults[i] = (struct fault){fault_names[draw(seed, KINDS)], RESULT_FATAL, groups[draw(seed, 4)]};
    w->in.n_attempts = draw(seed, 4);
    for (size_t i = 0; i < w->in.n_attempts; i++)
        w->attempts[i] = (struct attempt){remedy_names[draw(seed, 4)],
                                          fault_names[draw(seed, KINDS)],
                                          {span_s(1000000 - (int64_t)draw(seed, 900000)).ns},
                                          draw(seed, 4) == 0};
    w->in.faults = w->faults;
    w->in.attempts = w->attempts;
    w->in.busy = draw(seed, 4) == 0;
    w->in.policy = (struct cost_policy){.minute = 1000, .disturb = 200, .person = 240000, .scarce = 100};
    w->in.outcomes = outcomes;
    w->in.outcomes_arg = w;
    read_remedies(w, in_order);
}

static size_t rank_of(const struct choice *c, const char *name)
{
    for (size_t i = 0; i < c->n; i++)
        if (strcmp(c->candidates[i].remedy->name, name) == 0)
            return i;
    fail_msg("%s is no candidate", name);
    return 0;
}

static struct remedy plain(unsigned confidence, unsigned weight)
{
    return (struct remedy){.confidence = confidence, .weight = weight};
}

static void test_chance_is_the_mean_of_prior_and_record(void **state)
{
    struct remedy r = plain(50, 4);
    assert_int_equal(outcomes_chance(&r, (struct outcomes){0, 0}), 500000);
    assert_int_equal(outcomes_chance(&r, (struct outcomes){1, 3}), 375000); /* (2 + 1) / (4 + 4) */
    assert_int_equal(outcomes_chance(&r, (struct outcomes){3, 1}), 625000);
    r = plain(70, 10);
    assert_int_equal(outcomes_chance(&r, (struct outcomes){2, 0}), 750000); /* 9 of 12 */
}

static void test_chance_is_never_nothing_and_never_certain(void **state)
{
    struct remedy r = plain(1, 1);
    assert_int_equal(outcomes_chance(&r, (struct outcomes){0, UINT32_MAX}), 1);
    r = plain(99, 1000);
    assert_int_equal(outcomes_chance(&r, (struct outcomes){UINT32_MAX, 0}), 999999);
    r = plain(60, 0);
    assert_int_equal(outcomes_chance(&r, (struct outcomes){0, 0}), 600000);
}

static void test_one_more_success_never_lowers_a_chance(void **state)
{
    unsigned seed = 3;
    for (int i = 0; i < ROUNDS; i++) {
        struct remedy r = plain(1 + draw(&seed, 99), 1 + draw(&seed, 100));
        struct outcomes of = {draw(&seed, 1000), draw(&seed, 1000)}, better = {of.helped + 1, of.failed},
                        worse = {of.helped, of.failed + 1};
        assert_true(outcomes_chance(&r, better) >= outcomes_chance(&r, of));
        assert_true(outcomes_chance(&r, worse) <= outcomes_chance(&r, of));
    }
}

static void test_the_order_of_the_file_decides_ties_alone(void **state)
{
    static struct choice first, second;
    static struct world w;
    static const size_t backwards[REMEDIES] = {11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0};
    unsigned seed = 1;
    for (int i = 0; i < ROUNDS; i++) {
        world_init(&w, &seed, 1 + draw(&seed, FAULTS));
        remedy_choose(&w.in, &first);
        bool chosen = first.chosen;
        int64_t expected[REMEDIES];
        for (size_t k = 0; k < first.n; k++)
            expected[strtoul(first.candidates[k].remedy->name + 1, NULL, 10)] = first.candidates[k].expected;
        read_remedies(&w, backwards);
        remedy_choose(&w.in, &second);
        assert_int_equal(second.chosen != NULL, chosen);
        if (chosen) /* two that cost the same are in the order of the file */
            assert_int_equal(second.candidates[0].expected, first.candidates[0].expected);
        assert_int_equal(second.waits, first.waits);
        for (size_t k = 0; k < second.n; k++)
            assert_int_equal(second.candidates[k].expected,
                             expected[strtoul(second.candidates[k].remedy->name + 1, NULL, 10)]);
        remedies_fini(&w.remedies);
    }
}

/* Costs are cut to whole numbers on the way: two that are this near may change places. */
enum { ROUNDING = 20 };

static bool beats_clearly(const struct choice *c, size_t a, size_t b)
{
    return c->candidates[a].expected + ROUNDING < c->candidates[b].expected;
}

static void test_a_better_record_costs_no_more(void **state)
{
    static struct choice before, after;
    static struct world w;
    unsigned seed = 2;
    for (int i = 0; i < ROUNDS; i++) {
        world_init(&w, &seed, 1 + draw(&seed, FAULTS));
        remedy_choose(&w.in, &before);
        size_t which = draw(&seed, REMEDIES);
        for (size_t f = 0; f < KINDS; f++)
            w.record[which][f].helped += 1 + draw(&seed, 3);
        remedy_choose(&w.in, &after);
        char name[8];
        snprintf(name, sizeof name, "r%zu", which);
        const struct candidate *x = &before.candidates[rank_of(&before, name)],
                               *y = &after.candidates[rank_of(&after, name)];
        assert_int_equal(x->possible, y->possible);
        assert_true(y->expected <= x->expected);
        assert_true(y->chance >= x->chance);
        remedies_fini(&w.remedies);
    }
}

static void test_a_better_record_never_ranks_lower(void **state)
{
    static struct choice before, after;
    static struct world w;
    unsigned seed = 4;
    for (int i = 0; i < ROUNDS; i++) {
        world_init(&w, &seed, 1);
        remedy_choose(&w.in, &before);
        size_t which = draw(&seed, REMEDIES);
        w.record[which][w.faults[0].fault[1] - '0'].helped += 1 + draw(&seed, 3);
        remedy_choose(&w.in, &after);
        char name[8];
        snprintf(name, sizeof name, "r%zu", which);
        size_t from = rank_of(&before, name), to = rank_of(&after, name);
        for (size_t k = 0; before.candidates[from].possible && k < to; k++)
            if (rank_of(&before, after.candidates[k].remedy->name) > from && beats_clearly(&after, k, to))
                fail_msg("round %d: %s fell behind %s", i, name, after.candidates[k].remedy->name);
        remedies_fini(&w.remedies);
    }
}

static void check_choice(const struct world *w, const struct choice *c)
{
    for (size_t i = 0; i < c->n; i++) {
        const struct candidate *x = &c->candidates[i];
        assert_true(x->possible == (x->why[0] == '\0'));
        assert_true(x->expected == x->own + x->next && x->next >= 0);
        assert_true(x->next <= c->person);
        if (i > 0)
            assert_true(c->candidates[i - 1].possible >= x->possible);
        if (i > 0 && x->possible)
            assert_true(c->candidates[i - 1].expected <= x->expected);
    }
    if (c->chosen) {
        assert_ptr_equal(c->chosen, c->candidates[0].remedy);
        assert_true(c->candidates[0].possible && c->candidates[0].expected <= c->person && !c->waits);
        assert_true(!w->in.busy || c->chosen->needs == NEEDS_NOTHING);
    }
    assert_true(c->why[0] != '\0');
}

static void test_the_chosen_remedy_is_possible_and_cheapest(void **state)
{
    static struct choice c;
    static struct world w;
    unsigned seed = 5;
    int chosen = 0;
    for (int i = 0; i < ROUNDS; i++) {
        world_init(&w, &seed, 1 + draw(&seed, FAULTS));
        remedy_choose(&w.in, &c);
        check_choice(&w, &c);
        chosen += c.chosen != NULL;
        remedies_fini(&w.remedies);
    }
    assert_true(chosen > ROUNDS / 4);
}

static void choose(const char *conf, const struct fault *faults, size_t n, const struct cost_policy *p,
                   struct choice *c)
{
    struct remedies r;
    struct err e = {0};
    if (remedies_parse("conf", conf, strlen(conf), &r, &e) < 0)
        fail_msg("%s", e.msg);
    struct choice_input in = {.remedies = &r, .class = "gpu", .n_faults = n, .faults = faults, .policy = *p};
    remedy_choose(&in, c);
    c->chosen = NULL;
    remedies_fini(&r);
}

static void test_costs_are_cut_and_not_wrapped(void **state)
{
    static struct choice c;
    struct cost_policy p = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, 0};
    struct fault f = {"x", RESULT_FATAL, NULL};
    choose("Remedy=a Run=reboot Helps=x Confidence=99 Because=x Takes=7d Disturbs=100 After=b\n"
           "Remedy=b Run=reboot Helps=x Confidence=1 Because=x Takes=7d Disturbs=100\n",
           &f, 1, &p, &c);
    assert_int_equal(c.person, UINT32_MAX);
    for (size_t i = 0; i < c.n; i++)
        assert_true(c.candidates[i].own > c.person && c.candidates[i].expected >= c.candidates[i].own);
    assert_non_null(strstr(c.why, "calling a person costs less"));
}

/* 4 * 2^31 for the minutes, times 2^31: nothing is left of it in 64 bits. */
static void test_a_product_that_would_wrap_is_cut(void **state)
{
    static struct choice c;
    struct cost_policy p = {UINT32_C(1) << 31, 0, 240000, UINT32_C(1) << 31, 0};
    struct fault f = {"x", RESULT_FATAL, NULL};
    choose("Remedy=a Run=reboot Helps=x Confidence=99 Because=x Takes=4m Disturbs=0", &f, 1, &p, &c);
    assert_int_equal(c.candidates[0].own, INT64_C(100000000000));
}

static void test_more_faults_than_are_looked_at_are_a_persons(void **state)
{
    static struct choice c;
    struct cost_policy p = {1000, 200, 240000, 100, 0};
    struct fault f[FAULTS_MAX + 1];
    for (size_t i = 0; i <= FAULTS_MAX; i++)
        f[i] = (struct fault){"x", RESULT_FATAL, "gpu"};
    const char *conf = "Remedy=a Run=reboot Helps=x Confidence=99 Because=x Takes=1m Disturbs=0\n";
    choose(conf, f, FAULTS_MAX + 1, &p, &c);
    assert_string_equal(c.why, "65 faults are open; over 64 are a person's");
    choose(conf, f, FAULTS_MAX, &p, &c);
    assert_int_equal(c.candidates[0].covers, FAULTS_MAX);
    assert_int_equal(c.candidates[0].chance, 990000);
}

static unsigned tries_counted(const char *names, const char *fault, int64_t ago_s)
{
    static struct choice c;
    struct remedies r;
    const char *conf = "Remedy=a Run=reboot Helps=* Confidence=50 Because=x Takes=1m Tries=1 Window=1d\n";
    assert_int_equal(remedies_parse("conf", conf, strlen(conf), &r, NULL), 0);
    struct fault f = {fault, RESULT_FATAL, NULL};
    struct attempt a = {"a", names, {span_s(1000000 - ago_s).ns}, false};
    struct choice_input in = {.remedies = &r, .class = "gpu", .n_faults = 1, .faults = &f, .n_attempts = 1};
    in.attempts = &a;
    in.now = (struct wall){span_s(1000000).ns};
    in.policy = (struct cost_policy){1000, 200, 240000, 100, 0};
    remedy_choose(&in, &c);
    unsigned n = !c.candidates[0].possible;
    remedies_fini(&r);
    return n;
}

static void test_an_attempt_counts_for_each_fault_that_it_names(void **state)
{
    assert_int_equal(tries_counted("xid.79", "xid.79", 10), 1);
    assert_int_equal(tries_counted("ntp,xid.79,slurmd", "xid.79", 10), 1);
    assert_int_equal(tries_counted("xid.7", "xid.79", 10), 0);
    assert_int_equal(tries_counted("xid.79", "xid.7", 10), 0);
    assert_int_equal(tries_counted("", "xid.79", 10), 0);
    /* cut at 48 bytes */
    assert_int_equal(tries_counted("aaaaaaaaaaaaaaaaaaaa,bbbbbbbbbbbbbbbbbbbbbb,xid.7", "xid.79", 10), 1);
    assert_int_equal(tries_counted("aaaaaaaaaaaaaaaaaaaa,bbbbbbbbbbbbbbbbbbbbbb,xid.7", "xid.8", 10), 0);
}

static void test_an_attempt_counts_within_the_window(void **state)
{
    assert_int_equal(tries_counted("xid.79", "xid.79", 86399), 1);
    assert_int_equal(tries_counted("xid.79", "xid.79", 86400), 0);
    assert_int_equal(tries_counted("xid.79", "xid.79", -500), 1); /* the clock was set back */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chance_is_the_mean_of_prior_and_record),
        cmocka_unit_test(test_chance_is_never_nothing_and_never_certain),
        cmocka_unit_test(test_one_more_success_never_lowers_a_chance),
        cmocka_unit_test(test_the_order_of_the_file_decides_ties_alone),
        cmocka_unit_test(test_a_better_record_costs_no_more),
        cmocka_unit_test(test_a_better_record_never_ranks_lower),
        cmocka_unit_test(test_the_chosen_remedy_is_possible_and_cheapest),
        cmocka_unit_test(test_costs_are_cut_and_not_wrapped),
        cmocka_unit_test(test_a_product_that_would_wrap_is_cut),
        cmocka_unit_test(test_more_faults_than_are_looked_at_are_a_persons),
        cmocka_unit_test(test_an_attempt_counts_for_each_fault_that_it_names),
        cmocka_unit_test(test_an_attempt_counts_within_the_window),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
