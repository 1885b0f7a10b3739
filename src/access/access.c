/* SPDX-License-Identifier: Apache-2.0 */
#include "access/access.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

static const char *const role_names[ACCESS_ROLES] = {
#define ROLE(symbol, name, tenants, meaning) [ACCESS_##symbol] = name,
#include "access/role.tbl"
#undef ROLE
};

#define OF(role) ROLE_BIT(ACCESS_##role)
#define KNOWN 0 /* no role is needed */
static const struct {
    bool changes;
    unsigned roles;
} rights[ACCESS_RIGHTS] = {
#define RIGHT(symbol, changes, roles, meaning) [RIGHT_##symbol] = {changes, roles},
#include "access/right.tbl"
#undef RIGHT
};

/* A right that no role has would be everybody's: the row of IDENTIFY alone says so. */
#define RIGHT(symbol, changes, roles, meaning)                                                 \
    _Static_assert((roles) != 0 || RIGHT_##symbol == RIGHT_IDENTIFY, "a role has to have the " \
                                                                     "right " #symbol);
#include "access/right.tbl"
#undef RIGHT

const char *access_role_name(enum access_role r)
{
    assert((unsigned)r < ACCESS_ROLES);
    return role_names[r];
}

int access_role_find(const char *name, enum access_role *out, struct err *e)
{
    for (int i = 0; i < ACCESS_ROLES; i++) {
        if (strcmp(role_names[i], name) == 0) {
            *out = (enum access_role)i;
            return 0;
        }
    }
    const char *near = text_nearest(name, role_names, ACCESS_ROLES);
    if (near)
        return err_set(e, -EINVAL, "there is no role \"%.100s\"; the nearest is \"%s\"", name, near);
    return err_set(e, -EINVAL, "there is no role \"%.100s\"", name);
}

void access_roles_say(unsigned roles, const char *separator, struct text *t)
{
    const char *between = "";
    for (int i = 0; i < ACCESS_ROLES; i++) {
        if (!(roles & ROLE_BIT(i)))
            continue;
        text_printf(t, "%s%s", between, role_names[i]);
        between = separator;
    }
}

bool access_right_changes(enum access_right r)
{
    assert((unsigned)r < ACCESS_RIGHTS);
    return rights[r].changes;
}

unsigned access_right_roles(enum access_right r)
{
    assert((unsigned)r < ACCESS_RIGHTS);
    return rights[r].roles;
}

bool access_permits(enum access_right r, unsigned roles)
{
    return r == RIGHT_IDENTIFY || (access_right_roles(r) & roles) != 0;
}
