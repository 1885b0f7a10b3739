/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/leaf.h"
#include "base/digest.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct leaf sample(void)
{
    return (struct leaf){.revision = 4711,
                         .n = 1,
                         .at = {INT64_C(1795211336596711822)},
                         .actor = "root",
                         .what = "node.drain",
                         .nodes = "lx[01-02]",
                         .text = "bad \"DIMM\"",
                         .about = "1.7",
                         .fields = "\"claims\":[\"1.7\"]"};
}

/* This form is for ever: whoever changes it makes every log of before a false one. */
static void test_the_form(void **state)
{
    struct leaf l = sample();
    CLEANUP_TEXT struct text t = {0};
    leaf_format(&l, &t);
    assert_string_equal(
        t.s, "{\"revision\":4711,\"n\":1,\"at\":\"1795211336596711822\",\"actor\":\"root\",\"what\":\"node."
             "drain\","
             "\"nodes\":\"lx[01-02]\",\"text\":\"bad \\\"DIMM\\\"\",\"about\":\"1.7\",\"claims\":[\"1.7\"]}");
    text_clear(&t);
    l.about = l.fields = NULL;
    leaf_format(&l, &t);
    assert_string_equal(t.s, "{\"revision\":4711,\"n\":1,\"at\":\"1795211336596711822\",\"actor\":\"root\","
                             "\"what\":\"node.drain\","
                             "\"nodes\":\"lx[01-02]\",\"text\":\"bad \\\"DIMM\\\"\"}");
    CLEANUP_TEXT struct text same = {0};
    l.about = l.fields = "";
    leaf_format(&l, &same);
    assert_string_equal(t.s, same.s);
}

/* Every part of an entry is in its bytes. */
static void test_nothing_is_left_out(void **state)
{
    CLEANUP_TEXT struct text base = {0};
    struct leaf l = sample();
    leaf_format(&l, &base);
    for (int i = 0; i < 9; i++) {
        CLEANUP_TEXT struct text t = {0};
        l = sample();
        l.revision += i == 0;
        l.n += i == 1;
        l.at.ns += i == 2;
        const char **const parts[] = {&l.actor, &l.what, &l.nodes, &l.text, &l.about, &l.fields};
        if (i >= 3)
            *parts[i - 3] = i == 8 ? "\"cost\":1" : "x";
        leaf_format(&l, &t);
        assert_string_not_equal(t.s, base.s);
    }
}

static void test_a_large_entry_is_its_hash(void **state)
{
    CLEANUP_TEXT struct text nodes = {0}, t = {0}, whole = {0};
    struct leaf l = sample();
    char hex[65];
    for (int i = 0; i < LEAF_BYTES_MAX; i++)
        text_add_char(&nodes, 'n');
    l.nodes = nodes.s;
    text_add(&t, "before");
    leaf_format(&l, &t);
    assert_true(t.len < 300);
    text_printf(&whole,
                "{\"revision\":4711,\"n\":1,\"at\":\"1795211336596711822\",\"actor\":\"root\",\"what\":"
                "\"node.drain\","
                "\"nodes\":\"%s\",\"text\":\"bad \\\"DIMM\\\"\",\"about\":\"1.7\",\"claims\":[\"1.7\"]}",
                nodes.s);
    digest_sha256(whole.s, whole.len, hex);
    CLEANUP_TEXT struct text want = {0};
    text_printf(
        &want,
        "before{\"revision\":4711,\"n\":1,\"at\":\"1795211336596711822\",\"sha256\":\"%s\",\"bytes\":%zu}",
        hex, whole.len);
    assert_string_equal(t.s, want.s);
}

static void test_head(void **state)
{
    struct leaf l = sample();
    struct leaf_head h;
    CLEANUP_TEXT struct text t = {0};
    leaf_format(&l, &t);
    assert_true(leaf_head(t.s, t.len, &h));
    assert_int_equal(h.revision, 4711);
    assert_int_equal(h.n, 1);
    assert_int_equal(h.at.ns, l.at.ns);
    for (size_t len = 0; len < strlen("{\"revision\":4711,\"n\":1,\"at\":\"1795211336596711822\""); len++)
        assert_false(leaf_head(t.s, len, &h));
    assert_false(leaf_head("{\"revision\":x", 13, &h));
}

static void test_bundle(void **state)
{
    CLEANUP_TEXT struct text t = {0}, large = {0};
    const char *bytes;
    size_t len;
    struct err e;
    for (int i = 0; i < LEAF_BYTES_MAX; i++)
        text_add_char(&large, 'x');
    bundle_add(&t, "one", 3);
    bundle_add(&t, "", 0);
    bundle_add(&t, large.s, large.len);
    struct bundle_walk w = {t.s, t.s + t.len};
    assert_int_equal(bundle_next(&w, &bytes, &len, &e), 1);
    assert_int_equal(len, 3);
    assert_memory_equal(bytes, "one", 3);
    assert_int_equal(bundle_next(&w, &bytes, &len, &e), 1);
    assert_int_equal(len, 0);
    assert_int_equal(bundle_next(&w, &bytes, &len, &e), 1);
    assert_int_equal(len, LEAF_BYTES_MAX);
    assert_int_equal(bundle_next(&w, &bytes, &len, &e), 0);
    w = (struct bundle_walk){t.s, t.s + 4};
    assert_int_equal(bundle_next(&w, &bytes, &len, &e), -EINVAL);
    w = (struct bundle_walk){t.s, t.s + 1};
    assert_int_equal(bundle_next(&w, &bytes, &len, &e), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_form),
        cmocka_unit_test(test_nothing_is_left_out),
        cmocka_unit_test(test_a_large_entry_is_its_hash),
        cmocka_unit_test(test_head),
        cmocka_unit_test(test_bundle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
