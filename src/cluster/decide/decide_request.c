/* SPDX-License-Identifier: Apache-2.0 */
/* What a commit remembers of the requests that it carries out, and which older ones leave for it. */
#include "cluster/decide/decide.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static void remember_one(const struct request_note *note, struct text *t)
{
    const struct command *cmd = note->cmd;
    const bool each = cmd->request.of > 0;
    assert(request_id_ok(cmd->request.id) && (!each || cmd->nodes->n == 1));
    CLEANUP_FREE char *changed = hostlist_fold((const char *const *)note->changed->names, note->changed->n);
    const struct request_made m = {.id = cmd->request.id,
                                   .by = cmd->actor,
                                   .asks = cmd->request.asks,
                                   .node = each ? cmd->nodes->names[0] : "",
                                   .next = each ? 0 : note->next,
                                   .of = each ? cmd->request.of : cmd->nodes->n,
                                   .changed = strlen(changed) <= REQUEST_CHANGED_BYTES_MAX ? changed : NULL,
                                   .claim = note->claim};
    request_made_write(&m, t);
}

void decide_remember(const struct cluster *c, uint64_t revision, const struct request_note *notes, size_t n,
                     size_t ops_max, struct decision *d)
{
    const struct wall at = notes[0].cmd->at;
    CLEANUP_FREE char *key = request_key(revision);
    struct text t = {0};
    text_printf(&t, "{\"at\":\"%lld\",\"made\":[", (long long)at.ns);
    for (size_t i = 0; i < n; i++) {
        text_add(&t, i ? "," : "");
        remember_one(&notes[i], &t);
    }
    text_add(&t, "]}");
    size_t leave = cluster_requests_leave(c, at, n, t.len);
    decision_add(d, "request/", key, text_take(&t));
    for (const struct request_record *r = c->request_records; leave > 0 && d->n_ops < ops_max;
         r = r->next, leave--) {
        CLEANUP_FREE char *old = request_key(r->revision);
        decision_add(d, "request/", old, NULL);
    }
}
