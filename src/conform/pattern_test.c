/* SPDX-License-Identifier: Apache-2.0 */
#include "conform/pattern.h"

#include "base/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void test_a_star_stands_for_any_characters(void **state)
{
    assert_true(pattern_matches("package.*", "package."));
    assert_true(pattern_matches("*", ""));
    assert_true(pattern_matches("*.firmware", "nic.mlx5_0.firmware"));
    assert_true(pattern_matches("a*b*c", "a-b-b-c"));
    assert_false(pattern_matches("a*b*c", "a-b-b-d"));
    assert_false(pattern_matches("package", "package.a"));
    assert_true(pattern_matches("a*c", "abbc"));
    assert_true(pattern_matches("a*b*c", "aXbXbXc"));
    assert_false(pattern_matches("a*b", "abc"));
    assert_false(pattern_matches("", "a"));
}

static void test_no_other_character_stands_for_another(void **state)
{
    assert_true(pattern_matches("a?[x]", "a?[x]"));
    assert_false(pattern_matches("a?", "ab"));
}

static void note(void *arg, size_t number)
{
    ((bool *)arg)[number] = true;
}

/* Letters so few that patterns and names meet often. */
static void draw(char *out, size_t size, const char *letters, unsigned *seed)
{
    size_t n = (size_t)rand_r(seed) % size;
    for (size_t i = 0; i < n; i++)
        out[i] = letters[(size_t)rand_r(seed) % strlen(letters)];
    out[n] = '\0';
}

static void test_those_that_match_are_found_among_many(void **state)
{
    enum { PATTERNS = 300, NAMES = 3000 };
    static char room[PATTERNS][12];
    const char *list[PATTERNS];
    unsigned seed = 1;
    size_t found = 0;
    for (size_t i = 0; i < PATTERNS; i++) {
        draw(room[i], sizeof room[i], "ab.*", &seed);
        list[i] = room[i];
    }
    struct patterns *p = patterns_create(list, PATTERNS);
    for (size_t k = 0; k < NAMES; k++) {
        char name[16];
        bool is[PATTERNS] = {false};
        draw(name, sizeof name, "ab.", &seed);
        patterns_match(p, name, note, is);
        for (size_t i = 0; i < PATTERNS; i++) {
            if (is[i] != pattern_matches(list[i], name))
                fail_msg("\"%s\" and \"%s\"", list[i], name);
            found += is[i];
        }
    }
    assert_true(found > NAMES);
    patterns_destroy(p);
}

static void test_none(void **state)
{
    bool is[1] = {false};
    struct patterns *p = patterns_create(NULL, 0);
    patterns_match(p, "kernel.release", note, is);
    assert_false(is[0]);
    patterns_destroy(p);
    patterns_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_star_stands_for_any_characters),
        cmocka_unit_test(test_no_other_character_stands_for_another),
        cmocka_unit_test(test_those_that_match_are_found_among_many),
        cmocka_unit_test(test_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
