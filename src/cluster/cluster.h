/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CLUSTER_CLUSTER_H
#define FETTLE_CLUSTER_CLUSTER_H

#include "base/clock.h"
#include "base/err.h"
#include "base/hostlist.h"
#include "base/text.h"
#include "conform/class.h"
#include "health/check.h"
#include "health/finding.h"
#include "health/floor.h"
#include "health/meaning.h"
#include "health/recur.h"
#include "node/lifecycle.h"
#include "node/machine.h"
#include "node/refusal.h"
#include "node/spec.h"
#include "remedy/remedy.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The agreed state: which nodes there are, what was edited, which claims rest on whom. It is made
 * of two things only: the configuration's roster, and records. A record reaches it through
 * cluster_put, be it from a load, from a commit of our own or (later) from a leader that we follow;
 * so the same records are the same state.
 *
 * Changes go command -> cluster_decide -> records -> commit -> cluster_put. Deciding changes
 * nothing. Everything here is pure: times, ids and names of people come with the command.
 *
 *   node/NAME    {"admitted":"TIME","boot":"BOOT"}       was in service, and put there on this boot
 *   claim/ID     {"kind","owner","reason","since","nodes","drained"}
 *   machine/NAME {"machine","since","before"}           which machine has the name
 *   bmc/NAME     {"components","absent","unknown"}       what its BMC tells by Redfish
 *   maintenance/NAME {"by","at","why","restart"?}        somebody is about to work on it, or asks for a
 * restart window/NAME  {"by","at","why"}                       it lies in a maintenance window of the
 * scheduler's edit/NAME    {"set":{"CPUs":"4"},"by","at"}           over what the file says token/HASH
 * {"nodes","by","expires"}                 one-time tokens, by their SHA-256 seen/NAME
 * {"fingerprint","since","history"}        what the node was last seen to be drift/NAME
 * {"class","version","expected","actual","severity","named","count","since","boot","state"} baseline/CLASS
 * {"version","fingerprint","node","by","at","note","history","rollout"} list/HASH
 * {"components","absent","unknown"}         the components of baselines health/NAME
 * {"open":[incident],"past":[incident]}    what is wrong with the node repair/NAME
 * {"step","since","deadline",...}          its way back into service override/NAME
 * {"by","source","at","why","spent_s","of"}  in service by a person's word trial/NAME   {"now","last"} checks
 * that it is, and was, held for shared/KEY   {"since","nodes","fault","why"}          one cause of findings
 * on many nodes floor/CLASS CHECK {"at","sum","nodes":[...]}         what nodes came to in a benchmark
 *   tally/REMEDY {"counts":{"FAULT CLASS":[helped,failed]}}  what came of remedies
 *   switch/NAME  {"on","by","at","why"}                   what stops everything
 *   surge/isolated {"at":["TIME"]}                        when nodes were isolated of late
 *   effect/KIND.NAME                                      the outbox: what drivers are to bring about
 */

enum claim_kind {
#define CLAIM(symbol, name, who, what, todo) CLAIM_##symbol,
#include "cluster/claim.tbl"
#undef CLAIM
    CLAIM_KINDS
};

enum command_kind {
#define COMMAND(symbol, name, id, meets, who, todo) COMMAND_##symbol,
#include "cluster/command.tbl"
#undef COMMAND
    COMMANDS
};

/* What a command has in common with commands about other nodes (command.tbl). */
enum command_meets {
    COMMAND_MEETS_NODES,
    COMMAND_MEETS_BASELINES,
    COMMAND_MEETS_COMPARES,
    COMMAND_MEETS_SWITCHES,
    COMMAND_MEETS_OBEYS,
    COMMAND_MEETS_CAUSES
};

enum { CLAIM_ID_BYTES_MAX = 47, REASON_BYTES_MAX = 1024, CLAIMS_A_NODE_MAX = 64 };

struct member;

struct claim {
    char id[CLAIM_ID_BYTES_MAX + 1];
    enum claim_kind kind;
    char *owner;
    char *reason;
    struct wall since;
    size_t n;
    struct member **nodes;
};

/* A claim as it rests on one node. */
struct hold {
    struct claim *claim;
    bool drained; /* the node's work has ended under it */
};

