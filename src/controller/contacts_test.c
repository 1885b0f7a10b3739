/* SPDX-License-Identifier: Apache-2.0 */
/* What is known about nodes over a restart: the files are what the next controller reads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text.h"
#include "controller/contacts.h"
#include "watch/fixture_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { N = 4 };

struct scene {
    uv_loop_t loop;
    struct world *x;
    struct contacts *contacts;
    char dir[48], heard[64], known[64];
};

static int setup(void **state)
{
    struct scene *s = mem_alloc(sizeof *s);
    *s = (struct scene){.dir = "/tmp/fettle-contacts-XXXXXX"};
    *state = s;
    assert_non_null(mkdtemp(s->dir));
    snprintf(s->heard, sizeof s->heard, "%s/last-heard", s->dir);
    snprintf(s->known, sizeof s->known, "%s/last-known", s->dir);
    uv_loop_init(&s->loop);
    s->x = world_create(N);
    return 0;
}

static int teardown(void **state)
{
    struct scene *s = *state;
    contacts_close(s->contacts);
    world_destroy(s->x);
    assert_int_equal(uv_loop_close(&s->loop), 0);
    unlink(s->heard);
    unlink(s->known);
    assert_int_equal(rmdir(s->dir), 0); /* nothing half written is left either */
    free(s);
    return 0;
}

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static void assert_file(const char *path, const char *expected)
{
    CLEANUP_TEXT struct text t = {0};
    FILE *f = fopen(path, "r");
    text_add(&t, f ? "" : "(no file)");
    for (int c; f && (c = getc(f)) != EOF;)
        text_add_char(&t, (char)c);
    if (f)
        fclose(f);
    assert_string_equal(t.s, expected);
}

static void open_contacts(struct scene *s)
{
    s->contacts = contacts_open(&s->loop, s->dir, s->x->c, s->x->w);
}

/* Another controller on the same state, which has heard nobody. */
static void begin_anew(struct scene *s)
{
    contacts_close(STEAL(s->contacts));
    world_lead_anew(s->x);
    open_contacts(s);
}

static int64_t heard_s(const struct scene *s, int node)
{
    return watch_contact(s->x->w, world_node(s->x, node)).ns / 1000000000;
}

static const char *inventory(const struct scene *s, int node)
{
    const char *json = watch_report(s->x->w, world_node(s->x, node))->json;
    return json ? json : "";
}

static void test_without_files_the_past_is_not_known(void **state)
{
    struct scene *s = *state;
    world_lead_anew(s->x);
    open_contacts(s);
    assert_int_equal(heard_s(s, 1), 0);
    assert_string_equal(inventory(s, 1), "");
}

static void test_the_files_are_told_to_the_watch(void **state)
{
    struct scene *s = *state;
    world_lead_anew(s->x);
    write_file(s->heard, "1700000000 lx[01-02]\n1700000001 lx03\n");
    write_file(s->known, "lx02 {\"os\":\"debian 12\"}\n");
    open_contacts(s);
    assert_int_equal(heard_s(s, 1), 1700000000);
    assert_int_equal(heard_s(s, 2), 1700000000);
    assert_int_equal(heard_s(s, 3), 1700000001);
    assert_int_equal(heard_s(s, 4), 0);
    assert_string_equal(inventory(s, 2), "{\"os\":\"debian 12\"}");
    assert_string_equal(inventory(s, 1), "");
}

static void test_lines_that_cannot_be_read_are_passed_over(void **state)
{
    struct scene *s = *state;
    world_lead_anew(s->x);
    write_file(s->heard, "lx01\n0 lx01\n-1 lx01\nsoon lx01\n9223372037 lx01\n1700000000 lx[0\n1700000000\n\n"
                         "1700000002 lx99\n9223372036 lx02\n1700000003 lx03");
    write_file(s->known, "lx01\nlx01 \nlx01 []\nlx01 {\nlx99 {}\n\nlx03 {\"os\":\"x\"}\n");
    open_contacts(s);
    assert_int_equal(heard_s(s, 1), 0);
    assert_int_equal(heard_s(s, 2), 9223372036); /* the last second that a time can have */
    assert_int_equal(heard_s(s, 3), 1700000003);
    assert_string_equal(inventory(s, 1), "");
    assert_string_equal(inventory(s, 3), "{\"os\":\"x\"}");
}

