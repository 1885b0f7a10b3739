/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/proof.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define HASH1 "CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n"
#define HASH2 "gSKyXoYZUgZ6jduWYrkDOARinOMGJveXjgMkBTcdPlQ=\n"
#define NOTE "o\n9\n" HASH1 "\n- o AAAA\n"

static void test_inclusion(void **state)
{
    static const char file[] = "c2sp.org/tlog-proof@v1\nextra Zm9v\nindex 7\n" HASH1 HASH2 "\n" NOTE;
    struct proof p;
    CLEANUP_TEXT struct text t = {0};
    assert_int_equal(proof_parse(file, strlen(file), &p, NULL), 0);
    assert_int_equal(p.kind, PROOF_INCLUSION);
    assert_int_equal(p.place, 7);
    assert_string_equal(p.entry.s, "foo");
    assert_int_equal(p.path.n, 2);
    assert_memory_equal(p.note, NOTE, p.note_len);
    proof_format(&p, &t);
    assert_string_equal(t.s, file);
    proof_fini(&p);
}

static void test_without_an_entry(void **state)
{
    static const char file[] = "c2sp.org/tlog-proof@v1\nindex 0\n\n" NOTE;
    struct proof p;
    CLEANUP_TEXT struct text t = {0};
    assert_int_equal(proof_parse(file, strlen(file), &p, NULL), 0);
    assert_int_equal(p.path.n, 0);
    assert_int_equal(p.entry.len, 0);
    proof_format(&p, &t);
    assert_string_equal(t.s, file);
    proof_fini(&p);
}

static void test_consistency(void **state)
{
    static const char file[] = "old 20\n" HASH2 "\n" NOTE;
    struct proof p;
    CLEANUP_TEXT struct text t = {0};
    assert_int_equal(proof_parse(file, strlen(file), &p, NULL), 0);
    assert_int_equal(p.kind, PROOF_CONSISTENCY);
    assert_int_equal(p.place, 20);
    proof_format(&p, &t);
    assert_string_equal(t.s, file);
    proof_fini(&p);
}

static void test_no_proofs(void **state)
{
    static const char *const bad[] = {"",
                                      "\n",
                                      "old\n\n" NOTE,
                                      "old 01\n\n" NOTE,
                                      "old 1\n" HASH1,
                                      "old 1\nAAAA\n\n" NOTE,
                                      "c2sp.org/tlog-proof@v2\nindex 1\n\n" NOTE,
                                      "c2sp.org/tlog-proof@v1\n\n" NOTE,
                                      "c2sp.org/tlog-proof@v1\nextra Zm9\nindex 1\n\n" NOTE,
                                      "c2sp.org/tlog-proof@v1\nindex 1\nextra Zm9v\n\n" NOTE,
                                      "c2sp.org/tlog-proof@v1\nindex -1\n\n" NOTE};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct proof p;
        struct err e;
        assert_int_equal(proof_parse(bad[i], strlen(bad[i]), &p, &e), -EINVAL);
        proof_fini(&p);
    }
    CLEANUP_TEXT struct text many = {0};
    struct proof p;
    text_add(&many, "old 1\n");
    for (int i = 0; i <= TREE_PROOF_MAX; i++)
        text_add(&many, HASH1);
    text_add(&many, "\n" NOTE);
    assert_int_equal(proof_parse(many.s, many.len, &p, NULL), -EINVAL);
    proof_fini(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_inclusion),
        cmocka_unit_test(test_without_an_entry),
        cmocka_unit_test(test_consistency),
        cmocka_unit_test(test_no_proofs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
