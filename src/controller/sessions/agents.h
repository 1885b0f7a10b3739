/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CONTROLLER_SESSIONS_AGENTS_H
#define FETTLE_CONTROLLER_SESSIONS_AGENTS_H

#include "cluster/cluster.h"
#include "controller/commit/committer.h"
#include "controller/config/config.h"
#include "link/order.h"
#include "link/peer.h"
#include "link/tls.h"
#include "watch/share.h"
#include "watch/watch.h"

#include <uv.h>

/*
 * The agents' port. It checks each peer's certificate, gives a node's reports to `watch`, and sends an
 * agent that should report to a collector there. It hands everything for other rooms to the functions of
 * `struct agents_setup`, and commits certificates (certificates.h). doc/spec/link.md describes the frames.
 */

struct agents;

struct agents_setup {
    uv_loop_t *loop;
    struct cluster *cluster;
    struct watch *watch;
    struct committer *committer;
    struct authority *authority;
    const struct signer *signer; /* the key that signs what collectors pass on */
    struct tls_context *tls;
    uint64_t term;
    uint64_t instance; /* the instance of this controller's process */
    void *arg;
    /* As watch_sink's: "collector.lost". */
    void (*notice)(void *arg, const char *what, const char *nodes, const char *text);
    /* A DONE body from m: the result of an operation. May be NULL. */
    void (*done)(void *arg, struct member *m, const json_t *body);
};

/* Listens as the configuration says. */
int agents_open(const struct agents_setup *setup, const struct config *conf, struct agents **out,
                struct err *e);
/* Closes every connection, and frees it when the loop has seen the last one close. */
void agents_close(struct agents *a);

/* A configuration was taken (the cluster has it already): intervals, collectors, what classes name.
 * Told to all agents, some a turn. */
void agents_configure(struct agents *a, const struct config *conf);

/* Where agents reach the controllers of this state; all agents are told when it is another list. At most
 * AGENTS_CONTROLLERS_MAX count. Takes the array. */
enum { AGENTS_CONTROLLERS_MAX = 16 };
void agents_set_controllers(struct agents *a, json_t *addresses);

/* Tells these nodes, directly or through their collectors, to read their fingerprints again. Returns how
 * many could be told. */
size_t agents_recheck(struct agents *a, const struct hostlist *nodes);

/* Says a frame to a node, directly or through its collector; takes the body. Through a collector a body with
 * a `nonce` is signed for the node. False when it has no connection. */
bool agents_send(struct agents *a, struct member *m, enum frame_type type, json_t *body);

/* A new one-time token and its SHA-256, under which the store knows it. The caller frees both. */
void join_make_token(const struct agents *a, char **token, char **hash);

/* A record of certificates was put: collectors are told what ended of their nodes, and everybody what ended
 * of collectors and controllers. */
void agents_certificate(struct agents *a, const struct holder *h);

/* Calls fn with each node that is connected, by its certificate. */
void agents_each_peer(const struct agents *a, void (*fn)(void *arg, const struct identity *id), void *arg);
uint16_t agents_port(const struct agents *a);
size_t agents_count(const struct agents *a);
/* Frames that peers sent since the start and that did not fit (frame.tbl): they were ignored. */
uint64_t agents_misfits(const struct agents *a);
/* Array of {name, responds, nodes} for Status. The caller owns it. */
json_t *agents_collectors(struct agents *a);

#endif
