/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process that commits and tells each acknowledged revision through a pipe is killed in the middle
 * of its work, again and again, on the same state. What it had told is there, whole.
 */
#include "store/fixture_test.h"

#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { ROUNDS = 25, FILL = 6000 };

static char filling[FILL + 1];

/* Three records that must always agree, and an entry. */
static int commit(struct store *s, uint64_t term, uint64_t next, uint64_t *revision)
{
    char value[32], key[32];
    snprintf(value, sizeof value, "%" PRIu64, next);
    snprintf(key, sizeof key, "each/%" PRIu64, next);
    struct store_op ops[] = {{"last", value}, {key, value}, {"z", value}, {"filling", filling}};
    struct store_entry entry = {.at = {1}, .actor = "root", .what = "count", .nodes = "", .text = value};
    struct store_batch b = {.n_ops = 4, .ops = ops, .n_entries = 1, .entries = &entry};
    return store_commit(s, term, &b, revision, NULL);
}

static void child_work(const char *dir, uint64_t next, int out)
{
    struct store *s = fixture_open(dir);
    uint64_t term, revision;
    if (store_campaign(s, &term, NULL))
        _exit(1);
    for (;; next++) {
        if (commit(s, term, next, &revision) || revision != next)
            _exit(2);
        if (write(out, &revision, sizeof revision) != sizeof revision)
            _exit(3);
    }
}

/* Kills the child after so many acknowledgements and gives the last one that it made. */
static uint64_t work_and_kill(const char *dir, uint64_t next, unsigned int after)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0)
        child_work(dir, next, ends[1]);
    close(ends[1]);
    uint64_t last = 0, acknowledged = 0;
    for (unsigned int n = 0; read(ends[0], &last, sizeof last) == sizeof last; n++) {
        acknowledged = last;
        if (n == after)
            kill(child, SIGKILL);
    }
    close(ends[0]);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    return acknowledged;
}

struct seen {
    uint64_t records, entries, last, z;
};

static int see_record(void *arg, const char *key, const char *value, struct err *e)
{
    struct seen *seen = arg;
    uint64_t n = strtoull(value, NULL, 10);
    if (strncmp(key, "each/", 5) == 0) {
        assert_string_equal(key + 5, value);
        seen->records++;
    }
    if (strcmp(key, "last") == 0)
        seen->last = n;
    if (strcmp(key, "z") == 0)
        seen->z = n;
    return 0;
}

static int see_entry(void *arg, uint64_t revision, const struct store_entry *entry, struct err *e)
{
    struct seen *seen = arg;
    assert_int_equal(revision, ++seen->entries);
    assert_int_equal(strtoull(entry->text, NULL, 10), revision);
    return 0;
}

/* The state is whole; gives the revision that it stands at. */
static uint64_t assert_whole(const char *dir)
{
    struct store *s = fixture_open(dir);
    struct seen seen = {0};
    uint64_t revision;
    assert_int_equal(store_load(s, see_record, &seen, &revision, NULL), 0);
    assert_int_equal(store_journal(s, 0, SIZE_MAX, see_entry, &seen, NULL), 0);
    assert_int_equal(seen.records, revision);
    assert_int_equal(seen.entries, revision);
    assert_int_equal(seen.last, revision);
    assert_int_equal(seen.z, revision);
    store_close(s);
    return revision;
}

static void test_acknowledged_commits_survive_kill_9(void **state)
{
    char *dir = fixture_dir();
    memset(filling, '7', FILL);
    unsigned int seed = (unsigned int)getpid();
    uint64_t revision = 0, committed_more = 0;
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t acknowledged = work_and_kill(dir, revision + 1, (unsigned int)rand_r(&seed) % 150);
        revision = assert_whole(dir);
        assert_in_range(revision, acknowledged, acknowledged + 1);
        committed_more += revision - acknowledged;
    }
    print_message("%" PRIu64 " commits in %d lives, %" PRIu64 " of them cut off before they could be told\n",
                  revision, ROUNDS, committed_more);
    fixture_remove(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_acknowledged_commits_survive_kill_9)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
