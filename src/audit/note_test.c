/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/note.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* The example in the documentation of Go's package sumdb/note. */
static const char go_key[] = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";
#define GO_TEXT                                                  \
    "If you think cryptography is the answer to your problem,\n" \
    "then you don't know what your problem is.\n"
#define GO_LINE                  \
    "\xe2\x80\x94 PeterNeumann " \
    "x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n"
#define OTHER_LINE "\xe2\x80\x94 witness.example AAAAAQID\n"

static struct note_key key_of(const char *s)
{
    struct note_key k;
    assert_int_equal(note_key_parse(s, &k, NULL), 0);
    return k;
}

static int read_note(const char *bytes, const struct note_key *k, struct signed_note *out)
{
    return note_read(bytes, strlen(bytes), k, out, NULL);
}

static void test_a_key_of_others(void **state)
{
    const struct note_key k = key_of(go_key);
    struct note_key again;
    CLEANUP_TEXT struct text t = {0};
    assert_string_equal(k.name, "PeterNeumann");
    assert_int_equal(k.id, 0xc74f20a3);
    note_key_format(&k, &t);
    assert_string_equal(t.s, go_key);
    note_key_init(&again, k.name, k.public);
    assert_memory_equal(&again, &k, sizeof k);
}

/* Another name, another id, another type, a byte less, what is no Base 64, nothing. */
static void test_no_other_key(void **state)
{
    static const char *const bad[] = {"PeterNewmann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
                                      "PeterNeumann+c74f20a4+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
                                      "PeterNeumann+C74F20A3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
                                      "PeterNeumann+c74f20a3+AhpC2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
                                      "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10Q=",
                                      "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW\n",
                                      "PeterNeumann+c74f20a3",
                                      "PeterNeumann",
                                      "+c74f20a3+",
                                      "++",
                                      ""};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct note_key k;
        struct err e;
        assert_int_equal(note_key_parse(bad[i], &k, &e), -EINVAL);
    }
}

static void test_names(void **state)
{
    assert_true(note_name_is_good("fettle/0123456789abcdef"));
    assert_false(note_name_is_good(""));
    assert_false(note_name_is_good("two words"));
    assert_false(note_name_is_good("a+b"));
    assert_false(note_name_is_good("caf\xc3\xa9"));
    char name[NOTE_NAME_BYTES_MAX + 2];
    memset(name, 'n', sizeof name);
    name[NOTE_NAME_BYTES_MAX + 1] = '\0';
    assert_false(note_name_is_good(name));
}

static void test_a_note_of_others(void **state)
{
    const struct note_key k = key_of(go_key);
    struct signed_note n;
    CLEANUP_TEXT struct text same = {0};
    assert_int_equal(read_note(GO_TEXT "\n" GO_LINE, &k, &n), 0);
    assert_int_equal(n.len, strlen(GO_TEXT));
    assert_memory_equal(n.text, GO_TEXT, n.len);
    text_add(&same, GO_TEXT);
    note_sign(&same, &k, n.signature);
    assert_string_equal(same.s, GO_TEXT "\n" GO_LINE);
}

/* The text may have empty lines, and others may have signed it, before and after. */
static void test_signatures_of_others(void **state)
{
    const struct note_key k = key_of(go_key);
    struct signed_note n;
    assert_int_equal(read_note("a\n\nb\n\n" OTHER_LINE GO_LINE OTHER_LINE, &k, &n), 0);
    assert_int_equal(n.len, strlen("a\n\nb\n"));
    struct note_key unknown = k;
    unknown.id++;
    assert_int_equal(read_note(GO_TEXT "\n" GO_LINE, &unknown, &n), -ENOKEY);
    note_key_init(&unknown, "PeterNewmann", k.public);
    assert_int_equal(read_note(GO_TEXT "\n" GO_LINE, &unknown, &n), -ENOKEY);
}

