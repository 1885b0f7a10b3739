/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CLUSTER_DECIDE_H
#define FETTLE_CLUSTER_DECIDE_H

#include "cluster/command/command.h"
#include "cluster/decision/decision.h"
#include "cluster/effect/effect.h"
#include "cluster/record/record.h"
#include "cluster/state/feature.h"

/*
 * Shared by the functions that decide. Only for this folder.
 */

/* As cluster_decide. */
int decide_command(const struct cluster *c, const struct command *cmd, size_t from, struct decision *d,
                   struct err *e);

/* The node is changed; marks (by member id; may be NULL) keeps it from being named twice. */
void decision_note(struct decision *d, bool *marks, const struct member *m);

/* The members that a command names, from an index on. Free `nodes`, also after an error. -ENOENT for an
 * unknown name, or a node that is in no configuration file. */
struct named {
    size_t n;
    struct member **nodes;
};
int decide_find_named(const struct cluster *c, const struct command *cmd, size_t from, bool must_be_listed,
                      struct named *out, struct err *e);

/* Writes the record of a new claim on nodes; cmd->claim is its id. A node that another claim has already
 * drained is drained under this one too. */
void decide_claim(struct decision *d, const struct command *cmd, enum claim_kind kind, const char *reason,
                  const struct named *nodes);

/* Claims, each once, that are to be rewritten for the nodes that are marked. */
struct selection {
    size_t n;
    const struct claim *claims[OPS_MAX];
    bool *nodes; /* by member id */
};
/* False when the selection is full. */
bool selection_add(struct selection *s, const struct claim *claim);
/* The claims' ids in words, the first eight by name. */
void selection_say(const struct selection *s, struct text *t);
/* Writes the records of the selected claims without the marked nodes. */
void selection_release(const struct selection *s, struct decision *d);

/* Checks a sentence that came with a command: REASON_BYTES_MAX at most, no control characters, not empty. */
int decide_check_reason(const char *reason, struct err *e);
/* The same of a command's reason where none is needed. */
int decide_check_note(const struct command *cmd, struct err *e);

/* A clause for a record, which may be empty: REASON_BYTES_MAX at most, no control characters. */
int decide_check_clause(const char *what, const char *clause, struct err *e);
int decide_check_boot(const char *boot, struct err *e); /* "" is one that is not known */
/* 1 to max printable ASCII characters. */
bool decide_key_ok(const char *key, size_t max);
/* `s` seconds after `at`; ns 0, no deadline, for 0. */
struct wall deadline_after(struct wall at, uint64_t s);

int decide_forget(const struct cluster *c, const struct command *cmd, size_t from, struct decision *d,
                  struct err *e);
int decide_seen(const struct cluster *c, const struct command *cmd, size_t from, struct decision *d,
                struct err *e);
/* DRIFT and PERSISTS. */
int decide_drift(const struct cluster *c, const struct command *cmd, size_t from, struct decision *d,
                 struct err *e);
int decide_restored(const struct cluster *c, const struct command *cmd, size_t from, struct decision *d);
int decide_overdue(const struct cluster *c, const struct command *cmd, size_t from, struct decision *d);
int decide_reboot(const struct cluster *c, const struct command *cmd, size_t from, struct decision *d,
                  struct err *e);
int decide_approve(const struct cluster *c, const struct command *cmd, size_t from, struct decision *d,
                   struct err *e);
