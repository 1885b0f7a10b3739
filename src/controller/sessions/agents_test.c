/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/sessions/agents_world_test.h"

#include "cluster/cluster.h"

#include <stdio.h>

/* --- who comes ------------------------------------------------------------------------------- */

static void the_name_is_the_certificates(void **state)
{
    struct client *c = client_new("lx2");
    client_send(c, FRAME_HELLO, "{\"name\":\"lx1\",\"boot\":\"" BOOT "\",\"instance\":\"" INSTANCE "\"}");
    assert_refused(c, "forbidden");
    assert_null(seen("lx1")->session);
    assert_null(seen("lx2")->session);
    assert_int_equal(seen("lx1")->beat.instance, 0);
    assert_true(world_logged("says that it is node \"lx1\", its certificate says node \"lx2\""));
}

static void without_a_certificate_nobody_is_a_node(void **state)
{
    struct client *c = client_new(NULL);
    client_send(c, FRAME_HELLO, "{\"name\":\"lx1\",\"boot\":\"" BOOT "\",\"instance\":\"" INSTANCE "\"}");
    assert_refused(c, "forbidden");
    assert_null(seen("lx1")->session);
}

static void the_first_frame_is_hello_or_join(void **state)
{
    const enum frame_type types[] = {FRAME_HEARTBEAT, FRAME_INVENTORY,   FRAME_BATCH,     FRAME_RENEW,
                                     FRAME_WELCOME,   FRAME_FINGERPRINT, FRAME_COMPONENTS};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        struct client *c = client_new("lx1");
        client_send(c, types[i], "{}");
        assert_refused(c, "protocol");
    }
    assert_null(seen("lx1")->session);
}

static void hello_comes_once(void **state)
{
    struct client *c = client_hello("lx1", INSTANCE);
    assert_int_equal(c->count[FRAME_WELCOME], 1);
    client_send(c, FRAME_HELLO,
                "{\"name\":\"lx1\",\"boot\":\"" BOOT "\",\"instance\":\"" OTHER_INSTANCE "\"}");
    assert_refused(c, "protocol");
    assert_int_equal(seen("lx1")->beat.instance, 0xa1);
    run_until(!seen("lx1")->session);
}

/* They are ignored and counted; the log has the first. */
static void frames_that_do_not_fit_are_counted(void **state)
{
    struct client *c = client_hello("lx1", INSTANCE), *other = client_hello("lx2", OTHER_INSTANCE);
    unsigned n = 0;
    for (int type = 0; type <= UINT8_MAX; type++) {
        bool is_first = frame_fits((uint8_t)type, FRAME_TO_CONTROLLER, FRAME_FROM_STRANGER);
        if (is_first || !frame_is_known((uint8_t)type) ||
            frame_fits((uint8_t)type, FRAME_TO_CONTROLLER, FRAME_FROM_NODE))
            continue;
        client_send(c, (enum frame_type)type, "{}");
        n++;
    }
    client_heartbeat(c, INSTANCE, 1);
    settle(c);
    assert_true(n > 10);
    assert_int_equal(agents_misfits(w.agents), n);
    assert_int_equal(seen("lx1")->beat.liveness, LIVENESS_LIVE);
    assert_true(world_logged("node lx1 sends WELCOME, which does not fit here: it is ignored"));
    assert_false(world_logged("sends REFUSE"));
    client_send(other, FRAME_BATCH, "{}");
    settle(other);
    assert_int_equal(agents_misfits(w.agents), n + 1);
    assert_true(world_logged("node lx2 sends BATCH"));
}

static void a_hello_that_lacks_something_is_refused(void **state)
{
    char version[66] = {0};
    memset(version, 'v', 65);
    const char *const rest[] = {
        "\"boot\":\"" BOOT "\"", "\"boot\":\"" BOOT "\",\"instance\":\"0000000000000000\"",
        "\"boot\":\"" BOOT "\",\"instance\":7", "\"boot\":7,\"instance\":\"" INSTANCE "\"",
        "\"boot\":\"x\",\"instance\":\"" INSTANCE "\""};
    for (size_t i = 0; i < sizeof rest / sizeof rest[0]; i++) {
        struct client *c = client_new("lx1");
        client_send(c, FRAME_HELLO, "{\"name\":\"lx1\",%s}", rest[i]);
        assert_refused(c, "invalid");
    }
    struct client *c = client_new("lx1");
    client_send(c, FRAME_HELLO,
                "{\"name\":\"lx1\",\"boot\":\"" BOOT "\",\"instance\":\"" INSTANCE "\",\"version\":\"%s\"}",
                version);
    assert_refused(c, "invalid");
    assert_null(seen("lx1")->session);
}

