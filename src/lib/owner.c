/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/request.h"

int fettle_owner_list(struct fettle *f, const char *owner, struct fettle_answer **out, struct fettle_error *e)
{
    struct buffer path = {0};
    buffer_add(&path, "/v1/owners");
    request_query(&path, "owner", owner);
    return call_get(f, &path, out, e);
}

static int owner_change(struct fettle *f, const char *path, const char *nodes, const char *owner,
                        const char *new_owner, const char *reason, struct fettle_answer **out,
                        struct fettle_error *e)
{
    struct buffer body = {0};
    request_member(&body, "nodes", nodes);
    request_member(&body, "owner", owner);
    request_member(&body, "new_owner", new_owner);
    request_member(&body, "reason", reason);
    request_end(&body);
    return call_post(f, path, &body, out, e);
}

int fettle_owner_claim(struct fettle *f, const char *nodes, const char *owner, const char *reason,
                       struct fettle_answer **out, struct fettle_error *e)
{
    return owner_change(f, "/v1/owners/claim", nodes, owner, NULL, reason, out, e);
}

int fettle_owner_release(struct fettle *f, const char *nodes, const char *owner, const char *reason,
                         struct fettle_answer **out, struct fettle_error *e)
{
    return owner_change(f, "/v1/owners/release", nodes, owner, NULL, reason, out, e);
}

int fettle_owner_transfer(struct fettle *f, const char *nodes, const char *owner, const char *new_owner,
                          const char *reason, struct fettle_answer **out, struct fettle_error *e)
{
    return owner_change(f, "/v1/owners/transfer", nodes, owner, new_owner, reason, out, e);
}
