/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_WATCH_H
#define FETTLE_WATCH_WATCH_H

#include "base/json.h"
#include "beat/beat.h"
#include "cluster/cluster.h"
#include "node/elsewhere.h"
#include "node/report.h"
#include "node/scheduler_word.h"
#include "watch/alarm.h"
#include "watch/conformity.h"
#include "watch/health.h"

/*
 * What only the leader knows: who was heard when, what they reported, what runs on them; and what
 * follows from it. Observations and the passing of time go in; proposals (commands for the agreed
 * state) and notices (for the event stream) come out. Nothing here is durable: a new leader begins
 * with everybody unheard and a full window of patience.
 *
 * It takes down nobody on a doubt: time in which the controller itself stood still does not count
 * as silence, nodes of a lost collector get a fresh window, and when more than a share of the nodes
 * falls silent at once, one alarm is raised and nobody is taken down until the share has been below
 * it for a full window.
 */

struct watch_policy {
    struct patience plain, sensitive, borrowed;
    struct span spread;            /* by so much the first window is longer than a timeout */
    struct span quiet;             /* who was not heard for so long counts towards the next */
    unsigned silent_share_percent; /* more than this at once, and at least three: the alarm */
    struct conformity_policy conform;
    struct health_policy health;
    bool judge; /* false when heartbeats are not sent (interval 0) */
};

/* What was observed of one member. */
struct observed {
    struct beat beat;
    struct report report;
    struct report
        *before;      /* as a controller before was told; NULL: not known, or it has reported. For people */
    bool inventoried; /* the report is of the open session */
    char boot[37];
    struct {
        bool awaits;        /* it came up on another boot, of which nobody has judged yet whose doing it is */
        struct mono opened; /* its session on that boot */
        struct mono left;   /* when it was heard last on the boot before; ns 0: not by this watch */
        struct wall left_wall; /* the same by the wall clock, also by a controller before; ns 0: not known */
        struct mono excused;   /* when something last explained a boot; ns 0: never */
    } came;
    char *version;
    char *running;              /* JSON array of the running work; NULL when unknown */
    enum work work;             /* as its agent says */
    enum work scheduled;        /* as the scheduler says; */
    bool scheduler;             /* it was asked since the watch began */
    struct scheduler_word word; /* of which this is what it said last */
    enum slurmd slurmd;         /* its slurmd, as the scheduler says */
    bool away;                  /* it gives the node no work, by somebody else's word */
    bool window_known;          /* the next was read since the watch began */
    char *window;               /* the maintenance window of the scheduler's that it lies in; NULL: in none */
    struct held_read {
        struct elsewhere is; /* who else holds it there, as it was read */
        struct mono at;      /* at this moment of the clock; ns 0: never */
        bool unread;         /* to be read again, as something is about to be done to the node */
    } elsewhere[ELSEWHERES];
    struct mono
        freed; /* when somebody let go of it, and its repair has not taken note yet; ns 0: nobody did */
    uint64_t uptime_s; /* as last said */
    struct mono uptime_at;
    struct mono missed;             /* when its collector said last that it does not hear it */
    struct wall heard_wall;         /* for people only */
    struct wall heard_before;       /* the same, by a controller before; ns 0: never, or not known */
    void *session;                  /* the link that speaks for it, NULL when none; the shell's */
    const struct member *collector; /* that vouches for it, NULL when it reports directly */
};

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

/* What comes out. The callee copies what it keeps. */
struct watch_sink {
    void *arg;
    /* A command to commit; its actor, time and id are the shell's. True when it was taken; false when the
     * shell has no room (it takes one that says the same at a time, command_same), and it will be proposed
     * again. */
    bool (*propose)(void *arg, const struct command *cmd);
    /* Something was observed that is no decision: "node.late", "node.live", "node.duplicate".
     * nodes is a folded list, may be "". */
    void (*notice)(void *arg, const char *what, const char *nodes, const char *text);
    /* An alarm begins, or is over. */
    alarm_fn *alarm;
};

struct watch;
struct watch *watch_create(struct cluster *c, const struct watch_policy *p, struct mono now,
                           const struct watch_sink *sink);
void watch_destroy(struct watch *w);
/* To be called after each cluster_configure, too: classes are read anew. Where it shortens a patience,
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
/* When m was last heard, by this controller or by one before; ns 0: never, or it is not known. */
struct wall watch_contact(const struct watch *w, const struct member *m);
/* The way to m was lost through no fault of its own: its window begins anew, and is longer by `more`. */
void watch_excuse(struct watch *w, struct mono now, struct span more, struct member *m);
/* Somebody is about to boot m, or to switch it: that it boots now is no fault of it. */
void watch_expect_boot(struct watch *w, struct mono now, struct member *m);
/* An INVENTORY body. Errors as report_update. */
int watch_inventory(struct watch *w, struct member *m, const json_t *message, struct err *e);

/* Time passes: call it every WATCH_TICK_MS. It leaves work for watch_step. wall is for what records say of
 * time; how long something lasts under this watch is measured by now. */
enum { WATCH_TICK_MS = 100, WATCH_SLICES = 10 };
void watch_tick(struct watch *w, struct mono now, struct wall wall);
/* Does a piece of what the ticks so far have left: looks at no more than `nodes` members, first at those
 * whose silence means something else now, then at a tenth of all for each tick. A sweep over all of them
 * takes WATCH_SLICES ticks, and longer where the pieces come late; what is judged on the whole is judged at
 * its end, a piece at a time. False: nothing is left until the next tick. Anything else may be called in
 * between. */
bool watch_step(struct watch *w, size_t nodes);

const struct observed *watch_observed(const struct watch *w, const struct member *m);
/* All that decides whether work may land on m; the texts are put into claims and shortfall, which
 * must live as long as *f is used. */
void watch_fitness(const struct watch *w, struct mono now, const struct member *m, struct text *claims,
                   struct text *shortfall, struct fitness *f);
/* True while the alarm of mass silence stands; *silent of *all nodes. */
bool watch_alarm(const struct watch *w, size_t *silent, size_t *all);
/* The alarms that stand, oldest first. */
const struct alarm *watch_alarms(const struct watch *w);
/* For alarms that the shell knows of: as alarms_raise and alarms_end. */
void watch_alarm_raise(struct watch *w, enum alarm_kind kind, const char *subject, const char *nodes,
                       const char *text, struct wall at);
void watch_alarm_end(struct watch *w, enum alarm_kind kind, const char *subject, const char *why);

#endif
