/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/sessions/agents_world_test.h"

#define COLLECTORS_TWO "HeartBeatInterval = 10\nCollectorNodes = lx1,lx2"
#define COLLECTORS_ONE "HeartBeatInterval = 10\nCollectorNodes = lx1"
#define COLLECTORS_THREE "HeartBeatInterval = 10\nCollectorNodes = lx[1-3]"
#define COLLECTORS_NONE "HeartBeatInterval = 10"

static const char *share_of(const struct client *c)
{
    return text_in(c, FRAME_SHARE, "nodes");
}

static unsigned epoch_of(const struct client *c)
{
    uint64_t epoch = 0;
    json_take_u64(c->last[FRAME_SHARE], "epoch", UINT32_MAX, &epoch, NULL);
    return (unsigned)epoch;
}

/* Sends a batch and waits until it was read: the last change in it is that of a probe. */
static void batch(struct client *c, const char *rest)
{
    static unsigned marks;
    unsigned before = c->count[FRAME_WANT];
    client_send(c, FRAME_BATCH, "{\"epoch\":%u,\"seq\":1,\"port\":4711%s}", epoch_of(c), rest);
    client_send(c, FRAME_BATCH, "{\"inventories\":[{\"name\":\"%s\",\"hash\":\"%u\"}]}",
                text_in(c, FRAME_HELLO, "name"), marks++);
    run_until(c->closed || c->count[FRAME_WANT] > before);
}

static struct client *collector(const char *name, const char *nodes)
{
    struct client *c = collector_hello(name, INSTANCE, 4711, nodes);
    assert_int_equal(c->count[FRAME_WELCOME], 1);
    c->last[FRAME_HELLO] = json_pack("{s:s}", "name", name); /* its own, for batch() */
    run_until(c->count[FRAME_SHARE]);
    return c;
}

/* The only collector, with all other nodes. */
static struct client *only_collector(void)
{
    struct client *c = collector("lx1", "");
    run_until(strcmp(share_of(c), "lx[2-20]") == 0);
    return c;
}

#define CHANGED(name, instance) \
    "{\"name\":\"" name "\",\"boot\":\"" BOOT "\",\"instance\":\"" instance "\",\"seq\":1,\"work\":[]}"

/* --- shares ---------------------------------------------------------------------------------- */

static void a_collector_that_responds_gets_its_share(void **state)
{
    struct client *c = only_collector();
    CLEANUP_JSON json_t *all = agents_collectors(w.agents);
    CLEANUP_FREE char *text = json_write(all);
    assert_string_equal(text, "[{\"name\":\"lx1\",\"responds\":true,\"nodes\":19}]");
    assert_false(c->closed);
}

static void one_that_says_no_port_gets_none_until_it_does(void **state)
{
    struct client *c = client_hello("lx1", INSTANCE);
    run_until(c->count[FRAME_SHARE]);
    assert_string_equal(share_of(c), "");
    c->last[FRAME_HELLO] = json_pack("{s:s}", "name", "lx1");
    batch(c, "");
    run_until(strcmp(share_of(c), "lx[2-20]") == 0);
}

static void shares_are_balanced_when_another_one_comes(void **state)
{
    struct client *one = collector("lx1", "");
    w.agents->shares_from.ns = 0;
    run_until(strcmp(share_of(one), "lx[3-20]") == 0);
    struct client *two = collector("lx2", "");
    run_until(strcmp(share_of(one), "lx[3-11]") == 0);
    run_until(strcmp(share_of(two), "lx[12-20]") == 0);
}

static void one_that_is_lost_leaves_its_nodes_to_the_others(void **state)
{
    struct client *one = collector("lx1", ""), *two = collector("lx2", "");
    run_until(strcmp(share_of(two), "lx[12-20]") == 0);
    w.agents->shares_from.ns = 0;
    client_cut(one);
    run_until(strcmp(share_of(two), "lx[3-20]") == 0);
    one = collector("lx1", "");
    run_until(strcmp(share_of(two), "lx[3-11]") == 0);
    run_until(strcmp(share_of(one), "lx[12-20]") == 0);
}

static void a_collector_keeps_its_share_after_a_restart(void **state)
{
    struct client *one = collector("lx1", "lx[12-20]"), *two = collector("lx2", "lx[3-11]");
    run_until(!w.agents->balance_at.ns);
    assert_string_equal(share_of(one), "lx[12-20]");
    assert_string_equal(share_of(two), "lx[3-11]");
}

