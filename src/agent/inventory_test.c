/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/inventory.h"

#include "link/frame.h"
#include "probe/probe.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The other side: what it has after the bodies, held against the hash of each. */
struct mirror {
    json_t *has;
    int bodies;
    size_t largest;
};

static void apply(struct mirror *m, const char *text, size_t len)
{
    CLEANUP_JSON json_t *body = json_read(text, len, NULL);
    assert_non_null(body);
    const char *instance, *hash;
    bool full = false;
    char mine[17];
    size_t i;
    json_t *gone;
    assert_int_equal(json_take_string(body, "instance", &instance, NULL), 0);
    assert_string_equal(instance, "i1");
    assert_int_equal(json_take_string(body, "hash", &hash, NULL), 0);
    (void)json_take_bool(body, "full", &full, NULL);
    if (full)
        json_object_clear(m->has);
    json_object_update(m->has, json_object_get(body, "set"));
    json_array_foreach (json_object_get(body, "unset"), i, gone)
        json_object_del(m->has, json_string_value(gone));
    probe_hash(m->has, mine);
    assert_string_equal(mine, hash);
    m->bodies++;
    m->largest = len > m->largest ? len : m->largest;
}

static struct inventory_news report(struct mirror *m, const struct inventory_table *told, json_t *inventory)
{
    CLEANUP_TEXT struct text t = {0};
    struct inventory_news news;
    size_t len;
    m->bodies = 0;
    inventory_report(told, inventory, "i1", &t);
    assert_int_equal(inventory_read(t.s, &news, NULL), 0);
    for (const char *body; (body = inventory_next_body(&news, &len));)
        apply(m, body, len);
    news.bodies = NULL;
    return news;
}

static json_t *machine(void)
{
    return json_pack("{s:s, s:i, s:[{s:s}]}", "Name", "lx01", "CPUs", 8, "NICs", "name", "eth0");
}

static void sends_the_whole_to_a_controller_that_has_nothing(void **state)
{
    struct mirror m = {.has = json_object()};
    CLEANUP_JSON json_t *inventory = machine();
    struct inventory_news news = report(&m, NULL, inventory);
    assert_int_equal(m.bodies, 1);
    assert_int_equal(news.table.n, 3);
    assert_true(json_equal(m.has, inventory));
    json_decref(m.has);
}

static void sends_nothing_when_nothing_changed(void **state)
{
    struct mirror m = {.has = json_object()};
    CLEANUP_JSON json_t *inventory = machine();
    struct inventory_news first = report(&m, NULL, inventory);
    struct inventory_news second = report(&m, &first.table, inventory);
    assert_int_equal(m.bodies, 0);
    assert_string_equal(second.table.hash, first.table.hash);
    json_decref(m.has);
}

static void sends_changed_and_removed_members(void **state)
{
    struct mirror m = {.has = json_object()};
    CLEANUP_JSON json_t *inventory = machine();
    struct inventory_news news = report(&m, NULL, inventory);
    json_object_set_new(inventory, "CPUs", json_integer(7));
    json_object_set_new(inventory, "Speed", json_real(863.8));
    json_object_del(inventory, "NICs");
    struct inventory_news next = report(&m, &news.table, inventory);
    assert_int_equal(m.bodies, 1);
    assert_true(m.largest < 200);
    assert_true(json_equal(m.has, inventory));
    assert_string_not_equal(next.table.hash, news.table.hash);
    json_decref(m.has);
}

static char *long_text(size_t n)
{
    char *s = mem_alloc(n + 1);
    memset(s, 'x', n);
    return s;
}

static void splits_a_large_whole_with_a_true_hash_in_each_part(void **state)
{
    struct mirror m = {.has = json_object()};
    CLEANUP_JSON json_t *inventory = machine();
    CLEANUP_FREE char *s = long_text(30000);
    json_object_set_new(inventory, "Disks", json_string(s));
    json_object_set_new(inventory, "GPUs", json_string(s));
    report(&m, NULL, inventory);
    assert_int_equal(m.bodies, 2);
    assert_true(m.largest <= FRAME_BODY_BYTES_MAX);
    assert_true(json_equal(m.has, inventory));
    json_decref(m.has);
}

