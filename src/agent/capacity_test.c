/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/capacity.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const struct maybe UNKNOWN = {0}, ALL = {true, 16000};

static uint64_t told_after(struct capacity *c, uint64_t free_mb)
{
    capacity_take_memory(c, (struct maybe){true, free_mb}, ALL);
    assert_true(c->free_memory_mb.known);
    return c->free_memory_mb.value;
}

static void tells_steps(void **state)
{
    struct capacity c = {0};
    assert_int_equal(told_after(&c, 15400), 15000);
    assert_int_equal(told_after(&c, 2100), 2000);
    assert_int_equal(told_after(&c, 15999), 16000);
    assert_int_equal(told_after(&c, 0), 0);
}

static void says_nothing_of_a_value_that_trembles(void **state)
{
    struct capacity c = {0};
    for (uint64_t i = 0; i < 100; i++) /* at the edge of two steps */
        assert_int_equal(told_after(&c, 14499 + i % 3), 14000);
    for (uint64_t i = 0; i < 999; i++)
        assert_int_equal(told_after(&c, 14000 + i), 14000);
    assert_int_equal(told_after(&c, 15000), 15000);
    const struct gpu_capacity at[] = {{true, true, 12, 64}, {true, true, 13, 65}, {true, true, 9, 66}};
    for (size_t i = 0; i < 99; i++) {
        capacity_take_gpus(&c, &at[i % 3]);
        assert_int_equal(c.gpu_use.value, 0);
        assert_int_equal(c.gpu_celsius.value, 60);
    }
}

static void unknown_is_told_as_unknown(void **state)
{
    struct capacity c = {0};
    const struct gpu_capacity none = {0}, some = {true, true, 99, 81};
    CLEANUP_JSON json_t *inventory = json_object();
    capacity_write(&c, inventory);
    assert_int_equal(json_object_size(inventory), 0);
    told_after(&c, 8000);
    capacity_take_gpus(&c, &some);
    capacity_write(&c, inventory);
    assert_int_equal(json_integer_value(json_object_get(inventory, "FreeMemory")), 8000);
    assert_int_equal(json_integer_value(json_object_get(inventory, "GPUUse")), 100);
    assert_int_equal(json_integer_value(json_object_get(inventory, "GPUTemperature")), 80);
    capacity_take_gpus(&c, &none);
    capacity_take_memory(&c, UNKNOWN, ALL);
    json_object_clear(inventory);
    capacity_write(&c, inventory);
    assert_int_equal(json_object_size(inventory), 0);
    capacity_take_memory(&c, (struct maybe){true, 1}, UNKNOWN);
    assert_false(c.free_memory_mb.known);
}

static void reads_gpus_from_facts(void **state)
{
    struct gpu_capacity g;
    gpu_capacity_read("use 0000:3b:00.0 90\ntemperature 0000:3b:00.0 71 90 85 60 95\n"
                      "use 0000:5e:00.0 10\ntemperature 0000:5e:00.0 33 90 85 0 0\n",
                      &g);
    assert_true(g.has_use && g.has_celsius);
    assert_int_equal(g.use, 50);
    assert_int_equal(g.celsius, 71);
    gpu_capacity_read("unsupported there is no library\n", &g);
    assert_false(g.has_use || g.has_celsius);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tells_steps),
        cmocka_unit_test(says_nothing_of_a_value_that_trembles),
        cmocka_unit_test(unknown_is_told_as_unknown),
        cmocka_unit_test(reads_gpus_from_facts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
