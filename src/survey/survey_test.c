/* SPDX-License-Identifier: Apache-2.0 */
/* Whole machines: what is surveyed in them, and that it is the same whenever it should be. */
#include "survey/apart.h"
#include "survey/machine_test.h"
#include "survey/part.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static const struct survey_conf NOTHING;

static void golden(struct tree *t, const char *tree, const char *expected)
{
    struct components c = {0};
    machine_add(t, tree);
    machine_survey(t, &c);
    machine_golden(expected, &c);
    components_fini(&c);
}

static void a_gpu_node_is_read(void **state)
{
    golden(*state, "gpu.tree", "gpu.components");
}

/* The RPM database of the tree has no rpm beside it, which is unknown and not empty. */
static void an_amd_node_is_read(void **state)
{
    golden(*state, "amd.tree", "amd.components");
}

static void a_bare_machine_is_read(void **state)
{
    golden(*state, "bare.tree", "bare.components");
}

static void nothing_at_all_is_unknown_not_absent(void **state)
{
    struct components c = {0};
    machine_survey(*state, &c);
    machine_golden("nothing.components", &c);
    components_fini(&c);
}

static void a_root_that_is_none_is_an_error(void **state)
{
    struct components c = {0};
    struct survey_cache cache = {0};
    struct err e = {0};
    assert_int_equal(survey_read("/nowhere", "a", &NOTHING, &machine_calls, &cache, &c, &e), -ENOENT);
    assert_string_equal(e.msg, "/nowhere: No such file or directory");
    components_fini(&c);
}

/* --- the same and not the same -------------------------------------------------------------------------- */

static struct fingerprint fingerprint(const struct tree *t, const char *node)
{
    struct components c = {0};
    machine_survey_as(t, node, &NOTHING, &machine_calls, &c);
    struct fingerprint f = components_fingerprint(&c);
    components_fini(&c);
    return f;
}

static void two_readings_are_equal(void **state)
{
    machine_add(*state, "gpu.tree");
    struct fingerprint a = fingerprint(*state, "gx007"), b = fingerprint(*state, "gx007");
    assert_true(fingerprint_equal(&a, &b));
}

static void what_only_a_node_has_makes_no_difference(void **state)
{
    struct tree *t = *state;
    machine_add(t, "gpu.tree");
    struct fingerprint a = fingerprint(t, "gx007");
    tree_add(t, "proc/cmdline",
             "BOOT_IMAGE=(hd0,gpt2)/vmlinuz-5.14.0-503.11.1.el9_5.x86_64 "
             "root=UUID=ffffffff-5bd1-4c3a-9f1b-6d8a3c1f2e10 ro console=ttyS1,115200n8 "
             "ip=10.1.0.99::10.1.0.1:255.255.0.0:gx099:eno1:none BOOTIF=01-b8-ce-f6-99-99-99 "
             "nfsroot=10.1.0.3:/images/gx099/root iommu=pt mitigations=auto crashkernel=1G-4G:192M\n");
    tree_add(t, "proc/self/mountinfo",
             "22 1 259:2 / / rw,relatime shared:7 - xfs /dev/nvme1n1p9 rw,attr2,inode64,logbufs=8\n"
             "23 22 0:21 / /proc rw,nosuid,nodev,noexec,relatime shared:14 - proc proc rw,hidepid=2\n"
             "24 22 0:22 / /run rw,nosuid,nodev shared:24 - tmpfs tmpfs rw,size=1k,nr_inodes=8,mode=755\n"
             "25 22 0:30 / /home rw,relatime shared:60 - nfs4 10.1.0.3:/export/home "
             "rw,vers=4.2,rsize=1048576,hard,clientaddr=10.1.0.99,addr=10.1.0.3\n"
             "26 22 0:31 / /scratch rw,noatime - lustre 10.1.0.52@o2ib:10.1.0.51@o2ib:/scratch rw,flock\n"
             "27 22 0:40 / /net rw,relatime - autofs systemd-1 rw,fd=31,pgrp=9,timeout=0\n"
             "30 22 0:51 / /mnt/with\\040blank rw - ext4 /dev/sdx rw\n"
             "31 22 0:52 /data /bound rw - xfs /dev/sdy rw\n");
    struct fingerprint b = fingerprint(t, "gx099");
    assert_true(fingerprint_equal(&a, &b));
}

static uint64_t glance(const struct tree *t)
{
    return survey_glance(t->root, "gx007", &NOTHING);
}

