/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"
#include "place/place.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/*
 * A situation is a row for each node: its cohort (a letter; '-' for none), its topology group (digits; 0
 * for none), then what is special: 'd' drifted, 'u' unproven, 'b' busy, 'x' not asked for, 'k' of class 1,
 * 'r' repaired lately;
 * "*8" for eight such rows.
 *
 * An ask is a policy, a number, and perhaps "one" (conformance is required) and "k" (class 1 alone).
 *
 * A plan is the rows, f9, the groups used with how many of each, and how many topology groups; or the
 * name of the error. Rows are numbered from 1.
 */
enum { ROWS_MAX = 4096 };

struct situation {
    size_t n;
    struct place_row rows[ROWS_MAX];
    uint8_t among[ROWS_MAX];
};

static void add_rows(struct situation *s, const char *word)
{
    struct place_row r = {.cohort = *word == '-' ? 0 : (uint32_t)(*word - 'A' + 1)};
    char *p;
    unsigned long n = 1;
    uint8_t among = 1;
    r.group = (uint16_t)strtoul(word + 1, &p, 10);
    for (; *p && *p != '*'; p++) {
        r.drifted |= *p == 'd';
        r.unproven |= *p == 'u';
        r.class |= *p == 'k';
        r.repaired |= *p == 'r';
        r.cramped |= *p == 'c';
        among &= *p != 'x';
        if (*p == 'b')
            r.pass = PASS_BUSY;
    }
    if (*p == '*')
        n = strtoul(p + 1, NULL, 10);
    while (n-- > 0) {
        assert_true(s->n < ROWS_MAX);
        s->among[s->n] = among;
        s->rows[s->n++] = r;
    }
}

static void read_situation(const char *text, struct situation *s)
{
    CLEANUP_FREE char *copy = mem_dup(text);
    char *rest = copy;
    s->n = 0;
    for (char *word; *text && (word = strsep(&rest, " "));)
        add_rows(s, word);
}

static struct place_ask read_ask(const char *text, const struct situation *s)
{
    struct place_ask ask = {.class = -1, .among = s->among};
    CLEANUP_FREE char *copy = mem_dup(text);
    char *rest = copy;
    assert_int_equal(place_policy_parse(strsep(&rest, " "), &ask.policy, NULL), 0);
    ask.n = strtoul(strsep(&rest, " "), NULL, 10);
    for (char *word; (word = strsep(&rest, " "));) {
        ask.require_conformance |= strcmp(word, "one") == 0;
        if (strcmp(word, "k") == 0)
            ask.class = 1;
    }
    return ask;
}

static void write_rows(const struct place_answer *a, struct text *t)
{
    for (size_t i = 0, j; i < a->n; i = j) {
        for (j = i + 1; j < a->n && a->nodes[j] == a->nodes[j - 1] + 1; j++)
            ;
        text_printf(t, j > i + 1 ? "%s%u-%u" : "%s%u", i ? "," : "", a->nodes[i] + 1, a->nodes[j - 1] + 1);
    }
}

static void write_plan(const struct place_answer *a, struct text *t)
{
    write_rows(a, t);
    text_printf(t, " f9=%u", a->terms[PLACE_SAMENESS].fitness_milli);
    for (size_t i = 0; i < a->n_groups; i++)
        text_printf(t, " %c%u", a->groups[i].cohort ? (char)('A' + a->groups[i].cohort - 1) : '-',
                    a->groups[i].n);
    text_printf(t, " in %zu", a->n_topology);
}

/* Sums, order, and that only rows were taken that may be. */
static void check_answer(const struct situation *s, const struct place_ask *ask, const struct place_answer *a)
{
    uint32_t passed = 0, in_groups = 0;
    for (int i = 0; i < PASSES; i++)
        passed += a->passed[i];
    assert_int_equal(passed + a->n, s->n);
    for (size_t i = 0; i < a->n_groups; i++)
        in_groups += a->groups[i].n;
    assert_int_equal(in_groups, a->n);
    for (size_t i = 0; i < a->n; i++) {
        assert_true(i == 0 || a->nodes[i] > a->nodes[i - 1]);
        assert_true(a->nodes[i] < s->n && s->rows[a->nodes[i]].pass == PASS_NONE && s->among[a->nodes[i]]);
        assert_true(ask->policy != PLACE_SENSITIVE ||
                    (!s->rows[a->nodes[i]].drifted && !s->rows[a->nodes[i]].unproven));
    }
}

