/* SPDX-License-Identifier: Apache-2.0 */
#include "base/notify.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

static int listen_at(const struct sockaddr_un *address, size_t len)
{
    int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (const struct sockaddr *)address, (socklen_t)len), 0);
    return fd;
}

static void expect(int fd, const char *text)
{
    char got[64] = "";
    ssize_t n = recv(fd, got, sizeof got - 1, MSG_DONTWAIT);
    assert_true(n > 0);
    assert_string_equal(got, text);
}

static void tells_a_socket_with_a_path(void **state)
{
    char dir[] = "/tmp/fettle-notify-XXXXXX";
    assert_non_null(mkdtemp(dir));
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s/socket", dir);
    int fd = listen_at(&address, sizeof address);
    setenv("NOTIFY_SOCKET", address.sun_path, 1);
    notify_ready();
    expect(fd, "READY=1");
    notify_watchdog();
    expect(fd, "WATCHDOG=1");
    notify_stopping();
    expect(fd, "STOPPING=1");
    close(fd);
    unlink(address.sun_path);
    rmdir(dir);
}

static void tells_a_socket_with_an_abstract_name(void **state)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char name[64];
    snprintf(name, sizeof name, "@fettle-notify-%d", (int)getpid());
    memcpy(address.sun_path, name, strlen(name));
    address.sun_path[0] = 0;
    int fd = listen_at(&address, offsetof(struct sockaddr_un, sun_path) + strlen(name));
    setenv("NOTIFY_SOCKET", name, 1);
    notify_ready();
    expect(fd, "READY=1");
    close(fd);
}

static void says_nothing_to_nobody(void **state)
{
    unsetenv("NOTIFY_SOCKET");
    notify_ready();
    setenv("NOTIFY_SOCKET", "no path", 1);
    notify_ready();
    setenv("NOTIFY_SOCKET", "/nonexistent/socket", 1);
    notify_ready();
}

static void halves_the_time_of_the_watchdog(void **state)
{
    setenv("NOTIFY_SOCKET", "/nonexistent/socket", 1);
    setenv("WATCHDOG_USEC", "30000000", 1);
    assert_int_equal(span_to_ms(notify_watchdog_interval()), 15000);
    setenv("WATCHDOG_USEC", "soon", 1);
    assert_int_equal(notify_watchdog_interval().ns, 0);
    setenv("WATCHDOG_USEC", "30000000", 1);
    unsetenv("NOTIFY_SOCKET");
    assert_int_equal(notify_watchdog_interval().ns, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tells_a_socket_with_a_path),
        cmocka_unit_test(tells_a_socket_with_an_abstract_name),
        cmocka_unit_test(says_nothing_to_nobody),
        cmocka_unit_test(halves_the_time_of_the_watchdog),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
