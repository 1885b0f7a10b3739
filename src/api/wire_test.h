/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_API_WIRE_TEST_H
#define FETTLE_API_WIRE_TEST_H

#include "base/text.h"
#include "http/server.h"

/*
 * An HTTP server on a local socket in a directory of its own, and clients of it by hand; one thread,
 * one loop. Everything that waits has a deadline and fails the test after it.
 */
struct wire {
    uv_loop_t loop;
    struct http_server *server;
    char dir[32];
    char path[64];
    void (*each_turn)(void *arg); /* called after every turn of the loop, when set */
    void *arg;
};
void wire_open(struct wire *w, http_request_fn *fn, void *arg);
void wire_close(struct wire *w);
void wire_turn(struct wire *w);

/* A connection that has sent these bytes. */
int wire_connect(struct wire *w, const char *bytes);
/* Reads what comes, into t, until `what` stands in it. */
void wire_read_until(struct wire *w, int fd, struct text *t, const char *what);

/* Asks once; the status, and the body in t. */
int wire_ask(struct wire *w, const char *method, const char *target, const char *body, struct text *t);

#endif
