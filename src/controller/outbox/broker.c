/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The published state of a node can be made anew at any time. So there is a list of nodes whose state is to
 * be published, and a state is written only when the broker is there and little waits for it. Ten thousand
 * nodes that change at once, or all nodes when the broker is back, fill no queue. Lines of the log cannot
 * be made anew; they wait in the driver's queue, and the oldest go when there is no room.
 */
#include "controller/outbox/broker.h"

#include "base/json.h"
#include "base/log.h"
#include "base/secret.h"
#include "driver/event.h"
#include "driver/mqtt.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOVES_MAX = 64,   /* nodes of one change that have a line each in the log */
    WISHES_MAX = 64,  /* transitions under way */
    SUGGESTED_MAX = 8 /* remedies in a line of the log */
};

static const char log_topic[] = "logs/state_machine", cluster_ware_topic[] = "ars/v1/logs/state_machine";

/* The last published state of a member. */
struct shown {
    bool known;  /* the next two are given */
    bool marked; /* it is in the list */
    bool out;    /* the broker has a state of it */
    enum lifecycle lifecycle;
    enum step step;
};

struct broker {
    struct broker_setup with;
    struct mqtt *mqtt;   /* NULL: none */
    char *prefix, *said; /* said: the parameters of the connection, to see whether they change */
    bool takes_transitions, takes_events, cluster_ware;
    bool is_away; /* and that was told */
    struct span fresh;
    size_t n_shown; /* by member id */
    struct shown *shown;
    size_t n_marked;
    uint32_t *marked;
    size_t n_wishes;
};

/* --- out ------------------------------------------------------------------------------------- */

static void broker_publish(struct broker *b, const char *topic, const struct text *t, bool retain)
{
    CLEANUP_TEXT struct text full = {0};
    text_printf(&full, "%s/v1/%s", b->prefix, topic);
    if (t->len <= MQTT_PAYLOAD_BYTES_MAX && full.len <= MQTT_TOPIC_BYTES_MAX)
        mqtt_publish(b->mqtt, full.s, t->s ? t->s : "", t->len, retain);
}

static void publish_log(struct broker *b, const struct text *t)
{
    broker_publish(b, log_topic, t, false);
    if (b->cluster_ware && t->len <= MQTT_PAYLOAD_BYTES_MAX)
        mqtt_publish(b->mqtt, cluster_ware_topic, t->s, t->len, false);
}

static void add_time(struct text *t, const char *key, struct wall at)
{
    char buf[32];
    text_add_member(t, key, wall_format(at, buf));
}

static enum lifecycle broker_lifecycle(const struct member *m)
{
    struct agreed a = member_agreed(m);
    return lifecycle_of(&a);
}

static enum step broker_step(const struct member *m)
{
    const struct repair *r = member_repair(m);
    return r ? r->step : STEP_NONE;
}

static void render_state(const struct member *m, struct text *t)
{
    const struct repair *r = member_repair(m);
    CLEANUP_TEXT struct text claims = {0};
    member_claims(m, &claims);
    text_add_member(t, "node", m->name);
    text_add_member(t, "state", lifecycle_name(broker_lifecycle(m)));
    text_add_member(t, "step", r ? step_name(r->step) : NULL);
    text_add_member(t, "problem", r ? r->problem : NULL);
    text_add_member(t, "why", r ? r->why : NULL);
    text_add_member(t, "remedy", r && *r->remedy ? r->remedy : NULL);
    text_add_member(t, "claims", claims.len ? claims.s : "");
    if (r)
        add_time(t, "since", r->since);
    add_time(t, "at", wall_now());
    text_add_char(t, '}');
}

static struct shown *shown_of(struct broker *b, const struct member *m)
{
    if (m->id >= b->n_shown) {
        size_t n = cluster_count(b->with.cluster);
        b->shown = mem_grow(b->shown, n * sizeof *b->shown);
        b->marked = mem_grow(b->marked, n * sizeof *b->marked);
        for (; b->n_shown < n; b->n_shown++)
            b->shown[b->n_shown] = (struct shown){0};
    }
    return &b->shown[m->id];
}