static void plan_of(struct placer *p, const struct situation *s, const struct place_ask *ask,
                    struct text *plan)
{
    struct place_answer a = {0};
    struct err e = {0};
    int rc = place_choose(p, s->rows, s->n, ask, &a, &e);
    check_answer(s, ask, &a);
    text_clear(plan);
    if (rc < 0)
        text_add(plan, err_name(rc));
    else
        write_plan(&a, plan);
    place_answer_fini(&a);
}

static void plans(const char *situation, const char *asked, const char *want)
{
    static struct situation s;
    read_situation(situation, &s);
    struct place_ask ask = read_ask(asked, &s);
    struct placer *p = placer_create();
    CLEANUP_TEXT struct text first = {0}, second = {0};
    plan_of(p, &s, &ask, &first);
    plan_of(p, &s, &ask, &second);
    placer_destroy(p);
    if (strcmp(first.s, want) != 0)
        fail_msg("%s for %s\n     is: %s\nshould be: %s", asked, situation, first.s, want);
    assert_string_equal(first.s, second.s); /* nothing is left from the call before */
}

static void test_constraints_come_first(void **state)
{
    plans("A0 A0b A0 A0x A0", "hpc 3", "1,3,5 f9=1000 A3 in 0");
    plans("A0 A0k A0 B0k C0k", "hpc 2 k", "2,4 f9=500 A1 B1 in 0");
    plans("A0b*8 B0*3", "hpc 3", "9-11 f9=1000 B3 in 0");
}

static void test_the_largest_cohort_that_fits(void **state)
{
    plans("A0*3 B0*5 C0*4", "hpc 3", "4-6 f9=1000 B3 in 0");
    plans("A0*3 B0*5 C0*4", "hpc 5", "4-8 f9=1000 B5 in 0");
    plans("A0 B0 A0 B0 A0", "ml 2", "1,3 f9=1000 A2 in 0");
    plans("-0*9 A0*2", "service 2", "10-11 f9=1000 A2 in 0");
    plans("B0*3 A0*3", "hpc 2", "1-2 f9=1000 B2 in 0"); /* among equals the first */
}

static void test_when_none_fits_the_largest_are_merged(void **state)
{
    plans("A0*3 B0*5 C0*4", "hpc 6", "4-9 f9=833 B5 C1 in 0");
    plans("A0*3 B0*5 C0*4", "ml 12", "1-12 f9=416 B5 C4 A3 in 0");
    plans("A0*3 B0*5 C0*4", "service 10", "1,4-12 f9=500 B5 C4 A1 in 0");
    plans("A0*2 B0*2", "hpc 3", "1-3 f9=666 A2 B1 in 0");
}

static void test_nodes_without_a_cohort_are_groups_of_one_and_last(void **state)
{
    plans("-0*4 A0*2", "hpc 4", "1-2,5-6 f9=500 A2 -2 in 0");
    plans("-0*4", "hpc 4", "1-4 f9=250 -4 in 0");
    plans("-0*4 A0", "hpc 3", "1-2,5 f9=333 A1 -2 in 0");
}

static void test_drifted_nodes_only_when_the_others_do_not_suffice(void **state)
{
    plans("A0d*9 B0*3", "hpc 3", "10-12 f9=1000 B3 in 0");
    plans("A0d*9 B0*3 -0*2", "hpc 5", "10-14 f9=600 B3 -2 in 0");
    plans("A0d*9 B0*3 C0*2", "ml 4", "10-13 f9=750 B3 C1 in 0");
    plans("A0d*9 B0*3", "hpc 5", "1-2,10-12 f9=600 B3 A2 in 0");
    plans("A0d*9 B0*3", "interactive 4", "1,10-12 f9=750 B3 A1 in 0");
    plans("A0d B0", "hpc 1", "2 f9=1000 B1 in 0");
}

