/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_STORE_ETCD_PROXY_TEST_H
#define FETTLE_STORE_ETCD_PROXY_TEST_H

#include <stddef.h>

/*
 * What stands between a controller and etcd, and behaves badly when a test says so. It passes everything on
 * by itself, with threads of its own.
 */

enum proxy_mode {
    PROXY_PASS,
    PROXY_LOSE_ANSWER,  /* etcd gets the request; the connection is cut before the answer */
    PROXY_LOSE_REQUEST, /* the connection is cut, and etcd gets nothing */
    PROXY_HOLD,         /* the connection is cut, and etcd gets the request when proxy_release is called */
    PROXY_GARBAGE,      /* an answer that is none */
    PROXY_DEAF          /* the answer begins, and then nothing more of it comes */
};

struct proxy;

struct proxy *proxy_create(int to_port);
void proxy_destroy(struct proxy *p);
int proxy_port(const struct proxy *p);

/* What becomes of the next request whose first line contains `match`; the following ones pass. */
void proxy_next(struct proxy *p, enum proxy_mode mode, const char *match);
/* Waits until such a request has come. */
void proxy_wait(struct proxy *p);
/* Gives etcd the request that is held, and waits for etcd's answer. */
void proxy_release(struct proxy *p);

#endif
