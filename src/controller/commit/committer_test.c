/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/commit/committer.h"

#include "cluster/said_test.h"
#include "store/change.h"
#include "store/engine.h"
#include "store/fixture_test.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

/* Replace the C library's functions: a disk refuses this many syncs, and may lose what it refuses. */
static int sync_fails;
static bool sync_loses;
enum { FDS = 64 };
static off_t synced[FDS];

static int sync_may_fail(long call, int fd)
{
    struct stat st;
    if (sync_fails > 0) {
        sync_fails--;
        if (sync_loses && fd < FDS && ftruncate(fd, synced[fd]) != 0)
            abort();
        errno = EIO;
        return -1;
    }
    if (fd < FDS && fstat(fd, &st) == 0)
        synced[fd] = st.st_size;
    return (int)syscall(call, fd);
}

int fsync(int fd)
{
    return sync_may_fail(SYS_fsync, fd);
}

int fdatasync(int fd)
{
    return sync_may_fail(SYS_fdatasync, fd);
}

/* A committer over the real store. Its events and answers are a log. */
struct world {
    uv_loop_t loop;
    char *dir;
    struct store *store;
    struct cluster *c;
    struct committer *k;
    uint64_t term;
    size_t answered, steps;
    int64_t turns;
    struct hostlist told; /* the nodes of on_changed, with the number of calls and of nodes in the largest */
    size_t parts, most;
    bool follows; /* events of commands that this version does not know may come */
    bool is_slow; /* each part takes longer than a turn has time for */
    struct text log;
};

static void on_entry(void *arg, const struct committed *c)
{
    struct world *x = arg;
    const struct store_entry *e = c->entry;
    CLEANUP_FREE char *folded = hostlist_fold((const char *const *)c->changed->names, c->changed->n);
    assert_string_equal(folded, e->nodes);
    if (c->kind < COMMANDS)
        assert_string_equal(command_name(c->kind), e->what);
    else
        assert_true(x->follows);
    assert_true(c->revision == committer_revision(x->k));
    text_printf(&x->log, "entry %s %s %s\n", e->what, e->nodes, e->actor);
}

static void on_changed(void *arg, const struct hostlist *some)
{
    struct world *x = arg;
    struct mono until = mono_add(mono_now(), span_ms(2));
    hostlist_add_all(&x->told, some);
    x->most = some->n > x->most ? some->n : x->most;
    x->parts++;
    while (x->is_slow && mono_now().ns < until.ns)
        ;
}

static void on_store(void *arg, const struct err *why)
{
    struct world *x = arg;
    text_printf(&x->log, "store %s\n", why ? "fails" : "works");
}

static void on_journal(void *arg, const struct err *why)
{
    struct world *x = arg;
    x->steps++;
    if (why)
        text_printf(&x->log, "journal fails\n");
}

static void on_deposed(void *arg, const struct err *why)
{
    struct world *x = arg;
    text_add(&x->log, "deposed\n");
}

static int take(void *arg, const char *key, const char *value, struct err *e)
{
    return cluster_put(arg, key, value, e);
}

static void configure(struct cluster *c)
{
    struct roster r = {.partition_max = 31, .n = 300, .nodes = mem_alloc(300 * sizeof *r.nodes)};
    for (size_t i = 0; i < r.n; i++) {
        char name[32];
        snprintf(name, sizeof name, "lx%03zu", i + 1);
        r.nodes[i].name = mem_dup(name);
        spec_init(&r.nodes[i].spec);
    }
    r.tenants = mem_alloc(2 * sizeof *r.tenants);
    r.tenants[r.n_tenants++] = (struct tenant){mem_dup("physics"), 2, QUOTA_NONE};
    r.tenants[r.n_tenants++] = (struct tenant){mem_dup("bio"), 2, QUOTA_NONE};
    cluster_configure(c, &r, NULL);
}

static void open_world(struct world *x)
{
    const struct committer_events events = {x, on_entry, on_changed, on_store, on_journal, on_deposed};
    uint64_t revision;
    x->store = fixture_open(x->dir);
    assert_int_equal(store_campaign(x->store, &x->term, NULL), 0);
    x->c = cluster_create();
    assert_int_equal(store_load(x->store, take, x->c, &revision, NULL), 0);
    configure(x->c);
    const struct store_keep keep = {.bytes = UINT64_MAX, .directory = x->dir};
    x->k = committer_create(&x->loop, x->c, x->store, x->term, revision, &keep, &events);
}

static void close_world(struct world *x)
{
    committer_destroy(x->k);
    uv_run(&x->loop, UV_RUN_DEFAULT);
    cluster_destroy(x->c);
    store_close(x->store);
}

static int setup(void **state)
{
    struct world *x = mem_alloc(sizeof *x);
    uv_loop_init(&x->loop);
    x->dir = fixture_dir();
    open_world(x);
    *state = x;
    return 0;
}

static struct client_request asked; /* to which the commands of questions belong */

static void forget_request(void)
{
    asked = (struct client_request){0};
}

static int teardown(void **state)
{
    struct world *x = *state;
    forget_request();
    sync_fails = 0;
    sync_loses = false;
    close_world(x);
    assert_int_equal(uv_loop_close(&x->loop), 0);
    fixture_remove(x->dir);
    text_fini(&x->log);
    hostlist_fini(&x->told);
    free(x);
    return 0;
}

struct question {
    struct world *x;
    char name[16];
};

static void on_outcome(void *arg, const struct outcome *o)
{
    struct question *q = arg;
    CLEANUP_FREE char *changed = hostlist_fold((const char *const *)o->changed->names, o->changed->n);
    if (o->folded)
        assert_string_equal(o->folded, changed);
    text_printf(&q->x->log, "%s: ", q->name);
    if (o->rc < 0)
        text_printf(&q->x->log, "%s%s\n", o->rc == STORE_UNKNOWN ? "? " : "", o->why->msg);
    else
        text_printf(&q->x->log, "%s, changed %s%s%s%s%s\n", o->replayed ? "as before" : "ok",
                    *changed ? changed : "nothing", o->claim ? ", claim " : "", o->claim ? o->claim : "",
                    o->would ? ", would: " : "", o->would ? o->would : "");
    q->x->answered++;
    free(q);
}

static void ask_so(struct world *x, bool dry, const char *name, enum command_kind kind, const char *actor,
                   const char *nodes, const char *reason)
{
    CLEANUP_HOSTLIST struct hostlist names = {0};
    assert_int_equal(hostlist_parse(nodes, &names, NULL), 0);
    struct question *q = mem_alloc(sizeof *q);
    q->x = x;
    snprintf(q->name, sizeof q->name, "%s", name);
    struct command cmd = {
        .kind = kind, .actor = actor, .at = {1}, .nodes = &names, .reason = reason, .dry = dry};
    cmd.request = asked;
    said_read(reason, &cmd);
    committer_submit(x->k, &cmd, on_outcome, q);
    said_fini();
}

static void ask(struct world *x, const char *name, enum command_kind kind, const char *actor,
                const char *nodes, const char *reason)
{
    ask_so(x, false, name, kind, actor, nodes, reason);
}

