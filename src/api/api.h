/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_API_API_H
#define FETTLE_API_API_H

#include "api/events.h"
#include "base/json.h"
#include "cluster/cluster.h"
#include "controller/commit/outcome.h"
#include "controller/commit/search.h"
#include "http/server.h"
#include "store/store.h"
#include "watch/watch.h"

/*
 * The interface under /v1: who is it, may they, what do they want, and the answer in JSON. Reads
 * are answered from the cluster and the watch; changes become commands, answered after their
 * commit. What only the controller can do stands behind `struct api_shell`.
 */

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
typedef void shell_reload_fn(void *arg, const char *changes, const struct err *why);
typedef void shell_answer_fn(void *arg, const char *answer, const struct err *why);

struct api_shell {
    void *arg;
    bool is_service; /* the user of this process is a service's own: no administrator */
    /* Queues a command for commit (copied); fn is called later, exactly once, never from inside. A new
     * claim's id is the shell's to make: claim is NULL in DRAIN and DOWN. */
    void (*submit)(void *arg, const struct command *cmd, outcome_fn *fn, void *fn_arg);
    /* Reads the configuration anew, and takes it when it is agreed. fn is called once, at once or later: with
     * sentences, one a line, or with the reason why the old one stays. dry: it is read and compared, and not
     * taken. */
    void (*reload)(void *arg, const char *actor, bool dry, shell_reload_fn *fn, void *fn_arg);
    /* Tells the agents of these nodes (all known) to read their fingerprints anew; *told is how many
     * could be told. */
    int (*recheck)(void *arg, const struct hostlist *nodes, size_t *told, struct err *e);
    /* Has a node run a check now; fn is called once, later, with the verdict or with why there is none.
     * -EAGAIN when the node has no connection. */
    int (*check)(void *arg, struct member *m, const struct shell_check *ask, shell_verdict_fn *fn,
                 void *fn_arg, struct err *e);
    /* Whether the node's power is on. fn is called once, later. */
    void (*power)(void *arg, const char *node, shell_answer_fn *fn, void *fn_arg);
    /* Whether that may be done to the node's power ("power.off") now: 0, -ENOENT without a BMC, or as
     * watch_may_power. */
    int (*may_power)(void *arg, const struct member *m, const char *run, bool force, struct err *e);
    /* Waits for the end of the node's power command of this id, which is committed. fn is called once, later:
     * with what came of it, or why nothing did. */
    void (*powered)(void *arg, const char *node, const char *id, shell_answer_fn *fn, void *fn_arg);
    uint64_t (*revision)(void *arg); /* that the cluster stands at */
    /* Adds the members of Status, and of its conform, that the api does not know itself (doc/openapi.yaml).
     */
    void (*status)(void *arg, json_t *status);
    int (*journal)(void *arg, uint64_t after, size_t max, store_journal_fn *fn, void *fn_arg, struct err *e);
    /* Looks in the journal, from its end backwards, for some time. fn is called once, later; with -EINVAL for
     * no host list. */
    void (*journal_search)(void *arg, const struct journal_ask *ask, journal_found_fn *fn, void *fn_arg);
    /* The first revision of which there are entries, 0 without any; those before it went to *directory. */
    uint64_t (*journal_first)(void *arg, const char **directory);
    /* A new one-time token, its hash, and the command to type; the caller frees the three. */
    int (*make_token)(void *arg, char **token, char **hash, char **command, struct err *e);
    /* Calls fn with whoever is connected as a node. */
    void (*connected)(void *arg, void (*fn)(void *arg, const struct identity *id), void *fn_arg);
    /* The caller frees *certificate, *authority and *terms, which a command CERTIFICATE has as its `set`: it
     * is to be committed before the certificate is given away. */
    int (*sign_operator)(void *arg, const char *name, enum role role, const char *request, struct span valid,
                         char **certificate, char **authority, char **terms, struct err *e);
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
