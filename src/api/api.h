/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_API_API_H
#define FETTLE_API_API_H

#include "api/events.h"
#include "base/json.h"
#include "cluster/cluster.h"
#include "http/server.h"
#include "store/store.h"
#include "watch/watch.h"

/*
 * The interface under /v1: who is it, may they, what do they want, and the answer in JSON. Reads
 * are answered from the cluster and the watch; changes become commands, answered after their
 * commit. What only the controller can do stands behind `struct api_shell`.
 */

/* How a submitted command ended. On success rc is 0 and changed, claim (of DRAIN and DOWN, else NULL)
 * and revision (the present one when nothing had to change) are set; otherwise *why says what was
 * wrong. Borrowed until the callback returns. */
struct outcome {
    int rc;
    uint64_t revision;
    const struct hostlist *changed;
    const char *claim;
    const struct err *why;
};
typedef void outcome_fn(void *arg, const struct outcome *o);

/* Who may read over HTTPS, beside those who may change. */
enum api_readers { API_READERS_NOBODY, API_READERS_CERTIFICATE, API_READERS_ANYONE };

struct api_policy {
    enum api_readers readers;
    bool
        privileged_port; /* 2001: a client on this host, below port 1024, that shows no certificate is root */
    struct span drain_deadline, provision_deadline; /* of a step that a person asks for; 0: none */
    const struct checks *checks;                    /* these three live as long as the policy */
    const struct remedies *remedies;
    const struct meanings *meanings;
};

/* A check as a person asks for it. */
struct shell_check {
    const char *check;
    const char *nodes; /* that run it together, in order, with commas between; NULL: each by itself */
    unsigned rank;     /* the node's place in them, from 0 */
};
typedef void shell_verdict_fn(void *arg, struct member *m, const json_t *verdict, const struct err *why);
typedef void shell_answer_fn(void *arg, const char *answer, const struct err *why);

struct api_shell {
    void *arg;
    /* Queues a command for commit (copied); fn is called later, exactly once, never from inside. A new
     * claim's id is the shell's to make: claim is NULL in DRAIN and DOWN. */
    void (*submit)(void *arg, const struct command *cmd, outcome_fn *fn, void *fn_arg);
    /* Reads the configuration anew. Sentences, one a line, into changes. */
    int (*reload)(void *arg, const char *actor, struct text *changes, struct err *e);
    /* Tells the agents of these nodes (all known) to read their fingerprints anew; *told is how many
     * could be told. */
    int (*recheck)(void *arg, const struct hostlist *nodes, size_t *told, struct err *e);
    /* Has a node run a check now; fn is called once, later, with the verdict or with why there is none.
     * -EAGAIN when the node has no connection. */
    int (*check)(void *arg, struct member *m, const struct shell_check *ask, shell_verdict_fn *fn,
                 void *fn_arg, struct err *e);
    /* The node's power, for a person: status, on, off, cycle, reset, netboot. fn is called once, later. */
    void (*power)(void *arg, const char *actor, const char *node, const char *verb, shell_answer_fn *fn,
                  void *fn_arg);
    uint64_t (*revision)(void *arg); /* that the cluster stands at */
    /* Adds the members of Status that the api does not know itself (doc/openapi.yaml). */
    void (*status)(void *arg, json_t *status);
    int (*journal)(void *arg, uint64_t after, size_t max, store_journal_fn *fn, void *fn_arg, struct err *e);
    /* A new one-time token, its hash, and the command to type; the caller frees the three. */
    int (*make_token)(void *arg, char **token, char **hash, char **command, struct err *e);
    /* The caller frees *certificate and *authority. */
    int (*sign_operator)(void *arg, const char *name, enum role role, const char *request, struct span valid,
                         char **certificate, char **authority, struct err *e);
};

struct api;
struct api *api_create(struct cluster *c, struct watch *w, struct events *events, const struct api_policy *p,
                       const struct api_shell *shell);
/* After the HTTP server, and after the last submitted command has ended. */
void api_destroy(struct api *a);
void api_set_policy(struct api *a, const struct api_policy *p);

/* The http_request_fn and the http_party_fn; arg is the struct api. */
void api_request(void *arg, struct http_request *r);
void api_party(void *arg, struct stream *s, struct party *out);

#endif
