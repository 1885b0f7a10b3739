/* SPDX-License-Identifier: Apache-2.0 */
#include "conform/component.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void add(struct components *c, const char *name, enum component_state state, const char *value)
{
    struct err e = {0};
    if (components_add(c, name, state, value, &e) < 0)
        fail_msg("%s: %s", name, e.msg);
}

static void sort(struct components *c)
{
    assert_int_equal(components_sort(c, NULL), 0);
}

static char *hex_of(const struct components *c, char out[static FINGERPRINT_HEX + 1])
{
    struct fingerprint f = components_fingerprint(c);
    return fingerprint_format(&f, out);
}

static void refused(const char *name, enum component_state state, const char *value, int code,
                    const char *sentence)
{
    struct components c = {0};
    struct err e = {0};
    add(&c, "before", COMPONENT_VALUE, "1");
    assert_int_equal(components_add(&c, name, state, value, &e), code);
    if (!strstr(e.msg, sentence))
        fail_msg("\"%s\" has no \"%s\"", e.msg, sentence);
    assert_int_equal(c.n, 1);
    assert_int_equal(c.bytes, 7);
    components_fini(&c);
}

static char *run_of(char c, size_t n)
{
    char *s = malloc(n + 1);
    memset(s, c, n);
    s[n] = '\0';
    return s;
}

/* --- limits and names ----------------------------------------------------------------------------- */

static void test_a_name_is_printable_and_has_no_blank_or_quote(void **state)
{
    const char *bad[] = {"a b", "a\nb", "a\"b", "a\\b", "a\tb", "caf\xc3\xa9", "\x7f", " a", "a "};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        refused(bad[i], COMPONENT_VALUE, "1", -EINVAL, "is no name of a component");
    refused("", COMPONENT_VALUE, "1", -EINVAL, "without a name");
    struct components c = {0};
    add(&c, "mount./a|b,c=d;e{f}[g]", COMPONENT_VALUE, "1");
    components_fini(&c);
}

static void test_a_sentence_shows_no_control_characters(void **state)
{
    struct components c = {0};
    struct err e = {0};
    assert_int_equal(components_add(&c, "a\n\033[31mb", COMPONENT_VALUE, "", &e), -EINVAL);
    assert_null(strpbrk(e.msg, "\n\033"));
    assert_non_null(strstr(e.msg, "a??[31mb"));
}

static void test_a_long_name_is_refused_with_the_limit(void **state)
{
    char *longest = run_of('a', COMPONENT_NAME_BYTES_MAX),
         *longer = run_of('a', COMPONENT_NAME_BYTES_MAX + 1);
    struct components c = {0};
    add(&c, longest, COMPONENT_VALUE, "1");
    refused(longer, COMPONENT_VALUE, "1", -E2BIG, "has 256 bytes; 255 are allowed");
    components_fini(&c);
    free(longest);
    free(longer);
}

static void test_a_value_of_a_mebibyte_is_refused_with_the_limit(void **state)
{
    char *longest = run_of('v', COMPONENT_VALUE_BYTES_MAX),
         *longer = run_of('v', COMPONENT_VALUE_BYTES_MAX + 1), *huge = run_of('v', 1 << 20);
    struct components c = {0};
    add(&c, "a", COMPONENT_VALUE, longest);
    refused("a", COMPONENT_VALUE, longer, -E2BIG, "has 4097 bytes; 4096 are allowed");
    refused("a", COMPONENT_VALUE, huge, -E2BIG,
            "the value of component a has 1048576 bytes; 4096 are allowed");
    refused("a", COMPONENT_UNKNOWN, huge, -E2BIG, "4096 are allowed");
    components_fini(&c);
    free(longest);
    free(longer);
    free(huge);
}

static void test_a_value_is_utf8(void **state)
{
    refused("a", COMPONENT_VALUE, "ab\xff", -EINVAL, "the value of component a is not UTF-8 at byte 2");
    refused("a", COMPONENT_VALUE, "\xc0\x80", -EINVAL, "not UTF-8 at byte 0");
    refused("a", COMPONENT_UNKNOWN, "\xed\xa0\x80", -EINVAL, "not UTF-8");
    refused("a", COMPONENT_VALUE, "\xe2\x82", -EINVAL, "not UTF-8 at byte 0");
}

static void test_absent_has_no_value(void **state)
{
    refused("a", COMPONENT_ABSENT, "x", -EINVAL, "is absent and has a value");
}