static void a_glance_sees_what_is_cheap_to_read(void **state)
{
    static const struct leaf cheap[] = {{"proc/sys/kernel/osrelease", "5.14.0-503.11.2\n"},
                                        {"sys/class/dmi/id/bios_version", "1.5.4\n"},
                                        {"sys/module/nvidia/version", "550.54.15\n"},
                                        {"sys/class/infiniband/mlx5_0/fw_ver", "28.42.1000\n"},
                                        {"sys/class/nvme/nvme0/firmware_rev", "GDC5702Q\n"},
                                        {"proc/sys/vm/swappiness", "60\n"}};
    static const struct leaf dear[] = {{"sys/class/ipmi/ipmi0/device/bmc/aux_firmware_revision", "0x01\n"},
                                       {"etc/os-release", "ID=rhel\nVERSION_ID=9.6\n"},
                                       {"sys/devices/system/cpu/cpu2/microcode/version", "0x1\n"}};
    struct tree *t = *state;
    machine_add(t, "gpu.tree");
    uint64_t last = glance(t);
    assert_true(last == glance(t));
    for (size_t i = 0; i < sizeof cheap / sizeof *cheap; i++) {
        tree_add(t, cheap[i].path, cheap[i].text);
        uint64_t now = glance(t);
        if (now == last)
            fail_msg("%s", cheap[i].path);
        last = now;
    }
    TREE_ADD(t, dear);
    assert_true(last == glance(t));
    const char *names[] = {"module.*"};
    const struct survey_conf conf = {.ignore = {.n = 1, .names = (char **)names}};
    last = survey_glance(t->root, "gx007", &conf);
    tree_add(t, "sys/module/nvidia/version", "1\n");
    assert_true(last == survey_glance(t->root, "gx007", &conf)); /* what is ignored makes no job wait */
}

static void each_kind_of_change_is_seen(void **state)
{
    static const struct leaf changes[] = {
        {"proc/sys/kernel/osrelease", "5.14.0-503.11.2\n"},
        {"proc/cmdline", "quiet\n"},
        {"sys/devices/system/cpu/cpu2/microcode/version", "0x1\n"},
        {"sys/class/dmi/id/bios_version", "1.5.4\n"},
        {"sys/class/ipmi/ipmi0/device/bmc/aux_firmware_revision", "0x01\n"},
        {"sys/module/nvidia/version", "550.54.15\n"},
        {"sys/class/infiniband/mlx5_0/fw_ver", "28.42.1000\n"},
        {"sys/class/nvme/nvme0/firmware_rev", "GDC5702Q\n"},
        {"sys/module/mlx5_core/srcversion", "0\n"},
        {"sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never\n"},
        {"sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "600\n"},
        {"proc/sys/vm/swappiness", "60\n"},
        {"etc/os-release", "ID=rhel\nVERSION_ID=9.6\n"},
        {"var/lib/dpkg/status",
         "Package: slurmd\nStatus: install ok installed\nArchitecture: amd64\nVersion: 2\n"},
    };
    struct tree *t = *state;
    machine_add(t, "gpu.tree");
    struct fingerprint last = fingerprint(t, "gx007");
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        tree_add(t, changes[i].path, changes[i].text);
        struct fingerprint now = fingerprint(t, "gx007");
        if (fingerprint_equal(&last, &now))
            fail_msg("%s makes no difference", changes[i].path);
        last = now;
    }
}

static void what_comes_and_goes_makes_no_difference(void **state)
{
    struct tree *t = *state;
    machine_add(t, "gpu.tree");
    struct fingerprint a = fingerprint(t, "gx007");
    tree_add(t, "proc/sys/kernel/random/boot_id", "another\n");
    tree_add(t, "proc/modules",
             "sunrpc 884737 31 nfsv4,nfs,lockd,other, Live 0xffffffffc0000000\n"
             "mlx5_core 2338817 2 mlx5_ib, Live 0xffffffffc0000000\n"
             "nvidia 56717313 13 nvidia_uvm, Live 0xffffffffc0000000 (POE)\n"
             "coming 16384 1 - Loading 0xffffffffc0400000\n");
    tree_add(t, "sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "544\n");
    tree_add(t, "sys/kernel/mm/hugepages/hugepages-2048kB/surplus_hugepages", "32\n");
    tree_add(t, "sys/class/nvme/nvme0/serial", "S64GNE0R999999\n");
    struct fingerprint b = fingerprint(t, "gx007");
    assert_true(fingerprint_equal(&a, &b));
}

/* --- failures --------------------------------------------------------------------------------------------
 */

static void a_file_that_cannot_be_read_is_unknown(void **state)
{
    struct tree *t = *state;
    char path[128];
    machine_add(t, "gpu.tree");
    snprintf(path, sizeof path, "%s/sys/class/dmi/id/bios_version", t->root);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0700), 0); /* reads as EISDIR, for root as well */
    machine_expect(t, "bios.version", "? Is a directory");
    machine_expect(t, "bios.date", "09/30/2024");
}