static void test_drifted_nodes_join_the_cohort_that_becomes_largest(void **state)
{
    plans("A0*3 A0d*3 B0*4 B0d", "hpc 9", "1-5,7-10 f9=555 A5 B4 in 0");
    plans("A0*3 A0d*3 B0*4 B0d", "hpc 8", "1-3,7-11 f9=625 B5 A3 in 0");
    /* then those that need no new cohort, then the largest new one */
    plans("A0*5 A0d B0*1 B0d*2 C0d*3 D0d*1", "hpc 9", "1-9 f9=666 A6 B3 in 0");
    plans("A0*5 A0d B0*1 B0d*2 D0d*1 C0d*3", "hpc 11", "1-9,11-12 f9=545 A6 B3 C2 in 0");
    plans("A0 -0d*3 C0d", "hpc 3", "1-2,5 f9=333 A1 C1 -1 in 0");
}

static void test_then_the_topology_with_the_largest_group_first(void **state)
{
    plans("A1*2 A2*4 A3*3", "hpc 4", "3-6 f9=1000 A4 in 1");
    plans("A1*2 A2*4 A3*3", "hpc 6", "3-8 f9=1000 A6 in 2");
    plans("A3*3 A2*3", "hpc 2", "4-5 f9=1000 A2 in 1"); /* among equals the lower number */
    plans("A0*5 A7", "hpc 2", "1,6 f9=1000 A2 in 1");   /* no group comes last */
    plans("A65535*2 A1", "hpc 2", "1-2 f9=1000 A2 in 1");
}

static void test_merged_cohorts_stay_in_groups_that_are_in_use(void **state)
{
    plans("A1*4 B2*3 B1*1", "hpc 5", "1-4,8 f9=800 A4 B1 in 1");
    plans("A1*4 B2*3 B1*1", "hpc 6", "1-5,8 f9=666 A4 B2 in 2");
    plans("A1*2 A2*2 B3*2 B2 B1", "hpc 6", "1-4,7-8 f9=666 A4 B2 in 2");
}

static void test_the_weights_decide_between_sameness_and_topology(void **state)
{
    /* four alike in four groups: 0.25 of topology lost thrice; or three of four alike in one: 0.25 of
     * sameness lost */
    plans("A1 B1*3 A2 A3 A4", "service 4", "1-4 f9=750 B3 A1 in 1");
    plans("A1 B1*3 A2 A3 A4", "ml 4", "1-4 f9=750 B3 A1 in 1");
    /* six alike in two groups, or three and three in one: half of either is lost */
    plans("A1*3 B1*3 A2*3", "ml 6", "1-3,7-9 f9=1000 A6 in 2");
    plans("A1*3 B1*3 A2*3", "hpc 6", "1-6 f9=500 A3 B3 in 1");
    plans("A1*3 B1*3 A2*3", "service 6", "1-6 f9=500 A3 B3 in 1");
    plans("A1*3 B1*3 A2*3", "hpc 6 one", "1-3,7-9 f9=1000 A6 in 2");
}

static void test_nodes_that_were_repaired_lately_come_last_in_their_group(void **state)
{
    plans("A1r*2 A1*3", "hpc 3", "3-5 f9=1000 A3 in 1");
    plans("A1r*2 A1*3", "hpc 4", "1,3-5 f9=1000 A4 in 1");
    plans("A1r*4 A2*3", "hpc 3", "1-3 f9=1000 A3 in 1"); /* the group comes first */
    plans("A0r B0", "interactive 1", "2 f9=1000 B1 in 0");
    plans("A0r B0 A0r C0", "service 2", "1,3 f9=1000 A2 in 0"); /* and so does the cohort */
}

static void test_nodes_with_room_come_first_in_a_group(void **state)
{
    plans("A1c*2 A1*2", "hpc 2", "3-4 f9=1000 A2 in 1");
    plans("A1rc A1r A1c A1", "hpc 3", "2-4 f9=1000 A3 in 1"); /* what was repaired comes after it */
    plans("A0c B0", "interactive 1", "2 f9=1000 B1 in 0");
    plans("A1c*4 A2*3", "hpc 3", "1-3 f9=1000 A3 in 1"); /* the group comes first */
}

