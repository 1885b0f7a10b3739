/* SPDX-License-Identifier: Apache-2.0 */
#include "api/ask.h"

#include "api/golden_test.h"
#include "api/view.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int parse(enum route r, const char *body, struct ask *a, struct err *e)
{
    *a = (struct ask){0};
    return ask_parse(r, body, strlen(body), a, e);
}

static void test_hold(void **state)
{
    struct ask a;
    assert_int_equal(parse(ROUTE_node_drain,
                           "{\"nodes\":\"lx[01-03]\",\"reason\":\"bad \\\"DIMM\\\" \\u00e4\"}", &a, NULL),
                     0);
    assert_int_equal(a.nodes.n, 3);
    assert_string_equal(a.nodes.names[2], "lx03");
    assert_string_equal(a.reason, "bad \"DIMM\" \xc3\xa4");
    assert_null(a.claim);
    ask_fini(&a);
}

static void test_release(void **state)
{
    struct ask a;
    assert_int_equal(parse(ROUTE_node_undrain, "{\"nodes\":\"lx01\"}", &a, NULL), 0);
    assert_null(a.claim);
    ask_fini(&a);
    assert_int_equal(parse(ROUTE_node_up, "{\"nodes\":\"lx01\",\"claim\":\"7\"}", &a, NULL), 0);
    assert_string_equal(a.claim, "7");
    ask_fini(&a);
}

/* Fields in any case come out by their proper names; null and "" stay. */
static void test_set(void **state)
{
    struct ask a;
    assert_int_equal(parse(ROUTE_node_set,
                           "{\"nodes\":\"lx01\",\"set\":{\"cpus\":\"4\",\"Partition\":\"\",\"os\":null}}", &a,
                           NULL),
                     0);
    assert_int_equal(a.n_settings, 3);
    assert_int_equal(a.settings[0].field, FIELD_CPUS);
    assert_string_equal(a.settings[0].value, "4");
    assert_int_equal(a.settings[1].field, FIELD_PARTITION);
    assert_string_equal(a.settings[1].value, "");
    assert_int_equal(a.settings[2].field, FIELD_OS);
    assert_null(a.settings[2].value);
    ask_fini(&a);
}

static void test_reload(void **state)
{
    struct ask a;
    assert_int_equal(parse(ROUTE_config_reload, "", &a, NULL), 0);
    assert_int_equal(parse(ROUTE_config_reload, "{}", &a, NULL), 0);
    assert_int_equal(a.n_parts, 0);
    assert_int_equal(
        parse(ROUTE_config_reload,
              "{\"revision\":7,\"parts\":[{\"part\":\"nodes\",\"text\":\"Name=\\\"a\\\"\\n\"},{\"part\":"
              "\"parameters\",\"text\":\"\"}],\"warnings\":[\"odd\",\"very odd\"]}",
              &a, NULL),
        0);
    assert_int_equal(a.revision, 7);
    assert_int_equal(a.n_parts, 2);
    assert_string_equal(a.parts[0].text, "Name=\"a\"\n");
    assert_string_equal(a.parts[1].name, "parameters");
    assert_string_equal(a.warnings.s, "odd\nvery odd\n");
    ask_fini(&a);
}

static void test_conform(void **state)
{
    struct ask a;
    assert_int_equal(parse(ROUTE_conform_recheck, "{\"nodes\":\"lx[1-3]\"}", &a, NULL), 0);
    assert_int_equal(a.nodes.n, 3);
    ask_fini(&a);
    assert_int_equal(parse(ROUTE_conform_approve, "{\"nodes\":\"lx1\"}", &a, NULL), 0);
    assert_null(a.reason);
    ask_fini(&a);
    assert_int_equal(parse(ROUTE_conform_approve, "{\"nodes\":\"lx1\",\"reason\":\"ok\"}", &a, NULL), 0);
    assert_string_equal(a.reason, "ok");
    ask_fini(&a);
}

