/* SPDX-License-Identifier: Apache-2.0 */
/* The records of PartitionConf. */
#include "controller/config/config_fixture_test.h"

#include <string.h>

static void test_partitions(void **state)
{
    struct config c = config_good("DefaultPartition = batch\n", "Name=lx[01-03]\nName=lx04 Partition=5\n",
                                  "Partition=3 Name=batch Nodes=lx[01,04]\nPartition=1 Name=debug\n");
    assert_string_equal(config_show_roster(&c), "lx01 Partition=3; lx02; lx03; lx04 Partition=3,5");
    assert_int_equal(c.roster.n_partitions, 2);
    assert_int_equal(c.roster.partitions[0].number, 1);
    assert_string_equal(c.roster.partitions[1].name, "batch");
    assert_true(c.roster.partitions[1].is_default && !c.roster.partitions[0].is_default);
    config_fini(&c);
    c = config_good("DefaultPartition = 7\n", "Name=lx01\n", NULL);
    assert_int_equal(c.roster.n_partitions, 1);
    assert_true(c.roster.partitions[0].is_default && c.roster.partitions[0].number == 7);
    config_fini(&c);
    c = config_good("", "Name=lx01 Partition=debug,5\nName=DEFAULT Partition=batch\nName=lx02\n",
                    "Partition=3 Name=batch Nodes=lx01\nPartition=1 Name=debug\n");
    assert_string_equal(config_show_roster(&c), "lx01 Partition=1,3,5; lx02 Partition=3");
    config_fini(&c);

    c = config_good("MaxPartition = 200\n", "Name=lx01 Partition=200\n", NULL);
    config_fini(&c);
}

static void test_bad_partitions(void **state)
{
    static const struct {
        const char *text, *why;
    } mistakes[] = {
        {"Partition=32\n", "partitions:1: Partition: \"32\" is not a number from 0 to 31"},
        {"Name=batch\n", "partitions:1: a record without Partition"},
        {"Partition=1\nPartition=1\n", "partitions:2: partition 1 stands twice"},
        {"Partition=1 Name=a\nPartition=2 Name=a\n", "partitions:2: partition a stands twice"},
        {"Partition=1 Name=a,b\n", "partitions:1: Name: \"a,b\" has a comma, which separates names"},
        {"Partition=1 Name=abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuv\n",
         "partitions:1: Name: \"abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuv\" is longer than 47 bytes"},
        {"Partition=1 Nodes=lx09\n", "partitions:1: Nodes: no node \"lx09\" in NodeSpecConf"},
        {"Partition=1 Node=lx01\n", "partitions:1: unknown key \"Node\"; the nearest known is \"Nodes\""},
    };
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++)
        assert_string_equal(config_bad("", "Name=lx01\n", mistakes[i].text), mistakes[i].why);
}

static void test_a_large_partition_is_read_at_once(void **state)
{
    struct config c = config_good("", "Name=n[000001-100000]\n", "Partition=1 Nodes=n[000001-100000]\n");
    assert_true(partition_has(&c.roster.nodes[99999].spec.partitions, 1));
    config_fini(&c);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, config_setup, config_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_partitions),
        TEST(test_bad_partitions),
        TEST(test_a_large_partition_is_read_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
