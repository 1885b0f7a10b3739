/* SPDX-License-Identifier: Apache-2.0 */
/* Commits out of the lines of a watch, however the lines are cut. */
#include "store/etcd/commits.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define MARK "0123456789abcdef"
#define OTHER "fedcba9876543210"

/* An event: a key and its value (NULL: deleted), of a revision of etcd. The put of a transaction is written
 * as the request, and its key and value are taken from there. */
static void event(struct text *line, const char *key, const char *value, unsigned at)
{
    CLEANUP_TEXT struct text put = {0};
    wire_put(&put, key, value ? value : "", value ? strlen(value) : 0);
    put.len -= 2;
    put.s[put.len] = '\0'; /* {"request_put":{"key":..,"value":.. */
    text_printf(line, "%s{%s\"kv\":{%s,\"mod_revision\":\"%u\"}}", line->len ? "," : "",
                value ? "" : "\"type\":\"DELETE\",", put.s + strlen("{\"request_put\":{"), at);
}

static void line_end(struct text *line, bool continues, struct text *out)
{
    text_printf(out, "{\"result\":{\"header\":{\"revision\":\"1\"},%s\"events\":[%s]}}\n",
                continues ? "\"fragment\":true," : "", line->len ? line->s : "");
    text_clear(line);
}

struct heard {
    struct text told;
    size_t most; /* commits, and then no more */
};

static bool on_commit(void *arg, struct store_change *c)
{
    struct heard *h = arg;
    text_printf(&h->told, "%s%d:", h->told.len ? "; " : "", (int)c->revision);
    for (size_t i = 0; i < c->batch.n_ops; i++)
        text_printf(&h->told, " %s=%s", c->ops[i].key, c->ops[i].value ? c->ops[i].value : "");
    text_printf(&h->told, " (%zu)", c->batch.n_entries);
    change_destroy(c);
    return --h->most > 0;
}

static void journal_event(struct text *line, unsigned revision, const char *mark, unsigned at)
{
    char key[LAYOUT_JOURNAL_BYTES], value[64];
    snprintf(value, sizeof value, "16:%s,1:5,1:a,0:,0:,0:,0:,0:,", mark);
    event(line, layout_journal_key(revision, key), value, at);
}

static void head_event(struct text *line, unsigned revision, const char *mark, unsigned at)
{
    struct layout_head head = {.revision = revision};
    char value[LAYOUT_HEAD_BYTES];
    memcpy(head.mark, mark, sizeof head.mark);
    event(line, LAYOUT_HEAD, layout_head_write(&head, value), at);
}

/* Gives the stream in pieces of this size. */
static int feed(const struct text *stream, size_t piece, uint64_t after, struct heard *h, struct commits *c)
{
    int r = 0;
    commits_init(c, after);
    for (size_t at = 0; at < stream->len && !r; at += piece)
        r = commits_take(c, stream->s + at, stream->len - at < piece ? stream->len - at : piece, on_commit, h,
                         NULL);
    return r;
}

static void two_commits(struct text *out)
{
    CLEANUP_TEXT struct text line = {0};
    line_end(&line, false, out); /* the watch has begun */
    event(&line, "fettle/record/a", "1", 9);
    event(&line, "fettle/record/b", NULL, 9);
    journal_event(&line, 4, MARK, 9);
    head_event(&line, 4, MARK, 9);
    event(&line, "fettle/leader", "{}", 10);
    event(&line, "fettle/record/a", "2", 12);
    line_end(&line, true, out); /* the second commit is in two lines */
    journal_event(&line, 5, OTHER, 12);
    head_event(&line, 5, OTHER, 12);
    line_end(&line, false, out);
}

static void test_commits_come_whole_from_any_pieces(void **state)
{
    CLEANUP_TEXT struct text stream = {0};
    two_commits(&stream);
    for (size_t piece = 1; piece < stream.len + 7; piece += piece < 20 ? 1 : 97) {
        struct heard h = {.most = 9};
        struct commits c;
        assert_int_equal(feed(&stream, piece, 3, &h, &c), 0);
        assert_string_equal(h.told.s, "4: a=1 b= (1); 5: a=2 (1)");
        assert_true(c.revision == 5 && c.made_at == 12);
        assert_string_equal(c.mark, OTHER);
        commits_fini(&c);
        text_fini(&h.told);
    }
}

