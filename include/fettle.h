/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_H
#define FETTLE_H

/*
 * libfettle: asks a Fettle controller, and changes what it may change.
 *
 * Calls are synchronous: they return when the controller has answered or the time limit is over.
 * A function that can fail returns 0 or a negative errno, and fills the `struct fettle_error` that
 * it is given (which may be NULL) with a sentence for a person. The library writes to no
 * descriptor but its own sockets, raises no signal, ends no process and keeps no global state. A
 * handle is used by one thread at a time; different handles are independent.
 *
 * The codes that callers may want to tell apart:
 *     -EINVAL        the request is wrong                 -ENOENT        no such node or claim
 *     -EACCES        not permitted                        -EPERM         nobody knows who is asking
 *     -EBUSY         refused as things stand              -ECONNREFUSED  no controller there
 *     -ETIMEDOUT     no answer within the time limit      -EAGAIN        the controller is not ready
 *     -EPROTO        the answer is not Fettle's           -E2BIG         something is too large
 *     -ENODEV        too few nodes fit                    -EMEDIUMTYPE   and they are not the same
 *     -ENOSPC, -EIO  the controller is in trouble         -ENOMEM        no memory here
 *     -EINPROGRESS   the time is over, and nobody knows whether the change was made: look before you try
 * again
 *
 * What the paths, parameters and answers mean is in the controller's description of its interface
 * (openapi.yaml); libfettle(3) has an example.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define FETTLE_API __attribute__((visibility("default")))
#else
#define FETTLE_API
#endif

enum {
    FETTLE_MESSAGE_BYTES_MAX = 512,
    FETTLE_ANSWER_BYTES_MAX = 64 << 20, /* of an answer's body; more is refused with -E2BIG */
    FETTLE_TIMEOUT_MS = 30000           /* of a call, when the options say nothing */
};

struct fettle_error {
    int code; /* negative errno */
    char message[FETTLE_MESSAGE_BYTES_MAX];
};

/* ---- the controller ---- */

/* Where the controller is and who is asking. Each may be NULL or 0: the environment variable that
 * is named beside it then counts, and after it the default. Strings are copied. */
struct fettle_options {
    const char *controller; /* FETTLE_CONTROLLER: "/path" or "unix:/path" of a local socket, or
                               "https://host:port"; else /run/fettle/fettled.sock. Several, with commas
                               between: those of one cluster. One that cannot be reached is passed over, and
                               so is, for a change, one that does not lead. A change whose answer was lost is
                               asked for again, here or at the next one, by an id that makes it the same
                               change, until its outcome is known or the time is over (-EINPROGRESS) */
    const char *cert;       /* FETTLE_CERT: file with the certificate to show, PEM (https only) */
    const char *key;        /* FETTLE_KEY: file with its key, PEM (https only) */
    const char *ca;         /* FETTLE_CA: file with the authority that signs controllers, PEM
                               (https only, and needed there) */
    int timeout_ms;         /* of one call, connecting included */
    const char *token; /* FETTLE_TOKEN: file with a bearer token (https only). It is read at each call, and
                          refused when others than its owner may read it */
};

struct fettle;

/* Makes a handle; connects at the first call. options may be NULL. -EINVAL for an address that is
 * none of the three forms, -ENOMEM. */
FETTLE_API int fettle_open(const struct fettle_options *options, struct fettle **out, struct fettle_error *e);
/* Ends the connection and frees the handle. Answers live on; event streams do not. NULL is fine. */
FETTLE_API void fettle_close(struct fettle *f);

/* ---- answers ---- */

/* A value of an answer. Pointers live until the answer that they came from is freed. Every function
 * here takes NULL for a value that is absent, and treats it like null. */
struct fettle_value;
enum fettle_kind { FETTLE_NULL, FETTLE_BOOL, FETTLE_NUMBER, FETTLE_TEXT, FETTLE_ARRAY, FETTLE_OBJECT };

struct fettle_answer;
/* The whole answer, an object. */
FETTLE_API const struct fettle_value *fettle_answer_value(const struct fettle_answer *a);
FETTLE_API void fettle_answer_free(struct fettle_answer *a);

