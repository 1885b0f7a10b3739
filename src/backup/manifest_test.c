/* SPDX-License-Identifier: Apache-2.0 */
#include "backup/manifest.h"

#include "base/digest.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const struct manifest some = {
    .at = {1795694400123000000},
    .version = "0.1.0",
    .cluster = "00112233445566ff",
    .digest = "0123456789abcdef",
    .term = 7,
    .revision = 1234,
    .n = 3,
    .files = {{"state.db", 4096, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"},
              {"ca.pem", 100, "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"},
              {"ca.key", 10, "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"}}};

static void parses(const char *text, const char *words)
{
    struct manifest m;
    struct err e = {0};
    assert_int_equal(manifest_parse(text, strlen(text), &m, &e), -EILSEQ);
    if (!strstr(e.msg, words))
        fail_msg("\"%s\" does not say \"%s\"", e.msg, words);
}

/* Changes a text, and makes the sum anew. */
static void edited(const char *from, const char *to, struct text *out)
{
    CLEANUP_TEXT struct text t = {0};
    char sum[65], zeros[65];
    manifest_write(&some, &t);
    const char *at = strstr(t.s, from);
    assert_non_null(at);
    text_clear(out);
    text_add_bytes(out, t.s, (size_t)(at - t.s));
    text_add(out, to);
    text_add(out, at + strlen(from));
    char *place = strstr(out->s, "\"sum\":\"") + 7;
    memset(zeros, '0', 64);
    memcpy(place, zeros, 64);
    digest_sha256(out->s, out->len, sum);
    memcpy(place, sum, 64);
}

static void test_a_written_manifest_is_read(void **state)
{
    CLEANUP_TEXT struct text t = {0}, again = {0};
    struct manifest m;
    manifest_write(&some, &t);
    assert_non_null(strstr(t.s, "\"made\":\"2026-11-26T12:00:00.123Z\""));
    assert_int_equal(manifest_parse(t.s, t.len, &m, NULL), 0);
    manifest_write(&m, &again);
    assert_string_equal(t.s, again.s);
    assert_int_equal(manifest_bytes(&m), 4206);
}

static void test_every_byte_counts(void **state)
{
    CLEANUP_TEXT struct text t = {0};
    struct manifest m;
    manifest_write(&some, &t);
    for (size_t i = 0; i < t.len; i++) {
        t.s[i] ^= 1;
        assert_int_equal(manifest_parse(t.s, t.len, &m, NULL), -EILSEQ);
        t.s[i] ^= 1;
    }
}

static void test_a_newer_format(void **state)
{
    CLEANUP_TEXT struct text t = {0};
    edited("{\"format\":1", "{\"format\":2", &t);
    parses(t.s, "it has format 2, and this version knows format 1");
}

static void test_names_of_files(void **state)
{
    CLEANUP_TEXT struct text t = {0};
    edited("\"ca.key\"", "\"../ca.key\"", &t);
    parses(t.s, "a backup has no file \"../ca.key\"");
    edited("\"ca.key\"", "\"ca.pem\"", &t);
    parses(t.s, "has it once");
    edited("\"ca.key\"", "\"journal.db\"", &t);
    parses(t.s, "it does not have ca.key");
}

static void test_values_that_are_none(void **state)
{
    CLEANUP_TEXT struct text t = {0};
    edited("\"revision\":1234", "\"revision\":-1", &t);
    parses(t.s, "revision");
    edited("\"at\":\"1795694400123000000\"", "\"at\":\"x\"", &t);
    parses(t.s, "");
    edited("\"bytes\":10,", "", &t);
    parses(t.s, "bytes");
    edited("\"sha256\":\"cccc", "\"sha256\":\"zccc", &t);
    parses(t.s, "ca.key has no SHA-256");
    edited("\"files\":[", "\"files\":1,\"x\":[", &t);
    parses(t.s, "no list of files");
    parses("", "no manifest of Fettle");
    parses("[]", "no manifest of Fettle");
    parses("{\"format\":1,\"sum\":\"1\"}", "no manifest of Fettle");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_written_manifest_is_read),
        cmocka_unit_test(test_every_byte_counts),
        cmocka_unit_test(test_a_newer_format),
        cmocka_unit_test(test_names_of_files),
        cmocka_unit_test(test_values_that_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
