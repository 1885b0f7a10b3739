/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_DRIVER_CARRIED_INSIDE_H
#define FETTLE_DRIVER_CARRIED_INSIDE_H

#include "driver/operate.h"
#include "driver/power.h"
#include "driver/slurm_work.h"
#include "node/operation.h"

/*
 * One operation that the driver carries out: how it is done, how its outcome is found after a restart, and
 * how it is reported. operate.c decides when.
 */

/* The stage of the driver; the record has the state of the operation. */
enum stage {
    STAGE_WAITS,  /* it may not begin yet */
    STAGE_BEGINS, /* reported as begun; the record does not have that yet */
    STAGE_RUNS,   /* it is being carried out */
    STAGE_LOOKS,  /* another process began it: the outcome is being looked for */
    STAGE_ENDED   /* it is reported until the record has it */
};

struct carried {
    struct operate *o;
    char *key; /* of its record */
    char *node;
    struct operation op;  /* as first recorded; the state follows the record */
    struct mono deadline; /* the deadline in monotonic time: setting the clock does not move it */
    struct wall begun;    /* the start that we reported; 0 before that */
    enum stage stage;
    struct mono next, said;
    struct err waits; /* why it could not begin when that was last asked */
    bool is_gone;     /* the record is gone */
    bool is_noted;    /* the record says that we begin it; the controller is to be asked once more whether it
                         may */
    struct power *power;
    struct program *program;
    struct slurm_work *work;
    char *result; /* the result that is repeated until the record has it */
    struct carried *prev, *next_one;
};

/* A request to look at a BMC. */
struct wish {
    struct operate *o;
    char *node;
    struct power *power;
    struct err why; /* it is impossible: reported from the loop */
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

/* True when a driver can do this, whatever the node. */
bool carried_is_ours(const char *run);
/* Ends its work and removes it from the list. */
void carried_drop(struct carried *k);
/* Reports its result once more. */
void carried_say(struct carried *k, struct mono now);
void carried_say_begun(struct carried *k, struct mono now);
/* Reports how it ended, until the record has it; drops it when its record is gone. words are for people. */
void carried_end(struct carried *k, enum operation_state s, const char *words);
/* The same for an operation that was refused for a reason with a code: it does not count as an attempt. */
void carried_refuse(struct carried *k, enum refusal code, const char *words);
/* Starts it now. */
void carried_start(struct carried *k);
/* Another process began it then: finds the outcome, and does nothing a second time. */
void carried_look(struct carried *k, struct wall began);
/* The node's BMC, or the script in its place, did as asked (why NULL), or failed. */
void operate_asked(const struct operate *o, const char *node, const struct err *why);

#endif
