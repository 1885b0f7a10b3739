/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/collect/ledger.h"

#include "base/text.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { PORT = 6120 };

/* A ledger of the collector lx01 that hears lx[02-04], interval 10 s; what it sends is kept. */
struct book {
    struct ledger *l;
    struct mono now;
    struct text sent; /* bodies, a line each */
    size_t largest;
    int n;
};

static void share(struct book *b, uint64_t epoch, const char *nodes)
{
    CLEANUP_HOSTLIST struct hostlist h = {0};
    assert_int_equal(hostlist_parse(nodes, &h, NULL), 0);
    ledger_share(b->l, b->now, epoch, &h);
}

static void want(struct book *b, const char *nodes)
{
    CLEANUP_HOSTLIST struct hostlist h = {0};
    assert_int_equal(hostlist_parse(nodes, &h, NULL), 0);
    ledger_want(b->l, &h);
}

static int open_book(void **state)
{
    struct book *b = mem_alloc(sizeof *b);
    b->now.ns = span_s(1000).ns;
    b->l = ledger_create("lx01", "c0");
    ledger_interval(b->l, span_s(10), (struct span){0}, span_s(0));
    share(b, 1, "lx[02-04]");
    *state = b;
    return 0;
}

static int close_book(void **state)
{
    struct book *b = *state;
    ledger_destroy(b->l);
    text_fini(&b->sent);
    free(b);
    return 0;
}

static void pass(struct book *b, int64_t ms)
{
    b->now = mono_add(b->now, span_ms(ms));
}

static int hello_of(struct book *b, const char *name, const char *boot, const char *instance)
{
    struct body_hello h = {.version = "0.1.0", .inventory = "abc"};
    snprintf(h.name, sizeof h.name, "%s", name);
    snprintf(h.boot, sizeof h.boot, "%s", boot);
    snprintf(h.instance, sizeof h.instance, "%s", instance);
    return ledger_hello(b->l, b->now, &h, NULL);
}

static bool beat_of(struct book *b, const char *name, const char *instance, uint64_t seq, const char *work)
{
    struct body_heartbeat h = {.boot = "b1", .seq = seq, .uptime_s = 60, .work = mem_dup(work)};
    snprintf(h.instance, sizeof h.instance, "%s", instance);
    bool taken = ledger_heartbeat(b->l, b->now, name, &h);
    free(h.work);
    return taken;
}

static bool inventory_of(struct book *b, const char *name, const char *hash, size_t bytes)
{
    struct body_inventory r = {.instance = "i1", .members = mem_alloc(bytes + 32)};
    snprintf(r.hash, sizeof r.hash, "%s", hash);
    snprintf(r.members, bytes + 32, "\"set\":{\"x\":\"%0*d\"}", (int)bytes, 0);
    bool taken = ledger_inventory(b->l, name, &r);
    free(r.members);
    return taken;
}

static void all_say(struct book *b, uint64_t seq)
{
    static const char *const names[] = {"lx02", "lx03", "lx04"};
    for (size_t i = 0; i < 3; i++) {
        if (seq == 1)
            assert_int_equal(hello_of(b, names[i], "b1", "i1"), 0);
        assert_true(beat_of(b, names[i], "i1", seq, "[]"));
    }
    ledger_self(b->l);
}

static void emit(void *arg, const char *body, size_t len)
{
    struct book *b = arg;
    json_t *json = json_read(body, len, NULL);
    assert_non_null(json);
    json_decref(json);
    text_add_bytes(&b->sent, body, len);
    text_add_char(&b->sent, '\n');
    b->largest = len > b->largest ? len : b->largest;
    b->n++;
}

static const char *batch(struct book *b)
{
    text_clear(&b->sent);
    b->largest = 0;
    b->n = 0;
    ledger_batch(b->l, b->now, PORT, emit, b);
    return b->sent.s;
}

static const char *news(struct book *b)
{
    text_clear(&b->sent);
    b->largest = 0;
    b->n = 0;
    ledger_batch_news(b->l, b->now, PORT, emit, b);
    return b->sent.s ? b->sent.s : "";
}

/* One turn of the timer: tells of those that were found in the turn before, then looks. */
static const char *missed(struct book *b, bool *found, int64_t *next_ms)
{
    struct mono next;
    text_clear(&b->sent);
    ledger_batch_missed(b->l, PORT, emit, b);
    *found = ledger_find_missed(b->l, b->now, &next);
    *next_ms = next.ns == INT64_MAX ? -1 : span_to_ms(mono_sub(next, b->now));
    return b->sent.s ? b->sent.s : "";
}

