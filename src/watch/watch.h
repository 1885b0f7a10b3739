/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_WATCH_H
#define FETTLE_WATCH_WATCH_H

#include "watch/brake/shell.h"
#include "watch/budget/shell.h"
#include "watch/conform/shell.h"
#include "watch/hold/shell.h"
#include "watch/incident/shell.h"
#include "watch/outside/shell.h"
#include "watch/presence/shell.h"
#include "watch/repair/shell.h"
#include "watch/trial/shell.h"
#include "watch/view/shell.h"

/*
 * What only the leader knows: who was heard when, what they reported, what runs on them; and what
 * follows from it. Observations and the passing of time go in; proposals (commands for the agreed
 * state) and notices (for the event stream) come out. Nothing here is durable: a new leader begins
 * with everybody unheard and a full timeout.
 *
 * It takes down nobody on a doubt: time in which the controller itself stood still does not count
 * as silence, nodes of a lost collector get a fresh window, and when more than a share of the nodes
 * falls silent at once, one alarm is raised and nobody is taken down until the share has been below
 * it for a full window.
 */

struct watch;

/* What an agent says when it comes. Borrowed strings. */
struct hello {
    const char *name;
    const char *version;
    const char *boot;
    uint64_t instance;
    uint64_t key;          /* of the connection; 0 behind a collector */
    const char *inventory; /* hash, "" when none */
};

struct heartbeat {
    uint64_t instance;
    uint64_t seq;
    const char *boot;
    const json_t *work; /* array of strings, or NULL: unknown */
    uint64_t uptime_s;
};

enum { CHECKLIST_HASH_BYTES_MAX = 16 };

/* --- the watch --------------------------------------------------------------------------------------- */

struct watch *watch_create(struct cluster *c, const struct watch_policy *p, struct mono now,
                           const struct watch_sink *sink);
void watch_destroy(struct watch *w);
/* To be called after each cluster_configure, too: classes are read anew. Where it shortens a timeout,
 * or begins to judge, everybody who is not silent has a full window. */
void watch_set_policy(struct watch *w, const struct watch_policy *p);
/* Something that is agreed of these nodes changed: a commit was put into the cluster. */
void watch_changed(struct watch *w, const struct hostlist *nodes);
/* An agent opens a session (directly: collector NULL; or known through a collector, then session is
 * the collector's). Errors as beat_open; -EINVAL for a bad boot id. *want says that its inventory
 * is not known. The session that was there before is given back in *old: of the same instance, or
 * of one that has not been heard for so long that it is late. A session's own word for another
 * instance is believed: a collector refuses duplicates itself. */
int watch_open(struct watch *w, struct mono now, struct member *m, const struct hello *h, void *session,
               const struct member *collector, bool *want, void **old, struct err *e);
/* The session ended; nothing follows from that but that another may open. */
void watch_close(struct watch *w, struct member *m, void *session);
/* A heartbeat of an open session, at `now` (and `wall`, for people). Errors as beat_take. */
int watch_heartbeat(struct watch *w, struct mono now, struct wall wall, struct member *m,
                    const struct heartbeat *h, struct err *e);
/* The collector that speaks for m has heard it. */
void watch_vouch(struct watch *w, struct mono now, struct wall wall, struct member *m);
/* The collector that speaks for m does not hear it any more, and heard it last so long ago. */
void watch_missed(struct watch *w, struct mono now, struct span ago, struct member *m);
/* A controller before heard m last at `at`. For people only. */
void watch_remember(struct watch *w, struct member *m, struct wall at);
/* A controller before was told that this is what m has. For people only, and until m reports. */
void watch_remember_report(struct watch *w, struct member *m, json_t *inventory);
/* What m has: as it reported, else as a controller before was told; without `json` when neither is known. */
const struct report *watch_report(const struct watch *w, const struct member *m);
/* The way to m was lost through no fault of its own: its window begins anew, and is longer by `more`. */
void watch_excuse(struct watch *w, struct mono now, struct span more, struct member *m);
/* Somebody is about to boot m, or to switch it: that it boots now is no fault of it. */
void watch_expect_boot(struct watch *w, struct mono now, struct member *m);
/* An INVENTORY body. Errors as report_update. */
int watch_inventory(struct watch *w, struct member *m, const json_t *message, struct err *e);
/* Time passes: call it every WATCH_TICK_MS. It leaves work for watch_step. wall is for what records say of
 * time; how long something lasts under this watch is measured by now. */
void watch_tick(struct watch *w, struct mono now, struct wall wall);
/* Does a piece of what the ticks so far have left: looks at no more than `nodes` members, first at those
 * whose silence means something else now, then at a tenth of all for each tick. A sweep over all of them
 * takes WATCH_SLICES ticks, and longer where the pieces come late; what is judged on the whole is judged at
 * its end, a piece at a time. False: nothing is left until the next tick. Anything else may be called in
 * between. */
bool watch_step(struct watch *w, size_t nodes);

/* --- what checks say --------------------------------------------------------------------------------- */

/* Agents are told the checks by the list of this hash from now on (CHECKLIST). What a node says by an older
 * list counts where the record is the same. */
void watch_checklist(struct watch *w, const char *hash);
/* A CHECKS body of m's open session (doc/spec/link.md). *want: what it says cannot be joined to what was said
 * before: ask for all. -EINVAL with a sentence for a body that is none; nothing of it counts then. */
int watch_checks(struct watch *w, struct mono now, struct wall wall, struct member *m, const json_t *body,
                 bool *want, struct err *e);

/* --- alarms ------------------------------------------------------------------------------------------ */

/* The alarms that stand, oldest first. */
const struct alarm *watch_alarms(const struct watch *w);
/* For alarms that the shell knows of: as alarms_raise and alarms_end. */
void watch_alarm_raise(struct watch *w, enum alarm_kind kind, const char *subject, const char *nodes,
                       const char *text, struct wall at);
void watch_alarm_end(struct watch *w, enum alarm_kind kind, const char *subject, const char *why);

#endif
