/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One thread makes all calls to libmosquitto, because look-ups of names and TCP connects may block it.
 * Between it and the loop are two queues under one lock, an event counter that wakes the thread, and an async
 * handle that wakes the loop.
 *
 * The library's own loops are not used: they call select(), which cannot wait for a descriptor above 1,023,
 * and a controller of ten thousand nodes has those. The functions called here instead read everything that
 * TLS has buffered, and continue a handshake whenever the socket is ready for anything.
 *
 * The library gets few messages at a time; it keeps them over a lost connection until they are acknowledged.
 * The others wait here, where the queue has a limit.
 */
#include "driver/mqtt.h"

#include "base/certificate.h"
#include "base/loop.h"
#include "base/text.h"

#include <assert.h>
#include <errno.h>
#include <mosquitto.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <utlist.h>

enum {
    QOS = 1,
    KEEPALIVE_S = 30,
    CONNECT_S = 20, /* until the broker has accepted us */
    TICK_MS = 1000, /* libmosquitto counts seconds */
    RETRY_S = 1,    /* doubled each time, up to the next value */
    RETRY_MAX_S = 30,
    IN_FLIGHT_MAX = 20, /* as many as the library sends before it waits */
    SHORT_QUEUE = 64,
    TURN_MESSAGES = 64, /* messages that the loop takes at a time */
    END_MS = 500,
    GRANT_REFUSED = 128
};

struct message {
    char *topic, *payload;
    size_t len;
    bool retain;
    struct message *prev, *next;
};

struct queue {
    struct message *list;
    size_t n, bytes;
    uint64_t dropped;
};

struct mqtt {
    struct mqtt_sink sink;
    uv_async_t *async;
    uv_thread_t thread;
    /* Used by the thread only. */
    struct mosquitto *client;
    char *host;
    int port;
    size_t n_topics;
    char **topics;
    unsigned in_flight;
    bool refused;   /* the broker refused, in words */
    char last[200]; /* the library's last error message */
    /* Shared by both. */
    uv_mutex_t lock;
    uv_cond_t ended;
    int wake; /* an event counter */
    bool is_ending, has_ended, is_orphan;
    bool is_there, is_told, wants_room; /* is_told: the loop knows the state */
    struct err why;
    struct queue in, out;
    uint64_t heard, published;
};

/* --- queues ---------------------------------------------------------------------------------- */

static void message_free(struct message *one)
{
    free(one->topic);
    free(one->payload);
    free(one);
}

static size_t mqtt_weight(const struct message *one)
{
    return one->len + strlen(one->topic) + sizeof *one;
}

static struct message *queue_take(struct queue *q)
{
    struct message *one = q->list;
    if (!one)
        return NULL;
    DL_DELETE(q->list, one);
    q->n--;
    q->bytes -= mqtt_weight(one);
    return one;
}

static void queue_clear(struct queue *q)
{
    for (struct message *one; (one = queue_take(q));)
        message_free(one);
}

static void queue_add(struct queue *q, size_t max, const char *topic, const void *payload, size_t len,
                      bool retain)
{
    struct message *one = mem_alloc(sizeof *one);
    *one = (struct message){
        .topic = mem_dup(topic), .payload = mem_dup_len(payload, len), .len = len, .retain = retain};
    DL_APPEND(q->list, one);
    q->n++;
    q->bytes += mqtt_weight(one);
    while (q->n > max || q->bytes > MQTT_QUEUE_BYTES_MAX) {
        message_free(queue_take(q));
        q->dropped++;
    }
}

/* --- what the thread tells the loop: the lock is held ------------------------------------------ */

static void mqtt_tell(struct mqtt *m)
{
    if (m->async)
        uv_async_send(m->async);
}

static void set_state(struct mqtt *m, bool is_there, const struct err *why)
{
    uv_mutex_lock(&m->lock);
    bool same = m->is_told && m->is_there == is_there && (m->why.code != 0) == (why != NULL);
    m->is_there = is_there;
    m->why = why ? *why : (struct err){0};
    if (!same) {
        m->is_told = false;
        mqtt_tell(m);
    }
    uv_mutex_unlock(&m->lock);
}

