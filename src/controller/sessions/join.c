/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a machine gets its certificate: a one-time token once, its own certificate afterwards. The
 * token is used up, and the certificate written down, by a commit before it is given away, so that neither
 * can serve twice; a machine that loses the answer asks for another token.
 */
#include "controller/sessions/frames_inside.h"

#include "base/digest.h"
#include "base/log.h"
#include "cluster/cluster.h"
#include "controller/sessions/certificates.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    REQUEST_BYTES_MAX = 8 << 10,
    HOST_BYTES_MAX = 64,
    JOIN_NOTES_MAX = 10 /* a minute, because anybody may try */
};

static int join_sign(struct agents *a, const char *name, const char *request, char **pem, struct err *e)
{
    struct identity id = {.kind = IDENTITY_NODE};
    memcpy(id.name, name, strlen(name) + 1);
    return authority_sign(a->with.authority, request, &id, NULL, a->certificate_life, pem, e);
}

static void join_refuse(struct session *s, const char *name, const struct err *why)
{
    if (rare_may(&s->agents->join_notes, JOIN_NOTES_MAX))
        log_warn("%s may not %s as node %s: %s", stream_peer_address(peer_stream(s->peer)),
                 s->member ? "renew its certificate" : "join", name, why->msg);
    session_refuse(s, why->code, "%s", why->msg);
}

/* What the answer needs when the commit is done. */
struct joining {
    struct session *session;
    bool renews;
    char *name;
    char *pem;
};

static void join_give(struct session *s, const struct joining *j)
{
    struct agents *a = s->agents;
    if (j->renews) {
        session_send(s, FRAME_RENEWED, json_pack("{s:s}", "certificate", j->pem));
        return;
    }
    log_info("node %s joined from %s", j->name, stream_peer_address(peer_stream(s->peer)));
    session_send(
        s, FRAME_JOINED,
        json_pack("{s:s,s:s}", "certificate", j->pem, "authority", authority_pem(a->with.authority)));
    peer_close(s->peer);
}

static void on_committed(void *arg, const struct outcome *o)
{
    struct joining *j = arg;
    struct session *s = j->session;
    s->waits = false;
    if (s->peer && o->rc == 0) {
        join_give(s, j);
    } else if (s->peer) {
        struct err why = *o->why;
        why.code = o->rc;
        join_refuse(s, j->name, &why);
    } else {
        free(s); /* it ended meanwhile */
    }
    free(j->name);
    free(j->pem);
    free(j);
}

/* Gives the certificate away when the command that says so is committed. Takes pem over. */
static void join_commit(struct session *s, struct command *cmd, const char *name, char *pem)
{
    CLEANUP_HOSTLIST struct hostlist one = {0};
    struct joining *j = mem_alloc(sizeof *j);
    cmd->actor = cmd->kind == COMMAND_TOKEN_USE ? "fettled" : name;
    cmd->at = wall_now();
    cmd->nodes = &one;
    s->waits = true;
    *j = (struct joining){s, cmd->kind == COMMAND_CERTIFICATE_RENEW, mem_dup(name), pem};
    hostlist_add(&one, name);
    committer_submit(s->agents->with.committer, cmd, on_committed, j);
}

/* The address without port and brackets. */
static const char *host_of(const struct session *s, char host[static HOST_BYTES_MAX])
{
    const char *address = stream_peer_address(peer_stream(s->peer));
    const char *from = *address == '[' ? address + 1 : address, *end = strrchr(from, ':');
    size_t len = *address == '[' ? strcspn(from, "]") : end ? (size_t)(end - from) : strlen(from);
    snprintf(host, HOST_BYTES_MAX, "%.*s", (int)len, from);
    return host;
}

/* An unknown token costs no signature, because anybody may try. */
static void join_ask(struct session *s, const char *token, const char *name, const char *request,
                     const char *machine)
{
    struct agents *a = s->agents;
    char hash[65], host[HOST_BYTES_MAX];
    struct err e = {0};
    CLEANUP_FREE char *pem = NULL;
    struct command cmd = {.kind = COMMAND_TOKEN_USE,
                          .token_use = {.hash = hash, .address = host_of(s, host), .machine = machine}};
    digest_sha256(token, strlen(token), hash);
    int rc = cluster_token_known(a->with.cluster, hash) ? 0 : err_set(&e, -EACCES, "%s", TOKEN_UNKNOWN);
    if (rc == 0)
        rc = join_sign(a, name, request, &pem, &e);
    if (rc == 0)
        rc = certificate_terms(pem, &cmd.token_use.terms, &e);
    if (rc == 0)
        join_commit(s, &cmd, name, STEAL(pem));
    else
        join_refuse(s, name, &e);
}

void join_request(struct session *s, const json_t *body)
{
    const char *token = NULL, *name = NULL, *request = NULL, *machine = "";
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
    if (strlen(request) > REQUEST_BYTES_MAX) { /* anybody may ask */
        session_refuse(s, -EINVAL, "a certificate request of more than %d bytes", REQUEST_BYTES_MAX);
        return;
    }
    json_take_string(body, "machine", &machine, NULL);
    if (strlen(machine) > MACHINE_NAME_BYTES_MAX) {
        session_refuse(s, -EINVAL, "the UUID of a machine has at most %d bytes", MACHINE_NAME_BYTES_MAX);
        return;
    }
    s->asked = true;
    join_ask(s, token, name, request, machine);
}

void join_renew(struct session *s, const json_t *body)
{
    const char *request = NULL;
    struct err e = {0};
    CLEANUP_FREE char *pem = NULL;
    struct command cmd = {.kind = COMMAND_CERTIFICATE_RENEW};
    if (s->waits) {
        session_refuse(s, -EBUSY, "a certificate for node \"%s\" is being made", s->member->name);
        return;
    }
    if (json_take_string(body, "request", &request, &e) == 0 &&
        join_sign(s->agents, s->member->name, request, &pem, &e) == 0 &&
        certificate_terms(pem, &cmd.renew.next, &e) == 0) {
        cmd.renew.of = certificate_terms_of(stream_peer(peer_stream(s->peer)));
        join_commit(s, &cmd, s->member->name, STEAL(pem));
    } else {
        session_refuse(s, e.code, "%s", e.msg);
    }
}

static void on_used(void *arg, const struct outcome *o)
{
    if (o->rc < 0)
        log_warn("the use of a certificate is not recorded: %s", o->why->msg);
}

void join_hello(struct session *s)
{
    if (!s->peer)
        return;
    const struct identity *who = stream_peer(peer_stream(s->peer));
    CLEANUP_FREE char *subject = identity_subject(who);
    const struct holder *h = cluster_holder(s->agents->with.cluster, subject);
    CLEANUP_HOSTLIST struct hostlist one = {0};
    if (!h || who->serial <= h->least)
        return;
    hostlist_add(&one, who->name);
    const struct command cmd = {.kind = COMMAND_CERTIFICATE_USED,
                                .actor = "fettled",
                                .at = wall_now(),
                                .nodes = &one,
                                .used = {who->serial}};
    committer_submit(s->agents->with.committer, &cmd, on_used, NULL);
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
