/* SPDX-License-Identifier: Apache-2.0
 *
 * The commands that choose nodes, for a person or for Slurm: what is asked, and how the answer reads.
 */
#include "cli/run_test.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void a_placement_shows_groups_and_nodes_passed_over(void **state)
{
    run_expect(
        "place -N 64 --policy ml --require-conformance --nodes lx[01-99]",
        "{\"policy\":\"ml\",\"count\":64,\"nodes\":\"lx[01-64]\",\"f9\":0.984,\"score\":0.446,"
        "\"terms\":[{\"name\":\"sameness\",\"fitness\":0.984,\"weight\":0.250},{\"name\":\"topology\","
        "\"fitness\":1.000,\"weight\":0.150},{\"name\":\"soundness\",\"fitness\":0.500,\"weight\":0.100}],"
        "\"groups\":[{\"cohort\":"
        "\"fp_ab\","
        "\"count\":63,\"nodes\":\"lx[01-63]\"},{\"cohort\":null,\"count\":1,\"nodes\":\"lx64\"}],"
        "\"topology_groups\":2,\"passed\":{\"busy\":3,\"drifted\":1}}",
        "GET /v1/place?count=64&policy=ml&nodes=lx%5B01-99%5D&require=yes ",
        "Nodes           lx[01-64]\nCount           64\nPolicy          ml\n"
        "Score           0.446 = sameness 0.984 * 0.250 + topology 1.000 * 0.150 + soundness 0.500 * 0.100\n"
        "Cohort          63 of fp_ab: lx[01-63]\nCohort          1 of no cohort: lx64\n"
        "Topology groups 2\nPassed over     3 busy, 1 drifted\n");
    struct run r = run("place", "/nowhere");
    assert_string_equal(r.error, "how many nodes? -N NUMBER");
    r = run("place -N 0", "/nowhere");
    assert_int_equal(r.status, 2);
}

static void a_placement_that_cannot_be_had_has_its_own_status(void **state)
{
    char sent[4096];
    struct run r = run_with(
        "place -N 64 --require-conformance", 409,
        "{\"error\":{\"code\":\"conformance_mismatch\",\"message\":\"no cohort has 64 nodes that fit\"}}",
        sent);
    assert_int_equal(r.status, 3);
    assert_string_equal(r.error, "no cohort has 64 nodes that fit");
}

static void slurm_gets_text_that_it_takes(void **state)
{
    run_expect(
        "slurm features lx[01-03]",
        "{\"nodes\":[{\"nodes\":\"lx[01-02]\",\"features\":[\"fp_ab\",\"conformant\"],\"weight\":1},"
        "{\"nodes\":\"lx03\",\"features\":[\"fp_cd\",\"drifted\"],\"weight\":900}]}",
        "GET /v1/slurm/features?nodes=lx%5B01-03%5D ",
        "NodeName=lx[01-02] AvailableFeatures=fp_ab,conformant ActiveFeatures=fp_ab,conformant Weight=1\n"
        "NodeName=lx03 AvailableFeatures=fp_cd,drifted ActiveFeatures=fp_cd,drifted Weight=900\n");
    run_expect("slurm constraint -N 64", "{\"constraint\":\"[fp_ab|fp_cd]\",\"count\":64}",
               "GET /v1/slurm/constraint?count=64 ", "[fp_ab|fp_cd]\n");
}

static void test_a_number_of_nodes_has_two_ends(void **state)
{
    static const struct run_wrong cases[] = {
        {"place -N 0", "-N: \"0\" is not a number from 1 to 1000000"},
        {"place -N 1000001", "-N: \"1000001\" is not a number from 1 to 1000000"},
        {"slurm constraint", "how many nodes? -N NUMBER"},
        {"slurm constraint -N x", "-N: \"x\" is not a number from 1 to 1000000"},
        {"place -N", "--count needs its NUMBER"},
        {"slurm features lx1!lx1", "\"lx1!lx1\" names no node"},
        {"place -N 1 --nodes lx1!lx1", "\"lx1!lx1\" names no node"},
    };
    run_expect_wrong(cases, sizeof cases / sizeof cases[0]);
    run_expect("place -N 1000000", "{\"nodes\":\"lx1\",\"score\":0.5,\"topology_groups\":0}",
               "GET /v1/place?count=1000000 ", "Nodes           lx1\nScore           0.5\n");
}

static void test_programs_get_the_answer_as_it_is(void **state)
{
    run_expect("place -N 1 --json", "{\"nodes\":\"lx1\"}", "GET /v1/place?count=1 ", "{\"nodes\":\"lx1\"}\n");
    run_expect("place -N 1 -o yaml", "{\"nodes\":\"lx1\"}", "GET /v1/place?count=1 ", "---\nnodes: lx1\n");
    run_expect("slurm features --json", "{\"nodes\":[]}", "GET /v1/slurm/features ", "{\"nodes\":[]}\n");
    run_expect("slurm constraint -N 1 --json", "{\"constraint\":\"a\"}", "GET /v1/slurm/constraint?count=1 ",
               "{\"constraint\":\"a\"}\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_placement_shows_groups_and_nodes_passed_over),
        cmocka_unit_test(a_placement_that_cannot_be_had_has_its_own_status),
        cmocka_unit_test(slurm_gets_text_that_it_takes),
        cmocka_unit_test(test_a_number_of_nodes_has_two_ends),
        cmocka_unit_test(test_programs_get_the_answer_as_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