FETTLE_API enum fettle_kind fettle_value_kind(const struct fettle_value *v);
/* The first element of an array or member of an object, and the one after v; NULL at the end. */
FETTLE_API const struct fettle_value *fettle_value_first(const struct fettle_value *v);
FETTLE_API const struct fettle_value *fettle_value_next(const struct fettle_value *v);
/* How many elements or members; 0 for anything else. */
FETTLE_API size_t fettle_value_count(const struct fettle_value *v);
/* The name of a member of an object; NULL for anything else. */
FETTLE_API const char *fettle_value_key(const struct fettle_value *v);
/* The member with this name; NULL when there is none or v is no object. */
FETTLE_API const struct fettle_value *fettle_value_find(const struct fettle_value *v, const char *key);

/* A text as it is, a number as it was written, a boolean as "true" or "false"; NULL for null, for
 * arrays and for objects. */
FETTLE_API const char *fettle_value_text(const struct fettle_value *v);
/* A whole number. -EINVAL for other numbers and kinds, -ERANGE when it does not fit; *out is left
 * as it was then. */
FETTLE_API int fettle_value_number(const struct fettle_value *v, int64_t *out);
/* A decimal number in thousandths, further digits dropped. As above. */
FETTLE_API int fettle_value_milli(const struct fettle_value *v, int64_t *out);
/* True for the boolean true only. */
FETTLE_API bool fettle_value_true(const struct fettle_value *v);

/* The same of an object's member: of a node's field, for one. */
FETTLE_API const char *fettle_get_text(const struct fettle_value *object, const char *key);
FETTLE_API int fettle_get_number(const struct fettle_value *object, const char *key, int64_t *out);
FETTLE_API int fettle_get_milli(const struct fettle_value *object, const char *key, int64_t *out);
FETTLE_API bool fettle_get_true(const struct fettle_value *object, const char *key);

/* ---- reading ---- */

/* The node table: {revision, nodes: [{field: value}]}, in configured order. `nodes` is a host list
 * and `fields` are names with commas between ("Name,State"; fettle(1) lists them); NULL for all.
 * -ENOENT names a node that is not in the table, -EINVAL a field that is not known. */
FETTLE_API int fettle_node_list(struct fettle *f, const char *nodes, const char *fields,
                                struct fettle_answer **out, struct fettle_error *e);
/* All about one node: {node, specification, edited, inventory, claims}. */
FETTLE_API int fettle_node_show(struct fettle *f, const char *name, struct fettle_answer **out,
                                struct fettle_error *e);
/* {partitions: [{Partition, Name, Default, Nodes, Count, Schedulable, States}]} */
FETTLE_API int fettle_partition_list(struct fettle *f, struct fettle_answer **out, struct fettle_error *e);
/* The controller's own health and the cluster in numbers. */
FETTLE_API int fettle_status(struct fettle *f, struct fettle_answer **out, struct fettle_error *e);
/* {kind, name, login, subject, person, actor, until, roles, routes}: for whom the controller takes the
 * caller, and what this one may do. */
FETTLE_API int fettle_whoami(struct fettle *f, struct fettle_answer **out, struct fettle_error *e);
/* {entries: [{at, what, actor, nodes, text, revision, about?, claims?, incidents?, repairs?, operations?,
 * from?, to?, event?, remedy?, outcome?, cost?}]}: what was decided after the revision `after`, oldest first,
 * `limit` entries (1 to 1000; 0 leaves it to the controller). The text is a sentence for people; the other
 * members say the same for programs (doc/openapi.yaml, Event). */
FETTLE_API int fettle_journal(struct fettle *f, uint64_t after, unsigned limit, struct fettle_answer **out,
                              struct fettle_error *e);

/* What is looked for in the journal; NULL and 0 for whatever it is. */
struct fettle_journal_search {
    const char *nodes;      /* entries that name one of them */
    const char *what;       /* a command ("node.drain"), or what it begins with before a dot */
    const char *by;         /* the actor */
    int64_t since, until;   /* seconds since 1970 */
    uint64_t after, before; /* revisions between these */
    unsigned tail;          /* so many of the newest, 1 to 1000 */
    const char *about;      /* the id of a claim, an incident, a repair or an operation */
};
/* {entries, as above, revision, before}: those that match, oldest first. `before` is there when the search
 * ended before it was through, with as many or fewer entries: a search before that revision goes on.
 * `revision` is where the journal stood: what comes is after it. */
