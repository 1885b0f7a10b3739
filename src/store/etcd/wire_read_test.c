/* SPDX-License-Identifier: Apache-2.0 */
/* Answers of an etcd, or of something in its place, that are cut off, too large, or of another shape. */
#include "store/etcd/wire.h"

#include "base/base64.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define HEADER "\"header\":{\"cluster_id\":\"5\",\"revision\":\"12\"}"
#define WHOLE                                                                                            \
    "{" HEADER ",\"kvs\":[{\"key\":\"YQ==\",\"create_revision\":\"1\",\"mod_revision\":\"2\",\"value\":" \
    "\"dg==\"},{\"key\":\"YWI=\",\"value\":\"dnY=\"}],\"more\":true,\"count\":\"9\"}"

static int range(const char *json, struct wire_answer *a, struct err *e)
{
    return wire_range_read(json, strlen(json), a, e);
}

static void a_range_is_read(void **state)
{
    CLEANUP_ANSWER struct wire_answer a = {0};
    assert_int_equal(range(WHOLE, &a, NULL), 0);
    assert_true(a.cluster == 5 && a.revision == 12 && a.n_found == 1 && a.n_kvs == 2);
    assert_true(a.found[0].first == 0 && a.found[0].n == 2 && a.found[0].more);
    assert_string_equal(a.kvs[0].key, "a");
    assert_string_equal(a.kvs[0].value, "v");
    assert_string_equal(a.kvs[1].key, "ab");
    assert_string_equal(a.kvs[1].value, "vv");
    assert_true(a.kvs[0].created == 1 && a.kvs[0].modified == 2 && a.kvs[1].modified == 0);
}

static void an_answer_that_is_cut_off_is_refused(void **state)
{
    for (size_t len = 0; len < sizeof WHOLE - 1; len++) {
        struct wire_answer a;
        struct wire_events v;
        struct err e = {0};
        assert_int_equal(wire_range_read(WHOLE, len, &a, &e), -EPROTO);
        assert_true(e.msg[0] && !a.kvs && !a.found && !a.own.s && a.n_kvs == 0);
        assert_int_equal(wire_txn_read(WHOLE, len, &a, NULL), -EPROTO);
        assert_int_equal(wire_events_read(WHOLE, len, &v, NULL), -EPROTO);
    }
}

static void an_empty_range_has_no_keys(void **state)
{
    static const char *const empty[] = {"{" HEADER "}", "{" HEADER ",\"kvs\":[]}",
                                        "{" HEADER ",\"kvs\":null}", "{" HEADER ",\"kvs\":{}}"};
    for (size_t i = 0; i < sizeof empty / sizeof *empty; i++) {
        CLEANUP_ANSWER struct wire_answer a = {0};
        assert_int_equal(range(empty[i], &a, NULL), 0);
        assert_int_equal(a.n_kvs, 0);
        assert_null(wire_first(&a, 0));
        assert_false(a.found[0].more);
    }
}

/* A key or a value of just the greatest length is taken, one of a byte more is not. */
static void keys_and_values_have_limits(void **state)
{
    static const struct {
        const char *member;
        size_t max;
    } cases[] = {{"key", WIRE_KEY_BYTES_MAX}, {"value", WIRE_VALUE_BYTES_MAX}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t more = 0; more <= 3; more += 3) {
            CLEANUP_TEXT struct text bytes = {0}, json = {0};
            CLEANUP_ANSWER struct wire_answer a = {0};
            struct err e = {0};
            while (bytes.len < cases[i].max + more)
                text_add_char(&bytes, 'x');
            text_printf(&json, "{" HEADER ",\"kvs\":[{\"%s\":\"", cases[i].member);
            base64_add(&json, bytes.s, bytes.len);
            text_add(&json, "\"}]}");
            assert_int_equal(range(json.s, &a, &e), more ? -EPROTO : 0);
            if (more)
                assert_non_null(strstr(e.msg, "bytes in \""));
            else
                assert_int_equal(i == 0 ? strlen(a.kvs[0].key) : a.kvs[0].len, cases[i].max);
        }
}

