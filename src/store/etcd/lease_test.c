/* SPDX-License-Identifier: Apache-2.0 */
/* Controllers that take turns to lead, on real etcd of three members. */
#include "store/etcd/lease.h"

#include "store/etcd/client.h"
#include "store/etcd/lab_test.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { DEADLINE_MS = 60000 };

static struct lab *lab;

struct controller {
    struct lease *lease;
    uint64_t term; /* 0: it does not lead */
    unsigned lost;
    char leader[16]; /* "": nobody; "?": not told yet */
    bool resigned;
    int etcd; /* the error that etcd was told to have; 0: none */
    char members[128];
};

struct world {
    uv_loop_t loop;
    uv_timer_t metronome;
    char *endpoints;
    struct controller a, b;
};

static void on_lead(void *arg, uint64_t term)
{
    struct controller *c = arg;
    c->term = term;
    assert_true(lease_holds(c->lease));
}

static void on_lost(void *arg, const struct err *why)
{
    struct controller *c = arg;
    c->term = 0;
    c->lost++;
    assert_true(why->msg[0]);
}

static void on_leader(void *arg, const struct lease_leader *leader)
{
    struct controller *c = arg;
    snprintf(c->leader, sizeof c->leader, "%s%s", leader ? leader->name : "",
             leader && leader->is_self ? "!" : "");
}

static void on_etcd(void *arg, const struct err *why)
{
    struct controller *c = arg;
    c->etcd = why ? why->code : 0;
}

static void on_resigned(void *arg)
{
    struct controller *c = arg;
    c->resigned = true;
}

static void controller_start(struct world *w, struct controller *c, const char *name)
{
    const struct lease_events events = {c, on_lead, on_lost, on_leader, on_etcd};
    const struct etcd_options o = lab_options(lab, w->endpoints, name);
    memset(c, 0, sizeof *c);
    c->leader[0] = '?';
    c->lease = lease_create(&w->loop, &o, &events);
}

static void controller_end(struct controller *c)
{
    lease_destroy(c->lease);
    c->lease = NULL;
}

static void on_metronome(uv_timer_t *t)
{
}

static int setup(void **state)
{
    struct world *w = mem_alloc(sizeof *w);
    struct store *s = NULL;
    struct err e = {0};
    *state = w;
    uv_loop_init(&w->loop);
    uv_timer_init(&w->loop, &w->metronome);
    uv_timer_start(&w->metronome, on_metronome, 5, 5);
    lab_wipe(lab);
    w->endpoints = lab_endpoints(lab);
    const struct etcd_options o = lab_options(lab, w->endpoints, "begins");
    assert_int_equal(etcd_open(&o, &s, &e), 0);
    store_close(s);
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;
    controller_end(&w->a);
    controller_end(&w->b);
    uv_close((uv_handle_t *)&w->metronome, NULL);
    uv_run(&w->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&w->loop), 0);
    free(w->endpoints);
    free(w);
    return 0;
}

