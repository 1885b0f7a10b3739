/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CONTROLLER_SESSIONS_AGENTS_INSIDE_H
#define FETTLE_CONTROLLER_SESSIONS_AGENTS_INSIDE_H

#include "controller/sessions/agents.h"

#include "base/rare.h"
#include "fair/fair.h"

/*
 * What the files of this room share: the sessions, their state, and what is done to all of them.
 * collectors_inside.h and frames_inside.h have the rest. The files stand on floors, and each uses those above
 * it in this list:
 *
 *   crowds.c          which connections may stay
 *   session.c         what is told over them
 *   join.c            certificates (certificates.c makes their records)
 *   standings.c       jobs that wait
 *   ended.c           certificates that have ended
 *   sent.c            nodes on their way to a collector
 *   shares.c          for which nodes a collector speaks
 *   session_member.c  what is said of a node
 *   fingerprints.c    what is said of its fingerprint
 *   checklist.c       what is said of its checks
 *   regain.c          nodes that lost their collector
 *   collectors.c      collectors that come and go, and what they say
 *   agents.c          sessions that come and go, frames, and time
 */

struct session {
    struct agents *agents;
    struct peer *peer;     /* NULL once it is closed */
    struct member *member; /* NULL before HELLO */
    struct mono came;
    bool open;                     /* the handshake is done, at `came` */
    bool once;                     /* reports once and goes */
    bool asked;                    /* it asked to join: that comes once */
    bool waits;                    /* for the commit of a certificate; frees itself then */
    unsigned told;                 /* generation of settings that it knows */
    char checklist[17];            /* hash of the checks that it knows */
    bool recheck;                  /* it is to be told to read its fingerprint */
    struct hostlist recheck_nodes; /* the same, of a collector, while agents_recheck runs */
    bool dropped;                  /* connected, and not heard: it is being closed */
    struct rare warnings;          /* wrong frames that it sent */
    unsigned misfits;              /* frames that did not fit, and were ignored */
    /* As a collector: */
    bool collects;     /* it was sent a share; then it is in agents.collecting */
    uint64_t epoch;    /* of the last SHARE */
    bool share_due;    /* its share is another one, and it was not told yet */
    uint16_t port;     /* the port where it listens, 0 while unknown */
    struct mono batch; /* when its last BATCH came */
    char *heard;       /* the list of its last one with who was heard; NULL: none, or not all are known */
    struct member **heard_members; /* that are on it */
    size_t n_heard;
    size_t named_max;     /* the most nodes that a list from it may name: it was never given more over this
                             connection */
    struct span interval; /* that it knows */
    size_t foreign;       /* nodes that it spoke for without having been given them */
    uint64_t complained;  /* the epoch for which that was reported */
    bool lost;            /* it collects no more, and its nodes are being taken from it; */
    bool ended;           /* its connection ended meanwhile: it is freed when they are */
    size_t left_behind;   /* of them were live or late */
    struct session *next_lost;
    struct session *prev, *next;
    struct session *prev_collecting, *next_collecting;
    struct guest guest; /* in one of the agents' crowds, unless a node is heard over it */
    bool stranger;      /* it is among the agents' strangers */
    struct session *prev_stranger, *next_stranger;
};

/* The collector to which a node was sent that was not heard from there yet. */
struct sent {
    const struct member *to; /* NULL when nowhere, or heard */
    struct mono at;
    bool early; /* its report was passed on before its collector reported the node */
};

