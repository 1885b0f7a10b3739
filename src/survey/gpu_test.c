/* SPDX-License-Identifier: Apache-2.0 */
/* GPUs: through a stand-in for NVIDIA's library, and without it. */
#include "survey/machine_test.h"
#include "survey/nvml.h"
#include "survey/part.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char FIRST[] = "gpu.0000:18:00.0", SECOND[] = "gpu.0000:2a:00.0";

/* The machine with two H100, with the stand-in in that mood. */
static void survey(struct tree *t, const char *mood, int timeout_ms, struct components *c)
{
    static const struct survey_conf none;
    struct survey_calls calls = machine_calls;
    calls.nvml = NVML_STAND_IN;
    calls.timeout = span_ms(timeout_ms);
    setenv("NVML_STAND_IN", mood, 1);
    machine_add(t, "gpu.tree");
    machine_survey_as(t, "gx007", &none, &calls, c);
}

static void expect(const struct components *c, const char *gpu, const char *what, const char *said)
{
    char name[64];
    snprintf(name, sizeof name, "%s.%s", gpu, what);
    assert_string_equal(machine_say(c, name), said);
}

static void nvml_tells_of_each_gpu(void **state)
{
    struct components c = {0};
    survey(*state, "ok", 0, &c);
    assert_string_equal(machine_say(&c, "gpu.count"), "2");
    assert_string_equal(machine_say(&c, "gpu.driver"), "nvidia 550.54.14");
    for (int i = 0; i < 2; i++) {
        expect(&c, i ? SECOND : FIRST, "vendor", "0x10de");
        expect(&c, i ? SECOND : FIRST, "driver", "nvidia");
        expect(&c, i ? SECOND : FIRST, "model", "Stand-in H100");
        expect(&c, i ? SECOND : FIRST, "vbios", "96.00.74.00.01");
        expect(&c, i ? SECOND : FIRST, "ecc", "enabled"); /* now, not after the next reset */
        expect(&c, i ? SECOND : FIRST, "mig", "disabled");
    }
    components_fini(&c);
}

static void features_that_a_gpu_does_not_have_are_absent(void **state)
{
    struct components c = {0};
    survey(*state, "unsupported", 0, &c);
    expect(&c, FIRST, "ecc", "-");
    expect(&c, FIRST, "mig", "-");
    expect(&c, FIRST, "vbios", "96.00.74.00.01");
    components_fini(&c);
}

static void a_library_that_hangs_leaves_its_components_unknown(void **state)
{
    struct components c = {0};
    survey(*state, "hang", 300, &c);
    assert_string_equal(machine_say(&c, "gpu.count"), "2");
    expect(&c, FIRST, "driver", "nvidia");
    expect(&c, FIRST, "vbios", "? NVML: no answer within 300ms");
    expect(&c, SECOND, "mig", "? NVML: no answer within 300ms");
    components_fini(&c);
}

static void answers_before_a_hang_count(void **state)
{
    struct components c = {0};
    survey(*state, "hang_second", 500, &c);
    expect(&c, FIRST, "vbios", "96.00.74.00.01");
    expect(&c, FIRST, "mig", "disabled");
    expect(&c, SECOND, "model", "Stand-in H100");
    expect(&c, SECOND, "vbios", "? NVML: no answer within 500ms");
    components_fini(&c);
}

static void a_library_that_crashes_takes_nothing_else_with_it(void **state)
{
    struct components c = {0};
    survey(*state, "crash", 0, &c);
    expect(&c, FIRST, "vbios", "96.00.74.00.01");
    assert_non_null(strstr(machine_say(&c, "gpu.0000:2a:00.0.vbios"), "? NVML: "));
    assert_string_equal(machine_say(&c, "cpu.count"), "4");
    components_fini(&c);
}

static void a_driver_of_another_version_is_named(void **state)
{
    struct components c = {0};
    survey(*state, "mismatch", 0, &c);
    expect(&c, FIRST, "vbios", "? NVML: Driver/library version mismatch");
    expect(&c, SECOND, "ecc", "? NVML: Driver/library version mismatch");
    components_fini(&c);
}

static void a_lost_gpu_is_unknown_with_the_reason(void **state)
{
    struct components c = {0};
    survey(*state, "lost", 0, &c);
    expect(&c, FIRST, "vbios", "96.00.74.00.01");
    expect(&c, SECOND, "vbios", "? GPU is lost");
    components_fini(&c);
}

static void a_gpu_that_only_the_bus_has_is_unknown(void **state)
{
    struct components c = {0};
    survey(*state, "one", 0, &c);
    assert_string_equal(machine_say(&c, "gpu.count"), "2");
    expect(&c, SECOND, "vbios", "? NVML does not have this GPU");
    components_fini(&c);
}

