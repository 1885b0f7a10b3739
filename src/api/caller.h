/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_API_CALLER_H
#define FETTLE_API_CALLER_H

#include "api/api.h"

#include <sys/types.h>

/*
 * Who is asking, and what the caller may do. Inside this folder.
 *
 *   local socket   any user may read; root and the user that the daemon runs as may change
 *   HTTPS          an operator's certificate says the role: admin may read and change, reader may
 *                  read where the policy lets readers in. A certificate of a node or a controller
 *                  gives no right here, whatever the policy; it replaces the rules for callers
 *                  without one. Without a certificate: reading where the policy says anyone; and
 *                  with the 2001 rule switched on, a client on this host with a port below 1024
 *                  is root.
 */

enum right { RIGHT_READ, RIGHT_CHANGE };

struct caller {
    bool local;
    uid_t uid;                /* local */
    struct identity identity; /* HTTPS */
    uint16_t port;            /* HTTPS: the client's */
    bool here;                /* HTTPS: the client is on this host */
};

struct caller caller_of(struct stream *s);

/* The party of the caller, and whether it is privileged: callers with the right to change are. network is the
 * caller's address. */
void caller_party(const struct caller *c, const char *network, const struct api_policy *p, uid_t own,
                  struct party *out);

/* 0, or a sentence that says what is needed: -EPERM when the caller is unknown, -EACCES when it is known and
 * has no right. own is the user of the daemon. */
int caller_may(const struct caller *c, enum right want, const struct api_policy *p, uid_t own, struct err *e);

#endif
