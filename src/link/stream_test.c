/* SPDX-License-Identifier: Apache-2.0 */
#include "link/fixture_test.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static struct end *client;

static void pair_open(void)
{
    server_start(NULL);
    client = end_dial(NULL, NULL);
    run_until(client->opened && server_end && server_end->opened);
}

static bool got(const struct end *end, const char *text)
{
    return end->got.s && strcmp(end->got.s, text) == 0;
}

static void bytes_go_both_ways(void **state)
{
    pair_open();
    end_write(client, "ping");
    end_write(client, "ping");
    run_until(got(server_end, "pingping"));
    end_write(server_end, "pong");
    run_until(got(client, "pong"));
    assert_int_equal(client->drained, 1);
    assert_int_equal(stream_queued(client->s), 0);
    assert_int_equal(stream_peer(client->s)->kind, IDENTITY_NONE);
}

static void addresses_are_told(void **state)
{
    pair_open();
    char want[32];
    snprintf(want, sizeof want, "127.0.0.1:%u", listener_port(server));
    assert_string_equal(stream_peer_address(client->s), want);
    assert_int_equal(stream_peer_port(client->s), listener_port(server));
    snprintf(want, sizeof want, "127.0.0.1:%u", stream_peer_port(server_end->s));
    assert_string_equal(stream_peer_address(server_end->s), want);
    assert_true(stream_peer_loopback(server_end->s));
    uid_t uid;
    pid_t pid;
    assert_false(stream_peer_user(server_end->s, &uid, &pid));
}

/* Collectors listen for both families at once. */
static void an_ipv4_peer_is_known_by_its_address_to_a_listener_of_both_families(void **state)
{
    server_start_at("::");
    client = end_dial(NULL, NULL);
    run_until(server_end && client->opened);
    assert_string_equal(stream_peer_network(server_end->s), "127.0.0.1");
    assert_string_equal(stream_peer_network(client->s), "127.0.0.1");
}

static void bytes_written_before_the_open_are_sent(void **state)
{
    server_start(NULL);
    client = end_dial(NULL, NULL);
    end_write(client, "early");
    run_until(server_end && got(server_end, "early"));
}

static void close_is_clean_on_both_sides(void **state)
{
    pair_open();
    stream_close(client->s);
    assert_int_equal(client->closed, 0);
    run_until(client->closed && server_end->closed);
    assert_true(client->clean);
    assert_true(server_end->clean);
}

static void close_and_abort_end_a_stream_once(void **state)
{
    pair_open();
    struct stream *s = client->s;
    stream_close(s);
    stream_close(s);
    assert_int_equal(stream_write(s, "late", 4), 0);
    stream_abort(s, NULL);
    stream_abort(s, &(struct err){.code = -EIO});
    stream_close(s);
    run_until(client->closed && server_end->closed);
    run_quiet();
    assert_int_equal(client->closed, 1);
    assert_true(client->clean);
    assert_null(server_end->got.s);
}

static void close_sends_what_is_queued(void **state)
{
    pair_open();
    CLEANUP_FREE char *much = mem_alloc(1 << 20);
    memset(much, 'x', 1 << 20);
    assert_int_equal(stream_write(client->s, much, 1 << 20), 0);
    stream_close(client->s);
    run_until(client->closed && server_end->closed);
    assert_true(client->clean && server_end->clean);
    assert_int_equal(server_end->got.len, 1 << 20);
}

static void the_end_of_the_peer_does_not_lose_what_is_queued(void **state)
{
    enum { MUCH = 32 << 20 }; /* more than the kernel takes */
    queue_bytes_max = MUCH;
    pair_open();
    stream_pause(server_end->s);
    CLEANUP_FREE char *much = mem_alloc(MUCH);
    assert_int_equal(stream_write(client->s, much, MUCH), 0);
    shutdown(server_end->s->wire.fd, SHUT_WR);
    run_until(client->s->ended);
    assert_true(stream_queued(client->s) > 0);
    stream_resume(server_end->s);
    run_until(client->closed && server_end->got.len == MUCH);
    assert_true(client->clean);
}

static void a_refusal_arrives_although_the_peer_still_sends(void **state)
{
    enum { MUCH = 32 << 20 }; /* more than the kernel takes */
    queue_bytes_max = MUCH;
    pair_open();
    server_end->react = REACT_CLOSE_ON_BYTES;
    CLEANUP_FREE char *much = mem_alloc(MUCH);
    assert_int_equal(stream_write(client->s, much, MUCH), 0);
    end_write(server_end, "no");
    run_until(client->closed && server_end->closed);
    assert_true(got(client, "no"));
    assert_true(client->clean); /* no reset */
}