static void test_a_hundred_thousand_entries_are_refused_with_the_limit(void **state)
{
    struct components c = {0};
    struct err e = {0};
    int rc = 0;
    for (int i = 0; i < 100000 && rc == 0; i++) {
        char name[32];
        snprintf(name, sizeof name, "c%d", i);
        rc = components_add(&c, name, COMPONENT_VALUE, "", &e);
    }
    assert_int_equal(rc, -E2BIG);
    assert_int_equal(c.n, COMPONENTS_MAX);
    assert_string_equal(e.msg, "component c16384 is one too many; a list has 16384 at most");
    components_fini(&c);
}

static void test_a_list_of_too_many_bytes_is_refused_with_the_limit(void **state)
{
    char *value = run_of('v', COMPONENT_VALUE_BYTES_MAX);
    struct components c = {0};
    struct err e = {0};
    int rc = 0;
    for (int i = 0; i < 1000 && rc == 0; i++) {
        char name[32];
        snprintf(name, sizeof name, "c%03d", i);
        rc = components_add(&c, name, COMPONENT_VALUE, value, &e);
    }
    assert_int_equal(rc, -E2BIG);
    assert_int_equal(c.n, COMPONENTS_BYTES_MAX / 4100);
    assert_non_null(strstr(e.msg, "786432 are allowed"));
    components_fini(&c);
    free(value);
}

/* --- sorting -------------------------------------------------------------------------------------- */

static void test_order_of_adding_does_not_matter(void **state)
{
    struct components a = {0}, b = {0};
    const char *names[] = {"b", "a.b", "a", "a-b", "B", "a.b.c"};
    for (int i = 0; i < 6; i++) {
        add(&a, names[i], COMPONENT_VALUE, names[i]);
        add(&b, names[5 - i], COMPONENT_VALUE, names[5 - i]);
    }
    sort(&a);
    sort(&b);
    char x[FINGERPRINT_HEX + 1], y[FINGERPRINT_HEX + 1];
    assert_string_equal(hex_of(&a, x), hex_of(&b, y));
    const char *bytes_order[] = {"B", "a", "a-b", "a.b", "a.b.c", "b"};
    for (int i = 0; i < 6; i++)
        assert_string_equal(a.list[i].name, bytes_order[i]);
    components_fini(&a);
    components_fini(&b);
}

static void test_a_name_that_stands_twice_is_named(void **state)
{
    struct components c = {0};
    struct err e = {0};
    add(&c, "kernel.release", COMPONENT_VALUE, "6.1");
    add(&c, "cpu.model", COMPONENT_VALUE, "x");
    add(&c, "kernel.release", COMPONENT_ABSENT, "");
    assert_int_equal(components_sort(&c, &e), -EEXIST);
    assert_string_equal(e.msg, "component kernel.release stands twice in the list");
    assert_false(c.sorted);
    components_fini(&c);
}

/* --- the encoding --------------------------------------------------------------------------------- */

static void test_the_encoding_is_as_specified(void **state)
{
    struct components c = {0};
    CLEANUP_TEXT struct text t = {0};
    add(&c, "b", COMPONENT_ABSENT, "");
    add(&c, "a", COMPONENT_VALUE, "xy");
    sort(&c);
    components_encode(&c, &t);
    const char want[] = "fettle-fingerprint\0\0\0\1\0\0\0\2"
                        "\0\0\0\1a\0\0\0\0\2xy"
                        "\0\0\0\1b\1\0\0\0\0";
    assert_int_equal(t.len, sizeof want - 1);
    assert_memory_equal(t.s, want, t.len);
    components_fini(&c);
}

static void test_an_empty_list_has_a_fingerprint(void **state)
{
    struct components c = {0};
    char hex[FINGERPRINT_HEX + 1];
    sort(&c);
    hex_of(&c, hex);
    struct components one = {0};
    add(&one, "a", COMPONENT_VALUE, "");
    sort(&one);
    char other[FINGERPRINT_HEX + 1];
    assert_string_not_equal(hex, hex_of(&one, other));
    components_fini(&one);
}

static bool hashes_equal(const char *an, enum component_state as, const char *av, const char *bn,
                         enum component_state bs, const char *bv)
{
    struct components c = {0};
    add(&c, an, as, av);
    add(&c, bn, bs, bv);
    struct fingerprint a = component_hash(&c.list[0]), b = component_hash(&c.list[1]);
    components_fini(&c);
    return fingerprint_equal(&a, &b);
}

