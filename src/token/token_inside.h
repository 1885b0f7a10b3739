/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_TOKEN_TOKEN_INSIDE_H
#define FETTLE_TOKEN_TOKEN_INSIDE_H

#include "token/token.h"

/*
 * What token.c needs of keys.c.
 */

/* Verifies the signature of a token in its compact form. -ENOKEY when no key has this id, -EPERM when the key
 * is for another algorithm, or did not sign this. */
int token_keys_verify(const struct token_keys *k, const char *id, const char *algorithm, const char *bytes,
                      size_t len, struct err *e);

#endif
