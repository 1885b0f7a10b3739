/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_DRIVER_MQTT_H
#define FETTLE_DRIVER_MQTT_H

#include "base/clock.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

/*
 * A connection to an MQTT broker (3.1.1, libmosquitto) that is restored whenever it is lost. It lives in a
 * thread of its own, so that a name server or a broker that hangs blocks nothing else. Messages in both
 * directions pass through a bounded queue, which drops and counts the oldest when it is full. All functions
 * are called from the loop, and all callbacks come from it.
 *
 * The quality of service is 1: receivers must tolerate the same message twice.
 */

enum {
    MQTT_PAYLOAD_BYTES_MAX = 256 << 10,
    MQTT_TOPIC_BYTES_MAX = 255,
    MQTT_TOPICS_MAX = 16,
    MQTT_IN_MAX = 4096,
    MQTT_OUT_MAX = 16384,
    MQTT_QUEUE_BYTES_MAX = 8 << 20 /* of each queue */
};

/* Texts are copied. */
struct mqtt_conf {
    const char *host;
    uint16_t port;
    const char *user;     /* NULL for none */
    const char *password; /* NULL for none */
    const char *ca;       /* file of the authority that signed the broker's certificate; NULL: no TLS */
    const char *certificate,
        *key; /* our own certificate and key, used with `ca`, without a passphrase; NULL: none is shown */
    size_t n_topics;
    const char *const *topics; /* filters to subscribe to at each connection */
};

struct mqtt_sink {
    void *arg;
    /* A message, but never one that the broker had retained, because its age is unknown. A zero byte follows
     * payload. */
    void (*message)(void *arg, const char *topic, const char *payload, size_t len);
    /* The broker is connected (NULL) or not (why). Called when that changes, and once when it is not
     * connected at first. */
    void (*state)(void *arg, const struct err *why);
    /* The outgoing queue has room again, after it was full or the broker was away. */
    void (*room)(void *arg);
};

/* -EINVAL with a sentence when it is not a topic filter. */
int mqtt_filter_check(const char *filter, struct err *e);

struct mqtt;
/* -EINVAL for a configuration that libmosquitto refuses, such as a CA that cannot be read. Does not wait for
 * the broker. */
int mqtt_create(uv_loop_t *loop, const struct mqtt_conf *conf, const struct mqtt_sink *sink,
                struct mqtt **out, struct err *e);
/* Ends the connection without further callbacks; waits a moment for messages under way. NULL is fine. */
void mqtt_destroy(struct mqtt *m);

/* Queues a message, even while the broker is away. */
void mqtt_publish(struct mqtt *m, const char *topic, const char *payload, size_t len, bool retain);
/* True when the broker is connected and the outgoing queue is short. Publish messages that can be made anew
 * at any time only then. */
bool mqtt_has_room(struct mqtt *m);
struct mqtt_counts {
    uint64_t heard, published; /* since the start; published: acknowledged by the broker */
    uint64_t dropped_in, dropped_out;
};
struct mqtt_counts mqtt_counts(struct mqtt *m);

#endif
