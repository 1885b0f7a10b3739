/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/fixture_test.h"
#include "cluster/said_test.h"
#include "cluster/state/certificate.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

enum { DAY_S = 86400, LIFE_S = 90 * DAY_S };

static int64_t now_s; /* of the next command */

static char *terms(unsigned serial, int64_t from_s, const char *more)
{
    struct text t = {0};
    text_printf(&t,
                "{\"subject\":\"operator:ann\",\"serial\":\"%x\",\"key\":\"a%x\",\"role\":\"\",\"from\":\"%"
                "lld\",\"until\":"
                "\"%lld\"%s}",
                serial, serial, (long long)span_s(from_s).ns, (long long)span_s(from_s + LIFE_S).ns, more);
    return text_take(&t);
}

static const char HASH[] = "0123456789abcdef00", *hash = HASH; /* of the token; or its id */

static int submit(struct world *w, enum command_kind kind, const char *node, const char *set,
                  const char *reason, const char **why)
{
    static struct err e;
    static char said[512];
    struct decision d = {0};
    CLEANUP_HOSTLIST struct hostlist names = {0};
    if (node)
        hostlist_add(&names, node);
    struct command cmd = {.kind = kind,
                          .actor = node && kind != COMMAND_CERTIFICATE_REVOKE ? node : "root",
                          .at = {span_s(now_s).ns},
                          .nodes = &names,
                          .reason = reason};
    said_read(set, &cmd);
    if (kind == COMMAND_TOKEN_CREATE) {
        cmd.token_made.hash = hash;
        cmd.token_made.expires.ns = span_s(now_s + 3600).ns;
    } else if (kind == COMMAND_TOKEN_USE) {
        cmd.token_use.hash = hash;
    } else if (kind == COMMAND_TOKEN_END) {
        cmd.token_ended.id = hash;
    }
    e = (struct err){0};
    int rc = cluster_decide(w->c, &cmd, 0, &d, &e);
    for (size_t i = 0; rc == 0 && i < d.n_ops; i++)
        assert_int_equal(cluster_put(w->c, d.ops[i].key, d.ops[i].value, NULL), 0);
    snprintf(said, sizeof said, "%s", rc ? e.msg : d.text ? d.text : "nothing");
    decision_fini(&d);
    said_fini();
    *why = said;
    return rc;
}

/* A certificate for the node by a token; its number is also the day on which it is made. */
static void join(struct world *w, const char *node, unsigned serial)
{
    const char *why;
    now_s = (int64_t)serial * DAY_S;
    CLEANUP_FREE char *set = terms(serial, now_s, "");
    assert_int_equal(submit(w, COMMAND_TOKEN_CREATE, node, "{\"again\":true}", NULL, &why), 0);
    if (submit(w, COMMAND_TOKEN_USE, node, set, NULL, &why) < 0)
        fail_msg("%s", why);
}

static int renew(struct world *w, const char *node, unsigned of, unsigned serial, const char **why)
{
    CLEANUP_FREE char *old = terms(of, (int64_t)of * DAY_S, ""), *set = NULL;
    CLEANUP_TEXT struct text more = {0};
    text_printf(&more, ",\"of\":%s", old);
    set = terms(serial, now_s, more.s);
    return submit(w, COMMAND_CERTIFICATE_RENEW, node, set, NULL, why);
}

static int used(struct world *w, const char *node, unsigned serial, const char **why)
{
    char set[64];
    snprintf(set, sizeof set, "{\"serial\":\"%x\"}", serial);
    return submit(w, COMMAND_CERTIFICATE_USED, node, set, NULL, why);
}

static bool counts(const struct world *w, const char *subject, uint64_t serial)
{
    return cluster_certificate_judge(w->c, subject, serial, NULL) == 0;
}

static void a_certificate_is_recorded_with_its_key(void **state)
{
    struct world *w = *state;
    const char *why;
    join(w, "lx01", 16);
    const struct holder *h = cluster_holder(w->c, "node:lx01");
    assert_non_null(h);
    assert_int_equal(h->n, 1);
    assert_int_equal(h->made[0].serial, 16);
    assert_int_equal(h->made[0].key, 0xa10);
    assert_string_equal(h->made[0].by, "lx01");
    assert_int_equal(cluster_serial_max(w->c), 16);
    CLEANUP_FREE char *set = terms(17, now_s, "");
    assert_int_equal(submit(w, COMMAND_CERTIFICATE, NULL, set, NULL, &why), 0);
    assert_string_equal(why, "certificate 11 for operator:ann, with the key 0000000000000a11, valid until "
                             "1970-04-17T00:00:00.000Z");
    assert_int_equal(submit(w, COMMAND_CERTIFICATE, NULL, set, NULL, &why), -EAGAIN);
}

