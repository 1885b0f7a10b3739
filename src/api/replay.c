/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The committer alone knows what was committed (commit_job.c), and asks again when it decides. Here the
 * answer is given before the call is read against the present state, in which it may have no sense any more:
 * a node that was forgotten cannot be forgotten. A power command goes on to its own function, which waits for
 * the end of each command that is under way.
 */
#include "api/request.h"

#include <string.h>

/* The nodes that all parts changed: those that are named when a list was too long to be kept. */
static void add_changed(const struct remembered *r, const struct hostlist *named, struct hostlist *out)
{
    for (size_t i = 0; i < r->n; i++) {
        CLEANUP_HOSTLIST struct hostlist part = {0};
        const char *changed = r->parts[i].changed;
        if (!changed || hostlist_parse(changed, &part, NULL) < 0) {
            hostlist_fini(out);
            hostlist_add_all(out, named);
            return;
        }
        hostlist_add_all(out, &part);
    }
}

/* The class whose baseline the call was about; NULL for none. */
static const char *baseline_class(const struct call *c, const struct ask *a)
{
    const struct member *m =
        c->route == ROUTE_baseline_accept ? cluster_find(c->api->cluster, a->node) : NULL;
    return m ? cluster_classes(c->api->cluster)->list[m->class].name : a->class_name;
}

static int replay_changed(struct call *c, const struct remembered *r, struct err *e)
{
    struct ask a = {0};
    CLEANUP_HOSTLIST struct hostlist changed = {0};
    const bool several = *r->parts[0].node && r->n > 1;
    const int rc = call_ask(c, &a, e);
    struct outcome o = {
        .changed = &changed, .replayed = true, .claim = several ? NULL : r->parts[r->n - 1].claim};
    for (size_t i = 0; i < r->n; i++)
        o.revision = r->parts[i].revision > o.revision ? r->parts[i].revision : o.revision;
    if (rc == 0) {
        add_changed(r, &a.nodes, &changed);
        call_replay(c, &a.nodes, baseline_class(c, &a), &o);
    }
    ask_fini(&a);
    return rc < 0 ? rc : CALL_LATER;
}

int request_replay(struct call *c, struct err *e)
{
    const struct remembered *r = c->begun;
    if (c->route == ROUTE_token_create || c->route == ROUTE_certificate_create)
        return request_shown(c->route == ROUTE_token_create ? "token" : "certificate", r->parts[0].revision,
                             e);
    return c->route == ROUTE_power ? 0 : replay_changed(c, r, e);
}
