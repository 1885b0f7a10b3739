/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a machine gets its certificate: a one-time token once, its own certificate afterwards. The
 * token is used up by a commit before the certificate is made, so that it can never serve twice; a
 * machine that loses the answer asks for another token.
 */
#include "controller/agents_internal.h"

#include "base/digest.h"
#include "base/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { REQUEST_BYTES_MAX = 8 << 10, JOIN_NOTES_MAX = 10 /* a minute, for anybody may try */ };

static int sign(struct agents *a, const char *name, const char *request, char **pem, struct err *e)
{
    struct identity id = {.kind = IDENTITY_NODE};
    memcpy(id.name, name, strlen(name) + 1);
    return authority_sign(a->with.authority, request, &id, NULL, a->certificate_life, pem, e);
}

/* What the commit of a token needs afterwards. */
struct joining {
    struct session *session;
    char *name;
    char *request;
};

static void on_token_used(void *arg, const struct outcome *o)
{
    struct joining *j = arg;
    struct session *s = j->session;
    struct err e = {0};
    CLEANUP_FREE char *pem = NULL;
    s->waits = false;
    int rc = o->rc;
    if (rc < 0)
        e = *o->why;
    if (s->peer && rc == 0)
        rc = sign(s->agents, j->name, j->request, &pem, &e);
    if (s->peer && rc == 0) {
        log_info("node %s joined from %s", j->name, stream_peer_address(peer_stream(s->peer)));
        session_send(s, FRAME_JOINED,
                     json_pack("{s:s,s:s}", "certificate", pem, "authority",
                               authority_pem(s->agents->with.authority)));
        peer_close(s->peer);
    } else if (s->peer) {
        if (rare_may(&s->agents->join_notes, JOIN_NOTES_MAX))
            log_warn("%s may not join as node %s: %s", stream_peer_address(peer_stream(s->peer)), j->name,
                     e.msg);
        peer_refuse(s->peer, rc, "%s", e.msg);
    }
    if (!s->peer)
        free(s); /* it ended while the token was committed */
    free(j->name);
    free(j->request);
    free(j);
}

void join_request(struct session *s, const json_t *body)
{
    const char *token = NULL, *name = NULL, *request = NULL;
    struct err e = {0};
    if (json_take_string(body, "token", &token, &e) < 0 || json_take_string(body, "name", &name, &e) < 0 ||
        json_take_string(body, "request", &request, &e) < 0) {
        session_refuse(s, -EINVAL, "%s", e.msg);
        return;
    }
    if (!hostlist_name_ok(name)) {
        session_refuse(s, -EINVAL, "\"%.64s\" is not the name of a node", name);
        return;
    }
    if (strlen(request) > REQUEST_BYTES_MAX) { /* anybody may ask, and it is kept until the commit */
        session_refuse(s, -EINVAL, "a certificate request of more than %d bytes", REQUEST_BYTES_MAX);
        return;
    }
    s->asked = true;
    s->waits = true;
    struct joining *j = mem_alloc(sizeof *j);
    *j = (struct joining){s, mem_dup(name), mem_dup(request)};
    char hash[65];
    digest_sha256(token, strlen(token), hash);
    CLEANUP_HOSTLIST struct hostlist one = {0};
    hostlist_add(&one, name);
    const struct command cmd = {
        .kind = COMMAND_TOKEN_USE, .actor = "fettled", .at = wall_now(), .nodes = &one, .token = hash};
    committer_submit(s->agents->with.committer, &cmd, on_token_used, j);
}

void join_renew(struct session *s, const json_t *body)
{
    const char *request = NULL;
    struct err e = {0};
    CLEANUP_FREE char *pem = NULL;
    int rc = json_take_string(body, "request", &request, &e);
    if (rc == 0)
        rc = sign(s->agents, s->member->name, request, &pem, &e);
    if (rc < 0) {
        session_refuse(s, rc, "%s", e.msg);
        return;
    }
    log_info("node %s has a new certificate", s->member->name);
    session_send(s, FRAME_RENEWED, json_pack("{s:s}", "certificate", pem));
}

void join_turn(struct agents *a, struct mono now)
{
    unsigned more = rare_turn(&a->join_notes, now);
    if (more > 0)
        log_warn("in the last minute %u more requests to join were refused", more);
}

void join_make_token(const struct agents *a, char **token, char **hash)
{
    char secret[33], digest[65];
    struct text t = {0};
    text_printf(&t, "fettle1.%s.%s", authority_fingerprint(a->with.authority), digest_random_hex(secret, 16));
    *hash = mem_dup(digest_sha256(t.s, t.len, digest));
    *token = text_take(&t);
}
