/* SPDX-License-Identifier: Apache-2.0 */
#include "store/etcd/endpoints.h"

#include "base/text.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct etcd_options good = {.endpoints = "https://a:2379", .name = "c1"};

static void assert_refused(const struct etcd_options *o, const char *words)
{
    struct endpoints p;
    struct err e = {0};
    assert_int_equal(endpoints_init(&p, o, &e), -EINVAL);
    if (!strstr(e.msg, words))
        fail_msg("\"%s\" does not say \"%s\"", e.msg, words);
    assert_int_equal(p.n, 0);
    assert_null(p.texts);
    assert_int_equal(etcd_check(o, NULL), -EINVAL);
}

static void refuse_endpoints(const char *list, const char *words)
{
    struct etcd_options o = good;
    o.endpoints = list;
    assert_refused(&o, words);
}

static void addresses_are_taken(void **state)
{
    static const char *const lists[] = {"http://a", "https://[::1]:2379", "http://10.0.0.1:1,https://b.c:2",
                                        "https://~!$&'()*+;=:2379"};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        struct etcd_options o = good;
        o.endpoints = lists[i];
        assert_int_equal(etcd_check(&o, NULL), 0);
    }
}

static void other_addresses_are_refused(void **state)
{
    static const struct {
        const char *list, *words;
    } cases[] = {{NULL, "is no address of etcd such as"},
                 {"", "is no address of etcd such as"},
                 {"a:2379", "is no address of etcd such as"},
                 {"HTTP://a", "is no address of etcd such as"},
                 {" http://a", "is no address of etcd such as"},
                 {"http://a,", "is no address of etcd such as"},
                 {",http://a", "is no address of etcd such as"},
                 {"http://", "has no host"},
                 {"https://", "has no host"},
                 {"http://a/", "has a host and a port, and no more"},
                 {"http://a/v3", "has a host and a port, and no more"},
                 {"http://user@a", "has a host and a port, and no more"},
                 {"http://a?x", "has a host and a port, and no more"},
                 {"http://a#x", "has a host and a port, and no more"},
                 {"http://a\"b", "has a host and a port, and no more"},
                 {"http://a\\b", "has a host and a port, and no more"},
                 {"http://a b", "has a host and a port, and no more"},
                 {"http://a\nb", "has a host and a port, and no more"},
                 {"http://a\x7f", "has a host and a port, and no more"},
                 {"http://\xc3\xa4", "has a host and a port, and no more"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        refuse_endpoints(cases[i].list, cases[i].words);
}

static void addresses_have_limits(void **state)
{
    enum { URL_MAX = 256 };
    CLEANUP_TEXT struct text url = {0}, list = {0};
    struct endpoints p;
    struct etcd_options o = good;
    text_add(&url, "http://");
    while (url.len < URL_MAX)
        text_add_char(&url, 'a');
    o.endpoints = url.s;
    assert_int_equal(etcd_check(&o, NULL), 0);
    text_add_char(&url, 'a');
    refuse_endpoints(url.s, "is no address of etcd such as");
    for (int i = 0; i < ETCD_ENDPOINTS_MAX; i++)
        text_printf(&list, "%shttp://h%d", i ? "," : "", i);
    o.endpoints = list.s;
    assert_int_equal(endpoints_init(&p, &o, NULL), 0);
    assert_int_equal(p.n, ETCD_ENDPOINTS_MAX);
    endpoints_fini(&p);
    text_add(&list, ",http://more");
    refuse_endpoints(list.s, "more than ");
}

static void names_are_short_lines(void **state)
{
    static const char *const wrong[] = {NULL, "", "/a", "a\nb", "a\tb", "\xff"};
    char name[ETCD_NAME_BYTES_MAX + 2], address[ETCD_ADDRESS_BYTES_MAX + 2];
    struct etcd_options o = good;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        o.name = wrong[i];
        assert_refused(&o, "a controller's name is one line of at most");
        o.name = "c1";
        o.address = wrong[i];
        if (wrong[i] && *wrong[i])
            assert_refused(&o, "a controller's address is one line of at most");
        else
            assert_int_equal(etcd_check(&o, NULL), 0);
        o.address = NULL;
    }
    memset(name, 'n', sizeof name);
    memset(address, 'a', sizeof address);
    name[sizeof name - 1] = address[sizeof address - 1] = '\0';
    o.name = name;
    assert_refused(&o, "name");
    o.name = name + 1;
    assert_int_equal(etcd_check(&o, NULL), 0);
    o.address = address;
    assert_refused(&o, "address");
    o.address = address + 1;
    assert_int_equal(etcd_check(&o, NULL), 0);
}

static void a_lease_has_limits(void **state)
{
    struct etcd_options o = good;
    static const int64_t taken[] = {0, 100, 3000, 60000}, refused[] = {-1, 1, 99, 60001};
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
        o.lease = span_ms(taken[i]);
        assert_int_equal(etcd_check(&o, NULL), 0);
        o.lease = span_ms(refused[i]);
        assert_refused(&o, "the lease is from 100 ms to 60000 ms long");
    }
}

