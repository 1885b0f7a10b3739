/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/uplink/course.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* Jitter is full, so the largest number gives the longest wait and zero gives none. */
static const uint64_t MOST = UINT64_MAX;

static const struct course_collector LX09 = {"lx09", {"192.0.2.9", 6121}};

struct walk {
    struct course c;
    struct mono now;
};

static struct walk begin(const char *controllers)
{
    struct walk w = {.now = {span_s(1000).ns}};
    struct address_list list = {0};
    assert_int_equal(address_list_add(&list, controllers, NULL), 0);
    course_init(&w.c, &list);
    return w;
}

static struct course_effects step(struct walk *w, struct course_event event)
{
    event.now = w->now;
    return course_step(&w->c, &event);
}

static struct course_effects go(struct walk *w, enum course_event_kind kind)
{
    return step(w, (struct course_event){.kind = kind});
}

static struct course_effects welcome(struct walk *w, uint64_t term)
{
    return step(w, (struct course_event){.kind = COURSE_WELCOME, .term = term, .spread = span_ms(500)});
}

static struct course_effects redirect(struct walk *w, const struct course_collector *to)
{
    return step(w, (struct course_event){.kind = COURSE_REDIRECT, .collector = to});
}

static struct course_effects refuse(struct walk *w, int code)
{
    return step(w, (struct course_event){.kind = COURSE_REFUSE, .code = code});
}

static void connect(struct walk *w, uint64_t term)
{
    go(w, w->c.state == COURSE_WAITING ? COURSE_DUE : COURSE_START);
    go(w, COURSE_OPENED);
    assert_true(welcome(w, term).welcomed);
}

/* A dial that fails; how long it waits at most then. */
static int64_t miss_s(struct walk *w)
{
    assert_true(go(w, COURSE_DUE).dial);
    struct course_effects out = step(w, (struct course_event){.kind = COURSE_CLOSED, .random = MOST});
    assert_true(out.wait);
    return (span_to_ms(out.wait_for) + 999) / 1000;
}

static void dials_greets_and_reports(void **state)
{
    struct walk w = begin("a,b");
    struct course_effects out = go(&w, COURSE_START);
    assert_true(out.dial);
    assert_string_equal(course_target(&w.c)->host, "a");
    out = go(&w, COURSE_OPENED);
    assert_true(out.hello);
    assert_true(welcome(&w, 1).welcomed);
    assert_int_equal(w.c.state, COURSE_WELCOMED);
}

static void tries_controllers_in_turn(void **state)
{
    struct walk w = begin("a,b,c");
    miss_s(&w);
    assert_string_equal(course_target(&w.c)->host, "b");
    miss_s(&w);
    assert_string_equal(course_target(&w.c)->host, "c");
    miss_s(&w);
    assert_string_equal(course_target(&w.c)->host, "a");
}

static void learn(struct walk *w, const char *controllers)
{
    struct address_list list = {0};
    assert_int_equal(address_list_add(&list, controllers, NULL), 0);
    course_learn(&w->c, &list);
}

static const char *turn(struct walk *w)
{
    go(w, w->c.state == COURSE_WAITING && w->c.attempt ? COURSE_DUE : COURSE_START);
    const char *host = course_target(&w->c)->host;
    go(w, COURSE_CLOSED);
    return host;
}

static void learns_controllers_behind_those_that_are_configured(void **state)
{
    struct walk w = begin("a,b");
    learn(&w, "b,c,d");
    assert_int_equal(w.c.controllers.n, 4);
    assert_string_equal(turn(&w), "a");
    assert_string_equal(turn(&w), "b");
    assert_string_equal(turn(&w), "c");
    learn(&w, "e,d"); /* it is d's turn, and stays so */
    assert_int_equal(w.c.controllers.n, 4);
    assert_string_equal(turn(&w), "d");
    assert_string_equal(turn(&w), "a");
    learn(&w, "");
    assert_int_equal(w.c.controllers.n, 2);
    assert_string_equal(turn(&w), "b");
    assert_string_equal(turn(&w), "a");
}

static void a_learned_controller_that_goes_in_its_turn_gives_it_to_the_first(void **state)
{
    struct walk w = begin("a");
    learn(&w, "b,c");
    assert_string_equal(turn(&w), "a");
    go(&w, COURSE_DUE);
    assert_string_equal(course_target(&w.c)->host, "b");
    learn(&w, "c");
    assert_string_equal(course_target(&w.c)->host, "a");
}

