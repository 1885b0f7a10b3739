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
 * What the files of the checker share, bottom to top: a file uses only files before it. checker_item.c
 * knows when one check is due, checker_turn.c which check is first. checker_boot.c keeps results,
 * checker_say.c reports them, checker_answer.c answers callers; checker_judge.c decides what a look comes
 * to. checker_apart.c looks in children, checker_parts.c looks at one device after another in children,
 * checker.c looks in the loop. On top lie checker_work.c, which knows the node's work, checker_ask.c for
 * callers, and checker_list.c, which sets the list.
 */

enum { CHECKER_JOBS_MAX = 256, CHECKER_HINT_MS = 10 /* a hundred mounts are one look, or a few */ };

static const int64_t CHECKER_NEVER = INT64_MAX;
/* In a question, between the check's place in the list and the device. */
enum { CHECKER_PART = '@' };

struct item {
    struct checker *c;
    const struct check *check; /* its record in the present list */
    struct steady steady;
    struct memory *memory;
    struct process_hint *process;        /* of a check of a service; else NULL */
    struct mono due;                     /* CHECKER_NEVER: not by itself */
    struct mono looked, began, gathered; /* gathered: in the loop */
    struct span deadline;                /* the deadline of the look that is due */
    struct mono renewed; /* a look that begins from then on is reported whatever its result; ns 0: no such
                            look is wanted */
    bool any_look, news;
    struct mono told;           /* when it was reported last */
    uint64_t counts;            /* how often its findings had been seen then */
    bool well;                  /* the last look found nothing */
    bool hinted;                /* something was told since */
    bool under_way;             /* in a child */
    struct item *leader, *with; /* the checks that share the child, from the leader on */
    struct parts *parts;        /* the devices of the look that is under way or waits; NULL */
    bool waits;
    bool asked;  /* a caller asked: idle or not does not matter */
    char *nodes; /* as in struct company, for the look that was asked for */
    unsigned rank;
    char blind[FINDING_TEXT_BYTES_MAX + 1]; /* why the last look had no answer; "" when it had one */
    bool stuck;                             /* and it had none because a child could not be killed */
};

struct parts {
    char *names, *rest; /* one name a line; rest: the devices that are still to be looked at */
    char *now;          /* NULL: none */
    struct text facts;
    bool stuck; /* a child that looked at a device could not be killed */
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
    bool boot_news; /* results of checks that run once a boot are not kept yet */
    struct workers *workers;
    struct kernel *kernel;         /* NULL while no check reads the kernel's log */
    uint64_t log_next;             /* kernel_next at the last look at it */
    struct meanings *own_meanings; /* of a check that names a file; else NULL */
    struct mount_hint *mounts;
    uv_timer_t turn, tell;
    uv_timer_cb on_turn; /* defined in checker.c, which lies above the files that set the timer */
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
    struct look_shared shared; /* shared by the looks that are due together */
};

/* --- checker_item.c */
struct item *item_create(struct checker *c, const struct check *record);
void item_destroy(struct item *k);
/* Sets when the check is due without an event. */
void item_rest(struct item *k, struct mono now);
void item_make_due(struct item *k, struct mono at);
struct look item_look(struct item *k, struct mono now);
enum { CHECKER_TARGET_BYTES = 32 };
/* The target of a look that may hang; else the check's own name. It may lie in buf. */
const char *check_target(const struct check *k, char buf[static CHECKER_TARGET_BYTES]);
/* It runs when the agent starts, and not by itself later. */
bool check_once_a_boot(const struct check *k);
void parts_destroy(struct parts *p);

/* --- checker_turn.c */
/* The check that is due first and neither waits nor is under way; NULL: none. */
struct item *checker_most_overdue(const struct checker *c);
/* The timer follows what is due. */
void checker_arm(struct checker *c);
/* There may be room for a child now. */
void checker_try_waiting(struct checker *c);
/* The checks of this probe are due within this many milliseconds. */
void checker_look_within(struct checker *c, enum probe probe, int64_t ms);
bool checker_is_idle(const struct checker *c);
/* The node is idle, and no look is under way that runs on demand or in the extensive stage alone: such a
 * test counts as work for checks of an idle node. */
bool checker_is_quiet(const struct checker *c);

/* --- checker_boot.c */
/* Of the first n items, those that are new here and were looked at in this boot resume their kept results. */
void checker_resume(struct checker *c, struct item *const *fresh, size_t n);
/* Keeps what they say. */
void checker_keep_boot(struct checker *c);

/* --- checker_say.c */
/* The result is reported within GATHER_MS. */
void item_set_news(struct item *k);
/* Its result, or its memory for the boot, is kept then too. */
void item_keep_soon(struct item *k);
/* That something is seen again and again is told, but not each time. */
bool item_counts_are_news(const struct item *k, struct mono now);

/* --- checker_answer.c */
bool item_is_fresh(const struct item *k, struct mono at);
bool question_is_settled(const struct checker *c, const struct question *q);
void question_answer(const struct checker *c, const struct question *q);
void checker_answer_waiters(struct item *k, const struct verdict *v, struct span took);
void checker_answer_questions(struct checker *c);

/* --- checker_judge.c */
/* A look has come to this. stuck: a child that looked could not be killed, and what it looked at is unknown.
 */
void item_take(struct item *k, const struct verdict *v, bool stuck);
void item_judge(struct item *k, const char *facts, bool stuck);
/* Unknown, and why. */
void item_cannot(struct item *k, bool stuck, const char *why);
/* How a reason begins that a child could not be killed; "" where it could. */
const char *checker_stuck_words(bool stuck);

/* --- checker_apart.c */
/* For workers_create, with the checker: the facts of the checks in the question. */
int checker_answer(void *arg, const char *question, struct text *out, struct err *e);
/* Looks in a child, or waits for one. */
void item_begin_apart(struct item *k);
/* Ends the look that is under way; others who shared the child are due at once. */
void item_end_apart(struct item *k);

/* --- checker_parts.c */
/* It is looked at one device after another; began is set where that begins. */
bool item_has_parts(struct item *k);
/* Goes on with the next device, or waits, or judges. */
void item_begin_parts(struct item *k);

/* --- checker_work.c */
void checker_forget_jobs(struct checker *c);

#endif