static void test_the_end_writes_what_the_next_controller_reads(void **state)
{
    struct scene *s = *state;
    int64_t before[N + 1];
    open_contacts(s);
    world_run(s->x, 20);
    for (int i = 1; i <= N; i++) {
        before[i] = heard_s(s, i);
        assert_true(before[i] > 0);
    }
    CLEANUP_FREE char *had = mem_dup(inventory(s, 1));
    assert_true(had[0]);
    begin_anew(s);
    for (int i = 1; i <= N; i++)
        assert_int_equal(heard_s(s, i), before[i]);
    assert_string_equal(inventory(s, 1), had); /* of nodes that are heard, too */
}

static void test_nodes_that_were_heard_in_one_second_share_a_line_and_older_ones_come_first(void **state)
{
    struct scene *s = *state;
    world_lead_anew(s->x);
    write_file(s->heard, "1700000009 lx03\n1700000000 lx02,lx04\n1700000009 lx01\n");
    open_contacts(s);
    contacts_close(STEAL(s->contacts));
    assert_file(s->heard, "1700000000 lx[02,04]\n1700000009 lx[01,03]\n");
    assert_file(s->known, "");
}

static void turn(struct scene *s, struct mono begun, int64_t seconds)
{
    contacts_turn(s->contacts, mono_add(begun, span_s(seconds)));
    uv_run(&s->loop, UV_RUN_DEFAULT); /* to the end of the thread's work */
}

static bool is_written(struct scene *s)
{
    return access(s->heard, F_OK) == 0 && unlink(s->heard) == 0;
}

static void test_the_files_are_written_every_ten_minutes(void **state)
{
    struct scene *s = *state;
    struct mono before = mono_now();
    open_contacts(s);
    struct mono after = mono_now();
    turn(s, before, 599);
    assert_false(is_written(s));
    turn(s, after, 600);
    assert_true(is_written(s));
    turn(s, after, 601);
    assert_false(is_written(s));
    turn(s, after, 1200);
    assert_true(is_written(s));
}

static void test_a_node_that_goes_down_is_written_soon_and_once_for_all(void **state)
{
    struct scene *s = *state;
    struct mono before = mono_now();
    open_contacts(s);
    struct mono after = mono_now();
    contacts_soon(s->contacts, mono_add(before, span_s(1)));
    contacts_soon(s->contacts, mono_add(before, span_s(2)));
    turn(s, before, 9);
    assert_false(is_written(s));
    turn(s, after, 10);
    assert_true(is_written(s));
    contacts_soon(s->contacts, mono_add(after, span_s(300))); /* the last time is long ago */
    turn(s, after, 300);
    assert_true(is_written(s));
}

static void test_inventories_are_written_for_nodes_that_are_not_heard(void **state)
{
    struct scene *s = *state;
    open_contacts(s);
    struct mono after = mono_now();
    s->x->off[2] = true;
    world_run(s->x, 300);
    turn(s, after, 600);
    CLEANUP_TEXT struct text expected = {0};
    text_printf(&expected, "lx02 %s\n", inventory(s, 2));
    assert_file(s->known, expected.s);
}

/* A node must not lose its past because the disk is full for a while. */
static void test_a_file_that_cannot_be_written_leaves_the_old_one(void **state)
{
    struct scene *s = *state;
    CLEANUP_TEXT struct text new = {0};
    text_printf(&new, "%s.new", s->heard);
    write_file(s->heard, "1700000000 lx01\n");
    open_contacts(s);
    assert_int_equal(mkdir(new.s, 0700), 0); /* in the way of the new file */
    contacts_close(STEAL(s->contacts));
    assert_file(s->heard, "1700000000 lx01\n");
    assert_int_equal(rmdir(new.s), 0);
    contacts_close(NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_without_files_the_past_is_not_known),
        TEST(test_the_files_are_told_to_the_watch),
        TEST(test_lines_that_cannot_be_read_are_passed_over),
        TEST(test_the_end_writes_what_the_next_controller_reads),
        TEST(test_nodes_that_were_heard_in_one_second_share_a_line_and_older_ones_come_first),
        TEST(test_the_files_are_written_every_ten_minutes),
        TEST(test_a_node_that_goes_down_is_written_soon_and_once_for_all),
        TEST(test_inventories_are_written_for_nodes_that_are_not_heard),
        TEST(test_a_file_that_cannot_be_written_leaves_the_old_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
