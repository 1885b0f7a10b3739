/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_AGENT_HOME_JOIN_H
#define FETTLE_AGENT_HOME_JOIN_H

#include "agent/uplink/address.h"
#include "base/err.h"

#include <stdbool.h>
#include <uv.h>

/*
 * A machine's first contact: with a one-time token it asks a controller for its certificate. The
 * token names the authority's fingerprint, so the controller is believed before the machine has
 * anything of its own; a wrong controller never sees the token.
 */

struct join_request {
    const char *token;
    const struct address *controller;
    const char *name;    /* the node's name */
    const char *machine; /* its UUID; "" where it has none */
    const char *home;    /* directory of state */
    bool again;          /* replace an identity that is there and valid */
};

/* 0: the identity is stored. */
typedef void join_done_fn(void *arg, const struct err *why);

/* -EINVAL for what is no token by its form. */
int join_check_token(const char *token, struct err *e);

/* Checks the request; then dials, asks and stores. -EINVAL for a token or name of the wrong form,
 * -EEXIST when home has a valid identity, -errno when nothing can be stored there, so that no token
 * is spent for nothing; afterwards done is called once from the loop. The request
 * and what it points to live until then. */
int join_start(uv_loop_t *loop, const struct join_request *request, join_done_fn *done, void *arg,
               struct err *e);

#endif
