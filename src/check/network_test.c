/* SPDX-License-Identifier: Apache-2.0 */
#include "check/trial_test.h"

#include <fcntl.h>
#include <linux/if_tun.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
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
    trial_expect(t, "Probe=ethernet", "unsupported no Ethernet interface has a device");
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
    trial_expect(t, "Probe=ethernet Interface=eth0,eth1", "warn eth1: eth1 is down");
    trial_expect(t, "Probe=ethernet Interface=eth0,eth1 Down=0s", "fatal eth1: eth1 is down");
    trial_expect(t, "Probe=ethernet Interface=eth0,eth7", "fatal eth7: there is no interface eth7");
    trial_expect(t, "Probe=ethernet Speed=100000", "degraded eth0: 25000 Mb/s, of at least 100000");
    add_interface(t, "eth0", false, "-1\n", "3\n");
    for (int minute = 0; minute < 10; minute++) /* as long as a switch takes to boot, and longer */
        trial_expect(t, "Probe=ethernet", "warn : none of 2 Ethernet interfaces is up");
    trial_expect(t, "Probe=ethernet", "fatal : none of 2 Ethernet interfaces is up");
    add_file(t, "eth1", "carrier", "1\n");
    add_file(t, "eth1", "operstate", "dormant\n"); /* waits for somebody to log in (802.1X) */
    trial_begins(t, "Probe=ethernet", "fatal : none of 2");
    add_file(t, "eth0", "type", "rubbish\n");
    add_interface(t, "eth1", true, "1000\n", "2\n");
    trial_expect(t, "Probe=ethernet", "ok");
}

static void test_the_last_link(void **state)
{
    struct trial *t = *state;
    add_interface(t, "veth1", true, "10000\n", "2\n");
    trial_expect(t, "Probe=ethernet", "unsupported no Ethernet interface has a device");
    add_interface(t, "eth0", true, "25000\n", "2\n");
    add_device(t, "eth0");
    trial_expect(t, "Probe=ethernet", "ok");
    trial_remove(t, "sys/class/net/eth0/device");
    for (int i = 0; i < 2; i++)
        trial_expect(t, "Probe=ethernet",
                     "fatal : the last Ethernet interface is gone, of 1 that there were");
    add_interface(t, "eth0", true, "25000\n", "2\n");
    add_device(t, "eth0");
    trial_expect(t, "Probe=ethernet", "ok");
}

static void test_kept_numbers_outlive_a_restart(void **state)
{
    struct memory *m = memory_create(), *after = memory_create();
    CLEANUP_JSON json_t *kept = json_object();
    memory_keep(m, "interfaces", 2);
    *memory_number(m, "flaps") = 7;
    assert_true(memory_news(m));
    memory_keep(m, "interfaces", 2);
    assert_false(memory_news(m)); /* nothing is to be written for it */
    memory_save(m, kept);
    memory_restore(after, kept);
    assert_false(memory_news(after));
    assert_int_equal(*memory_number(after, "interfaces"), 2);
    assert_int_equal(*memory_number(after, "flaps"), 0);
    memory_destroy(m);
    memory_destroy(after);
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
    trial_expect(t, "Probe=ethernet", "ok"); /* twice is what may be */
    add_interface(t, "eth0", true, "1000\n", "106\n");
    trial_expect(t, "Probe=ethernet",
                 "warn eth0: the link was lost and came back 3 times within 10 minutes, of at most 2");
    add_interface(t, "eth0", true, "1000\n", "124\n");
    trial_begins(t, "Probe=ethernet", "degraded eth0: the link was lost and came back 12 times");
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

/* --- this machine's own --------------------------------------------------------------------- */

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The facts of a root in the order of their bytes, without counters: those go on meanwhile. */
static char *interfaces_of(const char *root)
{
    struct checks c = {0};
    static const char record[] = "Check=e Probe=ethernet Speed=1";
    CLEANUP_TEXT struct text facts = {0};
    struct text sorted = {0};
    char *lines[256];
    size_t n = 0;
    assert_int_equal(checks_parse("test", record, strlen(record), &c, NULL), 0);
    struct look l = {.check = c.list, .root = root};
    gather_ETHERNET(&l, &facts);
    for (char *rest = facts.s, *line; n < 256 && (line = strsep(&rest, "\n"));)
        if (strncmp(line, "counter", 7) != 0)
            lines[n++] = line;
    qsort(lines, n, sizeof *lines, by_text);
    for (size_t i = 0; i < n; i++)
        text_printf(&sorted, "%s\n", lines[i]);
    checks_fini(&c);
    return text_take(&sorted);
}

static void the_kernel_says_what_sysfs_says(void **state)
{
    for (int tries = 0;; tries++) { /* something may change in between */
        CLEANUP_FREE char *kernel = interfaces_of(""), *sysfs = interfaces_of("/");
        if (strcmp(kernel, sysfs) == 0)
            return;
        if (tries == 10)
            assert_string_equal(kernel, sysfs);
    }
}

struct wanted_link {
    const char *name;
    int n;
    struct link is;
};

static void find_link(const struct link *l, void *arg)
{
    struct wanted_link *w = arg;
    if (strcmp(l->name, w->name) != 0)
        return;
    w->n++;
    w->is = *l;
}

static int links_named(const char *name, struct link *out)
{
    struct wanted_link w = {.name = name};
    if (links_each(find_link, &w))
        return -1;
    *out = w.is;
    return w.n;
}

static int make_tap(const char *name)
{
    struct ifreq of = {.ifr_flags = IFF_TAP | IFF_NO_PI};
    int fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC);
    snprintf(of.ifr_name, sizeof of.ifr_name, "%s", name);
    if (fd < 0 || ioctl(fd, TUNSETIFF, &of))
        _exit(77);
    return fd;
}

