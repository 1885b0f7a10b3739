/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_API_CALLER_H
#define FETTLE_API_CALLER_H

#include "access/access.h"
#include "api/api.h"

#include <sys/types.h>

/*
 * Who is asking, and what the caller may do. Inside this folder.
 *
 * A caller has the roles that roles.conf gives it (access/access.h), and these:
 *
 *   local socket   root, and the user that the daemon runs as: administrator. Any other user: viewer
 *   certificate    an operator's with the role admin: administrator; with reader: viewer, where the
 *                  policy lets readers in. A node's: agent. A controller's: none
 *   token          viewer where the policy says anyone; otherwise none
 *   nobody         viewer where the policy says anyone; with the 2001 rule switched on a client on this
 *                  host with a port below 1024 is root
 *
 * A request is of one identity. A token replaces the certificate of its connection. The roles of
 * both are not added up. On the local socket there are no tokens: the kernel says who somebody is.
 */

enum { CALLER_NAME_BYTES = 256 };

struct caller {
    enum access_kind kind;
    uid_t uid;                       /* local */
    struct identity identity;        /* certificate */
    uint16_t port;                   /* HTTPS: the client's */
    bool here;                       /* HTTPS: the client is on this host */
    char name[CALLER_NAME_BYTES];    /* for people: the user, the certificate's name, the name that the token
                                        gives; "" for nobody, and for a user whose name is not known yet */
    char login[CALLER_NAME_BYTES];   /* local: the person who signed in, when that is another user; else "" */
    char subject[CALLER_NAME_BYTES]; /* token: its subject; else "" */
    bool is_person; /* a verified token proves that a person signed in. False for all other callers, also for
                       those that are people: nothing proves it */
    struct wall until; /* token: when it expires */
    unsigned roles;    /* a set of access_role, each for all tenants, for some or for none: */
    struct tenancy tenancy;
};

/* The caller at the other end of a stream, as far as the stream shows it: without names of users and without
 * a token. */
struct caller caller_of(struct stream *s);
/* Makes the caller the one that the token says. */
void caller_take_token(struct caller *c, const struct shell_token *t);
/* Gives the caller its roles, by its name or subject, its groups, and the tenants that its token names; both
 * may be NULL. own is the user of the daemon. Those of before are gone. caller_fini when done. */
void caller_give_roles(struct caller *c, const struct hostlist *groups, const struct hostlist *tenants,
                       const struct api_policy *p, uid_t own);
void caller_fini(struct caller *c);

/* 0, or a sentence that names the roles that have the right: -EPERM when the caller is unknown, -EACCES when
 * it is known and has none of them. */
int caller_may(const struct caller *c, enum access_right want, struct err *e);
/* The same for a right that is about a tenant: the role has to hold for it. "": for none in particular. */
int caller_may_for(const struct caller *c, enum access_right want, const char *tenant, struct err *e);
/* Adds what the journal calls the caller: "root", "alice (as root)", "carl", "Ann Lee (token 24400320)". It
 * is for people: nothing is decided by it but whose claim something is. */
void caller_say(const struct caller *c, struct text *t);
/* The party of the caller, and whether it is privileged: administrators are. network is the caller's address.
 */
void caller_party(const struct caller *c, const char *network, struct party *out);

#endif
