/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/fixture_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define DRIFT(nodes, f, id) world_found(w, COMMAND_DRIFT, nodes, f, id)
#define PERSISTS(nodes, f, id) world_found(w, COMMAND_PERSISTS, nodes, f, id)
/* After more than an hour: the drift leaves no record of itself (record/record_flap_test.c). */
#define RESTORED(nodes) \
    (w->at += 3601 * INT64_C(1000000000), world_tell(w, COMMAND_RESTORED, nodes, NULL, NULL))
#define OVERDUE(nodes, id) world_tell(w, COMMAND_OVERDUE, nodes, NULL, id)
#define APPROVE(nodes) world_ask(w, COMMAND_APPROVE, "ann", nodes, NULL, NULL)
#define ACCEPT(node) world_ask(w, COMMAND_BASELINE_ACCEPT, "root", node, NULL, NULL)

/* --- seen ------------------------------------------------------------------------------------ */

static void test_the_first_sight_has_no_history(void **state)
{
    struct world *w = *state;
    assert_string_equal(world_seen(w, "lx[01-02]", "A"),
                        "seen/lx01 = {\"fingerprint\":\"A\",\"since\":\"1000\",\"history\":[]}\n"
                        "seen/lx02 = {\"fingerprint\":\"A\",\"since\":\"1000\",\"history\":[]}\n"
                        "lx[01-02]: first seen with list_A\n");
    assert_string_equal(world_seen(w, "lx[01-02]", "A"), "nothing");
    const struct member *m = cluster_find(w->c, "lx01");
    assert_ptr_equal(m->seen, cluster_find(w->c, "lx02")->seen);
    assert_null(m->past);
    assert_int_equal(m->seen_since.ns, 1000);
}

static void test_a_change_is_remembered(void **state)
{
    struct world *w = *state;
    world_seen(w, "lx01", "A");
    w->at = 2000;
    assert_string_equal(world_seen(w, "lx01", "B"),
                        "seen/lx01 = {\"fingerprint\":\"B\",\"since\":\"2000\",\"history\":[{\"fingerprint\":"
                        "\"A\",\"since\":\"1000\",\"named\":\"kernel.release\",\"count\":1}]}\n"
                        "lx01: list_A -> list_B: kernel.release\n");
}

static void test_sixteen_are_remembered(void **state)
{
    struct world *w = *state;
    for (int i = 0; i < 20; i++) {
        w->at++;
        world_seen(w, "lx01", i % 2 ? "A" : "B");
    }
    const char *record = world_record(w, "seen/lx01");
    size_t n = 0;
    for (const char *p = record; (p = strstr(p, "\"since\"")); p++)
        n++;
    assert_int_equal(n, 17);
    assert_non_null(strstr(record, "\"since\":\"1019\"")); /* the newest of them */
    assert_null(strstr(record, "\"since\":\"1003\""));
}

static void test_a_node_that_never_changed_costs_32_bytes(void **state)
{
    const struct member *m = cluster_find(((struct world *)*state)->c, "lx01");
    assert_true(sizeof m->class + sizeof m->seen + sizeof m->seen_since + sizeof m->past <= 32);
}

/* Of nodes that changed often, with as many names as there may be: a part is never more than the store takes
 * at once. */
