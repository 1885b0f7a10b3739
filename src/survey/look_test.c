/* SPDX-License-Identifier: Apache-2.0 */
#include "survey/apart.h"
#include "survey/machine_test.h"
#include "survey/part.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const struct survey_conf NOTHING;

static void a_look_sees_values_of_the_kernel(void **state)
{
    static const struct leaf changes[] = {
        {"proc/sys/kernel/random/boot_id", "another\n"},
        {"proc/cmdline", "quiet\n"},
        {"proc/modules", "nvidia 1 0 - Live 0x0\n"},
        {"proc/sys/vm/swappiness", "60\n"},
        {"proc/sys/vm/named", "1\n"},
        {"sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never\n"},
        {"sys/devices/system/cpu/smt/control", "on\n"},
        {"sys/devices/system/cpu/cpufreq/policy0/scaling_governor", "powersave\n"},
        {"proc/self/mountinfo", "22 1 259:2 / / ro - xfs /dev/nvme0n1p2 rw\n"},
        {"proc/1/mountinfo", "22 1 259:2 / / rw - xfs /dev/nvme0n1p2 rw\n"},
    };
    struct tree *t = *state;
    struct survey_conf conf = {0};
    survey_conf_name(&conf, "sysctl.vm.named");
    machine_add(t, "gpu.tree");
    struct survey_look *look = survey_look_open(t->root, &conf, -1);
    assert_false(survey_look_told(look));
    assert_false(survey_look(look, true));
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        char path[256];
        snprintf(path, sizeof path, "%s/%s", t->root, changes[i].path);
        unlink(path); /* another file in its place */
        tree_add(t, changes[i].path, changes[i].text);
        if (!survey_look(look, true))
            fail_msg("%s makes no difference to a look", changes[i].path);
        assert_false(survey_look(look, true));
    }
    survey_look_close(look);
    survey_conf_fini(&conf);
}

static void a_look_passes_over_components_that_come_and_go(void **state)
{
    struct tree *t = *state;
    machine_add(t, "gpu.tree");
    struct survey_look *look = survey_look_open(t->root, &NOTHING, -1);
    tree_add(t, "proc/modules",
             "nvidia 56717312 99 nvidia_uvm,nvidia_modeset, Live 0xffffffffc0a00000 (POE)\n"
             "mlx5_core 2338816 7 mlx5_ib, Live 0xffffffffc05f6000\n"
             "sunrpc 884736 31 nfsv4,nfs,lockd, Live 0xffffffffc0400000\n");
    assert_false(survey_look(look, true));
    survey_look_close(look);
}

/* The list is long; who hears of modules otherwise does without. */
static void modules_are_looked_at_on_request(void **state)
{
    struct tree *t = *state;
    machine_add(t, "gpu.tree");
    struct survey_look *look = survey_look_open(t->root, &NOTHING, -1);
    tree_add(t, "proc/modules", "nvidia 1 0 - Live 0x0\n");
    assert_false(survey_look(look, false));
    assert_true(survey_look(look, true));
    survey_look_close(look);
}

/* To find that it is not there costs more than to read it. */
static void an_absent_component_is_looked_for_on_request(void **state)
{
    struct tree *t = *state;
    struct survey_conf conf = {0};
    survey_conf_name(&conf, "sysctl.vm.named");
    machine_add(t, "gpu.tree");
    struct survey_look *look = survey_look_open(t->root, &conf, -1);
    tree_add(t, "proc/sys/vm/named", "1\n");
    assert_false(survey_look(look, false));
    assert_true(survey_look(look, true));
    tree_add(t, "proc/sys/vm/named", "2\n");
    assert_true(survey_look(look, false)); /* now it is there */
    char path[256];
    snprintf(path, sizeof path, "%s/proc/sys/vm/named", t->root);
    unlink(path);
    assert_true(survey_look(look, false));
    assert_false(survey_look(look, true));
    survey_look_close(look);
    survey_conf_fini(&conf);
}

static void make_tap(int *fd)
{
    struct ifreq of = {.ifr_name = "tap7", .ifr_flags = IFF_TAP | IFF_NO_PI};
    *fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC);
    if (*fd < 0 || ioctl(*fd, TUNSETIFF, &of))
        _exit(77);
}

/* In a network of its own: the sysctls of an interface go with it, under a descriptor that is kept. */
static void look_at_what_vanishes(void *arg)
{
    struct survey_conf conf = {0};
    int tap;
    if (unshare(CLONE_NEWNET))
        _exit(77);
    make_tap(&tap);
    survey_conf_name(&conf, "sysctl.net.ipv4.conf.tap7.forwarding");
    struct survey_look *look = survey_look_open("/", &conf, -1);
    bool still = !survey_look(look, false);
    close(tap);
    bool gone = survey_look(look, false) && !survey_look(look, false);
    make_tap(&tap);
    bool back = survey_look(look, true) && !survey_look(look, false);
    apart_say("still", COMPONENT_VALUE, still ? "yes" : "no");
    apart_say("gone", COMPONENT_VALUE, gone ? "yes" : "no");
    apart_say("back", COMPONENT_VALUE, back ? "yes" : "no");
    survey_look_close(look);
}

