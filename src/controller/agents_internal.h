/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CONTROLLER_AGENTS_INTERNAL_H
#define FETTLE_CONTROLLER_AGENTS_INTERNAL_H

#include "controller/agents.h"

#include "base/rare.h"
#include "fair/fair.h"

/*
 * Shared by agents.c (sessions), crowds.c (which of them may stay), collectors.c (shares and batches),
 * regain.c (nodes that lost their collector), ended.c (certificates that have ended), fingerprints.c,
 * standings.c (jobs that wait), checklist.c (checks) and join.c (certificates).
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
    struct rare warnings;          /* of what it says that is wrong */
    /* As a collector: */
    bool collects;     /* it was sent a share; then it is in agents.collecting */
    uint64_t epoch;    /* of the last SHARE */
    bool share_due;    /* its share is another one, and it was not told yet */
    uint16_t port;     /* where it listens, 0 while unknown */
    struct mono batch; /* when its last BATCH came */
    char *heard;       /* the list of its last one with who was heard; NULL: none, or not all are known */
    struct member **heard_members; /* that are on it */
    size_t n_heard;
    size_t named_max;     /* nodes that a list of it may name: it was never given more over this connection */
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

/* Where a node was sent that was not heard from there yet. */
struct sent {
    const struct member *to; /* NULL when nowhere, or heard */
    struct mono at;
    bool early; /* what it said was passed on before its collector told of it */
};

struct agents {
    struct agents_setup with;
    struct listener *listener;
    struct share *share;
    struct hostlist collectors; /* as configured */
    struct session *sessions;
    size_t n;
    struct crowd *unproven;     /* sessions that have shown no certificate of a node, by address */
    struct crowd *proven;       /* those that have, by node, except that over which the node is heard */
    struct session *collecting; /* those of the sessions that collect, one for a collector */
    struct session *strangers; /* those that are open; one that said its name is left there until it is met */
    struct session *walker;    /* next to be told something */
    unsigned told;             /* generation of settings */
    bool walking;
    uv_timer_t second, walk;
    int open_timers;
    bool closing;
    struct mono looked; /* when on_second last came */
    struct span interval, spread, recheck, certificate_life;
    bool ended; /* certificates of collectors or controllers: everybody is to be told */
    struct waits waits;
    uint64_t revision;    /* of the last order for all */
    json_t *survey;       /* order: how fingerprints are read */
    struct asker *askers; /* nodes that wait for an answer; standings.c */
    char *checklist;      /* body of CHECKLIST, an order */
    char checklist_hash[17];
    struct mono shares_from; /* no new shares before, unless every collector responds */
    struct mono balance_at;  /* ns 0: nothing to balance */
    struct mono greeted_at;  /* when all who lost their collector can have been greeted here */
    struct {
        uv_timer_t timer;
        bool turning;                                      /* the timer runs */
        void (*visit)(struct agents *a, struct member *m); /* of the round under way; NULL: none is */
        uint32_t at;                                       /* the member to be visited next */
        struct session *losers, *waiting;                  /* of this round, and of the next */
        struct session **by_collector; /* the losers that responded, by the id of their member */
        size_t n;                      /* of by_collector */
        struct span more;              /* for which nodes are excused */
    } regain;
    uint64_t epoch;
    struct sent *sent; /* by member id */
    size_t n_sent;
    struct mono clock_refused; /* somebody, for a certificate that is not valid yet; ns 0: nobody */
    struct rare clock_notes;   /* of clocks that are wrong */
    struct rare join_notes;    /* of machines that may not join */
    struct rare crowd_notes;   /* of connections that gave way */
    struct rare refusal_notes; /* of what peers said wrong */
    struct mono kept_at; /* when one was kept here that could not be heard where it was sent; ns 0: none */
};