/* One node. Its address and id stay for the life of the cluster. */
struct member {
    uint32_t id; /* dense, from 0 */
    char *name;
    bool listed; /* the roster has it */
    bool gone;   /* forgotten: no list has it, and nobody may name it, until it is met again */
    bool admitted;
    bool held_in_slurm;             /* what Fettle wrote of it into Slurm stands there, as its record says */
    struct wall admitted_at;        /* ns 0 while it is not */
    char boot[37];                  /* on which it was put into service last; "" when no record says so */
    struct machine_record *machine; /* NULL while nothing tells its machine from another */
    struct spec spec;               /* effective: the roster's with the edits over it */
    struct spec *rostered;          /* the roster's own, only while edits lie over it */
    size_t place;                   /* in the order of the roster, while it is listed */
    char *edit;                     /* the edit record's "set" object as JSON, NULL without one */
    struct listing *bmc;            /* what its BMC told last of its firmware; NULL: nothing */
    uint16_t class;                 /* its node class, of cluster_classes */
    struct listing *seen;           /* the fingerprint that it was last seen with, NULL before */
    struct wall seen_since;
    struct past *past; /* NULL for a node that never changed and did not drift */
    size_t n_claims;
    struct hold *claims; /* in order of their ids */
};

enum drift_state {
    DRIFT_OPEN,     /* to be remedied */
    DRIFT_PERSISTS, /* it came back from a boot and is still drifted */
    DRIFT_OVERDUE,  /* not remedied in time: down */
    DRIFT_REMEDIED  /* verified to be right again; waits for a person's approval */
};
const char *drift_state_name(enum drift_state s); /* "open" */

enum { DRIFT_NAMED_MAX = 16, OCHAMI_STATUS_BYTES_MAX = 32 };
enum { LIST_RECORD_BYTES_MAX = 1000 << 10 }; /* of a list of components as a record */

/* A node that is not what its class's baseline says. */
struct drift {
    char *class;
    uint32_t version;            /* of the baseline */
    struct fingerprint expected; /* the baseline's */
    struct fingerprint actual;   /* the node's */
    enum severity severity;      /* the worst */
    char *named;                 /* the components, worst first, at most 16, with ", " between */
    uint32_t count;              /* of all that differ */
    struct wall since;
    char boot[37]; /* on which it was found, or last found to persist */
    enum drift_state state;
};

enum { REBOOTS_A_WEEK_MAX = 3, REBOOTS_KEPT_MAX = 8 };

/* Of a node that was to be rebooted: what its effect's record says. */
struct reboots {
    size_t n;
    struct wall at[REBOOTS_KEPT_MAX]; /* when one was asked for, oldest first */
    char boot[37];                    /* that is to end; "" when none is wanted */
};

/* --- health and repair: doc/spec/repair.md ---------------------------------------------------- */

enum {
    INCIDENTS_OPEN_MAX = 32,
    INCIDENTS_PAST_MAX = 16,
    INCIDENT_FINDINGS_MAX = 8,
    INCIDENT_JOBS_MAX = 8,
    JOB_ID_BYTES_MAX = 20,
    JOB_USER_BYTES_MAX = 63,
    RECURRING_MAX = 32,
    ATTEMPTS_KEPT_MAX = 32,
    NOTES_KEPT_MAX = 16,
    ANSWERED_MAX = 32,
    EVIDENCE_KEPT_MAX = 8,
    SHARED_KEY_BYTES_MAX = 200,
    TALLIES_A_REMEDY_MAX = 1024,
    EFFECT_TEXT_BYTES_MAX = 32 << 10 /* of an operation's result: a verdict may be in it */
};

#define LOST_CHECK "node.lost" /* a node that stays silent: the fault, and in the place of a check's name */

/* Findings of one cause on one node: grouped by device and in time. */
struct incident {
    char id[CLAIM_ID_BYTES_MAX + 1];          /* of the command that opened it, with .N */
    char group[FINDING_DEVICE_BYTES_MAX + 1]; /* the device; "" for the node itself */
    enum result severity;                     /* the worst so far */
    enum act act;                             /* what the worst of its findings asks for */
    struct wall since, last;
    struct wall closed; /* ns 0: open */
    char boot[37];      /* on which it was found last */
    uint32_t count;     /* how often something of it was seen */
    unsigned recurs;    /* how many incidents of this group there were within 30 days before */
    bool observe;       /* all of it from checks that are only observed */
    size_t n;
    struct incident_finding {
        char check[CHECK_NAME_BYTES_MAX + 1];
        struct finding f;
        struct wall at;
        unsigned times;                /* it was seen in this incident */
    } findings[INCIDENT_FINDINGS_MAX]; /* the worst, worst first */
    size_t n_jobs;
    struct incident_job { /* ran on the node while this was open, as the scheduler says */
        char id[JOB_ID_BYTES_MAX + 1];
        char user[JOB_USER_BYTES_MAX + 1];
    } jobs[INCIDENT_JOBS_MAX]; /* in the order in which they became known */
};