struct agents {
    struct agents_setup with;
    struct listener *listener;
    struct share *share;
    struct hostlist collectors; /* as configured */
    struct session *sessions;
    size_t n;
    struct session *collecting; /* the sessions that collect, one for each collector */
    struct session *strangers;  /* the open sessions; a name stays there until its node is met */
    unsigned told;              /* generation of settings */
    struct {
        uv_timer_t timer;
        bool on;                         /* the timer runs */
        struct session *next;            /* to be told something */
        void (*tell)(struct session *s); /* the list that it does not know yet: session_tell */
    } walk;
    uv_timer_t second;
    int open_timers;
    bool closing;
    struct mono looked; /* when on_second last came */
    struct span interval, spread, recheck, certificate_life;
    struct waits waits;
    json_t *controllers; /* an array of addresses; NULL: nobody is told */
    bool ended;          /* certificates of collectors or controllers: everybody is to be told */
    uint64_t revision;   /* the revision of the last order for all */
    json_t *survey;      /* order: how fingerprints are read */
    struct {
        struct crowd *unproven; /* sessions that have shown no certificate of a node, by address */
        struct crowd *proven;   /* sessions that have shown a node's certificate, by node, except the one over
                                   which the node is heard */
        struct rare notes;      /* for connections that gave way */
        struct rare refusals;   /* notes of what peers said wrong */
    } crowds;
    struct {
        uint64_t n;        /* wrong frames of all sessions, since the start */
        struct rare notes; /* sessions that sent their first wrong frame */
    } misfits;
    struct {
        struct mono refused; /* since when a peer has a certificate that is not valid yet; ns 0: none has */
        struct rare notes;   /* for clocks that are wrong */
    } clock;
    struct {
        bool any;          /* a node has heard a later controller of this state, */
        struct mono heard; /* the last one that said so then */
    } copy;
    struct rare join_notes; /* for machines that may not join */
    struct asker *askers;   /* nodes that wait for an answer; standings.c */
    struct {
        char *body; /* the body of CHECKLIST, an order */
        char hash[17];
    } checklist;
    struct {
        struct sent *list; /* by member id */
        size_t n;
        struct mono
            kept_at; /* when one was kept here that could not be heard where it was sent; ns 0: none */
    } sent;
    uint64_t epoch;          /* the epoch of the last share */
    struct mono shares_from; /* no new shares before, unless every collector responds */
    struct mono balance_at;  /* ns 0: nothing to balance */
    struct mono greeted_at;  /* when all who lost their collector can have been greeted here */
    struct {
        uv_timer_t timer;
        bool turning; /* the timer runs */
        void (*visit)(struct agents *a,
                      struct member *m);  /* the nodes of the round under way; NULL: there is no round */
        uint32_t at;                      /* the member to be visited next */
        struct session *losers, *waiting; /* nodes of this round, and of the next */
        struct session **by_collector;    /* the losers that responded, by the id of their member */
        size_t n;                         /* the capacity of by_collector */
        struct span more;                 /* for which nodes are excused */
    } regain;
};

/* --- crowds.c --------------------------------------------------------------------------------- */

void crowds_open(struct agents *a);
/* There may be other nodes. */
void crowds_configure(struct agents *a);
void crowds_close(struct agents *a);
/* A session began; only its address is known. */
void session_came(struct session *s);
/* Its handshake is done. */
void session_opened(struct session *s);
/* Closes a session over which its node is not heard any more. The goodbye takes some seconds, in which the
 * session may have to give way as others of the node may. */
void session_part(struct session *s);
/* Whether the log may have one more line this minute on what agents are refused for. */
/* A frame that does not fit, and is ignored: it is counted. The log has the first of a session. */
void session_misfit(struct session *s, uint8_t type);
bool session_may_note(const struct session *s);
void crowds_turn(struct agents *a, struct mono now);

/* --- session.c -------------------------------------------------------------------------------- */

/* Sends a JSON object and releases it. */
void session_send(struct session *s, enum frame_type type, json_t *body);
/* Sends REFUSE and closes. */
void session_refuse(struct session *s, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Says what is wrong with what m said over s, not too often. */
void session_warn(struct session *s, const struct member *m, const struct err *e);
void agents_note(struct agents *a, const char *what, const char *nodes, const char *text);
/* The session of a collector; NULL while it is not connected. */
struct session *session_of_collector(const struct agents *a, const struct member *collector);
/* Signs an order for all nodes: the type, a revision above the one before, and these members. NULL when it
 * cannot be signed, which is logged. The caller owns it. */
json_t *agents_order(struct agents *a, enum frame_type type, const char *members);
/* Asks m to report all its checks again. */
void agents_ask_anew(struct agents *a, struct member *m);
/* Walks over all sessions, some a turn, telling each what it does not know yet (a->tell). */
void agents_walk(struct agents *a);

/* --- session_member.c ------------------------------------------------------------------------- */

/* A heartbeat, that lives as long as its body. -EINVAL. */
int heartbeat_read(const json_t *body, struct heartbeat *h, struct err *e);
/* m is there: over the session itself (collector NULL), or as a collector says. Returns and *want as
 * watch_open; -EINVAL for what is not said. */
int session_open_member(struct session *s, struct member *m, const json_t *body,
                        const struct member *collector, bool *want, struct err *e);
/* An inventory of m from the session; asks for the whole when a change has nothing to change. */
void session_inventory(struct session *s, struct member *m, const json_t *body);

/* --- agents.c --------------------------------------------------------------------------------- */

/* A frame's body. */
void session_body(struct session *s, uint8_t type, const char *bytes, size_t len);
/* The HELLO of a node whose certificate was looked at. */
void session_hello(struct session *s, struct member *m, const json_t *body);
/* Tells it what it does not know yet, and sends it to its collector. */
void session_tell(struct session *s);

#endif