static void test_a_component_hash_is_of_name_state_and_value(void **state)
{
    assert_true(hashes_equal("a", COMPONENT_VALUE, "1", "a", COMPONENT_VALUE, "1"));
    assert_false(hashes_equal("a", COMPONENT_VALUE, "1", "b", COMPONENT_VALUE, "1"));
    assert_false(hashes_equal("a", COMPONENT_VALUE, "1", "a", COMPONENT_VALUE, "2"));
    assert_false(hashes_equal("a", COMPONENT_VALUE, "1", "a", COMPONENT_UNKNOWN, "1"));
    assert_false(hashes_equal("a", COMPONENT_VALUE, "", "a", COMPONENT_ABSENT, ""));
    assert_false(hashes_equal("ab", COMPONENT_VALUE, "c", "a", COMPONENT_VALUE, "bc"));
}

static void test_one_component_is_not_a_list_of_one(void **state)
{
    struct components c = {0};
    add(&c, "a", COMPONENT_VALUE, "1");
    sort(&c);
    struct fingerprint list = components_fingerprint(&c), one = component_hash(&c.list[0]);
    assert_false(fingerprint_equal(&list, &one));
    components_fini(&c);
}

/* A list whose few components come from a few letters that look like what separates others: two lists
 * drawn so are often nearly the same. */
static void random_list(struct components *c, unsigned *seed)
{
    static const char *const values[] = {"",         "a",  "\n",      "a\nb",    "b,a",          "=",
                                         "|",        "\"", "\\",      "a=1,b=2", "\x01\x02\x03", "a|b",
                                         "b=1\nc=2", "{}", "\xc3\xa9"};
    static const char *const names[] = {"a", "b", "c", "a=1", "a,b", "a|b", "ab", "a.b", "b=1", "a:1", "{}"};
    int n = rand_r(seed) % 4;
    for (int i = 0; i < n; i++) {
        const char *name = names[rand_r(seed) % 11];
        bool there = false;
        for (size_t j = 0; j < c->n; j++)
            there = there || strcmp(c->list[j].name, name) == 0;
        enum component_state s = (enum component_state)(rand_r(seed) % 3);
        if (!there)
            add(c, name, s, s == COMPONENT_ABSENT ? "" : values[rand_r(seed) % 15]);
    }
    sort(c);
}

static bool lists_equal(const struct components *a, const struct components *b)
{
    bool same = a->n == b->n;
    for (size_t i = 0; same && i < a->n; i++)
        same = strcmp(a->list[i].name, b->list[i].name) == 0 && a->list[i].state == b->list[i].state &&
               strcmp(a->list[i].value, b->list[i].value) == 0;
    return same;
}

static void test_two_lists_have_one_encoding_exactly_when_they_are_the_same(void **state)
{
    enum { LISTS = 600 };
    unsigned seed = 7;
    static struct components lists[LISTS];
    static struct text encoded[LISTS];
    size_t equal = 0;
    for (int i = 0; i < LISTS; i++) {
        random_list(&lists[i], &seed);
        components_encode(&lists[i], &encoded[i]);
        for (int j = 0; j < i; j++) {
            bool bytes =
                encoded[i].len == encoded[j].len && !memcmp(encoded[i].s, encoded[j].s, encoded[i].len);
            assert_int_equal(bytes, lists_equal(&lists[i], &lists[j]));
            equal += bytes;
        }
    }
    assert_true(equal > 0); /* both sides of "exactly" were seen */
    for (int i = 0; i < LISTS; i++) {
        components_fini(&lists[i]);
        text_fini(&encoded[i]);
    }
}

/* The same bytes in a row, cut in every way into name and value of two components. */
static void test_where_name_ends_and_value_begins_is_part_of_the_encoding(void **state)
{
    const char *all = "abcdefgh";
    struct fingerprint seen[512];
    size_t n = 0;
    for (int i = 1; i < 8; i++)
        for (int j = i; j < 8; j++)
            for (int k = j + 1; k <= 8; k++) {
                char name[16], value[16], name2[16];
                snprintf(name, sizeof name, "%.*s", i, all);
                snprintf(value, sizeof value, "%.*s", j - i, all + i);
                snprintf(name2, sizeof name2, "%.*s", k - j, all + j);
                struct components c = {0};
                add(&c, name, COMPONENT_VALUE, value);
                add(&c, name2, COMPONENT_VALUE, all + k);
                sort(&c);
                seen[n] = components_fingerprint(&c);
                for (size_t m = 0; m < n; m++)
                    assert_false(fingerprint_equal(&seen[m], &seen[n]));
                n++;
                components_fini(&c);
            }
    assert_true(n > 50);
}

/* --- hex ------------------------------------------------------------------------------------------ */

