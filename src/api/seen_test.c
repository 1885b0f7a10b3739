/* SPDX-License-Identifier: Apache-2.0 */
#include "api/seen.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char id[] = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

/* A cluster whose node lx01 has this record. */
static struct cluster *cluster_with(const char *history)
{
    struct cluster *c = cluster_create();
    CLEANUP_TEXT struct text t = {0};
    text_printf(&t, "{\"fingerprint\":\"%s\",\"since\":\"500\",\"history\":[%s]}", id, history);
    assert_int_equal(cluster_put(c, "seen/lx01", t.s, NULL), 0);
    return c;
}

#define WAS(since, named, count)                                                                       \
    "{\"fingerprint\":\"ff112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\",\"since\":" \
    "\"" since "\",\"named\":\"" named "\",\"count\":" count "}"

/* The record says what went with a fingerprint; an entry says what came with it. */
static void test_entries(void **state)
{
    struct cluster *c =
        cluster_with(WAS("300", "gpu.driver, bios.version", "2") "," WAS("100", "kernel.release", "1"));
    struct seen s;
    seen_init(&s, cluster_find(c, "lx01"));
    assert_int_equal(s.n, 3);
    assert_int_equal(s.entries[0].at.ns, 500);
    assert_string_equal(s.entries[0].fingerprint, id);
    assert_int_equal(s.entries[0].named.n, 2);
    assert_string_equal(s.entries[0].named.list[0], "gpu.driver");
    assert_string_equal(s.entries[0].named.list[1], "bios.version");
    assert_int_equal(s.entries[1].at.ns, 300);
    assert_int_equal(s.entries[1].named.n, 1);
    assert_string_equal(s.entries[1].named.list[0], "kernel.release");
    assert_int_equal(s.entries[1].count, 1);
    assert_int_equal(s.entries[2].at.ns, 100);
    assert_int_equal(s.entries[2].named.n, 0);
    assert_int_equal(s.entries[2].count, 0);
    seen_fini(&s);
    cluster_destroy(c);
}

static void test_never_seen(void **state)
{
    struct cluster *c = cluster_create();
    struct seen s;
    seen_init(&s, cluster_meet(c, "lx01"));
    assert_int_equal(s.n, 0);
    struct wall at;
    assert_false(seen_changed(&s, "gpu.driver", &at));
    seen_fini(&s);
    cluster_destroy(c);
}

/* The latest change counts, and only a whole name is one. */
static void test_changed(void **state)
{
    struct cluster *c =
        cluster_with(WAS("300", "gpu.driver, bios.version", "2") "," WAS("100", "gpu.driver, gpu", "2"));
    struct seen s;
    struct wall at;
    seen_init(&s, cluster_find(c, "lx01"));
    assert_true(seen_changed(&s, "gpu.driver", &at));
    assert_int_equal(at.ns, 500);
    assert_true(seen_changed(&s, "bios.version", &at));
    assert_int_equal(at.ns, 500);
    assert_true(seen_changed(&s, "gpu", &at));
    assert_int_equal(at.ns, 300);
    assert_false(seen_changed(&s, "bios", &at));
    assert_false(seen_changed(&s, "kernel.release", &at));
    seen_fini(&s);
    cluster_destroy(c);
}

/* Where not all that changed is named, nothing is known of the time before. */
static void test_hidden(void **state)
{
    struct cluster *c = cluster_with(WAS("300", "gpu.driver", "40") "," WAS("100", "bios.version", "1"));
    struct seen s;
    struct wall at;
    seen_init(&s, cluster_find(c, "lx01"));
    assert_true(seen_changed(&s, "gpu.driver", &at));
    assert_false(seen_changed(&s, "bios.version", &at));
    seen_fini(&s);
    cluster_destroy(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_entries),
        cmocka_unit_test(test_never_seen),
        cmocka_unit_test(test_changed),
        cmocka_unit_test(test_hidden),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