static void welcome_says_what_holds(void **state)
{
    struct client *c = client_hello("lx1", INSTANCE);
    uint64_t interval = 0, spread = 0, term = 0;
    bool want = false;
    const json_t *body = c->last[FRAME_WELCOME];
    assert_int_equal(json_take_u64(body, "interval_ms", 100000, &interval, NULL), 0);
    assert_int_equal(json_take_u64(body, "spread_ms", 100000, &spread, NULL), 0);
    assert_int_equal(json_take_u64(body, "term", 100000, &term, NULL), 0);
    assert_int_equal(json_take_bool(body, "want", &want, NULL), 0);
    assert_int_equal(interval, 10000);
    assert_int_equal(spread, span_to_ms(config_spread(20)));
    assert_int_equal(term, w.term);
    assert_true(want);
    assert_string_equal(text_in(c, FRAME_WELCOME, "controller"), "00000000000000c0");
    CLEANUP_JSON json_t *survey = opened(json_object_get(body, "survey"));
    assert_int_equal(json_integer_value(json_object_get(survey, "type")), FRAME_SETTINGS);
    assert_int_equal(json_take_u64(survey, "recheck_ms", 100000000, &interval, NULL), 0);
    assert_int_equal(interval, 6 * 3600 * 1000);
    assert_int_equal(json_array_size(json_object_get(survey, "also")), 0);
}

static void hello_of_one_that_heard(const char *node, const char *origin, uint64_t term)
{
    struct client *c = client_new(node);
    client_send(c, FRAME_HELLO,
                "{\"protocol\":1,\"name\":\"%s\",\"version\":\"1\",\"boot\":\"" BOOT
                "\",\"instance\":\"" INSTANCE
                "\",\"inventory\":\"\",\"heard\":{\"origin\":\"%s\",\"term\":%llu}}",
                node, origin, (unsigned long long)term);
    run_until(c->count[FRAME_WELCOME]);
}

/* A controller of the same state and a later term runs, or ran: there are two. */
static void a_later_controller_of_the_same_state_is_told(void **state)
{
    static const char ours[] = "00112233445566ff";
    assert_int_equal(cluster_put(w.cluster, "origin/00112233445566ff", "{\"at\":\"1\"}", NULL), 0);
    hello_of_one_that_heard("lx1", ours, w.term);
    hello_of_one_that_heard("lx2", "ffffffffffffffff", w.term + 9);
    assert_false(world_logged("alarm.copy"));
    hello_of_one_that_heard("lx3", ours, w.term + 9);
    assert_true(world_logged("alarm.copy"));
    assert_true(world_logged("node lx3 has heard a controller of this state"));
}

static void one_that_is_in_no_file_is_heard_too(void **state)
{
    struct client *c = client_hello("stranger", INSTANCE);
    client_heartbeat(c, INSTANCE, 1);
    settle(c);
    assert_false(node("stranger")->listed);
    assert_int_equal(seen("stranger")->beat.liveness, LIVENESS_LIVE);
}

static void a_silent_connection_is_closed(void **state)
{
    struct client *c = client_new("lx1");
    run_until(w.agents->sessions && w.agents->sessions->open);
    w.agents->sessions->came.ns -= span_s(11).ns;
    assert_refused(c, "timeout");
}

/* --- garbage --------------------------------------------------------------------------------- */

static const char *const garbage[] = {"",
                                      " ",
                                      "x",
                                      "{",
                                      "[]",
                                      "[{}]",
                                      "\"s\"",
                                      "7",
                                      "{\"a\":1,\"a\":2}",
                                      "{\"name\":\"\\u0000\"}",
                                      "\xff\xfe",
                                      "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["};

