/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_LINK_FIXTURE_TEST_H
#define FETTLE_LINK_FIXTURE_TEST_H

#include "base/text.h"
#include "link/stream_internal.h"
#include "link/tls_internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/*
 * For tests of streams: a loop, both ends of connections that remember what happened to them, and
 * an authority that makes certificates. fixture_teardown proves that nothing is left on the loop.
 */

extern uv_loop_t loop;

/* One end of a connection. */
struct end {
    struct stream *s;
    struct text got;
    int opened, closed, drained;
    bool clean; /* on_close gave no reason */
    struct err why;
    struct identity peer; /* when it opened */
    enum {
        REACT_NOT,
        REACT_ABORT_ON_OPEN,
        REACT_ABORT_ON_BYTES,
        REACT_CLOSE_ON_BYTES,
        REACT_PAUSE_ON_BYTES,
        REACT_TAKE_ITS_TIME /* all that it has of a turn */
    } react;
    struct end *next;
};

extern const struct stream_events end_events;

int fixture_setup(void **state);
int fixture_teardown(void **state);

struct end *end_new(void); /* lives until the teardown */
/* Dials the server below. */
struct end *end_dial(struct tls_context *tls, const char *expect);
void end_write(struct end *end, const char *text);

/* The listener of the fixture: its connections become ends, the newest in server_end. */
void server_start(struct tls_context *tls);
/* Without TLS, at this address. */
void server_start_at(const char *address);
extern struct listener *server;
extern struct end *server_end;
extern int server_ends;
extern size_t queue_bytes_max; /* of ends made from now on; 1 MiB at each setup */

/* Runs the loop until the condition holds; fails the test when it does not within 20 s. */
#define run_until(condition)                                       \
    do {                                                           \
        struct mono run_until_ = mono_add(mono_now(), span_s(20)); \
        while (!(condition)) {                                     \
            if (mono_sub(mono_now(), run_until_).ns > 0)           \
                fail_msg("did not come: %s", #condition);          \
            run_once();                                            \
        }                                                          \
    } while (0)
void run_once(void);
/* Lets the loop turn until nothing is left to do at once. */
void run_quiet(void);

/* A connected plain socket to the server, outside the loop. */
int raw_dial(void);

/* Keys and certificates for tests. */
struct party {
    char *key, *cert;
};
struct authority *authority_new(void);
struct party party_new(struct authority *a, enum identity_kind kind, const char *name, int64_t valid_s);
void party_free(struct party *p);

#endif
