/* SPDX-License-Identifier: Apache-2.0 */
#include "base/network.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void ranges_are_read(void **state)
{
    static const char *const bad[] = {"",         ",",           "10.0.0.0/33", "fd00::/129",  "10.0.0.0/",
                                      "10.0.0/8", "10.0.0.0/8,", "n01",         "10.0.0.0/-1", "10.0.0.0 /8"};
    assert_int_equal(network_check("10.1.0.0/16,192.0.2.7,fd00::/8,0.0.0.0/0,::/0", NULL), 0);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct err e;
        assert_int_equal(network_check(bad[i], &e), -EINVAL);
        assert_non_null(e.msg);
    }
}

static void an_address_lies_in_a_range(void **state)
{
    static const struct {
        const char *list, *address;
        bool in;
    } rows[] = {
        {"10.1.0.0/16", "10.1.255.255", true},
        {"10.1.0.0/16", "10.2.0.0", false},
        {"10.1.0.0/15", "10.0.0.1", true},
        {"10.1.0.0/15", "10.2.0.1", false},
        {"192.0.2.7", "192.0.2.7", true},
        {"192.0.2.7", "192.0.2.6", false},
        {"192.0.2.7,10.0.0.0/8", "10.9.9.9", true},
        {"10.0.0.0/8", "::ffff:10.9.9.9", true},
        {"fd00::/8", "fd12::1", true},
        {"fd00::/8", "fe80::1", false},
        {"fd00::/8", "10.0.0.1", false},
        {"0.0.0.0/0", "203.0.113.1", true},
        {"0.0.0.0/0", "fd00::1", false},
        {"::/0", "fd00::1", true},
        {"10.0.0.0/8", "local", false},
        {"10.0.0.0/8", "", false},
        {"nonsense", "10.0.0.1", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (network_has(rows[i].list, rows[i].address) != rows[i].in)
            fail_msg("%s in %s", rows[i].address, rows[i].list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(ranges_are_read),
                                       cmocka_unit_test(an_address_lies_in_a_range)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