/* How often something came back on a device, by the general rule of health/recur.h. */
struct recurring {
    char group[FINDING_DEVICE_BYTES_MAX + 1]; /* as of an incident, */
    bool observe;                             /* likewise */
    uint32_t sum, grave; /* of all findings that count; of those that were degraded by their own word */
    int64_t step;        /* as of which, recur_step */
};

struct ailment {
    size_t n_open, n_past, n_recurring;
    struct incident *open; /* in order of their coming */
    struct incident *past; /* newest first; every one is closed */
    struct recurring *recurring;
};

/* A person's word that something was put right: what was found by then counts no more. */
struct answer {
    struct wall at; /* ns 0: nobody gave it */
    size_t n;       /* 0: for all that was found */
    struct answered {
        char fault[FAULT_BYTES_MAX + 1]; /* the code, or the check where there is none */
        char device[FINDING_DEVICE_BYTES_MAX + 1];
    } * of; /* ANSWERED_MAX at most */
};
bool answer_covers(const struct answer *a, const char *check, const struct finding *f);

enum approval { APPROVAL_NONE, APPROVAL_WANTED, APPROVAL_GIVEN, APPROVAL_REFUSED };
/* OWED: it was broken off, and is made up before the node returns. */
enum examined { EXAMINED_NOT, EXAMINED_PASS, EXAMINED_FAIL, EXAMINED_INCONCLUSIVE, EXAMINED_OWED };
const char *examined_name(enum examined x);

/* A node's way back into service. A claim of kind repair rests on it as long as there is one. At STEP_TEND it
 * has no claim: the node is in service. */
struct repair {
    char id[CLAIM_ID_BYTES_MAX + 1]; /* of the claim */
    enum step step;
    struct wall began, since; /* the repair; this step */
    struct wall deadline;     /* of this step; ns 0: none */
    char boot[37];            /* the node's when this step began */
    uint64_t instance;        /* of its agent then; 0: not known */
    char problem[24];         /* "node_problem", "hardware_problem", "user_problem", "manual", "provision",
                                 "new_instance", "maintenance" */
    char *why;                /* of this step, for people */
    char remedy[REMEDY_NAME_BYTES_MAX + 1]; /* chosen; "" for none */
    char operation[CLAIM_ID_BYTES_MAX + 1]; /* id of the effect that is under way; "" for none. Also of a
                                               remedy that was begun in service, until it has ended */
    enum approval approval;                 /* of the remedy */
    char *approver;                         /* who said so, and the comment: "ann: go ahead"; NULL */
    enum examined examined;                 /* what the extensive stage came to last */
    unsigned inconclusive;                  /* how often in a row */
    bool manual;                            /* no remedy: to the work queue */
    struct answer answer; /* in provision, and for single findings in the queue: by a person */
    bool shared;    /* in the queue: what it is there for had a cause that it shared, and that is over */
    bool came_up;   /* it began as the node came up: it was not in service on this boot */
    char *taken_by; /* of the work queue; NULL: nobody */
    size_t n_attempts;
    struct attempt_record {
        char remedy[REMEDY_NAME_BYTES_MAX + 1];
        char fault[FAULT_BYTES_MAX + 1];   /* what it was for, the worst first; several by commas, cut */
        struct wall at, ended;             /* ended ns 0: under way */
        char boot[37];                     /* on which it was proposed; "": nothing was done, or not known */
        bool done;                         /* it was carried out; whether it helped is judged later */
        char *text;                        /* what came of it, in words; may be "" */
        char verdict;                      /* '?' to be judged, '+' helped, '-' failed, '0' not counted */
        char counted[FAULT_BYTES_MAX + 1]; /* of these the tally counts its verdict; "": of none, */
        char class[CLASS_NAME_BYTES_MAX + 1]; /* under this class */
        enum refusal refusal;                 /* why nothing was done, where somebody said so */
    } * attempts; /* of the node, also of repairs before: oldest first, ATTEMPTS_KEPT_MAX at most */
    size_t n_notes;
    struct note {
        struct wall at;
        char *by, *text;
    } * notes; /* of this repair, oldest first, NOTES_KEPT_MAX at most */
};

