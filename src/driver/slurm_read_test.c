/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/slurm_read.h"

#include "base/text.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define C1 "NodeName=c1 Arch=x86_64 CPUAlloc=0 OS=Linux 6.1 #1 SMP  State="
#define REST " ThreadsPerCore=1 Partitions=all  BootTime=None ExtSensorsTemp=n/s"

static void state_is(const char *text, bool known, enum slurm_base base, unsigned flags)
{
    struct slurm_state s = slurm_read_state(text);
    if (s.known != known || s.base != base || s.flags != flags)
        print_error("%s: known %d, base %u, flags %u\n", text, s.known, s.base, s.flags);
    assert_true(s.known == known && s.base == base && s.flags == flags);
}

static void test_states(void **state)
{
    state_is("IDLE", true, SLURM_IDLE, 0);
    state_is("IDLE+DRAIN", true, SLURM_IDLE, SLURM_DRAIN);
    state_is("MIXED+DRAIN+COMPLETING", true, SLURM_MIXED, SLURM_DRAIN | SLURM_COMPLETING);
    state_is("DOWN*+DRAIN", true, SLURM_DOWN, SLURM_SILENT | SLURM_DRAIN);
    state_is("DOWN+DRAIN+NOT_RESPONDING", true, SLURM_DOWN, SLURM_SILENT | SLURM_DRAIN);
    state_is("ALLOCATED+MAINTENANCE+RESERVED", true, SLURM_ALLOCATED, SLURM_RESERVED);
    state_is("IDLE+PLANNED", true, SLURM_IDLE, 0);
    state_is("DOWN+DRAIN+REBOOT_ISSUED", true, SLURM_DOWN, SLURM_DRAIN | SLURM_REBOOT);
    state_is("IDLE+CLOUD+POWERED_DOWN", true, SLURM_IDLE, SLURM_POWER);
    state_is("IDLE#", true, SLURM_IDLE, SLURM_POWER);
    state_is("MIXED@", true, SLURM_MIXED, SLURM_REBOOT);
    state_is("UNKNOWN*", true, SLURM_UNKNOWN, SLURM_SILENT);
    state_is("FUTURE", true, SLURM_FUTURE, 0);
    state_is("DOWN+INVALID_REG", true, SLURM_DOWN, 0);
}