static void test_no_notes(void **state)
{
    static const char *const bad[] = {"",
                                      "\n",
                                      "\n\n",
                                      GO_TEXT,
                                      GO_TEXT "\n",
                                      GO_TEXT GO_LINE,
                                      "\n" GO_LINE,
                                      GO_TEXT "\n" GO_LINE GO_LINE,
                                      GO_TEXT "\n" GO_LINE "more",
                                      GO_TEXT "\n" GO_LINE "more\n",
                                      "tab\t\n\n" GO_LINE,
                                      "latin \xe9\n\n" GO_LINE,
                                      GO_TEXT "\n"
                                              "\xe2\x80\x94 PeterNeumann\n",
                                      GO_TEXT "\n"
                                              "\xe2\x80\x94  x08go/Y=\n",
                                      GO_TEXT "\n"
                                              "- PeterNeumann x08go/ZJ\n",
                                      GO_TEXT "\n"
                                              "\xe2\x80\x94 PeterNeumann x08go/ZJ\n",
                                      GO_TEXT "\n"
                                              "\xe2\x80\x94 PeterNeumann x08g\n"};
    const struct note_key k = key_of(go_key);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct signed_note n;
        assert_int_equal(read_note(bad[i], &k, &n), -EINVAL);
    }
    CLEANUP_TEXT struct text large = {0};
    for (size_t i = 0; i <= NOTE_BYTES_MAX; i++)
        text_add_char(&large, '\n');
    struct signed_note n;
    assert_int_equal(note_read(large.s, large.len, &k, &n, NULL), -EINVAL);
}

#define ROOT "CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n"

static int parse(const char *s, struct checkpoint *c)
{
    return checkpoint_parse(s, strlen(s), c, NULL);
}

/* The example of tlog-checkpoint. */
static void test_checkpoint(void **state)
{
    struct checkpoint c;
    CLEANUP_TEXT struct text t = {0};
    assert_int_equal(parse("example.com/behind-the-sofa\n20852163\n" ROOT, &c), 0);
    assert_string_equal(c.origin, "example.com/behind-the-sofa");
    assert_int_equal(c.size, 20852163);
    checkpoint_format(&c, &t);
    assert_string_equal(t.s, "example.com/behind-the-sofa\n20852163\n" ROOT);
    assert_int_equal(parse("o\n0\n" ROOT "more\n", &c), 0);
}

static void test_no_checkpoints(void **state)
{
    static const char *const bad[] = {"",
                                      "o\n1\n",
                                      "\n1\n" ROOT,
                                      "o\n01\n" ROOT,
                                      "o\n-1\n" ROOT,
                                      "o\n\n" ROOT,
                                      "o\n1\nAAAA\n",
                                      "o\n1\n" ROOT "\n",
                                      "o\n4611686018427387904\n" ROOT,
                                      "o\n99999999999999999999\n" ROOT,
                                      "o\n1 \n" ROOT};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct checkpoint c;
        assert_int_equal(parse(bad[i], &c), -EINVAL);
    }
}

static void test_minimum(void **state)
{
    CLEANUP_TEXT struct text t = {0};
    uint64_t index = 0;
    struct checkpoint c;
    minimum_format("fettle/1", 512, &t);
    assert_int_equal(minimum_parse(t.s, t.len, "fettle/1", &index, NULL), 0);
    assert_int_equal(index, 512);
    assert_int_equal(minimum_parse(t.s, t.len, "fettle/2", &index, NULL), -EINVAL);
    assert_int_equal(minimum_parse(t.s, t.len - 1, "fettle/1", &index, NULL), -EINVAL);
    assert_int_equal(checkpoint_parse(t.s, t.len, &c, NULL), -EINVAL);
    text_add(&t, ROOT);
    assert_int_equal(minimum_parse(t.s, t.len, "fettle/1", &index, NULL), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_key_of_others),
        cmocka_unit_test(test_no_other_key),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_a_note_of_others),
        cmocka_unit_test(test_signatures_of_others),
        cmocka_unit_test(test_no_notes),
        cmocka_unit_test(test_checkpoint),
        cmocka_unit_test(test_no_checkpoints),
        cmocka_unit_test(test_minimum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
