/* SPDX-License-Identifier: Apache-2.0 */
/* The records of ClassConf, and what the rest of the configuration must have for them. */
#include "controller/config/config_fixture_test.h"

#include <stdio.h>
#include <string.h>

static void test_classes(void **state)
{
    struct config c = config_good("", "Name=lx01\n", NULL);
    assert_int_equal(c.roster.classes.n, 1); /* without a file, default alone */
    assert_string_equal(c.roster.classes.list[0].name, "default");
    config_fini(&c);
    c = config_good(
        config_with_classes(
            "OpenChamiBSS = http://b\nOpenChamiPCS = http://p\n",
            "# GPU nodes\n"
            "Class=gpu Nodes=gx[01-16] critical=gpu.*.driver,gpu.driver Ignore=package.* "
            "Drifted=exclude Reboot=yes Kernel=/boot/k Params=\"quiet ro\"\n"
            "Class=regulated Sensitive=yes Major=sysctl.kernel.randomize_va_space,file./etc/hosts\n"),
        "Name=lx01\n", NULL);
    assert_int_equal(c.roster.classes.n, 3);
    const struct node_class *gpu = &c.roster.classes.list[0];
    assert_string_equal(gpu->name, "gpu");
    assert_int_equal(gpu->nodes.n, 16);
    assert_int_equal(class_severity(gpu, "gpu.driver"), SEVERITY_CRITICAL);
    assert_int_equal(class_severity(gpu, "package.x"), SEVERITY_IGNORE);
    assert_true(gpu->exclude && gpu->reboot);
    assert_string_equal(gpu->params, "quiet ro");
    assert_true(c.roster.classes.list[1].has_spec && c.roster.classes.list[1].spec.sensitive);
    assert_string_equal(c.roster.classes.list[2].name, "default");
    config_fini(&c);
}

static void test_a_class_has_partitions_by_name(void **state)
{
    const char *partitions = "Partition=3 Name=batch\n";
    struct config c =
        config_good(config_with_classes("", "Class=gpu partition=1,batch\n"), "Name=lx01\n", partitions);
    assert_true(partition_has(&c.roster.classes.list[0].spec.partitions, 1));
    assert_true(partition_has(&c.roster.classes.list[0].spec.partitions, 3));
    assert_false(partition_has(&c.roster.classes.list[0].spec.partitions, 0));
    config_fini(&c);
    assert_string_equal(
        config_bad(config_with_classes("", "Class=gpu Partition=bach\n"), "Name=lx01\n", partitions),
        "classes:1: Partition: \"bach\" is neither a number nor a partition; the nearest is "
        "\"batch\"");
}

static void test_bad_classes(void **state)
{
    static const struct {
        const char *text, *why;
    } mistakes[] = {
        {"Class=gpu\nClass=a Nods=lx01\n", "classes:2: unknown key \"Nods\"; the nearest known is \"Nodes\""},
        {"Clas=gpu\n", "classes:1: the record of a node class begins with Class=NAME"},
        {"Nodes=lx01\n", NULL},
        {"Class=gpu\n\nClass=gpu\n", NULL},
        {"Class=gpu Drifted=maybe\n", NULL},
        {"Class=gpu Reboot=3\n", NULL},
        {"Class=gpu Nodes=lx[\n", NULL},
        {"Class=gpu CPUs=two\n", NULL},
        {"Class=gpu Partition=32\n", NULL},
        {"Class=gpu Critical=a,,b\n", NULL},
        {"Class=gpu Class=gpu\n", NULL},
        {"Class=a/b\n", NULL},
        {"gpu\n", NULL},
    };
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        const char *why = config_bad(config_with_classes("", mistakes[i].text), "Name=lx01\n", NULL);
        char line[32];
        snprintf(line, sizeof line, "classes:%d: ", i == 0 ? 2 : strstr(mistakes[i].text, "\n\n") ? 3 : 1);
        if (mistakes[i].why)
            assert_string_equal(why, mistakes[i].why);
        else if (strstr(why, line) != why || strlen(why) < strlen(line) + 10)
            fail_msg("%s of %s", why, mistakes[i].text);
    }
}

static void test_a_class_asks_for_things_that_exist(void **state)
{
    const char *why = config_bad(config_with_classes("", "Class=gpu Reboot=yes\n"), "Name=lx01\n", NULL);
    assert_string_equal(
        why, "classes:1: class \"gpu\" has Reboot=yes, but there is no OpenChamiPCS in fettle.conf");
    why = config_bad(config_with_classes("OpenChamiPCS = http://p\n", "Class=gpu Reboot=yes Initrd=/i\n"),
                     "Name=lx01\n", NULL);
    assert_string_equal(
        why, "classes:1: class \"gpu\" names an image, but there is no OpenChamiBSS in fettle.conf");
}

static void test_the_classes_file_is_wanted(void **state)
{
    const char *why = config_bad("ClassConf = /nonexistent/classes\n", "Name=lx01\n", NULL);
    assert_ptr_equal(strstr(why, "fettle.conf:3: ClassConf: /nonexistent/classes"), why);
}

static void test_names_of_classes_fit_a_frame(void **state)
{
    CLEANUP_TEXT struct text t = {0};
    for (int i = 0; i < 40; i++) { /* each names four files of 250 characters */
        text_printf(&t, "Class=c%d Major=", i);
        for (int k = 0; k < 4; k++)
            text_printf(&t, "%sfile./%0240d", k ? "," : "", 4 * i + k);
        text_add_char(&t, '\n');
    }
    const char *why = config_bad(config_with_classes("", t.s), "Name=lx01\n", NULL);
    assert_string_equal(
        why, "classes: the sysctls and files that the classes name are 39840 bytes together; at most "
             "32768 can be told to the agents");
}

static void test_changed_classes_are_said(void **state)
{
    CLEANUP_TEXT struct text t = {0};
    struct config was = config_good(config_with_classes("", "Class=a\nClass=b Drifted=avoid\nClass=c\n"),
                                    "Name=lx01\n", NULL);
    struct config is = config_good(config_with_classes("", "Class=b Drifted=exclude\nClass=c\nClass=d\n"),
                                   "Name=lx01\n", NULL);
    config_compare(&was, &is, &t);
    assert_string_equal(t.s, "class b changed\nclass d added\nclass a removed\n");
    config_fini(&was);
    was = config_good(config_with_classes("", "Class=d\nClass=b Drifted=exclude\nClass=c\n"), "Name=lx01\n",
                      NULL);
    text_clear(&t);
    config_compare(&was, &is, &t);
    assert_string_equal(t.s, "the classes stand in another order\n");
    text_clear(&t);
    config_compare(&is, &is, &t);
    assert_int_equal(t.len, 0);
    config_fini(&was);
    config_fini(&is);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, config_setup, config_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_classes),
        TEST(test_a_class_has_partitions_by_name),
        TEST(test_bad_classes),
        TEST(test_a_class_asks_for_things_that_exist),
        TEST(test_the_classes_file_is_wanted),
        TEST(test_names_of_classes_fit_a_frame),
        TEST(test_changed_classes_are_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