static void set_away(struct mqtt *m, int rc, int code)
{
    struct err why;
    const char *what = rc == MOSQ_ERR_ERRNO ? strerror(code)
                       : rc == MOSQ_ERR_EAI ? gai_strerror(code)
                                            : mosquitto_strerror(rc);
    const char *more = rc == MOSQ_ERR_TLS || rc == MOSQ_ERR_CONN_REFUSED ? m->last : "";
    err_set(&why, -EAGAIN, "%s:%d: %s%s%s", m->host, m->port, what, *more ? " " : "", more);
    set_state(m, false, &why);
    m->last[0] = '\0';
}

/* --- what libmosquitto calls, in the thread --------------------------------------------------- */

static void on_connect(struct mosquitto *client, void *arg, int rc)
{
    struct mqtt *m = arg;
    if (rc != 0) {
        snprintf(m->last, sizeof m->last, "%s", mosquitto_connack_string(rc));
        m->refused = true;
        return;
    }
    for (size_t i = 0; i < m->n_topics; i++)
        mosquitto_subscribe(client, NULL, m->topics[i], QOS);
    set_state(m, true, NULL);
}

static void on_subscribe(struct mosquitto *client, void *arg, int mid, int n, const int *granted)
{
    struct mqtt *m = arg;
    struct err why;
    for (int i = 0; i < n; i++) {
        if (granted[i] != GRANT_REFUSED)
            continue;
        err_set(&why, -EACCES, "%s:%d: the broker refuses a subscription", m->host, m->port);
        set_state(m, true, &why);
    }
}

static void on_publish(struct mosquitto *client, void *arg, int mid)
{
    struct mqtt *m = arg;
    if (m->in_flight > 0)
        m->in_flight--;
    uv_mutex_lock(&m->lock);
    m->published++;
    uv_mutex_unlock(&m->lock);
}

static void on_message(struct mosquitto *client, void *arg, const struct mosquitto_message *said)
{
    struct mqtt *m = arg;
    if (said->retain)
        return;
    uv_mutex_lock(&m->lock);
    m->heard++;
    if (said->payloadlen < 0 || said->payloadlen > MQTT_PAYLOAD_BYTES_MAX ||
        strlen(said->topic) > MQTT_TOPIC_BYTES_MAX)
        m->in.dropped++;
    else
        queue_add(&m->in, MQTT_IN_MAX, said->topic, said->payload ? said->payload : "",
                  (size_t)said->payloadlen, false);
    mqtt_tell(m);
    uv_mutex_unlock(&m->lock);
}

static void on_log(struct mosquitto *client, void *arg, int level, const char *text)
{
    struct mqtt *m = arg;
    if (level == MOSQ_LOG_ERR)
        snprintf(m->last, sizeof m->last, "(%s)", text);
}

/* --- the thread ------------------------------------------------------------------------------ */

static bool is_ending(struct mqtt *m)
{
    uv_mutex_lock(&m->lock);
    bool ending = m->is_ending;
    uv_mutex_unlock(&m->lock);
    return ending;
}

/* The next message to send, if one may be sent. */
static struct message *take_out(struct mqtt *m)
{
    uv_mutex_lock(&m->lock);
    struct message *one = m->is_there && m->in_flight < IN_FLIGHT_MAX ? queue_take(&m->out) : NULL;
    if (m->wants_room && m->is_there && m->out.n < SHORT_QUEUE / 2)
        mqtt_tell(m);
    uv_mutex_unlock(&m->lock);
    return one;
}