static void a_list_is_read_up_to_twice_an_even_share(void **state)
{
    world_nodes(10000);
    struct client *one = collector("lx1", "lx[11-6000]");
    assert_string_equal(share_of(one), "lx[11-6000]");
    struct client *two = collector("lx2", "lx[11-8000]"); /* two times 3,333 and 1,024 */
    assert_string_equal(share_of(two), "");
}

static void names_that_fill_no_frame_are_cut_to_one(void **state)
{
    struct roster r = {.n = 500, .nodes = mem_alloc(500 * sizeof *r.nodes), .partition_max = 31};
    for (size_t i = 0; i < r.n; i++) {
        char name[250];
        memset(name, 'a' + (int)(i % 26), sizeof name);
        snprintf(name + 200, 50, "%c%c", 'a' + (int)(i / 26), 'a' + (int)(i % 26));
        r.nodes[i].name = mem_dup(name);
        spec_init(&r.nodes[i].spec);
    }
    cluster_configure(w.cluster, &r, NULL);
    struct client *c = collector("lx1", "");
    unsigned first = epoch_of(c);
    run_until(epoch_of(c) > first);
    assert_false(c->closed);
    assert_in_range(strlen(share_of(c)), 40000, FRAME_BODY_BYTES_MAX);
}

/* --- agents ---------------------------------------------------------------------------------- */

static void a_node_is_sent_to_its_collector(void **state)
{
    struct client *early = client_hello("lx5", INSTANCE);
    assert_int_equal(early->count[FRAME_WELCOME], 1);
    only_collector();
    run_until(early->count[FRAME_REDIRECT]);
    run_until(early->closed);
    struct client *late = client_hello("lx6", INSTANCE);
    assert_int_equal(late->count[FRAME_REDIRECT], 1);
    assert_int_equal(late->count[FRAME_WELCOME], 0);
    const json_t *to = json_object_get(late->last[FRAME_REDIRECT], "collector");
    CLEANUP_FREE char *text = json_write(to);
    assert_string_equal(text, "{\"name\":\"lx1\",\"host\":\"127.0.0.1\",\"port\":4711}");
    run_until(late->closed);
    assert_null(seen("lx6")->session);
}

static void one_that_reports_once_stays(void **state)
{
    only_collector();
    struct client *c = client_new("lx5");
    client_send(c, FRAME_HELLO,
                "{\"name\":\"lx5\",\"boot\":\"" BOOT "\",\"instance\":\"" INSTANCE "\",\"once\":true}");
    run_until(c->count[FRAME_WELCOME]);
    client_heartbeat(c, INSTANCE, 1);
    settle(c);
    assert_int_equal(seen("lx5")->beat.liveness, LIVENESS_LIVE);
}

static void one_that_comes_back_unheard_is_heard_here(void **state)
{
    struct client *c1 = only_collector();
    struct client *c = client_hello("lx5", INSTANCE);
    assert_int_equal(c->count[FRAME_REDIRECT], 1);
    c = client_hello("lx5", INSTANCE);
    assert_int_equal(c->count[FRAME_WELCOME], 1);
    /* Once its collector has heard it, and it left, it may be sent there again. */
    client_cut(c);
    batch(c1, ",\"changed\":[" CHANGED("lx5", INSTANCE) ",{\"name\":\"lx5\",\"gone\":true}]");
    c = client_hello("lx5", INSTANCE);
    assert_int_equal(c->count[FRAME_REDIRECT], 1);
}

static void one_that_left_a_collector_that_has_not_missed_it_is_heard_here(void **state)
{
    struct client *c = only_collector();
    batch(c, ",\"changed\":[" CHANGED("lx5", INSTANCE) "]");
    struct client *n = client_hello("lx5", INSTANCE);
    assert_int_equal(n->count[FRAME_WELCOME], 1);
    assert_int_equal(n->count[FRAME_REDIRECT], 0);
    batch(c, ",\"changed\":[" CHANGED("lx6", INSTANCE) ",{\"name\":\"lx6\",\"gone\":true}]");
    n = client_hello("lx6", INSTANCE);
    assert_int_equal(n->count[FRAME_REDIRECT], 1);
    /* An agent that began anew has left nobody. */
    batch(c, ",\"changed\":[" CHANGED("lx7", INSTANCE) "]");
    n = client_hello("lx7", OTHER_INSTANCE);
    assert_int_equal(n->count[FRAME_REDIRECT], 1);
}

