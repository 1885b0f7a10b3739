/* SPDX-License-Identifier: Apache-2.0 */
/* What a client says of its request, and what is remembered of it. */
#include "api/request.h"

#include "base/digest.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int request_id_read(const char *header, char out[static REQUEST_ID_BYTES_MAX + 1], struct err *e)
{
    const size_t len = strlen(header);
    const bool quoted = len >= 2 && header[0] == '"' && header[len - 1] == '"';
    const size_t n = quoted ? len - 2 : len;
    *out = '\0';
    if (n <= REQUEST_ID_BYTES_MAX)
        snprintf(out, REQUEST_ID_BYTES_MAX + 1, "%.*s", (int)n, header + quoted);
    if (!request_id_ok(out))
        return err_set(e, -EINVAL, "Idempotency-Key: an id has %d to %d letters, digits, '-' and '_'",
                       REQUEST_ID_BYTES_MIN, REQUEST_ID_BYTES_MAX);
    return 0;
}

/* Of what is asked for. How its client counts as the same is not part of it. */
static void request_digest(const struct call *c, char out[static REQUEST_ASKS_BYTES + 1])
{
    size_t len;
    unsigned char sum[32];
    const char *method = http_method_name(c->request), *path = http_path(c->request);
    const char *body = http_body(c->request, &len);
    const struct digest_piece pieces[] = {
        {method, strlen(method) + 1}, {path, strlen(path) + 1}, {body, len}};
    digest_sha256_pieces(pieces, sizeof pieces / sizeof pieces[0], sum);
    digest_hex(sum, REQUEST_ASKS_BYTES / 2, out);
}

int request_shown(const char *what, uint64_t revision, struct err *e)
{
    return err_set(
        e, -EEXIST,
        "this request made a %s (revision %llu), which is shown once only; end it, and make another one",
        what, (unsigned long long)revision);
}

int request_enter(struct call *c, struct request_text *text, struct err *e)
{
    const char *header = http_header(c->request, "Idempotency-Key");
    if (!header)
        return 0;
    const int rc = request_id_read(header, text->id, e);
    if (rc < 0)
        return rc;
    request_digest(c, text->asks);
    c->asked = (struct client_request){.id = text->id, .asks = text->asks};
    c->begun = cluster_request(c->api->cluster, text->id);
    return c->begun ? remembered_check(c->begun, c->actor, text->asks, e) : 0;
}

struct client_request call_request(const struct call *c, size_t of)
{
    return (struct client_request){c->asked.id, c->asked.asks, of};
}

bool call_did(const struct call *c, const char *node)
{
    return c->begun && remembered_part(c->begun, node);
}
