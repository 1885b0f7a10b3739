/* SPDX-License-Identifier: Apache-2.0 */
#include "conform/listing.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Makes a listing from JSON, filled. */
static struct listing *list_of(struct listings *l, const char *json)
{
    struct components c = {0};
    CLEANUP_JSON json_t *object = json_read(json, strlen(json), NULL);
    assert_int_equal(components_parse(&c, object, NULL), 0);
    assert_int_equal(components_sort(&c, NULL), 0);
    struct fingerprint id = components_fingerprint(&c);
    struct listing *g = listings_get(l, &id);
    struct err e = {0};
    if (listing_fill(l, g, &c, &e) < 0)
        fail_msg("%s", e.msg);
    components_fini(&c);
    return g;
}

static const char NODE[] =
    "{\"components\":{\"kernel.release\":\"6.1\",\"cpu.model\":\"x\"},\"absent\":[\"gpu.0\"],"
    "\"unknown\":{\"nic.*\":\"no permission\",\"bmc.firmware\":\"timeout\"}}";

static void test_nodes_with_one_fingerprint_share_a_listing(void **state)
{
    struct listings *l = listings_create();
    struct listing *a = list_of(l, NODE), *b = list_of(l, NODE);
    assert_ptr_equal(a, b);
    assert_int_equal(a->refs, 2);
    assert_int_equal(listings_count(l), 1);
    assert_int_equal(a->n, 5);
    assert_int_equal(a->n_unknown, 2);
    listing_unref(l, a);
    assert_ptr_equal(listings_find(l, &b->id), b);
    struct fingerprint id = b->id;
    listing_unref(l, b);
    assert_null(listings_find(l, &id));
    assert_int_equal(listings_count(l), 0);
    assert_int_equal(listings_bytes(l), 0);
    listings_destroy(l);
}

static void test_a_listing_may_be_known_by_name_alone(void **state)
{
    struct listings *l = listings_create();
    struct fingerprint id = {.bytes = {1}};
    struct listing *g = listings_get(l, &id);
    assert_false(g->known);
    assert_int_equal(listings_count(l), 0);
    assert_ptr_equal(listings_find(l, &id), g);
    listing_unref(l, g);
    listing_unref(l, NULL);
    assert_null(listings_find(l, &id));
    listings_destroy(l);
    listings_destroy(NULL);
}

static void test_a_list_that_does_not_hash_to_its_name_is_a_lie(void **state)
{
    struct listings *l = listings_create();
    struct components c = {0};
    components_add(&c, "kernel.release", COMPONENT_VALUE, "6.1", NULL);
    components_sort(&c, NULL);
    struct fingerprint id = components_fingerprint(&c);
    id.bytes[31] ^= 1;
    struct listing *g = listings_get(l, &id);
    struct err e = {0};
    assert_int_equal(listing_fill(l, g, &c, &e), -EBADMSG);
    assert_non_null(strstr(e.msg, "claims to be"));
    assert_false(g->known);
    assert_int_equal(listings_bytes(l), 0);
    components_fini(&c);
    listing_unref(l, g);
    listings_destroy(l);
}

static void test_filling_twice_does_nothing(void **state)
{
    struct listings *l = listings_create();
    struct listing *g = list_of(l, NODE);
    size_t bytes = listings_bytes(l);
    struct components other = {0}; /* would be a lie, if anybody looked */
    assert_int_equal(listing_fill(l, g, &other, NULL), 0);
    assert_int_equal(g->n, 5);
    assert_int_equal(listings_bytes(l), bytes);
    listing_unref(l, g);
    listings_destroy(l);
}

static void test_an_empty_listing_is_known(void **state)
{
    struct listings *l = listings_create();
    struct listing *g = list_of(l, "{}");
    assert_true(g->known);
    assert_int_equal(g->n, 0);
    assert_null(listing_find(g, "a"));
    assert_null(listing_look(g, "a.b"));
    listing_unref(l, g);
    listings_destroy(l);
}

