/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CLUSTER_RECORD_H
#define FETTLE_CLUSTER_RECORD_H

#include "cluster/decision/decision.h"
#include "cluster/record/recorded.h"
#include "cluster/state/state.h"

/*
 * Records: record_put takes any, put_X takes one into the state, X_record writes one, X_read and record_X
 * read what is in one.
 */

/* Takes one record; value NULL removes it. -EILSEQ with a sentence for a malformed record. */
int record_put(struct cluster *c, const char *key, const char *value, struct err *e);

/* One claim's record, without the nodes that leave_out marks (by member id; may be NULL), and with
 * `drained` for those that settle marks (likewise) instead of what they are. NULL when no node is
 * left. The caller frees it. */
char *claim_record(const struct claim *c, const bool *leave_out, const bool *settle, bool drained);

/* The reason of a repair's claim: "[PROBLEM] WORDS". The problem is that of its beginning, which the repair's
 * record has no more when it has turned into another. The caller frees it. */
char *claim_reason_of(const char *problem, const char *words);

/* The record of a node that was admitted at this time and is in service on this boot; "" for none. The caller
 * frees it. */
char *node_record(struct wall admitted, const char *boot);

/* The members of these names, each met when it is not known yet. The caller frees the list. */
struct member **members_meet(struct cluster *c, const struct hostlist *nodes);

/* A record's time: a string, because JSON numbers lose nanoseconds. */
int record_time(const json_t *o, const char *key, uint64_t *out, struct err *e);
int record_fingerprint(const json_t *o, const char *key, struct fingerprint *out, struct err *e);
/* Names of components with ", " between, at most DRIFT_NAMED_MAX. */
int record_named(const json_t *o, const char **out, struct err *e);
int record_named_check(const char *named, struct err *e);
int record_name_check(const char *name, struct err *e);
/* Reads all of value as an object. NULL with a sentence. The caller owns it. */
json_t *record_object(const char *value, struct err *e);

/* Its class, version, severity and names can be written down. */
int drift_check(const struct drift *d, struct err *e);
void drift_fini(struct drift *d);
char *drift_record(const struct drift *d);
char *flaps_record(const struct flaps *f);
bool boot_ok(const char *boot);

int put_seen(struct cluster *c, const char *name, const char *value, struct err *e);
int put_drift(struct cluster *c, const char *name, const char *value, struct err *e);
int put_flap(struct cluster *c, const char *name, const char *value, struct err *e);
int put_baseline(struct cluster *c, const char *class, const char *value, struct err *e);
int put_list(struct cluster *c, const char *hex, const char *value, struct err *e);
int put_effect(struct cluster *c, const char *rest, const char *value, struct err *e);
/* Takes the reboots that were asked for: o is the checked object of the effect's record, NULL when that is
 * gone. */
void reboots_take(struct member *m, const json_t *o);
/* All effects go, and nobody is told. */
void effects_forget(struct cluster *c);

int put_certificate(struct cluster *c, const char *subject, const char *value, struct err *e);
/* As the record; the caller frees it. */
char *holder_record(const struct holder *h);

int put_controller(struct cluster *c, const char *name, const char *value, struct err *e);
/* As the record, without its name; the caller frees it. */
char *controller_record_write(const struct controller_record *r);

int put_owner(struct cluster *c, const char *name, const char *value, struct err *e);
/* As the record of an owner with these nodes, at least one; the caller frees it. */
char *owner_record(const char *by, struct wall since, const char *reason, struct member *const *nodes,
                   size_t n);

int put_wiped(struct cluster *c, const char *name, const char *value, struct err *e);
/* As the record of a node that was wiped; the caller frees it. */
char *wiped_record(struct wall at, const char *remedy, const char *operation);

/* One request of a commit, as its record has it. All of it is borrowed. */
struct request_made {
    const char *id, *by, *asks;
    uint64_t revision;
    const char *node; /* as in struct request_part, */
    size_t next, of;
    const char *changed, *claim; /* NULL: none */
};
void request_made_write(const struct request_made *m, struct text *t);
/* The name of a commit's record, without "request/"; the caller frees it. */
char *request_key(uint64_t revision);
int put_request(struct cluster *c, const char *name, const char *value, struct err *e);
void requests_forget(struct cluster *c);

int put_config(struct cluster *c, const char *name, const char *value, struct err *e);

int put_feature(struct cluster *c, const char *name, const char *value, struct err *e);
int put_backup(struct cluster *c, const char *name, const char *value, struct err *e);
/* backup/last; the caller frees it. */
char *backup_record(const struct backup_made *b);

