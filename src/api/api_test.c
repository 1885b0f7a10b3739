/* SPDX-License-Identifier: Apache-2.0 */
#include "api/api.h"

#include "api/golden_test.h"
#include "api/wire_test.h"
#include "api/world_test.h"

#include <errno.h>
#include <pwd.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* A controller in small: what is submitted is decided and taken when commit() is called, at a time
 * that does not change, with a claim id that does not either. */
struct stage {
    struct world world;
    struct events *events;
    struct api *api;
    struct wire wire;
    bool commits_at_once;
    int fails; /* with this code, when not 0 */
    uint64_t revision;

    outcome_fn *fn;
    void *fn_arg;
    struct command cmd; /* strings are copies */
    struct hostlist nodes;
    char actor[64];
    unsigned submitted;
    unsigned ended;
};

static void on_submit(void *arg, const struct command *cmd, outcome_fn *fn, void *fn_arg)
{
    struct stage *s = arg;
    assert_null(s->fn);
    s->fn = fn;
    s->fn_arg = fn_arg;
    s->cmd = *cmd;
    assert_true(cmd->at.ns > 0);
    s->cmd.at = (struct wall){INT64_C(1794000000) * 1000000000};
    s->cmd.claim = mem_dup(cmd->claim);
    s->cmd.reason = mem_dup(cmd->reason);
    s->cmd.set = mem_dup(cmd->set);
    s->cmd.token = mem_dup(cmd->token);
    snprintf(s->actor, sizeof s->actor, "%s", cmd->actor);
    s->cmd.actor = "root"; /* whoever runs the tests */
    for (size_t i = 0; i < cmd->nodes->n; i++)
        hostlist_add(&s->nodes, cmd->nodes->names[i]);
    s->cmd.nodes = &s->nodes;
    s->submitted++;
    if (cmd->kind == COMMAND_DRAIN || cmd->kind == COMMAND_DOWN) {
        assert_null(cmd->claim);
        s->cmd.claim = mem_dup("100");
    }
}

static void forget_command(struct stage *s)
{
    free((char *)(uintptr_t)s->cmd.claim);
    free((char *)(uintptr_t)s->cmd.reason);
    free((char *)(uintptr_t)s->cmd.set);
    free((char *)(uintptr_t)s->cmd.token);
    hostlist_fini(&s->nodes);
    s->cmd = (struct command){0};
}

static void commit(struct stage *s)
{
    struct err e = {0};
    struct decision d = {0};
    int rc =
        s->fails ? err_set(&e, s->fails, "it is so") : cluster_decide(s->world.cluster, &s->cmd, 0, &d, &e);
    for (size_t i = 0; i < d.n_ops; i++)
        assert_int_equal(cluster_put(s->world.cluster, d.ops[i].key, d.ops[i].value, NULL), 0);
    s->revision += d.n_ops > 0;
    struct outcome o = {rc, s->revision, &d.changed, d.claim, &e};
    outcome_fn *fn = s->fn;
    s->fn = NULL;
    s->ended++;
    fn(s->fn_arg, &o);
    decision_fini(&d);
    forget_command(s);
}

static void each_turn(void *arg)
{
    struct stage *s = arg;
    if (s->fn && s->commits_at_once)
        commit(s);
}

static int on_reload(void *arg, const char *actor, struct text *changes, struct err *e)
{
    struct stage *s = arg;
    if (s->fails)
        return err_set(e, -EINVAL, "nodes.conf:12: unknown key \"CPU\"; the nearest known is \"CPUs\"");
    text_add(changes, "node lx07 added\nHeartBeatInterval 10s -> \"5s\"\n");
    return 0;
}

static uint64_t on_revision(void *arg)
{
    return ((struct stage *)arg)->revision;
}

static void on_status(void *arg, json_t *status)
{
    json_object_set_new(status, "version", json_string("0.1.0"));
}

