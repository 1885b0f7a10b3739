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
    CHECK_IDLE = 4,       /* of periodic checks: run only while the node has no work */
    CHECK_PROLOG = 8,     /* before a job; the last result is used while it is younger than `every` */
    CHECK_EPILOG = 16,    /* after a job; the last result is used in the same way */
    CHECK_DEMAND = 32,    /* on request */
    CHECK_EXTENSIVE = 64, /* in the extensive stage, on a node without work */
    CHECK_SCHEDULED = 128 /* started by the controller, every `every`, on an idle node that it holds for the
                             check */
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
    char *name;    /* [a-z0-9._-], a letter or digit first; the probe's name when Probe= is not given */
    unsigned line; /* the line of its file */
    enum probe probe;
    unsigned when;           /* bits of enum check_when. Default: BOOT and PERIODIC; IDLE for an IDLE probe;
                                EXTENSIVE and DEMAND for a BENCH probe. IDLE always comes with PERIODIC */
    struct span every;       /* 1 s to 7 d; for a SCHEDULED check 1 min to 30 d, by default a day */
    struct span deadline;    /* after this the child is killed and the result is unknown; 100 ms to 1 d; by
                                default 10 s, for a BENCH probe 2 min */
    enum result severity;    /* the worst result that the check may give, INFO to LOST; a worse result is
                                lowered to it */
    unsigned fails, passes;  /* how many failures, or passes, in a row change the result; 1 to 100 */
    unsigned fail_percent;   /* or the percentage of failures among the looks that `window` has room for; 0:
                                not used */
    struct span window;      /* for fail_percent; by default 10 min. With fail_percent it has room for 1 to
                                STEADY_LOOKS_MAX looks */
    struct span sticky;      /* a failure stays for at least this long after it was last seen; 0 to 7 d */
    bool observe;            /* the result is recorded and shown, and has no consequences */
    unsigned canary_percent; /* the percentage of nodes that run it, 1 to 100 */
    unsigned group;          /* how many nodes run it together; 1: each by itself; 2: pairs; at most
                                CHECK_GROUP_MAX. More than 1 only when `when` has nothing but SCHEDULED and
                                DEMAND */
    struct hostlist classes; /* the node classes that run it; empty: all. Sorted by strcmp, each once */
    struct hostlist nodes;   /* the nodes of these classes that run it; empty: all. Sorted likewise. In what
                                agents receive: the nodes that run it */
    size_t n_args;           /* in the order of the probe's keys */
    struct {
        char *key, *value; /* the key as in probe.tbl */
    } args[CHECK_ARGS_MAX];
};

/* A configuration's checks. Zero-initialise; checks_fini. */
struct checks {
    size_t n;
    struct check *list; /* in the order of the file; names are unique */
};

/* -errno, or -EINVAL "PATH:LINE: ..."; *c is empty then. */
int checks_read(const char *path, struct checks *c, struct err *e);
int checks_parse(const char *path, const char *bytes, size_t len, struct checks *c, struct err *e);
/* The checks when there is no file: the defaults of the ClusterWare documents. */
void checks_default(struct checks *c);
void checks_fini(struct checks *c);

/* Writes the record as one line, without the line end. It reads back as the same check, and the same check
 * gives the same line. When `nodes` is not NULL it replaces the check's nodes (in any order), and Classes and
 * Canary are left out. A list that is too long for one value continues in Nodes2, Nodes3 and so on. */
void check_format(const struct check *k, const struct hostlist *nodes, struct text *t);
/* NULL when the check has no such key. */
const char *check_arg(const struct check *k, const char *key);
/* Reads the number of an argument: "10%" (or "10"; 0 to 100), "500MB" ("4GiB", "1024"; k, M, G, T are powers
 * of 1,000, with an i powers of 1,024), "2s". *out is the fallback when the key is absent; -EINVAL names
 * check and key. */
int check_arg_percent(const struct check *k, const char *key, unsigned fallback, unsigned *out,
                      struct err *e);
int check_arg_bytes(const struct check *k, const char *key, uint64_t fallback, uint64_t *out, struct err *e);
int check_arg_number(const struct check *k, const char *key, int64_t fallback, int64_t *out, struct err *e);
int check_arg_span(const struct check *k, const char *key, struct span fallback, struct span *out,
                   struct err *e);
const struct check *checks_find(const struct checks *c, const char *name); /* NULL when there is none */
/* Whether the node is one of the canaries. The answer depends only on the names of check and node. */
bool check_has_canary(const struct check *k, const char *node);
/* Whether a node of this class and name runs it. */
bool check_applies(const struct check *k, const char *class, const char *node);

#endif
