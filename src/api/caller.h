/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_API_CALLER_H
#define FETTLE_API_CALLER_H

#include "api/api.h"

#include <sys/types.h>

/*
 * Who is asking, and whether they may. Inside this folder.
 *
 *   local socket   any user may read; root and the user that the daemon runs as may change
 *   HTTPS          an operator's certificate says the role: admin may read and change, reader may
 *                  read where the policy lets readers in. A certificate of a node or a controller
 *                  gives no right here, whatever the policy: who shows one is judged by it.
 *                  Without a certificate: reading where the policy says anyone; and with the 2001
 *                  rule switched on, a client on this host with a port below 1024 is root.
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

/* As whom the caller is served, and whether before others: who may change. network is its address. */
void caller_party(const struct caller *c, const char *network, const struct api_policy *p, uid_t own,
                  struct party *out);

/* 0, or a sentence that says what would be needed: -EPERM when nobody knows who is asking, -EACCES
 * when that is known and gives no right. own is the user that the daemon runs as. */
int caller_may(const struct caller *c, enum right want, const struct api_policy *p, uid_t own, struct err *e);

#endif
