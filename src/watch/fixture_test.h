/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_FIXTURE_TEST_H
#define FETTLE_WATCH_FIXTURE_TEST_H

#include "watch/watch.h"

/*
 * Nodes of classes in virtual time: lx01 to lxNN, in sessions and heard unless a test says otherwise,
 * a tick each 100 ms, each proposal committed at once by the real decisions. What the watch says is a
 * log with the second in which it said so: "12: conform.drift lx[01-02]: kernel.release (major)".
 */

enum { NODES = 200 };

struct world {
    struct cluster *c;
    struct watch *w;
    struct watch_policy policy;
    int64_t now_ms;
    struct wall clock; /* at now_ms 0 */
    size_t n;
    unsigned boot[NODES + 1];
    bool off[NODES + 1];
    const char *work[NODES + 1];  /* JSON; NULL unknown */
    char serial[NODES + 1][32];   /* of the machine; "" unknown */
    const char *ended[NODES + 1]; /* how its boot before ended; NULL: its agent does not say */
    bool unread[NODES + 1];       /* its inventory does not come with the session */
    uint64_t seq, uptime_s;       /* as all of them say */
    unsigned claims, wants;
    bool refuse; /* the shell has no room */
    struct text log;
};

struct class_lines {
    const char *name;
    struct class_key keys[8];
};

/* n nodes, not yet sensitive, of class "default" alone. */
struct world *world_create(size_t n);
void world_destroy(struct world *x);

/* Classes as a file would say them, and a list of sensitive nodes ("" for none). */
void world_configure(struct world *x, const struct class_lines *classes, size_t n, const char *sensitive);
/* Another controller on the same state: nobody is in a session. */
void world_lead_anew(struct world *x);

struct member *world_node(const struct world *x, int i);
struct mono world_now(const struct world *x);
struct wall world_wall(const struct world *x);
const char *world_boot(const struct world *x, int i, char out[static 37]);

/* The agent's instance opens a session on its present boot and is heard. */
void world_open(struct world *x, int first, int last);
/* Its inventory comes. */
void world_inventory(struct world *x, int i);
/* The node comes up anew, as somebody asked for; or by itself. */
void world_reboot(struct world *x, int i);
void world_crash(struct world *x, int i);
/* "a=1 b= c=?why d=!": a value, an empty value, unknown, absent. The fingerprint is said, and the list
 * sent when it is wanted. */
void world_says(struct world *x, int first, int last, const char *list);
/* Of such a list. */
struct fingerprint world_fingerprint(const char *list);
/* The fingerprint alone; returns whether the list is wanted. */
bool world_claims(struct world *x, int i, const char *list);
/* The list in parts of so many components, as said to be of the fingerprint of `claimed`. */
int world_sends(struct world *x, int i, const char *claimed, const char *list, size_t a_part, struct err *e);
/* Read again, the same. */
void world_verifies(struct world *x, int first, int last);
/* Every node in a session is heard each 10 s. */
void world_run(struct world *x, int64_t seconds);

/* A person's command, on nodes ("" for none). Returns what cluster_decide does. */
int world_command(struct world *x, enum command_kind kind, const char *nodes, const char *set);
int world_command_for(struct world *x, enum command_kind kind, const char *nodes, const char *reason,
                      const char *set); /* the same with a reason */
/* ann takes it back in the scheduler. */
void world_override(struct world *x, int i);
void world_says_nothing(struct world *x);               /* nothing was logged since */
void world_said(struct world *x, const char *expected); /* exactly these lines, without their times, since */
/* "conformant", "drifted", "unknown"; and why not. */
void world_stands(struct world *x, int i, const char *conformance, const char *why);
const struct cohort *world_cohort(const struct world *x, int i); /* NULL: it is in none */
struct place_row world_row(const struct world *x, int i);
/* What this node is becomes the baseline of its class; the log is empty then. */
void world_accept(struct world *x, const char *node);
const struct drift *world_drift(const struct world *x, int i); /* NULL without */
bool world_held(const struct world *x, int i, enum claim_kind kind);

#endif