static void joining_ends_all_before(void **state)
{
    struct world *w = *state;
    assert_true(counts(w, "node:lx01", 0)); /* of before there were records */
    join(w, "lx01", 16);
    assert_false(counts(w, "node:lx01", 0));
    assert_true(counts(w, "node:lx01", 16));
    assert_true(counts(w, "node:lx02", 16));
    join(w, "lx01", 17);
    assert_false(counts(w, "node:lx01", 16));
    assert_true(counts(w, "node:lx01", 17));
    assert_true(counts(w, "node:lx01", 18)); /* of a record that was lost */
}

static void renewal_is_for_the_last_third_of_listed_nodes(void **state)
{
    struct world *w = *state;
    const char *why;
    join(w, "lx01", 16);
    now_s = (16 + 59) * DAY_S;
    assert_int_equal(renew(w, "lx01", 16, 80, &why), -EBUSY);
    assert_string_equal(why,
                        "the certificate of node \"lx01\" is renewed in the last third of its life, from "
                        "1970-03-18T00:00:00.000Z on");
    now_s = (16 + 61) * DAY_S;
    assert_int_equal(renew(w, "lx01", 16, 80, &why), 0);
    join(w, "gone", 16);
    now_s = (16 + 61) * DAY_S;
    assert_int_equal(renew(w, "gone", 16, 81, &why), -EACCES);
    assert_string_equal(why, "node \"gone\" is in no configuration file, so its certificate is not renewed");
}

static void one_new_key_at_a_time(void **state)
{
    struct world *w = *state;
    const char *why;
    join(w, "lx01", 16);
    now_s = (16 + 61) * DAY_S;
    assert_int_equal(renew(w, "lx01", 16, 80, &why), 0);
    assert_true(counts(w, "node:lx01", 16) && counts(w, "node:lx01", 80));
    now_s += 300;
    assert_int_equal(renew(w, "lx01", 16, 81, &why), -EBUSY);
    now_s += 300;
    assert_int_equal(renew(w, "lx01", 16, 81, &why), 0); /* the answer was lost */
    assert_false(counts(w, "node:lx01", 80));
    assert_int_equal(cluster_holder(w->c, "node:lx01")->n, 2);
    assert_int_equal(used(w, "lx01", 81, &why), 0);
    assert_string_equal(why, "certificate 51 of node:lx01 is in use: those before it have ended");
    assert_false(counts(w, "node:lx01", 16));
    assert_true(counts(w, "node:lx01", 81));
    assert_int_equal(used(w, "lx01", 81, &why), 0);
    assert_string_equal(why, "nothing");
    assert_int_equal(renew(w, "lx01", 16, 90, &why), -EPERM); /* the old one renews nothing */
}

static void one_of_before_the_records_is_renewed(void **state)
{
    struct world *w = *state;
    const char *why;
    now_s = 61 * DAY_S;
    assert_int_equal(renew(w, "lx01", 0, 16, &why), 0);
    assert_true(counts(w, "node:lx01", 0) && counts(w, "node:lx01", 16));
    assert_int_equal(used(w, "lx01", 16, &why), 0);
    assert_false(counts(w, "node:lx01", 0));
}

static void revoking_a_node_ends_all_of_it(void **state)
{
    struct world *w = *state;
    const char *why;
    join(w, "lx01", 16);
    assert_int_equal(submit(w, COMMAND_CERTIFICATE_REVOKE, "lx01", "{}", "stolen", &why), 0);
    assert_string_equal(why, "every certificate of node:lx01 that was made before: stolen");
    assert_false(counts(w, "node:lx01", 0) || counts(w, "node:lx01", 16));
    struct err e;
    assert_int_equal(cluster_certificate_judge(w->c, "node:lx01", 16, &e), -EPERM);
    assert_string_equal(e.msg, "certificate 10 of node:lx01 was revoked by root: stolen");
    assert_int_equal(submit(w, COMMAND_CERTIFICATE_REVOKE, "lx02", "{}", "never seen", &why), 0);
    assert_false(counts(w, "node:lx02", 0));
    assert_int_equal(submit(w, COMMAND_CERTIFICATE_REVOKE, "nobody", "{}", "x", &why), -ENOENT);
    join(w, "lx01", 17);
    assert_true(counts(w, "node:lx01", 17));
}