/* Runs the loop until n questions are answered; returns what happened since the last call. */
static const char *wait_for(struct world *x, size_t n)
{
    static char shown[8192];
    while (x->answered < n)
        uv_run(&x->loop, UV_RUN_ONCE);
    x->answered = 0;
    snprintf(shown, sizeof shown, "%s", x->log.len ? x->log.s : "");
    text_clear(&x->log);
    return shown;
}

static size_t count(const char *text, const char *word)
{
    size_t n = 0;
    for (const char *p = text; (p = strstr(p, word)); p++)
        n++;
    return n;
}

/* The work for each of very many nodes is spread over several turns of the loop, and is done before the
 * answer. */
static void test_nodes_of_a_commit_are_told_in_turns(void **state)
{
    struct world *x = *state;
    x->is_slow = true;
    ask(x, "many", COMMAND_DRAIN, "ann", "lx[001-300]", "x");
    for (size_t before = 0; !x->answered; before = x->parts) {
        uv_run(&x->loop, UV_RUN_ONCE);
        assert_in_range(x->parts - before, 0, 1);
    }
    CLEANUP_FREE char *told = hostlist_fold((const char *const *)x->told.names, x->told.n);
    assert_int_equal(x->told.n, 300);
    assert_string_equal(told, "lx[001-300]");
    assert_in_range(x->most, 1, 200);
    assert_non_null(strstr(wait_for(x, 1), "many: ok, changed lx[001-300], claim 1.1\n"));
}

static void test_answered_after_the_stream_and_never_at_once(void **state)
{
    struct world *x = *state;
    ask(x, "a", COMMAND_DRAIN, "root", "lx001", "x");
    assert_int_equal(x->answered, 0);
    assert_int_equal(cluster_find(x->c, "lx001")->n_claims, 0); /* nothing before the commit */
    assert_string_equal(wait_for(x, 1), "entry node.drain lx001 root\na: ok, changed lx001, claim 1.1\n");
    assert_int_equal(cluster_find(x->c, "lx001")->n_claims, 1);
    assert_int_equal(committer_revision(x->k), 1);
}

/* A follower refuses commands. When it leads, its commands wait until the store has been asked. */
static void test_a_follower_becomes_the_leader(void **state)
{
    struct world *x = *state;
    const struct store_keep keep = {.bytes = UINT64_MAX, .directory = x->dir};
    const struct committer_events events = {x, on_entry, on_changed, on_store, on_journal, on_deposed};
    ask(x, "a", COMMAND_DRAIN, "root", "lx001", "x");
    wait_for(x, 1);
    struct cluster *behind = x->c;
    struct committer *leader = x->k;
    uint64_t revision;
    x->c = cluster_create();
    assert_int_equal(store_load(x->store, take, x->c, &revision, NULL), 0);
    configure(x->c);
    x->k = committer_create(&x->loop, x->c, x->store, 0, revision, &keep, &events);
    ask(x, "b", COMMAND_DRAIN, "root", "lx002", "x");
    assert_string_equal(wait_for(x, 1), "b: another controller leads\n");
    committer_destroy(leader);
    committer_lead(x->k, x->term);
    ask(x, "c", COMMAND_DRAIN, "root", "lx001", "x");
    assert_string_equal(wait_for(x, 1), "c: ok, changed nothing, claim 1.1\n");
    committer_depose(x->k);
    ask(x, "d", COMMAND_DRAIN, "root", "lx001", "x");
    assert_string_equal(wait_for(x, 1), "d: another controller leads\n");
    cluster_destroy(behind);
}

static int resolve_no_more(struct store *s, uint64_t after, store_change_fn *fn, void *arg, struct err *e)
{
    return err_set(e, -ERANGE, "the history is gone");
}

/* The store would say the same for ever. */
static void test_a_store_that_cannot_tell_is_loaded_anew(void **state)
{
    struct world *x = *state;
    const struct store_engine *engine = x->store->engine;
    struct store_engine forgetful = *engine;
    forgetful.resolve = resolve_no_more;
    ask(x, "a", COMMAND_DRAIN, "root", "lx001", "x");
    wait_for(x, 1);
    x->store->engine = &forgetful;
    sync_fails = 1;
    ask(x, "b", COMMAND_DRAIN, "root", "lx002", "x");
    const char *log = wait_for(x, 1);
    assert_int_equal(count(log, "deposed\n"), 1);
    assert_int_equal(count(log, "b: ? "), 1);
    ask(x, "c", COMMAND_DRAIN, "root", "lx003", "x");
    assert_string_equal(wait_for(x, 1), "c: another controller leads\n");
    x->store->engine = engine;
}

static void test_waiting_commands_are_one_batch(void **state)
{
    struct world *x = *state;
    double ms;
    for (int i = 1; i <= 50; i++) {
        char node[8];
        snprintf(node, sizeof node, "lx%03d", i);
        ask(x, node, COMMAND_DRAIN, "root", node, "x");
    }
    const char *log = wait_for(x, 50);
    assert_int_equal(count(log, "entry"), 50);
    assert_int_equal(count(log, ": ok"), 50);
    assert_true(strstr(log, "lx001: ok") < strstr(log, "lx002: ok"));
    assert_int_equal(committer_count(x->k, &ms), 1);
}

static void test_the_same_node_waits_for_the_next_batch(void **state)
{
    struct world *x = *state;
    double ms;
    ask(x, "a", COMMAND_DRAIN, "root", "lx[001-002]", "x");
    ask(x, "b", COMMAND_UNDRAIN, "root", "lx001", NULL);
    ask(x, "c", COMMAND_DRAIN, "root", "lx002", "x");
    ask(x, "d", COMMAND_DRAIN, "root", "lx003", "x");
    assert_string_equal(wait_for(x, 4),
                        "entry node.drain lx[001-002] root\na: ok, changed lx[001-002], claim 1.1\n"
                        "c: ok, changed nothing, claim 1.1\n"
                        "entry node.undrain lx001 root\nentry node.drain lx003 root\n"
                        "b: ok, changed lx001\nd: ok, changed lx003, claim 1.3\n");
    assert_int_equal(committer_count(x->k, &ms), 2);
}

static void test_the_same_record_waits_for_the_next_batch(void **state)
{
    struct world *x = *state;
    ask(x, "a", COMMAND_DRAIN, "root", "lx[001-002]", "x");
    wait_for(x, 1);
    ask(x, "b", COMMAND_UNDRAIN, "root", "lx001", NULL);
    ask(x, "c", COMMAND_UNDRAIN, "root", "lx002", NULL);
    wait_for(x, 2);
    assert_null(cluster_claim(x->c, "1.1"));
}

/* The budget has room for each of the two, and not for both together. A command that a switch prevents also
 * waits. */
