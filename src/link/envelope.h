/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_LINK_ENVELOPE_H
#define FETTLE_LINK_ENVELOPE_H

#include "base/err.h"
#include "link/tls.h"

/*
 * The authority on its way from one controller to another, through places where everybody may look.
 *
 * The new controller has a key pair of its own, whose secret half never leaves its directory. A controller
 * that has the authority puts its key and its certificate into an envelope that only this key opens: CMS
 * (RFC 5652), authenticated and encrypted with AES-256-GCM (RFC 5083) for a key agreed on P-256 (RFC 5753),
 * as text in Base 64. The envelope says nothing of who made it: who opens one compares the fingerprint.
 */

enum {
    ENVELOPE_KEY_BYTES = 66, /* a public key as text: the compressed point in lower-case hex */
    ENVELOPE_BYTES_MAX = 8 << 10
};

/* A key pair of P-256 in a file. */
struct envelope_key;
/* Reads the file (0600), and makes it with a new key when it does not exist. -EILSEQ when it has no such key;
 * -EACCES when others may read it; -errno. */
int envelope_key_open(const char *path, struct envelope_key **out, struct err *e);
void envelope_key_close(struct envelope_key *k);
/* Its public half, of ENVELOPE_KEY_BYTES; lives as long as k. */
const char *envelope_key_public(const struct envelope_key *k);
/* -EINVAL when the text is no public key of P-256. */
int envelope_key_check(const char *public_key, struct err *e);

/* Puts the authority into an envelope for this public key. The caller frees *envelope. -EINVAL as
 * envelope_key_check. */
int envelope_seal(const struct authority *a, const char *public_key, char **envelope, struct err *e);

/* Opens an envelope and writes the authority into the directory, as authority_open makes it. Nothing is
 * written after an error: -EACCES it is for another key, or was changed; -EILSEQ it is no envelope, or what
 * is in it is no authority; -ESTALE it is another authority than the one with this fingerprint. */
int envelope_open(const char *envelope, const struct envelope_key *k, const char *fingerprint,
                  const char *dir, struct err *e);

#endif
