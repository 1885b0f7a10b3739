/* SPDX-License-Identifier: Apache-2.0 */
/* Requests as the gateway takes them, and answers as it gives them. */
#include "store/etcd/wire.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void test_a_transaction(void **state)
{
    CLEANUP_TXN struct wire_txn t = {0};
    CLEANUP_TEXT struct text out = {0};
    wire_compare_created(&t, "a", 5);
    wire_compare_value(&t, "ab", "v");
    wire_compare_modified(&t, "abc", 0);
    wire_put(&t.success, "k", "\xff\xfe\xfd!", 4);
    wire_delete(&t.success, "k", NULL);
    wire_delete(&t.success, "k", "l");
    wire_get(&t.failure, "k", "l");
    wire_txn_write(&t, &out);
    assert_string_equal(out.s,
                        "{\"compare\":[{\"key\":\"YQ==\",\"target\":\"CREATE\",\"create_revision\":\"5\"},"
                        "{\"key\":\"YWI=\",\"target\":\"VALUE\",\"value\":\"dg==\"},"
                        "{\"key\":\"YWJj\",\"target\":\"MOD\",\"mod_revision\":\"0\"}],"
                        "\"success\":[{\"request_put\":{\"key\":\"aw==\",\"value\":\"//79IQ==\"}},"
                        "{\"request_delete_range\":{\"key\":\"aw==\"}},{\"request_delete_range\":{\"key\":"
                        "\"aw==\",\"range_end\":\"bA==\"}}],"
                        "\"failure\":[{\"request_range\":{\"key\":\"aw==\",\"range_end\":\"bA==\"}}]}");
}

static void test_other_requests(void **state)
{
    CLEANUP_TEXT struct text out = {0};
    wire_range_write("k", NULL, 0, 0, &out);
    wire_range_write("k", "l", UINT64_MAX, 7, &out);
    wire_watch_write("k", "l", 9, &out);
    wire_compact_write(3, &out);
    assert_string_equal(
        out.s,
        "{\"key\":\"aw==\"}"
        "{\"key\":\"aw==\",\"range_end\":\"bA==\",\"revision\":\"18446744073709551615\",\"limit\":\"7\"}"
        "{\"create_request\":{\"key\":\"aw==\",\"range_end\":\"bA==\",\"start_revision\":\"9\","
        "\"progress_notify\":true,\"fragment\":true}}{\"revision\":\"3\"}");
}

#define HEADER "\"header\":{\"cluster_id\":\"18446744073709551615\",\"revision\":\"12\"}"

static int txn(const char *json, struct wire_answer *a, struct err *e)
{
    return wire_txn_read(json, strlen(json), a, e);
}

static void test_an_answer_to_a_transaction(void **state)
{
    CLEANUP_ANSWER struct wire_answer a = {0};
    struct err e = {0};
    assert_int_equal(
        txn("{" HEADER ",\"succeeded\":true,\"responses\":[{\"response_put\":{}},{\"response_range\":{"
            "\"kvs\":[{\"key\":\"aw==\",\"create_revision\":\"2\",\"mod_revision\":3,\"version\":\"1\","
            "\"value\":"
            "\"//79IQ==\"},{\"key\":\"bA==\"}],\"more\":true,\"count\":\"9\"}},{\"response_range\":{}}]}",
            &a, &e),
        0);
    assert_true(a.succeeded && a.cluster == UINT64_MAX && a.revision == 12 && a.n_found == 3);
    assert_null(wire_first(&a, 0));
    assert_null(wire_first(&a, 2));
    assert_null(wire_first(&a, 3));
    const struct wire_kv *kv = wire_first(&a, 1);
    assert_true(a.found[1].more && !a.found[2].more && a.found[1].n == 2);
    assert_string_equal(kv->key, "k");
    assert_int_equal(kv->len, 4);
    assert_memory_equal(kv->value, "\xff\xfe\xfd!", 5);
    assert_true(kv->created == 2 && kv->modified == 3);
    assert_string_equal(kv[1].key, "l"); /* what is empty or zero is left out */
    assert_true(kv[1].len == 0 && kv[1].created == 0);
}