static void test_long_histories_come_in_smaller_parts(void **state)
{
    enum { BATCH_BYTES = 1 << 20 };
    struct world *w = *state;
    struct err e;
    CLEANUP_HOSTLIST struct hostlist nodes = {0};
    CLEANUP_TEXT struct text named = {0};
    world_configure(w, "lx[001-100] CPUs=2", NULL);
    hostlist_parse("lx[001-100]", &nodes, NULL);
    for (int i = 0; i < DRIFT_NAMED_MAX; i++)
        text_printf(&named, "%spackage.linux-modules-extra-6.1.0-%03d-generic", i ? ", " : "", i);
    for (int change = 0; change < 20; change++) {
        struct command cmd = {.kind = COMMAND_SEEN,
                              .actor = "fettled",
                              .at = {change + 1},
                              .nodes = &nodes,
                              .seen = {.named = named.s, .count = 16}};
        fingerprint_parse(world_hex(w, change % 2 ? "A" : "B"), &cmd.seen.id);
        for (size_t from = 0, next; from < nodes.n; from = next) {
            struct decision d = {0};
            size_t bytes = 0;
            assert_int_equal(cluster_decide(w->c, &cmd, from, &d, &e), 0);
            for (size_t i = 0; i < d.n_ops; i++) {
                bytes += strlen(d.ops[i].key) + strlen(d.ops[i].value);
                assert_int_equal(cluster_put(w->c, d.ops[i].key, d.ops[i].value, &e), 0);
            }
            assert_in_range(bytes, 1, BATCH_BYTES - 65536);
            next = d.next;
            decision_fini(&d);
        }
    }
}

/* --- drift ----------------------------------------------------------------------------------- */

static void test_drift_is_a_record_and_a_claim_for_all(void **state)
{
    struct world *w = *state;
    world_baselines(w);
    assert_string_equal(
        DRIFT("lx[01-02]", &FOUND_MAJOR, "1.1"),
        "claim/1.1 = {\"kind\":\"drift\",\"owner\":\"fettled\",\"reason\":\"drifted from baseline gpu 1: "
        "kernel.release\",\"since\":\"1000\",\"nodes\":\"lx[01-02]\",\"drained\":\"\"}\n"
        "drift/lx01 = {\"class\":\"gpu\",\"version\":1,\"expected\":\"A\",\"actual\":\"B\",\"severity\":"
        "\"major\",\"named\":\"kernel.release\",\"count\":1,\"since\":\"1000\",\"boot\":\"b1\",\"state\":"
        "\"open\"}\n"
        "drift/lx02 = {\"class\":\"gpu\",\"version\":1,\"expected\":\"A\",\"actual\":\"B\",\"severity\":"
        "\"major\",\"named\":\"kernel.release\",\"count\":1,\"since\":\"1000\",\"boot\":\"b1\",\"state\":"
        "\"open\"}\n"
        "lx[01-02]: drifted from baseline gpu 1: kernel.release (major) (claim 1.1)\n");
    assert_string_equal(world_state(w, "lx01"), "draining");
    assert_string_equal(DRIFT("lx[01-02]", &FOUND_MAJOR, "1.2"), "nothing");
    CLEANUP_TEXT struct text t = {0};
    member_claims(cluster_find(w->c, "lx01"), &t);
    assert_string_equal(t.s, "drift by fettled: drifted from baseline gpu 1: kernel.release");
}

static void test_minor_drift_takes_no_node_out(void **state)
{
    struct world *w = *state;
    world_baselines(w);
    assert_non_null(strstr(DRIFT("lx01", &FOUND_MINOR, "1.1"),
                           "lx01: drifted from baseline gpu 1: module.x, module.y, 18 more (minor)\n"));
    assert_string_equal(world_claims(w, "lx01"), "");
    assert_string_equal(world_state(w, "lx01"), "available");
    DRIFT("lx01", &FOUND_MAJOR, "1.2"); /* it got worse */
    assert_string_equal(world_claims(w, "lx01"),
                        "1.2 drift by fettled: drifted from baseline gpu 1: kernel.release");
    /* In a class that asks for no reboot a major one drains nobody, either, unless it is sensitive. */
    DRIFT("lx[05-06]", &FOUND_DEFAULT, "1.3");
    assert_string_equal(world_state(w, "lx05"), "draining");
    assert_string_equal(world_state(w, "lx06"), "available");
}

static void test_a_reason_names_one_and_counts_the_rest(void **state)
{
    struct world *w = *state;
    struct found f = FOUND_MINOR;
    world_baselines(w);
    f.severity = "critical";
    DRIFT("lx01", &f, "1.1");
    assert_string_equal(world_claims(w, "lx01"),
                        "1.1 drift by fettled: drifted from baseline gpu 1: module.x, 19 more");
}