static void test_repair(void **state)
{
    struct ask a;
    assert_int_equal(parse(ROUTE_check_run, "{\"nodes\":\"lx[1-2]\",\"check\":\"fs.space\"}", &a, NULL), 0);
    assert_string_equal(a.word, "fs.space");
    ask_fini(&a);
    assert_int_equal(parse(ROUTE_repair_transition,
                           "{\"nodes\":\"lx1\",\"transition\":\"retire\",\"reason\":\"old\"}", &a, NULL),
                     0);
    assert_string_equal(a.word, "retire");
    assert_string_equal(a.reason, "old");
    ask_fini(&a);
    assert_int_equal(parse(ROUTE_repair_approve, "{\"nodes\":\"lx1\"}", &a, NULL), 0);
    assert_null(a.word);
    assert_null(a.reason);
    ask_fini(&a);
    assert_int_equal(
        parse(ROUTE_repair_refuse, "{\"nodes\":\"lx1\",\"remedy\":\"reboot\",\"reason\":\"no\"}", &a, NULL),
        0);
    assert_string_equal(a.word, "reboot");
    assert_string_equal(a.reason, "no");
    ask_fini(&a);
}

static void test_queue_brake_power(void **state)
{
    struct ask a;
    assert_int_equal(parse(ROUTE_queue_resolve,
                           "{\"nodes\":\"lx1\",\"findings\":[{\"fault\":\"xid.79\",\"device\":\"gpu 0\"},{"
                           "\"fault\":\"scratch\"}],\"reason\":\"a reset\"}",
                           &a, NULL),
                     0);
    assert_int_equal(a.n_findings, 2);
    assert_string_equal(a.findings[0].fault, "xid.79");
    assert_string_equal(a.findings[0].device, "gpu 0");
    assert_string_equal(a.findings[1].fault, "scratch");
    assert_null(a.findings[1].device);
    assert_string_equal(a.reason, "a reset");
    ask_fini(&a);
    assert_int_equal(parse(ROUTE_queue_ticket, "{\"nodes\":\"lx1\",\"take\":true}", &a, NULL), 0);
    assert_true(a.gives && a.on);
    ask_fini(&a);
    assert_int_equal(parse(ROUTE_queue_ticket, "{\"nodes\":\"lx1\",\"take\":false}", &a, NULL), 0);
    assert_true(a.gives && !a.on);
    ask_fini(&a);
    assert_int_equal(parse(ROUTE_queue_ticket, "{\"nodes\":\"lx1\",\"reason\":\"seen\"}", &a, NULL), 0);
    assert_false(a.gives);
    assert_string_equal(a.reason, "seen");
    ask_fini(&a);
    assert_int_equal(parse(ROUTE_brake_set, "{\"name\":\"stop\",\"on\":true,\"reason\":\"x\"}", &a, NULL), 0);
    assert_true(a.on);
    assert_string_equal(a.word, "stop");
    ask_fini(&a);
    assert_int_equal(parse(ROUTE_power, "{\"nodes\":\"lx1\",\"do\":\"cycle\"}", &a, NULL), 0);
    assert_string_equal(a.word, "cycle");
    assert_false(a.on);
    ask_fini(&a);
    assert_int_equal(
        parse(ROUTE_power, "{\"nodes\":\"lx1\",\"do\":\"off\",\"reason\":\"x\",\"force\":true}", &a, NULL),
        0);
    assert_string_equal(a.reason, "x");
    assert_true(a.on);
    ask_fini(&a);
}

static void test_baseline(void **state)
{
    struct ask a;
    assert_int_equal(parse(ROUTE_baseline_accept, "{\"node\":\"lx1\",\"reason\":\"new\"}", &a, NULL), 0);
    assert_string_equal(a.node, "lx1");
    assert_string_equal(a.reason, "new");
    ask_fini(&a);
    assert_int_equal(parse(ROUTE_baseline_revert, "{\"class\":\"gpu\"}", &a, NULL), 0);
    assert_string_equal(a.class_name, "gpu");
    assert_int_equal(a.version, 0);
    ask_fini(&a);
    assert_int_equal(parse(ROUTE_baseline_revert, "{\"class\":\"gpu\",\"version\":4294967295}", &a, NULL), 0);
    assert_int_equal(a.version, UINT32_MAX);
    ask_fini(&a);
}

