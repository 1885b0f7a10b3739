/* SPDX-License-Identifier: Apache-2.0 */
#include "watch/share.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* n nodes lx01..; the collectors are named. */
struct world {
    struct cluster *c;
    struct share *s;
    struct text told;
};

static void collectors(struct world *x, const char *list)
{
    CLEANUP_HOSTLIST struct hostlist names = {0};
    assert_int_equal(hostlist_parse(list, &names, NULL), 0);
    share_configure(x->s, &names);
}

static void nodes(struct world *x, size_t n)
{
    struct roster r = {.partition_max = 31, .n = n, .nodes = mem_alloc(n * sizeof *r.nodes)};
    for (size_t i = 0; i < n; i++) {
        char name[32];
        snprintf(name, sizeof name, "lx%02zu", i + 1);
        r.nodes[i].name = mem_dup(name);
        spec_init(&r.nodes[i].spec);
    }
    cluster_configure(x->c, &r, NULL);
}

static struct world world(size_t n, const char *list)
{
    struct world x = {.c = cluster_create()};
    x.s = share_create(x.c);
    nodes(&x, n);
    collectors(&x, list);
    return x;
}

static void world_end(struct world *x)
{
    share_destroy(x->s);
    cluster_destroy(x->c);
    text_fini(&x->told);
}

static void respond(struct world *x, const char *name, bool responds, const char *held)
{
    CLEANUP_HOSTLIST struct hostlist names = {0};
    struct member *members[64];
    assert_int_equal(hostlist_parse(held, &names, NULL), 0);
    for (size_t i = 0; i < names.n; i++)
        members[i] = cluster_meet(x->c, names.names[i]);
    share_respond(x->s, cluster_find(x->c, name), responds, members, names.n);
}

static void on_changed(void *arg, struct member *collector, struct member *const *members, size_t n)
{
    struct world *x = arg;
    const char *names[64];
    for (size_t i = 0; i < n; i++)
        names[i] = members[i]->name;
    CLEANUP_FREE char *folded = hostlist_fold(names, n);
    text_printf(&x->told, "%s%s: %s", x->told.len ? "; " : "", collector->name, folded);
}

/* "COLLECTOR: nodes; ... (moved N)": the shares that were told. Valid until the next call. */
static const char *balance(struct world *x)
{
    static char shown[1024];
    text_clear(&x->told);
    size_t moved = share_balance(x->s, on_changed, x);
    snprintf(shown, sizeof shown, "%s (moved %zu)", x->told.len ? x->told.s : "nobody", moved);
    return shown;
}

static void test_none(void **state)
{
    struct world x = world(4, "");
    assert_true(share_complete(x.s));
    assert_string_equal(balance(&x), "nobody (moved 0)");
    assert_null(share_collector_of(x.s, cluster_find(x.c, "lx01")));
    world_end(&x);
}

static void test_one(void **state)
{
    struct world x = world(4, "lx01");
    assert_string_equal(balance(&x), "nobody (moved 0)");
    assert_false(share_complete(x.s));
    respond(&x, "lx01", true, "");
    assert_true(share_complete(x.s));
    assert_string_equal(balance(&x), "lx01: lx[02-04] (moved 3)");
    assert_string_equal(balance(&x), "nobody (moved 0)");
    assert_null(share_collector_of(x.s, cluster_find(x.c, "lx01")));
    assert_string_equal(share_collector_of(x.s, cluster_find(x.c, "lx03"))->name, "lx01");
    respond(&x, "lx01", false, "");
    balance(&x);
    assert_null(share_collector_of(x.s, cluster_find(x.c, "lx03")));
    world_end(&x);
}

static void test_shares_are_of_similar_size(void **state)
{
    struct world x = world(13, "lx[01-03]");
    respond(&x, "lx01", true, "");
    respond(&x, "lx02", true, "");
    respond(&x, "lx03", true, "");
    assert_string_equal(balance(&x), "lx01: lx[04-07]; lx02: lx[08-10]; lx03: lx[11-13] (moved 10)");
    world_end(&x);
}