enum { MACHINES_KEPT_MAX = 4 };

/* Which machine has the name, by the surest that tells it from another. */
struct machine_record {
    char machine[MACHINE_NAME_BYTES_MAX + 1]; /* as machine_surest says it */
    struct wall since;
    size_t n_before;
    struct {
        char machine[MACHINE_NAME_BYTES_MAX + 1];
        struct wall until;
    } before[MACHINES_KEPT_MAX]; /* the latest first */
};

/* Somebody is about to work on the machine, or to take it away: no extensive check goes on, and it is
 * replaced, or waits for a person; or somebody asks for one restart of it. Or it lies in a window: hands off
 * until that is over. */
struct maintenance {
    char *by;
    struct wall at;
    char *why;
    bool restart;
};

/* A person took the node back, or said that it stays in service: what was wrong with it then isolates it no
 * more until the override ends. */
struct override {
    char *by, *source; /* who, and where: "Slurm", "command" */
    struct wall at;
    char *why;        /* the person's words; may be "" */
    uint64_t spent_s; /* how much of its time it had when this was written */
    size_t n;
    struct override_of {
        char group[FINDING_DEVICE_BYTES_MAX + 1];
        enum result severity;
        char fault[FAULT_BYTES_MAX + 1]; /* the worst, for people */
    } * of;                              /* the incidents that were open, INCIDENTS_OPEN_MAX at most */
};

enum { TRIAL_NODES_MAX = 96 /* one commit has a record of each */, TRIALS_KEPT_MAX = CHECKS_SCHEDULED_MAX };

/* Checks for which a node is held while they run (doc/spec/trial.md). */
struct trial_record {
    char claim[CLAIM_ID_BYTES_MAX + 1]; /* of the one under way; "": none is */
    char check[CHECK_NAME_BYTES_MAX + 1];
    struct wall began, deadline;
    size_t n_last;
    struct tried {
        char check[CHECK_NAME_BYTES_MAX + 1];
        struct wall at;
        enum result result;
    } * last; /* when each check ran last, and what it came to: the latest first, TRIALS_KEPT_MAX at most */
};

enum { FLOORS_MAX = 256, FLOOR_WHAT_BYTES_MAX = 2 * FLOOR_NAME_BYTES_MAX + 1 };

/* What nodes of a class came to in a benchmark (doc/spec/repair.md). */
struct floor {
    char *key; /* "gpu bench.disk": class and check */
    struct wall at;
    uint64_t sum; /* of what was measured: values of another sum are of another benchmark */
    size_t n;
    struct floor_node {
        char *name;
        size_t n;
        struct floor_value {
            char what[FLOOR_WHAT_BYTES_MAX + 1]; /* "bandwidth MB/s": a measure and its unit */
            int64_t value;
        } * values; /* FLOOR_MEASURES_MAX at most */
    } * nodes;      /* the latest first, each once, FLOOR_NODES_MAX at most */
};

/* One cause of findings on many nodes. It isolates nobody. */
struct shared_cause {
    char *key;   /* "fs.mounted mount /scratch" */
    char *nodes; /* folded */
    char *why;   /* what they share */
    struct wall since;
    enum result severity;
};

/* What is remembered of a node that changed. */
struct past {
    char *history;       /* JSON array, newest first, at most 16: [{"fingerprint","since","named","count"}] */
    struct drift *drift; /* NULL while it is not drifted */
    struct reboots *reboots;    /* NULL when none was ever asked for */
    struct ailment *ailment;    /* NULL when nothing was ever wrong */
    struct trial_record *trial; /* NULL when none ever was */
    struct repair
        *repair; /* NULL when none is to be remembered; step NONE: over, what was tried in it stays */
    struct maintenance *maintenance; /* NULL without */
    struct maintenance *window;      /* NULL without */
    struct override *override;       /* NULL without */
};

struct rollout {
    struct listing *to;
    char *node;                   /* that showed it */
    char *nodes_text, *by, *note; /* the note may be "" */
    struct hostlist nodes;
    const char **by_name; /* the same, sorted: for rollout_has */
    struct wall at, deadline;
};

