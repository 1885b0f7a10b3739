/* SPDX-License-Identifier: Apache-2.0 */
#include "api/stage_test.h"

#include "api/golden_test.h"

#include <errno.h>
#include <pwd.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

enum { LARGE = 10000, LARGE_KINDS = 20, ALL_DIFFER = 1000, MODULES = 50 };

static int open_plain(void **state)
{
    return stage_open(state, world_make, 35);
}

static struct world make_large(struct mono now)
{
    struct world w = world_make_large(LARGE, now);
    world_show(&w, LARGE_KINDS, 0);
    return w;
}

static struct world make_all_differ(struct mono now)
{
    struct world w = world_make_large(ALL_DIFFER, now);
    world_show(&w, ALL_DIFFER, MODULES);
    return w;
}

static int open_all_differ(void **state)
{
    return stage_open(state, make_all_differ, 1);
}

static int open_large(void **state)
{
    return stage_open(state, make_large, 1);
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
        "/v1/journal?since=1",
        "/v1/nodes/lx01",
        "/v1/nodes/lx02",
        "/v1/nodes/lx07",
        "/v1/partitions",
        "/v1/tokens",
        "/v1/status",
        "/v1/journal",
        "/v1/journal?after=1&limit=1",
        "/v1/journal?limit=0",
        "/v1/journal?limit=1001",
        "/v1/journal?after=-1",
        "/v1/journal?tail=2",
        "/v1/journal?tail=2&after=1&nodes=lx%5B01-03%5D&what=node&by=ann&since=5&until=9&before=7",
        "/v1/journal?tail=2&by=busy",
        "/v1/journal?tail=0",
        "/v1/journal?tail=2&nodes=lx%5B",
        "/v1/journal?tail=2&limit=2",
        "/v1/journal?by=ann",
        "/v1/node",
    };
    struct stage *s = *state;
    CLEANUP_TEXT struct text t = {0};
    stage_read_all(s, targets, sizeof targets / sizeof targets[0], &t);
    stage_transcribe(s, "DELETE", "/v1/nodes/lx01", NULL, &t);
    golden_check("reads.txt", &t);
}

