/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_HTTP_WORLD_TEST_H
#define FETTLE_HTTP_WORLD_TEST_H

#include "base/text.h"
#include "http/limits.h"
#include "http/server.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/*
 * What the tests of the server share: a server on a local socket, a handler of its requests, and
 * clients that write bytes by hand. All waiting runs the one loop and ends after TIMEOUT_S.
 *
 * The handler answers /echo with what it understood, /json with 409 {}, /big with BIG_BYTES, /pieces with
 * three pieces, /unsaid with an error after two; it keeps /later and /events (begun) in `pending`; /slices
 * takes many turns; all else is not found.
 */

#define GET(path) "GET " path " HTTP/1.1\r\nHost: h\r\n\r\n"

enum { BIG_BYTES = 8 << 20, TIMEOUT_S = 30 };

/* A server on a local socket, and the handler of its requests. */
struct world {
    uv_loop_t loop;
    struct http_server *server;
    char dir[32];
    char path[64];
    unsigned asked;
    struct http_request *pending; /* asked for /later or /events */
    unsigned gone;
    unsigned slices;    /* that /slices still takes */
    struct party party; /* of who connects next */
    unsigned met;       /* streams that the server asked of, whose they are */
    struct text order;  /* the header X-Thing of what was asked, one after another */
};

/* One connection to it, by hand. */
struct client {
    struct world *w;
    int fd;
    struct text in;
    bool ended;
};

/* connections_max and limits are the server's; limits may be NULL. */
void world_init(struct world *w, size_t connections_max, const struct http_limits *limits);
void world_init_door(struct world *w, const struct slots_limits *door, const struct http_limits *limits);
void world_fini(struct world *w);
/* Limits that no test outlives. */
struct http_limits world_patient(void);
/* Runs the loop until it, or an event of the client (which may be NULL), had something to do. */
void world_turn(struct world *w, struct client *c, short events);
/* Runs the loop until *count is n. */
void world_wait(struct world *w, const unsigned *count, unsigned n);

void client_init(struct client *c, struct world *w);
/* The same as somebody else; it is met when this returns. */
void client_init_as(struct client *c, struct world *w, const char *name, bool privileged);
void client_fini(struct client *c);
void client_send(struct client *c, const char *s);
void client_send_bytes(struct client *c, const char *s, size_t n);
/* Reads at most n bytes, of what is there. */
void client_read(struct client *c, size_t n);
/* Whether the answer so far has `what`, `times` times; NULL asks for the end of the connection. */
bool client_has(const struct client *c, const char *what, unsigned times);
/* Reads until it has. */
void client_wait_times(struct client *c, const char *what, unsigned times);
void client_wait(struct client *c, const char *what);
void client_wait_end(struct client *c);

#endif
