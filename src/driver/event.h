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
 * Messages about nodes from other programs (doc/spec/mqtt.md): a Sensu event, and a request for a transition.
 * Pure parsers of bytes from outside; members that are not read here are ignored.
 */

enum { EVENT_NODE_BYTES_MAX = 255, EVENT_WORD_BYTES_MAX = 64, EVENT_MESSAGE_BYTES_MAX = 1024 };

/* The result of one check on one node. */
struct sensu_event {
    char node[EVENT_NODE_BYTES_MAX + 1];  /* the entity, or the entity for which it is a proxy */
    char check[CHECK_NAME_BYTES_MAX + 1]; /* "sensu." and its name in lower case, with '-' for characters that
                                             check names lack; a long name ends with a sum of the whole */
    struct verdict verdict;               /* from status and output, as for a plugin */
    struct wall at;                       /* when the check ran, by the sender; ns 0: unknown */
};

/* -EINVAL with a sentence: no JSON, no entity, no status. -ENOENT: an event with metrics only. */
int sensu_event_read(const char *bytes, size_t len, struct sensu_event *out, struct err *e);

/* A request to move a node. */
struct transition_wish {
    char node[EVENT_NODE_BYTES_MAX + 1];
    char transition[EVENT_WORD_BYTES_MAX + 1];
    char message[EVENT_MESSAGE_BYTES_MAX + 1]; /* printable: control characters are spaces */
    char by[EVENT_WORD_BYTES_MAX + 1];         /* the person who is said to ask; may be "" */
    char id[EVENT_WORD_BYTES_MAX + 1];         /* identifies the answer; may be "" */
};

/* Reads {"node","transition","message"}, with optional "by" and "id"; or the three as words, where the
 * message is the rest. -EINVAL with a sentence for anything else. When the id could be read, it is set even
 * then. */
int transition_wish_read(const char *bytes, size_t len, struct transition_wish *out, struct err *e);

#endif