/* Runs until the condition holds; both never hold at the same time. */
#define WAIT_FOR(w, condition)                                                             \
    for (struct mono until_ = mono_add(mono_now(), span_ms(DEADLINE_MS)); !(condition);) { \
        if (mono_now().ns > until_.ns)                                                     \
            fail_msg("not within %d s: %s", DEADLINE_MS / 1000, #condition);               \
        uv_run(&(w)->loop, UV_RUN_ONCE);                                                   \
        assert_false((w)->a.lease && (w)->b.lease && lease_holds((w)->a.lease) &&          \
                     lease_holds((w)->b.lease));                                           \
    }

static void a_leads(struct world *w)
{
    controller_start(w, &w->a, "a");
    lease_stand(w->a.lease, true);
    WAIT_FOR(w, w->a.term);
}

static void test_one_that_is_ready_leads(void **state)
{
    struct world *w = *state;
    controller_start(w, &w->a, "a");
    WAIT_FOR(w, w->a.leader[0] != '?');
    assert_string_equal(w->a.leader, "");
    assert_int_equal(w->a.term, 0);
    lease_stand(w->a.lease, true);
    WAIT_FOR(w, w->a.term && strcmp(w->a.leader, "a!") == 0);
    controller_start(w, &w->b, "b");
    lease_stand(w->b.lease, true);
    WAIT_FOR(w, strcmp(w->b.leader, "a") == 0);
    assert_int_equal(w->b.term, 0);
    assert_int_equal(w->a.lost, 0);
}

static void test_a_commit_under_its_term_is_taken(void **state)
{
    struct world *w = *state;
    const struct etcd_options o = lab_options(lab, w->endpoints, "a");
    const struct store_op op = {"k", "1"};
    const struct store_batch b = {.n_ops = 1, .ops = &op};
    struct store *s = NULL;
    struct err e = {0};
    uint64_t revision = 0;
    a_leads(w);
    assert_int_equal(etcd_open(&o, &s, &e), 0);
    assert_int_equal(etcd_take_up(s, 0, &e), 0);
    assert_int_equal(store_commit(s, w->a.term, &b, &revision, &e), 0);
    assert_int_equal(revision, 1);
    assert_int_equal(etcd_take_up(s, 0, &e), -EAGAIN);
    assert_int_equal(etcd_take_up(s, 2, &e), -EILSEQ);
    assert_int_equal(store_commit(s, w->a.term - 1, &b, &revision, &e), -EPERM);
    store_close(s);
    WAIT_FOR(w, lease_head(w->a.lease) == 1);
}

/* Gone without a word, like a process that is killed. */
static void test_one_that_is_killed_is_replaced(void **state)
{
    struct world *w = *state;
    a_leads(w);
    uint64_t term = w->a.term;
    controller_start(w, &w->b, "b");
    lease_stand(w->b.lease, true);
    WAIT_FOR(w, strcmp(w->b.leader, "a") == 0);
    struct mono killed = mono_now();
    controller_end(&w->a);
    WAIT_FOR(w, w->b.term);
    assert_true(w->b.term > term);
    assert_true(mono_sub(mono_now(), killed).ns >= span_ms(LAB_LEASE_MS / 2).ns);
}

static void test_one_that_resigns_is_replaced_at_once(void **state)
{
    struct world *w = *state;
    a_leads(w);
    controller_start(w, &w->b, "b");
    lease_stand(w->b.lease, true);
    WAIT_FOR(w, strcmp(w->b.leader, "a") == 0);
    lease_resign(w->a.lease, on_resigned, &w->a);
    assert_false(lease_holds(w->a.lease));
    WAIT_FOR(w, w->a.resigned);
    lease_look(w->b.lease);
    WAIT_FOR(w, w->b.term);
    assert_int_equal(w->a.lost, 0);
    WAIT_FOR(w, strcmp(w->a.leader, "b") == 0); /* it goes on to say who leads */
    assert_int_equal(w->b.lost, 0);
}

static void test_resigning_without_leading_is_done(void **state)
{
    struct world *w = *state;
    controller_start(w, &w->a, "a");
    lease_resign(w->a.lease, on_resigned, &w->a);
    WAIT_FOR(w, w->a.resigned);
}

/* etcd stands still for several turns, each of which asks another member to take the key back; then all
 * answer. */
static void test_it_is_given_back_once(void **state)
{
    struct world *w = *state;
    a_leads(w);
    for (size_t i = 0; i < 3; i++)
        lab_signal(lab, i, SIGSTOP);
    lease_resign(w->a.lease, on_resigned, &w->a);
    struct mono turned = mono_add(mono_now(), span_ms(LAB_LEASE_MS * 9 / 10));
    WAIT_FOR(w, mono_now().ns > turned.ns);
    for (size_t i = 0; i < 3; i++)
        lab_signal(lab, i, SIGCONT);
    WAIT_FOR(w, w->a.resigned);
    struct mono answered = mono_add(mono_now(), span_ms(LAB_LEASE_MS * 2)); /* each, or given up */
    WAIT_FOR(w, mono_now().ns > answered.ns);
}

static void on_member(void *arg, const struct lease_member *m)
{
    struct controller *c = arg;
    size_t n = strlen(c->members);
    snprintf(c->members + n, sizeof c->members - n, "%s at %d; ", m->name, (int)m->revision);
    assert_true(m->age.ns >= 0 && m->at.ns > 0);
    assert_string_equal(m->address, "127.0.0.1:7777");
    assert_string_equal(m->audit, m->revision == 17 ? "3 AAAA" : "");
}

static const char *members(struct controller *c)
{
    c->members[0] = '\0';
    lease_members(c->lease, on_member, c);
    return c->members;
}

static void test_each_tells_the_others_of_itself(void **state)
{
    struct world *w = *state;
    a_leads(w);
    controller_start(w, &w->b, "b");
    lease_tell(w->b.lease, 17);
    lease_tell_audit(w->b.lease, "3 AAAA");
    WAIT_FOR(w, strcmp(members(&w->a), "a at 0; b at 17; ") == 0);
    WAIT_FOR(w, strcmp(members(&w->b), "a at 0; b at 17; ") == 0);
}

static void on_age(void *arg, const struct lease_member *m)
{
    struct span *ages = arg; /* of a and b */
    ages[strcmp(m->name, "b") == 0] = m->age;
}

static struct span age_seen_by(const struct controller *c, bool of_b)
{
    struct span ages[2] = {{-1}, {-1}};
    lease_members(c->lease, on_age, ages);
    return ages[of_b];
}

/* A controller that has ended is heard no more, and its age grows; that of one that goes on stays low. */
static void test_the_age_of_a_member_is_that_of_its_last_word(void **state)
{
    struct world *w = *state;
    a_leads(w);
    controller_start(w, &w->b, "b");
    WAIT_FOR(w, age_seen_by(&w->a, true).ns >= 0);
    controller_end(&w->b);
    WAIT_FOR(w, age_seen_by(&w->a, true).ns > span_ms(5 * LAB_LEASE_MS).ns);
    WAIT_FOR(w, age_seen_by(&w->a, false).ns < span_ms(LAB_LEASE_MS).ns);
    assert_true(age_seen_by(&w->a, false).ns >= 0);
}

/* The leader's key was taken away: by a person, or by a controller that saw it stand still. */
static void test_one_whose_key_is_gone_leads_no_more(void **state)
{
    struct world *w = *state;
    a_leads(w);
    uint64_t term = w->a.term;
    lab_put(lab, "fettle/leader", NULL);
    WAIT_FOR(w, w->a.lost == 1);
    WAIT_FOR(w, w->a.term > term);
}

static void test_a_member_of_etcd_that_is_gone_costs_nothing(void **state)
{
    struct world *w = *state;
    a_leads(w);
    uint64_t term = w->a.term;
    lab_kill(lab, 0);
    struct mono until = mono_add(mono_now(), span_ms(LAB_LEASE_MS * 4));
    WAIT_FOR(w, mono_now().ns > until.ns);
    WAIT_FOR(w, w->a.term); /* etcd's own leader may have been on that member */
    lab_run(lab, 0);
    assert_true(w->a.term >= term);
}

/* Members that stand still and keep their connections: the leader stops acting, and says so. */
static void test_without_a_majority_nobody_leads(void **state)
{
    struct world *w = *state;
    a_leads(w);
    controller_start(w, &w->b, "b");
    lease_stand(w->b.lease, true);
    WAIT_FOR(w, strcmp(w->b.leader, "a") == 0);
    lab_signal(lab, 1, SIGSTOP);
    lab_signal(lab, 2, SIGSTOP);
    WAIT_FOR(w, w->a.lost == 1 && w->a.etcd && w->b.etcd);
    assert_false(lease_holds(w->a.lease));
    lab_signal(lab, 1, SIGCONT);
    lab_signal(lab, 2, SIGCONT);
    WAIT_FOR(w, w->a.term || w->b.term);
    WAIT_FOR(w, w->a.etcd == 0 && w->b.etcd == 0);
}

/* A process that stood still finds its lease over before it does anything. */
static void test_a_loop_that_stood_still_does_not_hold(void **state)
{
    struct world *w = *state;
    a_leads(w);
    struct mono until = mono_add(mono_boot(), span_ms(LAB_LEASE_MS));
    while (mono_boot().ns < until.ns)
        ;
    assert_false(lease_holds(w->a.lease));
    WAIT_FOR(w, w->a.lost == 1 || lease_holds(w->a.lease));
}

static void test_another_clusters_state_is_no_place_to_lead(void **state)
{
    struct world *w = *state;
    a_leads(w);
    lab_put(lab, "fettle/cluster", "{\"id\":\"beef\",\"term_base\":0}");
    WAIT_FOR(w, w->a.etcd == -EILSEQ && w->a.lost == 1);
}

/* Puts until etcd's space alarm is on. */
static void fill(void)
{
    CLEANUP_FREE char *value = mem_alloc(500001), *endpoints = lab_endpoints(lab);
    const struct etcd_options o = lab_options(lab, endpoints, "fills");
    CLEANUP_TXN struct wire_txn t = {0};
    struct client c;
    struct err e = {0};
    bool unknown;
    int r = 0;
    memset(value, 'v', 500000);
    wire_put(&t.success, "other", value, 500000);
    assert_int_equal(client_init(&c, &o, &e), 0);
    for (int i = 0; i < 100 && !r; i++) {
        CLEANUP_ANSWER struct wire_answer a = {0};
        r = client_txn(&c, &t, &a, &unknown, &e);
    }
    client_fini(&c);
    assert_int_equal(r, -ENOSPC);
}

/* Nothing is renewed then; who leads is still read. */
static void test_without_space_nobody_leads(void **state)
{
    struct world *w = *state;
    a_leads(w);
    controller_start(w, &w->b, "b");
    WAIT_FOR(w, strcmp(w->b.leader, "a") == 0);
    fill();
    WAIT_FOR(w, w->a.lost == 1 && w->a.etcd == -ENOSPC && w->b.etcd == -ENOSPC);
    assert_string_equal(w->b.leader, "a");
    lab_make_room(lab);
    WAIT_FOR(w, w->a.term && !w->a.etcd && !w->b.etcd);
}

static void test_an_etcd_that_went_back_is_no_place_to_lead(void **state)
{
    struct world *w = *state;
    a_leads(w);
    lab_copy(lab, "data", "older");
    WAIT_FOR(w, w->a.term);
    for (int i = 0; i < 40; i++)
        lab_put(lab, "other", "1");
    struct mono until = mono_add(mono_now(), span_ms(LAB_LEASE_MS));
    WAIT_FOR(w, mono_now().ns > until.ns && w->a.term);
    lab_copy(lab, "older", "data");
    WAIT_FOR(w, w->a.etcd == -EILSEQ && !w->a.term);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

/* As often as it is asked for: the other one may still tell of itself. */
static void test_a_removed_controller_is_no_member(void **state)
{
    struct world *w = *state;
    a_leads(w);
    controller_start(w, &w->b, "b");
    WAIT_FOR(w, strstr(members(&w->a), "b "));
    controller_end(&w->b);
    lease_forget(w->a.lease, "b");
    WAIT_FOR(w, !strstr(members(&w->a), "b "));
    WAIT_FOR(w, strstr(members(&w->a), "a "));
    controller_start(w, &w->b, "b");
    WAIT_FOR(w, strstr(members(&w->a), "b "));
    lease_forget(w->b.lease, "a"); /* it does not lead */
    const struct mono until = mono_add(mono_now(), span_ms(1000));
    WAIT_FOR(w, mono_now().ns > until.ns);
    assert_non_null(strstr(members(&w->b), "a "));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_one_that_is_ready_leads),
        TEST(test_a_commit_under_its_term_is_taken),
        TEST(test_one_that_is_killed_is_replaced),
        TEST(test_one_that_resigns_is_replaced_at_once),
        TEST(test_resigning_without_leading_is_done),
        TEST(test_it_is_given_back_once),
        TEST(test_each_tells_the_others_of_itself),
        TEST(test_the_age_of_a_member_is_that_of_its_last_word),
        TEST(test_one_whose_key_is_gone_leads_no_more),
        TEST(test_a_removed_controller_is_no_member),
        TEST(test_a_member_of_etcd_that_is_gone_costs_nothing),
        TEST(test_without_a_majority_nobody_leads),
        TEST(test_a_loop_that_stood_still_does_not_hold),
        TEST(test_another_clusters_state_is_no_place_to_lead),
        TEST(test_an_etcd_that_went_back_is_no_place_to_lead),
    };
    const struct CMUnitTest small[] = {TEST(test_without_space_nobody_leads)};
    lab_need();
    lab = lab_create(3, false, NULL);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    lab_destroy(lab);
    lab = lab_create(1, false, "8000000");
    failed += cmocka_run_group_tests(small, NULL, NULL);
    lab_destroy(lab);
    return failed;
}
