/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/sessions/agents_world_test.h"

#include <arpa/inet.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum { UNPROVEN = 512 + 20 /* nodes */, PROVEN_EACH = 4, FLOOD = UNPROVEN + 100 };

static int silent_connect(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(agents_port(w.agents))};
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)&at, sizeof at), 0);
    return fd;
}

static bool has_ended(int fd)
{
    char byte;
    return recv(fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK) == 0;
}

static void flood(int fds[static FLOOD])
{
    for (int i = 0; i < FLOOD; i++) {
        fds[i] = silent_connect();
        if (i % 100 == 99)
            uv_run(&w.loop, UV_RUN_NOWAIT);
    }
    run_until(has_ended(fds[FLOOD - UNPROVEN - 1]));
}

static void flood_end(const int fds[static FLOOD])
{
    for (int i = 0; i < FLOOD; i++)
        close(fds[i]);
    run_until(agents_count(w.agents) < UNPROVEN);
}

static void silent_connections_beyond_the_limit_lose_the_oldest(void **state)
{
    int fds[FLOOD];
    flood(fds);
    assert_int_equal(agents_count(w.agents), UNPROVEN);
    assert_true(has_ended(fds[0]));
    assert_false(has_ended(fds[FLOOD - UNPROVEN]));
    assert_true(world_logged("there are too many connections that have shown no certificate"));
    flood_end(fds);
}

static void a_node_comes_in_through_a_crowd_and_is_not_asked_to_leave(void **state)
{
    int before[FLOOD], after[FLOOD];
    flood(before);
    struct client *c = client_hello("lx1", INSTANCE);
    client_heartbeat(c, INSTANCE, 1);
    settle(c);
    flood(after);
    client_heartbeat(c, INSTANCE, 2);
    settle(c);
    assert_false(c->closed);
    assert_int_equal(seen("lx1")->beat.seq, 2);
    flood_end(before);
    flood_end(after);
}

static void a_node_has_a_few_connections_and_keeps_the_one_over_which_it_is_heard(void **state)
{
    struct client *heard = client_hello("lx1", INSTANCE), *silent[PROVEN_EACH + 2];
    for (int i = 0; i < PROVEN_EACH + 2; i++)
        silent[i] = client_new("lx1");
    run_until(silent[1]->closed);
    assert_int_equal(agents_count(w.agents), 1 + PROVEN_EACH);
    assert_true(silent[0]->closed);
    assert_false(silent[2]->closed);
    client_heartbeat(heard, INSTANCE, 1);
    settle(heard);
    assert_int_equal(seen("lx1")->beat.seq, 1);
}

static void refusals_of_agents_are_logged_some_times_a_minute(void **state)
{
    const struct mono began = mono_now();
    run_until(mono_sub(mono_now(), began).ns > span_s(1).ns); /* the first minute begins */
    for (int i = 0; i < 21; i++) {
        struct client *c = client_new(NULL);
        client_send(c, FRAME_HELLO, "{\"name\":\"liar%d\"}", i);
        assert_refused(c, "forbidden");
    }
    assert_true(world_logged("says that it is node \"liar19\""));
    assert_false(world_logged("says that it is node \"liar20\""));
}

#define TEST(name) cmocka_unit_test_prestate_setup_teardown(name, world_setup, world_teardown, NULL)

int main(void)
{
    struct rlimit files;
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max; /* both ends of all connections are here */
    setrlimit(RLIMIT_NOFILE, &files);
    const struct CMUnitTest tests[] = {
        TEST(silent_connections_beyond_the_limit_lose_the_oldest),
        TEST(a_node_comes_in_through_a_crowd_and_is_not_asked_to_leave),
        TEST(a_node_has_a_few_connections_and_keeps_the_one_over_which_it_is_heard),
        TEST(refusals_of_agents_are_logged_some_times_a_minute),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