static void test_drift_that_changes_keeps_since_when(void **state)
{
    struct world *w = *state;
    struct found f = FOUND_MAJOR;
    world_baselines(w);
    DRIFT("lx01", &FOUND_MAJOR, "1.1");
    w->at = 5000;
    f.actual = "C";
    f.named = "kernel.release, nic.count";
    f.count = 2;
    f.boot = "b2";
    assert_string_equal(
        DRIFT("lx01", &f, "1.2"),
        "drift/lx01 = {\"class\":\"gpu\",\"version\":1,\"expected\":\"A\",\"actual\":\"C\","
        "\"severity\":\"major\",\"named\":\"kernel.release, nic.count\",\"count\":2,\"since\":"
        "\"1000\",\"boot\":\"b1\",\"state\":\"open\"}\n"
        "lx01: drifted from baseline gpu 1: kernel.release, nic.count (major)\n");
    assert_string_equal(
        PERSISTS("lx01", &f, "1.3"),
        "drift/lx01 = {\"class\":\"gpu\",\"version\":1,\"expected\":\"A\",\"actual\":\"C\","
        "\"severity\":\"major\",\"named\":\"kernel.release, nic.count\",\"count\":2,\"since\":"
        "\"1000\",\"boot\":\"b2\",\"state\":\"persists\"}\n"
        "lx01: came back and is still drifted from baseline gpu 1: kernel.release, nic.count "
        "(major)\n");
    assert_string_equal(PERSISTS("lx02", &f, "1.4"), "nothing"); /* it did not drift */
}

static void test_a_finding_of_the_past_changes_nothing(void **state)
{
    struct world *w = *state;
    struct found f = FOUND_MAJOR;
    assert_string_equal(DRIFT("lx01", &FOUND_MAJOR, "1.1"), "nothing"); /* no baseline yet */
    world_baselines(w);
    f.version = 2;
    assert_string_equal(DRIFT("lx01", &f, "1.1"), "nothing");
    f.version = 1;
    f.expected = "B";
    assert_string_equal(DRIFT("lx01", &f, "1.1"), "nothing");
    f = FOUND_DEFAULT;
    assert_string_equal(DRIFT("lx01", &f, "1.1"), "nothing"); /* another class */
    cluster_meet(w->c, "stray");
    assert_string_equal(DRIFT("stray nobody", &f, "1.1"), "nothing");
    f = FOUND_MAJOR;
    f.severity = "ignore";
    assert_string_equal(DRIFT("lx01", &f, "1.1"), "\"ignore\" is no severity of drift");
    f = FOUND_MAJOR;
    f.boot = "no boot";
    assert_string_equal(DRIFT("lx01", &f, "1.1"), "\"no boot\" is no boot id");
    assert_int_equal(world_rc(), -EINVAL);
}

static void test_a_drift_claim_drains(void **state)
{
    struct world *w = *state;
    world_baselines(w);
    DRIFT("lx[01-02]", &FOUND_MAJOR, "1.1");
    world_tell(w, COMMAND_DRAINED, "lx[01-02]", NULL, NULL);
    assert_string_equal(world_state(w, "lx01"), "drained");
    world_tell(w, COMMAND_DRAINING, "lx02", NULL, NULL);
    assert_string_equal(world_state(w, "lx02"), "draining");
    /* What a person drains is drained already, and the other way round. */
    world_do(w, COMMAND_DRAIN, "root", "lx[01-03]", "x", "1.2");
    assert_string_equal(world_state(w, "lx01"), "drained");
    world_tell(w, COMMAND_DRAINED, "lx03", NULL, NULL);
    DRIFT("lx03", &FOUND_MAJOR, "1.3");
    assert_string_equal(world_state(w, "lx03"), "drained");
}