static void test_a_word_that_is_not_known_makes_the_state_so(void **state)
{
    static const char *const texts[] = {
        "",     "LEVITATING", "IDLE+LEVITATING", "IDLE+",      "+DRAIN",      "DRAIN+IDLE",   "IDLE+IDLE",
        "idle", "IDLE&",      "IDLE+DRAIN+",     "IDLE DRAIN", "IDLE++DRAIN", "IDLE+DRAINED", "POWERED"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        state_is(texts[i], false, SLURM_UNKNOWN, 0);
}

static void one_node(const char *text, const char *expected)
{
    CLEANUP_FREE char *copy = mem_dup(text);
    CLEANUP_TEXT struct text is = {0};
    struct slurm_lines l;
    assert_int_equal(slurm_read_nodes(copy, strlen(copy), &l, NULL), 0);
    for (size_t i = 0; i < l.n; i++)
        text_printf(&is, "%s%s|%s|%s|%s|%s", i ? "; " : "", l.lines[i].name, l.lines[i].state_text,
                    l.lines[i].state.known ? "known" : "?", l.lines[i].reason, l.lines[i].by);
    slurm_lines_fini(&l);
    assert_string_equal(is.s, expected);
}

static void test_nodes(void **state)
{
    one_node(C1 "IDLE" REST "\n", "c1|IDLE|known||");
    one_node(C1 "IDLE" REST "\nNodeName=c2 State=DOWN*\n\n", "c1|IDLE|known||; c2|DOWN*|known||");
    one_node(C1 "IDLE+DRAIN" REST " Reason=new memory, Ann [ann@2026-11-21T22:31:19]\n",
             "c1|IDLE+DRAIN|known|new memory, Ann|ann");
    one_node(C1 "IDLE+DRAIN" REST " Reason=a [b] c [root@2026-11-21T22:31:19] Comment=x Reason=y Extra=z\n",
             "c1|IDLE+DRAIN|known|a [b] c|root");
    one_node(C1 "IDLE" REST " Reason=without a time Comment=x\n", "c1|IDLE|known|without a time|");
    /* A comment that looks like a node, and a reason that had a line's end in it. */
    one_node(C1 "IDLE" REST " Comment=a State=DOWN Extra=x\n", "c1|IDLE|known||");
    one_node(C1 "IDLE+DRAIN" REST " Reason=a [root@2026-11-21T22:33:56]        b\n",
             "c1|IDLE+DRAIN|known|a|root");
    /* What people write may have several lines; where it looks like a node, that one is there twice. */
    one_node(C1 "IDLE" REST " Comment=a\nb State=DOWN\n\nc\nNodeName=c2 State=IDLE\n",
             "c1|IDLE|known||; c2|IDLE|known||");
    one_node(C1 "IDLE" REST " Extra={\n}\n", "c1|IDLE|known||");
    one_node(C1 "IDLE" REST " Comment=a\nNodeName=c2 State=DOWN\nNodeName=c2 State=IDLE\n",
             "c1|IDLE|known||; c2|DOWN|?||; c2|IDLE|?||");
}

static void test_a_node_that_stands_there_twice_is_unknown(void **state)
{
    one_node("NodeName=c1 State=IDLE\nNodeName=c2 State=IDLE\nNodeName=c1 State=DOWN\n",
             "c1|IDLE|?||; c2|IDLE|known||; c1|DOWN|?||");
    one_node("NodeName=c1 State=IDLE OS=x State=DOWN Reason=y\n", "c1|IDLE|?|y|");
}

static void test_no_answer(void **state)
{
    static const char *const texts[] = {
        "",
        "\n",
        "NodeName=c1 State=IDLE",
        "NodeName=c1 State=IDLE\nNodeName=c2 Sta",
        "slurm_load_node error: Unable to contact slurm controller\n",
        "NodeName=c1\n",
        "NodeName= State=IDLE\n",
        "NodeName=c1 State=IDLE\n   Arch=x86_64\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        CLEANUP_FREE char *copy = mem_dup(texts[i]);
        struct slurm_lines l;
        struct err e = {0};
        assert_int_equal(slurm_read_nodes(copy, strlen(copy), &l, &e), -71);
        assert_true(e.msg[0] && !l.lines);
    }
    char zero[] = "NodeName=c1\0State=IDLE\n";
    struct slurm_lines l;
    assert_int_equal(slurm_read_nodes(zero, sizeof zero - 1, &l, NULL), -71);
}

static void test_a_node_that_is_not_found(void **state)
{
    static const char said[] = "NodeName=c1 State=IDLE\n\nNode c3 not found\nNode c10 not found\n";
    assert_true(slurm_says_not_found(said, "c3") && slurm_says_not_found(said, "c10"));
    assert_false(slurm_says_not_found(said, "c1") || slurm_says_not_found(said, "c"));
    assert_true(slurm_says_not_found("Node c3 not found\n", "c3"));
    assert_false(slurm_says_not_found("Node c3 not found", "c3")); /* cut off */
    assert_false(slurm_says_not_found("x Node c3 not found\n", "c3"));
    assert_false(slurm_says_not_found("", "c3"));
}

static void test_reservations(void **state)
{
    char text[] = "ReservationName=suspicious-node-c2 StartTime=2026 Nodes=c2 NodeCnt=1 Features=(null) "
                  "Flags=MAINT,IGNORE_JOBS,SPEC_NODES TRES=cpu=2 Users=root Groups=(null) State=ACTIVE\n"
                  "ReservationName=other Comment=a\nState=b\n";
    struct slurm_reservations r;
    assert_int_equal(slurm_read_reservations(text, sizeof text - 1, &r, NULL), 0);
    assert_int_equal(r.n, 2);
    assert_string_equal(r.list[0].name, "suspicious-node-c2");
    assert_string_equal(r.list[0].nodes, "c2");
    assert_string_equal(r.list[0].users, "root");
    assert_true(text_has_word(r.list[0].flags, ',', "MAINT") &&
                text_has_word(r.list[0].flags, ',', "SPEC_NODES"));
    assert_false(text_has_word(r.list[0].flags, ',', "SPEC") || text_has_word("", ',', "MAINT"));
    assert_string_equal(r.list[0].state, "ACTIVE");
    assert_string_equal(r.list[1].state, "");
    assert_string_equal(r.list[1].name, "other");
    assert_string_equal(r.list[1].nodes, "");
    slurm_reservations_fini(&r);
    char none[] = "No reservations in the system\n", half[] = "ReservationName=x", noise[] = "x\n",
         empty[] = "";
    assert_int_equal(slurm_read_reservations(none, sizeof none - 1, &r, NULL), 0);
    assert_int_equal(r.n, 0);
    assert_int_equal(slurm_read_reservations(half, sizeof half - 1, &r, NULL), -71);
    assert_int_equal(slurm_read_reservations(noise, sizeof noise - 1, &r, NULL), -71);
    assert_int_equal(slurm_read_reservations(empty, 0, &r, NULL), -71);
}

static void test_the_start_of_slurmctld(void **state)
{
    char boot[SLURM_BOOT_BYTES];
    static const char good[] =
        "Configuration data as of 2026\nBOOT_TIME               = 2026-11-21T22:31:18\nX = y\n";
    assert_int_equal(slurm_read_boot(good, sizeof good - 1, boot, NULL), 0);
    assert_string_equal(boot, "2026-11-21T22:31:18");
    assert_int_equal(slurm_read_boot("X = y\n", 6, boot, NULL), -71);
    assert_int_equal(slurm_read_boot("BOOT_TIME = \n", 13, boot, NULL), -71);
    assert_int_equal(slurm_read_boot("", 0, boot, NULL), -71);
}

static void test_jobs(void **state)
{
    static const char *const bad[] = {"4711 ann c1",
                                      "4711\n",
                                      "4711 ann\n",
                                      "x ann c1\n",
                                      " 4711 ann c1\n",
                                      "4711 ann \n",
                                      "4711 ann bob c1\n",
                                      "4711 ann c[\n",
                                      "12345678901 ann c1\n",
                                      "\n",
                                      "slurm_load_jobs error: down\n"};
    struct slurm_jobs jobs;
    struct err e;
    assert_int_equal(slurm_read_jobs("", &jobs, &e), 0);
    assert_int_equal(jobs.n, 0);
    assert_int_equal(slurm_read_jobs("4711 ann c1\n4712 b.o-b c[1,3]\n", &jobs, &e), 0);
    assert_int_equal(jobs.n, 2);
    assert_string_equal(jobs.list[0].id, "4711");
    assert_string_equal(jobs.list[1].user, "b.o-b");
    assert_int_equal(jobs.list[1].nodes.n, 2);
    assert_string_equal(jobs.list[1].nodes.names[1], "c3");
    slurm_jobs_fini(&jobs);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(slurm_read_jobs(bad[i], &jobs, &e), -EPROTO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_states),
        cmocka_unit_test(test_a_word_that_is_not_known_makes_the_state_so),
        cmocka_unit_test(test_nodes),
        cmocka_unit_test(test_a_node_that_stands_there_twice_is_unknown),
        cmocka_unit_test(test_no_answer),
        cmocka_unit_test(test_a_node_that_is_not_found),
        cmocka_unit_test(test_reservations),
        cmocka_unit_test(test_the_start_of_slurmctld),
        cmocka_unit_test(test_jobs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