/* Objects whose members have wrong types. */
static const char *const wrong[] = {
    "{}",
    "{\"name\":1,\"boot\":[],\"instance\":{},\"version\":null,\"inventory\":3,\"once\":\"x\",\"collector\":"
    "7}",
    "{\"boot\":null,\"instance\":null,\"seq\":\"1\",\"work\":{},\"uptime_s\":-1}",
    "{\"hash\":[],\"full\":1,\"set\":[],\"unset\":{}}",
    "{\"hash\":\"1\",\"full\":true,\"set\":{},\"unset\":[1,2]}",
    "{\"epoch\":-1,\"port\":70000,\"heard\":[],\"changed\":{},\"inventories\":\"x\"}",
    "{\"epoch\":1,\"port\":1,\"heard\":\"lx[\",\"changed\":[1,null,[],{}],\"inventories\":[1,null,[],{}]}",
    "{\"heard\":\"lx[01-99999999]\",\"changed\":[{\"name\":\"lx1\",\"boot\":1}],\"inventories\":[{\"name\":"
    "\"lx1\"}]}",
    "{\"changed\":[{\"name\":7,\"gone\":\"yes\"},{\"name\":\"lx1\",\"gone\":true,\"duplicate\":true}]}",
    "{\"fingerprint\":7,\"boot\":[],\"same\":\"yes\"}",
    "{\"fingerprint\":\"00\",\"boot\":\"" BOOT "\"}",
    "{\"fingerprint\":\"" A_FINGERPRINT
    "\",\"part\":0,\"parts\":1,\"components\":[],\"absent\":{},\"unknown\":7}",
    "{\"fingerprint\":\"" A_FINGERPRINT "\",\"part\":4294967296,\"parts\":99999999,\"components\":{}}",
    "{\"token\":1,\"name\":2,\"request\":3}",
    "{\"token\":\"\",\"name\":\"../x\",\"request\":\"\"}",
    "{\"request\":\"-----BEGIN CERTIFICATE REQUEST-----\"}",
};

static void send_each_type(const char *body, bool hello)
{
    const enum frame_type types[] = {FRAME_HELLO,   FRAME_HEARTBEAT, FRAME_INVENTORY,   FRAME_BATCH,
                                     FRAME_JOIN,    FRAME_RENEW,     FRAME_FINGERPRINT, FRAME_COMPONENTS,
                                     FRAME_RECHECK, FRAME_WANT};
    for (size_t i = hello ? 1 : 0; i < sizeof types / sizeof types[0]; i++) {
        struct client *c = hello ? client_hello("lx2", INSTANCE) : client_new("lx2");
        client_send(c, types[i], "%s", body);
        if (c->peer)
            peer_close(c->peer);
        run_until(c->closed);
    }
}

static void garbage_ends_its_own_session_and_nothing_else(void **state)
{
    struct client *good = client_hello("lx1", INSTANCE);
    for (size_t i = 0; i < sizeof garbage / sizeof garbage[0]; i++) {
        send_each_type(garbage[i], false);
        send_each_type(garbage[i], true);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        send_each_type(wrong[i], false);
        send_each_type(wrong[i], true);
    }
    client_heartbeat(good, INSTANCE, 1);
    settle(good);
    assert_int_equal(seen("lx1")->beat.seq, 1);
    assert_int_equal(seen("lx2")->beat.seq, 0);
    assert_null(seen("lx2")->report.json);
}

static void a_body_that_is_no_object_is_refused(void **state)
{
    struct client *c = client_hello("lx1", INSTANCE);
    client_send(c, FRAME_HEARTBEAT, "[]");
    assert_refused(c, "invalid");
}

static void nothing_is_read_after_a_refusal(void **state)
{
    struct client *c = client_new("lx2");
    client_send(c, FRAME_HELLO, "{\"name\":\"lx1\"}");
    client_send(c, FRAME_HELLO, "{\"name\":\"lx2\",\"boot\":\"" BOOT "\",\"instance\":\"" INSTANCE "\"}");
    client_send(c, FRAME_HEARTBEAT, "{\"boot\":\"" BOOT "\",\"instance\":\"" INSTANCE "\",\"seq\":1}");
    assert_refused(c, "forbidden");
    assert_int_equal(seen("lx2")->beat.instance, 0);
}

/* --- heartbeats ------------------------------------------------------------------------------ */

static void a_heartbeat_says_that_the_node_lives(void **state)
{
    struct client *c = client_hello("lx1", INSTANCE);
    assert_int_equal(seen("lx1")->beat.liveness, LIVENESS_UNHEARD);
    client_heartbeat(c, INSTANCE, 1);
    settle(c);
    assert_int_equal(seen("lx1")->beat.liveness, LIVENESS_LIVE);
    assert_int_equal(seen("lx1")->work, WORK_IDLE);
    assert_int_equal(seen("lx1")->uptime_s, 9);
}

static void odd_work_is_unknown_and_not_idle(void **state)
{
    struct client *c = client_hello("lx1", INSTANCE);
    const char *const odd[] = {"null", "{}", "[1]", "[\"a\",[]]", "7"};
    for (unsigned i = 0; i < sizeof odd / sizeof odd[0]; i++) {
        client_heartbeat(c, INSTANCE, 2 * i + 1);
        client_send(c, FRAME_HEARTBEAT,
                    "{\"boot\":\"" BOOT "\",\"instance\":\"" INSTANCE "\",\"seq\":%u,\"work\":%s}", 2 * i + 2,
                    odd[i]);
        settle(c);
        assert_int_equal(seen("lx1")->work, WORK_UNKNOWN);
    }
}