static void test_rollout(void **state)
{
    struct ask a;
    assert_int_equal(parse(ROUTE_rollout_start,
                           "{\"class\":\"gpu\",\"to\":\"lx9\",\"nodes\":\"lx[1-9]\",\"deadline\":\"90d\"}",
                           &a, NULL),
                     0);
    assert_string_equal(a.node, "lx9");
    assert_int_equal(a.version, 0);
    assert_int_equal(a.nodes.n, 9);
    assert_int_equal(a.deadline.ns, span_s(ROLLOUT_DAYS_MAX * 86400).ns);
    ask_fini(&a);
    assert_int_equal(parse(ROUTE_rollout_start,
                           "{\"class\":\"gpu\",\"version\":2,\"nodes\":\"lx1\",\"deadline\":\"1h\"}", &a,
                           NULL),
                     0);
    assert_null(a.node);
    assert_int_equal(a.version, 2);
    ask_fini(&a);
    assert_int_equal(parse(ROUTE_rollout_accept, "{\"class\":\"gpu\"}", &a, NULL), 0);
    assert_string_equal(a.class_name, "gpu");
    ask_fini(&a);
}

/* A reason may have 1,024 bytes, and no more. */
static void test_reason_length(void **state)
{
    CLEANUP_TEXT struct text body = {0};
    text_printf(&body, "{\"nodes\":\"lx01\",\"reason\":\"%01024d\"}", 0);
    struct ask a;
    assert_int_equal(parse(ROUTE_node_drain, body.s, &a, NULL), 0);
    ask_fini(&a);
    text_clear(&body);
    text_printf(&body, "{\"nodes\":\"lx01\",\"reason\":\"%01025d\"}", 0);
    struct err e;
    assert_int_equal(parse(ROUTE_node_drain, body.s, &a, &e), -EINVAL);
    assert_string_equal(e.msg, "\"reason\" has 1025 bytes; 1 to 1024 are allowed");
}

