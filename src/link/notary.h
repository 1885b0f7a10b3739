/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_LINK_NOTARY_H
#define FETTLE_LINK_NOTARY_H

#include "audit/note.h"

/*
 * The key with which a controller signs what its audit log says, and the belief of others in it: Ed25519. The
 * key is a line in a file of mode 0600, in the form of Go's package sumdb/note, so that its tools can use it.
 */

struct notary;

/* Reads the key of this name, and makes it when there is no file. -EILSEQ when the file has no key, or one of
 * another name; else -errno. */
int notary_open(const char *path, const char *name, struct notary **out, struct err *e);
void notary_close(struct notary *n);

/* The key by which others believe it; lives as long as n. */
const struct note_key *notary_key(const struct notary *n);

/* Signs a text that ends with a newline, and makes a note of it. -EIO when OpenSSL fails. */
int notary_sign(const struct notary *n, struct text *text, struct err *e);

/* Reads a note (note_read) and verifies that the key signed its text. -EKEYREJECTED when it did not. */
int notary_verify(const char *bytes, size_t len, const struct note_key *k, struct signed_note *out,
                  struct err *e);

#endif