static void one_that_was_kept_is_sent_again_later(void **state)
{
    only_collector();
    client_hello("lx5", INSTANCE);
    struct client *c = client_hello("lx5", INSTANCE);
    assert_int_equal(c->count[FRAME_WELCOME], 1);
    w.agents->sent.list[node("lx5")->id].at.ns -= span_s(601).ns;
    w.agents->sent.kept_at.ns -= span_s(601).ns;
    for (struct session *s = w.agents->collecting; s; s = s->next_collecting)
        s->came.ns -= span_s(700).ns;
    run_until(c->count[FRAME_REDIRECT]);
}

static void one_that_came_here_while_its_collector_was_away_is_sent_back(void **state)
{
    client_cut(only_collector());
    run_until(!w.agents->sessions);
    struct client *c = client_hello("lx5", INSTANCE);
    assert_int_equal(c->count[FRAME_WELCOME], 1);
    collector("lx1", ""); /* before its nodes were given to others */
    run_until(c->count[FRAME_REDIRECT]);
}

static void a_collector_is_never_sent_away(void **state)
{
    struct client *one = only_collector();
    struct client *two = client_new("lx2");
    client_send(two, FRAME_HELLO,
                "{\"name\":\"lx2\",\"boot\":\"" BOOT "\",\"instance\":\"" INSTANCE "\",\"once\":true}");
    run_until(two->count[FRAME_WELCOME]);
    w.agents->sessions->prev->once = false; /* it is here while it belongs to the share of the other */
    w.agents->shares_from.ns = 0;
    world_reload(COLLECTORS_TWO);
    run_until(one->count[FRAME_SETTINGS] && two->count[FRAME_SETTINGS]);
    run_until(strcmp(share_of(one), "lx[3-20]") == 0);
    assert_int_equal(two->count[FRAME_REDIRECT], 0);
    assert_int_equal(two->count[FRAME_SHARE], 1);
}

/* --- batches --------------------------------------------------------------------------------- */

static void it_speaks_for_its_own_nodes(void **state)
{
    struct client *c = only_collector();
    batch(c,
          ",\"changed\":[" CHANGED("lx5", INSTANCE) "," CHANGED("lx6", INSTANCE) "],\"heard\":\"lx[1,5]\"");
    assert_int_equal(seen("lx5")->beat.liveness, LIVENESS_LIVE);
    assert_ptr_equal(seen("lx5")->collector, node("lx1"));
    assert_ptr_equal(seen("lx5")->session, w.agents->collecting);
    assert_int_equal(seen("lx1")->beat.liveness, LIVENESS_LIVE);
    struct mono before = seen("lx5")->beat.heard, other = seen("lx6")->beat.heard;
    batch(c, ",\"heard\":\"lx5\"");
    assert_true(seen("lx5")->beat.heard.ns > before.ns);
    assert_int_equal(seen("lx6")->beat.heard.ns, other.ns);
    batch(c, ",\"changed\":[{\"name\":\"lx5\",\"gone\":true}],\"heard\":\"lx5\"");
    assert_null(seen("lx5")->session);
}

static void it_speaks_for_nobody_elses(void **state)
{
    struct client *one = collector("lx1", "lx[3-11]"), *two = collector("lx2", "lx[12-20]");
    run_until(!w.agents->balance_at.ns);
    batch(one, ",\"changed\":[" CHANGED("lx3", INSTANCE) "]");
    world_log_clear();
    batch(two, ",\"changed\":[" CHANGED("lx4",
                                        INSTANCE) ",{\"name\":\"lx3\",\"gone\":true}],\"heard\":\"lx[2-4]\"");
    batch(two,
          ",\"changed\":[" CHANGED("nobody", INSTANCE) "],\"inventories\":[{\"name\":\"lx4\",\"hash\":\"1\","
                                                       "\"full\":true,\"set\":{\"CPUs\":9}}]");
    assert_int_equal(seen("lx4")->beat.liveness, LIVENESS_UNHEARD);
    assert_null(seen("lx4")->report.json);
    assert_non_null(seen("lx3")->session);
    assert_null(node("nobody"));
    assert_true(world_logged("collector.foreign lx2: speaks for 4 nodes"));
    assert_false(world_logged("speaks for 2 nodes")); /* once for each share */
}

