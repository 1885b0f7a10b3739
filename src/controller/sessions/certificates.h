/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CONTROLLER_SESSIONS_CERTIFICATES_H
#define FETTLE_CONTROLLER_SESSIONS_CERTIFICATES_H

#include "base/err.h"
#include "cluster/cluster.h"
#include "link/tls.h"
#include "store/store.h"

/*
 * Certificates between the authority, which makes them, and the agreed state, which has a record of each: it
 * is made first, given away only after its record is committed, and thrown away when that is refused.
 */

/* The certificate's part of a command: number, key, role, times and owner. NULL with a sentence when the
 * certificate cannot be read. The caller frees it. */
char *certificate_terms(const char *pem, struct err *e);
/* The same with where the machine that joins is, and the UUID that it says. */
char *certificate_joining(const char *pem, const char *address, const char *machine, struct err *e);
/* The same of one that is to follow the one with which its holder came. */
char *certificate_renewal(const char *pem, const struct identity *of, struct err *e);

/* Commits the record of an operator's or a controller's while there is no committer yet. */
int certificate_commit(struct store *s, uint64_t term, struct cluster *c, const char *terms,
                       uint64_t *revision, struct err *e);

/* For tls_context_judge; the argument is the cluster. */
int certificate_judge(void *cluster, const struct identity *id, struct err *e);

#endif