static void folds_nodes_that_were_heard_and_their_news(void **state)
{
    struct book *b = *state;
    all_say(b, 1);
    assert_string_equal(batch(b), "{\"epoch\":1,\"seq\":1,\"port\":6120,\"heard\":\"lx[01-04]\",\"changed\":["
                                  "{\"name\":\"lx02\",\"boot\":\"b1\",\"instance\":\"i1\",\"seq\":1,\"work\":"
                                  "[],\"uptime_s\":60,\"version\":\"0.1.0\","
                                  "\"inventory\":\"abc\"},"
                                  "{\"name\":\"lx03\",\"boot\":\"b1\",\"instance\":\"i1\",\"seq\":1,\"work\":"
                                  "[],\"uptime_s\":60,\"version\":\"0.1.0\","
                                  "\"inventory\":\"abc\"},"
                                  "{\"name\":\"lx04\",\"boot\":\"b1\",\"instance\":\"i1\",\"seq\":1,\"work\":"
                                  "[],\"uptime_s\":60,\"version\":\"0.1.0\","
                                  "\"inventory\":\"abc\"}]}\n");
}

static void says_only_the_heard_nodes_when_nothing_is_new(void **state)
{
    struct book *b = *state;
    all_say(b, 1);
    batch(b);
    all_say(b, 2);
    assert_string_equal(batch(b), "{\"epoch\":1,\"seq\":2,\"port\":6120,\"heard\":\"lx[01-04]\"}\n");
    beat_of(b, "lx03", "i1", 3, "[\"slurm.7\"]");
    assert_string_equal(
        batch(b), "{\"epoch\":1,\"seq\":3,\"port\":6120,\"heard\":\"lx03\",\"changed\":["
                  "{\"name\":\"lx03\",\"boot\":\"b1\",\"instance\":\"i1\",\"seq\":3,\"work\":[\"slurm.7\"],"
                  "\"uptime_s\":60,\"version\":\"0.1.0\",\"inventory\":\"abc\"}]}\n");
    assert_string_equal(batch(b), "{\"epoch\":1,\"seq\":4,\"port\":6120,\"heard\":\"\"}\n");
}

static void is_due_when_all_were_heard(void **state)
{
    struct book *b = *state;
    all_say(b, 1);
    assert_true(ledger_due(b->l, b->now));
    batch(b);
    assert_false(ledger_due(b->l, b->now));
    pass(b, 10000);
    beat_of(b, "lx02", "i1", 2, "[]");
    beat_of(b, "lx03", "i1", 2, "[]");
    beat_of(b, "lx04", "i1", 2, "[]");
    assert_false(ledger_due(b->l, b->now));
    ledger_self(b->l);
    assert_true(ledger_due(b->l, b->now));
}

/* The controller waits for batches by its own clock, whatever shares it sends meanwhile. */
static void a_new_share_puts_no_batch_off(void **state)
{
    struct book *b = *state;
    struct mono deadline = ledger_deadline(b->l);
    pass(b, 9000);
    share(b, 2, "lx[02-09]");
    assert_int_equal(ledger_deadline(b->l).ns, deadline.ns);
}

static void is_due_after_150_percent_of_the_interval(void **state)
{
    struct book *b = *state;
    ledger_self(b->l);
    pass(b, 14999);
    assert_false(ledger_due(b->l, b->now));
    pass(b, 1);
    assert_true(ledger_due(b->l, b->now));
    assert_int_equal(mono_sub(ledger_deadline(b->l), b->now).ns, 0);
    assert_non_null(strstr(batch(b), "\"heard\":\"lx01\""));
}

static void a_share_without_nodes_is_the_collector_alone(void **state)
{
    struct book *b = *state;
    share(b, 2, "");
    assert_int_equal(ledger_count(b->l), 0);
    ledger_self(b->l);
    assert_true(ledger_due(b->l, b->now));
    assert_string_equal(batch(b), "{\"epoch\":2,\"seq\":1,\"port\":6120,\"heard\":\"lx01\"}\n");
}

static void refuses_nodes_that_are_not_in_the_share(void **state)
{
    struct book *b = *state;
    assert_int_equal(hello_of(b, "lx09", "b1", "i1"), -EACCES);
    assert_false(beat_of(b, "lx09", "i1", 1, "[]"));
    assert_false(inventory_of(b, "lx09", "h", 1));
    assert_null(strstr(batch(b), "lx09"));
}

static void an_epoch_keeps_rows_and_drops_rows(void **state)
{
    struct book *b = *state;
    all_say(b, 1);
    share(b, 2, "lx[03-05]");
    assert_int_equal(ledger_epoch(b->l), 2);
    assert_false(ledger_has(b->l, "lx02"));
    assert_true(ledger_has(b->l, "lx05"));
    assert_false(ledger_has(b->l, "lx01"));
    CLEANUP_FREE char *nodes = ledger_nodes(b->l);
    assert_string_equal(nodes, "lx[03-05]");
    assert_false(ledger_due(b->l, b->now));
    assert_non_null(strstr(batch(b), "\"heard\":\"lx[01,03-04]\""));
    assert_true(beat_of(b, "lx03", "i1", 2, "[]"));
    assert_false(beat_of(b, "lx02", "i1", 2, "[]"));
}