FETTLE_API int fettle_journal_find(struct fettle *f, const struct fettle_journal_search *s,
                                   struct fettle_answer **out, struct fettle_error *e);

/* Reads a file of the audit log (doc/spec/audit.md): what follows "/v1/audit/" in its path, such as
 * "checkpoint", "tile/0/000" or "proof?revision=4711"; NULL for what the log is, in JSON. The caller frees
 * *bytes, which a zero byte follows. -ENOENT when the log does not have it. */
FETTLE_API int fettle_audit_read(struct fettle *f, const char *path, char **bytes, size_t *len,
                                 struct fettle_error *e);

/* ---- conformance ---- */

/* Which nodes are provably the same: {groups: [{class, cohort, fingerprint, count, nodes, standing,
 * version}], alone: [{node, class, why}]}, largest group first. class NULL for all. */
FETTLE_API int fettle_conform_groups(struct fettle *f, const char *class_name, struct fettle_answer **out,
                                     struct fettle_error *e);
/* What of a node is not as the baseline of its class says, or as the node `with` is (NULL: the
 * baseline); `all`: what is the same, too. */
FETTLE_API int fettle_conform_diff(struct fettle *f, const char *node, const char *with, bool all,
                                   struct fettle_answer **out, struct fettle_error *e);
/* {node, history: [{at, fingerprint, named, count}]}, newest first. */
FETTLE_API int fettle_conform_history(struct fettle *f, const char *node, struct fettle_answer **out,
                                      struct fettle_error *e);
/* Has nodes read their fingerprints anew: {told}. Does not wait for them. */
FETTLE_API int fettle_conform_recheck(struct fettle *f, const char *nodes, struct fettle_answer **out,
                                      struct fettle_error *e);
/* Takes back nodes that drifted and are verified to be right again; -EBUSY says of one that is not why.
 * reason may be NULL. Answers as the changes below. */
FETTLE_API int fettle_conform_approve(struct fettle *f, const char *nodes, const char *reason,
                                      struct fettle_answer **out, struct fettle_error *e);

/* {classes: [{name, nodes, count, conformant, drifted, unknown, baseline, rollout, ...}]} */
FETTLE_API int fettle_class_list(struct fettle *f, struct fettle_answer **out, struct fettle_error *e);
/* A baseline with its components, history and rollout; version 0 for the present one. */
FETTLE_API int fettle_baseline_show(struct fettle *f, const char *class_name, unsigned version,
                                    struct fettle_answer **out, struct fettle_error *e);
/* What the node is, is right for its class from now on. note may be NULL. */
FETTLE_API int fettle_baseline_accept(struct fettle *f, const char *node, const char *note,
                                      struct fettle_answer **out, struct fettle_error *e);
/* An earlier version is the baseline again; version 0: the one before. note may be NULL. */
FETTLE_API int fettle_baseline_revert(struct fettle *f, const char *class_name, unsigned version,
                                      const char *note, struct fettle_answer **out, struct fettle_error *e);
/* Begins a rolling update of the class: until it ends, `nodes` may be what the node `to` is (or, with to
 * NULL, what version `version` of the baseline was) as well as what the baseline says. deadline is a
 * length of time ("24h"). note may be NULL. */
FETTLE_API int fettle_rollout_start(struct fettle *f, const char *class_name, const char *to,
                                    unsigned version, const char *nodes, const char *deadline,
                                    const char *note, struct fettle_answer **out, struct fettle_error *e);
/* Ends it: the new state is the baseline (accept), or the baseline stays (revert). */
FETTLE_API int fettle_rollout_accept(struct fettle *f, const char *class_name, struct fettle_answer **out,
                                     struct fettle_error *e);
FETTLE_API int fettle_rollout_revert(struct fettle *f, const char *class_name, struct fettle_answer **out,
                                     struct fettle_error *e);

/* ---- health and repair ---- */

/* What every check says of a node, its incidents and its repair: {node, health, passed, missing, checks,
 * open, past, repair}. */