static void test_answers_that_are_none(void **state)
{
    static const char *const wrong[] = {
        "",
        "[]",
        "{",
        "{\"succeeded\":true}",
        "{\"header\":7}",
        "{\"header\":{\"revision\":\"-1\"}}",
        "{\"header\":{\"revision\":1.5}}",
        "{\"header\":{\"revision\":\"18446744073709551616\"}}",
        "{" HEADER ",\"responses\":[{\"response_range\":{\"kvs\":[7]}}]}",
        "{" HEADER ",\"responses\":[{\"response_range\":{\"kvs\":[{\"key\":7}]}}]}",
        "{" HEADER ",\"responses\":[{\"response_range\":{\"kvs\":[{\"key\":\"a\"}]}}]}",
        "{" HEADER ",\"responses\":[{\"response_range\":{\"kvs\":[{\"key\":\"a===\"}]}}]}",
        "{" HEADER ",\"responses\":[{\"response_range\":{\"kvs\":[{\"key\":\"a-b_\"}]}}]}",
        "{" HEADER ",\"responses\":[{\"response_range\":{\"kvs\":[{\"key\":\"AA==\"}]}}]}", /* a zero byte */
        "{" HEADER ",\"responses\":[{\"response_range\":{\"kvs\":[{\"value\":\"YQBh\"}]}}]}",
        "{" HEADER ",\"responses\":[{\"response_range\":{\"kvs\":[{\"mod_revision\":[]}]}}]}"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct wire_answer a;
        struct err e = {0};
        assert_int_equal(txn(wrong[i], &a, &e), -EPROTO);
        assert_true(e.msg[0] && !a.kvs && !a.found && !a.own.s);
    }
}

static void test_a_key_has_its_limit(void **state)
{
    CLEANUP_TEXT struct text json = {0};
    struct wire_answer a;
    text_add(&json, "{" HEADER ",\"kvs\":[{\"key\":\"");
    for (int i = 0; i <= WIRE_KEY_BYTES_MAX; i += 3)
        text_add(&json, "YWFh");
    text_add(&json, "\"}]}");
    assert_int_equal(wire_range_read(json.s, json.len, &a, NULL), -EPROTO);
}

static int events(const char *json, struct wire_events *v)
{
    return wire_events_read(json, strlen(json), v, NULL);
}

static void test_lines_of_a_watch(void **state)
{
    struct wire_events v;
    assert_int_equal(events("{\"result\":{" HEADER ",\"created\":true}}", &v), 0);
    assert_true(v.created && v.answer.n_kvs == 0);
    wire_events_fini(&v);
    assert_int_equal(
        events("{\"result\":{" HEADER
               ",\"fragment\":true,\"events\":[{\"kv\":{\"key\":\"aw==\",\"mod_revision\":\"4\"}},"
               "{\"type\":\"DELETE\",\"kv\":{\"key\":\"bA==\",\"mod_revision\":\"5\"}}]}}",
               &v),
        0);
    assert_true(v.continues && v.answer.n_kvs == 2);
    assert_non_null(v.answer.kvs[0].value);
    assert_null(v.answer.kvs[1].value);
    wire_events_fini(&v);
}

static void test_ends_of_a_watch(void **state)
{
    static const struct {
        const char *json;
        int code;
    } cases[] = {
        {"{\"result\":{" HEADER ",\"canceled\":true,\"compact_revision\":\"9\"}}", -ERANGE},
        {"{\"result\":{" HEADER ",\"canceled\":true,\"cancel_reason\":\"x\"}}", -EAGAIN},
        {"{\"error\":{\"grpc_code\":14,\"http_code\":503,\"message\":\"etcdserver: no leader\"}}", -EAGAIN},
        {"{\"error\":{\"code\":11,\"message\":\"compacted\"}}", -ERANGE},
        {"{\"error\":\"?\"}", -EAGAIN},
        {"{\"result\":{" HEADER ",\"events\":[{}]}}", -EPROTO},
        {"{}", -EPROTO},
        {"x", -EPROTO}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct wire_events v;
        assert_int_equal(events(cases[i].json, &v), cases[i].code);
    }
}

