/* SPDX-License-Identifier: Apache-2.0 */
#include "conform/class.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct listings *listings;
static struct classes classes;

static int start(void **state)
{
    listings = listings_create();
    const struct class_key keys[] = {{"Class", "a"},
                                     {"Critical", "gpu.*.vbios"},
                                     {"Ignore", "package.*,*.noise"},
                                     {"Minor", "package.glibc"}};
    assert_int_equal(classes_add(&classes, keys, 4, 0, NULL), 0);
    classes_finish(&classes);
    return 0;
}

static int stop(void **state)
{
    classes_fini(&classes);
    listings_destroy(listings);
    return 0;
}

static struct listing *fill(struct components *c)
{
    assert_int_equal(components_sort(c, NULL), 0);
    struct fingerprint id = components_fingerprint(c);
    struct listing *g = listings_get(listings, &id);
    assert_int_equal(listing_fill(listings, g, c, NULL), 0);
    components_fini(c);
    return g;
}

/* "a=1 b? -c": a has the value 1, b is unknown, c is absent. */
static struct listing *list_of(const char *text)
{
    struct components c = {0};
    CLEANUP_FREE char *copy = mem_dup(text);
    char *rest = copy;
    for (char *word; *text && (word = strsep(&rest, " "));) {
        char *value = strchr(word, '='), *end = word + strlen(word) - 1;
        if (*word == '-') {
            assert_int_equal(components_add(&c, word + 1, COMPONENT_ABSENT, "", NULL), 0);
        } else if (value) {
            *value = '\0';
            assert_int_equal(components_add(&c, word, COMPONENT_VALUE, value + 1, NULL), 0);
        } else {
            *end = '\0';
            assert_int_equal(components_add(&c, word, COMPONENT_UNKNOWN, "why", NULL), 0);
        }
    }
    return fill(&c);
}

static const char *side(const struct component *c)
{
    return !c ? "none" : c->state == COMPONENT_VALUE ? c->value : component_state_name(c->state);
}

static bool write_difference(void *arg, const struct difference *d)
{
    text_printf(arg, "%s%s %s>%s %s%s", ((struct text *)arg)->len ? "; " : "", d->name, side(d->expected),
                side(d->actual), severity_name(d->severity), d->unknown ? " unknown" : "");
    return true;
}

static void compared(const char *expected, const char *actual, const char *want)
{
    struct listing *e = list_of(expected), *a = list_of(actual);
    CLEANUP_TEXT struct text t = {0};
    text_add(&t, "");
    class_compare(&classes.list[0], e, a, write_difference, &t);
    assert_string_equal(t.s, want);
    listing_unref(listings, e);
    listing_unref(listings, a);
}

static void test_equal_components_are_not_told(void **state)
{
    compared("", "", "");
    compared("a=1 b=2", "a=1 b=2", "");
}

static void test_differences_are_in_order_with_both_sides_and_severity(void **state)
{
    compared("kernel.release=6.1 gpu.0.vbios=1 gpu.0.ecc=on x=1",
             "kernel.release=6.2 gpu.0.vbios=2 gpu.0.ecc=off x=1",
             "gpu.0.ecc on>off major; gpu.0.vbios 1>2 critical; kernel.release 6.1>6.2 major");
    compared("a=1", "b=1", "a 1>none minor; b none>1 minor");
    compared("a=1 z=1", "a=1", "z 1>none minor");
    compared("", "a=1", "a none>1 minor");
}

static void test_absent_is_a_value_like_not_standing_there(void **state)
{
    compared("-a", "", "");
    compared("", "-a", "");
    compared("-a", "-a", "");
    compared("-a", "a=", "a absent> minor");
    compared("a=1", "-a", "a 1>absent minor");
}

static void test_ignored_components_are_not_told(void **state)
{
    compared("package.x=1 a.noise=1", "package.x=2", "");
    compared("package.x?", "package.x?", "");
    compared("package.glibc=1", "package.glibc=2", "package.glibc 1>2 minor");
}

static void test_unknown_equals_nothing_not_even_itself(void **state)
{
    compared("a?", "a?", "a unknown>unknown minor unknown");
    compared("a=why", "a?", "a why>unknown minor unknown");
    compared("a?", "a=why", "a unknown>why minor unknown");
    compared("a?", "", "a unknown>none minor unknown");
    compared("", "a?", "a none>unknown minor unknown");
    compared("-a", "a?", "a absent>unknown minor unknown");
}