static void one_that_is_no_collector_speaks_for_nobody(void **state)
{
    struct client *c = collector_hello("lx5", INSTANCE, 4711, "lx[6-20]");
    run_until(c->count[FRAME_SHARE]);
    assert_string_equal(share_of(c), "(none)"); /* collect no more: its nodes would be heard by nobody */
    client_send(c, FRAME_BATCH,
                "{\"port\":4711,\"changed\":[" CHANGED("lx6", INSTANCE) "],\"heard\":\"lx6\"}");
    settle(c);
    assert_int_equal(seen("lx6")->beat.instance, 0);
}

static void inventories_come_by_way_of_it(void **state)
{
    struct client *c = only_collector();
    client_send(c, FRAME_BATCH, "{\"changed\":[" CHANGED("lx5", INSTANCE) "]}");
    run_until(c->count[FRAME_WANT]);
    assert_string_equal(text_in(c, FRAME_WANT, "nodes"), "lx5");
    batch(c, ",\"inventories\":[{\"name\":\"lx5\",\"hash\":\"1\",\"full\":true,\"set\":{\"CPUs\":1}}]");
    assert_int_equal(seen("lx5")->report.cpus.value, 1);
    assert_true(world_logged("node.shortfall lx5"));
}

static void odd_work_in_a_batch_is_unknown(void **state)
{
    struct client *c = only_collector();
    batch(c, ",\"changed\":[{\"name\":\"lx5\",\"boot\":\"" BOOT "\",\"instance\":\"" INSTANCE
             "\",\"seq\":1,\"work\":[{\"a\":1}]}]");
    assert_int_equal(seen("lx5")->beat.liveness, LIVENESS_LIVE);
    assert_int_equal(seen("lx5")->work, WORK_UNKNOWN);
}

static void a_duplicate_at_the_collector_is_reported(void **state)
{
    struct client *c = only_collector();
    batch(c, ",\"changed\":[{\"name\":\"lx5\",\"duplicate\":true}]");
    assert_true(world_logged("node.duplicate lx5"));
}

static void garbage_in_a_batch_is_passed_over(void **state)
{
    static const char *const odd[] = {
        ",\"heard\":\"lx[\"",
        ",\"heard\":7,\"changed\":7,\"inventories\":7",
        ",\"changed\":[1,null,[],{},\"x\"],\"inventories\":[1,null,[],{},\"x\"]",
        ",\"changed\":[{\"name\":\"lx5\"},{\"name\":\"lx5\",\"boot\":7,\"instance\":7},{\"name\":[]}]",
        ",\"changed\":[{\"name\":\"lx5\",\"boot\":\"" BOOT "\",\"instance\":\"" INSTANCE
        "\",\"seq\":\"x\",\"version\":[]}]",
        ",\"inventories\":[{\"name\":\"lx5\",\"full\":true},{\"name\":\"lx5\",\"full\":true,\"hash\":\"1\","
        "\"set\":3}]",
        ",\"heard\":\"lx[2-200000]\"",
        ",\"fingerprints\":7,\"verified\":7,\"components\":7",
        ",\"fingerprints\":[1,null,[],{},{\"name\":\"lx1\"},{\"name\":\"lx1\",\"fingerprint\":7,\"boot\":7}],"
        "\"verified\":\"lx[\",\"components\":[1,null,[],{},{\"name\":\"lx1\",\"part\":-1}]",
    };
    struct client *c = only_collector();
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
        batch(c, odd[i]);
        assert_false(c->closed);
    }
    assert_null(seen("lx5")->report.json);
    assert_int_equal(seen("lx5")->beat.seq, 0);
}

/* --- fingerprints ---------------------------------------------------------------------------- */

#define SAID(name, boot) "{\"name\":\"" name "\",\"fingerprint\":\"" A_FINGERPRINT "\",\"boot\":\"" boot "\"}"

/* The newest WANT is of these components. */
static bool wants_of(const struct client *c, const char *name)
{
    return c->last[FRAME_WANT] && strcmp(text_in(c, FRAME_WANT, "components"), A_FINGERPRINT) == 0 &&
           strcmp(text_in(c, FRAME_WANT, "nodes"), name) == 0;
}

