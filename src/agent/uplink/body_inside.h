/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_AGENT_UPLINK_BODY_INSIDE_H
#define FETTLE_AGENT_UPLINK_BODY_INSIDE_H

#include "agent/uplink/body.h"

/*
 * Readers of members (body_take.c) for body.c and body_order.c. Each body_take_ function takes one member:
 * 0, also where the member is missing and may be, or -EINVAL with a sentence that names it.
 */

static const uint64_t BODY_NUMBER_MAX = INT64_MAX;

/* The object in a frame; NULL with a sentence where there is none. The caller releases it. */
json_t *body_open(const struct frame *f, struct err *e);
/* 0, or -EINVAL with the frame's name before the sentence in e. */
int body_wrap(const struct frame *f, int r, struct err *e);
/* Printable ASCII without quotes, so that it may stand in a log line and in JSON as it is. */
bool body_is_word(const char *s);
int body_take_text(const json_t *body, const char *key, bool required, char *out, size_t size, struct err *e);
int body_take_word(const json_t *body, const char *key, bool required, char *out, struct err *e);
int body_take_name(const json_t *body, const char *key, char *out, size_t size, struct err *e);
int body_take_time(const json_t *body, const char *key, uint64_t ms_max, bool *has, struct span *out,
                   struct err *e);
int body_take_flag(const json_t *body, const char *key, bool *out, struct err *e);
int body_take_number(const json_t *body, const char *key, uint64_t *out, struct err *e);
int body_take_fingerprint(const json_t *body, const char *key, struct fingerprint *out, struct err *e);

#endif