static int on_journal(void *arg, uint64_t after, size_t max, store_journal_fn *fn, void *fn_arg,
                      struct err *e)
{
    const struct store_entry entry = {
        {INT64_C(1794000000) * 1000000000}, "root", "node.drain", "lx[01-02]", "bad \"DIMM\""};
    for (uint64_t r = after + 1; r <= 3 && r - after <= max; r++)
        assert_int_equal(fn(fn_arg, r, &entry, e), 0);
    return 0;
}

static int on_make_token(void *arg, char **token, char **hash, char **command, struct err *e)
{
    *token = mem_dup("fettle1.a.b");
    *hash = mem_dup("00ff");
    *command = mem_dup("fettle-agent join --token fettle1.a.b");
    return 0;
}

static int on_sign(void *arg, const char *name, enum role role, const char *request, struct span valid,
                   char **certificate, char **authority, struct err *e)
{
    if (strcmp(request, "good") != 0)
        return err_set(e, -EINVAL, "not a P-256 request");
    struct text t = {0};
    char buf[32];
    text_printf(&t, "%s %s %s\n", name, role_name(role), span_format(valid, buf));
    *certificate = text_take(&t);
    *authority = mem_dup("authority\n");
    return 0;
}

static void stage_open(struct stage *s)
{
    static const struct api_policy policy = {API_READERS_NOBODY, false};
    *s = (struct stage){.commits_at_once = true, .revision = 41};
    s->world = world_make((struct mono){mono_now().ns - span_s(35).ns});
    s->events = events_create(1);
    struct api_shell shell = {s,         on_submit,  on_reload,     on_revision,
                              on_status, on_journal, on_make_token, on_sign};
    s->api = api_create(s->world.cluster, s->world.watch, s->events, &policy, &shell);
    wire_open(&s->wire, api_request, s->api);
    s->wire.each_turn = each_turn;
    s->wire.arg = s;
}

static void stage_close(struct stage *s)
{
    wire_close(&s->wire);
    api_destroy(s->api);
    events_destroy(s->events);
    world_destroy(&s->world);
}

/* What changes with time: numbers become 0, times too. */
static void mask(struct text *t, const char *key)
{
    CLEANUP_TEXT struct text out = {0};
    const char *rest = t->s;
    for (const char *p; (p = strstr(rest, key)); rest += strcspn(rest, "\",}")) {
        p += strlen(key);
        text_add_bytes(&out, rest, (size_t)(p - rest));
        text_add_char(&out, '0');
        rest = p;
    }
    text_add(&out, rest);
    text_clear(t);
    text_add(t, out.s);
}

static void transcribe(struct stage *s, const char *method, const char *target, const char *body,
                       struct text *t)
{
    CLEANUP_TEXT struct text answer = {0};
    int status = wire_ask(&s->wire, method, target, body, &answer);
    mask(&answer, "\"Silent\":");
    mask(&answer, "\"Uptime\":");
    mask(&answer, "\"expires\":\"");
    text_printf(t, "%s %s %s\n%d %s\n", method, target, body ? body : "", status, answer.s);
}

static void test_reads(void **state)
{
    static const char *const targets[] = {
        "/v1/nodes?fields=Name,State,CPUs,RealMemory,Partition,Schedulable",
        "/v1/nodes?nodes=odd,lx%5B02,01%5D&fields=name,lifecycle",
        "/v1/nodes?nodes=lx01&fields=Name,Stat",
        "/v1/nodes?nodes=lx%5B01-12%5D",
        "/v1/nodes?nodes=lx07,lx08",
        "/v1/nodes?nodes=lx%5B01",
        "/v1/nodes?nodes=",
        "/v1/nodes?fields=",
        "/v1/nodes?field=Name",
        "/v1/nodes?fields=Name&fields=State",
        "/v1/nodes?fields=Name&",
        "/v1/nodes/lx01?fields=Name",
        "/v1/journal?since=1",
        "/v1/nodes/lx01",
        "/v1/nodes/lx02",
        "/v1/nodes/lx07",
        "/v1/partitions",
        "/v1/status",
        "/v1/journal",
        "/v1/journal?after=1&limit=1",
        "/v1/journal?limit=0",
        "/v1/journal?limit=1001",
        "/v1/journal?after=-1",
        "/v1/node",
    };
    struct stage s;
    stage_open(&s);
    CLEANUP_TEXT struct text t = {0};
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++)
        transcribe(&s, "GET", targets[i], NULL, &t);
    transcribe(&s, "DELETE", "/v1/nodes/lx01", NULL, &t);
    golden_check("reads.txt", &t);
    stage_close(&s);
}