static void broker_mark(struct broker *b, const struct member *m)
{
    struct shown *s = shown_of(b, m);
    if (s->marked || !(m->listed || s->out))
        return;
    s->marked = true;
    b->marked[b->n_marked++] = m->id;
}

static void publish_state(struct broker *b, const struct member *m)
{
    CLEANUP_TEXT struct text topic = {0}, state = {0};
    struct shown *s = shown_of(b, m);
    s->marked = false;
    s->out = m->listed;
    text_printf(&topic, "nodes/%s/state", m->name);
    if (m->listed)
        render_state(m, &state); /* else nothing: the state that the broker retains goes */
    broker_publish(b, topic.s, &state, true);
}

static void publish_states(struct broker *b)
{
    while (b->mqtt && b->n_marked && mqtt_has_room(b->mqtt))
        publish_state(b, cluster_by_id(b->with.cluster, b->marked[--b->n_marked]));
}

/* Takes note of what it is now. Whether that is something else than before; *was is what it was. */
static bool note_state(struct broker *b, const struct member *m, struct shown *was)
{
    struct shown *s = shown_of(b, m);
    *was = *s;
    s->known = true;
    s->lifecycle = broker_lifecycle(m);
    s->step = broker_step(m);
    return was->known && (was->lifecycle != s->lifecycle || was->step != s->step);
}

static void mark_all(struct broker *b)
{
    struct shown was;
    for (uint32_t id = 0; id < cluster_count(b->with.cluster); id++) {
        const struct member *m = cluster_by_id(b->with.cluster, id);
        note_state(b, m, &was);
        broker_mark(b, m);
    }
}

/* --- the log --------------------------------------------------------------------------------- */

static void log_head(struct text *t, const char *event, struct wall at, const char *node)
{
    text_add_member(t, "event", event);
    add_time(t, "at", at);
    text_add_member(t, "node", node);
}

struct move {
    enum lifecycle left, entered;
    enum step left_step, entered_step;
};

static const char *step_or_null(enum step s)
{
    return s == STEP_NONE ? NULL : step_name(s);
}

static void log_move(struct broker *b, const struct member *m, const struct move *v, struct wall at)
{
    CLEANUP_TEXT struct text t = {0};
    const struct repair *r = member_repair(m);
    log_head(&t, "state.changed", at, m->name);
    text_add_member(&t, "left", lifecycle_name(v->left));
    text_add_member(&t, "entered", lifecycle_name(v->entered));
    text_add_member(&t, "left_step", step_or_null(v->left_step));
    text_add_member(&t, "entered_step", step_or_null(v->entered_step));
    text_add_member(&t, "why", r ? r->why : "");
    text_add_char(&t, '}');
    publish_log(b, &t);
}

static void log_suggested(struct broker *b, const struct member *m, struct wall at)
{
    CLEANUP_TEXT struct text t = {0};
    CLEANUP_FREE struct choice *k = mem_alloc(sizeof *k);
    watch_choice(b->with.watch, mono_now(), m, k);
    log_head(&t, "remedy.suggested", at, m->name);
    text_add(&t, ",\"remedies\":[");
    for (size_t i = 0; i < k->n && i < SUGGESTED_MAX; i++) {
        text_add(&t, i ? ",{\"remedy\":" : "{\"remedy\":");
        text_add_json(&t, k->candidates[i].remedy->name);
        text_printf(&t, ",\"possible\":%s,\"chance_ppm\":%" PRIu32 ",\"expected\":%" PRId64 "}",
                    k->candidates[i].possible ? "true" : "false", k->candidates[i].chance,
                    k->candidates[i].expected);
    }
    text_add_char(&t, ']');
    text_add_member(&t, "chosen", k->chosen ? k->chosen->name : NULL);
    text_add_member(&t, "why", k->why);
    text_add_char(&t, '}');
    publish_log(b, &t);
}

static void log_selected(struct broker *b, const struct member *m, struct wall at)
{
    CLEANUP_TEXT struct text t = {0};
    const struct repair *r = member_repair(m);
    log_head(&t, "remedy.selected", at, m->name);
    text_add_member(&t, "remedy", r->remedy);
    text_add_member(&t, "why", r->why);
    text_add_char(&t, '}');
    publish_log(b, &t);
}