static void a_replayed_heartbeat_counts_for_nothing(void **state)
{
    struct client *c = client_hello("lx1", INSTANCE);
    client_heartbeat(c, INSTANCE, 7);
    settle(c);
    struct mono heard = seen("lx1")->beat.heard;
    client_heartbeat(c, INSTANCE, 7);
    client_heartbeat(c, INSTANCE, 3);
    settle(c);
    assert_false(c->closed);
    assert_int_equal(seen("lx1")->beat.heard.ns, heard.ns);
}

static void a_heartbeat_of_another_boot_or_instance_is_refused(void **state)
{
    struct client *c = client_hello("lx1", INSTANCE);
    client_send(c, FRAME_HEARTBEAT, "{\"boot\":\"" OTHER_BOOT "\",\"instance\":\"" INSTANCE "\",\"seq\":1}");
    assert_refused(c, "conflict");
    c = client_hello("lx1", INSTANCE);
    client_heartbeat(c, OTHER_INSTANCE, 1);
    assert_refused(c, "conflict");
    assert_int_equal(seen("lx1")->beat.liveness, LIVENESS_UNHEARD);
}

static void a_second_live_agent_of_one_name_is_refused_and_reported(void **state)
{
    struct client *first = client_hello("lx1", INSTANCE);
    client_heartbeat(first, INSTANCE, 1);
    settle(first);
    struct client *second = client_hello("lx1", OTHER_INSTANCE);
    assert_refused(second, "conflict");
    assert_true(world_logged("node.duplicate lx1"));
    client_heartbeat(first, INSTANCE, 2);
    settle(first);
    assert_int_equal(seen("lx1")->beat.seq, 2);
}

static void the_same_agent_may_come_over_a_new_connection(void **state)
{
    struct client *first = client_hello("lx1", INSTANCE);
    client_heartbeat(first, INSTANCE, 1);
    settle(first);
    struct client *second = client_hello("lx1", INSTANCE);
    assert_int_equal(second->count[FRAME_WELCOME], 1);
    run_until(first->closed);
    client_heartbeat(second, INSTANCE, 2);
    settle(second);
    assert_int_equal(seen("lx1")->beat.seq, 2);
    assert_non_null(seen("lx1")->session);
}

/* --- inventories ----------------------------------------------------------------------------- */

static void a_change_without_a_base_makes_us_ask_for_the_whole(void **state)
{
    struct client *c = client_hello("lx1", INSTANCE);
    client_send(c, FRAME_INVENTORY, "{\"hash\":\"2\",\"set\":{\"CPUs\":4}}");
    run_until(c->count[FRAME_WANT]);
    assert_null(seen("lx1")->report.json);
    client_send(c, FRAME_INVENTORY, "{\"hash\":\"2\",\"full\":true,\"set\":{\"CPUs\":4}}");
    run_until(seen("lx1")->report.json);
    assert_int_equal(seen("lx1")->report.cpus.value, 4);
    struct client *again = client_new("lx1");
    client_send(again, FRAME_HELLO,
                "{\"name\":\"lx1\",\"boot\":\"" BOOT "\",\"instance\":\"" INSTANCE "\",\"inventory\":\"2\"}");
    run_until(again->count[FRAME_WELCOME]);
    bool want = true;
    json_take_bool(again->last[FRAME_WELCOME], "want", &want, NULL);
    assert_false(want);
}

static void a_shortfall_is_told_when_it_comes_and_when_it_goes(void **state)
{
    struct client *c = client_hello("lx1", INSTANCE);
    client_send(c, FRAME_INVENTORY, "{\"hash\":\"1\",\"full\":true,\"set\":{\"CPUs\":1}}");
    run_until(world_logged("node.shortfall lx1"));
    world_log_clear();
    client_send(c, FRAME_INVENTORY, "{\"hash\":\"2\",\"full\":false,\"set\":{\"RealMemory\":1}}");
    client_send(c, FRAME_INVENTORY, "{\"hash\":\"3\",\"full\":false,\"set\":{\"CPUs\":2}}");
    run_until(world_logged("node.sufficient lx1"));
    assert_false(world_logged("node.shortfall"));
}

/* --- certificates ---------------------------------------------------------------------------- */