static void a_sysctl_that_vanishes_is_seen(void **state)
{
    CLEANUP_NOTES struct notes said = {0};
    struct err why = {0};
    apart_notes(-1, span_s(20), look_at_what_vanishes, NULL, &said, &why);
    if (why.code == -EIO)
        skip();
    assert_int_equal(said.n, 3);
    for (size_t i = 0; i < said.n; i++)
        assert_string_equal(said.list[i].value, "yes");
}

static void write_shmmni(const char *text)
{
    int fd = open("/proc/sys/kernel/shmmni", O_WRONLY);
    if (fd < 0 || write(fd, text, strlen(text)) < 0)
        _exit(77);
    close(fd);
}

static const char *told(int inotify)
{
    char events[4096];
    bool any = false;
    while (read(inotify, events, sizeof events) > 0)
        any = true;
    return any ? "told" : "not told";
}

static void look_at_this_machine(void *arg)
{
    if (unshare(CLONE_NEWIPC)) /* which has settings of its own, so that nothing is left */
        _exit(77);
    int inotify = inotify_init1(IN_NONBLOCK);
    struct survey_look *look = survey_look_open("/", &NOTHING, inotify);
    apart_say("all", COMPONENT_VALUE, survey_look_told(look) ? "told" : "not told");
    for (int i = 0; i < 3; i++) {
        write_shmmni(i % 2 ? "4000" : "4001");
        apart_say("writing", COMPONENT_VALUE, told(inotify));
        apart_say("look", COMPONENT_VALUE, survey_look(look, false) ? "new" : "old");
    }
    survey_look_close(look);
}

/* Descriptors are kept, of which the kernel has to say something new each time. */
static void a_look_sees_this_machine(void **state)
{
    CLEANUP_NOTES struct notes said = {0};
    struct err why = {0};
    apart_notes(-1, span_s(20), look_at_this_machine, NULL, &said, &why);
    if (why.code == -EIO)
        skip();
    static const char *const wanted[] = {"told", "told", "new", "told", "new", "told", "new"};
    assert_int_equal(said.n, sizeof wanted / sizeof *wanted);
    for (size_t i = 0; i < said.n; i++)
        assert_string_equal(said.list[i].value, wanted[i]);
}

/* In a mount namespace of its own, so that nothing is left. */
static void mount_in_a_sandbox(void *arg)
{
    if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL))
        _exit(77);
    int own = open("/proc/self/mountinfo", O_RDONLY);
    struct pollfd p = {.fd = own, .events = POLLPRI};
    bool still = poll(&p, 1, 0) == 0;
    struct survey_look *look = survey_look_open("/", &NOTHING, -1);
    if (mount("tmpfs", "/mnt", "tmpfs", 0, NULL))
        _exit(77);
    /* What the sandbox mounts is no change of the machine. */
    bool told = poll(&p, 1, 0) == 1 && (p.revents & POLLPRI) && poll(&p, 1, 0) == 0;
    apart_say("poll", COMPONENT_VALUE, still && told ? "tells" : "does not tell");
    apart_say("machine", COMPONENT_VALUE, survey_look(look, false) ? "changed" : "the same");
}

static void the_mounts_are_the_machine_s_own(void **state)
{
    CLEANUP_NOTES struct notes said = {0};
    struct err why = {0};
    apart_notes(-1, span_s(20), mount_in_a_sandbox, NULL, &said, &why);
    if (why.code == -EIO || access("/proc/1/mountinfo", R_OK))
        skip();
    assert_string_equal(notes_find(&said, "poll")->value, "tells");
    assert_string_equal(notes_find(&said, "machine")->value, "the same");
}

/* As the first process of a machine that is no other's. */
static void mount_as_the_machine(void *arg)
{
    if (unshare(CLONE_NEWNS | CLONE_NEWPID) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL))
        _exit(77);
    if (fork() > 0) {
        wait(NULL);
        return;
    }
    if (mount("proc", "/proc", "proc", 0, NULL))
        _exit(77);
    struct survey_look *look = survey_look_open("/", &NOTHING, -1);
    apart_say("before", COMPONENT_VALUE, survey_look(look, false) ? "new" : "old");
    if (mount("tmpfs", "/mnt", "tmpfs", 0, NULL))
        _exit(77);
    apart_say("mounted", COMPONENT_VALUE, survey_look(look, false) ? "new" : "old");
    apart_say("after", COMPONENT_VALUE, survey_look(look, false) ? "new" : "old");
    umount("/mnt");
    apart_say("gone", COMPONENT_VALUE, survey_look(look, false) ? "new" : "old");
    survey_look_close(look);
}

static void a_look_sees_mounts(void **state)
{
    CLEANUP_NOTES struct notes said = {0};
    struct err why = {0};
    apart_notes(-1, span_s(20), mount_as_the_machine, NULL, &said, &why);
    if (said.n == 0)
        skip();
    assert_int_equal(said.n, 4);
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(said.list[i].value, i % 2 ? "new" : "old");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TREE(a_look_sees_values_of_the_kernel),
        IN_TREE(a_look_passes_over_components_that_come_and_go),
        IN_TREE(modules_are_looked_at_on_request),
        IN_TREE(an_absent_component_is_looked_for_on_request),
        cmocka_unit_test(a_sysctl_that_vanishes_is_seen),
        cmocka_unit_test(a_look_sees_this_machine),
        cmocka_unit_test(the_mounts_are_the_machine_s_own),
        cmocka_unit_test(a_look_sees_mounts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
