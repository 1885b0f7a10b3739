/* SPDX-License-Identifier: Apache-2.0 */
#include "beat/beat.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

void beat_init(struct beat *b, struct mono now)
{
    *b = (struct beat){.heard = now, .floor = now, .liveness = LIVENESS_UNHEARD};
}

int beat_open(struct beat *b, uint64_t instance, uint64_t key, bool occupied, struct err *e)
{
    if (instance == 0)
        return err_set(e, -EINVAL, "an agent's instance may not be zero");
    bool same = instance == b->instance, other_key = key != 0 && b->key != 0 && key != b->key;
    for (int i = 0; i < BEAT_FORMER_MAX && !same; i++)
        if (b->former[i] == instance)
            return err_set(e, -EACCES, "agent instance %016" PRIx64 " was replaced by a newer one", instance);
    if (occupied && (!same || other_key))
        return err_set(e, -EBUSY, "another live agent has this name");
    b->key = key;
    b->opened = true;
    if (same)
        return 0;
    if (b->instance != 0) {
        memmove(b->former + 1, b->former, sizeof b->former - sizeof b->former[0]);
        b->former[0] = b->instance;
    }
    b->instance = instance;
    b->seq = 0;
    return 0;
}

int beat_take(struct beat *b, struct mono now, uint64_t instance, uint64_t seq, struct err *e)
{
    if (instance == 0 || instance != b->instance)
        return err_set(e, -EBUSY, "a heartbeat of another instance than the session's");
    if (seq <= b->seq)
        return err_set(e, -EALREADY, "heartbeat %" PRIu64 " again; the last was %" PRIu64, seq, b->seq);
    if (b->key != 0 && !b->opened && seq - b->seq > BEAT_LEAP_MAX)
        return err_set(e, -ERANGE, "heartbeat %" PRIu64 " leaps; the last was %" PRIu64, seq, b->seq);
    b->seq = seq;
    b->opened = false;
    beat_vouch(b, now);
    return 0;
}

void beat_vouch(struct beat *b, struct mono now)
{
    b->heard = now;
    if (b->floor.ns > now.ns)
        b->floor = now;
    b->liveness = LIVENESS_LIVE;
}

void beat_excuse(struct beat *b, struct mono from)
{
    if (b->liveness == LIVENESS_SILENT)
        return;
    if (b->floor.ns < from.ns)
        b->floor = from;
    if (b->heard.ns < from.ns)
        b->heard = from;
    if (b->liveness == LIVENESS_LATE)
        b->liveness = LIVENESS_LIVE;
}

void beat_correct(struct beat *b, struct mono at)
{
    if (at.ns < b->floor.ns)
        at = b->floor;
    if (at.ns < b->heard.ns)
        b->heard = at;
}

enum liveness beat_judge(const struct beat *b, struct mono now, struct mono known,
                         const struct beat_timeouts *p)
{
    if (mono_sub(known, b->heard).ns >= p->silent.ns || b->liveness == LIVENESS_SILENT)
        return LIVENESS_SILENT;
    if (b->liveness == LIVENESS_UNHEARD)
        return LIVENESS_UNHEARD;
    return mono_sub(now, b->heard).ns >= p->late.ns ? LIVENESS_LATE : LIVENESS_LIVE;
}

struct mono beat_due(const struct beat *b, const struct beat_timeouts *p)
{
    if (b->liveness == LIVENESS_SILENT)
        return (struct mono){INT64_MAX};
    return mono_add(b->heard,
                    b->liveness == LIVENESS_LIVE && p->late.ns < p->silent.ns ? p->late : p->silent);
}

bool beat_parse_instance(const char *text, uint64_t *out)
{
    uint64_t n = 0;
    if (strlen(text) != 16 || strspn(text, "0123456789abcdef") != 16)
        return false;
    for (const char *p = text; *p; p++)
        n = n << 4 | (uint64_t)(*p <= '9' ? *p - '0' : *p - 'a' + 10);
    *out = n;
    return n != 0;
}