static struct client *join(const char *token, const char *name)
{
    struct client *c = client_new(NULL);
    CLEANUP_TEXT struct text body = {0};
    text_add(&body, "{\"token\":");
    text_add_json(&body, token);
    text_add(&body, ",\"name\":");
    text_add_json(&body, name);
    text_add(&body, ",\"request\":");
    text_add_json(&body, w.request);
    text_add_char(&body, '}');
    client_send(c, FRAME_JOIN, "%s", body.s);
    return c;
}

static void a_token_is_good_for_one_certificate(void **state)
{
    CLEANUP_FREE char *token = world_token("lx[1-20]", 60000);
    struct client *c = join(token, "lx7");
    run_until(c->closed);
    assert_int_equal(c->count[FRAME_JOINED], 1);
    assert_string_equal(text_in(c, FRAME_JOINED, "authority"), authority_pem(w.authority));
    struct client *as_node = client_with(world_tls(text_in(c, FRAME_JOINED, "certificate")));
    client_send(as_node, FRAME_HELLO,
                "{\"name\":\"lx7\",\"boot\":\"" BOOT "\",\"instance\":\"" INSTANCE "\"}");
    run_until(as_node->count[FRAME_WELCOME]);
    struct client *again = join(token, "lx8");
    assert_refused(again, "forbidden");
    assert_int_equal(again->count[FRAME_JOINED], 0);
}

static void a_token_that_is_wrong_or_late_or_for_another_is_refused(void **state)
{
    CLEANUP_FREE char *late = world_token("lx[1-20]", -1);
    CLEANUP_FREE char *others = world_token("lx[1-2]", 60000);
    assert_refused(join("fettle1.no.token", "lx7"), "forbidden");
    assert_refused(join(late, "lx7"), "forbidden");
    assert_refused(join(others, "lx7"), "forbidden");
    struct client *right = join(others, "lx2");
    run_until(right->closed);
    assert_int_equal(right->count[FRAME_JOINED], 1);
}

static void join_comes_once_and_in_bounds(void **state)
{
    CLEANUP_FREE char *token = world_token("lx[1-20]", 60000);
    struct client *c = join(token, "lx7");
    client_send(c, FRAME_JOIN, "{\"token\":\"x\",\"name\":\"lx8\",\"request\":\"\"}");
    run_until(c->closed);
    assert_int_equal(c->count[FRAME_REFUSE], 1);
    c = client_new(NULL);
    CLEANUP_FREE char *big = mem_alloc(9 << 10);
    memset(big, 'x', (9 << 10) - 1);
    client_send(c, FRAME_JOIN, "{\"token\":\"x\",\"name\":\"lx8\",\"request\":\"%s\"}", big);
    assert_refused(c, "invalid");
    assert_refused(join(token, "a b"), "invalid");
}

static void one_that_leaves_while_it_joins_is_forgotten(void **state)
{
    CLEANUP_FREE char *token = world_token("lx[1-20]", 60000);
    struct client *c = join(token, "lx7");
    run_until(w.agents->sessions && w.agents->sessions->asked);
    client_cut(c);
    run_until(!w.agents->sessions);
}

/* Made an hour ago by its own word, and good for so long: due below half an hour. */
static char *certificate_for(const char *name, int64_t valid_s)
{
    struct identity id = {.kind = IDENTITY_NODE};
    char *pem = NULL;
    snprintf(id.name, sizeof id.name, "%s", name);
    assert_int_equal(authority_sign(w.authority, w.request, &id, NULL, span_s(valid_s), &pem, NULL), 0);
    return pem;
}

static struct client *renewing(const char *name, const char *pem, const char *request)
{
    struct client *c = client_with(world_tls(pem));
    CLEANUP_TEXT struct text body = {0};
    client_send(c, FRAME_HELLO, "{\"name\":\"%s\",\"boot\":\"" BOOT "\",\"instance\":\"" INSTANCE "\"}",
                name);
    run_until(c->count[FRAME_WELCOME]);
    text_add(&body, "{\"request\":");
    text_add_json(&body, request);
    text_add_char(&body, '}');
    client_send(c, FRAME_RENEW, "%s", body.s);
    return c;
}