static void test_a_component_of_many_listings_is_kept_once(void **state)
{
    struct listings *l = listings_create();
    struct listing *a = list_of(l, "{\"components\":{\"a\":\"1\",\"b\":\"2\"},\"absent\":[\"c\",\"d\"]}");
    struct listing *b =
        list_of(l, "{\"components\":{\"a\":\"1\",\"b\":\"3\",\"c\":\"\"},\"absent\":[\"d\"]}");
    assert_ptr_equal(listing_find(a, "a"), listing_find(b, "a"));
    assert_ptr_equal(listing_find(a, "d"), listing_find(b, "d"));
    assert_ptr_not_equal(listing_find(a, "b"), listing_find(b, "b"));
    assert_ptr_not_equal(listing_find(a, "c"), listing_find(b, "c")); /* absent is not empty */
    listing_unref(l, a);
    assert_string_equal(listing_find(b, "a")->value, "1");
    listing_unref(l, b);
    assert_int_equal(listings_bytes(l), 0);
    listings_destroy(l);
}

/* Where one component ends and the next begins must not matter to the table of components. */
static void test_components_with_the_same_characters_are_apart(void **state)
{
    struct listings *l = listings_create();
    struct listing *a = list_of(l, "{\"components\":{\"ab\":\"c\"}}"),
                   *b = list_of(l, "{\"components\":{\"a\":\"bc\"}}"),
                   *c = list_of(l, "{\"unknown\":{\"a\":\"bc\"}}");
    assert_string_equal(a->components[0]->name, "ab");
    assert_string_equal(b->components[0]->name, "a");
    assert_int_equal(b->components[0]->state, COMPONENT_VALUE);
    assert_int_equal(c->components[0]->state, COMPONENT_UNKNOWN);
    listing_unref(l, a);
    listing_unref(l, b);
    listing_unref(l, c);
    listings_destroy(l);
}

static void test_a_name_below_an_unknown_prefix_is_unknown(void **state)
{
    struct listings *l = listings_create();
    struct listing *g =
        list_of(l, "{\"components\":{\"nic.count\":\"2\",\"sysctl.*\":\"v\"},\"absent\":[\"nic.x\"],"
                   "\"unknown\":{\"nic.*\":\"why\",\"a.b.*\":\"deep\"}}");
    assert_string_equal(listing_look(g, "nic.0.firmware")->value, "why");
    assert_string_equal(listing_look(g, "nic.0")->value, "why");
    assert_string_equal(listing_look(g, "a.b.c.d")->value, "deep");
    /* what stands in the list is what it is */
    assert_string_equal(listing_look(g, "nic.count")->value, "2");
    assert_int_equal(listing_look(g, "nic.x")->state, COMPONENT_ABSENT);
    /* others are absent */
    assert_null(listing_look(g, "nic"));
    assert_null(listing_look(g, "nics.0"));
    assert_null(listing_look(g, "a.bc"));
    assert_null(listing_look(g, "a.b"));
    assert_null(listing_look(g, ".nic"));
    assert_null(listing_look(g, ""));
    assert_null(listing_look(g, "sysctl.x")); /* a value called so covers nothing */
    assert_null(listing_find(g, "nic.0"));
    listing_unref(l, g);
    listings_destroy(l);
}

static void test_the_longest_prefix_speaks(void **state)
{
    struct listings *l = listings_create();
    struct listing *g = list_of(l, "{\"unknown\":{\"gpu.*\":\"outer\",\"gpu.0.*\":\"inner\"}}");
    assert_string_equal(listing_look(g, "gpu.0.vbios")->value, "inner");
    assert_string_equal(listing_look(g, "gpu.1.vbios")->value, "outer");
    listing_unref(l, g);
    listings_destroy(l);
}

static void test_a_name_of_any_length_can_be_looked_for(void **state)
{
    struct listings *l = listings_create();
    struct listing *g = list_of(l, "{\"unknown\":{\"a.*\":\"why\"}}");
    char name[600];
    for (size_t len = 250; len < 600; len += 1 + len / 60) {
        memset(name, '.', len);
        memcpy(name, "a.", 2);
        name[len] = '\0';
        const struct component *c = listing_look(g, name);
        assert_int_equal(c != NULL, len <= COMPONENT_NAME_BYTES_MAX);
    }
    listing_unref(l, g);
    listings_destroy(l);
}

static void test_a_listing_is_written_as_its_components(void **state)
{
    struct listings *l = listings_create();
    struct listing *g = list_of(l, NODE);
    CLEANUP_TEXT struct text t = {0};
    listing_format(g, &t);
    struct listing *again = list_of(l, t.s);
    assert_ptr_equal(g, again);
    listing_unref(l, g);
    listing_unref(l, again);
    listings_destroy(l);
}