/* Two boards of which nobody says anything are not the same for that. */
static void an_empty_field_of_the_firmware_is_unknown(void **state)
{
    tree_add(*state, "sys/class/dmi/id/board_version", " \n");
    machine_expect(*state, "board.version", "? it is empty");
    machine_expect(*state, "board.vendor", "-");
}

static void a_bmc_without_its_driver_is_unknown(void **state)
{
    tree_add(*state, "sys/class/dmi/id/board_name", "x\n");
    machine_expect(*state, "bmc.firmware", "-");
    tree_add(*state, "sys/bus/acpi/devices/IPI0001:00/hid", "IPI0001\n");
    machine_expect(*state, "bmc.firmware", "? there is one, and the kernel's IPMI driver is not loaded");
}

static void text_that_is_none_is_unknown(void **state)
{
    machine_add(*state, "gpu.tree");
    tree_add(*state, "sys/class/dmi/id/board_name", "\xff\xfe\n");
    machine_expect(*state, "board.name", "? the value is not UTF-8");
}

static void a_value_that_is_too_long_is_unknown(void **state)
{
    char *text = mem_alloc(70000);
    machine_add(*state, "gpu.tree");
    memset(text, 'x', 4097);
    tree_add(*state, "proc/cmdline", text);
    machine_expect(*state, "kernel.cmdline", "? the value has 4097 bytes; 4096 are allowed");
    memset(text, 'x', 69999);
    tree_add(*state, "proc/sys/vm/swappiness", text);
    machine_expect(*state, "sysctl.vm.swappiness", "? the file is too long for a value");
    free(text);
}

static void too_many_modules_are_unknown_as_a_whole(void **state)
{
    CLEANUP_TEXT struct text many = {0};
    machine_add(*state, "gpu.tree");
    for (int i = 0; i < 20000; i++)
        text_printf(&many, "module_%d 1 0 - Live 0x0\n", i);
    tree_add(*state, "proc/modules", many.s);
    struct components c = {0};
    machine_survey(*state, &c);
    assert_non_null(strstr(machine_say(&c, "module.*"), "? 20000 components with "));
    assert_string_equal(machine_say(&c, "module.module_1"), "-");
    assert_string_equal(machine_say(&c, "package.slurmd"), "24.11.5-1 amd64"); /* which comes after them */
    components_fini(&c);
}

static void ignored_components_are_not_reported(void **state)
{
    struct survey_conf conf = {0};
    struct components c = {0};
    hostlist_add(&conf.ignore, "module.*");
    hostlist_add(&conf.ignore, "cpu.m*l");
    machine_add(*state, "gpu.tree");
    machine_survey_as(*state, "gx007", &conf, &machine_calls, &c);
    assert_string_equal(machine_say(&c, "module.nvidia"), "-");
    assert_string_equal(machine_say(&c, "cpu.model"), "-");
    assert_string_equal(machine_say(&c, "cpu.count"), "4");
    components_fini(&c);
    survey_conf_fini(&conf);
}

static int hanging_driver(void *arg, const char *interface, char driver[static 33], char version[static 33],
                          char firmware[static 33])
{
    while (strcmp(interface, "eno1") == 0)
        pause();
    return machine_calls.driver(arg, interface, driver, version, firmware);
}

static void a_card_that_hangs_leaves_its_firmware_unknown(void **state)
{
    const struct survey_calls calls = {.driver = hanging_driver, .timeout = span_ms(300)};
    struct components c = {0};
    machine_add(*state, "gpu.tree");
    machine_survey_as(*state, "gx007", &NOTHING, &calls, &c);
    assert_string_equal(machine_say(&c, "nic.0000:5e:00.0.firmware"), "? no answer within 300ms");
    assert_string_equal(machine_say(&c, "nic.0000:5e:00.0.driver"), "ixgbe");
    assert_string_equal(machine_say(&c, "nic.0000:3b:00.0.firmware"), "28.41.1000 (MT_0000000838)");
    components_fini(&c);
}

/* --- real things -------------------------------------------------------------------------------------------
 */

static void copy_file(struct tree *t, const char *device, const char *file)
{
    char from[512], to[128], text[64];
    snprintf(from, sizeof from, "%s/infiniband/%s/%s", TEST_DATA, device, file);
    snprintf(to, sizeof to, "sys/class/infiniband/%s/%s", device, file);
    int fd = open(from, O_RDONLY | O_CLOEXEC);
    ssize_t n = read(fd, text, sizeof text);
    assert_true(n > 0);
    tree_add_bytes(t, to, text, (size_t)n);
    close(fd);
}

