/* SPDX-License-Identifier: Apache-2.0 */
/* Messages to a broker and from one. This file stands in the place of the driver, the committer, the watch
 * and counterpart.c. */
#include "controller/outbox/broker.h"

#include "controller/config/config_fixture_test.h"
#include "driver/mqtt.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- in the place of the driver ------------------------------------------------------------------ */

static struct {
    bool exists, refuses;
    unsigned created, room; /* how many messages go before there is no room any more */
    struct mqtt_sink sink;
    char host[64], topics[256], password[32];
    struct text out; /* "TOPIC PAYLOAD" a line; ! before a retained one */
} driver;

int mqtt_create(uv_loop_t *loop, const struct mqtt_conf *conf, const struct mqtt_sink *sink,
                struct mqtt **out, struct err *e)
{
    CLEANUP_TEXT struct text topics = {0};
    assert_false(driver.exists);
    if (driver.refuses)
        return err_set(e, -EINVAL, "no such CA");
    for (size_t i = 0; i < conf->n_topics; i++)
        text_printf(&topics, "%s ", conf->topics[i]);
    snprintf(driver.host, sizeof driver.host, "%s:%d", conf->host, conf->port);
    snprintf(driver.topics, sizeof driver.topics, "%s", topics.s);
    snprintf(driver.password, sizeof driver.password, "%s", conf->password ? conf->password : "(none)");
    driver.exists = true;
    driver.created++;
    driver.sink = *sink;
    *out = (struct mqtt *)&driver;
    return 0;
}

int mqtt_filter_check(const char *filter, struct err *e)
{
    return 0; /* the configuration asks */
}

void mqtt_destroy(struct mqtt *m)
{
    driver.exists = driver.exists && !m;
}

void mqtt_publish(struct mqtt *m, const char *topic, const char *payload, size_t len, bool retain)
{
    assert_true(m && driver.exists);
    assert_int_equal(strlen(payload), len);
    text_printf(&driver.out, "%s%s %s\n", retain ? "!" : "", topic, payload);
    driver.room -= driver.room > 0;
}

bool mqtt_has_room(struct mqtt *m)
{
    return driver.room > 0;
}

struct mqtt_counts mqtt_counts(struct mqtt *m)
{
    return (struct mqtt_counts){.dropped_out = 3};
}

/* --- in the place of the committer, the watch and the counterparts -------------------------------- */

static struct {
    unsigned n;
    char said[128];
    outcome_fn *fn[128];
    void *arg[128];
} submitted;

void committer_submit(struct committer *k, const struct command *cmd, outcome_fn *fn, void *arg)
{
    assert_int_equal(cmd->kind, COMMAND_TRANSITION);
    snprintf(submitted.said, sizeof submitted.said, "%s %s %s: %s", cmd->actor, cmd->nodes->names[0],
             by_hand_name(cmd->transition.what), cmd->reason);
    submitted.fn[submitted.n] = fn;
    submitted.arg[submitted.n++] = arg;
}

static struct {
    char event[128];
    struct span age;
    int may_resolve;
    enum work work;
    struct remedy remedy;
} watched;

int watch_event(struct watch *w, struct mono now, struct wall wall, struct member *m, const char *check,
                const struct verdict *v, struct span age, struct err *e)
{
    snprintf(watched.event, sizeof watched.event, "%s %s %s", m->name, check, result_name(v->result));
    watched.age = age;
    return 0;
}

void watch_choice(const struct watch *w, struct mono now, const struct member *m, struct choice *out)
{
    *out = (struct choice){.n = 12, .chosen = &watched.remedy, .why = "it is cheap"};
    for (size_t i = 0; i < out->n; i++)
        out->candidates[i] = (struct candidate){
            .remedy = &watched.remedy, .chance = 500000, .expected = 60, .possible = i == 0};
}

enum work watch_work(const struct watch *w, const struct member *m)
{
    return watched.work;
}

int watch_may_resolve(const struct watch *w, struct mono now, const struct member *m, struct err *e)
{
    return watched.may_resolve ? err_set(e, watched.may_resolve, "it is not heard") : 0;
}