static void test_changes(void **state)
{
    static const struct {
        const char *target, *body;
    } asked[] = {
        {"/v1/nodes/drain", "{\"nodes\":\"lx[01-02]\",\"reason\":\"new kernel\"}"},
        {"/v1/nodes/drain", "{\"nodes\":\"lx[01-02]\",\"reason\":\"new kernel\"}"},
        {"/v1/nodes/drain", "{\"nodes\":\"lx[06-11]\",\"reason\":\"x\"}"},
        {"/v1/nodes/drain", "{\"nodes\":\"odd\",\"reason\":\"x\"}"},
        {"/v1/nodes/drain", "{\"nodes\":\"lx01\",\"reason\":\"\"}"},
        {"/v1/nodes/undrain", "{\"nodes\":\"lx01\"}"},
        {"/v1/nodes/undrain", "{\"nodes\":\"lx02\",\"claim\":\"10\"}"},
        {"/v1/nodes/undrain", "{\"nodes\":\"lx02\",\"claim\":\"77\"}"},
        {"/v1/nodes/undrain", "{\"nodes\":\"lx06\",\"claim\":\"12\"}"},
        {"/v1/nodes/up", "{\"nodes\":\"lx06\"}"},
        {"/v1/nodes/up", "{\"nodes\":\"lx05\"}"},
        {"/v1/nodes/down", "{\"nodes\":\"lx01\",\"reason\":\"moved\"}"},
        {"/v1/nodes/set", "{\"nodes\":\"lx01\",\"set\":{\"cpus\":\"8\",\"Speed\":null}}"},
        {"/v1/nodes/set", "{\"nodes\":\"lx01\",\"set\":{\"CPUs\":\"many\"}}"},
        {"/v1/reload", NULL},
        {"/v1/tokens", NULL},
        {"/v1/tokens", "{\"nodes\":\"new[1-2]\",\"valid\":\"2h\"}"},
        {"/v1/certificates", "{\"name\":\"ann\",\"role\":\"reader\",\"request\":\"good\"}"},
        {"/v1/certificates", "{\"name\":\"ann\",\"role\":\"reader\",\"request\":\"bad\"}"},
    };
    struct stage s;
    stage_open(&s);
    CLEANUP_TEXT struct text t = {0};
    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++)
        transcribe(&s, "POST", asked[i].target, asked[i].body, &t);
    text_add(&t, "# the disk is full, the configuration is bad\n");
    s.fails = -ENOSPC;
    transcribe(&s, "POST", "/v1/nodes/drain", "{\"nodes\":\"lx03\",\"reason\":\"x\"}", &t);
    transcribe(&s, "POST", "/v1/tokens", NULL, &t);
    transcribe(&s, "POST", "/v1/reload", NULL, &t);
    text_add(&t, "# another controller leads\n");
    s.fails = -EPERM;
    transcribe(&s, "POST", "/v1/nodes/drain", "{\"nodes\":\"lx03\",\"reason\":\"x\"}", &t);
    golden_check("changes.txt", &t);
    stage_close(&s);
}

static void test_head(void **state)
{
    struct stage s;
    stage_open(&s);
    int fd = wire_connect(&s.wire, "HEAD /v1/status HTTP/1.1\r\nHost: h\r\n\r\n");
    CLEANUP_TEXT struct text t = {0};
    wire_read_until(&s.wire, fd, &t, "\r\n\r\n");
    assert_non_null(strstr(t.s, "HTTP/1.1 200 OK"));
    close(fd);
    stage_close(&s);
}

