/* SPDX-License-Identifier: Apache-2.0 */
#include "import/import.h"

#include "base/conf.h"
#include "node/spec.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* --- what a file becomes: test/data/import ---------------------------------------------------- */

static int read_disk(void *arg, const char *path, struct text *bytes, struct err *e)
{
    return conf_read_bytes(path, bytes, e);
}

/* The text without the directory of the test, which differs from machine to machine. */
static void add_portable(struct text *out, const char *s)
{
    for (const char *at; (at = strstr(s, TEST_DATA "/")); s = at + strlen(TEST_DATA "/"))
        text_add_bytes(out, s, (size_t)(at - s));
    text_add(out, s);
}

static void expect_file(const char *name, const struct text *is)
{
    CLEANUP_TEXT struct text path = {0}, file = {0}, portable = {0};
    const char *mode = getenv("FETTLE_GOLDEN");
    text_printf(&path, TEST_DATA "/%s", name);
    add_portable(&portable, is->s);
    if (mode && strcmp(mode, "write") == 0) {
        FILE *f = fopen(path.s, "w");
        assert_non_null(f);
        fputs(portable.s, f);
        fclose(f);
    }
    assert_int_equal(conf_read_bytes(path.s, &file, NULL), 0);
    assert_string_equal(portable.s, file.s);
}

/* Every value is one that nodes.conf may have; names of partitions are judged by fettled. */
static void expect_fields(const struct text *nodes)
{
    struct conf c;
    struct spec s;
    struct err e = {0};
    spec_init(&s);
    assert_int_equal(conf_parse("nodes.conf", nodes->s, nodes->len, CONF_RECORDS, &c, &e), 0);
    for (size_t i = 0; i < c.n; i++)
        for (size_t k = 0; k < c.lines[i].n; k++) {
            const struct conf_field *kv = &c.lines[i].fields[k];
            enum field f;
            assert_true(strcmp(kv->key, "Name") == 0 || field_find(kv->key, &f, NULL) == 0);
            if (strcmp(kv->key, "Name") != 0 && f != FIELD_PARTITION)
                assert_int_equal(spec_set(&s, f, kv->value, PARTITION_MAX, &e), 0);
        }
    conf_fini(&c);
    spec_fini(&s);
}

static void play(const char *name)
{
    CLEANUP_TEXT struct text path = {0}, nodes = {0}, partitions = {0};
    struct err e = {0};
    text_printf(&path, TEST_DATA "/%s.conf", name);
    assert_int_equal(import_slurm(path.s, read_disk, NULL, &nodes, &partitions, &e), 0);
    expect_fields(&nodes);
    text_clear(&path);
    text_printf(&path, "%s.nodes", name);
    expect_file(path.s, &nodes);
    text_clear(&path);
    text_printf(&path, "%s.partitions", name);
    expect_file(path.s, &partitions);
}

static void a_usual_cluster(void **state)
{
    play("cluster");
}

static void every_form_that_slurm_reads(void **state)
{
    play("forms");
}

static void amounts_that_slurm_does_not_hold_nodes_to_are_left_out(void **state)
{
    play("overrides");
}

/* --- what is refused --------------------------------------------------------------------------- */

static int read_memory(void *arg, const char *path, struct text *bytes, struct err *e)
{
    if (strcmp(path, "/etc/slurm.conf") != 0 && strcmp(path, "/etc/again") != 0)
        return err_set(e, -ENOENT, "%s: No such file or directory", path);
    text_add(bytes, arg);
    return 0;
}

static int import(const char *conf, struct text *nodes, struct text *partitions, struct err *e)
{
    return import_slurm("/etc/slurm.conf", read_memory, (void *)(uintptr_t)conf, nodes, partitions, e);
}