/* The baseline of a class: what its nodes should be. */
struct baseline {
    char *class;
    uint32_t version;        /* from 1 */
    struct listing *listing; /* with its content */
    char *node, *by, *note;  /* the note may be "" */
    struct wall at;
    char *history;           /* JSON array, newest first, at most 32: the versions before */
    struct rollout *rollout; /* NULL while none is under way */
};

enum { PARTITION_NAME_BYTES_MAX = 47 };

struct partition {
    unsigned number;
    char *name; /* "" when nobody named it; no longer than the maximum, and without a comma */
    bool is_default;
};

/* NULL when none has the name. */
const struct partition *partition_named(const struct partition *list, size_t n, const char *name);
/* NULL when none has the number. */
const struct partition *partition_numbered(const struct partition *list, size_t n, unsigned number);
enum { PARTITION_WORD_BYTES = PARTITION_NAME_BYTES_MAX + 1 };
/* What people call it: its name, or the number of one that has none. Returns buf. */
const char *partition_word(const struct partition *list, size_t n, unsigned number,
                           char buf[static PARTITION_WORD_BYTES]);
/* "batch,3" as the numbers "1,3", added to `numbers`: a word of digits is a number. -EINVAL names what is
 * neither. */
int partition_numbers(const struct partition *list, size_t n, const char *words, struct text *numbers,
                      struct err *e);

/* What the configuration says of nodes and partitions. Zero-initialise; roster_fini. */
struct roster {
    size_t n;
    struct roster_node {
        char *name;
        struct spec spec;
    } * nodes;
    size_t n_partitions;
    struct partition *partitions; /* named ones, by number */
    unsigned partition_max;
    struct classes classes;
    bool tells_ochami; /* drift makes an effect for OpenCHAMI */
};
void roster_fini(struct roster *r);

struct command {
    enum command_kind kind;
    const char *actor;
    struct wall at;
    const struct hostlist *nodes; /* NULL or empty where none are named */
    const char *claim; /* the id of what it makes (command_makes_id); UNDRAIN, UP: the claim that is named,
                          or NULL */
    const char
        *reason; /* TOKEN_END, DRAIN, DOWN, SILENT, POWER; APPROVE, BASELINE_*, ROLLOUT_*: a note, or NULL */
    const char *set;   /* SET: JSON object of strings and nulls. FORGET: anything, when it is forced. What
                          belongs to SEEN, DRIFT, PERSISTS, REBOOT, BASELINE_*, ROLLOUT_* and EFFECT, as
                          decide_conform.c says at each */
    const char *token; /* TOKEN_*: its hash, lower-case hex; TOKEN_END: its id. What belongs to TOKEN_USE and
                          CERTIFICATE is in `set`, as decide_certificate.c says */
    struct wall expires; /* TOKEN_CREATE */
    bool dry;            /* it is decided, and nothing is committed */
};

/* What a command comes to. Zero-initialise; decision_fini. */
struct decision {
    size_t n_ops;
    struct {
        char *key;
        char *value; /* NULL deletes */
    } * ops;
    char *text;              /* the journal's sentence, NULL when nothing changes */
    struct text about;       /* ids of the claims, repairs and operations that it is part of: "7.1 7.2" */
    struct hostlist changed; /* nodes that it changes */
    char *claim; /* the claim that now holds the nodes (DRAIN, DOWN), the power command's id; or NULL */
    size_t next; /* nodes from this index on were left for another batch */
};
void decision_fini(struct decision *d);

struct cluster;
struct cluster *cluster_create(void);
void cluster_destroy(struct cluster *c);

/* Takes a roster (and empties it): nodes not in it become unlisted, edits are laid over anew, with
 * a sentence for each line of what changed into `changes` (one a line; may be NULL). */
void cluster_configure(struct cluster *c, struct roster *r, struct text *changes);
/* The same sentences, and nothing is taken. */
void cluster_compare(const struct cluster *c, struct roster *r, struct text *changes);

/* Takes one record; value NULL removes it. -EILSEQ with a sentence for a record that is none. */
int cluster_put(struct cluster *c, const char *key, const char *value, struct err *e);

/* Decides a command for nodes[from..]: at most 100 records, what is beyond is left to d->next.
 * 0, also when nothing needs to change (no ops). -ENOENT no such node, claim or token; -EACCES not
 * to be done by this actor or at all; -EBUSY the node's state forbids it; -EINVAL bad reason, field
 * or value; -E2BIG a list of components too large for a record. *d is empty on error. */
