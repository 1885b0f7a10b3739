/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/uplink/orders.h"

#include "base/digest.h"

#include <errno.h>
#include <string.h>

/* An order may be on its way when the next question is asked, so a nonce stays for a while; an operation that
 * comes a second time with it has an id that is known. */
enum { ASK_AGAIN_S = 10, ANSWER_S = 30 };

static int check_head(const struct orders *o, uint8_t type, const json_t *body, struct err *e)
{
    char name[16], other[16];
    uint64_t said = 0;
    const char *node;
    int r = json_take_u64(body, "type", UINT8_MAX, &said, e);
    if (r)
        return -EINVAL;
    if (said != type)
        return err_set(e, -EPERM, "it is %s, but came as %s", frame_name((uint8_t)said, other),
                       frame_name(type, name));
    r = json_take_string(body, "node", &node, e);
    if (r == -EINVAL || (r == -ENOENT && (type == FRAME_ACT || type == FRAME_STANDING)))
        return -EINVAL;
    if (r == 0 && strcmp(node, o->node) != 0)
        return err_set(e, -EPERM, "it is for node %.64s", node);
    return 0;
}

int orders_open(const struct orders *o, uint8_t type, const json_t *order, struct frame *out, struct err *e)
{
    const char *text = NULL;
    int r = order_open(o->ca, o->least, order, &text, e);
    if (r)
        return r;
    CLEANUP_JSON json_t *body = json_read(text, strlen(text), e);
    if (!body)
        return -EINVAL;
    *out = (struct frame){.type = type, .body = text, .len = strlen(text)};
    return check_head(o, type, body, e);
}

static bool is_younger(const struct orders *o, struct mono now, int64_t seconds)
{
    return o->nonce[0] && mono_sub(now, o->asked).ns < span_s(seconds).ns;
}

const char *orders_ask(struct orders *o, struct mono now)
{
    if (is_younger(o, now, ASK_AGAIN_S))
        return o->nonce;
    digest_random_hex(o->nonce, ORDER_NONCE_HEX / 2);
    o->asked = now;
    return o->nonce;
}

bool orders_asked(const struct orders *o, struct mono now, const char *nonce)
{
    return is_younger(o, now, ANSWER_S) && strcmp(o->nonce, nonce) == 0;
}
