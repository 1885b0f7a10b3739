/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_AGENT_CHECKER_CHECKER_INSIDE_H
#define FETTLE_AGENT_CHECKER_CHECKER_INSIDE_H

#include "agent/checker/checker.h"
#include "agent/checker/kernel.h"
#include "agent/process/hint.h"
#include "agent/process/workers.h"
#include "check/look.h"
#include "check/nvidia.h"

/*
 * What the files of the checker share: checker.c looks, checker_apart.c in children, checker_parts.c in one
 * after another for each device, checker_list.c says at what, checker_ask.c answers those who ask,
 * checker_work.c knows of the node's work.
 */

enum { CHECKER_JOBS_MAX = 256, CHECKER_HINT_MS = 10 /* a hundred mounts are one look, or a few */ };

static const int64_t CHECKER_NEVER = INT64_MAX;
/* How it is said that a child could not be killed. */
#define CHECKER_STUCK "probe.stuck: "
/* In a question, between the check's place in the list and the device. */
enum { CHECKER_PART = '@' };

struct item {
    struct checker *c;
    const struct check *check; /* of the present list */
    struct steady steady;
    struct memory *memory;
    struct process_hint *process;        /* of a service; NULL */
    struct mono due;                     /* CHECKER_NEVER: not by itself */
    struct mono looked, began, gathered; /* gathered: in the loop */
    struct span deadline;                /* of the look that is due */
    struct mono renewed; /* a look that begins from then on is told whatever it says; ns 0: none has to be */
    bool any_look, news;
    struct mono told;           /* when it was said last, and */
    uint64_t counts;            /* how often its findings had been seen then */
    bool well;                  /* the last look found nothing */
    bool hinted;                /* something was told since */
    bool under_way;             /* in a child */
    struct item *leader, *with; /* who share the child, from the leader on */
    struct parts *parts;        /* of the look that is under way, or waits; NULL */
    bool waits;
    bool asked;  /* by somebody: whether it is idle does not matter */
    char *nodes; /* as in struct company, for the look that was asked for */
    unsigned rank;
    char blind[FINDING_TEXT_BYTES_MAX + 1];
};

struct waiter {
    struct waiter *next;
    struct item *item;
    checker_look_fn *fn;
    void *arg;
};

struct question {
    struct question *next;
    unsigned when;
    struct mono at;
    checker_ask_fn *fn;
    void *arg;
};

struct checker {
    uv_loop_t *loop;
    struct checker_settings settings;
    struct look_clock clock; /* at.ns 0: not known */
    struct checklist list;
    struct item **items; /* as many as list.checks has */
    bool any_list;
    bool boot_news; /* what checks said that run once a boot is not kept yet */
    struct workers *workers;
    struct kernel *kernel;         /* NULL while no check is of it */
    uint64_t log_next;             /* kernel_next at the last look at it */
    struct meanings *own_meanings; /* of a check that names a file; NULL */
    struct mount_hint *mounts;
    uv_timer_t turn, tell;
    int handles;
    bool destroyed, in_turn;
    bool work;                    /* as the node was read */
    char *jobs[CHECKER_JOBS_MAX]; /* as prolog and epilog say */
    size_t n_jobs;
    struct mono job_at;
    struct gpu_capacity gpus; /* as nvidia.temperature said last */
    struct waiter *waiters;
    struct question *questions;
    struct text facts;         /* of the present look */
    struct look_shared shared; /* of those that are due together */
};

/* --- checker.c */
struct item *item_create(struct checker *c, const struct check *record);
void item_destroy(struct item *k);
/* When it is due by itself. */
void item_rest(struct item *k, struct mono now);
void item_make_due(struct item *k, struct mono at);
/* The timer follows what is due. */
void checker_arm(struct checker *c);
/* There may be room for a child now. */
void checker_try_waiting(struct checker *c);
/* The checks of this probe have something to see, after so many ms. */
void checker_look_within(struct checker *c, enum probe probe, int64_t ms);

struct look item_look(struct item *k, struct mono now);
void item_judge(struct item *k, const char *facts);
/* Unknown, because of the two texts. */
void item_cannot(struct item *k, const char *what, const char *why);

/* --- checker_apart.c */
enum { CHECKER_TARGET_BYTES = 32 };
/* What the check touches, if that may hang; else its own name. It may lie in buf. */
const char *check_target(const struct check *k, char buf[static CHECKER_TARGET_BYTES]);
/* For workers_create, with the checker: the facts of the checks in the question. */
int checker_answer(void *arg, const char *question, struct text *out, struct err *e);
/* Looks in a child, or waits for one. */
void item_begin_apart(struct item *k);
/* Ends the look that is under way; others who shared the child are due at once. */
void item_end_apart(struct item *k);

/* --- checker_parts.c */
void parts_destroy(struct parts *p);
/* It is looked at one device after another; began is set where that begins. */
bool item_has_parts(struct item *k);
/* Goes on with the next device, or waits, or judges. */
void item_begin_parts(struct item *k);

/* --- checker_boot.c */
/* It runs when the agent starts, and not by itself later. */
bool check_once_a_boot(const struct check *k);
/* Those of the first n items that are new here and were looked at in this boot already say the same again. */
void checker_resume(struct checker *c, struct item *const *fresh, size_t n);
/* Keeps what they say. */
void checker_keep_boot(struct checker *c);

/* --- checker_ask.c */
void checker_answer_waiters(struct item *k, const struct verdict *v, struct span took);
void checker_answer_questions(struct checker *c);

/* --- checker_work.c */
bool checker_is_idle(const struct checker *c);
/* It is idle, and nothing is under way that runs on demand or in the extensive stage alone: what tests the
 * machine is work to those who look at an idle one. */
bool checker_is_quiet(const struct checker *c);
void checker_forget_jobs(struct checker *c);

#endif