static void test_a_node_that_becomes_sensitive_is_held(void **state)
{
    struct world *w = *state;
    world_baselines(w);
    DRIFT("lx06", &FOUND_DEFAULT, "1.1");
    assert_string_equal(world_claims(w, "lx06"), "");
    world_do(w, COMMAND_SET, "root", "lx06", "{\"Sensitive\":\"yes\"}", NULL);
    assert_string_equal(DRIFT("lx06", &FOUND_DEFAULT, "1.2"),
                        "claim/1.2 = {\"kind\":\"drift\",\"owner\":\"fettled\",\"reason\":\"drifted from "
                        "baseline default 1: kernel.release\",\"since\":\"1000\",\"nodes\":\"lx06\","
                        "\"drained\":\"\"}\n"
                        "lx06: drifted from baseline default 1: kernel.release (major) (claim 1.2)\n");
    RESTORED("lx06");
    assert_string_equal(world_state(w, "lx06"), "draining"); /* until a person approves */
    APPROVE("lx06");
    assert_string_equal(world_state(w, "lx06"), "available");
}

/* A claim is written with the first part alone: its record in a later part would be about other nodes. */
static void test_a_later_part_makes_no_claim(void **state)
{
    struct world *w = *state;
    world_baselines(w);
    DRIFT("lx[05-06]", &FOUND_DEFAULT, "1.1"); /* holds lx05 */
    world_do(w, COMMAND_SET, "root", "lx06", "{\"Sensitive\":\"yes\"}", NULL);
    w->from = 1;
    assert_string_equal(DRIFT("lx[05-06]", &FOUND_DEFAULT, "1.1"), "nothing");
    w->from = 0;
    DRIFT("lx[05-06]", &FOUND_DEFAULT, "1.2");
    assert_string_equal(world_claims(w, "lx05"),
                        "1.1 drift by fettled: drifted from baseline default 1: kernel.release");
    assert_string_equal(world_claims(w, "lx06"),
                        "1.2 drift by fettled: drifted from baseline default 1: kernel.release");
}

static void test_a_class_that_changes_counts_other_components(void **state)
{
    struct world *w = *state;
    world_baselines(w);
    DRIFT("lx01", &FOUND_MINOR, "1.1");
    w->at = 2000;
    world_configure(w, "lx[01-06] CPUs=2", NULL); /* all are of the default class now */
    assert_string_equal(DRIFT("lx01", &FOUND_MAJOR, "1.2"), "nothing");
    DRIFT("lx01", &FOUND_DEFAULT, "1.3");
    const struct drift *drift = cluster_find(w->c, "lx01")->past->drift;
    assert_string_equal(drift->class, "default");
    assert_int_equal(drift->since.ns, 1000);
    assert_int_equal(cluster_baseline(w->c, "gpu")->version, 1); /* the record outlives the class */
    RESTORED("lx01");
    assert_null(cluster_find(w->c, "lx01")->past);
}

static void test_an_unlisted_node_is_not_judged_and_can_be_restored(void **state)
{
    struct world *w = *state;
    world_baselines(w);
    DRIFT("lx01", &FOUND_MAJOR, "1.1");
    world_configure(w, "lx[02-06] CPUs=2; class gpu Nodes=lx[01-04] Reboot=yes", NULL);
    assert_non_null(cluster_find(w->c, "lx01")->past->drift);
    struct found f = FOUND_MAJOR;
    f.actual = "C";
    assert_string_equal(DRIFT("lx01", &f, "1.2"), "nothing");
    RESTORED("lx01");
    assert_int_equal(cluster_find(w->c, "lx01")->n_claims, 0);
}