static void drops_replays(void **state)
{
    struct book *b = *state;
    hello_of(b, "lx02", "b1", "i1");
    assert_true(beat_of(b, "lx02", "i1", 5, "[]"));
    assert_false(beat_of(b, "lx02", "i1", 5, "[]"));
    assert_false(beat_of(b, "lx02", "i1", 4, "[]"));
    assert_false(beat_of(b, "lx02", "i0", 6, "[]"));
    ledger_gone(b->l, "lx02", "i1");
    assert_false(beat_of(b, "lx02", "i1", 6, "[]"));
    assert_int_equal(hello_of(b, "lx02", "b1", "i1"), 0);
    assert_false(beat_of(b, "lx02", "i1", 5, "[]"));
    assert_true(beat_of(b, "lx02", "i1", 6, "[]"));
}

static void refuses_and_reports_a_second_agent_of_a_name(void **state)
{
    struct book *b = *state;
    all_say(b, 1);
    batch(b);
    assert_int_equal(hello_of(b, "lx03", "b9", "i9"), -EBUSY);
    assert_true(beat_of(b, "lx03", "i1", 2, "[]"));
    assert_string_equal(batch(b), "{\"epoch\":1,\"seq\":2,\"port\":6120,\"heard\":\"lx03\",\"changed\":["
                                  "{\"name\":\"lx03\",\"duplicate\":true}]}\n");
    assert_null(strstr(batch(b), "duplicate"));
}

static void nobody_takes_the_collectors_own_name(void **state)
{
    struct book *b = *state;
    assert_int_equal(hello_of(b, "lx01", "b1", "i1"), -EBUSY);
    assert_int_equal(hello_of(b, "lx01", "b1", "c0"), -EBUSY);
    assert_non_null(strstr(batch(b), "{\"name\":\"lx01\",\"duplicate\":true}"));
}

static void a_silent_agent_is_replaced(void **state)
{
    struct book *b = *state;
    all_say(b, 1);
    pass(b, 29999);
    assert_int_equal(hello_of(b, "lx03", "b2", "i2"), -EBUSY);
    pass(b, 1);
    assert_int_equal(hello_of(b, "lx03", "b2", "i2"), 1);
    /* The old link's end is no news of the new agent. */
    batch(b);
    ledger_gone(b->l, "lx03", "i1");
    assert_null(strstr(batch(b), "gone"));
}

static void the_same_instance_may_come_again(void **state)
{
    struct book *b = *state;
    all_say(b, 1);
    batch(b);
    assert_int_equal(hello_of(b, "lx03", "b1", "i1"), 1);
    assert_null(strstr(batch(b), "changed"));
}

static void says_when_a_node_was_heard_that_is_not_heard_any_more(void **state)
{
    struct book *b = *state;
    bool found;
    int64_t next;
    ledger_interval(b->l, span_s(10), span_s(15), span_s(30));
    assert_string_equal(missed(b, &found, &next), "");
    assert_int_equal(next, -1);
    all_say(b, 1);
    batch(b);
    pass(b, 5000);
    assert_true(beat_of(b, "lx02", "i1", 2, "[]"));
    assert_true(beat_of(b, "lx04", "i1", 2, "[]"));
    assert_string_equal(missed(b, &found, &next), "");
    assert_false(found);
    assert_int_equal(next, 10000); /* lx03, which was heard 5 s ago */
    pass(b, 10007);
    assert_string_equal(missed(b, &found, &next), "");
    assert_true(found);
    assert_string_equal(missed(b, &found, &next),
                        "{\"epoch\":1,\"seq\":2,\"port\":6120,\"heard\":\"\",\"missed\":["
                        "{\"name\":\"lx03\",\"ago_ms\":15007}]}\n");
    assert_true(beat_of(b, "lx02", "i1", 3, "[]"));
    assert_true(beat_of(b, "lx04", "i1", 3, "[]"));
    assert_string_equal(missed(b, &found, &next), "");
    assert_int_equal(next, 14993); /* and again when it may be taken down */
    pass(b, 14993);
    missed(b, &found, &next);
    assert_true(found);
    assert_non_null(strstr(missed(b, &found, &next), "{\"name\":\"lx03\",\"ago_ms\":30000}"));
}

/* The collector stood still: what came meanwhile is read before it says that nothing did. */
static void heartbeats_read_between_two_turns_count(void **state)
{
    struct book *b = *state;
    bool found;
    int64_t next;
    all_say(b, 1);
    pass(b, 60000);
    missed(b, &found, &next);
    assert_true(found);
    assert_true(beat_of(b, "lx02", "i1", 2, "[]"));
    ledger_gone(b->l, "lx03", "i1");
    pass(b, 60000);
    assert_string_equal(
        missed(b, &found, &next),
        "{\"epoch\":1,\"seq\":1,\"port\":6120,\"heard\":\"\",\"missed\":["
        "{\"name\":\"lx04\",\"ago_ms\":60000}]}\n"); /* as it was found, however late it is told */
}