FETTLE_API int fettle_health_show(struct fettle *f, const char *node, struct fettle_answer **out,
                                  struct fettle_error *e);
/* {incidents, shared}: what is wrong with these nodes (NULL: all), and what many share. since, in seconds
 * since 1970: also what was wrong with them then or later; 0: only what is open. */
FETTLE_API int fettle_incident_list(struct fettle *f, const char *nodes, int64_t since,
                                    struct fettle_answer **out, struct fettle_error *e);
/* {trials: [{node, check, now, last}]}: the scheduled checks for which nodes are held now, or were, and what
 * they came to last; check and nodes NULL: all. */
FETTLE_API int fettle_trial_list(struct fettle *f, const char *check, const char *nodes,
                                 struct fettle_answer **out, struct fettle_error *e);
/* {checks: [{check, record, probe, what, every_s, severity, observe, nodes}]}: nodes by result. */
FETTLE_API int fettle_check_list(struct fettle *f, struct fettle_answer **out, struct fettle_error *e);
/* What a check, a probe, or a code as "xid.79" means. */
FETTLE_API int fettle_check_explain(struct fettle *f, const char *name, struct fettle_answer **out,
                                    struct fettle_error *e);
/* Has nodes run a check now, and waits: {results: [{node, verdict | error}]}. Nothing follows from it. */
FETTLE_API int fettle_check_run(struct fettle *f, const char *nodes, const char *check,
                                struct fettle_answer **out, struct fettle_error *e);
/* {remedies: [{remedy, run, helps, confidence, because, ...}]} */
FETTLE_API int fettle_remedy_list(struct fettle *f, struct fettle_answer **out, struct fettle_error *e);
/* What would be done for a node now, and why: {open, chosen, why, person, candidates, repair}. Costs are in
 * thousandths of a minute out of service, chances in millionths. */
FETTLE_API int fettle_remedy_explain(struct fettle *f, const char *node, struct fettle_answer **out,
                                     struct fettle_error *e);
/* Moves nodes as ClusterWare does (Administrator's Guide, "Moving Nodes to and from the Work Queue"):
 * "human_intervention" (from the work queue to provisioning), "manual_drain" (out of service and to the work
 * queue, without a remedy); and "quarantine", "retire". "maintenance" says that somebody is about to work on
 * the machine or to take it away (it is drained, and replaced or queued), "restart" that it needs a restart
 * (it is drained, and restarted once when no work runs on it), "maintenance_over" that this is over. The
 * message is kept with the node. Here and in what follows each of several nodes is changed by itself:
 * {changed, held, refused: [{node, error}]}; an error only when all are refused. */
FETTLE_API int fettle_repair_move(struct fettle *f, const char *nodes, const char *transition,
                                  const char *message, struct fettle_answer **out, struct fettle_error *e);
/* Answers a remedy that waits for approval: -EBUSY when `remedy` is not the one that is proposed by now
 * (NULL: whichever is). The comment may be NULL where it is approved. */
FETTLE_API int fettle_repair_approve(struct fettle *f, const char *nodes, const char *remedy,
                                     const char *comment, struct fettle_answer **out, struct fettle_error *e);
FETTLE_API int fettle_repair_refuse(struct fettle *f, const char *nodes, const char *remedy,
                                    const char *comment, struct fettle_answer **out, struct fettle_error *e);
/* {hours, transitions, remediations, by_itself, queued, by_person}: of the last hours, 4 to 48; 0: 24.
 * ClusterWare's overview ("Remediation Events" and its neighbours). -EAGAIN while the journal is still read.
 */
FETTLE_API int fettle_repair_numbers(struct fettle *f, unsigned hours, struct fettle_answer **out,
                                     struct fettle_error *e);