static void a_certificate_is_renewed_for_the_same_name(void **state)
{
    CLEANUP_FREE char *pem = certificate_for("lx1", 1700);
    struct client *c = renewing("lx1", pem, w.request);
    run_until(c->count[FRAME_RENEWED]);
    const struct holder *h = cluster_holder(w.cluster, "node:lx1");
    assert_int_equal(h->n, 2); /* both, until the second is used */
    uint64_t old = h->made[0].serial, new = h->made[1].serial;
    struct client *again = client_with(world_tls(text_in(c, FRAME_RENEWED, "certificate")));
    client_send(again, FRAME_HELLO, "{\"name\":\"lx1\",\"boot\":\"" BOOT "\",\"instance\":\"" INSTANCE "\"}");
    run_until(again->count[FRAME_WELCOME] && cluster_holder(w.cluster, "node:lx1")->least == new);
    assert_int_equal(cluster_certificate_judge(w.cluster, "node:lx1", old, NULL), -EPERM);
    struct client *late = client_with(world_tls(pem));
    run_until(late->closed);
    assert_int_equal(late->count[FRAME_WELCOME] + late->count[FRAME_REFUSE], 0);
}

static void nothing_else_is_renewed(void **state)
{
    CLEANUP_FREE char *young = certificate_for("lx1", 86400), *guest = certificate_for("guest", 1700),
                      *due = certificate_for("lx2", 1700);
    assert_refused(renewing("lx1", young, w.request), "conflict");
    assert_refused(renewing("guest", guest, w.request), "forbidden");
    assert_refused(renewing("lx2", due, "nothing"), "invalid");
    assert_null(cluster_holder(w.cluster, "node:lx1"));
}

/* --- fingerprints ---------------------------------------------------------------------------- */

/* Waits for a WANT of components, and says of which. */
static const char *wanted(struct client *c, unsigned before)
{
    run_until(c->closed || c->count[FRAME_WANT] > before);
    return text_in(c, FRAME_WANT, "components");
}

static void ten_equal_nodes_are_asked_for_one_list(void **state)
{
    struct client *all[10];
    char name[8];
    unsigned asked = 0;
    for (int i = 0; i < 10; i++) {
        snprintf(name, sizeof name, "lx%d", i + 1);
        all[i] = client_hello(name, INSTANCE);
        client_fingerprint(all[i], A_FINGERPRINT, BOOT);
    }
    run_until(*fingerprint_of("lx10"));
    assert_string_equal(wanted(all[0], 0), A_FINGERPRINT);
    client_components(all[0], A_FINGERPRINT);
    run_until(components_known("lx10")); /* by the word of the first */
    for (int i = 0; i < 10; i++) {
        asked += all[i]->count[FRAME_WANT];
        snprintf(name, sizeof name, "lx%d", i + 1);
        assert_string_equal(fingerprint_of(name), A_FINGERPRINT);
    }
    assert_int_equal(asked, 1);
}

static void when_one_does_not_answer_another_one_is_asked(void **state)
{
    struct client *one = client_hello("lx1", INSTANCE), *two = client_hello("lx2", INSTANCE);
    client_fingerprint(one, A_FINGERPRINT, BOOT);
    assert_string_equal(wanted(one, 0), A_FINGERPRINT);
    client_cut(one);
    client_heartbeat(two, INSTANCE, 1);
    client_fingerprint(two, A_FINGERPRINT, BOOT);
    assert_string_equal(wanted(two, 0), A_FINGERPRINT);
}

static void a_fingerprint_of_another_boot_counts_for_nothing(void **state)
{
    struct client *c = client_hello("lx1", INSTANCE);
    client_fingerprint(c, A_FINGERPRINT, OTHER_BOOT);
    client_send(c, FRAME_FINGERPRINT, "{\"fingerprint\":\"" A_FINGERPRINT "\"}");
    settle(c);
    assert_string_equal(fingerprint_of("lx1"), "");
    assert_false(c->closed);
}

static void the_same_as_nothing_is_asked_for_anew(void **state)
{
    struct client *c = client_hello("lx1", INSTANCE);
    client_send(c, FRAME_FINGERPRINT, "{\"same\":true}");
    assert_string_equal(wanted(c, 0), "0000000000000000000000000000000000000000000000000000000000000000");
    client_fingerprint(c, A_FINGERPRINT, BOOT);
    assert_string_equal(wanted(c, 1), A_FINGERPRINT);
    client_send(c, FRAME_FINGERPRINT, "{\"same\":true}");
    settle(c);
    assert_int_equal(c->count[FRAME_WANT], 3); /* the third is settle's */
}

