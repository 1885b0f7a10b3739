/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_CONFORM_SHELL_H
#define FETTLE_WATCH_CONFORM_SHELL_H

#include "conform/cohort.h"
#include "watch/view/shell.h"

/*
 * What only the leader knows of conformance: which fingerprint each node has now, when it was
 * verified, who is the same as whom; and what follows from that for what is agreed. Part of the watch,
 * which owns it: inside are the rules of the drift response. Nothing here is durable. After a restart
 * every node is unknown until it has said what it is; drift that was found before stays drift, because
 * it is a record.
 *
 * A node is judged drifted only on a fingerprint that was verified on its present boot, is not stale,
 * and whose components are known; components that are unknown prove nothing. It is judged conformant
 * only when everything that counts is known and equal.
 */

struct watch;

/* What is known of one node's conformance now. Drift that is recorded stands until the opposite is
 * proven: also while nothing is known of the node. */
struct standing {
    enum conformance conformance;
    const struct listing *listing;   /* its fingerprint; NULL: never said */
    const struct cohort *cohort;     /* NULL: a group of one */
    struct mono verified;            /* when the fingerprint was last said to be so */
    const struct baseline *baseline; /* of its class; NULL when there is none */
    bool rolled;                     /* it is what the rollout says, not the baseline */
    bool lies;                       /* its list did not hash to its fingerprint */
    bool flaps;                      /* its drift came and went three times within an hour */
};

typedef void watch_want_fn(void *arg, struct member *m, const char *fingerprint);

/* --- answers ----------------------------------------------------------------------------------------- */

int watch_excludes(struct watch *w, struct mono now, const struct member *m, const struct fingerprint *id,
                   struct text *why);
/* Fills *s for m at `now`, and says in words why it does not count as conformant in `why` (emptied
 * first; may be NULL). */
void watch_standing(struct watch *w, struct mono now, const struct member *m, struct standing *s,
                    struct text *why);
const struct cohorts *watch_cohorts(const struct watch *w);
/* The cohort that most nodes of a class share, as a suggestion for a baseline: the node of it that
 * stands first, NULL when the class has none. *share of *all nodes of the class have it. */
const struct member *watch_suggest(struct watch *w, uint16_t class, uint32_t *share, uint32_t *all);
/* True while too large a share of the class drifts at once. */
bool watch_drift_alarm(const struct watch *w, uint16_t class);
/* Whether m may be made the baseline of its class, or what a rollout leads to: 0, or -EBUSY with why
 * not (not live, stale, components unknown or not here yet, or what it is now is not recorded yet). */
int watch_may_be_baseline(struct watch *w, struct mono now, const struct member *m, struct err *e);

/* --- fingerprints and lists, as they come in --------------------------------------------------------- */

/* The node of an open session has this fingerprint (verified now). *want: its components are not
 * known, or it lied before, or it is sensitive and has not shown a list since this watch began; and nobody
 * was asked in the last seconds; ask this node. -EINVAL for no fingerprint, and before a session said the
 * boot. */
int watch_fingerprint(struct watch *w, struct mono now, struct member *m, const char *hex, bool *want,
                      struct err *e);
/* It was read again and is the same. -ENOENT when there is none it could be the same as: ask anew. */
int watch_verified(struct watch *w, struct mono now, struct member *m, struct err *e);
/* A COMPONENTS body from m. Parts are gathered; with the last the list is known to all. -EBADMSG: the
 * list does not hash to what it claims: the node is marked, an alarm is raised, and nothing of it is
 * believed, and it has to show a list that is right before it is. -E2BIG, -EINVAL (also: a part whose parts
 * before did not come): likewise refused. -EAGAIN: not all parts are here yet. -ENOENT: it is not the list of
 * its present fingerprint; nothing is wrong. -ENOSPC: no room for it now; it is asked for again. */
int watch_components(struct watch *w, struct mono now, struct member *m, const json_t *body, struct err *e);
/* Nodes whose fingerprint is known by name alone and whom nobody was asked for lately: at most one
 * for each fingerprint; and a few sensitive ones that have not shown theirs. Calls fn with a member that has
 * it; for the shell's timer. */
void watch_wanted(struct watch *w, struct mono now, watch_want_fn *fn, void *arg);

/* --- what follows from drift ------------------------------------------------------------------------- */

/* The same of a reboot, asked right before it: still drifted on this boot, drained, no work, live. 0; -EAGAIN
 * where it is not known (not heard since a restart), or not for now (work runs, too many are drifted);
 * -EBUSY where it must not be any more (booted since, right again). Both with why. */
int watch_may_reboot(struct watch *w, struct mono now, const struct member *m, const char *boot,
                     struct err *e);

#endif
