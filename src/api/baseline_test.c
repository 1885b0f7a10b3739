/* SPDX-License-Identifier: Apache-2.0
 *
 * Classes, baselines and rollouts over HTTP.
 */
#include "api/golden_test.h"
#include "api/stage_test.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static int open_classes(void **state)
{
    return stage_open(state, world_make_classes, 3);
}

static void test_classes_and_baselines_are_read(void **state)
{
    static const char *const targets[] = {
        "/v1/classes",
        "/v1/baselines/gpu",
        "/v1/baselines/gpu?version=2",
        "/v1/baselines/gpu?version=1",
        "/v1/baselines/gpu?version=4",
        "/v1/baselines/gpu?version=0",
        "/v1/baselines/cpu",
        "/v1/baselines/gpus",
    };
    struct stage *s = *state;
    CLEANUP_TEXT struct text t = {0};
    stage_read_all(s, targets, sizeof targets / sizeof targets[0], &t);
    golden_check("baselines.txt", &t);
}

/* Changes of baselines and rollouts, and approvals, one after the other. */
static void test_baselines_change_one_after_the_other(void **state)
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

int main(void)
{
#define CLASSES(test) cmocka_unit_test_setup_teardown(test, open_classes, stage_close)
    const struct CMUnitTest tests[] = {
        CLASSES(test_classes_and_baselines_are_read),
        CLASSES(test_baselines_change_one_after_the_other),
        CLASSES(test_accept_what_is_recorded),
        CLASSES(test_rollout_command),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
