/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"
#include "place/place.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_policies_have_names(void **state)
{
    enum place_policy p;
    struct err e = {0};
    for (int i = 0; i < PLACE_POLICIES; i++) {
        assert_int_equal(place_policy_parse(place_policy_name((enum place_policy)i), &p, NULL), 0);
        assert_int_equal(p, i);
    }
    assert_int_equal(place_policy_parse("HPC", &p, &e), -EINVAL);
    assert_string_equal(e.msg, "no policy \"HPC\"; there are hpc, ml, service, sensitive, interactive");
}

static void test_reasons_have_names(void **state)
{
    assert_string_equal(place_pass_name(PASS_ELSEWHERE), "held_elsewhere");
    assert_string_equal(place_pass_name(PASS_NONE), "not_needed");
    assert_string_equal(place_pass_what(PASS_BUSY), "work runs on the node");
}

static void test_terms_have_names(void **state)
{
    for (int t = 0; t < PLACE_TERMS; t++) {
        assert_true(*place_term_name((enum place_term)t));
        for (int other = 0; other < t; other++)
            assert_string_not_equal(place_term_name((enum place_term)t),
                                    place_term_name((enum place_term)other));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_policies_have_names),
        cmocka_unit_test(test_reasons_have_names),
        cmocka_unit_test(test_terms_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