static void fingerprints_come_by_way_of_it(void **state)
{
    struct client *c = only_collector();
    client_send(
        c, FRAME_BATCH,
        "{\"changed\":[" CHANGED("lx5", INSTANCE) "," CHANGED("lx6", INSTANCE) "],\"fingerprints\":[" SAID(
            "lx5", BOOT) "," SAID("lx6", BOOT) "," SAID("lx1", BOOT) "]}");
    run_until(wants_of(c, "lx5"));
    assert_string_equal(fingerprint_of("lx6"), A_FINGERPRINT);
    assert_string_equal(fingerprint_of("lx1"), A_FINGERPRINT); /* its own */
    batch(c, ",\"components\":[{\"name\":\"lx5\",\"fingerprint\":\"" A_FINGERPRINT
             "\",\"part\":0,\"parts\":1," A_LIST "}]");
    assert_true(components_known("lx6"));
    struct mono before = standing_of("lx6").verified, other = standing_of("lx5").verified;
    batch(c, ",\"verified\":\"lx[6-7]\"");
    assert_true(standing_of("lx6").verified.ns > before.ns);
    assert_int_equal(standing_of("lx5").verified.ns, other.ns);
}

static void it_says_nothing_of_the_fingerprints_of_others(void **state)
{
    struct client *one = collector("lx1", "lx[3-11]"), *two = collector("lx2", "lx[12-20]");
    run_until(!w.agents->balance_at.ns);
    batch(one, ",\"changed\":[" CHANGED("lx3", INSTANCE) "],\"fingerprints\":[" SAID("lx3", BOOT) "]");
    struct mono before = standing_of("lx3").verified;
    world_log_clear();
    batch(two,
          ",\"fingerprints\":[" SAID("lx4", BOOT) "],\"verified\":\"lx3\",\"components\":[{\"name\":\"lx3\","
                                                  "\"fingerprint\":\"" A_FINGERPRINT
                                                  "\",\"part\":0,\"parts\":1,\"components\":{\"a\":\"b\"}}]");
    assert_string_equal(fingerprint_of("lx4"), "");
    assert_int_equal(standing_of("lx3").verified.ns, before.ns);
    assert_false(standing_of("lx3").lies);
    assert_true(world_logged("collector.foreign lx2: speaks for 3 nodes"));
}

static void a_fingerprint_is_of_a_session_and_of_its_boot(void **state)
{
    struct client *c = only_collector();
    batch(c, ",\"fingerprints\":[" SAID("lx5", BOOT) "]"); /* nothing was said of lx5 yet */
    assert_string_equal(fingerprint_of("lx5"), "");
    batch(c, ",\"changed\":[" CHANGED("lx5", INSTANCE) "],\"fingerprints\":[" SAID("lx5", OTHER_BOOT) "]");
    assert_string_equal(fingerprint_of("lx5"), "");
    batch(c, ",\"changed\":[{\"name\":\"lx5\",\"gone\":true}],\"fingerprints\":[" SAID("lx5", BOOT) "]");
    assert_string_equal(fingerprint_of("lx5"), "");
    batch(c, ",\"changed\":[" CHANGED("lx5", INSTANCE) "],\"fingerprints\":[" SAID("lx5", BOOT) "]");
    assert_string_equal(fingerprint_of("lx5"), A_FINGERPRINT);
}

static void a_lie_marks_its_node_and_not_the_collector(void **state)
{
    struct client *c = only_collector();
    batch(c, ",\"changed\":[" CHANGED("lx5", INSTANCE) "],\"fingerprints\":[" SAID("lx5", BOOT) "]");
    batch(c, ",\"components\":[{\"name\":\"lx5\",\"fingerprint\":\"" A_FINGERPRINT
             "\",\"part\":0,\"parts\":1,\"components\":{\"a\":\"b\"}}]");
    assert_true(standing_of("lx5").lies);
    assert_false(standing_of("lx1").lies);
    assert_true(world_logged("alarm.fingerprint lx5"));
    assert_false(c->closed);
}

static void its_nodes_are_told_through_it_to_read_their_fingerprints(void **state)
{
    struct client *c = only_collector();
    batch(c, ",\"changed\":[" CHANGED("lx5", INSTANCE) "," CHANGED("lx7", INSTANCE) "]");
    CLEANUP_HOSTLIST struct hostlist nodes = {0};
    assert_int_equal(hostlist_parse("lx[5-7]", &nodes, NULL), 0);
    assert_int_equal(agents_recheck(w.agents, &nodes), 2);
    run_until(c->count[FRAME_RECHECK]);
    assert_string_equal(text_in(c, FRAME_RECHECK, "nodes"), "lx[5,7]");
    hostlist_fini(&nodes);
    assert_int_equal(hostlist_parse("lx1", &nodes, NULL), 0);
    assert_int_equal(agents_recheck(w.agents, &nodes), 1);
    run_until(c->count[FRAME_RECHECK] == 2);
    assert_string_equal(text_in(c, FRAME_RECHECK, "nodes"), "(none)"); /* its own */
}

