/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/repair_fixture_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
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
    assert_non_null(strstr(said, "counts no more, nor in the tally of remedies"));
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

#define TEST(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_shared_causes),
        TEST(test_a_shared_cause_gives_the_tally_back_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