static const struct {
    enum route route;
    const char *body;
} bad[] = {
    {ROUTE_node_drain, ""},
    {ROUTE_node_drain, "lx01"},
    {ROUTE_node_drain, "[]"},
    {ROUTE_node_drain, "{}"},
    {ROUTE_node_drain, "{\"nodes\":\"lx01\"}"},
    {ROUTE_node_drain, "{\"nodes\":\"lx01\",\"reason\":\"x\"} more"},
    {ROUTE_node_drain, "{\"nodes\":\"lx01\",\"nodes\":\"lx02\",\"reason\":\"x\"}"},
    {ROUTE_node_drain, "{\"nodes\":[\"lx01\"],\"reason\":\"x\"}"},
    {ROUTE_node_drain, "{\"nodes\":\"lx[01-\",\"reason\":\"x\"}"},
    {ROUTE_node_drain, "{\"nodes\":\"@all\",\"reason\":\"x\"}"},
    {ROUTE_node_drain, "{\"nodes\":\"\",\"reason\":\"x\"}"},
    {ROUTE_node_drain, "{\"nodes\":\"lx01!lx01\",\"reason\":\"x\"}"},
    {ROUTE_node_drain, "{\"nodes\":\"lx01\",\"reason\":\"\"}"},
    {ROUTE_node_drain, "{\"nodes\":\"lx01\",\"reason\":7}"},
    {ROUTE_node_drain, "{\"nodes\":\"lx01\",\"reason\":\"a\\nb\"}"},
    {ROUTE_node_drain, "{\"nodes\":\"lx01\",\"reason\":\"a\\u001b[31m\"}"},
    {ROUTE_node_drain, "{\"nodes\":\"lx01\",\"reason\":\"a\\u007f\"}"},
    {ROUTE_node_drain, "{\"nodes\":\"lx01\",\"reason\":\"a\\u0085\"}"},
    {ROUTE_node_drain, "{\"nodes\":\"lx01\",\"reason\":\"ok \\u202e\\u2066\"}"},
    {ROUTE_node_drain, "{\"nodes\":\"lx01\",\"reason\":\"a\\u0000\"}"},
    {ROUTE_node_drain, "{\"nodes\":\"lx01\",\"reason\":\"\xff\"}"},
    {ROUTE_node_drain, "{\"nodes\":\"lx01\",\"reson\":\"x\"}"},
    {ROUTE_node_undrain, "{\"claim\":\"7\"}"},
    {ROUTE_node_undrain, "{\"nodes\":\"lx01\",\"claim\":\"\"}"},
    {ROUTE_node_undrain, "{\"nodes\":\"lx01\",\"claim\":null}"},
    {ROUTE_node_undrain, "{\"nodes\":\"lx01\",\"reason\":\"x\"}"},
    {ROUTE_node_up, "{\"nodes\":\"lx01\",\"claim\":\"123456789012345678901234567890123456789012345678\"}"},
    {ROUTE_node_set, "{\"nodes\":\"lx01\"}"},
    {ROUTE_node_set, "{\"nodes\":\"lx01\",\"set\":{}}"},
    {ROUTE_node_set, "{\"nodes\":\"lx01\",\"set\":[]}"},
    {ROUTE_node_set, "{\"nodes\":\"lx01\",\"set\":{\"CPU\":\"4\"}}"},
    {ROUTE_node_set, "{\"nodes\":\"lx01\",\"set\":{\"CPUs\":4}}"},
    {ROUTE_node_set, "{\"nodes\":\"lx01\",\"set\":{\"CPUs\":\"4\",\"cpus\":\"5\"}}"},
    {ROUTE_node_set, "{\"nodes\":\"lx01\",\"set\":{\"State\":\"IDLE\"}}"},
    {ROUTE_node_set, "{\"nodes\":\"lx01\",\"set\":{\"OS\":\"Linux\\t6\"}}"},
    {ROUTE_config_reload, "{\"force\":true}"},
    {ROUTE_config_reload, "{\"revision\":1}"},
    {ROUTE_config_reload, "{\"parts\":[]}"},
    {ROUTE_config_reload, "{\"parts\":[7]}"},
    {ROUTE_config_reload, "{\"parts\":[{\"part\":\"nodes\"}]}"},
    {ROUTE_config_reload, "{\"parts\":[{\"part\":\"nodes\",\"text\":\"\"}]}"},
    {ROUTE_config_reload, "{\"revision\":\"1\",\"parts\":[{\"part\":\"nodes\",\"text\":\"\"}]}"},
    {ROUTE_config_reload,
     "{\"revision\":1,\"parts\":[{\"part\":\"nodes\",\"text\":\"\"}],\"warnings\":[\"a\\nb\"]}"},
    {ROUTE_token_create, "{\"nodes\":\"\"}"},
    {ROUTE_token_create, "{\"valid\":\"1h\"}"},
    {ROUTE_token_create, "{\"nodes\":\"n1\",\"valid\":\"soon\"}"},
    {ROUTE_token_create, "{\"nodes\":\"n1\",\"valid\":\"0s\"}"},
    {ROUTE_token_create, "{\"nodes\":\"n1\",\"valid\":\"8d\"}"},
    {ROUTE_token_create, "{\"nodes\":\"n1\",\"valid\":\"366d\",\"from\":\"10.0.0.0/8\"}"},
    {ROUTE_token_create, "{\"nodes\":\"n1\",\"valid\":3600}"},
    {ROUTE_token_create, "{\"nodes\":\"n1\",\"count\":0}"},
    {ROUTE_token_create, "{\"nodes\":\"n1\",\"count\":1000001}"},
    {ROUTE_token_create, "{\"nodes\":\"n1\",\"again\":\"yes\"}"},
    {ROUTE_token_create, "{\"nodes\":\"n1\",\"from\":\"10.0.0.0/33\"}"},
    {ROUTE_token_create, "{\"nodes\":\"n1\",\"uuid\":\"4c4c4544\"}"},
    {ROUTE_token_end, "{\"id\":\"0123456789abcdef\"}"},
    {ROUTE_token_end, "{\"id\":7,\"reason\":\"x\"}"},
    {ROUTE_controller_admit, "{\"name\":\"c2\"}"},
    {ROUTE_controller_admit, "{\"name\":\"c2\",\"key\":\"02ab\"}"},
    {ROUTE_controller_admit, "{\"name\":\"c 2\",\"key\":\"02ab\"}"},
    {ROUTE_controller_remove, "{\"name\":\"c2\"}"},
    {ROUTE_controller_remove, "{\"name\":\"/\",\"reason\":\"x\"}"},
    {ROUTE_certificate_revoke, "{\"reason\":\"x\"}"},
    {ROUTE_certificate_revoke, "{\"nodes\":\"n1\",\"holder\":\"operator:ann\",\"reason\":\"x\"}"},
    {ROUTE_certificate_revoke, "{\"nodes\":\"n1\",\"serial\":\"1\",\"reason\":\"x\"}"},
    {ROUTE_certificate_revoke, "{\"nodes\":\"n1\"}"},
    {ROUTE_certificate_create, "{\"name\":\"ann\",\"role\":\"admin\"}"},
    {ROUTE_certificate_create, "{\"name\":\"ann:admin\",\"role\":\"reader\",\"request\":\"x\"}"},
    {ROUTE_certificate_create, "{\"name\":\"\",\"role\":\"reader\",\"request\":\"x\"}"},
    {ROUTE_certificate_create, "{\"name\":\"ann\",\"role\":\"none\",\"request\":\"x\"}"},
    {ROUTE_certificate_create, "{\"name\":\"ann\",\"role\":\"reader\",\"request\":\"\"}"},
    {ROUTE_certificate_create, "{\"name\":\"ann\",\"role\":\"reader\",\"request\":\"x\",\"valid\":\"366d\"}"},
    {ROUTE_conform_recheck, ""},
    {ROUTE_conform_recheck, "{}"},
    {ROUTE_conform_recheck, "{\"nodes\":\"lx1\",\"reason\":\"x\"}"},
    {ROUTE_conform_approve, "{\"nodes\":\"lx1\",\"reason\":\"\"}"},
    {ROUTE_conform_approve, "{\"nodes\":\"lx1\",\"claim\":\"7\"}"},
    {ROUTE_baseline_accept, "{}"},
    {ROUTE_baseline_accept, "{\"node\":\"lx[1-2]\"}"},
    {ROUTE_baseline_accept, "{\"node\":\"\"}"},
    {ROUTE_baseline_accept, "{\"nodes\":\"lx1\"}"},
    {ROUTE_baseline_accept, "{\"node\":\"lx1\",\"reason\":\"a\\nb\"}"},
    {ROUTE_baseline_revert, "{\"version\":1}"},
    {ROUTE_baseline_revert, "{\"class\":\"\"}"},
    {ROUTE_baseline_revert, "{\"class\":\"gpu\",\"version\":0}"},
    {ROUTE_baseline_revert, "{\"class\":\"gpu\",\"version\":4294967296}"},
    {ROUTE_baseline_revert, "{\"class\":\"gpu\",\"version\":\"1\"}"},
    {ROUTE_baseline_revert,
     "{\"class\":\"1234567890123456789012345678901234567890123456789012345678901234\"}"},
    {ROUTE_rollout_start, "{\"class\":\"gpu\",\"nodes\":\"lx1\",\"deadline\":\"1h\"}"},
    {ROUTE_rollout_start,
     "{\"class\":\"gpu\",\"to\":\"lx1\",\"version\":1,\"nodes\":\"lx1\",\"deadline\":\"1h\"}"},
    {ROUTE_rollout_start, "{\"class\":\"gpu\",\"to\":\"lx1\",\"deadline\":\"1h\"}"},
    {ROUTE_rollout_start, "{\"class\":\"gpu\",\"to\":\"lx1\",\"nodes\":\"lx1\"}"},
    {ROUTE_rollout_start, "{\"class\":\"gpu\",\"to\":\"lx1\",\"nodes\":\"lx1\",\"deadline\":\"91d\"}"},
    {ROUTE_rollout_start, "{\"class\":\"gpu\",\"to\":\"lx1\",\"nodes\":\"lx1\",\"deadline\":\"0s\"}"},
    {ROUTE_rollout_start, "{\"class\":\"gpu\",\"to\":\"lx1\",\"nodes\":\"lx1\",\"deadline\":\"soon\"}"},
    {ROUTE_rollout_start, "{\"class\":\"gpu\",\"to\":7,\"nodes\":\"lx1\",\"deadline\":\"1h\"}"},
    {ROUTE_rollout_accept, "{\"class\":\"gpu\",\"reason\":\"x\"}"},
    {ROUTE_rollout_revert, "{}"},
    {ROUTE_check_run, "{\"nodes\":\"lx1\"}"},
    {ROUTE_check_run, "{\"check\":\"fs.space\"}"},
    {ROUTE_check_run, "{\"nodes\":\"lx1\",\"check\":\"ccccccccccccccccccccccccccccccccccccccccccccccccc\"}"},
    {ROUTE_check_run, "{\"nodes\":\"lx1\",\"check\":7}"},
    {ROUTE_repair_transition, "{\"nodes\":\"lx1\",\"transition\":\"retire\"}"},
    {ROUTE_repair_transition, "{\"nodes\":\"lx1\",\"transition\":\"\",\"reason\":\"x\"}"},
    {ROUTE_repair_transition,
     "{\"nodes\":\"lx1\",\"transition\":\"retire\",\"reason\":\"x\",\"deadline_s\":1}"},
    {ROUTE_repair_transition, "{\"nodes\":\"\",\"transition\":\"retire\",\"reason\":\"x\"}"},
    {ROUTE_repair_approve, "{\"nodes\":\"lx1\",\"remedy\":\"\"}"},
    {ROUTE_repair_approve, "{\"nodes\":\"lx1\",\"remedy\":null}"},
    {ROUTE_repair_approve, "{\"remedy\":\"reboot\"}"},
    {ROUTE_repair_refuse, "{\"nodes\":\"lx1\",\"remedy\":\"reboot\"}"},
    {ROUTE_queue_resolve, "{\"nodes\":\"lx1\",\"reason\":\"x\"}"},
    {ROUTE_queue_resolve, "{\"nodes\":\"lx1\",\"findings\":[],\"reason\":\"x\"}"},
    {ROUTE_queue_resolve, "{\"nodes\":\"lx1\",\"findings\":[{\"fault\":\"xid.79\"}]}"},
    {ROUTE_queue_resolve, "{\"nodes\":\"lx1\",\"findings\":[\"xid.79\"],\"reason\":\"x\"}"},
    {ROUTE_queue_resolve, "{\"nodes\":\"lx1\",\"findings\":[{\"device\":\"gpu 0\"}],\"reason\":\"x\"}"},
    {ROUTE_queue_resolve, "{\"nodes\":\"lx1\",\"findings\":[{\"fault\":\"a\\u0001\"}],\"reason\":\"x\"}"},
    {ROUTE_queue_ticket, "{\"nodes\":\"lx1\"}"},
    {ROUTE_queue_ticket, "{\"nodes\":\"lx1\",\"take\":\"yes\"}"},
    {ROUTE_queue_ticket, "{\"nodes\":\"lx1\",\"reason\":\"\"}"},
    {ROUTE_queue_ticket, "{\"take\":true}"},
    {ROUTE_brake_set, "{\"name\":\"stop\",\"reason\":\"x\"}"},
    {ROUTE_brake_set, "{\"name\":\"stop\",\"on\":1,\"reason\":\"x\"}"},
    {ROUTE_brake_set, "{\"name\":\"stop\",\"on\":true}"},
    {ROUTE_brake_set, "{\"on\":true,\"reason\":\"x\"}"},
    {ROUTE_brake_set, "{\"nodes\":\"lx1\",\"name\":\"stop\",\"on\":true,\"reason\":\"x\"}"},
    {ROUTE_power, "{\"nodes\":\"lx1\"}"},
    {ROUTE_power, "{\"do\":\"cycle\"}"},
    {ROUTE_power, "{\"nodes\":\"lx1\",\"do\":\"a\\nb\"}"},
    {ROUTE_power, "{\"nodes\":\"lx1\",\"do\":\"off\",\"force\":1}"},
    {ROUTE_power, "{\"nodes\":\"lx1\",\"do\":\"off\",\"reason\":\"\"}"},
    {ROUTE_power, ""},
};