static void test_the_score_is_the_sum_of_its_terms(void **state)
{
    static struct situation s;
    struct place_answer a = {0};
    read_situation("A1*3 B1*3 A2r*3", &s);
    struct place_ask ask = read_ask("ml 6", &s);
    struct placer *p = placer_create();
    assert_int_equal(place_choose(p, s.rows, s.n, &ask, &a, NULL), 0);
    assert_int_equal(a.terms[PLACE_SAMENESS].fitness_milli, 1000);
    assert_int_equal(a.terms[PLACE_SAMENESS].weight_milli, 250);
    assert_int_equal(a.terms[PLACE_TOPOLOGY].fitness_milli, 500);
    assert_int_equal(a.terms[PLACE_TOPOLOGY].weight_milli, 150);
    assert_int_equal(a.terms[PLACE_SOUNDNESS].fitness_milli, 500);
    assert_int_equal(a.terms[PLACE_SOUNDNESS].weight_milli, 100);
    assert_int_equal(a.terms[PLACE_ROOM].fitness_milli, 1000);
    assert_int_equal(a.score_milli, 250 + 75 + 50 + 100);
    place_answer_fini(&a);
    placer_destroy(p);
}

static void test_without_weight_only_the_topology_counts(void **state)
{
    plans("A1 B1*3 A2 A3 A4", "interactive 4", "1-4 f9=750 B3 A1 in 1");
    plans("A1*3 B2*3 C2 -2", "interactive 5", "4-8 f9=600 B3 C1 -1 in 1");
}

static void test_one_node_is_always_the_same_as_itself(void **state)
{
    plans("A1*3 B2 -3*4", "ml 1", "5 f9=1000 -1 in 1");
    plans("-0", "hpc 1", "1 f9=1000 -1 in 0");
    plans("-0", "hpc 1 one", "1 f9=1000 -1 in 0");
}

static void test_one_cohort_or_nothing(void **state)
{
    plans("A0*3 B0*5", "hpc 5 one", "4-8 f9=1000 B5 in 0");
    plans("A0*3 B0*5", "hpc 6 one", "conformance_mismatch");
    plans("A0*3 B0*5", "interactive 4 one", "4-7 f9=1000 B4 in 0");
    plans("A0*3 B0*5", "hpc 9 one", "not_enough_nodes");
    plans("-0*5", "hpc 2 one", "conformance_mismatch");
}

static void test_one_cohort_may_have_drifted_when_no_other_fits(void **state)
{
    plans("A0d*9 B0*5", "hpc 5 one", "10-14 f9=1000 B5 in 0");
    plans("A0d*9 B0*5", "hpc 6 one", "1-6 f9=1000 A6 in 0");
    plans("A0d*9 B0*5 B0d", "hpc 6 one", "10-15 f9=1000 B6 in 0");
    plans("A1d*9 B1*5 B1d B2d*2", "hpc 7 one", "10-16 f9=1000 B7 in 2");
}

/* The one with more drifted nodes leaves more to choose from; else the first. */
static void test_two_cohorts_that_fit_alike(void **state)
{
    plans("A0*3 A0d*2 B0*3 B0d*3", "hpc 5 one", "6-10 f9=1000 B5 in 0");
    plans("B0*3 B0d*3 A0*3 A0d*2", "hpc 5 one", "1-5 f9=1000 B5 in 0");
    plans("A0*3 B0*3", "hpc 3 one", "1-3 f9=1000 A3 in 0");
}

static void test_the_sentence_of_a_mismatch_has_the_numbers(void **state)
{
    static struct situation s;
    struct err e = {0};
    struct place_answer a = {0};
    read_situation("A0*3 B0*5 -0*2 A0b*4", &s);
    struct place_ask ask = read_ask("hpc 6 one", &s);
    struct placer *p = placer_create();
    assert_int_equal(place_choose(p, s.rows, s.n, &ask, &a, &e), -EMEDIUMTYPE);
    assert_string_equal(e.msg,
                        "6 nodes of one cohort are asked for; 10 nodes fit, at most 5 of them of one cohort");
    assert_int_equal(a.n, 0);
    assert_int_equal(a.passed[PASS_BUSY], 4);
    place_answer_fini(&a);
    placer_destroy(p);
}

static void test_sensitive_work_takes_conformant_nodes_alone(void **state)
{
    plans("A0d*9 B0u*9 C0*3", "sensitive 3", "19-21 f9=1000 C3 in 0");
    plans("A0d*9 B0u*9 C0*3", "sensitive 4", "not_enough_nodes");
    plans("A0d*9 B0u*9 C0*3 D0", "sensitive 4", "19-22 f9=750 C3 D1 in 0");
}

