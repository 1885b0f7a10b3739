/* SPDX-License-Identifier: Apache-2.0 */
#include "check/trial_test.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void test_plugin(void **state)
{
    struct trial *t = *state;
    trial_expect(t, "Probe=plugin Run=\"echo all is well; echo more\"", "ok all is well");
    trial_expect(t, "Probe=plugin Run=\"echo 'CRITICAL - disk full|x=1'; exit 2\"",
                 " x=1fatal : CRITICAL - disk full");
    trial_begins(t, "Probe=plugin Run=\"exit 3\"", "unknown");
    trial_begins(t, "Probe=plugin Run=/no/such/plugin", "unsupported");
    trial_expect(t, "Probe=plugin Run=\"kill -9 $$\"", "unknown it was killed by signal 9");
}

static void test_plugin_of_many_lines(void **state)
{
    struct trial *t = *state;
    trial_expect(t, "Probe=plugin Run=\"echo; echo; echo fine; echo more; exit 0\"", "ok fine");
    trial_expect(t, "Probe=plugin Run=\"printf 'bad|a=1s;2\\nmore\\n\\nlast|b=-2.5%%\\n c=3'; exit 1\"",
                 " a=1s b=-2.500% c=3warn : bad");
    /* A line is longer than a fact. */
    trial_expect(t, "Probe=plugin Run=\"printf 'bad %0600d|far=7\\n' 0 | tr -d 0; exit 1\"",
                 " far=7warn : bad");
    trial_begins(t, "Probe=plugin Run=\"printf '%0600d|far=7\\n' 0; exit 1\"", " far=7warn : 000");
    trial_expect(t, "Probe=plugin Run=\"printf 'a\\000b|c=1'; exit 2\"", " c=1fatal : a b");
}

static void test_plugin_that_says_too_much(void **state)
{
    trial_begins(*state, "Probe=plugin Run=\"head -c 1000000 /dev/zero | tr '\\\\000' x; exit 1\"",
                 "warn : xxxx");
}

static void test_plugin_in_time(void **state)
{
    struct mono began = mono_now();
    trial_expect(*state, "Probe=plugin Deadline=1s Run=\"sleep 600\"", "unknown it did not end in time");
    trial_expect(*state, "Probe=plugin Deadline=1s Run=\"exec >&-; exec sleep 600\"",
                 "unknown it did not end in time");
    assert_true(mono_sub(mono_now(), began).ns < span_s(300).ns);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TRIAL(test_plugin),
        IN_TRIAL(test_plugin_of_many_lines),
        IN_TRIAL(test_plugin_that_says_too_much),
        IN_TRIAL(test_plugin_in_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
