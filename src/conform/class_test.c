/* SPDX-License-Identifier: Apache-2.0 */
#include "conform/records_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void refused(const char *record, const char *sentence)
{
    struct classes c = {0};
    struct err e = {0};
    class_record_good(&c, "Class=first Nodes=lx1");
    int rc = class_record_add(&c, record, &e);
    if (rc != -EINVAL || !strstr(e.msg, sentence))
        fail_msg("%s: %d \"%s\"", record, rc, e.msg);
    assert_int_equal(c.n, 1);
    classes_fini(&c);
}

static enum severity severity_in(const char *record, const char *component)
{
    struct classes c = {0};
    class_record_good(&c, record);
    enum severity s = class_severity(&c.list[0], component);
    classes_fini(&c);
    return s;
}

static void test_severities_have_names(void **state)
{
    enum severity s;
    for (int i = 0; i < SEVERITIES; i++) {
        assert_true(severity_parse(severity_name((enum severity)i), &s));
        assert_int_equal(s, i);
    }
    assert_string_equal(severity_name(SEVERITY_IGNORE), "ignore");
    assert_false(severity_parse("Major", &s));
    assert_false(severity_parse("", &s));
}

static void test_severities_that_a_class_leaves_out_are_those_of_the_table(void **state)
{
    assert_int_equal(severity_in("Class=a", "kernel.release"), SEVERITY_MAJOR);
    assert_int_equal(severity_in("Class=a", "sysctl.vm.swappiness"), SEVERITY_MINOR);
    assert_int_equal(severity_in("Class=a", "anything"), SEVERITY_MINOR);
    assert_int_equal(severity_in("Class=a", "kernel"), SEVERITY_MINOR);
    assert_int_equal(severity_in("Class=a", "gpu.0000:3b:00.0.vbios"), SEVERITY_MAJOR);
}

static void test_the_class_speaks_before_the_table(void **state)
{
    /* shorter than the table's "kernel.*", and still the class's */
    assert_int_equal(severity_in("Class=a Ignore=*", "kernel.release"), SEVERITY_IGNORE);
    assert_int_equal(severity_in("Class=a Critical=k*", "kernel.release"), SEVERITY_CRITICAL);
    assert_int_equal(severity_in("Class=a Critical=k*", "cpu.model"), SEVERITY_MAJOR);
}

static void test_the_longest_pattern_wins(void **state)
{
    const char *record = "Class=a Critical=gpu.*.vbios Minor=gpu.* Ignore=gpu.*.mig,*,gpu.0.vbios";
    assert_int_equal(severity_in(record, "gpu.1.vbios"), SEVERITY_CRITICAL);
    assert_int_equal(severity_in(record, "gpu.0.vbios"), SEVERITY_IGNORE);
    assert_int_equal(severity_in(record, "gpu.1.ecc"), SEVERITY_MINOR);
    assert_int_equal(severity_in(record, "gpu.1.mig"), SEVERITY_IGNORE);
    assert_int_equal(severity_in(record, "cpu.count"), SEVERITY_IGNORE);
    /* stars are no length */
    assert_int_equal(severity_in("Class=a Critical=g*pu.*x Ignore=*g*p*u*.**", "gpu.x"), SEVERITY_CRITICAL);
}

static void test_among_equally_long_patterns_the_more_severe_wins(void **state)
{
    assert_int_equal(severity_in("Class=a Ignore=ab* Major=*bc", "abc"), SEVERITY_MAJOR);
    assert_int_equal(severity_in("Class=a Major=*bc Ignore=ab*", "abc"), SEVERITY_MAJOR);
    assert_int_equal(severity_in("Class=a Minor=abc Critical=abc Ignore=abc", "abc"), SEVERITY_CRITICAL);
}

