/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_CONFORM_SHELL_H
#define FETTLE_WATCH_CONFORM_SHELL_H

#include "conform/cohort.h"
#include "watch/view/shell.h"

/*
 * What only the leader knows about conformance: which fingerprint each node has now, when it was verified,
 * which nodes are equal, and what follows from that for the agreed state. It is part of the watch, which owns
 * it. Inside are the rules of the drift response. Nothing here is durable. After a restart every node is
 * unknown until it has sent its fingerprint; drift that was found before stays drift, because it is a record.
 *
 * A node is judged drifted only on a fingerprint that was verified on its present boot, is not stale, and
 * whose components are known. Unknown components prove nothing. A node is judged conformant only when
 * everything that counts is known and equal.
 */

struct watch;

/* What is known about one node's conformance now. Recorded drift stands until the opposite is proven, also
 * while nothing is known about the node. */
struct standing {
    enum conformance conformance;
    const struct listing *listing;   /* for its fingerprint; NULL: it never sent one */
    const struct cohort *cohort;     /* NULL: no other node is equal */
    struct mono verified;            /* when the node last confirmed its fingerprint */
    const struct baseline *baseline; /* of its class; NULL when there is none */
    bool rolled;                     /* it matches the rollout and not the baseline */
    bool lies;                       /* its list did not hash to its fingerprint */
    bool flaps;                      /* its drift came and went three times within an hour */
};

typedef void watch_want_fn(void *arg, struct member *m, const char *fingerprint);

/* --- answers ----------------------------------------------------------------------------------------- */

int watch_excludes(struct watch *w, struct mono now, const struct member *m, const struct fingerprint *id,
                   struct text *why);
/* Fills *s for m at `now`, and writes into `why` (emptied first; may be NULL) why m does not count as
 * conformant. */
void watch_standing(struct watch *w, struct mono now, const struct member *m, struct standing *s,
                    struct text *why);
const struct cohorts *watch_cohorts(const struct watch *w);
/* The largest cohort of a class, as a suggestion for a baseline: its first node, or NULL when the class has
 * none. *share of *all nodes of the class are in it. */
const struct member *watch_suggest(struct watch *w, uint16_t class, uint32_t *share, uint32_t *all);
/* True while too large a share of the class drifts at once. */
bool watch_drift_alarm(const struct watch *w, uint16_t class);
/* Whether m may become the baseline of its class, or the target of a rollout: 0, or -EBUSY with the reason (m
 * is not live, stale, has unknown or missing components, or its present state is not recorded yet). */
int watch_may_be_baseline(struct watch *w, struct mono now, const struct member *m, struct err *e);

/* --- fingerprints and lists, as they come in --------------------------------------------------------- */

/* The node of an open session has this fingerprint (verified now). *want: ask this node for its components.
 * They are not known, or the node lied before, or it is sensitive and has not shown a list since this watch
 * began; and no node was asked in the last seconds. -EINVAL for a text that is no fingerprint, and before a
 * session has sent its boot. */
int watch_fingerprint(struct watch *w, struct mono now, struct member *m, const char *hex, bool *want,
                      struct err *e);
/* The node read its components again and found the same. -ENOENT when no earlier fingerprint is known: ask
 * for it. */
int watch_verified(struct watch *w, struct mono now, struct member *m, struct err *e);
/* A COMPONENTS body from m. Parts are gathered; with the last part the list is known. -EBADMSG: the list does
 * not hash to its fingerprint. Then m is marked, an alarm is raised, nothing of the list is believed, and m
 * is not believed until it has shown a correct list. -E2BIG, -EINVAL (also for a part whose earlier parts did
 * not come): refused as well. -EAGAIN: not all parts are here yet. -ENOENT: it is not the list of m's present
 * fingerprint; that is no fault. -ENOSPC: there is no room now; the list is asked for again. */
int watch_components(struct watch *w, struct mono now, struct member *m, const json_t *body, struct err *e);
/* Calls fn for nodes whose fingerprint has no known list and was not asked for lately, at most one for each
 * fingerprint, and for a few sensitive nodes that have not shown their list. For the shell's timer. */
void watch_wanted(struct watch *w, struct mono now, watch_want_fn *fn, void *arg);

/* --- what follows from drift ------------------------------------------------------------------------- */

/* Whether m may be rebooted for drift. Asked right before it: m must still be drifted on this boot, drained,
 * without work, and live. 0; -EAGAIN when that is not known (m was not heard since a restart), or not now
 * (work runs, too many nodes are drifted); -EBUSY when m must not be rebooted any more (it was booted since,
 * or is correct again). Both errors have the reason. */
int watch_may_reboot(struct watch *w, struct mono now, const struct member *m, const char *boot,
                     struct err *e);

#endif
