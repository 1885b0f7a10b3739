/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_API_EVENTS_H
#define FETTLE_API_EVENTS_H

#include "base/clock.h"
#include "base/text.h"
#include "http/server.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * A live stream of events: the last 4,096 events are kept (fewer when they pass 8 MiB), and every subscriber
 * gets each from where it left off. An id is "INSTANCE.N" (16 hex digits, decimal from 1). A subscriber whose
 * id is from another controller, or of an event that is no longer kept, first gets an event named "resync".
 * So does one that reads too slowly, and everybody instead of an event that is larger than 256 KiB.
 *
 * The name of an event is its `what`; its data is the JSON of event_format.
 */

enum {
    EVENTS_KEPT_MAX = 4096,
    EVENTS_BYTES_MAX = 8 << 20,
    EVENT_BYTES_MAX = 256 << 10,
    EVENTS_A_TURN_MAX = 64
};

struct event {
    struct wall at;
    const char *what;
    const char *actor;
    const char *nodes; /* folded list */
    const char *text;
    uint64_t revision;           /* 0 when nothing was committed */
    const char *alarm, *subject; /* for an alarm that begins or ends; NULL for other events */
    const char *about; /* ids of the claims, incidents, repairs and operations that it is part of; NULL or "":
                          none */
    const char *fields; /* the event for programs, as in a store_entry; NULL or "": none */
    bool is_entry;      /* of the journal, read from it: `n` is its place among the entries of the revision */
    uint64_t n;
};

struct events;
struct events *events_create(uint64_t instance);
/* Ends the streams that are still open. */
void events_destroy(struct events *ev);

/* Keeps the event, and takes a turn. */
void events_add(struct events *ev, const struct event *e);

/* Sends waiting events to at most 64 subscribers, those served longest ago first. True when a subscriber
 * still waits: take another turn, from the loop, within about a tenth of a second. */
bool events_turn(struct events *ev);

/* Adds the event as JSON: {"at","what","actor","nodes","text","revision"}; {"n"} for an entry read from the
 * journal;
 * {"alarm","subject"} for an alarm; {"about"} and the members of fields for an entry of the journal. */
void event_format(const struct event *e, struct text *t);

/* Answers the request with the stream, after the event last_id (NULL: from now on). The stream ends at
 * `until`, when the subscriber's token expires; 0: it does not end. */
void events_subscribe(struct events *ev, struct http_request *r, const char *last_id, struct wall until);

#endif