/* So many drift that it may be nobody's fault: what is there goes on, but for who is sensitive. */
static void test_no_claims_while_so_many_drift(void **state)
{
    struct world *w = *state;
    world_baselines(w);
    struct found f = FOUND_MAJOR;
    f.braked = true;
    DRIFT("lx[01-02]", &f, "1.1");
    assert_int_equal(cluster_find(w->c, "lx01")->past->drift->state, DRIFT_OPEN);
    assert_string_equal(world_claims(w, "lx01"), "");
    assert_string_equal(world_state(w, "lx01"), "available");
    f.boot = "b2";
    PERSISTS("lx02", &f, "1.2");
    assert_string_equal(world_claims(w, "lx02"), "");
    f = FOUND_DEFAULT;
    f.braked = true;
    DRIFT("lx[05-06]", &f, "1.3");
    assert_string_equal(world_state(w, "lx05"), "draining");
    /* It is few now: the claim that is due is made. */
    assert_string_equal(DRIFT("lx01", &FOUND_MAJOR, "1.4"),
                        "claim/1.4 = {\"kind\":\"drift\",\"owner\":\"fettled\",\"reason\":\"drifted from "
                        "baseline gpu 1: kernel.release\",\"since\":\"1000\",\"nodes\":\"lx01\","
                        "\"drained\":\"\"}\n"
                        "lx01: drifted from baseline gpu 1: kernel.release (major) (claim 1.4)\n");
    assert_true(cluster_drift_drains(w->c, cluster_find(w->c, "lx01"), SEVERITY_MAJOR));
    assert_false(cluster_drift_drains(w->c, cluster_find(w->c, "lx01"), SEVERITY_MINOR));
    assert_true(cluster_drift_drains(w->c, cluster_find(w->c, "lx05"), SEVERITY_MINOR));
}

/* --- remedied -------------------------------------------------------------------------------- */

static void test_a_node_that_is_right_again_is_free(void **state)
{
    struct world *w = *state;
    world_baselines(w);
    DRIFT("lx[01-03]", &FOUND_MAJOR, "1.1");
    assert_string_equal(RESTORED("lx[01,04]"),
                        "drift/lx01 = gone\n"
                        "claim/1.1 = {\"kind\":\"drift\",\"owner\":\"fettled\",\"reason\":\"drifted from "
                        "baseline gpu 1: kernel.release\",\"since\":\"1000\",\"nodes\":\"lx[02-03]\","
                        "\"drained\":\"\"}\n"
                        "lx01: verified to be right again; released from claim 1.1\n");
    assert_string_equal(world_state(w, "lx01"), "available");
    assert_null(cluster_find(w->c, "lx01")->past);
    assert_string_equal(RESTORED("lx01"), "nothing");
    RESTORED("lx[02-03]");
    assert_null(cluster_claim(w->c, "1.1"));
}

static void test_a_sensitive_one_waits_for_a_person(void **state)
{
    struct world *w = *state;
    world_baselines(w);
    DRIFT("lx05", &FOUND_DEFAULT, "1.1");
    assert_string_equal(APPROVE("lx05"), "node \"lx05\" was not verified to be right again: drifted from "
                                         "baseline default 1: kernel.release");
    assert_int_equal(world_rc(), -EBUSY);
    assert_string_equal(
        RESTORED("lx05"),
        "drift/lx05 = {\"class\":\"default\",\"version\":1,\"expected\":\"A\",\"actual\":\"B\","
        "\"severity\":\"major\",\"named\":\"kernel.release\",\"count\":1,\"since\":\"1000\","
        "\"boot\":\"b1\",\"state\":\"remedied\"}\n"
        "lx05: verified to be right again\n");
    assert_string_equal(RESTORED("lx05"), "nothing");
    assert_string_equal(world_state(w, "lx05"), "draining");
    assert_string_equal(world_ask(w, COMMAND_APPROVE, "ann", "lx05", NULL, "seen to"),
                        "drift/lx05 = gone\nclaim/1.1 = gone\n"
                        "lx05: approved: seen to; released from claim 1.1\n");
    assert_string_equal(world_state(w, "lx05"), "available");
    assert_string_equal(APPROVE("lx05"), "nothing");
}

