/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_HEALTH_H
#define FETTLE_WATCH_HEALTH_H

#include "cluster/budget.h"
#include "cluster/cluster.h"
#include "health/check.h"
#include "node/elsewhere.h"
#include "node/scheduler_word.h"
#include "remedy/remedy.h"

/*
 * What only the leader knows of health: what each check says on each node now, and what follows from it for
 * what is agreed: incidents are opened and closed, nodes are isolated, examined, remedied and returned, one
 * step after another, each a command. Part of the watch, which owns it.
 *
 * Nothing follows from what is not known: a result of another boot, of a node that is not live, or older
 * than the check's own time allows counts as unknown; an incident closes only when its checks say ok again,
 * or on another boot. After a restart every node's checks are unknown until its agent has told them all.
 */

struct health_policy {
    struct limits limits;      /* proposals keep them, and so does what is decided of them */
    unsigned trials_percent;   /* of the cluster whose idle nodes may be held for checks at once; 1 */
    unsigned shared;           /* the same fault on so many nodes within shared_window is a shared cause; 5 */
    struct span shared_window; /* 3 min */
    struct span group;         /* findings of one device within so long are one incident; 3 min */
    struct span drain_deadline; /* running work has ended by then, or a person is called; 0: none */
    struct span examine_deadline, provision_deadline; /* 4 h; 30 min */
    unsigned inconclusive;                            /* so often in a row, then a person; 3 */
    struct span fresh;        /* evidence is not older when something destructive follows; 2 min */
    struct span lost_after;   /* a node that is silent for so long is lost; 10 min; 0: never */
    struct span degraded_for; /* a node that is degraded for so long is drained; 1 h; 0: never */
    struct span override;     /* after a person's resume in Slurm nothing isolates for the same; 4 h */
    bool provision_new;       /* nodes that come for the first time pass through provisioning */
    struct cost_policy cost;
    const struct checks *checks; /* borrowed, as the next two: live as long as the policy; may be NULL */
    const struct remedies *remedies;
    const struct meanings *meanings;
};

/* What a check says of a node now. */
struct said {
    const struct check *check;
    struct verdict verdict;    /* unknown with the reason when nothing is known */
    struct mono since, looked; /* of what is ok, since is when it was looked at; 0: never */
};

struct watch;
/* --- observations ----------------------------------------------------------------------------- */

/* Agents are told the checks by the list of this hash from now on (CHECKLIST). What a node says by an older
 * list counts where the record is the same. */
enum { CHECKLIST_HASH_BYTES_MAX = 16 };
void watch_checklist(struct watch *w, const char *hash);
/* A CHECKS body of m's open session (doc/spec/link.md). *want: what it says cannot be joined to what was said
 * before: ask for all. -EINVAL with a sentence for a body that is none; nothing of it counts then. */
int watch_checks(struct watch *w, struct mono now, struct wall wall, struct member *m, const json_t *body,
                 bool *want, struct err *e);
/* What a check of somebody else's says of m, as it was `age` ago; check begins with "sensu.". It counts until
 * something else is said, the node boots, or a day is over; 32 such checks a node. -EINVAL: no such name, or
 * one of a record here; -ENOENT: no file names m; -EAGAIN: m was not heard yet; -ESTALE: it is of before m's
 * boot, or something newer was said; -ENOSPC: no room. */
int watch_event(struct watch *w, struct mono now, struct wall wall, struct member *m, const char *check,
                const struct verdict *v, struct span age, struct err *e);
/* Nodes that are to tell all their checks anew: what they said is out of date, or something waits for a newer
 * look. Each at most once in ten seconds; of many that are well a tenth is looked at in each call, for the
 * shell's timer of a second. */
typedef void tell_fn(void *arg, struct member *m);
void watch_untold(struct watch *w, struct mono now, tell_fn *fn, void *arg);
/* What the scheduler says runs on m: WORK_UNKNOWN when it cannot be asked. Work counts as idle only when both
 * the agent and the scheduler say so; while there is no scheduler, this is never called. */