static char remedy_name[] = "cycle", counted[512];
static bool used;

void counterpart_configure(struct counterparts *c, enum counterpart which, bool is_used)
{
    assert_int_equal(which, COUNTERPART_MQTT);
    used = is_used;
}

void counterpart_succeeded(struct counterparts *c, enum counterpart which)
{
    snprintf(counted, sizeof counted, "fine");
}

void counterpart_failed(struct counterparts *c, enum counterpart which, const char *nodes,
                        const struct err *why)
{
    snprintf(counted, sizeof counted, "%s", why->msg);
}

/* -------------------------------------------------------------------------------------------------- */

#define NODES "Name=lx1\nName=lx2\nName=lx3.site\n"
#define BROKER "MqttBroker = mq:1884\n"

static struct cluster *cluster;
static struct broker *broker;
static struct config conf;
static uint64_t revision;

static void configure(const char *parameters, const char *nodes)
{
    CLEANUP_TEXT struct text all = {0};
    text_printf(&all, "Health = act\nCheckConf =\nRemedyConf =\n%s", parameters);
    config_fini(&conf);
    conf = config_good(all.s, nodes, NULL);
    cluster_configure(cluster, &conf.roster, NULL);
    if (broker)
        broker_configure(broker, &conf);
}

static int setup(void **state)
{
    config_setup(state);
    memset(&driver, 0, sizeof driver);
    memset(&submitted, 0, sizeof submitted);
    memset(&watched, 0, sizeof watched);
    watched.remedy.name = remedy_name;
    counted[0] = '\0';
    driver.room = 1000;
    revision = 0;
    cluster = cluster_create();
    configure("", NODES);
    const struct broker_setup with = {.cluster = cluster};
    broker = broker_create(&with, &conf);
    return 0;
}

/* What the committer says of the command, once. */
static void answer(unsigned i, int rc, const char *words)
{
    struct err why;
    outcome_fn *fn = STEAL(submitted.fn[i]);
    err_set(&why, rc, "%s", words);
    const struct outcome o = {.rc = rc, .revision = 812, .why = rc ? &why : NULL};
    if (fn)
        fn(submitted.arg[i], &o);
}

static int teardown(void **state)
{
    broker_stop(broker);
    assert_false(driver.exists);
    for (unsigned i = 0; i < submitted.n; i++)
        answer(i, 0, "");
    broker_destroy(broker);
    broker = NULL;
    config_fini(&conf);
    conf = (struct config){0};
    cluster_destroy(cluster);
    text_fini(&driver.out);
    return config_teardown(state);
}

/* What went out since; each payload up to its time, which is another one each time. */
static const char *out_since(void)
{
    static char said[8192];
    char *to = said;
    for (const char *s = driver.out.s ? driver.out.s : ""; *s && to < said + sizeof said - 1; s++) {
        if (strncmp(s, ",\"at\":\"", 7) == 0 || strncmp(s, ",\"since\":\"", 10) == 0)
            s = strchr(s + 10, '"') + 1;
        if (s[0] == ',' && (strncmp(s, ",\"at\":\"", 7) == 0))
            s = strchr(s + 7, '"') + 1;
        *to++ = *s;
    }
    *to = '\0';
    text_clear(&driver.out);
    return said;
}

static void connected(const char *parameters)
{
    CLEANUP_TEXT struct text all = {0};
    text_printf(&all, BROKER "%s", parameters);
    configure(all.s, NODES);
    driver.sink.state(driver.sink.arg, NULL);
    out_since();
}

#define REPAIR(step, more)                                                                               \
    "{\"id\":\"1.5\",\"step\":\"" step "\",\"began\":\"1\",\"since\":\"7\",\"deadline\":\"0\",\"boot\":" \
    "\"\",\"instance\":\"0\",\"problem\":\"manual\",\"why\":\"bad DIMM\",\"remedy\":\"" more             \
    "\",\"operation\":\"\",\"approval\":\"none\",\"approver\":null,\"examined\":\"not\","                \
    "\"inconclusive\":0,\"manual\":false,\"taken_by\":null,\"attempts\":[],\"notes\":[]}"