static void says_which_nodes_are_gone(void **state)
{
    struct book *b = *state;
    all_say(b, 1);
    batch(b);
    assert_false(ledger_has_news(b->l));
    ledger_gone(b->l, "lx04", "i1");
    assert_true(ledger_has_news(b->l)); /* it is told before the batch is due */
    text_clear(&b->sent);
    ledger_batch_news(b->l, b->now, PORT, emit, b);
    assert_false(ledger_has_news(b->l));
    assert_non_null(strstr(b->sent.s, "\"name\":\"lx04\""));
    assert_non_null(strstr(b->sent.s, "\"gone\":true,\"ago_ms\":0}"));
    assert_null(strstr(batch(b), "gone"));
    assert_int_equal(hello_of(b, "lx04", "b1", "i2"), 0);
    assert_true(beat_of(b, "lx04", "i2", 1, "[]"));
    assert_non_null(strstr(batch(b), "\"instance\":\"i2\""));
}

/* Or the controller would take the numbers of the one before for its own, and refuse what it sends itself. */
static void numbers_of_another_instance_begin_anew(void **state)
{
    struct book *b = *state;
    all_say(b, 1);
    assert_true(beat_of(b, "lx04", "i1", 3, "[]"));
    ledger_gone(b->l, "lx04", "i1");
    assert_int_equal(hello_of(b, "lx04", "b1", "i2"), 0);
    assert_non_null(strstr(batch(b), "{\"name\":\"lx04\",\"boot\":\"b1\",\"instance\":\"i2\",\"seq\":0,"));
    assert_true(beat_of(b, "lx04", "i2", 1, "[]"));
}

/* The controller counts its silence, and the next batch may be later than its timeout lasts. */
static void tells_at_once_of_a_missed_node_that_is_back(void **state)
{
    struct book *b = *state;
    all_say(b, 1);
    batch(b);
    beat_of(b, "lx02", "i1", 2, "[]");
    beat_of(b, "lx03", "i1", 2, "[]");
    pass(b, 15000);
    assert_true(ledger_due(b->l, b->now));
    assert_string_equal(batch(b), "{\"epoch\":1,\"seq\":2,\"port\":6120,\"heard\":\"lx[02-03]\"}\n");
    beat_of(b, "lx02", "i1", 3, "[]");
    assert_false(ledger_has_news(b->l)); /* it was told of: it waits for the batch */
    beat_of(b, "lx04", "i1", 3, "[]");
    assert_true(ledger_has_news(b->l));
    assert_string_equal(news(b), "{\"epoch\":1,\"seq\":3,\"port\":6120,\"heard\":\"\",\"changed\":["
                                 "{\"name\":\"lx04\",\"boot\":\"b1\",\"instance\":\"i1\",\"seq\":3,\"work\":"
                                 "[],\"uptime_s\":60,\"version\":\"0.1.0\",\"inventory\":\"abc\"}]}\n");
    beat_of(b, "lx04", "i1", 4, "[]");
    assert_false(ledger_has_news(b->l));
    assert_string_equal(batch(b), "{\"epoch\":1,\"seq\":4,\"port\":6120,\"heard\":\"lx[02,04]\"}\n");
}

/* One that another collector had before, or that a controller that came back has heard nothing of. */
static void tells_at_once_of_a_node_that_is_new_to_the_controller(void **state)
{
    struct book *b = *state;
    hello_of(b, "lx02", "b1", "i1");
    assert_false(ledger_has_news(b->l));
    beat_of(b, "lx02", "i1", 1, "[]");
    assert_true(ledger_has_news(b->l));
    assert_non_null(strstr(news(b), "\"heard\":\"\",\"changed\":[{\"name\":\"lx02\""));
    assert_false(ledger_has_news(b->l));
    batch(b);
    beat_of(b, "lx02", "i1", 2, "[]");
    assert_false(ledger_has_news(b->l));
    ledger_forget_told(b->l, b->now);
    beat_of(b, "lx02", "i1", 3, "[]");
    assert_true(ledger_has_news(b->l));
    share(b, 2, "lx[02-05]");
    news(b);
    hello_of(b, "lx05", "b1", "i1");
    beat_of(b, "lx05", "i1", 1, "[]");
    assert_true(ledger_has_news(b->l));
}

static void tells_a_new_controller_everything(void **state)
{
    struct book *b = *state;
    all_say(b, 1);
    batch(b);
    ledger_forget_told(b->l, b->now);
    all_say(b, 2);
    const char *sent = batch(b);
    assert_non_null(strstr(sent, "\"name\":\"lx02\""));
    assert_non_null(strstr(sent, "\"name\":\"lx04\""));
    assert_null(strstr(sent, "\"name\":\"lx01\""));
}

