/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/checker/booted.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct mono NOW = {5000};

static int open_checks(void **state)
{
    static const char records[] = "Check=a Probe=plugin Run=\"exit 0\" When=boot\n"
                                  "Check=b Probe=plugin Run=\"exit 1\" When=boot\n";
    struct checks *c = mem_alloc(sizeof *c);
    assert_int_equal(checks_parse("test", records, sizeof records - 1, c, NULL), 0);
    *state = c;
    return 0;
}

static int close_checks(void **state)
{
    checks_fini(*state);
    free(*state);
    return 0;
}

static json_t *keep(const struct check *k, const struct verdict *v, int64_t ns, const char *read_as)
{
    CLEANUP_TEXT struct text t = {0};
    struct booted one = {k, v, {ns}, NULL};
    booted_write("b1", &one, 1, &t);
    assert_true(t.len < BOOTED_BYTES_MAX);
    return booted_read(t.s, read_as);
}

static void a_written_verdict_is_found_whole(void **state)
{
    const struct checks *c = *state;
    struct verdict v, back;
    struct mono at;
    CLEANUP_TEXT struct text first = {0}, second = {0};
    verdict_clear(&v);
    verdict_add(&v, RESULT_FATAL, "gpu 1", "gpu.lost", "it is \"gone\"");
    CLEANUP_JSON json_t *kept = keep(&c->list[0], &v, 4000, "b1");
    assert_true(booted_find(kept, &c->list[0], NOW, &back, &at));
    assert_int_equal(at.ns, 4000);
    verdict_write(&v, &first);
    verdict_write(&back, &second);
    assert_string_equal(first.s, second.s);
}

static void a_verdict_of_another_boot_or_record_counts_for_nothing(void **state)
{
    const struct checks *c = *state;
    struct checks other = {0};
    static const char record[] = "Check=a Probe=plugin Run=\"exit 0\" When=boot Severity=warn\n";
    struct verdict v, back;
    struct mono at;
    verdict_clear(&v);
    assert_null(keep(&c->list[0], &v, 4000, "b2"));
    assert_null(keep(&c->list[0], &v, 4000, ""));
    CLEANUP_JSON json_t *kept = keep(&c->list[0], &v, 4000, "b1");
    assert_true(booted_find(kept, &c->list[0], NOW, &back, &at));
    assert_false(booted_find(kept, &c->list[1], NOW, &back, &at));
    assert_int_equal(checks_parse("test", record, sizeof record - 1, &other, NULL), 0);
    assert_false(booted_find(kept, &other.list[0], NOW, &back, &at));
    assert_false(booted_find(NULL, &c->list[0], NOW, &back, &at));
    checks_fini(&other);
}

static void an_impossible_file_is_not_believed(void **state)
{
    static const char *const wrong[] = {"", "{", "[]", "{\"boot\":1}", "{\"checks\":[]}"};
    const struct checks *c = *state;
    struct verdict v, back;
    struct mono at;
    verdict_clear(&v);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_null(booted_read(wrong[i], "b1"));
    CLEANUP_JSON json_t *later = keep(&c->list[0], &v, 6000, "b1");
    assert_false(booted_find(later, &c->list[0], NOW, &back, &at)); /* than now */
    verdict_cannot(&v, RESULT_UNKNOWN, "who knows");
    CLEANUP_JSON json_t *unknown = keep(&c->list[0], &v, 4000, "b1");
    assert_false(booted_find(unknown, &c->list[0], NOW, &back, &at));
}

static void there_is_room_for_so_much(void **state)
{
    const struct checks *c = *state;
    struct verdict v, back;
    struct mono at;
    struct booted many[100];
    char device[8], much[200];
    CLEANUP_TEXT struct text t = {0};
    verdict_clear(&v);
    memset(much, 'x', sizeof much - 1);
    much[sizeof much - 1] = 0;
    for (int i = 0; i < FINDINGS_A_CHECK_MAX; i++) {
        snprintf(device, sizeof device, "%d", i);
        verdict_add(&v, RESULT_WARN, device, "", "%s", much);
    }
    for (size_t i = 0; i < sizeof many / sizeof *many; i++)
        many[i] = (struct booted){&c->list[i > 0], &v, {1}, NULL};
    booted_write("b1", many, sizeof many / sizeof *many, &t);
    assert_in_range(t.len, BOOTED_BYTES_MAX / 2, BOOTED_BYTES_MAX - 1);
    CLEANUP_JSON json_t *kept = booted_read(t.s, "b1");
    assert_true(booted_find(kept, &c->list[0], NOW, &back, &at));
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, open_checks, close_checks)
    const struct CMUnitTest tests[] = {
        T(a_written_verdict_is_found_whole),
        T(a_verdict_of_another_boot_or_record_counts_for_nothing),
        T(an_impossible_file_is_not_believed),
        T(there_is_room_for_so_much),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