/* Only what is refused before anything is done, or by the rules for doing it, is definite. */
static void test_refusals(void **state)
{
    static const struct {
        const char *body;
        int code;
        bool definite;
    } cases[] = {{"{\"error\":\"x\",\"message\":\"etcdserver: mvcc: database space exceeded\",\"code\":8}",
                  -ENOSPC, false},
                 {"{\"message\":\"etcdserver: request is too large\",\"code\":3}", -EINVAL, true},
                 {"{\"message\":\"etcdserver: permission denied\",\"code\":7}", -EACCES, true},
                 {"{\"message\":\"required revision has been compacted\",\"code\":11}", -ERANGE, true},
                 {"{\"message\":\"etcdserver: no leader\",\"code\":14}", -EAGAIN, true},
                 {"{\"message\":\"etcdserver: leader changed\",\"code\":14}", -EAGAIN, false},
                 {"{\"message\":\"etcdserver: request timed out\",\"code\":14}", -EAGAIN, false},
                 {"{\"message\":\"x\",\"code\":2}", -EAGAIN, false},
                 {"{\"message\":\"x\",\"code\":\"y\"}", -EAGAIN, false},
                 {"<html>", -EAGAIN, false},
                 {"", -EAGAIN, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct err e = {0};
        bool definite = !cases[i].definite;
        assert_int_equal(wire_refusal(503, cases[i].body, strlen(cases[i].body), &definite, &e),
                         cases[i].code);
        assert_int_equal(definite, cases[i].definite);
        assert_int_equal(e.code, cases[i].code);
        assert_true(e.msg[0]);
    }
}

static void test_status_members_and_alarms(void **state)
{
    static const char
        status[] =
            "{\"header\":{\"member_id\":\"7\"},\"version\":\"3.4.23\",\"dbSize\":\"20\",\"leader\":\"8\","
            "\"dbSizeInUse\":\"16\"}",
        list[] = "{\"members\":[{\"ID\":\"7\",\"name\":\"a\\u0007b\"},{\"ID\":\"8\"},{\"ID\":\"9\"}]}",
        alarms[] = "{\"alarms\":[{\"memberID\":\"7\",\"alarm\":\"NOSPACE\"}]}";
    struct wire_status s;
    struct wire_member m[2];
    bool no_space, corrupt;
    size_t n;
    assert_int_equal(wire_status_read(status, sizeof status - 1, &s, NULL), 0);
    assert_string_equal(s.version, "3.4.23");
    assert_true(s.member == 7 && s.leader == 8 && s.bytes == 20 && s.bytes_used == 16);
    assert_int_equal(wire_members_read(list, sizeof list - 1, m, 2, &n, NULL), 0);
    assert_int_equal(n, 2);
    assert_string_equal(m[0].name, "a b");
    assert_string_equal(m[1].name, "");
    assert_int_equal(wire_alarms_read(alarms, sizeof alarms - 1, &no_space, &corrupt, NULL), 0);
    assert_true(no_space && !corrupt);
    assert_int_equal(wire_alarms_read("7", 1, &no_space, &corrupt, NULL), -EPROTO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_transaction),
        cmocka_unit_test(test_other_requests),
        cmocka_unit_test(test_an_answer_to_a_transaction),
        cmocka_unit_test(test_answers_that_are_none),
        cmocka_unit_test(test_a_key_has_its_limit),
        cmocka_unit_test(test_lines_of_a_watch),
        cmocka_unit_test(test_ends_of_a_watch),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_status_members_and_alarms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
