/* SPDX-License-Identifier: Apache-2.0 */
#include "survey/machine_test.h"
#include "survey/part.h"

#include <stdio.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void no_sysctl_leads_out_of_its_directory(void **state)
{
    char path[300];
    assert_true(sysctl_path("net.ipv4.conf.eth0/1.rp_filter", path));
    assert_string_equal(path, "net/ipv4/conf/eth0.1/rp_filter");
    static const char *const bad[] = {"", ".", "a.", ".a", "a..b", "//", "a.//.b", "a./b", "a b", "a\n"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(sysctl_path(bad[i], path));
}

static void a_sysctl_that_was_named_is_read(void **state)
{
    struct tree *t = *state;
    struct components c = {0};
    tree_add(t, "proc/sys/vm/named", "1\t2\n");
    machine_survey_named(t, "Sysctl=vm.named\nSysctl=vm.none\n", &c);
    assert_string_equal(machine_say(&c, "sysctl.vm.named"), "1 2");
    assert_string_equal(machine_say(&c, "sysctl.vm.none"), "-");
    components_fini(&c);
}

static void test_settings_are_unknown_without_sys(void **state)
{
    machine_expect(*state, "setting.*", "? /sys/class: No such file or directory");
    machine_expect(*state, "sysctl.*", "? /proc/sys: No such file or directory");
}

static void test_the_chosen_word_is_the_setting(void **state)
{
    struct tree *t = *state;
    static const char path[] = "sys/kernel/mm/transparent_hugepage/enabled";
    tree_add(t, "sys/class/", NULL);
    tree_add(t, path, "always [madvise] never\n");
    machine_expect(t, "setting.thp", "madvise");
    tree_add(t, path, "always madvise\n");
    machine_expect(t, "setting.thp", "always madvise");
    tree_add(t, path, "] [always\n");
    machine_expect(t, "setting.thp", "] [always");
}

static void test_turbo_is_what_either_file_says(void **state)
{
    struct tree *t = *state;
    tree_add(t, "sys/class/", NULL);
    machine_expect(t, "setting.turbo", "-");
    tree_add(t, "sys/devices/system/cpu/cpufreq/boost", "1\n");
    machine_expect(t, "setting.turbo", "on");
    tree_add(t, "sys/devices/system/cpu/cpufreq/boost", "0\n");
    machine_expect(t, "setting.turbo", "off");
    tree_add(t, "sys/devices/system/cpu/intel_pstate/no_turbo", "0\n");
    machine_expect(t, "setting.turbo", "on"); /* Intel's own says whether it is off */
    tree_add(t, "sys/devices/system/cpu/intel_pstate/no_turbo", "1\n");
    machine_expect(t, "setting.turbo", "off");
    tree_add(t, "sys/devices/system/cpu/intel_pstate/no_turbo", "perhaps\n");
    machine_expect(t, "setting.turbo", "? Invalid argument");
}

static void test_huge_pages_without_those_that_are_lent(void **state)
{
    struct tree *t = *state;
    static const char dir[] = "sys/kernel/mm/hugepages/hugepages-2048kB/";
    char path[96];
    tree_add(t, "sys/class/", NULL);
    snprintf(path, sizeof path, "%snr_hugepages", dir);
    tree_add(t, path, "520\n");
    machine_expect(t, "setting.hugepages.2048kB", "? No such file or directory");
    snprintf(path, sizeof path, "%ssurplus_hugepages", dir);
    tree_add(t, path, "520\n");
    machine_expect(t, "setting.hugepages.2048kB", "0");
    tree_add(t, path, "8\n");
    machine_expect(t, "setting.hugepages.2048kB", "512");
    tree_add(t, path, "521\n"); /* the two do not belong together */
    machine_expect(t, "setting.hugepages.2048kB", "? Resource temporarily unavailable");
}

static void test_directories_that_cannot_be_read_are_unknown(void **state)
{
    static const struct {
        const char *link, *name;
    } cases[] = {{"sys/kernel/mm/hugepages@", "setting.hugepages.*"},
                 {"sys/devices/system/cpu/vulnerabilities@", "setting.mitigation.*"},
                 {"sys/devices/system/cpu/cpufreq@", "setting.governor"}};
    struct tree *t = *state;
    tree_add(t, "sys/class/", NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char self[32];
        snprintf(self, sizeof self, "%s", strrchr(cases[i].link, '/') + 1);
        self[strlen(self) - 1] = '\0';
        tree_add(t, cases[i].link, self);
        machine_expect(t, cases[i].name, "? Too many levels of symbolic links");
    }
}

static void test_each_governor_and_mitigation_is_there_once(void **state)
{
    struct tree *t = *state;
    tree_add(t, "sys/class/", NULL);
    machine_expect(t, "setting.governor", "-");
    tree_add(t, "sys/devices/system/cpu/cpufreq/policy0/scaling_governor", "powersave\n");
    tree_add(t, "sys/devices/system/cpu/cpufreq/policy1/scaling_governor", "performance\n");
    tree_add(t, "sys/devices/system/cpu/cpufreq/policy2/scaling_governor", "powersave\n");
    tree_add(t, "sys/devices/system/cpu/cpufreq/other/scaling_governor", "ondemand\n");
    tree_add(t, "sys/devices/system/cpu/vulnerabilities/mds", "Not affected\n");
    machine_expect(t, "setting.governor", "performance, powersave");
    machine_expect(t, "setting.mitigation.mds", "Not affected");
}

static void test_a_look_has_the_files_of_settings(void **state)
{
    struct survey_conf conf = {0};
    struct sys_names paths = {0};
    survey_conf_name(&conf, "sysctl.vm.named");
    setting_paths(&conf, &paths);
    sys_names_sort(&paths);
    static const char *const wanted[] = {"proc/sys/vm/named", "proc/sys/vm/swappiness",
                                         "sys/kernel/mm/transparent_hugepage/enabled",
                                         "sys/devices/system/cpu/cpufreq/boost"};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        size_t found = 0;
        for (size_t j = 0; j < paths.n; j++)
            found += strcmp(paths.names[j], wanted[i]) == 0;
        assert_int_equal(found, 1);
    }
    sys_names_fini(&paths);
    survey_conf_fini(&conf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_sysctl_leads_out_of_its_directory),
        IN_TREE(a_sysctl_that_was_named_is_read),
        IN_TREE(test_settings_are_unknown_without_sys),
        IN_TREE(test_the_chosen_word_is_the_setting),
        IN_TREE(test_turbo_is_what_either_file_says),
        IN_TREE(test_huge_pages_without_those_that_are_lent),
        IN_TREE(test_directories_that_cannot_be_read_are_unknown),
        IN_TREE(test_each_governor_and_mitigation_is_there_once),
        cmocka_unit_test(test_a_look_has_the_files_of_settings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
