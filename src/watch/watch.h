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
 * What only the leader knows: when each node was heard, what it reported, what runs on it, and what follows
 * from that. Observations and the passing of time go in. Proposals (commands for the agreed state) and
 * notices (for the event stream) come out. Nothing here is durable: a new leader begins with every node
 * unheard and a full timeout.
 *
 * A node is not taken down while its silence is in doubt. Time in which the controller itself stood still
 * does not count as silence. The nodes of a lost collector get a fresh window. When more than a share of the
 * nodes falls silent at once, the watch raises one alarm, and takes no node down until fewer have been silent
 * for a full window.
 */

struct watch;

/* What an agent says when it opens a session. Borrowed strings. */
struct hello {
    const char *name;
    const char *version;
    const char *boot;
    uint64_t instance;
    uint64_t key;          /* the connection's; 0 behind a collector */
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
/* The watch of a controller that follows: it takes what the leader observes (picture.h), from long before
 * `now`, too. */
struct watch *watch_create_following(struct cluster *c, const struct watch_policy *p, struct mono now,
                                     const struct watch_sink *sink);
/* What was observed in a and in b changes places; each keeps its sink. The alarms of a are over first. Both
 * are of one cluster. Whoever has a pointer to a sees what b observed. */
void watch_exchange(struct watch *a, struct watch *b);
void watch_destroy(struct watch *w);
/* Call this after each cluster_configure, too: the classes are read anew. When the new policy shortens a
 * timeout, or begins to judge, each node that is not silent gets a full window. */
void watch_set_policy(struct watch *w, const struct watch_policy *p);
/* A commit was put into the cluster and changed what is agreed about these nodes. */
void watch_changed(struct watch *w, const struct hostlist *nodes);
/* An agent opens a session: directly (collector NULL), or through a collector, whose session it then is.
 * Returns the errors of beat_open, and -EINVAL for a bad boot id. *want is set when its inventory is not
 * known. *old gets the session that was there before: one of the same instance, or of an instance that has
 * been silent for so long that it is late. A collector's session is believed about another instance, for the
 * collector itself refuses duplicates. */
int watch_open(struct watch *w, struct mono now, struct member *m, const struct hello *h, void *session,
               const struct member *collector, bool *want, void **old, struct err *e);
/* The session ended. The only consequence is that another one may open. */
void watch_close(struct watch *w, struct member *m, void *session);
/* A heartbeat of an open session, at `now` (and `wall`, for people). Errors as beat_take. */
int watch_heartbeat(struct watch *w, struct mono now, struct wall wall, struct member *m,
                    const struct heartbeat *h, struct err *e);
/* The collector that speaks for m has heard m. */
void watch_vouch(struct watch *w, struct mono now, struct wall wall, struct member *m);
/* The collector that speaks for m does not hear m any more; it heard m last `ago` before now. */
void watch_missed(struct watch *w, struct mono now, struct span ago, struct member *m);
/* An earlier controller heard m last at `at`. Only shown to people. */
void watch_remember(struct watch *w, struct member *m, struct wall at);
/* An earlier controller was told that this is m's inventory. Only shown to people, and only until m reports.
 */
void watch_remember_report(struct watch *w, struct member *m, json_t *inventory);
/* m's inventory: what m reported, else what an earlier controller was told. `json` is NULL when neither is
 * known. */
const struct report *watch_report(const struct watch *w, const struct member *m);
/* The path to m was lost, and m did not cause that: its window begins anew and is longer by `more`. */
void watch_excuse(struct watch *w, struct mono now, struct span more, struct member *m);
/* Something is about to boot m or to switch its power, so the boot that follows does not count against m. */
void watch_expect_boot(struct watch *w, struct mono now, struct member *m);
/* An INVENTORY body. Errors as report_update. */
int watch_inventory(struct watch *w, struct member *m, const json_t *message, struct err *e);
/* Time passes: call this every WATCH_TICK_MS. It leaves work for watch_step. The times in records come from
 * `wall`; the watch measures durations by `now`. */
void watch_tick(struct watch *w, struct mono now, struct wall wall);
/* Does a part of the work that the ticks so far have left. It looks at `nodes` members at most: first at
 * those whose silence has reached its next threshold, then at a tenth of all members for each tick. A sweep
 * over all members takes WATCH_SLICES ticks, and longer when the calls come late. Judgements about the whole
 * cluster follow at the end of the sweep, one at a time. Returns false when nothing is left until the next
 * tick. Any other function may be called in between. */
bool watch_step(struct watch *w, size_t nodes);

/* --- what checks say --------------------------------------------------------------------------------- */

/* From now on agents get the list of checks that has this hash (CHECKLIST). The result of a node that still
 * uses an older list counts where the check's record is the same in both. */
void watch_checklist(struct watch *w, const char *hash);
/* A CHECKS body of m's open session (doc/spec/link.md). *want is set when it cannot be joined to what was
 * said before, so the node has to be asked for everything. Returns -EINVAL with a sentence for a body that is
 * not valid; then no part of it counts. */
int watch_checks(struct watch *w, struct mono now, struct wall wall, struct member *m, const json_t *body,
                 bool *want, struct err *e);

/* --- alarms ------------------------------------------------------------------------------------------ */

/* The alarms that stand, oldest first. */
const struct alarm *watch_alarms(const struct watch *w);
/* For alarms that the shell raises: as alarms_raise and alarms_end. */
void watch_alarm_raise(struct watch *w, enum alarm_kind kind, const char *subject, const char *nodes,
                       const char *text, struct wall at);
void watch_alarm_end(struct watch *w, enum alarm_kind kind, const char *subject, const char *why);

#endif
