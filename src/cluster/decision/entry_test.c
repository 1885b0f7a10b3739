/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/decision/entry.h"

#include "base/json.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static const char all[] =
    "\"claims\":[\"7.1\",\"7.2\"],\"incidents\":[\"7.1.1\"],\"repairs\":[\"7.1\"],"
    "\"operations\":[\"7.3\"],\"from\":\"isolate\",\"to\":\"remedy\",\"trigger\":\"drained\",\"remedy\":"
    "\"reboot\",\"outcome\":\"done\",\"cost\":72000";

static void test_nothing_is_written_as_nothing(void **state)
{
    struct entry_fields f = {0};
    CLEANUP_TEXT struct text t = {0};
    entry_fields_write(&f, &t);
    assert_int_equal(t.len, 0);
    assert_int_equal(entry_fields_read(NULL, &f, NULL), 0);
    assert_int_equal(entry_fields_read("", &f, NULL), 0);
    assert_false(f.moves);
    assert_int_equal(f.outcome, ENTRY_OUTCOME_NONE);
}

static void test_each_field_is_a_member(void **state)
{
    struct entry_fields f = {.remedy = "reboot", .outcome = ENTRY_OUTCOME_DONE, .cost = 72000};
    CLEANUP_TEXT struct text t = {0};
    entry_fields_add(&f, ENTRY_OPERATIONS, "7.3");
    entry_fields_add(&f, ENTRY_REPAIRS, "7.1");
    entry_fields_add(&f, ENTRY_CLAIMS, "7.1");
    entry_fields_add(&f, ENTRY_CLAIMS, "7.2");
    entry_fields_add(&f, ENTRY_CLAIMS, "7.1");
    entry_fields_add(&f, ENTRY_CLAIMS, "");
    entry_fields_add(&f, ENTRY_CLAIMS, NULL);
    entry_fields_add(&f, ENTRY_INCIDENTS, "7.1.1");
    entry_fields_move(&f, STEP_ISOLATE, STEP_EVENT_DRAINED, STEP_REMEDY);
    entry_fields_write(&f, &t);
    assert_string_equal(t.s, all);
    entry_fields_fini(&f);
    assert_false(f.moves);
}

static void test_written_fields_are_read(void **state)
{
    struct entry_fields f;
    assert_int_equal(entry_fields_read(all, &f, NULL), 0);
    assert_string_equal(f.ids[ENTRY_CLAIMS].s, "7.1 7.2");
    assert_string_equal(f.ids[ENTRY_INCIDENTS].s, "7.1.1");
    assert_string_equal(f.ids[ENTRY_REPAIRS].s, "7.1");
    assert_string_equal(f.ids[ENTRY_OPERATIONS].s, "7.3");
    assert_true(f.moves);
    assert_int_equal(f.from, STEP_ISOLATE);
    assert_int_equal(f.to, STEP_REMEDY);
    assert_int_equal(f.event, STEP_EVENT_DRAINED);
    assert_string_equal(f.remedy, "reboot");
    assert_int_equal(f.outcome, ENTRY_OUTCOME_DONE);
    assert_int_equal(f.cost, 72000);
    entry_fields_fini(&f);
}

/* As an older fettled wrote it. */
static void test_a_move_without_an_event_is_read(void **state)
{
    static const char *const old = "\"from\":\"isolate\",\"to\":\"remedy\"";
    CLEANUP_TEXT struct text t = {0};
    struct entry_fields f;
    assert_int_equal(entry_fields_read(old, &f, NULL), 0);
    assert_true(f.moves);
    assert_int_equal(f.event, STEP_EVENT_NONE);
    entry_fields_write(&f, &t);
    assert_string_equal(t.s, old);
    entry_fields_fini(&f);
}