static void send_out(struct mqtt *m)
{
    for (struct message *one; (one = take_out(m));) {
        /* Without a connection the library keeps it for the next one. It would refuse a bad message, for
         * instance with a bad topic, again. */
        int rc =
            mosquitto_publish(m->client, NULL, one->topic, (int)one->len, one->payload, QOS, one->retain);
        if (rc == MOSQ_ERR_SUCCESS || rc == MOSQ_ERR_NO_CONN) {
            m->in_flight++;
        } else {
            uv_mutex_lock(&m->lock);
            m->out.dropped++;
            uv_mutex_unlock(&m->lock);
        }
        message_free(one);
    }
}

/* Waits for the socket (below 0: none) or for a wake-up. */
static short wait_for(struct mqtt *m, int fd, short events, int ms)
{
    uint64_t n;
    struct pollfd p[] = {{.fd = m->wake, .events = POLLIN}, {.fd = fd, .events = events}};
    if (poll(p, 2, ms) <= 0)
        return 0;
    if (p[0].revents & POLLIN && read(m->wake, &n, sizeof n) < 0)
        return 0;
    return p[1].revents;
}

static int mqtt_turn(struct mqtt *m)
{
    int fd = mosquitto_socket(m->client), rc = MOSQ_ERR_SUCCESS;
    if (fd < 0)
        return MOSQ_ERR_NO_CONN;
    send_out(m);
    short want = (short)(POLLIN | (mosquitto_want_write(m->client) ? POLLOUT : 0));
    short is = wait_for(m, fd, want, TICK_MS);
    if (is)
        rc = mosquitto_loop_read(m->client, 1);
    if (rc == MOSQ_ERR_SUCCESS && mosquitto_want_write(m->client))
        rc = mosquitto_loop_write(m->client, 1);
    if (rc == MOSQ_ERR_SUCCESS && m->refused)
        rc = MOSQ_ERR_CONN_REFUSED;
    return rc == MOSQ_ERR_SUCCESS ? mosquitto_loop_misc(m->client) : rc;
}

static bool has_come(struct mqtt *m)
{
    uv_mutex_lock(&m->lock);
    bool is = m->is_there;
    uv_mutex_unlock(&m->lock);
    return is;
}

/* Serves one connection to its end. True when there was one. */
static bool be_connected(struct mqtt *m)
{
    bool came = false;
    m->refused = false;
    struct mono deadline = mono_add(mono_now(), span_s(CONNECT_S));
    int rc = mosquitto_connect(m->client, m->host, m->port, KEEPALIVE_S);
    while (rc == MOSQ_ERR_SUCCESS && !is_ending(m)) {
        errno = 0;
        rc = mqtt_turn(m);
        came = came || has_come(m);
        if (rc == MOSQ_ERR_SUCCESS && !came && mono_sub(mono_now(), deadline).ns > 0)
            rc = MOSQ_ERR_KEEPALIVE;
    }
    int code = errno;
    if (rc != MOSQ_ERR_SUCCESS)
        set_away(m, rc, code);
    mosquitto_disconnect(m->client);
    return came;
}

static void mqtt_free(struct mqtt *m)
{
    mosquitto_destroy(m->client);
    queue_clear(&m->in);
    queue_clear(&m->out);
    for (size_t i = 0; i < m->n_topics; i++)
        free(m->topics[i]);
    free(m->topics);
    free(m->host);
    if (m->wake >= 0)
        close(m->wake);
    uv_cond_destroy(&m->ended);
    uv_mutex_destroy(&m->lock);
    free(m);
}

static void mqtt_run(void *arg)
{
    struct mqtt *m = arg;
    int rest_s = RETRY_S;
    while (!is_ending(m)) {
        if (be_connected(m))
            rest_s = RETRY_S;
        for (struct mono until = mono_add(mono_now(), span_s(rest_s)); !is_ending(m);) {
            int64_t ms = span_to_ms(mono_sub(until, mono_now()));
            if (ms <= 0)
                break;
            wait_for(m, -1, 0, (int)ms);
        }
        rest_s = rest_s * 2 < RETRY_MAX_S ? rest_s * 2 : RETRY_MAX_S;
    }
    uv_mutex_lock(&m->lock);
    m->has_ended = true;
    bool orphan = m->is_orphan;
    uv_cond_signal(&m->ended);
    uv_mutex_unlock(&m->lock);
    if (orphan)
        mqtt_free(m);
}

