/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"
#include "cluster/fixture_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { LARGE_BYTES = 3 << 20, RECORDS_MAX = 1000 };

/* A store's part: the records as they are committed. */
struct records {
    size_t n;
    struct {
        char *key, *value;
    } list[RECORDS_MAX];
};

static void record_put(struct records *r, const char *key, const char *value)
{
    size_t i = 0;
    while (i < r->n && strcmp(r->list[i].key, key) != 0)
        i++;
    if (i < r->n) {
        free(r->list[i].key);
        free(r->list[i].value);
        r->list[i] = r->list[--r->n];
    }
    if (!value)
        return;
    assert_true(r->n < RECORDS_MAX);
    r->list[r->n].key = mem_dup(key);
    r->list[r->n++].value = mem_dup(value);
}

/* A state gets its name once, and with it the authority that all its controllers have. */
static void test_a_state_has_one_name(void **state)
{
    static const char name[] = "00112233445566aa",
                      print[] = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
    struct cluster *c = cluster_create();
    struct err e;
    struct decision d = {0};
    const struct command cmd = {.kind = COMMAND_STATE, .actor = "fettled", .at = {7}, .state = {name, print}};
    assert_int_equal(cluster_decide(c, &cmd, 0, &d, &e), 0);
    assert_int_equal(d.n_ops, 1);
    assert_string_equal(d.ops[0].key, "origin/00112233445566aa");
    assert_string_equal(d.text, "a new state: 00112233445566aa");
    uint64_t nameless = cluster_digest(c);
    assert_int_equal(cluster_put(c, d.ops[0].key, d.ops[0].value, &e), 0);
    decision_fini(&d);
    assert_string_equal(cluster_origin(c), name);
    assert_string_equal(cluster_authority(c), print);
    assert_true(cluster_digest(c) != nameless);
    assert_int_equal(cluster_decide(c, &cmd, 0, &d, &e), -EEXIST);
    assert_string_equal(e.msg, "the state is called 00112233445566aa already");
    assert_int_equal(cluster_put(c, "origin/00112233445566aa", "{\"at\":\"7\",\"authority\":\"x\"}", &e),
                     -EILSEQ);
    assert_int_equal(cluster_put(c, "origin/00112233445566aa", NULL, &e), 0);
    assert_string_equal(cluster_authority(c), "");
    assert_true(cluster_digest(c) == nameless);
    cluster_destroy(c);
}

static void records_fini(struct records *r)
{
    while (r->n)
        record_put(r, r->list[0].key, NULL);
}

static struct cluster *records_load(const struct records *r)
{
    struct cluster *c = cluster_create();
    struct err e;
    for (size_t i = 0; i < r->n; i++)
        assert_int_equal(cluster_put(c, r->list[i].key, r->list[i].value, &e), 0);
    return c;
}

/* Decides and commits once. The journal's sentence; "" when nothing changes. */
static const char *revise(struct cluster *c, struct records *r, const char *classes, const char *nodes)
{
    static char said[200];
    const struct revise_part parts[] = {{"classes", classes}, {"nodes", nodes}};
    const struct command given = {.kind = COMMAND_REVISE,
                                  .actor = "root",
                                  .at = {7},
                                  .revise = {.said = "MaxOut 5 -> 6", .n = nodes ? 2 : 1, .parts = parts}};
    struct command *cmd = command_copy(&given);
    struct decision d = {0};
    size_t bytes = 0;
    assert_int_equal(cluster_decide(c, cmd, 0, &d, NULL), 0);
    assert_true(d.n_ops <= 100);
    assert_int_equal(d.n_ops > 0, d.text != NULL);
    for (size_t i = 0; i < d.n_ops; i++) {
        bytes += d.ops[i].value ? strlen(d.ops[i].value) : 0;
        record_put(r, d.ops[i].key, d.ops[i].value);
        assert_int_equal(cluster_put(c, d.ops[i].key, d.ops[i].value, NULL), 0);
    }
    assert_true(bytes < 1 << 20); /* a batch of the store */
    snprintf(said, sizeof said, "%s", d.text ? d.text : "");
    decision_fini(&d);
    command_destroy(cmd);
    return said;
}

static void assert_part(const struct cluster *c, const char *part, const char *text)
{
    CLEANUP_TEXT struct text is = {0};
    assert_int_equal(cluster_revision_text(c, part, &is, NULL), 0);
    assert_string_equal(is.s, text);
}

/* Characters of one to three bytes: some of them lie across the ends of pieces. */
static char *large_text(char mark)
{
    struct text t = {0};
    while (t.len < LARGE_BYTES)
        text_printf(&t, "Name=n%zu Note=\"%c \xe2\x82\xac\xc3\xa4\"\n", t.len, mark);
    return text_take(&t);
}

