/* SPDX-License-Identifier: Apache-2.0 */
#include "survey/machine_test.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void test_a_model_without_a_name_is_arm_s_numbers(void **state)
{
    struct tree *t = *state;
    tree_add(t, "proc/cpuinfo",
             "processor\t: 0\nCPU implementer\t: 0x41\nCPU variant\t: 0x3\nCPU part\t: 0xd0c\n"
             "CPU revision\t: 1\n\nprocessor\t: 1\nCPU part\t: 0xfff\n");
    machine_expect(t, "cpu.model", "ARM implementer 0x41 part 0xd0c variant 0x3 revision 1");
    tree_add(t, "proc/cpuinfo", "model name\t:  A  name \nCPU part: 0xd0c\n");
    machine_expect(t, "cpu.model", "A name");
    tree_add(t, "proc/cpuinfo", "model names\t: no\nmodel name no\n");
    machine_expect(t, "cpu.model", "? /proc/cpuinfo names no model");
}

static void test_a_file_that_is_not_there_is_unknown(void **state)
{
    struct tree *t = *state;
    tree_add(t, "sys/class/", NULL);
    machine_expect(t, "cpu.model", "? No such file or directory");
    machine_expect(t, "cpu.microcode", "? No such file or directory");
    machine_expect(t, "cpu.count", "? /sys/devices/system/cpu does not say");
    machine_expect(t, "cpu.sockets", "? /sys/devices/system/cpu does not say");
}

static void test_microcode_is_each_version_once(void **state)
{
    struct tree *t = *state;
    tree_add(t, "proc/cpuinfo", "model name: A\n");
    machine_expect(t, "cpu.microcode", "-");
    tree_add(t, "proc/cpuinfo", "model name: A\nmicrocode\t: 0x17\n");
    machine_expect(t, "cpu.microcode", "0x17");
    tree_add(t, "sys/devices/system/cpu/cpu1/microcode/version", "0x2\n");
    tree_add(t, "sys/devices/system/cpu/cpu0/microcode/version", "0x1\n");
    tree_add(t, "sys/devices/system/cpu/cpu2/microcode/version", "0x2\n");
    tree_add(t, "sys/devices/system/cpu/other/microcode/version", "0x3\n");
    machine_expect(t, "cpu.microcode", "0x1, 0x2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TREE(test_a_model_without_a_name_is_arm_s_numbers),
        IN_TREE(test_a_file_that_is_not_there_is_unknown),
        IN_TREE(test_microcode_is_each_version_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
