/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/probe.h"

#include "base/text.h"
#include "probe/part.h"
#include "probe/tree_test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void test_no_root_is_an_error(void **state)
{
    json_t *out = NULL;
    struct err e = {0};
    char id[37];
    uint64_t seconds;
    assert_int_equal(probe_inventory("/no/such/root", "/tmp", &out, &e), -ENOENT);
    assert_string_equal(e.msg, "/no/such/root: No such file or directory");
    assert_int_equal(probe_boot_id("/no/such/root", id, NULL), -ENOENT);
    assert_int_equal(probe_uptime("/no/such/root", &seconds, NULL), -ENOENT);
    assert_int_equal(probe_work("/no/such/root", &out, NULL), -ENOENT);
    assert_null(out);
}

/* A machine that shows nothing has nothing to tell, and empty lists are not that. */
static void test_an_empty_root_has_no_members(void **state)
{
    struct tree *t = *state;
    CLEANUP_JSON json_t *inventory = tree_inventory(t);
    CLEANUP_FREE char *text = json_write(inventory);
    assert_string_equal(text, "{}");
}

static void test_a_vm_with_nothing_has_empty_lists(void **state)
{
    struct tree *t = *state;
    tree_add(t, "sys/class/", NULL);
    tree_expect(t, "NICs", "[]");
    tree_expect(t, "GPUs", "[]");
    tree_expect(t, "Disks", "[]");
    tree_expect(t, "DMI", "{}");
    tree_expect(t, "CPUs", NULL);
}

/* Links that lead round in a circle cannot be opened by anybody, root included. */
static void test_unreadable_parts_are_absent(void **state)
{
    static const struct leaf loops[] = {
        {"proc/cpuinfo@", "cpuinfo"},
        {"proc/meminfo@", "meminfo"},
        {"proc/stat@", "stat"},
        {"sys/class/net@", "net"},
        {"sys/bus/pci/devices@", "devices"},
        {"sys/block@", "block"},
        {"sys/class/dmi/id@", "id"},
        {"sys/devices/system/cpu@", "cpu"},
        {"proc/sys/kernel/hostname@", "hostname"},
        {"tmp@", "tmp"},
    };
    struct tree *t = *state;
    TREE_ADD(t, loops);
    CLEANUP_JSON json_t *inventory = tree_inventory(t);
    CLEANUP_FREE char *text = json_write(inventory);
    assert_string_equal(text, "{}");
}

static const char *const every_file[] = {
    "proc/cpuinfo",
    "proc/meminfo",
    "proc/stat",
    "proc/uptime",
    "proc/sys/kernel/ostype",
    "proc/sys/kernel/osrelease",
    "proc/sys/kernel/arch",
    "proc/sys/kernel/hostname",
    "proc/sys/kernel/random/boot_id",
    "sys/devices/system/cpu/online",
    "sys/devices/system/cpu/cpu0/topology/core_siblings_list",
    "sys/devices/system/cpu/cpu0/cpufreq/base_frequency",
    "sys/class/dmi/id/sys_vendor",
    "sys/class/net/eth0/device/uevent",
    "sys/class/net/eth0/speed",
    "sys/class/net/eth0/address",
    "sys/bus/pci/devices/0000:01:00.0/class",
    "sys/bus/pci/devices/0000:01:00.0/vendor",
    "sys/block/sda/device/vpd_pg80",
    "sys/block/sda/device/model",
    "sys/block/sda/size",
    "sys/block/sda/hidden",
};

static json_t *inventory_of_garbage(struct tree *t, const void *bytes, size_t n)
{
    for (size_t i = 0; i < sizeof every_file / sizeof every_file[0]; i++)
        tree_add_bytes(t, every_file[i], bytes, n);
    return tree_inventory(t);
}