static void test_owners_are_written_and_read(void **state)
{
    static const char written[] =
        "\"owners\":[\"a:1\",\"@ann\"],\"owner_from\":\"a:1\",\"owner_to\":\"@ann\"";
    struct entry_fields f, again = {.owner_from = mem_dup("a:1"), .owner_to = mem_dup("@ann")};
    CLEANUP_TEXT struct text t = {0};
    entry_fields_add(&again, ENTRY_OWNERS, "a:1");
    entry_fields_add(&again, ENTRY_OWNERS, "@ann");
    entry_fields_write(&again, &t);
    assert_string_equal(t.s, written);
    assert_int_equal(entry_fields_read(written, &f, NULL), 0);
    assert_string_equal(f.owner_from, "a:1");
    assert_string_equal(f.owner_to, "@ann");
    assert_string_equal(f.ids[ENTRY_OWNERS].s, "a:1 @ann");
    entry_fields_fini(&f);
    entry_fields_fini(&again);
    assert_int_equal(entry_fields_read("\"owner_to\":7", &f, NULL), -EINVAL);
}

/* As a newer fettled of the same format may write. */
static void test_unknown_members_are_left_out(void **state)
{
    struct entry_fields f;
    assert_int_equal(entry_fields_read("\"mood\":[1],\"outcome\":\"better\",\"remedy\":\"x\"", &f, NULL), 0);
    assert_int_equal(f.outcome, ENTRY_OUTCOME_NONE);
    assert_string_equal(f.remedy, "x");
    entry_fields_fini(&f);
    assert_int_equal(
        entry_fields_read("\"from\":\"isolate\",\"to\":\"remedy\",\"trigger\":\"bored\"", &f, NULL), 0);
    assert_int_equal(f.event, STEP_EVENT_NONE);
    entry_fields_fini(&f);
}

static void test_wrong_fields_are_refused(void **state)
{
    static const struct {
        const char *members, *says;
    } cases[] = {{"\"claims\":7", "\"claims\" is no array"},
                 {"\"claims\":[\"7.1\",\"a b\"]", "\"claims\": element 2 is no id"},
                 {"\"from\":\"isolate\"", "\"to\" is missing"},
                 {"\"from\":\"isolate\",\"to\":\"heaven\"", "to: \"heaven\" is no step"},
                 {"\"from\":\"isolate\",\"to\":\"remedy\",\"trigger\":1", "\"trigger\" is not a string"},
                 {"\"remedy\":[]", "\"remedy\" is not a string"},
                 {"\"remedy\":\"a.very.long.name.that.no.remedy.of.any.file.can.have\"", "is no remedy"},
                 {"\"cost\":-1", "\"cost\" is not a whole number"},
                 {"\"outcome\":1", "\"outcome\" is not a string"},
                 {"{}", "fields of a journal entry: "}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct entry_fields f;
        struct err e = {0};
        assert_int_equal(entry_fields_read(cases[i].members, &f, &e), -EINVAL);
        if (!strstr(e.msg, cases[i].says))
            fail_msg("\"%s\" does not say \"%s\"", e.msg, cases[i].says);
        assert_null(f.ids[ENTRY_CLAIMS].s);
    }
}

static void test_outcomes_have_names(void **state)
{
    assert_int_equal(entry_outcome_find("failed"), ENTRY_OUTCOME_FAILED);
    assert_int_equal(entry_outcome_find("inconclusive"), ENTRY_OUTCOME_INCONCLUSIVE);
    assert_int_equal(entry_outcome_find(""), ENTRY_OUTCOME_NONE);
    assert_int_equal(entry_outcome_find("better"), ENTRY_OUTCOME_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_is_written_as_nothing),
        cmocka_unit_test(test_each_field_is_a_member),
        cmocka_unit_test(test_written_fields_are_read),
        cmocka_unit_test(test_a_move_without_an_event_is_read),
        cmocka_unit_test(test_owners_are_written_and_read),
        cmocka_unit_test(test_unknown_members_are_left_out),
        cmocka_unit_test(test_wrong_fields_are_refused),
        cmocka_unit_test(test_outcomes_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
