/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/uplink/address.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void reads_hosts_and_ports(void **state)
{
    static const struct {
        const char *text, *host;
        uint16_t port;
    } rows[] = {
        {"lx_control", "lx_control", 6120},   {"lx01.example.org:612", "lx01.example.org", 612},
        {"192.0.2.7:1", "192.0.2.7", 1},      {"[2001:db8::1]:65535", "2001:db8::1", 65535},
        {"2001:db8::1", "2001:db8::1", 6120}, {"[::1]", "::1", 6120},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct address a;
        assert_int_equal(address_parse(rows[i].text, &a, NULL), 0);
        assert_string_equal(a.host, rows[i].host);
        assert_int_equal(a.port, rows[i].port);
    }
}

static void refuses_what_is_no_address(void **state)
{
    static const char *const rows[] = {"",     ":612",      "lx01:", "lx01:0", "lx01:65536", "lx01:six",
                                       "[::1", "[::1]6120", "[]:1",  "lx 01",  "http://lx01"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct address a;
        struct err e = {0};
        assert_int_equal(address_parse(rows[i], &a, &e), -EINVAL);
        assert_true(e.msg[0]);
    }
}

static void adds_lists_without_duplicates(void **state)
{
    struct address_list list = {0};
    assert_int_equal(address_list_add(&list, "a,b:1, a:6120\n", NULL), 0);
    assert_int_equal(address_list_add(&list, "c", NULL), 0);
    assert_int_equal(list.n, 3);
    assert_string_equal(list.at[1].host, "b");
    assert_string_equal(list.at[2].host, "c");
}

static void bounds_the_list(void **state)
{
    struct address_list list = {0};
    char name[16];
    for (int i = 0; i < ADDRESS_LIST_MAX; i++) {
        snprintf(name, sizeof name, "c%d", i);
        assert_int_equal(address_list_add(&list, name, NULL), 0);
    }
    assert_int_equal(address_list_add(&list, "one-more", NULL), -E2BIG);
}

static void formats_what_it_reads(void **state)
{
    struct address a;
    char buf[ADDRESS_HOST_BYTES_MAX + 16];
    address_parse("[::1]:7", &a, NULL);
    assert_string_equal(address_format(&a, buf), "[::1]:7");
    address_parse("lx01", &a, NULL);
    assert_string_equal(address_format(&a, buf), "lx01:6120");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_hosts_and_ports),         cmocka_unit_test(refuses_what_is_no_address),
        cmocka_unit_test(adds_lists_without_duplicates), cmocka_unit_test(bounds_the_list),
        cmocka_unit_test(formats_what_it_reads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
