/* SPDX-License-Identifier: Apache-2.0 */
/* What etcd itself refuses: strangers without a certificate, and writes without space. */
#include "store/etcd/client.h"
#include "store/etcd/health.h"
#include "store/etcd/lab_test.h"
#include "store/fixture_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void assert_says(const struct err *e, int code, const char *words)
{
    assert_int_equal(e->code, code);
    if (!strstr(e->msg, words))
        fail_msg("\"%s\" does not say \"%s\"", e->msg, words);
}

static int big(struct store *s, uint64_t term, struct err *e)
{
    static char value[500001];
    const struct store_op op = {"k", value};
    const struct store_batch b = {.n_ops = 1, .ops = &op};
    uint64_t revision;
    memset(value, 'v', sizeof value - 1);
    return store_commit(s, term, &b, &revision, e);
}

/* Whatever else a busy machine makes of a try, none succeeds, and in the end one says why. */
static void assert_refused(const struct etcd_options *o)
{
    struct store *s = NULL;
    struct err e = {0};
    for (int i = 0; i < 30 && !strstr(e.msg, "certificate"); i++)
        assert_int_equal(etcd_open(o, &s, &e), -EAGAIN);
    assert_says(&e, -EAGAIN, "certificate");
}

static void test_only_holders_of_a_certificate_are_heard(void **state)
{
    struct lab *lab = lab_create(3, true, NULL);
    CLEANUP_FREE char *endpoints = lab_endpoints(lab);
    struct etcd_options o = lab_options(lab, endpoints, "a");
    struct store *s = NULL;
    struct err e = {0};
    uint64_t term, revision;
    assert_int_equal(etcd_open(&o, &s, &e), 0);
    assert_int_equal(store_campaign(s, &term, &e), 0);
    for (int i = 0; i < 5; i++)
        assert_int_equal(fixture_put(s, term, "k", "1", &revision, &e), 0);
    for (int i = 0; i < 20; i++) /* more than a socket takes at once */
        assert_int_equal(big(s, term, &e), 0);
    store_close(s);
    o.answered_ms = 1000;
    o.cert = lab->stranger_cert;
    o.key = lab->stranger_key;
    assert_refused(&o);
    o.cert = o.key = NULL;
    assert_refused(&o);
    o = lab_options(lab, endpoints, "a");
    o.ca = NULL; /* not an authority of the system */
    o.answered_ms = 1000;
    assert_refused(&o);
    lab_destroy(lab);
}

struct asked {
    bool is;
    struct etcd_health h;
};

static void on_health(void *arg, const struct etcd_health *h)
{
    struct asked *a = arg;
    a->is = true;
    a->h = *h;
}

static struct etcd_health health(const struct etcd_options *o)
{
    struct asked a = {0};
    uv_loop_t loop;
    uv_loop_init(&loop);
    etcd_health_ask(&loop, o, on_health, &a);
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_true(a.is);
    assert_int_equal(uv_loop_close(&loop), 0);
    return a.h;
}

/* Asks until the majority is there, or is not, and as many members answer as run. */
static struct etcd_health health_when(const struct etcd_options *o, bool has_majority)
{
    struct mono until = mono_add(mono_now(), span_s(60));
    struct etcd_health h;
    do {
        h = health(o);
    } while ((h.has_majority != has_majority || !h.endpoints[0].answers ||
              h.endpoints[1].answers != has_majority) &&
             mono_now().ns < until.ns);
    assert_int_equal(h.has_majority, has_majority);
    return h;
}

static int on_record(void *arg, const char *key, const char *value, struct err *e)
{
    return 0;
}

static uint64_t loaded(struct store *s)
{
    uint64_t revision = 0;
    assert_int_equal(store_load(s, on_record, NULL, &revision, NULL), 0);
    return revision;
}

static void test_no_space_is_said_and_ends(void **state)
{
    struct lab *lab = lab_create(1, false, "8000000");
    CLEANUP_FREE char *endpoints = lab_endpoints(lab);
    struct etcd_options o = lab_options(lab, endpoints, "a");
    struct store *s = NULL;
    struct err e = {0};
    uint64_t term;
    int r = 0;
    assert_int_equal(etcd_open(&o, &s, &e), 0);
    assert_int_equal(store_campaign(s, &term, &e), 0);
    assert_false(health(&o).no_space);
    int n = 0;
    while (!r && n < 100) {
        r = big(s, term, &e);
        n += r == 0;
    }
    assert_int_equal(r, -ENOSPC);
    assert_int_equal(loaded(s), n); /* what was refused is not there, and what is there was not refused */
    assert_says(&e, -ENOSPC, "space alarm");
    assert_int_equal(big(s, term, &e), -ENOSPC);
    assert_int_equal(store_check(s, &e), 0);
    assert_true(health(&o).no_space);
    lab_make_room(lab);
    assert_int_equal(big(s, term, &e), 0);
    assert_false(health(&o).no_space);
    store_close(s);
    lab_destroy(lab);
}

static void test_health_has_each_member(void **state)
{
    struct lab *lab = lab_create(3, false, NULL);
    CLEANUP_FREE char *endpoints = lab_endpoints(lab);
    struct etcd_options o = lab_options(lab, endpoints, "a");
    CLEANUP_TEXT struct text out = {0};
    o.answered_ms = 3000;
    lab_ask(lab, "/v3/maintenance/status", "{}", &out);
    lab_kill(lab, 2);
    struct etcd_health h = health_when(&o, true); /* etcd may have to choose another leader first */
    assert_int_equal(h.n_endpoints, 3);
    assert_int_equal(h.n_members, 3);
    assert_true(!h.no_space && !h.corrupt);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(h.endpoints[i].answers, i < 2);
        assert_int_equal(h.endpoints[i].version[0] == '3', i < 2);
    }
    assert_true(h.endpoints[0].member != h.endpoints[1].member && h.endpoints[0].bytes > 0);
    assert_non_null(strstr(h.endpoints[2].why.msg, "127.0.0.1"));
    lab_kill(lab, 1);
    h = health_when(&o, false);
    assert_true(h.endpoints[0].answers && !h.endpoints[1].answers);
    lab_destroy(lab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_only_holders_of_a_certificate_are_heard),
        cmocka_unit_test(test_no_space_is_said_and_ends),
        cmocka_unit_test(test_health_has_each_member),
    };
    lab_need();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