/* What was heard while the controller was away revives nobody when it is back. */
static void old_heartbeats_revive_nobody(void **state)
{
    struct book *b = *state;
    all_say(b, 1);
    batch(b);
    all_say(b, 2);
    ledger_gone(b->l, "lx03", "i1");
    pass(b, 600000);
    ledger_forget_told(b->l, b->now);
    beat_of(b, "lx02", "i1", 3, "[]");
    const char *sent = batch(b);
    assert_non_null(strstr(sent, "\"heard\":\"lx02\""));
    assert_non_null(strstr(sent, "\"name\":\"lx02\""));
    assert_non_null(strstr(
        sent,
        "{\"name\":\"lx03\",\"boot\":\"b1\",\"instance\":\"i1\",\"seq\":2,\"work\":[],"
        "\"uptime_s\":60,\"version\":\"0.1.0\",\"inventory\":\"abc\",\"gone\":true,\"ago_ms\":600000}"));
    assert_null(strstr(sent, "\"name\":\"lx04\""));
}

static void hello_alone_is_no_sign_of_life(void **state)
{
    struct book *b = *state;
    hello_of(b, "lx02", "b1", "i1");
    assert_string_equal(batch(b), "{\"epoch\":1,\"seq\":1,\"port\":6120,\"heard\":\"\"}\n");
    beat_of(b, "lx02", "i1", 1, "[]");
    assert_non_null(strstr(batch(b), "\"changed\":[{\"name\":\"lx02\""));
}

static void hands_inventories_on(void **state)
{
    struct book *b = *state;
    all_say(b, 1);
    batch(b);
    assert_true(inventory_of(b, "lx02", "h1", 1));
    assert_true(inventory_of(b, "lx02", "h2", 1));
    const char *sent = batch(b);
    assert_null(strstr(sent, "changed"));
    assert_non_null(strstr(
        sent,
        "\"inventories\":[{\"name\":\"lx02\",\"instance\":\"i1\",\"hash\":\"h1\",\"set\":{\"x\":\"0\"}},"
        "{\"name\":\"lx02\",\"instance\":\"i1\",\"hash\":\"h2\",\"set\":{\"x\":\"0\"}}]"));
    assert_null(strstr(batch(b), "inventories"));
}

static void bounds_waiting_inventories(void **state)
{
    struct book *b = *state;
    all_say(b, 1);
    batch(b);
    int taken = 0;
    while (taken < 1000 && inventory_of(b, "lx02", "h", 40000))
        taken++;
    assert_true(taken > 20 && taken * 40000 <= LEDGER_PENDING_BYTES_MAX);
    assert_true(inventory_of(b, "lx03", "h3", 40000));
    beat_of(b, "lx02", "i1", 2, "[]");
    assert_null(strstr(batch(b), "\"inventories\":[{\"name\":\"lx02\""));
    assert_non_null(strstr(b->sent.s, "\"inventory\":\"h\""));
}

static void inventories_go_at_once_and_alone(void **state)
{
    struct book *b = *state;
    all_say(b, 1);
    batch(b);
    assert_false(ledger_has_news(b->l));
    inventory_of(b, "lx02", "h", 40000);
    inventory_of(b, "lx03", "h", 40000);
    assert_true(ledger_has_news(b->l));
    text_clear(&b->sent);
    b->n = 0;
    ledger_batch_news(b->l, b->now, PORT, emit, b);
    assert_int_equal(b->n, 2);
    assert_non_null(strstr(b->sent.s, "\"heard\":\"\",\"inventories\""));
    assert_false(ledger_has_news(b->l));
}

static void asks_few_at_a_time(void **state)
{
    struct book *b = *state;
    share(b, 2, "n[1-20]");
    for (int i = 1; i <= 20; i++) {
        char name[8];
        snprintf(name, sizeof name, "n%d", i);
        assert_int_equal(hello_of(b, name, "b1", "i1"), 0);
    }
    want(b, "n[1-20],elsewhere");
    for (int i = 0; i < LEDGER_ASKED_MAX; i++)
        assert_non_null(ledger_ask(b->l, b->now));
    assert_null(ledger_ask(b->l, b->now));
    inventory_of(b, "n1", "h", 1);
    assert_string_equal(ledger_ask(b->l, b->now), "n17");
    assert_null(ledger_ask(b->l, b->now));
    pass(b, 30000); /* those that do not answer are passed over */
    assert_string_equal(ledger_ask(b->l, b->now), "n18");
    assert_string_equal(ledger_ask(b->l, b->now), "n19");
    assert_string_equal(ledger_ask(b->l, b->now), "n20");
    assert_null(ledger_ask(b->l, b->now));
}

static void asks_only_nodes_that_are_there(void **state)
{
    struct book *b = *state;
    want(b, "lx[01-02]");
    assert_null(ledger_ask(b->l, b->now));
    hello_of(b, "lx02", "b1", "i1");
    assert_string_equal(ledger_ask(b->l, b->now), "lx02");
}

