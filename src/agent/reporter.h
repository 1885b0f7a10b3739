/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_AGENT_REPORTER_H
#define FETTLE_AGENT_REPORTER_H

#include "agent/checker/checker.h"
#include "agent/uplink/uplink.h"

#include <stdbool.h>
#include <uv.h>

/*
 * Reports the node's inventory, which includes how the boot before ended: at the agent's start, then
 * changes once a minute, and all of it on request. Children read it. A reading that fails or hangs costs
 * the inventory and nothing else.
 */

struct reporter;

struct reporter_settings {
    uv_loop_t *loop;
    const char *root, *instance; /* borrowed as long as it exists */
    struct uplink *uplink;
    bool once; /* how the boot before ended is not read */
    /* A reading has ended, with why where it failed. Comes after every reading while the uplink is not up. */
    void (*on_read)(void *arg, const struct err *why);
    void (*on_told)(void *arg); /* the report that was owed is on its way */
    void *arg;
};

struct reporter *reporter_create(const struct reporter_settings *settings);
/* Calls back nobody from now on. Frees it when the loop has closed its handles. */
void reporter_destroy(struct reporter *r);

/* The checker that knows of the GPUs; borrowed. */
void reporter_set_checker(struct reporter *r, struct checker *checker);
/* Begins to read. */
void reporter_start(struct reporter *r);
/* Whether it reads by itself once a minute; it does from the start. */
void reporter_repeat(struct reporter *r, bool repeat);

/* Adds the member `inventory` of HELLO, with a comma before it, where it is known. */
void reporter_add_hello(struct reporter *r, struct text *body);
/* The uplink is connected again. want: the other side knows no inventory, or another one. */
void reporter_welcome(struct reporter *r, bool want);
/* Sends the whole: the other side has nothing, or not what was thought. */
void reporter_send_whole(struct reporter *r);
/* Whether the inventory is owed to this uplink. */
bool reporter_owes(const struct reporter *r);

#endif