static void abort_gives_the_reason(void **state)
{
    pair_open();
    struct err why;
    err_set(&why, -EACCES, "no place for you");
    stream_abort(client->s, &why);
    assert_int_equal(client->closed, 0);
    run_until(client->closed && server_end->closed);
    assert_false(client->clean);
    assert_int_equal(client->why.code, -EACCES);
    assert_string_equal(client->why.msg, "no place for you");
}

static void callbacks_may_end_their_stream(void **state)
{
    server_start(NULL);
    client = end_dial(NULL, NULL);
    client->react = REACT_ABORT_ON_OPEN;
    run_until(client->closed && server_end && server_end->closed);
    assert_int_equal(client->opened, 1);

    client = end_dial(NULL, NULL);
    run_until(client->opened && server_ends == 2 && server_end->opened);
    server_end->react = REACT_ABORT_ON_BYTES;
    end_write(client, "x");
    run_until(client->closed && server_end->closed);
    assert_true(got(server_end, "x"));
}

static void a_full_queue_refuses_and_a_slow_reader_gets_all(void **state)
{
    queue_bytes_max = 64 << 10;
    pair_open();
    stream_pause(server_end->s);
    char block[8192];
    memset(block, 'b', sizeof block);
    size_t sent = 0;
    int r = 0;
    /* The kernel takes some megabytes before the queue begins to grow. */
    for (int i = 0; i < 10000 && r == 0; i++) {
        r = stream_write(client->s, block, sizeof block);
        sent += r == 0 ? sizeof block : 0;
        uv_run(&loop, UV_RUN_NOWAIT);
    }
    assert_int_equal(r, -ENOBUFS);
    assert_true(stream_queued(client->s) <= 64 << 10);
    assert_int_equal(stream_write(client->s, block, 64 << 20), -ENOBUFS);
    int drained = client->drained;
    assert_null(server_end->got.s);
    stream_resume(server_end->s);
    run_until(server_end->got.len == sent);
    run_until(client->drained > drained);
    assert_int_equal(strspn(server_end->got.s, "b"), sent);
}

static void pause_holds_bytes_back(void **state)
{
    pair_open();
    stream_pause(server_end->s);
    end_write(client, "one");
    run_until(client->drained == 1);
    run_quiet();
    assert_null(server_end->got.s);
    stream_resume(server_end->s);
    assert_null(server_end->got.s);
    run_until(got(server_end, "one"));
}

/* Many whose bytes have come when the loop polls: a turn has time for two, before it polls and after. */
static void many_that_send_at_once_are_served_in_turns(void **state)
{
    enum { MANY = 40, A_TURN = 2 * 2 };
    struct end *many[MANY];
    int fds[MANY], served = 0, turns = 0;
    server_start(NULL);
    for (int i = 0; i < MANY; i++) {
        fds[i] = raw_dial();
        run_until(server_ends == i + 1 && server_end->opened);
        many[i] = server_end;
        many[i]->react = REACT_TAKE_ITS_TIME;
    }
    run_quiet();
    for (int i = 0; i < MANY; i++)
        assert_int_equal(send(fds[i], "x", 1, 0), 1);
    for (; served < MANY; turns++) {
        int before = served;
        served = 0;
        uv_run(&loop, UV_RUN_NOWAIT);
        for (int i = 0; i < MANY; i++)
            served += got(many[i], "x");
        assert_in_range(served - before, turns ? 1 : 0, A_TURN);
    }
    for (int i = 0; i < MANY; i++)
        close(fds[i]);
    run_until(many[0]->closed && many[MANY - 1]->closed);
}

static void a_paused_stream_hears_of_a_reset(void **state)
{
    server_start(NULL);
    int fd = raw_dial();
    run_until(server_end && server_end->opened);
    stream_pause(server_end->s);
    run_quiet();
    struct linger hard = {1, 0};
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
    close(fd);
    run_until(server_end->closed);
    assert_int_equal(server_end->why.code, -ECONNRESET);
}

static int option(int fd, int level, int name)
{
    int value = -1;
    socklen_t len = sizeof value;
    assert_int_equal(getsockopt(fd, level, name, &value, &len), 0);
    return value;
}

