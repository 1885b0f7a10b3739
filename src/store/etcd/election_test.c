/* SPDX-License-Identifier: Apache-2.0 */
/* Elections in virtual time: two controllers, and a key that is renewed, lost, and taken away. */
#include "store/etcd/election.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { LEASE_MS = 1000 };
static const char me[] = "aaaaaaaaaaaaaaaa", other[] = "bbbbbbbbbbbbbbbb";

static struct mono ms(int64_t n)
{
    return mono_add((struct mono){0}, span_ms(n));
}

/* The leader key with this instance and these revisions. */
static const struct wire_kv *key(const char *instance, uint64_t created, uint64_t modified, unsigned lease_ms)
{
    static char value[256];
    static struct wire_kv kv;
    int n = snprintf(
        value, sizeof value,
        "{\"name\":\"x\",\"address\":\"\",\"instance\":\"%s\",\"count\":1,\"lease_ms\":%u,\"revision\":0,"
        "\"at_ns\":1}",
        instance, lease_ms);
    kv = (struct wire_kv){"fettle/leader", value, (size_t)n, created, modified};
    return &kv;
}

static struct election fresh(void)
{
    struct election n;
    election_init(&n, me, span_ms(LEASE_MS));
    return n;
}

static void test_nothing_is_done_before_the_key_was_read(void **state)
{
    struct election n = fresh();
    assert_int_equal(election_next(&n, ms(100000)), ELECTION_WAIT);
    assert_false(election_holds(&n, ms(0)));
}

static void test_a_key_that_is_not_there_is_made(void **state)
{
    struct election n = fresh();
    election_read(&n, NULL, ms(0));
    assert_int_equal(election_next(&n, ms(0)), ELECTION_CREATE);
    election_won(&n, 7, ms(10));
    assert_int_equal(election_next(&n, ms(11)), ELECTION_RENEW);
    assert_true(election_holds(&n, ms(10 + LEASE_MS - 1)));
    assert_false(election_holds(&n, ms(10 + LEASE_MS)));
}

/* The moment that counts is when the renewal was sent, also when an older answer comes after a newer one. */
static void test_a_renewal_counts_from_when_it_was_sent(void **state)
{
    struct election n = fresh();
    election_won(&n, 7, ms(0));
    election_won(&n, 7, ms(600));
    election_won(&n, 7, ms(300));
    assert_true(election_holds(&n, ms(1599)));
    assert_false(election_holds(&n, ms(1600)));
}

static void test_anothers_key_is_removed_when_it_stood_still_for_long_enough(void **state)
{
    struct election n = fresh();
    election_read(&n, key(other, 5, 9, LEASE_MS), ms(100));
    election_read(&n, key(other, 5, 9, LEASE_MS), ms(1300));
    assert_int_equal(election_due(&n, ms(1300)).ns, span_ms(50).ns);
    assert_int_equal(election_next(&n, ms(1350)), ELECTION_WAIT);
    assert_int_equal(election_next(&n, ms(1351)), ELECTION_REMOVE);
    assert_int_equal(n.seen.modified, 9);
}

static void test_a_renewal_that_was_seen_begins_the_wait_anew(void **state)
{
    struct election n = fresh();
    election_read(&n, key(other, 5, 9, LEASE_MS), ms(0));
    election_read(&n, key(other, 5, 10, LEASE_MS), ms(1200));
    assert_int_equal(election_next(&n, ms(2450)), ELECTION_WAIT);
    assert_int_equal(election_next(&n, ms(2451)), ELECTION_REMOVE);
}

static void test_the_longer_lease_of_the_other_counts(void **state)
{
    struct election n = fresh();
    election_read(&n, key(other, 5, 9, 4000), ms(0));
    assert_int_equal(election_next(&n, ms(5000)), ELECTION_WAIT);
    assert_int_equal(election_next(&n, ms(5001)), ELECTION_REMOVE);
}

static void test_a_key_that_nobody_can_read_is_waited_for_as_well(void **state)
{
    struct election n = fresh();
    const struct wire_kv kv = {"fettle/leader", "?", 1, 5, 9};
    election_read(&n, &kv, ms(0));
    assert_int_equal(election_next(&n, ms(1250)), ELECTION_WAIT);
    assert_int_equal(election_next(&n, ms(1251)), ELECTION_REMOVE);
}