/* {repairs: [{node, next, repair}]}: nodes with a repair that goes on. */
FETTLE_API int fettle_repair_list(struct fettle *f, struct fettle_answer **out, struct fettle_error *e);
/* {queue: [{node, suggested, open, repair, ...}]}: nodes that wait for a person. */
FETTLE_API int fettle_queue_list(struct fettle *f, struct fettle_answer **out, struct fettle_error *e);
/* A finding that is open on a node. */
struct fettle_finding {
    const char *fault;  /* its code, or of one without a code its check */
    const char *device; /* NULL: whichever has it */
};
/* A person put these findings of nodes of the work queue right: they are closed, and judged anew from now. A
 * node of which nothing else is open goes to provisioning, another one stays in the queue: {changed, held,
 * refused, missing: [{node, why, open}]} has what is missing. 1 to 16 findings; -ENOENT for one that is not
 * open. For all that is open: fettle_repair_move, "human_intervention". */
FETTLE_API int fettle_queue_resolve(struct fettle *f, const char *nodes,
                                    const struct fettle_finding *findings, size_t n, const char *message,
                                    struct fettle_answer **out, struct fettle_error *e);
/* Says who sees to nodes of the work queue; or leaves a note with them. */
FETTLE_API int fettle_queue_take(struct fettle *f, const char *nodes, struct fettle_answer **out,
                                 struct fettle_error *e);
FETTLE_API int fettle_queue_note(struct fettle *f, const char *nodes, const char *note,
                                 struct fettle_answer **out, struct fettle_error *e);
/* {overrides: [{node, by, source, at, until, left_s, why, of}]}: nodes that are in service by a person's
 * word, with what was wrong when it was given. */
FETTLE_API int fettle_override_list(struct fettle *f, struct fettle_answer **out, struct fettle_error *e);
/* Wants nodes in service in spite of what is wrong with them; and no more. */
FETTLE_API int fettle_override_set(struct fettle *f, const char *nodes, const char *reason,
                                   struct fettle_answer **out, struct fettle_error *e);
FETTLE_API int fettle_override_end(struct fettle *f, const char *nodes, const char *reason,
                                   struct fettle_answer **out, struct fettle_error *e);
/* {owners: [{owner, tenant, vcluster, allocation, person, count, since, by, reason, nodes}], tenants:
 * [{tenant, nodes, nodes_max, allocations, allocations_max}], sensitive}: for whom nodes work. owner: only
 * this owner and what lies in it ("physics" has "physics/batch:12"); NULL for all. */
FETTLE_API int fettle_owner_list(struct fettle *f, const char *owner, struct fettle_answer **out,
                                 struct fettle_error *e);
/* All nodes or none. owner: "TENANT", "TENANT/VCLUSTER", either with ":ALLOCATION" behind it, or "@PERSON";
 * NULL for the caller, as a person. -EBUSY when a node has another owner, whom the answer names. reason
 * may be NULL. */
FETTLE_API int fettle_owner_claim(struct fettle *f, const char *nodes, const char *owner, const char *reason,
                                  struct fettle_answer **out, struct fettle_error *e);
/* nodes NULL: all nodes of the owner. */
FETTLE_API int fettle_owner_release(struct fettle *f, const char *nodes, const char *owner,
                                    const char *reason, struct fettle_answer **out, struct fettle_error *e);
FETTLE_API int fettle_owner_transfer(struct fettle *f, const char *nodes, const char *owner,
                                     const char *new_owner, const char *reason, struct fettle_answer **out,
                                     struct fettle_error *e);
/* {switches, budgets}: what holds Fettle back. */
FETTLE_API int fettle_brake_list(struct fettle *f, struct fettle_answer **out, struct fettle_error *e);
/* "stop" (no remedy is begun while it is on), "latch" (tripped by a surge; a person lets go). */
FETTLE_API int fettle_brake_set(struct fettle *f, const char *name, bool on, const char *reason,
                                struct fettle_answer **out, struct fettle_error *e);
/* The power of nodes, through their BMCs: "status", "on", "off", "cycle", "reset", "netboot":
 * {results: [{node, answer | error}]}, when the last has come to its end. All but "status" need a reason; all
 * but "status" and "on" are refused on a node on which work runs, or may run, without force. */
FETTLE_API int fettle_power(struct fettle *f, const char *nodes, const char *verb, const char *reason,
                            bool force, struct fettle_answer **out, struct fettle_error *e);

/* ---- placement ---- */