static void splits_what_does_not_fit_a_frame(void **state)
{
    struct book *b = *state;
    CLEANUP_TEXT struct text work = {0};
    text_add(&work, "[\"");
    for (int i = 0; i < 20000; i++)
        text_add_char(&work, 'w');
    text_add(&work, "\"]");
    for (int i = 2; i <= 4; i++) {
        char name[8];
        snprintf(name, sizeof name, "lx%02d", i);
        hello_of(b, name, "b1", "i1");
        beat_of(b, name, "i1", 1, work.s);
    }
    inventory_of(b, "lx02", "h", 40000);
    inventory_of(b, "lx03", "h", 40000);
    batch(b);
    assert_true(b->n >= 4);
    assert_true(b->largest <= FRAME_BODY_BYTES_MAX);
    assert_non_null(strstr(b->sent.s, "\"heard\":\"lx[02-04]\""));
    assert_non_null(strstr(b->sent.s, "\"heard\":\"\""));
}

static void splits_long_lists_of_nodes(void **state)
{
    struct book *b = *state;
    CLEANUP_HOSTLIST struct hostlist h = {0};
    for (unsigned i = 0; i < 10000; i++) {
        char name[32];
        snprintf(name, sizeof name, "%c%x-%u-x", 'a' + (int)(i % 26), i * 2654435761U, i);
        hostlist_add(&h, name);
    }
    ledger_share(b->l, b->now, 2, &h);
    for (size_t i = 0; i < h.n; i++) {
        assert_int_equal(hello_of(b, h.names[i], "b1", "i1"), 0);
        assert_true(beat_of(b, h.names[i], "i1", 1, "[]"));
    }
    batch(b);
    assert_true(b->largest <= FRAME_BODY_BYTES_MAX);
    for (size_t i = 0; i < h.n; i++)
        assert_true(beat_of(b, h.names[i], "i1", 2, "[]"));
    batch(b);
    assert_true(b->n > 1);
    assert_true(b->largest <= BODY_PART_BYTES_MAX);
}

#define HEX_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define HEX_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

static struct fingerprint named(const char *hex)
{
    struct fingerprint f;
    assert_true(fingerprint_parse(hex, &f));
    return f;
}

/* hex NULL: the same. */
static bool fingerprint_of(struct book *b, const char *name, const char *boot, const char *hex)
{
    struct body_fingerprint f = {.same = !hex};
    snprintf(f.boot, sizeof f.boot, "%s", boot);
    if (hex)
        f.fingerprint = named(hex);
    return ledger_fingerprint(b->l, name, &f);
}

static void tells_a_fingerprint_once_and_at_once(void **state)
{
    struct book *b = *state;
    all_say(b, 1);
    batch(b);
    assert_false(ledger_has_news(b->l));
    assert_true(fingerprint_of(b, "lx02", "b1", HEX_A));
    assert_true(ledger_has_news(b->l));
    assert_string_equal(news(b), "{\"epoch\":1,\"seq\":2,\"port\":6120,\"heard\":\"\",\"fingerprints\":["
                                 "{\"name\":\"lx02\",\"fingerprint\":\"" HEX_A "\",\"boot\":\"b1\"}]}\n");
    assert_false(ledger_has_news(b->l));
    all_say(b, 2);
    assert_null(strstr(batch(b), "fingerprint"));
}

static void folds_nodes_that_read_the_same_again(void **state)
{
    struct book *b = *state;
    all_say(b, 1);
    fingerprint_of(b, "lx02", "b1", HEX_A);
    fingerprint_of(b, "lx03", "b1", HEX_A);
    assert_true(fingerprint_of(b, "lx03", "b1", NULL)); /* before anybody was told: that says it all */
    assert_null(strstr(batch(b), "verified"));
    assert_true(fingerprint_of(b, "lx02", "b1", NULL));
    assert_true(fingerprint_of(b, "lx03", "b1", NULL));
    assert_false(fingerprint_of(b, "lx04", "b1", NULL)); /* as what? */
    assert_true(ledger_has_news(b->l));
    assert_string_equal(news(b),
                        "{\"epoch\":1,\"seq\":2,\"port\":6120,\"heard\":\"\",\"verified\":\"lx[02-03]\"}\n");
    assert_string_equal(news(b), "");
}

static void a_fingerprint_counts_for_its_boot(void **state)
{
    struct book *b = *state;
    all_say(b, 1);
    assert_false(fingerprint_of(b, "lx02", "b0", HEX_A));
    assert_true(fingerprint_of(b, "lx02", "b1", HEX_A));
    ledger_gone(b->l, "lx02", "i1");
    assert_false(fingerprint_of(b, "lx02", "b1", HEX_B));
    assert_int_equal(hello_of(b, "lx02", "b2", "i2"), 0);
    assert_false(fingerprint_of(b, "lx02", "b2", NULL)); /* nothing was said on this boot */
    assert_null(strstr(batch(b), "fingerprint"));
    assert_false(fingerprint_of(b, "lx09", "b1", HEX_A));
    assert_false(fingerprint_of(b, "lx01", "b1", HEX_A));
}