static void set_up(const char *name)
{
    struct ifreq of = {.ifr_flags = IFF_UP};
    CLEANUP_FD int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    snprintf(of.ifr_name, sizeof of.ifr_name, "%s", name);
    if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &of))
        _exit(77);
}

#define EXPECT(what)                  \
    do {                              \
        if (!(what))                  \
            _exit(__LINE__ % 70 + 1); \
    } while (0)

/* The kernel takes up to a second to tell of it. */
static bool comes_to(const char *name, bool carrier, uint32_t changes)
{
    struct mono until = mono_add(mono_now(), span_s(10));
    struct link l;
    do {
        if (links_named(name, &l) == 1 && l.carrier == carrier && l.changes == changes)
            return true;
    } while (mono_now().ns < until.ns);
    return false;
}

/* In a network of its own, so that nothing is left. */
static void watch_a_link(void)
{
    static const char frame[64] = {[12] = 0x08};
    struct link l;
    int off = 0, on = 1;
    if (unshare(CLONE_NEWNET))
        _exit(77);
    EXPECT(links_named("tap7", &l) == 0);
    int tap = make_tap("tap7");
    EXPECT(links_named("tap7", &l) == 1 && l.type == 1 && !l.device && l.software && l.state == 2);
    set_up("tap7");
    EXPECT(links_named("tap7", &l) == 1 && l.carrier && l.state != 2);
    uint32_t changes = l.changes;
    if (ioctl(tap, TUNSETCARRIER, &off))
        _exit(77);
    EXPECT(comes_to("tap7", false, changes + 1));
    EXPECT(ioctl(tap, TUNSETCARRIER, &on) == 0);
    EXPECT(comes_to("tap7", true, changes + 2));
    EXPECT(links_named("tap7", &l) == 1 && l.stats.tx_packets == 0 && l.stats.rx_packets == 0);
    EXPECT(write(tap, frame, sizeof frame) == sizeof frame);
    EXPECT(links_named("tap7", &l) == 1 && l.stats.rx_packets == 1 && l.stats.rx_bytes == sizeof frame);
    close(tap);
    EXPECT(links_named("tap7", &l) == 0);
    tap = make_tap("tap7"); /* the same name again is another one */
    EXPECT(links_named("tap7", &l) == 1 && l.changes < changes + 2);
    pid_t child = fork();
    if (child == 0) { /* which has a socket of its own */
        close_range(3, ~0U, 0);
        (void)open("/dev/null", O_RDWR | O_CLOEXEC);
        _exit(links_named("tap7", &l) == 1 ? 0 : 1);
    }
    int status = 1;
    EXPECT(waitpid(child, &status, 0) == child && status == 0);
    EXPECT(links_named("tap7", &l) == 1);
    for (int fd = 3; fd < 64; fd++) /* somebody closes it: it costs one look */
        if (fd != tap)
            close(fd);
    EXPECT(links_named("tap7", &l) == -1);
    EXPECT(links_named("tap7", &l) == 1);
}

static void an_interface_comes_and_goes(void **state)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        watch_a_link();
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77)
        skip();
    assert_int_equal(WEXITSTATUS(status), 0);
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
    trial_expect(t, "Probe=bond", "warn eth1: eth1 of the bond bond0 is down");
    trial_expect(t, "Probe=bond Down=0s", "degraded eth1: eth1 of the bond bond0 is down");
    trial_add(t, "proc/net/bonding/bond0", "MII Status: down\n");
    trial_expect(t, "Probe=bond", "warn bond0: the bond bond0 is down");
    trial_expect(t, "Probe=bond Down=0s", "fatal bond0: the bond bond0 is down");
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
        IN_TRIAL(test_link),
        IN_TRIAL(test_the_last_link),
        cmocka_unit_test(test_kept_numbers_outlive_a_restart),
        IN_TRIAL(test_flaps),
        IN_TRIAL(test_errors),
        cmocka_unit_test(the_kernel_says_what_sysfs_says),
        cmocka_unit_test(an_interface_comes_and_goes),
        IN_TRIAL(test_bond),
        IN_TRIAL(test_conntrack),
        IN_TRIAL(test_reach),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
