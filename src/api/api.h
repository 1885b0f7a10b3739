/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_API_API_H
#define FETTLE_API_API_H

#include "access/access.h"
#include "api/events.h"
#include "base/json.h"
#include "cluster/cluster.h"
#include "controller/audit/auditor.h"
#include "controller/commit/outcome.h"
#include "controller/commit/search.h"
#include "http/server.h"
#include "store/mirror.h"
#include "store/store.h"
#include "watch/watch.h"

/*
 * The interface under /v1: who the caller is, whether the call is permitted, what is wanted, and the answer
 * in JSON. The cluster and the watch answer reads; changes become commands, answered after their commit.
 * `struct api_shell` has what only the controller can do.
 */

/* Who may read over HTTPS, besides callers with the right to change. */
enum api_readers { API_READERS_NOBODY, API_READERS_CERTIFICATE, API_READERS_ANYONE };

struct api_policy {
    enum api_readers readers;
    bool privileged_port; /* the 2001 rule: a client on this host, with a port below 1024 and no certificate,
                             is root */
    struct span drain_deadline, provision_deadline; /* for a step that a person asks for; 0: none */
    const struct checks *checks;                    /* these live as long as the policy */
    const struct remedies *remedies;
    const struct meanings *meanings;
    const struct grants *grants; /* likewise; NULL: none */
};

/* A process at the local socket. */
struct shell_process {
    uid_t uid;
    uid_t login; /* the user who signed in to its session; STREAM_NO_LOGIN when nobody did */
    const gid_t *groups;
    size_t n_groups;
};
/* The names of a user, of the login (NULL for none) and of the groups; "uid:1000" for a user without a name.
 * All are borrowed until the function returns. */
typedef void shell_names_fn(void *arg, const char *user, const char *login, const struct hostlist *groups);

/* What a verified token says; borrowed until the function returns. */
struct shell_token {
    const char *subject, *name;
    const struct hostlist *groups;
    bool is_person; /* the token proves that a person signed in */
    struct wall until;
    const struct hostlist *tenants; /* that it names */
};
typedef void shell_token_fn(void *arg, const struct shell_token *t, const struct err *why);

/* A check that a person asks for. */
struct shell_check {
    const char *check;
    const char *nodes; /* the nodes that run it together, in order, separated by commas; NULL: each by
                          itself */
    unsigned rank;     /* the node's place among them, from 0 */
};
typedef void shell_verdict_fn(void *arg, struct member *m, const json_t *verdict, const struct err *why);
/* A new configuration. */
struct shell_reload {
    const char *actor;
    bool dry; /* it is read and compared, and not taken */
    /* The texts of all parts, as the shell's `configuration` of any controller has them, with the revision
     * with which they were compared and sentences about likely mistakes, one a line. parts NULL: the files of
     * this controller. */
    const struct revise_part *parts;
    size_t n_parts;
    uint64_t revision;
    const char *warnings;
};
typedef void shell_reload_fn(void *arg, const char *changes, const struct err *why);
typedef void shell_answer_fn(void *arg, const char *answer, const struct err *why);

enum { SHELL_OBSERVES, SHELL_IS_TOLD };