struct fettle_place {
    unsigned count;           /* nodes wanted, at least 1 */
    const char *class_name;   /* NULL: of any class */
    const char *policy;       /* "hpc", "ml", "service", "sensitive", "interactive"; NULL: hpc */
    const char *nodes;        /* host list to choose from; NULL: all */
    bool require_conformance; /* of one cohort, or none */
};
/* Chooses nodes, and changes nothing: {nodes, count, f9, score, terms, groups, topology_groups, passed}.
 * -ENODEV when fewer fit, -EMEDIUMTYPE when they are not of one cohort and that is required. */
FETTLE_API int fettle_place(struct fettle *f, const struct fettle_place *ask, struct fettle_answer **out,
                            struct fettle_error *e);
/* Features and weights for Slurm: {nodes: [{nodes, features, weight}]}. nodes NULL for all. */
FETTLE_API int fettle_slurm_features(struct fettle *f, const char *nodes, struct fettle_answer **out,
                                     struct fettle_error *e);
/* {constraint}: for sbatch, so that a job of `count` nodes runs within one cohort. */
FETTLE_API int fettle_slurm_constraint(struct fettle *f, unsigned count, const char *class_name,
                                       struct fettle_answer **out, struct fettle_error *e);

/* ---- changing ---- */

/* Each is answered when the change is durable, with {revision, changed, claim, held}: the host list
 * of the nodes that it changed, and every claim that still holds one of the nodes named. */

/* On: changes that are asked for through this handle from now on are decided as they would be, and nothing
 * comes of them: {dry_run: true, changed, would: [{nodes, what}], refused: [{node, error}]}. fettle_call is
 * not meant: it has a query of its own. */
FETTLE_API void fettle_dry_run(struct fettle *f, bool on);

/* Adds a claim of the caller's beside those of others: no new work (drain), or down. */
FETTLE_API int fettle_node_drain(struct fettle *f, const char *nodes, const char *reason,
                                 struct fettle_answer **out, struct fettle_error *e);
FETTLE_API int fettle_node_down(struct fettle *f, const char *nodes, const char *reason,
                                struct fettle_answer **out, struct fettle_error *e);
/* Removes the caller's own claims of that kind from the nodes; or the one claim that is named,
 * whoever's it is. claim NULL for one's own. Never another's unnamed. */
FETTLE_API int fettle_node_undrain(struct fettle *f, const char *nodes, const char *claim,
                                   struct fettle_answer **out, struct fettle_error *e);
FETTLE_API int fettle_node_up(struct fettle *f, const char *nodes, const char *claim,
                              struct fettle_answer **out, struct fettle_error *e);

/* Nodes that no configuration file names, and that are not heard, leave every list, and what is recorded of
 * them goes with them; with force also where claims or open incidents are part of that. */
FETTLE_API int fettle_node_forget(struct fettle *f, const char *nodes, bool force, struct fettle_answer **out,
                                  struct fettle_error *e);

struct fettle_setting {
    const char *field; /* "CPUs" */
    const char *value; /* as it would stand in NodeSpecConf; NULL: what the file says counts again */
};
/* Changes fields of the nodes' specification. */
FETTLE_API int fettle_node_set(struct fettle *f, const char *nodes, const struct fettle_setting *settings,
                               size_t n, struct fettle_answer **out, struct fettle_error *e);

/* Reads the configuration anew, all or nothing: {changes: [sentence]}. The files are those of the first
 * controller that can be reached; where that one follows, their texts are brought to the one that leads. */
FETTLE_API int fettle_reload(struct fettle *f, struct fettle_answer **out, struct fettle_error *e);
/* Begins a backup of the controller's state: {number}. It has ended when `ended` of the list is not below
 * that number. */
FETTLE_API int fettle_backup_create(struct fettle *f, struct fettle_answer **out, struct fettle_error *e);
/* {running, ended, error, directory, backups: [{name, path, at, revision, ...}]}, the newest first. */
FETTLE_API int fettle_backup_list(struct fettle *f, struct fettle_answer **out, struct fettle_error *e);
struct fettle_token {
    const char *nodes; /* whose names may be joined as */
    const char *valid; /* for how long: "1h"; NULL: the controller's default */
    unsigned count;    /* how often; 0: once */
    int again;         /* also as a node whose certificate is valid, which ends then */
    const char *from;  /* addresses from which: "10.1.0.0/16,fd00::/8"; NULL: any */
    const char *uuid;  /* of the machine that may, as DMI has it; NULL: any */
};
/* A token for joining: {token, id, expires, command}. */
FETTLE_API int fettle_token_create(struct fettle *f, const struct fettle_token *t, struct fettle_answer **out,
                                   struct fettle_error *e);