/* --- the loop -------------------------------------------------------------------------------- */

static void tell_state(struct mqtt *m)
{
    uv_mutex_lock(&m->lock);
    bool was_told = m->is_told;
    struct err why = m->why;
    m->is_told = true;
    uv_mutex_unlock(&m->lock);
    if (!was_told)
        m->sink.state(m->sink.arg, why.code ? &why : NULL);
}

/* False: no message is left. */
static bool deliver_one(struct mqtt *m)
{
    uv_mutex_lock(&m->lock);
    struct message *one = queue_take(&m->in);
    uv_mutex_unlock(&m->lock);
    if (!one)
        return false;
    m->sink.message(m->sink.arg, one->topic, one->payload, one->len);
    message_free(one);
    return true;
}

static void on_async(uv_async_t *handle)
{
    LOOP_DOES("MQTT");
    struct mqtt *m = handle->data;
    if (!m)
        return;
    tell_state(m);
    int n = 0;
    while (n < TURN_MESSAGES && deliver_one(m))
        n++;
    if (n == TURN_MESSAGES)
        uv_async_send(handle); /* others get their turn first */
    uv_mutex_lock(&m->lock);
    bool room = m->wants_room && m->is_there && m->out.n < SHORT_QUEUE / 2;
    m->wants_room = m->wants_room && !room;
    uv_mutex_unlock(&m->lock);
    if (room)
        m->sink.room(m->sink.arg);
}

static void mqtt_wake(const struct mqtt *m)
{
    static const uint64_t one = 1;
    while (write(m->wake, &one, sizeof one) < 0 && errno == EINTR)
        continue;
}

void mqtt_publish(struct mqtt *m, const char *topic, const char *payload, size_t len, bool retain)
{
    assert(topic);
    assert(payload || len == 0);
    uv_mutex_lock(&m->lock);
    queue_add(&m->out, MQTT_OUT_MAX, topic, payload, len, retain);
    uv_mutex_unlock(&m->lock);
    mqtt_wake(m);
}

bool mqtt_has_room(struct mqtt *m)
{
    uv_mutex_lock(&m->lock);
    bool room = m->is_there && m->out.n < SHORT_QUEUE;
    m->wants_room = m->wants_room || !room;
    uv_mutex_unlock(&m->lock);
    return room;
}

struct mqtt_counts mqtt_counts(struct mqtt *m)
{
    uv_mutex_lock(&m->lock);
    struct mqtt_counts c = {.heard = m->heard,
                            .published = m->published,
                            .dropped_in = m->in.dropped,
                            .dropped_out = m->out.dropped};
    uv_mutex_unlock(&m->lock);
    return c;
}

/* --- its life -------------------------------------------------------------------------------- */

int mqtt_filter_check(const char *filter, struct err *e)
{
    if (!*filter || strlen(filter) > MQTT_TOPIC_BYTES_MAX ||
        mosquitto_sub_topic_check(filter) != MOSQ_ERR_SUCCESS ||
        mosquitto_validate_utf8(filter, (int)strlen(filter)) != MOSQ_ERR_SUCCESS)
        return err_set(e, -EINVAL, "\"%.200s\" is no topic to subscribe to", filter);
    return 0;
}

static int check_readable(const char *path, struct err *e)
{
    FILE *f = fopen(path, "re");
    if (!f)
        return err_set(e, -EINVAL, "our own certificate: %s: %s", path, strerror(errno));
    fclose(f);
    return 0;
}

static int configure_tls(struct mqtt *m, const struct mqtt_conf *conf, struct err *e)
{
    const char *const own[] = {conf->certificate, conf->key};
    for (size_t i = 0; i < 2; i++)
        if (own[i] && check_readable(own[i], e) < 0)
            return -EINVAL;
    int rc =
        mosquitto_tls_set(m->client, conf->ca, NULL, conf->certificate, conf->key, certificate_no_passphrase);
    if (rc != MOSQ_ERR_SUCCESS)
        return err_set(e, -EINVAL, "the broker's authority %s: %s", conf->ca, mosquitto_strerror(rc));
    return 0;
}