/* BASELINE_* and ROLLOUT_*. */
int decide_baseline(const struct cluster *c, const struct command *cmd, struct decision *d, struct err *e);
/* FINDINGS, SHARED, REPAIR, OUTCOME, OPERATE, TRANSITION, ANSWER, TICKET, REPAIR_*, SWITCH. */
int decide_health(const struct cluster *c, const struct command *cmd, struct decision *d, struct err *e);
int decide_measured(const struct cluster *c, const struct command *cmd, struct decision *d, struct err *e);
/* TRIAL_BEGIN and TRIAL_END. */
int decide_trial(const struct cluster *c, const struct command *cmd, struct decision *d, struct err *e);
/* SHARED and OUTCOME. */
int decide_shared(const struct cluster *c, const struct command *cmd, struct decision *d, struct err *e);
int decide_outcome(const struct cluster *c, const struct command *cmd, struct decision *d, struct err *e);
/* OPERATE */
int decide_operate(const struct cluster *c, const struct command *cmd, struct decision *d, struct err *e);
/* REPAIR */
int decide_repair(const struct cluster *c, const struct command *cmd, struct decision *d, struct err *e);
/* People's words: TRANSITION, ANSWER, TICKET, REPAIR_APPROVE, REPAIR_REFUSE, SWITCH. */
int decide_ticket(const struct cluster *c, const struct command *cmd, struct decision *d, struct err *e);
int decide_bmc(const struct cluster *c, const struct command *cmd, size_t from, struct decision *d,
               struct err *e);
int decide_machine(const struct cluster *c, const struct command *cmd, size_t from, struct decision *d,
                   struct err *e);
int decide_window(const struct cluster *c, const struct command *cmd, size_t from, struct decision *d,
                  struct err *e);
/* TOKEN_CREATE, TOKEN_USE and CERTIFICATE_*: tokens and certificates. */
int decide_certificate(const struct cluster *c, const struct command *cmd, struct decision *d, struct err *e);
/* Adds the record by which all certificates of the subject have ended, also the one in use. */
void decide_end_certificates(const struct cluster *c, const struct command *cmd, const char *subject,
                             struct decision *d);
/* CONTROLLER_ADMIT, CONTROLLER_REMOVE. -EEXIST: it was admitted with another key. */
int decide_controller(const struct cluster *c, const struct command *cmd, struct decision *d, struct err *e);
int decide_power(const struct cluster *c, const struct command *cmd, struct decision *d, struct err *e);
/* A person's power command for m has not come to its end yet. */
bool power_stands(const struct cluster *c, const struct member *m);
/* OVERRIDE, OVERRIDE_AGE and OVERRIDE_END. */
int decide_override(const struct cluster *c, const struct command *cmd, struct decision *d, struct err *e);
/* Adds that m's override ends, when one stands, and says it behind `said`. */
void override_end(const struct member *m, const char *how, struct text *said, struct decision *d);
int decide_instance(const struct cluster *c, const struct command *cmd, struct decision *d, struct err *e);
/* The one node that a command is about. */
int decide_one(const struct cluster *c, const struct command *cmd, struct member **out, struct err *e);

/* The agreed limits on how many nodes may be out, checked where it is decided: 0, or -EBUSY with the
 * reason. Nothing is limited while no limits are agreed. */
int decide_check_budgets(const struct cluster *c, const struct named *more, struct err *e);
int decide_check_brakes(const struct cluster *c, struct err *e); /* the switches, and Health=observe */
int decide_check_surge(const struct cluster *c, struct wall at, struct err *e);
int decide_check_week(const struct cluster *c, const struct member *m, const struct repair *r, struct wall at,
                      struct err *e);
/* OWNER_CLAIM, OWNER_RELEASE, OWNER_TRANSFER: all nodes or none. -EDQUOT: a quota has no room. */
int decide_owner(const struct cluster *c, const struct command *cmd, struct decision *d, struct err *e);
/* BACKUP: the record of the last backup. The same one again changes nothing. */
int decide_backup(const struct cluster *c, const struct command *cmd, struct decision *d, struct err *e);
/* As cluster_remember. */
void decide_remember(const struct cluster *c, uint64_t revision, const struct request_note *notes, size_t n,
                     size_t ops_max, struct decision *d);
/* FEATURES: the level of features that all controllers know. -EINVAL: this version does not know it. */
int decide_level(const struct cluster *c, const struct command *cmd, struct decision *d, struct err *e);
/* The decision uses a feature. -EBUSY: not all controllers know it. In a state of a single controller the
 * level is raised by the decision; of several such decisions no two may be in one commit. */
int decide_feature(const struct cluster *c, enum feature f, struct decision *d, struct err *e);

/* REVISE: adds the records of one commit to *d. Nothing is added when the command's texts and limits are
 * agreed, and no other piece is there. A text that is larger than a commit takes several: give the command
 * again until nothing is added. -EINVAL for limits that nobody can keep. */