static void test_two_that_leave_service_are_two_batches(void **state)
{
    static const char limits[] =
        "{\"act\":true,\"out\":0,\"out_class\":100,\"out_group\":100,\"out_partition\":"
        "100,\"surge\":0,\"surge_s\":600,\"remedies_a_week\":5}",
                      trial[] = "{\"check\":\"bench.memory\",\"deadline_s\":60}",
                      on[] = "{\"name\":\"stop\",\"on\":true}", off[] = "{\"name\":\"stop\",\"on\":false}";
    struct world *x = *state;
    ask(x, "limits", COMMAND_REVISE, "fettled", "", limits);
    ask(x, "admit", COMMAND_ADMIT, "fettled", "lx[001-003]", NULL);
    wait_for(x, 2);
    ask(x, "a", COMMAND_TRIAL_BEGIN, "fettled", "lx001", trial);
    ask(x, "b", COMMAND_TRIAL_BEGIN, "fettled", "lx002", trial);
    assert_string_equal(wait_for(x, 2),
                        "entry trial.begin lx001 fettled\na: ok, changed lx001\n"
                        "b: 2 of 300 nodes of the cluster would be out, and at most 1 may be\n");
    ask(x, "end", COMMAND_TRIAL_END, "fettled", "lx001",
        "{\"claim\":\"1.1\",\"check\":\"bench.memory\",\"why\":\"ran\",\"results\":{}}");
    wait_for(x, 1);
    ask(x, "stop", COMMAND_SWITCH, "ann", "", on);
    ask(x, "c", COMMAND_TRIAL_BEGIN, "fettled", "lx003", trial);
    assert_non_null(strstr(wait_for(x, 2), "c: everything is stopped"));
    ask(x, "go on", COMMAND_SWITCH, "ann", "", off);
    ask(x, "d", COMMAND_TRIAL_BEGIN, "fettled", "lx003", trial);
    ask(x, "stop", COMMAND_SWITCH, "ann", "", on);
    const char *log = wait_for(x, 3);
    assert_non_null(strstr(log, "d: ok"));
    assert_true(strstr(log, "d: ok") < strstr(log, "entry switch.set  ann\nstop: ok"));
}

/* The quota has room for each of the two, and not for both together. Another tenant's has nothing to do with
 * it. */
static void test_two_that_rest_on_a_quota_are_two_batches(void **state)
{
    struct world *x = *state;
    double ms;
    ask(x, "a", COMMAND_OWNER_CLAIM, "root", "lx[001-002]", "{\"to\":\"physics:1\"}");
    ask(x, "b", COMMAND_OWNER_CLAIM, "root", "lx003", "{\"to\":\"bio\"}");
    ask(x, "c", COMMAND_OWNER_CLAIM, "root", "lx004", "{\"to\":\"physics:2\"}");
    assert_string_equal(wait_for(x, 3), "entry owner.claim lx[001-002] root\nentry owner.claim lx003 root\n"
                                        "a: ok, changed lx[001-002]\nb: ok, changed lx003\n"
                                        "c: tenant \"physics\" would own 3 nodes, and its quota is 2\n");
    assert_int_equal(committer_count(x->k, &ms), 1);
    /* What a release gives back counts when it is committed. */
    ask(x, "d", COMMAND_OWNER_RELEASE, "root", "lx001", "{\"from\":\"physics:1\"}");
    ask(x, "e", COMMAND_OWNER_CLAIM, "root", "lx001", "{\"to\":\"physics:2\"}");
    wait_for(x, 2);
    assert_int_equal(committer_count(x->k, &ms), 3);
    assert_int_equal(cluster_tenant_use(x->c, "physics").nodes, 2);
    /* A configuration that is agreed with another quota is a commit before or after. */
    ask(x, "f", COMMAND_REVISE, "fettled", "",
        "{\"act\":true,\"out\":0,\"out_class\":100,\"out_group\":100,\"out_partition\":100,\"surge\":0,"
        "\"surge_s\":600,\"remedies_a_week\":5}");
    ask(x, "g", COMMAND_OWNER_CLAIM, "root", "lx005", "{\"to\":\"bio\"}");
    wait_for(x, 2);
    assert_int_equal(committer_count(x->k, &ms), 5);
}

/* Nothing is committed for the first two, so only the committer itself can wake the third. */
static void test_commands_without_effect_leave_nobody_waiting(void **state)
{
    struct world *x = *state;
    ask(x, "a", COMMAND_UNDRAIN, "root", "lx001", NULL);
    ask(x, "b", COMMAND_UP, "root", "lx001", NULL);
    ask(x, "c", COMMAND_DRAIN, "root", "lx001", "x");
    assert_string_equal(wait_for(x, 3), "a: ok, changed nothing\nb: ok, changed nothing\n"
                                        "entry node.drain lx001 root\nc: ok, changed lx001, claim 1.1\n");
}

static void test_a_refusal_has_a_sentence(void **state)
{
    struct world *x = *state;
    ask(x, "a", COMMAND_DRAIN, "root", "nobody", "x");
    ask(x, "b", COMMAND_DRAIN, "root", "lx001", "");
    assert_string_equal(wait_for(x, 2),
                        "a: no node \"nobody\"\nb: a reason has 1 to 1024 bytes; this one has 0\n");
    assert_int_equal(committer_revision(x->k), 0);
}

static void test_a_long_command_goes_in_parts(void **state)
{
    struct world *x = *state;
    ask(x, "a", COMMAND_ADMIT, "fettled", "lx[001-300]", NULL);
    assert_string_equal(wait_for(x, 1), "entry node.admitted lx[001-100] fettled\n"
                                        "entry node.admitted lx[101-200] fettled\n"
                                        "entry node.admitted lx[201-300] fettled\n"
                                        "a: ok, changed lx[001-300]\n");
    assert_int_equal(committer_revision(x->k), 3);
}

/* A dry command is decided in its turn, as a real one would be, and only its caller hears about it. */
static void test_a_dry_command_changes_nothing(void **state)
{
    struct world *x = *state;
    uint64_t digest = cluster_digest(x->c);
    ask_so(x, true, "a", COMMAND_DRAIN, "root", "lx[001-002]", "bad fan");
    assert_string_equal(wait_for(x, 1),
                        "a: ok, changed lx[001-002], claim new, would: bad fan (claim new)\n");
    assert_int_equal(committer_revision(x->k), 0);
    assert_true(cluster_digest(x->c) == digest);
    ask(x, "b", COMMAND_DRAIN, "root", "lx001", "bad fan");
    ask_so(x, true, "c", COMMAND_DRAIN, "root", "lx001", "bad fan");
    ask_so(x, true, "d", COMMAND_DRAIN, "root", "nobody", "bad fan");
    assert_string_equal(wait_for(x, 3), "entry node.drain lx001 root\nb: ok, changed lx001, claim 1.1\n"
                                        "c: ok, changed nothing, claim 1.1\nd: no node \"nobody\"\n");
    assert_int_equal(committer_revision(x->k), 1);
}

static void test_a_long_dry_command_is_decided_to_its_end(void **state)
{
    struct world *x = *state;
    ask_so(x, true, "a", COMMAND_ADMIT, "fettled", "lx[001-300]", NULL);
    assert_string_equal(wait_for(x, 1), "a: ok, changed lx[001-300], would: heard for the first time\n");
    assert_int_equal(committer_revision(x->k), 0);
}

/* --- conformance ----------------------------------------------------------------------------- */

