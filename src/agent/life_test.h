/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_AGENT_LIFE_TEST_H
#define FETTLE_AGENT_LIFE_TEST_H

#include "agent/agent.h"
#include "agent/fake_test.h"
#include "conform/component.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * For tests: whole agents, in the test's process, against a controller that says what the test tells it to.
 * Failures end the test.
 */

#define WELCOME(interval_ms, want) \
    "{\"interval_ms\":" #interval_ms ",\"spread_ms\":10,\"term\":3,\"controller\":\"c1\",\"want\":" #want "}"

struct node {
    struct agent *agent;
    char *home, *root; /* where they are set before the start, they are taken as they are */
    bool done;
    struct err why;
};

/* A cmocka test with a fake of its own in *state, which welcomes each agent. */
int life_setup(void **state);
#define IN_LIFE(f) cmocka_unit_test_setup_teardown(f, life_setup, fake_teardown)

void life_start(struct fake *f, struct node *n, const char *name);
/* once: it reports once and ends. */
void life_start_with(struct fake *f, struct node *n, const char *name, bool once);
/* Ends it where it has not ended, and frees what the node has. */
void life_stop(struct fake *f, struct node *n);
/* An agent_done_fn, with a struct node. */
void life_on_done(void *arg, const struct err *why);
/* A fake_cond_fn, with a struct node: its agent has ended. */
bool life_is_done(void *arg);

/* Waits for the nth frame of the type from the index on; its body, borrowed, and its index where index is
 * not NULL. */
json_t *life_frame(struct fake *f, uint8_t type, int from, int nth, int *index);
const char *life_string(json_t *body, const char *key);
uint64_t life_number(json_t *body, const char *key);

/* What the controller signs about fingerprints: these members of SETTINGS. The caller frees it. */
char *life_survey_order(struct fake *f, int revision, const char *members);
/* A WELCOME that has such an order, of revision 1. The caller frees it. */
char *life_welcome(struct fake *f, int interval_ms, const char *members);

/* NULL where there is none. */
const struct component *life_component(const struct components *c, const char *name);

#endif