static void put(const char *key, const char *value)
{
    struct err e;
    if (cluster_put(cluster, key, value, &e) < 0)
        fail_msg("%s", e.msg);
}

/* A command of this kind was committed that changed these nodes. */
static void committed(enum command_kind kind, const char *what, const char *nodes, const char *fields)
{
    CLEANUP_HOSTLIST struct hostlist changed = {0};
    const struct store_entry entry = {{9}, "ann", what, nodes, "as \"told\"", "", fields};
    const struct committed c = {kind, &entry, &changed, ++revision};
    assert_int_equal(hostlist_parse(nodes, &changed, NULL), 0);
    broker_entry(broker, &c);
}

static void without_a_broker_nothing_is_done(void **state)
{
    assert_false(used || driver.exists);
    committed(COMMAND_TRANSITION, "repair.transition", "lx1", "");
    assert_int_equal(broker_waiting(broker), 0);
    assert_null(driver.out.s);
}

static void the_connection_follows_the_configuration(void **state)
{
    configure(BROKER "MqttEvents = a/b,c/#\n", NODES);
    assert_true(used && driver.exists);
    assert_string_equal(driver.host, "mq:1884");
    assert_string_equal(driver.topics, "fettle/v1/events fettle/v1/transitions a/b c/# ");
    assert_string_equal(driver.password, "(none)");
    configure(BROKER "MqttEvents = a/b,c/#\nMqttTransitions = yes\n", NODES);
    assert_int_equal(driver.created, 1); /* not for what is no matter of the connection */
    configure(BROKER "MqttPrefix = site/f\n", NODES);
    assert_int_equal(driver.created, 2);
    assert_string_equal(driver.topics, "site/f/v1/events site/f/v1/transitions ");
    configure("", NODES);
    assert_false(used || driver.exists);
}

static void the_password_is_that_of_its_file(void **state)
{
    CLEANUP_TEXT struct text parameters = {0}, path = {0};
    config_write("secret", "s3cret\n");
    text_printf(&path, "%s/secret", config_dir);
    assert_int_equal(chmod(path.s, 0600), 0);
    text_printf(&parameters, BROKER "MqttUser = f\nMqttPasswordFile = %s\n", path.s);
    configure(parameters.s, NODES);
    assert_string_equal(driver.password, "s3cret");
    assert_int_equal(unlink(path.s), 0);
    text_add(&parameters, "MqttEvents = x\n");
    configure(parameters.s, NODES);
    assert_false(driver.exists);
    assert_non_null(strstr(counted, "secret"));
}

/* A reload tries again, also where nothing changed; until then nothing is published. */
static void a_connection_that_cannot_be_made_is_said(void **state)
{
    driver.refuses = true;
    configure(BROKER, NODES);
    assert_string_equal(counted, "no such CA");
    committed(COMMAND_TRANSITION, "repair.transition", "lx1", "");
    assert_int_equal(broker_waiting(broker), 0);
    driver.refuses = false;
    configure(BROKER, NODES);
    driver.sink.state(driver.sink.arg, NULL);
    assert_string_equal(counted, "fine");
    struct err why;
    err_set(&why, -ECONNREFUSED, "refused");
    driver.sink.state(driver.sink.arg, &why);
    assert_string_equal(counted, "refused");
    configure(BROKER, NODES);
    assert_int_equal(driver.created, 2);
}

#define NEW(node)                                          \
    "!fettle/v1/nodes/" node "/state {\"node\":\"" node    \
    "\",\"state\":\"new\",\"step\":null,\"problem\":null," \
    "\"why\":null,\"remedy\":null,\"claims\":\"\"}\n"

static void all_states_are_published_at_each_connection(void **state)
{
    configure(BROKER, NODES);
    assert_string_equal(out_since(), "");
    for (int times = 0; times < 2; times++) {
        driver.sink.state(driver.sink.arg, NULL);
        assert_string_equal(out_since(), NEW("lx3.site") NEW("lx2") NEW("lx1"));
    }
    configure(BROKER, NODES);
    assert_string_equal(out_since(), NEW("lx3.site") NEW("lx2") NEW("lx1"));
}