static void tells_a_fingerprint_after_the_boot_that_it_counts_for(void **state)
{
    struct book *b = *state;
    hello_of(b, "lx02", "b1", "i1");
    fingerprint_of(b, "lx02", "b1", HEX_A);
    assert_false(ledger_has_news(b->l));
    assert_string_equal(news(b), "");
    beat_of(b, "lx02", "i1", 1, "[]");
    batch(b);
    const char *changed = strstr(b->sent.s, "\"changed\""), *said = strstr(b->sent.s, "\"fingerprints\"");
    assert_true(changed && said && changed < said);
}

static void tells_a_new_controller_the_fingerprints(void **state)
{
    struct book *b = *state;
    all_say(b, 1);
    fingerprint_of(b, "lx02", "b1", HEX_A);
    fingerprint_of(b, "lx03", "b1", HEX_B);
    batch(b);
    ledger_gone(b->l, "lx03", "i1");
    ledger_forget_told(b->l, b->now);
    assert_null(strstr(news(b), "fingerprint")); /* nobody was heard yet */
    beat_of(b, "lx02", "i1", 2, "[]");
    batch(b);
    assert_non_null(strstr(b->sent.s, "{\"name\":\"lx02\",\"fingerprint\":\"" HEX_A "\",\"boot\":\"b1\"}"));
    assert_null(strstr(b->sent.s, HEX_B)); /* it is gone: it will say it anew */
}

static bool part_of(struct book *b, const char *name, uint64_t part, uint64_t parts, size_t bytes)
{
    struct body_components c = {.part = part, .parts = parts, .members = mem_alloc(bytes + 64)};
    snprintf(c.members, bytes + 64, "\"part\":%d,\"components\":{\"x\":\"%0*d\"}", (int)part, (int)bytes, 0);
    bool taken = ledger_components(b->l, name, &c);
    free(c.members);
    return taken;
}

static void want_components(struct book *b, const char *nodes)
{
    CLEANUP_HOSTLIST struct hostlist h = {0};
    struct fingerprint f = named(HEX_A);
    assert_int_equal(hostlist_parse(nodes, &h, NULL), 0);
    ledger_want_components(b->l, &h, &f);
}

static const char *ask_components(struct book *b)
{
    struct fingerprint f, a = named(HEX_A);
    const char *name = ledger_ask_components(b->l, b->now, &f);
    if (name)
        assert_true(fingerprint_equal(&f, &a));
    return name;
}

/* Everything that waits, a frame each. */
static const char *components(struct book *b)
{
    text_clear(&b->sent);
    b->largest = 0;
    b->n = 0;
    while (ledger_batch_components(b->l, PORT, emit, b))
        ;
    return b->sent.s ? b->sent.s : "";
}

static void hands_lists_on_in_their_order(void **state)
{
    struct book *b = *state;
    all_say(b, 1);
    batch(b);
    want_components(b, "lx02,lx09");
    assert_string_equal(ask_components(b), "lx02");
    assert_null(ask_components(b));
    assert_true(part_of(b, "lx02", 0, 2, 1));
    assert_true(part_of(b, "lx02", 1, 2, 1));
    assert_true(ledger_has_components(b->l));
    assert_false(ledger_has_news(b->l));
    assert_string_equal(
        components(b),
        "{\"epoch\":1,\"seq\":2,\"port\":6120,\"heard\":\"\",\"components\":[{\"name\":\"lx02\","
        "\"part\":0,\"components\":{\"x\":\"0\"}}]}\n"
        "{\"epoch\":1,\"seq\":3,\"port\":6120,\"heard\":\"\",\"components\":[{\"name\":\"lx02\","
        "\"part\":1,\"components\":{\"x\":\"0\"}}]}\n");
    assert_false(ledger_has_components(b->l));
}

static void hands_no_list_on_that_nobody_asked_for(void **state)
{
    struct book *b = *state;
    all_say(b, 1);
    assert_false(part_of(b, "lx02", 0, 1, 1));
    want_components(b, "lx02");
    assert_string_equal(ask_components(b), "lx02");
    assert_true(part_of(b, "lx02", 0, 1, 1));
    assert_false(part_of(b, "lx02", 0, 1, 1)); /* it was the last part */
    want_components(b, "lx02");
    ask_components(b);
    assert_true(part_of(b, "lx02", 0, 3, 1));
    assert_false(part_of(b, "lx02", 2, 3, 1)); /* out of order: the list is lost */
    assert_false(part_of(b, "lx02", 1, 3, 1));
    assert_false(ledger_has_components(b->l));
}

static void bounds_waiting_lists(void **state)
{
    struct book *b = *state;
    int taken = 0;
    all_say(b, 1);
    want_components(b, "lx02");
    ask_components(b);
    while (part_of(b, "lx02", (uint64_t)taken, 500, 40 << 10))
        taken++;
    assert_int_equal(taken, LEDGER_COMPONENTS_BYTES_MAX / ((40 << 10) + 33));
    assert_false(ledger_has_components(b->l)); /* without one part the others are of no use */
}