static void learns_no_more_than_there_is_room_for(void **state)
{
    struct walk w = begin("a");
    learn(&w, "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16");
    assert_int_equal(w.c.controllers.n, ADDRESS_LIST_MAX);
    assert_string_equal(w.c.controllers.at[0].host, "a");
}

static void backs_off_to_a_minute_and_never_gives_up(void **state)
{
    struct walk w = begin("a");
    int64_t longest = 0;
    for (int i = 0; i < 100; i++) {
        int64_t s = miss_s(&w);
        assert_true(s <= 60);
        longest = s > longest ? s : longest;
    }
    assert_true(longest >= 30);
}

static void comes_back_within_the_spread_after_a_link_that_held(void **state)
{
    struct walk w = begin("a,b");
    for (int i = 0; i < 5; i++)
        miss_s(&w);
    connect(&w, 1);
    w.now = mono_add(w.now, span_s(60));
    const char *held = course_target(&w.c)->host;
    struct course_effects out = step(&w, (struct course_event){.kind = COURSE_CLOSED, .random = MOST});
    assert_true(out.wait);
    assert_true(span_to_ms(out.wait_for) <= 500);
    assert_string_equal(course_target(&w.c)->host, held);
}

static void a_link_that_does_not_hold_does_not_end_the_backoff(void **state)
{
    struct walk w = begin("a");
    int64_t longest = 0;
    go(&w, COURSE_START);
    for (int i = 0; i < 20; i++) {
        go(&w, COURSE_DUE);
        go(&w, COURSE_OPENED);
        welcome(&w, 1);
        struct course_effects out = step(&w, (struct course_event){.kind = COURSE_CLOSED, .random = MOST});
        longest = span_to_ms(out.wait_for) > longest ? span_to_ms(out.wait_for) : longest;
    }
    assert_true(longest > 10000);
}

/* Its state was made anew: its terms are others. */
static void a_controller_of_another_state_begins_its_terms_anew(void **state)
{
    struct walk w = begin("a");
    struct course_event other = {
        .kind = COURSE_WELCOME, .term = 2, .origin = "other", .spread = span_ms(500)};
    connect(&w, 7);
    go(&w, COURSE_CLOSED);
    go(&w, COURSE_DUE);
    go(&w, COURSE_OPENED);
    assert_true(step(&w, other).welcomed);
    go(&w, COURSE_CLOSED);
    go(&w, COURSE_DUE);
    go(&w, COURSE_OPENED);
    other.term = 1;
    assert_true(step(&w, other).old_term);
}

static void leaves_a_controller_with_an_older_term(void **state)
{
    struct walk w = begin("a,b");
    connect(&w, 7);
    go(&w, COURSE_CLOSED);
    go(&w, COURSE_DUE);
    go(&w, COURSE_OPENED);
    struct course_effects out = welcome(&w, 6);
    assert_true(out.close && out.old_term && !out.welcomed);
    go(&w, COURSE_CLOSED);
    assert_string_equal(course_target(&w.c)->host, "b");
    connect(&w, 8);
}

static void a_term_from_before_the_process_counts(void **state)
{
    struct walk w = begin("a,b");
    course_remember(&w.c, "", 7);
    go(&w, COURSE_START);
    go(&w, COURSE_OPENED);
    struct course_effects out = welcome(&w, 6);
    assert_true(out.close && out.old_term && !out.welcomed);
}

static void a_collector_says_no_term_for_controllers(void **state)
{
    struct walk w = begin("a");
    connect(&w, 7);
    redirect(&w, &LX09);
    go(&w, COURSE_CLOSED);
    connect(&w, UINT64_MAX);
    redirect(&w, NULL);
    go(&w, COURSE_CLOSED);
    assert_string_equal(course_target(&w.c)->host, "a");
    connect(&w, 7);
}

static void follows_a_redirect_and_returns_after_three_tries(void **state)
{
    struct walk w = begin("a");
    connect(&w, 1);
    assert_true(redirect(&w, &LX09).close);
    assert_true(go(&w, COURSE_CLOSED).wait);
    for (int i = 0; i < COURSE_COLLECTOR_TRIES; i++) {
        assert_string_equal(course_target(&w.c)->host, "192.0.2.9");
        assert_int_equal(course_target(&w.c)->port, 6121);
        miss_s(&w);
    }
    assert_string_equal(course_target(&w.c)->host, "a");
}

