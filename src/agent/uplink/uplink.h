/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_AGENT_UPLINK_UPLINK_H
#define FETTLE_AGENT_UPLINK_UPLINK_H

#include "agent/uplink/body.h"
#include "agent/uplink/course.h"
#include "base/text.h"
#include "link/peer.h"

#include <uv.h>

/*
 * The agent's one link to a controller or a collector: it dials as its course says, greets, and
 * hands on what the other side sends. While there is no link, nothing is kept for it.
 */

struct uplink;

struct uplink_events {
    /* Writes the body of HELLO. */
    void (*hello)(void *arg, struct text *body);
    /* The controller sends the agent to another peer; its clock says this (0: unknown). */
    void (*on_sent_away)(void *arg, struct wall controller);
    /* Reports are taken from now on. */
    void (*on_welcome)(void *arg, const struct body_welcome *w);
    /* A frame that fits an agent (frame.tbl) and is not the link's own, once welcomed. A negative answer
     * closes the link: the frame could not be understood. */
    int (*on_frame)(void *arg, const struct frame *f, struct err *e);
    /* The link ends or was not to be had; another will be tried. welcomed: it stood. why is NULL
     * after an orderly end. */
    void (*on_lost)(void *arg, bool welcomed, const struct err *why);
};

struct uplink *uplink_create(uv_loop_t *loop, const struct address_list *controllers,
                             const struct uplink_events *events, void *arg);
void uplink_start(struct uplink *u, struct tls_context *tls);
/* As course_learn. */
void uplink_learn(struct uplink *u, const struct address_list *controllers);
/* For the next link; borrowed until it is replaced or the uplink destroyed. */
void uplink_set_tls(struct uplink *u, struct tls_context *tls);
void uplink_set_spread(struct uplink *u, struct span spread);
/* As the controller or collector says now. */
void uplink_set_waits(struct uplink *u, const struct body_waits *w);

/* Whether a frame of this type is the link's own: WELCOME, REFUSE, REDIRECT. */
bool uplink_takes(uint8_t type);
bool uplink_is_up(const struct uplink *u);         /* welcomed */
bool uplink_at_controller(const struct uplink *u); /* welcomed by a controller */
bool uplink_to_collector(const struct uplink *u);  /* turned to a collector, welcomed or not */
/* "collector k1", or "the controller". Returns buf. */
enum { UPLINK_PEER_BYTES = ADDRESS_HOST_BYTES_MAX + 16 };
const char *uplink_peer(const struct uplink *u, char buf[static UPLINK_PEER_BYTES]);
const struct address *uplink_target(const struct uplink *u);
/* The highest term that a controller has said, and the state in which it counts; origin "": none was heard.
 */
uint64_t uplink_heard(const struct uplink *u, const char **origin);
/* The same from an earlier process, before the uplink is started. */
void uplink_remember(struct uplink *u, const char *origin, uint64_t term);
/* Bytes that wait to be sent. */
size_t uplink_queued(const struct uplink *u);
/* Dropped when the link is not up. The agent leaves a collector that does not answer a heartbeat in time
 * (body_waits.answer) for a controller: the connection may stand while its process is stopped, and this
 * node would count as silent. The limit is a time and not a number of heartbeats, because the next one may
 * be minutes away. */
void uplink_send(struct uplink *u, enum frame_type type, const char *body, size_t len);

/* While held, a REDIRECT waits; the last one is followed when it is let go. */
void uplink_hold(struct uplink *u, bool hold);
/* Leaves the present peer and dials a controller. */
void uplink_go_home(struct uplink *u);
/* Other signs say that the connection is dead: dials the next controller, or the same one again. */
void uplink_redial(struct uplink *u);
/* Sends what is queued and ends for good; on_lost follows when there was a link. */
void uplink_finish(struct uplink *u);
/* After uplink_finish or at any time. Calls back nobody from now on. */
void uplink_destroy(struct uplink *u);

#endif