static void a_change_before_the_connection_is_published(void **state)
{
    configure(BROKER, NODES);
    committed(COMMAND_SET, "node.set", "lx2", "");
    assert_string_equal(out_since(), NEW("lx2"));
    committed(COMMAND_SET, "node.set", "lx2", "");
    assert_string_equal(out_since(), "");
}

/* The step is another one, and the lifecycle the same. */
static void a_step_alone_is_logged(void **state)
{
    connected("");
    put("repair/lx1", REPAIR("isolate", ""));
    committed(COMMAND_SET, "node.set", "lx1", "");
    assert_non_null(strstr(out_since(), "\"left\":\"new\",\"entered\":\"new\",\"left_step\":null,"
                                        "\"entered_step\":\"isolate\""));
}

static void states_wait_for_room(void **state)
{
    configure(BROKER, NODES);
    driver.room = 1;
    driver.sink.state(driver.sink.arg, NULL);
    assert_string_equal(out_since(), NEW("lx3.site"));
    assert_int_equal(broker_waiting(broker), 2);
    driver.sink.state(driver.sink.arg, NULL); /* a node is in the list once */
    assert_int_equal(broker_waiting(broker), 3);
    driver.room = 9;
    driver.sink.room(driver.sink.arg);
    assert_int_equal(broker_waiting(broker), 0);
    assert_string_equal(out_since(), NEW("lx3.site") NEW("lx2") NEW("lx1"));
}

static void the_state_of_a_node_that_is_gone_is_taken_back(void **state)
{
    connected("");
    configure(BROKER, "Name=lx1\nName=lx2\n");
    assert_string_equal(out_since(), "!fettle/v1/nodes/lx3.site/state \n" NEW("lx2") NEW("lx1"));
    configure(BROKER, "Name=lx1\nName=lx2\n");
    assert_string_equal(out_since(), NEW("lx2") NEW("lx1"));
    cluster_meet(cluster, "stranger"); /* it reports, and no file names it */
    committed(COMMAND_SET, "node.set", "stranger", "");
    assert_string_equal(out_since(), "");
}

static void a_move_is_logged_and_published(void **state)
{
    connected("");
    put("repair/lx1", REPAIR("queue", ""));
    committed(COMMAND_SET, "node.set", "lx[1-2]", "");
    const char *out = out_since();
    static const char log[] =
        "fettle/v1/logs/state_machine {\"event\":\"state.changed\",\"node\":\"lx1\",\"left\":"
        "\"new\",\"entered\":\"work_queue\",\"left_step\":null,\"entered_step\":\"queue\","
        "\"why\":\"bad DIMM\"}\n";
    if (strncmp(out, log, sizeof log - 1) != 0)
        fail_msg("%s", out);
    out += sizeof log - 1;
    assert_non_null(strstr(out, "\"event\":\"remedy.suggested\",\"node\":\"lx1\",\"remedies\":[{\"remedy\":"
                                "\"cycle\",\"possible\":true,\"chance_ppm\":500000,\"expected\":60},"));
    assert_non_null(strstr(out, "],\"chosen\":\"cycle\",\"why\":\"it is cheap\"}\n"));
    unsigned n = 0;
    for (const char *s = out; (s = strstr(s, "{\"remedy\":")); s++)
        n++;
    assert_int_equal(n, 8);
    assert_null(strstr(out, "remedy.selected"));
    assert_non_null(strstr(out,
                           "!fettle/v1/nodes/lx1/state {\"node\":\"lx1\",\"state\":\"work_queue\",\"step\":"
                           "\"queue\",\"problem\":\"manual\",\"why\":\"bad DIMM\",\"remedy\":null,"));
    assert_null(strstr(out, "lx2"));
    committed(COMMAND_SET, "node.set", "lx2", "");
    assert_string_equal(out_since(), "");
}