static void dead_peers_are_noticed_within_20_s(void **state)
{
    pair_open();
    const int fds[] = {client->s->wire.fd, server_end->s->wire.fd};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(option(fds[i], SOL_SOCKET, SO_KEEPALIVE), 1);
        assert_int_equal(option(fds[i], IPPROTO_TCP, TCP_KEEPIDLE), 10);
        assert_int_equal(option(fds[i], IPPROTO_TCP, TCP_KEEPINTVL), 5);
        assert_int_equal(option(fds[i], IPPROTO_TCP, TCP_KEEPCNT), 2);
        assert_int_equal(option(fds[i], IPPROTO_TCP, TCP_USER_TIMEOUT), 20000);
        assert_int_equal(option(fds[i], IPPROTO_TCP, TCP_NODELAY), 1);
    }
}

static struct end *dial(const char *host, uint16_t port)
{
    struct end *end = end_new();
    end->s = stream_dial(&loop, host, port, NULL, NULL, 1024, &end_events, end);
    assert_int_equal(end->closed, 0);
    return end;
}

static void abort_all_ends_every_stream(void **state)
{
    pair_open();
    struct end *second = end_dial(NULL, NULL), *looking = dial("localhost", listener_port(server));
    stream_abort_all(&loop);
    assert_int_equal(client->closed + second->closed, 0);
    run_until(client->closed && second->closed && looking->closed && server_end->closed);
    stream_abort_all(&loop);
}

static void listener_refuses_bad_addresses(void **state)
{
    struct err e = {0};
    struct listener *l = NULL;
    assert_int_equal(listener_open_tcp(&loop, "nowhere", 0, NULL, NULL, &l, &e), -EINVAL);
    server_start(NULL);
    assert_int_equal(listener_open_tcp(&loop, "127.0.0.1", listener_port(server), NULL, NULL, &l, &e),
                     -EADDRINUSE);
    assert_non_null(strstr(e.msg, "listen on 127.0.0.1:"));
    assert_null(l);
}

static void listener_drops_connections_when_no_descriptor_is_left(void **state)
{
    server_start(NULL);
    int fds[5];
    for (int i = 0; i < 5; i++)
        fds[i] = raw_dial();
    struct rlimit was, none;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
    int lowest = dup(0);
    close(lowest);
    none = was;
    none.rlim_cur = (rlim_t)lowest;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    run_until(listener_dropped(server) == 5);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
    assert_int_equal(server_ends, 0);
    for (int i = 0; i < 5; i++) {
        char byte;
        assert_true(recv(fds[i], &byte, 1, 0) <= 0);
        close(fds[i]);
    }
    client = end_dial(NULL, NULL);
    run_until(client->opened && server_end && server_end->opened);
}

/* Local sockets */

static char dir[32], path[64];

static int local_setup(void **state)
{
    snprintf(dir, sizeof dir, "/tmp/fettle-local-XXXXXX");
    if (!mkdtemp(dir))
        return -1;
    snprintf(path, sizeof path, "%s/s", dir);
    return fixture_setup(state);
}

static int local_teardown(void **state)
{
    int r = fixture_teardown(state);
    unlink(path);
    return r == 0 ? rmdir(dir) : r;
}

static struct end *local_end;

static void on_local(void *arg, int fd)
{
    local_end = end_new();
    local_end->s = stream_accept(&loop, fd, NULL, 1024, &end_events, local_end);
}

static int local_dial(void)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    snprintf(at.sun_path, sizeof at.sun_path, "%s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(fd, (struct sockaddr *)&at, sizeof at) == 0)
        return fd;
    close(fd);
    return -1;
}

static void local_open(void)
{
    struct err e = {0};
    local_end = NULL;
    if (listener_open_local(&loop, path, on_local, NULL, &server, &e) < 0)
        fail_msg("%s", e.msg);
}

static void local_socket_knows_its_peer(void **state)
{
    local_open();
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0666);
    int fd = local_dial();
    run_until(local_end && local_end->opened);
    uid_t uid = (uid_t)-1;
    pid_t pid = 0;
    assert_true(stream_peer_user(local_end->s, &uid, &pid));
    assert_int_equal(uid, getuid());
    assert_int_equal(pid, getpid());
    assert_string_equal(stream_peer_address(local_end->s), "local");
    assert_int_equal(stream_peer_port(local_end->s), 0);
    assert_false(stream_peer_loopback(local_end->s));
    assert_int_equal(send(fd, "hi", 2, 0), 2);
    run_until(got(local_end, "hi"));
    close(fd);
    run_until(local_end->closed);
    assert_true(local_end->clean);
    listener_close(server);
    server = NULL;
    assert_int_equal(stat(path, &st), -1);
}