/* Of a real machine, without the links to the bus: the adapters go by their names then. */
static void real_infiniband_adapters_are_read(void **state)
{
    static const char *const devices[] = {"mlx5_0", "mlx5_1", "mlx5_4", "mlx5_5",     "mlx5_6",
                                          "mlx5_7", "mlx5_8", "mlx5_9", "mlx5_bond_0"};
    for (size_t i = 0; i < 9; i++) {
        copy_file(*state, devices[i], "fw_ver");
        copy_file(*state, devices[i], "hca_type");
        copy_file(*state, devices[i], "board_id");
    }
    struct components c = {0};
    machine_survey(*state, &c);
    assert_string_equal(machine_say(&c, "hca.count"), "9");
    assert_string_equal(machine_say(&c, "hca.mlx5_0.firmware"), "28.41.1000");
    assert_string_equal(machine_say(&c, "hca.mlx5_9.type"), "MT4129");
    assert_string_equal(machine_say(&c, "hca.mlx5_bond_0.board"), "MT_0000000884");
    assert_string_equal(machine_say(&c, "hca.mlx5_bond_0.firmware"), "32.38.3056");
    components_fini(&c);
}

static void this_machine_reads_the_same_twice(void **state)
{
    struct survey_cache cache = {0};
    struct fingerprint f[2];
    struct err e = {0};
    struct survey_look *look = survey_look_open("/", &NOTHING, -1);
    uint64_t stamp = survey_stamp("/", &NOTHING);
    for (int i = 0; i < 2; i++) {
        struct components c = {0};
        if (survey_read("/", "no-such-node", &NOTHING, &survey_system, &cache, &c, &e) < 0)
            fail_msg("%s", e.msg);
        assert_true(c.n > 20);
        assert_string_not_equal(machine_say(&c, "kernel.release"), "-");
        f[i] = components_fingerprint(&c);
        components_fini(&c);
    }
    if (!survey_look(look, true) &&
        survey_stamp("/", &NOTHING) == stamp) /* else somebody changed the machine meanwhile */
        assert_true(fingerprint_equal(&f[0], &f[1]));
    survey_cache_fini(&cache);
    survey_look_close(look);
}

/* --- looks -------------------------------------------------------------------------------------------- */

static void a_look_sees_what_the_kernel_shows(void **state)
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

static void the_stamp_changes_with_files(void **state)
{
    static const struct leaf changes[] = {
        {"var/lib/dpkg/status", "Package: slurmd\n"},
        {"var/lib/rpm/rpmdb.sqlite", "another database"},
        {"etc/os-release", "ID=other\n"},
        {"etc/gres.conf", "NodeName=all\n"},
    };
    struct tree *t = *state;
    struct survey_conf conf = {0};
    survey_conf_name(&conf, "file./etc/gres.conf");
    machine_add(t, "gpu.tree");
    uint64_t last = survey_stamp(t->root, &conf);
    assert_int_equal(survey_stamp(t->root, &conf), last);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        tree_add(t, changes[i].path, changes[i].text);
        uint64_t now = survey_stamp(t->root, &conf);
        if (now == last)
            fail_msg("%s makes no difference to the stamp", changes[i].path);
        last = now;
    }
    survey_conf_fini(&conf);
}

static void a_look_passes_over_what_comes_and_goes(void **state)
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
static void what_was_not_there_is_looked_for_on_request(void **state)
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

static void a_look_sees_what_is_mounted(void **state)
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

static void mounts_are_read_from_the_first_process(void **state)
{
    struct tree *t = *state;
    machine_add(t, "gpu.tree");
    tree_add(t, "proc/self/mountinfo", "22 1 259:2 / / ro - xfs /dev/nvme0n1p2 ro\n");
    machine_expect(t, "mount./", "xfs ro ro");
    tree_add(t, "proc/1/mountinfo", "22 1 259:2 / / rw - xfs /dev/nvme0n1p2 rw\n");
    machine_expect(t, "mount./", "xfs rw rw");
}

static void a_path_on_a_server_is_not_local(void **state)
{
    struct tree *t = *state;
    CLEANUP_HOSTLIST struct hostlist paths = {0}, local = {0};
    tree_add(t, "proc/self/mountinfo",
             "22 1 259:2 / / rw - xfs /dev/nvme0n1p2 rw\n23 22 0:30 / /home rw - nfs4 srv:/home rw\n");
    hostlist_add(&paths, "/home/me/x");
    hostlist_add(&paths, "/etc/x");
    survey_local(t->root, &paths, &local);
    assert_int_equal(local.n, 1);
    assert_string_equal(local.names[0], "/etc/x");
}