static void a_chosen_remedy_is_logged(void **state)
{
    connected("");
    put("repair/lx1", REPAIR("remedy", "cycle"));
    committed(COMMAND_SET, "node.set", "lx1", "");
    const char *out = out_since();
    assert_non_null(strstr(out, "\"event\":\"remedy.suggested\""));
    assert_non_null(strstr(out,
                           "{\"event\":\"remedy.selected\",\"node\":\"lx1\",\"remedy\":\"cycle\",\"why\":"
                           "\"bad DIMM\"}\n"));
    put("repair/lx1", REPAIR("remedy", "fix")); /* another remedy of the same step: its state alone */
    committed(COMMAND_SET, "node.set", "lx1", "");
    out = out_since();
    assert_int_equal(strncmp(out, "!fettle/v1/nodes/lx1/state ", 27), 0);
    assert_non_null(strstr(out, "\"remedy\":\"fix\""));
    assert_null(strstr(out, "logs"));
}

/* A repair goes on in the commit in which the work ends: the node was drained in between. */
static void a_drained_node_is_logged_between(void **state)
{
    connected("");
    put("node/lx1", "{\"admitted\":\"1000\"}");
    put("claim/1.5", "{\"kind\":\"repair\",\"owner\":\"fettled\",\"reason\":\"x\",\"since\":\"1\",\"nodes\":"
                     "\"lx1\",\"drained\":\"\"}");
    watched.work = WORK_IDLE;
    put("repair/lx1", REPAIR("isolate", ""));
    committed(COMMAND_SET, "node.set", "lx1", "");
    const char *out = out_since();
    assert_non_null(strstr(out, "\"entered\":\"draining\""));
    put("repair/lx1", REPAIR("examine", ""));
    committed(COMMAND_SET, "node.set", "lx1", "");
    out = out_since();
    assert_non_null(strstr(out, "\"left\":\"draining\",\"entered\":\"drained\",\"left_step\":\"isolate\","
                                "\"entered_step\":\"isolate\""));
    assert_non_null(strstr(out, "\"left\":\"drained\",\"entered\":\"examining\",\"left_step\":\"isolate\","
                                "\"entered_step\":\"examine\""));
    put("repair/lx1", REPAIR("isolate", ""));
    committed(COMMAND_SET, "node.set", "lx1", "");
    out_since();
    watched.work = WORK_BUSY; /* a repair that goes on under running work */
    put("repair/lx1", REPAIR("examine", ""));
    committed(COMMAND_SET, "node.set", "lx1", "");
    assert_null(strstr(out_since(), "drained"));
}

static void entries_about_health_are_logged_as_they_are(void **state)
{
    connected("MqttClusterWare = yes\n");
    committed(COMMAND_TRANSITION, "repair.transition", "lx[1-2]", "\"claims\":[\"1.1\"]");
    assert_string_equal(out_since(),
                        "fettle/v1/logs/state_machine {\"event\":\"repair.transition\",\"node\":\"lx[1-2]\","
                        "\"by\":\"ann\",\"text\":\"as \\\"told\\\"\",\"revision\":1,\"claims\":[\"1.1\"]}\n"
                        "ars/v1/logs/state_machine {\"event\":\"repair.transition\",\"node\":\"lx[1-2]\","
                        "\"by\":\"ann\",\"text\":\"as \\\"told\\\"\",\"revision\":1,\"claims\":[\"1.1\"]}\n");
    committed(COMMAND_TRANSITION, "repair.transition", "lx1", NULL);
    assert_non_null(strstr(out_since(), "\"revision\":2}\n"));
    committed(COMMANDS, "of.tomorrow", "lx1", ""); /* a kind that a newer version knows */
    committed(COMMAND_SET, "node.set", "lx1", "");
    assert_string_equal(out_since(), "");
}

/* 64 nodes have a line each; of more, the states alone are published. */
static void a_change_of_very_many_nodes_has_no_lines(void **state)
{
    connected("");
    configure(BROKER, "Name=n[1-65]\n");
    out_since();
    for (int most = 64; most <= 65; most++) {
        char nodes[16];
        snprintf(nodes, sizeof nodes, "n[1-%d]", most);
        for (int i = 1; i <= most; i++) {
            char key[16];
            snprintf(key, sizeof key, "repair/n%d", i);
            put(key, most == 64 ? REPAIR("queue", "") : REPAIR("retired", ""));
        }
        committed(COMMAND_SET, "node.set", nodes, "");
        unsigned lines = 0, states = 0;
        for (const char *s = driver.out.s; (s = strstr(s, "\"state.changed\"")); s++)
            lines++;
        for (const char *s = driver.out.s; (s = strstr(s, "/state {")); s++)
            states++;
        assert_int_equal(lines, most == 64 ? 64 : 0);
        assert_int_equal(states, most);
        text_clear(&driver.out);
    }
}

