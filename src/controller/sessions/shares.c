/* SPDX-License-Identifier: Apache-2.0 */
/* The nodes for which each collector speaks, and how it learns of them. */
#include "controller/sessions/collectors_inside.h"

#include "base/log.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

enum {
    SHARES_A_TURN = 8,         /* are told; a thousand nodes each, as a rule */
    SHARE_BYTES_MAX = 60 << 10 /* below FRAME_BODY_BYTES_MAX */
};

/* A collector speaks for itself and for the nodes of its share alone. */
struct member *shares_speaks_for(struct session *s, struct member *m)
{
    if (m && (m == s->member || share_collector_of(s->agents->share, m) == s->member))
        return m;
    s->foreign++;
    return NULL;
}

struct member *shares_spoken_for(struct session *s, const char *name)
{
    return shares_speaks_for(s, cluster_find(s->agents->with.cluster, name));
}

void shares_send(struct session *s, struct member *const *nodes, size_t n)
{
    CLEANUP_FREE const char **names = mem_alloc((n + 1) * sizeof *names);
    for (size_t i = 0; i < n; i++)
        names[i] = nodes[i]->name;
    CLEANUP_FREE char *folded = hostlist_fold(names, n);
    for (; strlen(folded) > SHARE_BYTES_MAX; folded = hostlist_fold(names, n)) {
        /* The collector sends the remaining nodes away, and they are then heard here. */
        n -= n / 10 + 1;
        free(folded);
    }
    ended_tell(s, nodes, n);
    if (s->named_max <
        n + 1) /* with itself; a node that was taken from it may still be in a batch on its way */
        s->named_max = n + 1;
    s->epoch = ++s->agents->epoch;
    log_debug(LOG_COLLECT, "collector %s: share %llu has %zu nodes", s->member->name,
              (unsigned long long)s->epoch, n);
    session_send(s, FRAME_SHARE, json_pack("{s:I,s:s}", "epoch", (json_int_t)s->epoch, "nodes", folded));
}

bool shares_tell(struct agents *a)
{
    size_t told = 0;
    struct session *s;
    DL_FOREACH2(a->collecting, s, next_collecting)
    {
        struct member *const *nodes;
        if (!s->share_due)
            continue;
        if (told++ == SHARES_A_TURN)
            return true;
        s->share_due = false;
        size_t n = share_members(a->share, s->member, &nodes);
        shares_send(s, nodes, n);
    }
    return false;
}
