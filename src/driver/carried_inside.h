/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_DRIVER_CARRIED_INSIDE_H
#define FETTLE_DRIVER_CARRIED_INSIDE_H

#include "driver/operate.h"
#include "driver/power.h"
#include "driver/slurm_work.h"
#include "node/operation.h"

/*
 * One operation that the driver carries out: how it is done, looked for after a restart, and what is said of
 * it. operate.c says when.
 */

/* How far the driver is; the record says how far the operation is. */
enum stage {
    STAGE_WAITS,  /* it may not begin yet */
    STAGE_BEGINS, /* said to be begun, and the record does not have that yet */
    STAGE_RUNS,   /* it is being done */
    STAGE_LOOKS,  /* somebody else began it: what came of it is looked for */
    STAGE_ENDED   /* it is said until the record has it */
};

struct carried {
    struct operate *o;
    char *key; /* of its record */
    char *node;
    struct operation op;  /* as its record was first; the state follows it */
    struct mono deadline; /* the same in this machine's time: a clock that is set moves it no more */
    struct wall begun;    /* as we said it; 0 as long as we did not */
    enum stage stage;
    struct mono next, said;
    struct err waits; /* why it was not begun when that was asked last */
    bool is_gone;     /* its record */
    bool is_noted;    /* the record says that we begin it, and it is to be asked whether it may still be */
    struct power *power;
    struct program *program;
    struct slurm_work *work;
    char *result; /* what is said until the record has it */
    struct carried *prev, *next_one;
};

/* Somebody wants to know what a BMC says. */
struct wish {
    struct operate *o;
    char *node;
    struct power *power;
    struct err why; /* it cannot be: told from the loop */
    operate_done_fn *done;
    operate_look_fn *looked; /* instead of done */
    void *arg;
    struct wish *prev, *next;
};

struct operate {
    uv_loop_t *loop;
    uv_timer_t timer;
    struct operate_with with;
    struct operate_sink sink;
    struct span result_again;
    struct carried *list;
    struct wish *wishes;
};

/* A driver knows how to do this, wherever. */
bool carried_is_ours(const char *run);
/* Ends what is under way of it, and takes it out of the list. */
void carried_drop(struct carried *k);
/* Says its result, once more. */
void carried_say(struct carried *k, struct mono now);
void carried_say_begun(struct carried *k, struct mono now);
/* Says how it ended, until the record has it; one whose record is gone is dropped. words: for people. */
void carried_end(struct carried *k, enum operation_state s, const char *words);
/* The same of one that was refused for a reason that has a word: it is no try. */
void carried_refuse(struct carried *k, enum refusal code, const char *words);
/* Does it now. */
void carried_start(struct carried *k);
/* Somebody else began it then: finds what came of it, and does nothing a second time. */
void carried_look(struct carried *k, struct wall began);
/* The node's BMC, or the script in its place, did what it was asked (why NULL), or did not. */
void operate_asked(const struct operate *o, const char *node, const struct err *why);

#endif