/* --- when it is lost ------------------------------------------------------------------------- */

static void nodes_of_a_lost_collector_are_excused(void **state)
{
    struct client *c = only_collector();
    batch(c, ",\"changed\":[" CHANGED("lx5", INSTANCE) "],\"heard\":\"lx1\"");
    struct mono before = seen("lx5")->beat.heard, own = seen("lx1")->beat.heard;
    client_cut(c);
    run_until(!w.agents->sessions && !regain_busy(w.agents));
    assert_null(seen("lx5")->session);
    assert_true(seen("lx5")->beat.heard.ns > before.ns);
    assert_int_equal(seen("lx1")->beat.heard.ns, own.ns); /* its own silence is its own */
    assert_true(world_logged("collector.lost lx1: does not respond; its 1 nodes move"));
}

static void one_that_never_responded_excuses_nobody(void **state)
{
    struct client *c = only_collector();
    batch(c, ",\"changed\":[" CHANGED("lx5", INSTANCE) "]");
    client_cut(c);
    run_until(!w.agents->sessions && !regain_busy(w.agents));
    struct mono before = seen("lx5")->beat.heard;
    world_log_clear();
    for (int i = 0; i < 3; i++) {
        client_cut(client_hello("lx1", INSTANCE));
        run_until(!w.agents->sessions && !regain_busy(w.agents));
    }
    assert_int_equal(seen("lx5")->beat.heard.ns, before.ns);
    assert_false(world_logged("collector.lost"));
}

static void one_that_comes_back_before_it_was_missed_stays_a_collector(void **state)
{
    struct client *old = only_collector();
    batch(old, ",\"changed\":[" CHANGED("lx5", INSTANCE) "]");
    struct client *c = collector("lx1", "lx[2-20]");
    run_until(old->closed);
    run_until(!w.agents->sessions->next);
    assert_true(share_responds(w.agents->share, node("lx1")));
    assert_null(seen("lx5")->session); /* until the new connection speaks for it */
    batch(c, ",\"changed\":[" CHANGED("lx5", INSTANCE) "]");
    assert_ptr_equal(seen("lx5")->session, w.agents->sessions);
    assert_string_equal(share_of(c), "lx[2-20]");
}

static void one_that_sends_no_batch_in_time_is_lost(void **state)
{
    struct client *c = only_collector();
    w.agents->sessions->batch.ns -= span_s(18).ns;
    run_until(c->closed);
    run_until(world_logged("collector.lost lx1"));
}

/* News may be before who was heard, and its nodes are not taken down before it said that it does not hear
 * them. */
static void any_batch_gives_it_more_time(void **state)
{
    struct client *c = only_collector();
    struct session *s = w.agents->sessions;
    struct mono before = s->batch;
    world_reload(COLLECTORS_ONE);
    run_until(c->count[FRAME_SETTINGS]);
    assert_int_equal(s->batch.ns, before.ns);
    batch(c, ",\"changed\":[" CHANGED("lx5", INSTANCE) "]");
    assert_true(s->batch.ns > before.ns);
}

static void nobody_is_late_when_we_stood_still(void **state)
{
    struct client *c = only_collector();
    struct session *s = w.agents->sessions;
    s->batch.ns -= span_s(18).ns;
    w.agents->looked.ns -= span_s(18).ns;
    struct mono before = w.agents->looked;
    run_until(w.agents->looked.ns != before.ns);
    s->batch = mono_now(); /* now it was read */
    before = w.agents->looked;
    run_until(w.agents->looked.ns != before.ns);
    batch(c, "");
    assert_false(c->closed);
}

static void a_shorter_interval_holds_from_when_it_is_told(void **state)
{
    struct client *c = only_collector();
    w.agents->sessions->batch.ns -= span_s(9).ns;
    world_reload("HeartBeatInterval = 1\nCollectorNodes = lx1");
    collectors_second(w.agents, mono_now());
    run_until(c->count[FRAME_SETTINGS]);
    collectors_second(w.agents, mono_now());
    batch(c, "");
    assert_false(c->closed);
}

