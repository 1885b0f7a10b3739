/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"
#include "lib/scene_test.h"
#include "lib/sse.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* Each call makes the request that the interface's description says. */
static void calls_become_requests(void **state)
{
    CLEANUP_FREE char *answer = stub_json(200, "{}");
    struct stub_answer answers[25];
    for (size_t i = 0; i < 25; i++)
        answers[i] = (struct stub_answer){.bytes = answer};
    struct scene s = scene_open(answers, 25, 0);
    struct fettle_setting settings[] = {{"CPUs", "64"}, {"OS", NULL}};
    struct fettle_answer *a[25] = {0};
    const struct fettle_token plain = {.nodes = "lx1"}, all = {"lx1", "6h", 3, 1, "10.0.0.0/8", "U"};
    assert_int_equal(fettle_node_list(s.f, "lx[1-3]", "Name,State", &a[0], &s.e), 0);
    assert_int_equal(fettle_node_list(s.f, NULL, NULL, &a[1], &s.e), 0);
    assert_int_equal(fettle_node_show(s.f, "lx/1?", &a[2], &s.e), 0);
    assert_int_equal(fettle_node_drain(s.f, "lx1", "a \"bad\" disk\n", &a[3], &s.e), 0);
    assert_int_equal(fettle_node_undrain(s.f, "lx1", NULL, &a[4], &s.e), 0);
    assert_int_equal(fettle_node_undrain(s.f, "lx1", "c7", &a[5], &s.e), 0);
    assert_int_equal(fettle_node_set(s.f, "lx1", settings, 2, &a[6], &s.e), 0);
    assert_int_equal(fettle_journal(s.f, 12, 100, &a[7], &s.e), 0);
    assert_int_equal(fettle_reload(s.f, &a[8], &s.e), 0);
    assert_int_equal(fettle_token_create(s.f, &plain, &a[9], &s.e), 0);
    assert_int_equal(fettle_token_create(s.f, &all, &a[10], &s.e), 0);
    assert_int_equal(fettle_certificate_create(s.f, "ada", "admin", "PEM", NULL, &a[11], &s.e), 0);
    assert_int_equal(fettle_partition_list(s.f, &a[12], &s.e), 0);
    assert_int_equal(fettle_node_up(s.f, "lx1", NULL, &a[13], &s.e), 0);
    const struct fettle_journal_search search = {
        .nodes = "lx1", .by = "ann", .since = 5, .before = 7, .tail = 2};
    assert_int_equal(fettle_journal_find(s.f, &search, &a[14], &s.e), 0);
    assert_int_equal(fettle_certificate_list(s.f, &a[15], &s.e), 0);
    assert_int_equal(fettle_certificate_revoke(s.f, "lx1", NULL, NULL, "lost", &a[16], &s.e), 0);
    assert_int_equal(fettle_certificate_revoke(s.f, NULL, "operator:ada", "a1", "lost", &a[17], &s.e), 0);
    assert_int_equal(fettle_token_list(s.f, &a[18], &s.e), 0);
    assert_int_equal(fettle_backup_create(s.f, &a[19], &s.e), 0);
    assert_int_equal(fettle_backup_list(s.f, &a[20], &s.e), 0);
    assert_int_equal(fettle_token_end(s.f, "0123", "leaked", &a[21], &s.e), 0);
    assert_int_equal(fettle_controller_list(s.f, &a[22], &s.e), 0);
    assert_int_equal(fettle_controller_admit(s.f, "c2", "02ab", &a[23], &s.e), 0);
    assert_int_equal(fettle_controller_remove(s.f, "c2", "sold", &a[24], &s.e), 0);
    for (size_t i = 0; i < 25; i++)
        fettle_answer_free(a[i]);
    stub_join(s.stub);
    static const struct {
        const char *line, *body;
    } wanted[] = {
        {"GET /v1/nodes?nodes=lx%5B1-3%5D&fields=Name%2CState HTTP/1.1\r\n", ""},
        {"GET /v1/nodes HTTP/1.1\r\n", ""},
        {"GET /v1/nodes/lx%2F1%3F HTTP/1.1\r\n", ""},
        {"POST /v1/nodes/drain HTTP/1.1\r\n", "{\"nodes\":\"lx1\",\"reason\":\"a \\\"bad\\\" disk\\u000a\"}"},
        {"POST /v1/nodes/undrain HTTP/1.1\r\n", "{\"nodes\":\"lx1\"}"},
        {"POST /v1/nodes/undrain HTTP/1.1\r\n", "{\"nodes\":\"lx1\",\"claim\":\"c7\"}"},
        {"POST /v1/nodes/set HTTP/1.1\r\n", "{\"nodes\":\"lx1\",\"set\":{\"CPUs\":\"64\",\"OS\":null}}"},
        {"GET /v1/journal?after=12&limit=100 HTTP/1.1\r\n", ""},
        {"POST /v1/reload HTTP/1.1\r\n", ""},
        {"POST /v1/tokens HTTP/1.1\r\n", "{\"nodes\":\"lx1\"}"},
        {"POST /v1/tokens HTTP/1.1\r\n", "{\"nodes\":\"lx1\",\"valid\":\"6h\",\"from\":\"10.0.0.0/"
                                         "8\",\"uuid\":\"U\",\"count\":3,\"again\":true}"},
        {"POST /v1/certificates HTTP/1.1\r\n", "{\"name\":\"ada\",\"role\":\"admin\",\"request\":\"PEM\"}"},
        {"GET /v1/partitions HTTP/1.1\r\n", ""},
        {"POST /v1/nodes/up HTTP/1.1\r\n", "{\"nodes\":\"lx1\"}"},
        {"GET /v1/journal?tail=2&nodes=lx1&by=ann&since=5&before=7 HTTP/1.1\r\n", ""},
        {"GET /v1/certificates HTTP/1.1\r\n", ""},
        {"POST /v1/certificates/revoke HTTP/1.1\r\n", "{\"nodes\":\"lx1\",\"reason\":\"lost\"}"},
        {"POST /v1/certificates/revoke HTTP/1.1\r\n",
         "{\"holder\":\"operator:ada\",\"serial\":\"a1\",\"reason\":\"lost\"}"},
        {"GET /v1/tokens HTTP/1.1\r\n", ""},
        {"POST /v1/backups HTTP/1.1\r\n", ""},
        {"GET /v1/backups HTTP/1.1\r\n", ""},
        {"POST /v1/tokens/end HTTP/1.1\r\n", "{\"id\":\"0123\",\"reason\":\"leaked\"}"},
        {"GET /v1/controllers HTTP/1.1\r\n", ""},
        {"POST /v1/controllers/admit HTTP/1.1\r\n", "{\"name\":\"c2\",\"key\":\"02ab\"}"},
        {"POST /v1/controllers/remove HTTP/1.1\r\n", "{\"name\":\"c2\",\"reason\":\"sold\"}"}};
    assert_int_equal(stub_requests(s.stub), sizeof wanted / sizeof wanted[0]);
    for (size_t i = 0; i < stub_requests(s.stub); i++) {
        const char *request = stub_request(s.stub, i);
        assert_memory_equal(request, wanted[i].line, strlen(wanted[i].line));
        assert_string_equal(strstr(request, "\r\n\r\n") + 4, wanted[i].body);
    }
    assert_int_equal(stub_connections(s.stub), 1); /* it is kept */
    scene_close(&s);
}