static int mqtt_configure(struct mqtt *m, const struct mqtt_conf *conf, struct err *e)
{
    int rc = mosquitto_username_pw_set(m->client, conf->user, conf->password);
    if (rc != MOSQ_ERR_SUCCESS)
        return err_set(e, -EINVAL, "user and password of the broker: %s", mosquitto_strerror(rc));
    if (conf->ca && configure_tls(m, conf, e) < 0)
        return -EINVAL;
    for (size_t i = 0; i < conf->n_topics; i++)
        if (mqtt_filter_check(conf->topics[i], e) < 0)
            return -EINVAL;
    mosquitto_connect_callback_set(m->client, on_connect);
    mosquitto_subscribe_callback_set(m->client, on_subscribe);
    mosquitto_publish_callback_set(m->client, on_publish);
    mosquitto_message_callback_set(m->client, on_message);
    mosquitto_log_callback_set(m->client, on_log);
    return 0;
}

static struct mqtt *mqtt_make(const struct mqtt_conf *conf, const struct mqtt_sink *sink)
{
    static bool begun;
    if (!begun)
        mosquitto_lib_init();
    begun = true;
    struct mqtt *m = mem_alloc(sizeof *m);
    m->sink = *sink;
    m->host = mem_dup(conf->host);
    m->port = conf->port;
    m->topics = mem_alloc((conf->n_topics + 1) * sizeof *m->topics);
    for (; m->n_topics < conf->n_topics; m->n_topics++)
        m->topics[m->n_topics] = mem_dup(conf->topics[m->n_topics]);
    uv_mutex_init(&m->lock);
    uv_cond_init(&m->ended);
    m->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    m->client = mosquitto_new(NULL, true, m);
    return m;
}

static void on_closed(uv_handle_t *handle)
{
    free(handle);
}

int mqtt_create(uv_loop_t *loop, const struct mqtt_conf *conf, const struct mqtt_sink *sink,
                struct mqtt **out, struct err *e)
{
    struct mqtt *m = mqtt_make(conf, sink);
    int rc = m->client && m->wake >= 0 ? mqtt_configure(m, conf, e)
                                       : err_set(e, -ENOMEM, "no room for a connection to a broker");
    if (rc < 0) {
        mqtt_free(m);
        return rc;
    }
    m->async = mem_alloc(sizeof *m->async);
    uv_async_init(loop, m->async, on_async);
    m->async->data = m;
    m->is_told = true; /* reported as absent only when that has lasted long enough */
    if (uv_thread_create(&m->thread, mqtt_run, m) != 0) {
        uv_close((uv_handle_t *)m->async, on_closed);
        mqtt_free(m);
        return err_set(e, -EAGAIN, "no thread for a connection to a broker");
    }
    *out = m;
    return 0;
}

void mqtt_destroy(struct mqtt *m)
{
    if (!m)
        return;
    m->async->data = NULL;
    uv_close((uv_handle_t *)m->async, on_closed);
    uv_mutex_lock(&m->lock);
    m->async = NULL;
    m->is_ending = true;
    uv_mutex_unlock(&m->lock);
    mqtt_wake(m);
    uv_mutex_lock(&m->lock);
    while (!m->has_ended && uv_cond_timedwait(&m->ended, &m->lock, (uint64_t)span_ms(END_MS).ns) == 0)
        continue;
    uv_thread_t thread = m->thread;
    bool ended = m->has_ended;
    m->is_orphan = !ended; /* it is looking up a name or waits for a connect; it ends by itself */
    uv_mutex_unlock(&m->lock);
    if (!ended) {
        pthread_detach(thread);
        return;
    }
    uv_thread_join(&thread);
    mqtt_free(m);
}
