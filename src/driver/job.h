/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_DRIVER_JOB_H
#define FETTLE_DRIVER_JOB_H

#include "base/clock.h"
#include "base/table.h"
#include "driver/effect.h"
#include "driver/ochami.h"
#include "fetch/fetch.h"

/*
 * What the parts of the OpenCHAMI driver share: a job for each effect that is open, which of the three
 * services it needs, and how it calls them. ochami.c has the table, the queues and the waiting; smd.c
 * and reboot.c say what to do next. Each function of theirs ends by one of job_call, job_report,
 * job_queue, job_fault or job_drop, and touches the job no more after it.
 */

enum service_name { SERVICE_SMD, SERVICE_BSS, SERVICE_PCS, SERVICES };

enum job_state {
    JOB_QUEUED,   /* waits for its turn with the service */
    JOB_CALLING,  /* a request is under way */
    JOB_SLEEPING, /* until `due` */
    JOB_REPORTED, /* its result is to come back as a record; said again when `due` */
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
    char *key;
    const char *node; /* in key */
    enum job_state state;
    enum job_phase phase;
    enum service_name service;
    bool is_gone;    /* the record is, and a request is under way */
    bool is_renewed; /* the record wants something else since the request began */
    unsigned faults; /* in a row */
    struct mono due;
    struct effect effect; /* as the record stands */
    char *reported;       /* the result that was given last, until it is in the record */

    /* SMD: what is Fettle's there, which is in the record before it is put there */
    struct marks own;
    struct component seen;
    bool is_member;      /* of `group` */
    bool has_conflicted; /* the group said so */
    bool must_join;      /* when this round has left the group that it was in */
    char *group;         /* that is joined or left */
    unsigned todo;       /* enum todo */

    /* PCS */
    struct progress progress;
    struct mono asked_at; /* the last time that a transition was asked for; 0: not by this driver */
    char (*candidates)[TRANSITION_ID_BYTES_MAX + 1]; /* transitions that may be this node's */
    size_t n_candidates;
    struct mono list_asked_at;

    struct job *prev, *next; /* in the service's queue, or among those with a `due` */
    UT_hash_handle hh;
};

/* A transition that is one node's alone: nobody else's job has to look at it. */
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
    struct mono due;   /* when it is tried again, while it is away */
};

/* How long things take; tests have less patience. */
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
    struct mono listed_at;          /* when it was asked for; 0: never */
    struct known *known;
    bool is_good; /* the answer that is being taken changed something, or brought a job to a result */
};

void ochami_set_pace(struct ochami *o, const struct ochami_pace *pace);

/* Calls a service; the answer comes to smd_on_answer or reboot_on_answer with the job's phase. */
void job_call(struct job *j, const char *method, const char *path, const char *body);
/* Gives the result (the job takes it) and waits until it is in the record. is_good: the service has done what
 * it was asked. */
void job_report(struct job *j, char *result, bool is_good);
/* Has the job go on in this phase when it is its turn. */
void job_queue(struct job *j, enum job_phase phase);
/* The same after a while, in which nothing is wrong. */
void job_sleep(struct job *j, enum job_phase phase, struct span s);
/* The same after a failure: longer each time. */
void job_fault(struct job *j, enum job_phase phase, const struct err *why);
void job_rest(struct job *j);
void job_drop(struct job *j);

/* Whether the service has an address. */
bool job_has_service(const struct job *j, enum service_name s);
void transitions_forget(struct ochami *o);

struct answer {
    bool is_refused; /* else it is 2xx */
    int status;
    const char *body;
    size_t len;
    char detail[DETAIL_BYTES_MAX + 1]; /* is_refused */
};

/* Where to begin, with the record as it is: ends as above. */
void smd_begin(struct job *j);
void reboot_begin(struct job *j);
/* Goes on in j->phase: its turn has come. */
void smd_go(struct job *j);
void reboot_go(struct job *j);
void smd_on_answer(struct job *j, const struct answer *a);
void reboot_on_answer(struct job *j, const struct answer *a);
/* The result is in the record. */
void smd_on_recorded(struct job *j);
void reboot_on_recorded(struct job *j);
/* Where to begin anew when no answer came. */
enum job_phase reboot_again(const struct job *j);

#endif
