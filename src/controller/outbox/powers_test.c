/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/outbox/powers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* What was heard, one after the other. */
static struct text heard;

static void on_end(void *arg, const char *answer, const struct err *why)
{
    text_printf(&heard, "%s: %s\n", (const char *)arg, why ? why->msg : answer);
}

static char mine[] = "mine", twice[] = "twice", other[] = "other";

static int setup(void **state)
{
    *state = powers_create();
    return 0;
}

static int teardown(void **state)
{
    powers_destroy(*state);
    text_fini(&heard);
    return 0;
}

static const struct operation waits = {.state = OPERATION_WAITS, .id = (char[]){"7.1"}, .text = (char[]){""}},
                              done = {.state = OPERATION_DONE,
                                      .id = (char[]){"7.1"},
                                      .text = (char[]){"it is off"}},
                              gone = {.state = OPERATION_NONE};

static void test_the_end_is_told_to_everybody_who_waits(void **state)
{
    struct powers *p = *state;
    powers_wait(p, "n1", "7.1", &waits, on_end, mine);
    powers_wait(p, "n1", "7.1", &waits, on_end, twice);
    powers_wait(p, "n2", "7.1", &waits, on_end, other);
    powers_effect(p, "effect/power.n1", &waits);
    assert_int_equal(heard.len, 0);
    powers_effect(p, "effect/power.n1", &done);
    assert_string_equal(heard.s, "mine: it is off\ntwice: it is off\n");
}

/* Of a command that was committed before, the record may have the end already, or another command its place.
 */
static void test_an_end_that_is_there_is_told_at_once(void **state)
{
    struct powers *p = *state;
    powers_wait(p, "n1", "7.1", &done, on_end, mine);
    powers_wait(p, "n1", "7.2", &done, on_end, other);
    powers_wait(p, "n1", "7.1", &gone, on_end, twice);
    assert_string_equal(heard.s, "mine: it is off\nother: another command took its place\n"
                                 "twice: another command took its place\n");
}

static void test_who_waits_at_the_end_is_told(void **state)
{
    powers_wait(*state, "n1", "7.1", &waits, on_end, mine);
    powers_destroy(*state);
    *state = NULL;
    assert_string_equal(heard.s, "mine: the controller ends; the command goes on with the next one\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_the_end_is_told_to_everybody_who_waits, setup, teardown),
        cmocka_unit_test_setup_teardown(test_an_end_that_is_there_is_told_at_once, setup, teardown),
        cmocka_unit_test_setup_teardown(test_who_waits_at_the_end_is_told, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