/* All nodes are sensitive, lx001 and lx002 have a record of their components, and that of lx001 is the
 * baseline. */
static void with_baseline(struct world *x, struct listing *shown[2])
{
    ask(x, "", COMMAND_SET, "root", "lx[001-300]", "{\"Sensitive\":\"yes\"}");
    for (int i = 0; i < 2; i++) {
        CLEANUP_TEXT struct text set = {0};
        struct components list = {0};
        char hex[FINGERPRINT_HEX + 1];
        components_add(&list, "kernel.release", COMPONENT_VALUE, i ? "6.2" : "6.1", NULL);
        components_sort(&list, NULL);
        struct fingerprint id = components_fingerprint(&list);
        shown[i] = listings_get(cluster_listings(x->c), &id);
        assert_int_equal(listing_fill(cluster_listings(x->c), shown[i], &list, NULL), 0);
        components_fini(&list);
        text_printf(&set, "{\"fingerprint\":\"%s\",\"named\":\"\",\"count\":0}",
                    fingerprint_format(&id, hex));
        ask(x, "", COMMAND_SEEN, "fettled", i ? "lx002" : "lx001", set.s);
    }
    ask(x, "", COMMAND_BASELINE_ACCEPT, "root", "lx001", NULL);
    wait_for(x, 4);
    assert_int_equal(cluster_baseline(x->c, "default")->version, 1);
}

static void without_listings(struct world *x, struct listing *shown[2])
{
    for (int i = 0; i < 2; i++)
        listing_unref(cluster_listings(x->c), shown[i]);
}

static void ask_drift(struct world *x, const char *name, const char *nodes, struct listing *const shown[2])
{
    CLEANUP_HOSTLIST struct hostlist names = {0};
    CLEANUP_TEXT struct text t = {0};
    char expected[FINGERPRINT_HEX + 1], actual[FINGERPRINT_HEX + 1];
    hostlist_parse(nodes, &names, NULL);
    text_printf(&t,
                "{\"class\":\"default\",\"version\":1,\"expected\":\"%s\",\"actual\":\"%s\","
                "\"severity\":\"minor\",\"named\":\"kernel.release\",\"count\":1,\"boots\":[",
                fingerprint_format(&shown[0]->id, expected), fingerprint_format(&shown[1]->id, actual));
    for (size_t i = 0; i < names.n; i++)
        text_add(&t, i ? ",\"b\"" : "\"b\"");
    text_add(&t, "]}");
    ask(x, name, COMMAND_DRIFT, "fettled", nodes, t.s);
}

/* The first part of the first claim already names all 300 nodes, long before lx300 has its own record. */
static void test_a_claim_for_all_is_in_the_way_of_each(void **state)
{
    struct world *x = *state;
    struct listing *shown[2];
    with_baseline(x, shown);
    ask_drift(x, "a", "lx[001-300]", shown);
    ask_drift(x, "b", "lx300", shown);
    ask(x, "c", COMMAND_OVERDUE, "fettled", "lx300", NULL);
    const char *log = wait_for(x, 3);
    assert_ptr_equal(strstr(log, "entry conform.drift lx[001-300] fettled\nentry conform.drift"), log);
    assert_non_null(strstr(log, "b: ok, changed lx300\n"));
    assert_non_null(strstr(log, "c: ok, changed lx300\n"));
    assert_null(cluster_claim(x->c, "1.2")); /* b found lx300 held already */
    const struct member *m = cluster_find(x->c, "lx300");
    assert_int_equal(m->n_claims, 2);
    assert_string_equal(m->claims[0].claim->id, "1.1"); /* given by the committer */
    assert_int_equal(m->claims[1].claim->kind, CLAIM_OVERDUE);
    without_listings(x, shown);
}

static void test_a_command_that_rests_on_a_baseline_waits_for_it(void **state)
{
    struct world *x = *state;
    struct listing *shown[2];
    with_baseline(x, shown);
    uint64_t before = committer_revision(x->k);
    ask(x, "a", COMMAND_BASELINE_ACCEPT, "root", "lx002", NULL);
    ask_drift(x, "b", "lx003", shown); /* against the baseline that is being replaced */
    ask(x, "c", COMMAND_DRAIN, "root", "lx004", "x");
    const char *log = wait_for(x, 3);
    assert_non_null(strstr(log, "b: ok, changed nothing\n"));
    assert_null(cluster_find(x->c, "lx003")->past);
    assert_int_equal(cluster_baseline(x->c, "default")->version, 2);
    ask_drift(x, "d", "lx003", shown);
    ask(x, "e", COMMAND_BASELINE_REVERT, "root", "", "{\"class\":\"default\",\"version\":1}");
    ask(x, "f", COMMAND_BASELINE_REVERT, "root", "", "{\"class\":\"default\",\"version\":2}");
    wait_for(x, 3);
    assert_int_equal(cluster_baseline(x->c, "default")->version, 4);
    assert_int_equal(committer_revision(x->k), before + 4);
    without_listings(x, shown);
}

static void test_a_result_waits_with_its_node(void **state)
{
    struct world *x = *state;
    ask(x, "a", COMMAND_DRAIN, "root", "lx001", "x");
    ask(x, "b", COMMAND_EFFECT, "fettled", "lx001", "{\"key\":\"effect/ochami.lx001\",\"done\":null}");
    assert_string_equal(wait_for(x, 2), "entry node.drain lx001 root\na: ok, changed lx001, claim 1.1\n"
                                        "b: ok, changed nothing\n");
}

static int show_entry(void *arg, uint64_t revision, const struct store_entry *e, struct err *err)
{
    text_printf(arg, "%d %s %s: %s; ", (int)revision, e->what, e->nodes, e->text);
    return 0;
}

static void test_it_is_all_there_after_a_restart(void **state)
{
    struct world *x = *state;
    CLEANUP_TEXT struct text journal = {0};
    ask(x, "a", COMMAND_DRAIN, "root", "lx001", "x");
    ask(x, "b", COMMAND_SET, "root", "lx002", "{\"CPUs\":\"4\"}");
    wait_for(x, 2);
    ask(x, "c", COMMAND_DOWN, "ann", "lx003", "fire");
    wait_for(x, 1);
    uint64_t digest = cluster_digest(x->c);
    assert_int_equal(committer_journal(x->k, 0, 10, show_entry, &journal, NULL), 0);
    assert_string_equal(journal.s, "1 node.drain lx001: x (claim 1.1); 1 node.set lx002: CPUs=4; "
                                   "2 node.down lx003: fire (claim 1.2); ");
    close_world(x);
    open_world(x);
    assert_true(cluster_digest(x->c) == digest);
    ask(x, "d", COMMAND_DRAIN, "root", "lx004", "x");
    assert_string_equal(wait_for(x, 1), "entry node.drain lx004 root\nd: ok, changed lx004, claim 2.1\n");
}

