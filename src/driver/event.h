/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_DRIVER_EVENT_H
#define FETTLE_DRIVER_EVENT_H

#include "base/clock.h"
#include "base/err.h"
#include "health/check.h"
#include "health/finding.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * What others say of nodes in messages (doc/spec/mqtt.md): a Sensu event, and a transition that somebody asks
 * for. Pure parsers of bytes from outside; what a message says beside what is read here does not matter.
 */

enum { EVENT_NODE_BYTES_MAX = 255, EVENT_WORD_BYTES_MAX = 64, EVENT_MESSAGE_BYTES_MAX = 1024 };

/* One check's word on one node. */
struct sensu_event {
    char node[EVENT_NODE_BYTES_MAX + 1];  /* the entity, or the one for which it stands (proxy) */
    char check[CHECK_NAME_BYTES_MAX + 1]; /* "sensu." and its name: lower case, what no check's name has as
                                             '-'; of a long one the end is a sum of the whole */
    struct verdict verdict;               /* of status and output, as of a plugin's */
    struct wall at;                       /* when the check ran, as the sender says; ns 0: it does not */
};

/* -EINVAL with a sentence: no JSON, no entity, no status. -ENOENT: an event of metrics alone. */
int sensu_event_read(const char *bytes, size_t len, struct sensu_event *out, struct err *e);

/* Somebody wants a node moved. */
struct transition_wish {
    char node[EVENT_NODE_BYTES_MAX + 1];
    char transition[EVENT_WORD_BYTES_MAX + 1];
    char message[EVENT_MESSAGE_BYTES_MAX + 1]; /* printable: control characters are spaces */
    char by[EVENT_WORD_BYTES_MAX + 1];         /* who it is said to be; "" */
    char id[EVENT_WORD_BYTES_MAX + 1];         /* by which the answer is found; "" */
};

/* {"node","transition","message"}, perhaps with "by" and "id"; or the three as words, the message being all
 * the rest. -EINVAL with a sentence for anything else. Where the id could be read it is there even then. */
int transition_wish_read(const char *bytes, size_t len, struct transition_wish *out, struct err *e);

#endif
