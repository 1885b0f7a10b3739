/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_HTTP_SPLITTER_H
#define FETTLE_HTTP_SPLITTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Splits bytes into HTTP/1 messages: the only place that knows the parser's library. splitter_llhttp.c uses
 * llhttp, which is maintained; splitter_http_parser.c uses its predecessor where the system has no llhttp
 * (Debian 12). The build takes one of the two.
 *
 * A splitter stops twice in each message, at the end of the head and at the end of the message. So the caller
 * can judge the head before a byte of the body is read, and keeps the bytes of the next message.
 */
struct splitter;

enum splitter_kind { SPLITTER_REQUESTS, SPLITTER_RESPONSES };

/* The callbacks of a splitter. A piece may come in several calls. A callback that returns negative stops the
 * splitter for good. */
struct splitter_sink {
    int (*url)(void *arg, const char *bytes, size_t n);   /* requests; NULL: not wanted, as for all pieces */
    int (*field)(void *arg, const char *bytes, size_t n); /* a header's name, or a trailer's */
    int (*value)(void *arg, const char *bytes, size_t n);
    int (*head)(void *arg); /* the head is complete: splitter_method and the like are known */
    int (*body)(void *arg, const char *bytes, size_t n);
    int (*whole)(void *arg); /* the message is complete */
};

/* NULL when there is no memory. The sink must live as long as the splitter. */
struct splitter *splitter_create(enum splitter_kind kind, const struct splitter_sink *sink, void *arg);
void splitter_destroy(struct splitter *c);
/* Begins the next message: everything about the one before is forgotten. */
void splitter_restart(struct splitter *c);

/*
 * Reads up to n bytes, and stops early at the end of a head or of a message; *used is how many it took. 0;
 * -ECANCELED when a callback stopped it; -EPROTO when the bytes are not HTTP: *why is then the parser's
 * reason, which stays until the next call.
 */
int splitter_feed(struct splitter *c, const char *bytes, size_t n, size_t *used, const char **why);
/* The connection ended, which ends the body of some responses. Returns as splitter_feed. */
int splitter_end(struct splitter *c, const char **why);

/* About the complete head. */
unsigned splitter_major(const struct splitter *c);
unsigned splitter_minor(const struct splitter *c);
const char *splitter_method(const struct splitter *c); /* "GET" */
int splitter_status(const struct splitter *c);
bool splitter_length(const struct splitter *c, uint64_t *bytes); /* false: the head gives no length */
bool splitter_keeps_alive(const struct splitter *c);

#endif
