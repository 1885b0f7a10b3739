/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/repair_fixture_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define SHARED(nodes, why, severity) \
    "{'key':'fs.mounted mount /x','nodes':'" nodes "','why':'" why "','severity':'" severity "'}"

static const char *share(struct world *w, const char *set)
{
    return world_tell(w, COMMAND_SHARED, "", quoted(set), NULL);
}

static void each(void *arg, const struct shared_cause *s)
{
    text_printf(arg, "%s: %s; ", s->key, s->nodes);
}

static void test_shared_causes(void **state)
{
    struct world *w = *state;
    assert_string_equal(
        share(w, SHARED("lx02,lx01", "one server", "fatal")),
        quoted("shared/fs.mounted mount /x = {'nodes':'lx[01-02]','why':'one server','since':'1000',"
               "'severity':'fatal'}\nlx[01-02]: one cause on 2 nodes: fs.mounted mount /x (one "
               "server)\n"));
    assert_string_equal(share(w, SHARED("lx[01-02]", "one server", "fatal")), "nothing");
    w->at = 2000; /* it grows, and began when it began */
    share(w, SHARED("lx[01-03]", "one server", "fatal"));
    assert_int_equal(cluster_shared(w->c, "fs.mounted mount /x")->since.ns, 1000);
    share(w, "{'key':'a','nodes':'lx04','why':'Group 3','severity':'warn'}");
    CLEANUP_TEXT struct text t = {0};
    cluster_each_shared(w->c, each, &t);
    assert_string_equal(t.s, "a: lx04; fs.mounted mount /x: lx[01-03]; ");
    assert_string_equal(share(w, SHARED("", "", "warn")),
                        "shared/fs.mounted mount /x = gone\nlx[01-03]: no shared cause any more: fs.mounted "
                        "mount /x\n");
    assert_string_equal(share(w, SHARED("", "", "warn")), "nothing");
    assert_null(cluster_shared(w->c, "fs.mounted mount /x"));
    assert_string_equal(world_state(w, "lx01"), "available"); /* it isolates nobody */
    share(w, "{'key':'f\303\244','nodes':'lx04','why':'x','severity':'warn'}");
    assert_int_equal(world_rc(), -EINVAL);
    share(w, SHARED("lx[01", "x", "warn"));
    assert_int_equal(world_rc(), -EINVAL);
}

static void test_a_shared_cause_gives_the_tally_back_once(void **state)
{
    struct world *w = *state;
    lx01_judge(w, "false"); /* of nothing: not counted */
    lx01_tried(w, "5", "?");
    lx01_judge(w, "false");
    assert_int_equal(cluster_outcomes(w->c, "xid.79", "reboot", "gpu").failed, 1);
    share(w, "{'key':'xid.79 class gpu','nodes':'lx[01-02]','why':'power','severity':'lost'}");
    const char *said = share(w, "{'key':'xid.79 class gpu','nodes':'','why':'','severity':'lost'}");
    assert_non_null(strstr(said, quoted("'xid.79 gpu':[0,0]")));
    assert_non_null(strstr(said, "count no more, nor in the tally of remedies"));
    assert_int_equal(cluster_outcomes(w->c, "xid.79", "reboot", "gpu").failed, 0);
    lx01_tried(w, "5", "?"); /* counted before by another command, and given back once */
    lx01_judge(w, "true");
    share(w, "{'key':'xid.79 class gpu','nodes':'lx01','why':'power','severity':'lost'}");
    share(w, "{'key':'xid.79 class gpu','nodes':'','why':'','severity':'lost'}");
    share(w, "{'key':'xid.79 class gpu','nodes':'lx01','why':'power','severity':'lost'}");
    share(w, "{'key':'xid.79 class gpu','nodes':'','why':'','severity':'lost'}");
    assert_int_equal(cluster_outcomes(w->c, "xid.79", "reboot", "gpu").helped, 0);
    lx01_tried(w, "5", "-"); /* the tally never had it */
    share(w, "{'key':'xid.79 class gpu','nodes':'lx01','why':'power','severity':'lost'}");
    said = share(w, "{'key':'xid.79 class gpu','nodes':'','why':'','severity':'lost'}");
    assert_null(strstr(said, "tally/"));
}