/* Fills a long journal, as an older fettled would have written it. */
static void fill_journal(struct world *x, size_t n)
{
    struct store_entry entries[STORE_ENTRIES_MAX];
    struct store_op op = {.key = "count", .value = "1"};
    uint64_t revision;
    for (size_t i = 0; i < STORE_ENTRIES_MAX; i++)
        entries[i] =
            (struct store_entry){.at = {1}, .actor = "root", .what = "x", .nodes = "lx001", .text = "y"};
    const struct store_batch b = {.n_ops = 1, .ops = &op, .n_entries = STORE_ENTRIES_MAX, .entries = entries};
    for (size_t i = 0; i < n; i += STORE_ENTRIES_MAX)
        assert_int_equal(store_commit(x->store, x->term, &b, &revision, NULL), 0);
}

/* Commands do not wait until the whole journal has moved: they take turns with the steps. */
static void test_the_journal_moves_between_commits(void **state)
{
    struct world *x = *state;
    fill_journal(x, 13000);
    committer_turn(x->k, (struct mono){mono_now().ns + span_s(2).ns});
    while (x->steps == 0)
        uv_run(&x->loop, UV_RUN_ONCE);
    size_t before = x->steps;
    ask(x, "a", COMMAND_DRAIN, "root", "lx001", "x");
    assert_string_equal(wait_for(x, 1), "entry node.drain lx001 root\na: ok, changed lx001, claim 1.1\n");
    assert_in_range(x->steps - before, 0, 2);
    while (x->steps < 22) /* 256 entries at a time, in two steps */
        uv_run(&x->loop, UV_RUN_ONCE);
    assert_string_equal(x->log.s, "");
    const char *directory;
    assert_int_equal(committer_journal_first(x->k, &directory), 1);
    const struct store_keep keep = {.age = span_s(1), .bytes = UINT64_MAX, .directory = x->dir};
    committer_keep(x->k, &keep); /* all that has moved is of 1970 */
    committer_turn(x->k, (struct mono){mono_now().ns + span_s(4).ns});
    while (committer_journal_first(x->k, &directory) < 20)
        uv_run(&x->loop, UV_RUN_ONCE);
    assert_string_equal(directory, x->dir);
}

/* The limit of a file's size plays the full disk. */
static void test_a_full_disk_changes_nothing_and_passes(void **state)
{
    struct world *x = *state;
    struct rlimit old, none = {4096, RLIM_INFINITY};
    signal(SIGXFSZ, SIG_IGN);
    ask(x, "a", COMMAND_DRAIN, "root", "lx001", "x");
    wait_for(x, 1);
    uint64_t digest = cluster_digest(x->c), revision = committer_revision(x->k);
    getrlimit(RLIMIT_FSIZE, &old);
    none.rlim_max = old.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
    ask(x, "b", COMMAND_DRAIN, "root", "lx002", "x");
    const char *log = wait_for(x, 1);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_ptr_equal(strstr(log, "store fails\nb: "), log);
    assert_null(strstr(log, "entry"));
    assert_null(strstr(log, "ok"));
    assert_true(cluster_digest(x->c) == digest);
    assert_int_equal(committer_revision(x->k), revision);
    ask(x, "c", COMMAND_DRAIN, "root", "lx002", "x");
    assert_string_equal(wait_for(x, 1),
                        "store works\nentry node.drain lx002 root\nc: ok, changed lx002, claim 1.3\n");
}

static void test_a_deposed_one_does_nothing_any_more(void **state)
{
    struct world *x = *state;
    uint64_t term;
    assert_int_equal(store_campaign(x->store, &term, NULL), 0); /* another leader, over the same store */
    ask(x, "a", COMMAND_DRAIN, "root", "lx001", "x");
    ask(x, "b", COMMAND_DRAIN, "root", "lx001", "y");
    const char *log = wait_for(x, 2);
    assert_int_equal(count(log, "deposed\n"), 1);
    assert_null(strstr(log, "entry"));
    assert_null(strstr(log, "ok"));
    assert_int_equal(cluster_find(x->c, "lx001")->n_claims, 0);
    ask(x, "c", COMMAND_DRAIN, "root", "lx002", "x");
    assert_string_equal(wait_for(x, 1), "c: another controller leads\n");
}

/* --- outcomes that are not known ---------------------------------------------------------------- */

static void has(const char *log, const char *words)
{
    if (!strstr(log, words))
        fail_msg("\"%s\" does not say \"%s\"", log, words);
}

static void reopen_world(struct world *x)
{
    uint64_t digest = cluster_digest(x->c), revision = committer_revision(x->k);
    close_world(x);
    open_world(x);
    assert_true(cluster_digest(x->c) == digest);
    assert_int_equal(committer_revision(x->k), revision);
}

/* The store finds the commit: the callers are told that it is done, in the order of every commit. */
static void test_an_unknown_commit_that_is_there_is_done(void **state)
{
    struct world *x = *state;
    ask(x, "a", COMMAND_DRAIN, "root", "lx001", "x");
    wait_for(x, 1);
    ask(x, "b", COMMAND_UNDRAIN, "root", "lx001", NULL);
    ask(x, "c", COMMAND_DRAIN, "root", "lx[002-150]", "x");
    sync_fails = 1;
    assert_string_equal(wait_for(x, 2), "entry node.undrain lx001 root\nentry node.drain lx[002-150] root\n"
                                        "b: ok, changed lx001\nc: ok, changed lx[002-150], claim 1.2\n");
    assert_int_equal(cluster_find(x->c, "lx001")->n_claims, 0);
    assert_int_equal(committer_revision(x->k), 2);
    ask(x, "d", COMMAND_DRAIN, "root", "lx001", "x");
    assert_string_equal(wait_for(x, 1), "entry node.drain lx001 root\nd: ok, changed lx001, claim 1.3\n");
    reopen_world(x);
}

static void test_an_unknown_commit_that_is_gone_is_refused(void **state)
{
    struct world *x = *state;
    ask(x, "a", COMMAND_DRAIN, "root", "lx001", "x");
    wait_for(x, 1);
    ask(x, "b", COMMAND_DRAIN, "root", "lx002", "x");
    sync_fails = 1;
    sync_loses = true;
    const char *log = wait_for(x, 1);
    has(log, "store fails\nb: the change was not made: ");
    assert_null(strstr(log, "entry"));
    assert_int_equal(committer_revision(x->k), 1);
    ask(x, "c", COMMAND_DRAIN, "root", "lx002", "x"); /* a client tries again */
    assert_string_equal(wait_for(x, 1),
                        "store works\nentry node.drain lx002 root\nc: ok, changed lx002, claim 1.3\n");
    reopen_world(x);
}

static void turn_until(struct world *x, const char *words)
{
    while (!x->log.s || !strstr(x->log.s, words)) {
        x->turns++;
        committer_turn(x->k, mono_add(mono_now(), span_s(2 * x->turns)));
        uv_run(&x->loop, UV_RUN_ONCE);
    }
}

/* While the disk refuses, the caller is told that the outcome is not known, and never that the change was
 * refused. Nothing else is decided. A commit that is found later is announced like a commit by another
 * controller. */