/* --- transitions ------------------------------------------------------------------------------------ */

static void wish(const char *payload)
{
    driver.sink.message(driver.sink.arg, "fettle/v1/transitions", payload, strlen(payload));
}

static void a_transition_is_submitted_and_answered(void **state)
{
    connected("MqttTransitions = yes\n");
    wish("{\"node\":\"lx1\",\"transition\":\"manual_drain\",\"message\":\"new fan\",\"by\":\"ann\",\"id\":"
         "\"f00d\"}");
    assert_string_equal(submitted.said, "mqtt:ann lx1 manual_drain: new fan");
    assert_string_equal(out_since(), "");
    answer(0, 0, "");
    assert_string_equal(out_since(),
                        "fettle/v1/answers/f00d {\"id\":\"f00d\",\"node\":\"lx1\",\"transition\":"
                        "\"manual_drain\",\"ok\":true,\"revision\":812,\"error\":null,\"text\":\"\"}\n");
    wish("lx1 manual_drain no name");
    assert_string_equal(submitted.said, "mqtt lx1 manual_drain: no name");
    answer(1, -EBUSY, "it has begun");
    const char *out = out_since();
    assert_ptr_equal(strstr(out, "fettle/v1/answers {\"id\":null,"), out);
    assert_non_null(strstr(out, "\"ok\":false,\"error\":\""));
    assert_non_null(strstr(out, "\"text\":\"it has begun\"}\n"));
    wish("lx1 manual_drain lost");
    answer(2, STORE_UNKNOWN, "it is not known");
    assert_non_null(strstr(out_since(), "\"ok\":null,\"error\":\"outcome_unknown\""));
}

static void transitions_are_refused_unless_allowed(void **state)
{
    connected("");
    wish("{\"node\":\"lx1\",\"transition\":\"manual_drain\",\"message\":\"x\",\"id\":\"a\"}");
    assert_int_equal(submitted.n, 0);
    assert_non_null(
        strstr(out_since(), "\"text\":\"MqttTransitions is not set: nodes cannot be moved by MQTT\""));
}

static void wrong_transitions_are_answered(void **state)
{
    connected("MqttTransitions = yes\n");
    wish("");
    wish("{\"node\":\"lx1\",\"transition\":\"explode\",\"message\":\"x\",\"id\":\"b\"}");
    watched.may_resolve = -EBUSY;
    wish("{\"node\":\"lx1\",\"transition\":\"human_intervention\",\"message\":\"x\",\"id\":\"c\"}");
    assert_int_equal(submitted.n, 0);
    const char *out = out_since();
    assert_ptr_equal(strstr(out, "fettle/v1/answers {\"id\":null,"), out);
    assert_non_null(
        strstr(out, "fettle/v1/answers/b {\"id\":\"b\",\"node\":\"lx1\",\"transition\":\"explode\",\"ok\":"
                    "false"));
    assert_non_null(strstr(out, "explode"));
    watched.may_resolve = 0;
    wish("{\"node\":\"nowhere\",\"transition\":\"manual_drain\",\"message\":\"x\"}");
    assert_int_equal(submitted.n, 1); /* the decision says that there is no such node */
}

static void transitions_under_way_are_bounded(void **state)
{
    connected("MqttTransitions = yes\n");
    for (int i = 0; i < 65; i++)
        wish("lx1 manual_drain x");
    assert_int_equal(submitted.n, 64);
    assert_non_null(strstr(out_since(), "64 transitions are under way; ask again later"));
    answer(0, 0, "");
    wish("lx1 manual_drain x");
    assert_int_equal(submitted.n, 65);
}

