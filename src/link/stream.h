/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_LINK_STREAM_H
#define FETTLE_LINK_STREAM_H

#include "base/clock.h"
#include "base/err.h"
#include "link/tls.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <uv.h>

/*
 * A byte stream on the loop: a socket, with or without TLS, that calls back with bytes and queues writes up
 * to a bound. The agent link and the HTTP server both use it.
 *
 * Ten thousand peers may come at once. A listener accepts eagerly. No TLS object exists until the socket is
 * readable. Handshakes take at most 2 ms of a turn of the loop, started ones first; an unfinished one is
 * closed after 30 s. Silent sockets cost a descriptor, never the turn of another stream.
 *
 * A stream has a millisecond of a turn of the loop (stream_has_time). A peer that sends more than can be
 * carried out in that time waits behind all the others, and its socket is not read meanwhile.
 *
 * All callbacks come from the loop, never from inside a call. on_close comes exactly once for each stream
 * that was opened, also after stream_close; after it the stream is gone.
 */

struct stream;

struct stream_events {
    /* The handshake is done (at once for plain sockets). stream_peer has the peer's identity. */
    void (*on_open)(struct stream *s, void *arg);
    /* n > 0 bytes arrived. The stream owns them; they live until the callback returns. */
    void (*on_bytes)(struct stream *s, void *arg, const char *bytes, size_t n);
    /* The queue of writes is empty again. May be NULL. */
    void (*on_drained)(struct stream *s, void *arg);
    /* The stream ends; why is NULL for a clean end by either side. */
    void (*on_close)(struct stream *s, void *arg, const struct err *why);
};

/* Takes over a connected, non-blocking descriptor. tls is NULL for a plain socket. queue_bytes_max bounds the
 * queue of writes. */
struct stream *stream_accept(uv_loop_t *loop, int fd, struct tls_context *tls, size_t queue_bytes_max,
                             const struct stream_events *events, void *arg);

/* Dials host:port ("127.0.0.1"; a worker thread looks a name up). expect, when not NULL, is the URI that the
 * server's certificate must carry, or one of its prefixes ending in ':' ("any controller"). Fails through
 * on_close (-ETIMEDOUT after 30 s, handshake included). */
struct stream *stream_dial(uv_loop_t *loop, const char *host, uint16_t port, struct tls_context *tls,
                           const char *expect, size_t queue_bytes_max, const struct stream_events *events,
                           void *arg);

/* Queues a copy of the bytes. -ENOBUFS when they would exceed the bound: nothing is queued then, and the
 * caller closes the stream. A write to a closing stream is silently dropped. */
int stream_write(struct stream *s, const void *bytes, size_t n);
size_t stream_queued(const struct stream *s);
/* An upper bound of the bytes that the peer has not taken: queued here, or held by this system for it. Over
 * TCP the peer's system takes them, whether the peer reads them or not. */
size_t stream_untaken(const struct stream *s);

/* Whether the stream's share of this turn of the loop still lasts. For an on_bytes that carries out several
 * requests one after another; the first request is always in time. */
bool stream_has_time(const struct stream *s);

/* Stops and restarts reading: back-pressure for the peer. */
void stream_pause(struct stream *s);
void stream_resume(struct stream *s);

/* Sends the queue, for at most 5 s, then closes; on_close follows. */
void stream_close(struct stream *s);
/* Closes now; on_close follows, with this reason when it is not NULL. */
void stream_abort(struct stream *s, const struct err *why);

/* The peer's identity from its certificate; kind IDENTITY_NONE without one. */
const struct identity *stream_peer(const struct stream *s);
/* Credentials of a local socket's peer; false for other sockets. */
bool stream_peer_user(const struct stream *s, uid_t *uid, pid_t *pid);
/* As whom the person behind that peer signed in to this host, also when sudo or su made another user of the
 * process; STREAM_NO_LOGIN when nobody did, or the peer is gone. */
#define STREAM_NO_LOGIN ((uid_t)-1)
uid_t stream_peer_login(const struct stream *s);
/* The groups of a local socket's peer when it connected, `max` at most. Returns their number. */
size_t stream_peer_groups(const struct stream *s, gid_t *groups, size_t max);
/* "127.0.0.1:4711" or "local"; and the TCP port, 0 for a local socket. */
const char *stream_peer_address(const struct stream *s);
uint16_t stream_peer_port(const struct stream *s);
/* True when the peer's address is in 127.0.0.0/8 or is ::1: the peer is on this host. */
bool stream_peer_loopback(const struct stream *s);
/* The peer's address without its port. Of IPv6 only the first 64 bits, because one host may choose among the
 * others: "192.0.2.7", "2001:db8::/64"; "local". */
const char *stream_peer_network(const struct stream *s);

/* Judges the certificate of this peer again (tls_context_judge), on all its open connections of the loop.
 * Connections whose certificate no longer counts are aborted with the reason. */
void stream_recheck(uv_loop_t *loop, enum identity_kind kind, const char *name);

/* A listening socket whose connections become streams. */
struct listener;
typedef void listener_fn(void *arg, int fd); /* a new connection; pass it to stream_accept */

/* Listens on address:port (port 0: the system picks one). */
int listener_open_tcp(uv_loop_t *loop, const char *address, uint16_t port, listener_fn *fn, void *arg,
                      struct listener **out, struct err *e);
/* The path at which listener_open_local makes the socket: the target of path when that is a symbolic link to
 * an absolute path, otherwise path itself. The caller frees it. */
char *listener_local_path(const char *path);
/* Listens on a local socket at path with mode 0666 (permissions are decided by credentials). A stale socket
 * file is replaced; when a process answers there, -EBUSY. Makes the socket's directory when the directory
 * above exists. */
int listener_open_local(uv_loop_t *loop, const char *path, listener_fn *fn, void *arg, struct listener **out,
                        struct err *e);
uint16_t listener_port(const struct listener *l);
/* How many connections were closed at once because descriptors were short. */
uint64_t listener_dropped(const struct listener *l);
/* Stops accepting, frees it and removes the socket's file. Streams live on. */
void listener_close(struct listener *l);

/* Ends every stream of this loop at once, each with its on_close. For shutting down. */
void stream_abort_all(uv_loop_t *loop);

#endif
