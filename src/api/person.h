/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_API_PERSON_H
#define FETTLE_API_PERSON_H

#include "api/caller.h"

/*
 * Whether a caller is a person, who can be answerable for what is done on a sensitive node. Inside this
 * folder.
 *
 *   local socket   a user with an account of their own: neither root, which several people can be, nor an
 *                  account of the system
 *   HTTPS          an operator, by the certificate; nobody without one, and neither a node nor a controller
 */
bool caller_is_person(const struct caller *c);

#endif