static void test_hex_is_read_strictly(void **state)
{
    struct fingerprint f, g;
    char hex[FINGERPRINT_HEX + 1];
    for (int i = 0; i < 32; i++)
        f.bytes[i] = (unsigned char)(i * 9);
    fingerprint_format(&f, hex);
    assert_true(fingerprint_parse(hex, &g));
    assert_true(fingerprint_equal(&f, &g));
    char longer[80];
    snprintf(longer, sizeof longer, "%s0", hex);
    assert_false(fingerprint_parse(longer, &g));
    hex[63] = '\0';
    assert_false(fingerprint_parse(hex, &g));
    memset(hex, 'A', 64);
    assert_false(fingerprint_parse(hex, &g));
    assert_false(fingerprint_parse("", &g));
}

static void test_short_names_tell_the_hashed_value(void **state)
{
    struct fingerprint f = {.bytes = {0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd}};
    char name[FINGERPRINT_SHORT_BYTES];
    assert_string_equal(fingerprint_cohort(&f, name), "fp_0123456789ab");
    assert_string_equal(fingerprint_list(&f, name), "list_0123456789ab");
}

static void test_fingerprints_are_in_order_of_their_bytes(void **state)
{
    struct fingerprint a = {.bytes = {0x7f}}, b = {.bytes = {0x80}};
    assert_true(fingerprint_compare(&a, &b) < 0);
    assert_true(fingerprint_compare(&b, &a) > 0);
    assert_int_equal(fingerprint_compare(&a, &a), 0);
}

/* --- JSON ----------------------------------------------------------------------------------------- */

static int parse(struct components *c, const char *text, struct err *e)
{
    CLEANUP_JSON json_t *object = json_read(text, strlen(text), e);
    return object ? components_parse(c, object, e) : -EINVAL;
}

static void test_json_is_read_as_it_was_written(void **state)
{
    struct components a = {0}, b = {0};
    CLEANUP_TEXT struct text t = {0};
    add(&a, "gone", COMPONENT_ABSENT, "");
    add(&a, "file./x", COMPONENT_VALUE, "\"quotes\"\nlines\\ \x01\x7f \xe2\x82\xac |,=");
    add(&a, "gpu.*", COMPONENT_UNKNOWN, "no driver\n");
    sort(&a);
    components_format(&a, &t);
    assert_int_equal(parse(&b, t.s, NULL), 0);
    sort(&b);
    assert_true(lists_equal(&a, &b));
    components_fini(&a);
    components_fini(&b);
}

static void test_json_leaves_empty_members_out(void **state)
{
    struct components c = {0};
    CLEANUP_TEXT struct text t = {0};
    components_format(&c, &t);
    assert_string_equal(t.s, "{}");
    text_clear(&t);
    add(&c, "b", COMPONENT_ABSENT, "");
    add(&c, "a", COMPONENT_ABSENT, "");
    sort(&c);
    components_format(&c, &t);
    assert_string_equal(t.s, "{\"absent\":[\"a\",\"b\"]}");
    components_fini(&c);
}

static void json_refused(const char *text, const char *sentence)
{
    struct components c = {0};
    struct err e = {0};
    add(&c, "before", COMPONENT_VALUE, "1");
    sort(&c);
    int rc = parse(&c, text, &e);
    if (rc != -EINVAL || !strstr(e.msg, sentence))
        fail_msg("%s: %d \"%s\"", text, rc, e.msg);
    assert_int_equal(c.n, 1);
    assert_int_equal(c.bytes, 7);
    assert_true(c.sorted);
    components_fini(&c);
}

static void test_json_of_another_form_is_refused_and_changes_nothing(void **state)
{
    json_refused("[]", "a list of components is a JSON object");
    json_refused("{\"components\":[]}", "\"components\" is not an object");
    json_refused("{\"components\":{\"a\":\"1\",\"b\":2}}", "the value of component b is not a text");
    json_refused("{\"components\":{\"a\":\"1\"},\"absent\":{}}", "\"absent\" is not an array");
    json_refused("{\"components\":{\"a\":\"1\"},\"absent\":[\"b\",null]}", "not a text");
    json_refused("{\"unknown\":\"all\"}", "\"unknown\" is not an object");
    json_refused("{\"components\":{\"a\":\"1\",\"\":\"\"}}", "without a name");
    json_refused("{\"components\":{\"a\":\"x\\u0000y\"}}", "");
    json_refused("{\"components\":{\"a\\u0000\":\"xy\"}}", "");
    json_refused("{\"absent\":[\"a\\u0000\"]}", "");
    json_refused("{\"components\":{\"a\":\"\xff\"}}", "");
    json_refused("{\"components\":{\"a\":\"1\",\"a\":\"2\"}}", "duplicate");
}

