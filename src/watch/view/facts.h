/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_VIEW_FACTS_H
#define FETTLE_WATCH_VIEW_FACTS_H

#include "node/operation.h"
#include "remedy/remedy.h"
#include "watch/view/view.h"

/*
 * What follows for one member from what is agreed and what was observed of it. These functions keep nothing.
 */

bool watch_live(const struct watch *w, const struct member *m);
const struct node_class *class_of(const struct watch *w, const struct member *m);
const struct baseline *baseline_of(const struct watch *w, const struct member *m);
const struct drift *drift_of(const struct member *m); /* NULL without; also one that is remedied */
/* The boot on which m was last, as far as it is known; else "". */
const char *boot_of(const struct watch *w, const struct member *m);
/* Fettle acts for m: health does, and neither m nor its class is excepted. */
bool acts_for(const struct watch *w, const struct member *m);
/* A person's claim rests on m. */
bool person_holds(const struct member *m);
/* The maintenance window of the scheduler's that m lies in, in words: hands off. NULL: in none. Borrowed. */
const char *window_of(const struct watch *w, const struct member *m);
/* What Fettle has written of m into Slurm, as its driver recorded it; NULL: nothing. The caller's. */
json_t *slurm_recorded(const struct watch *w, const struct member *m);
/* What is to be done to the node by its repair, and how far it is. Give *o to operation_fini. */
void watch_operation(const struct watch *w, const struct member *m, struct operation *o);
/* Why nothing may be done that needs m idle, and which work it is: "work runs on it: slurm.4711". */
void work_say(const struct watch *w, const struct member *m, struct text *out);
/* The name of a finding's fault, for remedies. */
const char *fault_of(const char *check, const struct finding *f);
size_t incidents_open(const struct member *m); /* those that count */
/* A person wants m in service in spite of incidents of this group that are no worse than this. */
bool override_excuses(const struct member *m, const char *group, enum result severity);
/* A person wants m in service, and its repair gives way. */
bool repair_yields(const struct member *m);
unsigned remedies_of_week(const struct watch *w, const struct member *m);
/* A maintenance event asks for it: that the node is replaced, or restarted. It is asked for no evidence. */
bool maintenance_wants(const struct member *m, const struct remedy *remedy);
/* A remedy that may be applied to a node in service: it takes no node away, and asks for nobody. */
bool remedy_is_gentle(const struct remedy *r);
/* How long m may be in provision: its class says so, or the setting of all classes. */
struct span repair_provision_deadline(const struct watch *w, const struct member *m);
/* False while a machine is recorded, and this session's inventory is not here. */
bool machine_seen(const struct watch *w, const struct member *m);
/* -EAGAIN while it is not known that the machine that answers is the recorded one, or when it is another. 0
 * also when nothing tells it from others: nothing follows from that. */
int machine_check(const struct watch *w, const struct member *m, struct err *e);
/* The surest name of the machine that answers; NULL while it is unknown. Borrowed. */
const char *machine_here(const struct watch *w, const struct member *m);
/* Whether the machine that answers had the name already, now or before; also when that is not known any more,
 * because as many had it since as are remembered. */
bool machine_may_be_known(const struct watch *w, const struct member *m);

#endif