static void test_unproven_nodes_are_like_others_elsewhere(void **state)
{
    plans("A0*3 B0u*4", "hpc 4", "4-7 f9=1000 B4 in 0");
}

static void test_each_node_is_passed_over_for_the_first_reason_that_holds(void **state)
{
    struct place_row rows[] = {
        {.pass = PASS_UNLISTED, .class = 1, .drifted = true},
        {.pass = PASS_DRIFT, .class = 1},
        {.pass = PASS_DOWN, .class = 1},
        {.pass = PASS_DRAINED},
        {.pass = PASS_REPAIR},
        {.pass = PASS_NOT_READY},
        {.pass = PASS_NOT_HEARD},
        {.pass = PASS_ELSEWHERE},
        {.pass = PASS_SHORTFALL},
        {.pass = PASS_ILL},
        {.pass = PASS_BUSY, .unproven = true},
        {.pass = PASS_WORK_UNKNOWN},
        {.pass = PASS_OWNED},
        {.class = 1, .drifted = true},       /* not named */
        {.class = 1, .drifted = true},       /* other class */
        {.drifted = true, .unproven = true}, /* drifted */
        {.unproven = true},                  /* unproven */
        {.cohort = 1},
        {.cohort = 1},
    };
    const uint8_t among[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1};
    struct place_ask ask = {.n = 1, .policy = PLACE_SENSITIVE, .class = 0, .among = among};
    struct place_answer a = {0};
    struct err e = {0};
    struct placer *p = placer_create();
    assert_int_equal(place_choose(p, rows, 19, &ask, &a, &e), 0);
    assert_int_equal(a.nodes[0], 17);
    for (int i = 0; i < PASSES; i++)
        assert_int_equal(a.passed[i], 1);
    ask.n = 3; /* the answer may be used again */
    assert_int_equal(place_choose(p, rows, 19, &ask, &a, &e), -ENODEV);
    assert_string_equal(
        e.msg,
        "3 nodes are asked for and 2 fit; passed over: 1 unlisted, 1 held_for_drift, 1 down, 1 drained, "
        "1 in_repair, 1 not_ready, 1 not_heard, 1 held_elsewhere, 1 shortfall, 1 ill, 1 busy, 1 "
        "work_unknown, 1 owned, 1 not_named, 1 other_class, 1 drifted, 1 unproven");
    assert_int_equal(a.n, 0);
    assert_int_equal(a.passed[PASS_NONE], 2);
    place_answer_fini(&a);
    placer_destroy(p);
}

static void test_too_few_nodes(void **state)
{
    plans("", "hpc 1", "not_enough_nodes");
    plans("A0*3", "hpc 4", "not_enough_nodes");
    plans("A0b*3", "interactive 1", "not_enough_nodes");
    plans("A0*3", "hpc 18446744073709551615", "not_enough_nodes");
    struct err e = {0};
    struct place_answer a = {0};
    struct placer *p = placer_create();
    const struct place_ask ask = {.n = 2, .class = -1};
    assert_int_equal(place_choose(p, NULL, 0, &ask, &a, &e), -ENODEV);
    assert_string_equal(e.msg, "2 nodes are asked for and 0 fit");
    placer_destroy(p);
    placer_destroy(NULL);
}

static void test_no_nodes_are_not_asked_for(void **state)
{
    const struct place_row rows[2] = {{.cohort = 1}};
    const struct place_ask ask = {.class = -1};
    struct place_answer a = {0};
    struct err e = {0};
    struct placer *p = placer_create();
    assert_int_equal(place_choose(p, rows, 2, &ask, &a, &e), -EINVAL);
    assert_string_equal(e.msg, "no nodes are asked for");
    placer_destroy(p);
}

static void test_class_numbers_above_255_are_255(void **state)
{
    const struct place_row rows[] = {{.class = 254}, {.class = 255}};
    const struct place_ask ask = {.n = 1, .class = 300};
    struct place_answer a = {0};
    struct placer *p = placer_create();
    assert_int_equal(place_choose(p, rows, 2, &ask, &a, NULL), 0);
    assert_int_equal(a.nodes[0], 1);
    place_answer_fini(&a);
    placer_destroy(p);
}

enum { SMALL = 10 };