/* Sends a JSON object and releases it. */
void session_send(struct session *s, enum frame_type type, json_t *body);
/* Sends REFUSE and closes. */
void session_refuse(struct session *s, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* A frame's body. */
void session_body(struct session *s, uint8_t type, const char *bytes, size_t len);
/* The HELLO of a node whose certificate was looked at. */
void session_hello(struct session *s, struct member *m, const json_t *body);
void agents_note(struct agents *a, const char *what, const char *nodes, const char *text);
/* Signs an order for all nodes: the type, a revision above the one before, and these members. NULL when it
 * cannot be signed, which is logged. The caller owns it. */
json_t *agents_order(struct agents *a, enum frame_type type, const char *members);
int heartbeat_read(const json_t *body, struct heartbeat *h, struct err *e);
/* An inventory of m from the session; asks for the whole when a change has nothing to change. */
void session_inventory(struct session *s, struct member *m, const json_t *body);
int session_open_member(struct session *s, struct member *m, const json_t *body,
                        const struct member *collector, bool *want, struct err *e);
/* Walks over all sessions, some a turn, telling each what it does not know yet. */
void agents_walk(struct agents *a);

/* crowds.c */
void crowds_open(struct agents *a);
/* There may be other nodes. */
void crowds_configure(struct agents *a);
void crowds_close(struct agents *a);
/* A session began, of which only the address is known. */
void session_came(struct session *s);
/* Its handshake is done. */
void session_opened(struct session *s);
/* Closes a session over which its node is not heard any more. The goodbye takes some seconds, in which the
 * session may have to give way as others of the node may. */
void session_part(struct session *s);
/* Whether the log may have one more line this minute on what agents are refused for. */
bool session_may_note(const struct session *s);
void crowds_turn(struct agents *a, struct mono now);

/* collectors.c */
/* A collector came, or became one. */
void collectors_hello(struct session *s, const json_t *body);
/* Tells one that it is no collector (any more). */
void collectors_dismiss(struct session *s);
void collectors_batch(struct session *s, const json_t *body);
/* A session that collects does so no longer. Its nodes are taken from it in the turns that follow. */
void collectors_lost(struct session *s);
void collectors_configure(struct agents *a);
void collectors_second(struct agents *a, struct mono now);
/* Tells some collectors their new shares. True when there are more. */
bool collectors_tell(struct agents *a);
/* Sends the session to its collector and closes it; false when it is to stay. The instance is that of an
 * agent that says HELLO, else 0. */
bool collectors_redirect(struct session *s, uint64_t instance);
/* The collector that m was sent to has heard it. */
void collectors_arrived(struct agents *a, struct member *m);
/* What m said came before the word that it is there: it is asked for it when it is. */
void collectors_early(struct agents *a, const struct member *m);
/* The member of this name when it is for this collector to speak for it; else NULL, and counted. */
struct member *collectors_spoken_for(struct session *s, const char *name);

/* Its session; NULL while it is not connected. */
struct session *collectors_session(const struct agents *a, const struct member *collector);

/* regain.c: all of it takes some turns of the loop. */
/* The session collects no more: its nodes are taken from it, and excused. It may end meanwhile. */
void regain_lost(struct session *s);
/* The shares are new ones, and so many nodes were given to other collectors. No round is under way. */
void regain_moved(struct agents *a, struct mono now, size_t moved);
/* How long `more` nodes may take, beside those that are on their way already. */
struct span regain_time(struct agents *a, struct mono now, size_t more);
/* One turn. False: nothing is left. */
bool regain_turn(struct agents *a);
bool regain_busy(const struct agents *a);
void regain_finish(struct agents *a);
/* No node is told apart any more; frees the sessions that ended. */
void regain_drop(struct agents *a);

/* ended.c */
/* Tells a collector which certificates of these nodes have ended. */
void ended_tell(struct session *s, struct member *const *nodes, size_t n);
/* Object of what has ended of collectors and controllers, as least.h takes it. The caller owns it. */
json_t *ended_of_all(const struct agents *a);

/* fingerprints.c */
void fingerprints_said(struct session *s, const json_t *body);
void fingerprints_components(struct session *s, const json_t *body);
/* What a BATCH says of fingerprints, after what it says of sessions. */
void fingerprints_batch(struct session *s, const json_t *body);
/* Asks for components that the watch misses. */
void fingerprints_second(struct agents *a, struct mono now);
/* Array of the components that the classes name. The caller owns it. */
json_t *fingerprints_also(const struct cluster *c);

/* standings.c */
/* STANDING of a node. */
void standings_asked(struct agents *a, struct member *m, const json_t *body);
/* Answers those of whom it is decided. */
void standings_second(struct agents *a, struct mono now);
void standings_drop(struct agents *a);

/* Says what is wrong with what m said over s, not too often. */
void session_warn(struct session *s, const struct member *m, const struct err *e);

/* checklist.c */
/* The checks are other ones, or the nodes that run them. */
void checklist_configure(struct agents *a, const struct config *conf);
void checklist_hello(struct session *s, const json_t *body);
/* Tells the checks to an agent that does not know them. */
void checklist_tell(struct session *s);
/* CHECKS, DONE or STANDING of the session's own node. */
void checklist_said(struct session *s, uint8_t type, const json_t *body);
/* Asks those whose word is out of date to say all anew. */
void checklist_second(struct agents *a, struct mono now);
/* Asks m to say all anew. */
void checklist_ask(struct agents *a, struct member *m);
/* PASS of a collector. */
void checklist_passed(struct session *s, const json_t *body);

/* join.c */
void join_request(struct session *s, const json_t *body);
void join_renew(struct session *s, const json_t *body);
/* A node's HELLO was taken: when it came with the certificate that it asked for last, those before it end. */
void join_hello(struct session *s);
/* Each second. */
void join_turn(struct agents *a, struct mono now);

#endif
