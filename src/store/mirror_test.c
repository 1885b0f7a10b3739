/* SPDX-License-Identifier: Apache-2.0 */
/* A mirror has what it was fed, once, knows what it lacks, and begins anew when it is of no use. */
#include "store/mirror.h"

#include "store/fixture_test.h"

#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utlist.h>

#include <cmocka.h>

enum { HEAD = 1000 };

struct scene {
    char *top, *dir;
    struct mirror *m;
    struct text has;
    struct err anew, e;
};

static int scene_start(void **state)
{
    struct scene *t = mem_alloc(sizeof *t);
    *state = t;
    t->top = fixture_dir();
    t->dir = fixture_path(t->top, "mirror");
    t->m = mirror_create(t->dir, "state-a");
    assert_int_equal(mirror_open(t->m, HEAD, &t->anew, &t->e), 0);
    return 0;
}

static int scene_end(void **state)
{
    struct scene *t = *state;
    mirror_destroy(t->m);
    text_fini(&t->has);
    free(t->dir);
    fixture_remove(t->top);
    free(t);
    return 0;
}

static void scene_reopen(struct scene *t, const char *of, uint64_t head)
{
    mirror_destroy(t->m);
    t->m = mirror_create(t->dir, of);
    assert_int_equal(mirror_open(t->m, head, &t->anew, &t->e), 0);
}

/* The commits from..to, of two entries each, the longer of `bytes`. */
static struct store_change *commits(uint64_t from, uint64_t to, size_t bytes)
{
    CLEANUP_TEXT struct text longer = {0};
    struct store_change *list = NULL;
    for (size_t i = 0; i < bytes; i++)
        text_add_char(&longer, 'x');
    for (uint64_t r = from; r <= to; r++) {
        struct store_change *c = change_create(r);
        change_add_op(c, "node/lx01", "1");
        change_add_entry(
            c, &(struct store_entry){{(int64_t)r}, "root", "node.drain", "lx01", "first", "1.2", "\"a\":1"});
        change_add_entry(
            c, &(struct store_entry){{(int64_t)r}, "root", "put", "", longer.s ? longer.s : "", NULL, NULL});
        DL_APPEND(list, c);
    }
    return list;
}

static int feed(struct scene *t, uint64_t from, uint64_t to, size_t bytes)
{
    struct store_change *list = commits(from, to, bytes);
    int r = mirror_add(t->m, list, &t->e);
    changes_destroy(list);
    return r;
}

static int on_entry(void *arg, uint64_t revision, const struct store_entry *entry, struct err *e)
{
    text_printf(arg, "%" PRIu64 "%c ", revision, entry->text[0]);
    return 0;
}

/* The revisions that it has, with the first letter of each entry. */
static const char *has(struct scene *t)
{
    text_clear(&t->has);
    text_add(&t->has, "");
    assert_int_equal(store_journal(mirror_store(t->m), 0, SIZE_MAX, on_entry, &t->has, &t->e), 0);
    return t->has.s;
}

static void it_has_what_it_was_fed(void **state)
{
    struct scene *t = *state;
    assert_int_equal(feed(t, 1, 2, 1), 0);
    assert_int_equal(feed(t, 2, 3, 1), 0); /* what it has is not doubled */
    assert_string_equal(has(t), "1f 1x 2f 2x 3f 3x ");
    assert_int_equal(mirror_revision(t->m), 3);
    assert_int_equal(mirror_missing(t->m).from, 0);
    scene_reopen(t, "state-a", HEAD);
    assert_int_equal(t->anew.code, 0);
    assert_int_equal(mirror_revision(t->m), 3);
    assert_string_equal(has(t), "1f 1x 2f 2x 3f 3x ");
}

static void it_has_no_records(void **state)
{
    struct scene *t = *state;
    CLEANUP_TEXT struct text dump = {0};
    assert_int_equal(feed(t, 1, 1, 1), 0);
    fixture_dump(mirror_store(t->m), &dump, NULL);
    assert_null(strstr(dump.s, "node/lx01"));
}

static void it_names_what_is_missing(void **state)
{
    struct scene *t = *state;
    assert_int_equal(feed(t, 1, 2, 1), 0);
    assert_int_equal(feed(t, 5, 6, 1), 0);
    scene_reopen(t, "state-a", HEAD);
    assert_string_equal(has(t), "1f 1x 2f 2x 5f 5x 6f 6x ");
    assert_int_equal(mirror_missing(t->m).from, 3);
    assert_int_equal(mirror_missing(t->m).to, 4);
    assert_int_equal(feed(t, 9, 9, 1), 0);
    assert_int_equal(mirror_missing(t->m).from, 3);
    assert_int_equal(mirror_missing(t->m).to, 8);
}

static void it_survives_a_kill(void **state)
{
    struct scene *t = *state;
    mirror_destroy(STEAL(t->m));
    pid_t child = fork();
    if (child == 0) {
        t->m = mirror_create(t->dir, "state-a");
        mirror_open(t->m, HEAD, &t->anew, &t->e);
        feed(t, 1, 40, 1);
        raise(SIGKILL);
    }
    waitpid(child, NULL, 0);
    scene_reopen(t, "state-a", HEAD);
    assert_int_equal(t->anew.code, 0);
    assert_int_equal(mirror_revision(t->m), 40);
}