/* {tokens: [{id, nodes, count, again, from, uuid, by, until, state}]}: the tokens with which machines may
 * join, never their secrets. */
FETTLE_API int fettle_token_list(struct fettle *f, struct fettle_answer **out, struct fettle_error *e);
/* Ends the token with this id: nobody joins with it any more. */
FETTLE_API int fettle_token_end(struct fettle *f, const char *id, const char *reason,
                                struct fettle_answer **out, struct fettle_error *e);
/* {controllers: [{name, state, address, ...}]}: the controllers that share a state in etcd. */
FETTLE_API int fettle_controller_list(struct fettle *f, struct fettle_answer **out, struct fettle_error *e);
/* Seals the authority for the key that a new controller of this name prints. */
FETTLE_API int fettle_controller_admit(struct fettle *f, const char *name, const char *key,
                                       struct fettle_answer **out, struct fettle_error *e);
/* Ends a controller's part in the state, and its certificates. */
FETTLE_API int fettle_controller_remove(struct fettle *f, const char *name, const char *reason,
                                        struct fettle_answer **out, struct fettle_error *e);
/* Signs the PKCS#10 request (PEM, a P-256 key) for an operator of this name and role ("reader",
 * "admin"): {certificate, authority}. valid may be NULL. */
FETTLE_API int fettle_certificate_create(struct fettle *f, const char *name, const char *role,
                                         const char *request, const char *valid, struct fettle_answer **out,
                                         struct fettle_error *e);

/* {certificates: [{holder, serial, key, role, state, made, until, by, why}]}: which certificates the
 * authority has made that are not over by their own time. */
FETTLE_API int fettle_certificate_list(struct fettle *f, struct fettle_answer **out, struct fettle_error *e);
/* Ends every certificate of the nodes; or with nodes NULL those of the holder ("operator:ann",
 * "controller:head1"), only the one with this number when serial is not NULL. */
FETTLE_API int fettle_certificate_revoke(struct fettle *f, const char *nodes, const char *holder,
                                         const char *serial, const char *reason, struct fettle_answer **out,
                                         struct fettle_error *e);

/* Any call: "GET" or "POST", a path with its query, a JSON body or NULL. *status is the HTTP status
 * and *text the body, which the caller frees; an answer with an error status is no error here. */
FETTLE_API int fettle_call(struct fettle *f, const char *method, const char *path, const char *body,
                           int *status, char **text, struct fettle_error *e);
/* Reads the text of an answer, which is one JSON object or array, and copies what it needs. -EPROTO for
 * anything else. */
FETTLE_API int fettle_read(const char *text, struct fettle_answer **out, struct fettle_error *e);

/* ---- events ---- */

struct fettle_events;

struct fettle_event {
    const char *id;                  /* to resume after it; "" when it has none */
    const char *name;                /* "resync": events were missed, read the table anew */
    const struct fettle_value *data; /* {at, what, actor, nodes, text, revision}; may be NULL */
};

/* Connects to the stream of what happens, from now on, or after the event with the id last_id (NULL:
 * from now). It uses the handle's address and files on a connection of its own; close it before the
 * handle. */
FETTLE_API int fettle_events_open(struct fettle *f, const char *last_id, struct fettle_events **out,
                                  struct fettle_error *e);
/* Waits for the next event, timeout_ms at most (negative: for ever). What *event points to lives
 * until the next call. A lost connection is made anew after the last event, as often as needed;
 * -ETIMEDOUT when none came in time (the sentence says why, when there is no connection),
 * another code when the controller refuses the stream; the stream may be asked again. */
FETTLE_API int fettle_events_next(struct fettle_events *s, int timeout_ms, struct fettle_event *event,
                                  struct fettle_error *e);
FETTLE_API void fettle_events_close(struct fettle_events *s);

#ifdef __cplusplus
}
#endif

#endif