static void test_remedied_and_drifted_again_is_open_again(void **state)
{
    struct world *w = *state;
    world_baselines(w);
    DRIFT("lx05", &FOUND_DEFAULT, "1.1");
    RESTORED("lx05");
    w->at = 7000;
    DRIFT("lx05", &FOUND_DEFAULT, "1.2");
    assert_int_equal(cluster_find(w->c, "lx05")->past->drift->state, DRIFT_OPEN);
    assert_int_equal(cluster_find(w->c, "lx05")->past->drift->since.ns, 7000);
    APPROVE("lx05");
    assert_int_equal(world_rc(), -EBUSY);
    assert_string_equal(world_claims(w, "lx05"), /* the first one still holds it */
                        "1.1 drift by fettled: drifted from baseline default 1: kernel.release");
}

static void test_overdue_is_down_until_approved(void **state)
{
    struct world *w = *state;
    world_baselines(w);
    DRIFT("lx[01-02]", &FOUND_MINOR, "1.1");
    assert_string_equal(
        OVERDUE("lx[01,03]", "1.2"),
        "claim/1.2 = {\"kind\":\"overdue\",\"owner\":\"fettled\",\"reason\":\"drift was not remedied in "
        "time\",\"since\":\"1000\",\"nodes\":\"lx01\",\"drained\":\"\"}\n"
        "drift/lx01 = {\"class\":\"gpu\",\"version\":1,\"expected\":\"A\",\"actual\":\"B\",\"severity\":"
        "\"minor\",\"named\":\"module.x, module.y\",\"count\":20,\"since\":\"1000\",\"boot\":\"b1\","
        "\"state\":\"overdue\"}\n"
        "lx01: drift was not remedied in time: counts as down (claim 1.2)\n");
    assert_string_equal(OVERDUE("lx01", "1.3"), "nothing");
    assert_string_equal(world_state(w, "lx01"), "down");
    assert_string_equal(world_state(w, "lx02"), "available");
    assert_string_equal(world_do(w, COMMAND_UP, "root", "lx01", NULL, NULL),
                        "node \"lx01\" is down because its drift was not remedied in time; `fettle conform "
                        "approve` brings it back when it was verified to be right again");
    assert_int_equal(world_rc(), -EBUSY);
    PERSISTS("lx01", &FOUND_MINOR, "1.4");
    assert_int_equal(cluster_find(w->c, "lx01")->past->drift->state, DRIFT_OVERDUE);
    RESTORED("lx01"); /* not sensitive, but it was down */
    assert_int_equal(cluster_find(w->c, "lx01")->past->drift->state, DRIFT_REMEDIED);
    assert_string_equal(world_state(w, "lx01"), "down");
    assert_string_equal(OVERDUE("lx01", "1.5"), "nothing");
    APPROVE("lx01");
    assert_string_equal(world_state(w, "lx01"), "available");
    assert_null(cluster_claim(w->c, "1.2"));
}

static void test_claims_of_drift_are_released_by_approval_alone(void **state)
{
    struct world *w = *state;
    world_baselines(w);
    DRIFT("lx05", &FOUND_DEFAULT, "1.1");
    OVERDUE("lx05", "1.2");
    static const char *const ids[] = {"1.1", "1.2"};
    for (int i = 0; i < 2; i++) {
        static const enum command_kind kinds[] = {COMMAND_UNDRAIN, COMMAND_UP};
        char sentence[200];
        snprintf(sentence, sizeof sentence,
                 "claim %s is for a node that drifted; `fettle conform approve` releases it when the node "
                 "was verified to be right again",
                 ids[i]);
        assert_string_equal(world_do(w, kinds[i], "root", "lx05", NULL, ids[i]), sentence);
        assert_int_equal(world_rc(), -EACCES);
    }
    assert_string_equal(world_do(w, COMMAND_UNDRAIN, "root", "lx05", NULL, NULL), "nothing");
    assert_string_equal(world_do(w, COMMAND_UNDRAIN, "fettled", "lx05", NULL, NULL), "nothing");
}