static void calls_about_health_become_requests(void **state)
{
    CLEANUP_FREE char *answer = stub_json(200, "{}");
    enum { CALLS = 27 };
    struct stub_answer answers[CALLS];
    for (size_t i = 0; i < CALLS; i++)
        answers[i] = (struct stub_answer){.bytes = answer};
    struct scene s = scene_open(answers, CALLS, 0);
    struct fettle_answer *a[CALLS] = {0}, **next = a;
    assert_int_equal(fettle_health_show(s.f, "lx/1", next++, &s.e), 0);
    assert_int_equal(fettle_incident_list(s.f, NULL, 0, next++, &s.e), 0);
    assert_int_equal(fettle_incident_list(s.f, "lx[1-2]", 5, next++, &s.e), 0);
    assert_int_equal(fettle_trial_list(s.f, NULL, NULL, next++, &s.e), 0);
    assert_int_equal(fettle_trial_list(s.f, "pair", "lx[1-2]", next++, &s.e), 0);
    assert_int_equal(fettle_check_list(s.f, next++, &s.e), 0);
    assert_int_equal(fettle_check_explain(s.f, "xid.79", next++, &s.e), 0);
    assert_int_equal(fettle_check_run(s.f, "lx1", "fs.space", next++, &s.e), 0);
    assert_int_equal(fettle_remedy_list(s.f, next++, &s.e), 0);
    assert_int_equal(fettle_remedy_explain(s.f, "lx1", next++, &s.e), 0);
    assert_int_equal(fettle_repair_move(s.f, "lx1", "manual_drain", "a \"look\"", next++, &s.e), 0);
    assert_int_equal(fettle_repair_approve(s.f, "lx1", NULL, NULL, next++, &s.e), 0);
    assert_int_equal(fettle_repair_approve(s.f, "lx1", "reboot", "go", next++, &s.e), 0);
    assert_int_equal(fettle_repair_refuse(s.f, "lx1", NULL, "no", next++, &s.e), 0);
    assert_int_equal(fettle_repair_refuse(s.f, "lx1", "reboot", "no", next++, &s.e), 0);
    assert_int_equal(fettle_repair_numbers(s.f, 0, next++, &s.e), 0);
    assert_int_equal(fettle_repair_numbers(s.f, 48, next++, &s.e), 0);
    assert_int_equal(fettle_repair_list(s.f, next++, &s.e), 0);
    assert_int_equal(fettle_queue_list(s.f, next++, &s.e), 0);
    const struct fettle_finding findings[] = {{"xid.79", "gpu 0000:9b:00"}, {"scratch", NULL}};
    assert_int_equal(fettle_queue_resolve(s.f, "lx1", findings, 2, "a cable", next++, &s.e), 0);
    assert_int_equal(fettle_queue_take(s.f, "lx[1-2]", next++, &s.e), 0);
    assert_int_equal(fettle_queue_note(s.f, "lx1", "ordered", next++, &s.e), 0);
    assert_int_equal(fettle_brake_list(s.f, next++, &s.e), 0);
    assert_int_equal(fettle_brake_set(s.f, "stop", true, "cooling", next++, &s.e), 0);
    assert_int_equal(fettle_brake_set(s.f, "latch", false, "seen", next++, &s.e), 0);
    assert_int_equal(fettle_power(s.f, "lx1", "cycle", "hung", true, next++, &s.e), 0);
    assert_int_equal(fettle_power(s.f, "lx1", "status", NULL, false, next++, &s.e), 0);
    for (size_t i = 0; i < CALLS; i++)
        fettle_answer_free(a[i]);
    stub_join(s.stub);
    static const struct {
        const char *line, *body;
    } wanted[] = {
        {"GET /v1/health/lx%2F1 HTTP/1.1\r\n", ""},
        {"GET /v1/incidents HTTP/1.1\r\n", ""},
        {"GET /v1/incidents?nodes=lx%5B1-2%5D&since=5 HTTP/1.1\r\n", ""},
        {"GET /v1/trials HTTP/1.1\r\n", ""},
        {"GET /v1/trials?check=pair&nodes=lx%5B1-2%5D HTTP/1.1\r\n", ""},
        {"GET /v1/checks HTTP/1.1\r\n", ""},
        {"GET /v1/explain/xid.79 HTTP/1.1\r\n", ""},
        {"POST /v1/checks/run HTTP/1.1\r\n", "{\"nodes\":\"lx1\",\"check\":\"fs.space\"}"},
        {"GET /v1/remedies HTTP/1.1\r\n", ""},
        {"GET /v1/remedies/lx1 HTTP/1.1\r\n", ""},
        {"POST /v1/repairs/transition HTTP/1.1\r\n",
         "{\"nodes\":\"lx1\",\"transition\":\"manual_drain\",\"reason\":\"a \\\"look\\\"\"}"},
        {"POST /v1/repairs/approve HTTP/1.1\r\n", "{\"nodes\":\"lx1\"}"},
        {"POST /v1/repairs/approve HTTP/1.1\r\n",
         "{\"nodes\":\"lx1\",\"remedy\":\"reboot\",\"reason\":\"go\"}"},
        {"POST /v1/repairs/refuse HTTP/1.1\r\n", "{\"nodes\":\"lx1\",\"reason\":\"no\"}"},
        {"POST /v1/repairs/refuse HTTP/1.1\r\n",
         "{\"nodes\":\"lx1\",\"remedy\":\"reboot\",\"reason\":\"no\"}"},
        {"GET /v1/repairs/numbers HTTP/1.1\r\n", ""},
        {"GET /v1/repairs/numbers?hours=48 HTTP/1.1\r\n", ""},
        {"GET /v1/repairs HTTP/1.1\r\n", ""},
        {"GET /v1/queue HTTP/1.1\r\n", ""},
        {"POST /v1/queue/resolve HTTP/1.1\r\n",
         "{\"nodes\":\"lx1\",\"findings\":[{\"fault\":\"xid.79\",\"device\":\"gpu 0000:9b:00\"},"
         "{\"fault\":\"scratch\"}],\"reason\":\"a cable\"}"},
        {"POST /v1/queue/ticket HTTP/1.1\r\n", "{\"nodes\":\"lx[1-2]\",\"take\":true}"},
        {"POST /v1/queue/ticket HTTP/1.1\r\n", "{\"nodes\":\"lx1\",\"reason\":\"ordered\"}"},
        {"GET /v1/brakes HTTP/1.1\r\n", ""},
        {"POST /v1/brakes/set HTTP/1.1\r\n", "{\"name\":\"stop\",\"on\":true,\"reason\":\"cooling\"}"},
        {"POST /v1/brakes/set HTTP/1.1\r\n", "{\"name\":\"latch\",\"on\":false,\"reason\":\"seen\"}"},
        {"POST /v1/power HTTP/1.1\r\n",
         "{\"nodes\":\"lx1\",\"do\":\"cycle\",\"reason\":\"hung\",\"force\":true}"},
        {"POST /v1/power HTTP/1.1\r\n", "{\"nodes\":\"lx1\",\"do\":\"status\"}"}};
    assert_int_equal(stub_requests(s.stub), sizeof wanted / sizeof wanted[0]);
    for (size_t i = 0; i < stub_requests(s.stub); i++) {
        const char *request = stub_request(s.stub, i);
        assert_memory_equal(request, wanted[i].line, strlen(wanted[i].line));
        assert_string_equal(strstr(request, "\r\n\r\n") + 4, wanted[i].body);
    }
    scene_close(&s);
}

