/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_HEALTH_CHECK_H
#define FETTLE_HEALTH_CHECK_H

#include "base/clock.h"
#include "base/err.h"
#include "base/hostlist.h"
#include "base/text.h"
#include "health/probe.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Checks are records, one a line (checks.conf(5)):
 *
 *   Check=fs.space Path=/ Free=10% Every=60s
 *   Check=scratch Probe=fs.mounted Path=/scratch Severity=fatal Fails=2
 *   Check=load Probe=plugin Run="/usr/lib/nagios/plugins/check_load -w 30 -c 60" Every=60s Classes=login
 *
 * A line Include=NAME stands for a ready-made set of them (set.tbl); a record of the file takes the place of
 * the set's record of the same name, wherever it stands.
 *
 * The same text goes from the file to the controller and from it to the agents, who read it with the
 * same function. A record that one of them does not understand is an error with file, line and key.
 */

/* When a check runs. */
enum check_when {
    CHECK_BOOT = 1,       /* when the agent starts, once a boot */
    CHECK_PERIODIC = 2,   /* every `every` */
    CHECK_IDLE = 4,       /* of the periodic ones: only while no work runs */
    CHECK_PROLOG = 8,     /* before a job; its last result is used when it is younger than `every` */
    CHECK_EPILOG = 16,    /* after a job, likewise */
    CHECK_DEMAND = 32,    /* when somebody asks */
    CHECK_EXTENSIVE = 64, /* in the extensive stage, on a node that has no work */
    CHECK_SCHEDULED = 128 /* by the controller, every `every`, on an idle node that it holds for it */
};

enum {
    CHECK_NAME_BYTES_MAX = 48,
    CHECKS_MAX = 256,
    CHECKS_SCHEDULED_MAX = 64,
    CHECK_GROUP_MAX = 64,
    CHECKS_NODES_MAX = 1 << 20, /* names in the host lists of all checks together */
    CHECK_ARGS_MAX = 16
};

struct check {
    char *name;    /* [a-z0-9._-], a letter or digit first; of a probe, when Probe= is not given */
    unsigned line; /* of the file that it was read from */
    enum probe probe;
    unsigned when;     /* of enum check_when; BOOT and PERIODIC by default, of an IDLE probe IDLE, of a BENCH
                          EXTENSIVE and DEMAND. IDLE has PERIODIC beside it */
    struct span every; /* 1 s to 7 d; of a SCHEDULED one 1 min to 30 d, a day by default */
    struct span deadline;    /* after which a child is killed and the result is unknown; 100 ms to 1 d, 10 s,
                                2 min of a BENCH */
    enum result severity;    /* the worst that it says, INFO to LOST; what is worse is lowered to it */
    unsigned fails, passes;  /* so many in a row change what it says; 1 to 100 */
    unsigned fail_percent;   /* or so many of the looks for which window has room; 0: not used */
    struct span window;      /* of fail_percent; 10 min. With it, room for 1 to STEADY_LOOKS_MAX looks */
    struct span sticky;      /* a failure stays for at least so long after it was last seen; 0 to 7 d */
    bool observe;            /* recorded and shown; nothing follows from it */
    unsigned canary_percent; /* of the nodes run it, 1 to 100; 100: all */
    unsigned group;          /* so many nodes at once, 1: each by itself; 2: pairs; CHECK_GROUP_MAX at most.
                                More than 1 only where `when` has nothing but SCHEDULED and DEMAND */
    struct hostlist classes; /* node classes that run it; empty: all. Sorted by strcmp, each once */
    struct hostlist nodes;   /* and of these, which; empty: all. Likewise. As sent to agents: who runs it */
    size_t n_args;           /* in the order of the probe's keys */
    struct {
        char *key, *value; /* the key as in probe.tbl */
    } args[CHECK_ARGS_MAX];
};

/* A configuration's checks. Zero-initialise; checks_fini. */
struct checks {
    size_t n;
    struct check *list; /* in order of the file, names are unique */
};

/* -errno, or -EINVAL "PATH:LINE: ..."; *c is empty then. */
int checks_read(const char *path, struct checks *c, struct err *e);
int checks_parse(const char *path, const char *bytes, size_t len, struct checks *c, struct err *e);
/* What is checked where no file says anything: the defaults of the ClusterWare documents. */
void checks_default(struct checks *c);
void checks_fini(struct checks *c);

/* The record as a line, without its end; reads back as the same, and the same record gives the same line.
 * nodes replaces its nodes when not NULL (in any order); Classes and Canary are left out then. A list that is
 * longer than a value may be goes on in Nodes2, Nodes3 and so on. */
void check_format(const struct check *k, const struct hostlist *nodes, struct text *t);
/* NULL when it has no such key. */
const char *check_arg(const struct check *k, const char *key);
/* Numbers of arguments: "10%" (or "10"; 0 to 100), "500MB" ("4GiB", "1024"; k, M, G, T are powers of 1,000,
 * with an i of 1,024), "2s". *out is the fallback when there is no such key; -EINVAL names check and key. */
int check_arg_percent(const struct check *k, const char *key, unsigned fallback, unsigned *out,
                      struct err *e);
int check_arg_bytes(const struct check *k, const char *key, uint64_t fallback, uint64_t *out, struct err *e);
int check_arg_number(const struct check *k, const char *key, int64_t fallback, int64_t *out, struct err *e);
int check_arg_span(const struct check *k, const char *key, struct span fallback, struct span *out,
                   struct err *e);
const struct check *checks_find(const struct checks *c, const char *name); /* NULL when there is none */
/* Whether the node is one of the canaries: the same ones each time, as long as the name is the same. */
bool check_has_canary(const struct check *k, const char *node);
/* A node of this class and name runs it. */
bool check_applies(const struct check *k, const char *class, const char *node);

#endif
