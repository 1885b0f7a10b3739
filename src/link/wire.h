/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_LINK_WIRE_H
#define FETTLE_LINK_WIRE_H

#include "base/err.h"
#include "link/tls.h"

/*
 * A socket with or without TLS, one non-blocking step at a time. It knows no loop and no queues.
 */

struct wire {
    int fd;                 /* -1 before there is one */
    struct ssl_ctx_st *ctx; /* NULL for a plain socket */
    struct ssl_st *ssl;     /* from the first step of the handshake on */
    bool client;
    int socket_error; /* errno of the last recv or send; 0 when the peer was gone */
};

enum wire_result {
    WIRE_DONE,
    WIRE_WANT_READ, /* again when the socket is readable */
    WIRE_WANT_WRITE,
    WIRE_END,   /* the peer said goodbye */
    WIRE_FAILED /* with a sentence; only wire_fini may follow */
};

/* Keeps a reference to the context until wire_fini. The wire must not move. */
void wire_init(struct wire *w, int fd, struct tls_context *tls, bool client);
/* Closes the socket. */
void wire_fini(struct wire *w);

/* WIRE_DONE once both sides trust each other; *peer is the identity of the other side. expect as in
 * stream_dial. */
enum wire_result wire_handshake(struct wire *w, const char *expect, struct identity *peer, struct err *e);
/* Whether the peer's certificate still counts, by the judge of the context (tls_context_judge). */
int wire_judge(const struct wire *w, const struct identity *peer, struct err *e);
enum wire_result wire_read(struct wire *w, char *buf, size_t cap, size_t *n, struct err *e);
enum wire_result wire_write(struct wire *w, const char *bytes, size_t n, size_t *written, struct err *e);
/* True when bytes were taken from the socket and not yet read from here. */
bool wire_has_pending(const struct wire *w);
/* Says goodbye; sends nothing after it. */
void wire_end(struct wire *w);

#endif