static void a_list_that_is_a_lie_marks_the_node_alone(void **state)
{
    struct client *liar = client_hello("lx1", INSTANCE), *other = client_hello("lx2", INSTANCE);
    client_fingerprint(liar, A_FINGERPRINT, BOOT);
    assert_string_equal(wanted(liar, 0), A_FINGERPRINT);
    client_heartbeat(other, INSTANCE, 1);
    client_fingerprint(other, A_FINGERPRINT, BOOT);
    client_send(liar, FRAME_COMPONENTS,
                "{\"fingerprint\":\"" A_FINGERPRINT
                "\",\"part\":0,\"parts\":1,\"components\":{\"kernel.release\":\"6.6.6\"}}");
    run_until(standing_of("lx1").lies);
    assert_true(world_logged("alarm.fingerprint lx1"));
    assert_false(components_known("lx2"));
    assert_false(standing_of("lx2").lies);
    client_heartbeat(liar, INSTANCE, 1);
    settle(liar);
    assert_false(liar->closed); /* it goes on being heard */
    assert_int_equal(seen("lx1")->beat.liveness, LIVENESS_LIVE);
    world_log_clear();
    for (int i = 0; i < 100; i++)
        client_send(liar, FRAME_COMPONENTS, "{\"fingerprint\":\"x\",\"part\":0,\"parts\":1}");
    settle(liar);
    assert_false(world_logged("node lx1:")); /* the log has had it a moment ago */
    fingerprints_second(w.agents, mono_add(mono_now(), span_s(60)));
    assert_true(world_logged("node lx1: 100 more such warnings in the last minute"));
    assert_string_equal(wanted(other, 0), A_FINGERPRINT);
    client_components(other, A_FINGERPRINT);
    run_until(components_known("lx2"));
}

static void a_node_is_told_to_read_its_fingerprint(void **state)
{
    struct client *one = client_hello("lx1", INSTANCE), *two = client_hello("lx2", INSTANCE);
    CLEANUP_HOSTLIST struct hostlist nodes = {0};
    assert_int_equal(hostlist_parse("lx[1,3],nobody", &nodes, NULL), 0);
    assert_int_equal(agents_recheck(w.agents, &nodes), 1);
    run_until(one->count[FRAME_RECHECK]);
    settle(one);
    settle(two);
    assert_int_equal(one->count[FRAME_RECHECK], 1);
    assert_int_equal(two->count[FRAME_RECHECK], 0);
}

/* --- settings and the end -------------------------------------------------------------------- */

static void a_reload_is_told_to_all(void **state)
{
    enum { AGENTS = 20 };
    struct client *all[AGENTS];
    for (int i = 0; i < AGENTS; i++) {
        char name[8];
        snprintf(name, sizeof name, "lx%d", i + 1);
        all[i] = client_hello(name, INSTANCE);
    }
    world_reload("HeartBeatInterval = 7");
    for (int i = 0; i < AGENTS; i++) {
        uint64_t interval = 0;
        run_until(all[i]->count[FRAME_SETTINGS]);
        json_take_u64(all[i]->last[FRAME_SETTINGS], "interval_ms", 100000, &interval, NULL);
        assert_int_equal(interval, 7000);
    }
}

static json_int_t revision_of(const json_t *order)
{
    return json_integer_value(json_object_get(order, "revision"));
}

static void names_of_classes_are_told_to_all(void **state)
{
    struct client *c = client_hello("lx1", INSTANCE);
    world_classes("Class=a Major=sysctl.vm.swappiness,gpu.driver,sysctl.*,file./etc/hosts\n");
    char lines[128];
    snprintf(lines, sizeof lines, "FingerprintInterval = 1h\nClassConf = %s/classes", w.dir);
    world_reload(lines);
    run_until(c->count[FRAME_SETTINGS]);
    uint64_t recheck = 0;
    CLEANUP_JSON json_t *before = opened(json_object_get(c->last[FRAME_WELCOME], "survey"));
    CLEANUP_JSON json_t *survey = opened(json_object_get(c->last[FRAME_SETTINGS], "survey"));
    json_take_u64(survey, "recheck_ms", 100000000, &recheck, NULL);
    assert_int_equal(recheck, 3600000);
    CLEANUP_FREE char *also = json_write(json_object_get(survey, "also"));
    assert_string_equal(also, "[\"file./etc/hosts\",\"sysctl.vm.swappiness\"]");
    struct client *later = client_hello("lx2", INSTANCE);
    CLEANUP_JSON json_t *again = opened(json_object_get(later->last[FRAME_WELCOME], "survey"));
    assert_int_equal(json_array_size(json_object_get(again, "also")), 2);
    assert_true(revision_of(survey) > revision_of(before));
    assert_int_equal(revision_of(again), revision_of(survey));
}

