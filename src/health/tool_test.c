/* SPDX-License-Identifier: Apache-2.0 */
#include "health/tool.h"

#include <string.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static struct verdict v;

static void said(const char *name, const char *output, const struct tool_end *end)
{
    struct tool_said s = {0};
    assert_true(tool_parse(name, &s.tool));
    tool_read(&s, output, strlen(output));
    tool_end(&s);
    tool_judge(&s, end, &v);
}

static void finds(enum result r, const char *text)
{
    assert_int_equal(v.result, r);
    assert_int_equal(v.n, 1);
    assert_string_equal(v.findings[0].text, text);
}

static const struct tool_end alone = {.teller = true};

static void test_names(void **state)
{
    enum tool t;
    assert_true(tool_parse("dcgm", &t));
    assert_int_equal(t, TOOL_DCGM);
    assert_false(tool_parse("dcgmi", &t));
}

/* A row goes on in the next one when its text fills its cell; a short one has another result below it. */
static void test_rows_that_go_on(void **state)
{
    said("dcgm",
         "| Inforom                   | Fail                                           |\n"
         "|                           | GPU2: Fail                                     |\n"
         "| Warning: GPU2             | 0123456789012345678901234567890123456789012345 |\n"
         "|                           |  6 end                                         |\n"
         "| Memory                    | Pass                                           |\n",
         &alone);
    finds(RESULT_FATAL, "Inforom: Fail; Inforom: GPU2: Fail; Warning: GPU2: "
                        "0123456789012345678901234567890123456789012345 6 end");
    said("dcgm", "| Fail\n| cut off", &alone);
    assert_int_equal(v.result, RESULT_UNKNOWN);
}

/* What is wrong stays wrong however much is said after it, and progress without line feeds is lines, too. */
static void test_long_outputs(void **state)
{
    struct tool_said s = {.tool = TOOL_BURN};
    static const char progress[] = "\r50.0%  proc'd: 1 (1 Gflop/s)   errors: 7  (WARNING!)  temps: 54 C ";
    for (int i = 0; i < 100000; i++)
        tool_read(&s, progress, sizeof progress - 1);
    tool_read(&s, "\n\tGPU 0: OK\n", 12);
    tool_end(&s);
    tool_judge(&s, &alone, &v);
    assert_int_equal(v.result, RESULT_FATAL);
    assert_memory_equal(v.findings[0].text, "wrong result: 50.0% proc'd:", 27);
}

/* Of a dead client and a program that does not fit the driver, the first that was said is the cause. */
static void test_the_first_cause_counts(void **state)
{
    said("gpu-burn", "device kernel image is invalid\nNo clients are alive!  Aborting\n",
         &(struct tool_end){123, false, true, 0});
    assert_int_equal(v.result, RESULT_UNKNOWN);
    said("gpu-burn", "uncorrectable ECC error\nout of memory\n", &(struct tool_end){123, false, true, 0});
    assert_int_equal(v.result, RESULT_FATAL);
    said("gpu-burn", "out of memory\nGPU 0: FAULTY\n", &(struct tool_end){1, false, true, 0});
    assert_int_equal(v.result, RESULT_FATAL);
}

static void test_in_a_group(void **state)
{
    said("perftest", "", &(struct tool_end){.group = true});
    assert_int_equal(v.result, RESULT_OK);
    said("perftest", "", &(struct tool_end){.group = true, .teller = true});
    finds(RESULT_FATAL, "no result: it said nothing");
    said("perftest", "", &(struct tool_end){.status = 1, .group = true});
    finds(RESULT_FATAL, "exit status 1 without a result: it said nothing");
}

static void test_values(void **state)
{
    static const char matrix[] = "Unidirectional P2P=Enabled Bandwidth (P2P Writes) Matrix (GB/s)\n"
                                 "   D\\D     0      1\n     0 5.0 20.7\n     1 19.6 5.0\n"
                                 "Bidirectional P2P=Enabled Bandwidth Matrix (GB/s)\n"
                                 "   D\\D     0      1\n     0 1.0 2.0\n     1 2.0 1.0\n";
    said("cuda-p2p", matrix, &alone);
    assert_string_equal(v.text, "bandwidth 19 GB/s");
    said("cuda-p2p", matrix, &(struct tool_end){.teller = true, .floor_milli = 19600});
    assert_int_equal(v.result, RESULT_OK);
    said("cuda-p2p", matrix, &(struct tool_end){.teller = true, .floor_milli = 20000});
    finds(RESULT_FATAL, "bandwidth 19 GB/s of at least 20");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),        cmocka_unit_test(test_rows_that_go_on),
        cmocka_unit_test(test_long_outputs), cmocka_unit_test(test_the_first_cause_counts),
        cmocka_unit_test(test_in_a_group),   cmocka_unit_test(test_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
