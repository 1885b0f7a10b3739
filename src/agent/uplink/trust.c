/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/uplink/trust.h"

#include "base/log.h"

#include <errno.h>

enum { WARN_AGAIN_S = 60 };

void trust_refuse(struct trust *t, uint8_t type, const struct err *why)
{
    char name[16], peer[UPLINK_PEER_BYTES];
    struct mono now = mono_now();
    if (t->warned.ns && mono_sub(now, t->warned).ns < span_s(WARN_AGAIN_S).ns)
        return;
    t->warned = now;
    log_warn("%s from %s is not believed, and nothing is done: %s", frame_name(type, name),
             uplink_peer(t->uplink, peer), why->msg);
}

bool trust_open(struct trust *t, uint8_t type, const json_t *order, struct frame *out)
{
    struct err why = {0};
    if (orders_open(&t->orders, type, order, out, &why) == 0)
        return true;
    trust_refuse(t, type, &why);
    return false;
}

bool trust_is_newer(struct trust *t, uint8_t type, uint64_t revision, uint64_t *last)
{
    struct err why = {0};
    if (revision < *last && !uplink_at_controller(t->uplink)) {
        err_set(&why, -EALREADY, "it is older than the present one");
        trust_refuse(t, type, &why);
        return false;
    }
    *last = revision;
    return true;
}