/* A bad body is refused as a whole, with a sentence; nothing is kept of it. */
static void test_refusals(void **state)
{
    CLEANUP_TEXT struct text t = {0};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct ask a;
        struct err e = {0};
        assert_int_equal(parse(bad[i].route, bad[i].body, &a, &e), -EINVAL);
        assert_int_equal(e.code, -EINVAL);
        assert_memory_equal(&a, &(struct ask){0}, sizeof a);
        text_printf(&t, "%s ", route_get(bad[i].route)->operation);
        text_add_json(&t, bad[i].body);
        text_printf(&t, "\n    %s\n", e.msg);
    }
    golden_check("bodies.txt", &t);
}

/* Paths and methods that there are not, and fields. */
static void test_routes(void **state)
{
    static const struct {
        enum http_method method;
        const char *name, *path;
    } asked[] = {
        {HTTP_GET_, "GET", "/"},
        {HTTP_GET_, "GET", "/v1/node"},
        {HTTP_GET_, "GET", "/v2/nodes"},
        {HTTP_GET_, "GET", "/v1/nodes/"},
        {HTTP_GET_, "GET", "/v1/nodes/lx01/claims"},
        {HTTP_GET_, "GET", "/metrics"},
        {HTTP_POST_, "POST", "/v1/nodes"},
        {HTTP_PUT_, "PUT", "/v1/nodes/drain"},
        {HTTP_DELETE_, "DELETE", "/v1/nodes/lx01"},
        {HTTP_GET_, "GET", "/v1/reload"},
        {HTTP_OTHER_, "PATCH", "/v1/status"},
        {HTTP_GET_, "GET", "/v1/conform/diff/"},
        {HTTP_GET_, "GET", "/v1/conform/group"},
        {HTTP_GET_, "GET", "/v1/health"},
        {HTTP_GET_, "GET", "/v1/incident"},
        {HTTP_GET_, "GET", "/v1/repairs/approve"},
        {HTTP_POST_, "POST", "/v1/repairs"},
        {HTTP_POST_, "POST", "/v1/queue"},
        {HTTP_GET_, "GET", "/v1/power"},
        {HTTP_POST_, "POST", "/v1/baselines/gpu"},
        {HTTP_DELETE_, "DELETE", "/v1/baselines/accept"},
    };
    CLEANUP_TEXT struct text t = {0};
    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++) {
        enum route r;
        const char *parameter;
        struct err e = {0};
        int rc = route_find(asked[i].method, asked[i].name, asked[i].path, &r, &parameter, &e);
        assert_true(rc == -ENOENT || rc == -EOPNOTSUPP);
        text_printf(&t, "%s %s\n    %d %s\n", asked[i].name, asked[i].path, err_http(rc), e.msg);
    }
    golden_check("routes.txt", &t);
}

