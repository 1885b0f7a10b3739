/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/sessions/agents_world_test.h"

/* The collector tells of a node, and of where it listens. */
static void tells_of(struct client *c, const char *name)
{
    client_send(c, FRAME_BATCH,
                "{\"port\":4711,\"changed\":[{\"name\":\"%s\",\"boot\":\"" BOOT "\",\"instance\":\"" INSTANCE
                "\",\"seq\":1,\"work\":[]}]}",
                name);
    run_until(w.agents->collecting && seen(name)->session == w.agents->collecting);
}

/* A collector with 9,999 nodes. */
static struct client *large_share(void)
{
    world_nodes(10000);
    struct client *c = collector_hello("lx1", INSTANCE, 4711, "");
    run_until(share_collector_of(w.agents->share, node("lx9000")) == node("lx1"));
    return c;
}

static void very_many_nodes_are_taken_from_it_in_turns(void **state)
{
    struct client *c = large_share();
    tells_of(c, "lx5");
    tells_of(c, "lx9000");
    struct mono before = seen("lx9000")->beat.heard;
    client_cut(c);
    run_until(!w.agents->sessions);
    assert_true(regain_busy(w.agents));
    assert_non_null(seen("lx9000")->session); /* whose connection is gone */
    run_until(!regain_busy(w.agents));
    assert_null(seen("lx5")->session);
    assert_null(seen("lx9000")->session);
    assert_true(seen("lx9000")->beat.heard.ns > before.ns);
    assert_true(world_logged("collector.lost lx1: does not respond; its 2 nodes move"));
}

static void news_of_a_collector_meanwhile_stay(void **state)
{
    struct client *c = large_share();
    tells_of(c, "lx8999");
    tells_of(c, "lx9000");
    client_cut(c);
    run_until(!w.agents->sessions);
    uv_timer_stop(&w.agents->regain.timer);
    tells_of(collector_hello("lx1", INSTANCE, 4711, "lx[2-10000]"), "lx9000");
    assert_true(regain_busy(w.agents));
    regain_finish(w.agents);
    assert_ptr_equal(seen("lx9000")->session, w.agents->collecting);
    assert_null(seen("lx8999")->session);
}

static void it_ends_in_the_midst_of_it(void **state)
{
    struct client *c = large_share();
    tells_of(c, "lx9000");
    client_cut(c);
    run_until(!w.agents->sessions);
    assert_true(regain_busy(w.agents));
    world_stop();
}

#define TEST(f, lines)                            \
    {                                             \
#f, f, world_setup, world_teardown, lines \
    }

int main(void)
{
    static char one[] = "HeartBeatInterval = 10\nCollectorNodes = lx1";
    const struct CMUnitTest tests[] = {
        TEST(very_many_nodes_are_taken_from_it_in_turns, one),
        TEST(news_of_a_collector_meanwhile_stay, one),
        TEST(it_ends_in_the_midst_of_it, one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
