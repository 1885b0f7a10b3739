/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_HTTP_SERVER_H
#define FETTLE_HTTP_SERVER_H

#include "base/err.h"
#include "fair/fair.h"
#include "link/stream.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * HTTP/1.1 for people and programs: whole requests in, whole answers or a stream of events out.
 *
 * Everything a client can make the server hold is bounded: 16 KiB of request line and headers, 1 MiB of body,
 * 10 s for the headers, 30 s for the body, 30 s without progress of an answer's bytes or of an event
 * stream's, 60 s idle between requests, and the places at each door. Content-Length together with
 * Transfer-Encoding is refused, as is an Origin header other than this server's own. Every error is answered
 * as {"error":{"code":"…","message":"…"}} (err.tbl) before the close.
 *
 * The local socket and TLS are two doors, each with places of its own (fair/fair.h). A connection in its
 * handshake has no place yet. There may be 512 handshakes; another one replaces the one that has waited
 * longest, of the address that has most of them. The loop carries out requests in turns by party, within the
 * share of a turn for work that can wait (base/loop.h); a request that takes longer asks for further turns
 * (http_again).
 */

/* HEAD comes as GET; its body is left out. */
enum http_method { HTTP_GET_, HTTP_POST_, HTTP_PUT_, HTTP_DELETE_, HTTP_OTHER_ };

struct http_request; /* one exchange; lives until it was answered and its bytes are sent, or the client is
                        gone */

/* Handles one whole request. Answer it now or later, exactly once. on_gone comes if the client goes away
 * before; the request must not be touched after it. */
typedef void http_request_fn(void *arg, struct http_request *r);

/* Gives the party at the other end of an open stream. */
typedef void http_party_fn(void *arg, struct stream *s, struct party *out);

struct http_server;
struct http_server *http_server_create(uv_loop_t *loop, const struct slots_limits *door, http_request_fn *fn,
                                       http_party_fn *who, void *arg);
/* Listens, at most once in each way. The caller keeps tls, which must outlive the server. */
int http_server_listen_local(struct http_server *s, const char *path, struct err *e);
int http_server_listen_tls(struct http_server *s, const char *address, uint16_t port, struct tls_context *tls,
                           struct err *e);
uint16_t http_server_port(const struct http_server *s); /* of the TLS listener, 0 without one */
/* Closes listeners and connections. on_gone comes, from inside this call, for unanswered requests; nothing is
 * called after that. Memory is freed when the loop runs on. */
void http_server_destroy(struct http_server *s);

enum http_method http_method(const struct http_request *r);
const char *http_method_name(const struct http_request *r);
const char *http_path(const struct http_request *r); /* decoded, without the query */
/* The first value with this key, decoded ('+' is a space); "" for a key without value, NULL when absent. */
const char *http_query(const struct http_request *r, const char *key);
/* The i-th key of the query, from 0; NULL after the last. */
const char *http_query_key(const struct http_request *r, size_t i);
const char *http_header(const struct http_request *r, const char *name); /* NULL when absent */
/* len bytes, followed by a zero byte. */
const char *http_body(const struct http_request *r, size_t *len);
struct stream *http_stream(struct http_request *r); /* the client */
/* The request showed who the client is: from now on the connection counts as this party's. -EAGAIN with a
 * sentence when the party has its share of places; the connection stays with the party before. */
int http_set_party(struct http_request *r, const struct party *p, struct err *e);

void http_set_arg(struct http_request *r, void *arg, void (*on_gone)(void *arg));

/* Calls fn(arg), with the arg of http_set_arg, at the next turn of the client's party; not after on_gone. */
void http_again(struct http_request *r, void (*fn)(void *arg));

/* The coming answer was true so many seconds ago: it gets the header Age (RFC 9111). */
void http_set_age(struct http_request *r, uint64_t seconds);

/* Adds bytes to the body of the coming answer, which begins with the added pieces in order. A large answer in
 * one block would have to be moved as it grows, and be freed at once. The bytes are not empty, come from
 * malloc and are given away. */
void http_answer_add(struct http_request *r, char *bytes, size_t len);
/* Adds a header line, without its end, to the coming answer. It is kept as it is: static text. */
void http_answer_header(struct http_request *r, const char *line);
/* Answers with status and body (copied). type NULL is application/json. */
void http_answer(struct http_request *r, int status, const char *type, const char *body, size_t len);
/* The same without the copy: body comes from malloc and is given away. For large answers. */
void http_answer_take(struct http_request *r, int status, const char *type, char *body, size_t len);
/* Answers with the error's code and sentence; added pieces are dropped. */
void http_answer_err(struct http_request *r, const struct err *e);

/* Begins a stream of Server-Sent Events. http_event then adds one (id may be NULL; data is one line), and
 * http_events_end ends the stream. Comment lines keep it alive every 15 s. A client that falls more than 1
 * MiB behind is cut off (and comes back with Last-Event-ID). */
void http_events_begin(struct http_request *r);
void http_event(struct http_request *r, const char *id, const char *name, const char *data);
void http_events_end(struct http_request *r);

#endif