static void numbers_are_those_of_64_bits(void **state)
{
    static const struct {
        const char *number;
        bool good;
    } cases[] = {{"\"18446744073709551615\"", true},
                 {"0", true},
                 {"9223372036854775807", true},
                 {"\"18446744073709551616\"", false},
                 {"-1", false},
                 {"\"-1\"", false},
                 {"\"\"", false},
                 {"\" 1\"", false},
                 {"\"1x\"", false},
                 {"1e3", false},
                 {"true", false},
                 {"null", false},
                 {"{}", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CLEANUP_TEXT struct text json = {0};
        CLEANUP_ANSWER struct wire_answer a = {0};
        text_printf(&json, "{\"header\":{\"revision\":%s}}", cases[i].number);
        if ((range(json.s, &a, NULL) == 0) != cases[i].good)
            fail_msg("%s", cases[i].number);
    }
}

static void an_operation_that_read_nothing_has_no_keys(void **state)
{
    CLEANUP_ANSWER struct wire_answer a = {0};
    static const char json[] = "{" HEADER ",\"responses\":[{},7,null,{\"response_range\":[]},"
                               "{\"response_range\":{\"kvs\":[{\"key\":\"YQ==\"}]}}]}";
    assert_int_equal(wire_txn_read(json, sizeof json - 1, &a, NULL), 0);
    assert_false(a.succeeded);
    assert_int_equal(a.n_found, 5);
    for (size_t i = 0; i < 4; i++)
        assert_null(wire_first(&a, i));
    assert_string_equal(wire_first(&a, 4)->key, "a");
    assert_null(wire_first(&a, SIZE_MAX));
}

/* Deleting has no value, whatever the event says. */
static void an_event_that_deletes_has_no_value(void **state)
{
    struct wire_events v;
    static const char json[] = "{\"result\":{" HEADER ",\"events\":[{\"type\":\"DELETE\",\"kv\":{\"key\":"
                               "\"YQ==\",\"value\":7}},{\"type\":\"PUT\",\"kv\":{\"key\":\"YQ==\"}}]}}";
    assert_int_equal(wire_events_read(json, sizeof json - 1, &v, NULL), 0);
    assert_int_equal(v.answer.n_kvs, 2);
    assert_null(v.answer.kvs[0].value);
    assert_string_equal(v.answer.kvs[1].value, "");
    assert_false(v.created || v.continues);
    wire_events_fini(&v);
}

static void words_of_refusals_are_cut(void **state)
{
    CLEANUP_TEXT struct text json = {0};
    struct err e = {0};
    bool definite;
    text_add(&json, "{\"code\":3,\"message\":\"");
    for (int i = 0; i < 5000; i++)
        text_add_char(&json, 'w');
    text_add(&json, "\"}");
    assert_int_equal(wire_refusal(400, json.s, json.len, &definite, &e), -EINVAL);
    assert_true(definite);
    assert_true(strlen(e.msg) <= 230);
    /* "error" counts where there is no message, and only "no leader" is a definite word of that code */
    static const char no_leader[] = "{\"code\":14,\"error\":\"etcdserver: no leader\"}",
                      words[] = "{\"code\":14,\"message\":\"no leader\"}";
    assert_int_equal(wire_refusal(503, no_leader, sizeof no_leader - 1, &definite, &e), -EAGAIN);
    assert_true(definite);
    assert_int_equal(wire_refusal(503, words, sizeof words - 1, &definite, &e), -EAGAIN);
    assert_false(definite);
    assert_non_null(strstr(e.msg, "HTTP status 503"));
}

static void other_answers_about_etcd_are_refused(void **state)
{
    struct wire_status s;
    struct wire_member m[2];
    bool no_space, corrupt;
    size_t n = 7;
    static const char *const status[] = {"",
                                         "[]",
                                         "{\"leader\":\"x\"}",
                                         "{\"dbSize\":-1}",
                                         "{\"header\":{\"member_id\":\"x\"}}",
                                         "{\"dbSizeInUse\":{}}"};
    for (size_t i = 0; i < sizeof status / sizeof *status; i++)
        assert_int_equal(wire_status_read(status[i], strlen(status[i]), &s, NULL), -EPROTO);
    assert_int_equal(wire_members_read("[]", 2, m, 2, &n, NULL), -EPROTO);
    assert_int_equal(n, 0);
    static const char members[] = "{\"members\":[{\"ID\":\"x\"}]}", none[] = "{\"members\":7}",
                      corrupts[] = "{\"alarms\":[{\"alarm\":\"CORRUPT\"},7,{\"alarm\":\"NONE\"}]}";
    assert_int_equal(wire_members_read(members, sizeof members - 1, m, 2, &n, NULL), -EPROTO);
    assert_int_equal(wire_members_read(none, sizeof none - 1, m, 2, &n, NULL), 0);
    assert_int_equal(n, 0);
    assert_int_equal(wire_alarms_read(corrupts, sizeof corrupts - 1, &no_space, &corrupt, NULL), 0);
    assert_true(corrupt && !no_space);
    assert_int_equal(wire_alarms_read("{}", 2, &no_space, &corrupt, NULL), 0);
    assert_false(corrupt || no_space);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_range_is_read),
        cmocka_unit_test(an_answer_that_is_cut_off_is_refused),
        cmocka_unit_test(an_empty_range_has_no_keys),
        cmocka_unit_test(keys_and_values_have_limits),
        cmocka_unit_test(numbers_are_those_of_64_bits),
        cmocka_unit_test(an_operation_that_read_nothing_has_no_keys),
        cmocka_unit_test(an_event_that_deletes_has_no_value),
        cmocka_unit_test(words_of_refusals_are_cut),
        cmocka_unit_test(other_answers_about_etcd_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