/* --- reload ---------------------------------------------------------------------------------- */

static void a_reload_makes_and_unmakes_collectors(void **state)
{
    struct client *c = only_collector();
    batch(c, ",\"changed\":[" CHANGED("lx5", INSTANCE) "]");
    struct mono before = seen("lx5")->beat.heard;
    world_reload(COLLECTORS_NONE);
    run_until(strcmp(share_of(c), "(none)") == 0 && !regain_busy(w.agents));
    assert_null(seen("lx5")->session);
    assert_true(seen("lx5")->beat.heard.ns > before.ns);
    client_heartbeat(c, INSTANCE, 2);
    run_until(seen("lx1")->beat.seq == 2); /* it goes on as a node */
    world_reload(COLLECTORS_ONE);
    run_until(strcmp(share_of(c), "") == 0);
    batch(c, "");
    run_until(strcmp(share_of(c), "lx[2-20]") == 0);
    world_reload(COLLECTORS_NONE);
    client_cut(c);
}

static void it_ends_while_collectors_are_connected(void **state)
{
    struct client *one = collector("lx1", ""), *two = collector("lx2", "");
    run_until(!w.agents->balance_at.ns);
    batch(one, ",\"changed\":[" CHANGED("lx3", INSTANCE) "]");
    batch(two, ",\"changed\":[" CHANGED("lx12", INSTANCE) "]");
    world_stop();
    assert_false(world_logged("collector.lost"));
}

#define TEST(f, lines) \
    cmocka_unit_test_prestate_setup_teardown(f, world_setup, world_teardown, (void *)(lines))

int main(void)
{
    static char one[] = COLLECTORS_ONE, two[] = COLLECTORS_TWO, three[] = COLLECTORS_THREE;
    const struct CMUnitTest tests[] = {
        TEST(a_collector_that_responds_gets_its_share, one),
        TEST(one_that_says_no_port_gets_none_until_it_does, one),
        TEST(shares_are_balanced_when_another_one_comes, two),
        TEST(one_that_is_lost_leaves_its_nodes_to_the_others, two),
        TEST(a_collector_keeps_its_share_after_a_restart, two),
        TEST(a_list_is_read_up_to_twice_an_even_share, three),
        TEST(names_that_fill_no_frame_are_cut_to_one, one),
        TEST(a_node_is_sent_to_its_collector, one),
        TEST(one_that_reports_once_stays, one),
        TEST(one_that_comes_back_unheard_is_heard_here, one),
        TEST(one_that_left_a_collector_that_has_not_missed_it_is_heard_here, one),
        TEST(one_that_was_kept_is_sent_again_later, one),
        TEST(one_that_came_here_while_its_collector_was_away_is_sent_back, one),
        TEST(a_collector_is_never_sent_away, one),
        TEST(it_speaks_for_its_own_nodes, one),
        TEST(it_speaks_for_nobody_elses, two),
        TEST(one_that_is_no_collector_speaks_for_nobody, one),
        TEST(inventories_come_by_way_of_it, one),
        TEST(odd_work_in_a_batch_is_unknown, one),
        TEST(a_duplicate_at_the_collector_is_reported, one),
        TEST(garbage_in_a_batch_is_passed_over, one),
        TEST(fingerprints_come_by_way_of_it, one),
        TEST(it_says_nothing_of_the_fingerprints_of_others, two),
        TEST(a_fingerprint_is_of_a_session_and_of_its_boot, one),
        TEST(a_lie_marks_its_node_and_not_the_collector, one),
        TEST(its_nodes_are_told_through_it_to_read_their_fingerprints, one),
        TEST(nodes_of_a_lost_collector_are_excused, one),
        TEST(one_that_never_responded_excuses_nobody, one),
        TEST(one_that_comes_back_before_it_was_missed_stays_a_collector, one),
        TEST(one_that_sends_no_batch_in_time_is_lost, one),
        TEST(any_batch_gives_it_more_time, one),
        TEST(nobody_is_late_when_we_stood_still, one),
        TEST(a_shorter_interval_holds_from_when_it_is_told, one),
        TEST(a_reload_makes_and_unmakes_collectors, one),
        TEST(it_ends_while_collectors_are_connected, two),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