#define ATTEMPTED                                                                                          \
    "{'id':'1.1','step':'none','began':'1','since':'1','deadline':'0','boot':'','instance':'0','problem':" \
    "'manual','why':'','remedy':'','operation':'','approval':'none','approver':null,'examined':'not',"     \
    "'inconclusive':0,'manual':false,'taken_by':null,'attempts':[{'remedy':'reboot','fault':'fs.mounted'," \
    "'at':'5','ended':'6','done':true,'text':'','verdict':'-'}],'notes':[]}"

/* More nodes than a commit has room for: the cause goes with the last of them. */
static void test_very_many_nodes_are_released_in_parts(void **state)
{
    struct world *w = *state;
    size_t times = 0;
    world_configure(w, "n[001-250]", NULL);
    for (int i = 1; i <= 250; i++) {
        char key[32];
        snprintf(key, sizeof key, "repair/n%03d", i);
        assert_int_equal(cluster_put(w->c, key, quoted(ATTEMPTED), NULL), 0);
    }
    share(w, SHARED("n[001-250]", "one server", "fatal"));
    for (; cluster_shared(w->c, "fs.mounted mount /x") && times < 9; times++) {
        share(w, SHARED("", "", "warn"));
        assert_int_equal(world_rc(), 0);
    }
    assert_int_equal(times, 3);
    for (int i = 1; i <= 250; i++) {
        char name[16];
        snprintf(name, sizeof name, "n%03d", i);
        assert_int_equal(member_repairs(cluster_find(w->c, name))->attempts[0].verdict, '0');
    }
}

static void test_nodes_that_left_the_cause_are_released(void **state)
{
    struct world *w = *state;
    assert_int_equal(cluster_put(w->c, "repair/lx01", quoted(ATTEMPTED), NULL), 0);
    assert_int_equal(cluster_put(w->c, "repair/lx02", quoted(ATTEMPTED), NULL), 0);
    share(w, SHARED("lx[01-03]", "one server", "fatal"));
    assert_non_null(
        strstr(share(w, SHARED("lx[02-03]", "one server", "fatal")),
               "one cause on 2 nodes: fs.mounted mount /x (one server); the attempts against it on 1 "
               "node count no more"));
    assert_int_equal(member_repairs(cluster_find(w->c, "lx01"))->attempts[0].verdict, '0');
    assert_int_equal(member_repairs(cluster_find(w->c, "lx02"))->attempts[0].verdict, '-');
    assert_non_null(strstr(share(w, SHARED("lx03", "one server", "fatal")), "one cause on 1 node: "));
}

static void test_wrong_shared_causes_are_refused(void **state)
{
    static const struct {
        const char *set, *why;
    } bad[] = {
        {"{'key':'','nodes':'lx01','why':'x','severity':'warn'}", "the key of a shared cause has 1 to 200"},
        {"{'key':'a','nodes':'lx01','why':'x\\ny','severity':'warn'}", "why: a control character"},
        {"{'key':'a','nodes':' ','why':'x','severity':'warn'}", "a shared cause on no node"},
    };
    struct world *w = *state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_non_null(strstr(share(w, bad[i].set), bad[i].why));
        assert_int_equal(world_rc(), -EINVAL);
    }
}

/* A cause that the same nodes have, but worse or for another reason, is news. */
static void test_a_cause_that_changes_is_written_again(void **state)
{
    struct world *w = *state;
    share(w, SHARED("lx01", "one server", "warn"));
    share(w, SHARED("lx01", "one server", "fatal"));
    assert_int_equal(cluster_shared(w->c, "fs.mounted mount /x")->severity, RESULT_FATAL);
    share(w, SHARED("lx01", "one switch", "fatal"));
    assert_string_equal(cluster_shared(w->c, "fs.mounted mount /x")->why, "one switch");
    assert_string_equal(share(w, SHARED("lx01", "one switch", "fatal")), "nothing");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_shared_causes),
        TEST(test_a_shared_cause_gives_the_tally_back_once),
        TEST(test_very_many_nodes_are_released_in_parts),
        TEST(test_nodes_that_left_the_cause_are_released),
        TEST(test_wrong_shared_causes_are_refused),
        TEST(test_a_cause_that_changes_is_written_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
