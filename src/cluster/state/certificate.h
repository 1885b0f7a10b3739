/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CLUSTER_CERTIFICATE_H
#define FETTLE_CLUSTER_CERTIFICATE_H

#include "base/clock.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Which certificates the authority has made, and which of them still count. There is one record for each
 * holder: a node, an operator, a controller ("node:n01"). It has the certificates that are not over by their
 * own time, and `least`: every certificate of this holder with a lower number has ended, also those that no
 * record has. Numbers only rise, so `least` does, too.
 *
 *   certificate/KIND:NAME {"least","ends","made":[{"serial","key","role","at","from","until","by",
 *                                                          "revoked"?,"why"?}]}
 *
 * Numbers and keys are in hexadecimal. A certificate that was made before there were records has the number 0
 * here, and counts until `least` is above it.
 */

struct cluster;

/* One sentence for every refusal of the secret itself, so that a caller does not learn which part was
 * wrong. */
#define TOKEN_UNKNOWN "the token is not known, was used or ended, or has expired"

enum {
    TOKEN_ID_BYTES = 16, /* the beginning of its hash, by which people call it */
    SUBJECT_BYTES_MAX = 300,
    CERTIFICATES_EACH_MAX = 16,
    CERTIFICATE_ROLE_BYTES_MAX = 15,
    TOKEN_COUNT_MAX = 1000000
};

struct made {
    uint64_t serial;
    uint64_t key;                              /* the first bytes of the SHA-256 of its public key */
    char role[CERTIFICATE_ROLE_BYTES_MAX + 1]; /* the role of an operator; else "" */
    struct wall at, from, until;               /* it was made, it is valid */
    char *by; /* who asked for it, or made the token; "before": it was made before there were records */
    struct wall revoked; /* ns 0: it was not */
    char *why;           /* it was revoked; NULL: it was not */
};

struct holder {
    char *subject;
    uint64_t least;
    struct wall ends; /* certificates that `least` ended have expired by then too; ns 0: it ended none */
    size_t n;
    struct made *made; /* by their numbers, CERTIFICATES_EACH_MAX at most */
};

/* Whether there is a token with this hash. */
bool cluster_token_known(const struct cluster *c, const char *hash);
/* Its record, as the store has it; NULL without one. Borrowed until the next record is put. */
const char *cluster_token_record(const struct cluster *c, const char *hash);
/* Calls fn with the hash of each. */
typedef void token_fn(void *arg, const char *hash);
void cluster_each_token(const struct cluster *c, token_fn *fn, void *arg);

/* NULL when no certificate of this subject is recorded. Borrowed until the next record is put. */
const struct holder *cluster_holder(const struct cluster *c, const char *subject);
/* The first subject after this one, "" for the first of all; NULL: there is none. Borrowed likewise. */
const struct holder *cluster_holder_after(const struct cluster *c, const char *subject);
/* Calls fn for each, in order of their subjects. */
typedef void holder_fn(void *arg, const struct holder *h);
void cluster_each_holder(const struct cluster *c, holder_fn *fn, void *arg);
/* Calls fn with each record as it is put from now on. */
void cluster_on_certificate(struct cluster *c, holder_fn *fn, void *arg);
/* Whether a certificate with this number counts: 0, or -EPERM with the reason. A certificate without a
 * record that no record ended counts. */
int cluster_certificate_judge(const struct cluster *c, const char *subject, uint64_t serial, struct err *e);
/* The highest number of any certificate; 0 without. */
uint64_t cluster_serial_max(const struct cluster *c);

#endif
