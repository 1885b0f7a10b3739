/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_TOKEN_FORGE_TEST_H
#define FETTLE_TOKEN_FORGE_TEST_H

#include "base/text.h"
#include "token/token.h"

#include <cjose/cjose.h>

/*
 * An issuer in the test: keys that it makes, and tokens that it signs, good ones and forged ones.
 */

#define FORGE_ISSUER "https://login.example/realms/hpc/"
#define FORGE_AUDIENCE "fettle"
enum { FORGE_NOW_S = 1794000000 };
/* What most tokens say. */
#define FORGE_CLAIMS                                                                                       \
    "\"iss\":\"" FORGE_ISSUER "\",\"aud\":\"" FORGE_AUDIENCE "\",\"sub\":\"24400320\",\"iat\":1793999990," \
    "\"exp\":1794000600"

/* Keys of 2048 and 1024 bits, and of a curve. Each is made once in a process. */
enum forge_key { FORGE_RSA, FORGE_OTHER_RSA, FORGE_WEAK_RSA, FORGE_P256, FORGE_P384, FORGE_KEYS };
cjose_jwk_t *forge_key(enum forge_key k);
/* Adds the public part of the key as JSON, with further members (",\"alg\":\"PS256\""). */
void forge_public(enum forge_key k, const char *id, const char *more, struct text *t);
void forge_fini(void);

/* A token with this header and these claims, JSON objects both, signed by the key. The caller frees it. */
char *forge_sign(cjose_jwk_t *key, const char *header, const char *claims);
/* The same with any bytes as the signature, which NULL leaves out. */
char *forge_unsigned(const char *header, const char *claims, const char *signature);
/* A token that is signed by HMAC, with these bytes as the secret. */
char *forge_hmac(const char *secret, size_t len, const char *header, const char *claims);

#endif
