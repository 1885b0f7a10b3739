/* SPDX-License-Identifier: Apache-2.0 */
#include "node/action.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void words_are_read_with_their_arguments(void **state)
{
    static const struct {
        const char *text;
        enum action_kind kind;
        enum action_by by;
        enum action_effect effect;
        const char *rest;
    } cases[] = {
        {"node:systemctl restart slurmd", ACTION_COMMAND, ACTION_BY_AGENT, ACTION_STAYS,
         "systemctl restart slurmd"},
        {"node:", ACTION_COMMAND, ACTION_BY_AGENT, ACTION_STAYS, ""},
        {"script:/opt/mend: now", ACTION_SCRIPT, ACTION_BY_SITE, ACTION_STAYS, "/opt/mend: now"},
        {"reboot", ACTION_REBOOT, ACTION_BY_AGENT, ACTION_RESTARTS, ""},
        {"power.cycle", ACTION_POWER_CYCLE, ACTION_BY_BMC, ACTION_RESTARTS, ""},
        {"power.reset", ACTION_POWER_RESET, ACTION_BY_BMC, ACTION_RESTARTS, ""},
        {"power.off", ACTION_POWER_OFF, ACTION_BY_BMC, ACTION_STAYS, ""},
        {"power.on", ACTION_POWER_ON, ACTION_BY_BMC, ACTION_STAYS, ""},
        {"power.netboot", ACTION_POWER_NETBOOT, ACTION_BY_BMC, ACTION_RENEWS, ""},
        {"replace", ACTION_REPLACE, ACTION_BY_PROVIDER, ACTION_RENEWS, ""},
        {"check:fs.space", ACTION_CHECK, ACTION_BY_AGENT, ACTION_ASKS, "fs.space"},
        {"work:requeue", ACTION_WORK, ACTION_BY_SCHEDULER, ACTION_ENDS, "requeue"},
        {"forget:12:xid.79", ACTION_FORGET, ACTION_BY_AGENT, ACTION_ASKS, "12:xid.79"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct action r = action_of(cases[i].text);
        assert_int_equal(r.kind, cases[i].kind);
        assert_int_equal(r.by, cases[i].by);
        assert_int_equal(r.effect, cases[i].effect);
        assert_string_equal(r.rest, cases[i].rest);
    }
    assert_int_equal(sizeof cases / sizeof cases[0], ACTIONS); /* twelve rows, one of them twice */
}

static void other_words_are_of_no_kind(void **state)
{
    static const char *const none[] = {NULL,       "",       "node",   "nodes:x",      "rebooted",
                                       "re",       "power",  "power.", "power.status", "power.cycles",
                                       "POWER.on", " reboot"};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        struct action r = action_of(none[i]);
        assert_int_equal(r.kind, ACTION_NONE);
        assert_int_equal(r.by, ACTION_BY_NOBODY);
        assert_int_equal(r.effect, ACTION_UNKNOWN);
        assert_string_equal(r.rest, "");
    }
}

static void boots_are_told_from_the_rest(void **state)
{
    unsigned boots = 0, shells = 0;
    static const char *const all[] = {"node:x",      "script:x",  "reboot",   "power.cycle",
                                      "power.reset", "power.off", "power.on", "power.netboot",
                                      "replace",     "check:x",   "work:x",   "forget:x"};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        struct action r = action_of(all[i]);
        boots |= (unsigned)action_boots(r) << i;
        shells |= (unsigned)action_is_shell(r) << i;
    }
    assert_int_equal(boots, 1u << 2 | 1u << 3 | 1u << 4 | 1u << 7 | 1u << 8);
    assert_int_equal(shells, 1u << 0 | 1u << 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_read_with_their_arguments),
        cmocka_unit_test(other_words_are_of_no_kind),
        cmocka_unit_test(boots_are_told_from_the_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
