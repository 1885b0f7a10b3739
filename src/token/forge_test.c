/* SPDX-License-Identifier: Apache-2.0 */
#include "token/forge_test.h"

#include "base/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static cjose_jwk_t *made[FORGE_KEYS];

cjose_jwk_t *forge_key(enum forge_key k)
{
    static const uint8_t exponent[] = {1, 0, 1};
    static const size_t bits[] = {[FORGE_RSA] = 2048, [FORGE_OTHER_RSA] = 2048, [FORGE_WEAK_RSA] = 1024};
    cjose_err why;
    if (!made[k] && k == FORGE_P256)
        made[k] = cjose_jwk_create_EC_random(CJOSE_JWK_EC_P_256, &why);
    else if (!made[k] && k == FORGE_P384)
        made[k] = cjose_jwk_create_EC_random(CJOSE_JWK_EC_P_384, &why);
    else if (!made[k])
        made[k] = cjose_jwk_create_RSA_random(bits[k], exponent, sizeof exponent, &why);
    assert_non_null(made[k]);
    return made[k];
}

void forge_fini(void)
{
    for (int k = 0; k < FORGE_KEYS; k++) {
        cjose_jwk_release(made[k]);
        made[k] = NULL;
    }
}

void forge_public(enum forge_key k, const char *id, const char *more, struct text *t)
{
    cjose_err why;
    char *json = cjose_jwk_to_json(forge_key(k), false, &why);
    assert_non_null(json);
    text_printf(t, "{\"kid\":\"%s\"%s,%s", id, more, json + 1);
    cjose_get_dealloc()(json);
}

static void add_part(struct text *t, const char *bytes, size_t len)
{
    char *part;
    size_t n;
    cjose_err why;
    assert_true(cjose_base64url_encode((const uint8_t *)bytes, len, &part, &n, &why));
    text_add_bytes(t, part, n);
    cjose_get_dealloc()(part);
}

char *forge_unsigned(const char *header, const char *claims, const char *signature)
{
    struct text t = {0};
    add_part(&t, header, strlen(header));
    text_add_char(&t, '.');
    add_part(&t, claims, strlen(claims));
    if (signature)
        text_printf(&t, ".%s", signature);
    return text_take(&t);
}

char *forge_sign(cjose_jwk_t *key, const char *header, const char *claims)
{
    cjose_err why;
    const char *compact;
    json_t *parsed = json_read(header, strlen(header), NULL);
    assert_non_null(parsed);
    cjose_jws_t *jws =
        cjose_jws_sign(key, (cjose_header_t *)parsed, (const uint8_t *)claims, strlen(claims), &why);
    assert_non_null(jws);
    assert_true(cjose_jws_export(jws, &compact, &why));
    char *token = mem_dup(compact);
    cjose_jws_release(jws);
    json_decref(parsed);
    return token;
}

char *forge_hmac(const char *secret, size_t len, const char *header, const char *claims)
{
    cjose_err why;
    cjose_jwk_t *key = cjose_jwk_create_oct_spec((const uint8_t *)secret, len, &why);
    assert_non_null(key);
    char *token = forge_sign(key, header, claims);
    cjose_jwk_release(key);
    return token;
}
