/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_FIXTURE_TEST_H
#define FETTLE_WATCH_FIXTURE_TEST_H

#include "watch/watch.h"

/*
 * Nodes of classes in virtual time: lx01 to lxNN. They have sessions and are heard unless a test says
 * otherwise. A tick comes each 100 ms, and the real decisions commit each proposal at once. The log has what
 * the watch says, with the second in which it said so: "12: conform.drift lx[01-02]: kernel.release (major)".
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
    char serial[NODES + 1][32];   /* the machine's; "" when it is unknown */
    const char *ended[NODES + 1]; /* how the boot before ended; NULL: the agent does not say */
    bool unread[NODES + 1];       /* its inventory does not come with the session */
    uint64_t seq, uptime_s;       /* the same for all nodes */
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
/* Another controller takes over the same state. No node has a session. */
void world_lead_anew(struct world *x);

struct member *world_node(const struct world *x, int i);
struct mono world_now(const struct world *x);
struct wall world_wall(const struct world *x);
const char *world_boot(const struct world *x, int i, char out[static 37]);

/* The agent opens a session on its present boot, and is heard. */
void world_open(struct world *x, int first, int last);
/* The inventory of node i arrives. */
void world_inventory(struct world *x, int i);
/* The node boots anew: because somebody asked for it, or by itself. */
void world_reboot(struct world *x, int i);
void world_crash(struct world *x, int i);
/* "a=1 b= c=?why d=!": a value, an empty value, unknown, absent. The nodes send the fingerprint, and the list
 * when it is wanted. */
void world_says(struct world *x, int first, int last, const char *list);
/* The fingerprint of such a list. */
struct fingerprint world_fingerprint(const char *list);
/* Sends the fingerprint alone. Returns whether the list is wanted. */
bool world_claims(struct world *x, int i, const char *list);
/* Sends the list in parts of `a_part` components, as belonging to the fingerprint of `claimed`. */
int world_sends(struct world *x, int i, const char *claimed, const char *list, size_t a_part, struct err *e);
/* The nodes read their components again and find the same. */
void world_verifies(struct world *x, int first, int last);
/* Lets time pass. Each node with a session is heard every 10 s. */
void world_run(struct world *x, int64_t seconds);

/* A person's command on nodes ("" for none). Returns what cluster_decide returns. */
int world_command(struct world *x, enum command_kind kind, const char *nodes, const char *set);
int world_command_for(struct world *x, enum command_kind kind, const char *nodes, const char *reason,
                      const char *set); /* the same with a reason */
/* The person ann takes the node back in the scheduler. */
void world_override(struct world *x, int i);
void world_says_nothing(struct world *x); /* asserts that nothing was logged since the last call */
void world_said(
    struct world *x,
    const char *expected); /* asserts that exactly these lines, without their times, were logged since */
/* Asserts "conformant", "drifted" or "unknown", and the reason when it is unknown. */
void world_stands(struct world *x, int i, const char *conformance, const char *why);
const struct cohort *world_cohort(const struct world *x, int i); /* NULL: it is in none */
struct place_row world_row(const struct world *x, int i);
/* What this node is becomes the baseline of its class; the log is empty then. */
void world_accept(struct world *x, const char *node);
const struct drift *world_drift(const struct world *x, int i); /* NULL without */
bool world_held(const struct world *x, int i, enum claim_kind kind);

/* These records (text as in a file) replace `own`, to which the policy of x points. */
void world_take_checks(struct world *x, struct checks *own, const char *records);

#endif