static void asks_few_for_their_lists_at_a_time(void **state)
{
    struct book *b = *state;
    all_say(b, 1);
    want_components(b, "lx[02-04]");
    assert_string_equal(ask_components(b), "lx02");
    assert_string_equal(ask_components(b), "lx03");
    assert_null(ask_components(b));
    fingerprint_of(b, "lx02", "b1", HEX_B); /* it answers that it is another one */
    assert_string_equal(ask_components(b), "lx04");
    want_components(b, "lx02");
    pass(b, 29999);
    assert_null(ask_components(b));
    pass(b, 1);
    assert_string_equal(ask_components(b), "lx02");
}

static void forgets_what_a_lost_controller_wanted(void **state)
{
    struct book *b = *state;
    all_say(b, 1);
    want_components(b, "lx[02-04]");
    ask_components(b);
    part_of(b, "lx02", 0, 2, 1);
    ledger_forget_told(b->l, b->now);
    assert_false(ledger_has_components(b->l));
    assert_false(part_of(b, "lx02", 1, 2, 1));
    assert_null(ask_components(b));
}

static void says_once_which_nodes_are_to_read_anew(void **state)
{
    struct book *b = *state;
    CLEANUP_HOSTLIST struct hostlist h = {0};
    all_say(b, 1);
    ledger_gone(b->l, "lx04", "i1");
    assert_int_equal(hostlist_parse("lx[01-02],lx04,lx09", &h, NULL), 0);
    ledger_recheck(b->l, &h);
    assert_true(ledger_take_recheck(b->l, "lx02"));
    assert_false(ledger_take_recheck(b->l, "lx02"));
    assert_false(ledger_take_recheck(b->l, "lx03"));
    assert_false(ledger_take_recheck(b->l, "lx04")); /* it reads when it comes back */
    assert_false(ledger_take_recheck(b->l, "lx09"));
}

static void splits_long_lists_of_the_verified(void **state)
{
    struct book *b = *state;
    CLEANUP_HOSTLIST struct hostlist h = {0};
    for (unsigned i = 0; i < 6000; i++) {
        char name[32];
        snprintf(name, sizeof name, "%c%x-%u-x", 'a' + (int)(i % 26), i * 2654435761U, i);
        hostlist_add(&h, name);
    }
    ledger_share(b->l, b->now, 2, &h);
    for (size_t i = 0; i < h.n; i++) {
        hello_of(b, h.names[i], "b1", "i1");
        beat_of(b, h.names[i], "i1", 1, "[]");
        assert_true(fingerprint_of(b, h.names[i], "b1", HEX_A));
    }
    batch(b);
    assert_true(b->largest <= FRAME_BODY_BYTES_MAX);
    for (size_t i = 0; i < h.n; i++)
        assert_true(fingerprint_of(b, h.names[i], "b1", NULL));
    news(b);
    assert_true(b->n > 1);
    assert_true(b->largest <= BODY_PART_BYTES_MAX);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, open_book, close_book)
    const struct CMUnitTest tests[] = {
        T(folds_nodes_that_were_heard_and_their_news),
        T(says_only_the_heard_nodes_when_nothing_is_new),
        T(is_due_when_all_were_heard),
        T(is_due_after_150_percent_of_the_interval),
        T(a_new_share_puts_no_batch_off),
        T(a_share_without_nodes_is_the_collector_alone),
        T(refuses_nodes_that_are_not_in_the_share),
        T(an_epoch_keeps_rows_and_drops_rows),
        T(drops_replays),
        T(refuses_and_reports_a_second_agent_of_a_name),
        T(nobody_takes_the_collectors_own_name),
        T(a_silent_agent_is_replaced),
        T(the_same_instance_may_come_again),
        T(numbers_of_another_instance_begin_anew),
        T(says_which_nodes_are_gone),
        T(says_when_a_node_was_heard_that_is_not_heard_any_more),
        T(heartbeats_read_between_two_turns_count),
        T(tells_at_once_of_a_missed_node_that_is_back),
        T(tells_at_once_of_a_node_that_is_new_to_the_controller),
        T(tells_a_new_controller_everything),
        T(old_heartbeats_revive_nobody),
        T(hello_alone_is_no_sign_of_life),
        T(hands_inventories_on),
        T(bounds_waiting_inventories),
        T(inventories_go_at_once_and_alone),
        T(asks_few_at_a_time),
        T(asks_only_nodes_that_are_there),
        T(splits_what_does_not_fit_a_frame),
        T(splits_long_lists_of_nodes),
        T(tells_a_fingerprint_once_and_at_once),
        T(folds_nodes_that_read_the_same_again),
        T(a_fingerprint_counts_for_its_boot),
        T(tells_a_fingerprint_after_the_boot_that_it_counts_for),
        T(tells_a_new_controller_the_fingerprints),
        T(hands_lists_on_in_their_order),
        T(hands_no_list_on_that_nobody_asked_for),
        T(bounds_waiting_lists),
        T(asks_few_for_their_lists_at_a_time),
        T(forgets_what_a_lost_controller_wanted),
        T(says_once_which_nodes_are_to_read_anew),
        T(splits_long_lists_of_the_verified),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
