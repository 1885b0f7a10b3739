/* SPDX-License-Identifier: Apache-2.0 */
#include "survey/machine_test.h"
#include "survey/part.h"

#include <stdio.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

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

static void test_a_module_counts_while_it_is_live(void **state)
{
    static const char at_most[] = "123456789012345678901234567890123456789012345678901234567890123";
    static const char *const none[] = {
        "", "x", "x 1 0 -", "x 1 0 - Loading 0x0", "x 1 0 - Unloading 0x0", " 1 0 - Live 0x0"};
    char name[64], line[128];
    assert_true(module_live("nvidia 56717312 12 nvidia_uvm, Live 0xffffffffc0a00000 (POE)", name));
    assert_string_equal(name, "nvidia");
    snprintf(line, sizeof line, "%s 1 0 - Live 0x0", at_most);
    assert_true(module_live(line, name));
    assert_string_equal(name, at_most);
    snprintf(line, sizeof line, "%sx 1 0 - Live 0x0", at_most);
    assert_false(module_live(line, name));
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_false(module_live(none[i], name));
}

static void test_a_module_is_its_version_or_its_source(void **state)
{
    struct tree *t = *state;
    machine_expect(t, "module.*", "? /proc/modules: No such file or directory");
    tree_add(t, "proc/sys/kernel/", NULL);
    machine_expect(t, "module.*", "-"); /* a kernel that knows no modules */
    tree_add(t, "proc/modules", "a 1 0 - Live 0x0\nb 1 0 - Live 0x0\nc 1 0 - Live 0x0\n");
    tree_add(t, "sys/module/a/version", "1.2\n");
    tree_add(t, "sys/module/a/srcversion", "AAA\n");
    tree_add(t, "sys/module/b/version", "\n");
    tree_add(t, "sys/module/b/srcversion", "BBB\n");
    machine_expect(t, "module.a", "1.2");
    machine_expect(t, "module.b", "BBB");
    machine_expect(t, "module.c", "loaded");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TREE(too_many_modules_are_unknown_as_a_whole),
        cmocka_unit_test(test_a_module_counts_while_it_is_live),
        IN_TREE(test_a_module_is_its_version_or_its_source),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
