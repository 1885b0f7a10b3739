/* SPDX-License-Identifier: Apache-2.0 */
#include "node/lifecycle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct agreed agreed_of(unsigned bits)
{
    return (struct agreed){.listed = bits & 1,
                           .admitted = bits & 2,
                           .drain = bits & 4,
                           .drained = bits & 8,
                           .down = bits & 16,
                           .silent = bits & 32};
}

/* Compares with a golden file; LIFECYCLE_OUT and STEPS_OUT name where to write it anew. */
static void compare(const struct text *t, const char *path, const char *out)
{
    if (out) {
        FILE *f = fopen(out, "w");
        assert_non_null(f);
        fputs(t->s, f);
        fclose(f);
    }
    CLEANUP_FREE char *golden = mem_alloc(t->len + 4096);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    golden[fread(golden, 1, t->len + 4095, f)] = '\0';
    fclose(f);
    assert_string_equal(t->s, golden);
}

/* Every combination, in the 2001 words: what changes a word shows here. */
static void test_matrix(void **state)
{
    CLEANUP_TEXT struct text t = {0};
    text_add(&t, "listed admitted drain drained down silent  lifecycle   unknown    idle       busy\n");
    for (unsigned bits = 0; bits < 64; bits++) {
        struct agreed a = agreed_of(bits);
        enum lifecycle l = lifecycle_of(&a);
        text_printf(&t, "%-6s %-8s %-5s %-7s %-4s %-6s  %-10s  %-9s  %-9s  %s\n", a.listed ? "yes" : "-",
                    a.admitted ? "yes" : "-", a.drain ? "yes" : "-", a.drained ? "yes" : "-",
                    a.down ? "yes" : "-", a.silent ? "yes" : "-", lifecycle_name(l),
                    lifecycle_word(l, WORK_UNKNOWN), lifecycle_word(l, WORK_IDLE),
                    lifecycle_word(l, WORK_BUSY));
    }
    compare(&t, TEST_DATA "/lifecycle.txt", getenv("LIFECYCLE_OUT"));
}

static bool step_may_alone(enum step from, enum step to)
{
    size_t n;
    const struct step_move *moves = step_moves(&n);
    for (size_t i = 0; i < n; i++)
        if (moves[i].from == from && moves[i].to == to && !step_event_is_persons(moves[i].event))
            return true;
    return false;
}

static const char *move_word(enum step from, enum step to)
{
    return !step_may(from, to) ? "-" : step_may_alone(from, to) ? "yes" : "person";
}

/* Where a repair may go from each step ("person": by a person's word alone), and what the node is meanwhile.
 */
static void test_steps(void **state)
{
    CLEANUP_TEXT struct text t = {0};
    text_add(&t, "from \\ to   ");
    for (int to = 0; to < STEPS; to++)
        text_printf(&t, " %10s", step_name((enum step)to));
    for (int from = 0; from < STEPS; from++) {
        text_printf(&t, "\n%-12s", step_name((enum step)from));
        for (int to = 0; to < STEPS; to++)
            text_printf(&t, " %10s", move_word((enum step)from, (enum step)to));
    }
    text_add(&t, "\n\nstep           in service      drained       silent         down     unlisted\n");
    for (int s = 0; s < STEPS; s++) {
        const struct agreed each[] = {{.listed = true, .admitted = true},
                                      {.listed = true, .admitted = true, .drain = true, .drained = true},
                                      {.listed = true, .admitted = true, .silent = true},
                                      {.listed = true, .admitted = true, .down = true},
                                      {.admitted = true}};
        text_printf(&t, "%-12s", step_name((enum step)s));
        for (size_t i = 0; i < sizeof each / sizeof each[0]; i++) {
            struct agreed a = each[i];
            a.step = (enum step)s;
            text_printf(&t, " %12s", lifecycle_name(lifecycle_of(&a)));
        }
        text_add(&t, "\n");
    }
    compare(&t, TEST_DATA "/node/steps.txt", getenv("STEPS_OUT"));
}

/* The action belongs to the move between two steps; at a step, an event with its guard leads to one other
 * step; and no row of the table is idle. */
