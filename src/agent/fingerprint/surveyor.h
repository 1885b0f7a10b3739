/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_AGENT_FINGERPRINT_SURVEYOR_H
#define FETTLE_AGENT_FINGERPRINT_SURVEYOR_H

#include "agent/uplink/body.h"
#include "agent/uplink/uplink.h"
#include "survey/survey.h"

#include <stdbool.h>
#include <uv.h>

/*
 * Keeps the node's fingerprint and says it over the uplink. It is read in a child: at once, in the
 * interval that the controller gave, once a day from nothing, on request, and when something changed: the
 * kernel said so, a watched file did, or what is cheap to look at is not what it was. A survey that fails or
 * hangs costs the fingerprint, which is unknown then, and nothing else.
 */

struct surveyor;

struct surveyor_settings {
    const char *root, *node, *boot; /* borrowed as long as it exists */
    struct uplink *uplink;
    bool once; /* one reading is enough, and it is not waited for long */
    /* The fingerprint was reported, or could not be read. */
    void (*on_settled)(void *arg);
    void *arg;
};

/* Begins to read. */
struct surveyor *surveyor_create(uv_loop_t *loop, const struct surveyor_settings *settings);
/* Calls back nobody from now on. Frees it when the loop has closed its handles. */
void surveyor_destroy(struct surveyor *s);

/* The uplink is connected again, and the other side knows nothing. */
void surveyor_welcome(struct surveyor *s, const struct body_survey *how);
void surveyor_settings(struct surveyor *s, const struct body_survey *how);
/* Reads the fingerprint again and reports it. */
void surveyor_recheck(struct surveyor *s);
/* Reads what is cheap to read, for a job that is about to start. other: it is not what it was at the last
 * reading, and a whole reading follows at once. False also where it cannot be read in time. fn may be called
 * before this returns, and is called in half a second at most. One glance at a time. */
typedef void surveyor_glance_fn(void *arg, bool other);
void surveyor_glance(struct surveyor *s, surveyor_glance_fn *fn, void *arg);
/* The fingerprint that was last reported over this link; NULL: none was, or a reading is under way. */
const struct fingerprint *surveyor_told(const struct surveyor *s);
/* How long from now until the node's next turn of each `every_ms`. The nodes of a cluster, which may all have
 * booted at one moment, have their turns at different moments, by their names. From 1 to every_ms. */
uint64_t surveyor_turn_ms(const char *node, uint64_t every_ms, struct mono now);
/* Sends the components behind this fingerprint, or which one it is instead. */
void surveyor_want(struct surveyor *s, const struct fingerprint *wanted);
/* Whether a fingerprint that may still come has to be reported over this uplink. */
bool surveyor_owes(const struct surveyor *s);

/* The survey itself, which may hang: with the node's own configuration (fingerprint.conf below root)
 * and the components in `also`. */
int surveyor_read(const char *root, const char *node, const struct hostlist *also, struct survey_cache *cache,
                  struct components *out, struct err *e);

#endif