/* As a library's would that knows one of its descriptors by number. */
static int closed_after_fork = -1;
static void after_fork(void)
{
    if (closed_after_fork >= 0)
        close(closed_after_fork);
}

static void say_whether_open(void *arg)
{
    struct stat st;
    bool open = fstat(*(int *)arg, &st) == 0 && S_ISDIR(st.st_mode);
    apart_say("it", COMPONENT_VALUE, open ? "open" : "closed");
}

static void handlers_around_fork_leave_descriptors_alone(void **state)
{
    CLEANUP_NOTES struct notes said = {0};
    struct err why = {0};
    int kept = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(pthread_atfork(NULL, NULL, after_fork), 0);
    closed_after_fork = kept;
    apart_notes(kept, span_s(20), say_whether_open, &kept, &said, &why);
    closed_after_fork = -1;
    assert_string_equal(notes_find(&said, "it")->value, "open");
    close(kept);
}

static void what_is_watched_are_packages_images_and_named_files(void **state)
{
    struct survey_conf conf = {0};
    CLEANUP_HOSTLIST struct hostlist paths = {0};
    CLEANUP_TEXT struct text all = {0};
    survey_conf_name(&conf, "file./etc/gres.conf");
    survey_conf_name(&conf, "file./proc/version");
    survey_watched(&conf, &paths);
    for (size_t i = 0; i < paths.n; i++)
        text_printf(&all, "%s ", paths.names[i]);
    assert_string_equal(all.s, "/var/lib/dpkg/status /var/lib/rpm/Packages /var/lib/rpm/Packages.db "
                               "/var/lib/rpm/rpmdb.sqlite /var/lib/rpm/rpmdb.sqlite-wal "
                               "/usr/lib/sysimage/rpm/Packages /usr/lib/sysimage/rpm/Packages.db "
                               "/usr/lib/sysimage/rpm/rpmdb.sqlite /usr/lib/sysimage/rpm/rpmdb.sqlite-wal "
                               "/etc/os-release "
                               "/usr/lib/os-release /run/fettle/image /etc/fettle-image /etc/gres.conf ");
    survey_conf_fini(&conf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TREE(a_gpu_node_is_read),
        IN_TREE(an_amd_node_is_read),
        IN_TREE(a_bare_machine_is_read),
        IN_TREE(an_empty_field_of_the_firmware_is_unknown),
        IN_TREE(a_bmc_without_its_driver_is_unknown),
        IN_TREE(nothing_at_all_is_unknown_not_absent),
        cmocka_unit_test(a_root_that_is_none_is_an_error),
        IN_TREE(two_readings_are_equal),
        IN_TREE(what_only_a_node_has_makes_no_difference),
        IN_TREE(each_kind_of_change_is_seen),
        IN_TREE(a_glance_sees_what_is_cheap_to_read),
        IN_TREE(what_comes_and_goes_makes_no_difference),
        IN_TREE(a_file_that_cannot_be_read_is_unknown),
        IN_TREE(text_that_is_none_is_unknown),
        IN_TREE(a_value_that_is_too_long_is_unknown),
        IN_TREE(too_many_modules_are_unknown_as_a_whole),
        IN_TREE(ignored_components_are_not_reported),
        IN_TREE(a_card_that_hangs_leaves_its_firmware_unknown),
        IN_TREE(real_infiniband_adapters_are_read),
        cmocka_unit_test(this_machine_reads_the_same_twice),
        IN_TREE(a_look_sees_what_the_kernel_shows),
        IN_TREE(the_stamp_changes_with_files),
        IN_TREE(a_look_passes_over_what_comes_and_goes),
        IN_TREE(modules_are_looked_at_on_request),
        IN_TREE(what_was_not_there_is_looked_for_on_request),
        cmocka_unit_test(a_sysctl_that_vanishes_is_seen),
        cmocka_unit_test(a_look_sees_this_machine),
        cmocka_unit_test(the_mounts_are_the_machine_s_own),
        cmocka_unit_test(a_look_sees_what_is_mounted),
        IN_TREE(mounts_are_read_from_the_first_process),
        IN_TREE(a_path_on_a_server_is_not_local),
        cmocka_unit_test(handlers_around_fork_leave_descriptors_alone),
        cmocka_unit_test(what_is_watched_are_packages_images_and_named_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
