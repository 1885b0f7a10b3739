/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CONTROLLER_AGENTS_INTERNAL_H
#define FETTLE_CONTROLLER_AGENTS_INTERNAL_H

#include "controller/agents.h"

/*
 * Shared by agents.c (sessions), collectors.c (shares and batches) and join.c (certificates).
 */

struct session {
    struct agents *agents;
    struct peer *peer; /* NULL once it is closed */
    struct member *member; /* NULL before HELLO */
    struct mono came;
    bool once;       /* reports once and goes */
    bool asked;      /* a token or certificate is on its way: one at a time */
    bool waits;      /* for the commit of its token; frees itself then */
    unsigned told;   /* generation of settings that it knows */
    /* As a collector: */
    bool collects;       /* it was sent a share */
    uint64_t epoch;      /* of the last SHARE */
    uint16_t port;       /* where it listens, 0 while unknown */
    struct mono batch;   /* when its last BATCH came */
    size_t foreign;      /* nodes that it spoke for without having been given them */
    struct session *prev, *next;
};

struct agents {
    struct agents_setup with;
    struct listener *listener;
    struct share *share;
    struct session *sessions;
    size_t n;
    struct session *walker; /* next to be told something */
    unsigned told;          /* generation of settings */
    bool walking;
    uv_timer_t second, walk;
    int open_timers;
    bool closing;
    struct span interval, spread, certificate_life;
    struct mono shares_from; /* no new shares before, unless every collector responds */
    struct mono balance_at;  /* ns 0: nothing to balance */
    uint64_t epoch;
};

/* Sends a JSON object and releases it. */
void session_send(struct session *s, enum frame_type type, json_t *body);
void agents_note(struct agents *a, const char *what, const char *nodes, const char *text);
/* An inventory of m from the session; asks for the whole when a change has nothing to change. */
void session_inventory(struct session *s, struct member *m, const json_t *body);
int session_open_member(struct session *s, struct member *m, const json_t *body, const struct member *collector,
                        bool *want, struct err *e);
/* Walks over all sessions, some a turn, telling each what it does not know yet. */
void agents_walk(struct agents *a);

/* collectors.c */
void collectors_hello(struct session *s, const json_t *body);
void collectors_batch(struct session *s, const json_t *body);
void collectors_lost(struct session *s);
void collectors_second(struct agents *a, struct mono now);
/* Sends the session to its collector and closes it; false when it is to stay. */
bool collectors_redirect(struct session *s);

/* join.c */
void join_request(struct session *s, const json_t *body);
void join_renew(struct session *s, const json_t *body);

#endif