/* Entries of the journal about health and repair go into the log as they are. */
static void log_entry(struct broker *b, const struct committed *c)
{
    const struct store_entry *entry = c->entry;
    CLEANUP_TEXT struct text t = {0};
    log_head(&t, entry->what, entry->at, entry->nodes);
    text_add_member(&t, "by", entry->actor);
    text_add_member(&t, "text", entry->text);
    text_printf(&t, ",\"revision\":%" PRIu64, c->revision);
    if (entry->fields && *entry->fields)
        text_printf(&t, ",%s", entry->fields);
    text_add_char(&t, '}');
    publish_log(b, &t);
}

/* A repair goes on as soon as no work is left, often in the same commit: no reading has shown the node
 * drained then, though it is. A repair that goes on under running work has no drained node. */
static bool was_drained(const struct broker *b, const struct member *m, const struct move *v)
{
    return v->left == LIFECYCLE_DRAINING && v->entered != LIFECYCLE_DRAINED &&
           v->entered != LIFECYCLE_AVAILABLE && watch_work(b->with.watch, m) == WORK_IDLE;
}

static void log_moves(struct broker *b, const struct member *m, const struct shown *was, struct wall at)
{
    struct move v = {was->lifecycle, broker_lifecycle(m), was->step, broker_step(m)};
    if (was_drained(b, m, &v)) {
        const struct move first = {v.left, LIFECYCLE_DRAINED, v.left_step, v.left_step};
        log_move(b, m, &first, at);
        v.left = LIFECYCLE_DRAINED;
    }
    log_move(b, m, &v, at);
}

static void note_change(struct broker *b, const struct member *m, struct wall at, bool each)
{
    struct shown was;
    if (!note_state(b, m, &was)) {
        if (!was.known || broker_step(m) != STEP_NONE) /* met just now; or its remedy is another one */
            broker_mark(b, m);
        return;
    }
    broker_mark(b, m);
    if (!each)
        return;
    log_moves(b, m, &was, at);
    if (broker_step(m) == was.step)
        return;
    if (broker_step(m) == STEP_REMEDY || broker_step(m) == STEP_REPLACE || broker_step(m) == STEP_QUEUE)
        log_suggested(b, m, at);
    if ((broker_step(m) == STEP_REMEDY || broker_step(m) == STEP_REPLACE) && *member_repair(m)->remedy)
        log_selected(b, m, at);
}

void broker_entry(struct broker *b, const struct committed *c)
{
    const struct hostlist *changed = c->changed;
    if (!b->mqtt)
        return;
    if (c->kind < COMMANDS && command_is_published(c->kind))
        log_entry(b, c);
    size_t place = 0;
    for (size_t i = 0; i < changed->n; i++) {
        const struct member *m = cluster_find_next(b->with.cluster, &place, changed->names[i]);
        if (m)
            note_change(b, m, c->entry->at, changed->n <= MOVES_MAX);
    }
    publish_states(b);
}

/* --- in: transitions ------------------------------------------------------------------------- */

struct wish {
    struct broker *broker;
    struct transition_wish w;
};

static void broker_answer(struct broker *b, const struct transition_wish *w, uint64_t revision,
                          const struct err *why)
{
    CLEANUP_TEXT struct text t = {0}, topic = {0};
    if (!b->mqtt)
        return;
    text_add_member(&t, "id", *w->id ? w->id : NULL);
    text_add_member(&t, "node", w->node);
    text_add_member(&t, "transition", w->transition);
    text_printf(&t, ",\"ok\":%s", !why ? "true" : why->code == STORE_UNKNOWN ? "null" : "false");
    if (!why)
        text_printf(&t, ",\"revision\":%" PRIu64, revision);
    text_add_member(&t, "error", why ? err_name(why->code) : NULL);
    text_add_member(&t, "text", why ? why->msg : "");
    text_add_char(&t, '}');
    text_printf(&topic, "answers%s%s", *w->id ? "/" : "", w->id);
    broker_publish(b, topic.s, &t, false);
}

static void on_decided(void *arg, const struct outcome *o)
{
    struct wish *x = arg;
    x->broker->n_wishes--;
    broker_answer(x->broker, &x->w, o->revision, o->rc < 0 ? o->why : NULL);
    free(x);
}

