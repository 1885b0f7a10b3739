/* SPDX-License-Identifier: Apache-2.0 */
/* The records of NodeSpecConf. */
#include "controller/config/config_fixture_test.h"

#include <string.h>

static void test_default_records(void **state)
{
    struct config c = config_good("",
                                  "Name=lx00\n"
                                  "Name=DEFAULT CPUs=2 Partition=1,3\n"
                                  "Name=lx01\n"
                                  "Name=lx02 CPUs=8 Partition= \n"
                                  "Name=DEFAULT CPUs=4\n"
                                  "Name=lx[03-04]\n"
                                  "Name=DEFAULT CPUs= Partition=\n"
                                  "Name=lx05\n"
                                  "Name=DEFAULT CPUs=99\n",
                                  NULL);
    assert_string_equal(config_show_roster(&c),
                        "lx00; lx01 CPUs=2 Partition=1,3; lx02 CPUs=8 Partition=; "
                        "lx03 CPUs=4 Partition=1,3; lx04 CPUs=4 Partition=1,3; lx05 Partition=");
    assert_true(partition_has(&c.roster.nodes[0].spec.partitions, 0));
    assert_false(partition_has(&c.roster.nodes[5].spec.partitions, 0));
    config_fini(&c);
}

static void test_nodes_keep_their_order(void **state)
{
    struct config c =
        config_good("", "Name=z\n\n# comment\nName=lx[10-11]\nName=a CPUs=1\nName=lx[01-02]\n", NULL);
    assert_string_equal(config_show_roster(&c), "z; lx10; lx11; a CPUs=1; lx01; lx02");
    config_fini(&c);
}

static void test_names_of_others_for_the_nodes(void **state)
{
    struct config c = config_good("",
                                  "Name=DEFAULT Group=7\n"
                                  "Name=lx[01-02] Xname=x0c0s[0-1]b0n0\n"
                                  "Name=lx03 Xname=x9c0s0b0n0 Group=8\n"
                                  "Name=r[1-2]n[1-2] Xname=x[1-2]c0s[1-2]\n"
                                  "Name=lx04 Xname= Group=\n",
                                  NULL);
    assert_string_equal(
        config_show_roster(&c),
        "lx01 Group=7 Xname=x0c0s0b0n0; lx02 Group=7 Xname=x0c0s1b0n0; "
        "lx03 Group=8 Xname=x9c0s0b0n0; r1n1 Group=7 Xname=x1c0s1; r1n2 Group=7 Xname=x1c0s2; "
        "r2n1 Group=7 Xname=x2c0s1; r2n2 Group=7 Xname=x2c0s2; lx04");
    config_fini(&c);
}

static void test_bad_nodes(void **state)
{
    static const struct {
        const char *text, *why;
    } mistakes[] = {
        {"Name=lx01\nName=lx02 CPUs=two\n", "nodes:2: CPUs: \"two\" is not a number from 0 to 1000000000000"},
        {"Name=DEFAULT CPUs=two\n", "nodes:1: CPUs: \"two\" is not a number from 0 to 1000000000000"},
        {"Name=DEFAULT State=IDLE\n", NULL},
        {"Name=lx01 CPU=2\n", "nodes:1: unknown key \"CPU\"; the nearest known is \"CPUs\""},
        {"Name=lx01 Partition=1,32\n", "nodes:1: Partition: \"32\" is not a number from 0 to 31"},
        {"Name=lx01 Partition=1,batch\n",
         "nodes:1: Partition: \"batch\" is neither a number nor a partition of PartitionConf"},
        {"NodeName=lx01 CPUs=2\n", "nodes:1: unknown key \"NodeName\"; Slurm's NodeName is Name here"},
        {"Name=lx01 Sockets=2\n", "nodes:1: unknown key \"Sockets\"; Slurm's Sockets is CPUs here"},
        {"Name=lx01 Weight=2\n",
         "nodes:1: unknown key \"Weight\"; Slurm's Weight has no counterpart: it is for Slurm alone"},
        {"CPUs=2\n", "nodes:1: a record without Name"},
        {"Name= CPUs=2\n", "nodes:1: a record without Name"},
        {"Name=lx[01-03]\nName=lx02\n", "nodes:2: node \"lx02\" is already on line 1"},
        {"Name=-x\n", "nodes:1: \"-x\" is not the name of a node"},
        {"Name=lx[1-3] Xname=x0c0s[0-1]b0n0\n", "nodes:1: Xname has 2 names, Name has 3"},
        {"Name=lx1 Xname=x0,x1\n", "nodes:1: Xname has 2 names, Name has 1"},
        {"Name=lx01 Xname=X0\n",
         "nodes:1: Xname: \"X0\" is not an xname: lower-case letters and digits, as x1000c0s0b0n0"},
        {"Name=lx01 Xname=x0\nName=lx02\nName=lx[03-04] Xname=x[0-1]\n",
         "nodes:3: xname \"x0\" is already on line 1"},
        {"Name=DEFAULT Xname=x0\n", "nodes:1: DEFAULT has an Xname, which belongs to one node"},
        {"Name=lx01 Xname=x[\n", NULL},
        {"Name=lx01 Group=65536\n", "nodes:1: Group: \"65536\" is not a number from 0 to 65535"},
        {"Name=lx01 Groups=1\n", "nodes:1: unknown key \"Groups\"; the nearest known is \"Group\""},
        {"Name=lx[3-1]\n", NULL},
        {"Name=lx01 CPUs=1 CPUs=2\n", NULL},
        {"lx01\n", NULL},
    };
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        const char *why = config_bad("", mistakes[i].text, NULL);
        if (mistakes[i].why)
            assert_string_equal(why, mistakes[i].why);
        else
            assert_ptr_equal(strstr(why, "nodes:1: "), why);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, config_setup, config_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_default_records),
        TEST(test_nodes_keep_their_order),
        TEST(test_names_of_others_for_the_nodes),
        TEST(test_bad_nodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
