/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/uplink/orders.h"

#include "agent/fake_test.h"
#include "base/text.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct orders orders_of(struct fake *f)
{
    return (struct orders){.ca = authority_pem(f->ca), .node = "lx01"};
}

static json_t *signed_by(const struct signer *signer, const char *text)
{
    json_t *order = NULL;
    assert_int_equal(order_sign(signer, text, &order, NULL), 0);
    return order;
}

/* Opens the text as signed by the controller. */
static int open_text(struct fake *f, uint8_t type, const char *text, struct err *e)
{
    struct orders o = orders_of(f);
    struct frame got;
    CLEANUP_JSON json_t *order = signed_by(f->signer, text);
    int r = orders_open(&o, type, order, &got, e);
    if (r == 0) {
        assert_int_equal(got.type, type);
        assert_int_equal(got.len, strlen(text));
        assert_string_equal(got.body, text);
    }
    return r;
}

static void is_refused(struct fake *f, uint8_t type, const char *text, int code, const char *why)
{
    struct err e = {0};
    assert_int_equal(open_text(f, type, text, &e), code);
    if (!strstr(e.msg, why))
        fail_msg("%s", e.msg);
}

static void believes_orders_for_this_node_or_for_all(void **state)
{
    assert_int_equal(open_text(*state, FRAME_ACT, "{\"type\":20,\"node\":\"lx01\",\"id\":\"c1\"}", NULL), 0);
    assert_int_equal(open_text(*state, FRAME_CHECKLIST, "{\"type\":18,\"revision\":7}", NULL), 0);
    assert_int_equal(open_text(*state, FRAME_CHECKLIST, "{\"type\":18,\"node\":\"lx01\"}", NULL), 0);
}

static void refuses_orders_for_another_node_or_of_another_type(void **state)
{
    is_refused(*state, FRAME_ACT, "{\"type\":20,\"node\":\"lx02\"}", -EPERM, "it is for node lx02");
    is_refused(*state, FRAME_ACT, "{\"type\":20}", -EINVAL, "node");
    is_refused(*state, FRAME_ACT, "{\"type\":20,\"node\":7}", -EINVAL, "node");
    is_refused(*state, FRAME_CHECKLIST, "{\"type\":18,\"node\":\"lx02\"}", -EPERM, "lx02");
    is_refused(*state, FRAME_ACT, "{\"type\":18,\"node\":\"lx01\"}", -EPERM,
               "it is CHECKLIST, but came as ACT");
    is_refused(*state, FRAME_CHECKLIST, "{\"revision\":7}", -EINVAL, "type");
    is_refused(*state, FRAME_CHECKLIST, "no object", -EINVAL, "");
}

static void refuses_orders_that_a_collector_signed(void **state)
{
    struct fake *f = *state;
    struct orders o = orders_of(f);
    struct frame got;
    struct err e = {0};
    struct signer *lx09 = fake_node_signer(f, "lx09");
    CLEANUP_JSON json_t *order = signed_by(lx09, "{\"type\":20,\"node\":\"lx01\"}");
    assert_int_equal(orders_open(&o, FRAME_ACT, order, &got, &e), -EPERM);
    assert_non_null(strstr(e.msg, "urn:fettle:node:lx09"));
    CLEANUP_JSON json_t *plain = json_pack("{s:i,s:s}", "type", 20, "node", "lx01");
    assert_int_equal(orders_open(&o, FRAME_ACT, plain, &got, &e), -EINVAL);
    signer_destroy(lx09);
}

static struct mono at(int64_t s)
{
    return (struct mono){(1000 + s) * INT64_C(1000000000)};
}

static void an_answer_counts_for_half_a_minute(void **state)
{
    struct orders o = {.node = "lx01"};
    char first[ORDER_NONCE_HEX + 1];
    assert_false(orders_asked(&o, at(0), "")); /* nobody asked */
    snprintf(first, sizeof first, "%s", orders_ask(&o, at(0)));
    assert_int_equal(strlen(first), ORDER_NONCE_HEX);
    assert_true(orders_asked(&o, at(0), first));
    assert_true(orders_asked(&o, at(29), first));
    assert_false(orders_asked(&o, at(30), first));
    assert_false(orders_asked(&o, at(1), ""));
    assert_false(orders_asked(&o, at(1), "0123456789abcdef0123456789abcdef"));
}

static void asks_with_another_number_after_a_while(void **state)
{
    struct orders o = {.node = "lx01"};
    char first[ORDER_NONCE_HEX + 1];
    snprintf(first, sizeof first, "%s", orders_ask(&o, at(0)));
    assert_string_equal(orders_ask(&o, at(9)), first); /* two operations at one time */
    assert_string_not_equal(orders_ask(&o, at(10)), first);
    assert_false(orders_asked(&o, at(10), first));
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, fake_setup, fake_teardown)
    const struct CMUnitTest tests[] = {
        T(believes_orders_for_this_node_or_for_all),
        T(refuses_orders_for_another_node_or_of_another_type),
        T(refuses_orders_that_a_collector_signed),
        cmocka_unit_test(an_answer_counts_for_half_a_minute),
        cmocka_unit_test(asks_with_another_number_after_a_while),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