static void mistakes_that_slurm_refuses_are_refused_with_their_line(void **state)
{
    static const struct {
        const char *conf, *says;
    } cases[] = {
        {"\n# x\nNodeName=a\nNodeName=b[1-2]\nNodeName=b2\n",
         "/etc/slurm.conf:4: node \"b2\" stands on line 5"},
        {"NodeName=a CPUs=two\n", "/etc/slurm.conf:1: CPUs: \"two\" is not a number"},
        {"NodeName=a CPUs=-1\n", "CPUs: \"-1\""},
        {"NodeName=a CPUs=65536\n", "from 0 to 65535"},
        {"NodeName=a RealMemory=1g\n", "RealMemory: \"1g\""},
        {"NodeName=a RealMemory=99999999999999999999\n", "RealMemory"},
        {"NodeName=a loose\n", "there is no KEY=VALUE at \"loose\""},
        {"loose\n", "/etc/slurm.conf:1: there is no KEY=VALUE at \"loose\""},
        {"NodeName=a Features=\n", "no KEY=VALUE at \"Features=\""},
        {"\nInclude nothing\n", "/etc/slurm.conf:2: Include: /etc/nothing: No such file"},
        {"Include %c.conf\n", "no ClusterName stands before"},
        {"Include again\n", "too many files include each other"},
        {"Include again more\n", "there is something behind the file of Include: \"more\""},
        {"PartitionName=\"a\x1b[31m\" Nodes=ALL\n", "PartitionName"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CLEANUP_TEXT struct text nodes = {0}, partitions = {0};
        struct err e = {0};
        int rc = import(cases[i].conf, &nodes, &partitions, &e);
        if (rc >= 0 || !strstr(e.msg, cases[i].says))
            fail_msg("%s: %d, \"%s\"", cases[i].conf, rc, e.msg);
    }
}

static void numbers_are_read_as_slurm_reads_them(void **state)
{
    static const struct {
        const char *keys, *ours;
    } cases[] = {
        {"CPUs=0x10", " CPUs=16"},
        {"CPUs=010", " CPUs=8"},
        {"RealMemory=4k", " RealMemory=4096"},
        {"Sockets=2 CoresPerSocket=32 ThreadsPerCore=2", " CPUs=128"},
        {"Boards=2 SocketsPerBoard=2 CoresPerSocket=8", " CPUs=32"},
        {"CPUs=64 CoresPerSocket=32 ThreadsPerCore=1", " CPUs=64"},
        {"CPUs=64 Sockets=2 CoresPerSocket=32 ThreadsPerCore=2", " CPUs=64"},
        {"CPUs=5 Sockets=2 CoresPerSocket=2", " CPUs=4"}, /* Slurm resets what fits nothing */
        {"Procs=12", " CPUs=12"},
        {"cpus=1 CPUS=2", " CPUs=2"}, /* the last counts, in any case */
        {"CPUs= 8", " CPUs=8"},
        {"CPUs\t=\t8", " CPUs=8"},
        {"State=UNKNOWN", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CLEANUP_TEXT struct text conf = {0}, nodes = {0}, partitions = {0}, want = {0};
        struct err e = {0};
        text_printf(&conf, "NodeName=a %s\n", cases[i].keys);
        assert_int_equal(import(conf.s, &nodes, &partitions, &e), 0);
        text_printf(&want, "\nName=a%s\n", cases[i].ours);
        if (!strstr(nodes.s, want.s))
            fail_msg("%s: %s", cases[i].keys, nodes.s);
    }
}

static void a_list_longer_than_a_value_is_several_records(void **state)
{
    CLEANUP_TEXT struct text conf = {0}, nodes = {0}, partitions = {0};
    struct err e = {0};
    text_add(&conf, "NodeName=a");
    for (int i = 0; i < 900; i++)
        text_printf(&conf, ",n%d", i * 3);
    text_add(&conf, " CPUs=4\n");
    assert_int_equal(import(conf.s, &nodes, &partitions, &e), 0);
    expect_fields(&nodes);
    size_t records = 0;
    for (const char *at = nodes.s; (at = strstr(at, " CPUs=4\n")); at++)
        records++;
    assert_in_range(records, 4, 16);
}

static void more_partitions_than_the_default_need_a_parameter(void **state)
{
    CLEANUP_TEXT struct text conf = {0}, nodes = {0}, partitions = {0};
    struct err e = {0};
    text_add(&conf, "NodeName=a\n");
    for (int i = 0; i < 256; i++)
        text_printf(&conf, "PartitionName=a_partition_with_a_long_name_%d Nodes=ALL\n", i);
    assert_int_equal(import(conf.s, &nodes, &partitions, &e), -E2BIG);
    text_clear(&nodes);
    *strstr(conf.s, "PartitionName=a_partition_with_a_long_name_255") = '\0';
    assert_int_equal(import(conf.s, &nodes, &partitions, &e), 0);
    assert_non_null(strstr(partitions.s, "\n# fettle.conf needs the line: MaxPartition = 255\n"));
    assert_non_null(strstr(nodes.s, "Name=a Partition=1,2,3,")); /* names would be too long for a value */
    expect_fields(&nodes);
}

static void hints_name_the_key_of_fettle(void **state)
{
    CLEANUP_TEXT struct text words = {0};
    assert_true(import_slurm_node_hint("nodename", &words));
    assert_string_equal(words.s, "Slurm's NodeName is Name here");
    text_clear(&words);
    assert_true(import_slurm_node_hint("Weight", &words));
    assert_string_equal(words.s, "Slurm's Weight has no counterpart: it is for Slurm alone");
    text_clear(&words);
    assert_true(import_slurm_partition_hint("PartitionName", &words));
    assert_false(import_slurm_node_hint("MaxTime", &words));
    assert_false(import_slurm_partition_hint("Color", &words));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_usual_cluster),
        cmocka_unit_test(every_form_that_slurm_reads),
        cmocka_unit_test(amounts_that_slurm_does_not_hold_nodes_to_are_left_out),
        cmocka_unit_test(mistakes_that_slurm_refuses_are_refused_with_their_line),
        cmocka_unit_test(numbers_are_read_as_slurm_reads_them),
        cmocka_unit_test(a_list_longer_than_a_value_is_several_records),
        cmocka_unit_test(more_partitions_than_the_default_need_a_parameter),
        cmocka_unit_test(hints_name_the_key_of_fettle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
