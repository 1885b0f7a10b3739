/* SPDX-License-Identifier: Apache-2.0
 *
 * The audit log: what is asked for, and what is believed. The log is one in files; answers of a controller
 * are made from it.
 */
#include "archive/fixture_test.h"
#include "audit/proof.h"
#include "base/base64.h"
#include "cli/run_test.h"
#include "lib/stub_test.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char *root, *dir;
static struct fixture_log l;
static struct text key;

static int begin(void **state)
{
    root = fixture_dir();
    dir = fixture_path(root, "export");
    CLEANUP_FREE char *tree = fixture_path(root, "audit");
    l = (struct fixture_log){.tree = NULL};
    if (treefile_open(tree, ORIGIN, &l.tree, NULL))
        return -1;
    note_key_format(treefile_key(l.tree), &key);
    fixture_grow(l.tree, 300, NULL);
    return 0;
}

static int end(void **state)
{
    treefile_close(l.tree);
    text_fini(&key);
    free(dir);
    fixture_remove(root);
    return 0;
}

/* --- what a controller would answer ------------------------------------------------------------ */

static char *answer(int status, const void *bytes, size_t len, size_t *n)
{
    struct text t = {0};
    text_printf(&t, "HTTP/1.1 %d X\r\nContent-Type: text/plain\r\nContent-Length: %zu\r\n\r\n", status, len);
    text_add_bytes(&t, bytes, len);
    *n = t.len;
    return text_take(&t);
}

static char *shown(void)
{
    CLEANUP_TEXT struct text t = {0};
    text_printf(&t,
                "{\"origin\":\"" ORIGIN
                "\",\"key\":\"%s\",\"size\":300,\"root\":\"R\",\"first\":0,\"archived\":256}",
                key.s);
    return stub_json(200, t.s);
}

static void head_note(struct text *note)
{
    struct checkpoint head;
    treefile_head(l.tree, &head, note);
}

static void proof_of(uint64_t i, struct text *out)
{
    CLEANUP_TEXT struct text note = {0};
    const struct tree_reader reader = treefile_reader(l.tree);
    struct proof p = {.kind = PROOF_INCLUSION, .place = i};
    head_note(&note);
    p.note = note.s;
    p.note_len = note.len;
    fixture_entry(i, NULL, &p.entry);
    tree_inclusion(&reader, i, 300, &p.path, NULL);
    proof_format(&p, out);
    proof_fini(&p);
}

/* A call of two texts, which need no quotes. */
static struct run call(const char *command, const char *more, const char *socket)
{
    CLEANUP_TEXT struct text line = {0};
    text_printf(&line, "%s %s", command, more);
    return run(line.s, socket);
}

/* --- show and list --------------------------------------------------------------------------- */

static void the_log_is_shown(void **state)
{
    CLEANUP_FREE char *one = shown();
    struct stub_answer answers[] = {{.bytes = one}};
    struct stub *stub = stub_start(answers, 1);
    struct run r;
    r = run("audit show", stub_path(stub));
    assert_int_equal(r.status, 0);
    assert_non_null(strstr(r.out, key.s));
    assert_non_null(strstr(r.out, "Entries"));
    stub_join(stub);
    assert_non_null(strstr(stub_request(stub, 0), "GET /v1/audit HTTP"));
    stub_stop(stub);
}

static void entries_have_numbers(void **state)
{
    CLEANUP_FREE char *one = stub_json(
        200, "{\"entries\":[{\"at\":\"T1\",\"what\":\"node.drain\",\"actor\":\"ann\",\"nodes\":\"lx1\","
             "\"text\":\"bad\",\"revision\":4711,\"n\":2}],\"revision\":4711}");
    struct stub_answer answers[] = {{.bytes = one}};
    struct stub *stub = stub_start(answers, 1);
    struct run r;
    r = run("audit list lx1 --by ann --what node --since 2026-01-01T00:00:00Z", stub_path(stub));
    assert_int_equal(r.status, 0);
    assert_non_null(strstr(r.out, "4711.2  T1  node.drain  lx1"));
    stub_join(stub);
    assert_non_null(
        strstr(stub_request(stub, 0), "/v1/journal?tail=1000&nodes=lx1&what=node&by=ann&since=1767225600 "));
    stub_stop(stub);
}

/* --- prove and verify ------------------------------------------------------------------------ */

static void an_entry_is_proven(void **state)
{
    CLEANUP_TEXT struct text proof = {0};
    CLEANUP_FREE char *one = shown();
    size_t n;
    proof_of(7, &proof);
    CLEANUP_FREE char *two = answer(200, proof.s, proof.len, &n);
    struct stub_answer answers[] = {{.bytes = one}, {.bytes = two}};
    struct stub *stub = stub_start(answers, 2);
    struct run r;
    r = run("audit prove 4.1", stub_path(stub));
    assert_int_equal(r.status, 0);
    assert_string_equal(r.out, proof.s);
    stub_join(stub);
    assert_non_null(strstr(stub_request(stub, 1), "GET /v1/audit/proof?revision=4&n=1 HTTP"));
    stub_stop(stub);
}

/* A controller that gives a proof of something else is not believed. */
static void a_false_proof_is_not_printed(void **state)
{
    CLEANUP_TEXT struct text proof = {0};
    CLEANUP_FREE char *one = shown();
    size_t n;
    proof_of(7, &proof);
    char *index = strstr(proof.s, "index 7");
    index[6] = '8';
    CLEANUP_FREE char *two = answer(200, proof.s, proof.len, &n);
    struct stub_answer answers[] = {{.bytes = one}, {.bytes = two}};
    struct stub *stub = stub_start(answers, 2);
    struct run r;
    r = run("audit prove 4.1", stub_path(stub));
    assert_int_not_equal(r.status, 0);
    assert_null(strstr(r.out, "tlog-proof"));
    stub_join(stub);
    stub_stop(stub);
}