struct api_shell {
    void *arg;
    bool is_service; /* the user of this process is a service account: it is not an administrator */
    /* 0, or the reason why this controller takes no changes: -EREMOTE it does not lead, -EAGAIN no controller
     * can. */
    int (*leads)(void *arg, struct err *e);
    /* Where what is observed comes from: SHELL_OBSERVES, this controller observes by itself; SHELL_IS_TOLD,
     * the leader tells it, and *age is how old it is; or -EREMOTE with the reason why it is not told, and
     * *age is how old the last is, negative when there is none. */
    int (*observed)(void *arg, struct span *age, struct err *e);
    /* Answers the request with the stream of what is observed (doc/spec/observed.md), until `until`; 0: it
     * does not end. -EREMOTE when this controller does not lead, -EAGAIN when there are too many readers. */
    int (*observe)(void *arg, struct http_request *r, struct wall until, struct err *e);
    /* Looks up the names of a process at the local socket. fn is called once, at once or later. */
    void (*names)(void *arg, const struct shell_process *p, shell_names_fn *fn, void *fn_arg);
    /* Verifies a bearer token. fn is called once, at once or later: with what it says, or NULL and why it
     * does not count. */
    void (*token)(void *arg, const char *token, shell_token_fn *fn, void *fn_arg);
    /* Queues a copy of a command for commit; fn is called later, exactly once, never from inside. The shell
     * makes the id of a new claim: claim is NULL in DRAIN and DOWN. */
    void (*submit)(void *arg, const struct command *cmd, outcome_fn *fn, void *fn_arg);
    /* Reads the configuration anew, and takes it when it is agreed. fn is called once, at once or later: with
     * sentences, one a line, or with the reason why the old one stays. */
    void (*reload)(void *arg, const struct shell_reload *r, shell_reload_fn *fn, void *fn_arg);
    /* Reads this controller's files, and adds their texts as JSON, as a reload takes them (doc/openapi.yaml).
     * -EINVAL with the mistake in a file. */
    int (*configuration)(void *arg, struct text *t, struct err *e);
    /* Tells the agents of these nodes (all known) to read their fingerprints anew; *told is how many
     * could be told. */
    int (*recheck)(void *arg, const struct hostlist *nodes, size_t *told, struct err *e);
    /* Makes a node run a check now; fn is called once, later, with the verdict or the reason why there is
     * none. -EAGAIN when the node has no connection. */
    int (*check)(void *arg, struct member *m, const struct shell_check *ask, shell_verdict_fn *fn,
                 void *fn_arg, struct err *e);
    /* Reads the node's power status. fn is called once, later. */
    void (*power)(void *arg, const char *node, shell_answer_fn *fn, void *fn_arg);
    /* Whether the power command `run` ("power.off") may be carried out now: 0, -ENOENT without a BMC, or as
     * watch_may_power. */
    int (*may_power)(void *arg, const struct member *m, const char *run, bool force, struct err *e);
    /* Waits for the end of the node's committed power command with this id. fn is called once, later, with
     * the outcome or an error. */
    void (*powered)(void *arg, const char *node, const char *id, shell_answer_fn *fn, void *fn_arg);
    uint64_t (*revision)(void *arg); /* the cluster's present revision */
    /* Adds the members of Status, and of its conform, that the api itself does not know
     * (doc/openapi.yaml). */
    void (*status)(void *arg, json_t *status);
    int (*journal)(void *arg, uint64_t after, size_t max, store_journal_fn *fn, void *fn_arg, struct err *e);
    /* Searches the journal from its end backwards, for a limited time. fn is called once, later; with -EINVAL
     * for a malformed host list. */
    void (*journal_search)(void *arg, const struct journal_ask *ask, journal_found_fn *fn, void *fn_arg);
    /* The first revision that has entries, 0 without any; earlier entries were exported to *directory. Later
     * ones may be missing at this controller. */
    uint64_t (*journal_first)(void *arg, const char **directory, struct mirror_gap *missing);
    /* Begins a backup; *number is what `ended` of the list comes to when it has ended. dry: it only says
     * whether one could begin. */
    int (*backup_begin)(void *arg, const char *actor, bool dry, uint64_t *number, struct err *e);
    /* The backups, as JSON. fn is called once, later. */
    void (*backup_list)(void *arg, shell_answer_fn *fn, void *fn_arg);
    /* Asks the audit log. fn is called once, at once or later, as auditor_begin does. */
    void (*audit)(void *arg, const struct auditor_ask *ask, auditor_answer_fn *fn, void *fn_arg);
    /* Makes a new one-time token, its hash, and the command to type; the caller frees the three. */
    int (*make_token)(void *arg, char **token, char **hash, char **command, struct err *e);
    /* The controllers of the state, as the rows of Controller (doc/openapi.yaml). */
    json_t *(*controllers)(void *arg);
    /* Seals the authority for the key of a new controller of this name; the caller frees *envelope. -EINVAL
     * for what is no name or no key. */
    int (*seal)(void *arg, const char *name, const char *key, char **envelope, struct err *e);
    /* Whether a controller of this name may be removed: 0, -ENOENT, or -EBUSY when it leads. */
    int (*may_remove)(void *arg, const char *name, struct err *e);
    /* Calls fn with every identity that is connected as a node. */
    void (*connected)(void *arg, void (*fn)(void *arg, const struct identity *id), void *fn_arg);
    /* The caller frees *certificate and *authority. Commit a command CERTIFICATE with *terms before giving
     * the certificate away. */
    int (*sign_operator)(void *arg, const char *name, enum role role, const char *request, struct span valid,
                         char **certificate, char **authority, struct certificate_terms *terms,
                         struct err *e);
};

struct api;
struct api *api_create(struct cluster *c, struct watch *w, struct events *events, const struct api_policy *p,
                       const struct api_shell *shell);
/* Call after the HTTP server is gone, and the last submitted command has ended. */
void api_destroy(struct api *a);
void api_set_policy(struct api *a, const struct api_policy *p);

/* An http_request_fn and an http_party_fn; arg is the struct api. */
void api_request(void *arg, struct http_request *r);
void api_party(void *arg, struct stream *s, struct party *out);

#endif
