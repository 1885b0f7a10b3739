/* SPDX-License-Identifier: Apache-2.0 */
/* For which tenants a caller has which roles. grant.c makes it. */
#include "access/access.h"

#include <stdlib.h>
#include <string.h>

void tenancy_fini(struct tenancy *t)
{
    for (size_t i = 0; i < t->n; i++)
        free(t->parts[i].tenant);
    free(t->parts);
    *t = (struct tenancy){0};
}

unsigned tenancy_roles(const struct tenancy *t, const char *tenant)
{
    for (size_t i = 0; i < t->n; i++)
        if (strcmp(t->parts[i].tenant, tenant) == 0)
            return t->everywhere | t->parts[i].roles;
    return t->everywhere;
}

const char *tenancy_only(const struct tenancy *t, unsigned roles)
{
    const char *only = NULL;
    for (size_t i = 0; i < t->n; i++) {
        if (!(t->parts[i].roles & roles))
            continue;
        if (only)
            return NULL;
        only = t->parts[i].tenant;
    }
    return only;
}