/* Nor is a good proof of another entry. */
static void a_proof_of_another_entry(void **state)
{
    CLEANUP_TEXT struct text proof = {0};
    CLEANUP_FREE char *one = shown();
    size_t n;
    struct run r;
    proof_of(7, &proof);
    CLEANUP_FREE char *two = answer(200, proof.s, proof.len, &n);
    struct stub_answer answers[] = {{.bytes = one}, {.bytes = two}};
    struct stub *stub = stub_start(answers, 2);
    r = run("audit prove 4.0", stub_path(stub));
    assert_int_not_equal(r.status, 0);
    assert_string_equal(r.error, "the controller proves something else");
    stub_join(stub);
    stub_stop(stub);
}

static void a_proof_is_verified_offline(void **state)
{
    CLEANUP_TEXT struct text proof = {0}, line = {0};
    CLEANUP_FREE char *path = fixture_path(root, "p.tlog-proof");
    struct run r;
    proof_of(7, &proof);
    fixture_write(path, proof.s, proof.len);
    text_printf(&line, "%s --log-key %s", path, key.s);
    r = call("audit verify", line.s, "/nowhere");
    assert_int_equal(r.status, 0);
    assert_non_null(strstr(r.out, "good\n"));
    assert_non_null(strstr(r.out, "\"text\":\"entry 7\""));
    r = call("audit verify", path, "/nowhere");
    assert_int_not_equal(r.status, 0);
    *strstr(proof.s, "extra e") = 'E';
    fixture_write(path, proof.s, proof.len);
    r = call("audit verify", line.s, "/nowhere");
    assert_int_not_equal(r.status, 0);
    assert_null(strstr(r.out, "good"));
}

static void a_directory_is_verified_offline(void **state)
{
    CLEANUP_TEXT struct text line = {0}, bytes = {0}, old = {0};
    CLEANUP_FREE char *tile = fixture_path(dir, "tile/entries/000"), *file = fixture_path(root, "old");
    struct run r;
    head_note(&old);
    fixture_write(file, old.s, old.len);
    fixture_grow(l.tree, 400, NULL);
    assert_int_equal(fixture_export(&l, dir, true, NULL), 0);
    r = call("audit verify", dir, "/nowhere");
    assert_int_equal(r.status, 0);
    assert_non_null(strstr(r.out, "the directory's own key"));
    assert_non_null(strstr(r.out, "400"));
    text_printf(&line, "%s --log-key %s --old %s", dir, key.s, file);
    r = call("audit verify", line.s, "/nowhere");
    assert_int_equal(r.status, 0);
    assert_null(strstr(r.out, "own key"));
    r = call("audit verify --quiet", dir, "/nowhere");
    assert_int_equal(r.status, 0);
    assert_string_equal(r.out, "");
    fixture_read(tile, &bytes);
    char *at = memmem(bytes.s, bytes.len, "entry 5\"", 8);
    *at = 'E';
    fixture_write(tile, bytes.s, bytes.len);
    r = call("audit verify", dir, "/nowhere");
    assert_int_not_equal(r.status, 0);
    assert_null(strstr(r.out, "good"));
}

/* --- export ---------------------------------------------------------------------------------- */

static int add_answer(void *arg, const struct tile *t, struct err *e)
{
    struct stub_answer **next = arg;
    CLEANUP_TEXT struct text bytes = {0};
    const struct archive_source source = fixture_source(&l);
    size_t n;
    assert_int_equal(source.fetch(source.arg, t, &bytes, e), 0);
    (*next)->bytes = answer(200, bytes.s, bytes.len, &n);
    (*next)->len = n;
    ++*next;
    return 0;
}

static void the_log_is_exported(void **state)
{
    CLEANUP_TEXT struct text note = {0};
    struct stub_answer answers[16] = {{.bytes = NULL}}, *next = answers;
    size_t n, len;
    head_note(&note);
    (next++)->bytes = shown();
    (next++)->bytes = answer(200, note.s, note.len, &len);
    tiles_each(0, 300, add_answer, &next, NULL);
    (next++)->bytes =
        stub_json(404, "{\"error\":{\"code\":\"not_found\",\"message\":\"all entries are kept\"}}");
    n = (size_t)(next - answers);
    struct stub *stub = stub_start(answers, n);
    struct run r;
    r = call("audit export", dir, stub_path(stub));
    assert_int_equal(r.status, 0);
    assert_non_null(strstr(r.out, "good\n"));
    stub_join(stub);
    stub_stop(stub);
    for (size_t i = 0; i < n; i++)
        free((char *)(uintptr_t)answers[i].bytes);
    r = call("audit verify", dir, "/nowhere");
    assert_int_equal(r.status, 0);
}

static void wrong_words(void **state)
{
    static const char *const lines[] = {"audit prove",
                                        "audit prove x",
                                        "audit prove 0.1",
                                        "audit prove 1.x",
                                        "audit prove 1 --old /tmp/x",
                                        "audit verify /nowhere/at/all",
                                        "audit verify",
                                        "audit verify /etc/hostname --log-key x",
                                        "audit export"};
    struct run r;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        r = run(lines[i], "/nowhere");
        assert_int_not_equal(r.status, 0);
        assert_true(r.error[0]);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(the_log_is_shown),
        TEST(entries_have_numbers),
        TEST(an_entry_is_proven),
        TEST(a_false_proof_is_not_printed),
        TEST(a_proof_of_another_entry),
        TEST(a_proof_is_verified_offline),
        TEST(a_directory_is_verified_offline),
        TEST(the_log_is_exported),
        TEST(wrong_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
