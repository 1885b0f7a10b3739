/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CLUSTER_INCIDENT_H
#define FETTLE_CLUSTER_INCIDENT_H

#include "base/clock.h"
#include "cluster/state/claim.h"
#include "health/check.h"
#include "health/finding.h"
#include "health/recur.h"
#include "remedy/remedy.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What is wrong with nodes: incidents, faults that come back, and causes that many nodes share
 * (doc/spec/repair.md).
 */

enum {
    INCIDENTS_OPEN_MAX = 32,
    INCIDENTS_PAST_MAX = 16,
    INCIDENT_FINDINGS_MAX = 8,
    INCIDENT_JOBS_MAX = 8,
    JOB_ID_BYTES_MAX = 20,
    JOB_USER_BYTES_MAX = 63,
    RECURRING_MAX = 32,
    ANSWERED_MAX = 32,
    EVIDENCE_KEPT_MAX = 8,
    SHARED_KEY_BYTES_MAX = 200
};

#define LOST_CHECK "node.lost" /* a node that stays silent: the fault, and in the place of a check's name */

/* Findings of one cause on one node: grouped by device and in time. */
struct incident {
    char id[CLAIM_ID_BYTES_MAX + 1];          /* the id of the command that opened it, with .N */
    char group[FINDING_DEVICE_BYTES_MAX + 1]; /* the device; "" for the node itself */
    enum result severity;                     /* the worst so far */
    enum act act;                             /* the act of its worst finding */
    struct wall since, last;
    struct wall closed; /* ns 0: open */
    char boot[37];      /* on which it was found last */
    uint32_t count;     /* how often one of its findings was seen */
    unsigned recurs;    /* how many incidents of this group there were within 30 days before */
    bool observe;       /* all findings come from checks that are only observed */
    size_t n;
    struct incident_finding {
        char check[CHECK_NAME_BYTES_MAX + 1];
        struct finding f;
        struct wall at;
        unsigned times;                /* it was seen in this incident */
    } findings[INCIDENT_FINDINGS_MAX]; /* the worst, worst first */
    size_t n_jobs;
    struct incident_job { /* ran on the node while this was open, as the scheduler says */
        char id[JOB_ID_BYTES_MAX + 1];
        char user[JOB_USER_BYTES_MAX + 1];
    } jobs[INCIDENT_JOBS_MAX]; /* in the order in which they became known */
};

/* How often something came back on a device, by the general rule of health/recur.h. */
struct recurring {
    char group[FINDING_DEVICE_BYTES_MAX + 1]; /* as of an incident, */
    bool observe;                             /* likewise */
    uint32_t sum, grave; /* all findings that count; those that were degraded by their own result */
    int64_t step;        /* the level from which it counts, recur_step */
};

struct ailment {
    size_t n_open, n_past, n_recurring;
    struct incident *open; /* in order of their coming */
    struct incident *past; /* newest first; every one is closed */
    struct recurring *recurring;
};

bool incident_has_job(const struct incident *i, const char *job);
/* The incident's finding of this check, device and code; NULL when there is none. i may be NULL. */
const struct incident_finding *incident_finding(const struct incident *i, const char *check,
                                                const struct finding *f);
/* Its code, or of one without a code its check. */
const char *finding_fault(const struct incident_finding *f);
/* An incident for which a node is kept out of service until it is over. */
bool incident_counts(const struct incident *i);
/* How often a finding was seen since it was last written down; 1 for a finding that is not counted. i: the
 * open incident that it belongs to, or NULL. */
unsigned finding_times(const struct ailment *a, const struct incident *i, const char *check,
                       const struct finding *f, const char *boot);
/* How often something came back in this group, as of a moment; sums of 0 where nothing did. a may be NULL. */
void ailment_recurs(const struct ailment *a, const char *group, bool observe, struct wall at,
                    struct recurring *out);

/* A person's word that something was put right: findings from before do not count any more. */
struct answer {
    struct wall at; /* ns 0: there is none */
    size_t n;       /* 0: for all that was found */
    struct answered {
        char fault[FAULT_BYTES_MAX + 1]; /* the code, or the check of a finding without one */
        char device[FINDING_DEVICE_BYTES_MAX + 1];
    } * of; /* ANSWERED_MAX at most */
};
bool answer_covers(const struct answer *a, const char *check, const struct finding *f);

/* One cause of findings on many nodes. It isolates no node. */
struct shared_cause {
    char *key;   /* "fs.mounted mount /scratch" */
    char *nodes; /* folded */
    char *why;   /* the property that they share */
    struct wall since;
    enum result severity;
};

#endif
