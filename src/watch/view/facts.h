/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_VIEW_FACTS_H
#define FETTLE_WATCH_VIEW_FACTS_H

#include "node/operation.h"
#include "remedy/remedy.h"
#include "watch/view/view.h"

/*
 * What follows for one member from the agreed state and from what was observed. These functions keep nothing.
 */

bool watch_live(const struct watch *w, const struct member *m);
const struct node_class *class_of(const struct watch *w, const struct member *m);
const struct baseline *baseline_of(const struct watch *w, const struct member *m);
const struct drift *drift_of(const struct member *m); /* or NULL; also drift that was remedied */
/* The last boot of m, as far as it is known; else "". */
const char *boot_of(const struct watch *w, const struct member *m);
/* Fettle acts on m: the health part is on, and neither m nor its class is excepted. */
bool acts_for(const struct watch *w, const struct member *m);
/* A person has a claim on m. */
bool person_holds(const struct member *m);
/* The scheduler's maintenance window in which m lies, in words; nothing is done to m meanwhile. NULL: none.
 * Borrowed. */
const char *window_of(const struct watch *w, const struct member *m);
/* What Fettle has written into Slurm about m, as its driver recorded it; NULL: nothing. The caller owns it.
 */
json_t *slurm_recorded(const struct watch *w, const struct member *m);
/* The operation that the repair of m wants, and its state. Give *o to operation_fini. */
void watch_operation(const struct watch *w, const struct member *m, struct operation *o);
/* Why an action that needs m idle cannot start, with the work that runs: "work runs on it: slurm.4711". */
void work_say(const struct watch *w, const struct member *m, struct text *out);
/* The name by which remedies know the fault of a finding. */
const char *fault_of(const char *check, const struct finding *f);
size_t incidents_open(const struct member *m); /* those that count */
/* A person's override keeps m in service in spite of incidents of this group up to this severity. */
bool override_excuses(const struct member *m, const char *group, enum result severity);
/* A person wants m in service, and its repair gives way. */
bool repair_yields(const struct member *m);
unsigned remedies_of_week(const struct watch *w, const struct member *m);
/* A maintenance event asks for this remedy: a replacement or a restart of the node. It needs no evidence. */
bool maintenance_wants(const struct member *m, const struct remedy *remedy);
/* The remedy may be applied to a node in service: it does not take the node out, and needs no approval. */
bool remedy_is_gentle(const struct remedy *r);
/* How long m may be in provision: the class's value, else the setting for all classes. */
struct span repair_provision_deadline(const struct watch *w, const struct member *m);
/* False while a machine is recorded and the inventory of this session has not arrived. */
bool machine_seen(const struct watch *w, const struct member *m);
/* Whether the machine that answers is the recorded one: -EAGAIN while that is not known, or when it is
 * another one. 0 also when nothing identifies the machine, because then nothing follows. */
int machine_check(const struct watch *w, const struct member *m, struct err *e);
/* The most reliable identifier of the machine that answers; NULL while it is unknown. Borrowed. */
const char *machine_here(const struct watch *w, const struct member *m);
/* Whether the machine that answers has, or once had, the name. Also true when that is not known any more,
 * because as many other machines had the name since as are remembered. */
bool machine_may_be_known(const struct watch *w, const struct member *m);

#endif
