/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_AGENT_SURVEYOR_H
#define FETTLE_AGENT_SURVEYOR_H

#include "agent/body.h"
#include "agent/uplink.h"
#include "survey/survey.h"

#include <stdbool.h>
#include <uv.h>

/*
 * Keeps the node's fingerprint and says it over the uplink. It is read in a child: at once, in the
 * interval that the controller gave, on request, and when something changed: the kernel said so, a
 * watched file did, or what is cheap to look at is not what it was. A survey that fails
 * or hangs costs the fingerprint, which is unknown then, and nothing else.
 */

struct surveyor;

struct surveyor_settings {
    const char *root, *node, *boot; /* borrowed as long as it exists */
    struct uplink *uplink;
    bool once; /* one reading is enough, and it is not waited for long */
    /* The fingerprint was said, or could not be read. */
    void (*on_settled)(void *arg);
    void *arg;
};

/* Begins to read. */
struct surveyor *surveyor_create(uv_loop_t *loop, const struct surveyor_settings *settings);
/* Calls nobody any more; frees it when the loop has closed its handles. */
void surveyor_destroy(struct surveyor *s);

/* The uplink stands anew, and nobody at its other end has been told anything. */
void surveyor_welcome(struct surveyor *s, const struct body_survey *how);
void surveyor_settings(struct surveyor *s, const struct body_survey *how);
/* Reads anew and says what it found. */
void surveyor_recheck(struct surveyor *s);
/* Sends the components behind this fingerprint, or which one it is instead. */
void surveyor_want(struct surveyor *s, const struct fingerprint *wanted);
/* Whether the fingerprint is still to be said over this uplink and may come. */
bool surveyor_owes(const struct surveyor *s);

/* The survey itself, which may hang: with the node's own configuration (fingerprint.conf below root)
 * and the components in `also`. */
int surveyor_read(const char *root, const char *node, const struct hostlist *also, struct survey_cache *cache,
                  struct components *out, struct err *e);

#endif