static void test_an_outcome_that_stays_unknown_is_answered_as_that(void **state)
{
    struct world *x = *state;
    ask(x, "a", COMMAND_DRAIN, "root", "lx001", "x");
    sync_fails = 1000;
    const char *log = wait_for(x, 1);
    has(log, "store fails\na: ? it is not known whether the change was made (");
    has(log, "\"fettle journal\" shows it, if it was, when the store works again\n");
    assert_int_equal(cluster_find(x->c, "lx001")->n_claims, 0);
    ask(x, "b", COMMAND_DRAIN, "root", "lx001", "x");
    assert_string_equal(wait_for(x, 1), "b: the store does not know the outcome of the last change yet\n");
    turn_until(x, "store fails\n"); /* asked again, in vain */
    text_clear(&x->log);
    sync_fails = 0;
    turn_until(x, "entry node.drain lx001 root\n");
    has(x->log.s, "store works\nentry node.drain lx001 root\n");
    text_clear(&x->log);
    assert_int_equal(cluster_find(x->c, "lx001")->n_claims, 1);
    ask(x, "c", COMMAND_DRAIN, "root", "lx001", "x"); /* a client tries again: it holds already */
    assert_string_equal(wait_for(x, 1), "c: ok, changed nothing, claim 1.1\n");
    reopen_world(x);
}

/* The process ends before the outcome is known: the next start finds the commit as a whole, or not at all. */
static void test_an_unknown_commit_is_found_by_the_next_start(void **state)
{
    struct world *x = *state;
    ask(x, "a", COMMAND_DRAIN, "root", "lx[001-002]", "x");
    sync_fails = 1000;
    wait_for(x, 1);
    close_world(x);
    sync_fails = 0;
    open_world(x);
    assert_int_equal(cluster_find(x->c, "lx001")->n_claims, cluster_find(x->c, "lx002")->n_claims);
    ask(x, "b", COMMAND_DRAIN, "root", "lx[001-002]", "x");
    has(wait_for(x, 1), "b: ok");
    assert_int_equal(cluster_find(x->c, "lx001")->n_claims, 1);
    assert_int_equal(cluster_find(x->c, "lx002")->n_claims, 1);
    reopen_world(x);
}

/* --- commits of others -------------------------------------------------------------------------- */

static void follow(struct world *x, uint64_t revision, const char *what, const char *key, const char *value)
{
    const struct store_entry entry = {
        .at = {1}, .actor = "ann", .what = what, .nodes = "lx[001-002]", .text = "x"};
    struct store_change *c = change_create(revision);
    change_add_op(c, key, value);
    change_add_entry(c, &entry);
    committer_follow(x->k, c);
}

/* They are applied and announced before anything else is decided. A commit that the state already has is
 * dropped. */
static void test_commits_of_others_are_followed(void **state)
{
    struct world *x = *state;
    static const char claim[] = "{\"kind\":\"drain\",\"owner\":\"ann\",\"reason\":\"x\",\"since\":\"1\","
                                "\"nodes\":\"lx[001-002]\",\"drained\":\"\"}";
    x->follows = true;
    follow(x, 5, "node.drain", "claim/9.1", claim);
    follow(x, 6, "node.undrain", "claim/9.1", NULL);
    follow(x, 6, "node.undrain", "claim/9.1", NULL);
    follow(x, 7, "node.invented", "claim/9.2", claim);
    ask(x, "a", COMMAND_UNDRAIN, "ann", "lx001", NULL);
    assert_string_equal(wait_for(x, 0), "");
    while (committer_revision(x->k) < 7)
        uv_run(&x->loop, UV_RUN_ONCE);
    assert_string_equal(wait_for(x, 1),
                        "entry node.drain lx[001-002] ann\nentry node.undrain lx[001-002] ann\n"
                        "entry node.invented lx[001-002] ann\n"
                        "entry node.undrain lx001 ann\na: ok, changed lx001\n");
    assert_int_equal(x->told.n, 7);
    assert_int_equal(cluster_find(x->c, "lx002")->n_claims, 1);
}

/* --- requests with an id ----------------------------------------------------------------------- */

#define REQUEST_A "request-aaaaaaaaaa"
#define REQUEST_B "request-bbbbbbbbbb"

/* The same request again gets the first answer, also after a restart; nothing is committed for it. */
static void test_a_request_is_carried_out_once(void **state)
{
    struct world *x = *state;
    asked = (struct client_request){REQUEST_A, "1", 0};
    ask(x, "a", COMMAND_DRAIN, "root", "lx[001-002]", "x");
    assert_string_equal(wait_for(x, 1),
                        "entry node.drain lx[001-002] root\na: ok, changed lx[001-002], claim 1.1\n");
    forget_request();
    ask(x, "b", COMMAND_UNDRAIN, "root", "lx001", NULL);
    wait_for(x, 1);
    const uint64_t digest = cluster_digest(x->c);
    asked = (struct client_request){REQUEST_A, "1", 0};
    ask(x, "c", COMMAND_DRAIN, "root", "lx[001-002]", "x");
    assert_string_equal(wait_for(x, 1), "c: as before, changed lx[001-002], claim 1.1\n");
    close_world(x);
    open_world(x);
    assert_true(cluster_digest(x->c) == digest);
    ask(x, "d", COMMAND_DRAIN, "root", "lx[001-002]", "x");
    assert_string_equal(wait_for(x, 1), "d: as before, changed lx[001-002], claim 1.1\n");
    assert_int_equal(committer_revision(x->k), 2);
}

/* The second one waits for the commit of the first. */
static void test_a_request_that_comes_twice_is_one_commit(void **state)
{
    struct world *x = *state;
    asked = (struct client_request){REQUEST_A, "1", 0};
    ask(x, "a", COMMAND_DRAIN, "root", "lx001", "x");
    ask(x, "b", COMMAND_DRAIN, "root", "lx001", "x");
    assert_string_equal(wait_for(x, 2), "entry node.drain lx001 root\na: ok, changed lx001, claim 1.1\n"
                                        "b: as before, changed lx001, claim 1.1\n");
    assert_int_equal(committer_revision(x->k), 1);
}

static void test_an_id_is_for_one_request_of_one_caller(void **state)
{
    struct world *x = *state;
    asked = (struct client_request){REQUEST_A, "1", 0};
    ask(x, "a", COMMAND_DRAIN, "root", "lx001", "x");
    asked.asks = "2";
    ask(x, "c", COMMAND_DRAIN, "root", "lx002", "x"); /* it would be in the commit of the first */
    asked.asks = "1";
    ask(x, "b", COMMAND_DRAIN, "ann", "lx001", "x");
    const char *log = wait_for(x, 3);
    assert_non_null(strstr(log, "b: another caller used this request id (revision 1)\n"));
    assert_non_null(strstr(log, "c: this request id was used for another request (revision 1)\n"));
    asked = (struct client_request){REQUEST_A, "1", 1};
    ask(x, "d", COMMAND_DRAIN, "root", "lx001", "x");
    assert_string_equal(wait_for(x, 1), "d: this request id was used for another request\n");
}

