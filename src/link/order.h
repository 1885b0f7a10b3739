/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_LINK_ORDER_H
#define FETTLE_LINK_ORDER_H

#include "base/err.h"
#include "base/json.h"
#include "link/least.h"

#include <stdbool.h>

/*
 * Orders: texts that a controller signed with the key of its certificate, so that untrusted hands may carry
 * them (doc/spec/link.md, "Orders"). The text itself must say whom the order is for, what it is, and how long
 * it counts; these functions only prove who wrote it.
 *
 * An order is a JSON object: `signed` (the text), `signature` (ECDSA on P-256 with SHA-256, in hex) and
 * `certificate` (the signer's, PEM). Only a controller's key signs an order.
 */

enum { ORDER_NONCE_HEX = 32 }; /* characters of the number by which an agent recognises a new order */

/* A certificate and its key. */
struct signer;

/* -EINVAL when the two cannot be read or do not belong together. */
int signer_create(const char *cert_pem, const char *key_pem, struct signer **out, struct err *e);
void signer_destroy(struct signer *s);

/* Signs a text in UTF-8. The caller owns *out. -EIO when OpenSSL fails. */
int order_sign(const struct signer *s, const char *text, json_t **out, struct err *e);

/* True when the body has the form of an order. */
bool order_is(const json_t *body);
/* Borrows from the order the text that a controller of this authority signed. -EINVAL when it is not an
 * order. -EPERM when the certificate is not of the authority, is not a controller's, is not valid now or has
 * ended (according to `least`, which may be NULL), or when its key did not sign this text. */
int order_open(const char *ca_pem, const struct least *least, const json_t *order, const char **text,
               struct err *e);
/* Borrows the text without a check: for a copy of an order that was checked when it came. NULL when there is
 * none. */
const char *order_text(const json_t *order);

#endif
