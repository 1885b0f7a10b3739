/* SPDX-License-Identifier: Apache-2.0 */
#include "api/stage_test.h"

#include "api/golden_test.h"

#include <errno.h>
#include <pwd.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define KEY "02aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define OTHER_KEY "03cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
#define NO_KEY "02bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

static int open_plain(void **state)
{
    return stage_open(state, world_make, 35);
}

static int open_classes(void **state)
{
    return stage_open(state, world_make_classes, 3);
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
        "/v1/nodes/lx01",
        "/v1/nodes/lx02",
        "/v1/nodes/lx07",
        "/v1/partitions",
        "/v1/tokens",
        "/v1/configuration",
        "/v1/status",
        "/v1/node",
    };
    struct stage *s = *state;
    CLEANUP_TEXT struct text t = {0};
    stage_read_all(s, targets, sizeof targets / sizeof targets[0], &t);
    stage_transcribe(s, "DELETE", "/v1/nodes/lx01", NULL, &t);
    golden_check("reads.txt", &t);
}

static void test_changes(void **state)
{
    static const struct posted asked[] = {
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
        {"/v1/tokens", "{\"nodes\":\"new[1-2]\",\"count\":2,\"again\":true,\"from\":\"10.0.0.0/8\"}"},
        {"/v1/certificates/revoke", "{\"nodes\":\"lx01\",\"reason\":\"stolen\"}"},
        {"/v1/certificates/revoke", "{\"holder\":\"operator:nobody\",\"reason\":\"left\"}"},
        {"/v1/tokens", "{\"nodes\":\"new[1-2]\",\"valid\":\"2h\"}"},
        {"/v1/tokens/end", "{\"id\":\"0123456789abcdef\",\"reason\":\"leaked\"}"},
        {"/v1/tokens/end", "{\"id\":\"0123456789abcdef\",\"reason\":\"leaked\"}"},
        {"/v1/tokens/end", "{\"id\":\"0123456789abcdef\"}"},
        {"/v1/controllers/admit", "{\"name\":\"c2\",\"key\":\"" KEY "\"}"},
        {"/v1/controllers/admit", "{\"name\":\"c2\",\"key\":\"" KEY "\"}"},
        {"/v1/controllers/admit", "{\"name\":\"c2\",\"key\":\"" OTHER_KEY "\"}"},
        {"/v1/controllers/admit", "{\"name\":\"c2\",\"key\":\"" NO_KEY "\"}"},
        {"/v1/controllers/remove", "{\"name\":\"c1\",\"reason\":\"sold\"}"},
        {"/v1/controllers/remove", "{\"name\":\"c3\",\"reason\":\"sold\"}"},
        {"/v1/controllers/remove", "{\"name\":\"c2\",\"reason\":\"sold\"}"},
        {"/v1/certificates", "{\"name\":\"ann\",\"role\":\"reader\",\"request\":\"good\"}"},
        {"/v1/certificates", "{\"name\":\"ann\",\"role\":\"reader\",\"request\":\"bad\"}"},
        {"/v1/nodes/set", "{\"nodes\":\"lx01\",\"set\":{\"Partition\":\"debug,batch\"}}"},
        {"/v1/nodes/set", "{\"nodes\":\"lx01\",\"set\":{\"Partition\":\"nowhere\"}}"},
        {"/v1/nodes/set", "{\"nodes\":\"lx01\",\"set\":{\"Partition\":null}}"},
    };
    struct stage *s = *state;
    CLEANUP_TEXT struct text t = {0};
    stage_post_all(s, asked, sizeof asked / sizeof asked[0], &t);
    text_add(&t, "# the disk is full, the configuration is bad\n");
    s->fails = -ENOSPC;
    stage_transcribe(s, "POST", "/v1/nodes/drain", "{\"nodes\":\"lx03\",\"reason\":\"x\"}", &t);
    stage_transcribe(s, "POST", "/v1/tokens", "{\"nodes\":\"lx01\"}", &t);
    stage_transcribe(s, "POST", "/v1/reload", NULL, &t);
    text_add(&t, "# nobody knows whether it is on the disk\n");
    s->fails = STORE_UNKNOWN;
    stage_transcribe(s, "POST", "/v1/nodes/drain", "{\"nodes\":\"lx03\",\"reason\":\"x\"}", &t);
    stage_transcribe(s, "POST", "/v1/repairs/transition",
                     "{\"nodes\":\"lx[01-02]\",\"transition\":\"quarantine\",\"reason\":\"x\"}", &t);
    text_add(&t, "# another controller leads\n");
    s->fails = -EPERM;
    stage_transcribe(s, "POST", "/v1/nodes/drain", "{\"nodes\":\"lx03\",\"reason\":\"x\"}", &t);
    golden_check("changes.txt", &t);
}

