/* SPDX-License-Identifier: Apache-2.0 */
#include "api/person.h"

/* As Debian gives ids of users: accounts of the system are below the range, systemd's dynamic users and
 * nobody above it. */
enum { PEOPLE_FROM = 1000, PEOPLE_UNTIL = 60000 };

bool caller_is_person(const struct caller *c)
{
    if (c->local)
        return c->uid >= PEOPLE_FROM && c->uid < PEOPLE_UNTIL;
    return c->identity.kind == IDENTITY_OPERATOR;
}