/* What was refused, was dry or changed nothing is decided anew. */
static void test_only_what_was_committed_is_remembered(void **state)
{
    struct world *x = *state;
    asked = (struct client_request){REQUEST_A, "1", 0};
    ask(x, "a", COMMAND_DRAIN, "root", "nobody", "x");
    ask_so(x, true, "b", COMMAND_DRAIN, "root", "lx001", "x");
    ask(x, "c", COMMAND_UNDRAIN, "root", "lx001", NULL);
    wait_for(x, 3);
    assert_null(cluster_request(x->c, REQUEST_A));
    ask(x, "d", COMMAND_DRAIN, "root", "lx001", "x");
    assert_non_null(strstr(wait_for(x, 1), "d: ok, changed lx001"));
    assert_non_null(cluster_request(x->c, REQUEST_A));
}

/* The controller ends after the first of three commits; the next one goes on with the second. */
static void test_a_request_in_parts_goes_on_after_a_restart(void **state)
{
    struct world *x = *state;
    asked = (struct client_request){REQUEST_A, "1", 0};
    ask(x, "a", COMMAND_ADMIT, "fettled", "lx[001-300]", NULL);
    while (committer_revision(x->k) < 1)
        uv_run(&x->loop, UV_RUN_ONCE);
    close_world(x);
    assert_non_null(strstr(wait_for(x, 1), "a: the controller is stopping\n"));
    open_world(x);
    const uint64_t done = committer_revision(x->k);
    assert_in_range(done, 1, 2);
    assert_false(remembered_is_whole(cluster_request(x->c, REQUEST_A)));
    ask(x, "b", COMMAND_ADMIT, "fettled", "lx[001-300]", NULL);
    const char *log = wait_for(x, 1);
    assert_int_equal(count(log, "entry node.admitted"), 3 - done);
    assert_null(strstr(log, "lx[001-100]"));
    assert_non_null(strstr(log, "b: as before, changed lx[001-300]\n"));
    assert_int_equal(committer_revision(x->k), 3);
    ask(x, "c", COMMAND_ADMIT, "fettled", "lx[001-300]", NULL);
    assert_string_equal(wait_for(x, 1), "c: as before, changed lx[001-300]\n");
}

/* Each command of a request that has one for each node is known by its node. */
static void test_commands_of_one_request_are_known_by_their_nodes(void **state)
{
    struct world *x = *state;
    double ms;
    asked = (struct client_request){REQUEST_A, "1", 3};
    ask(x, "a1", COMMAND_DRAIN, "root", "lx001", "x");
    ask(x, "a2", COMMAND_DRAIN, "root", "lx002", "x");
    wait_for(x, 2);
    assert_int_equal(committer_count(x->k, &ms), 1);
    assert_false(remembered_is_whole(cluster_request(x->c, REQUEST_A)));
    ask(x, "b1", COMMAND_DRAIN, "root", "lx001", "x");
    ask(x, "b2", COMMAND_DRAIN, "root", "lx002", "x");
    ask(x, "b3", COMMAND_DRAIN, "root", "lx003", "x");
    assert_string_equal(wait_for(x, 3),
                        "b1: as before, changed lx001, claim 1.1\nb2: as before, changed lx002, claim 1.2\n"
                        "entry node.drain lx003 root\nb3: ok, changed lx003, claim 1.5\n");
    assert_true(remembered_is_whole(cluster_request(x->c, REQUEST_A)));
}

/* The list of nodes that changed was too long to be kept: the nodes of the command stand for it. */
static void test_nodes_stand_for_a_list_that_was_too_long(void **state)
{
    struct world *x = *state;
    static const char record[] = "{\"at\":\"1\",\"made\":[{\"id\":\"" REQUEST_B
                                 "\",\"by\":\"root\",\"asks\":\"1\",\"next\":2,\"of\":2,\"claim\":\"1.9\"}]}";
    assert_int_equal(cluster_put(x->c, "request/00000000000000000007", record, NULL), 0);
    asked = (struct client_request){REQUEST_B, "1", 0};
    ask(x, "a", COMMAND_DRAIN, "root", "lx[001-002]", "x");
    assert_string_equal(wait_for(x, 1), "a: as before, changed lx[001-002], claim 1.9\n");
}

/* As many as may be are remembered, each in a record of its own: no commit brings more than leave with it. */
static void test_a_flood_of_requests_has_a_bound(void **state)
{
    struct world *x = *state;
    double ms;
    for (unsigned i = 1; i <= REQUESTS_MAX; i++) {
        char key[64], record[256];
        snprintf(key, sizeof key, "request/%020u", 1000 + i); /* no revision of this test */
        snprintf(record, sizeof record,
                 "{\"at\":\"1\",\"made\":[{\"id\":\"request-%08u\",\"by\":\"root\",\"asks\":\"1\",\"next\":0,"
                 "\"of\":0}]}",
                 i);
        assert_int_equal(cluster_put(x->c, key, record, NULL), 0);
    }
    for (int i = 1; i <= 40; i++) {
        char node[8], id[32];
        snprintf(node, sizeof node, "lx%03d", i);
        snprintf(id, sizeof id, "request-of-flood-%d", i);
        asked = (struct client_request){id, "1", 0};
        ask(x, node, COMMAND_DRAIN, "root", node, "x");
    }
    assert_int_equal(count(wait_for(x, 40), ": ok"), 40);
    assert_int_equal(committer_count(x->k, &ms),
                     2); /* 16; and with these, which are the oldest here, the rest */
    assert_null(cluster_request(x->c, "request-00000016"));
    assert_non_null(cluster_request(x->c, "request-of-flood-40"));
}

static void test_too_many_are_refused(void **state)
{
    enum { MANY = 10005 };
    struct world *x = *state;
    for (int i = 0; i < MANY; i++)
        ask(x, "a", COMMAND_UNDRAIN, "root", "lx001", NULL);
    while (x->answered < MANY)
        uv_run(&x->loop, UV_RUN_ONCE);
    assert_int_equal(count(x->log.s, "a: 10000 changes are waiting for the store\n"), 5);
    assert_int_equal(count(x->log.s, "a: ok"), 10000);
}

static void test_waiting_commands_are_answered_at_the_end(void **state)
{
    struct world *x = *state;
    for (int i = 0; i < 3; i++)
        ask(x, "a", COMMAND_DRAIN, "root", "lx001", "x");
    close_world(x);
    assert_int_equal(x->answered, 3);
    assert_int_equal(count(x->log.s, "a: the controller is stopping\n"), 3);
    open_world(x);
    assert_int_equal(cluster_find(x->c, "lx001")->n_claims, 0);
}

/* --- repairs --------------------------------------------------------------------------------- */

