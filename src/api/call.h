/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_API_CALL_H
#define FETTLE_API_CALL_H

#include "api/api.h"
#include "api/ask.h"
#include "api/caller.h"
#include "api/numbers.h"
#include "api/route.h"
#include "place/place.h"

/*
 * One call: a permitted request on its way to the function of its route. Inside this folder.
 */

struct api {
    struct cluster *cluster;
    struct watch *watch;
    struct events *events;
    struct api_policy policy;
    unsigned configured; /* how often the configuration was taken */
    struct api_shell shell;
    uid_t own; /* the user of this process */
    char *root_name, *own_name;
    struct placer *placer;
    struct numbers *numbers;
};

struct call {
    struct api *api;
    struct http_request *request;
    enum route route;
    const char *parameter; /* from the path */
    char *actor;           /* the caller's name, for changes; NULL for reads. Lives as long as the call */
    const struct caller *caller;    /* until the function of the route returns */
    bool reads_secrets;             /* the caller may also read commands, which may contain a password */
    bool dry;                       /* of a change: the answer says what would be done, and nothing is done */
    struct client_request asked;    /* the change's request; without an id when the client gave none */
    const struct remembered *begun; /* earlier commits did some of the request; until the function returns */
    struct mono now;
    struct wall wall;
    bool returns; /* the change is to bring nodes back into service: the answer says what is missing */
    /* Whether the command may be submitted for one node, when the agreed state alone does not decide that; or
     * NULL. 0, or -errno with a sentence. */
    int (*may)(const struct call *c, const struct member *m, const struct command *cmd, struct err *e);
};

/* Carries out a call: 0 with the answer's JSON in t, CALL_LATER when the answer comes later, or a negative
 * errno with a sentence. */
typedef int call_fn(struct call *c, struct text *t, struct err *e);
enum { CALL_LATER = 1 };

#define ROUTE(operation, method, path, right) call_fn call_##operation;
#include "api/route.tbl"
#undef ROUTE

/* Answers a request that was CALL_LATER with this JSON, which it takes over. */
void call_answer(struct http_request *r, struct text *answer);

/* New work is about to land on nodes by this answer, so what is observed has to be current: 0, or -EREMOTE,
 * so that the leader is asked. */
int call_needs_current(const struct call *c, struct err *e);

/* Reads the body; ask_fini when done. */
int call_ask(struct call *c, struct ask *a, struct err *e);

/* Reads a number of the query: *out is unchanged when the key is absent. */
int call_query_number(const struct call *c, const char *key, uint64_t min, uint64_t max, uint64_t *out,
                      struct err *e);
/* A moment, in seconds since 1970; likewise. */
int call_query_moment(const struct call *c, const char *key, struct wall *out, struct err *e);
/* A yes or no; likewise. */
int call_query_bool(const struct call *c, const char *key, bool *out, struct err *e);
/* The number of the query's class; -1 when it names none. -ENOENT with the nearest. */
int call_query_class(const struct call *c, int *out, struct err *e);

/* Gives a command to the shell and answers after its commit: always CALL_LATER. Takes over the nodes and puts
 * them into the command. With a class the answer has the version of its baseline. */
int call_submit(struct call *c, struct hostlist *nodes, struct command *cmd, const char *class_name);

/* What a command of the call says of its request: of one command, or of one for each of `of` nodes. */
struct client_request call_request(const struct call *c, size_t of);
/* An earlier commit did what this call asks for the node. */
bool call_did(const struct call *c, const char *node);
/* Answers with what came of the request when it was carried out; class_name as in call_submit. Takes over the
 * nodes. */
void call_replay(struct call *c, struct hostlist *nodes, const char *class_name, const struct outcome *o);
/* The same for commands about one node each: one for every node. Refusals are listed beside the changes; when
 * all are refused, the first refusal is the answer. -E2BIG for more nodes than NODES_AT_ONCE_MAX. */
enum { NODES_AT_ONCE_MAX = 1000 };
int call_submit_each(struct call *c, struct hostlist *nodes, struct command *cmd, struct err *e);
/* The result of a dry run for a change that is not a command: "runs check fs.space now". Answers at once. */
void call_would(const struct call *c, const struct hostlist *nodes, const char *what, struct text *t);
/* -E2BIG for more nodes than NODES_AT_ONCE_MAX. */
int call_check_number(const struct hostlist *nodes, struct err *e);

/* Members by name: *out has list->n of them, and the caller frees it. -ENOENT names the unknown ones. */
int members_find(const struct cluster *c, const struct hostlist *list, struct member ***out, struct err *e);
/* call_ask, and the members that its nodes name. */
int call_ask_members(struct call *c, struct ask *a, struct member ***members, struct err *e);
/* -ENOENT for an unknown name. */
int member_get(const struct cluster *c, const char *name, struct member **out, struct err *e);
/* Marks the members in the host list of a query, some names at a time. The list may have twice as many hosts
 * as there are nodes, before its operators. Zero-initialise; marking_fini when done. */
struct marking {
    struct hostwalk *walk;
    size_t named, missing;
    size_t place;      /* the place for cluster_find_next */
    struct text names; /* the first missing names */
    uint8_t *wanted;   /* a byte by member id, for the `n` members that exist at the beginning */
    size_t n;
};
int marking_begin(struct marking *k, const struct cluster *c, const char *list, struct err *e);
/* False: those were the last. */
bool marking_step(struct marking *k, const struct cluster *c);
/* Whether all names exist. */
int marking_end(const struct marking *k, struct err *e);
void marking_fini(struct marking *k);

#endif
