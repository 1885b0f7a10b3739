/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_TOKEN_TOKEN_H
#define FETTLE_TOKEN_TOKEN_H

#include "base/clock.h"
#include "base/err.h"
#include "base/hostlist.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Bearer tokens of an OpenID provider: JSON Web Tokens (RFC 7519) that it signed. A token counts when a key
 * of the issuer signed it by the one algorithm of that key, and when its issuer, audience and times are
 * right. A key or an address that the token itself brings is never used. The signatures are libcjose's; all
 * else is checked here. Knows no clock and no network.
 */

enum {
    TOKEN_BYTES_MAX = 8 << 10,
    TOKEN_NAME_BYTES_MAX = 128, /* of a subject, a name, a group */
    TOKEN_GROUPS_MAX = 256,     /* and the most tenants */
    TOKEN_KEY_BYTES_MAX = 256,  /* of a key's id */
    TOKEN_LEEWAY_S = 30,        /* for clocks that differ */
    TOKEN_KEYS_MAX = 64,
    TOKEN_KEYS_BYTES_MAX = 128 << 10
};

/* What a token has to say. All but issuer and audience may be "". */
struct token_policy {
    const char *issuer, *audience;
    const char *name_claim;    /* what people call the subject */
    const char *groups_claim;  /* an array of names, or one name */
    const char *person_claim;  /* "CLAIM" or "CLAIM=VALUE": only a token of a person has it; "": none has */
    const char *tenants_claim; /* an array of names, or one name: the tenants to which the subject belongs */
};

/* The public keys of an issuer. */
struct token_keys;
/* Reads a JSON Web Key Set (RFC 7517). Keys that cannot verify a token are skipped. -EINVAL when it is not a
 * set, or has none that can. */
int token_keys_read(const char *json, size_t len, struct token_keys **out, struct err *e);
void token_keys_destroy(struct token_keys *k);

/* What a verified token says. token_fini. */
struct token {
    char *subject; /* the person or program, for the issuer: never another one later */
    char *name;    /* for people; the subject when the token has no name */
    struct hostlist groups, tenants;
    bool is_person; /* the token proves that a person signed in; false for a program, or when nothing says */
    struct wall until;
};
void token_fini(struct token *t);

/* Verifies a token at a moment. -ENOKEY when no key has the id that it names: the issuer may have changed its
 * keys. -EPERM with a sentence for any other that does not count. *out is empty then. */
int token_read(const char *bytes, size_t len, const struct token_policy *p, const struct token_keys *k,
               struct wall now, struct token *out, struct err *e);

#endif
