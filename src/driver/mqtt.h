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
 * A connection to an MQTT broker (3.1.1, libmosquitto) that is made again whenever it is lost. It lives in a
 * thread of its own, where a name server or a broker that hangs hurts nobody; what comes in and goes out
 * passes through two queues with a limit each. Of too much the oldest is dropped, and counted. Everything
 * here is called from the loop, and calls back from it.
 *
 * The quality of service is 1: whoever receives must not mind the same message twice.
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
    const char *ca;       /* file with the authority of the broker's certificate; NULL: no TLS */
    const char *certificate,
        *key; /* files of our own, with `ca`, without a passphrase; NULL: none is shown */
    size_t n_topics;
    const char *const *topics; /* filters to subscribe to at each connection */
};

struct mqtt_sink {
    void *arg;
    /* A message; none that the broker had retained, for nobody knows how old it is. payload has a zero byte
     * behind it. */
    void (*message)(void *arg, const char *topic, const char *payload, size_t len);
    /* The broker is there (NULL) or not (why). Told when it changes, and once when it is not there at first.
     */
    void (*state)(void *arg, const struct err *why);
    /* After the queue outward was full, or the broker away: there is room again. */
    void (*room)(void *arg);
};

/* -EINVAL with a sentence for what is no topic to subscribe to. */
int mqtt_filter_check(const char *filter, struct err *e);

struct mqtt;
/* -EINVAL for a configuration that libmosquitto refuses, such as a CA that cannot be read. Does not wait for
 * the broker. */
int mqtt_create(uv_loop_t *loop, const struct mqtt_conf *conf, const struct mqtt_sink *sink,
                struct mqtt **out, struct err *e);
/* Ends the connection and calls nobody any more; waits a moment for what is under way. NULL is fine. */
void mqtt_destroy(struct mqtt *m);

/* Queues a message; also while the broker is away. */
void mqtt_publish(struct mqtt *m, const char *topic, const char *payload, size_t len, bool retain);
/* The broker is there and the queue outward is short: what can be made anew at any time is best published
 * only then. */
bool mqtt_has_room(struct mqtt *m);
struct mqtt_counts {
    uint64_t heard, published; /* since it was created; published: that the broker has acknowledged */
    uint64_t dropped_in, dropped_out;
};
struct mqtt_counts mqtt_counts(struct mqtt *m);

#endif
