/* SPDX-License-Identifier: Apache-2.0 */
#include "store/etcd/election.h"

#include <assert.h>
#include <string.h>

void election_init(struct election *n, const char *instance, struct span lease)
{
    assert(strlen(instance) == LAYOUT_MARK_BYTES - 1 && lease.ns > 0);
    *n = (struct election){.lease = lease};
    memcpy(n->instance, instance, sizeof n->instance);
}

void election_read(struct election *n, const struct wire_kv *leader, struct mono now)
{
    bool same = n->was_read && n->seen.created == (leader ? leader->created : 0) &&
                n->seen.modified == (leader ? leader->modified : 0);
    n->was_read = true;
    if (!same) {
        memset(&n->seen, 0, sizeof n->seen);
        n->seen.since = now;
        if (leader) {
            n->seen.created = leader->created;
            n->seen.modified = leader->modified;
            layout_told_read(leader, &n->seen.told, NULL);
        }
    }
    if (n->created && n->seen.created != n->created)
        election_lost(n);
    if (!n->created && n->seen.created && strcmp(n->seen.told.instance, n->instance) == 0)
        n->created = n->seen.created; /* the answer to its creation was lost; it holds once it is renewed */
}

void election_won(struct election *n, uint64_t created, struct mono sent)
{
    struct mono until = mono_add(sent, n->lease);
    if (n->created != created)
        n->holds = false;
    n->created = created;
    if (!n->holds || until.ns > n->until.ns) /* answers may overtake each other */
        n->until = until;
    n->holds = true;
}

void election_lost(struct election *n)
{
    n->created = 0;
    n->holds = false;
}

/* The other one's lease counts, when it is longer. */
static struct span wait_of(const struct election *n)
{
    struct span theirs = span_ms((int64_t)n->seen.told.lease_ms);
    struct span lease = theirs.ns > n->lease.ns ? theirs : n->lease;
    return (struct span){lease.ns + lease.ns / 4};
}

struct span election_due(const struct election *n, struct mono now)
{
    assert(n->seen.created && !n->created && "another's key was read");
    return (struct span){wait_of(n).ns - mono_sub(now, n->seen.since).ns};
}

enum election_act election_next(const struct election *n, struct mono now)
{
    if (n->created)
        return ELECTION_RENEW;
    if (!n->was_read)
        return ELECTION_WAIT;
    if (!n->seen.created)
        return ELECTION_CREATE;
    return election_due(n, now).ns < 0 ? ELECTION_REMOVE : ELECTION_WAIT;
}

bool election_holds(const struct election *n, struct mono now)
{
    return n->holds && now.ns < n->until.ns;
}