static void test_components_below_an_unknown_prefix_are_unknown(void **state)
{
    compared("gpu.0.vbios=1 gpu.count=1", "gpu.*?",
             "gpu.* none>unknown critical unknown; gpu.0.vbios 1>unknown critical unknown; "
             "gpu.count 1>unknown major unknown");
    compared("gpu.*?", "gpu.0.vbios=1",
             "gpu.* unknown>none critical unknown; gpu.0.vbios unknown>1 critical unknown");
    compared("gpu.*?", "gpu.*?", "gpu.* unknown>unknown critical unknown");
    compared("-gpu.0", "gpu.*?", "gpu.* none>unknown critical unknown; gpu.0 absent>unknown major unknown");
}

static void test_an_ignored_prefix_hides_no_component_that_counts(void **state)
{
    compared("package.glibc=1", "package.*?",
             "package.* none>unknown minor unknown; package.glibc 1>unknown minor unknown");
}

static bool stop_at_once(void *arg, const struct difference *d)
{
    ++*(int *)arg;
    return false;
}

static void test_comparing_stops_when_asked(void **state)
{
    struct listing *e = list_of("a=1 b=1"), *a = list_of("a=2 b=2");
    int calls = 0;
    class_compare(&classes.list[0], e, a, stop_at_once, &calls);
    assert_int_equal(calls, 1);
    listing_unref(listings, e);
    listing_unref(listings, a);
}

static void test_counting(void **state)
{
    struct listing *e = list_of("a=1 b=1 gpu.0.vbios=1 kernel.release=1 package.x=1"),
                   *a = list_of("a=2 b? gpu.0.vbios? kernel.release=2");
    struct comparison c = class_count(&classes.list[0], e, a);
    assert_int_equal(c.different, 2);
    assert_int_equal(c.unknown, 2);
    assert_int_equal(c.worst, SEVERITY_MAJOR); /* what is unknown is not proven */
    c = class_count(&classes.list[0], e, e);
    assert_int_equal(c.different + c.unknown, 0);
    assert_int_equal(c.worst, SEVERITY_IGNORE);
    listing_unref(listings, e);
    listing_unref(listings, a);
}

static bool same_fingerprint(const char *x, const char *y, uint32_t *unknown)
{
    struct listing *a = list_of(x), *b = list_of(y);
    uint32_t un, unb;
    struct fingerprint f = class_fingerprint(&classes.list[0], a, &un),
                       g = class_fingerprint(&classes.list[0], b, &unb);
    *unknown = un + unb;
    listing_unref(listings, a);
    listing_unref(listings, b);
    return fingerprint_equal(&f, &g);
}

static void test_the_fingerprint_of_components_that_count(void **state)
{
    uint32_t unknown;
    assert_true(same_fingerprint("a=1 package.x=1", "a=1 package.x=2", &unknown));
    assert_false(same_fingerprint("a=1", "a=2", &unknown));
    assert_true(same_fingerprint("a=1 -b", "a=1", &unknown));
    assert_false(same_fingerprint("a=1 b=", "a=1", &unknown));
    assert_int_equal(unknown, 0);
    same_fingerprint("a=1 package.x?", "a=1", &unknown);
    assert_int_equal(unknown, 0); /* it does not count */
    same_fingerprint("a?", "a=1 gpu.*? package.*?", &unknown);
    assert_int_equal(unknown, 3);
}

static bool same_in(const char *rules_a, const char *rules_b)
{
    struct classes c = {0};
    const struct class_key a[] = {{"Class", "a"}, {*rules_a == '-' ? "Ignore" : "Minor", rules_a + 1}},
                           b[] = {{"Class", "b"}, {*rules_b == '-' ? "Ignore" : "Critical", rules_b + 1}};
    assert_int_equal(classes_add(&c, a, *rules_a ? 2 : 1, 0, NULL), 0);
    assert_int_equal(classes_add(&c, b, *rules_b ? 2 : 1, 0, NULL), 0);
    struct listing *g = list_of("kernel.release=6.1");
    uint32_t unknown;
    struct fingerprint x = class_fingerprint(&c.list[0], g, &unknown),
                       y = class_fingerprint(&c.list[1], g, &unknown);
    assert_true(*rules_a != '\0' || fingerprint_equal(&x, &g->id));
    listing_unref(listings, g);
    classes_fini(&c);
    return fingerprint_equal(&x, &y);
}