static void test_moves(void **state)
{
    bool has_event[STEP_EVENTS] = {false}, has_guard[STEP_GUARDS] = {false}, has_then[STEP_THENS] = {false};
    size_t n;
    const struct step_move *moves = step_moves(&n);
    for (size_t i = 0; i < n; i++) {
        has_event[moves[i].event] = has_guard[moves[i].guard] = has_then[moves[i].then] = true;
        assert_int_equal(moves[i].then, step_then(moves[i].from, moves[i].to));
        assert_true(step_may_by(moves[i].from, moves[i].event, moves[i].to));
        for (size_t k = 0; k < i; k++)
            assert_false(moves[i].from == moves[k].from && moves[i].event == moves[k].event &&
                         moves[i].guard == moves[k].guard);
    }
    for (unsigned e = STEP_EVENT_NONE + 1; e < STEP_EVENTS; e++) {
        assert_true(has_event[e] && *step_event_what((enum step_event)e));
        assert_int_equal(step_event_find(step_event_name((enum step_event)e)), e);
    }
    assert_false(has_event[STEP_EVENT_NONE]);
    assert_string_equal(step_event_name(STEP_EVENT_NONE), "");
    assert_string_equal(step_event_name(STEP_EVENT_NOT_REMEDIED), "not_remedied");
    assert_int_equal(step_event_find("Fatal"), STEP_EVENT_NONE);
    assert_int_equal(step_event_find(""), STEP_EVENT_NONE);
    assert_true(step_may_by(STEP_ISOLATE, STEP_EVENT_DRAINED, STEP_EXAMINE));
    assert_false(step_may_by(STEP_ISOLATE, STEP_EVENT_PASSED, STEP_EXAMINE));
    assert_false(step_may_by(STEP_ISOLATE, STEP_EVENT_NONE, STEP_EXAMINE));
    for (unsigned g = 0; g < STEP_GUARDS; g++)
        assert_true(has_guard[g] && (g == STEP_GUARD_ALWAYS) == !*step_guard_what((enum step_guard)g));
    for (unsigned t = 0; t < STEP_THENS; t++)
        assert_true(has_then[t] && (t == STEP_THEN_ENTER) == !*step_then_what((enum step_then)t));
    assert_true(step_event_is_persons(STEP_EVENT_RETIRE) && !step_event_is_persons(STEP_EVENT_FATAL));
    assert_int_equal(step_then(STEP_NONE, STEP_ISOLATE), STEP_THEN_CLAIM);
    assert_int_equal(step_then(STEP_NONE, STEP_TEND), STEP_THEN_ORDER);
    assert_int_equal(step_then(STEP_PROVISION, STEP_NONE), STEP_THEN_RELEASE);
    assert_string_equal(step_then_what(STEP_THEN_ENTER), "");
    assert_string_equal(step_then_what(STEP_THEN_CLAIM), "a claim takes the node out of service");
}

static void test_steps_by_name(void **state)
{
    for (int s = 0; s < STEPS; s++) {
        enum step found = STEPS;
        assert_true(step_parse(step_name((enum step)s), &found));
        assert_int_equal(found, s);
        assert_true(strlen(step_what((enum step)s)) > 0);
        /* a person ends the waiting; but a shared cause that is over gives its nodes back */
        assert_true(!step_may_alone(STEP_QUEUE, (enum step)s) || s == STEP_PROVISION);
    }
    enum step s = STEP_QUEUE;
    assert_false(step_parse("Queue", &s));
    assert_int_equal(s, STEP_QUEUE);
    assert_int_equal(step_lifecycle(STEP_ISOLATE), LIFECYCLES);
    assert_int_equal(step_lifecycle(STEP_EXAMINE), LIFECYCLE_EXAMINING);
}

static struct fitness fit(void)
{
    return (struct fitness){.agreed = {.listed = true, .admitted = true},
                            .liveness = LIVENESS_LIVE,
                            .work = WORK_IDLE,
                            .reported = true};
}

static const char *why(const struct fitness *f)
{
    static char shown[600];
    CLEANUP_TEXT struct text t = {0};
    bool good = lifecycle_schedulable(f, &t);
    assert_int_equal(good, t.len == 0);
    assert_int_equal(good, lifecycle_schedulable(f, NULL));
    snprintf(shown, sizeof shown, "%s", good ? "fit" : t.s);
    return shown;
}

