/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_AGENT_COLLECT_COLLECT_INSIDE_H
#define FETTLE_AGENT_COLLECT_COLLECT_INSIDE_H

#include "agent/collect/collect.h"
#include "agent/collect/ledger.h"
#include "base/rare.h"
#include "base/text.h"
#include "fair/fair.h"

#include <utlist.h>

/*
 * What the files of the collector share, bottom to top: collect_link.c, collect_send.c, collect_frame.c,
 * collect.c. A link is a connection of an agent: unknown until its HELLO, then the one link of its name.
 */

struct link {
    struct link *prev, *next;
    struct collect *c;
    struct peer *peer;
    struct mono last;                       /* its HELLO, or the last heartbeat that counted */
    char name[HOSTLIST_NAME_BYTES_MAX + 1]; /* "" until HELLO */
    char instance[BODY_WORD_BYTES_MAX + 1];
    char checklist[BODY_WORD_BYTES_MAX + 1]; /* the hash of what it was given, or had */
    unsigned misfits;                        /* frames that did not fit, and were ignored */
    bool owes;                               /* its checks were said and the controller did not hear it */
    bool tells;                              /* it was asked to report its checks again */
    struct guest guest;                      /* in one of the crowds, while it has no name */
};

struct collect {
    uv_loop_t *loop;
    uv_timer_t batch, news, sweep, away, missed;
    int handles;
    struct uplink *uplink;
    const char *name, *instance;
    int wanted_port;
    struct tls_context *tls;
    struct listener *listener;
    struct ledger *ledger; /* NULL while it does not collect */
    struct link *links;
    struct crowd *unproven; /* links that have shown no certificate of a node, by address */
    struct crowd *proven;   /* links that have shown a node's certificate, by node, except the link over which
                               the node is heard */
    struct rare crowd_notes;
    struct rare misfit_notes; /* for links that sent frames out of place */
    bool up;                  /* the controller hears us */
    bool fresh_epoch;         /* no epoch of this controller was seen yet */
    struct span interval;
    struct body_waits waits;
    char *survey; /* the controller's order how fingerprints are read, as it came; NULL: none */
    uint64_t term;
    char origin[BODY_WORD_BYTES_MAX + 1];
    char controller[BODY_WORD_BYTES_MAX + 1];
    char checklist[BODY_WORD_BYTES_MAX + 1]; /* the list's hash; "" while there is none */
    struct text checklist_body;
    unsigned telling;
    unsigned sweeps;
    struct mono swept;
    bool destroyed;
};

/* --- collect_link.c */
/* The link of this node; NULL: it has none. */
struct link *link_find(const struct collect *c, const char *name);
/* Notes whether the agent was asked to report its checks again and has not done so yet. */
void link_set_tells(struct link *k, bool tells);
/* Puts the link into a crowd under this name. Another link is closed where the crowd is too large. */
void link_enter(struct link *k, struct crowd *crowd, const char *name);
/* The link is no more the one of its name; its end is no news. */
void link_disown(struct link *k);
/* Closes a link over which its node is not heard any more. */
void link_part(struct link *k);
/* Sends the agent to a controller, and closes the link. */
void link_send_home(struct link *k);
void link_welcome(struct link *k);
/* all: also how long to wait for whom, and how fingerprints are read. */
void link_send_settings(struct link *k, bool all);
/* Sends the list when the agent has another one. */
void link_send_checklist(struct link *k);
/* Frees a collector that was destroyed when its last link and handle are gone. */
void collect_free_last(struct collect *c);

/* --- collect_send.c */
/* Sends what is due. */
void collect_flush(struct collect *c);
/* Asks the agents for what the controller wants from them. */
void collect_ask(struct collect *c);
/* Whether the uplink stands and takes more. */
bool collect_has_room(const struct collect *c);
/* The timer of the next batch follows the ledger. */
void collect_arm_batch(struct collect *c);
/* Nodes that are not heard any more are looked for. */
void collect_await_missed(struct collect *c);

/* --- collect_frame.c */
/* Each row of frame.tbl that a collector takes has a handler. */
void collect_assert_frames(void);
/* For listener_open_tcp, with the collector. */
void collect_on_connection(void *arg, int fd);

#endif