static void stale_socket_file_is_replaced(void **state)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    snprintf(at.sun_path, sizeof at.sun_path, "%s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof at), 0);
    close(fd);
    local_open();
    fd = local_dial();
    run_until(local_end && local_end->opened);
    close(fd);
}

static void socket_that_answers_is_refused(void **state)
{
    local_open();
    struct err e = {0};
    struct listener *second = NULL;
    assert_int_equal(listener_open_local(&loop, path, on_local, NULL, &second, &e), -EBUSY);
    assert_non_null(strstr(e.msg, path));
    int fd = local_dial();
    assert_true(fd >= 0);
    close(fd);
    run_until(local_end && local_end->closed);
}

static void socket_is_made_where_a_link_points(void **state)
{
    CLEANUP_TEXT struct text target = {0};
    struct stat st;
    text_printf(&target, "%s.target", path);
    assert_int_equal(symlink(target.s, path), 0);
    local_open();
    assert_int_equal(lstat(target.s, &st), 0);
    assert_true(S_ISSOCK(st.st_mode));
    int fd = local_dial();
    run_until(local_end && local_end->opened);
    close(fd);
    run_until(local_end->closed);
    listener_close(server);
    server = NULL;
    assert_int_equal(lstat(target.s, &st), -1);
    assert_int_equal(lstat(path, &st), 0); /* the link stays */
}

static void the_directory_of_a_socket_is_made(void **state)
{
    CLEANUP_TEXT struct text inside = {0}, deep = {0}, directory = {0};
    struct err e = {0};
    struct stat st;
    text_printf(&directory, "%s.d", path);
    text_printf(&inside, "%s/socket", directory.s);
    text_printf(&deep, "%s.none/d/socket", path);
    if (listener_open_local(&loop, inside.s, on_local, NULL, &server, &e) < 0)
        fail_msg("%s", e.msg);
    assert_int_equal(stat(directory.s, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0755);
    listener_close(server);
    server = NULL;
    rmdir(directory.s);
    assert_int_equal(listener_open_local(&loop, deep.s, on_local, NULL, &server, &e),
                     -ENOENT); /* one, not two */
}

static void file_that_is_no_socket_is_left_alone(void **state)
{
    close(open(path, O_CREAT | O_WRONLY, 0600));
    struct err e = {0};
    struct listener *l = NULL;
    assert_int_equal(listener_open_local(&loop, path, on_local, NULL, &l, &e), -EEXIST);
    assert_int_equal(access(path, F_OK), 0);
    char long_path[300];
    memset(long_path, 'p', sizeof long_path);
    long_path[sizeof long_path - 1] = '\0';
    assert_int_equal(listener_open_local(&loop, long_path, on_local, NULL, &l, &e), -ENAMETOOLONG);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
#define LOCAL(f) cmocka_unit_test_setup_teardown(f, local_setup, local_teardown)
    const struct CMUnitTest tests[] = {
        TEST(bytes_go_both_ways),
        TEST(addresses_are_told),
        TEST(an_ipv4_peer_is_known_by_its_address_to_a_listener_of_both_families),
        TEST(bytes_written_before_the_open_are_sent),
        TEST(close_is_clean_on_both_sides),
        TEST(close_and_abort_end_a_stream_once),
        TEST(close_sends_what_is_queued),
        TEST(the_end_of_the_peer_does_not_lose_what_is_queued),
        TEST(a_refusal_arrives_although_the_peer_still_sends),
        TEST(abort_gives_the_reason),
        TEST(callbacks_may_end_their_stream),
        TEST(a_full_queue_refuses_and_a_slow_reader_gets_all),
        TEST(pause_holds_bytes_back),
        TEST(many_that_send_at_once_are_served_in_turns),
        TEST(a_paused_stream_hears_of_a_reset),
        TEST(dead_peers_are_noticed_within_20_s),
        TEST(abort_all_ends_every_stream),
        TEST(listener_refuses_bad_addresses),
        TEST(listener_drops_connections_when_no_descriptor_is_left),
        LOCAL(local_socket_knows_its_peer),
        LOCAL(stale_socket_file_is_replaced),
        LOCAL(socket_that_answers_is_refused),
        LOCAL(socket_is_made_where_a_link_points),
        LOCAL(the_directory_of_a_socket_is_made),
        LOCAL(file_that_is_no_socket_is_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