static void test_a_star_is_any_run(void **state)
{
    const struct {
        const char *pattern, *name;
        bool matches;
    } cases[] = {
        {"*", "a", true},           {"a*", "a", true},
        {"*a", "a", true},          {"a*b", "ab", true},
        {"a*b", "axxb", true},      {"a*b", "axxbc", false},
        {"a*b*c", "abbc", true},    {"*ab", "aab", true},
        {"*ab*ab", "ab", false},    {"a", "aa", false},
        {"aa", "a", false},         {"a**b", "ab", true},
        {"a.*.c", "a.b.b.c", true}, {"*.*", "ab", false},
        {"a*a*a", "aaaa", true},    {"*abc*abd", "abcabcabd", true},
        {"a?", "ab", false},        {"[a]", "a", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char record[64];
        snprintf(record, sizeof record, "Class=x Critical=%s", cases[i].pattern);
        bool matches = severity_in(record, cases[i].name) == SEVERITY_CRITICAL;
        if (matches != cases[i].matches)
            fail_msg("%s against %s", cases[i].pattern, cases[i].name);
    }
}

/* "gpu.*" unknown hides all GPUs: it must not be ignored while one of their components counts. */
static void test_an_unknown_prefix_is_as_severe_as_anything_below_it(void **state)
{
    assert_int_equal(severity_in("Class=a", "gpu.*"), SEVERITY_MAJOR);
    assert_int_equal(severity_in("Class=a Ignore=gpu.*", "gpu.*"), SEVERITY_IGNORE);
    assert_int_equal(severity_in("Class=a Ignore=* Critical=gpu.count", "gpu.*"), SEVERITY_CRITICAL);
    assert_int_equal(severity_in("Class=a Ignore=gpu.* Minor=*.vbios", "gpu.*"), SEVERITY_MINOR);
    assert_int_equal(severity_in("Class=a Ignore=gpu.* Minor=gpu.*.*.x", "gpu.0.*"), SEVERITY_MINOR);
    assert_int_equal(severity_in("Class=a Critical=gpu.0.vbios", "gpu.0.*"), SEVERITY_CRITICAL);
    /* what is weaker, or elsewhere, has no say */
    assert_int_equal(severity_in("Class=a Ignore=gpu.* Critical=g*", "gpu.*"), SEVERITY_IGNORE);
    assert_int_equal(severity_in("Class=a Ignore=gpu.* Critical=gpus.*,nic.count,gp", "gpu.*"),
                     SEVERITY_IGNORE);
    assert_int_equal(severity_in("Class=a Ignore=*", "gpu.*"), SEVERITY_IGNORE);
}

static void test_a_record_says_everything_of_a_class(void **state)
{
    struct classes c = {0};
    class_record_good(
        &c, "class=gpu Nodes=lx[01-04] CPUs=64 Sensitive=yes Critical=gpu.* Ignore=package.*,module.zfs "
            "Drifted=exclude Reboot=yes Kernel=http://h/vmlinuz Initrd=http://h/initrd Params=quiet "
            "LostWork=Requeue ProvisionNew=no ProvisionDeadline=90m");
    const struct node_class *k = &c.list[0];
    assert_string_equal(k->name, "gpu");
    assert_int_equal(k->nodes.n, 4);
    assert_true(k->has_spec);
    assert_int_equal(k->spec.cpus, 64);
    assert_true(k->spec.sensitive);
    assert_int_equal(k->n_rules, 3);
    assert_true(k->exclude);
    assert_int_equal(k->lost_work, LOST_WORK_REQUEUE);
    assert_false(class_provisions(k, true));
    assert_int_equal(class_provision_deadline(k, span_s(1800)).ns, span_s(5400).ns);
    assert_true(k->reboot);
    assert_string_equal(k->kernel, "http://h/vmlinuz");
    assert_string_equal(k->initrd, "http://h/initrd");
    assert_string_equal(k->params, "quiet");
    class_record_good(&c, "Class=plain");
    k = &c.list[1];
    assert_false(k->has_spec || k->exclude || k->reboot || k->lost_work);
    assert_null(k->kernel);
    assert_true(class_provisions(k, true)); /* without a word of its own, as all classes */
    assert_false(class_provisions(k, false));
    assert_int_equal(class_provision_deadline(k, span_s(1800)).ns, span_s(1800).ns);
    class_record_good(&c, "Class=batch ProvisionNew=yes");
    assert_true(class_provisions(&c.list[2], false));
    classes_fini(&c);
}

static void test_a_bad_key_is_named_with_the_nearest(void **state)
{
    refused("Class=a Critcal=x", "unknown key \"Critcal\"; the nearest known is \"Critical\"");
    refused("Class=a CPU=4", "unknown key \"CPU\"; the nearest known is \"CPUs\"");
    refused("Class=a Qwertyuiop=4", "unknown key \"Qwertyuiop\"");
    refused("Class=a Name=lx1", "unknown key \"Name\"; the nearest known is");
    refused("Class=a Lifecycle=down", "unknown key \"Lifecycle\"");
}

static void test_a_bad_value_is_named_with_its_key(void **state)
{
    refused("Class=a/b", "Class: \"a/b\" is no name of a class");
    refused("Class=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "at most 63");
    refused("Class=", "Class: the value is empty");
    refused("Class=a Nodes=lx[1-", "Nodes: ");
    refused("Class=a Nodes=lx1!lx1", "Nodes: \"lx1!lx1\" names no node");
    refused("Class=a CPUs=four", "CPUs: ");
    refused("Class=a CPUs=", "CPUs: the value is empty");
    refused("Class=a Partition=8", "Partition: ");
    refused("Class=a Critical=a,,b", "Critical: a pattern is empty");
    refused("Class=a Ignore=a\"b", "Ignore: \"a\"b\" matches no component");
    refused("Class=a Ignore=caf\xc3\xa9", "matches no component");
    refused("Class=a LostWork=kill", "LostWork: \"kill\" is none of wait, requeue and cancel");
    refused("Class=a Drifted=shun", "Drifted: \"shun\" is neither avoid nor exclude");
    refused("Class=a ProvisionNew=perhaps", "ProvisionNew: \"perhaps\" is neither yes nor no");
    refused("Class=a ProvisionDeadline=soon", "ProvisionDeadline: ");
    refused("Class=a ProvisionDeadline=0", "ProvisionDeadline: 0 s is not from 1 s to 604800 s");
    refused("Class=a ProvisionDeadline=8d", "ProvisionDeadline: 691200 s is not from 1 s to 604800 s");
    refused("Class=a Reboot=maybe", "Reboot: \"maybe\" is neither yes nor no");
    refused("Class=a Params=\xff", "Params: not UTF-8 at byte 0");
    refused("Class=a Kernel=", "Kernel: the value is empty");
}

static void test_a_record_begins_with_its_class_and_has_a_key_once(void **state)
{
    refused("Nodes=lx1 Class=a", "begins with Class=NAME");
    refused("Class=a Minor=x minor=y", "minor stands twice");
    struct classes c = {0};
    assert_int_equal(classes_add(&c, NULL, 0, 0, NULL), -EINVAL);
}

static void test_a_class_that_is_there_is_refused(void **state)
{
    struct classes c = {0};
    struct err e = {0};
    class_record_good(&c, "Class=a Nodes=lx1");
    assert_int_equal(class_record_add(&c, "Class=a Nodes=lx2", &e), -EEXIST);
    assert_string_equal(e.msg, "class \"a\" is there already");
    assert_int_equal(c.n, 1);
    classes_fini(&c);
}

static void test_a_long_pattern_is_refused(void **state)
{
    char record[400] = "Class=a Ignore=";
    memset(record + 15, 'p', 256);
    refused(record, "has 256 bytes; 255 are allowed");
}

static void test_patterns_have_a_limit(void **state)
{
    CLEANUP_TEXT struct text t = {0};
    text_add(&t, "Class=a Minor=x");
    for (int i = 1; i < CLASS_PATTERNS_MAX; i++)
        text_add(&t, ",x");
    struct classes c = {0};
    class_record_good(&c, t.s);
    classes_fini(&c);
    text_add(&t, " Major=y");
    refused(t.s, "Major: a class has 1024 patterns at most");
}

static void test_classes_have_a_limit(void **state)
{
    struct classes c = {0};
    struct err e = {0};
    char record[32];
    for (int i = 0; i < CLASSES_MAX - 1; i++) {
        snprintf(record, sizeof record, "Class=c%d Nodes=n%d", i, i);
        class_record_good(&c, record);
    }
    assert_int_equal(class_record_add(&c, "Class=more", &e), -EINVAL);
    assert_string_equal(e.msg,
                        "class \"more\" is one too many; with the class default there are 256 at most");
    class_record_good(&c, "Class=default Minor=x"); /* was counted already */
    classes_finish(&c);
    assert_int_equal(c.n, CLASSES_MAX);
    classes_fini(&c);
}

static void test_named_nodes_have_a_limit(void **state)
{
    struct classes c = {0};
    struct err e = {0};
    for (int i = 0; i < 4; i++) {
        char record[64];
        snprintf(record, sizeof record, "Class=c%d Nodes=n[0-262143]", i);
        class_record_good(&c, record);
    }
    assert_int_equal(class_record_add(&c, "Class=more Nodes=x", &e), -EINVAL);
    assert_non_null(strstr(e.msg, "1048577 nodes; 1048576 are allowed"));
    classes_fini(&c);
}

static void test_the_default_class_is_last_and_says_no_nodes(void **state)
{
    struct classes c = {0};
    class_record_good(&c, "Class=default Ignore=package.*");
    class_record_good(&c, "Class=gpu Nodes=lx1");
    classes_finish(&c);
    assert_int_equal(c.n, 2);
    assert_string_equal(c.list[0].name, "gpu");
    assert_string_equal(c.list[1].name, "default");
    assert_int_equal(class_severity(&c.list[1], "package.x"), SEVERITY_IGNORE);
    classes_fini(&c);
    classes_finish(&c);
    assert_int_equal(c.n, 1);
    assert_string_equal(c.list[0].name, "default");
    classes_fini(&c);
    refused("Class=default Nodes=lx1", "class default has all nodes that no other class has");
    refused("Class=default CPUs=4", "CPUs: class default has all nodes");
}

static void test_the_keys_can_be_listed(void **state)
{
    const char *keys[64];
    size_t n = classes_keys(keys, 64);
    assert_string_equal(keys[0], "Class");
    bool cpus = false, lifecycle = false;
    for (size_t i = 0; i < n; i++) {
        cpus = cpus || strcmp(keys[i], "CPUs") == 0;
        lifecycle = lifecycle || strcmp(keys[i], "Lifecycle") == 0;
    }
    assert_true(cpus && !lifecycle);
    assert_int_equal(classes_keys(keys, 3), 3);
}

static void test_a_class_that_is_not_there_is_answered_with_the_nearest(void **state)
{
    struct classes c = {0};
    struct err e = {0};
    uint16_t k = 0;
    class_record_good(&c, "Class=a");
    class_record_good(&c, "Class=compute");
    classes_finish(&c);
    assert_int_equal(classes_find(&c, "compute", &k, &e), 0);
    assert_int_equal(k, 1);
    assert_int_equal(classes_find(&c, "compuet", &k, &e), -ENOENT);
    assert_string_equal(e.msg, "no class \"compuet\"; the nearest is \"compute\"");
    classes_fini(&c);
}

static void gather(void *arg, const char *component)
{
    text_printf(arg, "%s ", component);
}

static void test_sysctls_and_files_that_classes_name(void **state)
{
    struct classes c = {0};
    CLEANUP_TEXT struct text t = {0};
    class_record_good(
        &c, "Class=a Critical=sysctl.vm.swappiness,file./etc/hosts,sysctl.net.* Major=kernel.release");
    class_record_good(&c, "Class=b Minor=file./etc/hosts,file./a*,command.x Ignore=file./etc/motd");
    classes_finish(&c);
    classes_named(&c, gather, &t);
    assert_string_equal(t.s, "file./etc/hosts sysctl.vm.swappiness ");
    classes_fini(&c);
    text_clear(&t);
    classes_finish(&c);
    classes_named(&c, gather, &t);
    assert_string_equal(t.s, "");
    classes_fini(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_severities_have_names),
        cmocka_unit_test(test_severities_that_a_class_leaves_out_are_those_of_the_table),
        cmocka_unit_test(test_the_class_speaks_before_the_table),
        cmocka_unit_test(test_the_longest_pattern_wins),
        cmocka_unit_test(test_among_equally_long_patterns_the_more_severe_wins),
        cmocka_unit_test(test_a_star_is_any_run),
        cmocka_unit_test(test_an_unknown_prefix_is_as_severe_as_anything_below_it),
        cmocka_unit_test(test_a_record_says_everything_of_a_class),
        cmocka_unit_test(test_a_bad_key_is_named_with_the_nearest),
        cmocka_unit_test(test_a_bad_value_is_named_with_its_key),
        cmocka_unit_test(test_a_record_begins_with_its_class_and_has_a_key_once),
        cmocka_unit_test(test_a_class_that_is_there_is_refused),
        cmocka_unit_test(test_a_long_pattern_is_refused),
        cmocka_unit_test(test_patterns_have_a_limit),
        cmocka_unit_test(test_classes_have_a_limit),
        cmocka_unit_test(test_named_nodes_have_a_limit),
        cmocka_unit_test(test_the_default_class_is_last_and_says_no_nodes),
        cmocka_unit_test(test_the_keys_can_be_listed),
        cmocka_unit_test(test_a_class_that_is_not_there_is_answered_with_the_nearest),
        cmocka_unit_test(test_sysctls_and_files_that_classes_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
