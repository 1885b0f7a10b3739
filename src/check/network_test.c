/* SPDX-License-Identifier: Apache-2.0 */
#include "check/trial_test.h"

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void add_file(struct trial *t, const char *interface, const char *file, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "sys/class/net/%s/%s", interface, file);
    trial_add(t, path, text);
}

static void add_interface(struct trial *t, const char *name, bool up, const char *speed, const char *changes)
{
    add_file(t, name, "type", "1\n");
    add_file(t, name, "operstate", up ? "up\n" : "down\n");
    add_file(t, name, "carrier", up ? "1\n" : "\n");
    add_file(t, name, "speed", speed);
    add_file(t, name, "carrier_changes", changes);
}

static void add_device(struct trial *t, const char *name)
{
    add_file(t, name, "device@", "../../../devices/card");
}

static void test_link(void **state)
{
    struct trial *t = *state;
    trial_remove(t, "sys/class");
    trial_expect(t, "Probe=ethernet", "unknown /sys is not mounted");
    add_file(t, "lo", "type", "772\n");
    add_file(t, "lo", "operstate", "unknown\n");
    trial_expect(t, "Probe=ethernet", "unsupported there is no Ethernet interface");
    trial_expect(t, "Probe=ethernet Interface=eth0", "fatal eth0: there is no interface eth0");
    add_interface(t, "veth1", true, "10000\n", "2\n");
    trial_expect(t, "Probe=ethernet", "unsupported no Ethernet interface has a device");
    add_interface(t, "eth0", true, "25000\n", "2\n");
    add_device(t, "eth0");
    add_interface(t, "eth1", false, "-1\n", "2\n");
    add_device(t, "eth1");
    trial_expect(t, "Probe=ethernet", "ok"); /* one is enough */
    trial_expect(t, "Probe=ethernet Interface=eth0", "ok");
    trial_expect(t, "Probe=ethernet Interface=veth1", "ok");
    trial_expect(t, "Probe=ethernet Interface=eth0,eth1", "fatal eth1: eth1 is down");
    trial_expect(t, "Probe=ethernet Interface=eth0,eth7", "fatal eth7: there is no interface eth7");
    trial_expect(t, "Probe=ethernet Speed=100000", "degraded eth0: 25000 Mb/s, of at least 100000");
    add_interface(t, "eth0", false, "-1\n", "3\n");
    trial_expect(t, "Probe=ethernet", "fatal : none of 2 Ethernet interfaces is up");
    add_file(t, "eth1", "carrier", "1\n");
    add_file(t, "eth1", "operstate", "dormant\n"); /* waits for somebody to log in (802.1X) */
    trial_begins(t, "Probe=ethernet", "fatal : none of 2");
    add_file(t, "eth0", "type", "rubbish\n");
    add_interface(t, "eth1", true, "1000\n", "2\n");
    trial_expect(t, "Probe=ethernet", "ok");
}

static void test_flaps(void **state)
{
    struct trial *t = *state;
    add_interface(t, "eth0", true, "1000\n", "100\n");
    add_device(t, "eth0");
    trial_expect(t, "Probe=ethernet", "ok");
    add_interface(t, "eth0", true, "1000\n", "102\n"); /* somebody's one down and up */
    trial_expect(t, "Probe=ethernet", "ok");
    add_interface(t, "eth0", true, "1000\n", "104\n");
    trial_expect(t, "Probe=ethernet",
                 "warn eth0: the carrier changed 4 times within 10 minutes, of at most 2");
    add_interface(t, "eth0", true, "1000\n", "113\n");
    trial_begins(t, "Probe=ethernet", "degraded eth0: the carrier changed 13 times");
    t->now_s += 600;
    trial_expect(t, "Probe=ethernet", "ok");
    add_interface(t, "eth0", true, "1000\n", "1\n"); /* the driver was loaded anew */
    trial_expect(t, "Probe=ethernet", "ok");
}