/* ---- the event format itself ---- */

static int note(void *arg, const char *name, const char *id, const char *data, size_t len)
{
    text_printf(arg, "[%s|%s|%s]", name, id, data);
    return 0;
}

static void calls_about_owners_become_requests(void **state)
{
    CLEANUP_FREE char *answer = stub_json(200, "{}");
    enum { CALLS = 5 };
    struct stub_answer answers[CALLS];
    for (size_t i = 0; i < CALLS; i++)
        answers[i] = (struct stub_answer){.bytes = answer};
    struct scene s = scene_open(answers, CALLS, 0);
    struct fettle_answer *a[CALLS] = {0}, **next = a;
    assert_int_equal(fettle_owner_list(s.f, NULL, next++, &s.e), 0);
    assert_int_equal(fettle_owner_list(s.f, "a/b:1", next++, &s.e), 0);
    assert_int_equal(fettle_owner_claim(s.f, "lx1", NULL, "a run", next++, &s.e), 0);
    assert_int_equal(fettle_owner_release(s.f, NULL, "a", NULL, next++, &s.e), 0);
    assert_int_equal(fettle_owner_transfer(s.f, "lx1", "a", "b:1", NULL, next++, &s.e), 0);
    for (size_t i = 0; i < CALLS; i++)
        fettle_answer_free(a[i]);
    stub_join(s.stub);
    static const struct {
        const char *line, *body;
    } wanted[CALLS] = {{"GET /v1/owners HTTP/1.1\r\n", ""},
                       {"GET /v1/owners?owner=a%2Fb%3A1 HTTP/1.1\r\n", ""},
                       {"POST /v1/owners/claim HTTP/1.1\r\n", "{\"nodes\":\"lx1\",\"reason\":\"a run\"}"},
                       {"POST /v1/owners/release HTTP/1.1\r\n", "{\"owner\":\"a\"}"},
                       {"POST /v1/owners/transfer HTTP/1.1\r\n",
                        "{\"nodes\":\"lx1\",\"owner\":\"a\",\"new_owner\":\"b:1\"}"}};
    for (size_t i = 0; i < CALLS; i++) {
        const char *request = stub_request(s.stub, i);
        assert_memory_equal(request, wanted[i].line, strlen(wanted[i].line));
        assert_string_equal(strstr(request, "\r\n\r\n") + 4, wanted[i].body);
    }
    scene_close(&s);
}