static void an_ended_token_lets_nobody_join(void **state)
{
    struct world *w = *state;
    const char *why;
    now_s = DAY_S;
    CLEANUP_FREE char *set = terms(16, now_s, "");
    assert_int_equal(submit(w, COMMAND_TOKEN_CREATE, "lx01", "{\"count\":3}", NULL, &why), 0);
    assert_int_equal(submit(w, COMMAND_TOKEN_END, NULL, NULL, "", &why), -EINVAL);
    hash = "0123456789abcdee";
    assert_int_equal(submit(w, COMMAND_TOKEN_END, NULL, NULL, "leaked", &why), -ENOENT);
    hash = "0123456789abcdef";
    assert_int_equal(submit(w, COMMAND_TOKEN_END, NULL, NULL, "leaked", &why), 0);
    assert_string_equal(why, "token 0123456789abcdef for lx01, made by lx01, with which 3 could still join: "
                             "leaked");
    assert_int_equal(submit(w, COMMAND_TOKEN_END, NULL, NULL, "leaked", &why), -ENOENT);
    hash = HASH;
    assert_int_equal(submit(w, COMMAND_TOKEN_USE, "lx01", set, NULL, &why), -EACCES);
    assert_string_equal(why, TOKEN_UNKNOWN);
}

static void one_of_an_operators_is_revoked_alone(void **state)
{
    struct world *w = *state;
    const char *why;
    CLEANUP_FREE char *one = terms(16, 0, ""), *two = terms(17, 0, "");
    static const char all[] = "{\"subject\":\"operator:ann\"}",
                      first[] = "{\"subject\":\"operator:ann\",\"serial\":\"10\"}";
    now_s = DAY_S;
    submit(w, COMMAND_CERTIFICATE, NULL, one, NULL, &why);
    submit(w, COMMAND_CERTIFICATE, NULL, two, NULL, &why);
    assert_int_equal(submit(w, COMMAND_CERTIFICATE_REVOKE, NULL, first, "lost", &why), 0);
    assert_false(counts(w, "operator:ann", 16));
    assert_true(counts(w, "operator:ann", 17) && counts(w, "operator:ann", 0));
    assert_int_equal(submit(w, COMMAND_CERTIFICATE_REVOKE, NULL, first, "lost", &why), -ENOENT);
    assert_int_equal(submit(w, COMMAND_CERTIFICATE_REVOKE, NULL, all, "left", &why), 0);
    assert_false(counts(w, "operator:ann", 17) || counts(w, "operator:ann", 0));
}

/* What is over by its own time needs no record; but what it ended may be valid for longer. */
static void records_go_when_nothing_is_valid(void **state)
{
    struct world *w = *state;
    const char *why;
    join(w, "gone", 16);
    join(w, "lx01", 16);
    now_s = (16 + 91) * DAY_S;
    CLEANUP_FREE char *one = terms(200, now_s, "");
    submit(w, COMMAND_CERTIFICATE, NULL, one, NULL, &why);
    assert_non_null(cluster_holder(w->c, "node:gone")); /* one of before may be valid for a year */
    now_s = (16 + 367) * DAY_S;
    CLEANUP_FREE char *other = terms(500, now_s, "");
    submit(w, COMMAND_CERTIFICATE, NULL, other, NULL, &why);
    assert_null(cluster_holder(w->c, "node:gone"));
    assert_non_null(cluster_holder(w->c, "node:lx01")); /* it is listed */
    assert_int_equal(cluster_holder(w->c, "operator:ann")->n, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_certificate_is_recorded_with_its_key),
        TEST(joining_ends_all_before),
        TEST(renewal_is_for_the_last_third_of_listed_nodes),
        TEST(one_new_key_at_a_time),
        TEST(one_of_before_the_records_is_renewed),
        TEST(revoking_a_node_ends_all_of_it),
        TEST(an_ended_token_lets_nobody_join),
        TEST(one_of_an_operators_is_revoked_alone),
        TEST(records_go_when_nothing_is_valid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
