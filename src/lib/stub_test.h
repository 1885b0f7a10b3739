/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_LIB_STUB_TEST_H
#define FETTLE_LIB_STUB_TEST_H

#include <stddef.h>

/*
 * A controller made of prepared answers, on a local socket, in a thread of the test.
 */

enum stub_after { STUB_KEEP, STUB_CLOSE, STUB_HOLD };

struct stub_answer {
    const char *bytes;     /* what is sent, head and all; NULL for nothing */
    size_t len;            /* of bytes that have zeroes among them; 0: up to the first */
    size_t fill;           /* this many blanks after it */
    enum stub_after after; /* wait for the next request, close, or keep open and say nothing more */
};

struct stub;

/* Answers requests in this order, on whatever connections they come; closes those that come after
 * the last. The answers outlive the stub. */
struct stub *stub_start(const struct stub_answer *answers, size_t n);
const char *stub_path(const struct stub *s);
/* Ends the thread and removes the socket and its directory. */
void stub_stop(struct stub *s);

/* How many requests came, on how many connections; after stub_join. */
size_t stub_requests(const struct stub *s);
size_t stub_connections(const struct stub *s);
/* The whole request, head and body. */
const char *stub_request(const struct stub *s, size_t i);
/* Ends the thread; what was recorded may be read then. */
void stub_join(struct stub *s);

/* An answer with this status and body. The caller frees it. */
char *stub_json(int status, const char *body);

#endif
