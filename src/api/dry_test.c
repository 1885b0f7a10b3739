/* SPDX-License-Identifier: Apache-2.0 */
/* dry_run: every route that changes something says what it would do, does nothing, and then does just that.
 */
#include "api/stage_test.h"

#include "api/golden_test.h"
#include "api/route.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* One after the other, each on what the ones before it did. */
struct change {
    enum route route;
    const char *body;
    const char *changed; /* of both the dry run and the change; NULL: the answer of the route is no Changed */
    const char *what;    /* a part of a sentence */
};

static const struct change on_ill[] = {
    {ROUTE_node_drain, "{\"nodes\":\"hx[1,9]\",\"reason\":\"bad fan\"}", "hx[1,9]", "bad fan (claim new)"},
    {ROUTE_node_undrain, "{\"nodes\":\"hx1\"}", "hx1", "released from claim 100"},
    {ROUTE_node_down, "{\"nodes\":\"hx1\",\"reason\":\"moved\"}", "hx1", "moved"},
    {ROUTE_node_up, "{\"nodes\":\"hx1\"}", "hx1", "released"},
    {ROUTE_node_set, "{\"nodes\":\"hx1\",\"set\":{\"CPUs\":\"4\"}}", "hx1", "CPUs=4"},
    {ROUTE_node_forget, "{\"nodes\":\"guest\"}", "guest", "forgotten"},
    {ROUTE_config_reload, "{}", NULL, "node lx07 added"},
    {ROUTE_backup_create, "{}", NULL, "makes a backup"},
    {ROUTE_token_create, "{\"nodes\":\"hx1\"}", NULL, "hx1"},
    {ROUTE_token_end, "{\"id\":\"0123456789abcdef\",\"reason\":\"leaked\"}", "", "leaked"},
    {ROUTE_controller_admit,
     "{\"name\":\"c2\",\"key\":\"02aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"}", "",
     "controller c2 has the authority"},
    {ROUTE_controller_remove, "{\"name\":\"c2\",\"reason\":\"sold\"}", "", "sold"},
    {ROUTE_certificate_create, "{\"name\":\"ann\",\"role\":\"reader\",\"request\":\"good\"}", NULL, "ann"},
    {ROUTE_certificate_revoke, "{\"holder\":\"operator:ann\",\"reason\":\"left\"}", "", "left"},
    {ROUTE_conform_recheck, "{\"nodes\":\"hx[1,2]\"}", NULL, "reads its fingerprint anew"},
    {ROUTE_check_run, "{\"nodes\":\"hx6\",\"check\":\"fs.space\"}", NULL, "runs check fs.space now"},
    {ROUTE_queue_ticket, "{\"nodes\":\"hx3\",\"reason\":\"seen\"}", "hx3", "seen"},
    {ROUTE_queue_resolve, "{\"nodes\":\"hx3\",\"findings\":[{\"fault\":\"xid.79\"}],\"reason\":\"a reset\"}",
     "hx3", "a reset"},
    {ROUTE_repair_approve, "{\"nodes\":\"hx4\",\"remedy\":\"cycle\"}", "hx4", "cycle"},
    {ROUTE_repair_refuse, "{\"nodes\":\"hx7\",\"reason\":\"no spare\"}", "hx7", "no spare"},
    {ROUTE_repair_transition, "{\"nodes\":\"hx2\",\"transition\":\"manual_drain\",\"reason\":\"a look\"}",
     "hx2", "a look"},
    {ROUTE_override_set, "{\"nodes\":\"hx5\",\"reason\":\"a talk\"}", "hx5", "a talk"},
    {ROUTE_override_end, "{\"nodes\":\"hx5\",\"reason\":\"it is over\"}", "hx5", "it is over"},
    {ROUTE_brake_set, "{\"name\":\"stop\",\"on\":false,\"reason\":\"it is cool\"}", "", "it is cool"},
    {ROUTE_owner_claim, "{\"nodes\":\"hx[1-2]\",\"owner\":\"physics\",\"reason\":\"a run\"}", "hx[1-2]",
     "owned by physics: a run"},
    {ROUTE_owner_transfer, "{\"nodes\":\"hx1\",\"owner\":\"physics\",\"new_owner\":\"physics:1\"}", "hx1",
     "owned by physics:1, and by physics no more"},
    {ROUTE_owner_release, "{\"owner\":\"physics\"}", "hx2", "released by its owner physics"},
    {ROUTE_power, "{\"nodes\":\"hx1\",\"do\":\"off\",\"reason\":\"a fan\"}", NULL, "power off: a fan"},
};

