/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_DRIVER_JOB_H
#define FETTLE_DRIVER_JOB_H

#include "base/clock.h"
#include "base/table.h"
#include "driver/effect.h"
#include "driver/ochami.h"
#include "fetch/fetch.h"

/*
 * Shared by the parts of the OpenCHAMI driver: a job for each open effect, the service that it needs, and its
 * calls. ochami.c has the table of jobs, job.c the queues and the waiting; smd.c and reboot.c decide what to
 * do next. Each of their functions ends with one of job_call, job_report, job_queue, job_fault or job_drop,
 * and does not touch the job after it.
 */

enum service_name { SERVICE_SMD, SERVICE_BSS, SERVICE_PCS, SERVICES };

enum job_state {
    JOB_QUEUED,   /* waits for its turn with the service */
    JOB_CALLING,  /* a request is under way */
    JOB_SLEEPING, /* until `due` */
    JOB_REPORTED, /* its result must come back as a record; it is repeated when `due` */
    JOB_RESTING   /* refused: until the record or the configuration changes */
};

enum job_phase {
    /* SMD */
    PHASE_LOOK,
    PHASE_MEMBER,
    PHASE_PUT,
    /* BSS, PCS */
    PHASE_BOOT_LOOK,
    PHASE_BOOT_PUT,
    PHASE_LIST,
    PHASE_CANDIDATE,
    PHASE_ASK,
    PHASE_POLL
};

enum todo { TODO_FLAG = 1, TODO_STATUS = 2, TODO_LEAVE = 4, TODO_JOIN = 8, TODO_CREATE = 16 };

struct job {
    struct ochami *o;
    const struct job_kind *kind;
    char *key;
    const char *node; /* in key */
    enum job_state state;
    enum job_phase phase;
    enum service_name service;
    bool is_gone;    /* the record is gone, and a request is under way */
    bool is_renewed; /* the record has changed since the request began */
    unsigned faults; /* in a row */
    struct mono due;
    struct effect effect; /* as the record stands */
    char *reported;       /* the last result, until it is in the record */

    /* SMD: Fettle's entries there. They are in the record before they are written there. */
    struct marks own;
    struct component seen;
    bool is_member;      /* of `group` */
    bool has_conflicted; /* the group's answer showed it */
    bool must_join;      /* this round has left the earlier group; the next one joins */
    char *group;         /* the group to join or to leave */
    unsigned todo;       /* enum todo */

    /* PCS */
    struct progress progress;
    struct mono asked_at; /* when a transition was last asked for; 0: not by this driver */
    char (*candidates)[TRANSITION_ID_BYTES_MAX + 1]; /* transitions that may be for this node */
    size_t n_candidates;
    struct mono list_asked_at;

    struct job *prev, *next; /* neighbours in the service's queue, or among jobs with a `due` */
    UT_hash_handle hh;
};

/* A transition of one known node: the jobs of other nodes need not look at it. */
struct known {
    char id[TRANSITION_ID_BYTES_MAX + 1];
    char xname[XNAME_BYTES_MAX + 1];
    UT_hash_handle hh;
};

struct service {
    const char *name; /* "SMD" */
    char *base;       /* NULL: not used */
    struct job *queue;
    unsigned calling;
    bool is_away;
    unsigned failures; /* in a row */
    struct mono due;   /* the next try, while the service is away */
};

/* The time limits; tests use shorter ones. */
struct ochami_pace {
    struct span retry_min, retry_max, poll, resend;
    unsigned tick_ms, answered_ms;
};

struct ochami {
    uv_loop_t *loop;
    struct ochami_sink sink;
    struct ochami_pace pace;
    struct fetch *fetch;
    char *ca, *token, *group;
    struct service services[SERVICES];
    struct job *jobs;
    struct job *timed; /* those with a `due` */
    unsigned calling;
    uv_timer_t now, tick;
    struct transitions transitions; /* the list as it was last read */
    struct mono listed_at;          /* when the list was asked for; 0: never */
    struct known *known;
    bool is_good; /* the present answer changed something, or gave a job its result */
};

void ochami_set_pace(struct ochami *o, const struct ochami_pace *pace);

/* Starts from the record as it is. */
void job_begin(struct job *j);
/* Calls a service; the answer goes to the kind's on_answer with the job's phase. */
void job_call(struct job *j, const char *method, const char *path, const char *body);
/* Reports the result, which the job takes over, and waits until it is in the record. is_good: the service did
 * as asked. */
void job_report(struct job *j, char *result, bool is_good);
/* Lets the job go on in this phase when its turn comes. */
void job_queue(struct job *j, enum job_phase phase);
/* The same after a while, without a fault. */
void job_sleep(struct job *j, enum job_phase phase, struct span s);
/* The same after a fault; the wait grows each time. */
void job_fault(struct job *j, enum job_phase phase, const struct err *why);
void job_rest(struct job *j);
void job_drop(struct job *j);

/* Lets jobs whose turn has come go on, from the loop: never from where a job may be on the stack. */
void job_wake(struct ochami *o);

/* Whether the service has an address. */
bool job_has_service(const struct job *j, enum service_name s);
void transitions_forget(struct ochami *o);

struct answer {
    bool is_refused; /* otherwise the status is 2xx */
    int status;
    const char *body;
    size_t len;
    char detail[DETAIL_BYTES_MAX + 1]; /* set when is_refused */
};

/* What the jobs of one kind do next; each function ends as above. */
struct job_kind {
    void (*begin)(struct job *j); /* starts from the record as it is */
    void (*go)(struct job *j);    /* goes on in j->phase when its turn has come */
    void (*on_answer)(struct job *j, const struct answer *a);
    void (*on_recorded)(struct job *j);           /* the result is in the record */
    enum job_phase (*again)(const struct job *j); /* the phase to start from when no answer came */
};
extern const struct job_kind smd_jobs, reboot_jobs;

#endif
