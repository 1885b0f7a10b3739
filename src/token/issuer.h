/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_TOKEN_ISSUER_H
#define FETTLE_TOKEN_ISSUER_H

#include "token/token.h"

#include <uv.h>

/*
 * An OpenID provider whose tokens count. Its keys come from the address that its discovery document names
 * (OpenID Connect Discovery 1.0), over HTTPS, and are kept. They are asked for anew when they are 10 minutes
 * old, and when a token names a key that is not among them, but at most once in 30 s: nobody can make Fettle
 * ask more often. An issuer that cannot be reached leaves the old keys in force for a day.
 */

struct issuer_conf {
    struct token_policy policy;
    const char *ca; /* file with the authority of the issuer's certificate; NULL: the system's */
};

struct issuer;
/* Copies the configuration. Asks for no keys before the first token comes. */
struct issuer *issuer_create(uv_loop_t *loop, const struct issuer_conf *conf);
/* Refuses the tokens that wait. The loop must run on until its handles are closed. */
void issuer_destroy(struct issuer *is);

/* Gets what the token says, which is borrowed; or NULL, and why it does not count: -EPERM, or -EAGAIN when
 * the issuer's keys are not known. */
typedef void issuer_fn(void *arg, const struct token *t, const struct err *why);
/* Verifies a token. fn is called once, at once or later. */
void issuer_verify(struct issuer *is, const char *bytes, size_t len, issuer_fn *fn, void *arg);

#endif
