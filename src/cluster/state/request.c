/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/state/request.h"

#include "cluster/state/state.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

bool request_id_ok(const char *id)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    const size_t len = strnlen(id, REQUEST_ID_BYTES_MAX + 1);
    return len >= REQUEST_ID_BYTES_MIN && len <= REQUEST_ID_BYTES_MAX && strspn(id, letters) == len;
}

const struct remembered *cluster_request(const struct cluster *c, const char *id)
{
    struct request_slot *s;
    HASH_FIND_STR(c->requests, id, s);
    return s && s->r.n ? &s->r : NULL;
}

const struct request_part *remembered_part(const struct remembered *r, const char *node)
{
    size_t from = 0, to = r->n;
    while (from < to) {
        const size_t middle = from + (to - from) / 2;
        const int d = strcmp(r->parts[middle].node, node);
        if (d == 0)
            return &r->parts[middle];
        if (d < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return NULL;
}

bool remembered_is_whole(const struct remembered *r)
{
    assert(r->n > 0);
    const struct request_part *last = &r->parts[r->n - 1];
    return *last->node ? r->n >= last->of : last->next >= last->of;
}

int remembered_check(const struct remembered *r, const char *by, const char *asks, struct err *e)
{
    const unsigned long long at = r->parts[r->n - 1].revision;
    if (strcmp(r->by, by) != 0)
        return err_set(e, -ENOTUNIQ, "another caller used this request id (revision %llu)", at);
    if (strcmp(r->asks, asks) != 0)
        return err_set(e, -ENOTUNIQ, "this request id was used for another request (revision %llu)", at);
    return 0;
}

/* Those that are too old leave, and the oldest while there are too many. A commit lets few records go, since
 * it has little room: where many commits with one request each are followed by commits with very many, there
 * may be some more than REQUESTS_MAX for a while. */
size_t cluster_requests_leave(const struct cluster *c, struct wall at, size_t n, size_t bytes)
{
    const struct wall oldest = {at.ns - span_s(REQUEST_AGE_S).ns};
    size_t leave = 0;
    n += c->n_request_parts;
    bytes += c->request_bytes;
    for (const struct request_record *r = c->request_records; r && leave < REQUESTS_LEAVE_MAX; r = r->next) {
        if (r->at.ns >= oldest.ns && n <= REQUESTS_MAX && bytes <= REQUESTS_BYTES_MAX)
            break;
        n -= r->n;
        bytes -= r->bytes;
        leave++;
    }
    return leave;
}