/* The actor is the local user, by name. */
static void test_actor(void **state)
{
    struct stage s;
    stage_open(&s);
    CLEANUP_TEXT struct text t = {0};
    assert_int_equal(
        wire_ask(&s.wire, "POST", "/v1/nodes/drain", "{\"nodes\":\"lx03\",\"reason\":\"x\"}", &t), 200);
    const struct passwd *p = getpwuid(geteuid());
    assert_string_equal(s.actor, p->pw_name);
    stage_close(&s);
}

/* A change is not answered before its commit. */
static void test_answer_after_commit(void **state)
{
    struct stage s;
    stage_open(&s);
    s.commits_at_once = false;
    int fd = wire_connect(&s.wire, "POST /v1/nodes/drain HTTP/1.1\r\nHost: h\r\nContent-Length: 29\r\n\r\n"
                                   "{\"nodes\":\"lx03\",\"reason\":\"x\"}");
    while (s.submitted == 0)
        wire_turn(&s.wire);
    for (int i = 0; i < 10; i++)
        wire_turn(&s.wire);
    char byte;
    assert_int_equal(read(fd, &byte, 1), -1);
    commit(&s);
    CLEANUP_TEXT struct text t = {0};
    wire_read_until(&s.wire, fd, &t, "\"claim\":\"100\"");
    close(fd);
    stage_close(&s);
}

/* A client that goes away takes nothing with it: the command completes, and there is nobody to tell. */
static void test_client_gone(void **state)
{
    struct stage s;
    stage_open(&s);
    s.commits_at_once = false;
    int fd = wire_connect(&s.wire, "POST /v1/nodes/drain HTTP/1.1\r\nHost: h\r\nContent-Length: 29\r\n\r\n"
                                   "{\"nodes\":\"lx03\",\"reason\":\"x\"}");
    while (s.submitted == 0)
        wire_turn(&s.wire);
    close(fd);
    for (int i = 0; i < 10; i++)
        wire_turn(&s.wire);
    commit(&s);
    assert_int_equal(s.ended, 1);
    assert_int_equal(cluster_find(s.world.cluster, "lx03")->n_claims, 1);
    stage_close(&s);
}

/* The same when the server goes away first. */
static void test_server_gone(void **state)
{
    struct stage s;
    stage_open(&s);
    s.commits_at_once = false;
    int fd = wire_connect(&s.wire, "POST /v1/tokens HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n");
    while (s.submitted == 0)
        wire_turn(&s.wire);
    wire_close(&s.wire);
    commit(&s);
    assert_int_equal(s.ended, 1);
    close(fd);
    api_destroy(s.api);
    events_destroy(s.events);
    world_destroy(&s.world);
}

static void test_event_stream(void **state)
{
    struct stage s;
    stage_open(&s);
    int fd = wire_connect(&s.wire, "GET /v1/events HTTP/1.1\r\nHost: h\r\n\r\n");
    CLEANUP_TEXT struct text t = {0};
    wire_read_until(&s.wire, fd, &t, "text/event-stream");
    events_add(s.events, &(struct event){{0}, "node.late", "fettled", "lx04", "late", 0});
    wire_read_until(&s.wire, fd, &t,
                    "id: 0000000000000001.1\nevent: node.late\ndata: {\"at\":\"1970-01-01T00:00:00.000Z\","
                    "\"what\":\"node.late\",\"actor\":\"fettled\",\"nodes\":\"lx04\",\"text\":\"late\","
                    "\"revision\":null}\n");
    close(fd);
    stage_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads),
        cmocka_unit_test(test_changes),
        cmocka_unit_test(test_head),
        cmocka_unit_test(test_actor),
        cmocka_unit_test(test_answer_after_commit),
        cmocka_unit_test(test_client_gone),
        cmocka_unit_test(test_server_gone),
        cmocka_unit_test(test_event_stream),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
