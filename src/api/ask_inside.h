/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_API_ASK_INSIDE_H
#define FETTLE_API_ASK_INSIDE_H

#include "api/ask.h"

#include "base/json.h"

/*
 * What the files that read bodies have in common. Each function returns 0, or -EINVAL with a sentence that
 * names the member.
 */

/* Text for screens and logs, of 1 to max bytes: nothing in it misleads. jansson has checked that it is UTF-8.
 */
int ask_check_plain(const char *key, const char *s, size_t max, struct err *e);
/* A length of time of more than 0 and at most max_s seconds. */
int ask_take_span(const char *key, const char *text, int64_t max_s, struct span *out, struct err *e);
/* A mandatory member. */
int ask_want_string(const json_t *o, const char *key, const char **out, struct err *e);
/* An optional member: without it *out is unchanged. */
int ask_allow_string(const json_t *o, const char *key, const char **out, struct err *e);
/* A mandatory member that ask_check_plain lets pass. The caller frees it. */
int ask_take_plain(const json_t *o, const char *key, size_t max, char **out, struct err *e);
/* The member "nodes", into a->nodes. */
int ask_take_nodes(const json_t *o, struct ask *a, struct err *e);
/* The optional member "valid", a length of time, into a->valid. */
int ask_take_valid(const json_t *o, int64_t usual_s, int64_t max_s, struct ask *a, struct err *e);

/* Bodies (ask_credential.c). */
int ask_parse_token(const json_t *o, struct ask *a, struct err *e);
int ask_parse_token_end(const json_t *o, struct ask *a, struct err *e);
int ask_parse_certificate(const json_t *o, struct ask *a, struct err *e);
int ask_parse_revoke(const json_t *o, struct ask *a, struct err *e);
int ask_parse_controller_admit(const json_t *o, struct ask *a, struct err *e);
int ask_parse_controller_remove(const json_t *o, struct ask *a, struct err *e);

#endif
