/* SPDX-License-Identifier: Apache-2.0 */
#include "conform/records_test.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char *class_of(const struct classes *c, const char *name, const char *spec)
{
    struct spec s;
    spec_init(&s);
    CLEANUP_FREE char *copy = mem_dup(spec);
    char *rest = copy;
    for (char *field; *spec && (field = strsep(&rest, " "));) {
        char *value = strchr(field, '=');
        enum field f;
        *value++ = '\0';
        assert_int_equal(field_find(field, &f, NULL), 0);
        assert_int_equal(spec_set(&s, f, value, 7, NULL), 0);
    }
    struct class_index *x = class_index_create(c);
    uint16_t k = classes_match(c, x, name, &s);
    assert_int_equal(k, classes_match(c, NULL, name, &s)); /* the index changes nothing */
    class_index_destroy(x);
    spec_fini(&s);
    return c->list[k].name;
}

static void test_the_first_class_whose_keys_all_match(void **state)
{
    struct classes c = {0};
    class_record_good(&c, "Class=both Nodes=lx[1-4] CPUs=64");
    class_record_good(&c, "Class=name Nodes=lx[1-8]");
    class_record_good(&c, "Class=spec CPUs=64");
    class_record_good(&c, "Class=late Nodes=lx[1-99]");
    classes_finish(&c);
    assert_string_equal(class_of(&c, "lx1", "CPUs=64"), "both");
    assert_string_equal(class_of(&c, "lx1", "CPUs=32"), "name");
    assert_string_equal(class_of(&c, "lx1", ""), "name");
    assert_string_equal(class_of(&c, "lx9", "CPUs=64"), "spec");
    assert_string_equal(class_of(&c, "lx9", ""), "late");
    assert_string_equal(class_of(&c, "lx100", ""), "default");
    assert_string_equal(class_of(&c, "lx", ""), "default");
    classes_fini(&c);
}

static void test_a_class_for_any_node_ends_the_search(void **state)
{
    struct classes c = {0};
    class_record_good(&c, "Class=all");
    class_record_good(&c, "Class=gpu Nodes=lx1");
    classes_finish(&c);
    assert_string_equal(class_of(&c, "lx1", ""), "all");
    classes_fini(&c);
}

static void test_fields_match_by_what_the_node_has(void **state)
{
    struct classes c = {0};
    class_record_good(&c, "Class=no Sensitive=no Group=0 Partition=0 Borrowed=no");
    class_record_good(&c, "Class=parts Partition=1,3");
    class_record_good(&c, "Class=none Partition=");
    class_record_good(&c, "Class=os OS=Linux.6.1 RealMemory=5 VirtualMemory=6 TmpDisk=7 Speed=2.5 Group=4");
    class_record_good(&c, "Class=x Xname=x1c0");
    classes_finish(&c);
    assert_string_equal(class_of(&c, "a", ""), "no");
    assert_string_equal(class_of(&c, "a", "Sensitive=no"), "no");
    assert_string_equal(class_of(&c, "a", "Sensitive=yes"), "default");
    assert_string_equal(class_of(&c, "a", "Borrowed=yes"), "default");
    assert_string_equal(class_of(&c, "a", "Partition=3,1"), "parts");
    assert_string_equal(class_of(&c, "a", "Partition=1"), "default");
    assert_string_equal(class_of(&c, "a", "Partition="), "none");
    const char *all = "OS=Linux.6.1 RealMemory=5 VirtualMemory=6 TmpDisk=7 Speed=2.5 Group=4";
    assert_string_equal(class_of(&c, "a", all), "os");
    for (int i = 0; i < 6; i++) { /* each field alone keeps a node out */
        char other[128];
        snprintf(other, sizeof other, "%s", all);
        char *field = other;
        for (int j = 0; j < i; j++)
            field = strchr(field, ' ') + 1;
        field[strcspn(field, " ") - 1]++;
        assert_string_equal(class_of(&c, "a", other), "default");
    }
    assert_string_equal(class_of(&c, "a", "Group=1 Xname=x1c0"), "x");
    assert_string_equal(class_of(&c, "a", "Group=1 Xname=x1c1"), "default");
    classes_fini(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_first_class_whose_keys_all_match),
        cmocka_unit_test(test_a_class_for_any_node_ends_the_search),
        cmocka_unit_test(test_fields_match_by_what_the_node_has),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