static void test_a_comparison_of_the_past_restores_nobody(void **state)
{
    struct world *w = *state;
    world_baselines(w);
    DRIFT("lx05", &FOUND_DEFAULT, "1.1");
    DRIFT("lx01", &FOUND_MAJOR, "1.2");
    assert_string_equal(world_tell(w, COMMAND_RESTORED, "lx[01,05]", "{\"version\":2}", NULL), "nothing");
    assert_string_equal(world_tell(w, COMMAND_OVERDUE, "lx[01,05]", "{\"version\":2}", "1.3"), "nothing");
    world_tell(w, COMMAND_OVERDUE, "lx05", "{\"version\":1}", "1.3");
    assert_int_equal(cluster_find(w->c, "lx05")->past->drift->state, DRIFT_OVERDUE);
    w->at += 3601 * INT64_C(1000000000);
    world_tell(w, COMMAND_RESTORED, "lx01", "{\"version\":1}", NULL);
    assert_null(cluster_find(w->c, "lx01")->past);
}

/* Nobody can verify a node that no baseline is about: a person says that its drift is over, and why. */
static void test_a_node_without_a_baseline_is_released_for_a_reason(void **state)
{
    struct world *w = *state;
    world_baselines(w);
    DRIFT("lx[01-02]", &FOUND_MAJOR, "1.1");
    OVERDUE("lx01", "1.2");
    world_configure(w, "lx[02-06] CPUs=2; class gpu Nodes=lx03 Reboot=yes; class new Nodes=lx02", NULL);
    assert_string_equal(APPROVE("lx01"),
                        "node \"lx01\" cannot be verified to be right again: a reason is needed");
    assert_int_equal(world_rc(), -EINVAL);
    APPROVE("lx02");
    assert_int_equal(world_rc(), -EINVAL);
    assert_non_null(cluster_find(w->c, "lx02")->past);
    assert_string_equal(world_ask(w, COMMAND_APPROVE, "ann", "lx[01-02]", NULL, "sold"),
                        "drift/lx01 = gone\ndrift/lx02 = gone\nclaim/1.1 = gone\nclaim/1.2 = gone\n"
                        "lx[01-02]: approved: sold; released from claim 1.1, 1.2\n");
    DRIFT("lx06", &FOUND_DEFAULT, "1.3"); /* one that is judged: no reason is good enough */
    world_ask(w, COMMAND_APPROVE, "ann", "lx06", NULL, "please");
    assert_int_equal(world_rc(), -EBUSY);
}

static void test_approval_is_for_all_or_none(void **state)
{
    struct world *w = *state;
    world_baselines(w);
    world_do(w, COMMAND_SET, "root", "lx06", "{\"Sensitive\":\"yes\"}", NULL);
    DRIFT("lx[05-06]", &FOUND_DEFAULT, "1.1");
    RESTORED("lx05");
    assert_string_equal(APPROVE("lx[05-06]"), "node \"lx06\" was not verified to be right again: drifted "
                                              "from baseline default 1: kernel.release");
    assert_string_equal(APPROVE("lx[05,09]"), "no node \"lx09\"");
    assert_int_equal(world_rc(), -ENOENT);
    assert_string_equal(world_state(w, "lx05"), "draining");
}

/* --- many, and ends between parts ------------------------------------------------------------- */

static void many(struct world *w)
{
    world_configure(w, "n[0001-1000] Sensitive=yes", NULL);
    world_seen(w, "n0001", "A");
    ACCEPT("n0001");
    assert_int_equal(world_rc(), 0);
}

static void test_a_thousand_drift_with_one_claim(void **state)
{
    struct world *w = *state;
    many(w);
    DRIFT("n[0001-1000]", &FOUND_DEFAULT, "1.1");
    assert_int_equal(world_parts(), 11);
    for (int i = 1; i <= 1000; i++) {
        char node[8];
        snprintf(node, sizeof node, "n%04d", i);
        const struct member *m = cluster_find(w->c, node);
        assert_non_null(m->past->drift);
        assert_int_equal(m->n_claims, 1);
        assert_string_equal(m->claims[0].claim->id, "1.1");
    }
    OVERDUE("n[0001-1000]", "1.2");
    assert_int_equal(cluster_claim(w->c, "1.2")->n, 1000);
    RESTORED("n[0001-1000]");
    APPROVE("n[0001-1000]");
    assert_int_equal(world_rc(), 0);
    assert_null(cluster_claim(w->c, "1.1"));
    assert_null(cluster_claim(w->c, "1.2"));
    for (int i = 1; i <= 1000; i++) {
        char node[8];
        snprintf(node, sizeof node, "n%04d", i);
        assert_null(cluster_find(w->c, node)->past);
    }
}