/* The broker is gone by then, and nobody is told. */
static void an_answer_after_the_end_is_dropped(void **state)
{
    connected("MqttTransitions = yes\n");
    wish("lx1 manual_drain x");
    broker_stop(broker);
    answer(0, 0, "");
    assert_string_equal(out_since(), "");
}

/* --- events ----------------------------------------------------------------------------------------- */

static const char *event(const char *node, const char *more)
{
    CLEANUP_TEXT struct text t = {0};
    watched.event[0] = '\0';
    text_printf(&t,
                "{\"entity\":{\"metadata\":{\"name\":\"%s\"}},\"check\":{\"metadata\":{\"name\":\"ntp\"},"
                "\"status\":2,\"output\":\"off\"%s}}",
                node, more);
    driver.sink.message(driver.sink.arg, "fettle/v1/events", t.s, t.len);
    return watched.event;
}

static void an_event_goes_to_the_watch(void **state)
{
    CLEANUP_TEXT struct text executed = {0};
    connected("");
    const int64_t now_s = wall_now().ns / 1000000000;
    text_printf(&executed, ",\"executed\":%" PRId64, now_s - 30);
    assert_string_equal(event("lx1", executed.s), "lx1 sensu.ntp fatal");
    assert_true(watched.age.ns >= span_s(28).ns && watched.age.ns <= span_s(90).ns);
    text_clear(&executed);
    text_printf(&executed, ",\"executed\":%" PRId64, now_s + 3600); /* a clock that goes ahead */
    event("lx1", executed.s);
    assert_true(watched.age.ns >= span_s(3500).ns && watched.age.ns <= span_s(3600).ns);
    event("lx1", ""); /* without a time it proves nothing */
    assert_true(watched.age.ns > conf.watch.health.fresh.ns);
}

static void a_node_is_found_with_and_without_its_domain(void **state)
{
    connected("");
    assert_string_equal(event("lx1.example.org", ""), "lx1 sensu.ntp fatal");
    assert_string_equal(event("lx3.site", ""), "lx3.site sensu.ntp fatal");
    assert_string_equal(event("lx3", ""), "");
    assert_string_equal(event("lx9", ""), "");
    cluster_meet(cluster, "lx1.other");
    assert_string_equal(event("lx1.other", ""), "lx1 sensu.ntp fatal"); /* no file names the other one */
}

static void events_count_unless_health_is_off(void **state)
{
    connected("MqttEvents = site/events\n");
    watched.event[0] = '\0';
    static const char bad[] = "{\"entity\":7}";
    driver.sink.message(driver.sink.arg, "site/events", bad, sizeof bad - 1);
    assert_string_equal(watched.event, "");
    config_fini(&conf);
    conf = config_good("Health = off\n" BROKER "MqttEvents = site/events\n", NODES, NULL);
    cluster_configure(cluster, &conf.roster, NULL);
    broker_configure(broker, &conf);
    assert_string_equal(event("lx1", ""), "");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(without_a_broker_nothing_is_done),
        TEST(the_connection_follows_the_configuration),
        TEST(the_password_is_that_of_its_file),
        TEST(a_connection_that_cannot_be_made_is_said),
        TEST(all_states_are_published_at_each_connection),
        TEST(a_change_before_the_connection_is_published),
        TEST(a_step_alone_is_logged),
        TEST(states_wait_for_room),
        TEST(the_state_of_a_node_that_is_gone_is_taken_back),
        TEST(a_move_is_logged_and_published),
        TEST(a_chosen_remedy_is_logged),
        TEST(a_drained_node_is_logged_between),
        TEST(entries_about_health_are_logged_as_they_are),
        TEST(a_change_of_very_many_nodes_has_no_lines),
        TEST(a_transition_is_submitted_and_answered),
        TEST(transitions_are_refused_unless_allowed),
        TEST(wrong_transitions_are_answered),
        TEST(transitions_under_way_are_bounded),
        TEST(an_answer_after_the_end_is_dropped),
        TEST(an_event_goes_to_the_watch),
        TEST(a_node_is_found_with_and_without_its_domain),
        TEST(events_count_unless_health_is_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