int cluster_decide(const struct cluster *c, const struct command *cmd, size_t from, struct decision *d,
                   struct err *e);

/* Members: in the order of the roster, then the unlisted by name. */
size_t cluster_count(const struct cluster *c);
struct member *cluster_at(const struct cluster *c, size_t order);
struct member *cluster_find(const struct cluster *c, const char *name); /* NULL when unknown */
/* The same, for names that mostly come in the order of the roster: a list of very many is read several times
 * faster. *place is 0 before the first name, and the caller's from one name to the next. */
struct member *cluster_find_next(const struct cluster *c, size_t *place, const char *name);
/* The member of this id; ids run from 0 to cluster_count - 1. */
struct member *cluster_by_id(const struct cluster *c, uint32_t id);
/* Finds or makes an unlisted one: for nodes that report without being configured. One that was gone is back.
 */
struct member *cluster_meet(struct cluster *c, const char *name);
/* Lets a node go that is in no file and of which nothing is recorded. Its id stays taken. False for another
 * one. */
bool cluster_let_go(struct cluster *c, struct member *m);

/* The classes as configured; never empty. */
const struct classes *cluster_classes(const struct cluster *c);
/* The lists of components that anybody knows: the baselines', and what the watch adds. */
struct listings *cluster_listings(const struct cluster *c);
/* NULL for a class without one. */
const struct baseline *cluster_baseline(const struct cluster *c, const char *class);
/* Whether a drift of this severity takes the node out of service until it is remedied. */
bool cluster_drift_drains(const struct cluster *c, const struct member *m, enum severity severity);
/* OpenCHAMI is to be told of the node's drift and no effect says so: it was configured, or an xname was
 * given, after the drift was found. A repeated DRIFT (PERSISTS) writes the effect, and it alone. */
bool cluster_drift_untold(const struct cluster *c, const struct member *m);
/* How often a reboot of the node was asked for within the 7 days before now. */
unsigned cluster_reboots(const struct member *m, struct wall now);
/* One is wanted of this boot now. */
bool cluster_reboot_wanted(const struct member *m, const char *boot);
/* Nothing says what the node should be: it is unlisted, or its class has no baseline. Its drift can end
 * by a person's word alone. */
bool cluster_is_unjudged(const struct cluster *c, const struct member *m);
/* True when m may be what the rollout says as well as what the baseline says. */
bool rollout_has(const struct rollout *r, const char *node);
/* OpenCHAMI's State Manager is configured, and knows the node by a name. */
bool cluster_in_ochami(const struct cluster *c, const struct member *m);
/* By which the State Manager knows it; NULL: it does not. */
const char *member_xname(const struct member *m);
/* NULL while nothing was ever wrong with it. */
const struct ailment *member_ailment(const struct member *m);
bool incident_has_job(const struct incident *i, const char *job);
/* The incident's finding of this check, device and code; NULL. i NULL: of none. */
const struct incident_finding *incident_finding(const struct incident *i, const char *check,
                                                const struct finding *f);
/* Its code, or of one without a code its check. */
const char *finding_fault(const struct incident_finding *f);
/* An incident for which a node is kept out of service until it is over. */
bool incident_counts(const struct incident *i);
/* How often a finding was seen since it was last written down; 1 for one that nobody counts. i: the open
 * incident that it belongs to, or NULL. */
unsigned finding_times(const struct ailment *a, const struct incident *i, const char *check,
                       const struct finding *f, const char *boot);
/* How often something came back in this group, as of a moment; sums of 0 where nothing did. a may be NULL. */
void ailment_recurs(const struct ailment *a, const char *group, bool observe, struct wall at,
                    struct recurring *out);
/* The repair that has m out of service; NULL without one. One that is over is none, and neither is a remedy
 * that is applied in service (STEP_TEND). */
const struct repair *member_repair(const struct member *m);
/* The same or, at STEP_TEND, what is done to m while it is in service. */
const struct repair *member_treated(const struct member *m);
/* What was tried on it, also when no repair is under way. */
const struct repair *member_repairs(const struct member *m);
/* NULL while nothing tells its machine from another. */
const struct machine_record *member_machine(const struct member *m);
/* That it is this machine now is no news but two machines (or more) with one name: it was this one within the
 * last hour already, or MACHINES_KEPT_MAX others. */