static void a_collector_that_refuses_or_is_silent_counts_as_a_try(void **state)
{
    struct walk w = begin("a");
    connect(&w, 1);
    redirect(&w, &LX09);
    go(&w, COURSE_CLOSED);
    go(&w, COURSE_DUE);
    go(&w, COURSE_OPENED);
    assert_true(refuse(&w, -EACCES).close);
    go(&w, COURSE_CLOSED);
    go(&w, COURSE_DUE);
    go(&w, COURSE_OPENED);
    go(&w, COURSE_CLOSED);
    assert_true(w.c.to_collector);
    miss_s(&w);
    assert_false(w.c.to_collector);
}

static void a_collector_that_welcomed_gets_its_tries_anew(void **state)
{
    struct walk w = begin("a");
    connect(&w, 1);
    redirect(&w, &LX09);
    go(&w, COURSE_CLOSED);
    miss_s(&w);
    miss_s(&w);
    connect(&w, 1);
    w.now = mono_add(w.now, span_s(60));
    go(&w, COURSE_CLOSED);
    miss_s(&w);
    miss_s(&w);
    assert_true(w.c.to_collector);
    miss_s(&w);
    assert_false(w.c.to_collector);
}

static void a_collector_sends_it_back_to_a_controller(void **state)
{
    struct walk w = begin("a");
    connect(&w, 1);
    redirect(&w, &LX09);
    go(&w, COURSE_CLOSED);
    connect(&w, 1);
    assert_true(redirect(&w, NULL).close);
    go(&w, COURSE_CLOSED);
    assert_string_equal(course_target(&w.c)->host, "a");
}

static void a_controller_that_redirects_to_nobody_is_left_for_the_next(void **state)
{
    struct walk w = begin("a,b");
    connect(&w, 1);
    assert_true(redirect(&w, NULL).close);
    go(&w, COURSE_CLOSED);
    assert_string_equal(course_target(&w.c)->host, "b");
}

/* Nodes are waited for so long as `answer` allows: three tries of half a minute would be too late. */
static void a_collector_has_no_more_time_than_to_answer(void **state)
{
    struct walk w = begin("a");
    connect(&w, 1);
    course_waits(&w.c, span_s(2), span_s(4));
    redirect(&w, &LX09);
    go(&w, COURSE_CLOSED);
    go(&w, COURSE_DUE);
    assert_int_equal(span_to_ms(course_dial_limit(&w.c, w.now)), 2000);
    w.now = mono_add(w.now, span_s(2));
    go(&w, COURSE_CLOSED);
    assert_string_equal(course_target(&w.c)->host, "a");
}

static void without_a_controller_it_comes_back_to_its_collector(void **state)
{
    struct walk w = begin("a,b");
    connect(&w, 1);
    redirect(&w, &LX09);
    go(&w, COURSE_CLOSED);
    connect(&w, 1);
    redirect(&w, NULL);
    go(&w, COURSE_CLOSED);
    assert_string_equal(course_target(&w.c)->host, "a");
    miss_s(&w);
    assert_string_equal(course_target(&w.c)->host, "b");
    miss_s(&w);
    assert_string_equal(course_target(&w.c)->host, "192.0.2.9");
    connect(&w, 1);
    assert_true(w.c.to_collector);
}

static void a_collector_that_is_gone_too_is_tried_in_turn(void **state)
{
    struct walk w = begin("a");
    connect(&w, 1);
    redirect(&w, &LX09);
    go(&w, COURSE_CLOSED);
    connect(&w, 1);
    go(&w, COURSE_HOME);
    go(&w, COURSE_CLOSED);
    for (int round = 0; round < 3; round++) {
        assert_string_equal(course_target(&w.c)->host, "a");
        miss_s(&w);
        for (int i = 0; i < COURSE_COLLECTOR_TRIES; i++) {
            assert_string_equal(course_target(&w.c)->host, "192.0.2.9");
            miss_s(&w);
        }
    }
    connect(&w, 1); /* whom a controller hears looks for no other */
    go(&w, COURSE_CLOSED);
    miss_s(&w);
    assert_string_equal(course_target(&w.c)->host, "a");
}

static void pauses_no_longer_than_it_was_told(void **state)
{
    struct walk w = begin("a");
    connect(&w, 1);
    course_waits(&w.c, span_s(0), span_s(4));
    go(&w, COURSE_CLOSED);
    for (int i = 0; i < 20; i++)
        assert_true(miss_s(&w) <= 4);
    course_waits(&w.c, span_s(0), span_ms(1)); /* nobody is made to dial without rest */
    assert_int_equal(w.c.pause.ns, span_s(1).ns);
}

