/* SPDX-License-Identifier: Apache-2.0 */
#include "api/person.h"

/* As Debian gives ids of users: accounts of the system are below the range, systemd's dynamic users and
 * nobody above it. */
enum { PEOPLE_FROM = 1000, PEOPLE_UNTIL = 60000 };

const char *caller_person(const struct caller *c)
{
    bool is = false;
    switch (c->kind) {
    case ACCESS_LOCAL: is = c->uid >= PEOPLE_FROM && c->uid < PEOPLE_UNTIL; break;
    case ACCESS_CERTIFICATE: is = c->identity.kind == IDENTITY_OPERATOR; break;
    case ACCESS_TOKEN: return c->is_person ? c->subject : NULL;
    case ACCESS_NOBODY: break;
    }
    return is && *c->name ? c->name : NULL;
}