/* The controller ends after each number of parts; asked again, it does the rest, with no second claim. */
static void test_an_end_between_parts_loses_nothing(void **state)
{
    struct world *w = *state;
    many(w);
    for (size_t parts = 1; parts < 11; parts++) {
        w->parts_max = parts;
        DRIFT("n[0001-1000]", &FOUND_DEFAULT, "1.1");
        struct cluster *again = world_reload(w, "n[0001-1000] Sensitive=yes", 7, parts % 2);
        assert_true(cluster_digest(again) == cluster_digest(w->c));
        cluster_destroy(again);
        assert_int_equal(cluster_find(w->c, "n1000")->n_claims, 1); /* held from the first part on */
        w->parts_max = 0;
        DRIFT("n[0001-1000]", &FOUND_DEFAULT, "1.2");
        assert_null(cluster_claim(w->c, "1.2"));
        assert_non_null(cluster_find(w->c, "n1000")->past->drift);
        RESTORED("n[0001-1000]");
        APPROVE("n[0001-1000]");
        assert_null(cluster_claim(w->c, "1.1"));
    }
}

static void test_held_and_never_drifted_can_be_released(void **state)
{
    struct world *w = *state;
    many(w);
    w->parts_max = 1;
    DRIFT("n[0001-1000]", &FOUND_DEFAULT, "1.1");
    w->parts_max = 0;
    assert_null(cluster_find(w->c, "n1000")->past);
    APPROVE("n1000");
    assert_int_equal(cluster_find(w->c, "n1000")->n_claims, 0);
    world_do(w, COMMAND_SET, "root", "n0999", "{\"Sensitive\":\"no\"}", NULL);
    RESTORED("n0999");
    assert_int_equal(cluster_find(w->c, "n0999")->n_claims, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_conform_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_long_histories_come_in_smaller_parts),
        TEST(test_the_first_sight_has_no_history),
        TEST(test_a_change_is_remembered),
        TEST(test_sixteen_are_remembered),
        TEST(test_a_node_that_never_changed_costs_32_bytes),
        TEST(test_drift_is_a_record_and_a_claim_for_all),
        TEST(test_minor_drift_takes_no_node_out),
        TEST(test_a_reason_names_one_and_counts_the_rest),
        TEST(test_drift_that_changes_keeps_since_when),
        TEST(test_a_finding_of_the_past_changes_nothing),
        TEST(test_a_drift_claim_drains),
        TEST(test_a_node_that_becomes_sensitive_is_held),
        TEST(test_a_later_part_makes_no_claim),
        TEST(test_a_class_that_changes_counts_other_components),
        TEST(test_an_unlisted_node_is_not_judged_and_can_be_restored),
        TEST(test_a_node_that_is_right_again_is_free),
        TEST(test_a_sensitive_one_waits_for_a_person),
        TEST(test_remedied_and_drifted_again_is_open_again),
        TEST(test_overdue_is_down_until_approved),
        TEST(test_claims_of_drift_are_released_by_approval_alone),
        TEST(test_approval_is_for_all_or_none),
        TEST(test_no_claims_while_so_many_drift),
        TEST(test_a_comparison_of_the_past_restores_nobody),
        TEST(test_a_node_without_a_baseline_is_released_for_a_reason),
        TEST(test_a_thousand_drift_with_one_claim),
        TEST(test_an_end_between_parts_loses_nothing),
        TEST(test_held_and_never_drifted_can_be_released),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
