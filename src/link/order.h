/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_LINK_ORDER_H
#define FETTLE_LINK_ORDER_H

#include "base/err.h"
#include "base/json.h"
#include "link/least.h"

#include <stdbool.h>

/*
 * Orders: texts that a controller signed with the key of its certificate, so that they may come through
 * hands that are not believed (doc/spec/link.md, "Orders"). Whom an order is for, what it is and for how
 * long it counts has to stand in the text; here is only who wrote it.
 *
 * An order is a JSON object: `signed` (the text), `signature` (ECDSA on P-256 with SHA-256, in hex) and
 * `certificate` (the signer's, PEM). No other key than a controller's signs one.
 */

enum { ORDER_NONCE_HEX = 32 }; /* characters of the number by which an agent knows that an order is new */

/* A certificate and its key. */
struct signer;

/* -EINVAL when the two cannot be read or do not belong together. */
int signer_create(const char *cert_pem, const char *key_pem, struct signer **out, struct err *e);
void signer_destroy(struct signer *s);

/* Signs a text in UTF-8. The caller owns *out. -EIO when OpenSSL does not. */
int order_sign(const struct signer *s, const char *text, json_t **out, struct err *e);

/* Whether it claims to be an order. */
bool order_is(const json_t *body);
/* The text that a controller of this authority signed; borrowed from the order. -EINVAL for what is no
 * order. -EPERM when the certificate is not of the authority, is no controller's, does not count now or has
 * ended (as `least` knows it, which may be NULL), or when its key did not sign this text. */
int order_open(const char *ca_pem, const struct least *least, const json_t *order, const char **text,
               struct err *e);
/* The same text, whoever signed it: of a copy that was believed when it came. NULL when there is none. */
const char *order_text(const json_t *order);

#endif