static void test_the_owner_ends_the_walk(void **state)
{
    CLEANUP_TEXT struct text stream = {0};
    struct heard h = {.most = 1};
    struct commits c;
    two_commits(&stream);
    assert_int_equal(feed(&stream, stream.len, 3, &h, &c), 0);
    assert_string_equal(h.told.s, "4: a=1 b= (1)");
    commits_fini(&c);
    text_fini(&h.told);
}

/* A fence, old entries that go, members: none is a commit. */
static void test_events_that_are_no_commit(void **state)
{
    CLEANUP_TEXT struct text stream = {0}, line = {0};
    struct heard h = {.most = 9};
    struct commits c;
    head_event(&line, 3, OTHER, 20);
    event(&line, "fettle/journal/00000000000000000001", NULL, 21);
    event(&line, "fettle/member/a", "x", 22);
    event(&line, "fettle/leader", NULL, 23);
    line_end(&line, false, &stream);
    assert_int_equal(feed(&stream, 50, 3, &h, &c), 0);
    assert_null(h.told.s);
    assert_int_equal(c.revision, 3);
    commits_fini(&c);
}

static void test_the_leader_changes_hands(void **state)
{
    static const char a[] = "{\"name\":\"a\",\"address\":\"\",\"instance\":\"" MARK
                            "\",\"count\":1,\"lease_ms\":1,\"revision\":0,\"at_ns\":1}";
    struct heard h = {.most = 9};
    struct commits c;
    commits_init(&c, 3);
    for (unsigned i = 0; i < 4; i++) {
        CLEANUP_TEXT struct text stream = {0}, line = {0};
        event(&line, LAYOUT_LEADER, i < 3 ? a : NULL, 5 + i);
        line_end(&line, false, &stream);
        assert_int_equal(commits_take(&c, stream.s, stream.len, on_commit, &h, NULL), 0);
        assert_int_equal(c.led_changed, i == 0 || i == 3); /* renewals are none */
        c.led_changed = false;
    }
    commits_fini(&c);
}

static void test_foreign_writes_are_seen(void **state)
{
    for (int i = 0; i < 7; i++) {
        CLEANUP_TEXT struct text stream = {0}, line = {0};
        struct heard h = {.most = 9};
        struct commits c;
        if (i == 0)
            event(&line, "fettle/record/a", "1", 9);
        if (i == 1 || i == 2)
            journal_event(&line, i == 1 ? 4 : 7, MARK, 9);
        if (i == 3 || i == 4)
            head_event(&line, i == 3 ? 4 : 9, MARK, 9);
        if (i == 5) { /* the marks differ */
            journal_event(&line, 4, MARK, 9);
            head_event(&line, 4, OTHER, 9);
        }
        if (i == 6)
            head_event(&line, 2, MARK, 9);
        line_end(&line, false, &stream);
        assert_int_equal(feed(&stream, stream.len, 3, &h, &c), -EILSEQ);
        assert_null(h.told.s);
        commits_fini(&c);
    }
}

static void test_a_stream_begins_anew(void **state)
{
    CLEANUP_TEXT struct text stream = {0};
    struct heard h = {.most = 9};
    struct commits c;
    two_commits(&stream);
    assert_int_equal(feed(&stream, stream.len, 3, &h, &c), 0);
    text_clear(&stream);
    text_add(&stream, "{\"result\":");
    assert_int_equal(commits_take(&c, stream.s, stream.len, on_commit, &h, NULL), 0);
    commits_restart(&c);
    text_clear(&stream);
    CLEANUP_TEXT struct text line = {0};
    journal_event(&line, 6, MARK, 30);
    head_event(&line, 6, MARK, 30);
    line_end(&line, false, &stream);
    assert_int_equal(commits_take(&c, stream.s, stream.len, on_commit, &h, NULL), 0);
    assert_string_equal(h.told.s, "4: a=1 b= (1); 5: a=2 (1); 6: (1)");
    commits_fini(&c);
    text_fini(&h.told);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_commits_come_whole_from_any_pieces),
        cmocka_unit_test(test_the_owner_ends_the_walk),
        cmocka_unit_test(test_events_that_are_no_commit),
        cmocka_unit_test(test_the_leader_changes_hands),
        cmocka_unit_test(test_foreign_writes_are_seen),
        cmocka_unit_test(test_a_stream_begins_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