static void test_a_revision_is_agreed(void **state)
{
    struct cluster *c = cluster_create();
    struct records r = {0};
    uint64_t before = cluster_digest(c);
    assert_int_equal(cluster_revision(c)->number, 0);
    assert_int_equal(cluster_revision_text(c, "nodes", NULL, NULL), -ENOENT);
    assert_string_equal(revise(c, &r, "", "Name=lx01\n"), "revision 1 of the configuration: MaxOut 5 -> 6");
    assert_int_equal(cluster_revision(c)->number, 1);
    assert_string_equal(cluster_revision(c)->by, "root");
    assert_int_equal(cluster_revision(c)->at.ns, 7);
    assert_part(c, "classes", "");
    assert_part(c, "nodes", "Name=lx01\n");
    assert_true(cluster_digest(c) != before);
    assert_string_equal(revise(c, &r, "", "Name=lx01\n"), "");
    assert_int_equal(r.n, 2); /* the head and a text */
    assert_string_equal(revise(c, &r, "", NULL), "revision 2 of the configuration: MaxOut 5 -> 6");
    assert_int_equal(cluster_revision_text(c, "nodes", NULL, NULL), -ENOENT);
    assert_int_equal(r.n, 1);
    records_fini(&r);
    cluster_destroy(c);
}

static void test_another_controller_has_the_same(void **state)
{
    struct cluster *c = cluster_create();
    struct records r = {0};
    revise(c, &r, "Class=gpu\n", "Name=lx01\n");
    revise(c, &r, "Class=gpu\n", "Name=lx02\n");
    struct cluster *other = records_load(&r);
    assert_int_equal(cluster_digest(c), cluster_digest(other));
    assert_string_equal(cluster_revision(c)->hash, cluster_revision(other)->hash);
    assert_part(other, "classes", "Class=gpu\n");
    assert_part(other, "nodes", "Name=lx02\n");
    assert_string_equal(revise(other, &r, "Class=gpu\n", "Name=lx02\n"), "");
    cluster_destroy(other);
    records_fini(&r);
    cluster_destroy(c);
}

static void test_a_large_text_takes_several_commits(void **state)
{
    struct cluster *c = cluster_create();
    struct records r = {0};
    CLEANUP_FREE char *large = large_text('a');
    unsigned commits = 0;
    revise(c, &r, "", "Name=lx01\n");
    while (*revise(c, &r, "", large)) {
        bool last = cluster_revision(c)->number == 2;
        assert_part(c, "nodes", last ? large : "Name=lx01\n"); /* whole or not at all */
        commits++;
    }
    assert_true(commits > 5);
    assert_int_equal(cluster_revision(c)->number, 2);
    struct cluster *other = records_load(&r);
    assert_part(other, "nodes", large);
    cluster_destroy(other);
    records_fini(&r);
    cluster_destroy(c);
}

/* The process ends between the commits of a revision, at each of them. */
static void test_an_unfinished_revision_is_finished_or_removed(void **state)
{
    CLEANUP_FREE char *large = large_text('a'), *another = large_text('b');
    for (unsigned at = 1; at < 8; at++) {
        for (unsigned goes_on = 0; goes_on < 2; goes_on++) {
            struct cluster *c = cluster_create();
            struct records r = {0};
            revise(c, &r, "", "Name=lx01\n");
            for (unsigned i = 0; i < at; i++)
                revise(c, &r, "", large);
            cluster_destroy(c);
            c = records_load(&r);
            if (cluster_revision(c)->number == 1)
                assert_part(c, "nodes", "Name=lx01\n");
            unsigned commits = at;
            while (*revise(c, &r, "", goes_on ? large : another))
                commits++;
            assert_part(c, "nodes", goes_on ? large : another);
            if (goes_on)
                assert_true(commits == 7 || at > 7); /* nothing is written twice */
            size_t pieces = (LARGE_BYTES >> 16) + 1;
            assert_true(r.n <= pieces + 2); /* nothing else is left */
            records_fini(&r);
            cluster_destroy(c);
        }
    }
}

/* The files are what they were: what the unfinished revision left goes. */
static void test_remains_of_a_revision_are_removed_without_a_change(void **state)
{
    struct cluster *c = cluster_create();
    struct records r = {0};
    CLEANUP_FREE char *large = large_text('a');
    revise(c, &r, "", "Name=lx01\n");
    revise(c, &r, "", large);
    assert_true(r.n > 2);
    assert_string_equal(revise(c, &r, "", "Name=lx01\n"),
                        "texts of other revisions of the configuration are removed");
    assert_string_equal(revise(c, &r, "", "Name=lx01\n"), "");
    assert_int_equal(r.n, 2);
    assert_int_equal(cluster_revision(c)->number, 1);
    records_fini(&r);
    cluster_destroy(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_state_has_one_name),
        cmocka_unit_test(test_a_revision_is_agreed),
        cmocka_unit_test(test_another_controller_has_the_same),
        cmocka_unit_test(test_a_large_text_takes_several_commits),
        cmocka_unit_test(test_an_unfinished_revision_is_finished_or_removed),
        cmocka_unit_test(test_remains_of_a_revision_are_removed_without_a_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