static void certificate_and_key_come_together(void **state)
{
    struct etcd_options o = good;
    o.cert = "c.pem";
    assert_refused(&o, "a certificate for etcd and its key come together");
    o.key = "c.key";
    assert_int_equal(etcd_check(&o, NULL), 0);
    o.cert = NULL;
    assert_refused(&o, "a certificate for etcd and its key come together");
}

/* The caller's texts may go. */
static void options_are_copied(void **state)
{
    char name[] = "c1", list[] = "https://a:1,https://b:2", ca[] = "ca.pem";
    struct etcd_options o = {.endpoints = list, .name = name, .ca = ca};
    struct endpoints p;
    assert_int_equal(endpoints_init(&p, &o, NULL), 0);
    memset(name, 'x', sizeof name - 1);
    memset(list, 'x', sizeof list - 1);
    memset(ca, 'x', sizeof ca - 1);
    assert_string_equal(p.options.name, "c1");
    assert_string_equal(p.options.ca, "ca.pem");
    assert_string_equal(p.options.address, "");
    assert_null(p.options.cert);
    assert_int_equal(span_to_ms(p.options.lease), ETCD_LEASE_MS);
    assert_int_equal(p.options.answered_ms, ETCD_ANSWERED_MS);
    const struct fetch_options f = endpoints_fetch(&p, 7);
    assert_string_equal(f.ca, "ca.pem");
    assert_null(f.key);
    assert_int_equal(f.answered_ms, 7);
    endpoints_fini(&p);
    endpoints_fini(&p);
}

static void members_are_asked_in_turn(void **state)
{
    struct etcd_options o = good;
    struct endpoints p;
    static const char *const urls[] = {"https://a:1/v3/x", "https://b:2/v3/x", "https://c:3/v3/x",
                                       "https://a:1/v3/x"};
    o.endpoints = "https://a:1,https://b:2,https://c:3";
    assert_int_equal(endpoints_init(&p, &o, NULL), 0);
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        CLEANUP_FREE char *url = endpoints_url(&p, "/v3/x");
        assert_string_equal(url, urls[i]);
        endpoints_next(&p);
    }
    endpoints_fini(&p);
}

/* An address that leads to another etcd is not believed, whichever answered first. */
static void an_answer_is_of_the_same_etcd(void **state)
{
    struct endpoints p;
    struct err e = {0};
    assert_int_equal(endpoints_init(&p, &good, NULL), 0);
    assert_int_equal(endpoints_same(&p, 0, NULL), 0);
    assert_int_equal(endpoints_same(&p, UINT64_MAX, NULL), 0);
    assert_int_equal(endpoints_same(&p, UINT64_MAX, NULL), 0);
    assert_int_equal(endpoints_same(&p, 5, &e), -EAGAIN);
    assert_string_equal(e.msg, "https://a:2379 belongs to another etcd (cluster id 5, not ffffffffffffffff)");
    assert_true(p.cluster == UINT64_MAX);
    assert_int_equal(endpoints_same(&p, 0, NULL), -EAGAIN);
    endpoints_fini(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_are_taken),
        cmocka_unit_test(other_addresses_are_refused),
        cmocka_unit_test(addresses_have_limits),
        cmocka_unit_test(names_are_short_lines),
        cmocka_unit_test(a_lease_has_limits),
        cmocka_unit_test(certificate_and_key_come_together),
        cmocka_unit_test(options_are_copied),
        cmocka_unit_test(members_are_asked_in_turn),
        cmocka_unit_test(an_answer_is_of_the_same_etcd),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
