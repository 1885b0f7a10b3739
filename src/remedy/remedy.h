/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_REMEDY_REMEDY_H
#define FETTLE_REMEDY_REMEDY_H

#include "base/clock.h"
#include "base/err.h"
#include "base/hostlist.h"
#include "base/text.h"
#include "health/result.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Remedies are records, one a line (remedies.conf(5)):
 *
 *   Remedy=restart.slurmd Run="node:systemctl restart slurmd" Helps=service.slurmd Confidence=70%
 *       Because="it comes back in two of three cases" Takes=30s Disturbs=0 Needs=nothing
 *   Remedy=reboot Run=reboot Helps=*,!disk.* Confidence=50% Because="..." Takes=10m Disturbs=60 Needs=idle
 *   Remedy=cycle Run=power.cycle Helps=xid.79,node.lost Confidence=65% Because="..." Takes=12m Approval=yes
 *
 * (each on one line). Run names who does it:
 *   node:COMMAND      a command on the node, by its agent
 *   reboot            the agent reboots the node
 *   power.cycle, power.reset, power.off, power.on, power.netboot    the BMC's driver
 *   script:COMMAND    a command on the controller, with the node's name in FETTLE_NODE
 *   replace           the provider's script makes a new instance
 */

/* The means by which a remedy reaches the node. What blocks one remedy blocks all with the same means. */
enum way { WAY_AGENT, WAY_BMC, WAY_SCRIPT, WAY_PROVIDER, WAYS };

enum remedy_needs { NEEDS_NOTHING, NEEDS_IDLE };

struct remedy {
    char *name;    /* [a-z0-9._-] */
    unsigned line; /* the line of its file */
    char *run;
    struct hostlist helps;   /* patterns of faults; a leading ! excludes; the last
                                match counts */
    struct hostlist classes; /* node classes; empty: all */
    unsigned confidence;     /* percent, 1 to 99: the prior chance that it cures one of these faults */
    unsigned weight;         /* strength of the prior, counted in outcomes; 4 */
    char *because;           /* the reason for this confidence */
    struct span takes;       /* how long until the node is back; 1 s to 7 d */
    struct span deadline;    /* it has failed after this time; by default three times takes, at least a
                                minute */
    struct span settle;      /* it helped when the node is back for this long without the fault; 30 min */
    unsigned disturbs; /* 0 to 100: how much it harms work and data on the node; by default 0 for node:, 60
                          for a reboot and power, 100 for a script and replace */
    enum remedy_needs needs; /* IDLE: no work may run; the default, except for a command with Disturbs=0 */
    unsigned tries;          /* the most attempts for a fault of a node within window; 2 */
    struct span window;      /* 7 d */
    bool approval;           /* a person must approve it first */
    bool dry;                /* it is chosen and reported, but not carried out */
    char *after;             /* a remedy that must follow at once, as a reset after firmware; "" for none */
};

struct remedies {
    size_t n;
    struct remedy *list; /* in order of the file */
};
/* The remedy of this name wipes a node that a person released. */
#define WIPE_REMEDY "wipe"
enum { REMEDIES_MAX = 128, REMEDY_NAME_BYTES_MAX = 48 };

/* Reads remedies from a file's bytes; path is only for the sentences. -EINVAL "PATH:LINE: ..."; *r is empty
 * then. */
int remedies_parse(const char *path, const char *bytes, size_t len, struct remedies *r, struct err *e);
void remedies_fini(struct remedies *r);
const struct remedy *remedies_find(const struct remedies *r, const char *name); /* NULL when there is none */

enum way remedy_way(const char *run);

/* A remedy is for a fault: the code of a finding ("xid.79"), or the name of its check when it has no code
 * ("fs.mounted", "scratch"). */
enum { FAULT_BYTES_MAX = 48, FAULTS_MAX = 64 };
/* Whether it may help against this fault of a node of this class. */
bool remedy_helps(const struct remedy *r, const char *fault, const char *class);

/* --- what came of them ------------------------------------------------------------------------ */

/* The outcomes of one remedy for one fault on one hardware class. */
struct outcomes {
    uint32_t helped, failed;
};
typedef struct outcomes outcomes_fn(const void *arg, const char *fault, const char *remedy,
                                    const char *class);

/* The chance that it helps: the mean of the Beta posterior, in millionths. The prior is `confidence` with the
 * strength of `weight` outcomes. Integers only: the same result everywhere. */
uint32_t outcomes_chance(const struct remedy *r, struct outcomes of);

/* --- the choice ------------------------------------------------------------------------------- */

struct fault {
    const char *fault;
    enum result severity;
    const char *group; /* the common cause of several faults, for instance a device; NULL or "": a cause of
                          its own */
};

/* The cost of bringing a node back, in units of the policy. */
struct cost_policy {
    uint32_t minute;  /* one minute out of service; 1000 */
    uint32_t disturb; /* one point of Disturbs; 200 */
    uint32_t person;  /* calling a person; 240,000: four hours out of service */
    uint32_t
        scarce; /* percent: how much more a minute costs when the class is short of nodes; 100: the same */
    unsigned explore; /* the percentage of choices that take the least known candidate; 0: never */
};

enum { ATTEMPTS_MAX = 32 };
/* A recent attempt on this node. `fault` may be several, separated by commas, cut at FAULT_BYTES_MAX. */
struct attempt {
    const char *remedy, *fault;
    struct wall at;
    bool here; /* carried out in the present repair: the open faults are there in spite of it */
};

struct choice_input {
    const struct remedies *remedies;
    const char *class;
    size_t n_faults;
    const struct fault
        *faults; /* all open faults of the node; warnings count only when there is nothing worse */
    size_t n_attempts;
    const struct attempt *attempts;
    struct wall now;
    const char *barred[WAYS]; /* why nothing can be done by these means now; NULL: it can */
    bool busy;                /* work runs: only remedies that need nothing are possible */
    uint64_t draw;            /* for exploration: a random number that comes with the command */
    struct cost_policy policy;
    outcomes_fn *outcomes;
    const void *outcomes_arg;
};

struct candidate {
    const struct remedy *remedy;
    uint32_t chance; /* the chance that it cures all that it covers, in millionths; less after each try on
                        this node */
    uint32_t covers; /* how many of the faults it may help and has tries left for */
    uint32_t helped, failed;     /* the record, summed over these */
    unsigned tried;              /* recent tries on this node, each of which halved its chance */
    int64_t own, next, expected; /* the cost of doing it; the cost of what follows, times its chance; the sum.
                                    0 when it covers nothing */
    bool possible;
    char why[128]; /* why it is not possible: "tried 2 times within 7d for xid.79", "work runs", ...;
                      otherwise "" */
};

struct choice {
    size_t n;
    struct candidate
        candidates[REMEDIES_MAX]; /* possible ones first, cheapest first; ties in the order of the file */
    int64_t person;               /* the cost of calling a person instead */
    const struct remedy *chosen;  /* NULL: a person, or later */
    bool waits;                   /* with chosen NULL: the remedies that help wait until no work runs */
    bool explored;
    char why[240]; /* the reason in words */
};

/* Chooses for all faults at once. A fault that no remedy may help, or has tries left for, leaves the node to
 * a person; so do more than FAULTS_MAX faults. A candidate that covers some of the faults is followed by the
 * best for the rest. doc/spec/remedy.md has the formula. Approval and dry change nothing here. Pure. */
void remedy_choose(const struct choice_input *in, struct choice *out);

#endif