int put_machine(struct cluster *c, const char *name, const char *value, struct err *e);
int put_bmc(struct cluster *c, const char *name, const char *value, struct err *e);
/* Reads a list of what a BMC told, sorted. *out is the caller's to give to components_fini, also after an
 * error. */
int bmc_read(const json_t *o, struct components *out, struct err *e);
/* Sorts the list. -EINVAL with a sentence when it is not what a BMC may tell. */
int bmc_check(struct components *out, struct err *e);
int put_maintenance(struct cluster *c, const char *name, const char *value, struct err *e);
int put_window(struct cluster *c, const char *name, const char *value, struct err *e);
int put_override(struct cluster *c, const char *name, const char *value, struct err *e);
char *override_record(const struct override *o);
char *machine_record_write(const struct machine_record *i);
/* Another machine has the name from `at` on. */
void machine_record_change(struct machine_record *i, const char *machine, struct wall at);
/* Also for a window. */
char *maintenance_record(const char *by, struct wall at, const char *why, bool restart);
int put_health(struct cluster *c, const char *name, const char *value, struct err *e);
int put_repair(struct cluster *c, const char *name, const char *value, struct err *e);
int put_shared(struct cluster *c, const char *key, const char *value, struct err *e);
int put_tally(struct cluster *c, const char *remedy, const char *value, struct err *e);
int put_floor(struct cluster *c, const char *key, const char *value, struct err *e);
int put_switch(struct cluster *c, const char *name, const char *value, struct err *e);
/* Keeps any record as it stands. -EILSEQ for a key that is not KIND/NAME, and when there are too many. */
int put_unknown(struct cluster *c, const char *key, const char *value, struct err *e);
void unknown_forget(struct cluster *c);
int put_trial(struct cluster *c, const char *name, const char *value, struct err *e);
char *trial_record(const struct trial_record *r);

/* The text of a key, of at most `max` bytes and without control characters, into out. May be empty. */
int record_word(const json_t *o, const char *key, char *out, size_t max, struct err *e);
/* The id of a claim or an operation; empty only where it is not needed. */
int record_id(const json_t *o, const char *key, bool needed, struct err *e);
int record_result(const json_t *o, const char *key, enum result *out, struct err *e);
/* A boot id, or "" where none is known. */
int record_boot(const json_t *o, char out[static 37], struct err *e);
/* A number in up to 16 hex digits. */
int record_hex(const json_t *o, const char *key, uint64_t *out, struct err *e);

/* As the record; the caller frees it. */
char *ailment_record(const struct ailment *a);
/* The same after a person answered for what w covers. id: of the findings that are closed apart from the
 * rest of their incident, with .N. */
char *ailment_answered(const struct ailment *a, const struct answer *w, const char *id);
/* The rest of an incident, and the part that w covers; n of either may be 0. */
void incident_split(const struct incident *i, const struct answer *w, struct incident *rest,
                    struct incident *closed);
void answer_fini(struct answer *w);
void answer_copy(struct answer *out, const struct answer *w); /* answer_fini */

char *repair_record(const struct repair *r);
void repair_copy(struct repair *out, const struct repair *r);
/* What ran in the step is this from now on; the list is copied. n at most CHECKS_MAX. */
void repair_take_ran(struct repair *r, const struct ran_check *ran, size_t n);
void repair_fini(struct repair *r);

char *shared_record(const struct shared_cause *s);
char *switch_record(const char *by, struct wall at, const char *why);
/* Tallies as one command leaves them: outcomes are counted, or taken back, and in the end each that changed
 * is a record. Zero-initialise; tally_edit_put. */
struct tally_edit {
    size_t n;
    struct tally *list; /* copies */
};
/* One more outcome of this fault; or one less, when back is true and it was counted. */
void tally_count(const struct cluster *c, struct tally_edit *x, const char *remedy, const char *class,
                 const char *fault, bool helped, bool back);
bool tally_edit_has(const struct tally_edit *x, const char *remedy);
/* Adds the records to the decision, and lets go of *x. */
void tally_edit_put(struct tally_edit *x, struct decision *d);
int put_surge(struct cluster *c, const char *name, const char *value, struct err *e);
/* With one more time, of which the latest `keep`, 1 at least, are kept. */
char *surge_record_with(const struct cluster *c, struct wall at, uint64_t keep);
char *floor_record(const struct floor *f);
bool switch_known(const char *name);

/* Checks the object of an effect's record (NULL: it goes). key is without "effect/". */
int effect_check(const char *key, const json_t *o, struct err *e);
int check_operate(const json_t *o, struct err *e);
int check_power(const json_t *o, struct err *e);

/* Lays an edit's set (JSON) over a specification. */
int edit_apply(struct spec *s, const char *set, unsigned partition_max, struct err *e);

#endif