static const struct change on_classes[] = {
    {ROUTE_conform_approve, "{\"nodes\":\"gx7\",\"reason\":\"looked at\"}", "gx7", "looked at"},
    {ROUTE_rollout_revert, "{\"class\":\"gpu\"}", "gx[6-8]", "gpu"},
    {ROUTE_baseline_accept, "{\"node\":\"gx4\",\"reason\":\"right\"}", "gx4", "right"},
    {ROUTE_baseline_revert, "{\"class\":\"gpu\"}", "", "gpu"},
    {ROUTE_baseline_accept, "{\"node\":\"cx1\"}", "cx1", "cpu"},
    {ROUTE_rollout_start, "{\"class\":\"cpu\",\"to\":\"cx3\",\"nodes\":\"cx[1-3]\",\"deadline\":\"24h\"}",
     "cx[1-3]", "cpu"},
    {ROUTE_rollout_accept, "{\"class\":\"cpu\"}", "cx[1-3]", "cpu"},
};

enum { ON_ILL = sizeof on_ill / sizeof on_ill[0], ON_CLASSES = sizeof on_classes / sizeof on_classes[0] };

static int open_ill(void **state)
{
    int rc = stage_open(state, world_make_ill, 3);
    struct stage *s = *state;
    if (rc == 0) /* no file names it, and it was in service once */
        rc = cluster_put(s->world.cluster, "node/guest", "{\"admitted\":\"1\"}", NULL);
    return rc;
}

static int open_classes(void **state)
{
    return stage_open(state, world_make_classes, 3);
}

/* The answers, for who wants to read them, and for the test of the interface's description. */
static void show_all(struct stage *s, const struct change *list, size_t n, struct text *t)
{
    for (size_t i = 0; i < n; i++) {
        CLEANUP_TEXT struct text target = {0};
        if (list[i].route == ROUTE_token_create)
            continue; /* a time is in its sentence */
        text_printf(&target, "%s?dry_run=true", route_get(list[i].route)->path);
        stage_transcribe(s, "POST", target.s, list[i].body, t);
    }
}

static json_t *post(struct stage *s, const struct change *k, const char *query)
{
    CLEANUP_TEXT struct text target = {0}, t = {0};
    text_printf(&target, "%s%s", route_get(k->route)->path, query);
    int status = wire_ask(&s->wire, "POST", target.s, k->body, &t);
    if (status != 200)
        fail_msg("%s %s: %d %s", target.s, k->body, status, t.s);
    return json_read(t.s, t.len, NULL);
}

static void check_said(const struct change *k, const json_t *answer)
{
    CLEANUP_FREE char *text = json_write(answer);
    if (!json_is_true(json_object_get(answer, "dry_run")) || !strstr(text, k->what))
        fail_msg("%s: %s", route_get(k->route)->operation, text);
    if (k->changed)
        assert_string_equal(json_text(answer, "changed"), k->changed);
    assert_null(json_object_get(answer, "token"));
    assert_null(json_object_get(answer, "certificate"));
}

static void try_one(struct stage *s, const struct change *k)
{
    uint64_t digest = cluster_digest(s->world.cluster), revision = s->revision;
    CLEANUP_JSON json_t *would = post(s, k, "?dry_run=true");
    check_said(k, would);
    assert_true(cluster_digest(s->world.cluster) == digest);
    assert_int_equal(s->revision, revision);
    assert_int_equal(s->rechecked, 0);
    assert_null(s->checking);
    CLEANUP_JSON json_t *done = post(s, k, "?dry_run=no");
    assert_null(json_object_get(done, "dry_run"));
    if (k->changed) {
        assert_string_equal(json_text(done, "changed"), k->changed);
        assert_true(cluster_digest(s->world.cluster) != digest);
    }
    s->rechecked = 0;
}

static void a_dry_run_says_the_same_as_the_change(void **state)
{
    for (size_t i = 0; i < ON_ILL; i++)
        try_one(*state, &on_ill[i]);
}

