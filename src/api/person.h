/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_API_PERSON_H
#define FETTLE_API_PERSON_H

#include "api/caller.h"

/*
 * A caller that is a person can be answerable for what is done on a sensitive node. Inside this folder.
 *
 *   local socket   a user with an account of their own: neither root, which several people can be, nor an
 *                  account of the system
 *   certificate    an operator's; neither a node's nor a controller's
 *   token          one that proves that a person signed in (caller.h); a service account is no person
 *   nobody         no person
 */

/* The person's name: the user, the name in the certificate, or the token's subject. NULL: the caller is no
 * person, or its name is not known. */
const char *caller_person(const struct caller *c);

#endif
