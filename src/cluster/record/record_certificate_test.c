/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/fixture_test.h"
#include "cluster/said_test.h"
#include "cluster/state/certificate.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static void each_from(const struct world *w, const char *subject, struct text *t)
{
    const struct holder *h;
    text_clear(t);
    for (; (h = cluster_holder_after(w->c, subject)); subject = h->subject)
        text_printf(t, "%s ", h->subject);
}

/* One after the other, in order, whatever comes and goes meanwhile. */
static void holders_have_an_order(void **state)
{
    static const char *const nodes[] = {"lx09", "lx02", "lx11", "lx01", "lx02"};
    static const char record[] = "{\"least\":\"0\",\"ends\":\"0\",\"made\":[]}";
    struct world *w = *state;
    CLEANUP_TEXT struct text t = {0}, key = {0};
    assert_null(cluster_holder_after(w->c, ""));
    for (size_t i = 0; i < sizeof nodes / sizeof nodes[0]; i++) {
        text_clear(&key);
        text_printf(&key, "certificate/node:%s", nodes[i]);
        assert_int_equal(cluster_put(w->c, key.s, record, NULL), 0);
    }
    each_from(w, "", &t);
    assert_string_equal(t.s, "node:lx01 node:lx02 node:lx09 node:lx11 ");
    assert_int_equal(cluster_put(w->c, "certificate/node:lx02", NULL, NULL), 0);
    assert_int_equal(cluster_put(w->c, "certificate/node:lx11", NULL, NULL), 0);
    assert_int_equal(cluster_put(w->c, "certificate/controller:c", record, NULL), 0);
    each_from(w, "", &t);
    assert_string_equal(t.s, "controller:c node:lx01 node:lx09 ");
    each_from(w, "node:lx02", &t); /* which is gone */
    assert_string_equal(t.s, "node:lx09 ");
    assert_null(cluster_holder_after(w->c, "node:lx09"));
}

static void a_damaged_record_is_refused(void **state)
{
    struct world *w = *state;
    static const struct {
        const char *key, *value, *why;
    } rows[] = {
        {"certificate/lx01", "{}", "record certificate/lx01: \"lx01\" holds no certificates"},
        {"certificate/node:lx01", "{\"least\":\"x\",\"ends\":\"0\",\"made\":[]}",
         "record certificate/node:lx01: least: \"x\" is no number in hex"},
        {"certificate/node:lx01", "{\"least\":\"0\",\"ends\":\"0\",\"made\":{}}",
         "record certificate/node:lx01: \"made\" is no array of at most 16"},
        {"certificate/node:lx01", "{\"least\":\"0\",\"ends\":\"0\",\"made\":[1]}",
         "record certificate/node:lx01: certificate 1: no object"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct err e;
        uint64_t before = cluster_digest(w->c);
        assert_int_equal(cluster_put(w->c, rows[i].key, rows[i].value, &e), -EILSEQ);
        assert_string_equal(e.msg, rows[i].why);
        assert_true(cluster_digest(w->c) == before);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(holders_have_an_order),
        TEST(a_damaged_record_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
