/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies about tokens, certificates and controllers. */
#include "api/ask_inside.h"

#include "base/network.h"
#include "cluster/cluster.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const int64_t DAY_S = 86400;

static int take_uuid(const json_t *o, struct ask *a, struct err *e)
{
    const char *uuid;
    int rc = json_take_string(o, "uuid", &uuid, e);
    if (rc < 0)
        return rc == -ENOENT ? 0 : rc;
    if (strlen(uuid) != 36 || strspn(uuid, "0123456789abcdefABCDEF-") != 36)
        return err_set(e, -EINVAL, "\"uuid\" is no UUID as \"4c4c4544-0039-3510-8052-b4c04f4e3332\"");
    a->uuid = mem_dup(uuid);
    return 0;
}

static int take_from(const json_t *o, struct ask *a, struct err *e)
{
    const char *from;
    int rc = json_take_string(o, "from", &from, e);
    if (rc == 0 && (rc = network_check(from, e)) < 0)
        return err_wrap(e, rc, "\"from\"");
    if (rc == 0)
        a->from = mem_dup(from);
    return rc == -ENOENT ? 0 : rc;
}

/* A token copied from an image is useless elsewhere when it is bound to a place or a machine. */
static int take_token_valid(const json_t *o, struct ask *a, struct err *e)
{
    int rc = ask_take_valid(o, 3600, 365 * DAY_S, a, e);
    if (rc == 0 && !a->from && !a->uuid && a->valid.ns > span_s(7 * DAY_S).ns)
        return err_set(e, -EINVAL,
                       "\"valid\" is more than 7d, for which \"from\" or \"uuid\" has to be given");
    return rc;
}

int ask_parse_token(const json_t *o, struct ask *a, struct err *e)
{
    a->count = 1;
    int rc = ask_take_nodes(o, a, e);
    if (rc == 0 && json_take_u64(o, "count", TOKEN_COUNT_MAX, &a->count, e) == -EINVAL)
        return -EINVAL;
    if (rc == 0 && a->count == 0)
        return err_set(e, -EINVAL, "\"count\" is 0; a token is for 1 to %d to join", TOKEN_COUNT_MAX);
    if (rc == 0 && json_take_bool(o, "again", &a->again, e) == -EINVAL)
        return -EINVAL;
    if (rc == 0)
        rc = take_from(o, a, e);
    if (rc == 0)
        rc = take_uuid(o, a, e);
    return rc < 0 ? rc : take_token_valid(o, a, e);
}

static int parse_role(const json_t *o, struct ask *a, struct err *e)
{
    const char *role;
    int rc = ask_want_string(o, "role", &role, e);
    if (rc < 0)
        return rc;
    for (enum role r = ROLE_READER; r <= ROLE_ADMIN; r++)
        if (strcmp(role, role_name(r)) == 0)
            a->role = r;
    return a->role == ROLE_NONE ? err_set(e, -EINVAL, "\"role\" is neither \"reader\" nor \"admin\"") : 0;
}

/* The name becomes the owner of claims and a part of a URI. */
static int parse_operator(const json_t *o, struct ask *a, struct err *e)
{
    int rc = ask_take_plain(o, "name", OPERATOR_NAME_BYTES_MAX, &a->name, e);
    if (rc == 0 && !hostlist_name_ok(a->name))
        return err_set(e, -EINVAL,
                       "\"name\" is not of letters, digits, '-', '_' and '.', a letter or digit first");
    return rc;
}

int ask_parse_certificate(const json_t *o, struct ask *a, struct err *e)
{
    int rc = parse_operator(o, a, e);
    if (rc == 0)
        rc = parse_role(o, a, e);
    const char *request;
    if (rc == 0)
        rc = ask_want_string(o, "request", &request, e);
    if (rc < 0)
        return rc;
    if (*request == '\0' || strlen(request) > PEM_BYTES_MAX)
        return err_set(e, -EINVAL, "\"request\" has %zu bytes; 1 to %d are allowed", strlen(request),
                       PEM_BYTES_MAX);
    a->request = mem_dup(request);
    return ask_take_valid(o, 90 * DAY_S, 365 * DAY_S, a, e);
}

/* As a list of certificates shows it. */
static int take_serial(const json_t *o, struct ask *a, struct err *e)
{
    const char *hex;
    int rc = ask_want_string(o, "serial", &hex, e);
    size_t len = rc == 0 ? strlen(hex) : 0;
    if (rc < 0)
        return rc;
    if (len == 0 || len > 16 || strspn(hex, "0123456789abcdef") != len)
        return err_set(e, -EINVAL, "\"serial\" is \"%.40s\"; a number has 1 to 16 lower-case hex digits",
                       hex);
    a->serial = strtoull(hex, NULL, 16);
    a->gives = true;
    return 0;
}

/* "operator:ann" or "controller:head1", with an optional certificate number; or nodes. */
int ask_parse_revoke(const json_t *o, struct ask *a, struct err *e)
{
    bool nodes = json_object_get(o, "nodes"), holder = json_object_get(o, "holder");
    if (nodes == holder)
        return err_set(e, -EINVAL, "either \"nodes\" or \"holder\" is needed%s", nodes ? ", not both" : "");
    int rc = nodes ? ask_take_nodes(o, a, e) : ask_take_plain(o, "holder", VALUE_BYTES_MAX, &a->name, e);
    if (rc == 0 && nodes && json_object_get(o, "serial"))
        return err_set(e, -EINVAL, "\"serial\" needs a \"holder\": for nodes every certificate is revoked");
    if (rc == 0 && json_object_get(o, "serial"))
        rc = take_serial(o, a, e);
    return rc < 0 ? rc : ask_take_plain(o, "reason", REASON_BYTES_MAX, &a->reason, e);
}

int ask_parse_token_end(const json_t *o, struct ask *a, struct err *e)
{
    int rc = ask_take_plain(o, "id", VALUE_BYTES_MAX, &a->word, e);
    return rc < 0 ? rc : ask_take_plain(o, "reason", REASON_BYTES_MAX, &a->reason, e);
}

static int take_controller(const json_t *o, struct ask *a, struct err *e)
{
    int rc = ask_take_plain(o, "name", CONTROLLER_NAME_BYTES_MAX, &a->name, e);
    return rc < 0 ? rc : controller_name_check(a->name, e);
}

int ask_parse_controller_admit(const json_t *o, struct ask *a, struct err *e)
{
    int rc = take_controller(o, a, e);
    if (rc == 0)
        rc = ask_take_plain(o, "key", VALUE_BYTES_MAX, &a->word, e);
    if (rc == 0 && !controller_key_ok(a->word))
        return err_set(e, -EINVAL,
                       "\"key\" is not the key that a new controller prints, of %d lower-case hex digits",
                       CONTROLLER_KEY_BYTES);
    return rc;
}

int ask_parse_controller_remove(const json_t *o, struct ask *a, struct err *e)
{
    int rc = take_controller(o, a, e);
    return rc < 0 ? rc : ask_take_plain(o, "reason", REASON_BYTES_MAX, &a->reason, e);
}
