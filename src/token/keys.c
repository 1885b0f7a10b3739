/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The keys of an issuer. Each has one algorithm, which is settled when the key is read and not by a token
 * (RFC 8725, 3.1): a token that names another one is refused before its signature is looked at.
 */
#include "base/json.h"
#include "base/text.h"
#include "token/token_inside.h"

#include <cjose/cjose.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { RSA_BITS_MIN = 2048, RSA_BITS_MAX = 8192 };

static const struct algorithm {
    const char *name, *kty, *curve;
    bool is_default;
} algorithms[] = {
#define ALGORITHM(name, kty, curve, is_default) {name, kty, curve, is_default},
#include "token/algorithm.tbl"
#undef ALGORITHM
};
enum { ALGORITHMS = sizeof algorithms / sizeof algorithms[0] };

struct key {
    char *id;
    const char *algorithm;
    cjose_jwk_t *jwk;
};

struct token_keys {
    struct key list[TOKEN_KEYS_MAX];
    size_t n;
};

void token_keys_destroy(struct token_keys *k)
{
    if (!k)
        return;
    for (size_t i = 0; i < k->n; i++) {
        free(k->list[i].id);
        cjose_jwk_release(k->list[i].jwk);
    }
    free(k);
}

/* The algorithm of a key; NULL when it has none that counts here. */
static const char *key_algorithm(const json_t *key)
{
    const char *named = json_text(key, "alg"), *kty = json_text(key, "kty"), *curve = json_text(key, "crv");
    for (size_t i = 0; i < ALGORITHMS; i++) {
        const struct algorithm *a = &algorithms[i];
        if (strcmp(a->kty, kty) == 0 && strcmp(a->curve, curve) == 0 &&
            (*named ? strcmp(a->name, named) == 0 : a->is_default))
            return a->name;
    }
    return NULL;
}

/* Whether the key is one for signatures (RFC 7517, 4.2), and public. A secret part that is published makes
 * everybody the issuer. */
static bool key_is_fit(const json_t *key)
{
    const char *use = json_text(key, "use"), *id = json_text(key, "kid");
    return (!*use || strcmp(use, "sig") == 0) && *id && strlen(id) <= TOKEN_KEY_BYTES_MAX &&
           !json_object_get(key, "d") && !json_object_get(key, "k");
}

static bool key_has_size(const cjose_jwk_t *jwk)
{
    cjose_err why;
    if (cjose_jwk_get_kty(jwk, &why) != CJOSE_JWK_KTY_RSA)
        return true; /* the curve is the size */
    size_t bits = cjose_jwk_get_keysize(jwk, &why);
    return bits >= RSA_BITS_MIN && bits <= RSA_BITS_MAX;
}

static void key_add(struct token_keys *k, const json_t *key)
{
    cjose_err why;
    const char *algorithm = json_is_object(key) && key_is_fit(key) ? key_algorithm(key) : NULL;
    if (!algorithm)
        return;
    CLEANUP_FREE char *text = json_write(key);
    cjose_jwk_t *jwk = cjose_jwk_import(text, strlen(text), &why);
    if (!jwk)
        return;
    if (key_has_size(jwk))
        k->list[k->n++] = (struct key){mem_dup(json_text(key, "kid")), algorithm, jwk};
    else
        cjose_jwk_release(jwk);
}

int token_keys_read(const char *json, size_t len, struct token_keys **out, struct err *e)
{
    if (len > TOKEN_KEYS_BYTES_MAX)
        return err_set(e, -EINVAL, "the keys are more than %d bytes", TOKEN_KEYS_BYTES_MAX);
    CLEANUP_JSON json_t *set = json_read(json, len, e);
    if (!set)
        return -EINVAL;
    const json_t *keys = json_object_get(set, "keys");
    if (!json_is_array(keys) || json_array_size(keys) > TOKEN_KEYS_MAX)
        return err_set(e, -EINVAL, "not a set of at most %d keys", TOKEN_KEYS_MAX);
    struct token_keys *k = mem_alloc(sizeof *k);
    for (size_t i = 0; i < json_array_size(keys); i++)
        key_add(k, json_array_get(keys, i));
    if (k->n == 0) {
        token_keys_destroy(k);
        return err_set(e, -EINVAL, "none of the %zu keys can verify a token", json_array_size(keys));
    }
    *out = k;
    return 0;
}

static const struct key *key_find(const struct token_keys *k, const char *id)
{
    for (size_t i = 0; i < k->n; i++)
        if (strcmp(k->list[i].id, id) == 0)
            return &k->list[i];
    return NULL;
}

int token_keys_verify(const struct token_keys *k, const char *id, const char *algorithm, const char *bytes,
                      size_t len, struct err *e)
{
    const struct key *key = key_find(k, id);
    cjose_err why;
    if (!key)
        return err_set(e, -ENOKEY, "the issuer has no key \"%.100s\"", id);
    if (strcmp(key->algorithm, algorithm) != 0)
        return err_set(e, -EPERM, "the issuer's key \"%.100s\" is for %s, and the token is signed by %.20s",
                       id, key->algorithm, algorithm);
    cjose_jws_t *jws = cjose_jws_import(bytes, len, &why);
    bool is_good = jws && cjose_jws_verify(jws, key->jwk, &why);
    cjose_jws_release(jws);
    return is_good ? 0 : err_set(e, -EPERM, "the token's signature is not the issuer's");
}