/* With the order that collectors pass on; once for each other list. */
static void the_controllers_are_told_to_all(void **state)
{
    struct client *c = client_hello("lx1", INSTANCE);
    CLEANUP_JSON json_t *before = opened(json_object_get(c->last[FRAME_WELCOME], "survey"));
    assert_null(json_object_get(before, "controllers"));
    agents_set_controllers(w.agents, json_pack("[s,s]", "c1:6120", "c2:6120"));
    run_until(c->count[FRAME_SETTINGS] == 1);
    agents_set_controllers(w.agents, json_pack("[s,s]", "c1:6120", "c2:6120"));
    const struct mono until = mono_add(mono_now(), span_ms(1200)); /* what changed is told each half second */
    run_until(mono_now().ns > until.ns);
    assert_int_equal(c->count[FRAME_SETTINGS], 1);
    struct client *later = client_hello("lx2", INSTANCE);
    CLEANUP_JSON json_t *survey = opened(json_object_get(c->last[FRAME_SETTINGS], "survey"));
    CLEANUP_JSON json_t *again = opened(json_object_get(later->last[FRAME_WELCOME], "survey"));
    CLEANUP_FREE char *told = json_write(json_object_get(survey, "controllers"));
    assert_string_equal(told, "[\"c1:6120\",\"c2:6120\"]");
    assert_true(json_equal(json_object_get(again, "controllers"), json_object_get(survey, "controllers")));
    json_t *many = json_array();
    for (int i = 0; i < AGENTS_CONTROLLERS_MAX + 3; i++)
        json_array_append_new(many, json_string("c9:1"));
    agents_set_controllers(w.agents, many);
    run_until(c->count[FRAME_SETTINGS] == 2);
    CLEANUP_JSON json_t *last = opened(json_object_get(c->last[FRAME_SETTINGS], "survey"));
    assert_int_equal(json_array_size(json_object_get(last, "controllers")), AGENTS_CONTROLLERS_MAX);
}

static void it_ends_while_many_are_connected(void **state)
{
    CLEANUP_FREE char *token = world_token("lx[1-20]", 60000);
    for (int i = 0; i < 100; i++) {
        char name[8];
        snprintf(name, sizeof name, "n%d", i);
        client_hello(name, INSTANCE);
    }
    client_new("lx1");
    join(token, "lx7");
    assert_true(agents_count(w.agents) >= 101);
    world_reload("HeartBeatInterval = 7");
    world_stop();
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_name_is_the_certificates),
        TEST(without_a_certificate_nobody_is_a_node),
        TEST(the_first_frame_is_hello_or_join),
        TEST(hello_comes_once),
        TEST(frames_that_do_not_fit_are_counted),
        TEST(a_hello_that_lacks_something_is_refused),
        TEST(welcome_says_what_holds),
        TEST(a_later_controller_of_the_same_state_is_told),
        TEST(one_that_is_in_no_file_is_heard_too),
        TEST(a_silent_connection_is_closed),
        TEST(garbage_ends_its_own_session_and_nothing_else),
        TEST(a_body_that_is_no_object_is_refused),
        TEST(nothing_is_read_after_a_refusal),
        TEST(a_heartbeat_says_that_the_node_lives),
        TEST(odd_work_is_unknown_and_not_idle),
        TEST(a_replayed_heartbeat_counts_for_nothing),
        TEST(a_heartbeat_of_another_boot_or_instance_is_refused),
        TEST(a_second_live_agent_of_one_name_is_refused_and_reported),
        TEST(the_same_agent_may_come_over_a_new_connection),
        TEST(a_change_without_a_base_makes_us_ask_for_the_whole),
        TEST(a_shortfall_is_told_when_it_comes_and_when_it_goes),
        TEST(a_token_is_good_for_one_certificate),
        TEST(a_token_that_is_wrong_or_late_or_for_another_is_refused),
        TEST(join_comes_once_and_in_bounds),
        TEST(one_that_leaves_while_it_joins_is_forgotten),
        TEST(a_certificate_is_renewed_for_the_same_name),
        TEST(nothing_else_is_renewed),
        TEST(ten_equal_nodes_are_asked_for_one_list),
        TEST(when_one_does_not_answer_another_one_is_asked),
        TEST(a_fingerprint_of_another_boot_counts_for_nothing),
        TEST(the_same_as_nothing_is_asked_for_anew),
        TEST(a_list_that_is_a_lie_marks_the_node_alone),
        TEST(a_node_is_told_to_read_its_fingerprint),
        TEST(a_reload_is_told_to_all),
        TEST(the_controllers_are_told_to_all),
        TEST(names_of_classes_are_told_to_all),
        TEST(it_ends_while_many_are_connected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