static void test_errors(void **state)
{
    struct trial *t = *state;
    add_interface(t, "eth0", true, "1000\n", "1\n");
    add_device(t, "eth0");
    add_file(t, "eth0", "statistics/rx_errors", "5000\n");
    add_file(t, "eth0", "statistics/rx_crc_errors", "rubbish\n");
    trial_expect(t, "Probe=ethernet", "ok");
    add_file(t, "eth0", "statistics/rx_errors", "5010\n");
    trial_expect(t, "Probe=ethernet", "ok");
    add_file(t, "eth0", "statistics/rx_errors", "5011\n");
    trial_expect(t, "Probe=ethernet", "warn eth0: rx_errors grew by 11 within 10 minutes, of at most 10");
    trial_expect(t, "Probe=ethernet Errors=5", "ok");
    add_file(t, "eth0", "statistics/rx_errors", "9000\n");
    trial_begins(t, "Probe=ethernet", "degraded eth0: rx_errors grew by 4000");
    add_file(t, "eth0", "statistics/rx_errors", "0\n");
    t->now_s += 600;
    trial_expect(t, "Probe=ethernet", "ok");
}

static void test_bond(void **state)
{
    struct trial *t = *state;
    trial_begins(t, "Probe=bond", "unsupported");
    trial_add(t, "proc/net/bonding/bond0",
              "Bonding Mode: IEEE 802.3ad\nMII Status: up\n\nSlave Interface: eth0\nMII Status: up\n"
              "Slave Interface: eth1\nMII Status: up\n");
    trial_expect(t, "Probe=bond", "ok");
    trial_add(
        t, "proc/net/bonding/bond0",
        "MII Status: up\nSlave Interface: eth0\nMII Status: up\nSlave Interface: eth1\nMII Status: down\n");
    trial_expect(t, "Probe=bond", "degraded eth1: eth1 of the bond bond0 is down");
    trial_add(t, "proc/net/bonding/bond0", "MII Status: down\n");
    trial_expect(t, "Probe=bond", "fatal bond0: the bond bond0 is down");
    trial_add(t, "proc/net/bonding/bond0", "rubbish\n");
    trial_expect(t, "Probe=bond", "unknown the bond bond0 is not understood");
}

static void test_conntrack(void **state)
{
    struct trial *t = *state;
    trial_begins(t, "Probe=conntrack", "unsupported");
    trial_add(t, "proc/sys/net/netfilter/nf_conntrack_count", "90\n");
    trial_add(t, "proc/sys/net/netfilter/nf_conntrack_max", "100\n");
    trial_expect(t, "Probe=conntrack", "ok");
    trial_add(t, "proc/sys/net/netfilter/nf_conntrack_count", "91\n");
    trial_expect(t, "Probe=conntrack", "warn conntrack: 91 of 100 tracked connections, of at most 90 %");
    trial_add(t, "proc/sys/net/netfilter/nf_conntrack_max", "?\n");
    trial_begins(t, "Probe=conntrack", "unknown");
}

/* A port of loopback, on which somebody listens until it is closed. */
static int listen_here(char record[static 96])
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof a;
    assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof a), 0);
    assert_int_equal(listen(fd, 8), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &len), 0);
    snprintf(record, 96, "Probe=reach Host=127.0.0.1 Slow=10m Port=%d", ntohs(a.sin_port));
    return fd;
}

static void test_reach(void **state)
{
    struct trial *t = *state;
    char record[96], want[128];
    int fd = listen_here(record);
    const char *port = strrchr(record, '=') + 1;
    trial_expect(t, record, "ok");
    close(fd);
    snprintf(want, sizeof want, "warn 127.0.0.1:%s: no connection to 127.0.0.1:%s: Connection refused", port,
             port);
    trial_expect(t, record, want);
    assert_string_equal(trial_judge(t, "Probe=reach Host=h Port=1", "connected 2500\n"),
                        "warn h:1: the connection to h:1 took 2500 ms, of at most 2000");
    assert_string_equal(trial_judge(t, "Probe=reach Host=h Port=1", "connected 2000\n"), "ok");
    assert_string_equal(trial_judge(t, "Probe=reach Host=h Port=1", "connected\n"),
                        "unknown it is not known whether h:1 was reached");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TRIAL(test_link), IN_TRIAL(test_flaps),     IN_TRIAL(test_errors),
        IN_TRIAL(test_bond), IN_TRIAL(test_conntrack), IN_TRIAL(test_reach),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