static void broker_submit(struct broker *b, const struct transition_wish *w, enum by_hand what)
{
    CLEANUP_TEXT struct text actor = {0};
    CLEANUP_HOSTLIST struct hostlist one = {0};
    struct wish *x = mem_alloc(sizeof *x);
    *x = (struct wish){b, *w};
    hostlist_add(&one, w->node);
    text_printf(&actor, "mqtt%s%s", *w->by ? ":" : "", w->by);
    const struct command cmd = {.kind = COMMAND_TRANSITION,
                                .actor = actor.s,
                                .at = wall_now(),
                                .nodes = &one,
                                .reason = w->message,
                                .transition = {.what = what}};
    b->n_wishes++;
    committer_submit(b->with.committer, &cmd, on_decided, x);
}

static int may_move(const struct broker *b, const struct transition_wish *w, enum by_hand what, struct err *e)
{
    const struct member *m = cluster_find(b->with.cluster, w->node);
    return m && what == BY_HAND_REPAIRED ? watch_may_resolve(b->with.watch, mono_now(), m, e) : 0;
}

static void on_transition(struct broker *b, const char *payload, size_t len)
{
    struct transition_wish w;
    enum by_hand what;
    struct err why = {0};
    if (transition_wish_read(payload, len, &w, &why) == 0) {
        if (!b->takes_transitions)
            err_set(&why, -EACCES, "MqttTransitions is not set: nodes cannot be moved by MQTT");
        else if (b->n_wishes >= WISHES_MAX)
            err_set(&why, -EAGAIN, "%d transitions are under way; ask again later", WISHES_MAX);
        else if (by_hand_parse(w.transition, &what, &why) == 0)
            may_move(b, &w, what, &why);
    }
    if (why.code == 0) {
        broker_submit(b, &w, what);
        return;
    }
    log_info("a transition by MQTT is refused: %s", why.msg);
    broker_answer(b, &w, 0, &why);
}

/* --- in: events ------------------------------------------------------------------------------ */

/* As it is named, or without its domain. */
static struct member *find_node(const struct broker *b, const char *name)
{
    struct member *m = cluster_find(b->with.cluster, name);
    CLEANUP_FREE char *brief = mem_dup_len(name, strcspn(name, "."));
    return m && m->listed ? m : cluster_find(b->with.cluster, brief);
}

/* A clock that goes ahead proves as little as one that goes behind; one that is not said, nothing. */
static struct span age_of(const struct broker *b, struct wall at, struct wall now)
{
    if (at.ns == 0)
        return (struct span){b->fresh.ns + span_s(1).ns};
    return (struct span){now.ns > at.ns ? now.ns - at.ns : at.ns - now.ns};
}

static void on_event(struct broker *b, const char *topic, const char *payload, size_t len)
{
    struct err e = {0};
    struct sensu_event x;
    struct wall now = wall_now();
    if (!b->takes_events)
        return;
    int rc = sensu_event_read(payload, len, &x, &e);
    struct member *m = rc == 0 ? find_node(b, x.node) : NULL;
    if (rc == 0 && !m)
        rc = err_set(&e, -ENOENT, "no node \"%s\"", x.node);
    if (rc == 0)
        rc = watch_event(b->with.watch, mono_now(), now, m, x.check, &x.verdict, age_of(b, x.at, now), &e);
    if (rc < 0)
        log_debug(LOG_MSG, "%s: %s", topic, e.msg);
}

static void on_message(void *arg, const char *topic, const char *payload, size_t len)
{
    struct broker *b = arg;
    CLEANUP_TEXT struct text transitions = {0};
    text_printf(&transitions, "%s/v1/transitions", b->prefix);
    if (strcmp(topic, transitions.s) == 0)
        on_transition(b, payload, len);
    else
        on_event(b, topic, payload, len);
}

/* --- the connection -------------------------------------------------------------------------- */

static void go_away(struct broker *b, const struct err *why)
{
    counterpart_failed(b->with.counterparts, COUNTERPART_MQTT, "", why);
    b->is_away = true;
}