static void test_nodes_are_the_same_only_when_their_classes_look_at_the_same(void **state)
{
    assert_true(same_in("", ""));
    assert_true(same_in("", "+gpu.*")); /* both look at everything */
    assert_true(same_in("+gpu.*", "+cpu.*"));
    assert_true(same_in("-gpu.*,nic.*", "-nic.*,gpu.*"));
    assert_false(same_in("", "-gpu.*")); /* one of the nodes may have other GPUs */
    assert_false(same_in("-gpu.*", "-nic.*"));
    assert_false(same_in("-gpu.*", "+gpu.*"));
}

/* --- against each other --------------------------------------------------------------------------- */

static struct listing *random_listing(unsigned *seed)
{
    static const char *const names[] = {"a",       "b",         "gpu.*",     "gpu.0.vbios",  "gpu.count",
                                        "a.noise", "package.x", "package.*", "package.glibc"};
    struct components c = {0};
    for (int i = 0; i < 9; i++) {
        int what = rand_r(seed) % 24;
        if (what < 19)
            components_add(&c, names[i], COMPONENT_VALUE, what == 0 ? "2" : "1", NULL);
        else if (what < 21)
            components_add(&c, names[i], COMPONENT_ABSENT, "", NULL);
        else if (what == 21)
            components_add(&c, names[i], COMPONENT_UNKNOWN, "", NULL);
    }
    return fill(&c);
}

/* What a reader would check name by name. */
static struct comparison count_slowly(const struct node_class *k, const struct listing *e,
                                      const struct listing *a)
{
    static const char *const names[] = {"a",       "b",         "gpu.*",     "gpu.0.vbios",  "gpu.count",
                                        "a.noise", "package.x", "package.*", "package.glibc"};
    struct comparison c = {0};
    for (int i = 0; i < 9; i++) {
        enum severity s = class_severity(k, names[i]);
        if (s == SEVERITY_IGNORE || (!listing_find(e, names[i]) && !listing_find(a, names[i])))
            continue;
        const struct component *x = listing_look(e, names[i]), *y = listing_look(a, names[i]);
        const char *xv = x && x->state == COMPONENT_VALUE ? x->value : NULL;
        const char *yv = y && y->state == COMPONENT_VALUE ? y->value : NULL;
        if ((x && x->state == COMPONENT_UNKNOWN) || (y && y->state == COMPONENT_UNKNOWN)) {
            c.unknown++;
        } else if (!xv != !yv || (xv && strcmp(xv, yv) != 0)) {
            c.different++;
            c.worst = s > c.worst ? s : c.worst;
        }
    }
    return c;
}

static void test_fingerprints_are_equal_exactly_when_nothing_differs(void **state)
{
    const struct node_class *k = &classes.list[0];
    unsigned seed = 11;
    int equal = 0, different = 0, unknown = 0;
    for (int i = 0; i < 5000; i++) {
        struct listing *e = random_listing(&seed), *a = random_listing(&seed);
        struct comparison c = class_count(k, e, a), slow = count_slowly(k, e, a);
        assert_int_equal(c.different, slow.different);
        assert_int_equal(c.unknown, slow.unknown);
        assert_int_equal(c.worst, slow.worst);
        uint32_t ue, ua;
        struct fingerprint fe = class_fingerprint(k, e, &ue), fa = class_fingerprint(k, a, &ua);
        assert_int_equal(c.unknown > 0, ue + ua > 0);
        if (c.unknown == 0)
            assert_int_equal(fingerprint_equal(&fe, &fa), c.different == 0);
        equal += c.unknown == 0 && c.different == 0;
        different += c.unknown == 0 && c.different > 0;
        unknown += c.unknown > 0;
        listing_unref(listings, e);
        listing_unref(listings, a);
    }
    assert_true(equal > 20 && different > 20 && unknown > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal_components_are_not_told),
        cmocka_unit_test(test_differences_are_in_order_with_both_sides_and_severity),
        cmocka_unit_test(test_absent_is_a_value_like_not_standing_there),
        cmocka_unit_test(test_ignored_components_are_not_told),
        cmocka_unit_test(test_unknown_equals_nothing_not_even_itself),
        cmocka_unit_test(test_components_below_an_unknown_prefix_are_unknown),
        cmocka_unit_test(test_an_ignored_prefix_hides_no_component_that_counts),
        cmocka_unit_test(test_comparing_stops_when_asked),
        cmocka_unit_test(test_counting),
        cmocka_unit_test(test_the_fingerprint_of_components_that_count),
        cmocka_unit_test(test_nodes_are_the_same_only_when_their_classes_look_at_the_same),
        cmocka_unit_test(test_fingerprints_are_equal_exactly_when_nothing_differs),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
