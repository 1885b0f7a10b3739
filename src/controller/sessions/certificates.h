/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CONTROLLER_SESSIONS_CERTIFICATES_H
#define FETTLE_CONTROLLER_SESSIONS_CERTIFICATES_H

#include "base/err.h"
#include "cluster/cluster.h"
#include "link/tls.h"

/*
 * Certificates between the authority, which makes them, and the agreed state, which has a record of each: it
 * is made first, given away only after its record is committed, and thrown away when that is refused.
 */

/* The certificate's part of a command. */
struct certificate_terms certificate_terms_of(const struct identity *id);
/* The same for a certificate that was made. -EINVAL with a sentence when it cannot be read. */
int certificate_terms(const char *pem, struct certificate_terms *out, struct err *e);

/* For tls_context_judge; the argument is the cluster. */
int certificate_judge(void *cluster, const struct identity *id, struct err *e);

#endif