static void test_a_leader_that_finds_another_key_leads_no_more(void **state)
{
    struct election n = fresh();
    election_won(&n, 7, ms(0));
    election_read(&n, key(other, 8, 8, LEASE_MS), ms(10));
    assert_false(election_holds(&n, ms(11)));
    assert_int_equal(election_next(&n, ms(11)), ELECTION_WAIT);
    election_won(&n, 9, ms(20));
    election_read(&n, NULL, ms(30));
    assert_false(election_holds(&n, ms(31)));
    assert_int_equal(election_next(&n, ms(31)), ELECTION_CREATE);
}

/* The answer to the creation was lost. The key shows whose it is, and only a renewal says until when. */
static void test_an_own_key_that_is_found_is_renewed_first(void **state)
{
    struct election n = fresh();
    election_read(&n, key(me, 7, 7, LEASE_MS), ms(0));
    assert_false(election_holds(&n, ms(1)));
    assert_int_equal(election_next(&n, ms(1)), ELECTION_RENEW);
    election_won(&n, 7, ms(2));
    assert_true(election_holds(&n, ms(3)));
}

/* The same controller, started anew, waits for its predecessor like any other. */
static void test_a_former_process_is_another(void **state)
{
    struct election n = fresh();
    election_read(&n, key("cccccccccccccccc", 7, 7, LEASE_MS), ms(0));
    assert_int_equal(election_next(&n, ms(1)), ELECTION_WAIT);
}

/* A later term does not take over how long an earlier one held. */
static void test_a_new_key_begins_its_own_time(void **state)
{
    struct election n = fresh();
    election_won(&n, 7, ms(900));
    election_lost(&n);
    election_won(&n, 9, ms(100));
    assert_false(election_holds(&n, ms(1100)));
}

/* Whatever the two do and see in whatever order, they never hold at the same time. */
static void test_two_never_hold_at_a_time(void **state)
{
    for (unsigned seed = 1; seed <= 2000; seed++) {
        struct election n[2];
        uint64_t revision = 10, created = 0, modified = 0, x = seed * UINT64_C(2654435761);
        int holder = 0;
        election_init(&n[0], me, span_ms(LEASE_MS));
        election_init(&n[1], other, span_ms(LEASE_MS));
        for (int64_t t = 0; t < 40000; t += 20) {
            x = x * UINT64_C(6364136223846793005) + 1;
            size_t i = x >> 40 & 1;
            int64_t late =
                (int64_t)(x >> 44 & 31) * 20; /* the answer comes so much later than the question */
            if ((x >> 50 & 7) == 0)
                t += (int64_t)(x >> 53 & 127) * 20; /* nobody is scheduled */
            enum election_act act = election_next(&n[i], ms(t));
            if (act == ELECTION_CREATE && !created) {
                created = modified = ++revision;
                holder = (int)i;
                election_won(&n[i], created, ms(t));
            } else if (act == ELECTION_RENEW && created == n[i].created) {
                modified = ++revision;
                election_won(&n[i], created, ms(t));
            } else if (act == ELECTION_REMOVE && modified == n[i].seen.modified) {
                created = modified = 0;
            }
            election_read(&n[i], created ? key(holder ? other : me, created, modified, LEASE_MS) : NULL,
                          ms(t + late));
            for (int64_t at = t; at <= t + late; at += 20)
                assert_false(election_holds(&n[0], ms(at)) && election_holds(&n[1], ms(at)));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_is_done_before_the_key_was_read),
        cmocka_unit_test(test_a_key_that_is_not_there_is_made),
        cmocka_unit_test(test_a_renewal_counts_from_when_it_was_sent),
        cmocka_unit_test(test_anothers_key_is_removed_when_it_stood_still_for_long_enough),
        cmocka_unit_test(test_a_renewal_that_was_seen_begins_the_wait_anew),
        cmocka_unit_test(test_the_longer_lease_of_the_other_counts),
        cmocka_unit_test(test_a_key_that_nobody_can_read_is_waited_for_as_well),
        cmocka_unit_test(test_a_leader_that_finds_another_key_leads_no_more),
        cmocka_unit_test(test_an_own_key_that_is_found_is_renewed_first),
        cmocka_unit_test(test_a_former_process_is_another),
        cmocka_unit_test(test_a_new_key_begins_its_own_time),
        cmocka_unit_test(test_two_never_hold_at_a_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