static void on_state(void *arg, const struct err *why)
{
    struct broker *b = arg;
    if (why) {
        go_away(b, why);
        return;
    }
    log_info("the MQTT broker answers; %" PRIu64 " messages to it were dropped so far",
             mqtt_counts(b->mqtt).dropped_out);
    counterpart_succeeded(b->with.counterparts, COUNTERPART_MQTT);
    b->is_away = false;
    mark_all(b);
    publish_states(b);
}

static void on_room(void *arg)
{
    publish_states(arg);
}

static const char *broker_given(const struct config *conf, enum setting s)
{
    return *conf->text[s] ? conf->text[s] : NULL;
}

static int connect_to(struct broker *b, const struct config *conf, struct err *e)
{
    CLEANUP_TEXT struct text password = {0};
    const char *topics[MQTT_TOPICS_MAX], *path = broker_given(conf, SETTING_MQTT_PASSWORD_FILE);
    CLEANUP_TEXT struct text events = {0}, transitions = {0};
    text_printf(&events, "%s/v1/events", b->prefix);
    text_printf(&transitions, "%s/v1/transitions", b->prefix);
    const struct mqtt_sink sink = {b, on_message, on_state, on_room};
    struct mqtt_conf m = {.host = conf->mqtt.host,
                          .port = conf->mqtt.port,
                          .user = broker_given(conf, SETTING_MQTT_USER),
                          .ca = broker_given(conf, SETTING_MQTT_CA),
                          .certificate = broker_given(conf, SETTING_MQTT_CERTIFICATE),
                          .key = broker_given(conf, SETTING_MQTT_KEY),
                          .topics = topics};
    topics[m.n_topics++] = events.s;
    topics[m.n_topics++] = transitions.s;
    for (size_t i = 0; i < conf->mqtt.topics.n; i++)
        topics[m.n_topics++] = conf->mqtt.topics.names[i];
    int rc = path ? secret_read(path, &password, e) : 0;
    m.password = password.s;
    return rc < 0 ? rc : mqtt_create(b->with.loop, &m, &sink, &b->mqtt, e);
}

static char *connection_of(const struct config *conf)
{
    static const enum setting all[] = {
        SETTING_MQTT_BROKER,      SETTING_MQTT_USER, SETTING_MQTT_PASSWORD_FILE, SETTING_MQTT_CA,
        SETTING_MQTT_CERTIFICATE, SETTING_MQTT_KEY,  SETTING_MQTT_PREFIX,        SETTING_MQTT_EVENTS};
    struct text t = {0};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        text_printf(&t, "%s\n", conf->text[all[i]]);
    return text_take(&t);
}

void broker_configure(struct broker *b, const struct config *conf)
{
    struct err why = {0};
    CLEANUP_FREE char *said = connection_of(conf);
    counterpart_configure(b->with.counterparts, COUNTERPART_MQTT, *conf->mqtt.host);
    b->takes_transitions = conf->number[SETTING_MQTT_TRANSITIONS];
    b->takes_events = conf->number[SETTING_HEALTH] != HEALTH_OFF;
    b->cluster_ware = conf->number[SETTING_MQTT_CLUSTER_WARE];
    b->fresh = conf->watch.health.fresh;
    if (b->mqtt && !b->is_away && strcmp(said, b->said) == 0) {
        mark_all(b); /* nodes may have come and gone */
        publish_states(b);
        return;
    }
    mqtt_destroy(STEAL(b->mqtt));
    free(b->said);
    free(b->prefix);
    b->said = STEAL(said);
    b->prefix = mem_dup(conf->text[SETTING_MQTT_PREFIX]);
    if (!*conf->mqtt.host)
        b->is_away = false;
    else if (connect_to(b, conf, &why) < 0)
        go_away(b, &why);
}

struct broker *broker_create(const struct broker_setup *setup, const struct config *conf)
{
    struct broker *b = mem_alloc(sizeof *b);
    b->with = *setup;
    broker_configure(b, conf);
    return b;
}

size_t broker_waiting(const struct broker *b)
{
    return b->mqtt ? b->n_marked : 0;
}

void broker_stop(struct broker *b)
{
    if (b)
        mqtt_destroy(STEAL(b->mqtt));
}

void broker_destroy(struct broker *b)
{
    if (!b)
        return;
    free(b->shown);
    free(b->marked);
    free(b->said);
    free(b->prefix);
    free(b);
}