int decide_revision(const struct cluster *c, const struct command *cmd, struct decision *d, struct err *e);
/* Adds the record of the limits when other ones are agreed; says which, where the decision has no words yet.
 */
void decide_limits(const struct cluster *c, const struct limits *is, struct decision *d);

/* The beginning of a repair's step. */
struct repair_wish {
    enum step step;
    const char *why;  /* borrowed */
    char problem[24]; /* "": as it is, or what fits the step */
    char boot[37];
    uint64_t instance;
    uint64_t deadline_s; /* 0: none */
    bool manual;
    const char *remedy; /* the remedy of STEP_TEND; borrowed. Else NULL */
};
/* Its why and its problem can be written down. */
int repair_wish_check(const struct repair_wish *w, struct err *e);
/* Adds the records of a new repair of m, which has none, and of its claim, but none at STEP_TEND. */
void repair_begin(const struct cluster *c, const struct command *cmd, struct member *m,
                  const struct repair_wish *w, struct decision *d);
/* The same, with what is to be remembered of repairs before in place of what is. */
void repair_begin_with(const struct command *cmd, struct member *m, const struct repair_wish *w,
                       const struct repair *before, struct decision *d);
/* Drops everything that *r remembers of the machine that had the name, except attempts with the remedies
 * in `keep` (n names): how often a name was replaced belongs to the name, keeps replacing from going on
 * for ever, and is still to be judged. */
void repair_forget(struct repair *r, const struct remedy_name *keep, size_t n);
void repair_forget_notes(struct repair *r);
/* Its incidents and its maintenance event go, and `said` has which were open. */
void forget_ailment(const struct member *m, const char *how, struct text *said, struct decision *d);
/* The step that m's repair is at, also STEP_TEND; STEP_NONE without. */
enum step repair_step_of(const struct member *m);
/* Into another step. Before it, repair_leave. */
void repair_enter(struct repair *r, enum step to, struct wall at, uint64_t deadline_s, const char *why);
/* The step's time begins again. */
void repair_restart(struct repair *r, struct wall at);
/* Ends what is under way in a step, together with its attempt. -EBUSY when it has begun and no person
 * (by_person) takes the responsibility. A check that is given up leaves nothing undone. */
int repair_leave(const struct cluster *c, const struct member *m, struct repair *r, struct wall at,
                 bool by_person, struct decision *d, struct err *e);
/* The repair is this one, and at this step; else -EBUSY. */
int repair_check_at(const struct member *m, const struct repair *r, const char *id, enum step step,
                    struct err *e);
/* One more attempt, the oldest goes when there are too many. The repair's. */
struct attempt_record *attempt_add(struct repair *r, struct wall at, const char *remedy, const char *fault);
void repair_note(struct repair *r, const struct command *cmd, const char *text);
/* No attempt of this repair is judged any more. */
void repair_disown(struct repair *r);
/* The repair leaves its step without the result of its examination, which is then owed. */
void repair_owe(struct repair *r, enum step to);
/* Adds the repair's record as it is now. */
void repair_put(const struct member *m, const struct repair *r, struct decision *d);

/* Reads which open findings of m a person answers for. -ENOENT for a finding that is not open. Give *out
 * to answer_fini, also after an error. */
int answer_find(const struct answer_command *says, const struct member *m, struct wall at, struct answer *out,
                struct err *e);
/* Adds what was answered for before, and did not come back since. */
void answer_carry(const struct answer *before, const struct member *m, struct answer *w);
/* How many open incidents still keep the node out of service after those that w covers are closed; said
 * gets their description. */
size_t answer_leaves(const struct member *m, const struct answer *w, struct text *said);
/* Closes what w covers, and says it behind d->text. */
void answer_close(const struct command *cmd, const struct member *m, const struct answer *w,
                  struct decision *d);

/* An operation is under way on m; one that is not the agent's to carry out. */
bool operation_begun(const struct cluster *c, const struct member *m);
bool operation_begun_outside(const struct cluster *c, const struct member *m);
#endif