static void test_a_loss_moves_only_the_lost_nodes(void **state)
{
    struct world x = world(15, "lx[01-03]");
    respond(&x, "lx01", true, "");
    respond(&x, "lx02", true, "");
    respond(&x, "lx03", true, "");
    assert_string_equal(balance(&x), "lx01: lx[04-07]; lx02: lx[08-11]; lx03: lx[12-15] (moved 12)");
    respond(&x, "lx02", false, "");
    assert_string_equal(share_collector_of(x.s, cluster_find(x.c, "lx08"))->name,
                        "lx02"); /* until the balance */
    assert_false(share_responds(x.s, cluster_find(x.c, "lx02")));
    assert_string_equal(balance(&x), "lx01: lx[04-09]; lx02: ; lx03: lx[10-15] (moved 4)");
    respond(&x, "lx03", false, ""); /* dies while it takes over */
    assert_string_equal(balance(&x), "lx01: lx[04-15]; lx03:  (moved 6)");
    respond(&x, "lx02", true, "");
    assert_string_equal(balance(&x), "lx01: lx[04-09]; lx02: lx[10-15] (moved 6)");
    world_end(&x);
}

static void test_a_collector_with_one_node_more_keeps_it(void **state)
{
    struct world x = world(5, "lx[01-02]");
    respond(&x, "lx01", true, "lx03");
    respond(&x, "lx02", true, "lx[04-05]");
    assert_string_equal(balance(&x), "lx01: lx03; lx02: lx[04-05] (moved 0)");
    world_end(&x);
}

static void test_shares_stay_after_the_controller_s_restart(void **state)
{
    struct world x = world(8, "lx[01-02]");
    respond(&x, "lx01", true, "lx[03,05,07]");
    respond(&x, "lx02", true, "lx[03-04,06,08]"); /* lx03 is with another that responds */
    assert_string_equal(balance(&x), "lx01: lx[03,05,07]; lx02: lx[04,06,08] (moved 0)");
    world_end(&x);
}

/* It was away for so short a time that nothing moved, but it has forgotten its share. */
static void test_a_collector_that_responds_anew_is_told_its_share(void **state)
{
    struct world x = world(4, "lx01");
    respond(&x, "lx01", true, "");
    balance(&x);
    respond(&x, "lx01", false, "");
    respond(&x, "lx01", true, "");
    assert_string_equal(balance(&x), "lx01: lx[02-04] (moved 0)");
    assert_string_equal(balance(&x), "nobody (moved 0)");
    world_end(&x);
}

static void test_the_configuration_changes(void **state)
{
    struct world x = world(7, "lx[01-02]");
    respond(&x, "lx01", true, "");
    respond(&x, "lx02", true, "");
    assert_string_equal(balance(&x), "lx01: lx[03-05]; lx02: lx[06-07] (moved 5)");
    collectors(&x, "lx02"); /* lx01 is a node like any other now */
    assert_false(share_is_collector(x.s, cluster_find(x.c, "lx01")));
    assert_string_equal(balance(&x), "lx02: lx[01,03-07] (moved 4)");
    nodes(&x, 5);
    assert_string_equal(balance(&x), "lx02: lx[01,03-05] (moved 0)");
    nodes(&x, 8);
    assert_string_equal(balance(&x), "lx02: lx[01,03-08] (moved 3)");
    cluster_meet(x.c, "stray");
    assert_string_equal(balance(&x), "nobody (moved 0)"); /* the unlisted have no collector */
    world_end(&x);
}

static void test_members_of_a_share(void **state)
{
    struct world x = world(4, "lx01");
    struct member *const *members;
    respond(&x, "lx01", true, "");
    balance(&x);
    assert_int_equal(share_members(x.s, cluster_find(x.c, "lx01"), &members), 3);
    assert_string_equal(members[0]->name, "lx02");
    assert_int_equal(share_members(x.s, cluster_find(x.c, "lx02"), &members), 0);
    world_end(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_none),
        cmocka_unit_test(test_one),
        cmocka_unit_test(test_shares_are_of_similar_size),
        cmocka_unit_test(test_a_loss_moves_only_the_lost_nodes),
        cmocka_unit_test(test_a_collector_with_one_node_more_keeps_it),
        cmocka_unit_test(test_shares_stay_after_the_controller_s_restart),
        cmocka_unit_test(test_a_collector_that_responds_anew_is_told_its_share),
        cmocka_unit_test(test_the_configuration_changes),
        cmocka_unit_test(test_members_of_a_share),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