static void without_the_library_the_driver_is_read(void **state)
{
    struct components c = {0};
    machine_add(*state, "gpu.tree");
    machine_survey(*state, &c);
    expect(&c, FIRST, "model", "NVIDIA H100 80GB HBM3");
    expect(&c, FIRST, "vbios", "96.00.74.00.01");
    expect(&c, FIRST, "ecc", "? there is no NVML library that can be used");
    expect(&c, SECOND, "vbios", "? the driver does not say");
    components_fini(&c);
}

static void a_library_that_is_not_there_is_none(void **state)
{
    static const struct survey_conf none;
    struct survey_calls calls = machine_calls;
    struct components c = {0};
    calls.nvml = "/nowhere/libnvidia-ml.so.1";
    machine_add(*state, "gpu.tree");
    machine_survey_as(*state, "gx007", &none, &calls, &c);
    expect(&c, FIRST, "vbios", "96.00.74.00.01");
    components_fini(&c);
}

static void nobody_is_asked_when_gpus_are_ignored(void **state)
{
    struct survey_conf conf = {0};
    struct survey_calls calls = machine_calls;
    struct components c = {0};
    hostlist_add(&conf.ignore, "gpu.*");
    calls.nvml = NVML_STAND_IN;
    calls.timeout = span_s(60);
    setenv("NVML_STAND_IN", "hang", 1);
    machine_add(*state, "gpu.tree");
    struct mono begin = mono_now();
    machine_survey_as(*state, "gx007", &conf, &calls, &c);
    assert_true(mono_sub(mono_now(), begin).ns < span_s(60).ns);
    assert_string_equal(machine_say(&c, "gpu.count"), "-");
    components_fini(&c);
    survey_conf_fini(&conf);
}

static void the_version_in_proc_stands_for_the_one_in_sys(void **state)
{
    struct tree *t = *state;
    tree_add(t, "sys/class/", "");
    tree_add(t, "sys/bus/pci/devices/", "");
    tree_add(t, "sys/module/nvidia/", "");
    tree_add(
        t, "proc/driver/nvidia/version",
        "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.129.03  Thu Oct 19 2023\nGCC version: 12.2\n");
    machine_expect(t, "gpu.driver", "nvidia 535.129.03");
}

static void a_gpu_without_its_makers_driver_is_told_from_none(void **state)
{
    struct tree *t = *state;
    tree_add(t, "sys/class/", "");
    tree_add(t, "sys/bus/pci/devices/0000:18:00.0/class", "0x030200\n");
    tree_add(t, "sys/bus/pci/devices/0000:18:00.0/vendor", "0x10de\n");
    tree_add(t, "sys/bus/pci/devices/0000:18:00.0/device", "0x2330\n");
    machine_expect(t, "gpu.count", "1");
    machine_expect(t, "gpu.0000:18:00.0.driver", "-");
    machine_expect(t, "gpu.0000:18:00.0.vbios", "? its maker's driver is not bound to it");
    machine_expect(t, "gpu.0000:18:00.0.model", "10de:2330");
}

static void without_sys_nobody_knows_how_many(void **state)
{
    tree_add(*state, "proc/sys/kernel/osrelease", "6.1\n");
    machine_expect(*state, "gpu.*", "? /sys/bus/pci/devices: No such file or directory");
    machine_expect(*state, "gpu.count", "-");
}

static void addresses_are_written_as_in_sys(void **state)
{
    char out[32];
    assert_true(nvml_address("00000000:3B:00.0", out));
    assert_string_equal(out, "0000:3b:00.0");
    assert_true(nvml_address("00010000:C1:1F.7", out));
    assert_string_equal(out, "10000:c1:1f.7");
    assert_false(nvml_address("", out));
    assert_false(nvml_address("00000000:3B:00", out));
    assert_false(nvml_address("00000000:3B:00.0 ", out));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TREE(nvml_tells_of_each_gpu),
        IN_TREE(features_that_a_gpu_does_not_have_are_absent),
        IN_TREE(a_library_that_hangs_leaves_its_components_unknown),
        IN_TREE(answers_before_a_hang_count),
        IN_TREE(a_library_that_crashes_takes_nothing_else_with_it),
        IN_TREE(a_driver_of_another_version_is_named),
        IN_TREE(a_lost_gpu_is_unknown_with_the_reason),
        IN_TREE(a_gpu_that_only_the_bus_has_is_unknown),
        IN_TREE(without_the_library_the_driver_is_read),
        IN_TREE(a_library_that_is_not_there_is_none),
        IN_TREE(nobody_is_asked_when_gpus_are_ignored),
        IN_TREE(the_version_in_proc_stands_for_the_one_in_sys),
        IN_TREE(a_gpu_without_its_makers_driver_is_told_from_none),
        IN_TREE(without_sys_nobody_knows_how_many),
        cmocka_unit_test(addresses_are_written_as_in_sys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