static void test_the_journal_says_what_it_has_no_more(void **state)
{
    struct stage *s = *state;
    CLEANUP_TEXT struct text t = {0};
    s->journal_first = 3;
    stage_transcribe(s, "GET", "/v1/journal?after=1", NULL, &t);
    assert_non_null(
        strstr(t.s, "\"gone\":\"the entries before revision 3 are not kept here any more; those that were "
                    "exported are in /var/lib/fettle/journal-export\""));
    text_clear(&t);
    stage_transcribe(s, "GET", "/v1/journal?after=2", NULL, &t);
    assert_null(strstr(t.s, "gone"));
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
        {"/v1/certificates", "{\"name\":\"ann\",\"role\":\"reader\",\"request\":\"good\"}"},
        {"/v1/certificates", "{\"name\":\"ann\",\"role\":\"reader\",\"request\":\"bad\"}"},
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
    assert_string_equal(s->actor, p->pw_name);
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
        "/v1/classes",
        "/v1/status",
        "/v1/baselines/gpu",
        "/v1/baselines/gpu?version=2",
        "/v1/baselines/gpu?version=1",
        "/v1/baselines/gpu?version=4",
        "/v1/baselines/gpu?version=0",
        "/v1/baselines/cpu",
        "/v1/baselines/gpus",
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

/* Changes of baselines and rollouts, and approvals, one after the other. */
static void test_conform_changes(void **state)
{
    static const struct posted asked[] = {
        {"/v1/conform/recheck", "{\"nodes\":\"gx[1-3]\"}"},
        {"/v1/conform/recheck", "{\"nodes\":\"gx9\"}"},
        {"/v1/conform/approve", "{\"nodes\":\"gx[3,7]\"}"},
        {"/v1/conform/approve", "{\"nodes\":\"gx6\"}"},
        {"/v1/conform/approve", "{\"nodes\":\"gx7\",\"reason\":\"looked at\"}"},
        {"/v1/conform/approve", "{\"nodes\":\"gx7\"}"},
        {"/v1/conform/approve", "{\"nodes\":\"cx1\",\"reason\":\"of a class without a baseline\"}"},
        {"/v1/baselines/accept", "{\"node\":\"gx2\"}"},
        {"/v1/rollouts/start", "{\"class\":\"gpu\",\"to\":\"gx8\",\"nodes\":\"gx1\",\"deadline\":\"24h\"}"},
        {"/v1/rollouts/revert", "{\"class\":\"gpu\"}"},
        {"/v1/rollouts/revert", "{\"class\":\"gpu\"}"},
        {"/v1/baselines/accept", "{\"node\":\"gx5\"}"},
        {"/v1/baselines/accept", "{\"node\":\"gx6\"}"},
        {"/v1/baselines/accept", "{\"node\":\"gx9\"}"},
        {"/v1/baselines/accept", "{\"node\":\"gx4\",\"reason\":\"as it should be\"}"},
        {"/v1/baselines/revert", "{\"class\":\"gpu\"}"},
        {"/v1/baselines/revert", "{\"class\":\"gpu\",\"version\":2}"},
        {"/v1/baselines/revert", "{\"class\":\"gpu\",\"version\":77}"},
        {"/v1/baselines/revert", "{\"class\":\"cpu\"}"},
        {"/v1/baselines/accept", "{\"node\":\"cx1\"}"},
        {"/v1/baselines/revert", "{\"class\":\"cpu\"}"},
        {"/v1/rollouts/start",
         "{\"class\":\"cpu\",\"to\":\"cx3\",\"nodes\":\"cx[1-4]\",\"deadline\":\"24h\"}"},
        {"/v1/rollouts/start",
         "{\"class\":\"cpu\",\"to\":\"cx3\",\"nodes\":\"cx[1-3]\",\"deadline\":\"24h\"}"},
        {"/v1/rollouts/accept", "{\"class\":\"cpu\"}"},
        {"/v1/rollouts/start", "{\"class\":\"cpu\",\"version\":1,\"nodes\":\"cx2\",\"deadline\":\"1h\"}"},
        {"/v1/rollouts/accept", "{\"class\":\"none\"}"},
    };
    struct stage *s = *state;
    CLEANUP_TEXT struct text t = {0};
    stage_post_all(s, asked, sizeof asked / sizeof asked[0], &t);
    stage_transcribe(s, "GET", "/v1/baselines/cpu", NULL, &t);
    golden_check("conform-changes.txt", &t);
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

/* The baseline is what the node is, never what it was a moment before. */
static void test_accept_what_is_recorded(void **state)
{
    struct stage *s = *state;
    CLEANUP_TEXT struct text t = {0};
    world_change(&s->world, "cx2");
    assert_int_equal(wire_ask(&s->wire, "POST", "/v1/baselines/accept", "{\"node\":\"cx2\"}", &t), 409);
    assert_int_equal(s->submitted, 0);
    text_clear(&t);
    assert_int_equal(wire_ask(&s->wire, "POST", "/v1/baselines/accept", "{\"node\":\"cx1\"}", &t), 200);
}

/* What a rollout's command carries: an absolute deadline, and one target. */
static void test_rollout_command(void **state)
{
    struct stage *s = *state;
    s->commits_at_once = false;
    struct wall before = wall_now();
    int fd =
        wire_connect(&s->wire, "POST /v1/rollouts/start HTTP/1.1\r\nHost: h\r\nContent-Length: 58\r\n\r\n"
                               "{\"class\":\"gpu\",\"version\":2,\"nodes\":\"gx1\",\"deadline\":\"24h\"}");
    stage_wait(s);
    const struct rollout_start_command *says = &s->waiting->cmd->rollout_begun;
    assert_int_equal(says->version, 2);
    assert_null(says->node);
    assert_in_range(says->deadline.ns - before.ns, span_s(86400).ns, span_s(86400 + 30).ns);
    stage_commit(s);
    close(fd);
}

static size_t count_of(const json_t *o, const char *key)
{
    return (size_t)json_integer_value(json_object_get(o, key));
}

/* Many nodes come out whole. How long it took is printed, not judged. */
static void test_large(void **state)
{
    struct stage *s = *state;
    CLEANUP_JSON json_t *groups = stage_ask_large(s, "/v1/conform/groups");
    assert_int_equal(json_array_size(json_object_get(groups, "groups")), LARGE_KINDS);
    assert_int_equal(json_array_size(json_object_get(groups, "alone")), 0);
    CLEANUP_JSON json_t *classes = stage_ask_large(s, "/v1/classes");
    assert_int_equal(count_of(json_array_get(json_object_get(classes, "classes"), 0), "unknown"), LARGE);
    CLEANUP_JSON json_t *place = stage_ask_large(s, "/v1/place?count=4096");
    assert_int_equal(count_of(place, "count"), 4096);
    CLEANUP_JSON json_t *features = stage_ask_large(s, "/v1/slurm/features");
    assert_int_equal(json_array_size(json_object_get(features, "nodes")), LARGE_KINDS);

    CLEANUP_JSON json_t *diff = stage_ask_large(s, "/v1/conform/diff/n00001?with=n00002");
    const json_t *differences = json_object_get(diff, "differences");
    assert_int_equal(json_array_size(differences), 1);
    const json_t *one = json_array_get(differences, 0);
    assert_int_equal(count_of(one, "also_count"), LARGE / LARGE_KINDS - 1);
    CLEANUP_HOSTLIST struct hostlist also = {0};
    assert_int_equal(hostlist_parse(json_string_value(json_object_get(one, "also")), &also, NULL), 0);
    assert_int_equal(also.n, 256); /* of them, and no more */
    assert_string_equal(also.names[0], "n00021");
}

/* Names that a call gives are looked for some at a time, and each is there or is refused. */
static void test_a_long_list_of_names(void **state)
{
    struct stage *s = *state;
    CLEANUP_TEXT struct text refused = {0};
    CLEANUP_JSON json_t *some = stage_ask_large(s, "/v1/nodes?nodes=n%5B00101-10000%5D!n00200&fields=Name");
    const json_t *nodes = json_object_get(some, "nodes");
    assert_int_equal(json_array_size(nodes), LARGE - 101);
    assert_string_equal(json_string_value(json_object_get(json_array_get(nodes, 99), "Name")), "n00201");
    assert_int_equal(wire_ask(&s->wire, "GET", "/v1/nodes?nodes=n%5B00001-10100%5D", NULL, &refused), 404);
    assert_non_null(strstr(refused.s, "no node \\\"n10001\\\", \\\"n10002\\\", \\\"n10003\\\" and 97 more"));
}

/* A connection that has asked for the whole table, which takes long, and was overtaken by somebody. */
static int ask_and_be_overtaken(struct stage *s)
{
    CLEANUP_TEXT struct text other = {0};
    char byte;
    int fd = wire_connect(&s->wire, "GET /v1/nodes HTTP/1.1\r\nHost: h\r\n\r\n");
    for (unsigned before = s->revisions; s->revisions == before;)
        wire_turn(&s->wire);
    int quick = wire_connect(&s->wire, "GET /v1/brakes HTTP/1.1\r\nHost: h\r\n\r\n");
    wire_read_until(&s->wire, quick, &other, "\"budgets\":[");
    assert_int_equal(recv(fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK), -1); /* no byte of the answer is there */
    close(quick);
    return fd;
}

/* What is about all nodes is made in slices, between which others have their turn. */
static void test_nobody_waits_for_a_long_answer(void **state)
{
    struct stage *s = *state;
    CLEANUP_TEXT struct text t = {0};
    int fd = ask_and_be_overtaken(s);
    wire_read_until(&s->wire, fd, &t, "n10000");
    assert_non_null(strstr(t.s, "HTTP/1.1 200 "));
    close(fd);
}

/* A client that goes away takes its answer with it. */
static void test_a_long_answer_that_nobody_waits_for(void **state)
{
    struct stage *s = *state;
    CLEANUP_TEXT struct text t = {0};
    close(ask_and_be_overtaken(s));
    assert_int_equal(wire_ask(&s->wire, "GET", "/v1/brakes", NULL, &t), 200);
}

static void set_policy_anew(void *arg)
{
    static const struct api_policy fresh = {.readers = API_READERS_NOBODY};
    api_set_policy(((struct stage *)arg)->api, &fresh);
}

/* Classes are others after a reload. */
static void test_a_reload_during_a_long_answer(void **state)
{
    struct stage *s = *state;
    CLEANUP_TEXT struct text t = {0};
    s->wire.each_turn = set_policy_anew;
    s->wire.arg = s;
    assert_int_equal(wire_ask(&s->wire, "GET", "/v1/conform/groups", NULL, &t), 503);
    assert_non_null(strstr(t.s, "ask again"));
}

/* Where every node is different in much, who else has a component is looked for as long as it is cheap;
 * the differences are all there. */
static void test_all_differ(void **state)
{
    struct stage *s = *state;
    CLEANUP_JSON json_t *diff = stage_ask_large(s, "/v1/conform/diff/n00001?with=n00002");
    const json_t *differences = json_object_get(diff, "differences");
    assert_int_equal(json_array_size(differences), MODULES + 1);
    assert_string_equal(json_string_value(json_object_get(json_array_get(differences, 0), "also")), "");
    const json_t *last = json_array_get(differences, MODULES);
    assert_string_equal(json_string_value(json_object_get(last, "kind")), "different");
    assert_true(json_is_null(json_object_get(last, "also")));
    assert_true(json_is_null(json_object_get(last, "also_count")));
}

int main(void)
{
#define PLAIN(test) cmocka_unit_test_setup_teardown(test, open_plain, stage_close)
#define CLASSES(test) cmocka_unit_test_setup_teardown(test, open_classes, stage_close)
    const struct CMUnitTest tests[] = {
        PLAIN(test_reads),
        PLAIN(test_changes),
        PLAIN(test_the_journal_says_what_it_has_no_more),
        PLAIN(test_head),
        PLAIN(test_certificates),
        PLAIN(test_actor),
        PLAIN(test_answer_after_commit),
        PLAIN(test_client_gone),
        PLAIN(test_server_gone),
        PLAIN(test_event_stream),
        CLASSES(test_conform_reads),
        CLASSES(test_conform_changes),
        CLASSES(test_approve_asks_first),
        CLASSES(test_accept_what_is_recorded),
        CLASSES(test_rollout_command),
        cmocka_unit_test_setup_teardown(test_large, open_large, stage_close),
        cmocka_unit_test_setup_teardown(test_a_long_list_of_names, open_large, stage_close),
        cmocka_unit_test_setup_teardown(test_nobody_waits_for_a_long_answer, open_large, stage_close),
        cmocka_unit_test_setup_teardown(test_a_long_answer_that_nobody_waits_for, open_large, stage_close),
        cmocka_unit_test_setup_teardown(test_a_reload_during_a_long_answer, open_large, stage_close),
        cmocka_unit_test_setup_teardown(test_all_differ, open_all_differ, stage_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