/* Those with a record in the order of their holders, then those that are in use without one. */
static void test_certificates(void **state)
{
    static const char made[] =
        "{\"least\":\"0\",\"ends\":\"0\",\"made\":[{\"serial\":\"a\",\"key\":\"b\",\"role\":"
        "\"\",\"from\":\"1\",\"until\":\"2\",\"at\":\"1\",\"by\":\"root\"}]}";
    struct stage *s = *state;
    CLEANUP_TEXT struct text t = {0};
    assert_int_equal(cluster_put(s->world.cluster, "certificate/node:lx05", made, NULL), 0);
    assert_int_equal(cluster_put(s->world.cluster, "certificate/node:lx02", made, NULL), 0);
    assert_int_equal(wire_ask(&s->wire, "GET", "/v1/certificates", NULL, &t), 200);
    const char *first = strstr(t.s, "{\"certificates\":[{\"holder\":\"node:lx02\",\"serial\":\"a\"");
    const char *second = strstr(t.s, "},{\"holder\":\"node:lx05\",\"serial\":\"a\"");
    const char *other = strstr(t.s, "},{\"holder\":\"node:lx1\"");
    assert_true(first && second && other && first < second && second < other);
    assert_non_null(strstr(other, "}]}"));
}

static void test_head(void **state)
{
    struct stage *s = *state;
    int fd = wire_connect(&s->wire, "HEAD /v1/status HTTP/1.1\r\nHost: h\r\n\r\n");
    CLEANUP_TEXT struct text t = {0};
    wire_read_until(&s->wire, fd, &t, "\r\n\r\n");
    assert_non_null(strstr(t.s, "HTTP/1.1 200 OK"));
    close(fd);
}

/* The actor is the local user, by name. */
static void test_actor(void **state)
{
    struct stage *s = *state;
    CLEANUP_TEXT struct text t = {0};
    assert_int_equal(
        wire_ask(&s->wire, "POST", "/v1/nodes/drain", "{\"nodes\":\"lx03\",\"reason\":\"x\"}", &t), 200);
    const struct passwd *p = getpwuid(geteuid());
    assert_non_null(strstr(s->actor, p->pw_name)); /* "alice (as root)" after sudo */
}

/* A change is not answered before its commit. */
static void test_answer_after_commit(void **state)
{
    struct stage *s = *state;
    s->commits_at_once = false;
    int fd = wire_connect(&s->wire, "POST /v1/nodes/drain HTTP/1.1\r\nHost: h\r\nContent-Length: 29\r\n\r\n"
                                    "{\"nodes\":\"lx03\",\"reason\":\"x\"}");
    stage_wait(s);
    for (int i = 0; i < 10; i++)
        wire_turn(&s->wire);
    char byte;
    assert_int_equal(read(fd, &byte, 1), -1);
    stage_commit(s);
    CLEANUP_TEXT struct text t = {0};
    wire_read_until(&s->wire, fd, &t, "\"claim\":\"100\"");
    close(fd);
}

/* A client that goes away takes nothing with it: the command completes, and there is nobody to tell. */
static void test_client_gone(void **state)
{
    struct stage *s = *state;
    s->commits_at_once = false;
    int fd = wire_connect(&s->wire, "POST /v1/nodes/drain HTTP/1.1\r\nHost: h\r\nContent-Length: 29\r\n\r\n"
                                    "{\"nodes\":\"lx03\",\"reason\":\"x\"}");
    stage_wait(s);
    close(fd);
    for (int i = 0; i < 10; i++)
        wire_turn(&s->wire);
    stage_commit(s);
    assert_int_equal(s->ended, 1);
    assert_int_equal(cluster_find(s->world.cluster, "lx03")->n_claims, 1);
}

/* The same when the server goes away first. */
static void test_server_gone(void **state)
{
    struct stage *s = *state;
    s->commits_at_once = false;
    int fd = wire_connect(
        &s->wire, "POST /v1/tokens HTTP/1.1\r\nHost: h\r\nContent-Length: 14\r\n\r\n{\"nodes\":\"n1\"}");
    stage_wait(s);
    wire_close(&s->wire);
    s->closed = true;
    stage_commit(s);
    assert_int_equal(s->ended, 1);
    close(fd);
}