void watch_scheduler(struct watch *w, struct member *m, enum work work, bool completing);
/* Whether the scheduler keeps work from m by its own, or by somebody else's word than Fettle's: out, down,
 * reserved, on its way to another state. Nothing is scheduled there. */
void watch_away(struct watch *w, struct member *m, bool away);
/* m lies in a maintenance window that somebody keeps in the scheduler, in these words ("reservation root_1"),
 * or in none (NULL). To be called only with what was read in full; what is not known leaves what was said. */
void watch_window(struct watch *w, struct member *m, const char *why);
/* What the scheduler says of m in its own words; without a state: it could not be read. */
void watch_scheduler_word(struct watch *w, struct member *m, const struct scheduler_word *says);
/* Whether somebody other than Fettle holds m there, as it was read at `now`, and whether it is out. */
void watch_elsewhere(struct watch *w, struct mono now, struct member *m, const struct elsewhere *is);
/* Calls fn for each node of which that is to be read again, since watch_may_operate or watch_may_reboot said
 * -ESTALE of it; each once. */
typedef void unread_fn(void *arg, struct member *m, enum elsewhere_where where);
void watch_unread(struct watch *w, unread_fn *fn, void *arg);
/* Calls fn for each node that is ill while the scheduler says that work runs on it, and of which it was not
 * read for a minute whose: for the shell, which asks for all of them at once and answers with watch_jobs. */
void watch_jobless(struct watch *w, struct mono now, tell_fn *fn, void *arg);
/* These jobs run on m, as the scheduler was read at `now`. They are noted in its open incidents. */
void watch_jobs(struct watch *w, struct mono now, struct member *m, const struct incident_job *jobs,
                size_t n);
/* The scheduler does not have m: the agent's word alone counts, and what the scheduler said goes. */
void watch_unscheduled(struct watch *w, struct member *m);

/* What is known of slurmd on a node: it answers slurmctld, it does not, or Slurm has switched the node off or
 * is about to switch it on or off. */
enum slurmd { SLURMD_UNKNOWN, SLURMD_ANSWERS, SLURMD_SILENT, SLURMD_OFF };
void watch_slurmd(struct watch *w, struct member *m, enum slurmd is);

/* --- BMCs -------------------------------------------------------------------------------------- */

/* Calls fn for each node whose BMC is to be asked now, each once; a few at a time: of nodes that stay silent,
 * and of every node once a day and after a boot. watch_bmc is called for each of them in the end. */
void watch_bmcs_to_ask(struct watch *w, struct mono now, tell_fn *fn, void *arg);
struct bmc_said {
    bool answered, on;
    bool none; /* it has no BMC, or one that tells where the power is at most: it is not asked by itself */
    const char *text;                  /* the end of its log, or why it did not answer */
    const char *watchdog;              /* in its words; NULL: it says nothing of one */
    const char *locked;                /* why its power is to be left alone; NULL: it is not */
    const struct components *firmware; /* what it tells by Redfish, sorted; NULL: it does not speak Redfish */
};
void watch_bmc(struct watch *w, struct mono now, struct member *m, const struct bmc_said *is);
/* Whether a person's word that m is repaired may take it out of the work queue: 0, or -EBUSY while it is not
 * heard. */
int watch_may_resolve(const struct watch *w, struct mono now, const struct member *m, struct err *e);

/* --- trials: checks that the controller schedules on idle nodes (doc/spec/trial.md) ------------- */

/* What a node is to do now. */
struct trial_run {
    uint64_t run;         /* by which watch_tried knows it */
    const char *check;    /* borrowed, as nodes */
    struct span deadline; /* it has answered by then */
    const char *nodes;    /* that run it together, in order, with commas between; NULL: by itself */
    unsigned rank;        /* its own place in them, from 0 */
    bool stop;            /* what runs of this check is not wanted any more; nothing is to be begun */
};
typedef void trial_run_fn(void *arg, struct member *m, const struct trial_run *r);
/* Calls fn for what is to be begun or ended now, each once; for the shell's timer. That the node is held and
 * free was looked at right before. */