static void event_bytes_may_be_cut_anywhere(void **state)
{
    static const char bytes[] =
        ": c\r\nid:1\r\nevent: a\r\ndata: x\r\n\r\ndata\ndata: y\n\nretry: 5\rid: 2\rdata:z\r\rid: 3\n\n";
    for (size_t cut = 0; cut < sizeof bytes; cut++) {
        struct sse s = {0};
        CLEANUP_TEXT struct text got = {0};
        assert_int_equal(sse_feed(&s, bytes, cut, note, &got, NULL), 0);
        assert_int_equal(sse_feed(&s, bytes + cut, sizeof bytes - 1 - cut, note, &got, NULL), 0);
        assert_string_equal(got.s, "[a|1|x\n][message|1|\ny\n][message|2|z\n]");
        assert_string_equal(s.id, "3");
        sse_fini(&s);
    }
}

static void an_endless_event_is_refused(void **state)
{
    struct sse s = {0};
    CLEANUP_FREE char *part = mem_alloc(1 << 20);
    memset(part, 'x', 1 << 20);
    int r = 0;
    for (int i = 0; i < 100 && r == 0; i++)
        r = sse_feed(&s, part, 1 << 20, note, NULL, NULL);
    assert_int_equal(r, -E2BIG);
    sse_fini(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_become_requests),
        cmocka_unit_test(calls_about_health_become_requests),
        cmocka_unit_test(calls_about_owners_become_requests),
        cmocka_unit_test(event_bytes_may_be_cut_anywhere),
        cmocka_unit_test(an_endless_event_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