static void assert_anew(struct scene *t, const char *words)
{
    CLEANUP_FREE char *aside = fixture_path(t->top, "mirror-aside");
    assert_int_equal(t->anew.code, -EILSEQ);
    assert_non_null(strstr(t->anew.msg, words));
    assert_int_equal(access(aside, F_OK), 0);
    assert_int_equal(mirror_revision(t->m), 0);
    assert_string_equal(has(t), "");
    assert_int_equal(feed(t, 1, 1, 1), 0);
    assert_string_equal(has(t), "1f 1x ");
}

static void another_state_begins_another_mirror(void **state)
{
    struct scene *t = *state;
    assert_int_equal(feed(t, 1, 2, 1), 0);
    scene_reopen(t, "state-b", HEAD);
    assert_anew(t, "another state's journal");
}

static void one_that_is_ahead_begins_anew(void **state)
{
    struct scene *t = *state;
    assert_int_equal(feed(t, 1, 5, 1), 0);
    scene_reopen(t, "state-a", 5);
    assert_int_equal(t->anew.code, 0);
    scene_reopen(t, "state-a", 4);
    assert_anew(t, "up to revision 5, and etcd stands at 4");
}

static void a_damaged_one_begins_anew(void **state)
{
    struct scene *t = *state;
    CLEANUP_FREE char *path = fixture_path(t->dir, "state.db");
    assert_int_equal(feed(t, 1, 5, 1), 0);
    mirror_destroy(STEAL(t->m));
    fixture_write(path, "no database", 11);
    scene_reopen(t, "state-a", HEAD);
    assert_anew(t, "state.db");
}

static void files_that_went_are_made_again(void **state)
{
    struct scene *t = *state;
    CLEANUP_FREE char *path = fixture_path(t->dir, "state.db");
    assert_int_equal(feed(t, 1, 5, 1), 0);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(feed(t, 6, 6, 1), -ESTALE);
    assert_null(mirror_store(t->m));
    assert_int_equal(mirror_open(t->m, HEAD, &t->anew, &t->e), 0);
    assert_int_equal(mirror_revision(t->m), 0);
    assert_int_equal(t->anew.code, -EILSEQ);
}

/* Nothing of the commits is there, reading goes on, and with room they are taken. */
static void a_full_disk_takes_nothing(void **state)
{
    struct scene *t = *state;
    struct rlimit before, full;
    getrlimit(RLIMIT_FSIZE, &before);
    assert_int_equal(feed(t, 1, 2, 1), 0);
    full = (struct rlimit){200000, before.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &full);
    int r = feed(t, 3, 60, 10000);
    setrlimit(RLIMIT_FSIZE, &before);
    assert_int_equal(r, -ENOSPC);
    assert_int_equal(mirror_revision(t->m), 2);
    assert_string_equal(has(t), "1f 1x 2f 2x ");
    assert_int_equal(feed(t, 3, 60, 10000), 0);
    assert_int_equal(mirror_revision(t->m), 60);
}

static void it_is_compared_by_its_newest_commit(void **state)
{
    struct scene *t = *state;
    struct store_change *same = commits(2, 2, 1), *other = commits(2, 2, 3), *later = commits(3, 3, 3);
    assert_int_equal(feed(t, 1, 2, 1), 0);
    assert_true(mirror_is(t->m, same));
    assert_false(mirror_is(t->m, other));
    assert_true(mirror_is(t->m, later));
    changes_destroy(same);
    changes_destroy(other);
    changes_destroy(later);
}

static void retention_holds(void **state)
{
    struct scene *t = *state;
    CLEANUP_FREE char *export = fixture_path(t->top, "export");
    const struct store_keep keep = {span_s(1), UINT64_MAX, export, 0};
    uint64_t first = 0;
    bool more = true;
    for (uint64_t r = 1; r < 6000; r += 500)
        assert_int_equal(feed(t, r, r + 499, 1), 0);
    while (more)
        assert_int_equal(store_tidy(mirror_store(t->m), &keep, (struct wall){INT64_MAX / 2}, &more, &t->e),
                         0);
    assert_int_equal(store_first(mirror_store(t->m), &first, NULL), 0);
    assert_in_range(first, 800, 1000); /* the newest 10,000 entries stay, and some that have not moved yet */
    assert_int_equal(access(export, F_OK), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(it_has_what_it_was_fed, scene_start, scene_end),
        cmocka_unit_test_setup_teardown(it_has_no_records, scene_start, scene_end),
        cmocka_unit_test_setup_teardown(it_names_what_is_missing, scene_start, scene_end),
        cmocka_unit_test_setup_teardown(it_survives_a_kill, scene_start, scene_end),
        cmocka_unit_test_setup_teardown(another_state_begins_another_mirror, scene_start, scene_end),
        cmocka_unit_test_setup_teardown(one_that_is_ahead_begins_anew, scene_start, scene_end),
        cmocka_unit_test_setup_teardown(a_damaged_one_begins_anew, scene_start, scene_end),
        cmocka_unit_test_setup_teardown(files_that_went_are_made_again, scene_start, scene_end),
        cmocka_unit_test_setup_teardown(a_full_disk_takes_nothing, scene_start, scene_end),
        cmocka_unit_test_setup_teardown(it_is_compared_by_its_newest_commit, scene_start, scene_end),
        cmocka_unit_test_setup_teardown(retention_holds, scene_start, scene_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