static void expect_no_numbers(const json_t *inventory)
{
    static const char *const keys[] = {"CPUs",  "Sockets",    "Cores",         "Threads",
                                       "Speed", "RealMemory", "VirtualMemory", "BootTime"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        assert_null(json_object_get(inventory, keys[i]));
}

static void test_garbage_gives_no_numbers(void **state)
{
    struct tree *t = *state;
    static const char garbage[] = "0x\x00\xff\xfe: -1 \x1b[2J\n\n::,-,\nbtime soon\nMemTotal: much kB\n";
    CLEANUP_JSON json_t *inventory = inventory_of_garbage(t, garbage, sizeof garbage);
    expect_no_numbers(inventory);
    assert_string_equal(json_string_value(json_object_get(inventory, "Name")), "0x");
    tree_expect(t, "GPUs", "[]");
}

/* Megabytes in the place of every file: values are cut, and the memory stays small. */
static void test_huge_files(void **state)
{
    struct tree *t = *state;
    size_t n = 5 << 20;
    CLEANUP_FREE char *bytes = mem_alloc(n);
    memset(bytes, '7', n);
    CLEANUP_JSON json_t *inventory = inventory_of_garbage(t, bytes, n);
    expect_no_numbers(inventory);
    assert_int_equal(json_string_length(json_object_get(inventory, "Name")), SYS_TEXT_BYTES_MAX - 1);
    assert_int_equal(json_string_length(json_object_get(inventory, "OS")), 2 * (SYS_TEXT_BYTES_MAX - 1) + 1);
}

static void test_hash_is_fnv_1a_of_the_sorted_text(void **state)
{
    char hash[17];
    CLEANUP_JSON json_t *empty = json_object();
    probe_hash(empty, hash);
    assert_string_equal(hash, "08f44b07b5901a25"); /* of "{}", by an independent program */

    CLEANUP_JSON json_t *ab = json_pack("{s:i,s:i}", "a", 1, "b", 2);
    CLEANUP_JSON json_t *ba = json_pack("{s:i,s:i}", "b", 2, "a", 1);
    CLEANUP_JSON json_t *other = json_pack("{s:i,s:i}", "b", 2, "a", 2);
    char hash_ab[17], hash_ba[17], hash_other[17];
    probe_hash(ab, hash_ab);
    probe_hash(ba, hash_ba);
    probe_hash(other, hash_other);
    assert_string_equal(hash_ab, hash_ba);
    assert_string_not_equal(hash_ab, hash_other);
}

static void test_two_readings_are_equal(void **state)
{
    json_t *first = NULL, *second = NULL;
    assert_int_equal(probe_inventory("", "/tmp", &first, NULL), 0);
    assert_int_equal(probe_inventory("", "/tmp", &second, NULL), 0);
    char hash[17], again[17];
    probe_hash(first, hash);
    probe_hash(second, again);
    assert_string_equal(hash, again);
    json_decref(first);
    json_decref(second);
}

/* What the system calls say of the machine that the tests run on. */
static void test_the_real_machine(void **state)
{
    json_t *out = NULL;
    assert_int_equal(probe_inventory("", "/tmp", &out, NULL), 0);
    CLEANUP_JSON json_t *inventory = out;
    struct utsname name;
    struct sysinfo memory;
    assert_int_equal(uname(&name), 0);
    assert_int_equal(sysinfo(&memory), 0);

    char os[2 * sizeof name.sysname];
    snprintf(os, sizeof os, "%s.%s", name.sysname, name.release);
    assert_string_equal(json_string_value(json_object_get(inventory, "OS")), os);
    assert_string_equal(json_string_value(json_object_get(inventory, "Name")), name.nodename);
    assert_string_equal(json_string_value(json_object_get(inventory, "Arch")), name.machine);
    assert_int_equal(json_integer_value(json_object_get(inventory, "CPUs")), sysconf(_SC_NPROCESSORS_ONLN));
    json_int_t total_mb = (json_int_t)(memory.totalram * memory.mem_unit >> 20);
    json_int_t real_mb = json_integer_value(json_object_get(inventory, "RealMemory"));
    assert_in_range(real_mb, total_mb - 1, total_mb + 1);

    uint64_t seconds = 0;
    char id[37];
    assert_int_equal(probe_uptime("", &seconds, NULL), 0);
    assert_in_range(seconds, memory.uptime - 2, memory.uptime + 2);
    assert_int_equal(probe_boot_id("", id, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_root_is_an_error),
        IN_TREE(test_an_empty_root_has_no_members),
        IN_TREE(test_a_vm_with_nothing_has_empty_lists),
        IN_TREE(test_unreadable_parts_are_absent),
        IN_TREE(test_garbage_gives_no_numbers),
        IN_TREE(test_huge_files),
        cmocka_unit_test(test_hash_is_fnv_1a_of_the_sorted_text),
        cmocka_unit_test(test_two_readings_are_equal),
        cmocka_unit_test(test_the_real_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