/* Each object with an id of its own gets it from the committer. */
static void test_repairs_get_their_ids(void **state)
{
    struct world *x = *state;
    assert_int_equal(cluster_put(x->c, "node/lx001", "{\"admitted\":\"1\"}", NULL), 0);
    ask(x, "a", COMMAND_FINDINGS, "fettled", "lx001",
        "{\"boot\":\"b1\",\"isolate\":{\"problem\":\"node_problem\",\"why\":\"x\"}}");
    ask(x, "b", COMMAND_REPAIR, "fettled", "lx001",
        "{\"id\":\"1.1\",\"from\":\"isolate\",\"to\":\"remedy\",\"why\":\"x\",\"remedy\":\"fix\"}");
    ask(x, "c", COMMAND_OPERATE, "fettled", "lx001",
        "{\"id\":\"1.1\",\"step\":\"remedy\",\"run\":\"node:fix\",\"operation_of\":\"fix\",\"boot\":\"b1\","
        "\"deadline_s\":9}");
    assert_string_equal(wait_for(x, 3), "entry health.findings lx001 fettled\na: ok, changed lx001\n"
                                        "entry repair.step lx001 fettled\nb: ok, changed lx001\n"
                                        "entry repair.operate lx001 fettled\nc: ok, changed lx001\n");
    assert_non_null(cluster_claim(x->c, "1.1"));
    assert_string_equal(member_repair(cluster_find(x->c, "lx001"))->operation, "1.3");
}

/* The tally is one record for all nodes. */
static void test_each_outcome_counts(void **state)
{
    struct world *x = *state;
    for (int i = 1; i <= 3; i++) {
        char key[32], node[8];
        snprintf(node, sizeof node, "lx%03d", i);
        snprintf(key, sizeof key, "repair/%s", node);
        const char *repair = "{\"id\":\"1.1\",\"step\":\"none\",\"began\":\"1\",\"since\":\"1\",\"deadline\":"
                             "\"0\",\"boot\":\"\","
                             "\"instance\":\"0\",\"problem\":\"manual\",\"why\":\"\",\"remedy\":\"\","
                             "\"operation\":\"\",\"approval\":"
                             "\"none\",\"approver\":null,\"examined\":\"not\",\"inconclusive\":0,\"manual\":"
                             "false,\"taken_by\":null,"
                             "\"attempts\":[{\"remedy\":\"fix\",\"fault\":\"f\",\"at\":\"5\",\"ended\":\"6\","
                             "\"done\":true,\"text\":"
                             "\"\",\"verdict\":\"?\"}],\"notes\":[]}";
        assert_int_equal(cluster_put(x->c, key, repair, NULL), 0);
        ask(x, "a", COMMAND_OUTCOME, "fettled", node,
            "{\"remedy\":\"fix\",\"at\":\"5\",\"faults\":[\"f\"],\"class\":\"gpu\",\"helped\":true}");
    }
    wait_for(x, 3);
    assert_int_equal(cluster_outcomes(x->c, "f", "fix", "gpu").helped, 3);
    assert_int_equal(committer_revision(x->k), 3);
}

/* The command "off" is not answered as if the "on" before it had not been given. */
static void test_switches_wait_for_each_other(void **state)
{
    struct world *x = *state;
    assert_int_equal(cluster_put(x->c, "node/lx001", "{\"admitted\":\"1\"}", NULL), 0);
    ask(x, "", COMMAND_FINDINGS, "fettled", "lx001",
        "{\"boot\":\"b1\",\"isolate\":{\"problem\":\"node_problem\",\"why\":\"x\"}}");
    ask(x, "", COMMAND_REPAIR, "fettled", "lx001",
        "{\"id\":\"1.1\",\"from\":\"isolate\",\"to\":\"remedy\",\"why\":\"x\",\"remedy\":\"fix\"}");
    wait_for(x, 2);
    ask(x, "a", COMMAND_SWITCH, "root", "", "{\"name\":\"stop\",\"on\":true}");
    ask(x, "b", COMMAND_OPERATE, "fettled", "lx001",
        "{\"id\":\"1.1\",\"step\":\"remedy\",\"run\":\"node:fix\",\"operation_of\":\"fix\",\"boot\":\"b1\","
        "\"deadline_s\":9}");
    ask(x, "c", COMMAND_SWITCH, "root", "", "{\"name\":\"stop\",\"on\":false}");
    const char *log = wait_for(x, 3);
    assert_non_null(strstr(log, "b: all remedies are stopped by root"));
    assert_non_null(strstr(log, "c: ok"));
    assert_int_equal(count(log, "entry switch.set"), 2);
    assert_null(cluster_switch(x->c, "stop"));
}

static void test_shared_causes_wait_for_each_other(void **state)
{
    struct world *x = *state;
    ask(x, "a", COMMAND_SHARED, "fettled", "",
        "{\"key\":\"k\",\"nodes\":\"lx[001-002]\",\"why\":\"one switch\",\"severity\":\"fatal\"}");
    ask(x, "b", COMMAND_SHARED, "fettled", "",
        "{\"key\":\"k\",\"nodes\":\"\",\"why\":\"\",\"severity\":\"fatal\"}");
    wait_for(x, 2);
    assert_null(cluster_shared(x->c, "k"));
    assert_int_equal(committer_revision(x->k), 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_nodes_of_a_commit_are_told_in_turns),
        TEST(test_answered_after_the_stream_and_never_at_once),
        TEST(test_a_follower_becomes_the_leader),
        TEST(test_a_store_that_cannot_tell_is_loaded_anew),
        TEST(test_waiting_commands_are_one_batch),
        TEST(test_the_same_node_waits_for_the_next_batch),
        TEST(test_the_same_record_waits_for_the_next_batch),
        TEST(test_two_that_leave_service_are_two_batches),
        TEST(test_two_that_rest_on_a_quota_are_two_batches),
        TEST(test_commands_without_effect_leave_nobody_waiting),
        TEST(test_a_refusal_has_a_sentence),
        TEST(test_a_long_command_goes_in_parts),
        TEST(test_a_dry_command_changes_nothing),
        TEST(test_a_long_dry_command_is_decided_to_its_end),
        TEST(test_a_claim_for_all_is_in_the_way_of_each),
        TEST(test_a_command_that_rests_on_a_baseline_waits_for_it),
        TEST(test_a_result_waits_with_its_node),
        TEST(test_repairs_get_their_ids),
        TEST(test_each_outcome_counts),
        TEST(test_switches_wait_for_each_other),
        TEST(test_shared_causes_wait_for_each_other),
        TEST(test_it_is_all_there_after_a_restart),
        TEST(test_the_journal_moves_between_commits),
        TEST(test_a_full_disk_changes_nothing_and_passes),
        TEST(test_a_deposed_one_does_nothing_any_more),
        TEST(test_an_unknown_commit_that_is_there_is_done),
        TEST(test_an_unknown_commit_that_is_gone_is_refused),
        TEST(test_an_outcome_that_stays_unknown_is_answered_as_that),
        TEST(test_an_unknown_commit_is_found_by_the_next_start),
        TEST(test_commits_of_others_are_followed),
        TEST(test_a_request_is_carried_out_once),
        TEST(test_a_request_that_comes_twice_is_one_commit),
        TEST(test_an_id_is_for_one_request_of_one_caller),
        TEST(test_only_what_was_committed_is_remembered),
        TEST(test_a_request_in_parts_goes_on_after_a_restart),
        TEST(test_commands_of_one_request_are_known_by_their_nodes),
        TEST(test_nodes_stand_for_a_list_that_was_too_long),
        TEST(test_a_flood_of_requests_has_a_bound),
        TEST(test_too_many_are_refused),
        TEST(test_waiting_commands_are_answered_at_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