static void and_so_it_is_for_baselines(void **state)
{
    for (size_t i = 0; i < ON_CLASSES; i++)
        try_one(*state, &on_classes[i]);
}

static bool is_tried(enum route r)
{
    for (size_t i = 0; i < ON_ILL; i++)
        if (on_ill[i].route == r)
            return true;
    for (size_t i = 0; i < ON_CLASSES; i++)
        if (on_classes[i].route == r)
            return true;
    return false;
}

static void no_route_that_changes_is_left_out(void **state)
{
    for (int r = 0; r < ROUTES; r++)
        if (access_right_changes(route_get((enum route)r)->right) && !is_tried((enum route)r))
            fail_msg("%s is not tried", route_get((enum route)r)->operation);
}

/* Each by itself: what the ones before would do was not done. */
static void they_read_well(void **state)
{
    CLEANUP_TEXT struct text t = {0};
    show_all(*state, on_ill, ON_ILL, &t);
    golden_check("dry-runs.txt", &t);
}

static void and_so_do_those_of_baselines(void **state)
{
    CLEANUP_TEXT struct text t = {0};
    show_all(*state, on_classes, ON_CLASSES, &t);
    golden_check("dry-runs-conform.txt", &t);
}

/* Of several nodes, what is refused of one is said beside what would be done to the others. */
static void a_refusal_of_some_nodes_is_said(void **state)
{
    struct stage *s = *state;
    CLEANUP_TEXT struct text t = {0};
    assert_int_equal(wire_ask(&s->wire, "POST", "/v1/queue/ticket?dry_run=true",
                              "{\"nodes\":\"hx[1,3]\",\"take\":false}", &t),
                     200);
    assert_non_null(
        strstr(t.s, "\"changed\":\"hx3\",\"dry_run\":true,\"would\":[{\"nodes\":\"hx3\",\"what\":"));
    assert_non_null(strstr(t.s, "\"refused\":[{\"node\":\"hx1\",\"error\":"));
    text_clear(&t);
    assert_int_equal(wire_ask(&s->wire, "POST", "/v1/nodes/drain?dry_run=true",
                              "{\"nodes\":\"nobody\",\"reason\":\"x\"}", &t),
                     404);
}

static void a_change_of_nothing_says_so(void **state)
{
    struct stage *s = *state;
    CLEANUP_TEXT struct text t = {0};
    assert_int_equal(wire_ask(&s->wire, "POST", "/v1/nodes/undrain?dry_run=yes", "{\"nodes\":\"hx1\"}", &t),
                     200);
    assert_non_null(strstr(t.s, "\"changed\":\"\",\"dry_run\":true,\"would\":[],"));
}

static void the_query_is_read_strictly(void **state)
{
    static const char *const targets[] = {"/v1/nodes/drain?dry_run=maybe", "/v1/nodes/drain?dryrun=true",
                                          "/v1/nodes/drain?dry_run=true&dry_run=true",
                                          "/v1/nodes?dry_run=true"};
    struct stage *s = *state;
    CLEANUP_TEXT struct text t = {0};
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
        const char *method = strstr(targets[i], "drain") ? "POST" : "GET";
        text_clear(&t);
        assert_int_equal(wire_ask(&s->wire, method, targets[i], "{\"nodes\":\"hx1\",\"reason\":\"x\"}", &t),
                         400);
    }
    assert_int_equal(s->submitted, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_dry_run_says_the_same_as_the_change, open_ill, stage_close),
        cmocka_unit_test_setup_teardown(and_so_it_is_for_baselines, open_classes, stage_close),
        cmocka_unit_test_setup_teardown(they_read_well, open_ill, stage_close),
        cmocka_unit_test_setup_teardown(and_so_do_those_of_baselines, open_classes, stage_close),
        cmocka_unit_test(no_route_that_changes_is_left_out),
        cmocka_unit_test_setup_teardown(a_refusal_of_some_nodes_is_said, open_ill, stage_close),
        cmocka_unit_test_setup_teardown(a_change_of_nothing_says_so, open_ill, stage_close),
        cmocka_unit_test_setup_teardown(the_query_is_read_strictly, open_ill, stage_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
