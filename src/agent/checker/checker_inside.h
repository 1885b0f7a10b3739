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
 * What the files of the checker share, bottom to top: a file uses those before it. checker_item.c knows when
 * one check is due, checker_turn.c which is first. checker_boot.c, checker_say.c and checker_answer.c keep,
 * tell and answer what checks say; checker_judge.c decides what that is. checker_apart.c looks in children,
 * checker_parts.c in one after another for each device, checker.c in the loop. On these lie checker_work.c,
 * which knows of the node's work, checker_ask.c for those who ask, and checker_list.c, which says what is
 * looked at.
 */

enum { CHECKER_JOBS_MAX = 256, CHECKER_HINT_MS = 10 /* a hundred mounts are one look, or a few */ };

static const int64_t CHECKER_NEVER = INT64_MAX;
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
    char blind[FINDING_TEXT_BYTES_MAX + 1]; /* why the last look had no answer; "" when it had one */
    bool stuck;                             /* and it had none because a child could not be killed */
};

struct parts {
    char *names, *rest; /* a line each; of those that are still to be looked at */
    char *now;          /* NULL: none */
    struct text facts;
    bool stuck; /* a child that looked at one of them could not be killed */
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
    uv_timer_cb on_turn; /* of checker.c, which lies above those who set the timer */
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

/* --- checker_item.c */
struct item *item_create(struct checker *c, const struct check *record);
void item_destroy(struct item *k);
/* When it is due by itself. */
void item_rest(struct item *k, struct mono now);
void item_make_due(struct item *k, struct mono at);
struct look item_look(struct item *k, struct mono now);
enum { CHECKER_TARGET_BYTES = 32 };
/* What the check touches, if that may hang; else its own name. It may lie in buf. */
const char *check_target(const struct check *k, char buf[static CHECKER_TARGET_BYTES]);
/* It runs when the agent starts, and not by itself later. */
bool check_once_a_boot(const struct check *k);
void parts_destroy(struct parts *p);

/* --- checker_turn.c */
/* The one that is due first and neither waits nor is under way; NULL: there is none. */
struct item *checker_most_overdue(const struct checker *c);
/* The timer follows what is due. */
void checker_arm(struct checker *c);
/* There may be room for a child now. */
void checker_try_waiting(struct checker *c);
/* The checks of this probe have something to see, after so many ms. */
void checker_look_within(struct checker *c, enum probe probe, int64_t ms);
bool checker_is_idle(const struct checker *c);
/* It is idle, and nothing is under way that runs on demand or in the extensive stage alone: what tests the
 * machine is work to those who look at an idle one. */
bool checker_is_quiet(const struct checker *c);

/* --- checker_boot.c */
/* Those of the first n items that are new here and were looked at in this boot already say the same again. */
void checker_resume(struct checker *c, struct item *const *fresh, size_t n);
/* Keeps what they say. */
void checker_keep_boot(struct checker *c);

/* --- checker_say.c */
/* It is told within GATHER_MS. */
void item_set_news(struct item *k);
/* What it says or remembers for the boot is kept then, too. */
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