static void test_why(void **state)
{
    struct fitness f = fit();
    assert_string_equal(why(&f), "fit");
    f.work = WORK_BUSY;
    assert_string_equal(why(&f), "fit");
    f.shortfall = "CPUs 2 < 4";
    assert_string_equal(why(&f), "less than specified: CPUs 2 < 4");
    f.agreed.drain = true;
    f.claims = "drain by root: bad DIMM";
    f.liveness = LIVENESS_LATE;
    f.silence = span_s(45);
    assert_string_equal(why(&f),
                        "drain by root: bad DIMM; late: not heard for 45s; less than specified: CPUs 2 < 4");

    f = fit();
    f.liveness = LIVENESS_SILENT;
    f.silence = span_s(192);
    f.agreed.silent = true;
    assert_string_equal(why(&f), "silent for 3m12s");
    f.liveness = LIVENESS_LIVE;
    assert_string_equal(why(&f), "heard again; its return is being recorded");
    f = fit();
    f.liveness = LIVENESS_UNHEARD;
    assert_string_equal(why(&f), "not heard since the controller started");
    f.agreed.admitted = false;
    assert_string_equal(why(&f), "never heard");
    f.liveness = LIVENESS_LIVE;
    assert_string_equal(why(&f), "heard for the first time; being recorded");
    f = fit();
    f.reported = false;
    assert_string_equal(why(&f), "has not reported its inventory yet");
    f = fit();
    f.agreed.listed = false;
    assert_string_equal(why(&f), "no configuration file names it");
}

/* A drain by hand keeps work away wherever it was made, and what slurmctld does by itself does too. */
static void test_out_elsewhere(void **state)
{
    (void)state;
    const struct elsewhere
        held = {.state = ELSEWHERE_HELD, .out = true, .how = "drained", .by = "ann", .why = "cable"},
        out = {.out = true, .how = "down", .why = "Not responding"},
        locked = {.where = ELSEWHERE_OCHAMI, .state = ELSEWHERE_HELD, .how = "locked"},
        bmc = {.where = ELSEWHERE_BMC, .state = ELSEWHERE_HELD, .out = true, .how = "locked"};
    struct fitness f = fit();
    f.elsewhere[ELSEWHERE_SLURM] = &held;
    assert_string_equal(why(&f), "slurm: drained by ann: cable");
    f.elsewhere[ELSEWHERE_SLURM] = &out;
    f.elsewhere[ELSEWHERE_BMC] = &bmc;
    assert_string_equal(why(&f), "slurm: down: Not responding; bmc: locked");
    f = fit();
    f.elsewhere[ELSEWHERE_OCHAMI] = &locked; /* about its power, and not about work */
    assert_string_equal(why(&f), "fit");
}

/* It is said, and nothing is made of it. */
static void test_unknown_elsewhere(void **state)
{
    (void)state;
    const struct elsewhere unknown = {.state = ELSEWHERE_UNKNOWN, .since = {INT64_C(1794000000000000000)}};
    CLEANUP_TEXT struct text t = {0};
    struct fitness f = fit();
    f.elsewhere[ELSEWHERE_SLURM] = &unknown;
    assert_true(lifecycle_schedulable(&f, &t));
    assert_string_equal(t.s, "slurm: whether somebody holds it is not known since 2026-11-06T21:20:00.000Z");
    f.shortfall = "CPUs 2 < 4";
    assert_false(lifecycle_schedulable(&f, &t));
    assert_string_equal(
        t.s, "less than specified: CPUs 2 < 4; slurm: whether somebody holds it is not known since "
             "2026-11-06T21:20:00.000Z");
}

/* Nothing that is not available, live and known is ever schedulable, whatever was said of it. */
static void test_schedulable_only_in_service(void **state)
{
    size_t good = 0;
    for (unsigned bits = 0; bits < 64; bits++) {
        for (int live = LIVENESS_UNHEARD; live <= LIVENESS_SILENT; live++) {
            for (int reported = 0; reported < 2 * STEPS; reported++) {
                struct fitness f = {
                    .agreed = agreed_of(bits), .liveness = (enum liveness)live, .reported = reported % 2};
                f.agreed.step = (enum step)(reported / 2);
                bool may = strcmp(why(&f), "fit") == 0;
                good += may;
                assert_true(!may || (lifecycle_of(&f.agreed) == LIFECYCLE_AVAILABLE &&
                                     live == LIVENESS_LIVE && reported % 2));
            }
        }
    }
    assert_true(good > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_matrix),
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_steps_by_name),
        cmocka_unit_test(test_moves),
        cmocka_unit_test(test_why),
        cmocka_unit_test(test_out_elsewhere),
        cmocka_unit_test(test_unknown_elsewhere),
        cmocka_unit_test(test_schedulable_only_in_service),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