static void test_route_parameter(void **state)
{
    enum route r;
    const char *parameter;
    assert_int_equal(route_find(HTTP_GET_, "GET", "/v1/nodes/lx01", &r, &parameter, NULL), 0);
    assert_int_equal(r, ROUTE_node_show);
    assert_string_equal(parameter, "lx01");
    assert_int_equal(route_find(HTTP_POST_, "POST", "/v1/nodes/drain", &r, &parameter, NULL), 0);
    assert_int_equal(r, ROUTE_node_drain);
    assert_null(parameter);
    assert_int_equal(route_find(HTTP_POST_, "POST", "/v1/baselines/accept", &r, &parameter, NULL), 0);
    assert_int_equal(r, ROUTE_baseline_accept);
    assert_null(parameter);
    assert_int_equal(route_find(HTTP_GET_, "GET", "/v1/baselines/accept", &r, &parameter, NULL), 0);
    assert_int_equal(r, ROUTE_baseline_show);
    assert_string_equal(parameter, "accept");
    for (int i = 0; i < ROUTES; i++) {
        const struct route_row *row = route_get((enum route)i);
        assert_int_equal(route_find(row->method, row->method_name, row->path, &r, &parameter, NULL), 0);
        assert_int_equal(r, i);
    }
}

static void test_fields(void **state)
{
    struct selection s;
    assert_int_equal(selection_parse("state,Name", &s, NULL), 0);
    assert_int_equal(s.n, 2);
    assert_int_equal(s.fields[0], FIELD_STATE);
    assert_int_equal(s.fields[1], FIELD_NAME);
    assert_int_equal(selection_parse(NULL, &s, NULL), 0);
    assert_int_equal(s.n, FIELDS);

    struct err e;
    assert_int_equal(selection_parse("Name,Stat", &s, &e), -EINVAL);
    assert_string_equal(e.msg, "unknown field \"Stat\"; the nearest known is \"State\"");
    assert_int_equal(selection_parse("Name,name", &s, &e), -EINVAL);
    assert_string_equal(e.msg, "\"fields\" names Name twice");
    assert_int_equal(selection_parse("Name,", &s, &e), -EINVAL);
    assert_string_equal(e.msg, "\"fields\" has an empty name");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hold),
        cmocka_unit_test(test_release),
        cmocka_unit_test(test_set),
        cmocka_unit_test(test_reload),
        cmocka_unit_test(test_conform),
        cmocka_unit_test(test_baseline),
        cmocka_unit_test(test_rollout),
        cmocka_unit_test(test_repair),
        cmocka_unit_test(test_queue_brake_power),
        cmocka_unit_test(test_reason_length),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_routes),
        cmocka_unit_test(test_route_parameter),
        cmocka_unit_test(test_fields),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