static void test_references_that_are_left_go_with_the_table(void **state)
{
    struct listings *l = listings_create();
    list_of(l, NODE);
    list_of(l, "{\"components\":{\"kernel.release\":\"6.1\"}}");
    listings_destroy(l);
}

/* As large as a list may be, of values that stand in no other. They are not copied for it, nor looked at
 * as components_add does, because half a gibibyte of them is made. */
static int fill_with(struct listings *l, int i, char *value, struct err *e)
{
    enum { N = 190 };
    char names[N][32];
    struct component list[N];
    struct components c = {.n = N, .list = list};
    for (int j = 0; j < N; j++) {
        snprintf(names[j], sizeof names[j], "%d.%d", i, j);
        list[j] = (struct component){.name = names[j], .value = value};
    }
    components_sort(&c, NULL);
    struct fingerprint id = components_fingerprint(&c);
    return listing_fill(l, listings_get(l, &id), &c, e);
}

static void test_all_listings_together_have_a_limit(void **state)
{
    struct listings *l = listings_create();
    struct err e = {0};
    char *value = mem_alloc(COMPONENT_VALUE_BYTES_MAX + 1);
    memset(value, 'v', COMPONENT_VALUE_BYTES_MAX);
    int rc = 0, i = 0;
    for (; i < 1000 && rc == 0; i++)
        rc = fill_with(l, i, value, &e);
    assert_int_equal(rc, -ENOSPC);
    assert_non_null(strstr(e.msg, "536870912 are allowed"));
    assert_true(i > 500);
    assert_true(listings_bytes(l) <= LISTINGS_BYTES_MAX);
    assert_int_equal(listings_count(l), i - 1);
    /* what needs nothing new still fits */
    struct listing *g = list_of(l, "{}");
    listing_unref(l, g);
    free(value);
    listings_destroy(l);
}

static void test_a_node_and_its_bmc_make_one_listing(void **state)
{
    struct listings *l = listings_create();
    struct listing *own =
                       list_of(l, "{\"components\":{\"kernel.release\":\"6.1\",\"redfish.bmc\":\"forged\"}}"),
                   *bmc = list_of(
                       l, "{\"components\":{\"redfish.bmc\":\"2.1\"},\"unknown\":{\"redfish.bios\":\"x\"}}"),
                   *whole = list_of(l, "{\"components\":{\"kernel.release\":\"6.1\",\"redfish.bmc\":\"2.1\"},"
                                       "\"unknown\":{\"redfish.bios\":\"x\"}}");
    struct err e = {0};
    struct listing *both = listings_join(l, own, bmc, &e);
    assert_ptr_equal(both, whole);
    assert_int_equal(both->refs, 2);
    assert_string_equal(listing_find(both, "redfish.bmc")->value, "2.1"); /* only a BMC speaks for itself */
    listing_unref(l, both);
    listing_unref(l, whole);
    listing_unref(l, own);
    listing_unref(l, bmc);
    assert_int_equal(listings_count(l), 0);
    listings_destroy(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nodes_with_one_fingerprint_share_a_listing),
        cmocka_unit_test(test_a_listing_may_be_known_by_name_alone),
        cmocka_unit_test(test_a_list_that_does_not_hash_to_its_name_is_a_lie),
        cmocka_unit_test(test_filling_twice_does_nothing),
        cmocka_unit_test(test_an_empty_listing_is_known),
        cmocka_unit_test(test_a_component_of_many_listings_is_kept_once),
        cmocka_unit_test(test_components_with_the_same_characters_are_apart),
        cmocka_unit_test(test_a_name_below_an_unknown_prefix_is_unknown),
        cmocka_unit_test(test_the_longest_prefix_speaks),
        cmocka_unit_test(test_a_name_of_any_length_can_be_looked_for),
        cmocka_unit_test(test_a_listing_is_written_as_its_components),
        cmocka_unit_test(test_references_that_are_left_go_with_the_table),
        cmocka_unit_test(test_all_listings_together_have_a_limit),
        cmocka_unit_test(test_a_node_and_its_bmc_make_one_listing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