static void a_large_change_goes_as_a_whole(void **state)
{
    struct mirror m = {.has = json_object()};
    CLEANUP_JSON json_t *inventory = machine();
    CLEANUP_FREE char *s = long_text(30000);
    struct inventory_news news = report(&m, NULL, inventory);
    json_object_set_new(inventory, "Disks", json_string(s));
    json_object_set_new(inventory, "GPUs", json_string(s));
    json_object_del(inventory, "NICs");
    report(&m, &news.table, inventory);
    assert_true(json_equal(m.has, inventory));
    json_decref(m.has);
}

static void leaves_out_members_that_no_frame_holds(void **state)
{
    struct mirror m = {.has = json_object()};
    CLEANUP_JSON json_t *inventory = machine();
    CLEANUP_FREE char *s = long_text(INVENTORY_PART_BYTES_MAX + 1);
    json_object_set_new(inventory, "Disks", json_string(s));
    CLEANUP_TEXT struct text t = {0};
    struct inventory_news news;
    inventory_report(NULL, inventory, "i1", &t);
    assert_int_equal(inventory_read(t.s, &news, NULL), 0);
    assert_string_equal(news.left_out, "Disks");
    assert_int_equal(news.table.n, 3);
    json_decref(m.has);
}

/* Whether a member with this name and a text of n bytes, with its quotes, is left out. */
static bool is_left_out(const char *key, size_t n)
{
    CLEANUP_JSON json_t *inventory = machine();
    CLEANUP_FREE char *s = long_text(n - 2);
    CLEANUP_TEXT struct text t = {0};
    struct inventory_news news;
    json_object_set_new(inventory, key, json_string(s));
    inventory_report(NULL, inventory, "i1", &t);
    assert_int_equal(inventory_read(t.s, &news, NULL), 0);
    assert_int_equal(news.table.n, news.left_out ? 3 : 4);
    return news.left_out != NULL;
}

static void a_member_may_be_as_large_as_a_part_and_no_larger(void **state)
{
    char key[INVENTORY_KEY_BYTES_MAX + 2];
    assert_false(is_left_out("Disks", INVENTORY_PART_BYTES_MAX));
    assert_true(is_left_out("Disks", INVENTORY_PART_BYTES_MAX + 1));
    memset(key, 'k', sizeof key);
    key[INVENTORY_KEY_BYTES_MAX + 1] = '\0';
    assert_true(is_left_out(key, 9));
    assert_false(is_left_out(key + 1, 9));
}

static void bounds_the_number_of_members(void **state)
{
    struct mirror m = {.has = json_object()};
    CLEANUP_JSON json_t *inventory = json_object();
    for (int i = 0; i < 2 * INVENTORY_MEMBERS_MAX; i++) {
        char key[16];
        snprintf(key, sizeof key, "k%d", i);
        json_object_set_new(inventory, key, json_integer(i));
    }
    struct inventory_news news = report(&m, NULL, inventory);
    assert_int_equal(news.table.n, INVENTORY_MEMBERS_MAX);
    json_decref(m.has);
}

static void refuses_reports_that_are_cut_short_or_damaged(void **state)
{
    CLEANUP_JSON json_t *inventory = machine();
    CLEANUP_TEXT struct text t = {0};
    inventory_report(NULL, inventory, "i1", &t);
    for (size_t n = 0; n < t.len; n++) {
        CLEANUP_FREE char *cut = mem_dup_len(t.s, n);
        struct inventory_news news;
        assert_int_equal(inventory_read(cut, &news, NULL), -EINVAL);
    }
    char damaged[] = "h 1\nq\nb {}\n.\n";
    struct inventory_news news;
    assert_int_equal(inventory_read(damaged, &news, NULL), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sends_the_whole_to_a_controller_that_has_nothing),
        cmocka_unit_test(sends_nothing_when_nothing_changed),
        cmocka_unit_test(sends_changed_and_removed_members),
        cmocka_unit_test(splits_a_large_whole_with_a_true_hash_in_each_part),
        cmocka_unit_test(a_large_change_goes_as_a_whole),
        cmocka_unit_test(leaves_out_members_that_no_frame_holds),
        cmocka_unit_test(a_member_may_be_as_large_as_a_part_and_no_larger),
        cmocka_unit_test(bounds_the_number_of_members),
        cmocka_unit_test(refuses_reports_that_are_cut_short_or_damaged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