static void random_situation(struct situation *s, unsigned *seed, unsigned groups)
{
    s->n = 1 + (size_t)rand_r(seed) % SMALL;
    for (size_t i = 0; i < s->n; i++) {
        s->among[i] = rand_r(seed) % 12 > 0;
        s->rows[i] = (struct place_row){.cohort = (uint32_t)rand_r(seed) % 4,
                                        .group = (uint16_t)((unsigned)rand_r(seed) % groups),
                                        .repaired = rand_r(seed) % 4 == 0,
                                        .cramped = rand_r(seed) % 4 == 0,
                                        .pass = rand_r(seed) % 12 ? PASS_NONE : PASS_BUSY,
                                        .drifted = rand_r(seed) % 4 == 0};
    }
}

/* How good a set of nodes is, worst first: drifted nodes, f9 (of cohorts when they matter), cohorts. */
struct merit {
    unsigned drifted, missing, cohorts;
};

static struct merit merit_of(const struct situation *s, unsigned set, bool same)
{
    unsigned of[4] = {0}, n = 0, largest = 0;
    struct merit m = {0};
    for (unsigned i = 0; i < s->n; i++) {
        if (!(set >> i & 1))
            continue;
        n++;
        of[s->rows[i].cohort]++;
        m.drifted += s->rows[i].drifted;
    }
    for (int k = 1; k < 4; k++) {
        largest = of[k] > largest ? of[k] : largest;
        m.cohorts += of[k] > 0;
    }
    largest = largest == 0 ? 1 : largest;
    m.missing = n - largest;
    m.cohorts += of[0];
    return same ? m : (struct merit){m.drifted, 0, 0};
}

static bool better(struct merit a, struct merit b)
{
    if (a.drifted != b.drifted)
        return a.drifted < b.drifted;
    return a.missing != b.missing ? a.missing < b.missing : a.cohorts < b.cohorts;
}

/* Where all nodes are as near, against all sets of as many nodes: none has fewer drifted nodes, then a better
 * f9, then fewer cohorts. */
static void test_no_other_set_of_nodes_is_better(void **state)
{
    static struct situation s;
    unsigned seed = 13, chosen = 0;
    struct placer *p = placer_create();
    for (int round = 0; round < 1500; round++) {
        random_situation(&s, &seed, 1);
        struct place_ask ask = {.n = 1 + (size_t)rand_r(&seed) % s.n,
                                .class = -1,
                                .among = s.among,
                                .policy = rand_r(&seed) % 4 ? PLACE_HPC : PLACE_INTERACTIVE};
        struct place_answer a = {0};
        bool same = ask.policy == PLACE_HPC && ask.n > 1;
        unsigned fit = 0, set = 0;
        for (unsigned i = 0; i < s.n; i++)
            fit |= (unsigned)(s.among[i] && s.rows[i].pass == PASS_NONE) << i;
        int rc = place_choose(p, s.rows, s.n, &ask, &a, NULL);
        assert_int_equal(rc, (size_t)__builtin_popcount(fit) < ask.n ? -ENODEV : 0);
        check_answer(&s, &ask, &a);
        for (size_t i = 0; i < a.n; i++)
            set |= 1U << a.nodes[i];
        struct merit mine = merit_of(&s, set, same);
        for (unsigned other = 1; rc == 0 && other < 1U << s.n; other++)
            if ((other & ~fit) == 0 && (size_t)__builtin_popcount(other) == ask.n)
                assert_false(better(merit_of(&s, other, same), mine));
        chosen += rc == 0;
        place_answer_fini(&a);
    }
    assert_true(chosen > 500);
    placer_destroy(p);
}

static unsigned places_of(const struct situation *s, unsigned set)
{
    unsigned seen = 0;
    for (unsigned i = 0; i < s->n; i++)
        if (set >> i & 1)
            seen |= 1U << s->rows[i].group;
    return (unsigned)__builtin_popcount(seen);
}

static unsigned repaired_of(const struct situation *s, unsigned set)
{
    unsigned n = 0;
    for (unsigned i = 0; i < s->n; i++)
        n += (set >> i & 1) && s->rows[i].repaired;
    return n;
}

static unsigned cramped_of(const struct situation *s, unsigned set)
{
    unsigned n = 0;
    for (unsigned i = 0; i < s->n; i++)
        n += (set >> i & 1) && s->rows[i].cramped;
    return n;
}

