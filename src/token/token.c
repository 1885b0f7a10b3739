/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A token is HEADER.CLAIMS.SIGNATURE, each in base64url. The header says which key and which algorithm; both
 * are only believed when the issuer has such a key. The claims are read after the signature is verified.
 */
#include "token/token.h"

#include "base/json.h"
#include "base/text.h"
#include "token/token_inside.h"

#include <cjose/cjose.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void token_fini(struct token *t)
{
    free(t->subject);
    free(t->name);
    hostlist_fini(&t->groups);
    hostlist_fini(&t->tenants);
    *t = (struct token){0};
}

/* --- the form ---------------------------------------------------------------------------------- */

struct parts {
    const char *header, *claims;
    size_t header_len, claims_len;
};

static bool is_base64url(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!((s[i] >= 'a' && s[i] <= 'z') || (s[i] >= 'A' && s[i] <= 'Z') || (s[i] >= '0' && s[i] <= '9') ||
              s[i] == '-' || s[i] == '_'))
            return false;
    return n > 0 && n % 4 != 1;
}

static int token_cut(const char *bytes, size_t len, struct parts *p, struct err *e)
{
    if (len > TOKEN_BYTES_MAX)
        return err_set(e, -EPERM, "the token is longer than %d bytes", TOKEN_BYTES_MAX);
    const char *first = memchr(bytes, '.', len);
    const char *second = first ? memchr(first + 1, '.', len - (size_t)(first + 1 - bytes)) : NULL;
    if (!second)
        return err_set(e, -EPERM, "the token is no JSON Web Token: it has not three parts");
    *p = (struct parts){bytes, first + 1, (size_t)(first - bytes), (size_t)(second - first - 1)};
    const char *end = bytes + len;
    if (second + 1 == end)
        return err_set(e, -EPERM, "the token is not signed");
    if (!is_base64url(p->header, p->header_len) || !is_base64url(p->claims, p->claims_len) ||
        !is_base64url(second + 1, (size_t)(end - second - 1)))
        return err_set(e, -EPERM, "the token is no JSON Web Token: its parts are not in base64url");
    return 0;
}

static json_t *part_read(const char *s, size_t n, const char *what, struct err *e)
{
    uint8_t *bytes = NULL;
    size_t len = 0;
    cjose_err why;
    struct err bad = {0};
    json_t *object = NULL;
    if (cjose_base64url_decode(s, n, &bytes, &len, &why))
        object = json_read((const char *)bytes, len, &bad);
    free(bytes);
    if (object && json_is_object(object))
        return object;
    json_decref(object);
    err_set(e, -EPERM, "the token's %s is not an object of JSON", what);
    return NULL;
}

/* Of the kinds of JSON Web Tokens only those that say who somebody is (RFC 9068, 2.1). */
static bool is_of_kind(const json_t *header)
{
    static const char *const kinds[] = {"JWT", "at+jwt", "application/at+jwt"};
    const json_t *typ = json_object_get(header, "typ");
    for (size_t i = 0; typ && i < sizeof kinds / sizeof *kinds; i++)
        if (json_is_string(typ) && strcasecmp(json_string_value(typ), kinds[i]) == 0)
            return true;
    return !typ;
}

static int signature_check(const char *bytes, size_t len, const struct parts *p, const struct token_keys *k,
                           struct err *e)
{
    CLEANUP_JSON json_t *header = part_read(p->header, p->header_len, "header", e);
    if (!header)
        return -EPERM;
    const char *id = json_text(header, "kid"), *algorithm = json_text(header, "alg");
    if (strcasecmp(algorithm, "none") == 0)
        return err_set(e, -EPERM, "the token is not signed");
    if (!is_of_kind(header))
        return err_set(e, -EPERM, "the token is of another kind, \"%.40s\"", json_text(header, "typ"));
    if (json_object_get(header, "crit") || json_object_get(header, "b64"))
        return err_set(e, -EPERM, "the token has an extension that Fettle does not know");
    if (!*id || strlen(id) > TOKEN_KEY_BYTES_MAX)
        return err_set(e, -EPERM, "the token does not name the key that signed it");
    return token_keys_verify(k, id, algorithm, bytes, len, e);
}

/* --- the claims -------------------------------------------------------------------------------- */

static int time_take(const json_t *claims, const char *name, int64_t *out, struct err *e)
{
    const json_t *v = json_object_get(claims, name);
    double seconds = json_is_number(v) ? json_number_value(v) : -1;
    if (!v)
        return -ENOENT;
    if (!(seconds >= 0 && seconds < 9e9))
        return err_set(e, -EPERM, "the token's \"%s\" is not a time", name);
    *out = (int64_t)seconds;
    return 0;
}