static void test_a_zero_byte_in_a_value_is_refused_however_the_object_was_made(void **state)
{
    struct components c = {0};
    CLEANUP_JSON json_t *object = json_pack("{s:{s:s#}}", "components", "a", "x\0y", 3);
    assert_int_equal(components_parse(&c, object, NULL), -EINVAL);
    CLEANUP_JSON json_t *absent = json_pack("{s:[s#]}", "absent", "x\0y", 3);
    assert_int_equal(components_parse(&c, absent, NULL), -EINVAL);
}

static void test_json_may_say_more(void **state)
{
    struct components c = {0};
    assert_int_equal(parse(&c, "{\"part\":0,\"components\":{\"a\":\"1\"},\"later\":[1]}", NULL), 0);
    assert_int_equal(c.n, 1);
    components_fini(&c);
}

static void test_a_name_in_two_states_is_found_by_sorting(void **state)
{
    struct components c = {0};
    assert_int_equal(parse(&c, "{\"components\":{\"a\":\"1\"},\"absent\":[\"a\"]}", NULL), 0);
    assert_int_equal(components_sort(&c, NULL), -EEXIST);
    components_fini(&c);
}

static void test_states_have_names(void **state)
{
    assert_string_equal(component_state_name(COMPONENT_VALUE), "value");
    assert_string_equal(component_state_name(COMPONENT_ABSENT), "absent");
    assert_string_equal(component_state_name(COMPONENT_UNKNOWN), "unknown");
}

static void test_names_in_one_text_are_read_as_they_were_added(void **state)
{
    static const char *const all[] = {"kernel.release", "mem,size", "x"};
    for (size_t n = 0; n <= 3; n++) {
        CLEANUP_TEXT struct text t = {0};
        struct component_names names;
        for (size_t i = 0; i < n; i++)
            component_names_add(&t, all[i]);
        component_names_read(n ? t.s : "", &names);
        assert_int_equal(names.n, n);
        for (size_t i = 0; i < n; i++)
            assert_string_equal(names.list[i], all[i]);
        component_names_fini(&names);
        assert_int_equal(names.n, 0);
        assert_string_equal(n == 3 ? t.s : "", n == 3 ? "kernel.release, mem,size, x" : "");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_name_is_printable_and_has_no_blank_or_quote),
        cmocka_unit_test(test_a_sentence_shows_no_control_characters),
        cmocka_unit_test(test_a_long_name_is_refused_with_the_limit),
        cmocka_unit_test(test_a_value_of_a_mebibyte_is_refused_with_the_limit),
        cmocka_unit_test(test_a_value_is_utf8),
        cmocka_unit_test(test_absent_has_no_value),
        cmocka_unit_test(test_a_hundred_thousand_entries_are_refused_with_the_limit),
        cmocka_unit_test(test_a_list_of_too_many_bytes_is_refused_with_the_limit),
        cmocka_unit_test(test_order_of_adding_does_not_matter),
        cmocka_unit_test(test_a_name_that_stands_twice_is_named),
        cmocka_unit_test(test_the_encoding_is_as_specified),
        cmocka_unit_test(test_an_empty_list_has_a_fingerprint),
        cmocka_unit_test(test_a_component_hash_is_of_name_state_and_value),
        cmocka_unit_test(test_one_component_is_not_a_list_of_one),
        cmocka_unit_test(test_two_lists_have_one_encoding_exactly_when_they_are_the_same),
        cmocka_unit_test(test_where_name_ends_and_value_begins_is_part_of_the_encoding),
        cmocka_unit_test(test_hex_is_read_strictly),
        cmocka_unit_test(test_short_names_tell_the_hashed_value),
        cmocka_unit_test(test_fingerprints_are_in_order_of_their_bytes),
        cmocka_unit_test(test_json_is_read_as_it_was_written),
        cmocka_unit_test(test_json_leaves_empty_members_out),
        cmocka_unit_test(test_json_of_another_form_is_refused_and_changes_nothing),
        cmocka_unit_test(test_a_zero_byte_in_a_value_is_refused_however_the_object_was_made),
        cmocka_unit_test(test_json_may_say_more),
        cmocka_unit_test(test_a_name_in_two_states_is_found_by_sorting),
        cmocka_unit_test(test_states_have_names),
        cmocka_unit_test(test_names_in_one_text_are_read_as_they_were_added),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
