/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void flags_are_read_from_a_list(void **state)
{
    uint32_t mask = 99;
    assert_int_equal(log_parse_flags("init,msg", &mask, NULL), 0);
    assert_int_equal(mask, 1U << LOG_INIT | 1U << LOG_MSG);
    assert_int_equal(log_parse_flags("", &mask, NULL), 0);
    assert_int_equal(mask, 0);
    assert_int_equal(log_parse_flags("init, store", &mask, NULL), 0);
    assert_int_equal(mask, 1U << LOG_INIT | 1U << LOG_STORE);
}

static void unknown_flags_are_refused_with_the_nearest(void **state)
{
    struct err e = {0};
    uint32_t mask = 99;
    assert_int_equal(log_parse_flags("init,stroe", &mask, &e), -EINVAL);
    assert_string_equal(e.msg, "unknown debug flag \"stroe\"; the nearest known is \"store\"");
    assert_int_equal(mask, 99);
    assert_int_equal(log_parse_flags("quicksilver", &mask, &e), -EINVAL);
    assert_string_equal(e.msg, "unknown debug flag \"quicksilver\"");
    assert_int_equal(log_parse_flags("init,", &mask, &e), -EINVAL);
    assert_int_equal(log_parse_flags("init,,msg", &mask, &e), -EINVAL);
}

/* Runs say with standard error in a file and returns what it wrote. */
static const char *logged(void (*say)(void))
{
    static char bytes[4096];
    FILE *file = tmpfile();
    assert_non_null(file);
    fflush(stderr);
    int was = dup(STDERR_FILENO);
    dup2(fileno(file), STDERR_FILENO);
    say();
    fflush(stderr);
    dup2(was, STDERR_FILENO);
    close(was);
    rewind(file);
    bytes[fread(bytes, 1, sizeof bytes - 1, file)] = '\0';
    fclose(file);
    return bytes;
}

static void say_two_lines(void)
{
    log_warn("one\ntwo %d", 3);
}

static void say_debug(void)
{
    log_debug(LOG_MSG, "hello");
    log_debug(LOG_STORE, "commit");
}

static void one_event_is_one_line(void **state)
{
    unsetenv("JOURNAL_STREAM");
    const char *line = logged(say_two_lines);
    assert_non_null(strstr(line, "Z warn  one two 3\n"));
    setenv("JOURNAL_STREAM", "8:1", 1);
    assert_string_equal(logged(say_two_lines), "<4>one two 3\n");
    unsetenv("JOURNAL_STREAM");
}

static void debug_lines_need_their_flag(void **state)
{
    setenv("JOURNAL_STREAM", "8:1", 1);
    assert_string_equal(logged(say_debug), "");
    log_set_flags(1U << LOG_STORE);
    assert_string_equal(logged(say_debug), "<7>commit\n");
    log_set_flags(0);
    unsetenv("JOURNAL_STREAM");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flags_are_read_from_a_list),
        cmocka_unit_test(unknown_flags_are_refused_with_the_nearest),
        cmocka_unit_test(one_event_is_one_line),
        cmocka_unit_test(debug_lines_need_their_flag),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