/* What the answer says of its nodes is true. Of all sets with as few drifted nodes none lies in fewer groups
 * than it says, where all nodes are in one. */
static void test_the_terms_are_true(void **state)
{
    static struct situation s;
    unsigned seed = 31, in_more = 0;
    struct placer *p = placer_create();
    for (int round = 0; round < 1500; round++) {
        random_situation(&s, &seed, 4);
        struct place_ask ask = {.n = 1 + (size_t)rand_r(&seed) % s.n,
                                .class = -1,
                                .among = s.among,
                                .policy = rand_r(&seed) % 2 ? PLACE_ML : PLACE_SERVICE};
        struct place_answer a = {0};
        unsigned fit = 0, set = 0, fewest = 4, n = (unsigned)ask.n;
        for (unsigned i = 0; i < s.n; i++)
            fit |= (unsigned)(s.among[i] && s.rows[i].pass == PASS_NONE) << i;
        for (unsigned i = 0; i < s.n; i++)
            s.rows[i].group++;
        if (place_choose(p, s.rows, s.n, &ask, &a, NULL) < 0)
            continue;
        for (size_t i = 0; i < a.n; i++)
            set |= 1U << a.nodes[i];
        struct merit mine = merit_of(&s, set, true);
        for (unsigned other = 1; other < 1U << s.n; other++)
            if ((other & ~fit) == 0 && (unsigned)__builtin_popcount(other) == n &&
                merit_of(&s, other, false).drifted == mine.drifted && places_of(&s, other) < fewest)
                fewest = places_of(&s, other);
        assert_int_equal(a.terms[PLACE_SAMENESS].fitness_milli, (n - mine.missing) * 1000 / n);
        assert_int_equal(a.terms[PLACE_TOPOLOGY].fitness_milli, fewest * 1000 / places_of(&s, set));
        assert_int_equal(a.terms[PLACE_SOUNDNESS].fitness_milli, (n - repaired_of(&s, set)) * 1000 / n);
        assert_int_equal(a.terms[PLACE_ROOM].fitness_milli, (n - cramped_of(&s, set)) * 1000 / n);
        in_more += places_of(&s, set) > fewest;
        place_answer_fini(&a);
    }
    assert_true(in_more > 20);
    placer_destroy(p);
}

static void test_nothing_is_left_of_the_calls_before(void **state)
{
    static struct situation s;
    unsigned seed = 29;
    struct placer *used = placer_create();
    CLEANUP_TEXT struct text first = {0}, second = {0};
    for (int round = 0; round < 1000; round++) {
        random_situation(&s, &seed, 4);
        struct place_ask ask = {.n = 1 + (size_t)rand_r(&seed) % s.n,
                                .class = -1,
                                .among = s.among,
                                .policy = (enum place_policy)(rand_r(&seed) % PLACE_POLICIES),
                                .require_conformance = rand_r(&seed) % 4 == 0};
        struct placer *new = placer_create();
        plan_of(used, &s, &ask, &first);
        plan_of(new, &s, &ask, &second);
        assert_string_equal(first.s, second.s);
        placer_destroy(new);
    }
    placer_destroy(used);
}

static void shuffle(struct situation *s, unsigned *seed)
{
    for (size_t i = s->n - 1; i > 0; i--) {
        size_t j = (size_t)rand_r(seed) % (i + 1);
        struct place_row r = s->rows[i];
        uint8_t among = s->among[i];
        s->rows[i] = s->rows[j];
        s->among[i] = s->among[j];
        s->rows[j] = r;
        s->among[j] = among;
    }
}

/* What a plan is worth: everything but which rows and which cohort's number. */
static void write_worth(struct placer *p, const struct situation *s, const struct place_ask *ask,
                        struct text *t)
{
    struct place_answer a = {0};
    int rc = place_choose(p, s->rows, s->n, ask, &a, NULL);
    text_clear(t);
    text_printf(t, "%d f9=%u", rc, a.terms[PLACE_SAMENESS].fitness_milli);
    for (size_t i = 0; i < a.n_groups; i++)
        text_printf(t, " %s%u", a.groups[i].cohort ? "" : "-", a.groups[i].n);
    for (int i = 0; i < PASSES; i++)
        text_printf(t, ",%u", a.passed[i]);
    place_answer_fini(&a);
}