static void test_event_stream(void **state)
{
    struct stage *s = *state;
    int fd = wire_connect(&s->wire, "GET /v1/events HTTP/1.1\r\nHost: h\r\n\r\n");
    CLEANUP_TEXT struct text t = {0};
    wire_read_until(&s->wire, fd, &t, "text/event-stream");
    const struct event late = {.what = "node.late", .actor = "fettled", .nodes = "lx04", .text = "late"};
    const struct event step = {.what = "repair.step",
                               .actor = "fettled",
                               .nodes = "lx05",
                               .text = "no remedy",
                               .revision = 7,
                               .about = "3.1",
                               .fields = "\"repairs\":[\"3.1\"],\"from\":\"isolate\",\"to\":\"queue\""};
    events_add(s->events, &late);
    wire_read_until(&s->wire, fd, &t,
                    "id: 0000000000000001.1\nevent: node.late\ndata: {\"at\":\"1970-01-01T00:00:00.000Z\","
                    "\"what\":\"node.late\",\"actor\":\"fettled\",\"nodes\":\"lx04\",\"text\":\"late\","
                    "\"revision\":null}\n");
    events_add(s->events, &step);
    wire_read_until(&s->wire, fd, &t,
                    "\"revision\":7,\"about\":\"3.1\",\"repairs\":[\"3.1\"],\"from\":\"isolate\",\"to\":"
                    "\"queue\"}\n");
    close(fd);
}

/* --- conformance ------------------------------------------------------------------------------- */

static void test_conform_reads(void **state)
{
    static const char *const targets[] = {
        "/v1/nodes?fields=Name,Class,Cohort,Conformance,Drift,Schedulable,Why",
        "/v1/conform/groups",
        "/v1/conform/groups?class=cpu",
        "/v1/conform/groups?class=gpus",
        "/v1/conform/diff/gx1",
        "/v1/conform/diff/gx3",
        "/v1/conform/diff/gx3?all=yes",
        "/v1/conform/diff/gx5",
        "/v1/conform/diff/gx6",
        "/v1/conform/diff/gx7",
        "/v1/conform/diff/gx8",
        "/v1/conform/diff/cx3",
        "/v1/conform/diff/gx3?with=gx4",
        "/v1/conform/diff/gx1?with=gx2",
        "/v1/conform/diff/gx3?with=gx6",
        "/v1/conform/diff/gx6?with=gx3",
        "/v1/conform/diff/gx3?with=gx9",
        "/v1/conform/diff/gx9",
        "/v1/conform/diff/gx3?all=maybe",
        "/v1/conform/history/gx3",
        "/v1/conform/history/gx1",
        "/v1/conform/history/gx6",
        "/v1/status",
        "/v1/place?count=2",
        "/v1/place?count=1&class=gpu&policy=sensitive",
        "/v1/place?count=4&nodes=gx%5B1-8%5D,cx1",
        "/v1/place?count=4&require=yes",
        "/v1/place?count=99",
        "/v1/place?count=0",
        "/v1/place?class=gpu",
        "/v1/place?count=2&policy=hcp",
        "/v1/place?count=2&nodes=gx9",
        "/v1/place?count=2&require=perhaps",
        "/v1/place?count=2&number=3",
        "/v1/slurm/features",
        "/v1/slurm/features?nodes=gx%5B1-3%5D",
        "/v1/slurm/features?nodes=gx9",
        "/v1/slurm/constraint?count=1",
        "/v1/slurm/constraint?count=2&class=cpu",
        "/v1/slurm/constraint?count=2&class=gpu",
        "/v1/slurm/constraint?count=50",
        "/v1/slurm/constraint",
    };
    struct stage *s = *state;
    CLEANUP_TEXT struct text t = {0};
    stage_read_all(s, targets, sizeof targets / sizeof targets[0], &t);
    golden_check("conform.txt", &t);
}

/* A person's word goes into the command; what a node is not now, nobody can approve. */
static void test_approve_asks_first(void **state)
{
    struct stage *s = *state;
    CLEANUP_TEXT struct text t = {0};
    assert_int_equal(wire_ask(&s->wire, "POST", "/v1/conform/approve", "{\"nodes\":\"gx[3,7]\"}", &t), 409);
    assert_int_equal(s->submitted, 0);
    s->commits_at_once = false;
    int fd =
        wire_connect(&s->wire, "POST /v1/conform/approve HTTP/1.1\r\nHost: h\r\nContent-Length: 31\r\n\r\n"
                               "{\"nodes\":\"gx7\",\"reason\":\"seen\"}");
    stage_wait(s);
    assert_int_equal(s->waiting->cmd->kind, COMMAND_APPROVE);
    assert_string_equal(s->waiting->cmd->reason, "seen");
    stage_commit(s);
    close(fd);
}

int main(void)
{
#define PLAIN(test) cmocka_unit_test_setup_teardown(test, open_plain, stage_close)
#define CLASSES(test) cmocka_unit_test_setup_teardown(test, open_classes, stage_close)
    const struct CMUnitTest tests[] = {
        PLAIN(test_reads),
        PLAIN(test_changes),
        PLAIN(test_head),
        PLAIN(test_certificates),
        PLAIN(test_actor),
        PLAIN(test_answer_after_commit),
        PLAIN(test_client_gone),
        PLAIN(test_server_gone),
        PLAIN(test_event_stream),
        CLASSES(test_conform_reads),
        CLASSES(test_approve_asks_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
