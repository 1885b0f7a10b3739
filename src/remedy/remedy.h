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

/* By which way a remedy reaches the node: what keeps one of them from being carried out keeps all of its way.
 */
enum way { WAY_AGENT, WAY_BMC, WAY_SCRIPT, WAY_PROVIDER, WAYS };

enum remedy_needs { NEEDS_NOTHING, NEEDS_IDLE };

struct remedy {
    char *name;    /* [a-z0-9._-] */
    unsigned line; /* of the file that it was read from */
    char *run;
    struct hostlist helps;   /* patterns of faults (see struct fault); with ! before: not those; the last
                                that matches counts */
    struct hostlist classes; /* node classes; empty: all */
    unsigned confidence;     /* percent, 1 to 99: the prior chance that it cures one such fault */
    unsigned weight;         /* of the prior, in outcomes; 4 */
    char *because;           /* why that much */
    struct span takes;       /* until the node is back; 1 s to 7 d */
    struct span deadline;    /* after which it has failed; three times takes, a minute at least */
    struct span settle;      /* back for so long without the fault: it helped; 30 min */
    unsigned disturbs; /* 0 to 100: what it does to what runs and lies on the node; by default 0 for node:,
                          60 for a reboot and power, 100 for a script and replace */
    enum remedy_needs needs; /* IDLE: no work may run; by default, but for a command with Disturbs=0 */
    unsigned tries;          /* at most so often for a fault of a node within window; 2 */
    struct span window;      /* 7 d */
    bool approval;           /* a person says yes first */
    bool dry;                /* chosen and told, not done */
    char *after; /* a remedy that has to follow it at once, as reset after firmware; "" for none */
};

struct remedies {
    size_t n;
    struct remedy *list; /* in order of the file */
};
enum { REMEDIES_MAX = 128, REMEDY_NAME_BYTES_MAX = 48 };

/* Reads them from a file's bytes; path is for the sentences only. -EINVAL "PATH:LINE: ..."; *r is empty then.
 */
int remedies_parse(const char *path, const char *bytes, size_t len, struct remedies *r, struct err *e);
void remedies_fini(struct remedies *r);
const struct remedy *remedies_find(const struct remedies *r, const char *name); /* NULL when there is none */

enum way remedy_way(const char *run);

/* A fault is what a remedy is for: the code of a finding ("xid.79"), or the name of its check where it has
 * none ("fs.mounted", "scratch"). */
enum { FAULT_BYTES_MAX = 48, FAULTS_MAX = 64 };
/* Whether it may help this fault of a node of this class. */
bool remedy_helps(const struct remedy *r, const char *fault, const char *class);

/* --- what came of them ------------------------------------------------------------------------ */

/* Counts of outcomes of one remedy for one fault on one hardware class. */
struct outcomes {
    uint32_t helped, failed;
};
typedef struct outcomes outcomes_fn(const void *arg, const char *fault, const char *remedy,
                                    const char *class);

/* The chance that it helps: the mean of the Beta posterior, in millionths. A prior of `confidence` with the
 * strength of `weight` outcomes, and the record. Integers only: the same everywhere. */
uint32_t outcomes_chance(const struct remedy *r, struct outcomes of);

/* --- the choice ------------------------------------------------------------------------------- */

struct fault {
    const char *fault;
    enum result severity;
    const char *group; /* the device or whatever has one cause for several; NULL or "": a cause of its own */
};

/* What a node's way back costs, in units that the policy gives. */
struct cost_policy {
    uint32_t minute;  /* a minute out of service; 1000 */
    uint32_t disturb; /* one point of Disturbs; 200 */
    uint32_t person;  /* what it costs to call a person; 240,000: four hours out */
    uint32_t
        scarce; /* percent: a minute counts so much more when the class is short of nodes; 100: the same */
    unsigned explore; /* percent of choices that take the least known candidate; 0: never */
};

enum { ATTEMPTS_MAX = 32 };
/* What was tried on this node lately. `fault` may be several with commas between, cut at FAULT_BYTES_MAX. */
struct attempt {
    const char *remedy, *fault;
    struct wall at;
    bool here; /* carried out in the repair that goes on: what is open now is there in spite of it */
};

struct choice_input {
    const struct remedies *remedies;
    const char *class;
    size_t n_faults;
    const struct fault
        *faults; /* all open ones of the node; those that only warn count when nothing is worse */
    size_t n_attempts;
    const struct attempt *attempts;
    struct wall now;
    const char *barred[WAYS]; /* why nothing can be done by this way now; NULL: it can */
    bool busy;                /* work runs: only what needs nothing */
    uint64_t draw;            /* for exploration: a number that comes with the command */
    struct cost_policy policy;
    outcomes_fn *outcomes;
    const void *outcomes_arg;
};

struct candidate {
    const struct remedy *remedy;
    uint32_t chance; /* that it cures all that it covers, in millionths; less after each try on this node */
    uint32_t covers; /* of the faults, how many it may help and has tries left for */
    uint32_t helped, failed; /* the record, summed over these */
    unsigned tried;          /* how often it was tried on this node of late: each time halved its chance */
    int64_t own, next, expected; /* cost of doing it; of what follows, if it fails and for what it does not
                                    cover, each times its chance; the sum. 0 when it covers nothing */
    bool possible;
    char why[128]; /* why not possible: "tried 2 times within 7d for xid.79", "work runs", ...; else "" */
};

struct choice {
    size_t n;
    struct candidate
        candidates[REMEDIES_MAX]; /* possible ones first, cheapest first; ties by order of the file */
    int64_t person;               /* cost of calling a person instead */
    const struct remedy *chosen;  /* NULL: for a person, or for later */
    bool waits; /* with chosen NULL: not for a person, what helps waits until no work runs */
    bool explored;
    char why[240]; /* in words */
};

/* Chooses over all faults at once: a fault that no remedy may help, or has tries left for, makes the choice a
 * person's; so do more than FAULTS_MAX faults. A candidate that covers some of them is followed by the best
 * for the rest. doc/spec/remedy.md has the formula. Approval and dry change nothing here. Pure. */
void remedy_choose(const struct choice_input *in, struct choice *out);

#endif