bool machine_restless(const struct machine_record *i, const char *machine, struct wall now);
/* NULL without a maintenance event. */
const struct maintenance *member_maintenance(const struct member *m);
/* A maintenance event asks for a restart, which the node did not have yet. */
bool member_restarts(const struct member *m);
/* The maintenance window of the scheduler's that it lies in, as it is recorded; NULL without. */
const struct maintenance *member_window(const struct member *m);
/* NULL while no override stands. */
const struct override *member_override(const struct member *m);
/* What the override covers: an incident of this group that is no worse than it was then. */
bool override_covers(const struct override *o, const char *group, enum result severity);
/* "xid.79 0000:9b:00.0 (fatal)" and so on: what the override covers, into t. */
void override_say(const struct override *o, struct text *t);
/* Its repair began before it was in service: ever, or on the boot on which it came up. */
bool member_is_new(const struct member *m);
/* It is on another boot than the one on which it was put into service last, or was never put there. A node of
 * an older record counts as in service on the boot on which it is seen first. */
bool member_came_up(const struct member *m, const char *boot);
/* NULL when no check was ever scheduled on it. */
const struct trial_record *member_trial(const struct member *m);
/* When a check ran last on it in a trial; NULL: never. */
const struct tried *trial_last(const struct trial_record *t, const char *check);
/* The worst severity of its open incidents that are not only observed; OK without. */
enum result member_severity(const struct member *m);
/* m was lost as the present step of its repair began, and was heard again since. */
bool member_was_lost(const struct member *m);
struct outcomes cluster_outcomes(const struct cluster *c, const char *fault, const char *remedy,
                                 const char *class);
/* NULL while no node of the class came to anything. */
const struct floor *cluster_floor(const struct cluster *c, const char *class, const char *check);
/* NULL for what it did not measure. */
const struct floor_value *floor_value(const struct floor_node *n, const char *what);
/* Calls fn for each shared cause, in order of their keys. */
typedef void shared_fn(void *arg, const struct shared_cause *s);
void cluster_each_shared(const struct cluster *c, shared_fn *fn, void *arg);
const struct shared_cause *cluster_shared(const struct cluster *c, const char *key);
/* When nodes were isolated, oldest first: as many as may be within the window of a surge, and none from
 * before a person let go of the latch. Borrowed until the next record is put. */
enum { ISOLATIONS_KEPT_MAX = 1000 };
size_t cluster_isolations(const struct cluster *c, const struct wall **out);
/* "stop": no remedy is begun while it is on. NULL when it is off; else who and why, in words. */
const char *cluster_switch(const struct cluster *c, const char *name);
/* An effect's record as it stands; NULL when there is none. key with "effect/". */
const char *cluster_effect_value(const struct cluster *c, const char *key);
/* Called with each effect's record as it is put, NULL when it is gone; and at once with those that are
 * there. For drivers. */
typedef void cluster_effect_fn(void *arg, const char *key, const char *value);
void cluster_on_effect(struct cluster *c, cluster_effect_fn *fn, void *arg);
/* The node that an effect's key names, a part of it; NULL when it names none. */
const char *effect_node(const char *key);

const struct claim *cluster_claim(const struct cluster *c, const char *id); /* NULL when unknown */
size_t cluster_partitions(const struct cluster *c, const struct partition **out);

struct agreed member_agreed(const struct member *m);
/* Remediate=no, of the node or its class: it is only observed. */
bool cluster_excepts(const struct cluster *c, const struct member *m);
/* True when a claim of this kind rests on it. */
bool member_held_by(const struct member *m, enum claim_kind kind);
/* The claims of people in words: "drain by root: bad DIMM; down by ann: ...", into t. */
void member_claims(const struct member *m, struct text *t);

/* What this state is called since it was made, 16 hex digits; "" before it has a name. Terms and ids count
 * within it. */
enum { ORIGIN_BYTES = 8 };
const char *cluster_origin(const struct cluster *c);

/* The sum of each record's 64-bit FNV-1a: equal states have equal digests. */
uint64_t cluster_digest(const struct cluster *c);

const char *command_name(enum command_kind k); /* "node.drain" */
/* It makes something that is known by an id, which it has to bring along in `claim`. */
bool command_makes_id(enum command_kind k);
enum command_meets command_meets(enum command_kind k);
const char *claim_kind_name(enum claim_kind k);

#endif
