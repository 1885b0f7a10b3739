/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/reporter.h"

#include "agent/life_test.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* One that reports to nobody: its uplink is not up. */
struct alone {
    struct fake *f;
    struct uplink *uplink;
    struct reporter *reporter;
    char *root;
    int read, failed, told;
    struct err why;
};

static void on_read(void *arg, const struct err *why)
{
    struct alone *a = arg;
    a->read++;
    a->failed += why != NULL;
    if (why)
        a->why = *why;
}

static void on_told(void *arg)
{
    ((struct alone *)arg)->told++;
}

static int open_alone(void **state)
{
    struct alone *a = mem_alloc(sizeof *a);
    static const struct uplink_events none;
    struct address_list controllers = {.n = 1, .at = {{.host = "127.0.0.1", .port = 1}}};
    a->f = mem_alloc(sizeof *a->f);
    fake_init(a->f);
    a->root = fake_root(a->f, "lx01");
    a->uplink = uplink_create(&a->f->loop, &controllers, &none, a);
    const struct reporter_settings settings = {.loop = &a->f->loop,
                                               .root = a->root,
                                               .instance = "i1",
                                               .uplink = a->uplink,
                                               .on_read = on_read,
                                               .on_told = on_told,
                                               .arg = a};
    a->reporter = reporter_create(&settings);
    *state = a;
    return 0;
}

static int close_alone(void **state)
{
    struct alone *a = *state;
    reporter_destroy(a->reporter);
    reporter_destroy(a->reporter); /* twice is as good as once until the loop has closed it */
    uplink_destroy(a->uplink);
    fake_fini(a->f);
    free(a->f);
    free(a->root);
    free(a);
    return 0;
}

struct readings {
    const struct alone *a;
    int n;
};

static bool has_read(void *arg)
{
    const struct readings *r = arg;
    return r->a->read >= r->n;
}

static void wait_read(struct alone *a, int n)
{
    struct readings r = {a, n};
    assert_true(fake_wait(a->f, has_read, &r));
}

static char *hello_of(struct alone *a)
{
    struct text body = {0};
    text_add(&body, "");
    reporter_add_hello(a->reporter, &body);
    return text_take(&body);
}

static void test_the_hash_is_in_hello_as_soon_as_it_is_known(void **state)
{
    struct alone *a = *state;
    CLEANUP_FREE char *before = hello_of(a);
    assert_string_equal(before, "");
    reporter_start(a->reporter);
    wait_read(a, 1);
    assert_int_equal(a->failed, 0);
    assert_int_equal(a->told, 0);
    CLEANUP_FREE char *hello = hello_of(a);
    assert_memory_equal(hello, ",\"inventory\":\"", 14);
    assert_int_equal(strlen(hello), 14 + 16 + 1);
    fake_write(a->root, "proc/meminfo", "MemTotal: 4194304 kB\nSwapTotal: 0 kB\n");
    reporter_send_whole(a->reporter);
    wait_read(a, 2);
    CLEANUP_FREE char *other = hello_of(a);
    assert_string_not_equal(other, hello);
}

static void test_a_reading_that_fails_costs_the_inventory_alone(void **state)
{
    struct alone *a = *state;
    CLEANUP_TEXT struct text away = {0};
    text_printf(&away, "%s.away", a->root);
    assert_int_equal(rename(a->root, away.s), 0);
    reporter_start(a->reporter);
    wait_read(a, 1);
    assert_int_equal(a->failed, 1);
    assert_non_null(strstr(a->why.msg, "No such file or directory"));
    reporter_send_whole(a->reporter); /* it fails again, and is no news in the log */
    wait_read(a, 2);
    assert_int_equal(a->failed, 2);
    assert_int_equal(rename(away.s, a->root), 0);
    reporter_send_whole(a->reporter);
    wait_read(a, 3);
    assert_int_equal(a->failed, 2);
}

static void test_a_request_during_a_reading_is_read_after_it(void **state)
{
    struct alone *a = *state;
    reporter_start(a->reporter);
    reporter_send_whole(a->reporter);
    reporter_send_whole(a->reporter);
    wait_read(a, 2);
}

static void test_the_inventory_is_owed_where_the_other_side_lacks_it(void **state)
{
    struct alone *a = *state;
    assert_false(reporter_owes(a->reporter));
    reporter_start(a->reporter);
    wait_read(a, 1);
    CLEANUP_FREE char *hello = hello_of(a);
    reporter_welcome(a->reporter, false);
    assert_false(reporter_owes(a->reporter));
    reporter_welcome(a->reporter, true);
    assert_true(reporter_owes(a->reporter));
    wait_read(a, 2);
    assert_true(reporter_owes(a->reporter)); /* no link took it */
}

/* The agent starts its uplink when the inventory is known or cannot be, so that it must hear of either. */
static void test_where_no_child_can_be_started_it_says_so(void **state)
{
    struct alone *a = *state;
    struct rlimit whole, none;
    int next = dup(STDIN_FILENO);
    assert_true(next >= 0);
    close(next);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &whole), 0);
    none = (struct rlimit){.rlim_cur = (rlim_t)next, .rlim_max = whole.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    reporter_start(a->reporter);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &whole), 0);
    assert_int_equal(a->read, 1);
    assert_int_equal(a->failed, 1);
    reporter_send_whole(a->reporter);
    wait_read(a, 2);
    assert_int_equal(a->failed, 1);
}

/* --- over a link ------------------------------------------------------------------------------ */

static void test_the_whole_is_sent_when_it_is_wanted(void **state)
{
    struct fake *f = *state;
    struct node n;
    int at;
    f->welcome = WELCOME(60000, false);
    life_start(f, &n, "lx01");
    life_frame(f, FRAME_HEARTBEAT, 0, 1, NULL);
    fake_send(f, 0, FRAME_WANT, "{}");
    json_t *first = life_frame(f, FRAME_INVENTORY, 0, 1, &at);
    assert_true(json_is_true(json_object_get(first, "full")));
    assert_int_equal(life_number(json_object_get(first, "set"), "RealMemory"), 2048);
    fake_write(n.root, "proc/meminfo", "MemTotal: 4194304 kB\nSwapTotal: 0 kB\n");
    fake_send(f, 0, FRAME_WANT, "{}");
    json_t *second = life_frame(f, FRAME_INVENTORY, at + 1, 1, NULL);
    assert_int_equal(life_number(json_object_get(second, "set"), "RealMemory"), 4096);
    life_stop(f, &n);
}

static void test_how_the_boot_before_ended_is_part_of_it(void **state)
{
    struct fake *f = *state;
    struct node n;
    f->welcome = WELCOME(60000, true);
    life_start(f, &n, "lx01");
    json_t *set = json_object_get(life_frame(f, FRAME_INVENTORY, 0, 1, NULL), "set");
    assert_true(json_is_object(json_object_get(set, "LastBoot")));
    life_stop(f, &n);
}

#define ALONE(f) cmocka_unit_test_setup_teardown(f, open_alone, close_alone)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ALONE(test_the_hash_is_in_hello_as_soon_as_it_is_known),
        ALONE(test_a_reading_that_fails_costs_the_inventory_alone),
        ALONE(test_a_request_during_a_reading_is_read_after_it),
        ALONE(test_the_inventory_is_owed_where_the_other_side_lacks_it),
        ALONE(test_where_no_child_can_be_started_it_says_so),
        IN_LIFE(test_the_whole_is_sent_when_it_is_wanted),
        IN_LIFE(test_how_the_boot_before_ended_is_part_of_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