static void tells_a_conflict_once_until_it_ends(void **state)
{
    struct walk w = begin("a");
    go(&w, COURSE_START);
    for (int i = 0; i < 3; i++) {
        go(&w, COURSE_OPENED);
        struct course_effects out = refuse(&w, -EBUSY);
        assert_true(out.close);
        assert_int_equal(out.tell_refused, i == 0);
        assert_true(go(&w, COURSE_CLOSED).wait);
        go(&w, COURSE_DUE);
    }
    go(&w, COURSE_OPENED);
    welcome(&w, 1);
    go(&w, COURSE_CLOSED);
    go(&w, COURSE_DUE);
    go(&w, COURSE_OPENED);
    assert_true(refuse(&w, -EBUSY).tell_refused);
}

static void comes_to_a_controller_anew(void **state)
{
    struct walk w = begin("a,b");
    connect(&w, 1);
    assert_true(go(&w, COURSE_HOME).close);
    go(&w, COURSE_CLOSED);
    assert_string_equal(course_target(&w.c)->host, "a");
    connect(&w, 1);
    redirect(&w, &LX09);
    go(&w, COURSE_CLOSED);
    connect(&w, 1);
    assert_true(go(&w, COURSE_HOME).close);
    go(&w, COURSE_CLOSED);
    assert_string_equal(course_target(&w.c)->host, "a");
}

/* Events that come at the wrong time change nothing. */
static void ignores_what_does_not_belong_to_its_state(void **state)
{
    struct walk w = begin("a");
    struct course before = w.c;
    static const enum course_event_kind early[] = {COURSE_OPENED,   COURSE_WELCOME, COURSE_REFUSE,
                                                   COURSE_REDIRECT, COURSE_GARBAGE, COURSE_HOME,
                                                   COURSE_CLOSED};
    for (size_t i = 0; i < sizeof early / sizeof *early; i++) {
        struct course_effects out = go(&w, early[i]);
        static const struct course_effects none;
        assert_memory_equal(&out, &none, sizeof out);
        assert_memory_equal(&w.c, &before, sizeof before);
    }
    connect(&w, 1);
    assert_false(welcome(&w, 9).welcomed);
    assert_false(go(&w, COURSE_START).dial);
    assert_true(go(&w, COURSE_GARBAGE).close);
    assert_false(redirect(&w, &LX09).close);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dials_greets_and_reports),
        cmocka_unit_test(tries_controllers_in_turn),
        cmocka_unit_test(learns_controllers_behind_those_that_are_configured),
        cmocka_unit_test(a_learned_controller_that_goes_in_its_turn_gives_it_to_the_first),
        cmocka_unit_test(learns_no_more_than_there_is_room_for),
        cmocka_unit_test(backs_off_to_a_minute_and_never_gives_up),
        cmocka_unit_test(comes_back_within_the_spread_after_a_link_that_held),
        cmocka_unit_test(a_link_that_does_not_hold_does_not_end_the_backoff),
        cmocka_unit_test(leaves_a_controller_with_an_older_term),
        cmocka_unit_test(a_collector_says_no_term_for_controllers),
        cmocka_unit_test(a_controller_of_another_state_begins_its_terms_anew),
        cmocka_unit_test(follows_a_redirect_and_returns_after_three_tries),
        cmocka_unit_test(a_collector_that_refuses_or_is_silent_counts_as_a_try),
        cmocka_unit_test(a_collector_that_welcomed_gets_its_tries_anew),
        cmocka_unit_test(a_collector_sends_it_back_to_a_controller),
        cmocka_unit_test(a_controller_that_redirects_to_nobody_is_left_for_the_next),
        cmocka_unit_test(a_collector_has_no_more_time_than_to_answer),
        cmocka_unit_test(without_a_controller_it_comes_back_to_its_collector),
        cmocka_unit_test(a_collector_that_is_gone_too_is_tried_in_turn),
        cmocka_unit_test(pauses_no_longer_than_it_was_told),
        cmocka_unit_test(a_term_from_before_the_process_counts),
        cmocka_unit_test(tells_a_conflict_once_until_it_ends),
        cmocka_unit_test(comes_to_a_controller_anew),
        cmocka_unit_test(ignores_what_does_not_belong_to_its_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
