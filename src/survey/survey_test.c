/* SPDX-License-Identifier: Apache-2.0 */
/* Whole machines: what is surveyed in them, and that it is the same whenever it should be. */
#include "survey/apart.h"
#include "survey/machine_test.h"
#include "survey/part.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>

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

static void values_of_one_node_alone_make_no_difference(void **state)
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

static void a_glance_sees_components_that_are_cheap_to_read(void **state)
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

static void parts_that_come_and_go_make_no_difference(void **state)
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TREE(a_gpu_node_is_read),
        IN_TREE(an_amd_node_is_read),
        IN_TREE(a_bare_machine_is_read),
        IN_TREE(nothing_at_all_is_unknown_not_absent),
        cmocka_unit_test(a_root_that_is_none_is_an_error),
        IN_TREE(two_readings_are_equal),
        IN_TREE(values_of_one_node_alone_make_no_difference),
        IN_TREE(each_kind_of_change_is_seen),
        IN_TREE(a_glance_sees_components_that_are_cheap_to_read),
        IN_TREE(parts_that_come_and_go_make_no_difference),
        IN_TREE(a_value_that_is_too_long_is_unknown),
        IN_TREE(ignored_components_are_not_reported),
        cmocka_unit_test(this_machine_reads_the_same_twice),
        cmocka_unit_test(handlers_around_fork_leave_descriptors_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