void watch_trials(struct watch *w, struct mono now, trial_run_fn *fn, void *arg);
/* What a run came to; v NULL: nothing, for this reason. What nobody waits for any more is dropped. */
void watch_tried(struct watch *w, uint64_t run, const struct verdict *v, const char *why);

/* --- answers ---------------------------------------------------------------------------------- */

enum health { HEALTH_UNKNOWN, HEALTH_OK, HEALTH_DEGRADED, HEALTH_FATAL, HEALTH_LOST };
const char *health_name(enum health h);
/* What runs on it: idle only when everybody who can say so does, the agent and the scheduler. */
enum work watch_work(const struct watch *w, const struct member *m);
/* Unknown while it is not heard; else its worst, when that is bad; else unknown until every check assigned to
 * it has said something on this boot. A node without checks is unknown. */
enum health watch_health(const struct watch *w, struct mono now, const struct member *m);
/* Whether m is drained for this incident where Health=act, but for brakes and what people say: for its
 * severity, or since it lasted DegradedFor by now, or until it was closed. */
bool watch_incident_drains(const struct watch *w, const struct member *m, const struct incident *i,
                           struct wall now);
/* Calls fn for each check assigned to m, in order of the records; then for those of others. */
typedef void said_fn(void *arg, const struct said *s);
void watch_each_check(const struct watch *w, struct mono now, const struct member *m, said_fn *fn, void *arg);
/* The results alone, likewise: for counts of many nodes. */
typedef void result_fn(void *arg, const struct check *k, enum result r);
void watch_each_result(const struct watch *w, struct mono now, const struct member *m, result_fn *fn,
                       void *arg);
/* Whether every check assigned to it passed on this boot; else what is missing, in words. */
bool watch_provisioned(const struct watch *w, struct mono now, const struct member *m, struct text *why);

/* What would be done for m now and why: all candidates, with counts and costs. Also when it has no repair. In
 * a maintenance window of the scheduler's that is nothing. */
void watch_choice(const struct watch *w, struct mono now, const struct member *m, struct choice *out);
/* How long m's override still stands; 0 without one. */
struct span watch_override_left(const struct watch *w, struct mono now, const struct member *m);
/* Asked right before an operation is carried out: still its repair, this step and this id, approved, not
 * stopped, on this boot, fresh evidence, no work where that matters, within the budgets, and held by nobody
 * but Fettle. 0; -EAGAIN, not now; -EBUSY, not any more; -ESTALE, the scheduler has to be read first
 * (watch_unread), and it may be asked again in a moment. All with why. */
int watch_may_operate(struct watch *w, struct mono now, const struct member *m, const char *operation,
                      struct err *e);
/* Whether a person may have this done to m's power ("power.off") now. The switch "stop" stops it; no budget,
 * no latch and no hold does, for it is a person's word. What is not to switch it on needs m to be without
 * work, by everybody's word who can say so, unless it is forced: -EBUSY, work runs on it, or all is stopped;
 * -EAGAIN, what runs on it is not known. watch_may_operate asks the same of one that is committed. */
int watch_may_power(const struct watch *w, const struct member *m, const char *run, bool force,
                    struct err *e);
/* Of what is found on m now, the codes that this remedy may help, with blanks between: what was found under
 * them before it is over when it is done, and nothing else is. */
enum { CURES_BYTES_MAX = 2048 };
void watch_cures(const struct watch *w, struct mono now, const struct member *m, const char *remedy,
                 struct text *out);
/* What keeps nodes from being isolated: the budgets as they stand, those counted whose isolation is proposed
 * and not yet agreed. */
typedef void budget_fn(void *arg, const struct budget *b);
void watch_each_budget(const struct watch *w, budget_fn *fn, void *arg);
/* The latch: tripped by a surge, until a person lets go (SWITCH "latch" off). */
bool watch_latched(const struct watch *w);

#endif
