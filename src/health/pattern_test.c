/* SPDX-License-Identifier: Apache-2.0 */
#include "health/pattern.h"

#include "base/text.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* What stands for <dev>, "" for a pattern without, NULL when the line is not of the pattern. */
static void expect(const char *pattern, const char *line, const char *device)
{
    const char *dev;
    size_t len;
    bool fits = pattern_match(pattern, line, &dev, &len);
    CLEANUP_FREE char *got = fits ? mem_dup_len(dev, len) : NULL;
    if (device)
        assert_true(fits);
    else
        assert_false(fits);
    if (device)
        assert_string_equal(got, device);
}

static void a_pattern_is_the_whole_line(void **state)
{
    expect("disk is dead", "disk is dead", "");
    expect("disk is dead", "disk is dead!", NULL);
    expect("disk is dead", " disk is dead", NULL);
    expect("disk is dead", "disk is", NULL);
    expect("disk is dead", "", NULL);
}

static void a_star_is_any_run(void **state)
{
    expect("disk*dead", "diskdead", "");
    expect("disk*dead", "disk is quite dead", "");
    expect("disk*dead", "disk dead dead", "");
    expect("disk*dead", "disk dead or not", NULL);
    expect("*dead*", "disk dead or not", "");
    expect("*dead*", "dead", "");
    expect("disk*", "disk", "");
    expect("a*b*c", "axbxbxc", "");
    expect("a*b*c", "axcxb", NULL);
}

static void a_number_is_one_or_more_digits(void **state)
{
    expect("disk # dead", "disk 12 dead", "");
    expect("disk # dead", "disk  dead", NULL);
    expect("disk # dead", "disk x dead", NULL);
    expect("disk #", "disk 12", "");
    expect("disk #", "disk 12a", NULL);
    expect("*disk#", "x disk1 disk", NULL);
    expect("*# dead", "12 dead", ""); /* and not 2 alone */
}

static void the_device_has_no_white_space(void **state)
{
    expect("disk <dev> dead", "disk sda dead", "sda");
    expect("disk <dev> dead", "disk sda or sdb dead", NULL);
    expect("disk <dev> dead", "disk  dead", NULL);
    expect("disk <dev>", "disk sda", "sda");
    expect("disk <dev>", "disk sda is", NULL);
    expect("fs (<dev>): *", "fs (a): b): c", "a"); /* as little as it can */
    expect("* * <dev>: hangs", "ixgbe 0000:01:00.0 eth0: hangs", "eth0");
}

/* What was found first is never given up for something later. */
static void the_first_match_counts(void **state)
{
    expect("<dev>: # CE *", "MC0: 1 CE x", "MC0");
    expect("<dev>: # CE *", "MC0: x: 1 CE x", NULL);
}

static void a_bad_pattern_is_refused(void **state)
{
    struct err e = {0};
    char text[300] = {0};
    memset(text, 'a', 255);
    assert_int_equal(pattern_check(text, &e), 0);
    text[255] = 'a';
    assert_int_equal(pattern_check(text, &e), -EINVAL);
    assert_int_equal(pattern_check("", &e), -EINVAL);
    assert_int_equal(pattern_check("*abc*", &e), -EINVAL);
    assert_int_equal(pattern_check("abcd**", &e), -EINVAL);
    assert_int_equal(pattern_check("abcd<dev>*", &e), -EINVAL);
    assert_int_equal(pattern_check("<dev> <dev> abcd", &e), -EINVAL);
    assert_int_equal(pattern_check("abcd <dev>: *", &e), 0);
}

static void its_first_byte_is_known(void **state)
{
    assert_int_equal(pattern_first("abcd*"), 'a');
    assert_int_equal(pattern_first("*abcd"), 0);
    assert_int_equal(pattern_first("#abcd"), 0);
    assert_int_equal(pattern_first("<dev> abcd"), 0);
    assert_int_equal(pattern_first("<device"), '<');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pattern_is_the_whole_line),    cmocka_unit_test(a_star_is_any_run),
        cmocka_unit_test(a_number_is_one_or_more_digits), cmocka_unit_test(the_device_has_no_white_space),
        cmocka_unit_test(the_first_match_counts),         cmocka_unit_test(a_bad_pattern_is_refused),
        cmocka_unit_test(its_first_byte_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