static void test_the_order_of_the_rows_changes_nothing_but_their_numbers(void **state)
{
    static struct situation s;
    unsigned seed = 17;
    struct placer *p = placer_create();
    CLEANUP_TEXT struct text before = {0}, after = {0};
    for (int round = 0; round < 2000; round++) {
        random_situation(&s, &seed, 1);
        struct place_ask ask = {.n = 1 + (size_t)rand_r(&seed) % s.n,
                                .class = -1,
                                .among = s.among,
                                .require_conformance = rand_r(&seed) % 4 == 0};
        write_worth(p, &s, &ask, &before);
        shuffle(&s, &seed);
        write_worth(p, &s, &ask, &after);
        if (ask.n > 1) /* of one node the cohort does not matter, and so it is not the same one */
            assert_string_equal(before.s, after.s);
    }
    placer_destroy(p);
}

static void test_the_numbers_of_cohorts_change_nothing(void **state)
{
    static struct situation s;
    unsigned seed = 19;
    struct placer *p = placer_create();
    for (int round = 0; round < 500; round++) {
        random_situation(&s, &seed, 4);
        struct place_ask ask = {.n = 1 + (size_t)rand_r(&seed) % s.n, .class = -1, .among = s.among};
        struct place_answer a = {0}, b = {0};
        int rc = place_choose(p, s.rows, s.n, &ask, &a, NULL);
        for (size_t i = 0; i < s.n; i++)
            s.rows[i].cohort = s.rows[i].cohort ? 70000 - s.rows[i].cohort * 20000 : 0;
        assert_int_equal(place_choose(p, s.rows, s.n, &ask, &b, NULL), rc);
        assert_int_equal(a.n, b.n);
        if (rc == 0)
            assert_memory_equal(a.nodes, b.nodes, a.n * sizeof *a.nodes);
        place_answer_fini(&a);
        place_answer_fini(&b);
    }
    placer_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_constraints_come_first),
        cmocka_unit_test(test_the_largest_cohort_that_fits),
        cmocka_unit_test(test_when_none_fits_the_largest_are_merged),
        cmocka_unit_test(test_nodes_without_a_cohort_are_groups_of_one_and_last),
        cmocka_unit_test(test_drifted_nodes_only_when_the_others_do_not_suffice),
        cmocka_unit_test(test_drifted_nodes_join_the_cohort_that_becomes_largest),
        cmocka_unit_test(test_then_the_topology_with_the_largest_group_first),
        cmocka_unit_test(test_merged_cohorts_stay_in_groups_that_are_in_use),
        cmocka_unit_test(test_the_weights_decide_between_sameness_and_topology),
        cmocka_unit_test(test_nodes_that_were_repaired_lately_come_last_in_their_group),
        cmocka_unit_test(test_nodes_with_room_come_first_in_a_group),
        cmocka_unit_test(test_the_score_is_the_sum_of_its_terms),
        cmocka_unit_test(test_without_weight_only_the_topology_counts),
        cmocka_unit_test(test_one_node_is_always_the_same_as_itself),
        cmocka_unit_test(test_one_cohort_or_nothing),
        cmocka_unit_test(test_one_cohort_may_have_drifted_when_no_other_fits),
        cmocka_unit_test(test_two_cohorts_that_fit_alike),
        cmocka_unit_test(test_the_sentence_of_a_mismatch_has_the_numbers),
        cmocka_unit_test(test_sensitive_work_takes_conformant_nodes_alone),
        cmocka_unit_test(test_unproven_nodes_are_like_others_elsewhere),
        cmocka_unit_test(test_each_node_is_passed_over_for_the_first_reason_that_holds),
        cmocka_unit_test(test_too_few_nodes),
        cmocka_unit_test(test_no_nodes_are_not_asked_for),
        cmocka_unit_test(test_class_numbers_above_255_are_255),
        cmocka_unit_test(test_no_other_set_of_nodes_is_better),
        cmocka_unit_test(test_the_terms_are_true),
        cmocka_unit_test(test_nothing_is_left_of_the_calls_before),
        cmocka_unit_test(test_the_order_of_the_rows_changes_nothing_but_their_numbers),
        cmocka_unit_test(test_the_numbers_of_cohorts_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