static int times_check(const json_t *claims, struct wall now, struct wall *until, struct err *e)
{
    const int64_t now_s = now.ns / 1000000000;
    int64_t exp = 0, nbf = 0, iat = 0;
    int rc = time_take(claims, "exp", &exp, e);
    if (rc == -ENOENT)
        return err_set(e, -EPERM, "the token does not say when it expires");
    if (rc < 0)
        return rc;
    if ((rc = time_take(claims, "nbf", &nbf, e)) == -EPERM ||
        (rc = time_take(claims, "iat", &iat, e)) == -EPERM)
        return rc;
    if (exp + TOKEN_LEEWAY_S <= now_s)
        return err_set(e, -EPERM, "the token expired %lld s ago", (long long)(now_s - exp));
    if (nbf > now_s + TOKEN_LEEWAY_S || iat > now_s + TOKEN_LEEWAY_S)
        return err_set(e, -EPERM, "the token counts only in %lld s: one of the two clocks is wrong",
                       (long long)((nbf > iat ? nbf : iat) - now_s));
    until->ns = exp * 1000000000;
    return 0;
}

/* Whether a claim is this string, or an array that has it. */
static bool claim_has(const json_t *claim, const char *value)
{
    if (json_is_string(claim))
        return strcmp(json_string_value(claim), value) == 0;
    for (size_t i = 0; json_is_array(claim) && i < json_array_size(claim); i++) {
        const json_t *one = json_array_get(claim, i);
        if (json_is_string(one) && strcmp(json_string_value(one), value) == 0)
            return true;
    }
    return false;
}

static int place_check(const json_t *claims, const struct token_policy *p, struct err *e)
{
    if (strcmp(json_text(claims, "iss"), p->issuer) != 0)
        return err_set(e, -EPERM, "the token is of another issuer, \"%.100s\"", json_text(claims, "iss"));
    if (!claim_has(json_object_get(claims, "aud"), p->audience))
        return err_set(e, -EPERM, "the token is for another audience");
    return 0;
}

/* A program has the client's id as its subject (RFC 9068, 2.2). Any other is a person only when the token
 * proves it. */
static bool is_person(const json_t *claims, const char *claim, const char *subject)
{
    size_t name = strcspn(claim, "=");
    CLEANUP_FREE char *key = mem_dup_len(claim, name);
    const json_t *proof = *key ? json_object_get(claims, key) : NULL;
    if (strcmp(json_text(claims, "client_id"), subject) == 0 ||
        strcmp(json_text(claims, "azp"), subject) == 0)
        return false;
    if (claim[name] == '=')
        return claim_has(proof, claim + name + 1);
    return proof && !json_is_null(proof) && !json_is_false(proof);
}

static int names_take(const json_t *claims, const char *claim, struct hostlist *names, struct err *e)
{
    const json_t *list = *claim ? json_object_get(claims, claim) : NULL;
    if (json_is_string(list))
        hostlist_add(names, json_string_value(list));
    if (!list || json_is_null(list) || json_is_string(list))
        return 0;
    if (!json_is_array(list) || json_array_size(list) > TOKEN_GROUPS_MAX)
        return err_set(e, -EPERM, "the token's \"%s\" is not a list of at most %d names", claim,
                       TOKEN_GROUPS_MAX);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *one = json_string_value(json_array_get(list, i));
        if (!one)
            return err_set(e, -EPERM, "the token's \"%s\" has something that is not a name", claim);
        hostlist_add(names, one);
    }
    return 0;
}

static int claims_take(const json_t *claims, const struct token_policy *p, struct token *t, struct err *e)
{
    const char *subject, *name;
    if (json_take_clause(claims, "sub", TOKEN_NAME_BYTES_MAX, &subject, e) < 0 || !*subject)
        return err_set(e, -EPERM, "the token does not name its subject in %d bytes at most",
                       TOKEN_NAME_BYTES_MAX);
    bool has_name =
        *p->name_claim && json_take_clause(claims, p->name_claim, TOKEN_NAME_BYTES_MAX, &name, NULL) == 0;
    t->subject = mem_dup(subject);
    t->name = mem_dup(has_name && *name ? name : subject);
    t->is_person = is_person(claims, p->person_claim, subject);
    int rc = names_take(claims, p->groups_claim, &t->groups, e);
    return rc == 0 ? names_take(claims, p->tenants_claim, &t->tenants, e) : rc;
}

int token_read(const char *bytes, size_t len, const struct token_policy *p, const struct token_keys *k,
               struct wall now, struct token *out, struct err *e)
{
    struct parts parts = {0};
    *out = (struct token){0};
    int rc = token_cut(bytes, len, &parts, e);
    if (rc == 0)
        rc = signature_check(bytes, len, &parts, k, e);
    if (rc < 0)
        return rc;
    CLEANUP_JSON json_t *claims = part_read(parts.claims, parts.claims_len, "content", e);
    rc = claims ? place_check(claims, p, e) : -EPERM;
    if (rc == 0)
        rc = times_check(claims, now, &out->until, e);
    if (rc == 0)
        rc = claims_take(claims, p, out, e);
    if (rc < 0)
        token_fini(out);
    return rc;
}
